"""A file that a comparison would refuse: everything that is wrong with it, and the table that can be made of the rest."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hiercomp.errors import DroppedScoresWarning, HiercompWarning, ScoreFileError, ScoreTableError
from hiercomp.files.formats.common import LAYOUT_OPTIONS
from hiercomp.files.formats.lm_eval import read_lm_eval, readable_files
from hiercomp.files.formats.sklearn_results import from_grid_search
from hiercomp.files.formats.weka import survey_weka
from hiercomp.files.read import IMPORTERS
from hiercomp.files.table import names_as_text, read_with_notes
from hiercomp.scores.problems import TableProblem
from hiercomp.wording import counted

if TYPE_CHECKING:
    import pandas as pd

MOST_ERRORS = 20  # errors of a file that are listed one by one
TABLES = {**IMPORTERS, "sklearn": from_grid_search}  # what takes a data frame too


def survey(
    source: str,
    kind: str,
    columns: Mapping[str, str] | None,
    options: Mapping[str, Any],
    refusal: ScoreFileError | ScoreTableError,
) -> tuple[pd.DataFrame | None, list[TableProblem]]:
    """Read a refused file as far as it can be read.

    Parameters
    ----------
    source : str
        The file.
    kind : str
        Its format.
    columns : mapping or None
        For tidy tables, which column is which.
    options : mapping
        As for `hiercomp.read_scores`, without ``format``.
    refusal : ScoreFileError or ScoreTableError
        What reading it raised; it stands alone where nothing else is found.

    Returns
    -------
    frame : DataFrame or None
        A tidy table, unchecked, of what could be read.
    problems : list of TableProblem
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
                frame, _ = read_with_notes(source, columns, collected=errors, **layout)
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
