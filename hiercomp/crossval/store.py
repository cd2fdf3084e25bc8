"""The file that keeps the finished cells of a cross-validation, so that a run that was stopped goes on."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hiercomp.crossval.cells import Cell, CellResult
from hiercomp.crossval.splits import Splits
from hiercomp.databases import SECONDS_TO_WAIT, damaged, open_database, sqlite_errors
from hiercomp.errors import ResultFileError
from hiercomp.wording import shown

APPLICATION, FORMAT = 0x68636376, 1  # "hccv", in SQLite's header
SCHEMA = """
CREATE TABLE plan (item TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE datasets (
  dataset TEXT PRIMARY KEY, data TEXT NOT NULL, splits TEXT NOT NULL, rho REAL NOT NULL, rows BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE cells (
  dataset TEXT, run INTEGER, fold INTEGER, estimator TEXT, scores TEXT NOT NULL, fit_time REAL, score_time REAL, error TEXT,
  checksum INTEGER NOT NULL,
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
                _write_ahead(self._connection)
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

    def finished(self, dataset: str, scorers: int) -> tuple[dict[Cell, CellResult], int]:
        """The cells of a data set that have scores, and the number of damaged ones; those that failed are tried again."""
        query = "SELECT run, fold, estimator, scores, fit_time, score_time, checksum FROM cells"
        with sqlite_errors(self.path):
            rows = self._connection.execute(f"{query} WHERE dataset = ? AND error IS NULL", (dataset,)).fetchall()
        found, wrong = {}, 0
        for run, fold, estimator, scores, fit_time, score_time, kept in rows:
            if checksum(dataset, run, fold, estimator, scores, fit_time, score_time) != kept:
                wrong += 1
                continue
            values = tuple(float(score) for score in json.loads(scores))
            if len(values) != scorers:
                raise damaged(self.path, f"{len(values)} scores in a cell")
            found[Cell(dataset, run, fold, estimator)] = CellResult(values, fit_time, score_time)
        return found, wrong

    def add(self, cell: Cell, result: CellResult) -> None:
        """Commit a finished cell."""
        key = (cell.dataset, cell.run, cell.fold, cell.estimator, json.dumps(result.scores))
        times = (result.fit_time, result.score_time)
        row: tuple[Any, ...] = (*key, *times, result.error, checksum(*key, *times))
        with sqlite_errors(self.path):
            self._connection.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

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


def checksum(*values: Any) -> int:
    """CRC-32 of a row, by which a changed one is known."""
    return zlib.crc32(repr(values).encode())


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Set the mode; SQLite does not wait of itself where another program is doing the same."""
    until = time.monotonic() + SECONDS_TO_WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)
