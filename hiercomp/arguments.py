"""Checks of plain arguments, with messages that quote the value and name what is allowed."""

from __future__ import annotations

import difflib
import importlib.util
import math
from collections.abc import Collection
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.errors import ArgumentError, ScoreTableError

FloatArray = NDArray[np.float64]

VALUES_AT_ONCE = 100_000
LARGEST_SEED = 2**31 - 1  # of CmdStan 2.27


def whole_number(name: str, value: object, smallest: int, largest: int | None = None) -> int:
    """A whole number between two limits; booleans and 1.9 are refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ArgumentError(f"{name} must be a whole number, got {value!r}.")
    if value < smallest or (largest is not None and value > largest):
        limits = f"at least {smallest}" if largest is None else f"between {smallest} and {largest}"
        raise ArgumentError(f"{name} must be {limits}, got {value}.")
    return int(value)


def seed_number(seed: object) -> int:
    """A seed from 0 to 2^31 - 1, or the next number of a `numpy.random.Generator`."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(LARGEST_SEED + 1))
    return whole_number("seed", seed, 0, LARGEST_SEED)


def random_generator(seed: object) -> np.random.Generator:
    """A `numpy.random.Generator` as it is, or one of a seed from 0 to 2^31 - 1."""
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed_number(seed))


def number_array(name: str, values: object) -> FloatArray:
    """Numbers as an array of floats."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be numbers, got {values!r}.") from None


def refuse_masked(x: object, name: str) -> None:
    """Refuse a masked array with masked cells: NumPy would pass on the values under the mask."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.getmaskarray(x).any():
        count = np.ma.getmaskarray(x).sum()
        raise ScoreTableError(f"{count} of {x.size} numbers of {name} are masked. Remove them, with their partners.")


def as_doubles(values: NDArray[Any]) -> FloatArray:
    """Numbers as floats of 64 bits; narrower floats by their shortest decimals, 0.9 and not 0.89999998.

    Otherwise equal differences of such scores would differ by more than the rounding errors of doubles.
    """
    found = values.astype(float)
    if values.dtype.kind == "f" and values.dtype.itemsize < found.dtype.itemsize:
        for start in range(0, len(values), VALUES_AT_ONCE):  # as text a number takes 128 bytes
            part = slice(start, start + VALUES_AT_ONCE)
            found[part] = values[part].astype(str).astype(float)
    return found


def number_of_jobs(n_jobs: object) -> int | None:
    """How many processes to use, as joblib counts them: -1 is all cores, None is joblib's default."""
    if n_jobs is None:
        return None
    number = whole_number("n_jobs", n_jobs, -64)
    if number == 0:
        raise ArgumentError("n_jobs must be the number of processes, or -1 for all cores, got 0.")
    return number


def finite_number(name: str, value: object) -> float:
    """A real number that is neither infinite nor NaN; booleans are refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ArgumentError(f"{name} must be a finite number, got {value!r}.")
    try:
        number = float(value)
    except OverflowError:  # a whole number, too long to be shown
        raise ArgumentError(f"{name} must be below 1.8e308 in size.") from None
    if not math.isfinite(number):
        raise ArgumentError(f"{name} must be a finite number, got {value!r}.")
    return number


def number_between(name: str, value: object, lower: float, upper: float) -> float:
    """A real number strictly between two limits; the upper one may be infinite."""
    number = finite_number(name, value)
    if not lower < number < upper:
        limit = "" if upper == math.inf else f" and below {upper:g}"
        raise ArgumentError(f"{name} must be above {lower:g}{limit}, got {number:g}.")
    return number


#: Names of other packages for the options of a fit.
NAMES_ELSEWHERE = {
    "random_state": "seed",
    "random_seed": "seed",
    "n_chains": "chains",
    "num_chains": "chains",
    "samples": "draws",
    "n_samples": "draws",
    "num_samples": "draws",
    "iter_sampling": "draws",
    "iter_warmup": "warmup",
    "tune": "warmup",
    "burn_in": "warmup",
    "target_accept": "adapt_delta",
    "verbose": "progress",
    "jobs": "n_jobs",
}


def hint_of_option(name: str, options: Collection[str]) -> str:
    """ " Did you mean 'seed'?" for a name that is not an option, by other packages' names and by its spelling.

    Examples
    --------
    >>> hint_of_option("random_state", ["seed", "draws"]), hint_of_option("drawss", ["seed", "draws"])
    (" Did you mean 'seed'?", " Did you mean 'draws'?")
    >>> hint_of_option("n_jobs", ["seed", "draws"])
    ' The chains of a fit run in parallel by themselves; n_jobs is for many fits, such as compare_all.'
    """
    meant = NAMES_ELSEWHERE.get(name, name)
    if meant in options:
        return f" Did you mean {meant!r}?"
    if meant == "n_jobs":
        return " The chains of a fit run in parallel by themselves; n_jobs is for many fits, such as compare_all."
    close = difflib.get_close_matches(name, list(options), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def verdict_level(alpha: object) -> float:
    """The level of verdicts, strictly between 0 and 0.5; a verdict needs a probability above 1 - alpha."""
    number = finite_number("alpha", alpha)
    if 0 < number < 0.5:
        return number
    share = number / 100 if number >= 1 else number
    meant = min(share, 1 - share)
    hint = f" Did you mean {meant:.6g}?" if 0 < meant < 0.5 else ""
    raise ArgumentError(f"alpha must be above 0 and below 0.5, got {number:g}.{hint}")


def true_or_false(name: str, value: object) -> bool:
    """A boolean; "no" and 0 are refused, because a non-empty string would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def true_false_or_none(name: str, value: object) -> bool | None:
    """A boolean, or None where something else decides."""
    return None if value is None else true_or_false(name, value)


def one_of(name: str, value: object, allowed: Collection[str]) -> str:
    """One of a few words; the message lists them and names the closest."""
    if not isinstance(value, str) or value not in allowed:
        close = difflib.get_close_matches(str(value), list(allowed), n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ArgumentError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.{hint}")
    return value


def refuse_without(module: str, purpose: str, package: str, extra: str, otherwise: str = "") -> None:
    """Refuse what needs a package of an extra if it is not installed, with the command that installs it."""
    if importlib.util.find_spec(module) is None:
        raise ArgumentError(
            f"{purpose} needs the package {package}: pip install 'hiercomp[{extra}]'.", remedy=otherwise
        )
