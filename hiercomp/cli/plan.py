"""``hiercomp plan``: how many data sets and runs are needed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hiercomp.cli.options import DropUnpairedOption, EngineOption, ModelOptions, OutputOptions, TableOptions
from hiercomp.cli.shared import file_of, score_source
from hiercomp.errors import ArgumentError, HiercompWarning

POPULATION, SIZES = "Assumed population, unless there is a pilot", "Sizes to try"


@dataclass(frozen=True)
class PopulationOptions:
    """The assumed population of data sets; a pilot is the alternative."""

    delta0: Annotated[
        float | None,
        typer.Option(
            help="Assumed mean difference of the data sets; above 0 the right is better.", rich_help_panel=POPULATION
        ),
    ] = None
    sigma0: Annotated[
        float | None,
        typer.Option(help="Assumed scale of the data sets' mean differences.", rich_help_panel=POPULATION),
    ] = None
    nu: Annotated[
        float | None,
        typer.Option(help="Degrees of freedom of the population; Gaussian by default.", rich_help_panel=POPULATION),
    ] = None
    sd: Annotated[
        str | None,
        typer.Option(
            help="Standard deviation of the folds' differences within a data set; or several to draw from, as A,B,...",
            rich_help_panel=POPULATION,
        ),
    ] = None


def plan(
    assumption: PopulationOptions,
    reading: TableOptions,
    model: ModelOptions,
    outputs: OutputOptions,
    pilot: Annotated[
        Path | None, typer.Option(help="Scores of a pilot; its posterior replaces the assumed population.")
    ] = None,
    left: Annotated[str | None, typer.Option(help="The left algorithm.")] = None,
    right: Annotated[str | None, typer.Option(help="The right algorithm.")] = None,
    datasets: Annotated[
        str, typer.Option(help="Numbers of data sets.", metavar="Q,Q,...", rich_help_panel=SIZES)
    ] = "10,20,30,50",
    runs: Annotated[
        str | None,
        typer.Option(
            help="Numbers of runs; by default 10, or those of the pilot.", metavar="R,R,...", rich_help_panel=SIZES
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(help="Folds of a run; by default 10, or those of the pilot.", rich_help_panel=SIZES),
    ] = None,
    largest_difference: Annotated[
        float | None, typer.Option(help="Bound of the prior on delta0, for a metric outside [0, 1].")
    ] = None,
    simulations: Annotated[int, typer.Option(help="Simulated collections of each size.")] = 200,
    drop_unpaired: DropUnpairedOption = False,
    engine: EngineOption = "quadrature",
    jobs: Annotated[int, typer.Option(help="Fits to run in parallel; -1 for all cores.")] = -1,
) -> None:
    """Estimate by simulation how probable each verdict is with so many data sets and runs.

    Use either an assumed population (--delta0, --sigma0, --nu, --sd) or the posterior of a pilot (--pilot).
    """
    from hiercomp.planning import plan as planning
    from hiercomp.scores.ropes import is_for_each_dataset

    outputs.check(pilot)
    priors = model.priors
    priors = priors if largest_difference is None else replace(priors, delta0_bound=largest_difference)
    common: dict[str, Any] = {
        "n_datasets": _whole_numbers("--datasets", datasets),
        "rho": model.correlation,
        "rope": model.interval,
        "alpha": model.alpha,
        "priors": priors,
        "simulations": simulations,
        "engine": engine,
        "n_jobs": jobs,
        "seed": model.seed,
    }
    number_of_runs = None if runs is None else _whole_numbers("--runs", runs)
    assumed = {f"--{name}": value for name, value in vars(assumption).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the notes
        if pilot is None:
            given = {
                "--higher-is-better": model.higher_is_better is True,
                "--lower-is-better": model.higher_is_better is False,
                "--transform": model.ratio is not None,
                "--drop-unpaired": drop_unpaired,
            } | dict.fromkeys(reading.given(), True)
            _refuse(given, "needs --pilot")
            if is_for_each_dataset(common["rope"]):
                raise ArgumentError(f"--rope must be a half-width or LOWER:UPPER without --pilot, got {model.rope!r}.")
            if common["rho"] == "runs":
                raise ArgumentError("--rho runs needs --pilot, whose runs say how much their means vary.")
            lacking = [option for option, value in assumed.items() if value is None and option != "--nu"]
            if lacking:
                raise ArgumentError(f"{lacking[0]} is needed, or --pilot with the scores of a pilot.")
            result = planning.plan(
                delta0=assumption.delta0,  # type: ignore[arg-type]
                sigma0=assumption.sigma0,  # type: ignore[arg-type]
                nu=float("inf") if assumption.nu is None else assumption.nu,
                standard_deviation=_numbers("--sd", assumption.sd or ""),
                folds=10 if folds is None else folds,
                runs=number_of_runs or (10,),
                left=left or "left",
                right=right or "right",
                **common,
            )
        else:
            given = {option: value is not None for option, value in assumed.items()}
            _refuse(given, "and --pilot exclude each other; leave one of them out")
            missing: Literal["error", "drop"] = "drop" if drop_unpaired else "error"
            fitted = _pilot(pilot, left, right, reading, model, common, missing=missing, progress=not outputs.quiet)
            if common["rho"] == "runs":
                common["rho"] = None  # that of the pilot
            common["rope"] = fitted.rope
            result = planning.plan_from_result(fitted, folds=folds, runs=number_of_runs, **common)
    file = score_source(pilot) if pilot is not None and outputs.json_file is not None else None
    outputs.present(result.to_dict() | file_of(file), result)


def _pilot(
    path: Path,
    left: str | None,
    right: str | None,
    reading: TableOptions,
    model: ModelOptions,
    common: dict[str, Any],
    *,
    missing: Literal["error", "drop"],
    progress: bool,
) -> Any:
    from hiercomp.comparison import HierarchicalComparison

    comparison = HierarchicalComparison(
        reading.read(path, rho=common["rho"], rope=common["rope"]),
        left=left,
        right=right,
        rope=common["rope"],
        rho=common["rho"],
        higher_is_better=model.higher_is_better,
        priors=common["priors"],
        missing=missing,
        transform=model.ratio,
    )
    return comparison.fit(common["engine"], seed=common["seed"], progress=progress)


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
