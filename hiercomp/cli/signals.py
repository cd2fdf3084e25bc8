"""SIGTERM, which batch systems and ``timeout`` send: it ends a command as Ctrl-C does."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Termination:
    """Whether SIGTERM came.

    Attributes
    ----------
    came : bool
    """

    came: bool = False


@contextmanager
def termination(noted: Termination) -> Iterator[None]:
    """Within this, SIGTERM is noted and raises KeyboardInterrupt, so workers are ended and nothing is left behind.

    It may also be raised where this is entered or left. A program that ignores or handles SIGTERM itself is left alone.
    """
    alone = threading.current_thread() is threading.main_thread()  # only there can handlers be set
    if not alone or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def handle(_number: int, _frame: Any) -> None:
        noted.came = True
        _end_children()
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as for what a shell starts in the background
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # whoever handles it now: while it samples, that is stanli

    try:
        signal.signal(signal.SIGTERM, handle)
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end_children() -> None:
    """Send SIGTERM on to the processes that this one started, where the system lists them.

    A terminal sends Ctrl-C to all of them; SIGTERM comes to this one alone, and CmdStanPy would wait for its chains.
    """
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for child in listed.read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGTERM)
