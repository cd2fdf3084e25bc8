"""Checks of what a cross-validation is given: estimators, data sets and scorers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.crossval.cells import told
from hiercomp.errors import ArgumentError, HiercompError
from hiercomp.scores.table import ROLES
from hiercomp.wording import nearest_name, normal_name, shown

if TYPE_CHECKING:
    import pandas as pd

OWN_COLUMNS = (*ROLES, "fit_time", "score_time", "error")


@dataclass(frozen=True, eq=False)
class LoadedData:
    """Features, target and groups of one data set.

    Attributes
    ----------
    X, y : array_like
    groups : array_like or None
    """

    X: Any
    y: Any
    groups: Any = None

    @cached_property
    def digest(self) -> str:
        """A hash of all of it, the same in every process."""
        found = hashlib.sha256()
        for values in (self.X, self.y, self.groups):
            found.update(_digest(values).encode())
        return found.hexdigest()


def checked_estimators(estimators: Mapping[str, Any]) -> dict[str, Any]:
    """Estimators by their names in normal form."""
    from sklearn.base import clone, is_classifier

    named = _named("estimators", estimators)
    for name, estimator in named.items():
        if isinstance(estimator, type) or not all(hasattr(estimator, method) for method in ("fit", "get_params")):
            kind = f"the class {estimator.__name__}" if isinstance(estimator, type) else repr(estimator)
            hint = f" Pass {estimator.__name__}()." if isinstance(estimator, type) else ""
            raise ArgumentError(f"estimators[{name!r}] must be an estimator with fit and get_params, got {kind}.{hint}")
        try:
            clone(estimator).get_params(deep=True)
            is_classifier(estimator)
        except Exception as error:  # whatever it raises; better now than on every cell
            raise ArgumentError(
                f"estimators[{name!r}] can't be copied as scikit-learn does it, for each fold: {told(error)}."
            ) from error
    return named


def checked_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Data sets, or the functions that load them, by their names in normal form; the data are checked in their turn."""
    return _named("data", data)


def checked_scorers(scoring: Any, estimators: Mapping[str, Any]) -> dict[str, Any]:
    """Scorers by the names of their columns."""
    from sklearn.metrics import check_scoring, get_scorer_names

    if isinstance(scoring, set | frozenset):
        raise ArgumentError(f"scoring must be a list, which has an order, got {scoring!r}.")
    several = isinstance(scoring, Mapping) or (isinstance(scoring, Sequence) and not isinstance(scoring, str))
    if several and not scoring:
        raise ArgumentError("scoring is empty. Name a scorer such as 'accuracy'.")
    if isinstance(scoring, Mapping):
        named = _named("scoring", scoring)
    elif several:
        if not all(isinstance(name, str) for name in scoring):
            raise ArgumentError(f"scoring as a list must hold names; pass functions as a mapping, got {scoring!r}.")
        if len(set(scoring)) < len(scoring):
            raise ArgumentError(f"scoring names a scorer twice: {list(scoring)!r}.")
        named = {name: name for name in scoring}
    else:
        named = {"score": scoring}
    found = {}
    for name, scorer in named.items():
        if name in OWN_COLUMNS and (len(named) > 1 or name != "score"):
            raise ArgumentError(f"scoring can't have a scorer called {name!r}: the table has a column of that name.")
        try:
            found[name] = check_scoring(next(iter(estimators.values())), scoring=scorer)
        except (ValueError, TypeError) as error:
            # Scikit-learn's message about a name is a list of all of them
            why = f": {error}" if callable(scorer) else f".{nearest_name(str(scorer), get_scorer_names())}"
            more = "" if callable(scorer) else " sklearn.metrics.get_scorer_names() lists their names."
            raise ArgumentError(f"scoring={scorer!r} is not a scorer{why}{more}") from error
    return found


def loaded(name: str, source: Any) -> LoadedData:
    """A data set that is here, or what its function loads.

    Raises
    ------
    ArgumentError
        If it is not (X, y) or (X, y, groups), their lengths differ, a target is missing, or the function fails. Errors
        of hiercomp go through.
    """
    try:
        given = source() if callable(source) else source
    except HiercompError:
        raise
    except Exception as error:  # whatever a function of the user raises
        raise ArgumentError(f"data[{name!r}] can't be loaded: {told(error)}.") from error
    if not isinstance(given, tuple | list) or len(given) not in (2, 3):
        raise ArgumentError(
            f"data[{name!r}] must be (X, y), (X, y, groups) or a function that returns them, got {type(given).__name__}."
        )
    found = LoadedData(_indexable(given[0]), *given[1:])
    rows = _length(name, "X", found.X)
    for part, values in (("y", found.y), ("groups", found.groups)):
        if values is None and part == "groups":
            continue
        if _length(name, part, values) != rows:
            raise ArgumentError(
                f"data[{name!r}]: X has {rows} rows and {part} has {_length(name, part, values)}; they must be equal."
            )
    _refuse_missing(name, found.y)
    return found


def _named(argument: str, values: Any) -> dict[str, Any]:
    if not isinstance(values, Mapping) or not values:
        what = "an empty mapping" if isinstance(values, Mapping) else type(values).__name__
        raise ArgumentError(f"{argument} must be a mapping with at least one name, got {what}.")
    named = {}
    for given, value in values.items():
        name = normal_name(given)
        if not isinstance(given, str) or not name:
            raise ArgumentError(f"{argument} has a name that is not a text or empty: {given!r}.")
        if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
            raise ArgumentError(f"{argument} has a name with characters that no file can hold: {shown(name)!r}.")
        if name in named:
            raise ArgumentError(
                f"{argument} has two names that differ only by outer spaces or Unicode form: {shown(name)!r}."
            )
        named[name] = value
    return named


def _refuse_missing(name: str, y: Any) -> None:
    """A target that is NaN or None: some estimators take it for a class."""
    import pandas as pd

    try:
        values = y if hasattr(y, "iloc") or hasattr(y, "tocsr") else np.asarray(y)
    except ValueError:  # lists of unequal length
        return
    absent: Any = np.asarray(pd.isna(values))  # a single False for a sparse matrix
    if absent.ndim == 0 or not absent.any():
        return
    rows = absent.reshape(len(absent), -1).any(axis=1)
    where = f"{rows.sum()} of {len(rows)} rows (first: row {rows.argmax()}, counted from 0)"
    raise ArgumentError(f"data[{name!r}]: the target is missing in {where}. Leave these rows out.")


def _length(name: str, part: str, values: Any) -> int:
    if isinstance(values, str | bytes):
        raise ArgumentError(f"data[{name!r}]: {part} must be an array or a data frame, got {values!r}.")
    shape = getattr(values, "shape", None)  # a sparse matrix has no len()
    try:
        return int(shape[0]) if shape else len(values)
    except (TypeError, IndexError):
        raise ArgumentError(
            f"data[{name!r}]: {part} must be an array or a data frame, got {type(values).__name__}."
        ) from None


def _indexable(X: Any) -> Any:
    """The same, or as rows where it is a sparse matrix of another kind, of which no rows can be taken."""
    return X.tocsr() if getattr(X, "format", "csr") != "csr" and hasattr(X, "tocsr") else X


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
    kinds = [str(kind) for kind in frame.dtypes]
    rows = pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()
    return hashlib.sha256(repr((names, kinds)).encode() + rows).hexdigest()
