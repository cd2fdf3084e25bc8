"""Expected ranks where they are known, and against a plain loop over draws, data sets and algorithms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hiercomp.errors import ArgumentError
from hiercomp.pairs.cliques import maximal_groups
from hiercomp.pairs.ranking import (
    ASSUMPTION,
    Standings,
    drawn_means,
    expected_ranks,
    residual_factor,
    shared_ranks,
    standings_of,
)
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.table import tidy_scores


def standings(scores: list[np.ndarray], rho: float = 0.1, names: str = "abcdefgh") -> Standings:
    """Of arrays of shape (n_i, k)."""
    k = scores[0].shape[1]
    return Standings(
        algorithms=tuple(names[:k]),
        dataset_names=tuple(f"d{i}" for i in range(len(scores))),
        means=np.array([rows.mean(axis=0) for rows in scores]),
        residuals=tuple(residual_factor(rows) for rows in scores),
        n=np.array([len(rows) for rows in scores]),
        rho=np.full(len(scores), rho),
    )


def simulated(datasets: int, n: int, centres: list[float], seed: int = 0, spread: float = 0.02) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    shape = (n, len(centres))
    return [generator.normal(0.8, 0.05) + generator.normal(centres, spread, size=shape) for _ in range(datasets)]


def test_identical_algorithms_share_every_rank_equally():
    same = [np.repeat(rows[:, :1], 4, axis=1) for rows in simulated(6, 10, [0.0])]
    table = expected_ranks(standings(same))
    np.testing.assert_array_equal(table["expected_rank"], 2.5)
    np.testing.assert_allclose(table[["lower", "upper"]], 2.5, atol=1e-12)
    np.testing.assert_allclose(table["p_best"], 0.25, atol=1e-12)
    assert list(table.index) == ["a", "b", "c", "d"]


def test_an_algorithm_that_always_wins_is_first_without_a_doubt():
    table = expected_ranks(standings(simulated(6, 10, [0.0, 0.5, 0.0])))
    assert table.index[0] == "b"
    assert table.loc["b"].tolist() == [1.0, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(table.loc[["a", "c"], "p_best"], 0)
    assert table["expected_rank"].sum() == pytest.approx(6, abs=1e-12)


@pytest.mark.parametrize("n", [2, 5, 100])
def test_of_two_algorithms_the_chance_is_that_of_the_correlated_t_test(n):
    scores = simulated(7, n, [0.0, 0.01], seed=n)
    known = []  # Corani & Benavoli (2015), Eqs. (8) and (9): the tail of a Student-t with n - 1 df
    for rows in scores:
        difference = rows[:, 1] - rows[:, 0]
        scale = np.sqrt(difference.var(ddof=1) * (1 / n + 0.1 / 0.9))
        known.append(stats.t.sf(0, n - 1, loc=difference.mean(), scale=scale))
    draws = 40_000
    table = expected_ranks(standings(scores), draws=draws, seed=3)
    expected, variance = np.mean(known), np.sum(np.array(known) * (1 - np.array(known))) / 49
    assert table.loc["b", "p_best"] == pytest.approx(expected, abs=4 * np.sqrt(variance / draws))
    assert table.loc["b", "expected_rank"] == pytest.approx(2 - table.loc["b", "p_best"], abs=2e-12)
    assert table.attrs["p_best_error"] == pytest.approx(np.sqrt(variance / draws), rel=0.05)


def test_the_interval_is_that_of_the_bayesian_bootstrap():
    # a wins on two of five data sets without a doubt: its expected rank is 2 - w with w ~ Beta(2, 3)
    scores = simulated(2, 10, [0.5, 0.0]) + simulated(3, 10, [0.0, 0.5])
    draws = 20_000
    table = expected_ranks(standings(scores), draws=draws)
    share = stats.beta(2, 3)
    for column, tail in (("lower", 0.975), ("upper", 0.025)):
        quantile = share.ppf(tail)
        error = np.sqrt(0.025 * 0.975 / draws) / share.pdf(quantile)  # of a sample's quantile
        assert table.loc["a", column] == pytest.approx(2 - quantile, abs=4 * error)
    assert table.loc["a", "expected_rank"] == pytest.approx(1.6, abs=1e-12)


@pytest.mark.parametrize(("n", "k"), [(6, 4), (3, 6), (30, 3)])
def test_the_drawn_means_have_the_moments_of_the_multivariate_t(n, k):
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(n, k)) @ generator.normal(size=(k, k))
    given = standings([rows], rho=0.2)
    draws = 200_000
    drawn = drawn_means(given, 0, draws, np.random.default_rng(6))
    scale = np.cov(rows, rowvar=False) * (1 / n + 0.2 / 0.8)
    # A t with n - 1 df has no fourth moment for n = 3; quartiles exist for all, of every single mean and difference
    contrasts = [np.eye(k)[0], np.eye(k)[1] - np.eye(k)[0], generator.normal(size=k)]
    for weights in contrasts:
        values = (drawn - rows.mean(axis=0)) @ weights / np.sqrt(weights @ scale @ weights)
        for probability in (0.05, 0.25, 0.5, 0.9):
            below = np.mean(values < stats.t.ppf(probability, n - 1))
            assert below == pytest.approx(probability, abs=4 * np.sqrt(probability * (1 - probability) / draws))


@pytest.mark.slow
def test_a_plain_loop_gives_the_same_within_its_error():
    scores = [*simulated(3, 4, [0.0, 0.02, 0.02, 0.01], seed=1), *simulated(2, 12, [0.03, 0.02, 0.0, 0.01], seed=2)]
    scores[1][:, 2] = scores[1][:, 1]  # two that tie on one data set
    generator, draws = np.random.default_rng(9), 4000
    ranks, firsts = np.zeros((draws, 4)), np.zeros((draws, 4))
    for draw in range(draws):
        shares = generator.gamma(1.0, size=len(scores))
        shares /= shares.sum()
        for share, rows in zip(shares, scores, strict=True):
            n = len(rows)
            covariance = np.cov(rows, rowvar=False) * (1 / n + 0.1 / 0.9)
            means = stats.multivariate_t.rvs(rows.mean(axis=0), covariance, df=n - 1, random_state=generator)
            means = means.round(9)
            for one in range(4):
                better, equal = sum(means > means[one]), sum(means == means[one])
                ranks[draw, one] += share * (1 + better + (equal - 1) / 2)
                firsts[draw, one] += share * (better == 0) / equal
    table = expected_ranks(standings(scores), draws=20_000).loc[list("abcd")]
    for values, column in ((ranks, "expected_rank"), (firsts, "p_best")):
        error = values.std(axis=0) * np.sqrt(1 / draws + 1 / 20_000)
        assert (np.abs(values.mean(axis=0) - table[column]) < 4 * error).all()
    for column, tail in (("lower", 0.025), ("upper", 0.975)):
        error = np.sqrt(0.025 * 0.975 * (1 / draws + 1 / 20_000))
        assert (np.abs((ranks < table[column].to_numpy()).mean(axis=0) - tail) < 4 * error).all()
    assert table.loc["b", "p_best"] != table.loc["c", "p_best"]


def test_more_algorithms_than_folds_are_ranked():
    generator = np.random.default_rng(4)
    wide = [generator.normal(np.linspace(0, 3, 30), 0.01, size=(4, 30)) for _ in range(5)]
    table = expected_ranks(standings(wide, names="".join(chr(65 + i) for i in range(30))))
    assert list(table.index) == [chr(65 + i) for i in reversed(range(30))]
    assert table["expected_rank"].sum() == pytest.approx(30 * 31 / 2)


def test_the_factor_of_the_residuals_has_their_sums_of_products():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    centred = rows - rows.mean(axis=0)
    factor = residual_factor(rows)
    assert factor.shape == (3, 3)
    np.testing.assert_allclose(factor.T @ factor, centred.T @ centred, rtol=1e-12)
    assert residual_factor(rows[:2]).shape == (2, 3)


def test_the_seed_decides_and_chunks_do_not_change_the_moments(monkeypatch):
    given = standings(simulated(4, 6, [0.0, 0.01, 0.01]))
    first, again, other = (expected_ranks(given, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    monkeypatch.setattr("hiercomp.pairs.ranking.VALUES_AT_ONCE", 3 * 500)
    in_chunks = expected_ranks(given, seed=1)
    error = 4 * np.sqrt(2) * first.attrs["expected_rank_error"]
    assert (in_chunks["expected_rank"] - first["expected_rank"]).abs().max() < error


def test_ties_share_their_ranks_and_the_first_place():
    values = np.array([[1.0, 3.0, 3.0, 3.0], [2.0, 1.0, 0.0, 2.0], [4.0, 3.0, 2.0, 1.0]])
    ranks, shares = shared_ranks(values, np.abs(values))
    np.testing.assert_array_equal(ranks, [stats.rankdata(-row) for row in values])
    np.testing.assert_allclose(shares, [[0, 1 / 3, 1 / 3, 1 / 3], [0.5, 0, 0, 0.5], [1, 0, 0, 0]])
    close, _ = shared_ranks(np.array([[0.1 + 0.2, 0.3, 0.4]]), np.full(3, 0.4))
    np.testing.assert_array_equal(close, [[2.5, 2.5, 1.0]])


def test_a_huge_value_makes_no_ties_between_others_and_cancelled_scores_tie():
    huge = np.array([[0.9, 0.8, 1e13]])
    np.testing.assert_array_equal(shared_ranks(huge, np.abs(huge))[0], [[2, 3, 1]])
    folds = np.array(
        [[0.1, 0.2, -0.3], [-0.3, 0.2, 0.1], [0.1, 0.2, -0.2]]
    )  # the first two are one set in another order
    means = folds.mean(axis=1)
    assert means[0] != means[1]
    np.testing.assert_array_equal(shared_ranks(means[None], np.abs(folds).max(axis=1))[0], [[2.5, 2.5, 1]])


def test_the_assumption_is_said_and_no_common_data_set_is_an_error():
    given = standings(simulated(4, 6, [0.0, 0.01]))
    assert expected_ranks(given).attrs["assumption"] == ASSUMPTION
    nothing = Standings(("a", "b"), (), np.empty((0, 2)), (), np.empty(0, int), np.empty(0), left_out=("d1", "d2"))
    with pytest.raises(ArgumentError, match=r"No data set has scores of all 2 algorithms.*'d1', 'd2'"):
        expected_ranks(nothing)


@pytest.mark.parametrize("options", [{"draws": 10}, {"draws": 1000.5}, {"seed": -1}, {"seed": "0"}])
def test_wrong_arguments_of_the_ranking_are_refused(options):
    with pytest.raises(ArgumentError):
        expected_ranks(standings(simulated(2, 4, [0.0, 0.1])), **options)


def brute_force_groups(alike: np.ndarray) -> list[tuple[int, ...]]:
    count = len(alike)
    complete = [
        {node for node in range(count) if code >> node & 1}
        for code in range(2**count)
        if all(alike[i, j] for i in range(count) if code >> i & 1 for j in range(i) if code >> j & 1)
    ]
    return sorted(
        tuple(sorted(group)) for group in complete if len(group) > 1 and not any(group < other for other in complete)
    )


@pytest.mark.parametrize("density", [0.2, 0.5, 0.8, 1.0])
def test_the_groups_are_the_maximal_ones_among_all_subsets(density):
    generator = np.random.default_rng(int(10 * density))
    for count in (2, 5, 8):
        upper = np.triu(generator.random((count, count)) < density, 1)
        alike = upper | upper.T
        assert maximal_groups(alike) == brute_force_groups(alike)


def test_too_many_groups_are_an_error_that_says_so():
    alike = ~np.kron(np.eye(9, dtype=bool), np.ones((3, 3), dtype=bool))  # 3^9 = 19,683 groups (Moon & Moser 1965)
    with pytest.raises(ArgumentError, match=r"more than 10,000 groups"):
        maximal_groups(alike)


def test_a_data_set_with_common_scores_in_one_group_only_is_left_out_of_the_ranking():
    generator = np.random.default_rng(0)
    rows = [
        (f"d{i}", algorithm, fold, fold // 3, 0.7 + 0.03 * k + 0.02 * generator.normal())
        for i in range(8)
        for k, algorithm in enumerate("abc")
        for fold in range(12)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "group", "score"])
    table = table[~((table["algorithm"] == "c") & (table["dataset"] == "d0") & (table["fold"] > 2))]
    arrays = ScoreArrays.of(tidy_scores(table, {"group": "group"}), rho=None)
    standings = standings_of(arrays)
    assert standings.left_out == ("d0",)
    assert standings.n.tolist() == [4] * 7
