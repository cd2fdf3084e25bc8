"""What every comparison takes: tidy frames as they are, files and frames of other layouts as `read_scores` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hiercomp.scores.table import FOLD_COLUMNS, further_role_of, is_independent, role_of, to_pandas


def as_tidy(
    scores: Any, columns: Mapping[str, str] | None = None, *, rho: Any = None
) -> tuple[Any, Mapping[str, str] | None]:
    """A table that a comparison can take, and which of its columns is which.

    Parameters
    ----------
    scores : data frame, or path
        A tidy frame, and one that is not recognised, comes back as it is.
    columns : mapping, optional
        Which column is which; a frame is then tidy.
    rho : float or mapping, optional
        The correlation that the comparison is given.
    """
    number = rho if isinstance(rho, (int, float)) and not isinstance(rho, bool) else None
    if isinstance(scores, (str, Path)):
        from hiercomp.files.read import read_scores

        options: dict[str, Any] = {"rho": number, **(columns or {})}
        return read_scores(scores, **options), None
    if columns or not (hasattr(scores, "columns") or hasattr(scores, "__arrow_c_stream__")):
        return scores, columns
    if {"dataset", "algorithm", "score"} <= (roles := {*map(role_of, getattr(scores, "columns", ()))}):
        if {"run", "fold"} & roles or number is not None:  # nothing is left to be found, and nothing is imported for it
            return scores, columns
    from hiercomp.files.read import read_scores, recognised_quietly

    frame = to_pandas(scores)
    kind = recognised_quietly(frame)
    if kind is None or (kind == "tidy" and not _needs_mapping(list(map(str, frame.columns)), known=number is not None)):
        return scores, None
    return read_scores(frame, rho=number), None


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
