"""The command line, run inside the test's process or as a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

import hiercomp.cli

SIGKILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has none, and skips what sends it
COMMAND = [sys.executable, "-m", "hiercomp.cli"]


@dataclass(frozen=True)
class Done:
    """What a command left behind; the names are those of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def run(folder: Path, *arguments: object) -> Done:
    """Run ``hiercomp`` with some arguments in a folder, in this process."""
    command = ["hiercomp", *map(str, arguments)]
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", command),
        warnings.catch_warnings(),
        CliRunner().isolation() as (output, errors, *_),
    ):
        try:
            hiercomp.cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, output.getvalue().decode(), errors.getvalue().decode())


def run_process(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``hiercomp`` as a user does, in a process of its own."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@contextlib.contextmanager
def own_group(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """A process with a session of its own; whatever a failing test leaves of it is killed."""
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)
        process.communicate()


def assert_group_ends(group: int, seconds: float = 30) -> None:
    """All processes of a group are gone soon; joblib's own would wait for work for five minutes."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("processes are left")


def assert_one_line_of_error(done: Done | subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit code 2, and one line on standard error that holds these parts."""
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("hiercomp: ")
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr
