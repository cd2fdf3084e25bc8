"""What the quadrature engine integrates, its axes, and where on them the posterior lies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.nu_prior import NuPrior
from hiercomp.model.priors import Priors

SMALLEST_NU = 0.01  # where nu_lower is 0; about 0.001 of the prior lies below
SHORTEST = 0.2  # of the longest interval of sigma0, for any nu: a polynomial in both is smooth on no narrower wedge


@dataclass(frozen=True, eq=False)
class Integrand:
    """What is integrated, in any one unit.

    Attributes
    ----------
    likelihood : MeanLikelihood
    delta0_bound, sigma0_upper : float
        Bounds of the uniform priors (M4), (M5).
    priors : Priors
    """

    likelihood: MeanLikelihood
    delta0_bound: float
    sigma0_upper: float
    priors: Priors

    @cached_property
    def nu_prior(self) -> NuPrior | None:
        """Prior of nu, or None for a Gaussian population."""
        return None if self.priors.population == "gaussian" else NuPrior(self.priors)

    @cached_property
    def sigma0_offset(self) -> float:
        """The c in the axis log(sigma0 + c): about where a smaller sigma0 makes no difference any more."""
        scale = self.likelihood.width
        # With nu near 0 an outlying data set makes the likelihood a power of sigma0, all the way down
        share = 0.1 if self.priors.nu_lower > 0 or self.nu_prior is None else 0.02
        return float(share * np.mean(scale**-2) ** -0.5 * len(scale) ** -0.25)

    def sigma0(self, eta: FloatArray) -> FloatArray:
        """sigma0 at a place of its axis; never quite zero."""
        return np.asarray(np.maximum(np.exp(eta) - self.sigma0_offset, 1e-9 * self.sigma0_offset))

    def nu(self, place: FloatArray) -> FloatArray:
        """Degrees of freedom at a place of their axis.

        The axis is log(1 + sqrt(nu - nu_lower)): the prior may rise like (nu - nu_lower)^-1/2 at its end, which the square
        takes away, and has a long tail, which the logarithm does; log(nu) where nu_lower is 0.
        """
        if self.nu_prior is None:
            return np.full(np.shape(place), np.inf)
        lower = self.priors.nu_lower
        return np.asarray(lower + np.expm1(place) ** 2 if lower > 0 else np.exp(place))

    def nu_slope(self, place: FloatArray) -> FloatArray:
        """Derivative of nu by the place on its axis."""
        return np.asarray(2 * np.expm1(place) * np.exp(place) if self.priors.nu_lower > 0 else np.exp(place))

    def nu_length(self, ends: tuple[float, float]) -> float:
        """How long a part of nu's axis is, in units that need about as many nodes whatever nu_lower is."""
        return (ends[1] - ends[0]) * (1.0 if self.priors.nu_lower > 0 else 0.7)

    @property
    def sigma0_limits(self) -> tuple[float, float]:
        """Ends of the whole axis of sigma0."""
        return float(np.log(self.sigma0_offset)), float(np.log(self.sigma0_upper + self.sigma0_offset))

    @property
    def nu_limits(self) -> tuple[float, float]:
        """Ends of the whole axis of nu."""
        if self.nu_prior is None:
            return 0.0, 0.0
        lower, largest = self.priors.nu_lower, self.nu_prior.largest
        return (0.0, float(np.log1p(np.sqrt(largest - lower)))) if lower > 0 else (np.log(SMALLEST_NU), np.log(largest))


@dataclass(frozen=True, eq=False)
class Support:
    """Where the posterior of sigma0 and nu has its mass: an interval of nu's axis, and of sigma0's axis for each nu.

    Attributes
    ----------
    nu : tuple of float
        Ends on nu's axis.
    lower, upper : ndarray
        Coefficients (constant first) of the ends on sigma0's axis as polynomials in u in [-1, 1], the place between the
        ends of nu.
    """

    nu: tuple[float, float]
    lower: FloatArray
    upper: FloatArray

    def ends(self, nu_place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends on sigma0's axis at places of nu's axis."""
        first, last = self.nu
        u = (2 * nu_place - first - last) / ((last - first) or 1.0)
        lower, upper = (np.polynomial.polynomial.polyval(u, ends) for ends in (self.lower, self.upper))
        return np.asarray(lower), np.asarray(upper)

    def widened(self, shares: FloatArray, limits: FloatArray) -> Support:
        """With ends further out.

        Parameters
        ----------
        shares : ndarray, shape (4,)
            Of the axes' lengths, by which the ends of nu (first, last) and of sigma0 (lower, upper) move.
        limits : ndarray, shape (4,)
            Which these ends are not to pass.
        """
        nu_below, nu_above, sigma0_below, sigma0_above = shares.tolist()
        first, last = self.nu
        length = last - first
        nu = max(first - nu_below * length, float(limits[0])), min(last + nu_above * length, float(limits[1]))
        u = np.linspace(-1, 1, len(self.lower))
        ends = self.ends((nu[0] + nu[1]) / 2 + (nu[1] - nu[0]) / 2 * u)
        spread = self.length
        outer = (
            np.maximum(ends[0] - sigma0_below * spread, limits[2]),
            np.minimum(ends[1] + sigma0_above * spread, limits[3]),
        )
        powers = np.vander(u, increasing=True)  # the polynomial through as many places
        wider = Support(nu, np.linalg.solve(powers, outer[0]), np.linalg.solve(powers, outer[1]))
        if wider.proper:
            return wider
        # Extrapolated, the two functions meet: constants instead
        lower, upper = self.ends(np.linspace(*self.nu, 33))
        lowest = max(float(lower.min()) - sigma0_below * spread, float(limits[2]))
        highest = min(float(upper.max()) + sigma0_above * spread, float(limits[3]))
        return Support(nu, np.array([lowest]), np.array([highest]))

    @property
    def proper(self) -> bool:
        """Whether the ends of sigma0 stay well apart for every nu."""
        lower, upper = self.ends(np.linspace(*self.nu, 33))
        lengths = upper - lower
        return bool(lengths.min() >= SHORTEST * lengths.max())

    @cached_property
    def length(self) -> float:
        """The longest interval on sigma0's axis."""
        lower, upper = self.ends(np.linspace(*self.nu, 33))
        return float((upper - lower).max())

    @cached_property
    def area(self) -> float:
        """Of the part of the two axes that it covers."""
        lower, upper = self.ends(np.linspace(*self.nu, 33))
        return float((upper - lower).mean() * ((self.nu[1] - self.nu[0]) or 1.0))

    def sigma0_place(self, relative: FloatArray, nu_place: FloatArray) -> FloatArray:
        """Places on sigma0's axis, ``relative`` in [-1, 1] between the ends, shape (relative, nu)."""
        lower, upper = self.ends(nu_place)
        return np.asarray(lower + (upper - lower) * (1 + relative[:, None]) / 2)
