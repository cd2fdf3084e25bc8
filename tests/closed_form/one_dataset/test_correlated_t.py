"""The Bayesian correlated t-test, against posteriors integrated by mpmath (scripts/make_golden_numbers.py)."""

from __future__ import annotations

import json
import math
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hiercomp.closed_form.one_dataset.correlated_t import NormalGamma, correlated_t_test, regions_with_ties
from hiercomp.closed_form.one_dataset.frequentist import corrected_t_test
from hiercomp.errors import (
    ArgumentError,
    DefaultedRhoWarning,
    DegenerateScoresWarning,
    DroppedScoresWarning,
    ScoreTableError,
)
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences

GOLDEN = json.loads((Path(__file__).parents[2] / "data/golden_numbers.json").read_text(encoding="utf-8"))
X = [0.02, 0.03, 0.01, 0.04, 0.02]
ROWS = np.random.default_rng(1).normal(0.01, 0.03, size=(7, 12))


def table(differences: np.ndarray, *, runs: int = 1) -> pd.DataFrame:
    """A tidy table whose differences tree minus bayes are those of the rows, up to rounding."""
    rows = []
    for dataset, row in enumerate(differences):
        for number, difference in enumerate(row):
            run, fold = divmod(number, len(row) // runs)
            for algorithm, score in (("bayes", 0.5), ("tree", 0.5 + difference)):
                rows.append((f"d{dataset}", algorithm, run, fold, score))
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "run", "fold", "score"])


def regions(result) -> np.ndarray:
    return np.stack([np.atleast_1d(getattr(result, name)) for name in ("p_left", "p_rope", "p_right")])


def assert_twelve_digits(result, case):
    # Rounding moves t by a few 1e-16 of itself, a tail of 99 degrees of freedom by at most 100 times that
    for name in ("left", "rope", "right"):
        exact = mpmath.mpf(case[name])
        assert abs(mpmath.mpf(getattr(result, f"p_{name}")) - exact) <= 1e-12 * exact, name


@pytest.mark.parametrize("case", GOLDEN["correlated_t"], ids=lambda case: f"{len(case['x'])}-{case['rho']}")
def test_the_regions_have_twelve_digits_far_in_the_tails_too(case):
    result = correlated_t_test(case["x"], rho=case["rho"], rope=tuple(case["interval"]))
    assert_twelve_digits(result, case)
    assert result.p_left + result.p_rope + result.p_right == pytest.approx(1, abs=1e-14)


def test_the_golden_numbers_reach_far_tails_and_one_degree_of_freedom():
    cases = GOLDEN["correlated_t"]
    assert min(float(case["left"]) for case in cases) < 1e-30
    assert min(len(case["x"]) for case in cases) == 2
    assert any(case["interval"][1] < 0 or case["interval"][0] > 0 for case in cases)


@pytest.mark.parametrize("case", GOLDEN["normal_gamma"], ids=lambda case: str(len(case["x"])))
def test_a_normal_gamma_prior_gives_the_two_dimensional_integral(case):
    result = correlated_t_test(
        case["x"], rho=case["rho"], rope=tuple(case["interval"]), prior=NormalGamma(*case["prior"])
    )
    assert_twelve_digits(result, case)


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.5])
def test_a_vague_normal_gamma_prior_approaches_the_matching_posterior_but_for_one_degree_of_freedom(rho):
    # With k0 to infinity and a, b to 0 in Table 2: mu_n = xbar, df = n and scale^2 df = c S / (1 - rho), where the matching
    # prior (a = -1/2) has df = n - 1 and the same product. 1 / k0, a and b are about 1e-14 of what they are added to.
    matching = correlated_t_test(X, rho=rho)
    vague = correlated_t_test(X, rho=rho, prior=NormalGamma(0.3, 1e14, 1e-14, 1e-18))
    assert vague.mean == pytest.approx(matching.mean, rel=1e-11)
    assert (matching.df, vague.df) == (4, pytest.approx(5, rel=1e-13))
    assert vague.scale**2 * vague.df == pytest.approx(matching.scale**2 * matching.df, rel=1e-11)


def test_a_strong_prior_wins_over_the_data():
    # k0 to 0 fixes mu at mu0
    result = correlated_t_test(X, rho=0.2, prior=NormalGamma(-0.5, 1e-12, 1.0, 1e-3))
    assert result.mean == pytest.approx(-0.5, rel=1e-9)
    assert result.p_left > 0.999999


def test_without_correlation_it_is_the_bayesian_t_test():
    # scipy's interval of the mean is the posterior's, with n - 1 degrees of freedom and standard error s / sqrt(n)
    result = correlated_t_test(X, rho=0)
    expected = stats.t(4, np.mean(X), stats.sem(X))
    assert result.distribution.interval(0.95) == pytest.approx(expected.interval(0.95), rel=1e-12)
    assert [result.p_left, result.p_right] == pytest.approx([expected.cdf(-0.01), expected.sf(0.01)], rel=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.5])
def test_without_a_rope_left_is_the_one_sided_p_of_the_corrected_t_test(rho):
    result = correlated_t_test(ROWS, rho=rho, rope=0)
    greater = corrected_t_test(ROWS, rho=rho, alternative="greater").pvalue
    less = corrected_t_test(ROWS, rho=rho, alternative="less").pvalue
    np.testing.assert_allclose(result.p_left, greater, rtol=2e-15)
    np.testing.assert_allclose(result.p_right, less, rtol=2e-15)
    np.testing.assert_allclose(result.p_right, 1 - greater, rtol=0, atol=2e-16)
    assert (result.p_rope == 0).all()


finite = st.floats(-1, 1, allow_subnormal=False).filter(lambda value: value == 0 or abs(value) > 1e-6)
rows = st.lists(st.lists(finite, min_size=2, max_size=8), min_size=1, max_size=4)


@given(rows, st.floats(0, 0.9), st.floats(0, 0.5))
def test_many_data_sets_at_once_are_each_by_itself(data, rho, rope):
    data = [[*row, row[0] + 0.3] for row in data]  # it varies
    together = correlated_t_test(data, rho=rho, rope=rope)
    apart = [correlated_t_test(row, rho=rho, rope=rope) for row in data]
    for name in ("p_left", "p_rope", "p_right", "mean", "scale", "df"):
        assert getattr(together, name).tolist() == [getattr(one, name) for one in apart]


@given(rows, st.floats(0, 0.9), st.floats(-0.5, 0.5), st.floats(0, 0.5))
def test_turning_all_signs_mirrors_the_regions(data, rho, lower, length):
    data = [np.array([*row, row[0] + 0.3]) for row in data]
    plain = correlated_t_test(data, rho=rho, rope=Rope(lower, lower + length))
    turned = correlated_t_test([-row for row in data], rho=rho, rope=Rope(-(lower + length), -lower))
    assert (regions(turned) == regions(plain)[::-1]).all()


@given(rows, st.floats(0, 0.9), st.floats(-0.5, 0.5), st.floats(0, 0.5), st.integers(-30, 30))
def test_another_unit_of_the_metric_changes_no_probability(data, rho, lower, length, exponent):
    data = [np.array([*row, row[0] + 0.3]) for row in data]
    factor = 2.0**exponent  # exact in doubles
    plain = correlated_t_test(data, rho=rho, rope=Rope(lower, lower + length))
    scaled = correlated_t_test(
        [factor * row for row in data], rho=rho, rope=Rope(factor * lower, factor * (lower + length))
    )
    assert (regions(scaled) == regions(plain)).all()
    assert (scaled.mean == factor * plain.mean).all()
    assert scaled.scale == pytest.approx(factor * plain.scale, rel=1e-14)


def test_tables_differences_and_arrays_agree():
    frame = table(ROWS, runs=2)
    of_table = correlated_t_test(frame, rho=0.1)
    differences = PairedDifferences.from_table(frame, rho=0.1)
    for other in (
        correlated_t_test(pl.from_pandas(frame), rho=0.1),
        correlated_t_test(differences),
        correlated_t_test(frame.sample(frac=1, random_state=1), rho=0.1, left="bayes"),
        correlated_t_test(ROWS, rho=0.1),
    ):
        for name in ("p_left", "p_rope", "p_right", "mean", "scale"):
            np.testing.assert_allclose(getattr(other, name), getattr(of_table, name), rtol=1e-12, atol=1e-15)
    assert of_table.algorithms == ("bayes", "tree")
    assert of_table.dataset_names == tuple(f"d{number}" for number in range(7))


def test_a_table_has_one_over_the_folds_as_correlation():
    frame = table(ROWS, runs=2)  # 6 folds
    by_default, given_rho = correlated_t_test(frame), correlated_t_test(frame, rho=1 / 6)
    assert (by_default.p_left == given_rho.p_left).all()
    changed = correlated_t_test(PairedDifferences.from_table(frame), rho=0.5)
    np.testing.assert_allclose(changed.p_left, correlated_t_test(ROWS, rho=0.5).p_left, rtol=1e-11)


def test_the_correlation_can_differ_between_data_sets():
    result = correlated_t_test(table(ROWS[:2]), rho={"d0": 0.1, "d1": 0.4})
    assert result.p_left[0] == pytest.approx(correlated_t_test(ROWS[0], rho=0.1).p_left, rel=1e-11)
    assert result.p_left[1] == pytest.approx(correlated_t_test(ROWS[1], rho=0.4).p_left, rel=1e-11)


def test_data_sets_may_have_unequal_numbers_of_scores():
    result = correlated_t_test([X, X[:3]], rho=0.2)
    assert result.p_right[1] == correlated_t_test(X[:3], rho=0.2).p_right
    assert result.df.tolist() == [4, 2]


def test_a_loss_turns_the_sign():
    gain, loss = correlated_t_test(ROWS, rho=0.1), correlated_t_test(ROWS, rho=0.1, higher_is_better=False)
    assert (loss.p_left == gain.p_right).all()
    assert (loss.mean == -gain.mean).all()
    of_table = correlated_t_test(table(ROWS), rho=0.1, higher_is_better=False)
    np.testing.assert_allclose(of_table.p_left, gain.p_right, rtol=1e-11)


def test_swapping_the_algorithms_of_a_table_swaps_the_sides():
    frame = table(ROWS)
    plain, swapped = correlated_t_test(frame, left="bayes"), correlated_t_test(frame, left="tree")
    assert swapped.algorithms == ("tree", "bayes")
    assert (swapped.p_left == plain.p_right).all()


def point_mass(x, rope, rho=0.1):
    with pytest.warns(DegenerateScoresWarning, match=r"never vary in 1 of 1 data sets \(first: '1'\)"):
        return correlated_t_test(x, rho=rho, rope=rope)


@pytest.mark.parametrize(
    ("difference", "rope", "expected"),
    [
        (0.005, 0.01, [0, 1, 0]),  # inside
        (0.0, 0.01, [0, 1, 0]),
        (0.01, 0.01, [0, 1, 0]),  # on its boundary
        (-0.01, 0.01, [0, 1, 0]),
        (0.02, 0.01, [0, 0, 1]),  # outside
        (-0.02, 0.01, [1, 0, 0]),
        (0.02, 0.0, [0, 0, 1]),
        (0.0, 0.0, [0.5, 0, 0.5]),
        (0.02, (0.02, 0.02), [0.5, 0, 0.5]),
        (0.02, (0.03, 0.05), [1, 0, 0]),
    ],
)
def test_without_variation_all_probability_is_at_one_point(difference, rope, expected):
    result = point_mass([difference] * 10, rope)
    assert [result.p_left, result.p_rope, result.p_right] == expected
    assert (result.mean, result.scale) == (pytest.approx(difference, rel=1e-15), 0)
    assert "point mass" in result.notes[0]


@pytest.mark.parametrize("scores", [(0.81, 0.80), (0.30, 0.29), (0.91, 0.90), (1.0, 0.99)])
def test_a_point_mass_is_on_the_boundary_up_to_rounding(scores):
    better, worse = scores
    assert better - worse > 0.01 or better - worse < 0.01  # not exactly, in doubles
    assert point_mass(np.full(10, better - worse), 0.01).p_rope == 1
    assert point_mass(np.full(10, worse - better), 0.01).p_rope == 1
    assert point_mass(np.full(10, better - worse), (0.01, 0.02)).p_rope == 1
    assert point_mass(np.full(10, better - worse + 1e-9), 0.01).p_right == 1


def test_a_rope_without_variation_needs_no_warning_where_the_prior_gives_a_spread():
    result = correlated_t_test([0.0] * 5, rho=0.1, prior=NormalGamma(0, 1, 1, 1e-4))
    assert result.scale > 0


def test_algorithms_that_are_identical_up_to_rounding_share_the_probability():
    # 0.3 and 0.1 * 3 differ by 5.6e-17
    left, right = np.full((1, 5), 0.3), np.full((1, 5), 0.1 * 3)
    assert (left != right).all()
    differences = PairedDifferences.from_arrays(left, right, rho=0.2)
    with pytest.warns(DegenerateScoresWarning):
        result = correlated_t_test(differences, rope=0)
    assert regions(result).ravel().tolist() == [0.5, 0, 0.5]
    assert "left and right are equally likely to be better (probability 0.500)" in result.conclusion


def test_two_scores_have_one_degree_of_freedom():
    # Student-t with 1 df is Cauchy: P(mu < 0) = 1/2 - atan(mean / scale) / pi
    result = correlated_t_test([0.01, 0.03], rho=0.2, rope=0)
    scale = math.sqrt((1 / 2 + 0.25) * 0.0002)
    assert result.df == 1
    assert result.p_left == pytest.approx(0.5 - math.atan(0.02 / scale) / math.pi, rel=1e-13)


@pytest.mark.parametrize(("sign", "better"), [(1, "right better"), (-1, "left better")])
def test_the_conclusion_names_the_better_algorithm(sign, better):
    # As above, 1/2 + atan(0.02 / 0.01225) / pi = 0.825
    result = correlated_t_test([sign * 0.01, sign * 0.03], rho=0.2, rope=0)
    assert f"the most probable outcome is: {better} (probability 0.825)" in result.conclusion


@pytest.mark.parametrize("x", [[0.1], [[0.1], [0.2]], [[0.1, 0.2], [0.3]]])
def test_one_score_is_too_few(x):
    with pytest.raises(
        ScoreTableError, match=r"needs at least 2 scores for each data set; \d of \d data sets have fewer"
    ):
        correlated_t_test(x, rho=0.1)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_an_error_that_names_its_place(value):
    with pytest.raises(ScoreTableError, match=r"1 of 3 numbers of x are not finite \(first: position 1, -?(nan|inf)\)"):
        correlated_t_test([0.1, value, 0.2], rho=0.1)
    with pytest.raises(ScoreTableError, match="position 0 of data set 2"):
        correlated_t_test([[0.1, 0.2], [value, 0.2]], rho=0.1)
    frame = table(ROWS)
    frame.loc[5, "score"] = value
    with pytest.raises(ScoreTableError, match="1 of 168 scores are missing or not finite"):
        correlated_t_test(frame)


@pytest.mark.parametrize(
    "x", [[], [[]], [[0.1, 0.2], []], "text", ["0.1", "0.2"], None, 0.5, [[[0.1, 0.2]]], [True, False]]
)
def test_what_does_not_hold_numbers_is_refused(x):
    with pytest.raises(ScoreTableError, match=r"must hold numbers|has no numbers"):
        correlated_t_test(x, rho=0.1)


@pytest.mark.parametrize("rho", [-0.1, 1.0, math.nan, "0.1", True])
def test_a_correlation_outside_its_range_is_refused(rho):
    for x in (X, table(ROWS), PairedDifferences.from_table(table(ROWS))):
        with pytest.raises(ArgumentError, match="rho"):
            correlated_t_test(x, rho=rho)


def test_arrays_need_a_correlation():
    with pytest.raises(ArgumentError, match="rho has no default for arrays"):
        correlated_t_test(X)


@pytest.mark.parametrize("prior", [(0, 1, 1, 1), "vague", 1.0])
def test_a_prior_of_another_kind_is_refused(prior):
    with pytest.raises(ArgumentError, match="prior must be a NormalGamma"):
        correlated_t_test(X, rho=0.1, prior=prior)


@pytest.mark.parametrize("name", ["k0", "a", "b"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "1"])
def test_a_prior_outside_its_range_is_refused(name, value):
    with pytest.raises(ArgumentError, match=f"{name} must be"):
        NormalGamma(**({"mu0": 0.0, "k0": 1.0, "a": 1.0, "b": 1.0} | {name: value}))


def test_a_rope_outside_what_is_allowed_is_refused():
    with pytest.raises(ArgumentError, match="rope is negative"):
        correlated_t_test(X, rho=0.1, rope=-0.01)


def test_what_a_table_leaves_out_is_warned_of_and_kept():
    frame = table(ROWS)
    frame = frame[(frame["dataset"] != "d3") | (frame["algorithm"] != "tree")]
    with pytest.warns(DroppedScoresWarning, match="'d3'") as caught:
        result = correlated_t_test(frame)
    assert caught[0].filename == __file__
    assert any("'d3'" in note for note in result.notes)
    assert "d3" not in result.dataset_names


def test_many_folds_without_runs_are_warned_of():
    with pytest.warns(DefaultedRhoWarning, match="24 folds"):
        correlated_t_test(table(np.tile(ROWS, 2)).drop(columns="run"))


def test_the_result_says_what_it_is():
    result = correlated_t_test(X, rho=0.2, left="bayes", right="tree")
    assert result.title == "Bayesian correlated t-test, bayes against tree, 1 data set, rope [-0.01, 0.01]"
    assert result.conclusion == "On this data set the most probable outcome is: tree better (probability 0.929)."
    frame = result.to_frame()
    assert frame.columns.tolist() == ["p_left", "p_rope", "p_right", "mean", "scale", "df"]
    assert frame.loc["1", "p_right"] == result.p_right


def test_the_conclusion_about_several_data_sets_counts_those_that_are_sure():
    right, left, equal, unsure = [0.2, 0.21, 0.2], [-0.2, -0.21, -0.2], [0.001, 0.0, -0.001], [0.1, -0.1, 0.0]
    result = correlated_t_test([left, equal, equal, right, right, right, unsure], rho=0.1)
    assert (
        "left is better on 1, both are practically equivalent on 2 and right is better on 3 of 7" in result.conclusion
    )


def equally_correlated(generator, simulations: int, n: int, rho: float) -> np.ndarray:
    """Standard normal values with correlation rho within a row: one shared value and independent ones."""
    shared = generator.standard_normal((simulations, 1))
    return math.sqrt(rho) * shared + math.sqrt(1 - rho) * generator.standard_normal((simulations, n))


@pytest.mark.slow
def test_the_corrected_t_test_keeps_its_level_and_the_naive_one_does_not():
    simulations, n, rho = 20_000, 100, 0.1
    x = equally_correlated(np.random.default_rng(2015), simulations, n, rho)
    corrected = np.mean(corrected_t_test(x, rho=rho).pvalue < 0.05)
    assert corrected == pytest.approx(0.05, abs=0.005)  # 3.2 Monte Carlo errors
    # s^2 is independent of the mean and estimates (1 - rho) sigma^2, so that the naive t is Student's times this ratio
    ratio = math.sqrt((1 + (n - 1) * rho) / (1 - rho))
    expected = 2 * stats.t.sf(stats.t.isf(0.025, n - 1) / ratio, n - 1)
    assert expected == pytest.approx(0.57, abs=0.005)
    error = math.sqrt(expected * (1 - expected) / simulations)
    assert np.mean(corrected_t_test(x, rho=0).pvalue < 0.05) == pytest.approx(expected, abs=4 * error)


def test_under_no_difference_the_probability_of_right_is_uniform():
    # The matching prior: P(mu > 0) is one minus a one-sided p. Kolmogorov-Smirnov at its 1e-4 point, 2.23 / sqrt(n)
    x = equally_correlated(np.random.default_rng(1), 2000, 30, 0.25)
    found = stats.kstest(correlated_t_test(x, rho=0.25, rope=0).p_right, "uniform")
    assert found.statistic < 2.23 / math.sqrt(2000)


def test_a_constant_difference_on_the_boundary_counts_as_in_the_rope_whatever_the_size_of_the_scores():
    left = np.full(5, 1e4)
    differences = PairedDifferences.from_arrays([left], [left + 0.01], rho=0.2)
    with pytest.warns(DegenerateScoresWarning):
        found = correlated_t_test(differences, rope=0.01)
    assert found.p_rope == [1.0]


def test_equal_probabilities_up_to_rounding_name_no_winner():
    assert sum([0.1, 0.2, -0.3]) != 0
    assert "equally likely to be better" in correlated_t_test([0.1, 0.2, -0.3], rho=0.1, rope=0).conclusion


@pytest.mark.parametrize(("mean", "regions"), [(0.81 - 0.80, [0, 1, 0]), (0.79 - 0.80, [0, 1, 0]), (0.0101, [0, 0, 1])])
def test_a_point_mass_is_on_the_boundary_up_to_rounding_where_the_scores_are_not_known(mean, regions):
    assert abs(mean) > 0.01  # by a rounding error, or by more
    found = regions_with_ties(np.array([mean]), np.zeros(1), np.full(1, 4.0), Rope.of(0.01))
    assert found.tolist() == [regions]


@pytest.mark.parametrize(("errors", "regions"), [(64, [0.5, 0, 0.5]), (65, [0, 0, 1])])
def test_a_constant_difference_of_64_rounding_errors_of_the_scores_is_still_none(errors, regions):
    mean = errors * np.finfo(float).eps
    found = regions_with_ties(np.array([mean]), np.zeros(1), np.full(1, 4.0), Rope.of(0), size=1.0)
    assert found.tolist() == [regions]
