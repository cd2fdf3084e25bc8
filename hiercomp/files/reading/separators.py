"""What separates the cells of a text table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

import numpy as np

from hiercomp.errors import ArgumentError, ScoreFileError
from hiercomp.scores.table import is_name_column

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
SAMPLE = 65_536  # bytes in which the separator is looked for


def checked_separator(separator: str | None) -> str | None:
    """One character, or a name such as "tab"; None where it is to be found out.

    Raises
    ------
    ArgumentError
        If a table can't be separated by it.
    """
    if separator is None:
        return None
    names = {name: character for character, name in SEPARATORS.items()} | {"\\t": "\t", "space": " "}
    found = names.get(separator, separator) if isinstance(separator, str) else ""
    if (
        len(found) != 1
        or not found.isascii()
        or found.isalnum()
        or (found < " " and found != "\t")
        or found in "\"'.+-"
    ):
        raise ArgumentError(f"separator must be one of ',', ';', '|' and 'tab', got {separator!r}.")
    return found


def find_separator(content: bytearray, file: str) -> str:
    """The separator of a table, from its first rows; a comma where the header holds none.

    Raises
    ------
    ScoreFileError
        If two separators would do.
    """
    sample = content[:SAMPLE].decode("utf-8", errors="replace")
    lines = io.StringIO(sample, newline="").readlines()
    if len(content) > SAMPLE and len(lines) > 1:
        lines.pop()  # it may be cut
    whole = bytearray("".join(lines).encode())
    # one inside quotation marks separates nothing
    regular = [separator for separator in SEPARATORS if quotes_are_regular(whole, separator)]
    rows = {separator: _sampled_rows(lines, separator) for separator in regular or SEPARATORS}
    possible = [separator for separator, cells in rows.items() if cells and len(cells[0]) > 1]
    if len(possible) < 2:
        return possible[0] if possible else ","
    # several occur in the header: that which gives every row as many cells, then that which gives the names of columns
    even = [separator for separator in possible if {len(row) for row in rows[separator]} == {len(rows[separator][0])}]
    named = [
        separator for separator in even or possible if any(is_name_column(name.strip()) for name in rows[separator][0])
    ]
    for choice in (even, named):
        if len(choice) == 1:
            return choice[0]
    if not even:  # some row is short or long, and the strict reader will say which
        return max(possible, key=lambda separator: len(rows[separator][0]))
    listed = " or ".join(repr(separator) for separator in even)
    raise ScoreFileError(f"{file} could be separated by {listed}: say which with separator= (--sep).")


def shown_separator(separator: str) -> str:
    """The separator as the command line takes it."""
    return "tab" if separator == "\t" else separator


def quotes_are_regular(content: bytearray, separator: str) -> bool:
    """Whether every quoted cell is quoted as a whole, where all readers agree.

    Quotation marks then open and close in turn. Each that opens follows a separator or line end and each that closes
    is followed by one, except that one may close and the next open at once, which is a quotation mark in the text.
    """
    characters = np.frombuffer(content, np.uint8)
    marks = np.flatnonzero(characters == ord('"'))
    if len(marks) % 2:
        return False
    ends = np.zeros(256, bool)
    ends[[ord(separator), ord("\n"), ord("\r")]] = True
    opening, closing = marks[::2], marks[1::2]
    doubled = closing[:-1] + 1 == opening[1:]
    opens = (opening == 0) | ends[characters[np.maximum(opening - 1, 0)]]
    last = len(characters) - 1
    closes = (closing == last) | ends[characters[np.minimum(closing + 1, last)]]
    opens[1:] |= doubled
    closes[:-1] |= doubled
    return bool(opens.all() and closes.all())


def _sampled_rows(lines: Iterable[str], separator: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return []
