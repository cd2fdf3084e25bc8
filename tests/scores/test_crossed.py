"""Crossed groups: the variance of a mean against statsmodels and a simulation, and what the comparison says of it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats

import hiercomp as hc
from hiercomp.pairs.ranking import standings_of
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.crossed import crossed_variance
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.table import tidy_scores

CROSSED = ("question_id", "seed")
QUICK = {"engine": "quadrature", "higher_is_better": True}


def crossed_table(questions: int = 12, seeds: int = 5, of_seed: float = 0.1, absent: int = 0, samples: int = 1):
    """Scores of three models on five benchmarks: effects of questions and of seeds; some cells are absent."""
    generator, parts = np.random.default_rng(3), []
    for benchmark in range(5):
        question, seed = np.divmod(np.arange(questions * seeds), seeds)
        kept = np.sort(generator.permutation(questions * seeds)[absent:]).repeat(samples)
        for number, model in enumerate(("base", "tuned", "large")):
            by_question, by_seed = generator.normal(0, 0.2, questions), generator.normal(0, of_seed, seeds)
            score = 0.02 * number + by_question[question] + by_seed[seed]
            score = score[kept] + generator.normal(0, 0.1, len(kept))
            columns = {"benchmark": f"b{benchmark}", "model": model, "question_id": question[kept], "seed": seed[kept]}
            parts.append(pd.DataFrame(columns | {"score": score, "fold": np.arange(len(kept))}))
    return pd.concat(parts, ignore_index=True)


def expected(x: np.ndarray, question: np.ndarray, seed: np.ndarray) -> tuple[float, float]:
    """Variance and degrees of freedom from statsmodels: two cluster-robust fits, and the residuals of an additive one."""
    by = [
        sm.OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": each}).bse.item() ** 2
        for each in (question, seed)
    ]
    additive = smf.ols("x ~ C(question) + C(seed)", {"x": x, "question": question, "seed": seed}).fit()
    error = additive.mse_resid / len(x)
    parts = np.array([*by, error])
    freedom = np.array([len(set(question)) - 1, len(set(seed)) - 1, additive.df_resid])
    variance = max(by[0], error) + max(by[1], error) - error
    return variance, variance**2 / (parts**2 / freedom).sum()


@pytest.mark.parametrize("absent", [0, 9])
@pytest.mark.parametrize("of_seed", [0, 0.1])
def test_variances_and_degrees_of_freedom_are_those_of_statsmodels(absent, of_seed):
    table = crossed_table(of_seed=of_seed, absent=absent)
    found = hc.HierarchicalComparison(table, "base", "tuned", rope=0.01, groups=CROSSED, higher_is_better=True)
    wide = table.pivot(index=["benchmark", *CROSSED], columns="model", values="score").reset_index()
    for name, row in found.differences.to_frame().iterrows():
        cells = wide[wide["benchmark"] == name]
        x = (cells["tuned"] - cells["base"]).to_numpy()
        variance, freedom = expected(x, cells["question_id"].to_numpy(), cells["seed"].to_numpy())
        assert row["mean"] == pytest.approx(x.mean(), rel=1e-12)
        assert row["standard_error"] ** 2 == pytest.approx(variance, rel=1e-10)
        assert row["n"] == max(1 + round(freedom), 3)
    np.testing.assert_array_equal(found.differences.crossed, [[12, 5]] * 5)
    np.testing.assert_array_equal(found.differences.n_scores, 60 - absent)


def balanced(questions: int, seeds: int, spread: tuple[float, float, float], seed: int = 0, sets: int = 1):
    """Values of shape (sets, questions, seeds) with these standard deviations by question, by seed and beyond."""
    generator = np.random.default_rng(seed)
    sizes = (sets, questions, 1), (sets, 1, seeds), (sets, questions, seeds)
    return sum(generator.normal(0, each, size) for each, size in zip(spread, sizes, strict=True))


def variance_of(values: np.ndarray) -> tuple[float, int]:
    """Of the mean of a table of questions by seeds."""
    places = np.indices(values.shape).reshape(2, -1)
    variance, n = crossed_variance(values.reshape(-1, 1), *places, "quiz")
    return variance.item(), n


def test_balanced_values_have_the_mean_squares_of_the_two_way_analysis():
    """SE^2 = (MS_question + MS_seed - MS_error) / (QS), with the mean squares of statsmodels' analysis of variance."""
    values = balanced(20, 6, (0.3, 0.1, 0.2))[0]
    question, seed = np.indices(values.shape).reshape(2, -1)
    model = smf.ols("x ~ C(question) + C(seed)", {"x": values.ravel(), "question": question, "seed": seed}).fit()
    table = sm.stats.anova_lm(model)
    squares = table["sum_sq"] / table["df"]
    by_hand = (squares["C(question)"] + squares["C(seed)"] - squares["Residual"]) / values.size
    assert variance_of(values)[0] == pytest.approx(by_hand, rel=1e-12)


def test_it_is_the_error_of_the_mean_in_a_mixed_model():
    """Restricted maximum likelihood of crossed random effects, which equals the analysis of variance when balanced."""
    values = balanced(15, 6, (0.3, 0.2, 0.2), seed=2)[0]
    question, seed = np.indices(values.shape).reshape(2, -1)
    data = pd.DataFrame({"x": values.ravel(), "question": question, "seed": seed, "all": 1})
    effects = {"question": "0 + C(question)", "seed": "0 + C(seed)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = smf.mixedlm("x ~ 1", data, groups="all", vc_formula=effects).fit(reml=True)
    assert np.sqrt(variance_of(values)[0]) == pytest.approx(model.bse["Intercept"], rel=1e-3)


def test_many_groups_have_the_two_way_cluster_robust_variance():
    """Cameron, Gelbach and Miller subtract the variance by cell, which takes 1/Q and 1/S of the two parts with it."""
    values = balanced(80, 60, (0.3, 0.2, 0.2), seed=3)[0]
    places = np.indices(values.shape).reshape(2, -1)
    fit = sm.OLS(values.ravel(), np.ones(values.size)).fit(cov_type="cluster", cov_kwds={"groups": places.T})
    assert variance_of(values)[0] == pytest.approx(fit.bse.item() ** 2, rel=1 / 60 + 1 / 80)


def test_groupings_may_be_swapped_and_cells_may_hold_several_values():
    values = balanced(12, 5, (0.3, 0.1, 0.2), seed=4)[0]
    question, seed = np.indices(values.shape).reshape(2, -1)
    x = values.reshape(-1, 1)
    one = crossed_variance(x, question, seed, "quiz")
    np.testing.assert_allclose(crossed_variance(x, seed, question, "quiz")[0], one[0], rtol=1e-12)
    twice = crossed_variance(np.concatenate([x, x]), np.tile(question, 2), np.tile(seed, 2), "quiz")
    np.testing.assert_allclose(twice[0], one[0], rtol=1e-12)
    assert twice[1] == one[1]


@pytest.mark.parametrize(
    ("questions", "seeds", "spread", "lowest", "highest"),
    [
        (100, 10, (0.3, 0.03, 0.45), 0.935, 0.965),
        (100, 5, (0.3, 0.1, 0.45), 0.935, 0.965),
        (30, 3, (0.3, 0, 0.45), 0.95, 0.985),
    ],
)
def test_intervals_cover_the_truth_as_often_as_they_say(questions, seeds, spread, lowest, highest):
    """With four standard errors of 2,000 simulations; few seeds without an effect make the intervals too wide."""
    sets = 2000
    values = balanced(questions, seeds, spread, seed=5, sets=sets)
    found = np.array([variance_of(each) for each in values])
    reach = stats.t.ppf(0.975, found[:, 1] - 1) * np.sqrt(found[:, 0])
    covered = (np.abs(values.mean(axis=(1, 2))) <= reach).mean()
    error = 4 * np.sqrt(0.05 * 0.95 / sets)
    assert lowest - error <= covered <= highest + error


def test_no_variation_is_no_error():
    assert variance_of(np.zeros((5, 4))) == (0, 4)


@pytest.mark.parametrize("of_seed", [0, 0.1])
def test_the_ranking_of_many_takes_crossed_groups_too(of_seed):
    """Of two algorithms it has the variance of their difference, also where that is cut."""
    table = crossed_table(of_seed=of_seed)
    table = table[table["model"] != "large"]
    tidy = tidy_scores(table, {"group": "question_id", "crossed_group": "seed"})
    arrays = ScoreArrays.of(tidy, higher_is_better=True)
    standings, differences = standings_of(arrays), PairedDifferences.of(arrays.pair("base", "tuned"))
    contrast = np.array([-1.0, 1.0])
    for i, factor in enumerate(standings.residuals):
        assert ((factor @ contrast) ** 2).sum() == pytest.approx(differences.sum_of_squares[i], rel=1e-10)
    np.testing.assert_array_equal(standings.n, differences.n)
    np.testing.assert_allclose(standings.means @ contrast, differences.mean, rtol=1e-12)


@pytest.mark.slow
def test_the_summary_the_report_and_a_saved_result_know_the_groups(tmp_path):
    table = crossed_table()
    table.to_csv(tmp_path / "answers.csv", index=False)
    result = hc.compare(tmp_path / "answers.csv", "base", "tuned", rope=0.01, groups=CROSSED, **QUICK)
    assert result.summary().title.startswith(
        "base against tuned: 5 data sets, 300 paired scores in 12 x 5 crossed groups"
    )
    content = result.to_dict()
    assert (content["n_scores"], content["n_groups"], content["crossed_groups"]) == (300, None, [60, 25])
    assert "two crossed groupings, 12 and 5 groups on each" in result.methods().text
    assert "12 x 5, crossed, on each data set" in result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(again.differences.crossed, result.differences.crossed)
    assert again.summary().title == result.summary().title
    many = hc.compare_all(table, rope=0.01, groups=CROSSED, higher_is_better=True, n_jobs=1, progress=False)
    pair = many.pair("base", "tuned")
    assert pair.next_dataset.probabilities == pytest.approx(result.next_dataset.probabilities, abs=1e-9)


def test_what_is_not_crossed_is_refused():
    compared = {"left": "base", "right": "tuned", "rope": 0.01, "higher_is_better": True}
    with pytest.raises(hc.ScoreTableError, match="'b0' has 12 x 2 crossed groups of scores, and each column needs 3"):
        hc.HierarchicalComparison(crossed_table(seeds=2), **compared, groups=CROSSED)
    table = crossed_table().assign(passage=lambda frame: frame["question_id"] // 3)
    with pytest.raises(hc.ScoreTableError, match="not crossed on data set 'b0': its 12 pairs of groups"):
        hc.HierarchicalComparison(table, **compared, groups=("question_id", "passage"))
    for groups in (("seed", "seed"), ("seed", 3), (), ("a", "b", "c")):
        with pytest.raises(hc.ArgumentError, match="or of two that are crossed"):
            hc.HierarchicalComparison(table, **compared, groups=groups)
    with pytest.raises(hc.ScoreTableError, match="no column 'sead' for the crossed_group"):
        hc.HierarchicalComparison(table, **compared, groups=("question_id", "sead"))
    table.loc[(table["model"] == "tuned") & (table["fold"] == 1), "passage"] = 7
    with pytest.raises(hc.ScoreTableError, match="5 scores are in another group than another algorithm's"):
        hc.HierarchicalComparison(table, **compared, groups=("seed", "passage"))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_constant_difference_is_judged_by_the_size_of_the_scores(scale):
    generator = np.random.default_rng(3)
    places = pd.DataFrame(
        [(d, q, s) for d in "xyz" for q in range(6) for s in range(4)], columns=["dataset", "question", "seed"]
    )
    left = generator.uniform(3, 7, len(places))
    right = left + 0.1 + np.where(places["dataset"] == "y", generator.normal(0, 1e-3, len(places)), 0.0)
    left, right = (np.where(places["dataset"] == "z", 0.0, scores) for scores in (left, right))
    sides = [places.assign(algorithm=name, score=scale * score) for name, score in (("a", left), ("b", right))]
    groups = {"group": "question", "crossed_group": "seed"}
    table = pd.concat(sides).assign(fold=lambda frame: 4 * frame["question"] + frame["seed"])
    found = PairedDifferences.from_table(table, "a", "b", columns=groups)
    assert found.constant.tolist() == [True, False, True]
