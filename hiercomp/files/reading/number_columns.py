"""Columns of numbers in text tables: recognised, refused where they are written otherwise than asked for, converted."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from hiercomp.errors import Note, ScaleWarning, ScoreFileError
from hiercomp.files.reading.separators import shown_separator
from hiercomp.scores.table import MISSING_TEXT, is_name_column, is_number_column
from hiercomp.wording import counted, shown

if TYPE_CHECKING:
    import pyarrow as pa

# Kinds of cells; a column becomes numbers only if all its filled cells are of the kind asked for. [.] is the decimal sign
NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
PERCENT = " ?%"
WHOLE = "[+-]?[0-9]{1,15}"  # more digits than this are no exact float, and stay text
LONG = "[+-]?[0-9]{16,}"
EMPTY = "(?i)({})".format("|".join(re.escape(word) for word in sorted(MISSING_TEXT)))

Kind = Literal["empty", "text", "whole", "number", "percent"]


@dataclass(frozen=True)
class TableOptions:
    """How the cells of a table are read."""

    file: str  # its name, for messages
    separator: str
    decimal: str
    percent: bool
    names: frozenset[str]  # columns that hold names, besides those with a usual name
    numbers: frozenset[str] = frozenset()  # and those that hold runs, folds or scores

    def holds_names(self, column: str) -> bool:
        """Whether a column stays text."""
        return is_name_column(column) or column in self.names

    def needs_numbers(self, column: str) -> bool:
        """Whether a column of numbers that are not written as asked for makes the table useless."""
        return is_number_column(column) or column in self.numbers


@dataclass(frozen=True)
class Cells:
    """Cells of a column and what they are: int64 if "whole", float64 if "number" or "percent", else text."""

    kind: Kind
    cells: pa.ChunkedArray


def as_numbers(cells: pa.ChunkedArray, name: str, options: TableOptions, lines: array[int] | None = None) -> Cells:
    """Numbers, null where empty, if every filled cell is a plain number; else the text for the table check to judge.

    Parameters
    ----------
    cells : ChunkedArray of string
    name : str
        Of the column.
    options : TableOptions
    lines : array of int, optional
        The line of the file in which each row begins.

    Raises
    ------
    ScoreFileError
        If the cells are numbers, but not all of them are written as the options say.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.utf8_trim(cells, " \t")
    if _all_match(filled, WHOLE):
        return Cells("whole", pc.cast(pc.utf8_ltrim(filled, "+"), pa.int64()))
    filled = _null_where_empty(filled)
    if filled.null_count == len(filled):
        return Cells("empty", cells)
    if not _all_match(filled, f"{NUMBER}({PERCENT})?".replace("[.]", "[.,]")):
        return Cells("text", cells)
    if pc.any(pc.match_substring_regex(filled, f"^{LONG}$")).as_py():
        return Cells("text", cells)  # such as the number of a task: as a float it could be taken for another
    number = NUMBER.replace("[.]", f"[{options.decimal}]")
    kind: Kind = "number"
    if options.percent and _all_match(filled, number + PERCENT):
        # moving the exponent rounds once, dividing would round twice
        filled, kind = pc.replace_substring_regex(filled, f"{PERCENT}$", "e-2"), "percent"
        if not _all_match(filled, number):
            raise ScoreFileError(
                f"{options.file}, column {shown(name)!r}: percent signs after an exponent. Write plain numbers."
            )
    elif not _all_match(filled, number):
        _refuse_cell(filled, number + PERCENT if options.percent else number, name, options, lines)
    if options.decimal == ",":
        filled = pc.replace_substring(filled, ",", ".")
    return Cells(kind, _floats(filled))


def as_numbers_in_any_notation(cells: pa.ChunkedArray) -> Cells:
    """Numbers of which some have a decimal comma or a percent sign, to look at what they would be; else text."""
    import pyarrow.compute as pc

    plain = pc.replace_substring(_null_where_empty(pc.utf8_trim(cells, " \t")), ",", ".")
    plain = pc.replace_substring_regex(plain, f"{PERCENT}$", "e-2")
    if not _all_match(plain, NUMBER):
        return Cells("text", cells)
    return Cells("number", _floats(plain)) if plain.null_count < len(plain) else Cells("empty", cells)


def refuse_other_percents(
    cells: pa.ChunkedArray, name: str, options: TableOptions, lines: array[int] | None, *, wanted: bool
) -> None:
    """Refuse the first number without (``wanted``) or with a percent sign, where others of the column are otherwise.

    Raises
    ------
    ScoreFileError
    """
    import pyarrow.compute as pc

    number = NUMBER.replace("[.]", f"[{options.decimal}]")
    filled = _null_where_empty(pc.utf8_trim(cells, " \t"))
    _refuse_cell(filled, number + PERCENT if wanted else number, name, options, lines)


def percent_note(count: int, name: str, file: str) -> Note:
    """What is to be said of a column that was divided by 100."""
    return Note(
        ScaleWarning,
        f"{counted(count, 'cell')} of column {shown(name)!r} in {file} divided by 100, for the percent signs.",
    )


def _floats(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Plain numbers with a decimal point as float64."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:  # a plus sign, or beyond the range of a float
        numbers = [None if cell is None else float(cell) for cell in cells.to_pylist()]
        return pa.chunked_array([pa.array(numbers, pa.float64())])


def _all_match(cells: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every cell that is not null matches as a whole."""
    import pyarrow.compute as pc

    return pc.all(pc.match_substring_regex(cells, f"^({pattern})$")).as_py() is not False


def _null_where_empty(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    empty = pc.match_substring_regex(cells, f"^{EMPTY}$")
    return pc.if_else(empty, pa.scalar(None, pa.string()), cells)


def _refuse_cell(
    cells: pa.ChunkedArray, pattern: str, name: str, options: TableOptions, lines: array[int] | None
) -> None:
    """Refuse a column of numbers by its first cell that does not match."""
    import pyarrow.compute as pc

    matches = pc.fill_null(pc.match_substring_regex(cells, f"^({pattern})$"), True).to_numpy()
    row = int(np.flatnonzero(~matches)[0])
    cell = cells[row].as_py()
    if "," in cell and options.decimal == ".":
        sign = shown_separator(options.separator)
        sep, python = ("", "") if sign == "," else (f"--sep '{sign}' ", f"separator={sign!r}, ")
        remedy = f"If the comma is the decimal sign, pass {sep}--decimal ',' ({python}decimal=','); if not, remove it."
    elif "." in cell and options.decimal == ",":
        remedy = "It has a decimal point where decimal=',' (--decimal ',') was asked for."
    elif "%" in cell and not options.percent:
        remedy = "Pass percent=True (--percent) to divide such cells by 100, or remove the percent signs."
    else:
        remedy = "Some cells of the column have percent signs and others have none: write all of them in the same way."
    line = "" if lines is None else f", line {lines[row]}"
    raise ScoreFileError(f"{options.file}{line}, column {shown(name)!r}: {cell[:40]!r} is not a plain number. {remedy}")
