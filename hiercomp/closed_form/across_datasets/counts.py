"""Distributions of counts of independent, unequal trials, exact or sampled: Poisson-binomial and trinomial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.rope import most_probable_shares

LEAF = 64  # trials convolved in extended precision before the vectors are long
SAMPLED_AT_ONCE = 4_000_000  # uniform numbers, 32 MB
SCALE = 500  # powers of two between a stored vector and its probabilities, so that tails do not underflow
SMALLEST = 2.0 ** (SCALE - 1100)  # what is below 2^-1100 of a probability of 1 can't matter to a tail above 1e-300


@dataclass(frozen=True)
class PoissonBinomial:
    """Distribution of the number of successes of q independent trials with their own probabilities.

    Attributes
    ----------
    trials : int
        q.
    scaled : ndarray, shape (q + 1,)
        Probabilities of 0, ..., q successes times 2^500: none of a size that matters underflows.
    """

    trials: int
    scaled: FloatArray

    @property
    def pmf(self) -> FloatArray:
        """P(X = k), k = 0, ..., q."""
        return np.asarray(np.ldexp(self.scaled, -SCALE))

    @property
    def cdf(self) -> FloatArray:
        """P(X <= k), summed from below."""
        sums = np.cumsum(self.scaled, dtype=np.longdouble)
        return np.asarray(np.ldexp(sums.astype(float), -SCALE))

    @property
    def sf(self) -> FloatArray:
        """P(X > k), summed from above."""
        sums = np.cumsum(self.scaled[:0:-1], dtype=np.longdouble)[::-1]
        return np.append(np.ldexp(sums.astype(float), -SCALE), 0.0)

    def halves(self) -> tuple[float, float, float]:
        """P(X < q/2), P(X = q/2), P(X > q/2); each is a sum of its own terms."""
        below = self.scaled[: (self.trials + 1) // 2]
        above = self.scaled[self.trials // 2 + 1 :]
        equal = self.scaled[self.trials // 2] if self.trials % 2 == 0 else 0.0
        return _total(below), float(np.ldexp(equal, -SCALE)), _total(above)


def poisson_binomial(success: FloatArray, failure: FloatArray) -> PoissonBinomial:
    """Convolve the trials by divide and conquer, without Fourier transforms.

    All terms are positive and nothing is subtracted, so that every probability keeps its relative accuracy however
    small it is. Vectors are trimmed to what can matter, which makes them about 50 sqrt(q) long.

    Parameters
    ----------
    success, failure : ndarray, shape (q,)
        Probability of success and of failure of each trial. Both are given, because 1 - p has no digits where p is
        near 1.

    Returns
    -------
    PoissonBinomial
    """
    trials = len(success)
    padding = -trials % LEAF
    # Rounding of equal trials adds up in one direction, so the first levels are done in extended precision
    extended = np.longdouble
    pairs = np.stack(
        [
            np.concatenate([failure.astype(extended), np.ones(padding, extended)]),
            np.concatenate([success.astype(extended), np.zeros(padding, extended)]),
        ],
        axis=1,
    )
    exact = np.where(success <= 0.5, 1 - success.astype(extended), failure)  # failure may be 1 - success, rounded
    pairs[:trials, 0] = np.where(failure == 1 - success, exact, pairs[:trials, 0])
    while pairs.shape[1] <= LEAF // 2 + 1:
        pairs = _pairwise(pairs[0::2], pairs[1::2])
    vectors = [_trim(0, np.ldexp(row, SCALE).astype(float)) for row in pairs]
    while len(vectors) > 1:
        merged = [_convolve(a, b) for a, b in zip(vectors[0::2], vectors[1::2], strict=False)]
        vectors = merged + vectors[len(vectors) - len(vectors) % 2 :]
    start, values = vectors[0]
    scaled = np.zeros(max(trials + 1, start + len(values)))
    scaled[start : start + len(values)] = values
    return PoissonBinomial(trials, scaled[: trials + 1])


def trinomial(regions: FloatArray) -> FloatArray:
    """Joint distribution of how many data sets fall left and right, the others falling in the rope.

    Parameters
    ----------
    regions : ndarray, shape (q, 3)
        Probabilities of left, rope and right of each data set.

    Returns
    -------
    ndarray, shape (q + 1, q + 1)
        P(left count = i, right count = j).
    """
    q = len(regions)
    joint = np.zeros((q + 1, q + 1), dtype=np.longdouble)
    joint[0, 0] = 1
    for done, (left, rope, right) in enumerate(regions, start=1):
        before = joint[:done, :done].copy()
        joint[: done + 1, : done + 1] *= rope
        joint[1 : done + 1, :done] += left * before
        joint[:done, 1 : done + 1] += right * before
    return joint.astype(float)


def most_frequent(joint: FloatArray) -> tuple[float, float, float]:
    """Probability that left, rope, right is the most frequent region; ties are shared equally."""
    q = len(joint) - 1
    left, right = np.indices(joint.shape)
    possible = left + right <= q
    counts = np.stack([left, q - left - right, right], axis=-1)[possible].astype(float)
    total = (joint[possible][:, None] * most_probable_shares(counts)).sum(axis=0)
    return float(total[0]), float(total[1]), float(total[2])


def sampled_wins(success: FloatArray, draws: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of successes of ``draws`` repetitions of q trials, shape (draws,); memory is bounded."""
    return np.concatenate([(uniform < success).sum(axis=1) for uniform in _uniform(len(success), draws, generator)])


def sampled_most_frequent(
    regions: FloatArray, draws: int, generator: np.random.Generator
) -> tuple[tuple[float, float, float], list[float]]:
    """What `most_frequent` gives, by ``draws`` repetitions, and the Monte Carlo standard errors."""
    q = len(regions)
    left_below, right_above = regions[:, 0], regions[:, 0] + regions[:, 1]
    total, squares = np.zeros(3), np.zeros(3)
    for uniform in _uniform(q, draws, generator):
        left, right = (uniform < left_below).sum(axis=1), (uniform >= right_above).sum(axis=1)
        won = most_probable_shares(np.stack([left, q - left - right, right], axis=1).astype(float))
        total += won.sum(axis=0)
        squares += (won**2).sum(axis=0)
    shares = total / draws
    errors = np.sqrt(np.maximum(squares / draws - shares**2, 0) / draws)
    return (float(shares[0]), float(shares[1]), float(shares[2])), errors.tolist()


def _uniform(q: int, draws: int, generator: np.random.Generator) -> Iterator[FloatArray]:
    """Batches of uniform numbers, shape (some, q), ``draws`` rows in all."""
    batch = max(1, SAMPLED_AT_ONCE // q)
    for start in range(0, draws, batch):
        yield generator.random((min(batch, draws - start), q))


def _pairwise(a: NDArray[np.longdouble], b: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
    """Convolve the rows of two matrices of one shape."""
    rows, width = a.shape
    product = np.zeros((rows, 2 * width - 1), dtype=a.dtype)
    for shift in range(width):
        product[:, shift : shift + width] += a[:, shift : shift + 1] * b
    return product


def _convolve(a: tuple[int, FloatArray], b: tuple[int, FloatArray]) -> tuple[int, FloatArray]:
    return _trim(a[0] + b[0], np.ldexp(np.convolve(a[1], b[1]), -SCALE))


def _trim(start: int, values: FloatArray) -> tuple[int, FloatArray]:
    kept = np.flatnonzero(values >= SMALLEST)
    return start + int(kept[0]), values[kept[0] : kept[-1] + 1]


def _total(scaled: FloatArray) -> float:
    return float(np.ldexp(np.sum(scaled, dtype=np.longdouble).astype(float), -SCALE))
