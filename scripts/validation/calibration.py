"""Simulation-based calibration: truths from the prior are ranked among draws of their posterior (V6, V7).

Talts et al. (2018): if the computation is right, each rank is uniform. The ranks of the log likelihood and of the three
probabilities see faults that those of single parameters miss (Modrák et al., 2023).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from reproduction.exhibit import Row, Settings
from reproduction.simulation import repeated
from scipy import stats

from hiercomp.engines import ENGINES, SamplerSettings
from hiercomp.engines.quadrature.draws import dataset_draws, population_draws
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.kinds import integrand
from hiercomp.rope import Rope

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
    "P(left)",
    "P(rope)",
    "P(right)",
)
# Data sets, scores of each, correlation, bounds of delta0 and sigma0, half-width of the rope; sigma_i is below 1
SCENARIOS = {
    "sparse": (3, 5, 0.2, 1.0, 1.0, 0.3),
    "typical": (12, 100, 0.1, 0.2, 0.2, 0.05),
    "near-identical": (20, 10, 0.1, 0.05, 0.02, 0.01),
}
POPULATIONS = {"hierarchical nu": Priors(), "fixed prior on nu": Priors.juarez_steel(), "gaussian": Priors.gaussian()}
REPETITIONS = {"quadrature": (400, 10), "embedded": (400, 20)}  # full and quick
FAMILY = 0.05  # chance that the smallest of all p-values is below its limit although all is right


def sbc_rows(settings: Settings, engine: str) -> list[Row]:
    """The smallest p of each scenario and population, against a limit for all of them together."""
    repetitions = REPETITIONS[engine][settings.quick]
    rows = []
    for scenario in SCENARIOS:
        for population in POPULATIONS:
            if scenario != "typical" and population != "hierarchical nu":
                continue
            name = f"sbc-{engine}-{scenario}-{population.replace(' ', '-')}"
            one = partial(ranks, scenario=scenario, population=population, engine=engine)
            found = repeated(settings, name, one, repetitions)
            smallest, quantity = smallest_p(found)
            count = found.shape[1] * (len(SCENARIOS) + len(POPULATIONS) - 1)
            what = f"{scenario}, {population}, {repetitions} simulations: smallest p ({quantity})"
            rows.append(Row.above(what, FAMILY / count, smallest))
    return rows


def fault_rows(settings: Settings) -> list[Row]:
    """The smallest p of each fault, which is to be small."""
    faults = ("sd for variance", "a population about zero") if settings.quick else tuple(FAULTS)
    repetitions = 40 if settings.quick else 200
    rows = []
    for fault in faults:
        one = partial(ranks, scenario="sparse", population="hierarchical nu", engine="embedded", fault=fault)
        found = repeated(settings, f"sbc-fault-{fault.replace(' ', '-').replace('/', 'by')}", one, repetitions)
        smallest, quantity = smallest_p(found)
        rows.append(Row.below(f"{fault}: smallest p ({quantity})", FAMILY / found.shape[1], smallest))
    return rows


def smallest_p(found: FLOATS) -> tuple[float, str]:
    """The smallest p-value of a chi-square test of uniform ranks, and its quantity."""
    kept = found[:, ~np.isnan(found).any(axis=0)]
    names = [name for name, missing in zip(QUANTITIES, np.isnan(found).any(axis=0), strict=True) if not missing]
    bins = min(BINS, len(kept) // 5)  # of at least five
    counts = [np.bincount((column * bins / (DRAWS + 1)).astype(int), minlength=bins) for column in kept.T]
    p = [stats.chisquare(one).pvalue for one in counts]
    return float(min(p)), names[int(np.argmin(p))]


def ranks(generator: np.random.Generator, scenario: str, population: str, engine: str, fault: str = "") -> list[float]:
    """Of a truth from the prior among draws of its posterior, from 0 to the number of draws; ties at random."""
    priors, half_width = POPULATIONS[population], SCENARIOS[scenario][-1]
    truth, model = simulated(generator, scenario, priors)
    if engine == "quadrature":
        integration = QuadratureEngine().integrate(integrand(model), Rope(-half_width, half_width))
        draws = population_draws(integration.grid, DRAWS, generator)
        delta, sigma = dataset_draws(integrand(model).likelihood, draws, generator)
        draws |= {"delta": delta, "sigma": sigma}
    elif fault:
        with faulty(fault) as folder:
            draws = sampled(model, generator, folder)
    else:
        draws = sampled(model, generator)
    both = {name: np.concatenate([np.array(truth[name])[None], values]) for name, values in draws.items()}
    found = []
    for values in quantities(both, model, half_width):
        own, others = values[0], values[1:]
        ties = np.count_nonzero(others == own)
        found.append(
            float(np.count_nonzero(others < own) + generator.integers(0, ties + 1)) if np.isfinite(own) else np.nan
        )
    return found


def simulated(
    generator: np.random.Generator, scenario: str, priors: Priors
) -> tuple[dict[str, FLOATS], HierarchicalModel]:
    """A truth from the prior, and the model of data simulated from it."""
    q, n, rho, delta0_bound, sigma0_upper, _ = SCENARIOS[scenario]
    truth = {"delta0": generator.uniform(-delta0_bound, delta0_bound), "sigma0": generator.uniform(0, sigma0_upper)}
    noise = generator.normal(size=q)
    if priors.population == "student_t":
        shape, rate = (
            generator.uniform(*limits) if isinstance(limits, tuple) else limits
            for limits in (priors.alpha, priors.beta)
        )
        truth["nu"] = priors.nu_lower + generator.gamma(shape, 1 / rate)
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


def sampled(model: HierarchicalModel, generator: np.random.Generator, folder: Path | None = None) -> dict[str, FLOATS]:
    """Draws of four chains, thinned until they are nearly independent."""
    settings = SamplerSettings(
        chains=4, warmup=500, draws=500, seed=int(generator.integers(2**31)), adapt_delta=0.95, progress=False
    )
    program = model.program(np.zeros(len(model.mean), dtype=bool), settings.chains, settings.seed)
    if folder is None:
        found = ENGINES["embedded"].sample(program, settings).variables
    else:
        with (
            patch("hiercomp.model.programs.stan_folder", lambda: folder),
            patch("hiercomp.engines.embedded.stan_folder", lambda: folder),
        ):
            found = ENGINES["embedded"].sample(program, settings).variables
    chosen = np.linspace(0, 4 * settings.draws - 1, DRAWS).astype(int)
    wanted = ("delta0", "sigma0", "nu", "delta", "sigma")
    return {name: values.reshape(-1, *values.shape[2:])[chosen] for name, values in found.items() if name in wanted}


def quantities(draws: dict[str, FLOATS], model: HierarchicalModel, half_width: float) -> list[FLOATS]:
    """The values of each draw, the truth's first."""
    delta0, sigma0, delta, sigma = (draws[name] for name in ("delta0", "sigma0", "delta", "sigma"))
    nu = draws.get("nu", np.full(len(delta0), np.inf))
    n, rho = model.n, model.rho
    quadratic = model.sum_of_squares / (1 - rho) + n * (model.mean - delta) ** 2 / (1 + (n - 1) * rho)
    log_likelihood = (-n * np.log(sigma) - quadratic / (2 * sigma**2)).sum(axis=1)
    left, right = (stats.t.cdf((-half_width - side * delta0) / sigma0, nu) for side in (1, -1))
    return [
        delta0,
        sigma0,
        nu,
        delta[:, 0],
        sigma[:, 0],
        delta.mean(axis=1),
        log_likelihood,
        left,
        1 - left - right,
        right,
    ]
