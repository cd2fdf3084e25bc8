"""``hiercomp show``: a saved result, without fitting it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiercomp.cli.compare import _plain_variants, _sensitivity
from hiercomp.cli.options import MODEL, OutputOptions, ReportOption, rope_interval
from hiercomp.cli.paper import OF_TWO, PaperOptions
from hiercomp.cli.shared import EXIT_FAILED, print_result
from hiercomp.cli.streams import say


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
    closed_form_tests: Annotated[
        bool, typer.Option("--closed-form-tests", help="Also show the tests that don't need the single scores.")
    ] = False,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity", help="Also fit with other priors, correlations and bounds, and add them to the report."
        ),
    ] = False,
    report: ReportOption = None,
) -> None:
    """Show the summary of a saved result, or write its report, without fitting it again.

    Exit code 0: a result; 2: the file is not one; 3: its computation failed its checks and there is no verdict.
    """
    from hiercomp.arguments import verdict_level
    from hiercomp.comparison import load_result

    verdict_level(alpha)
    interval = rope_interval(rope)
    outputs.check(report=report, **paper.files(OF_TWO))
    found = load_result(result)
    if interval is not None:
        found = found.with_rope(interval)
    summary = found.summary(alpha)
    table = found.closed_form_tests() if closed_form_tests else None
    variants = _sensitivity(found, alpha) if sensitivity else None
    if report is not None:
        from hiercomp.report import write_report

        write_report(found, report, sensitivity=variants, overwrite=outputs.force, alpha=alpha)
    content = {} if outputs.json_file is None else found.to_dict(alpha)
    content |= {} if table is None else {"closed_form_tests": table.to_dict()}
    content |= {} if variants is None else {"sensitivity": _plain_variants(variants)}
    content |= paper.write(found, OF_TWO, alpha=alpha, overwrite=outputs.force)
    outputs.write_json(content)
    if outputs.text_wanted:
        print_result(summary)
        for more in (table, variants, *paper.texts(found, alpha=alpha)):
            if more is not None:
                say(f"\n{more}")
    outputs.tell_written(report, *paper.files(OF_TWO).values())
    raise typer.Exit(EXIT_FAILED if found.status == "failed" else 0)
