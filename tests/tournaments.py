"""What the tests of the pictures and the report of many algorithms share: results of any size with known probabilities."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

import hiercomp as hc
from hiercomp.pairs.fits import FailedPair
from hiercomp.pairs.ranking import Standings
from hiercomp.posterior.next_dataset import QUANTITIES, NextDataset
from hiercomp.tournament import TournamentResult

NAMES = ("boosting", "forest", "bayes", "tree", "neighbours", "logistic", "svm", "extra", "network", "stumps")


def four_algorithms(datasets: int = 13, seed: int = 1) -> pd.DataFrame:
    """Scores of four algorithms: two nearly alike, two clearly worse."""
    generator = np.random.default_rng(seed)
    quality = dict(zip(NAMES[:4], (0.0, -0.001, -0.04, -0.08), strict=True))
    rows = []
    for number in range(datasets):
        shift = {name: value + generator.normal(0, 0.004) for name, value in quality.items()}
        for fold in range(1, 11):
            luck = generator.normal(0.85, 0.01)
            rows += [(f"d{number}", name, fold, luck + shift[name] + generator.normal(0, 0.006)) for name in quality]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])


def known(
    base: hc.ComparisonResult, left: str, right: str, shares: tuple[float, ...], error: float
) -> hc.ComparisonResult:
    """A comparison under other names whose next data set has these probabilities."""
    found = replace(base, differences=replace(base.differences, left=left, right=right, scores=None))
    errors = dict.fromkeys(QUANTITIES, error)
    values = dict(zip(QUANTITIES, (*shares, *shares, shares[2]), strict=True))
    vars(found)["next_dataset"] = NextDataset(**values, errors=errors, draws=1000)
    return found


def tournament(
    base: hc.ComparisonResult, count: int, *, names: tuple[str, ...] | None = None, baseline: str | None = None
) -> TournamentResult:
    """Algorithms of which each is better than the next ones with a probability that grows with their distance.

    The pair of the second and the fourth has failed, that of the first and the third is undecided, that of the first two is
    practically equivalent.
    """
    names = names or tuple(f"{NAMES[k % 10]}{k // 10 or ''}" for k in range(count))
    generator = np.random.default_rng(1)
    pairs = []
    for (i, one), (j, other) in combinations(enumerate(names), 2):
        if baseline not in (None, one, other):
            continue
        share = 1 - 0.6 ** (j - i) * generator.uniform(0.1, 0.9)
        shares, error = (share, 0.8 * (1 - share), 0.2 * (1 - share)), 0.0
        if (i, j) == (0, 1):
            shares = (0.01, 0.97, 0.02)
        elif (i, j) == (0, 2):
            shares, error = (0.951, 0.04, 0.009), 0.002
        if (i, j) == (1, 3):
            pairs.append(FailedPair(one, other, "one data set in common"))
        else:
            pairs.append(known(base, one, other, shares, error))
    datasets = tuple(f"d{number}" for number in range(12))
    means = 0.9 - 0.01 * np.arange(len(names)) + generator.normal(0, 0.008, (12, len(names)))
    residuals = tuple(generator.normal(0, 0.01, (10, len(names))) for _ in datasets)
    standings = Standings(names, datasets, means, residuals, np.full(12, 10), np.full(12, 0.1))
    return TournamentResult(
        algorithms=names,
        dataset_names=datasets,
        pairs=tuple(pairs),
        standings=standings,
        rope=base.rope,
        priors=base.priors,
        higher_is_better=True,
        baseline=baseline,
        engine_name=base.engine_name,
        engine_version=base.engine_version,
        seed=3,
    )
