"""``hiercomp crossval``: cross-validation from an experiment file to a table of scores."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hiercomp.cli.options import ForceOption, QuietOption, chosen_from
from hiercomp.cli.shared import EXIT_FAILED, one_line
from hiercomp.cli.streams import say, tell
from hiercomp.errors import ArgumentError, FailedCellsWarning, HiercompWarning, ResultFileError
from hiercomp.wording import normal_name, shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.crossval.experiment_file import Experiment


def crossval(
    experiment: Annotated[
        Path, typer.Argument(help="An experiment file: estimators, data, folds and scoring, as TOML.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="Output file: .csv, .csv.gz or .parquet; by default that of the experiment file."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Save every finished cell in this file, resume from it, and share it with other processes."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Cells to run in parallel; -1 for all cores.")] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for one cell; a cell that takes longer fails.", metavar="SECONDS")
    ] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on.")] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Another package, besides sklearn, to import estimators from; may be repeated.", metavar="NAME"
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            help="record: continue if a cell fails; raise: stop.", **chosen_from("record|raise", "record", "raise")
        ),
    ] = "record",
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Cross-validate estimators on data sets, all on the same folds, into a table for compare and pairs.

    With a checkpoint, estimators and data sets may be added later, several processes may run the same file at the same
    time and share the work, and running it again after it has finished changes nothing.

    Exit code 0: every cell has a score; 2: an error in the experiment file or the data; 3: some cells failed.
    """
    from hiercomp.crossval.experiment_file import read_experiment
    from hiercomp.crossval.run import check_data, cross_validate_all
    from hiercomp.files.write import check_target, csv_text, write_scores
    from hiercomp.outputs import is_read

    read = read_experiment(experiment, allow=allow or [], output=output, checkpoint=checkpoint)
    target = read.output
    if target is None:
        raise ArgumentError(
            "No output file was given. Pass --output scores.csv, or set output = ... in the experiment file."
        )
    kept = read.checkpoint
    resumed = not force and kept is not None and kept.is_file()
    check_target(target, overwrite=force or (resumed and _names_of(target) == _names_in(read)))
    inputs = {"the experiment file": [experiment], "data": read.files, "the checkpoint": [kept] if kept else []}
    for what, paths in inputs.items():
        if any(is_read(target, path) for path in paths):
            raise ArgumentError(f"{target} is {what}; write the table to another file.")
    check_data(read.estimators, read.data, cv=read.cv, scoring=read.scoring, seed=read.seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", HiercompWarning)
        table = cross_validate_all(
            read.estimators,
            read.data,
            cv=read.cv,
            scoring=read.scoring,
            n_jobs=jobs,
            time_limit=read.time_limit if time_limit is None else time_limit,
            seed=read.seed,
            checkpoint=kept,
            on_error=on_error,
            dask=dask,
            progress=not quiet,
        )
    for warning in caught:
        tell(f"warning: {one_line(str(warning.message))}")
    again = not force and kept is not None and target.is_file()  # maybe from a process that shared the work
    if not again:
        try:
            write_scores(table, target, overwrite=force)
        except ResultFileError as error:  # such as a full disk, after hours
            if kept is None:
                say(csv_text(table), end="")
            where = "The table is on standard output." if kept is None else "The checkpoint holds every finished cell."
            raise ResultFileError(error.message, remedy=where) from error
    elif not _is_in(table, target):
        raise ResultFileError(
            f"{shown(target)} exists and holds other scores.",
            remedy="Choose another name, or pass --force; the checkpoint holds every finished cell.",
        )
    counts = [
        f"{table[column].nunique()} {what}" for column, what in (("dataset", "data sets"), ("algorithm", "algorithms"))
    ]
    say(f"{len(table)} scores of {' and '.join(counts)} are in {target}{', as before' if again else ''}.")
    failed = any(issubclass(warning.category, FailedCellsWarning) for warning in caught)
    raise typer.Exit(EXIT_FAILED if failed else 0)


Names = tuple[set[str], set[str]]  # of data sets and of algorithms


def _names_in(experiment: Experiment) -> Names:
    return {normal_name(name) for name in experiment.data}, {normal_name(name) for name in experiment.estimators}


def _names_of(path: Path) -> Names | None:
    """The names in an existing table, or None: what has grown need not be computed to know that the table differs."""
    try:
        frame = _content(path)
        return set(frame["dataset"]), set(frame["algorithm"])
    except Exception:  # there is no such file, or it is something else
        return None


def _is_in(table: pd.DataFrame, path: Path) -> bool:
    """Whether a file holds this table, apart from the times, which are new for failed cells."""
    from hiercomp.files.write import write_scores

    with tempfile.TemporaryDirectory() as folder:
        return _content(write_scores(table, Path(folder) / path.name)).equals(_content(path))


def _content(path: Path) -> pd.DataFrame:
    """The cells of a table that `write_scores` wrote, without the times."""
    import pandas as pd

    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
    else:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return frame.drop(columns=["fit_time", "score_time"], errors="ignore")
