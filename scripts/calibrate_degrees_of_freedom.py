"""The calibrated degrees of freedom of ``hiercomp.closed_form.one_dataset.calibrated.CALIBRATED``, found by simulation.

The data sets are those on which Bouckaert (2003) calibrates: random attributes, 300 cases, the class with probability 0.5.
Cross-validation has runs of 10 folds; resampling has as many random splits as there are runs, one each. What was simulated
is kept in a folder: a run that was interrupted goes on where it stopped, and more runs are added to those that are there,
because the first runs of a data set are the same however many follow:

    python scripts/calibrate_degrees_of_freedom.py --keep simulated --runs 10 --jobs 2
    python scripts/calibrate_degrees_of_freedom.py --keep simulated --jobs 2 --write tests/data/calibrated_df.csv

The second command goes on to 20, 50 and 100 runs, and writes the file that a test compares the table with. 4,000 data
sets with 100 runs of 10 folds take about 12 minutes of one processor, and 100 splits 3; trees take nearly all of it.
``--seconds`` ends the simulation, and the table has the data sets that are complete by then.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from scipy import stats

from hiercomp.closed_form.one_dataset.calibrated import (
    CALIBRATED,
    LEVELS,
    SCHEMES,
    SIX,
    SPLIT_SCHEMES,
    Calibration,
    calibration_from,
    nominal_df,
)
from hiercomp.closed_form.simulated_differences import learner_differences, random_attributes_splits

BLOCK = 50  # data sets of a file


@dataclass(frozen=True)
class Kept:
    """The simulated differences in a folder.

    Attributes
    ----------
    folder : Path
    folds : int
        Of each run; 1 for random splits.
    test_share : float or None
        Of random splits; None for cross-validation.
    seed : int
    """

    folder: Path
    folds: int
    test_share: float | None
    seed: int

    def path(self, first: int) -> Path:
        """The file of a block of data sets, by the number of its first one."""
        kind = "cv" if self.test_share is None else f"splits-{self.test_share:g}"
        return self.folder / f"{kind}-{self.folds}-folds-seed-{self.seed}-from-{first}.npy"

    def block(self, first: int) -> np.ndarray:
        """Differences of shape (data sets, runs, folds); no runs before anything is simulated."""
        path = self.path(first)
        return np.load(path) if path.exists() else np.empty((BLOCK, 0, self.folds))

    def read(self, runs: int, simulations: int) -> np.ndarray:
        """The data sets, up to so many, that have so many runs."""
        blocks = [self.block(first) for first in range(0, simulations, BLOCK)]
        return np.concatenate(
            [block[:, :runs] for block in blocks if block.shape[1] >= runs] or [np.empty((0, runs, self.folds))]
        )

    def extend(self, first: int, runs: int, deadline: float) -> None:
        """Add the runs that a block lacks, and write it."""
        known = self.block(first)
        if known.shape[1] >= runs:
            return
        added = []
        for child in np.random.SeedSequence(self.seed).spawn(first + BLOCK)[first:]:
            if time.time() > deadline:
                return
            added.append(self.simulated(child, known.shape[1], runs))
        part = self.path(first).with_suffix(f".{os.getpid()}.part")
        with part.open("wb") as stream:
            np.save(stream, np.concatenate([known, np.stack(added)], axis=1))
        part.replace(self.path(first))  # whole or not at all

    def simulated(self, child: np.random.SeedSequence, first_run: int, runs: int) -> np.ndarray:
        """The runs of a data set from the first up to so many."""
        values, classes, test = random_attributes_splits(
            np.random.default_rng(child),
            runs,
            self.folds,
            hold_out=self.test_share is not None,
            test_share=self.test_share,
        )
        added = learner_differences(values, classes, test[first_run * self.folds :])
        return added.reshape(runs - first_run, self.folds)


def simulate(kept: Kept, runs: int, arguments: argparse.Namespace, deadline: float) -> None:
    """Simulate what is missing in the folder."""
    firsts = range(0, arguments.simulations, BLOCK)
    Parallel(n_jobs=arguments.jobs)(delayed(kept.extend)(first, runs, deadline) for first in firsts)


def calibrations(
    cv: Kept, splits: Kept, runs: int, arguments: argparse.Namespace
) -> Iterator[dict[float, Calibration]]:
    """Of each scheme at every level."""
    for scheme in SCHEMES:
        kept = splits if scheme in SPLIT_SCHEMES else cv
        x = kept.read(runs, arguments.simulations)[: arguments.simulations]
        rho = arguments.test_share if scheme == "corrected resampling" else None
        if len(x):
            yield {level: calibration_from(scheme, x, alpha=level, seed=arguments.seed, rho=rho) for level in LEVELS}


def percent(error: float, lower: float, upper: float) -> str:
    return f"{100 * error:.1f} ({100 * lower:.1f}-{100 * upper:.1f})"


def table(found: list[dict[float, Calibration]], runs: int, folds: int) -> Table:
    """The df and their errors beside what the package has."""
    drawn = Table(title=f"{runs} runs of {folds} folds, or {runs} splits; Type I error in per cent")
    for name in (
        "scheme",
        "data sets",
        "nominal df",
        *(f"df, error at {100 * level:g}%" for level in LEVELS),
        "in CALIBRATED",
    ):
        drawn.add_column(name, justify="left" if name == "scheme" else "right")
    for by_level in found:
        any_level = next(iter(by_level.values()))
        key = (any_level.scheme, 1 if any_level.scheme == "k-fold cv" else any_level.runs, any_level.folds)
        drawn.add_row(
            any_level.scheme,
            f"{any_level.simulations:,}",
            str(nominal_df(*key)),
            *(f"{one.df}: {percent(one.type_one_error, *one.type_one_error_interval)}" for one in by_level.values()),
            ", ".join(str(CALIBRATED[*key, level][0]) if (*key, level) in CALIBRATED else "-" for level in LEVELS),
        )
    return drawn


def rejections(calibration: Calibration, df: int) -> int:
    """The number of simulated data sets that the test rejects with some df."""
    statistic = np.sqrt(df + 1) * calibration.standardised_means
    return int((statistic > stats.t.isf(calibration.alpha / 2, df)).sum())


def record(found: dict[int, list[dict[float, Calibration]]]) -> pd.DataFrame:
    """Each df of the table, and the data sets rejected with one df less, with it, and with one more."""
    rows = [
        (one.scheme, runs, level, one.simulations, one.df, *(rejections(one, one.df + step) for step in (-1, 0, 1)))
        for runs, by_scheme in found.items()
        for by_level in by_scheme
        for level, one in by_level.items()
        if one.df is not None and one.scheme in (*SIX, *SPLIT_SCHEMES)
    ]
    return pd.DataFrame(rows, columns=["scheme", "runs", "level", "datasets", "df", "before", "rejected", "after"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--test-share", type=float, default=0.1, help="of the random splits of resampling")
    parser.add_argument("--simulations", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("calibration"), help="folder of what was simulated")
    parser.add_argument("--write", type=Path, help="file for the df of the table and the data sets rejected")
    parser.add_argument("--seconds", type=float, default=np.inf, help="no simulation after so many")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    deadline = time.time() + arguments.seconds
    cv = Kept(arguments.keep, arguments.folds, None, arguments.seed)
    splits = Kept(arguments.keep, 1, arguments.test_share, arguments.seed)
    simulate(splits, max(arguments.runs), arguments, deadline)
    simulate(cv, max(arguments.runs), arguments, deadline)
    console = Console(width=160)
    found = {runs: list(calibrations(cv, splits, runs, arguments)) for runs in sorted(arguments.runs)}
    for runs, by_scheme in found.items():
        console.print(table(by_scheme, runs, arguments.folds))
    if arguments.write is not None:
        record(found).to_csv(arguments.write, index=False)


if __name__ == "__main__":
    main()
