"""Markov chains: R-hat, effective sample sizes and Monte Carlo errors, of all parameters at once.

The definitions are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021, sections 3 and 4). ArviZ computes the same
numbers one parameter after the other, which takes as long as the integral of the whole posterior.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import special

from hiercomp.arguments import FloatArray

TAIL = 0.05
BLOCK = 16  # parameters that a thread works on at a time: what it holds fits the processor's cache
THREADS = 2  # NumPy leaves the interpreter alone while it sorts and transforms


def convergence(draws: FloatArray) -> dict[str, FloatArray]:
    """R-hat (NaN if it never moves) and the effective sample sizes of each parameter: r_hat, ess_bulk and ess_tail.

    Parameters
    ----------
    draws : ndarray, shape (chains, draws, parameters)
    """
    blocks = [draws[:, :, start : start + BLOCK] for start in range(0, draws.shape[2], BLOCK)]
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(_convergence_of_block, blocks))
    return {name: np.concatenate([block[name] for block in found]) for name in found[0]}


def _convergence_of_block(draws: FloatArray) -> dict[str, FloatArray]:
    values = np.ascontiguousarray(np.moveaxis(draws, 2, 0), dtype=float)
    halves = _halves(values)
    scores, folded = _normal_scores(halves)
    quantiles = np.quantile(values, [TAIL, 1 - TAIL], axis=(1, 2), keepdims=True)
    tails = [_effective_sizes(_halves((values <= quantile).astype(float))) for quantile in quantiles]
    found = {
        "r_hat": np.maximum(_r_hat(scores), _r_hat(folded)),
        "ess_bulk": _effective_sizes(scores),
        "ess_tail": np.minimum(*tails),
    }
    unknown = np.isnan(values).any(axis=(1, 2))
    return {name: np.where(unknown, np.nan, each) for name, each in found.items()}


def effective_size_of_mean(values: FloatArray) -> float:
    """The number of independent draws whose mean would be as exact; that of all draws if they never change.

    Parameters
    ----------
    values : ndarray, shape (chains, draws)
    """
    return float(_effective_sizes(_halves(np.asarray(values, dtype=float)[None]))[0])


def error_of_mean(values: FloatArray) -> float:
    """The Monte Carlo standard error of the mean of draws, shape (chains, draws)."""
    return float(np.std(values, ddof=1) / np.sqrt(effective_size_of_mean(values)))


def error_of_median(values: FloatArray) -> float:
    """The Monte Carlo standard error of the median of draws, shape (chains, draws): half a 68% interval (section 4.4)."""
    size = effective_size_of_mean((values <= np.median(values)).astype(float))
    one_sd = special.ndtr([-1.0, 1.0])
    lower, upper = special.betaincinv(size / 2 + 1, size / 2 + 1, one_sd) * values.size - 1
    ordered = np.sort(values, axis=None)
    first, last = int(np.floor(max(lower, 0))), int(np.ceil(min(upper, values.size - 1)))
    return float(ordered[last] - ordered[first]) / 2


def energy_fraction(energy: FloatArray) -> float:
    """The smallest energy Bayesian fraction of missing information (E-BFMI) of the chains.

    Parameters
    ----------
    energy : ndarray, shape (chains, draws)
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # a chain that never moves
        return float(np.min(np.mean(np.diff(energy, axis=1) ** 2, axis=1) / np.var(energy, axis=1, ddof=1)))


def _halves(values: FloatArray) -> FloatArray:
    """Each chain as two; shape (parameters, chains, draws) becomes (parameters, 2 chains, draws / 2)."""
    half = values.shape[2] // 2
    return np.concatenate([values[:, :, :half], values[:, :, -half:]], axis=1)


def _normal_scores(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Normal scores of the ranks of each parameter's draws, and of the ranks of their distances from its median."""
    flat = values.reshape(len(values), -1)
    size = flat.shape[1]
    scores, folded = np.empty(flat.shape), np.empty(flat.shape)
    of_rank = special.ndtri((np.arange(2, 2 * size + 1) / 2 - 3 / 8) / (size + 1 / 4))  # of 1, 1.5, 2, ...
    for parameter, each in enumerate(flat):
        order = np.argsort(each)
        ordered = each[order]
        median = ordered[size // 2 - 1 : size // 2 + 1].mean()  # of an even number: the chains come in halves
        distance = np.abs(ordered - median)
        nearest = np.argsort(distance, kind="stable")  # the distances fall and rise: two runs to merge
        scores[parameter, order] = _in_order(ordered, of_rank)
        folded[parameter, order[nearest]] = _in_order(distance[nearest], of_rank)
    return scores.reshape(values.shape), folded.reshape(values.shape)


def _in_order(ordered: FloatArray, of_rank: FloatArray) -> FloatArray:
    """The normal scores of one parameter's values in ascending order; ties share the mean of their ranks."""
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    counts = np.diff(starts, append=len(ordered))
    return np.repeat(of_rank[2 * starts + counts - 1], counts)


def _r_hat(values: FloatArray) -> FloatArray:
    """The root of the ratio of the variance of all draws, as estimated, to that within chains."""
    draws = values.shape[2]
    within = np.var(values, axis=2, ddof=1).mean(axis=1)
    between = draws * np.var(values.mean(axis=2), axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # a parameter that never moves
        ratio: FloatArray = np.sqrt((draws - 1 + between / within) / draws)
    return ratio


def _effective_sizes(values: FloatArray) -> FloatArray:
    """Effective sample sizes of the means of chains that are already halved, by Geyer's monotone sequence (section 3.2).

    Parameters
    ----------
    values : ndarray, shape (parameters, chains, draws)
    """
    chains, draws = values.shape[1:]
    covariance = _autocovariance(values)
    within = covariance[:, 0] * draws / (draws - 1)
    total = covariance[:, 0] + np.var(values.mean(axis=2), axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # a parameter that never moves
        correlation = 1 - (within[:, None] - covariance) / total[:, None]
    correlation[:, 0] = 1
    pairs = correlation[:, : 2 * max((draws - 1) // 2, 1)].reshape(len(values), -1, 2)
    sums = pairs.sum(axis=2)
    ends = ~(sums > 0)
    ends[:, -1] = True
    rows, end = np.arange(len(values)), np.argmax(ends, axis=1)  # the first pair whose sum is not positive, or the last
    monotone = np.cumsum(np.minimum.accumulate(sums, axis=1), axis=1)
    times = -1 + 2 * np.where(end > 0, monotone[rows, end - 1], 0) + np.maximum(pairs[rows, end, 0], 0)
    sizes = chains * draws / np.maximum(times, 1 / np.log10(chains * draws))
    return np.where(np.isnan(total), np.nan, np.where(np.ptp(values, axis=(1, 2)) == 0, chains * draws, sizes))


def _autocovariance(values: FloatArray) -> FloatArray:
    """Autocovariances of each lag, the mean over chains, shape (parameters, draws)."""
    draws = values.shape[2]
    length = 2 ** int(np.ceil(np.log2(2 * draws)))
    spectrum = np.fft.rfft(values - values.mean(axis=2, keepdims=True), n=length, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    covariance: FloatArray = np.fft.irfft(power, n=length, axis=1)[:, :draws] / draws
    return covariance
