"""The kinds of posterior: sampled, integrated, verified and exact, with one interface; mixed ones have their own file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import FloatArray
from hiercomp.engines import Draws, SamplerSettings, engine_words
from hiercomp.engines.quadrature.axes import ChebyshevAxis, SplineAxis, StretchedLine
from hiercomp.engines.quadrature.draws import dataset_draws, population_draws
from hiercomp.engines.quadrature.grid import NEGLIGIBLE, PosteriorGrid
from hiercomp.engines.quadrature.integration import Integration, Known
from hiercomp.engines.quadrature.leave_one_out import LeftOut, left_out
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.marginals import Marginal, marginals, probability_below
from hiercomp.engines.quadrature.regions import RegionMasses
from hiercomp.engines.quadrature.support import Integrand, Support
from hiercomp.engines.quadrature.trinomial import TrinomialLikelihood
from hiercomp.errors import ArgumentError
from hiercomp.model.distributions import distribution_from, plain_distribution
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.chains import error_of_mean
from hiercomp.posterior.datatree import (
    DATASET_PARAMETERS,
    POPULATION_PARAMETERS,
    PRIOR_CHAINS,
    PRIOR_DRAWS,
    data_tree,
    group_arrays,
    in_metric_units,
    variable,
)
from hiercomp.posterior.diagnostics import (
    Diagnostics,
    ExactDiagnostics,
    IntegrationDiagnostics,
    SamplerDiagnostics,
    VerifiedDiagnostics,
)
from hiercomp.posterior.importance import left_out_by_weights
from hiercomp.posterior.next_dataset import NextDataset, Odds, means, next_dataset_of, posterior_odds
from hiercomp.posterior.predictive import next_differences, population_density
from hiercomp.posterior.verification import Verification, VerifiedQuantity, verify
from hiercomp.rope import REGIONS, Rope, most_probable_shares, region_probabilities
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import counted

if TYPE_CHECKING:
    from typing import Self

    import xarray as xr

Keep: TypeAlias = Literal["all", "population"]
Facts: TypeAlias = tuple[tuple[str, str], ...]  # a name and what is to be said of it


@dataclass(frozen=True)
class ErrorWords:
    """The words for the errors of the probabilities.

    Attributes
    ----------
    name : str
        In full, such as "Monte Carlo standard error".
    short : str
        Before "errors", such as "Monte Carlo".
    source : str
        What the error means, or where it comes from.
    bound : str
        Why odds are given as a bound.
    share : str
        What a probability is, before "an outcome is the most likely".
    remedy : str
        What to do if an error is too large; may be empty.
    """

    name: str
    short: str
    source: str
    bound: str
    share: str
    remedy: str


MONTE_CARLO = ErrorWords(
    name="Monte Carlo standard error",
    short="Monte Carlo",
    source="how much the number would change with another seed",
    bound="no draw favoured the other outcome",
    share="Share of draws in which",
    remedy="fit with more draws",
)
INTEGRATION = ErrorWords(
    name="estimated error of the integration",
    short="estimated",
    source="from a coarser grid",
    bound="the other probability cannot be distinguished from zero",
    share="Probability that",
    remedy="",
)


@dataclass(frozen=True)
class Attempt:
    """One run of the sampler.

    Attributes
    ----------
    purpose : str
        "first fit", "smaller steps" or "longer".
    centred, noncentred : int
        Number of data sets in each parameterisation.
    warmup, draws : int
        Of each chain; the draws include those added for precision.
    adapt_delta : float
    failures : tuple of str
        The checks that failed.
    """

    purpose: str
    centred: int
    noncentred: int
    warmup: int
    draws: int
    adapt_delta: float
    failures: tuple[str, ...]


class Posterior(Protocol):
    """The result of a fit, however it was computed; all values are in the metric's units."""

    kind: ClassVar[str]
    remakes_draws: ClassVar[bool]  # so a file need not hold them

    @property
    def engine_name(self) -> str:
        """The engine that computed it."""

    @property
    def engine_version(self) -> str:
        """The library behind the engine and its version."""

    @property
    def settings(self) -> SamplerSettings:
        """The requested sampler settings."""

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The runs of the sampler; none if nothing was sampled."""

    @property
    def diagnostics(self) -> Diagnostics:
        """Whether it can be trusted."""

    @property
    def error_words(self) -> ErrorWords:
        """The words for its errors."""

    @property
    def computation(self) -> str:
        """How it was computed and checked, in one sentence."""

    @property
    def confirmation(self) -> str:
        """Whether a second computation confirms it, in one sentence; empty if there is none."""

    @property
    def facts(self) -> Facts:
        """How it was computed, item by item."""

    @property
    def refit_engine(self) -> str:
        """The engine that fits variants of the same comparison."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that have draws."""

    @property
    def datatree(self) -> xr.DataTree:
        """Draws as ArviZ keeps them; made on first use."""

    @property
    def population(self) -> dict[str, Marginal]:
        """Marginal posteriors of delta0, sigma0 and nu (not of a Gaussian population)."""

    def probability_below(self, name: str, value: float) -> float:
        """Posterior probability that delta0, sigma0 or nu is below a value."""

    @property
    def expected_delta0(self) -> float:
        """Posterior mean of delta0."""

    @property
    def log_marginal_likelihood(self) -> float:
        """Log of the density of all differences given the model."""

    @property
    def log_marginal_likelihood_error(self) -> float:
        """Estimate of its error."""

    def next_dataset(self, rope: Rope) -> NextDataset:
        """Probabilities of left, rope and right on the next data set, with their errors."""

    def most_probable(self, rope: Rope) -> FloatArray:
        """P(left), P(rope) and P(right) alone, shape (3,)."""

    def expected(self, rope: Rope) -> FloatArray:
        """The expected probabilities of left, rope and right alone, shape (3,)."""

    def regions(self, rope: Rope) -> FloatArray:
        """Probabilities of left, rope and right under each draw of the population, shape (chains, draws, 3)."""

    def density(self, x: ArrayLike) -> FloatArray:
        """Posterior mean of the density of the next data set's difference; shape of ``x``."""

    def next_differences(self, generator: np.random.Generator) -> FloatArray:
        """Draws of the next data set's difference, one for each draw of the population, shape (chains, draws)."""

    def verification(self, rope: Rope) -> Verification:
        """The same quantities from both computations; only a verified posterior has it."""

    def integrated_or(self, integrate: Callable[[], Integrated]) -> Integrated:
        """The integral of the posterior, computed by ``integrate`` if it is not at hand."""

    def left_out(self, model: HierarchicalModel, rope: Rope, integrate: Callable[[], Integrated]) -> LeftOut:
        """What the other data sets say of each data set, in the unit of the model."""

    def odds(self, inference: NextDataset) -> tuple[Odds, ...]:
        """Odds of the three pairs of regions; none if nothing is uncertain."""

    def draws(self, name: str) -> FloatArray:
        """Draws of a parameter, shape (chains, draws) or (chains, draws, q); read-only."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws."""


class RegionDraws(ABC):
    """What the probabilities of left, rope and right under each draw say of the next data set, whatever the population."""

    @abstractmethod
    def draws(self, name: str) -> FloatArray:
        """Draws of a parameter."""

    @abstractmethod
    def regions(self, rope: Rope) -> FloatArray:
        """Of each draw, shape (chains, draws, 3)."""

    def next_dataset(self, rope: Rope) -> NextDataset:
        """Proportions and means of the draws."""
        return next_dataset_of(self.regions(rope), self.draws("delta0"))

    def most_probable(self, rope: Rope) -> FloatArray:
        """Proportions of the draws, shape (3,)."""
        return means(most_probable_shares(self.regions(rope)))

    def expected(self, rope: Rope) -> FloatArray:
        """Means over the draws, shape (3,)."""
        return means(self.regions(rope))


class PopulationDraws(RegionDraws):
    """What draws of delta0, sigma0 and nu say in the same way, wherever they come from."""

    def regions(self, rope: Rope) -> FloatArray:
        """Of each draw, shape (chains, draws, 3)."""
        return region_probabilities(*self._population_draws, rope)

    def density(self, x: ArrayLike) -> FloatArray:
        """Mean over the draws; shape of ``x``."""
        return population_density(*self._population_draws, x)

    def next_differences(self, generator: np.random.Generator) -> FloatArray:
        """One for each draw, shape (chains, draws)."""
        return next_differences(*self._population_draws, generator)

    @property
    def _population_draws(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.draws("delta0"), self.draws("sigma0"), self.draws("nu")


@dataclass(frozen=True, eq=False)
class Sampled(PopulationDraws):
    """A posterior that was sampled.

    Attributes
    ----------
    variables, prior : mapping from name to ndarray
        Draws from the posterior, shape (chains, draws) or (chains, draws, q), and from the priors, in the metric's units.
    statistics : mapping from name to ndarray, shape (chains, draws)
        Of the sampler.
    differences : PairedDifferences
    diagnostics : SamplerDiagnostics
    attempts : tuple of Attempt
        The last one counts.
    settings : SamplerSettings
        As asked.
    engine_name, engine_version : str
    """

    variables: Mapping[str, FloatArray]
    prior: Mapping[str, FloatArray]
    statistics: Mapping[str, FloatArray]
    differences: PairedDifferences
    diagnostics: SamplerDiagnostics
    attempts: tuple[Attempt, ...]
    settings: SamplerSettings
    engine_name: str
    engine_version: str

    kind: ClassVar[str] = "sampled"
    remakes_draws: ClassVar[bool] = False

    @property
    def refit_engine(self) -> str:
        """The same."""
        return self.engine_name

    @property
    def error_words(self) -> ErrorWords:
        """Monte Carlo standard errors."""
        return MONTE_CARLO

    @property
    def computation(self) -> str:
        """Engine, run lengths, seed and diagnostics."""
        settings, last = self.settings, self.attempts[-1]
        runs = f"{settings.chains} chains of {last.draws:,} draws after {last.warmup:,} warmup iterations"
        extras = [f"{settings.draws:,} requested"] if last.draws != settings.draws else []
        extras += [f"{len(self.attempts)} runs, the last: {last.purpose}"] if len(self.attempts) > 1 else []
        asked = f" ({'; '.join(extras)})" if extras else ""
        engine = engine_words(self.engine_name, self.engine_version)
        return f"{engine}, {runs}{asked}, seed {settings.seed}; {self.diagnostics}."

    @property
    def confirmation(self) -> str:
        """Nothing: it was computed once."""
        return ""

    @property
    def facts(self) -> Facts:
        """The requested settings, the actual run, and the seed."""
        settings, last = self.settings, self.attempts[-1]
        asked = (
            f"{settings.chains} chains, {settings.warmup:,} warmup iterations and {settings.draws:,} draws of each, "
            f"adapt_delta {settings.adapt_delta:g}"
        )
        ran = (
            f"{last.warmup:,} warmup iterations and {last.draws:,} draws of each chain, adapt_delta {last.adapt_delta:g} "
            f"({last.purpose}; {counted(len(self.attempts), 'run')} in all)"
        )
        return ("Sampling as requested", asked), ("Sampling that counts", ran), ("Seed", str(settings.seed))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that have draws."""
        return tuple(self.variables)

    @cached_property
    def datatree(self) -> xr.DataTree:
        """Draws as ArviZ keeps them."""
        engine = engine_words(self.engine_name, self.engine_version)
        return data_tree(self.variables, self.differences, engine, statistics=self.statistics, prior=self.prior)

    @property
    def population(self) -> dict[str, Marginal]:
        """Of the draws."""
        return marginals_of_draws(self)

    def probability_below(self, name: str, value: float) -> float:
        """Share of the draws."""
        return float((self.draws(name) < value).mean())

    @property
    def expected_delta0(self) -> float:
        """Mean of the draws of delta0."""
        return float(self.draws("delta0").mean())

    @property
    def log_marginal_likelihood(self) -> float:
        """Not known.

        Raises
        ------
        ArgumentError
            Always; the message names the engine that provides it.
        """
        raise ArgumentError(
            f"The {self.engine_name} engine does not compute the marginal likelihood.",
            remedy="The quadrature engine does: fit(), or fit(engine='quadrature').",
        )

    @property
    def log_marginal_likelihood_error(self) -> float:
        """Not known, either."""
        return self.log_marginal_likelihood

    def verification(self, rope: Rope) -> Verification:
        """Not known: raises ArgumentError."""
        raise unverified(self.engine_name)

    def integrated_or(self, integrate: Callable[[], Integrated]) -> Integrated:
        """Compute it."""
        return integrate()

    def left_out(self, model: HierarchicalModel, rope: Rope, integrate: Callable[[], Integrated]) -> LeftOut:
        """By importance sampling, and by integrals where that fails."""
        unit = model.unit

        def exactly(places: Sequence[int]) -> LeftOut:
            return left_out(integrate().integration.grid, rope.scaled(1 / unit), places)

        delta0, sigma0, nu = self._population_draws
        return left_out_by_weights(integrand(model).likelihood, delta0 / unit, sigma0 / unit, nu, exactly)

    def odds(self, inference: NextDataset) -> tuple[Odds, ...]:
        """Odds of the three pairs of regions."""
        return posterior_odds(inference)

    def draws(self, name: str) -> FloatArray:
        """Draws of a parameter, shape (chains, draws) or (chains, draws, q); read-only."""
        return variable(self.variables, name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws."""
        return {
            "kind": self.kind,
            "diagnostics": asdict(self.diagnostics),
            "attempts": [asdict(attempt) for attempt in self.attempts],
            "settings": asdict(self.settings),
            "engine_name": self.engine_name,
            "engine_version": self.engine_version,
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any], differences: PairedDifferences, datatree: xr.DataTree) -> Self:
        """From the result of `to_dict`, and the draws."""
        return cls(
            variables=group_arrays(datatree, "posterior"),
            prior=group_arrays(datatree, "prior"),
            statistics=group_arrays(datatree, "sample_stats"),
            differences=differences,
            diagnostics=SamplerDiagnostics(**plain["diagnostics"]),
            attempts=tuple(Attempt(**_with_tuple(attempt)) for attempt in plain["attempts"]),
            settings=SamplerSettings(**plain["settings"]),
            engine_name=plain["engine_name"],
            engine_version=plain["engine_version"],
        )


@dataclass(frozen=True, eq=False)
class Integrated(PopulationDraws):
    """A posterior that was integrated on a grid; its draws are independent, and made on first use.

    Attributes
    ----------
    integration : Integration
        In units of the mean standard deviation within a data set.
    unit : float
        That standard deviation, in the metric's units.
    diagnostics : IntegrationDiagnostics
    differences : PairedDifferences
    settings : SamplerSettings
        Number and seed of the draws.
    keep : {"all", "population"}
        Whether there are draws of delta and sigma of each data set.
    engine_name, engine_version : str
    """

    integration: Integration
    unit: float
    diagnostics: IntegrationDiagnostics
    differences: PairedDifferences
    settings: SamplerSettings
    keep: Keep
    engine_name: str
    engine_version: str

    kind: ClassVar[str] = "integrated"
    remakes_draws: ClassVar[bool] = True

    @property
    def refit_engine(self) -> str:
        """The same."""
        return self.engine_name

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Nothing was sampled."""
        return ()

    @property
    def error_words(self) -> ErrorWords:
        """Estimated errors of the integration."""
        return INTEGRATION

    @property
    def computation(self) -> str:
        """Engine, nodes and error."""
        return f"{engine_words(self.engine_name, self.engine_version)}, {self.diagnostics}."

    @property
    def confirmation(self) -> str:
        """Nothing: it was computed once."""
        return ""

    @property
    def facts(self) -> Facts:
        """The nodes, and where the draws come from."""
        nodes = " x ".join(map(str, self.integration.nodes))
        draws = (
            f"{self.settings.chains * self.settings.draws:,}, independent, for the figures and the tables of intervals"
        )
        return (
            ("Integration", f"on {nodes} nodes of sigma0, nu and delta0; nothing random"),
            ("Draws", draws),
            ("Seed", f"{self.settings.seed}, for the draws"),
        )

    @cached_property
    def datatree(self) -> xr.DataTree:
        """Independent draws as ArviZ keeps them, without ``sample_stats``."""
        settings, priors = self.settings, self.integration.grid.problem.priors
        model = HierarchicalModel.of(self.differences, priors)
        prior = model.prior_draws(PRIOR_CHAINS, PRIOR_DRAWS, settings.seed)
        return data_tree(
            self._variables,
            self.differences,
            engine_words(self.engine_name, self.engine_version),
            prior=in_metric_units(prior, self.unit),
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that have draws."""
        hyperparameters = ("alpha", "beta") if self._has_hyperparameters else ()
        return (*self._population, *hyperparameters, *(DATASET_PARAMETERS if self.keep == "all" else ()))

    @property
    def _has_hyperparameters(self) -> bool:
        priors = self.integration.grid.problem.priors
        return "nu" in self._population and isinstance(priors.alpha, tuple)

    @cached_property
    def _first_draws(self) -> tuple[dict[str, FloatArray], Any]:
        """Draws of delta0, sigma0 and nu in units of the mean standard deviation, and the generator's state after them."""
        generator = self._generator()
        count = self.settings.chains * self.settings.draws
        return population_draws(self.integration.grid, count, generator), generator.bit_generator.state

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng([self.settings.seed, self.settings.chains, self.settings.draws])

    @cached_property
    def _population(self) -> dict[str, FloatArray]:
        """Draws of delta0, sigma0 and nu: quick to make, and enough for a summary."""
        return self._shaped(self._first_draws[0])

    @cached_property
    def _variables(self) -> dict[str, FloatArray]:
        """Draws of every parameter; the generator continues after those of the population."""
        problem, generator = self.integration.grid.problem, self._generator()
        first, generator.bit_generator.state = self._first_draws
        variables = dict(first)
        if problem.nu_prior is not None and self._has_hyperparameters:
            variables["alpha"], variables["beta"] = problem.nu_prior.hyperparameter_draws(variables["nu"], generator)
        if self.keep == "all":
            variables["delta"], variables["sigma"] = dataset_draws(problem.likelihood, variables, generator)
        return self._shaped(variables)

    def _shaped(self, variables: dict[str, FloatArray]) -> dict[str, FloatArray]:
        """Draws by chain, checked, and in the metric's units."""
        chains, draws = self.settings.chains, self.settings.draws
        shaped = {name: values.reshape(chains, draws, *values.shape[1:]) for name, values in variables.items()}
        return in_metric_units(Draws(shaped, {}, self.engine_name, self.engine_version).variables, self.unit)

    @cached_property
    def population(self) -> dict[str, Marginal]:
        """Integrated."""
        found = marginals(self.integration.grid)
        return {name: marginal.in_unit(1.0 if name == "nu" else self.unit) for name, marginal in found.items()}

    def probability_below(self, name: str, value: float) -> float:
        """Integrated."""
        return probability_below(self.integration.grid, name, value / (1.0 if name == "nu" else self.unit))

    @property
    def expected_delta0(self) -> float:
        """Posterior mean of delta0, integrated."""
        return self.integration.expected_delta0 * self.unit

    @cached_property
    def log_marginal_likelihood(self) -> float:
        """Log of the probability density of all differences, given the model, in the metric's units."""
        scores = float(self.integration.grid.problem.likelihood.n.sum())
        return self.integration.log_marginal_likelihood - scores * float(np.log(self.unit))

    @property
    def log_marginal_likelihood_error(self) -> float:
        """Estimate of its error, from coarser grids."""
        return self.integration.log_marginal_likelihood_error

    def next_dataset(self, rope: Rope) -> NextDataset:
        """Integrals; estimating their errors doubles the time."""
        if rope not in self.inferences:
            self.inferences[rope] = integrated_next_dataset(self.integration, rope, self.unit)
        return self.inferences[rope]

    def most_probable(self, rope: Rope) -> FloatArray:
        """Integrals."""
        return self.integration.most_probable(rope.scaled(1 / self.unit))

    def expected(self, rope: Rope) -> FloatArray:
        """Integrals."""
        return self.integration.expected(rope.scaled(1 / self.unit))

    @cached_property
    def inferences(self) -> dict[Rope, NextDataset]:
        """With errors, of the ropes that were asked for."""
        return {}

    def verification(self, rope: Rope) -> Verification:
        """Not known: raises ArgumentError."""
        raise unverified(self.engine_name)

    def integrated_or(self, integrate: Callable[[], Integrated]) -> Integrated:
        """Itself."""
        return self

    def left_out(self, model: HierarchicalModel, rope: Rope, integrate: Callable[[], Integrated]) -> LeftOut:
        """Exactly."""
        return left_out(self.integration.grid, rope.scaled(1 / self.unit))

    def odds(self, inference: NextDataset) -> tuple[Odds, ...]:
        """Odds of the three pairs of regions."""
        return posterior_odds(inference)

    def draws(self, name: str) -> FloatArray:
        """Draws of a parameter, shape (chains, draws) or (chains, draws, q); read-only."""
        return variable(self._population if name in POPULATION_PARAMETERS else self._variables, name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which `from_dict` makes an equal posterior, draws included."""
        return {
            "kind": self.kind,
            "integration": plain_integration(self.integration),
            "unit": self.unit,
            "integration_error": self.diagnostics.integration_error,
            "settings": asdict(self.settings),
            "keep": self.keep,
            "engine_name": self.engine_name,
            "engine_version": self.engine_version,
        }

    @classmethod
    def from_dict(
        cls, plain: dict[str, Any], differences: PairedDifferences, datatree: xr.DataTree | None
    ) -> Integrated:
        """From the result of `to_dict`, and the draws if they were kept."""
        integration = integration_from(plain["integration"])
        posterior = cls(
            integration=integration,
            unit=plain["unit"],
            diagnostics=IntegrationDiagnostics(plain["integration_error"], integration.nodes),
            differences=differences,
            settings=SamplerSettings(**plain["settings"]),
            keep=plain["keep"],
            engine_name=plain["engine_name"],
            engine_version=plain["engine_version"],
        )
        if datatree is not None:
            variables = group_arrays(datatree, "posterior")  # those of the file, to the last bit
            population = {name: values for name, values in variables.items() if name in POPULATION_PARAMETERS}
            vars(posterior).update(datatree=datatree, _variables=variables, _population=population)
        return posterior


@dataclass(frozen=True, eq=False)
class Verified:
    """A posterior that was integrated and sampled: the numbers are integrals, the draws come from a sampler.

    Attributes
    ----------
    integrated : Integrated
    sampled : Sampled
    diagnostics : VerifiedDiagnostics
    """

    integrated: Integrated
    sampled: Sampled
    diagnostics: VerifiedDiagnostics

    kind: ClassVar[str] = "verified"
    remakes_draws: ClassVar[bool] = False

    @property
    def engine_name(self) -> str:
        """The name of the requested engine."""
        return "auto"

    @property
    def engine_version(self) -> str:
        """The libraries behind both computations and their versions."""
        return f"{self.integrated.engine_version}, {self.sampled.engine_version}"

    @property
    def refit_engine(self) -> str:
        """The integral alone: the draws have confirmed it once, so variants are not sampled again."""
        return self.integrated.engine_name

    @property
    def settings(self) -> SamplerSettings:
        """The requested sampler settings."""
        return self.sampled.settings

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The runs of the sampler."""
        return self.sampled.attempts

    @property
    def error_words(self) -> ErrorWords:
        """Estimated errors of the integration."""
        return self.integrated.error_words

    @property
    def computation(self) -> str:
        """Both computations."""
        return f"{self.integrated.computation[:-1]}; and {self.sampled.computation}"

    @property
    def confirmation(self) -> str:
        """Whether the draws confirm the integral."""
        return self.diagnostics.confirmation

    @property
    def facts(self) -> Facts:
        """The nodes of the integration, then what was sampled."""
        return (*(fact for fact in self.integrated.facts if fact[0] == "Integration"), *self.sampled.facts)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that have draws."""
        return self.sampled.parameters

    @property
    def datatree(self) -> xr.DataTree:
        """Draws of the sampler as ArviZ keeps them."""
        return self.sampled.datatree

    @property
    def population(self) -> dict[str, Marginal]:
        """Integrated."""
        return self.integrated.population

    def probability_below(self, name: str, value: float) -> float:
        """Integrated."""
        return self.integrated.probability_below(name, value)

    @property
    def expected_delta0(self) -> float:
        """Posterior mean of delta0, integrated."""
        return self.integrated.expected_delta0

    @property
    def log_marginal_likelihood(self) -> float:
        """Log of the density of all differences given the model."""
        return self.integrated.log_marginal_likelihood

    @property
    def log_marginal_likelihood_error(self) -> float:
        """Estimate of its error, from coarser grids."""
        return self.integrated.log_marginal_likelihood_error

    def next_dataset(self, rope: Rope) -> NextDataset:
        """Integrals."""
        return self.integrated.next_dataset(rope)

    def most_probable(self, rope: Rope) -> FloatArray:
        """Integrals."""
        return self.integrated.most_probable(rope)

    def expected(self, rope: Rope) -> FloatArray:
        """Integrals."""
        return self.integrated.expected(rope)

    def regions(self, rope: Rope) -> FloatArray:
        """Of each draw of the sampler, shape (chains, draws, 3)."""
        return self.sampled.regions(rope)

    def density(self, x: ArrayLike) -> FloatArray:
        """Mean over the draws of the sampler; shape of ``x``."""
        return self.sampled.density(x)

    def next_differences(self, generator: np.random.Generator) -> FloatArray:
        """One for each draw of the sampler, shape (chains, draws)."""
        return self.sampled.next_differences(generator)

    def verification(self, rope: Rope) -> Verification:
        """Integrals and draws side by side."""
        return verified_by(self.integrated, self.sampled, rope)

    def integrated_or(self, integrate: Callable[[], Integrated]) -> Integrated:
        """The one of its two computations."""
        return self.integrated

    def left_out(self, model: HierarchicalModel, rope: Rope, integrate: Callable[[], Integrated]) -> LeftOut:
        """By the integral."""
        return self.integrated.left_out(model, rope, integrate)

    def odds(self, inference: NextDataset) -> tuple[Odds, ...]:
        """Odds of the three pairs of regions."""
        return self.integrated.odds(inference)

    def draws(self, name: str) -> FloatArray:
        """Draws of a parameter by the sampler, shape (chains, draws) or (chains, draws, q); read-only."""
        return self.sampled.draws(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws."""
        return {
            "kind": self.kind,
            "integrated": self.integrated.to_dict(),
            "sampled": self.sampled.to_dict(),
            "verification": asdict(self.diagnostics.verification),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any], differences: PairedDifferences, datatree: xr.DataTree) -> Verified:
        """From the result of `to_dict`, and the draws."""
        integrated = Integrated.from_dict(plain["integrated"], differences, None)
        sampled = Sampled.from_dict(plain["sampled"], differences, datatree)
        found = plain["verification"]
        quantities = tuple(VerifiedQuantity(**quantity) for quantity in found["quantities"])
        verification = Verification(quantities, found["n_draws"])
        return cls(integrated, sampled, VerifiedDiagnostics(integrated.diagnostics, sampled.diagnostics, verification))


@dataclass(frozen=True, eq=False)
class Exact(PopulationDraws):
    """The posterior if all scores are identical: a population at zero, with nothing computed.

    Attributes
    ----------
    differences : PairedDifferences
    settings : SamplerSettings
    """

    differences: PairedDifferences
    settings: SamplerSettings

    kind: ClassVar[str] = "exact"
    remakes_draws: ClassVar[bool] = True

    @property
    def refit_engine(self) -> str:
        """Any engine, because nothing is computed."""
        return "auto"

    @property
    def engine_name(self) -> str:
        """None was needed."""
        return "none"

    @property
    def engine_version(self) -> str:
        """Why."""
        return "identical scores"

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Nothing was sampled."""
        return ()

    @property
    def diagnostics(self) -> ExactDiagnostics:
        """Nothing to check."""
        return ExactDiagnostics()

    @property
    def error_words(self) -> ErrorWords:
        """There are no errors."""
        return MONTE_CARLO

    @property
    def computation(self) -> str:
        """That there was none."""
        return f"{engine_words(self.engine_name, self.engine_version)}; {self.diagnostics}."

    @property
    def confirmation(self) -> str:
        """Nothing: it was computed once."""
        return ""

    @property
    def facts(self) -> Facts:
        """That nothing was sampled."""
        return (("Sampling", "nothing was sampled"),)

    @cached_property
    def variables(self) -> dict[str, FloatArray]:
        """One draw of every parameter, zero."""
        population, datasets = (1, 1), (1, 1, len(self.differences.dataset_names))
        shapes = {"delta0": population, "sigma0": population, "delta": datasets, "sigma": datasets}
        return {name: np.zeros(shape) for name, shape in shapes.items()}

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that have draws."""
        return tuple(self.variables)

    @cached_property
    def datatree(self) -> xr.DataTree:
        """The one draw as ArviZ keeps it."""
        return data_tree(self.variables, self.differences, self.engine_name)

    @property
    def population(self) -> dict[str, Marginal]:
        """Zero without an error."""
        return {name: Marginal(0.0, 0.0, 0.0, 0.0, 0.0, 0.0) for name in ("delta0", "sigma0")}

    def probability_below(self, name: str, value: float) -> float:
        """Share of the one draw."""
        return float((self.draws(name) < value).mean())

    @property
    def expected_delta0(self) -> float:
        """Zero."""
        return 0.0

    @property
    def log_marginal_likelihood(self) -> float:
        """Not defined.

        Raises
        ------
        ArgumentError
            Always.
        """
        raise _without_density()

    @property
    def log_marginal_likelihood_error(self) -> float:
        """Not defined, either."""
        return self.log_marginal_likelihood

    def verification(self, rope: Rope) -> Verification:
        """Not needed: raises ArgumentError."""
        raise ArgumentError("Identical scores are answered exactly; there is nothing to compare with.")

    def density(self, x: ArrayLike) -> FloatArray:
        """Not defined: raises ArgumentError."""
        raise ArgumentError("The difference of identical scores is always 0, so it has no density.")

    def integrated_or(self, integrate: Callable[[], Integrated]) -> Integrated:
        """Compute it."""
        return integrate()

    def left_out(self, model: HierarchicalModel, rope: Rope, integrate: Callable[[], Integrated]) -> LeftOut:
        """Not defined: raises ArgumentError, as the marginal likelihood does."""
        raise _without_density()

    def odds(self, inference: NextDataset) -> tuple[Odds, ...]:
        """None: nothing is uncertain."""
        return ()

    def draws(self, name: str) -> FloatArray:
        """One draw of a parameter, shape (1, 1) or (1, 1, q); read-only."""
        return variable(self.variables, name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws."""
        return {"kind": self.kind, "settings": asdict(self.settings)}


def verified_by(integrated: Integrated, sampled: Sampled, rope: Rope) -> Verification:
    """An integrated posterior beside draws from it."""
    draws = {name: sampled.draws(name) for name in POPULATION_PARAMETERS}
    return verify(integrated.next_dataset(rope), integrated.population, sampled.next_dataset(rope), draws, rope)


def marginals_of_draws(posterior: Posterior, names: Sequence[str] = POPULATION_PARAMETERS) -> dict[str, Marginal]:
    """Of the parameters of these names that have draws."""
    found = {}
    for name in names:
        if name in posterior.parameters:
            values = posterior.draws(name)
            lower, median, upper = np.quantile(values, [0.025, 0.5, 0.975]).tolist()
            found[name] = Marginal(
                float(values.mean()), error_of_mean(values), float(values.std(ddof=1)), lower, median, upper
            )
    return found


def unverified(engine_name: str) -> ArgumentError:
    """The refusal of a verification where there is one computation."""
    return ArgumentError(
        f"A fit by {engine_name} alone has nothing to compare it with.",
        remedy="fit(engine='auto') integrates and samples, and compares the two.",
    )


def _without_density() -> ArgumentError:
    return ArgumentError("Identical scores have no marginal likelihood: their density is unbounded.")


def integrated_next_dataset(integration: Integration, rope: Rope, unit: float) -> NextDataset:
    """The next data set from an integral.

    Parameters
    ----------
    integration : Integration
        In multiples of ``unit``.
    rope : Rope
        In the metric's units.
    unit : float
        In the metric's units.
    """
    masses, errors = integration.regions(rope.scaled(1 / unit))
    errors = {name: max(error, NEGLIGIBLE) for name, error in errors.items()}
    values = {f"p_{region}": value for region, value in zip(REGIONS, masses.most_probable.tolist(), strict=True)}
    values |= {f"expected_{region}": value for region, value in zip(REGIONS, masses.expected.tolist(), strict=True)}
    floor = max(errors[f"p_{region}"] for region in REGIONS)
    return NextDataset(**values, p_positive=masses.positive, errors=errors, draws=0, floor=floor)


def likelihood_of(model: HierarchicalModel) -> MeanLikelihood:
    """The likelihood of each data set given its mean difference, in the unit of the model."""
    fields = model.mean, model.sum_of_squares, model.n, model.rho, model.sigma_upper
    return MeanLikelihood(*fields) if model.counts is None else TrinomialLikelihood(*fields, model.counts)


def integrand(model: HierarchicalModel) -> Integrand:
    """The problem for the quadrature engine, in the unit of the model.

    Raises
    ------
    ArgumentError
        If the centre of the population depends on covariates.
    """
    if model.covariate is not None:
        raise ArgumentError("A population with covariates is not integrated.", remedy="Leave the covariates out.")
    return Integrand(
        likelihood_of(model),
        model.delta0_bound,
        model.sigma0_upper,
        model.priors,
        delta0_prior=model.delta0_prior,
        sigma0_prior=model.sigma0_prior,
    )


SUFFICIENT = ("mean", "sum_of_squares", "n", "rho")


def plain_integration(integration: Integration) -> dict[str, Any]:
    """Plain values from which `integration_from` makes an equal integration."""
    grid, problem = integration.grid, integration.grid.problem
    line, likelihood = grid.delta0_axis, problem.likelihood
    stretched = isinstance(line, StretchedLine)
    return {
        "refinements": integration.refinements,
        "problem": {name: value.tolist() for name, value in vars(likelihood).items() if name in SUFFICIENT}
        | {
            "sigma_upper": likelihood.sigma_upper,
            "delta0_bound": problem.delta0_bound,
            "sigma0_upper": problem.sigma0_upper,
            "priors": problem.priors.to_dict(),
            "log_sigma0": problem.log_sigma0,
        }
        | ({"counts": likelihood.counts.tolist()} if isinstance(likelihood, TrinomialLikelihood) else {})
        | {
            name: plain_distribution(prior)
            for name, prior in (("delta0_prior", problem.delta0_prior), ("sigma0_prior", problem.sigma0_prior))
            if prior is not None
        },
        "support": {
            "nu": list(grid.support.nu),
            "lower": grid.support.lower.tolist(),
            "upper": grid.support.upper.tolist(),
        },
        "axes": [asdict(grid.sigma0_axis), asdict(grid.nu_axis)],
        "delta0_axis": {name: _plain(value) for name, value in asdict(line).items()} | {"stretched": stretched},
        "centre": grid.centre.tolist(),
        "log_scale": grid.log_scale.tolist(),
        "log_likelihood": grid.log_likelihood.tolist(),
        "fineness": [float(factor) for factor in grid.fineness],
        "known": _plain_known(integration.known),
        "nu_splines": isinstance(grid.nu_axis, SplineAxis),
        "beyond": grid.beyond,
    }


def integration_from(plain: dict[str, Any]) -> Integration:
    """From the result of `plain_integration`."""
    problem = plain["problem"]
    sufficient = {name: np.array(problem[name], dtype=float) for name in SUFFICIENT}
    likelihood = MeanLikelihood(**sufficient, sigma_upper=problem["sigma_upper"])
    if "counts" in problem:
        likelihood = TrinomialLikelihood(**vars(likelihood), counts=np.array(problem["counts"], dtype=int))
    distributions: dict[str, Any] = {
        name: distribution_from(problem[name]) for name in ("delta0_prior", "sigma0_prior") if name in problem
    }
    support = plain["support"]
    fields = {name: value for name, value in plain["delta0_axis"].items() if name != "stretched"}
    if plain["delta0_axis"]["stretched"]:
        arrays = {name: np.array(fields[name], dtype=float) for name in ("places", "widths")}
        line: ChebyshevAxis | StretchedLine = StretchedLine(**(fields | arrays))
    else:
        line = ChebyshevAxis(**fields)
    grid = PosteriorGrid(
        problem=Integrand(
            likelihood,
            problem["delta0_bound"],
            problem["sigma0_upper"],
            Priors(**problem["priors"]),
            problem["log_sigma0"],
            **distributions,
        ),
        support=Support(tuple(support["nu"]), np.array(support["lower"]), np.array(support["upper"])),
        sigma0_axis=(SplineAxis if plain["delta0_axis"]["stretched"] else ChebyshevAxis)(**plain["axes"][0]),
        nu_axis=(SplineAxis if plain.get("nu_splines") else ChebyshevAxis)(**plain["axes"][1]),
        delta0_axis=line,
        centre=np.array(plain["centre"]),
        log_scale=np.array(plain["log_scale"]),
        log_likelihood=np.array(plain["log_likelihood"]),
        fineness=tuple(plain["fineness"]),
        beyond=plain.get("beyond", 0.0),
    )
    return Integration(grid, plain["refinements"], _known(plain.get("known")))


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _plain_known(known: Known | None) -> dict[str, Any] | None:
    """The probabilities as first computed: computed again, their last bits would depend on the threads of BLAS."""
    if known is None:
        return None
    rope, masses, errors = known
    return {
        "rope": asdict(rope),
        "most_probable": masses.most_probable.tolist(),
        "expected": masses.expected.tolist(),
        "positive": masses.positive,
        "errors": errors,
    }


def _known(plain: dict[str, Any] | None) -> Known | None:
    if plain is None:
        return None
    masses = RegionMasses(np.array(plain["most_probable"]), np.array(plain["expected"]), plain["positive"])
    return Rope(**plain["rope"]), masses, plain["errors"]


def _with_tuple(fields: dict[str, Any]) -> dict[str, Any]:
    """Failures as the tuple they were before JSON turned it into a list."""
    return fields | {"failures": tuple(fields["failures"])}
