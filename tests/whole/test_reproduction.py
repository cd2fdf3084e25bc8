"""`scripts/reproduce.py` in small, and the model of its simulations against a plain loop."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
reproduce = importlib.import_module("reproduce")
poisson_binomial = importlib.import_module("reproduction.poisson_binomial")
exhibit = importlib.import_module("reproduction.exhibit")

OF_DATA = ["corani2017-table5", "corani2017-table6", "corani2017-bounds", "corani2017-half-rope"]
OTHERS = [
    "corani2015-fig1",
    "corani2015-fig2a",
    "corani2015-fig2b",
    "slides-friedman",
    "slides-two-samples",
    "slides-mcnemar",
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
    assert [row for row in rows if not row.agrees] == []
    assert len(rows) > 0


@pytest.mark.parametrize("name", OF_DATA)
@pytest.mark.skipif(
    exhibit.UCI54 not in os.environ, reason="the scores of the paper are not here; set HIERCOMP_UCI54 to their path"
)
def test_an_exhibit_of_the_data_sets_agrees_with_the_paper(name):
    rows = reproduce.EXHIBITS[name].run(exhibit.Settings(quick=True))
    assert [row for row in rows if not row.agrees] == []


def plain_differences(generator, theta, cases, runs):
    """The same experiment, case by case, with draws of its own."""
    found = []
    classes = [int(generator.random() < 0.5) for _ in range(cases)]
    feature = [one if generator.random() < theta else 1 - one for one in classes]
    for _ in range(runs):
        order = generator.permutation(cases)
        for fold in range(10):
            test = [case for place, case in enumerate(order) if place * 10 // cases == fold]
            training = [case for place, case in enumerate(order) if place * 10 // cases != fold]
            right = {"network": 0.0, "majority": 0.0}
            for case in test:
                alike = [classes[other] for other in training if feature[other] == feature[case]]
                for name, votes in (("network", alike), ("majority", [classes[other] for other in training])):
                    ones = sum(votes)
                    share = 0.5 if 2 * ones == len(votes) else float(2 * ones > len(votes))
                    right[name] += share if classes[case] else 1 - share
            found.append((right["network"] - right["majority"]) / len(test))
    return np.array(found)


@pytest.mark.parametrize(("theta", "cases"), [(0.5, 25), (0.6, 25), (0.75, 50)])
def test_the_fast_simulation_of_a_data_set_is_that_of_a_plain_loop(theta, cases):
    # Ties, which the fast one breaks at random, count one half in the plain one: equal means, and here nearly equal spreads
    generator = np.random.default_rng(5)
    fast = np.array([poisson_binomial.network_differences(generator, theta, cases, 1).mean() for _ in range(3000)])
    plain = np.array([plain_differences(generator, theta, cases, 1).mean() for _ in range(300)])
    error = np.sqrt(fast.var() / len(fast) + plain.var() / len(plain))
    assert abs(fast.mean() - plain.mean()) < 4 * error
    assert fast.std() == pytest.approx(plain.std(), rel=4 / np.sqrt(2 * len(plain)) + 0.05)


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
