"""From a file of scores to differences: against pandas, which checks nothing and keeps no names as text."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measure import Context, Row, alternately, in_fresh_process
from hiercomp.exports import write_scores

START = """
import json, sys, time
import pandas as pd
import pyarrow, pyarrow.compute, pyarrow.csv, pyarrow.parquet
from hiercomp.differences import PairedDifferences
from hiercomp.score_files import read_score_file
path, = json.loads(sys.argv[1])
started = time.perf_counter()
"""
OURS = "PairedDifferences.from_table(read_score_file(path), 'algorithm_0', 'algorithm_1')"
PANDAS = "pd.read_csv(path)"
END = """
taken = time.perf_counter() - started
with open("/proc/self/status") as status:  # ru_maxrss would begin with what the parent has used
    peak = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
print(json.dumps([taken, peak]))
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
    peaks: dict[str, float] = {}

    def measured(code: str, name: str, path: Path) -> Any:
        def run() -> float:
            seconds, megabytes = in_fresh_process(START + code + END, str(path))
            peaks[f"MB, {name}"] = max(megabytes, peaks.get(f"MB, {name}", 0))
            return float(seconds)

        return run

    with tempfile.TemporaryDirectory() as folder:
        path = write_scores(scores, Path(folder, "scores.csv"))
        times = alternately(
            measured(OURS, "ours", path), measured(PANDAS, "pandas", path), max(context.repetitions, 3), warm=False
        )
    return [
        Row(
            "reading", f"file to PairedDifferences, {len(number):,} scores", "pandas.read_csv alone", "s", *times, peaks
        )
    ]
