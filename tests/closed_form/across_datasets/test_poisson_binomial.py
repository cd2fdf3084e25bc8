"""The Poisson-binomial test: what it takes, what it says, degenerate data."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from hiercomp.closed_form.across_datasets.poisson_binomial import poisson_binomial_test
from hiercomp.closed_form.across_datasets.signed_rank import signed_rank_test
from hiercomp.closed_form.one_dataset.correlated_t import correlated_t_test
from hiercomp.closed_form.simulated_differences import unequal_uncertainty_differences
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, ScoreTableError
from hiercomp.scores.differences import PairedDifferences

P = [0.9, 0.8, 0.3, 0.6]
DIFFERENCES = np.random.default_rng(1).normal(0.01, 0.03, size=(9, 12))


def table(differences: np.ndarray) -> pd.DataFrame:
    rows = [
        (f"d{dataset}", algorithm, fold, 0.5 + (algorithm == "tree") * difference)
        for dataset, row in enumerate(differences)
        for fold, difference in enumerate(row)
        for algorithm in ("bayes", "tree")
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])


def test_four_coins_by_hand():
    # P(X > 2) of .9 .8 .3 .6: all four .1296, then one failing: .0144 + .0324 + .3024 + .0864
    result = poisson_binomial_test(P)
    assert result.p_right == pytest.approx(0.1296 + 0.0144 + 0.0324 + 0.3024 + 0.0864, rel=1e-14)
    # P(X = 0) .0056, P(X = 1): .0504 + .0224 + .0024 + .0084
    assert result.p_left == pytest.approx(0.0056 + 0.0504 + 0.0224 + 0.0024 + 0.0084, rel=1e-13)
    assert result.p_left + result.p_tie + result.p_right == pytest.approx(1, abs=1e-15)
    assert result.errors == {"p_left": 0, "p_rope": 0, "p_right": 0, "p_tie": 0}


def test_an_odd_number_of_data_sets_has_no_tie():
    assert poisson_binomial_test([0.5, 0.5, 0.5]).p_tie == 0
    assert poisson_binomial_test([0.5, 0.5, 0.5]).p_right == 0.5


def test_one_data_set_is_its_own_probability():
    result = poisson_binomial_test([0.8])
    assert (result.p_left, result.p_right) == (pytest.approx(0.2), 0.8)


def test_differences_give_the_probabilities_of_the_correlated_t_test():
    result = poisson_binomial_test(DIFFERENCES, rho=0.1)
    mean, spread = DIFFERENCES.mean(axis=1), DIFFERENCES.std(axis=1, ddof=1)
    expected = stats.t.cdf(mean / (spread * np.sqrt(1 / 12 + 0.1 / 0.9)), 11)
    np.testing.assert_allclose(result.region_probabilities[:, 2], expected, rtol=1e-12)
    assert result.p_right == pytest.approx(stats.poisson_binom.sf(4, expected), abs=1e-13)
    assert result.p_left == pytest.approx(stats.poisson_binom.cdf(4, expected), abs=1e-13)


@pytest.mark.parametrize("rope", [0, 0.01, (-0.02, 0.005)])
def test_arrays_tables_differences_and_posteriors_agree(rope):
    frame = table(DIFFERENCES)
    given = [
        poisson_binomial_test(frame, rope=rope),
        poisson_binomial_test(pl.from_pandas(frame), rope=rope),
        poisson_binomial_test(PairedDifferences.from_table(frame), rope=rope),
        poisson_binomial_test(DIFFERENCES, rho=1 / 12, rope=rope),
        poisson_binomial_test(list(DIFFERENCES), rho=1 / 12, rope=rope),
        poisson_binomial_test(correlated_t_test(frame), rope=rope),
    ]
    for result in given[1:]:
        np.testing.assert_allclose(
            [result.p_left, result.p_right], [given[0].p_left, given[0].p_right], rtol=1e-9
        )  # 0.5 + d - 0.5 has lost digits of d
    assert given[0].algorithms == ("bayes", "tree")
    assert "bayes against tree, 9 data sets" in str(given[0])


def test_a_lower_is_better_metric_turns_the_sides():
    one, other = (poisson_binomial_test(table(DIFFERENCES), higher_is_better=better) for better in (True, False))
    assert (one.p_left, one.p_right) == (pytest.approx(other.p_right), pytest.approx(other.p_left))


def test_the_rope_version_is_the_trinomial_of_the_correlated_t_test():
    regions = correlated_t_test(DIFFERENCES, rho=0.1, rope=0.01)
    stacked = np.stack([regions.p_left, regions.p_rope, regions.p_right], axis=1)
    result = poisson_binomial_test(DIFFERENCES, rho=0.1, rope=0.01)
    np.testing.assert_allclose(result.region_probabilities, stacked, rtol=1e-14)
    # An independent simulation of the three counts, with its own Monte Carlo error
    generator = np.random.default_rng(3)
    outcomes = (generator.random((40_000, 9, 1)) > stacked.cumsum(axis=1)[:, :2]).sum(axis=2)
    counts = np.stack([(outcomes == region).sum(axis=1) for region in range(3)], axis=1)
    winners = counts == counts.max(axis=1, keepdims=True)
    shares = (winners / winners.sum(axis=1, keepdims=True)).mean(axis=0)
    error = 4 * np.sqrt(shares * (1 - shares) / 40_000)
    assert (np.abs(shares - [result.p_left, result.p_rope, result.p_right]) <= error).all()
    for region, name in enumerate(("left", "rope", "right")):
        share = (2 * counts[:, region] > 9).mean()
        assert abs(share - result.majority[name]) <= 4 * np.sqrt(share * (1 - share) / 40_000) + 1e-4
    assert result.p_left + result.p_rope + result.p_right == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("rope", [0, 0.01])
def test_sampling_agrees_with_the_exact_result_within_its_error(rope):
    exact = poisson_binomial_test(DIFFERENCES, rho=0.1, rope=rope)
    sampled = poisson_binomial_test(DIFFERENCES, rho=0.1, rope=rope, method="sampling", seed=5)
    for name, error in sampled.errors.items():
        assert abs(getattr(sampled, name) - getattr(exact, name)) <= 4 * error
    assert 0 < sampled.errors["p_right"] < 0.002  # sqrt(p (1 - p) / 100,000) is at most 0.0016
    again = poisson_binomial_test(DIFFERENCES, rho=0.1, rope=rope, method="sampling", seed=5)
    other = poisson_binomial_test(DIFFERENCES, rho=0.1, rope=rope, method="sampling", seed=6)
    assert again.p_right == sampled.p_right != other.p_right


def test_sampled_distributions_are_those_of_the_exact_ones():
    exact = poisson_binomial_test(P)
    sampled = poisson_binomial_test(P, method="sampling")
    np.testing.assert_allclose(sampled.pmf, exact.pmf, atol=4 * 0.5 / np.sqrt(100_000))
    np.testing.assert_allclose(sampled.cdf + sampled.sf, 1, rtol=1e-12)
    assert sampled.sf[-1] == 0
    of_draws = sampled.pmf * 100_000
    np.testing.assert_allclose(of_draws, np.rint(of_draws), atol=1e-8)


@pytest.mark.parametrize("rope", [0, 0.01])
def test_sampling_in_batches_gives_the_same(rope, monkeypatch):
    options = {"rho": 0.1, "rope": rope, "method": "sampling", "draws": 1000, "seed": 4}
    at_once = poisson_binomial_test(DIFFERENCES, **options)
    monkeypatch.setattr("hiercomp.closed_form.across_datasets.poisson_binomial.SAMPLED_AT_ONCE", 9 * 300)
    batches = poisson_binomial_test(DIFFERENCES, **options)  # of 300, 300, 300 and 100 draws
    pd.testing.assert_frame_equal(batches.to_frame(), at_once.to_frame(), rtol=1e-12)  # sums in another order


@pytest.mark.filterwarnings("ignore::hiercomp.errors.DegenerateScoresWarning")
def test_identical_algorithms_are_symmetric_and_equivalent_within_a_rope():
    same = np.zeros((5, 10))
    plain = poisson_binomial_test(same, rho=0.1)
    assert (plain.p_left, plain.p_right) == (0.5, 0.5)
    assert plain.region_probabilities.tolist() == [[0.5, 0, 0.5]] * 5
    roped = poisson_binomial_test(same, rho=0.1, rope=0.01)
    assert (roped.p_left, roped.p_rope, roped.p_right) == (0, 1, 0)


@pytest.mark.filterwarnings("ignore::hiercomp.errors.DegenerateScoresWarning")
def test_a_winner_without_variation_counts_for_its_side():
    differences = np.vstack([np.full(12, 0.05), DIFFERENCES])
    result = poisson_binomial_test(differences, rho=0.1)
    assert result.region_probabilities[0].tolist() == [0, 0, 1]
    with pytest.warns(DegenerateScoresWarning, match="1 of 10 data sets"):
        posterior = correlated_t_test(differences, rho=0.1)
    assert poisson_binomial_test(posterior).p_right == result.p_right


def test_unanimous_evidence_keeps_the_digits_of_the_other_tail():
    differences = 0.05 + 1e-4 * np.random.default_rng(2).normal(size=(7, 30))
    result = poisson_binomial_test(differences, rho=0.1)
    mean, spread = differences.mean(axis=1), differences.std(axis=1, ddof=1)
    lower = stats.t.sf(mean / (spread * np.sqrt(1 / 30 + 0.1 / 0.9)), 29)  # about 1e-60 each
    fewest = sum(np.prod(lower[list(chosen)]) for chosen in itertools.combinations(range(7), 4))
    assert result.p_left == pytest.approx(fewest, rel=1e-9)
    assert 0 < result.p_left < 1e-200


def test_three_hundred_data_sets_are_exact_and_more_than_five_hundred_are_sampled():
    wide = np.random.default_rng(8).normal(size=(501, 5))
    with pytest.raises(ArgumentError, match=r"501 data sets.*limit is 500.*method='sampling'"):
        poisson_binomial_test(wide, rho=0.2, rope=0.1)
    sampled = poisson_binomial_test(wide, rho=0.2, rope=0.1, method="sampling", draws=2000)
    assert sampled.region_probabilities.shape == (501, 3)
    exact = poisson_binomial_test(wide[:300], rho=0.2, rope=0.1)
    assert exact.joint_distribution().sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ([[0.2, 1.2]], {}, ArgumentError, r"1 of 2 lie outside \[0, 1\] \(first: position 1, 1.2\)"),
        ([[0.2, -0.1]], {}, ArgumentError, r"outside \[0, 1\].*Differences need one row"),
        ([[0.2, np.nan]], {}, ScoreTableError, r"1 of 2 numbers of x are not finite \(first: position 1, nan\)"),
        ([DIFFERENCES], {}, ArgumentError, "rho has no default for arrays"),
        ([P], {"rho": 0.1}, ArgumentError, "rho and higher_is_better do not apply"),
        ([P], {"method": "fft"}, ArgumentError, "method must be.*got 'fft'"),
        ([P], {"method": "sampling", "draws": 0}, ArgumentError, "draws must be at least 1, got 0"),
        ([P], {"rho": 0.1, "rope": 0.01}, ScoreTableError, "x has one dimension: with a rope"),
        ([[[0.1], [0.2]]], {"rho": 0.1}, ScoreTableError, "needs at least 2 scores for each data set"),
        ([[]], {}, ScoreTableError, "x must hold numbers"),
        ([DIFFERENCES], {"rho": 1.0}, ArgumentError, "rho must be at least 0 and below 1"),
    ],
)
def test_what_can_not_be_meant_is_refused(arguments, options, error, words):
    with pytest.raises(error, match=words):
        poisson_binomial_test(*arguments, **options)


def test_the_result_prints_its_question_and_its_answer():
    result = poisson_binomial_test(table(DIFFERENCES), rope=0.01)
    assert str(result).startswith("Poisson-binomial test (exact), bayes against tree, 9 data sets, rope [-0.01, 0.01]")
    assert "The most frequent outcome on these data sets is practical equivalence" in str(result)
    assert result.to_frame().columns.tolist() == ["outcome", "probability", "error", "majority"]
    plain = poisson_binomial_test(P, left="<b>", right="x")
    assert "&lt;b&gt;" in plain._repr_html_()
    assert "<b>" not in plain._repr_html_()
    assert plain.count_distribution().loc[4, "pmf"] == plain.pmf[4]
    assert plain.to_frame().loc["tie", "majority"] == 0


@pytest.mark.slow
def test_unequal_uncertainty_moves_the_poisson_binomial_and_not_the_signed_rank_test():
    # The example of the paper's Table 3, with other values: scripts/poisson_binomial_cases.py does 5,000 simulations
    found = {}
    for case in (1, 2):
        generator = np.random.default_rng([1, case])
        simulated = [unequal_uncertainty_differences(generator, case) for _ in range(400)]
        found[case] = [
            [poisson_binomial_test(x, rho=0.1).p_right for x in simulated],
            [signed_rank_test(x).pvalue for x in simulated],
        ]
    # Kolmogorov-Smirnov with 400 against 400: 1% of equal distributions differ by more than 0.115
    assert stats.ks_2samp(found[1][0], found[2][0]).statistic > 0.9
    assert stats.ks_2samp(found[1][1], found[2][1]).statistic < 0.115
    assert np.median(found[1][0]) > 0.9
    assert np.median(found[2][0]) < 0.1


def test_the_papers_table_3_changes_the_poisson_binomial_test_only():
    # Corani & Benavoli (2015), Table 3, with the sample moments equal to those of the design: ten differences each, rho 0
    z = np.arange(10) - 4.5
    z /= z.std(ddof=1)
    means = np.repeat([0.1, -0.1], 5)
    found = {}
    for case, deviations in {1: np.full(10, 0.05), 2: np.repeat([0.05, 0.15], 5)}.items():
        x = means[:, None] + deviations[:, None] * z
        success = stats.t.cdf(means * np.sqrt(10) / deviations, 9)
        pmf = np.ones(1)
        for p in success:
            pmf = np.convolve(pmf, [1 - p, p])
        result = poisson_binomial_test(x, rho=0.0)
        assert result.p_right == pytest.approx(pmf[6:].sum(), rel=1e-9)
        found[case] = result.p_right, signed_rank_test(x).pvalue
    assert found[1][0] < 0.001
    assert 0.1 < found[2][0] < 0.2  # about 1 - (1 - P(t > 2.11))^5
    assert found[1][1] == found[2][1] == 1  # ranks are tied, and half of the signs are positive


def test_data_sets_that_never_vary_are_named():
    with pytest.warns(DegenerateScoresWarning, match="never vary in 2 of 3 data sets"):
        result = poisson_binomial_test([[0.001] * 10, [0.002] * 10, [0.01, -0.01] * 5], rho=0.1)
    assert "point mass" in result.notes[-1]


def test_a_rope_without_width_that_is_not_at_0_is_named():
    """Every difference favours right, though none by 0.05."""
    found = poisson_binomial_test([[0.02, 0.04, 0.03, 0.035, 0.025]] * 3, rho=0.2, rope=(0.05, 0.05))
    assert "rope [0.05, 0.05]" in found.title
    assert "The mean difference is below 0.05 on more than half of these data sets" in found.conclusion
