"""A bound on sigma_i near the data, with a data set hundreds of standard deviations away, against a plain integration.

The plain integration takes the integrals in another order: delta_i in closed form given sigma_i, for a Gaussian population,
then sigma_i, delta0 and sigma0 by Gauss and Legendre's rule; no code of the engine has a part in it.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special, stats

import hiercomp as hc
from hiercomp.errors import ScaleWarning

HALF_WIDTH = 0.3
NODES_OF_SIGMA, NODES_OF_SIGMA0, NODES_OF_DELTA0 = 120, 200, 400


def rule(lower, upper, count):
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (lower + upper) / 2 + (upper - lower) / 2 * nodes, (upper - lower) / 2 * weights


def log_likelihood(row, rho, bound, delta0, sigma0):
    """log p(x_i | delta0, sigma0) of one data set, sigma_i ~ uniform(0, bound)."""
    n, mean = len(row), row.mean()
    squares = ((row - mean) ** 2).sum()
    eta, weight = rule(np.log(bound) - 12, np.log(bound), NODES_OF_SIGMA)
    sigma = np.exp(eta)
    within = -(n - 1) / 2 * np.log(2 * np.pi * sigma**2 * (1 - rho)) - squares / (2 * sigma**2 * (1 - rho))
    variance = sigma**2 * (1 + (n - 1) * rho) / n + sigma0[:, None, None] ** 2
    of_mean = -0.5 * (np.log(2 * np.pi * variance) + (mean - delta0[:, None]) ** 2 / variance)
    return special.logsumexp(of_mean + within + np.log(weight * sigma / bound), axis=-1) - np.log(n) / 2


def plain_integration(rows, rho, bound, largest_sigma0, largest_delta0):
    """The log marginal likelihood, P(delta0 > 0), and the expected probabilities of left, rope and right."""
    eta, of_sigma0 = rule(np.log(largest_sigma0) - 20, np.log(largest_sigma0), NODES_OF_SIGMA0)  # 2e-6 of s0
    sigma0 = np.exp(eta)
    halves = [rule(-largest_delta0, 0, NODES_OF_DELTA0 // 2), rule(0, largest_delta0, NODES_OF_DELTA0 // 2)]
    delta0, of_delta0 = (np.concatenate(parts) for parts in zip(*halves, strict=True))
    total = sum(log_likelihood(row, rho, bound, delta0, sigma0) for row in rows)
    total += np.log(of_sigma0 * sigma0 / largest_sigma0)[:, None] + np.log(of_delta0 / (2 * largest_delta0))
    mass = np.exp(total - total.max())
    left = stats.norm.cdf((-HALF_WIDTH - delta0) / sigma0[:, None])
    right = stats.norm.sf((HALF_WIDTH - delta0) / sigma0[:, None])
    expected = [float((mass * region).sum() / mass.sum()) for region in (left, 1 - left - right, right)]
    positive = float(mass[:, delta0 > 0].sum() / mass.sum())
    return float(np.log(mass.sum()) + total.max()), positive, expected


@pytest.mark.parametrize("sigma_upper", [1.0, 2.0])
@pytest.mark.parametrize("far", [0.0, 300.0])
@pytest.mark.slow
def test_a_bound_of_sigma_near_the_data(sigma_upper, far):
    rho, generator = 0.1, np.random.default_rng(7)
    rows = [
        generator.normal(centre, sd, size=5) for centre, sd in ((0.2, 1), (0.6, 0.7), (-0.3, 1.4), (0.1, 1), (far, 1))
    ]
    priors = hc.Priors(population="gaussian", sigma_upper=sigma_upper)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)  # of the data set that lies far away
        comparison = hc.HierarchicalComparison.from_arrays(
            [np.zeros(5)] * 5, rows, rho=rho, rope=HALF_WIDTH, priors=priors, higher_is_better=True
        )
    result = comparison.fit(engine="quadrature", progress=False)
    s = np.mean([row.std(ddof=1) for row in rows])
    s0 = np.std([row.mean() for row in rows], ddof=1)
    largest_delta0 = np.abs(np.concatenate(rows)).max()
    log_marginal, positive, expected = plain_integration(rows, rho, sigma_upper * s, 1000 * s0, largest_delta0)
    found = result.next_dataset
    assert [found.expected_left, found.expected_rope, found.expected_right] == pytest.approx(expected, abs=1e-4)
    assert found.p_positive == pytest.approx(positive, abs=1e-4)
    assert result.log_marginal_likelihood == pytest.approx(log_marginal, abs=1e-3)
