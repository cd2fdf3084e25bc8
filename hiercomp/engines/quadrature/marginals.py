"""Mean, standard deviation and quantiles of delta0, sigma0 and nu from a grid of the posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.grid import FineGrid, PosteriorGrid, coarse_axes

LEVELS = np.array([0.025, 0.5, 0.975])
CELLS = 64  # of sigma0 and of nu, each
QUANTILE_ERROR = 1e-3  # of a quantile on so many cells, in standard deviations, as a test shows
BISECTIONS = 50  # of the axis of delta0, to the last bit


@dataclass(frozen=True)
class Marginal:
    """The marginal posterior of one parameter.

    Attributes
    ----------
    mean, mean_error, sd : float
        ``mean_error`` is the estimated error of the mean.
    lower, median, upper : float
        The quantiles of 2.5%, 50% and 97.5%.
    """

    mean: float
    mean_error: float
    sd: float
    lower: float
    median: float
    upper: float

    def in_unit(self, unit: float) -> Marginal:
        """Every value times ``unit``."""
        return Marginal(**{name: unit * value for name, value in vars(self).items()})


def marginals(grid: PosteriorGrid) -> dict[str, Marginal]:
    """The marginals of delta0, sigma0 and, of a Student-t population, nu; errors are differences from coarser grids."""
    fine, even = FineGrid.of(grid), FineGrid.even(grid, CELLS)
    means, others = _means(fine), [_means(FineGrid.of(grid, None, coarse)) for coarse in coarse_axes(grid)]
    deviations = {"delta0": fine.deviation_of_delta0}
    quantiles = {"delta0": _delta0_quantiles(fine), "sigma0": _sigma0_quantiles(even), "nu": _nu_quantiles(even)}
    for name, values in (("sigma0", fine.sigma0), ("nu", fine.nu)):
        if name in means:
            deviations[name] = float(np.sqrt((values - means[name]) ** 2 @ fine.pair_mass / fine.total))
    return {
        name: Marginal(
            mean, sum(abs(mean - other[name]) for other in others), deviations[name], *quantiles[name].tolist()
        )
        for name, mean in means.items()
    }


def probability_below(grid: PosteriorGrid, name: str, value: float) -> float:
    """Posterior probability that delta0, sigma0 or nu is below a value, in the unit of the problem."""
    if name == "delta0":
        fine = FineGrid.of(grid)
        return float(fine.mass_below(np.full((len(fine.centre), 1), value)).sum() / fine.total)
    even, problem = FineGrid.even(grid, CELLS), grid.problem
    if name == "sigma0":
        places, below = _sigma0_distribution(even)
        return float(np.interp(value, problem.sigma0(places), below))
    edges, below = _nu_distribution(even)
    return float(np.interp(value, problem.nu(edges), below))


def _means(fine: FineGrid) -> dict[str, float]:
    means = {"delta0": fine.expected_delta0, "sigma0": float(fine.sigma0 @ fine.pair_mass / fine.total)}
    if fine.grid.problem.nu_prior is not None:
        means["nu"] = float(fine.nu @ fine.pair_mass / fine.total)
    return means


def _delta0_quantiles(fine: FineGrid) -> FloatArray:
    """The distribution function of delta0, the sum over all pairs, inverted by bisection."""
    bound = fine.grid.problem.delta0_bound
    low = np.full(len(LEVELS), max(-bound, float(fine.delta0.min())))
    high = np.full(len(LEVELS), min(bound, float(fine.delta0.max())))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = fine.mass_below(np.broadcast_to(middle, (len(fine.centre), len(LEVELS)))).sum(axis=0) / fine.total
        low, high = np.where(below < LEVELS, middle, low), np.where(below < LEVELS, high, middle)
    return np.asarray((low + high) / 2)


def _sigma0_quantiles(even: FineGrid) -> FloatArray:
    places, below = _sigma0_distribution(even)
    return np.asarray(even.grid.problem.sigma0(np.interp(LEVELS, below, places)))


def _sigma0_distribution(even: FineGrid) -> tuple[FloatArray, FloatArray]:
    """Places on the axis of sigma0 and the probability below them, from cells whose ends differ from nu to nu."""
    problem, support = even.grid.problem, even.grid.support
    nu_cells, sigma0_cells = even.shape
    nu_places = even.grid.nu_axis.nodes if problem.nu_prior is None else _middles(*support.nu, nu_cells)
    lower, upper = support.ends(nu_places)
    edges = lower[:, None] + (upper - lower)[:, None] * np.arange(sigma0_cells + 1) / sigma0_cells
    reached = np.concatenate([np.zeros((nu_cells, 1)), np.cumsum(even.mass_table, axis=1)], axis=1)
    places = np.unique(edges)
    below = sum(np.interp(places, edges[number], reached[number]) for number in range(nu_cells)) / even.total
    return places, np.asarray(below)


def _nu_quantiles(even: FineGrid) -> FloatArray:
    edges, below = _nu_distribution(even)
    return np.asarray(even.grid.problem.nu(np.interp(LEVELS, below, edges)))


def _nu_distribution(even: FineGrid) -> tuple[FloatArray, FloatArray]:
    """Places on the axis of nu and the probability below them, from cells of even density."""
    edges = np.linspace(*even.grid.support.nu, even.shape[0] + 1)
    return edges, np.concatenate([[0.0], np.cumsum(even.mass_table.sum(axis=1))]) / even.total


def _middles(first: float, last: float, count: int) -> FloatArray:
    return np.asarray(first + (last - first) * (np.arange(count) + 0.5) / count)
