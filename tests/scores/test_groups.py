"""Scores in groups: cluster-robust standard errors of statsmodels, and what the comparison says of groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import hiercomp as hc
from hiercomp.pairs.ranking import standings_of
from hiercomp.report.tables import datasets_table
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.table import tidy_scores
from tests.conftest import simulated_scores


def questions_in_passages(balanced: bool, seed: int = 0) -> pd.DataFrame:
    """Six benchmarks with 12 passages of up to six questions each, whose differences share an effect."""
    generator, rows = np.random.default_rng(seed), []
    for benchmark in range(6):
        for passage in range(12):
            effect = generator.normal(0, 0.1)
            for question in range(4 if balanced else int(generator.integers(1, 7))):
                tuned = 0.52 + effect + generator.normal(0, 0.1)
                place = (f"b{benchmark}", f"{passage}-{question}", passage)
                rows += [(*place, "base", 0.5), (*place, "tuned", tuned)]
    return pd.DataFrame(rows, columns=["benchmark", "question_id", "passage", "model", "score"])


@pytest.mark.parametrize("balanced", [True, False])
def test_standard_errors_are_the_cluster_robust_ones_of_statsmodels(balanced):
    """CR1 of a mean: G / (G - 1) times the sum of squared sums of residuals by cluster, over n^2."""
    table = questions_in_passages(balanced)
    found = hc.HierarchicalComparison(table, "base", "tuned", rope=0.01, groups="passage", higher_is_better=True)
    for name, row in found.differences.to_frame().iterrows():
        cells = table[(table["benchmark"] == name) & (table["model"] == "tuned")]
        x, clusters = cells["score"].to_numpy() - 0.5, cells["passage"].to_numpy()
        fit = sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": clusters})
        assert row["mean"] == pytest.approx(fit.params[0], rel=1e-12)
        assert row["standard_error"] == pytest.approx(fit.bse[0], rel=1e-12)
        assert row["n"] == 12


def test_equal_groups_are_their_means():
    """As many questions in every passage: the comparison of the passages' means with rho 0."""
    table = questions_in_passages(balanced=True)
    means = table.groupby(["benchmark", "model", "passage"], as_index=False)["score"].mean()
    means = means.rename(columns={"benchmark": "dataset", "model": "algorithm", "passage": "fold"})
    grouped = hc.HierarchicalComparison(table, "base", "tuned", rope=0.01, groups="passage", higher_is_better=True)
    plain = PairedDifferences.from_table(means, "base", "tuned", rho=0, higher_is_better=True)
    for name in ("mean", "sum_of_squares"):
        np.testing.assert_allclose(getattr(grouped.differences, name), getattr(plain, name), rtol=1e-12)
    np.testing.assert_array_equal(grouped.differences.n, plain.n)
    np.testing.assert_array_equal(grouped.differences.paired_scores, 48)


def test_samples_of_a_question_count_once():
    """The question itself is the group: as their average."""
    table = pd.concat([questions_in_passages(True, seed).assign(seed=seed) for seed in (1, 2)])
    by_sample = hc.HierarchicalComparison(table, "base", "tuned", rope=0.01, groups="question_id")
    averaged = table.groupby(["benchmark", "model", "question_id"], as_index=False)["score"].mean()
    once = hc.HierarchicalComparison(averaged, "base", "tuned", rope=0.01, rho=0)
    for name in ("mean", "standard_error", "n"):
        np.testing.assert_allclose(getattr(by_sample.differences, name), getattr(once.differences, name), rtol=1e-12)


def test_the_ranking_of_many_takes_groups_too():
    table = questions_in_passages(balanced=False)
    tidy = tidy_scores(table, {"group": "passage"})
    arrays = ScoreArrays.of(tidy, higher_is_better=True)
    standings = standings_of(arrays)
    differences = PairedDifferences.of(arrays.pair("base", "tuned"))
    contrast = np.array([-1.0, 1.0])
    for i, factor in enumerate(standings.residuals):
        assert ((factor @ contrast) ** 2).sum() == pytest.approx(differences.sum_of_squares[i], rel=1e-12)
    np.testing.assert_array_equal(standings.n, differences.n)
    np.testing.assert_array_equal(standings.rho, 0)
    np.testing.assert_allclose(standings.means @ contrast, differences.mean, rtol=1e-12)


@pytest.mark.slow
def test_the_summary_the_report_and_a_saved_result_know_the_groups(tmp_path):
    result = hc.compare(
        questions_in_passages(balanced=True), "base", "tuned", rope=0.01, groups="passage", engine="quadrature"
    )
    assert result.summary().title.startswith("base against tuned: 6 data sets, 288 paired scores in 72 groups, rope")
    content = result.to_dict()
    assert (content["n_scores"], content["n_groups"]) == (288, 72)
    assert "come in groups, 12 on each" in result.methods().text
    assert "288 paired scores in 72 groups" in result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    columns = dict(zip(datasets_table(result).columns, zip(*datasets_table(result).rows, strict=True), strict=True))
    assert columns["Scores"] == ("48",) * 6
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(again.differences.n_scores, result.differences.n_scores)
    assert again.summary().title == result.summary().title


@pytest.mark.slow
def test_many_algorithms_and_files_take_groups(tmp_path):
    table = questions_in_passages(balanced=True)
    table.to_csv(tmp_path / "answers.csv", index=False)
    result = hc.compare(tmp_path / "answers.csv", "base", "tuned", rope=0.01, groups="passage", engine="quadrature")
    many = hc.compare_all(table, rope=0.01, groups="passage", higher_is_better=True, n_jobs=1, progress=False)
    pair = many.pair("base", "tuned")
    assert pair.next_dataset.probabilities == pytest.approx(result.next_dataset.probabilities, abs=1e-9)


def test_what_does_not_go_with_groups_is_refused():
    table = simulated_scores(4, centre=0, spread=0.01).assign(part=1)
    compared = {"df": table, "left": "bayes", "right": "tree", "rope": 0.01}
    with pytest.raises(hc.ArgumentError, match="groups and rho were both given"):
        hc.HierarchicalComparison(**compared, groups="fold", rho=0.1)
    with pytest.raises(hc.ArgumentError, match="groups must be the name of a column"):
        hc.HierarchicalComparison(**compared, groups=3)
    with pytest.raises(hc.ScoreTableError, match="There is no column 'passage' for the group"):
        hc.HierarchicalComparison(**compared, groups="passage")
    with pytest.raises(hc.ScoreTableError, match="4 data sets have fewer than 3 groups of scores"):
        hc.HierarchicalComparison(**compared, groups="part")
    with pytest.raises(hc.ArgumentError, match="leave rho out"):
        PairedDifferences.from_table(table, "bayes", "tree", rho=0.1, columns={"group": "part"})
    table.loc[(table["algorithm"] == "tree") & (table["fold"] == 1), "part"] = 2
    with pytest.raises(hc.ScoreTableError, match="12 scores are in another group than another algorithm's"):
        hc.HierarchicalComparison(**compared, groups="part")


def test_a_constant_ratio_is_constant_in_groups_too():
    """Logs of scores near 1 are small, and their rounding errors are not."""
    generator = np.random.default_rng(3)
    rows = [
        (f"b{benchmark}", f"{passage}-{question}", passage, question, model, score)
        for benchmark in range(6)
        for passage in range(5)
        for question in range(3)
        for base in [1 + 1e-3 * generator.random()]
        for model, score in (
            ("base", base),
            ("tuned", base * (1.001 if benchmark == 0 else 1 + 1e-3 * generator.random())),
        )
    ]
    table = pd.DataFrame(rows, columns=["benchmark", "question_id", "passage", "topic", "model", "score"])
    for groups in ("passage", ["passage", "topic"]):
        with pytest.warns(hc.DegenerateScoresWarning, match=r"1 of 6 data sets \('b0'\)"):
            found = hc.HierarchicalComparison(
                table, "base", "tuned", rope=0.0005, groups=groups, transform="log", higher_is_better=True
            )
        assert found.differences.constant.tolist() == [True] + [False] * 5
