"""Friedman's, Iman & Davenport's and Nemenyi's tests, and the tables of scores they read."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scikit_posthocs
from scipy import stats

from hiercomp.closed_form.many_algorithms.friedman import PostHocResult, friedman_test, nemenyi_test
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, DroppedScoresWarning, ScaleWarning, ScoreTableError

GOLDEN = json.loads((Path(__file__).parents[2] / "data/golden_numbers.json").read_text(encoding="utf-8"))
# The accuracies of Inza's slides; chi-squared, its p and Nemenyi's p-values are printed there, from R. The slides' sums of
# ranks (13, 18, 24) are a misprint: their columns add up to 13, 20.5 and 26.5, and only these give the chi-squared.
NB = [100, 85.34, 90.02, 71.70, 72.67, 79.36, 70.63, 83.21, 98.22, 69.62]
SVM = [99.44, 81.34, 91.51, 66.16, 71.67, 77.08, 62.21, 80.63, 93.58, 99.90]
ADABOOST = [83.63, 46.46, 72.31, 70.28, 71.67, 74.35, 44.91, 82.54, 93.21, 72.54]
WIDE = pd.DataFrame({"nB": NB, "SVM": SVM, "AdaBoost": ADABOOST}, index=[f"d{number}" for number in range(10)])
TESTS = [friedman_test, nemenyi_test]


def tidy(folds: int = 4) -> pd.DataFrame:
    """Scores of folds whose means are those of WIDE."""
    rows = [
        (dataset, algorithm, 1 + fold // 2, 1 + fold % 2, score + 0.25 * (fold - (folds - 1) / 2))
        for dataset, scores in WIDE.iterrows()
        for algorithm, score in scores.items()
        for fold in range(folds)
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "run", "fold", "score"])


def test_ten_data_sets_and_three_algorithms():
    # Chi-squared by hand: the ranks sum to 13, 20.5 and 26.5, with one tie of two; the p is exp(-chi2 / 2) for df 2
    result = friedman_test(WIDE)
    assert result.mean_ranks.tolist() == [1.3, 2.05, 2.65]
    between = Fraction(10) * sum((Fraction(rank) - 2) ** 2 for rank in ("1.3", "2.05", "2.65"))
    total = 9 * Fraction(2) + Fraction(3, 2)  # each data set 1 + 0 + 1, with a tie 1 + 1/4 + 1/4
    chi_squared = 10 * 2 * between / total
    assert result.statistic == pytest.approx(float(chi_squared), rel=1e-13) == pytest.approx(9.3846, abs=5e-5)
    assert result.pvalue == pytest.approx(math.exp(-chi_squared / 2), rel=1e-13) == pytest.approx(0.009166, abs=5e-7)
    f = 9 * chi_squared / (10 * 2 - chi_squared)  # Iman & Davenport
    assert result.f_statistic == pytest.approx(float(f), rel=1e-13)
    # P(F > f) with 2 and m degrees of freedom is (1 + 2 f / m)^(-m / 2)
    assert result.f_pvalue == pytest.approx((1 + 2 * f / 18) ** -9, rel=1e-13)
    assert (result.df, result.f_df) == (2, (2, 18))


def test_nemenyi_of_ten_data_sets_and_three_algorithms():
    matrix = nemenyi_test(WIDE).adjusted_pvalue_matrix()
    for one, other, p in (("SVM", "nB", 0.2140), ("AdaBoost", "nB", 0.0072), ("AdaBoost", "SVM", 0.3721)):
        assert matrix.loc[one, other] == matrix.loc[other, one] == pytest.approx(p, abs=5e-5)
    assert np.diag(matrix).tolist() == [1, 1, 1]


@pytest.mark.parametrize("k", [2, 3, 6])
def test_nemenyi_is_that_of_scikit_posthocs(k):
    scores = np.random.default_rng(k).normal(np.arange(k) / 3, 1, size=(15, k)).round(1)
    expected = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    np.testing.assert_allclose(nemenyi_test(scores).pvalue, expected, atol=1e-11)


def scores_with_a_rank_difference(total: int, count: int, k: int) -> np.ndarray:
    """Scores of which the ranks of the first two algorithms differ by ``total`` in all."""
    rows = []
    for _ in range(count):
        step = min(total, k - 1)
        total -= step
        others = [rank for rank in range(k) if rank not in (0, step)]
        rows.append([0, -step, *(-rank for rank in others[: k - 2])])
    assert total == 0
    return np.array(rows)


@pytest.mark.parametrize("case", GOLDEN["studentized_range"], ids=lambda case: f"{case['k']}-{case['q']}")
def test_the_p_of_a_pair_is_the_integral_of_the_density_of_the_range(case):
    # The unit sqrt(k (k + 1) / (12 N)) is 0.1 or 0.25, so that some difference of mean ranks has the q of the case
    k, q = case["k"], case["q"]
    count, unit = {3: (100, 0.1), 5: (40, 0.25)}[k]
    result = nemenyi_test(scores_with_a_rank_difference(round(q * unit * count), count, k))
    assert result.statistic[0, 1] == pytest.approx(q, rel=1e-13)
    assert result.pvalue[0, 1] == pytest.approx(
        float(case["greater"]), abs=1e-11
    )  # the tolerance of scipy's integration


def range_tail(q: float, k: int) -> mpmath.mpf:
    """P(range of k standard normal values > q) = 1 - k int phi(z) (Phi(z + q) - Phi(z))^(k - 1) dz."""
    with mpmath.workdps(20):
        return 1 - k * mpmath.quad(
            lambda z: mpmath.npdf(z) * (mpmath.ncdf(z + q) - mpmath.ncdf(z)) ** (k - 1), [-12, -4, 0, 4, 12]
        )


def test_nemenyi_compares_differences_of_mean_ranks_with_the_studentized_range():
    result = nemenyi_test(WIDE)
    for one, other, difference in ((0, 1, 0.75), (0, 2, 1.35), (1, 2, 0.6)):
        q = difference / math.sqrt(3 * 4 / (12 * 10))
        assert result.statistic[one, other] == result.statistic[other, one] == pytest.approx(q, rel=1e-12)
        assert result.pvalue[one, other] == pytest.approx(float(range_tail(q, 3)), abs=1e-11)
    assert np.isnan(np.diag(result.statistic)).all()


# Demšar (2006), Table 5a: the studentized range over sqrt(2)
@pytest.mark.parametrize(
    ("alpha", "values"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_differences_are_demsars(alpha, values):
    for k, value in enumerate(values, start=2):
        scores = np.random.default_rng(k).random((14, k))
        found = nemenyi_test(scores, alpha=alpha).critical_difference / math.sqrt(k * (k + 1) / (6 * 14))
        assert found == pytest.approx(value, abs=1e-3)  # the paper's third decimal is not always rounded


def test_a_pair_is_told_apart_where_the_ranks_differ_by_more_than_the_critical_difference():
    scores = np.random.default_rng(4).normal(np.arange(8) / 3, 1, size=(12, 8))
    result = nemenyi_test(scores)
    apart = np.abs(result.mean_ranks[:, None] - result.mean_ranks) > result.critical_difference
    assert ((result.pvalue < 0.05) == apart).all()
    assert 0 < apart.sum() < 56


# As tables of Friedman's chi-squared for three algorithms have it, to three decimals. Where all agree, it is 6^(1 - N)
@pytest.mark.parametrize(
    ("rank_sums", "statistic", "p"),
    [
        ((2, 4, 6), 4.0, 0.167),
        ((3, 6, 9), 6.0, 0.028),
        ((4, 8, 12), 8.0, 0.0046),
        ((5, 8, 11), 4.5, 0.125),
        ((5, 7, 12), 6.5, 0.042),
    ],
)
def test_the_exact_p_of_few_data_sets_is_that_of_the_tables(rank_sums, statistic, p):
    count = sum(rank_sums) // 6
    table = next(
        rows for rows in product(permutations((1, 2, 3)), repeat=count) if tuple(np.sum(rows, axis=0)) == rank_sums
    )
    result = friedman_test(-np.array(table))
    assert result.statistic == pytest.approx(statistic, rel=1e-13)
    assert result.exact_pvalue == pytest.approx(p, abs=5e-4)


@pytest.mark.parametrize(("count", "k"), [(3, 3), (2, 4), (2, 5)])
def test_the_exact_p_is_that_of_a_permutation_test_with_ties(count, k):
    def spread(*ranks: np.ndarray, axis: int) -> np.ndarray:
        return np.sum([np.sum(of_one, axis=axis) ** 2 for of_one in ranks], axis=0)

    scores = np.random.default_rng(k).integers(0, 3, size=(count, k))
    ranks = stats.rankdata(-scores, axis=1)
    expected = stats.permutation_test(
        list(ranks.T), spread, permutation_type="samples", vectorized=True, n_resamples=10**6, alternative="greater"
    )
    assert 0 < friedman_test(scores).exact_pvalue < 1
    assert friedman_test(scores).exact_pvalue == pytest.approx(expected.pvalue, rel=1e-12)


def test_the_verdict_on_few_data_sets_is_that_of_the_exact_p():
    result = friedman_test([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]])
    assert (result.f_pvalue, result.exact_pvalue) == (0, pytest.approx(1 / 6))
    assert result.conclusion.endswith(
        "exact p = 0.167: at the 5% level equal performance of all is not rejected, which is no evidence for it "
        "(by the exact p)."
    )
    assert friedman_test(WIDE).exact_pvalue is None
    assert friedman_test(WIDE).conclusion.endswith("is rejected (by F).")


def test_iman_and_davenports_f_is_infinite_where_all_data_sets_agree():
    result = friedman_test(np.arange(12.0).reshape(4, 3))
    assert result.statistic == pytest.approx(4 * 2, rel=1e-14)  # its largest value, N (k - 1)
    assert (result.f_statistic, result.f_pvalue) == (math.inf, 0)
    assert result.mean_ranks.tolist() == [3, 2, 1]
    tied = friedman_test([[1.0, 1.0, 2.0], [3.0, 3.0, 4.0], [0.0, 0.0, 5.0]])  # so they are with the same ties
    assert (tied.f_statistic, tied.f_pvalue) == (math.inf, 0)


@pytest.mark.parametrize("test", TESTS)
def test_scores_that_tie_everywhere_have_p_one(test):
    with pytest.warns(DegenerateScoresWarning, match="tie on every data set") as caught:
        result = test(np.repeat([[0.3], [0.7]], 3, axis=1))
    assert caught[0].filename == __file__
    assert np.all(result.pvalue == 1)
    assert "tie on every" in result.notes[0]
    if not isinstance(result, PostHocResult):
        assert (result.statistic, result.f_statistic, result.f_pvalue, result.exact_pvalue) == (0, 0, 1, 1)


def test_one_pair_of_algorithms_that_ties_everywhere_has_p_one():
    result = nemenyi_test(np.array([[0.5, 0.5, 0.9], [0.6, 0.6, 0.2]]))
    assert result.pvalue[0, 1] == 1


def test_ties_up_to_rounding_are_ties():
    assert 0.1 + 0.2 != 0.3
    rounded = friedman_test([[0.1 + 0.2, 0.3, 0.5], [0.2, 0.4, 0.6], [0.1, 0.3, 0.2]])
    exact = friedman_test([[0.3, 0.3, 0.5], [0.2, 0.4, 0.6], [0.1, 0.3, 0.2]])
    assert rounded.mean_ranks.tolist() == exact.mean_ranks.tolist() == [8.5 / 3, 5.5 / 3, 4 / 3]
    assert rounded.statistic == exact.statistic


def test_ties_are_judged_within_each_data_set():
    # A data set with large numbers does not make ties of another with small ones
    scores = [[1e12, 2e12, 3e12], [1e-12, 2e-12, 3e-12]]
    assert friedman_test(scores).mean_ranks.tolist() == [3, 2, 1]


@pytest.mark.parametrize("test", TESTS)
def test_wide_tidy_and_array_agree(test):
    expected = test(WIDE)
    shuffled = tidy().sample(frac=1, random_state=1)
    named = WIDE.rename_axis("dataset").reset_index()
    for given in (
        WIDE.to_numpy(),
        WIDE.to_numpy().tolist(),
        named,
        pl.from_pandas(named),
        pa.Table.from_pandas(named),
        pl.from_pandas(WIDE),
        WIDE.rename_axis(columns="algorithm"),
        tidy(),
        tidy().drop(columns="run").assign(fold=list(range(4)) * 30),
        tidy(1).drop(columns=["run", "fold"]),
        pl.from_pandas(tidy()),
        tidy().set_index(["dataset", "algorithm"]),
        tidy().rename(columns={"dataset": "Task", "algorithm": "Classifier", "score": "auc"}),
    ):
        result = test(given)
        np.testing.assert_allclose(result.mean_ranks, expected.mean_ranks, rtol=1e-15)
        np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-12)
    mixed = test(shuffled)
    order = [mixed.algorithms.index(name) for name in expected.algorithms]
    np.testing.assert_allclose(mixed.mean_ranks[order], expected.mean_ranks, rtol=1e-15)


def test_names_come_from_the_table():
    for given in (WIDE, tidy(), pl.from_pandas(tidy())):
        result = friedman_test(given)
        assert result.algorithms == ("nB", "SVM", "AdaBoost")
        assert result.dataset_names == tuple(f"d{number}" for number in range(10))
    assert friedman_test(WIDE.to_numpy()).algorithms == ("algorithm 1", "algorithm 2", "algorithm 3")


def test_a_loss_turns_the_ranks_round():
    gain, loss = friedman_test(WIDE), friedman_test(WIDE, higher_is_better=False)
    np.testing.assert_allclose(loss.mean_ranks, 4 - gain.mean_ranks, rtol=1e-15)
    assert loss.statistic == pytest.approx(gain.statistic, rel=1e-13)
    assert (friedman_test(-WIDE, higher_is_better=False).mean_ranks == gain.mean_ranks).all()


def holes(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.copy()
    frame.loc["d2", "SVM"] = np.nan
    frame.loc["d7", ["nB", "AdaBoost"]] = [np.inf, np.nan]
    return frame


@pytest.mark.parametrize("test", TESTS)
def test_missing_scores_are_refused_with_their_number_and_names(test):
    message = (
        r"3 of 30 scores are missing or not finite \(first: dataset 'd2', algorithm 'SVM'; dataset 'd7', algorithm 'nB'; "
        r"dataset 'd7', algorithm 'AdaBoost'\).*missing='drop' to leave out 2 data sets: 'd2', 'd7'"
    )
    with pytest.raises(ScoreTableError, match=message):
        test(holes(WIDE))


@pytest.mark.parametrize("test", TESTS)
def test_data_sets_with_missing_scores_are_dropped_with_a_warning(test):
    with pytest.warns(DroppedScoresWarning, match=r"3 of 30 scores .*2 data sets left out: 'd2', 'd7'") as caught:
        result = test(holes(WIDE), missing="drop")
    assert caught[0].filename == __file__
    assert "left out: 'd2', 'd7'" in result.notes[0]
    complete = test(WIDE.drop(index=["d2", "d7"]))
    assert (result.mean_ranks == complete.mean_ranks).all()
    np.testing.assert_array_equal(result.pvalue, complete.pvalue)


def test_a_missing_fold_is_a_missing_score():
    # The mean over the folds that are there would compare different folds
    frame = tidy().drop(index=5)  # d0, SVM, run 1, fold 2
    with pytest.raises(ScoreTableError, match=r"1 of 120 scores .*dataset 'd0', algorithm 'SVM', run 1, fold 2"):
        friedman_test(frame)
    with pytest.warns(DroppedScoresWarning, match="1 data set left out: 'd0'"):
        assert len(friedman_test(frame, missing="drop").dataset_names) == 9


def test_a_missing_algorithm_is_a_missing_score():
    frame = tidy()
    frame = frame[(frame["dataset"] != "d4") | (frame["algorithm"] != "SVM")]
    with pytest.raises(ScoreTableError, match="dataset 'd4', algorithm 'SVM', run 1, fold 1"):
        friedman_test(frame)


def test_data_sets_may_have_different_folds():
    frame = tidy()
    frame = frame[(frame["dataset"] != "d4") | (frame["run"] == 1)].assign(score=lambda rows: rows["score"])
    assert friedman_test(frame).statistic == pytest.approx(friedman_test(WIDE).statistic, rel=1e-12)


def test_many_missing_data_sets_are_counted():
    frame = WIDE.copy()
    frame.iloc[:7, 0] = np.nan
    with pytest.raises(ScoreTableError, match=r"first: .*and 2 more\).*'d4' and 2 more"):
        friedman_test(frame)
    with pytest.warns(DroppedScoresWarning, match="7 data sets left out"):
        assert friedman_test(frame, missing="drop").dataset_names == ("d7", "d8", "d9")


def test_too_few_data_sets_remain():
    frame = WIDE.copy()
    frame.iloc[1:, 0] = np.nan
    with pytest.raises(ScoreTableError, match="at least 2 data sets without missing scores, got 1"):
        friedman_test(frame, missing="drop")
    with pytest.raises(ScoreTableError, match="got 1"):
        friedman_test([[0.1, 0.2, 0.3]])


def test_friedman_needs_three_algorithms_and_nemenyi_two():
    with pytest.raises(ScoreTableError, match="at least 3 algorithms, got 2"):
        friedman_test(WIDE[["nB", "SVM"]])
    # With two algorithms the range of two normal values is sqrt(2) |z|: Siegel's z-test of the ranks
    result = nemenyi_test(WIDE[["nB", "SVM"]])
    z = abs(result.mean_ranks[0] - result.mean_ranks[1]) / math.sqrt(2 * 3 / 60)
    assert result.pvalue[0, 1] == pytest.approx(math.erfc(z / math.sqrt(2)), abs=1e-11)
    with pytest.raises(ScoreTableError, match="at least 2 algorithms, got 1"):
        nemenyi_test(WIDE[["nB"]])


@pytest.mark.parametrize("frame", [tidy(), tidy(1).drop(columns=["run", "fold"])])
def test_duplicate_cells_are_refused_even_with_equal_scores(frame):
    frame = pd.concat([frame, frame.iloc[[4]]])
    with pytest.raises(ScoreTableError, match="algorithm 'SVM'"):
        friedman_test(frame)


def test_duplicate_names_of_a_wide_table_are_refused():
    with pytest.raises(ScoreTableError, match="Several data sets are called 'd0'"):
        friedman_test(pd.concat([WIDE, WIDE.iloc[:1]]))
    with pytest.raises(ScoreTableError, match="Several algorithms are called 'SVM'"):
        friedman_test(WIDE.set_axis(["SVM", "SVM ", "nB"], axis=1))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (tidy().drop(columns="algorithm").rename(columns={"score": "x"}), "The table has a column 'run'"),
        (WIDE.T.rename_axis("algorithm").reset_index(), "The table has a column 'algorithm'"),
        (WIDE.T.rename_axis("algorithm"), "The table has a column 'algorithm'"),
        (WIDE.T.rename_axis(columns="dataset"), "The table has data sets as columns"),
        (WIDE.assign(fold=1), "The table has a column 'fold'"),
        (WIDE.assign(note="text"), "Column 'note' doesn't contain numbers"),
        (WIDE > 80, "Column 'nB' doesn't contain numbers"),
    ],
)
def test_a_table_of_another_form_is_refused(frame, message):
    with pytest.raises(ScoreTableError, match=message):
        friedman_test(frame)


@pytest.mark.parametrize(
    "scores", [[], [[]], [1.0, 2.0], [[1, 2], [3]], "text", None, [["1", "2", "3"]] * 3, np.ones((2, 2, 2))]
)
def test_what_is_no_table_of_numbers_is_refused(scores):
    with pytest.raises(ScoreTableError, match="one row for each data set and one column for each algorithm"):
        friedman_test(scores)


def test_nan_in_an_array_is_refused():
    with pytest.raises(ScoreTableError, match="1 of 9 scores are missing or not finite"):
        friedman_test([[1.0, 2.0, 3.0], [1.0, math.nan, 3.0], [3.0, 2.0, 1.0]])
    with pytest.raises(ScoreTableError, match="masked"):
        friedman_test(np.ma.array(WIDE.to_numpy(), mask=WIDE.to_numpy() == 100))


@pytest.mark.parametrize("test", TESTS)
def test_arguments_outside_what_is_allowed_are_refused(test):
    with pytest.raises(ArgumentError, match="missing must be 'error' or 'drop', got 'ignore'"):
        test(WIDE, missing="ignore")
    with pytest.raises(ArgumentError, match="higher_is_better must be True or False"):
        test(WIDE, higher_is_better=0)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, math.nan, "0.05", True])
def test_a_level_outside_its_range_is_refused(alpha):
    with pytest.raises(ArgumentError, match="alpha must be"):
        nemenyi_test(WIDE, alpha=alpha)


def test_names_that_differ_only_by_case_are_noted():
    with pytest.warns(ScaleWarning, match="differ only by case"):
        result = friedman_test(tidy().replace({"nB": "svm"}))
    assert "'SVM', 'svm'" in result.notes[0]


def result_of(p: np.ndarray, mean_ranks, alpha: float = 0.05) -> PostHocResult:
    names = tuple("abcdef"[: len(p)])
    return PostHocResult("test", names, np.array(mean_ranks, float), None, p, p, "none", alpha, None, 10)


def symmetric(k: int, apart: list[tuple[int, int]]) -> np.ndarray:
    p = np.ones((k, k))
    for one, other in apart:
        p[one, other] = p[other, one] = 0.01
    return p


@pytest.mark.parametrize(
    ("apart", "groups"),
    [
        ([], [("a", "b", "c", "d")]),
        ([(0, 3)], [("a", "b", "c"), ("b", "c", "d")]),
        ([(0, 2), (0, 3), (1, 3)], [("a", "b"), ("b", "c"), ("c", "d")]),
        ([(0, 1), (0, 2), (0, 3)], [("b", "c", "d")]),
        ([(0, 1), (2, 3)], [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]),  # not neighbours in rank
        ([(i, j) for i in range(4) for j in range(i)], []),
    ],
)
def test_groups_are_the_largest_sets_without_a_pair_that_is_told_apart(apart, groups):
    assert result_of(symmetric(4, apart), [1, 2, 3, 4]).groups() == groups


def test_groups_begin_with_the_best_rank():
    assert result_of(symmetric(3, [(0, 1)]), [3, 1, 2]).groups() == [("b", "c"), ("c", "a")]


def test_groups_depend_on_the_level():
    p = symmetric(3, [(0, 1)])
    assert result_of(p, [1, 2, 3], alpha=0.005).groups() == [("a", "b", "c")]
    assert result_of(p, [1, 2, 3], alpha=0.02).groups() == [("a", "c"), ("b", "c")]


def test_nemenyis_groups_are_intervals_of_ranks_within_the_critical_difference():
    scores = np.random.default_rng(4).normal(np.arange(8) / 3, 1, size=(12, 8))
    result = nemenyi_test(scores)
    ranks = np.sort(result.mean_ranks)
    widest = {
        (start, int(np.searchsorted(ranks, ranks[start] + result.critical_difference, side="right")))
        for start in range(8)
    }
    maximal = [
        (start, end)
        for start, end in sorted(widest)
        if end - start > 1 and not any(a <= start and end <= b and (a, b) != (start, end) for a, b in widest)
    ]
    names = np.array(result.algorithms)[np.argsort(result.mean_ranks)]
    assert result.groups() == [tuple(names[start:end]) for start, end in maximal]
    assert len(result.groups()) > 1


def test_the_friedman_result_says_what_it_is():
    result = friedman_test(WIDE)
    assert result.title == "Friedman test, 3 algorithms, 10 data sets, higher is better"
    assert "Chi-squared = 9.385 (df 2), p = 0.00917" in result.conclusion
    assert "F = 7.957 (df 2, 18), p = 0.00334" in result.conclusion
    frame = friedman_test(WIDE[["AdaBoost", "SVM", "nB"]]).to_frame()
    assert frame["mean_rank"].to_dict() == {"nB": 1.3, "SVM": 2.05, "AdaBoost": 2.65}
    assert frame.index.tolist() == ["nB", "SVM", "AdaBoost"]
    assert "nB" in str(result)
    assert "no evidence" in friedman_test([[1, 2, 3], [3, 2, 1], [2, 1, 3]]).conclusion


def test_the_nemenyi_result_says_what_it_is():
    result = nemenyi_test(WIDE)
    assert result.title == "Nemenyi test, all pairs of 3 algorithms, 10 data sets, higher is better"
    assert "1 of 3 pairs differ significantly (critical difference 1.048)" in result.conclusion
    frame = result.to_frame()
    assert frame.columns.tolist() == ["algorithm", "against", "statistic", "pvalue", "adjusted_pvalue"]
    assert frame[["algorithm", "against"]].to_numpy().tolist() == [
        ["nB", "SVM"],
        ["nB", "AdaBoost"],
        ["SVM", "AdaBoost"],
    ]
    assert (frame["pvalue"] == frame["adjusted_pvalue"]).all()
    assert result.adjusted_pvalue_matrix().columns.tolist() == ["nB", "SVM", "AdaBoost"]
    assert (result.adjust, result.n_datasets) == ("none", 10)


def test_correlations_are_no_scores():
    table = pd.DataFrame({"dataset": list("abcd"), "x": [0.9, 0.8, 0.7, 0.6], "y": [0.8, 0.9, 0.6, 0.5], "rho": 0.1})
    with pytest.raises(ScoreTableError, match="'rho'"):
        friedman_test(table)


@pytest.mark.parametrize("name", ["Unnamed: 0", "id", "fit_time", "n_instances"])
def test_an_index_a_count_or_a_duration_is_no_algorithm(name):
    frame = pd.DataFrame(np.random.default_rng(0).random((8, 3)), columns=["svm", "rf", "nb"], index=list("abcdefgh"))
    frame.insert(0, name, np.arange(8))
    with pytest.raises(ScoreTableError, match=f"Column '{name}' looks like an index, a count or a duration"):
        friedman_test(frame)
