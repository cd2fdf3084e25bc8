"""How much mass lies beyond the ends of an axis of delta0, before a grid is computed on it."""

from __future__ import annotations

import numpy as np

from hiercomp.engines.quadrature.axes import gauss_legendre
from hiercomp.engines.quadrature.grid import SLOWEST_RATE, Centring, conditional_places
from hiercomp.engines.quadrature.support import Integrand, Support

NODES = 7  # of sigma0 and of nu: the mass is known to a factor of about 3, for a few per cent of the work of a grid
STEP = 0.9  # of the integrals over delta_i, for the same reason
INSIDE = 0.5  # scales from the end, where the density is seen to fall


def mass_beyond(problem: Integrand, support: Support, centring: Centring, reach: float) -> float:
    """Roughly the share of the mass beyond ``reach`` scales from the conditional centre of delta0.

    The density goes on to fall as it does at the ends, and is Gaussian between them.
    """
    relative, weight = gauss_legendre(-1.0, 1.0, NODES)
    nu_places, nu_weight = np.zeros(1), np.ones(1)
    if problem.nu_prior is not None:
        nu_places, nu_weight = gauss_legendre(*support.nu, NODES)
    sigma0 = problem.sigma0(support.sigma0_place(relative, nu_places))
    nu = np.broadcast_to(problem.nu(nu_places), sigma0.shape)
    centre, scale = conditional_places(problem, support, relative, nu_places, centring)
    places = np.array([-reach, INSIDE - reach, 0.0, reach - INSIDE, reach])
    delta0 = centre[..., None] + scale[..., None] * places
    log_likelihood = problem.likelihood.log_marginal(delta0, sigma0[..., None], nu[..., None], step=STEP)
    log_density = log_likelihood.reshape(delta0.shape) + problem.log_prior(delta0, sigma0[..., None])
    lower, upper = support.ends(nu_places)
    log_weight = np.log(weight[:, None] * nu_weight * (upper - lower) * (sigma0 + problem.sigma0_offset) * scale)
    if problem.nu_prior is not None:
        log_weight = log_weight + problem.nu_prior.log_density(nu) + np.log(problem.nu_slope(nu_places))
    log_mass = log_density + log_weight[..., None]
    mass = np.exp(log_mass - log_mass[..., 2].max())
    falls = (log_mass[..., [1, 3]] - log_mass[..., [0, 4]]) / INSIDE
    beyond = (mass[..., [0, 4]] / np.maximum(falls, SLOWEST_RATE)).sum()
    return float(beyond / (np.sqrt(2 * np.pi) * mass[..., 2].sum()))
