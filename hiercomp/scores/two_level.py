"""Correlations that differ within and across runs, and the equal correlation that gives the same posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hiercomp.arguments import FloatArray
from hiercomp.errors import ArgumentError
from hiercomp.scores.runs import RunSums
from hiercomp.wording import shown

IntArray = NDArray[np.int64]
SMALLEST = 1e-9  # share of the variance of a run's mean below which it is rounding


@dataclass(frozen=True, eq=False)
class TwoLevel:
    """Correlations between the differences of each data set, within and across the runs of its cross-validation (R1).

    Attributes
    ----------
    within, across : ndarray, shape (q,)
    learnt : bool
        Whether ``within`` was estimated from the variation between and within runs.
    log_determinant_ratio : ndarray, shape (q,)
        Log of the determinant of (R1) over that with the equivalent equal correlation, which densities take.
    """

    within: FloatArray
    across: FloatArray
    learnt: bool
    log_determinant_ratio: FloatArray

    def subset(self, places: Sequence[int]) -> TwoLevel:
        """Those of some data sets."""
        chosen = list(places)
        return TwoLevel(self.within[chosen], self.across[chosen], self.learnt, self.log_determinant_ratio[chosen])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        arrays = {name: getattr(self, name).tolist() for name in ("within", "across", "log_determinant_ratio")}
        return arrays | {"learnt": self.learnt}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TwoLevel:
        """From the result of `to_dict`."""
        arrays = {name: np.array(plain[name], dtype=float) for name in ("within", "across", "log_determinant_ratio")}
        return cls(learnt=plain["learnt"], **arrays)


def equivalent(
    difference: FloatArray,
    dataset_names: Sequence[str],
    n: IntArray,
    run_starts: IntArray,
    within: FloatArray,
    across: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean, sum of squares and equal correlation with which (M1) is the likelihood under two correlations (R6).

    Parameters
    ----------
    difference : ndarray, shape (sum of n,)
        Contiguous by data set and run.
    dataset_names : sequence of str, length q
    n : ndarray of int, shape (q,)
    run_starts : ndarray of int
        The first place of each run of each data set.
    within, across : ndarray, shape (q,)
        Both at least 0 and below 1.

    Returns
    -------
    mean, sum_of_squares, rho, log_determinant_ratio : ndarray, shape (q,)
        ``mean`` weights the runs by their precision: it is the plain mean where all runs have as many folds.

    Raises
    ------
    ArgumentError
        If no scores can have such correlations.

    Examples
    --------
    >>> x, one = np.array([1.0, 3.0, 5.0, 9.0]), np.ones(1)
    >>> equivalent(x, ["a"], np.array([4]), np.array([0, 2]), 0.5 * one, 0.5 * one)[2]
    array([0.5])
    """
    starts = np.cumsum(n) - n
    k = np.diff(np.append(run_starts, len(difference)))
    first_runs = np.searchsorted(run_starts, starts)
    n_runs = np.diff(np.append(first_runs, len(run_starts)))
    dataset = np.repeat(np.arange(len(n)), n_runs)
    of_run = np.add.reduceat(difference, run_starts) / k
    squares = np.add.reduceat((difference - np.repeat(of_run, k)) ** 2, starts)
    w, a = within[dataset], across[dataset]
    whole = (1 - w) / k + w  # variance of the mean of a run
    variance = whole - np.where(n_runs[dataset] > 1, a, 0)  # without what all runs share
    impossible = variance <= SMALLEST * whole
    if impossible.any():
        i = int(dataset[np.argmax(impossible)])
        raise ArgumentError(
            f"Data set {shown(dataset_names[i])!r} can't have correlations of {within[i]:g} within and {across[i]:g} "
            f"across runs: the means of runs of {k[impossible][0]} folds would differ by nothing or less.",
            remedy="Raise the correlation within runs, or lower that across.",
            key="rho",
        )
    shared = np.where(n_runs > 1, across, 0.0)
    weight = np.bincount(dataset, 1 / variance, minlength=len(n))
    mean = np.bincount(dataset, of_run / variance, minlength=len(n)) / weight
    between = np.bincount(dataset, (of_run - mean[dataset]) ** 2 / variance, minlength=len(n))
    rho = (n * (1 / weight + shared) - 1) / np.maximum(n - 1, 1)
    rho = np.clip(rho, 0.0, np.nextafter(1.0, 0.0))  # up to rounding it is between the two correlations
    of_runs = (k - 1) * np.log1p(-w) + np.log(k * variance)
    log_determinant = np.bincount(dataset, of_runs, minlength=len(n)) + np.log1p(shared * weight)
    taken = np.log1p((n - 1) * rho) + (n - 1) * np.log1p(-rho)
    return mean, (1 - rho) * (squares / (1 - within) + between), rho, np.asarray(log_determinant - taken)


def learnt_within(
    runs: RunSums, n: IntArray, longest: IntArray, constant: NDArray[np.bool_], across: FloatArray
) -> FloatArray:
    """Correlation between folds of a run, from the variation between and within runs, pooled over the data sets.

    The ratio of the two mean squares of data set i is F with r - 1 and n - r degrees of freedom, times R_i; log R_i is
    normal over the data sets, with a flat prior on its mean and a standard half-normal one on its standard deviation. The
    posterior mean of log R_i, by sums over a grid, gives the correlation within runs by (R3). Data sets without several
    runs have the mean of all.

    Parameters
    ----------
    runs : RunSums
        Of q data sets.
    n, longest : ndarray of int, shape (q,)
        Differences of each data set, and folds of its longest run.
    constant : ndarray of bool, shape (q,)
        Data sets whose differences never vary.
    across : ndarray, shape (q,)
        The correlation between folds of different runs.

    Returns
    -------
    ndarray, shape (q,)

    Raises
    ------
    ArgumentError
        If no data set has two runs of two folds whose differences vary.
    """
    usable = runs.informative(constant)
    if not usable.any():
        raise ArgumentError(
            "rho='runs' learns from repeated cross-validation, and no data set has two runs of two folds whose differences "
            "vary within and between runs.",
            remedy="Leave rho out for 1/k, or pass it.",
            key="nothing_to_learn",
        )
    freedom = (runs.n_runs - 1)[usable].astype(float), (n - runs.n_runs)[usable].astype(float)
    ratio = (runs.between[usable] / freedom[0]) / (runs.within[usable] / freedom[1])
    log_ratio = np.full(len(n), np.nan)
    log_ratio[usable], log_ratio[~usable] = _pooled(ratio, *freedom)
    true = np.exp(log_ratio)
    within = (true - 1 + longest * across) / (longest - 1 + true)
    return np.where(longest > 1, np.clip(within, 0.0, None), across)


def _pooled(ratio: FloatArray, between: FloatArray, within: FloatArray) -> tuple[FloatArray, float]:
    """Posterior means of log R_i and of the mean of all, from ratios with these degrees of freedom."""
    log_ratio, centre, population, log_prior = _grid()
    x, d1, d2 = ratio[:, None] / np.exp(log_ratio), between[:, None], within[:, None]
    log_density = d1 / 2 * np.log(x) - (d1 + d2) / 2 * np.log(d2 + d1 * x)  # of log F, up to a constant
    highest = log_density.max(axis=1, keepdims=True)
    density = np.exp(log_density - highest).T  # (log_ratio, data sets)
    evidence = population @ density
    log_posterior = log_prior + np.log(evidence).sum(axis=1)
    weight = np.exp(log_posterior - special.logsumexp(log_posterior))
    means = (population @ (log_ratio[:, None] * density)) / evidence
    return weight @ means, float(weight @ centre)


@cache
def _grid() -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Log R of a data set; for each mean and deviation of the population, the mean, weights of log R and log prior."""
    log_ratio = np.linspace(-9, 5, 281)
    centre, deviation = (grid.ravel() for grid in np.meshgrid(np.linspace(-5, 3, 81), np.geomspace(0.05, 3, 20)))
    population = np.exp(-0.5 * ((log_ratio - centre[:, None]) / deviation[:, None]) ** 2)
    population /= population.sum(axis=1, keepdims=True)
    return log_ratio, centre, population, np.log(deviation) - deviation**2 / 2  # steps grow with the deviation
