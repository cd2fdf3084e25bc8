"""``hiercomp check``: what a file of scores contains, and every problem in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hiercomp.cli.options import DirectionOption, OutputOptions, ReadingOptions, RhoOption
from hiercomp.cli.shared import (
    as_option,
    file_of,
    in_options,
    pasted,
    score_source,
    with_command,
)

if TYPE_CHECKING:
    from hiercomp.scores.problems import TableProblem


def check(
    scores: Annotated[
        Path, typer.Argument(help="A file of scores, tidy or from another tool, a folder, or - for standard input.")
    ],
    reading: ReadingOptions,
    outputs: OutputOptions,
    rho: RhoOption = None,
    higher_is_better: DirectionOption = None,
) -> None:
    """Summarise a file of scores and list every problem in it, without a fit.

    Exit code 0: fine; 1: warnings; 2: errors.
    """
    from hiercomp.files.check import check_scores

    outputs.check(scores)
    arguments = reading.arguments()  # whose rho is the column that --column names
    if rho is not None:
        arguments["rho"] = rho
    result = check_scores(scores, higher_is_better=higher_is_better, **arguments)
    source = None if outputs.json_file is None or not scores.is_file() else score_source(scores)
    problems = tuple(_to_paste(problem, scores, reading) for problem in result.problems)
    content = result.to_dict() | file_of(source)
    outputs.present(content, replace(result, problems=problems), code=result.exit_code)


def _to_paste(problem: TableProblem, scores: Path, reading: ReadingOptions) -> TableProblem:
    """A problem in the words of the command line; a proposed mapping as the command that uses it."""
    message, remedy = (in_options(text, problem.arguments) for text in (problem.message, problem.remedy))
    remedy = with_command(remedy, problem.key, scores, reading.pasted())
    if problem.key == "proposed_mapping":
        remedy = f"Run: {pasted(' '.join(map(as_option, problem.arguments)))}"
    return replace(problem, message=message, remedy=remedy)
