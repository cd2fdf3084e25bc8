"""Cells under joblib's active backend or on a Dask cluster; a process that dies costs no other cell."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pickle import PicklingError
from typing import Any, TypeAlias

from hiercomp.crossval.cells import Cell, CellResult, Data, run_cell, told
from hiercomp.errors import ArgumentError, EngineError
from hiercomp.wording import shown
from hiercomp.workers import active_client

WORKER_DIED = "the process died, for lack of memory or by a crash"
TASKS_A_CORE = 2  # of a cluster, sent in advance
SECONDS_BETWEEN_LOOKS = 0.002  # at a cluster, whose own iterator would wait for a scheduler that is gone
Arguments: TypeAlias = "Callable[[Cell], tuple[Any, ...]]"  # of `run_cell`, after the data


def computed(
    data: Data, cells: Sequence[Cell], arguments: Arguments, *, n_jobs: int | None, one_by_one: bool
) -> Generator[tuple[Cell, CellResult]]:
    """Results in the order in which they come.

    When a process dies, what it was computing is not known: the cells that were under way are computed one at a time in a
    process of their own, and the rest goes on as before.

    Parameters
    ----------
    data : Data
    cells : sequence of Cell
    arguments : function from Cell to tuple
        What `run_cell` takes after the data.
    n_jobs : int or None
        Of joblib; a cluster uses every core it has.
    one_by_one : bool
        Whether each result is wanted as it comes, not in batches.
    """
    from joblib.externals.loky.process_executor import BrokenProcessPool

    client: Any = active_client()
    left = list(cells)
    while left:
        sent: list[Cell] = []
        done: set[Cell] = set()
        try:
            if client is None:
                results = _in_processes(data, _noted(left, sent), arguments, n_jobs, one_by_one)
            else:
                cores = TASKS_A_CORE * sum(client.ncores().values())
                results = _on_cluster(client, data, _noted(left, sent), arguments, cores)
            for cell, result in results:
                if result is not None:
                    done.add(cell)
                    yield cell, result
        except BrokenProcessPool:
            pass  # and the other processes of the pool are stopped too
        except PicklingError as error:
            why = _not_sent(data, sent or left[:1], arguments) or told(error.__cause__ or error)
            raise ArgumentError(
                f"Cells can't be sent to other processes: {why}. Change it, or run with n_jobs=1."
            ) from error
        tried = sent or left[:1]
        for cell in tried:
            if cell not in done:
                yield cell, _alone(client, data, cell, arguments)
        left = left[len(tried) :]


def _noted(cells: Iterable[Cell], sent: list[Cell]) -> Iterator[Cell]:
    """The same cells; what has been taken stands in the list."""
    for cell in cells:
        sent.append(cell)
        yield cell


def _alone(client: Any, data: Data, cell: Cell, arguments: Arguments) -> CellResult:
    """A cell that may have killed a process, not in this one and with no other beside it."""
    from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

    why = WORKER_DIED
    try:
        if client is None:
            results = _in_processes(data, [cell], arguments, 2, True)
        else:
            results = _on_cluster(client, data, [cell], arguments, 1)
        with closing(results):
            _, found = next(results)
        if found is not None:
            return found
    except TerminatedWorkerError:
        pass
    except BrokenProcessPool as error:  # such as an estimator that can't be unpickled there
        why = f"{type(error).__name__}: {error}"
    return CellResult((), float("nan"), float("nan"), why)


def _in_processes(
    data: Data, cells: Iterable[Cell], arguments: Arguments, n_jobs: int | None, one_by_one: bool
) -> Generator[tuple[Cell, CellResult | None]]:
    from joblib import Parallel, delayed

    tasks = (delayed(_named_result)(cell, data, *arguments(cell)) for cell in cells)
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1 if one_by_one else "auto")
    except ValueError as error:  # such as "multiprocessing"
        text = f"Cells can't run under joblib's active backend: {error}. Take 'loky', 'threading' or 'dask'."
        raise ArgumentError(text) from error
    found = parallel(tasks)
    try:
        for result in found:  # noqa: UP028 - "yield from" would close it with a warning
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that tasks are cancelled after Ctrl-C
            found.close()


def _on_cluster(
    client: Any, data: Data, cells: Iterable[Cell], arguments: Arguments, at_once: int
) -> Generator[tuple[Cell, CellResult | None]]:
    """As tasks of Dask's own; None for a cell whose workers died. Joblib's backend would wait for it forever."""
    from dask.distributed import as_completed
    from distributed.protocol.pickle import dumps

    def submitted(some: Iterable[Cell]) -> Iterator[Any]:
        for cell in some:
            with _picklable():  # here, since a worker that can't read a task is lost without a word
                packed = dumps(arguments(cell))  # type: ignore[no-untyped-call]
            future = client.submit(_unpacked, sent, packed, pure=False)
            waiting[future.key] = cell
            yield future

    waiting: dict[str, Cell] = {}
    left = iter(cells)
    with warnings.catch_warnings(), _picklable():
        warnings.simplefilter("ignore", UserWarning)  # that the data are large
        sent = client.submit(_itself, data, pure=False)
    first = list(submitted(islice(left, at_once)))
    running: Any = as_completed(first, loop=client.loop)  # type: ignore[no-untyped-call]
    try:
        while not running.is_empty():
            if client.status not in ("running", "connecting"):
                raise EngineError("The connection to the Dask scheduler is lost. A checkpoint keeps what is finished.")
            for future in running.next_batch(block=False):
                cell = waiting.pop(future.key)
                yield cell, _outcome(future)
                for more in submitted(islice(left, 1)):
                    running.add(more)
            time.sleep(SECONDS_BETWEEN_LOOKS)
    finally:
        if client.status == "running":
            sent.cancel()


@contextmanager
def _picklable() -> Iterator[None]:
    """As joblib tells of what can't be pickled."""
    try:
        yield
    except Exception as error:  # whatever it raises
        raise PicklingError("a task can't be sent") from error


def _unpacked(data: Data, packed: bytes) -> CellResult:
    """A task of Dask: a cell whose estimator is read here, so that what a worker lacks is an error of the cell."""
    from distributed.protocol.pickle import loads

    return run_cell(data, *loads(packed))  # type: ignore[no-untyped-call]


def _outcome(future: Any) -> CellResult | None:
    """What a task of Dask gave; None where it killed its workers or was lost with them."""
    from dask.distributed import KilledWorker

    if future.status == "finished":
        return future.result()  # type: ignore[no-any-return]
    error = future.exception() if future.status == "error" else None
    if error is None or isinstance(error, KilledWorker):
        return None
    return CellResult((), float("nan"), float("nan"), told(error))  # such as a module that workers do not have


def _not_sent(data: Data, cells: Iterable[Cell], arguments: Arguments) -> str | None:
    """What of some cells can't be pickled, and why."""
    from joblib.externals.loky.backend.reduction import dumps  # which every process of the pool uses

    for cell in cells:
        for what, part in ((f"estimator {shown(cell.estimator)!r}", arguments(cell)), ("the data", data)):
            try:
                dumps(part)
            except Exception as error:  # whatever it raises
                return f"{what} can't be pickled: {told(error)}"
    return None


def _named_result(cell: Cell, *arguments: Any) -> tuple[Cell, CellResult]:
    return cell, run_cell(*arguments)


def _itself(data: Data) -> Data:
    """A task that has the data, so that they can be had again when the worker that holds them dies."""
    return data
