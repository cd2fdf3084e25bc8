"""Two things measured alternately in the same run, and the row that comes of it."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Context:
    """What a run of the benchmark is asked for.

    Attributes
    ----------
    small : bool
        Sizes at which everything runs in a minute, to see that it works.
    scores : Path or None
        The table of one comparison; the bundled KEEL scores where None.
    left, right : str
        Its algorithms.
    rivals : frozenset of str
        Other packages to measure.
    repetitions : int
        Of each of the two things of a row; 1 at the small size.
    """

    small: bool
    scores: Path | None
    left: str
    right: str
    rivals: frozenset[str]
    repetitions: int

    def size(self, usual: Any, small: Any) -> Any:
        """One of two sizes."""
        return small if self.small else usual


@dataclass(frozen=True)
class Row:
    """Two things measured alternately.

    Attributes
    ----------
    name : str
        Of the group of rows, as ``--rows`` takes it.
    measured, against : str
        The two things, in words.
    unit : str
        What was measured: "s", "ms for each effective draw".
    values, others : tuple of float
        Measurements of the first and of the second, in the order in which they alternated.
    details : mapping from str to number or str
        What else was measured or is to be known.
    """

    name: str
    measured: str
    against: str
    unit: str
    values: tuple[float, ...]
    others: tuple[float, ...]
    details: Mapping[str, float | int | str] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """Of the first."""
        return statistics.median(self.values)

    @property
    def other_median(self) -> float:
        """Of the second."""
        return statistics.median(self.others)

    @property
    def ratio(self) -> float:
        """Median of the second over that of the first: how many times as much the second takes."""
        return self.other_median / self.median

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "name": self.name,
            "measured": self.measured,
            "against": self.against,
            "unit": self.unit,
            "median": self.median,
            "other_median": self.other_median,
            "ratio": self.ratio,
            "repetitions": len(self.values),
            "values": list(self.values),
            "others": list(self.others),
            "details": dict(self.details),
        }


def alternately(
    first: Callable[[], float], second: Callable[[], float], repetitions: int, *, warm: bool = True
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Measurements A B A B ..., after one of each that does not count."""
    if warm:
        first()
        second()
    pairs = [(first(), second()) for _ in range(repetitions)]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def seconds(function: Callable[[], Any]) -> Callable[[], float]:
    """A function that runs another and says how long it took."""

    def run() -> float:
        started = time.perf_counter()
        function()
        return time.perf_counter() - started

    return run


def processor_seconds(function: Callable[[], Any]) -> Callable[[], float]:
    """The same in seconds of this process's work, for small differences on a machine that has other things to do."""

    def run() -> float:
        started = time.process_time()
        function()
        return time.process_time() - started

    return run


def in_fresh_process(code: str, *arguments: object) -> Any:
    """What a program printed as JSON on its last line, run in a process of its own."""
    scripts = Path(__file__).resolve().parent.parent
    said = completed([sys.executable, "-c", code, json.dumps(arguments)], scripts)
    return json.loads(said.splitlines()[-1])


def completed(command: list[str], folder: Path | None = None) -> str:
    """What a program printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"A process of the benchmark ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def peak_megabytes() -> float:
    """The largest resident memory of this process so far, on Linux; ``ru_maxrss`` would begin with what the parent used."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
