"""Problems shared by the tests: small tables of scores, and results that were fitted to them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc


def simulated_scores(
    datasets: int, runs: int = 3, *, centre: float, spread: float, noise: float = 0.02, seed: int = 1
) -> pd.DataFrame:
    """Ten-fold cross-validation of "bayes" and "tree"; tree is better by N(centre, spread) on a data set."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(datasets):
        difference = generator.normal(centre, spread)
        for run in range(1, runs + 1):
            for fold in range(1, 11):
                score = generator.normal(0.8, 0.02)
                rows.append((f"d{number}", "bayes", run, fold, score))
                rows.append((f"d{number}", "tree", run, fold, score + difference + generator.normal(0, noise)))
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "run", "fold", "score"])


@pytest.fixture(scope="session")
def scores() -> pd.DataFrame:
    return simulated_scores(8, centre=0.03, spread=0.01, seed=5)  # no transition of a first run diverges


@pytest.fixture(scope="session")
def result(scores) -> hc.ComparisonResult:
    """Tree is better than bayes by about 0.03."""
    return fitted(scores, "bayes", "tree")


@pytest.fixture(scope="session")
def mirrored(scores) -> hc.ComparisonResult:
    """The same scores with tree on the left."""
    return fitted(scores, "tree", "bayes")


def fitted(scores: pd.DataFrame, left: str, right: str) -> hc.ComparisonResult:
    """A fit that may have needed a second attempt: a processor's last bits decide whether one transition diverges."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.RefitWarning)
        return hc.HierarchicalComparison(scores, left, right, rope=0.01).fit("embedded", progress=False)


@pytest.fixture(scope="session")
def hard_scores() -> pd.DataFrame:
    """Nearly equal differences on 20 data sets: too much for two chains of 300 draws."""
    return simulated_scores(20, centre=0.002, spread=0.0005, noise=0.03, seed=0)


@pytest.fixture(scope="session")
def failed(hard_scores) -> hc.ComparisonResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.ConvergenceWarning)  # test_result looks at it
        comparison = hc.HierarchicalComparison(hard_scores, "bayes", "tree")
        return comparison.fit("embedded", chains=2, warmup=100, draws=100, progress=False)


@pytest.fixture(scope="session")
def identical() -> hc.ComparisonResult:
    """Two algorithms with the same score everywhere."""
    same = simulated_scores(6, centre=0.0, spread=0.0, noise=0.0)
    return hc.HierarchicalComparison(same, "bayes", "tree").fit("embedded", progress=False)
