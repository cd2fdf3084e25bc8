"""What all plots share: colours, axes, names as labels, the rope."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hiercomp.rope import Rope
from hiercomp.scores.scale import IN_ROPES, LOG
from hiercomp.wording import outcome_words, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Vermilion, grey and blue of Okabe & Ito: distinct to colour-blind readers, and of different lightness in grey
COLOURS = {"left": "#D55E00", "rope": "#8C8C8C", "right": "#0072B2"}
HATCHES = {"left": "//", "rope": "", "right": "\\\\"}
INK = "#222222"
LONGEST_NAME = 28
LONGEST_LINE = 34  # characters under axes of one column
COLUMN_WIDTH, PAGE_WIDTH = 3.5, 7.1  # inches, of a two-column journal and of its page
LETTER = 0.067  # inches: of a letter of a name
FEWEST_STEPS, MOST_STEPS, STEP = 3, 5, 0.5  # between the numbers of an axis, and inches of one
BROADER = 1.25  # than its axes a legend may be
GAP = 3.0  # points between the labels of an axis and its legend


def axes(ax: Axes | None, width: float = COLUMN_WIDTH, height: float = 2.6) -> Axes:
    """The axes given, or new ones on a figure of pyplot's."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def label(name: str) -> str:
    """A name as a label: control characters shown, long ones cut in the middle."""
    plain = _in_legends(shown(name))
    if len(plain) <= LONGEST_NAME:
        return plain
    half = (LONGEST_NAME - 1) // 2
    return f"{plain[:half]}…{plain[-half:]}"


def side_labels(left: str, right: str) -> tuple[str, str]:
    """The names of both algorithms as labels that differ.

    Examples
    --------
    >>> side_labels("gradient_boosting_depth_3_with_100_trees", "gradient_boosting_depth_9_with_100_trees")
    ('gradient_bo…3_with_100_trees', 'gradient_bo…9_with_100_trees')
    """
    one, other = label(left), label(right)
    if one == other:
        one, other = map(_in_legends, distinct_labels((left, right)))
    return one, other


def _in_legends(text: str) -> str:
    """Matplotlib leaves labels that begin with an underscore out of legends."""
    return f" {text}" if text.startswith("_") else text


def distinct_labels(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Names as different labels of at most ``longest`` characters, with the middle cut out if necessary.

    The cut is placed so that they stay different; if that fails, they are numbered.

    Examples
    --------
    >>> distinct_labels(["forest_with_100_trees_and_depth_3", "forest_with_900_trees_and_depth_3"], longest=20)
    ['forest_with_1…epth_3', 'forest_with_9…epth_3']
    """
    plain = [shown(name) for name in names]
    middle = (longest - 1) // 2
    for head in sorted(range(longest), key=lambda place: (abs(place - middle), place)):
        cut = [_cut(name, longest, head) for name in plain]
        if len(set(cut)) == len(cut):
            return cut
    return [
        f"{place}. {_cut(name, longest - len(f'{place}. '), middle // 2)}" for place, name in enumerate(plain, start=1)
    ]


def _cut(name: str, longest: int, head: int) -> str:
    if len(name) <= longest:
        return name
    tail = longest - 1 - head
    return f"{name[:head]}…{name[len(name) - tail :]}"


def in_lines(text: str, width: int = LONGEST_LINE) -> str:
    """A text in lines of about ``width`` characters, broken at spaces."""
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def broken(text: str, width: int = 15) -> str:
    """A label in lines of at most ``width`` characters, if possible broken after underscores, hyphens, dots, spaces."""
    lines = [""]
    for part in re.split(r"(?<=[_\-. ])", text):
        while len(part) > width:
            lines, part = [*lines, part[:width]] if lines[-1] else [part[:width]], part[width:]
            lines.append("")
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines if line)


def plainly(texts: Text | Sequence[Text]) -> None:
    """No mathematics in names: a dollar sign stays a dollar sign."""
    for text in [texts] if not isinstance(texts, Sequence) else texts:
        text.set_parse_math(False)


def labels(ax: Axes, x: str = "", y: str = "", title: str = "") -> None:
    """Labels and title of axes, as plain text; few numbers on the horizontal axis, which would otherwise run together."""
    from matplotlib.ticker import AutoLocator

    size = "small"
    if isinstance(ax.xaxis.get_major_locator(), AutoLocator):
        figure = ax.get_figure(root=True)
        assert figure is not None
        room = int(ax.get_window_extent().width / figure.dpi / STEP)
        ax.locator_params(axis="x", nbins=min(max(room, FEWEST_STEPS), MOST_STEPS))
    plainly([ax.set_xlabel(x, size=size), ax.set_ylabel(y, size=size), ax.set_title(title, size=size, loc="left")])
    ax.tick_params(labelsize=size)
    ax.spines[["top", "right"]].set_visible(False)


def difference_label(result: Any) -> str:
    """ "tree minus bayes", in the metric's unit, of logs or in units of ropes; on two lines if the names are long."""
    second, first = side_labels(result.left, result.right)
    if not result.differences.higher_is_better:
        first, second = second, first
    gap = "\n" if len(first) + len(second) > LONGEST_LINE else " "
    unit = {None: "", LOG: " (logs)", IN_ROPES: " (units of the rope)"}[result.differences.transform]
    return f"{first}{gap}minus {second}{unit}"


def outcomes(left: str, right: str) -> dict[str, str]:
    """The regions in words."""
    return outcome_words(*side_labels(left, right))


def broken_outcomes(left: str, right: str) -> dict[str, str]:
    """The regions in words, on several lines if the names are long."""
    one, other = side_labels(left, right)
    return outcome_words(one, other) | {"left": f"{broken(one)}\nbetter", "right": f"{broken(other)}\nbetter"}


def shade_rope(ax: Axes, rope: Rope) -> None:
    """A band over the region of practical equivalence, with its ends drawn."""
    if rope.half_width > 0:
        ax.axvspan(rope.lower, rope.upper, color=COLOURS["rope"], alpha=0.18, linewidth=0, zorder=0)
    for end in {rope.lower, rope.upper}:
        ax.axvline(end, color=COLOURS["rope"], linewidth=0.8, linestyle="--", zorder=1)


def legend(ax: Axes, *, columns: int = 1, settled: bool = True, **options: Any) -> None:
    """A small frameless legend below the axes and their label, in as many of the columns as there is room for.

    Without ``settled`` the layout of the figure is left to the caller, who has more to draw.
    """
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure(root=True)
    assert figure is not None
    labelled = ax.xaxis.get_tightbbox()
    depth = max(0.0, ax.bbox.y0 - labelled.y0) if labelled is not None else 0.0
    down = ScaledTranslation(0, -depth / figure.dpi - GAP / 72, figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": ax.transAxes + down}
    grid = ax.get_subplotspec()
    room = figure.bbox.width / (1 if grid is None else grid.get_gridspec().ncols)
    engine = figure.get_layout_engine()
    if settled and columns > 1 and engine is not None:
        engine.execute(figure)
        room = min(room, BROADER * ax.bbox.width)  # a much wider legend would make the axes narrow
    for count in range(columns, 0, -1):
        given = {"ncols": count, "frameon": False, "fontsize": "x-small", "borderaxespad": 0.0}
        drawn = ax.legend(**(given | place | options))
        plainly(drawn.get_texts())
        if drawn.get_window_extent().width <= room:
            break
    if settled and engine is not None:
        engine.execute(figure)  # a legend below the axes takes the layout two passes; drawing would take as long again


def options(given: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    """Keyword arguments for matplotlib: the user's, else the defaults."""
    return defaults | given


def rank_ticks(total: int) -> list[int]:
    """Whole ranks, about ten at most, including the first and the last."""
    step = max(1, round(total / 10))
    inner = [rank for rank in range(1 + step, total, step) if total - rank >= step]
    return [1, *inner, total]


def stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each stretch of neighbouring places.

    Examples
    --------
    >>> stretches([0, 1, 4])
    [(0, 1), (4, 4)]
    """
    places = sorted(places)
    starts = [place for place in places if place - 1 not in places]
    stops = [place for place in places if place + 1 not in places]
    return list(zip(starts, stops, strict=True))
