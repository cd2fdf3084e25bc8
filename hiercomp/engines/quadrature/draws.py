"""Independent draws of every parameter from a grid of the posterior."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.grid import FineGrid, PosteriorGrid
from hiercomp.engines.quadrature.likelihood import MeanIntegrals, MeanLikelihood
from hiercomp.engines.quadrature.trinomial import TrinomialLikelihood, inverse

CELLS = 128  # of sigma0 and of nu, each; draws are uniform within a cell, 1 / 128 of a range of some ten deviations
BISECTIONS = 25  # of a cell of delta0: to 2^-25 = 3e-8 of it
MEAN_STEP = 0.12  # between the nodes of delta_i, joined by straight lines: an error of 0.12^2 / 12 = 0.001 of a density
PAIRS_AT_ONCE = 50_000  # of a draw and a data set; 0.4 MB for each of some ten arrays


def population_draws(grid: PosteriorGrid, count: int, generator: np.random.Generator) -> dict[str, FloatArray]:
    """Draws of delta0, sigma0 and, of a Student-t population, nu; each of shape (count,)."""
    fine = FineGrid.even(grid, CELLS)
    mass = np.cumsum(fine.pair_mass)
    pair = np.minimum(np.searchsorted(mass, generator.random(count) * mass[-1], side="right"), len(mass) - 1)
    at, problem, support = fine.only(pair), grid.problem, grid.support
    pair = fine.kept[pair]
    nu_cells, sigma0_cells = fine.shape
    first, last = support.nu
    nu_place = first + (last - first) * (pair // sigma0_cells + generator.random(count)) / nu_cells
    relative = -1 + 2 * (pair % sigma0_cells + generator.random(count)) / sigma0_cells
    lower, upper = support.ends(nu_place)
    found = {"sigma0": problem.sigma0(lower + (upper - lower) * (1 + relative) / 2)}
    if problem.nu_prior is not None:
        found["nu"] = np.maximum(problem.nu(nu_place), np.nextafter(problem.priors.nu_lower, np.inf))
    return {"delta0": _delta0_draws(at, generator)} | found


def _delta0_draws(at: FineGrid, generator: np.random.Generator) -> FloatArray:
    """delta0 given each pair: its distribution function inverted by bisection, from the cell between two nodes on."""
    bound = at.grid.problem.delta0_bound
    wanted = generator.random(len(at.pair_mass)) * at.pair_mass
    edges = np.clip(at.delta0, -bound, bound)
    rows = np.arange(len(edges))
    low_cell, high_cell = np.zeros_like(rows), np.full_like(rows, edges.shape[1] - 1)
    while (high_cell - low_cell).max() > 1:
        middle_cell = (low_cell + high_cell) // 2
        short = at.mass_below(edges[rows, middle_cell][:, None])[:, 0] < wanted
        low_cell, high_cell = np.where(short, middle_cell, low_cell), np.where(short, high_cell, middle_cell)
    low, high = edges[rows, low_cell], edges[rows, high_cell]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        short = at.mass_below(middle[:, None])[:, 0] < wanted
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray((low + high) / 2)


def dataset_draws(
    likelihood: MeanLikelihood, population: dict[str, FloatArray], generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws of delta_i and sigma_i given those of the population, each of shape (draws, q)."""
    delta0, sigma0 = population["delta0"], population["sigma0"]
    nu = population.get("nu", np.full(len(delta0), np.inf))
    if isinstance(likelihood, TrinomialLikelihood):
        delta = likelihood.delta_draws(delta0, sigma0, nu, generator.random((len(delta0), len(likelihood.n))))
        return delta, likelihood.sigma_draws(delta, generator)
    delta = np.empty((len(delta0), len(likelihood.n)))
    chosen = np.arange(len(likelihood.n))
    for rows in _batches(len(delta0), max(1, PAIRS_AT_ONCE // len(chosen))):
        pairs = np.broadcast_arrays(chosen, delta0[rows, None], sigma0[rows, None], nu[rows, None])
        dataset, centre, spread, dof = (values.ravel() for values in pairs)
        integrals = MeanIntegrals.of(likelihood, dataset, centre, spread, dof, MEAN_STEP, widest=1.0)
        offset = np.empty(len(integrals.count))
        order = np.argsort(integrals.count, kind="stable")
        level = generator.random(len(order))
        for part in _batches(len(order), 1000):
            some = order[part]
            offset[some] = inverse(*_node_masses(integrals, some), level[some])
        delta[rows] = delta0[rows, None] + (offset * integrals.side).reshape(pairs[0].shape)
    return delta, sigma_draws(likelihood, delta, generator)


def mean_draws(
    likelihood: MeanLikelihood,
    i: int,
    centre: FloatArray,
    scale: FloatArray,
    place: NDArray[np.intp],
    level: FloatArray,
) -> FloatArray:
    """Draws of delta_i of one data set, each under one of a few normal populations.

    Parameters
    ----------
    likelihood : MeanLikelihood
    i : int
        The data set.
    centre, scale : ndarray, shape (populations,)
    place : ndarray of int, shape (draws,)
        The population of each draw.
    level : ndarray, shape (draws,)
        Uniform numbers: the values of the distribution functions.

    Returns
    -------
    ndarray, shape (draws,)
    """
    if isinstance(likelihood, TrinomialLikelihood):
        one = likelihood.subset(np.array([i]))
        return one.delta_draws(centre[place], scale[place], np.full(len(place), np.inf), level[:, None])[:, 0]
    chosen, gaussian = np.full(len(centre), i), np.full(len(centre), np.inf)
    integrals = MeanIntegrals.of(likelihood, chosen, centre, scale, gaussian, MEAN_STEP, widest=1.0)
    places, masses = _node_masses(integrals, np.arange(len(centre)))
    offset = np.empty(len(place))
    for some in _batches(len(place), 1000):
        offset[some] = inverse(places[place[some]], masses[place[some]], level[some])
    return np.asarray(centre[place] + offset * integrals.side[place])


def _node_masses(integrals: MeanIntegrals, some: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    nodes = integrals.nodes(some)
    return nodes.offset.T, (np.exp(nodes.log_density) * nodes.slope).T


def sigma_draws(likelihood: MeanLikelihood, delta: FloatArray, generator: np.random.Generator) -> FloatArray:
    """sigma_i given delta_i: Q / (2 sigma_i^2) has a Gamma distribution, cut off by the bound of sigma_i."""
    from scipy import special

    if isinstance(likelihood, TrinomialLikelihood):
        return likelihood.sigma_draws(delta, generator)
    n, rho = likelihood.n, likelihood.rho
    quadratic = likelihood.sum_of_squares / (1 - rho) + n * (likelihood.mean - delta) ** 2 / (1 + (n - 1) * rho)
    half = np.broadcast_to((n - 1) / 2, delta.shape)
    smallest = quadratic / (2 * likelihood.sigma_upper**2)
    drawn = generator.standard_gamma(half)
    outside = drawn < smallest
    if outside.any():
        upper = special.gammaincc(half[outside], smallest[outside])
        drawn[outside] = special.gammainccinv(half[outside], upper * generator.random(int(outside.sum())))
        beyond = np.isinf(drawn)  # the share of the distribution that the bound leaves is below the smallest double
        if beyond.any():
            drawn[beyond] = _gamma_tail(half[beyond], smallest[beyond], generator)
    return np.asarray(np.sqrt(quadratic / (2 * np.maximum(drawn, smallest))))


def _gamma_tail(shape: FloatArray, lowest: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Draws of a Gamma distribution above ``lowest``, which is far above its mean, by rejection.

    Where x > lowest, log(x / lowest) <= (x - lowest) / lowest: an exponential density of rate 1 - (shape - 1) / lowest
    lies above that of the tail.
    """
    found = np.empty_like(lowest)
    left = np.arange(len(lowest))
    while len(left):
        power, low = shape[left] - 1, lowest[left]
        excess = generator.standard_exponential(len(left)) / (1 - power / low)
        taken = np.log(generator.random(len(left))) <= power * (np.log1p(excess / low) - excess / low)
        found[left[taken]] = (low + excess)[taken]
        left = left[~taken]
    return found


def _batches(count: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, count, size))
