"""Everything that a report shows, gathered from a result; the template only arranges it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.arguments import number_between
from hiercomp.errors import ArgumentError
from hiercomp.report import tables
from hiercomp.report.figures import Figure, report_figures
from hiercomp.report.methods import Methods, methods
from hiercomp.report.provenance import Fact, Source, data_facts, setting_facts, software_facts
from hiercomp.report.tables import Table
from hiercomp.wording import counted, probability_text, shown

if TYPE_CHECKING:
    from hiercomp.comparison import ComparisonResult
    from hiercomp.posterior.influence import Influence
    from hiercomp.posterior.sensitivity import Sensitivity


@dataclass(frozen=True)
class ReportContents:
    """What the page shows.

    Attributes
    ----------
    left, right : str
        The algorithms, control characters shown.
    subtitle : str
        Data sets, scores, rope and direction in a line.
    conclusion : str
        The verdict in a sentence: `Summary.conclusion`.
    standing : str
        The decision's region, "none", "undecided" or "failed".
    status : str
        "ok", "warned" or "failed", with what it means.
    computation : str
        Engine, run lengths, seed and diagnostics in a sentence.
    positive : str
        P(delta0 > 0) in words; empty where there is no verdict.
    exact : bool
        Whether nothing was sampled, since the scores are identical.
    notes : tuple of str
        Every warning.
    figures : mapping from key to (number, Figure)
    tables : mapping from key to (number, Table)
    closed_form_notes : tuple of str
        Tests that could not be done, and why.
    sensitivity, influence : str
        Their conclusions; empty where they were not asked for.
    data, settings, software : tuple of Fact
    methods : Methods
    """

    left: str
    right: str
    subtitle: str
    conclusion: str
    standing: str
    status: str
    computation: str
    positive: str
    exact: bool
    notes: tuple[str, ...]
    figures: dict[str, tuple[int, Figure]]
    tables: dict[str, tuple[int, Table]]
    closed_form_notes: tuple[str, ...]
    sensitivity: str
    influence: str
    data: tuple[Fact, ...]
    settings: tuple[Fact, ...]
    software: tuple[Fact, ...]
    methods: Methods


def report_contents(
    result: ComparisonResult,
    *,
    sensitivity: Sensitivity | None = None,
    influence: Influence | None = None,
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
    source : Source, optional
        The file of the scores.
    alpha : float
        Level of the verdict, between 0 and 0.5.

    Raises
    ------
    ArgumentError
        If alpha is outside its range, or ``sensitivity`` or ``influence`` belongs to another comparison.
    """
    alpha = number_between("alpha", alpha, 0, 0.5)
    _check_sensitivity(sensitivity, result, alpha)
    _check_influence(influence, result)
    summary = result.summary(alpha)
    failed, exact = result.status == "failed", result.differences.identical
    standing = "failed" if summary.decision is None else summary.decision.region
    closed_form = result.closed_form_tests()
    direction = "higher" if result.differences.higher_is_better else "lower"
    positive = ""
    if summary.next_dataset is not None and not exact:
        chance = probability_text(summary.next_dataset.p_positive)
        positive = f"The probability that {shown(result.right)} is better on average (delta0 > 0) is {chance}."
    shown_tables = tables.numbered(
        (
            None if failed else tables.next_dataset_table(result),
            None if failed else tables.odds_table(result),
            None if failed or exact else tables.population_table(result),
            tables.datasets_table(result),
            tables.diagnostics_table(result.diagnostics),
            tables.attempts_table(result),
            tables.closed_form_table(closed_form, exact),
            None if sensitivity is None else tables.sensitivity_table(sensitivity),
            None if influence is None else tables.influence_table(influence),
        )
    )
    figures = report_figures(result, sensitivity)
    return ReportContents(
        left=shown(result.left),
        right=shown(result.right),
        subtitle=(
            f"{counted(summary.n_datasets, 'data set')}, {counted(summary.n_scores, 'paired score')}, rope {result.rope}, "
            f"{direction} scores are better"
        ),
        conclusion=summary.conclusion,
        standing=standing,
        status=f"{summary.status}: {result.diagnostics.status_meaning}",
        computation=summary.computation,
        positive=positive,
        exact=exact,
        notes=tuple(map(shown, summary.notes)),
        figures={figure.key: (place, figure) for place, figure in enumerate(figures, start=1)},
        tables=shown_tables,
        closed_form_notes=tuple(map(shown, closed_form.notes)),
        sensitivity="" if sensitivity is None else sensitivity.conclusion,
        influence="" if influence is None else influence.conclusion,
        data=data_facts(result, source),
        settings=setting_facts(result, alpha),
        software=software_facts(),
        methods=methods(result, closed_form, sensitivity=sensitivity, influence=influence, alpha=alpha),
    )


def _check_sensitivity(sensitivity: Sensitivity | None, result: ComparisonResult, alpha: float) -> None:
    from hiercomp.posterior.sensitivity import Sensitivity

    if sensitivity is None:
        return
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentError(f"sensitivity must be what result.sensitivity() returns, got {type(sensitivity).__name__}.")
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


def _check_influence(influence: Influence | None, result: ComparisonResult) -> None:
    from hiercomp.posterior.influence import Influence

    if influence is None:
        return
    if not isinstance(influence, Influence):
        raise ArgumentError(f"influence must be what result.influence() returns, got {type(influence).__name__}.")
    same = (influence.algorithms, influence.dataset_names) == (
        (result.left, result.right),
        result.differences.dataset_names,
    )
    if same and result.status != "failed":
        same = bool(np.array_equal(influence.all, list(result.next_dataset.probabilities.values())))
    if not same:
        raise ArgumentError("influence belongs to another comparison; pass result.influence() of this result.")
