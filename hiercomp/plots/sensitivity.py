"""The verdict under other priors, correlations and bounds, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.plots.style import (
    COLOURS,
    HATCHES,
    INK,
    LETTER,
    PAGE_WIDTH,
    axes,
    distinct_labels,
    labels,
    legend,
    options,
    outcomes,
    plainly,
)
from hiercomp.rope import REGIONS
from hiercomp.wording import outcome_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiercomp.posterior.sensitivity import Sensitivity

BESIDE = 20  # letters of a name beside the bars


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
    names = outcomes(*sensitivity.algorithms)
    short = outcome_words(*distinct_labels(sensitivity.algorithms, BESIDE)) | {"none": "no verdict"}
    verdicts = [
        f"{short.get(variant.verdict, variant.verdict)}{' (changed)' if variant.name in sensitivity.changed else ''}"
        for variant in sensitivity.variants
    ]
    width = min(PAGE_WIDTH, 4.3 + LETTER * max(map(len, verdicts)))
    ax = axes(ax, width=width, height=1.3 + 0.27 * len(table))
    rows = np.arange(len(table))[::-1]
    start = np.zeros(len(table))
    for region in REGIONS:
        values = table[f"p_{region}"].fillna(0).to_numpy()
        drawn = options(
            bars, color=COLOURS[region], edgecolor="white", linewidth=0.4, hatch=HATCHES[region], height=0.74
        )
        ax.barh(rows, values, left=start, label=names[region], **drawn)
        start += values
    for row, words, changed in zip(rows, verdicts, table["changed"], strict=True):
        weight = "bold" if changed else "normal"
        written = ax.annotate(
            words, (1.0, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize="x-small", weight=weight
        )
        plainly(written)
    for probability in (sensitivity.alpha, 1 - sensitivity.alpha):
        ax.axvline(probability, color=INK, linewidth=0.5, linestyle=":")
    ax.set_yticks(rows, table.index, fontsize="x-small")
    ax.set_xlim(0, 1)
    labels(ax, "probability of being the most likely outcome", title="Sensitivity")
    legend(ax, columns=3)
    return ax
