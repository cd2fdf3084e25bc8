"""Odd tables for scripts/fuzz.py: a sound table, and steps that each spoil it in one way.

A case is a recipe of plain data, so hypothesis can shrink it and its repr is the whole of it.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
from hypothesis import strategies as st

NAMES = ["iris", "wine", "a", "b", "NA", "nan", "001", "1", "1e5", "", " ", "é", "e\u0301", "日本", "=1+1", "'=x",
         "a\nb", "\x1b[31m", "\u202e", "\ud800", "x" * 300, "<script>", "$\\frac{1}{$", "\0", "\ufeff", "A",
         "a "]  # fmt: skip
CELLS = ["", "NA", "NaN", "inf", "-inf", "1e999", "-0", "+.5", "5.", "0x10", "1_0", "−0.1", "0.5\u00a0", "０.５",
         "91%", "0,91", "1,234.5", "true", "1e-400", "1e-200", "1e308", "9" * 40, "1" * 400, "=1+1", '"', "'", ";",
         "\t", "|", "\0", "\r"]  # fmt: skip
OBJECTS = [None, float("nan"), float("inf"), -1.5, 10**400, True, b"bytes", [1], {}, (), 1 + 2j,
           decimal.Decimal("0.5"), decimal.Decimal("NaN"), datetime.date(2024, 1, 2), np.float32(0.1),
           np.bool_(True), pd.NA, pd.NaT, object(), "0.5", np.datetime64("NaT"), np.array([1, 2]), pd.Series([1, 2]),
           float, 0, 1e308, 1e-200, 5e-324, decimal.Decimal("sNaN"), 10**5000]  # fmt: skip
HEADERS = ["dataset", "algorithm", "run", "fold", "score", "Dataset", "task", "Key_Scheme", "model", "rho",
           "accuracy", "", "score ", "scores", "note", "a\nb", "\x1b[2J", "\ud800"]  # fmt: skip
OPTIONS = {
    "rope": [0, 0.1, (-0.1, 0.2), 5, -1, float("nan"), "x", None],
    "rho": [0, 0.1, 1, -0.5, float("nan"), {"d0": 0.1}, "x", True],
    "missing": ["drop", "drop", "drop", "drop", "other", None],
    "columns": [{"score": "fold"}, {"dataset": "x"}, {"y": "x"}, {}, [], {"score": 3}, {"fold": "run", "run": "fold"}],
    "higher_is_better": [False, False, 1, "x", None],
    "priors": [None, "kruschke"],
    "transform": ["log", "log", "x", None],
}
SIDES = [{}] * 6 + [{"left": "a", "right": "b"}] * 3
SIDES += [{"left": "b"}, {"left": "a", "right": "a"}, {"right": "c"}, {"left": 1}]


def object_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """The same cells without a type of their own."""
    columns = {place: frame.iloc[:, place].astype(object) for place in range(frame.shape[1])}
    return pd.DataFrame(columns).set_axis(frame.columns, axis=1)


def cells(frame: pd.DataFrame, place: int, rows: list[int], value: Any) -> pd.DataFrame:
    """Some cells of a column replaced."""
    frame = object_columns(frame)
    column = frame.iloc[:, place % frame.shape[1]].tolist()
    for row in rows:
        column[row % len(column)] = value
    frame.isetitem(place % frame.shape[1], pd.Series(column, index=frame.index, dtype=object))
    return frame


def named(frame: pd.DataFrame, place: int, value: Any) -> pd.DataFrame:
    """Another value wherever a column has that of its first row."""
    place %= frame.shape[1]
    first = frame.iloc[0, place]
    return cells(frame, place, [row for row, cell in enumerate(frame.iloc[:, place]) if cell == first], value)


KINDS: dict[str, Callable[[pd.Series, int], Any]] = {
    "categories": lambda column, size: pd.Categorical(column.astype(str)),
    "nothing": lambda column, size: pd.array([None] * size, "Int64"),
    "Int64": lambda column, size: pd.array(np.arange(size) % 3, "Int64"),
    "Float64": lambda column, size: pd.array(np.arange(size) / 7 % 1, "Float64"),
    "float32": lambda column, size: (np.arange(size) / 7 % 1).astype(np.float32),
    "float16": lambda column, size: (np.arange(size) / 7 % 1).astype(np.float16),
    "huge": lambda column, size: np.arange(size) / 7 % 1 * 1e308 * 10,
    "nearly huge": lambda column, size: (-1.0) ** np.arange(size) * 1.7e308,
    "zeros": lambda column, size: np.zeros(size),
    "nan": lambda column, size: np.full(size, np.nan),
    "booleans": lambda column, size: np.arange(size) % 2 == 0,
    "complex": lambda column, size: np.arange(size) + 1j,
    "dates": lambda column, size: pd.date_range("2024-01-01", periods=size),
    "durations": lambda column, size: pd.to_timedelta(np.arange(size), "s"),
    "None": lambda column, size: np.array([None] * size, dtype=object),
    "lists": lambda column, size: pd.Series([[1]] * size, dtype=object),
    "bytes": lambda column, size: pd.Series([b"x"] * size, dtype=object),
    "uint64": lambda column, size: np.arange(size, dtype=np.uint64) + np.uint64(2**63),
    "sparse": lambda column, size: pd.arrays.SparseArray(np.zeros(size)),
    "intervals": lambda column, size: pd.interval_range(0, size),
    "periods": lambda column, size: pd.period_range("2024", periods=size, freq="D"),
    "string": lambda column, size: pd.array(column.astype(str), "string"),
    "arrow": lambda column, size: pd.array(column.tolist(), pd.ArrowDtype(pa.float64())),
}


def whole_column(frame: pd.DataFrame, place: int, kind: str) -> pd.DataFrame:
    """One column of another type."""
    changed, place = frame.copy(), place % frame.shape[1]
    values = pd.Series(KINDS[kind](frame.iloc[:, place], len(frame)))
    changed.isetitem(place, values.set_axis(frame.index))
    return changed


INDEXES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "two columns": lambda frame: frame.set_index(list(frame.columns[:2])),
    "one column": lambda frame: frame.set_index(frame.columns[0]),
    "equal": lambda frame: frame.set_axis([0] * len(frame)),
    "named": lambda frame: frame.rename_axis("dataset"),
    "levels": lambda frame: frame.set_axis(pd.MultiIndex.from_tuples([("x", str(c)) for c in frame.columns]), axis=1),
    "numbers": lambda frame: frame.set_axis(range(frame.shape[1]), axis=1),
    "turned": lambda frame: frame.T,
    "no columns": lambda frame: frame.iloc[:, :0],
    "backwards": lambda frame: frame.iloc[::-1],
    "twice": lambda frame: pd.concat([frame, frame.iloc[:2]]),
}


def renamed(frame: pd.DataFrame, changes: list[tuple[int, Any]]) -> pd.DataFrame:
    """Columns of other names."""
    names = list(frame.columns)
    for place, name in changes:
        names[place % len(names)] = name
    return frame.set_axis(names, axis=1)


TABLE_STEPS: dict[str, Callable[..., pd.DataFrame]] = {
    "cells": cells,
    "named": named,
    "whole_column": whole_column,
    "index": lambda frame, kind: INDEXES[kind](frame),
    "renamed": renamed,
    "order": lambda frame, seed: frame.sample(frac=1, random_state=seed),
    "without_rows": lambda frame, rows: frame.drop(index=frame.index[sorted({row % len(frame) for row in rows})]),
    "first_rows": lambda frame, count: frame.iloc[:count],
    "without_column": lambda frame, place: frame.iloc[:, np.arange(frame.shape[1]) != place % frame.shape[1]],
    "rho": lambda frame, value: frame.assign(rho=value),
}
WRAPPERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "dict": dict,
    "array": lambda frame: frame.to_numpy(),
    "None": lambda frame: None,
    "number": lambda frame: 5,
    "path": lambda frame: "scores.csv",
    "series": lambda frame: frame.iloc[:, :1].squeeze(),
    "polars": polars.from_pandas,
    "arrow": pa.Table.from_pandas,
}


@dataclass(frozen=True)
class Plain:
    """A table without fault; the scores, in thousandths, come again and again."""

    datasets: int
    runs: int
    folds: int
    scores: tuple[int, ...]

    def frame(self) -> pd.DataFrame:
        """Data sets d0, d1, ..., and algorithms a and b."""
        sizes = (range(self.datasets), "ab", range(self.runs), range(self.folds))
        rows = [(f"d{d}", a, r, f) for d in sizes[0] for a in sizes[1] for r in sizes[2] for f in sizes[3]]
        frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "run", "fold"])
        return frame.assign(score=np.resize(self.scores, len(frame)) / 1000)


@dataclass(frozen=True)
class TableCase:
    """A table with steps that spoil it, and options of the comparison."""

    plain: Plain
    steps: tuple[tuple[Any, ...], ...]
    wrapper: str | None
    options: dict[str, Any]

    def table(self) -> Any:
        """What is compared; a step that pandas itself refuses is left out."""
        frame = self.plain.frame()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, *arguments in self.steps:
                with contextlib.suppress(Exception):
                    frame = TABLE_STEPS[name](frame, *arguments)
            with contextlib.suppress(Exception):
                return WRAPPERS[self.wrapper](frame) if self.wrapper else frame
        return frame

    def shown(self) -> str:
        """The table, as far as pandas can write it."""
        with contextlib.suppress(Exception):
            table = self.table()
            return f"{table.to_string(max_colwidth=30, max_rows=20)}\n{[str(kind) for kind in table.dtypes]}"
        return ""


def options_of(values: dict[str, list[Any]], most: int) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly none, at most some."""
    pairs = [(name, value) for name, choices in values.items() for value in choices]
    return st.just({}) | st.lists(st.sampled_from(pairs), max_size=most).map(dict)


def step(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """A step and what it takes; places are drawn without regard to the size, and taken modulo it."""
    return st.tuples(st.just(name), *arguments)


# Hypothesis fills up what its mutations cut off with the first choices, so these are the sound or the likely ones
PLACES = st.integers(0, 99)
COLUMNS = st.sampled_from([4, 0, 1, 2, 3])
ROWS = st.lists(PLACES, min_size=1, max_size=3)
PLAINS = st.builds(
    Plain,
    st.sampled_from([3, 2, 5, 5, 1]),
    st.integers(1, 2),
    st.sampled_from([3, 2, 5, 5, 1]),
    st.lists(st.integers(0, 1000), min_size=1, max_size=13).map(tuple),
)
TABLES = st.builds(
    TableCase,
    PLAINS,
    st.lists(
        st.one_of(
            step("order", PLACES),
            step("named", COLUMNS, st.sampled_from(NAMES)) | step("named", COLUMNS, st.sampled_from(OBJECTS)),
            step("cells", COLUMNS, ROWS, st.sampled_from(CELLS + NAMES)),
            step("cells", COLUMNS, ROWS, st.sampled_from(OBJECTS)),
            step("cells", st.just(4), ROWS, st.sampled_from(OBJECTS)),
            step("whole_column", PLACES, st.sampled_from(list(KINDS))),
            step("index", st.sampled_from(list(INDEXES))),
            step("renamed", st.lists(st.tuples(PLACES, st.sampled_from(HEADERS)), min_size=1, max_size=3)),
            step("renamed", st.lists(st.tuples(PLACES, st.sampled_from(OBJECTS[:7])), min_size=1, max_size=2)),
            step("without_rows", ROWS),
            step("first_rows", st.sampled_from([0, 1, 2, -1, -2])),
            step("without_column", PLACES),
            step("rho", st.sampled_from([0.1, 1.5, "x", None, float("nan")])),
        ),
        max_size=3,
    ).map(tuple),
    st.sampled_from([None] * 50 + list(WRAPPERS)),
    st.builds(dict.__or__, st.sampled_from(SIDES), options_of(OPTIONS, 2)),
)
