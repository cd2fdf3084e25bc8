"""How often 95% intervals of a benchmark's mean difference cover the truth: the table of docs/howto/language_models.md.

    python scripts/study_groups.py [--simulations 4000]

Two models answer questions, each with several samples, right or wrong. Questions differ in difficulty; where they come in
passages of five, those of a passage share part of it. The truth is the mean difference over all such questions.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy import special, stats

PASSAGE = 5
QUESTIONS = (30, 100, 300, 1000)
SAMPLES = (1, 2, 8)


def answers(simulations: int, questions: int, samples: int, clustered: bool, seed: int) -> np.ndarray:
    """Differences of the two models, shape (simulations, passages or questions, answers of each)."""
    generator = np.random.default_rng([seed, questions, samples, clustered])
    size = (simulations, questions // PASSAGE, PASSAGE, 1)
    shared = generator.normal(0, 1.2 if clustered else 0, size=(simulations, questions // PASSAGE, 1, 1))
    ability = shared + generator.normal(0, 1, size=size)
    gain = 0.3 + generator.normal(0, 1, size=size) + shared / 2  # of the second model, in logits
    right = [
        generator.random((*size[:3], samples), dtype=np.float32) < special.expit(each)
        for each in (ability, ability + gain)
    ]
    difference = right[1].astype(np.int8) - right[0].astype(np.int8)
    return difference.reshape(simulations, questions // PASSAGE if clustered else questions, -1)


def truth(clustered: bool) -> float:
    """The expected difference, by Gauss-Hermite quadrature of the three normal variables."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    shared, own, gain = np.meshgrid(nodes, nodes, nodes, indexing="ij")
    shared = shared * (1.2 if clustered else 0)
    expected = special.expit(shared + own + 0.3 + gain + shared / 2) - special.expit(shared + own)
    return float(np.einsum("ijk,i,j,k", expected, weights, weights, weights))


def coverage(values: np.ndarray, true: float) -> float:
    """Share of t-intervals of values of shape (simulations, n) that cover the truth."""
    n = values.shape[1]
    error = values.std(axis=1, ddof=1) / math.sqrt(n)
    return float((np.abs(values.mean(axis=1) - true) <= stats.t.ppf(0.975, n - 1) * error).mean())


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=4000)
    simulations = parser.parse_args().simulations
    print(
        "| questions | samples | single questions: by question | every answer | passages: by passage | every answer |"
    )
    print("|---|---|---|---|---|---|")
    for questions in QUESTIONS:
        for samples in SAMPLES:
            cells = []
            for clustered in (False, True):
                grouped, every = [], []
                for part in range(math.ceil(simulations / 500)):
                    found = answers(500, questions, samples, clustered, part)
                    grouped.append(coverage(found.mean(axis=2), truth(clustered)))
                    every.append(coverage(found.reshape(500, -1), truth(clustered)))
                cells += [f"{np.mean(each):.3f}" for each in (grouped, every)]
            print(f"| {questions:,} | {samples} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
