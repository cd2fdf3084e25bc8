"""The pairs of the bundled scores with a Student-t and a mixture as the population: the table of docs/populations.md.

python scripts/keel_populations.py
"""

from __future__ import annotations

import time
import warnings
from itertools import combinations

import hiercomp as hc


def cells(fit: hc.ComparisonResult) -> list[str]:
    """The three probabilities and the three expected ones."""
    seen = fit.next_dataset
    return [" ".join(f"{value:.2f}" for value in part.values()) for part in (seen.probabilities, seen.expected)]


def main() -> None:
    """Print the table in Markdown."""
    warnings.simplefilter("ignore")
    scores = hc.load_scores("keel")
    print("| pair (left - right) | t: P | t: expected | mixture: P | mixture: expected | elpd, mixture - t (error) |")
    print("|---|---|---|---|---|---|")
    for left, right in combinations(sorted(scores["algorithm"].unique()), 2):
        comparison = hc.HierarchicalComparison(scores, left, right, rope=0.01)
        start = time.process_time()
        found = hc.compare_populations(comparison, populations=("student_t", "mixture"))
        gain, error = found.difference("mixture", "student_t")
        parts = [*cells(found.fits["student_t"]), *cells(found.fits["mixture"])]
        print(f"| {left} - {right} | {' | '.join(parts)} | {gain:+.1f} ({error:.1f}) |", flush=True)
        mixed = found.fits["mixture"].posterior
        runs, refitted = len(mixed.runs), int(found.loo["mixture"].refitted.sum())
        print(
            f"  {time.process_time() - start:.1f} s, {runs} run(s), {refitted} refitted; {mixed.diagnostics}",
            flush=True,
        )


if __name__ == "__main__":
    main()
