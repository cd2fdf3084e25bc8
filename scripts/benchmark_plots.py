"""How long every plot takes, drawn and written as PNG, at 54 data sets and 4,000 draws.

python scripts/benchmark_plots.py                             # the bundled KEEL scores
python scripts/benchmark_plots.py --scores scores.csv.gz --left nbc --right j48
"""

from __future__ import annotations

import argparse
import io
import time
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from rich.console import Console
from rich.table import Table

import hiercomp as hc
from hiercomp import plots
from hiercomp.score_files import read_score_file


def seconds(function: Callable[[], Any]) -> float:
    """Least time of three, drawn and written."""
    from matplotlib import pyplot as plt

    times = []
    for _ in range(3):
        start = time.perf_counter()
        drawn = function()
        first = np.atleast_1d(drawn).ravel()[0]
        figure = first if isinstance(first, mpl.figure.Figure) else first.figure
        figure.savefig(io.BytesIO(), format="png")
        times.append(time.perf_counter() - start)
        plt.close("all")
    return min(times)


def main() -> None:
    """Print a table of times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores")
    parser.add_argument("--left", default="naive_bayes")
    parser.add_argument("--right", default="decision_tree")
    arguments = parser.parse_args()
    mpl.use("agg")
    warnings.simplefilter("ignore", hc.HiercompWarning)
    table = hc.load_scores("keel") if arguments.scores is None else read_score_file(arguments.scores)
    comparison = hc.HierarchicalComparison(table, arguments.left, arguments.right)
    result = comparison.fit("embedded", monte_carlo_error=None, progress=False)
    given, plot = result.differences, result.plot
    sensitivity = result.sensitivity(draws=250, warmup=500, monte_carlo_error=None)
    nemenyi = hc.nemenyi_test(np.random.default_rng(0).normal(size=(54, 8)))
    drawn: dict[str, Callable[[], Any]] = {
        "next_dataset": plot.next_dataset,
        "simplex": plot.simplex,
        "population": plot.population,
        "shrinkage": plot.shrinkage,
        "posterior": plot.posterior,
        "rope_curve": plot.rope_curve,
        "prior_sensitivity": lambda: plot.prior_sensitivity(sensitivity),
        "ppc": plot.ppc,
        "diagnostics": plot.diagnostics,
        "student": lambda: plots.plot_student(hc.correlated_t_test(given), given.datasets[0]),
        "poisson_binomial": lambda: plots.plot_poisson_binomial(hc.poisson_binomial_test(given)),
        "signed-rank simplex": lambda: plots.plot_sign_simplex(hc.bayesian_signed_rank_test(given)),
        "critical_difference": lambda: plots.plot_critical_difference(nemenyi),
    }
    shown = Table(title=f"{len(given.datasets)} data sets, {result.draws('delta0').size:,} draws")
    shown.add_column("plot")
    shown.add_column("seconds", justify="right")
    for name, function in drawn.items():
        shown.add_row(name, f"{seconds(function):.2f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
