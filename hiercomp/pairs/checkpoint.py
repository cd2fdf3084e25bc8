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

from hiercomp.crossval.store import SECONDS_TO_WAIT, damaged, open_database, sqlite_errors
from hiercomp.model.priors import Priors
from hiercomp.posterior.fit import Fit
from hiercomp.posterior.saved import fit_from_bytes, fit_to_bytes
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences

APPLICATION, FORMAT = 0x68636D70, 1  # "hcmp", in SQLite's header
SCHEMA = "CREATE TABLE pairs (key TEXT PRIMARY KEY, left TEXT, right TEXT, result BLOB)"
AT_ONCE = 500  # keys of one query; SQLite allows 999 variables


def pair_key(differences: PairedDifferences, rope: Rope, priors: Priors, options: Mapping[str, Any]) -> str:
    """Everything a fit depends on, as one hash: sufficient statistics, rope, priors, options, and version."""
    fields = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(differences).items()
        if name not in ("notes", "scores")
    }
    notes = [(note.category.__name__, note.message) for note in differences.notes]
    depends_on = [version("hiercomp"), fields, notes, asdict(rope), priors.to_dict(), dict(options)]
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True, default=repr).encode()).hexdigest()


class Checkpoint:
    """The finished pairs of one or several tournaments, in an SQLite file.

    Each pair is added in its own transaction, so the file is always valid, whatever stops the program.

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

    def read(self, keys: Sequence[str]) -> Iterator[tuple[str, Fit]]:
        """The finished pairs among the requested ones, by key."""
        for start in range(0, len(keys), AT_ONCE):
            asked = list(keys[start : start + AT_ONCE])
            marks = ", ".join("?" * len(asked))
            with self._connection() as connection:
                rows = connection.execute(f"SELECT key, result FROM pairs WHERE key IN ({marks})", asked).fetchall()
            for key, content in rows:
                yield str(key), self._restored(content)

    def add(self, finished: Sequence[tuple[str, Fit]]) -> None:
        """Write finished pairs, all or none."""
        rows = [(key, result.left, result.right, fit_to_bytes(result)) for key, result in finished]
        with self._connection() as connection:
            connection.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?, ?, ?)", rows)

    def _restored(self, content: bytes) -> Fit:
        try:
            return fit_from_bytes(content)
        except Exception as error:  # whatever damaged content raises
            raise damaged(self.path, type(error).__name__) from error

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed at the end, or rolled back."""
        with (
            sqlite_errors(self.path),
            closing(sqlite3.connect(self.path, timeout=SECONDS_TO_WAIT)) as connection,
            connection,
        ):
            yield connection
