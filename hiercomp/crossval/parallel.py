"""Cells under joblib's active backend or on a Dask cluster; a process that dies costs no other cell."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

from hiercomp.clusters import active_client
from hiercomp.crossval.cells import Cell, CellResult, Data, run_cell

WORKER_DIED = "the process died, for lack of memory or by a crash"
TASKS_A_CORE = 2  # of a cluster, sent in advance
Arguments: TypeAlias = "Callable[[Cell], tuple[Any, ...]]"  # of `run_cell`, after the data


def computed(
    data: Data, cells: Sequence[Cell], arguments: Arguments, *, n_jobs: int | None, one_by_one: bool
) -> Generator[tuple[Cell, CellResult]]:
    """Results in the order in which they come.

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
    done: set[Cell] = set()
    try:
        if client is None:
            results = _in_processes(data, cells, arguments, n_jobs, one_by_one)
        else:
            results = _on_cluster(client, data, cells, arguments, TASKS_A_CORE * sum(client.ncores().values()))
        for cell, result in results:
            if result is not None:
                done.add(cell)
                yield cell, result
    except BrokenProcessPool:
        pass  # a process died, and took the other cells with it
    for cell in cells:
        if cell not in done:  # it may have been the one: alone, and not in this process
            try:
                again = (
                    _in_processes(data, [cell], arguments, 2, True)
                    if client is None
                    else (_on_cluster(client, data, [cell], arguments, 1))
                )
                _, lone = next(iter(again))
            except BrokenProcessPool:
                lone = None
            nothing = CellResult((), float("nan"), float("nan"), WORKER_DIED)
            yield cell, nothing if lone is None else lone


def _in_processes(
    data: Data, cells: Iterable[Cell], arguments: Arguments, n_jobs: int | None, one_by_one: bool
) -> Generator[tuple[Cell, CellResult | None]]:
    from joblib import Parallel, delayed

    tasks = (delayed(_named_result)(cell, data, *arguments(cell)) for cell in cells)
    found = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1 if one_by_one else "auto")(tasks)
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

    def submitted(some: Iterable[Cell]) -> Iterator[Any]:
        for cell in some:
            future = client.submit(run_cell, sent, *arguments(cell), pure=False)
            waiting[future.key] = cell
            yield future

    waiting: dict[str, Cell] = {}
    left = iter(cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the data are large
        sent = client.submit(_itself, data, pure=False)
    first = list(submitted(islice(left, at_once)))
    running: Any = as_completed(first, loop=client.loop)  # type: ignore[no-untyped-call]
    try:
        for future in running:
            cell = waiting.pop(future.key)
            yield cell, future.result() if future.status == "finished" else None
            for more in submitted(islice(left, 1)):
                running.add(more)
    finally:
        sent.cancel()


def _named_result(cell: Cell, *arguments: Any) -> tuple[Cell, CellResult]:
    return cell, run_cell(*arguments)


def _itself(data: Data) -> Data:
    """A task that has the data, so that they can be had again when the worker that holds them dies."""
    return data
