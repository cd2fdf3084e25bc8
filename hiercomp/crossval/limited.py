"""Cells with a time limit: each runs in a process that can be killed without harm to the others."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX
from types import TracebackType
from typing import Any

from hiercomp.crossval.cells import (
    WORKER_DIED,
    Cell,
    CellResult,
    Work,
    failed,
    pickled,
    pickled_works,
    run_sent,
    unordered,
)
from hiercomp.crossval.splits import Data, Indices, Splits
from hiercomp.wording import error_in_words
from hiercomp.workers import end_with_parent


@dataclass(frozen=True, eq=False)
class Package:
    """What the cells of a data set share, pickled.

    Attributes
    ----------
    data : bytes
    works : dict from str to bytes
        By name of estimator.
    """

    data: bytes
    works: dict[str, bytes]


def too_long(seconds: float) -> str:
    """The error of a cell that took longer than the time limit."""
    return f"took longer than {seconds:g} s"


class LimitedProcesses:
    """Processes that each run one cell at a time, and are killed and replaced if it takes too long or they die.

    Joblib's own pool stops all its processes if one is killed. Here threads of the program wait for the processes.

    Parameters
    ----------
    seconds : float
        For fitting and scoring one cell; starting a process and sending it the data do not count.
    number : int
        How many cells run at a time, which decides how many threads numerical libraries may start in each process.
    """

    def __init__(self, seconds: float, number: int) -> None:
        self._seconds = seconds
        self._number = number
        self._all: list[_Process] = []
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._closed = False

    def __enter__(self) -> LimitedProcesses:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closed = True
        for process in self._all:
            process.kill()

    def run_cells(
        self,
        data: Data,
        splits: Splits,
        cells: Iterable[tuple[Cell, int]],
        works: Mapping[str, Work],
        seed: int,
        *,
        n_jobs: int | None,
    ) -> Generator[tuple[Cell, CellResult]]:
        """The results of cells, as `hiercomp.crossval.cells.run_cells`; threads of this program wait for the processes."""
        from joblib import delayed, effective_n_jobs

        package = Package(pickled("the data", data), pickled_works(works))
        tasks = (delayed(self._run)(package, cell, splits.rows[place], cell.seed(seed)) for cell, place in cells)
        return unordered(tasks, effective_n_jobs(n_jobs), 1, backend="threading")

    def _run(self, package: Package, cell: Cell, rows: tuple[Indices, Indices], seed: int) -> tuple[Cell, CellResult]:
        """Run a cell in an idle process, or a new one."""
        if self._closed:  # a thread that the end of the run has overtaken
            return cell, failed("the run has ended")
        try:
            process = self._idle.get_nowait()
        except Empty:
            process = _Process(self._number)
            self._all.append(process)
        try:
            return cell, process.run(package, cell, rows, seed, self._seconds)
        finally:
            self._idle.put(process)


class _Process:
    """One process, started when it is needed."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._executor: Any = None
        self._holds: Package | None = None

    def run(self, package: Package, cell: Cell, rows: tuple[Indices, Indices], seed: int, seconds: float) -> CellResult:
        from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

        try:
            if self._holds is not package:
                self._receive(package)
            running = self._executor.submit(_run_here, cell, rows, seed)
            result: CellResult = running.result(timeout=min(seconds, TIMEOUT_MAX))
            return result
        except TimeoutError:
            why = too_long(seconds)
        except TerminatedWorkerError:
            why = WORKER_DIED
        except BrokenProcessPool as error:
            why = error_in_words(error)
        except _NotReceivedError as error:
            why = str(error)
        self.kill()
        return failed(why)

    def kill(self) -> None:
        """Kill the process and those that it started."""
        executor, self._executor, self._holds = self._executor, None, None
        if executor is not None:
            executor.shutdown(wait=True, kill_workers=True)

    def _receive(self, package: Package) -> None:
        from joblib._parallel_backends import LokyBackend
        from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

        if self._executor is None:
            environment = LokyBackend()._prepare_worker_env(n_jobs=self._number)  # as for joblib's own processes
            self._executor = ProcessPoolExecutor(1, env=environment)
        try:
            self._executor.submit(_receive_here, package.data, package.works).result()
        except BrokenProcessPool:
            raise
        except Exception as error:  # whatever unpickling raises
            raise _NotReceivedError(error_in_words(error)) from error
        self._holds = package


class _NotReceivedError(Exception):
    """Data that can't be unpickled in another process."""


_here: tuple[Any, dict[str, bytes]]  # in a process that runs cells: the data and the pickled works


def _receive_here(data: bytes, works: dict[str, bytes]) -> None:
    """Keep what the cells share, and import what the estimators need, which the time limit does not count."""
    global _here
    end_with_parent()
    _here = ForkingPickler.loads(data), works
    for work in works.values():
        with suppress(Exception):  # an error of its cells
            ForkingPickler.loads(work)


def _run_here(cell: Cell, rows: tuple[Indices, Indices], seed: int) -> CellResult:
    data, works = _here
    return run_sent(cell, data, works[cell.estimator], rows, seed)[1]
