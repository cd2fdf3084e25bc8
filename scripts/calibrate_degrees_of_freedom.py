"""The calibrated degrees of freedom of ``hiercomp.closed_form.one_dataset.calibrated.CALIBRATED``, found by simulation.

The data sets are those of Bouckaert's Table 2 (random attributes, 10 runs of 10 folds); "resampling", which is a test of
repeated hold-out, has as many random splits of its own. With the default of 4,000 simulations it takes about six minutes
in two processes.

    python scripts/calibrate_degrees_of_freedom.py --jobs 2
    python scripts/calibrate_degrees_of_freedom.py --runs 5 --simulations 1000
"""

from __future__ import annotations

import argparse
from functools import partial

from rich.console import Console
from rich.table import Table

from hiercomp.closed_form.null_designs import random_attributes_differences
from hiercomp.closed_form.one_dataset.calibrated import (
    CALIBRATED,
    LEVELS,
    SCHEMES,
    Calibration,
    calibrate,
    calibrate_schemes,
    nominal_df,
)


def calibrations(arguments: argparse.Namespace) -> list[Calibration]:
    """Of every scheme that needs it."""
    options = {
        "runs": arguments.runs,
        "folds": arguments.folds,
        "simulations": arguments.simulations,
        "seed": arguments.seed,
        "n_jobs": arguments.jobs,
    }
    schemes = [name for name, scheme in SCHEMES.items() if scheme.needs_calibration and name != "resampling"]
    hold_out = partial(random_attributes_differences, hold_out=True)
    return [*calibrate_schemes(schemes, **options).values(), calibrate("resampling", simulator=hold_out, **options)]


def percent(error: float, lower: float, upper: float) -> str:
    return f"{100 * error:.1f} ({100 * lower:.1f}-{100 * upper:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--simulations", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    layout = f"{arguments.runs} x {arguments.folds}"
    table = Table(
        title=f"{layout}, {arguments.simulations:,} data sets, seed {arguments.seed}; Type I error in per cent"
    )
    for name in ("scheme", "nominal df", "df", "in CALIBRATED", *(f"at {100 * level:g}%" for level in LEVELS)):
        table.add_column(name, justify="left" if name == "scheme" else "right")
    for calibration in calibrations(arguments):
        key = (calibration.scheme, arguments.runs, arguments.folds)
        errors = [percent(*row[1:]) for row in calibration.levels(LEVELS).itertuples(index=False)]
        table.add_row(
            calibration.scheme,
            str(nominal_df(*key)),
            str(calibration.df),
            str(CALIBRATED[key][0]) if key in CALIBRATED else "-",
            *errors,
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
