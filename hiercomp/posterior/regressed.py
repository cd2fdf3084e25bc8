"""The kind of posterior of a population whose centre depends on covariates of the data sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.leave_one_out import LeftOut
from hiercomp.errors import ArgumentError, EngineError
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.diagnostics import diagnose
from hiercomp.posterior.importance import left_out_with_centres
from hiercomp.posterior.kinds import Integrated, Sampled, likelihood_of
from hiercomp.posterior.next_dataset import NextDataset, next_dataset_of
from hiercomp.posterior.predictive import next_differences, population_density
from hiercomp.rope import Rope, region_probabilities
from hiercomp.scores.covariates import Covariates

if TYPE_CHECKING:
    from hiercomp.engines import Sampler
    from hiercomp.posterior.verification import Verification

AGAIN = 2  # times the iterations of a second attempt without a data set, where the first one fails a check
MOST_CENTRES = 200  # points of the covariates over which a density is averaged


@dataclass(frozen=True, eq=False)
class Regressed(Sampled):
    """A posterior that was sampled, of a population whose centre is delta0 + z_i' slope at data set i (C1).

    The next data set is one like those observed: its probabilities are means over their covariates.

    Attributes
    ----------
    variables, prior : mapping from name to ndarray
        As those of `Sampled`, with slope, shape (chains, draws, p): the change of the centre for one standard deviation of
        a covariate.
    statistics : mapping from name to ndarray, shape (chains, draws)
    differences : PairedDifferences
        With the covariates.
    diagnostics : SamplerDiagnostics
    attempts : tuple of Attempt
    settings : SamplerSettings
    engine_name, engine_version : str
    """

    kind: ClassVar[str] = "regressed"

    @property
    def covariates(self) -> Covariates:
        """Of the data sets."""
        assert self.differences.covariates is not None
        return self.differences.covariates

    def centres_at(self, point: FloatArray) -> FloatArray:
        """Draws of the centre at standardised covariates, shape (chains, draws)."""
        return centres(self.draws("delta0"), self.draws("slope"), point)

    def regions_at(self, point: FloatArray, rope: Rope) -> FloatArray:
        """Probabilities of left, rope and right of each draw at standardised covariates, shape (chains, draws, 3)."""
        return region_probabilities(self.centres_at(point), self.draws("sigma0"), self.draws("nu"), rope)

    def at(self, point: FloatArray, rope: Rope) -> NextDataset:
        """Inference on a data set with standardised covariates."""
        return next_dataset_of(self.regions_at(point, rope), self.centres_at(point))

    def regions(self, rope: Rope) -> FloatArray:
        """Of each draw, means over the covariates of the data sets, shape (chains, draws, 3)."""
        return mean_regions(
            self.draws("delta0"),
            self.draws("sigma0"),
            self.draws("nu"),
            self.draws("slope"),
            self.covariates.standardised,
            rope,
        )

    def density(self, x: ArrayLike) -> FloatArray:
        """Mean over the draws and the covariates of the data sets, at most 200 of them; shape of ``x``."""
        every = self.covariates.standardised
        chosen = np.unique(np.linspace(0, len(every) - 1, min(len(every), MOST_CENTRES)).astype(int))
        sigma0, nu = self.draws("sigma0"), self.draws("nu")
        total = sum(population_density(self.centres_at(every[place]), sigma0, nu, x) for place in chosen)
        return np.asarray(total / len(chosen))

    def next_differences(self, generator: np.random.Generator) -> FloatArray:
        """One for each draw, shape (chains, draws), at the covariates of a data set drawn at random."""
        delta0 = self.draws("delta0")
        points = self.covariates.standardised[generator.integers(len(self.covariates.values), size=delta0.shape)]
        centre = delta0 + (points * self.draws("slope")).sum(axis=2)
        return next_differences(centre, self.draws("sigma0"), self.draws("nu"), generator)

    @property
    def log_marginal_likelihood(self) -> float:
        """Not known: raises ArgumentError."""
        raise ArgumentError(
            "The marginal likelihood of a population with covariates is not computed.",
            remedy="result.effects() compares it with none by leave-one-out.",
        )

    def verification(self, rope: Rope) -> Verification:
        """Not known: raises ArgumentError."""
        raise ArgumentError(
            "A population with covariates is computed once, by sampling; there is nothing to compare it with."
        )

    def integrated_or(self, integrate: Callable[[], Integrated]) -> Integrated:
        """Not computed: raises ArgumentError."""
        raise ArgumentError(
            "A population with covariates is not integrated, so its probabilities without each data set are not known.",
            remedy="result.loo() says which data sets are unexpected; fit without covariates for influence().",
        )

    def left_out(self, model: HierarchicalModel, rope: Rope, integrate: Callable[[], Integrated]) -> LeftOut:
        """By importance sampling, and by sampling without the data set where that fails."""
        unit, likelihood = model.unit, likelihood_of(model)
        sampler, last = self._sampler(), self.attempts[-1]
        settings = replace(
            self.settings, warmup=last.warmup, draws=last.draws, adapt_delta=last.adapt_delta, progress=False
        )
        careful, names = settings.longer(AGAIN, AGAIN), self.differences.dataset_names

        def drawn_without(place: int) -> tuple[tuple[FloatArray, FloatArray, FloatArray], bool]:
            others, rest = model.without(place), names[:place] + names[place + 1 :]
            for centred, chosen in ((others.centred(), settings), (np.zeros(len(rest), dtype=bool), careful)):
                drawn = sampler.sample(others.program(centred, chosen.chains, chosen.seed), chosen)
                passed = not diagnose(drawn.variables, drawn.statistics, rest, self.covariates.names).failures
                if passed:
                    break
            variables = drawn.variables
            nu = variables.get("nu", np.full(variables["delta0"].shape, np.inf))
            centre = centres(variables["delta0"], variables["slope"], self.covariates.standardised[place])
            return (centre, variables["sigma0"], nu), passed

        points = self.covariates.standardised
        return left_out_with_centres(
            likelihood,
            np.stack([self.centres_at(point) for point in points], axis=2) / unit,
            self.draws("sigma0") / unit,
            self.draws("nu"),
            drawn_without,
        )

    def _sampler(self) -> Sampler:
        """The engine that made the draws, or the one that is here."""
        from hiercomp.engines import SAMPLERS

        for name in (self.engine_name, *SAMPLERS):
            if name in SAMPLERS and SAMPLERS[name].why_unavailable() is None:
                return SAMPLERS[name]
        raise EngineError("No sampler can run here.", remedy="`hiercomp doctor` says why.")


def centres(delta0: FloatArray, slope: FloatArray, point: FloatArray) -> FloatArray:
    """delta0 + z' slope of each draw, shape (chains, draws); no product uses BLAS.

    Parameters
    ----------
    delta0 : ndarray, shape (chains, draws)
    slope : ndarray, shape (chains, draws, p)
    point : ndarray, shape (p,)
        Standardised covariates.
    """
    return np.asarray(delta0 + (slope * point).sum(axis=2))


def mean_regions(
    delta0: FloatArray, sigma0: FloatArray, nu: ArrayLike, slope: FloatArray, points: FloatArray, rope: Rope
) -> FloatArray:
    """Probabilities of left, rope and right under each draw, means over points of the covariates.

    Parameters
    ----------
    delta0, sigma0, nu : ndarray, shape (chains, draws)
    slope : ndarray, shape (chains, draws, p)
    points : ndarray, shape (q, p)
        Standardised covariates.
    rope : Rope
        In the unit of delta0.

    Returns
    -------
    ndarray, shape (chains, draws, 3)
    """
    total = sum(region_probabilities(centres(delta0, slope, point), sigma0, nu, rope) for point in points)
    return np.asarray(total / len(points))
