"""The prior of the degrees of freedom with its hyperparameters integrated out (M6, M7)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.axes import legendre_rule
from hiercomp.model.priors import Priors

TAIL = 1e-10  # prior probability beyond the largest nu: no posterior has more than a millionth there
BISECTIONS = 40  # of the axis of nu, from its lower bound to the largest: 1e-9 of a few hundred
NODES = 24  # Gauss-Legendre, for the shape; the integrand is analytic, and the tests ask for 1e-8


@dataclass(frozen=True)
class NuPrior:
    """nu - nu_lower ~ Gamma(alpha, beta), with alpha and beta uniform on their intervals or fixed.

    Parameters
    ----------
    priors : Priors
        Of a Student-t population.

    Examples
    --------
    >>> import numpy as np
    >>> NuPrior(Priors.kruschke()).log_density(np.array([30.0])).round(3)
    array([-4.367])
    """

    priors: Priors

    @cached_property
    def _shapes(self) -> tuple[FloatArray, FloatArray]:
        """Shapes alpha with their weights."""
        limits = self.priors.alpha
        if not isinstance(limits, tuple):
            return np.array([limits]), np.ones(1)
        nodes, weights = legendre_rule(NODES)
        return limits[0] + (limits[1] - limits[0]) * (nodes + 1) / 2, weights / 2

    def log_density(self, nu: FloatArray) -> FloatArray:
        """Log of the prior density at ``nu``, above nu_lower; the rate is integrated in closed form."""
        from scipy import special

        shape, weight = self._shapes
        excess = (nu - self.priors.nu_lower)[..., None]
        rates = self.priors.beta
        if not isinstance(rates, tuple):
            log_gamma = shape * np.log(rates) + (shape - 1) * np.log(excess) - rates * excess - special.gammaln(shape)
            return np.asarray(special.logsumexp(log_gamma, b=weight, axis=-1))
        slow, fast = rates[0] * excess, rates[1] * excess
        # The mean over the rates of the Gamma density; by the side on which both probabilities are small
        upper = slow > shape + 1
        mass = np.where(
            upper,
            special.gammaincc(shape + 1, slow) - special.gammaincc(shape + 1, fast),
            special.gammainc(shape + 1, fast) - special.gammainc(shape + 1, slow),
        )
        terms = shape * np.maximum(mass, np.finfo(float).tiny) @ weight
        return np.asarray(np.log(terms) - 2 * np.log(excess[..., 0]) - np.log(rates[1] - rates[0]))

    def cdf(self, nu: FloatArray) -> FloatArray:
        """Prior probability below ``nu``."""
        from scipy import special

        shape, weight = self._shapes
        excess = np.maximum(nu - self.priors.nu_lower, 0.0)[..., None]
        if not isinstance(self.priors.beta, tuple):
            return np.asarray(special.gammainc(shape, self.priors.beta * excess) @ weight)
        nodes, rate_weights = legendre_rule(NODES)
        slow, fast = self.priors.beta
        rates = slow + (fast - slow) * (nodes + 1) / 2
        by_shape = special.gammainc(shape[:, None], rates * excess[..., None]) @ (rate_weights / 2)
        return np.asarray(by_shape @ weight)

    def quantile(self, level: float) -> float:
        """The nu below which the prior has the probability ``level``."""
        low, high = self.priors.nu_lower, self.largest
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.cdf(np.asarray(middle)) < level else (low, middle)
        return (low + high) / 2

    @cached_property
    def largest(self) -> float:
        """The nu beyond which lies a probability of less than 1e-10."""
        from scipy import special

        shape, _ = self._shapes
        rates = self.priors.beta
        slowest = rates[0] if isinstance(rates, tuple) else rates
        return float(self.priors.nu_lower + special.gammainccinv(shape, TAIL).max() / slowest)

    def hyperparameter_draws(self, nu: FloatArray, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draws of alpha and beta given nu, each shaped as ``nu``; for uniform hyperpriors only."""
        from scipy import special

        if not isinstance(self.priors.alpha, tuple) or not isinstance(self.priors.beta, tuple):
            raise TypeError("alpha and beta are fixed")
        (low, high), (slow, fast) = self.priors.alpha, self.priors.beta
        excess = (nu - self.priors.nu_lower).ravel()[:, None]
        grid = np.linspace(low, high, 201)
        # beta integrated out: p(alpha | nu) is proportional to alpha (P(alpha + 1, fast x) - P(alpha + 1, slow x))
        density = grid * (special.gammainc(grid + 1, fast * excess) - special.gammainc(grid + 1, slow * excess))
        density = np.maximum(density, np.finfo(float).tiny)
        mass = np.cumsum((density[:, 1:] + density[:, :-1]) / 2, axis=1)
        wanted = generator.random((len(excess), 1)) * mass[:, -1:]
        cell = (mass < wanted).sum(axis=1)
        below = np.where(cell > 0, np.take_along_axis(mass, np.maximum(cell - 1, 0)[:, None], 1)[:, 0], 0.0)
        inside = np.take_along_axis(mass, cell[:, None], 1)[:, 0] - below
        alpha = grid[cell] + (wanted[:, 0] - below) / inside * (grid[1] - grid[0])
        # beta given alpha and nu: Gamma(alpha + 1, x) between its limits
        ends = [special.gammainc(alpha + 1, limit * excess[:, 0]) for limit in (slow, fast)]
        level = ends[0] + generator.random(len(alpha)) * (ends[1] - ends[0])
        beta = np.clip(special.gammaincinv(alpha + 1, level) / excess[:, 0], slow, fast)
        return alpha.reshape(nu.shape), beta.reshape(nu.shape)
