"""Integrals of the trinomial likelihood, its draws, and whole small posteriors, against integrations that share no code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

import hiercomp as hc
from hiercomp.engines.quadrature.axes import ChebyshevAxis
from hiercomp.engines.quadrature.grid import LIKELIHOOD_ERROR
from hiercomp.engines.quadrature.likelihood import Lines
from hiercomp.engines.quadrature.trinomial import TrinomialLikelihood
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.kinds import likelihood_of
from hiercomp.scores.differences import PairedDifferences
from tests.model.test_trinomial import outcomes

FEW = pytest.mark.filterwarnings("ignore::hiercomp.errors.HiercompWarning")
ORDER = 30
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
LEVELS, SHARES = np.polynomial.legendre.leggauss(120)


def comparison_of(counts, **arguments):
    given = {"rho": 0, "rope": 0.01, "likelihood": "trinomial"} | arguments
    return hc.HierarchicalComparison.from_arrays(*outcomes(counts), **given)


def likelihood(counts) -> TrinomialLikelihood:
    differences = PairedDifferences.from_arrays(*outcomes(counts), rho=0).with_likelihood("trinomial")
    found = likelihood_of(HierarchicalModel.of(differences, hc.Priors()))
    assert isinstance(found, TrinomialLikelihood)
    return found


def log_outcomes(counts, delta):
    """Log of the mean of the trinomial probability over d ~ uniform(|delta|, 1), by Gauss and Legendre's rule on pieces."""
    minus, zero, plus = counts
    size = np.abs(delta)[..., None]
    pieces = np.array([0, 0.001, 0.004, 0.016, 0.06, 0.2, 0.5, 1])
    u = (pieces[:-1, None] + np.diff(pieces)[:, None] * (NODES + 1) / 2).ravel()
    log_weight = np.log((np.diff(pieces)[:, None] * WEIGHTS / 2).ravel())
    d = size + (1 - size) * u
    sides = (d - delta[..., None]) / 2, 1 - d, (d + delta[..., None]) / 2
    log_p = sum(special.xlogy(count, np.maximum(p, 0)) for count, p in zip((minus, zero, plus), sides, strict=True))
    return special.logsumexp(log_p + log_weight, axis=-1)


def log_population(delta, delta0, sigma0, nu):
    return stats.norm.logpdf(delta, delta0, sigma0) if np.isinf(nu) else stats.t.logpdf(delta, nu, delta0, sigma0)


def by_pieces(counts, delta0, sigma0, nu):
    """The integral over [-1, 1] on pieces that grow in geometric progression away from 0, delta0 and the mean."""
    n = sum(counts)
    steps = np.concatenate([[0.0], 2.0 ** np.arange(-3, 30)])
    places = ((0.0, 1 / n), (delta0, sigma0), ((counts[2] - counts[0]) / n, 1 / n))
    ends = np.concatenate([[-1, 1], *(centre + width * np.concatenate([-steps, steps]) for centre, width in places)])
    ends = np.unique(np.clip(ends, -1, 1))
    delta = (ends[:-1, None] + np.diff(ends)[:, None] * (NODES + 1) / 2).ravel()
    log_weight = np.log((np.diff(ends)[:, None] * WEIGHTS / 2).ravel())
    return special.logsumexp(log_outcomes(counts, delta) + log_population(delta, delta0, sigma0, nu) + log_weight)


@pytest.mark.parametrize("number", range(40))
def test_the_integral_over_the_difference(number):
    generator = np.random.default_rng([11, number])
    n = int(generator.choice([3, 10, 30, 200]))
    counts = generator.multinomial(n, generator.dirichlet([0.3, 2, 0.3])).tolist()
    delta0 = float(generator.normal(0, 0.1)) if number % 4 else 0.0
    sigma0 = 10 ** float(generator.uniform(-4, 0.5))
    nu = float(generator.choice([1.001, 2, 8, 100, np.inf]))
    found = likelihood([counts] * 5).log_integrals(delta0, sigma0, nu)[0]
    # A quarter of the error that the engine allows a log likelihood
    assert found[0] == pytest.approx(by_pieces(counts, delta0, sigma0, nu), abs=5e-6)
    assert np.ptp(found) == 0


def test_left_and_right_exchanged_mirror_the_integrals():
    counts = np.array([[0, 30, 0], [1, 29, 0], [0, 27, 3], [2, 20, 8], [15, 0, 5]])
    population = np.array([-0.2, 0.0, 0.03]), np.array([0.01, 0.002, 0.4]), np.array([2.0, np.inf, 30.0])
    found = likelihood(counts).log_integrals(*population)
    mirrored = likelihood(counts[:, ::-1]).log_integrals(-population[0], *population[1:])
    np.testing.assert_allclose(mirrored, found, atol=1e-12)


def test_values_at_places_are_those_of_every_place():
    # The likelihood of 7 against 2 is not the same on both sides of its mean, as that of scores is
    counts = [[2, 21, 7], [0, 30, 0], [2, 21, 7], [1, 4, 0]]
    delta0, sigma0, nu = np.linspace(-0.95, 0.95, 40), np.array([0.01, 0.1, 0.6]), np.array([1.5, 8.0, np.inf])
    populations = np.broadcast_arrays(delta0, sigma0[:, None], nu[:, None])
    expected = likelihood(counts).log_marginal(*(values.ravel() for values in populations)).reshape(3, 40)
    found = likelihood(counts).log_marginal_at_places(delta0, sigma0, nu, 1e-8)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_values_along_lines_are_those_of_an_independent_integration():
    # More than ten data sets are integrated along lines in delta0, at the error that the engine allows
    counts = [[2, 21, 7], [0, 30, 0], [2, 21, 7], [1, 4, 0], [0, 29, 1], [6, 20, 4], *[[0, 28, 2]] * 6]
    centre, scale = np.array([0.03, 0.0, 0.05]), np.array([0.01, 0.02, 0.002])
    lines = Lines(
        ChebyshevAxis(-6.0, 6.0, 7), centre, scale, np.array([0.01, 4e-5, 0.1]), np.array([1.01, 5.0, np.inf])
    )
    found = likelihood(counts).log_marginal_on_lines(lines, LIKELIHOOD_ERROR / 12)
    rows, times = np.unique(counts, axis=0, return_counts=True)
    for line, node in np.ndindex(found.shape):
        delta0, sigma0, nu = centre[line] + scale[line] * lines.axis.nodes[node], lines.sigma0[line], lines.nu[line]
        expected = times @ [by_pieces(row.tolist(), delta0, sigma0, nu) for row in rows]
        assert found[line, node] == pytest.approx(expected, abs=LIKELIHOOD_ERROR)


def test_with_many_questions_the_likelihood_is_that_of_the_mean_difference():
    # The relative width of the posterior of d is sqrt(2 / 2000), and the skewness of the mean is below 1 / sqrt(2000): for
    # differences of up to two standard errors the log densities differ by less than 0.05
    counts = np.array([[900, 18_000, 1_100]] * 5)
    mean, error = 0.01, np.sqrt(0.1 - 0.01**2) / np.sqrt(20_000)
    delta = mean + error * np.array([-2, -1, 0, 1, 2])
    found = likelihood(counts).log_integrals(delta, 1e-3 * error, np.inf)[:, 0]
    np.testing.assert_allclose(found - found[2], stats.norm.logpdf(delta, mean, error) - stats.norm.logpdf(0, 0, error),
                               atol=0.05)  # fmt: skip


@pytest.mark.slow
def test_draws_have_the_distribution_that_is_integrated():
    counts = [[0, 30, 0], [1, 29, 0], [0, 27, 3], [2, 20, 8], [15, 0, 5]]
    draws, (delta0, sigma0, nu) = 20_000, (0.02, 0.05, 3.0)
    generator = np.random.default_rng(1)
    given = likelihood(counts)
    level = generator.random((draws, 5))
    delta = given.delta_draws(np.full(draws, delta0), np.full(draws, sigma0), np.full(draws, nu), level)
    sigma = given.sigma_draws(delta, generator)
    for place, row in enumerate(counts):
        line = np.unique(np.concatenate([np.linspace(-1, 1, 4001), 0.02 + 0.05 * np.linspace(-8, 8, 4001)]))
        log_density = log_outcomes(row, line) + log_population(line, delta0, sigma0, nu)
        cumulative = integrate.cumulative_simpson(np.exp(log_density - log_density.max()), x=line, initial=0)
        drawn = np.interp(delta[:, place], line, cumulative / cumulative[-1])
        assert stats.kstest(drawn, "uniform").statistic < 1.95 / np.sqrt(draws)  # one in 1,000
        # d given delta: its mean by the same rule, over the draws
        minus, zero, plus = row
        size = np.abs(delta[:2000, place])
        u = (LEVELS + 1) / 2
        d = size[:, None] + (1 - size[:, None]) * u
        both = (d - delta[:2000, place, None]) / 2, (d + delta[:2000, place, None]) / 2
        weight = special.xlogy(minus, both[0]) + special.xlogy(zero, 1 - d) + special.xlogy(plus, both[1])
        weight = np.exp(weight - weight.max(axis=1, keepdims=True)) * SHARES
        expected = (weight * d).sum(axis=1) / weight.sum(axis=1)
        seen = sigma[:2000, place] ** 2 + delta[:2000, place] ** 2
        assert (seen - expected).mean() == pytest.approx(0, abs=4 * (seen - expected).std() / np.sqrt(2000))


@FEW
@pytest.mark.parametrize(
    "counts",
    [
        [[0, 30, 0], [1, 28, 1], [0, 27, 3]],
        [[0, 30, 0], [0, 30, 0], [0, 29, 1]],
        [[0, 12, 0]] * 3,
        [[0, 30, 0], [1, 28, 1], [0, 27, 3]] * 5,
    ],
    ids=lambda counts: f"{len(counts)} data sets, {counts[0]} and others",
)
@pytest.mark.slow
def test_a_whole_posterior_with_a_gaussian_population(counts):
    # delta0 and sigma0 on a plain grid, delta_i on a finer one: sums, nothing else
    comparison = comparison_of(counts, priors=hc.Priors.gaussian())
    found = comparison.fit("quadrature")
    upper = HierarchicalModel.of(comparison.differences, comparison.priors).sigma0_upper
    log_sigma0 = np.linspace(np.log(2e-5), np.log(upper), 300)
    delta0 = np.sort(np.concatenate([-np.geomspace(1, 2e-5, 400), [0.0], np.geomspace(2e-5, 1, 400)]))
    sigma0 = np.exp(log_sigma0)
    edges = np.sort(np.concatenate([-np.geomspace(1, 1e-6, 900), [0.0], np.geomspace(1e-6, 1, 900)]))
    middle = (edges[1:] + edges[:-1]) / 2
    total = np.zeros((300, 801))
    distinct = {tuple(row) for row in counts}
    cells = {row: np.exp(log_outcomes(row, middle)) for row in distinct}
    for number, each in enumerate(sigma0):
        mass = np.diff(special.ndtr((edges - delta0[:, None]) / each), axis=1)
        for row in counts:
            total[number] += np.log(np.maximum(mass @ cells[tuple(row)], 1e-300))
    weight = np.exp(total - total.max()) * sigma0[:, None] * np.gradient(delta0)
    weight[[0, -1]] /= 2
    p_left = special.ndtr((-0.01 - delta0) / sigma0[:, None])
    p_right = special.ndtr((delta0 - 0.01) / sigma0[:, None])
    share = weight / weight.sum()
    expected = (share * p_left).sum(), (share * p_right).sum()
    seen = found.next_dataset
    assert (seen.expected_left, seen.expected_right) == pytest.approx(expected, abs=2e-3)  # of the plain grid
    assert max(found.diagnostics.integration_error, 0) < 1e-3
    best = np.argmax(np.stack([p_left, 1 - p_left - p_right, p_right]), axis=0)
    assert seen.p_rope == pytest.approx(share[best == 1].sum(), abs=6e-3)
    assert seen.p_left == pytest.approx(share[best == 0].sum(), abs=6e-3)


@FEW
@pytest.mark.slow
def test_exchanging_left_and_right_mirrors_the_answer():
    counts = np.array([[0, 30, 0], [1, 28, 1], [0, 27, 3], [2, 28, 0]])
    one, other = (comparison_of(each).fit("quadrature").next_dataset for each in (counts, counts[:, ::-1]))
    assert other.p_left == pytest.approx(one.p_right, abs=5e-4)
    assert other.expected_rope == pytest.approx(one.expected_rope, abs=5e-4)


@pytest.mark.parametrize(("population", "times"), [("student_t", 1), ("gaussian", 1), ("student_t", 3)])
@pytest.mark.slow
def test_draws_of_stan_confirm_the_integral(population, times):
    counts = [[0, 30, 0], [0, 29, 1], [0, 29, 1], [0, 30, 0], [1, 29, 0], [0, 27, 3]] * times
    result = comparison_of(counts, population=population).fit("auto", progress=False)
    assert result.status == "ok"
    assert result.verification.agrees
    given = comparison_of(counts, population=population).fit("quadrature")
    # The two kinds of draws of single data sets, whose Monte Carlo errors are about 0.001 of 0.02
    for name in ("delta", "sigma"):
        sampled, drawn = result.draws(name), given.draws(name)
        error = sampled.std(axis=(0, 1)) / np.sqrt(1000)
        assert (np.abs(sampled.mean(axis=(0, 1)) - drawn.mean(axis=(0, 1))) < 5 * error).all()
