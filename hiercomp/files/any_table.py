"""What every comparison takes: tidy frames as they are, files and frames of other layouts as `read_scores` reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hiercomp.errors import Argument, ArgumentError, ScoreFileError, ScoreTableError
from hiercomp.scores.ropes import rope_column
from hiercomp.scores.table import (
    FOLD_COLUMNS,
    GROUPINGS,
    METRIC_COLUMNS,
    PLACES,
    further_role_of,
    is_independent,
    plain_column_name,
    role_of,
    to_pandas,
)


def as_tidy(
    scores: Any,
    columns: Mapping[str, str] | None = None,
    *,
    rho: Any = None,
    groups: str | Sequence[str] | None = None,
    rope: Any = None,
    takes_columns: bool = True,
) -> tuple[Any, Mapping[str, str] | None]:
    """A table that a comparison can take, and which of its columns is which.

    Parameters
    ----------
    scores : data frame, or path
        A tidy frame, and one that is not recognised, comes back as it is.
    columns : mapping, optional
        Which column is which. A frame whose columns for the data set are named, and none for algorithm and score, is wide.
    rho : float or mapping, optional
        The correlation that the comparison is given.
    groups : str or pair of str, optional
        A column that says which scores belong together, or two that are crossed. They are kept, and named among the columns.
    rope : RopesLike, optional
        A column of ropes that it names is kept.
    takes_columns : bool
        Whether the caller has an argument ``columns``, which a refusal may propose.
    """
    also = () if (ropes := rope_column(rope)) is None else (ropes,)
    if groups is None:
        return _as_tidy(scores, columns, rho, also, takes_columns)
    chosen = (groups,) if isinstance(groups, str) else tuple(groups) if isinstance(groups, Sequence) else ()
    if not (len(set(chosen)) == len(chosen) in (1, 2) and all(isinstance(name, str) for name in chosen)):
        raise ArgumentError(f"groups must be the name of a column, or of two that are crossed, got {groups!r}.")
    if rho is not None:
        raise ArgumentError("groups and rho were both given; pass only one: groups are independent of each other.")
    also = (*also, *(name for name in chosen if name not in PLACES))  # every table that is read has these
    table, columns = _as_tidy(scores, columns, 0.0, also, takes_columns)
    return table, {**(columns or {}), **dict(zip(GROUPINGS, chosen, strict=False))}


def _as_tidy(
    scores: Any, columns: Mapping[str, str] | None, rho: Any, also: tuple[str, ...], takes_columns: bool
) -> tuple[Any, Mapping[str, str] | None]:
    number = rho if isinstance(rho, (int, float)) and not isinstance(rho, bool) else None
    if isinstance(scores, (str, Path)):
        return _read(scores, number, columns, also, takes_columns), None
    if not (hasattr(scores, "columns") or hasattr(scores, "column_names") or hasattr(scores, "__arrow_c_stream__")):
        return scores, columns
    if columns:
        if not _is_wide(scores, columns):
            return scores, columns
        return _read(scores, number, columns, also, takes_columns), None
    roles = {*map(role_of, getattr(scores, "columns", ()))}
    if {"dataset", "algorithm", "score"} <= roles and not _names_measures(scores):
        if {"run", "fold"} & roles or number is not None:  # nothing is left to be found, and nothing is imported for it
            return scores, columns
    from hiercomp.files.read import recognised_format

    frame = to_pandas(scores)
    try:
        kind = recognised_format(frame)
    except ScoreTableError as error:
        if error.key == "proposed_mapping":
            raise _proposing(error, takes_columns) from None
        return scores, None
    if (
        kind == "tidy"
        and not _names_measures(frame)
        and not _needs_mapping(list(map(str, frame.columns)), known=number is not None)
    ):
        return scores, None
    return _read(frame, number, None, also, takes_columns), None


def covariates_frame(covariates: Any) -> Any:
    """A frame of covariates, read if it is the path of a file; names of data sets stay text."""
    if not isinstance(covariates, (str, Path)):
        return covariates
    from hiercomp.files.table import read_score_file

    return read_score_file(covariates)


def _read(
    scores: Any, rho: float | None, columns: Mapping[str, str] | None, also: tuple[str, ...], takes_columns: bool
) -> Any:
    """A table as `hiercomp.read_scores` reads it."""
    from hiercomp.files.read import read_scores

    options: dict[str, Any] = {"rho": rho, **(columns or {})} | ({"also": also} if also else {})
    try:
        return read_scores(scores, **options)
    except (ScoreFileError, ScoreTableError) as error:
        if error.key == "proposed_mapping":
            raise _proposing(error, takes_columns) from None
        raise


def _is_wide(scores: Any, columns: Mapping[str, str]) -> bool:
    """Whether the columns that are named leave a column of scores for each algorithm."""
    if "format" in columns:
        return True
    names = [*map(str, getattr(scores, "columns", getattr(scores, "column_names", ())))]
    held = {*columns, *(role_of(name) for name in names if name not in columns.values())}
    return "dataset" in columns and not {"algorithm", "score"} & held


def _proposing(error: ScoreFileError | ScoreTableError, takes_columns: bool) -> ScoreFileError | ScoreTableError:
    """A refusal of `hiercomp.read_scores` whose proposal is said as its caller takes it."""
    columns = Argument("columns", {one.name: one.value for one in error.arguments if one.name != "format"})
    arguments = (columns,) if takes_columns else error.arguments
    remedy = (
        f"Pass {columns}."
        if takes_columns
        else f"Read it first: hc.read_scores(..., {', '.join(map(str, arguments))})."
    )
    refused = type(error)(error.message, remedy=remedy, places=error.places, key=error.key, arguments=arguments)
    refused.table = error.table
    return refused


def _names_measures(scores: Any) -> bool:
    """Whether a column names the measure of each score."""
    return any(plain_column_name(name) in METRIC_COLUMNS for name in getattr(scores, "columns", ()))


def _needs_mapping(names: list[str], *, known: bool) -> bool:
    """Whether a tidy table has folds as columns or in parts of names, or rows that share no training."""
    folds = [name for name in names if role_of(name) == "fold"]
    if not folds and any(name.casefold() == "resample" for name in names):
        return True
    if not folds and sum(FOLD_COLUMNS.fullmatch(name) is not None for name in names) > 1:
        return True
    run = next((name for name in names if "run" in (role_of(name), further_role_of(name))), None)
    question = next((name for name in names if further_role_of(name) == "fold"), None)
    fold = next(iter(folds), question)
    return not known and "rho" not in names and is_independent(run, fold)
