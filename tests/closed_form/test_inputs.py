"""What the tests are given: arrays, paired differences and tables, brought to one form."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hiercomp.closed_form.inputs import (
    as_differences,
    as_means,
    as_pairs,
    check_alternative,
    is_table,
    need_scores,
    read_score_matrix,
    refuse_masked,
    rounded,
    rows_of,
    scores_of,
    zeros_and_ties,
)
from hiercomp.errors import ArgumentError, DroppedScoresWarning, Note, ScaleWarning, ScoreTableError, warn_caller
from hiercomp.scores.differences import PairedDifferences

ROWS = np.random.default_rng(1).normal(0.01, 0.03, size=(3, 6))


def table(differences: np.ndarray = ROWS) -> pd.DataFrame:
    rows = [
        (f"d{dataset}", algorithm, fold, 0.5 + (difference if algorithm == "tree" else 0))
        for dataset, row in enumerate(differences)
        for fold, difference in enumerate(row)
        for algorithm in ("bayes", "tree")
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])


def test_one_dimension_is_one_data_set_and_two_are_several():
    single, several = as_differences(ROWS[0], 0.1), as_differences(ROWS, 0.1)
    assert (single.single, several.single) == (True, False)
    assert single.plain(np.array([0.25])) == 0.25
    assert isinstance(single.plain(np.array([0.25])), float)
    assert several.plain(np.array([0.25])).tolist() == [0.25]
    assert several.differences.mean == pytest.approx(ROWS.mean(axis=1), rel=1e-14)
    assert single.differences.mean[0] == several.differences.mean[0]


@pytest.mark.parametrize(
    "x",
    [
        ROWS.tolist(),
        [list(row) for row in ROWS],
        tuple(map(tuple, ROWS)),
        list(ROWS),
        (row for row in ROWS),
        ROWS.astype(object).tolist(),
        np.asfortranarray(ROWS),
    ],
)
def test_arrays_of_any_kind_are_read(x):
    np.testing.assert_allclose(as_differences(x, 0.1).differences.mean, ROWS.mean(axis=1), rtol=1e-14)


@pytest.mark.parametrize(
    ("x", "mean"),
    [
        ([1, 2, 3], 2),
        (np.array([1, 2, 3], dtype=np.uint8), 2),
        (pd.Series([1.0, 2.0]), 1.5),
        (range(3), 1),
        ([1, 2.5], 1.75),
    ],
)
def test_whole_numbers_and_series_are_read(x, mean):
    assert as_differences(x, 0.1).differences.mean[0] == mean


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_of_fewer_bits_are_their_shortest_decimals(dtype):
    values = np.array([0.1, 0.2], dtype=dtype)
    assert as_differences(values, 0.1).differences.mean[0] == pytest.approx(0.15, rel=1e-15)


@pytest.mark.parametrize("columns", [{}, {"dataset": "Task", "algorithm": "Learner"}])
def test_tables_are_paired_by_name(columns):
    frame = table().rename(columns=columns)
    for given in (frame, pl.from_pandas(frame), frame.iloc[::-1].reset_index(drop=True)):
        found = as_differences(given, left="bayes")
        assert not found.single
        assert sorted(found.differences.dataset_names) == ["d0", "d1", "d2"]
        order = np.argsort(found.differences.dataset_names)
        np.testing.assert_allclose(found.differences.mean[order], ROWS.mean(axis=1), rtol=1e-12)
        assert found.differences.rho.tolist() == [1 / 6] * 3


def test_what_is_a_table():
    assert all(map(is_table, (table(), pl.from_pandas(table()), pl.from_pandas(table()).to_arrow())))
    assert not any(map(is_table, (ROWS, ROWS.tolist(), pd.Series([1.0]), None, {"a": 1})))
    assert is_table("scores.csv")


def test_a_loss_turns_the_sign():
    for given, gain in ((ROWS, ROWS), (ROWS[0], ROWS[:1])):
        found = as_differences(given, 0.1, higher_is_better=False).differences
        np.testing.assert_allclose(found.mean, -gain.mean(axis=1), rtol=1e-14)
    np.testing.assert_allclose(
        as_differences(table(), higher_is_better=False).differences.mean, -ROWS.mean(axis=1), rtol=1e-12
    )


def test_names_of_arrays_are_those_given():
    found = as_differences(ROWS, 0.1, left="bayes", right="tree").differences
    assert (found.left, found.right, found.dataset_names) == ("bayes", "tree", ("1", "2", "3"))


def test_differences_keep_their_names_and_their_sign():
    differences = PairedDifferences.from_table(table())
    assert as_differences(differences, left="bayes", right="tree").differences.left == "bayes"
    for names in ({"left": "tree"}, {"right": "bayes"}):
        with pytest.raises(ArgumentError, match=r"those of 'bayes' \(left\) and 'tree' \(right\)"):
            as_differences(differences, **names)
    with pytest.raises(ArgumentError, match="The sign of PairedDifferences is already set"):
        as_differences(differences, higher_is_better=False)


@pytest.mark.parametrize("rho", [0, 0.25, np.float32(0.25), np.int64(0)])
def test_the_correlation_of_differences_can_be_replaced_by_a_number(rho):
    found = as_differences(PairedDifferences.from_table(table()), rho).differences
    assert found.rho.tolist() == [float(rho)] * 3


@pytest.mark.parametrize(
    ("rho", "message"),
    [
        (1.0, "at least 0 and below 1, got 1.0"),
        (-0.1, "at least 0 and below 1"),
        (math.nan, "rho must be a finite number"),
        ("0.1", "rho must be a finite number"),
        (True, "rho must be a finite number"),
        ({"d0": 0.1}, "already have a rho for each data set"),
    ],
)
def test_another_correlation_of_differences_is_refused(rho, message):
    with pytest.raises(ArgumentError, match=message):
        as_differences(PairedDifferences.from_table(table()), rho)


def test_differences_that_vary_by_rounding_only_are_constant_and_zero_ones_are_zero():
    left = np.array([[0.3] * 4, [0.5] * 4, [0.1, 0.2, 0.3, 0.4]])
    right = np.array([[0.1 * 3, 0.3, 0.1 + 0.2, 0.3], [0.6, 0.6 + 1e-16, 0.6, 0.6 - 1e-16], [0.1, 0.2, 0.3, 0.5]])
    given = PairedDifferences.from_arrays(left, right, rho=0.1)
    assert (given.sum_of_squares[:2] > 0).all()
    assert given.mean[0] != 0
    found = as_differences(given).differences
    assert found.sum_of_squares[:2].tolist() == [0, 0]
    assert found.mean[0] == 0
    assert found.mean[1] == given.mean[1]
    assert found.sum_of_squares[2] == given.sum_of_squares[2]


def test_tiny_differences_that_vary_are_kept():
    found = as_differences([1e-12, -2e-12, 3e-12], 0.1).differences
    assert found.mean[0] == pytest.approx(2e-12 / 3, rel=1e-14)
    assert found.sum_of_squares[0] > 0


def test_what_a_table_leaves_out_is_warned_of_where_the_caller_stands():
    frame = table()
    frame = frame[(frame["dataset"] != "d1") | (frame["algorithm"] == "bayes")]
    for read in (as_differences, as_pairs, as_means):
        with pytest.warns(DroppedScoresWarning, match="'d1'") as caught:
            read(frame)
        assert len(caught) == 1
        assert caught[0].filename == __file__


def test_notes_are_raised_where_the_caller_stands():
    with pytest.warns(ScaleWarning, match="odd") as caught:
        warn_caller([Note(ScaleWarning, "odd")])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_caller([])


def test_pairs_are_the_scores_of_both_sides():
    left, right = np.full_like(ROWS, 0.5), 0.5 + ROWS
    for given in ((left, right), (table(),), (PairedDifferences.from_table(table()),)):
        found = as_pairs(*given)
        assert not found.single
        scores = scores_of(found.differences)
        assert len(scores) == 3
        for row, (a, b) in enumerate(scores.values()):
            assert (a == left[row]).all()
            assert (b == right[row]).all()
    assert as_pairs(left[0], right[0]).single


def test_pairs_of_a_loss_have_their_signs_turned():
    (a, b), *_ = scores_of(as_pairs(table(), higher_is_better=False).differences).values()
    assert (a == -0.5).all()
    assert (b == -(0.5 + ROWS[0])).all()


def test_pairs_without_scores_are_refused():
    with pytest.raises(ArgumentError, match="read from a file, without the scores"):
        as_pairs(replace(PairedDifferences.from_table(table()), scores=None))
    with pytest.raises(ArgumentError, match="scores of both algorithms"):
        as_pairs(ROWS)
    with pytest.raises(ArgumentError, match="a second argument"):
        as_pairs(table(), ROWS)
    with pytest.raises(ScoreTableError, match="2 data sets and right_scores has 3"):
        as_pairs(ROWS[:2], ROWS)


def test_means_are_one_number_a_data_set():
    assert as_means([0.1, 0.2, 0.3]).differences.mean.tolist() == [0.1, 0.2, 0.3]
    for given in (ROWS, table(), PairedDifferences.from_table(table())):
        np.testing.assert_allclose(as_means(given).differences.mean, ROWS.mean(axis=1), rtol=1e-12)


def test_means_that_are_equal_up_to_rounding_tie():
    left, right = np.array([[0.8], [0.7], [0.3]]), np.array([[0.9], [0.8], [0.1 + 0.2]])
    differences = PairedDifferences.from_arrays(left, right, rho=0.0)
    assert differences.mean[0] != differences.mean[1]
    ties = zeros_and_ties(differences)
    assert ties[0] == ties[1] == pytest.approx(0.1, rel=1e-11)
    assert ties[2] == 0


def test_rounding_keeps_twelve_decimals_of_the_size():
    values = np.array([1.0, 1.0 + 1e-13, 1.0 + 1e-11])
    found = rounded(values, 1.0)
    assert found[0] == found[1] != found[2]
    assert rounded(1000 * values, 1000.0).tolist() == (1000 * found).tolist()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused_with_its_place(value):
    with pytest.raises(ScoreTableError, match=r"1 of 3 numbers of x are not finite \(first: position 2, -?(nan|inf)\)"):
        rows_of([0.1, 0.2, value], "x")
    with pytest.raises(ScoreTableError, match=r"2 of 2 numbers of x .*\(first: position 0 of data set 2, "):
        rows_of([[0.1, 0.2], [value, value]], "x")


@pytest.mark.parametrize(
    "x",
    [
        None, 0.5, "text", [], {}, ["0.1"], [None], [True, False], [0.1, None], [1j], [[0.1], 0.2], [[[0.1]]],
        [pd.Timestamp("2020-01-01")], [object()], {"a": 0.1},
    ],
)  # fmt: skip
def test_what_holds_no_numbers_is_refused(x):
    with pytest.raises(
        ScoreTableError, match="x must hold numbers: one row of differences or scores, or one row for each"
    ):
        rows_of(x, "x")


def test_an_empty_row_is_refused_with_its_number():
    with pytest.raises(ScoreTableError, match="Data set 2 of x has no numbers"):
        rows_of([[0.1], []], "x")


@pytest.mark.parametrize(
    "x",
    [
        np.ma.array([0.1, 5.0, 0.2], mask=[0, 1, 0]),
        np.ma.array([[0.1, 0.2], [0.3, 5.0]], mask=[[0, 0], [0, 1]]),
        [np.ma.array([0.1, 5.0], mask=[0, 1]), np.array([0.1, 0.2])],
    ],
)
def test_what_is_masked_is_refused(x):
    # NumPy would silently hand over the 5.0 under the mask
    with pytest.raises(ScoreTableError, match=r"1 of \d numbers of x are masked"):
        as_differences(x, 0.1)


def test_a_masked_array_without_masked_numbers_is_an_array():
    refuse_masked(np.ma.array([0.1, 0.2]), "x")
    assert as_differences(np.ma.array([0.1, 0.2]), 0.1).differences.n.tolist() == [2]


def test_arrays_need_a_correlation_and_tables_have_one():
    with pytest.raises(ArgumentError, match=r"no default for arrays. Pass 1/k"):
        as_differences(ROWS)
    assert as_differences(table()).differences.rho[0] == 1 / 6


@pytest.mark.parametrize("value", ["no", 0, 1.0])
def test_higher_is_better_must_be_a_boolean(value):
    for given in (ROWS, table(), PairedDifferences.from_table(table())):
        with pytest.raises(ArgumentError, match="higher_is_better must be True or False"):
            as_differences(given, 0.1, higher_is_better=value)


@pytest.mark.parametrize("alternative", ["larger", "", None, 1, "Two-sided"])
def test_an_unknown_alternative_is_refused(alternative):
    with pytest.raises(ArgumentError, match="alternative must be 'two-sided', 'less' or 'greater', got"):
        check_alternative(alternative)


def test_data_sets_with_too_few_scores_are_named():
    differences = as_differences([[0.1, 0.2], [0.3], [0.4]], 0.1).differences
    with pytest.raises(
        ScoreTableError, match=r"Some test needs at least 2 .*; 2 of 3 data sets have fewer \(first: '2', 1\)"
    ):
        need_scores(differences, 2, "Some test")
    need_scores(differences, 1, "Some test")


def test_nothing_that_is_given_is_changed():
    frame, rows = table(), ROWS.copy()
    kept = frame.copy()
    as_differences(frame, higher_is_better=False)
    as_differences(rows, 0.1, higher_is_better=False)
    read_score_matrix(frame, missing="error", higher_is_better=False, fewest=2)
    pd.testing.assert_frame_equal(frame, kept)
    assert (rows == ROWS).all()


def test_a_score_matrix_holds_the_means_with_higher_better():
    matrix = read_score_matrix(table(), missing="error", higher_is_better=False, fewest=2)
    assert (matrix.dataset_names, matrix.algorithms) == (("d0", "d1", "d2"), ("bayes", "tree"))
    np.testing.assert_allclose(matrix.values, np.column_stack([[-0.5] * 3, -0.5 - ROWS.mean(axis=1)]), rtol=1e-13)
    assert (matrix.ranks[:, 0] == np.where(ROWS.mean(axis=1) > 0, 1, 2)).all()
    assert not matrix.tied
