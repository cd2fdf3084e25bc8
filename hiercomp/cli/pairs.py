"""``hiercomp pairs``: every pair of many algorithms, or every algorithm against one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from hiercomp.cli.options import (
    EngineOption,
    ModelOptions,
    OutputOptions,
    PairingOptions,
    ReadingOptions,
    ReportOption,
    ScoresArgument,
)
from hiercomp.cli.paper import OF_MANY, PaperOptions
from hiercomp.cli.shared import EXIT_FAILED, file_of, naming_the_tests, score_source
from hiercomp.errors import HiercompWarning


def pairs(
    scores: ScoresArgument,
    reading: ReadingOptions,
    model: ModelOptions,
    pairing: PairingOptions,
    outputs: OutputOptions,
    paper: PaperOptions,
    baseline: Annotated[
        str | None,
        typer.Option(help="Compare every other algorithm only with this one; best: the one with the best mean."),
    ] = None,
    engine: EngineOption = "quadrature",
    jobs: Annotated[int, typer.Option(help="Processes to run in parallel; -1 for all cores.")] = -1,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save every finished pair in this file, and resume from it if it exists.")
    ] = None,
    report: ReportOption = None,
) -> None:
    """Compare every pair of algorithms of a table of cross-validation scores, and rank them.

    Exit code 0: a result; 2: an error in the input; 3: some pair has no result, and the notes say why.
    """
    from hiercomp.arguments import verdict_level
    from hiercomp.tournament import compare_all

    verdict_level(model.alpha)
    outputs.check(scores, checkpoint=checkpoint, report=report, **paper.files(OF_MANY))
    source = score_source(scores) if report is not None or outputs.json_file is not None else None
    table_of_scores = reading.read(scores, rho=model.correlation, groups=pairing.group_columns, rope=model.interval)
    with warnings.catch_warnings(), naming_the_tests(scores, reading.pasted()):
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the summary
        result = compare_all(
            table_of_scores,
            rope=model.interval,
            engine=engine,
            baseline=baseline,
            n_jobs=jobs,
            seed=model.seed,
            checkpoint=checkpoint,
            rho=model.correlation,
            groups=pairing.group_columns,
            higher_is_better=model.higher_is_better,
            priors=model.priors,
            missing=pairing.missing,
            transform=model.ratio,
            dask=dask,
            progress=not outputs.quiet,
        )
    content: dict[str, Any] = {}
    if outputs.json_file is not None:
        content = result.to_dict(model.alpha) | file_of(source) | paper.content(result, alpha=model.alpha)

    def write_page() -> None:
        from hiercomp.report import write_tournament_report

        assert report is not None
        write_tournament_report(result, report, source=source, alpha=model.alpha, overwrite=outputs.force)

    outputs.present(
        content,
        *(result.summary(model.alpha), *paper.texts(result, alpha=model.alpha)),
        files=[(report, write_page), *paper.to_write(result, OF_MANY, overwrite=outputs.force, alpha=model.alpha)],
        checkpoint=checkpoint,
        code=EXIT_FAILED if result.status == "failed" else 0,
    )
