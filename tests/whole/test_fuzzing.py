"""Odd tables and damaged score and experiment files are taken or refused by an error of hiercomp's own, never by another."""

from __future__ import annotations

import decimal
import importlib
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from hiercomp.comparison import HierarchicalComparison
from hiercomp.crossval.experiment_file import read_experiment
from hiercomp.errors import ArgumentError, HiercompWarning, ScoreFileError, ScoreTableError
from hiercomp.files.check import check_scores
from hiercomp.files.read import read_scores
from hiercomp.tournament import compare_all

SCRIPTS = Path(__file__).parents[2] / "scripts"
MODULES = ("fuzz", "fuzz_files", "fuzz_experiments", "fuzz_tables")


@pytest.fixture(scope="module")
def fuzz() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module("fuzz")
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.mark.parametrize("kind", ["tables", "files", "experiments"])
@pytest.mark.parametrize(("seed", "cases"), [(1, 100), pytest.param(2, 2000, marks=pytest.mark.slow)])
def test_every_case_is_taken_or_refused_by_an_error_of_ours(fuzz, kind, seed, cases):
    tally = fuzz.run(kind, cases, seed)
    assert tally.failures == []
    assert tally.executed >= cases
    assert tally.accepted > cases // 20  # else the cases are too odd to say anything
    assert tally.refused.total() > cases // 3


def odd(column: str, value: object) -> pd.DataFrame:
    """A sound table with another value in the first cell of a column."""
    rows = [(f"d{d}", a, f, 0.5 + f / 10 * (a == "a")) for d in range(3) for a in "ab" for f in range(3)]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"]).astype(object)
    frame[column] = pd.Series([value, *frame[column].tolist()[1:]], dtype=object)
    return frame


ODD_NAMES = odd("score", 0.5)  # which pandas 3 takes only beside names that are not text
ODD_NAMES.columns = pd.Index(["\ud800", ("x", "algorithm"), ("x", "fold"), ("x", "score")], object, tupleize_cols=False)
ODD_TABLES = [
    (ODD_NAMES, r"There is no column 'dataset'\. .* The columns are: '\\+ud800'"),
    (
        odd("dataset", "\ud800"),
        "'dataset' is not valid Unicode|'dataset' has names with characters that can't be written",
    ),
    (odd("fold", "\ud800"), r"'fold' is not valid Unicode|absent in .*, fold \\ud800[;)]"),
    (odd("fold", "\x1b[2J"), r"absent in .*\(first: .*fold \\x1b\[2J[;)]"),
    (odd("score", 10**400), "1 of 18 cells of column 'score' are not numbers"),
    (odd("score", 0).set_axis([float("nan"), float("nan"), "b", "c"], axis=1), "Column names occur twice: nan"),
    (odd("dataset", 10**5000), "'dataset'"),  # of so many digits Python writes no int
    (odd("score", 10**5000), "1 of 18 cells of column 'score' are not numbers"),
    (odd("dataset", decimal.Decimal("sNaN")), "'dataset'"),
    (odd("score", decimal.Decimal("sNaN")), "1 of 18 cells of column 'score' are not numbers"),
    (odd("score", 1e308), "'d0'"),  # whose square is beyond the largest float
    (odd("score", pd.Series([1, 2])), "1 of 18 cells of column 'score' are not numbers"),
    (pd.Series([0.5, 10**400], dtype=object), "Scores must be a data frame .*, got Series"),
]  # each was found here; pandas 2 takes the first two names, which are refused a step later


@pytest.mark.parametrize(("table", "message"), ODD_TABLES)
def test_what_once_ended_in_an_error_of_another_package_is_refused(table, message):
    with pytest.raises(ScoreTableError, match=message) as caught:
        HierarchicalComparison(table, "a", "b")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("table", [table for table, _ in ODD_TABLES])
def test_what_a_comparison_refuses_is_an_error_of_the_check(table):
    check = check_scores(table)
    assert check.exit_code == 2
    assert all(line.isprintable() for line in str(check).split("\n"))


def test_a_frame_whose_columns_have_names_that_are_not_unicode_is_not_read():
    with pytest.raises(ScoreTableError, match=r"\\ud800") as caught:
        read_scores(ODD_NAMES)
    assert str(caught.value).isprintable()


def test_scores_beyond_what_can_be_squared_are_refused_for_all_pairs_too():
    with pytest.raises(ScoreTableError, match=r"Data set 'd0' has a score of 1e\+308, and scores beyond 1e\+100"):
        compare_all(odd("score", 1e308), rope=0.01)


def test_the_check_takes_a_column_of_scores_whose_name_is_no_text():
    table = odd("score", 0.5).astype({"score": float})
    assert check_scores(table.rename(columns={"score": None})).dataset_names == ("d0", "d1", "d2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"seed = {'1' * 5000}", "is not TOML"),
        (f'one_hot = 0x{"f" * 5000}\n[estimators.a]\nclass = "sklearn.svm.SVC"', "one_hot must be true or false"),
        ('[estimators."a\\nb"]', r"estimators\.a\\nb must have either a class or steps"),
        ('[estimators.a]\nclass = "sklearn.svm.SVC"\n[data."a\\u001b"]', r"data\.a\\x1b must have a file"),
        ('[estimators.a]\nclass = "sklearn.svm.SVC"\nparameters = { "a\\nb" = 3 }', "argument 'a b'"),
        (
            f'[data.a]\nfile = "{"x" * 300}"\ntarget = "y"\n[estimators.a]\nclass = "sklearn.svm.SVC"',
            "there is no file",
        ),
        (
            '[data.a]\nfile = "experiment.toml"\ntarget = "y"\n[estimators.a]\nclass = "sklearn.svm.SVC"\n'
            '[cv]\nsplitter = "PredefinedSplit"\ntest_fold = [99999999999999999999]',
            "PredefinedSplit can't be made with these parameters",
        ),
    ],
)  # each was found here
def test_experiment_files_that_once_ended_in_an_error_of_another_package_are_refused(tmp_path, text, message):
    (tmp_path / "experiment.toml").write_text(text)
    with pytest.raises((ArgumentError, ScoreFileError), match=message) as caught:
        read_experiment(tmp_path / "experiment.toml")
    assert str(caught.value).isprintable()


def test_a_seed_gives_the_same_cases(fuzz, monkeypatch):
    seen: list[list[str]] = []
    for seed in (3, 3, 4):
        seen.append([])
        for kind, (strategy, _) in fuzz.KINDS.items():
            keep = (strategy, lambda case, folder: seen[-1].append(repr(case)))
            monkeypatch.setitem(fuzz.KINDS, kind, keep)
            assert fuzz.run(kind, 30, seed).accepted >= 30
            monkeypatch.undo()
    plain = [[re.sub("object at 0x[0-9a-f]+", "", text) for text in texts] for texts in seen]
    assert plain[0] == plain[1] != plain[2]


class Number(int):
    """A case that is a number."""

    def shown(self) -> str:
        return f"the number {self:d}"


def judged(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch, judge: object, again: str | None = None):
    """The tally of cases that are numbers from 0 to 1000."""
    monkeypatch.setitem(fuzz.KINDS, "numbers", (st.integers(0, 1000).map(Number), judge))
    return fuzz.run("numbers", 200, 0, again)


def test_errors_of_ours_are_refusals_and_counted_by_their_kind(fuzz, monkeypatch):
    def judge(case: int, folder: Path) -> object:
        return ScoreTableError("too large") if case > 500 else ArgumentError("odd") if case % 2 else None

    tally = judged(fuzz, monkeypatch, judge)
    assert tally.failures == []
    assert tally.executed == tally.accepted + tally.refused.total() >= 200
    assert set(tally.refused) == {"ScoreTableError", "ArgumentError"}


def fails(kind: str):
    def two_lines() -> None:
        raise ScoreTableError("one\ntwo")

    return {
        "ZeroDivisionError": lambda: 1 / 0,
        "RuntimeWarning": lambda: warnings.warn("odd", RuntimeWarning, stacklevel=1),
        "AssertionError": two_lines,
        "TimeoutError": lambda: time.sleep(5),
    }[kind]


@pytest.mark.parametrize("kind", ["ZeroDivisionError", "RuntimeWarning", "AssertionError", "TimeoutError"])
def test_whatever_is_no_error_of_ours_is_a_failure_in_its_smallest_form(fuzz, monkeypatch, kind):
    def judge(case: int, folder: Path) -> object:
        return fuzz.outcome(fails(kind) if case >= 700 else lambda: 1)[1]

    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    (told,) = judged(fuzz, monkeypatch, judge).failures
    assert kind in told.splitlines()[0]
    assert "the number 700" in told
    mark = re.search(r"Again: python scripts/fuzz.py --again numbers:(\S+)", told)[1]
    (again,) = judged(fuzz, monkeypatch, judge, mark).failures
    assert kind in again
    assert "the number 700" in again


def test_warnings_of_ours_are_no_failures(fuzz, monkeypatch):
    def judge(case: int, folder: Path) -> None:
        warnings.warn("few data sets", HiercompWarning, stacklevel=1)

    tally = judged(fuzz, monkeypatch, judge)
    assert (tally.executed, tally.failures) == (tally.accepted, [])


def test_a_wrong_table_is_a_failure(fuzz):
    table = odd("score", 0.5)
    with pytest.warns(HiercompWarning):
        comparison = HierarchicalComparison(table, "a", "b")
    fuzz.judge_comparison(comparison, table, {"left": "a", "right": "b"})
    with pytest.raises(AssertionError, match="expected"):
        fuzz.judge_comparison(comparison, table.assign(score=np.linspace(0, 1, len(table))), {})
    with pytest.raises(AssertionError, match="scores, n is 3"):
        fuzz.judge_comparison(comparison, pd.concat([table, table]), {})
    frame = pd.DataFrame({"dataset": ["iris", None], "algorithm": "a", "run": 1, "fold": [1, 2], "score": 0.5})
    frame.attrs = {"format": "wide", "notes": []}
    with pytest.raises(AssertionError, match="dataset has names such as"):
        fuzz.judge_frame(frame, {})
    fuzz.judge_frame(frame.assign(dataset="iris"), {})


@pytest.mark.slow
def test_the_script_says_how_many_cases_were_taken_and_refused():
    command = [sys.executable, str(SCRIPTS / "fuzz.py"), *"--tables 20 --files 20 --experiments 20 --seed 3".split()]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = run.stdout.splitlines()
    assert [line.split(":")[0].split()[1] for line in lines] == ["tables", "files", "experiments"]
    for line in lines:
        accepted, refused = (int(number) for number in re.findall(r"(\d+) (?:accepted|refused)", line))
        assert int(line.split()[0]) == accepted + refused >= 20
        assert line.endswith("0 failed")
