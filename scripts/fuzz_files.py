"""Damaged files for scripts/fuzz.py: a sound file, and steps that each damage it in one way."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fuzz_tables import CELLS, NAMES, PLACES, PLAINS, options_of, step
from hypothesis import strategies as st

SAMPLES = Path(__file__).parents[1] / "tests" / "data" / "importers"


def flip(content: bytes, changes: list[tuple[int, int]]) -> bytes:
    """Bits turned over."""
    changed = bytearray(content)
    for place, bit in changes if content else []:
        changed[place % len(changed)] ^= 1 << bit
    return bytes(changed)


def insert(content: bytes, places: list[int], piece: bytes) -> bytes:
    for place in sorted((place % (len(content) + 1) for place in places), reverse=True):
        content = content[:place] + piece + content[place:]
    return content


def lines(content: bytes, changes: list[tuple[str, int, int]]) -> bytes:
    """Lines left out, written twice, cut or swapped."""
    found = content.splitlines(keepends=True)
    for action, row, other in changes:
        if not found:
            break
        row, to = row % len(found), other % len(found)
        if action == "drop":
            del found[row]
        elif action == "again":
            found.insert(to, found[row])
        elif action == "cut":
            found[row] = found[row][: other % (len(found[row]) + 1)] + b"\n"
        else:
            found[row], found[to] = found[to], found[row]
    return b"".join(found)


def file_cells(content: bytes, separator: bytes, changes: list[tuple[str, int, int, str]]) -> bytes:
    """Cells left out, written twice or replaced."""
    found = content.split(b"\n")
    for action, row, place, text in changes:
        row %= len(found)
        split = found[row].split(separator)
        place %= len(split)
        if action == "drop":
            del split[place]
        elif action == "again":
            split.insert(place, split[place])
        else:
            split[place] = text.encode("utf-8", "surrogatepass")
        found[row] = separator.join(split)
    return b"\n".join(found)


FILE_STEPS: dict[str, Callable[..., bytes]] = {
    "flip": flip,
    "insert": insert,
    "lines": lines,
    "cells": file_cells,
    "first_bytes": lambda content, place: content[: place % (len(content) + 1)],
    "last_bytes": lambda content, place: content[place % (len(content) + 1) :],
    "replace": lambda content, old, new: content.replace(old, new),
    "again": lambda content: content + content,
    "recode": lambda content, encoding: content.decode("utf-8", "replace").encode(encoding, "replace"),
}
PIECES = [b'"', b'""', b"'", b"\\", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1b[0m", b"\xef\xbb\xbf",
          b"\xff\xfe", b"\xfe\xff", b"\n", b"\r", b"\r\n", b" ", b"\xc2\xa0", b"\x0c", b"\xe2\x80\xa8", b"{", b"}",
          b"[", b"]", b":", b"%", b"@data\n", b"@attribute x numeric\n", b"?", b"null", b"1e999", b"-", b"9" * 5000,
          b"[" * 3000]  # fmt: skip
REPLACED = [(b",", b";"), (b",", b"\t"), (b",", b"|"), (b",", b" "), (b",", b",,"), (b".", b","), (b"\n", b"\r"),
            (b"\n", b"\r\n"), (b"\n", b"\n\n"), (b"0.", b"."), (b"0", b"1"), (b'"', b"")]  # fmt: skip
BYTES = st.integers(0, 8191)
BYTE_STEPS = [
    step("flip", st.lists(st.tuples(BYTES, st.integers(0, 7)), min_size=1, max_size=4)),
    step(
        "lines",
        st.lists(st.tuples(st.sampled_from(["drop", "again", "cut", "swap"]), PLACES, PLACES), min_size=1, max_size=3),
    ),
    step("insert", st.lists(BYTES, min_size=1, max_size=4), st.sampled_from(PIECES)),
    step(
        "insert", st.just([0]), st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\n", b"%", b"\x1f\x8b"])
    ),
    step("first_bytes", BYTES) | step("last_bytes", BYTES) | step("again"),
]
TEXT_STEPS = [
    step(
        "cells",
        st.sampled_from([b",", b",", b";", b"\t"]),
        st.lists(
            st.tuples(st.sampled_from(["put", "put", "drop", "again"]), PLACES, PLACES, st.sampled_from(CELLS + NAMES)),
            min_size=1,
            max_size=3,
        ),
    ),
    st.sampled_from(REPLACED).map(lambda pair: ("replace", *pair)),
    step("recode", st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "latin-1", "utf-32", "utf-8-sig", "cp037"])),
]
FILE_OPTIONS = {
    "encoding": ["latin-1", "utf-8", "utf-16", "utf-16-le", "cp1252", "utf-7", "ascii", "x", 3, "rot13"],
    "separator": [",", ";", "tab", "|", " ", ":", "", "ab", 3, '"', "."],
    "decimal": [",", ",", ";", None],
    "percent": [True, True, 1, "x"],
    "format": ["tidy", "wide", "weka", "mlr3", "tidymodels", "mlflow", "lm_eval", "sklearn", "amlb", "x", None, 3],
    "score": ["fold", "x", "", 3, "=1"],
    "algorithm": ["run", ["dataset", "fold"], "{algorithm}_x", "=one", [], {"a": 1}],
    "fold": ["Fold{fold}@id", "{stem}", "fold", 3, True],
    "where": [{"dataset": "iris"}, {"x": 1}, {}, [], 3],
    "folds": [2, 5, 0, "x"],
    "also": ["*", "x", 3],
    "measure": ["Percent_correct", "classif.ce", "accuracy", "acc", "x", 3],
    "dataset": ["iris", "=iris", "dataset", "{stem}", "", 3],
    "fraction": [True, "x"],
    "rho": [0.1, 1, "x"],
}


@cache
def sample(name: str) -> bytes:
    """A file of another tool that the tests keep."""
    return (SAMPLES / name).read_bytes()


@dataclass(frozen=True)
class FileCase:
    """A file, from its start through steps that damage it, and options for reading it."""

    name: str
    start: Any  # bytes of a sample are read where needed, so the repr stays short
    steps: tuple[tuple[Any, ...], ...]
    packed: str  # "", or whether gzip came "before" or "after" the steps
    options: dict[str, Any]

    def content(self) -> bytes:
        """The bytes to write."""
        content = self._sound()
        if self.packed == "before":
            content = gzip.compress(content, mtime=0)
        for name, *arguments in self.steps:
            content = FILE_STEPS[name](content, *arguments)
        return gzip.compress(content, mtime=0) if self.packed == "after" else content

    def shown(self) -> str:
        """The beginning of the file."""
        return f"{self.name}: {self.content()[:2000]!r}"

    def _sound(self) -> bytes:
        if isinstance(self.start, str):
            return sample(self.start)
        plain, layout = self.start
        if layout == "parquet":
            stream = io.BytesIO()
            plain.frame().to_parquet(stream)
            return stream.getvalue()
        separator, quoting, encoding = layout
        return plain.frame().to_csv(index=False, sep=separator, quoting=quoting).encode(encoding)


@st.composite
def files(draw: st.DrawFn) -> FileCase:
    """CSV, gzip, Parquet and files of other tools, with 0 to 4 steps."""
    kind = draw(st.sampled_from(["csv", "csv", "parquet", "sample", "sample", "sample"]))
    if kind == "sample":
        start = draw(st.sampled_from(sorted(str(p.relative_to(SAMPLES)) for p in SAMPLES.rglob("*") if p.is_file())))
        name = Path(start).name
    elif kind == "parquet":
        start, name = (draw(PLAINS), "parquet"), "scores.parquet"
    else:
        encodings = st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
        layout = draw(st.tuples(st.sampled_from([",", ",", ";", "\t", "|"]), st.integers(0, 2), encodings))
        start, name = (draw(PLAINS), layout), "scores.csv"
    packed = draw(st.sampled_from([""] * 8 + ["before", "after"]))
    steps = draw(st.lists(st.one_of(BYTE_STEPS + TEXT_STEPS + TEXT_STEPS[:1]), max_size=4).map(tuple))
    suffix = ".gz" if packed else draw(st.sampled_from([""] * 20 + [".parquet", ".gz", ".tsv", ".\u202e"]))
    return FileCase(name + suffix, start, steps, packed, draw(options_of(FILE_OPTIONS, 2)))
