"""Checks that the package computes what it says, each with its figure and its bar; docs/validation.md is written from them.

    python scripts/validate.py                            # what there is
    python scripts/validate.py V1 V2
    python scripts/validate.py all --quick --jobs 2       # small runs, which the continuous integration makes
    python scripts/validate.py all --full --jobs 2 --keep kept --results results
    python scripts/validate.py --results results --markdown docs/validation.md    # the page, from stored results

With --results each finished check is stored, and with --keep every finished block of a simulation: an interrupted run goes
on from there. A check that tests of the project make already runs these.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

from reproduction.command import command_line, ours, yes
from reproduction.exhibit import Exhibit
from validation import calibration, density, faults, mutants, posterior_calibration, problems, runs
from validation.referred import of_script, of_tests

QUADRATURE = "tests/engines/quadrature"
COLUMNS = {"figure": lambda row: row["what"], "bar": lambda row: row["published"], "measured": ours, "met": yes}
EVERY, ON_DEMAND = "in every run", "on demand"
CHECKS = {
    one.name: replace(one, source=f"{one.name}, {one.source}")
    for one in (
        Exhibit("V1", EVERY, "Log densities of the Stan programs against 40 digits", density.density_rows),
        Exhibit("V2", EVERY, "Gradients of the Stan programs against differences in 40 digits", density.gradient_rows),
        Exhibit("V3", EVERY, "The closed form is the paper's matrix form", of_tests("tests/model/test_programs.py")),
        Exhibit(
            "V4",
            ON_DEMAND,
            "Integral, draws and exact values agree",
            of_tests(
                "tests/whole/test_accuracy.py", f"{QUADRATURE}/test_engine.py", "tests/posterior/test_verification.py"
            ),
        ),
        Exhibit(
            "V4-problems",
            EVERY,
            "Random problems of every kind: the integral, finer grids and draws",
            problems.problem_rows,
        ),
        Exhibit("V5", ON_DEMAND, "Reference posteriors, by the recipe of posteriordb", runs.reference_rows),
        Exhibit(
            "V6-quadrature",
            ON_DEMAND,
            "Simulation-based calibration of the integral",
            partial(calibration.sbc_rows, engine="quadrature"),
        ),
        Exhibit(
            "V6-sampler",
            ON_DEMAND,
            "Simulation-based calibration of the sampler",
            partial(calibration.sbc_rows, engine="embedded"),
        ),
        Exhibit("V6-mixture", ON_DEMAND, "Simulation-based calibration of mixtures", calibration.mixture_rows),
        Exhibit(
            "V6-trinomial",
            ON_DEMAND,
            "Simulation-based calibration of the trinomial likelihood",
            calibration.trinomial_rows,
        ),
        Exhibit(
            "V6-covariates",
            ON_DEMAND,
            "Simulation-based calibration with covariates",
            calibration.covariate_rows,
        ),
        Exhibit("V7-density", EVERY, "Injected faults, seen by their log density", faults.fault_rows),
        Exhibit("V7-ranks", ON_DEMAND, "Injected faults, seen by calibration", calibration.fault_rows),
        Exhibit(
            "V8",
            ON_DEMAND,
            "Posterior calibration with bounds taken from the scores",
            posterior_calibration.posterior_rows,
        ),
        Exhibit(
            "V9",
            ON_DEMAND,
            "Probabilities of the next data set come true",
            of_tests("tests/whole/test_coverage.py"),
            "The figures are those of docs/coverage.md.",
        ),
        Exhibit("V10", ON_DEMAND, "Monte Carlo errors are honest", runs.honest_error_rows),
        Exhibit(
            "V11",
            EVERY,
            "The same answer with every kernel, seed and number of threads",
            of_tests("tests/whole/test_same_digits.py"),
        ),
        Exhibit("V12", ON_DEMAND, "CmdStan and stanli agree", of_tests("tests/engines/test_engines.py")),
        Exhibit(
            "V13",
            EVERY,
            "Diagnostics see what is wrong",
            of_tests("tests/posterior/test_diagnostics.py", "tests/posterior/test_fit.py"),
        ),
        Exhibit(
            "V14",
            EVERY,
            "The correlated t-test in arbitrary precision",
            of_tests(
                "tests/closed_form/one_dataset/test_correlated_t.py",
                "tests/closed_form/one_dataset/test_frequentist.py",
            ),
        ),
        Exhibit(
            "V15",
            EVERY,
            "The Poisson-binomial distribution in exact arithmetic",
            of_tests("tests/closed_form/across_datasets/test_counts.py"),
        ),
        Exhibit(
            "V16",
            ON_DEMAND,
            "Type I errors of the calibrated tests",
            of_script(
                "type_one_error.py",
                ["--datasets", "1000"],
                ["--datasets", "60"],
                "no test rejects too often",
            ),
        ),
        Exhibit("V17", EVERY, "NIST's univariate data sets", runs.moment_rows),
        Exhibit(
            "V18",
            EVERY,
            "Golden numbers of R and other software",
            of_tests("tests", words="golden or scipy or statsmodels"),
        ),
        Exhibit(
            "V19",
            EVERY,
            "Mirrored, permuted and rescaled data",
            of_tests("tests", words="mirror or swap or order_of or percentages or another_unit"),
        ),
        Exhibit(
            "V20",
            ON_DEMAND,
            "Random and damaged tables and files",
            of_script(
                "fuzz.py",
                ["--tables", "100000", "--files", "10000", "--experiments", "1000"],
                ["--tables", "100", "--files", "100", "--experiments", "20"],
                "taken or refused by errors of ours",
            ),
        ),
        Exhibit("V21", EVERY, "Bad inputs", of_tests("tests/files", "tests/scores")),
        Exhibit(
            "V22",
            ON_DEMAND,
            "Killed and resumed cross-validation",
            of_script(
                "kill_crossval.py",
                ["--kills", "200", "--repeats", "2"],
                ["--kills", "2", "--repeats", "2", "--jobs", "1"],
                "the table is the same",
            ),
        ),
        Exhibit("V23", ON_DEMAND, "Full disks, folders that can't be written to", of_tests("tests/cli/test_faults.py")),
        Exhibit(
            "V24",
            ON_DEMAND,
            "Workers that die",
            of_tests("tests/test_workers.py", "tests/cli/test_pairs.py", words="worker or killed or dies"),
        ),
        Exhibit("V25", ON_DEMAND, "Fits in threads", runs.thread_rows),
        Exhibit(
            "V26",
            ON_DEMAND,
            "Signals",
            of_tests("tests/cli", words="signal or sigterm or ctrl_c or whenever or stopped"),
        ),
        Exhibit("V27", ON_DEMAND, "Memory over many fits", runs.memory_rows),
        Exhibit(
            "V28",
            EVERY,
            "Hostile names in every output",
            of_tests("tests", words="hostile or markup or formula or escape or harmless"),
        ),
        Exhibit(
            "V28-files",
            ON_DEMAND,
            "Results, checkpoints, experiment files and archives from strangers",
            of_tests(
                "tests/posterior/test_hostile_results.py",
                "tests/pairs/test_hostile_checkpoints.py",
                "tests/crossval/test_hostile_files.py",
                "tests/files/test_bombs.py",
                "tests/whole/test_hostile_names.py",
            ),
        ),
        Exhibit("V29", EVERY, "Pictures", of_tests("tests/plots", words="picture")),
        Exhibit("V30", ON_DEMAND, "Mutants of the numerics and of the reading of tables", mutants.mutation_rows),
    )
}


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 where a bar is not met."""
    return command_line(CHECKS, COLUMNS, __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
