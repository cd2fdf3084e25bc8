"""``hiercomp crossval``: cross-validation from an experiment file to a table of scores."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from hiercomp.cli.options import ForceOption
from hiercomp.cli.shared import EXIT_FAILED, one_line
from hiercomp.errors import ArgumentError, FailedCellsWarning, HiercompWarning


def crossval(
    experiment: Annotated[
        Path, typer.Argument(help="An experiment file: estimators, data, folds and scoring, as TOML.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="Output file: .csv, .csv.gz or .parquet; by default that of the experiment file."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save every finished cell in this file, and resume from it if it exists.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Cells to run in parallel; -1 for all cores.")] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on.")] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Another package, besides sklearn, to import estimators from; may be repeated.", metavar="NAME"
        ),
    ] = None,
    on_error: Annotated[str, typer.Option(help="record: continue if a cell fails; raise: stop.")] = "record",
    force: ForceOption = False,
) -> None:
    """Cross-validate estimators on data sets, all on the same folds, into a table for compare and pairs.

    Exit code 0: every cell has a score; 2: an error in the experiment file or the data; 3: some cells failed.
    """
    from hiercomp.crossval.experiment_file import read_experiment
    from hiercomp.crossval.run import check_data, cross_validate_all
    from hiercomp.files.write import check_target, write_scores

    read = read_experiment(experiment, allow=allow or [])
    target = output or read.output
    if target is None:
        raise ArgumentError(
            "No output file was given. Pass --output scores.csv, or set output = ... in the experiment file."
        )
    check_target(target, overwrite=force)
    kept = checkpoint or read.checkpoint
    inputs = {"the experiment file": [experiment], "data": read.files, "the checkpoint": [kept] if kept else []}
    for what, paths in inputs.items():
        if target.resolve() in {path.resolve() for path in paths}:
            raise ArgumentError(f"{target} is {what}; write the table to another file.")
    check_data(read.estimators, read.data, cv=read.cv, seed=read.seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", HiercompWarning)
        table = cross_validate_all(
            read.estimators,
            read.data,
            cv=read.cv,
            scoring=read.scoring,
            n_jobs=jobs,
            seed=read.seed,
            checkpoint=kept,
            on_error=on_error,
            dask=dask,
        )
    write_scores(table, target, overwrite=force)
    for warning in caught:
        typer.echo(f"hiercomp: warning: {one_line(str(warning.message))}", err=True)
    counts = [
        f"{table[column].nunique()} {what}" for column, what in (("dataset", "data sets"), ("algorithm", "algorithms"))
    ]
    typer.echo(f"{len(table)} scores of {' and '.join(counts)} are in {target}.")
    failed = any(issubclass(warning.category, FailedCellsWarning) for warning in caught)
    raise typer.Exit(EXIT_FAILED if failed else 0)
