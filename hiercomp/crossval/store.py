"""The SQLite file of a cross-validation: its finished cells, so a stopped run can resume, and who computes which others."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import platform
import sqlite3
import sys
import threading
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np

from hiercomp.crossval.cells import Cell, CellResult
from hiercomp.errors import ArgumentError, ResultFileError
from hiercomp.wording import shown, shown_value
from hiercomp.workers import start

APPLICATION, FORMAT = 0x68636376, 3  # "hccv", in SQLite's header
# A cell without a result is claimed by its owner, as long as that process is in the table of processes
SCHEMA = """
CREATE TABLE settings (
  kind TEXT, name TEXT, item TEXT, value TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (kind, name, item)
) WITHOUT ROWID;
CREATE TABLE cells (
  dataset TEXT, estimator TEXT, run INTEGER, fold INTEGER, owner TEXT, result TEXT, error TEXT, checksum INTEGER,
  PRIMARY KEY (dataset, estimator, run, fold)
) WITHOUT ROWID;
CREATE TABLE processes (owner TEXT PRIMARY KEY, lease REAL NOT NULL) WITHOUT ROWID
"""
SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")  # how a journal that names another file ends
CLAIM = """
INSERT INTO cells (dataset, estimator, run, fold, owner) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET owner = excluded.owner
WHERE result IS NULL AND owner NOT IN (SELECT owner FROM processes WHERE owner <> excluded.owner)
"""
# The failure of a process that lost its claims, such as by a time limit, does not replace another's score
ADD = """
INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET owner = excluded.owner, result = excluded.result, error = excluded.error,
  checksum = excluded.checksum
WHERE excluded.error IS NULL OR result IS NULL OR error IS NOT NULL
"""
Scope = tuple[str, str]  # what settings belong to: its kind, and its name
EXPERIMENT: Scope = ("experiment", "")
PACKAGES = ("hiercomp", "scikit-learn", "numpy", "scipy", "pandas")
DIFFERENCES_SHOWN = 3
LONGEST_SHOWN = 500  # characters of a text of the file in a message
LONGEST = 100  # parts of a list that are described one by one
SECONDS_TO_WAIT = 60.0  # for another process that writes to the same file
LEASE = 60.0  # seconds after which a silent process has lost its claims; each renews its lease four times as often


class CellStore:
    """Finished cells in an SQLite file, each committed when added; several processes may share the cells that are left.

    The file is in write-ahead mode: whatever kills a process, the file contains only whole cells. A process claims each
    cell before it computes it, and keeps a lease on its claims. The claims of a process that ended are free: at once if
    it closed the file or was a process of this machine, else when its lease expires. A process that wrongly lost its
    claims does no harm: whoever computes a cell gets the same scores, and a failure does not replace them.

    Parameters
    ----------
    path : str or Path
        Created if missing.
    settings : dict from scope to dict
        What the scores depend on, item by item: the `fingerprint`.
    final : str
        The error of cells that failed and are not tried again.

    Raises
    ------
    ResultFileError
        If something in the file has changed under the same name (the message says what), or the file is not a checkpoint,
        is damaged, or can't be written.
    """

    def __init__(self, path: str | Path, settings: Mapping[Scope, Mapping[str, str]], *, final: str = "") -> None:
        self.path = Path(path)
        self.owner = f"{uuid.uuid4().hex} {os.getpid()} {platform.node()}"
        self._lock = threading.Lock()  # joblib asks for the next cell in a thread of its own
        self._closed = threading.Event()
        self._connection = open_database(self.path, APPLICATION, FORMAT, SCHEMA)
        try:
            with sqlite_errors(self.path):
                _write_ahead(self._connection)
                self._connection.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last cells, no more
            with self._transaction():
                self._require(settings)
                self._forget_ended()
                if not self._connection.execute("SELECT count(*) FROM processes").fetchone()[0]:
                    # else another run has just tried them
                    self._connection.execute("DELETE FROM cells WHERE error IS NOT NULL AND error <> ?", (final,))
                self._renew()
        except BaseException:
            self._connection.close()
            raise
        start(threading.Thread(target=self._keep_lease, name="hiercomp checkpoint", daemon=True))

    def close(self) -> None:
        """Give up the claims and close the file."""
        self._closed.set()
        with self._lock:
            with suppress(sqlite3.Error):  # then the lease expires
                self._connection.execute("DELETE FROM processes WHERE owner = ?", (self.owner,))
            self._connection.close()

    def require(self, settings: Mapping[Scope, Mapping[str, str]]) -> None:
        """Store what the scores depend on, or refuse a file in which that differs under the same name.

        Parameters
        ----------
        settings : dict from scope to dict
        """
        with self._transaction():
            self._require(settings)

    def finished(self, dataset: str) -> tuple[dict[Cell, CellResult], int]:
        """The finished cells of a data set, and the number of damaged ones."""
        query = (
            "SELECT estimator, run, fold, result, error, checksum FROM cells WHERE dataset = ? AND result IS NOT NULL"
        )
        with self._lock, sqlite_errors(self.path):
            rows = self._connection.execute(query, (dataset,)).fetchall()
        cells, wrong = {}, 0
        for estimator, run, fold, *content in rows:
            result = _restored((dataset, estimator, run, fold), *content)
            if result is None:
                wrong += 1
            else:
                cells[Cell(dataset, run, fold, estimator)] = result
        return cells, wrong

    def take(self, cell: Cell) -> CellResult | bool:
        """Claim a cell: True if it is this process's to compute, False if another process has it, else its result."""
        key = _key(cell)
        query = "SELECT result, error, checksum FROM cells WHERE (dataset, estimator, run, fold) = (?, ?, ?, ?)"
        with self._lock, sqlite_errors(self.path):
            if self._connection.execute(CLAIM, (*key, self.owner)).rowcount:
                return True
            content = self._connection.execute(query, key).fetchone()
        if content is None or content[0] is None:
            return False
        return _restored(key, *content) or True  # a damaged cell is computed again

    def add(self, cell: Cell, result: CellResult) -> None:
        """Commit a finished cell."""
        key = _key(cell)
        text = json.dumps([result.scores, result.fit_time, result.score_time, result.warnings])
        row = (*key, self.owner, text, result.error, checksum(*key, text, result.error))
        with self._lock, sqlite_errors(self.path):
            self._connection.execute(ADD, row)

    def free_abandoned(self) -> None:
        """Free the claims of processes that ended without closing the file."""
        with self._transaction():
            self._forget_ended()

    def _require(self, settings: Mapping[Scope, Mapping[str, str]]) -> None:
        """Compare or insert every scope, in one transaction: all or none."""
        query = "SELECT item, value, checksum FROM settings WHERE (kind, name) = (?, ?)"
        different: list[str] = []
        for scope, now in settings.items():
            kept = self._connection.execute(query, scope).fetchall()
            for item, value, total in kept:
                if checksum(*scope, item, value) != total:
                    raise damaged(self.path, f"{shown_value(item)} has changed")
            before = {item: value for item, value, _ in kept} or now
            changed = [item for item in {**now, **before} if before.get(item) != now.get(item)]
            kind, name = scope
            if changed and kind == "data set":  # of hashes that say nothing
                items = " and the ".join(_short(item) for item in changed[:DIFFERENCES_SHOWN])
                different.append(f"the {items} of data set {shown(name)!r} have changed")
            else:
                different += [
                    f"{_short(item)} was {_short(before.get(item, 'absent'))} and is {_short(now.get(item, 'absent'))}"
                    for item in changed
                ]
            if not kept:
                rows = [(*scope, item, value, checksum(*scope, item, value)) for item, value in now.items()]
                self._connection.executemany("INSERT INTO settings VALUES (?, ?, ?, ?, ?)", rows)
        if different:
            more = len(different) - DIFFERENCES_SHOWN
            raise ResultFileError(
                f"The checkpoint {self.path} was written for a different experiment: "
                f"{'; '.join(different[:DIFFERENCES_SHOWN])}{f'; and {more} more' if more > 0 else ''}.",
                remedy="Restore those settings, give what changed another name, or choose another file.",
            )

    def _forget_ended(self) -> None:
        rows = self._connection.execute("SELECT owner, lease FROM processes WHERE owner <> ?", (self.owner,)).fetchall()
        ended = [(owner,) for owner, lease in rows if not _is_current(lease) or _has_ended(owner)]
        self._connection.executemany("DELETE FROM processes WHERE owner = ?", ended)

    def _renew(self) -> None:
        self._connection.execute("INSERT OR REPLACE INTO processes VALUES (?, ?)", (self.owner, time.time() + LEASE))

    def _keep_lease(self) -> None:
        while not self._closed.wait(LEASE / 4):
            with self._lock, suppress(sqlite3.Error):  # such as a full disk; whoever adds a cell says so
                self._renew()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Committed at the end, or rolled back."""
        with self._lock, sqlite_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._connection.in_transaction:  # SQLite itself ends it where the disk is full
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def checksum(*values: object) -> int:
    """CRC-32 of a row, to detect changes."""
    return zlib.crc32(repr(values).encode())


def fingerprint(
    estimators: Mapping[str, Any], cv: Any, scoring: Mapping[str, Any], seed: int
) -> dict[Scope, dict[str, str]]:
    """Everything the scores of an experiment depend on, item by item, as text that is the same in every process.

    Of the experiment: seed, splitter, scorers, and the versions of Python and of packages. Of each estimator: its class,
    every parameter, what it has learnt if a clone keeps that, what it requests where metadata are routed, and the versions
    of its packages. The code of functions and classes is not included, only the values that functions hold and the
    versions of their packages.

    Raises
    ------
    ArgumentError
        If a change to something could not be detected.
    """
    from sklearn import get_config

    experiment = {"seed": str(seed)}
    settings = {EXPERIMENT: experiment}
    what = "the splitter"
    try:
        experiment["cv"] = described(cv)
        what = "a scorer"
        experiment["scoring"] = described(dict(scoring))
        config = get_config()
        if routing := config["enable_metadata_routing"]:  # requests are no parameters
            what = "the requests of metadata"
            parts = {"the splitter": cv, **{f"scorer {name}": scorer for name, scorer in scoring.items()}}
            experiment["metadata routing"] = described({name: _requests(part) for name, part in parts.items()})
        if config["transform_output"] != "default":
            experiment["transform_output of scikit-learn"] = config["transform_output"]
        experiment |= _versions([cv, *scoring.values()])
        experiment |= {f"version of {name}": version(name) for name in PACKAGES}
        experiment["version of Python"] = platform.python_version()
        for name, estimator in estimators.items():
            what = f"the estimator {shown(name)!r}"
            parameters = estimator.get_params(deep=True)
            settings["estimator", name] = {
                f"class of estimator {shown(name)!r}": f"{_name(type(estimator))}{_copied_by_clone(estimator)}",
                **({f"metadata routing of {shown(name)!r}": _requests(estimator)} if routing else {}),
                **{
                    f"{parameter} of estimator {shown(name)!r}": described(value)
                    for parameter, value in sorted(parameters.items())
                },
                **_versions([estimator, *parameters.values()]),
            }
    except RecursionError:
        raise ArgumentError(
            f"A checkpoint cannot fingerprint {what}, which refers to itself.",
            remedy="Run without a checkpoint, or pass something else.",
        ) from None
    return settings


def _versions(parts: Iterable[Any]) -> dict[str, str]:
    """The versions of the packages of estimators, scorers, splitters and functions, except scikit-learn's own."""
    things = [getattr(part, "_score_func", part) for part in parts]
    owners = [thing if inspect.isroutine(thing) else type(thing) for thing in things]
    packages = {str(getattr(owner, "__module__", None) or "builtins").split(".")[0] for owner in owners}
    return {f"version of {package}": _version(package) for package in sorted(packages - {"builtins", "sklearn"})}


def _copied_by_clone(estimator: Any) -> str:
    """What a clone keeps besides parameters, as text: the output that was set, and all of a frozen estimator."""
    from sklearn.base import BaseEstimator

    output = getattr(estimator, "_sklearn_output_config", {})
    own_clone = getattr(type(estimator), "__sklearn_clone__", None) not in (None, BaseEstimator.__sklearn_clone__)
    return (f" with output {described(output)}" if output else "") + (f" {_hash(estimator)}" if own_clone else "")


def _requests(part: Any) -> str:
    """The metadata that an estimator, a scorer or a splitter requests, as text."""
    from sklearn.utils.metadata_routing import get_routing_for_object

    try:
        return str(get_routing_for_object(part))
    except NotImplementedError:  # such as of AdaBoost, which then requests none
        return "none"


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
    owner = getattr(value, "__self__", None)
    if inspect.isroutine(value) and owner is not None and not inspect.ismodule(owner):  # a method of this object
        return f"{described(owner)}.{value.__name__}"
    if inspect.isfunction(value) and "<" in value.__qualname__:  # made by a function, or a lambda
        return f"{_name(value)}({described(_held(value))})"
    if isinstance(value, type | np.ufunc) or inspect.isroutine(value):
        return _name(value)
    if _is_estimator(value):
        return f"{_name(type(value))}({described(value.get_params(deep=False))}){_copied_by_clone(value)}"
    if hasattr(value, "_score_func"):  # a scorer; its text names the function only
        return f"{value!r} of {described(value._score_func)}"
    if all(hasattr(value, part) for part in ("dist", "args", "kwds")):  # a distribution of SciPy, frozen
        return f"{value.dist.name}({described(value.args)}, {described(value.kwds)})"
    # The text of a splitter of scikit-learn names its parameters
    text = repr(value) if hasattr(value, "get_n_splits") else " at 0x"
    return f"{_name(type(value)) if ' at 0x' in text else text} {_hash(value)}"


def _held(function: Any) -> list[Any]:
    """The values that a function holds: its defaults, and what it takes from the function that made it."""
    cells = []
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # it is still empty
            cells.append(cell.cell_contents)
    return [*cells, function.__defaults__, function.__kwdefaults__]


def damaged(path: Path, why: str) -> ResultFileError:
    """The error for a file that is damaged or not a checkpoint."""
    return ResultFileError(
        f"{shown(path)} is not a checkpoint of hiercomp or is damaged ({why}).",
        remedy="Remove it to start again, or choose another name.",
    )


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into `ResultFileError`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # SQLite raised nothing: Python could not decode a text, whose bytes its message quotes
            raise damaged(path, "text that is not UTF-8") from error
        full = code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
        raise ResultFileError(
            f"The checkpoint {shown(path)} can't be read or written: {_short(error)}.",
            remedy="Is the disk full? What the checkpoint holds is kept." if full else "",
        ) from error
    except sqlite3.DatabaseError as error:
        raise damaged(path, _short(error)) from error
    except UnicodeDecodeError as error:
        raise damaged(path, "text that is not UTF-8") from error


def open_database(path: Path, application: int, version: int, schema: str) -> sqlite3.Connection:
    """Open a checkpoint, or create it.

    Parameters
    ----------
    path : Path
    application : int
        SQLite's application id, which says what the file is for.
    version : int
        Of the tables.
    schema : str
        The statements that create the tables in a new file, separated by semicolons.

    Raises
    ------
    ResultFileError
        If the file is something else, is damaged, or can't be written.
    """
    if "\0" in str(path):
        raise ResultFileError(f"The checkpoint {shown(path)} can't be written: its name holds a NUL character.")
    path = path.absolute()  # SQLite would keep ":memory:" in memory
    if path.is_dir() or not path.parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {shown(path.parent)}"
        raise ResultFileError(f"The checkpoint {shown(path)} can't be written: {what}.")
    _refuse_super_journal(path)
    with sqlite_errors(path):
        # several threads may use it, one at a time
        connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")  # no function of SQL runs from the file
            connection.execute("PRAGMA cell_size_check = ON")
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
            if tables and _tables(connection) != _tables_of(schema):
                raise damaged(path, "its tables are not those of a checkpoint")
            if not tables:
                connection.execute(f"PRAGMA application_id = {application}")
                connection.execute(f"PRAGMA user_version = {version}")
                for statement in schema.split(";"):
                    connection.execute(statement)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
    return connection


def _refuse_super_journal(path: Path) -> None:
    """Refuse a journal that names another file, which SQLite would delete; a checkpoint's own never does."""
    journal = Path(f"{os.path.realpath(path)}-journal")  # of a link, beside what it leads to
    try:
        with journal.open("rb") as stream:
            stream.seek(-min(len(SUPER_JOURNAL), journal.stat().st_size), os.SEEK_END)
            ending = stream.read()
    except OSError:  # there is none
        return
    if ending == SUPER_JOURNAL:
        raise damaged(path, "its journal names another file")


def _tables(connection: sqlite3.Connection) -> set[tuple[object, ...]]:
    """The tables, indices, triggers and views of a database, with the statements that created them."""
    return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100"))


@functools.cache
def _tables_of(schema: str) -> set[tuple[object, ...]]:
    """What the statements of a schema create."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema)
        return _tables(connection)


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


def _key(cell: Cell) -> tuple[str, str, int, int]:
    return cell.dataset, cell.estimator, cell.run, cell.fold


def _restored(key: tuple[Any, ...], text: Any, error: Any, total: Any) -> CellResult | None:
    """A result from its row, or None if the row is damaged."""
    try:
        if checksum(*key, text, error) != total or not isinstance(error, str | None):
            return None
        scores, fit_time, score_time, raised = json.loads(text)
        whole = all(map(math.isfinite, scores.values())) and all(
            isinstance(time, float) for time in (fit_time, score_time)
        )
        if not whole or not isinstance(key[2], int) or not isinstance(key[3], int):
            return None
        warned = {kind: (int(count), str(first)) for kind, (count, first) in raised.items()}
        return CellResult({name: float(score) for name, score in scores.items()}, fit_time, score_time, error, warned)
    # A stranger's row may be wrong and have a valid checksum
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _is_current(lease: object) -> bool:
    """Whether a lease has not expired; none is longer than ours."""
    return isinstance(lease, float) and 0 < lease - time.time() <= 2 * LEASE


def _short(text: object) -> str:
    """The beginning of a text of the file, in a message."""
    words = shown(text)
    return words if len(words) <= LONGEST_SHOWN else f"{words[:LONGEST_SHOWN]}..."


def _has_ended(owner: str) -> bool:
    """Whether the owner was a process of this machine and is no more."""
    _, _, rest = str(owner).partition(" ")
    pid, _, machine = rest.partition(" ")
    if machine != platform.node() or os.name != "posix" or not pid.isdecimal():
        return False  # only the lease tells
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # it belongs to somebody else
        pass
    return False


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
