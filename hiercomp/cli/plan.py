"""``hiercomp plan``: how many data sets and runs are needed."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hiercomp.cli.shared import (
    AlphaOption,
    ColumnOption,
    DecimalOption,
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
    SeedOption,
    SeparatorOption,
    check_outputs,
    named_columns,
    named_priors,
    parsed_rope,
    read_table,
    write_json,
)
from hiercomp.errors import ArgumentError, HiercompWarning

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.planning.result import PlanResult


def plan(
    delta0: Annotated[float | None, typer.Option(help="Assumed mean difference of the data sets.")] = None,
    sigma0: Annotated[float | None, typer.Option(help="Assumed scale of the data sets' mean differences.")] = None,
    nu: Annotated[float | None, typer.Option(help="Their degrees of freedom; by default Gaussian.")] = None,
    sd: Annotated[
        str | None,
        typer.Option(help="Standard deviation of the folds' differences within a data set; A,B,... to draw from."),
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(help="Tidy scores of a pilot, whose posterior takes the place of the four above.")
    ] = None,
    left: Annotated[str | None, typer.Option(help="The left algorithm.")] = None,
    right: Annotated[str | None, typer.Option(help="The right algorithm.")] = None,
    lower_is_better: LowerIsBetterOption = False,
    column: ColumnOption = None,
    file_format: FormatOption = "auto",
    option: ImporterOption = None,
    encoding: EncodingOption = None,
    sep: SeparatorOption = None,
    decimal: DecimalOption = ".",
    percent: PercentOption = False,
    largest_bytes: LargestBytesOption = None,
    datasets: Annotated[str, typer.Option(help="Numbers of data sets.", metavar="Q,Q,...")] = "10,20,30,50",
    runs: Annotated[
        str | None, typer.Option(help="Numbers of runs; by default 10, or those of the pilot.", metavar="R,R,...")
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Folds of a run; by default 10, or those of the pilot.")] = None,
    rho: RhoOption = None,
    rope: Annotated[str, typer.Option(help="Half-width of the region of equivalence, or LOWER:UPPER.")] = "0.01",
    prior: PriorOption = "default",
    largest_difference: Annotated[
        float | None, typer.Option(help="Bound of the prior on delta0, for a metric outside [0, 1].")
    ] = None,
    alpha: AlphaOption = 0.05,
    simulations: Annotated[int, typer.Option(help="Simulated collections of each size.")] = 200,
    engine: EngineOption = "quadrature",
    jobs: Annotated[int, typer.Option(help="Fits at once; -1 for one on each core.")] = -1,
    seed: SeedOption = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the table as JSON; - prints it.")] = None,
    force: ForceOption = False,
) -> None:
    """Say how probable each verdict is with so many data sets and runs, by simulation.

    Either under an assumed population (--delta0, --sigma0, --nu, --sd) or under what a pilot's scores say of it (--pilot).
    """
    from dataclasses import replace

    from hiercomp.planning import plan as planning

    check_outputs({"--json": json_file}, force)
    priors = named_priors(prior)
    priors = priors if largest_difference is None else replace(priors, delta0_bound=largest_difference)
    assumed = {"--delta0": delta0, "--sigma0": sigma0, "--sd": sd}
    common: dict[str, Any] = {
        "n_datasets": _whole_numbers("--datasets", datasets),
        "rho": rho,
        "rope": parsed_rope(rope),
        "alpha": alpha,
        "priors": priors,
        "simulations": simulations,
        "engine": engine,
        "n_jobs": jobs,
        "seed": seed,
    }
    number_of_runs = None if runs is None else _whole_numbers("--runs", runs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the notes
        if pilot is None:
            _refuse({"--lower-is-better": lower_is_better, "--column": bool(column)}, "has a meaning with --pilot only")
            lacking = [option for option, value in assumed.items() if value is None]
            if lacking:
                raise ArgumentError(f"{lacking[0]} is needed, or --pilot with the scores of a pilot.")
            found = planning.plan(
                delta0=delta0,  # type: ignore[arg-type]
                sigma0=sigma0,  # type: ignore[arg-type]
                nu=float("inf") if nu is None else nu,
                standard_deviation=_numbers("--sd", sd or ""),
                folds=10 if folds is None else folds,
                runs=number_of_runs or (10,),
                left=left or "left",
                right=right or "right",
                **common,
            )
        else:
            given = {option: value is not None for option, value in (assumed | {"--nu": nu}).items()}
            _refuse(given, "is what --pilot stands for; leave one of them out")
            named = named_columns(column or [])
            table = read_table(
                pilot,
                named,
                file_format=file_format,
                option=option,
                encoding=encoding,
                sep=sep,
                decimal=decimal,
                percent=percent,
                largest_bytes=largest_bytes,
            )
            result = _pilot(table, left, right, lower_is_better, named, common)
            found = planning.plan_from_result(result, folds=folds, runs=number_of_runs, **common)
    if json_file is not None:
        write_json(_plain(found), json_file)
    if str(json_file) != "-":
        typer.echo(str(found))


def _pilot(
    table: pd.DataFrame,
    left: str | None,
    right: str | None,
    lower_is_better: bool,
    named: dict[str, str],
    common: dict[str, Any],
) -> Any:
    from hiercomp.comparison import HierarchicalComparison

    comparison = HierarchicalComparison(
        table,
        left=left,
        right=right,
        rope=common["rope"],
        rho=common["rho"],
        higher_is_better=not lower_is_better,
        priors=common["priors"],
        columns=named,
    )
    return comparison.fit(common["engine"], seed=common["seed"])


def _refuse(given: dict[str, bool], reason: str) -> None:
    for option, is_given in given.items():
        if is_given:
            raise ArgumentError(f"{option} {reason}.")


def _whole_numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ArgumentError(f"{option} must be whole numbers such as 10,20,40, got {text!r}.") from None


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ArgumentError(f"{option} must be a number or several such as 0.02,0.03, got {text!r}.") from None


def _plain(found: PlanResult) -> dict[str, Any]:
    """Numbers that are not there are null."""
    rows = found.to_frame().to_dict("records")
    return {
        "title": found.title,
        "conclusion": found.conclusion,
        "algorithms": list(found.algorithms),
        "rope": [found.rope.lower, found.rope.upper],
        "alpha": found.alpha,
        "simulations": found.simulations,
        "assumption": found.assumption,
        "table": [{name: None if value != value else value for name, value in row.items()} for row in rows],
        "notes": list(found.notes),
    }
