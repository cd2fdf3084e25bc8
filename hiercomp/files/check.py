"""What a table of scores holds, and every problem that it has, all at once and without a fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, true_false_or_none
from hiercomp.document import Document, Documented, Table
from hiercomp.errors import (
    ArgumentError,
    DroppedScoresWarning,
    HiercompWarning,
    ScoreFileError,
    ScoreTableError,
)
from hiercomp.files.formats.common import LAYOUT_OPTIONS
from hiercomp.files.formats.lm_eval import read_lm_eval, readable_files
from hiercomp.files.formats.sklearn_results import from_grid_search
from hiercomp.files.formats.weka import survey_weka
from hiercomp.files.read import IMPORTERS, read_scores, recognised_format, takes_option
from hiercomp.files.table import names_as_text, read_score_file
from hiercomp.scores.arrays import ScoreArrays, table_problems, unpaired_scores
from hiercomp.scores.direction import Direction
from hiercomp.scores.problems import TableProblem
from hiercomp.scores.rho import checked_rho
from hiercomp.scores.scale import DEFAULT_HALF_WIDTH, Scale
from hiercomp.scores.table import read_table
from hiercomp.wording import counted, shown

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN, COLUMNS_SHOWN = 10, 6  # of the matrix of missing cells
NAME_WIDTH = 24
MOST_ERRORS = 20  # errors of a file that are listed one by one
SAID_BY = {
    "given": "as you say",
    "attributes": "as the table says",
    "name": "by the name of the measure",
    "assumed": "assumed",
}
TABLES = {**IMPORTERS, "sklearn": from_grid_search}  # what takes a data frame too


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
        Lengths q and k. Empty, as all the rest, where the table can't be read.
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
        ready = "it can't be compared as it stands" if self.errors else "it can be compared"
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
            "source": self.source,
            "format": self.format,
            "n_rows": self.n_rows,
            "algorithms": list(self.algorithms),
            "datasets": [{str(key): _plain(value) for key, value in row.items()} for row in rows],
            "n_missing": lacking,
            "scale": self.scale,
            "loss": self.loss,
            "measure": self.measure,
            "direction": self.direction,
            "suggested_rope": self.suggested_rope,
            "conclusion": self.conclusion,
            "problems": [problem.to_dict() for problem in self.problems],
        }

    def document(self) -> Document:
        """What the table holds, the missing scores as a table, and the problems as notes."""
        title = "A table of scores" if self.source is None else f"The scores of {shown(self.source)}"
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
    columns: Mapping[str, str] | None = None,
    rho: float | None = None,
    higher_is_better: bool | None = None,
    **options: Any,
) -> TableCheck:
    """Look a table of scores over, and collect what is wrong with it instead of stopping at the first.

    Parameters
    ----------
    scores : data frame, or path of a file
        Tidy scores, or a file in any format of `hiercomp.read_scores`.
    columns : mapping, optional
        Which column is which, such as ``{"score": "auc"}``.
    rho : float, optional
        Correlation between folds, where the comparison will be given one.
    higher_is_better : bool, optional
        False for losses and errors; by default as the table says, as for a comparison.
    **options
        For files: ``format``, ``encoding``, ``separator``, ``decimal`` and options of the format, see `read_scores`.

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
    rho = None if rho is None else checked_rho(rho)
    problems: list[TableProblem] = []
    source = str(scores) if isinstance(scores, (str, Path)) else None
    frame, kind = scores, None
    if source is not None:
        frame, kind, problems = _read_file(source, columns, rho, options)
        columns = columns if kind == "tidy" else None
    if frame is None and source is not None:
        return TableCheck(source, kind, problems=_ordered(problems))
    tidy, found = read_table(frame, columns)
    problems += found
    n_rows = len(frame) if hasattr(frame, "__len__") else 0
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


def _read_file(
    source: str, columns: Mapping[str, str] | None, rho: float | None, options: dict[str, Any]
) -> tuple[pd.DataFrame | None, str | None, list[TableProblem]]:
    """The frame of a file as far as it can be read, its format, and what is wrong with the file."""
    frame: pd.DataFrame | None
    problems: list[TableProblem] = []
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", HiercompWarning)
        try:
            kind = options.pop("format", "auto")
            if kind == "auto":
                layout = {name: options.get(name) for name in ("encoding", "separator")}
                kind = recognised_format(source, columns, **layout, options=options)
        except (ScoreFileError, ScoreTableError) as error:
            return None, None, [TableProblem.of_error(error)]
        if rho is not None and takes_option(kind, "rho"):  # it goes to the importers that ask for it
            options["rho"] = rho
        try:
            frame = read_scores(source, format=kind, columns=columns, **options)
        except (ScoreFileError, ScoreTableError) as error:
            frame, problems = _survey(source, kind, columns, options, error)
            if frame is None:
                return None, None, problems
    problems += [
        TableProblem(warning.category, str(warning.message))
        for warning in raised
        if issubclass(warning.category, HiercompWarning)
    ]
    return frame, str(kind), problems


def _survey(
    source: str,
    kind: str,
    columns: Mapping[str, str] | None,
    options: Mapping[str, Any],
    refusal: ScoreFileError | ScoreTableError,
) -> tuple[pd.DataFrame | None, list[TableProblem]]:
    """A tidy table, unchecked, of what can be read of a refused file, and everything that is wrong with the file.

    The refusal stands alone where nothing else is found.
    """
    errors: list[ScoreFileError] = []
    layout = {name: value for name, value in options.items() if name in LAYOUT_OPTIONS and value is not None}
    others = {name: value for name, value in options.items() if name not in LAYOUT_OPTIONS}
    frame: pd.DataFrame | None = None
    last: list[ScoreFileError | ScoreTableError] = []  # that which ended the survey
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        try:
            if kind == "weka":
                frame = survey_weka(source, errors, encoding=options.get("encoding"), **others)
            elif kind == "lm_eval":
                good = readable_files(source, errors)
                frame = read_lm_eval(good, **others) if good else None
            else:
                frame = read_score_file(source, columns, collected=errors, **layout)
                if kind != "tidy":
                    frame = TABLES[kind](names_as_text(frame), **others)
        except (ScoreFileError, ScoreTableError) as error:
            last, frame = [error], error.table
    found = [*errors[:MOST_ERRORS], *last] or [refusal]
    problems = [TableProblem.of_error(error) for error in found]
    if len(errors) > MOST_ERRORS:
        text = f"{counted(len(errors) - MOST_ERRORS, 'more error', 'is')} not listed."
        problems.append(TableProblem(ScoreFileError, text, "Correct those that are and check the file again."))
    if frame is not None and errors:
        text = "Everything else was checked without the rows and cells that can't be read."
        problems.append(TableProblem(DroppedScoresWarning, text, "Correct these and check the file again."))
    return frame, problems


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
    plain = [_plain(value) for value in values]
    texts = ["unknown" if value is None else f"{value:.4g}" for value in plain]
    common = max(dict.fromkeys(texts), key=texts.count)
    others = [(name, text) for name, text in zip(dataset_names, texts, strict=True) if text != common]
    if not others:
        return common
    listed = ", ".join(f"{text} in {_short(name)}" for name, text in others[:3])
    more = f", others in {len(others) - 3:,} more" if len(others) > 3 else ""
    return f"{common} in {counted(texts.count(common), 'data set')}; {listed}{more}"


def _plain(value: Any) -> Any:
    """A number or text as JSON has it; None for NaN."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
