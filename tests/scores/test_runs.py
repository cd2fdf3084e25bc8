"""Sums of squares by runs, against matrices and against the analysis of variance of SciPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.runs import RunSums
from tests.conftest import simulated_scores


def covariance(sizes: list[int], within: float, across: float) -> np.ndarray:
    """(R1) with unit variance, for runs of some sizes."""
    run = np.repeat(np.arange(len(sizes)), sizes)
    same = run[:, None] == run
    return np.where(np.eye(len(run), dtype=bool), 1.0, np.where(same, within, across))


@pytest.mark.parametrize("sizes", [[10] * 10, [2] * 5, [5, 3, 4, 5], [3, 1, 2]])
def test_the_expected_mean_squares_are_those_of_the_eigenvalues(sizes):
    """E SSW and E SSB are traces; folds stands for k in (1 - w) + k (w - a), also where runs differ in size."""
    within, across = 0.03, 0.1
    matrix = covariance(sizes, within, across)
    n, r = len(matrix), len(sizes)
    run = np.repeat(np.arange(r), sizes)
    of_runs = (run[:, None] == run) / np.repeat(sizes, sizes)  # the projection on the means of runs
    of_all = np.full((n, n), 1 / n)
    sums = RunSums.of(np.arange(n) ** 1.5, np.array([n]), np.cumsum([0, *sizes[:-1]]))
    x = np.arange(n) ** 1.5
    assert sums.within[0] == pytest.approx(x @ (np.eye(n) - of_runs) @ x, rel=1e-12)
    assert sums.between[0] == pytest.approx(x @ (of_runs - of_all) @ x, rel=1e-12)
    assert np.trace((np.eye(n) - of_runs) @ matrix) / (n - r) == pytest.approx(1 - within)
    expected = (1 - within) + sums.folds[0] * (within - across)
    assert np.trace((of_runs - of_all) @ matrix) / (r - 1) == pytest.approx(expected)


def test_their_ratio_is_the_f_of_an_analysis_of_variance():
    x = np.random.default_rng(0).normal(size=(7, 4))
    sums = RunSums.of(x.ravel(), np.array([28]), np.arange(0, 28, 4))
    ratio = (sums.between / 6) / (sums.within / 21)
    assert ratio[0] == pytest.approx(stats.f_oneway(*x).statistic, rel=1e-12)


def test_runs_are_found_in_a_table_whatever_the_order_of_its_rows_and_with_folds_left_out():
    table = simulated_scores(6, centre=0, spread=0.01)
    given = PairedDifferences.from_table(table, "bayes", "tree")
    again = PairedDifferences.from_table(table.sample(frac=1, random_state=0), "bayes", "tree")
    assert given.runs is not None
    assert again.runs is not None
    assert given.runs.n_runs.tolist() == [3] * 6
    assert given.runs.folds.tolist() == [10.0] * 6
    np.testing.assert_array_equal(given.runs.between, again.runs.between)
    np.testing.assert_allclose(given.runs.within + given.runs.between, given.sum_of_squares, rtol=1e-12)
    first = table["dataset"].unique()[0]
    lost = (table["dataset"] == first) & (table["run"] == 1) & (table["fold"] == 2) & (table["algorithm"] == "tree")
    ragged = PairedDifferences.from_table(table[~lost], "bayes", "tree", missing="drop")
    assert ragged.runs is not None
    by_hand = wide(table[~lost], first)
    groups = [group.to_numpy() for _, group in by_hand.groupby("run")]
    squares = sum(((group - group.mean()) ** 2).sum() for group in groups)
    place = ragged.dataset_names.index(first)
    assert ragged.runs.within[place] == pytest.approx(squares, rel=1e-12)
    assert ragged.runs.folds[place] == pytest.approx((29 - (9**2 + 10**2 + 10**2) / 29) / 2)


def wide(table: pd.DataFrame, dataset: str) -> pd.Series:
    """Differences of a data set, by run and fold."""
    cells = (
        table[table["dataset"] == dataset].pivot(index=["run", "fold"], columns="algorithm", values="score").dropna()
    )
    return cells["tree"] - cells["bayes"]


def test_without_runs_there_are_no_sums():
    table = simulated_scores(3, 1, centre=0, spread=0.01).drop(columns="run")
    assert PairedDifferences.from_table(table, "bayes", "tree").runs is None
    assert PairedDifferences.from_arrays(np.eye(3), np.ones((3, 3)), rho=0.1).runs is None


def test_those_of_a_subset_are_those_of_its_data_sets():
    given = PairedDifferences.from_table(simulated_scores(4, 2, centre=0, spread=0.01), "bayes", "tree")
    some = given.subset([given.dataset_names[2], given.dataset_names[0]])
    assert given.runs is not None
    assert some.runs is not None
    np.testing.assert_array_equal(some.runs.between, given.runs.between[[2, 0]])
