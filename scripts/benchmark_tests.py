"""How long each closed-form and classical test takes at 54 data sets, and how that grows with q, n and draws.

Times are the least of several runs in one process; growth is the ratio of the times at twice or ten times the size.

    python scripts/benchmark_tests.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import hiercomp as hc

Q, N, RHO = 54, 100, 0.1


def seconds(function: Callable[[], Any], repeat: int = 3) -> float:
    """The least time of some runs, after one to warm up."""
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def tests(q: int, n: int, draws: int) -> dict[str, Callable[[], Any]]:
    """Every test on q data sets of n differences; the sampled ones with this many draws."""
    generator = np.random.default_rng(0)
    left = generator.normal(0.8, 0.02, size=(q, n))
    right = left + generator.normal(0.005, 0.03, size=(q, n))
    given = hc.PairedDifferences.from_arrays(left, right, rho=RHO)
    runs = (right - left).reshape(q, -1, 10)
    means = given.mean
    many = generator.random((q, 5))
    return {
        "correlated_t_test": lambda: hc.correlated_t_test(given),
        "corrected_t_test": lambda: hc.corrected_t_test(given),
        "calibrated_test, use all data": lambda: hc.calibrated_test(runs, df=10),
        "calibrated_test, sorted runs averaged T": lambda: hc.calibrated_test(
            runs, scheme="sorted runs averaged T", df=9
        ),
        "paired_t_test": lambda: hc.paired_t_test(given),
        "welch_t_test": lambda: hc.welch_t_test(given),
        "mann_whitney": lambda: hc.mann_whitney(given),
        "five_by_two_cv_f": lambda: hc.five_by_two_cv_f(runs.reshape(q, -1)[:, :10].reshape(q, 5, 2)),
        "poisson_binomial_test": lambda: hc.poisson_binomial_test(given),
        "poisson_binomial_test, sampling": lambda: hc.poisson_binomial_test(given, method="sampling", draws=2 * draws),
        "poisson_binomial_test, rope": lambda: hc.poisson_binomial_test(given, rope=0.01),
        "signed_rank_test": lambda: hc.signed_rank_test(means),
        "sign_test": lambda: hc.sign_test(means),
        "bayesian_sign_test": lambda: hc.bayesian_sign_test(means, draws=draws),
        "bayesian_signed_rank_test": lambda: hc.bayesian_signed_rank_test(means, draws=draws),
        "friedman_test, 5 algorithms": lambda: hc.friedman_test(many),
        "nemenyi_test, 5 algorithms": lambda: hc.nemenyi_test(many),
        "posthoc_test, Holm, 5 algorithms": lambda: hc.posthoc_test(many),
    }


def main() -> None:
    """Print times at the usual size, and ratios."""
    warnings.simplefilter("ignore", hc.HiercompWarning)
    usual, wide, long, drawn = (
        tests(*size) for size in ((Q, N, 50_000), (4 * Q, N, 50_000), (Q, 4 * N, 50_000), (Q, N, 200_000))
    )
    table = Table(title=f"{Q} data sets of {N} differences, 50,000 draws (100,000 tosses)")
    for name in ("test", "ms", "4 x data sets", "4 x differences", "4 x draws"):
        table.add_column(name, justify="left" if name == "test" else "right")
    for name, function in usual.items():
        base = seconds(function)
        ratios = [f"{seconds(other[name]) / base:.1f}" for other in (wide, long, drawn)]
        table.add_row(name, f"{1000 * base:.2f}", *ratios)
    console = Console()
    console.print(table)
    large = Table(title="Poisson-binomial, exact, probabilities uniform on (0, 1)")
    for name in ("data sets", "ms"):
        large.add_column(name, justify="right")
    for q in (100, 1_000, 10_000, 100_000):
        p = np.random.default_rng(1).random(q)
        large.add_row(f"{q:,}", f"{1000 * seconds(lambda p=p: hc.poisson_binomial_test(p)):.1f}")  # type: ignore[misc]
    console.print(large)
    signed = Table(title="Bayesian signed-rank, 50,000 draws")
    for name in ("data sets", "ms"):
        signed.add_column(name, justify="right")
    for q in (50, 500, 2_000):
        z = np.random.default_rng(1).normal(size=q)
        signed.add_row(f"{q:,}", f"{1000 * seconds(lambda z=z: hc.bayesian_signed_rank_test(z)):.0f}")  # type: ignore[misc]
    console.print(signed)


if __name__ == "__main__":
    main()
