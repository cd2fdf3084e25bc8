"""The JSON of every command: its keys are those that the documentation lists, its values those of pandas and hashlib."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from tests.command_line import run

PAGE = (Path(__file__).parents[2] / "docs" / "output.md").read_text(encoding="utf-8")
COMMANDS = {
    "compare": ("compare", "scores.csv", "--left", "a", "--right", "b", "--engine", "quadrature"),
    "pairs": ("pairs", "scores.csv", "--jobs", "1"),
    "test": ("test", "scores.csv", "--left", "a", "--right", "b"),
    "check": ("check", "scores.csv"),
    "plan": (
        *("plan", "--pilot", "scores.csv", "--left", "a", "--right", "b", "--datasets", "5", "--simulations", "2"),
        *("--jobs", "1"),
    ),
}


def documented(number: int) -> dict[str, set[str]]:
    """Command to keys, from a table of the page; ``number`` counts the tables of the section on JSON."""
    section = PAGE[PAGE.index("## JSON") :]
    tables = re.findall(r"^\| key \|.*?(?=\n\n|\Z)", section, re.MULTILINE | re.DOTALL)
    header, _, *rows = (line.strip("| ").split("|") for line in tables[number].splitlines())
    names = [name.strip() for name in header][1:-1]
    found: dict[str, set[str]] = {name: set() for name in names}
    for key, *marks, meaning in rows:
        assert meaning.strip()
        for name, mark in zip(names, marks, strict=True):
            assert mark.strip() in ("", "x")
            if mark.strip():
                found[name] |= set(re.findall(r"`(\w+)`", key))
    return found


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    generator = np.random.default_rng(4)
    index = pd.MultiIndex.from_product(
        [[f"d{i}" for i in range(6)], ["a", "b", "c"], range(10)], names=["dataset", "algorithm", "fold"]
    )
    frame = index.to_frame(index=False)
    better = frame["algorithm"].map({"a": 0.0, "b": 0.03, "c": 0.05})
    return frame.assign(accuracy=0.7 + better + generator.normal(0, 0.02, len(frame)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table) -> Path:
    path = tmp_path_factory.mktemp("json")
    table.to_csv(path / "scores.csv", index=False)
    return path


@pytest.fixture(scope="module")
def contents(folder) -> dict[str, dict[str, Any]]:
    found = {}
    for name, command in COMMANDS.items():
        done = run(folder, *command, "--json", "-")
        assert done.returncode in (0, 1), done.stderr
        found[name] = json.loads(done.stdout, parse_constant=pytest.fail)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_the_keys_are_those_of_the_documentation(contents, command):
    assert set(contents[command]) == documented(0)[command]


@pytest.mark.parametrize("command", ["compare", "pairs", "test", "check"])
def test_the_keys_of_the_data_sets_are_those_of_the_documentation(contents, command):
    rows = contents[command]["datasets"]
    assert [row["dataset"] for row in rows] == [f"d{i}" for i in range(6)]
    for row in rows:
        assert set(row) == documented(1)[command]


@pytest.mark.parametrize("command", COMMANDS)
def test_version_file_metric_and_direction_are_in_all(contents, folder, command):
    content, raw = contents[command], (folder / "scores.csv").read_bytes()
    assert content["version"] == version("hiercomp")
    assert content["file"] == {"name": "scores.csv", "sha256": hashlib.sha256(raw).hexdigest(), "size": len(raw)}
    assert content["metric"] == "accuracy (higher is better)"
    assert (content["measure"], content["higher_is_better"]) == ("accuracy", True)


def test_the_data_sets_have_the_means_of_pandas(contents, table):
    by = table.groupby(["dataset", "algorithm"])["accuracy"].agg(["mean", "std", "count"])
    for command in ("compare", "pairs"):
        for row in contents[command]["datasets"]:
            for name, cell in row["scores"].items():
                expected = by.loc[(row["dataset"], name)]
                assert (cell["mean"], cell["sd"]) == pytest.approx((expected["mean"], expected["std"]))
                assert cell["n"] == expected["count"]
    wide = table.pivot(index=["dataset", "fold"], columns="algorithm", values="accuracy")
    difference = (wide["b"] - wide["a"]).groupby("dataset").agg(["mean", "std"])
    for row in contents["compare"]["datasets"]:
        assert (row["mean"], row["sd"]) == pytest.approx(tuple(difference.loc[row["dataset"]]))


def test_settings_are_those_of_the_command(folder):
    done = run(
        *(folder, "compare", "scores.csv", "--left", "a", "--right", "b", "--engine", "quadrature", "--seed", "7"),
        *(
            "--rope=-0.02:0.01",
            "--rho",
            "0.2",
            "--prior",
            "kruschke",
            "--alpha",
            "0.1",
            "--draws",
            "500",
            "--json",
            "-",
        ),
    )
    content = json.loads(done.stdout)
    assert content["rope"] == [-0.02, 0.01]
    assert content["rho"] == [0.2, 0.2]
    assert content["alpha"] == content["decision"]["alpha"] == 0.1
    assert content["priors"]["name"] == "kruschke"
    assert (content["priors"]["alpha"], content["priors"]["beta"]) == (1.0, 0.0345)
    assert content["engine"]["name"] == "quadrature"
    assert content["seed"] == 7
    assert content["settings"]["draws"] == 500
    assert content["difference"] == "b - a"


def test_a_loss_is_subtracted_the_other_way_round(table):
    frame = table.assign(accuracy=1 - table["accuracy"]).rename(columns={"accuracy": "error"})
    result = hc.compare(frame, "a", "b", rope=0.01, higher_is_better=False, engine="quadrature", progress=False)
    content = result.to_dict()
    assert content["difference"] == "a - b"
    assert content["unit"] == "error"
    assert content["population"]["delta0"]["mean"] == pytest.approx(0.03, abs=0.01)  # b has the smaller error


def test_standard_input_has_no_file(folder, contents):
    assert run(folder, "plan", "--delta0", "0.03", "--sigma0", "0.01", "--sd", "0.03", "--datasets", "5",
               "--simulations", "1", "--jobs", "1", "--json", "plan.json").returncode == 0  # fmt: skip
    content = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    assert content["file"] is None
    assert content["higher_is_better"] is None
    assert set(content) == documented(0)["plan"]


def test_what_is_only_on_request_is_documented(folder, contents):
    done = run(folder, *COMMANDS["compare"], "--closed-form-tests", "--methods", "--scores-table", "-", "--json", "-")
    more = set(json.loads(done.stdout)) - set(contents["compare"])
    assert more == {"closed_form_tests", "methods", "scores_table"}
    assert all(f"`{key}`" in PAGE for key in more)


def test_a_failed_and_an_identical_comparison_have_a_dictionary_too(failed, identical):
    for result in (failed, identical):
        content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert len(content["datasets"]) == content["n_datasets"]
        assert content["status"] == result.status
    assert set(failed.to_dict()["datasets"][0]) == {"dataset", "mean", "sd", "n", "rho", "scores"}
