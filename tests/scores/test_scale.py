"""Which rope fits which scores: the default, what a given rope is warned of, units that differ, and logs of ratios."""

from __future__ import annotations

import math
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import ArgumentError, HiercompWarning, ScaleWarning, ScoreTableError
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.scale import Scale

REAL_FILES = Path(os.environ.get("HIERCOMP_REAL_FILES", "absent"))
real = pytest.mark.skipif(not REAL_FILES.is_dir(), reason="the files of other tools are not here")


def table(units, *, ratio: float = 1.1, column: str = "score", folds: int = 10, seed: int = 2) -> pd.DataFrame:
    """Scores about ``units`` of each data set, with 10% of luck; those of "big" are ``ratio`` times those of "small"."""
    generator = np.random.default_rng(seed)
    rows = [
        (f"d{place}", algorithm, fold, unit * factor * generator.uniform(0.95, 1.05))
        for place, unit in enumerate(units)
        for algorithm, factor in (("small", 1.0), ("big", ratio))
        for fold in range(folds)
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", column])


def keys(frame: pd.DataFrame, **options) -> set[str]:
    """The kinds of note on a comparison, which is not refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        comparison = hc.HierarchicalComparison(frame, "small", "big", **options)
    return {note.key for note in comparison.differences.notes}


HUMAN_NORMALISED = [0.05, 0.1, 0.3, 0.5, 0.8, 1.2, 1.5, 2, 3, 4, 6, 9, 13, 22]
SPEED_UPS = [0.4, 0.8, 0.95, 1.0, 1.02, 1.1, 1.4, 2.1]
LOG_LOSSES = [0.36, 0.5, 0.7, 0.9, 1.1, 1.6, 2.0]
RMSE = [0.012, 0.3, 1.5, 40, 900, 48_000]
PERCENTAGES = [48, 60, 71, 75, 80, 82]


@pytest.mark.parametrize(
    ("units", "options", "expected"),
    [
        (HUMAN_NORMALISED, {"rope": 0.02}, {"different_units"}),  # 0.05 to 22 is 440-fold
        (HUMAN_NORMALISED, {"rope": 0.05, "higher_is_better": True}, {"different_units"}),
        (HUMAN_NORMALISED[3:], {"rope": 0.02}, set()),  # 44-fold
        (SPEED_UPS, {"rope": 0.01}, set()),
        (LOG_LOSSES, {"rope": 0.01, "higher_is_better": False}, set()),
        (LOG_LOSSES, {"rope": 0.01}, set()),
        ([3, 12, 19, 30, 45, 58], {"rope": 0.01, "higher_is_better": False}, set()),  # perplexities
        (RMSE, {"rope": 0.01, "higher_is_better": False}, {"different_units"}),
        ([0.2, 0.4, 0.6, 0.7, 0.8], {}, set()),
        (PERCENTAGES, {"rope": 1.0}, set()),
        (PERCENTAGES, {"rope": 0.01}, {"percentages"}),
        (PERCENTAGES, {"rope": 0.01, "higher_is_better": False}, set()),
    ],
)
def test_what_is_right_is_compared_and_only_what_looks_wrong_is_noted(units, options, expected):
    assert keys(table(units), **options) == expected


def test_scores_about_zero_are_compared():
    generator = np.random.default_rng(5)
    r_squared = [
        np.clip(generator.normal(centre, 0.2, (2, 10)), -0.9, 0.99) for centre in (0.1, 0.4, 0.5, 0.7, 0.8, 0.9)
    ]
    left, right = ([pair[side] for pair in r_squared] for side in (0, 1))
    assert PairedDifferences.from_arrays(left, right, rho=0.1).scale.fractions is False
    with pytest.warns(ScaleWarning, match="treated as higher-is-better"):
        hc.HierarchicalComparison.from_arrays(left, right, rho=0.1, rope=0.01)
    told = hc.HierarchicalComparison.from_arrays(left, right, rho=0.1, rope=0.01, higher_is_better=True)
    assert told.differences.notes == ()


@pytest.mark.parametrize(
    ("units", "options", "words"),
    [
        (PERCENTAGES, {}, ("look like percentages", "rope=1 (--rope 1)", "divide the scores by 100")),
        # The typical score, half way between 1.0 and 1.02 and a little more for "big", is about 1.06
        (SPEED_UPS, {}, ("range from 0.38", "rope=0.01 (--rope 0.01)", "a hundredth of a typical score")),
        ([30, 40, 44, 50, 60], {"higher_is_better": False}, ("rope=0.5 (--rope 0.5)",)),  # nearest to 0.46
        ([500, 700, 900, 1100], {"higher_is_better": False}, ("rope=10 (--rope 10)",)),
        (RMSE, {"higher_is_better": False}, ("transform='log', rope=0.01 (--transform log --rope 0.01)", "about 1%")),
        (RMSE, {"transform": "log"}, ("Logs of scores have no default rope", "rope=0.01 (--rope 0.01)")),
        ([0.5, 0.6, 0.7, 80, 70], {}, ("fractions and percentages look mixed", "Convert them to one scale")),
    ],
)
def test_the_default_rope_is_refused_outside_0_to_1_with_one_that_fits(units, options, words):
    frame = table(units)
    for compare in (
        lambda: hc.HierarchicalComparison(frame, "small", "big", **options),
        lambda: hc.compare(frame, "small", "big", **options),
        lambda: hc.compare_all(frame, progress=False, **options),
    ):
        with pytest.raises(ArgumentError) as caught:
            compare()
        assert caught.value.key == "default_rope"
        for word in words:
            assert word in str(caught.value)


def test_the_default_rope_is_one_rule_for_every_door():
    frame = table([0.2, 0.4, 0.5, 0.6, 0.8])
    assert hc.HierarchicalComparison(frame, "small", "big").rope == Rope(-0.01, 0.01)
    assert hc.compare_all(frame, progress=False).rope == Rope(-0.01, 0.01)
    assert hc.correlated_t_test(frame).rope == hc.bayesian_sign_test(frame).rope == Rope(-0.01, 0.01)
    for test in (hc.correlated_t_test, hc.bayesian_sign_test, hc.bayesian_signed_rank_test):
        with pytest.raises(ArgumentError, match="default rope"):
            test(table(PERCENTAGES))
        with pytest.raises(ArgumentError, match=r"largest difference is 3, .*default rope"):
            test([1.0, 3.0, 2.0], **({"rho": 0.1} if test is hc.correlated_t_test else {}))
        assert test(table(PERCENTAGES), rope=1.0).rope == Rope(-1.0, 1.0)
    with pytest.raises(ArgumentError, match="default rope"):
        hc.plan(delta0=2.0, sigma0=1.0, standard_deviation=3.0, priors=hc.Priors(delta0_bound=100.0))


def test_a_rope_wider_than_all_scores_is_an_answer_with_a_warning():
    with pytest.warns(ScaleWarning, match=r"is wider \(2\) than the range of all scores .* everything is equivalent"):
        hc.HierarchicalComparison(table([0.5, 0.6, 0.7, 0.6, 0.5]), "small", "big", rope=1.0)


@pytest.mark.parametrize("rope", [0.2, (-5.0, 0.01), (-0.01, 5.0)])
def test_a_wide_rope_that_leaves_differences_outside_makes_nothing_equivalent(rope):
    with pytest.warns(ScaleWarning, match=r"is wider \(.*\) than the range of all scores \(.*, 0\.3\d*\)\. Is it"):
        hc.HierarchicalComparison(table([0.5, 0.6, 0.7, 0.6, 0.5]), "small", "big", rope=rope)


@pytest.mark.parametrize(("rope", "meant"), [("5%", "5"), (0.02, "2"), ("0.5%", "0.5")])
def test_a_rope_for_fractions_is_doubted_for_percentages(rope, meant):
    with pytest.warns(ScaleWarning, match=f"look like percentages, and the rope is .* Did you mean {meant}\\?"):
        hc.HierarchicalComparison(table(PERCENTAGES), "small", "big", rope=rope)


@pytest.mark.parametrize(
    ("rope", "hint"), [("0,5 %", "0.005"), ("0,01", "0.01"), ("0.02", "0.02"), ("2 percent", None)]
)
def test_a_rope_that_is_text_gets_the_number_that_is_meant(rope, hint):
    with pytest.raises(ArgumentError, match="rope must be a half-width") as caught:
        Rope.of(rope)
    assert (f"Did you mean {hint}?" in str(caught.value)) is (hint is not None)


def scale_of(units) -> Scale:
    units = np.array(units, dtype=float)
    names = tuple(f"d{place}" for place in range(len(units)))
    return Scale(names, 0.9 * units, 1.1 * units, units, higher_is_better=True)


@pytest.mark.parametrize(
    ("units", "percentages", "mixed"),
    [
        ([0.5, 0.6, 0.9], False, False),
        ([60, 70, 88], True, False),
        ([0.5, 0.6, 88], False, True),
        ([8, 30, 88], True, False),
        ([0.5, 5, 88], False, False),  # nothing mixes fractions with percentages of 5
        ([0.1, 0.3, 1.5, 1.8, 22], False, False),  # returns: the largest is that of percentages, the median is not
        ([60, 70, 120], False, False),
        ([3, 5, 17], False, False),
    ],
)
def test_percentages_are_told_by_the_largest_score_and_the_medians(units, percentages, mixed):
    assert (scale_of(units).percentages, scale_of(units).mixed) == (percentages, mixed)


def test_the_warning_of_different_units_says_what_the_rope_means_on_both_ends():
    found = scale_of([0.02, 1, 5, 50_000]).problems(Rope.of(0.01))
    (problem,) = [problem for problem in found if problem.key == "different_units"]
    # 50,000 / 0.02; 0.01 of 0.02 is a half; 0.01 of 50,000 is 2e-7
    for words in ("2,500,000-fold", "0.02 ('d0')", "50,000 ('d3')", "is 50% of a typical", "2e-05% of one", "'log'"):
        assert words in str(problem)
    assert (problem.severity, problem.places) == ("warning", ("d0", "d3"))


def test_ratios_are_not_recommended_for_scores_of_both_signs():
    names = ("d0", "d1")
    scale = Scale(
        names,
        np.array([-1.0, -500]),
        np.array([1.0, 800]),
        np.array([0.1, 300]),
        higher_is_better=True,
        direction_known=True,
    )
    (problem,) = scale.problems(Rope.of(0.1))
    assert problem.key == "different_units"
    assert "log" not in problem.remedy


def test_medians_are_those_of_numpy():
    generator = np.random.default_rng(7)
    left = [generator.normal(5, 3, n) for n in (3, 8, 11)]
    right = [row + generator.normal(0, 1, len(row)) for row in left]
    found = PairedDifferences.from_arrays(left, right, rho=0.1).median_score
    np.testing.assert_allclose(found, [np.median([*a, *b]) for a, b in zip(left, right, strict=True)], rtol=1e-14)
    assert PairedDifferences.from_arrays([[0.1, 0.2]], [[0.3, 0.4]], rho=0.1).median_score is None


def test_logs_are_the_comparison_of_the_logarithms():
    frame = table(RMSE, column="rmse")
    by_hand = frame.assign(rmse=np.log(frame["rmse"]))
    found = PairedDifferences.from_table(frame, "small", "big", higher_is_better=False, transform="log")
    hand = PairedDifferences.from_table(by_hand, "small", "big", higher_is_better=False)
    for name in ("mean", "sum_of_squares", "n", "rho", "lowest_score", "highest_score"):
        np.testing.assert_array_equal(getattr(found, name), getattr(hand, name))
    # big is 10% larger, which is worse: log 0.909 on every data set, up to its luck
    np.testing.assert_allclose(found.mean, -math.log(1.1), atol=0.04)
    rows = frame.pivot(index=["dataset", "fold"], columns="algorithm", values="rmse")
    arrays = [[rows.loc[f"d{place}", side].to_numpy() for place in range(len(RMSE))] for side in ("small", "big")]
    same = PairedDifferences.from_arrays(*arrays, folds=10, higher_is_better=False, transform="log")
    np.testing.assert_allclose(same.mean, found.mean, rtol=1e-13)
    assert found.transform == same.transform == "log"
    assert found.delta0_bound == found.largest_difference


@pytest.mark.slow
def test_logs_of_scores_in_other_units_are_the_same_comparison():
    """Multiplying the scores of a data set changes no ratio, so only rounding may change; without logs it decides."""
    frame = table([1.0] * 8, ratio=1.04, column="rmse")
    other = frame.assign(rmse=frame["rmse"] * frame["dataset"].map(lambda name: 10.0 ** (int(name[1:]) - 3)))
    options = {"left": "small", "right": "big", "higher_is_better": False, "engine": "quadrature", "progress": False}
    one, two = (hc.compare(rows, rope=0.01, transform="log", **options) for rows in (frame, other))
    assert one.next_dataset.p_left == pytest.approx(two.next_dataset.p_left, abs=1e-6)
    assert one.decision().region == two.decision().region == "left"
    with pytest.warns(ScaleWarning, match="10,000,000-fold|fold in size"):
        plain = hc.compare(other, rope=0.01, **options)
    assert plain.decision().region != "left"


def test_the_summary_of_logs_speaks_of_ratios():
    frame = table(RMSE, column="rmse")
    result = hc.compare(
        frame, "small", "big", rope=0.01, transform="log", higher_is_better=False, engine="quadrature", progress=False
    )
    summary = result.summary()
    assert "log of rmse (lower is better)" in summary.title
    # exp(0.01) - 1 is 1.005%
    assert "small is better than big by a relative difference of more than 1.01% (probability" in summary.conclusion
    assert "logs of the ratio of the scores, small to big" in str(summary)
    ratio = math.exp(result.expected_difference)
    assert f"Average ratio: {ratio:.4g}" in str(summary)
    assert ratio == pytest.approx(1 / 1.1, abs=0.02)
    assert summary.to_dict()["transform"] == "log"
    assert result.datasets().attrs["unit"] == result.population().attrs["unit"] == "log of rmse"
    wide = result.with_rope(0.5).summary().conclusion
    assert "practically equivalent (ratio within [0.6065, 1.649], probability " in wide  # exp(-0.5), exp(0.5)


def test_a_tournament_of_logs_says_so():
    found = hc.compare_all(table(RMSE), rope=0.01, transform="log", higher_is_better=False, progress=False)
    assert (found.transform, found.measure, found.higher_is_better) == ("log", None, False)
    assert found.order() == ("small", "big")
    assert found.summary().to_dict()["transform"] == "log"
    assert "logs of the ratio" in str(found.summary())
    assert found.pair("small", "big").differences.transform == "log"


def test_logs_are_kept_in_a_file(tmp_path):
    result = hc.compare(
        table(RMSE, column="rmse"), "small", "big", rope=0.01, transform="log", higher_is_better=False,
        engine="quadrature", progress=False,
    )  # fmt: skip
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    assert again.summary().to_dict() == result.summary().to_dict()
    assert again.differences.median_score.tolist() == result.differences.median_score.tolist()


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_scores_without_a_log_are_refused_by_place(value):
    frame = table(RMSE)
    frame.loc[25, "score"] = value
    with pytest.raises(
        ScoreTableError, match=rf"1 of 120 are not \(first: dataset 'd1', algorithm 'small', fold 5: {value}\)"
    ):
        hc.HierarchicalComparison(frame, "small", "big", rope=0.01, transform="log")
    with pytest.raises(ScoreTableError, match=r"data set '2', -1"):
        PairedDifferences.from_arrays([[1, 2], [3, -1]], [[1, 2], [3, 4]], rho=0.1, transform="log")


@pytest.mark.parametrize("transform", ["logs", "ratio", True, 0])
def test_another_transform_is_refused(transform):
    for compare in (hc.HierarchicalComparison, hc.compare_all):
        with pytest.raises(ArgumentError, match="transform must be one of 'log'"):
            compare(table(RMSE), rope=0.01, transform=transform)


def test_constant_ratios_count_as_constant():
    left = [np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 1.0001, 1.0002, 1.0003]), np.array([5.0, 6.0, 7.0, 8.0])]
    right = [3 * left[0], 1.7 * left[1], left[2] * np.array([1.1, 1.2, 1.1, 1.3])]
    found = PairedDifferences.from_arrays(left, right, rho=0.1, transform="log")
    assert found.constant.tolist() == [True, True, False]


@real
def test_the_results_of_amlb_are_compared_as_published_and_normalised():
    frame = pd.read_csv(REAL_FILES / "amlb/amlb_results_small.csv")
    frame = frame[["task", "framework", "fold", "auc"]].rename(columns={"task": "dataset", "framework": "algorithm"})
    frame = frame.dropna(subset="auc")
    pair = {"left": "H2OAutoML", "right": "TPOT"}
    plain = hc.HierarchicalComparison(frame, **pair, missing="drop")
    assert (plain.rope, plain.differences.measure) == (Rope(-0.01, 0.01), "auc")
    groups = frame[frame["algorithm"].isin(pair.values())].groupby("dataset")["auc"]
    normalised = frame.assign(
        auc=(frame["auc"] - groups.transform("min")) / (groups.transform("median") - groups.transform("min"))
    )
    normalised = normalised.rename(columns={"auc": "norm_score"}).dropna(subset="norm_score")
    with pytest.raises(ArgumentError, match="default rope of 0"):
        hc.HierarchicalComparison(normalised, **pair)
    comparison = hc.HierarchicalComparison(normalised, **pair, rope=0.02)
    assert comparison.differences.notes == ()
    assert comparison.differences.highest_score.max() > 1.2
