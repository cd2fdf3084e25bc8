"""Reading ARFF, WEKA's table format, and the comma-separated files that WEKA writes with the same quoting."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hiercomp.errors import ScoreFileError
from hiercomp.files.formats.common import first_repeated
from hiercomp.scores.table import DECIMAL
from hiercomp.wording import shown

NUMERIC_TYPES = ("numeric", "real", "integer")
TEXT_TYPES = ("string", "date")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
UNICODE_ESCAPE = re.compile(r"u([0-9A-Fa-f]{4})")


@dataclass(frozen=True)
class RawTable:
    """A table whose cells are text, None where missing.

    Attributes
    ----------
    path : str
        The file, for messages.
    names : tuple of str
        Names of the columns.
    numeric : tuple of bool
        Whether the file says that a column holds numbers; False for all of a CSV file, which does not say.
    rows : tuple of tuple of str or None
    lines : tuple of int
        Line of each row in the file.
    """

    path: str
    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str | None, ...], ...]
    lines: tuple[int, ...]

    def column(self, name: str) -> list[str | None]:
        """The cells of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.rows]


def read_arff(text: str, path: str, collected: list[ScoreFileError] | None = None) -> RawTable:
    """The table of an ARFF file.

    Where a list ``collected`` is given, errors of rows are added to it and the rows left out, instead of raised.

    Raises
    ------
    ScoreFileError
        If the file is not ARFF as WEKA's documentation has it, with the line; sparse and relational data are refused.
    """
    names: list[str] = []
    known: set[str] = set()
    numeric: list[bool] = []
    allowed: list[frozenset[str] | None] = []
    rows: list[tuple[str | None, ...]] = []
    numbers: list[int] = []
    related = in_data = False
    for number, line in _lines(text):
        if in_data:
            try:
                cells = _data_row(line, names, numeric, allowed, path, number)
            except ScoreFileError as error:
                _raise_or_collect(error, collected)
                continue
            rows.append(cells)
            numbers.append(number)
            continue
        keyword, rest = (*line.split(None, 1), "")[:2]
        keyword = keyword.casefold()
        if keyword == "@relation":
            related = True
        elif keyword == "@attribute":
            name, kind = _attribute(rest.strip(), path, number)
            if name in known:
                raise ScoreFileError(f"{path}, line {number}: there are two attributes {shown(name)!r}.")
            known.add(name)
            names.append(name)
            numeric.append(kind == "numeric")
            allowed.append(kind if isinstance(kind, frozenset) else None)
        elif keyword == "@data":
            if not related or not names:
                lacking = "@relation line" if not related else "@attribute line"
                raise ScoreFileError(f"{path}, line {number}: @data stands before any {lacking}.")
            in_data = True
        else:
            raise ScoreFileError(
                f"{path}, line {number}: {shown(line[:60])!r} is not an @relation, @attribute or @data line of an ARFF file."
            )
    if not in_data:
        raise ScoreFileError(f"{path}: there is no @data line; the file is cut short or not ARFF.")
    if not rows:
        raise ScoreFileError(f"{path}: no rows follow @data.")
    return RawTable(path, tuple(names), tuple(numeric), tuple(rows), tuple(numbers))


def read_quoted_csv(text: str, path: str, collected: list[ScoreFileError] | None = None) -> RawTable:
    """The table of a CSV file that WEKA wrote: quotes and escapes as in ARFF, ``?`` where a cell is missing.

    Where a list ``collected`` is given, errors of rows are added to it and the rows left out, instead of raised.
    """
    names: tuple[str, ...] = ()
    rows: list[tuple[str | None, ...]] = []
    numbers: list[int] = []
    for number, line in _lines(text, comments=False):
        try:
            cells = split_row(line, path, number)
        except ScoreFileError as error:
            _raise_or_collect(error, collected if names else None)
            continue
        if not names:
            names = tuple(cell or "" for cell in cells)
            repeated = first_repeated(names)
            if repeated is not None:
                raise ScoreFileError(f"{path}, line {number}: there are two columns {shown(repeated)!r}.")
            continue
        if len(cells) != len(names):
            text_of_error = f"{path}, line {number}: {len(cells)} cells where the header has {len(names)}."
            _raise_or_collect(ScoreFileError(text_of_error), collected)
            continue
        rows.append(tuple(cells))
        numbers.append(number)
    if not names:
        raise ScoreFileError(f"{path} has no header: it is empty.")
    if not rows:
        raise ScoreFileError(f"{path} has a header but no rows.")
    return RawTable(path, names, (False,) * len(names), tuple(rows), tuple(numbers))


def split_row(line: str, path: str, number: int) -> list[str | None]:
    """The cells of a line, unquoted; None for an unquoted ``?`` or an empty cell."""
    if "'" not in line and '"' not in line:
        return [None if cell in ("?", "") else cell for cell in map(str.strip, line.split(","))]
    cells: list[str | None] = []
    place = 0
    while True:
        while place < len(line) and line[place] in " \t":
            place += 1
        if place < len(line) and line[place] in "'\"":
            cell, place = _quoted(line, place, path, number)
            cells.append(cell)
            while place < len(line) and line[place] in " \t":
                place += 1
            if place < len(line) and line[place] != ",":
                raise ScoreFileError(
                    f"{path}, line {number}: {shown(line[place : place + 20])!r} follows a quoted cell where a comma should."
                )
        else:
            end = line.find(",", place)
            end = len(line) if end < 0 else end
            cell = line[place:end].strip()
            cells.append(None if cell in ("?", "") else cell)
            place = end
        if place >= len(line):
            return cells
        place += 1


def _raise_or_collect(error: ScoreFileError, collected: list[ScoreFileError] | None) -> None:
    if collected is None:
        raise error
    collected.append(error)


def _lines(text: str, comments: bool = True) -> list[tuple[int, str]]:
    """Numbered lines without blank ones and comments."""
    lines = re.split(r"\r\n|\r|\n", text)
    stripped = ((number, line.strip()) for number, line in enumerate(lines, 1))
    return [(number, line) for number, line in stripped if line and not (comments and line.startswith("%"))]


def _data_row(
    line: str,
    names: list[str],
    numeric: list[bool],
    allowed: list[frozenset[str] | None],
    path: str,
    number: int,
) -> tuple[str | None, ...]:
    if line.startswith("{"):
        raise ScoreFileError(f"{path}, line {number}: sparse rows ({{index value, ...}}) are not read. Save it as CSV.")
    cells = split_row(line, path, number)
    if len(cells) != len(names):
        raise ScoreFileError(f"{path}, line {number}: {len(cells)} cells where there are {len(names)} attributes.")
    for name, is_number, values, cell in zip(names, numeric, allowed, cells, strict=True):
        if cell is None:
            continue
        if is_number and not DECIMAL.fullmatch(cell) and cell not in ("NaN", "Infinity", "-Infinity"):
            raise ScoreFileError(
                f"{path}, line {number}: {shown(cell)!r} is not a number, which attribute {name!r} needs."
            )
        if values is not None and cell not in values:
            raise ScoreFileError(
                f"{path}, line {number}: {shown(cell)!r} is not one of the values that attribute {name!r} declares."
            )
    return tuple(cells)


def _attribute(text: str, path: str, number: int) -> tuple[str, str | frozenset[str]]:
    """Name and kind of an attribute: "numeric", "text" or the values of a nominal one."""
    if text[:1] in ("'", '"'):
        name, place = _quoted(text, 0, path, number)
        kind = text[place:].strip()
    else:
        parts = re.match(r"([^\s{]+)\s*(.*)", text)
        if parts is None:
            raise ScoreFileError(f"{path}, line {number}: the attribute has no name.")
        name, kind = parts.group(1), parts.group(2).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise ScoreFileError(
                f"{path}, line {number}: the values of attribute {shown(name)!r} lack their closing brace."
            )
        values = split_row(kind[1:-1], path, number)
        return name, frozenset(value or "" for value in values)
    first = kind.split()[0].casefold() if kind else ""
    if first in NUMERIC_TYPES:
        return name, "numeric"
    if first in TEXT_TYPES:
        return name, "text"
    raise ScoreFileError(
        f"{path}, line {number}: attribute {shown(name)!r} is of type {shown(kind[:30])!r}; numeric, string, date and "
        "{values} are read."
    )


def _quoted(line: str, start: int, path: str, number: int) -> tuple[str, int]:
    """The quoted text that begins at a place, without its escapes, and the place after it."""
    mark = line[start]
    found: list[str] = []
    place = start + 1
    while place < len(line):
        character = line[place]
        if character == "\\" and place + 1 < len(line):
            code = UNICODE_ESCAPE.match(line, place + 1)
            if code:
                found.append(chr(int(code.group(1), 16)))
                place = code.end()
                continue
            following = line[place + 1]
            found.append(ESCAPES.get(following, following))
            place += 2
            continue
        if character == mark:
            if line[place + 1 : place + 2] == mark:  # a quote doubled, as spreadsheets write it
                found.append(mark)
                place += 2
                continue
            return "".join(found), place + 1
        found.append(character)
        place += 1
    raise ScoreFileError(f"{path}, line {number}: a quotation mark ({mark}) is never closed.")
