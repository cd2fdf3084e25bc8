"""Simulated collections of data sets under an assumption, their fits, and the counts of the verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, number_of_jobs, seed_number, true_or_false, verdict_level, whole_number
from hiercomp.engines import choose_engine
from hiercomp.errors import ArgumentError, ConvergenceWarning, EngineError, FewDatasetsWarning, Note, warn_caller
from hiercomp.model.priors import Priors
from hiercomp.planning.result import OUTCOMES, PlanResult
from hiercomp.posterior.fit import refit
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.problems import FEW_DATASETS, SMALLEST_N
from hiercomp.wording import counted
from hiercomp.workers import end_with_parent, sampling_progress, worker_errors

# One stream of random numbers for each quantity: the first data sets of a collection are the same whatever their
# number, the runs and the assumed values are
STREAMS = ("draw", "kind", "population", "mean", "spread")


@dataclass(frozen=True, eq=False)
class Assumption:
    """A population of data sets, known exactly or by its posterior, and the kinds of data sets in it.

    Attributes
    ----------
    delta0, sigma0, nu : ndarray, shape (draws,)
        Centre, scale and degrees of freedom of the data sets' mean differences; one draw if they are taken as known.
        ``nu`` may be infinite (Gaussian).
    sigma : ndarray, shape (draws, kinds)
        Standard deviation of the differences within a data set, for each kind.
    n : ndarray of int, shape (options, kinds)
        Number of differences of a data set, for each planned number of runs.
    rho : ndarray, shape (options, kinds)
        Correlation between two differences of a data set.
    score_range : pair of float
        Smallest and largest possible score of the metric.
    left, right : str
        The algorithms.
    words : str
        The assumption in words.
    """

    delta0: FloatArray
    sigma0: FloatArray
    nu: FloatArray
    sigma: FloatArray
    n: NDArray[np.int64]
    rho: FloatArray
    score_range: tuple[float, float]
    left: str
    right: str
    words: str


def simulated_collections(
    assumption: Assumption, count: int, seed: int, simulation: int
) -> Iterator[PairedDifferences]:
    """A simulated collection of data sets for each planned number of runs, as sufficient statistics.

    They are drawn from their exact distributions; no single fold is needed. The same seed and simulation give the same
    data sets; a smaller ``count`` gives the first ones, with the same random numbers for every number of runs.

    Parameters
    ----------
    assumption : Assumption
    count : int
        Data sets.
    seed, simulation : int
        Which random numbers.

    Notes
    -----
    delta_i ~ t_nu(delta0, sigma0) (M2). With x_i ~ MVN(1 delta_i, sigma_i^2 M_i) (M1) the mean is normal with variance
    sigma_i^2 (1 + (n - 1) rho)/n, and independently of it SS_i/(sigma_i^2 (1 - rho)) is chi-squared with n - 1 degrees of
    freedom: the two eigenvalues of M_i, for the vector of ones and for everything orthogonal to it.
    """
    from scipy import special

    streams = {name: np.random.default_rng([seed, simulation, number]) for number, name in enumerate(STREAMS)}
    draw = streams["draw"].integers(len(assumption.delta0))
    kind = streams["kind"].integers(assumption.rho.shape[1], size=count)
    nu = assumption.nu[draw]
    generator = streams["population"]
    deviation = generator.standard_normal(count) if np.isinf(nu) else generator.standard_t(nu, count)
    delta = assumption.delta0[draw] + assumption.sigma0[draw] * deviation
    sigma = assumption.sigma[draw, kind]
    standard_normal = streams["mean"].standard_normal(count)
    above = 1 - streams["spread"].random(count)  # in (0, 1]
    names = tuple(str(number + 1) for number in range(count))
    lowest, highest = assumption.score_range
    for n, rho in zip(assumption.n[:, kind], assumption.rho[:, kind], strict=True):
        mean = delta + sigma * np.sqrt((1 + (n - 1) * rho) / n) * standard_normal
        yield PairedDifferences(
            left=assumption.left,
            right=assumption.right,
            dataset_names=names,
            mean=mean,
            sum_of_squares=sigma**2 * (1 - rho) * special.chdtri(n - 1, above),
            n=n,
            rho=rho,
            constant=np.zeros(count, dtype=bool),
            lowest_score=np.full(count, lowest),
            highest_score=np.full(count, highest),
            largest_difference=float((np.abs(mean) + 2 * sigma).max()),  # about; without the folds it is not known
        )


def first_datasets(differences: PairedDifferences, count: int) -> PairedDifferences:
    """The first data sets of a collection."""
    parts: dict[str, Any] = {
        name: value[:count] for name, value in vars(differences).items() if isinstance(value, np.ndarray)
    }
    return replace(differences, dataset_names=differences.dataset_names[:count], **parts)


@dataclass(frozen=True)
class PlanSettings:
    """How a plan treats the simulated collections."""

    n_datasets: tuple[int, ...]
    rope: Rope
    alpha: float
    priors: Priors
    simulations: int
    options: dict[str, Any]  # of `HierarchicalComparison.fit`

    def __post_init__(self) -> None:
        verdict_level(self.alpha)
        whole_number("simulations", self.simulations, 1)
        seed_number(self.options["seed"])


def simulated_plan(
    assumption: Assumption,
    runs: tuple[int | None, ...],
    settings: PlanSettings,
    n_jobs: int | None,
    progress: bool,
) -> PlanResult:
    """Fit every collection and count the verdicts."""
    from joblib import Parallel, delayed

    true_or_false("progress", progress)
    n_jobs = number_of_jobs(n_jobs)
    if assumption.left == assumption.right:
        raise ArgumentError(f"left and right are both called {assumption.left!r}; give the algorithms different names.")
    if assumption.n.min() < SMALLEST_N:
        raise ArgumentError(
            f"folds x runs must give at least {SMALLEST_N} scores for each data set, got {assumption.n.min()}."
        )
    engine = choose_engine(settings.options["engine"])  # refused here, not in every fit
    count, seed = settings.n_datasets[-1], settings.options["seed"]
    tasks = (
        delayed(_verdicts)(tuple(simulated_collections(assumption, count, seed, number)), settings)
        for number in range(settings.simulations)
    )
    found = []
    with worker_errors(), sampling_progress("Simulating", 1, settings.simulations, shown=progress) as report:
        for verdicts in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
            found.append(verdicts)
            if report is not None:
                report(0, len(found))
    codes = np.array(found)  # (simulations, runs, datasets)
    counts = (codes[..., None] == np.arange(len(OUTCOMES))).sum(axis=0)
    notes = _notes(codes, runs, settings)
    warn_caller(notes)
    return PlanResult(
        n_datasets=settings.n_datasets,
        runs=runs,
        counts=counts,
        simulations=settings.simulations,
        alpha=settings.alpha,
        rope=settings.rope,
        algorithms=(assumption.left, assumption.right),
        assumption=assumption.words,
        notes=tuple(note.text for note in notes),
        priors=settings.priors,
        rho=tuple(assumption.rho.ravel().tolist()),
        engine_name=engine.name,
        engine_version=engine.version(),
        seed=seed_number(seed),
    )


def _verdicts(collections: tuple[PairedDifferences, ...], settings: PlanSettings) -> NDArray[np.int64]:
    """The outcome of every fit of one simulation, shape (runs, datasets): places in `OUTCOMES`."""
    from threadpoolctl import threadpool_limits

    end_with_parent()
    codes = np.empty((len(collections), len(settings.n_datasets)), dtype=np.int64)
    with threadpool_limits(limits=1):  # a thread for each process, the same last bits
        for option, collection in enumerate(collections):
            for place, count in enumerate(settings.n_datasets):
                outcome = _outcome(first_datasets(collection, count), settings)
                codes[option, place] = OUTCOMES.index(outcome)
    return codes


def _outcome(differences: PairedDifferences, settings: PlanSettings) -> str:
    try:
        result = refit(differences, settings.rope, settings.priors, settings.options)
    except EngineError:
        return "failed"
    return "failed" if result.status == "failed" else result.decision(settings.alpha).region


def _notes(codes: NDArray[np.int64], runs: tuple[int | None, ...], settings: PlanSettings) -> list[Note]:
    notes = []
    if settings.n_datasets[0] < FEW_DATASETS:
        text = (
            f"With fewer than {FEW_DATASETS} data sets, the verdict depends strongly on the priors for sigma0 and nu."
        )
        notes.append(Note(FewDatasetsWarning, text))
    failed = np.argwhere(codes == OUTCOMES.index("failed"))
    if len(failed):
        simulation, option, place = failed[0]
        number = "" if runs[option] is None else f" and {counted(int(runs[option] or 0), 'run')}"
        text = (
            f"{len(failed)} of {codes.size:,} fits failed (first: simulation {simulation} with "
            f"{settings.n_datasets[place]} data sets{number}) and count as no verdict of any kind; see the column failed."
        )
        notes.append(Note(ConvergenceWarning, text))
    return notes
