"""Simulation-based calibration: truths from the prior are ranked among draws of their posterior (V6, V7).

Talts et al. (2018): if the computation is right, each rank is uniform. The ranks of log densities and of the three
probabilities see faults that those of single parameters miss (Modrák et al., 2023).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from reproduction.exhibit import Row, Settings
from reproduction.simulation import repeated
from scipy import special, stats

from hiercomp.engines import ENGINES, SamplerSettings
from hiercomp.engines.mixture import MixtureProblem, MixtureSampler, log_table
from hiercomp.engines.mixture import dataset_draws as mixture_dataset_draws
from hiercomp.engines.quadrature.draws import dataset_draws, population_draws
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.engines.quadrature.integration import Integration
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.model.mixture import Dictionary
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.model.trinomial import moments
from hiercomp.posterior.fit import Computation
from hiercomp.posterior.kinds import integrand
from hiercomp.rope import Rope
from hiercomp.scores.covariates import Covariates
from hiercomp.scores.differences import PairedDifferences

from .density import FAULTS
from .faults import faulty

FLOATS = np.ndarray
DRAWS, BINS = 99, 20  # 100 ranks, five in each bin
QUANTITIES = (
    "delta0",
    "sigma0",
    "nu",
    "delta 1",
    "sigma 1",
    "mean delta",
    "log likelihood",
    "log density of the means",
    "P(left)",
    "P(rope)",
    "P(right)",
)
# Data sets, scores of each, correlation, bounds of delta0 and sigma0, half-width of the rope; sigma_i is below 1
SCENARIOS = {
    "sparse": (3, 5, 0.2, 1.0, 1.0, 0.3),
    "typical": (12, 100, 0.1, 0.2, 0.2, 0.05),
    "near-identical": (20, 10, 0.1, 0.05, 0.02, 0.01),
    "many": (30, 5, 0.2, 1.0, 1.0, 0.3),
}
MIXTURE_QUANTITIES = tuple(
    "concentration" if name == "nu" else name for name in QUANTITIES if name != "log density of the means"
)
MIXTURE_SIZES, MIXTURE_REPETITIONS = (5, 25), (400, 20)  # data sets; full and quick
TRINOMIAL_SIZES, TRINOMIAL_REPETITIONS = (6, 20), (400, 10)  # data sets, below and above `FEW_DATASETS`; full and quick
COVARIATE_QUANTITIES = (
    *("delta0", "sigma0", "nu", "delta 1", "sigma 1", "slope 1", "largest slope", "squares of the slopes", "centre 1"),
    *("log likelihood", "log density of the means"),
)
COVARIATE_SIZES = {"normal slopes": (30, 2), "a horseshoe": (15, 4)}  # data sets, covariates
COVARIATE_REPETITIONS, SLOPE_SCALE = (400, 10), 0.2  # full and quick
POPULATIONS = {"hierarchical nu": Priors(), "fixed prior on nu": Priors.juarez_steel(), "gaussian": Priors.gaussian()}
REPETITIONS = (5000, 10)  # full and quick, of the default population
OTHER_REPETITIONS = (1000, 10)  # of the other populations
FAMILY = 0.05  # chance that the smallest of all p-values is below its limit although all is right
LARGEST_SHARE = 0.02  # of fits that fail their checks, after the attempts that the package makes
RARE = 0.001  # chance that a quick run of a sound sampler has more failures than are allowed
LOOKS = (50, 200, 800)  # simulations of a fault, until it is seen
FAULT_SCENARIOS = ("sparse", "many")  # many data sets show the correlation and the tails of the population
SEEN = 0.8  # share of the faults


def sbc_rows(settings: Settings, engine: str) -> list[Row]:
    """The smallest p of each scenario and population, against a limit for all of them together."""
    scenarios = ("sparse", "typical", "near-identical")
    rows, failed = [], []
    for scenario in scenarios:
        for population in POPULATIONS:
            by_default = population == "hierarchical nu"
            if scenario != "typical" and not by_default:
                continue
            repetitions = (REPETITIONS if by_default else OTHER_REPETITIONS)[settings.quick]
            name = f"sbc-{engine}-{scenario}-{population.replace(' ', '-')}"
            one = partial(ranks, scenario=scenario, population=population, engine=engine)
            found = repeated(settings, name, one, repetitions)
            smallest, quantity = smallest_p(found[:, :-1])
            limit = FAMILY / (len(QUANTITIES) * (len(scenarios) + len(POPULATIONS) - 1))
            what = f"{scenario}, {population}, {repetitions} simulations: smallest p ({quantity})"
            rows.append(Row.above(what, limit, smallest))
            failed.append(found[:, -1])
    return [*rows, failure_row(failed, quick=settings.quick)]


def failure_row(failed: list[FLOATS], *, quick: bool) -> Row:
    """The share of fits that fail their checks; of the few of a quick run, as many may as chance allows."""
    failures = np.concatenate(failed)
    count = len(failures)
    limit = stats.binom.ppf(1 - RARE, count, LARGEST_SHARE) / count if quick else LARGEST_SHARE
    return Row.below(f"share of {count} fits that fail their checks", limit, float(failures.mean()))


def mixture_rows(settings: Settings) -> list[Row]:
    """The smallest p of collections of data sets of different sizes, with a mixture as the population."""
    repetitions = MIXTURE_REPETITIONS[settings.quick]
    rows = []
    for q in MIXTURE_SIZES:
        found = repeated(settings, f"sbc-mixture-{q}", partial(mixture_ranks, q=q), repetitions)
        smallest, quantity = smallest_p(found, MIXTURE_QUANTITIES)
        limit = FAMILY / (found.shape[1] * len(MIXTURE_SIZES))
        rows.append(Row.above(f"{q} data sets, {repetitions} simulations: smallest p ({quantity})", limit, smallest))
    return rows


def trinomial_rows(settings: Settings) -> list[Row]:
    """The smallest p with a trinomial likelihood, for few and for many data sets."""
    repetitions = TRINOMIAL_REPETITIONS[settings.quick]
    limit, rows = FAMILY / (len(QUANTITIES) * len(TRINOMIAL_SIZES)), []
    for q in TRINOMIAL_SIZES:
        found = repeated(settings, f"sbc-trinomial-{q}", partial(trinomial_ranks, q=q), repetitions)
        smallest, quantity = smallest_p(found)
        rows.append(Row.above(f"{q} data sets, {repetitions} simulations: smallest p ({quantity})", limit, smallest))
    return rows


def covariate_rows(settings: Settings) -> list[Row]:
    """The smallest p with covariates, under a normal prior of the slopes and under a horseshoe."""
    repetitions = COVARIATE_REPETITIONS[settings.quick]
    rows, failed = [], []
    for name, (q, p) in COVARIATE_SIZES.items():
        one = partial(covariate_ranks, q=q, p=p)
        found = repeated(settings, f"sbc-covariates-{name.replace(' ', '-')}", one, repetitions)
        smallest, quantity = smallest_p(found[:, :-1], COVARIATE_QUANTITIES)
        limit = FAMILY / (len(COVARIATE_QUANTITIES) * len(COVARIATE_SIZES))
        what = f"{name}, {q} data sets, {p} covariates, {repetitions} simulations: smallest p ({quantity})"
        rows.append(Row.above(what, limit, smallest))
        failed.append(found[:, -1])
    return [*rows, failure_row(failed, quick=settings.quick)]


def fault_rows(settings: Settings) -> list[Row]:
    """The share of the faults that calibration sees; the smallest p without a fault, and with each."""
    faults = ("sd for variance", "scale for rate") if settings.quick else tuple(FAULTS)
    looks = LOOKS[:1] if settings.quick else LOOKS
    limit = FAMILY / (len(QUANTITIES) * len(LOOKS) * len(FAULT_SCENARIOS) * len(FAULTS))
    smallest, where = _smallest_p_with(settings, "", looks[-1])
    rows = [Row.above(f"no fault, {looks[-1]} simulations: smallest p ({where})", limit, smallest)]
    seen = []
    for fault in faults:
        for repetitions in looks:
            smallest, where = _smallest_p_with(settings, fault, repetitions)
            if smallest < limit:
                break
        seen.append(smallest < limit)
        what = f"{fault}, {'seen' if seen[-1] else 'not seen'} in {repetitions} simulations: smallest p ({where})"
        rows.append(Row(what, f"counted as seen below {limit:.1e}", smallest, 0.0, True))
    return [Row.at_least(f"share seen of {len(faults)} faults", SEEN, float(np.mean(seen))), *rows]


def _smallest_p_with(settings: Settings, fault: str, repetitions: int) -> tuple[float, str]:
    """The smallest p of the scenarios with a fault (empty: none); and where it is."""
    found = []
    for scenario in FAULT_SCENARIOS[:1] if settings.quick else FAULT_SCENARIOS:
        name = f"sbc-fault-{scenario}-{(fault or 'none').replace(' ', '-').replace('/', 'by')}"
        one = partial(ranks, scenario=scenario, population="hierarchical nu", engine="embedded", fault=fault)
        smallest, quantity = smallest_p(repeated(settings, name, one, repetitions)[:, :-1])
        found.append((smallest, f"{scenario}, {quantity}"))
    return min(found)


def smallest_p(found: FLOATS, quantities: tuple[str, ...] = QUANTITIES) -> tuple[float, str]:
    """The smaller p-value of two tests of uniform ranks, over all quantities; and the quantity.

    Kolmogorov and Smirnov's test sees ranks that shift, a chi-square test those that pile up. Twice the smaller p-value of
    the two is one.
    """
    missing = np.isnan(found).any(axis=0)
    names = [name for name, gone in zip(quantities, missing, strict=True) if not gone]
    bins = min(BINS, len(found) // 5)  # of at least five
    within = np.random.default_rng(0).uniform(size=found.shape)  # makes ranks continuous
    p = []
    for column, jitter in zip(found[:, ~missing].T, within[:, ~missing].T, strict=True):
        counts = np.bincount((column * bins / (DRAWS + 1)).astype(int), minlength=bins)
        shifted = stats.kstest((column + jitter) / (DRAWS + 1), "uniform").pvalue
        p.append(min(1.0, 2 * min(stats.chisquare(counts).pvalue, shifted)))
    return float(min(p)), names[int(np.argmin(p))]


def ranks(generator: np.random.Generator, scenario: str, population: str, engine: str, fault: str = "") -> list[float]:
    """Of a truth from the prior among draws of its posterior, from 0 to the number of draws, ties at random.

    The last number is 1 if the fit failed its checks.
    """
    priors, half_width = POPULATIONS[population], SCENARIOS[scenario][-1]
    truth, model = simulated(generator, scenario, priors)
    failed = False
    if fault:
        with faulty(fault) as folder:
            draws = sampled_with_fault(model, generator, folder)
    elif engine == "quadrature":  # it has no checks but its stated error
        draws = integrated(model, half_width, DRAWS, generator)
    else:
        draws, failed = sampled(model, generator, Rope(-half_width, half_width))
    return [*ranks_of(truth, draws, model, half_width, generator), float(failed)]


def integrated(
    model: HierarchicalModel, half_width: float, count: int, generator: np.random.Generator
) -> dict[str, FLOATS]:
    """Independent draws from the integral of a posterior."""
    integration = QuadratureEngine().integrate(integrand(model), Rope(-half_width, half_width))
    return drawn_from(integration, model, count, generator)


def drawn_from(
    integration: Integration, model: HierarchicalModel, count: int, generator: np.random.Generator
) -> dict[str, FLOATS]:
    """Independent draws of all parameters."""
    draws = population_draws(integration.grid, count, generator)
    delta, sigma = dataset_draws(integrand(model).likelihood, draws, generator)
    return draws | {"delta": delta, "sigma": sigma}


def ranks_of(
    truth: dict[str, FLOATS],
    draws: dict[str, FLOATS],
    model: HierarchicalModel,
    half_width: float,
    generator: np.random.Generator,
) -> list[float]:
    """The ranks of a truth among draws, of each quantity."""
    both = {name: np.concatenate([np.array(truth[name])[None], values]) for name, values in draws.items()}
    return ranked(quantities(both, model, half_width), generator)


def ranked(quantities: list[FLOATS], generator: np.random.Generator) -> list[float]:
    """The rank of the first value of each quantity among the others, ties at random."""
    found = []
    for values in quantities:
        own, others = values[0], values[1:]
        ties = np.count_nonzero(others == own)
        found.append(
            float(np.count_nonzero(others < own) + generator.integers(0, ties + 1)) if np.isfinite(own) else np.nan
        )
    return found


def mixture_ranks(generator: np.random.Generator, q: int) -> list[float]:
    """The same for a mixture over a dictionary that does not depend on the data."""
    n, rho = 20.0, 0.1
    dictionary = Dictionary.of(0.0, 1.0, centres=21, scales=5)
    concentration = generator.gamma(2.0, 0.5)
    left = np.exp(np.cumsum(np.log1p(-generator.random(200)) / concentration))
    true_weight = np.append(1, left[:-1]) - left
    true_atom = generator.choice(len(dictionary.weight), 200, p=dictionary.weight)
    chosen = true_atom[generator.choice(200, q, p=true_weight / true_weight.sum())]
    delta, sigma = generator.normal(dictionary.centre[chosen], dictionary.scale[chosen]), generator.uniform(0, 1, q)
    mean = delta + sigma * np.sqrt((1 + (n - 1) * rho) / n) * generator.normal(size=q)
    squares = sigma**2 * (1 - rho) * generator.chisquare(n - 1, q)
    likelihood = MeanLikelihood(mean, squares, np.full(q, n), np.full(q, rho), 1.0)
    problem = MixtureProblem(log_table(likelihood, dictionary), dictionary.weight, 2.0, 2.0)
    sampler = MixtureSampler(problem, 1, int(generator.integers(2**31)))
    sampler.run(1, sweeps=300)
    draws = sampler.run(DRAWS, sweeps=20)
    deltas, sigmas = mixture_dataset_draws(likelihood, dictionary, draws.allocation, generator)
    values = {"delta": np.vstack([delta, deltas[0]]), "sigma": np.vstack([sigma, sigmas[0]])}
    populations = [(true_atom, true_weight), *zip(draws.atom[0], draws.weight[0], strict=True)]
    moments, regions = [], []
    for atom, weight in populations:
        centre, scale = dictionary.centre[atom], dictionary.scale[atom]
        average = (weight * centre).sum()
        moments.append((average, np.sqrt((weight * (scale**2 + (centre - average) ** 2)).sum())))
        regions.append([(weight * stats.norm.cdf((end - centre) / scale)).sum() for end in (-0.3, 0.3)])
    values["delta0"], values["sigma0"] = np.transpose(moments)
    below = np.array(regions)
    found = [
        values["delta0"],
        values["sigma0"],
        np.append(concentration, draws.concentration[0]),
        values["delta"][:, 0],
        values["sigma"][:, 0],
        values["delta"].mean(axis=1),
        conditional_log_likelihood(likelihood, values["delta"], values["sigma"]),
        below[:, 0],
        below[:, 1] - below[:, 0],
        1 - below[:, 1],
    ]
    return ranked(found, generator)


def trinomial_ranks(generator: np.random.Generator, q: int) -> list[float]:
    """The same for paired answers to questions and a trinomial likelihood, by the integral."""
    n, bound, half_width = 40, 0.2, 0.05
    truth: dict[str, FLOATS] = {}
    while not truth or (np.abs(truth["delta"]) > 1).any():  # such populations can't have made answers
        truth = {"delta0": generator.uniform(-bound, bound), "sigma0": generator.uniform(0, bound)}
        truth["nu"] = degrees_of_freedom(generator, Priors())
        truth["delta"] = truth["delta0"] + truth["sigma0"] * generator.standard_t(truth["nu"], q)
    delta, size = truth["delta"], np.abs(truth["delta"])
    discordance = generator.uniform(size, 1)  # (T2)
    truth["sigma"] = np.sqrt(discordance - delta**2)
    shares = np.stack([(discordance - delta) / 2, 1 - discordance, (discordance + delta) / 2], axis=1)
    counts = generator.multinomial(n, np.clip(shares, 0, 1))
    _, centre, error = moments(counts)
    model = HierarchicalModel(
        unit=1.0, mean=centre, sum_of_squares=error**2 * n * (n - 1), n=np.full(q, float(n)), rho=np.zeros(q),
        delta0_bound=bound, sigma_upper=1.0, sigma0_upper=bound, priors=Priors(), counts=counts,
    )  # fmt: skip
    draws = integrated(model, half_width, DRAWS, generator)
    return ranks_of(truth, draws, model, half_width, generator)


def covariate_ranks(generator: np.random.Generator, q: int, p: int) -> list[float]:
    """The same with covariates; the last number is 1 if the fit failed its checks."""
    n, rho = 20.0, 0.1
    values = generator.normal(size=(q, p))
    covariates = Covariates(tuple(f"z{j}" for j in range(p)), values)
    z = covariates.standardised
    truth = {"delta0": generator.uniform(-0.3, 0.3), "sigma0": generator.uniform(0, 0.3)}
    truth["nu"] = degrees_of_freedom(generator, Priors())
    truth["slope"] = SLOPE_SCALE * generator.normal(size=p)
    if 10 * p > q:  # (C3)
        expected = min(max(1.0, q / 10), p / 2)
        tau = expected / (p - expected) * SLOPE_SCALE / np.sqrt(q) * abs(generator.standard_cauchy())
        local = np.abs(generator.standard_cauchy(p))
        slab = SLOPE_SCALE**2 * 2 / generator.gamma(2.0)
        truth["slope"] = generator.normal(size=p) / np.sqrt(1 / (tau * local) ** 2 + 1 / slab)
    noise = generator.normal(size=q) / np.sqrt(generator.chisquare(truth["nu"], q) / truth["nu"])
    truth["delta"] = truth["delta0"] + z @ truth["slope"] + truth["sigma0"] * noise
    truth["sigma"] = generator.uniform(0, 1, q)
    mean = truth["delta"] + truth["sigma"] * np.sqrt((1 + (n - 1) * rho) / n) * generator.normal(size=q)
    squares = truth["sigma"] ** 2 * (1 - rho) * generator.chisquare(n - 1, q)
    model = HierarchicalModel(
        unit=1.0, mean=mean, sum_of_squares=squares, n=np.full(q, n), rho=np.full(q, rho), delta0_bound=0.3,
        sigma_upper=1.0, sigma0_upper=0.3, priors=Priors(), covariate=z, slope_scale=SLOPE_SCALE,
    )  # fmt: skip
    draws, failed = sampled(model, generator, Rope(-0.1, 0.1), covariates)
    both = {name: np.concatenate([np.array(truth[name])[None], values]) for name, values in draws.items()}
    slope, scale = both["slope"], both["sigma0"][:, None]
    centre = both["delta0"][:, None] + slope @ z.T
    found = [
        both["delta0"],
        both["sigma0"],
        both["nu"],
        both["delta"][:, 0],
        both["sigma"][:, 0],
        slope[:, 0],
        np.abs(slope).max(axis=1),
        (slope**2).sum(axis=1),
        centre[:, 0],
        conditional_log_likelihood(model, both["delta"], both["sigma"]),
        (stats.t.logpdf((both["delta"] - centre) / scale, both["nu"][:, None]) - np.log(scale)).sum(axis=1),
    ]
    return [*ranked(found, generator), float(failed)]


def simulated(
    generator: np.random.Generator, scenario: str, priors: Priors
) -> tuple[dict[str, FLOATS], HierarchicalModel]:
    """A truth from the prior, and the model of data simulated from it."""
    q, n, rho, delta0_bound, sigma0_upper, _ = SCENARIOS[scenario]
    truth = {"delta0": generator.uniform(-delta0_bound, delta0_bound), "sigma0": generator.uniform(0, sigma0_upper)}
    noise = generator.normal(size=q)
    if priors.population == "student_t":
        truth["nu"] = degrees_of_freedom(generator, priors)
        noise = noise / np.sqrt(generator.chisquare(truth["nu"], q) / truth["nu"])
    truth["delta"] = truth["delta0"] + truth["sigma0"] * noise
    truth["sigma"] = generator.uniform(0, 1, q)
    mean = truth["delta"] + truth["sigma"] * np.sqrt((1 + (n - 1) * rho) / n) * generator.normal(size=q)
    squares = truth["sigma"] ** 2 * (1 - rho) * generator.chisquare(n - 1, q)
    model = HierarchicalModel(
        unit=1.0, mean=mean, sum_of_squares=squares, n=np.full(q, float(n)), rho=np.full(q, rho), delta0_bound=delta0_bound,
        sigma_upper=1.0, sigma0_upper=sigma0_upper, priors=priors,
    )  # fmt: skip
    return truth, model


def degrees_of_freedom(generator: np.random.Generator, priors: Priors) -> float:
    """From their prior (M6), (M7)."""
    shape, rate = (
        generator.uniform(*limits) if isinstance(limits, tuple) else limits for limits in (priors.alpha, priors.beta)
    )
    return priors.nu_lower + generator.gamma(shape, 1 / rate)


def sampled(
    model: HierarchicalModel, generator: np.random.Generator, rope: Rope, covariates: Covariates | None = None
) -> tuple[dict[str, FLOATS], bool]:
    """Draws as the package makes them, with its checks and further attempts, and whether the last one failed."""
    settings = SamplerSettings(
        chains=4, warmup=1000, draws=1000, seed=int(generator.integers(2**31)), adapt_delta=0.9, progress=False
    )
    deviation = np.sqrt(model.sum_of_squares / (model.n - 1))
    scores = [
        mean + sd * stats.zscore(np.arange(n), ddof=1)
        for mean, sd, n in zip(model.mean, deviation, model.n, strict=True)
    ]
    differences = PairedDifferences.from_arrays([np.zeros(len(row)) for row in scores], scores, rho=float(model.rho[0]))
    differences = replace(differences, covariates=covariates)
    posterior, _ = Computation(differences, model, rope, settings, None, "all").sampled(ENGINES["embedded"])
    found = {name: posterior.draws(name) for name in parameters(model)}
    return thinned(found), posterior.diagnostics.status == "failed"


def sampled_with_fault(model: HierarchicalModel, generator: np.random.Generator, folder: Path) -> dict[str, FLOATS]:
    """Draws of one run of the programs in the folder."""
    settings = SamplerSettings(
        chains=4, warmup=500, draws=500, seed=int(generator.integers(2**31)), adapt_delta=0.95, progress=False
    )
    program = model.program(np.zeros(len(model.mean), dtype=bool), settings.chains, settings.seed)
    with patch("hiercomp.model.programs.stan_folder", lambda: folder):
        found = ENGINES["embedded"].sample(program, settings).variables
    return thinned({name: found[name] for name in parameters(model)})


def parameters(model: HierarchicalModel) -> tuple[str, ...]:
    """The parameters that are ranked."""
    names = ("delta0", "sigma0", "nu", "delta", "sigma")
    names += () if model.covariate is None else ("slope",)
    return names if model.priors.population == "student_t" else tuple(name for name in names if name != "nu")


def thinned(found: dict[str, FLOATS]) -> dict[str, FLOATS]:
    """So many draws of all chains that they are nearly independent."""
    chains, draws = found["delta0"].shape
    chosen = np.linspace(0, chains * draws - 1, DRAWS).astype(int)
    return {name: values.reshape(-1, *values.shape[2:])[chosen] for name, values in found.items()}


def quantities(draws: dict[str, FLOATS], model: HierarchicalModel, half_width: float) -> list[FLOATS]:
    """The values of each draw, the truth's first."""
    delta0, sigma0, delta, sigma = (draws[name] for name in ("delta0", "sigma0", "delta", "sigma"))
    nu = draws.get("nu", np.full(len(delta0), np.inf))
    log_likelihood = conditional_log_likelihood(model, delta, sigma)
    left, right = (stats.t.cdf((-half_width - side * delta0) / sigma0, nu) for side in (1, -1))
    return [
        delta0,
        sigma0,
        nu,
        delta[:, 0],
        sigma[:, 0],
        delta.mean(axis=1),
        log_likelihood,
        (stats.t.logpdf((delta - delta0[:, None]) / sigma0[:, None], nu[:, None]) - np.log(sigma0)[:, None]).sum(
            axis=1
        ),
        left,
        1 - left - right,
        right,
    ]


def conditional_log_likelihood(given: HierarchicalModel | MeanLikelihood, delta: FLOATS, sigma: FLOATS) -> FLOATS:
    """Of each draw, without what does not depend on it."""
    if isinstance(given, HierarchicalModel) and given.counts is not None:
        discordance = sigma**2 + delta**2
        shares = np.stack([(discordance - delta) / 2, 1 - discordance, (discordance + delta) / 2], axis=2)
        return np.asarray(special.xlogy(given.counts, np.maximum(shares, 0)).sum(axis=(1, 2)))
    n, rho = given.n, given.rho
    quadratic = given.sum_of_squares / (1 - rho) + n * (given.mean - delta) ** 2 / (1 + (n - 1) * rho)
    return np.asarray((-n * np.log(sigma) - quadratic / (2 * sigma**2)).sum(axis=1))
