"""An integrated posterior: the final grid and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.grid import (
    LIKELIHOOD_ERROR,
    OUTSIDE,
    FineGrid,
    PosteriorGrid,
    coarse_axes,
    factors,
    ripples,
    shortfall,
)
from hiercomp.engines.quadrature.regions import (
    BEYOND_DOUBT,
    RegionMasses,
    expected_regions,
    indicator_masses,
    region_masses,
)
from hiercomp.rope import Rope

Known: TypeAlias = "tuple[Rope, RegionMasses, dict[str, float]]"  # the probabilities of a rope, and their errors

TOLERANCE = 1e-4  # of the difference from coarser grids, above which the grid is refined
# By which the difference of log marginal likelihoods falls short by more than those of probabilities, where delta0 is
# stretched because another axis failed
SHORTER = 4.0
# Times `OUTSIDE` and the shortfall: mass beyond the ends is missing in full from the log marginal likelihood, and may be ten
# standard deviations away for the mean of delta0; only part of it matters to a probability
BEYOND_ENDS = np.array([2.0, 4.0])


@dataclass(frozen=True, eq=False)
class Integration:
    """The integrated posterior: the final grid and what it took.

    Attributes
    ----------
    grid : PosteriorGrid
    refinements : int
        How often the grid was made finer.
    known : Known, optional
        The probabilities and their errors for the rope that the grid was refined for.
    """

    grid: PosteriorGrid
    refinements: int
    known: Known | None = None

    @property
    def nodes(self) -> tuple[int, int, int]:
        """Number of nodes of sigma0, nu and delta0 at which the likelihood was computed."""
        first, second, third = self.grid.log_likelihood.shape
        return first, second, third

    @property
    def log_marginal_likelihood(self) -> float:
        """Log of the density of the differences, in the unit of the problem."""
        return self._moments[0][0]

    @property
    def log_marginal_likelihood_error(self) -> float:
        """Estimate of its error, from coarser grids."""
        return self._moments[1][0]

    @property
    def expected_delta0(self) -> float:
        """Posterior mean of delta0."""
        return self._moments[0][1]

    @property
    def expected_delta0_error(self) -> float:
        """Estimate of its error, from coarser grids."""
        return self._moments[1][1]

    @cached_property
    def _moments(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The two, and their errors."""
        fine = FineGrid.of(self.grid)
        found = np.array([fine.log_marginal_likelihood, fine.expected_delta0])
        size = LIKELIHOOD_ERROR + OUTSIDE * shortfall(self.grid) * BEYOND_ENDS
        size += BEYOND_DOUBT * self.grid.beyond * np.array([1.0, 10.0])
        errors = (size + sum(ripples(self.grid))) * [1.0, fine.deviation_of_delta0]
        for coarse, factor in zip(coarse_axes(self.grid), factors(self.grid), strict=True):
            other = FineGrid.of(self.grid, None, coarse)
            change = [other.log_marginal_likelihood - found[0], other.expected_delta0 - found[1]]
            errors += factor * np.array([SHORTER if self.grid.stretched_at_last else 1.0, 1.0]) * np.abs(change)
        return (float(found[0]), float(found[1])), (float(errors[0]), float(errors[1]))

    def with_regions(self, rope: Rope) -> Integration:
        """The same with the probabilities of a rope known."""
        found = replace(self, known=(rope, *self.regions(rope)))
        found._distances.update(self._distances)
        return found

    def most_probable(self, rope: Rope) -> FloatArray:
        """P(left), P(rope) and P(right), shape (3,), without their errors."""
        return indicator_masses(FineGrid.of(self.grid, rope.half_width), rope)[0]

    def expected(self, rope: Rope) -> FloatArray:
        """Expected probabilities of left, rope and right, shape (3,), without their errors."""
        return expected_regions(self._smooth, rope)

    @cached_property
    def _smooth(self) -> FineGrid:
        return FineGrid.of(self.grid)

    def distances_by_axis(self, rope: Rope, found: RegionMasses) -> list[dict[str, float]]:
        """What the probabilities of a rope change if one axis is coarser, for each axis; computed once."""
        if rope not in self._distances:
            self._distances[rope] = found.distances_by_axis(self.grid, rope)
        return self._distances[rope]

    @cached_property
    def _distances(self) -> dict[Rope, list[dict[str, float]]]:
        return {}

    @property
    def largest_error(self) -> float:
        """The largest error among the known probabilities."""
        return max(self.known[2].values()) if self.known is not None else float("inf")

    def regions(self, rope: Rope) -> tuple[RegionMasses, dict[str, float]]:
        """The probabilities of the regions and an estimate of the error of each, from a coarser grid."""
        if self.known is not None and self.known[0] == rope:
            return self.known[1], dict(self.known[2])
        found, by_axis = region_masses(self.grid, rope), factors(self.grid)
        ripple = sum(ripples(self.grid))
        # Fewer nodes on all axes at once are an estimate for a third of the work, and nearly always small enough
        together = found.distance(region_masses(self.grid, rope, (True, True, True)))
        stated = found.stated_errors([together], [max(by_axis)], ripple, self.grid.beyond)
        if max(stated.values()) > TOLERANCE * shortfall(self.grid):
            stated = found.stated_errors(self.distances_by_axis(rope, found), by_axis, ripple, self.grid.beyond)
        return found, stated
