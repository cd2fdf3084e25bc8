"""Tables with one column of scores for each algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.errors import DefaultedRhoWarning, Note, ScoreTableError
from hiercomp.files.formats.common import (
    Source,
    column_roles,
    names_the_file,
    need_columns,
    one_or_more,
    read_table,
    text_options,
    tidy_frame,
)
from hiercomp.scores.problems import MOST_FOLDS
from hiercomp.wording import first_names, shown

if TYPE_CHECKING:
    import pandas as pd

RHO = "rho"  # the column of that name is the correlation, unless it is named as an algorithm


@names_the_file
def from_wide(
    source: Source,
    *,
    dataset: str | None = None,
    algorithms: Sequence[str] | None = None,
    run: str | None = None,
    fold: str | None = None,
    **layout: Any,
) -> pd.DataFrame:
    """Tidy scores of a table that has a column for each algorithm.

    Parameters
    ----------
    source : path or DataFrame
        One row for each data set, run and fold.
    dataset, run, fold : str, optional
        The columns that hold them; by default found by their names. Rows without a fold are numbered in their order.
    algorithms : sequence of str, optional
        The columns with scores; by default every other column, which must all be numbers.
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
    text_options(dataset=dataset, run=run, fold=fold)
    frame = read_table(source, {"dataset": dataset} if dataset else {}, layout)
    named = one_or_more("algorithms", algorithms or ())
    given = {"dataset": dataset, "run": run, "fold": fold}
    roles = {role: name for role, name in given.items() if name is not None}
    found = column_roles(list(frame.columns), ("dataset", "run", "fold"), roles)
    if "dataset" not in found:
        raise ScoreTableError(
            f"No column is called 'dataset': {first_names(list(frame.columns))}.", remedy="Say which with dataset=..."
        )
    need_columns(frame, [*found.values(), *named], "the table")
    rho = RHO if RHO in frame.columns and RHO not in [*named, *found.values()] else None
    scores = list(named or (name for name in frame.columns if name not in (*found.values(), rho)))
    text = [name for name in scores if frame[name].dtype.kind not in "fiu"]
    if text and not named:
        raise ScoreTableError(
            f"Column {shown(text[0])!r} holds cells that are not plain numbers, so it can't be the scores of an algorithm.",
            remedy="Correct its cells, or name the columns with scores: algorithms=[...].",
        )
    if not scores:
        raise ScoreTableError("No column holds the scores of an algorithm.")
    notes: list[Note] = []
    runs = frame[found["run"]] if "run" in found else np.ones(len(frame), dtype=int)
    if "fold" in found:
        folds: Any = frame[found["fold"]]
    else:
        place = [found[role] for role in ("dataset", "run") if role in found]
        folds = frame.groupby(place, sort=False).cumcount() + 1
        if int(folds.max()) > MOST_FOLDS:
            raise ScoreTableError(
                f"A data set has {int(folds.max())} rows and no column says which fold each is.",
                remedy="Add columns run and fold.",
            )
        if int(folds.max()) > 1:
            message = (
                "There is no fold column: the rows of a data set are taken as the folds of one run, in their order."
            )
            notes.append(Note(DefaultedRhoWarning, message))
    count = len(scores)
    columns = {
        "dataset": np.tile(frame[found["dataset"]].to_numpy(dtype=object), count),
        "algorithm": np.repeat(np.array(scores, dtype=object), len(frame)),
        "run": np.tile(np.asarray(runs), count),
        "fold": np.tile(np.asarray(folds), count),
        "score": np.concatenate([frame[name].to_numpy() for name in scores]),
    }
    if rho is not None:
        columns[RHO] = np.tile(frame[rho].to_numpy(), count)
    hint = "Number the runs and folds: no two rows may have the same."
    return tidy_frame(columns, format_name="wide", notes=notes, duplicates=hint)
