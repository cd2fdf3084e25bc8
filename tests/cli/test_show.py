"""``hiercomp show``: what a saved result says is what it said when it was fitted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import assert_one_line_of_error


@pytest.fixture
def folder(tmp_path, result) -> Path:
    result.save(tmp_path / "fit.nc")
    return tmp_path


def test_the_summary_is_that_of_the_result(hiercomp, folder, result):
    done = hiercomp(folder, "show", "fit.nc")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{result.summary()}\n", "")


def test_level_rope_json_and_report_are_chosen_anew(hiercomp, folder, result):
    options = ("--alpha", "0.1", "--rope", "2%", "--json", "out.json", "--report", "out.html")
    done = hiercomp(folder, "show", "fit.nc", *options)
    assert done.returncode == 0, done.stderr
    wanted = result.with_rope(0.02).summary(0.1)
    assert done.stdout == f"{wanted}\n"
    written = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(result.with_rope(0.02).to_dict(0.1))) | {"file": None}
    assert wanted.conclusion in (folder / "out.html").read_text(encoding="utf-8")
    assert done.stderr.count("hiercomp: wrote out.") == 2
    again = hiercomp(folder, "show", "fit.nc", "--report", "out.html")
    assert_one_line_of_error(again, "out.html exists", "--force")


def test_closed_form_tests_follow(hiercomp, folder):
    done = hiercomp(folder, "show", "fit.nc", "--closed-form-tests", "--json", "-")
    assert json.loads(done.stdout)["closed_form_tests"]


def test_populations_are_compared_in_text_json_and_report(hiercomp, folder, result):
    compared = result.check_population()
    done = hiercomp(folder, "show", "fit.nc", "--population-check", "--json", "out.json", "--report", "out.html")
    assert done.stdout == f"{result.summary()}\n\n{compared}\n"
    rows = json.loads((folder / "out.json").read_text(encoding="utf-8"))["population_check"]
    assert [row["population"] for row in rows] == ["Student-t", "Gaussian"]
    assert rows[1]["elpd_difference"] == pytest.approx(compared.to_frame()["elpd_difference"].iloc[1])
    assert compared.conclusion in (folder / "out.html").read_text(encoding="utf-8")


def test_populations_of_identical_scores_are_told_not_to_be_comparable(hiercomp, tmp_path, identical):
    identical.save(tmp_path / "fit.nc")
    done = hiercomp(tmp_path, "show", "fit.nc", "--population-check")
    assert (done.returncode, done.stdout) == (0, f"{identical.summary()}\n")
    assert "no check of the population" in done.stderr


@pytest.mark.parametrize(("name", "part"), [("absent.nc", "absent.nc"), ("scores.csv", "is not a saved result")])
def test_a_file_that_is_no_result_is_refused(hiercomp, folder, name, part):
    (folder / "scores.csv").write_text("dataset,algorithm,score\n")
    assert_one_line_of_error(hiercomp(folder, "show", name), part)


def test_a_failed_result_has_no_verdict(hiercomp, tmp_path, failed):
    failed.save(tmp_path / "fit.nc")
    done = hiercomp(tmp_path, "show", "fit.nc")
    assert (done.returncode, done.stdout) == (3, f"{failed.summary()}\n")
