"""The posterior of the next data set by deterministic integration, written for the tests without project code.

The standard deviation of a data set is integrated out analytically, which leaves a Student-t likelihood for its mean
difference; the mean differences are integrated against the population on a uniform grid with exact cell masses of the
population density; (delta0, log sigma0, log(nu - nu_lower)) are then integrated on a product grid. Everything is in
units of the mean within-data-set standard deviation. Accurate to about 1e-3 for 10 or more data sets with 10 or more
scores each, which is what the tests ask of it (``test_doubling_every_grid_changes_little`` measures it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import interpolate, special, stats
from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class ExactAnswer:
    """P(left), P(rope), P(right), the expected probabilities of the regions, P(delta0 > 0), and the marginals.

    Each of ``marginals`` is a grid of values, in the metric's units but for nu, and the masses at them.
    """

    most_probable: np.ndarray
    expected: np.ndarray
    positive: float
    marginals: dict[str, tuple[np.ndarray, np.ndarray]]

    def moments(self, name):
        values, mass = self.marginals[name]
        mean = values @ mass / mass.sum()
        return mean, np.sqrt((values - mean) ** 2 @ mass / mass.sum())

    def quantiles(self, name, levels):
        """Each node's mass is taken as spread evenly to halfway between it and its neighbours."""
        values, mass = self.marginals[name]
        edges = np.concatenate([values[:1], (values[1:] + values[:-1]) / 2, values[-1:]])
        return np.interp(levels, np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum(), edges)


def log_nu_prior(excess, shape=(0.5, 5.0), rate=(0.05, 0.15)):
    """log density of nu - nu_lower: a Gamma whose shape and rate are uniform on the intervals (or plain numbers)."""

    def nodes(limits):
        if np.isscalar(limits):
            return np.array([limits]), np.array([1.0])
        x, w = np.polynomial.legendre.leggauss(40)
        return limits[0] + (limits[1] - limits[0]) * (x + 1) / 2, w / 2

    shapes, shape_weights = nodes(shape)
    rates, rate_weights = nodes(rate)
    density = stats.gamma.pdf(excess[:, None, None], shapes[:, None], scale=1 / rates)
    return np.log(np.einsum("gab,a,b->g", density, shape_weights, rate_weights))


def student_cdf(nu, t):
    return special.stdtr(nu, t) if np.isfinite(nu) else special.ndtr(t)


def refined(nodes, mass):
    """Masses on a hundred times as many nodes: the logarithm of the density is smooth between the given ones."""
    nodes, mass = nodes[mass > 0], mass[mass > 0]
    fine = np.linspace(nodes[0], nodes[-1], 100 * len(nodes))
    return fine, np.exp(interpolate.CubicSpline(nodes, np.log(mass))(fine))


@threadpool_limits.wrap(limits=1)  # small products; more threads only get in each other's way
def next_dataset(
    mean, sum_of_squares, n, rho, *, rope, bound, nu_lower=1.0, shape=(0.5, 5.0), rate=(0.05, 0.15),
    gaussian=False, cells=1500, centres=120, scales=60, dofs=24,
):  # fmt: skip
    """Integrate the model of the 2017 paper; all arguments in the metric's units, ``rope`` a half-width."""
    mean, sum_of_squares, n, rho = (np.asarray(a, float) for a in np.broadcast_arrays(mean, sum_of_squares, n, rho))
    unit = np.mean(np.sqrt(sum_of_squares / (n - 1)))
    mean, sum_of_squares, rope, bound = mean / unit, sum_of_squares / unit**2, rope / unit, bound / unit
    s0 = np.std(mean, ddof=1)

    df = n - 2
    likelihood_scale = np.sqrt(sum_of_squares / (1 - rho) * (1 + (n - 1) * rho) / n / df)
    tail = np.abs(stats.t.ppf(1e-9, df)) * likelihood_scale
    lowest, highest = np.min(mean - tail), np.max(mean + tail)
    width = min((highest - lowest) / cells, likelihood_scale.min() / 4)
    grid = np.arange(lowest, highest + width, width)
    likelihood = stats.t.pdf((grid - mean[:, None]) / likelihood_scale[:, None], df[:, None])
    likelihood /= likelihood_scale[:, None]

    # delta0 on every `step`-th node of the grid around the data, so that the kernel matrix is a sliding window
    pooled = np.sqrt(s0**2 + np.mean(likelihood_scale**2))
    reach = 12 * pooled / np.sqrt(len(mean)) + 2 * likelihood_scale.min()
    middle = np.median(mean)
    inside = np.flatnonzero(np.abs(grid - middle) <= max(reach, 6 * width))
    step = max(1, len(inside) // centres)
    chosen = inside[::step]
    delta0 = grid[chosen]

    edges = (np.arange(-len(grid), len(grid) + 1) - 0.5) * width

    def log_posterior(log_sigma0, log_excess, nodes):
        """log density of (log(nu - nu_lower), log sigma0, delta0) on a product grid."""
        values = np.empty((len(log_excess), len(log_sigma0), len(nodes)))
        for a, excess in enumerate(np.exp(log_excess)):
            nu = np.inf if gaussian else nu_lower + excess
            for b, sigma0 in enumerate(np.exp(log_sigma0)):
                lower_half = student_cdf(nu, -np.abs(edges) / sigma0)
                mass = np.abs(np.diff(lower_half))  # of each cell, from the side where the cdf is small
                middle_cell = len(grid)
                mass[middle_cell] = 1 - lower_half[middle_cell] - lower_half[middle_cell + 1]
                windows = np.lib.stride_tricks.sliding_window_view(mass, len(grid))
                kernel = windows[len(grid) - nodes]  # mass of cell k seen from delta0: (nodes, grid)
                values[a, b] = np.log(np.maximum(likelihood @ kernel.T, 1e-300)).sum(axis=0)
        values += (log_sigma0 + np.where(np.exp(log_sigma0) < 1000 * s0, 0, -np.inf))[:, None]
        if not gaussian:
            values += (log_nu_prior(np.exp(log_excess), shape, rate) + log_excess)[:, None, None]
        return values

    def support(log_density, axis, nodes):
        """The interval of nodes outside which the marginal density is below 1e-6 of its peak."""
        others = tuple(other for other in range(3) if other != axis)
        marginal = np.exp(log_density - log_density.max()).sum(axis=others)
        inside = np.flatnonzero(marginal > 1e-6 * marginal.max())
        return nodes[max(inside[0] - 1, 0)], nodes[min(inside[-1] + 1, len(nodes) - 1)]

    typical = np.median(likelihood_scale)
    log_sigma0 = np.linspace(np.log(1e-3 * typical), np.log(60 * max(s0, typical)), 50)
    log_excess = np.array([0.0]) if gaussian else np.linspace(np.log(1e-3), np.log(500.0), 10)
    rough = log_posterior(log_sigma0, log_excess, chosen[:: max(1, centres // 30)])
    log_sigma0 = np.linspace(*support(rough, 1, log_sigma0), scales)
    if not gaussian:
        log_excess = np.linspace(*support(rough, 0, log_excess), dofs)
    log_density = log_posterior(log_sigma0, log_excess, chosen)
    nus = np.array([np.inf]) if gaussian else nu_lower + np.exp(log_excess)

    fine = np.linspace(delta0[0], delta0[-1], 20 * len(delta0))
    most_probable, expected, positive, total = np.zeros(3), np.zeros(3), 0.0, 0.0
    pair_mass, centre_mass = np.zeros(log_density.shape[:2]), np.zeros(len(fine))
    peak = log_density.max()
    for a, nu in enumerate(nus):
        for b, sigma0 in enumerate(np.exp(log_sigma0)):
            row = log_density[a, b] - peak
            if not np.isfinite(row).any() or row.max() < -30:
                continue
            weight = np.exp(interpolate.CubicSpline(delta0, row)(fine)) * (np.abs(fine) < bound)
            left = student_cdf(nu, (-rope - fine) / sigma0)
            right = student_cdf(nu, (fine - rope) / sigma0)
            regions = np.stack([left, 1 - left - right, right])
            winners = np.argmax(regions, axis=0)
            most_probable += [weight[winners == region].sum() for region in range(3)]
            expected += regions @ weight
            positive += weight[fine > 0].sum()
            total += weight.sum()
            pair_mass[a, b] = weight.sum()
            centre_mass += weight
    log_fine, mass = refined(log_sigma0, pair_mass.sum(axis=0))
    marginals = {"delta0": (fine * unit, centre_mass), "sigma0": (np.exp(log_fine) * unit, mass)}
    if not gaussian:
        log_fine, mass = refined(log_excess, pair_mass.sum(axis=1))
        marginals["nu"] = (nu_lower + np.exp(log_fine), mass)
    return ExactAnswer(most_probable / total, expected / total, positive / total, marginals)
