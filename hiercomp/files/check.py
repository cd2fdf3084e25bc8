"""What a table of scores holds, and every problem that it has, all at once and without a fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, true_false_or_none
from hiercomp.document import Document, Documented, Table, json_value
from hiercomp.errors import (
    ArgumentError,
    DroppedScoresWarning,
    HiercompWarning,
    ScoreFileError,
    ScoreTableError,
)
from hiercomp.files.any_table import as_tidy
from hiercomp.files.formats.common import LAYOUT_OPTIONS
from hiercomp.files.formats.lm_eval import readable_files
from hiercomp.files.formats.weka import survey_weka
from hiercomp.files.other_kinds import STANDARD_INPUT, is_stream, other_table, spooled
from hiercomp.files.read import BY_ROLES, read_scores, recognised_format, several_files
from hiercomp.files.table import lines_of_rows, names_as_text, read_score_file
from hiercomp.scores.arrays import ScoreArrays, table_problems, unpaired_scores
from hiercomp.scores.direction import Direction
from hiercomp.scores.problems import TableProblem
from hiercomp.scores.rho import checked_rho
from hiercomp.scores.scale import DEFAULT_HALF_WIDTH, Scale
from hiercomp.scores.table import ROLES, TidyScores, read_table
from hiercomp.wording import counted, first_names, metric_words, shown

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN, COLUMNS_SHOWN = 10, 6  # of the matrix of missing cells
NAME_WIDTH = 24
OF_ROWS = ("empty_names", "not_numbers")  # problems that name rows
MOST_ERRORS = 20  # errors of a file that are listed one by one
SAID_BY = {
    "given": "as you say",
    "attributes": "as the table says",
    "name": "by the name of the measure",
    "assumed": "assumed",
}


def _no_counts() -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


def _no_numbers() -> FloatArray:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class TableCheck(Documented):
    """What a table of scores holds, and its problems.

    Attributes
    ----------
    source, format : str or None
        The file and its format; None for a frame.
    n_rows : int
        Rows of the table.
    dataset_names, algorithms : tuple of str
        Lengths q and k. Empty, like all other fields, if the table can't be read.
    n_runs : ndarray of int, shape (q,)
        Runs of each data set; 1 where the table does not tell.
    n_folds : ndarray of int, shape (q,)
        Folds of a run; 0 where the table does not tell.
    rho : ndarray, shape (q,)
        Correlation between folds as it would be taken; NaN where it is unknown.
    n_places : ndarray of int, shape (q,)
        Places (runs and folds) for which any algorithm has a row.
    n_missing : ndarray of int, shape (q, k)
        Places at which an algorithm has no finite score.
    n_constant_pairs : ndarray of int, shape (q,)
        Pairs of algorithms whose difference never varies between the folds of a data set.
    lowest_score, highest_score : ndarray, shape (q,)
        Extremes of the scores; NaN where there are none.
    scale : {"fractions", "percentages", "other"}
        Scores in [0, 1], scores that look like percentages, or neither.
    loss : bool
        Whether lower is better, as the caller, the table's attributes or the name of the measure say.
    measure : str or None
        The name of the measure, if the table has one.
    direction : str
        Who says whether higher is better: "given", "attributes", "name", or "assumed".
    suggested_rope : float
        A half-width that is about a hundredth of a typical score, or the default where there is one.
    problems : tuple of TableProblem
        Errors first.
    """

    source: str | None
    format: str | None
    n_rows: int = 0
    dataset_names: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    n_runs: NDArray[np.int64] = field(default_factory=_no_counts)
    n_folds: NDArray[np.int64] = field(default_factory=_no_counts)
    rho: FloatArray = field(default_factory=_no_numbers)
    n_places: NDArray[np.int64] = field(default_factory=_no_counts)
    n_missing: NDArray[np.int64] = field(default_factory=lambda: _no_counts().reshape(0, 0))
    n_constant_pairs: NDArray[np.int64] = field(default_factory=_no_counts)
    lowest_score: FloatArray = field(default_factory=_no_numbers)
    highest_score: FloatArray = field(default_factory=_no_numbers)
    scale: str = "other"
    loss: bool = False
    measure: str | None = None
    direction: str = "assumed"
    suggested_rope: float = DEFAULT_HALF_WIDTH
    problems: tuple[TableProblem, ...] = ()

    @property
    def errors(self) -> tuple[TableProblem, ...]:
        """What a comparison would refuse."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[TableProblem, ...]:
        """What to look at."""
        return tuple(problem for problem in self.problems if problem.severity == "warning")

    @property
    def exit_code(self) -> int:
        """0 without problems, 1 with warnings, 2 with errors."""
        return 2 if self.errors else 1 if self.problems else 0

    @property
    def conclusion(self) -> str:
        """How many problems there are, in a sentence."""
        if not self.problems:
            return "No problems found."
        numbers = f"{counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}"
        ready = "fix the errors before comparing" if self.errors else "it can be compared"
        return f"{numbers}: {ready}."

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set, a column for each of the fields of shape (q,); n_missing of all algorithms."""
        import pandas as pd

        names = "n_runs n_folds n_places rho n_missing n_constant_pairs lowest_score highest_score".split()
        columns = {name: getattr(self, name) for name in names} | {"n_missing": self.n_missing.sum(axis=1)}
        return pd.DataFrame(columns, index=pd.Index(self.dataset_names, name="dataset", dtype=object))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it; numbers that are unknown are None."""
        rows = self.to_frame().reset_index().to_dict("records")
        lacking = {
            name: {other: int(count) for other, count in zip(self.algorithms, row, strict=True) if count}
            for name, row in zip(self.dataset_names, self.n_missing, strict=True)
            if row.any()
        }
        return {
            "version": version("hiercomp"),
            "source": self.source,
            "format": self.format,
            "n_rows": self.n_rows,
            "algorithms": list(self.algorithms),
            "datasets": json_value(rows),
            "n_missing": lacking,
            "scale": self.scale,
            "loss": self.loss,
            "measure": self.measure,
            "higher_is_better": not self.loss,
            "metric": metric_words(self.measure, not self.loss, None),
            "direction": self.direction,
            "suggested_rope": self.suggested_rope,
            "conclusion": self.conclusion,
            "problems": [problem.to_dict() for problem in self.problems],
        }

    def document(self) -> Document:
        """What the table holds, the missing scores as a table, and the problems as notes."""
        title = "A table of scores" if self.source is None else f"The scores of {shown(self.source)}"
        if self.dataset_names:
            title += f", {metric_words(self.measure, not self.loss, None)}"
        return Document(
            title=title,
            conclusion=self.conclusion,
            tables=self._missing_table(),
            details=tuple(f"{name}: {value}" for name, value in self._facts()),
            notes=tuple(map(str, self.problems)),
            status={0: "ok", 1: "warned", 2: "failed"}[self.exit_code],
        )

    def _facts(self) -> list[tuple[str, str]]:
        facts = [] if self.format is None else [("Format", self.format)]
        facts.append(("Rows", f"{self.n_rows:,}"))
        if not self.dataset_names:
            return facts
        facts.append(("Data sets", f"{len(self.dataset_names):,}: {_names(self.dataset_names)}"))
        facts.append(("Algorithms", f"{len(self.algorithms):,}: {_names(self.algorithms)}"))
        facts.append(("Runs", _by_dataset(self.n_runs, self.dataset_names)))
        facts.append(("Folds", _by_dataset(np.where(self.n_folds == 0, np.nan, self.n_folds), self.dataset_names)))
        facts.append(("Rho", _by_dataset(self.rho, self.dataset_names)))
        total = int(self.n_places.sum()) * len(self.algorithms)
        facts.append(("Missing", f"{int(self.n_missing.sum()):,} of {total:,} scores"))
        degenerate = [name for name, count in zip(self.dataset_names, self.n_constant_pairs, strict=True) if count]
        facts.append(("Degenerate", f"{len(degenerate)}: {_names(degenerate)}" if degenerate else "no data set"))
        if np.isfinite(self.lowest_score).any():
            low, high = float(np.nanmin(self.lowest_score)), float(np.nanmax(self.highest_score))
            facts.append(("Scale", f"{self.scale}, {low:g} to {high:g}"))
        if self.measure is not None:
            facts.append(("Measure", _short(self.measure)))
        facts.append(("Direction", f"{'lower' if self.loss else 'higher'} is better ({SAID_BY[self.direction]})"))
        if self.scale == "fractions":
            facts.append(("Rope", f"{self.suggested_rope:g} by default"))
        else:
            apart = any(problem.key == "different_units" for problem in self.problems)
            example = "" if apart or not self.suggested_rope else f"; for example {self.suggested_rope:g}"
            facts.append(("Rope", f"must be given, in the unit of the scores{example}"))
        return facts

    def _missing_table(self) -> tuple[Table, ...]:
        """The first data sets and algorithms that lack scores."""
        rows, columns = np.flatnonzero(self.n_missing.any(axis=1)), np.flatnonzero(self.n_missing.any(axis=0))
        if not len(rows):
            return ()
        more = [
            f"{len(found) - limit:,} more {thing}"
            for found, limit, thing in ((rows, ROWS_SHOWN, "data sets"), (columns, COLUMNS_SHOWN, "algorithms"))
            if len(found) > limit
        ]
        columns = columns[:COLUMNS_SHOWN]
        body = tuple(
            (_short(self.dataset_names[row]), *(str(self.n_missing[row, column] or "-") for column in columns))
            for row in rows[:ROWS_SHOWN]
        )
        legend = "; and ".join(["missing scores", *([" and ".join(more)] if more else [])])
        return (Table(("", *(_short(self.algorithms[column]) for column in columns)), body, legend),)


def check_scores(
    scores: Any,
    *,
    rho: float | str | None = None,
    higher_is_better: bool | None = None,
    **options: Any,
) -> TableCheck:
    """Inspect a table of scores and collect what is wrong with it instead of stopping at the first.

    Parameters
    ----------
    scores : data frame, or path of a file
        Whatever `hiercomp.read_scores` takes.
    rho : float or str, optional
        Correlation between folds, where the comparison will be given one; or the column of the table that has it.
    higher_is_better : bool, optional
        False for losses and errors; by default as the table says, as for a comparison.
    **options
        The arguments of `read_scores`: ``score="auc"``, ``format``, ``encoding`` and the others.

    Returns
    -------
    TableCheck

    Raises
    ------
    ArgumentError
        If an option is outside what is allowed. Problems of the file or the table are in the result.

    Examples
    --------
    >>> import hiercomp as hc
    >>> check = check_scores(hc.load_scores("keel"))
    >>> check.exit_code, len(check.dataset_names), sorted(set(check.rho.tolist()))
    (1, 43, [0.1])
    >>> print(check.problems[0].message)
    The differences of some algorithms are constant across folds in 2 of 43 data sets ('monk-2', 'mushroom').
    Their standard deviation would be taken from the rope; their means are kept.
    """
    true_false_or_none("higher_is_better", higher_is_better)
    if is_stream(scores):
        with spooled(scores, options.get("largest_bytes")) as file:
            found_in = check_scores(file, rho=rho, higher_is_better=higher_is_better, **options)
            return _renamed(found_in, file, scores)
    if isinstance(rho, str):
        options["rho"], rho = rho, None
    rho = None if rho is None else checked_rho(rho)
    problems: list[TableProblem] = []
    source = str(scores) if isinstance(scores, (str, Path)) else None
    frame, kind = scores, None
    options = {name: value for name, value in options.items() if value is not None or name == "format"}
    if source is not None or isinstance(scores, (list, tuple)) or options or not _is_tidy(scores):
        frame, kind, problems = _read_source(scores, rho, options)
        if source is None and kind == "tidy" and frame is None:
            kind = None
    if frame is None and problems:
        return TableCheck(source, kind, problems=_ordered(problems))
    tidy, found = read_table(frame)
    if source is not None and any(problem.key in OF_ROWS for problem in found):
        tidy, found = read_table(_with_lines(frame, source, kind, options))
    problems += found
    n_rows = n_rows_of(frame)
    if tidy is None:
        return TableCheck(source, kind, n_rows, problems=_ordered(problems))
    direction = tidy.direction(higher_is_better)
    arrays, found = ScoreArrays.read(tidy)
    problems += [*found, *direction.problems()]
    if len(arrays.algorithms) > 1:
        problems += unpaired_scores(arrays, drop=False)
    arrays = replace(
        arrays,
        rho=tidy.rho if rho is None else rho,
        higher_is_better=direction.higher_is_better,
        direction_known=direction.known,
    )
    try:
        correlation, found = arrays.correlations(np.arange(len(arrays.dataset_names)), arrays.n_places)
    except ArgumentError as error:  # of the table's column
        column = tidy.rho or {}
        correlation = np.array([column.get(name, np.nan) for name in arrays.dataset_names])
        found = [TableProblem.of_error(error)]
    problems += [*found, *table_problems(arrays)]
    rows_left_out = (
        n_rows_of(frame) - len(tidy.frame) + sum(problem.count for problem in problems if problem.key == "uneven_rows")
    )
    problems = _root_causes(problems, tidy, rows_left_out)
    lowest, highest = arrays.extremes
    scale = arrays.scale
    return TableCheck(
        source=source,
        format=kind,
        n_rows=n_rows,
        dataset_names=arrays.dataset_names,
        algorithms=arrays.algorithms,
        n_runs=arrays.n_runs,
        n_folds=arrays.n_folds,
        rho=correlation,
        n_places=arrays.n_places,
        n_missing=arrays.n_missing,
        n_constant_pairs=arrays.variation.by_dataset,
        lowest_score=lowest,
        highest_score=highest,
        scale=_scale_in_words(scale),
        loss=not direction.higher_is_better,
        measure=direction.measure,
        direction=_said_by(direction),
        suggested_rope=_suggested_rope(scale),
        problems=_ordered(problems),
    )


def _scale_in_words(scale: Scale | None) -> str:
    if scale is None:
        return "other"
    return "fractions" if scale.fractions else "percentages" if scale.percentages else "other"


def _suggested_rope(scale: Scale | None) -> float:
    if scale is None or scale.fractions:
        return DEFAULT_HALF_WIDTH
    return 1.0 if scale.percentages and scale.higher_is_better else scale.suggested_half_width


def _said_by(direction: Direction) -> str:
    """Who says whether higher is better: a key of `SAID_BY`."""
    if direction.given is not None:
        return "given"
    if direction.stated is not None:
        return "attributes"
    return "assumed" if direction.named is None else "name"


def n_rows_of(frame: Any) -> int:
    """Rows of a table, 0 where it does not tell."""
    return len(frame) if hasattr(frame, "__len__") else 0


def _is_tidy(scores: Any) -> bool:
    """Whether a frame is to be judged as it is, and not as another layout."""
    try:
        table, _ = as_tidy(scores)
    except (ScoreFileError, ScoreTableError):
        return False
    return table is scores


def _renamed(check: TableCheck, file: Path, source: Any) -> TableCheck:
    """A check of a copy of standard input, under its own name."""
    name = STANDARD_INPUT if str(source) == "-" else str(source)
    problems = tuple(
        replace(
            problem, message=problem.message.replace(str(file), name), remedy=problem.remedy.replace(str(file), name)
        )
        for problem in check.problems
    )
    return replace(check, source=name, problems=problems)


def _with_lines(frame: Any, source: str | None, kind: str | None, options: Mapping[str, Any]) -> Any:
    """A tidy frame with the line of each row, where it can be told, for messages."""
    if source is None or kind not in BY_ROLES or "where" in options or "lines" in getattr(frame, "attrs", {}):
        return frame
    lines = lines_of_rows(source, options)
    if lines is not None and len(lines) == len(frame):
        frame = frame.copy(deep=False)
        frame.attrs = frame.attrs | {"lines": lines}
    return frame


def _read_source(
    source: Any, rho: float | None, options: dict[str, Any]
) -> tuple[pd.DataFrame | None, str | None, list[TableProblem]]:
    """The table of a file or frame as far as it can be read, its format, and what is wrong with it."""
    problems: list[TableProblem] = []
    kind = options.pop("format", "auto")
    if rho is not None:
        options.setdefault("rho", rho)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", HiercompWarning)
        frame: pd.DataFrame | None
        try:
            frame = read_scores(source, format=kind, **options)
            kind = frame.attrs["format"]
        except (ScoreFileError, ScoreTableError) as error:
            frame, kind, problems = _survey(source, kind, options, error)
            if frame is None:
                return None, kind, problems
    problems += [
        TableProblem(warning.category, str(warning.message))
        for warning in raised
        if issubclass(warning.category, HiercompWarning)
    ]
    return frame, kind, problems


def _survey(
    source: Any, kind: str, options: Mapping[str, Any], refusal: ScoreFileError | ScoreTableError
) -> tuple[pd.DataFrame | None, str | None, list[TableProblem]]:
    """A tidy table, unchecked, of what can be read of a refused file, its format, and everything that is wrong with it.

    The refusal stands alone where nothing else is found.
    """
    errors: list[ScoreFileError] = []
    frame: pd.DataFrame | None = None
    last: list[ScoreFileError | ScoreTableError] = []  # that which ended the survey
    alone = [TableProblem.of_error(refusal)]
    if not isinstance(source, (str, Path)) or several_files(source, kind) is not None:
        return refusal.table, None if kind == "auto" else kind, alone
    layout = {name: value for name, value in options.items() if name in LAYOUT_OPTIONS and value is not None}
    roles = {name: value for name, value in options.items() if name in ROLES and value is not None}
    others = {
        name: value for name, value in options.items() if name not in (*LAYOUT_OPTIONS, *ROLES) and value is not None
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        try:
            if kind == "auto":
                about = {name: layout[name] for name in ("encoding", "separator") if name in layout}
                kind = recognised_format(source, roles, **about, options=others)
            if kind == "weka":
                given: dict[str, Any] = {"roles": roles} if roles else {}
                frame = survey_weka(source, errors, encoding=options.get("encoding"), **given, **others)
            elif kind == "lm_eval":
                good = readable_files(source, errors)
                frame = read_scores(good, format=kind, **roles, **others) if good else None
            elif kind in ("lm_eval_samples", "inspect") or other_table(source, None) is not None:
                return refusal.table, kind, alone
            else:
                table = read_score_file(source, _text_columns(roles), collected=errors, **layout)
                frame = read_scores(names_as_text(table), format=kind, **roles, **others)
        except (ScoreFileError, ScoreTableError) as error:
            last, frame = [error], error.table
    if kind == "auto":
        return None, None, alone
    if last and last[0].key and last[0].key == refusal.key:
        last = [refusal]  # it names the line
    if errors and last and last[0].message.endswith("has a header but no rows."):
        last = []  # since all are left out
    if last and "not plain numbers" in last[0].message and any(error.key == "notation" for error in errors):
        last = []  # since its numbers are written in another way
    found: list[ScoreFileError | ScoreTableError] = [*errors[:MOST_ERRORS], *last] or [refusal]
    problems = [TableProblem.of_error(error) for error in found]
    if len(errors) > MOST_ERRORS:
        text = f"{counted(len(errors) - MOST_ERRORS, 'more error', 'is')} not listed."
        problems.append(TableProblem(ScoreFileError, text, "Correct those that are and check the file again."))
    if frame is not None and errors:
        text = "Everything else was checked without the rows and cells that can't be read."
        problems.append(TableProblem(DroppedScoresWarning, text, "Correct these and check the file again."))
    return frame, kind, problems


def _text_columns(roles: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that stay text, as far as they are named."""
    return {role: spec for role, spec in roles.items() if isinstance(spec, str) or role in ("dataset", "algorithm")}


def _root_causes(problems: Sequence[TableProblem], tidy: TidyScores, rows_left_out: int) -> list[TableProblem]:
    """Problems without those that another one causes."""
    problems = list(problems)
    keys = {problem.key for problem in problems}
    if "summary_rows" in keys:
        summaries = {place for problem in problems if problem.key == "summary_rows" for place in problem.places}
        problems = [
            problem for problem in problems if problem.key != "few_scores" or not set(problem.places) <= summaries
        ]
    if "no_common_dataset" in keys:  # it names them
        problems = [problem for problem in problems if problem.key != "case_of_names"]
    offset = _numbered_apart(tidy)
    if offset is not None:
        problems = [problem for problem in problems if problem.key not in ("unpaired_scores", "no_common_fold")]
        problems.append(offset)
    # such cells are missing, and rows left out absent, because of that
    wrong = sum(problem.count for problem in problems if problem.key == "not_numbers")
    explained = {"missing_scores": wrong, "unpaired_scores": rows_left_out}
    return [problem for problem in problems if problem.key not in explained or problem.count > explained[problem.key]]


def _numbered_apart(tidy: TidyScores) -> TableProblem | None:
    """Folds that are numbered from 0 for some algorithms and from 1 for others."""
    fold = tidy.frame.get("fold")
    if fold is None or fold.dtype.kind not in "iu":
        return None
    first = fold.groupby(tidy.frame["algorithm"].astype(str).to_numpy(), sort=False).agg(["min", "max"])
    if set(first["min"]) != {0, 1} or not (first["max"] - first["min"] == first["max"].max() - 1).all():
        return None
    zero, one = ([str(name) for name in first.index[first["min"] == start]] for start in (0, 1))
    return TableProblem(
        ScoreTableError,
        f"The folds of {first_names(zero)} are numbered from 0, those of {first_names(one)} from 1.",
        "Number them alike.",
        (*zero, *one),
        "numbered_apart",
    )


def _ordered(problems: Sequence[TableProblem]) -> tuple[TableProblem, ...]:
    """Each problem once, since an importer's warning may be the table's too; errors before warnings."""
    different = {str(problem): problem for problem in problems}
    return tuple(sorted(different.values(), key=lambda problem: problem.severity))  # alphabetically


def _short(name: str) -> str:
    """A name of limited width."""
    text = shown(name)
    return text if len(text) <= NAME_WIDTH else f"{text[: NAME_WIDTH - 3]}..."


def _names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    listed = ", ".join(_short(name) for name in names[:5])
    return f"{listed} and {len(names) - 5:,} more" if len(names) > 5 else listed


def _by_dataset(values: NDArray[Any], dataset_names: Sequence[str]) -> str:
    """One value where all data sets have it, else the commonest and the first that differ."""
    plain = json_value(list(values))
    texts = ["unknown" if value is None else f"{value:.4g}" for value in plain]
    common = max(dict.fromkeys(texts), key=texts.count)
    others = [(name, text) for name, text in zip(dataset_names, texts, strict=True) if text != common]
    if not others:
        return common
    listed = ", ".join(f"{text} in {_short(name)}" for name, text in others[:3])
    more = f", others in {len(others) - 3:,} more" if len(others) > 3 else ""
    return f"{common} in {counted(texts.count(common), 'data set')}; {listed}{more}"
