"""Poisson-binomial and trinomial counts against exact arithmetic, enumeration and scipy."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy import stats

from hiercomp.closed_form.across_datasets.poisson_binomial import most_frequent, poisson_binomial, trinomial

# scripts/make_golden_numbers.py
GOLDEN = json.loads((Path(__file__).parents[2] / "data/golden_numbers.json").read_text(encoding="utf-8"))[
    "poisson_binomial"
]

# Divide and conquer of q terms: each probability is a sum of positive products, whose rounding errors stay below a few
# units in the last place for every level of the tree
RELATIVE = 1e-12


def exact_pmf(success: list[float]) -> list[Fraction]:
    """The distribution in whole numbers of a unit of which every probability is a multiple."""
    unit = max(Fraction(p).denominator for p in success)
    pmf = [1]
    for p in success:
        hit = int(Fraction(p) * unit)
        miss = unit - hit
        longer = [0] * (len(pmf) + 1)
        for count, weight in enumerate(pmf):
            longer[count] += weight * miss
            longer[count + 1] += weight * hit
        pmf = longer
    return [Fraction(weight, unit ** len(success)) for weight in pmf]


def assert_close(found: float, exact: Fraction) -> None:
    if exact > Fraction(1, 10**300):
        assert abs(Fraction(float(found)) / exact - 1) < RELATIVE
    else:
        assert found <= 1e-299


PROBLEMS = {
    "one": [0.3],
    "two": [0.1, 0.7],
    "certain": [0.0, 1.0, 1.0, 0.25],
    "tiny": [1e-12, 1e-200, 0.5, 1 - 1e-12],
    "equal": [0.1] * 63,
    "a leaf": np.random.default_rng(1).random(64).tolist(),
    "more than a leaf": np.random.default_rng(2).random(65).tolist(),
    "skewed": (np.random.default_rng(3).random(130) ** 6).tolist(),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_probability_and_every_tail_agrees_with_exact_arithmetic(name):
    p = np.array(PROBLEMS[name])
    pmf = exact_pmf(PROBLEMS[name])
    found = poisson_binomial(p, 1 - p)
    q = len(p)
    for k in range(q + 1):
        assert_close(found.pmf[k], pmf[k])
        assert_close(found.cdf[k], sum(pmf[: k + 1]))
        assert_close(found.sf[k], sum(pmf[k + 1 :], Fraction(0)))
    below, equal, above = found.halves()
    assert_close(below, sum(weight for k, weight in enumerate(pmf) if 2 * k < q))
    assert_close(equal, sum((weight for k, weight in enumerate(pmf) if 2 * k == q), Fraction(0)))
    assert_close(above, sum(weight for k, weight in enumerate(pmf) if 2 * k > q))


def golden_probabilities(given: list) -> np.ndarray:
    runs = [(entry["value"], entry["count"]) if isinstance(entry, dict) else (entry, 1) for entry in given]
    return np.repeat([value for value, _ in runs], [count for _, count in runs])


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"q={len(golden_probabilities(case['p']))}")
def test_the_golden_numbers_of_rational_arithmetic(case):
    p = golden_probabilities(case["p"])
    found = poisson_binomial(p, 1 - p)
    below, equal, above = found.halves()
    tails = {entry["k"]: entry for entry in case["tails"]}
    pairs = [(below, case["less"]), (equal, case["equal"]), (above, case["greater"])]
    pairs += [(found.sf[k - 1], entry["at_least"]) for k, entry in tails.items() if "at_least" in entry and k > 0]
    pairs += [(found.cdf[k], entry["at_most"]) for k, entry in tails.items() if "at_most" in entry]
    for value, exact in pairs:
        assert_close(value, Fraction(exact))


def test_tails_down_to_the_smallest_double_keep_their_digits():
    # P(X = 400) is below 1e-330, so that every tail down to 1e-300 occurs
    p = np.random.default_rng(4).uniform(0.02, 0.28, 400)
    pmf = exact_pmf(p.tolist())
    sf = poisson_binomial(p, 1 - p).sf
    tails = np.cumsum(pmf[::-1])[::-1]  # P(X >= k)
    checked = [k for k in range(1, 401) if Fraction(1, 10**300) < tails[k] < Fraction(1, 10**100)]
    assert float(tails[checked[-1]]) < 1e-295
    for k in checked:
        assert abs(Fraction(float(sf[k - 1])) / tails[k] - 1) < RELATIVE


@pytest.mark.parametrize(("q", "p"), [(10_000, 0.1), (10_000, 0.5), (100_000, 0.1), (100_000, 0.9)])
def test_equal_trials_are_binomial_also_where_their_rounding_adds_up(q, p):
    with mpmath.workdps(40):
        exact = mpmath.mpf(p)
        centre = round(q * p)
        spread = round((q * p * (1 - p)) ** 0.5)
        found = poisson_binomial(np.full(q, p), np.full(q, 1 - p)).pmf
        for k in range(centre - 30 * spread, centre + 30 * spread, 3 * spread):
            value = mpmath.binomial(q, k) * exact**k * (1 - exact) ** (q - k)
            assert abs(mpmath.mpf(float(found[k])) / value - 1) < RELATIVE


def test_the_failure_probability_is_used_where_one_minus_p_has_no_digits():
    failure = np.full(3, 1e-40)
    below, _, above = poisson_binomial(np.ones(3), failure).halves()
    assert below == pytest.approx(3e-80, rel=1e-14)  # two of three fail
    assert above == 1.0


def test_scipy_agrees_on_the_probabilities():
    p = np.random.default_rng(5).random(300)
    scipy_pmf = stats.poisson_binom.pmf(np.arange(301), p)
    np.testing.assert_allclose(poisson_binomial(p, 1 - p).pmf, scipy_pmf, atol=1e-13, rtol=0)


def test_swapping_success_and_failure_mirrors_the_distribution():
    p = np.random.default_rng(6).random(77)
    one, other = poisson_binomial(p, 1 - p), poisson_binomial(1 - p, p)
    np.testing.assert_allclose(one.pmf, other.pmf[::-1], rtol=RELATIVE)
    np.testing.assert_allclose(one.halves(), other.halves()[::-1], rtol=RELATIVE)


def enumerated(regions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The joint distribution and the shares of most frequent regions, outcome by outcome."""
    q = len(regions)
    joint, shares = np.zeros((q + 1, q + 1)), np.zeros(3)
    for outcome in itertools.product(range(3), repeat=q):
        probability = np.prod([regions[dataset, region] for dataset, region in enumerate(outcome)])
        counts = np.bincount(outcome, minlength=3)
        joint[counts[0], counts[2]] += probability
        winners = np.flatnonzero(counts == counts.max())
        shares[winners] += probability / len(winners)
    return joint, shares


@pytest.mark.parametrize("q", [1, 2, 3, 6])
def test_the_trinomial_agrees_with_enumeration(q):
    regions = np.random.default_rng(q).dirichlet([1, 1, 1], q)
    joint, shares = enumerated(regions)
    found = trinomial(regions)
    np.testing.assert_allclose(found, joint, atol=1e-15)
    np.testing.assert_allclose(most_frequent(found), shares, atol=1e-14)


def test_the_trinomial_has_poisson_binomial_margins():
    regions = np.random.default_rng(7).dirichlet([1, 2, 1], 200)
    joint = trinomial(regions)
    for axis, column in ((1, 0), (0, 2)):
        margin = poisson_binomial(regions[:, column], 1 - regions[:, column]).pmf
        np.testing.assert_allclose(joint.sum(axis=axis), margin, rtol=1e-11, atol=1e-300)
    assert sum(most_frequent(joint)) == pytest.approx(1, abs=1e-13)
