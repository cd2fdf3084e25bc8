"""Tables in text files (CSV and its relatives) and in Parquet files, read by Arrow; errors name the line.

Arrow makes the cells. What Arrow would accept silently, or refuse without naming a line, is checked here: how numbers are
written, quotation marks, rows of another length, repeated or too many columns. Python's csv module finds the line.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from hiercomp.arguments import one_of, true_or_false, whole_number
from hiercomp.errors import Argument, ArgumentError, Note, ScaleWarning, ScoreFileError, warn_caller
from hiercomp.files.content import (
    LARGEST_BYTES,
    checked_encoding,
    encoding_of,
    file_blocks,
    is_packed,
    is_utf8,
    joined,
    line_ends,
    raise_or_collect,
    reading_errors,
    refuse_other_kinds,
    too_large,
    unpacked_limit,
    utf8_parts,
)
from hiercomp.scores.table import MISSING_TEXT, is_name_column, is_number_column, number_of_cell, to_pandas
from hiercomp.wording import EXAMPLES_SHOWN, counted, shown

if TYPE_CHECKING:
    import pandas as pd
PART = 32 << 20  # bytes held as text at a time
LONGEST_ROW = 32 << 20  # bytes
LONGEST_CELL = 131_072  # characters; also the limit of Python's csv module
MOST_COLUMNS = 10_000
PARQUET = b"PAR1"

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
SAMPLE = 65_536  # bytes in which the separator is looked for

# Text that begins with one of these is a formula to a spreadsheet, which may run programs. It is written with an
# apostrophe in front, and so is text that begins with apostrophes and then one of these, so the way back is exact.
FORMULA = re.compile(r"'*[=+\-@\t\r]")

# Kinds of cells; a column becomes numbers only if all its filled cells are of the kind asked for. [.] is the decimal sign
NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
PERCENT = " ?%"
WHOLE = "[+-]?[0-9]{1,15}"  # a float may not hold more digits exactly: longer ones stay text
LONG = "[+-]?[0-9]{16,}"
EMPTY = "(?i)({})".format("|".join(re.escape(word) for word in sorted(MISSING_TEXT)))

Kind = Literal["empty", "text", "whole", "number", "percent"]
Parts = Iterable[tuple[bytearray, int]]  # UTF-8 text, and the line in which it begins


def read_score_file(
    path: str | Path,
    columns: Mapping[str, str | list[str]] | None = None,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
    percent: bool = False,
    largest_bytes: int = LARGEST_BYTES,
    collected: list[ScoreFileError] | None = None,
) -> pd.DataFrame:
    r"""Read a table of scores; names stay text, so ``001`` and ``NA`` are kept.

    Parameters
    ----------
    path : str or Path
        A text table (``.csv``, ``.tsv``, ``.txt``) or a ``.parquet`` file; text may be compressed with gzip.
    columns : mapping, optional
        Which column, or list of columns, is which; those of data sets and algorithms stay text.
    encoding : str, optional
        Encoding of a text table. By default UTF-8, or UTF-16 if the file begins with its mark.
    separator : {",", ";", "tab", "|"}, optional
        What separates cells; any other sign will do too. By default found in the first rows, and named in a note
        if it is unusual for the file's name.
    decimal : {".", ","}
        The decimal sign.
    percent : bool
        Take cells such as ``91%``, divide them by 100, and say so in a note.
    largest_bytes : int
        Limit on the size of the file, decompressed. Unless it is given, what a packed or Parquet file holds is also limited
        to 100 times its stored size, or 64 MB.
    collected : list of ScoreFileError, optional
        Errors are added to it instead of raised, and the rest of the table is read as far as possible.

    Returns
    -------
    DataFrame
        Columns of plain numbers are int or float, with NaN for empty cells and for words such as ``NA``; all others
        are text, which is categorical in files of more than 32 MB. An apostrophe before a sign that starts a formula is
        taken off, see `hiercomp.write_scores`. What was warned of is in ``attrs["notes"]``.

    Raises
    ------
    ScoreFileError
        If the file is missing or can't be read as a table; the message names the line.
    ArgumentError
        If an option is outside what is allowed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.csv")
    ...     _ = path.write_text("dataset;algorithm;score\n001;nb;0,91\n001;tree;0,9\n")
    ...     read_score_file(path, separator=";", decimal=",")
      dataset algorithm  score
    0     001        nb   0.91
    1     001      tree   0.90
    """
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns must be a mapping such as {{'score': 'auc'}}, got {columns!r}.")
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path must be the path of a file, got {type(path).__name__}.")
    decimal, percent = one_of("decimal", decimal, (".", ",")), true_or_false("percent", percent)
    asked, separator = checked_encoding(encoding), checked_separator(separator)
    file, path, largest = shown(path), Path(path), whole_number("largest_bytes", largest_bytes, 1)
    parts = joined(file_blocks(path, file, largest), PART)
    first = next(parts, bytearray())
    if first.startswith(PARQUET):
        return _read_parquet(path, file, chain([first], parts), largest)
    if path.suffix == ".parquet":
        raise ScoreFileError(f"{file} is not a Parquet file, or it is damaged.")
    refuse_other_kinds(first, file, separated=separator is not None)
    encoding = encoding_of(first, file, asked)
    small = len(first) < PART  # else more may follow
    if not small and not path.is_file():
        raise ScoreFileError(
            f"{file} has more than {PART >> 20} MB and is not a regular file.", remedy="Save it as one, and read that."
        )

    def opened() -> Parts:
        raw = [first] if small else joined(file_blocks(path, file, largest), PART)
        return utf8_parts(raw, file, encoding, collected)

    notes = []
    if asked not in (None, "utf-8", "utf-8-sig") and is_utf8(first):
        message = f"{file} was read as {asked}, but it is UTF-8 text."
        notes.append(Note(ScaleWarning, message, "If names look odd, leave out the encoding."))
    if separator is None:
        beginning = next((content for content, _ in opened()), bytearray())
        separator = find_separator(beginning, file)
        notes += _separator_notes(path, file, separator)
    named = {role: name for role, name in (columns or {}).items() if isinstance(name, str)}
    names = frozenset(named.pop(role) for role in ("dataset", "algorithm") if role in named)
    for name in (columns or {}).values():  # several columns whose cells are joined
        names |= frozenset(name) if isinstance(name, list) else frozenset()
    options = _Options(file, separator, decimal, percent, names, frozenset(named.values()) - names, collected)
    frame, more = _read_text(opened, options, small)
    notes += more
    if notes:
        frame.attrs["notes"] = [note.text for note in notes]
    warn_caller(notes)
    return frame


def lines_of_rows(path: str | Path, layout: Mapping[str, Any]) -> list[int] | None:
    """The line of each row of a text table that is read at once; None for any other file.

    Parameters
    ----------
    path : path
    layout : mapping
        ``encoding`` and ``separator``, as `read_score_file` takes them.
    """
    file, path = shown(path), Path(path)
    try:
        first = next(joined(file_blocks(path, file, LARGEST_BYTES), PART), bytearray())
        if (
            len(first) >= PART
            or first.startswith((PARQUET, b"ARROW1", b"PK"))
            or first.lstrip().startswith((b"{", b"["))
        ):
            return None
        encoding = encoding_of(first, file, checked_encoding(layout.get("encoding")))
        content = next((content for content, _ in utf8_parts([first], file, encoding, [])), bytearray())
        separator = checked_separator(layout.get("separator")) or find_separator(content, file)
        stream = io.StringIO(content.decode(), newline="")
        records = _records(stream, separator)
        rows = [(begin + 1, row) for begin, _, row in records if row and (len(row) > 1 or row[0].strip())]
    except (ScoreFileError, csv.Error, UnicodeError):
        return None
    width = len(rows[0][1]) if rows else 0
    return [line for line, row in rows[1:] if len(row) == width]


def names_as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose categorical columns, those of a large file, are text."""
    categorical = [name for name in frame.columns if frame[name].dtype == "category"]
    return frame.astype(dict.fromkeys(categorical, str)) if categorical else frame


def without_formula(text: str) -> str:
    """Text with an apostrophe in front if a spreadsheet would take it for a formula; see `with_formula`."""
    return "'" + text if FORMULA.match(text) else text


def with_formula(text: str) -> str:
    """Text as it was before `without_formula`."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


# What separates the cells


def checked_separator(separator: str | None) -> str | None:
    """One character, or a name such as "tab"; None if it is to be found.

    Raises
    ------
    ArgumentError
        If a table can't be separated by it.
    """
    if separator is None:
        return None
    names = {name: character for character, name in SEPARATORS.items()} | {"\\t": "\t", "space": " "}
    character = names.get(separator, separator) if isinstance(separator, str) else ""
    if (
        len(character) != 1
        or not character.isascii()
        or character.isalnum()
        or (character < " " and character != "\t")
        or character in "\"'.+-"
    ):
        raise ArgumentError(f"separator must be one of ',', ';', '|' and 'tab', got {separator!r}.")
    return character


def find_separator(content: bytearray, file: str) -> str:
    """The separator of a table, from its first rows; a comma if the header holds none.

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
    if not even:  # some row is short or long, and reading will say which
        return max(possible, key=lambda separator: len(rows[separator][0]))
    listed = " or ".join(repr(separator) for separator in even)
    raise ScoreFileError(
        f"{file} could be separated by {listed}.",
        remedy="Say which with separator=... (--sep).",
        arguments=(Argument("separator"),),
    )


def shown_separator(separator: str) -> str:
    """The separator as the command line takes it."""
    return "tab" if separator == "\t" else separator


def _sampled_rows(lines: Iterable[str], separator: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return []


def _separator_notes(path: Path, file: str, separator: str) -> list[Note]:
    """What is to be said of a separator that was found."""
    usual = "\t" if re.sub(r"\.(gz|bz2|xz|zip)$", "", path.name).endswith((".tsv", ".txt", ".tab")) else ","
    if separator in (usual, ","):
        return []
    sign = shown_separator(separator)
    message = f"{file} was read as separated by {SEPARATORS[separator]}s."
    named = Argument("separator", sign)
    return [Note(ScaleWarning, message, f"To avoid this warning, pass {named} (--sep '{sign}').", arguments=(named,))]


# A text table: columns of numbers, and of names that are kept once


@dataclass(frozen=True)
class _Options:
    """How the cells of a table are read."""

    file: str  # its name, for messages
    separator: str
    decimal: str
    percent: bool
    names: frozenset[str]  # columns that hold names, besides those with a usual name
    numbers: frozenset[str]  # and those that hold runs, folds or scores
    collected: list[ScoreFileError] | None  # errors are added to it instead of raised, where it is given

    def holds_names(self, column: str) -> bool:
        """Whether a column stays text."""
        return is_name_column(column) or column in self.names

    def needs_numbers(self, column: str) -> bool:
        """Whether a column of numbers that are not written as asked for makes the table useless."""
        return is_number_column(column) or column in self.numbers


@dataclass(frozen=True)
class _Piece:
    """Some whole rows of a table."""

    content: bytearray
    line: int  # of the file, where they begin
    names: tuple[str, ...]
    cells: list[pa.ChunkedArray]  # text, one for each column; of columns that hold names each different text once
    uneven: bool  # whether rows of another length were left out

    def rows(self, separator: str) -> Iterator[tuple[int, list[str]]]:
        """The line of each row that is not blank, and its cells; slow."""
        for begin, _, row in _records(io.StringIO(self.content.decode(), newline=""), separator):
            if row and (len(row) > 1 or row[0].strip()):
                yield self.line + begin, row

    def line_of(self, number: int, separator: str) -> int:
        """The line of the row with that number, from 0, among those that were not left out; slow."""
        even = (line for line, row in self.rows(separator) if len(row) == len(self.names))
        return next(line for place, line in enumerate(even) if place == number)


@dataclass
class _Column:
    """A column as far as it has been read."""

    name: str
    kind: Kind | None = None  # None before its first cells
    chunks: list[pa.Array] = field(default_factory=list)
    filled: int = 0
    refused: bool = False  # whether an error of it was collected

    def extend(self, kind: Kind, cells: pa.ChunkedArray) -> bool:
        """Add cells; False if they show that a column taken for numbers is text."""
        if (kind == "text") != (self.kind == "text") and self.kind is not None:
            return False
        if self.kind in (None, "empty") or (self.kind == "whole" and kind == "number"):
            self.kind = kind
        self.filled += 0 if kind == "empty" else len(cells) - cells.null_count
        self.chunks += _compact(kind, cells)
        return True

    def combined(self, small: bool) -> pa.ChunkedArray:
        """All cells, of one type, in a small table of a plain one; the column is empty after it."""
        chunks, self.chunks = self.chunks, []
        if self.kind == "text":
            column = pa.chunked_array(chunks).unify_dictionaries()
            return column.cast(pa.string()) if small else column
        types = {chunk.type for chunk in chunks}
        compact = small or pa.int64() in types
        common = pa.float64() if pa.float64() in types else pa.int64() if compact else pa.int32()
        return pa.chunked_array([chunk.cast(common) for chunk in chunks])


def _read_text(opened: Callable[[], Parts], options: _Options, small: bool) -> tuple[pd.DataFrame, list[Note]]:
    """The frame of a text table; ``opened`` gives its text from the beginning, as often as it is called."""
    doubts: list[ScoreFileError] = []
    text: frozenset[str] = frozenset()
    while True:
        if options.collected is not None:
            options.collected.clear()
        columns, contradicted = _columns(opened(), replace(options, names=options.names | text), doubts)
        if contradicted is None:
            break
        text |= {contradicted}  # from the beginning, with this column as text
    if doubts and not any(column.kind in ("number", "percent") for column in columns):
        raise_or_collect(doubts[0], options.collected)  # no column shows that the decimal sign is the right one
    notes = [_percent_note(column.filled, column.name, options.file) for column in columns if column.kind == "percent"]
    table = pa.table([column.combined(small) for column in columns], names=[column.name for column in columns])
    frame: pd.DataFrame = table.to_pandas() if small else table.to_pandas(self_destruct=True, split_blocks=True)
    return frame, notes


def _columns(parts: Parts, options: _Options, doubts: list[ScoreFileError]) -> tuple[list[_Column], str | None]:
    """The columns of a table, or the first that was taken for numbers and is text."""
    columns: list[_Column] = []
    cell_errors: list[ScoreFileError] = []
    uneven, first_uneven = 0, list[tuple[int, list[str]]]()
    for piece in _pieces(parts, options):
        columns = columns or [_Column(name) for name in piece.names]
        for line, row in piece.rows(options.separator) if piece.uneven else ():
            if len(row) != len(columns):
                if options.collected is None:
                    raise _uneven_row(line, row, piece.names, options.file)
                uneven += 1
                first_uneven += [(line, row)] if uneven <= EXAMPLES_SHOWN else []
        if not len(piece.cells[0]):
            continue
        for column, text in zip(columns, piece.cells, strict=True):
            cells = _without_apostrophes(text)
            if column.kind == "text" or options.holds_names(column.name):
                column.extend("text", cells)
                continue
            try:
                kind, cells = _judged(column, cells, options, piece)
            except ScoreFileError as error:
                needed = options.needs_numbers(column.name)
                if needed and options.collected is None:
                    raise
                if not needed:  # a column that may be of no interest: it stays text
                    doubts.append(error)
                    return columns, column.name
                if not column.refused:
                    cell_errors.append(error)
                column.refused = True
                kind, cells = _numbers_in_any_notation(cells)
            if not column.extend(kind, cells):
                return columns, column.name
    if options.collected is not None:
        rows_errors = [_uneven_rows(uneven, first_uneven, len(columns), options.file)] if uneven else []
        options.collected.extend(rows_errors + cell_errors)
    if not columns or not columns[0].chunks:
        raise ScoreFileError(f"{options.file} has a header but no rows.")
    return columns, next((column.name for column in columns if column.kind == "empty"), None)


def _pieces(parts: Parts, options: _Options) -> Iterator[_Piece]:
    """The table by pieces of whole rows, as Arrow reads them."""
    names, rest = _header(iter(parts), options)
    for content, line in _whole_rows(rest, options):
        piece = _parsed(content, line, names, options)
        if any(_longest(cells) > LONGEST_CELL for cells in piece.cells):
            content = _sound_rows(content, line, options)
            piece = _parsed(content, line, names, options)
        yield piece


def _parsed(content: bytearray, line: int, names: tuple[str, ...], options: _Options) -> _Piece:
    """Whole rows with regular quotation marks, as Arrow reads them."""
    uneven = []

    def left_out(row: arrow_csv.InvalidRow) -> str:
        uneven.append(row.actual_columns > 1 or bool(row.text.strip()))  # a line of spaces is blank
        return "skip"

    names_type = pa.dictionary(pa.int32(), pa.string())
    types = [names_type if options.holds_names(name) else pa.string() for name in names]
    places = [str(number) for number in range(len(names))]
    # Arrow takes off a byte order mark, which here stands in a cell: a blank line before it prevents that
    text = bytearray(b"\n") + content if content.startswith(codecs.BOM_UTF8) else content
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(pa.py_buffer(text or b"\n")),
            arrow_csv.ReadOptions(column_names=places, block_size=len(text) + 1),
            arrow_csv.ParseOptions(
                delimiter=options.separator, newlines_in_values=b'"' in text, invalid_row_handler=left_out
            ),
            arrow_csv.ConvertOptions(column_types=dict(zip(places, types, strict=True)), strings_can_be_null=False),
        )
    except pa.ArrowException as error:
        if type(error) is not pa.ArrowException:  # that of text which is no table
            raise
        raise MemoryError("Arrow got no memory for its threads") from error
    return _Piece(content, line, names, table.columns, any(uneven))


def _longest(cells: pa.ChunkedArray) -> int:
    """Bytes of the longest cell of text."""
    texts = [getattr(chunk, "dictionary", chunk) for chunk in cells.chunks]
    return max((pc.max(pc.binary_length(text)).as_py() or 0 for text in texts), default=0)


def _without_apostrophes(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells as they were before `without_formula`."""
    texts = [getattr(chunk, "dictionary", chunk) for chunk in cells.chunks]
    if not any(pc.any(pc.starts_with(text, "'")).as_py() for text in texts):
        return cells
    plain = pc.replace_substring_regex(cells.cast(pa.string()), f"^'({FORMULA.pattern})", r"\1")
    return plain if cells.type == pa.string() else plain.dictionary_encode()


def _compact(kind: Kind, cells: pa.ChunkedArray) -> list[pa.Array]:
    """Cells in no more memory than they need."""
    if kind == "empty":
        return [pa.nulls(len(cells), pa.float64())]
    if kind == "text":
        return list(cells.chunks if pa.types.is_dictionary(cells.type) else cells.dictionary_encode().chunks)
    if kind == "whole":
        limits = pc.min_max(cells).as_py()
        if max(-limits["min"], limits["max"]) <= np.iinfo(np.int32).max:
            cells = cells.cast(pa.int32())
    return list(cells.chunks)


# Rows: where they end, and which are wrong


def _header(parts: Iterator[tuple[bytearray, int]], options: _Options) -> tuple[tuple[str, ...], Parts]:
    """The names of the columns, and the text after them."""
    for content, line in parts:
        stream = io.StringIO(content.decode(), newline="")
        for begin, end, row in _records(stream, options.separator):
            if row is None:
                lines = io.StringIO(stream.getvalue(), newline="").readlines()
                raise _fault(lines, begin, end, f"{options.file}, line {line + begin}")
            if row:
                names = _checked_header(row, line + begin, options)
                behind = stream.tell()  # characters
                rest = content[len(stream.getvalue()[:behind].encode()) :]
                return names, chain([(rest, line + end)], parts)
    raise ScoreFileError(f"{options.file} has no header: it is empty.")


def _checked_header(row: list[str], line: int, options: _Options) -> tuple[str, ...]:
    place = f"{options.file}, line {line}"
    if not any(cell.strip() for cell in row):
        raise ScoreFileError(f"{options.file} has no header: it is empty.")
    if len(row) > MOST_COLUMNS:
        raise ScoreFileError(
            f"{place}: {len(row)} columns, above the limit of {MOST_COLUMNS}.", remedy="Is it a table of scores?"
        )
    names = tuple(with_formula(cell.strip()) for cell in row)
    if len(set(names)) == len(names):
        return names
    repeated = sorted({shown(name) for name in names if names.count(name) > 1})
    listed = ", ".join(map(repr, repeated))
    error = ScoreFileError(f"{place}: column names occur twice: {listed}.", places=tuple(repeated))
    raise_or_collect(error, options.collected)
    return tuple(
        name if name not in names[:column] else f"{name} (column {column + 1})" for column, name in enumerate(names)
    )


def _whole_rows(parts: Parts, options: _Options) -> Iterator[tuple[bytearray, int]]:
    """The text, cut after whole rows whose quotation marks are sound, and the line in which each piece begins.

    Raises
    ------
    ScoreFileError
        If a quotation mark is wrong, or a row longer than `LONGEST_ROW`.
    """
    rest, line = bytearray(), 1
    for content, begin in parts:
        line = line if rest else begin
        rest += content
        end = _end_of_rows(rest, options.separator)
        if end is None:
            end = _end_of_odd_rows(rest, options.separator)
            rows = _sound_rows(rest[:end], line, options)
        else:
            rows = rest[:end]
        if rows:
            yield rows, line
        line, rest = line + line_ends(rest[:end]), rest[end:]
        if len(rest) > LONGEST_ROW:
            _sound_rows(rest, line, replace(options, collected=None))
            raise ScoreFileError(
                f"{options.file}, line {line}: a row of more than {LONGEST_ROW:,} bytes.",
                remedy="Is it a table of scores?",
            )
    if rest:
        regular = b'"' not in rest or _quotes_are_regular(rest, options.separator)
        yield rest if regular else _sound_rows(rest, line, options), line


def _end_of_rows(content: bytearray, separator: str) -> int | None:
    """Where the last whole row ends; None if quotation marks stand where readers disagree on what they mean."""
    mark = b"\n" if b"\n" in content else b"\r"
    end = content.rfind(mark, 0, len(content) - (mark == b"\r")) + 1  # a line feed may follow the last carriage return
    if b'"' not in content:
        return end
    if not _quotes_are_regular(content, separator, complete=False):
        return None
    characters = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(characters[:end] == ord(mark))
    outside = ends[np.searchsorted(np.flatnonzero(characters == ord('"')), ends) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def _quotes_are_regular(content: bytearray, separator: str, *, complete: bool = True) -> bool:
    """Whether every quoted cell is quoted as a whole, where all readers agree; the last may be cut if not ``complete``.

    Quotation marks then open and close in turn. Each that opens follows a separator or line end and each that closes
    is followed by one, except that one may close and the next open at once, which is a quotation mark in the text.
    """
    characters = np.frombuffer(content, np.uint8)
    marks = np.flatnonzero(characters == ord('"'))
    if complete and len(marks) % 2:
        return False
    ends = np.zeros(256, bool)
    ends[[ord(separator), ord("\n"), ord("\r")]] = True
    opening, closing = marks[::2], marks[1::2]
    doubled = closing[: len(opening) - 1] + 1 == opening[1:]
    opens = (opening == 0) | ends[characters[np.maximum(opening - 1, 0)]]
    last = len(characters) - 1
    closes = (closing == last) | ends[characters[np.minimum(closing + 1, last)]]
    opens[1:] |= doubled
    closes[: len(doubled)] |= doubled
    return bool(opens.all() and closes.all())


def _end_of_odd_rows(content: bytearray, separator: str) -> int:
    """Where the last whole row ends, as Python's csv module reads it; slow."""
    lines = io.StringIO(content.decode(), newline="").readlines()
    whole = 0
    for begin, _, _ in _records(lines, separator):
        whole = begin  # the last may go on in the next part
    return len("".join(lines[:whole]).encode())


def _sound_rows(content: bytearray, line: int, options: _Options) -> bytearray:
    """Whole rows as they are, where a list is given with blank lines for those that are wrong; slow.

    Raises
    ------
    ScoreFileError
        If a quotation mark is wrong or a cell too long.
    """
    lines = io.StringIO(content.decode(), newline="").readlines()
    sound: list[str] = []
    for begin, end, row in _records(lines, options.separator):
        if row is None:
            raise_or_collect(_fault(lines, begin, end, f"{options.file}, line {line + begin}"), options.collected)
            sound += ["\n"] * (end - begin)
        else:
            sound += lines[begin:end]
    return bytearray("".join(sound).encode())


def _records(lines: Iterable[str], separator: str) -> Iterator[tuple[int, int, list[str] | None]]:
    """Rows as Python's csv module reads them: the lines, from 0, where each begins and ends; None for one that is wrong."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    begin = 0
    while True:
        row: list[str] | None
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            row = None
        if row and max(map(len, row)) > LONGEST_CELL:
            row = None
        yield begin, reader.line_num, row
        begin = reader.line_num


def _fault(lines: list[str], begin: int, end: int, place: str) -> ScoreFileError:
    """Why Python's csv module refuses the lines from ``begin`` to ``end``."""
    text = "".join(lines[begin:end])
    if len(text) > LONGEST_CELL:
        unclosed = " Is a quotation mark never closed?" if end > begin + 1 else ""
        cause = f"a cell of more than {LONGEST_CELL:,} characters, which is the limit.{unclosed}"
    elif end == len(lines) and text.count('"') % 2:
        cause = "a quotation mark is never closed."
    else:
        cause = "a quotation mark closes in the middle of a cell. Write a quotation mark inside a quoted cell twice."
    return ScoreFileError(f"{place}: {cause}")


def _uneven_row(line: int, row: list[str], names: tuple[str, ...], file: str) -> ScoreFileError:
    return ScoreFileError(
        f"{file}, line {line}: {len(row)} cells where the header has {len(names)}.",
        remedy=_row_hint(row, len(names), line),
    )


def _uneven_rows(count: int, first: list[tuple[int, list[str]]], width: int, file: str) -> ScoreFileError:
    listed = ", ".join(f"line {line} has {len(row)}" for line, row in first)
    more = f" and {count - len(first):,} more" if count > len(first) else ""
    hints = [hint for line, row in first if (hint := _row_hint(row, width, line))]
    return ScoreFileError(
        f"{file}: {counted(count, 'row')} of another length than the header's {width} cells ({listed}{more}).",
        remedy=hints[0] if hints else "Complete or remove them.",
        key="uneven_rows",
        count=count,
    )


def _row_hint(row: list[str], width: int, line: int) -> str:
    if len(row) > width == 1 and not any(number_of_cell(cell) is not None for cell in row):
        return f"Line {line} looks like the header: remove what stands above it."
    if len(row) > width:
        return (
            "Is the decimal sign a comma? Then separate the cells by semicolons, or put the numbers in quotation marks."
        )
    other = [name for separator, name in SEPARATORS.items() if len(row) == 1 and row[0].count(separator) == width - 1]
    return f"Is it separated by a {other[0]}, unlike the header?" if other else ""


# Numbers, as they may be written


def _judged(column: _Column, cells: pa.ChunkedArray, options: _Options, piece: _Piece) -> tuple[Kind, pa.ChunkedArray]:
    """The cells of a piece of a column, and what they are.

    They are int64 if "whole" and float64, null where empty, if "number" or "percent"; else text.

    Raises
    ------
    ScoreFileError
        If the cells are numbers, but not all of them are written as the options say.
    """
    filled = pc.utf8_trim(cells, " \t")
    number = NUMBER.replace("[.]", f"[{options.decimal}]")
    kind: Kind = "number"
    if _all_match(filled, WHOLE):
        kind = "whole"
    else:
        filled = _null_where_empty(filled)
        if filled.null_count == len(filled):
            return "empty", cells
        if not _all_match(filled, f"{NUMBER}({PERCENT})?".replace("[.]", "[.,]")):
            return "text", cells
        if pc.any(pc.match_substring_regex(filled, f"^{LONG}$")).as_py():
            return "text", cells  # such as the number of a task: as a float it could be taken for another
    if kind == "number" and options.percent and _all_match(filled, number + PERCENT):
        kind = "percent"
    if kind == "number" and not _all_match(filled, number):
        raise _other_notation(filled, number + PERCENT if options.percent else number, column.name, options, piece)
    if column.kind == "percent" and kind in ("whole", "number"):  # other parts of the column are written otherwise
        raise _other_notation(filled, number + PERCENT, column.name, options, piece)
    if column.kind in ("whole", "number") and kind == "percent":
        raise _other_notation(filled, number, column.name, options, piece)
    if kind == "whole":
        return kind, pc.cast(pc.utf8_ltrim(filled, "+"), pa.int64())
    if kind == "percent":
        # moving the exponent rounds once, dividing would round twice
        filled = pc.replace_substring_regex(filled, f"{PERCENT}$", "e-2")
        if not _all_match(filled, number):
            raise ScoreFileError(
                f"{options.file}, column {shown(column.name)!r}: percent signs after an exponent.",
                remedy="Write plain numbers.",
            )
    return kind, _floats(pc.replace_substring(filled, ",", ".") if options.decimal == "," else filled)


def _numbers_in_any_notation(cells: pa.ChunkedArray) -> tuple[Kind, pa.ChunkedArray]:
    """Numbers, some with a decimal comma or a percent sign, as they would be read; else text."""
    plain = pc.replace_substring(_null_where_empty(pc.utf8_trim(cells, " \t")), ",", ".")
    plain = pc.replace_substring_regex(plain, f"{PERCENT}$", "e-2")
    if not _all_match(plain, NUMBER):
        return "text", cells
    return ("number", _floats(plain)) if plain.null_count < len(plain) else ("empty", cells)


def _floats(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Plain numbers with a decimal point as float64."""
    try:
        return pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:  # a plus sign, or beyond the range of a float
        numbers = [None if cell is None else float(cell) for cell in cells.to_pylist()]
        return pa.chunked_array([pa.array(numbers, pa.float64())])


def _all_match(cells: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every cell that is not null matches as a whole."""
    return pc.all(pc.match_substring_regex(cells, f"^({pattern})$")).as_py() is not False


def _null_where_empty(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    empty = pc.match_substring_regex(cells, f"^{EMPTY}$")
    return pc.if_else(empty, pa.scalar(None, pa.string()), cells)


def _other_notation(
    cells: pa.ChunkedArray, pattern: str, name: str, options: _Options, piece: _Piece
) -> ScoreFileError:
    """The error of a column of numbers, at its first cell that does not match."""
    matches = pc.fill_null(pc.match_substring_regex(cells, f"^({pattern})$"), True).to_numpy()
    wrong = np.flatnonzero(~matches)
    row, more = int(wrong[0]), len(wrong) - 1
    cell = cells[row].as_py()
    arguments: tuple[Argument, ...] = ()
    if "," in cell and options.decimal == ".":
        sign = shown_separator(options.separator)
        arguments += () if sign == "," else (Argument("separator", sign),)
        arguments += (Argument("decimal", ","),)
        sep = "" if sign == "," else f"--sep '{sign}' "
        python = ", ".join(map(str, arguments))
        remedy = f"If the comma is the decimal sign, pass {python} ({sep}--decimal ','); if not, remove it."
    elif "." in cell and options.decimal == ",":
        arguments = (Argument("decimal", ","),)
        remedy = f"It has a decimal point, but {arguments[0]} (--decimal ',') was passed."
    elif "%" in cell and not options.percent:
        arguments = (Argument("percent", True),)
        remedy = "Pass percent=True (--percent) to divide such cells by 100, or remove the percent signs."
    else:
        remedy = "Some cells of the column have percent signs and others have none: write all of them in the same way."
    line = piece.line_of(row, options.separator)
    place = f"{options.file}, line {line}, column {shown(name)!r}"
    others = f", nor {'is' if more == 1 else 'are'} {counted(more, 'other cell')} of the column" if more else ""
    message = f"{place}: {shown(cell[:40])!r} is not a plain number{others}."
    return ScoreFileError(message, remedy=remedy, places=(shown(name),), key="notation", arguments=arguments)


def _percent_note(count: int, name: str, file: str) -> Note:
    """What is to be said of a column that was divided by 100."""
    message = f"{counted(count, 'cell')} of column {shown(name)!r} in {file} divided by 100, for the percent signs."
    return Note(ScaleWarning, message, places=(name,), key="percent")


# Parquet


def parquet_names(path: Path, file: str) -> tuple[list[str], set[str]]:
    """The columns of a Parquet file, and those of them that hold no numbers, from its end alone.

    Raises
    ------
    ScoreFileError
        If it is damaged.
    """
    from pyarrow import parquet  # with its encryption and file systems: not for text

    try:
        with pa.OSFile(os.fsencode(path)) as source:
            schema = parquet.read_schema(source)
    except Exception as error:
        raise _damaged(file, error) from error
    numbers = {
        column.name for column in schema if pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    }
    return list(schema.names), set(schema.names) - numbers


def _read_parquet(path: Path, file: str, parts: Iterable[bytearray], largest: int) -> pd.DataFrame:
    """The frame of a Parquet file; ``parts`` are its bytes, which are only used if it is packed with gzip."""
    from pyarrow import parquet

    with reading_errors(file):
        packed = is_packed(path)
        content = b"".join(parts) if packed else b""
    try:
        limit = unpacked_limit(path.stat().st_size, largest)
        # a file object of Python's could be asked for by Arrow's threads while the process ends, which aborts it
        with pa.BufferReader(content) if packed else pa.OSFile(os.fsencode(path)) as source:
            metadata = parquet.read_metadata(source)
            unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            if max(unpacked, 8 * metadata.num_rows * metadata.num_columns) > limit:
                raise too_large(file, limit)
            schema = metadata.schema.to_arrow_schema()
            text = [place for place, kind in enumerate(schema.types) if kind in (pa.string(), pa.large_string())]
            source.seek(0)
            # a text that recurs is kept once until it is known how much all of them take
            table = parquet.read_table(
                source, read_dictionary=[schema.names[place] for place in text], page_checksum_verification=True
            )
        size = sum(_text_bytes(table.column(place)) for place in text)
        if size > largest:
            raise too_large(file, largest)  # names recur in every file
        if max(size, unpacked) <= PART:  # in a larger file text stays categorical
            for place in text:
                table = table.set_column(place, schema.field(place), table.column(place).cast(schema.types[place]))
        frame: pd.DataFrame = table.to_pandas(self_destruct=True, split_blocks=True)
        frame.attrs.pop("notes", None)  # of what the table was read from
        if any(name is not None for name in frame.index.names):
            frame = to_pandas(frame)  # an index that holds names, as pandas wrote it
    except ScoreFileError:
        raise
    except Exception as error:  # whatever a damaged file makes pyarrow and pandas raise
        raise _damaged(file, error) from error
    return frame


def _text_bytes(column: pa.ChunkedArray) -> int:
    """Bytes that the texts of a dictionary-encoded column take when each is written out."""
    chunks = [pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks]
    return sum(pc.sum(pc.cast(lengths, "int64")).as_py() or 0 for lengths in chunks)


def _damaged(file: str, error: Exception) -> ScoreFileError:
    cause = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return ScoreFileError(f"{file} can't be read as Parquet: {shown(cause)}.")
