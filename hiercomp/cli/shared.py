"""Options and helpers that the commands share."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hiercomp.errors import ArgumentError, HiercompWarning, ResultFileError

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.model.priors import Priors
    from hiercomp.report import Source
    from hiercomp.summary.comparison import Summary
    from hiercomp.summary.tournament import TournamentSummary

EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED = 2, 3, 130

OWN_OPTIONS = (
    *("path", "source", "scores", "format", "columns", "rho", "higher_is_better"),
    *("encoding", "separator", "decimal", "percent", "largest_bytes"),
)
ScoresArgument = Annotated[
    Path, typer.Argument(help="Scores: a tidy .csv, .csv.gz or .parquet file, or a result file of another tool.")
]
FormatOption = Annotated[
    str, typer.Option("--format", help="auto, tidy, wide, weka, mlr3, tidymodels, mlflow, lm_eval or sklearn.")
]
ImporterOption = Annotated[
    list[str] | None,
    typer.Option(help="Of the format, such as measure=classif.acc or folds=10; may be repeated.", metavar="NAME=VALUE"),
]
EncodingOption = Annotated[str | None, typer.Option(help="Encoding of a text file; by default UTF-8.")]
SeparatorOption = Annotated[str | None, typer.Option("--sep", help="What separates cells; by default found.")]
PercentOption = Annotated[bool, typer.Option("--percent", help="Take cells such as 91% and divide them by 100.")]
LargestBytesOption = Annotated[
    int | None, typer.Option(help="Refuse a table of more bytes, decompressed; by default 4,000,000,000.", min=1)
]
DecimalOption = Annotated[str, typer.Option(help="The decimal sign.")]
RopeOption = Annotated[str, typer.Option(help="Half-width of the region of equivalence, or LOWER:UPPER.")]
RhoOption = Annotated[float | None, typer.Option(help="Correlation between folds; by default 1/folds.")]
LowerIsBetterOption = Annotated[bool, typer.Option("--lower-is-better", help="The metric is a loss or an error.")]
DropUnpairedOption = Annotated[
    bool, typer.Option("--drop-unpaired", help="Leave out folds that one algorithm lacks, and say so.")
]
ColumnOption = Annotated[
    list[str] | None, typer.Option(help="ROLE=NAME, such as score=auc; may be repeated.", metavar="ROLE=NAME")
]
PriorOption = Annotated[str, typer.Option(help="default, juarez_steel, kruschke or gaussian.")]
AlphaOption = Annotated[float, typer.Option(help="A verdict needs a probability above 1 - alpha.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
EngineOption = Annotated[str, typer.Option(help="auto, embedded, cmdstan or quadrature.")]
SeedOption = Annotated[int, typer.Option(help="Seed of every random draw.")]


def one_line(message: str) -> str:
    """A message without line breaks."""
    return " ".join(message.split())


def print_summary(summary: Summary | TournamentSummary) -> None:
    """In colour on a terminal, plain elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(summary)
    else:
        typer.echo(str(summary))


def parsed_rope(text: str) -> float | tuple[float, float]:
    """The rope that ``--rope`` names."""
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


def named_priors(name: str) -> Priors:
    """The priors that ``--prior`` names."""
    from hiercomp.model.priors import NAMED_PRIORS

    if name not in NAMED_PRIORS:
        raise ArgumentError(f"--prior must be one of {', '.join(NAMED_PRIORS)}, got {name!r}.")
    return NAMED_PRIORS[name]


def named_columns(pairs: list[str]) -> dict[str, str]:
    """Which column is which, from the ROLE=NAME of ``--column``."""
    columns = {}
    for pair in pairs:
        role, found, name = pair.partition("=")
        if not found or not name:
            raise ArgumentError(f"--column must be ROLE=NAME such as score=auc, got {pair!r}.")
        columns[role] = name
    return columns


def importer_options(pairs: list[str]) -> dict[str, Any]:
    """NAME=VALUE as an argument of an importer: numbers, true and false as such, all else as text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, given, value = pair.partition("=")
        if not given or not value:
            raise ArgumentError(f"--option must be NAME=VALUE such as folds=10, got {pair!r}.")
        if name in OWN_OPTIONS:
            raise ArgumentError(f"--option {pair} is not of a format; it has an option of its own. See --help.")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def read_table(
    path: Path,
    columns: dict[str, str],
    *,
    file_format: str,
    option: list[str] | None,
    encoding: str | None,
    sep: str | None,
    decimal: str,
    percent: bool,
    largest_bytes: int | None,
) -> pd.DataFrame:
    """The scores of a file, with what is to be said of its reading on standard error."""
    from hiercomp.files.read import read_scores

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are among the notes
        table = read_scores(
            path,
            format=file_format,
            columns=columns or None,
            encoding=encoding,
            separator=sep,
            decimal=decimal,
            percent=percent,
            largest_bytes=largest_bytes,
            **importer_options(option or []),
        )
    if table.attrs["format"] != "tidy":
        typer.echo(f"hiercomp: {path} was read as {table.attrs['format']}", err=True)
    for note in table.attrs["notes"]:
        typer.echo(f"hiercomp: {one_line(note)}", err=True)
    return table


def score_source(path: Path) -> Source:
    """Name and hash of the file of scores, for a report."""
    from hiercomp.report import Source

    return Source.of(path)


def check_outputs(paths: dict[str, Path | None], force: bool) -> None:
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


def write_json(content: dict[str, Any], path: Path) -> None:
    """Write a dictionary as JSON; to standard output where the path is -."""
    text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ResultFileError(f"{path} can't be written: {error.strerror}.") from error
