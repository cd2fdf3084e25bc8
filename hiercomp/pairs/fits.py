"""The fits of many pairs, spread over processes or a cluster, and resumed where an earlier run stopped."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hiercomp.errors import EngineError, HiercompError, HiercompWarning, Note
from hiercomp.model.priors import Priors
from hiercomp.pairs.checkpoint import Checkpoint, pair_key
from hiercomp.posterior.fit import Fit, quietly_checked, refit
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import EXAMPLES_SHOWN, counted, shown
from hiercomp.workers import dask_backend, end_with_parent, task_seed

if TYPE_CHECKING:
    from dask.distributed import Client

MOST_DEATHS = 3  # of processes, one after the other, without a pair that is finished in between
TWO_PROCESSES = 2  # with one, joblib would fit in the program itself
MOST_PAIRS_A_TASK, TASKS_A_WORKER = 8, 4
PAIRS_WORTH_A_PROCESS = 8  # of the quadrature engine: starting a process takes as long
Found: TypeAlias = "tuple[int, Fit | HiercompError]"  # place among the pairs, and what came of it


@dataclass(frozen=True)
class FailedPair:
    """A pair that can't be compared, and why.

    Attributes
    ----------
    left, right : str
        The algorithms.
    reason : str
        What is wrong and what to do.
    """

    left: str
    right: str
    reason: str

    @property
    def status(self) -> Literal["failed"]:
        """Always "failed"; corresponds to ``ComparisonResult.status``."""
        return "failed"


@dataclass(frozen=True)
class Task:
    """A pair to fit: its place among the pairs, its data without the single scores, and its seed."""

    place: int
    differences: PairedDifferences
    seed: int


@dataclass(frozen=True)
class PairFits:
    """How to fit pairs: the settings that all share.

    Attributes
    ----------
    rope : Rope
    priors : Priors
    options : dict
        Options of `HierarchicalComparison.fit`, including the engine's name.
    engine_version : str
        Results of other versions in a checkpoint are ignored.
    """

    rope: Rope
    priors: Priors
    options: dict[str, Any]
    engine_version: str

    def run(
        self,
        tasks: Sequence[Task],
        *,
        n_jobs: int | None,
        checkpoint: str | Path | None = None,
        dask: str | Client | None = None,
        notes: list[Note] | None = None,
    ) -> Generator[Found]:
        """Place and result of every pair, as they arrive: first from the checkpoint, then from the workers.

        What is damaged in the checkpoint is fitted again, and added to ``notes``.
        """
        kept = None if checkpoint is None else Checkpoint(checkpoint)
        keys: dict[int, str] = {}
        if kept is not None:
            done, wrong = set(), 0
            for task in tasks:
                options = self.options | {"seed": task.seed, "engine_version": self.engine_version}
                try:
                    checked = quietly_checked(task.differences, self.rope)  # as those of the result that is kept
                except HiercompError:  # which the fit will raise again
                    continue
                keys[task.place] = pair_key(checked, self.rope, self.priors, options)
                found = kept.read(keys[task.place], options)
                if isinstance(found, Fit):
                    done.add(task.place)
                    yield task.place, found
                else:
                    wrong += found
            if wrong and notes is not None:
                text = f"{counted(wrong, 'pair', 'was')} damaged in the checkpoint and fitted again."
                notes.append(Note(HiercompWarning, text, key="damaged pairs"))
            tasks = [task for task in tasks if task.place not in done]
        lost = {task.place: task.differences for task in tasks}
        with closing(self._in_parallel(tasks, n_jobs, dask)) as batches:
            for finished in batches:
                for place, _ in finished:
                    del lost[place]
                if kept is not None:
                    results = [(place, found) for place, found in finished if isinstance(found, Fit)]
                    kept.add([(keys[place], result) for place, result in results])
                yield from finished
        if lost:
            raise EngineError(
                f"{counted(len(lost), 'pair', 'has')} no result ({_named(list(lost.values()))}): "
                f"the {'Dask workers' if dask is not None else 'processes'} that fitted them "
                "ran out of memory or crashed.",
                remedy="Give each more memory, or use fewer. A checkpoint keeps the other pairs.",
            )

    def fit(self, tasks: Sequence[Task]) -> list[Found]:
        """Fit some pairs in a worker; the result of a pair that fails is its error."""
        from threadpoolctl import threadpool_limits

        end_with_parent()
        found: list[Found] = []
        with threadpool_limits(limits=1), warnings.catch_warnings():  # a thread for each process, the same last bits
            warnings.simplefilter("ignore", HiercompWarning)  # they are in the results
            for task in tasks:
                try:
                    options = self.options | {"seed": task.seed, "progress": False}
                    found.append((task.place, refit(task.differences, self.rope, self.priors, options)))
                except HiercompError as error:
                    found.append((task.place, error))
                except MemoryError:
                    no_memory = EngineError("There was not enough memory.", remedy="Use fewer processes.")
                    found.append((task.place, no_memory))
        return found

    def _in_parallel(
        self, tasks: Sequence[Task], n_jobs: int | None, dask: str | Client | None
    ) -> Generator[list[Found]]:
        """Batches of results in the order in which they finish.

        When a process dies, joblib gives up all that its others have begun; the pairs without a result are fitted again,
        and one at a time if processes keep dying before any other pair is finished. So only a pair whose own process
        dies has no result.
        """
        from joblib.externals.loky.process_executor import BrokenProcessPool

        left = {task.place: task for task in tasks}
        deaths = 0
        while left and deaths < MOST_DEATHS:
            try:
                with closing(self._in_one_pool(list(left.values()), n_jobs, dask)) as batches:
                    for finished in batches:
                        deaths = 0
                        for place, _ in finished:
                            del left[place]
                        yield finished
                return
            except BrokenProcessPool:
                deaths += 1
        for task in left.values():
            with suppress(BrokenProcessPool), closing(self._in_one_pool([task], TWO_PROCESSES, dask)) as batches:
                yield from batches

    def _in_one_pool(
        self, tasks: Sequence[Task], n_jobs: int | None, dask: str | Client | None
    ) -> Generator[list[Found]]:
        from joblib import Parallel, delayed, effective_n_jobs
        from joblib.parallel import get_active_backend

        with dask_backend(dask):
            workers = effective_n_jobs(n_jobs)
            if n_jobs is not None and n_jobs < 0 and type(get_active_backend()[0]).__name__ == "LokyBackend":
                worth = PAIRS_WORTH_A_PROCESS if self.options["engine"] == "quadrature" else 1
                n_jobs = workers = min(workers, ceil(len(tasks) / worth))
            size = max(min(MOST_PAIRS_A_TASK, ceil(len(tasks) / (TASKS_A_WORKER * workers))), 1)
            batches = (tasks[start : start + size] for start in range(0, len(tasks), size))
            found = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
                delayed(self.fit)(batch) for batch in batches
            )
            try:
                for finished in found:  # noqa: UP028 - "yield from" would close it with a warning
                    yield finished
            finally:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # that tasks are cancelled after Ctrl-C
                    found.close()


def _named(pairs: Sequence[PairedDifferences]) -> str:
    """The first pairs by their names."""
    names = [f"{pair.left} and {pair.right}" for pair in pairs[:EXAMPLES_SHOWN]]
    return "; ".join(map(shown, names)) + ("; ..." if len(pairs) > EXAMPLES_SHOWN else "")


def pair_seed(seed: int, one: str, other: str) -> int:
    """The seed of a pair, the same in either order; from 0 to 2^31 - 1.

    Examples
    --------
    >>> pair_seed(0, "a", "b") == pair_seed(0, "b", "a") != pair_seed(1, "a", "b")
    True
    """
    return task_seed(seed, *sorted([one, other]))
