"""The progress bar of a cross-validation: cells, time left, failures, and where it is silent."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hiercomp.workers import Progress
from tests.terminal import read_to_end

PROGRAM = """
import sys, warnings
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from hiercomp.crossval import cross_validate_all

class Slow(GaussianNB):
    def fit(self, X, y):
        import time
        time.sleep(0.05)
        if X.shape[1] == 13 and sys.argv[3] == "fails":
            raise RuntimeError("too slow")
        return super().fit(X, y)

warnings.simplefilter("ignore")
cross_validate_all(
    {"slow": Slow(), "tree": DecisionTreeClassifier()},
    {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)},
    cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2),
    checkpoint=sys.argv[1],
    progress=sys.argv[2] == "shown",
)
"""
COUNT = re.compile(r"Cross-validating\D*(\d+)/(\d+) cells(?:, (\d+) failed)?(?:, (\d+:\d\d:\d\d) left)?")


def on_a_terminal(checkpoint: Path, progress: str = "shown", slow: str = "works") -> str:
    """What a run writes to a terminal, without colours and movements."""
    pty = pytest.importorskip("pty", reason="needs a pseudo-terminal")
    terminal, its_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(checkpoint), progress, slow],
        stderr=its_end,
        stdout=subprocess.PIPE,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(its_end)
    written = read_to_end(terminal)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, written
    assert out == b""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode())


@pytest.mark.slow
def test_a_terminal_sees_the_cells_counted_and_the_time_left(tmp_path):
    counts = COUNT.findall(on_a_terminal(tmp_path / "run.sqlite"))
    finished = [int(count[0]) for count in counts]
    assert finished == sorted(finished)
    assert finished[-1] == 24
    assert 0 < finished[len(finished) // 2] < 24
    assert {count[1] for count in counts} == {"24"}
    assert counts[len(counts) // 2][3] in ("0:00:00", "0:00:01", "0:00:02", "0:00:03")
    assert all(count[3] for count in counts if count[0] not in ("0", "24"))


@pytest.mark.slow
def test_cells_of_a_checkpoint_count_as_done_at_once(tmp_path):
    checkpoint = tmp_path / "run.sqlite"
    on_a_terminal(checkpoint)
    assert [count[0] for count in COUNT.findall(on_a_terminal(checkpoint))][:1] == ["24"]
    connection = sqlite3.connect(checkpoint)
    connection.execute("DELETE FROM cells WHERE dataset = 'iris' AND run = 2")
    connection.commit()
    connection.close()
    counts = COUNT.findall(on_a_terminal(checkpoint))
    assert 6 <= int(counts[0][0]) <= 12  # a bar is drawn ten times a second
    assert int(counts[-1][0]) == 24


@pytest.mark.slow
def test_failed_cells_are_counted_as_they_fail(tmp_path):
    counts = COUNT.findall(on_a_terminal(tmp_path / "run.sqlite", slow="fails"))
    assert counts[-1][2] == "6"
    assert counts[-1][:2] == ("24", "24")


@pytest.mark.slow
def test_nothing_is_shown_when_it_is_not_wanted_or_there_is_no_terminal(tmp_path):
    assert on_a_terminal(tmp_path / "run.sqlite", progress="silent") == ""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "other.sqlite"), "shown", "works"]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_data_sets_that_are_not_counted_yet_are_taken_to_be_like_the_others():
    progress = Progress(parts=4, since=100.0)
    assert (progress.total, progress.time_left(200.0)) == (0, "")
    progress.begin(steps=200, found=150)
    assert (progress.total, progress.finished, progress.time_left(200.0)) == (800, 150, "")
    for _ in range(50):
        progress.add()
    # 50 cells in 7,200 s: the other 600 take twelve times as long
    assert progress.time_left(7300.0) == "24:00:00 left"
    progress.begin(steps=100, found=0)
    assert progress.total == 600
    assert progress.time_left(7300.0) == "16:00:00 left"
