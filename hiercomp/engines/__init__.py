"""The engines, by name, and the choice between them."""

from __future__ import annotations

from hiercomp.arguments import one_of
from hiercomp.engines.base import Draws, Engine, Sampler, SamplerSettings, engine_words
from hiercomp.engines.cmdstan import CmdStanEngine
from hiercomp.engines.embedded import EmbeddedEngine
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.errors import EngineError

__all__ = [
    "ENGINES",
    "Draws",
    "Engine",
    "QuadratureEngine",
    "Sampler",
    "SamplerSettings",
    "choose_engine",
    "engine_words",
]

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (EmbeddedEngine(), CmdStanEngine(), QuadratureEngine())}
PREFERENCE = ("cmdstan", "embedded")  # of "auto"


def choose_engine(name: str) -> Engine:
    """The engine of that name, or for "auto" CmdStan where it is installed, else the embedded one.

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
        for preferred in PREFERENCE:
            reason = ENGINES[preferred].why_unavailable()
            if reason is None:
                return ENGINES[preferred]
            reasons[preferred] = reason
        listed = "; ".join(f"{engine}: {reason}" for engine, reason in reasons.items())
        raise EngineError(f"No engine can run here. {listed}.")
    reason = ENGINES[name].why_unavailable()
    if reason is not None:
        raise EngineError(f"The {name} engine can't run here. {reason}.")
    return ENGINES[name]
