"""The learners and counts of the exhibit on Friedman's functions, against scikit-learn and by hand."""

from __future__ import annotations

import importlib
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
friedman = importlib.import_module("reproduction.friedman")


@pytest.mark.parametrize(("function", "make"), enumerate((make_friedman1, make_friedman2, make_friedman3), 1))
def test_the_functions_are_friedmans(function, make):
    x, y = make(200, noise=0, random_state=1)
    np.testing.assert_allclose(friedman.response(function, x), y, rtol=1e-12)


def test_there_are_54_settings_with_features_in_friedmans_ranges():
    assert len(set(friedman.SETTINGS)) == 54
    generator = np.random.default_rng(1)
    for setting in friedman.SETTINGS:
        x, y = friedman.data(generator, setting, 4000)
        own = {1: 10, 2: 4, 3: 4}[setting.function]
        assert x.shape == (4000, own + setting.random_features)
        known = {1: make_friedman1, 2: make_friedman2, 3: make_friedman3}[setting.function](4000, random_state=0)[0]
        np.testing.assert_allclose(x[:, :own].mean(axis=0), known.mean(axis=0), rtol=0.08)
        np.testing.assert_allclose(np.ptp(x[:, :own], axis=0), np.ptp(known, axis=0), rtol=0.02)
        noise = y - friedman.response(setting.function, x[:, :own])
        assert noise.std() == pytest.approx(setting.noise, rel=4 / np.sqrt(8000))
    shares = [friedman.classified(generator, setting, 4000)[1].mean() for setting in friedman.SETTINGS[::18]]
    assert np.abs(np.array(shares) - 0.5).max() < 0.04  # medians of 10,000 responses


@pytest.mark.parametrize(("cases", "features"), [(40, 3), (27, 24), (27, 30), (300, 30)])
def test_discriminants_are_those_of_scikit_learn_up_to_the_divisor_of_the_covariance(cases, features):
    generator = np.random.default_rng(2)
    x = (generator.normal(size=(cases, features)) * 10.0 ** generator.integers(-2, 3, features)).astype(np.float32)
    classes = generator.random(cases) < 0.4
    test = np.stack([generator.permutation(cases) < 3 for _ in range(6)])
    places = friedman.discriminant_predictions(x, classes, test)
    for split, predicted in zip(test, places, strict=True):
        learner = LinearDiscriminantAnalysis().fit(x[~split].astype(float), classes[~split])
        # MASS divides the covariance by n - 2, newer solvers of scikit-learn by n: a factor of all but the priors' part
        n, ones = (~split).sum(), classes[~split].sum()
        priors = np.log(ones / (n - ones))
        decision = learner.decision_function(x.astype(float)) - priors
        candidates = [decision * factor + priors > 0 for factor in ((n - 2) / n, 1.0)]
        assert any(np.array_equal(predicted, one) for one in candidates)


def subtrees(left, right, node=0):
    """Sets of leaves of all subtrees that pruning can leave."""
    yield (node,)
    if left[node] >= 0:
        for one, other in itertools.product(subtrees(left, right, left[node]), subtrees(left, right, right[node])):
            yield (*one, *other)


def below(left, right, node):
    found = [node]
    for child in (left[node], right[node]):
        found += below(left, right, child) if child >= 0 else []
    return found


@pytest.mark.parametrize("seed", range(30))
def test_pruning_leaves_the_smallest_of_the_best_subtrees(seed):
    generator = np.random.default_rng(seed)
    left, right, wrong = [-1], [-1], [int(generator.integers(60, 200))]
    for _ in range(6):  # splits of random leaves, numbered as scikit-learn does: children after their parent
        leaf = generator.choice([node for node, child in enumerate(left) if child < 0])
        left[leaf], right[leaf] = len(left), len(left) + 1
        share = generator.random() * generator.choice([0.3, 1.0])
        for part in (share, 1 - share):
            left.append(-1)
            right.append(-1)
            wrong.append(int(part * wrong[leaf] * generator.choice([0.7, 0.99, 1.0])))
    majority = [bool(node % 2) for node in range(len(left))]
    costs = {
        leaves: sum(wrong[leaf] for leaf in leaves) + friedman.COMPLEXITY * wrong[0] * len(leaves)
        for leaves in subtrees(left, right)
    }
    least = min(costs.values())
    best = min((leaves for leaves, cost in costs.items() if cost < least + 1e-9), key=len)
    expected = list(majority)
    for leaf in best:
        for node in below(left, right, leaf):
            expected[node] = majority[leaf]
    found = friedman.labels(left, right, [float(one) for one in wrong], majority)
    grown = [node for node, child in enumerate(left) if child < 0]
    assert found[grown].tolist() == [expected[node] for node in grown]


def test_the_tree_learns_a_step_and_prunes_noise_away():
    generator = np.random.default_rng(3)
    x = generator.random((400, 5)).astype(np.float32)
    tree = friedman.PrunedTree().fit(x, x[:, 2] > 0.4)
    assert np.array_equal(tree.predict(x), x[:, 2] > 0.4)
    # A split must save more than a hundredth of the root's errors, so few noisy cases leave the step alone
    flipped = (x[:, 2] > 0.4) ^ (generator.random(400) < 0.01)
    assert (friedman.PrunedTree().fit(x, flipped).predict(x) == (x[:, 2] > 0.4)).mean() > 0.98


def test_odds_are_counted_once_and_in_the_right_direction():
    probabilities = np.array(
        [
            (0.01, 0.03, 0.96),  # decided
            (0.04, 0.015, 0.945),  # against rope above 20, and against left
            (0.01, 0.04, 0.95),  # not above .95
            (0.1, 0.2, 0.7),
            (0.1, 0.8, 0.1),
            (0.8, 0.1, 0.1),
            (0.09, 0.01, 0.9),  # more left than rope, but for right
        ]
    )
    rows = friedman.odds_rows(*probabilities.T)
    assert [round(row.ours * 7) for row in rows] == [2, 2, 1, 1]


def test_the_reduction_of_the_error_is_that_of_the_chosen_settings():
    delta = np.arange(54) / 100
    chosen = np.array([[3, 50], [7, 20]])
    after = delta[chosen] - np.array([[0.01], [0.02]])
    row = friedman.error_row(np.concatenate([chosen, delta[chosen] + 0.04, after], axis=1), delta)
    assert row.ours == pytest.approx((15 / 16 + 3 / 4) / 2)
