"""The probability of each verdict against the number of data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hiercomp.planning.result import POWER
from hiercomp.plots.style import COLOURS, INK, axes, labels, legend, options, outcomes
from hiercomp.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiercomp.planning.result import PlanResult

STYLES = ("-", "--", ":", "-.")  # of the numbers of runs, the largest first
MARKERS = {"left": "v", "rope": "s", "right": "^", "none": "o", "undecided": "x", "failed": "+"}
OTHER_COLOURS = {"none": INK, "undecided": "#CC79A7", "failed": "#E69F00"}  # Okabe & Ito's purple and orange
SPACE = 0.02  # of the axis, for a digit
MOST_BANDS = 1  # numbers of runs whose intervals can still be distinguished


def plot_plan(plan: PlanResult, *, ax: Axes | None = None, **line: Any) -> Axes:
    """The probability of each verdict at each number of data sets, with 95% intervals.

    Undecided and failed fits are drawn if there are any. With several numbers of runs, each has its own line style and
    the intervals are only in the table.

    Parameters
    ----------
    plan : PlanResult
        From `hiercomp.plan` or `ComparisonResult.plan`.
    ax : matplotlib.axes.Axes, optional
    **line
        Passed on to ``Axes.plot``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    table = plan.to_frame()
    names = outcomes(*plan.algorithms) | {"none": "no verdict", "undecided": "undecided", "failed": "failed"}
    several = len(plan.runs) > 1
    ax = axes(ax, width=5.2, height=2.7 + 0.085 * len(names) * len(plan.runs))
    for option in reversed(range(len(plan.runs))):
        rows = table.iloc[option * len(plan.n_datasets) : (option + 1) * len(plan.n_datasets)]
        style = STYLES[(len(plan.runs) - 1 - option) % len(STYLES)]
        for name, text in names.items():
            if name in ("undecided", "failed") and not table[f"p_{name}"].any():
                continue
            colour = COLOURS.get(name) or OTHER_COLOURS[name]
            runs = plan.runs[option]
            drawn = options(line, color=colour, linestyle=style, marker=MARKERS[name], markersize=4, linewidth=1.2)
            described = f"{text}, {counted(runs, 'run')}" if several and runs is not None else text
            ax.plot(rows["n_datasets"], rows[f"p_{name}"], label=described, **drawn)
            if len(plan.runs) <= MOST_BANDS:
                low, high = rows[f"p_{name}_lower"], rows[f"p_{name}_upper"]
                ax.fill_between(rows["n_datasets"], low, high, color=colour, alpha=0.15, linewidth=0)
    ax.axhline(POWER, color=INK, linewidth=0.5, linestyle=":")
    ax.set_ylim(-0.02, 1.02)
    ax.set_xticks(_apart(plan.n_datasets))
    labels(ax, "number of data sets", "probability of the verdict", title=f"Verdicts at {100 * (1 - plan.alpha):g}%")
    legend(ax, columns=2)
    return ax


def _apart(sizes: Sequence[int]) -> list[int]:
    """The sizes whose numbers can stand beside each other on the axis; the smallest and the largest always do."""
    least = SPACE * (sizes[-1] - sizes[0]) * (1 + len(str(sizes[-1])))
    kept = [sizes[0]]
    for size in sizes[1:-1]:
        if size - kept[-1] >= least and sizes[-1] - size >= least:
            kept.append(size)
    return sorted({*kept, sizes[-1]})
