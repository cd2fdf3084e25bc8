"""Metrics of tidymodels: ``collect_metrics(summarize = FALSE)``, written as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import whole_number
from hiercomp.errors import Argument, ArgumentError, ScoreTableError
from hiercomp.files.formats.common import (
    Source,
    chosen_measure,
    column_roles,
    further_measures,
    names_the_file,
    need_columns,
    read_table,
    rho_of_folds,
    runs_and_folds,
    text_options,
)
from hiercomp.files.mapping import checked_frame, map_table, tidy_frame
from hiercomp.scores.rho import checked_rho
from hiercomp.scores.table import role_of
from hiercomp.wording import first_names, shown

if TYPE_CHECKING:
    import pandas as pd

REPEAT, FOLD = r"Repeat\s*0*(\d+)", r"Fold\s*0*(\d+)"
SPLIT = r"(?:Resample|Bootstrap)\s*0*(\d+)"
CONFIGURATION = ".config"
OWN_COLUMNS = ("id", "id2", "wflow_id", "preproc", "model", "n", "std_err", "mean")


@names_the_file
def read_tidymodels(
    source: Source,
    measure: str | None = None,
    *,
    dataset: str | None = None,
    algorithm: str | None = None,
    run: str | None = None,
    fold: str | None = None,
    rho: float | None = None,
    folds: int | None = None,
    also: str | Sequence[str] = (),
    **layout: Any,
) -> pd.DataFrame:
    """Tidy scores of metrics that were collected without summarizing.

    Parameters
    ----------
    source : path or DataFrame
        With columns id (and id2 for repeats), .metric and .estimate. In R:
        ``readr::write_csv(collect_metrics(results, summarize = FALSE), "metrics.csv")``.
    measure : str, optional
        The metric, such as "accuracy"; needed where there are several.
    dataset : str, optional
        Column that holds the data sets, or, where there is no such column, the name of the only one. By default a column
        called dataset, data or task.
    algorithm : str, optional
        Column that holds the algorithms, or the name of the only one. By default wflow_id, with .config where a workflow
        has several; then algorithm, model or method; then the parameters that were tuned, or .config.
    run, fold : str, optional
        Columns that hold them, where the names of resamples do not tell.
    rho : float, optional
        Correlation between resamples that are no folds: the share of test cases for ``mc_cv``.
    folds : int, optional
        Folds of a run, where resamples without folds come from ``group_vfold_cv``.
    also : str or sequence of str
        Further metrics, kept as columns of their own names.
    **layout
        ``encoding``, ``separator`` and ``decimal`` of a file.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and rho.

    Raises
    ------
    ScoreFileError, ScoreTableError
        If columns are missing, the metrics are summarized, or rho is needed.

    Warns
    -----
    HiercompWarning
        If less of the metric is better: comparisons of the frame follow this.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"wflow_id": "tree", "id": ["Fold1", "Fold2"], ".metric": "accuracy",
    ...                       ".estimate": [0.9, 0.8]})
    >>> read_tidymodels(table, dataset="iris")
      dataset algorithm  run  fold  score  rho
    0    iris      tree    1     1    0.9  0.5
    1    iris      tree    1     2    0.8  0.5
    """
    text_options(dataset=dataset, algorithm=algorithm)
    rho = None if rho is None else checked_rho(rho)
    frame = read_table(source, {"dataset": dataset or "", "algorithm": algorithm or "wflow_id"}, layout)
    if ".estimate" not in frame and {"mean", "std_err"} & set(frame.columns):
        raise ScoreTableError(
            "The metrics are averages over the folds.", remedy="Collect them with collect_metrics(summarize = FALSE)."
        )
    folds = None if folds is None else whole_number("folds", folds, 2)
    need_columns(frame, [".metric", ".estimate", "id"], "the table of collect_metrics(summarize = FALSE)")
    frame["dataset "] = _datasets(frame, dataset)  # with a space: no column of the table may be lost
    frame["algorithm "] = _algorithms(frame, algorithm)
    metrics = [str(name) for name in dict.fromkeys(frame[".metric"])]
    measure = chosen_measure(measure, metrics)
    place = ["dataset ", "algorithm ", "id"] + (["id2"] if "id2" in frame else [])
    extra = {other: _values_of(frame, other, place) for other in further_measures(also, metrics)}
    frame = frame[frame[".metric"] == measure].reset_index(drop=True)
    if run is not None or fold is not None:
        roles = {"dataset": "dataset ", "algorithm": "algorithm ", "run": run, "fold": fold, "score": ".estimate"}
        kept = frame.drop(columns=".metric")
        mapped = map_table(kept, roles | {"rho": rho}, format_name="tidymodels", measure=measure, folds=folds)
        return checked_frame(mapped)
    runs, places, correlation = _resamples(frame, rho, folds)
    columns = {
        "dataset": frame["dataset "],
        "algorithm": frame["algorithm "],
        "run": runs,
        "fold": places,
        "score": frame[".estimate"],
        "rho": correlation,
    }
    keys = frame[place].apply(tuple, axis=1)
    columns |= {other: keys.map(values).astype(float) for other, values in extra.items()}
    hint = "Where a workflow was tuned, keep one .config, or name the column of algorithms."
    return tidy_frame(
        columns,
        format_name="tidymodels",
        measure=measure,
        duplicates=hint,
        names={"score": ".estimate"},
    )


def _datasets(frame: pd.DataFrame, dataset: str | None) -> Any:
    found = column_roles(list(frame.columns), ("dataset",))
    if dataset is not None:
        return _column_or_name(frame, dataset, found.get("dataset"))
    if not found:
        raise ScoreTableError(
            "The table names no data set.",
            remedy="Pass dataset='iris', or add a column dataset before joining tables.",
            arguments=(Argument("dataset", "iris"),),
        )
    return frame[found["dataset"]]


def _algorithms(frame: pd.DataFrame, algorithm: str | None) -> Any:
    if algorithm is not None:
        return _column_or_name(frame, algorithm, "wflow_id" if "wflow_id" in frame else None)
    configured = CONFIGURATION in frame
    if "wflow_id" in frame:
        names = frame["wflow_id"].astype(str)
        if configured:
            several = frame.groupby("wflow_id")[CONFIGURATION].transform("nunique") > 1
            names = names.where(~several, names + " " + frame[CONFIGURATION].astype(str))
        return names
    named = column_roles([name for name in frame.columns if name != "id" and name != "dataset "], ("algorithm",))
    if named:
        names = frame[named["algorithm"]].astype(str)
        if configured:
            several = frame.groupby(named["algorithm"])[CONFIGURATION].transform("nunique") > 1
            names = names.where(~several, names + " " + _candidates(frame))
        return names
    if configured and frame[CONFIGURATION].nunique() > 1:
        return _candidates(frame)
    raise ScoreTableError(
        "The table does not name its algorithm: there is no column wflow_id.",
        remedy="Pass algorithm='tree', or add a column.",
        arguments=(Argument("algorithm", "tree"),),
    )


def _candidates(frame: pd.DataFrame) -> pd.Series:
    """A name for the candidate of each row: its tuned parameters, where they tell candidates apart, or .config."""
    own = [name for name in frame.columns if name not in (*OWN_COLUMNS, "dataset ") and not str(name).startswith(".")]
    tuned = [name for name in own if role_of(name) is None and frame[name].nunique() > 1]
    tuned = [name for name in tuned if (frame.groupby(CONFIGURATION)[name].nunique() <= 1).all()]
    if tuned and len(frame[tuned].drop_duplicates()) == frame[CONFIGURATION].nunique():
        parts = [name + "=" + frame[name].astype(str) for name in tuned]
        text = parts[0]
        for part in parts[1:]:
            text = text + ", " + part
        return text
    return frame[CONFIGURATION].astype(str)


def _column_or_name(frame: pd.DataFrame, given: str, held: str | None) -> Any:
    """The column of that name, or that name for every row where the table has no column for it."""
    if given in frame:
        return frame[given]
    if held is not None:
        raise ArgumentError(
            f"There is no column {shown(given)!r}, and it can't be the name in every row: column {held!r} holds names.",
            remedy="Leave it out.",
        )
    return np.full(len(frame), given, dtype=object)


def _values_of(frame: pd.DataFrame, metric: str, place: list[str]) -> dict[Any, float]:
    """The estimates of one metric by their place."""
    rows = frame[frame[".metric"] == metric]
    if rows.duplicated(place).any():
        raise ArgumentError(f"Metric {shown(metric)!r} has several values for the same fold; leave it out of also.")
    return dict(zip(rows[place].itertuples(index=False, name=None), rows[".estimate"], strict=True))


def _resamples(frame: pd.DataFrame, rho: float | None, count: int | None) -> tuple[Any, Any, np.ndarray]:
    """Run, fold and correlation of each row, from the names that rsample gives to resamples."""
    first = frame["id"].astype(str)
    ones = np.ones(len(frame), dtype=np.int64)
    if "id2" in frame and bool(frame["id2"].notna().all()):
        second = frame["id2"].astype(str)
        run, fold = first.str.extract(f"^{REPEAT}$")[0], second.str.extract(f"^{FOLD}$")[0]
    else:
        run, fold = first.str.replace(".*", "1", n=1, regex=True), first.str.extract(f"^{FOLD}$")[0]
    if run.notna().all() and fold.notna().all():
        runs, folds = run.astype(np.int64).to_numpy(), fold.astype(np.int64).to_numpy()
        known = rho_of_folds(frame["dataset "], runs, folds)
        return runs, folds, known if rho is None else np.full(len(frame), rho)
    split = first.str.extract(f"^{SPLIT}$")[0]
    if split.isna().any():
        if rho is None:
            unknown = list(dict.fromkeys(first[split.isna()].tolist()))
            raise ScoreTableError(
                f"Resamples are called {first_names(unknown)}, which are neither folds (Fold1), repeats with folds "
                "(Repeat1, Fold1) nor random splits (Resample1, Bootstrap1).",
                remedy="Pass rho, the correlation between them.",
            )
        codes, _ = first.factorize()
        return codes + 1, ones, np.full(len(frame), rho)
    number = split.astype(np.int64).to_numpy()
    if count is not None:
        last = int(number.max())
        if last % count:
            raise ScoreTableError(f"{last} resamples do not make a whole number of runs of {count} folds.")
        runs, folds = runs_and_folds(number - 1, count)
        known = rho_of_folds(frame["dataset "], runs, folds)
        return runs, folds, known if rho is None else np.full(len(frame), rho)
    if rho is None:
        raise ScoreTableError(
            f"The resamples ({shown(first.iloc[0])!r}, ...) are random splits, or the folds of group_vfold_cv, and the "
            "table does not tell which.",
            remedy=f"Pass rho, the share of test cases, such as 0.25 for mc_cv(prop = 3/4); or folds={number.max()} for "
            "group_vfold_cv.",
            arguments=(Argument("folds", int(number.max())),),
        )
    return number, ones, np.full(len(frame), rho)
