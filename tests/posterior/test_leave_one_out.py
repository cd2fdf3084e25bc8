"""Leave-one-out against refits, plain integration with dense matrices, ArviZ, and simulated truth."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import interpolate, stats

import hiercomp as hc
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.predictive import Populations
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior import leave_one_out
from hiercomp.posterior.populations import arviz_comparison
from tests.conftest import simulated_scores

PROPER = {"delta0": hc.Normal(0.0, 0.05), "sigma0": hc.HalfNormal(0.02)}  # they do not depend on the data


@pytest.fixture(autouse=True)
def _few_data_sets():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.FewDatasetsWarning)
        yield


@pytest.fixture(scope="module")
def integrated() -> hc.ComparisonResult:
    return fitted(simulated_scores(12, runs=1, centre=0.01, spread=0.02, seed=5))


@pytest.fixture(scope="module")
def sampled() -> hc.ComparisonResult:
    scores = simulated_scores(12, runs=1, centre=0.01, spread=0.02, seed=5)
    return fitted(scores, engine="embedded", progress=False)


def fitted(frame, engine="quadrature", **options) -> hc.ComparisonResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.RefitWarning)
        return hc.compare(frame, "bayes", "tree", rope=0.01, engine=engine, **options)


def of_rows(rows, **priors) -> hc.ComparisonResult:
    comparison = hc.HierarchicalComparison.from_arrays(
        [np.full(len(row), 0.5) for row in rows],
        [0.5 + row for row in rows],
        rho=0.1,
        rope=0.01,
        priors=hc.Priors(**priors),
    )
    return comparison.fit("quadrature")


def of_means(means, seed: int, n: int = 30, **priors) -> hc.ComparisonResult:
    noise = np.random.default_rng(seed).normal(0, 0.01, (len(means), n))
    return of_rows([mean + row for mean, row in zip(means, noise, strict=True)], **priors)


class PlainIntegration:
    """A Gaussian population: the density of raw differences by dense matrices, and every integral on a plain grid."""

    def __init__(self, rows: list[np.ndarray], rho: float):
        self.rows, self.rho = rows, rho
        unit = np.mean([row.std(ddof=1) for row in rows])
        self.sigma_upper = 1000 * unit
        centre = np.linspace(-0.15, 0.15, 241)
        nodes, weights = np.polynomial.legendre.leggauss(100)
        spread = 0.1 * (nodes + 1) / 2
        log_prior = (
            stats.norm.logpdf(centre, 0, 0.05) + stats.halfnorm.logpdf(spread, scale=0.02)[:, None] + np.log(0.05)
        )
        self.log_weight = log_prior + np.log(weights)[:, None] + np.log(centre[1] - centre[0])
        self.spread = []  # log of the integral of the density over delta: that of the scores around their mean
        pairs = [self.averages(row, centre, spread) for row in rows]
        self.log_density = np.array([density for density, _ in pairs])
        self.below = [below for _, below in pairs]
        self.spread = np.array(self.spread)

    def averages(self, row, centre, spread):
        """Of the density of a data set, and of the probability of a lower mean, over the population's delta."""
        n = len(row)
        delta = np.linspace(-0.3, 0.3, 1201)
        matrix = np.full((n, n), self.rho) + (1 - self.rho) * np.eye(n)
        residuals = row[:, None] - delta
        quadratic = np.einsum("ij,ij->j", residuals, np.linalg.solve(matrix, residuals))
        log_sigma = np.linspace(np.log(1e-4), np.log(self.sigma_upper), 3001)
        exponent = -quadratic[:, None] / (2 * np.exp(2 * log_sigma)) - (n - 1) * log_sigma
        log_det = np.linalg.slogdet(matrix)[1]
        constant = -n / 2 * np.log(2 * np.pi) - log_det / 2 - np.log(self.sigma_upper)
        peak = exponent.max()
        density = np.exp(exponent - peak).sum(axis=1) * (log_sigma[1] - log_sigma[0])  # of x given delta
        # The mean given delta and the spread around it: its density is proportional to that of x
        share = interpolate.CubicSpline(delta, density).antiderivative()
        self.spread.append(np.log(share(delta[-1])) + peak + constant)
        lower = share(delta) / share(delta[-1])  # by symmetry about the mean: P(mean' < mean | delta) is 1 - lower
        found = []
        for values in (density, 1 - lower):
            curve = interpolate.CubicSpline(delta, values)
            nodes, weights = np.polynomial.hermite_e.hermegauss(40)
            inner = np.clip(centre[:, None] + spread[:, None, None] * nodes, -0.3, 0.3)
            narrow = curve(inner) @ weights / np.sqrt(2 * np.pi)
            z = (delta - centre[:, None]) / spread[:, None, None]
            gaussian = np.exp(-0.5 * z**2) / (np.sqrt(2 * np.pi) * spread[:, None, None])
            wide = gaussian @ values * (delta[1] - delta[0])
            wide += values[-1] * stats.norm.sf((0.3 - centre) / spread[:, None])  # constant beyond the grid
            wide += values[0] * stats.norm.cdf((-0.3 - centre) / spread[:, None])
            found.append(np.where(spread[:, None] < 0.004, narrow, wide))
        return np.log(np.maximum(found[0], 1e-300)) + peak + constant, found[1]

    def without(self, place: int) -> tuple[float, float]:
        """Log p(x_i | the others), and P(mean' < mean_i | the others)."""
        others = np.delete(self.log_density, place, axis=0).sum(axis=0) + self.log_weight
        weight = np.exp(others - others.max())
        density = self.log_density[place]
        average = np.log((weight * np.exp(density - density.max())).sum() / weight.sum()) + density.max()
        return float(average), float((weight * self.below[place]).sum() / weight.sum())


@pytest.mark.slow
@pytest.mark.parametrize(("q", "anew"), [(4, True), (6, False)])
def test_left_out_densities_and_probabilities_are_those_of_a_plain_integration(q, anew):
    generator = np.random.default_rng(3)
    rows = [generator.normal(0.02, 0.015) + generator.normal(0, 0.02, n) for n in (10, 12, 15, 20, 11, 30)[:q]]
    found = of_rows(rows, population="gaussian", **PROPER).loo()
    plain = PlainIntegration(rows, 0.1)
    expected = np.array([plain.without(place) for place in range(q)])
    np.testing.assert_allclose(found.spread, plain.spread, atol=1e-3)
    np.testing.assert_allclose(found.elpd_i + found.spread, expected[:, 0], atol=2e-3)
    np.testing.assert_allclose(found.pit, expected[:, 1], atol=1e-3)
    assert found.refitted.tolist() == [anew] * q


def test_the_log_density_is_the_difference_of_two_log_marginal_likelihoods():
    """A fit without the data set; the bound of its sigma_i, 1000 times the mean deviation, is another."""
    generator = np.random.default_rng(8)
    means = 0.01 + 0.01 * generator.standard_t(2, 9)
    noise = generator.normal(0, 0.01, (9, 20))
    rows = list(means[:, None] + noise)
    whole = of_rows(rows, **PROPER)
    found = whole.loo()
    assert not found.refitted.all()
    unit = np.mean([row.std(ddof=1) for row in rows])
    for place in (0, 4, int(np.abs(means).argmax())):
        others = [row for number, row in enumerate(rows) if number != place]
        rest = of_rows(others, **PROPER)
        other_unit = np.mean([row.std(ddof=1) for row in others])
        correction = (len(rows) - 1) * np.log(other_unit / unit)
        expected = whole.log_marginal_likelihood - (rest.log_marginal_likelihood + correction)
        assert float(found.elpd_i[place] + found.spread[place]) == pytest.approx(expected, abs=5e-3)


def test_density_and_spread_are_those_of_all_differences_with_two_correlations():
    frame = simulated_scores(8, runs=3, centre=0.01, spread=0.02, seed=6)
    options = {"rho": hc.Correlation(within=0.2, across=0.1), "priors": hc.Priors(**PROPER)}
    whole = fitted(frame, **options)
    found = whole.loo()
    name = found.dataset_names[2]
    rest = fitted(frame[frame["dataset"] != name], **options)
    # sigma_i is uniform up to 1000 units, so the density of each of the seven others has the factor 1 / unit
    units = [HierarchicalModel.of(each.differences, each.priors).unit for each in (whole, rest)]
    expected = whole.log_marginal_likelihood - rest.log_marginal_likelihood - 7 * np.log(units[1] / units[0])
    assert float(found.elpd_i[2] + found.spread[2]) == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize("nu", [1.05, 3.0, np.inf])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 1.0, 2.0, 100.0])
@pytest.mark.parametrize("n", [3, 10, 100])
def test_the_probability_of_a_lower_mean_agrees_with_thousands_of_nodes(nu, ratio, n):
    likelihood = MeanLikelihood(*(np.array([value]) for value in (0.3, 2.0, float(n), 0.1)), sigma_upper=1e6)
    scale = float(likelihood.scale[0])
    population = stats.norm(0, ratio * scale) if np.isinf(nu) else stats.t(nu, 0, ratio * scale)
    error = stats.t(n - 2, 0, scale)
    for distance in (-3.0, 0.0, 0.4, 5.0):
        z = distance * max(scale, ratio * scale)
        narrow, wide = (population, error) if ratio < 1 else (error, population)
        y = np.linspace(-18, 18, 6001)  # equal steps of asinh(x / scale), as both may have heavy tails
        x = min(ratio, 1.0) * scale * np.sinh(y)
        slope = min(ratio, 1.0) * scale * np.cosh(y) * (y[1] - y[0])
        expected = (wide.cdf(z - x) * narrow.pdf(x) * slope).sum()
        centre = np.array([0.3 - z])
        found = Populations(centre, np.array([ratio * scale]), np.array([nu])).mean_below(likelihood)
        assert found[0] == pytest.approx(expected, abs=2e-3)


def test_sampled_results_agree_with_the_integral(integrated, sampled):
    """A wrong sign of the log likelihood in the weights would move elpd by nats."""
    exact, found = integrated.loo(), sampled.loo()
    assert found.pareto_k is not None
    assert exact.pareto_k is None
    np.testing.assert_allclose(found.elpd_i, exact.elpd_i, atol=0.1)
    np.testing.assert_allclose(found.pit, exact.pit, atol=0.02)
    assert found.p == pytest.approx(exact.p, abs=0.2)


def test_a_data_set_whose_weights_fail_is_left_out_by_an_integral(integrated, sampled, monkeypatch):
    monkeypatch.setattr("hiercomp.posterior.importance.largest_k", lambda draws: -np.inf)
    exact, found = integrated.loo(), sampled.loo()
    assert found.refitted.all()
    np.testing.assert_array_equal(found.elpd_i, exact.elpd_i)
    np.testing.assert_array_equal(found.pit, exact.pit)
    assert "12 data sets with a Pareto k above" in str(found)


def test_a_new_integral_with_a_large_error_is_doubtful(monkeypatch):
    """Of three data sets each is left out by a new integral; without the far one the other two agree."""
    near = np.random.default_rng(2).normal(0, 0.01, (3, 10))
    result = of_rows(list(near + np.array([[0.0], [0.0], [0.2]])))
    assert result.loo().doubtful == ()
    errors = []
    for place in range(3):
        others = replace(result.posterior.integration.grid.problem, log_sigma0=False)
        kept = np.delete(np.arange(3), place)
        others = replace(others, likelihood=others.likelihood.subset(kept))
        rope = result.rope.scaled(1 / result.posterior.unit)
        errors.append(QuadratureEngine().integrate(others, rope).log_marginal_likelihood_error)
    limit = sorted(errors)[1]
    monkeypatch.setattr("hiercomp.engines.quadrature.leave_one_out.DOUBTFUL_ERROR", limit)
    with pytest.warns(hc.ConvergenceWarning, match="Doubtful predictions"):
        found = result.loo()
    assert found.doubtful == (result.differences.dataset_names[int(np.argmax(errors))],)
    assert f"failed a check: '{found.doubtful[0]}'." in str(found)
    with pytest.warns(hc.ConvergenceWarning):
        check = result.check_population()
    assert f"Student-t: {found.doubts[0]}" in str(check)


def test_another_unit_shifts_the_log_density_and_nothing_else(integrated):
    scores = simulated_scores(12, runs=1, centre=0.01, spread=0.02, seed=5)
    scores["score"] *= 100
    percent = hc.compare(scores, "bayes", "tree", rope=1.0, engine="quadrature", priors=hc.Priors(delta0_bound=100.0))
    first, second = integrated.loo(), percent.loo()
    np.testing.assert_allclose(first.elpd_i - second.elpd_i, np.log(100), atol=1e-6)
    np.testing.assert_allclose(first.spread - second.spread, 9 * np.log(100), atol=1e-6)
    np.testing.assert_allclose(first.pit, second.pit, atol=1e-6)


@pytest.mark.parametrize("which", ["integrated", "sampled"])
def test_arviz_finds_the_same_from_the_groups_of_the_tree(which, request):
    import arviz_stats

    result = request.getfixturevalue(which)
    tree = result.predictive_datatree()
    exact = result.loo()
    assert result.datatree.children.keys() == tree.children.keys() - {
        *("log_likelihood", "posterior_predictive", "prior_predictive", "constant_data")
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a Pareto k
        found = arviz_stats.loo(tree, pointwise=True)
        pit = arviz_stats.loo_pit(tree)["mean"]
    np.testing.assert_allclose(found.elpd_i, exact.elpd_i, atol=0.1)
    # 4,000 replicates: a standard error of 0.008
    np.testing.assert_allclose(pit, exact.pit, atol=0.035)
    assert list(found.elpd_i["dataset"].values) == list(result.differences.dataset_names)


@pytest.mark.parametrize("which", ["integrated", "sampled"])
def test_groups_on_request_are_not_saved_and_a_result_that_was_read_gives_the_same(which, request, tmp_path):
    result = request.getfixturevalue(which)
    before = result.datatree.copy(deep=True)
    tree = result.predictive_datatree(seed=4)
    assert result.datatree.identical(before)
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    assert again.datatree.children.keys() == result.datatree.children.keys()
    np.testing.assert_array_equal(again.loo().elpd_i, result.loo().elpd_i)
    np.testing.assert_array_equal(again.loo().pit, result.loo().pit)
    for group in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        assert again.predictive_datatree(seed=4)[group].dataset.identical(tree[group].dataset)


def test_a_result_without_draws_of_single_data_sets_has_the_same_leave_one_out(integrated):
    scores = simulated_scores(12, runs=1, centre=0.01, spread=0.02, seed=5)
    light = fitted(scores, keep="population")
    np.testing.assert_array_equal(light.loo().elpd_i, integrated.loo().elpd_i)
    assert light.predictive_datatree()["log_likelihood"]["mean"].shape == (4, 1000, 12)


def test_arviz_has_the_numbers_by_data_set(integrated, sampled):
    exact, weighted = integrated.loo(), sampled.loo()
    for own in (exact, weighted):
        found = own.to_arviz()
        assert (found.kind, found.scale, found.n_data_points) == ("loo", "log", 12)
        assert found["elpd"] == pytest.approx(sum(own.elpd_i))
        assert found["se"] == pytest.approx(np.sqrt(12) * stats.tstd(own.elpd_i) * np.sqrt(11 / 12))
        name = own.dataset_names[3]
        assert found.elpd_i.sel(dataset=name) == own.elpd_i[3]
    assert exact.to_arviz().pareto_k is None
    assert weighted.to_arviz().pareto_k.sel(dataset=name) == weighted.pareto_k[3]
    assert weighted.to_arviz().n_samples == sampled.draws("delta0").size


def test_arviz_compares_the_results(integrated):
    scores = simulated_scores(12, runs=1, centre=0.01, spread=0.02, seed=5)
    loos = {"t": integrated.loo(), "gaussian": fitted(scores, priors="gaussian").loo()}
    table = arviz_comparison(loos)
    difference = loos["t"].elpd_i - loos["gaussian"].elpd_i
    assert table.loc["t", "elpd"] == pytest.approx(loos["t"].elpd)
    assert table["elpd_diff"].abs().max() == pytest.approx(abs(difference.sum()), abs=1e-6)
    assert table["dse"].max() == pytest.approx(np.sqrt(12 * difference.var()), abs=1e-6)


@pytest.mark.slow
def test_arviz_has_weights_for_many_scores_too():
    """The density of 400 scores is above exp(709), the largest number; that of a mean is not."""
    generator = np.random.default_rng(6)
    rows = [generator.normal(0.01, 0.01) + generator.normal(0, 0.001, 400) for _ in range(8)]
    loos = {name: of_rows(rows, population=name).loo() for name in ("student_t", "gaussian")}
    assert (loos["gaussian"].elpd_i + loos["gaussian"].spread).max() > 709
    assert arviz_comparison(loos)["weight"].sum() == pytest.approx(1)


def test_probabilities_are_uniform_if_the_population_is_the_true_one():
    generator = np.random.default_rng(11)
    truth = 0.01 + 0.02 * generator.standard_t(3, 150)
    pit = of_means(truth, seed=12, n=60).loo().pit
    assert stats.kstest(pit, "uniform").pvalue > 0.001
    assert pit.std() == pytest.approx(np.sqrt(1 / 12), abs=4 * np.sqrt(1 / 180 / 150) / (2 * np.sqrt(1 / 12)))


def test_probabilities_are_not_uniform_if_the_population_is_another():
    generator = np.random.default_rng(13)
    skewed = generator.exponential(0.05, 250)
    assert stats.kstest(of_means(skewed, seed=14).loo().pit, "uniform").pvalue < 0.001


def test_the_printed_result_names_the_data_set_that_is_least_expected():
    means = np.append(np.random.default_rng(2).normal(0.01, 0.02, 15), 0.08)
    found = of_means(means, seed=1).loo()
    assert f"Least expected from the others: {found.dataset_names[-1]!r}; a mean difference as high" in str(found)
    assert found.pit[-1] > 0.95
    frame = found.to_frame()
    assert list(frame.columns) == ["elpd", "pit", "refitted"]
    assert frame["elpd"].sum() == pytest.approx(found.elpd)


def test_what_can_not_be_left_out_is_refused(identical, failed):
    with pytest.raises(hc.ArgumentError, match="Leave-one-out needs scores that differ"):
        identical.loo()
    with pytest.raises(hc.NoVerdictError):
        failed.loo()


def test_the_verified_result_is_the_integral(integrated):
    scores = simulated_scores(12, runs=1, centre=0.01, spread=0.02, seed=5)
    both = fitted(scores, engine="auto", progress=False)
    np.testing.assert_array_equal(both.loo().elpd_i, integrated.loo().elpd_i)


def test_the_result_is_what_the_module_returns(integrated):
    again = leave_one_out.loo(replace(integrated))
    assert isinstance(again, hc.LeaveOneOut)
    np.testing.assert_array_equal(again.pit, integrated.loo().pit)
