"""The logs of Inspect (inspect_ai): ``.eval`` and JSON files with the scores of single samples."""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.errors import HiercompWarning, Note, ScoreFileError, ScoreTableError
from hiercomp.files.content import reading_errors, too_large
from hiercomp.files.formats.common import (
    LARGEST_TEXT,
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
from hiercomp.wording import counted, shown

if TYPE_CHECKING:
    import pandas as pd

ENDING = ".eval"
BEGINNING = re.compile(r'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')
ZSTANDARD = 93  # the compression of newer logs, which zipfile reads from Python 3.14 on
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}  # Inspect's own


def read_inspect(
    path: str | Path | Sequence[str | Path],
    measure: str | None = None,
    *,
    also: str | Sequence[str] = (),
    roles: Mapping[str, Spec] | None = None,
    where: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Tidy scores of single samples: tasks are data sets, models algorithms, samples folds, and epochs runs.

    The samples of a task are answered by every model and share no training, so they are paired and rho is 0. Epochs are
    several answers to one sample; then pass ``groups="fold"`` to the comparison. Inspect's grades C, P, I and N count as
    1, 0.5, 0 and 0. A sample without a score, such as after an error, is missing.

    Parameters
    ----------
    path : path or sequence of paths
        ``.eval`` or JSON logs, or a folder with ``.eval`` files, also in folders within it.
    measure : str, optional
        A scorer such as "match", or a value of one with several, "judge.style"; needed where there are several.
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
        If a file is no such log, or models did not answer the same samples.

    Examples
    --------
    >>> import tempfile
    >>> log = {"version": 2, "status": "success", "eval": {"task": "arc", "model": "openai/gpt"}}
    >>> log["samples"] = [{"id": "q1", "epoch": 1, "input": "2 + 2?", "scores": {"match": {"value": "C"}}}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "log.json")
    ...     _ = file.write_text(json.dumps(log))
    ...     read_inspect(file)
      dataset   algorithm  run fold  score  rho
    0     arc  openai/gpt    1   q1    1.0  0.0
    """
    text_options(measure=measure)
    files = log_files([path] if isinstance(path, (str, Path)) else list(path))
    columns: dict[str, list[Any]] = {name: [] for name in ("dataset", "algorithm", "run", "fold", "score")}
    further: dict[str, list[Any]] = {name: [] for name in one_or_more("also", also)}
    inputs: dict[tuple[str, Any, str], tuple[Any, str]] = {}
    epochs: dict[tuple[str, str], int] = {}
    unfinished, every = [], set[str]()
    taken: dict[str, tuple[str, str]] = {}
    for file in files:
        task, model, status, samples = _log(file)
        unfinished += [] if status == "success" else [f"{shown(file)} ({status})"]
        measures = list(dict.fromkeys(name for sample in samples for name in _values(sample)))
        if not measures:
            raise ScoreFileError(f"{shown(file)}: no sample has a score.")
        every.update(measures)
        refuse_other_measure(taken, task, chosen := chosen_measure(measure, measures), shown(file))
        before = epochs.get((task, model), 0)
        for sample in samples:
            question, asked = sample["id"], sample.get("input")
            other, origin = inputs.setdefault((task, question, file.suffix), (asked, shown(file)))
            if other != asked:
                raise ScoreFileError(
                    f"{shown(file)}: sample {shown(question)!r} of task {shown(task)!r} differs from the one in {origin}.",
                    remedy="Evaluate the models on the same version of the task.",
                )
            run, values = before + sample.get("epoch", 1), _values(sample)
            epochs[task, model] = max(run, epochs.get((task, model), 0))
            cells = (task, model, run, question, _number(values.get(chosen), file, question))
            for name, cell in zip(columns, cells, strict=True):
                columns[name].append(cell)
            for name, found in further.items():
                found.append(_number(values.get(name), file, question))
    refuse_absent_measures(further, every)
    columns["rho"] = [0.0] * len(columns["score"])
    scorers = sorted({name for name, _ in taken.values()})
    notes = [*_unfinished(unfinished), *different_measures({name: not lower_is_better(name) for name in scorers})]
    notes += repeated_answers(max(epochs.values()), "sample")
    frame = tidy_frame({**columns, **further}, format_name="inspect", measure=", ".join(scorers), notes=notes)
    return mapped_again(frame, roles, where, also=list(further))


def is_log(path: Path) -> bool:
    """Whether a file is a log of Inspect, by its name and its beginning."""
    try:
        with path.open("rb") as stream:
            start = stream.read(4096)
    except OSError:
        return False
    if path.suffix == ENDING:
        return start.startswith(b"PK\x03\x04")
    return BEGINNING.match(start.decode("utf-8-sig", errors="replace")) is not None


def log_files(paths: Sequence[str | Path]) -> list[Path]:
    """The logs among paths and in folders."""

    def inside(folder: Path) -> list[Path]:
        return sorted(folder.rglob(f"*{ENDING}")) or [one for one in sorted(folder.rglob("*.json")) if is_log(one)]

    return files_among(paths, inside, "log of Inspect")


def _log(file: Path) -> tuple[str, str, str, list[dict[str, Any]]]:
    """Task, model, status and samples of a log."""
    try:
        if file.suffix == ENDING:
            header, samples = _packed(file)
        else:
            header = json.loads(file_text(file), object_pairs_hook=unique_keys)
            samples = header["samples"]
        about = header["eval"]
        task, model, status = str(about["task"]), str(about["model"]), str(header["status"])
        if not samples or not all(map(_is_sample, samples)):
            raise ScoreFileError(f"{shown(file)}: it has no samples, or damaged ones.")
    except ScoreFileError:
        raise
    except ScoreTableError as error:
        raise error_of_file(str(file), error) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        cause = getattr(error, "msg", type(error).__name__)
        raise ScoreFileError(f"{shown(file)}: {cause}; it is not an Inspect log, or it is cut short.") from None
    return task, model, status, samples


def _is_sample(sample: Any) -> bool:
    return (
        isinstance(sample, dict)
        and isinstance(sample.get("id"), (str, int))
        and isinstance(sample.get("epoch", 1), int)
        and isinstance(sample.get("scores") or {}, dict)
    )


def _packed(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header of an ``.eval`` file, and the summaries of its samples, which have every score."""
    with reading_errors(shown(file)), zipfile.ZipFile(file) as archive, file.open("rb") as stream:
        names = set(archive.namelist())
        if not {"header.json", "summaries.json"} <= names:
            raise ScoreFileError(
                f"{shown(file)}: the evaluation was not finished, so the log has no summary of its samples."
            )
        header, samples = (
            json.loads(_member(archive.getinfo(name), archive, stream, shown(file)), object_pairs_hook=unique_keys)
            for name in ("header.json", "summaries.json")
        )
    return header, samples


def _member(member: zipfile.ZipInfo, archive: zipfile.ZipFile, stream: Any, file: str) -> bytes:
    """What a file of an archive holds, at most as much as it says."""
    if member.file_size > LARGEST_TEXT:
        raise too_large(file, LARGEST_TEXT)
    if member.compress_type != ZSTANDARD:
        with archive.open(member) as content:
            return content.read(member.file_size)
    import pyarrow as pa

    stream.seek(member.header_offset)
    local = stream.read(30)  # its header ends in the lengths of the name and of a further field, which follow
    stream.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), os.SEEK_CUR)
    packed = stream.read(member.compress_size)
    content = pa.Codec("zstd").decompress(packed, decompressed_size=member.file_size, asbytes=True)
    if zlib.crc32(content) != member.CRC:
        raise ScoreFileError(f"{file} is damaged: the checksum of {member.filename} is wrong.")
    return bytes(content)


def _values(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a sample by measure: the scorer, and its key where a scorer has several values."""
    found: dict[str, Any] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            found |= {f"{scorer}.{key}": part for key, part in value.items()}
        else:
            found[str(scorer)] = value
    return found


def _number(value: Any, file: Path, question: Any) -> float:
    """A value as Inspect counts it; NaN if there is none."""
    if value is None:
        return float("nan")
    if is_double(value):
        return float(value)
    if isinstance(value, str):
        if (grade := GRADES.get(value, GRADES.get(value.casefold()))) is not None:
            return grade
        try:
            return float(value)
        except ValueError:
            pass
    raise ScoreFileError(
        f"{shown(file)}: the score of sample {shown(question)!r} is {value!r:.60}, no number and no grade."
    )


def _unfinished(logs: Sequence[str]) -> list[Note]:
    if not logs:
        return []
    text = f"{counted(len(logs), 'log', 'is')} of an evaluation that did not succeed (first: {logs[0]})."
    return [Note(HiercompWarning, text, "Samples without a score are missing.", key="unfinished")]
