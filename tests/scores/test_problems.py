"""Whether the rope fits the scores, and what the constructor of the comparison refuses or warns about."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.comparison import HierarchicalComparison
from hiercomp.errors import (
    ArgumentError,
    DefaultedRhoWarning,
    DegenerateScoresWarning,
    DroppedScoresWarning,
    FewDatasetsWarning,
    Note,
    ScaleWarning,
    ScoreTableError,
)
from hiercomp.model.priors import Priors
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences, comparison_problems
from hiercomp.scores.problems import notes_or_error


def scores(low=0.5, high=0.9, q=6, n=10, seed=8) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays that reach both ends in every data set."""
    left, right = np.random.default_rng(seed).uniform(low, high, size=(2, q, n))
    left[:, 0], right[:, 0] = low, high
    return left, right


def check_scale(differences: PairedDifferences, rope: Rope) -> list[Note]:
    return notes_or_error(comparison_problems(differences, rope))


def differences(low=0.5, high=0.9, **options) -> PairedDifferences:
    return PairedDifferences.from_arrays(*scores(low, high), rho=0.1, **options)


def table(q=6, folds=5, seed=8) -> pd.DataFrame:
    keys = [(f"d{i}", a, f) for i in range(q) for a in ("nb", "tree") for f in range(folds)]
    frame = pd.DataFrame(keys, columns=["dataset", "algorithm", "fold"])
    return frame.assign(score=np.random.default_rng(seed).uniform(0.5, 0.9, len(frame)))


@pytest.mark.parametrize("rope", [Rope.of(0.01), Rope.of(0.049), Rope(-0.01, 0.05)])
def test_percentages_under_a_rope_for_fractions_are_noted_with_the_rope_that_was_perhaps_meant(rope):
    (note,) = check_scale(differences(20, 95), rope)
    assert note.category is ScaleWarning
    assert "range from 20 to 95 and look like percentages" in note.message
    assert f"the rope is {rope.half_width:g} percentage points. Did you mean {100 * rope.half_width:g}?" in note.text
    assert "divide the scores by 100" in note.remedy


@pytest.mark.parametrize("rope", [Rope.of(0.1), Rope.of(1.0), Rope.of(0.0)])
def test_percentages_under_a_rope_for_percentages_or_of_zero_pass(rope):
    assert check_scale(differences(20, 95), rope) == []


@pytest.mark.parametrize("high", [0.9, 1.0, 1 + 4e-16])
def test_fractions_up_to_one_with_rounding_pass(high):
    assert check_scale(differences(0.5, high), Rope.of(0.01)) == []


def test_a_loss_between_0_and_100_may_have_any_rope():
    assert check_scale(differences(0.2, 3.0, higher_is_better=False), Rope.of(0.01)) == []
    assert check_scale(differences(4.0, 38.0, higher_is_better=False), Rope.of(0.01)) == []


def mixed() -> PairedDifferences:
    left, right = scores()
    left[3:], right[3:] = 100 * left[3:], 100 * right[3:]
    return PairedDifferences.from_arrays(left, right, rho=0.1)


@pytest.mark.parametrize("rope", [0.01, 1.0])
def test_fractions_in_one_data_set_and_percentages_in_another_are_noted(rope):
    (note,) = [note for note in check_scale(mixed(), Rope.of(rope)) if note.key == "mixed_scales"]
    assert note.category is ScaleWarning
    assert "Scores of 3 data sets (first: '1') are at most 1, those of 3 others (first: '4') reach 90: " in note.message
    assert "convert them to one scale" in note.remedy
    with pytest.raises(ArgumentError, match="fractions and percentages look mixed"):
        HierarchicalComparison.from_differences(mixed())


@pytest.mark.parametrize(("rope", "width"), [(Rope.of(0.3), "0.6"), (Rope(-0.1, 0.5), "0.6"), (Rope.of(10), "20")])
def test_a_rope_wider_than_the_range_of_the_scores_is_noted(rope, width):
    (note,) = check_scale(differences(0.5, 0.9), rope)
    assert f"The rope {rope} is wider ({width}) than the range of all scores (0.5 to 0.9, 0.4)" in note.message
    assert "in the unit of the scores" in note.remedy


def test_a_rope_that_holds_every_difference_is_noted():
    left, _ = scores()
    narrow = PairedDifferences.from_arrays(
        left, left + np.random.default_rng(1).uniform(-0.02, 0.02, left.shape), rho=0
    )
    (note,) = check_scale(narrow, Rope.of(0.05))
    assert note.category is ScaleWarning
    assert "Every observed difference lies inside the rope [-0.05, 0.05]" in note.message
    for rope in (Rope.of(0.001), Rope(-0.05, 0.001), Rope(-0.001, 0.05)):
        assert check_scale(narrow, rope) == []


@pytest.mark.parametrize("rope", [0, (-0.02, 0.01)])
def test_a_rope_of_zero_or_an_asymmetric_one_passes(rope):
    assert check_scale(differences(), Rope.of(rope)) == []


@pytest.mark.parametrize(("low", "high"), [(-3.0, -0.5), (-1.0, 1.0), (20.0, 300.0)])
def test_scores_below_0_or_above_100_are_noted_for_their_orientation(low, high):
    (note,) = check_scale(differences(low, high), Rope.of(0.01))
    assert note.category is ScaleWarning
    assert f"range from {low:g} to {high:g} and are treated as higher-is-better" in note.message
    assert "higher_is_better=False" in note.remedy
    other = check_scale(differences(low, high, higher_is_better=False), Rope.of(0.01))
    assert [note.key for note in other] == (["reversed_loss"] if high <= 0 else [])


def test_losses_with_the_sign_reversed_are_noted():
    (note,) = check_scale(differences(-3.0, -0.5, higher_is_better=False), Rope.of(0.01))
    assert note.category is ScaleWarning
    assert "range from -3 to -0.5 and are treated as lower-is-better" in note.message
    assert "higher_is_better=True (--higher-is-better)" in note.remedy
    assert check_scale(differences(-3.0, -0.5, higher_is_better=True), Rope.of(0.01)) == []


def test_a_data_set_that_varies_a_hundred_times_as_much_is_noted_by_name():
    generator = np.random.default_rng(3)
    left = np.full((7, 20), 0.5)
    right = left + generator.normal(0, 0.001, left.shape) * np.array([1, 1, 200, 1, 1, 1, 1])[:, None]
    (note,) = check_scale(PairedDifferences.from_arrays(left, right, rho=0.1), Rope.of(0.01))
    assert note.category is ScaleWarning
    assert "data set '3' vary" in note.message
    right[2] = left[2] + (right[2] - left[2]) / 10  # 20 times as much
    assert check_scale(PairedDifferences.from_arrays(left, right, rho=0.1), Rope.of(0.01)) == []


def test_a_good_table_raises_no_warning_and_keeps_no_note():
    comparison = HierarchicalComparison(table())
    assert comparison.differences.notes == ()
    assert comparison.rope == Rope(-0.01, 0.01)
    assert comparison.priors == Priors()


@pytest.mark.parametrize("rope", [-0.01, (0.02, 0.01), math.nan, math.inf, True, "0.01"])
def test_a_bad_rope_is_refused_by_the_constructor(rope):
    with pytest.raises(ArgumentError, match="rope"):
        HierarchicalComparison(table(), rope=rope)


@pytest.mark.parametrize("priors", [1, None, Priors])
def test_priors_that_are_none_are_refused(priors):
    with pytest.raises(ArgumentError, match=r"priors must be a Priors object such as Priors\.kruschke\(\), or one of"):
        HierarchicalComparison(table(), priors=priors)


def test_a_single_data_set_is_refused_with_the_test_to_use():
    with pytest.raises(ScoreTableError, match=r"Only one data set \('d0'\).*correlated t-test"):
        HierarchicalComparison(table(q=1))


@pytest.mark.parametrize("q", [2, 4])
def test_fewer_than_five_data_sets_are_warned_of_at_the_line_of_the_user(q):
    with pytest.warns(FewDatasetsWarning, match=rf"only {q} data sets.*priors for sigma0 and nu") as caught:
        comparison = HierarchicalComparison(table(q=q))
    assert caught[0].filename == __file__
    assert [note.category for note in comparison.differences.notes] == [FewDatasetsWarning]


def test_dropped_folds_are_warned_of_and_kept():
    frame = table().drop(index=0)
    with pytest.warns(DroppedScoresWarning, match="no score there: 1 fold of 1 data set") as caught:
        comparison = HierarchicalComparison(frame, missing="drop")
    assert caught[0].filename == __file__
    assert comparison.differences.n.sum() == 6 * 5 - 1
    assert len(comparison.differences.notes) == 1


def test_a_data_set_with_one_algorithm_only_is_warned_of_and_left_out():
    frame = table()
    with pytest.warns(DroppedScoresWarning, match="only one algorithm: 1 data set: 'd2'"):
        comparison = HierarchicalComparison(frame[(frame["dataset"] != "d2") | (frame["algorithm"] == "nb")])
    assert "d2" not in comparison.differences.dataset_names


def test_names_that_differ_only_by_case_are_warned_of():
    with pytest.warns(ScaleWarning, match="only by case"):
        HierarchicalComparison(table().replace({"dataset": {"d0": "D1"}}))


def test_arrays_of_unknown_folds_are_warned_of_at_the_line_of_the_user():
    with pytest.warns(DefaultedRhoWarning, match="Pass folds or rho") as caught:
        HierarchicalComparison.from_arrays(*scores())
    assert caught[0].filename == __file__


def test_constant_data_sets_are_warned_of_and_get_the_spread_of_the_rope():
    left, right = scores()
    right[1] = left[1] + 0.05
    with pytest.warns(DegenerateScoresWarning, match=r"1 of 6 data sets \('2'\)"):
        comparison = HierarchicalComparison.from_arrays(left, right, rho=0.1, rope=0.02)
    assert comparison.differences.standard_deviation[1] == pytest.approx(0.02 / math.sqrt(3), rel=1e-12)
    assert comparison.differences.mean[1] == pytest.approx(0.05, abs=1e-15)


def test_constant_data_sets_under_a_rope_of_zero_are_refused():
    left, right = scores()
    right[1] = left[1] + 0.05
    with pytest.raises(ScoreTableError, match=r"\('2'\), and a rope of zero.*Pass a rope above 0"):
        HierarchicalComparison.from_arrays(left, right, rho=0.1, rope=0)


def test_data_sets_that_are_all_constant_are_refused():
    left, _ = scores()
    with pytest.raises(ScoreTableError, match=r"constant across folds in every data set.*signed_rank_test"):
        HierarchicalComparison.from_arrays(left, left + np.linspace(0, 0.1, 6)[:, None], rho=0.1)


def test_identical_algorithms_pass_unless_the_rope_is_zero():
    left, _ = scores()
    assert HierarchicalComparison.from_arrays(left, left.copy(), rho=0.1).differences.identical
    with pytest.raises(ScoreTableError, match=r"'left' and 'right' are identical everywhere.*Pass a rope above 0"):
        HierarchicalComparison.from_arrays(left, left.copy(), rho=0.1, rope=0)


def test_percentages_and_the_default_rope_are_refused_by_the_constructor():
    with pytest.raises(
        ArgumentError, match=r"look like percentages.*Pass rope=1 \(--rope 1\) for one percentage point"
    ):
        HierarchicalComparison(table().assign(score=lambda frame: 100 * frame["score"]))


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1e120, r"a score of .*e\+119, and scores beyond 1e\+100 are too large"), (1e-120, "below 1e-100 are too small")],
)
def test_scores_whose_squares_overflow_or_vanish_are_refused_at_every_entry(factor, words):
    frame = table().assign(score=lambda given: given["score"] * factor)
    arrays = [array * factor for array in scores()]
    with pytest.raises(ScoreTableError, match=words):
        HierarchicalComparison(frame, rope=0.01 * factor)
    with pytest.raises(ScoreTableError, match=words):
        HierarchicalComparison.from_arrays(*arrays, rope=0.01 * factor, rho=0.1)
    checked = hc.check_scores(frame)
    assert any(re.search(words, problem.message) for problem in checked.errors)
    assert not any("inf" in problem.message or "nan" in problem.message for problem in checked.errors)


@pytest.mark.parametrize("code", [1e15, 1e17, 1e30])
def test_a_code_for_a_missing_score_is_refused_where_doubles_do_not_resolve_the_other_scores(code):
    left, right = np.random.default_rng(3).uniform(0.5, 0.9, size=(2, 6, 10))
    right[4, 2] = code
    with pytest.raises(ScoreTableError, match="too far apart to compute with") as caught:
        hc.HierarchicalComparison.from_arrays(left, right, rho=0.1, rope=0.01)
    assert f"Data set '5' has a mean difference of {code / 10:.3g}" in str(caught.value)
    assert "Correct it" in str(caught.value)


def test_a_code_that_doubles_do_resolve_makes_one_outlying_data_set():
    left, right = np.random.default_rng(3).uniform(0.5, 0.9, size=(2, 6, 10))
    expected = []
    for code in (1e6, 1e9):
        right[4, 2] = code
        with pytest.warns(ScaleWarning):
            comparison = hc.HierarchicalComparison.from_arrays(left, right, rho=0.1, rope=0.01)
        found = comparison.fit("quadrature", progress=False).next_dataset
        expected.append([found.expected_left, found.expected_rope, found.expected_right])
    # The outlier's place hardly matters any more, and each stated error is at most 0.0002
    assert expected[0] == pytest.approx(expected[1], abs=4e-4)
