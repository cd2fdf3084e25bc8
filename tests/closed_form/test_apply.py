"""The tests that a table allows are those of scipy and of the package's own functions, each with its caution."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.closed_form.apply import CAUTIONS, FOR_FOLDS, FOR_MANY, FOR_TWO, MANY, TWO

SVM = np.array([0.91, 0.85, 0.77, 0.93, 0.66, 0.81, 0.72])
FOREST = np.array([0.93, 0.88, 0.78, 0.97, 0.65, 0.86, 0.78])
BAYES = np.array([0.80, 0.83, 0.70, 0.91, 0.67, 0.79, 0.70])
WIDE = pd.DataFrame({"dataset": list("abcdefg"), "svm": SVM, "forest": FOREST, "bayes": BAYES})
TIDY = WIDE.melt("dataset", var_name="algorithm", value_name="accuracy")


def folded(seed: int = 3) -> pd.DataFrame:
    """Two algorithms, 6 data sets, 10 folds."""
    generator = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product(
        [[f"d{i}" for i in range(6)], ["bayes", "tree"], range(10)], names=["dataset", "algorithm", "fold"]
    )
    frame = index.to_frame(index=False)
    return frame.assign(accuracy=0.8 + 0.03 * (frame["algorithm"] == "tree") + generator.normal(0, 0.02, len(frame)))


@pytest.mark.parametrize("table", [WIDE, TIDY], ids=["wide", "tidy"])
def test_two_algorithms_get_scipys_sign_and_signed_rank_tests(table):
    found = hc.apply_tests(table, "svm", "forest")
    assert [test.name for test in found.tests] == list(FOR_TWO)
    wins = int((FOREST > SVM).sum())
    assert found["sign"].pvalue == pytest.approx(stats.binomtest(wins, len(SVM)).pvalue)
    # the differences are neither tied nor zero, so the exact distribution applies
    assert found["signed-rank"].pvalue == pytest.approx(stats.wilcoxon(FOREST - SVM, method="exact").pvalue)
    assert found.algorithms == ("svm", "forest")
    assert found.dataset_names == tuple("abcdefg")
    assert found.n_scores == (1,) * 7


def test_many_algorithms_get_friedmans_test_and_nemenyis_critical_difference():
    found = hc.apply_tests(TIDY)
    assert [test.name for test in found.tests] == list(FOR_MANY)
    expected = stats.friedmanchisquare(SVM, FOREST, BAYES)
    assert found["friedman"].statistic == pytest.approx(expected.statistic)
    assert found["friedman"].pvalue == pytest.approx(expected.pvalue)
    # Demsar (2006), Table 5a: q_0.05 of 3 algorithms is 2.343
    assert found["nemenyi"].critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 7)), rel=3e-4)
    raw = [stats.wilcoxon(a - b, method="exact").pvalue for a, b in ((SVM, FOREST), (SVM, BAYES), (FOREST, BAYES))]
    assert found["wilcoxon"].to_frame()["pvalue"].tolist() == pytest.approx(raw)
    ascending = np.sort(raw)
    holm = np.maximum.accumulate(np.minimum(ascending * [3, 2, 1], 1))
    assert sorted(found["wilcoxon"].to_frame()["adjusted_pvalue"]) == pytest.approx(holm.tolist())


def test_the_direction_of_a_loss_reverses_the_winner():
    losses = TIDY.assign(accuracy=-np.log(TIDY["accuracy"])).rename(columns={"accuracy": "score"})
    up, down = (hc.apply_tests(losses, "svm", "forest", rope=0.001, higher_is_better=way) for way in (True, False))
    assert (up["sign"].left_wins, up["sign"].right_wins) == (6, 1)
    assert (down["sign"].left_wins, down["sign"].right_wins) == (1, 6)
    assert "lower is better" in down.title
    assert all("lower is better" in test.result.title for test in down.tests)
    ranked = hc.apply_tests(losses, higher_is_better=False)
    assert ranked["friedman"].mean_ranks[list(ranked.algorithms).index("forest")] == pytest.approx(
        stats.rankdata(-np.stack([SVM, FOREST, BAYES], axis=1), axis=1)[:, 1].mean()
    )
    assert all("lower is better" in test.result.title for test in ranked.tests)


def test_folds_add_the_tests_of_each_data_set():
    table = folded()
    found = hc.apply_tests(table, tests=None)
    assert {test.name for test in found.tests} == {*FOR_TWO, *FOR_FOLDS}
    wide = table.pivot(index=["dataset", "fold"], columns="algorithm", values="accuracy")
    difference = (wide["tree"] - wide["bayes"]).unstack()
    # Nadeau & Bengio's t of 10 folds: rho = 1/10
    scale = np.sqrt((1 / 10 + 0.1 / 0.9) * difference.var(axis=1, ddof=1))
    expected = stats.t.sf(0.01, 9, loc=difference.mean(axis=1), scale=scale)
    assert found["correlated-t"].p_right.tolist() == pytest.approx(expected.tolist())
    means = difference.mean(axis=1)
    assert found["signed-rank"].pvalue == pytest.approx(stats.wilcoxon(means, method="exact").pvalue)
    assert found.rho == (0.1,) * 6
    assert found.n_scores == (10,) * 6


def test_every_test_has_a_caution_and_can_be_named():
    assert set(CAUTIONS) == {*TWO, *MANY}
    for name in TWO:
        if name in ("five-by-two-f", "calibrated-t"):  # of ten runs, or five of two folds
            continue
        found = hc.apply_tests(folded(), tests=[name])
        assert f"Caution: {CAUTIONS[name]}" in str(found)
        assert found.conclusion in str(found)


def test_what_does_not_apply_is_noted_and_refused_where_it_is_named():
    percent = TIDY.assign(accuracy=100 * TIDY["accuracy"])
    found = hc.apply_tests(percent, "svm", "forest")
    assert [test.name for test in found.tests] == ["sign", "signed-rank"]
    (note,) = [note for note in found.notes if note.startswith("Not applicable")]
    assert note.startswith("Not applicable: bayesian-sign, bayesian-signed-rank. ")
    with pytest.raises(hc.ArgumentError, match="rope"):
        hc.apply_tests(percent, "svm", "forest", tests=["bayesian-sign"])
    with pytest.raises(hc.ScoreTableError, match="at least 2 scores"):
        hc.apply_tests(TIDY, "svm", "forest", tests=["correlated-t"])
    with pytest.raises(hc.ScoreTableError, match="Name the two"):
        hc.apply_tests(TIDY, tests=["sign"])
    with pytest.raises(hc.ArgumentError, match="Did you mean 'nemenyi'"):
        hc.apply_tests(TIDY, tests=["nemeny"])
    with pytest.raises(hc.ArgumentError, match=r"compares all algorithms of a table. Apply it without left"):
        hc.apply_tests(TIDY, "svm", "forest", tests=["sign", "friedman"])
    two = TIDY[TIDY["algorithm"] != "bayes"]
    with pytest.raises(hc.ScoreTableError, match="at least 3 algorithms, got 2"):
        hc.apply_tests(two, tests=["friedman"])
    wins = hc.apply_tests(two, tests=["nemenyi", "wilcoxon"])
    assert wins["wilcoxon"].to_frame()["pvalue"].tolist() == [pytest.approx(stats.wilcoxon(FOREST - SVM).pvalue)]
    assert "against" in str(wins)
    with pytest.raises(KeyError):
        found["friedman"]


def test_missing_scores_are_refused_or_left_out():
    lacking = TIDY.drop(index=0)
    with pytest.raises(hc.ScoreTableError):
        hc.apply_tests(lacking)
    with pytest.warns(hc.DroppedScoresWarning):
        found = hc.apply_tests(lacking, "svm", "forest", missing="drop")
    assert found["signed-rank"].pvalue == pytest.approx(stats.wilcoxon((FOREST - SVM)[1:], method="exact").pvalue)
    ranked = hc.apply_tests(lacking, missing="drop")
    assert ranked["friedman"].pvalue == pytest.approx(stats.friedmanchisquare(SVM[1:], FOREST[1:], BAYES[1:]).pvalue)
    assert any("left out" in note for note in ranked.notes)
    assert ranked.dataset_names == tuple("bcdefg")
    assert "6 data sets" in ranked.title


def test_the_dictionary_is_json_without_infinite_numbers():
    for found in (hc.apply_tests(TIDY), hc.apply_tests(folded())):
        content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert content["algorithms"] == list(found.algorithms)
        assert [row["name"] for row in content["tests"]] == [test.name for test in found.tests]
    many = hc.apply_tests(TIDY).to_dict()
    ranks = stats.rankdata(-np.stack([SVM, FOREST, BAYES], axis=1), axis=1).mean(axis=0)
    assert many["tests"][1]["mean_ranks"] == pytest.approx(dict(zip(("svm", "forest", "bayes"), ranks, strict=True)))
    assert [row["dataset"] for row in many["datasets"]] == list("abcdefg")


def test_scores_of_groups_are_counted_as_scores():
    generator = np.random.default_rng(0)
    rows = [(d, a, fold, fold // 3, generator.normal(0.8, 0.02)) for d in "uvwxy" for a in "AB" for fold in range(12)]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "group", "score"])
    found = hc.apply_tests(frame, columns={"group": "group"}, rope=0.01)
    assert found.n_scores == (12,) * 5
