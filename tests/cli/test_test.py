"""``hiercomp test`` gives what Python gives, and the commands that need folds name it."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import hiercomp as hc
from tests.command_line import assert_one_line_of_error, run

SVM = np.array([0.91, 0.85, 0.77, 0.93, 0.66, 0.81])
FOREST = np.array([0.93, 0.88, 0.78, 0.97, 0.65, 0.86])


@pytest.fixture
def table() -> pd.DataFrame:
    wide = pd.DataFrame({"dataset": list("abcdef"), "svm": SVM, "random forest": FOREST, "bayes": SVM - 0.02})
    return wide.melt("dataset", var_name="algorithm", value_name="score")


@pytest.fixture
def folder(tmp_path, table):
    table.to_csv(tmp_path / "one score.csv", index=False)
    return tmp_path


def test_the_command_prints_and_writes_what_python_gives(folder, table):
    done = run(folder, "test", "one score.csv", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    expected = hc.apply_tests(table)
    assert done.stdout == f"{expected}\n"
    content = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert content == expected.to_dict() | {"file": content["file"]}
    (friedman,) = [test for test in content["tests"] if test["name"] == "friedman"]
    assert friedman["pvalue"] == pytest.approx(stats.friedmanchisquare(SVM, FOREST, SVM - 0.02).pvalue)


def test_two_algorithms_and_one_test_can_be_named(folder):
    done = run(
        folder, "test", "one score.csv", "--left", "svm", "--right", "random forest", "--test", "sign", "--json", "-"
    )
    content = json.loads(done.stdout)
    assert [test["name"] for test in content["tests"]] == ["sign"]
    assert content["tests"][0]["pvalue"] == pytest.approx(stats.binomtest(5, 6).pvalue)


def test_losses_of_many_algorithms_are_noted_as_told_and_what_is_not_used_is_named(folder):
    done = run(folder, "test", "one score.csv", "--lower-is-better", "--rope", "0.01", "--rho", "0.1", "--json", "-")
    content = json.loads(done.stdout)
    assert content["higher_is_better"] is False
    assert content["notes"] == [
        "The tests of many algorithms don't use rope or rho; name two algorithms for those that do."
    ]


def test_a_missing_score_names_the_option_that_leaves_its_data_set_out(folder, table):
    table.drop(index=0).to_csv(folder / "gap.csv", index=False)
    assert_one_line_of_error(run(folder, "test", "gap.csv"), "pass --drop-unpaired to leave out 1 data set")
    done = run(folder, "test", "gap.csv", "--drop-unpaired")
    assert "1 data set left out" in done.stdout


def test_an_unknown_test_is_one_line(folder):
    assert_one_line_of_error(run(folder, "test", "one score.csv", "--test", "frieman"), "Did you mean 'friedman'?")


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "one score.csv", "--left", "svm", "--right", "random forest", "--column", "dataset=dataset"),
        ("pairs", "one score.csv"),
    ],
    ids=["compare", "pairs"],
)
def test_one_score_per_data_set_names_the_command_to_paste(folder, command):
    done = run(folder, *command)
    assert_one_line_of_error(done, "There are no fold-level scores", "hiercomp test 'one score.csv'")
    assert "hc." not in done.stderr
    words = shlex.split(done.stderr[done.stderr.index("hiercomp test") :])
    again = run(folder, *words[1:])
    assert again.returncode == 0, again.stderr
    assert ("svm against random forest, 6 data sets" in again.stdout) == (command[0] == "compare")


def test_check_names_the_command_too(folder):
    done = run(folder, "check", "one score.csv")
    assert "use hiercomp test 'one score.csv'" in done.stdout
    assert "hc." not in done.stdout
