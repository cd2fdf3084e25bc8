"""Priors on delta0 and sigma0 other than uniform ones: normal, half-normal, half-t."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from hiercomp.arguments import FloatArray, finite_number, number_between, one_of
from hiercomp.errors import ArgumentError

# Standard deviations, or scales, beyond the largest value that the data speak for; a Gaussian has 1e-19 beyond them
GAUSSIAN_REACH = 9.0
ROOM = 4.0  # times the largest mean difference: so far that the quadrature engine need not watch the end
BEYOND = 1e-12  # about the posterior mass that the end of a half-t's range leaves out


@dataclass(frozen=True)
class Normal:
    """A normal prior on delta0 (M17), in the metric's units.

    Parameters
    ----------
    mean : float
        Positive values favour the right algorithm.
    sd : float
        Standard deviation.

    Raises
    ------
    ArgumentError
        If the mean is not finite, or the standard deviation not positive and finite.

    Examples
    --------
    >>> import hiercomp as hc
    >>> hc.Priors(delta0=hc.Normal(0, 0.05))
    Priors(delta0=Normal(mean=0.0, sd=0.05))
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", finite_number("mean of Normal", self.mean))
        object.__setattr__(self, "sd", number_between("sd of Normal", self.sd, 0, np.inf))

    @property
    def words(self) -> str:
        """The distribution as a report names it."""
        return f"normal with mean {self.mean:g} and standard deviation {self.sd:g}"

    def in_unit(self, unit: float) -> Normal:
        """The same prior where the metric's units are divided by ``unit``."""
        return Normal(self.mean / unit, self.sd / unit)

    def tempered(self, share: float) -> Normal:
        """Its density to the power of ``share``, normalised."""
        return self if share == 1 else Normal(self.mean, self.sd / np.sqrt(share))

    def log_density(self, delta0: FloatArray) -> FloatArray:
        """Log of the density, without any bound."""
        return np.asarray(-0.5 * ((delta0 - self.mean) / self.sd) ** 2 - np.log(self.sd * np.sqrt(2 * np.pi)))

    def log_mass(self, bound: float) -> float:
        """Log of the probability between ``-bound`` and ``bound``, by which the density of a cut prior is divided."""
        from scipy import special

        ends = (-bound - self.mean) / self.sd, (bound - self.mean) / self.sd
        return float(np.log(special.ndtr(ends[1]) - special.ndtr(ends[0])))

    def reach(self, largest: float) -> float:
        """A bound beyond which delta0 has only negligible posterior mass.

        Parameters
        ----------
        largest : float
            Largest mean difference of a data set, in size. Beyond it the likelihood falls.
        """
        return ROOM * max(largest, abs(self.mean)) + GAUSSIAN_REACH * self.sd

    def draws(self, bound: float, shape: tuple[int, ...], generator: np.random.Generator) -> FloatArray:
        """Draws between ``-bound`` and ``bound``."""
        from scipy import special

        lower, upper = (special.ndtr((end - self.mean) / self.sd) for end in (-bound, bound))
        level = lower + (upper - lower) * generator.uniform(size=shape)
        return np.clip(self.mean + self.sd * special.ndtri(level), -bound, bound)


@dataclass(frozen=True)
class HalfNormal:
    """A half-normal prior on sigma0 (M18), in the metric's units: a normal distribution about 0, cut off below 0.

    Parameters
    ----------
    scale : float
        Standard deviation of that normal distribution; the mean is 0.8 times and 95% lie below 1.96 times the scale.

    Raises
    ------
    ArgumentError
        If the scale is not positive and finite.

    Examples
    --------
    >>> import hiercomp as hc
    >>> hc.Priors(sigma0=hc.HalfNormal(0.05))
    Priors(sigma0=HalfNormal(scale=0.05))
    """

    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", number_between("scale of HalfNormal", self.scale, 0, np.inf))

    @property
    def words(self) -> str:
        """The distribution as a report names it."""
        return f"half-normal with scale {self.scale:g}"

    def in_unit(self, unit: float) -> HalfNormal:
        """The same prior where the metric's units are divided by ``unit``."""
        return HalfNormal(self.scale / unit)

    def log_density(self, sigma0: FloatArray) -> FloatArray:
        """Log of the density at values of 0 or more."""
        return np.asarray(-0.5 * (sigma0 / self.scale) ** 2 - np.log(self.scale * np.sqrt(np.pi / 2)))

    def reach(self, largest: float, datasets: int) -> float:
        """A bound beyond which sigma0 has only negligible posterior mass.

        Parameters
        ----------
        largest : float
            Largest distance of a data set from delta0. Beyond it the likelihood falls, like sigma0^-q in the end.
        datasets : int
            q; the half-t depends on it.
        """
        return largest + GAUSSIAN_REACH * self.scale

    def draws(self, shape: tuple[int, ...], generator: np.random.Generator) -> FloatArray:
        """Draws of the prior."""
        return np.asarray(self.scale * np.abs(generator.normal(size=shape)))


@dataclass(frozen=True)
class HalfStudentT:
    """A half-t prior on sigma0 (M19), in the metric's units: a Student-t distribution about 0, cut off below 0.

    Parameters
    ----------
    nu : float
        Degrees of freedom; 1 is the half-Cauchy prior, and with many the half-normal one is reached.
    scale : float
        Scale of that Student-t distribution.

    Raises
    ------
    ArgumentError
        If one of them is not positive and finite, or ``nu`` is below 1.

    References
    ----------
    Gelman, Bayesian Analysis 1 (2006).

    Examples
    --------
    >>> import hiercomp as hc
    >>> hc.Priors(sigma0=hc.HalfStudentT(nu=4, scale=0.05))
    Priors(sigma0=HalfStudentT(nu=4.0, scale=0.05))
    """

    nu: float
    scale: float

    def __post_init__(self) -> None:
        nu = finite_number("nu of HalfStudentT", self.nu)
        if nu < 1:
            raise ArgumentError(f"nu of HalfStudentT must be at least 1, got {nu:g}.")
        object.__setattr__(self, "nu", nu)
        object.__setattr__(self, "scale", number_between("scale of HalfStudentT", self.scale, 0, np.inf))

    @property
    def words(self) -> str:
        """The distribution as a report names it."""
        return f"half-t with {self.nu:g} degrees of freedom and scale {self.scale:g}"

    def in_unit(self, unit: float) -> HalfStudentT:
        """The same prior where the metric's units are divided by ``unit``."""
        return HalfStudentT(self.nu, self.scale / unit)

    def log_density(self, sigma0: FloatArray) -> FloatArray:
        """Log of the density at values of 0 or more."""
        from scipy import special

        constant = (
            np.log(2) + special.gammaln((self.nu + 1) / 2) - special.gammaln(self.nu / 2)
            - 0.5 * np.log(self.nu * np.pi) - np.log(self.scale)
        )  # fmt: skip
        return np.asarray(constant - (self.nu + 1) / 2 * np.log1p((sigma0 / self.scale) ** 2 / self.nu))

    def reach(self, largest: float, datasets: int) -> float:
        """A bound beyond which sigma0 has only negligible posterior mass; arguments as those of `HalfNormal.reach`.

        The posterior falls like sigma0^-(q + nu + 1), or if its scale is large like sigma0^-q first.
        """
        factor = BEYOND ** (-1 / (datasets - 1 + self.nu))
        return float(max(largest, self.scale) * max(factor, 10.0))

    def draws(self, shape: tuple[int, ...], generator: np.random.Generator) -> FloatArray:
        """Draws of the prior."""
        return np.asarray(self.scale * np.abs(generator.standard_t(self.nu, size=shape)))


Distribution: TypeAlias = Normal | HalfNormal | HalfStudentT
NAMES: dict[str, type[Distribution]] = {"normal": Normal, "half_normal": HalfNormal, "half_student_t": HalfStudentT}


def plain_distribution(distribution: Distribution) -> dict[str, Any]:
    """A dictionary, ready for JSON, from which `distribution_from` makes an equal distribution."""
    (name,) = (name for name, kind in NAMES.items() if isinstance(distribution, kind))
    return {"distribution": name} | asdict(distribution)


def distribution_from(fields: Mapping[str, Any]) -> Distribution:
    """A distribution from the result of `plain_distribution`."""
    name = one_of("distribution", fields.get("distribution"), NAMES)
    try:
        return NAMES[name](**{field: value for field, value in fields.items() if field != "distribution"})
    except TypeError as error:
        raise ArgumentError(f"{NAMES[name].__name__} can't be made from {dict(fields)!r}.") from error
