"""Warnings of estimators: counted the same in every kind of worker, said once, never lost."""

from __future__ import annotations

import threading
import warnings

import joblib
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import hiercomp as hc
from hiercomp.crossval import cross_validate_all
from hiercomp.crossval.caught import caught_warnings

IRIS = load_iris(return_X_y=True)


class Warns(GaussianNB):
    """Warns three times, in two ways, and in two that Python hides."""

    def fit(self, X, y):
        for number in range(2):
            warnings.warn(f"user {number}", UserWarning, stacklevel=1)
        warnings.warn("future\nof all", FutureWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        warnings.warn("open", ResourceWarning, stacklevel=1)
        return super().fit(X, y)


ESTIMATORS = {"lr": LogisticRegression(max_iter=2), "nb": GaussianNB(), "warns": Warns()}


def run(estimators=ESTIMATORS, **options) -> pd.DataFrame:
    return cross_validate_all(estimators, {"iris": IRIS}, cv=5, progress=False, **options)


@pytest.mark.parametrize(
    ("backend", "n_jobs"), [("loky", 1), ("threading", 2), pytest.param("loky", 2, marks=pytest.mark.slow)]
)
def test_warnings_are_counted_in_every_cell_and_said_in_one_line(backend, n_jobs):
    with (
        joblib.parallel_config(backend=backend, n_jobs=n_jobs),
        pytest.warns(hc.EstimatorWarning) as caught,
    ):
        table = run()
    counts = table.groupby("algorithm")["warnings"].agg(["min", "max"]).to_dict("index")
    assert counts == {"lr": {"min": 1, "max": 1}, "nb": {"min": 0, "max": 0}, "warns": {"min": 3, "max": 3}}
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 3  # and nothing from the estimators themselves
    assert texts[0].startswith(
        "ConvergenceWarning in 5 cells of 'lr' (the first, data set 'iris', estimator 'lr', run 1, fold 1: lbfgs failed"
    )
    assert texts[1].startswith("UserWarning in 5 cells of 'warns' (")
    assert texts[1].endswith("fold 1: user 0).")
    assert texts[2].endswith("fold 1: future of all).")


def test_there_is_no_column_without_warnings():
    assert "warnings" not in run({"nb": GaussianNB()}).columns


def test_warnings_come_back_from_a_checkpoint(tmp_path):
    for _ in range(2):
        with pytest.warns(hc.EstimatorWarning, match="ConvergenceWarning in 5 cells of 'lr'.*lbfgs failed"):
            table = run({"lr": ESTIMATORS["lr"]}, checkpoint=tmp_path / "run.sqlite")
        assert table["warnings"].tolist() == [1] * 5


class WarnsAndFails(Warns):
    """Fails after its warnings."""

    def fit(self, X, y):
        super().fit(X, y)
        raise RuntimeError("no")


def test_a_failed_cell_keeps_its_warnings():
    with pytest.warns(hc.HiercompWarning) as caught:
        table = run({"fails": WarnsAndFails(), "nb": GaussianNB()})
    assert {type(warning.message) for warning in caught} == {hc.EstimatorWarning, hc.FailedCellsWarning}
    assert table.groupby("algorithm")["warnings"].sum().to_dict() == {"fails": 15, "nb": 0}


def test_filters_make_no_difference_and_are_restored():
    for action in ("ignore", "error", "once"):
        with warnings.catch_warnings():
            warnings.simplefilter(action, ConvergenceWarning)
            warnings.simplefilter("ignore", hc.EstimatorWarning)
            before = list(warnings.filters), warnings.showwarning
            assert run({"lr": ESTIMATORS["lr"]})["warnings"].tolist() == [1] * 5
            assert (list(warnings.filters), warnings.showwarning) == before


def test_threads_count_their_own():
    counts: list[dict[str, tuple[int, str]]] = [{}, {}]
    both = threading.Barrier(2)

    def warn(place: int) -> None:
        with caught_warnings(counts[place]):
            both.wait(10)
            for number in range(place + 1):
                warnings.warn(f"{place} {number}", UserWarning, stacklevel=1)
            both.wait(10)

    before = list(warnings.filters), warnings.showwarning
    threads = [threading.Thread(target=warn, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert counts == [{"UserWarning": (1, "0 0")}, {"UserWarning": (2, "1 0")}]
    assert (list(warnings.filters), warnings.showwarning) == before
