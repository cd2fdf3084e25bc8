"""Mean and standard deviation of the scores of each algorithm on each data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray


@dataclass(frozen=True, eq=False)
class ScoreMoments:
    """Mean, standard deviation and number of the finite scores, in the metric's units.

    Attributes
    ----------
    algorithms : tuple of str, length k
    dataset_names : tuple of str, length q
    mean, standard_deviation : ndarray, shape (q, k)
        The standard deviation has the divisor n - 1. NaN where there is no score, or only one.
    n : ndarray of int, shape (q, k)
        Number of scores.
    """

    algorithms: tuple[str, ...]
    dataset_names: tuple[str, ...]
    mean: FloatArray
    standard_deviation: FloatArray
    n: NDArray[np.int64]


def moments(scores: FloatArray, starts: NDArray[np.int64]) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Mean, standard deviation and number of the finite scores of each data set, each of shape (q, k).

    Parameters
    ----------
    scores : ndarray, shape (k, p)
        Those of a data set are contiguous.
    starts : ndarray of int, shape (q,)
        The first place of each data set.

    Examples
    --------
    >>> mean, sd, n = moments(np.array([[1.0, 3.0, 5.0, np.nan]]), np.array([0, 2]))
    >>> mean.ravel().tolist(), sd.ravel().round(3).tolist(), n.ravel().tolist()
    ([2.0, 5.0], [1.414, nan], [2, 1])
    """
    finite = np.isfinite(scores)
    n = np.add.reduceat(finite, starts, axis=1, dtype=np.int64)
    sums = np.add.reduceat(np.where(finite, scores, 0.0), starts, axis=1)
    mean = np.where(n > 0, sums / np.maximum(n, 1), np.nan)
    lengths = np.diff(np.append(starts, scores.shape[1]))
    deviations = np.where(finite, scores - np.repeat(mean, lengths, axis=1), 0.0)
    squares = np.add.reduceat(deviations**2, starts, axis=1)
    sd = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
    return mean.T, sd.T, n.T
