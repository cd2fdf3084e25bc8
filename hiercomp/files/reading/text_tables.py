"""Text tables (CSV and its relatives) in which nothing is odd: from bytes to columns of text."""

from __future__ import annotations

import codecs
import csv
import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hiercomp.files.reading.separators import quotes_are_regular

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_CELL = 131_072  # characters; also the limit of Python's csv module
MOST_COLUMNS = 10_000

# Text that begins with one of these is a formula to a spreadsheet, which may run programs. It is written with an
# apostrophe in front, and so is text that begins with apostrophes and then one of these, so that the way back is exact.
FORMULA = re.compile(r"'*[=+\-@\t\r]")


@dataclass(frozen=True)
class TextTable:
    """The cells of a text table as they stand in the file, without quotation marks.

    Attributes
    ----------
    names : tuple of str
        Column names without outer spaces.
    cells : tuple of pyarrow.ChunkedArray of string, one for each column
    lines : array of int or None
        The line of the file in which each row begins; None where it was not counted.
    """

    names: tuple[str, ...]
    cells: tuple[pa.ChunkedArray, ...]
    lines: array[int] | None = None


def without_formula(text: str) -> str:
    """Text with an apostrophe in front where a spreadsheet would take it for a formula; see `with_formula`."""
    return "'" + text if FORMULA.match(text) else text


def with_formula(text: str) -> str:
    """Text as it was before `without_formula`."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def without_apostrophes(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells as they were before `without_formula`."""
    import pyarrow.compute as pc

    if not pc.any(pc.starts_with(cells, "'")).as_py():
        return cells
    return pc.replace_substring_regex(cells, f"^'({FORMULA.pattern})", r"\1")


def parse_quickly(content: bytearray, separator: str, names: tuple[str, ...] | None = None) -> TextTable | None:
    """Parse a table in which nothing is odd; None where there is any doubt, for `parse_strictly` to judge.

    Parameters
    ----------
    content : bytearray
        Whole lines of UTF-8.
    separator : str
        What stands between cells.
    names : tuple of str, optional
        Column names, where the content has no header.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    quoted = b'"' in content
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return None
    if quoted and not quotes_are_regular(content, separator):
        return None
    start = 0
    if names is None:
        start = content.find(b"\n") + 1
        names = _plain_header(content[:start], separator) if start else None
    if names is None or content.startswith(codecs.BOM_UTF8, start):  # which pyarrow would take off
        return None
    places = [str(number) for number in range(len(names))]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(pa.py_buffer(content).slice(start)),
            arrow_csv.ReadOptions(column_names=places, block_size=1 << 22),
            arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=quoted),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False),
        )
    except (pa.ArrowException, ValueError):
        return None
    if table.num_rows == 0 or any(
        (pc.max(pc.binary_length(column)).as_py() or 0) > LONGEST_CELL for column in table.columns
    ):
        return None
    return TextTable(names, tuple(table.columns))


def _plain_header(line: bytearray, separator: str) -> tuple[str, ...] | None:
    """The column names in a first line, None where they may be wrong or go on in the next."""
    try:
        rows = list(csv.reader([line.decode().rstrip("\r\n")], delimiter=separator, strict=True))
    except (ValueError, csv.Error):
        return None
    header = rows[0] if rows and line.count(b'"') % 2 == 0 else []
    if not 1 < len(header) <= MOST_COLUMNS or max(map(len, header)) > LONGEST_CELL:
        return None
    names = tuple(with_formula(name.strip()) for name in header)
    return names if len(set(names)) == len(names) and any(names) else None
