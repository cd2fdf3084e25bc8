"""The closed-form and classical tests: against SciPy, and how their cost grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import hiercomp as hc
from benchmarks.measure import Context, Row, alternately, seconds
from benchmarks.problems import RHO, SCORES


def poisson_binomial(context: Context) -> list[Row]:
    """The exact distribution of the number of data sets, against SciPy's; the same probabilities."""
    rows = []
    for q in context.size((54, 1000, 5000), (54,)):
        p = np.random.default_rng(1).random(q)
        measured = alternately(
            seconds(lambda p=p: hc.poisson_binomial_test(p)),
            seconds(lambda p=p, q=q: stats.poisson_binom.pmf(np.arange(q + 1), p)),
            max(context.repetitions, 3),
        )
        details = {"note": "ours has the counts, the intervals and the tails too"}
        rows.append(Row("poisson_binomial", f"poisson_binomial_test, {q:,} data sets", "scipy.stats.poisson_binom.pmf", "s",
                        *measured, details))  # fmt: skip
    return rows


def signed_rank(context: Context) -> list[Row]:
    """The Bayesian signed-rank test against its definition, a sum over all pairs for each draw of the weights."""
    draws = context.size(5000, 500)
    rows = []
    for q in context.size((54, 500), (54,)):
        z = np.random.default_rng(1).normal(size=q)
        measured = alternately(
            seconds(lambda z=z: hc.bayesian_signed_rank_test(z, rope=0.1, draws=draws)),
            seconds(lambda z=z: _signed_rank_by_definition(z, 0.1, draws)),
            context.repetitions,
        )
        named = f"bayesian_signed_rank_test, {q} data sets, {draws:,} draws"
        rows.append(Row("signed_rank", named, "the sum over all pairs", "s", *measured))
    return rows


def _signed_rank_by_definition(z: np.ndarray, rope: float, draws: int) -> np.ndarray:
    """Probabilities of left, rope and right for each draw of Dirichlet weights, with a pseudo-observation at 0."""
    values = np.concatenate([[0.0], z])
    sums = values[:, None] + values
    left, right = (sums < -2 * rope).astype(float), (sums > 2 * rope).astype(float)
    weights = np.random.default_rng(0).dirichlet(np.r_[0.5, np.ones(len(z))], draws)
    found = np.empty((draws, 3))
    for place, weight in enumerate(weights):
        found[place, 0], found[place, 2] = weight @ left @ weight, weight @ right @ weight
    found[:, 1] = 1 - found[:, 0] - found[:, 2]
    return found


def tests(context: Context) -> list[Row]:
    """Every test with four times as many data sets."""
    q, n, draws = context.size((54, SCORES, 50_000), (10, 20, 1000))
    usual, wide = _tests(q, n, draws), _tests(4 * q, n, draws)
    return [
        Row(
            "tests",
            f"{name}, {q} data sets",
            f"{4 * q} data sets",
            "s",
            *alternately(seconds(function), seconds(wide[name]), max(context.repetitions, 3)),
        )
        for name, function in usual.items()
    ]


def _tests(q: int, n: int, draws: int) -> dict[str, Callable[[], Any]]:
    """Every test on q data sets of n differences; the sampled ones with this many draws."""
    generator = np.random.default_rng(0)
    left = generator.normal(0.8, 0.02, size=(q, n))
    right = left + generator.normal(0.005, 0.03, size=(q, n))
    given = hc.PairedDifferences.from_arrays(left, right, rho=RHO)
    runs = (right - left).reshape(q, -1, 10)
    means = given.mean
    many = generator.random((q, 5))
    scheme = "sorted runs averaged T"
    return {
        "correlated_t_test": lambda: hc.correlated_t_test(given),
        "corrected_t_test": lambda: hc.corrected_t_test(given),
        "calibrated_test, use all data": lambda: hc.calibrated_test(runs, df=10),
        f"calibrated_test, {scheme}": lambda: hc.calibrated_test(runs, scheme=scheme, df=9),
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
