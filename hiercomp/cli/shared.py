"""What the commands share besides options: exit codes and the printing of results."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.cli.streams import say

if TYPE_CHECKING:
    from hiercomp.report import Source

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
EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED = 2, 3, 130


def one_line(message: str) -> str:
    """A message without line breaks."""
    return " ".join(message.split())


def print_result(result: Any) -> None:
    """In colour on a terminal, plain elsewhere."""
    say(result)


def score_source(path: Path) -> Source | None:
    """Name and hash of the file of scores, for a report; None for a folder and for standard input."""
    from hiercomp.report import Source

    return Source.of(path) if path.is_file() else None


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
