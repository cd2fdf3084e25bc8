"""The problems that are measured: a real pair of algorithms, and simulated ones of any size."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

import hiercomp as hc
from benchmarks.measure import Context
from hiercomp.files.table import read_score_file
from hiercomp.planning.simulation import Assumption, simulated_collections
from hiercomp.scores.differences import PairedDifferences

SCORES, RHO = 100, 0.1  # of a data set: ten runs of ten folds
PAPERS_PRIORS = (("Priors.kruschke()", hc.Priors.kruschke()), ("Priors(nu_lower=0)", hc.Priors(nu_lower=0)))


def real_table(context: Context) -> pd.DataFrame:
    """The scores given, or the bundled ones; at the small size fourteen data sets of them and two runs."""
    table = hc.load_scores("keel") if context.scores is None else read_score_file(context.scores)
    if not context.small:
        return table
    kept = table["dataset"].isin(table["dataset"].unique()[:14]) & (table["run"] <= table["run"].min() + 1)
    return table[kept].reset_index(drop=True)


def real_comparison(context: Context) -> hc.HierarchicalComparison:
    """The comparison of the two algorithms."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        return hc.HierarchicalComparison(real_table(context), left=context.left, right=context.right)


def paired_scores(context: Context, comparison: hc.HierarchicalComparison) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the left and of the right algorithm, shape (q, n) each.

    A data set without variation gets the spread of the rope about its mean, as in the comparison.
    """
    pairs = PairedDifferences.from_table(real_table(context), context.left, context.right).scores
    assert pairs is not None
    differences = comparison.differences
    left, right = (
        pairs[side].to_numpy(copy=True).reshape(len(differences.dataset_names), -1) for side in ("left", "right")
    )
    for row in np.flatnonzero(differences.constant):
        noise = np.where(np.arange(left.shape[1]) % 2 == 0, 1.0, -1.0)
        right[row] += noise * np.sqrt(differences.sum_of_squares[row] / np.sum((noise - noise.mean()) ** 2))
    return left, right


def simulated_comparison(datasets: int, scores: int = SCORES, seed: int = 0) -> hc.HierarchicalComparison:
    """Differences of about the size of those of the papers' data sets, from their sufficient statistics."""
    assumption = Assumption(
        delta0=np.array([0.005]),
        sigma0=np.array([0.02]),
        nu=np.array([4.0]),
        sigma=np.array([[0.02, 0.03, 0.05]]),
        n=np.full((1, 3), scores),
        rho=np.full((1, 3), RHO),
        score_range=(0.0, 1.0),
        left="left",
        right="right",
        words="simulated",
    )
    (differences,) = simulated_collections(assumption, datasets, seed, 0)
    return hc.HierarchicalComparison.from_differences(differences)


def uneven_comparison(number: int, priors: hc.Priors) -> hc.HierarchicalComparison:
    """Two to ten data sets of 1,000 and of 3 scores in turn; in every other table one lies 10 to 1,000 sds away."""
    generator = np.random.default_rng([7, number])
    sizes = [3 if place % 2 else 1000 for place in range(generator.integers(2, 11))]
    differences = [generator.normal(generator.normal(0, 0.5), 1, size) for size in sizes]
    if number % 2:
        differences[0] += 10 ** generator.uniform(1, 3)
    return hc.HierarchicalComparison.from_arrays(
        [np.zeros(size) for size in sizes], differences, rho=RHO, rope=0.1, higher_is_better=True, priors=priors
    )


def simulated_table(algorithms: int, datasets: int, scores: int, seed: int = 0) -> pd.DataFrame:
    """A tidy table of many algorithms, ten folds a run."""
    generator = np.random.default_rng(seed)
    shape = (algorithms, datasets, scores)
    means = (
        generator.normal(0.75, 0.08, (1, datasets, 1))
        + generator.normal(0, 0.01, (algorithms, 1, 1))
        + 0.01 * generator.standard_t(4, (algorithms, datasets, 1))
    )
    values = means + generator.normal(0, 0.02, (1, datasets, scores)) + generator.normal(0, 0.02, shape)
    number = np.arange(scores)
    return pd.DataFrame(
        {
            "dataset": pd.Categorical.from_codes(
                np.broadcast_to(np.arange(datasets)[None, :, None], shape).ravel(),
                [f"d{place}" for place in range(datasets)],
            ),
            "algorithm": pd.Categorical.from_codes(
                np.broadcast_to(np.arange(algorithms)[:, None, None], shape).ravel(),
                [f"a{place}" for place in range(algorithms)],
            ),
            "run": np.broadcast_to(number // 10 + 1, shape).ravel(),
            "fold": np.broadcast_to(number % 10 + 1, shape).ravel(),
            "score": np.clip(values, 0, 1).ravel(),
        }
    )
