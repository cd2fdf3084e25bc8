"""Files of scores as tidy tables: which format a file has, and who reads it."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.errors import Argument, ArgumentError, HiercompWarning, Note, ScoreFileError, ScoreTableError, warn_caller
from hiercomp.files.content import first_bytes, refuse_other_kinds
from hiercomp.files.formats.arrays import from_score_arrays
from hiercomp.files.formats.common import (
    LAYOUT_OPTIONS,
    column_roles,
    different_measures,
    error_of_file,
    file_head,
    header_names,
    names_the_file,
    one_or_more,
    read_table,
    refuse_opposite_directions,
    rho_of_folds,
    with_plain_names,
)
from hiercomp.files.formats.inspect_logs import ENDING, is_log, read_inspect
from hiercomp.files.formats.lm_eval import read_lm_eval
from hiercomp.files.formats.lm_eval_samples import read_lm_eval_samples
from hiercomp.files.formats.mlflow import read_mlflow
from hiercomp.files.formats.mlr3 import read_mlr3
from hiercomp.files.formats.sklearn_results import from_cross_validate, from_grid_search, read_grid_search
from hiercomp.files.formats.tidymodels import read_tidymodels
from hiercomp.files.formats.weka import read_weka
from hiercomp.files.formats.wide import from_wide
from hiercomp.files.mapping import Spec, checked_frame, is_pattern_of_names, kept_rows, map_table, plain_roles
from hiercomp.files.other_kinds import is_stream, other_table, renamed_notes, spooled
from hiercomp.files.presets import PRESET_READERS, PRESETS, averages_of, has, preset_of
from hiercomp.files.proposal import proposal
from hiercomp.files.table import PARQUET, parquet_names, read_score_file
from hiercomp.scores.direction import lower_is_better
from hiercomp.scores.problems import SMALLEST_N
from hiercomp.scores.table import PLACES, ROLES, is_number_text, role_of, to_pandas
from hiercomp.wording import cells_in_words, counted, first_names, nearest_name, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "IMPORTERS",
    "from_cross_validate",
    "from_grid_search",
    "from_score_arrays",
    "from_wide",
    "read_inspect",
    "read_lm_eval",
    "read_lm_eval_samples",
    "read_mlflow",
    "read_mlr3",
    "read_scores",
    "read_tidymodels",
    "read_weka",
]

SEVERAL_FILES = ("lm_eval", "lm_eval_samples", "inspect")  # formats whose importers read several files together
TABLE_ENDINGS = (
    *(".csv", ".tsv", ".tab", ".parquet", ".feather", ".arrow", ".ipc", ".arff", ".json", ".jsonl", ".ndjson"),
    *(".xlsx", ".xls", ".ods"),
)
PACKED = (".gz", ".bz2", ".xz", ".zip")


@names_the_file
def _read_tidy(
    source: Any,
    *,
    roles: Mapping[str, Spec | None] | None = None,
    file: str | Path | None = None,
    where: Mapping[str, Any] | None = None,
    folds: int | None = None,
    measure: str | None = None,
    also: str | Sequence[str] = (),
    **layout: Any,
) -> pd.DataFrame:
    """A table with one row for each score."""
    if isinstance(source, (str, Path)):  # in a large file names stay categorical
        table, file = read_score_file(source, _column_names(roles or {}), **layout), source if file is None else file
    else:
        table = read_table(source, {}, layout)
    return map_table(table, roles, file=file, where=where, folds=folds, measure=measure, also=also)


#: What reads a file of each format.
IMPORTERS: Mapping[str, Callable[..., pd.DataFrame]] = MappingProxyType(
    {
        "tidy": _read_tidy,
        "wide": from_wide,
        "weka": read_weka,
        "mlr3": read_mlr3,
        "tidymodels": read_tidymodels,
        "mlflow": read_mlflow,
        "lm_eval": read_lm_eval,
        "lm_eval_samples": read_lm_eval_samples,
        "inspect": read_inspect,
        "sklearn": read_grid_search,
        **PRESET_READERS,
    }
)

#: Columns by which the tables of tools are recognised that need more than a mapping; * stands for any text.
TOOL_COLUMNS = {
    "weka": ("Key_Dataset", "Key_Run", "Key_Scheme"),
    "mlr3": ("task_id", "learner_id", "iteration"),
    "tidymodels": (".metric", ".estimate", "id"),
    "mlflow": ("run_id", "metrics.*"),
    "sklearn": ("params", "split0_test_*"),
}
HIDDEN = frozenset(("file", "roles", "name", "source"))  # arguments of importers that are none of the caller's
BY_ROLES = ("tidy", *PRESETS)  # formats that `map_table` reads


def read_scores(
    path: Any,
    *,
    format: str = "auto",
    dataset: Spec | None = None,
    algorithm: Spec | None = None,
    run: Spec | None = None,
    fold: Spec | None = None,
    score: Spec | None = None,
    rho: Spec | None = None,
    where: Mapping[str, Any] | None = None,
    folds: int | None = None,
    measure: Any = None,
    also: str | Sequence[str] = (),
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
    percent: bool = False,
    largest_bytes: int | None = None,
    **options: Any,
) -> pd.DataFrame:
    r"""Scores of a file or frame in any of the formats of `IMPORTERS`, recognised by its content, as a tidy table.

    What the names of columns do not tell is said by the six roles: dataset, algorithm, run, fold, score and rho. They
    mean the same in every format:

    ======================================  ===========================================================================
    ``dataset="task"``                      the column that holds them
    ``algorithm=["framework", "version"]``  several columns, whose cells are joined by a space
    ``dataset="=iris"``                     no column: this name in every row
    ``fold="Fold{fold}.Rep{run}@id"``       parts of the cells of a column
    ``algorithm="{algorithm}~Accuracy"``    parts of the names of columns, which hold the scores: a wide table
    ``dataset="{stem}"``                    the file's name without its ending; ``"{folder}"`` that of its folder
    ======================================  ===========================================================================

    Parameters
    ----------
    path : path, data frame, or sequence of these
        A file; ``"-"`` for standard input; a folder or several files, which are read one by one and joined.
    format : str
        "auto", or one of `IMPORTERS`.
    dataset, algorithm, run, fold, score, rho : str, sequence of str or number, optional
        What plays each role, as in the table above; rho may be a number.
    where : mapping from column to value or values, optional
        Only these rows are read, such as ``{"mode": "aws"}``.
    folds : int, optional
        Folds of a run, where the table counts through all runs.
    measure : str, optional
        Which measure, where the file has several.
    also : str or sequence of str
        Further columns to keep; for tables, ``"*"`` keeps all.
    encoding : str, optional
        Of text; by default UTF-8, or UTF-16 with its mark.
    separator : str, optional
        Between cells; by default found in the first rows.
    decimal : str
        The decimal sign.
    percent : bool
        Take cells such as ``91%`` and divide them by 100.
    largest_bytes : int, optional
        Limit on the size of a table, decompressed; by default 4 GB, and for packed files, Parquet, Arrow and Excel 100
        times the stored size, or 64 MB if that is more. A text table is read in parts of 32 MB, which need
        up to 400 MB while they are at work. The table takes 4 bytes for each cell of text or of a whole number and 8 for
        each of any other number, briefly 1.5 times that: 4 GB for 100 million rows of dataset, algorithm, run, fold and
        score. In files of more than 32 MB columns of text are categorical.
    **options
        Further arguments of the importer of the format, such as ``fraction`` of `read_weka`.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score, rho where it is known, and those of ``also``. In ``attrs`` are
        "format"; "notes", what was left out or assumed; "mapping", the table's names of the roles; and, where they are
        known, "measure" and "higher_is_better".

    Raises
    ------
    ScoreFileError
        If the file is damaged, or its format is not recognised or not clear; the message says how to name the columns.
    ScoreTableError
        The same of a frame.
    ArgumentError
        If an option is not one of the format.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("problem,fold,who,auc,loss\niris,1,tree,0.9,0.2\niris,1,bayes,0.8,0.3\n")
    ...     scores = read_scores(path, algorithm="who", score="auc")
    >>> scores.attrs["format"], scores.attrs["mapping"]["dataset"]
    ('tidy', 'problem')
    >>> scores
      dataset algorithm  run  fold  score
    0    iris      tree    1     1    0.9
    1    iris     bayes    1     1    0.8
    """
    layout: dict[str, Any] = {"encoding": encoding, "separator": separator, "decimal": decimal, "percent": percent}
    layout["largest_bytes"] = largest_bytes
    layout = {name: value for name, value in layout.items() if value not in (None, ".", False)}
    roles = {"dataset": dataset, "algorithm": algorithm, "run": run, "fold": fold, "score": score, "rho": rho}
    given = {role: spec for role, spec in roles.items() if spec is not None}
    others: dict[str, Any] = {"where": where, "folds": folds, "measure": measure}
    others = {name: value for name, value in others.items() if value is not None} | options
    also = one_or_more("also", also)
    if also:
        others["also"] = also if also != ("*",) else "*"
    for name in HIDDEN.intersection(options):
        raise ArgumentError(f"read_scores has no option {name!r}.")
    if format not in ("auto", *IMPORTERS):
        raise ArgumentError(
            f"format must be auto or one of {', '.join(IMPORTERS)}, got {shown(format)!r}.",
            remedy=nearest_name(format, IMPORTERS).strip(),
        )
    if is_stream(path):
        with spooled(path, largest_bytes) as file:
            return renamed_notes(_read_one(file, format, given, others, layout), file, path)
    files = several_files(path, format)
    if files is not None:
        return _joined(files, format, given, others, layout)
    return _read_one(path, format, given, others, layout)


def recognised_format(
    path: Any,
    roles: Mapping[str, Spec] | None = None,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """The format of a file or frame, by its beginning and by the roles that are given.

    Raises
    ------
    ScoreFileError, ScoreTableError
        If it is not a known one, or could be several.
    """
    roles, options = roles or {}, options or {}
    if not isinstance(path, (str, Path)):
        if isinstance(path, (list, tuple)):
            return recognised_format(path[0], roles, encoding=encoding, separator=separator, options=options)
        frame = with_plain_names(to_pandas(path))
        no_numbers = {str(name) for name in frame.columns if frame[name].dtype.kind not in "fiu"}
        return _format_of_table(None, [str(name) for name in frame.columns], no_numbers, roles, options, frame)
    if os.path.isdir(path):
        if any(Path(path).rglob("results_*.json")):
            return "lm_eval"
        return "lm_eval_samples" if any(Path(path).rglob("samples_*.jsonl")) else "inspect"
    if is_log(Path(path)):
        return "inspect"
    head = file_head(path, encoding)
    refuse_other_kinds(first_bytes(path), shown(path), separated=separator is not None)
    start = next((line.strip() for line in head.split("\n") if line.strip() and not line.startswith("%")), "")
    if start.startswith("{"):
        if '"doc_id"' in start and ('"doc_hash"' in start or '"resps"' in start):
            return "lm_eval_samples"
        return "lm_eval"  # JSON with columns or records was read before
    if start.casefold().startswith(("@relation", "@attribute")):
        return "weka"
    text: set[str] | None = None
    if head.startswith(PARQUET.decode()):
        names, text = parquet_names(Path(path), shown(path))
    else:
        names = header_names(head, separator)
    return _format_of_table(path, names, text, roles, options, None)


def several_files(path: Any, format: str = "auto") -> list[Any] | None:
    """The files of a list or of a folder that are read one by one; None where one importer takes them all.

    Raises
    ------
    ScoreFileError, ArgumentError
        If there is none.
    """
    if isinstance(path, (list, tuple)):
        if not path:
            raise ArgumentError("path must name at least one file.")
        if format in SEVERAL_FILES:
            return None
        if format != "auto":
            return list(path)
        first = path[0]
        if isinstance(first, (str, Path)) and _is_evaluation(Path(first)):
            return None
        return [file for one in path for file in several_files(one) or [one]]
    if not isinstance(path, (str, Path)) or not os.path.isdir(path):
        return None
    folder = Path(path)
    if format in SEVERAL_FILES or (format == "auto" and _evaluations(folder)):
        return None
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and _is_table(file)]
    if not files:
        if format == "auto":
            raise ScoreFileError(
                f"{shown(path)}: there is no results_*.json in this folder, and no table.",
                remedy=f"Name a file, or a folder with files that end in {', '.join(TABLE_ENDINGS[:5])} and the like.",
            )
        raise ScoreFileError(f"{shown(path)}: there is no table in this folder.")
    return list(files)


def _is_evaluation(path: Path) -> bool:
    """Whether a file or folder is of a tool whose importer reads several files together."""
    if os.path.isdir(path):
        return _evaluations(path)
    return is_log(path) or (other_table(path, None) is None and recognised_quietly(path) in SEVERAL_FILES)


def recognised_quietly(path: Any) -> str | None:
    """The format of a file, or None."""
    try:
        return recognised_format(path)
    except (ScoreFileError, ScoreTableError):
        return None


def _read_one(
    source: Any, format: str, given: dict[str, Spec], others: dict[str, Any], layout: dict[str, Any]
) -> pd.DataFrame:
    """The scores of one file or frame."""
    path = source if isinstance(source, (str, Path)) else None
    table = source
    if path is not None and not os.path.isdir(path) and not is_log(Path(path)):
        found = other_table(path, layout.get("largest_bytes"))
        if found is not None:
            table = found
    if table is not path:
        unused = [name for name in ("decimal", "percent") if name in layout]
        if unused:
            raise ArgumentError(
                f"{unused[0]} is about text files, and {'this is a frame' if path is None else shown(path) + ' is none'}.",
                remedy="Make the column of scores numbers.",
            )
        layout = {}
    try:
        if format == "auto":
            about = {name: layout[name] for name in ("encoding", "separator") if name in layout}
            format = recognised_format(table, given, **about, options=others)
        scores = _imported(table, path, format, given, others, layout)
        if format == "lm_eval" and path is not None and scores["run"].nunique() < SMALLEST_N:
            _point_to_questions(scores, Path(path))
        return scores
    except ScoreTableError as error:
        if path is None:
            raise
        raise error_of_file(str(path), error) from None
    except RecursionError as error:
        raise ScoreFileError(f"{shown(path)}: too deep to be read as {format}.") from error
    except MemoryError as error:
        raise ScoreFileError(
            f"{shown(path)}: there is not enough memory to read it as {format}.",
            remedy="Free some memory, or read a smaller file.",
        ) from error


def _imported(
    table: Any,
    path: str | Path | None,
    format: str,
    given: dict[str, Spec],
    others: dict[str, Any],
    layout: dict[str, Any],
) -> pd.DataFrame:
    """The scores of a source whose format is known."""
    if format in BY_ROLES or (format == "wide" and any(map(is_pattern_of_names, given.values()))):
        _check_options(format if format in BY_ROLES else "tidy", {**layout, **others})
        reader = IMPORTERS[format if format in BY_ROLES else "tidy"]
        tidy = reader(table, roles=given, file=path, **others, **layout)
        tidy.attrs["format"] = format
        return checked_frame(tidy) if format == "wide" else tidy
    others = dict(others)
    if format not in ("weka", *SEVERAL_FILES):
        if "score" in given and format != "wide":
            _refuse_both(given["score"], others)
            others.setdefault("measure", given.pop("score") if isinstance(given["score"], str) else None)
        if format == "wide" and isinstance(given.get("algorithm"), (list, tuple)):  # the columns with the scores
            others["algorithms"] = given.pop("algorithm")
        if (
            isinstance(given.get("rho"), str)
            and str(given["rho"]).startswith("=")
            and is_number_text(str(given["rho"])[1:])
        ):
            given["rho"] = float(str(given["rho"])[1:])
        where = others.pop("where", None)
        if where or any(not _is_name(spec) for role, spec in given.items() if role != "rho"):
            table = kept_rows(read_table(table, _column_names(given), layout), where)
            table, given = plain_roles(table, given, path)
            layout = {}
    elif "score" in given:
        _refuse_both(given["score"], others)
        others.setdefault("measure", given.pop("score"))
    if format == "wide":
        others["file"] = path
    elif format in ("weka", *SEVERAL_FILES):
        others |= {"roles": given} if given else {}
        given = {}
    _check_options(format, {**layout, **given, **others})
    return IMPORTERS[format](table, **given, **others, **layout)


def _refuse_both(score: Spec, others: Mapping[str, Any]) -> None:
    """For a tool's format ``score`` names the measure, as ``measure`` does."""
    if others.get("measure", score) != score:
        raise ArgumentError(
            f"score={score!r} and measure={others['measure']!r} were both given.", remedy="Pass one of them."
        )


def _point_to_questions(scores: pd.DataFrame, path: Path) -> None:
    """Say that the answers to single questions are there, where evaluations are too few for the model."""
    if path.is_dir() and any(path.rglob("samples_*.jsonl")):
        text = f"A comparison needs {SMALLEST_N} seeds or more; the folder also holds the answers to single questions."
        named = Argument("format", "lm_eval_samples")
        note = Note(HiercompWarning, text, f"To compare these, pass {named}.", key="questions", arguments=(named,))
        scores.attrs["notes"] = [*scores.attrs["notes"], note.text]
        warn_caller([note])


def _joined(
    files: Sequence[Any], format: str, given: dict[str, Spec], others: dict[str, Any], layout: dict[str, Any]
) -> pd.DataFrame:
    """The scores of several files, one below the other."""
    import pandas as pd

    frames = []
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", HiercompWarning)
        for file in files:
            frames.append(_read_one(file, format, dict(given), dict(others), dict(layout)))
    for warning in {str(one.message): one for one in raised}.values():
        warnings.warn(warning.message, warning.category, stacklevel=3)
    if any("rho" in frame.columns for frame in frames):
        for frame in frames:
            if "rho" not in frame.columns:
                frame["rho"] = rho_of_folds(frame["dataset"], frame["run"], frame["fold"])
    names = [shown(one) if isinstance(one, (str, Path)) else f"frame {number + 1}" for number, one in enumerate(files)]
    notes = _of_one_measure(frames, names)
    tidy = pd.concat(frames, ignore_index=True)
    repeated = tidy.duplicated(list(PLACES), keep=False).to_numpy()
    if repeated.any():
        origin = np.repeat(np.arange(len(frames)), [len(frame) for frame in frames])
        holding = [names[number] for number in np.unique(origin[repeated])]
        count = len(tidy.loc[repeated, list(PLACES)].drop_duplicates())
        raise ScoreTableError(
            f"{counted(count, 'cell', 'has')} more than one score (first: {cells_in_words(tidy, repeated, 'score')}), in "
            f"{first_names(holding)}.",
            remedy="If each file is one data set, pass dataset='{stem}'; if each is a run, run='{stem}'.",
            arguments=(Argument("dataset", "{stem}"), Argument("run", "{stem}")),
            key="duplicate_scores",
        )
    first = frames[0].attrs
    same = {name: first[name] for name in first if all(frame.attrs.get(name) == first[name] for frame in frames)}
    said = list(dict.fromkeys(note for frame in frames for note in frame.attrs["notes"]))
    said += [note.text for note in notes]
    tidy.attrs = {"format": first["format"], "mapping": first["mapping"], **same, "notes": said}
    warn_caller(notes)
    return tidy


def _of_one_measure(frames: Sequence[pd.DataFrame], names: Sequence[str]) -> list[Note]:
    """Refuse files whose scores have opposite directions; a note where only the names of their measures differ."""
    by_file: dict[str, bool] = {}
    by_measure: dict[str, bool] = {}
    for frame, name in zip(frames, names, strict=True):
        measure, higher = frame.attrs.get("measure"), frame.attrs.get("higher_is_better")
        if higher is None and measure is not None:
            higher = not lower_is_better(measure)
        if higher is not None:
            by_file[name if measure is None else f"{name} ({measure})"] = higher
        if measure is not None:
            by_measure[measure] = bool(higher)
    refuse_opposite_directions(by_file)
    losses = [name for name, higher in by_file.items() if not higher]
    if losses and len(by_file) < len(frames):
        raise ScoreTableError(
            f"Lower scores are better in {first_names(losses)}, and the other files don't say which are.",
            remedy="Give the scores the same name in every file, or name their column with score or measure.",
            key="directions",
        )
    measure_of: dict[str, str] = {}
    for frame in frames:
        measure = str(frame.attrs.get("measure", ""))
        for dataset in frame["dataset"].unique().tolist() if measure else ():
            if measure_of.setdefault(dataset, measure) != measure:
                raise ScoreTableError(
                    f"The scores of data set {shown(dataset)!r} are of different measures: {measure_of[dataset]!r} and "
                    f"{measure!r}.",
                    remedy="Read one measure only: name it with score or measure.",
                    key="measures_of_a_dataset",
                )
    return different_measures(by_measure)


def _format_of_table(
    path: str | Path | None,
    names: list[str],
    text: set[str] | None,
    given: Mapping[str, Spec],
    options: Mapping[str, Any],
    frame: pd.DataFrame | None,
) -> str:
    wide_roles = [role for role, spec in given.items() if is_pattern_of_names(spec) and spec not in names]
    if wide_roles:
        return "wide"
    averages = averages_of(names)
    if averages is not None and not {"dataset", "algorithm", "score"} <= set(given):
        raise averages if path is None else error_of_file(str(path), averages)
    tools = [name for name, needed in TOOL_COLUMNS.items() if all(has(names, column) for column in needed)]
    plain = {role: spec for role, spec in given.items() if isinstance(spec, str)}
    roles = column_roles(names, ("dataset", "algorithm", "run", "fold", "score"), plain)
    held = {*roles, *given}
    tidy = {"dataset", "algorithm"} <= held
    if tools and tidy and any(role_of(name) == "score" for name in names) and not given:
        tools.append("tidy")
    if len(tools) > 1:
        raise _unknown(path, f"Its columns fit several formats: {', '.join(tools)}.", proposed=False)
    if tools:
        return tools[0]
    preset = preset_of(names)
    if preset is not None:
        return preset
    if tidy:
        return "tidy"
    used = {name for spec in (*roles.values(), *given.values()) for name in _names_of(spec)}
    others = [name for name in names if name not in used and name]
    if "algorithms" in options:
        return "wide"
    if "dataset" in held and not {"algorithm", "score"} & held and len(others) >= 2:
        if text is None or not text.intersection(others):
            return "wide"
    # A file that looks tidy but lacks a column has a better message from the reader of tidy tables
    if "score" in held and ({"dataset", "algorithm"} & held or "rho" in names):
        return "tidy"
    if len(names) < 2:
        return "tidy"
    raise _unknown(path, f"Its columns are {first_names(names)}.", frame)


def _unknown(
    path: str | Path | None, reason: str, frame: pd.DataFrame | None = None, *, proposed: bool = True
) -> ScoreFileError | ScoreTableError:
    """The error of a table that fits no format, with the mapping that its cells suggest."""
    where = "" if path is None else f"{shown(path)}: "
    known = f"Known formats: {', '.join(IMPORTERS)}."
    arguments: tuple[Argument, ...] = (Argument("format", "weka"),)
    remedy = f"Name one, for instance {arguments[0]} (--format weka)."
    suggested = proposal(path, frame) if proposed else None
    if suggested is not None:
        reason, arguments = f"{reason} {suggested[0]}", suggested[1]
        remedy = f"Pass {', '.join(map(str, arguments))}."
    message = f"{where}the format is not clear. {reason} {known if suggested is None else ''}".rstrip()
    message = message[:1].upper() + message[1:] if path is None else message
    kind = ScoreTableError if path is None else ScoreFileError
    key = "unknown_format" if suggested is None else "proposed_mapping"
    return kind(message, remedy=remedy, key=key, arguments=arguments)


def _check_options(format: str, options: Mapping[str, Any]) -> None:
    """Refuse an option that the importer does not have."""
    taken = inspect.signature(IMPORTERS[format]).parameters
    known = [name for name, value in taken.items() if value.kind is not inspect.Parameter.VAR_KEYWORD]
    known += LAYOUT_OPTIONS if len(known) < len(taken) else ()
    for name in options:
        if name not in known:
            offered = [*ROLES, *(name for name in dict.fromkeys(["where", *known]) if name not in (*HIDDEN, *ROLES))]
            remedy = f"{nearest_name(name, offered)} It has: {', '.join(offered)}.".strip()
            if name == "columns":
                remedy = "Name the columns by their roles, such as score='auc'."
            example = (Argument("score", "auc"),)
            raise ArgumentError(f"The format {format} has no option {name!r}.", remedy=remedy, arguments=example)


def _column_names(roles: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that play roles, as `read_table` takes them: those of names stay text."""
    return {
        role: _names_of(spec) for role, spec in roles.items() if spec is not None and role in ("dataset", "algorithm")
    } | {role: spec for role, spec in roles.items() if role in ("run", "fold", "score", "rho") and _is_name(spec)}


def _names_of(spec: Any) -> list[str]:
    """The columns of what plays a role, as far as their names stand in it."""
    specs = [spec] if isinstance(spec, str) else list(spec) if isinstance(spec, Sequence) else []
    return [part for one in specs if isinstance(one, str) for part in (one, one.rpartition("@")[2])]


def _is_name(spec: Any) -> bool:
    """Whether what plays a role may be a column, and no pattern, constant or list."""
    return isinstance(spec, str) and not spec.startswith("=") and "{" not in spec


def _evaluations(folder: Path) -> bool:
    """Whether a folder holds results of lm-evaluation-harness, or logs of Inspect."""
    if any(any(folder.rglob(pattern)) for pattern in ("results_*.json", "samples_*.jsonl", f"*{ENDING}")):
        return True
    return any(map(is_log, folder.glob("*.json")))


def _is_table(file: Path) -> bool:
    name = file.name.casefold()
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name.endswith(TABLE_ENDINGS) and not name.startswith(".")
