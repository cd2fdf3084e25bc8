"""Runs exported from MLflow: ``mlflow.search_runs()`` or ``mlflow experiments csv``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.errors import Argument, ArgumentError, DefaultedRhoWarning, DroppedScoresWarning, Note, ScoreTableError
from hiercomp.files.formats.common import (
    Source,
    chosen_measure,
    file_head,
    header_names,
    names_the_file,
    need_columns,
    one_or_more,
    read_table,
    rho_of_folds,
    text_options,
)
from hiercomp.files.mapping import tidy_frame
from hiercomp.scores.rho import checked_rho
from hiercomp.scores.table import ALIASES
from hiercomp.wording import first_names, shown

if TYPE_CHECKING:
    import pandas as pd

PREFIXES = ("params.", "tags.")
METRICS = "metrics."
FOLD_IN_METRIC = re.compile(r"((?:^|_|\b)fold[ _.-]?)\d+", re.IGNORECASE)
SEED_NAMES = ("seed", "randomseed", "randomstate")
FURTHER_NAMES = {
    "dataset": ("datasetid",),
    "algorithm": ("estimatorname", "modelname", "modeltype"),
    "run": (),
    "fold": (),
}


@names_the_file
def read_mlflow(
    source: Source,
    measure: str | None = None,
    *,
    dataset: str | None = None,
    algorithm: str | None = None,
    run: str | None = None,
    fold: str | None = None,
    rho: float | None = None,
    also: str | Sequence[str] = (),
    **layout: Any,
) -> pd.DataFrame:
    """Tidy scores of exported runs, one run of MLflow for each data set, algorithm and fold or seed.

    Parameters
    ----------
    source : path or DataFrame
        What ``mlflow.search_runs()`` returns, or its ``to_csv``: columns run_id, params.*, tags.* and metrics.*.
    measure : str, optional
        The metric, such as "accuracy"; needed where there are several.
    dataset, algorithm, run, fold : str, optional
        Columns that hold them, such as "params.dataset". By default found among params and tags by their names; a seed
        counts as a run.
    rho : float, optional
        Correlation between the scores of a data set. By default 1/k where there are k folds, and 0 where runs are seeds.
    also : str or sequence of str
        Further metrics, kept as columns of their own names.
    **layout
        ``encoding``, ``separator`` and ``decimal`` of a file.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and, where it is known, rho.

    Raises
    ------
    ScoreFileError, ScoreTableError
        If a column can't be found, or a cell has several scores.

    Warns
    -----
    DroppedScoresWarning
        If runs that did not finish, or that name no data set or algorithm, are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"run_id": ["a", "b"], "params.dataset": "iris", "params.model": "tree",
    ...                      "params.seed": ["0", "1"], "metrics.accuracy": [0.9, 0.8]})
    >>> read_mlflow(runs, rho=0.0)
      dataset algorithm  run  fold  score  rho
    0    iris      tree    0     1    0.9  0.0
    1    iris      tree    1     1    0.8  0.0
    """
    text_options(measure=measure, dataset=dataset, algorithm=algorithm, run=run, fold=fold)
    rho = None if rho is None else checked_rho(rho)
    source = source if isinstance(source, (str, Path)) else read_table(source, {}, layout)
    given = {"dataset": dataset, "algorithm": algorithm, "run": run, "fold": fold}
    given = {role: name for role, name in given.items() if name is not None}
    names = _names_in(source, layout)
    found = mlflow_roles(names, {role: str(name) for role, name in given.items()})
    frame = read_table(source, {role: found[role] for role in ("dataset", "algorithm") if role in found}, layout)
    for role in ("dataset", "algorithm"):
        if role not in found:
            held = [name for name in frame.columns if name.startswith(PREFIXES) and not name.startswith("tags.mlflow.")]
            raise ScoreTableError(
                f"No parameter or tag is recognised as the {role}: {first_names(held) or 'there are none'}.",
                remedy=f"Say which with {role}='params.{role}'.",
            )
    need_columns(frame, found.values())
    metrics = [name.removeprefix(METRICS) for name in frame.columns if name.startswith(METRICS)]
    if measure is None:
        _refuse_folds_as_metrics(metrics, found)
    measure = chosen_measure(None if measure is None else measure.removeprefix(METRICS), metrics)
    frame, notes = _finished(frame, found, measure)
    ones = np.ones(len(frame), dtype=np.int64)
    columns: dict[str, Any] = {
        "dataset": frame[found["dataset"]],
        "algorithm": frame[found["algorithm"]],
        "run": frame[found["run"]] if "run" in found else ones,
        "fold": frame[found["fold"]] if "fold" in found else ones,
        "score": frame[METRICS + measure],
    }
    if rho is not None:
        columns["rho"] = np.full(len(frame), rho)
    elif "fold" in found:
        columns["rho"] = rho_of_folds(columns["dataset"], columns["run"], columns["fold"])
    elif "run" in found and _plain(found["run"]) in SEED_NAMES:
        columns["rho"] = np.zeros(len(frame))
        message = f"The runs differ by {shown(found['run'])!r}: they are treated as independent repetitions, rho = 0."
        remedy = "If each seed draws another part of the same data for testing, pass the share of test cases: rho=0.2."
        notes.append(Note(DefaultedRhoWarning, message, remedy, arguments=(Argument("rho", 0.2),)))
    for other in one_or_more("also", also):
        further = chosen_measure(other.removeprefix(METRICS), metrics)
        columns[further] = frame[METRICS + further]
    hint = "Say which parameters are run and fold, or export each run once."
    return tidy_frame(
        columns,
        format_name="mlflow",
        measure=measure,
        notes=notes,
        duplicates=hint,
        names={**found, "score": METRICS + measure},
    )


def mlflow_roles(names: Sequence[str], given: dict[str, str] | None = None) -> dict[str, str]:
    """Which parameter or tag plays which role; parameters go before tags."""
    found = dict(given or {})
    for role in ("dataset", "algorithm", "run", "fold"):
        if role in found:
            continue
        aliases = (*ALIASES[role], *FURTHER_NAMES[role])
        for kinds in (aliases, SEED_NAMES) if role == "run" else (aliases,):
            for prefix in PREFIXES:
                fits = [name for name in names if name.startswith(prefix) and _plain(name) in kinds]
                exact = [name for name in fits if _plain(name) == role]
                if role not in found and len(exact or fits) == 1:
                    found[role] = (exact or fits)[0]
    return found


def _refuse_folds_as_metrics(metrics: Sequence[str], found: dict[str, str]) -> None:
    """Metrics such as fold_0_accuracy are the folds of one score: the general reader takes them by a pattern."""
    patterns = [FOLD_IN_METRIC.sub(r"\1{fold}", metric, count=1) for metric in metrics]
    pattern = next((one for one in patterns if "{fold}" in one and patterns.count(one) > 1), None)
    if pattern is None:
        return
    folds = [metric for metric, own in zip(metrics, patterns, strict=True) if own == pattern]
    roles = [Argument(role, found[role]) for role in ("dataset", "algorithm", "run") if role in found]
    proposed = (*roles, Argument("score", METRICS + pattern))
    raise ScoreTableError(
        f"The folds are metrics of one run: {first_names(folds)}.",
        remedy=f"Read them with {', '.join(map(str, proposed))}.",
        arguments=proposed,
    )


def _plain(name: str) -> str:
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return "".join(character for character in name.casefold() if character not in " ._-")


def _names_in(source: Source, layout: dict[str, Any]) -> list[str]:
    """The names of a table's columns, before it is read: those that hold names stay text."""
    if not isinstance(source, (str, Path)):
        return [str(column) for column in source.columns]
    head = file_head(source, layout.get("encoding"))
    if head.startswith("PAR1"):
        return [str(column) for column in read_table(source, {}, {}).columns]
    return header_names(head, layout.get("separator"))


def _finished(frame: pd.DataFrame, found: dict[str, str], measure: str) -> tuple[pd.DataFrame, list[Note]]:
    """Without the runs that did not finish, and parent runs, which hold no score of their own."""
    notes = []
    if "status" in frame:
        undone = ~frame["status"].astype(str).isin(["FINISHED"]).to_numpy()
        if undone.all():
            raise ScoreTableError(f"No run is FINISHED; the first is {shown(frame['status'].iloc[0])!r}.")
        if undone.any():
            states = first_names([str(state) for state in dict.fromkeys(frame.loc[undone, "status"])])
            text = f"Left out: {undone.sum()} of {len(frame)} runs, which did not finish ({states})."
            notes.append(Note(DroppedScoresWarning, text))
            frame = frame[~undone]
    unnamed = np.zeros(len(frame), dtype=bool)
    for name in found.values():
        unnamed |= (frame[name].isna() | (frame[name].astype(str).str.strip() == "")).to_numpy()
    # A run with a score and without its place can't be left out in silence: it might be any cell
    placeless = unnamed & frame[METRICS + measure].notna().to_numpy()
    if unnamed.all():
        raise ArgumentError(
            f"No run has all of {first_names(list(found.values()))}.", remedy="Say which columns to take."
        )
    if unnamed.any():
        scored = f", {placeless.sum()} of them with a score" if placeless.any() else ""
        text = (
            f"Left out: {unnamed.sum()} of {len(frame)} runs{scored}, which do not say {first_names(list(found.values()))} "
            "(parent runs, for instance)."
        )
        notes.append(Note(DroppedScoresWarning, text))
    return frame[~unnamed].reset_index(drop=True), notes
