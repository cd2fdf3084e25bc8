"""``hiercomp plan`` gives what Python gives; errors are one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hiercomp as hc
from hiercomp.planning.plan import plan, plan_from_result
from tests.command_line import assert_one_line_of_error

ASSUMED = ["--delta0", "0.03", "--sigma0", "0.01", "--nu", "10", "--sd", "0.03"]
SHORT = ["--simulations", "3", "--jobs", "1", "--prior", "gaussian"]


@pytest.fixture
def folder(tmp_path, scores) -> Path:
    scores.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def test_the_command_prints_and_writes_what_python_gives(hiercomp, tmp_path):
    sizes = [
        "--datasets",
        "16,13",
        "--runs",
        "2,10",
        "--folds",
        "5",
        "--rope",
        "-0.01:0.02",
        "--seed",
        "3",
        "--alpha",
        "0.1",
    ]
    done = hiercomp(tmp_path, "plan", *ASSUMED, *sizes, *SHORT, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    found = plan(
        delta0=0.03,
        sigma0=0.01,
        nu=10,
        standard_deviation=0.03,
        n_datasets=(13, 16),
        runs=(2, 10),
        folds=5,
        rope=(-0.01, 0.02),
        alpha=0.1,
        simulations=3,
        seed=3,
        priors=hc.Priors.gaussian(),
        n_jobs=1,
        progress=False,
    )
    assert done.stdout == f"{found}\n"
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["table"] == found.to_frame().to_dict("records")
    assert written["conclusion"] == found.conclusion
    assert written["rope"] == [-0.01, 0.02]


def test_a_pilot_takes_the_place_of_the_assumed_numbers(hiercomp, folder, scores):
    pilot = ["--pilot", "scores.csv", "--left", "bayes", "--right", "tree", "--datasets", "14"]
    done = hiercomp(folder, "plan", *pilot, *SHORT, "--json", "-")
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout)
    comparison = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01, priors=hc.Priors.gaussian())
    result = comparison.fit("quadrature", progress=False)
    found = plan_from_result(result, n_datasets=14, simulations=3, n_jobs=1, progress=False)
    assert written["algorithms"] == ["bayes", "tree"]
    assert written["table"] == found.to_frame().to_dict("records")


def test_a_pilot_with_unpaired_folds_names_the_option_that_leaves_them_out(hiercomp, folder, scores):
    scores.drop(index=scores.index[0]).to_csv(folder / "gap.csv", index=False)
    pilot = ["--pilot", "gap.csv", "--left", "bayes", "--right", "tree", "--datasets", "14"]
    assert_one_line_of_error(hiercomp(folder, "plan", *pilot, *SHORT), "--drop-unpaired")
    done = hiercomp(folder, "plan", *pilot, *SHORT, "--drop-unpaired")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--delta0 is needed, or --pilot"),
        (["--delta0", "0.1", "--sigma0", "0.1"], "--sd is needed, or --pilot"),
        ([*ASSUMED, "--datasets", "10,x"], "--datasets must be whole numbers such as 10,20,40, got '10,x'"),
        ([*ASSUMED, "--datasets", ""], "--datasets must be whole numbers"),
        (["--delta0", "0", "--sigma0", "0.1", "--sd", "a"], "--sd must be a number or several"),
        ([*ASSUMED, "--rope", "wide"], "--rope must be a half-width"),
        ([*ASSUMED, "--prior", "vague"], "--prior must be one of"),
        ([*ASSUMED, "--lower-is-better"], "--lower-is-better needs --pilot"),
        ([*ASSUMED, "--where", "a=b"], "--where needs --pilot"),
        ([*ASSUMED, "--drop-unpaired"], "--drop-unpaired needs --pilot"),
        ([*ASSUMED, "--format", "weka"], "--format needs --pilot"),
        ([*ASSUMED, "--pilot", "scores.csv"], "--delta0 and --pilot exclude each other"),
        (["--nu", "3", "--pilot", "scores.csv"], "--nu and --pilot exclude each other"),
        (["--pilot", "none.csv"], "none.csv"),
        ([*ASSUMED, "--json", "scores.csv"], "such as scores.json"),
        ([*ASSUMED, "--simulations", "0"], "simulations must be at least 1"),
    ],
)
def test_an_error_is_one_line(hiercomp, folder, arguments, message):
    assert_one_line_of_error(hiercomp(folder, "plan", *arguments), message)
