"""The sufficient statistics of paired differences: from tables and from arrays, rho, and constant differences."""

from __future__ import annotations

import copy
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiercomp.comparison import HierarchicalComparison
from hiercomp.errors import ArgumentError, DefaultedRhoWarning, DegenerateScoresWarning, ScoreTableError
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.runs import RunSums


def table(shapes=((2, 5), (1, 4), (3, 3)), seed: int = 3, algorithms=("nb", "tree")) -> pd.DataFrame:
    """One data set for each pair of runs and folds, with random scores."""
    generator = np.random.default_rng(seed)
    keys = [
        (f"d{i}", algorithm, run, fold)
        for i, (runs, folds) in enumerate(shapes)
        for algorithm in algorithms
        for run in range(runs)
        for fold in range(folds)
    ]
    frame = pd.DataFrame(keys, columns=["dataset", "algorithm", "run", "fold"])
    return frame.assign(score=generator.uniform(0.5, 0.9, len(keys)))


def arrays(frame: pd.DataFrame) -> list[list[np.ndarray]]:
    """Scores of nb and of tree, one array for each data set, sorted by run and fold."""
    ordered = frame.sort_values(["dataset", "run", "fold"])
    return [
        [rows["score"].to_numpy() for _, rows in ordered[ordered["algorithm"] == name].groupby("dataset")]
        for name in ("nb", "tree")
    ]


def assert_same(one: PairedDifferences, other: PairedDifferences, *, but: tuple[str, ...] = ()) -> None:
    """Every field but the scores themselves is equal to the last bit."""
    for field in fields(PairedDifferences):
        if field.name not in (*but, "scores"):
            a, b = getattr(one, field.name), getattr(other, field.name)
            if isinstance(a, RunSums):
                assert a.to_dict() == b.to_dict()
            elif isinstance(a, np.ndarray):
                assert (a.dtype, a.tobytes()) == (b.dtype, b.tobytes()), field.name
            else:
                assert a == b, field.name


def test_two_small_data_sets_by_hand():
    # iris: differences .1 .2 .3, mean .2, squares .01 + 0 + .01; wine: 0 0 -.3 -.1, mean -.1, squares .01 .01 .04 0
    scores = {
        ("iris", "nb"): [0.5, 0.6, 0.7],
        ("iris", "tree"): [0.6, 0.8, 1.0],
        ("wine", "nb"): [0.9, 0.8, 0.7, 0.6],
        ("wine", "tree"): [0.9, 0.8, 0.4, 0.5],
    }
    rows = [(*key, fold, score) for key, values in scores.items() for fold, score in enumerate(values)]
    differences = PairedDifferences.from_table(pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"]))
    assert (differences.left, differences.right) == ("nb", "tree")
    assert differences.dataset_names == ("iris", "wine")
    assert differences.n.tolist() == [3, 4]
    assert differences.mean == pytest.approx([0.2, -0.1], abs=1e-15)
    assert differences.sum_of_squares == pytest.approx([0.02, 0.06], abs=1e-15)
    assert differences.standard_deviation == pytest.approx([0.1, np.sqrt(0.02)], rel=1e-12)
    assert differences.rho == pytest.approx([1 / 3, 1 / 4], rel=1e-15)
    # Nadeau & Bengio: 1/n + rho/(1 - rho), and rho/(1 - rho) = 1/(k - 1)
    assert differences.standard_error == pytest.approx([0.1 * np.sqrt(1 / 3 + 1 / 2), np.sqrt(0.02 * (1 / 4 + 1 / 3))])
    assert differences.lowest_score.tolist() == [0.5, 0.4]
    assert differences.highest_score.tolist() == [1.0, 0.9]
    assert differences.largest_difference == pytest.approx(0.3, abs=1e-15)
    assert differences.constant.tolist() == [False, False]
    assert differences.notes == ()


def test_statistics_agree_with_a_pandas_pivot():
    frame = table()
    wide = frame.pivot(index=["dataset", "run", "fold"], columns="algorithm", values="score")
    expected = (wide["tree"] - wide["nb"]).groupby("dataset").agg(["mean", "var", "count"])
    got = PairedDifferences.from_table(frame).to_frame()
    assert got.index.tolist() == expected.index.tolist()
    np.testing.assert_allclose(got["mean"], expected["mean"], rtol=1e-12)
    np.testing.assert_allclose(got["sum_of_squares"], expected["var"] * (expected["count"] - 1), rtol=1e-12)
    np.testing.assert_allclose(got["standard_deviation"] ** 2, expected["var"], rtol=1e-12)
    assert got["n"].tolist() == expected["count"].tolist() == [10, 4, 9]


def test_rho_is_one_over_the_folds_of_each_data_set_whatever_the_runs():
    assert PairedDifferences.from_table(table()).rho.tolist() == [1 / 5, 1 / 4, 1 / 3]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_changes_no_bit(seed):
    shuffled = table().sample(frac=1, random_state=seed)
    assert_same(
        PairedDifferences.from_table(shuffled, "nb", "tree"), PairedDifferences.from_table(table(), "nb", "tree")
    )


def test_a_polars_frame_gives_the_same_bits_as_a_pandas_frame():
    assert_same(PairedDifferences.from_table(pl.from_pandas(table())), PairedDifferences.from_table(table()))


def test_other_kinds_of_columns_change_no_bit():
    frame = table().astype({"dataset": "category", "algorithm": "string[pyarrow]", "score": "Float64", "fold": "Int64"})
    assert_same(PairedDifferences.from_table(frame), PairedDifferences.from_table(table()))


def test_numbers_written_as_text_change_no_bit():
    frame = table()
    assert_same(
        PairedDifferences.from_table(frame.assign(score=frame["score"].map(repr))), PairedDifferences.from_table(frame)
    )


def test_nothing_is_written_to_the_frame_given():
    frame = table().set_index(["dataset", "algorithm"])
    before = copy.deepcopy(frame)
    PairedDifferences.from_table(frame, higher_is_better=False)
    pd.testing.assert_frame_equal(frame, before)


def test_the_names_001_and_1_are_two_data_sets():
    frame = table(((1, 3), (1, 3))).replace({"dataset": {"d0": "001", "d1": "1"}})
    assert PairedDifferences.from_table(frame).dataset_names == ("001", "1")


def test_a_lower_is_better_metric_turns_the_sign_of_the_mean_only():
    gain, loss = (PairedDifferences.from_table(table(), higher_is_better=better) for better in (True, False))
    assert loss.mean.tolist() == (-gain.mean).tolist()
    assert (gain.higher_is_better, loss.higher_is_better) == (True, False)
    assert_same(gain, loss, but=("mean", "higher_is_better"))


def test_percentages_give_the_statistics_in_percentage_points():
    fraction = PairedDifferences.from_table(table())
    percent = PairedDifferences.from_table(table().assign(score=lambda frame: 100 * frame["score"]))
    np.testing.assert_allclose(percent.mean, 100 * fraction.mean, rtol=1e-12)
    np.testing.assert_allclose(percent.sum_of_squares, 1e4 * fraction.sum_of_squares, rtol=1e-12)


@pytest.mark.parametrize("missing", ["DROP", None, True])
def test_an_unknown_way_with_missing_scores_is_refused(missing):
    with pytest.raises(ArgumentError, match=rf"missing must be 'error' or 'drop', got {missing!r}"):
        PairedDifferences.from_table(table(), missing=missing)


def test_dropped_folds_leave_n_and_rho_as_they_should_be():
    frame = table()
    lacking = (frame["dataset"] == "d0") & (frame["algorithm"] == "nb") & (frame["fold"] == 4)
    kept = PairedDifferences.from_table(frame[~lacking], "nb", "tree", missing="drop")
    assert kept.n.tolist() == [8, 4, 9]
    assert kept.rho.tolist() == [1 / 5, 1 / 4, 1 / 3]  # still 5-fold cross-validation
    assert kept.notes[0].message.startswith("Dropped because one algorithm has no score there: 2 folds of 1 data set (")


@pytest.mark.parametrize("n", [1, 2])
def test_a_data_set_with_fewer_than_three_paired_scores_is_refused_by_name(n):
    frame = table(((1, 5), (1, n), (1, 5)))
    with pytest.raises(ScoreTableError, match=rf"1 data set has fewer than 3 paired scores: 'd1' \({n}\)\. Add"):
        HierarchicalComparison(frame, rho=0.1)
    assert PairedDifferences.from_table(frame, rho=0.1).n.tolist() == [5, n, 5]  # closed-form tests can use it


@pytest.mark.parametrize("columns", [["run", "fold"], ["run"], ["fold"], []])
def test_one_score_for_each_data_set_is_refused_with_the_test_to_use(columns):
    frame = table(((1, 1),) * 4).drop(columns=columns)
    with pytest.raises(ScoreTableError, match=r"no fold-level scores.*hc\.bayesian_signed_rank_test"):
        HierarchicalComparison(frame)
    kept = PairedDifferences.from_table(frame)
    assert kept.n.tolist() == [1] * 4
    assert kept.rho.tolist() == [0] * 4
    assert np.isnan(kept.standard_deviation).all()
    assert kept.notes == ()


@pytest.mark.parametrize("width", [1, 2])
def test_arrays_with_few_folds_are_kept_but_not_compared(width):
    with pytest.raises(ScoreTableError, match=r"no fold-level scores|fewer than 3 paired scores: '1' \(2\)"):
        HierarchicalComparison.from_arrays(GOOD[:, :width], GOOD[:, 1 : width + 1], rho=0.1)


@pytest.mark.parametrize("rho", [0, 0.0, 0.1, 0.999, np.float64(0.25)])
def test_one_rho_holds_for_every_data_set(rho):
    assert PairedDifferences.from_table(table(), rho=rho).rho.tolist() == [rho] * 3


def test_a_rho_for_each_data_set_is_taken_by_name():
    rho = {"d2": 0.3, "d0": 0, "d1": 0.2}
    assert PairedDifferences.from_table(table(), rho=rho).rho.tolist() == [0, 0.2, 0.3]


def test_a_rho_may_be_given_for_a_data_set_that_was_left_out():
    frame = table()
    frame = frame[~((frame["dataset"] == "d1") & (frame["algorithm"] == "nb"))]
    found = PairedDifferences.from_table(frame, "nb", "tree", rho={"d0": 0.1, "d1": 0.2, "d2": 0.3})
    assert found.rho.tolist() == [0.1, 0.3]


def test_data_sets_that_are_numbers_may_be_numbers_in_rho_too():
    frame = table().assign(dataset=lambda frame: frame["dataset"].str[1:].astype(int))
    assert PairedDifferences.from_table(frame, rho={0: 0.1, 1: 0.2, 2: 0.3}).rho.tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("rho", [1, 1.5, -0.01, -1])
def test_a_rho_outside_zero_and_one_is_refused_with_what_it_is(rho):
    with pytest.raises(
        ArgumentError, match=rf"rho must be at least 0 and below 1, got {rho}\. .*1/k .*hold-out, 0 for"
    ):
        PairedDifferences.from_table(table(), rho=rho)


@pytest.mark.parametrize("rho", [np.nan, np.inf, "0.1", True, (0.1, 0.2, 0.3), np.array([0.1, 0.2])])
def test_a_rho_that_is_no_finite_number_is_refused(rho):
    with pytest.raises(
        ArgumentError, match=r"rho must be a (finite number|number, a mapping, a Correlation or 'runs'), got"
    ):
        PairedDifferences.from_table(table(), rho=rho)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"d1": 1.0}, r"rho of data set 'd1' must be at least 0 and below 1, got 1\.0"),
        ({"d1": np.nan}, r"rho of data set 'd1' must be a finite number, got nan"),
        ({"wine": 0.1}, r"rho names 'wine', which is not a data set"),
        ({"d00": 0.1}, r"rho names 'd00', which is not a data set\. Did you mean 'd0'"),
    ],
)
def test_a_wrong_rho_of_one_data_set_is_refused_by_name(changed, words):
    with pytest.raises(ArgumentError, match=words):
        PairedDifferences.from_table(table(), rho={"d0": 0.1, "d1": 0.1, "d2": 0.1} | changed)


def test_a_mapping_that_lacks_data_sets_is_refused_with_the_first():
    with pytest.raises(ArgumentError, match=r"rho has no value for 2 data sets \(first: 'd1'\)"):
        PairedDifferences.from_table(table(), rho={"d0": 0.1})


@pytest.mark.parametrize("columns", [["fold"], []])
def test_hold_out_without_rho_is_refused_and_asks_for_the_share_of_test_cases(columns):
    frame = table(((6, 1), (6, 1))).drop(columns=columns)
    with pytest.raises(
        ScoreTableError, match=r"folds is unknown for 2 of 2 data sets \(first: 'd0'\).*share of test cases"
    ):
        PairedDifferences.from_table(frame)
    assert PairedDifferences.from_table(frame, rho=1 / 3).rho.tolist() == [1 / 3, 1 / 3]


def test_many_folds_without_a_run_column_are_noted_unless_rho_is_given():
    frame = table(((1, 30), (1, 10))).drop(columns="run")
    (note,) = PairedDifferences.from_table(frame).notes
    assert note.category is DefaultedRhoWarning
    assert "Data set 'd0' has 30 folds and there is no run column: rho defaults to 1/30" in note.message
    assert PairedDifferences.from_table(frame, rho=0.1).notes == ()
    assert PairedDifferences.from_table(table(((1, 30), (1, 10)))).notes == ()


def test_arrays_give_the_same_bits_as_the_table():
    left, right = arrays(table())
    assert_same(
        PairedDifferences.from_arrays(
            left,
            right,
            left="nb",
            right="tree",
            dataset_names=["d0", "d1", "d2"],
            rho={"d0": 1 / 5, "d1": 1 / 4, "d2": 1 / 3},
        ),
        PairedDifferences.from_table(table()),
        but=("runs",),
    )


def test_a_rectangle_of_scores_is_one_data_set_a_row():
    generator = np.random.default_rng(1)
    left, right = generator.uniform(size=(2, 6, 10))
    differences = PairedDifferences.from_arrays(left, right, folds=5)
    assert differences.dataset_names == ("1", "2", "3", "4", "5", "6")
    np.testing.assert_allclose(differences.mean, (right - left).mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(differences.standard_deviation, np.std(right - left, axis=1, ddof=1), rtol=1e-12)
    assert differences.rho.tolist() == [1 / 5] * 6
    assert differences.notes == ()


def test_by_default_higher_scores_are_better():
    one = np.ones(1)
    given = PairedDifferences("a", "b", ("d",), 0.1 * one, one, np.array([10]), one / 10, one > 1, 0 * one, one, 0.1)
    assert given.scale.higher_is_better


def test_two_differences_have_a_standard_deviation_and_one_has_none():
    # Of 0.1 and 0.3 it is 0.2 / sqrt(2)
    differences = PairedDifferences.from_arrays([[0.1, 0.2], [0.1]], [[0.2, 0.5], [0.2]], rho=0.1)
    np.testing.assert_allclose(differences.standard_deviation, [0.2 / np.sqrt(2), np.nan], rtol=1e-12)


def test_lists_of_unequal_lengths_are_one_run_each_and_noted():
    left, right = [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4]], [[0.2, 0.2, 0.2], [0.2, 0.4, 0.2, 0.4]]
    differences = PairedDifferences.from_arrays(left, right)
    assert differences.n.tolist() == [3, 4]
    assert differences.rho.tolist() == [1 / 3, 1 / 4]
    assert [note.category for note in differences.notes] == [DefaultedRhoWarning]
    assert "rho = 1/3 for the first" in differences.notes[0].message


def test_rows_may_come_from_a_generator():
    rows = [[0.1, 0.2, 0.3], [0.1, 0.2, 0.4]]
    made = PairedDifferences.from_arrays((row for row in rows), (row[::-1] for row in rows), rho=0)
    assert_same(made, PairedDifferences.from_arrays(rows, [row[::-1] for row in rows], rho=0))


def test_arrays_are_not_written_to():
    left, right = np.random.default_rng(1).uniform(size=(2, 3, 4))
    before = left.copy(), right.copy()
    PairedDifferences.from_arrays(left, right, rho=0, higher_is_better=False)
    assert (left == before[0]).all()
    assert (right == before[1]).all()


GOOD = np.arange(12.0).reshape(3, 4) ** 2


@pytest.mark.parametrize(
    ("left", "right", "options", "words"),
    [
        (GOOD, GOOD[:2], {}, r"left_scores has 3 data sets and right_scores has 2"),
        (GOOD, GOOD[:, :3], {}, r"Data set '1' has 4 left and 3 right scores; .*paired, fold by fold"),
        (GOOD[0], GOOD[0], {}, r"left_scores must have two dimensions.*single data set pass one row: \[scores\]"),
        (GOOD[None], GOOD[None], {}, r"left_scores must have two dimensions"),
        (GOOD, 3.0, {}, r"right_scores must be a two-dimensional array of numbers or a list of arrays"),
        ([["0.1", "1_0", "0.2"]], [[1, 2, 3]], {}, r"left_scores must be a two-dimensional array of numbers"),
        ([["a", "b", "c"]], [[1, 2, 3]], {}, r"left_scores must be a two-dimensional array of numbers"),
        ([[True, False, True]], [[1, 2, 3]], {}, r"left_scores must be a two-dimensional array of numbers"),
        (
            GOOD,
            np.where(GOOD == 25, np.nan, GOOD),
            {},
            r"right_scores of data set '2' has 1 .*first: column 1, nan\)\. Rem",
        ),
        (
            np.where(GOOD > 80, np.inf, GOOD),
            GOOD,
            {},
            r"left_scores of data set '3' has 3 scores .*first: column 1, inf",
        ),
        ([], [], {}, r"The arrays are empty"),
        ([[], [1, 2, 3]], [[], [1, 2, 4]], {}, r"Data set '1' has no scores"),
        (GOOD, GOOD + 1, {"dataset_names": ["a", "b"]}, r"dataset_names must be 3 different names, got \['a', 'b'\]"),
        (GOOD, GOOD + 1, {"dataset_names": ["a", "b", "a"]}, r"dataset_names must be 3 different names"),
        (GOOD, GOOD + 1, {"dataset_names": ["a", "b", "a "]}, r"dataset_names must be 3 different names"),
        (GOOD, GOOD + 1, {"dataset_names": ["a", "b", " "]}, r"dataset_names has an empty name"),
        (GOOD, GOOD + 1, {"left": ""}, r"left or right has an empty name"),
        (GOOD, GOOD + 1, {"left": "x", "right": "x"}, r"both called 'x'; an algorithm can't be compared with itself"),
        (np.ones((2, 30)), np.ones((2, 30)), {}, r"30 scores of a data set look like several runs\. Pass folds=10"),
    ],
)
def test_arrays_that_can_not_be_paired_are_refused(left, right, options, words):
    with pytest.raises(ScoreTableError, match=words):
        PairedDifferences.from_arrays(left, right, **options)


@pytest.mark.parametrize(
    ("folds", "words"),
    [(1, "at least 2, got 1"), (0, "at least 2"), (10.0, "whole number, got 10.0"), (True, "whole number, got True")],
)
def test_a_wrong_number_of_folds_is_refused(folds, words):
    with pytest.raises(ArgumentError, match=f"folds must be a?.*{words}"):
        PairedDifferences.from_arrays(GOOD, GOOD + 1, folds=folds)


def test_differences_that_vary_by_rounding_only_are_constant():
    # 100 times 0.1 with rounding has a variance of 1e-34, not 0
    left = np.tile(np.linspace(0.3, 0.7, 100), (2, 1))
    right = left + 0.1
    right[1] += np.random.default_rng(2).normal(0, 1e-6, 100)
    assert np.ptp(right[0] - left[0]) > 0  # not equal to the bit
    differences = PairedDifferences.from_arrays(left, right, folds=10)
    assert differences.constant.tolist() == [True, False]


def test_constant_is_judged_relative_to_the_size_of_the_scores():
    base = np.tile(np.linspace(3, 7, 20), (2, 1))
    shift = np.array([[0.1], [0.1]]) + np.array([[0.0], [1e-3]]) * np.arange(20)
    for scale in (1e-9, 1.0, 1e9):
        assert PairedDifferences.from_arrays(scale * base, scale * (base + shift)).constant.tolist() == [True, False]


def test_outcomes_are_counted_as_worse_equal_and_better():
    left = np.array([[1.0, 1, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1], [1, 1, 0, 0]])
    right = np.array([[0.0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1]])
    found = PairedDifferences.from_arrays(left, right, rho=0).with_likelihood("trinomial")
    assert found.counts.tolist() == [[4, 0, 0], [0, 0, 4], [0, 4, 0], [1, 1, 2]]


def constant_and_varying() -> PairedDifferences:
    generator = np.random.default_rng(4)
    left = generator.uniform(0.4, 0.8, size=(3, 10))
    right = left + np.array([[0.1], [0.0], [0.02]])
    right[2] += generator.normal(0, 0.01, 10)
    return PairedDifferences.from_arrays(left, right, rho=0.1)


def test_without_medians_the_middle_of_the_scores_is_their_scale():
    left, right = np.array([[0.2, 0.3, 0.25], [0.6, 0.9, 0.7]]), np.array([[0.4, 0.1, 0.3], [0.8, 0.65, 0.7]])
    scale = replace(PairedDifferences.from_arrays(left, right, rho=0.1), median_score=None).scale
    np.testing.assert_allclose(scale.median, [0.25, 0.75], rtol=1e-15)


@pytest.mark.parametrize("rope", [Rope.of(0.03), Rope(-0.01, 0.05)])  # both have a half-width of 0.03
def test_constant_data_sets_get_the_spread_of_uniform_noise_on_the_rope_and_keep_their_means(rope):
    before = constant_and_varying()
    after = before.with_spread_of_rope(rope)
    assert after.mean.tolist() == before.mean.tolist()
    assert after.standard_deviation[:2] == pytest.approx([0.03 / np.sqrt(3)] * 2, rel=1e-12)  # sd of uniform(-.03, .03)
    assert after.sum_of_squares[2] == before.sum_of_squares[2]
    (note,) = after.notes
    assert note.category is DegenerateScoresWarning
    assert "2 of 3 data sets ('1', '2')" in note.message
    assert "0.0173" in note.message  # 0.03 / sqrt(3)
    assert "means are kept" in note.message


def test_nothing_changes_where_every_data_set_varies():
    differences = PairedDifferences.from_table(table())
    assert differences.with_spread_of_rope(Rope.of(0.01)) is differences
    assert differences.with_spread_of_rope(Rope.of(0)) is differences


def test_a_rope_of_zero_gives_no_spread_and_is_refused():
    with pytest.raises(
        ScoreTableError, match=r"2 of 3 data sets \('1', '2'\), and a rope of zero.*Pass a rope above 0"
    ):
        constant_and_varying().with_spread_of_rope(Rope.of(0))


def test_data_sets_that_are_all_constant_are_refused_with_the_test_to_use():
    left = np.random.default_rng(1).uniform(0.4, 0.8, size=(3, 10))
    differences = PairedDifferences.from_arrays(left, left + np.array([[0.1], [0.0], [0.2]]), rho=0.1)
    with pytest.raises(ScoreTableError, match=r"constant across folds in every data set.*hc\.signed_rank_test"):
        differences.with_spread_of_rope(Rope.of(0.01))


def test_identical_algorithms_are_recognised_up_to_rounding():
    left = np.random.default_rng(1).uniform(0.4, 0.8, size=(3, 10))
    assert PairedDifferences.from_arrays(left, left.copy()).identical
    assert PairedDifferences.from_arrays(left, (left * 3) / 3).identical
    assert not PairedDifferences.from_arrays(left, left + 1e-9).identical


@pytest.mark.parametrize(
    ("left", "right", "bound"),
    [
        ([[0.0, 0.5, 1.0]], [[0.5, 0.5, 0.5]], 1.0),
        ([[0.0, 0.5, 1.0]], [[0.5, 0.5, 1 + 2e-16]], 1.0),  # an AUC of 1 with rounding
        ([[0.0, 50.0, 100.0]], [[20.0, 45.0, 70.0]], 30.0),
        ([[-0.5, 0.5, 1.0]], [[0.5, 0.5, 0.5]], 1.0),
        ([[-0.25, 0.5, 1.0]], [[0.5, 0.5, 0.5]], 0.75),
    ],
)
def test_the_bound_of_delta0_is_one_for_fractions_else_the_largest_difference(left, right, bound):
    assert PairedDifferences.from_arrays(left, right).delta0_bound == bound


score = st.just(0.0) | st.floats(1e-90, 1)  # scores that are all smaller are refused
scores = st.lists(st.lists(st.tuples(score, score), min_size=3, max_size=12), min_size=1, max_size=5)


def of_pairs(pairs, shift=0.0, **options) -> PairedDifferences:
    left = [[a + shift for a, _ in row] for row in pairs]
    right = [[b + shift for _, b in row] for row in pairs]
    return PairedDifferences.from_arrays(left, right, rho=0.1, **options)


@given(scores)
def test_statistics_are_those_of_numpy(pairs):
    differences = of_pairs(pairs)
    for i, row in enumerate(pairs):
        d = np.array([b - a for a, b in row])
        assert differences.mean[i] == pytest.approx(d.mean(), abs=1e-14)
        assert differences.sum_of_squares[i] == pytest.approx(((d - d.mean()) ** 2).sum(), rel=1e-12, abs=1e-14)


@given(scores, st.just(0.0) | st.floats(1e-90, 5) | st.floats(-5, -1e-90))
def test_adding_a_constant_to_both_algorithms_changes_nothing_beyond_rounding(pairs, shift):
    plain, shifted = of_pairs(pairs), of_pairs(pairs, shift)
    np.testing.assert_allclose(shifted.mean, plain.mean, atol=1e-14)
    np.testing.assert_allclose(shifted.sum_of_squares, plain.sum_of_squares, rtol=1e-11, atol=1e-13)


@given(scores)
def test_swapping_left_and_right_negates_the_mean_and_swaps_the_scores_only(pairs):
    plain = of_pairs(pairs)
    swapped = of_pairs([[(b, a) for a, b in row] for row in pairs], left="right", right="left")
    assert swapped.mean.tolist() == (-plain.mean).tolist()
    moments = ("score_mean", "score_standard_deviation")
    for name in moments:
        assert np.array_equal(getattr(swapped, name), getattr(plain, name)[:, ::-1])
    assert_same(swapped, plain, but=("mean", "left", "right", *moments))


@given(scores)
def test_a_loss_is_a_gain_with_its_sign_turned(pairs):
    gain = of_pairs([[(-a, -b) for a, b in row] for row in pairs])
    assert of_pairs(pairs, higher_is_better=False).mean.tolist() == gain.mean.tolist()


@settings(max_examples=25)
@given(st.integers(2, 4), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_splitting_the_folds_into_runs_changes_only_rho(runs, folds, seed):
    split = table(((runs, folds), (runs, folds)), seed=seed)
    one = split.assign(fold=split["run"] * folds + split["fold"]).drop(columns="run")
    together, apart = PairedDifferences.from_table(one), PairedDifferences.from_table(split)
    assert_same(together, apart, but=("rho", "notes", "runs"))
    assert together.rho == pytest.approx([1 / (runs * folds)] * 2)
    assert apart.rho == pytest.approx([1 / folds] * 2)


def test_fields_can_not_be_changed_in_place():
    differences = PairedDifferences.from_table(table())
    with pytest.raises(AttributeError):
        differences.notes = ()


@pytest.mark.parametrize("value", ["no", 0, 1.0])
def test_higher_is_better_that_is_not_a_boolean_is_refused(value):
    # "no" is true in Python: taken as it stands it would turn the verdict round
    with pytest.raises(ArgumentError, match="higher_is_better must be True or False"):
        PairedDifferences.from_arrays(np.zeros((2, 5)), np.ones((2, 5)), rho=0.2, higher_is_better=value)


def test_folds_and_rho_together_are_refused():
    with pytest.raises(ArgumentError, match="folds and rho were both given"):
        PairedDifferences.from_arrays(np.zeros((2, 5)), np.ones((2, 5)), rho=0.2, folds=5)


def test_the_pairs_themselves_are_kept_with_their_run_and_fold():
    kept = PairedDifferences.from_table(table(), "nb", "tree").scores
    assert kept.columns.tolist() == ["dataset", "run", "fold", "left", "right"]
    first = kept.iloc[0]
    rows = table().set_index(["dataset", "algorithm", "run", "fold"])["score"]
    assert first["left"] == rows[first["dataset"], "nb", first["run"], first["fold"]]
    assert first["right"] == rows[first["dataset"], "tree", first["run"], first["fold"]]


def test_a_rho_column_is_taken_by_data_set_and_an_argument_wins():
    frame = table()
    rho = {"d0": 0.3, "d1": 0.0, "d2": 0.125}
    given = frame.assign(rho=frame["dataset"].map(rho))
    np.testing.assert_array_equal(PairedDifferences.from_table(given, "nb", "tree").rho, list(rho.values()))
    np.testing.assert_array_equal(PairedDifferences.from_table(given, "nb", "tree", rho=0.5).rho, [0.5] * 3)
    text = given.assign(rho=given["rho"].astype(str))
    np.testing.assert_array_equal(PairedDifferences.from_table(text, "nb", "tree").rho, list(rho.values()))
    # Hold-out, of which the folds say nothing
    one_fold = given.drop(columns="fold")[given["fold"] == 0]
    counts = one_fold.groupby("dataset")["run"].nunique()
    held_out = one_fold[one_fold["dataset"].map(counts) > 1]
    np.testing.assert_array_equal(PairedDifferences.from_table(held_out, "nb", "tree").rho, [0.3, 0.125])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"d0": 0.3, "d1": np.nan, "d2": 0.1}, "data set 'd1' has 'nan'"),
        ({"d0": 1.0, "d1": 0.1, "d2": 0.1}, "rho of data set 'd0' must be at least 0 and below 1"),
        ({"d0": "x", "d1": "0.1", "d2": "0.1"}, "column 'rho' are not numbers"),
    ],
)
def test_a_wrong_rho_column_is_refused_by_name(values, words):
    frame = table()
    with pytest.raises((ScoreTableError, ArgumentError), match=words):
        PairedDifferences.from_table(frame.assign(rho=frame["dataset"].map(values)), "nb", "tree")


def test_a_rho_column_that_differs_within_a_data_set_is_refused():
    frame = table()
    frame["rho"] = np.where(frame["fold"] == 0, 0.1, 0.2)
    with pytest.raises(ScoreTableError, match=r"data set 'd0' has '0\.1', '0\.2'"):
        PairedDifferences.from_table(frame, "nb", "tree")


def test_a_metric_called_rho_is_a_score_where_there_is_no_other():
    frame = table().rename(columns={"score": "rho"})
    found = PairedDifferences.from_table(frame, "nb", "tree")
    expected = PairedDifferences.from_table(table(), "nb", "tree")
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.rho, expected.rho)


def test_names_are_read_as_those_of_a_table():
    """Without outer spaces, in one Unicode form, numbers as text: the same name finds its rope and its rho."""
    found = PairedDifferences.from_arrays(
        GOOD,
        GOOD + 1,
        left=1,
        right=2,
        dataset_names=["iris ", 7, "cafe\u0301"],
        rho={"iris": 0.1, "7": 0.2, "caf\u00e9 ": 0},
    )
    assert (found.left, found.right, found.dataset_names) == ("1", "2", ("iris", "7", "caf\u00e9"))
    assert found.rho.tolist() == [0.1, 0.2, 0]
    with pytest.raises(ArgumentError, match="rho has several values for a data set"):
        PairedDifferences.from_arrays(GOOD, GOOD + 1, rho={"1": 0.1, "1 ": 0.2, "2": 0, "3": 0})


def test_a_subset_has_the_largest_difference_of_its_own_data_sets():
    """Which bounds delta0 for scores outside [0, 1], and tells identical scores."""
    left = np.array([[70.0, 71, 73], [60, 61, 63], [50, 52, 53]])
    right = left + np.array([[40.0], [1], [0]])
    found = PairedDifferences.from_arrays(left, right, rho=0.1)
    assert (found.delta0_bound, found.subset(["2", "1"]).delta0_bound, found.subset(["2", "3"]).delta0_bound) == (
        40,
        40,
        1,
    )
    assert found.subset(["3"]).identical


def test_huge_equal_scores_on_one_data_set_do_not_make_the_others_identical():
    left = np.random.default_rng(0).normal(0.7, 0.02, (8, 10))
    right = left + np.random.default_rng(1).normal(0.03, 0.01, (8, 10))
    left[0] = right[0] = 1e15
    assert not PairedDifferences.from_arrays(left, right, rho=0.1).identical
    assert PairedDifferences.from_arrays(left, left, rho=0.1).identical


def test_masked_scores_are_refused():
    scores = np.random.default_rng(0).normal(0.7, 0.02, (3, 5))
    masked = np.ma.array(scores, mask=scores == scores[0, 1])
    with pytest.raises(ScoreTableError, match="1 of 15 numbers of right_scores are masked"):
        PairedDifferences.from_arrays(scores, masked, rho=0.2)
