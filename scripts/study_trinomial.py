"""The trinomial likelihood against the Gaussian one with (M12): tables of docs/howto/language_models.md and docs/model.md.

    python scripts/study_trinomial.py [--simulations 100] [--questions 30] [--discordance 0.03] [--benchmarks 10] [--priors]

Two models answer the questions of several benchmarks, right or wrong. The difference of a benchmark is normal, cut off where
it would need more discordant questions than there are. A row has the mean error of the expected probabilities (total
variation), and how often 95% intervals of the benchmarks' differences cover the truth, their mean width, and the share of
benchmarks without a discordant question. --priors also tries other Beta priors (T2) of the discordance.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from scipy import stats

import hiercomp as hc
from hiercomp.model import trinomial

ROPE, CENTRE, SPREAD = 0.01, 0.01, 0.01
OTHER_PRIORS = ((0.5, 1.0), (2.0, 1.0))


def population(discordance: float) -> stats.rv_continuous:
    """Of the differences of the benchmarks."""
    ends = ((-discordance - CENTRE) / SPREAD, (discordance - CENTRE) / SPREAD)
    return stats.truncnorm(*ends, loc=CENTRE, scale=SPREAD)


def answers(
    benchmarks: int, questions: int, discordance: float, seed: int
) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """The true differences, and the answers of the two models on each benchmark."""
    generator = np.random.default_rng([seed, benchmarks, questions, round(1e4 * discordance)])
    truth = population(discordance).rvs(benchmarks, random_state=generator)
    left, right = [], []
    for difference in truth:
        outcome = generator.random(questions)
        better = outcome < (discordance + difference) / 2
        worse = outcome > 1 - (discordance - difference) / 2
        both = generator.random(questions) < 0.7
        left.append(np.where(better | worse, worse, both).astype(float))
        right.append(np.where(better | worse, better, both).astype(float))
    return truth, left, right


def measured(likelihood: str, simulations: int, benchmarks: int, questions: int, discordance: float) -> np.ndarray:
    """Error of the expected probabilities, coverage, mean width, and share without variation, shape (simulations, 4)."""
    edges = population(discordance).cdf([-ROPE, ROPE])
    true = np.diff([0.0, *edges, 1.0])
    rows = []
    for seed in range(simulations):
        truth, left, right = answers(benchmarks, questions, discordance, seed)
        still = np.mean([np.array_equal(*pair) for pair in zip(left, right, strict=True)])
        if still == 1:  # the Gaussian likelihood refuses these
            rows.append([np.nan] * 4)
            continue
        comparison = hc.HierarchicalComparison.from_arrays(left, right, rope=ROPE, rho=0, likelihood=likelihood)
        result = comparison.fit("quadrature", draws=500)
        table = result.datasets()
        covers = (table["lower"] <= truth) & (truth <= table["upper"])
        expected = np.array([*result.next_dataset.expected.values()])
        error = np.abs(expected - true).sum() / 2
        rows.append([error, covers.mean(), (table["upper"] - table["lower"]).mean(), still])
    return np.array(rows)


def row(name: str, values: np.ndarray) -> str:
    """A row of the table: means, with their standard errors."""
    kept = values[~np.isnan(values[:, 0])]
    mean, error = kept.mean(axis=0), kept.std(axis=0, ddof=1) / np.sqrt(len(kept))
    cells = [f"{each:.3f} ± {spread:.3f}" for each, spread in zip(mean[:3], error[:3], strict=True)]
    return f"| {name} | {' | '.join(cells)} | {mean[3]:.2f} |"


def main(arguments: list[str] | None = None) -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--benchmarks", type=int, default=10)
    parser.add_argument("--questions", type=int, nargs="+", default=[30])
    parser.add_argument("--discordance", type=float, nargs="+", default=[0.03])
    parser.add_argument("--priors", action="store_true")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print("| questions, discordance, likelihood | error of expected probabilities | coverage | width | no variation |")
    print("|---|---|---|---|---|")
    for questions in asked.questions:
        for discordance in asked.discordance:
            setting = (asked.simulations, asked.benchmarks, questions, discordance)
            name = f"{questions:,}, {discordance:g}"
            print(row(f"{name}, Gaussian with (M12)", measured("gaussian", *setting)), flush=True)
            print(row(f"{name}, trinomial", measured("trinomial", *setting)), flush=True)
            for shapes in OTHER_PRIORS if asked.priors else ():
                kept, trinomial.PRIOR = trinomial.PRIOR, shapes
                try:
                    print(row(f"{name}, trinomial, Beta{shapes}", measured("trinomial", *setting)), flush=True)
                finally:
                    trinomial.PRIOR = kept


if __name__ == "__main__":
    main()
