"""What the commands share besides options: exit codes and the printing of results."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hiercomp.errors import HiercompError

if TYPE_CHECKING:
    from hiercomp.cli.options import TableOptions
    from hiercomp.files.source import Source

ROLE = "dataset|algorithm|run|fold|score"
SWITCHES = {
    "higher_is_better=False": "--lower-is-better",
    "percent=True": "--percent",
    "missing='drop'": "--drop-unpaired",
}
OPTIONS = {
    **{
        name: f"--{name}"
        for name in ("measure", "folds", "format", "left", "right", "rho", "encoding", "decimal", "baseline")
    },
    "separator": "--sep",
    "largest_bytes": "--largest-bytes",
}
TESTS = {  # functions that an error names, and the test of the command that does the same
    "hc.bayesian_signed_rank_test or hc.signed_rank_test": [],
    "hc.correlated_t_test": ["--test", "correlated-t"],
}
EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED = 2, 3, 130


def one_line(message: str) -> str:
    """A message without line breaks."""
    return " ".join(message.split())


def print_result(result: Any) -> None:
    """In colour on a terminal, plain elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(result)
    else:
        typer.echo(str(result))


def score_source(path: Path) -> Source | None:
    """Name and hash of the file of scores, for a report; None for a folder and for standard input."""
    from hiercomp.files.source import Source

    return Source.of(path) if path.is_file() else None


def file_of(source: Source | None) -> dict[str, Any]:
    """What the JSON says of the file of scores."""
    return {"file": None if source is None else source.to_dict()}


@contextmanager
def naming_the_tests(
    scores: Path, reading: TableOptions, left: str | None = None, right: str | None = None
) -> Iterator[None]:
    """Within this, an error that names tests of Python's names the command ``hiercomp test`` instead, to be pasted."""
    try:
        yield
    except HiercompError as error:
        text = with_command(str(error), scores, reading, left, right)
        if text == str(error):
            raise
        raise type(error)(text, places=error.places, key=error.key, count=error.count) from error


def with_command(
    text: str, scores: Path, reading: TableOptions, left: str | None = None, right: str | None = None
) -> str:
    """A message that names tests of Python's with ``hiercomp test`` instead, to be pasted."""
    sides = [part for name, value in (("--left", left), ("--right", right)) if value for part in (name, value)]
    for functions, option in TESTS.items():
        command = shlex.join(["hiercomp", "test", str(scores), *sides, *option, *reading.pasted()])
        text = re.sub(rf"{re.escape(functions)}\.?", lambda _: command, text)  # noqa: B023 - used at once
    return text


def in_options(message: str) -> str:
    """A message with the arguments of Python's functions as options of the command line, to be pasted.

    Examples
    --------
    >>> in_options("Choose one with score='log loss', or pass higher_is_better=False (--lower-is-better).")
    "Choose one with --column 'score=log loss', or pass --lower-is-better."
    """
    message = re.sub(r"\b\w+=(?:'[^']*'|\w+)? \((--[^()]*)\)", r"\1", message)
    message = re.sub(r"(--[a-z-]+ [^()]*?) \(\w+=[^()]*\)", r"\1", message)
    message = re.sub(r"columns=\{'(\w+)': ('[^']*'|\.\.\.)\}(?: \(--column\))?", r"\1=\2", message)
    message = re.sub(
        r"\bwhere=\{'([^']*)': '([^']*)'\}", lambda found: f"--where {_quoted(f'{found[1]}={found[2]}')}", message
    )
    for argument, option in SWITCHES.items():
        message = message.replace(argument, option)
    message = re.sub(rf"\b({ROLE})=('[^']*'|\"[^\"]*\"|\.\.\.)(?: \(--column\))?", _column, message)
    for argument, option in OPTIONS.items():
        pattern = rf"(?<![-\w]){argument}=('[^']*'|\"[^\"]*\"|[\w.]*\w)"
        for found in reversed(list(re.finditer(pattern, message))):
            value = _quoted(found[1].strip("'\""))
            message = f"{message[: found.start()]}{option} {value}{message[found.end() :]}"
    return re.sub(r"(--(?:column|format|where|left|right|folds|measure) (?:'[^']*'|[^\s,]+)), (?=--)", r"\1 ", message)


def _column(found: re.Match[str]) -> str:
    name = found[2].strip("'\"") if found[2] != "..." else "NAME"
    return f"--column {_quoted(f'{found[1]}={name}')}"


def _quoted(text: str) -> str:
    return shlex.quote(text)
