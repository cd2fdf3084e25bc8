"""Corrected t, paired t, Welch and Mann-Whitney, against mpmath, scipy and statsmodels."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from hiercomp.closed_form.one_dataset.frequentist import (
    corrected_t_test,
    mann_whitney,
    paired_t_test,
    t_p_value,
    welch_t_test,
)
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, DroppedScoresWarning, ScoreTableError
from hiercomp.scores.differences import PairedDifferences

GOLDEN = json.loads((Path(__file__).parents[2] / "data/golden_numbers.json").read_text(encoding="utf-8"))
GENERATOR = np.random.default_rng(3)
LEFT = GENERATOR.normal(0.80, 0.03, size=(6, 10))
RIGHT = LEFT + GENERATOR.normal(0.01, 0.03, size=(6, 10))
OF_SCORES = [paired_t_test, welch_t_test, mann_whitney]
ALTERNATIVES = ["two-sided", "less", "greater"]


def table(left: np.ndarray = LEFT, right: np.ndarray = RIGHT) -> pd.DataFrame:
    rows = [
        (f"d{dataset}", algorithm, fold, score)
        for algorithm, scores in (("bayes", left), ("tree", right))
        for dataset, row in enumerate(scores)
        for fold, score in enumerate(row)
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])


@pytest.mark.parametrize("case", GOLDEN["corrected_t"], ids=lambda case: str(len(case["x"])))
def test_the_corrected_t_test_has_twelve_digits_far_in_the_tail_too(case):
    # Rounding moves t by a few 1e-16 of itself, and a tail of n - 1 degrees of freedom by n times that
    names = {"two-sided": "two_sided", "greater": "greater", "less": "less"}
    for alternative, name in names.items():
        result = corrected_t_test(case["x"], n_train=case["n_train"], n_test=case["n_test"], alternative=alternative)
        exact = mpmath.mpf(case[name])
        assert abs(mpmath.mpf(result.pvalue) - exact) <= 1e-12 * exact
        assert result.statistic == pytest.approx(float(case["statistic"]), rel=1e-13)
        assert result.df == len(case["x"]) - 1


def test_sizes_of_training_and_test_sets_are_the_correlation_of_hold_out():
    by_size, by_rho = corrected_t_test(RIGHT - LEFT, n_train=90, n_test=10), corrected_t_test(RIGHT - LEFT, rho=0.1)
    np.testing.assert_allclose(by_size.pvalue, by_rho.pvalue, rtol=1e-13)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_without_correlation_the_corrected_t_test_is_scipys_paired_one(alternative):
    expected = stats.ttest_rel(RIGHT, LEFT, axis=1, alternative=alternative)
    for result in (
        corrected_t_test(RIGHT - LEFT, rho=0, alternative=alternative),
        paired_t_test(LEFT, RIGHT, alternative=alternative),
        paired_t_test(table(), alternative=alternative),
    ):
        np.testing.assert_allclose(result.statistic, expected.statistic, rtol=1e-11)
        np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-11)
        assert (result.df == 9).all()


@pytest.mark.parametrize(
    ("alternative", "of_statsmodels"), [("two-sided", "two-sided"), ("greater", "larger"), ("less", "smaller")]
)
def test_welchs_test_is_that_of_statsmodels(alternative, of_statsmodels):
    result = welch_t_test(LEFT, RIGHT, alternative=alternative)
    for row, (a, b) in enumerate(zip(LEFT, RIGHT, strict=True)):
        compared = CompareMeans(DescrStatsW(b), DescrStatsW(a))
        t, p, df = compared.ttest_ind(alternative=of_statsmodels, usevar="unequal")
        assert [result.statistic[row], result.pvalue[row], result.df[row]] == pytest.approx([t, p, df], rel=1e-10)


# The ten accuracies and the formulas of Inza's slides. Paired t: mean of the differences over
# sqrt(variance / 5); unpaired: difference of the means over sqrt(variance / 5 + variance / 5); U = R - n (n + 1) / 2.
NAIVE_BAYES, THREE_NEIGHBOURS = [72.3, 73.4, 71.4, 73.1, 72.3], [70.8, 72.0, 72.4, 71.9, 73.4]


def test_the_ten_accuracies_of_the_slides():
    # By hand, in tenths: differences -15, -14, 10, -12, 11 have sum -20 and sum of squares 786, so about the mean 706
    paired = paired_t_test(NAIVE_BAYES, THREE_NEIGHBOURS)
    t = -4 / math.sqrt(706 / 4 / 5)
    assert t == pytest.approx(-0.6732, abs=5e-5)
    assert (paired.statistic, paired.df) == (pytest.approx(t, rel=1e-11), 4)
    # P(|T| > t) of Student-t with 4 degrees of freedom: 1 - s (3 - s^2) / 2, s = t / sqrt(t^2 + 4)
    s = abs(t) / math.sqrt(t**2 + 4)
    assert paired.pvalue == pytest.approx(1 - s * (3 - s**2) / 2, rel=1e-10) == pytest.approx(0.5377, abs=5e-5)
    # Sums of squares about the means, in hundredths: naive Bayes 246, the neighbours 352; means 72.5 and 72.1
    welch = welch_t_test(NAIVE_BAYES, THREE_NEIGHBOURS)
    a, b = Fraction(246, 100) / 4 / 5, Fraction(352, 100) / 4 / 5
    t = -0.4 / math.sqrt(a + b)
    freedom = (a + b) ** 2 / (a**2 / 4 + b**2 / 4)
    assert t == pytest.approx(-0.7315, abs=5e-5)
    assert welch.statistic == pytest.approx(t, rel=1e-11)
    assert welch.df == pytest.approx(float(freedom), rel=1e-11)
    assert welch.pvalue == pytest.approx(float(mpmath_t_tail(t, freedom)), rel=1e-10) == pytest.approx(0.4860, abs=5e-5)
    # Ranks of the neighbours: 1, 4, 7, 3, and 9.5 for the tie at 73.4, in all 24.5 of 55; 24.5 - 15 and 30.5 - 15
    assert mann_whitney(NAIVE_BAYES, THREE_NEIGHBOURS).statistic == 9.5
    assert mann_whitney(THREE_NEIGHBOURS, NAIVE_BAYES).statistic == 15.5


def mpmath_t_tail(t: float, freedom: Fraction) -> mpmath.mpf:
    """P(|T| > |t|) of Student-t by the incomplete beta function."""
    freedom = mpmath.mpf(freedom.numerator) / freedom.denominator
    return mpmath.betainc(freedom / 2, mpmath.mpf(1) / 2, 0, freedom / (freedom + mpmath.mpf(t) ** 2), regularized=True)


def exact_mann_whitney(a, b) -> tuple[float, Fraction]:
    """U of b and its exact two-sided p, by all assignments of the values to the two samples (no ties)."""
    values = sorted([*a, *b])

    def u(right) -> int:
        return sum(sum(other < values[place] for k, other in enumerate(values) if k not in right) for place in right)

    found = [u(set(chosen)) for chosen in combinations(range(len(values)), len(b))]
    seen = sum(x < y for x in a for y in b)
    tail = min(sum(value <= seen for value in found), sum(value >= seen for value in found))
    return seen, min(Fraction(2 * tail, len(found)), Fraction(1))


@pytest.mark.parametrize("row", range(3))
def test_mann_whitney_is_exact_without_ties(row):
    a, b = LEFT[row, :5], RIGHT[row, :5]
    u, p = exact_mann_whitney(a, b)
    result = mann_whitney(a, b)
    assert (result.statistic, result.pvalue, result.df) == (u, pytest.approx(float(p), rel=1e-13), None)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_mann_whitney_with_ties_is_scipys(alternative):
    a, b = LEFT.round(2), RIGHT.round(2)
    expected = stats.mannwhitneyu(b, a, axis=1, alternative=alternative, method="asymptotic")
    result = mann_whitney(a, b, alternative=alternative)
    np.testing.assert_allclose(result.statistic, expected.statistic)
    np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-12)


def test_mann_whitney_ties_what_is_equal_up_to_rounding():
    assert 0.1 + 0.2 != 0.3
    assert mann_whitney([0.1 + 0.2, 0.4], [0.3, 0.5]).statistic == 2.5  # one tie counts half, and 0.5 beats both


@pytest.mark.parametrize("test", OF_SCORES)
def test_arrays_tables_and_differences_agree(test):
    expected = test(LEFT, RIGHT)
    for result in (
        test(table()),
        test(table().sample(frac=1, random_state=1), left="bayes"),
        test(pl.from_pandas(table())),
        test(PairedDifferences.from_table(table())),
        test(PairedDifferences.from_arrays(LEFT, RIGHT, rho=0.1)),
    ):
        np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-12)
        np.testing.assert_allclose(result.statistic, expected.statistic, rtol=1e-12)


@pytest.mark.parametrize("test", OF_SCORES)
def test_a_single_data_set_has_numbers_and_several_have_arrays(test):
    single, several = test(LEFT[0], RIGHT[0]), test(LEFT, RIGHT)
    assert isinstance(single.pvalue, float)
    assert (single.pvalue, single.statistic, single.df) == (
        several.pvalue[0],
        several.statistic[0],
        None if several.df is None else several.df[0],
    )


@pytest.mark.parametrize("test", [corrected_t_test, *OF_SCORES])
def test_swapping_the_algorithms_swaps_less_and_greater(test):
    frame = table()
    plain = test(frame, left="bayes", alternative="greater")
    swapped = test(frame, left="tree", alternative="less")
    np.testing.assert_allclose(swapped.pvalue, plain.pvalue, rtol=1e-13)
    assert (plain.algorithms, swapped.algorithms) == (("bayes", "tree"), ("tree", "bayes"))


@pytest.mark.parametrize("test", [corrected_t_test, *OF_SCORES])
def test_a_loss_swaps_less_and_greater(test):
    gain = test(table(), alternative="greater")
    loss = test(table(), alternative="less", higher_is_better=False)
    np.testing.assert_allclose(loss.pvalue, gain.pvalue, rtol=1e-13)


@pytest.mark.parametrize("test", [corrected_t_test, *OF_SCORES])
def test_the_right_algorithm_being_better_is_greater(test):
    better = table(LEFT, LEFT + 0.1 + GENERATOR.normal(0, 0.001, LEFT.shape))
    assert (test(better, alternative="greater").pvalue < 0.01).all()
    assert (test(better, alternative="less").pvalue > 0.99).all()
    assert (test(better).statistic > 0).all()


@pytest.mark.parametrize("df", [1.0, 4.0, 99.0, math.inf])
@pytest.mark.parametrize("t", [-30.0, -1e-9, 0.0, 0.3, 5.0])
def test_p_values_of_t_keep_their_relative_accuracy(t, df):
    with mpmath.workdps(40):
        size = mpmath.mpf(abs(t))
        if math.isinf(df):
            tail = mpmath.erfc(size / mpmath.sqrt(2)) / 2
        else:
            tail = mpmath.betainc(df / 2, 0.5, 0, df / (df + size**2), regularized=True) / 2
        greater = tail if t > 0 else 1 - tail
        for alternative, exact in (("two-sided", 2 * tail), ("greater", greater), ("less", 1 - greater)):
            if alternative == "less" and t < 0:
                exact = tail
            assert float(t_p_value(np.array(t), df, alternative)) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("test", [corrected_t_test, paired_t_test])
@pytest.mark.parametrize(
    ("difference", "statistic", "two_sided", "greater"),
    [(0.1, math.inf, 0, 0), (-0.1, -math.inf, 0, 1), (0.0, 0, 1, 0.5)],
)
def test_differences_without_variation_have_the_limit_of_small_ones(test, difference, statistic, two_sided, greater):
    left = np.array([[0.5, 0.6, 0.55]])
    given = PairedDifferences.from_arrays(left, left + difference, rho=0.3)
    for alternative, p in (("two-sided", two_sided), ("greater", greater), ("less", 1 - greater)):
        with pytest.warns(DegenerateScoresWarning, match="never vary in 1 of 1 data sets") as caught:
            result = test(given, alternative=alternative)
        assert caught[0].filename == __file__
        assert (result.statistic[0], result.pvalue[0]) == (statistic, p)
        assert "infinite, or 0 if the mean is also 0" in result.notes[0]


@pytest.mark.parametrize("test", [corrected_t_test, paired_t_test, welch_t_test])
def test_algorithms_that_are_identical_up_to_rounding_have_p_one(test):
    # 0.3 and 0.1 * 3 differ by 5.6e-17: no evidence, although the difference never varies
    left, right = np.full((1, 5), 0.3), np.full((1, 5), 0.1 * 3)
    assert (left != right).all()
    with pytest.warns(DegenerateScoresWarning):
        result = test(PairedDifferences.from_arrays(left, right, rho=0.2))
    assert (result.statistic[0], result.pvalue[0]) == (0, 1)


def test_welchs_test_needs_variation_of_one_algorithm_only():
    constant, varying = [0.8] * 3, [0.81, 0.82, 0.83]
    result = welch_t_test(constant, varying)
    # t = 0.02 / (0.01 / sqrt(3)) with 2 degrees of freedom, all from the algorithm that varies
    assert [result.statistic, result.df] == pytest.approx([2 * math.sqrt(3), 2], rel=1e-12)
    assert result.pvalue == pytest.approx(2 * stats.t.sf(2 * math.sqrt(3), 2), rel=1e-12)
    assert result.notes == ()


def test_welchs_test_takes_rounding_for_no_variation():
    with pytest.warns(DegenerateScoresWarning):
        result = welch_t_test([0.1 + 0.2, 0.3, 0.3], [0.4, 0.4, 0.4])
    assert (result.statistic, result.pvalue) == (math.inf, 0)


def test_mann_whitney_of_equal_scores_has_p_one():
    result = mann_whitney([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
    assert (result.statistic, result.pvalue) == (4.5, 1)


def test_only_the_data_sets_without_variation_are_named():
    left = LEFT[:3].copy()
    right = RIGHT[:3].copy()
    right[1] = left[1] + 0.05
    with pytest.warns(DegenerateScoresWarning, match=r"1 of 3 data sets \(first: '2'\)"):
        result = paired_t_test(left, right)
    assert np.isinf(result.statistic).tolist() == [False, True, False]


@pytest.mark.parametrize("test", [corrected_t_test, *OF_SCORES])
def test_what_a_table_leaves_out_is_warned_of_and_kept(test):
    frame = table()
    frame = frame[(frame["dataset"] != "d2") | (frame["algorithm"] != "tree")]
    with pytest.warns(DroppedScoresWarning, match="'d2'") as caught:
        result = test(frame)
    assert caught[0].filename == __file__
    assert "'d2'" in result.notes[0]


@pytest.mark.parametrize("test", [corrected_t_test, *OF_SCORES])
def test_an_unknown_alternative_is_refused(test):
    with pytest.raises(ArgumentError, match="alternative must be 'two-sided', 'less' or 'greater', got 'larger'"):
        test(table(), alternative="larger")


@pytest.mark.parametrize("test", OF_SCORES)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(test, value):
    for pair in (([0.5, value], [0.5, 0.6]), ([0.5, 0.6], [0.5, value])):
        with pytest.raises(ScoreTableError, match="argument are not finite"):
            test(*pair)
    with pytest.raises(ScoreTableError, match="not finite"):
        corrected_t_test([0.1, value], rho=0.1)


@pytest.mark.parametrize("test", OF_SCORES)
def test_scores_of_unequal_numbers_or_too_few_are_refused(test):
    with pytest.raises(ScoreTableError, match="must be paired"):
        test([0.5, 0.6, 0.7], [0.5, 0.6])
    with pytest.raises(ScoreTableError, match="needs at least 2 scores"):
        test([0.5], [0.6])
    with pytest.raises(ArgumentError, match="scores of both algorithms"):
        test([0.5, 0.6])
    with pytest.raises(ArgumentError, match="table already has the scores of both"):
        test(table(), [0.5, 0.6])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho": 0.1, "n_train": 90, "n_test": 10}, "either rho, or both"),
        ({"n_train": 90}, "either rho, or both"),
        ({"n_test": 10}, "either rho, or both"),
        ({"n_train": 0, "n_test": 10}, "n_train must be at least 1"),
        ({"n_train": 90, "n_test": 1.5}, "n_test must be a whole number"),
        ({"n_train": 90, "n_test": True}, "n_test must be a whole number"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        corrected_t_test([0.1, 0.2], **options)


def test_the_result_says_what_it_is():
    result = corrected_t_test(
        [0.02, 0.03, 0.01, 0.04, 0.02], rho=0.2, left="bayes", right="tree", alternative="greater"
    )
    assert result.title == "Corrected resampled t-test (Nadeau & Bengio 2003), bayes against tree, 1 data set, greater"
    assert result.conclusion == "p = 0.0175: at the 5% level equal performance is rejected."
    assert result.to_frame().columns.tolist() == ["statistic", "df", "pvalue"]
    assert mann_whitney(LEFT, RIGHT).to_frame().columns.tolist() == ["statistic", "pvalue"]
    assert paired_t_test(LEFT, RIGHT).to_frame().index.tolist() == ["1", "2", "3", "4", "5", "6"]


def test_a_p_value_that_is_not_small_is_no_evidence_for_equality():
    assert "which is no evidence for it" in corrected_t_test([0.1, -0.1, 0.05], rho=0.3).conclusion


def test_the_conclusion_about_several_data_sets_counts_the_rejections():
    result = corrected_t_test([[0.2, 0.21, 0.2], [0.1, -0.1, 0.0]], rho=0.1)
    assert "rejected on 1 of 2 data sets, each tested on its own" in result.conclusion
