"""The verdict under other priors, correlations and bounds, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.plots.style import COLOURS, HATCHES, INK, axes, labels, legend, options, outcomes
from hiercomp.rope import REGIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiercomp.posterior.sensitivity import Sensitivity


def plot_sensitivity(sensitivity: Sensitivity, *, ax: Axes | None = None, **bars: Any) -> Axes:
    """Stacked bars of the three probabilities, one for each variant; a changed verdict is marked.

    Parameters
    ----------
    sensitivity : Sensitivity
        From `ComparisonResult.sensitivity`.
    ax : matplotlib.axes.Axes, optional
    **bars
        Passed on to ``Axes.barh``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    table = sensitivity.to_frame()
    ax = axes(ax, width=5.2, height=0.9 + 0.27 * len(table))
    rows = np.arange(len(table))[::-1]
    names = outcomes(*sensitivity.algorithms)
    start = np.zeros(len(table))
    for region in REGIONS:
        values = table[f"p_{region}"].fillna(0).to_numpy()
        drawn = options(
            bars, color=COLOURS[region], edgecolor="white", linewidth=0.4, hatch=HATCHES[region], height=0.74
        )
        ax.barh(rows, values, left=start, label=names[region], **drawn)
        start += values
    for row, (_, variant) in zip(rows, table.iterrows(), strict=True):
        words = f"{variant['verdict']}{' (changed)' if variant['changed'] else ''}"
        weight = "bold" if variant["changed"] else "normal"
        ax.annotate(
            words, (1.0, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize="x-small", weight=weight
        )
    ax.axvline(0.95, color=INK, linewidth=0.5, linestyle=":")
    ax.axvline(0.05, color=INK, linewidth=0.5, linestyle=":")
    ax.set_yticks(rows, table.index, fontsize="x-small")
    ax.set_xlim(0, 1)
    labels(ax, "probability of being the most likely outcome", title="Sensitivity")
    legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.28), ncols=3)
    return ax
