"""The table of mean scores: numbers of pandas and scipy, the best marked, and every form of it."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.table import tidy_scores
from hiercomp.summary.scores_table import scores_table
from tests.tournaments import four_algorithms


def small(*, loss: bool = False) -> pd.DataFrame:
    """By hand: three data sets, three folds; on the second b and c tie, on the third all do."""
    cells = {
        "first": {"a_1": [0.1, 0.2, 0.3], "b": [0.5, 0.6, 0.7], "c": [0.2, 0.3, 0.4]},
        "sec & ond": {"a_1": [0.4, 0.5, 0.6], "b": [0.6, 0.7, 0.8], "c": [0.8, 0.7, 0.6]},
        "third": {"a_1": [0.5, 0.6, 0.7], "b": [0.7, 0.5, 0.6], "c": [0.6, 0.7, 0.5]},
    }
    rows = [
        (name, algorithm, fold, 1 - score if loss else score)
        for name, by in cells.items()
        for algorithm, scores in by.items()
        for fold, score in enumerate(scores)
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "error" if loss else "score"])


def compared(table: pd.DataFrame, **options) -> hc.TournamentResult:
    return hc.compare_all(table, rope=0.01, progress=False, **options)


@pytest.fixture(scope="module")
def tournament() -> hc.TournamentResult:
    return compared(four_algorithms())


@pytest.mark.parametrize("loss", [False, True])
@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_a_table_by_hand(loss):
    table = compared(small(loss=loss), higher_is_better=not loss).scores_table()
    assert table.algorithms[0] == "b"
    order = list(table.algorithms)
    means = {"a_1": [0.2, 0.5, 0.6], "b": [0.6, 0.7, 0.6], "c": [0.3, 0.7, 0.6]}
    expected = np.array([means[name] for name in order]).T
    np.testing.assert_allclose(table.mean, 1 - expected if loss else expected)
    np.testing.assert_allclose(table.standard_deviation, 0.1)
    ranks = {"a_1": [3, 3, 2], "b": [1, 1.5, 2], "c": [2, 1.5, 2]}
    np.testing.assert_allclose(table.ranks, np.array([ranks[name] for name in order]).T)
    best = {"a_1": [False, False, True], "b": [True, True, True], "c": [False, True, True]}
    assert table.best.tolist() == np.array([best[name] for name in order]).T.tolist()
    assert dict(zip(order, table.mean_ranks.round(12), strict=True)) == pytest.approx(
        {"a_1": 8 / 3, "b": 4.5 / 3, "c": 5.5 / 3}
    )
    assert table.conclusion == "b has the best mean rank, 1.50 of 3."
    assert ("error (lower is better)" if loss else "higher is better") in table.title


def test_the_numbers_are_those_of_pandas_and_scipy(tournament):
    table, scores = tournament.scores_table(), four_algorithms()
    wide = scores.groupby(["dataset", "algorithm"])["score"].mean().unstack()[list(table.algorithms)]
    wide = wide.loc[list(table.dataset_names)]
    ranks = stats.rankdata(-wide.to_numpy(), axis=1)
    np.testing.assert_allclose(table.mean, wide)
    np.testing.assert_allclose(table.mean_ranks, ranks.mean(axis=0))
    frame = table.to_frame().set_index(["dataset", "algorithm"])
    sd = scores.groupby(["dataset", "algorithm"])["score"].std()
    np.testing.assert_allclose(frame["sd"], sd.loc[frame.index])
    assert set(frame["n"]) == {10}
    assert (frame["best"] == (frame["rank"] == 1)).all()


def test_a_comparison_has_the_table_of_its_two_algorithms(result, scores):
    table = result.scores_table()
    wide = scores.groupby(["dataset", "algorithm"])["score"].agg(["mean", "std"]).unstack()
    np.testing.assert_allclose(table.mean, wide["mean"][["bayes", "tree"]])
    np.testing.assert_allclose(table.standard_deviation, wide["std"][["bayes", "tree"]])
    first = wide.iloc[0]
    assert f"{first['mean', 'bayes']:.3f} ± {first['std', 'bayes']:.3f}" in str(table)


def test_a_saved_result_keeps_the_means_and_an_older_file_says_that_it_has_none(result, tmp_path):
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    assert str(again.scores_table()) == str(result.scores_table())
    np.testing.assert_array_equal(again.scores_table().mean, result.scores_table().mean)
    bare = dataclasses.replace(result.differences, score_mean=None, score_standard_deviation=None)
    older = dataclasses.replace(result, differences=bare)
    loaded = hc.load_result(older.save(tmp_path / "older.nc"))
    with pytest.raises(hc.ArgumentError, match=r"only their differences.*compare the scores again"):
        loaded.scores_table()


def test_the_best_is_marked_in_every_form(tournament):
    table = tournament.scores_table()
    row, column = 0, int(np.argmax(table.mean[0]))
    cell = f"{table.mean[row, column]:.3f} ± {table.standard_deviation[row, column]:.3f}"
    assert f"{cell}*" in str(table)
    assert f"<strong>{cell}</strong>" in table._repr_html_()
    assert f"**{cell}**" in table.to_markdown()
    in_latex = cell.replace("±", r"$\pm$")
    assert rf"\textbf{{{in_latex}}}" in table.to_latex()
    assert str(table).count("*") == len(table.dataset_names) + 2  # one a row, one mean rank, one in the legend


@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_latex_is_a_complete_environment_with_escaped_names():
    table = compared(small()).scores_table()
    text = table.to_latex(caption="Accuracy in \\%.", label="tab:accuracy")
    lines = text.splitlines()
    assert lines[:4] == [r"\begin{table}", r"\centering", r"\caption{Accuracy in \%.}", r"\label{tab:accuracy}"]
    assert lines[-1] == r"\end{table}"
    assert lines[-4].startswith("mean rank &")
    assert lines[-5] == r"\midrule"
    assert r"sec \& ond & " in text
    assert r"a\_1" in text
    assert r"\label{tab:scores}" in table.to_latex()
    assert r"\label" not in table.to_latex(label=None)
    columns = re.search(r"\\begin\{tabular\}\{(l?r+)\}", text)
    assert all(line.count(" & ") == len(columns[1]) - 1 for line in lines if line.endswith(r"\\"))
    assert "±" not in table.to_latex()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_latex_compiles(tmp_path):
    body = compared(small()).scores_table().to_latex()
    source = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + body + "\n\\end{document}\n"
    (tmp_path / "a.tex").write_text(source, encoding="utf-8")
    subprocess.run(
        ["pdflatex", "-interaction=batchmode", "-halt-on-error", "a.tex"], cwd=tmp_path, check=True, timeout=60
    )


def test_the_summarys_latex_takes_caption_and_label(result):
    bare, text = result.summary().to_latex(), result.summary().to_latex(caption="Verdict", label="tab:verdict")
    assert "begin{table}" not in bare
    lines = text.splitlines()
    start = lines.index(r"\begin{table}")
    assert lines[start + 2 : start + 4] == [r"\caption{Verdict}", r"\label{tab:verdict}"]
    assert lines[-1] == r"\end{table}"
    assert [line for line in lines if line.endswith(r"\\")] == [
        line for line in bare.splitlines() if line.endswith(r"\\")
    ]


@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_an_algorithm_without_scores_on_a_data_set_has_no_cell_there():
    table = small()
    lacking = table[(table["dataset"] != "third") | (table["algorithm"] != "c")]
    found = compared(lacking, missing="drop").scores_table()
    assert np.isnan(found.mean[2, found.algorithms.index("c")])
    third = next(line for line in str(found).splitlines() if line.startswith("  third"))
    assert " - " in f"{third} "
    # mean ranks are over the two data sets that all three have, which every form says
    for text in (found.conclusion, found.table().legend, found.to_latex()):
        assert "on the 2 data sets with scores of every algorithm" in text
    assert found.mean_ranks[found.algorithms.index("b")] == pytest.approx((1 + 1.5) / 2)
    assert len(found.to_frame()) == 8
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ((1, 1, 1), "0.123 ± 0.050"),
        ((100, 100, 100), "12.34 ± 5.00"),
        ((1, 1000, 100_000), "0.1234 ± 0.0500"),
        ((100_000, 1000, 1), "12344 ± 5000"),
        ((0.002, 0.002, 0.002), "0.0002469 ± 0.0001000"),
    ],
)
def test_decimals_follow_the_size_of_the_scores(scale, expected):
    rows = [
        (f"d{place}", name, fold, factor * (0.12344 + 0.05 * (fold - 1)))
        for place, factor in enumerate(scale)
        for name in ("a", "b")
        for fold in range(3)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])
    given = hc.PairedDifferences.from_table(table, rho=0.1).moments
    found = scores_table(given, measure=None, higher_is_better=True)
    first = next(line for line in str(found).splitlines() if line.startswith("  d0"))
    assert expected in first
    fewer = str(scores_table(given, measure=None, higher_is_better=True, decimals=0))
    assert f"{0.12344 * scale[0]:.0f} ± {0.05 * scale[0]:.0f}" in fewer


def test_a_data_set_without_scores_has_a_row_without_cells():
    frame = pd.DataFrame(
        {
            "dataset": np.repeat(["x", "y", "z", "u"], 15),
            "algorithm": list("abc") * 20,
            "fold": list(np.repeat(range(5), 3)) * 4,
        }
    )
    frame["score"] = np.random.default_rng(0).uniform(0.5, 0.9, len(frame))
    frame.loc[frame["dataset"] == "z", "score"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        tournament = hc.compare_all(frame, missing="drop", progress=False, n_jobs=1, rope=0.01)
    row = next(line for line in str(tournament.scores_table()).splitlines() if line.split()[:1] == ["z"])
    assert row.split() == ["z", "-", "-", "-"]


def test_an_algorithm_with_huge_scores_makes_no_ties_between_the_others():
    frame = pd.DataFrame(
        [(d, a, f) for d in "xyz" for a in "abc" for f in range(4)], columns=["dataset", "algorithm", "fold"]
    )
    frame["score"] = frame["algorithm"].map({"a": 0.9, "b": 0.8, "c": 1e13}) + 0.001 * frame["fold"]
    arrays = ScoreArrays.of(tidy_scores(frame), rho=0.25)
    found = scores_table(arrays.moments, measure=None, higher_is_better=False)
    assert found.mean_ranks.tolist() == [2, 1, 3]
