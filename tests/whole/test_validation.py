"""`scripts/validate.py`: its checks in small, and that they can fail."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from hiercomp.model.priors import Priors

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
validate = importlib.import_module("validate")
density = importlib.import_module("validation.density")
faults = importlib.import_module("validation.faults")
calibration = importlib.import_module("validation.calibration")
referred = importlib.import_module("validation.referred")
Settings = importlib.import_module("reproduction.exhibit").Settings

MEASURED = ["V1", "V2", "V7-density", "V17", pytest.param("V25", marks=pytest.mark.slow)]
SIMULATED = ["V6-quadrature", "V6-sampler", "V7-ranks", "V10", "V27"]


@pytest.mark.parametrize("name", [*MEASURED, *(pytest.param(name, marks=pytest.mark.slow) for name in SIMULATED)])
def test_a_check_meets_its_bar(name):
    rows = validate.CHECKS[name].run(Settings(quick=True))
    assert [row for row in rows if not row.agrees] == []
    assert len(rows) > 0


def test_a_fault_that_is_not_in_the_programs_is_an_error(monkeypatch):
    monkeypatch.setitem(density.FAULTS, "none", ("hierarchical_student_t.stan", "not there", "x"))
    with pytest.raises(ValueError, match="'not there' is 0 times"), faults.faulty("none"):
        pass


def test_without_a_fault_the_densities_agree_and_ranks_are_uniform():
    model = density.random_model(np.random.default_rng(0), 4, Priors())
    assert density.deviation(model, 4) < density.LARGEST_DEVIATION
    found = np.random.default_rng(0).integers(0, 100, size=(400, len(calibration.QUANTITIES)))
    assert calibration.smallest_p(found.astype(float))[0] > 0.05 / len(calibration.QUANTITIES)


def test_ranks_that_pile_up_are_seen_and_named():
    found = np.random.default_rng(1).integers(0, 100, size=(200, len(calibration.QUANTITIES))).astype(float)
    found[:, 4] = found[:, 4] // 2
    smallest, name = calibration.smallest_p(found)
    assert smallest < 1e-6
    assert name == calibration.QUANTITIES[4]


@pytest.mark.slow
def test_a_check_by_tests_counts_those_that_fail(tmp_path):
    (tmp_path / "test_two.py").write_text("def test_one():\n    pass\n\n\ndef test_two():\n    assert False\n")
    one = referred.of_tests(str(tmp_path), words="one")(Settings())
    both = referred.of_tests(str(tmp_path))(Settings())
    none = referred.of_tests(str(tmp_path), words="neither")(Settings())
    assert [(row.ours, row.agrees) for row in (*one, *both, *none)] == [(0, True), (1, False), (0, False)]


def test_every_test_that_a_check_names_is_there():
    text = (ROOT / "scripts/validate.py").read_text(encoding="utf-8")
    named = [part for part in text.split('"') if part.startswith("tests/")]
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
