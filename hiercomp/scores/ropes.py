"""A rope for each data set, for metrics in different units: its half-width is the unit of that data set's differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from hiercomp.arguments import FloatArray, finite_number
from hiercomp.errors import ArgumentError
from hiercomp.rope import Rope, is_by_dataset, meant_by, percentage
from hiercomp.wording import counted, nearest_name, normal_name, shown, shown_value


def rope_column(rope: object) -> str | None:
    """The column of a table that a rope names: any text but a percentage, and a number in quotation marks.

    Examples
    --------
    >>> rope_column("margin"), rope_column("1%"), rope_column("0,01"), rope_column(0.01)
    ('margin', None, None, None)
    """
    return rope if isinstance(rope, str) and percentage(rope) is None and not meant_by(rope) else None


def is_for_each_dataset(rope: object) -> bool:
    """Whether a rope is one for each data set: a mapping, a Series or the name of a column."""
    return is_by_dataset(rope) or rope_column(rope) is not None


def ropes_of_datasets(
    rope: object, of_column: Mapping[str, float] | None, dataset_names: Sequence[str], transform: object
) -> FloatArray | None:
    """Half-widths, shape (q,), if each data set has its own rope; None if there is one rope for all.

    Parameters
    ----------
    rope : RopesLike or None
        What the caller gave.
    of_column : mapping from str to float, or None
        What the table's column of ropes says.
    dataset_names : sequence of str, length q
    transform : {"log"} or None

    Raises
    ------
    ArgumentError
        If a data set has no rope or several, one that is not positive, or a name is not a data set; if both a column and
        other ropes are given; or if logs are wanted, too.

    Examples
    --------
    >>> ropes_of_datasets({"wine": 0.05, "iris": "1%"}, None, ["iris", "wine"], None)
    array([0.01, 0.05])
    """
    if of_column is not None and rope is not None and rope_column(rope) is None:
        raise ArgumentError("rope and a column of ropes were both given; pass only one of them.")
    given = rope if is_by_dataset(rope) else of_column
    if given is None:
        return None
    if transform is not None:
        raise ArgumentError(
            "transform='log' and a rope for each data set were both given; pass only one of them, because logs of ratios "
            "already have one unit.",
            remedy="Pass one rope, such as 0.01 for about 1%.",
        )
    assert isinstance(given, Mapping) or hasattr(given, "items")
    pairs = [(normal_name(name), value) for name, value in given.items()]
    ropes = dict(pairs)
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise ArgumentError(f"rope has {count} values for data set {shown(name)!r}; give each data set one.")
        if name not in dataset_names:
            raise ArgumentError(
                f"rope names {shown(name)!r}, which is not a data set.{nearest_name(name, dataset_names)}"
            )
    lacking = [name for name in dataset_names if name not in ropes]
    if lacking:
        raise ArgumentError(
            f"rope has no value for {counted(len(lacking), 'data set')} (first: {shown(lacking[0])!r})."
        )
    return np.array([_half_width(ropes[name], f"The rope of data set {shown(name)!r}") for name in dataset_names])


def _half_width(value: object, which: str) -> float:
    if isinstance(value, (tuple, list, Rope)):
        raise ArgumentError(
            f"{which} must be one number, its half-width, got {shown_value(value)}: data sets have a common unit only if "
            "each rope is symmetric about 0."
        )
    share = percentage(value) if isinstance(value, str) else None
    number = finite_number(which, value if share is None else share)
    if number <= 0:
        raise ArgumentError(f"{which} must be above 0, got {number:g}.")
    return number
