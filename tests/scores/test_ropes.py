"""A rope for each data set: the user's own division by it, what is shown of it, and what is refused."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.scores.differences import PairedDifferences
from tests.conftest import simulated_scores

NAMES = tuple(f"d{place}" for place in range(8))
ROPES = dict(zip(NAMES, (0.01, 5.0, 0.3, 0.02, 40.0, 1.0, 0.007, 2.5), strict=True))
PAIR: Any = {"left": "bayes", "right": "tree"}


def in_own_units() -> pd.DataFrame:
    """Scores of eight data sets, each in a unit of its own; tree is better by about two ropes."""
    table = simulated_scores(8, 1, centre=0.02, spread=0.02, seed=3)
    return table.assign(score=table["score"] * table["dataset"].map(ROPES) / 0.01)


def divided() -> pd.DataFrame:
    table = in_own_units()
    return table.assign(score=table["score"] / table["dataset"].map(ROPES))


def own(table: pd.DataFrame, **options: Any) -> hc.ComparisonResult:
    return hc.compare(table, **PAIR, **({"rope": ROPES, "engine": "quadrature"} | options))


@pytest.fixture(scope="module")
def found() -> hc.ComparisonResult:
    return own(in_own_units())


def as_array(table: pd.DataFrame, algorithm: str) -> np.ndarray:
    rows = table[table["algorithm"] == algorithm]
    return rows.pivot(index="dataset", columns="fold", values="score").to_numpy()


def assert_same(one: hc.ComparisonResult, other: hc.ComparisonResult) -> None:
    for name in ("mean", "sum_of_squares", "n", "rho", "constant", "lowest_score", "highest_score"):
        np.testing.assert_array_equal(getattr(one.differences, name), getattr(other.differences, name), name)
    assert one.next_dataset == other.next_dataset
    assert one.rope == other.rope


def test_the_posterior_is_that_of_scores_divided_by_the_user(found):
    """To the last bit: b is the largest absolute difference in both."""
    assert_same(found, own(divided(), rope=1))
    left, right = (as_array(divided(), name) for name in ("bayes", "tree"))
    arrays = hc.HierarchicalComparison.from_arrays(
        left, right, **PAIR, dataset_names=NAMES, folds=10, rope=1, higher_is_better=True
    )
    assert_same(found, arrays.fit("quadrature"))
    difference = right - left
    assert found.differences.delta0_bound == np.abs(difference).max()
    np.testing.assert_allclose(found.differences.mean, difference.mean(axis=1), rtol=1e-13)


@pytest.mark.parametrize(
    "rope",
    [
        pd.Series(ROPES)[::-1],
        {f" {name} ": f"{100 * rope:.10g}%" for name, rope in ROPES.items()},
        "margin",
    ],
    ids=["series", "percentages", "column"],
)
def test_a_series_percentages_and_a_column_say_the_same(found, rope):
    table = in_own_units()
    assert_same(own(table.assign(margin=table["dataset"].map(ROPES)), rope=rope), found)


def test_arrays_take_ropes_by_the_names_of_the_data_sets(found):
    left, right = (as_array(in_own_units(), name) for name in ("bayes", "tree"))
    comparison = hc.HierarchicalComparison.from_arrays(
        left, right, **PAIR, dataset_names=NAMES, folds=10, rope=ROPES, higher_is_better=True
    )
    assert_same(found, comparison.fit("quadrature"))
    np.testing.assert_array_equal(comparison.differences.ropes, list(ROPES.values()))


def test_summaries_take_ropes(found):
    plain = PairedDifferences.from_table(in_own_units(), **PAIR)
    of_means = hc.HierarchicalComparison.from_summaries(
        pd.Series(plain.mean, NAMES), pd.Series(plain.standard_error, NAMES), plain.n, score_range=(0, 9000), rope=ROPES
    )
    np.testing.assert_allclose(of_means.differences.mean, found.differences.mean, rtol=1e-12)
    np.testing.assert_allclose(of_means.differences.standard_error, found.differences.standard_error, rtol=1e-12)
    assert of_means.rope == hc.Rope(-1, 1)
    assert of_means.differences.delta0_bound == 9000 / min(ROPES.values())


def test_equal_ropes_are_one_rope_if_the_bound_is_the_same():
    """A power of two, so division is exact; sigma0 and the spreads are relative to the data, b is not."""
    table, rope = simulated_scores(8, 1, centre=0.02, spread=0.02, seed=3), 2.0**-6
    one = own(table, rope=rope, priors=hc.Priors(delta0_bound=1.0))
    equal = own(table, rope=dict.fromkeys(NAMES, rope), priors=hc.Priors(delta0_bound=1 / rope))
    for name in ("p_left", "p_rope", "p_right", "expected_left", "expected_rope", "expected_right", "p_positive"):
        assert getattr(equal.next_dataset, name) == pytest.approx(getattr(one.next_dataset, name), abs=1e-12), name
    assert equal.expected_difference * rope == pytest.approx(one.expected_difference, rel=1e-9)


def test_the_order_of_the_data_sets_is_nothing_to_the_ropes(found):
    table = in_own_units()
    shuffled = own(table.sample(frac=1, random_state=1), rope=dict(reversed(ROPES.items())))
    assert_same(shuffled, found)
    some = [NAMES[place] for place in (5, 1, 7, 2, 0)]
    part = found.differences.subset(some)
    np.testing.assert_array_equal(part.ropes, [ROPES[name] for name in some])
    of_some = own(table[table["dataset"].isin(some)], rope={name: ROPES[name] for name in some}).differences
    order = np.argsort(some)
    np.testing.assert_array_equal(part.mean[order], of_some.mean)


def test_a_loss_is_turned(found):
    table = in_own_units()
    reversed_sign = own(table.assign(score=1e4 - table["score"]), higher_is_better=False)
    np.testing.assert_allclose(reversed_sign.differences.mean, found.differences.mean, rtol=1e-6)


def test_the_table_of_data_sets_has_both_units(found):
    table, raw = found.datasets(), PairedDifferences.from_table(in_own_units(), **PAIR)
    assert table.attrs["unit"] == "units of each data set's rope"
    np.testing.assert_array_equal(table["rope"], list(ROPES.values()))
    np.testing.assert_allclose(table["metric_mean"], raw.mean, rtol=1e-12)
    np.testing.assert_allclose(table["mean"] * table["rope"], raw.mean, rtol=1e-12)
    scores = found.scores_table().to_frame().set_index(["dataset", "algorithm"])["mean"]
    expected = in_own_units().groupby(["dataset", "algorithm"])["score"].mean()
    np.testing.assert_allclose(scores, expected.loc[scores.index], rtol=1e-12)


def test_a_data_set_without_variation_has_the_spread_of_its_rope():
    """(M12): uniform noise on [-1, 1] has the standard deviation 1/sqrt(3)."""
    table = in_own_units()
    flat = table["dataset"] == "d4"
    table.loc[flat, "score"] = np.where(table.loc[flat, "algorithm"] == "tree", 100.0, 20.0)
    with pytest.warns(hc.DegenerateScoresWarning, match="d4"):
        given = hc.HierarchicalComparison(table, **PAIR, rope=ROPES).differences
    place = given.dataset_names.index("d4")
    assert given.mean[place] == 80 / ROPES["d4"]
    assert given.standard_deviation[place] == pytest.approx(1 / math.sqrt(3), rel=1e-12)


def test_other_units_are_no_reason_for_a_warning_if_each_has_its_rope():
    table = in_own_units()
    with pytest.warns(hc.ScaleWarning, match="a rope for each data set: rope={'d6': 0.005, 'd4': 50, ...}"):
        hc.HierarchicalComparison(table, **PAIR, rope=1, higher_is_better=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        comparison = hc.HierarchicalComparison(table, **PAIR, rope=ROPES)
    assert comparison.rope == hc.Rope(-1, 1)


def test_another_rope_is_a_multiple_of_each(found):
    assert own(in_own_units(), rope={name: 2 * rope for name, rope in ROPES.items()}).next_dataset.p_right == (
        pytest.approx(found.with_rope(2).next_dataset.p_right, abs=1e-4)
    )
    curve = found.rope_curve([0.5, 1, 3])
    assert curve.loc[1, "p_rope"] == pytest.approx(found.next_dataset.p_rope, abs=1e-12)
    assert curve["expected_rope"].is_monotonic_increasing
    with pytest.raises(hc.ArgumentError, match="one number"):
        found.with_rope(ROPES)  # type: ignore[arg-type]


def test_the_summary_says_what_the_unit_is(found):
    text = " ".join(str(found.summary()).split())
    assert "rope [-1, 1], scores in units of each data set's rope (higher is better)" in text
    assert "tree is better than bayes by more than the data set's rope (probability" in text
    assert "in units of each data set's rope, 0.007 (d6) to 40 (d4) in the unit of its scores" in text
    assert "by more than 0.1 times the data set's rope" in " ".join(str(found.with_rope(0.1).summary()).split())
    wide = str(found.with_rope(50).summary())
    assert "difference within [-50, 50] times the data set's rope" in " ".join(wide.split())
    assert found.non_inferiority().verdict == "non-inferior"
    content = found.to_dict()
    assert (content["transform"], content["rope"], content["ropes"]) == ("rope", [-1, 1], ROPES)
    assert content["unit"] == "units of each data set's rope"
    assert {row["dataset"]: row["rope"] for row in content["datasets"]} == ROPES
    assert json.dumps(content, allow_nan=False)


def test_a_saved_result_keeps_the_ropes(found, tmp_path):
    again = hc.load_result(found.save(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(again.differences.ropes, found.differences.ropes)
    assert again.next_dataset == found.next_dataset
    assert str(again.summary()) == str(found.summary())
    pd.testing.assert_frame_equal(again.datasets(), found.datasets())


def test_a_saved_result_with_a_rope_that_is_none_is_refused(found, tmp_path):
    for ropes in (-found.differences.ropes, found.differences.ropes[1:], None):
        wrong = replace(found, differences=replace(found.differences, ropes=ropes))
        with pytest.raises(hc.ResultFileError, match="rope"):
            wrong.save(tmp_path / "wrong.nc")


@pytest.mark.slow
def test_the_report_says_it_and_the_plots_too(found, tmp_path):
    page = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "a region of practical equivalence of its own, with a half-width of 0.007 to 40" in page.replace("\n", " ")
    assert "in units of each data set&#39;s rope" in page or "in units of each data set's rope" in page
    for name in ("Difference", "Rope"):
        assert f">{name}<" in page
    label = found.plot.shrinkage().get_xlabel()
    assert label == "tree minus bayes (units of the rope)"
    plt.close("all")


def test_sensitivity_influence_and_a_plan_work(found):
    assert {variant.name for variant in found.sensitivity(n_jobs=1).variants} > {"as fitted"}
    assert len(found.influence().to_frame()) == len(NAMES)
    planned = found.plan(n_datasets=10, simulations=2, n_jobs=1, progress=False)
    assert planned.rope == hc.Rope(-1, 1)
    assert "in units of each data set's rope" in planned.title


def three() -> pd.DataFrame:
    table = in_own_units()
    copy = table[table["algorithm"] == "bayes"]
    noise = np.random.default_rng(2).normal(0, 1, len(copy)) * copy["dataset"].map(ROPES)
    return pd.concat([table, copy.assign(algorithm="forest", score=copy["score"] + noise)])


@pytest.mark.slow
def test_a_tournament_compares_each_pair_with_the_ropes(found, tmp_path):
    options: Any = {"progress": False, "n_jobs": 1, "checkpoint": tmp_path / "pairs.sqlite"}
    tournament = hc.compare_all(three(), rope=ROPES, **options)
    assert tournament.pair("bayes", "tree").next_dataset == found.next_dataset
    assert tournament.to_dict()["ropes"] == ROPES
    assert "Differences are in units of each data set's rope" in " ".join(str(tournament.summary()).split())
    again = hc.compare_all(three(), rope=ROPES, **options)
    assert again.pair("bayes", "tree").next_dataset == found.next_dataset
    other = hc.compare_all(three(), rope=ROPES | {"d0": 0.5}, **options)  # another fit, not that of the checkpoint
    assert other.pair("bayes", "tree").next_dataset != found.next_dataset
    assert tournament.report(tmp_path / "pairs.html").exists()
    with pytest.warns(hc.HiercompWarning, match="its mean, in units of each data set's rope, over 8 data sets"):
        hc.compare_all(three(), rope=ROPES, baseline="best", progress=False, n_jobs=1)


@pytest.mark.parametrize(
    "test",
    [
        hc.correlated_t_test,
        hc.bayesian_sign_test,
        hc.bayesian_signed_rank_test,
        hc.poisson_binomial_test,
    ],
)
def test_the_closed_form_tests_are_those_of_the_divided_scores(test):
    found, expected = test(in_own_units(), **PAIR, rope=ROPES), test(divided(), **PAIR, rope=1)
    for name in ("p_left", "p_rope", "p_right"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert "in units of each data set's rope" in found.title
    differences = PairedDifferences.from_table(in_own_units(), **PAIR, rope=ROPES)
    again = test(differences, rope=1)
    np.testing.assert_array_equal(again.p_right, expected.p_right)
    with pytest.raises(hc.ArgumentError, match="one number"):
        test(differences, rope=ROPES)
    with pytest.raises(hc.ArgumentError, match="one number"):
        test([[0.1, 0.2, 0.3], [0.2, 0.1, 0.4]], rope=ROPES, **({} if "bayesian" in test.__name__ else {"rho": 0.1}))


def test_all_closed_form_tests_are_those_of_the_divided_scores(found):
    applied, expected = hc.apply_tests(in_own_units(), **PAIR, rope=ROPES), hc.apply_tests(divided(), **PAIR, rope=1)
    pd.testing.assert_frame_equal(applied.to_frame(), expected.to_frame())
    assert applied.rope == hc.Rope(-1, 1)
    assert "in units of each data set's rope" in applied.title
    beside = found.closed_form_tests()
    pd.testing.assert_frame_equal(beside.to_frame(), own(divided(), rope=1).closed_form_tests().to_frame())


@pytest.mark.parametrize(
    ("rope", "words"),
    [
        ({name: ROPES[name] for name in NAMES[1:]}, "no value for 1 data set (first: 'd0')"),
        (ROPES | {"d00": 1}, "'d00', which is not a data set. Did you mean 'd0'?"),
        (ROPES | {"d3": 0}, "data set 'd3' must be above 0, got 0"),
        (ROPES | {"d3": -0.1}, "data set 'd3' must be above 0, got -0.1"),
        (ROPES | {"d3": math.nan}, "data set 'd3' must be a finite number"),
        (ROPES | {"d3": math.inf}, "data set 'd3' must be a finite number"),
        (ROPES | {"d3": "wide"}, "data set 'd3' must be a finite number"),
        (ROPES | {"d3": (-0.1, 0.2)}, "data set 'd3' must be one number, its half-width, got (-0.1, 0.2)"),
        (ROPES | {"d3": hc.Rope(-0.1, 0.1)}, "data set 'd3' must be one number"),
        (ROPES | {"d3 ": 0.1}, "2 values for data set 'd3'"),
        (pd.Series([0.1, 0.1], ["d0", "d0"]), "2 values for data set 'd0'"),
        ({}, "no value for 8 data sets"),
    ],
)
def test_wrong_ropes_are_refused_by_their_place(rope, words):
    with pytest.raises(hc.ArgumentError) as refused:
        hc.HierarchicalComparison(in_own_units(), **PAIR, rope=rope)
    assert words in str(refused.value)
    with pytest.raises(hc.ArgumentError):
        hc.compare_all(in_own_units(), rope=rope, progress=False)


def test_wrong_columns_of_ropes_are_refused_by_their_place():
    table = in_own_units()
    margin = table["dataset"].map(ROPES)
    with pytest.raises(
        hc.ScoreTableError, match=r"'margin' must have one number .*; data set 'd0' has '0.5', '0.01'\."
    ):
        hc.HierarchicalComparison(table.assign(margin=margin.where(table.index > 3, 0.5)), **PAIR, rope="margin")
    with pytest.raises(hc.ScoreTableError, match="data set 'd2' has 'nan'"):
        hc.HierarchicalComparison(table.assign(margin=margin.where(table["dataset"] != "d2")), **PAIR, rope="margin")
    with pytest.raises(hc.ArgumentError, match="'d2' must be above 0"):
        hc.HierarchicalComparison(table.assign(margin=margin.where(table["dataset"] != "d2", 0)), **PAIR, rope="margin")
    with pytest.raises(hc.ScoreTableError, match=r"no column 'margins' for the rope. Did you mean 'margin'\?"):
        hc.HierarchicalComparison(table.assign(margin=margin), **PAIR, rope="margins")
    named: Any = {"columns": {"rope": "margin"}}
    with pytest.raises(hc.ArgumentError, match="column of ropes were both given"):
        hc.HierarchicalComparison(table.assign(margin=margin), **PAIR, rope=0.01, **named)
    assert hc.HierarchicalComparison(table.assign(margin=margin), **PAIR, **named).rope == hc.Rope(-1, 1)


def test_logs_and_ropes_exclude_each_other():
    with pytest.raises(hc.ArgumentError, match="transform='log' and a rope for each data set"):
        hc.HierarchicalComparison(in_own_units(), **PAIR, rope=ROPES, transform="log")
    ones = np.ones((2, 3))
    with pytest.raises(hc.ArgumentError, match="transform='log' and a rope for each data set"):
        PairedDifferences.from_arrays(ones, ones, rope={"1": 1, "2": 1}, folds=3, transform="log")


def test_a_rope_too_small_to_divide_by_is_refused():
    with pytest.raises(hc.ScoreTableError, match="too large"):
        hc.HierarchicalComparison(in_own_units(), **PAIR, rope=ROPES | {"d5": 1e-120})


def test_differences_without_ropes_take_one_for_all(found):
    plain = PairedDifferences.from_table(in_own_units(), **PAIR)
    with pytest.raises(hc.ArgumentError, match="one number"):
        hc.HierarchicalComparison.from_differences(plain, rope=ROPES)  # type: ignore[arg-type]
    again = hc.HierarchicalComparison.from_differences(found.differences)
    assert again.rope == hc.Rope(-1, 1)
    assert hc.HierarchicalComparison.from_differences(found.differences, rope=2).rope == hc.Rope(-2, 2)


def test_a_column_of_a_wide_table_and_of_a_file_is_found(found, tmp_path):
    table = in_own_units()
    wide = table.pivot(index=["dataset", "run", "fold"], columns="algorithm", values="score").reset_index()
    table.assign(margin=table["dataset"].map(ROPES)).to_csv(tmp_path / "scores.csv", index=False)
    assert_same(own(tmp_path / "scores.csv", rope="margin"), found)
    wide = wide.rename_axis(columns=None)
    assert_same(own(wide), found)


def test_groups_and_ropes_go_together():
    table = in_own_units().rename(columns={"fold": "question"})
    table["passage"] = table["question"] % 5
    table["margin"] = table["dataset"].map(ROPES)
    given = hc.HierarchicalComparison(table, **PAIR, rope="margin", groups="passage").differences
    expected = hc.HierarchicalComparison(
        table.assign(score=table["score"] / table["margin"]), **PAIR, rope=1, groups="passage", higher_is_better=True
    ).differences
    np.testing.assert_array_equal(given.sum_of_squares, expected.sum_of_squares)
    assert given.n_scores is not None
