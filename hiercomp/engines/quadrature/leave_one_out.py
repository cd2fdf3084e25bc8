"""The probabilities without each data set: its term is taken off the log likelihood at the nodes of the grid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.engine import widened
from hiercomp.engines.quadrature.grid import LIKELIHOOD_ERROR, LOG_UNSEEN, FineGrid, PosteriorGrid
from hiercomp.engines.quadrature.likelihood import step_for
from hiercomp.engines.quadrature.regions import masses_between, region_boundaries
from hiercomp.rope import Rope

LEFT_OUT = 1e-4  # mass that may lie beyond the grid of all data sets: a tenth of what is printed


def most_probable_without(grid: PosteriorGrid, rope: Rope) -> Iterator[FloatArray | None]:
    """P(left), P(rope) and P(right) without each data set in turn, from the grid of all of them.

    Yields
    ------
    ndarray, shape (3,), or None
        None where the posterior without the data set reaches beyond the grid.
    """
    fine, smooth = FineGrid.of(grid, rope.half_width), FineGrid.of(grid)
    boundaries = region_boundaries(fine, rope)
    for terms in _terms(grid):
        rest = smooth.without(terms)
        # Pairs that were left out for lack of mass may have some now, at most this share
        change = rest.log_marginal_likelihood - smooth.log_marginal_likelihood
        unseen = LOG_UNSEEN + float((-terms).max()) - change
        if unseen > np.log(LEFT_OUT) or widened(rest, LEFT_OUT) is not None:
            yield None
        else:
            yield masses_between(fine.without(terms), boundaries)[0]


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
