"""How precise means of repeated cross-validation are, against what correlations say: the tables of docs/correlation.md.

    python scripts/study_correlations.py --datasets 300 --jobs 2 --keep kept

Four classifiers are cross-validated on fresh data sets of eight kinds, so the true variance of a mean difference is known
and each of 48 cases (kind and pair) has the estimates of several correlations beside it. Finished blocks are kept.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from reproduction.exhibit import Settings
from reproduction.simulation import repeated
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.rho import RhoLike

RUNS = 5
KINDS = (  # data, cases, folds
    *(("Friedman", 100, 10), ("Friedman", 300, 10), ("Gaussian", 100, 10), ("Gaussian", 500, 10), ("null", 200, 10)),
    *(("Friedman", 200, 5), ("Gaussian", 200, 5), ("Gaussian", 200, 2)),
)
NAMES = ("naive_bayes", "tree", "lda", "neighbours")
ESTIMATES = ("1/k, 5 runs", "runs, 5 runs", "1/k, 1 run", "0.25/k, 1 run", "0, 1 run")


def data_set(kind: str, cases: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Attributes and two classes."""
    if kind == "null":  # nothing to learn, as in Bouckaert (2003)
        return generator.integers(2, size=(cases, 10)).astype(float), generator.integers(2, size=cases)
    if kind == "Friedman":  # his first function, above or below its middle
        x = generator.random((cases, 10))
        y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
        return x, (y + generator.normal(0, 1, cases) > 14.4).astype(int)
    y = generator.integers(2, size=cases)
    return generator.normal(0.4 * y[:, None], 1 + 0.5 * y[:, None], size=(cases, 8)), y


def accuracies(generator: np.random.Generator, kind: str, cases: int, folds: int) -> np.ndarray:
    """Of the classifiers in each run and fold, shape (classifiers, runs, folds)."""
    x, y = data_set(kind, cases, generator)
    models = (
        GaussianNB(),
        DecisionTreeClassifier(random_state=0),
        LinearDiscriminantAnalysis(),
        KNeighborsClassifier(),
    )
    found = np.empty((len(models), RUNS, folds))
    for run in range(RUNS):
        splits = StratifiedKFold(folds, shuffle=True, random_state=int(generator.integers(2**31)))
        for fold, (train, test) in enumerate(splits.split(x, y)):
            for number, model in enumerate(models):
                found[number, run, fold] = (model.fit(x[train], y[train]).predict(x[test]) == y[test]).mean()
    return found


def differences(values: np.ndarray, rho: RhoLike) -> PairedDifferences:
    """Of values of shape (data sets, runs, folds)."""
    index = pd.MultiIndex.from_product([range(size) for size in values.shape], names=["dataset", "run", "fold"])
    frame = pd.DataFrame({"zero": 0.0, "value": values.ravel()}, index=index)
    table = frame.melt(var_name="algorithm", value_name="score", ignore_index=False).reset_index()
    return PairedDifferences.from_table(table.astype({"dataset": str}), "zero", "value", rho=rho, higher_is_better=True)


def case(values: np.ndarray) -> dict[str, float]:
    """What one case shows: correlations, and for each estimate the ratio of variances and the coverage of 95% intervals."""
    k = values.shape[2]
    true = values.mean()
    centred = values - true
    variance = (centred**2).mean()
    sums = centred.sum(axis=2)
    within = ((sums**2 - (centred**2).sum(axis=2)).mean() / (k * (k - 1))) / variance
    across = ((sums.sum(axis=1) ** 2 - (sums**2).sum(axis=1)).mean() / (RUNS * (RUNS - 1) * k**2)) / variance
    found = {"within": within, "k across": k * across}
    given = {
        ESTIMATES[0]: differences(values, 1 / k),
        ESTIMATES[1]: differences(values, "runs"),
        ESTIMATES[2]: differences(values[:, :1], 1 / k),
        ESTIMATES[3]: differences(values[:, :1], 0.25 / k),
        ESTIMATES[4]: differences(values[:, :1], 0.0),
    }
    runs = given[ESTIMATES[0]].runs
    assert runs is not None
    found["R"] = (runs.between.sum() / (RUNS - 1)) / (runs.within.sum() / (RUNS * (k - 1)))
    for name, one in given.items():
        found[f"{name}: ratio"] = (one.standard_error**2).mean() / one.mean.var(ddof=1)
        limit = stats.t.ppf(0.975, one.n - 1) * one.standard_error
        found[f"{name}: coverage"] = (np.abs(one.mean - true) <= limit).mean()
    return found


def main() -> None:
    """Print the table of the numbers of folds, and each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    settings = Settings(jobs=given.jobs, keep=given.keep)
    rows = []
    for kind, cases, folds in KINDS:
        name = f"correlations-{kind}-{cases}-{folds}"
        made = repeated(settings, name, partial(accuracies, kind=kind, cases=cases, folds=folds), given.datasets)
        for one, other in combinations(range(len(NAMES)), 2):
            about = {"data": kind, "cases": cases, "k": folds, "pair": f"{NAMES[one]} - {NAMES[other]}"}
            rows.append(about | case(made[:, other] - made[:, one]))
    frame = pd.DataFrame(rows)
    numbers = frame.drop(columns=["data", "cases", "pair"]).groupby("k", sort=False)
    print("| k (cases) | within | k across | R | " + " | ".join(ESTIMATES) + " |")
    print("|---|---|---|---|" + "---|" * len(ESTIMATES))
    for k, mean in numbers.mean().iterrows():
        cells = [f"{mean[f'{name}: ratio']:.2f}, {mean[f'{name}: coverage']:.3f}" for name in ESTIMATES]
        first = f"{mean['within']:.3f} | {mean['k across']:.2f} | {mean['R']:.2f}"
        print(f"| {k} ({len(numbers.get_group(k))}) | {first} | {' | '.join(cells)} |")
    print("\n" + frame.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
