"""Reading a file of tidy scores: CSV and its relatives, compressed or not, or Parquet."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from hiercomp.arguments import true_or_false, whole_number
from hiercomp.errors import ArgumentError, Note, ScaleWarning, ScoreFileError
from hiercomp.files.reading.content import file_blocks, refuse_other_kinds
from hiercomp.files.reading.decoding import Place, checked_encoding, encoding_of, is_utf8, utf8_parts
from hiercomp.files.reading.number_columns import Cells, TableOptions, as_numbers, percent_note
from hiercomp.files.reading.parquet_tables import MAGIC, read_parquet
from hiercomp.files.reading.piecewise import PIECE, raw_parts, read_in_pieces, whole_lines
from hiercomp.files.reading.separators import SEPARATORS, checked_separator, find_separator, shown_separator
from hiercomp.files.reading.strict_tables import parse_strictly
from hiercomp.files.reading.text_tables import TextTable, parse_quickly, without_apostrophes
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd

LARGEST_BYTES = 4 * 10**9


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
        Which column is which, as for `hiercomp.scores.table.tidy_scores`; those of data sets and algorithms stay text.
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
        Limit on the size of the file, decompressed. A text of up to 32 MB takes about five times its size in memory.
        A larger one is read in pieces: it takes 4 bytes for each cell of text or of a whole number and 8 for each of
        any other number, half as much again for a moment, and 400 MB for the piece. These are 4 GB for 100 million
        rows of data set, algorithm, run, fold and score, beside what Python and its libraries take.

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
        frame.attrs["notes"] = [note.text for note in notes]
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
    collected: list[ScoreFileError] | None = None,
) -> tuple[pd.DataFrame, tuple[Note, ...]]:
    """As `read_score_file`, with what it would warn of given back instead.

    Where a list ``collected`` is given, errors are added to it and the rest of the table is read, as far as possible,
    instead of raised.
    """
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns must be a mapping such as {{'score': 'auc'}}, got {columns!r}.")
    if decimal not in (".", ","):
        raise ArgumentError(f"decimal must be '.' or ',', got {decimal!r}.")
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path must be the path of a file, got {type(path).__name__}.")
    encoding, separator = checked_encoding(encoding), checked_separator(separator)
    percent = true_or_false("percent", percent)
    file, path, largest = shown(path), Path(path), whole_number("largest_bytes", largest_bytes, 1)
    parts = raw_parts(file_blocks(path, file, largest), PIECE)
    first = next(parts, bytearray())
    if first.startswith(MAGIC):
        return read_parquet(path, file, chain([first], parts), largest, PIECE), ()
    if path.suffix == ".parquet":
        raise ScoreFileError(f"{file} is not a Parquet file, whatever its name says, or is damaged.")
    refuse_other_kinds(first, file)
    notes = []
    if encoding is not None and encoding_of(first, file, encoding) is not None and is_utf8(first):
        text = f"{file} was read as {encoding}, but it is UTF-8 text: if names look odd, leave out the encoding."
        notes.append(Note(ScaleWarning, text))
    encoding = encoding_of(first, file, encoding)
    whole = len(first) < PIECE  # else more may follow

    def pieces() -> Iterator[tuple[bytearray, Place]]:
        read = [first] if whole else raw_parts(file_blocks(path, file, largest), PIECE)
        return whole_lines(utf8_parts(read, file, encoding, collected), file, PIECE)

    if not whole and not path.is_file():
        raise ScoreFileError(
            f"{file} has more than {PIECE >> 20} MB and is no regular file: save it as one, and read that."
        )
    # cut behind the last line end only where more follows
    beginning, place = next(utf8_parts([first], file, encoding, collected) if whole else pieces())
    if separator is None:
        separator = find_separator(beginning, file)
        notes += _separator_notes(path, file, separator)
    named = {role: name for role, name in (columns or {}).items() if isinstance(name, str)}
    names = frozenset(named[role] for role in ("dataset", "algorithm") if role in named)
    options = TableOptions(file, separator, decimal, percent, names, frozenset(named.values()) - names)
    if whole and collected is None:
        frame, more = _read_whole(beginning, place, options)
    else:
        frame, more = read_in_pieces(pieces, options, collected)
    return frame, (*notes, *more)


def names_as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose categorical columns, those of a large file, are text."""
    categorical = [name for name in frame.columns if frame[name].dtype == "category"]
    return frame.astype(dict.fromkeys(categorical, str)) if categorical else frame


def _separator_notes(path: Path, file: str, separator: str) -> list[Note]:
    """What is to be said of a separator that was found."""
    usual = "\t" if path.name.removesuffix(".gz").endswith((".tsv", ".txt", ".tab")) else ","
    if separator in (usual, ","):
        return []
    sign = shown_separator(separator)
    taken = f"{file} was read as separated by {SEPARATORS[separator]}s"
    text = f"{taken}; separator={sign!r} (--sep '{sign}') says so beforehand."
    return [Note(ScaleWarning, text)]


def _read_whole(content: bytearray, place: Place, options: TableOptions) -> tuple[pd.DataFrame, list[Note]]:
    """The quick parser where it is sure, else the strict one, which can also say where a cell stands."""
    table = parse_quickly(content, options.separator)
    if table is not None:
        try:
            return _frame([table], options)
        except ScoreFileError:
            del table
    tables = list(parse_strictly([(content, place)], options.separator, options.file))
    if not tables:
        raise ScoreFileError(f"{options.file} has a header but no rows.")
    return _frame(tables, options)


def _frame(tables: list[TextTable], options: TableOptions) -> tuple[pd.DataFrame, list[Note]]:
    """One frame of tables with the same columns."""
    import pyarrow as pa

    names = tables[0].names
    lines = None if tables[0].lines is None else array("q", chain.from_iterable(table.lines or () for table in tables))
    notes: list[Note] = []
    doubts: list[ScoreFileError] = []
    columns: list[pa.ChunkedArray] = []
    for place, name in enumerate(names):
        text = pa.chunked_array(chain.from_iterable(table.cells[place].chunks for table in tables), pa.string())
        found = Cells("text", without_apostrophes(text))
        if not options.holds_names(name):
            try:
                found = as_numbers(found.cells, name, options, lines)
            except ScoreFileError as error:
                if options.needs_numbers(name):
                    raise
                doubts.append(error)  # in a column that may be of no interest: it stays text
        if found.kind == "percent":
            notes.append(percent_note(len(found.cells) - found.cells.null_count, name, options.file))
        columns.append(found.cells)
    if doubts and not any(pa.types.is_floating(column.type) for column in columns):
        raise doubts[0]  # no column shows that the decimal sign is the right one
    frame: pd.DataFrame = pa.table(columns, names=list(names)).to_pandas()
    return frame, notes
