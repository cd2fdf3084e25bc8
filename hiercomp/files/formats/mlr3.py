"""Scores of mlr3 benchmarks: the table of ``bmr$score()``, written as CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import number_between, whole_number
from hiercomp.errors import Argument, ScoreTableError
from hiercomp.files.formats.common import (
    Source,
    chosen_measure,
    further_measures,
    names_the_file,
    need_columns,
    read_table,
    rho_of_folds,
    runs_and_folds,
)
from hiercomp.files.mapping import checked_frame, map_table, tidy_frame
from hiercomp.scores.rho import checked_rho
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd

NAME_COLUMNS = {"dataset": "task_id", "algorithm": "learner_id"}
MEASURE = re.compile(r"(classif|regr|surv|dens|clust|fcst)\.\w+")
ONE_RUN = ("cv", "custom_cv", "loo", "spcv_coords")  # each iteration is a fold
RANDOM_SPLITS = ("subsampling", "holdout")


@names_the_file
def read_mlr3(
    source: Source,
    measure: str | None = None,
    *,
    folds: int | None = None,
    ratio: float | None = None,
    rho: float | None = None,
    also: str | Sequence[str] = (),
    dataset: str = "task_id",
    algorithm: str = "learner_id",
    run: str | None = None,
    fold: str | None = None,
    **layout: Any,
) -> pd.DataFrame:
    """Tidy scores of the table that ``bmr$score()`` gives.

    Parameters
    ----------
    source : path or DataFrame
        With columns task_id, learner_id, resampling_id, iteration and measures such as classif.acc. In R, where the
        columns that hold objects must be left out: ``s <- as.data.table(bmr$score(msrs(c("classif.acc"))))`` and
        ``fwrite(s[, .(task_id, learner_id, resampling_id, iteration, classif.acc)], "scores.csv")``.
    measure : str, optional
        The column of scores; needed where there are several.
    folds : int, optional
        Folds of a run of repeated cross-validation ("repeated_cv"), which the table does not tell.
    ratio : float, optional
        Share of the cases that "subsampling" trains on, such as 2/3; rho is 1 - ratio.
    rho : float, optional
        Correlation between iterations; needed for other resamplings, such as "bootstrap".
    also : str or sequence of str
        Further measures, kept as columns of their own names.
    dataset, algorithm : str
        Columns that hold them.
    run, fold : str, optional
        Columns that hold them, where they were added to mlr3's; the resampling is then not looked at.
    **layout
        ``encoding``, ``separator`` and ``decimal`` of a file.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and, where it is known, rho.

    Raises
    ------
    ScoreFileError, ScoreTableError
        If columns are missing, or folds, ratio or rho are needed.

    Warns
    -----
    HiercompWarning
        If less of the measure is better: comparisons of the frame follow this.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"task_id": "iris", "learner_id": "classif.rpart", "resampling_id": "cv",
    ...                       "iteration": [1, 2], "classif.acc": [0.92, 0.96]})
    >>> read_mlr3(table)
      dataset      algorithm  run  fold  score  rho
    0    iris  classif.rpart    1     1   0.92  0.5
    1    iris  classif.rpart    1     2   0.96  0.5
    """
    names = {"dataset": dataset, "algorithm": algorithm}
    frame = read_table(source, NAME_COLUMNS | names, layout)
    need_columns(frame, [*names.values(), "resampling_id", "iteration"], "mlr3's table of scores")
    folds = None if folds is None else whole_number("folds", folds, 2)
    rho = None if rho is None else checked_rho(rho)
    measures = [name for name in frame.columns if MEASURE.fullmatch(name)]
    measure = chosen_measure(measure, measures)
    if run is not None or fold is not None:
        roles = {**names, "run": run, "fold": fold, "score": measure, "rho": rho}
        return checked_frame(map_table(frame, roles, format_name="mlr3", also=also, folds=folds))
    iteration = _iterations(frame["iteration"])
    kinds = frame["resampling_id"].astype(str).to_numpy(dtype=object)
    runs, place = iteration.copy(), np.ones(len(frame), dtype=np.int64)
    correlation = np.full(len(frame), np.nan if rho is None else rho)
    for kind in dict.fromkeys(kinds):
        rows = kinds == kind
        last = int(iteration[rows].max())
        if kind in ONE_RUN or kind == "repeated_cv":
            count = folds if kind == "repeated_cv" else last
            if count is None:
                raise ScoreTableError(
                    f"The resampling is 'repeated_cv' with {last} iterations, and the table does not tell the folds of a "
                    "run.",
                    remedy="Pass folds=10 for repeats of 10-fold cross-validation.",
                    arguments=(Argument("folds", 10),),
                )
            if last % count:
                raise ScoreTableError(f"{last} iterations do not make a whole number of runs of {count} folds.")
            runs[rows], place[rows] = runs_and_folds(iteration[rows] - 1, count)
            if rho is None:
                correlation[rows] = rho_of_folds(frame[dataset][rows], runs[rows], place[rows])
        elif kind in RANDOM_SPLITS and ratio is not None:
            correlation[rows] = 1 - number_between("ratio", ratio, 0, 1)
        elif rho is None and not (kind == "holdout" and last == 1):
            need = "ratio, the share trained on (mlr3's default is 2/3)" if kind in RANDOM_SPLITS else "rho"
            raise ScoreTableError(
                f"The resampling is {shown(kind)!r}, and the table does not tell how iterations correlate.",
                remedy=f"Pass {need}.",
            )
    columns = {
        "dataset": frame[dataset],
        "algorithm": frame[algorithm],
        "run": runs,
        "fold": place,
        "score": frame[measure],
    }
    if not np.isnan(correlation).any():
        columns["rho"] = correlation
    columns |= {other: frame[other] for other in further_measures(also, measures)}
    hint = "Write each benchmark once; where a learner has several settings, give them different ids."
    return tidy_frame(
        columns,
        format_name="mlr3",
        measure=measure,
        duplicates=hint,
        names={**names, "score": measure},
    )


def _iterations(column: pd.Series) -> np.ndarray:
    """Whole numbers from 1."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    wrong = ~(np.isfinite(numbers) & (numbers >= 1) & (numbers == np.floor(numbers)))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ScoreTableError(f"Row {row + 1}: iteration is {str(column.iloc[row])!r}, not a whole number from 1.")
    return numbers.astype(np.int64)
