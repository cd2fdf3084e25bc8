"""Text tables (CSV and its relatives): from bytes to columns of text, fast where nothing is odd, else strictly."""

from __future__ import annotations

import codecs
import csv
import io
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.errors import ArgumentError, ScoreFileError
from hiercomp.scores import is_name_column, shown

if TYPE_CHECKING:
    import pyarrow as pa

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
LONGEST_CELL = 131_072  # characters; also the limit of Python's csv module
MOST_COLUMNS = 10_000
ROWS_AT_ONCE = 20_000  # rows that the strict reader holds as Python objects
SAMPLE = 65_536  # bytes in which the separator is looked for

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


def checked_encoding(encoding: str | None) -> str | None:
    """The name of a text encoding that Python knows, or None.

    Raises
    ------
    ArgumentError
        If there is none of that name.
    """
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        try:
            b"a".decode(encoding)  # refuses what is not an encoding of text, such as base64
        except UnicodeError:
            pass  # half a character
    except (LookupError, TypeError, ValueError):
        raise ArgumentError(f"encoding must be one such as 'utf-8' or 'latin-1', got {encoding!r}.") from None
    return name


def as_utf8(content: bytearray, file: str, encoding: str | None) -> bytearray:
    """The bytes of a text in UTF-8 without a byte order mark; UTF-8 itself is not checked here.

    Raises
    ------
    ScoreFileError
        If the bytes are not text of the encoding given, or of UTF-16 where their mark says so, or hold a NUL.
    """
    marked = content.startswith(codecs.BOM_UTF8)
    if marked and encoding not in (None, "utf-8", "utf-8-sig"):
        raise ScoreFileError(f"{file} begins with the mark of UTF-8 text: leave out encoding={encoding!r}.")
    if encoding is None and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    if encoding not in (None, "utf-8", "utf-8-sig"):
        try:
            content = bytearray(content.decode(encoding).removeprefix("\ufeff").encode())
        except UnicodeDecodeError as error:
            raise ScoreFileError(
                f"{file}, line {_line_of(content, error.start)}, byte {error.start}: not {encoding.upper()} text. "
                "Name another encoding, or save the file as UTF-8."
            ) from error
        except UnicodeError as error:  # half a pair of surrogates, which no text holds
            raise ScoreFileError(f"{file} is not {encoding.upper()} text: {error}.") from error
    elif marked:
        _refuse_other_encodings(content, file)  # while places are still those of the file
        del content[: len(codecs.BOM_UTF8)]
    place = content.find(b"\0")
    if place >= 0:
        raise ScoreFileError(
            f"{file}, line {_line_of(content, place)}: holds a NUL character; {_nul_hint(content[:1000])}"
        )
    return content


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
    regular = [separator for separator in SEPARATORS if _quotes_are_regular(whole, separator)]
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


def parse_quickly(content: bytearray, separator: str) -> TextTable | None:
    """Parse a table in which nothing is odd; None where there is any doubt, for `parse_strictly` to judge."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    end = content.find(b"\n")
    quoted = b'"' in content
    if end < 0 or (b"\r" in content and content.count(b"\r") != content.count(b"\r\n")):
        return None
    if content.startswith(codecs.BOM_UTF8, end + 1):  # in the first name, where pyarrow would take it off
        return None
    if quoted and (content.count(b'"', 0, end) % 2 or not _quotes_are_regular(content, separator)):
        return None
    try:
        rows = list(csv.reader([content[:end].decode().rstrip("\r")], delimiter=separator, strict=True))
        header = rows[0] if rows else []
        if not 1 < len(header) <= MOST_COLUMNS or max(map(len, header)) > LONGEST_CELL:
            return None
        places = [str(number) for number in range(len(header))]
        table = arrow_csv.read_csv(
            pa.BufferReader(pa.py_buffer(content).slice(end + 1)),
            arrow_csv.ReadOptions(column_names=places, block_size=1 << 22),
            arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=quoted),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False),
        )
    except (pa.ArrowException, ValueError, csv.Error):
        return None
    if table.num_rows == 0 or any(
        (pc.max(pc.binary_length(column)).as_py() or 0) > LONGEST_CELL for column in table.columns
    ):
        return None
    names = tuple(with_formula(name.strip()) for name in header)
    return TextTable(names, tuple(table.columns)) if len(set(names)) == len(names) and any(names) else None


def parse_strictly(content: bytearray, separator: str, file: str) -> TextTable:
    """Parse a table row by row, and say in which line it is wrong.

    Raises
    ------
    ScoreFileError
        If the text is not UTF-8, or the table has no header or no rows, or a row is not like the header.
    """
    _refuse_other_encodings(content, file)
    text = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    reader = csv.reader(text, delimiter=separator, strict=True)
    names: tuple[str, ...] | None = None
    lines, block = array("q"), list[list[str]]()
    blocks: list[list[pa.Array]] = []
    line = 1  # where the next row begins
    try:
        for row in reader:
            begin, line = line, reader.line_num + 1
            if not row or (len(row) == 1 and names is not None and not row[0].strip()):
                continue  # a blank line
            if max(map(len, row)) > LONGEST_CELL:
                raise csv.Error("field larger than field limit")
            if names is None:
                names = _header(row, f"{file}, line {begin}", file)
                continue
            if len(row) != len(names):
                raise ScoreFileError(
                    f"{file}, line {begin}: {len(row)} cells where the header has {len(names)}.{_row_hint(row, names)}"
                )
            lines.append(begin)
            block.append(row)
            if len(block) == ROWS_AT_ONCE:
                blocks.append(_transposed(block))
                block = []
    except csv.Error as error:
        raise ScoreFileError(f"{file}, line {line}: {_csv_cause(str(error), reader.line_num > line)}.") from error
    if names is None:
        raise ScoreFileError(f"{file} has no header: it is empty.")
    if not lines:
        raise ScoreFileError(f"{file} has a header but no rows.")
    if block:
        blocks.append(_transposed(block))
    import pyarrow as pa

    cells = tuple(pa.chunked_array([block[place] for block in blocks], pa.string()) for place in range(len(names)))
    return TextTable(names, cells, lines)


def _transposed(rows: list[list[str]]) -> list[pa.Array]:
    import pyarrow as pa

    return [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]


def _header(row: Sequence[str], place: str, file: str) -> tuple[str, ...]:
    if not any(cell.strip() for cell in row):
        raise ScoreFileError(f"{file} has no header: it is empty.")
    if len(row) > MOST_COLUMNS:
        raise ScoreFileError(
            f"{place}: {len(row)} columns, above the limit of {MOST_COLUMNS}; is it a table of scores?"
        )
    names = tuple(with_formula(cell.strip()) for cell in row)
    if len(set(names)) < len(names):
        repeated = ", ".join(sorted({repr(shown(name)) for name in names if names.count(name) > 1}))
        raise ScoreFileError(f"{place}: column names occur twice: {repeated}.")
    return names


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


def _refuse_other_encodings(content: bytearray, file: str) -> None:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        mixed = not content[: error.start].isascii()
        remedy = (
            "Its beginning is, so that two encodings are mixed: save it as UTF-8 throughout."
            if mixed
            else "Save it as UTF-8, or name its encoding, for instance encoding='latin-1' (--encoding latin-1)."
        )
        line = _line_of(content, error.start)
        raise ScoreFileError(f"{file}, line {line}, byte {error.start}: not UTF-8 text. {remedy}") from error


def _line_of(content: bytearray, place: int) -> int:
    before = content[:place]
    return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")


def _nul_hint(sample: bytearray) -> str:
    """UTF-16 of mostly Latin letters has a NUL in every second place."""
    for encoding, offset in (("utf-16-le", 1), ("utf-16-be", 0)):
        half = sample[offset::2]
        if len(half) > 2 and half.count(0) > 0.9 * len(half):
            return f"it looks like UTF-16 without its mark: pass encoding={encoding!r} (--encoding {encoding})."
    return "the file is damaged or not text."


def _sampled_rows(lines: Iterable[str], separator: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return []


def _quotes_are_regular(content: bytearray, separator: str) -> bool:
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
