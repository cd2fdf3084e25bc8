"""The figures of the report of every pair, with words that state their numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hiercomp.plots.pairs import heatmap_size, plot_pairs_heatmap, plot_ranking, ranking_size
from hiercomp.report.figures import Figure, FigureSpec, draw
from hiercomp.wording import counted, probability_text, shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.pairs.result import TournamentResult

LARGEST_NAMED = 5  # algorithms whose chances of being the best the words state


def tournament_figures(
    result: TournamentResult,
    order: list[str],
    verdicts: dict[tuple[str, str], str],
    ranking: pd.DataFrame | None,
    alpha: float,
) -> tuple[Figure, ...]:
    """The heatmap, and the ranks where there are any.

    Parameters
    ----------
    result : TournamentResult
    order : list of str
        The algorithms that are drawn, the best first.
    verdicts : dict from pair to verdict
    ranking : DataFrame or None
    alpha : float
        Level of the verdicts.
    """
    specs = [_heatmap(result, order, verdicts, alpha)]
    if ranking is not None:
        specs.append(_ranking(result, order, ranking, alpha))
    return draw(specs, order)


def _heatmap(
    result: TournamentResult, order: list[str], verdicts: dict[tuple[str, str], str], alpha: float
) -> FigureSpec:
    drawn = {pair: verdict for pair, verdict in verdicts.items() if set(pair) <= set(order)}
    counts = Counter({"better": "better", "worse": "better"}.get(verdict, verdict) for verdict in drawn.values())
    phrases = {
        "better": "one algorithm is better",
        "equivalent": "the two are practically equivalent",
        "none": "there is no verdict",
        "undecided": "the probability is too close to its threshold to be called",
        "failed": "there is no result",
    }
    said = "; ".join(f"in {counts[name]:,} {text}" for name, text in phrases.items() if counts[name])
    return FigureSpec(
        "heatmap",
        heatmap_size(result, order),
        lambda figure: plot_pairs_heatmap(result, ax=figure.subplots(), alpha=alpha, algorithms=order),
        "Probabilities and verdicts of every pair",
        f"The algorithms, the best first: {', '.join(map(shown, order))}. Of "
        f"{counted(len(drawn), 'pair')}, {said}. The table of the pairs has every number.",
        "Every pair as a cell, filled from below with the probability that the row's algorithm is better on the next data "
        "set and above it with the probability of practical equivalence; the light rest is the probability that the "
        "column's algorithm is better. Signs are the verdicts.",
    )


def _ranking(result: TournamentResult, order: list[str], ranking: pd.DataFrame, alpha: float) -> FigureSpec:
    rows = [
        f"{shown(name)} {row['expected_rank']:.2f} (95% interval {row['lower']:.2f} to {row['upper']:.2f})"
        for name, row in ranking.iterrows()
        if name in order
    ]
    best = ranking["p_best"].sort_values(ascending=False, kind="stable").head(LARGEST_NAMED)
    chances = ", ".join(f"{shown(name)} {probability_text(float(value))}" for name, value in best.items())
    return FigureSpec(
        "ranking",
        ranking_size(order),
        lambda figure: plot_ranking(result, ax=figure.subplots(), alpha=alpha, algorithms=order),
        "Expected ranks of the algorithms on the next data set",
        f"Expected ranks: {'; '.join(rows)}. Probability of being the best: {chances}.",
        "Expected rank of each algorithm on the next data set, with its central 95% interval and, on the right, the "
        "probability of being the best. Bars join groups of algorithms that the verdicts of the pairs do not tell apart; a "
        "bar is thin where it passes an algorithm that does not belong to it.",
    )
