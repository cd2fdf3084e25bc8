"""Tests of all pairs, and their adjustments, against definitions worked out by enumeration."""

from __future__ import annotations

import math
import sys
from itertools import chain, combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hiercomp.closed_form.across_datasets.signed_rank import signed_rank_with_ties
from hiercomp.closed_form.many_algorithms.friedman import nemenyi_test
from hiercomp.closed_form.many_algorithms.posthoc import (
    adjusted_pvalues,
    possible_true_hypotheses,
    posthoc_test,
    shaffer_adjusted,
)
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, DroppedScoresWarning, ScoreTableError

ADJUSTMENTS = ["holm", "shaffer", "bonferroni", "hochberg", "hommel", "fdr_bh", "fdr_by", "none"]
METHODS = ["wilcoxon", "nemenyi", "conover", "siegel", "miller"]
SCORES = np.random.default_rng(8).normal(0.7 + np.arange(4) / 40, 0.05, size=(12, 4))  # no ties
TIED = SCORES.round(2)
PAIRS = list(combinations(range(4), 2))


def upper(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.triu_indices(len(matrix), 1)]


def by_all_signs(differences, zero_method: str) -> tuple[float, float]:
    """Smaller rank sum and exact two-sided p of the signed-rank test, by the definition."""
    values = [value for value in differences if zero_method != "wilcox" or value != 0]
    sizes = sorted(abs(value) for value in values)
    ranks = [(sizes.index(abs(value)) + 1 + len(sizes) - sizes[::-1].index(abs(value))) / 2 for value in values]
    share = sum(rank for rank, value in zip(ranks, values, strict=True) if value == 0) / 2
    kept = [(rank, value > 0) for rank, value in zip(ranks, values, strict=True) if value != 0]
    seen = sum(rank for rank, positive in kept if positive)
    total = sum(rank for rank, _ in kept)
    sums = [
        sum(rank for (rank, _), positive in zip(kept, signs, strict=True) if positive)
        for signs in product([False, True], repeat=len(kept))
    ]
    tail = min(sum(value <= seen for value in sums), sum(value >= seen for value in sums)) / len(sums)
    return min(seen, total - seen) + (share if zero_method == "zsplit" else 0), min(1.0, 2 * tail)


def test_wilcoxons_test_is_that_of_scipy_pair_by_pair():
    result = posthoc_test(SCORES, adjust="none")
    for i, j in PAIRS:
        expected = stats.wilcoxon(SCORES[:, j] - SCORES[:, i], method="exact")
        assert result.pvalue[i, j] == result.pvalue[j, i] == pytest.approx(expected.pvalue, rel=1e-12)
        assert result.statistic[i, j] == expected.statistic
    many = np.random.default_rng(1).normal(np.arange(3) / 4, 1, size=(60, 3)).round(1)
    expected = stats.wilcoxon((many[:, 1] - many[:, 0]).round(1), zero_method="zsplit", method="approx").pvalue
    assert posthoc_test(many, adjust="none").pvalue[0, 1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("zero_method", ["zsplit", "wilcox", "pratt"])
def test_wilcoxons_test_of_a_few_data_sets_is_exact_with_ties_and_zeros(zero_method):
    generator = np.random.default_rng(2)
    seen = 0
    for _ in range(30):
        scores = generator.integers(0, 5, size=(int(generator.integers(2, 9)), 3)) / 10
        if len(np.unique(scores, axis=1)[0]) < 2:
            continue
        result = posthoc_test(scores, adjust="none", zero_method=zero_method)
        for i, j in combinations(range(3), 2):
            differences = (10 * (scores[:, j] - scores[:, i])).round()
            if not differences.any():
                assert result.pvalue[i, j] == 1
                continue
            statistic, p = by_all_signs(differences.tolist(), zero_method)
            assert result.pvalue[i, j] == pytest.approx(p, rel=1e-12)
            assert result.statistic[i, j] == statistic
            seen += 1
    assert seen > 50


@pytest.mark.parametrize("zero_method", ["zsplit", "wilcox", "pratt"])
def test_the_enumeration_of_signs_is_that_of_scipys_permutation_test(zero_method):
    differences = np.array([1.0, 1.0, -2.0, 0.0, 3.0, 3.0, -1.0, 5.0])
    method = stats.PermutationMethod()
    expected = stats.wilcoxon(differences, zero_method=zero_method, method=method)
    assert signed_rank_with_ties(differences, zero_method) == (
        expected.statistic,
        pytest.approx(expected.pvalue, rel=1e-12),
    )


def test_differences_that_are_equal_up_to_rounding_tie():
    # In doubles 0.9 - 0.8 and 0.8 - 0.7 differ, and 0.1 + 0.2 is not 0.3
    scores = np.array([[0.9, 0.8], [0.8, 0.7], [0.6, 0.7], [0.5, 0.2], [0.1 + 0.2, 0.3]])
    assert len(set(np.abs(scores[:, 0] - scores[:, 1]))) > 3
    result = posthoc_test(scores, adjust="none")
    statistic, p = by_all_signs([1, 1, -1, 3, 0], "zsplit")
    assert (result.statistic[0, 1], result.pvalue[0, 1]) == (statistic, p)


@pytest.mark.parametrize("method", METHODS)
def test_algorithms_that_are_equal_everywhere_have_p_one(method):
    scores = np.column_stack([TIED[:, 0], TIED[:, 0], TIED[:, 3]])
    assert posthoc_test(scores, method=method, adjust="none").pvalue[0, 1] == 1


def test_the_statistic_of_equal_algorithms_is_half_of_all_ranks():
    scores = np.column_stack([TIED[:, 0], TIED[:, 0], TIED[:, 3]])
    assert posthoc_test(scores).statistic[0, 1] == 12 * 13 / 4
    assert posthoc_test(scores, zero_method="wilcox").statistic[0, 1] == 0


@pytest.mark.parametrize("method", METHODS)
def test_scores_that_tie_everywhere_have_p_one(method):
    with pytest.warns(DegenerateScoresWarning, match="tie on every data set") as caught:
        result = posthoc_test(np.repeat([[0.3], [0.7], [0.5]], 3, axis=1), method=method)
    assert caught[0].filename == __file__
    assert (result.pvalue == 1).all()
    assert (result.adjusted_pvalue == 1).all()


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    return stats.rankdata(-scores, axis=1).mean(axis=0)


@pytest.mark.parametrize("scores", [SCORES, TIED])
def test_siegels_and_millers_tests_compare_mean_ranks_with_a_normal_and_a_chi_squared_distribution(scores):
    ranks = mean_ranks(scores)
    z = np.abs(ranks[:, None] - ranks) / math.sqrt(4 * 5 / (6 * 12))
    siegel, miller = posthoc_test(scores, method="siegel", adjust="none"), posthoc_test(scores, method="miller")
    np.testing.assert_allclose(
        siegel.pvalue, [[math.erfc(value / math.sqrt(2)) for value in row] for row in z], rtol=1e-12
    )
    np.testing.assert_allclose(miller.pvalue, stats.chi2.sf(z**2, 3), rtol=1e-12)
    assert siegel.statistic is None


@pytest.mark.parametrize("scores", [SCORES, TIED])
def test_conovers_test_compares_rank_sums_with_students_t(scores):
    # Conover (1999), Sect. 5.8: |R_i - R_j| / sqrt(2 (N A - sum R^2) / ((N - 1) (k - 1))), A the sum of squared ranks
    ranks = stats.rankdata(-scores, axis=1)
    sums, squares = ranks.sum(axis=0), (ranks**2).sum()
    unit = math.sqrt(2 * (12 * squares - (sums**2).sum()) / (11 * 3))
    expected = 2 * stats.t.sf(np.abs(sums[:, None] - sums) / unit, 11 * 3)
    np.testing.assert_allclose(posthoc_test(scores, method="conover", adjust="none").pvalue, expected, rtol=1e-10)


def test_conovers_t_is_infinite_where_all_data_sets_agree():
    result = posthoc_test(np.arange(12.0).reshape(4, 3), method="conover")
    assert upper(result.pvalue).tolist() == [0, 0, 0]
    tied = posthoc_test([[1.0, 1.0, 2.0], [3.0, 3.0, 4.0], [0.0, 0.0, 5.0]], method="conover")
    assert upper(tied.pvalue).tolist() == [1, 0, 0]


def test_nemenyis_test_is_the_function_of_that_name():
    result, expected = posthoc_test(TIED, method="nemenyi", alpha=0.1), nemenyi_test(TIED, alpha=0.1)
    assert (result.pvalue == expected.pvalue).all()
    assert result.critical_difference == expected.critical_difference
    assert result.adjust == "none"


def test_p_values_for_all_pairs_at_once_are_not_adjusted_again():
    result = posthoc_test(SCORES, method="miller", adjust="holm")
    assert (result.adjusted_pvalue == result.pvalue).all()
    assert result.adjust == "none"


@pytest.mark.parametrize("method", ["siegel", "conover", "miller"])
def test_without_scikit_posthocs_the_message_says_how_to_install_it(method, monkeypatch):
    monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
    with pytest.raises(ArgumentError, match=r"needs the package scikit-posthocs: pip install 'hiercomp\[posthocs\]'"):
        posthoc_test(SCORES, method=method)
    assert posthoc_test(SCORES, method="wilcoxon").pvalue.shape == (4, 4)


def partitions(items: list[int]) -> list[list[list[int]]]:
    """All partitions of a list."""
    if not items:
        return [[]]
    first, *rest = items
    found = []
    for partition in partitions(rest):
        found.append([[first], *partition])
        for place, block in enumerate(partition):
            found.append([*partition[:place], [first, *block], *partition[place + 1 :]])
    return found


@pytest.mark.parametrize("k", range(1, 9))
def test_the_possible_numbers_of_true_hypotheses_are_those_of_all_partitions(k):
    expected = {sum(math.comb(len(block), 2) for block in partition) for partition in partitions(list(range(k)))}
    assert possible_true_hypotheses(k) == tuple(sorted(expected))


def test_the_possible_numbers_of_true_hypotheses_of_five_algorithms():
    # García & Herrera (2008), Sect. 2
    assert possible_true_hypotheses(5) == (0, 1, 2, 3, 4, 6, 10)


# García & Herrera (2008): mean ranks of 5 algorithms over 30 data sets
MEAN_RANKS = {"C4.5": 2.100, "1NN": 3.250, "NaiveBayes": 2.200, "Kernel": 4.333, "CN2": 3.117}


def test_shaffers_procedure_on_the_example_of_garcia_and_herrera():
    ranks = np.array(list(MEAN_RANKS.values()))
    one, other = np.triu_indices(5, 1)
    z = np.abs(ranks[one] - ranks[other]) / math.sqrt(5 * 6 / (6 * 30))
    p = np.array([math.erfc(value / math.sqrt(2)) for value in z])
    # Given i - 1 false hypotheses, the most that can be true: 10; of at most 9, 8, 7, 6: 6; of at most 5, 4: 4; then 3, 2, 1
    most = [10, 6, 6, 6, 6, 4, 4, 3, 2, 1]
    expected, running = {}, 0.0
    for factor, place in zip(most, np.argsort(p), strict=True):
        running = max(running, min(1.0, factor * p[place]))
        expected[place] = running
    adjusted = shaffer_adjusted(p, 5)
    np.testing.assert_allclose(adjusted, [expected[place] for place in range(10)], rtol=1e-14)
    names = list(MEAN_RANKS)
    apart = {frozenset((names[i], names[j])) for i, j, q in zip(one, other, adjusted, strict=True) if q < 0.05}
    # Six pairs; Holm's sixth factor is 5 and leaves the last out
    assert apart == {
        frozenset(pair)
        for pair in [
            ("C4.5", "Kernel"), ("NaiveBayes", "Kernel"), ("CN2", "Kernel"),
            ("C4.5", "1NN"), ("1NN", "Kernel"), ("1NN", "NaiveBayes"),
        ]
    }  # fmt: skip
    assert (adjusted_pvalues(p, "holm", 5) < 0.05).sum() == 5


p_values = st.integers(2, 6).flatmap(
    lambda k: st.tuples(st.just(k), st.lists(st.floats(0, 1), min_size=k * (k - 1) // 2, max_size=k * (k - 1) // 2))
)


@given(p_values)
def test_shaffers_values_are_between_the_unadjusted_and_holms(case):
    k, p = case
    shaffer, order = shaffer_adjusted(p, k), np.argsort(p, kind="stable")
    holm = np.maximum.accumulate(np.array(p)[order] * np.arange(len(p), 0, -1))
    assert (shaffer >= p).all()
    assert (shaffer[order] <= holm).all()
    assert (np.diff(shaffer[order]) >= 0).all()


@settings(max_examples=25)
@given(p_values, st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_matter(case, random):
    k, p = case
    order = list(range(len(p)))
    random.shuffle(order)
    for adjust in ADJUSTMENTS[1:]:  # not Holm's, after which statsmodels collects garbage for 0.1 s
        plain, moved = adjusted_pvalues(p, adjust, k), adjusted_pvalues(np.array(p)[order], adjust, k)
        np.testing.assert_allclose(moved, plain[order], rtol=1e-13)


def closed(p: np.ndarray, local) -> list[float]:
    """Adjusted by closed testing: the largest p of a test of any intersection that contains the hypothesis."""
    places = range(len(p))
    subsets = list(chain.from_iterable(combinations(places, size) for size in range(1, len(p) + 1)))
    tests = {subset: local(np.sort(p[list(subset)])) for subset in subsets}
    return [max(value for subset, value in tests.items() if place in subset) for place in places]


def simes(ordered: np.ndarray) -> float:
    return float(np.min(len(ordered) * ordered / np.arange(1, len(ordered) + 1)))


@settings(max_examples=10)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_adjustments_are_their_definitions(values):
    p = np.array(values)
    count, ordered = len(p), np.sort(p)
    ranks = np.arange(1, count + 1)

    def step_up(factors: np.ndarray) -> np.ndarray:
        running = np.minimum(np.minimum.accumulate((factors * ordered)[::-1])[::-1], 1)
        return running[np.searchsorted(ordered, p)]

    expected = {
        "none": p,
        "bonferroni": np.minimum(count * p, 1),
        "holm": closed(p, lambda some: min(1.0, len(some) * some[0])),  # Bonferroni, closed
        "hommel": closed(p, simes),
        "hochberg": step_up(count + 1 - ranks),
        "fdr_bh": step_up(count / ranks),
        "fdr_by": step_up(count / ranks * np.sum(1 / ranks)),
    }
    for adjust, adjusted in expected.items():
        np.testing.assert_allclose(adjusted_pvalues(p, adjust, 4), adjusted, rtol=1e-12, err_msg=adjust)


def test_shaffers_procedure_keeps_its_level():
    # All algorithms equal but the last, which is far better: 6 true hypotheses of 10, the hardest configuration of S1.
    # Any false rejection at 5%, with four Monte Carlo errors
    generator = np.random.default_rng(2015)
    simulations, wrong = 2000, 0
    for ranks in generator.normal(0, 1, size=(simulations, 5)) / math.sqrt(2):
        ranks[4] += 10
        p = np.array([math.erfc(abs(ranks[i] - ranks[j]) / math.sqrt(2)) for i, j in combinations(range(5), 2)])
        adjusted = shaffer_adjusted(p, 5)
        wrong += any(q < 0.05 for q, (_, j) in zip(adjusted, combinations(range(5), 2), strict=True) if j < 4)
    error = math.sqrt(0.05 * 0.95 / simulations)
    assert 0.02 < wrong / simulations <= 0.05 + 4 * error


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
def test_the_matrix_holds_the_adjusted_values_of_the_pairs(adjust):
    result = posthoc_test(SCORES, adjust=adjust)
    np.testing.assert_array_equal(upper(result.adjusted_pvalue), adjusted_pvalues(upper(result.pvalue), adjust, 4))
    assert (result.adjusted_pvalue == result.adjusted_pvalue.T).all()
    assert (np.diag(result.adjusted_pvalue) == 1).all()
    assert (result.adjust, result.critical_difference) == (adjust, None)


@pytest.mark.parametrize("method", METHODS)
def test_tables_and_arrays_agree_and_a_loss_changes_no_p(method):
    wide = pd.DataFrame(TIED, columns=list("abcd")).rename_axis("dataset")
    tidy = wide.reset_index().melt("dataset", var_name="algorithm", value_name="score")
    expected = posthoc_test(TIED, method=method)
    for scores in (wide, tidy, pl.from_pandas(tidy)):
        result = posthoc_test(scores, method=method)
        np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-12)
        assert result.algorithms == tuple("abcd")
    loss = posthoc_test(TIED, method=method, higher_is_better=False)
    np.testing.assert_allclose(loss.pvalue, expected.pvalue, rtol=1e-9)
    np.testing.assert_allclose(loss.mean_ranks, 5 - expected.mean_ranks)


@pytest.mark.parametrize("method", METHODS)
def test_missing_scores_are_refused_or_dropped_with_a_warning(method):
    scores = TIED.copy()
    scores[3, 1] = np.nan
    with pytest.raises(ScoreTableError, match="1 of 48 scores are missing"):
        posthoc_test(scores, method=method)
    with pytest.warns(DroppedScoresWarning, match="1 data set left out: '4'") as caught:
        result = posthoc_test(scores, method=method, missing="drop")
    assert caught[0].filename == __file__
    assert "'4'" in result.notes[0]
    assert result.n_datasets == 11
    np.testing.assert_array_equal(result.pvalue, posthoc_test(np.delete(TIED, 3, axis=0), method=method).pvalue)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "tukey"},
            "method must be one of 'wilcoxon', 'nemenyi', 'conover', 'siegel', 'miller', got 'tukey'",
        ),
        ({"adjust": "bergmann"}, "adjust must be one of 'holm', 'shaffer', .*got 'bergmann'"),
        ({"adjust": None}, "adjust must be one of"),
        ({"zero_method": "drop"}, "zero_method must be one of 'zsplit', 'wilcox', 'pratt'"),
        ({"method": "siegel", "zero_method": "pratt"}, "zero_method applies to method 'wilcoxon' only"),
        ({"alpha": 0}, "alpha must be above 0 and below 1"),
        ({"missing": "omit"}, "missing must be 'error' or 'drop'"),
        ({"higher_is_better": 1}, "higher_is_better must be True or False"),
    ],
)
def test_arguments_outside_what_is_allowed_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        posthoc_test(SCORES, **options)


@pytest.mark.parametrize("p", [[0.1, 0.2], [0.1, 0.2, 1.1], [0.1, math.nan, 0.3], [-0.1, 0.2, 0.3]])
def test_p_values_that_do_not_fit_are_refused(p):
    with pytest.raises(ScoreTableError, match="3 algorithms have 3 pairs"):
        shaffer_adjusted(p, 3)
    with pytest.raises(ArgumentError, match="algorithms must be at least 2"):
        shaffer_adjusted([], 1)


def test_two_algorithms_and_two_data_sets_are_enough():
    assert posthoc_test([[0.5, 0.6], [0.7, 0.9]], adjust="shaffer").adjusted_pvalue[0, 1] == 0.5  # 2 of 4 sign patterns
    with pytest.raises(ScoreTableError, match="at least 2 algorithms"):
        posthoc_test([[0.5], [0.6]])
    with pytest.raises(ScoreTableError, match="at least 2 data sets"):
        posthoc_test([[0.5, 0.6]])


def test_the_result_says_what_it_is():
    result = posthoc_test(pd.DataFrame(SCORES, columns=list("abcd")), adjust="shaffer")
    assert (
        result.title
        == "Wilcoxon signed-rank test, all pairs of 4 algorithms, 12 data sets, p adjusted by shaffer, higher is better"
    )
    assert result.to_frame().columns.tolist() == ["algorithm", "against", "statistic", "pvalue", "adjusted_pvalue"]
    assert posthoc_test(SCORES, method="siegel").to_frame().columns.tolist() == [
        "algorithm",
        "against",
        "pvalue",
        "adjusted_pvalue",
    ]
    assert len(result.to_frame()) == 6
    assert "a" in str(result)


def test_a_third_algorithm_with_huge_scores_makes_no_ties_between_the_others():
    """One diverged model: the other two have p = 2 / 2^6 of Wilcoxon's test, as without it."""
    scores = np.array([[0.9, 0.8], [0.8, 0.7], [0.7, 0.6], [0.95, 0.85], [0.66, 0.6], [0.5, 0.4]])
    huge = np.column_stack([scores, np.full(6, 1e13)])
    found = posthoc_test(huge, higher_is_better=False)
    assert found.mean_ranks.tolist() == [2, 1, 3]
    assert found.pvalue[0, 1] == 2 / 2**6 == posthoc_test(scores, higher_is_better=False).pvalue[0, 1]


def test_scores_that_differ_by_rounding_share_a_rank():
    row = [0.1 + 0.2, 0.3, 0.7 - 0.4, 0.2]
    found = posthoc_test([row, row, row])
    assert found.mean_ranks.tolist() == [2, 2, 2, 4]


def test_means_of_scores_that_cancel_tie_as_the_scores_do():
    """Two algorithms with the same folds in another order: both means are 0 but for different rounding errors."""
    folds = {"a": [0.1, 0.2, -0.3], "b": [-0.3, 0.2, 0.1], "c": [0.1, 0.2, -0.2]}
    assert 0.1 + 0.2 - 0.3 != -0.3 + 0.2 + 0.1
    rows = [(f"d{i}", name, fold, x) for i in range(4) for name, xs in folds.items() for fold, x in enumerate(xs)]
    table = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])
    assert posthoc_test(table).mean_ranks.tolist() == [2.5, 2.5, 1]
