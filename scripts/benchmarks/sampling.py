"""The closed quadratic form, the engines, and rivals: how long for how exact an answer."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import chdir
from importlib.metadata import version as installed_version
from importlib.util import find_spec

import numpy as np

import hiercomp as hc
from benchmarks.measure import Context, Row, alternately, in_fresh_process, seconds
from benchmarks.problems import paired_scores, real_comparison
from hiercomp.engines import ENGINES, Engine, SamplerSettings
from hiercomp.model.priors import Priors
from hiercomp.model.programs import StanProgram
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.diagnostics import diagnose
from hiercomp.posterior.fit import WARMUP_BESIDE_INTEGRAL

POPULATION = ("delta0", "sigma0", "nu")
ACCURACY = 0.001  # Monte Carlo standard error


def closed_form(context: Context) -> list[Row]:
    """The closed form against the paper's matrix form, for each effective draw, with every sampler that works here."""
    comparison = real_comparison(context)
    model = HierarchicalModel.of(comparison.differences, Priors())
    left, right = paired_scores(context, comparison)
    warmup, draws = context.size((1000, 1000), (200, 200))
    settings = SamplerSettings(4, warmup, draws, 0, progress=False)
    matrix = _matrix_form(model, (right - left) / model.unit, settings)
    closed = model.program(model.centred(), settings.chains, settings.seed)
    rows = []
    for name, engine in ENGINES.items():
        if name not in ("embedded", "cmdstan") or engine.why_unavailable() is not None:
            continue
        for program in (closed, matrix) if name == "cmdstan" else ():
            engine.sample(program, SamplerSettings(warmup=100, draws=100, progress=False))  # compiles it
        measured = alternately(
            _cost(engine, closed, settings), _cost(engine, matrix, settings), context.repetitions, warm=False
        )
        details = {"data sets": len(left), "scores of a data set": left.shape[1], "draws": 4 * draws}
        rows.append(
            Row(
                "closed_form",
                f"closed form, {engine.version()}",
                "matrix form of the paper",
                "ms for each effective draw",
                *measured,
                details,
            )
        )
    return rows


def _matrix_form(model: HierarchicalModel, x: np.ndarray, settings: SamplerSettings) -> StanProgram:
    """The paper's program for the same data, prior and initial values; always centred."""
    closed = model.program(np.ones(len(x), dtype=bool), settings.chains, settings.seed)
    shared = ("q", "delta0_bound", "sigma_upper", "sigma0_upper", "nu_lower", "alpha_limits", "beta_limits")
    data = {name: closed.data[name] for name in shared} | {"n": x.shape[1], "x": x, "rho": float(model.rho[0])}
    starts = []
    for start in closed.initial_values:
        values = {name: value for name, value in start.items() if name not in ("z", "delta0_deviation")}
        delta = values.pop("delta_centred")
        starts.append(values | {"delta": delta, "delta0": float(np.median(delta))})
    # The reference samples the logit of delta0 between its bounds, not a deviation
    variance = (2 / model.delta0_bound) ** 2 / (1 / (model.squared_standard_error + np.var(model.mean))).sum()
    metric = np.append(variance, closed.inverse_metric[1:])
    return StanProgram("reference_quadratic_form", data, tuple(starts), metric, closed.variables)


def _cost(engine: Engine, program: StanProgram, settings: SamplerSettings) -> Callable[[], float]:
    """Milliseconds for each effective draw: the smallest bulk effective sample size of delta0, sigma0 and nu."""

    def run() -> float:
        started = time.perf_counter()
        draws = engine.sample(program, settings)
        spent = time.perf_counter() - started
        return 1000 * spent / diagnose({key: draws.variables[key] for key in POPULATION}, draws.statistics).ess_bulk

    return run


def equal_accuracy(context: Context) -> list[Row]:
    """The quadrature engine against the draws that the embedded engine needs for a Monte Carlo error of 0.001."""
    comparison = real_comparison(context)
    draws = context.size(4000, 500)
    errors: list[float] = []

    def sampled() -> float:
        started = time.perf_counter()
        result = comparison.fit("embedded", draws=draws, monte_carlo_error=None, progress=False)
        spent = time.perf_counter() - started
        errors.append(_largest_error(result))
        return spent * (errors[-1] / ACCURACY) ** 2

    def integrated() -> None:
        _ = comparison.fit("quadrature", progress=False).next_dataset

    measured = alternately(seconds(integrated), sampled, context.repetitions)
    details = {
        "data sets": len(comparison.differences.dataset_names),
        "draws": 4 * draws,
        "Monte Carlo error of these": float(np.median(errors)),
        "extrapolated": f"seconds x (error/{ACCURACY:g})^2, warmup included",
    }
    return [
        Row(
            "equal_accuracy", "quadrature", f"embedded, to a Monte Carlo error of {ACCURACY:g}", "s", *measured, details
        )
    ]


def _largest_error(result: hc.ComparisonResult) -> float:
    seen = result.next_dataset
    return seen.largest_error


FIT = """
import json, sys, time, warnings
[engine, small, scores, left, right] = json.loads(sys.argv[1])
from pathlib import Path
from benchmarks.measure import Context, peak_megabytes
from benchmarks.problems import real_comparison
context = Context(small, None if scores is None else Path(scores), left, right, frozenset(), 1)
comparison = real_comparison(context)
warnings.simplefilter("ignore")
started = time.perf_counter()
result = comparison.fit(engine, progress=False)
result.next_dataset
spent = time.perf_counter() - started
print(json.dumps([spent, peak_megabytes()]))
"""


def first_fit(context: Context) -> list[Row]:
    """The first fit of a process, with the imports that it causes; its scores are read before."""
    memory: dict[str, list[float]] = {"quadrature": [], "auto": []}

    def run(engine: str) -> Callable[[], float]:
        def measured() -> float:
            scores = None if context.scores is None else str(context.scores.resolve())
            arguments = (engine, context.small, scores, context.left, context.right)
            spent, peak = in_fresh_process(FIT, *arguments)
            memory[engine].append(peak)
            return float(spent)

        return measured

    measured = alternately(run("quadrature"), run("auto"), context.repetitions, warm=False)
    details = {f"MB at the peak, {engine}": float(np.median(values)) for engine, values in memory.items()}
    return [Row("first_fit", "first fit, quadrature", "first fit, auto", "s", *measured, details)]


CHAINS, WARMUP, DRAWS = 4, 1000, 1000  # of all samplers compared


def baycomp(context: Context) -> list[Row]:
    """Baycomp's hierarchical test, with its model compiled before; its cache of results is kept out of the way."""
    if "baycomp" not in context.rivals:
        return []
    _need("baycomp", "stan", command="pip install baycomp 'pystan>=3.4'")
    import baycomp as rival

    comparison = real_comparison(context)
    left, right = paired_scores(context, comparison)
    rope, runs = comparison.rope.upper, left.shape[1] // 10

    def theirs() -> None:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):  # it pickles into the working directory
            rival.HierarchicalTest.probs(left, right, rope, runs=runs, chains=CHAINS, nsamples=context.size(DRAWS, 100))

    return _against(context, comparison, theirs, "baycomp", "baycomp.HierarchicalTest")


def bayes_testkit(context: Context) -> list[Row]:
    """The hierarchical test of Bayes Test Kit, which samples with PyMC."""
    if "bayes-testkit" not in context.rivals:
        return []
    _need("btk", command="pip install bayes-testkit")
    import pandas as pd
    from btk import HierarchicalTTest

    comparison = real_comparison(context)
    left, right = paired_scores(context, comparison)
    names = np.repeat(comparison.differences.dataset_names, left.shape[1])
    frame = pd.DataFrame({"dataset": names, "left": left.ravel(), "right": right.ravel()})
    rho = float(comparison.differences.rho[0])
    draws, warmup = context.size((DRAWS, WARMUP), (100, 100))

    def theirs() -> None:
        test = HierarchicalTTest(rope=comparison.rope.upper)
        test.fit(frame, rho=rho, draws=draws, tune=warmup, chains=CHAINS, progressbar=False, random_seed=1)
        test.decision_table()

    return _against(context, comparison, theirs, "bayes-testkit", "btk.HierarchicalTTest")


def _need(*modules: str, command: str) -> None:
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise SystemExit(f"{' and '.join(missing)} can't be imported: {command}.")


def _against(
    context: Context, comparison: hc.HierarchicalComparison, theirs: Callable[[], None], package: str, name: str
) -> list[Row]:
    """Rows of the two fits of this package against another's."""
    details = {
        "data sets": len(comparison.differences.dataset_names),
        "version": installed_version(package),
        "draws": f"{CHAINS} chains of {DRAWS:,} after {WARMUP:,} of warmup; "
        f"as many by the engine auto, after {WARMUP_BESIDE_INTEGRAL}",
    }
    rows = []
    for engine in ("quadrature", "auto"):
        measured = alternately(
            seconds(lambda engine=engine: comparison.fit(engine, progress=False).next_dataset),
            seconds(theirs),
            context.repetitions,
        )
        rows.append(Row(package.replace("-", "_"), f"fit, engine {engine}", name, "s", *measured, details))
    return rows
