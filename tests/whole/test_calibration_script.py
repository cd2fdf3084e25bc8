"""What scripts/calibrate_degrees_of_freedom.py keeps is what the package simulates, in however many steps."""

from __future__ import annotations

import importlib.util
import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hiercomp.closed_form.one_dataset.calibrated import calibrated_test, null_differences
from hiercomp.closed_form.simulated_differences import random_attributes_differences

SCRIPT = Path(__file__).parents[2] / "scripts/calibrate_degrees_of_freedom.py"


@pytest.fixture
def script(monkeypatch):
    specification = importlib.util.spec_from_file_location("calibrate_degrees_of_freedom", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, specification.name, module)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "BLOCK", 3)
    return module


@pytest.mark.parametrize(("folds", "test_share"), [(4, None), (1, 0.25)])
def test_runs_are_added_to_what_is_kept(script, tmp_path, folds, test_share):
    kept = script.Kept(tmp_path, folds, test_share, seed=7)
    for runs in (2, 5):
        for first in (0, 3):
            kept.extend(first, runs, math.inf)
    simulator = None if test_share is None else partial(
        random_attributes_differences, hold_out=True, test_share=test_share
    )  # fmt: skip
    for runs in (2, 5):
        expected = null_differences(runs, folds, simulator=simulator, simulations=6, seed=7)
        assert np.array_equal(kept.read(runs, 6), expected)
    assert len(list(tmp_path.iterdir())) == 2
    assert kept.read(6, 6).shape == (0, 6, folds)


def test_what_is_not_complete_at_the_deadline_is_not_kept(script, tmp_path):
    kept = script.Kept(tmp_path, 4, None, seed=7)
    kept.extend(0, 2, math.inf)
    kept.extend(0, 4, deadline=0)
    kept.extend(3, 2, deadline=0)
    assert kept.read(2, 6).shape == (3, 2, 4)
    assert kept.read(4, 6).shape == (0, 4, 4)


def test_the_script_prints_a_df_of_every_scheme(script, tmp_path, monkeypatch, capsys):
    arguments = ["--keep", str(tmp_path), "--runs", "10", "--simulations", "6"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    script.main()
    printed = capsys.readouterr().out
    for scheme in script.SCHEMES:
        assert f" {scheme} " in printed


def test_the_script_writes_how_many_data_sets_are_rejected_beside_each_df(script, tmp_path, monkeypatch):
    path = tmp_path / "df.csv"
    arguments = ["--keep", str(tmp_path), "--runs", "10", "--simulations", "6", "--write", str(path)]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    script.main()
    found = pd.read_csv(path)
    x = null_differences(10, 10, simulations=6, seed=0)
    for row in found[found["scheme"] == "use all data"].itertuples():
        counts = [(calibrated_test(x, df=row.df + step).pvalue < row.level).sum() for step in (-1, 0, 1)]
        assert [row.before, row.rejected, row.after] == counts
