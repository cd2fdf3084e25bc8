"""Tables of tools that need no more than a mapping: one entry a tool, and how to recognise its averages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hiercomp.errors import Argument, DroppedScoresWarning, HiercompWarning, Note, ScoreTableError
from hiercomp.files.formats.common import Source, names_the_file, read_table, stripped_roles
from hiercomp.files.mapping import Spec, checked_frame, kept_rows, map_table
from hiercomp.scores.problems import MOST_FOLDS
from hiercomp.scores.table import summary_labels
from hiercomp.wording import counted, first_names

if TYPE_CHECKING:
    import pandas as pd


# What tools call runs without a result
UNFINISHED = frozenset({"crashed", "failed", "fail", "killed", "running", "pending", "waiting", "pruned", "preempted"})


@dataclass(frozen=True)
class Preset:
    """A tool's table.

    Attributes
    ----------
    what : str
        What the tool calls it.
    columns : tuple of str
        By which it is recognised; a * stands for any text.
    roles : mapping from role to specs
        What plays each role: the first choice whose columns the table has. Other roles follow from the names of columns.
    where : mapping from column to values
        Rows to keep, where the column exists.
    prefixes : tuple of str
        Put by the tool before the user's own names.
    higher_is_better : bool, optional
        None where only the measure tells.
    summaries : bool
        Whether means and standard deviations stand among the folds; they are left out.
    counts_runs : bool
        Whether the fold column counts through all runs.
    in_order : bool
        Whether rows that no column numbers are folds in their order.
    parts : tuple of str
        The measures that the score may be.
    """

    what: str
    columns: tuple[str, ...]
    roles: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prefixes: tuple[str, ...] = ()
    higher_is_better: bool | None = None
    summaries: bool = False
    counts_runs: bool = False
    in_order: bool = False
    parts: tuple[str, ...] = ()


#: Tables that are read by a mapping, by the name of their format.
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "amlb": Preset(
            "AutoML Benchmark: `results.csv`",
            ("task", "framework", "fold", "result"),
            {
                "dataset": ("task",),
                "algorithm": ("framework",),
                "run": ("=1",),
                "fold": ("fold",),
                "score": ("score", "result"),
            },
            parts=("auc", "logloss", "acc", "balacc", "rmse", "mae", "r2"),
        ),
        "tabarena": Preset(
            "TabArena, TabRepo: results per split",
            ("dataset", "fold", "metric_error", "problem_type"),
            {
                "algorithm": ("method", "framework"),
                "run": ("repeat", "=1"),
                "fold": ("fold",),
                "score": ("metric_error",),
            },
            higher_is_better=False,
        ),
        "autogluon": Preset(
            "AutoGluon: `leaderboard()` of each fold, concatenated",
            ("model", "score_val", "pred_time_val"),
            {"algorithm": ("model",), "score": ("score_test", "score_val")},
            higher_is_better=True,
        ),
        "caret": Preset(
            "caret: `resamples(...)$values`",
            ("Resample", "*~*"),
            {"algorithm": ("{algorithm}~{measure}",)},
            in_order=True,
        ),
        "mlr": Preset(
            "mlr 2: `getBMRPerformances(as.df = TRUE)`",
            ("task.id", "learner.id", "iter"),
            {"dataset": ("task.id",), "algorithm": ("learner.id",), "fold": ("iter",)},
            counts_runs=True,
        ),
        "cross_validate": Preset(
            "scikit-learn: frames of `cross_validate`, concatenated",
            ("fit_time", "score_time", "test_*"),
            {"fold": ("fold", "split", "", "Unnamed: 0", "index", "level_1"), "score": ("test_{measure}",)},
            in_order=True,
        ),
        "optuna": Preset(
            "Optuna: `study.trials_dataframe()`",
            ("number", "value", "params_*", "state"),
            {"score": ("value",)},
            where={"state": ("COMPLETE",)},
            prefixes=("params_", "user_attrs_"),
        ),
        "wandb": Preset(
            "Weights & Biases: runs exported as CSV",
            ("Name", "State"),
            where={"State": ("finished", "Finished")},
            prefixes=("config.", "config/", "summary.", "summary/"),
        ),
        "openml": Preset(
            "OpenML: `list_evaluations(...)`, with `per_fold=True`",
            ("flow_name", "data_name", "function"),
            {"dataset": ("data_name",), "algorithm": ("flow_name",), "score": ("values", "value")},
        ),
        "pycaret": Preset(
            "PyCaret: `pull()` after `create_model`, concatenated",
            ("Fold", "Accuracy", "Kappa", "MCC"),
            {"fold": ("Fold",)},
            summaries=True,
        ),
        "pycaret_regression": Preset(
            "PyCaret, regression",
            ("Fold", "MAE", "MSE", "RMSE", "R2"),
            {"fold": ("Fold",)},
            summaries=True,
        ),
        "nixtla": Preset(
            "Nixtla: `evaluate(...)` of forecasts",
            ("unique_id", "metric", "*"),
            {"dataset": ("unique_id",), "algorithm": ("{algorithm}",), "fold": ("cutoff",)},
            higher_is_better=False,
        ),
    }
)

#: Tables without the scores of single folds: columns by which they are recognised, and what to do.
AVERAGES: Sequence[tuple[tuple[str, ...], tuple[str, ...], str, str]] = (
    # columns that it has, columns that it lacks, what it is, what to do
    (
        ("task_id", "learner_id", "resampling_id", "iters"),
        ("iteration",),
        "the averages of mlr3's bmr$aggregate()",
        "Write the scores of the iterations, bmr$score().",
    ),
    (
        ("task.id", "learner.id", "*.test.*"),
        ("iter",),
        "the averages of mlr's getBMRAggrPerformances",
        "Write getBMRPerformances(bmr, as.df = TRUE).",
    ),
    (
        (".metric", "mean", "std_err"),
        (".estimate",),
        "averages over the folds, of tidymodels",
        "Collect the metrics with collect_metrics(summarize = FALSE).",
    ),
    (
        (".metric", ".estimate"),
        ("id",),
        "metrics of a single split, as from last_fit, without an id column",
        "Collect those of fit_resamples or workflow_map with collect_metrics(summarize = FALSE).",
    ),
    (
        ("unique_id", "ds", "cutoff", "y"),
        ("metric",),
        "forecasts by Nixtla, not scores",
        "Score them with utilsforecast.evaluation.evaluate.",
    ),
)


def presets_as_markdown() -> str:
    """The table of presets, as the documentation prints it."""
    lines = ["| format | table | recognised by | roles | notes |", "|---|---|---|---|---|"]
    for name, preset in PRESETS.items():
        roles = ", ".join(f"{role} = `{' or '.join(filter(None, specs[:2]))}`" for role, specs in preset.roles.items())
        notes = [f"only rows whose {column} is {values[0]}" for column, values in preset.where.items()]
        notes += [f"names after `{preset.prefixes[0]}`"] if preset.prefixes else []
        notes += ["rows Mean and Std are left out"] if preset.summaries else []
        notes += ["needs `folds` or `rho`"] if preset.counts_runs else []
        if preset.higher_is_better is not None:
            notes.append(f"{'higher' if preset.higher_is_better else 'lower'} is better")
        known = ", ".join(f"`{column.replace('|', '` or `')}`" for column in preset.columns)
        lines.append(f"| `{name}` | {preset.what} | {known} | {roles} | {'; '.join(notes)} |")
    return "\n".join(lines)


def preset_of(names: Sequence[str]) -> str | None:
    """The format of a table with these columns; that known by the most columns, where several fit."""
    fits = {
        name: len(preset.columns)
        for name, preset in PRESETS.items()
        if all(has(names, part) for part in preset.columns)
    }
    return max(fits, key=lambda name: fits[name]) if fits else None


def averages_of(names: Sequence[str]) -> ScoreTableError | None:
    """The error of a table of averages, or None."""
    for columns, lacking, what, remedy in AVERAGES:
        if all(has(names, part) for part in columns) and not any(has(names, part) for part in lacking):
            return ScoreTableError(f"These are {what}.", remedy=remedy, key="averages")
    return None


def has(names: Sequence[str], wanted: str) -> bool:
    """Whether a column is called so; * stands for any text."""
    if "|" in wanted:
        return any(has(names, one) for one in wanted.split("|"))
    if "*" not in wanted:
        return wanted in names
    pattern = re.compile(".+".join(map(re.escape, wanted.split("*"))))
    return any(pattern.fullmatch(name) for name in names)


def read_preset(
    name: str,
    source: Source,
    *,
    roles: Mapping[str, Spec | None] | None = None,
    file: Any = None,
    where: Mapping[str, Any] | None = None,
    folds: int | None = None,
    measure: str | None = None,
    also: str | Sequence[str] = (),
    **layout: Any,
) -> pd.DataFrame:
    """Tidy scores of a tool's table.

    Parameters
    ----------
    name : str
        Of `PRESETS`.
    source : path or DataFrame
    roles, file, where, folds, measure, also
        See `hiercomp.files.mapping.map_table`; what is given goes before the tool's own roles.
    **layout
        ``encoding``, ``separator`` and ``decimal`` of a file.

    Raises
    ------
    ScoreTableError
        If a column is missing.
    """
    preset = PRESETS[name]
    given = {role: spec for role, spec in (roles or {}).items() if spec is not None}
    of_the_tool = {role: str(specs[0]) for role, specs in preset.roles.items() if role in ("dataset", "algorithm")}
    frame = read_table(
        source, {role: spec for role, spec in (of_the_tool | given).items() if isinstance(spec, str)}, layout
    )
    frame = kept_rows(frame, where)
    notes: list[Note] = []
    for column, values in preset.where.items():
        if column in frame.columns:
            frame, more = _kept(frame, column, values)
            notes += more
    names = [str(column) for column in frame.columns]
    found = {role: spec for role, specs in preset.roles.items() if (spec := _present(specs, names)) is not None}
    if preset.prefixes:
        found = stripped_roles(names, preset.prefixes) | found
    if preset.summaries and "fold" in found:
        frame, more = _without_summaries(frame, str(found["fold"]))
        notes += more
    if preset.in_order and "fold" in found and frame[found["fold"]].is_unique and len(frame) > MOST_FOLDS:
        del found["fold"]  # it counts all rows
    if "algorithm" in found and is_one_of_several(frame, name):
        found["algorithm"] = [found["algorithm"], "constraint"]
    roles_taken = found | given
    if preset.parts and "score" not in given:
        notes += _parts(frame, str(roles_taken.get("score")), str(roles_taken.get("dataset")), preset.parts)
    higher = preset.higher_is_better
    if "score" in given and given["score"] != found.get("score"):
        higher = None
    mapped = map_table(
        frame,
        roles_taken,
        format_name=name,
        file=file if file is not None else (source if isinstance(source, str) else None),
        folds=folds,
        measure=measure,
        also=also,
        higher_is_better=higher,
        notes=notes,
        counts_runs=preset.counts_runs and not {"run", "fold"} & set(given),
        in_order=preset.in_order,
    )
    return checked_frame(mapped)


def is_one_of_several(frame: pd.DataFrame, name: str) -> bool:
    """Whether the benchmark ran each framework under several constraints."""
    return name == "amlb" and "constraint" in frame.columns and frame["constraint"].nunique() > 1


def _reader(name: str) -> Callable[..., pd.DataFrame]:
    """What reads the table of one preset."""

    @names_the_file
    def _read(source: Source, **options: Any) -> pd.DataFrame:
        return read_preset(name, source, **options)

    signature = inspect.signature(read_preset)
    _read.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[value for parameter, value in signature.parameters.items() if parameter != "name"]
    )
    return _read


#: What reads the table of each preset.
PRESET_READERS: Mapping[str, Callable[..., pd.DataFrame]] = MappingProxyType({name: _reader(name) for name in PRESETS})


def _present(specs: Sequence[Any], names: Sequence[str]) -> Any:
    """The first of several specs whose columns a table has."""
    for spec in specs:
        if spec in names or spec.startswith("=") or ("{" in spec and "@" not in spec):
            return spec
        if "@" in spec and spec.rpartition("@")[2] in names:
            return spec
    return None


def _kept(frame: pd.DataFrame, column: str, values: Sequence[str]) -> tuple[pd.DataFrame, list[Note]]:
    """The rows of finished runs, and how many were left out."""
    text = frame[column].astype(str)
    rows = text.isin(values).to_numpy()
    others = first_names(list(dict.fromkeys(text[~rows])))
    if len(frame) and text.str.casefold().isin(UNFINISHED).all():
        raise ScoreTableError(
            f"No row is of a finished run: {column} is {others}.",
            remedy="Export the table again when runs have finished.",
            key="unfinished",
        )
    if rows.all() or not rows.any():  # where no row has it, the column means something else
        return frame, []
    message = f"Left out: {(~rows).sum()} of {len(frame)} rows, whose {column} is {others}."
    return frame[rows].reset_index(drop=True), [Note(DroppedScoresWarning, message)]


def _without_summaries(frame: pd.DataFrame, fold: str) -> tuple[pd.DataFrame, list[Note]]:
    labels = summary_labels(frame[fold].astype(str))
    if not labels:
        return frame, []
    rows = frame[fold].astype(str).str.strip().isin(labels).to_numpy()
    message = f"Left out: {counted(int(rows.sum()), 'row')} whose fold is {first_names(labels)}."
    kept = frame[~rows].reset_index(drop=True)
    return kept.assign(**{fold: kept[fold].astype(float).astype("int64")}), [Note(DroppedScoresWarning, message)]


def _parts(frame: pd.DataFrame, score: str, dataset: str, measures: Sequence[str]) -> list[Note]:
    """That the score is one measure on some data sets and another on others."""
    if score not in frame.columns or frame[score].dtype.kind != "f" or dataset not in frame.columns:
        return []
    left, taken = frame[score].notna(), dict[str, int]()
    for measure in measures:
        if measure in frame.columns and frame[measure].dtype.kind == "f":
            same = left & (frame[measure] == frame[score])
            count = frame.loc[same, dataset].nunique()
            if count:
                taken[measure] = count
                left &= ~frame[dataset].isin(frame.loc[same, dataset])
    if len(taken) < 2:
        return []
    listed = ", ".join(f"{measure} on {counted(count, 'data set')}" for measure, count in taken.items())
    text = f"Column {score!r} mixes measures: {listed}."
    first = Argument("score", next(iter(taken)))
    return [Note(HiercompWarning, text, f"Compare one at a time: {first}.", key="several_measures", arguments=(first,))]
