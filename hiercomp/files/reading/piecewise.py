"""Text tables read piece by piece, into columns of numbers and of names that are kept once: for files of any size."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.errors import Note, ScoreFileError
from hiercomp.files.reading.decoding import BEGINNING, Place
from hiercomp.files.reading.number_columns import (
    Cells,
    Kind,
    TableOptions,
    as_numbers,
    as_numbers_in_any_notation,
    percent_note,
    refuse_other_percents,
)
from hiercomp.files.reading.strict_tables import parse_strictly
from hiercomp.files.reading.text_tables import TextTable, parse_quickly, without_apostrophes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

PIECE = 32 << 20  # bytes held as text at a time; a file of no more is read whole

Pieces = Iterable[tuple[bytearray, Place]]


@dataclass
class _Column:
    """A column as far as it has been read."""

    name: str
    kind: Kind | None = None  # None before its first cells
    chunks: list[pa.Array] = field(default_factory=list)
    filled: int = 0
    refused: bool = False  # whether an error of it was collected

    def extend(self, kind: Kind, cells: pa.ChunkedArray) -> bool:
        """Add cells; False where they show that a column taken for numbers is text."""
        if (kind == "text") != (self.kind == "text") and self.kind is not None:
            return False
        if self.kind in (None, "empty") or (self.kind == "whole" and kind == "number"):
            self.kind = kind
        self.filled += 0 if kind == "empty" else len(cells) - cells.null_count
        self.chunks += _compact(kind, cells)
        return True

    def combined(self) -> pa.ChunkedArray:
        """All cells, of one type; the column is empty after it."""
        import pyarrow as pa

        chunks, self.chunks = self.chunks, []
        if self.kind == "text":
            return pa.chunked_array(chunks).unify_dictionaries()
        types = {chunk.type for chunk in chunks}
        common = pa.float64() if pa.float64() in types else pa.int64() if pa.int64() in types else pa.int32()
        return pa.chunked_array([chunk.cast(common) for chunk in chunks])


@dataclass(frozen=True)
class _Part:
    """A part of a table, and the text that it was read from."""

    table: TextTable
    names: tuple[str, ...] | None  # those given to the parser, None where the text begins with them
    content: bytearray
    place: Place

    def with_lines(self, options: TableOptions) -> Iterator[TextTable]:
        """The same cells with the lines in which they stand."""
        if self.table.lines is not None:
            return iter([self.table])
        return parse_strictly([(self.content, self.place)], options.separator, options.file, self.names)


def raw_parts(blocks: Iterable[bytes], size: int) -> Iterator[bytearray]:
    """Blocks joined to parts of at least ``size`` bytes; the last may be shorter."""
    part = bytearray()
    for block in blocks:
        part += block
        if len(part) >= size:
            yield part
            part = bytearray()
    if part:
        yield part


def whole_lines(parts: Pieces, file: str, longest: int) -> Iterator[tuple[bytearray, Place]]:
    """The same text cut behind line ends.

    Raises
    ------
    ScoreFileError
        If a line is longer than ``longest`` bytes.
    """
    rest, begin = bytearray(), BEGINNING
    for content, place in parts:
        begin = begin if rest else place
        rest += content
        end = rest.rfind(b"\n") + 1 or rest.rfind(b"\r", 0, len(rest) - 1) + 1  # a line feed may follow the last
        if end:
            piece, rest = rest[:end], rest[end:]
            yield piece, begin
            begin = begin.after(piece)
        if len(rest) > longest:
            raise ScoreFileError(
                f"{file}, line {begin.line}: goes on for more than {longest >> 20} MB; is it a table of scores?"
            )
    if rest:
        yield rest, begin


def read_in_pieces(
    opened: Callable[[], Pieces], options: TableOptions, collected: list[ScoreFileError] | None = None
) -> tuple[pd.DataFrame, list[Note]]:
    """The frame of a table that is read piece by piece.

    Whole numbers take 4 or 8 bytes a cell, other numbers 8, and text, which is categorical, 4 and each different text
    once. The text of a piece takes some five times its size meanwhile.

    Parameters
    ----------
    opened : callable
        Gives the pieces of the file, whole lines of UTF-8, from the beginning. It is called again where a column that
        was taken for numbers turns out to be text.
    options : TableOptions
    collected : list of ScoreFileError, optional
        Errors are added to it, and the rest of the table is read, instead of raised.

    Returns
    -------
    frame : DataFrame
    notes : list of Note

    Raises
    ------
    ScoreFileError
        As for `hiercomp.files.reading.score_files.read_score_file`.
    """
    import pyarrow as pa

    doubts: list[ScoreFileError] = []
    text: frozenset[str] = frozenset()
    while True:
        if collected is not None:
            collected.clear()
        columns, contradicted = _columns(opened(), replace(options, names=options.names | text), doubts, collected)
        if contradicted is None:
            break
        text |= {contradicted}
    if doubts and not any(column.kind in ("number", "percent") for column in columns):
        if collected is None:
            raise doubts[0]  # no column shows that the decimal sign is the right one
        collected.append(doubts[0])
    notes = [percent_note(column.filled, column.name, options.file) for column in columns if column.kind == "percent"]
    names = [column.name for column in columns]
    table = pa.table([column.combined() for column in columns], names=names)
    frame: pd.DataFrame = table.to_pandas(self_destruct=True, split_blocks=True)
    return frame, notes


def _columns(
    pieces: Pieces, options: TableOptions, doubts: list[ScoreFileError], collected: list[ScoreFileError] | None
) -> tuple[list[_Column], str | None]:
    """The columns of a table, or the first that was taken for numbers and is text."""
    columns: list[_Column] = []
    for part in _parts(iter(pieces), options, collected):
        columns = columns or [_Column(name) for name in part.table.names]
        for place, column in enumerate(columns):
            cells = without_apostrophes(part.table.cells[place])
            if column.kind == "text" or options.holds_names(column.name):
                column.extend("text", cells)
                continue
            try:
                found = _numbers(part, place, column, cells, options)
            except ScoreFileError as error:
                needed = options.needs_numbers(column.name)
                if needed and collected is None:
                    raise
                if not needed:  # a column that may be of no interest: it stays text
                    doubts.append(error)
                    return columns, column.name
                if collected is not None and not column.refused:
                    collected.append(error)
                column.refused = True
                found = as_numbers_in_any_notation(cells)
            if not column.extend(found.kind, found.cells):
                return columns, column.name
    if not columns:
        raise ScoreFileError(f"{options.file} has a header but no rows.")
    return columns, next((column.name for column in columns if column.kind == "empty"), None)


def _parts(
    pieces: Iterator[tuple[bytearray, Place]], options: TableOptions, collected: list[ScoreFileError] | None
) -> Iterator[_Part]:
    """The table piece by piece; from the first piece on in which something is odd, strictly."""
    names = None
    for content, place in pieces:
        table = parse_quickly(content, options.separator, names)
        if table is None:
            rest = chain([(content, place)], pieces)
            for strict in parse_strictly(rest, options.separator, options.file, names, collected):
                yield _Part(strict, names, bytearray(), place)
            return
        yield _Part(table, names, content, place)
        names = table.names


def _numbers(part: _Part, place: int, column: _Column, cells: pa.ChunkedArray, options: TableOptions) -> Cells:
    """The cells of a part of a column as numbers, where they are; what is refused names its line."""
    try:
        return _judged(column, cells, options, part.table.lines)
    except ScoreFileError:
        for table in part.with_lines(options):
            _judged(column, without_apostrophes(table.cells[place]), options, table.lines)
        raise


def _judged(column: _Column, cells: pa.ChunkedArray, options: TableOptions, lines: array[int] | None) -> Cells:
    found = as_numbers(cells, column.name, options, lines)
    kinds = {column.kind, found.kind}
    if "percent" in kinds and kinds & {"whole", "number"}:  # some parts of the column have percent signs
        refuse_other_percents(cells, column.name, options, lines, wanted=column.kind == "percent")
    return found


def _compact(kind: Kind, cells: pa.ChunkedArray) -> list[pa.Array]:
    """Cells in no more memory than they need."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "empty":
        return [pa.nulls(len(cells), pa.float64())]
    if kind == "text":
        return list(cells.dictionary_encode().chunks)
    if kind == "whole":
        limits = pc.min_max(cells).as_py()
        if max(-limits["min"], limits["max"]) <= np.iinfo(np.int32).max:
            cells = cells.cast(pa.int32())
    return list(cells.chunks)
