"""Probabilities of left, rope and right on the next data set from a grid of the posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.axes import NODES_AT_ONCE
from hiercomp.engines.quadrature.grid import LIKELIHOOD_ERROR, NEGLIGIBLE, OUTSIDE, FineGrid, PosteriorGrid, coarse_axes
from hiercomp.engines.quadrature.likelihood import log_student_constant, log_student_kernel
from hiercomp.rope import REGIONS, Rope, student_t_half

LEAST_DEVIATION = 0.1  # of an indicator that shows the size of a change: below, other errors are more
BEYOND_DOUBT = 2.0  # by which the mass beyond the ends of delta0's axis may be more than its estimate
STEPS_OF_AN_END = 3  # as many nodes on each side of a rope's end are summed, the others integrated
TABLE_SPACING = 0.06  # an error of 1.3e-7, and of 6.4e-7 if nu is 0.05


@dataclass(frozen=True, eq=False)
class RegionMasses:
    """What the posterior says of the regions, as `hiercomp.posterior.next_dataset.NextDataset` has it.

    Attributes
    ----------
    most_probable, expected : ndarray, shape (3,)
        Probability that left, rope, right is the most probable outcome; expected probability of each.
    positive : float
        P(delta0 > 0).
    """

    most_probable: FloatArray
    expected: FloatArray
    positive: float

    def distance(self, other: RegionMasses) -> dict[str, float]:
        """Absolute differences, by the names of `NextDataset`."""
        names = [f"p_{region}" for region in REGIONS]
        most = dict(zip(names, np.abs(self.most_probable - other.most_probable), strict=True))
        means = [f"expected_{region}" for region in REGIONS]
        expected = dict(zip(means, np.abs(self.expected - other.expected), strict=True))
        found = most | expected | {"p_positive": abs(self.positive - other.positive)}
        return {name: float(value) for name, value in found.items()}

    def distances_by_axis(self, grid: PosteriorGrid, rope: Rope) -> list[dict[str, float]]:
        """Differences from coarser grids, one for each axis that has more than one node."""
        return [self.distance(region_masses(grid, rope, coarse)) for coarse in coarse_axes(grid)]

    def stated_errors(
        self, by_axis: list[dict[str, float]], factors: list[float], ripple: float, beyond: float
    ) -> dict[str, float]:
        """Estimated errors: those of the axes, which may not cancel, and those of the likelihood and of what is left out.

        A small change of the log likelihood, whatever its shape, changes the mean of an indicator by less than its size
        times the indicator's standard deviation. Its size is seen in the probability that it changes most, and taken for
        every other, whose own change may be small by chance. What lies beyond the ends may belong to one region alone.
        ``factors`` multiply the differences from coarser grids;
        ``ripple`` is what the waves of the interpolation add to the mass, ``beyond`` what was seen to lie beyond the ends.
        """
        values = np.array([*self.most_probable, *self.expected, self.positive])
        deviation = np.sqrt(np.maximum(values * (1 - values), 0.0))
        own = sum(factor * np.array(list(distance.values())) for factor, distance in zip(factors, by_axis, strict=True))
        size = float((own / np.maximum(deviation, LEAST_DEVIATION)).max())
        stated = (
            np.maximum(own, size * deviation)
            + (LIKELIHOOD_ERROR + ripple) * deviation
            + OUTSIDE
            + BEYOND_DOUBT * beyond
        )
        return dict(zip(by_axis[0], stated.tolist(), strict=True))


def centre_distance(half_width: float, sigma0: FloatArray, nu: FloatArray) -> FloatArray:
    """How far delta0 must lie from the rope's middle for a side to be more probable than the rope, shape of sigma0.

    The root of P(right) = P(rope) as a function of delta0, between 0 and the half-width: Newton's method inside a
    bracket. 0 where the rope is not the most probable region even for delta0 in its middle.
    """
    width = half_width / sigma0
    low, high = np.zeros_like(width), width.copy()
    found = np.zeros_like(width)
    tail_middle, central_middle = student_t_half(width, nu)
    rope_leads = 2 * central_middle > tail_middle
    active = np.flatnonzero(rope_leads & (width > 0))
    # Beyond the near end lies as much as half of what lies beyond the far one, nearly
    beyond, _ = student_t_half(2 * width[active], nu[active])
    near_end = beyond / (2 * _student_density(np.zeros(len(active)), nu[active]))
    found[active] = width[active] - np.minimum(near_end, 0.9 * width[active])
    for _ in range(40):
        if len(active) == 0:
            break
        z, w, dof = found[active], width[active], nu[active]
        tail_near, central_near = student_t_half(w - z, dof)
        _, central_far = student_t_half(w + z, dof)
        gap = tail_near - (central_near + central_far)  # right less rope; rises with z
        low[active] = np.where(gap < 0, z, low[active])
        high[active] = np.where(gap < 0, high[active], z)
        slope = 2 * _student_density(w - z, dof) - _student_density(w + z, dof)
        usable = slope > np.finfo(float).tiny  # far in the tails the density underflows: bisect
        proposed = z - gap / np.where(usable, slope, 1.0)
        inside = usable & (proposed >= low[active]) & (proposed <= high[active])
        found[active] = np.where(inside, proposed, (low[active] + high[active]) / 2)
        # A step of Newton's leaves about its square, in multiples of sigma0
        moving = np.abs(found[active] - z) > np.where(inside, 1e-6 * np.minimum(w, 1.0), 1e-10 * w)
        active = active[moving]
    return np.asarray(found * sigma0)


def _student_density(t: FloatArray, nu: FloatArray) -> FloatArray:
    k = 1 / nu
    return np.asarray(np.exp(log_student_kernel(*np.broadcast_arrays(t, k)) + log_student_constant(k)))


def region_masses(
    grid: PosteriorGrid, rope: Rope, coarse: tuple[bool, bool, bool] = (False, False, False)
) -> RegionMasses:
    """Integrate the indicators of the most probable region, and the regions' probabilities, over the posterior.

    For each pair of sigma0 and nu the two boundaries in delta0 are found; the masses between them come from the
    conditional distribution of delta0.
    """
    most_probable, positive = indicator_masses(FineGrid.of(grid, rope.half_width, coarse), rope)
    return RegionMasses(most_probable, expected_regions(FineGrid.of(grid, None, coarse), rope), positive)


def indicator_masses(fine: FineGrid, rope: Rope) -> tuple[FloatArray, float]:
    """P(left), P(rope), P(right), shape (3,), and P(delta0 > 0), on a grid that is split at the rope's kink."""
    return masses_between(fine, region_boundaries(fine, rope))


def region_boundaries(fine: FineGrid, rope: Rope) -> FloatArray:
    """For each pair the two delta0 at which the most probable region changes, and 0; shape (pairs, 3)."""
    middle = (rope.lower + rope.upper) / 2
    distance = centre_distance(rope.half_width, fine.sigma0, fine.nu)
    return np.stack([middle - distance, middle + distance, np.zeros_like(distance)], axis=1)


def masses_between(fine: FineGrid, boundaries: FloatArray) -> tuple[FloatArray, float]:
    """As `indicator_masses`, with the boundaries given."""
    below = fine.mass_below(boundaries)
    left, inside, right = below[:, 0], below[:, 1] - below[:, 0], fine.pair_mass - below[:, 1]
    most_probable = np.array([left.sum(), inside.sum(), right.sum()]) / fine.total
    positive = 1 - below[:, 2].sum() / fine.total
    return np.clip(most_probable, 0, 1), float(np.clip(positive, 0, 1))


def expected_regions(fine: FineGrid, rope: Rope) -> FloatArray:
    """Expected probabilities of left, rope and right, shape (3,), on a grid without a split."""
    # All the nodes of delta0: where sigma0 is small, the probabilities are steps
    rows, columns = np.nonzero(fine.weight > NEGLIGIBLE / fine.weight.size)
    nu, which = fine.grid.problem.nu(fine.nu_places), fine.kept // fine.shape[1]
    farthest = np.abs(fine.delta0[:, [0, -1]]).max(axis=1) + np.abs([rope.lower, rope.upper]).max()
    table = TailTable.of(nu, float((farthest / fine.sigma0).max()))
    expected, total = np.zeros(3), 0.0
    for first in range(0, len(rows), NODES_AT_ONCE):
        pair, column = rows[first : first + NODES_AT_ONCE], columns[first : first + NODES_AT_ONCE]
        delta0, scale, weight = fine.delta0[pair, column], fine.sigma0[pair], fine.weight[pair, column]
        below, above = (rope.lower - delta0) / scale, (rope.upper - delta0) / scale
        outer, inner = (table.tails(np.abs(end), which[pair]) for end in (below, above))
        left, right = np.where(below < 0, outer, 1 - outer), np.where(above > 0, inner, 1 - inner)
        within = np.where((below < 0) & (above > 0), 1 - outer - inner, np.abs(outer - inner))
        expected += np.stack([left, within, right]) @ weight
        total += float(weight.sum())
    at_lower, at_upper = (_error_of_steps(fine, end, table, which) for end in (rope.lower, rope.upper))
    return np.asarray(np.clip(expected / total - [at_lower, at_upper - at_lower, -at_upper], 0, 1))


def _error_of_steps(fine: FineGrid, end: float, table: TailTable, which: NDArray[np.intp]) -> float:
    """Error of the trapezoidal rule in P(x < end), to first order in the distance of its nodes.

    Where sigma0 is small, P(x < end | delta0) is a step in delta0, and a node counts in full or not at all. Were the density
    of delta0 constant about the end, the rule's sum would have the same error, and the exact value would be known.
    """
    place = (fine.places_of(np.full((len(fine.sigma0), 1), end))[:, 0] - fine.first) / fine.spacing
    pair = np.flatnonzero((place > 0) & (place < fine.weight.shape[1] - 1))
    cell = place[pair].astype(np.intp)
    share = place[pair] - cell
    weight, following = fine.weight[pair, cell], fine.weight[pair, cell + 1]
    step = (fine.delta0[pair, cell + 1] - fine.delta0[pair, cell]) / fine.sigma0[pair]
    # Half a cell less the share is what a step alone adds; the tails on both sides take nearly all of it off for a wide one
    added = (0.5 - share) * (1 - 2 * table.tails(STEPS_OF_AN_END * step, which[pair]))
    for steps in range(STEPS_OF_AN_END):
        nodes_above, nodes_below = (table.tails((steps + part) * step, which[pair]) for part in (1 - share, share))
        added += nodes_above - nodes_below
    return float((((1 - share) * weight + share * following) * added).sum())


@dataclass(frozen=True, eq=False)
class TailTable:
    """P(T > t) of some Student-t distributions, t >= 0, at equal steps of asinh(t): the same few nu have many t.

    Attributes
    ----------
    values, slopes : ndarray, shape (nu, places)
        The tails, and by how much their slope changes them in a step.
    """

    values: FloatArray
    slopes: FloatArray

    @classmethod
    def of(cls, nu: FloatArray, largest: float) -> TailTable:
        """For t up to the largest."""
        places = TABLE_SPACING * np.arange(int(np.arcsinh(largest) / TABLE_SPACING) + 2)
        t = np.sinh(places)
        values, _ = student_t_half(t, nu[:, None])
        slopes = -TABLE_SPACING * np.cosh(places) * _student_density(t, nu[:, None])
        return cls(values, slopes)

    def tails(self, t: FloatArray, which: NDArray[np.intp]) -> FloatArray:
        """The tails at ``t``, each of the distribution that ``which`` names; the shapes broadcast.

        Cubic Hermite interpolation, whose error is at most spacing^4 / 384 times a fourth derivative of 3.9 (a Gaussian)
        if nu is at least 1; it is 19 if nu is 0.05.
        """
        place = np.arcsinh(t) / TABLE_SPACING
        cell = place.astype(np.intp)
        s, at = place - cell, which * self.values.shape[1] + cell
        below, above = self.values.ravel()[at], self.values.ravel()[at + 1]
        slope_below, slope_above = self.slopes.ravel()[at], self.slopes.ravel()[at + 1]
        step = above - below
        cubic = slope_below + slope_above - 2 * step
        return np.asarray(below + s * (slope_below + s * (step - slope_below - cubic + s * cubic)))
