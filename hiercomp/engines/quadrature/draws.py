"""Independent draws of every parameter from a grid of the posterior."""

from __future__ import annotations

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.grid import FineGrid, PosteriorGrid
from hiercomp.engines.quadrature.likelihood import MeanLikelihood

CELLS = 128  # of sigma0 and of nu, each; draws are uniform within a cell, 1 / 128 of a range of some ten deviations
BISECTIONS = 25  # of a cell of delta0: to 2^-25 = 3e-8 of it


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
    delta = likelihood.delta_draws(delta0, sigma0, nu, generator.random((len(delta0), len(likelihood.n))))
    return delta, likelihood.sigma_draws(delta, generator)
