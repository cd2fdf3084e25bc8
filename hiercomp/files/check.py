"""What a table of scores holds, and every problem that it has, all at once and without a fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, true_or_false
from hiercomp.errors import HiercompWarning, ScoreFileError, ScoreTableError
from hiercomp.files.formats.common import checked_rho
from hiercomp.files.read import read_scores, recognised_format, takes_option
from hiercomp.files.survey import survey
from hiercomp.scores.facts import Problem, TableFacts
from hiercomp.scores.problems import examine
from hiercomp.wording import counted, shown

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

ROWS_SHOWN, COLUMNS_SHOWN = 10, 6  # of the matrix of missing cells
NAME_WIDTH = 24


@dataclass(frozen=True, eq=False)
class TableCheck:
    """What a table of scores holds, and its problems.

    Attributes
    ----------
    source, format : str or None
        The file and the format that it was taken for; None for a frame.
    rows : int
        Rows of the table.
    datasets, algorithms : tuple of str
        Lengths q and k. Empty, as all the rest, where the table can't be read.
    runs : ndarray of int, shape (q,)
        Runs of each data set; 1 where the table does not tell.
    folds : ndarray of int, shape (q,)
        Folds of a run; 0 where the table does not tell.
    rho : ndarray, shape (q,)
        Correlation between folds as it would be taken; NaN where it is unknown.
    scores : ndarray of int, shape (q,)
        Places (runs and folds) of which any algorithm has a row.
    missing : ndarray of int, shape (q, k)
        Places at which an algorithm has no finite score.
    constant_pairs : ndarray of int, shape (q,)
        Pairs of algorithms whose difference never varies between the folds of a data set.
    lowest, highest : ndarray, shape (q,)
        Extremes of the scores; NaN where there are none.
    scale : {"fractions", "percentages", "other"}
        Scores in [0, 1], in [0, 100], or neither.
    loss : bool
        Whether less looks better, from the name of the measure or the range.
    problems : tuple of Problem
        Errors first.
    """

    source: str | None
    format: str | None
    rows: int
    datasets: tuple[str, ...]
    algorithms: tuple[str, ...]
    runs: NDArray[np.int64]
    folds: NDArray[np.int64]
    rho: FloatArray
    scores: NDArray[np.int64]
    missing: NDArray[np.int64]
    constant_pairs: NDArray[np.int64]
    lowest: FloatArray
    highest: FloatArray
    scale: str
    loss: bool
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What a comparison would refuse."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
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
        """One row for each data set: runs, folds, scores, rho, missing, constant_pairs, lowest, highest."""
        import pandas as pd

        columns = {
            "runs": self.runs,
            "folds": self.folds,
            "scores": self.scores,
            "rho": self.rho,
            "missing": self.missing.sum(axis=1),
            "constant_pairs": self.constant_pairs,
            "lowest": self.lowest,
            "highest": self.highest,
        }
        return pd.DataFrame(columns, index=pd.Index(self.datasets, name="dataset", dtype=object))

    def missing_frame(self) -> pd.DataFrame:
        """Data sets by algorithms: the number of places without a finite score."""
        import pandas as pd

        return pd.DataFrame(self.missing, index=pd.Index(self.datasets, name="dataset"), columns=list(self.algorithms))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it; numbers that are unknown are None."""
        rows = self.to_frame().reset_index().to_dict("records")
        lacking = {
            name: {other: int(count) for other, count in zip(self.algorithms, row, strict=True) if count}
            for name, row in zip(self.datasets, self.missing, strict=True)
            if row.any()
        }
        return {
            "source": self.source,
            "format": self.format,
            "rows": self.rows,
            "algorithms": list(self.algorithms),
            "datasets": [{str(key): _plain(value) for key, value in row.items()} for row in rows],
            "missing": lacking,
            "scale": self.scale,
            "loss": self.loss,
            "conclusion": self.conclusion,
            "problems": [vars(problem).copy() for problem in self.problems],
        }

    def __str__(self) -> str:
        lines = [f"{name}: {value}" for name, value in self._facts()]
        matrix = self._missing_rows()
        if matrix:
            widths = [max(len(row[place]) for row in matrix) for place in range(len(matrix[0]))]
            lines += ["", "Missing scores:"]
            for row in matrix:
                padded = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
                lines.append("  " + "  ".join([row[0].ljust(widths[0]), *padded]).rstrip())
            lines += [f"  {text}" for text in self._more_missing()]
        for title, problems in (("Errors:", self.errors), ("Warnings:", self.warnings)):
            if problems:
                lines += ["", title]
                for number, problem in enumerate(problems, 1):
                    lines.append(f"  {number}. {problem.message}")
                    lines += [f"     {problem.remedy}"] if problem.remedy else []
        return "\n".join([*lines, "", self.conclusion])

    def __rich__(self) -> Group:
        """The same in colour, for terminals."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for name, value in self._facts():
            facts.add_row(Text(name, style="bold"), Text(value))
        parts: list[Any] = [facts]
        matrix = self._missing_rows()
        if matrix:
            table = Table(title="Missing scores", title_justify="left", title_style="bold", box=None, padding=(0, 1))
            table.add_column()
            for name in matrix[0][1:]:
                table.add_column(Text(name), justify="right")
            for row in matrix[1:]:
                table.add_row(*(Text(cell) for cell in row))
            parts += [Text(), table, *(Text(text, style="dim") for text in self._more_missing())]
        for problem in self.problems:
            style = "bold red" if problem.severity == "error" else "bold yellow"
            parts += [Text(), Text.assemble((f"{problem.severity}: ", style), problem.message)]
            parts += [Padding(Text(problem.remedy, style="dim"), (0, 0, 0, 2))] if problem.remedy else []
        style = {0: "bold green", 1: "bold yellow", 2: "bold red"}[self.exit_code]
        return Group(*parts, Text(), Text(self.conclusion, style=style))

    def _facts(self) -> list[tuple[str, str]]:
        facts = [] if self.source is None else [("File", shown(self.source))]
        facts += [] if self.format is None else [("Format", self.format)]
        facts.append(("Rows", f"{self.rows:,}"))
        if not self.datasets:
            return facts
        facts.append(("Data sets", f"{len(self.datasets):,}: {_names(self.datasets)}"))
        facts.append(("Algorithms", f"{len(self.algorithms):,}: {_names(self.algorithms)}"))
        facts.append(("Runs", _by_dataset(self.runs, self.datasets)))
        facts.append(("Folds", _by_dataset(np.where(self.folds == 0, np.nan, self.folds), self.datasets)))
        facts.append(("Rho", _by_dataset(self.rho, self.datasets)))
        facts.append(
            ("Missing", f"{int(self.missing.sum()):,} of {int(self.scores.sum()) * len(self.algorithms):,} scores")
        )
        degenerate = [name for name, count in zip(self.datasets, self.constant_pairs, strict=True) if count]
        facts.append(("Degenerate", f"{len(degenerate)}: {_names(degenerate)}" if degenerate else "no data set"))
        if np.isfinite(self.lowest).any():
            low, high = float(np.nanmin(self.lowest)), float(np.nanmax(self.highest))
            facts.append(("Scale", f"{self.scale}, {low:g} to {high:g}"))
        facts.append(("Direction", "looks like a loss: less is better" if self.loss else "taken as higher is better"))
        return facts

    def _missing_places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.flatnonzero(self.missing.any(axis=1)), np.flatnonzero(self.missing.any(axis=0))

    def _missing_rows(self) -> list[list[str]]:
        """The first data sets and algorithms that lack scores, with a header."""
        rows, columns = self._missing_places()
        if not len(rows):
            return []
        columns = columns[:COLUMNS_SHOWN]
        header = ["", *(_short(self.algorithms[column]) for column in columns)]
        body = [
            [_short(self.datasets[row]), *(str(self.missing[row, column] or "-") for column in columns)]
            for row in rows[:ROWS_SHOWN]
        ]
        return [header, *body]

    def _more_missing(self) -> list[str]:
        rows, columns = self._missing_places()
        more = [
            f"{len(found) - limit:,} more {thing}"
            for found, limit, thing in ((rows, ROWS_SHOWN, "data sets"), (columns, COLUMNS_SHOWN, "algorithms"))
            if len(found) > limit
        ]
        return [f"... and {' and '.join(more)}"] if more else []


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
    >>> check.exit_code, len(check.datasets), sorted(set(check.rho.tolist()))
    (1, 43, [0.1])
    >>> print(check.problems[0].message)
    2 data sets have pairs of algorithms whose differences never vary: 'monk-2', 'mushroom'.
    """
    higher_is_better = true_or_false("higher_is_better", higher_is_better)
    rho = checked_rho(rho)
    problems: list[Problem] = []
    source = str(scores) if isinstance(scores, (str, Path)) else None
    frame, kind = scores, None
    if source is not None:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always", HiercompWarning)
            try:
                options = _with_format(source, columns, rho, options)
            except (ScoreFileError, ScoreTableError) as error:
                return _check(source, None, 0, None, [Problem.of("error", error)])
            kind = str(options["format"])
            try:
                frame = read_scores(source, columns=columns, **options)
            except (ScoreFileError, ScoreTableError) as error:
                given = {name: value for name, value in options.items() if name != "format"}
                frame, problems = survey(source, kind, columns, given, error)
                if frame is None:
                    return _check(source, None, 0, None, problems)
        columns = columns if kind == "tidy" else None
        told = [warning.message for warning in raised if issubclass(warning.category, HiercompWarning)]
        problems += [Problem.of("warning", text) for text in told]
    measure = getattr(frame, "attrs", {}).get("measure")
    facts, found = examine(frame, columns, higher_is_better=higher_is_better, rho=rho, measure=measure)
    return _check(source, kind, len(frame) if hasattr(frame, "__len__") else 0, facts, problems + found)


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
    source: str | None, kind: str | None, rows: int, facts: TableFacts | None, problems: Sequence[Problem]
) -> TableCheck:
    whole, real = np.zeros(0, dtype=np.int64), np.zeros(0)
    facts = facts or TableFacts(
        (), (), whole, whole, real, whole, whole.reshape(0, 0), whole, real, real, "other", False
    )
    ordered = sorted(dict.fromkeys(problems), key=lambda problem: problem.severity)  # "error" stands before "warning"
    return TableCheck(source=source, format=kind, rows=rows, problems=tuple(ordered), **vars(facts))


def _short(name: str) -> str:
    """A name of limited width."""
    text = shown(name)
    return text if len(text) <= NAME_WIDTH else f"{text[: NAME_WIDTH - 3]}..."


def _names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    listed = ", ".join(_short(name) for name in names[:5])
    return f"{listed} and {len(names) - 5:,} more" if len(names) > 5 else listed


def _by_dataset(values: NDArray[Any], datasets: Sequence[str]) -> str:
    """One value where all data sets have it, else the commonest and the first that differ."""
    plain = [_plain(value) for value in values]
    texts = ["unknown" if value is None else f"{value:.4g}" for value in plain]
    common = max(dict.fromkeys(texts), key=texts.count)
    others = [(name, text) for name, text in zip(datasets, texts, strict=True) if text != common]
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
