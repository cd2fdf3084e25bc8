"""The answers to single questions that the Language Model Evaluation Harness logs: ``samples_*.jsonl``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.errors import Argument, ArgumentError, DroppedScoresWarning, Note, ScoreFileError, ScoreTableError
from hiercomp.files.formats.common import (
    chosen_measure,
    different_measures,
    error_of_file,
    file_text,
    files_among,
    is_double,
    one_or_more,
    refuse_absent_measures,
    refuse_other_measure,
    repeated_answers,
    text_options,
    unique_keys,
)
from hiercomp.files.mapping import Spec, mapped_again, tidy_frame
from hiercomp.scores.direction import lower_is_better
from hiercomp.wording import counted, first_names, shown

if TYPE_CHECKING:
    import pandas as pd

NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+))?")
PACKED = re.compile(r"\.jsonl(\.gz|\.bz2|\.xz|\.zip)?$")


def read_lm_eval_samples(
    path: str | Path | Sequence[str | Path],
    measure: str | None = None,
    *,
    also: str | Sequence[str] = (),
    roles: Mapping[str, Spec] | None = None,
    where: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Tidy scores of single questions: tasks are data sets, models algorithms, and questions folds.

    The questions of a task are answered by every model and share no training, so they are paired and rho is 0. Several
    files of a model and task, as of other seeds, are runs, in the order of their names. The model is called as the file's
    folder. Several answers to a question are not independent: pass ``groups="fold"`` to the comparison then.

    Parameters
    ----------
    path : path or sequence of paths
        ``samples_*.jsonl`` files, written with ``--log_samples``, or a folder with such files, also in folders within it.
    measure : str, optional
        Such as "acc" or, with its filter, "exact_match,strict-match"; needed where the tasks have several.
    also : str or sequence of str
        Further measures, kept as columns of their own names.
    roles, where : mapping, optional
        As for `hiercomp.read_scores`, of the columns dataset, algorithm, run and fold.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and rho.

    Raises
    ------
    ScoreFileError
        If a file is no such log, or models did not answer the same questions.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "gpt2", "samples_arc.jsonl")
    ...     file.parent.mkdir()
    ...     _ = file.write_text('{"doc_id": 0, "doc_hash": "a", "acc": 1.0, "metrics": ["acc"]}')
    ...     read_lm_eval_samples(folder)
      dataset algorithm  run  fold  score  rho
    0     arc      gpt2    1     0    1.0  0.0
    """
    text_options(measure=measure)
    files = sample_files([path] if isinstance(path, (str, Path)) else list(path))
    columns: dict[str, list[Any]] = {name: [] for name in ("dataset", "algorithm", "run", "fold", "score")}
    further: dict[str, list[Any]] = {name: [] for name in one_or_more("also", also)}
    hashes: dict[tuple[str, Any], tuple[Any, str]] = {}
    seen: dict[tuple[str, str], int] = {}
    without: list[str] = []
    every: set[str] = set()
    taken: dict[str, tuple[str, str]] = {}
    for file in files:
        task, model = _task(file), file.absolute().parent.name
        answers = _answers(file)
        measures = _measures(answers)
        if measure is not None and measure not in measures and not any(_base(name) == measure for name in measures):
            without.append(task)
            continue
        chosen = _chosen(measure, measures)
        refuse_other_measure(taken, task, chosen, shown(file))
        every.update(name for _, answer in answers for name, value in answer.items() if isinstance(value, (int, float)))
        seen[task, model] = run = seen.get((task, model), 0) + 1
        rows = {}
        for line, answer in answers:
            if not _is_of_filter(chosen, answer):
                continue
            number = answer.get(_base(chosen))
            if isinstance(number, bool) or not is_double(number):
                raise ScoreFileError(f"{shown(file)}, line {line}: {_base(chosen)!r} is {number!r:.60}, no number.")
            question = answer["doc_id"]
            if question in rows:
                raise ScoreFileError(
                    f"{shown(file)}, line {line}: question {question} is there twice.",
                    remedy="Say which filter with measure, such as measure='exact_match,strict-match'.",
                    arguments=(Argument("measure", "exact_match,strict-match"),),
                )
            rows[question] = (float(number), answer)
            proof = answer.get("doc_hash")
            other, origin = hashes.setdefault((task, question), (proof, shown(file)))
            if other != proof:
                raise ScoreFileError(
                    f"{shown(file)}, line {line}: question {question} of task {shown(task)!r} differs from the one in "
                    f"{origin}.",
                    remedy="Evaluate the models on the same version of the task.",
                )
        for question, (number, answer) in rows.items():
            for name, cell in zip(columns, (task, model, run, question, number), strict=True):
                columns[name].append(cell)
            for name, cells in further.items():
                value = answer.get(name)
                cells.append(float(value) if is_double(value) else float("nan"))
    if not columns["score"]:
        everything = sorted({name for file in files for name in _measures(_answers(file))})
        raise ArgumentError(
            f"No task has the measure {shown(measure)!r}.", remedy=f"There are: {first_names(everything)}."
        )
    refuse_absent_measures(further, every)
    chosen_measures = sorted({_base(name) for name, _ in taken.values()})
    notes = different_measures({name: not lower_is_better(name) for name in chosen_measures})
    if without:
        names = first_names(sorted(set(without)))
        text = f"Left out: {counted(len(without), 'file')} without the measure asked for: {names}."
        notes.append(Note(DroppedScoresWarning, text))
    notes += repeated_answers(max(seen.values()), "question")
    columns["rho"] = [0.0] * len(columns["score"])
    name = ", ".join(chosen_measures)
    frame = tidy_frame({**columns, **further}, format_name="lm_eval_samples", measure=name, notes=notes)
    return mapped_again(frame, roles, where, also=list(further))


def sample_files(paths: Sequence[str | Path]) -> list[Path]:
    """The files of questions among paths and in folders."""
    return files_among(paths, lambda folder: sorted(folder.rglob("samples_*.jsonl")), "samples_*.jsonl")


def _answers(file: Path) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for number, line in enumerate(file_text(file).split("\n"), 1):
        if not line.strip():
            continue
        try:
            answer = json.loads(line, object_pairs_hook=unique_keys)
        except ScoreTableError as error:
            raise error_of_file(f"{file}, line {number}", error) from None
        except (ValueError, RecursionError) as error:
            cause = getattr(error, "msg", type(error).__name__)
            raise ScoreFileError(f"{shown(file)}, line {number}: {cause}; it is not JSON, or cut short.") from None
        if not isinstance(answer, dict) or "doc_id" not in answer:
            raise ScoreFileError(
                f"{shown(file)}, line {number}: there is no doc_id; it is not a log of lm-eval's questions."
            )
        if not isinstance(answer["doc_id"], (str, int, float)):
            raise ScoreFileError(f"{shown(file)}, line {number}: doc_id is neither a number nor a text.")
        found.append((number, answer))
    if not found:
        raise ScoreFileError(f"{shown(file)} is empty.")
    return found


def _measures(answers: Sequence[tuple[int, Mapping[str, Any]]]) -> list[str]:
    """The measures of a file, with their filters where there are several."""
    names: list[str] = []
    filters: list[str] = []
    for _, answer in answers:
        listed = answer.get("metrics")
        kept = (
            listed if isinstance(listed, list) else [name for name, value in answer.items() if isinstance(value, float)]
        )
        names += [str(name) for name in kept if isinstance(answer.get(str(name)), (int, float))]
        filters.append(str(answer.get("filter", "none")))
    names, filters = list(dict.fromkeys(names)), list(dict.fromkeys(filters))
    return names if len(filters) == 1 else [f"{name},{one}" for name in names for one in filters]


def _chosen(measure: str | None, measures: Sequence[str]) -> str:
    if measure is None or measure in measures:
        return chosen_measure(measure, measures)
    return chosen_measure(None, [name for name in measures if _base(name) == measure])


def _base(measure: str) -> str:
    return measure.partition(",")[0]


def _is_of_filter(measure: str, answer: Mapping[str, Any]) -> bool:
    asked = measure.partition(",")[2]
    return not asked or str(answer.get("filter", "none")) == asked


def _task(file: Path) -> str:
    name = PACKED.sub("", file.name)
    match = NAME.fullmatch(name)
    return match["task"] if match else name
