"""``hiercomp compare`` and what all commands share: what goes where, exit codes, and no traceback ever."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.planning.plan import pilot_assumption
from tests.command_line import COMMAND, assert_one_line_of_error, run_process
from tests.conftest import simulated_scores
from tests.scores.test_groups import questions_in_passages

ENGINE = ["--engine", "embedded"]


@pytest.fixture
def folder(tmp_path, scores) -> Path:
    scores.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_a_mixture_is_asked_for_by_the_name_of_its_population(hiercomp, tmp_path):
    table = simulated_scores(21, 1, centre=0.01, spread=0.03)
    table.to_csv(tmp_path / "scores.csv", index=False)
    done = hiercomp(
        tmp_path,
        "compare",
        "scores.csv",
        "--population",
        "mixture",
        "--draws",
        "400",
        "--rope",
        "0.01",
        "--json",
        "a.json",
    )
    assert done.returncode == 0, done.stderr
    again = hc.compare(table, rope=0.01, population="mixture", draws=400)
    assert done.stdout.startswith(str(again.summary()).splitlines()[0])
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert content["priors"] == {
        "name": "mixture",
        "population": "mixture",
        "sigma_upper": 1000.0,
        "concentration": [2.0, 2.0],
    }
    assert content["next_dataset"]["p_left"] == again.next_dataset.p_left
    assert set(content["population"]) == {"delta0", "sigma0", "concentration"}


def test_the_version_is_the_packages(hiercomp, tmp_path):
    done = hiercomp(tmp_path, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hiercomp {hc.__version__}\n", "")


def test_demo_prints_the_summary_on_standard_output_and_nothing_else_there(tmp_path):
    done = run_process(tmp_path, "demo", "--engine", "quadrature")
    comparison = hc.HierarchicalComparison(hc.load_scores("keel"), "naive_bayes", "decision_tree", rope=0.01)
    summary = comparison.fit("quadrature").summary()
    assert done.returncode == 0
    assert done.stdout == f"{summary}\n"
    assert summary.conclusion in done.stdout
    assert "hiercomp compare" in done.stderr
    assert os.listdir(tmp_path) == []


def test_compare_gives_what_python_gives_and_writes_json_and_the_result(hiercomp, folder, result):
    done = hiercomp(
        folder,
        "compare",
        "scores.csv",
        "--left",
        "bayes",
        "--right",
        "tree",
        *ENGINE,
        "--json",
        "out.json",
        "--save",
        "fit.nc",
    )
    assert done.returncode == 0, done.stderr
    written = [re.fullmatch(r"hiercomp: wrote (.*) \(\d+ [kM]B\)", line) for line in done.stderr.splitlines()]
    assert [line and line[1] for line in written] == ["fit.nc", "out.json"]
    assert f"out.json ({round((folder / 'out.json').stat().st_size / 1000)} kB)" in done.stderr
    assert done.stdout == f"{result.summary()}\n"
    content = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert content.pop("file")["name"] == "scores.csv"
    assert content == result.to_dict()
    assert content.items() >= result.summary().to_dict().items()
    loaded = hc.load_result(folder / "fit.nc")
    assert loaded.datatree.identical(result.datatree)
    assert sorted(os.listdir(folder)) == ["fit.nc", "out.json", "scores.csv"]


def test_json_on_standard_output_is_all_that_is_there(hiercomp, folder):
    done = hiercomp(
        folder, "compare", "scores.csv", *ENGINE, "--seed", "3", "--rope=-0.02:0.01", "--alpha", "0.1", "--json", "-"
    )
    content = json.loads(done.stdout)
    assert content["rope"] == [-0.02, 0.01]
    assert content["decision"]["alpha"] == 0.1
    assert "seed 3" in content["computation"]


def test_the_options_reach_the_comparison(hiercomp, tmp_path, scores):
    table = scores.rename(columns={"dataset": "id", "score": "error"})
    table["id"] = table["id"].map({f"d{i}": "0" * i + "1" for i in range(8)})  # 1, 01, 001, ...: all the same number
    table = table[~((table["id"] == "1") & (table["algorithm"] == "tree") & (table["run"] == 2))]
    table.to_csv(tmp_path / "scores.csv", index=False)
    done = hiercomp(
        *(
            tmp_path,
            "compare",
            "scores.csv",
            *ENGINE,
            "--column",
            "dataset=id",
            "--column",
            "score=error",
            "--lower-is-better",
        ),
        *(
            "--drop-unpaired",
            "--prior",
            "gaussian",
            "--chains",
            "3",
            "--left",
            "bayes",
            "--right",
            "tree",
            "--json",
            "-",
        ),
    )
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert (content["n_datasets"], content["n_scores"]) == (8, 230)  # 8 x 30 pairs but one run of ten
    assert content["diagnostics"]["chains"] == 3
    assert content["decision"]["region"] == "left"  # tree's larger error is worse
    assert "nu" not in content["population"]
    assert any("10" in note for note in content["notes"])


@pytest.fixture
def meta(folder) -> Path:
    """A covariate of the eight data sets, beside their scores."""
    pd.DataFrame({"dataset": [f"d{i}" for i in range(8)], "size": range(8)}).to_csv(folder / "meta.csv", index=False)
    return folder


PAIR = ["compare", "scores.csv", "--left", "bayes", "--right", "tree"]


@pytest.mark.filterwarnings("ignore::hiercomp.RefitWarning", "ignore::hiercomp.FewDatasetsWarning")
@pytest.mark.slow
def test_covariates_give_what_python_gives(hiercomp, meta, scores):
    done = hiercomp(
        meta, *PAIR, *ENGINE, "--covariates", "meta.csv", "--at", "size=3", "--at", "size=7.5", "--json", "out.json"
    )
    assert done.returncode == 0, done.stderr
    frame = pd.read_csv(meta / "meta.csv", dtype={"dataset": str}).set_index("dataset")
    comparison = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01, covariates=frame)
    result = comparison.fit("embedded", progress=False)
    assert str(result.effects()) in done.stdout
    assert str(result.at(size=3)) in done.stdout
    content = json.loads((meta / "out.json").read_text())
    assert content["effects"]["slopes"]["size"]["slope"] == pytest.approx(result.draws("slope").mean())
    assert [point["values"]["size"] for point in content["at"]] == [3, 7.5]
    assert content["at"][1]["outside"] == ["size"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--at", "size=3"], "--covariates"),
        (["--covariates", "meta.csv", "--at", "rows=3"], "rows"),
        (["--covariates", "meta.csv", "--at", "size"], "NAME=VALUE"),
        (["--covariates", "meta.csv", "--at", "size=three"], "NAME=VALUE"),
        (["--covariates", "meta.csv", "--at", "size=3,size=4"], "each name once"),
        (["--covariates", "meta.csv", "--at", "size=nan"], "finite"),
        (["--covariates", "absent.csv"], "absent.csv"),
        (["--covariates", "scores.csv"], "several rows"),
        (["--covariates", "meta.csv", "--engine", "quadrature"], "--engine auto"),
        (["--covariates", "meta.csv", "--json", "meta.csv"], "meta.csv"),
    ],
)
def test_covariates_that_do_not_serve_are_one_line_of_error(hiercomp, meta, arguments, part):
    done = hiercomp(meta, *PAIR, *arguments)
    assert_one_line_of_error(done, part)


def test_an_existing_file_is_refused_before_the_fit(hiercomp, folder):
    (folder / "out.json").write_text("precious")
    (folder / "fit.nc").write_text("precious")
    started = time.monotonic()
    for option, name in (("--json", "out.json"), ("--save", "fit.nc")):
        # A fit of a million draws would take hours
        done = hiercomp(folder, "compare", "scores.csv", *ENGINE, "--draws", "1000000", option, name)
        assert_one_line_of_error(done, name, "--force")
        assert (folder / name).read_text() == "precious"
    assert time.monotonic() - started < 60


def test_force_overwrites(hiercomp, folder):
    (folder / "out.json").write_text("old")
    (folder / "fit.nc").write_text("old")
    done = hiercomp(folder, "compare", "scores.csv", *ENGINE, "--json", "out.json", "--save", "fit.nc", "--force")
    assert done.returncode == 0
    assert json.loads((folder / "out.json").read_text())["status"] == "ok"
    assert hc.load_result(folder / "fit.nc").status == "ok"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["scores.csv", "--left", "bays"], ["--left bays", "'bayes'"]),
        (["scores.csv", "--rope=-0.01"], ["rope", "negative"]),
        (["scores.csv", "--rope", "wide"], ["--rope", "'wide'"]),
        (["scores.csv", "--rope", "nan"], ["rope", "finite"]),
        (["scores.csv", "--rope", "d0=0.1,d1=0.2"], ["rope has no value", "'d2'"]),
        (["scores.csv", "--rope", "d0=0.1,d0=0.2"], ["--rope", "NAME=WIDTH", "each name once"]),
        (["scores.csv", "--rope", "d0=wide"], ["--rope", "NAME=WIDTH"]),
        (["scores.csv", "--rope", "=0.1"], ["--rope", "NAME=WIDTH"]),
        (["scores.csv", "--engine", "embeded"], ["engine", "'embedded'"]),
        (["scores.csv", "--seed", "-1"], ["seed", "-1"]),
        (["scores.csv", "--chains", "0"], ["chains", "between 1 and 100"]),
        (["scores.csv", "--chains", "many"], ["--chains"]),
        (["scores.csv", "--alpha", "2", "--draws", "1000000"], ["alpha"]),
        (["scores.csv", "--prior", "flat"], ["--prior", "gaussian"]),
        (["scores.csv", "--population", "mixtur"], ["--population", "mixture"]),
        (["scores.csv", "--population", "mixture", "--prior", "kruschke"], ["'mixture' contradicts", "only one"]),
        (
            ["scores.csv", "--population", "mixture", "--engine", "embedded"],
            ["no program for a mixture", "--engine auto"],
        ),
        (["scores.csv", "--column", "score"], ["--column", "ROLE=NAME"]),
        (["scores.csv", "--column", "score=auc"], ["'auc'"]),
        (["scores.csv", "--rho", "1"], ["rho"]),
        (["scores.csv", "--save", "nowhere/fit.nc"], ["nowhere"]),
        (["scores.csv", "--save", "fit.csv", "--draws", "1000000"], ["netCDF", "such as fit.nc"]),
        (["scores.csv", "--report", "out.pdf", "--draws", "1000000"], ["HTML", "such as out.html"]),
        (["scores.csv", "--report", "out", "--draws", "1000000"], ["HTML", "such as out.html"]),
        (["scores.csv", "--json", "out.txt", "--draws", "1000000"], ["JSON", "such as out.json"]),
        (["scores.csv", "--rope", "0,01"], ["--rope", "Did you mean 0.01?"]),
        (["scores.csv", "--save", "x", "--json", "x"], ["--json and --save"]),
        (["scores.csv", "--bogus"], ["--bogus"]),
        (["missing.csv"], ["missing.csv"]),
        ([], ["scores"]),
    ],
)
def test_a_bad_argument_is_one_line_on_standard_error(hiercomp, folder, arguments, parts):
    assert_one_line_of_error(hiercomp(folder, "compare", *arguments), *parts)
    assert os.listdir(folder) == ["scores.csv"]


def test_a_process_ends_with_the_exit_code_and_one_line(folder):
    assert_one_line_of_error(run_process(folder, "compare", "scores.csv", "--left", "bays"), "--left bays", "'bayes'")
    assert run_process(folder, "--version").returncode == 0


def test_an_unknown_command_is_one_line(hiercomp, tmp_path):
    assert_one_line_of_error(hiercomp(tmp_path, "compair"), "compair")


def test_a_typo_in_a_column_name_is_found(hiercomp, tmp_path, scores):
    scores.rename(columns={"algorithm": "algoritm"}).to_csv(tmp_path / "scores.csv", index=False)
    assert_one_line_of_error(hiercomp(tmp_path, "compare", "scores.csv"), "'algorithm'", "'algoritm'")


def test_percentages_under_a_rope_for_fractions_are_found(hiercomp, tmp_path, scores):
    scores.assign(score=100 * scores["score"]).to_csv(tmp_path / "scores.csv", index=False)
    assert_one_line_of_error(hiercomp(tmp_path, "compare", "scores.csv"), "percentages", "--rope 1")


def test_a_loss_by_its_name_is_refused_in_the_words_of_the_command_line(hiercomp, tmp_path, scores):
    scores.rename(columns={"score": "log_loss"}).to_csv(tmp_path / "scores.csv", index=False)
    for command in ("compare", "pairs"):
        done = hiercomp(tmp_path, command, "scores.csv", "--rope", "0.01")
        assert_one_line_of_error(done, "'log_loss'", "--lower-is-better", "--higher-is-better")
    quick = ("compare", "scores.csv", "--engine", "quadrature", "--json", "-")
    loss, gain = (hiercomp(tmp_path, *quick, f"--{which}-is-better") for which in ("lower", "higher"))
    lower, higher = json.loads(loss.stdout), json.loads(gain.stdout)
    assert (lower["measure"], lower["higher_is_better"], higher["higher_is_better"]) == ("log_loss", False, True)
    assert (lower["decision"]["region"], higher["decision"]["region"]) == ("left", "right")  # tree has the larger ones
    assert not lower["notes"]
    assert any("the name of a loss" in note for note in higher["notes"])


@pytest.mark.slow
def test_ratios_and_the_default_rope_on_the_command_line(hiercomp, tmp_path, scores):
    unit = scores["dataset"].map({f"d{i}": 3.0**i for i in range(8)})
    scores.assign(score=scores["score"] * unit).to_csv(tmp_path / "scores.csv", index=False)
    assert_one_line_of_error(hiercomp(tmp_path, "compare", "scores.csv"), "--transform log --rope 0.01")
    quick = ("--engine", "quadrature", "--rope", "0.01", "--json", "-")
    logs = json.loads(hiercomp(tmp_path, "compare", "scores.csv", "--transform", "log", *quick).stdout)
    assert (logs["transform"], logs["decision"]["region"]) == ("log", "right")
    plain = json.loads(hiercomp(tmp_path, "compare", "scores.csv", *quick).stdout)
    assert any("-fold in size" in note for note in plain["notes"])
    pairs = json.loads(hiercomp(tmp_path, "pairs", "scores.csv", "--transform", "log", *quick).stdout)
    assert pairs["transform"] == "log"
    assert_one_line_of_error(
        hiercomp(tmp_path, "compare", "scores.csv", "--transform=square"), "--transform must be log"
    )


@pytest.mark.slow
def test_a_rope_for_each_data_set_on_the_command_line(hiercomp, tmp_path, scores):
    ropes = {f"d{place}": 0.01 * 3.0**place for place in range(8)}
    table = scores.assign(score=scores["score"] * scores["dataset"].map(ropes) / 0.01)
    table.assign(margin=table["dataset"].map(ropes)).to_csv(tmp_path / "scores.csv", index=False)
    again = pd.read_csv(tmp_path / "scores.csv").drop(columns="margin")
    expected = hc.compare(again, rope=ropes, engine="quadrature").to_dict()
    listed = ",".join(f"{name}={rope!r}" for name, rope in ropes.items())
    for rope in (listed, "margin"):
        quick = ("--engine", "quadrature", "--rope", rope, "--json", "-")
        content = json.loads(hiercomp(tmp_path, "compare", "scores.csv", *quick).stdout)
        assert content["next_dataset"] == expected["next_dataset"]
        assert (content["ropes"], content["transform"]) == (ropes, "rope")
        pairs = json.loads(hiercomp(tmp_path, "pairs", "scores.csv", "--jobs", "1", *quick).stdout)
        assert (pairs["ropes"], pairs["rope"]) == (ropes, [-1, 1])
        tests = json.loads(hiercomp(tmp_path, "test", "scores.csv", *quick[2:]).stdout)
        assert "in units of each data set's rope" in tests["metric"]
        plan = ("plan", "--pilot", "scores.csv", "--datasets", "5", "--simulations", "2", "--jobs", "1")
        assert json.loads(hiercomp(tmp_path, *plan, *quick).stdout)["rope"] == [-1, 1]
    hiercomp(tmp_path, "compare", "scores.csv", *quick[:-2], "--save", "fit.nc")
    assert "rope [-2, 2]" in hiercomp(tmp_path, "show", "fit.nc", "--rope", "2").stdout
    assert_one_line_of_error(hiercomp(tmp_path, "show", "fit.nc", "--rope", listed), "one number is needed")


def test_a_full_disk_behind_standard_output_is_one_line(folder):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "compare", "scores.csv", "--engine", "quadrature"],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_a_failing_fit_exits_with_three_and_gives_no_verdict(hiercomp, tmp_path, hard_scores, failed):
    hard_scores.to_csv(tmp_path / "scores.csv", index=False)
    short = ["--chains", "2", "--warmup", "100", "--draws", "100"]
    done = hiercomp(tmp_path, "compare", "scores.csv", "--left", "bayes", "--right", "tree", *ENGINE, *short)
    assert done.returncode == 3
    assert "No verdict: the computation failed its checks" in done.stdout
    assert done.stdout == f"{failed.summary()}\n"
    assert done.stderr == ""


def test_doctor_tries_every_engine(hiercomp, tmp_path):
    done = hiercomp(tmp_path, "doctor")
    assert done.returncode == 0
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["cmdstan", "embedded", "quadrature"]
    assert "embedded: works" in done.stdout
    assert "quadrature: works" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("sent", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_stops_a_long_fit_and_leaves_nothing_behind(tmp_path, sent, code, word):
    hc.load_scores("keel").to_csv(tmp_path / "keel.csv", index=False)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [*COMMAND, "compare", "keel.csv", "--left", "naive_bayes", "--right", "decision_tree", *ENGINE]
    process = subprocess.Popen(
        [*command, "--draws", "60000", "--save", "fit.nc"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(6)  # reading the table takes about one second, the fit more than twenty
    assert process.poll() is None
    process.send_signal(sent)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert output == ""
    assert errors == f"hiercomp: {word}\n"
    assert os.listdir(temporary) == []
    assert sorted(os.listdir(tmp_path)) == ["keel.csv", "temporary"]


def test_closed_form_tests_follow_the_summary_and_are_in_the_json(hiercomp, folder, result):
    done = hiercomp(folder, "compare", "scores.csv", *ENGINE, "--closed-form-tests", "--json", "out.json")
    assert done.returncode == 0, done
    assert done.stdout == f"{result.summary()}\n\n{result.closed_form_tests()}\n"
    content = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert content["closed_form_tests"] == result.closed_form_tests().to_dict()


@pytest.mark.parametrize(
    ("text", "ends"), [("1%", [-0.01, 0.01]), ("0.5 %", [-0.005, 0.005]), ("-2%:1%", [-0.02, 0.01])]
)
def test_a_rope_may_be_in_percent(hiercomp, folder, text, ends):
    quick = ("--engine", "quadrature", "--prior", "gaussian", "--json", "-")
    done = hiercomp(folder, "compare", "scores.csv", f"--rope={text}", *quick)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rope"] == ends


@pytest.mark.slow
def test_quiet_leaves_only_the_result(hiercomp, folder):
    wide = pd.read_csv(folder / "scores.csv").pivot(
        index=["dataset", "run", "fold"], columns="algorithm", values="score"
    )
    wide.to_csv(folder / "wide.csv")
    command = ("compare", "wide.csv", "--engine", "quadrature", "--report", "out.html", "--force")
    loud, quiet, short = (hiercomp(folder, *command, *more) for more in ((), ("--quiet",), ("-q",)))
    assert "wide.csv was read as wide" in loud.stderr
    assert "wrote out.html" in loud.stderr
    assert (quiet.returncode, quiet.stderr, short.stderr) == (0, "", "")
    assert loud.stdout == quiet.stdout == short.stdout
    assert "--left" in hiercomp(folder, "compare", "scores.csv", "--left", "x", "-q").stderr


def test_rho_may_be_learnt_from_the_runs(hiercomp, folder, scores):
    arguments = ("compare", "scores.csv", "--left", "bayes", "--right", "tree", "--engine", "quadrature")
    learnt = hiercomp(folder, *arguments, "--rho", "runs")
    expected = hc.compare(scores, "bayes", "tree", rho="runs", engine="quadrature")
    assert learnt.stdout == f"{expected.summary()}\n"
    assert "learnt from their variation, 0.1 across runs" in learnt.stdout
    wrong = hiercomp(folder, *arguments, "--rho", "run")
    assert (wrong.returncode, wrong.stderr) == (2, "hiercomp: --rho must be a number or runs, got 'run'.\n")


def test_a_plan_takes_the_correlations_of_its_pilot(hiercomp, folder, scores):
    sizes = ("--datasets", "6", "--runs", "1,3", "--simulations", "2", "--jobs", "1", "--rho", "runs", "--json", "-")
    done = hiercomp(folder, "plan", "--pilot", "scores.csv", "--left", "bayes", "--right", "tree", *sizes)
    pilot = hc.compare(scores, "bayes", "tree", rho="runs", engine="quadrature")
    rho = pilot_assumption(pilot, runs=(1, 3))[0].rho
    assert json.loads(done.stdout)["rho"] == [rho.min(), rho.max()]
    alone = hiercomp(folder, "plan", "--delta0", "0", "--sigma0", "0.1", "--sd", "0.1", "--rho", "runs")
    assert alone.stderr == "hiercomp: --rho runs needs --pilot, whose runs say how much their means vary.\n"


@pytest.mark.slow
def test_groups_on_the_command_line(hiercomp, tmp_path):
    questions_in_passages(balanced=True).to_csv(tmp_path / "answers.csv", index=False)
    options = ("--rope", "0.01", "--groups", "passage", "--engine", "quadrature", "--json", "-")
    one = hiercomp(tmp_path, "compare", "answers.csv", "--left", "base", "--right", "tuned", *options)
    assert json.loads(one.stdout)["n_groups"] == 72
    assert hiercomp(tmp_path, "pairs", "answers.csv", *options).returncode == 0


@pytest.mark.slow
def test_crossed_groups_on_the_command_line(hiercomp, tmp_path):
    table = questions_in_passages(balanced=True)
    table[["question", "seed"]] = table.pop("question_id").str.split("-", expand=True)
    table.to_csv(tmp_path / "answers.csv", index=False)
    options = ("--rope", "0.01", "--groups", "passage, seed", "--engine", "quadrature", "--json", "-")
    one = hiercomp(tmp_path, "compare", "answers.csv", "--left", "base", "--right", "tuned", *options)
    assert json.loads(one.stdout)["crossed_groups"] == [72, 24]
    assert hiercomp(tmp_path, "pairs", "answers.csv", *options).returncode == 0


@pytest.mark.parametrize(("left", "right", "code"), [("bayes", "tree", 0), ("tree", "bayes", 1)])
def test_a_pipeline_may_require_that_the_right_algorithm_is_non_inferior(hiercomp, folder, left, right, code):
    required = ("--engine", "quadrature", "--rope", "0.01", "--require", "non-inferior", "--json", "-")
    done = hiercomp(folder, "compare", "scores.csv", "--left", left, "--right", right, *required)
    found = json.loads(done.stdout)["non_inferiority"][1]
    assert (done.returncode, found["side"]) == (code, "right")
    assert found["verdict"] == ("not shown" if code else "non-inferior")
    said = f"hiercomp: {right} is not shown to be non-inferior: probability {found['probability']:.3f}\n"
    assert done.stderr == (said if code else "")
    wrong = hiercomp(folder, "compare", "scores.csv", "--left", left, "--right", right, "--require", "better")
    assert (wrong.returncode, wrong.stderr) == (2, "hiercomp: --require must be non-inferior, got 'better'.\n")
