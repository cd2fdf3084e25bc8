"""Checks that run the package many times: reference posteriors, Monte Carlo errors, memory, threads, known moments."""

from __future__ import annotations

import gc
import hashlib
import json
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import arviz as az
import numpy as np
from reproduction.exhibit import Row, Settings
from reproduction.simulation import repeated

import hiercomp as hc
from hiercomp.engines import ENGINES, SamplerSettings
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel

PAIRS = (
    ("naive_bayes", "decision_tree"),
    ("naive_bayes", "random_forest"),
    ("decision_tree", "random_forest"),
    ("logistic_regression", "random_forest"),
    ("nearest_neighbours", "random_forest"),
)


def keel(left: str, right: str, datasets: int = 12) -> hc.HierarchicalComparison:
    """A comparison on the first of the bundled data sets."""
    scores = hc.load_scores("keel")
    first = sorted(scores["dataset"].unique())[:datasets]
    return hc.HierarchicalComparison(scores[scores["dataset"].isin(first)], left=left, right=right)


# V5, the recipe of posteriordb (Magnusson et al.)
CHAINS, ITERATIONS, THIN = 10, 10_000, 10


def reference_rows(settings: Settings) -> list[Row]:
    """Whether long thinned chains are reference posteriors, and the integral's distance from them."""
    rows = []
    for left, right in PAIRS[:1] if settings.quick else PAIRS:
        comparison = keel(left, right)
        model = HierarchicalModel.of(comparison.differences, Priors())
        iterations = ITERATIONS // 10 if settings.quick else ITERATIONS
        sampler = SamplerSettings(CHAINS, iterations, iterations, settings.seed, 0.95, False)
        found = ENGINES["embedded"].sample(model.program(model.centred(), CHAINS, settings.seed), sampler)
        kept = {
            name: values[:, ::THIN] for name, values in found.variables.items() if name in ("delta0", "sigma0", "nu")
        }
        what = f"{left} against {right}"
        lag = max(abs(lag_one(chain)) for values in kept.values() for chain in values)
        noise = 4 / np.sqrt(ITERATIONS / THIN) if not settings.quick else 0.5
        integral = comparison.fit(engine="quadrature")
        mean, error = (
            kept["delta0"].mean() * model.unit,
            kept["delta0"].std() * model.unit / np.sqrt(kept["delta0"].size),
        )
        expected = integral.to_dict()["population"]["delta0"]["mean"]
        rows += [
            Row.below(f"{what}: largest R-hat", 1.01, max(float(az.rhat(values)) for values in kept.values())),
            Row.below(f"{what}: largest autocorrelation of neighbours", max(0.05, noise), lag),
            Row.below(f"{what}: divergent transitions", 0, float(found.statistics["diverging"].sum())),
            Row.below(f"{what}: mean of delta0, distance from the integral in errors", 4, abs(mean - expected) / error),
        ]
    return rows


def lag_one(chain: np.ndarray) -> float:
    """The autocorrelation of neighbours."""
    centred = chain - chain.mean()
    return float((centred[1:] * centred[:-1]).sum() / (centred**2).sum())


def honest_error_rows(settings: Settings) -> list[Row]:
    """V10: the distances of the draws from the integral in Monte Carlo errors have standard deviation 1."""
    seeds = 20 if settings.quick else 200
    z = repeated(settings, "monte-carlo-errors", one_distance, seeds)
    spread = float(np.sqrt((z**2).mean()))
    error = 1 / np.sqrt(2 * seeds)  # the three quantities of a seed are dependent
    low, high = (0.85, 1.15) if not settings.quick else (1 - 4 * error, 1 + 4 * error)
    return [Row(f"standard deviation of {z.size} distances of {seeds} seeds", f"{low:.2f} to {high:.2f}", spread, 0.0,
                bool(low <= spread <= high))]  # fmt: skip


def one_distance(generator: np.random.Generator) -> list[float]:
    """Distances of P(right), delta0's mean and P(delta0 > 0) for one seed."""
    fit = keel(*PAIRS[0]).fit(engine="auto", seed=int(generator.integers(2**31)), progress=False)
    frame = fit.diagnostics.verification.to_frame()
    chosen = frame.loc[["p_right", "expected_right", "p_positive"]]
    return list((chosen["draws"] - chosen["integral"]) / chosen["monte_carlo_error"])


def memory_rows(settings: Settings) -> list[Row]:
    """V27: growth of the resident memory over many fits, in a process that has done nothing else."""
    fits = 150 if settings.quick else 1000
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        growth = pool.submit(memory_growth, fits).result()
    return [Row.below(f"growth from fit 100 to fit {fits}, MB", 5, growth)]


def memory_growth(fits: int) -> float:
    """Megabytes that this process has more after so many fits than after 100."""
    comparison = keel(*PAIRS[0], datasets=6)
    for number in range(fits):
        if number == 100:
            gc.collect()
            before = resident()
        comparison.fit(engine="quadrature", seed=number, progress=False)
    gc.collect()
    return resident() - before


def resident() -> float:
    """Megabytes of this process; on Linux only."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def thread_rows(settings: Settings) -> list[Row]:
    """V25: fits in eight threads at once give what one thread gives."""
    fits = 8 if settings.quick else 24
    rows = []
    for engine in ("quadrature", "embedded"):
        comparison = keel(*PAIRS[0], datasets=6)
        task = partial(digest, comparison, engine)
        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(task, [0] * fits))
        what = f"{engine}: different answers of {fits} fits in 8 threads, and one alone"
        rows.append(Row.below(what, 1, len(found | {task(0)})))
    return rows


def digest(comparison: hc.HierarchicalComparison, engine: str, seed: int) -> str:
    """Of the whole answer."""
    plain = comparison.fit(engine=engine, seed=seed, progress=False).to_dict()
    return hashlib.sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def moment_rows(settings: Settings) -> list[Row]:
    """V17: means and standard deviations of NIST's univariate data sets that a formula makes, in correct digits."""
    rows = []
    for name, (values, mean, deviation, digits) in univariate().items():
        found = hc.PairedDifferences.from_arrays(np.zeros((1, len(values))), np.array([values]), rho=0.1)
        for what, ours, certified, wanted in (
            ("mean", float(found.mean[0]), mean, 12),
            ("standard deviation", float(found.standard_deviation[0]), deviation, digits),
        ):
            correct = 15.0 if ours == certified else -np.log10(abs(ours - certified) / abs(certified))
            rows.append(Row.at_least(f"{name}: correct digits of the {what}", wanted, correct))
    return rows


def univariate() -> dict[str, tuple[list[float], float, float, int]]:
    """Values, certified mean and standard deviation, and correct digits that doubles allow."""
    return {
        "NumAcc1": ([10000001.0, 10000003.0, 10000002.0], 10000002.0, 1.0, 12),
        "NumAcc2": ([1.2] + [1.1, 1.3] * 500, 1.2, 0.1, 12),
        "NumAcc3": ([1000000.2] + [1000000.1, 1000000.3] * 500, 1000000.2, 0.1, 7),
        "NumAcc4": ([10000000.2] + [10000000.1, 10000000.3] * 500, 10000000.2, 0.1, 7),
    }
