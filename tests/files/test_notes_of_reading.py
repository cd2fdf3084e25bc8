"""What reading a file left out or assumed is in every result of its scores, and is said once."""

from __future__ import annotations

import copy
import html
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import DefaultedRhoWarning, DroppedScoresWarning, HiercompWarning
from hiercomp.files.read import read_scores

INDEPENDENT = "The scores of a data set differ by 'seed': they are treated as independent repetitions, rho = 0."


def table(algorithms: str, place: str) -> pd.DataFrame:
    random = np.random.default_rng(5)
    rows = [
        (f"d{number}", name, where, 0.7 + 0.02 * (name == "b") + random.normal(0, 0.02))
        for number in range(6)
        for name in algorithms
        for where in range(1, 7)
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", place, "accuracy"])


@pytest.fixture
def runs(tmp_path: Path) -> pd.DataFrame:
    """Scores of three algorithms from runs of MLflow. Two runs failed, and one names no data set."""
    names = {"dataset": "params.dataset", "algorithm": "params.model", "fold": "params.fold"}
    frame = table("abc", "fold").rename(columns=names | {"accuracy": "metrics.accuracy"}).assign(status="FINISHED")
    further = frame.iloc[[0, 1, 2]].assign(status=["FAILED", "FAILED", "FINISHED"])
    further["metrics.accuracy"] = np.nan
    further.loc[2, "params.dataset"] = None
    frame = pd.concat([frame, further], ignore_index=True).rename_axis("run_id").reset_index()
    frame.to_csv(tmp_path / "runs.csv", index=False)
    with pytest.warns(DroppedScoresWarning):
        scores = read_scores(tmp_path / "runs.csv")
    assert len(scores.attrs["notes"]) == 2
    return scores


def fitted(scores, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error", HiercompWarning)  # what reading said is not said again
        return hc.HierarchicalComparison(scores, rope=0.01, **arguments).fit("quadrature")


def test_a_result_its_json_its_report_and_its_file_say_what_was_left_out(runs, tmp_path):
    result = fitted(runs, left="a", right="b")
    assert "2 of 111 runs, which did not finish ('FAILED')" in result.notes[0]
    assert "1 of 109 runs, which do not say" in result.notes[1]
    assert list(result.notes) == runs.attrs["notes"]
    assert json.loads(json.dumps(result.to_dict()))["notes"] == runs.attrs["notes"]
    result.report(tmp_path / "report.html")
    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    result.save(tmp_path / "result.nc")
    assert list(hc.load_result(tmp_path / "result.nc").notes) == runs.attrs["notes"]
    for note in runs.attrs["notes"]:
        assert note in page
        assert note in str(result.summary())


@pytest.mark.parametrize("same", [copy.deepcopy, lambda frame: frame[frame["fold"] < 4], lambda frame: frame.copy()])
def test_rows_that_are_chosen_and_copies_keep_it(runs, same):
    assert fitted(same(runs), left="a", right="b").notes == tuple(runs.attrs["notes"])


def test_an_assumed_correlation_is_in_the_result_unless_one_is_given():
    frame = table("ab", "seed")
    with pytest.warns(DefaultedRhoWarning, match="independent repetitions"):
        assumed = hc.HierarchicalComparison(frame, rope=0.01)
    assert [note.message for note in assumed.differences.notes] == [INDEPENDENT]
    assert assumed.differences.rho.tolist() == [0] * 6
    with pytest.warns(DefaultedRhoWarning):
        read = read_scores(frame)
    assert fitted(read).notes[0].startswith(INDEPENDENT)
    given = fitted(read, rho=0.2)
    assert given.notes == ()
    assert given.differences.rho.tolist() == [0.2] * 6
    assert fitted(read_scores(read, rho=0.2)).notes == ()
    assert fitted(read.assign(group=(read["run"] + 1) // 2), groups="group").notes == ()


def test_the_order_of_rows_is_an_assumption_whatever_the_correlation_is(tmp_path):
    path = tmp_path / "scores.csv"
    table("ab", "fold").pivot_table(index=["dataset", "fold"], columns="algorithm", values="accuracy").reset_index(
        "fold", drop=True
    ).to_csv(path)
    with pytest.warns(DefaultedRhoWarning, match="in their order"):
        read = read_scores(path)
    for arguments in ({}, {"rho": 0.1}):
        (note,) = fitted(read, **arguments).notes
        assert "taken as the folds of one run, in their order" in note


def test_a_tournament_says_each_once_also_from_a_checkpoint(runs, tmp_path):
    arguments = {"rope": 0.01, "engine": "quadrature", "progress": False, "checkpoint": tmp_path / "pairs.sqlite"}
    for _ in range(2):  # the second time the pairs are those of the checkpoint
        with warnings.catch_warnings():
            warnings.simplefilter("error", HiercompWarning)
            result = hc.compare_all(runs, **arguments)
        assert list(result.notes) == runs.attrs["notes"]


def test_tests_of_many_algorithms_say_what_was_left_out_and_nothing_of_a_correlation(runs):
    assert list(hc.friedman_test(runs).notes) == runs.attrs["notes"]
    assert list(hc.apply_tests(runs).notes[:2]) == runs.attrs["notes"]
    with pytest.warns(DefaultedRhoWarning):
        seeds = read_scores(table("abc", "seed"))
    assert hc.friedman_test(seeds).notes == ()


def test_a_check_of_a_table_lists_problems_and_not_what_reading_said(runs):
    assert not [problem for problem in hc.check_scores(runs).problems if "Left out" in problem.message]


@pytest.mark.parametrize("notes", ["a text", {"a": 1}, ["a text", 3, None], 7, [["x"]]])
def test_notes_of_others_among_a_tables_attributes_are_theirs(notes):
    frame = table("ab", "fold")
    frame.attrs["notes"] = notes
    assert fitted(frame).notes == ()
