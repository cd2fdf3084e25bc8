"""The engines, by name, and the choice between them."""

from __future__ import annotations

from hiercomp.arguments import one_of
from hiercomp.engines.auto import AutoEngine
from hiercomp.engines.base import Draws, Engine, Integrator, Sampler, SamplerSettings, engine_words
from hiercomp.engines.cmdstan import CmdStanEngine
from hiercomp.engines.embedded import EmbeddedEngine
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.errors import Argument, EngineError

__all__ = [
    "ENGINES",
    "QUADRATURE",
    "AutoEngine",
    "Draws",
    "Engine",
    "Integrator",
    "QuadratureEngine",
    "Sampler",
    "SamplerSettings",
    "choose_engine",
    "engine_words",
]

QUADRATURE = QuadratureEngine()
SAMPLERS: dict[str, Sampler] = {
    sampler.name: sampler for sampler in (CmdStanEngine(), EmbeddedEngine())
}  # as preferred
ENGINES: dict[str, Engine] = {**SAMPLERS, QUADRATURE.name: QUADRATURE}


def choose_engine(name: str) -> Engine:
    """The engine of that name; "auto" is quadrature and a sampler: CmdStan if it is installed, else the embedded one.

    Raises
    ------
    ArgumentError
        If there is no engine of that name.
    EngineError
        If the engine can't run here; the message gives the command that fixes it.
    """
    one_of("engine", name, ("auto", *ENGINES))
    if name == "auto":
        reasons = {}
        for preferred, sampler in SAMPLERS.items():
            reason = sampler.why_unavailable()
            if reason is None:
                return AutoEngine(sampler, QUADRATURE)
            reasons[preferred] = reason
        listed = "; ".join(f"{engine}: {reason}" for engine, reason in reasons.items())
        raise EngineError(
            f"No sampler can run here. {listed}.",
            remedy="engine='quadrature' needs no sampler.",
            arguments=(Argument("engine", "quadrature"),),
        )
    reason = ENGINES[name].why_unavailable()
    if reason is not None:
        raise EngineError(f"The {name} engine can't run here. {reason}.")
    return ENGINES[name]
