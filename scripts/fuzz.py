"""Thousands of odd tables and damaged files: each is taken or refused by an error of hiercomp's own, and in time.

python scripts/fuzz.py --tables 10000 --files 10000 --seed 0
python scripts/fuzz.py --only files:123 --seed 0 --keep case    # one case again, its file kept as case.csv or the like
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import decimal
import faulthandler
import gzip
import io
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hiercomp.errors import HiercompError, HiercompWarning
from hiercomp.hierarchical import HierarchicalComparison
from hiercomp.importers import read_scores

SAMPLES = Path(__file__).parents[1] / "tests" / "data" / "importers"
SECONDS = 10.0  # a case that takes longer hangs
NAMES = ["iris", "wine", "a", "b", "NA", "nan", "001", "1", "1e5", "", " ", "é", "e\u0301", "日本", "=1+1", "'=x", "a\nb",
         "\x1b[31m", "\u202e", "\ud800", "x" * 300, "<script>", "$\\frac{1}{$", "\0", "\ufeff", "A", "a "]  # fmt: skip
CELLS = ["", "NA", "NaN", "inf", "-inf", "1e999", "-0", "+.5", "5.", "0x10", "1_0", "−0.1", "0.5\u00a0", "０.５", "91%",
         "0,91", "1,234.5", "true", "1e-400", "9" * 40, "1" * 400, "=1+1", '"', "'", ";", "\t", "|", "\0", "\r"]  # fmt: skip
OBJECTS = [None, float("nan"), float("inf"), -1.5, 10**400, True, b"bytes", [1], {}, (), 1 + 2j, decimal.Decimal("0.5"),
           decimal.Decimal("NaN"), datetime.date(2024, 1, 2), np.float32(0.1), np.bool_(True), pd.NA, pd.NaT, object(),
           "0.5", np.datetime64("NaT"), np.array([1, 2]), float, 0]  # fmt: skip
OPTIONS = {
    "rope": [0, 0.1, (-0.1, 0.2), 5, -1, float("nan"), "x", None],
    "rho": [0, 0.1, 1, -0.5, float("nan"), {"d0": 0.1}, "x", True],
    "missing": ["drop", "other"],
    "columns": [{"score": "fold"}, {"dataset": "x"}, {"y": "x"}, {}, [], {"score": 3}],
}
HEADERS = ["dataset", "algorithm", "run", "fold", "score", "Dataset", "task", "Key_Scheme", "model", "rho", "accuracy", "",
           "score ", "scores", "note"]  # fmt: skip


class HangError(BaseException):
    """A case took too long; no Exception, so that nothing on the way takes it for its own."""


@dataclass
class Tally:
    """What became of the cases."""

    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {name}" for name, count in self.refused.most_common())
        return f"{self.accepted} accepted, {self.refused.total()} refused ({kinds}), {len(self.failures)} failed"


def tried(name: str, case: Callable[[], object], tally: Tally) -> None:
    """Run one case; anything but success or a HiercompError, warnings of others included, is a failure."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", HiercompWarning)
            case()
        tally.accepted += 1
    except HiercompError as error:
        tally.refused[type(error).__name__] += 1
        if "\n" in str(error) or not str(error).isprintable():
            tally.failures.append(f"{name}: the message is not one line of printable text: {str(error)[:300]!r}")
    except (Exception, HangError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = next((frame for frame in reversed(frames) if "hiercomp" in Path(frame.filename).parts), frames[-1])
        place = f"{Path(ours.filename).name}:{ours.lineno}"
        tally.failures.append(f"{name}: {place}: {type(error).__name__}: {str(error)[:200]}")
    if time.perf_counter() - start > SECONDS:
        tally.failures.append(f"{name}: took {time.perf_counter() - start:.0f} s")


def generated_table(generator: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """A table of scores with some oddities, and odd options of a comparison."""
    frame = _plain_table(generator)
    for _ in range(generator.choice([0, 1, 1, 1, 2, 3])):
        if isinstance(frame.columns, pd.MultiIndex) or frame.shape[1] == 0:
            break
        with contextlib.suppress(Exception):  # pandas itself refuses some oddities of odd tables
            frame = TABLE_ODDITIES[generator.integers(len(TABLE_ODDITIES))](frame, generator)
    options: dict[str, Any] = {}
    if generator.random() < 0.6:
        options |= {"left": "a", "right": "b"}
    if generator.random() < 0.4:
        options["missing"] = "drop"
    for name, values in OPTIONS.items():
        if generator.random() < 0.1:
            options[name] = _one(generator, values)
    if generator.random() < 0.05:
        return _one(
            generator, [dict(frame), frame.to_numpy(), None, 5, "scores.csv", frame.iloc[:, :1].squeeze()]
        ), options
    return frame, options


def mutated_file(generator: np.random.Generator, samples: list[tuple[str, bytes]]) -> tuple[str, bytes, dict[str, Any]]:
    """The name and bytes of a damaged file, and options for reading it."""
    kind = generator.choice(
        ["csv", "csv", "gz", "parquet", "sample", "sample", "sample"] if samples else ["csv", "gz", "parquet"]
    )
    if kind == "sample":
        name, content = samples[generator.integers(len(samples))]
    elif kind == "parquet":
        stream = io.BytesIO()
        _plain_table(generator).to_parquet(stream)
        name, content = "scores.parquet", stream.getvalue()
    else:
        separator = _one(generator, [",", ",", ";", "\t", "|"])
        text = _plain_table(generator).to_csv(index=False, sep=separator, quoting=_one(generator, [0, 1, 2]))
        name, content = (
            "scores.csv",
            text.encode(_one(generator, ["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le"])),
        )
    inside = kind == "gz" and generator.random() < 0.5
    if kind == "gz" and not inside:
        name, content = "scores.csv.gz", gzip.compress(content)
    for _ in range(generator.choice([0, 1, 1, 2, 4])):
        content = FILE_ODDITIES[generator.integers(len(FILE_ODDITIES))](content, generator)
    if inside:
        name, content = "scores.csv.gz", gzip.compress(content)
    options: dict[str, Any] = {}
    if generator.random() < 0.15:
        options["encoding"] = _one(generator, ["latin-1", "utf-8", "utf-16", "utf-16-le", "cp1252", "utf-7", "ascii"])
    if generator.random() < 0.15:
        options["separator"] = _one(generator, [",", ";", "tab", "|", " ", ":"])
    if generator.random() < 0.15:
        options["decimal"] = ","
    return name, content, options


def sample_files() -> list[tuple[str, bytes]]:
    """Files of other tools that the tests keep."""
    return [(path.name, path.read_bytes()) for path in sorted(SAMPLES.rglob("*")) if path.is_file()]


def try_table(seed: int, number: int, tally: Tally) -> None:
    """Compare the algorithms of one odd table, up to the fit."""
    table, options = generated_table(np.random.default_rng((seed, 0, number)))
    tried(f"tables:{number}", lambda: HierarchicalComparison(table, **options), tally)


def try_file(seed: int, number: int, tally: Tally, samples: list[tuple[str, bytes]], folder: Path) -> Path:
    """Read one damaged file."""
    name, content, options = mutated_file(np.random.default_rng((seed, 1, number)), samples)
    path = folder / name
    path.write_bytes(content)
    tried(f"files:{number}", lambda: read_scores(path, **options), tally)
    return path


def _one(generator: np.random.Generator, values: list[Any]) -> Any:
    return values[generator.integers(len(values))]


def _plain_table(generator: np.random.Generator) -> pd.DataFrame:
    """A table without fault."""
    datasets, runs, folds = (
        _one(generator, [1, 2, 3, 3, 5, 5]),
        generator.integers(1, 3),
        _one(generator, [1, 2, 3, 5, 5, 5]),
    )
    rows = [(f"d{d}", a, r, f) for d in range(datasets) for a in "ab" for r in range(runs) for f in range(folds)]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "run", "fold"])
    return frame.assign(score=generator.random(len(frame)).round(3))


def _object(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({place: frame.iloc[:, place].astype(object) for place in range(frame.shape[1])}).set_axis(
        frame.columns, axis=1
    )


def _odd_cells(values: list[Any]) -> Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]:
    def change(frame: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
        frame = _object(frame)
        place = generator.integers(frame.shape[1])
        for row in generator.integers(len(frame), size=generator.choice([1, 3])) if len(frame) else []:
            column = frame.iloc[:, place].tolist()
            column[row] = _one(generator, values)
            frame.isetitem(place, pd.Series(column, index=frame.index, dtype=object))
        return frame

    return change


def _whole_column(frame: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """One column of another type."""
    place, size = generator.integers(frame.shape[1]), len(frame)
    kinds: list[Callable[[], Any]] = [
        lambda: pd.Categorical(frame.iloc[:, place].astype(str)),
        lambda: pd.array([None] * size, "Int64"),
        lambda: pd.array(generator.integers(0, 3, size), "Int64"),
        lambda: pd.array(generator.random(size), "Float64"),
        lambda: generator.random(size).astype(np.float32),
        lambda: generator.random(size) * 1e308 * 10,
        lambda: np.zeros(size),
        lambda: np.full(size, np.nan),
        lambda: generator.integers(0, 2, size).astype(bool),
        lambda: generator.random(size) + 1j,
        lambda: pd.date_range("2024-01-01", periods=size),
        lambda: pd.to_timedelta(np.arange(size), "s"),
        lambda: np.array([None] * size, dtype=object),
        lambda: pd.Series([[1]] * size, dtype=object),
        lambda: pd.Series([b"x"] * size, dtype=object),
        lambda: np.arange(size, dtype=np.uint64) + np.uint64(2**63),
        lambda: pd.arrays.SparseArray(np.zeros(size)),
        lambda: pd.interval_range(0, size),
        lambda: pd.period_range("2024", periods=size, freq="D"),
    ]
    changed = frame.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed.isetitem(place, pd.Series(_one(generator, kinds)(), index=frame.index))
    return changed


def _odd_index(frame: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    kinds: list[Callable[[], pd.DataFrame]] = [
        lambda: frame.set_index(list(frame.columns[:2])),
        lambda: frame.set_index(frame.columns[0]),
        lambda: frame.set_axis([0] * len(frame)),
        lambda: frame.rename_axis("dataset"),
        lambda: frame.set_axis(pd.MultiIndex.from_tuples([("x", str(name)) for name in frame.columns]), axis=1),
        lambda: frame.set_axis(range(frame.shape[1]), axis=1),
        lambda: frame.T,
        lambda: frame.iloc[:, :0],
    ]
    return _one(generator, kinds)()


TABLE_ODDITIES: list[Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]] = [
    _odd_cells(NAMES),
    _odd_cells(CELLS),
    _odd_cells(OBJECTS),
    _whole_column,
    _odd_index,
    lambda frame, generator: frame.iloc[generator.permutation(len(frame))],
    lambda frame, generator: frame.iloc[generator.random(len(frame)) < 0.8],
    lambda frame, generator: pd.concat([frame, frame.iloc[:2]]),
    lambda frame, generator: frame.iloc[: _one(generator, [0, 1, 2, -1, -2])],
    lambda frame, generator: frame.iloc[:, np.arange(frame.shape[1]) != generator.integers(frame.shape[1])],
    lambda frame, generator: frame.set_axis([_one(generator, [name, *HEADERS]) for name in frame.columns], axis=1),
    lambda frame, generator: frame.set_axis([_one(generator, [name, *OBJECTS[:7]]) for name in frame.columns], axis=1),
    lambda frame, generator: frame.assign(rho=_one(generator, [0.1, 1.5, "x", None, float("nan")])),
]


def _places(content: bytes, generator: np.random.Generator, most: int = 4) -> list[int]:
    return sorted(generator.integers(len(content) + 1, size=generator.integers(1, most + 1)).tolist())


def _flip(content: bytes, generator: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for place in _places(content, generator) if content else []:
        changed[place % len(changed)] ^= 1 << int(generator.integers(8))
    return bytes(changed)


def _insert(pieces: list[bytes]) -> Callable[[bytes, np.random.Generator], bytes]:
    def change(content: bytes, generator: np.random.Generator) -> bytes:
        for place in reversed(_places(content, generator)):
            content = content[:place] + _one(generator, pieces) + content[place:]
        return content

    return change


def _lines(content: bytes, generator: np.random.Generator) -> bytes:
    """Rows left out, written twice, cut or swapped."""
    lines = content.splitlines(keepends=True)
    for _ in range(generator.integers(1, 4)):
        if not lines:
            break
        row, other = generator.integers(len(lines), size=2)
        action = generator.integers(4)
        if action == 0:
            del lines[row]
        elif action == 1:
            lines.insert(other, lines[row])
        elif action == 2:
            lines[row] = lines[row][: generator.integers(len(lines[row]) + 1)] + b"\n"
        else:
            lines[row], lines[other] = lines[other], lines[row]
    return b"".join(lines)


def _cells(content: bytes, generator: np.random.Generator) -> bytes:
    """Cells left out, written twice or replaced."""
    separator = _one(generator, [b",", b",", b";", b"\t"])
    lines = content.split(b"\n")
    for row in generator.integers(len(lines), size=3):
        cells = lines[row].split(separator)
        place, action = generator.integers(len(cells)), generator.integers(3)
        if action == 0:
            del cells[place]
        elif action == 1:
            cells.insert(place, cells[place])
        else:
            cells[place] = _one(generator, CELLS + NAMES).encode("utf-8", "surrogatepass")
        lines[row] = separator.join(cells)
    return b"\n".join(lines)


FILE_ODDITIES: list[Callable[[bytes, np.random.Generator], bytes]] = [
    _flip,
    _flip,
    _lines,
    _lines,
    _cells,
    _cells,
    _insert([b'"', b'""', b"'", b"\\"]),
    _insert([b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1b[0m"]),
    _insert([b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"]),
    _insert([b"\n", b"\r", b"\r\n", b" ", b"\xc2\xa0", b"\x0c", b"\xe2\x80\xa8"]),
    _insert([b"{", b"}", b"[", b"]", b":", b"%", b"@data\n", b"@attribute x numeric\n", b"?", b"null", b"1e999", b"-"]),
    lambda content, generator: content[: _places(content, generator)[0]],
    lambda content, generator: content[_places(content, generator)[0] :],
    lambda content, generator: content.replace(b",", _one(generator, [b";", b"\t", b"|", b" ", b",,"])),
    lambda content, generator: content.replace(b".", b","),
    lambda content, generator: content.replace(b"\n", _one(generator, [b"\r", b"\r\n", b"\n\n"])),
    lambda content, generator: content + content,
    lambda content, generator: content.decode("utf-8", "replace").encode("utf-16"),
]


def main() -> int:
    """Run the cases asked for, print what became of them, and fail if any did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one case, such as files:123")
    parser.add_argument("--keep", type=Path, help="where the file of that case is kept, without its suffix")
    arguments = parser.parse_args()
    kind, _, number = (arguments.only or "").partition(":")
    tables = range(arguments.tables) if not kind else [int(number)] if kind == "tables" else []
    files = range(arguments.files) if not kind else [int(number)] if kind == "files" else []

    def hang(*_: object) -> None:
        raise HangError(f"more than {SECONDS:g} s")

    signal.signal(signal.SIGALRM, hang)
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        samples = sample_files()
        for name, numbers in (("tables", tables), ("files", files)):
            tally = Tally()
            for case in numbers:
                signal.setitimer(signal.ITIMER_REAL, SECONDS)
                faulthandler.dump_traceback_later(6 * SECONDS, exit=True)  # where no signal is heard
                if name == "tables":
                    try_table(arguments.seed, case, tally)
                else:
                    path = try_file(arguments.seed, case, tally, samples, Path(folder))
                    if arguments.keep:
                        arguments.keep.with_suffix("".join(path.suffixes)).write_bytes(path.read_bytes())
                signal.setitimer(signal.ITIMER_REAL, 0)
                faulthandler.cancel_dump_traceback_later()
            print(f"{len(numbers)} {name}: {tally}")
            failures += tally.failures
    for text in failures[:50]:
        print(text.encode("ascii", "backslashreplace").decode())
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
