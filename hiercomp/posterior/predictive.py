"""Draws of the next difference, log likelihood by data set, and replicated means, from posterior draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from hiercomp.scores.differences import PairedDifferences

from hiercomp.arguments import FloatArray


def next_differences(
    delta0: FloatArray, sigma0: FloatArray, nu: ArrayLike, generator: np.random.Generator
) -> FloatArray:
    """delta_next ~ Student-t(nu, delta0, sigma0), one for each draw; same shape as ``delta0``."""
    nu = np.broadcast_to(np.asarray(nu, dtype=float), delta0.shape)
    gaussian = np.isinf(nu)
    degrees = np.where(gaussian, 1.0, nu)
    mixing = np.where(gaussian, 1.0, generator.chisquare(degrees) / degrees)
    return np.asarray(delta0 + sigma0 * generator.standard_normal(delta0.shape) / np.sqrt(mixing))


def log_likelihood(delta: FloatArray, sigma: FloatArray, differences: PairedDifferences) -> FloatArray:
    """Log p(x_i | delta_i, sigma_i) of each data set, with all constants: (M1), (M8) and (M9).

    Parameters
    ----------
    delta, sigma : ndarray, shape (..., q)
    differences : PairedDifferences
        Of q data sets.

    Returns
    -------
    ndarray, shape (..., q)
    """
    n, rho = differences.n, differences.rho
    between = 1 + (n - 1) * rho
    quadratic = differences.sum_of_squares / (1 - rho) + n * (differences.mean - delta) ** 2 / between
    log_determinant = np.log(between) + (n - 1) * np.log1p(-rho)
    return np.asarray(-0.5 * (n * np.log(2 * np.pi * sigma**2) + log_determinant + quadratic / sigma**2))


def replicated_means(
    delta: FloatArray, sigma: FloatArray, differences: PairedDifferences, generator: np.random.Generator
) -> FloatArray:
    """Means of replicated data sets: N(delta_i, sigma_i^2 (1 + (n - 1) rho) / n); shape of ``delta``."""
    n, rho = differences.n, differences.rho
    return np.asarray(delta + sigma * np.sqrt((1 + (n - 1) * rho) / n) * generator.standard_normal(delta.shape))
