"""The priors on delta0 and sigma0 beyond bounds: densities and draws against SciPy, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import integrate, stats

import hiercomp as hc
from hiercomp import HalfNormal, HalfStudentT, Normal, Priors
from hiercomp.errors import ArgumentError
from hiercomp.model.scaled import HierarchicalModel


class FoldedT:
    """|T| of SciPy's Student-t: twice its density above 0."""

    def __init__(self, nu: float, scale: float) -> None:
        self.t = stats.t(nu, scale=scale)

    def logpdf(self, x):
        return np.log(2) + self.t.logpdf(x)

    def cdf(self, x):
        return 2 * self.t.cdf(x) - 1

    def sf(self, x):
        return 2 * self.t.sf(x)


PAIRS = [
    (Normal(0.01, 0.05), stats.norm(0.01, 0.05)),
    (HalfNormal(0.05), stats.halfnorm(scale=0.05)),
    (HalfStudentT(4, 0.05), FoldedT(4, 0.05)),
    (HalfStudentT(1, 0.2), FoldedT(1, 0.2)),
]
OF_SIGMA0 = PAIRS[1:]


@pytest.mark.parametrize(("prior", "scipy"), PAIRS, ids=[str(prior) for prior, _ in PAIRS])
def test_the_density_is_that_of_scipy(prior, scipy):
    x = np.concatenate([[0.0], np.geomspace(1e-6, 3.0, 50)])
    np.testing.assert_allclose(prior.log_density(x), scipy.logpdf(x), rtol=1e-12)


@pytest.mark.parametrize(("prior", "scipy"), PAIRS, ids=[str(prior) for prior, _ in PAIRS])
def test_another_unit_moves_the_density_by_its_jacobian(prior, scipy):
    x = np.array([0.001, 0.03, 0.4])
    np.testing.assert_allclose(prior.in_unit(0.02).log_density(x / 0.02), scipy.logpdf(x) + np.log(0.02), rtol=1e-12)


@pytest.mark.parametrize(("prior", "scipy"), OF_SIGMA0, ids=[str(prior) for prior, _ in OF_SIGMA0])
def test_draws_of_sigma0_have_the_distribution(prior, scipy):
    drawn = prior.draws((20, 500), np.random.default_rng(1))
    assert drawn.shape == (20, 500)
    assert stats.kstest(drawn.ravel(), scipy.cdf).pvalue > 1e-3


@pytest.mark.parametrize("bound", [0.06, 10.0])
def test_draws_and_mass_of_delta0_are_those_of_the_truncated_normal(bound):
    truncated = stats.truncnorm((-bound - 0.01) / 0.05, (bound - 0.01) / 0.05, 0.01, 0.05)
    drawn = Normal(0.01, 0.05).draws(bound, (20, 500), np.random.default_rng(2))
    assert stats.kstest(drawn.ravel(), truncated.cdf).pvalue > 1e-3
    assert np.abs(drawn).max() <= bound
    x = 0.02
    density = float(Normal(0.01, 0.05).log_density(np.array(x))) - Normal(0.01, 0.05).log_mass(bound)
    assert density == pytest.approx(truncated.logpdf(x), rel=1e-12)


@pytest.mark.parametrize("share", [0.125, 1.0])
def test_a_tempered_normal_is_proportional_to_a_power_of_it(share):
    x = np.linspace(-0.2, 0.3, 7)
    ratio = Normal(0.01, 0.05).tempered(share).log_density(x) - share * stats.norm(0.01, 0.05).logpdf(x)
    np.testing.assert_allclose(ratio, ratio[0], atol=1e-12)


@pytest.mark.parametrize(("prior", "scipy"), OF_SIGMA0, ids=[str(prior) for prior, _ in OF_SIGMA0])
@pytest.mark.parametrize("datasets", [2, 10, 100])
@pytest.mark.parametrize("largest", [0.01, 1.0, 30.0])
def test_little_of_a_posterior_of_sigma0_lies_beyond_its_reach(prior, scipy, datasets, largest):
    # A likelihood that is flat as far as the farthest data set and then falls like sigma0^-q: no other one falls later
    def log_density(log_sigma0):
        sigma0 = np.exp(log_sigma0)
        return scipy.logpdf(sigma0) - datasets * np.log(np.maximum(sigma0 / largest, 1.0)) + log_sigma0

    end = np.log(prior.reach(largest, datasets))
    grid = np.linspace(np.log(1e-6), end + 40, 40_001)
    peak = log_density(grid).max()
    density = np.exp(log_density(grid) - peak)
    beyond = integrate.trapezoid(np.where(grid > end, density, 0.0), grid)
    assert beyond < 1e-9 * integrate.trapezoid(density, grid)


def test_little_of_a_posterior_of_delta0_lies_beyond_its_reach():
    # A likelihood that is flat up to the farthest data set: a real one has less mass further out
    prior = Normal(0.01, 0.05)
    end = prior.reach(0.3)
    assert end > 0.3
    assert stats.norm(0.01, 0.05).sf(end) < 1e-15 * stats.norm(0.01, 0.05).sf(0.3)
    assert prior.reach(0.0) > 0.01 + 8 * 0.05


@pytest.mark.parametrize(
    "priors",
    [
        Priors(delta0=Normal(0.01, 0.05)),
        Priors(delta0=Normal(0.01, 0.05), delta0_bound=0.1),
        Priors(sigma0=HalfNormal(0.05)),
        Priors.gaussian(delta0=Normal(0, 1), sigma0=HalfStudentT(4, 0.05)),
    ],
    ids=repr,
)
def test_a_dictionary_of_the_fields_makes_an_equal_object(priors):
    assert Priors(**json.loads(json.dumps(priors.to_dict()))) == priors
    assert eval(repr(priors)) == priors
    assert priors.name == "custom"


def test_the_dictionary_of_uniform_priors_has_no_new_fields():
    # The key of a fit in a checkpoint is made from it
    assert set(Priors().to_dict()) == {
        "population", "delta0_bound", "sigma_upper", "sigma0_upper", "nu_lower", "alpha", "beta",
    }  # fmt: skip


def test_named_priors_on_nu_stand_beside_other_priors_on_sigma0():
    priors = Priors.kruschke(sigma0=HalfNormal(0.05))
    assert (priors.alpha, priors.beta, priors.nu_lower) == (1.0, 0.0345, 1.0)
    assert priors.sigma0 == HalfNormal(0.05)
    assert Priors.juarez_steel(delta0=Normal(0, 1)).delta0 == Normal(0, 1)
    assert Priors.kruschke().name == "kruschke"


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "0.05", True, None])
@pytest.mark.parametrize("make", [lambda v: Normal(0, v), HalfNormal, lambda v: HalfStudentT(4, v)], ids=range(3))
def test_a_scale_that_is_not_a_positive_finite_number_is_refused(make, value):
    with pytest.raises(ArgumentError, match=r"^(sd of Normal|scale of Half\w+) must be"):
        make(value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Normal(math.nan, 1), "mean of Normal must be a finite number, got nan"),
        (lambda: HalfStudentT(0.5, 1), "nu of HalfStudentT must be at least 1, got 0.5"),
        (lambda: HalfStudentT(math.inf, 1), "nu of HalfStudentT must be a finite number, got inf"),
        (lambda: Priors(delta0=HalfNormal(1)), "delta0 must be a Normal, or None for the uniform prior, got Half"),
        (
            lambda: Priors(sigma0=Normal(0, 1)),
            "a HalfNormal or HalfStudentT, or None for the uniform prior, got Normal",
        ),
        (lambda: Priors(sigma0=0.05), "for the uniform prior, got 0.05"),
        (lambda: Priors(sigma0=HalfNormal(1), sigma0_upper=10), "leave it out beside sigma0=HalfNormal"),
        (lambda: Priors(delta0=Normal(0.3, 1), delta0_bound=0.2), "within delta0_bound, 0.2, got Normal"),
        (lambda: Priors(delta0={"distribution": "norm", "mean": 0}), "Did you mean 'normal'"),
        (lambda: Priors(sigma0={"distribution": "half_normal", "sd": 1}), "HalfNormal can't be made from"),
    ],
)
def test_what_is_no_prior_is_refused(make, words):
    with pytest.raises(ArgumentError) as caught:
        make()
    assert words in str(caught.value)


def test_the_model_has_the_priors_in_its_own_unit():
    x = np.random.default_rng(3).normal(0.01, 0.03, size=(6, 20))
    differences = hc.PairedDifferences.from_arrays(np.zeros_like(x), x, rho=0.1)
    priors = Priors(delta0=Normal(0.01, 0.05), sigma0=HalfStudentT(4, 0.05))
    model = HierarchicalModel.of(differences, priors)
    unit = x.std(axis=1, ddof=1).mean()
    assert model.delta0_prior.mean == pytest.approx(0.01 / unit)
    assert model.delta0_prior.sd == pytest.approx(0.05 / unit)
    assert (model.sigma0_prior.nu, model.sigma0_prior.scale) == (4, pytest.approx(0.05 / unit))
    drawn = model.prior_draws(4, 500, seed=1)
    assert stats.kstest(drawn["delta0"].ravel() * unit, stats.norm(0.01, 0.05).cdf).pvalue > 1e-3
    assert stats.kstest(drawn["sigma0"].ravel() * unit, FoldedT(4, 0.05).cdf).pvalue > 1e-3


def test_equal_means_need_no_bound_of_sigma0_where_it_has_another_prior():
    x = np.random.default_rng(3).normal(0.01, 0.03, size=(4, 20))
    x += 0.01 - x.mean(axis=1, keepdims=True)
    differences = hc.PairedDifferences.from_arrays(np.zeros_like(x), x, rho=0.1)
    assert HierarchicalModel.of(differences, Priors()).notes
    assert not HierarchicalModel.of(differences, Priors(sigma0=HalfNormal(0.05))).notes
