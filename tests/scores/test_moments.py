"""Means and standard deviations by data set and algorithm are those of pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.table import tidy_scores


def ragged() -> pd.DataFrame:
    """Three algorithms; data sets of 2 to 6 folds, some without an algorithm or with a single score of one."""
    generator = np.random.default_rng(0)
    rows = []
    for place in range(5):
        for name in ("one", "two", "three"):
            if (place, name) == (2, "three"):
                continue
            folds = 1 if (place, name) == (3, "two") else 2 + place
            rows += [(f"d{place}", name, fold, generator.lognormal(0, 1)) for fold in range(folds)]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])


ROPES = {f"d{place}": 0.01 * (place + 1) for place in range(5)}


@pytest.mark.parametrize("options", [{}, {"transform": "log"}, {"rope": ROPES}], ids=["plain", "log", "ropes"])
def test_the_moments_of_a_table_are_those_of_pandas(options):
    table = ragged()
    found = ScoreArrays.of(tidy_scores(table), rho=0.1, **options).moments
    expected = table.groupby(["dataset", "algorithm"])["score"].agg(["mean", "std", "count"]).unstack()
    for statistic, values in (("mean", found.mean), ("std", found.standard_deviation)):
        wanted = expected[statistic].loc[list(found.dataset_names), list(found.algorithms)].to_numpy()
        np.testing.assert_allclose(values, wanted, rtol=1e-12)
    assert np.array_equal(found.n, expected["count"].loc[list(found.dataset_names), list(found.algorithms)].fillna(0))


@pytest.mark.parametrize("transform", [None, "log"])
def test_paired_differences_have_the_moments_of_the_pairs(transform):
    table = ragged()
    given = hc.PairedDifferences.from_table(table, "one", "two", rho=0.1, missing="drop", transform=transform).moments
    pairs = table.pivot(index=["dataset", "fold"], columns="algorithm", values="score")[["one", "two"]].dropna()
    grouped = pairs.groupby("dataset")
    np.testing.assert_allclose(given.mean, grouped.mean(), rtol=1e-12)
    np.testing.assert_allclose(given.standard_deviation, grouped.std(), rtol=1e-12)
    assert np.array_equal(given.n, grouped.count())


def test_differences_without_scores_have_none():
    given = hc.PairedDifferences.from_arrays(np.zeros((3, 4)), np.ones((3, 4)) * np.arange(1, 5), folds=4)
    assert given.moments.mean.tolist() == [[0.0, 2.5]] * 3
    kept = given.subset(["3", "1"]).moments
    assert kept.dataset_names == ("3", "1")
    assert kept.mean.shape == (2, 2)
