"""Cells with a time limit: what hangs is stopped wherever it hangs, and everything else is as without a limit."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from hiercomp.crossval import cross_validate_all

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
CV = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1)
COLUMNS = ["dataset", "algorithm", "run", "fold", "score", "rho"]
FIRST = float(IRIS[0][next(CV.split(*IRIS))[0]].sum())  # of the training rows of the first cell


class Hangs(GaussianNB):
    """Naive Bayes that never ends, or dies, on one training set; notes its process."""

    def __init__(self, how: str = "", log: str = "") -> None:
        super().__init__()
        self.how, self.log = how, log

    def fit(self, X, y):
        with open(self.log, "a") as stream:
            stream.write(f"{os.getpid()}\n")
        if abs(X.sum() - FIRST) < 1e-6:
            if self.how == "sleep":
                time.sleep(1000)
            elif self.how == "search":  # in C, with Python's lock held
                re.match(r"(a*)*b", "a" * 60)
            elif self.how == "loop":
                while True:
                    with suppress(BaseException):  # no exception from outside ends it
                        time.sleep(0.01)
            elif self.how == "die":
                os._exit(9)
        return super().fit(X, y)


def run(estimators, tmp_path: Path, **options) -> pd.DataFrame:
    data = {"iris": IRIS, "wine": lambda: WINE}
    return cross_validate_all(estimators, data, **{"cv": CV, "progress": False} | options)


@pytest.fixture(scope="module")
def expected() -> pd.DataFrame:
    estimators = {"nb": GaussianNB(), "tree": DecisionTreeClassifier()}
    return cross_validate_all(estimators, {"iris": IRIS, "wine": WINE}, cv=CV, progress=False)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="asks for processes by signal 0, which is Ctrl-C there")
@pytest.mark.parametrize(
    ("how", "n_jobs", "words"),
    [
        ("sleep", 1, "took longer than 4 s"),
        ("search", 2, "took longer than 4 s"),
        ("loop", 2, "took longer than 4 s"),
        ("die", 1, "the process died: it ran out of memory or crashed"),
        ("die", 2, "the process died: it ran out of memory or crashed"),
    ],
)
def test_only_the_cell_that_hangs_or_dies_is_lost(tmp_path, expected, how, n_jobs, words):
    log = tmp_path / "log.txt"
    estimators = {"nb": Hangs(how, str(log)), "tree": DecisionTreeClassifier()}
    started = time.monotonic()
    with pytest.warns(hc.FailedCellsWarning, match=f"1 of 24 cells failed.*run 1, fold 1: {words}"):
        found = run(estimators, tmp_path, n_jobs=n_jobs, time_limit=4)
    assert time.monotonic() - started < 100
    assert found["error"].dropna().to_dict() == {0: words}
    pd.testing.assert_frame_equal(found[COLUMNS][1:], expected[COLUMNS][1:], check_exact=True)
    processes = set(map(int, log.read_text().split()))
    assert os.getpid() not in processes
    for process in processes:  # none is left
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.slow
def test_scores_are_the_same_with_a_limit_and_the_backend_does_not_matter(tmp_path, expected):
    estimators = {"nb": GaussianNB(), "tree": DecisionTreeClassifier()}
    with joblib.parallel_config(backend="threading", n_jobs=2):
        found = run(estimators, tmp_path, time_limit=60.5)
    pd.testing.assert_frame_equal(found[COLUMNS], expected[COLUMNS], check_exact=True)


@pytest.mark.slow
def test_cells_that_took_too_long_are_tried_again_with_another_limit_only(tmp_path):
    log = tmp_path / "log.txt"
    options = {"checkpoint": tmp_path / "run.sqlite"}
    estimators = {"hangs": Hangs("sleep", str(log))}

    def fits(limit: float | None) -> int:
        before = log.read_text().count("\n") if log.exists() else 0
        with pytest.warns(hc.FailedCellsWarning, match="1 of 12 cells failed"):
            run(estimators, tmp_path, time_limit=limit, **options)
        return log.read_text().count("\n") - before

    assert [fits(2), fits(2), fits(3)] == [12, 0, 1]
    with closing(sqlite3.connect(options["checkpoint"])) as connection:
        errors = connection.execute("SELECT error FROM cells WHERE error IS NOT NULL").fetchall()
    assert errors == [("took longer than 3 s",)]


class Unread:
    """Can be pickled, but not unpickled."""

    def __reduce__(self):
        return int, ("not a number",)


@pytest.mark.slow
def test_what_can_not_be_unpickled_there_is_an_error_of_its_cells(tmp_path):
    odd = pd.DataFrame(IRIS[0], columns=list("abcd")).assign(odd=[Unread() for _ in range(150)])
    with pytest.raises(hc.EngineError, match=r"All 3 cells failed.*ValueError: invalid literal"):
        cross_validate_all({"nb": GaussianNB()}, {"odd": (odd, IRIS[1])}, cv=3, time_limit=50, progress=False)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "600", True])
def test_a_wrong_limit_is_refused(tmp_path, limit):
    with pytest.raises(hc.ArgumentError, match="time_limit must be"):
        run({"nb": GaussianNB()}, tmp_path, time_limit=limit)


def test_a_cluster_can_not_keep_a_limit(tmp_path):
    with pytest.raises(hc.ArgumentError, match="time_limit can't be used on a Dask cluster"):
        run({"nb": GaussianNB()}, tmp_path, time_limit=5, dask="tcp://127.0.0.1:9")
