"""Probabilities of left, rope and right on the next data set from a grid of the posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.axes import StretchedLine
from hiercomp.engines.quadrature.grid import NEGLIGIBLE, FineGrid, PosteriorGrid
from hiercomp.rope import REGIONS, Rope, region_probabilities, student_t_half

# Smooth integrands need few of the fine nodes of delta0. 160 / 8 = 20 steps of 0.6 standard deviations leave the trapezoidal
# rule an error of exp(-2 (pi / 0.6)^2) = 1e-23; the stretched line has at least 4 fine nodes for each node (study)
THINNED, THINNED_LINE = 8, 2


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
        moving = np.abs(found[active] - z) > 1e-10 * w
        active = active[moving]
    return np.asarray(found * sigma0)


def _student_density(t: FloatArray, nu: FloatArray) -> FloatArray:
    from scipy import special

    finite = np.where(np.isinf(nu), 1.0, nu)
    constant = special.gammaln((finite + 1) / 2) - special.gammaln(finite / 2) - 0.5 * np.log(finite * np.pi)
    heavy = np.exp(constant - (finite + 1) / 2 * np.log1p(t**2 / finite))
    return np.asarray(np.where(np.isinf(nu), np.exp(-0.5 * t**2) / np.sqrt(2 * np.pi), heavy))


def region_masses(
    grid: PosteriorGrid, rope: Rope, coarse: tuple[bool, bool, bool] = (False, False, False)
) -> RegionMasses:
    """Integrate the indicators of the most probable region, and the regions' probabilities, over the posterior.

    For each pair of sigma0 and nu the two boundaries in delta0 are found; the masses between them come from the
    conditional distribution of delta0.
    """
    fine = FineGrid.of(grid, rope.half_width, coarse)
    middle = (rope.lower + rope.upper) / 2
    distance = centre_distance(rope.half_width, fine.sigma0, fine.nu)
    boundaries = np.stack([middle - distance, middle + distance, np.zeros_like(distance)], axis=1)
    below = fine.mass_below(boundaries)
    left, inside, right = below[:, 0], below[:, 1] - below[:, 0], fine.pair_mass - below[:, 1]
    most_probable = np.array([left.sum(), inside.sum(), right.sum()]) / fine.total
    positive = 1 - below[:, 2].sum() / fine.total
    expected = _expected_regions(FineGrid.of(grid, None, coarse), rope)
    return RegionMasses(np.clip(most_probable, 0, 1), expected, float(np.clip(positive, 0, 1)))


def _expected_regions(fine: FineGrid, rope: Rope) -> FloatArray:
    thinned = THINNED_LINE if isinstance(fine.grid.delta0_axis, StretchedLine) else THINNED
    inside = np.abs(fine.delta0[:, ::thinned]) <= fine.grid.problem.delta0_bound
    weight = np.where(inside, fine.density[:, ::thinned], 0.0)
    weight[:, [0, -1]] /= 2  # the trapezoidal rule: a stretched axis ends at the bounds
    # Every pair keeps its own mass, which is known more exactly than this thinned sum
    sums = weight.sum(axis=1, keepdims=True)
    weight = np.where(sums > 0, weight / np.where(sums > 0, sums, 1.0), 0.0) * fine.pair_mass[:, None]
    rows, columns = np.nonzero(weight > NEGLIGIBLE * weight.sum() / weight.size)
    regions = region_probabilities(fine.delta0[rows, thinned * columns], fine.sigma0[rows], fine.nu[rows], rope)
    chosen = weight[rows, columns]
    return np.asarray(chosen @ regions / chosen.sum())
