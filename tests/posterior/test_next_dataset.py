"""Inference on the next data set, decisions, odds and the table of data sets, from draws made by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import signal, stats

from hiercomp.errors import ArgumentError
from hiercomp.posterior.next_dataset import (
    NextDataset,
    dataset_table,
    decide,
    effective_size,
    next_dataset,
    non_inferiority,
    posterior_odds,
)
from hiercomp.rope import REGIONS, Rope

ROPE = Rope.of(0.5)
NAMES = ("p_left", "p_rope", "p_right", "expected_left", "expected_rope", "expected_right", "p_positive")


def seen(left: float, rope: float, right: float, *, error: float = 0.0, draws: int = 4000) -> NextDataset:
    errors = dict.fromkeys(NAMES, error)
    return NextDataset(left, rope, right, left, rope, right, right, errors, draws)


def random_draws(shape: tuple[int, int] = (4, 500), seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.normal(0.2, 0.6, shape), generator.gamma(3, 0.2, shape), 1 + generator.gamma(2, 10, shape)


def test_probabilities_are_the_proportions_of_draws_in_which_the_region_is_the_largest():
    # With a scale of 0.1 nearly all mass is where the centre is: 5 draws left, 3 in the rope, 2 right of ten
    delta0 = np.array([[-1.0, -1, -1, 0, 1], [-1, -1, 0, 0, 1]])
    inference = next_dataset(delta0, np.full((2, 5), 0.1), np.full((2, 5), 5.0), ROPE)
    assert inference.probabilities == {"left": 0.5, "rope": 0.3, "right": 0.2}
    assert inference.p_positive == 0.2
    assert inference.draws == 10


def test_ties_are_shared_equally():
    # Centred between the ends of the rope, left and right are equally probable; with a wide scale more than the rope
    generator = np.random.default_rng(1)
    sigma0 = generator.uniform(10, 20, (2, 50))
    inference = next_dataset(np.zeros((2, 50)), sigma0, np.inf, ROPE)
    assert (inference.p_left, inference.p_rope, inference.p_right) == (0.5, 0.0, 0.5)


def test_expected_probabilities_are_the_means_of_the_t_distributions_regions():
    delta0, sigma0, nu = random_draws()
    rope = Rope(-0.2, 0.4)
    inference = next_dataset(delta0, sigma0, nu, rope)
    population = stats.t(nu, delta0, sigma0)
    below, above = population.cdf(rope.lower), population.sf(rope.upper)
    assert inference.expected_left == pytest.approx(below.mean(), rel=1e-10)
    assert inference.expected_right == pytest.approx(above.mean(), rel=1e-10)
    assert inference.expected_rope == pytest.approx((1 - below - above).mean(), rel=1e-10)
    largest = np.argmax([below, 1 - below - above, above], axis=0)  # no ties among random draws
    assert inference.probabilities == {region: np.mean(largest == i) for i, region in enumerate(REGIONS)}


def test_an_infinite_nu_is_the_gaussian():
    delta0, sigma0, _ = random_draws()
    inference = next_dataset(delta0, sigma0, np.inf, ROPE)
    assert inference.expected_left == pytest.approx(stats.norm(delta0, sigma0).cdf(-0.5).mean(), rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_sum_to_one(seed):
    inference = next_dataset(*random_draws(seed=seed), Rope(-0.3, 0.1))
    assert sum(inference.probabilities.values()) == pytest.approx(1, abs=1e-12)
    assert sum(inference.expected.values()) == pytest.approx(1, abs=1e-12)


def test_monte_carlo_errors_match_the_spread_over_replications_of_correlated_draws():
    # AR(1) with coefficient 0.6: an effective sample is (1 + 0.6)/(1 - 0.6) = 4 draws. The relative error of a standard
    # deviation from R replications is 1/sqrt(2 (R - 1)) = 0.05, and 0.05 are left for the bias of the estimated ESS.
    replications, coefficient = 200, 0.6
    generator = np.random.default_rng(11)
    estimates = {name: [] for name in NAMES}
    errors = {name: [] for name in NAMES}
    for _ in range(replications):
        noise = generator.standard_normal((4, 600)) * math.sqrt(1 - coefficient**2)
        delta0 = 0.3 + signal.lfilter([1], [1, -coefficient], noise)[:, 100:]
        inference = next_dataset(delta0, np.full(delta0.shape, 0.4), np.inf, ROPE)
        for name in NAMES:
            estimates[name].append(getattr(inference, name))
            errors[name].append(inference.errors[name])
    for name in NAMES:
        ratio = np.sqrt(np.mean(np.square(errors[name]))) / np.std(estimates[name], ddof=1)
        assert abs(ratio - 1) < 4 * 0.05 + 0.05, name


def test_where_all_draws_agree_the_error_is_not_zero():
    # Of N = 1000 independent draws none differs: p = 0.5/1001, sqrt(p (1 - p)/1000) = 7.07e-4. Four of these are 0.0028,
    # about the rule of three: an unseen event has probability below 3/N = 0.003 with 95% confidence.
    delta0 = np.random.default_rng(2).normal(5, 0.1, (4, 250))
    inference = next_dataset(delta0, np.full((4, 250), 0.1), np.full((4, 250), 30.0), ROPE)
    assert (inference.p_left, inference.p_right, inference.p_positive) == (0, 1, 1)
    for name in ("p_left", "p_rope", "p_right", "p_positive"):
        assert 7.0e-4 < inference.errors[name] < 1.3 * 7.07e-4


def test_where_only_the_population_mean_changes_the_error_is_not_zero():
    delta0 = np.random.default_rng(2).normal(5, 0.1, (4, 250))  # a range below 1
    inference = next_dataset(delta0, np.full((4, 250), 1e-9), np.inf, ROPE)
    assert inference.expected == {"left": 0, "rope": 0, "right": 1}
    assert inference.errors["p_right"] > 7.0e-4


def test_a_point_mass_has_no_monte_carlo_error():
    zero = np.zeros((1, 1))
    inference = next_dataset(zero, zero, np.inf, ROPE)
    assert inference.probabilities == {"left": 0, "rope": 1, "right": 0}
    assert set(inference.errors.values()) == {0.0}


def test_the_dictionary_is_json_with_every_value_and_error():
    inference = next_dataset(*random_draws(), ROPE)
    read = json.loads(json.dumps(inference.to_dict(), allow_nan=False))
    assert read["monte_carlo_standard_errors"] == inference.errors
    assert {name: read[name] for name in NAMES} == {name: getattr(inference, name) for name in NAMES}


@pytest.mark.parametrize("region", REGIONS)
def test_a_probability_above_one_minus_alpha_decides(region):
    probabilities = dict.fromkeys(REGIONS, 0.01) | {region: 0.98}
    decision = decide(seen(**probabilities, error=0.002), 0.05)
    assert (decision.region, decision.most_probable, decision.probability) == (region, region, 0.98)


@pytest.mark.parametrize(
    ("probability", "error", "expected"),
    [
        (0.96, 0.004, "undecided"),  # 0.010 above the threshold of 0.95, three errors are 0.012
        (0.94, 0.004, "undecided"),  # 0.010 below
        (0.965, 0.004, "right"),  # 0.015 above
        (0.93, 0.004, "none"),  # 0.020 below
        (0.951, 0.0, "right"),
        (0.95, 0.0, "none"),  # not above
    ],
)
def test_within_three_monte_carlo_errors_of_the_threshold_nothing_is_decided(probability, error, expected):
    decision = decide(seen(0.0, 1 - probability, probability, error=error))  # by default at the level of 0.05
    assert decision.region == expected
    assert decision.most_probable == "right"


def test_a_larger_alpha_decides_more():
    inference = seen(0.02, 0.1, 0.88, error=0.005)
    assert decide(inference, 0.05).region == "none"
    assert decide(inference, 0.2).region == "right"


@pytest.mark.parametrize("alpha", [0, 0.5, 1, -0.05, math.nan, math.inf, True, "0.05", None])
def test_an_alpha_outside_zero_and_a_half_is_refused(alpha):
    with pytest.raises(ArgumentError, match="alpha"):
        decide(seen(0.0, 0.1, 0.9), alpha)


@pytest.mark.parametrize(
    ("left", "right", "value", "grade"),
    [
        (0.75, 0.25, 3, "weak"),  # 1 to 3
        (0.25, 0.75, 3, "weak"),
        (0.5, 0.5, 1, "weak"),
        (0.8, 0.2, 4, "positive"),  # 3 to 20
        (0.625, 0.03125, 20, "positive"),
        (0.65625, 0.03125, 21, "strong"),  # above 20
    ],
)
def test_odds_are_ratios_with_the_grades_of_raftery(left, right, value, grade):
    odds = next(
        odds for odds in posterior_odds(seen(left, 1 - left - right, right)) if odds.against != "rope" != odds.favoured
    )
    assert (odds.value, odds.grade, odds.is_bound) == (pytest.approx(value, rel=1e-12), grade, False)
    if left != right:
        assert odds.favoured == ("left" if left > right else "right")


def test_all_three_pairs_have_odds_and_the_more_probable_region_comes_first():
    odds = posterior_odds(seen(0.1, 0.2, 0.7))
    assert [(pair.favoured, pair.against) for pair in odds] == [("rope", "left"), ("right", "left"), ("right", "rope")]


def test_odds_against_a_region_without_draws_are_a_bound_and_never_infinite():
    # None of 4000 draws: the probability is below 1/4000, the odds above 0.75 / (1/4000) = 3000
    odds = posterior_odds(seen(0.0, 0.25, 0.75))[1]
    assert (odds.favoured, odds.against, odds.value, odds.is_bound) == ("right", "left", 3000.0, True)
    assert str(odds) == "> 3,000 (strong)"


def test_odds_have_three_digits_below_a_hundred():
    assert str(posterior_odds(seen(0.008, 0.196, 0.796))[1]) == "99.5 (strong)"


def test_odds_of_two_regions_without_draws_are_undetermined():
    odds = posterior_odds(seen(0.0, 0.0, 1.0))[0]
    assert (odds.grade, odds.is_bound) == ("undetermined", False)
    assert math.isnan(odds.value)
    assert "inf" not in str(odds)
    assert "nan" not in str(odds)


def test_the_table_of_data_sets_equals_numpy():
    delta = np.random.default_rng(3).normal([-0.6, 0.0, 0.7], [0.3, 0.2, 0.4], (4, 250, 3))
    table = dataset_table(delta, Rope(-0.2, 0.5), ("a", "b", "c"))
    assert list(table.index) == ["a", "b", "c"]
    for i, name in enumerate("abc"):
        values = delta[:, :, i].ravel()
        expected = [
            values.mean(),
            values.std(ddof=1),
            *np.percentile(values, [2.5, 97.5]),
            np.mean(values < -0.2),
            np.mean((values >= -0.2) & (values <= 0.5)),
            np.mean(values > 0.5),
        ]
        assert table.loc[name].to_numpy() == pytest.approx(expected, rel=1e-12)
    assert table[["p_left", "p_rope", "p_right"]].sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-12)


def test_errors_of_expected_probabilities_that_are_0_or_1_are_those_of_their_means():
    generator = np.random.default_rng(5)
    delta0 = np.where(generator.random((4, 500)) < 0.3, -1e100, 1e100)
    inference = next_dataset(delta0, np.full((4, 500), 0.1), np.full((4, 500), 5.0), ROPE)
    p = (delta0 < 0).mean()
    assert inference.expected_left == pytest.approx(p, rel=1e-14)
    # Independent draws: the effective size that is estimated is within a fifth of their number
    assert inference.errors["expected_left"] == pytest.approx(math.sqrt(p * (1 - p) / 2000), rel=0.1)
    assert inference.errors["expected_rope"] == 0


def test_the_effective_size_of_what_never_changes_is_that_of_the_population_mean():
    innovations = np.random.default_rng(6).normal(size=(4, 2000))
    delta0 = signal.lfilter([1], [1, -0.9], innovations, axis=1)
    # An autoregression of 0.9: the size is (1 - 0.9) / (1 + 0.9) of the number
    for values in (np.zeros((4, 2000)), delta0):
        assert effective_size(values, delta0) == pytest.approx(8000 / 19, rel=0.3)


def test_the_ends_of_the_rope_belong_to_it_in_the_table_of_data_sets():
    row = dataset_table(np.array([[[-0.2], [0.5]]]), Rope(-0.2, 0.5), ("a",)).loc["a"]
    assert row[["p_left", "p_rope", "p_right"]].tolist() == [0, 1, 0]


@pytest.mark.parametrize(("draws", "expected"), [([0.3], 0.0), ([0.3, 0.7], 0.4 / math.sqrt(2))])
def test_the_standard_deviation_of_a_data_set_takes_two_draws(draws, expected):
    delta = np.array(draws)[None, :, None]
    assert dataset_table(delta, ROPE, ("a",)).loc["a", "posterior_sd"] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("p_left", "error", "verdict"),
    [(0.02, 0.001, "non-inferior"), (0.049, 0.0, "non-inferior"), (0.049, 0.001, "undecided"), (0.051, 0.001, "undecided"),
     (0.051, 0.0, "not shown"), (0.3, 0.01, "not shown"), (0.05, 0.0, "not shown"), (0.05, 0.001, "undecided")],
)  # fmt: skip
def test_non_inferior_is_not_the_other_one_better(p_left, error, verdict):
    """At the 95% level, three errors or more from it; the complement of P(left) and its error."""
    p_right = 1 - p_left - 0.1
    errors = dict.fromkeys(NAMES, 0.002) | {"p_left": error, "expected_left": 0.004}
    inference = NextDataset(p_left, 0.1, p_right, 0.2, 0.3, 0.5, 0.6, errors, 1000)
    found = non_inferiority(inference, "right")
    assert (found.probability, found.error) == (1 - p_left, error)
    assert (found.expected, found.expected_error) == (0.8, 0.004)
    assert found.verdict == verdict
    left = non_inferiority(inference, "left", alpha=0.2)
    assert left.probability == 1 - p_right
    assert left.verdict == "not shown"
