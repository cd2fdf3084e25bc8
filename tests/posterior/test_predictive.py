"""Next differences, log likelihoods and replicated means against SciPy and independent simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.posterior.predictive import (
    log_likelihood,
    marginal_log_likelihood,
    new_means,
    next_differences,
    replicated_means,
)
from hiercomp.scores.differences import PairedDifferences

N = (3, 10, 30, 100)
RHO = (0.0, 0.1, 0.5, 0.9)
FOUR_SIGMA = 2 * stats.norm.sf(4)  # 6e-5


def raw_differences(seed: int = 0) -> tuple[list[np.ndarray], PairedDifferences]:
    """One data set for each pair of n and rho."""
    generator = np.random.default_rng(seed)
    names = [f"{n} {rho}" for n in N for rho in RHO]
    left = [generator.normal(0.8, 0.05, n) for n in N for _ in RHO]
    raw = [generator.normal(0.1, 0.3, len(row)) for row in left]
    right = [row + difference for row, difference in zip(left, raw, strict=True)]
    rho = {name: value for name, value in zip(names, RHO * len(N), strict=True)}
    return raw, PairedDifferences.from_arrays(left, right, dataset_names=names, rho=rho)


def covariance(n: int, rho: float) -> np.ndarray:
    return np.full((n, n), rho) + (1 - rho) * np.eye(n)


def test_the_log_likelihood_is_the_multivariate_normal_of_the_raw_differences():
    raw, differences = raw_differences()
    generator = np.random.default_rng(1)
    delta = generator.normal(0, 0.5, (2, 5, len(raw)))
    sigma = generator.gamma(2, 0.3, (2, 5, len(raw)))
    found = log_likelihood(delta, sigma, differences)
    assert found.shape == delta.shape
    for i, row in enumerate(raw):
        n, rho = len(row), differences.rho[i]
        for at in np.ndindex(2, 5):
            mean, scale = delta[*at, i], sigma[*at, i]
            expected = stats.multivariate_normal(np.full(n, mean), scale**2 * covariance(n, rho)).logpdf(row)
            assert found[*at, i] == pytest.approx(expected, rel=1e-9), differences.dataset_names[i]


@pytest.mark.parametrize("nu", [1.0, 3.0, 30.0])
def test_next_differences_follow_the_t_distribution(nu):
    size = (4, 5000)
    draws = next_differences(np.full(size, 0.3), np.full(size, 0.2), np.full(size, nu), np.random.default_rng(2))
    assert draws.shape == size
    assert stats.kstest(draws.ravel(), stats.t(nu, 0.3, 0.2).cdf).pvalue > FOUR_SIGMA


def test_next_differences_are_gaussian_at_an_infinite_nu():
    size = (4, 5000)
    draws = next_differences(np.full(size, -0.1), np.full(size, 0.5), np.inf, np.random.default_rng(3))
    assert stats.kstest(draws.ravel(), stats.norm(-0.1, 0.5).cdf).pvalue > FOUR_SIGMA


def test_next_differences_of_a_point_mass_stay_there():
    zero = np.zeros((1, 1))
    assert next_differences(zero, zero, np.inf, np.random.default_rng(0)) == zero


def test_replicated_means_spread_as_the_means_of_correlated_normal_scores():
    # Independent simulation: x_j = delta + sigma (sqrt(rho) z_0 + sqrt(1 - rho) z_j) has correlation rho. The relative
    # error of a standard deviation from N values is 1/sqrt(2 N); of the ratio of two sqrt(2) times that.
    _, differences = raw_differences()
    draws, delta, sigma = 20_000, 0.4, 0.25
    shape = (1, draws, len(differences.dataset_names))
    found = replicated_means(np.full(shape, delta), np.full(shape, sigma), differences, np.random.default_rng(4))[0]
    generator = np.random.default_rng(5)
    for i, (n, rho) in enumerate((n, rho) for n in N for rho in RHO):
        common = generator.standard_normal((draws, 1))
        own = generator.standard_normal((draws, n))
        means = (delta + sigma * (np.sqrt(rho) * common + np.sqrt(1 - rho) * own)).mean(axis=1)
        assert found[:, i].std() / means.std() == pytest.approx(1, abs=4 * np.sqrt(2) / np.sqrt(2 * draws)), (n, rho)
        assert found[:, i].mean() == pytest.approx(delta, abs=4 * means.std() / np.sqrt(draws))
        exact = sigma * np.sqrt(np.ones(n) @ covariance(n, rho) @ np.ones(n)) / n  # variance of a mean: 1'M1 / n^2
        assert found[:, i].std() == pytest.approx(exact, rel=4 / np.sqrt(2 * draws))


def test_new_means_have_a_deviation_that_is_drawn_given_the_spread():
    # sigma^-2 SS / (1 - rho), given SS and a uniform prior of sigma, is chi-squared with n - 2 degrees of freedom
    _, given = raw_differences()
    likelihood = MeanLikelihood(given.mean, given.sum_of_squares, given.n.astype(float), given.rho, 1e6)
    size, generator = (20_000,), np.random.default_rng(7)
    found = new_means(likelihood, np.full(size, 0.1), np.full(size, 0.05), np.full(size, 4.0), generator)
    assert found.shape == (*size, len(given.n))
    for place, (n, rho) in enumerate(zip(given.n, given.rho, strict=True)):
        sigma = np.sqrt(given.sum_of_squares[place] / (1 - rho) / generator.chisquare(n - 2, size))
        error = sigma * np.sqrt((1 + (n - 1) * rho) / n) * generator.standard_normal(size)
        means = 0.1 + 0.05 * generator.standard_t(4, size) + error
        assert stats.ks_2samp(found[:, place], means).pvalue > FOUR_SIGMA


def test_the_marginal_log_likelihood_averages_the_density_over_delta_and_sigma():
    # Uniform sigma up to its bound and delta from the population: a mean over many of both
    raw, given = raw_differences()
    bound = 2.0
    likelihood = MeanLikelihood(given.mean, given.sum_of_squares, given.n.astype(float), given.rho, bound)
    found = marginal_log_likelihood(likelihood, np.full((1, 1), 0.1), np.full((1, 1), 0.3), np.full((1, 1), 5.0))
    assert found.shape == (1, 1, len(raw))
    sigma = bound * (np.arange(2000) + 0.5) / 2000
    delta = 0.1 + 0.3 * stats.t(5).ppf((np.arange(2000) + 0.5) / 2000)
    for place in (4, 8, 13):  # 10 and more scores
        density = log_likelihood(
            np.broadcast_to(delta[:, None, None], (2000, 2000, 1)),
            np.broadcast_to(sigma[:, None], (2000, 2000, 1)),
            given.subset([given.dataset_names[place]]),
        )
        expected = np.log(np.exp(density - density.max()).mean()) + density.max()
        assert found[0, 0, place] == pytest.approx(expected, abs=0.01)
