"""Plots of every pair of many algorithms: the heatmap of the pairs, and the expected ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import FloatArray, true_or_false, verdict_level
from hiercomp.errors import ArgumentError
from hiercomp.plots.style import (
    COLOURS,
    GAP,
    INK,
    LETTER,
    PAGE_WIDTH,
    axes,
    broken,
    distinct_labels,
    in_lines,
    labels,
    legend,
    options,
    plainly,
    rank_ticks,
    stretches,
)
from hiercomp.rope import REGIONS
from hiercomp.wording import counted, probability_text, shown, with_minus

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.path import Path

    from hiercomp.pairs.tournament import Tournament

MOST_ALGORITHMS = 40  # whose names can be read at a page's width
LARGEST_CELL, LINE = 0.85, 0.14  # inches: of a cell, and of a line of names
MOST_LINES = 2  # of a name above its cells; longer names are upright
NO_BREAK = "\N{NO-BREAK SPACE}"
TINTS = {"left": 0.75, "rope": 0.4, "right": 0.12}  # dark, middle and light: they differ in grey too
WORDS = {"left": "P(row better)", "rope": "P(practically equivalent)", "right": "P(column better)"}
# Of the signs, in the legend
MEANINGS = {
    "better": "verdict: row better",
    "worse": "verdict: column better",
    "equivalent": "verdict: equivalent",
    "undecided": "undecided: too close to call",
    "failed": "no result",
    "not compared": "not compared",
}
NUMBERS_FROM, FLAT_NAMES_FROM = 34.0, 58.0  # points that a cell must measure for its numbers, and its name, to be read
OUTLINE = "#9A9A9A"
CELL = 0.92  # of the grid's step, which leaves a gap
LONGEST_TITLE = 30  # characters of a line, however narrow the axes are
MOST_BARS = 16  # columns of cliques beside the ranks


def plot_pairs_heatmap(
    result: Tournament,
    *,
    ax: Axes | None = None,
    alpha: float = 0.05,
    algorithms: Sequence[str] | None = None,
    numbers: bool | None = None,
    **cells: Any,
) -> Axes:
    """Every pair as a cell, filled from below with P(row better), then P(equivalent); signs mark the verdicts.

    The algorithms are in the order of `TournamentResult.order`, the best first; if they were only compared with a
    baseline, it is the only row. The rest of a cell, at the top, is the probability that the column's algorithm is
    better.

    Parameters
    ----------
    result : TournamentResult
        From `hiercomp.compare_all`.
    ax : matplotlib.axes.Axes, optional
    alpha : float
        Level of the verdicts.
    algorithms : sequence of str, optional
        The algorithms to draw, at most 40; by default all.
    numbers : bool, optional
        Whether to write P(row better) over P(equivalent) into the cells; by default if the cells are large enough.
    **cells
        Passed on to ``matplotlib.collections.PolyCollection`` for the fillings.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        If there are more than 40 algorithms to draw, or one of them is not the result's.
    """
    alpha = verdict_level(alpha)
    if numbers is not None:
        true_or_false("numbers", numbers)
    order = _chosen(result.order(), algorithms)
    rows, columns = _sides(result, order)
    ax = axes(ax, *heatmap_size(result, order))
    better, equivalent = (
        frame.loc[rows, columns].to_numpy(dtype=float) for frame in (result.better(), result.equivalent())
    )
    worse = result.better().loc[columns, rows].to_numpy(dtype=float).T
    _fill(ax, {"left": better, "rope": equivalent, "right": worse}, cells)
    verdicts = {
        (i, j): result.verdict(one, other, alpha)
        for i, one in enumerate(rows)
        for j, other in enumerate(columns)
        if one != other
    }
    signs = _signs(ax, verdicts)
    _name(ax, rows, columns)
    legend(ax, columns=3, handlelength=1.2)
    explained = ax.get_legend()
    assert explained is not None
    for patch in explained.get_patches():
        patch.set(edgecolor=OUTLINE, linewidth=0.4)
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # the layout and the aspect are known after it
    _turn_if_crowded(ax, _labels(rows, columns)[1])
    size = _points(ax) / len(columns)
    written = size >= NUMBERS_FROM if numbers is None else numbers
    for verdict, line in signs.items():
        line.set_markersize(min(8.0, (0.26 if written else 0.5) * size) * (0.8 if verdict == "undecided" else 1))
        line.set_markeredgewidth(max(0.5, min(1.4, 0.09 * size)))
        if written:
            line.set_ydata(np.asarray(line.get_ydata()) - 0.24)
    ax.tick_params(labelsize=max(4.5, min(8.0, 0.75 * size)))
    if written:
        for i, j in np.argwhere(np.isfinite(better)).tolist():
            text = f"{probability_text(better[i, j])}\n{probability_text(equivalent[i, j])}"
            ax.text(j, i + 0.16, text, ha="center", va="center", fontsize=min(8.0, 0.17 * size), color=INK)
    how = ["Numbers: P(row better) over P(equivalent)"] if written else []
    rope = f"rope {with_minus(result.rope)}".replace(" ", NO_BREAK)
    lines = [f"Verdicts at {100 * (1 - alpha):g}% (no sign: no verdict), {rope}", *how]
    width = max(LONGEST_TITLE, round(_points(ax) / 72 / LETTER))
    plainly(ax.set_title("\n".join(in_lines(line, width) for line in lines), size="small", loc="left"))
    for _ in range(2):  # the layout takes two passes
        figure.draw_without_rendering()
    return ax


def plot_ranking(
    result: Tournament,
    *,
    ax: Axes | None = None,
    alpha: float = 0.05,
    algorithms: Sequence[str] | None = None,
    **line: Any,
) -> Axes:
    """Expected rank of each algorithm with its 95% interval, best at the top; bars join indistinguishable ones.

    Beside each algorithm is the probability that it is the best on the next data set. The ranks come from
    `TournamentResult.ranking`, with the same assumption; the bars come from `TournamentResult.cliques`, that is, from
    the verdicts of the pairs and not from the ranks. A bar is thin where it passes an algorithm that it does not join.
    Joined algorithms need not be equivalent.

    Parameters
    ----------
    result : TournamentResult
        From `hiercomp.compare_all`.
    ax : matplotlib.axes.Axes, optional
    alpha : float
        Level of the verdicts behind the bars.
    algorithms : sequence of str, optional
        The algorithms to draw, at most 40, ranked among all; by default all.
    **line
        Passed on to ``Axes.hlines`` for the intervals.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        If there are more than 40 algorithms to draw, or one of them is not the result's.
    """
    alpha = verdict_level(alpha)
    everything = result.ranking()
    table = everything.loc[_chosen(tuple(everything.index), algorithms)]
    total, count = len(everything), len(table)
    names = distinct_labels(list(table.index))
    ax = axes(ax, *ranking_size(list(table.index)))
    rows = np.arange(count)
    drawn = options(line, color=COLOURS["rope"], linewidth=3.0)
    ax.hlines(rows, table["lower"].to_numpy(), table["upper"].to_numpy(), **drawn)
    ax.plot(table["expected_rank"], rows, "o", color=COLOURS["right"], markersize=5, markeredgecolor="white")
    chances = [probability_text(float(value)) for value in table["p_best"]]
    for place, text in zip([-0.9, *rows], ["P(best)", *chances], strict=True):
        ax.annotate(
            text,
            (1, place),
            xycoords=ax.get_yaxis_transform(),
            xytext=(36, 0),
            textcoords="offset points",
            fontsize="small",
            ha="right",
            va="center",
            annotation_clip=False,
        )
    try:
        groups, how = _cliques(result, table, alpha), "Bars join indistinguishable algorithms"
    except ArgumentError:  # more than anyone could read
        groups, how = [], "Too many groups for bars"
    left_out = _bars(ax, groups, total)
    ax.set_ylim(count - 0.5, -0.5)
    ax.set_yticks(rows, names)
    plainly(ax.get_yticklabels())
    ax.set_xticks(rank_ticks(total))
    ax.xaxis.grid(True, color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    more = f"; {counted(left_out, 'more group')} not drawn" if left_out else ""
    labels(ax, f"expected rank of {total} on the next data set, with 95% interval (1 is best)")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.spines["bottom"].set_bounds(1, total)
    compared = "" if result.baseline is None else f"; only pairs with {shown(result.baseline)} were compared"
    title = f"{how} at {100 * (1 - alpha):g}%{more}{compared}"
    plainly(ax.set_title(title, size="small", loc="left", pad=16))
    return ax


def heatmap_size(result: Tournament, algorithms: Sequence[str]) -> tuple[float, float]:
    """Width and height in inches of the heatmap of these algorithms: as large as needed, but no wider than a page."""
    rows, columns = map(len, _sides(result, list(algorithms)))
    names = distinct_labels(algorithms)
    longest = LETTER * max(map(len, names))
    width = min(PAGE_WIDTH, max(4.4, 1.3 + longest + 0.62 * columns))
    step = min(LARGEST_CELL, (width - 0.3 - longest) / columns)
    width = max(4.4, 0.3 + longest + step * columns)
    flat = _flat(names, step)
    above = LINE * max(name.count("\n") + 1 for name in flat) if flat else longest
    return width, step * rows + above + 1.3


def ranking_size(algorithms: Sequence[str]) -> tuple[float, float]:
    """Width and height in inches of the plot of these algorithms' ranks."""
    longest = LETTER * max(map(len, distinct_labels(algorithms)))
    return min(PAGE_WIDTH, 4.6 + longest), 1.3 + 0.23 * len(algorithms)


def _chosen(order: Sequence[str], algorithms: Sequence[str] | None) -> list[str]:
    """The algorithms to draw, the best first."""
    wanted = order if algorithms is None else algorithms
    if isinstance(wanted, str):
        raise ArgumentError(f"algorithms must be a list of names, got a single string: {wanted!r}.")
    unknown = [name for name in wanted if name not in order]
    if unknown:
        raise ArgumentError(f"{unknown[0]!r} is not an algorithm of this result; they are in result.order().")
    chosen = [name for name in order if name in set(wanted)]
    if not 2 <= len(chosen) <= MOST_ALGORITHMS:
        raise ArgumentError(
            f"{counted(len(chosen), 'algorithm')} can't be drawn, only 2 to {MOST_ALGORITHMS}. Name some, such as "
            f"algorithms=result.order()[:{MOST_ALGORITHMS}]."
        )
    return chosen


def _sides(result: Tournament, order: list[str]) -> tuple[list[str], list[str]]:
    """The algorithms of the rows and of the columns."""
    if result.baseline is None:
        return order, order
    return [result.baseline], [name for name in order if name != result.baseline]


def _tint(region: str) -> tuple[float, float, float, float]:
    """The region's colour, so transparent that the signs are readable on it, on a light and on a dark page."""
    from matplotlib.colors import to_rgba

    return to_rgba(COLOURS[region], TINTS[region])


def _fill(ax: Axes, probabilities: dict[str, FloatArray], cells: dict[str, Any]) -> None:
    """The three probabilities of each cell, stacked."""
    from matplotlib.collections import PolyCollection

    row, column = np.nonzero(np.isfinite(probabilities["left"]))
    floor = row + CELL / 2  # rows count downwards
    for region in REGIONS:
        height = CELL * probabilities[region][row, column]
        boxes = _boxes(column, floor, floor - height)[height > 0]
        drawn = options(cells, facecolor=_tint(region), linewidth=0, label=WORDS[region])
        ax.add_collection(PolyCollection(list(boxes), **drawn))
        floor = floor - height
    outlines = _boxes(column, row + CELL / 2, row - CELL / 2)
    ax.add_collection(PolyCollection(list(outlines), facecolor="none", edgecolor=OUTLINE, linewidth=0.4))


def _name(ax: Axes, rows: list[str], columns: list[str]) -> None:
    """The axes of the cells, with the algorithms' names; those at the top are upright if the cells are narrow."""
    beside, above = _labels(rows, columns)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.xaxis.tick_top()
    flat = _flat(above, min(LARGEST_CELL, _points(ax) / 72 / len(columns)))
    ax.set_xticks(range(len(columns)), flat or above, rotation=0 if flat else 90)
    ax.set_yticks(range(len(rows)), beside)
    plainly([*ax.get_xticklabels(), *ax.get_yticklabels()])
    labels(ax)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _flat(names: list[str], step: float) -> list[str]:
    """The names in few lines that fit above cells of ``step`` inches; none if they don't."""
    if 72 * step < FLAT_NAMES_FROM:
        return []
    lines = [broken(name, int(0.85 * step / LETTER)) for name in names]
    return lines if max(name.count("\n") for name in lines) < MOST_LINES else []


def _labels(rows: list[str], columns: list[str]) -> tuple[list[str], list[str]]:
    """The names of rows and columns as labels, the same for the same name."""
    names = list(dict.fromkeys([*rows, *columns]))
    named = dict(zip(names, distinct_labels(names), strict=True))
    return [named[name] for name in rows], [named[name] for name in columns]


def _turn_if_crowded(ax: Axes, names: list[str]) -> None:
    """The names above the cells are turned upright if they meet."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    boxes = [tick.get_window_extent() for tick in ax.get_xticklabels()]
    if any(one.x1 + GAP > other.x0 for one, other in pairwise(boxes)):
        ax.set_xticks(range(len(names)), names, rotation=90)
        plainly(ax.get_xticklabels())
        figure.draw_without_rendering()


def _boxes(column: np.ndarray, bottom: np.ndarray, top: np.ndarray) -> FloatArray:
    """Corners of the boxes, shape (boxes, 4, 2)."""
    left, right = column - CELL / 2, column + CELL / 2
    x, y = np.stack([left, right, right, left], axis=1), np.stack([bottom, bottom, top, top], axis=1)
    return np.stack([x, y], axis=2)


def _signs(ax: Axes, verdicts: Mapping[tuple[int, int], str]) -> dict[str, Any]:
    """The signs of the verdicts present, one set of markers for each."""
    drawn = {}
    for verdict, meaning in MEANINGS.items():
        places = [place for place, found in verdicts.items() if found == verdict]
        if places:
            rows, columns = zip(*places, strict=True)
            (drawn[verdict],) = ax.plot(
                columns, rows, linestyle="none", marker=_marker(verdict), color=INK, markersize=5, label=meaning
            )
    return drawn


def _marker(verdict: str) -> str | Path:
    from matplotlib.path import Path

    if verdict == "equivalent":
        return Path([(-1, -0.5), (1, -0.5), (-1, 0.5), (1, 0.5)], [1, 2, 1, 2])
    return {"better": "+", "worse": "_", "undecided": "$?$", "failed": "x", "not compared": "."}[verdict]


def _points(ax: Axes) -> float:
    """Width of the axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return float(ax.get_window_extent().width / figure.dpi * 72)


def _cliques(result: Tournament, table: pd.DataFrame, alpha: float) -> list[list[int]]:
    """Rows of the drawn members of each group, without groups that are part of another."""
    place = {name: row for row, name in enumerate(table.index)}
    groups = {
        tuple(sorted(place[name] for name in group if name in place)): None for group in result.cliques(alpha=alpha)
    }
    found = [list(group) for group in groups if len(group) > 1]
    whole = [group for group in found if not any(set(group) < set(other) for other in found)]
    return sorted(whole, key=lambda group: (group[0], group[-1]))


def _bars(ax: Axes, groups: list[list[int]], total: int) -> int:
    """A bar for each group, right of the ranks, in as few columns as possible; returns how many are left out."""
    ends: list[int] = []
    step = 0.03 * (total - 1)
    start = total + 0.04 * (total - 1)
    left_out = 0
    for group in groups:
        free = next((column for column, end in enumerate(ends) if group[0] > end), len(ends))
        if free == MOST_BARS:
            left_out += 1
            continue
        ends[free : free + 1] = [group[-1]]
        x = start + step * free
        ax.plot([x, x], [group[0] - 0.3, group[-1] + 0.3], color=INK, linewidth=0.7)
        for first, last in stretches(group):
            ax.plot([x, x], [first - 0.3, last + 0.3], color=INK, linewidth=3.0, solid_capstyle="butt")
    ax.set_xlim(1 - 0.04 * (total - 1), start + step * max(len(ends) - 0.4, 0))
    return left_out
