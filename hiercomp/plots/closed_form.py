"""Plots of the tests: Student posterior, Poisson-binomial, simplex, critical difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.errors import ArgumentError
from hiercomp.plots.next_dataset import simplex
from hiercomp.plots.population import shade_density
from hiercomp.plots.style import (
    COLOURS,
    INK,
    LETTER,
    PAGE_WIDTH,
    axes,
    distinct_labels,
    in_lines,
    label,
    labels,
    legend,
    options,
    outcomes,
    plainly,
    rank_ticks,
    shade_rope,
    side_labels,
    stretches,
)
from hiercomp.rope import REGIONS
from hiercomp.wording import probability_text, with_minus

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from hiercomp.closed_form.across_datasets.bayesian_sign import BayesianSignResult
    from hiercomp.closed_form.across_datasets.poisson_binomial import PoissonBinomialResult
    from hiercomp.closed_form.many_algorithms.friedman import PostHocResult
    from hiercomp.closed_form.one_dataset.correlated_t import CorrelatedTResult

POINTS = 401
UNDER = 42  # characters of a line under the axes
ROW, STEP_OF_BARS = 0.17, 0.35  # of the mean ranks: inches of a row, and rows of a bar
NARROWEST_RANKS = 0.25  # share of the width that the ranks have, however long the names are


def plot_student(result: CorrelatedTResult, dataset: str | None = None, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Posterior density of the mean difference of one data set, with the rope and the three probabilities.

    Parameters
    ----------
    result : CorrelatedTResult
    dataset : str, optional
        Which data set; required if there are several.
    ax : matplotlib.axes.Axes, optional
    **line
        Passed on to ``Axes.plot``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        If the data set is not one of the result's.
    """
    from scipy import stats

    if dataset is None and len(result.dataset_names) > 1:
        raise ArgumentError(
            f"The result has {len(result.dataset_names)} data sets; name one, such as {result.dataset_names[0]!r}."
        )
    if dataset is not None and dataset not in result.dataset_names:
        raise ArgumentError(f"{dataset!r} is not a data set of this result.")
    place = 0 if dataset is None else result.dataset_names.index(dataset)
    row = result.to_frame().iloc[place]
    ax = axes(ax)
    rope = result.rope
    if row["scale"] > 0:
        half = 4.5 * row["scale"]
        x = np.linspace(min(row["mean"] - half, rope.lower), max(row["mean"] + half, rope.upper), POINTS)
        density = stats.t.pdf(x, row["df"], row["mean"], row["scale"])
        ax.plot(x, density, **options(line, color=INK, linewidth=1.2))
        probabilities = {region: row[f"p_{region}"] for region in REGIONS}
        shade_density(ax, x, density, rope, outcomes(*result.algorithms), probabilities)
    else:
        ax.axvline(row["mean"], **options(line, color=INK, linewidth=1.6))
    shade_rope(ax, rope)
    ax.set_ylim(0, None)
    left, right = side_labels(*result.algorithms)
    where = "" if dataset is None else f", {label(dataset)}"
    difference = f"mean difference; above 0 {right} is better, below 0 {left}"
    labels(ax, in_lines(difference, UNDER), "density", f"Correlated t{where}")
    if row["scale"] > 0:
        legend(ax)
    return ax


def plot_poisson_binomial(result: PoissonBinomialResult, *, ax: Axes | None = None, **bars: Any) -> Axes:
    """Distribution of the number of data sets on which the right algorithm is better, with q/2.

    Parameters
    ----------
    result : PoissonBinomialResult
        Of a test without a rope.
    ax : matplotlib.axes.Axes, optional
    **bars
        Passed on to ``Axes.bar``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        If the test had a rope: the outcome then depends on three counts.
    """
    if result.rope.half_width:
        raise ArgumentError("plot_poisson_binomial shows one count. Run the test without a rope.")
    ax = axes(ax)
    q = len(result.region_probabilities)
    counts = np.arange(q + 1)
    side = np.where(2 * counts < q, "left", np.where(2 * counts > q, "right", "rope"))
    left, right = side_labels(*result.algorithms)
    words = {
        "left": f"{left} on more than half: {probability_text(result.p_left)}",
        "rope": f"half and half: {probability_text(result.p_tie)}",
        "right": f"{right} on more than half: {probability_text(result.p_right)}",
    }
    for region in REGIONS:
        chosen = side == region
        if chosen.any():
            drawn = options(bars, color=COLOURS[region], width=0.9, label=words[region])
            ax.bar(counts[chosen], result.pmf[chosen], **drawn)
    ax.axvline(q / 2, color=INK, linewidth=0.9, linestyle="--")
    seen = np.flatnonzero(result.pmf > 1e-4 * result.pmf.max())
    ax.set_xlim(min(seen[0], q / 2) - 1.5, max(seen[-1], q / 2) + 1.5)
    ax.locator_params(axis="x", integer=True)
    counted = in_lines(f"data sets of {q} on which {right} is better", UNDER)
    labels(ax, counted, "probability", "Poisson-binomial")
    legend(ax)
    return ax


def plot_sign_simplex(result: BayesianSignResult, *, ax: Axes | None = None, **marks: Any) -> Axes:
    """Posterior draws of a Bayesian sign or signed-rank test in the simplex.

    Parameters
    ----------
    result : BayesianSignResult
    ax : matplotlib.axes.Axes, optional
    **marks
        Passed on to ``Axes.scatter`` or ``Axes.hexbin``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    shares = {"left": result.p_left, "rope": result.p_rope, "right": result.p_right}
    title = f"Bayesian {result.test} test, rope {with_minus(result.rope)}"
    return simplex(result.region_draws, shares, *result.algorithms, title, ax, **marks)


def plot_critical_difference(result: PostHocResult, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Mean ranks of several algorithms; bars join those without a significant difference, as in Demšar (2006).

    Parameters
    ----------
    result : PostHocResult
        Of `nemenyi_test` (with its critical difference drawn) or `posthoc_test`.
    ax : matplotlib.axes.Axes, optional
    **line
        Passed on to ``Axes.plot`` for the bars.

    Returns
    -------
    matplotlib.axes.Axes
    """
    import pandas as pd

    ranks = pd.Series(np.asarray(result.mean_ranks), index=list(result.algorithms)).sort_values(kind="stable")
    named = dict(zip(ranks.index, distinct_labels([str(name) for name in ranks.index]), strict=True))
    groups = [group for group in result.groups() if len(group) > 1]
    count = len(ranks)
    first_name = -0.8 - STEP_OF_BARS * len(groups)  # one row is 1 high; the ranks' axis is at 0
    lowest = first_name - (count + 1) // 2 + 0.4
    highest = 2.8 if result.critical_difference is not None else 1.4
    longest = LETTER * max(map(len, named.values()))
    ax = axes(ax, width=min(PAGE_WIDTH, max(5.2, 3.4 + 2 * longest)), height=0.25 + ROW * (highest - lowest))
    texts: dict[str, list[Text]] = {"left": [], "right": []}
    low, high = 1, count
    outer = 0.06 * (high - low)
    for number, (name, rank) in enumerate(ranks.items()):
        leftmost = number < (count + 1) // 2
        y = first_name - (number if leftmost else count - 1 - number)
        end = low - outer if leftmost else high + outer
        ax.plot([rank, rank, end], [0, y, y], color=INK, linewidth=0.8)
        text = ax.text(
            end,
            y,
            f"{named[name]} {rank:.2f} " if leftmost else f" {rank:.2f} {named[name]}",
            ha="right" if leftmost else "left",
            va="center",
            fontsize="small",
        )
        text.set_in_layout(False)  # the limits make room for it
        plainly(text)
        texts["left" if leftmost else "right"].append(text)
    passing = False
    for number, group in enumerate(groups):
        members = ranks[list(group)]
        drawn = options(line, color=INK, linewidth=3.2, solid_capstyle="butt")
        height = -0.45 - STEP_OF_BARS * number
        ax.plot([members.min(), members.max()], [height] * 2, color=INK, linewidth=0.8)
        parts = stretches([place for place, name in enumerate(ranks.index) if name in group])
        passing |= len(parts) > 1
        for first, last in parts:
            ax.plot([ranks.iloc[first] - 0.02, ranks.iloc[last] + 0.02], [height] * 2, **drawn)
    ax.plot([low, high], [0, 0], color=INK, linewidth=1)
    for rank in rank_ticks(count):
        ax.plot([rank, rank], [0, 0.15], color=INK, linewidth=1)
        ax.text(rank, 0.3, str(rank), ha="center", va="bottom", fontsize="small")
    if result.critical_difference is not None:
        ax.plot([low, low + result.critical_difference], [1.6, 1.6], color=INK, linewidth=1.5, marker="|")
        words = f"critical difference {result.critical_difference:.3g}"
        ax.text(low, 1.8, words, ha="left", va="bottom", fontsize="small")
    ax.set_ylim(lowest, highest)
    ax.set_axis_off()
    thin = ", thin where they pass another" if passing else ""
    ax.set_title(f"Mean ranks (1 is best); bars: no significant difference{thin}", fontsize="small", loc="left")
    _make_room(ax, low - outer, high + outer, texts)
    return ax


def _make_room(ax: Axes, low: float, high: float, texts: dict[str, list[Text]]) -> None:
    """Limits that leave room for the texts on both sides of the interval from ``low`` to ``high``."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    whole = ax.get_window_extent().width
    left, right = (max((text.get_window_extent().width for text in texts[side]), default=0) for side in texts)
    unit = (high - low) / max(whole - left - right, NARROWEST_RANKS * whole)
    ax.set_xlim(low - unit * left, high + unit * right)
