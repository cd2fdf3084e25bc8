"""The SQLite file that stores the finished cells of a cross-validation, so a stopped run can resume."""

from __future__ import annotations

import functools
import inspect
import json
import platform
import sqlite3
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np

from hiercomp.crossval.cells import Cell, CellResult
from hiercomp.errors import ArgumentError, ResultFileError
from hiercomp.wording import shown, shown_value

APPLICATION, FORMAT = 0x68636376, 2  # "hccv", in SQLite's header
# The settings of the experiment are in rows without a data set, by their names; those of a data set are "data" and "folds";
# a cell is under its run, fold and estimator, as a JSON list
SCHEMA = """
CREATE TABLE checkpoint (
  dataset TEXT, item TEXT, value TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (dataset, item)
) WITHOUT ROWID
"""
EXPERIMENT = ""  # in place of a data set's name
PACKAGES = ("hiercomp", "scikit-learn", "numpy", "scipy", "pandas")
DIFFERENCES_SHOWN = 3
LONGEST = 100  # parts of a list that are described one by one
SECONDS_TO_WAIT = 60.0  # for another process that writes to the same file


class CellStore:
    """Finished cells in an SQLite file; each is committed when added.

    The file is in write-ahead mode: whatever kills the program, it contains only whole cells, and two programs may
    write to it.

    Parameters
    ----------
    path : str or Path
        Created if missing.
    settings : dict from str to str
        What the scores depend on, item by item: the `fingerprint`.

    Raises
    ------
    ResultFileError
        If the file was written for a different experiment (the message says what differs), is not a checkpoint, is damaged,
        or can't be written.
    """

    def __init__(self, path: str | Path, settings: Mapping[str, str]) -> None:
        self.path = Path(path)
        self._connection = open_database(self.path, APPLICATION, FORMAT, SCHEMA)
        try:
            with sqlite_errors(self.path):
                _write_ahead(self._connection)
                self._connection.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last cells, no more
            self.require(EXPERIMENT, settings)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def require(self, dataset: str, settings: Mapping[str, str]) -> None:
        """Store what the scores depend on, or refuse a file in which that differs.

        Parameters
        ----------
        dataset : str
            Empty for settings of every data set.
        settings : dict from str to str
        """
        rows = [(dataset, item, value, checksum(dataset, item, value)) for item, value in settings.items()]
        query = "SELECT item, value, checksum FROM checkpoint WHERE dataset = ? AND substr(item, 1, 1) <> '['"
        with sqlite_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")  # all or none
            kept = self._connection.execute(query, (dataset,)).fetchall()
            if not kept:
                self._connection.executemany("INSERT INTO checkpoint VALUES (?, ?, ?, ?)", rows)
            self._connection.execute("COMMIT")
        if not kept:
            return
        for item, value, total in kept:
            if checksum(dataset, item, value) != total:
                raise damaged(self.path, f"{item!r} has changed")
        before = {item: value for item, value, _ in kept}
        different = [item for item in {**settings, **before} if before.get(item) != settings.get(item)]
        if not different:
            return
        listed = "; ".join(
            f"{item} was {before.get(item, 'absent')} and is {settings.get(item, 'absent')}"
            for item in different[:DIFFERENCES_SHOWN]
        )
        if dataset != EXPERIMENT:  # of hashes that say nothing
            listed = f"the {' and the '.join(different)} of data set {shown(dataset)!r} have changed"
        more = len(different) - DIFFERENCES_SHOWN
        raise ResultFileError(
            f"The checkpoint {self.path} was written for a different experiment: {listed}"
            f"{f'; and {more} more' if more > 0 else ''}.",
            remedy="Restore those settings, or choose another file.",
        )

    def finished(self, dataset: str) -> tuple[dict[Cell, CellResult], int]:
        """The cells of a data set that have scores, and the number of damaged ones; failed cells are tried again."""
        query = "SELECT item, value, checksum FROM checkpoint WHERE dataset = ? AND substr(item, 1, 1) = '['"
        with sqlite_errors(self.path):
            rows = self._connection.execute(query, (dataset,)).fetchall()
        cells, wrong = {}, 0
        for item, value, total in rows:
            if checksum(dataset, item, value) != total:
                wrong += 1
                continue
            scores, fit_time, score_time, error = json.loads(value)
            if error is None:
                cells[Cell(dataset, *json.loads(item))] = CellResult(tuple(scores), fit_time, score_time)
        return cells, wrong

    def add(self, cell: Cell, result: CellResult) -> None:
        """Commit a finished cell."""
        item = json.dumps([cell.run, cell.fold, cell.estimator])
        value = json.dumps([result.scores, result.fit_time, result.score_time, result.error])
        row = (cell.dataset, item, value, checksum(cell.dataset, item, value))
        with sqlite_errors(self.path):
            self._connection.execute("INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?, ?)", row)


def checksum(*values: str) -> int:
    """CRC-32 of a row, to detect changes."""
    return zlib.crc32(repr(values).encode())


def fingerprint(
    estimators: Mapping[str, Any], datasets: list[str], cv: Any, scoring: Mapping[str, Any], seed: int
) -> dict[str, str]:
    """Everything the scores of an experiment depend on, item by item, as text that is the same in every process.

    Names and order of data sets and estimators, seed, splitter, scorers, the class and every parameter of every
    estimator, and the versions of Python and of packages. The code of functions and classes is not included, only the
    versions of their packages.

    Raises
    ------
    ArgumentError
        If a change to something could not be detected.
    """
    settings = {"data sets": json.dumps(datasets), "estimators": json.dumps(list(estimators)), "seed": str(seed)}
    packages = set()
    what = "the splitter"
    try:
        settings["cv"] = described(cv)
        what = "a scorer"
        settings["scoring"] = described(dict(scoring))
        for name, estimator in estimators.items():
            what = f"the estimator {shown(name)!r}"
            settings[f"class of estimator {shown(name)!r}"] = _name(type(estimator))
            parameters = estimator.get_params(deep=True)
            for parameter, value in sorted(parameters.items()):
                settings[f"{parameter} of estimator {shown(name)!r}"] = described(value)
            packages |= {
                type(part).__module__.split(".")[0] for part in (estimator, *parameters.values()) if _is_estimator(part)
            }
    except RecursionError:
        raise ArgumentError(
            f"A checkpoint cannot fingerprint {what}, which refers to itself.",
            remedy="Run without a checkpoint, or pass something else.",
        ) from None
    versions = {name: version(name) for name in PACKAGES} | {"Python": platform.python_version()}
    versions |= {package: _version(package) for package in sorted(packages - {"sklearn"})}
    return settings | {f"version of {name}": text for name, text in versions.items()}


def described(value: Any) -> str:
    """A parameter as text without addresses; a hash replaces a value that has no short text.

    Examples
    --------
    >>> described({"C": 1.0, "kernel": "rbf"}), described([sum, float])
    ("{'C': 1.0, 'kernel': 'rbf'}", '[builtins.sum, builtins.float]')
    """
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return repr(value)
    if isinstance(value, list | tuple) and len(value) <= LONGEST:
        return f"[{', '.join(described(part) for part in value)}]"
    if isinstance(value, dict) and len(value) <= LONGEST:
        return f"{{{', '.join(f'{key!r}: {described(part)}' for key, part in value.items())}}}"
    if isinstance(value, functools.partial):
        return f"partial({described(value.func)}, {described(value.args)}, {described(value.keywords)})"
    if inspect.ismethod(value):
        return f"{described(value.__self__)}.{value.__name__}"
    if isinstance(value, type | np.ufunc) or inspect.isroutine(value):
        return _name(value)
    if _is_estimator(value):
        return f"{_name(type(value))}({described(value.get_params(deep=False))})"
    if hasattr(value, "_score_func"):  # a scorer; its text names the function only
        return f"{value!r} of {described(value._score_func)}"
    if all(hasattr(value, part) for part in ("dist", "args", "kwds")):  # a distribution of SciPy, frozen
        return f"{value.dist.name}({described(value.args)}, {described(value.kwds)})"
    text = (
        repr(value) if hasattr(value, "get_n_splits") else " at 0x"
    )  # splitters of scikit-learn name their parameters
    return f"{_name(type(value)) if ' at 0x' in text else text} {_hash(value)}"


def damaged(path: Path, why: str) -> ResultFileError:
    """The error for a file that is damaged or not a checkpoint."""
    return ResultFileError(
        f"{path} is not a checkpoint of hiercomp or is damaged ({why}).",
        remedy="Remove it to start again, or choose another name.",
    )


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into `ResultFileError`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise ResultFileError(f"The checkpoint {path} can't be read or written: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise damaged(path, str(error)) from error


def open_database(path: Path, application: int, version: int, schema: str) -> sqlite3.Connection:
    """Open a checkpoint, or create it.

    Parameters
    ----------
    path : Path
    application : int
        SQLite's application id, which says what the file is for.
    version : int
        Of the table.
    schema : str
        The statement that creates the table in a new file.

    Raises
    ------
    ResultFileError
        If the file is something else, is damaged, or can't be written.
    """
    if path.is_dir() or not path.absolute().parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.absolute().parent}"
        raise ResultFileError(f"The checkpoint {path} can't be written: {what}.")
    with sqlite_errors(path):
        connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
            if tables and marks[0] != application:
                raise ResultFileError(
                    f"{path} is an SQLite file that hiercomp did not create.", remedy="Choose another name."
                )
            if tables and marks[1] != version:
                raise ResultFileError(
                    f"{path} was written by another version of hiercomp (format {marks[1]}).",
                    remedy="Choose another name, or remove it to start again.",
                )
            if not tables:
                connection.execute(f"PRAGMA application_id = {application}")
                connection.execute(f"PRAGMA user_version = {version}")
                connection.execute(schema)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Set the mode; SQLite itself does not wait if another program is doing the same."""
    until = time.monotonic() + SECONDS_TO_WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _name(thing: Any) -> str:
    """The import path of a class or a function."""
    module = getattr(thing, "__module__", None) or type(thing).__module__
    return f"{module}.{getattr(thing, '__qualname__', thing.__name__)}"


def _hash(value: Any) -> str:
    import joblib

    try:
        return str(joblib.hash(value))[:12]
    except RecursionError:
        raise
    except Exception as error:  # what can't be pickled
        raise ArgumentError(
            f"{type(value).__name__} {shown_value(value)} cannot be pickled, so a checkpoint could not detect that it "
            f"changed ({type(error).__name__}).",
            remedy="Run without a checkpoint, or pass something else.",
        ) from error


def _version(package: str) -> str:
    """The version that a package reports, or that was installed; "unknown" for the user's own modules."""
    stated = getattr(sys.modules.get(package), "__version__", None)
    if stated is not None:
        return str(stated)
    installed = packages_distributions().get(package)
    return version(installed[0]) if installed else "unknown"
