"""``hiercomp check``: what a file of scores contains, and every problem in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiercomp.cli.options import DirectionOption, OutputOptions, ReadingOptions, RhoOption
from hiercomp.cli.shared import print_result


def check(
    scores: Annotated[
        Path, typer.Argument(help="A file of scores, tidy or from another tool, or a folder for lm_eval.")
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

    outputs.check()
    result = check_scores(scores, rho=rho, higher_is_better=higher_is_better, **reading.arguments())
    outputs.write_json(result.to_dict())
    if outputs.text_wanted:
        print_result(result)
    raise typer.Exit(result.exit_code)
