"""Compute tables and figures of the papers anew, and print each beside the published figure.

    python scripts/reproduce.py                           # what there is
    python scripts/reproduce.py corani2017-table5 slides-friedman
    python scripts/reproduce.py all --quick               # small runs, in which a broken formula shows
    python scripts/reproduce.py all --full --results results
    python scripts/reproduce.py --markdown docs/reproduction.md --results results    # the page, from stored results

Exhibits of the 54 data sets need the environment variable HIERCOMP_UCI54 with the path of their table. With --results each
finished exhibit is stored, and with --keep every finished block of a simulation: an interrupted run goes on from there.
"""

from __future__ import annotations

import sys

from reproduction import calibrated_tests, friedman, hierarchical, poisson_binomial, simulated_populations, slides
from reproduction.command import command_line, ours, yes

MODULES = (simulated_populations, friedman, hierarchical, poisson_binomial, calibrated_tests, slides)
EXHIBITS = {one.name: one for module in MODULES for one in module.EXHIBITS}
COLUMNS = {
    "figure": lambda row: row["what"],
    "published": lambda row: row["published"],
    "ours": ours,
    "allowed": lambda row: f"{row['error']:.2g}",
    "agrees": yes,
}


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 where a figure does not agree and no remark of the exhibit says why."""
    return command_line(EXHIBITS, COLUMNS, __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
