"""The file that keeps the finished cells of a cross-validation, so that a run that was stopped goes on."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hiercomp.crossval.cells import Cell, CellResult
from hiercomp.crossval.splits import Splits
from hiercomp.databases import damaged, open_database, sqlite_errors
from hiercomp.errors import ResultFileError
from hiercomp.scores import shown

APPLICATION, FORMAT = 0x68636376, 1  # "hccv", in SQLite's header
SCHEMA = """
CREATE TABLE plan (item TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE datasets (
  dataset TEXT PRIMARY KEY, data TEXT NOT NULL, splits TEXT NOT NULL, rho REAL NOT NULL, rows BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE cells (
  dataset TEXT, run INTEGER, fold INTEGER, estimator TEXT, scores TEXT NOT NULL, fit_time REAL, score_time REAL, error TEXT,
  PRIMARY KEY (dataset, run, fold, estimator)
) WITHOUT ROWID
"""
DIFFERENCES_SHOWN = 3


class CellStore:
    """Finished cells in an SQLite file; each is committed as it is added.

    The file is in write-ahead mode: whatever kills the program, it holds whole cells only, and two programs may write to it.

    Parameters
    ----------
    path : str or Path
        Made where there is none.
    plan : dict from str to str
        What the scores depend on, item by item.

    Raises
    ------
    ResultFileError
        If the file is of another plan (the message says what differs), not a checkpoint, damaged, or can't be written.
    """

    def __init__(self, path: str | Path, plan: Mapping[str, str]) -> None:
        self.path = Path(path)
        self._connection = open_database(self.path, APPLICATION, FORMAT, SCHEMA)
        try:
            with sqlite_errors(self.path):
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last cells, no more
                # All or none: a file without a plan is one that was stopped before its first cell
                self._connection.execute("BEGIN IMMEDIATE")
                kept = dict(self._connection.execute("SELECT item, value FROM plan"))
                if not kept:
                    self._connection.executemany("INSERT INTO plan VALUES (?, ?)", list(plan.items()))
                self._connection.execute("COMMIT")
            if kept:
                self._refuse_another(kept, plan)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def check_dataset(self, dataset: str, data: str, splits: Splits) -> None:
        """Keep what the cells of a data set depend on, or refuse what is not the same as before.

        Parameters
        ----------
        dataset : str
        data : str
            Hash of features, target and groups.
        splits : Splits
        """
        rows = np.concatenate([*splits.training, *splits.test]).astype("<i8").tobytes()
        new = (dataset, data, splits.digest, splits.rho, zlib.compress(rows, 1))
        with sqlite_errors(self.path):
            self._connection.execute("INSERT OR IGNORE INTO datasets VALUES (?, ?, ?, ?, ?)", new)
            query = "SELECT data, splits FROM datasets WHERE dataset = ?"
            kept = self._connection.execute(query, (dataset,)).fetchone()
        for what, before, now in zip(("data", "folds"), kept, (data, splits.digest), strict=True):
            if before != now:
                raise ResultFileError(
                    f"The checkpoint {self.path} is of another plan: the {what} of data set {shown(dataset)!r} are not "
                    "the same. Go on with what it was made from, or choose another file."
                )

    def finished(self, dataset: str, scorers: int) -> dict[Cell, CellResult]:
        """The cells of a data set that have scores; those that failed are tried again."""
        query = (
            "SELECT run, fold, estimator, scores, fit_time, score_time FROM cells WHERE dataset = ? AND error IS NULL"
        )
        with sqlite_errors(self.path):
            rows = self._connection.execute(query, (dataset,)).fetchall()
        found = {}
        for run, fold, estimator, scores, fit_time, score_time in rows:
            try:
                values = tuple(float(score) for score in json.loads(scores))
            except (ValueError, TypeError) as error:
                raise damaged(self.path, f"scores {scores!r}") from error
            if len(values) != scorers:
                raise damaged(self.path, f"{len(values)} scores in a cell")
            found[Cell(dataset, run, fold, estimator)] = CellResult(values, fit_time, score_time)
        return found

    def add(self, cell: Cell, result: CellResult) -> None:
        """Commit a finished cell."""
        row: tuple[Any, ...] = (
            *(cell.dataset, cell.run, cell.fold, cell.estimator, json.dumps(result.scores)),
            *(result.fit_time, result.score_time, result.error),
        )
        with sqlite_errors(self.path):
            self._connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _refuse_another(self, kept: Mapping[str, str], plan: Mapping[str, str]) -> None:
        different = [item for item in {**plan, **kept} if kept.get(item) != plan.get(item)]
        if not different:
            return
        listed = "; ".join(
            f"{item} was {kept.get(item, 'absent')} and is {plan.get(item, 'absent')}"
            for item in different[:DIFFERENCES_SHOWN]
        )
        more = len(different) - DIFFERENCES_SHOWN
        raise ResultFileError(
            f"The checkpoint {self.path} is of another plan: {listed}{f'; and {more} more' if more > 0 else ''}. Go on with "
            "what it was made from, or choose another file."
        )


def described_plan(
    estimators: Mapping[str, Any], datasets: list[str], cv: Any, scorers: Mapping[str, Any], seed: int
) -> dict[str, str]:
    """What the scores of a cross-validation depend on besides the data, as text that is the same in every process."""
    from importlib.metadata import version

    versions = {
        f"version of {name}": version(name) for name in ("hiercomp", "scikit-learn", "numpy", "scipy", "pandas")
    }
    plan = {"data sets": json.dumps(datasets), "estimators": json.dumps(list(estimators)), "seed": str(seed)}
    plan |= {"cv": described(cv), "scoring": json.dumps({name: described(scorer) for name, scorer in scorers.items()})}
    for name, estimator in estimators.items():
        plan[f"class of estimator {shown(name)!r}"] = _class_name(type(estimator))
        for parameter, value in sorted(estimator.get_params(deep=True).items()):
            plan[f"{parameter} of estimator {shown(name)!r}"] = described(value)
    return plan | versions


def described(value: Any) -> str:
    """A parameter as text: no addresses, and a hash in the place of what has no short text."""
    import joblib

    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        return repr(value)
    if isinstance(value, list | tuple) and len(value) <= 100:
        return f"[{', '.join(described(part) for part in value)}]"
    if isinstance(value, dict) and len(value) <= 100:
        return f"{{{', '.join(f'{key!r}: {described(part)}' for key, part in value.items())}}}"
    if isinstance(value, type):
        return _class_name(value)
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_n_splits"):
        return repr(value)  # scikit-learn's splitters name their parameters
    if hasattr(value, "get_params"):
        return f"{_class_name(type(value))}({described(value.get_params(deep=False))})"
    # The text of scikit-learn's scorers names the metric
    name = repr(value) if type(value).__module__ == "sklearn.metrics._scorer" else _class_name(type(value))
    try:
        return f"{name} {joblib.hash(value)[:12]}"
    except Exception:  # what can't be pickled has only its name
        return name


def _class_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
