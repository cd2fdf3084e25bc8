"""The correlation between the folds of a data set: given, or derived from the number of folds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, finite_number
from hiercomp.errors import ArgumentError
from hiercomp.wording import nearest_name, normal_name, shown

RUNS = "runs"


@dataclass(frozen=True)
class Correlation:
    """Two correlations between folds of repeated cross-validation, to pass as ``rho``.

    Folds of one run have test sets that share no case; those of different runs are like two random splits.

    Parameters
    ----------
    within : float
        Correlation between two folds of a run, at least 0 and below 1.
    across : float
        Correlation between two folds of different runs.

    Raises
    ------
    ArgumentError
        If one is outside [0, 1).

    Examples
    --------
    >>> import hiercomp as hc
    >>> scores = hc.load_scores("keel")
    >>> rho = hc.Correlation(within=0.05, across=0.1)
    >>> hc.compare(scores, "naive_bayes", "decision_tree", rope=0.01, rho=rho, engine="quadrature").status
    'ok'
    """

    within: float
    across: float

    def __post_init__(self) -> None:
        for name in ("within", "across"):
            object.__setattr__(self, name, checked_rho(getattr(self, name), name))


RhoLike: TypeAlias = "float | Mapping[str, float] | Correlation | Literal['runs'] | None"


def is_learnt(rho: object) -> bool:
    """Whether the correlation within runs is to be learnt from their variation."""
    return isinstance(rho, str) and rho == RUNS


def default_rho(folds: Any, otherwise: Any = np.nan) -> FloatArray:
    """1/k for cross-validation with k folds, whatever the number of runs.

    Parameters
    ----------
    folds : array_like of int
        Folds of a run.
    otherwise : array_like
        Rho if there are fewer than two folds, which give none.

    Examples
    --------
    >>> default_rho([10, 5, 1])
    array([0.1, 0.2, nan])
    """
    folds = np.asarray(folds)
    return np.asarray(np.where(folds > 1, 1 / np.maximum(folds, 1), otherwise))


def checked_rho(value: object, argument: str = "rho") -> float:
    """A correlation of at least 0 and below 1."""
    number = finite_number(argument, value)
    if not 0 <= number < 1:
        raise ArgumentError(
            f"{argument} must be at least 0 and below 1, got {value}.",
            remedy="It is the correlation between folds: 1/k for k-fold cross-validation, the share of test cases for "
            "repeated hold-out, 0 for independent repetitions.",
            key="rho",
        )
    return number


def named_rho(rho: RhoLike, dataset_names: Collection[str]) -> RhoLike:
    """Rho by normalised data set name; all names must be in ``dataset_names``."""
    if not isinstance(rho, Mapping):
        return rho
    named = {normal_name(name): value for name, value in rho.items()}
    if len(named) < len(rho):
        raise ArgumentError("rho has several values for a data set; give each data set one.")
    for name in named:
        if name not in dataset_names:
            raise ArgumentError(
                f"rho names {shown(name)!r}, which is not a data set.{nearest_name(name, dataset_names)}"
            )
    return named


def correlations(
    rho: RhoLike, dataset_names: Sequence[str], n: NDArray[np.int64], folds: NDArray[np.int64]
) -> FloatArray:
    """The correlation of each data set, shape (q,).

    Parameters
    ----------
    rho : float, mapping from data set to float, Correlation, "runs" or None
        One for all, or one for each by normalised name; a mapping may name further data sets. None and "runs":
        `default_rho`, 0 for a single score, and NaN if the folds do not determine it. For a `Correlation`, the one across
        runs.
    dataset_names : sequence of str, length q
    n, folds : ndarray of int, shape (q,)
        Scores of each data set, and folds of a run.

    Raises
    ------
    ArgumentError
        If a value is outside [0, 1), or a data set has none.
    """
    if rho is None or is_learnt(rho):
        return np.where(n > 1, default_rho(folds), 0.0)
    if isinstance(rho, str):
        raise ArgumentError(f"rho must be a number, a mapping, a Correlation or 'runs', got {rho!r}.")
    if isinstance(rho, Correlation):
        rho = rho.across
    if not isinstance(rho, Mapping):
        return np.full(len(dataset_names), checked_rho(rho))
    lacking = [name for name in dataset_names if name not in rho]
    if lacking:
        raise ArgumentError(f"rho has no value for {len(lacking)} data sets (first: {shown(lacking[0])!r}).")
    return np.array([checked_rho(rho[name], f"rho of data set {shown(name)!r}") for name in dataset_names])
