"""What the commands share besides options: exit codes and the printing of results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations, pairwise
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from hiercomp.cli.streams import say
from hiercomp.errors import HiercompError

if TYPE_CHECKING:
    from hiercomp.errors import Argument
    from hiercomp.files.source import Source

ROLES = ("dataset", "algorithm", "run", "fold", "score")
SWITCHES: dict[tuple[str, object], str] = {
    ("higher_is_better", False): "--lower-is-better",
    ("higher_is_better", True): "--higher-is-better",
    ("percent", True): "--percent",
    ("missing", "drop"): "--drop-unpaired",
    ("overwrite", True): "--force",
}
OPTIONS = {
    **{
        name: f"--{name}"
        for name in (
            *("measure", "folds", "format", "left", "right", "rho", "rope", "transform", "encoding", "decimal"),
            *("baseline", "engine", "alpha", "likelihood"),
        )
    },
    "separator": "--sep",
    "largest_bytes": "--largest-bytes",
}
OF_MEANS = "hc.bayesian_signed_rank_test or hc.signed_rank_test"
TESTS: dict[str, tuple[str, list[str]]] = {  # by an error's key: the functions that it names, and the options instead
    "no_folds": (OF_MEANS, []),
    "constant_everywhere": (OF_MEANS, []),
    "single_dataset": ("hc.correlated_t_test", ["--test", "correlated-t"]),
}
PASTED = ("proposed_mapping", "unnamed_algorithms")  # errors whose remedy is the same command with more options
EXIT_UNMET, EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_TERMINATED = 1, 2, 3, 130, 143


def one_line(message: str) -> str:
    """A message without line breaks."""
    return " ".join(message.split())


def complain(error: HiercompError | str) -> None:
    """Print an error as one line on standard error, in the words of the command line."""
    typer.echo(f"hiercomp: {one_line(error if isinstance(error, str) else _in_words(error))}", err=True)


def _in_words(error: HiercompError) -> str:
    """An error in the command line's words; where options are all that lacks, the command to paste."""
    if error.key in PASTED:
        options = " ".join(map(as_option, error.arguments))
        return f"{error.message} Run: {pasted(options)}"
    return in_options(str(error), error.arguments)


def print_result(result: Any) -> None:
    """In colour on a terminal, plain elsewhere."""
    say(result)


def score_source(path: Path) -> Source | None:
    """Name and hash of the file of scores, for a report; None for a folder and for standard input."""
    from hiercomp.files.source import Source

    return Source.of(path) if path.is_file() else None


def file_of(source: Source | None) -> dict[str, Any]:
    """What the JSON says of the file of scores."""
    return {"file": None if source is None else source.to_dict()}


@contextmanager
def naming_the_tests(
    scores: Path, reading: Sequence[str], left: str | None = None, right: str | None = None
) -> Iterator[None]:
    """Within this, an error that names tests of Python's names the command ``hiercomp test`` instead, to be pasted.

    ``reading`` has the words of the options that say how the scores are read.
    """
    try:
        yield
    except HiercompError as error:
        if error.key not in TESTS:
            raise
        text = with_command(str(error), error.key, scores, reading, left, right)
        raise type(error)(
            text, places=error.places, key=error.key, count=error.count, arguments=error.arguments
        ) from error


def with_command(
    text: str, key: str, scores: Path, reading: Sequence[str], left: str | None = None, right: str | None = None
) -> str:
    """The message of an error that names tests of Python's, with ``hiercomp test`` instead, to be pasted."""
    if key not in TESTS:
        return text
    functions, option = TESTS[key]
    sides = [part for name, value in (("--left", left), ("--right", right)) if value for part in (name, value)]
    return text.replace(f"{functions}.", shlex.join(["hiercomp", "test", str(scores), *sides, *option, *reading]))


def in_options(text: str, arguments: Sequence[Argument]) -> str:
    """A message with the arguments that it writes in Python as options of the command line, to be pasted.

    Examples
    --------
    >>> from hiercomp.errors import Argument
    >>> names = Argument("left", "naive bayes"), Argument("right", "tree")
    >>> in_options("Name them, for instance left='naive bayes', right='tree'.", names)
    "Name them, for instance --left 'naive bayes' --right tree."
    >>> in_options("Pass higher_is_better=False (--lower-is-better).", [Argument("higher_is_better", False)])
    'Pass --lower-is-better.'
    """
    written = {str(argument): option for argument in arguments if (option := as_option(argument))}
    for python in sorted(written, key=len, reverse=True):
        text = text.replace(python, written[python])
    options = list(written.values())
    for first, second in pairwise(options):  # several arguments are one list in Python, and words on a command line
        text = text.replace(f"{first}, {second}", f"{first} {second}")
    for start, end in combinations(range(len(options) + 1), 2):  # where the message has both spellings
        run = " ".join(options[start:end])
        text = text.replace(f"{run} ({run})", run)
        text = text.replace(f"{run} ({run.split()[0]})", run)
    return text


def as_option(argument: Argument) -> str:
    """An argument as an option; nothing if the command line has none for it."""
    name, value = argument.name, argument.value
    if isinstance(value, (bool, str)) and (name, value) in SWITCHES:
        return SWITCHES[name, value]
    if name in ROLES:
        return f"--column {quote(f'{name}={_chosen(value)}')}"
    if name in ("columns", "where") and isinstance(value, Mapping):
        option = "--column" if name == "columns" else "--where"
        return " ".join(f"{option} {quote(f'{role}={_chosen(one)}')}" for role, one in value.items())
    if name not in OPTIONS:
        return ""
    return OPTIONS[name] if value is ... else f"{OPTIONS[name]} {_quoted(str(value))}"


def pasted(options: str) -> str:
    """The command line that was given, with more options, for the shell."""
    return f"{shlex.join(['hiercomp', *sys.argv[1:]])} {options}"


def _quoted(text: str) -> str:
    """For the shell; a mark such as a comma in quotation marks, to be seen."""
    return quote(text) if any(map(str.isalnum, text)) or "'" in text else f"'{text}'"


def _chosen(value: object) -> object:
    return "NAME" if value is ... else value
