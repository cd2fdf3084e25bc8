"""The file that stores the finished pairs of a tournament, so an interrupted run can resume."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hiercomp.crossval.store import open_database, sqlite_errors
from hiercomp.model.priors import Priors
from hiercomp.posterior.fit import Fit
from hiercomp.posterior.saved import fit_from_bytes, fit_to_bytes
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences

APPLICATION, FORMAT = 0x68636D70, 2  # "hcmp", in SQLite's header
SCHEMA = """
CREATE TABLE pairs (
  key TEXT PRIMARY KEY, left TEXT NOT NULL, right TEXT NOT NULL, result BLOB NOT NULL, checksum TEXT NOT NULL
)
"""


def pair_key(differences: PairedDifferences, rope: Rope, priors: Priors, options: Mapping[str, Any]) -> str:
    """Everything a fit depends on, as one hash: sufficient statistics, rope, priors, options, and version."""
    fields = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(differences).items()
        if name not in ("notes", "scores", "runs", "two_level")
    }
    for name, held in (("runs", differences.runs), ("two_level", differences.two_level)):
        fields[name] = None if held is None else held.to_dict()
    notes = [(note.category.__name__, note.message) for note in differences.notes]
    depends_on = [version("hiercomp"), fields, notes, asdict(rope), priors.to_dict(), dict(options)]
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True, default=repr).encode()).hexdigest()


class Checkpoint:
    """The finished pairs of one or several tournaments, in an SQLite file.

    Each pair is added in its own transaction, so the file is always valid, whatever stops the program. A row has a SHA-256
    over its key, its names and its content: rows that were changed or exchanged count as absent.

    Parameters
    ----------
    path : str or Path
        Created if missing.

    Raises
    ------
    ResultFileError
        If the file is not a checkpoint, is damaged, or can't be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        open_database(self.path, APPLICATION, FORMAT, SCHEMA).close()

    def read(self, key: str, options: Mapping[str, Any]) -> Fit | bool:
        """The finished pair of a key; False if there is none, True if its row is damaged.

        Parameters
        ----------
        key : str
        options : mapping
            From which, with what was restored, `pair_key` must give the same key again.
        """
        with self._connection() as connection:
            row = connection.execute("SELECT left, right, result, checksum FROM pairs WHERE key = ?", (key,)).fetchone()
        if row is None:
            return False
        left, right, content, total = row
        try:
            if not isinstance(content, bytes) or _checksum(key, left, right, content) != total:
                return True
            restored = fit_from_bytes(content)
            asked = pair_key(restored.differences, restored.rope, restored.priors, options)
        except Exception:  # whatever damaged content raises
            return True
        return restored if (asked, restored.left, restored.right) == (key, left, right) else True

    def add(self, finished: Sequence[tuple[str, Fit]]) -> None:
        """Write finished pairs, all or none."""
        rows = []
        for key, result in finished:
            content = fit_to_bytes(result)
            rows.append((key, result.left, result.right, content, _checksum(key, result.left, result.right, content)))
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?, ?, ?, ?)", rows)
            connection.execute("COMMIT")  # else closing it rolls back

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The file, opened and checked again."""
        with (
            sqlite_errors(self.path),
            closing(open_database(self.path, APPLICATION, FORMAT, SCHEMA)) as connection,
        ):
            yield connection


def _checksum(key: str, left: str, right: str, content: bytes) -> str:
    names = json.dumps([key, left, right]).encode()
    return hashlib.sha256(len(names).to_bytes(8, "big") + names + content).hexdigest()
