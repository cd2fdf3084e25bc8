"""What a paper needs, from the command line: mean scores, Methods and figures are those of Python."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import hiercomp as hc
from tests.cli.test_pairs import table  # noqa: F401 - a fixture
from tests.command_line import assert_one_line_of_error, run

BEGINNINGS = {".pdf": b"%PDF-", ".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml"}


@pytest.fixture
def folder(tmp_path, table) -> Path:  # noqa: F811
    table.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


@pytest.fixture
def three(table) -> hc.TournamentResult:  # noqa: F811
    return hc.compare_all(table, rope=0.01, progress=False, n_jobs=1)


PAIRS = ("pairs", "scores.csv", "--jobs", "1")
COMPARE = ("compare", "scores.csv", "--left", "first", "--right", "third", "--engine", "quadrature")


@pytest.mark.slow
def test_the_table_of_scores_is_written_by_the_files_ending(folder, three):
    expected = three.scores_table()
    forms = {
        "tex": expected.to_latex(),
        "md": expected.to_markdown(),
        "txt": str(expected),
        "html": expected._repr_html_(),
    }
    for ending, text in forms.items():
        done = run(folder, *PAIRS, "--scores-table", f"means.{ending}")
        assert done.returncode == 0, done.stderr
        assert (folder / f"means.{ending}").read_text(encoding="utf-8") == f"{text}\n"
    run(folder, *PAIRS, "--scores-table", "means.csv")
    means = pd.read_csv(folder / "means.csv").set_index(["dataset", "algorithm"])
    by_hand = (
        pd.read_csv(folder / "scores.csv").groupby(["dataset", "algorithm"])["score"].agg(["mean", "std", "count"])
    )
    by_hand = by_hand.loc[means.index]
    assert means["mean"].tolist() == pytest.approx(by_hand["mean"].tolist())
    assert means["sd"].tolist() == pytest.approx(by_hand["std"].tolist())
    assert means["n"].tolist() == by_hand["count"].tolist()


@pytest.mark.slow
def test_table_and_methods_are_printed_after_the_summary_and_are_in_the_json(folder, three):
    done = run(folder, *PAIRS, "--scores-table", "-", "--methods")
    assert done.stdout == f"{three.summary()}\n\n{three.scores_table()}\n\n{three.methods()}\n"
    content = json.loads(run(folder, *PAIRS, "--scores-table", "-", "--methods", "--json", "-").stdout)
    assert content["methods"]["text"] == three.methods().text
    assert content["scores_table"] == three.scores_table().to_dict()


def test_compare_has_the_same_options(folder):
    done = run(folder, *COMPARE, "--methods", "--scores-table", "-", "--figure", "next.svg")
    assert done.returncode == 0, done.stderr
    assert (
        "We compared first with third on 6 data sets by the Bayesian hierarchical model of Corani et al. (2017)."
        in done.stdout
    )
    assert "Mean scores (higher is better)" in done.stdout
    assert (folder / "next.svg").read_bytes().startswith(BEGINNINGS[".svg"])


@pytest.mark.slow
def test_methods_name_the_check_of_sensitivity_that_was_made(folder):
    text = "As a sensitivity check, the model was fitted under other assumptions"
    done = run(folder, *COMPARE, "--methods", "--sensitivity")
    assert text in done.stdout
    content = json.loads(run(folder, *COMPARE, "--methods", "--sensitivity", "--json", "-").stdout)
    assert text in content["methods"]["text"]
    assert text not in run(folder, *COMPARE, "--methods").stdout


@pytest.mark.parametrize("ending", BEGINNINGS)
@pytest.mark.slow
def test_a_figure_has_the_kind_of_its_ending_and_the_same_bytes_again(folder, ending):
    for name in ("one", "two"):
        done = run(folder, *PAIRS, "--figure", f"{name}{ending}")
        assert done.returncode == 0, done.stderr
    one, two = ((folder / f"{name}{ending}").read_bytes() for name in ("one", "two"))
    assert one.startswith(BEGINNINGS[ending])
    assert one == two


@pytest.mark.slow
def test_every_plot_can_be_named(folder):
    pictures = set()
    for plot in ("next-dataset", "simplex", "population", "posterior", "shrinkage", "rope_curve", "ppc"):
        done = run(folder, *COMPARE, "--figure", f"{plot}.svg", "--plot", plot)
        assert done.returncode == 0, done.stderr
        pictures.add((folder / f"{plot}.svg").read_bytes())
    assert len(pictures) == 7
    run(folder, *PAIRS, "--figure", "default.svg")
    for plot in ("ranking", "heatmap"):
        assert run(folder, *PAIRS, "--figure", f"{plot}.svg", "--plot", plot).returncode == 0
    default, ranking, heatmap = ((folder / f"{name}.svg").read_bytes() for name in ("default", "ranking", "heatmap"))
    assert default == ranking != heatmap


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--scores-table", "means.xls"), ("--scores-table means.xls", ".tex")),
        (("--figure", "plot"), ("--figure plot", ".pdf, .png or .svg")),
        (("--figure", "plot.pdf", "--plot", "rankin"), ("the figures are ranking, heatmap", "Did you mean 'ranking'?")),
        (("--plot", "ranking"), ("--plot needs --figure",)),
        (
            ("--figure", "scores.svg", "--scores-table", "scores.csv"),
            ("--scores-table names scores.csv, which is read",),
        ),
        (("--figure", "plot.svg", "--report", "plot.svg"), ("both name plot.svg",)),
    ],
)
def test_wrong_files_and_names_are_refused_before_the_computation(folder, options, parts):
    before = sorted(path.name for path in folder.iterdir())
    assert_one_line_of_error(run(folder, *PAIRS, *options), *parts)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_figure_has_the_level_of_the_verdicts(folder):
    for alpha in ("0.05", "0.3"):
        done = run(folder, *PAIRS, "--alpha", alpha, "--plot", "heatmap", "--figure", f"{alpha}.svg")
        assert done.returncode == 0, done.stderr
    one, other = ((folder / f"{alpha}.svg").read_text(encoding="utf-8") for alpha in ("0.05", "0.3"))
    assert ("Verdicts at 95%" in one, "Verdicts at 95%" in other) == (True, False)
    assert "Verdicts at 70%" in other


def test_a_figure_that_can_not_be_drawn_is_an_error(folder):
    done = run(folder, *COMPARE, "--figure", "checks.png", "--plot", "diagnostics")
    assert done.returncode == 2
    assert "no figure" in done.stderr
    assert not (folder / "checks.png").exists()
