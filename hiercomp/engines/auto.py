"""The engine "auto": draws of a sampler and the integral of the same posterior, each checked against the other."""

from __future__ import annotations

from dataclasses import dataclass

from hiercomp.engines.base import Answer, Computation, Integrator, Sampler


@dataclass(frozen=True)
class AutoEngine:
    """Integrates a posterior and samples it.

    Attributes
    ----------
    sampler : Sampler
    quadrature : Integrator
    """

    sampler: Sampler
    quadrature: Integrator

    name = "auto"
    holds_draws = True

    def why_unavailable(self) -> str | None:
        """Why the sampler can't run here and the command that fixes it, or None if it can."""
        return self.sampler.why_unavailable()

    def version(self) -> str:
        """The libraries behind both computations and their versions."""
        return f"{self.quadrature.version()}, {self.sampler.version()}"

    def fit(self, computation: Computation[Answer]) -> Answer:
        """Integrate and sample a posterior."""
        return computation.verified(self.sampler, self.quadrature)
