"""``hiercomp check``: what a file of scores holds, and everything that is wrong with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hiercomp.cli.shared import (
    ColumnOption,
    DecimalOption,
    EncodingOption,
    ForceOption,
    FormatOption,
    ImporterOption,
    LargestBytesOption,
    LowerIsBetterOption,
    PercentOption,
    RhoOption,
    SeparatorOption,
    check_outputs,
    importer_options,
    named_columns,
    write_json,
)


def check(
    scores: Annotated[Path, typer.Argument(help="A file of scores, tidy or of another tool, or a folder for lm_eval.")],
    file_format: FormatOption = "auto",
    column: ColumnOption = None,
    option: ImporterOption = None,
    rho: RhoOption = None,
    lower_is_better: LowerIsBetterOption = False,
    encoding: EncodingOption = None,
    sep: SeparatorOption = None,
    decimal: DecimalOption = ".",
    percent: PercentOption = False,
    largest_bytes: LargestBytesOption = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the check as JSON; - prints it.")] = None,
    force: ForceOption = False,
) -> None:
    """Say what a file of scores holds, and collect every problem that it has, without a fit.

    Exit code 0: fine; 1: warnings; 2: errors.
    """
    from hiercomp.files.check import check_scores

    check_outputs({"--json": json_file}, force)
    done = check_scores(
        scores,
        columns=named_columns(column or []) or None,
        rho=rho,
        higher_is_better=not lower_is_better,
        format=file_format,
        encoding=encoding,
        separator=sep,
        decimal=decimal,
        percent=percent,
        largest_bytes=largest_bytes,
        **importer_options(option or []),
    )
    if json_file is not None:
        write_json(done.to_dict(), json_file)
    if str(json_file) != "-":
        if sys.stdout.isatty():
            from rich.console import Console

            Console().print(done)
        else:
            typer.echo(str(done))
    raise typer.Exit(done.exit_code)
