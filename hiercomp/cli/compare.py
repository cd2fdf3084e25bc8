"""``hiercomp compare`` and ``hiercomp demo``: two algorithms."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from hiercomp.cli.options import (
    MODEL,
    OUTPUT,
    EngineOption,
    ModelOptions,
    OutputOptions,
    PairingOptions,
    ReadingOptions,
    ReportOption,
    ScoresArgument,
    SeedOption,
    chosen_from,
)
from hiercomp.cli.paper import OF_TWO, PaperOptions
from hiercomp.cli.shared import EXIT_FAILED, EXIT_UNMET, complain, file_of, naming_the_tests, print_result, score_source
from hiercomp.cli.streams import tell
from hiercomp.errors import ArgumentError, EngineError, HiercompWarning, NoVerdictError
from hiercomp.wording import shown

if TYPE_CHECKING:
    from hiercomp.comparison import ComparisonResult, HierarchicalComparison
    from hiercomp.files.source import Source
    from hiercomp.posterior.population_check import PopulationCheck
    from hiercomp.posterior.sensitivity import Sensitivity
    from hiercomp.scores.covariates import Covariates


ClosedFormTestsOption = Annotated[
    bool, typer.Option("--closed-form-tests", help="Also show the tests without the model.")
]
SensitivityOption = Annotated[
    bool,
    typer.Option(
        "--sensitivity", help="Also fit with other priors, correlations and bounds, and add them to the report."
    ),
]
PopulationCheckOption = Annotated[
    bool,
    typer.Option("--population-check", help="Also show whether another population predicts the data sets better."),
]


@dataclass(frozen=True)
class SamplingOptions:
    """How long to sample."""

    chains: Annotated[int, typer.Option(help="Markov chains.", rich_help_panel=MODEL)] = 4
    warmup: Annotated[
        int | None,
        typer.Option(help="Warmup iterations per chain; by default 500 for auto, else 1,000.", rich_help_panel=MODEL),
    ] = None
    draws: Annotated[int, typer.Option(help="Draws per chain.", rich_help_panel=MODEL)] = 1000


@dataclass(frozen=True)
class FurtherOptions:
    """What else is wanted of the result, beside the summary."""

    closed_form_tests: ClosedFormTestsOption = False
    sensitivity: SensitivityOption = False
    population_check: PopulationCheckOption = False
    require: Annotated[
        str | None,
        typer.Option(
            help="non-inferior: exit code 1 unless the right algorithm is at least as good within the rope.",
            rich_help_panel=OUTPUT,
            **chosen_from("WORD", "non-inferior"),
        ),
    ] = None


@dataclass(frozen=True)
class CovariateOptions:
    """What the centre of the population depends on."""

    covariates: Annotated[
        Path | None,
        typer.Option(
            help="A table with a row for each data set and columns of numbers, on which the population's centre depends.",
            rich_help_panel=MODEL,
        ),
    ] = None
    at: Annotated[
        list[str] | None,
        typer.Option(
            help="Also the probabilities on a data set with these covariates, such as rows=3.7,classes=2; repeatable.",
            metavar="NAME=VALUE,...",
            rich_help_panel=MODEL,
        ),
    ] = None

    @property
    def points(self) -> list[dict[str, float]]:
        """Where ``--at`` asks for probabilities."""
        return [_point(text) for text in self.at or []]


def demo(engine: EngineOption = "auto", seed: SeedOption = 0) -> None:
    """Compare naive Bayes with a decision tree on the bundled scores of 43 KEEL data sets."""
    from hiercomp.comparison import HierarchicalComparison
    from hiercomp.scores.bundled import load_scores

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the summary
        comparison = HierarchicalComparison(load_scores("keel"), left="naive_bayes", right="decision_tree", rope=0.01)
        result = comparison.fit(engine, seed=seed)
    print_result(result.summary(alpha=0.05))
    typer.echo("\nYour own scores: hiercomp compare scores.csv --left A --right B --rope 0.01", err=True)
    raise typer.Exit(EXIT_FAILED if result.status == "failed" else 0)


def compare(
    scores: ScoresArgument,
    reading: ReadingOptions,
    model: ModelOptions,
    pairing: PairingOptions,
    outputs: OutputOptions,
    paper: PaperOptions,
    sampling: SamplingOptions,
    explaining: CovariateOptions,
    further: FurtherOptions,
    left: Annotated[
        str | None, typer.Option(help="The left algorithm; required if there are more than two.", metavar="NAME")
    ] = None,
    right: Annotated[str | None, typer.Option(help="The right algorithm.", metavar="NAME")] = None,
    engine: EngineOption = "auto",
    likelihood: Annotated[
        str,
        typer.Option(
            help="gaussian, the default; or trinomial, for scores that are 0 or 1, with --rho 0.",
            rich_help_panel=MODEL,
            **chosen_from("NAME", "gaussian", "trinomial"),
        ),
    ] = "gaussian",
    save: Annotated[
        Path | None, typer.Option(help="Also save the whole result as netCDF.", rich_help_panel=OUTPUT)
    ] = None,
    report: ReportOption = None,
) -> None:
    """Compare two algorithms of a table of cross-validation scores.

    Exit code 0: a result; 1: what --require asks for is not shown; 2: an error in the input; 3: the computation failed its
    checks and there is no verdict.
    """
    from hiercomp.arguments import verdict_level
    from hiercomp.comparison import HierarchicalComparison
    from hiercomp.scores.differences import LIKELIHOODS

    verdict_level(model.alpha)
    if further.require not in (None, "non-inferior"):
        raise ArgumentError(f"--require must be non-inferior, got {further.require!r}.")
    of_differences = next((name for name in LIKELIHOODS if name == likelihood), None)
    if of_differences is None:
        raise ArgumentError(f"--likelihood must be one of {', '.join(LIKELIHOODS)}, got {likelihood!r}.")
    points = explaining.points
    outputs.check(scores, explaining.covariates, save=save, report=report, **paper.files(OF_TWO))
    source = score_source(scores) if report is not None or outputs.json_file is not None else None
    table_of_scores = reading.read(scores, rho=model.correlation, groups=pairing.group_columns, rope=model.interval)
    with warnings.catch_warnings(), naming_the_tests(scores, reading.pasted(), left, right):
        warnings.simplefilter("ignore", HiercompWarning)  # they are in the summary
        comparison = HierarchicalComparison(
            table_of_scores,
            left=left,
            right=right,
            rope=model.interval,
            rho=model.correlation,
            groups=pairing.group_columns,
            higher_is_better=model.higher_is_better,
            priors=model.priors,
            likelihood=of_differences,
            covariates=explaining.covariates,
            missing=pairing.missing,
            transform=model.ratio,
        )
        for point in points:  # before a long computation
            _covariates_of(comparison).at(point)
        result = comparison.fit(engine, **vars(sampling), seed=model.seed, progress=not outputs.quiet)
    present(
        result, outputs, paper, points=points,
        alpha=model.alpha, seed=model.seed, **vars(further), save=save, report=report, source=source,
    )  # fmt: skip


def present(
    result: ComparisonResult,
    outputs: OutputOptions,
    paper: PaperOptions,
    *,
    alpha: float,
    seed: int,
    closed_form_tests: bool,
    sensitivity: bool,
    population_check: bool,
    points: Sequence[Mapping[str, float]] = (),
    save: Path | None = None,
    report: Path | None = None,
    source: Source | None = None,
    require: str | None = None,
) -> NoReturn:
    """Write and print what the options ask for of a result, and end with its exit code."""
    table = result.closed_form_tests(seed) if closed_form_tests else None
    variants, errors = None, []
    if sensitivity:
        try:
            variants = _sensitivity(result, alpha)
        except EngineError as error:  # such as a process that died; the fit stands
            errors.append(error)
    checks = {} if variants is None else {"sensitivity": variants}
    with_covariates = result.differences.covariates is not None and not result.differences.identical
    found = result.effects() if with_covariates and result.status != "failed" else None
    predictions = [] if found is None else [result.at(point) for point in points]
    compared = _population_check(result, told=population_check) if population_check or report is not None else None
    content: dict[str, Any] = {}
    if outputs.json_file is not None:
        content = result.to_dict(alpha) | file_of(source) | paper.content(result, alpha=alpha, **checks)
        content |= {} if table is None else {"closed_form_tests": table.to_dict()}
        content |= {} if variants is None else {"sensitivity": _plain_variants(variants)}
        content |= {} if found is None else {"effects": found.to_dict(), "at": [each.to_dict() for each in predictions]}
        content |= (
            {"population_check": _plain_population_check(compared)} if population_check and compared is not None else {}
        )

    def write_page() -> None:
        from hiercomp.report import write_report

        assert report is not None
        write_report(
            result,
            report,
            sensitivity=variants,
            population_check=compared,
            source=source,
            overwrite=outputs.force,
            alpha=alpha,
        )

    def write_result() -> None:
        assert save is not None
        result.save(save, overwrite=outputs.force)

    of_level = {"alpha": alpha} if paper.plot in ("rope-curve", "rope_curve") else {}
    unmet = _unmet(result, alpha) if require is not None and result.status != "failed" else ""
    try:
        outputs.present(
            content,
            *(result.summary(alpha), found, *predictions, table, variants, compared if population_check else None),
            *paper.texts(result, alpha=alpha, **checks),
            files=[
                *((save, write_result), (report, write_page)),
                *paper.to_write(result, OF_TWO, overwrite=outputs.force, **of_level),
            ],
            errors=errors,
            code=EXIT_FAILED if result.status == "failed" else EXIT_UNMET if unmet else 0,
        )
    finally:
        if unmet:
            complain(unmet)


def _unmet(result: ComparisonResult, alpha: float) -> str:
    """Why the right algorithm is not shown to be non-inferior; empty if it is."""
    found = result.non_inferiority("right", alpha)
    if found.verdict == "non-inferior":
        return ""
    close = ", too close to call" if found.verdict == "undecided" else ""
    return f"{shown(result.right)} is not shown to be non-inferior: probability {found.probability:.3f}{close}"


def _point(text: str) -> dict[str, float]:
    """Covariates of a data set, from NAME=VALUE pairs with commas between them."""
    found: dict[str, float] = {}
    for pair in text.split(","):
        name, _, value = (part.strip() for part in pair.rpartition("="))
        try:
            number = float(value)
        except ValueError:
            name = ""
        if not name or name in found:
            raise ArgumentError(
                f"--at needs NAME=VALUE pairs such as rows=3.7,classes=2, each name once, got {shown(text)!r}."
            )
        found[name] = number
    return found


def _covariates_of(comparison: HierarchicalComparison) -> Covariates:
    if comparison.differences.covariates is None:
        raise ArgumentError("--at needs covariates.", remedy="Pass their table by --covariates.")
    return comparison.differences.covariates


def _sensitivity(result: ComparisonResult, alpha: float) -> Sensitivity | None:
    if result.status == "failed":
        tell("no sensitivity, because the computation failed its checks")
        return None
    return result.sensitivity(alpha=alpha, n_jobs=-1)


def _population_check(result: ComparisonResult, *, told: bool) -> PopulationCheck | None:
    """None where they can't be compared, which the report leaves out, and who asks for it is told."""
    try:
        return result.check_population()
    except (ArgumentError, NoVerdictError) as error:
        if told:
            tell(f"no check of the population: {error}")
        return None


def _plain_population_check(compared: PopulationCheck) -> list[dict[str, Any]]:
    frame = compared.to_frame().reset_index()
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.to_numpy(dtype=object).tolist()]


def _plain_variants(variants: Sensitivity) -> list[dict[str, Any]]:
    """Numbers of a variant whose computation failed are null."""
    return [
        {name: None if value != value else value for name, value in vars(variant).items()}
        | {"changed": variant.name in variants.changed}
        for variant in variants.variants
    ]
