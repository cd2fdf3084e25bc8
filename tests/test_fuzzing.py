"""Odd tables and damaged files are taken or refused by an error of hiercomp's own, never by anything else."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from hiercomp.errors import ScoreTableError
from hiercomp.hierarchical import HierarchicalComparison

SCRIPT = Path(__file__).parent.parent / "scripts" / "fuzz.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    specification = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["fuzz"] = module  # its dataclass looks itself up there
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("seed", "cases"), [(1, 300), pytest.param(2, 2000, marks=pytest.mark.slow)])
def test_odd_tables_are_compared_or_refused(fuzz, seed, cases):
    tally = fuzz.Tally()
    for number in range(cases):
        fuzz.try_table(seed, number, tally)
    assert tally.failures == []
    assert tally.accepted > cases // 20
    assert tally.refused.total() > cases // 2


@pytest.mark.parametrize(("seed", "cases"), [(1, 300), pytest.param(2, 2000, marks=pytest.mark.slow)])
def test_damaged_files_are_read_or_refused(fuzz, tmp_path, seed, cases):
    tally, samples = fuzz.Tally(), fuzz.sample_files()
    for number in range(cases):
        fuzz.try_file(seed, number, tally, samples, tmp_path)
    assert tally.failures == []
    assert tally.accepted > cases // 20
    assert tally.refused.total() > cases // 2


def odd(column: str, value: object) -> pd.DataFrame:
    """A sound table with another value in the first cell of a column."""
    rows = [(f"d{d}", a, f, 0.5 + f / 10 * (a == "a")) for d in range(3) for a in "ab" for f in range(3)]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"]).astype(object)
    frame[column] = pd.Series([value, *frame[column].tolist()[1:]], dtype=object)
    return frame


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (odd("dataset", "\ud800"), "'dataset' holds half a pair of surrogates"),
        (odd("fold", "\ud800"), "'fold' holds half a pair of surrogates"),
        (odd("fold", "\x1b[2J"), r"no partner \(first: .*fold \\x1b\[2J;"),
        (odd("score", 10**400), "1 of 18 cells of column 'score' are not numbers"),
        (odd("score", 0).set_axis([float("nan"), float("nan"), "b", "c"], axis=1), "Column names occur twice: nan"),
    ],
)  # each was found here
def test_what_once_ended_in_an_error_of_another_package_is_refused(table, message):
    with pytest.raises(ScoreTableError, match=message) as caught:
        HierarchicalComparison(table, "a", "b")
    assert str(caught.value).isprintable()


def test_a_case_can_be_had_again(fuzz):
    samples = fuzz.sample_files()
    for number in range(20):
        first, second = (fuzz.mutated_file(fuzz.np.random.default_rng((0, 1, number)), samples) for _ in range(2))
        assert first == second


def test_whatever_is_no_error_of_ours_is_a_failure(fuzz):
    def refused():
        raise ScoreTableError("Column 'a' is empty.")

    def two_lines():
        raise ScoreTableError("one\ntwo")

    tally = fuzz.Tally()
    fuzz.tried("good", lambda: 1, tally)
    fuzz.tried("refused", refused, tally)
    assert tally.failures == []
    fuzz.tried("division", lambda: 1 / 0, tally)
    fuzz.tried("warning", lambda: fuzz.warnings.warn("odd", RuntimeWarning, stacklevel=1), tally)
    fuzz.tried("lines", two_lines, tally)
    assert [failure.split(":")[0] for failure in tally.failures] == ["division", "warning", "lines"]
    assert (tally.accepted, dict(tally.refused)) == (1, {"ScoreTableError": 2})


def test_the_script_says_how_many_cases_were_taken_and_refused():
    command = [sys.executable, str(SCRIPT), "--tables", "20", "--files", "20", "--seed", "3"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    first, second = run.stdout.splitlines()
    assert first.startswith("20 tables: ")
    assert second.startswith("20 files: ")
    assert first.endswith("0 failed")
