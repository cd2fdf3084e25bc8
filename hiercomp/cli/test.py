"""``hiercomp test``: the tests without the model, also for one score per data set."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from hiercomp.cli.options import (
    MODEL,
    DirectionOption,
    DropUnpairedOption,
    OutputOptions,
    ReadingOptions,
    RhoOrRunsOption,
    RopeOption,
    ScoresArgument,
    SeedOption,
    rho_given,
    rope_interval,
)
from hiercomp.cli.shared import file_of, score_source
from hiercomp.errors import HiercompWarning


def apply(
    scores: ScoresArgument,
    reading: ReadingOptions,
    outputs: OutputOptions,
    left: Annotated[
        str | None, typer.Option(help="The left algorithm; without left and right, all algorithms are compared.")
    ] = None,
    right: Annotated[str | None, typer.Option(help="The right algorithm.")] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            help="Which test; may be repeated. Two algorithms: sign, signed-rank, bayesian-sign, bayesian-signed-rank; with "
            "folds also correlated-t, poisson-binomial, corrected-t, calibrated-t, five-by-two-f, paired-t, welch-t, "
            "mann-whitney. Many: friedman, nemenyi, wilcoxon. By default those that apply.",
            metavar="NAME",
        ),
    ] = None,
    rope: RopeOption = None,
    rho: RhoOrRunsOption = None,
    higher_is_better: DirectionOption = None,
    drop_unpaired: DropUnpairedOption = False,
    alpha: Annotated[float, typer.Option(help="Level of Nemenyi's critical difference.", rich_help_panel=MODEL)] = 0.05,
    seed: SeedOption = 0,
) -> None:
    """Compare two or many algorithms by tests without the model; one score per data set is enough.

    Exit code 0: a result; 2: an error in the input.
    """
    from hiercomp.closed_form.apply import apply_tests

    outputs.check(scores)
    source = None if outputs.json_file is None else score_source(scores)
    correlation = rho_given(rho)
    interval = rope_interval(rope)
    table = reading.read(scores, rho=correlation, rope=interval)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the notes
        result = apply_tests(
            *(table, left, right),
            tests=test or None,
            rope=interval,
            rho=correlation,
            higher_is_better=higher_is_better,
            missing="drop" if drop_unpaired else "error",
            alpha=alpha,
            seed=seed,
        )
    outputs.present(result.to_dict() | file_of(source), result)
