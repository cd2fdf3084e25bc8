"""The Stan programs: the closed quadratic form, the two parameterisations, and how the files are written."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stanli
from scipy import stats

from hiercomp.model.distributions import HalfNormal, HalfStudentT, Normal
from hiercomp.model.priors import Priors
from hiercomp.model.programs import json_ready, source_with_includes, stan_folder
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.scores.differences import PairedDifferences
from tests.model.deviations import Values, log_density, with_deviation

PROGRAMS = (
    "hierarchical_student_t",
    "hierarchical_student_t_fixed_nu_prior",
    "hierarchical_gaussian",
    "reference_quadratic_form",
    "hierarchical_gaussian_covariates",
    "hierarchical_student_t_covariates",
    "hierarchical_student_t_fixed_nu_prior_covariates",
    "hierarchical_gaussian_trinomial",
    "hierarchical_student_t_trinomial",
    "hierarchical_student_t_fixed_nu_prior_trinomial",
)
Q, N, RHO = 6, 20, 0.1


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    """Score differences of six data sets, twenty folds each."""
    generator = np.random.default_rng(7)
    return generator.normal(0.01, 0.02, size=(Q, 1)) + generator.normal(0, 0.03, size=(Q, N))


@pytest.fixture(scope="module")
def model(scores: np.ndarray) -> HierarchicalModel:
    return HierarchicalModel.of(PairedDifferences.from_arrays(np.zeros_like(scores), scores, rho=RHO), Priors())


def interpreted(name: str, data: dict[str, object]) -> stanli.Model:
    path = str(stan_folder() / f"{name}.stan")
    return stanli.Model(stan_file=path, data=json_ready(data), include_paths=[str(stan_folder())])


def closed_form(model: HierarchicalModel, centred: np.ndarray) -> stanli.Model:
    program = model.program(centred, chains=1, seed=0)
    return interpreted(program.name, dict(program.data))


def random_point(model: HierarchicalModel, generator: np.random.Generator) -> Values:
    """Values of every parameter of the centred program, spread well beyond the posterior."""
    return {
        "delta0": generator.uniform(-0.9, 0.9) * model.delta0_bound,
        "sigma0": np.exp(generator.normal(-1, 1)),
        "sigma": np.exp(generator.normal(0, 0.5, Q)),
        "nu": 1 + np.exp(generator.normal(1.5, 1)),
        "alpha": generator.uniform(0.6, 4.9),
        "beta": generator.uniform(0.051, 0.149),
        "delta": generator.normal(0, 2, Q),
    }


def test_closed_form_equals_the_papers_matrix_form_up_to_one_constant(scores, model):
    # The density of both programs at 50 random points; their difference is n/2 log(2 pi)-like constants and log det M
    data = {
        "q": Q, "n": N, "x": scores / model.unit, "rho": RHO, "delta0_bound": model.delta0_bound,
        "sigma_upper": model.sigma_upper, "sigma0_upper": model.sigma0_upper, "nu_lower": 1.0,
        "alpha_limits": (0.5, 5.0), "beta_limits": (0.05, 0.15),
    }  # fmt: skip
    reference, closed = interpreted("reference_quadratic_form", data), closed_form(model, np.ones(Q, dtype=bool))
    generator = np.random.default_rng(1)
    densities = []
    for _ in range(50):
        point = random_point(model, generator)
        centred = {("delta_centred" if name == "delta" else name): value for name, value in point.items()}
        values, log_slope = with_deviation(model, centred | {"z": np.empty(0)})
        # The reference samples the logit of delta0 between its bounds, with another Jacobian
        jacobian = np.log(model.delta0_bound**2 - point["delta0"] ** 2)
        densities.append((log_density(reference, point) - jacobian, log_density(closed, values) - log_slope))
    by_matrix, by_closed_form = np.array(densities).T
    constant = by_matrix[0] - by_closed_form[0]
    np.testing.assert_allclose(by_closed_form + constant, by_matrix, rtol=1e-9)
    assert np.ptp(by_matrix) > 100  # the points differ enough for the comparison to mean something


def test_likelihood_equals_the_multivariate_normal_of_scipy(scores, model):
    # Two points that differ in delta and sigma only: the uniform priors cancel, the rest comes from scipy.stats
    closed = closed_form(model, np.ones(Q, dtype=bool))
    generator = np.random.default_rng(2)
    x = scores / model.unit
    matrix = np.full((N, N), RHO) + (1 - RHO) * np.eye(N)

    def stan(point):
        values = {("delta_centred" if name == "delta" else name): value for name, value in point.items()}
        values, log_slope = with_deviation(model, values | {"z": np.empty(0)})
        return log_density(closed, values) - log_slope

    def scipy(point):
        likelihood = sum(
            stats.multivariate_normal.logpdf(row, np.full(N, delta), sigma**2 * matrix)
            for row, delta, sigma in zip(x, point["delta"], point["sigma"], strict=True)
        )
        population = stats.t.logpdf(point["delta"], point["nu"], point["delta0"], point["sigma0"]).sum()
        # Jacobian of sigma = upper / (1 + exp(-u)): sigma (1 - sigma / upper)
        jacobian = np.log(point["sigma"] * (1 - point["sigma"] / model.sigma_upper)).sum()
        return likelihood + population + jacobian

    base = random_point(model, generator)
    for _ in range(20):
        other = base | {key: random_point(model, generator)[key] for key in ("delta", "sigma")}
        assert stan(other) - stan(base) == pytest.approx(scipy(other) - scipy(base), rel=1e-9)


@pytest.mark.parametrize("priors", [Priors(), Priors.kruschke(), Priors.gaussian()], ids=lambda priors: priors.name)
def test_noncentred_density_is_the_centred_one_times_the_jacobian(scores, priors):
    # (M10): delta = location + scale sinh(z) (or z), so d delta / d z = scale cosh(z) (or scale)
    model = HierarchicalModel.of(PairedDifferences.from_arrays(np.zeros_like(scores), scores, rho=RHO), priors)
    mixed = np.array([True, False, True, False, False, True])
    centred, partly = closed_form(model, np.ones(Q, dtype=bool)), closed_form(model, mixed)
    generator = np.random.default_rng(3)
    differences = []
    for _ in range(20):
        point = random_point(model, generator)
        delta = point.pop("delta")
        if priors.population == "gaussian":
            point.pop("nu")
        if not isinstance(priors.alpha, tuple) or priors.population == "gaussian":
            point.pop("alpha"), point.pop("beta")
        # Normal-normal conjugacy: precision 1/se^2 + 1/sigma0^2, mean weighted by the two
        squared_error = point["sigma"] ** 2 * (1 + (N - 1) * RHO) / N
        scale = (1 / squared_error + 1 / point["sigma0"] ** 2) ** -0.5
        location = scale**2 * (model.mean / squared_error + point["delta0"] / point["sigma0"] ** 2)
        deviation = ((delta - location) / scale)[~mixed]
        gaussian = priors.population == "gaussian"
        z = deviation if gaussian else np.arcsinh(deviation)
        jacobian = np.log(scale[~mixed] * (np.ones_like(z) if gaussian else np.cosh(z))).sum()
        point, _ = with_deviation(model, point)
        one = log_density(centred, point | {"delta_centred": delta, "z": np.empty(0)})
        two = log_density(partly, point | {"delta_centred": delta[mixed], "z": z})
        differences.append(two - one - jacobian)
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)


NU_PRIORS = {"default": Priors, "kruschke": Priors.kruschke, "gaussian": Priors.gaussian}


@pytest.mark.parametrize("name", NU_PRIORS)
@pytest.mark.parametrize(
    ("distributions", "log_prior"),
    [
        ({}, lambda delta0, sigma0: 0.0),
        ({"delta0": Normal(0.01, 0.02)}, lambda delta0, sigma0: stats.norm(0.01, 0.02).logpdf(delta0)),
        ({"sigma0": HalfNormal(0.03)}, lambda delta0, sigma0: stats.halfnorm(scale=0.03).logpdf(sigma0)),
        ({"sigma0": HalfStudentT(3, 0.03)}, lambda delta0, sigma0: stats.t(3, scale=0.03).logpdf(sigma0)),
        (
            {"delta0": Normal(0, 0.1), "sigma0": HalfNormal(0.03)},
            lambda delta0, sigma0: stats.norm(0, 0.1).logpdf(delta0) + stats.halfnorm(scale=0.03).logpdf(sigma0),
        ),
    ],
    ids=["uniform", "normal", "half-normal", "half-t", "both"],
)
def test_the_priors_of_the_programs_are_those_of_scipy(scores, name, distributions, log_prior):
    # Points that differ in delta0 and sigma0 only, in the metric's units; the population and the Jacobians are SciPy's too
    differences = PairedDifferences.from_arrays(np.zeros_like(scores), scores, rho=RHO)
    model = HierarchicalModel.of(differences, NU_PRIORS[name](**distributions))
    program, generator = closed_form(model, np.ones(Q, dtype=bool)), np.random.default_rng(4)
    base = random_point(model, generator)
    kept = {"gaussian": ("sigma",), "kruschke": ("sigma", "nu")}.get(name, ("sigma", "nu", "alpha", "beta"))
    rest = {key: base[key] for key in kept} | {"delta_centred": base["delta"], "z": np.empty(0)}
    population = stats.norm if name == "gaussian" else stats.t
    nu = () if name == "gaussian" else (base["nu"],)
    found, expected = [], []
    for _ in range(20):
        delta0, sigma0 = generator.uniform(-2.5, 2.5), np.exp(generator.normal(0, 1))
        values, log_slope = with_deviation(model, rest | {"delta0": delta0, "sigma0": sigma0})
        found.append(log_density(program, values))
        # Jacobian of x = upper / (1 + exp(-u)): x (upper - x) / upper
        jacobian = log_slope + np.log(sigma0 * (1 - sigma0 / model.sigma0_upper))
        density = population.logpdf(base["delta"], *nu, delta0, sigma0).sum()
        expected.append(density + jacobian + log_prior(delta0 * model.unit, sigma0 * model.unit))
    np.testing.assert_allclose(np.array(found) - found[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-7)
    assert np.ptp(expected) > 10


def test_initial_values_are_near_the_data_and_far_from_the_bounds(model):
    for seed in range(20):
        start = model.initial_values(model.centred(), np.random.default_rng(seed))
        assert 0 < start["sigma0"] < 0.01 * model.sigma0_upper
        assert np.all(np.abs(np.log(start["sigma"] / model.sigma_estimate)) < 0.3)
        assert abs(start["delta0_deviation"]) < 4
        assert not start["z"].any()
        assert np.all(start["delta_centred"] >= model.mean.min())
        assert np.all(start["delta_centred"] <= model.mean.max())


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_and_their_includes_are_complete(name):
    source = source_with_includes(name)
    assert "#include" not in source
    assert source.lstrip().startswith("/**")  # what the program is, in words


def normalised(source: str) -> list[str]:
    """Lines without comments and blanks; CmdStan 2.27's formatter drops comments."""
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
    lines = [re.sub(r"//.*", "", line).rstrip() for line in source.splitlines()]
    text = "\n".join(line for line in lines if line.strip())
    # Two habits of the formatter of 2.27 that later ones gave up
    return re.sub(r"\}\n\s*else", "} else", text).replace(")| ", ") | ").splitlines()


@pytest.mark.cmdstan
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_formatted_as_stanc_formats_them(name):
    import cmdstanpy

    stanc = Path(cmdstanpy.cmdstan_path()) / "bin" / "stanc"
    path = stan_folder() / f"{name}.stan"
    command = [str(stanc), f"--include-paths={stan_folder()}", "--auto-format", str(path)]
    formatted = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert normalised(source_with_includes(name)) == normalised(formatted)


@pytest.mark.parametrize("columns", [1, 4])  # with more than one for ten data sets the slopes have a horseshoe
@pytest.mark.parametrize("priors", [Priors(), Priors.juarez_steel(), Priors.gaussian()])
def test_with_covariates_the_density_is_that_about_the_centres_times_that_of_the_slopes(model, priors, columns):
    # Less what the covariates explain, means and delta_i follow the program without them. There remain the priors of the
    # slopes and of their scales, and the Jacobian of (C4): with the precision Q of the slopes, |det Q|^(-1/2)
    generator = np.random.default_rng(1)
    q = 2 * len(model.mean)
    twice = {name: np.tile(getattr(model, name), 2) for name in ("mean", "sum_of_squares", "n", "rho")}
    covariate = generator.normal(size=(q, columns))
    plain = replace(model, **twice, priors=priors)
    every = replace(plain, covariate=covariate, slope_scale=0.7)
    assert every.shrunk == (10 * columns > q)
    centred = np.arange(q) % 2 == 0
    start = {**plain.initial_values(centred, np.random.default_rng(2))}
    del start["delta0_deviation"]
    program = closed_form(every, centred)
    found, expected = [], []
    for _ in range(20):
        sigma = every.sigma_estimate * np.exp(generator.normal(0, 0.3, q))
        values = {**start, "delta0": generator.uniform(-2, 2), "sigma0": np.exp(generator.normal()), "sigma": sigma}
        scales = {"local": [], "global": [], "slab": []}
        sd, of_slopes = np.full(columns, 0.7), 0.0
        if every.shrunk:
            local, overall, slab = generator.gamma(2, 1, columns), generator.gamma(2, 1), generator.gamma(2, 1)
            scales = {"local": local, "global": [overall], "slab": [slab]}
            sd = 1 / np.sqrt(1 / (every.global_scale * overall * local) ** 2 + 1 / (0.7**2 * slab))
            of_slopes += stats.halfcauchy.logpdf([*local, overall]).sum() + stats.invgamma(2, scale=2).logpdf(slab)
            of_slopes += np.log([*local, overall, slab]).sum()  # Jacobians: Stan samples the logs
        slope = sd * generator.normal(size=columns)
        of_slopes += stats.norm(0, sd).logpdf(slope).sum()

        error = sigma**2 * (1 + (every.n - 1) * every.rho) / every.n
        weighted = covariate.T / (values["sigma0"] ** 2 + error)
        precision = np.diag(1 / sd**2) + weighted @ covariate
        location = np.linalg.solve(precision, weighted @ (every.mean - values["delta0"]))
        root = np.linalg.cholesky(sd[:, None] * precision * sd)
        of_slopes -= np.linalg.slogdet(precision)[1] / 2

        deviation = {"slope_deviation": root.T @ ((slope - location) / sd)}
        found.append(log_density(program, values | scales | deviation))
        shift = covariate @ slope
        without = closed_form(replace(plain, mean=plain.mean - shift), centred)
        moved = values | {"delta_centred": values["delta_centred"] - shift[centred]}
        moved, log_slope = with_deviation(replace(plain, mean=plain.mean - shift), moved)
        # That of the logit of delta0, which is sampled with covariates
        jacobian = np.log(plain.delta0_bound**2 - values["delta0"] ** 2)
        expected.append(of_slopes + log_density(without, moved) - log_slope + jacobian)
    np.testing.assert_allclose(np.array(found) - found[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-7)
    assert np.ptp(expected) > 10
