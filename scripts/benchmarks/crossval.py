"""Cross-validation against scikit-learn's own."""

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
from benchmarks.measure import Context, Row, alternately, processor_seconds


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
