"""Reading a file of tidy scores: CSV and its relatives, compressed or not, or Parquet."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from hiercomp.checks import true_or_false, whole_number
from hiercomp.errors import ArgumentError, Note, ScaleWarning, ScoreFileError
from hiercomp.scores import MISSING_TEXT, is_name_column, is_number_column, shown
from hiercomp.text_tables import (
    FORMULA,
    SEPARATORS,
    TextTable,
    as_utf8,
    checked_encoding,
    checked_separator,
    find_separator,
    parse_quickly,
    parse_strictly,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LARGEST_BYTES = 2 * 10**9
BLOCK = 1 << 20  # bytes read at a time

SIGNATURES = {
    b"PK\x03\x04": "an Excel or zip file",
    b"PK\x05\x06": "an empty zip file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF": "a PDF file",
    b"\x89HDF": "an HDF5 or netCDF file",
    b"CDF": "a netCDF file",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"SQLite format 3": "an SQLite database",
    b"\x93NUMPY": "a NumPy array",
    b"ARROW1": "an Arrow or Feather file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf": "a 7-Zip file",
} | {bytes([0x80, protocol]): "a Python pickle, which is never opened" for protocol in range(2, 6)}

# Kinds of cells; a column becomes numbers only if all its filled cells are of the kind asked for. [.] is the decimal sign
NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
PERCENT = " ?%"
WHOLE = "[+-]?[0-9]{1,15}"  # more digits than this are no exact float, and stay text
LONG = "[+-]?[0-9]{16,}"
EMPTY = "(?i)({})".format("|".join(re.escape(word) for word in sorted(MISSING_TEXT)))


@dataclass(frozen=True)
class _Options:
    """How cells are read."""

    separator: str
    decimal: str
    percent: bool
    names: frozenset[str]  # columns that hold names, besides those with a usual name
    numbers: frozenset[str] = frozenset()  # and those that hold runs, folds or scores


def read_score_file(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
    percent: bool = False,
    largest_bytes: int = LARGEST_BYTES,
) -> pd.DataFrame:
    r"""Read a table of scores; names stay text, so that ``001`` and ``NA`` are kept.

    Parameters
    ----------
    path : str or Path
        A text table (``.csv``, ``.tsv``, ``.txt``) or a ``.parquet`` file; text may be compressed with gzip.
    columns : mapping, optional
        Which column is which, as for `hiercomp.scores.tidy_scores`; those of data sets and algorithms stay text.
    encoding : str, optional
        Encoding of a text table. By default UTF-8, or UTF-16 where the file begins with its mark.
    separator : {",", ";", "tab", "|"}, optional
        What separates cells; any other sign will do too. By default found in the first rows, and named in a warning
        where it is unusual for the file's name.
    decimal : {".", ","}
        The decimal sign.
    percent : bool
        Take cells such as ``91%``, divide them by 100, and say so in a warning.
    largest_bytes : int
        Limit on the size of the file, decompressed. Reading a usual table takes about five times its size in memory.

    Returns
    -------
    DataFrame
        Columns of plain numbers are int or float, with NaN for empty cells and for words such as ``NA``; all others
        are text. An apostrophe before a sign that starts a formula is taken off, see `hiercomp.write_scores`.
        What was warned of is in ``attrs["notes"]``.

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
    frame, notes = read_with_notes(
        path,
        columns,
        encoding=encoding,
        separator=separator,
        decimal=decimal,
        percent=percent,
        largest_bytes=largest_bytes,
    )
    if notes:
        frame.attrs["notes"] = [note.message for note in notes]
    for note in notes:
        note.warn(stacklevel=2)
    return frame


def read_with_notes(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
    percent: bool = False,
    largest_bytes: int = LARGEST_BYTES,
) -> tuple[pd.DataFrame, tuple[Note, ...]]:
    """As `read_score_file`, with what it would warn of given back instead."""
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns must be a mapping such as {{'score': 'auc'}}, got {columns!r}.")
    if decimal not in (".", ","):
        raise ArgumentError(f"decimal must be '.' or ',', got {decimal!r}.")
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path must be the path of a file, got {type(path).__name__}.")
    encoding, separator = checked_encoding(encoding), checked_separator(separator)
    percent = true_or_false("percent", percent)
    file, path = shown(path), Path(path)
    content = _content(path, file, whole_number("largest_bytes", largest_bytes, 1))
    if content.startswith(b"PAR1"):
        return _read_parquet(file, content, largest_bytes), ()
    if path.suffix == ".parquet":
        raise ScoreFileError(f"{file} is not a Parquet file, whatever its name says, or is damaged.")
    for signature, kind in SIGNATURES.items():
        if content.startswith(signature):
            raise ScoreFileError(f"{file} is not text; it looks like {kind}. Save the table as CSV or Parquet.")
    notes = []
    given = content
    content = as_utf8(content, file, encoding)
    if content is not given and encoding is not None and _is_utf8(given):
        text = f"{file} was read as {encoding}, but it is UTF-8 text: if names look odd, leave out the encoding."
        notes.append(Note(ScaleWarning, text))
    if separator is None:
        separator = find_separator(content, file)
        usual = "\t" if path.name.removesuffix(".gz").endswith((".tsv", ".txt", ".tab")) else ","
        if separator not in (usual, ","):
            sign = _separator_shown(separator)
            text = (
                f"{file} was read as separated by {SEPARATORS[separator]}s; "
                f"separator={sign!r} (--sep '{sign}') says so beforehand."
            )
            notes.append(Note(ScaleWarning, text))
    named = {role: name for role, name in (columns or {}).items() if isinstance(name, str)}
    names = frozenset(named[role] for role in ("dataset", "algorithm") if role in named)
    options = _Options(separator, decimal, percent, names, frozenset(named.values()) - names)
    frame, more = _read_text(content, file, options)
    return frame, (*notes, *more)


def _content(path: Path, file: str, largest: int) -> bytearray:
    """The decompressed bytes of a file, no more than allowed."""
    try:
        with path.open("rb") as stream:
            if path.suffix != ".gz" and stream.peek(2)[:2] != b"\x1f\x8b":  # a pipe can't be read twice
                return _limited(stream, file, largest)
            with gzip.open(stream) as unpacked:
                return _limited(cast("IO[bytes]", unpacked), file, largest)
    except FileNotFoundError:
        raise ScoreFileError(f"{file}: there is no such file.") from None
    except IsADirectoryError:
        raise ScoreFileError(f"{file} is a folder; name a .csv, .csv.gz or .parquet file.") from None
    except (OSError, EOFError, zlib.error, ValueError, MemoryError) as error:
        if isinstance(error, ScoreFileError):
            raise
        cause = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ScoreFileError(f"{file} can't be read: {cause.rstrip('.')}.") from error


def _limited(stream: IO[bytes], file: str, largest: int) -> bytearray:
    content = bytearray()
    while block := stream.read(BLOCK):
        content += block
        if len(content) > largest:
            raise _too_large(file, largest)
    return content


def _too_large(file: str, largest: int) -> ScoreFileError:
    return ScoreFileError(
        f"{file} holds more than {largest:,} bytes (decompressed): it is not read. Leave out what is not needed, or pass "
        "a larger largest_bytes."
    )


def _is_utf8(content: bytearray) -> bool:
    """Whether bytes are UTF-8 text beyond ASCII, which hardly any other text is by chance."""
    try:
        return not content.decode().isascii()
    except UnicodeDecodeError:
        return False


def _read_parquet(file: str, content: bytearray, largest: int) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        source = pa.BufferReader(pa.py_buffer(content))
        metadata = parquet.read_metadata(source)
        unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
        if max(unpacked, 8 * metadata.num_rows * metadata.num_columns) > largest:
            raise _too_large(file, largest)
        schema = metadata.schema.to_arrow_schema()
        text = [place for place, kind in enumerate(schema.types) if kind in (pa.string(), pa.large_string())]
        source.seek(0)
        # a text that recurs is kept once until it is known how much all of them take
        table = parquet.read_table(
            source, read_dictionary=[schema.names[place] for place in text], page_checksum_verification=True
        )
        if sum(_text_bytes(table.column(place)) for place in text) > largest:
            raise _too_large(file, largest)
        for place in text:
            table = table.set_column(place, schema.field(place), table.column(place).cast(schema.types[place]))
        frame: pd.DataFrame = table.to_pandas()
    except ScoreFileError:
        raise
    except Exception as error:  # whatever a damaged file makes pyarrow and pandas raise
        cause = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ScoreFileError(f"{file} can't be read as Parquet: {shown(cause)}.") from error
    return frame


def _text_bytes(column: pa.ChunkedArray) -> int:
    """Bytes that the texts of a dictionary-encoded column take when each is written out."""
    import pyarrow.compute as pc

    chunks = [pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks]
    return sum(pc.sum(pc.cast(lengths, "int64")).as_py() or 0 for lengths in chunks)


def _read_text(content: bytearray, file: str, options: _Options) -> tuple[pd.DataFrame, list[Note]]:
    """The quick parser where it is sure, else the strict one, which can also say where a cell stands."""
    table = parse_quickly(content, options.separator)
    if table is not None:
        try:
            return _frame(table, file, options)
        except ScoreFileError:
            del table
    return _frame(parse_strictly(content, options.separator, file), file, options)


def _frame(table: TextTable, file: str, options: _Options) -> tuple[pd.DataFrame, list[Note]]:
    import pyarrow as pa

    notes: list[Note] = []
    doubts: list[ScoreFileError] = []
    columns = []
    for name, cells in zip(table.names, table.cells, strict=True):
        plain = _without_apostrophes(cells)
        if not is_name_column(name) and name not in options.names:
            try:
                plain = _numbers_if_all_are(plain, name, table, file, options, notes)
            except ScoreFileError as error:
                if is_number_column(name) or name in options.numbers:
                    raise
                doubts.append(error)  # in a column that may be of no interest: it stays text
        columns.append(plain)
    if doubts and not any(pa.types.is_floating(column.type) for column in columns):
        raise doubts[0]  # no column shows that the decimal sign is the right one
    frame: pd.DataFrame = pa.table(columns, names=list(table.names)).to_pandas()
    return frame, notes


def _without_apostrophes(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text as it was before `hiercomp.exports` put an apostrophe before a formula."""
    import pyarrow.compute as pc

    formula = f"^'({FORMULA.pattern})"
    if not pc.any(pc.starts_with(cells, "'")).as_py():
        return cells
    return pc.replace_substring_regex(cells, formula, r"\1")


def _numbers_if_all_are(
    cells: pa.ChunkedArray, name: str, table: TextTable, file: str, options: _Options, notes: list[Note]
) -> pa.ChunkedArray:
    """Numbers, null where empty, if every filled cell is a plain number; else the text for the table check to judge."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.utf8_trim(cells, " \t")
    if _all(filled, WHOLE):
        return pc.cast(pc.utf8_ltrim(filled, "+"), pa.int64())
    empty = pc.match_substring_regex(filled, f"^{EMPTY}$")
    filled = pc.if_else(empty, pa.scalar(None, pa.string()), filled)
    if filled.null_count == len(filled) or not _all(filled, f"{NUMBER}({PERCENT})?".replace("[.]", "[.,]")):
        return cells
    if pc.any(pc.match_substring_regex(filled, f"^{LONG}$")).as_py():
        return cells  # such as the number of a task: as a float it could be taken for another
    number = NUMBER.replace("[.]", f"[{options.decimal}]")
    if options.percent and _all(filled, number + PERCENT):
        # moving the exponent rounds once, dividing would round twice
        filled = pc.replace_substring_regex(filled, f"{PERCENT}$", "e-2")
        if not _all(filled, number):
            raise ScoreFileError(
                f"{file}, column {shown(name)!r}: percent signs after an exponent. Write plain numbers."
            )
        count = len(filled) - filled.null_count
        text = f"{count} cells of column {shown(name)!r} in {file} were divided by 100: they have percent signs."
        notes.append(Note(ScaleWarning, text))
    elif not _all(filled, number):
        _refuse_cell(filled, number, name, table, file, options)
    if options.decimal == ",":
        filled = pc.replace_substring(filled, ",", ".")
    try:
        return pc.cast(filled, pa.float64())
    except pa.ArrowInvalid:  # a plus sign, or beyond the range of a float
        numbers = [None if cell is None else float(cell) for cell in filled.to_pylist()]
        return pa.chunked_array([pa.array(numbers, pa.float64())])


def _all(cells: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every cell that is not null matches as a whole."""
    import pyarrow.compute as pc

    return pc.all(pc.match_substring_regex(cells, f"^({pattern})$")).as_py() is not False


def _refuse_cell(
    cells: pa.ChunkedArray, number: str, name: str, table: TextTable, file: str, options: _Options
) -> None:
    """Refuse a column of numbers some of which are written otherwise than asked for."""
    import pyarrow.compute as pc

    pattern = f"^{number}({PERCENT})$" if options.percent else f"^{number}$"
    matches = pc.fill_null(pc.match_substring_regex(cells, pattern), True).to_numpy()
    row = int(np.flatnonzero(~matches)[0])
    cell = cells[row].as_py()
    if "," in cell and options.decimal == ".":
        sign = _separator_shown(options.separator)
        sep, python = ("", "") if sign == "," else (f"--sep '{sign}' ", f"separator={sign!r}, ")
        remedy = f"If the comma is the decimal sign, pass {sep}--decimal ',' ({python}decimal=','); if not, remove it."
    elif "." in cell and options.decimal == ",":
        remedy = "It has a decimal point where decimal=',' (--decimal ',') was asked for."
    elif "%" in cell:
        remedy = "Pass percent=True (--percent) to divide such cells by 100, or remove the percent signs."
    else:
        remedy = "Other cells of the column have percent signs: write all of them in the same way."
    line = "" if table.lines is None else f", line {table.lines[row]}"
    raise ScoreFileError(f"{file}{line}, column {shown(name)!r}: {cell[:40]!r} is not a plain number. {remedy}")


def _separator_shown(separator: str) -> str:
    return "tab" if separator == "\t" else separator
