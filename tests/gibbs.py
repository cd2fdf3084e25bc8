"""A sampler of the model with covariates that shares nothing with the package: Gibbs steps on scale mixtures of normals.

All in the metric's units. delta_i is integrated out of the step for the centre and the slopes; nu is drawn on a grid with
the mixing weights integrated out.
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

NU = 1 + np.exp(np.linspace(np.log(1e-3), np.log(500), 500))
LOG_SCALES = np.linspace(-10, 14, 500)  # of the horseshoe


def log_prior_of_nu() -> np.ndarray:
    """Log density of nu at the grid, times the grid's spacing; shape and rate by the midpoint rule."""
    alpha = 0.5 + 4.5 * (np.arange(200) + 0.5) / 200
    beta = 0.05 + 0.1 * (np.arange(200) + 0.5) / 200
    density = np.array([stats.gamma.pdf(x, alpha[:, None], scale=1 / beta).mean() for x in NU - 1])
    return np.log(density) + np.log(NU - 1)


def normal_slopes(scale: float):
    """(C2): the same variance always."""

    def variances(slope, state, generator):
        return np.full(len(slope), scale**2)

    return variances


def horseshoe_slopes(scale: float, tau0: float):
    """(C3): each scale is drawn on a grid of its logarithm."""

    def log_normal(slope, v):
        return -0.5 * np.log(v) - slope**2 / (2 * v)

    def log_half_cauchy(log_x):
        return log_x - np.log1p(np.exp(2 * log_x))

    def drawn(log_density, generator):
        mass = np.cumsum(np.exp(log_density - log_density.max(axis=-1, keepdims=True)), axis=-1)
        at = (mass < generator.random(mass.shape[:-1])[..., None] * mass[..., -1:]).sum(axis=-1)
        return LOG_SCALES[at]

    def variances(slope, state, generator):
        local, tau, slab = state.setdefault("scales", [np.zeros(len(slope)), 0.0, 0.0])
        grid = np.exp(2 * LOG_SCALES)

        def v(local_2, tau_2, slab_2):
            return 1 / (1 / (tau0**2 * tau_2 * local_2) + 1 / (scale**2 * slab_2))

        local = drawn(
            log_normal(slope[:, None], v(grid, np.exp(2 * tau), np.exp(slab))) + log_half_cauchy(LOG_SCALES), generator
        )
        each = v(np.exp(2 * local)[:, None], grid, np.exp(slab))
        tau = drawn(log_normal(slope[:, None], each).sum(axis=0) + log_half_cauchy(LOG_SCALES), generator)
        each = v(np.exp(2 * local)[:, None], np.exp(2 * tau), np.exp(LOG_SCALES))
        log_inverse_gamma = -2 * LOG_SCALES - 2 * np.exp(-LOG_SCALES)  # shape 2, scale 2, of the log
        slab = drawn(log_normal(slope[:, None], each).sum(axis=0) + log_inverse_gamma, generator)
        state["scales"] = [local, tau, slab]
        return v(np.exp(2 * local), np.exp(2 * tau), np.exp(slab))

    return variances


def gibbs(mean, squares, n, rho, covariates, variances_of_slopes, draws, seed, *, gaussian=False):
    """Draws of delta0, the slopes, sigma0 and nu: a dictionary of arrays (draws,) and (draws, p)."""
    generator = np.random.default_rng(seed)
    q, p = covariates.shape
    design = np.column_stack([np.ones(q), covariates])
    log_prior, state = log_prior_of_nu(), {}
    coefficients, sigma0, nu, weight = np.zeros(p + 1), np.std(mean), 5.0, np.ones(q)
    coefficients[0], delta = mean.mean(), mean.copy()
    design_effect = (1 + (n - 1) * rho) / n
    found = {"delta0": [], "slope": [], "sigma0": [], "nu": []}
    warmup = draws // 5
    for sweep in range(draws + warmup):
        quadratic = squares / (1 - rho) + (mean - delta) ** 2 / design_effect
        variance = quadratic / 2 / generator.standard_gamma((n - 1) / 2) * design_effect  # of the mean
        prior = np.append(0, 1 / variances_of_slopes(coefficients[1:], state, generator))
        total = variance + sigma0**2 / weight
        precision = design.T @ (design / total[:, None]) + np.diag(prior)
        root = np.linalg.cholesky(precision)
        middle = np.linalg.solve(precision, design.T @ (mean / total))
        coefficients = middle + np.linalg.solve(root.T, generator.normal(size=p + 1))
        centre = design @ coefficients
        spread = 1 / (1 / variance + weight / sigma0**2)
        delta = spread * (mean / variance + centre * weight / sigma0**2) + np.sqrt(spread) * generator.normal(size=q)
        residual = delta - centre
        sigma0 = np.sqrt((weight * residual**2).sum() / 2 / generator.standard_gamma((q - 1) / 2))
        if not gaussian:
            squared = (residual / sigma0) ** 2
            log_density = log_prior + q * (
                special.gammaln((NU + 1) / 2) - special.gammaln(NU / 2) - 0.5 * np.log(NU * np.pi)
            )
            log_density -= (NU + 1) / 2 * np.log1p(squared[:, None] / NU).sum(axis=0)
            mass = np.cumsum(np.exp(log_density - log_density.max()))
            nu = NU[np.searchsorted(mass, generator.random() * mass[-1])]
            weight = generator.standard_gamma((nu + 1) / 2, size=q) / ((nu + squared) / 2)
        if sweep >= warmup:
            for name, value in zip(found, (coefficients[0], coefficients[1:], sigma0, nu), strict=True):
                found[name].append(value)
    return {name: np.array(values) for name, values in found.items()}
