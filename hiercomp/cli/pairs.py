"""``hiercomp pairs``: every pair of many algorithms, or every algorithm against one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from hiercomp.cli.shared import (
    EXIT_FAILED,
    AlphaOption,
    ColumnOption,
    DecimalOption,
    DropUnpairedOption,
    EncodingOption,
    EngineOption,
    ForceOption,
    FormatOption,
    ImporterOption,
    LargestBytesOption,
    LowerIsBetterOption,
    PercentOption,
    PriorOption,
    RhoOption,
    RopeOption,
    ScoresArgument,
    SeedOption,
    SeparatorOption,
    check_outputs,
    named_columns,
    named_priors,
    parsed_rope,
    print_summary,
    read_table,
    score_source,
    write_json,
)
from hiercomp.errors import ArgumentError, HiercompWarning


def pairs(
    scores: ScoresArgument,
    rope: RopeOption = "0.01",
    baseline: Annotated[
        str | None, typer.Option(help="Compare every other algorithm with this one only; best takes the best mean.")
    ] = None,
    rho: RhoOption = None,
    lower_is_better: LowerIsBetterOption = False,
    drop_unpaired: DropUnpairedOption = False,
    column: ColumnOption = None,
    file_format: FormatOption = "auto",
    option: ImporterOption = None,
    encoding: EncodingOption = None,
    sep: SeparatorOption = None,
    decimal: DecimalOption = ".",
    percent: PercentOption = False,
    largest_bytes: LargestBytesOption = None,
    prior: PriorOption = "default",
    alpha: AlphaOption = 0.05,
    engine: EngineOption = "quadrature",
    seed: SeedOption = 0,
    jobs: Annotated[int, typer.Option(help="Processes at once; -1 for every core.")] = -1,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keep finished pairs in this file, and go on from it where it exists.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the summary as JSON; - prints it.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a report: one HTML file with figures and tables.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Compare every pair of algorithms of a table of cross-validation scores, and rank them.

    Exit code 0: a result; 2: an error in the input; 3: some pair has no result, and the notes say why.
    """
    from hiercomp.arguments import number_between
    from hiercomp.tournament import compare_all

    number_between("alpha", alpha, 0, 0.5)
    outputs = {"--json": json_file, "--report": report}
    check_outputs(outputs, force)
    for named_by, path in outputs.items():
        if path is not None and checkpoint is not None and path.absolute() == checkpoint.absolute():
            raise ArgumentError(f"--checkpoint and {named_by} both name {path}.")
    named = named_columns(column or [])
    source = None if report is None else score_source(scores)
    table_of_scores = read_table(
        scores,
        named,
        file_format=file_format,
        option=option,
        encoding=encoding,
        sep=sep,
        decimal=decimal,
        percent=percent,
        largest_bytes=largest_bytes,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the summary
        result = compare_all(
            table_of_scores,
            rope=parsed_rope(rope),
            engine=engine,
            baseline=baseline,
            n_jobs=jobs,
            seed=seed,
            checkpoint=checkpoint,
            rho=rho,
            higher_is_better=not lower_is_better,
            priors=named_priors(prior),
            columns=named,
            missing="drop" if drop_unpaired else "error",
            dask=dask,
        )
    summary = result.summary(alpha)
    if report is not None:
        from hiercomp.report import write_tournament_report

        write_tournament_report(result, report, source=source, alpha=alpha, overwrite=force)
    if json_file is not None:
        write_json(summary.to_dict(), json_file)
    if str(json_file) != "-":
        print_summary(summary)
    raise typer.Exit(EXIT_FAILED if result.status == "failed" else 0)
