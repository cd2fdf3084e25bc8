"""Result files (JSON) of the Language Model Evaluation Harness."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.errors import (
    Argument,
    ArgumentError,
    DroppedScoresWarning,
    HiercompWarning,
    Note,
    ScoreFileError,
    ScoreTableError,
    warn_caller,
)
from hiercomp.files.formats.common import (
    different_measures,
    error_of_file,
    file_text,
    files_among,
    lower_is_better_note,
    names_the_file,
    one_or_more,
    refuse_absent_measures,
    refuse_other_measure,
    text_options,
    unique_keys,
)
from hiercomp.files.mapping import Spec, mapped_again, tidy_frame
from hiercomp.scores.direction import lower_is_better
from hiercomp.wording import counted, first_names, nearest_name, shown

if TYPE_CHECKING:
    import pandas as pd

SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
MODEL_ARGUMENTS = ("pretrained", "peft", "delta", "model", "path", "engine")
NO_MEASURES = ("alias", "name", "sample_len", "samples", "sample_count")


@dataclass(frozen=True)
class _Evaluation:
    """What a file says: scores of one model with one choice of seeds."""

    path: str
    model: str
    seeds: tuple[str, ...]
    tasks: Mapping[str, Mapping[str, float]]  # measures such as "acc,none"
    higher_is_better: Mapping[str, bool]  # of measures without filter, where the file tells
    groups: tuple[str, ...]


def read_lm_eval(
    path: str | Path | Sequence[str | Path],
    measure: str | Mapping[str, str] | None = None,
    *,
    also: str | Sequence[str] = (),
    roles: Mapping[str, Spec] | None = None,
    where: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Tidy scores of result files, with tasks as data sets and models as algorithms.

    Several files of a model with other seeds are runs; rho is 0, since they share no training. Groups such as "mmlu", which
    are averages of their tasks, are left out.

    Parameters
    ----------
    path : path or sequence of paths
        ``results_*.json`` files, or a folder, whose files of that name are read, also those in folders within it.
    measure : str or mapping from task to str, optional
        Such as "acc" or, with its filter, "exact_match,strict-match"; needed where tasks have several.
    also : str or sequence of str
        Further measures, kept as columns of their own names.
    roles, where : mapping, optional
        As for `hiercomp.read_scores`, of the columns dataset, algorithm, run and fold.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and rho; run counts the different seeds.

    Raises
    ------
    ScoreFileError
        If a file is no such result, or two files hold the same model, task and seeds.

    Warns
    -----
    DroppedScoresWarning
        If groups, or tasks without the measure, are left out.

    Examples
    --------
    >>> import tempfile
    >>> results = {"arc_easy": {"acc,none": 0.44, "acc_stderr,none": 0.01}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "results_2026-03-01.json")
    ...     _ = path.write_text(json.dumps({"results": results, "model_name": "gpt2"}))
    ...     read_lm_eval(path, "acc")
        dataset algorithm  run  fold  score  rho
    0  arc_easy      gpt2    1     1   0.44  0.0
    """
    if not isinstance(measure, Mapping):
        text_options(measure=measure)
    elif not all(isinstance(name, str) for name in measure.values()):
        raise ArgumentError(f"measure must map tasks to names of measures, got {measure!r}.")
    files = _files([path] if isinstance(path, (str, Path)) else list(path))
    evaluations = [_evaluation(file) for file in files]
    seeds = {seeds: number + 1 for number, seeds in enumerate(sorted({found.seeds for found in evaluations}))}
    taken: dict[str, tuple[str, str]] = {}
    without: list[str] = []
    origin: dict[tuple[str, str, int], str] = {}
    rows: list[dict[str, Any]] = []
    for found in evaluations:
        for task, values in found.tasks.items():
            if isinstance(measure, Mapping) and task not in measure:
                without.append(task)
                continue
            key = _key(values, measure[task] if isinstance(measure, Mapping) else measure, task, found.path)
            if key is None:
                without.append(task)
                continue
            place = (task, found.model, seeds[found.seeds])
            if place in origin:
                raise ScoreFileError(
                    f"{found.path}: task {shown(task)!r} of model {shown(found.model)!r} is in {origin[place]} too, with "
                    "the same seeds.",
                    remedy="Keep one of the files, or run them with different seeds.",
                )
            origin[place] = found.path
            refuse_other_measure(taken, task, key, found.path)
            row = {
                "dataset": task,
                "algorithm": found.model,
                "run": place[2],
                "fold": 1,
                "score": values[key],
                "rho": 0.0,
            }
            for other in one_or_more("also", also):
                further = _key(values, other, task, found.path)
                row[other] = float("nan") if further is None else values[further]
            rows.append(row)
    if not rows:
        everything = sorted({key for found in evaluations for values in found.tasks.values() for key in values})
        near = [*(key.split(",")[0] for key in everything), *everything]
        raise ArgumentError(
            f"No task has the measure {shown(measure)!r}.",
            remedy=f"{nearest_name(str(measure), near)} There are: {first_names(everything)}.".strip(),
        )
    keys = {key for found in evaluations for values in found.tasks.values() for key in values}
    refuse_absent_measures(one_or_more("also", also), keys | {key.split(",")[0] for key in keys})
    measures = {key for key, _ in taken.values()}
    losses = _losses(evaluations, measures)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    try:
        notes = _notes(evaluations, without, measures, losses)
        frame = tidy_frame(columns, format_name="lm_eval", notes=notes)
    except ScoreTableError as error:
        raise error_of_file(_sources(files), error) from None
    frame.attrs["measure"] = ", ".join(sorted(measures))
    frame.attrs["higher_is_better"] = not losses
    if losses:
        warn_caller([lower_is_better_note(losses)])
    return mapped_again(frame, roles, where, also=list(one_or_more("also", also)))


def readable_files(path: str | Path, collected: list[ScoreFileError]) -> list[Path]:
    """The result files of a folder that can be read; the errors of the others are added to a list."""
    good = []
    for file in _files([path]):
        try:
            _evaluation(file)
            good.append(file)
        except ScoreFileError as error:
            collected.append(error)
    return good


def parsed_json(text: str, path: str | Path) -> Any:
    """A JSON text; nesting, numbers and keys that Python's parser can't take are errors of the file."""
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        raise ScoreFileError(
            f"{shown(path)}, line {error.lineno}: {error.msg}; it is not JSON, or cut short."
        ) from error
    except ScoreTableError:
        raise
    except RecursionError:
        raise ScoreTableError("it is nested too deeply to be a result file.") from None
    except ValueError as error:  # such as a number of thousands of digits
        raise ScoreTableError(f"{str(error).splitlines()[0].rstrip('.')}.") from error


def _files(paths: Sequence[str | Path]) -> list[Path]:
    return files_among(paths, lambda folder: sorted(folder.rglob("results_*.json")), "results_*.json")


@names_the_file
def _evaluation(path: Path) -> _Evaluation:
    content = parsed_json(file_text(path), path)
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, dict) or not results or not all(isinstance(value, dict) for value in results.values()):
        raise ScoreTableError(
            "it is not a result file of lm-eval: it has no object 'results' with an object for each task."
        )
    config, subtasks, grouped, directions = (
        content[name] if isinstance(content.get(name), dict) else {}
        for name in ("config", "group_subtasks", "groups", "higher_is_better")
    )
    # A group that was asked for lists its tasks; a task stands there with an empty list
    groups = [name for name in results if name in grouped or subtasks.get(name)]
    tasks = {name: _measures(values, name) for name, values in results.items() if name not in groups}
    tasks = {name: values for name, values in tasks.items() if values}
    if not tasks:
        raise ScoreTableError(f"no task has a measure; only groups are left ({first_names(groups)}).")
    direction: dict[str, bool] = {}
    for task, values in directions.items():
        if task in tasks and isinstance(values, dict):
            direction |= {name: value for name, value in values.items() if isinstance(value, bool)}
    seeds = tuple(str(config.get(name)) for name in SEEDS)
    return _Evaluation(shown(path), _model(content, config), seeds, tasks, direction, tuple(groups))


def _measures(values: Mapping[str, Any], task: str) -> dict[str, float]:
    """The numbers of a task that are scores: no standard errors and no labels."""
    found = {}
    for name, value in values.items():
        if name.split(",")[0].endswith("_stderr") or name in NO_MEASURES:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            if value in ("N/A", None, " ", ""):
                continue
            raise ScoreTableError(f"{shown(name)!r} of task {shown(task)!r} is {shown(value)!r:.60}, no number.")
        try:
            found[name] = float(value)
        except OverflowError:
            raise ScoreTableError(f"{shown(name)!r} of task {shown(task)!r} is too large a number.") from None
    return found


def _model(content: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    name = content.get("model_name")
    if isinstance(name, str) and name.strip():
        return name
    arguments = config.get("model_args")
    if isinstance(arguments, str):  # "pretrained=gpt2,dtype=float16"
        arguments = dict(part.partition("=")[::2] for part in arguments.split(","))
    if isinstance(arguments, dict):
        for key in MODEL_ARGUMENTS:
            if isinstance(arguments.get(key), str) and arguments[key]:
                return str(arguments[key])
    raise ScoreTableError(
        "neither model_name nor config.model_args says which model this is.", remedy="Add model_name."
    )


def _key(values: Mapping[str, float], measure: str | None, task: str, path: str) -> str | None:
    """The measure of a task that is meant; None where the task lacks it."""
    if measure in values:
        return measure
    fits = [name for name in values if measure is None or name.split(",")[0] == measure]
    if len(fits) > 1:
        raise ScoreFileError(
            f"{shown(path)}: task {shown(task)!r} has several measures: {first_names(fits)}.",
            remedy=f"Say which with {Argument('measure', fits[0])}.",
            arguments=(Argument("measure", fits[0]),),
        )
    return fits[0] if fits else None


def _losses(evaluations: Sequence[_Evaluation], measures: set[str]) -> list[str]:
    """Measures whose lower values are better, by the files or by their names."""
    higher = {name: value for found in evaluations for name, value in found.higher_is_better.items()}
    return sorted(name for name in measures if not higher.get(name.split(",")[0], not lower_is_better(name)))


def _notes(
    evaluations: Sequence[_Evaluation], without: Sequence[str], measures: set[str], losses: Sequence[str]
) -> list[Note]:
    notes = []
    groups = sorted({name for found in evaluations for name in found.groups})
    if groups:
        text = f"Left out: {counted(len(groups), 'group')} (averages of their tasks): {first_names(groups)}."
        notes.append(Note(DroppedScoresWarning, text))
    if without:
        missing = sorted(set(without))
        text = f"Left out: {counted(len(missing), 'task')} without the measure asked for: {first_names(missing)}."
        notes.append(Note(DroppedScoresWarning, text))
    notes += different_measures({name: name not in losses for name in sorted(measures)})
    if len({found.seeds for found in evaluations}) > 1:
        text = "Evaluations with other seeds answer the same questions, so their spread says nothing about other questions."
        named = Argument("format", "lm_eval_samples")
        remedy = f"The answers to single questions do (--log_samples, {named})."
        notes.append(Note(HiercompWarning, text, remedy, key="seeds", quiet=True, arguments=(named,)))
    return notes


def _sources(files: Sequence[Path]) -> str:
    return str(files[0]) + (f" and {len(files) - 1} more files" if len(files) > 1 else "")
