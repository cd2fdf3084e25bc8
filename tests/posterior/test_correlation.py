"""Variation between and within runs: the F test, standard errors from matrices, and the figures of the KEEL table."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.posterior.correlation import REFUTED, correlation, squared_error
from hiercomp.posterior.predictive import log_likelihood
from hiercomp.scores.differences import PairedDifferences
from tests.conftest import simulated_scores
from tests.scores.test_runs import covariance


def correlated_scores(q: int, runs: int, folds: int, within: float, across: float, seed: int) -> pd.DataFrame:
    """Scores of two algorithms whose differences have the covariance (R1)."""
    generator = np.random.default_rng(seed)
    root = np.linalg.cholesky(covariance([folds] * runs, within, across))
    index = pd.MultiIndex.from_product(
        [[f"d{i:02}" for i in range(q)], range(runs), range(folds)], names=["dataset", "run", "fold"]
    )
    difference = 0.02 * (generator.normal(size=(q, runs * folds)) @ root.T).ravel() + 0.01
    frame = pd.DataFrame({"left": 0.5, "right": 0.5 + difference}, index=index)
    return frame.melt(var_name="algorithm", value_name="score", ignore_index=False).reset_index()


def check_of(scores: pd.DataFrame, left: str = "left", right: str = "right", **options) -> hc.CorrelationCheck:
    return correlation(PairedDifferences.from_table(scores, left, right, **options))


def test_equal_correlations_are_not_refuted_and_their_pvalues_are_uniform():
    check = check_of(correlated_scores(200, 5, 4, 0.25, 0.25, seed=0))
    assert stats.kstest(check.pvalues, "uniform").pvalue > 0.001
    assert not check.refuted
    low, high = check.pooled_interval
    assert low < 1 < high
    assert "about as much as with folds that are all equally correlated" in check.conclusion


def test_each_pvalue_is_twice_the_smaller_tail_of_f_and_stouffers_that_of_scipy():
    check = check_of(correlated_scores(12, 3, 4, 0.1, 0.2, seed=1))
    lower = stats.f.cdf(check.ratio, 2, 9)
    np.testing.assert_allclose(check.pvalues, 2 * np.minimum(lower, 1 - lower), rtol=1e-9)
    combined = stats.combine_pvalues(1 - lower, "stouffer")
    assert check.statistic == pytest.approx(combined.statistic, rel=1e-9)
    assert check.pvalue == pytest.approx(2 * min(combined.pvalue, 1 - combined.pvalue), rel=1e-9)


def test_folds_of_a_run_that_are_less_correlated_are_found():
    """R is 0.4 in truth; its pooled value has an interval of 95%, and 60 data sets say that it is below 1."""
    within, across, k = 0.04, 0.1, 10
    true = (1 - within + k * (within - across)) / (1 - within)
    check = check_of(correlated_scores(60, 10, k, within, across, seed=2))
    low, high = check.pooled_interval
    assert low < true < high < 1
    assert check.pvalue < 1e-20 < REFUTED
    lowest, highest = check.pooled_within_run
    assert lowest == highest == pytest.approx((check.pooled_ratio - 1 + 1) / (9 + check.pooled_ratio))
    assert "differ less than folds that are all equally correlated allow" in str(check)


@pytest.mark.parametrize(
    ("runs", "folds", "within", "across"), [(10, 10, 0.04, 0.1), (5, 2, 0.1, 0.3), (3, 4, 0.25, 0.25)]
)
def test_the_standard_error_at_the_expected_mean_squares_is_that_of_the_matrix(runs, folds, within, across):
    matrix = covariance([folds] * runs, within, across)
    a, b = 1 - within, 1 - within + folds * (within - across)
    ours = squared_error(runs, np.array(float(folds)), np.array(a), np.array(b), np.array(across))
    assert ours == pytest.approx(matrix.mean(), rel=1e-12)  # the variance of a mean


def test_the_correlation_within_runs_gives_back_the_truth_at_the_expected_mean_squares():
    within, across, k = 0.04, 0.1, 10.0
    check = check_of(correlated_scores(5, 4, 10, within, across, seed=3))
    a, b = 1 - within, 1 - within + k * (within - across)
    exact = hc.CorrelationCheck(
        dataset_names=check.dataset_names,
        left_out=(),
        n_runs=check.n_runs,
        folds=check.folds,
        within=np.full(5, a),
        between=np.full(5, b),
        rho=np.full(5, across),
        assumed_error=check.assumed_error,
        algorithms=check.algorithms,
    )
    np.testing.assert_allclose(exact.within_run, within, rtol=1e-12)
    np.testing.assert_allclose(check.rho, 0.1)


def test_keel_has_the_ratios_of_an_independent_computation():
    """641 ratios of 15 pairs; quantiles, standard errors and medians by pair of another program, to its digits."""
    scores = hc.load_scores("keel")
    pairs = list(itertools.combinations(sorted(scores["algorithm"].unique()), 2))
    checks = {pair: check_of(scores, *pair) for pair in pairs}
    ratios = np.concatenate([check.ratio for check in checks.values()])
    relative = np.concatenate([check.standard_error / check.assumed_error for check in checks.values()])
    assert len(ratios) == 641
    assert np.quantile(ratios, [0.05, 0.25, 0.5, 0.75, 0.95]).round(2).tolist() == [0.07, 0.21, 0.37, 0.58, 1.00]
    assert [round(float(value), 2) for value in (relative.min(), np.median(relative), relative.max())] == [
        0.95,
        0.97,
        1.03,
    ]
    stable = checks["logistic_regression", "naive_bayes"]
    assert np.median(stable.ratio) == pytest.approx(0.18, abs=0.005)
    assert (stats.f.cdf(stable.ratio, 9, 90) < 0.05).mean() == pytest.approx(0.88, abs=0.005)
    assert all(check.refuted for check in checks.values())
    left_out = [name for check in checks.values() for name in check.left_out]
    assert len(left_out) == 4
    assert any("without variation within or between runs" in note for check in checks.values() for note in check.notes)


def test_more_runs_gain_what_the_variation_between_runs_says(result):
    gain = result.gain(runs=(10, 1, 2))
    check = result.correlation()
    assert gain.runs == (1, 2, 10)
    between = check.pooled_ratio * check.within
    squares = gain.standard_error**2
    np.testing.assert_allclose(
        squares[0] - squares, [(between / 10).mean() * (1 - 1 / r) for r in gain.runs], rtol=1e-9, atol=1e-18
    )
    sigma0 = result.population()["mean"]["sigma0"]
    np.testing.assert_allclose(gain.width, np.sqrt(squares + sigma0**2))
    near = gain.to_frame()["width"] <= 1.01 * gain.width[-1]
    assert gain.enough == near.index[near][0]
    assert f"With {gain.enough} run" in gain.conclusion


@pytest.mark.parametrize("runs", [(), (0,), (1.5,), (True,)])
def test_numbers_of_runs_are_whole_and_above_zero(result, runs):
    with pytest.raises(hc.ArgumentError, match="runs"):
        result.gain(runs)


def test_a_saved_result_keeps_what_the_runs_say(result, tmp_path):
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    pd.testing.assert_frame_equal(again.correlation().to_frame(), result.correlation().to_frame())


def test_without_runs_the_error_says_what_is_needed():
    table = simulated_scores(8, 1, centre=0.03, spread=0.01)
    for scores in (table, table.drop(columns="run")):
        with pytest.raises(hc.ArgumentError, match="No data set has several runs") as caught:
            check_of(scores, "bayes", "tree")
        assert "column run" in str(caught.value)


def test_runs_of_a_single_score_say_nothing_of_folds():
    table = simulated_scores(8, 3, centre=0.03, spread=0.01)
    with pytest.raises(hc.ArgumentError, match="two runs of two folds"):
        check_of(table[table["fold"] == 1], "bayes", "tree", rho=0.1)


def test_summary_and_report_say_where_runs_refute_one_correlation_and_what_two_are(tmp_path):
    scores = correlated_scores(40, 10, 10, 0.04, 0.1, seed=2)
    plain, learnt, given = (
        hc.compare(scores, "left", "right", rope=0.01, rho=rho, engine="quadrature").summary()
        for rho in (None, "runs", hc.Correlation(0.04, 0.1))
    )
    assert plain.correlation.startswith("Correlation between folds: 0.1 for all, which the runs refute (p < 0.0001)")
    assert plain.correlation in str(plain)
    result = hc.compare(scores, "left", "right", rope=0.01, engine="quadrature")
    said = "(p < 0.0001): the means of runs vary"
    assert f"The runs refute this correlation {said}" in result.methods().text
    assert f"0.1; the runs refute it {said}" in result.report(tmp_path / "report.html").read_text(
        encoding="utf-8"
    ).replace("&lt;", "<")
    assert plain.to_dict()["correlation"] == plain.correlation
    assert re.fullmatch(
        r"Correlation between folds: 0\.0\d+ to 0\.0\d+ within runs, learnt from their variation, 0\.1 across runs",
        learnt.correlation,
    )
    assert given.correlation == "Correlation between folds: 0.04 within runs, 0.1 across runs"


def test_the_summary_says_nothing_where_one_correlation_fits_or_there_are_no_runs():
    for scores in (correlated_scores(40, 5, 5, 0.2, 0.2, seed=0), correlated_scores(6, 1, 5, 0.2, 0.2, seed=0)):
        assert hc.compare(scores, "left", "right", rope=0.01, engine="quadrature").summary().correlation == ""


def test_samplers_and_the_integral_agree_with_two_correlations():
    scores = correlated_scores(12, 4, 5, 0.05, 0.2, seed=5)
    result = hc.compare(scores, "left", "right", rope=0.01, rho="runs", progress=False)
    assert result.status == "ok"
    assert result.verification.to_frame()["distance"].max() < 4


def test_two_correlations_fit_better_than_one_where_they_are_true():
    """By d (R - 1 - log R)/2 nats a data set, the variance of d contrasts between runs being R of what the other assumes."""
    q, d, folds, within, across = 40, 9, 10, 0.04, 0.1
    scores = correlated_scores(q, d + 1, folds, within, across, seed=2)
    right, wrong = (
        hc.compare(scores, "left", "right", rope=0.01, rho=rho, engine="quadrature").log_marginal_likelihood
        for rho in (hc.Correlation(within, across), 0.1)
    )
    ratio = 1 + folds * (within - across) / (1 - within)
    error = (1 - ratio) * np.sqrt(q * d / 2)  # of chi-squared / 2 with q d degrees of freedom, times 1 - R
    assert right - wrong == pytest.approx(q * d * (ratio - 1 - np.log(ratio)) / 2, abs=4 * error)


def test_the_likelihood_of_single_data_sets_is_the_dense_one():
    """The group log_likelihood for ArviZ: multivariate normal densities by SciPy."""
    scores = correlated_scores(4, 3, 4, 0.05, 0.2, seed=6)
    differences = PairedDifferences.from_table(scores, "left", "right", rho=hc.Correlation(0.05, 0.2))
    found = log_likelihood(np.full(4, 0.012), np.full(4, 0.02), differences)
    right = scores[scores["algorithm"] == "right"].sort_values(["dataset", "run", "fold"])["score"]
    x = right.to_numpy().reshape(4, 12) - 0.5
    expected = stats.multivariate_normal(np.full(12, 0.012), 0.02**2 * covariance([4] * 3, 0.05, 0.2)).logpdf(x)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_single_number_of_runs_is_a_list_of_one():
    frame = simulated_scores(6, runs=3, centre=0.02, spread=0.02, seed=2)
    result = hc.compare(frame, "bayes", "tree", rope=0.01, engine="quadrature")
    assert result.gain(5).runs == result.gain([5]).runs == (5,)


def test_the_side_is_that_of_the_test_and_not_of_the_median():
    # Most ratios just below 1, and a few far above: the sum of all is far above
    ratio = np.array([0.93] * 6 + [60.0] * 3)
    check = hc.CorrelationCheck(
        dataset_names=tuple("abcdefghi"),
        left_out=(),
        n_runs=np.full(9, 10),
        folds=np.full(9, 10.0),
        within=np.ones(9),
        between=ratio,
        rho=np.full(9, 0.1),
        assumed_error=np.ones(9),
        algorithms=("left", "right"),
    )
    assert check.statistic > 5
    assert "The means of runs differ more on some data sets than folds" in check.conclusion


def test_one_number_of_runs_is_compared_with_nothing(result):
    assert "nothing to compare it with" in result.gain(10).conclusion
