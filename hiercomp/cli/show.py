"""``hiercomp show``: a saved result, without fitting it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiercomp.cli.compare import ClosedFormTestsOption, PopulationCheckOption, SensitivityOption, present
from hiercomp.cli.options import MODEL, OutputOptions, ReportOption, rope_interval
from hiercomp.cli.paper import OF_TWO, PaperOptions


def show(
    result: Annotated[Path, typer.Argument(help="A result that compare --save wrote: a netCDF file.")],
    outputs: OutputOptions,
    paper: PaperOptions,
    rope: Annotated[
        str | None,
        typer.Option(
            help="Another rope than that of the fit: a half-width such as 0.01 or 1%, or LOWER:UPPER.",
            metavar="WIDTH",
            rich_help_panel=MODEL,
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="A verdict needs a probability above 1 - alpha.", rich_help_panel=MODEL)
    ] = 0.05,
    closed_form_tests: ClosedFormTestsOption = False,
    sensitivity: SensitivityOption = False,
    population_check: PopulationCheckOption = False,
    report: ReportOption = None,
) -> None:
    """Show the summary of a saved result, or write its report, without fitting it again.

    Exit code 0: a result; 2: the file is not one; 3: its computation failed its checks and there is no verdict.
    """
    from hiercomp.arguments import verdict_level
    from hiercomp.comparison import load_result
    from hiercomp.rope import Rope

    verdict_level(alpha)
    interval = rope_interval(rope)
    outputs.check(result, report=report, **paper.files(OF_TWO))
    found = load_result(result)
    if interval is not None:
        found = found.with_rope(Rope.of(interval))
    present(
        found, outputs, paper,
        alpha=alpha, seed=found.settings.seed, closed_form_tests=closed_form_tests, sensitivity=sensitivity,
        population_check=population_check, report=report,
    )  # fmt: skip
