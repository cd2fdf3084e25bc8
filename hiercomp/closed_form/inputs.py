"""The inputs of the tests: arrays, `PairedDifferences` or a tidy table, converted to one form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, as_doubles, refuse_masked, true_false_or_none
from hiercomp.errors import (
    ArgumentError,
    DegenerateScoresWarning,
    DroppedScoresWarning,
    Note,
    ScoreTableError,
    warn_caller,
)
from hiercomp.files.any_table import as_tidy
from hiercomp.pairs.ranking import shared_ranks
from hiercomp.rope import Rope, RopesLike
from hiercomp.scores.arrays import DROP, ScoreArrays
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.direction import Direction, stated_direction
from hiercomp.scores.problems import ROUNDING
from hiercomp.scores.rho import Correlation, RhoLike, checked_rho, is_learnt
from hiercomp.scores.scale import DEFAULT_HALF_WIDTH, LARGEST_FRACTION
from hiercomp.scores.table import holds_no_scores, refuse_unwritable, role_of, tidy_scores, to_pandas
from hiercomp.wording import cells_in_words, counted, first_names, metric_words, normal_name, shown

Alternative: TypeAlias = Literal["two-sided", "less", "greater"]
ALTERNATIVES = ("two-sided", "less", "greater")


class Sides(TypedDict, total=False):
    """Which algorithm is on which side, whether higher scores are better, and the rope: arguments of `as_differences`."""

    left: str | None
    right: str | None
    higher_is_better: bool | None
    rope: RopesLike | None


@dataclass(frozen=True)
class Given:
    """Paired differences, and whether they were given as a single data set.

    Attributes
    ----------
    differences : PairedDifferences
        With sum of squares 0 if the differences are constant up to rounding, and mean 0 if they are 0 up to rounding.
    single : bool
        True for a one-dimensional array, whose results are single numbers.
    of_scores : bool
        False for an array of differences, whose scores are unknown.
    labelled : bool
        True for a table or `PairedDifferences`, which know their metric and its direction.
    """

    differences: PairedDifferences
    single: bool
    of_scores: bool = True
    labelled: bool = False

    @property
    def size(self) -> FloatArray:
        """Largest absolute score of each data set (of arrays, difference): the unit of its rounding errors, shape (q,)."""
        return _size(self.differences)

    @property
    def algorithms(self) -> tuple[str, str]:
        """The left and the right algorithm."""
        return self.differences.left, self.differences.right

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about the data."""
        return tuple(note.text for note in self.differences.notes)

    @property
    def metric(self) -> str:
        """The metric and its direction, in words; empty for arrays in which higher is better."""
        given = self.differences
        if not self.labelled and given.higher_is_better:
            return ""
        return metric_words(given.measure, given.higher_is_better, given.transform)

    def rope(self, rope: RopesLike | None) -> Rope:
        """The rope given, or the default of 0.01 if every score lies in [0, 1]; [-1, 1] in units of each data set's rope.

        Raises
        ------
        ArgumentError
            If none is given for scores on another scale.
        """
        largest = self.differences.largest_difference
        if rope is None and not self.of_scores:
            if largest <= LARGEST_FRACTION:
                return Rope.of(DEFAULT_HALF_WIDTH)
            raise ArgumentError(
                f"The largest difference is {largest:g}, and the default rope of {DEFAULT_HALF_WIDTH:g} is only for scores "
                "between 0 and 1.",
                remedy="Pass the margin that makes no practical difference, in the unit of the scores: rope=...",
                key="default_rope",
            )
        return self.differences.scale.rope(rope)

    def plain(self, values: NDArray[Any]) -> Any:
        """A number for a single data set, else the array."""
        return values[0].item() if self.single else values


def as_differences(
    x: Any,
    rho: RhoLike = None,
    *,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
    rope: RopesLike | None = None,
) -> Given:
    """Convert the input of a test to paired differences.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left: of one data set (one-dimensional), of several (one row each, or a list of arrays
        of unequal lengths); or a tidy table of scores.
    rho : float, mapping, Correlation or "runs", optional
        Correlation between two differences of a data set. A table has a default, arrays have none.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors: the sign is reversed. By default as a table says, and True for arrays.
    rope : RopesLike, optional
        If a table is given a rope for each data set, the differences are in units of it.
    """
    true_false_or_none("higher_is_better", higher_is_better)
    if isinstance(x, PairedDifferences):
        if higher_is_better not in (None, x.higher_is_better):
            raise ArgumentError("The sign of PairedDifferences is already set; leave higher_is_better out.")
        if (left is not None and left != x.left) or (right is not None and right != x.right):
            raise ArgumentError(
                f"The differences are those of {x.left!r} (left) and {x.right!r} (right); leave names out."
            )
        if rope is not None:
            Rope.of(rope)  # which refuses one for each data set
        return Given(_without_rounding(x if rho is None else _with_rho(x, rho)), single=False, labelled=True)
    if is_table(x):
        table = as_tidy(x, rho=rho, rope=rope, takes_columns=False)[0]
        given = PairedDifferences.from_table(
            *(table, left, right), rope=rope, rho=rho, higher_is_better=higher_is_better
        )
        warn_caller(given.notes)
        return Given(_without_rounding(given), single=False, labelled=True)
    if rho is None:
        raise ArgumentError(
            "rho has no default for arrays. Pass 1/k for k-fold cross-validation, the share of test cases for repeated "
            "hold-out, or 0 for independent scores."
        )
    rows, single = rows_of(x, "x")
    zeros = [np.zeros(len(row)) for row in rows]
    of_arrays = _of_arrays(zeros, rows, single, rho, left=left, right=right, higher_is_better=higher_is_better)
    return replace(of_arrays, of_scores=False)


def as_pairs(x: Any, y: Any = None, **sides: Unpack[Sides]) -> Given:
    """Differences with their scores, for tests that need the scores themselves.

    Parameters
    ----------
    x, y : array_like
        Scores of the left and of the right algorithm; or x alone: `PairedDifferences` or a tidy table.
    **sides
        The algorithms and their direction, as in `as_differences`.
    """
    if is_labelled(x):
        if y is not None:
            raise ArgumentError(
                "A table and a second argument were both given; a table already has the scores of both sides."
            )
        return _with_scores(x, **sides)
    if y is None:
        raise ArgumentError("Pass the scores of both algorithms, or a table of scores.")
    left_rows, single = rows_of(x, "the first argument")
    right_rows, _ = rows_of(y, "the second argument")
    return _of_arrays(left_rows, right_rows, single, 0.0, **sides)


def as_runs(
    x: Any,
    by_run_and_fold: Callable[[pd.DataFrame], FloatArray],
    *,
    layout: tuple[int, int] | None = None,
    **sides: Unpack[Sides],
) -> tuple[Given, FloatArray]:
    """Differences by run and fold, shape (q, runs, folds), for tests that depend on the layout.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences of shape (runs, folds) or (q, runs, folds); or a tidy table.
    by_run_and_fold : callable
        Puts the column ``difference`` of the scores of a table into that shape.
    layout : tuple of int, optional
        The runs and folds that the test requires.
    **sides
        The algorithms and their direction, as in `as_differences`.
    """
    if is_labelled(x):
        given = _with_scores(x, **sides)
        pairs = given.differences.scores
        assert pairs is not None  # `_with_scores` has looked
        sign = 1.0 if given.differences.higher_is_better else -1.0
        return given, by_run_and_fold(pairs.assign(difference=sign * (pairs["right"] - pairs["left"])))
    higher_is_better = true_false_or_none("higher_is_better", sides.get("higher_is_better"))
    refuse_masked(x, "x")
    wanted = "x must hold numbers, in the shape (runs, folds) or (data sets, runs, folds)"
    if layout is not None:
        runs, folds = layout
        wanted = (
            f"x must hold differences of {runs} runs of {folds} folds, in the shape {layout} or (q, {runs}, {folds})"
        )
    try:
        array = np.asarray(x)
    except ValueError:
        raise ScoreTableError(f"{wanted}; its rows have unequal lengths. Every run needs all folds.") from None
    fits = array.ndim in (2, 3) and (layout is None or array.shape[-2:] == layout) and 0 not in array.shape
    if array.dtype.kind not in "fiu" or not fits:
        raise ScoreTableError(f"{wanted}, got {array.dtype} of shape {array.shape}.")
    values = array.astype(float).reshape(-1, *array.shape[-2:])
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        dataset, run, fold = wrong[0] + 1
        raise ScoreTableError(
            f"{len(wrong)} of {values.size} numbers of x are not finite (first: data set {dataset}, run {run}, fold {fold}, "
            f"{values[tuple(wrong[0])]}). Every run needs all folds; run these again."
        )
    given = as_differences(list(values.reshape(len(values), -1)), 0.0, **sides)
    return replace(given, single=array.ndim == 2), -values if higher_is_better is False else values


def as_means(x: Any, **sides: Unpack[Sides]) -> Given:
    """Mean differences of data sets; a one-dimensional array holds one for each."""
    if not is_labelled(x):
        rows, single = rows_of(x, "x")
        x = rows[0][:, None] if single else rows
    return as_differences(_plain(x), 0.0, **sides)


def scores_of(differences: PairedDifferences) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Scores of the left and of the right algorithm by data set, with the sign reversed if lower is better."""
    assert differences.scores is not None
    sign = 1.0 if differences.higher_is_better else -1.0
    return {
        str(name): (sign * rows["left"].to_numpy(float), sign * rows["right"].to_numpy(float))
        for name, rows in differences.scores.groupby("dataset", sort=False, observed=True)
    }


def zeros_and_ties(differences: PairedDifferences) -> FloatArray:
    """Mean differences in which values equal up to rounding are made equal."""
    return tied(differences.mean, _size(differences))


def tied(differences: FloatArray, size: FloatArray) -> FloatArray:
    """Differences, shape (q,), in which zeros and absolute values that are equal up to rounding are made equal.

    Without this, 0.9 - 0.8 and 0.8 - 0.7 would have different ranks. ``size`` is the largest absolute score of each data
    set, the unit of its own rounding errors: large scores on one data set make no ties on the others.
    """
    tolerance = ROUNDING * size
    absolute = np.where(np.abs(differences) <= tolerance, 0.0, np.abs(differences))
    order = np.argsort(absolute, kind="stable")
    ascending, largest = absolute[order], np.maximum(tolerance[order][1:], tolerance[order][:-1])
    apart = (np.diff(ascending) > largest) | (ascending[:-1] == 0)
    first = np.concatenate([[True], apart])
    absolute[order] = ascending[first][np.cumsum(first) - 1]
    return np.asarray(np.sign(differences) * absolute)


def rounded(values: FloatArray, size: Any) -> FloatArray:
    """Values to 12 decimals in units of ``size``: values that differ only by rounding become equal."""
    size = np.maximum(size, np.finfo(float).tiny)
    return np.asarray(np.round(values / size, 12) * size)


@dataclass(frozen=True)
class ScoreMatrix:
    """Mean scores of shape (data sets, algorithms), higher is better, and the largest absolute score behind each."""

    values: FloatArray
    size: FloatArray
    dataset_names: tuple[str, ...]
    algorithms: tuple[str, ...]
    notes: tuple[str, ...] = ()
    metric: str = ""  # and its direction, in words; empty for arrays in which higher is better

    @property
    def ranks(self) -> FloatArray:
        """Ranks within each data set, 1 for the best, mean ranks for ties; values equal up to rounding tie."""
        return shared_ranks(self.values, self.size)[0]

    @property
    def tied(self) -> bool:
        """Whether all algorithms tie on every data set."""
        ranks = self.ranks
        return bool((ranks == ranks[0, 0]).all())


def read_score_matrix(scores: Any, *, missing: str, higher_is_better: bool | None, fewest: int) -> ScoreMatrix:
    """Convert an array, a wide frame or a tidy table to a matrix; refuse fewer than ``fewest`` algorithms."""
    if missing not in ("error", "drop"):
        raise ArgumentError(f"missing must be 'error' or 'drop', got {missing!r}.")
    higher_is_better = true_false_or_none("higher_is_better", higher_is_better)
    if is_table(scores):
        frame, direction, notes = _read_frame(scores, higher_is_better)
    else:
        frame, direction, notes = _read_array(scores), Direction(higher_is_better), []
    if frame.shape[1] < fewest:
        raise ScoreTableError(f"The test needs at least {fewest} algorithms, got {frame.shape[1]}.")
    frame, dropped = _complete(frame, drop=missing == "drop")
    sign = 1.0 if direction.higher_is_better else -1.0
    means = sign * frame.groupby(level="dataset", sort=False).mean()
    size = frame.abs().groupby(level="dataset", sort=False).max().to_numpy(float)
    if len(means) < 2:
        raise ScoreTableError(f"The test needs at least 2 data sets without missing scores, got {len(means)}.")
    datasets, algorithms = (tuple(str(name) for name in axis) for axis in (means.index, means.columns))
    labelled = is_table(scores) or not direction.higher_is_better
    metric = metric_words(direction.measure, direction.higher_is_better, None) if labelled else ""
    matrix = ScoreMatrix(means.to_numpy(float), size, datasets, algorithms, metric=metric)
    notes = [*notes, *dropped]
    if matrix.tied:
        notes.append(Note(DegenerateScoresWarning, "All algorithms tie on every data set: every p-value is 1."))
    warn_caller(notes)
    return replace(matrix, notes=tuple(note.text for note in notes))


def is_table(x: Any) -> bool:
    """Whether x is a data frame of some kind (pandas, polars, pyarrow, ...), or the path of a file with one."""
    if isinstance(x, (str, Path)):
        return "." in str(x)  # else no file of a table is called so
    return hasattr(x, "columns") or hasattr(x, "column_names")


def is_labelled(x: Any) -> bool:
    """Whether x names its data sets and algorithms: paired differences or a data frame."""
    return isinstance(x, PairedDifferences) or is_table(x)


def rows_of(x: Any, name: str) -> tuple[list[FloatArray], bool]:
    """An array as a list of rows, and whether it had one dimension; values other than finite numbers are refused."""
    message = f"{name} must hold numbers: one row of differences or scores, or one row for each data set."
    if isinstance(x, (Mapping, Set)):  # a list of them would be their keys, or in any order
        raise ScoreTableError(message, remedy="Pass list(x.values()) of a mapping.")
    try:
        given = list(x)
        for row in (x, *given):
            refuse_masked(row, name)
        values = [np.asarray(row) for row in given]
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
    return [as_doubles(row) for row in rows], single


def check_alternative(alternative: object) -> None:
    """Refuse anything other than scipy's alternatives."""
    if alternative not in ALTERNATIVES:
        raise ArgumentError(f"alternative must be 'two-sided', 'less' or 'greater', got {alternative!r}.")


def need_scores(differences: PairedDifferences, smallest: int, test: str) -> None:
    """Refuse data sets with too few scores, by name."""
    few = np.flatnonzero(differences.n < smallest)
    if len(few):
        name, count = shown(differences.dataset_names[few[0]]), differences.n[few[0]]
        raise ScoreTableError(
            f"{test} needs at least {smallest} scores for each data set; {len(few)} of {len(differences.n)} data sets "
            f"have fewer (first: {name!r}, {count})."
        )


def some_datasets(chosen: NDArray[np.bool_], names: Sequence[str], detail: str = "") -> str:
    """How many data sets are chosen, and the first of them; empty if none is."""
    if not chosen.any():
        return ""
    return f"{chosen.sum()} of {len(chosen)} data sets (first: {shown(names[int(np.argmax(chosen))])!r}{detail})"


def _of_arrays(
    left_rows: list[FloatArray], right_rows: list[FloatArray], single: bool, rho: RhoLike, **sides: Unpack[Sides]
) -> Given:
    differences = PairedDifferences.from_arrays(
        left_rows,
        right_rows,
        left=sides.get("left") or "left",
        right=sides.get("right") or "right",
        rho=rho,
        higher_is_better=sides.get("higher_is_better"),
    )
    return Given(_without_rounding(differences), single)


def _with_scores(x: Any, **sides: Unpack[Sides]) -> Given:
    given = as_differences(_plain(x), 0.0, **sides)
    if given.differences.scores is None:
        raise ArgumentError("These differences were read from a file, without the scores. Pass the table of scores.")
    return given


def _plain(x: Any) -> Any:
    """Differences for tests that use no correlation: plain means and sums of squares, where two correlations weight them.

    Without the scores the weighted ones stay; they differ only if runs have unequal numbers of folds.
    """
    if not isinstance(x, PairedDifferences) or x.two_level is None:
        return x
    if x.scores is None:
        return replace(x, two_level=None)
    of_dataset = scores_of(x)
    differences = [right - left for left, right in (of_dataset[name] for name in x.dataset_names)]
    return replace(
        x,
        mean=np.array([each.mean() for each in differences]),
        sum_of_squares=np.array([((each - each.mean()) ** 2).sum() for each in differences]),
        two_level=None,
    )


def _size(differences: PairedDifferences) -> FloatArray:
    return np.maximum(np.abs(differences.lowest_score), np.abs(differences.highest_score))


def _with_rho(differences: PairedDifferences, rho: RhoLike) -> PairedDifferences:
    if isinstance(rho, (Mapping, Correlation)) or is_learnt(rho) or differences.two_level is not None:
        raise ArgumentError(
            "PairedDifferences already have a rho for each data set. Pass one number for all where they have one "
            "correlation, or give rho to PairedDifferences.from_table."
        )
    return replace(differences, rho=np.full(len(differences.n), checked_rho(rho)))


def _without_rounding(differences: PairedDifferences) -> PairedDifferences:
    constant, mean = differences.constant, differences.mean
    return replace(
        differences,
        mean=np.where(constant & (np.abs(mean) <= ROUNDING * _size(differences)), 0.0, mean),
        sum_of_squares=np.where(constant, 0.0, differences.sum_of_squares),
    )


def _read_array(scores: Any) -> pd.DataFrame:
    refuse_masked(scores, "scores")
    try:
        values = np.asarray(scores)
    except ValueError:  # ragged
        values = np.empty(0)
    if values.ndim != 2 or values.dtype.kind not in "fiu" or values.size == 0:
        raise ScoreTableError("scores must be numbers, one row for each data set and one column for each algorithm.")
    names = [f"algorithm {number + 1}" for number in range(values.shape[1])]
    index = pd.Index([str(number + 1) for number in range(len(values))], name="dataset")
    return pd.DataFrame(values.astype(float), index=index, columns=names)


def _read_frame(scores: Any, higher_is_better: bool | None) -> tuple[pd.DataFrame, Direction, list[Note]]:
    if isinstance(scores, (str, Path)) or _has_rows_of_folds(scores):
        scores = as_tidy(scores, rho=0.0, takes_columns=False)[0]  # how folds depend on each other is nothing to means
    direction = Direction(higher_is_better, *stated_direction(scores))
    if not isinstance(scores, pd.DataFrame):
        scores = to_pandas(scores)
    roles = {role_of(name): name for name in scores.columns} | {role_of(name): name for name in scores.index.names}
    if "dataset" in roles and "algorithm" in roles:
        return _unstacked(scores, higher_is_better)
    odd = [role for role in ("algorithm", "run", "fold") if role in roles]
    if odd or role_of(scores.columns.name) == "dataset":
        what = f"a column {roles[odd[0]]!r}" if odd else "data sets as columns"
        raise ScoreTableError(
            f"The table has {what}. Give one row for each data set and one column for each algorithm, or a tidy table with "
            "columns dataset, algorithm and score (and run and fold)."
        )
    if "rho" in roles:
        raise ScoreTableError(
            f"The table has a column {roles['rho']!r}, a correlation and not scores of an algorithm.",
            remedy="Leave it out.",
        )
    if "dataset" in roles and roles["dataset"] in scores.columns:
        scores = scores.set_index(roles["dataset"])
    for column, kind in zip(scores.columns, scores.dtypes, strict=True):
        if holds_no_scores(column):
            raise ScoreTableError(
                f"Column {shown(column)!r} looks like an index, a count or a duration; each column must hold the scores of "
                "one algorithm.",
                remedy="Leave it out, or rename it if it is an algorithm.",
            )
        if kind.kind not in "fiu":
            raise ScoreTableError(
                f"Column {shown(column)!r} doesn't contain numbers; each column must hold the scores of one algorithm.",
                remedy="If it names the data sets, call it 'dataset', or use read_scores.",
            )
    frame = pd.DataFrame(scores.to_numpy(dtype=float, na_value=np.nan))
    frame.index = pd.Index([normal_name(name) for name in scores.index], name="dataset")
    frame.columns = [normal_name(name) for name in scores.columns]
    for axis, kind in ((frame.index, "data sets"), (frame.columns, "algorithms")):
        refuse_unwritable(f"The table's {kind}", axis)
        if axis.has_duplicates:
            raise ScoreTableError(
                f"Several {kind} are called {shown(axis[axis.duplicated()][0])!r}. Rename or remove them."
            )
    return frame, direction, direction.notes()


def _has_rows_of_folds(scores: Any) -> bool:
    """Whether a table has a column for each algorithm, and a row for each fold instead of each data set."""
    names = list(getattr(scores, "columns", getattr(scores, "column_names", ())))
    roles = {role_of(name): name for name in names}
    if "dataset" not in roles or "algorithm" in roles or "score" in roles:
        return False
    return bool({"run", "fold"} & set(roles)) or bool(to_pandas(scores)[roles["dataset"]].duplicated().any())


def _unstacked(scores: pd.DataFrame, higher_is_better: bool | None) -> tuple[pd.DataFrame, Direction, list[Note]]:
    """A tidy table with a column for each algorithm and a row for each data set, run and fold."""
    tidy = tidy_scores(scores)
    direction = tidy.direction(higher_is_better)
    arrays = ScoreArrays.of(tidy, rho=0.0, higher_is_better=higher_is_better)  # no mean depends on rho
    order = pd.Index(tidy.frame["dataset"].unique().astype(str)).get_indexer(arrays.places["dataset"].astype(str))
    places = pd.MultiIndex.from_frame(arrays.places.astype({"dataset": str}))
    rows = pd.DataFrame(arrays.scores.T, index=places, columns=pd.Index(arrays.algorithms))
    return rows.iloc[np.argsort(order, kind="stable")], direction, list(arrays.notes)


def _complete(frame: pd.DataFrame, *, drop: bool) -> tuple[pd.DataFrame, list[Note]]:
    """The data sets without missing scores, if leaving out the others is allowed."""
    wrong = ~np.isfinite(frame.to_numpy())
    if not wrong.any():
        return frame, []
    rows, columns = np.nonzero(wrong)
    places = frame.index.to_frame(index=False).iloc[rows].assign(algorithm=frame.columns[columns])
    examples = cells_in_words(places, np.full(len(rows), True))
    listed = f"{len(rows)} of {wrong.size} scores are missing or not finite (first: {examples})"
    lacking = list(dict.fromkeys(places["dataset"]))
    names = first_names(lacking)
    if not drop:
        raise ScoreTableError(
            f"{listed}. Fill them in, or pass {DROP} to leave out {counted(len(lacking), 'data set')}: {names}.",
            arguments=(DROP,),
        )
    note = Note(DroppedScoresWarning, f"{listed}; {counted(len(lacking), 'data set')} left out: {names}.")
    return frame[~frame.index.get_level_values("dataset").isin(lacking)], [note]
