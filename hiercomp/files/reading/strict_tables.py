"""Text tables row by row: slower than `hiercomp.files.reading.text_tables`, but it says in which line a table is wrong."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterable, Iterator, Sequence

from hiercomp.errors import ScoreFileError
from hiercomp.files.reading.decoding import Place, decoded
from hiercomp.files.reading.separators import SEPARATORS
from hiercomp.files.reading.text_tables import LONGEST_CELL, MOST_COLUMNS, TextTable, with_formula
from hiercomp.wording import EXAMPLES_SHOWN, counted, shown

ROWS_AT_ONCE = 20_000  # rows that are held as Python objects


def parse_strictly(
    pieces: Iterable[tuple[bytearray, Place]],
    separator: str,
    file: str,
    names: tuple[str, ...] | None = None,
    collected: list[ScoreFileError] | None = None,
) -> Iterator[TextTable]:
    """Parse a table row by row.

    Parameters
    ----------
    pieces : iterable of (bytearray, Place)
        Whole lines of UTF-8, one piece after the other, and where they begin.
    separator, file : str
        What stands between cells, and the file's name for messages.
    names : tuple of str, optional
        Column names, where the first piece comes after the header.
    collected : list of ScoreFileError, optional
        Errors are added to it and the rows that they concern left out, instead of raised.

    Yields
    ------
    TextTable
        Parts of the table, of at most `ROWS_AT_ONCE` rows; none where it has no rows.

    Raises
    ------
    ScoreFileError
        If the text is not UTF-8, or the table has no header, or a row is not like the header.
    """
    block, lines = list[list[str]](), array("q")
    uneven, first_uneven, hint = 0, list[tuple[int, int]](), ""
    for line, row in _rows(iter(pieces), separator, file, names is not None, collected):
        if names is None:
            names = _header(row, f"{file}, line {line}", file, collected)
        elif len(row) == 1 and not row[0].strip():
            continue  # a blank line
        elif len(row) != len(names):
            if collected is None:
                cells = f"{len(row)} cells where the header has {len(names)}"
                raise ScoreFileError(f"{file}, line {line}: {cells}.{_row_hint(row, names)}")
            uneven += 1
            if uneven <= EXAMPLES_SHOWN:
                first_uneven.append((line, len(row)))
                hint = hint or _row_hint(row, names)
        else:
            block.append(row)
            lines.append(line)
        if len(block) == ROWS_AT_ONCE:
            yield _table(names, block, lines)
            block, lines = [], array("q")
    if names is None:
        raise ScoreFileError(f"{file} has no header: it is empty.")
    if collected is not None and uneven:
        listed = ", ".join(f"line {line} has {count}" for line, count in first_uneven)
        more = f" and {uneven - len(first_uneven):,} more" if uneven > len(first_uneven) else ""
        text = (
            f"{file}: {counted(uneven, 'row')} of another length than the header's {len(names)} cells ({listed}{more})."
        )
        collected.append(ScoreFileError(f"{text}{hint or ' Complete or remove them.'}"))
    if block:
        yield _table(names, block, lines)


def _rows(
    pieces: Iterator[tuple[bytearray, Place]],
    separator: str,
    file: str,
    has_names: bool,
    collected: list[ScoreFileError] | None,
) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, and the lines in which they begin."""
    content, place = next(pieces)
    reader = csv.reader(_text_lines(content, place, pieces, file, collected), delimiter=separator, strict=True)
    line = place.line  # where the next row begins
    while True:
        begin = line
        try:
            row = next(reader, None)
            if row is None:
                return
            line = place.line + reader.line_num
            if row and max(map(len, row)) > LONGEST_CELL:
                raise csv.Error("field larger than field limit")
        except csv.Error as error:
            line = place.line + reader.line_num
            refused = ScoreFileError(f"{file}, line {begin}: {_csv_cause(str(error), line > begin + 1)}.")
            if collected is None or not has_names:
                raise refused from error
            collected.append(refused)
            continue
        if row:
            has_names = True
            yield begin, row


def _text_lines(
    content: bytearray,
    place: Place,
    following: Iterator[tuple[bytearray, Place]],
    file: str,
    collected: list[ScoreFileError] | None,
) -> Iterator[str]:
    while True:
        yield from io.StringIO(decoded(content, file, place, collected), newline="")
        content, place = next(following, (bytearray(), place))
        if not content:
            return


def _table(names: tuple[str, ...], rows: list[list[str]], lines: array[int]) -> TextTable:
    import pyarrow as pa

    cells = tuple(pa.chunked_array([pa.array(column, pa.string())]) for column in zip(*rows, strict=True))
    return TextTable(names, cells, lines)


def _header(row: Sequence[str], place: str, file: str, collected: list[ScoreFileError] | None) -> tuple[str, ...]:
    if not any(cell.strip() for cell in row):
        raise ScoreFileError(f"{file} has no header: it is empty.")
    if len(row) > MOST_COLUMNS:
        raise ScoreFileError(
            f"{place}: {len(row)} columns, above the limit of {MOST_COLUMNS}; is it a table of scores?"
        )
    names = tuple(with_formula(cell.strip()) for cell in row)
    if len(set(names)) == len(names):
        return names
    repeated = ", ".join(sorted({repr(shown(name)) for name in names if names.count(name) > 1}))
    error = ScoreFileError(f"{place}: column names occur twice: {repeated}.")
    if collected is None:
        raise error
    collected.append(error)
    return tuple(
        name if name not in names[:column] else f"{name} (column {column + 1})" for column, name in enumerate(names)
    )


def _row_hint(row: Sequence[str], names: Sequence[str]) -> str:
    if len(row) > len(names):
        return " Is the decimal sign a comma? Then separate the cells by semicolons, or put the numbers in quotation marks."
    other = [
        name for separator, name in SEPARATORS.items() if len(row) == 1 and row[0].count(separator) == len(names) - 1
    ]
    return f" Is it separated by a {other[0]}, unlike the header?" if other else ""


def _csv_cause(error: str, several_lines: bool) -> str:
    if "unexpected end" in error:
        return "a quotation mark is never closed"
    if "field limit" in error:
        unclosed = "; is a quotation mark never closed?" if several_lines else ""
        return f"field larger than field limit ({LONGEST_CELL} characters){unclosed}"
    if "expected after" in error:
        return "a quotation mark closes in the middle of a cell; write a quotation mark inside a quoted cell twice"
    return error
