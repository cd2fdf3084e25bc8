"""The region of practical equivalence, and the probability of left, rope and right under a population."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiercomp.arguments import finite_number
from hiercomp.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

REGIONS = ("left", "rope", "right")
MANY = 64  # degrees of freedom; up to here the rounding of x costs the tail less than 1e-14 of itself

RopeLike: TypeAlias = "float | str | tuple[float, float] | Rope"
RopesLike: TypeAlias = "RopeLike | Mapping[str, float] | pd.Series"  # or one for each data set, or the column with them


@dataclass(frozen=True)
class Rope:
    """The interval of differences that make no practical difference.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, in the metric's units; right minus left. Below ``lower`` the left algorithm is
        better, above ``upper`` the right one.

    Raises
    ------
    ArgumentError
        If an end is not finite or the ends are reversed.

    Examples
    --------
    >>> Rope.of(0.01)
    Rope(lower=-0.01, upper=0.01)
    >>> print(Rope.of((-0.02, 0.01)))
    [-0.02, 0.01]
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        for end in ("lower", "upper"):
            object.__setattr__(self, end, finite_number(f"The {end} end of the rope", getattr(self, end)))
        if self.lower > self.upper:
            raise ArgumentError(
                f"rope is reversed: its lower end {self.lower:g} is above its upper end {self.upper:g}. "
                f"Did you mean ({self.upper:g}, {self.lower:g})?"
            )

    @classmethod
    def of(cls, rope: RopesLike) -> Rope:
        """Make a rope from a half-width (0.01 is [-0.01, 0.01], and so is "1%"), a pair of ends, or a rope.

        Raises
        ------
        ArgumentError
            If ``rope`` is negative, reversed, not finite, neither a number nor a pair, or one for each data set.
        """
        if isinstance(rope, Rope):
            return rope
        if is_by_dataset(rope):
            raise ArgumentError(
                "A rope for each data set is taken together with the scores, and here one number is needed.",
                remedy="If each data set has its own rope, 1 stands for it and 2 for twice its width.",
            )
        if isinstance(rope, str) and (share := percentage(rope)) is not None:
            rope = share
        hint = meant_by(rope) if isinstance(rope, str) else ""
        message = f"rope must be a half-width such as 0.01 or a pair such as (-0.01, 0.01), got {rope!r}.{hint}"
        try:
            values = np.asarray(rope)
        except ValueError:  # ragged
            raise ArgumentError(message) from None
        if values.dtype.kind not in "fiu":
            raise ArgumentError(message)
        if values.shape == (2,):
            return cls(float(values[0]), float(values[1]))
        if values.shape != ():
            raise ArgumentError(message)
        half_width = float(values)
        if half_width < 0:
            raise ArgumentError(
                f"rope is negative: {half_width:g}. Give its half-width as a positive number, "
                f"such as {-half_width:g} for [-{-half_width:g}, {-half_width:g}]."
            )
        return cls(0.0 - half_width, half_width)

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.upper - self.lower) / 2

    def __str__(self) -> str:
        return f"[{self.lower:g}, {self.upper:g}]"

    def scaled(self, factor: float) -> Rope:
        """The same interval in another unit: both ends times ``factor``."""
        return Rope(self.lower * factor, self.upper * factor)


def is_by_dataset(rope: Any) -> bool:
    """Whether a rope is a mapping or a Series, which hold one for each data set."""
    return isinstance(rope, Mapping) or (hasattr(rope, "keys") and getattr(rope, "ndim", None) == 1)


def percentage(text: str) -> float | None:
    """The number that a text such as "1%" stands for; None if it is not a percentage.

    Examples
    --------
    >>> percentage("1%"), percentage(" 0.5 %"), percentage("-2%"), percentage("0.01"), percentage("0,5%")
    (0.01, 0.005, -0.02, None, None)
    """
    found = re.fullmatch(r"\s*(-?\d*\.?\d+)\s*%\s*", text, re.ASCII)
    return None if found is None else float(Decimal(found[1]) / 100)


def meant_by(text: str) -> str:
    """ " Did you mean 0.01?" for a half-width such as "0,01", "0,5 %" or "0.01" in quotation marks; else nothing.

    Examples
    --------
    >>> meant_by("0,01"), meant_by("0,5 %"), meant_by("wide")
    (' Did you mean 0.01?', ' Did you mean 0.005?', '')
    """
    found = re.fullmatch(r"\s*(\d*[.,]?\d+)\s*(%?)\s*", text, re.ASCII)
    if found is None:
        return ""
    number = float(found[1].replace(",", "."))
    return f" Did you mean {number / 100 if found[2] else number:g}?"


def student_t_half(t: ArrayLike, nu: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(T > t) and P(0 < T < t) for a Student-t and t >= 0; ``nu`` may be infinite (Gaussian).

    The smaller of the two has full relative accuracy: below t = 1 the central part is computed and the tail is 1/2
    minus that; above, the other way round. With x = nu / (nu + t^2) the tail is I_x(nu/2, 1/2) / 2 and the central part
    I_(1-x)(1/2, nu/2) / 2 (Abramowitz & Stegun 26.7.1). With many degrees of freedom the rounding of an x near 1 counts,
    and the tail comes from 1 - x, which takes ten times as long. ``scipy.special.stdtr`` is not used: with one degree of
    freedom it is wrong near 0.
    """
    from scipy import special

    t, nu = np.broadcast_arrays(np.asarray(t, dtype=float), np.asarray(nu, dtype=float))
    gaussian, near = np.isinf(nu), t < 1
    nu = np.where(gaussian, 1.0, nu)
    with np.errstate(over="ignore", invalid="ignore"):
        x = nu / (nu + t**2)
        rest = t**2 / (nu + t**2)  # NaN if t**2 overflows, where x is 0 and the rest isn't used
    from_rest = ~near & (x > 0.5) & (nu > MANY)
    tail = special.betainc(nu / 2, 0.5, np.where(near | from_rest, 0.0, x)) / 2
    tail += special.betaincc(0.5, nu / 2, np.where(from_rest, rest, 1.0)) / 2
    central = special.betainc(0.5, nu / 2, np.where(near, rest, 0.0)) / 2
    tail, central = np.where(near, 0.5 - central, tail), np.where(near, central, 0.5 - tail)
    return np.where(gaussian, special.ndtr(-t), tail), np.where(gaussian, special.erf(t / math.sqrt(2)) / 2, central)


def region_probabilities(delta0: ArrayLike, sigma0: ArrayLike, nu: ArrayLike, rope: Rope) -> NDArray[np.float64]:
    """Probability that the next difference falls left of, in, and right of the rope.

    The next difference is Student-t with centre ``delta0``, scale ``sigma0`` and ``nu`` degrees of freedom; the three
    probabilities are F(lower), F(upper) - F(lower) and 1 - F(upper), each computed without cancellation. A scale of
    zero is a point mass at ``delta0``.

    Parameters
    ----------
    delta0, sigma0, nu : array_like
        Population parameters of one or more draws, of shapes that broadcast; ``nu`` may be infinite (Gaussian).
    rope : Rope
        In the unit of ``delta0``.

    Returns
    -------
    ndarray, shape (..., 3)
        Probabilities in the order left, rope, right.

    References
    ----------
    Corani et al., Machine Learning 106 (2017), inference on the next data set.

    Examples
    --------
    >>> region_probabilities(0.0, 1.0, 1.0, Rope(-1.0, 1.0)).round(12)
    array([0.25, 0.5 , 0.25])
    """
    delta0, sigma0, nu = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (delta0, sigma0, nu)))
    point = sigma0 == 0
    scale = np.where(point, 1.0, sigma0)
    with np.errstate(over="ignore"):
        lower, upper = (rope.lower - delta0) / scale, (rope.upper - delta0) / scale
    tail_lower, central_lower = student_t_half(np.abs(lower), nu)
    tail_upper, central_upper = student_t_half(np.abs(upper), nu)
    left = np.where(lower <= 0, tail_lower, 0.5 + central_lower)
    right = np.where(upper >= 0, tail_upper, 0.5 + central_upper)
    straddles = (lower < 0) & (upper > 0)
    # On one side of the centre the rope is the difference of two tails, or of two central parts where both are small
    tails, centrals = np.abs(tail_lower - tail_upper), np.abs(central_upper - central_lower)
    one_sided = np.where(np.maximum(np.abs(lower), np.abs(upper)) < 1, centrals, tails)
    rope_mass = np.where(straddles, central_lower + central_upper, one_sided)
    regions = np.stack([left, rope_mass, right], axis=-1)
    masses = np.stack([delta0 < rope.lower, (delta0 >= rope.lower) & (delta0 <= rope.upper), delta0 > rope.upper], -1)
    return np.where(point[..., None], masses.astype(float), regions)


def most_probable_shares(regions: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each draw, 1 for the most probable of the three regions; regions that tie share it equally.

    Parameters
    ----------
    regions : ndarray, shape (..., 3)

    Returns
    -------
    ndarray, shape (..., 3)
        Rows sum to 1.

    Examples
    --------
    >>> most_probable_shares(np.array([[0.2, 0.3, 0.5], [0.4, 0.2, 0.4]]))
    array([[0. , 0. , 1. ],
           [0.5, 0. , 0.5]])
    """
    largest = regions == regions.max(axis=-1, keepdims=True)
    return np.asarray(largest / largest.sum(axis=-1, keepdims=True))
