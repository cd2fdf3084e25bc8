"""Wilcoxon's signed-rank test and the sign test: scipy's numbers, zeros, ties."""

from __future__ import annotations

import warnings
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hiercomp.closed_form.across_datasets.signed_rank import sign_test, signed_rank_test
from hiercomp.closed_form.many_algorithms.posthoc import posthoc_test
from hiercomp.errors import ArgumentError, ScoreTableError
from hiercomp.scores.differences import PairedDifferences

Z = np.array([0.5, -0.1, 0.0, 0.3, 0.0, 0.7, -0.2, 0.9, 0.0, 0.4])
TESTS = [signed_rank_test, sign_test]


@pytest.mark.parametrize("zero_method", ["wilcox", "pratt", "zsplit"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("correction", [False, True])
def test_the_signed_rank_test_is_scipys(zero_method, alternative, correction):
    options = {"zero_method": zero_method, "alternative": alternative, "correction": correction}
    found, scipy_found = signed_rank_test(Z, **options), stats.wilcoxon(Z, **options)
    assert (found.statistic, found.pvalue) == (scipy_found.statistic, pytest.approx(scipy_found.pvalue, rel=1e-12))
    assert (found.left_wins, found.ties, found.right_wins) == (2, 3, 5)


def test_without_zeros_and_ties_the_p_value_is_exact():
    # W- = 1 of 6: 2 of 64 sign patterns have a smaller rank sum of at most 1, two-sided 4 / 64
    assert signed_rank_test([0.1, 0.2, -0.05, 0.3, 0.4, 0.5]).pvalue == 4 / 64


def test_differences_that_are_equal_up_to_rounding_are_tied():
    left = np.array([[0.7], [0.8], [0.1], [0.5], [0.6], [0.2]])
    right = np.array([[0.8], [0.9], [0.3], [0.4], [0.8], [0.5]])
    exact = np.array([1, 1, 2, -1, 2, 3])  # tenths; in doubles 0.8 - 0.7, 0.9 - 0.8 and 0.5 - 0.4 all differ
    assert len(set(np.abs(right - left).ravel())) > 3
    found = signed_rank_test(PairedDifferences.from_arrays(left, right))
    assert found.pvalue == pytest.approx(stats.wilcoxon(exact, zero_method="zsplit").pvalue, rel=1e-12)


def test_a_difference_that_is_zero_up_to_rounding_is_zero():
    differences = PairedDifferences.from_arrays([[0.1 + 0.2], [0.5], [0.5]], [[0.3], [0.6], [0.7]])
    assert signed_rank_test(differences).ties == 1
    assert sign_test(differences).ties == 1


@pytest.mark.parametrize("largest", [1.0, 1e8, 1e10, 1e15])
def test_large_scores_of_one_data_set_make_no_ties_on_the_others(largest):
    # All eight favour the right: two-sided 2 / 2^8, whatever the unit of the first
    right = np.array([largest, 0.3, 0.25, 0.02, 0.015, 0.03, 0.2, 0.1])[:, None]
    differences = PairedDifferences.from_arrays(0.99 * right, right)
    for test in TESTS:
        found = test(differences)
        assert (found.right_wins, found.pvalue) == (8, 2 / 2**8)
    assert posthoc_test(np.hstack([0.99 * right, right]), adjust="none").pvalue[0, 1] == 2 / 2**8


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_identical_algorithms_have_p_one(test, alternative):
    assert test(np.zeros(7), alternative=alternative).pvalue == 1


def tail(wins: int, of: int) -> float:
    return sum(comb(of, k) for k in range(wins, of + 1)) / 2**of


def test_the_sign_test_splits_zeros_and_leaves_an_odd_one_out():
    found = sign_test(Z)  # 5 and 2 wins, 3 zeros: 6 of 9
    assert found.statistic == 6
    assert found.pvalue == pytest.approx(2 * tail(6, 9), rel=1e-12)
    assert sign_test(Z, alternative="greater").pvalue == pytest.approx(tail(6, 9), rel=1e-12)


def test_the_sign_test_can_drop_zeros():
    found = sign_test(Z, zeros="drop")  # 5 of 7
    assert found.statistic == 5
    assert found.pvalue == pytest.approx(2 * tail(5, 7), rel=1e-12)
    assert "zeros: dropped" in found.title


@pytest.mark.parametrize("test", TESTS)
def test_one_data_set_can_not_be_significant(test):
    assert test([0.3]).pvalue == 1


@pytest.mark.parametrize("test", TESTS)
def test_tables_rows_and_means_agree(test):
    rows = [
        (f"d{dataset}", algorithm, fold, 0.5 + (algorithm == "tree") * (value + 0.001 * fold))
        for dataset, value in enumerate([0.03, -0.01, 0.05, 0.02, 0.04])
        for fold in (-1, 0, 1)
        for algorithm in ("bayes", "tree")
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])
    given = [frame, PairedDifferences.from_table(frame), [0.03, -0.01, 0.05, 0.02, 0.04]]
    found = [test(x, alternative="greater") for x in given]
    assert {result.pvalue for result in found} == {found[2].pvalue}
    assert test(frame, higher_is_better=False, alternative="less").pvalue == found[2].pvalue
    assert "bayes against tree, 5 data sets, greater" in str(found[0])
    assert found[0].to_frame().iloc[0]["pvalue"] == found[0].pvalue


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("x", "options", "error", "words"),
    [
        ([0.1, np.nan], {}, ScoreTableError, "not finite"),
        ([], {}, ScoreTableError, "x must hold numbers"),
        ("scores", {}, ScoreTableError, "x must hold numbers"),
        (3.0, {}, ScoreTableError, "x must hold numbers"),
        ([0.1, 0.2], {"alternative": "right"}, ArgumentError, "alternative must be 'two-sided', 'less' or 'greater'"),
        ([0.1, 0.2], {"higher_is_better": "no"}, ArgumentError, "higher_is_better must be True or False"),
    ],
)
def test_what_can_not_be_meant_is_refused(test, x, options, error, words):
    with pytest.raises(error, match=words):
        test(x, **options)


def test_unknown_treatments_of_zeros_are_refused():
    with pytest.raises(ArgumentError, match="zero_method must be 'zsplit', 'wilcox' or 'pratt', got 'split'"):
        signed_rank_test(Z, zero_method="split")
    with pytest.raises(ArgumentError, match="zeros must be 'split' or 'drop', got 'zsplit'"):
        sign_test(Z, zeros="zsplit")


@pytest.mark.parametrize(("right", "printed"), [("j48", 0.46), ("j48gr", 0.39)])
def test_the_papers_table_has_zeros_dropped(uci54, right, printed):
    # Corani et al. (2017), Table 6: p of nbc against each
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropped, default = (
            signed_rank_test(uci54, left="nbc", right=right, zero_method=method).pvalue
            for method in ("wilcox", "zsplit")
        )
    assert dropped == pytest.approx(printed, abs=0.005)
    assert abs(default - printed) > 0.01


@pytest.mark.parametrize("test", [sign_test, signed_rank_test])
@pytest.mark.parametrize("given", [{31: -0.02, 37: -0.03, 40: -0.01}, {-0.02, -0.03, -0.01}])
def test_mappings_and_sets_are_refused(test, given):
    """The keys of a mapping are no differences, and a set has no order."""
    with pytest.raises(ScoreTableError, match="x must hold numbers"):
        test(given)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_differences_of_short_floats_tie_as_those_of_doubles(dtype):
    """Six differences of 0.1, three wins each way but one: 2 P(W+ <= 7) over the 64 equally likely changes of sign."""
    left = np.array([0.8, 0.9, 0.6, 0.75, 0.3, 0.55], dtype)
    right = np.array([0.9, 0.8, 0.7, 0.65, 0.4, 0.65], dtype)
    differences = PairedDifferences.from_arrays(left[:, None], right[:, None], rho=0)
    smaller = sum(comb(6, k) for k in range(3))  # all ranks are 3.5: at most two of six
    assert signed_rank_test(differences).pvalue == pytest.approx(2 * smaller / 2**6)
    table = pd.DataFrame({"dataset": list("abcdef"), "x": left, "y": right}).melt("dataset", var_name="algorithm")
    table = table.rename(columns={"value": "score"})
    assert signed_rank_test(table, left="x", right="y").pvalue == pytest.approx(2 * smaller / 2**6)


@pytest.mark.parametrize(
    ("zeros", "wins", "zero_method"), [(9, 5, "wilcox"), (9, 5, "zsplit"), (12, 4, "pratt"), (20, 6, "zsplit")]
)
def test_a_few_wins_beside_many_zeros_have_an_exact_p(zeros, wins, zero_method):
    """Of 2^wins changes of sign one is all wins: no two-sided p is smaller than twice its probability."""
    z = np.r_[np.zeros(zeros), np.arange(1, wins + 1) / 10]
    assert signed_rank_test(z, zero_method=zero_method).pvalue == 2 / 2**wins
    assert signed_rank_test(z, zero_method=zero_method, alternative="greater").pvalue == 1 / 2**wins
    assert signed_rank_test(z, zero_method=zero_method, alternative="less").pvalue == 1
