"""The cells of a cross-validation: one estimator, fitted and scored on one fold of one data set; and running many."""

from __future__ import annotations

import math
import random
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from typing import Any

import numpy as np

from hiercomp.crossval.caught import Raised, caught_warnings
from hiercomp.crossval.splits import Data, Indices, Splits
from hiercomp.errors import ArgumentError
from hiercomp.wording import error_in_words, shown
from hiercomp.workers import active_client, end_with_parent, task_seed

WORKER_DIED = "the process died: it ran out of memory or crashed"


@dataclass(frozen=True)
class Cell:
    """The place of a score: names of data set and estimator, and numbers of run and fold, from 1.

    Attributes
    ----------
    dataset : str
    run, fold : int
    estimator : str
    """

    dataset: str
    run: int
    fold: int
    estimator: str

    def seed(self, seed: int) -> int:
        """The random state of this cell, from the seed of the whole run; from 0 to 2^31 - 1."""
        return task_seed(seed, self.dataset, self.estimator, str(self.run), str(self.fold))


@dataclass(frozen=True)
class CellResult:
    """The scores of a cell, or the reason why it has none.

    Attributes
    ----------
    scores : dict from str to float
        By name of scorer; empty if the cell failed.
    fit_time, score_time : float
        Seconds.
    error : str or None
        Why there is no score.
    warnings : dict from str to (int, str)
        By category: how many warnings the estimator raised, and the text of the first.
    """

    scores: Mapping[str, float]
    fit_time: float
    score_time: float
    error: str | None = None
    warnings: Raised = field(default_factory=dict)


def failed(error: str) -> CellResult:
    """The result of a cell that could not be run to its end."""
    return CellResult({}, float("nan"), float("nan"), error)


@dataclass(frozen=True)
class Work:
    """What the cells of one estimator on one data set share.

    Attributes
    ----------
    estimator : estimator
    scorer : callable
        Takes model, X and y and returns a score for each name, like what scikit-learn's `check_scoring` makes of
        several scorers.
    config : dict
        The configuration of scikit-learn where the run was started (`sklearn.get_config`); other processes do not have
        it.
    fit, score : dict from str to str
        Which of the data set's params the estimator and the scorer get: from their names to those of the data set.
    """

    estimator: Any
    scorer: Any
    config: dict[str, Any]
    fit: Mapping[str, str] = field(default_factory=dict)
    score: Mapping[str, str] = field(default_factory=dict)


def run_cell(data: Data, work: Work, rows: tuple[Indices, Indices], seed: int) -> CellResult:
    """Fit a clone of an estimator on the training rows and score it on the test rows.

    Parameters
    ----------
    data : Data
    work : Work
    rows : tuple of ndarray
        Training and test rows.
    seed : int
        Replaces random states that are None. The global generators of NumPy and Python are seeded for the cell and
        restored, but not in a thread, because others may draw from them at the same time.
    """
    from sklearn import config_context
    from sklearn.base import clone
    from sklearn.utils.metaestimators import _safe_split

    alone = threading.current_thread() is threading.main_thread()
    # estimators of others may draw from them
    states = (np.random.get_state(), random.getstate()) if alone else None  # noqa: NPY002
    if alone:
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
    started = time.perf_counter()
    fitted = scored = 0.0
    raised: Raised = {}
    train, test = rows
    try:
        with caught_warnings(raised), config_context(**work.config):
            model = with_random_state(clone(work.estimator), seed)
            train_X, train_y = _safe_split(model, data.X, data.y, train)
            # of a kernel the test rows keep the columns of the training rows
            test_X, test_y = _safe_split(model, data.X, data.y, test, train)
            fit_params, score_params = data.params_of(work.fit, train), data.params_of(work.score, test)
            started = time.perf_counter()
            model.fit(train_X, train_y, **fit_params)
            fitted = time.perf_counter() - started
            started = time.perf_counter()
            scores = _scores(work.scorer(model, test_X, test_y, **score_params))
            scored = time.perf_counter() - started
    except (Exception, SystemExit) as error:  # whatever an estimator raises is this cell's result
        return CellResult({}, fitted or time.perf_counter() - started, scored, error_in_words(error), raised)
    finally:
        if states is not None:
            np.random.set_state(states[0])  # noqa: NPY002
            random.setstate(states[1])
    wrong = None if scores else "the scorer returned no score"
    for name, score in scores.items():
        if not math.isfinite(score):
            wrong = wrong or f"the score {name!r} is {score}"
    return CellResult({} if wrong else scores, fitted, scored, wrong, raised)


def _scores(given: Mapping[str, Any]) -> dict[str, float]:
    """The scores by name; a single scorer may return several, as for scikit-learn."""
    values = list(given.values())
    if len(values) == 1 and isinstance(values[0], Mapping):
        given = values[0]
    return {str(name): float(score) for name, score in given.items()}


def run_cells(
    data: Data,
    splits: Splits,
    cells: Iterable[tuple[Cell, int]],
    works: Mapping[str, Work],
    seed: int,
    *,
    n_jobs: int | None,
    one_by_one: bool,
) -> Generator[tuple[Cell, CellResult]]:
    """The results of cells under joblib's active backend, as they arrive.

    A process that dies costs no other cell: the interrupted cells are run again, one at a time in a separate process,
    and the rest continues as before.

    Parameters
    ----------
    data : Data
    splits : Splits
    cells : iterable of (Cell, int)
        The cells, and the position of each one's rows among the splits. Each cell is asked for just before it is needed,
        maybe in another thread.
    works : mapping from str to Work
        By name of estimator.
    seed : int
        Of the whole run.
    n_jobs : int or None
        As joblib counts; a Dask cluster uses all its cores.
    one_by_one : bool
        Whether to yield each result as it arrives, not in batches.
    """
    from joblib import delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

    places: dict[Cell, int] = {}
    client = active_client()
    elsewhere = client is not None or _in_processes(n_jobs)
    sent_works: Mapping[str, Work | bytes] = pickled_works(works) if elsewhere else works
    sent_data = data if client is None else _data_on_cluster(client, data)
    batch_size: int | str = 1 if one_by_one else "auto"

    def results(some: Iterable[Cell], jobs: int | None) -> Iterator[tuple[Cell, CellResult]]:
        tasks = (
            delayed(run_sent)(cell, sent_data, sent_works[cell.estimator], splits.rows[places[cell]], cell.seed(seed))
            for cell in some
        )
        return unordered(tasks, jobs, batch_size)

    def alone(cell: Cell) -> CellResult:
        """Run a cell that may have killed a process, alone and in another process."""
        why = WORKER_DIED
        try:
            for _, result in list(results([cell], 2)):
                return result
        except TerminatedWorkerError:
            pass
        except BrokenProcessPool as error:  # such as data that can't be unpickled there
            why = error_in_words(error)
        return failed(why)

    def asked_for() -> Iterator[Cell]:
        for cell, place in cells:
            places[cell] = place
            yield cell

    left = asked_for()
    while (first := next(left, None)) is not None:
        sent = [first]
        done: set[Cell] = set()
        try:
            for cell, result in results(chain([first], _noted(left, sent)), n_jobs):
                done.add(cell)
                yield cell, result
        except BrokenProcessPool:
            pass  # and the other processes of the pool are stopped too
        except PicklingError as error:
            pickled("the data", data)  # again, for the reason, which the other process's traceback hides
            raise _not_sent("a cell", error) from error
        for cell in sent:
            if cell not in done:
                yield cell, alone(cell)


def with_random_state(estimator: Any, seed: int) -> Any:
    """The estimator itself, with every random state that is None set, including those of its parts."""
    parameters = estimator.get_params(deep=True)
    open_states = {
        name: seed
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**open_states) if open_states else estimator


def unordered(
    tasks: Iterable[Any], n_jobs: int | None, batch_size: int | str, **options: Any
) -> Generator[tuple[Cell, CellResult]]:
    """Results of joblib's tasks, as they arrive; tasks that are no longer needed are cancelled silently."""
    from joblib import Parallel

    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=batch_size, **options)
    except ValueError as error:  # such as "multiprocessing"
        text = f"Cells can't run under joblib's active backend: {error}. Use 'loky', 'threading' or 'dask'."
        raise ArgumentError(text) from error
    results = parallel(tasks)
    try:
        for result in results:  # noqa: UP028 - "yield from" would close it with a warning
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that tasks are cancelled after Ctrl-C
            results.close()


def _noted(cells: Iterable[Cell], sent: list[Cell]) -> Iterator[Cell]:
    """The same cells; each one that joblib takes is added to the list."""
    for cell in cells:
        sent.append(cell)
        yield cell


def _in_processes(n_jobs: int | None) -> bool:
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return effective_n_jobs(n_jobs) > 1 and not getattr(backend, "uses_threads", False)


def run_sent(
    cell: Cell, data: Data, work: Work | bytes, rows: tuple[Indices, Indices], seed: int
) -> tuple[Cell, CellResult]:
    """Run a cell, unpickling its estimator here: if the worker lacks a package, that is an error of the cell."""
    from joblib import parallel_config

    end_with_parent()
    if isinstance(work, Work):
        return cell, run_cell(data, work, rows, seed)
    try:
        read = ForkingPickler.loads(work)  # which another process of this run has just made
    except Exception as error:  # whatever it raises
        return cell, failed(error_in_words(error))
    with parallel_config(backend="threading"):  # an estimator's own tasks stay in this process, also on a cluster
        return cell, run_cell(data, read, rows, seed)


def pickled_works(works: Mapping[str, Work]) -> dict[str, bytes]:
    """What the cells need of each estimator, for other processes."""
    return {name: pickled(f"estimator {shown(name)!r}", work) for name, work in works.items()}


def pickled(what: str, value: Any) -> bytes:
    """Pickle by value what other processes can't import, as joblib does."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        return bytes(dumps(value))
    except Exception as error:  # whatever it raises
        raise _not_sent(what, error) from error


def _data_on_cluster(client: Any, data: Data) -> Any:
    """The data as the result of a task, sent once: the cluster restores them if the worker that holds them dies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the data are large
        try:
            return client.submit(_itself, data, pure=False)
        except Exception as error:  # whatever pickling raises
            raise _not_sent("the data", error) from error


def _itself(data: Data) -> Data:
    return data


def _not_sent(what: str, error: BaseException) -> ArgumentError:
    return ArgumentError(
        f"Cells can't be sent to other processes: {what} can't be pickled: {error_in_words(error)}.",
        remedy="Change it, or run with n_jobs=1.",
    )
