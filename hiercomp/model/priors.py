"""The priors of the hierarchical model, and the named variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from hiercomp.arguments import finite_number, one_of
from hiercomp.errors import ArgumentError
from hiercomp.model.distributions import HalfNormal, HalfStudentT, Normal, distribution_from, plain_distribution

Interval: TypeAlias = "tuple[float, float]"

DEFAULT_UPPER = 1000.0  # times s, of sigma_i, and s0, of sigma0
Population: TypeAlias = Literal["student_t", "gaussian", "mixture"]
POPULATIONS = ("student_t", "gaussian", "mixture")
CONCENTRATION = (2.0, 2.0)
SMALLEST_SHAPE = 0.2  # of nu - nu_lower; the axis of nu in the integral is its fifth root there
OF_A_MIXTURE = ("population", "sigma_upper", "concentration")


@dataclass(frozen=True)
class Priors:
    """The priors of the model: bounds as plain numbers, or distributions of delta0 and sigma0.

    Equation numbers refer to the model page of the documentation. ``s`` is the mean over the data sets of the standard
    deviation of the differences, ``s0`` the standard deviation of the data sets' mean differences.

    Parameters
    ----------
    population : {"student_t", "gaussian", "mixture"}
        Distribution of the data sets' mean differences (M2), or (D1) of a mixture, which takes only ``sigma_upper`` and
        ``concentration`` of the following.
    delta0_bound : float or None
        b in delta0 ~ uniform(-b, b), in the metric's units (M4). None: 1 if every score lies in [0, 1], else the
        largest absolute difference.
    sigma_upper : float
        sigma_i ~ uniform(0, ``sigma_upper`` s) (M3).
    sigma0_upper : float
        sigma0 ~ uniform(0, ``sigma0_upper`` s0) (M5).
    nu_lower : float
        The Gamma prior is on nu - ``nu_lower`` (M6): 1 as in the authors' program, 0 as in the paper's text.
    alpha, beta : pair of float or float
        Shape and rate of the Gamma prior: uniform on an interval (M7), or both a fixed number. The shape is 0.2 or more,
        unless ``nu_lower`` is 0.
    delta0 : Normal, optional
        A normal prior on delta0 (M17) instead of the uniform one. It is cut off at ``delta0_bound`` if that is given.
        delta0 is positive if the right algorithm is better.
    sigma0 : HalfNormal or HalfStudentT, optional
        A prior on sigma0 (M18, M19) instead of the uniform one, in the metric's units; then ``sigma0_upper`` has to be
        left out.
    concentration : pair of float
        Shape and rate of the Gamma prior on the concentration of a mixture (D2).

    Raises
    ------
    ArgumentError
        If a bound is not finite, not positive, reversed, or only one of ``alpha`` and ``beta`` is fixed; if ``delta0``
        or ``sigma0`` is no such distribution, or contradicts a bound; if the population has no such parameter.

    References
    ----------
    Corani et al., Machine Learning 106 (2017); Juárez & Steel, Journal of Business & Economic Statistics 28 (2010);
    Kruschke, Journal of Experimental Psychology: General 142 (2013); Gelman, Bayesian Analysis 1 (2006).

    Examples
    --------
    >>> Priors()
    Priors('default')
    >>> Priors(nu_lower=0.0)
    Priors(nu_lower=0.0)
    >>> Priors.kruschke().beta
    0.0345
    >>> Priors(delta0=Normal(0, 0.05), sigma0=HalfNormal(0.05))
    Priors(delta0=Normal(mean=0.0, sd=0.05), sigma0=HalfNormal(scale=0.05))
    """

    population: Population = "student_t"
    delta0_bound: float | None = None
    sigma_upper: float = DEFAULT_UPPER
    sigma0_upper: float = DEFAULT_UPPER
    nu_lower: float = 1.0
    alpha: Interval | float = (0.5, 5.0)
    beta: Interval | float = (0.05, 0.15)
    delta0: Normal | None = None
    sigma0: HalfNormal | HalfStudentT | None = None
    concentration: Interval = CONCENTRATION

    def __post_init__(self) -> None:
        one_of("population", self.population, POPULATIONS)
        for name in ("sigma_upper", "sigma0_upper"):
            object.__setattr__(self, name, _positive(name, getattr(self, name)))
        if self.delta0_bound is not None:
            object.__setattr__(self, "delta0_bound", _positive("delta0_bound", self.delta0_bound))
        object.__setattr__(self, "nu_lower", _positive("nu_lower", self.nu_lower, zero=True))
        for name in ("alpha", "beta"):
            object.__setattr__(self, name, _interval_or_number(name, getattr(self, name)))
        if isinstance(self.alpha, tuple) != isinstance(self.beta, tuple):
            raise ArgumentError(
                f"alpha and beta must both be intervals or both be numbers, got alpha={self.alpha}, beta={self.beta}."
            )
        shape = self.alpha[0] if isinstance(self.alpha, tuple) else self.alpha
        if shape < SMALLEST_SHAPE and self.nu_lower > 0:
            raise ArgumentError(
                f"alpha must be {SMALLEST_SHAPE} or more, got {self.alpha}: below, the prior of nu is concentrated at "
                "nu_lower, where the integral is not accurate.",
                remedy="Pass a larger alpha, or nu_lower=0.",
            )
        self._check_distributions()
        self._check_population()

    def _check_population(self) -> None:
        """Refuse parameters that the population does not have."""
        if not isinstance(self.concentration, (tuple, list)) or len(self.concentration) != 2:
            raise ArgumentError(f"concentration must be a pair, shape and rate of a Gamma, got {self.concentration!r}.")
        shape, rate = (_positive("concentration", value) for value in self.concentration)
        object.__setattr__(self, "concentration", (shape, rate))
        if self.population != "mixture":
            if self.concentration != CONCENTRATION:
                raise ArgumentError(
                    f"concentration is a parameter of a mixture, and the population is {self.population!r}.",
                    remedy="Pass population='mixture', or leave concentration out.",
                )
            return
        default = {field.name: field.default for field in fields(self)}
        foreign = [name for name, value in self._fields.items() if name not in OF_A_MIXTURE and value != default[name]]
        if foreign:
            raise ArgumentError(
                f"A mixture has no prior on {foreign[0]}: its centres and scales come from a dictionary.",
                remedy=f"Leave {foreign[0]} out, or pass population='student_t'.",
            )

    def _check_distributions(self) -> None:
        for name, kinds in (("delta0", (Normal,)), ("sigma0", (HalfNormal, HalfStudentT))):
            value = getattr(self, name)
            if isinstance(value, Mapping):  # from to_dict
                object.__setattr__(self, name, value := distribution_from(value))
            if value is not None and not isinstance(value, kinds):
                allowed = " or ".join(kind.__name__ for kind in kinds)
                raise ArgumentError(f"{name} must be a {allowed}, or None for the uniform prior, got {value!r}.")
        if self.delta0 is not None and self.delta0_bound is not None and abs(self.delta0.mean) >= self.delta0_bound:
            raise ArgumentError(
                f"The mean of the prior on delta0 must lie within delta0_bound, {self.delta0_bound:g}, got {self.delta0!r}."
            )
        if self.sigma0 is not None and self.sigma0_upper != DEFAULT_UPPER:
            raise ArgumentError(
                f"sigma0_upper is the bound of the uniform prior on sigma0; leave it out beside sigma0={self.sigma0!r}."
            )

    @classmethod
    def juarez_steel(
        cls,
        *,
        nu_lower: float = 1.0,
        delta0: Normal | None = None,
        sigma0: HalfNormal | HalfStudentT | None = None,
    ) -> Priors:
        """The prior nu - ``nu_lower`` ~ Gamma(2, 0.1) (Juárez & Steel 2010).

        The program behind Table 5 of Corani et al. (2017) has this Gamma on nu - 1, the text has it on nu itself.

        Parameters
        ----------
        nu_lower : float
            1 as in the authors' program, 0 as in the paper's text.
        delta0, sigma0 : optional
            As those of `Priors`.
        """
        return cls(nu_lower=nu_lower, alpha=2.0, beta=0.1, delta0=delta0, sigma0=sigma0)

    @classmethod
    def kruschke(
        cls,
        *,
        nu_lower: float = 1.0,
        delta0: Normal | None = None,
        sigma0: HalfNormal | HalfStudentT | None = None,
    ) -> Priors:
        """The prior nu - ``nu_lower`` ~ Gamma(1, 0.0345), an exponential with mean 29.

        The shape is that of Kruschke (2013), written as a Gamma by Corani et al. (2017).

        Parameters
        ----------
        nu_lower : float
            1 as in the authors' program, 0 as in the paper's text.
        delta0, sigma0 : optional
            As those of `Priors`.
        """
        return cls(nu_lower=nu_lower, alpha=1.0, beta=0.0345, delta0=delta0, sigma0=sigma0)

    @classmethod
    def gaussian(cls, *, delta0: Normal | None = None, sigma0: HalfNormal | HalfStudentT | None = None) -> Priors:
        """A Gaussian population: no nu."""
        return cls(population="gaussian", delta0=delta0, sigma0=sigma0)

    @classmethod
    def mixture(cls, *, concentration: Interval = CONCENTRATION) -> Priors:
        """A mixture of normal components: a Dirichlet process over a dictionary of centres and scales (D1).

        Parameters
        ----------
        concentration : pair of float
            Shape and rate of the Gamma prior on its concentration: the larger, the more components have data sets.
        """
        return cls(population="mixture", concentration=concentration)

    @property
    def name(self) -> str:
        """The variant's name, or "custom"."""
        named = NAMED_PRIORS | {"mixture": Priors.mixture()}
        return next((name for name, variant in named.items() if variant == self), "custom")

    @property
    def program(self) -> str:
        """The Stan program for these priors, without its ending; a mixture has none."""
        if self.population == "gaussian":
            return "hierarchical_gaussian"
        return "hierarchical_student_t" if isinstance(self.alpha, tuple) else "hierarchical_student_t_fixed_nu_prior"

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary, from which ``Priors(**fields)`` makes an equal object.

        ``delta0`` and ``sigma0`` are dictionaries too, and left out where they are None, as ``concentration`` is where the
        population is no mixture.
        """
        if self.population == "mixture":
            return {name: self._fields[name] for name in OF_A_MIXTURE}
        left_out = ("delta0", "sigma0", "concentration")
        numbers = {name: value for name, value in self._fields.items() if name not in left_out}
        given = {"delta0": self.delta0, "sigma0": self.sigma0}
        return numbers | {name: plain_distribution(value) for name, value in given.items() if value is not None}

    def __repr__(self) -> str:
        if self.name != "custom":
            return f"Priors({self.name!r})"
        default = Priors()._fields
        changed = [f"{name}={value!r}" for name, value in self._fields.items() if value != default[name]]
        return f"Priors({', '.join(changed)})"

    @property
    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _positive(name: str, value: object, *, zero: bool = False) -> float:
    number = finite_number(name, value)
    if number < 0 or (number == 0 and not zero):
        raise ArgumentError(f"{name} must be {'zero or more' if zero else 'positive'}, got {value!r}.")
    return number


def _interval_or_number(name: str, value: object) -> Interval | float:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (tuple, list)):
        return _positive(name, value)
    if len(value) != 2:
        raise ArgumentError(f"{name} must be a number or an interval of two numbers, got {value!r}.")
    lower, upper = (_positive(name, end) for end in value)
    if lower >= upper:
        raise ArgumentError(f"{name} must be an interval with its lower end first, got {value!r}.")
    return lower, upper


def chosen_priors(priors: object, population: str | None = None) -> Priors:
    """Priors as they are, or those of a name in `NAMED_PRIORS`, for a population.

    Parameters
    ----------
    priors : Priors or str
    population : {"student_t", "gaussian", "mixture"}, optional
        None: that of the priors.

    Raises
    ------
    ArgumentError
        If they are neither, or contradict the population.
    """
    if isinstance(priors, str):
        priors = NAMED_PRIORS[one_of("priors", priors, NAMED_PRIORS)]
    if isinstance(priors, Priors):
        return priors if population is None else _for_population(priors, one_of("population", population, POPULATIONS))
    raise ArgumentError(
        f"priors must be a Priors object such as Priors.kruschke(), or one of {', '.join(map(repr, NAMED_PRIORS))}, got "
        f"{priors!r}."
    )


def _for_population(priors: Priors, population: str) -> Priors:
    """The same priors, for another population if they say nothing of their own."""
    if priors.population == population:
        return priors
    of_nu = any(getattr(priors, name) != getattr(Priors(), name) for name in ("nu_lower", "alpha", "beta"))
    if priors.population != "student_t" or of_nu:
        raise ArgumentError(
            f"population={population!r} contradicts {priors!r}, whose population is {priors.population!r}.",
            remedy="Pass only one of them.",
        )
    return replace(priors, population=population)  # type: ignore[arg-type]


NAMED_PRIORS = {
    "default": Priors(),
    "juarez_steel": Priors.juarez_steel(),
    "kruschke": Priors.kruschke(),
    "gaussian": Priors.gaussian(),
}
