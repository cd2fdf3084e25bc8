"""What the quadrature engine integrates, its axes, and where on them the posterior lies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.nu_prior import NuPrior
from hiercomp.model.distributions import HalfNormal, HalfStudentT, Normal
from hiercomp.model.priors import Priors

SMALLEST_NU = 0.01  # where nu_lower is 0; about 0.001 of the prior lies below
SHORTEST = 0.2  # of the longest interval of sigma0, for any nu: a polynomial in both is smooth on no narrower wedge


FEW_DATASETS = 10  # up to here delta0 may have several peaks, and its nodes are dense about every data set (study)
# A normal prior further than this from the data, in standard deviations of both, may make two peaks with them
DISAGREEING = 3.0
SHARE_OF_PRIOR = 0.1  # of the scale of sigma0's prior, for the c of its axis: the prior is as smooth as the likelihood
FAR = 8.0  # standard errors of delta0 within its bound: a Gaussian has 1e-15 beyond them
# To see how the likelihood falls as sigma0 goes to 0: a look, so coarse
DATASETS_TRIED, CENTRES_TRIED, NU_TRIED, COARSE_STEP = 200, 9, 8, 1.0
NU_TRIED_TO_ZERO = 24  # where nu may reach 0: few of them count, and the likelihood falls for fewer
NEARLY = 0.9  # of the fall that one far data set would make
NOTABLE = 7.0  # log density below that of the best nu, down to which a nu counts: a thousandth
SMALLEST_SHARE = 1e-7  # of the standard errors, for a sigma0 that has no least value: less mass is below than counts


@dataclass(frozen=True, eq=False)
class Integrand:
    """What is integrated, in any one unit.

    Attributes
    ----------
    likelihood : MeanLikelihood
    delta0_bound, sigma0_upper : float
        Bounds of the uniform priors (M4), (M5); of other priors ends of the range that is integrated.
    priors : Priors
        Only those on nu are used: the others depend on the unit.
    log_sigma0 : bool
        Whether the axis of sigma0 is log sigma0 itself, for a likelihood that is a power of it, all the way down.
    delta0_prior : Normal or None
        (M17); None: uniform.
    sigma0_prior : HalfNormal, HalfStudentT or None
        (M18), (M19); None: uniform.
    """

    likelihood: MeanLikelihood
    delta0_bound: float
    sigma0_upper: float
    priors: Priors
    log_sigma0: bool = False
    delta0_prior: Normal | None = None
    sigma0_prior: HalfNormal | HalfStudentT | None = None

    @cached_property
    def nu_prior(self) -> NuPrior | None:
        """Prior of nu, or None for a Gaussian population."""
        return None if self.priors.population == "gaussian" else NuPrior(self.priors)

    @property
    def nu_reaches_zero(self) -> bool:
        """Whether the prior allows nu down to 0."""
        return self.nu_prior is not None and self.priors.nu_lower == 0

    def log_prior(self, delta0: FloatArray | None, sigma0: FloatArray) -> FloatArray:
        """Log density of the priors on delta0 and sigma0 that are not uniform, without the others' constants.

        Parameters
        ----------
        delta0 : ndarray or None
            None: of sigma0 alone.
        sigma0 : ndarray
            Of a shape that broadcasts with it.
        """
        found = np.zeros(np.shape(sigma0)) if self.sigma0_prior is None else self.sigma0_prior.log_density(sigma0)
        if delta0 is None or self.delta0_prior is None:
            return found
        return found + self.delta0_prior.log_density(delta0)

    @property
    def log_prior_mass(self) -> float:
        """Log of what the density that `log_prior` leaves has to be divided by, for priors that integrate to 1."""
        centre = (
            np.log(2 * self.delta0_bound)
            if self.delta0_prior is None
            else self.delta0_prior.log_mass(self.delta0_bound)
        )
        scale = np.log(self.sigma0_upper) if self.sigma0_prior is None else 0.0
        return float(centre + scale)

    @property
    def sigma0_offset(self) -> float:
        """The c in the axis log(sigma0 + c): about where a smaller sigma0 makes no difference any more; or 0."""
        return 0.0 if self.log_sigma0 else self.usual_offset

    @cached_property
    def usual_offset(self) -> float:
        """The c that serves where nothing lies far from all else."""
        # With nu near 0 an outlying data set makes the likelihood a power of sigma0, all the way down
        share = 0.1 if self.priors.nu_lower > 0 or self.nu_prior is None else 0.02
        offset = share * self.small_sigma0
        return offset if self.sigma0_prior is None else min(offset, SHARE_OF_PRIOR * self.sigma0_prior.scale)

    @property
    def stretched(self) -> bool:
        """Whether delta0 may have several peaks, or be cut off by its bound."""
        mean = self.likelihood.mean
        reach = abs(float(np.median(mean))) + FAR * float(mean.std()) / np.sqrt(len(mean))
        return len(mean) <= FEW_DATASETS or self.delta0_bound < reach or self._prior_disagrees

    @property
    def _prior_disagrees(self) -> bool:
        """Whether the prior on delta0 lies so far from the data that there may be two peaks."""
        if self.delta0_prior is None:
            return False
        mean = self.likelihood.mean
        distance = abs(self.delta0_prior.mean - float(np.median(mean)))
        return bool(distance > DISAGREEING * np.hypot(self.delta0_prior.sd, float(mean.std()) / np.sqrt(len(mean))))

    @cached_property
    def small_sigma0(self) -> float:
        """About the standard deviation of sigma0 where nothing but noise separates the data sets."""
        scale = self.likelihood.width
        return float(np.mean(scale**-2) ** -0.5 * len(scale) ** -0.25)

    @property
    def smallest_scale(self) -> float:
        """The smaller one of that and of the scale of sigma0's prior."""
        return self.small_sigma0 if self.sigma0_prior is None else min(self.small_sigma0, self.sigma0_prior.scale)

    @property
    def falls_to_zero(self) -> bool:
        """Whether the likelihood falls towards sigma0 = 0 as one far data set has it, like sigma0^nu, for a nu that counts.

        On the axis log(sigma0 + c) it then has a singularity at sigma0 = 0. This does no harm to splines with a small c,
        which keep the error near that end: those of a stretched delta0 where nu may reach 0.
        """
        if self.nu_prior is None or (self.stretched and self.nu_reaches_zero):
            return False
        nu_tried = NU_TRIED_TO_ZERO if self.nu_reaches_zero else NU_TRIED
        sigma0 = self.usual_offset
        by_mean = np.argsort(self.likelihood.mean, kind="stable")
        places = np.linspace(0, len(by_mean) - 1, min(len(by_mean), DATASETS_TRIED)).round().astype(np.intp)
        likelihood = self.likelihood.subset(by_mean[places])  # with the two outermost
        tried = np.unique(np.quantile(likelihood.mean, np.linspace(0, 1, CENTRES_TRIED)))
        first, last = self.nu_limits
        nu_places = first + (last - first) * (0.5 + np.arange(nu_tried)) / nu_tried
        nu = self.nu(nu_places)
        at_place, below = (
            likelihood.log_marginal(tried, one, nu[:, None], step=COARSE_STEP).reshape(nu_tried, -1).max(axis=1)
            for one in (sigma0, sigma0 / 10)
        )
        log_density = at_place + self.nu_prior.log_density(nu) + np.log(self.nu_slope(nu_places))
        counts = log_density > log_density.max() - NOTABLE
        return bool((at_place - below > NEARLY * np.log(10) * nu)[counts].any())

    def sigma0(self, eta: FloatArray) -> FloatArray:
        """sigma0 at a place of its axis; never quite zero."""
        return np.asarray(np.maximum(np.exp(eta) - self.sigma0_offset, 1e-9 * self.sigma0_offset))

    def nu(self, place: FloatArray) -> FloatArray:
        """Degrees of freedom at a place of their axis.

        The axis is log(1 + (nu - nu_lower)^(1/power)): the prior may rise like (nu - nu_lower)^(alpha - 1) at its end, which
        the power takes away, and has a long tail, which the logarithm does; log(nu) where nu_lower is 0.
        """
        if self.nu_prior is None:
            return np.full(np.shape(place), np.inf)
        lower = self.priors.nu_lower
        return np.asarray(lower + np.expm1(place) ** self._nu_power if lower > 0 else np.exp(place))

    def nu_slope(self, place: FloatArray) -> FloatArray:
        """Derivative of nu by the place on its axis."""
        if self.priors.nu_lower == 0:
            return np.exp(place)
        power = self._nu_power
        return np.asarray(power * np.expm1(place) ** (power - 1) * np.exp(place))

    @property
    def _nu_power(self) -> float:
        """The power in nu's axis: 2, or 1 / alpha where alpha may be below 1/2."""
        return max(2.0, 1 / float(np.min(self.priors.alpha)))

    def nu_length(self, ends: tuple[float, float]) -> float:
        """How long a part of nu's axis is, in units that need about as many nodes whatever nu_lower is."""
        return (ends[1] - ends[0]) * (1.0 if self.priors.nu_lower > 0 else 0.7)

    @property
    def sigma0_limits(self) -> tuple[float, float]:
        """Ends of the whole axis of sigma0."""
        lowest = self.sigma0_offset or SMALLEST_SHARE * self.smallest_scale
        return float(np.log(lowest)), float(np.log(self.sigma0_upper + self.sigma0_offset))

    @property
    def sigma0_ends(self) -> tuple[float, float]:
        """Ends that the prior puts to the axis of sigma0; it has no lower one where the offset is 0."""
        lower, upper = self.sigma0_limits
        return (lower if self.sigma0_offset else -np.inf), upper

    @property
    def nu_limits(self) -> tuple[float, float]:
        """Ends of the whole axis of nu."""
        if self.nu_prior is None:
            return 0.0, 0.0
        lower, largest = self.priors.nu_lower, self.nu_prior.largest
        if lower == 0:
            return np.log(SMALLEST_NU), np.log(largest)
        return 0.0, float(np.log1p((largest - lower) ** (1 / self._nu_power)))


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
