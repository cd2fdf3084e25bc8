"""What a table of scores holds, and every problem that it has, all at once and without a fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, true_or_false
from hiercomp.document import Document, Documented, Table
from hiercomp.errors import ArgumentError, HiercompWarning, ScaleWarning, ScoreFileError, ScoreTableError
from hiercomp.files.formats.common import lower_is_better
from hiercomp.files.read import read_scores, recognised_format, takes_option
from hiercomp.files.survey import survey
from hiercomp.scores.arrays import ScoreArrays, table_problems, unpaired_scores
from hiercomp.scores.problems import LARGEST_FRACTION, TableProblem
from hiercomp.scores.rho import checked_rho
from hiercomp.scores.table import read_table
from hiercomp.wording import counted, shown

if TYPE_CHECKING:
    import pandas as pd

ROWS_SHOWN, COLUMNS_SHOWN = 10, 6  # of the matrix of missing cells
NAME_WIDTH = 24


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
        Scores in [0, 1], in [0, 100], or neither.
    loss : bool
        Whether lower looks better, from the name of the measure or the range.
    problems : tuple of TableProblem
        Errors first.
    """

    source: str | None
    format: str | None
    n_rows: int
    dataset_names: tuple[str, ...]
    algorithms: tuple[str, ...]
    n_runs: NDArray[np.int64]
    n_folds: NDArray[np.int64]
    rho: FloatArray
    n_places: NDArray[np.int64]
    n_missing: NDArray[np.int64]
    n_constant_pairs: NDArray[np.int64]
    lowest_score: FloatArray
    highest_score: FloatArray
    scale: str
    loss: bool
    problems: tuple[TableProblem, ...]

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

        columns = {
            "n_runs": self.n_runs,
            "n_folds": self.n_folds,
            "n_places": self.n_places,
            "rho": self.rho,
            "n_missing": self.n_missing.sum(axis=1),
            "n_constant_pairs": self.n_constant_pairs,
            "lowest_score": self.lowest_score,
            "highest_score": self.highest_score,
        }
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
        facts.append(("Direction", "looks like a loss: lower is better" if self.loss else "taken as higher is better"))
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
    higher_is_better: bool = True,
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
    higher_is_better : bool
        False for losses and errors, which need no warning then.
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
    higher_is_better = true_or_false("higher_is_better", higher_is_better)
    rho = None if rho is None else checked_rho(rho)
    problems: list[TableProblem] = []
    source = str(scores) if isinstance(scores, (str, Path)) else None
    frame, kind = scores, None
    if source is not None:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always", HiercompWarning)
            try:
                options = _with_format(source, columns, rho, options)
            except (ScoreFileError, ScoreTableError) as error:
                return _check(source, None, 0, None, None, [TableProblem.of_error(error)])
            kind = str(options["format"])
            try:
                frame = read_scores(source, columns=columns, **options)
            except (ScoreFileError, ScoreTableError) as error:
                given = {name: value for name, value in options.items() if name != "format"}
                frame, problems = survey(source, kind, columns, given, error)
                if frame is None:
                    return _check(source, None, 0, None, None, problems)
        columns = columns if kind == "tidy" else None
        problems += [
            TableProblem(warning.category, str(warning.message))
            for warning in raised
            if issubclass(warning.category, HiercompWarning)
        ]
    tidy, found = read_table(frame, columns)
    problems += found
    n_rows = len(frame) if hasattr(frame, "__len__") else 0
    if tidy is None:
        return _check(source, kind, n_rows, None, None, problems)
    measure = getattr(frame, "attrs", {}).get("measure") or tidy.score_name
    named_loss = lower_is_better(measure)
    arrays, found = ScoreArrays.read(tidy)
    problems += found
    if len(arrays.algorithms) > 1:
        problems += unpaired_scores(arrays, drop=False)
    arrays = replace(arrays, rho=tidy.rho if rho is None else rho, higher_is_better=higher_is_better)
    try:
        correlation, found = arrays.correlations(np.arange(len(arrays.dataset_names)), arrays.n_places)
    except ArgumentError as error:  # of the table's column
        column = tidy.rho or {}
        correlation = np.array([column.get(name, np.nan) for name in arrays.dataset_names])
        found = [TableProblem.of_error(error)]
    problems += [*found, *table_problems(arrays, loss=named_loss or not higher_is_better)]
    if named_loss and higher_is_better:
        problems.append(
            TableProblem(
                ScaleWarning,
                f"The name of the scores, {shown(measure)!r}, is that of a loss, an error or a duration.",
                "If lower is better, pass higher_is_better=False (--lower-is-better).",
                key="named_loss",
            )
        )
    return _check(source, kind, n_rows, arrays, correlation, problems, loss=named_loss or not higher_is_better)


def _with_format(
    source: str, columns: Mapping[str, str] | None, rho: float | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Options with the format of the file; rho goes to the importers that ask for it."""
    options = dict(options)
    if options.get("format", "auto") == "auto":
        layout = {name: options.get(name) for name in ("encoding", "separator")}
        options["format"] = recognised_format(source, columns, **layout, options=options)
    if rho is not None and takes_option(options["format"], "rho"):
        options["rho"] = rho
    return options


def _check(
    source: str | None,
    kind: str | None,
    n_rows: int,
    arrays: ScoreArrays | None,
    rho: FloatArray | None,
    problems: Sequence[TableProblem],
    *,
    loss: bool = False,
) -> TableCheck:
    """The check of a table; perhaps nothing is known of it but its problems."""
    lowest, highest = (np.zeros(0), np.zeros(0)) if arrays is None else arrays.extremes
    known = np.isfinite(lowest)
    scale = "other"
    if known.any() and lowest[known].min() >= 0 and highest[known].max() <= 100:
        scale = "fractions" if highest[known].max() <= LARGEST_FRACTION else "percentages"
    counts = np.zeros(0, dtype=np.int64)
    different = {str(problem): problem for problem in problems}  # an importer's warning may be the table's too
    return TableCheck(
        source=source,
        format=kind,
        n_rows=n_rows,
        dataset_names=() if arrays is None else arrays.dataset_names,
        algorithms=() if arrays is None else arrays.algorithms,
        n_runs=counts if arrays is None else arrays.n_runs,
        n_folds=counts if arrays is None else arrays.n_folds,
        rho=np.zeros(0) if rho is None else rho,
        n_places=counts if arrays is None else arrays.n_places,
        n_missing=counts.reshape(0, 0) if arrays is None else arrays.n_missing,
        n_constant_pairs=counts if arrays is None else arrays.variation.by_dataset,
        lowest_score=lowest,
        highest_score=highest,
        scale=scale,
        loss=loss or (arrays is not None and scale == "other" and bool(known.any()) and bool(lowest[known].min() >= 0)),
        problems=tuple(
            sorted(different.values(), key=lambda problem: problem.severity)
        ),  # "error" stands before "warning"
    )


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
