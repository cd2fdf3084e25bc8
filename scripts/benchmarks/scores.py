"""Getting scores: cross-validation against scikit-learn's own, and reading a large table."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from benchmarks.measure import Context, Row, alternately, in_fresh_process, processor_seconds

READING = """
import json, resource, sys, time
[path, left, right] = json.loads(sys.argv[1])
import pandas, pyarrow.csv, scipy.stats
import hiercomp as hc
from hiercomp.score_files import read_score_file
started = time.perf_counter()
differences = hc.PairedDifferences.from_table(read_score_file(path), left, right)
spent = time.perf_counter() - started
print(json.dumps([spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(differences.n)]))
"""
PARSING = """
import json, sys, time
[path, left, right] = json.loads(sys.argv[1])
import pandas
started = time.perf_counter()
pandas.read_csv(path)
print(json.dumps([time.perf_counter() - started]))
"""


def crossval(context: Context) -> list[Row]:
    """The same cells by `cross_validate_all` and by scikit-learn in a loop, in one process."""
    X, y = make_classification(600, 20, random_state=0)
    estimators = {
        "forest": RandomForestClassifier(10, random_state=0),
        "tree": DecisionTreeClassifier(random_state=0),
    }
    repeats = context.size(10, 1)
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=0)
    cells = 10 * repeats * len(estimators)

    def plain() -> None:
        for estimator in estimators.values():
            cross_validate(estimator, X, y, cv=cv, scoring="accuracy")

    rows = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = iter(range(1000))

        def kept() -> None:
            _run(checkpoint=Path(folder) / f"{next(numbers)}.sqlite")

        def _run(**options: object) -> None:
            hc.cross_validate_all(estimators, {"made": (X, y)}, cv=cv, progress=False, **options)  # type: ignore[arg-type]

        for measured, function in (("cross_validate_all", _run), ("cross_validate_all with a checkpoint", kept)):
            times = alternately(processor_seconds(function), processor_seconds(plain), 2 * context.repetitions)
            row = Row("crossval", measured, "scikit-learn's cross_validate in a loop", "s of CPU", *times)
            details = {"cells": cells, "ms for a cell": 1000 * row.other_median / cells, "overhead": 1 / row.ratio - 1}
            rows.append(replace(row, details=details))
    return rows


def reading(context: Context) -> list[Row]:
    """A table of 500,000 scores, from CSV to paired differences, against pandas' reading of the file alone."""
    datasets, algorithms, folds = context.size((1000, 5, 100), (20, 3, 10))
    memory: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        _write_table(path, datasets, algorithms, folds)

        def ours() -> float:
            spent, megabytes, found = in_fresh_process(READING, str(path), "a0", "a1")
            assert found == datasets
            memory.append(megabytes)
            return float(spent)

        def pandas_alone() -> float:
            return float(in_fresh_process(PARSING, str(path), "a0", "a1")[0])

        times = alternately(ours, pandas_alone, context.repetitions)
    details = {"rows": datasets * algorithms * folds, "MB at the peak": max(memory)}
    return [Row("reading", "CSV to paired differences", "pandas.read_csv alone", "s", *times, details)]


def _write_table(path: Path, datasets: int, algorithms: int, folds: int) -> None:
    import numpy as np
    import pandas as pd

    index = pd.MultiIndex.from_product(
        [[f"d{i}" for i in range(datasets)], [f"a{i}" for i in range(algorithms)], range(1, folds + 1)],
        names=["dataset", "algorithm", "cell"],
    )
    frame = index.to_frame(index=False)
    frame = frame.assign(run=1 + (frame["cell"] - 1) // 10, fold=1 + (frame["cell"] - 1) % 10).drop(columns="cell")
    scores = np.random.default_rng(0).normal(0.8, 0.03, len(frame)).round(6)
    frame.assign(score=scores).to_csv(path, index=False)
