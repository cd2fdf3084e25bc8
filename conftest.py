"""Options and fixtures of the whole test suite."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

# Small products gain nothing from threads, and every process of pytest-xdist would start as many as there are cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas as pd
import pytest
from hypothesis import settings

from hiercomp.engines import ENGINES

# The same examples in every run, on slow machines too
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

UCI54 = Path(os.environ.get("HIERCOMP_UCI54", Path(__file__).parent.parent / "shared/data/uci54_accuracy.csv.gz"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-cmdstan", action="store_true", help="count the absence of CmdStan as a failure")
    parser.addoption("--require-browser", action="store_true", help="count the absence of Chromium as a failure")


def pytest_configure() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as for what a shell starts in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the programs that tests interrupt must hear it


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With ``--dist loadgroup``, one worker compiles all Stan programs and one has the browser."""
    for item in items:
        for name in ("cmdstan", "browser"):
            if item.get_closest_marker(name) is not None:
                item.add_marker(pytest.mark.xdist_group(name))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("cmdstan") is not None:
        need(ENGINES["cmdstan"].why_unavailable(), required=item.config.getoption("--require-cmdstan"))
    if item.get_closest_marker("browser") is not None:
        found = any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
        need(None if found else "Chromium is not installed", required=item.config.getoption("--require-browser"))


def need(problem: str | None, *, required: bool) -> None:
    """Skip a test whose program is absent, or fail it where that program is required."""
    if problem is not None and required:
        pytest.fail(problem)
    if problem is not None:
        pytest.skip(problem)


@pytest.fixture(scope="session")
def uci54_file() -> Path:
    """The file of `uci54`."""
    if not UCI54.is_file():
        pytest.skip(f"the UCI scores are not here ({UCI54.name}); set HIERCOMP_UCI54 to their path")
    return UCI54


@pytest.fixture(scope="session")
def uci54(uci54_file: Path) -> pd.DataFrame:
    """The scores that the 2017 paper analysed: 54 data sets, 4 WEKA classifiers, 10 runs of 10 folds."""
    return pd.read_csv(uci54_file)
