"""``hiercomp pairs`` gives what Python gives; a stopped run goes on from its checkpoint."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.tournament import compare_all
from tests.command_line import COMMAND, SIGKILL, Done, assert_group_ends, assert_one_line_of_error, own_group, run


def pairs(folder: Path, *arguments: object) -> Done:
    return run(folder, "pairs", *arguments)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    index = pd.MultiIndex.from_product(
        [[f"d{i}" for i in range(6)], ["first", "second", "third"], range(10)], names=["dataset", "algorithm", "fold"]
    )
    df = index.to_frame(index=False)
    better = df["algorithm"].map({"first": 0.0, "second": 0.05, "third": 0.051})
    return df.assign(score=0.7 + better + generator.normal(0, 0.01, size=len(df)))


@pytest.fixture
def folder(tmp_path, table) -> Path:
    table.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def summary_of(df: pd.DataFrame, alpha: float = 0.05, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        return compare_all(df, **{"rope": 0.01, "progress": False, "n_jobs": 1} | options).summary(alpha)


def test_pairs_prints_what_python_gives_and_writes_json(folder, table):
    done = pairs(folder, "scores.csv", "--rope", "0.01", "--json", "out.json", "--checkpoint", "pairs.sqlite")
    expected = summary_of(table)
    assert done.returncode == 0, done.stderr
    written = [line.split(" (")[0] for line in done.stderr.splitlines()]
    assert written == ["hiercomp: wrote pairs.sqlite", "hiercomp: wrote out.json"]
    assert done.stdout == f"{expected}\n"
    content = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert content.items() >= expected.to_dict().items()
    assert sorted(os.listdir(folder)) == ["out.json", "pairs.sqlite", "scores.csv"]
    again = pairs(folder, "scores.csv", "--checkpoint", "pairs.sqlite", "--json", "-")
    assert json.loads(again.stdout) == content


def test_the_options_reach_the_comparison(tmp_path, table):
    df = table.rename(columns={"dataset": "id", "score": "error"}).drop(index=0)
    df.to_csv(tmp_path / "scores.csv", index=False)
    done = pairs(
        *(tmp_path, "scores.csv", "--column", "dataset=id", "--column", "score=error", "--lower-is-better"),
        *("--drop-unpaired", "--prior", "gaussian", "--rope=-0.02:0.01", "--baseline", "second", "--rho", "0.2"),
        *("--alpha", "0.1", "--seed", "3", "--jobs", "1", "--engine", "quadrature", "--json", "-"),
    )
    assert done.returncode == 0, done.stderr
    expected = summary_of(
        df.rename(columns={"error": "score"}).assign(run=1), 0.1, rope=(-0.02, 0.01), baseline="second", rho=0.2,
        higher_is_better=False, priors=hc.Priors.gaussian(), columns={"dataset": "id"}, missing="drop", seed=3,
    )  # fmt: skip
    content = json.loads(done.stdout)
    assert content.pop("measure") == "error"
    assert content.pop("title") == expected.title.replace("lower is better", "error (lower is better)")
    assert (
        content.items()
        >= {key: value for key, value in expected.to_dict().items() if key not in ("measure", "title")}.items()
    )
    assert (content["baseline"], content["rope"], content["rho"]) == ("second", [-0.02, 0.01], [0.2, 0.2])
    assert content["verdicts"]["second"] == {"first": "worse", "third": "equivalent"}
    assert [row["left"] for row in content["pairs"]] == ["second", "second"]
    assert any("1 fold of 1 data set" in note for note in content["notes"])


def test_a_report_is_written(folder):
    done = pairs(folder, "scores.csv", "--report", "report.html")
    assert done.returncode == 0, done.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "scores.csv" in page
    assert "third" in page


def test_a_pair_without_a_result_exits_with_three_and_is_named(folder, table):
    df = table[(table["algorithm"] != "second") | (table["dataset"] == "d0")]
    df.to_csv(folder / "scores.csv", index=False)
    done = pairs(folder, "scores.csv")
    assert done.returncode == 3
    assert done.stderr == ""
    assert "2 pairs of 3 can't be compared: first against second: Only one data set" in done.stdout
    assert done.stdout == f"{summary_of(df)}\n"


def test_existing_files_are_refused_before_anything_is_computed_and_overwritten_with_force(folder):
    for option, name in (("--json", "out.json"), ("--report", "out.html")):
        (folder / name).write_text("precious")
        assert_one_line_of_error(pairs(folder, "scores.csv", option, name), name, "--force")
        assert (folder / name).read_text() == "precious"
    done = pairs(folder, "scores.csv", "--json", "out.json", "--force")
    assert done.returncode == 0
    assert json.loads((folder / "out.json").read_text())["status"] == "ok"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["scores.csv", "--baseline", "secnd"], ["--baseline secnd", "'second'"]),
        (["scores.csv", "--rope=-0.02:0.01"], ["symmetric", "baseline"]),
        (["scores.csv", "--rope", "wide"], ["--rope"]),
        (["scores.csv", "--engine", "quadratur"], ["'quadrature'"]),
        (["scores.csv", "--jobs", "0"], ["n_jobs"]),
        (["scores.csv", "--alpha", "2"], ["alpha"]),
        (["scores.csv", "--prior", "flat"], ["--prior"]),
        (["scores.csv", "--column", "score"], ["--column"]),
        (["scores.csv", "--checkpoint", "scores.csv"], ["--checkpoint names scores.csv, which is read"]),
        (["scores.csv", "--checkpoint", "no/x"], ["no"]),
        (["scores.csv", "--dask", "nonsense"], ["No Dask scheduler answers"]),
        (["scores.csv", "--json", "x", "--report", "x"], ["--json and --report"]),
        (["scores.csv", "--json", "x.json", "--checkpoint", "x.json"], ["--checkpoint and --json"]),
        (["scores.csv", "--report", "-"], ["--report needs the name"]),
        (["missing.csv"], ["missing.csv"]),
        ([], ["scores"]),
    ],
)
def test_a_bad_argument_is_one_line_on_standard_error(folder, arguments, parts):
    assert_one_line_of_error(pairs(folder, *arguments), *parts)
    assert os.listdir(folder) == ["scores.csv"]


def finished_pairs(path: Path) -> int:
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM pairs").fetchone()[0])
    except sqlite3.OperationalError:  # not yet made
        return 0
    finally:
        connection.close()


def started(folder: Path) -> subprocess.Popen[str]:
    """A run of 78 pairs in two processes, when the first are in its checkpoint."""
    generator = np.random.default_rng(1)
    index = pd.MultiIndex.from_product([range(40), range(13), range(10)], names=["dataset", "algorithm", "fold"])
    df = index.to_frame(index=False)
    df.assign(score=0.7 + generator.normal(0, 0.02, size=len(df))).to_csv(folder / "scores.csv", index=False)
    process = subprocess.Popen(
        [*COMMAND, "pairs", "scores.csv", "--prior", "gaussian", "--jobs", "2", "--checkpoint", "pairs.sqlite"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while finished_pairs(folder / "pairs.sqlite") < 8:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    return process


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (SIGKILL, -9)])
def test_a_stopped_run_leaves_a_valid_checkpoint_and_goes_on_from_it(tmp_path, sent, code):
    checkpoint = tmp_path / "pairs.sqlite"
    process = started(tmp_path)
    if sent == SIGKILL:  # as when the machine stops
        os.killpg(process.pid, sent)
    else:
        process.send_signal(sent)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert output == ""
    assert_group_ends(process.pid)
    if sent != SIGKILL:
        assert errors == f"hiercomp: {'interrupted' if sent == signal.SIGINT else 'terminated'}\n"
        assert sorted(os.listdir(tmp_path)) == ["pairs.sqlite", "scores.csv"]
    assert 8 <= finished_pairs(checkpoint) < 78
    done = pairs(tmp_path, "scores.csv", "--prior", "gaussian", "--checkpoint", "pairs.sqlite")
    assert done.returncode == 0, done.stderr
    assert finished_pairs(checkpoint) == 78
    whole = pairs(tmp_path, "scores.csv", "--prior", "gaussian")
    assert whole.stdout == done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills a process")
def test_the_processes_of_a_killed_run_end_by_themselves(tmp_path):
    with own_group(started(tmp_path)) as process:
        process.kill()
        process.communicate(timeout=60)
        assert process.returncode == -SIGKILL
        assert_group_ends(process.pid)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="finds processes in /proc")
def test_a_killed_worker_costs_no_pair(tmp_path):
    with own_group(started(tmp_path)) as process:
        os.kill(workers_of(process.pid)[0], SIGKILL)
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
        assert_group_ends(process.pid)
    assert finished_pairs(tmp_path / "pairs.sqlite") == 78
    assert output == pairs(tmp_path, "scores.csv", "--prior", "gaussian", "--jobs", "1").stdout


def workers_of(parent: int) -> list[int]:
    """The numbers of joblib's processes."""
    found = []
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        found += [int(pid) for pid in children.read_text().split()]
    return [pid for pid in found if b"LokyProcess" in Path(f"/proc/{pid}/cmdline").read_bytes()]
