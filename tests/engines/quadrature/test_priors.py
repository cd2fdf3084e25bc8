"""Normal, half-normal and half-t priors: against other integrations, the uniform limits, samplers; and what uses them."""

from __future__ import annotations

import dataclasses
import json
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import special, stats

import hiercomp as hc
from hiercomp import HalfNormal, HalfStudentT, Normal, Priors
from hiercomp.engines.quadrature.support import Integrand
from hiercomp.posterior.kinds import integrand
from hiercomp.posterior.sensitivity import variants
from tests.engines.quadrature.test_engine import NAMES, ImportanceSample, collection, integrate, of_arrays, values

ROPE = 0.01


class SmallIntegral:
    """The posterior of few data sets on product grids, from the density of the scores themselves.

    Given sigma_i and a variance v of the mean difference, x_i is multivariate normal with the matrix
    sigma_i^2 M + v 1 1'. Its eigenvalues are sigma_i^2 (1 - rho), n - 1 times, and
    sigma_i^2 (1 + (n - 1) rho) + n v, with 1 as its vector. A Student-t population is a mixture of Gaussian ones:
    v = sigma0^2 / g, g ~ Gamma(nu / 2, nu / 2). sigma_i, g, nu, sigma0 and delta0 are integrated by the trapezoidal rule
    in their logs (delta0 in asinh). Nothing of the engine is used; everything is in the metric's units.
    """

    def __init__(self, given, log_prior_delta0, log_prior_sigma0, *, bound, nu_prior=None, sizes=(1200, 140, 1, 40, 1)):
        delta0_count, sigma0_count, nu_count, sigma_count, mixture_count = sizes
        end = np.arcsinh(bound / 0.01)
        u = -end + 2 * end * (np.arange(delta0_count) + 0.5) / delta0_count  # middles of cells, with an edge at 0
        delta0, delta0_step = 0.01 * np.sinh(u), 0.01 * np.cosh(u) * (u[1] - u[0])
        log_sigma0 = np.linspace(np.log(1e-8), np.log(20), sigma0_count)
        sigma0, sigma0_step = np.exp(log_sigma0), np.exp(log_sigma0) * (log_sigma0[1] - log_sigma0[0])
        if nu_prior is None:
            nu, log_nu_weight, mixture = np.array([np.inf]), np.zeros(1), [(np.ones(1), np.ones(1))]
        else:
            excess = np.exp(np.linspace(np.log(1e-3), np.log(600.0), nu_count))
            nu = 1 + excess
            log_nu_weight = np.log(nu_prior(excess) * excess * np.log(excess[1] / excess[0]))
            mixture = []
            for one in nu:
                ends = np.log(stats.gamma(one / 2, scale=2 / one).isf([1 - 1e-9, 1e-9]))
                log_g = np.linspace(*ends, mixture_count)
                weight = stats.gamma(one / 2, scale=2 / one).pdf(np.exp(log_g)) * np.exp(log_g) * (log_g[1] - log_g[0])
                mixture.append((np.exp(log_g), weight))
        log_density = log_nu_weight[:, None, None] + np.log(sigma0_step)[:, None] + np.log(delta0_step)
        log_density = log_density + log_prior_sigma0(sigma0)[:, None] + log_prior_delta0(delta0)
        sigma_upper = 1000 * given.standard_deviation.mean()
        for mean, squares, n, rho in zip(given.mean, given.sum_of_squares, given.n, given.rho, strict=True):
            spread = np.sqrt(squares / (n - 1)) / np.sqrt(1 - rho)
            log_sigma = np.log(spread) + np.linspace(-9, 9, sigma_count) / np.sqrt(n)
            sigma2, sigma_step = np.exp(2 * log_sigma), np.exp(log_sigma) * (log_sigma[1] - log_sigma[0]) / sigma_upper
            log_within = (
                -n / 2 * np.log(2 * np.pi)
                - (n - 1) / 2 * np.log(sigma2 * (1 - rho))
                - squares / (2 * sigma2 * (1 - rho))
            )
            constant = log_within.max()
            within = np.exp(log_within - constant) * sigma_step
            for place, (g, weight) in enumerate(mixture):
                for row, scale in enumerate(sigma0):
                    along = sigma2[:, None] * (1 + (n - 1) * rho) + n * scale**2 / g  # (sigma, g)
                    share = (within[:, None] * weight / np.sqrt(along)).ravel()
                    gaussian = np.exp(-n / 2 * (mean - delta0[:, None]) ** 2 / along.ravel())
                    log_density[place, row] += constant + np.log(np.maximum(gaussian @ share, 1e-300))
        peak = log_density.max()
        mass = np.exp(log_density - peak)
        self.log_marginal_likelihood = float(np.log(mass.sum()) + peak)
        mass /= mass.sum()
        self.expected_delta0 = float(mass.sum(axis=(0, 1)) @ delta0)
        self.positive = float(mass.sum(axis=(0, 1)) @ (delta0 > 0))
        self.expected_sigma0 = float(mass.sum(axis=(0, 2)) @ sigma0)
        nodes = nu[:, None, None], sigma0[:, None], delta0
        self.expected = [float((mass * tail).sum()) for tail in self._regions(*nodes)]

    @staticmethod
    def _regions(nu, sigma0, delta0):
        cdf = special.ndtr if np.isinf(nu).any() else partial(special.stdtr, nu)
        left, right = cdf((-ROPE - delta0) / sigma0), cdf((delta0 - ROPE) / sigma0)
        return left, 1 - left - right, right


def uniform(length):
    return lambda x: np.full(np.shape(x), -np.log(length))


def half_t(nu, scale):
    return lambda x: np.log(2) + stats.t(nu, scale=scale).logpdf(x)


PRIORS = {
    "normal": {"delta0": Normal(0.005, 0.01)},
    "half-normal": {"sigma0": HalfNormal(0.01)},
    "half-t": {"sigma0": HalfStudentT(4, 0.01)},
    "half-Cauchy": {"sigma0": HalfStudentT(1, 0.005)},
    "both": {"delta0": Normal(-0.01, 0.02), "sigma0": HalfNormal(0.004)},
    "cut": {"delta0": Normal(0.005, 0.02), "delta0_bound": 0.03, "sigma0": HalfStudentT(3, 0.02)},
}
SCIPY = {
    "normal": (stats.norm(0.005, 0.01).logpdf, None),
    "half-normal": (None, stats.halfnorm(scale=0.01).logpdf),
    "half-t": (None, half_t(4, 0.01)),
    "half-Cauchy": (None, stats.halfcauchy(scale=0.005).logpdf),
    "both": (stats.norm(-0.01, 0.02).logpdf, stats.halfnorm(scale=0.004).logpdf),
    "cut": (stats.truncnorm(-0.035 / 0.02, 0.025 / 0.02, 0.005, 0.02).logpdf, half_t(3, 0.02)),
}


def checked_against_the_small_integral(name, priors, x, tolerance, **options):
    given = of_arrays(x, priors=priors)
    result = integrate(given)
    assert result.status == "ok"
    d = given.differences
    log_delta0, log_sigma0 = SCIPY[name]
    # Uniform: (M4) and (M5), by SciPy's names
    log_delta0 = log_delta0 or uniform(2 * d.delta0_bound)
    log_sigma0 = log_sigma0 or stats.uniform(0, 1000 * np.std(d.mean, ddof=1)).logpdf
    exact = SmallIntegral(d, log_delta0, log_sigma0, bound=priors.delta0_bound or 1.0, **options)
    seen = result.next_dataset
    # The grid is refined until the probabilities are exact, which may leave a larger error here
    integration = result.posterior.integration
    allowed = max(tolerance, integration.log_marginal_likelihood_error)
    assert allowed < 0.007
    assert result.log_marginal_likelihood == pytest.approx(exact.log_marginal_likelihood, abs=allowed)
    found = [seen.expected_left, seen.expected_rope, seen.expected_right]
    np.testing.assert_allclose(found, exact.expected, atol=tolerance)
    assert seen.p_positive == pytest.approx(exact.positive, abs=tolerance)
    moments = result.population()["mean"]
    allowed = max(0.005 * tolerance, integration.expected_delta0_error * result.posterior.unit)
    assert allowed < 2.5e-5
    assert moments["delta0"] == pytest.approx(exact.expected_delta0, abs=allowed)
    assert moments["sigma0"] == pytest.approx(exact.expected_sigma0, rel=5 * tolerance)


@pytest.mark.parametrize("name", PRIORS)
def test_few_data_sets_under_a_gaussian_population_agree_with_another_integration(name):
    x = collection(3, spread=0.01, seed=5)
    checked_against_the_small_integral(name, Priors(population="gaussian", **PRIORS[name]), x, 5e-5)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "both")) for name in PRIORS])
def test_few_data_sets_under_a_student_t_population_agree_with_another_integration(name):
    # nu - 1 is exponential with mean 29
    x, priors = collection(3, spread=0.01, seed=5), Priors(alpha=1.0, beta=0.0345, **PRIORS[name])
    nu_prior = stats.expon(scale=1 / 0.0345).pdf
    checked_against_the_small_integral(name, priors, x, 2e-4, nu_prior=nu_prior, sizes=(300, 60, 20, 20, 40))


@pytest.mark.parametrize(
    ("name", "distributions"),
    [
        ("both", PRIORS["both"]),
        # The prior and the data are ten standard deviations of both apart: the axis of delta0 of few data sets is used
        ("far", {"delta0": Normal(-0.05, 0.004), "sigma0": HalfNormal(0.01)}),
        ("narrow", {"delta0": Normal(-0.002, 0.0003), "sigma0": HalfNormal(0.0003)}),
    ],
)
def test_many_data_sets_agree_with_another_integration(name, distributions, monkeypatch):
    densities = {
        "far": (stats.norm(-0.05, 0.004).logpdf, stats.halfnorm(scale=0.01).logpdf),
        "narrow": (stats.norm(-0.002, 0.0003).logpdf, stats.halfnorm(scale=0.0003).logpdf),
    }
    for other, pair in densities.items():
        monkeypatch.setitem(SCIPY, other, pair)
    given = of_arrays(collection(14, spread=0.01, seed=5), priors=Priors(population="gaussian", **distributions))
    assert problem_of(given).stretched == (name == "far")
    x = collection(14, spread=0.01, seed=5)
    checked_against_the_small_integral(name, given.priors, x, 1e-4)


def problem_of(given: hc.HierarchicalComparison) -> Integrand:
    from hiercomp.model.scaled import HierarchicalModel

    return integrand(HierarchicalModel.of(given.differences, given.priors))


@pytest.mark.parametrize("q", [4, 14])
@pytest.mark.parametrize(
    ("distributions", "log_density_at_0"),
    [
        ({"delta0": Normal(0, 500.0), "delta0_bound": 1.0}, None),
        ({"sigma0": HalfNormal(5e4)}, stats.halfnorm(scale=5e4).logpdf(0)),
        ({"sigma0": HalfStudentT(4, 5e4)}, half_t(4, 5e4)(0)),
    ],
    ids=["normal", "half-normal", "half-t"],
)
def test_the_limit_of_a_wide_prior_is_the_uniform_one(q, distributions, log_density_at_0):
    x = collection(q, spread=0.01, seed=5)
    uniform = integrate(of_arrays(x, priors=Priors.gaussian()))
    wide = integrate(of_arrays(x, priors=Priors(population="gaussian", **distributions)))
    np.testing.assert_allclose(values(wide), values(uniform), atol=1e-4)
    # The density of a wide prior is constant as far as the data reach; cut off at the bound of the uniform one it is that
    upper = 1000 * np.std(uniform.differences.mean, ddof=1)
    change = 0.0 if log_density_at_0 is None else log_density_at_0 + np.log(upper)
    assert wide.log_marginal_likelihood - uniform.log_marginal_likelihood == pytest.approx(change, abs=1e-3)


@pytest.mark.parametrize("q", [8, 14])
def test_mirrored_data_and_a_mirrored_mean_mirror_the_answer(q):
    x = collection(q, spread=0.01, seed=6)
    one, other = (
        integrate(of_arrays([sign * row for row in x], priors=Priors(delta0=Normal(sign * 0.01, 0.004))))
        for sign in (1, -1)
    )
    mirrored = [2, 1, 0, 5, 4, 3]
    np.testing.assert_allclose(values(other)[mirrored], values(one)[:6], atol=1e-5)
    assert other.log_marginal_likelihood == pytest.approx(one.log_marginal_likelihood, abs=1e-5)


def test_percentages_with_priors_in_percent_give_the_same_answer():
    x = collection(6, spread=0.01, seed=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.ScaleWarning)
        priors = Priors(delta0=Normal(0.5, 2.0), sigma0=HalfStudentT(4, 1.0))
        percent = integrate(of_arrays([100 * row for row in x], rope=1.0, priors=priors))
    fraction = integrate(of_arrays(x, priors=Priors(delta0=Normal(0.005, 0.02), sigma0=HalfStudentT(4, 0.01))))
    np.testing.assert_allclose(values(percent), values(fraction), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("population", ["student_t", "gaussian"])
@pytest.mark.parametrize("name", PRIORS)
def test_more_data_sets_agree_with_importance_sampling(name, population):
    given = of_arrays(collection(6, spread=0.01, seed=2), priors=Priors(population=population, **PRIORS[name]))
    uniform = Priors(population=population, delta0_bound=PRIORS[name].get("delta0_bound", 1.0))
    sample = ImportanceSample(given.differences, uniform, 1_000_000)
    log_delta0, log_sigma0 = SCIPY[name]
    upper = 1000 * np.std(given.differences.mean, ddof=1)
    change = np.zeros(len(sample.weight))
    with np.errstate(divide="ignore"):  # a draw outside of the bound, whose weight is 0 already
        if log_delta0 is not None:
            change += log_delta0(sample.delta0) + np.log(2 * uniform.delta0_bound)
        if log_sigma0 is not None:
            change += log_sigma0(sample.sigma0) + np.log(upper)
    sample.weight = sample.weight * np.exp(change)
    result = integrate(given)
    for number, of in zip(NAMES, sample.region_values(ROPE), strict=True):
        mean, error = sample.mean(of)
        assert error < 0.01, number
        assert abs(getattr(result.next_dataset, number) - mean) < 4 * error + result.next_dataset.errors[number] + 1e-5
    found, error = sample.log_marginal_likelihood()
    assert error < 0.03
    assert abs(result.log_marginal_likelihood - found) < 4 * error


SAMPLED = {
    "normal": Priors(delta0=Normal(0.005, 0.002)),
    "half-normal": Priors.kruschke(sigma0=HalfNormal(0.003)),
    "half-t": Priors.gaussian(delta0=Normal(0, 0.01), sigma0=HalfStudentT(4, 0.005)),
}


@pytest.fixture(scope="module", params=SAMPLED)
def verified(request) -> hc.ComparisonResult:
    """Ten data sets, integrated and sampled with the embedded engine."""
    comparison = of_arrays(collection(10, spread=0.01, seed=9), priors=SAMPLED[request.param])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.RefitWarning)
        return comparison.fit("auto", progress=False)


def test_the_sampler_and_the_quadrature_agree(verified):
    assert verified.status == "ok"
    assert max(quantity.distance for quantity in verified.verification.quantities) < 4
    changed = integrate(hc.HierarchicalComparison.from_differences(verified.differences, rope=0.01))
    # The priors matter: without them the integral would be far from the draws
    assert np.abs(values(changed) - values(verified)).max() > 0.02


def test_draws_from_the_grid_agree_with_the_integral(verified):
    alone = integrate(
        hc.HierarchicalComparison.from_differences(verified.differences, priors=verified.priors, rope=0.01), draws=1000
    )
    population = alone.population()
    for name in ("delta0", "sigma0"):
        drawn = alone.draws(name).ravel()
        assert abs(drawn.mean() - population.loc[name, "mean"]) < 4 * drawn.std() / np.sqrt(len(drawn))
        below = (drawn < population.loc[name, "median"]).mean()
        assert abs(below - 0.5) < 4 * 0.5 / np.sqrt(len(drawn)) + 0.005


def test_a_result_is_read_again_as_the_same(verified, tmp_path):
    verified.save(tmp_path / "result.nc")
    again = hc.load_result(tmp_path / "result.nc")
    assert again.priors == verified.priors
    wider = hc.Rope.of(0.02)
    assert again.with_rope(wider).next_dataset == verified.with_rope(wider).next_dataset
    assert again.log_marginal_likelihood == verified.log_marginal_likelihood


def test_prior_draws_are_those_of_the_priors(verified):
    drawn = {name: verified.datatree["prior"][name].to_numpy().ravel() for name in ("delta0", "sigma0")}
    if verified.priors.delta0 is not None:
        prior = verified.priors.delta0
        assert stats.kstest(drawn["delta0"], stats.norm(prior.mean, prior.sd).cdf).pvalue > 1e-3
    if isinstance(verified.priors.sigma0, HalfNormal):
        assert stats.kstest(drawn["sigma0"], stats.halfnorm(scale=verified.priors.sigma0.scale).cdf).pvalue > 1e-3
    if isinstance(verified.priors.sigma0, HalfStudentT):
        prior = stats.t(verified.priors.sigma0.nu, scale=verified.priors.sigma0.scale)
        assert stats.kstest(drawn["sigma0"], lambda x: 2 * prior.cdf(x) - 1).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("priors", list(SAMPLED.values()), ids=list(SAMPLED))
def test_leaving_out_a_data_set_is_a_fit_without_it(priors):
    x = collection(12, spread=0.01, seed=8)
    result = integrate(of_arrays(x, priors=priors))
    table = result.influence().to_frame()
    for place in (0, 5):
        rest = integrate(of_arrays([row for number, row in enumerate(x) if number != place], priors=priors))
        np.testing.assert_allclose(table.iloc[place, :3].to_numpy(float), values(rest)[:3], atol=5e-4)


def test_the_variants_keep_the_priors_and_have_a_uniform_one_for_each():
    priors = Priors(delta0=Normal(0, 0.05), sigma0=HalfNormal(0.03))
    found = {variant.name: variant.priors for variant in variants(priors)}
    assert list(found) == [
        "nu: juarez_steel", "nu: kruschke", "nu: gaussian", "delta0: uniform", "sigma0: uniform", "rho x 0.5", "rho x 2",
        "upper bound x 100",
    ]  # fmt: skip
    assert found["nu: kruschke"] == Priors.kruschke(delta0=Normal(0, 0.05), sigma0=HalfNormal(0.03))
    assert found["delta0: uniform"] == Priors(sigma0=HalfNormal(0.03))
    assert found["sigma0: uniform"] == Priors(delta0=Normal(0, 0.05))
    assert found["upper bound x 100"] == dataclasses.replace(priors, sigma_upper=100.0)
    cut = Priors(delta0=Normal(0, 0.05), delta0_bound=0.5)
    assert {variant.priors.delta0_bound for variant in variants(cut)} == {0.5}


def test_the_bayes_factor_of_the_uniform_variant_is_that_of_two_fits():
    x, priors = collection(6, spread=0.01, seed=8), Priors.gaussian(sigma0=HalfNormal(0.02))
    result = integrate(of_arrays(x, priors=priors))
    row = result.sensitivity().to_frame().loc["sigma0: uniform"]
    uniform = integrate(of_arrays(x, priors=Priors.gaussian()))
    expected = uniform.log_marginal_likelihood - result.log_marginal_likelihood
    assert row["log_bayes_factor"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_a_search_that_starts_with_few_of_many_data_sets_finds_the_posterior(monkeypatch):
    # The prior pulls sigma0 far away from the data: with a share of them it must count as much less
    given = of_arrays(
        collection(450, spread=0.01, seed=8), priors=Priors(delta0=Normal(0, 0.01), sigma0=HalfNormal(0.0006))
    )
    usual = integrate(given)
    monkeypatch.setattr("hiercomp.engines.quadrature.engine.FEWEST_SAMPLED", 450)  # all data sets from the start
    other = integrate(given)
    np.testing.assert_allclose(values(usual), values(other), atol=1e-4)
    error = usual.posterior.integration.log_marginal_likelihood_error
    assert usual.log_marginal_likelihood == pytest.approx(other.log_marginal_likelihood, abs=error)
    assert error < 0.005


def test_pairs_and_their_checkpoint_tell_priors_apart(tmp_path):
    scores = hc.load_scores("keel")
    scores = scores[scores["algorithm"].isin(["naive_bayes", "decision_tree"])]
    options = {"engine": "quadrature", "rope": 0.01, "progress": False, "checkpoint": tmp_path / "pairs"}
    uniform = hc.compare_all(scores, **options)
    narrow = hc.compare_all(scores, priors=Priors(sigma0=HalfNormal(0.001)), **options)
    assert narrow.pairs[0].log_marginal_likelihood != uniform.pairs[0].log_marginal_likelihood
    alone = hc.compare(scores, "naive_bayes", "decision_tree", rope=0.01, engine="quadrature", priors=narrow.priors)
    assert {narrow.pairs[0].left, narrow.pairs[0].right} == {alone.left, alone.right}
    assert narrow.pairs[0].log_marginal_likelihood == pytest.approx(alone.log_marginal_likelihood, abs=1e-9)


def test_a_plan_takes_these_priors():
    assumed = {"delta0": 0.03, "sigma0": 0.005, "standard_deviation": 0.03, "n_datasets": 8, "simulations": 4}
    wide = hc.plan(**assumed, priors=Priors.gaussian(), progress=False)
    against = hc.plan(**assumed, priors=Priors.gaussian(delta0=Normal(0, 0.0005)), progress=False)
    assert wide.to_frame()["p_right"].iloc[0] > against.to_frame()["p_right"].iloc[0]


def test_the_dictionary_of_a_result_is_ready_for_json():
    result = integrate(of_arrays(collection(4, spread=0.01, seed=8), priors=SAMPLED["half-t"]))
    json.dumps(result.summary().to_dict())
