"""Trees that grow together are scikit-learn's, grown one by one."""

from __future__ import annotations

import math
import platform

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

from hiercomp.closed_form import pruned_trees, simulated_differences
from hiercomp.closed_form.pruned_trees import tree_predictions

# Elsewhere compilers fuse multiplication and addition, which decides a few ties the other way
EXACT = platform.machine() in ("x86_64", "AMD64")


def drawn(generator, cases, attributes, probability, splits, share=0.1):
    values = (generator.random((cases, attributes)) < 0.5).astype(np.float32)
    classes = (generator.random(cases) < probability).astype(np.int64)
    return values, classes, generator.random((splits, cases)) < share


def one_by_one(values, classes, test, smallest_leaf, pruning):
    learner = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=smallest_leaf, ccp_alpha=pruning, random_state=0
    )
    return np.stack([learner.fit(values[~split], classes[~split]).predict(values) for split in test])


@pytest.mark.parametrize(
    ("cases", "attributes", "probability", "smallest_leaf", "pruning"),
    [
        (300, 10, 0.5, 2, 0.0075),  # the design of the paper
        (300, 10, 0.1, 2, 0.0075),
        (300, 10, 0.5, 2, 0.0001),
        (129, 7, 0.4, 5, 0.02),
        (64, 3, 0.3, 1, 0.01),
        (40, 1, 0.5, 2, 0.0075),
        (700, 12, 0.5, 2, 0.003),
        (30, 5, 0.02, 2, 0.0075),  # often one class only
    ],
)
def test_trees_that_grow_together_predict_what_scikit_learn_predicts(
    cases, attributes, probability, smallest_leaf, pruning
):
    generator = np.random.default_rng(cases + attributes)
    values, classes, test = drawn(generator, cases, attributes, probability, 120)
    found = tree_predictions(values, classes, test, smallest_leaf=smallest_leaf, pruning=pruning)
    expected = one_by_one(values, classes, test, smallest_leaf, pruning)
    assert (found != expected).any(axis=1).mean() <= (0 if EXACT else 0.05)


def test_attributes_that_depend_on_each_other_and_on_the_class_make_the_same_trees():
    generator = np.random.default_rng(8)
    values, _, test = drawn(generator, 300, 6, 0.5, 100)
    values[:, 3] = values[:, 2]  # always a tie
    values[:, 4] = 1 - values[:, 2]
    values[:, 5] = 1  # constant
    classes = np.where(generator.random(300) < 0.8, values[:, 0].astype(int) ^ values[:, 2].astype(int), 0)
    found = tree_predictions(values, classes, test, smallest_leaf=2, pruning=0.0075)
    expected = one_by_one(values, classes, test, 2, 0.0075)
    assert (found != expected).any(axis=1).mean() <= (0 if EXACT else 0.05)
    assert 0 < found.mean() < 1


def pessimistic(n, errors, confidence=0.25):
    """Errors that C4.5 expects of a leaf (Quinlan 1993, program C4.5, release 8: AddErrs)."""
    z = stats.norm.isf(confidence)
    if errors == 0:
        return n * (1 - confidence ** (1 / n))
    if errors + 0.5 >= n:
        return n
    f = (errors + 0.5) / n
    return n * (f + z**2 / (2 * n) + z * math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))) / (1 + z**2 / n)


def pruned_prediction(tree, values, node=0):
    """Errors that C4.5 expects of the subtree that its rule leaves of a node, and the predictions for the cases."""
    n, shares = int(tree.n_node_samples[node]), tree.value[node, 0]
    as_leaf = pessimistic(n, round(n * (1 - shares.max() / shares.sum())))
    label = np.full(len(values), int(shares.argmax()))
    if tree.children_left[node] < 0:
        return as_leaf, label
    left, of_left = pruned_prediction(tree, values, tree.children_left[node])
    right, of_right = pruned_prediction(tree, values, tree.children_right[node])
    if as_leaf <= left + right + 0.1:
        return as_leaf, label
    return left + right, np.where(values[:, tree.feature[node]] <= 0.5, of_left, of_right)


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5])
def test_trees_are_pruned_by_the_rule_of_c45(probability):
    values, classes, test = drawn(np.random.default_rng(4), 300, 8, probability, 30)
    found = tree_predictions(values, classes, test, smallest_leaf=2, pruning=None)
    full = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
    expected = [pruned_prediction(full.fit(values[~split], classes[~split]).tree_, values)[1] for split in test]
    assert (found != np.stack(expected)).any(axis=1).mean() <= (0 if EXACT else 0.05)
    if probability == 0.1:
        assert not found.any()  # nothing is left of a tree on such data
    if probability == 0.5:
        assert 0.3 < found.mean() < 0.7


def test_the_number_of_trees_that_grow_together_changes_nothing(monkeypatch):
    values, classes, test = drawn(np.random.default_rng(1), 100, 6, 0.5, 37)
    together = tree_predictions(values, classes, test, smallest_leaf=2, pruning=0.0075)
    monkeypatch.setattr(pruned_trees, "MOST_TREES", 5)
    assert np.array_equal(tree_predictions(values, classes, test, smallest_leaf=2, pruning=0.0075), together)


def test_random_numbers_do_not_run_out(monkeypatch):
    values, classes, test = drawn(np.random.default_rng(2), 300, 10, 0.5, 20)
    enough = tree_predictions(values, classes, test, smallest_leaf=2, pruning=0.0075)
    monkeypatch.setattr(pruned_trees, "FIRST_NUMBERS", 16)
    assert np.array_equal(tree_predictions(values, classes, test, smallest_leaf=2, pruning=0.0075), enough)


@pytest.mark.skipif(not EXACT, reason="a few ties are decided the other way")
def test_differences_do_not_depend_on_how_the_trees_are_grown(monkeypatch):
    def differences():
        return simulated_differences.random_attributes_differences(np.random.default_rng(3), 6, 10)

    together = differences()
    monkeypatch.setattr(simulated_differences, "FEW_TREES", 61)
    assert np.array_equal(differences(), together)
