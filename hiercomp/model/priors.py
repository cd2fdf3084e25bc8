"""The priors of the hierarchical model as plain numbers, and the named variants."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from hiercomp.arguments import finite_number
from hiercomp.errors import ArgumentError

Interval: TypeAlias = "tuple[float, float]"


@dataclass(frozen=True)
class Priors:
    """The priors of the model; each bound is a plain number.

    Equation numbers refer to the model page of the documentation. ``s`` is the mean over the data sets of the standard
    deviation of the differences, ``s0`` the standard deviation of the data sets' mean differences.

    Parameters
    ----------
    population : {"student_t", "gaussian"}
        Distribution of the data sets' mean differences (M2).
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
        Shape and rate of the Gamma prior: uniform on an interval (M7), or both a fixed number.

    Raises
    ------
    ArgumentError
        If a bound is not finite, not positive, reversed, or only one of ``alpha`` and ``beta`` is fixed.

    References
    ----------
    Corani et al., Machine Learning 106 (2017); Juárez & Steel, Journal of Business & Economic Statistics 28 (2010);
    Kruschke, Journal of Experimental Psychology: General 142 (2013).

    Examples
    --------
    >>> Priors()
    Priors('default')
    >>> Priors(nu_lower=0.0)
    Priors(nu_lower=0.0)
    >>> Priors.kruschke().beta
    0.0345
    """

    population: Literal["student_t", "gaussian"] = "student_t"
    delta0_bound: float | None = None
    sigma_upper: float = 1000.0
    sigma0_upper: float = 1000.0
    nu_lower: float = 1.0
    alpha: Interval | float = (0.5, 5.0)
    beta: Interval | float = (0.05, 0.15)

    def __post_init__(self) -> None:
        if self.population not in ("student_t", "gaussian"):
            raise ArgumentError(f"population must be 'student_t' or 'gaussian', got {self.population!r}.")
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

    @classmethod
    def juarez_steel(cls, *, nu_lower: float = 1.0) -> Priors:
        """Nu - ``nu_lower`` ~ Gamma(2, 0.1) (Juárez & Steel 2010).

        The program behind Table 5 of Corani et al. (2017) has this Gamma on nu - 1, the text has it on nu itself.

        Parameters
        ----------
        nu_lower : float
            1 as in the authors' program, 0 as in the paper's text.
        """
        return cls(nu_lower=nu_lower, alpha=2.0, beta=0.1)

    @classmethod
    def kruschke(cls, *, nu_lower: float = 1.0) -> Priors:
        """Nu - ``nu_lower`` ~ Gamma(1, 0.0345), an exponential with mean 29.

        The shape is that of Kruschke (2013), written as a Gamma by Corani et al. (2017).

        Parameters
        ----------
        nu_lower : float
            1 as in the authors' program, 0 as in the paper's text.
        """
        return cls(nu_lower=nu_lower, alpha=1.0, beta=0.0345)

    @classmethod
    def gaussian(cls) -> Priors:
        """A Gaussian population: no nu."""
        return cls(population="gaussian")

    @property
    def name(self) -> str:
        """The variant's name, or "custom"."""
        return next((name for name, variant in NAMED_PRIORS.items() if variant == self), "custom")

    @property
    def program(self) -> str:
        """The Stan program for these priors, without its ending."""
        if self.population == "gaussian":
            return "hierarchical_gaussian"
        return "hierarchical_student_t" if isinstance(self.alpha, tuple) else "hierarchical_student_t_fixed_nu_prior"

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary, from which ``Priors(**fields)`` makes an equal object."""
        return asdict(self)

    def __repr__(self) -> str:
        if self.name != "custom":
            return f"Priors({self.name!r})"
        default = asdict(Priors())
        changed = [f"{name}={value!r}" for name, value in asdict(self).items() if value != default[name]]
        return f"Priors({', '.join(changed)})"


def _positive(name: str, value: object, *, zero: bool = False) -> float:
    number = finite_number(name, value)
    if number < 0 or (number == 0 and not zero):
        raise ArgumentError(f"{name} must be {'zero or more' if zero else 'positive'}, got {value!r}.")
    return number


def _interval_or_number(name: str, value: object) -> Interval | float:
    if not isinstance(value, (tuple, list)):
        return _positive(name, value)
    if len(value) != 2:
        raise ArgumentError(f"{name} must be a number or an interval of two numbers, got {value!r}.")
    lower, upper = (_positive(name, end) for end in value)
    if lower >= upper:
        raise ArgumentError(f"{name} must be an interval with its lower end first, got {value!r}.")
    return lower, upper


NAMED_PRIORS = {
    "default": Priors(),
    "juarez_steel": Priors.juarez_steel(),
    "kruschke": Priors.kruschke(),
    "gaussian": Priors.gaussian(),
}
