"""How likely a data set's mean difference would be less than it is, under given populations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.axes import legendre_rule
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.regions import TailTable

NODES = 24  # over the quantiles of the narrower distribution: an error of up to 0.002, where both have heavy tails
FEWER_NODES, LIGHT_TAILED = 10, 8.0  # where it has so many degrees of freedom; an error of 3e-4
MOST_NU = 100  # different ones, each of which has a table of its distribution function


@dataclass(frozen=True, eq=False)
class Populations:
    """Centres, scales and degrees of freedom of many Student-t populations.

    Attributes
    ----------
    delta0, sigma0, nu : ndarray, shape (populations,)
        ``nu`` may be infinite.
    """

    delta0: FloatArray
    sigma0: FloatArray
    nu: FloatArray

    def mean_below(self, likelihood: MeanLikelihood) -> FloatArray:
        """Probability that the mean of a new data set with this one's spread, size and correlation is below its mean.

        It is delta + e, with delta from the population and e, by (M13), from a Student-t distribution with n - 2 degrees
        of freedom: sigma_i given the spread is integrated out, its bound left aside. The mean of the wider one's
        distribution function over the narrower one, which is smooth, is the answer.

        Parameters
        ----------
        likelihood : MeanLikelihood
            Of the one data set.

        Returns
        -------
        ndarray, shape (populations,)
        """
        mean, scale, df = (float(value[0]) for value in (likelihood.mean, likelihood.scale, likelihood.df))
        distance = mean - self.delta0
        found = np.empty(len(distance))
        wide = self.sigma0 > scale  # the population
        levels, weights = _rule(FEWER_NODES if df >= LIGHT_TAILED else NODES)
        errors = scale * _quantiles(levels, np.array([df]))[0]
        t = (distance[wide, None] - errors) / self.sigma0[wide, None]
        found[wide] = _cdf(t, self._distinct_nu[0], self._distinct_nu[1][wide]) @ weights
        narrow = ~wide
        deltas = self.sigma0[narrow, None] * self._quantiles[self._distinct_nu[1][narrow]]
        t = (distance[narrow, None] - deltas) / scale
        found[narrow] = _cdf(t, np.array([df]), np.zeros(len(t), dtype=np.intp)) @ _rule(NODES)[1]
        return found

    @classmethod
    def of_draws(cls, delta0: FloatArray, sigma0: FloatArray, nu: FloatArray) -> Populations:
        """Draws, each nu moved to the nearest of a few: by 3%, for nu from 1 to 300.

        That moves a probability by less than 0.002, upwards as often as downwards.
        """
        finite = np.isfinite(nu)
        if finite.any():
            log_nu = np.log(nu[finite])
            spacing = float(np.ptp(log_nu)) / MOST_NU or 1.0
            nu = nu.copy()
            nu[finite] = np.exp(log_nu.min() + spacing * np.round((log_nu - log_nu.min()) / spacing))
        return cls(delta0, sigma0, nu)

    @cached_property
    def _distinct_nu(self) -> tuple[FloatArray, NDArray[np.intp]]:
        """The values of nu, and which of them each population has."""
        values, which = np.unique(self.nu, return_inverse=True)
        return values, which.ravel()

    @cached_property
    def _quantiles(self) -> FloatArray:
        """At the nodes, shape (values of nu, nodes)."""
        return _quantiles(_rule(NODES)[0], self._distinct_nu[0])


@cache
def _rule(count: int) -> tuple[FloatArray, FloatArray]:
    """Levels of the quantiles and their weights, dense at both ends because tails are heavy: s^2 (3 - 2 s) for even s."""
    nodes, weights = legendre_rule(count)
    s = (nodes + 1) / 2
    return s**2 * (3 - 2 * s), 3 * s * (1 - s) * weights


def _quantiles(levels: FloatArray, nu: FloatArray) -> FloatArray:
    from scipy import special

    finite = np.where(np.isinf(nu), 1.0, nu)[:, None]
    return np.where(np.isinf(nu)[:, None], special.ndtri(levels), special.stdtrit(finite, levels))


def _cdf(t: FloatArray, nu: FloatArray, which: NDArray[np.intp]) -> FloatArray:
    """P(T < t), shape (rows, nodes), the row's degrees of freedom being ``nu[which]``."""
    distance = np.abs(t)
    tail = TailTable.of(nu, float(distance.max(initial=0.0))).tails(distance, which[:, None])
    return np.where(t < 0, tail, 1 - tail)
