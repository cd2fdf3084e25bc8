"""The pairs of the bundled scores: what their runs say of the correlation between folds, for docs/correlation.md.

python scripts/keel_correlations.py
"""

from __future__ import annotations

import warnings
from itertools import combinations

import hiercomp as hc


def probabilities(fit: hc.ComparisonResult) -> str:
    """P(left), P(rope) and P(right)."""
    return " ".join(f"{value:.3f}" for value in fit.next_dataset.probabilities.values())


def main() -> None:
    """Print both tables in Markdown."""
    warnings.simplefilter("ignore")
    scores = hc.load_scores("keel")
    checks, fits = [], []
    for left, right in combinations(sorted(scores["algorithm"].unique()), 2):
        plain, learnt = (
            hc.compare(scores, left, right, rope=0.01, rho=rho, engine="quadrature") for rho in (None, "runs")
        )
        check, two_level = plain.correlation(), learnt.differences.two_level
        low, high = check.pooled_interval
        few = f"{int((check.pvalues < 0.05).sum())} of {len(check.pvalues)}"
        checks.append(f"| {left} - {right} | {check.pooled_ratio:.2f} ({low:.2f}, {high:.2f}) | {few} |")
        relative = learnt.differences.standard_error / plain.differences.standard_error
        ranges = (f"{values.min():.2f} to {values.max():.2f}" for values in (two_level.within, relative))
        gain = learnt.log_marginal_likelihood - plain.log_marginal_likelihood
        parts = (*ranges, probabilities(plain), probabilities(learnt), f"{gain:+.0f}")
        fits.append(f"| {left} - {right} | {' | '.join(parts)} |")
    print("| KEEL, 43 data sets, 10 runs of 10 folds | ratio, pooled (95%) | data sets with p below 0.05 |")
    print("|---|---|---|", *checks, sep="\n")
    print("\n| pair (left - right) | within runs | standard error | 1/10 for all: P | learnt: P | log Bayes factor |")
    print("|---|---|---|---|---|---|", *fits, sep="\n")


if __name__ == "__main__":
    main()
