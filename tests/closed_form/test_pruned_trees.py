"""Trees that grow together are scikit-learn's, grown one by one."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from hiercomp.closed_form import null_designs, pruned_trees
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
        return null_designs.random_attributes_differences(np.random.default_rng(3), 6, 10)

    together = differences()
    monkeypatch.setattr(null_designs, "FEW_TREES", 61)
    assert np.array_equal(differences(), together)
