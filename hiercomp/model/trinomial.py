"""The trinomial likelihood of paired binary outcomes, the discordance integrated out: a mixture of Beta densities.

Equation numbers refer to docs/model.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray

# Shapes of the Beta prior (T2) on the share of the questions, those that delta_i accounts for left aside, on which one
# algorithm alone is right: uniform, as the three probabilities of the outcomes then are for any delta_i
PRIOR = (1.0, 1.0)


@dataclass(frozen=True, eq=False)
class HalfLikelihood:
    """The likelihood (T3) of one data set for 0 <= delta <= 1; for negative delta the two algorithms are exchanged.

    Attributes
    ----------
    losses, ties, wins : int
        Questions on which the algorithm that delta favours alone is wrong, on which both have the same outcome, and on
        which it alone is right.
    """

    losses: int
    ties: int
    wins: int

    @cached_property
    def log_weight(self) -> FloatArray:
        """Log of the factor of delta^(wins - k) (1 - delta)^(losses + ties + k), for k = 0, ..., wins (T3)."""
        from scipy import special

        a, b = PRIOR
        k = np.arange(self.wins + 1)
        choices = special.gammaln(self.wins + 1) - special.gammaln(k + 1) - special.gammaln(self.wins - k + 1)
        discordance = special.betaln(self.losses + k + a, self.ties + b) - special.betaln(a, b)
        return np.asarray(choices + discordance - (self.losses + k) * np.log(2))

    @cached_property
    def log_mass(self) -> FloatArray:
        """Log of the integral over delta of each of the terms."""
        from scipy import special

        k = np.arange(self.wins + 1)
        return np.asarray(self.log_weight + special.betaln(self.wins - k + 1, self.losses + self.ties + k + 1))

    def log_rising(self, delta: FloatArray) -> FloatArray:
        """Log likelihood less (losses + ties) log(1 - delta), shape of ``delta``: smooth up to delta = 1."""
        return np.asarray(np.logaddexp.reduce(self.log_terms(delta), axis=-1))

    def log_terms(self, delta: FloatArray) -> FloatArray:
        """The logs of the terms of that sum, shape (..., wins + 1)."""
        from scipy import special

        k = np.arange(self.wins + 1)
        delta = delta[..., None]
        return np.asarray(self.log_weight + special.xlogy(self.wins - k, delta) + special.xlog1py(k, -delta))

    @cached_property
    def moments(self) -> tuple[float, float, float]:
        """Log of the integral over delta, and the mean and the mean square of delta under the normalised likelihood."""
        log_total = float(np.logaddexp.reduce(self.log_mass))
        share = np.exp(self.log_mass - log_total)
        first, both = self.wins - np.arange(self.wins + 1) + 1.0, self.losses + self.ties + self.wins + 2.0
        return log_total, float(share @ (first / both)), float(share @ (first * (first + 1) / (both * (both + 1))))


def halves(counts: NDArray[np.int64]) -> tuple[HalfLikelihood, HalfLikelihood]:
    """For negative and for positive delta, from the numbers of differences -1, 0 and 1 of a data set."""
    minus, zero, plus = (int(count) for count in counts)
    return HalfLikelihood(plus, zero, minus), HalfLikelihood(minus, zero, plus)


def moments(counts: NDArray[np.int64]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log integral over delta of the likelihood of each data set, and the mean and standard deviation of delta.

    Parameters
    ----------
    counts : ndarray of int, shape (q, 3)
        Numbers of the differences -1, 0 and 1.

    Returns
    -------
    tuple of ndarray, shape (q,)

    Examples
    --------
    No discordant question among 30: the likelihood is (1 - abs(delta))^30 / 31.

    >>> log_total, mean, sd = moments(np.array([[0, 30, 0]]))
    >>> bool(np.isclose(np.exp(log_total[0]), 2 / 31**2)), mean.tolist(), sd.round(3).tolist()
    (True, [0.0], [0.044])
    """
    found = np.empty((3, len(counts)))
    for place, row in enumerate(counts):
        (log_below, mean_below, square_below), (log_above, mean_above, square_above) = (
            half.moments for half in halves(row)
        )
        log_total = np.logaddexp(log_below, log_above)
        below, above = np.exp(log_below - log_total), np.exp(log_above - log_total)
        mean = above * mean_above - below * mean_below
        found[:, place] = log_total, mean, np.sqrt(above * square_above + below * square_below - mean**2)
    return found[0], found[1], found[2]


def log_likelihood(counts: NDArray[np.int64], delta: FloatArray, sigma: FloatArray) -> FloatArray:
    """Log of the trinomial probability (T1) of the answers in their order, with d = sigma^2 + delta^2.

    Parameters
    ----------
    counts : ndarray of int, shape (q, 3)
    delta, sigma : ndarray, shape (..., q)
        Mean and standard deviation of a difference.

    Returns
    -------
    ndarray, shape (..., q)
    """
    from scipy import special

    return np.asarray(sum(special.xlogy(counts[:, place], share) for place, share in enumerate(shares(delta, sigma))))


def shares(delta: FloatArray, sigma: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probabilities of the differences -1, 0 and 1 with a mean and a standard deviation, each of their shape."""
    discordance = np.clip(sigma**2 + delta**2, np.abs(delta), 1.0)
    return (discordance - delta) / 2, 1 - discordance, (discordance + delta) / 2


def replicated_means(
    counts: NDArray[np.int64], delta: FloatArray, sigma: FloatArray, generator: np.random.Generator
) -> FloatArray:
    """Means of replicated data sets with as many questions, shape of ``delta``."""
    losses, wins = _replicated(counts, delta, sigma, generator)
    return np.asarray((wins - losses) / counts.sum(axis=1))


def replicated_standard_deviations(
    counts: NDArray[np.int64], delta: FloatArray, sigma: FloatArray, generator: np.random.Generator
) -> FloatArray:
    """Standard deviations of the differences of replicated data sets, shape of ``delta``."""
    losses, wins = _replicated(counts, delta, sigma, generator)
    n = counts.sum(axis=1)
    return np.asarray(np.sqrt((losses + wins - (wins - losses) ** 2 / n) / (n - 1)))


def _replicated(
    counts: NDArray[np.int64], delta: FloatArray, sigma: FloatArray, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often the differences -1 and 1 occur."""
    minus, _, plus = shares(delta, sigma)
    n = np.broadcast_to(counts.sum(axis=1), delta.shape)
    wins = generator.binomial(n, np.clip(plus, 0, 1))
    losses = generator.binomial(n - wins, np.clip(minus / np.maximum(1 - plus, np.finfo(float).tiny), 0, 1))
    return losses, wins
