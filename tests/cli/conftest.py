"""The command line in this process, for every test of a command."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.command_line import Done, run


@pytest.fixture
def hiercomp() -> Callable[..., Done]:
    """``hiercomp(folder, *arguments)`` runs the command in a folder and gives its exit code and what it printed."""
    return run
