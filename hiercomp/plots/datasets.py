"""The data sets: shrinkage of their means, and replicated data against the observed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import FloatArray, random_generator
from hiercomp.closed_form.one_dataset.correlated_t import correlated_t_posterior
from hiercomp.model import trinomial
from hiercomp.plots.style import (
    COLOURS,
    INK,
    LETTER,
    PAGE_WIDTH,
    axes,
    difference_label,
    distinct_labels,
    labels,
    legend,
    options,
    plainly,
    shade_rope,
)
from hiercomp.wording import with_minus

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hiercomp.posterior.fit import Fit

MOST_NAMES = 80  # data sets whose names can still be read
NARROWEST_ROW, TALLEST = 0.13, 11.0  # inches
RAW, SHRUNKEN = "#8C8C8C", "#0072B2"


def shrinkage_table(result: Fit) -> pd.DataFrame:
    """Raw and posterior means of the data sets with their 95% intervals, in the order of the raw means.

    Parameters
    ----------
    result : ComparisonResult

    Returns
    -------
    DataFrame
        Columns raw, raw_lower, raw_upper (correlated t), posterior, lower, upper.
    """
    import pandas as pd
    from scipy import stats

    given = result.differences
    mean, scale, df = correlated_t_posterior(given)
    half = stats.t.ppf(0.975, df) * scale
    posterior = result.datasets()[["posterior_mean", "lower", "upper"]].rename(columns={"posterior_mean": "posterior"})
    raw = {"raw": mean, "raw_lower": mean - half, "raw_upper": mean + half}
    frame = pd.concat([pd.DataFrame(raw, index=posterior.index), posterior], axis=1)
    return frame.sort_values("raw", kind="stable")


def plot_shrinkage(result: Fit, *, ax: Axes | None = None, **arrows: Any) -> Axes:
    """For each data set an arrow from its raw mean to its posterior mean, with both 95% intervals.

    The dotted line is the centre of the population, towards which uncertain data sets move. With covariates it is the centre
    at their mean, and each data set moves towards the centre for its own; with a mixture, towards its components.

    Parameters
    ----------
    result : ComparisonResult
    ax : matplotlib.axes.Axes, optional
        The height of new axes follows from the number of data sets.
    **arrows
        Passed on to ``Axes.quiver``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    table = shrinkage_table(result)
    count = len(table)
    names = distinct_labels([str(name) for name in table.index])
    width = min(PAGE_WIDTH, 4.1 + LETTER * max(map(len, names)))
    ax = axes(ax, width=width, height=shrinkage_height(count))
    rows = np.arange(count)
    many = count > MOST_NAMES
    offset = 0.0 if many else 0.16
    ax.hlines(
        rows + offset, table["raw_lower"], table["raw_upper"], color=RAW, linewidth=0.9, label="raw, 95% interval"
    )
    ax.hlines(
        rows - offset, table["lower"], table["upper"], color=SHRUNKEN, linewidth=1.4, label="posterior, 95% interval"
    )
    moved = table["posterior"] - table["raw"]
    ax.quiver(
        table["raw"],
        rows,
        moved,
        np.zeros(count),
        **options(arrows, angles="xy", scale_units="xy", scale=1, width=0.0025, headwidth=5, color=INK, zorder=3),
    )
    size = 5 if many else 14
    ax.scatter(table["raw"], rows, s=size, facecolor="white", edgecolor=RAW, zorder=4, linewidths=0.8)
    ax.scatter(table["posterior"], rows, s=size, color=SHRUNKEN, zorder=5, linewidths=0)
    shade_rope(ax, result.rope)
    centre = result.draws("delta0").mean()
    words = f"population, delta0 = {with_minus(f'{centre:.3g}')}"
    ax.axvline(centre, color=INK, linewidth=0.8, linestyle=":", label=words)
    if many:
        ax.set_yticks([])
        labels(ax, y=f"{count} data sets, ordered by their raw mean")
    else:
        ax.set_yticks(rows, names, fontsize="x-small")
        plainly(ax.get_yticklabels())
    ax.set_ylim(-0.8, count - 0.2)
    labels(ax, difference_label(result), ax.get_ylabel(), "Data sets, raw and shrunken")
    ax.tick_params(axis="y", labelsize="x-small")
    legend(ax, columns=3)
    return ax


def shrinkage_height(count: int) -> float:
    """Inches that the plot of so many data sets needs."""
    return min(max(1.9 + NARROWEST_ROW * count, 2.9), TALLEST)


def replicated_standard_deviations(result: Fit, seed: int = 0) -> FloatArray:
    """Standard deviations of replicated data sets, shape (draws, q).

    With correlation rho, (n - 1) s^2 is sigma^2 (1 - rho) times a chi-squared variable with n - 1 degrees of freedom. With
    a trinomial likelihood the answers are drawn.

    Parameters
    ----------
    result : ComparisonResult
    seed : int
        Of the replicates.

    Returns
    -------
    ndarray, shape (draws, q)
    """
    given = result.differences
    generator = random_generator(seed)
    sigma = result.draws("sigma").reshape(-1, len(given.dataset_names))
    if given.counts is not None:
        delta = result.draws("delta").reshape(sigma.shape)
        return trinomial.replicated_standard_deviations(given.counts, delta, sigma, generator)
    freedom = given.n - 1
    squares = generator.chisquare(freedom, size=sigma.shape)
    return np.asarray(sigma * np.sqrt((1 - given.rho) * squares / freedom))


def plot_ppc(result: Fit, *, seed: int = 0, figure: Figure | None = None) -> FloatArray:
    """Posterior predictive check: means and standard deviations of replicated data sets against the observed ones.

    Each bar is the central 95% of the replicates of a data set; with a good model, about 95% of the observed points lie
    within theirs.

    Parameters
    ----------
    result : ComparisonResult
    seed : int
        Of the replicates.
    figure : matplotlib.figure.Figure, optional

    Returns
    -------
    ndarray of Axes, shape (2,)
    """
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(7.1, 3.0), layout="constrained")
    panels = figure.subplots(1, 2)
    for ax, (name, observed, (low, middle, high)) in zip(panels, replicates(result, seed), strict=True):
        within = (observed >= low) & (observed <= high)
        colours = np.where(within, INK, COLOURS["left"])
        ax.vlines(observed, low, high, color=colours, linewidth=1.0, alpha=0.7)
        ax.scatter(observed, middle, s=8, color=colours, linewidths=0, zorder=3)
        ends = [min(observed.min(), low.min()), max(observed.max(), high.max())]
        ax.plot(ends, ends, color=COLOURS["rope"], linewidth=0.8, linestyle="--", zorder=0)
        labels(ax, f"observed {name}", f"replicated {name}", f"{within.sum()} of {len(within)} within 95%")
    return np.asarray(panels)


def replicates(result: Fit, seed: int = 0) -> list[tuple[str, FloatArray, FloatArray]]:
    """Mean and standard deviation of the data sets: the name, the observed values, and quantiles of the replicates."""
    given = result.differences
    means = result.replicated_means(seed).reshape(-1, len(given.dataset_names))
    deviations = replicated_standard_deviations(result, seed)
    values = (("mean", given.mean, means), ("standard deviation", given.standard_deviation, deviations))
    return [(name, observed, np.quantile(drawn, [0.025, 0.5, 0.975], axis=0)) for name, observed, drawn in values]
