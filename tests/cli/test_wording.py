"""The command line speaks of options, from the fields of errors and never from their words."""

from __future__ import annotations

import re
import shlex

import pandas as pd
import pytest

from hiercomp.cli.shared import in_options
from hiercomp.errors import Argument, HiercompWarning, Note
from tests.command_line import assert_one_line_of_error

IN_PYTHON = re.compile(r"\b[a-z_]+=(['\"{]|True|False|None)")


@pytest.mark.parametrize(
    ("text", "arguments", "wanted"),
    [
        ("Pass left='a b', right='c'.", [("left", "a b"), ("right", "c")], "Pass --left 'a b' --right c."),
        ("Pass rope=1 (--rope 1) for a point.", [("rope", 1)], "Pass --rope 1 for a point."),
        ("Pass folds=50 or folds=5.", [("folds", 5), ("folds", 50)], "Pass --folds 50 or --folds 5."),
        ("Pass columns={'score': ...}.", [("columns", {"score": ...})], "Pass --column score=NAME."),
        ("Pass missing='drop' (--drop-unpaired).", [("missing", "drop")], "Pass --drop-unpaired."),
        (
            "With transform='log', rope=0.01 (--transform log --rope 0.01).",
            [("transform", "log"), ("rope", 0.01)],
            "With --transform log --rope 0.01.",
        ),
        ("Pass separator=... (--sep).", [("separator", ...)], "Pass --sep."),
        ("Pass likelihood='trinomial'.", [("likelihood", "trinomial")], "Pass --likelihood trinomial."),
        ("Algorithm \"score='auc'\" is odd.", [], "Algorithm \"score='auc'\" is odd."),
        ("Pass priors='flat'.", [("priors", "flat")], "Pass priors='flat'."),
    ],
)
def test_arguments_become_options(text, arguments, wanted):
    assert in_options(text, [Argument(*pair) for pair in arguments]) == wanted


def test_the_text_of_a_note_knows_the_note():
    note = Note(HiercompWarning, "Mixed.", "Keep one with measure='f1'.", arguments=(Argument("measure", "f1"),))
    assert note.text == "Mixed. Keep one with measure='f1'."
    assert in_options(note.text, note.text.note.arguments) == "Mixed. Keep one with --measure f1."


def test_a_name_that_looks_like_an_argument_is_shown_as_it_is(hiercomp, tmp_path, scores):
    odd = scores.assign(algorithm=scores["algorithm"].replace("bayes", "rho='1'"))
    odd.to_csv(tmp_path / "odd.csv", index=False)
    assert_one_line_of_error(hiercomp(tmp_path, "compare", "odd.csv", "--left", "x"), "\"rho='1'\"")


@pytest.fixture
def folder(tmp_path, scores):
    three = pd.concat([scores, scores[scores["algorithm"] == "tree"].assign(algorithm="rain forest")])
    three.to_csv(tmp_path / "three.csv", index=False)
    scores.to_csv(tmp_path / "two.csv", index=False)
    scores.assign(f1=0.5, auc=scores["score"]).drop(columns="score").to_csv(tmp_path / "several.csv", index=False)
    scores.rename(columns={"dataset": "Datensatz"}).to_csv(tmp_path / "odd.csv", index=False)
    scores.rename(columns={"score": "rmse"}).to_csv(tmp_path / "loss.csv", index=False)
    scores.assign(score=scores["score"] * 20).to_csv(tmp_path / "large.csv", index=False)
    scores.drop(index=3).to_csv(tmp_path / "missing.csv", index=False)
    scores.to_csv(tmp_path / "decimal.csv", index=False, sep=";", decimal=",")
    (tmp_path / "latin.csv").write_bytes(b"dataset,algorithm,fold,score\ncaf\xe9,a,1,0.5\n")
    (tmp_path / "old.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("compare three.csv", "Run: hiercomp compare three.csv --left bayes --right tree"),
        ("compare three.csv --right tree", "Run: hiercomp compare three.csv --right tree --left bayes"),
        ("compare three.csv --left oak --right tree", "--left oak is not an algorithm"),
        ("pairs three.csv --baseline oak", "--baseline oak is not an algorithm"),
        ("compare several.csv", "--column score="),
        ("compare loss.csv", "Pass --lower-is-better if lower is better, or --higher-is-better if not."),
        ("compare large.csv", "such as --rope 0."),
        ("compare missing.csv", "pass --drop-unpaired to leave"),
        ("compare decimal.csv", "pass --sep ';' --decimal ','; if not"),
        ("compare latin.csv", "for instance --encoding latin-1."),
        ("compare two.csv --json old.json", "or pass --force."),
    ],
)
def test_messages_of_the_command_line_hold_no_python(hiercomp, folder, command, part):
    done = hiercomp(folder, *shlex.split(command))
    assert_one_line_of_error(done, part)
    assert not IN_PYTHON.search(done.stderr), done.stderr


def test_a_command_to_paste_works(hiercomp, folder):
    refused = hiercomp(folder, "compare", "three.csv", "--engine", "quadrature", "--rope", "0.01")
    command = shlex.split(refused.stderr[refused.stderr.index("Run: ") + 5 :])
    assert command[0] == "hiercomp"
    done = hiercomp(folder, *command[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("bayes against ")
