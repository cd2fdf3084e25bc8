"""From a file of scores to differences: against pandas, which checks nothing and keeps no names as text."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import Context, Row, alternately, in_fresh_process
from hiercomp.files.write import write_scores

START = """
import json, sys, time
import pandas as pd
import pyarrow, pyarrow.compute, pyarrow.csv, pyarrow.parquet
from hiercomp.scores.differences import PairedDifferences
from hiercomp.files.table import read_score_file
from benchmarks.measure import peak_megabytes
path, = json.loads(sys.argv[1])
started = time.perf_counter()
"""
LARGE = "read_score_file(path)"
OURS = "PairedDifferences.from_table(read_score_file(path), 'algorithm_0', 'algorithm_1')"
PANDAS = "pd.read_csv(path)"
END = """
taken = time.perf_counter() - started
print(json.dumps([taken, peak_megabytes()]))
"""


def reading(context: Context) -> list[Row]:
    """A CSV file of many scores, read, checked and paired in a fresh process; its peak memory too."""
    datasets, algorithms, folds = context.size((1000, 5, 100), (20, 3, 10))
    number = np.arange(datasets * algorithms * folds)
    scores = pd.DataFrame(
        {
            "dataset": [f"dataset_{place}" for place in number // (algorithms * folds)],
            "algorithm": [f"algorithm_{place}" for place in number // folds % algorithms],
            "run": number // 10 % (folds // 10) + 1,
            "fold": number % 10 + 1,
            "score": np.random.default_rng(0).random(len(number)),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = write_scores(scores, Path(folder, "scores.csv"))
        peaks: dict[str, float] = {}
        times = alternately(
            _measured(OURS, path, "ours", peaks),
            _measured(PANDAS, path, "pandas", peaks),
            max(context.repetitions, 3),
            warm=False,
        )
    what = f"file to PairedDifferences, {len(number):,} scores"
    return [Row("reading", what, "pandas.read_csv alone", "s", *times, peaks)]


def large_reading(context: Context) -> list[Row]:
    """A CSV file that is read in parts, and one of a hundred million rows, about 2 GB."""
    rows, all_rows = context.size((10_000_000, 100_000_000), (2_000_000, 2_000_000))
    peaks: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = _written(Path(folder, "scores.csv"), rows)
        times = alternately(
            _measured(LARGE, path, "ours", peaks), _measured(PANDAS, path, "pandas", peaks), 1, warm=False
        )
        path = _written(path, all_rows)
        for code, what in ((LARGE, "read"), (OURS, "read and compared")):
            seconds = _measured(code, path, f"{all_rows:,} rows {what}", peaks)()
            peaks[f"s, {all_rows:,} rows {what}"] = seconds
    return [Row("large_reading", f"a file of {rows:,} rows in pieces", "pandas.read_csv", "s", *times, peaks)]


def _measured(code: str, path: Path, name: str, peaks: dict[str, float]) -> Callable[[], float]:
    """Seconds of some code in a fresh process, whose peak memory is noted under a name."""

    def run() -> float:
        seconds, megabytes = in_fresh_process(START + code + END, str(path))
        peaks[f"MB, {name}"] = max(megabytes, peaks.get(f"MB, {name}", 0))
        return float(seconds)

    return run


def _written(path: Path, rows: int) -> Path:
    """A file of two algorithms with 100 runs of 10 folds on as many data sets as make that many rows."""
    generator = np.random.default_rng(0)
    places = [f",{run},{fold},0." for run in range(1, 101) for fold in range(1, 11)]
    with path.open("w") as stream:
        stream.write("dataset,algorithm,run,fold,score\n")
        for number in range(rows // 2000):
            for algorithm in ("algorithm_0", "algorithm_1"):
                scores = generator.integers(5000, 10_000, len(places))
                start = f"d{number},{algorithm}"
                stream.write("".join(f"{start}{place}{score}\n" for place, score in zip(places, scores, strict=True)))
    return path
