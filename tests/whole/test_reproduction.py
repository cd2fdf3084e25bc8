"""`scripts/reproduce.py` in small."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
reproduce = importlib.import_module("reproduce")
command = importlib.import_module("reproduction.command")
calibrated_tests = importlib.import_module("reproduction.calibrated_tests")
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
CALIBRATED = [
    "bouckaert2003-fig2",
    "bouckaert2003-table2",
    "bouckaert2003-table3",
    "bouckaert2003-table4",
    "bouckaert2003-power",
    "bouckaert2003-table5",
    "bouckaert2003-table6",
    "bouckaert2003-table7",
]
OF_OTHER_NETWORKS = (
    "set 2",
    "set 3",
    "set 4",
    "smallest",
)  # their accuracies are the paper's, not their replicabilities
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
@pytest.mark.slow
def test_an_exhibit_agrees_with_the_paper(name):
    rows = reproduce.EXHIBITS[name].run(exhibit.Settings(quick=True))
    compared = [row for row in rows if OTHER_INFERENCE.get(name, "nothing") not in row.what]
    assert [row for row in compared if not row.agrees] == []
    assert len(compared) > 0


@pytest.mark.slow
def test_the_errors_of_table_2_do_not_come_from_the_printed_spread():
    rows = reproduce.EXHIBITS["corani2017-table2-printed"].run(exhibit.Settings(quick=True))
    assert [row.agrees for row in rows] == [True, False, True]


@pytest.mark.slow
@pytest.mark.parametrize("name", CALIBRATED)
def test_an_exhibit_of_calibrated_tests_agrees_with_the_paper(name):
    rows = reproduce.EXHIBITS[name].run(exhibit.Settings(quick=True))
    differ = OF_OTHER_NETWORKS if name == "bouckaert2003-table5" else ()
    assert [row for row in rows if not row.agrees and not row.what.startswith(differ or "-")] == []
    assert sum(row.agrees for row in rows) >= 0.8 * len(rows)


def test_a_calibrated_df_has_the_range_that_chance_allows():
    # Of ten independent normal differences Student's t with 9 df holds exactly
    found = calibrated_tests.Freedom.of(np.random.default_rng(0).normal(size=(4000, 1, 10)), "k-fold cv", 0.05)
    assert 6 <= found.low <= 9 <= found.high <= 13
    assert found.low <= found.df <= found.high


def test_differences_of_a_collection_are_those_of_scikit_learn():
    found = calibrated_tests.Collection(calibrated_tests.differences(np.random.default_rng(3), 3, runs=10)[None], 10)
    generator = np.random.default_rng(3)
    values, classes = calibrated_tests.data_set(generator, 3)
    learners = (BernoulliNB(), DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, ccp_alpha=0.0075, random_state=0
    ))  # fmt: skip

    def difference(test):
        bayes, tree = (one.fit(values[~test], classes[~test]).score(values[test], classes[test]) for one in learners)
        return tree - bayes

    parts = [(10, 10, found.cv), (10, None, found.splits), (5, 2, found.two)]
    for runs, folds, ours in parts:
        if folds is None:
            test = calibrated_tests.random_splits(generator, classes, runs)
            assert (test.sum(axis=1) == 30).all()
        else:
            test = calibrated_tests.cross_validation(generator, classes, runs, folds)
            assert (test.reshape(runs, folds, -1).sum(axis=1) == 1).all()
        expected = [difference(one) for one in test]
        close = np.abs(ours.ravel() - expected) < 1e-12
        assert close.mean() > 0.98  # a posterior of one half may round either way


def test_the_nearest_neighbour_is_nearest_and_a_random_one_of_several():
    generator = np.random.default_rng(0)
    values, classes = generator.integers(0, 2, (40, 4)), generator.integers(0, 2, 40)
    test = generator.random((3, 40)) < 0.3
    drawn = [calibrated_tests.nearest_neighbour_predictions(generator, values, classes, test) for _ in range(400)]
    share = np.mean(drawn, axis=0)
    for number, split in enumerate(test):
        for case in np.flatnonzero(split):
            distances = {other: np.abs(values[other] - values[case]).sum() for other in np.flatnonzero(~split)}
            votes = [classes[other] for other, one in distances.items() if one == min(distances.values())]
            assert abs(share[number, case] - np.mean(votes)) < 4 * 0.5 / np.sqrt(400)


@pytest.mark.parametrize("name", OF_DATA)
@pytest.mark.slow
def test_an_exhibit_of_the_data_sets_agrees_with_the_paper(name, uci54_file, monkeypatch):
    monkeypatch.setenv(exhibit.UCI54, str(uci54_file))
    rows = reproduce.EXHIBITS[name].run(exhibit.Settings(quick=True))
    assert [row for row in rows if not row.agrees] == []


def test_results_are_stored_resumed_and_written_into_the_page(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{command.START}old\n{command.END}\n", encoding="utf-8")
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
