"""A progress bar for sampling, on standard error or in a notebook, that leaves nothing behind."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Report(Protocol):
    """Called with a chain's number and its finished iterations."""

    def __call__(self, chain: int, iteration: int) -> None:
        """Take note that a chain has finished so many iterations."""


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


@contextmanager
def sampling_progress(description: str, chains: int, iterations: int, *, shown: bool) -> Iterator[Report | None]:
    """A bar over all chains; yields the function that reports, or None where nothing is to be shown.

    Shown on a terminal and in a notebook; a pipe or a log gets nothing.
    """
    if not shown or not (sys.stderr.isatty() or in_notebook()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    finished = [0] * chains
    lock = threading.Lock()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(description, total=chains * iterations)

        def report(chain: int, iteration: int) -> None:
            with lock:
                finished[chain] = max(finished[chain], iteration)
                progress.update(task, completed=sum(finished))

        yield report
