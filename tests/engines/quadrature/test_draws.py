"""Draws from the grid of the quadrature engine: independent, seeded, and of the right distributions."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.engines.quadrature.draws import dataset_draws
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.posterior.next_dataset import QUANTITIES, next_dataset
from tests.conftest import simulated_scores
from tests.engines.quadrature.test_likelihood import log_density_of_scores, population_log_density, statistics_of

COUNT = 20_000
UNLIKELY = 1e-4  # of a Kolmogorov-Smirnov test: how often it fails for right draws


def quadrature_fit(comparison: hc.HierarchicalComparison, **options) -> hc.ComparisonResult:
    return comparison.fit("quadrature", progress=False, **options)


@pytest.fixture(scope="module")
def integrated() -> hc.ComparisonResult:
    scores = simulated_scores(14, centre=0.004, spread=0.012, seed=4)
    return quadrature_fit(hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01), draws=5000)


def test_draws_agree_with_the_integrals(integrated):
    names = ("delta0", "sigma0", "nu")
    drawn = [integrated.draws(name) for name in names]
    assert drawn[0].shape == (4, 5000)
    seen, exact = next_dataset(*drawn, integrated.rope), integrated.next_dataset
    for name in QUANTITIES:
        error = np.hypot(4 * seen.errors[name], exact.errors[name])
        assert abs(getattr(seen, name) - getattr(exact, name)) < error, name
    delta0 = drawn[0].ravel()
    assert abs(delta0.mean() - integrated.expected_difference) < 4 * delta0.std() / np.sqrt(delta0.size)


def test_draws_are_independent(integrated):
    count = 4 * 5000
    for name in ("delta0", "sigma0", "nu", "alpha", "beta"):
        ranks = stats.rankdata(integrated.draws(name)).ravel()
        for lag in (1, 2, 5000):
            assert abs(np.corrcoef(ranks[:-lag], ranks[lag:])[0, 1]) < 4 / np.sqrt(count), (name, lag)
    for name in ("delta", "sigma"):
        ranks = stats.rankdata(integrated.draws(name).reshape(count, -1), axis=0)
        for number in range(ranks.shape[1]):
            assert abs(np.corrcoef(ranks[:-1, number], ranks[1:, number])[0, 1]) < 4 / np.sqrt(count), (name, number)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(integrated):
    again, same, other = (
        quadrature_fit(hc.HierarchicalComparison.from_differences(integrated.differences), draws=200, seed=seed)
        for seed in (7, 7, 8)
    )
    for name in ("delta0", "sigma0", "nu", "alpha", "beta", "delta", "sigma"):
        assert again.draws(name).tobytes() == same.draws(name).tobytes()
        assert not np.isin(again.draws(name), other.draws(name)).any()
        assert len(np.unique(again.draws(name))) == again.draws(name).size
    assert again.next_dataset == other.next_dataset


# A narrow and a wide population, heavy and Gaussian tails, data in the tails, the smallest n
POPULATIONS = [(0.3, 0.05, 4.0), (0.0, 1.5, 1.05), (-0.5, 0.3, np.inf), (0.0, 1e-3, 1.5)]


@pytest.fixture(scope="module")
def likelihood() -> MeanLikelihood:
    n = np.array([3.0, 10.0, 100.0, 30.0, 5.0])
    mean, sigma = np.array([0.2, -1.0, 0.05, 6.0, 0.0]), np.array([1.0, 0.5, 1.5, 0.1, 2.0])
    return MeanLikelihood(mean, sigma**2 * (n - 1) * 0.9, n, np.full(5, 0.1), 1000.0)


@pytest.mark.parametrize("population", POPULATIONS, ids=str)
def test_delta_given_the_population_has_its_conditional_distribution(likelihood, population):
    given = dict(zip(("delta0", "sigma0", "nu"), (np.full(COUNT, value) for value in population), strict=True))
    delta, _ = dataset_draws(likelihood, given, np.random.default_rng(2))
    for number, mean in enumerate(likelihood.mean):
        # The distribution function by the trapezoidal rule on cells that are dense about both peaks, far beyond the draws
        steps = np.concatenate([-np.geomspace(1e6, 1e-4, 4000), [0.0], np.geomspace(1e-4, 1e6, 4000)])
        scales = ((mean, likelihood.scale[number]), (population[0], population[1]))
        places = np.unique(np.concatenate([centre + scale * steps for centre, scale in scales]))
        log_density = log_density_of_scores(places, *statistics_of(likelihood, number))
        log_density += population_log_density(places, *population)
        density = np.exp(log_density - log_density.max())
        cells = np.diff(places) * (density[1:] + density[:-1]) / 2
        distribution = np.concatenate([[0.0], np.cumsum(cells)]) / cells.sum()
        drawn = delta[:, number]
        assert stats.kstest(drawn, lambda x, d=distribution, p=places: np.interp(x, p, d)).pvalue > UNLIKELY, number


@pytest.mark.parametrize("sigma_upper", [1000.0, 1.2])
def test_sigma_given_delta_has_its_conditional_distribution_up_to_the_bound(likelihood, sigma_upper):
    bounded = MeanLikelihood(likelihood.mean, likelihood.sum_of_squares, likelihood.n, likelihood.rho, sigma_upper)
    given = {"delta0": np.zeros(COUNT), "sigma0": np.full(COUNT, 0.4), "nu": np.full(COUNT, 3.0)}
    delta, sigma = dataset_draws(bounded, given, np.random.default_rng(6))
    assert ((sigma > 0) & (sigma <= sigma_upper)).all()
    for number in range(len(bounded.n)):
        n, rho = bounded.n[number], bounded.rho[number]
        quadratic = bounded.sum_of_squares[number] / (1 - rho)
        quadratic = quadratic + n * (bounded.mean[number] - delta[:, number]) ** 2 / (1 + (n - 1) * rho)
        # p(sigma | delta, x) ~ sigma^-n exp(-Q / (2 sigma^2)) below the bound: Q / sigma^2 is chi-squared with n - 1
        chi_squared = stats.chi2(n - 1)
        share = chi_squared.sf(quadratic / sigma[:, number] ** 2) / chi_squared.sf(quadratic / sigma_upper**2)
        assert stats.kstest(share, "uniform").pvalue > UNLIKELY, number
        assert abs(stats.spearmanr(share, delta[:, number]).statistic) < 4 / np.sqrt(COUNT), number


@pytest.mark.parametrize("sigma_upper", [0.15, 0.1, 0.02])
def test_sigma_far_above_its_bound_is_near_the_bound(sigma_upper):
    # P(sigma < bound) is below the smallest double: Q / (2 bound^2) is 2,200 and more for a Gamma of shape 49.5
    n = 100.0
    likelihood = MeanLikelihood(np.zeros(1), np.array([n]), np.array([n]), np.zeros(1), sigma_upper)
    population = {"delta0": np.zeros(COUNT), "sigma0": np.full(COUNT, 1e-6)}
    delta, sigma = dataset_draws(likelihood, population, np.random.default_rng(3))
    assert ((sigma > 0) & (sigma <= sigma_upper)).all()
    lowest = n / (2 * sigma_upper**2)
    excess = (n + n * delta**2) / (2 * sigma**2) - lowest
    with mpmath.workdps(40):
        mass = mpmath.gammainc(49.5, lowest)
        exact = [mpmath.gammainc(49.5 + power, lowest) / mass for power in (1, 2)]
        mean, variance = float(exact[0] - lowest), float(exact[1] - exact[0] ** 2)
    assert abs(excess.mean() - mean) < 4 * np.sqrt(variance / COUNT)
    assert abs(excess.var() / variance - 1) < 4 * np.sqrt(8 / COUNT)  # of an exponential, nearly


def test_every_draw_lies_within_its_bounds():
    scores = simulated_scores(4, centre=0.03, spread=0.02, seed=9)
    priors = hc.Priors(delta0_bound=0.02, sigma_upper=1.1, sigma0_upper=0.8, nu_lower=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.FewDatasetsWarning)
        comparison = hc.HierarchicalComparison(scores, "bayes", "tree", priors=priors)
    result = quadrature_fit(comparison)
    given = comparison.differences
    delta0, sigma0, nu, sigma = (result.draws(name) for name in ("delta0", "sigma0", "nu", "sigma"))
    assert np.abs(delta0).max() <= 0.02
    assert np.abs(delta0).max() > 0.0199  # the bound cuts through the posterior
    assert sigma.max() <= 1.1 * given.standard_deviation.mean() * (1 + 1e-12)
    assert (sigma0 > 0).all()
    assert 0.75 * np.std(given.mean, ddof=1) < sigma0.max() <= 0.8 * np.std(given.mean, ddof=1) * (1 + 1e-12)
    assert nu.min() > 3
    assert ((result.draws("alpha") > 0.5) & (result.draws("alpha") < 5)).all()
    assert ((result.draws("beta") > 0.05) & (result.draws("beta") < 0.15)).all()


@pytest.mark.parametrize(("priors", "names"), [
    (hc.Priors.gaussian(), {"delta0", "sigma0", "delta", "sigma"}),
    (hc.Priors.kruschke(), {"delta0", "sigma0", "nu", "delta", "sigma"}),
    (hc.Priors(), {"delta0", "sigma0", "nu", "alpha", "beta", "delta", "sigma"}),
], ids=["gaussian", "kruschke", "default"])  # fmt: skip
def test_there_are_draws_of_every_parameter_of_the_model_and_of_no_other(integrated, priors, names):
    result = quadrature_fit(
        hc.HierarchicalComparison.from_differences(integrated.differences, priors=priors), draws=100
    )
    assert set(result.datatree["posterior"].dataset.data_vars) == names
    assert "sample_stats" not in result.datatree.children
    assert all(np.isfinite(result.draws(name)).all() for name in names)
    light = quadrature_fit(
        hc.HierarchicalComparison.from_differences(integrated.differences, priors=priors), draws=100, keep="population"
    )
    assert set(light.datatree["posterior"].dataset.data_vars) == names - {"delta", "sigma"}
    with pytest.raises(hc.ArgumentError, match="keep='all'"):
        light.datasets()


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.001, 0.012])
def test_draws_agree_with_long_chains(spread):
    # Means and standard deviations within four standard errors; distributions by a distance that 20,000 independent draws
    # and the chains' effective draws allow with probability 1 - 1e-4
    from arviz_stats.base import array_stats

    scores = simulated_scores(6, runs=1, centre=0.008, spread=spread, seed=12)
    comparison = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01)
    drawn = quadrature_fit(comparison, draws=5000)
    chains = comparison.fit("embedded", draws=10_000, adapt_delta=0.97, monte_carlo_error=None, progress=False)
    assert chains.status == "ok"
    for name in ("delta0", "sigma0", "nu", "alpha", "beta", "delta", "sigma"):
        first, second = (result.draws(name) for result in (drawn, chains))
        for number in range(first.shape[2] if first.ndim == 3 else 1):
            a, b = (values[..., number] if values.ndim == 3 else values for values in (first, second))
            error = np.hypot(a.std() / np.sqrt(a.size), array_stats.mcse(b, chain_axis=0, draw_axis=1, method="mean"))
            assert abs(a.mean() - b.mean()) < 4 * error, (name, number)
            effective = min(
                float(array_stats.ess(b <= np.quantile(a, level), chain_axis=0, draw_axis=1, method="mean"))
                for level in (0.05, 0.25, 0.5, 0.75, 0.95)
            )
            distance = stats.ks_2samp(a.ravel(), b.ravel()).statistic
            allowed = np.sqrt(np.log(2 / UNLIKELY) / 2 * (1 / a.size + 1 / effective))
            assert distance < allowed, (name, number)
