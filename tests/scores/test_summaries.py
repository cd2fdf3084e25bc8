"""Means and standard errors as input: the posterior of the scores that they summarise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.scores.differences import PairedDifferences
from tests.conftest import simulated_scores

MEAN, ERROR = {"a": 0.02, "b": 0.05, "c": -0.01}, {"a": 0.004, "b": 0.013, "c": 0.013}


def test_means_and_errors_have_the_posterior_of_their_scores():
    """sigma_i is integrated out, so only the error and its degrees of freedom matter: within the stated errors."""
    scores = hc.compare(simulated_scores(8, centre=0.01, spread=0.02), "bayes", "tree", rope=0.01, engine="quadrature")
    given = scores.differences
    names = given.dataset_names
    comparison = hc.HierarchicalComparison.from_summaries(
        pd.Series(given.mean, names),
        pd.Series(given.standard_error, names)[::-1],
        given.n,
        score_range=(0, 1),
        rope=0.01,
    )
    np.testing.assert_allclose(comparison.differences.standard_error, given.standard_error, rtol=1e-12)
    found = comparison.fit("quadrature")
    for name, error in found.next_dataset.errors.items():
        expected = getattr(scores.next_dataset, name)
        assert getattr(found.next_dataset, name) == pytest.approx(
            expected, abs=error + scores.next_dataset.errors[name] + 1e-6
        ), name


def test_a_loss_is_turned_and_names_may_come_separately():
    turned = PairedDifferences.from_summaries(
        [0.1, -0.2, 0.3],
        [0.1] * 3,
        [10, 20, 30],
        score_range=(0, 5),
        dataset_names=["x", "y", "z"],
        higher_is_better=False,
    )
    np.testing.assert_array_equal(turned.mean, [-0.1, 0.2, -0.3])
    assert turned.dataset_names == ("x", "y", "z")
    assert turned.delta0_bound == 5


def test_no_error_is_no_variation():
    with pytest.warns(hc.HiercompWarning, match="constant"):
        comparison = hc.HierarchicalComparison.from_summaries(
            [0.02, 0.05, -0.01, 0.0, 0.03], [0.01, 0, 0.02, 0.01, 0.01], 100, score_range=(0, 1), rope=0.01
        )
    assert comparison.differences.standard_deviation[1] == pytest.approx(0.01 / np.sqrt(3))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"standard_error": ERROR | {"a": -1}}, "standard_error of data set 'a' must not be negative, got -1"),
        ({"standard_error": {"a": 0.1}}, "mean and standard_error must have the same data sets: 'a', 'b', 'c'"),
        ({"standard_error": [0.1, 0.2]}, "standard_error must be a number for each of the 3 data sets"),
        ({"mean": MEAN | {"c": np.nan}}, "mean of data set 'c' must be finite, got nan"),
        ({"mean": MEAN | {"c": 2}}, "mean of data set 'c' is larger than the range of the scores, 1, got 2"),
        ({"mean": MEAN | {"c": -2}, "score_range": (5, 6)}, "larger than the range of the scores, 1, got -2"),
        ({"n": 2.5}, "n of data set 'a' must be a whole number above 0, got 2.5"),
        ({"left": "right"}, "must have different names"),
    ],
)
def test_impossible_summaries_are_refused(changed, words):
    given = {"mean": MEAN, "standard_error": ERROR, "n": 100, "score_range": (0, 1)} | changed
    with pytest.raises(hc.ArgumentError) as caught:
        PairedDifferences.from_summaries(**given)
    assert words in str(caught.value)


@pytest.mark.parametrize("score_range", [1, (0, 1, 2), "01", (1, 0), (1, 1)])
def test_a_range_that_is_no_pair_is_refused(score_range):
    with pytest.raises(hc.ArgumentError, match="score_range must be the lowest and the highest score"):
        PairedDifferences.from_summaries([0.1], [0.1], 10, score_range=score_range)


def test_names_may_be_numbers():
    found = PairedDifferences.from_summaries([0.1, 0.2], 0.01, 10, score_range=(0, 1), dataset_names=[1, "iris "])
    assert found.dataset_names == ("1", "iris")


def test_the_priors_are_beside_the_largest_mean_and_not_a_score_that_nobody_saw():
    with pytest.warns(hc.FewDatasetsWarning):
        given = hc.HierarchicalComparison.from_summaries(MEAN, ERROR, 100, score_range=(0, 1), rope=0.01)
    assert "larger than 1, the largest that the scores allow" in given.prior_predictive().conclusion


def test_summaries_with_two_values_for_a_data_set_or_two_kinds_of_names_are_refused():
    error = pd.Series([0.01, 0.5, 0.01], index=["x", "x", "y"])
    with pytest.raises(hc.ArgumentError, match="standard_error has several values for a data set"):
        PairedDifferences.from_summaries({"x": 0.1, "y": 0.2}, error, 10, score_range=(0, 1))
    with pytest.raises(hc.ArgumentError, match="dataset_names is for arrays"):
        PairedDifferences.from_summaries(pd.Series([0.1, 0.2]), 0.01, 10, score_range=(0, 1), dataset_names=["x", "y"])
