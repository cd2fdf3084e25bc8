"""A data set and its folds, the same for every estimator, and the correlation between scores of the folds."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.errors import ArgumentError, DefaultedRhoWarning, DroppedScoresWarning, HiercompError, Note
from hiercomp.scores.rho import default_rho
from hiercomp.wording import EXAMPLES_SHOWN, error_in_words, first_names, nearest_name, shown

if TYPE_CHECKING:
    import pandas as pd

Indices = NDArray[np.intp]

PLAIN_FOLDS = ("KFold", "StratifiedKFold", "RepeatedKFold", "RepeatedStratifiedKFold", "LeaveOneOut")
HOLD_OUT = ("ShuffleSplit", "StratifiedShuffleSplit")


@dataclass(frozen=True, eq=False)
class Data:
    """Features, target, groups and other parameters of one data set.

    Attributes
    ----------
    X, y : array_like
    groups : array_like or None
    params : dict from str to object
        Such as sample weights; those with a value for each row are indexed by fold.
    """

    X: Any
    y: Any
    groups: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)

    def params_of(self, names: Mapping[str, str], rows: Indices) -> dict[str, Any]:
        """Some of the parameters under other names, on some rows."""
        from sklearn.utils.validation import _check_method_params

        given = {name: self.params[source] for name, source in names.items()}
        return dict(_check_method_params(self.X, given, indices=rows)) if given else {}

    @cached_property
    def digest(self) -> str:
        """A hash of all the data, the same in every process."""
        parts = "".join(_digest(values) for values in (self.X, self.y, self.groups))
        parts += "".join(name + _digest(values) for name, values in sorted(self.params.items()))
        return hashlib.sha256(parts.encode()).hexdigest()


def load_data(name: str, source: Any) -> Data:
    """A data set, or the result of the function that loads it.

    Raises
    ------
    ArgumentError
        If it is none of the known kinds, scikit-learn can't index it, its lengths differ, a target is missing, or the
        function fails. Errors of hiercomp are passed on.
    """
    from sklearn.utils import indexable

    try:
        parts = source() if callable(source) else source
    except HiercompError:
        raise
    except Exception as error:  # whatever a function of the user raises
        raise ArgumentError(f"data[{name!r}] can't be loaded: {error_in_words(error)}.") from error
    X, y, groups, params = _parts(name, parts)
    try:
        X, y, groups = indexable(X, y, groups)
    except Exception as error:  # whatever the conversion of a strange object raises
        raise ArgumentError(f"data[{name!r}]: {error_in_words(error)}.") from error
    _refuse_missing(name, y)
    return Data(X, y, groups, params)


def _parts(name: str, given: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Features, target, groups and parameters of whatever describes a data set."""
    import pandas as pd

    if isinstance(given, Mapping) and {"data", "target"} <= set(given):  # a Bunch of scikit-learn
        given = (given["data"], given["target"])
    parts = list(given) if isinstance(given, tuple | list) else []
    params = parts.pop() if len(parts) in (3, 4) and isinstance(parts[-1], Mapping) else {}
    if len(parts) not in (2, 3) or not all(isinstance(key, str) for key in params):
        hint = " Pass (frame, 'name of the target')." if isinstance(given, pd.DataFrame) else ""
        raise ArgumentError(
            f"data[{name!r}] must be (X, y), (X, y, groups), either of them with a dict of params at its end, a Bunch such "
            f"as load_iris(), or a function that returns one of these, got {type(given).__name__}.{hint}"
        )
    X, *columns = parts
    named = [part for part in columns if isinstance(part, str)]
    if isinstance(X, pd.DataFrame) and named:
        absent = [column for column in named if column not in X]
        if absent:
            known = [str(column) for column in X.columns]
            hint = nearest_name(absent[0], known)
            raise ArgumentError(f"data[{name!r}]: the frame has no column {shown(absent[0])!r}.{hint}")
        columns = [X[part] if isinstance(part, str) else part for part in columns]
        X = X.drop(columns=named)
    for what, values in zip(("X", "y", "groups"), (X, *columns), strict=False):
        if isinstance(values, str | bytes):
            raise ArgumentError(f"data[{name!r}]: {what} must be an array or a data frame, got {values!r}.")
    return X, columns[0], columns[1] if len(columns) > 1 else None, dict(params)


@dataclass(frozen=True, eq=False)
class Splits:
    """Training and test rows of every fold of a data set.

    Attributes
    ----------
    rows : tuple of (ndarray of int, ndarray of int)
        Training and test rows of each fold.
    runs, folds : tuple of int
        Number of the run, and of the fold within it, counted from 1.
    rho : float
        Correlation between two scores.
    assumption : str or None
        The assumption behind rho if the folds are not those of plain cross-validation.
    unused : int
        Rows that no fold uses, where the folds are a list of the user's.
    """

    rows: tuple[tuple[Indices, Indices], ...]
    runs: tuple[int, ...]
    folds: tuple[int, ...]
    rho: float
    assumption: str | None
    unused: int

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all rows: first those for training, then those for testing."""
        digest = hashlib.sha256()
        for rows in chain(*zip(*self.rows, strict=True)):
            digest.update(len(rows).to_bytes(8, "little"))
            digest.update(np.ascontiguousarray(rows, dtype="<i8").tobytes())
        return digest.hexdigest()


def seeded(cv: Any, seed: int) -> Any:
    """A copy of a splitter, with ``seed`` as its random state if it has none."""
    state = getattr(cv, "random_state", seed)
    if state is None:
        copied = copy.deepcopy(cv)
        copied.random_state = seed
        return copied
    if not isinstance(state, int | np.integer):
        raise ArgumentError(
            f"The splitter's random_state must be a whole number or None, got {state!r}: a generator would draw different "
            "folds for each data set and after an interruption."
        )
    return cv


def draw_splits(
    dataset: str, data: Data, cv: Any, *, classifier: bool, routed: Mapping[str, str] | None = None
) -> Splits:
    """Draw the folds of a data set, once.

    Parameters
    ----------
    dataset : str
        For messages.
    data : Data
    cv : int, splitter or iterable
        As in scikit-learn's `check_cv`; its random state is set.
    classifier : bool
        Whether a whole number means stratified folds.
    routed : dict from str to str, optional
        Parameters of the data set for the splitter, from its names to theirs.

    Raises
    ------
    ArgumentError
        If the splitter can't split these data; the message is scikit-learn's.
    """
    from sklearn.model_selection import check_cv

    try:
        splitter = check_cv(cv, data.y, classifier=classifier)
        given = {name: data.params[source] for name, source in (routed or {}).items()}
        if data.groups is not None or "groups" not in given:
            given["groups"] = data.groups
        count_of_rows = data.X.shape[0] if hasattr(data.X, "shape") else len(data.X)
        drawn = splitter.split(data.X, data.y, **given)
        pairs = [(_rows(rows, count_of_rows), _rows(test, count_of_rows)) for rows, test in drawn]
    except Exception as error:  # whatever a splitter raises
        hint = " Give groups as the third part of its data." if data.groups is None and "'groups'" in str(error) else ""
        raise ArgumentError(f"Data set {shown(dataset)!r} can't be split by {cv!r}: {error}{hint}") from error
    if not pairs:
        raise ArgumentError(f"The splitter {cv!r} gives no fold of data set {shown(dataset)!r}.")
    _refuse_rows(dataset, pairs, count_of_rows)
    count = len(pairs)
    repeats = getattr(splitter, "n_repeats", 1)
    folds_of_a_run = (
        count // repeats if repeats and count % repeats == 0 else count
    )  # n_repeats may mean something else
    if _is_hold_out(splitter):
        runs, folds = tuple(range(1, count + 1)), (1,) * count
    else:
        runs = tuple(1 + i // folds_of_a_run for i in range(count))
        folds = tuple(1 + i % folds_of_a_run for i in range(count))
    share = float(np.mean([len(test) / (len(rows) + len(test)) for rows, test in pairs]))
    rho, assumption = _correlation(splitter, folds_of_a_run, share)
    unused = 0
    if _is_list(splitter):
        unused = count_of_rows - len(np.unique(np.concatenate([np.concatenate(pair) for pair in pairs])))
    return Splits(tuple(pairs), runs, folds, rho, assumption, unused)


def assumption_note(assumption: str, rho: Mapping[str, float]) -> Note:
    """The warning about the rho of some data sets, by name, that relies on an assumption."""
    low, high = (f"{value:.3g}" for value in (min(rho.values()), max(rho.values())))
    value = low if low == high else f"{low} to {high}"
    where = (
        f"data set {shown(next(iter(rho)))!r}" if len(rho) == 1 else f"{len(rho)} data sets ({first_names(list(rho))})"
    )
    return Note(DefaultedRhoWarning, f"rho = {value} for {where}: {assumption}", places=tuple(rho))


def unused_note(unused: Mapping[str, int]) -> Note:
    """The warning about rows of some data sets, by name, that no fold of a list uses."""
    listed = "; ".join(f"{count} of data set {shown(name)!r}" for name, count in list(unused.items())[:EXAMPLES_SHOWN])
    more = f"; and of {len(unused) - EXAMPLES_SHOWN} more data sets" if len(unused) > EXAMPLES_SHOWN else ""
    text = (
        f"Some rows are in no fold: {listed}{more}. If the list was made for another data set, pass a splitter instead."
    )
    return Note(DroppedScoresWarning, text, places=tuple(unused), key="unused rows")


def _refuse_missing(name: str, y: Any) -> None:
    """Refuse a target that is NaN or None: some estimators treat it as a class."""
    import pandas as pd

    try:
        # as objects, because NumPy turns the NaN in a list of text into the text "nan"
        values = y if any(hasattr(y, name) for name in ("iloc", "tocsr", "dtype")) else np.asarray(y, dtype=object)
    except ValueError:  # lists of unequal length
        return
    absent: Any = np.asarray(pd.isna(values))  # a single False for a sparse matrix
    if absent.ndim == 0 or not absent.any():
        return
    rows = absent.reshape(len(absent), -1).any(axis=1)
    where = f"{rows.sum()} of {len(rows)} rows (first: row {rows.argmax()}, counted from 0)"
    raise ArgumentError(f"data[{name!r}]: the target is missing in {where}.", remedy="Leave these rows out.")


def _digest(values: Any) -> str:
    import joblib
    import pandas as pd

    if isinstance(values, pd.DataFrame | pd.Series):
        with suppress(TypeError):  # cells such as lists
            return _digest_of_frame(values.to_frame() if isinstance(values, pd.Series) else values)
    return str(joblib.hash(values, hash_name="sha1"))


def _digest_of_frame(frame: pd.DataFrame) -> str:
    import pandas as pd

    names = [str(name) for name in frame.columns]
    kinds = [
        f"{kind} {list(kind.categories)}" if isinstance(kind, pd.CategoricalDtype) else str(kind)
        for kind in frame.dtypes
    ]
    rows = pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()
    return hashlib.sha256(repr((names, kinds)).encode() + rows).hexdigest()


def _rows(values: Any, count: int) -> Indices:
    """Numbers of rows, or a mask converted to them."""
    rows = np.asarray(values)
    if rows.dtype != bool:
        return rows
    if rows.shape != (count,):
        raise ArgumentError(f"a mask has the shape {rows.shape}, and the data set {count} rows")
    return np.flatnonzero(rows)


def _refuse_rows(dataset: str, pairs: list[tuple[Indices, Indices]], count: int) -> None:
    """Refuse invalid rows from the user's list of splits or splitter."""
    for number, pair in enumerate(pairs, start=1):
        for rows, what in zip(pair, ("training", "test"), strict=True):
            place = f"The {what} rows of fold {number} of data set {shown(dataset)!r}"
            if rows.ndim != 1 or len(rows) == 0 or rows.dtype.kind not in "iu":
                raise ArgumentError(f"{place} must be a list of at least one whole number.")
            if rows.min() < 0 or rows.max() >= count:
                raise ArgumentError(
                    f"{place} go from {rows.min()} to {rows.max()}; the data set has rows 0 to {count - 1}."
                )


def _is_hold_out(splitter: Any) -> bool:
    from sklearn.model_selection import BaseShuffleSplit

    return isinstance(splitter, BaseShuffleSplit)


def _is_list(splitter: Any) -> bool:
    """Whether the folds are given row by row: a list of splits, or `PredefinedSplit`."""
    kind = type(splitter).__name__
    return kind.startswith("_") or kind == "PredefinedSplit"


def _correlation(splitter: Any, folds: int, share: float) -> tuple[float, str | None]:
    """Rho, and the assumption behind it if it is more than the share of test cases."""
    kind = type(splitter).__name__
    rest = " Change the column rho if you know better."
    if _is_hold_out(splitter):
        if kind in HOLD_OUT:
            return share, None
        return share, f"the share of test cases, as for plain hold-out, although {kind} draws whole groups.{rest}"
    rho = float(default_rho(folds, share))
    if kind in PLAIN_FOLDS:
        return rho, None
    if kind == "TimeSeriesSplit":
        why = "1/k of k folds, although the training sets of a time series grow from fold to fold"
    elif "Group" in kind:
        why = f"1/k of k folds, as for plain cross-validation, although {kind} keeps groups together"
    else:
        given = "a list of splits" if kind.startswith("_") else kind
        plain = "1/k of k folds, as for plain cross-validation"
        if folds == 1:
            plain = "the share of test cases, as for plain hold-out"
        why = f"{plain}, although {given} may be something else"
    return rho, f"{why}.{rest}"
