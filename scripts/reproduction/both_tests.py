"""The hierarchical model and the signed-rank test on simulated differences, as the simulations of 2017 use them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

import hiercomp as hc

FLOATS = npt.NDArray[np.float64]
FOLDS = 10
ROPE = 0.01
LEVEL = 0.05


def signed_rank_p(means: FLOATS) -> float:
    """Two-sided p; zeros are dropped and the normal approximation is corrected, as by default in R."""
    return hc.signed_rank_test(means, zero_method="wilcox", correction=True).pvalue


def fitted(x: FLOATS, draws: int = 1000, *, population_only: bool = False) -> hc.ComparisonResult:
    """The integrated posterior, from which four chains of ``draws`` can be drawn.

    Parameters
    ----------
    x : ndarray, shape (data sets, n)
        Differences of accuracy, right minus left.
    draws : int
        Of each chain; 1,000 as in the program.
    population_only : bool
        Whether draws of delta_i are left out.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        # Scores in [0, 1] that have these differences: delta0 is then between -1 and 1, as in the paper
        comparison = hc.HierarchicalComparison.from_arrays((1 - x) / 2, (1 + x) / 2, rope=ROPE, rho=1 / FOLDS)
        keep: Literal["population", "all"] = "population" if population_only else "all"
        return comparison.fit("quadrature", draws=draws, keep=keep, progress=False)


def probabilities(result: hc.ComparisonResult) -> tuple[float, ...]:
    """P(left), P(rope) and P(right) on the next data set, by integration, then those of delta0, by draws."""
    seen, delta0 = result.next_dataset, result.draws("delta0")
    left, right = float(np.mean(delta0 < -ROPE)), float(np.mean(delta0 > ROPE))
    return seen.p_left, seen.p_rope, seen.p_right, left, 1 - left - right, right


def shrunken(result: hc.ComparisonResult) -> FLOATS:
    """Posterior means of delta_i."""
    return result.datasets()["posterior_mean"].to_numpy(dtype=np.float64)


@dataclass(frozen=True)
class Columns:
    """Where three probabilities stand behind a p-value."""

    name: str
    left: int
    rope: int
    right: int


P_VALUE = 0
NEXT = Columns("next data set", 1, 2, 3)
DELTA0 = Columns("delta0", 4, 5, 6)
