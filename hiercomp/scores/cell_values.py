"""Single cells of a table of scores, whatever they hold: whether a cell is filled, and which number it is."""

from __future__ import annotations

import re

import numpy as np

DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MISSING_TEXT = {"", "na", "nan", "n/a", "null", "none", "?"}
MISSING_TYPES = ("NoneType", "NAType", "NaTType")


def is_filled(cell: object) -> bool:
    """Whether a cell holds a name, a run or a fold: something that is text or can be written as it."""
    try:
        text = str(cell)
        text.encode()
        return bool(text.strip()) and bool(cell == cell) and type(cell).__name__ not in MISSING_TYPES
    except Exception:  # whatever a strange cell raises
        return False


def number_of_cell(cell: object) -> float | None:
    """The score in a cell: NaN where it is empty, None where it holds something else than a plain number."""
    if type(cell).__name__ in MISSING_TYPES:
        return np.nan
    if isinstance(cell, str):
        text = cell.strip(" \t")
        if text.casefold() in MISSING_TEXT:
            return np.nan
        return float(text) if DECIMAL.fullmatch(text) else None
    if isinstance(cell, (bool, np.bool_)):
        return None
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
