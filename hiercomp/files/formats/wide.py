"""Tables with one column of scores for each algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.errors import Argument, DroppedScoresWarning, Note, ScoreTableError
from hiercomp.files.formats.common import (
    Source,
    column_roles,
    names_the_file,
    need_columns,
    one_or_more,
    read_table,
)
from hiercomp.files.mapping import Spec, checked_frame, map_table
from hiercomp.scores.table import holds_no_scores
from hiercomp.wording import first_names, shown

if TYPE_CHECKING:
    import pandas as pd

RHO = "rho"  # the column of that name is the correlation, unless it is named as an algorithm


@names_the_file
def from_wide(
    source: Source,
    *,
    dataset: Spec | None = None,
    algorithms: Sequence[str] | None = None,
    run: Spec | None = None,
    fold: Spec | None = None,
    rho: Spec | None = None,
    folds: int | None = None,
    file: str | Path | None = None,
    **layout: Any,
) -> pd.DataFrame:
    """Tidy scores of a table that has a column for each algorithm.

    Parameters
    ----------
    source : path or DataFrame
        One row for each data set, run and fold.
    dataset, run, fold, rho : str, optional
        The columns that hold them, or what else plays a role, see `hiercomp.read_scores`; by default found by their names.
        Rows without a fold are numbered in their order.
    algorithms : sequence of str, optional
        The columns with scores; by default every other column, which must all be numbers.
    folds : int, optional
        Folds of a run, where one column, or the order of the rows, counts through all runs.
    file : path, optional
        What ``{stem}`` is of, where the source is a frame.
    **layout
        ``encoding``, ``separator`` and ``decimal`` of a file.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score.

    Raises
    ------
    ScoreFileError, ScoreTableError
        If there is no such column, or a column is neither a name nor numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"dataset": ["iris", "iris"], "fold": [1, 2], "tree": [0.9, 0.95], "bayes": [0.93, 0.96]})
    >>> from_wide(table).head(3)
      dataset algorithm  run  fold  score
    0    iris      tree    1     1   0.90
    1    iris      tree    1     2   0.95
    2    iris     bayes    1     1   0.93
    """
    named = one_or_more("algorithms", algorithms or ())
    given: dict[str, Spec] = {
        role: spec
        for role, spec in {"dataset": dataset, "run": run, "fold": fold, "rho": rho}.items()
        if spec is not None
    }
    frame = read_table(source, {"dataset": dataset} if isinstance(dataset, str) else {}, layout)
    plain = {role: spec for role, spec in given.items() if isinstance(spec, str) and spec in frame.columns}
    unknown = [role for role in ("dataset", "run", "fold") if role not in given]
    found = column_roles(list(frame.columns), ("dataset", "run", "fold"), plain)
    found = {role: name for role, name in found.items() if role in plain or role in unknown}
    if "dataset" not in {**found, **given}:
        raise ScoreTableError(
            f"No column is called 'dataset': {first_names(list(frame.columns))}.",
            remedy="Say which with dataset='...', or name the only one: dataset='=iris'.",
            arguments=(
                Argument("dataset", "..."),
                Argument("dataset", "=iris"),
            ),
        )
    need_columns(frame, named)
    if "rho" not in given and RHO in frame.columns and RHO not in [*named, *found.values()]:
        found["rho"] = RHO
    scores = list(named or (name for name in frame.columns if name not in _used(given) | {*found.values()}))
    others = [] if named else [name for name in scores if holds_no_scores(name)]
    scores = [name for name in scores if name not in others]
    message = f"Left out, as no scores by their names: {first_names(others)}."
    remedy = "To compare one of them, name all algorithms: algorithms=[...]."
    notes = [Note(DroppedScoresWarning, message, remedy, tuple(others), "no_scores")] if others else []
    text = [name for name in scores if frame[name].dtype.kind not in "fiu"]
    if text and not named:
        raise ScoreTableError(
            f"Column {shown(text[0])!r} holds cells that are not plain numbers, so it can't be the scores of an algorithm.",
            remedy="Correct its cells, or name the columns with scores: algorithms=[...].",
        )
    if not scores:
        raise ScoreTableError("No column holds the scores of an algorithm.")
    mapped = map_table(
        frame,
        {**found, **given},
        format_name="wide",
        file=file if file is not None else (source if isinstance(source, (str, Path)) else None),
        folds=folds,
        in_order=True,
        notes=notes,
        wide={name: {"algorithm": name} for name in scores},
    )
    return checked_frame(mapped, "Number the runs and folds: no two rows may have the same.")


def _used(roles: Mapping[str, Spec]) -> set[str]:
    """The columns that play roles, as far as they are named."""
    names: set[str] = set()
    for spec in roles.values():
        for name in [spec] if isinstance(spec, str) else spec if isinstance(spec, Sequence) else ():
            names |= {name, name.rpartition("@")[2]} if isinstance(name, str) else set()
    return names
