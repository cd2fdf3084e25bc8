"""``hiercomp crossval`` started twice on one experiment file, at the same time."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from tests.command_line import COMMAND

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
