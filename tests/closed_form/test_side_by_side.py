"""The table of all tests beside the hierarchical model."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.closed_form.side_by_side import closed_form_tests
from hiercomp.rope import Rope

OVER_DATA_SETS = [
    "hierarchical model",
    "Bayesian signed-rank",
    "Bayesian sign",
    "Poisson-binomial, rope",
    "Poisson-binomial",
    "Wilcoxon signed-rank",
    "sign test",
]


def test_every_row_is_the_answer_of_its_own_test(result):
    frame = result.closed_form_tests().to_frame()
    assert frame.index[:7].tolist() == OVER_DATA_SETS
    given, rope = result.differences, result.rope
    seen = result.next_dataset
    assert frame.loc["hierarchical model", ["p_left", "p_rope", "p_right"]].tolist() == [
        seen.p_left,
        seen.p_rope,
        seen.p_right,
    ]
    for name, found in {
        "Bayesian signed-rank": hc.bayesian_signed_rank_test(given, rope=rope),
        "Bayesian sign": hc.bayesian_sign_test(given, rope=rope),
        "Poisson-binomial, rope": hc.poisson_binomial_test(given, rope=rope),
    }.items():
        assert frame.loc[name, ["p_left", "p_rope", "p_right"]].tolist() == [found.p_left, found.p_rope, found.p_right]
    found = hc.poisson_binomial_test(given)
    assert frame.loc["Poisson-binomial", ["p_left", "p_right"]].tolist() == [found.p_left, found.p_right]
    assert frame.loc["Wilcoxon signed-rank", "pvalue"] == hc.signed_rank_test(given).pvalue
    assert frame.loc["sign test", "pvalue"] == hc.sign_test(given).pvalue


def test_tests_of_single_data_sets_say_on_how_many_they_reject(result):
    frame = result.closed_form_tests().to_frame()
    given = result.differences
    for name, found in {
        "corrected t, each data set": hc.corrected_t_test(given),
        "paired t, each data set": hc.paired_t_test(given),
    }.items():
        rejected = found.pvalue < 0.05
        left, right = (rejected & (found.statistic < 0)).sum(), (rejected & (found.statistic > 0)).sum()
        words = f"equality is rejected at 5% in favour of bayes on {left} and of tree on {right} of 8 data sets."
        assert frame.loc[name, "says"] == words
        assert frame.loc[name, ["p_left", "p_rope", "p_right", "pvalue"]].isna().all()
    single = hc.correlated_t_test(given, rope=result.rope)
    assert (
        f"tree is better on {(single.p_right > 0.95).sum()} of 8 data sets"
        in frame.loc["correlated t, each data set", "says"]
    )


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_mann_whitney_favours_the_algorithm_with_the_higher_ranks_not_with_the_higher_mean(higher_is_better):
    sign = 1 if higher_is_better else -1
    left = sign * np.tile([0.50, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57, 0.58, 0.59], (2, 1))
    right = left + sign * np.array([0.1] * 9 + [-5.0])  # better on nine folds, and far worse on the tenth
    differences = hc.PairedDifferences.from_arrays(left, right, rho=0.1, higher_is_better=higher_is_better)
    assert (differences.mean < 0).all()
    text = (
        closed_form_tests(differences, hc.Rope.of(0.01), None).to_frame().loc["Mann-Whitney U, each data set", "says"]
    )
    expected = stats.mannwhitneyu(sign * left[0], sign * right[0], alternative="less").pvalue
    assert 2 * expected < 0.05
    assert "in favour of left on 0 and of right on 2 of 2 data sets" in text


def test_every_row_says_what_it_does_and_does_not_say(result):
    table = result.closed_form_tests()
    for row in table.rows:
        assert row.says.endswith(".")
        assert row.does_not_say.endswith(".")
        assert f"  {row.test}: {row.says} Not: {row.does_not_say}" in str(table)


def test_tests_that_do_not_apply_are_named_with_the_reason(result):
    table = result.closed_form_tests()  # 3 runs of 10 folds
    assert [note.split(":")[0] for note in table.notes] == ["calibrated t", "5x2 cv F"]
    assert all("not applicable" in note for note in table.notes)
    assert "calibrated t: not applicable" in str(table)


def test_ten_runs_of_ten_folds_have_the_calibrated_test(uci54):
    given = hc.PairedDifferences.from_table(uci54, "nbc", "j48")
    table = closed_form_tests(given, Rope.of(0.01), (0.1, 0.2, 0.7))
    names = [row.test for row in table.rows]
    assert "calibrated t, each data set" in names
    assert [note.split(":")[0] for note in table.notes] == ["5x2 cv F"]
    # 100 differences, T = m sqrt(11) / s against t with 10 degrees of freedom, whose 97.5% point is 2.228
    wide = uci54.pivot_table(index=["dataset", "run", "fold"], columns="algorithm", values="accuracy")
    x = (wide["j48"] - wide["nbc"]).groupby("dataset").agg(["mean", "std"])
    t = x["mean"] * np.sqrt(11) / x["std"]
    says = table.to_frame().loc["calibrated t, each data set", "says"]
    assert f"nbc on {(t < -2.228139).sum()} and of j48 on {(t > 2.228139).sum()} of 54" in says


def test_without_the_scores_the_others_remain(result):
    bare = dataclasses.replace(result.differences, scores=None)
    table = closed_form_tests(bare, result.rope, None)
    names = [row.test for row in table.rows]
    assert names[:7] == OVER_DATA_SETS
    assert "corrected t, each data set" in names
    assert not any(name.startswith(("paired t", "Welch", "Mann")) for name in names)
    assert any("read from a file, without the scores" in note for note in table.notes)


def test_a_failed_computation_has_no_verdict_but_the_tests_stay(failed):
    table = failed.closed_form_tests()
    assert table.rows[0].p_left is None
    assert table.rows[0].says.startswith("no verdict")
    assert table.to_frame()["pvalue"].notna().sum() == 2


def test_identical_algorithms(identical):
    frame = identical.closed_form_tests().to_frame()
    for name in OVER_DATA_SETS[:4]:
        assert frame.loc[name, ["p_left", "p_rope", "p_right"]].tolist() == [0, 1, 0]
    assert frame.loc["Poisson-binomial", "p_left"] == frame.loc["Poisson-binomial", "p_right"]
    assert frame.loc[["Wilcoxon signed-rank", "sign test"], "pvalue"].tolist() == [1, 1]


def test_names_are_made_harmless():
    generator = np.random.default_rng(1)
    left = generator.normal(0.8, 0.02, size=(6, 10))
    given = hc.PairedDifferences.from_arrays(
        left, left + generator.normal(0.01, 0.02, size=left.shape), rho=0.1, left="<b>a</b>", right="x\x1b[1m"
    )
    table = closed_form_tests(given, Rope.of(0.01), None)
    assert "<b>" not in table._repr_html_()
    assert "\x1b" not in str(table) + table._repr_html_()
    assert json.dumps(table.to_dict(), allow_nan=False)


def test_the_table_changes_nothing_and_is_the_same_again(result):
    pd.testing.assert_frame_equal(
        result.closed_form_tests(seed=3).to_frame(), result.closed_form_tests(seed=3).to_frame()
    )
    with pytest.raises(hc.ArgumentError, match="seed"):
        result.closed_form_tests(seed=-1)


def test_two_correlations_are_nothing_to_tests_of_means_and_of_scores(uci54):
    """Runs of unequal sizes, whose means two correlations weight: these tests take the plain ones."""
    scores = uci54[uci54["dataset"].isin(uci54["dataset"].unique()[:5]) & uci54["algorithm"].isin(["nbc", "j48"])]
    scores = scores[~((scores["run"] == 2) & (scores["fold"] > 4))]
    pair = {"left": "nbc", "right": "j48"}
    comparison = hc.HierarchicalComparison(scores, **pair, rope=0.01, rho=hc.Correlation(within=0.3, across=0.1))
    given = comparison.differences
    plain = scores.pivot_table(index=["dataset", "run", "fold"], columns="algorithm", values="accuracy", observed=True)
    of_dataset = {name: rows["j48"] - rows["nbc"] for name, rows in plain.groupby(level="dataset", observed=True)}
    expected = [of_dataset[name] for name in given.dataset_names]
    assert not np.allclose(given.mean, [each.mean() for each in expected], atol=1e-5)
    found = hc.signed_rank_test(given)
    assert found.pvalue == stats.wilcoxon([each.mean() for each in expected]).pvalue
    assert hc.sign_test(given).pvalue == hc.sign_test([each.mean() for each in expected]).pvalue
    t = stats.ttest_1samp(expected[0], 0)
    assert hc.paired_t_test(given).pvalue[0] == pytest.approx(t.pvalue, rel=1e-9)
    assert hc.paired_t_test(given).statistic[0] == pytest.approx(t.statistic, rel=1e-9)
    notes = comparison.fit(engine="quadrature").closed_form_tests().notes
    assert not any("rho" in note for note in notes)


def test_mann_whitney_favours_the_algorithm_with_the_larger_scores_when_they_are_grouped():
    """Twenty groups of ten scores: U of 200 scores each has the mean 200^2 / 2."""
    generator = np.random.default_rng(0)
    rows = [
        (dataset, algorithm, 10 * group + one, group, mean + 0.05 * generator.normal())
        for dataset in "abcdef"
        for group in range(20)
        for one in range(10)
        for algorithm, mean in (("A", 0.9), ("B", 0.87))
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "group", "score"])
    scores = frame.pivot(index=["dataset", "fold"], columns="algorithm", values="score")
    u = [stats.mannwhitneyu(part["B"], part["A"]) for _, part in scores.groupby(level="dataset")]
    assert all(each.statistic < 200**2 / 2 and each.pvalue < 0.05 for each in u)
    result = hc.compare(frame, "A", "B", rope=0.01, groups="group", engine="quadrature")
    says = result.closed_form_tests().to_frame()["says"]
    (row,) = [text for name, text in says.items() if "Mann" in str(name)]
    assert "in favour of A on 6 and of B on 0 of 6" in row
