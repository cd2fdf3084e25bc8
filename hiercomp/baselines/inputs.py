"""What the tests are given: arrays, `PairedDifferences` or a tidy table, brought to one form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiercomp.checks import finite_number, true_or_false
from hiercomp.differences import FloatArray, PairedDifferences, RhoLike
from hiercomp.errors import ArgumentError, ScoreTableError
from hiercomp.scores import shown

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
ALTERNATIVES = ("two-sided", "less", "greater")


@dataclass(frozen=True)
class Given:
    """Paired differences, and whether they were given as a single data set.

    Attributes
    ----------
    differences : PairedDifferences
        Sum of squares 0 where the differences are constant up to rounding.
    single : bool
        True for a one-dimensional array, whose results are single numbers.
    """

    differences: PairedDifferences
    single: bool

    def plain(self, values: NDArray[Any]) -> Any:
        """A number for a single data set, else the array."""
        return values[0].item() if self.single else values


def as_differences(
    x: Any,
    rho: RhoLike = None,
    *,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool = True,
) -> Given:
    """Bring what a test was given to paired differences.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left: of one data set (one-dimensional), of several (one row each, or a list of arrays
        of unequal lengths); or a tidy table of scores.
    rho : float or mapping, optional
        Correlation between two differences of a data set. A table has a default, arrays have none.
    left, right : str, optional
        The algorithms: which two of a table, or what to call them.
    higher_is_better : bool
        False for losses and errors: the sign is turned.
    """
    true_or_false("higher_is_better", higher_is_better)
    if isinstance(x, PairedDifferences):
        if not higher_is_better:
            raise ArgumentError("PairedDifferences already have their sign turned; leave higher_is_better out.")
        if (left is not None and left != x.left) or (right is not None and right != x.right):
            raise ArgumentError(
                f"The differences are those of {x.left!r} (left) and {x.right!r} (right); leave names out."
            )
        return Given(_without_rounding(x if rho is None else _with_rho(x, rho)), single=False)
    if is_table(x):
        given = PairedDifferences.from_table(x, left, right, rho=rho, higher_is_better=higher_is_better)
        return Given(_without_rounding(given), single=False)
    if rho is None:
        raise ArgumentError(
            "rho has no default for arrays. Pass 1/k for k-fold cross-validation, the share of test cases for repeated "
            "hold-out, or 0 for independent scores."
        )
    rows, single = rows_of(x, "x")
    differences = PairedDifferences.from_arrays(
        [np.zeros(len(row)) for row in rows],
        rows,
        left=left or "left",
        right=right or "right",
        rho=rho,
        higher_is_better=higher_is_better,
    )
    return Given(_without_rounding(differences), single)


def as_pairs(
    x: Any,
    y: Any = None,
    *,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool = True,
) -> tuple[PairedDifferences, bool]:
    """Scores of two algorithms, for tests that need the scores themselves.

    Parameters
    ----------
    x, y : array_like
        Scores of the left and of the right algorithm; or x alone: `PairedDifferences` or a tidy table.

    Returns
    -------
    tuple of PairedDifferences and bool
        With its ``scores``; and whether one-dimensional arrays were given.
    """
    if isinstance(x, PairedDifferences) or is_table(x):
        if y is not None:
            raise ArgumentError(
                "A table and a second argument were both given; a table holds the scores of both sides."
            )
        given = as_differences(x, left=left, right=right, higher_is_better=higher_is_better, rho=0.0)
        if given.differences.scores is None:
            raise ArgumentError(
                "These differences were read from a file, without the scores. Pass the table of scores."
            )
        return given.differences, False
    if y is None:
        raise ArgumentError("Pass the scores of both algorithms, or a table of scores.")
    left_rows, single = rows_of(x, "the first argument")
    right_rows, _ = rows_of(y, "the second argument")
    differences = PairedDifferences.from_arrays(
        left_rows,
        right_rows,
        left=left or "left",
        right=right or "right",
        rho=0.0,
        higher_is_better=higher_is_better,
    )
    return differences, single


def as_means(x: Any, *, left: str | None, right: str | None, higher_is_better: bool) -> PairedDifferences:
    """Mean differences of data sets; a one-dimensional array holds one for each."""
    if not isinstance(x, PairedDifferences) and not is_table(x):
        rows, single = rows_of(x, "x")
        x = rows[0][:, None] if single else rows
    return as_differences(x, 0.0, left=left, right=right, higher_is_better=higher_is_better).differences


def scores_of(differences: PairedDifferences) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Scores of the left and of the right algorithm by data set, signs turned where lower is better."""
    assert differences.scores is not None
    sign = 1.0 if differences.higher_is_better else -1.0
    return {
        str(name): (sign * rows["left"].to_numpy(float), sign * rows["right"].to_numpy(float))
        for name, rows in differences.scores.groupby("dataset", sort=False)
    }


def zeros_and_ties(differences: PairedDifferences) -> FloatArray:
    """Mean differences in which what is equal up to rounding is equal.

    Without this, 0.9 - 0.8 and 0.8 - 0.7 would have different ranks.
    """
    size = max(float(np.abs([differences.lowest_score, differences.highest_score]).max()), np.finfo(float).tiny)
    return np.asarray(np.round(differences.mean / size, 12) * size)


def is_table(x: Any) -> bool:
    """Whether x is a data frame of some kind (pandas, polars, pyarrow, ...)."""
    return hasattr(x, "columns") or hasattr(x, "column_names")


def rows_of(x: Any, name: str) -> tuple[list[FloatArray], bool]:
    """An array as a list of rows, and whether it had one dimension; what is not a finite number is refused."""
    message = f"{name} must hold numbers: one row of differences or scores, or one row for each data set."
    try:
        values = [np.asarray(row) for row in x]
    except TypeError:
        raise ScoreTableError(message) from None
    single = all(row.ndim == 0 for row in values)
    rows = [np.asarray(values)] if single else values
    if not values or any(row.dtype.kind not in "fiu" or row.ndim != 1 for row in rows):
        raise ScoreTableError(message)
    for number, row in enumerate(rows):
        if len(row) == 0:
            raise ScoreTableError(f"Data set {number + 1} of {name} has no numbers.")
        wrong = np.flatnonzero(~np.isfinite(row))
        if len(wrong):
            where = f"position {wrong[0]}" + ("" if single else f" of data set {number + 1}")
            raise ScoreTableError(
                f"{len(wrong)} of {len(row)} numbers of {name} are not finite (first: {where}, {row[wrong[0]]}). "
                "Remove them, with their partners; a missing score is not an equivalent one."
            )
    return [row.astype(float) for row in rows], single


def check_alternative(alternative: object) -> None:
    """Refuse what is not one of scipy's alternatives."""
    if alternative not in ALTERNATIVES:
        raise ArgumentError(f"alternative must be 'two-sided', 'less' or 'greater', got {alternative!r}.")


def need_scores(differences: PairedDifferences, smallest: int, test: str) -> None:
    """Refuse data sets with too few scores, by name."""
    few = np.flatnonzero(differences.n < smallest)
    if len(few):
        name, count = shown(differences.datasets[few[0]]), differences.n[few[0]]
        raise ScoreTableError(
            f"{test} needs at least {smallest} scores of a data set; {len(few)} of {len(differences.datasets)} data sets "
            f"have fewer (first: {name!r}, {count})."
        )


def _with_rho(differences: PairedDifferences, rho: RhoLike) -> PairedDifferences:
    if not isinstance(rho, (int, float)) or not 0 <= finite_number("rho", rho) < 1:
        raise ArgumentError(f"rho must be a number of at least 0 and below 1, got {rho!r}.")
    return replace(differences, rho=np.full(len(differences.n), float(rho)))


def _without_rounding(differences: PairedDifferences) -> PairedDifferences:
    return replace(differences, sum_of_squares=np.where(differences.constant, 0.0, differences.sum_of_squares))
