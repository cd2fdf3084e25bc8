"""``hiercomp compare`` and ``hiercomp demo``: two algorithms."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from hiercomp.errors import HiercompWarning

if TYPE_CHECKING:
    from hiercomp.posterior.result import ComparisonResult
    from hiercomp.posterior.sensitivity import Sensitivity


def demo(engine: EngineOption = "auto", seed: SeedOption = 0) -> None:
    """Compare naive Bayes with a decision tree on the bundled scores of 43 KEEL data sets."""
    from hiercomp.comparison import HierarchicalComparison
    from hiercomp.scores.bundled import load_scores

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the summary
        comparison = HierarchicalComparison(load_scores("keel"), left="naive_bayes", right="decision_tree", rope=0.01)
        result = comparison.fit(engine, seed=seed)
    print_summary(result.summary(alpha=0.05))
    typer.echo("\nYour own scores: hiercomp compare scores.csv --left A --right B --rope 0.01", err=True)
    raise typer.Exit(EXIT_FAILED if result.status == "failed" else 0)


def compare(
    scores: ScoresArgument,
    left: Annotated[str | None, typer.Option(help="The left algorithm; needed where there are more than two.")] = None,
    right: Annotated[str | None, typer.Option(help="The right algorithm.")] = None,
    rope: RopeOption = "0.01",
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
    engine: EngineOption = "auto",
    chains: Annotated[int, typer.Option(help="Markov chains.")] = 4,
    warmup: Annotated[int, typer.Option(help="Warmup iterations of a chain.")] = 1000,
    draws: Annotated[int, typer.Option(help="Draws of a chain.")] = 1000,
    seed: SeedOption = 0,
    closed_form_tests: Annotated[
        bool, typer.Option("--closed-form-tests", help="Also show what the tests without the model say.")
    ] = False,
    sensitivity: Annotated[
        bool,
        typer.Option("--sensitivity", help="Also fit under other priors, correlations and bounds; in the report too."),
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the summary as JSON; - prints it.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Also save the whole result as netCDF.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a report: one HTML file with figures and tables.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Compare two algorithms of a table of cross-validation scores.

    Exit code 0: a result; 2: an error in the input; 3: the computation failed its checks and there is no verdict.
    """
    from hiercomp.arguments import number_between
    from hiercomp.comparison import HierarchicalComparison

    number_between("alpha", alpha, 0, 0.5)
    check_outputs({"--json": json_file, "--save": save, "--report": report}, force)
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
        comparison = HierarchicalComparison(
            table_of_scores,
            left=left,
            right=right,
            rope=parsed_rope(rope),
            rho=rho,
            higher_is_better=not lower_is_better,
            priors=named_priors(prior),
            columns=named,
            missing="drop" if drop_unpaired else "error",
        )
        result = comparison.fit(engine, chains=chains, warmup=warmup, draws=draws, seed=seed)
    content = result.summary(alpha).to_dict()
    table = result.closed_form_tests(seed) if closed_form_tests else None
    variants = _sensitivity(result, alpha) if sensitivity else None
    if save is not None:
        result.save(save, overwrite=force)
    if report is not None:
        from hiercomp.report import write_report

        write_report(result, report, sensitivity=variants, source=source, overwrite=force, alpha=alpha)
    if json_file is not None:
        content |= {} if table is None else {"closed_form_tests": table.to_dict()}
        content |= {} if variants is None else {"sensitivity": _plain_variants(variants)}
        write_json(content, json_file)
    if str(json_file) != "-":
        print_summary(result.summary(alpha))
        for more in (table, variants):
            if more is not None:
                typer.echo(f"\n{more}")
    raise typer.Exit(EXIT_FAILED if result.status == "failed" else 0)


def _sensitivity(result: ComparisonResult, alpha: float) -> Sensitivity | None:
    if result.status == "failed":
        typer.echo("hiercomp: no sensitivity, since the computation failed its checks", err=True)
        return None
    return result.sensitivity(alpha=alpha)


def _plain_variants(variants: Sensitivity) -> list[dict[str, Any]]:
    """Numbers of a variant whose computation failed are null."""
    return [
        {name: None if value != value else value for name, value in vars(variant).items()}
        | {"changed": variant.name in variants.changed}
        for variant in variants.variants
    ]
