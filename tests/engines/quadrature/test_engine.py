"""The quadrature engine: its probabilities against long chains, other integrations and simulations; and its result."""

from __future__ import annotations

import itertools
import json
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import hiercomp as hc
from hiercomp.engines.quadrature import engine as quadrature
from hiercomp.engines.quadrature import grid as posterior_grid
from hiercomp.engines.quadrature import support
from hiercomp.engines.quadrature.axes import SplineAxis
from hiercomp.engines.quadrature.support import Support
from hiercomp.posterior.kinds import Exact
from hiercomp.rope import Rope, region_probabilities
from tests.conftest import simulated_scores
from tests.engines.quadrature.reference_quadrature import next_dataset
from tests.whole.test_accuracy import EXACT, simulated_collection

PROBABILITIES = ("p_left", "p_rope", "p_right")
EXPECTED = ("expected_left", "expected_rope", "expected_right")
NAMES = (*PROBABILITIES, *EXPECTED, "p_positive")
LONG_CHAINS = json.loads((Path(__file__).parents[2] / "data/long_chains.json").read_text())
reference = partial(next_dataset, centres=300)  # indicators on its grid of delta0 need more nodes than its default
VARIANTS = {
    "default": hc.Priors(),
    "juarez_steel_on_nu": hc.Priors.juarez_steel(nu_lower=0.0),
    "kruschke_on_nu": hc.Priors.kruschke(nu_lower=0.0),
    "gaussian": hc.Priors.gaussian(),
    "paper_text": hc.Priors(nu_lower=0.0),
    "juarez_steel": hc.Priors.juarez_steel(),
    "kruschke": hc.Priors.kruschke(),
}
REFERENCE_ARGUMENTS = {
    "default": {},
    "juarez_steel_on_nu": {"nu_lower": 0.0, "shape": 2.0, "rate": 0.1},
    "kruschke_on_nu": {"nu_lower": 0.0, "shape": 1.0, "rate": 0.0345},
    "gaussian": {"gaussian": True},
    "paper_text": {"nu_lower": 0.0},
    "juarez_steel": {"nu_lower": 1.0, "shape": 2.0, "rate": 0.1},
    "kruschke": {"nu_lower": 1.0, "shape": 1.0, "rate": 0.0345},
}


def values(result: hc.ComparisonResult) -> np.ndarray:
    return np.array([getattr(result.next_dataset, name) for name in NAMES])


def errors(result: hc.ComparisonResult) -> np.ndarray:
    return np.array([result.next_dataset.errors[name] for name in NAMES])


def integrate(comparison: hc.HierarchicalComparison, **options) -> hc.ComparisonResult:
    return comparison.fit("quadrature", progress=False, **options)


def of_arrays(x, *, rope=0.01, priors=None, rho=0.1) -> hc.HierarchicalComparison:
    """A comparison whose differences are the rows of x."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.FewDatasetsWarning)
        left, right = [0.5 - row / 2 for row in x], [0.5 + row / 2 for row in x]
        return hc.HierarchicalComparison.from_arrays(left, right, rho=rho, rope=rope, priors=priors or hc.Priors())


def real_pair(uci54, pair: tuple[str, str], **options) -> hc.HierarchicalComparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.DegenerateScoresWarning)
        return hc.HierarchicalComparison(uci54, left=pair[0], right=pair[1], rope=0.01, **options)


def with_twice_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Double every number of nodes, and halve the step of the integrals over delta_i."""
    for module, name in [
        (quadrature, "NODES_FOR_LENGTH"),
        (quadrature, "NODES_FOR_LENGTH_SPLINE"),
        (quadrature, "NODES_FOR_LOG_SIGMA0"),
        (quadrature, "NODES_FOR_LOG_SIGMA0_TO_ZERO"),
        (posterior_grid, "FINE_NODES"),
        (posterior_grid, "SMOOTH_NODES"),
    ]:
        monkeypatch.setattr(module, name, tuple(factor_of(count, 2) for count in getattr(module, name)))
    for name in ("NODES_FOR_UNIT", "NODES_AT_LEAST", "FEWEST_SPLINE"):
        monkeypatch.setattr(quadrature, name, 2 * getattr(quadrature, name))
    monkeypatch.setattr(posterior_grid, "LIKELIHOOD_ERROR", 1e-8)


def factor_of(count: float, factor: float) -> float:
    """A number of nodes times a factor; odd where it was odd, and whole where it was whole."""
    return (
        int(factor * count) - count % 2 * (int(factor * count) % 2 == 0) if isinstance(count, int) else factor * count
    )


@pytest.mark.parametrize("pair", list(EXACT), ids="-".join)
def test_real_pairs_agree_with_long_chains_and_with_published_exact_values(uci54, pair):
    result = integrate(real_pair(uci54, pair))
    assert result.status == "ok"
    seen, chains = result.next_dataset, LONG_CHAINS["-".join(pair)]
    for name in NAMES:
        # Three standard errors of 4 x 50,000 draws; of a share of 0 or 1 no standard error is known below 1 in 100,000
        allowed = max(3 * chains["monte_carlo_standard_errors"][name], 1e-5) + seen.errors[name]
        assert abs(getattr(seen, name) - chains[name]) <= allowed, name
    # EXACT has four digits of P and three of the expected probabilities; its own P's are good to some 3e-4, see
    # test_doubling_every_count_changes_real_pairs_by_less_than_the_stated_error
    difference = np.abs(values(result)[:6] - EXACT[pair])
    assert difference[:3].max() < 4e-4
    assert difference[3:].max() < 6e-4


@pytest.mark.slow
@pytest.mark.parametrize("pair", list(EXACT), ids="-".join)
def test_doubling_every_count_changes_real_pairs_by_less_than_the_stated_error(uci54, pair, monkeypatch):
    comparison = real_pair(uci54, pair)
    usual = integrate(comparison)
    with_twice_the_nodes(monkeypatch)
    finer = integrate(comparison)
    assert finer.diagnostics.nodes[0] > 1.4 * usual.diagnostics.nodes[0]
    change = np.abs(values(usual) - values(finer))
    print(f"{'-'.join(pair)}: change {change.max():.1e}, estimated error {errors(usual).max():.1e}")
    assert change.max() < 5e-4
    # The estimate is one of size: changes of up to three times it were seen
    assert change.max() < 5 * errors(usual).max()
    assert usual.log_marginal_likelihood == pytest.approx(finer.log_marginal_likelihood, abs=1e-3)


def collection(q: int, *, spread: float, seed: int, centre: float = 0.004, sizes=(30, 100)) -> list[np.ndarray]:
    """Differences of q data sets with correlation 0.1 and sd about 0.02; ``spread`` is sigma0, nu is 4."""
    generator = np.random.default_rng([q, seed])
    rows = []
    for number in range(q):
        n, sigma = sizes[number % len(sizes)], 0.02 * generator.gamma(8, 1 / 8)
        delta = centre + spread * generator.standard_t(4)
        noise = np.sqrt(0.1) * generator.normal() + np.sqrt(0.9) * generator.normal(size=n)
        rows.append(delta + sigma * noise)
    return rows


def random_comparison(number: int) -> hc.HierarchicalComparison:
    """2 to 80 data sets of 3 to 100 scores, a population of any width and tails, outliers, five priors in turn."""
    generator = np.random.default_rng([11, number])
    q = int(generator.choice([2, 3, 5, 8, 11, 12, 13, 15, 20, 30, 54, 80]))
    sizes = generator.integers(3, 101, q) if number % 3 else np.full(q, 30)
    spread, centre = 10 ** generator.uniform(-3.3, -0.8), generator.normal(0, 0.01)
    sigma = 0.02 * generator.gamma(6, 1 / 6, q)
    delta = centre + spread * generator.standard_t(generator.choice([1.5, 4, 30]), q)
    if number % 4 == 0:
        delta[generator.integers(q)] += generator.choice([-0.4, 0.4])
    shared, own = np.sqrt(0.1), np.sqrt(0.9)
    rows = [
        np.clip(d + s * (shared * generator.normal() + own * generator.normal(size=n)), -1, 1)
        for d, s, n in zip(delta, sigma, sizes, strict=True)
    ]
    return of_arrays(rows, priors=list(VARIANTS.values())[number % 5])


@pytest.mark.parametrize(
    "numbers",
    [
        (3, 30, 43),
        pytest.param(range(0, 10), marks=pytest.mark.slow),
        pytest.param((17, 26, 36), marks=pytest.mark.slow),  # with nu_lower = 0
        pytest.param((15, 37), marks=pytest.mark.slow),  # one far data set
    ],
    ids=str,
)
def test_stated_errors_hold_on_random_problems(numbers, monkeypatch):
    comparisons = [random_comparison(number) for number in numbers]
    usual = [integrate(comparison) for comparison in comparisons]
    with_twice_the_nodes(monkeypatch)
    for number, comparison, one in zip(numbers, comparisons, usual, strict=True):
        stated = [one.next_dataset.errors[name] for name in NAMES]
        integration, finer = one.posterior.integration, integrate(comparison)
        assert (np.abs(values(one) - values(finer)) <= stated).all(), number
        for name in ("log_marginal_likelihood", "expected_delta0"):
            change = abs(getattr(integration, name) - getattr(finer.posterior.integration, name))
            assert change <= getattr(integration, f"{name}_error"), (number, name)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [0.2, 0.4])
def test_a_prior_of_nu_that_rises_to_its_end_has_the_error_that_is_stated(shape):
    # Gauss-Legendre rules along delta0, log sigma0 and the prior's levels, bunched at both ends
    scores = simulated_scores(12, 2, centre=0.012, spread=0.015, seed=2)
    given = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01, priors=hc.Priors(alpha=shape, beta=0.1))
    found = integrate(given)
    assert found.status == "ok"
    integration, unit = found.posterior.integration, found.posterior.unit
    problem, place = integration.grid.problem, found.population().loc["delta0"]
    nodes, weights = np.polynomial.legendre.leggauss(50)
    half = (nodes + 1) / 2
    level, of_level = half**2 * (3 - 2 * half), weights / 2 * 6 * half * (1 - half)
    nu = 1 + stats.gamma(shape, scale=10).ppf(level)
    delta0, of_delta0 = (place["mean"] + 9 * place["sd"] * nodes) / unit, 9 * place["sd"] / unit * weights
    low, high = np.log(1e-3), np.log(20.0)
    sigma0 = np.exp((low + high) / 2 + (high - low) / 2 * nodes)
    of_sigma0 = (high - low) / 2 * weights * sigma0
    population = np.meshgrid(delta0, sigma0, nu, indexing="ij")
    log_likelihood = problem.likelihood.log_marginal(*map(np.ravel, population)).reshape(population[0].shape)
    peak = log_likelihood.max()
    mass = np.exp(log_likelihood - peak) * of_delta0[:, None, None] * of_sigma0[:, None] * of_level
    log_total = np.log(mass.sum()) + peak - np.log(2 * problem.delta0_bound * problem.sigma0_upper)
    assert integration.log_marginal_likelihood == pytest.approx(log_total, abs=found.log_marginal_likelihood_error)
    regions = region_probabilities(*population, Rope(-0.01 / unit, 0.01 / unit))
    expected = np.einsum("ijk,ijkr->r", mass, regions) / mass.sum()
    seen = found.next_dataset
    np.testing.assert_allclose(list(seen.expected.values()), expected, atol=seen.largest_error)


def sparse_comparison(q: int, seed: int, **options) -> hc.HierarchicalComparison:
    """Three scores of each data set: their likelihoods have the tails of a Cauchy distribution."""
    generator = np.random.default_rng([q, seed])
    rows = [0.02 * (generator.normal(0.5, 1) + generator.gamma(4, 0.25) * generator.normal(size=3)) for _ in range(q)]
    return of_arrays(rows, **options)


@pytest.mark.parametrize(("q", "seed"), [(11, 7), (14, 2), (20, 6)])
def test_tails_of_the_centre_beyond_its_axis_are_not_left_out(q, seed, monkeypatch):
    # They hold 0.0004 to 0.005 of the mass, up to 25 times the error that would be stated without them
    comparison = sparse_comparison(q, seed, priors=hc.Priors.gaussian())
    found = integrate(comparison)
    monkeypatch.setattr(support, "FEW_DATASETS", q)  # an axis over all that the prior allows
    whole = integrate(comparison)
    assert (np.abs(values(found) - values(whole)) <= errors(found)).all()
    integrations = [result.posterior.integration for result in (found, whole)]
    change = integrations[0].log_marginal_likelihood - integrations[1].log_marginal_likelihood
    assert abs(change) <= integrations[0].log_marginal_likelihood_error


def test_what_lies_beyond_the_axis_of_the_centre_is_part_of_the_stated_error(monkeypatch):
    comparison = sparse_comparison(20, 6, priors=hc.Priors.gaussian())
    exact = integrate(comparison)
    monkeypatch.setattr(quadrature, "LONGER", 0.5)
    monkeypatch.setattr(quadrature, "MOST_LONGER", 0.5)
    monkeypatch.setattr(quadrature, "MOST_STRETCHED", 0)
    short = integrate(comparison)
    assert short.posterior.integration.grid.beyond > quadrature.BEYOND
    assert np.abs(values(short) - values(exact)).max() > posterior_grid.OUTSIDE
    assert (np.abs(values(short) - values(exact)) <= errors(short)).all()


@pytest.fixture(scope="module")
def far_one() -> hc.HierarchicalComparison:
    """One data set thirty standard deviations away from four others."""
    generator = np.random.default_rng(2)
    centres = [0.6, 0.002, 0.0, -0.004, 0.006]
    return of_arrays([centre + 0.02 * generator.normal(size=10) for centre in centres])


def integrals_of(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """To which each grid that is computed adds the number of its integrals over delta_i."""
    counted: list[int] = []
    real = posterior_grid.PosteriorGrid.computed.__func__

    def computed(cls, *arguments, **options):
        grid = real(cls, *arguments, **options)
        counted.append(grid.log_likelihood.size * len(grid.problem.likelihood.n))
        return grid

    monkeypatch.setattr(posterior_grid.PosteriorGrid, "computed", classmethod(computed))
    return counted


@pytest.mark.slow
def test_one_far_data_set_of_five_takes_less_than_a_million_integrals(far_one, monkeypatch, tmp_path):
    counted = integrals_of(monkeypatch)
    result = integrate(far_one)
    assert sum(counted) < 1e6  # 2.3 million before nu had splines
    assert result.status == "ok"
    result.save(tmp_path / "far.nc")
    again = hc.load_result(tmp_path / "far.nc")
    grids = [one.posterior.integration.grid for one in (result, again)]
    assert [type(grid.nu_axis) for grid in grids] == [SplineAxis, SplineAxis]
    assert posterior_grid.FineGrid.of(grids[0]).total == posterior_grid.FineGrid.of(grids[1]).total


@pytest.mark.parametrize("q", [3, 6])
@pytest.mark.parametrize("priors", [hc.Priors(), hc.Priors(nu_lower=0)], ids=["default", "nu_lower=0"])
def test_one_far_data_set_among_few_needs_one_grid(q, priors, monkeypatch):
    generator = np.random.default_rng(q)
    centres = [0.5, *generator.normal(0.01, 0.004, q - 1)]
    counted = integrals_of(monkeypatch)
    result = integrate(of_arrays([centre + 0.02 * generator.normal(size=50) for centre in centres], priors=priors))
    assert (len(counted), result.status) == (1, "ok")


@pytest.mark.slow
def test_the_stated_error_of_one_far_data_set_of_five_holds(far_one, monkeypatch):
    result = integrate(far_one)
    with_twice_the_nodes(monkeypatch)
    assert (np.abs(values(result) - values(integrate(far_one))) <= errors(result)).all()


@pytest.mark.slow
def test_a_grid_that_takes_too_much_work_is_not_computed_and_the_last_ones_error_is_stated(far_one, monkeypatch):
    usual = integrate(far_one).posterior
    scaled = far_one.rope.scaled(1 / usual.unit)
    counted = integrals_of(monkeypatch)
    monkeypatch.setattr(quadrature, "MORE_ON_LOG_SIGMA0", (1.0, 0.7, 1.0))  # too few for the first grid
    monkeypatch.setattr(quadrature, "MOST_REFINED", 0)
    monkeypatch.setattr(quadrature, "MOST_GRIDS", 1)
    with pytest.warns(hc.IntegrationWarning, match="estimated error"):
        first = integrate(far_one)
    assert len(counted) == 1
    assert first.status in ("warned", "failed")
    found, stated = first.posterior.integration.regions(scaled)
    distances = found.distance(usual.integration.regions(scaled)[0])
    assert all(distances[name] <= error for name, error in stated.items())


@pytest.mark.slow
def test_where_the_axis_over_all_of_the_prior_takes_too_much_work_the_usual_one_gets_more_nodes(monkeypatch):
    # Two groups of data sets, and tails so heavy that the log likelihood bends
    generator = np.random.default_rng([21, 1])
    delta = np.where(generator.random(21) < 0.5, -2.0, 2.0) + 0.2 * generator.normal(size=21)
    rows = [0.02 * (d + generator.gamma(4, 0.25) * generator.normal(size=100)) for d in delta]
    comparison = of_arrays(rows, priors=hc.Priors(nu_lower=0))
    exact = values(integrate(comparison))
    counted = integrals_of(monkeypatch)
    monkeypatch.setattr(quadrature, "MOST_REFINED", 1_500_000)
    monkeypatch.setattr(quadrature, "MOST_GRIDS", 1)
    found = integrate(comparison)
    assert sum(counted) < 1_500_000
    assert found.status == "ok"  # the first grid alone is off by more than a verdict allows
    assert (np.abs(values(found) - exact) <= errors(found)).all()


def test_every_constant_of_the_study_has_its_row():
    root = Path(__file__).parents[3]
    page = (root / "docs/quadrature.md").read_text(encoding="utf-8")
    for module in ("axes", "engine", "grid", "likelihood", "regions", "support"):
        text = (root / f"hiercomp/engines/quadrature/{module}.py").read_text(encoding="utf-8")
        lines = text.splitlines()
        for line, following in itertools.pairwise(lines):
            if line.endswith("(study)"):
                names = (following if line.startswith("#") else line).split(" = ")[0].split(", ")
                assert any(f"`{name}`" in page for name in names), names


@pytest.mark.slow
@pytest.mark.parametrize("variant", list(VARIANTS))
@pytest.mark.parametrize(("q", "spread"), [(13, 0.02), (20, 0.003), (20, 0.1), (54, 0.0005), (54, 0.02)])
def test_collections_agree_with_another_deterministic_integration(q, spread, variant):
    x = collection(q, spread=spread, seed=1)
    given = of_arrays(x, priors=VARIANTS[variant])
    d = given.differences
    exact = reference(
        d.mean, d.sum_of_squares, d.n, d.rho, rope=0.01, bound=d.delta0_bound, **REFERENCE_ARGUMENTS[variant]
    )
    expected = np.array([*exact.most_probable, *exact.expected, exact.positive])
    difference = np.abs(values(integrate(given)) - expected)
    assert difference.max() < 1e-3  # the reference's own error, as its docstring has it


@pytest.mark.slow
def test_simulated_collections_agree_with_another_deterministic_integration():
    worst = np.zeros(7)
    for number in range(0, 60, 5):
        x = simulated_collection(number)
        result = integrate(of_arrays(x))
        mean = x.mean(axis=1)
        exact = reference(mean, ((x - mean[:, None]) ** 2).sum(axis=1), 100, 0.1, rope=0.01, bound=1.0)
        difference = np.abs(values(result) - [*exact.most_probable, *exact.expected, exact.positive])
        worst = np.maximum(worst, difference)
        assert result.status == "ok"
    print(f"largest difference {worst.max():.1e}")
    # The reference's share of positive delta0 has an error of first order in its spacing: it was 2.3e-3 away with 120
    # centres and 1.0e-3 with these 300
    assert worst[:6].max() < 1e-3
    assert worst[6] < 1.5e-3


class ImportanceSample:
    """Weighted draws of delta0, sigma0, nu and every delta_i; sigma_i is integrated out in closed form.

    nu comes from its prior, log sigma0 from a wide Cauchy distribution, delta0 half from its prior and half from a Student-t
    about the data, each delta_i half from its likelihood and half from the population. Nothing of the engine is used.
    """

    def __init__(self, differences: hc.PairedDifferences, priors: hc.Priors, count: int, seed: int = 3) -> None:
        generator = np.random.default_rng(seed)
        d, q = differences, len(differences.dataset_names)
        n = d.n.astype(float)
        s, s0 = d.standard_deviation.mean(), np.std(d.mean, ddof=1)
        bound = d.delta0_bound if priors.delta0_bound is None else priors.delta0_bound
        upper = priors.sigma0_upper * s0
        scale = np.sqrt(d.sum_of_squares / (1 - d.rho) * (1 + (n - 1) * d.rho) / n / (n - 2))

        if priors.population == "gaussian":
            nu = np.full(count, np.inf)
        else:
            alpha, beta = (
                generator.uniform(*limits, count) if isinstance(limits, tuple) else np.full(count, limits)
                for limits in (priors.alpha, priors.beta)
            )
            nu = priors.nu_lower + generator.gamma(alpha) / beta
        middle = 0.5 * np.log(s0 * np.median(scale) + s0**2)
        log_sigma0 = middle + 1.2 * generator.standard_cauchy(count)
        log_sigma0 = np.clip(log_sigma0, -100, 100)
        sigma0 = np.exp(log_sigma0)
        log_weight = np.where(sigma0 < upper, log_sigma0 - np.log(upper), -np.inf)  # uniform prior
        log_weight -= stats.cauchy.logpdf(log_sigma0, middle, 1.2)
        width = np.sqrt((np.minimum(sigma0, bound) ** 2 + np.mean(scale**2)) / q) + 0.3 * s0
        from_prior = generator.random(count) < 0.5
        near = np.median(d.mean) + width * generator.standard_t(3, count)
        delta0 = np.where(from_prior, generator.uniform(-bound, bound, count), near)
        inside = np.abs(delta0) < bound
        proposal = 0.5 * inside / (2 * bound) + 0.5 * stats.t.pdf((delta0 - np.median(d.mean)) / width, 3) / width
        log_weight += np.where(inside, -np.log(2 * bound), -np.inf) - np.log(proposal)
        for i in range(q):
            own = generator.random(count) < 0.5
            from_data = d.mean[i] + scale[i] * generator.standard_t(n[i] - 2, count)
            z = generator.normal(size=count)
            finite = np.where(np.isinf(nu), 1.0, nu)
            z = np.where(np.isinf(nu), z, z / np.sqrt(np.maximum(generator.chisquare(finite), 1e-200) / finite))
            delta = np.where(own, from_data, delta0 + sigma0 * z)
            log_data = stats.t.logpdf((delta - d.mean[i]) / scale[i], n[i] - 2) - np.log(scale[i])
            log_population = self.log_student((delta - delta0) / sigma0, nu) - log_sigma0
            log_weight += log_data + log_population - np.logaddexp(log_data, log_population) + np.log(2)
            # p(x_i) under a flat delta_i, by which the Student-t density has to be multiplied
            half = (n[i] - 2) / 2
            log_weight += (
                special.gammaln(half)
                - np.log(2 * priors.sigma_upper * s)
                - half * np.log(d.sum_of_squares[i] / (1 - d.rho[i]) / 2)
                - (n[i] - 1) / 2 * np.log(2 * np.pi)
                - (n[i] - 1) / 2 * np.log(1 - d.rho[i])
                - np.log(n[i]) / 2
            )
        self.peak = log_weight.max()
        self.weight = np.exp(log_weight - self.peak)
        self.delta0, self.sigma0, self.nu = delta0, sigma0, nu

    @staticmethod
    def log_student(z, nu):
        finite = np.where(np.isinf(nu), 1.0, nu)
        constant = special.gammaln((finite + 1) / 2) - special.gammaln(finite / 2) - 0.5 * np.log(finite * np.pi)
        heavy = constant - (finite + 1) / 2 * np.log1p(z**2 / finite)
        return np.where(np.isinf(nu), -0.5 * z**2 - 0.5 * np.log(2 * np.pi), heavy)

    def mean(self, of: np.ndarray) -> tuple[float, float]:
        """Weighted mean and its standard error (delta method)."""
        share = self.weight / self.weight.sum()
        mean = float(share @ of)
        return mean, float(np.sqrt((share**2 * (of - mean) ** 2).sum()))

    def log_marginal_likelihood(self) -> tuple[float, float]:
        mean = self.weight.mean()
        return float(np.log(mean) + self.peak), float(self.weight.std() / mean / np.sqrt(len(self.weight)))

    def region_values(self, half_width: float) -> list[np.ndarray]:
        finite = np.where(np.isinf(self.nu), 1.0, self.nu)

        def below(z):
            return np.where(np.isinf(self.nu), special.ndtr(z), special.stdtr(finite, z))

        left, right = (below((-half_width - side * self.delta0) / self.sigma0) for side in (1, -1))
        regions = np.stack([left, 1 - left - right, right])
        winner = regions.argmax(axis=0)
        return [*(winner == region for region in range(3)), *regions, self.delta0 > 0]


@pytest.mark.slow
@pytest.mark.parametrize("variant", list(VARIANTS))
@pytest.mark.parametrize(
    ("q", "spread", "sizes"),
    [(2, 0.02, (30, 100)), (3, 0.002, (10, 30)), (3, 0.1, (3, 4)), (5, 0.02, (3, 100)), (8, 0.01, (10, 30))],
)
def test_few_data_sets_agree_with_importance_sampling(q, spread, sizes, variant):
    given = of_arrays(collection(q, spread=spread, seed=2, sizes=sizes), priors=VARIANTS[variant])
    result = integrate(given)
    sample = ImportanceSample(given.differences, given.priors, 1_000_000)
    for name, of in zip(NAMES, sample.region_values(0.01), strict=True):
        mean, error = sample.mean(of)
        assert error < 0.01, name
        # A share that no draw has may be as large as 1e-6 with four standard errors
        assert abs(getattr(result.next_dataset, name) - mean) < 4 * error + result.next_dataset.errors[name] + 1e-5, (
            name
        )
    mean, error = sample.mean(sample.delta0)
    assert abs(result.expected_difference - mean) < 4 * error
    found, error = sample.log_marginal_likelihood()
    assert error < 0.03
    assert abs(result.log_marginal_likelihood - found) < 4 * error


def test_the_log_marginal_likelihood_and_all_probabilities_agree_with_importance_sampling():
    # The fast one of the tests above: three data sets under a Gaussian population, 400,000 weighted draws
    given = of_arrays(collection(3, spread=0.01, seed=5), priors=hc.Priors.gaussian())
    result, sample = integrate(given), ImportanceSample(given.differences, given.priors, 400_000)
    for name, of in zip(NAMES, sample.region_values(0.01), strict=True):
        mean, error = sample.mean(of)
        assert abs(getattr(result.next_dataset, name) - mean) < 4 * error + result.next_dataset.errors[name], name
    found, error = sample.log_marginal_likelihood()
    assert abs(result.log_marginal_likelihood - found) < 4 * error
    mean, error = sample.mean(sample.delta0)
    assert abs(result.expected_difference - mean) < 4 * error


@pytest.mark.slow
def test_a_bound_of_delta0_that_cuts_the_posterior_is_kept():
    priors = hc.Priors(delta0_bound=0.02, sigma0_upper=0.8, nu_lower=3.0)
    given = of_arrays(collection(4, spread=0.02, seed=9, centre=0.03), priors=priors)
    result, sample = integrate(given), ImportanceSample(given.differences, priors, 1_000_000)
    assert result.status == "ok"
    for name, of in zip(NAMES, sample.region_values(0.01), strict=True):
        mean, error = sample.mean(of)
        assert abs(getattr(result.next_dataset, name) - mean) < 4 * error + result.next_dataset.errors[name], name
    mean, error = sample.mean(sample.delta0)
    assert abs(result.expected_difference - mean) < 4 * error
    found, error = sample.log_marginal_likelihood()
    assert abs(result.log_marginal_likelihood - found) < 4 * error


def test_data_that_lie_unevenly_about_their_centre_are_integrated_about_the_mode(monkeypatch):
    # A quarter of 54 data sets to the right: the mode of delta0 is several scales away from its approximate centre
    generator = np.random.default_rng(54)
    delta = 0.004 + 0.006 * generator.normal(size=54)
    delta += np.where(np.arange(54) < 14, 0.08 * generator.exponential(size=54), 0)
    comparison = of_arrays([centre + 0.02 * generator.normal(size=50) for centre in delta])
    usual = integrate(comparison)
    monkeypatch.setattr(support, "FEW_DATASETS", 54)  # an axis without a centre
    other = integrate(comparison)
    assert usual.diagnostics.nodes[2] < other.diagnostics.nodes[2]
    # Without the search for the mode: 5e-5
    assert np.abs(values(usual) - values(other)).max() < 2e-5


def test_a_wider_support_never_crosses_its_ends():
    # The functions of the ends meet beyond the place of nu where they were fitted
    narrowing = Support((0.4, 1.6), np.array([-0.13, 0.21, -0.03]), np.array([0.5, 0.35, -0.16]))
    assert narrowing.proper
    limits = np.array([0.0, 3.3, -5.2, 7.4])
    for _ in range(4):
        narrowing = narrowing.widened(np.array([0.0, 0.3, 0.0, 0.0]), limits)
        lower, upper = narrowing.ends(np.linspace(*narrowing.nu, 101))
        assert (upper - lower).min() > 0.1
    assert narrowing.nu == (0.4, pytest.approx(3.3))


@pytest.fixture(scope="module")
def few() -> hc.ComparisonResult:
    """Fourteen data sets, right better by 0.012."""
    scores = simulated_scores(14, runs=1, centre=0.012, spread=0.01, seed=3)
    return integrate(hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01), draws=500)


def test_nothing_is_drawn_until_draws_are_asked_for():
    scores = simulated_scores(14, runs=1, centre=0.012, spread=0.01, seed=3)
    result = integrate(hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01))
    _ = result.next_dataset, result.expected_difference, result.log_marginal_likelihood
    _ = result.odds(), result.decision(), result.rope_curve([0, 0.01]), result.with_rope(0.02).next_dataset
    drawn = {"_variables", "datatree"}
    assert not drawn & set(vars(result.posterior))
    result.datasets()
    assert drawn & set(vars(result.posterior)) == {"_variables"}


def test_the_summary_states_the_error_of_the_integration_and_speaks_of_no_chains(few):
    text = str(few.summary())
    for word in ("monte carlo", "chains", "r-hat", "warmup", "effective sample", "nan"):
        assert word not in text.lower()
    assert "error of the integration" in text
    assert "quadrature" in text
    assert "bayes" in text
    assert "tree better" in text


def test_the_dictionary_is_ready_for_json(few):
    plain = json.loads(json.dumps(few.summary().to_dict(), allow_nan=False))
    assert "integration_error" in plain["diagnostics"]
    assert "monte_carlo_standard_errors" not in json.dumps(plain)
    seen = json.loads(json.dumps(few.next_dataset.to_dict(), allow_nan=False))
    assert seen["integration_errors"] == few.next_dataset.errors
    assert few.next_dataset.draws == 0


@pytest.mark.parametrize(("q", "variant"), [(3, "gaussian"), (14, "default"), (14, "kruschke")])
def test_a_saved_result_is_read_again_as_the_same(few, tmp_path, q, variant):
    given = few.differences.subset(few.differences.dataset_names[:q])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.FewDatasetsWarning)
        comparison = hc.HierarchicalComparison.from_differences(given, priors=VARIANTS[variant])
    result = integrate(comparison, draws=100)
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    assert again.next_dataset == result.next_dataset
    assert again.with_rope((-0.005, 0.02)).next_dataset == result.with_rope((-0.005, 0.02)).next_dataset
    assert again.log_marginal_likelihood == result.log_marginal_likelihood
    assert again.expected_difference == result.expected_difference
    assert (again.status, again.notes, (again.engine_name, again.engine_version), again.posterior.keep) == (
        result.status,
        result.notes,
        (result.engine_name, result.engine_version),
        result.posterior.keep,
    )
    assert again.diagnostics == result.diagnostics
    for name in ("delta0", "sigma0", "delta", "sigma"):
        np.testing.assert_array_equal(again.draws(name), result.draws(name))
    assert str(again.summary()) == str(result.summary())


@pytest.mark.parametrize(
    "rope", [0.0, 0.002, 0.03, (-0.1, 0.001), pytest.param((0.005, 0.02), marks=pytest.mark.slow)], ids=str
)
def test_another_rope_gives_what_a_new_fit_with_it_gives(few, rope):
    seen = few.with_rope(rope)
    fitted = integrate(hc.HierarchicalComparison.from_differences(few.differences, rope=rope))
    assert np.abs(values(seen) - values(fitted)).max() <= errors(seen).max() + errors(fitted).max()
    assert errors(seen).max() < 1e-3


def test_the_rope_curve_is_the_probabilities_of_each_rope(few):
    curve = few.rope_curve([0.0, 0.01, 0.04])
    assert curve.loc[0.0, "p_rope"] == 0
    seen = few.next_dataset
    np.testing.assert_array_equal(curve.loc[0.01], [getattr(seen, name) for name in (*PROBABILITIES, *EXPECTED)])
    assert (curve["p_rope"].diff().dropna() > 0).all()
    np.testing.assert_allclose(curve[list(PROBABILITIES)].sum(axis=1), 1, atol=1e-12)


def test_without_a_rope_right_is_as_probable_as_a_positive_centre(few):
    seen = few.with_rope(0.0).next_dataset
    assert seen.p_rope == seen.expected_rope == 0
    assert seen.p_right == pytest.approx(seen.p_positive, abs=1e-12)


def test_sampled_results_have_no_marginal_likelihood(result):
    with pytest.raises(hc.ArgumentError, match="quadrature"):
        _ = result.log_marginal_likelihood


@pytest.mark.slow
def test_the_variants_of_a_fit_are_fitted_by_quadrature_too(few):
    found = few.sensitivity(n_jobs=1).to_frame()
    assert set(found["status"]) == {"ok"}
    assert found["error"].max() < 1e-3
    named = integrate(hc.HierarchicalComparison.from_differences(few.differences, priors=hc.Priors.kruschke()))
    assert found.loc["nu: kruschke", "p_right"] == named.next_dataset.p_right


def test_identical_scores_are_answered_without_integration():
    same = simulated_scores(6, centre=0.0, spread=0.0, noise=0.0)
    result = integrate(hc.HierarchicalComparison(same, "bayes", "tree"))
    assert result.next_dataset.p_rope == 1
    assert isinstance(result.posterior, Exact)
    assert (result.engine_name, result.engine_version) == ("none", "identical scores")


def changed(differences: hc.PairedDifferences, **fields) -> hc.HierarchicalComparison:
    priors, rope = fields.pop("priors", hc.Priors()), fields.pop("rope", 0.01)
    return hc.HierarchicalComparison.from_differences(replace(differences, **fields), rope=rope, priors=priors)


@pytest.mark.parametrize(("q", "variant"), [(6, "gaussian"), (14, "default")])
def test_mirrored_data_mirror_the_answer(few, q, variant):
    given, priors = few.differences.subset(few.differences.dataset_names[:q]), VARIANTS[variant]
    lower, upper = (-0.005, 0.02) if q == 6 else (-0.01, 0.01)
    seen = values(integrate(changed(given, rope=(lower, upper), priors=priors)))
    mirrored = values(integrate(changed(given, mean=-given.mean, rope=(-upper, -lower), priors=priors)))
    np.testing.assert_allclose(mirrored, [*seen[2::-1], *seen[5:2:-1], 1 - seen[6]], atol=1e-6)


@pytest.mark.parametrize(("q", "variant"), [(6, "gaussian"), (14, "default")])
def test_the_order_of_the_data_sets_does_not_matter(few, q, variant):
    given, priors = few.differences.subset(few.differences.dataset_names[:q]), VARIANTS[variant]
    reversed_order = given.subset(given.dataset_names[::-1])
    first, second = (integrate(changed(one, priors=priors)) for one in (given, reversed_order))
    np.testing.assert_allclose(values(first), values(second), atol=1e-6)
    assert first.log_marginal_likelihood == pytest.approx(second.log_marginal_likelihood, abs=1e-6)


@pytest.mark.parametrize(("q", "variant"), [(6, "gaussian"), (14, "default")])
def test_percentages_give_the_same_answer_as_fractions(few, q, variant):
    given, priors = few.differences.subset(few.differences.dataset_names[:q]), VARIANTS[variant]
    fractions = integrate(changed(given, priors=priors))
    percentages = integrate(
        changed(
            given,
            mean=100 * given.mean,
            sum_of_squares=1e4 * given.sum_of_squares,
            lowest_score=100 * given.lowest_score,
            highest_score=100 * given.highest_score,
            largest_difference=100 * given.largest_difference,
            rope=1.0,
            priors=replace(priors, delta0_bound=100.0),
        )
    )
    np.testing.assert_allclose(values(fractions), values(percentages), atol=1e-6)
    assert percentages.expected_difference == pytest.approx(100 * fractions.expected_difference, abs=1e-6)
    # A density in another unit
    density = fractions.log_marginal_likelihood - given.n.sum() * np.log(100)
    assert percentages.log_marginal_likelihood == pytest.approx(density, abs=1e-6)


def test_a_probability_below_the_error_gives_odds_that_are_a_bound(few):
    clear = integrate(changed(few.differences, mean=few.differences.mean + 0.3))
    seen = clear.next_dataset
    assert seen.floor == seen.largest_error
    assert seen.p_left <= seen.floor < seen.p_right
    odds = {(one.favoured, one.against): one for one in clear.odds()}
    assert odds["right", "left"].is_bound
    assert odds["right", "left"].value == seen.p_right / seen.floor
    assert str(odds["right", "left"]).startswith("> ")
    assert all(np.isfinite(one.value) for one in clear.odds() if one.grade != "undetermined")
    assert clear.decision().region == "right"


def coarse_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four or five nodes on each axis."""
    monkeypatch.setattr(quadrature, "NODES_FOR_LENGTH", (0.5, 0.2, 0.2))
    monkeypatch.setattr(quadrature, "FEWEST_NODES", 4)


def test_a_grid_that_is_too_coarse_is_warned_of_and_its_error_is_above_the_difference(few, monkeypatch):
    exact = few.next_dataset
    coarse_nodes(monkeypatch)
    monkeypatch.setattr(quadrature, "MOST_REFINEMENTS", 0)
    comparison = hc.HierarchicalComparison.from_differences(few.differences)
    with pytest.warns(hc.IntegrationWarning, match="estimated error") as caught:
        result = integrate(comparison)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    assert result.status in ("warned", "failed")
    assert result.diagnostics.integration_error > 1e-3
    assert any("estimated error of the integrated" in note for note in result.notes)
    if result.status == "warned":
        assert "estimated error of the integrated" in str(result.summary())
        worst = np.abs(values(result) - [getattr(exact, name) for name in NAMES]).max()
        assert worst <= 3 * result.diagnostics.integration_error


@pytest.mark.slow
def test_the_grid_is_refined_until_its_error_is_small(few, monkeypatch):
    coarse_nodes(monkeypatch)
    monkeypatch.setattr(quadrature, "MOST_REFINEMENTS", 8)
    result = integrate(hc.HierarchicalComparison.from_differences(few.differences))
    assert result.posterior.integration.refinements > 0
    assert result.status == "ok"
    assert (np.abs(values(result) - values(few)) <= 3 * (errors(result) + errors(few))).all()


def test_two_priors_have_the_bayes_factor_of_their_mixture(few):
    # Prior probabilities of one half each on two intervals of beta are the prior on the joined interval
    whole, lower, upper = (
        integrate(changed(few.differences, priors=hc.Priors(beta=limits))).log_marginal_likelihood
        for limits in ((0.05, 0.15), (0.05, 0.1), (0.1, 0.15))
    )
    assert whole == pytest.approx(np.logaddexp(lower, upper) - np.log(2), abs=1e-4)


@pytest.mark.parametrize("half_width", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("nu", [0.05, 1.0, 4.0, np.inf])
def test_the_boundary_is_where_the_most_probable_region_changes(half_width, nu):
    from hiercomp.engines.quadrature.regions import centre_distance

    sigma0 = np.array([1e-6, 0.01, 0.4, 1.0, 20.0])
    found = centre_distance(half_width, sigma0, np.full(5, nu))
    population = partial(stats.t.sf, df=nu) if np.isfinite(nu) else stats.norm.sf
    for distance, scale in zip(found, sigma0, strict=True):
        assert 0 <= distance <= half_width

        def right_less_rope(delta0, scale=scale):
            right, beyond_left = population((half_width - delta0) / scale), population((half_width + delta0) / scale)
            return right - (1 - right - beyond_left)

        if distance == 0:
            assert right_less_rope(0.0) >= -1e-12
        else:
            step = 1e-6 * scale + 1e-9 * half_width
            assert right_less_rope(distance - step) < 0 < right_less_rope(distance + step)


@pytest.mark.slow
def test_problems_of_all_kinds_are_integrated_without_warnings():
    # Extremes that have no reference value: everything is finite and sums to one
    generator = np.random.default_rng(8)
    base = generator.normal(0.004, 0.02, size=(15, 20))
    outlier, wide, narrow, equal = base.copy(), base.copy(), base.copy(), base.copy()
    outlier[0] += 0.9
    wide[0] = generator.normal(0, 0.4, 20).clip(-0.95, 0.95)
    narrow[0] = 0.01 + (narrow[0] - 0.01) * 1e-4
    equal += 0.003 - equal.mean(axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.ScaleWarning)
        for x in (outlier, wide, narrow, equal):
            for rope in (0.0, 0.01, (0.005, 0.02)):
                result = integrate(of_arrays(x, rope=rope))
                seen = values(result)
                assert np.isfinite([*seen, result.log_marginal_likelihood, result.expected_difference]).all()
                assert seen[:3].sum() == pytest.approx(1, abs=1e-9)
                assert seen[3:6].sum() == pytest.approx(1, abs=1e-9)
                assert result.status == "ok"


def test_the_rope_of_the_problem_is_in_units_of_the_standard_deviation(few):
    found, error = few.posterior.integration.regions(Rope(-0.01, 0.01).scaled(1 / few.posterior.unit))
    np.testing.assert_array_equal([*found.most_probable, *found.expected, found.positive], values(few))
    assert set(error) == set(NAMES)
