"""The interface of a sampling engine: a Stan program and its data in, draws out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import LARGEST_SEED, number_between, true_or_false, whole_number
from hiercomp.errors import EngineError
from hiercomp.model.programs import StanProgram

if TYPE_CHECKING:
    from hiercomp.engines.mixture import MixtureProblem, MixtureSampler
    from hiercomp.engines.quadrature.integration import Integration
    from hiercomp.engines.quadrature.support import Integrand
    from hiercomp.rope import Rope

MAX_TREE_DEPTH = 10
MOST_ITERATIONS = 1_000_000  # of warmup, and draws, of a chain
CAREFUL_ADAPT_DELTA = 0.999  # of the last attempt, where short steps matter more than time


@dataclass(frozen=True)
class SamplerSettings:
    """How long and how carefully to sample.

    Attributes
    ----------
    chains, warmup, draws : int
        Number of chains, and of warmup iterations and kept draws of each.
    seed : int
        From 0 to 2^31 - 1.
    adapt_delta : float
        Target acceptance rate of the step size adaptation, between 0 and 1.
    progress : bool
        Whether to show progress on standard error or in the notebook.
    """

    chains: int = 4
    warmup: int = 1000
    draws: int = 1000
    seed: int = 0
    adapt_delta: float = 0.9
    progress: bool = True

    def __post_init__(self) -> None:
        limits = {
            "chains": (1, 100),
            "warmup": (100, MOST_ITERATIONS),
            "draws": (100, MOST_ITERATIONS),
            "seed": (0, LARGEST_SEED),
        }
        for name, (smallest, largest) in limits.items():
            # Small integers of NumPy would overflow
            object.__setattr__(self, name, whole_number(name, getattr(self, name), smallest, largest))
        number_between("adapt_delta", self.adapt_delta, 0, 1)
        true_or_false("progress", self.progress)

    def times(self, warmup: int, draws: int) -> SamplerSettings:
        """So many times the iterations, or as many as there may be."""
        return replace(
            self, warmup=min(warmup * self.warmup, MOST_ITERATIONS), draws=min(draws * self.draws, MOST_ITERATIONS)
        )

    def longer(self, warmup: int, draws: int) -> SamplerSettings:
        """The same, with smaller steps: for a last attempt."""
        return replace(self.times(warmup, draws), adapt_delta=max(CAREFUL_ADAPT_DELTA, self.adapt_delta))


@dataclass(frozen=True)
class ChainState:
    """The state of the chains after a run, from which the same engine can continue without another warmup.

    Attributes
    ----------
    positions : tuple of mappings, one a chain
        Last values of every parameter, on the constrained scale.
    step_sizes : ndarray, shape (chains,)
    inverse_metrics : tuple of ndarray, one a chain
        Diagonals of the adapted inverse metrics.
    """

    positions: tuple[Mapping[str, NDArray[np.float64]], ...]
    step_sizes: NDArray[np.float64]
    inverse_metrics: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class Draws:
    """What an engine returns.

    Attributes
    ----------
    variables : mapping from name to ndarray, shape (chains, draws, ...)
    statistics : mapping from name to ndarray, shape (chains, draws)
        lp, acceptance_rate, step_size, tree_depth, n_steps, diverging, energy: the names of ArviZ.
    engine_name, engine_version : str
        The engine and the library behind it.
    state : ChainState or None
        Where to continue for more draws; None if nothing was sampled.
    """

    variables: Mapping[str, NDArray[np.float64]]
    statistics: Mapping[str, NDArray[np.float64]]
    engine_name: str
    engine_version: str
    state: ChainState | None = None

    def __post_init__(self) -> None:
        for name, values in {**self.variables, **self.statistics}.items():
            if not np.isfinite(values).all():
                engine = engine_words(self.engine_name, self.engine_version)
                raise EngineError(
                    f"{engine} returned {np.sum(~np.isfinite(values))} values of {name} that are not finite. "
                    "Try the other engine (see `hiercomp doctor`) and please report this."
                )

    def population(self) -> Draws:
        """The draws without the variables of single data sets."""
        kept = {name: values for name, values in self.variables.items() if values.ndim == 2 or name == "slope"}
        return replace(self, variables=kept)

    def followed_by(self, more: Draws) -> Draws:
        """These draws followed by the next ones of the same chains."""

        def joined(first: Mapping[str, NDArray[np.float64]], second: Mapping[str, NDArray[np.float64]]) -> Any:
            return {name: np.concatenate([first[name], second[name]], axis=1) for name in first}

        return replace(
            more,
            variables=joined(self.variables, more.variables),
            statistics=joined(self.statistics, more.statistics),
        )


Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)


class Computation(Protocol[Answer_co]):
    """The input of an engine, which chooses one of the four ways."""

    def sampled(self, engine: Sampler) -> Answer_co:
        """Computed from the draws of a sampler."""

    def integrated(self, engine: Integrator) -> Answer_co:
        """Computed by quadrature."""

    def mixed(self, engine: Mixer) -> Answer_co:
        """Computed by the sampler of mixtures."""

    def verified(self, sampler: Sampler, quadrature: Integrator) -> Answer_co:
        """Computed in both ways, each checked against the other."""


class Engine(Protocol):
    """Any engine.

    Attributes
    ----------
    name : str
    holds_draws : bool
        Whether its draws take memory from the start; if not, they are made on request.
    """

    name: str
    holds_draws: bool

    def why_unavailable(self) -> str | None:
        """Why the engine can't run here and the command that fixes it, or None if it can."""

    def version(self) -> str:
        """The library behind the engine and its version, such as "stanli 0.24.0"."""

    def fit(self, computation: Computation[Answer]) -> Answer:
        """Compute a posterior in this engine's way."""


class Sampler(Engine, Protocol):
    """A sampler; `hiercomp.engines.embedded` and `hiercomp.engines.cmdstan` implement this."""

    def sample(self, program: StanProgram, settings: SamplerSettings, state: ChainState | None = None) -> Draws:
        """Draw from the posterior of a program; if ``state`` is given, continue from it without warmup."""


class Integrator(Engine, Protocol):
    """An engine that integrates: `hiercomp.engines.quadrature` follows this."""

    def integrate(self, problem: Integrand, rope: Rope) -> Integration:
        """The posterior on a grid, refined for the probabilities of a rope in the problem's unit."""


class Mixer(Engine, Protocol):
    """An engine for mixtures: `hiercomp.engines.mixture` follows this."""

    def sampler(self, problem: MixtureProblem, chains: int, seed: int) -> MixtureSampler:
        """Chains at their start."""


def engine_words(name: str, version: str) -> str:
    """The name of an engine for readers: "embedded (stanli 0.24.0)"."""
    return f"{name} ({version})" if version else name


def continuation_seed(seed: int) -> int:
    """The seed of the draws that continue a run: never the same one, so no random number is used twice."""
    return LARGEST_SEED - seed


# CmdStan's names of the sampler's columns, which stanli shares, and ArviZ's.
STATISTIC_NAMES = {
    "lp__": "lp",
    "accept_stat__": "acceptance_rate",
    "stepsize__": "step_size",
    "treedepth__": "tree_depth",
    "n_leapfrog__": "n_steps",
    "divergent__": "diverging",
    "energy__": "energy",
}
