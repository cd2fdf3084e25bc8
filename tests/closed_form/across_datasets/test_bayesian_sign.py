"""The Bayesian sign and signed-rank tests against closed forms, mpmath and independent simulation."""

from __future__ import annotations

import tracemalloc

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from hiercomp.closed_form.across_datasets.bayesian_sign import (
    bayesian_sign_test,
    bayesian_signed_rank_test,
    largest_of_dirichlet,
)
from hiercomp.closed_form.across_datasets.poisson_binomial import poisson_binomial_test
from hiercomp.errors import ArgumentError, ScoreTableError
from hiercomp.scores.differences import PairedDifferences

TESTS = [bayesian_sign_test, bayesian_signed_rank_test]
Z = [0.02, 0.03, -0.02, 0.05, 0.001, 0.04]


def regions(result) -> list[float]:
    return [result.p_left, result.p_rope, result.p_right]


def expected(result) -> list[float]:
    return [result.expected_left, result.expected_rope, result.expected_right]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 60])
def test_the_largest_of_a_dirichlet_by_hand(n):
    # The Gamma(n) variable exceeds two exponentials with probability E (1 - e^-x)^2 = 1 - 2 / 2^n + 1 / 3^n
    assert largest_of_dirichlet(np.array([n, 1.0, 1.0]))[0] == pytest.approx(1 - 2 / 2**n + 1 / 3**n, rel=1e-11)


@pytest.mark.parametrize(("a", "b"), [(3, 5), (0.5, 20), (40, 41.5), (1e-3, 2)])
def test_the_largest_of_two_is_a_beta_tail(a, b):
    found = largest_of_dirichlet(np.array([a, 0, b]))
    assert found[0] == pytest.approx(stats.beta.sf(0.5, a, b), rel=1e-9)  # relative, also where it is 1e-7
    assert found[1] == 0
    assert found.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("alpha", [(1, 0.5, 1), (7.5, 2, 4.25), (30, 1, 22.5), (2, 1, 50)])
def test_the_largest_of_three_agrees_with_mpmath(alpha):
    with mpmath.workdps(25):
        a, b, c = map(mpmath.mpf, alpha)

        def integrand(t):
            x = mpmath.exp(t)
            others = mpmath.gammainc(b, 0, x, regularized=True) * mpmath.gammainc(c, 0, x, regularized=True)
            return mpmath.exp(a * t - x) / mpmath.gamma(a) * others

        exact = mpmath.quad(integrand, [-40, -10, -3, 0, 2, 3, 4, 5, 7])
    assert largest_of_dirichlet(np.array(alpha, dtype=float))[0] == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("alpha", [[0, 0, 3], [0, 1, 0], [2, 0, 0]])
def test_a_single_component_is_certain(alpha):
    assert largest_of_dirichlet(np.array(alpha, dtype=float)).tolist() == [float(a > 0) for a in alpha]


def test_the_sign_test_counts_data_sets_and_adds_the_prior():
    result = bayesian_sign_test(Z, rope=0.01)  # one left, one in the rope, four right; the prior in the rope
    assert expected(result) == [1 / 7, 2 / 7, 4 / 7]
    np.testing.assert_allclose(regions(result), largest_of_dirichlet(np.array([1.0, 2, 4])), rtol=1e-14)
    assert result.errors == {"p_left": 0, "p_rope": 0, "p_right": 0}
    shares = (result.region_draws.argmax(axis=1)[:, None] == np.arange(3)).mean(axis=0)
    np.testing.assert_allclose(shares, regions(result), atol=4 * 0.5 / np.sqrt(50_000))


@pytest.mark.parametrize("place", ["left", "rope", "right"])
@pytest.mark.parametrize("strength", [0.0, 0.5, 3.0])
def test_the_prior_adds_its_strength_at_its_place(place, strength):
    counts = np.array([1.0, 1, 4])
    counts[["left", "rope", "right"].index(place)] += strength
    result = bayesian_sign_test(Z, rope=0.01, strength=strength, place=place)
    np.testing.assert_allclose(expected(result), counts / counts.sum(), rtol=1e-14)


def pair_expectation(z: np.ndarray, alpha: np.ndarray, lower: float, upper: float) -> np.ndarray:
    """E of sum w_i w_j in each region: Dirichlet weights have E w_i w_j = a_i a_j / (A (A + 1)), and a_i (a_i + 1)."""
    total = alpha.sum()
    weights = (np.outer(alpha, alpha) + np.diag(alpha)) / (total * (total + 1))
    sums = z[:, None] + z
    return np.array([weights[sums < 2 * lower].sum(), 0, weights[sums > 2 * upper].sum()])


@pytest.mark.parametrize(
    ("place", "pseudo"), [("rope", 0.0), ("left", -1e6), ("right", 1e6)]
)  # -inf + inf never occurs: there is one pseudo-observation
@pytest.mark.parametrize("strength", [0.0, 0.5, 2.0])
def test_expected_regions_of_the_signed_rank_test_are_those_of_the_dirichlet(place, pseudo, strength):
    result = bayesian_signed_rank_test(Z, rope=0.01, strength=strength, place=place, seed=2)
    exact = pair_expectation(np.array([*Z, pseudo]), np.array([1.0] * 6 + [strength]), -0.01, 0.01)
    exact[1] = 1 - exact.sum()
    error = result.region_draws.std(axis=0) / np.sqrt(50_000)
    assert (np.abs(expected(result) - exact) <= 4 * error + 1e-15).all()


def test_signed_rank_probabilities_agree_with_pairs_written_out():
    generator = np.random.default_rng(11)
    z = np.random.default_rng(3).normal(0.004, 0.03, 12)
    w = generator.dirichlet(np.ones(13), 20_000)
    sums = np.add.outer(np.append(z, 0), np.append(z, 0))
    thetas = np.stack([np.einsum("di,ij,dj->d", w, inside, w) for inside in _inside(sums, 0.01)], axis=1)
    shares = (thetas.argmax(axis=1)[:, None] == np.arange(3)).mean(axis=0)
    result = bayesian_signed_rank_test(z, rope=0.01)
    error = np.sqrt(shares * (1 - shares) * (1 / 20_000 + 1 / 50_000))
    assert (np.abs(regions(result) - shares) <= 4 * error).all()
    for region in ("p_left", "p_rope", "p_right"):
        p = getattr(result, region)
        assert result.errors[region] == pytest.approx(np.sqrt(p * (1 - p) / 50_000), rel=1e-6)


def _inside(sums: np.ndarray, half_width: float) -> list[np.ndarray]:
    left, right = sums < -2 * half_width, sums > 2 * half_width
    return [left.astype(float), (~left & ~right).astype(float), right.astype(float)]


@pytest.mark.parametrize("test", TESTS)
def test_identical_algorithms_have_one_half_each_or_are_equivalent(test):
    assert regions(test(np.zeros(8), rope=0)) == [0.5, 0, 0.5]
    assert regions(test(np.zeros(8), rope=0.01)) == [0, 1, 0]


@pytest.mark.parametrize("test", TESTS)
def test_zeros_are_split_equally(test):
    result = test([0.0, 0.0, 0.0, 0.1], rope=0)
    assert result.p_rope == result.expected_rope == 0
    assert 0.5 < result.expected_right < 1
    if test is bayesian_sign_test:  # 1 + (3 zeros + 1 of the prior) / 2 of 5
        assert expected(result) == [0.4, 0, 0.6]


@pytest.mark.parametrize("test", TESTS)
def test_differences_on_the_boundary_are_in_the_rope(test):
    # 0.81 - 0.8 is 0.010000000000000009
    differences = [[0.81 - 0.8], [0.01], [0.8 - 0.81], [-0.01]]
    assert regions(test(differences, rope=0.01)) == [0, 1, 0]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(("decimals", "rope"), [(2, 0.01), (3, 0.001)])
def test_printed_scores_on_the_boundary_are_in_the_rope(test, decimals, rope):
    generator = np.random.default_rng(3)
    for largest in np.linspace(0.5, 0.99, 50).round(2):
        left = np.append(generator.uniform(0.3, 0.5, 5), largest).round(decimals)
        right = (left + rope).round(decimals)
        table = pd.DataFrame({"dataset": list("abcdef"), "x": left, "y": right}).melt(
            "dataset", ["x", "y"], "algorithm", "score"
        )
        assert regions(test(table, rope=rope)) == [0, 1, 0], largest


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("rope", [0, 0.01])
def test_turning_every_sign_turns_the_sides(test, rope):
    one, other = test(Z, rope=rope), test([-z for z in Z], rope=rope)
    error = 4 * (one.errors["p_left"] + other.errors["p_left"]) + 1e-12
    np.testing.assert_allclose(regions(one), regions(other)[::-1], atol=error)


@pytest.mark.parametrize("test", TESTS)
def test_one_data_set_leaves_it_to_the_prior(test):
    result = test([0.5], rope=0.01)  # one right, one in the rope
    assert result.n_datasets == 1
    assert result.p_left == 0
    if test is bayesian_sign_test:
        assert regions(result) == [0, pytest.approx(0.5), pytest.approx(0.5)]
    else:  # w1^2 + 2 w1 w0 > 1/2 of a uniform w1, for the average of 0.5 and 0 is right of the rope: w0 < sqrt(1/2)
        assert result.p_right == pytest.approx(np.sqrt(0.5), abs=4 * 0.5 / np.sqrt(50_000))


@pytest.mark.parametrize("test", TESTS)
def test_rows_tables_and_means_agree(test):
    differences = np.random.default_rng(1).normal(0.01, 0.03, size=(7, 10))
    rows = [
        (f"d{dataset}", algorithm, fold, 0.5 + (algorithm == "tree") * value)
        for dataset, row in enumerate(differences)
        for fold, value in enumerate(row)
        for algorithm in ("bayes", "tree")
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])
    results = [
        test(given, rope=0.01)
        for given in (frame, PairedDifferences.from_table(frame), differences, differences.mean(axis=1))
    ]
    assert len({tuple(regions(result)) for result in results}) == 1
    one_score_each = frame.groupby(["dataset", "algorithm"], as_index=False)["score"].mean()
    assert regions(test(one_score_each, rope=0.01)) == regions(results[0])
    turned = test(frame, rope=0.01, higher_is_better=False)
    assert turned.expected_left == pytest.approx(results[0].expected_right, abs=0.02)


def test_the_seed_decides_the_draws():
    one, again, other = (bayesian_signed_rank_test(Z, rope=0.01, seed=seed) for seed in (1, 1, 2))
    assert one.region_draws.tobytes() == again.region_draws.tobytes() != other.region_draws.tobytes()
    np.testing.assert_allclose(one.region_draws.sum(axis=1), 1, atol=1e-12)
    assert (one.region_draws >= 0).all()


def test_memory_is_bounded_for_two_thousand_data_sets():
    z = np.random.default_rng(1).normal(size=2000)
    tracemalloc.start()
    bayesian_signed_rank_test(z, rope=0.1, draws=5000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6  # all draws at once would take 5000 * 2001 * 8 bytes several times; a matrix of pairs 32 MB


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("z", "options", "error", "words"),
    [
        ([0.1, np.nan], {}, ScoreTableError, r"1 of 2 numbers of x are not finite.*not an equivalent one"),
        ([0.1, np.inf], {}, ScoreTableError, "not finite"),
        ([], {}, ScoreTableError, "x must hold numbers"),
        (Z, {"rope": -0.1}, ArgumentError, "rope is negative"),
        (Z, {"strength": -1}, ArgumentError, "strength must be at least 0, got -1"),
        (Z, {"strength": np.nan}, ArgumentError, "strength must be a finite number"),
        (Z, {"place": "middle"}, ArgumentError, "place must be 'left', 'rope' or 'right', got 'middle'"),
        (Z, {"draws": 0}, ArgumentError, "draws must be at least 1, got 0"),
        (Z, {"draws": 1e4}, ArgumentError, "draws must be a whole number"),
        (Z, {"seed": -1}, ArgumentError, "seed must be at least 0"),
    ],
)
def test_what_can_not_be_meant_is_refused(test, z, options, error, words):
    with pytest.raises(error, match=words):
        test(z, **options)


@pytest.mark.parametrize("test", TESTS)
def test_the_result_prints_its_question_and_its_answer(test):
    result = test(Z, rope=0.01, left="a<b", right="tree")
    assert "a<b against tree, 6 data sets, rope [-0.01, 0.01], prior 1 in rope" in str(result)
    assert "The most probable outcome over data sets is tree better, with probability 0." in str(result)
    assert "a&lt;b" in result._repr_html_()
    assert result.to_frame()["probability"].tolist() == regions(result)


def test_equal_probabilities_name_no_winner():
    assert (
        "left better or right better, with probability 0.500 each" in bayesian_sign_test([0, 0, 0.0], rope=0).conclusion
    )
    even = poisson_binomial_test([0.5, 0.5]).conclusion
    assert even == "left and right are each better on more than half of these data sets with probability 0.250."


@pytest.mark.parametrize(
    ("first", "second"),
    [(0.5, 0.3), (0.001, 0.002), (1000, 1040), (3190, 3150), (5000.5, 5049.5), (1e6, 1e6 + 700)],
)
def test_the_larger_of_two_dirichlet_components_is_a_beta_probability(first, second):
    """P(theta_1 > 1/2) of a Beta variable, whatever the size of the parameters."""
    expected = special.betainc(second, first, 0.5)
    found = largest_of_dirichlet(np.array([first, second]))
    assert found[0] == pytest.approx(expected, abs=1e-9)
    three = largest_of_dirichlet(np.array([first, 0.0, second]))
    np.testing.assert_array_equal(three, [found[0], 0.0, found[1]])


def test_a_billion_counts_give_the_probability_of_a_normal_variable():
    """It is P(S < a) for S successes of n = a + b - 1 fair trials, which the normal approximation has to about 1/n."""
    first, second = 1e9, 1e9 + 20_000
    expected = stats.norm.cdf((first - second) / np.sqrt(first + second - 1))
    assert largest_of_dirichlet(np.array([first, second]))[0] == pytest.approx(expected, abs=2e-9)


def test_many_wins_are_counted_exactly():
    z = np.r_[-np.ones(5000), np.ones(5049)]
    found = bayesian_sign_test(z, rope=0)
    left, right = (z < 0).sum(), (z > 0).sum()
    assert found.p_left == pytest.approx(special.betainc(right + 0.5, left + 0.5, 0.5), abs=1e-10)
