"""SQLite files that keep what is finished: opened, recognised, and their errors told in our own words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hiercomp.errors import ResultFileError

SECONDS_TO_WAIT = 60.0  # for another process that writes to the same file


def damaged(path: Path, why: str) -> ResultFileError:
    """The error for a file that is not what it should be."""
    return ResultFileError(
        f"{path} is not a checkpoint of hiercomp or is damaged ({why}). Remove it to start anew, or choose another name."
    )


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise ResultFileError(f"The checkpoint {path} can't be read or written: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise damaged(path, str(error)) from error


def open_database(path: Path, application: int, version: int, schema: str) -> sqlite3.Connection:
    """Open a file of ours, or make it.

    Parameters
    ----------
    path : Path
    application : int
        What the file is for, as SQLite's application id.
    version : int
        Of the tables.
    schema : str
        Statements that make the tables of a new file.

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
                raise ResultFileError(f"{path} is a database for something else. Choose another name.")
            if tables and marks[1] != version:
                raise ResultFileError(
                    f"{path} was written by another version of hiercomp (format {marks[1]}). Choose another name, or "
                    "remove it to start anew."
                )
            if not tables:
                connection.execute(f"PRAGMA application_id = {application}")
                connection.execute(f"PRAGMA user_version = {version}")
                for statement in filter(str.strip, schema.split(";")):
                    connection.execute(statement)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
    return connection
