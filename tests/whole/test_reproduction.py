"""`scripts/reproduce.py` in small."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
reproduce = importlib.import_module("reproduce")
exhibit = importlib.import_module("reproduction.exhibit")

# Printed beside the inference that agrees with the published figures
OTHER_INFERENCE = {
    "corani2017-fig1": "next data set",
    "corani2017-fig2-3": "next data set",
    "corani2017-fig4": "delta0",
}
OF_DATA = [
    "corani2017-table5",
    "corani2017-table6",
    "corani2017-bounds",
    "corani2017-half-rope",
    "corani2017-fig6",
    "corani2017-fig7",
    pytest.param("corani2017-draws", marks=pytest.mark.slow),
]
OTHERS = [
    "corani2015-fig1",
    "corani2015-fig2a",
    "corani2015-fig2b",
    "slides-friedman",
    "slides-two-samples",
    "slides-mcnemar",
    *(
        pytest.param(f"corani2017-{name}", marks=pytest.mark.slow)
        for name in ("table2", "fig1", "fig2-3", "fig4", "friedman")
    ),
]


@pytest.mark.parametrize(
    ("printed", "ours", "error", "agrees"),
    [
        ("0.80", 0.7951, 0.0, True),
        ("0.80", 0.7949, 0.0, False),
        ("0.80", 0.7949, 0.001, True),
        ("-1.5", -1.54, 0.0, True),
    ],
)
def test_a_figure_agrees_to_its_last_digit_and_the_errors(printed, ours, error, agrees):
    assert exhibit.Row.of("p", printed, ours, error).agrees == agrees


@pytest.mark.parametrize("name", OTHERS)
def test_an_exhibit_agrees_with_the_paper(name):
    rows = reproduce.EXHIBITS[name].run(exhibit.Settings(quick=True))
    compared = [row for row in rows if OTHER_INFERENCE.get(name, "nothing") not in row.what]
    assert [row for row in compared if not row.agrees] == []
    assert len(compared) > 0


@pytest.mark.slow
def test_the_errors_of_table_2_do_not_come_from_the_printed_spread():
    rows = reproduce.EXHIBITS["corani2017-table2-printed"].run(exhibit.Settings(quick=True))
    assert [row.agrees for row in rows] == [True, False, True]


@pytest.mark.parametrize("name", OF_DATA)
@pytest.mark.skipif(
    exhibit.UCI54 not in os.environ, reason="the scores of the paper are not here; set HIERCOMP_UCI54 to their path"
)
def test_an_exhibit_of_the_data_sets_agrees_with_the_paper(name):
    rows = reproduce.EXHIBITS[name].run(exhibit.Settings(quick=True))
    assert [row for row in rows if not row.agrees] == []


def test_results_are_stored_resumed_and_written_into_the_page(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{reproduce.START}old\n{reproduce.END}\n", encoding="utf-8")
    arguments = ["slides-mcnemar", "--quick", "--results", str(tmp_path / "results"), "--markdown", str(page)]
    assert reproduce.main(arguments) == 0
    stored = json.loads((tmp_path / "results/slides-mcnemar.json").read_text(encoding="utf-8"))
    assert (stored["quick"], stored["seed"], stored["rows"][0]["published"]) == (True, 0, "0.3333")
    assert stored["rows"][0]["ours"] == pytest.approx(1 / 3)
    text = page.read_text(encoding="utf-8")
    assert "| chi-squared | 0.3333 | 0.3333 |" in text
    assert "`corani2015-fig1`: not run yet." in text
    assert "old" not in text
    capsys.readouterr()
    assert reproduce.main(arguments) == 0
    assert "stored already" in capsys.readouterr().out


def test_without_the_data_an_exhibit_is_left_out(monkeypatch, capsys):
    monkeypatch.delenv(exhibit.UCI54, raising=False)
    assert reproduce.main(["corani2017-table6", "--quick"]) == 0
    assert "left out" in capsys.readouterr().out
