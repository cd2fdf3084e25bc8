"""How well a Student-t and a mixture recover known populations, and whether leave-one-out tells them from each other.

    python scripts/study_populations.py results.jsonl --collections 24

Each collection has q data sets of 10 x 10-fold cross-validation whose standard error is about 0.01. The error is the total
variation distance between the expected probabilities of left, rope and right and the true ones. Results are added to the
file one by one, and those that it has are not computed again; at the end, or with --collections 0, the table is printed.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import hiercomp as hc

ROPE = 0.01
SIZES = (10, 20, 40, 60)
RUNS, FOLDS, RHO, SIGMA = 10, 10, 0.1, 0.03  # standard error 0.03 sqrt(0.109) = 0.0099
DRAWS = 500  # of each of the 4 chains
TWO_MODES = ((0.5, -0.03, 0.008), (0.5, 0.03, 0.008))  # weight, centre and standard deviation
UNEVEN = ((0.25, -0.05, 0.008), (0.75, 0.005, 0.008))
STUDENT = (5, 0.01, 0.02)
TRUTHS = ("two modes", "uneven", "Student-t")


def normal_parts(truth: str) -> tuple[tuple[float, float, float], ...]:
    """The components of a true mixture."""
    return TWO_MODES if truth == "two modes" else UNEVEN


def true_probabilities(truth: str) -> np.ndarray:
    """Of left, rope and right on the next data set."""
    ends = np.array([-ROPE, ROPE])
    if truth == "Student-t":
        below = stats.t.cdf(ends, *STUDENT)
    else:
        below = sum(weight * stats.norm.cdf(ends, centre, sd) for weight, centre, sd in normal_parts(truth))
    return np.array([below[0], below[1] - below[0], 1 - below[1]])


def collection(truth: str, q: int, generator: np.random.Generator) -> hc.HierarchicalComparison:
    """Data sets whose mean differences are drawn from the true population."""
    if truth == "Student-t":
        delta = stats.t.rvs(*STUDENT, size=q, random_state=generator)
    else:
        weight, centre, sd = np.transpose(normal_parts(truth))
        part = generator.choice(len(weight), size=q, p=weight)
        delta = generator.normal(centre[part], sd[part])
    shared, own = generator.standard_normal((q, 1)), generator.standard_normal((q, RUNS * FOLDS))
    right = 0.7 + delta[:, None] + SIGMA * (np.sqrt(RHO) * shared + np.sqrt(1 - RHO) * own)
    return hc.HierarchicalComparison.from_arrays(np.full(right.shape, 0.7), right, folds=FOLDS, rope=ROPE)


def one(truth: str, q: int, number: int) -> dict[str, object]:
    """Both populations on one collection."""
    generator = np.random.default_rng([TRUTHS.index(truth), q, number])
    comparison = collection(truth, q, generator)
    start = time.process_time()
    found = hc.compare_populations(comparison, populations=("student_t", "mixture"), draws=DRAWS)
    wanted = true_probabilities(truth)
    row: dict[str, object] = {"truth": truth, "q": q, "number": number, "seconds": time.process_time() - start}
    for name, fit in found.fits.items():
        expected = np.array(list(fit.next_dataset.expected.values()))
        row[name] = float(np.abs(expected - wanted).sum() / 2)
    row["gain"], row["error"] = found.difference("mixture", "student_t")
    return row


def table(rows: list[dict[str, object]]) -> pd.DataFrame:
    """Mean errors and their standard errors, and how often the mixture is better by two standard errors."""
    frame = pd.DataFrame(rows)
    frame["clear"] = frame["gain"] > 2 * frame["error"]
    frame["clearly_worse"] = -frame["gain"] > 2 * frame["error"]
    groups = frame.groupby(["truth", "q"])
    found = groups[["student_t", "mixture"]].mean().round(3)
    found["paired_error"] = groups.apply(lambda each: (each["mixture"] - each["student_t"]).sem(), include_groups=False)
    more = groups[["clear", "clearly_worse", "gain", "seconds"]].mean().round(2)
    return found.round(4).join(more).join(groups.size().rename("collections"))


def main() -> None:
    """Compute what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--collections", type=int, default=24)
    given = parser.parse_args()
    rows = []
    if given.results.exists():
        rows = [json.loads(line) for line in given.results.read_text().splitlines()]
    known = {(row["truth"], row["q"], row["number"]) for row in rows}
    for number in range(given.collections):
        for q in SIZES:
            for truth in TRUTHS:
                if (truth, q, number) in known:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        row = one(truth, q, number)
                    except hc.NoVerdictError as error:
                        print(f"{truth}, {q} data sets, collection {number}: {error}")
                        continue
                rows.append(row)
                with given.results.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
    print(table(rows).to_string())


if __name__ == "__main__":
    main()
