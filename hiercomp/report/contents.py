"""Everything the reports show, gathered from a result; the templates only arrange it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from hiercomp.arguments import verdict_level
from hiercomp.closed_form.side_by_side import closed_form_tests_of
from hiercomp.errors import ArgumentError
from hiercomp.files.source import Source
from hiercomp.pairs.tournament import SIGNS
from hiercomp.plots.pairs import MOST_ALGORITHMS
from hiercomp.posterior.diagnostics import GOOD_INTEGRATION_ERROR
from hiercomp.posterior.effects import effects
from hiercomp.posterior.influence import Influence
from hiercomp.posterior.population_check import PopulationCheck
from hiercomp.posterior.sensitivity import Sensitivity
from hiercomp.posterior.verification import LARGEST_DISTANCE
from hiercomp.report import tables
from hiercomp.report.figures import Figure, report_figures, tournament_figures
from hiercomp.report.methods import Methods, all_verdicts, methods, tournament_methods
from hiercomp.report.provenance import (
    Fact,
    data_facts,
    setting_facts,
    software_facts,
    tournament_data_facts,
    tournament_setting_facts,
)
from hiercomp.report.tables import Table
from hiercomp.rope import Rope
from hiercomp.summary.comparison import summarise
from hiercomp.summary.scores_table import scores_table_of, tournament_scores_table
from hiercomp.summary.tournament import TOO_MANY_GROUPS, summarise_tournament
from hiercomp.wording import counted, measure_in_brackets, probability_text, shown, with_minus

if TYPE_CHECKING:
    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.fit import Fit

MOST_GROUPS = 100  # that the page lists
REGION = {"better": "left", "worse": "right", "equivalent": "rope"}
Item = TypeVar("Item", Figure, Table)


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What every report shows.

    Attributes
    ----------
    subtitle : str
        The data in one line.
    conclusion : str
        The verdict, or the counts of the verdicts, as in the summary.
    computation : str
        Engine, seed and errors in a sentence.
    notes : tuple of str
        Every warning.
    figures : mapping from key to (number, Figure)
    tables : mapping from key to (number, Table)
    data, settings, software : tuple of Fact
    methods : Methods
    """

    subtitle: str
    conclusion: str
    computation: str
    notes: tuple[str, ...]
    figures: dict[str, tuple[int, Figure]]
    tables: dict[str, tuple[int, Table]]
    data: tuple[Fact, ...]
    settings: tuple[Fact, ...]
    software: tuple[Fact, ...]
    methods: Methods


@dataclass(frozen=True, kw_only=True)
class ReportContents(Contents):
    """What the report of a comparison shows.

    Attributes
    ----------
    left, right : str
        The algorithms, control characters shown.
    standing : str
        The decision's region, "none", "undecided" or "failed".
    status : str
        "ok", "warned" or "failed", with what it means.
    positive : str
        P(delta0 > 0) in words; empty if there is no verdict.
    test_notes : tuple of str
        Tests that could not be run, and why.
    sensitivity, influence, population_check : str
        Their conclusions; empty if not requested.
    """

    left: str
    right: str
    standing: str
    status: str
    positive: str
    test_notes: tuple[str, ...]
    sensitivity: str
    influence: str
    population_check: str


@dataclass(frozen=True)
class Sign:
    """A cell of the matrix of verdicts.

    Attributes
    ----------
    region : str
        "left", "rope" or "right" if there is a verdict, else empty.
    mark : str
        As it is seen.
    spoken : str
        What a screen reader says.
    """

    region: str
    mark: str
    spoken: str


@dataclass(frozen=True, kw_only=True)
class TournamentContents(Contents):
    """What the report of every pair shows.

    Attributes
    ----------
    heading : str
        The number of algorithms, or the baseline.
    failed : bool
        Whether no pair could be computed.
    names : tuple of str
        The algorithms that are shown, best first.
    matrix : tuple of (str, tuple of Sign)
        The verdicts of each algorithm, in the order of ``names``; empty if there is a baseline.
    level : str
        Of the verdicts, such as "95%".
    left_out : str
        What the page leaves out, and where to find it; empty if it shows everything.
    cliques, equivalent : tuple of str
        Groups of algorithms that no verdict separates, and groups in which every pair is practically equivalent; a
        single line if they are too many to list.
    assumption : str
        The assumption of the ranking; empty if there is none.
    """

    heading: str
    failed: bool
    names: tuple[str, ...]
    matrix: tuple[tuple[str, tuple[Sign, ...]], ...]
    level: str
    left_out: str
    cliques: tuple[str, ...]
    equivalent: tuple[str, ...]
    assumption: str


def report_contents(
    result: Fit,
    *,
    sensitivity: Sensitivity | None = None,
    influence: Influence | None = None,
    population_check: PopulationCheck | None = None,
    source: Source | None = None,
    alpha: float = 0.05,
) -> ReportContents:
    """Gather what the page shows.

    Parameters
    ----------
    result : ComparisonResult
    sensitivity : Sensitivity, optional
        Of this result, at this level.
    influence : Influence, optional
        Of this result.
    population_check : PopulationCheck, optional
        Of this result.
    source : Source, optional
        The file of the scores.
    alpha : float
        Level of the verdict, between 0 and 0.5.

    Raises
    ------
    ArgumentError
        If alpha is outside its range, or ``sensitivity``, ``influence`` or ``population_check`` belongs to another
        comparison.
    """
    alpha = verdict_level(alpha)
    _check_sensitivity(sensitivity, result, alpha)
    _check_influence(influence, result)
    _check_fit_of_population(population_check, result)
    summary = summarise(result, alpha, population_check)
    failed, exact = result.status == "failed", result.differences.identical
    standing = "failed" if summary.decision is None else summary.decision.region
    tests = closed_form_tests_of(result)
    direction = "higher" if result.differences.higher_is_better else "lower"
    measured = measure_in_brackets(summary.measure, summary.transform)
    positive = ""
    if summary.next_dataset is not None and not exact:
        chance = probability_text(summary.next_dataset.p_positive)
        positive = (
            f"The probability that {shown(result.right)} is better on average (delta0 > 0) is {chance}. The probability of "
            f"being at least as good within the margin on the next data set: {summary.at_least_as_good}."
        )
    shown_tables = (
        None if failed else tables.next_dataset_table(result),
        None if failed else tables.odds_table(result),
        None if failed or exact else tables.population_table(result),
        tables.effects_table(effects(result, loo=False)) if summary.slopes else None,
        tables.datasets_table(result),
        None if result.differences.moments is None else tables.mean_scores_table(scores_table_of(result)),
        tables.diagnostics_table(result.diagnostics),
        tables.attempts_table(result),
        None if population_check is None else tables.population_check_table(population_check),
        tables.closed_form_table(tests, exact),
        None if sensitivity is None else tables.sensitivity_table(sensitivity),
        None if influence is None else tables.influence_table(influence),
    )
    described = methods(result, tests, sensitivity=sensitivity, influence=influence, alpha=alpha)
    return ReportContents(
        left=shown(result.left),
        right=shown(result.right),
        subtitle=(
            f"{counted(summary.n_datasets, 'data set')}, {result.differences.size_words}, "
            f"rope {with_minus(result.rope)}, {direction} scores are better{measured}"
        ),
        conclusion=printed(summary.conclusion, result.rope),
        standing=standing,
        status=f"{summary.status}: {result.diagnostics.status_meaning}",
        computation=summary.computation,
        positive=positive,
        notes=tuple(map(shown, summary.notes)),
        figures=numbered(
            report_figures(result, sensitivity, None if population_check is None else population_check.loo, alpha=alpha)
        ),
        tables=numbered(table for table in shown_tables if table is not None),
        test_notes=tuple(map(shown, tests.notes)),
        sensitivity="" if sensitivity is None else sensitivity.conclusion,
        influence="" if influence is None else influence.conclusion,
        population_check="" if population_check is None else shown(population_check.conclusion),
        data=data_facts(result, source),
        settings=setting_facts(result, alpha),
        software=software_facts(),
        methods=replace(described, text=printed(described.text, result.rope)),
    )


def tournament_contents(result: Tournament, *, source: Source | None = None, alpha: float = 0.05) -> TournamentContents:
    """Gather what the page shows.

    Parameters
    ----------
    result : TournamentResult
    source : Source, optional
        The file of the scores.
    alpha : float
        Level of the verdicts, between 0 and 0.5.

    Raises
    ------
    ArgumentError
        If alpha is outside its range.
    """
    alpha = verdict_level(alpha)
    level = f"{100 * (1 - alpha):g}%"
    order = _shown(result)
    verdicts = all_verdicts(result, alpha)
    ranking = result.ranking() if result.standings.dataset_names else None
    summary = summarise_tournament(result, alpha)
    figures = tournament_figures(result, order, verdicts, ranking, alpha)
    measured = measure_in_brackets(summary.measure, summary.transform)
    ranked = None if ranking is None else tables.ranking_table(ranking[ranking.index.isin(order)])
    pairs = [pair for pair in verdicts if set(pair) <= set(order)]
    scores = []
    if result.moments is not None:
        scores.append(tables.mean_scores_table(tournament_scores_table(result), order))
    left_out = ""
    if len(order) < len(result.order()):
        left_out = (
            f"The page shows the best {len(order)} of {len(result.order())} algorithms and the pairs of these; "
            "result.to_frame() and result.ranking() have all of them."
        )
    described = tournament_methods(result, verdicts, ranking, alpha)
    return TournamentContents(
        heading=f"{counted(len(result.order()), 'algorithm')}, pair by pair"
        if result.baseline is None
        else f"{counted(len(result.order()) - 1, 'algorithm')} against {shown(result.baseline)}",
        subtitle=(
            f"{counted(len(result.dataset_names), 'data set')}, {counted(len(verdicts), 'pair')}, "
            f"rope {with_minus(result.rope)}, verdicts at {level}, "
            f"{'higher' if result.higher_is_better else 'lower'} scores are better{measured}"
        ),
        conclusion=printed(summary.conclusion, result.rope),
        failed=set(verdicts.values()) == {"failed"},
        names=tuple(map(shown, order)),
        matrix=() if result.baseline is not None else _matrix(result, order, alpha),
        level=level,
        left_out=left_out,
        cliques=_listed(summary.cliques),
        equivalent=_listed(summary.equivalent),
        assumption=summary.assumption,
        computation=summary.computation,
        notes=tuple(map(shown, summary.notes)),
        figures=numbered(figures),
        tables=numbered([*([ranked] if ranked else []), tables.pairs_table(result, pairs, alpha), *scores]),
        data=tournament_data_facts(result, source),
        settings=tournament_setting_facts(result, alpha, ranking),
        software=software_facts(),
        methods=replace(described, text=printed(described.text, result.rope)),
    )


def printed(text: str, rope: Rope) -> str:
    """A text whose rope has the minus sign of print; nothing else in it changes."""
    return text.replace(str(rope), with_minus(rope))


def numbered(items: Iterable[Item]) -> dict[str, tuple[int, Item]]:
    """Figures or tables by key, with their numbers."""
    return {item.key: (place, item) for place, item in enumerate(items, start=1)}


def _check_sensitivity(sensitivity: Sensitivity | None, result: Fit, alpha: float) -> None:
    if sensitivity is None:
        return
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentError(f"sensitivity must be a result of result.sensitivity(), got {type(sensitivity).__name__}.")
    if sensitivity.alpha != alpha:
        raise ArgumentError(
            f"sensitivity was made with alpha={sensitivity.alpha:g} and the report has alpha={alpha:g}; make them equal."
        )
    first = sensitivity.variants[0]
    same = (sensitivity.algorithms, sensitivity.rope) == ((result.left, result.right), result.rope)
    if same and result.status != "failed":
        seen = result.next_dataset
        same = (first.p_left, first.p_rope, first.p_right) == (seen.p_left, seen.p_rope, seen.p_right)
    if not same:
        raise ArgumentError("sensitivity belongs to another comparison; pass result.sensitivity() of this result.")


def _check_influence(influence: Influence | None, result: Fit) -> None:
    if influence is None:
        return
    if not isinstance(influence, Influence):
        raise ArgumentError(f"influence must be a result of result.influence(), got {type(influence).__name__}.")
    same = (influence.algorithms, influence.dataset_names) == (
        (result.left, result.right),
        result.differences.dataset_names,
    )
    if same and result.status != "failed":
        # Influence is integrated, the result may have been sampled
        seen = result.next_dataset
        distance = np.abs(influence.all - list(seen.probabilities.values())).max()
        same = bool(distance <= LARGEST_DISTANCE * seen.largest_error + GOOD_INTEGRATION_ERROR)
    if not same:
        raise ArgumentError("influence belongs to another comparison; pass result.influence() of this result.")


def _check_fit_of_population(population_check: PopulationCheck | None, result: Fit) -> None:
    if population_check is None:
        return
    if not isinstance(population_check, PopulationCheck):
        raise ArgumentError(
            f"population_check must be a result of result.check_population(), got {type(population_check).__name__}."
        )
    seen = population_check.loo
    names = result.differences.dataset_names
    if (seen.algorithms, seen.dataset_names) != ((result.left, result.right), names) or (
        seen.population != result.priors.population
    ):
        raise ArgumentError(
            "population_check belongs to another comparison; pass result.check_population() of this result."
        )


def _shown(result: Tournament) -> list[str]:
    """The algorithms on the page, the best first; the baseline is included whatever its rank."""
    order = list(result.order()[:MOST_ALGORITHMS])
    if result.baseline is not None and result.baseline not in order:
        order[-1] = result.baseline
    return order


def _listed(groups: Sequence[tuple[str, ...]] | None) -> tuple[str, ...]:
    if groups is None:
        return (TOO_MANY_GROUPS,)
    listed = [", ".join(map(shown, group)) for group in groups[:MOST_GROUPS]]
    return (*listed, *([f"and {len(groups) - MOST_GROUPS:,} more"] if len(groups) > MOST_GROUPS else []))


def _matrix(result: Tournament, order: list[str], alpha: float) -> tuple[tuple[str, tuple[Sign, ...]], ...]:
    return tuple((shown(row), tuple(_sign(result, row, other, alpha) for other in order)) for row in order)


def _sign(result: Tournament, row: str, other: str, alpha: float) -> Sign:
    if row == other:
        return Sign("self", "", "itself")
    verdict = result.verdict(row, other, alpha)
    return Sign(REGION.get(verdict, ""), SIGNS[verdict], tables.VERDICTS.get(verdict, verdict))
