"""Correlations within and across runs: against dense matrices, generalised least squares and integration by quadrature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import hiercomp as hc
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.runs import RunSums
from hiercomp.scores.two_level import _pooled, equivalent, learnt_within
from tests.conftest import simulated_scores
from tests.posterior.test_correlation import correlated_scores
from tests.scores.test_runs import covariance


def random_designs(count: int, seed: int) -> list[tuple[list[int], float, float]]:
    """Sizes of runs, equal and unequal, with two correlations that they can have."""
    generator = np.random.default_rng(seed)
    designs: list[tuple[list[int], float, float]] = []
    while len(designs) < count:
        sizes = generator.integers(1, 12, size=generator.integers(1, 8)).tolist()
        if generator.random() < 0.5:
            sizes = [max(sizes)] * len(sizes)
        within, across = generator.uniform(0, 0.9, size=2)
        if sum(sizes) > 1 and all((1 - within) / k + within > across for k in sizes):
            designs.append((sizes, within, across))
    return designs


def dense_form(matrix: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """x' M^-1 x and log det M by elimination in extended precision, as double precision errs more than the closed form."""
    rows = np.column_stack([matrix, x]).astype(np.longdouble)
    form = log_determinant = np.longdouble(0)
    for k in range(len(matrix)):
        form += rows[k, -1] ** 2 / rows[k, k]
        log_determinant += np.log(rows[k, k])
        rows[k + 1 :] -= np.outer(rows[k + 1 :, k] / rows[k, k], rows[k])
    return float(form), float(log_determinant)


def test_the_equivalent_likelihood_is_that_of_the_dense_matrix():
    """The quadratic form, for several means delta, and the determinant."""
    generator = np.random.default_rng(1)
    for sizes, within, across in random_designs(400, seed=0):
        matrix = covariance(sizes, within, across)
        n, x = len(matrix), generator.normal(0.3, 1, len(matrix))
        starts, one = np.cumsum([0, *sizes[:-1]]), np.ones(1)
        mean, squares, rho, ratio = (
            values[0] for values in equivalent(x, ["a"], np.array([n]), starts, within * one, across * one)
        )
        assert 0 <= rho < 1
        for delta in (-1.0, 0.2, 3.0):
            dense, log_determinant = dense_form(matrix, x - delta)
            found = squares / (1 - rho) + n * (mean - delta) ** 2 / (1 + (n - 1) * rho)
            assert found == pytest.approx(dense, rel=1e-12)
        taken = np.log1p((n - 1) * rho) + (n - 1) * np.log1p(-rho)
        assert taken + ratio == pytest.approx(log_determinant, rel=1e-12, abs=1e-12)


def test_the_correlated_t_test_is_generalised_least_squares():
    table = correlated_scores(5, 4, 6, 0.05, 0.2, seed=3)
    table = table[~((table["dataset"] == "d01") & (table["run"] == 2) & (table["fold"] > 3))]  # a shorter run
    differences = PairedDifferences.from_table(table, "left", "right", rho=hc.Correlation(0.05, 0.2))
    found = hc.correlated_t_test(differences, rope=0.01)
    for i, name in enumerate(differences.dataset_names):
        cells = table[(table["dataset"] == name) & (table["algorithm"] == "right")]
        sizes = cells.groupby("run").size().tolist()
        inverse, x = np.linalg.inv(covariance(sizes, 0.05, 0.2)), cells["score"].to_numpy() - 0.5
        one = np.ones(len(x))
        mean = (one @ inverse @ x) / (one @ inverse @ one)
        error = np.sqrt((x - mean) @ inverse @ (x - mean) / (len(x) - 1) / (one @ inverse @ one))
        expected = stats.t.sf(0.01, len(x) - 1, mean, error)
        assert found.p_right[i] == pytest.approx(expected, rel=1e-10)


def test_equal_correlations_change_no_bit():
    table = simulated_scores(8, centre=0.01, spread=0.01)
    plain = PairedDifferences.from_table(table, "bayes", "tree", rho=0.1)
    two = PairedDifferences.from_table(table, "bayes", "tree", rho=hc.Correlation(0.1, 0.1))
    for name in ("mean", "sum_of_squares", "rho", "n"):
        np.testing.assert_array_equal(getattr(two, name), getattr(plain, name))
    first, second = (
        hc.compare(table, "bayes", "tree", rope=0.01, rho=rho, engine="quadrature")
        for rho in (0.1, hc.Correlation(0.1, 0.1))
    )
    assert first.next_dataset == second.next_dataset
    assert first.log_marginal_likelihood == second.log_marginal_likelihood


def test_a_single_run_has_the_correlation_within_runs():
    table = simulated_scores(6, 1, centre=0, spread=0.01)
    two = PairedDifferences.from_table(table, "bayes", "tree", rho=hc.Correlation(0.05, 0.1))
    plain = PairedDifferences.from_table(table, "bayes", "tree", rho=0.05)
    np.testing.assert_allclose(two.rho, plain.rho, rtol=1e-12)
    np.testing.assert_allclose(two.sum_of_squares, plain.sum_of_squares, rtol=1e-12)


def test_the_pooled_ratio_is_the_posterior_mean_by_simpsons_rule_on_finer_nodes():
    """Mean and deviation of log R over the data sets, and each log R, integrated in turn."""
    ratio, between, within = np.array([0.2, 0.9, 0.4]), np.array([4.0, 9.0, 2.0]), np.array([45.0, 40.0, 20.0])
    log_ratio, centre, deviation = np.linspace(-12, 8, 1001), np.linspace(-5, 3, 81), np.linspace(0.05, 3, 60)
    likelihood = [
        stats.f.pdf(one / np.exp(log_ratio), d1, d2) * np.exp(-log_ratio)
        for one, d1, d2 in zip(ratio, between, within, strict=True)
    ]
    evidence, moment = np.empty((len(deviation), len(centre))), np.empty((len(deviation), len(centre)))
    for row, scale in enumerate(deviation):
        population = stats.norm.pdf(log_ratio, centre[:, None], scale)
        parts = [integrate.simpson(each * population, x=log_ratio) for each in likelihood]
        first = integrate.simpson(log_ratio * likelihood[0] * population, x=log_ratio)
        prior = np.exp(-(scale**2) / 2)
        evidence[row] = prior * np.prod(parts, axis=0)
        moment[row] = prior * first * parts[1] * parts[2]
    total, of_log_ratio, of_centre = (
        integrate.simpson(integrate.simpson(values, x=centre), x=deviation)
        for values in (evidence, moment, evidence * centre)
    )
    found, mean = _pooled(ratio, between, within)
    assert found[0] == pytest.approx(of_log_ratio / total, abs=0.01)  # 20 deviations, trapezoidal: 0.005
    assert mean == pytest.approx(of_centre / total, abs=0.01)


def test_what_is_learnt_recovers_the_truth_and_is_pooled():
    """60 data sets with one correlation within runs: its mean within three standard errors, and hardly any spread."""
    within, across, runs, folds = 0.04, 0.1, 10, 10
    two = PairedDifferences.from_table(
        correlated_scores(60, runs, folds, within, across, seed=2), "left", "right", rho="runs"
    ).two_level
    assert two is not None
    assert two.learnt
    np.testing.assert_array_equal(two.across, 0.1)
    own = np.sqrt(2 / 9 + 2 / 90)  # the standard error of one log R, at least
    slope = 10 * (1 - within) / (9 + 0.375)  # of the correlation by R, about: (R3)
    assert abs(two.within.mean() - within) < 3 * slope * 0.375 * own / np.sqrt(60) / 2
    assert two.within.std() < slope * 0.375 * own / 3


def test_data_sets_that_say_nothing_have_the_mean_of_the_others():
    sums = RunSums(
        np.array([5, 5, 1]), np.array([4.0, 4.0, 4.0]), np.array([1.0, 1.2, 1.0]), np.array([0.1, 0.12, 0.0])
    )
    n, longest = np.array([20, 20, 4]), np.array([4, 4, 4])
    found = learnt_within(sums, n, longest, np.zeros(3, dtype=bool), np.full(3, 0.25))
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert found[2] == pytest.approx(found[0], abs=0.03)
    constant = learnt_within(sums, n, longest, np.array([False, True, False]), np.full(3, 0.25))
    assert constant[1] == constant[2]


def test_left_and_right_may_change_places():
    table = simulated_scores(6, centre=0.01, spread=0.01)
    one = PairedDifferences.from_table(table, "bayes", "tree", rho="runs")
    other = PairedDifferences.from_table(table, "tree", "bayes", rho="runs")
    np.testing.assert_array_equal(one.mean, -other.mean)
    np.testing.assert_array_equal(one.rho, other.rho)
    np.testing.assert_array_equal(one.sum_of_squares, other.sum_of_squares)


def test_correlations_that_scores_can_not_have_are_refused():
    table = simulated_scores(4, centre=0, spread=0.01)
    with pytest.raises(hc.ArgumentError, match=r"can't have correlations of 0 within and 0\.1 across runs"):
        PairedDifferences.from_table(table, "bayes", "tree", rho=hc.Correlation(0, 0.1))
    with pytest.raises(hc.ArgumentError, match="would differ by nothing or less"):  # 0.145 = (1 - 0.05)/10 + 0.05
        PairedDifferences.from_table(table, "bayes", "tree", rho=hc.Correlation(0.05, 0.145))
    with pytest.raises(hc.ArgumentError, match="within must be at least 0 and below 1"):
        hc.Correlation(-0.1, 0.1)
    with pytest.raises(hc.ArgumentError, match="across must be at least 0 and below 1"):
        hc.Correlation(0.1, 1)
    with pytest.raises(hc.ArgumentError, match="a Correlation or 'runs', got 'run'"):
        PairedDifferences.from_table(table, "bayes", "tree", rho="run")


@pytest.mark.parametrize("rho", ["runs", hc.Correlation(0.05, 0.1)])
def test_without_runs_there_is_a_clear_error(rho):
    table = simulated_scores(4, 1, centre=0, spread=0.01).drop(columns="run")
    with pytest.raises(hc.ArgumentError, match=r"do not say which of them are of one run\. Give a table with the runs"):
        hc.HierarchicalComparison(table, "bayes", "tree", rope=0.01, rho=rho)
    with pytest.raises(hc.ArgumentError, match="do not say which of them are of one run"):
        hc.HierarchicalComparison.from_arrays(np.eye(3), np.ones((3, 3)), rho=rho)
    differences = PairedDifferences.from_table(table, "bayes", "tree")
    with pytest.raises(hc.ArgumentError, match=r"give rho to PairedDifferences\.from_table"):
        hc.correlated_t_test(differences, rho=rho, rope=0.01)


def test_a_single_run_each_teaches_nothing():
    table = simulated_scores(4, 1, centre=0, spread=0.01)
    with pytest.raises(hc.ArgumentError, match="no data set has two runs of two folds"):
        hc.HierarchicalComparison(table, "bayes", "tree", rope=0.01, rho="runs")


def test_many_algorithms_take_them_as_two_do():
    table = simulated_scores(6, centre=0.01, spread=0.01)
    pair = hc.compare_all(table, rope=0.01, rho="runs", n_jobs=1, progress=False).pair("bayes", "tree")
    one = hc.compare(table, "bayes", "tree", rope=0.01, rho="runs", engine="quadrature")
    assert pair.next_dataset == one.next_dataset
    assert pair.differences.two_level is not None


def test_nothing_is_learnt_from_identical_scores():
    scores = simulated_scores(8, centre=0.01, spread=0.01)
    again = scores[scores["algorithm"] == "bayes"].assign(algorithm="copy")
    result = hc.compare(pd.concat([scores, again]), "bayes", "copy", rope=0.01, rho="runs")
    assert result.next_dataset.p_rope == 1
    with pytest.warns(hc.HiercompWarning, match="identical everywhere"):
        tournament = hc.compare_all(pd.concat([scores, again]), rope=0.01, rho="runs", engine="quadrature")
    assert tournament.verdicts().loc["bayes", "copy"] == "equivalent"
    assert tournament.pair("bayes", "tree").differences.two_level.learnt


def test_a_pair_from_which_nothing_can_be_learnt_is_kept_with_the_reason():
    """Differences that never vary, but by as much on every fold."""
    scores = simulated_scores(8, centre=0.01, spread=0.01)
    again = scores[scores["algorithm"] == "bayes"].assign(algorithm="shifted")
    again["score"] += 0.25
    with pytest.warns(hc.HiercompWarning, match="bayes against shifted: rho='runs' learns"):
        tournament = hc.compare_all(pd.concat([scores, again]), rope=0.01, rho="runs", engine="quadrature")
    with pytest.raises(hc.ArgumentError, match="has no result: rho='runs' learns"):
        tournament.pair("bayes", "shifted")
    assert tournament.pair("bayes", "tree").status == "ok"
