"""ComparisonResult: the questions that can be asked of a posterior, on real fits of small problems."""

from __future__ import annotations

import dataclasses
import warnings
from math import hypot

import arviz_stats
import numpy as np
import pytest

import hiercomp as hc
from hiercomp.posterior.kinds import Exact
from hiercomp.posterior.next_dataset import next_dataset
from hiercomp.rope import REGIONS, Rope, region_probabilities
from tests.conftest import simulated_scores

MIRRORED = {"left": "right", "rope": "rope", "right": "left"}


def fit(scores, *, seed: int = 0, rope=0.01, **arguments) -> hc.ComparisonResult:
    return hc.HierarchicalComparison(scores, "bayes", "tree", rope=rope, **arguments).fit(
        "embedded", seed=seed, progress=False
    )


def assert_within_monte_carlo_error(first, second, names=None) -> None:
    for name, other in (names or {name: name for name in first.errors}).items():
        error = hypot(first.errors[name], second.errors[other])
        assert abs(getattr(first, name) - getattr(second, other)) <= 4 * error, name


def test_outcomes_name_the_algorithms(result):
    assert (result.left, result.right) == ("bayes", "tree")
    assert [result.outcome(region) for region in REGIONS] == ["bayes better", "practically equivalent", "tree better"]
    assert "bayes" in repr(result)
    assert "tree" in repr(result)


def test_the_better_algorithm_wins(result):
    # tree is better by 0.03 on average, three times the rope, with a spread between data sets of 0.01
    assert result.status == "ok"
    assert result.decision().region == "right"
    assert result.next_dataset.p_positive > 0.99


def test_next_dataset_is_computed_from_the_draws_in_the_metrics_units(result):
    assert result.next_dataset == next_dataset(
        result.draws("delta0"), result.draws("sigma0"), result.draws("nu"), Rope(-0.01, 0.01)
    )
    # The population lies where the raw means do: their mean, within four of its standard errors
    means = result.differences.mean
    assert abs(result.draws("delta0").mean() - means.mean()) < 4 * means.std(ddof=1) / np.sqrt(len(means))


@pytest.mark.parametrize("rope", [0.0, 0.03, (-0.02, 0.04), Rope(0.01, 0.05)])
def test_another_rope_equals_recomputing_from_the_draws_and_leaves_the_original_alone(result, rope):
    before = result.next_dataset
    seen = result.with_rope(rope)
    assert seen.rope == Rope.of(rope)
    regions = region_probabilities(result.draws("delta0"), result.draws("sigma0"), result.draws("nu"), Rope.of(rope))
    for position, region in enumerate(REGIONS):
        assert seen.next_dataset.expected[region] == pytest.approx(regions[..., position].mean(), rel=1e-12)
    delta = result.draws("delta").reshape(-1, 8)
    assert seen.datasets()["p_left"].to_numpy() == pytest.approx((delta < Rope.of(rope).lower).mean(axis=0), abs=1e-15)
    assert result.rope == Rope(-0.01, 0.01)
    assert result.next_dataset is before


def test_the_rope_curve_rises_with_the_rope_and_equals_single_ropes(result):
    curve = result.rope_curve()
    assert len(curve) == 41
    assert (np.diff(curve["expected_rope"]) >= 0).all()
    assert curve.index[0] == 0
    assert curve.iloc[0][["p_rope", "expected_rope"]].tolist() == [0, 0]
    few = result.rope_curve([0.005, 0.02, 0.08])
    for width, row in few.iterrows():
        seen = result.with_rope(width).next_dataset
        assert {region: row[f"p_{region}"] for region in REGIONS} == seen.probabilities
        assert row["expected_right"] == seen.expected_right


@pytest.mark.parametrize("widths", [[-0.1], [np.nan], [np.inf], [[0.1, 0.2]]])
def test_half_widths_that_are_none_are_refused(result, widths):
    with pytest.raises(hc.ArgumentError, match="half_widths"):
        result.rope_curve(widths)


def test_the_raw_columns_of_the_data_sets_equal_pandas_on_the_raw_scores(scores, result):
    wide = scores.pivot_table(index=["dataset", "run", "fold"], columns="algorithm", values="score")
    raw = (wide["tree"] - wide["bayes"]).groupby("dataset").agg(["mean", "std", "count"])
    table = result.datasets().loc[raw.index]
    assert table["mean"].to_numpy() == pytest.approx(raw["mean"].to_numpy(), rel=1e-12)
    assert table["sd"].to_numpy() == pytest.approx(raw["std"].to_numpy(), rel=1e-10)
    assert (table["n"] == raw["count"]).all()
    assert (table["rho"] == 0.1).all()  # ten folds


def test_shrunken_means_lie_between_the_raw_mean_and_the_centre(result):
    table, centre = result.datasets(), result.draws("delta0").mean()
    shrinkage = (table["posterior_mean"] - centre) / (table["mean"] - centre)
    far = (table["mean"] - centre).abs() > 0.004
    assert far.any()
    assert shrinkage[far].between(0, 1).all()
    assert (table["lower"] < table["posterior_mean"]).all()
    assert (table["posterior_mean"] < table["upper"]).all()


def test_population_parameters_equal_numpy_on_the_draws(result):
    values = result.draws("sigma0").ravel()
    row = result.population().loc["sigma0"]
    expected = [values.mean(), values.std(ddof=1), *np.percentile(values, [2.5, 50, 97.5])]
    assert row.drop("mean_error").to_numpy() == pytest.approx(expected, rel=1e-12)
    assert list(result.population().index) == ["delta0", "sigma0", "nu"]


def test_arviz_works_on_the_posterior(result):
    table = arviz_stats.summary(result.datatree, round_to="none")
    assert table.loc["delta0", "mean"] == pytest.approx(result.population().loc["delta0", "mean"], rel=1e-12)
    assert "delta[d3]" in table.index
    sizes = arviz_stats.ess(result.datatree["posterior"].dataset, method="bulk")
    smallest = min(float(values.min()) for values in sizes.data_vars.values())
    assert result.diagnostics.ess_bulk == pytest.approx(smallest, rel=1e-9)


def test_the_predictive_draws_have_the_shape_of_the_posterior_and_come_from_the_seed(result):
    size = result.draws("delta0").shape
    assert result.next_differences().shape == size
    assert result.log_likelihood().shape == result.replicated_means().shape == (*size, 8)
    assert (result.next_differences(3) == result.next_differences(3)).all()
    assert (result.next_differences(3) != result.next_differences(4)).any()
    # Each draw of the next difference falls right of the rope with the expected probability of right
    share = (result.next_differences() > 0.01).mean()
    expected = result.next_dataset.expected_right
    error = np.sqrt(expected * (1 - expected) / result.diagnostics.ess_bulk)
    assert abs(share - expected) < 4 * error


def test_nothing_in_a_result_can_be_set(result):
    for name in ("rope", "datatree", "diagnostics", "next_dataset", "left"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(result, name, None)
    with pytest.raises(ValueError, match="read-only"):
        result.draws("delta0")[0, 0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.next_dataset.p_left = 0.5


def test_a_failed_fit_gives_no_verdict_and_says_why(failed):
    assert failed.status == "failed"
    reason = failed.diagnostics.failures[0]
    for question in (
        lambda: failed.next_dataset,
        failed.odds,
        failed.decision,
        failed.rope_curve,
        lambda: failed.with_rope(0.02).next_dataset,
    ):
        with pytest.raises(hc.NoVerdictError) as caught:
            question()
        assert reason in str(caught.value)
    summary = failed.summary()
    assert summary.conclusion.startswith("No verdict")
    assert reason in summary.conclusion
    assert summary.next_dataset is summary.decision is None
    assert (summary.odds, summary.population) == ((), {})
    assert summary.to_frame()[["probability", "expected"]].isna().all(axis=None)
    assert summary.to_dict()["next_dataset"] is None
    assert "Odds" not in str(summary)


def test_a_failed_fit_was_run_again_longer(failed):
    first, second, longer = failed.attempts
    assert [attempt.purpose for attempt in failed.attempts] == ["first fit", "smaller steps", "longer"]
    assert all(attempt.failures for attempt in failed.attempts)
    assert longer.failures == failed.diagnostics.failures
    assert (second.warmup, second.draws, second.centred) == (100, 100, 0)
    assert (longer.warmup, longer.draws) == (200, 500)
    assert first.adapt_delta < second.adapt_delta < longer.adapt_delta


def test_a_failed_fit_warns_and_keeps_the_warning(hard_scores, failed):
    comparison = hc.HierarchicalComparison(hard_scores, "bayes", "tree")
    with pytest.warns(hc.ConvergenceWarning, match="No verdict") as caught:
        comparison.fit("embedded", chains=2, warmup=100, draws=100, progress=False)
    assert caught[0].filename == __file__
    assert str(caught[0].message) in failed.notes  # the same problem and seed


def test_a_saturated_tree_or_a_single_chain_is_a_warned_result(result):
    assert result.status == "ok"
    assert dataclasses.replace(result.diagnostics, tree_depth_saturated=3).status == "warned"
    assert dataclasses.replace(result.diagnostics, chains=1).status == "warned"


def test_identical_algorithms_are_equivalent_with_certainty_and_nothing_is_sampled(identical, tmp_path):
    for seen in (identical, hc.load_result(identical.save(tmp_path / "identical.nc"))):
        assert seen.next_dataset.probabilities == {"left": 0, "rope": 1, "right": 0}
        assert set(seen.next_dataset.errors.values()) == {0.0}
        assert seen.status == "ok"
        assert isinstance(seen.posterior, Exact)
        assert seen.attempts == ()
        assert seen.odds() == ()
        assert seen.decision().region == "rope"
        assert "identical" in str(seen.summary())
        assert any("identical" in note for note in seen.notes)
        assert (seen.datasets()[["mean", "posterior_mean", "lower", "upper"]] == 0).all(axis=None)


def test_relabelling_left_and_right_mirrors_the_probabilities(result, mirrored):
    names = {f"{kind}_{a}": f"{kind}_{b}" for kind in ("p", "expected") for a, b in MIRRORED.items()}
    assert_within_monte_carlo_error(result.next_dataset, mirrored.next_dataset, names)
    error = hypot(result.next_dataset.errors["p_positive"], mirrored.next_dataset.errors["p_positive"])
    assert abs(result.next_dataset.p_positive - (1 - mirrored.next_dataset.p_positive)) <= 4 * error
    assert mirrored.decision().region == "left"
    assert (mirrored.differences.mean == -result.differences.mean).all()


def test_the_order_of_the_rows_changes_nothing_bit_for_bit(scores, result, tmp_path):
    shuffled = scores.sample(frac=1, random_state=7).reset_index(drop=True)
    other = fit(shuffled)
    assert other.datatree.identical(result.datatree)
    first, second = result.save(tmp_path / "a.nc"), other.save(tmp_path / "b.nc")
    assert first.read_bytes() == second.read_bytes()


def test_the_same_seed_gives_the_same_file_and_another_seed_other_draws(scores, result, tmp_path):
    again, other = fit(scores), fit(scores, seed=1)
    assert again.save(tmp_path / "a.nc").read_bytes() == result.save(tmp_path / "b.nc").read_bytes()
    assert not other.datatree.identical(result.datatree)
    assert_within_monte_carlo_error(result.next_dataset, other.next_dataset)


def test_adding_a_constant_to_all_scores_changes_nothing(scores, result):
    # All scores stay within [0, 1], so that the prior on delta0 is the same
    shifted = fit(scores.assign(score=scores["score"] + 0.05))
    assert shifted.differences.highest_score.max() <= 1
    assert_within_monte_carlo_error(result.next_dataset, shifted.next_dataset)


def test_percentages_with_a_rope_in_percent_give_the_same_probabilities(scores, result):
    percent = fit(scores.assign(score=100 * scores["score"]), rope=1.0)
    assert_within_monte_carlo_error(result.next_dataset, percent.next_dataset)
    assert percent.draws("delta0").mean() == pytest.approx(100 * result.draws("delta0").mean(), rel=0.05)


def test_a_loss_turns_the_sign(scores, result):
    loss = fit(scores.assign(score=1 - scores["score"]), higher_is_better=False)
    assert loss.differences.mean == pytest.approx(result.differences.mean, rel=1e-9)
    assert_within_monte_carlo_error(result.next_dataset, loss.next_dataset)


def test_the_users_frame_is_not_changed(scores):
    copy = scores.copy(deep=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hc.HierarchicalComparison(scores, "bayes", "tree")
    assert scores.equals(copy)


def test_the_prior_group_holds_draws_of_the_priors(result):
    prior = result.datatree["prior"].dataset
    given = result.differences
    bound = 1.0 if given.highest_score.max() <= 1 else given.largest_difference
    upper = 1000 * given.mean.std(ddof=1)
    count = prior["delta0"].size
    for name, limit in (("delta0", bound), ("sigma0", upper)):
        low = -bound if name == "delta0" else 0.0
        values = prior[name].values.ravel()
        assert values.min() >= low
        assert values.max() <= limit
        # A uniform distribution: mean (low + limit) / 2, standard deviation (limit - low) / sqrt(12)
        assert abs(values.mean() - (low + limit) / 2) < 4 * (limit - low) / np.sqrt(12 * count)
    # nu - 1 is Gamma(alpha, beta): its mean is E alpha E 1/beta = 2.75 log(3) / 0.1, that of alpha and 1/beta uniform
    nu = prior["nu"].values.ravel() - 1
    assert abs(nu.mean() - 2.75 * np.log(3) / 0.1) < 4 * nu.std() / np.sqrt(count)
    assert nu.min() > 0


def test_arguments_that_are_no_numbers_are_refused(result):
    for asked in (
        lambda: result.rope_curve("a"),
        lambda: result.next_differences(-1),
        lambda: result.replicated_means("x"),
        lambda: result.predictive_datatree(-1),
        lambda: hc.Rope.of(10**400),
    ):
        with pytest.raises(hc.ArgumentError):
            asked()


def test_another_rope_has_its_own_notes():
    percent = simulated_scores(8, centre=0.03, spread=0.01)
    percent["score"] *= 100
    with pytest.warns(hc.ScaleWarning, match="look like percentages"):
        result = hc.compare(percent, "bayes", "tree", rope=0.01, engine="quadrature")
    assert not any("percentages" in note for note in result.with_rope(1).notes)
    assert any("is wider" in note or "inside the rope" in note for note in result.with_rope(50).notes)
    assert result.with_rope(1).with_rope(0.01).notes == result.notes
    with pytest.warns(hc.HiercompWarning):
        few = hc.compare(percent[percent["dataset"] < "d3"], "bayes", "tree", rope=1, engine="quadrature")
    assert few.with_rope(2).notes == few.notes


def test_identical_scores_have_no_rope_of_zero(identical):
    with pytest.raises(hc.ScoreTableError, match="identical everywhere"):
        identical.with_rope(0)
