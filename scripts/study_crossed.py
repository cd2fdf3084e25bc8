"""How often 95% intervals cover the truth where questions are crossed with training seeds: a table of
docs/howto/language_models.md.

    python scripts/study_crossed.py [--simulations 4000]

Two models are trained with several seeds each, and every trained one answers the same questions, right or wrong.
Questions differ in difficulty, and a seed makes a trained model better or worse on all of them. The truth is the mean
difference over all such questions and seeds.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy import special, stats

from hiercomp.scores.crossed import crossed_variance

QUESTIONS = (30, 100, 300)
SEEDS = (3, 5, 10)
OF_SEED = (0.0, 0.1, 0.3)  # standard deviation between seeds, in logits


def differences(simulations: int, questions: int, seeds: int, of_seed: float) -> np.ndarray:
    """Of the two models, shape (simulations, questions, seeds)."""
    generator = np.random.default_rng([questions, seeds, round(100 * of_seed)])
    ability = generator.normal(0, 1, (simulations, questions, 1))
    gain = generator.normal(0.3, 1, (simulations, questions, 1))
    right = []
    for logit in (ability, ability + gain):
        chance = special.expit(logit + of_seed * generator.normal(0, 1, (simulations, 1, seeds)))
        right.append(generator.random(chance.shape) < chance)
    return right[1].astype(float) - right[0]


def truth(of_seed: float) -> float:
    """The expected difference, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    means = [special.expit(m + math.sqrt(v + of_seed**2) * nodes) @ weights for m, v in ((0.3, 2), (0.0, 1))]
    return float((means[0] - means[1]) / weights.sum())


def covered(deviation: np.ndarray, error: np.ndarray, freedom: np.ndarray | int) -> str:
    """The share of t-intervals that hold the truth."""
    return f"{(np.abs(deviation) <= stats.t.ppf(0.975, freedom) * error).mean():.3f}"


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=4000)
    simulations = parser.parse_args().simulations
    print("| questions | seeds | sd of seeds | error of the mean | crossed | by question | every answer |")
    print("|---|---|---|---|---|---|---|")
    for questions in QUESTIONS:
        for seeds in SEEDS:
            places = np.indices((questions, seeds)).reshape(2, -1)
            for of_seed in OF_SEED:
                values = differences(simulations, questions, seeds, of_seed)
                every = values.reshape(simulations, -1)
                found = [crossed_variance(each[:, None], *places, "") for each in every]
                variance, n = (np.array([float(np.squeeze(one[part])) for one in found]) for part in (0, 1))
                deviation = every.mean(axis=1) - truth(of_seed)
                ways = [(np.sqrt(variance), n - 1)]
                ways += [
                    (x.std(axis=1, ddof=1) / math.sqrt(x.shape[1]), x.shape[1] - 1)
                    for x in (values.mean(axis=2), every)
                ]
                cells = [covered(deviation, *way) for way in ways]
                print(
                    f"| {questions} | {seeds} | {of_seed:g} | {deviation.std():.4f} | {' | '.join(cells)} |", flush=True
                )


if __name__ == "__main__":
    main()
