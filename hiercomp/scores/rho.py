"""The correlation between the folds of a data set: as given, or by the number of folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import finite_number
from hiercomp.errors import ArgumentError, DefaultedRhoWarning, Note, ScoreTableError
from hiercomp.wording import nearest_name, normal_name, shown

RhoLike: TypeAlias = "float | Mapping[str, float] | None"
FloatArray: TypeAlias = NDArray[np.float64]

MOST_FOLDS = 20  # more folds without a run column look like several runs in one numbering


def correlations(
    rho: RhoLike, datasets: Sequence[str], n: NDArray[np.int64], folds: Mapping[str, int | None]
) -> FloatArray:
    """The correlation of each data set: as given, or 1/k of its k folds; 0 for a single score."""
    if rho is None:
        unknown = [name for name, count in zip(datasets, n, strict=True) if folds[name] is None and count > 1]
        if unknown:
            raise ScoreTableError(
                f"The number of folds is unknown for {len(unknown)} of {len(datasets)} data sets (first: "
                f"{shown(unknown[0])!r}), so that rho has no default. Pass rho: the share of test cases for repeated "
                "hold-out (0.33 for a third), 0 for independent repetitions."
            )
        return np.array([1 / (folds[name] or 1) if count > 1 else 0.0 for name, count in zip(datasets, n, strict=True)])
    if isinstance(rho, Mapping):
        rho = {normal_name(name): value for name, value in rho.items()}
        for name in rho:
            if name not in folds:
                raise ArgumentError(f"rho names {name!r}, which is not a data set.{nearest_name(name, datasets)}")
        lacking = [name for name in datasets if name not in rho]
        if lacking:
            raise ArgumentError(f"rho has no value for {len(lacking)} data sets (first: {shown(lacking[0])!r}).")
        values = [rho[name] for name in datasets]
    else:
        values = [rho] * len(datasets)
    for name, value in zip(datasets, values, strict=True):
        argument = f"rho of data set {shown(name)!r}" if isinstance(rho, Mapping) else "rho"
        if not 0 <= finite_number(argument, value) < 1:
            raise ArgumentError(
                f"{argument} must be at least 0 and below 1, got {value}. It is the correlation between folds: 1/k for "
                "k-fold cross-validation, the share of test cases for repeated hold-out, 0 for independent repetitions."
            )
    return np.array(values, dtype=float)


def many_folds(folds: Mapping[str, int | None]) -> list[Note]:
    """A note where the folds of a table without a run column look like several runs in one numbering."""
    name, count = max(folds.items(), key=lambda item: item[1] or 0)
    if (count or 0) <= MOST_FOLDS:
        return []
    text = (
        f"Data set {shown(name)!r} has {count} folds and there is no run column: rho defaults to 1/{count}. "
        "If these are several runs of cross-validation, add a run column or pass rho."
    )
    return [Note(DefaultedRhoWarning, text)]
