"""Reading ARFF, WEKA's table format, and the comma-separated files that WEKA writes with the same quoting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from hiercomp.errors import ScoreFileError
from hiercomp.files.formats.common import first_repeated
from hiercomp.scores.table import DECIMAL
from hiercomp.wording import shown

# How a cell begins: quoted, where a quotation mark may be escaped or, as spreadsheets write it, doubled; or up to a comma.
# No possessive quantifiers: in Python 3.11.2 they lose what the groups inside them matched.
CELL = re.compile(
    r"""[ \t]*(?:(?:'((?:\\.|''|[^'\\])*)'(?!')|"((?:\\.|""|[^"\\])*)"(?!"))[ \t]*|([^,'"][^,]*)?)""", re.DOTALL
)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class RawTable:
    """A table whose cells are text, None where missing.

    Attributes
    ----------
    path : str
        The file, for messages.
    names : tuple of str
        Names of the columns.
    rows : mapping from int to tuple of str or None
        The cells of each row by its line in the file.
    """

    path: str
    names: tuple[str, ...]
    rows: Mapping[int, tuple[str | None, ...]]

    def column(self, name: str) -> list[str | None]:
        """The cells of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.rows.values()]


def read_arff(text: str, path: str, collected: list[ScoreFileError] | None = None) -> RawTable:
    """The table of an ARFF file.

    Where a list ``collected`` is given, errors of rows are added to it and the rows left out, instead of raised.

    Raises
    ------
    ScoreFileError
        If the file is not ARFF as WEKA's documentation has it, with the line; sparse and relational data are refused.
    """
    lines = ((number, line) for number, line in _lines(text) if not line.startswith("%"))
    kinds: dict[str, str | frozenset[str]] = {}
    related = False
    for number, line in lines:
        with _errors_at(path, number):
            keyword, rest = (*line.split(None, 1), "")[:2]
            keyword = keyword.casefold()
            if keyword == "@data":
                if not related or not kinds:
                    lacking = "@relation line" if not related else "@attribute line"
                    raise ScoreFileError(f"@data stands before any {lacking}.")
                break
            if keyword == "@relation":
                related = True
            elif keyword == "@attribute":
                name, kind = _attribute(rest.strip())
                if name in kinds:
                    raise ScoreFileError(f"there are two attributes {shown(name)!r}.")
                kinds[name] = kind
            else:
                raise ScoreFileError(
                    f"{shown(line[:60])!r} is not an @relation, @attribute or @data line of an ARFF file."
                )
    else:
        raise ScoreFileError(f"{path}: there is no @data line; the file is cut short or not ARFF.")
    rows = _rows(lines, path, lambda line: _data_row(line, kinds), collected)
    if not rows:
        raise ScoreFileError(f"{path}: no rows follow @data.")
    return RawTable(path, tuple(kinds), rows)


def read_quoted_csv(text: str, path: str, collected: list[ScoreFileError] | None = None) -> RawTable:
    """The table of a CSV file that WEKA wrote: quotes and escapes as in ARFF, ``?`` where a cell is missing.

    Where a list ``collected`` is given, errors of rows are added to it and the rows left out, instead of raised.
    """
    lines = _lines(text)
    number, header = next(lines, (0, ""))
    if not number:
        raise ScoreFileError(f"{path} has no header: it is empty.")
    with _errors_at(path, number):
        names = tuple(cell or "" for cell in split_row(header))
        repeated = first_repeated(names)
        if repeated is not None:
            raise ScoreFileError(f"there are two columns {shown(repeated)!r}.")
    rows = _rows(lines, path, lambda line: _even_row(line, len(names), f"the header has {len(names)}"), collected)
    if not rows:
        raise ScoreFileError(f"{path} has a header but no rows.")
    return RawTable(path, names, rows)


def split_row(line: str) -> list[str | None]:
    """The cells of a line, unquoted; None for an unquoted ``?`` or an empty cell."""
    if "'" not in line and '"' not in line:
        return [None if cell in ("?", "") else cell for cell in map(str.strip, line.split(","))]
    cells: list[str | None] = []
    place = 0
    while place <= len(line):
        quoted, cell, place = _cell(line, place)
        if line[place : place + 1] not in ("", ","):
            raise ScoreFileError(f"{shown(line[place : place + 20])!r} follows a quoted cell where a comma should.")
        cells.append(cell if quoted or cell not in ("?", "") else None)
        place += 1
    return cells


def is_number(cell: str) -> bool:
    """Whether a cell that is not missing is a number as WEKA writes it."""
    return DECIMAL.fullmatch(cell) is not None or cell in ("NaN", "Infinity", "-Infinity")


@contextmanager
def _errors_at(path: str, number: int, collected: list[ScoreFileError] | None = None) -> Iterator[None]:
    """Name the file and the line in what is raised, or add it to a list."""
    try:
        yield
    except ScoreFileError as error:
        placed = ScoreFileError(
            f"{path}, line {number}: {error.message}", remedy=error.remedy, arguments=error.arguments
        )
        if collected is None:
            raise placed from None
        collected.append(placed)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without blank ones."""
    stripped = map(str.strip, re.split(r"\r\n|\r|\n", text))
    return ((number, line) for number, line in enumerate(stripped, 1) if line)


def _rows(
    lines: Iterable[tuple[int, str]],
    path: str,
    cells_of: Callable[[str], tuple[str | None, ...]],
    collected: list[ScoreFileError] | None,
) -> dict[int, tuple[str | None, ...]]:
    rows = {}
    for number, line in lines:
        with _errors_at(path, number, collected):
            rows[number] = cells_of(line)
    return rows


def _even_row(line: str, width: int, what: str) -> tuple[str | None, ...]:
    """The cells of a line, which must be as many as ``what`` says."""
    cells = split_row(line)
    if len(cells) != width:
        raise ScoreFileError(f"{len(cells)} cells where {what}.")
    return tuple(cells)


def _data_row(line: str, kinds: Mapping[str, str | frozenset[str]]) -> tuple[str | None, ...]:
    """The cells of a line, which must be what the attributes say."""
    if line.startswith("{"):
        raise ScoreFileError("sparse rows ({index value, ...}) are not read.", remedy="Save it as CSV.")
    cells = _even_row(line, len(kinds), f"there are {len(kinds)} attributes")
    for (name, kind), cell in zip(kinds.items(), cells, strict=True):
        if cell is None or kind == "text":
            continue
        if kind == "numeric" and not is_number(cell):
            raise ScoreFileError(f"{shown(cell)!r} is not a number, which attribute {name!r} needs.")
        if kind != "numeric" and cell not in kind:
            raise ScoreFileError(f"{shown(cell)!r} is not one of the values that attribute {name!r} declares.")
    return cells


def _attribute(text: str) -> tuple[str, str | frozenset[str]]:
    """Name and kind of an attribute: "numeric", "text" or the values of a nominal one."""
    quoted, name, place = _cell(text, 0)
    if not quoted:
        parts = re.match(r"[^\s{]+", text)
        if parts is None:
            raise ScoreFileError("the attribute has no name.")
        name, place = parts[0], parts.end()
    kind = text[place:].strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise ScoreFileError(f"the values of attribute {shown(name)!r} lack their closing brace.")
        return name, frozenset(value or "" for value in split_row(kind[1:-1]))
    first = kind.split()[0].casefold() if kind else ""
    if first in ("numeric", "real", "integer"):
        return name, "numeric"
    if first in ("string", "date"):
        return name, "text"
    raise ScoreFileError(
        f"attribute {shown(name)!r} is of type {shown(kind[:30])!r}; numeric, string, date and {{values}} are read."
    )


def _cell(line: str, place: int) -> tuple[bool, str, int]:
    """Whether the cell that begins at a place is quoted, what it holds, and where it ends."""
    found = CELL.match(line, place)
    assert found is not None  # it may be empty
    end = found.end()
    if found.lastindex not in (1, 2):
        if not found[3] and line[end : end + 1] in ("'", '"'):
            raise ScoreFileError(f"a quotation mark ({line[end]}) is never closed.")
        return False, (found[3] or "").strip(), end
    mark, quoted = "'" if found.lastindex == 1 else '"', found[found.lastindex]
    if "\\" in quoted or mark in quoted:
        escapes = rf"\\u([0-9A-Fa-f]{{4}})|\\(.)|{mark}{mark}"
        quoted = re.sub(escapes, lambda sign: _sign(sign, mark), quoted, flags=re.DOTALL)
    return True, quoted, end


def _sign(escape: re.Match[str], mark: str) -> str:
    """The sign for which an escape stands."""
    if escape[1]:
        return chr(int(escape[1], 16))
    return ESCAPES.get(escape[2], escape[2]) if escape[2] else mark
