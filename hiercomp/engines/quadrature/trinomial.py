"""The trinomial likelihood of each data set given the population: of paired outcomes that are right or wrong.

p(x_i | delta_i) has a kink at delta_i = 0 and is zero outside [-1, 1], so each half is integrated on its own, by a
Gauss-Legendre rule on the scale on which both the likelihood and the population are smooth (docs/model.md, T4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.axes import legendre_rule
from hiercomp.engines.quadrature.likelihood import (
    STEP,
    TAIL_SHARE,
    Lines,
    MeanLikelihood,
    inverse,
    kernel_reach,
    log_student_constant,
    log_student_kernel,
    step_for,
)
from hiercomp.model.trinomial import PRIOR, halves, moments

KNOTS = 257  # of the table of a half, equally spaced in asinh((delta - mean) / sd): cubics are then exact to 1e-7
DEPTHS = np.append(5.0 * 2.0 ** np.arange(9), np.inf)  # below the largest log likelihood, at which ends are tabulated
PAIRS_AT_ONCE, NODES_AT_ONCE = 15_000, 30_000
RULES = np.array([6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 192, 256])  # nodes
# Gauss-Legendre nodes are pi/2 times as far apart in the middle as equally spaced ones
WIDEST_GAP = np.pi / 2
LARGEST_STEP = STEP  # with longer ones the errors are larger than the step says
SMALLEST = np.finfo(float).tiny
DRAWS_AT_ONCE = 500  # of a data set
DRAW_NODES = 200  # of a half, for draws: joined by straight lines, an error of about 1e-3 of a density


class _Halves(NamedTuple):
    """What is known of the halves, negative ones first and then positive ones: arrays of shape (2 q,)."""

    centre: FloatArray
    width: FloatArray
    outside: FloatArray  # power of 1 - delta, which the table leaves out
    first: FloatArray  # of the table's coordinate
    spacing: FloatArray
    log_highest: FloatArray
    mode: FloatArray
    lower: FloatArray  # ends at each of the depths, shape (2 q, depths)
    upper: FloatArray
    cubic: FloatArray  # coefficients, shape (2 q, knots - 1, 4)

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> _Halves:
        """The tables for some data sets, shape (q, 3)."""
        from scipy import interpolate, special

        both = [halves(row) for row in counts]
        every = [half for half, _ in both] + [half for _, half in both]
        centre, square = np.array([half.moments[1:] for half in every]).T
        width = np.sqrt(square - centre**2)
        outside = np.array([half.losses + half.ties for half in every], dtype=float)
        first, last = np.arcsinh(-centre / width), np.arcsinh((1 - centre) / width)
        spacing = (last - first) / (KNOTS - 1)
        places = first[:, None] + spacing[:, None] * np.arange(KNOTS)
        delta = np.clip(centre[:, None] + width[:, None] * np.sinh(places), 0.0, 1.0)
        rising = np.array([half.log_rising(row) for half, row in zip(every, delta, strict=True)])
        values = rising + special.xlog1py(outside[:, None], -delta)
        highest = values.argmax(axis=1)
        rows = np.arange(len(every))
        log_highest = values[rows, highest]
        deep = values[:, None, :] >= log_highest[:, None, None] - DEPTHS[:, None]  # (halves, depths, knots)
        low = np.maximum(deep.argmax(axis=2) - 1, 0)
        high = np.minimum(KNOTS - deep[..., ::-1].argmax(axis=2), KNOTS - 1)
        spline = interpolate.CubicSpline(np.arange(KNOTS), rising, axis=1)
        return cls(
            centre, width, outside, first, spacing, log_highest, delta[rows, highest],
            np.take_along_axis(delta, low, axis=1), np.take_along_axis(delta, high, axis=1),
            np.ascontiguousarray(np.moveaxis(spline.c, 0, -1).swapaxes(0, 1)),
        )  # fmt: skip

    def log_value(self, rows: NDArray[np.intp], delta: FloatArray, u: FloatArray) -> FloatArray:
        """Log likelihood at delta in [0, 1], u = (delta - centre) / width; ``rows`` run along the last axis."""
        from scipy import special

        place = (np.arcsinh(u) - self.first[rows]) / self.spacing[rows]
        cell = np.clip(place.astype(np.intp), 0, self.cubic.shape[1] - 1)
        place -= cell
        cubic = self.cubic[rows, cell]
        found = ((cubic[..., 0] * place + cubic[..., 1]) * place + cubic[..., 2]) * place + cubic[..., 3]
        found += special.xlog1py(self.outside[rows], -delta)
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class TrinomialLikelihood(MeanLikelihood):
    """p(x_i | delta_i) of every data set (T3), the discordance integrated out; zero outside [-1, 1].

    ``mean`` and ``sum_of_squares`` are those with which independent differences have the centre and the standard error of
    this likelihood: by them axes are laid out and nodes are placed.

    Attributes
    ----------
    counts : ndarray of int, shape (q, 3)
        Numbers of the differences -1, 0 and 1 of each data set.
    """

    counts: NDArray[np.int64]

    @cached_property
    def df(self) -> FloatArray:
        """Degrees of freedom of the Student-t density that places nodes: as many as differences."""
        return self.n

    @cached_property
    def scale(self) -> FloatArray:
        """Standard deviation of delta_i under the normalised likelihood, shape (q,)."""
        return np.asarray(np.sqrt(self.sum_of_squares / (self.n * (self.n - 1))))

    @cached_property
    def width(self) -> FloatArray:
        """The same."""
        return self.scale

    @cached_property
    def log_spread(self) -> FloatArray:
        """Log of the integral of p(x_i | delta_i) over delta_i, shape (q,)."""
        return moments(self.counts)[0]

    def subset(self, chosen: NDArray[np.intp]) -> TrinomialLikelihood:
        """The likelihood of some of the data sets."""
        return TrinomialLikelihood(**vars(super().subset(chosen)), counts=self.counts[chosen])

    @cached_property
    def log_constant(self) -> FloatArray:
        """Zeros: there is none to take out of (T3)."""
        return np.zeros(len(self.n))

    def log_kernels(
        self,
        chosen: NDArray[np.intp],
        delta0: FloatArray,
        sigma0: FloatArray,
        nu: FloatArray,
        step: float,
        work: FloatArray,
    ) -> FloatArray:
        """Log p(x_i | delta0, sigma0, nu) (T4), for arrays of data sets and populations that broadcast.

        Parameters
        ----------
        chosen : ndarray of int
            Data sets.
        delta0, sigma0, nu : ndarray
            ``nu`` may be infinite.
        step : float
            Of the trapezoidal rule with whose accuracy this rule is to compete.
        work : ndarray
            Not used.
        """
        shape = np.broadcast(chosen, delta0, sigma0, nu).shape
        rows = np.broadcast_to(chosen, shape).ravel()
        delta0, sigma0, nu = (np.broadcast_to(each, shape).ravel() for each in (delta0, sigma0, nu))
        found = np.empty((2, len(rows)))
        for half, first in enumerate((0, len(self.n))):
            for start in range(0, len(rows), PAIRS_AT_ONCE):
                part = slice(start, start + PAIRS_AT_ONCE)
                integrals = HalfIntegrals.of(
                    self._halves, first + rows[part], delta0[part], sigma0[part], nu[part], step
                )
                found[half, part] = integrals.log_values()
        return np.asarray(np.logaddexp(*found).reshape(shape))

    def _nodes_needed(self, lines: Lines, chosen: NDArray[np.intp], error: float) -> NDArray[np.intp]:
        """All: few nodes would miss the kink at 0."""
        return np.full((len(lines.centre), len(chosen)), lines.axis.count)

    def log_integrals_at_places(
        self, i: int, delta0: FloatArray, sigma0: FloatArray, nu: FloatArray, error: float
    ) -> FloatArray:
        """The same of a data set at places of delta0, all of them computed: the likelihood is not symmetric."""
        populations = delta0, sigma0[:, None], nu[:, None]
        found = self.subset(np.array([i])).log_integrals(*populations, step=step_for(error, 1))
        return found.reshape(len(sigma0), len(delta0))

    def delta_draws(self, delta0: FloatArray, sigma0: FloatArray, nu: FloatArray, level: FloatArray) -> FloatArray:
        """Draws of delta_i of each data set given populations; the arguments are those of `MeanLikelihood.delta_draws`."""
        found, q = np.empty(level.shape), len(self.n)
        rows = max(1, DRAWS_AT_ONCE // q)
        for start in range(0, len(delta0), rows):
            part = slice(start, start + rows)
            centre, spread, tails = (np.repeat(values[part], 2 * q) for values in (delta0, sigma0, nu))
            every = np.tile(np.arange(2 * q), len(delta0[part]))
            integrals = HalfIntegrals.of(self._halves, every, centre, spread, tails, STEP)
            negative, positive = np.split(integrals.log_values().reshape(-1, 2 * q), 2, axis=1)
            below = 1 / (1 + np.exp(np.clip(positive - negative, -700, 700)))
            mirrored, wanted = level[part] < below, level[part]
            within = np.where(mirrored, 1 - wanted / below, (wanted - below) / np.maximum(1 - below, SMALLEST))
            pair = 2 * q * np.arange(len(wanted))[:, None] + np.arange(q) + np.where(mirrored, 0, q)
            delta, log_density = integrals.at(pair.ravel(), np.linspace(-1, 1, DRAW_NODES))
            mass = np.exp(log_density - log_density.max(axis=0))
            drawn = inverse(delta.T, mass.T, within.ravel()).reshape(wanted.shape)
            found[part] = np.where(mirrored, -drawn, drawn)
        return found

    def draws_of_one(
        self, i: int, centre: FloatArray, scale: FloatArray, place: NDArray[np.intp], level: FloatArray
    ) -> FloatArray:
        """Draws of delta_i of one data set; the arguments are those of `MeanLikelihood.draws_of_one`."""
        one, gaussian = self.subset(np.array([i])), np.full(len(place), np.inf)
        return one.delta_draws(centre[place], scale[place], gaussian, level[:, None])[:, 0]

    def sigma_draws(self, delta: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Draws of sigma_i, the standard deviation of a difference, given delta_i, shape (draws, q): by a term of (T3)."""
        found = np.empty(delta.shape)
        for place, both in enumerate(map(halves, self.counts)):
            for half, chosen in zip(both, (delta[:, place] < 0, delta[:, place] >= 0), strict=True):
                size = np.abs(delta[chosen, place])
                log_terms = half.log_terms(size)
                share = np.cumsum(np.exp(log_terms - log_terms.max(axis=1, keepdims=True)), axis=1)
                k = (share < generator.random(len(size))[:, None] * share[:, -1:]).sum(axis=1)
                excess = generator.beta(half.losses + k + PRIOR[0], half.ties + PRIOR[1])
                found[chosen, place] = np.sqrt(size * (1 - size) + (1 - size) * excess)
        return found

    @cached_property
    def _halves(self) -> _Halves:
        return _Halves.of(self.counts)


@dataclass(frozen=True, eq=False)
class HalfIntegrals:
    """Integrals over one half of delta_i of many data sets under many populations.

    Nodes are Gauss-Legendre in asinh((delta - c) / A) + asinh((delta - delta0) / sigma0), with the mean c and the standard
    deviation A of the likelihood of the half. Negative halves are mirrored.

    Attributes
    ----------
    halves : _Halves
    rows : ndarray of int, shape (pairs,)
        Half of each pair.
    centre, spread, k : ndarray, shape (pairs,)
        delta0, sigma0 and 1 / nu.
    lowest, highest : ndarray, shape (pairs,)
        Ends in the map's value.
    count : ndarray of int, shape (pairs,)
        Nodes wanted.
    """

    halves: _Halves
    rows: NDArray[np.intp]
    centre: FloatArray
    spread: FloatArray
    k: FloatArray
    lowest: FloatArray
    highest: FloatArray
    count: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        halves: _Halves,
        rows: NDArray[np.intp],
        delta0: FloatArray,
        sigma0: FloatArray,
        nu: FloatArray,
        step: float,
    ) -> HalfIntegrals:
        """Find the ends, and how many nodes there are to be, of pairs of a half and a population: arrays of one length."""
        centre = np.where(rows < len(halves.centre) // 2, -delta0, delta0)
        spread, k, step = sigma0, 1 / nu, min(step, LARGEST_STEP)
        c, a = halves.centre[rows], halves.width[rows]
        # Beyond these ends the integrand is negligible against its value nearest to delta0, or at the likelihood's mode
        near = np.clip(centre, 0.0, 1.0)
        log_tail = np.log(TAIL_SHARE) - np.pi**2 / (2 * step)
        at_near, at_mode = (log_student_kernel((x - centre) / spread, k) for x in (near, halves.mode[rows]))
        fallen = np.minimum(halves.log_value(rows, near, (near - c) / a) - halves.log_highest[rows], 0.0)
        fallen = np.maximum(fallen, -1e4)
        with np.errstate(over="ignore"):  # an infinite reach is no end
            reach = spread * kernel_reach(at_near + fallen + log_tail, k)
        depth = np.searchsorted(DEPTHS, at_near - at_mode - log_tail)
        low = np.maximum(centre - reach, halves.lower[rows, depth])
        high = np.minimum(centre + reach, halves.upper[rows, depth])
        low, high = np.clip(low, 0.0, 1.0), np.clip(np.maximum(high, low), 0.0, 1.0)
        lowest, highest = (np.arcsinh((x - c) / a) + np.arcsinh((x - centre) / spread) for x in (low, high))
        # One peak is mapped by twice the same function, so half as many nodes do
        single = 1 / (1 + ((c - centre) / np.minimum(a, spread)) ** 2)
        count = np.ceil(WIDEST_GAP * (highest - lowest) / (step * (1 + single)))
        return cls(halves, rows, centre, spread, k, lowest, highest, count.astype(np.int64))

    def log_values(self) -> FloatArray:
        """Log of each integral, shape (pairs,)."""
        values = np.empty(len(self.count))
        rule = np.minimum(np.searchsorted(RULES, self.count), len(RULES) - 1)
        order = np.argsort(rule, kind="stable")
        edges = np.searchsorted(rule[order], np.arange(len(RULES) + 1))
        for number, count in enumerate(RULES.tolist()):
            nodes, weights = legendre_rule(count)
            for first in range(edges[number], edges[number + 1], max(1, NODES_AT_ONCE // count)):
                some = order[first : min(first + max(1, NODES_AT_ONCE // count), edges[number + 1])]
                log_density = self.at(some, nodes)[1]
                log_peak = log_density.max(axis=0)
                log_density -= log_peak
                # Where the population lies so far beyond 0 that rounding leaves nothing, the other half is all
                half = np.maximum((self.highest[some] - self.lowest[some]) / 2, SMALLEST)
                values[some] = np.log(weights @ np.exp(log_density, out=log_density) * half) + log_peak
        return np.asarray(values + log_student_constant(self.k) - np.log(self.spread))

    def at(self, some: NDArray[np.intp], nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Delta and the log of the integrand by the map's value, at nodes in [-1, 1], each of shape (nodes, pairs)."""
        rows, spread, k = self.rows[some], self.spread[some], self.k[some]
        c, a = self.halves.centre[rows], self.halves.width[rows]
        lowest, highest = self.lowest[some], self.highest[some]
        growth = np.exp((lowest + highest) / 2 + (highest - lowest) / 2 * nodes[:, None])
        ratio, gap = a / spread, (c - self.centre[some]) / spread
        cosh, sinh = growth + 1 / growth, growth - 1 / growth  # twice cosh and sinh
        denominator = 1 + ratio * (cosh + ratio)
        u = (sinh * np.sqrt(denominator + gap**2) - gap * (cosh + 2 * ratio)) / (2 * denominator)
        v = u * ratio + gap
        slope = 1 / (1 / (a * np.sqrt(1 + u**2)) + 1 / (spread * np.sqrt(1 + v**2)))
        delta = np.clip(c + a * u, 0.0, 1.0)
        return delta, self.halves.log_value(rows, delta, u) + log_student_kernel(v, k) + np.log(slope)
