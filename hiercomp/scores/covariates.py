"""Covariates of data sets: what is known of each before any algorithm is run, such as its number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import FloatArray, finite_number
from hiercomp.errors import ArgumentError, ScoreTableError
from hiercomp.scores.table import further_role_of, role_of, to_pandas
from hiercomp.wording import counted, first_names, is_unwritable, nearest_name, normal_name, shown, shown_value

if TYPE_CHECKING:
    import pandas as pd

LARGEST_SIZE = 1e100  # of a value; its square and that of its inverse are still doubles
SAME = 1 - 1e-9  # correlation of two columns from which no data can say which of them matters
ROUNDING = 1e-12  # spread, relative to the size of the values, of a column that is constant


@dataclass(frozen=True, eq=False)
class Covariates:
    """Numbers that describe data sets, in the user's units.

    Attributes
    ----------
    names : tuple of str, length p
    values : ndarray, shape (q, p)
    """

    names: tuple[str, ...]
    values: FloatArray

    @classmethod
    def of(cls, frame: Any, dataset_names: Sequence[str]) -> Covariates:
        """The rows of some data sets, in their order.

        Parameters
        ----------
        frame : data frame
            One row for each data set, one column of numbers for each covariate; the names of the data sets are the index, or
            a column ``dataset``. Rows of other data sets are not used.
        dataset_names : sequence of str

        Raises
        ------
        ArgumentError
            If a data set has no row or two, a cell is missing or no number, or a column is constant or repeats another.
        """
        table = _by_dataset(frame)
        names = tuple(normal_name(name) for name in table.columns)
        _check_names(names)
        _check_rows(list(table.index), dataset_names)
        table = table.loc[list(dataset_names)]
        columns = [_numbers(table.iloc[:, place], name) for place, name in enumerate(names)]
        found = cls(names, np.stack(columns, axis=1))
        found.check()
        return found

    @cached_property
    def centre(self) -> FloatArray:
        """Mean of each over the data sets, shape (p,)."""
        return np.asarray(self.values.mean(axis=0))

    @cached_property
    def spread(self) -> FloatArray:
        """Standard deviation of each over the data sets, shape (p,)."""
        return np.asarray(np.std(self.values, axis=0, ddof=1))

    @cached_property
    def standardised(self) -> FloatArray:
        """Mean 0 and standard deviation 1 over the data sets, shape (q, p)."""
        return np.asarray((self.values - self.centre) / self.spread)

    def check(self) -> None:
        """Refuse columns whose slopes no data could show: constant ones, and those that repeat another.

        Raises
        ------
        ArgumentError
        """
        size = np.abs(self.values).max(axis=0)
        odd = np.flatnonzero((size > LARGEST_SIZE) | ((size > 0) & (size < 1 / LARGEST_SIZE)))
        if len(odd):
            name = self.names[odd[0]]
            raise ArgumentError(
                f"The largest value of covariate {shown(name)!r} is {size[odd[0]]:.3g}, which is too large or too small to "
                "compute with.",
                remedy="Convert it to another unit, or take its logarithm.",
                places=(name,),
                key="covariate_out_of_range",
            )
        constant = [
            name for name, flat in zip(self.names, np.ptp(self.values, axis=0) <= ROUNDING * size, strict=True) if flat
        ]
        if constant:
            raise ArgumentError(
                f"{counted(len(constant), 'covariate', 'is')} the same on all {len(self.values)} data sets "
                f"({first_names(constant)}), so nothing can be learnt about {'it' if len(constant) == 1 else 'them'}.",
                remedy="Leave it out." if len(constant) == 1 else "Leave them out.",
                places=tuple(constant),
                key="constant_covariate",
            )
        for later in range(1, len(self.names)):
            for first in range(later):
                together = (self.standardised[:, first] * self.standardised[:, later]).sum() / (len(self.values) - 1)
                if abs(together) >= SAME:
                    one, other = (shown(self.names[place]) for place in (first, later))
                    raise ArgumentError(
                        f"Covariates {one!r} and {other!r} say the same: their correlation is {together:.0f}.",
                        remedy="Leave one of them out.",
                        places=(self.names[first], self.names[later]),
                        key="repeated_covariate",
                    )

    def subset(self, places: Sequence[int]) -> Covariates:
        """Those of some data sets, which are standardised again."""
        found = Covariates(self.names, self.values[list(places)])
        found.check()
        return found

    def at(self, given: Mapping[str, Any]) -> FloatArray:
        """Standardised values at some point; covariates that are not given are at their mean.

        Parameters
        ----------
        given : mapping from name to number
            In the user's units.

        Returns
        -------
        ndarray, shape (p,)

        Raises
        ------
        ArgumentError
            If a name or a value is wrong.
        """
        point = np.zeros(len(self.names))
        for name, value in given.items():
            point[self.place(name)] = finite_number(shown(name), value)
        chosen = [self.place(name) for name in given]
        point[chosen] = (point[chosen] - self.centre[chosen]) / self.spread[chosen]
        return point

    def place(self, name: object) -> int:
        """The column of a covariate.

        Raises
        ------
        ArgumentError
            If there is none of that name.
        """
        if name not in self.names:
            raise ArgumentError(
                f"There is no covariate {shown_value(name)}.{nearest_name(str(name), self.names)} The covariates are: "
                f"{', '.join(map(shown, self.names))}."
            )
        return self.names.index(str(name))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, from which ``from_dict`` makes an equal object."""
        return {"names": list(self.names), "values": self.values.tolist()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Covariates:
        """From the result of `to_dict`."""
        return cls(tuple(plain["names"]), np.array(plain["values"], dtype=float))


def _by_dataset(frame: Any) -> pd.DataFrame:
    """The frame with the names of the data sets, as text, as its index."""
    import pandas as pd

    if (
        isinstance(frame, pd.DataFrame)
        and not isinstance(frame.index, (pd.RangeIndex, pd.MultiIndex))
        and not any(role_of(name) == "dataset" for name in frame.columns)
        and not _only_numbers_rows(frame)
    ):
        table = frame.copy()
        names: Any = frame.index
    else:
        try:
            table = to_pandas(frame)
        except ScoreTableError as error:
            if error.key != "no_table":
                raise
            raise ArgumentError(
                f"covariates must be a data frame or the path of a file, got {type(frame).__name__}.",
                remedy="Pass a frame with one row for each data set and one column for each covariate.",
            ) from None
        known = [name for name in table.columns if role_of(name) == "dataset"]
        known = known or [name for name in table.columns if further_role_of(name) == "dataset"]
        if len(known) != 1:
            raise ArgumentError(
                f"The covariates have {counted(len(known), 'column')} of names of data sets.",
                remedy="Name one column 'dataset', or make the names the index.",
                key="covariates_without_datasets",
            )
        names = table.pop(known[0])
    table.index = pd.Index([normal_name(name) for name in names], dtype=object)
    return table


def _only_numbers_rows(frame: pd.DataFrame) -> bool:
    """Whether the index is what filtering leaves of one that numbers rows, beside a column that names data sets."""
    index = frame.index
    return (
        index.name is None
        and index.dtype.kind in "iu"
        and any(further_role_of(name) == "dataset" for name in frame.columns)
    )


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise ArgumentError("There is no covariate: the frame has no column beside the names of the data sets.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ArgumentError(f"Several covariates have the same name: {first_names(twice)}.", remedy="Rename them.")
    wrong = [name for name in names if not name or is_unwritable(name)]
    if wrong:
        raise ArgumentError(f"No file can hold the name of a covariate: {first_names(wrong)}.", remedy="Rename it.")


def _check_rows(given: Sequence[str], dataset_names: Sequence[str]) -> None:
    wanted = set(dataset_names)
    twice = sorted({name for name in given if name in wanted and given.count(name) > 1})
    if twice:
        raise ArgumentError(
            f"{counted(len(twice), 'data set', 'has')} several rows of covariates: {first_names(twice)}.",
            remedy="Keep one row of each.",
            places=tuple(twice),
            key="repeated_covariates",
        )
    missing = [name for name in dataset_names if name not in set(given)]
    if missing:
        verb = "has" if len(missing) == 1 else "have"
        raise ArgumentError(
            f"{len(missing)} of {counted(len(dataset_names), 'data set')} {verb} no row of covariates: "
            f"{first_names(missing)}.{nearest_name(missing[0], given)}",
            remedy="Add their rows, or take these data sets out of the scores.",
            places=tuple(missing),
            key="missing_covariates",
        )


def _numbers(column: pd.Series, name: str) -> FloatArray:
    """A column as numbers; true and false are 1 and 0."""
    cells = column.tolist()
    texts = [(label, cell) for label, cell in zip(column.index, cells, strict=True) if isinstance(cell, str)]
    if texts:
        levels = sorted({cell for _, cell in texts})
        few = len(levels) < len(texts)
        raise ArgumentError(
            f"Covariate {shown(name)!r} is not a number on {counted(len(texts), 'data set')} (first: "
            f"{shown(texts[0][0])!r}, {shown_value(texts[0][1])}).",
            remedy=f"It has {counted(len(levels), 'level')}: give every level but one a column of 0 and 1, as "
            "pandas.get_dummies(frame, drop_first=True) does."
            if few
            else "Convert the column to numbers, or leave it out.",
            places=tuple(str(label) for label, _ in texts),
            key="covariate_without_numbers",
        )
    try:
        values = np.array([np.nan if cell is None else float(cell) for cell in cells])
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"Covariate {shown(name)!r} has cells that are not numbers (type {column.dtype}).",
            remedy="Convert the column to numbers, or leave it out.",
            key="covariate_without_numbers",
        ) from None
    wrong = np.flatnonzero(~np.isfinite(values)).tolist()
    if wrong:
        raise ArgumentError(
            f"Covariate {shown(name)!r} is missing or not finite on {counted(len(wrong), 'data set')} (first: "
            f"{shown(column.index[wrong[0]])!r}, {values[wrong[0]]:g}).",
            remedy="Fill it in, or leave out the covariate or these data sets.",
            places=tuple(str(column.index[place]) for place in wrong),
            key="missing_covariates",
        )
    return values
