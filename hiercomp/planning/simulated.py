"""Fits of simulated collections of data sets, and the counts of their verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import number_between, number_of_jobs, seed_number, true_or_false, whole_number
from hiercomp.engines import choose_engine
from hiercomp.errors import ArgumentError, ConvergenceWarning, EngineError, FewDatasetsWarning, Note
from hiercomp.model.priors import Priors
from hiercomp.planning.assumption import Assumption, first_datasets, simulated_collections
from hiercomp.planning.result import OUTCOMES, PlanResult
from hiercomp.posterior.fit import refit
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.problems import FEW_DATASETS, SMALLEST_N
from hiercomp.wording import counted
from hiercomp.workers import sampling_progress


@dataclass(frozen=True)
class PlanSettings:
    """What a plan does with the simulated collections."""

    n_datasets: tuple[int, ...]
    rope: Rope
    alpha: float
    priors: Priors
    simulations: int
    options: dict[str, Any]  # of `HierarchicalComparison.fit`

    def __post_init__(self) -> None:
        number_between("alpha", self.alpha, 0, 0.5)
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
    number_of_jobs(n_jobs)
    if assumption.left == assumption.right:
        raise ArgumentError(f"left and right are both called {assumption.left!r}; give the algorithms different names.")
    if assumption.n.min() < SMALLEST_N:
        raise ArgumentError(
            f"folds x runs must be at least {SMALLEST_N} scores of a data set, got {assumption.n.min()}."
        )
    choose_engine(settings.options["engine"])  # refused here, not in every fit
    count, seed = settings.n_datasets[-1], settings.options["seed"]
    tasks = (
        delayed(_verdicts)(tuple(simulated_collections(assumption, count, seed, number)), settings)
        for number in range(settings.simulations)
    )
    found = []
    with sampling_progress("Simulating", 1, settings.simulations, shown=progress) as report:
        for verdicts in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
            found.append(verdicts)
            if report is not None:
                report(0, len(found))
    codes = np.array(found)  # (simulations, runs, datasets)
    counts = (codes[..., None] == np.arange(len(OUTCOMES))).sum(axis=0)
    notes = _notes(codes, runs, settings)
    for note in notes:
        note.warn(stacklevel=3)
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
    )


def _verdicts(collections: tuple[PairedDifferences, ...], settings: PlanSettings) -> NDArray[np.int64]:
    """The outcome of every fit of one simulation, shape (runs, datasets): places in `OUTCOMES`."""
    from threadpoolctl import threadpool_limits

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
        text = f"With fewer than {FEW_DATASETS} data sets the priors on sigma0 and nu weigh heavily on the verdict."
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
