"""The trinomial likelihood of paired binary outcomes, its moments, and the Stan programs that sample with it."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import stanli
from scipy import stats

import hiercomp as hc
from hiercomp.model import trinomial
from hiercomp.model.programs import json_ready, stan_folder
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.model.trinomial import halves, moments
from tests.model.deviations import log_density, with_deviation

COUNTS = ([0, 30, 0], [1, 29, 0], [0, 27, 3], [2, 20, 8], [0, 3, 27], [15, 0, 5], [0, 0, 4], [2, 56, 3])


def by_definition(counts, delta, shapes=(1, 1)):
    """(T1) with d = |delta| + (1 - |delta|) u, integrated over u ~ Beta by mpmath."""
    minus, zero, plus = counts
    size = abs(mpmath.mpf(delta))

    def integrand(u):
        d = size + (1 - size) * u
        density = u ** (shapes[0] - 1) * (1 - u) ** (shapes[1] - 1) / mpmath.beta(*shapes)
        return ((d - delta) / 2) ** minus * (1 - d) ** zero * ((d + delta) / 2) ** plus * density

    with mpmath.workdps(80):  # the values are down to 1e-60, and an error of 1e-80 is asked for
        return mpmath.quad(integrand, [0, 0.02, 0.1, 0.3, 1])


def log_likelihood(counts, delta):
    half = halves(np.array(counts))[int(delta >= 0)]
    outside = half.losses + half.ties
    return float(half.log_rising(np.array([abs(delta)]))[0] + (outside * math.log1p(-abs(delta)) if outside else 0.0))


@pytest.mark.parametrize("counts", COUNTS, ids=str)
@pytest.mark.parametrize("delta", [-0.7, -0.02, 0.0, 0.003, 0.25, 0.9])
def test_the_sum_of_powers_is_the_integral_over_the_discordance(counts, delta):
    expected = float(mpmath.log(by_definition(counts, delta)))
    assert log_likelihood(counts, delta) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("shapes", [(0.5, 1.0), (2.0, 3.0)])
def test_another_beta_prior_of_the_discordance(monkeypatch, shapes):
    monkeypatch.setattr(trinomial, "PRIOR", shapes)
    for counts in COUNTS[:4]:
        expected = float(mpmath.log(by_definition(counts, 0.05, shapes)))
        assert log_likelihood(counts, 0.05) == pytest.approx(expected, rel=1e-7)


def test_the_uniform_prior_is_that_of_three_equally_likely_probabilities(monkeypatch):
    # Dirichlet(1, 1, 1): the integral over both d and delta is the Dirichlet-multinomial's, over the density of (d, delta),
    # which is 1 on a triangle of area 1; (T2) has density 1 / (1 - |delta|) of d, so delta is weighted with 1 - |delta|
    for counts in COUNTS[:6]:
        nodes, weights = np.polynomial.legendre.leggauss(400)
        delta = (nodes + 1) / 2
        found = sum(
            (weights / 2 * (1 - delta)) @ np.exp([log_likelihood(counts, sign * each) for each in delta])
            for sign in (-1, 1)
        )
        dirichlet = stats.dirichlet_multinomial(alpha=[1, 1, 1], n=sum(counts)).pmf(counts)
        ways = math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))
        assert found == pytest.approx(dirichlet / ways, rel=1e-9)


def test_the_moments_are_those_of_the_likelihood():
    total, mean, deviation = moments(np.array(COUNTS))
    nodes, weights = np.polynomial.legendre.leggauss(300)
    for place, counts in enumerate(COUNTS):
        delta = np.concatenate([(nodes - 1) / 2, (nodes + 1) / 2])
        density = np.exp([log_likelihood(counts, each) for each in delta]) * np.tile(weights / 2, 2)
        assert total[place] == pytest.approx(np.log(density.sum()), rel=1e-10)
        expected = density @ delta / density.sum()
        assert mean[place] == pytest.approx(expected, abs=1e-12)
        assert deviation[place] == pytest.approx(np.sqrt(density @ (delta - expected) ** 2 / density.sum()), rel=1e-9)


def test_the_log_likelihood_of_draws_is_the_multinomial_of_scipy():
    generator = np.random.default_rng(1)
    p = generator.dirichlet([1, 5, 2], size=(7, 3))
    counts = np.array([[0, 30, 0], [2, 20, 8], [1, 29, 0]])
    delta = p[..., 2] - p[..., 0]
    sigma = np.sqrt(p[..., 2] + p[..., 0] - delta**2)
    ways = [math.log(math.factorial(30) / math.prod(map(math.factorial, row))) for row in counts.tolist()]
    expected = np.array([[stats.multinomial.logpmf(counts[i], 30, p[j, i]) for i in range(3)] for j in range(7)]) - ways
    np.testing.assert_allclose(trinomial.log_likelihood(counts, delta, sigma), expected, rtol=1e-9, atol=1e-9)


def test_replicates_have_the_moments_of_the_outcomes():
    delta, sigma = np.full((200_000, 1), 0.05), np.full((200_000, 1), 0.3)
    counts = np.array([[0, 20, 0]])
    means = trinomial.replicated_means(counts, delta, sigma, np.random.default_rng(2))
    np.testing.assert_allclose(20 * means, np.rint(20 * means), atol=1e-12)
    error = 0.3 / np.sqrt(20)
    assert means.mean() == pytest.approx(0.05, abs=4 * error / np.sqrt(200_000))
    assert means.std() == pytest.approx(error, rel=4 / np.sqrt(2 * 200_000) * 1.5)
    squares = trinomial.replicated_standard_deviations(counts, delta, sigma, np.random.default_rng(2)) ** 2
    assert squares.mean() == pytest.approx(0.3**2, abs=4 * squares.std() / np.sqrt(200_000))
    # As the sample standard deviation of the 20 differences themselves
    wins, losses = 3, 2
    drawn = np.repeat([-1.0, 0.0, 1.0], [losses, 20 - wins - losses, wins])
    of_equal_means = squares[np.isclose(means, drawn.mean())]
    assert np.isclose(of_equal_means, drawn.var(ddof=1)).any()


def outcomes(counts):
    """Answers of two models with these counts of differences."""
    ties = [np.arange(zero) % 2.0 for _, zero, _ in counts]
    left = [np.concatenate([np.ones(row[0]), tie, np.zeros(row[2])]) for row, tie in zip(counts, ties, strict=True)]
    right = [np.concatenate([np.zeros(row[0]), tie, np.ones(row[2])]) for row, tie in zip(counts, ties, strict=True)]
    return left, right


@pytest.mark.parametrize("priors", [hc.Priors(), hc.Priors.kruschke(), hc.Priors.gaussian()], ids=lambda p: p.name)
def test_the_programs_have_the_density_of_the_model(priors):
    # Points that differ in everything; the densities of SciPy and the Jacobians, constants aside
    counts = [[0, 30, 0], [1, 29, 0], [0, 27, 3], [2, 20, 8], [0, 0, 4]]
    comparison = hc.HierarchicalComparison.from_arrays(*outcomes(counts), rho=0, rope=0.01, likelihood="trinomial")
    model = HierarchicalModel.of(comparison.differences, priors)
    gaussian, learnt = priors.population == "gaussian", isinstance(priors.alpha, tuple)
    centred = np.array([True, False, True, False, False])
    program = model.program(centred, chains=1, seed=0)
    assert program.name == f"{priors.program}_trinomial"
    interpreted = stanli.Model(
        stan_file=str(stan_folder() / f"{program.name}.stan"),
        data=json_ready(program.data),
        include_paths=[str(stan_folder())],
    )
    generator = np.random.default_rng(3)
    found, expected = [], []
    for _ in range(30):
        delta = generator.uniform(-0.5, 0.5, 5)
        u = generator.uniform(0.01, 0.99, 5)
        delta0, sigma0, nu = generator.normal(0, 0.1), 10 ** generator.uniform(-2, 0), 1 + 10 ** generator.uniform(0, 2)
        error = np.sqrt(model.sum_of_squares / (model.n * (model.n - 1)))
        weight = sigma0**2 / (sigma0**2 + error**2)
        scale = np.sqrt(weight) * error
        deviation = ((delta - delta0 - weight * (model.mean - delta0)) / scale)[~centred]
        z = deviation if gaussian else np.arcsinh(deviation)
        values = {"delta0": delta0, "sigma0": sigma0, "excess": u, "delta_centred": delta[centred], "z": z}
        values |= {} if gaussian else {"nu": nu}
        values |= {"alpha": 2.0, "beta": 0.1} if learnt and not gaussian else {}
        values, log_slope = with_deviation(model, values)
        found.append(log_density(interpreted, values))
        population = stats.norm if gaussian else stats.t(nu)
        density = (population.logpdf((delta - delta0) / sigma0) - np.log(sigma0)).sum()
        d = np.abs(delta) + (1 - np.abs(delta)) * u
        p = np.stack([(d - delta) / 2, 1 - d, (d + delta) / 2], axis=1)
        density += (np.array(counts) * np.log(p)).sum()
        density += np.log(scale[~centred] * (1 if gaussian else np.cosh(z))).sum()
        # Jacobians of x = lower + (upper - lower) / (1 + exp(-v)) and of nu = 1 + exp(v), constants aside
        density += log_slope + np.log(sigma0 * (1 - sigma0 / model.sigma0_upper))
        density += np.log(u * (1 - u)).sum() + np.log(1 - delta[centred] ** 2).sum()
        if not gaussian:
            shape, rate = (2.0, 0.1) if learnt else (priors.alpha, priors.beta)
            density += stats.gamma.logpdf(nu - 1, shape, scale=1 / rate) + np.log(nu - 1)
        expected.append(density)
    np.testing.assert_allclose(np.array(found) - found[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-7)
    assert np.ptp(expected) > 100


def test_a_difference_beyond_one_has_no_density():
    counts = [[0, 30, 0], [1, 29, 0], [0, 27, 3], [0, 9, 1], [2, 8, 1]]
    comparison = hc.HierarchicalComparison.from_arrays(*outcomes(counts), rho=0, rope=0.01, likelihood="trinomial")
    model = HierarchicalModel.of(comparison.differences, hc.Priors.gaussian())
    program = model.program(np.zeros(5, bool), chains=1, seed=0)
    interpreted = stanli.Model(
        stan_file=str(stan_folder() / f"{program.name}.stan"),
        data=json_ready(program.data),
        include_paths=[str(stan_folder())],
    )
    values = {
        "delta0_deviation": 0.0,
        "sigma0": 1.0,
        "excess": np.full(5, 0.1),
        "delta_centred": [],
        "z": np.full(5, 99.0),
    }
    assert log_density(interpreted, values) == -np.inf
