"""Axes of a grid: few nodes where a function is computed, many where it is interpolated and integrated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.splines import spline_matrix

DROPPED = 2  # Chebyshev coefficients that the coarser interpolation does without: the last even and the last odd one
NODES_AT_ONCE = 16_000  # arrays of 128 kB stay in the cache; larger ones take new pages, which cost more than sums


@dataclass(frozen=True, eq=False)
class ChebyshevAxis:
    """Chebyshev nodes on an interval, for functions that are smooth there.

    Attributes
    ----------
    lower, upper : float
    count : int
        Number of nodes; 1 stands for a constant.
    """

    lower: float
    upper: float
    count: int

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.lower, self.upper

    @cached_property
    def nodes(self) -> FloatArray:
        """Nodes of the second kind, ascending; both ends among them."""
        if self.count == 1:
            return np.array([(self.lower + self.upper) / 2])
        unit = -np.cos(np.pi * np.arange(self.count) / (self.count - 1))
        return np.asarray((self.lower + self.upper) / 2 + (self.upper - self.lower) / 2 * unit)

    def _vandermonde(self, points: FloatArray) -> FloatArray:
        middle, half = (self.lower + self.upper) / 2, (self.upper - self.lower) / 2
        unit = np.clip((points - middle) / (half or 1.0), -1, 1)
        return np.asarray(np.polynomial.chebyshev.chebvander(unit, self.count - 1), dtype=np.float64)

    def coefficients(self, values: FloatArray) -> FloatArray:
        """Coefficients of the Chebyshev polynomials through values at the nodes, along the first axis."""
        return np.asarray(np.linalg.solve(self._vandermonde(self.nodes), values))

    def interpolation(self, points: FloatArray, *, coarse: bool = False) -> FloatArray:
        """Matrix from values at the nodes to values at ``points``, of two degrees less where ``coarse``."""
        if self.count == 1:
            return np.ones((len(points), 1))
        coefficients = self.coefficients(np.eye(self.count))
        kept = self.count - DROPPED if coarse and self.count > DROPPED + 1 else self.count
        return np.asarray(self._vandermonde(points)[:, :kept] @ coefficients[:kept])


@dataclass(frozen=True, eq=False)
class SplineAxis:
    """Equally spaced nodes on an interval, for functions with a bend somewhere, which is not to be felt elsewhere.

    Attributes
    ----------
    lower, upper : float
    count : int
        Number of nodes, at least 6.
    """

    lower: float
    upper: float
    count: int

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.lower, self.upper

    @property
    def nodes(self) -> FloatArray:
        """The nodes, ascending; both ends among them."""
        return np.linspace(self.lower, self.upper, self.count)

    def interpolation(self, points: FloatArray, *, coarse: bool = False) -> FloatArray:
        """Matrix of spline interpolation, of degree 5, or 3 where ``coarse``."""
        return spline_matrix(self.nodes, points, 3 if coarse else 5)


@dataclass(frozen=True, eq=False)
class StretchedLine:
    """An axis over delta0 that is dense about some places and sparse far from all of them.

    The coordinate t of delta0 is the sum over the places of asinh((delta0 - place) / width).

    Attributes
    ----------
    places, widths : ndarray, shape (q,)
    lower, upper : float
        Ends in delta0.
    count : int
        Number of nodes, equally spaced in t.
    """

    places: FloatArray
    widths: FloatArray
    lower: float
    upper: float
    count: int

    def coordinate(self, delta0: FloatArray) -> FloatArray:
        """The coordinate t of delta0."""
        return np.asarray(np.arcsinh((delta0[..., None] - self.places) / self.widths).sum(axis=-1))

    def slope(self, delta0: FloatArray) -> FloatArray:
        """Derivative of delta0 by t."""
        return np.asarray(1 / (1 / np.hypot(self.widths, delta0[..., None] - self.places)).sum(axis=-1))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The coordinate t at the two ends."""
        first, last = self.coordinate(np.array([self.lower, self.upper]))
        return float(first), float(last)

    @cached_property
    def nodes(self) -> FloatArray:
        """Nodes in t."""
        return np.linspace(*self.ends, self.count)

    def delta0(self, t: FloatArray) -> FloatArray:
        """delta0 at t: bracketed on a fine table, then Newton's steps."""
        reach = np.concatenate([[0.0], np.geomspace(1e-2, 1e12, 400)])
        around = (self.places[:, None] + self.widths[:, None] * np.concatenate([-reach, reach])).ravel()
        table = np.unique(np.clip(around, self.lower, self.upper))
        found = np.interp(t, self.coordinate(table), table)
        for _ in range(4):
            found = np.clip(found - (self.coordinate(found) - t) * self.slope(found), self.lower, self.upper)
        return np.asarray(found)

    def interpolation(self, points: FloatArray, *, coarse: bool = False) -> FloatArray:
        """Matrix of spline interpolation in t, of degree 5, or 3 where ``coarse``."""
        return spline_matrix(self.nodes, points, 3 if coarse else 5)


@cache
def legendre_rule(count: int) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on [-1, 1]: the eigenvalues of a matrix, and the same in every fit."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights


def gauss_legendre(lower: float, upper: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on an interval."""
    nodes, weights = legendre_rule(count)
    half = (upper - lower) / 2
    return (lower + upper) / 2 + half * nodes, half * weights


def cumulative(values: FloatArray, spacing: float) -> FloatArray:
    """Integral from the first node up to each node of equally spaced values, to fourth order, along the last axis."""
    count = values.shape[-1]
    total = np.zeros(values.shape)
    rows, sums = values.reshape(-1, count), total.reshape(-1, count)
    at_once = max(1, NODES_AT_ONCE // count)
    for first in range(0, len(rows), at_once):
        row, cells = rows[first : first + at_once], sums[first : first + at_once, 1:]
        pairs = row[:, 1:] + row[:, :-1]
        np.multiply(pairs, spacing / 2, out=cells)
        cells[:, 1:-1] *= 7 / 6
        neighbours = pairs[:, 2:] + pairs[:, :-2]
        neighbours *= spacing / 24
        cells[:, 1:-1] -= neighbours
        np.cumsum(cells, axis=-1, out=cells)
    return total


def cumulative_at(points: FloatArray, first: float, spacing: float, values: FloatArray, sums: FloatArray) -> FloatArray:
    """The cumulative integral between the nodes, by cubic Hermite interpolation with the values as slopes.

    Parameters
    ----------
    points : ndarray, shape (..., m)
        Clipped to the nodes' range.
    first, spacing : float
        Of the nodes.
    values, sums : ndarray, shape (..., nodes)
    """
    position = np.clip((points - first) / spacing, 0, values.shape[-1] - 1)
    cell = np.minimum(position.astype(int), values.shape[-1] - 2)
    s = position - cell
    below, above = (np.take_along_axis(sums, cell + k, axis=-1) for k in (0, 1))
    slope_below, slope_above = (np.take_along_axis(values, cell + k, axis=-1) * spacing for k in (0, 1))
    step = above - below
    cubic = slope_below + slope_above - 2 * step
    square = step - slope_below - cubic
    return np.asarray(below + s * (slope_below + s * (square + s * cubic)))
