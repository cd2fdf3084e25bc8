"""Plots of the tests: Student posterior, Poisson-binomial, simplex, critical difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.errors import ArgumentError
from hiercomp.plots.next_dataset import simplex
from hiercomp.plots.population import shade_density
from hiercomp.plots.style import COLOURS, INK, axes, label, labels, legend, options, outcomes, plainly, shade_rope
from hiercomp.rope import REGIONS
from hiercomp.wording import probability_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiercomp.closed_form.across_datasets.bayesian_sign import BayesianSignResult
    from hiercomp.closed_form.across_datasets.poisson_binomial import PoissonBinomialResult
    from hiercomp.closed_form.many_algorithms.friedman import PostHocResult
    from hiercomp.closed_form.one_dataset.correlated_t import CorrelatedTResult

POINTS = 401


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
        legend(ax)
    else:
        ax.axvline(row["mean"], **options(line, color=INK, linewidth=1.6))
    shade_rope(ax, rope)
    ax.set_ylim(0, None)
    left, right = map(label, result.algorithms)
    where = "" if dataset is None else f", {label(dataset)}"
    labels(ax, f"mean difference, {right} minus {left}", "density", f"Correlated t{where}")
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
    words = {
        "left": f"{label(result.algorithms[0])} on more than half: {probability_text(result.p_left)}",
        "rope": f"half and half: {probability_text(result.p_tie)}",
        "right": f"{label(result.algorithms[1])} on more than half: {probability_text(result.p_right)}",
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
    labels(ax, f"data sets of {q} on which {label(result.algorithms[1])} is better", "probability", "Poisson-binomial")
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
    title = f"Bayesian {result.test} test; rope {result.rope}"
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
    groups = [group for group in result.groups() if len(group) > 1]
    count = len(ranks)
    ax = axes(ax, width=5.2, height=1.5 + 0.13 * count + 0.13 * len(groups))
    low, high = 1, count
    for number, (name, rank) in enumerate(ranks.items()):
        leftmost = number < (count + 1) // 2
        depth = number if leftmost else count - 1 - number
        y = -1.0 - 0.35 * len(groups) - depth
        end = low - 0.12 * (high - low) if leftmost else high + 0.12 * (high - low)
        ax.plot([rank, rank, end], [0, y, y], color=INK, linewidth=0.8)
        text = ax.text(
            end,
            y,
            f"{label(str(name))} {rank:.2f} " if leftmost else f" {rank:.2f} {label(str(name))}",
            ha="right" if leftmost else "left",
            va="center",
            fontsize="small",
        )
        plainly(text)
    for number, group in enumerate(groups):
        members = ranks[list(group)]
        drawn = options(line, color=INK, linewidth=3.2, solid_capstyle="butt")
        ax.plot([members.min() - 0.02, members.max() + 0.02], [-0.45 - 0.35 * number] * 2, **drawn)
    ax.plot([low, high], [0, 0], color=INK, linewidth=1)
    for rank in range(low, high + 1):
        ax.plot([rank, rank], [0, 0.15], color=INK, linewidth=1)
        ax.text(rank, 0.3, str(rank), ha="center", va="bottom", fontsize="small")
    if result.critical_difference is not None:
        ax.plot([low, low + result.critical_difference], [1.5, 1.5], color=INK, linewidth=1.5, marker="|")
        middle = low + result.critical_difference / 2
        ax.text(middle, 1.7, f"critical difference {result.critical_difference:.3g}", ha="center", fontsize="small")
    ax.set_xlim(low - 0.45 * (high - low) - 0.3, high + 0.45 * (high - low) + 0.3)
    ax.set_ylim(-1.6 - 0.35 * len(groups) - (count + 1) // 2, 2.6)
    ax.set_axis_off()
    ax.set_title("Mean ranks (1 is best); bars: no significant difference", fontsize="small", loc="left")
    return ax
