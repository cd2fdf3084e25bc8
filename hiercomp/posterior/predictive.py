"""Draws and density of the next difference, log likelihood by data set, replicated and new means, from draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import FloatArray

if TYPE_CHECKING:
    from hiercomp.engines.quadrature.likelihood import MeanLikelihood
    from hiercomp.scores.differences import PairedDifferences


def next_differences(
    delta0: FloatArray, sigma0: FloatArray, nu: ArrayLike, generator: np.random.Generator
) -> FloatArray:
    """delta_next ~ Student-t(nu, delta0, sigma0), one for each draw; same shape as ``delta0``."""
    nu = np.broadcast_to(np.asarray(nu, dtype=float), delta0.shape)
    gaussian = np.isinf(nu)
    degrees = np.where(gaussian, 1.0, nu)
    mixing = np.where(gaussian, 1.0, generator.chisquare(degrees) / degrees)
    return np.asarray(delta0 + sigma0 * generator.standard_normal(delta0.shape) / np.sqrt(mixing))


def population_density(delta0: FloatArray, sigma0: FloatArray, nu: ArrayLike, x: ArrayLike) -> FloatArray:
    """Mean over the draws of the densities Student-t(nu, delta0, sigma0) at ``x``; with its shape."""
    from scipy import special

    points = np.asarray(x, dtype=float)
    delta0, sigma0, nu = (np.ravel(value) for value in np.broadcast_arrays(delta0, sigma0, nu))
    total = np.zeros(points.shape)
    gaussian = np.isinf(nu)
    finite = np.where(gaussian, 1.0, nu)
    constant = special.gammaln((finite + 1) / 2) - special.gammaln(finite / 2) - 0.5 * np.log(finite * np.pi)
    constant = np.where(gaussian, -0.5 * np.log(2 * np.pi), constant) - np.log(sigma0)
    for number, point in np.ndenumerate(points):
        z2 = ((point - delta0) / sigma0) ** 2
        kernel = np.where(gaussian, -z2 / 2, -(finite + 1) / 2 * np.log1p(z2 / finite))
        total[number] = np.exp(constant + kernel).mean()
    return total


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
    log_determinant: FloatArray = np.log(between) + (n - 1) * np.log1p(-rho)
    if differences.two_level is not None:
        log_determinant = log_determinant + differences.two_level.log_determinant_ratio
    return np.asarray(-0.5 * (n * np.log(2 * np.pi * sigma**2) + log_determinant + quadratic / sigma**2))


def replicated_means(
    delta: FloatArray, sigma: FloatArray, differences: PairedDifferences, generator: np.random.Generator
) -> FloatArray:
    """Means of replicated data sets: N(delta_i, sigma_i^2 (1 + (n - 1) rho) / n); shape of ``delta``."""
    n, rho = differences.n, differences.rho
    return np.asarray(delta + sigma * np.sqrt((1 + (n - 1) * rho) / n) * generator.standard_normal(delta.shape))


def marginal_log_likelihood(
    likelihood: MeanLikelihood, delta0: FloatArray, sigma0: FloatArray, nu: ArrayLike
) -> FloatArray:
    """Log p(x_i | delta0, sigma0, nu) of each data set, delta_i and sigma_i integrated out (M14).

    Parameters
    ----------
    likelihood : MeanLikelihood
        Of q data sets.
    delta0, sigma0, nu : ndarray
        Of one shape, in the unit of the likelihood.

    Returns
    -------
    ndarray, shape (..., q)
    """
    return likelihood.log_integrals(delta0, sigma0, nu).reshape(*delta0.shape, len(likelihood.n))


def new_means(
    likelihood: MeanLikelihood, delta0: FloatArray, sigma0: FloatArray, nu: ArrayLike, generator: np.random.Generator
) -> FloatArray:
    """Means of new data sets from the population, each with the spread, size and correlation of a data set.

    A mean is delta + e, with delta from the population and e, by (M13), from a Student-t distribution with n - 2 degrees of
    freedom: sigma_i is integrated out given the spread, and its bound left aside.

    Parameters
    ----------
    likelihood : MeanLikelihood
        Of q data sets.
    delta0, sigma0, nu : ndarray
        Of one shape, in the unit of the likelihood.
    generator : numpy.random.Generator

    Returns
    -------
    ndarray, shape (..., q)
    """
    shape = (*delta0.shape, len(likelihood.n))
    centre, spread, freedom = (
        np.broadcast_to(np.asarray(values)[..., None], shape) for values in np.broadcast_arrays(delta0, sigma0, nu)
    )
    delta = next_differences(centre, spread, freedom, generator)
    return np.asarray(delta + likelihood.scale * generator.standard_t(likelihood.df, size=shape))
