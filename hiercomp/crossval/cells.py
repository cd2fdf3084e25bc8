"""A cell of a cross-validation: one estimator, fitted and scored on one fold of one data set."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiercomp.crossval.splits import Indices
from hiercomp.wording import shown
from hiercomp.workers import task_seed

LONGEST_ERROR = 500  # characters


@dataclass(frozen=True)
class Cell:
    """Where a score stands: numbers from 1 of run and fold, names of data set and estimator.

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
        """The random state of this cell, from that of the whole run; from 0 to 2^31 - 1."""
        return task_seed(seed, self.dataset, self.estimator, str(self.run), str(self.fold))


@dataclass(frozen=True)
class CellResult:
    """What came of a cell.

    Attributes
    ----------
    scores : tuple of float
        One for each scorer; empty where the cell failed.
    fit_time, score_time : float
        Seconds.
    error : str or None
        Why there is no score.
    """

    scores: tuple[float, ...]
    fit_time: float
    score_time: float
    error: str | None = None


@dataclass(frozen=True, eq=False)
class Data:
    """Features and target of a data set, sent to a worker as one object.

    Attributes
    ----------
    X, y : array_like
    """

    X: Any
    y: Any

    def __sizeof__(self) -> int:
        """Bytes of the arrays: what makes joblib's Dask backend send a large object once."""
        return object.__sizeof__(self) + _bytes(self.X) + _bytes(self.y)


def run_cell(
    data: Data,
    estimator: Any,
    rows: tuple[Indices, Indices],
    scorers: dict[str, Any],
    seed: int,
    config: dict[str, Any] | None = None,
) -> CellResult:
    """Fit a copy of an estimator on the training rows and score it on the test rows.

    Parameters
    ----------
    data : Data
    estimator : estimator
        Random states that are None become ``seed``. NumPy's global generator is seeded for the cell and put back, but not
        in a thread, since others may draw from it at the same time.
    rows : tuple of ndarray
        Training and test rows.
    scorers : dict from name to scorer
    seed : int
    config : dict, optional
        Of scikit-learn (`sklearn.get_config`) where the run was started; other processes do not have it.
    """
    from sklearn import config_context
    from sklearn.base import clone

    training, test = rows
    alone = threading.current_thread() is threading.main_thread()
    state = np.random.get_state() if alone else None  # noqa: NPY002 - estimators of others may draw from it
    if alone:
        np.random.seed(seed)  # noqa: NPY002
    started = time.perf_counter()
    fitted = scored = 0.0
    try:
        with config_context(**config or {}):
            model = with_random_state(clone(estimator), seed)
            train_X, train_y = taken(data.X, training), taken(data.y, training)
            test_X, test_y = taken(data.X, test), taken(data.y, test)
            started = time.perf_counter()
            model.fit(train_X, train_y)
            fitted = time.perf_counter() - started
            started = time.perf_counter()
            scores = tuple(float(scorer(model, test_X, test_y)) for scorer in scorers.values())
            scored = time.perf_counter() - started
    except (Exception, SystemExit) as error:  # whatever an estimator raises is this cell's result
        return CellResult((), fitted or time.perf_counter() - started, scored, told(error))
    finally:
        if state is not None:
            np.random.set_state(state)  # noqa: NPY002
    wrong = [name for name, score in zip(scorers, scores, strict=True) if not math.isfinite(score)]
    if wrong:
        return CellResult((), fitted, scored, f"the score {wrong[0]!r} is {scores[list(scorers).index(wrong[0])]}")
    return CellResult(scores, fitted, scored)


def told(error: BaseException) -> str:
    """An error of others in one line: its kind, and its text where it has one."""
    try:
        text = shown(" ".join(str(error).split())[:LONGEST_ERROR]).rstrip(".")
    except Exception:  # an error of its own
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def with_random_state(estimator: Any, seed: int) -> Any:
    """The estimator itself, its open random states set, those of its parts too."""
    parameters = estimator.get_params(deep=True)
    open_states = {
        name: seed
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**open_states) if open_states else estimator


def taken(values: Any, rows: Indices) -> Any:
    """Some rows of an array, a sparse matrix, a data frame or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if isinstance(values, Sequence):
        return [values[row] for row in rows]
    return values[rows]


def _bytes(values: Any) -> int:
    if hasattr(values, "memory_usage"):  # of pandas
        return int(np.sum(values.memory_usage(deep=True)))
    return int(getattr(values, "nbytes", 0)) or sys.getsizeof(values)
