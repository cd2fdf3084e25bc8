"""The prior of nu without its hyperparameters, and draws of the hyperparameters given nu."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from hiercomp import Priors
from hiercomp.engines.quadrature.nu_prior import NuPrior

VARIANTS = [
    Priors(),
    Priors(nu_lower=0.0),
    Priors(nu_lower=2.0, alpha=(1.0, 3.0), beta=(0.02, 0.3)),
    Priors.juarez_steel(),
    Priors.kruschke(),
    Priors(nu_lower=0.0, alpha=3.5, beta=0.2),
]


def mixture(function, priors: Priors) -> float:
    """Mean of function(alpha, beta) over the priors of alpha and beta (M7), by adaptive quadrature."""
    if not isinstance(priors.alpha, tuple):
        return function(priors.alpha, priors.beta)
    area = np.ptp(priors.alpha) * np.ptp(priors.beta)
    return integrate.dblquad(lambda b, a: function(a, b), *priors.alpha, *priors.beta, epsabs=0, epsrel=1e-10)[0] / area


@pytest.mark.parametrize("priors", VARIANTS, ids=repr)
@pytest.mark.parametrize("excess", [1e-4, 0.3, 5.0, 40.0, 180.0])
def test_density_and_distribution_agree_with_adaptive_quadrature(priors, excess):
    prior = NuPrior(priors)
    nu = np.array([priors.nu_lower + excess])
    density = mixture(lambda a, b: stats.gamma.pdf(excess, a, scale=1 / b), priors)
    below = mixture(lambda a, b: stats.gamma.cdf(excess, a, scale=1 / b), priors)
    # nu - nu_lower is known to about 1e-16 / excess
    np.testing.assert_allclose(prior.log_density(nu), np.log(density), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(prior.cdf(nu), below, rtol=1e-8)


@pytest.mark.parametrize("level", [0.001, 0.5, 0.99])
@pytest.mark.parametrize("priors", VARIANTS, ids=repr)
def test_the_prior_probability_below_a_quantile_is_its_level(priors, level):
    prior = NuPrior(priors)
    quantile = prior.quantile(level)
    # Bisection leaves 1e-9 of nu, times a density of at most a few hundred
    assert prior.cdf(np.array(quantile)) == pytest.approx(level, abs=1e-6)


@pytest.mark.parametrize("priors", VARIANTS, ids=repr)
def test_below_the_lower_bound_of_nu_there_is_no_probability(priors):
    assert NuPrior(priors).cdf(np.array([priors.nu_lower - 5.0, priors.nu_lower])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("priors", VARIANTS, ids=repr)
def test_less_than_the_stated_probability_lies_beyond_the_largest_nu(priors):
    largest = NuPrior(priors).largest
    beyond = mixture(lambda a, b: stats.gamma.sf(largest - priors.nu_lower, a, scale=1 / b), priors)
    assert 0 < beyond <= 1e-10 * (1 + 1e-9)


def conditional_distribution(priors: Priors, excess: float, axis: int):
    """Distribution function of alpha (axis 0) or beta (axis 1) given nu, from the joint density on a fine grid."""
    middles = [lower + (upper - lower) * (np.arange(800) + 0.5) / 800 for lower, upper in (priors.alpha, priors.beta)]
    joint = stats.gamma.pdf(excess, middles[0][:, None], scale=1 / middles[1])
    mass = np.cumsum(joint.sum(axis=1 - axis))
    edges = np.linspace(*(priors.alpha, priors.beta)[axis], 801)
    return lambda value: np.interp(value, edges, np.concatenate([[0.0], mass / mass[-1]]))


@pytest.mark.parametrize("excess", [1e-3, 2.0, 30.0, 150.0])
@pytest.mark.parametrize("priors", [Priors(), Priors(nu_lower=0.0, alpha=(0.2, 8.0), beta=(0.01, 1.0))], ids=repr)
def test_draws_of_alpha_and_beta_have_their_conditional_distribution(priors, excess):
    count = 20_000
    nu = np.full(count, priors.nu_lower + excess)
    alpha, beta = NuPrior(priors).hyperparameter_draws(nu, np.random.default_rng(3))
    for axis, (drawn, (lower, upper)) in enumerate(((alpha, priors.alpha), (beta, priors.beta))):
        assert drawn.shape == (count,)
        assert ((drawn >= lower) & (drawn <= upper)).all()
        # A probability of 1e-4 that right draws fail
        assert stats.kstest(drawn, conditional_distribution(priors, excess, axis)).pvalue > 1e-4
    # Their covariance given nu, from the joint density: they are not drawn one without the other
    middles = [low + (high - low) * (np.arange(800) + 0.5) / 800 for low, high in (priors.alpha, priors.beta)]
    joint = stats.gamma.pdf(excess, middles[0][:, None], scale=1 / middles[1])
    joint /= joint.sum()
    means = joint.sum(axis=1) @ middles[0], joint.sum(axis=0) @ middles[1]
    expected = middles[0] @ joint @ middles[1] - means[0] * means[1]
    products = (alpha - alpha.mean()) * (beta - beta.mean())
    assert abs(products.mean() - expected) < 4 * products.std() / np.sqrt(count)


def test_draws_keep_the_shape_of_nu_and_come_from_the_generator():
    nu = np.array([[1.5, 20.0], [3.0, 7.0]])
    first = NuPrior(Priors()).hyperparameter_draws(nu, np.random.default_rng(1))
    again = NuPrior(Priors()).hyperparameter_draws(nu, np.random.default_rng(1))
    other = NuPrior(Priors()).hyperparameter_draws(nu, np.random.default_rng(2))
    assert first[0].shape == first[1].shape == (2, 2)
    np.testing.assert_array_equal(first, again)
    assert not np.equal(first, other).any()


def test_fixed_hyperparameters_are_not_drawn():
    with pytest.raises(TypeError, match="fixed"):
        NuPrior(Priors.kruschke()).hyperparameter_draws(np.array([2.0]), np.random.default_rng(0))
