"""The matrix of spline interpolation, which takes values at the nodes to values anywhere between them.

It is that of SciPy's ``make_interp_spline``, whose import brings all of its optimisers, sparse matrices and transforms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray

IN_CACHE = 1024  # rows at a time: all of them at once take several times as long


def spline_matrix(nodes: FloatArray, points: FloatArray, degree: int) -> FloatArray:
    """Matrix from values at the nodes to values of the spline through them, without knots next to the ends.

    Parameters
    ----------
    nodes : ndarray, shape (n,)
        Ascending; more than ``degree`` of them.
    points : ndarray, shape (m,)
        Those outside the nodes are moved to the nearest end.
    degree : int
        Odd.

    Returns
    -------
    ndarray, shape (m, n)
    """
    from scipy.linalg import lapack

    n, inner = len(nodes), nodes[(degree + 1) // 2 : -(degree + 1) // 2]
    knots = np.concatenate([np.repeat(nodes[0], degree + 1), inner, np.repeat(nodes[-1], degree + 1)])
    first, values = _basis(knots, nodes, degree)
    # Entry (i, j) of the matrix is in row 2 degree + i - j of column j
    banded = np.zeros((3 * degree + 1, n), order="F")
    for place in range(degree + 1):
        column = first + place
        banded[2 * degree + np.arange(n) - column, column] = values[:, place]
    coefficients = lapack.dgbsv(degree, degree, banded, np.eye(n))[2]
    first, values = _basis(knots, np.clip(points, nodes[0], nodes[-1]), degree)
    matrix = np.zeros((len(points), n))
    for start in range(0, len(points), IN_CACHE):
        rows = slice(start, start + IN_CACHE)
        for place in range(degree + 1):
            matrix[rows] += coefficients[first[rows] + place] * values[rows, place, None]
    return matrix


def _basis(knots: FloatArray, points: FloatArray, degree: int) -> tuple[NDArray[np.intp], FloatArray]:
    """The first of the B-splines that are not zero at each point, and the values there of it and the next ``degree``.

    By de Boor's recurrence, from degree to degree.
    """
    last = np.clip(np.searchsorted(knots, points, side="right") - 1, degree, len(knots) - degree - 2)
    values = np.zeros((len(points), degree + 1))
    values[:, 0] = 1.0
    for reached in range(1, degree + 1):
        lower = values.copy()
        values[:, 0] = 0.0
        for place in range(1, reached + 1):
            before, after = knots[last + place - reached], knots[last + place]
            share = lower[:, place - 1] / (after - before)
            values[:, place - 1] += share * (after - points)
            values[:, place] = share * (points - before)
    return last - degree, values
