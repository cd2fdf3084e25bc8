"""Every command reads files of other layouts and tools, and says what it took them for."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

COMMON = ("--left", "nb", "--right", "tree", "--json", "-")
QUICK = ("--engine", "quadrature", "--prior", "gaussian")


@pytest.fixture
def tidy(tmp_path) -> pd.DataFrame:
    generator = np.random.default_rng(3)
    index = pd.MultiIndex.from_product(
        [[f"d{i}" for i in range(5)], ["nb", "tree"], range(1, 6)], names=["dataset", "algorithm", "fold"]
    )
    frame = index.to_frame(index=False).assign(score=generator.normal(0.8, 0.02, 50).round(3))
    frame.to_csv(tmp_path / "tidy.csv", index=False)
    return frame


def wide(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.pivot(index=["dataset", "fold"], columns="algorithm", values="score").reset_index()


@pytest.mark.parametrize("command", ["compare", "pairs"])
def test_decimal_commas_and_a_column_for_each_algorithm_give_the_same_result(hiercomp, tmp_path, tidy, command):
    wide(tidy).to_csv(tmp_path / "wide.csv", sep=";", decimal=",", index=False, encoding="utf-16")
    options = (*(COMMON if command == "compare" else COMMON[4:]), *QUICK)
    expected = hiercomp(tmp_path, command, "tidy.csv", *options)
    assert expected.returncode == 0, expected.stderr
    assert expected.stderr == ""
    done = hiercomp(tmp_path, command, "wide.csv", "--sep", ";", "--decimal", ",", *options)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "hiercomp: wide.csv was read as wide"
    found, wanted = json.loads(done.stdout), json.loads(expected.stdout)
    for key in ("title", "verdicts", "pairs", "probabilities", "next_dataset"):
        assert found.get(key) == wanted.get(key)
    refused = hiercomp(tmp_path, command, "wide.csv", *options)
    assert refused.returncode == 2
    assert "--sep ';' --decimal ','" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_percent_signs_are_read_by_option_and_said(hiercomp, tmp_path, tidy):
    tidy.assign(score=[f"{100 * score:.1f}%" for score in tidy["score"]]).to_csv(tmp_path / "percent.csv", index=False)
    refused = hiercomp(tmp_path, "compare", "percent.csv", *COMMON, *QUICK)
    assert refused.returncode == 2
    assert "--percent" in refused.stderr
    done = hiercomp(tmp_path, "compare", "percent.csv", "--percent", *COMMON, *QUICK)
    assert done.returncode == 0, done.stderr
    assert "percent" in done.stderr
    plain = hiercomp(tmp_path, "compare", "tidy.csv", *COMMON, *QUICK)
    # 81.2% is 81.2 / 100, which may differ from 0.812 in the last bit
    found, wanted = (json.loads(run.stdout)["next_dataset"] for run in (done, plain))
    assert found["p_left"] == pytest.approx(wanted["p_left"], abs=1e-6)


def test_a_file_of_weka_is_recognised_by_compare_and_check(hiercomp, tmp_path, tidy):
    rows = [
        f"{row.dataset},1,{row.fold},weka.classifiers.x.{row.algorithm},'-A 1',12,{100 * row.score:.4f}"
        for row in tidy.itertuples()
    ]
    header = "Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Key_Scheme_options,Key_Scheme_version_ID,Percent_correct"
    (tmp_path / "weka.csv").write_text("\n".join([header, *rows]) + "\n")
    done = hiercomp(tmp_path, "compare", "weka.csv", "--option", "fraction=true", *COMMON, *QUICK)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "hiercomp: weka.csv was read as weka"
    plain = hiercomp(tmp_path, "compare", "tidy.csv", *COMMON, *QUICK)
    found, wanted = (json.loads(run.stdout)["next_dataset"] for run in (done, plain))
    assert found["p_left"] == pytest.approx(wanted["p_left"], abs=1e-6)
    checked = hiercomp(tmp_path, "check", "weka.csv", "--option", "fraction=true")
    assert checked.returncode in (0, 1)
    assert "weka" in checked.stdout
    wrong = hiercomp(tmp_path, "compare", "weka.csv", "--option", "fracton=true", *COMMON)
    assert wrong.returncode == 2
    assert "Did you mean 'fraction'" in wrong.stderr


def test_an_option_without_a_value_is_refused(hiercomp, tmp_path, tidy):
    done = hiercomp(tmp_path, "compare", "tidy.csv", "--option", "folds")
    assert done.returncode == 2
    assert "--option must be NAME=VALUE" in done.stderr


@pytest.mark.parametrize("pair", ["decimal=,", "encoding=latin-1", "higher_is_better=false"])
def test_an_option_that_the_command_has_itself_is_refused(hiercomp, tmp_path, tidy, pair):
    done = hiercomp(tmp_path, "check", "tidy.csv", "--option", pair)
    assert done.returncode == 2
    assert "use the command's own option" in done.stderr


@pytest.mark.parametrize("command", ["compare", "pairs", "check"])
def test_the_largest_size_is_an_option(hiercomp, tmp_path, scores, command):
    scores.to_csv(tmp_path / "scores.csv", index=False)
    done = hiercomp(tmp_path, command, "scores.csv", "--largest-bytes", "1000")
    assert done.returncode == 2
    assert "scores.csv is above the limit of 1,000 bytes (decompressed)" in " ".join(
        (done.stdout + done.stderr).split()
    )


def test_roles_rows_and_folds_are_said_on_the_command_line(hiercomp, tmp_path, tidy):
    odd = tidy.rename(columns={"dataset": "place", "algorithm": "who", "score": "acc"}).assign(mode="a", version="1")
    odd["fold"] = [f"Fold{fold:02d}.Rep1" for fold in odd["fold"]]
    other = odd.assign(mode="b", acc=0.5)
    pd.concat([odd, other]).to_csv(tmp_path / "odd.csv", index=False)
    roles = ("--column", "dataset=place", "--column", "algorithm=who", "--column", "score=acc", "--where", "mode=a")
    done = hiercomp(
        tmp_path, "compare", "odd.csv", *roles, "--column", "fold=Fold{fold}.Rep{run}@fold", *COMMON, *QUICK
    )
    assert done.returncode == 0, done.stderr
    plain = hiercomp(tmp_path, "compare", "tidy.csv", *COMMON, *QUICK)
    assert json.loads(done.stdout)["next_dataset"] == json.loads(plain.stdout)["next_dataset"]
    joined = hiercomp(tmp_path, "check", "odd.csv", *roles, "--column", "fold=fold", "--column", "algorithm=version")
    assert "nb 1, tree 1" in joined.stdout
    wrong = hiercomp(tmp_path, "check", "odd.csv", "--column", "scroe=acc")
    assert wrong.returncode == 2
    assert "the roles are dataset, algorithm, run, fold, score, rho" in wrong.stderr


def test_an_unknown_table_is_answered_with_the_command_to_paste(hiercomp, tmp_path, tidy):
    odd = tidy.rename(columns={"dataset": "place", "algorithm": "who", "fold": "slice", "score": "acc"})
    odd.assign(hours=2.5).to_csv(tmp_path / "odd.csv", index=False)
    checked = hiercomp(tmp_path, "check", "odd.csv")
    assert checked.returncode == 2
    command = (
        "hiercomp check odd.csv --column dataset=place --column algorithm=who --column fold=slice --column score=acc"
    )
    assert command in " ".join(checked.stdout.split())
    assert hiercomp(tmp_path, *command.split()[1:]).returncode == 0
    refused = hiercomp(tmp_path, "compare", "odd.csv")
    assert f"Run: {command.replace('check', 'compare')}\n" in refused.stderr
    assert "dataset='" not in refused.stderr


def test_a_wide_table_without_folds_is_read_when_rho_is_given(hiercomp, tmp_path):
    generator = np.random.default_rng(5)
    frame = pd.DataFrame({"dataset": np.repeat([f"d{i}" for i in range(5)], 30)})
    frame = frame.assign(nb=generator.normal(0.8, 0.02, 150), tree=generator.normal(0.8, 0.02, 150))
    frame.to_csv(tmp_path / "wide.csv", index=False)
    refused = hiercomp(tmp_path, "compare", "wide.csv", *COMMON, *QUICK)
    assert "--folds 10" in refused.stderr
    for options in (("--rho", "0.1"), ("--folds", "10")):
        done = hiercomp(tmp_path, "compare", "wide.csv", *options, *COMMON, *QUICK)
        assert done.returncode == 0, done.stderr
