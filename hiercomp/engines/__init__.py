"""The engines, by name, and the choice between them."""

from __future__ import annotations

from hiercomp.arguments import one_of
from hiercomp.engines.auto import AutoEngine
from hiercomp.engines.base import Draws, Engine, Integrator, Sampler, SamplerSettings, engine_words
from hiercomp.engines.cmdstan import CmdStanEngine
from hiercomp.engines.embedded import EmbeddedEngine
from hiercomp.engines.mixture import MixtureEngine
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.errors import Argument, ArgumentError, EngineError

__all__ = [
    "ENGINES",
    "MIXTURE",
    "QUADRATURE",
    "AutoEngine",
    "Draws",
    "Engine",
    "Integrator",
    "MixtureEngine",
    "QuadratureEngine",
    "Sampler",
    "SamplerSettings",
    "choose_engine",
    "engine_words",
]

QUADRATURE = QuadratureEngine()
MIXTURE = MixtureEngine()
# In order of preference
SAMPLERS: dict[str, Sampler] = {sampler.name: sampler for sampler in (CmdStanEngine(), EmbeddedEngine())}
ENGINES: dict[str, Engine] = {**SAMPLERS, QUADRATURE.name: QUADRATURE}


def choose_engine(name: str, population: str = "student_t", *, covariates: bool = False) -> Engine:
    """The engine of that name; "auto" is quadrature and a sampler: CmdStan if it is installed, else the embedded one.

    A mixture has one engine, which "auto" and "quadrature" name too: it samples on a table of integrals by quadrature.
    With covariates of the data sets "auto" is the sampler alone.

    Raises
    ------
    ArgumentError
        If there is no engine of that name, or not for the population.
    EngineError
        If the engine can't run here; the message gives the command that fixes it.
    """
    if covariates and population == "mixture":
        raise ArgumentError(
            "A mixture takes no covariates.",
            remedy="Pass population='student_t' or 'gaussian', or leave the covariates out.",
        )
    if covariates and name == QUADRATURE.name:
        raise ArgumentError(
            "A population with covariates has too many dimensions to be integrated.",
            remedy="Leave the engine out: engine='auto' samples it.",
            arguments=(Argument("engine", "auto"),),
        )
    if population == "mixture" and name in ("auto", MIXTURE.name, QUADRATURE.name):
        return MIXTURE
    if name == MIXTURE.name:
        raise ArgumentError(
            f"engine='mixture' is for mixtures, and the population is {population!r}.",
            remedy="Pass population='mixture', or leave the engine out.",
        )
    one_of("engine", name, ("auto", *ENGINES))
    if population == "mixture":
        raise ArgumentError(
            f"The {name} engine has no program for a mixture, which has a sampler of its own.",
            remedy="Leave the engine out, or pass engine='auto'.",
            arguments=(Argument("engine", "auto"),),
        )
    if name == "auto":
        reasons = {}
        for preferred, sampler in SAMPLERS.items():
            reason = sampler.why_unavailable()
            if reason is None:
                return sampler if covariates else AutoEngine(sampler, QUADRATURE)
            reasons[preferred] = reason
        listed = "; ".join(f"{engine}: {reason}" for engine, reason in reasons.items())
        raise EngineError(
            f"No sampler can run here. {listed}.",
            remedy="Without covariates engine='quadrature' needs no sampler."
            if covariates
            else "engine='quadrature' needs no sampler.",
            arguments=(Argument("engine", "quadrature"),),
        )
    reason = ENGINES[name].why_unavailable()
    if reason is not None:
        raise EngineError(f"The {name} engine can't run here. {reason}.")
    return ENGINES[name]
