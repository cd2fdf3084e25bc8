"""What the commands share besides options: exit codes and the printing of results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from hiercomp.report import Source

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


def score_source(path: Path) -> Source:
    """Name and hash of the file of scores, for a report."""
    from hiercomp.report import Source

    return Source.of(path)
