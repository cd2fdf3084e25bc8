"""Every plot, the report, and the import of the package."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hiercomp as hc
from benchmarks.measure import Context, Row, alternately, in_fresh_process, seconds
from benchmarks.problems import real_comparison, simulated_table
from hiercomp import plots
from hiercomp.planning.plan import plan
from hiercomp.tournament import compare_all


def drawn_plots(context: Context) -> list[Row]:
    """Every plot, drawn and written as PNG, against an empty figure."""
    import matplotlib as mpl

    mpl.use("agg")
    return [
        Row(
            "plots",
            "an empty figure",
            name,
            "s",
            *alternately(
                seconds(lambda: _written(_empty)), seconds(lambda f=function: _written(f)), context.repetitions
            ),
        )
        for name, function in _plots(context).items()
    ]


def _plots(context: Context) -> dict[str, Callable[[], Any]]:
    comparison = real_comparison(context)
    draws = context.size(1000, 200)
    result = comparison.fit("embedded", draws=draws, monte_carlo_error=None, progress=False)
    given, plot = result.differences, result.plot
    sensitivity = result.sensitivity(draws=100, warmup=context.size(500, 100), monte_carlo_error=None, n_jobs=1)
    nemenyi = hc.nemenyi_test(np.random.default_rng(0).normal(size=(54, 8)))
    pairs = compare_all(simulated_table(*context.size((20, 30, 20), (3, 14, 20))), rope=0.01, n_jobs=1, progress=False)
    planned = plan(
        delta0=0.02, sigma0=0.01, standard_deviation=0.03, n_datasets=(14, 20), simulations=2, n_jobs=1, progress=False
    )
    regressed = hc.HierarchicalComparison.from_differences(
        given, covariates=_noise(given.dataset_names), rope=0.01
    ).fit("embedded", draws=draws, monte_carlo_error=None, progress=False)
    return {
        "next_dataset": plot.next_dataset,
        "simplex": plot.simplex,
        "population": plot.population,
        "shrinkage": plot.shrinkage,
        "pit": plot.pit,
        "correlation": plot.correlation,
        "effect": lambda: regressed.plot.effect("noise"),
        "posterior": plot.posterior,
        "rope_curve": plot.rope_curve,
        "sensitivity": lambda: plot.sensitivity(sensitivity),
        "ppc": plot.ppc,
        "diagnostics": plot.diagnostics,
        "student": lambda: plots.plot_student(hc.correlated_t_test(given), given.dataset_names[0]),
        "poisson_binomial": lambda: plots.plot_poisson_binomial(hc.poisson_binomial_test(given)),
        "signed-rank simplex": lambda: plots.plot_sign_simplex(hc.bayesian_signed_rank_test(given)),
        "critical_difference": lambda: plots.plot_critical_difference(nemenyi),
        "heatmap": pairs.plot.heatmap,
        "ranking": pairs.plot.ranking,
        "plan": lambda: plots.plot_plan(planned),
    }


def _noise(datasets: Sequence[str]) -> pd.DataFrame:
    values = np.random.default_rng(0).normal(size=len(datasets))
    return pd.DataFrame({"noise": values}, index=pd.Index(datasets, name="dataset"))


def _empty() -> Any:
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(3.5, 2.6), layout="constrained")[0]


def _written(function: Callable[[], Any]) -> None:
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    first = np.atleast_1d(function()).ravel()[0]
    figure = first if isinstance(first, mpl.figure.Figure) else first.figure
    figure.savefig(io.BytesIO(), format="png")
    plt.close("all")


def report(context: Context) -> list[Row]:
    """The HTML report of a comparison against the fit that it is of."""
    comparison = real_comparison(context)
    draws = context.size(1000, 200)

    def fit() -> hc.ComparisonResult:
        return comparison.fit("embedded", draws=draws, monte_carlo_error=None, progress=False)

    result = fit()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        measured = alternately(seconds(lambda: result.report(path, overwrite=True)), seconds(fit), context.repetitions)
        size = path.stat().st_size
    return [Row("report", "report", "the fit, embedded", "s", *measured, {"kB": size / 1000})]


IMPORT = """
import json, sys, time
started = time.perf_counter()
__import__(json.loads(sys.argv[1])[0])
print(json.dumps(time.perf_counter() - started))
"""


def importing(context: Context) -> list[Row]:
    """``import hiercomp`` against ``import numpy``, each in a fresh process."""
    measured = alternately(
        lambda: float(in_fresh_process(IMPORT, "hiercomp")),
        lambda: float(in_fresh_process(IMPORT, "numpy")),
        max(context.repetitions, 3),
    )
    return [Row("import", "import hiercomp", "import numpy", "s", *measured)]
