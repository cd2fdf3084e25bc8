"""McNemar's test, against binomial probabilities and the chi-squared formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hiercomp.closed_form.one_dataset.mcnemar import mcnemar
from hiercomp.errors import ArgumentError, DroppedScoresWarning, ScoreTableError
from hiercomp.scores.differences import PairedDifferences

METHODS = ["exact", "chi2", "chi2_corrected"]
# The ten cases of Inza's slides, in another order
LEFT = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]  # 4 both right, 2 only left, 1 only right, 3 both wrong
RIGHT = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0]


def table(pairs: dict[str, tuple[list[int], list[int]]]) -> pd.DataFrame:
    rows = [
        (dataset, algorithm, case, score)
        for dataset, sides in pairs.items()
        for algorithm, scores in zip(("bayes", "tree"), sides, strict=True)
        for case, score in enumerate(scores)
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])


def exact_p(b: int, c: int) -> float:
    """Twice the smaller tail of a binomial with probability one half, at most 1."""
    tail = Fraction(sum(comb(b + c, k) for k in range(min(b, c) + 1)), 2 ** (b + c))
    return float(min(2 * tail, Fraction(1)))


@pytest.mark.parametrize(("b", "c"), [(2, 1), (0, 5), (5, 0), (3, 3), (14, 3), (40, 70), (0, 1)])
def test_the_exact_p_is_twice_the_smaller_binomial_tail(b, c):
    result = mcnemar([[4, b], [c, 3]])
    assert result.pvalue == pytest.approx(exact_p(b, c), rel=1e-12)
    assert (result.statistic, result.df) == (min(b, c), None)


@pytest.mark.parametrize(
    ("method", "statistic"),
    [("chi2", 1 / 3), ("chi2_corrected", 0.0)],  # (2 - 1)^2 / 3 and (|2 - 1| - 1)^2 / 3
)
def test_four_two_one_three(method, statistic):
    for result in (
        mcnemar([4, 2, 1, 3], method=method),
        mcnemar([[4, 2], [1, 3]], method=method),
        mcnemar(np.array([[4.0, 2.0], [1.0, 3.0]]), method=method),
        mcnemar(LEFT, RIGHT, method=method),
        mcnemar(np.array(LEFT, dtype=bool), np.array(RIGHT, dtype=bool), method=method),
        mcnemar([bool(case) for case in LEFT], RIGHT, method=method),
        mcnemar(pd.Series(LEFT, dtype=bool), pl.Series(RIGHT), method=method),
    ):
        assert result.statistic == pytest.approx(statistic, rel=1e-15)
        # Chi-squared with one degree of freedom is a squared normal value
        assert result.pvalue == pytest.approx(math.erfc(math.sqrt(statistic / 2)), rel=1e-13)
        assert result.df == 1


def test_the_order_of_the_counts_is_left_before_right():
    # Of [[both, only left], [only right, neither]] only the middle two matter, and exchanging them changes nothing; putting
    # the diagonal in their place does
    assert mcnemar([90, 14, 3, 6]).pvalue == mcnemar([6, 3, 14, 90]).pvalue == pytest.approx(exact_p(14, 3))
    assert mcnemar([14, 90, 6, 3]).pvalue == pytest.approx(exact_p(90, 6), rel=1e-12)


def test_the_continuity_correction_of_equal_counts_is_not_zero():
    assert mcnemar([10, 4, 4, 10], method="chi2_corrected").statistic == 1 / 8


@pytest.mark.parametrize("method", METHODS)
def test_without_a_case_that_tells_them_apart_p_is_one(method):
    for result in (mcnemar([[7, 0], [0, 3]], method=method), mcnemar([1, 0, 1], [1, 0, 1], method=method)):
        assert (result.statistic, result.pvalue) == (0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_tables_have_one_p_for_each_data_set(method):
    pairs = {"iris": (LEFT, RIGHT), "wine": ([1, 1, 1, 0], [0, 0, 0, 0]), "zoo": ([1, 0], [1, 0])}
    frame = table(pairs)
    expected = [mcnemar(*sides, method=method) for sides in pairs.values()]
    for given in (frame, pl.from_pandas(frame), PairedDifferences.from_table(frame, rho=0.0)):
        result = mcnemar(given, method=method)
        assert result.pvalue.tolist() == [one.pvalue for one in expected]
        assert result.statistic.tolist() == [one.statistic for one in expected]
        assert result.dataset_names == ("iris", "wine", "zoo")
        assert result.algorithms == ("bayes", "tree")


def test_errors_of_zero_or_one_give_what_correctness_gives():
    errors = PairedDifferences.from_arrays([LEFT], [RIGHT], rho=0.0, higher_is_better=False)
    # Exchanging 0 and 1 exchanges both diagonals of the table, and the test has no direction
    assert mcnemar(errors, method="chi2").statistic[0] == pytest.approx(1 / 3)
    assert mcnemar(errors).pvalue[0] == mcnemar(LEFT, RIGHT).pvalue


def test_several_data_sets_of_vectors_are_rows():
    result = mcnemar([LEFT, LEFT], [RIGHT, LEFT])
    assert result.pvalue.tolist() == [mcnemar(LEFT, RIGHT).pvalue, 1.0]
    ragged = mcnemar([np.array(LEFT, dtype=bool), [1, 0]], [RIGHT, [0, 0]])
    assert ragged.pvalue.tolist() == [mcnemar(LEFT, RIGHT).pvalue, 1.0]


def test_swapping_the_algorithms_changes_nothing_as_the_test_has_no_direction():
    assert mcnemar(LEFT, RIGHT).pvalue == mcnemar(RIGHT, LEFT).pvalue


@pytest.mark.parametrize(
    "counts",
    [[1, 2, 3], [[1, 2, 3], [4, 5, 6]], [[1, 2], [3]], [True, False, True, False], "1234", 5, ["1", "2", "3", "4"]],
)
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(ScoreTableError, match="x alone must be the four counts"):
        mcnemar(counts)


@pytest.mark.parametrize("value", [-1, 1.5, math.nan, math.inf])
def test_counts_that_are_no_whole_numbers_are_refused(value):
    with pytest.raises(ScoreTableError, match=r"1 of the 4 counts are not whole numbers of at least 0 \(first: "):
        mcnemar([[4, value], [1, 3]])


def test_masked_counts_and_cases_are_refused():
    with pytest.raises(ScoreTableError, match="1 of 4 numbers of x are masked"):
        mcnemar(np.ma.array([4, 2, 1, 3], mask=[0, 1, 0, 0]))
    with pytest.raises(ScoreTableError, match="masked"):
        mcnemar(np.ma.array(LEFT, mask=[1] + [0] * 9), RIGHT)


def test_scores_that_are_neither_right_nor_wrong_are_refused_with_their_place():
    frame = table({"iris": (LEFT, RIGHT), "wine": ([1, 1], [0, 1])}).astype({"score": float})
    frame.loc[frame.index[-1], "score"] = 0.5
    with pytest.raises(ScoreTableError, match=r"1 of 12 scores of 'tree' are neither \(first: data set 'wine', 0\.5\)"):
        mcnemar(frame)
    with pytest.raises(ScoreTableError, match="2 of 2 scores of 'left' are neither"):
        mcnemar([0.9, 0.8], [1, 1])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_cases_that_are_not_finite_are_refused(value):
    with pytest.raises(ScoreTableError, match="not finite"):
        mcnemar([1, value], [1, 0])


def test_vectors_of_unequal_lengths_are_refused():
    with pytest.raises(ScoreTableError, match="must be paired"):
        mcnemar([1, 0, 1], [1, 0])
    with pytest.raises(ArgumentError, match="table already has the scores of both sides"):
        mcnemar(table({"iris": (LEFT, RIGHT)}), RIGHT)


@pytest.mark.parametrize("method", ["Exact", "chi-squared", None, True])
def test_an_unknown_method_is_refused(method):
    with pytest.raises(ArgumentError, match="method must be 'exact', 'chi2' or 'chi2_corrected', got"):
        mcnemar([4, 2, 1, 3], method=method)


def test_what_a_table_leaves_out_is_warned_of_and_kept():
    frame = table({"iris": (LEFT, RIGHT), "wine": ([1, 1], [0, 1])})
    frame = frame[(frame["dataset"] != "wine") | (frame["algorithm"] == "tree")]
    with pytest.warns(DroppedScoresWarning, match="'wine'") as caught:
        result = mcnemar(frame)
    assert caught[0].filename == __file__
    assert "'wine'" in result.notes[0]


def test_the_result_says_what_it_is():
    result = mcnemar([40, 14, 3, 6], left="bayes", right="tree")
    assert result.title == "McNemar's test (exact binomial), bayes against tree, 1 data set, two-sided"
    assert "p = 0.0127: at the 5% level equal performance is rejected." in str(result)


def test_a_column_of_errors_needs_the_direction_and_takes_it():
    cases = [
        ("iris", name, fold, error) for fold in range(8) for name, error in (("a", fold > 5), ("b", fold in (0, 6)))
    ]
    table = pd.DataFrame(cases, columns=["dataset", "algorithm", "fold", "error"]).astype({"error": int})
    with pytest.raises(ScoreTableError, match="higher_is_better=False"):
        mcnemar(table)
    assert mcnemar(table, higher_is_better=False).pvalue == mcnemar([[5, 1], [1, 1]]).pvalue
