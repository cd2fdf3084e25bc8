"""Replicability: against counting pairs one by one, and what its two measures are defined to be."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from hiercomp.closed_form.one_dataset.replicability import replicability
from hiercomp.errors import ArgumentError, ScoreTableError


@pytest.mark.parametrize("repetitions", [2, 3, 10])
@pytest.mark.parametrize("outcomes", [(False, True), (0, 1), (-1, 0, 1), (-1.0, 0.0, 1.0)])
def test_both_measures_are_what_counting_gives(outcomes, repetitions):
    decisions = np.random.default_rng(repetitions).choice(
        outcomes, (40, repetitions), p=[0.8, 0.2] if len(outcomes) == 2 else [0.1, 0.8, 0.1]
    )
    result = replicability(decisions)
    agreeing, shares = 0, []
    for row in decisions.tolist():
        agreeing += all(outcome == row[0] for outcome in row)
        shares.append(np.mean([a == b for a, b in itertools.combinations(row, 2)]))
    assert result.agreement == agreeing / 40
    assert 0 < result.agreement < 1
    assert result.pairwise == pytest.approx(np.mean(shares), rel=1e-14)
    frame = result.to_frame()
    np.testing.assert_allclose(frame["pairwise"], shares, rtol=1e-14)
    assert frame["agree"].sum() == agreeing
    assert (frame[["-1", "0", "1"]].sum(axis=1) == repetitions).all()
    assert frame["1"].tolist() == (decisions == 1).sum(axis=1).tolist()


def test_left_better_and_right_better_are_different_outcomes():
    result = replicability([[-1, 1]])
    assert (result.agreement, result.pairwise) == (0.0, 0.0)


def test_unanimous_tests_are_fully_replicable():
    result = replicability([[True] * 5, [False] * 5])
    assert (result.agreement, result.pairwise) == (1.0, 1.0)


def test_pairwise_does_not_depend_on_the_number_of_repetitions_in_expectation():
    # A test that rejects with probability p agrees with its repetition with probability p^2 + (1 - p)^2
    datasets, p = 20_000, 0.3
    expected = p**2 + (1 - p) ** 2
    for repetitions in (2, 6):
        decisions = np.random.default_rng(1).random((datasets, repetitions)) < p
        result = replicability(decisions)
        error = result.to_frame()["pairwise"].std() / math.sqrt(datasets)
        assert abs(result.pairwise - expected) < 4 * error
        agreement = p**repetitions + (1 - p) ** repetitions
        assert abs(result.agreement - agreement) < 4 * math.sqrt(agreement * (1 - agreement) / datasets)


@pytest.mark.parametrize(
    ("decisions", "words"),
    [
        ([[True], [False]], "at least 2 repetitions of the test, got 1"),
        ([True, False], r"shape \(data sets, repetitions\) of True and False, .* got bool of shape \(2,\)"),
        (np.zeros((0, 3)), r"of shape \(0, 3\)"),
        ([[True, False], [True]], "its rows have unequal lengths"),
        ([["yes", "no"]], "decisions must be an array"),
        (
            [[0.03, 0.2], [1.0, 0.5]],
            r"3 of 4 .* \(first: data set 1, repetition 1, 0.03\). Compare p-values .* p < 0.05",
        ),
        ([[1.0, math.nan]], r"first: data set 1, repetition 2, nan"),
        ([[0, 2]], "first: data set 1, repetition 2, 2"),
    ],
)
def test_what_is_not_a_table_of_decisions_is_refused(decisions, words):
    with pytest.raises(ArgumentError, match=words):
        replicability(decisions)


def test_data_sets_have_names():
    decisions = pd.DataFrame({"first": [1, 0], "second": [1, -1]})
    result = replicability(decisions, dataset_names=["iris", "wine"])
    assert result.to_frame().index.tolist() == ["iris", "wine"]
    assert replicability(decisions).dataset_names == ("1", "2")
    with pytest.raises(ArgumentError, match="dataset_names must be 2 names, one for each row of decisions, got 1"):
        replicability(decisions, dataset_names=["iris"])


def test_the_result_prints_both_measures():
    text = str(replicability([[1, 1, 1], [1, 0, 0], [0, 0, 0]]))
    assert text.startswith("Replicability of 3 repeated tests, 3 data sets\n")
    assert "All repetitions agree on 66.7% of the data sets; two repetitions agree with probability 0.778." in text


def test_masked_decisions_are_refused():
    decisions = np.ma.array([[1, 1, 0], [1, 1, 1]], mask=[[0, 0, 1], [0, 0, 0]])
    with pytest.raises(ScoreTableError, match="1 of 6 numbers of decisions are masked"):
        replicability(decisions)
