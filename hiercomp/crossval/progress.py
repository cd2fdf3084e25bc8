"""A progress bar that counts cells and says how long the rest will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hiercomp.workers import in_notebook


@dataclass
class CellCount:
    """The cells of a run: those that are finished, and how many there will be.

    Attributes
    ----------
    datasets : int
        Of the whole run.
    started : int
        Data sets whose cells are counted; each of the others is taken to have as many as these on average.
    known : int
        Cells of these.
    finished : int
        Cells that have a result.
    computed : int
        Cells of these that this run computed, not found in a checkpoint.
    failed : int
        Cells of these that have no score.
    since : float
        When the run began, in seconds of `time.monotonic`.
    bar : rich.progress.Progress or None
        What shows the count.
    """

    datasets: int
    started: int = 0
    known: int = 0
    finished: int = 0
    computed: int = 0
    failed: int = 0
    since: float = field(default_factory=time.monotonic)
    bar: Any = None

    def begin(self, cells: int, found: int) -> None:
        """A data set of so many cells, of which some were found in a checkpoint."""
        self.started += 1
        self.known += cells
        self.finished += found
        self._show()

    def add(self, *, failed: bool) -> None:
        """One more cell is computed."""
        self.finished += 1
        self.computed += 1
        self.failed += failed
        self._show()

    @property
    def total(self) -> int:
        """Cells of the whole run."""
        return round(self.known * self.datasets / self.started) if self.started else 0

    def time_left(self, now: float) -> str:
        """Hours, minutes and seconds that the rest will take at the pace so far; empty where there is none yet.

        Examples
        --------
        >>> count = CellCount(datasets=2, since=0.0)
        >>> count.begin(cells=100, found=90)
        >>> count.time_left(now=20.0)
        ''
        >>> count.add(failed=False)
        >>> count.total, count.time_left(now=20.0)
        (200, '0:36:20 left')
        """
        if self.computed == 0:
            return ""
        seconds = round((now - self.since) / self.computed * (self.total - self.finished))
        minutes, seconds = divmod(seconds, 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left"

    def _show(self) -> None:
        if self.bar is None:
            return
        failed = f"{self.failed} failed" if self.failed else ""
        more = ", ".join(filter(None, ["cells", failed, self.time_left(time.monotonic())]))
        self.bar.update(self.bar.task_ids[0], completed=self.finished, total=self.total, more=more)


@contextmanager
def counted_cells(datasets: int, *, shown: bool) -> Iterator[CellCount]:
    """A count of the cells of so many data sets, with a bar on a terminal or in a notebook; a pipe or a log gets none."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if not shown or not (terminal or in_notebook()):
        yield CellCount(datasets)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[more]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task("Cross-validating", total=None, more="cells")
        yield CellCount(datasets, bar=bar)
