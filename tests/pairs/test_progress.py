"""The progress bar of a tournament: pairs and the time left, on a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.terminal import read_to_end

PROGRAM = """
import warnings
import numpy as np, pandas as pd
import hiercomp as hc

generator = np.random.default_rng(0)
rows = [(f"d{d}", f"a{a}", fold, generator.normal(0.8 + 0.01 * a, 0.02))
        for d in range(12) for a in range(5) for fold in range(10)]
warnings.simplefilter("ignore")
hc.compare_all(pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"]), engine="quadrature", n_jobs=1)
"""


@pytest.mark.slow
def test_a_terminal_sees_the_pairs_counted_and_the_time_left():
    pty = pytest.importorskip("pty", reason="needs a pseudo-terminal")
    terminal, its_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stderr=its_end,
        stdout=subprocess.PIPE,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(its_end)
    written = read_to_end(terminal)
    process.communicate(timeout=60)
    assert process.returncode == 0, written
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode())
    finished = [int(count) for count in re.findall(r"Comparing pairs\D*(\d+)/10 \d+:\d\d:\d\d left", text)]
    assert finished == sorted(finished)
    assert 0 < finished[len(finished) // 2] < 10
