"""The HTML report of every pair of many algorithms: what it shows, gathered from a result, and its file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from hiercomp.arguments import number_between
from hiercomp.pairs.fits import FailedPair
from hiercomp.plots.pairs import MOST_ALGORITHMS
from hiercomp.report.figures import Figure
from hiercomp.report.methods import Methods
from hiercomp.report.page import free_path, render, write_page
from hiercomp.report.provenance import Fact, Source, file_facts, software_facts
from hiercomp.report.tables import Row, Table, column, number, numbered, probability, words
from hiercomp.report.tournament_figures import tournament_figures
from hiercomp.report.tournament_methods import tournament_methods, tournament_setting_facts
from hiercomp.summary.tournament import SIGNS
from hiercomp.wording import counted, shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.tournament import TournamentResult

MOST_GROUPS = 100  # that the page lists
REGION = {"better": "left", "worse": "right", "equivalent": "rope"}
SPOKEN = {"none": "no verdict", "equivalent": "practically equivalent", "failed": "no result"}


@dataclass(frozen=True)
class Sign:
    """A cell of the matrix of verdicts.

    Attributes
    ----------
    region : str
        "left", "rope" or "right" where there is a verdict, else empty.
    mark : str
        As it is seen.
    spoken : str
        What a screen reader says.
    """

    region: str
    mark: str
    spoken: str


@dataclass(frozen=True)
class TournamentContents:
    """What the page shows.

    Attributes
    ----------
    heading : str
        How many algorithms, or against which baseline.
    subtitle : str
    conclusion : str
        `TournamentSummary.conclusion`: how many pairs have which verdict, and the best rank.
    failed : bool
        Whether no pair could be computed.
    names : tuple of str
        The algorithms that are shown, best first.
    matrix : tuple of (str, tuple of Sign)
        The verdicts of each algorithm, in the order of ``names``; empty where there is a baseline.
    level : str
        Of the verdicts, such as "95%".
    left_out : str
        What the page leaves out, and where it is; empty where it shows all.
    cliques, equivalent : tuple of str
        Groups of indistinguishable algorithms, and groups in which every two are practically equivalent.
    assumption : str
        Of the ranking; empty where there is none.
    computation : str
        Engine, seed and the largest error.
    notes : tuple of str
        Every warning.
    figures : mapping from key to (number, Figure)
    tables : mapping from key to (number, Table)
    data, settings, software : tuple of Fact
    methods : Methods
    """

    heading: str
    subtitle: str
    conclusion: str
    failed: bool
    names: tuple[str, ...]
    matrix: tuple[tuple[str, tuple[Sign, ...]], ...]
    level: str
    left_out: str
    cliques: tuple[str, ...]
    equivalent: tuple[str, ...]
    assumption: str
    computation: str
    notes: tuple[str, ...]
    figures: dict[str, tuple[int, Figure]]
    tables: dict[str, tuple[int, Table]]
    data: tuple[Fact, ...]
    settings: tuple[Fact, ...]
    software: tuple[Fact, ...]
    methods: Methods


def write_tournament_report(
    result: TournamentResult,
    path: str | Path,
    *,
    source: Source | str | Path | None = None,
    alpha: float = 0.05,
    overwrite: bool = False,
) -> Path:
    """Write one self-contained HTML page of every pair: verdicts, ranking, groups, each pair's numbers, provenance, Methods.

    The page loads nothing from elsewhere and needs no script. The same result gives the same bytes. The file appears whole
    or not at all. Of more than 40 algorithms it shows the best 40, and says so.

    Parameters
    ----------
    result : TournamentResult
        From `hiercomp.compare_all`.
    path : str or Path
        Where to write it, such as "pairs.html".
    source : Source, str or Path, optional
        The file of the scores, whose name (without its folder) and SHA-256 the report shows.
    alpha : float
        Level of the verdicts, between 0 and 0.5.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    Path

    Raises
    ------
    ResultFileError
        If the file exists and ``overwrite`` is False, or can't be written.
    ScoreFileError
        If ``source`` can't be read.
    ArgumentError
        If ``alpha`` is outside its range.

    Examples
    --------
    >>> import tempfile
    >>> from hiercomp.scores.bundled import load_scores
    >>> from hiercomp.tournament import compare_all
    >>> scores = load_scores("keel")
    >>> three = scores[scores["algorithm"].isin(["naive_bayes", "decision_tree", "random_forest"])]
    >>> pairs = compare_all(three, rope=0.01, n_jobs=1, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_tournament_report(pairs, Path(folder) / "pairs.html").read_text(encoding="utf-8")
    >>> pairs.summary().conclusion in page
    True
    """
    path = free_path(path, overwrite)
    if source is not None and not isinstance(source, Source):
        source = Source.of(source)
    contents = tournament_contents(result, source=source, alpha=alpha)
    return write_page(render(contents, "tournament.html.j2"), path)


def tournament_contents(
    result: TournamentResult, *, source: Source | None = None, alpha: float = 0.05
) -> TournamentContents:
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
    alpha = number_between("alpha", alpha, 0, 0.5)
    level = f"{100 * (1 - alpha):g}%"
    order = _shown(result)
    verdicts = all_verdicts(result, alpha)
    ranking = result.ranking() if result.standings.dataset_names else None
    summary = result.summary(alpha)
    figures = tournament_figures(result, order, verdicts, ranking, alpha)
    pairs = [pair for pair in verdicts if set(pair) <= set(order)]
    left_out = ""
    if len(order) < len(result.order()):
        left_out = (
            f"The page shows the best {len(order)} of {len(result.order())} algorithms and the pairs of these; "
            "result.to_frame() and result.ranking() have all."
        )
    return TournamentContents(
        heading=f"{counted(len(result.order()), 'algorithm')}, pair by pair"
        if result.baseline is None
        else f"{counted(len(result.order()) - 1, 'algorithm')} against {shown(result.baseline)}",
        subtitle=(
            f"{counted(len(result.dataset_names), 'data set')}, {counted(len(verdicts), 'pair')}, rope {result.rope}, "
            f"verdicts at {level}"
        ),
        conclusion=summary.conclusion,
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
        figures={figure.key: (place, figure) for place, figure in enumerate(figures, start=1)},
        tables=numbered(
            (
                None if ranking is None else ranking_table(ranking.loc[_within(ranking, order)]),
                pairs_table(result, pairs, alpha),
            )
        ),
        data=_data_facts(result, source),
        settings=tournament_setting_facts(result, alpha, ranking),
        software=software_facts(),
        methods=tournament_methods(result, verdicts, ranking, alpha),
    )


def all_verdicts(result: TournamentResult, alpha: float) -> dict[tuple[str, str], str]:
    """The verdict of every pair that was to be compared, the better placed algorithm first."""
    found = {pair: result.verdict(*pair, alpha) for pair in combinations(result.order(), 2)}
    return {pair: verdict for pair, verdict in found.items() if verdict != "not compared"}


def outcome(pair: tuple[str, str], verdict: str) -> str:
    """A verdict in words that name the algorithm."""
    first, second = map(shown, pair)
    return {"better": f"{first} better", "worse": f"{second} better"}.get(verdict, SPOKEN.get(verdict, verdict))


def ranking_table(ranking: pd.DataFrame) -> Table:
    """Expected rank of each algorithm and its probability of being the best."""
    rows = [
        Row(
            (
                words(name),
                *(number(row[key], f"{row[key]:.2f}") for key in ("expected_rank", "lower", "upper")),
                probability(row["p_best"]),
            )
        )
        for name, row in ranking.iterrows()
    ]
    return Table(
        "ranking",
        "Expected ranks on the next data set, 1 is best.",
        ("Algorithm", "Expected rank", "Lower", "Upper", "P(best)"),
        tuple(rows),
        "Lower and upper: central 95% interval of the expected rank. P(best): probability of being the best of all on the "
        "next data set, ties shared.",
        sortable=True,
    )


def pairs_table(result: TournamentResult, pairs: list[tuple[str, str]], alpha: float) -> Table:
    """One row for each pair, the better placed algorithm first."""
    number_of = {name: place for place, name in enumerate(result.algorithms)}
    squares = (result.better(), result.equivalent(), result.expected_difference())
    better, equivalent, expected = (square.to_numpy(dtype=float) for square in squares)
    entries = {frozenset((pair.left, pair.right)): pair for pair in result.pairs}
    differences = column(expected[number_of[first], number_of[second]] for first, second in pairs)
    rows = []
    for pair, difference in zip(pairs, differences, strict=True):
        i, j = (number_of[name] for name in pair)
        found = entries[frozenset(pair)]
        size = math.nan if isinstance(found, FailedPair) else float(len(found.differences.dataset_names))
        chances = (probability(value) for value in (better[i, j], equivalent[i, j], better[j, i]))
        verdict = words(outcome(pair, result.verdict(*pair, alpha)))
        rows.append(Row((*map(words, pair), *chances, difference, number(size, f"{size:,.0f}"), verdict)))
    return Table(
        "pairs",
        "Every pair, one in each row.",
        (
            "First",
            "Second",
            "P(first better)",
            "P(equivalent)",
            "P(second better)",
            "Difference",
            "Data sets",
            "Verdict",
        ),
        tuple(rows),
        "P: posterior probability that this outcome is the likeliest one on the next data set. Difference: posterior mean "
        "of the mean difference over data sets, above zero where the first algorithm is better. Data sets: those that both "
        "algorithms have.",
        sortable=True,
    )


def _shown(result: TournamentResult) -> list[str]:
    """The algorithms of the page, the best first, and the baseline whatever its place."""
    order = list(result.order()[:MOST_ALGORITHMS])
    if result.baseline is not None and result.baseline not in order:
        order[-1] = result.baseline
    return order


def _within(ranking: pd.DataFrame, order: list[str]) -> list[bool]:
    chosen = set(order)
    return [name in chosen for name in ranking.index]


def _listed(groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    listed = [", ".join(map(shown, group)) for group in groups[:MOST_GROUPS]]
    return (*listed, *([f"and {len(groups) - MOST_GROUPS:,} more"] if len(groups) > MOST_GROUPS else []))


def _matrix(result: TournamentResult, order: list[str], alpha: float) -> tuple[tuple[str, tuple[Sign, ...]], ...]:
    return tuple((shown(row), tuple(_sign(result, row, other, alpha) for other in order)) for row in order)


def _sign(result: TournamentResult, row: str, other: str, alpha: float) -> Sign:
    if row == other:
        return Sign("self", "", "itself")
    verdict = result.verdict(row, other, alpha)
    return Sign(REGION.get(verdict, ""), SIGNS[verdict], SPOKEN.get(verdict, verdict))


def _data_facts(result: TournamentResult, source: Source | None) -> tuple[Fact, ...]:
    return (
        *file_facts(source),
        Fact("Algorithms", f"{len(result.algorithms):,}: {', '.join(map(shown, result.algorithms))}"),
        Fact("Metric", f"{'higher' if result.higher_is_better else 'lower'} is better"),
        Fact("Data sets", f"{len(result.dataset_names):,}: {', '.join(map(shown, result.dataset_names))}"),
    )
