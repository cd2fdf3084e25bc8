"""Without each data set in turn: its term is taken off the log likelihood at the nodes of the grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.engine import QuadratureEngine, widened
from hiercomp.engines.quadrature.grid import FineGrid, PosteriorGrid
from hiercomp.engines.quadrature.likelihood import VALUES_AT_ONCE
from hiercomp.engines.quadrature.predictive import Populations
from hiercomp.engines.quadrature.regions import masses_between, region_boundaries
from hiercomp.rope import Rope

# Shares of the usual fine nodes of sigma0, nu and delta0: all of them change probabilities by 5e-6, log densities by 1e-4
FINENESS = (0.7, 0.7, 0.6)
LEFT_OUT = 1e-4  # mass that may lie beyond the grid of all data sets: a tenth of what is printed
# Share of the mass where the density with all data sets is below a millionth of its peak. The nodes are not placed for
# these places: on made-up tables with one far data set, whose others were fitted anew, errors up to 4e-4 were seen with up
# to 0.002 of the mass there, 8e-4 with 0.003, 2e-3 with 0.01
FAINT, MOST_FAINT = 1e-6, 0.002
# Estimated error of the log density of all others, computed anew, above which it is doubtful: the digit that is printed
DOUBTFUL_ERROR = 0.01
FEWEST_ON_GRID = 5  # data sets; of fewer, sigma0 may reach its bound, which depends on the data set left out


def most_probable_without(grid: PosteriorGrid, rope: Rope) -> Iterator[FloatArray | None]:
    """P(left), P(rope) and P(right) without each data set in turn, from the grid of all of them.

    Yields
    ------
    ndarray, shape (3,), or None
        None where the grid does not serve the posterior without the data set.
    """
    if not _serves_any(grid):
        yield from (None for _ in grid.problem.likelihood.n)
        return
    # Pairs without mass may have some without a data set that lies far from the others
    fine = FineGrid.of(replace(grid, fineness=FINENESS), rope.half_width, log_unseen=-np.inf)
    boundaries = region_boundaries(fine, rope)
    _, which = grid.problem.likelihood.distinct  # without one of several that are equal the same is left
    first = np.unique(which, return_index=True)[1]
    found = []
    for terms in _terms(grid, first.tolist()):
        rest = _without(fine, terms)
        found.append(None if rest is None else masses_between(rest, boundaries)[0])
    yield from (found[place] for place in which)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What the other data sets say of each data set.

    Attributes
    ----------
    log_density : ndarray, shape (q,)
        Log p(x_i | the others), the log of the density of all its differences; delta_i and sigma_i are integrated out.
    log_density_within : ndarray, shape (q,)
        The same given all data sets, this one included.
    below : ndarray, shape (q,)
        Probability, given the others and its own spread, that its mean difference would be less than it is.
    refitted : ndarray of bool, shape (q,)
        Whether the posterior without it was computed anew.
    doubtful : ndarray of bool, shape (q,)
        Whether that computation failed a check.
    pareto_k : ndarray, shape (q,), optional
        Of the importance weights, where draws were weighted.
    """

    log_density: FloatArray
    log_density_within: FloatArray
    below: FloatArray
    refitted: NDArray[np.bool_]
    doubtful: NDArray[np.bool_]
    pareto_k: FloatArray | None = None


def left_out(grid: PosteriorGrid, rope: Rope, chosen: Sequence[int] | None = None) -> LeftOut:
    """What the others say of each data set: log p(x_i | the others) is the difference of two log marginal likelihoods.

    The priors stay those of all data sets, whose bounds depend on them.

    Parameters
    ----------
    grid : PosteriorGrid
        Of all data sets.
    rope : Rope
        For whose probabilities a new grid is refined, where one is needed.
    chosen : sequence of int, optional
        The data sets to leave out, one after another; all by default.
    """
    problem = grid.problem
    every = np.arange(len(problem.likelihood.n))
    places: Sequence[int] = range(len(every)) if chosen is None else chosen
    fine, serves = FineGrid.of(replace(grid, fineness=FINENESS), log_unseen=-np.inf), _serves_any(grid)
    populations = _populations(grid)
    with_all = fine.log_marginal_likelihood
    found = np.empty((3, len(places)))
    refitted, doubtful = np.zeros((2, len(places)), dtype=bool)
    for number, (place, terms) in enumerate(zip(places, _terms(grid, places), strict=True)):
        rest, at = (_without(fine, terms) if serves else None), populations
        refitted[number] = rest is None
        if rest is None:
            others = replace(problem, likelihood=problem.likelihood.subset(every[every != place]), log_sigma0=False)
            anew = QuadratureEngine().integrate(others, rope)
            doubtful[number] = not anew.log_marginal_likelihood_error <= DOUBTFUL_ERROR
            rest, at = FineGrid.of(anew.grid), _populations(anew.grid)
        below = at.mean_below(problem.likelihood.subset(np.array([place])))
        found[:, number] = (
            with_all - rest.log_marginal_likelihood,
            fine.without(-terms).log_marginal_likelihood - with_all,
            rest.expectation(below.reshape(rest.grid.log_likelihood.shape)),
        )
    return LeftOut(found[0], found[1], np.clip(found[2], 0.0, 1.0), refitted, doubtful)


def _serves_any(grid: PosteriorGrid) -> bool:
    return len(grid.problem.likelihood.n) >= FEWEST_ON_GRID


def _without(fine: FineGrid, terms: FloatArray) -> FineGrid | None:
    """The posterior with some terms taken off the log likelihood; None where the grid does not serve it."""
    rest = fine.without(terms)
    unseen = rest.density.sum(where=fine.density < FAINT) > MOST_FAINT * rest.density.sum()
    return None if unseen or widened(rest, LEFT_OUT) is not None else rest


def _terms(grid: PosteriorGrid, places: Sequence[int]) -> Iterator[FloatArray]:
    """Log p(x_i | delta0, sigma0, nu) of some data sets at every node, as exact as the grid's own sum."""
    size = max(1, VALUES_AT_ONCE // grid.log_likelihood.size)
    for start in range(0, len(places), size):
        yield from grid.log_terms(grid.problem.likelihood.subset(np.array(places[start : start + size])))


def _populations(grid: PosteriorGrid) -> Populations:
    """Those at the nodes of a grid."""
    delta0, sigma0, nu = grid.nodes
    return Populations(*(np.ravel(each) for each in np.broadcast_arrays(delta0, sigma0[..., None], nu[..., None])))
