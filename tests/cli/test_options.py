"""Groups of options: each command has all of theirs, and takes each group whole."""

from __future__ import annotations

import inspect

import pytest
import typer

from hiercomp.cli import app, check, compare, crossval, pairs, plan, test

READING = {
    *("--column", "--where", "--measure", "--format", "--option", "--encoding", "--sep", "--decimal", "--percent"),
    "--largest-bytes",
}
DIRECTION = {"--higher-is-better", "--lower-is-better"}
MODEL = {"--rope", "--rho", *DIRECTION, "--transform", "--prior", "--population", "--alpha", "--seed", "--engine"}
OUTPUT = {"--json", "--force", "--quiet"}
PAPER = {"--scores-table", "--methods", "--figure", "--plot"}
OWN = {
    "check": {"--rho", *DIRECTION, "--folds"},
    "compare": {
        *MODEL,
        *("--left", "--right", "--drop-unpaired", "--chains", "--warmup", "--draws", "--closed-form-tests"),
        *("--sensitivity", "--population-check", "--save", "--report", "--folds", "--covariates", "--at"),
        *("--groups", "--require", "--likelihood"),
        *PAPER,
    },
    "pairs": {
        *(
            *MODEL,
            *PAPER,
            "--baseline",
            "--groups",
            "--drop-unpaired",
            "--jobs",
            "--dask",
            "--checkpoint",
            "--report",
            "--folds",
        ),
    },
    "test": {
        *(
            "--rope",
            "--rho",
            *DIRECTION,
            "--alpha",
            "--seed",
            "--left",
            "--right",
            "--test",
            "--drop-unpaired",
            "--folds",
        ),
    },
    "plan": {
        *MODEL,
        *("--delta0", "--sigma0", "--nu", "--sd", "--pilot", "--left", "--right", "--datasets", "--runs", "--folds"),
        *("--largest-difference", "--simulations", "--jobs", "--drop-unpaired"),
    },
}


@pytest.mark.parametrize("command", OWN)
def test_a_command_that_reads_scores_has_every_option_of_its_groups(command):
    listed = typer.main.get_command(app).commands[command].params
    names = {name for option in listed for name in (*option.opts, *option.secondary_opts) if name.startswith("--")}
    assert names - {"--help"} == READING | OUTPUT | OWN[command]


@pytest.mark.parametrize(
    "command", [check.check, compare.compare, crossval.crossval, pairs.pairs, plan.plan, test.apply]
)
def test_no_command_has_more_than_fifteen_parameters(command):
    assert len(inspect.signature(command).parameters) <= 15
