"""The integral against finer grids, and against Stan's draws, on random problems of every kind (V4-problems)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from agreement import FIRST_OF_ALL, agreement, doubling, run, timing
from reproduction.exhibit import Row, Settings

PROBLEMS = 2000
DRAWN = range(FIRST_OF_ALL, FIRST_OF_ALL + 500)  # which Stan's draws are compared with too
QUICK = (500, 528, 574, 625, 667)  # which take less than a second together
QUICK_DRAWN = (500,)
LARGEST_CHANGE, LONGEST = 0.002, 5.0
FEW, MEDIAN_OF_FEW, LONGEST_OF_FEW = 10, 0.3, 2.0  # data sets, seconds
# Of a change; the stated errors of smaller ones are mostly those of what is left out at the ends of the axes
NOTABLE = 1e-4
LEAST_OK, MOST_WORSE = 0.99, 0.01  # shares of the problems
NEAR, LEAST_NEAR = 4.0, 0.99  # combined errors of integral and draws, and the share of distances that are as near


def problem_rows(settings: Settings) -> list[Row]:
    """How often an answer is good, or worse than stated; how long the longest takes; how near the draws are."""
    numbers = list(QUICK if settings.quick else range(PROBLEMS))
    drawn = list(QUICK_DRAWN if settings.quick else DRAWN)
    integrated = run(doubling, numbers, settings.jobs, _kept(settings, "integrated"))
    sampled = run(agreement, drawn, settings.jobs, _kept(settings, "sampled"))
    few = [row["number"] for row in integrated if row["datasets"] <= FEW]
    timed = run(timing, few, 1, _kept(settings, "timed"))  # one at a time, as on an idle machine
    return [*integral_rows(integrated), *time_rows([row["seconds"] for row in timed]), *draws_rows(sampled)]


def integral_rows(rows: list[dict[str, Any]]) -> list[Row]:
    """From what `agreement.doubling` says of some problems."""
    good = [row for row in rows if row["status"] == "ok"]
    largest = max(row["largest_change"] for row in good)
    worse = [row["too_small"] for row in good if row["too_small"] > 0]
    return [
        Row.at_least(f"share of {len(rows)} problems with status ok", LEAST_OK, len(good) / len(rows)),
        Row.below("largest change of a probability on a finer grid, of those", LARGEST_CHANGE, largest),
        Row.below("share of those with a change above the stated error", MOST_WORSE, len(worse) / len(good)),
        Row.below(f"such changes above {NOTABLE:g}", 0, sum(change > NOTABLE for change in worse)),
        Row.below("longest integration, seconds of processor time", LONGEST, max(row["seconds"] for row in rows)),
    ]


def time_rows(seconds: list[float]) -> list[Row]:
    """From the times of the problems with few data sets."""
    what = f"integration of {len(seconds)} problems with 2 to {FEW} data sets, one at a time, seconds"
    return [
        Row.below(f"median {what}", MEDIAN_OF_FEW, float(np.median(seconds))),
        Row.below(f"longest {what}", LONGEST_OF_FEW, max(seconds)),
    ]


def draws_rows(rows: list[dict[str, Any]]) -> list[Row]:
    """From what `agreement.agreement` says of some problems."""
    sound = [row for row in rows if row["draws_hold"]]
    near = np.array([distance <= NEAR for row in sound for distance in row["distances"].values()])
    what = f"share of {near.size} distances of {len(sound)} problems within {NEAR:g} errors of integral and draws"
    return [Row.at_least(what, LEAST_NEAR, float(near.mean()))]


def _kept(settings: Settings, name: str) -> Path | None:
    if settings.keep is None:
        return None
    settings.keep.mkdir(parents=True, exist_ok=True)
    return settings.keep / f"problems-{name}.jsonl"
