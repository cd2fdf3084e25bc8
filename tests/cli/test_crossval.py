"""``hiercomp crossval`` in processes of its own: started twice at the same time, and stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from tests.command_line import COMMAND, SIGKILL, assert_group_ends, own_group

COUNTED = """
import os, time
from sklearn.naive_bayes import GaussianNB

class Counted(GaussianNB):
    def fit(self, X, y):
        with open("fits.txt", "a") as stream:
            stream.write(f"{os.getpid()} {hash(tuple(X.index))}\\n")
        time.sleep(0.15)
        return super().fit(X, y)
"""
EXPERIMENT = """
checkpoint = "run.sqlite"
output = "scores.csv"
[cv]
splitter = "RepeatedStratifiedKFold"
n_splits = 5
n_repeats = 10
[estimators.counted]
class = "counted.Counted"
[data.iris]
file = "iris.csv"
target = "target"
"""


@pytest.mark.slow
def test_two_commands_share_the_work_and_write_one_table(tmp_path: Path):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    (tmp_path / "counted.py").write_text(COUNTED)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    command = [*COMMAND, "crossval", "experiment.toml", "--allow", "counted", "--jobs", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, cwd=tmp_path, **pipes) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        assert out.startswith("50 scores of 1 data sets and 1 algorithms are in scores.csv")
    fits = [line.split() for line in (tmp_path / "fits.txt").read_text().splitlines()]
    assert len(fits) == len({cell for _, cell in fits}) == 50
    assert min(Counter(process for process, _ in fits).values()) >= 5
    assert pd.read_csv(tmp_path / "scores.csv")["score"].notna().sum() == 50


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGTERM")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (SIGKILL, -9)])
@pytest.mark.parametrize("limit", [(), ("--time-limit", "60")], ids=["", "limited"])
def test_a_stopped_run_leaves_no_process_and_a_whole_checkpoint(tmp_path: Path, sent, code, limit):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    (tmp_path / "counted.py").write_text(COUNTED)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    command = [*COMMAND, "crossval", "experiment.toml", "--allow", "counted", "--jobs", "2", *limit]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    fits = tmp_path / "fits.txt"
    with own_group(process):
        while not fits.is_file() or len(fits.read_text().splitlines()) < 8:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        os.kill(process.pid, sent)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (code, "")
        assert_group_ends(process.pid)
    if sent == signal.SIGTERM:
        assert err == "hiercomp: terminated\n"
        left = {path.name for path in tmp_path.iterdir() if path.name != "__pycache__"}
        assert left == {"counted.py", "experiment.toml", "fits.txt", "iris.csv", "run.sqlite"}
    before = len(fits.read_text().splitlines())
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    again = len(fits.read_text().splitlines()) - before
    assert again <= 50 - (8 - 4)  # of the eight that were begun, at most two were running and two not yet in the file
    assert pd.read_csv(tmp_path / "scores.csv")["score"].notna().sum() == 50
