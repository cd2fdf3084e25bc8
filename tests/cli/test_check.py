"""``hiercomp check`` gives what Python gives; its exit code says whether there is anything to mend."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hiercomp.files.check import check_scores
from tests.command_line import COMMAND, assert_one_line_of_error

SAMPLES = Path(__file__).parents[1] / "data/importers"


@pytest.fixture
def folder(tmp_path, scores) -> Path:
    scores.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def test_a_sound_file_ends_with_0_and_prints_what_python_gives(hiercomp, folder):
    done = hiercomp(folder, "check", "scores.csv")
    assert (done.returncode, done.stderr) == (0, "")
    expected = str(check_scores(folder / "scores.csv")).replace(str(folder / "scores.csv"), "scores.csv")
    assert done.stdout == f"{expected}\n"
    assert "Format: tidy" in done.stdout


def test_warnings_end_with_1_and_errors_with_2(hiercomp, folder, scores):
    scores.assign(score=100 * scores["score"]).to_csv(folder / "percent.csv", index=False)
    done = hiercomp(folder, "check", "percent.csv")
    assert done.returncode == 1
    assert "look like percentages" in done.stdout
    scores.iloc[1:].to_csv(folder / "lacking.csv", index=False)
    done = hiercomp(folder, "check", "lacking.csv")
    assert done.returncode == 2
    assert "1 score is absent in 1 data set" in done.stdout
    assert done.stderr == ""


def test_a_file_that_can_not_be_read_ends_with_2(hiercomp, folder):
    done = hiercomp(folder, "check", "none.csv")
    assert done.returncode == 2
    assert "none.csv: there is no such file." in done.stdout


def test_options_reach_the_importer(hiercomp, folder):
    options = ["--option", "measure=classif.acc", "--option", "folds=2"]
    done = hiercomp(folder, "check", SAMPLES / "mlr3.csv", *options)
    assert done.returncode == 1  # two data sets are few
    assert "Format: mlr3" in done.stdout
    done = hiercomp(folder, "check", SAMPLES / "weka.arff", "--format", "weka", "--option", "fraction=true")
    assert "Scale: fractions, 0.306667 to 0.96" in done.stdout


def test_separator_decimal_sign_encoding_and_columns_are_options(hiercomp, folder, scores):
    text = scores.rename(columns={"score": "güte"}).to_csv(index=False, sep=";", decimal=",")
    (folder / "german.csv").write_bytes(text.encode("latin-1"))
    options = ["--sep", ";", "--decimal", ",", "--encoding", "latin-1", "--column", "score=güte"]
    done = hiercomp(folder, "check", "german.csv", *options)
    assert done.returncode == 0, done.stdout


def test_json_goes_to_a_file_or_to_standard_output(hiercomp, folder):
    done = hiercomp(folder, "check", "scores.csv", "--json", "-")
    content = json.loads(done.stdout)
    assert content["conclusion"] == "No problems found."
    assert len(content["datasets"]) == 8
    done = hiercomp(folder, "check", "scores.csv", "--json", "check.json")
    assert json.loads((folder / "check.json").read_text()) == content
    assert "No problems found." in done.stdout
    assert_one_line_of_error(hiercomp(folder, "check", "scores.csv", "--json", "check.json"), "check.json exists")


def test_losses_need_no_warning_where_they_are_meant(hiercomp, folder, scores):
    scores.rename(columns={"score": "error"}).to_csv(folder / "loss.csv", index=False)
    done = hiercomp(folder, "check", "loss.csv")
    assert done.returncode == 2
    assert "--lower-is-better" in done.stdout
    assert hiercomp(folder, "check", "loss.csv", "--higher-is-better").returncode == 1
    assert hiercomp(folder, "check", "loss.csv", "--lower-is-better").returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "wekka"], "format must be auto or one of"),
        (["--option", "folds"], "--option must be NAME=VALUE"),
        (["--option", "path=x"], "use the command's own option"),
        (["--option", "mesure=x"], "has no option 'mesure'"),
        (["--column", "score"], "--column must be ROLE=NAME"),
        (["--encoding", "latin-x"], "latin-x"),
    ],
)
def test_a_wrong_option_is_one_line(hiercomp, folder, options, message):
    assert_one_line_of_error(hiercomp(folder, "check", "scores.csv", *options), message)


def test_rho_may_be_a_column_of_the_file(hiercomp, folder, scores):
    scores.assign(share=0.1).to_csv(folder / "correlated.csv", index=False)
    done = hiercomp(folder, "check", "correlated.csv", "--column", "rho=share")
    assert done.returncode == 0, done.stderr
    assert set(check_scores(folder / "correlated.csv", rho="share").rho.tolist()) == {0.1}
    text = (folder / "correlated.csv").read_text(encoding="utf-8")
    piped = subprocess.run(
        [*COMMAND, "check", "-", "--column", "rho=share"], input=text, capture_output=True, text=True, check=False
    )
    assert (piped.returncode, piped.stderr) == (0, done.stderr)
