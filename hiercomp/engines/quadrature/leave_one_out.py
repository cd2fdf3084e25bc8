"""The probabilities without each data set: its term is taken off the log likelihood at the nodes of the grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.engine import widened
from hiercomp.engines.quadrature.grid import LIKELIHOOD_ERROR, FineGrid, PosteriorGrid
from hiercomp.engines.quadrature.likelihood import step_for
from hiercomp.engines.quadrature.regions import masses_between, region_boundaries
from hiercomp.rope import Rope

FINENESS = (0.7, 0.7, 0.6)  # of the usual fine nodes of sigma0, nu and delta0; with all of them 5e-6 is the change
LEFT_OUT = 1e-4  # mass that may lie beyond the grid of all data sets: a tenth of what is printed
# Share of the mass where the density with all data sets is below a millionth of its peak. The nodes are not placed for
# these places: with 0.002 of the mass there an error of 5e-6 was seen, with 0.14 one of 2e-3
FAINT, MOST_FAINT = 1e-6, 0.005
FEWEST_ON_GRID = 5  # data sets; of fewer, sigma0 may reach its bound, which depends on the data set left out


def most_probable_without(grid: PosteriorGrid, rope: Rope) -> Iterator[FloatArray | None]:
    """P(left), P(rope) and P(right) without each data set in turn, from the grid of all of them.

    Yields
    ------
    ndarray, shape (3,), or None
        None where the grid does not serve the posterior without the data set.
    """
    if len(grid.problem.likelihood.n) < FEWEST_ON_GRID:
        yield from (None for _ in grid.problem.likelihood.n)
        return
    # Pairs without mass may have some without a data set that lies far from the others
    fine = FineGrid.of(replace(grid, fineness=FINENESS), rope.half_width, log_unseen=-np.inf)
    boundaries, faint = region_boundaries(fine, rope), fine.density < FAINT
    for terms in _terms(grid):
        rest = fine.without(terms)
        unseen = rest.density.sum(where=faint) > MOST_FAINT * rest.density.sum()
        if unseen or widened(rest, LEFT_OUT) is not None:
            yield None
        else:
            yield masses_between(rest, boundaries)[0]


def _terms(grid: PosteriorGrid) -> Iterator[FloatArray]:
    """Log p(x_i | delta0, sigma0, nu) of each data set at every node, as exact as the grid's own sum."""
    problem = grid.problem
    likelihood = problem.likelihood
    step = step_for(LIKELIHOOD_ERROR, len(likelihood.n))
    delta0 = grid.delta0
    sigma0 = problem.sigma0(grid.support.sigma0_place(grid.sigma0_axis.nodes, grid.nu_axis.nodes))
    nu = np.broadcast_to(problem.nu(grid.nu_axis.nodes), sigma0.shape)
    for place in range(len(likelihood.n)):
        alone = likelihood.subset(np.array([place]))
        yield alone.log_marginal(delta0, sigma0[..., None], nu[..., None], step=step).reshape(delta0.shape)
