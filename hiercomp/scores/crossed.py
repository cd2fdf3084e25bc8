"""The variance of a mean over two crossed groupings, such as questions and training seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.errors import ScoreTableError
from hiercomp.scores.problems import SMALLEST_N
from hiercomp.wording import shown

RELATIVE = 1e-10  # of the largest singular value: what is below is zero, up to rounding


def crossed_variance(
    values: FloatArray, first: NDArray[Any], second: NDArray[Any], dataset: str
) -> tuple[FloatArray, int]:
    """Variance of the mean of values that share an effect by each of two crossed groupings (G2), and its n (G3).

    Parameters
    ----------
    values : ndarray, shape (n, k)
        k variables, such as the difference of two algorithms.
    first, second : ndarray, shape (n,)
        The groups of each value, three or more of each. A pair of groups may have any number of values, or none.
    dataset : str
        Its name, for errors.

    Returns
    -------
    variance : ndarray, shape (k, k)
        Of the means: V_1 + V_2 - V_E, V_1 and V_2 the cluster-robust (CR1) variances by one grouping. For balanced values it
        is (MS_first + MS_second - MS_error) over their number. What each grouping adds to V_E is at least 0.
    n : int
        1 + the degrees of freedom by Satterthwaite, rounded and at least 3: so many independent values would tell as much
        about the variance.

    Raises
    ------
    ScoreTableError
        If a grouping has fewer than three groups, or they aren't crossed.

    References
    ----------
    Cameron, Gelbach & Miller, "Robust inference with multiway clustering", Journal of Business & Economic Statistics 29
    (2011); Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2 (1946).

    Examples
    --------
    Three questions with three seeds, and a seed that is worse on all of them:

    >>> question, seed = np.divmod(np.arange(9), 3)
    >>> values = np.array([0.1, 0.0, -0.3, 0.4, 0.1, 0.0, 0.3, 0.3, -0.1])[:, None]
    >>> variance, n = crossed_variance(values, question, seed, "quiz")
    >>> variance.round(4).tolist(), n
    ([[0.019]], 4)
    """
    first, second = (np.unique(each, return_inverse=True)[1] for each in (first, second))
    if second.max() > first.max():
        first, second = second, first
    q, s = int(first.max()) + 1, int(second.max()) + 1
    if s < SMALLEST_N:
        raise ScoreTableError(
            f"Data set {shown(dataset)!r} has {q:,} x {s} crossed groups of scores, and each column needs {SMALLEST_N}.",
            remedy="Only the differences between groups say how precise a mean is: add some, or pass one column alone.",
            places=(dataset,),
            key="few_scores",
        )
    cells, place = np.unique(first * s + second, return_inverse=True)
    count = len(cells)
    row, column = np.divmod(cells, s)
    e = _sums(values - values.mean(axis=0), place, count) * (count / len(values))  # of each cell, as in (G1)
    of_row, of_column = _sums(e, row, q), _sums(e, column, s)
    # The additive fit by least squares, rows eliminated: the effects of the columns have s equations
    held = np.zeros((q, s))
    held[row, column] = 1
    share = held / held.sum(axis=1, keepdims=True)
    effect, _, rank, _ = np.linalg.lstsq(
        np.diag(held.sum(axis=0)) - held.T @ share, of_column - share.T @ of_row, rcond=RELATIVE
    )
    of_rows = (of_row - held @ effect) / held.sum(axis=1, keepdims=True)
    rest = e - of_rows[row] - effect[column]
    freedom = np.array([q - 1, s - 1, count - q - rank], dtype=float)
    if freedom[2] < 1:
        raise ScoreTableError(
            f"The two columns of groups are not crossed on data set {shown(dataset)!r}: its {count} pairs of groups "
            "can't show how much differences vary beyond the two.",
            remedy="Cross columns such as questions and seeds, where most questions have most seeds. If each group of one "
            "column lies in one of the other, pass only the wider one.",
            places=(dataset,),
            key="groups",
        )
    squares = [of_row.T @ of_row * q / count**2, of_column.T @ of_column * s / count**2, rest.T @ rest / count]
    by_first, by_second, error = (square / degrees for square, degrees in zip(squares, freedom, strict=True))
    variance = error + _positive(by_first - error) + _positive(by_second - error)
    parts = np.array([np.trace(part) for part in (by_first, by_second, error)])
    if not parts.any():
        return variance, s
    satterthwaite = float(np.trace(variance) ** 2 / (parts**2 / freedom).sum())
    return variance, max(1 + round(satterthwaite), SMALLEST_N)


def _sums(values: FloatArray, place: NDArray[np.int64], count: int) -> FloatArray:
    """Sums of the rows of values by place, shape (count, k)."""
    return np.stack([np.bincount(place, column, minlength=count) for column in values.T], axis=1)


def _positive(matrix: FloatArray) -> FloatArray:
    """The positive semidefinite part of a symmetric matrix; of a number, itself or 0."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.clip(values, 0, None)) @ vectors.T)
