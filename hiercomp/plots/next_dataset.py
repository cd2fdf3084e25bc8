"""The next data set: bars of the three probabilities, and the simplex of the draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.plots.style import COLOURS, HATCHES, INK, axes, broken_outcomes, labels, options, plainly
from hiercomp.rope import REGIONS
from hiercomp.wording import probability_text, with_minus

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap

    from hiercomp.posterior.fit import Fit

MOST_POINTS = 2000  # draws shown as points; more are binned
CORNERS = np.array([[0.0, 0.0], [0.5, np.sqrt(0.75)], [1.0, 0.0]])  # left, rope, right


def plot_next_dataset(result: Fit, *, ax: Axes | None = None, **bars: Any) -> Axes:
    """Bars of the probabilities that each outcome is the most likely one on the next data set.

    Whiskers are two errors, if large enough to be visible: Monte Carlo standard errors of draws, or estimated errors of
    integrals.

    Parameters
    ----------
    result : ComparisonResult
    ax : matplotlib.axes.Axes, optional
    **bars
        Passed on to ``Axes.bar``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NoVerdictError
        If the computation failed its checks.

    Examples
    --------
    >>> plot_next_dataset(result)  # doctest: +SKIP
    """
    seen = result.next_dataset
    ax = axes(ax)
    names = broken_outcomes(result.left, result.right) | {"rope": "practically\nequivalent"}
    values = [seen.probabilities[region] for region in REGIONS]
    drawn = ax.bar(
        range(3),
        values,
        yerr=[2 * seen.errors[f"p_{region}"] for region in REGIONS],
        **options(bars, color=[COLOURS[region] for region in REGIONS], edgecolor=INK, linewidth=0.6, ecolor=INK),
    )
    for bar, region, value in zip(drawn.patches, REGIONS, values, strict=True):
        bar.set_hatch(HATCHES[region])
        ax.annotate(
            probability_text(value, exact=seen.exact),
            (bar.get_x() + bar.get_width() / 2, value),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
    ax.set_xticks(range(3), [names[region] for region in REGIONS], fontsize="small")
    plainly(ax.get_xticklabels())
    ax.set_ylim(0, 1.12)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    labels(ax, y="probability", title=f"Next data set, rope {with_minus(result.rope)}")
    return ax


def plot_simplex(result: Fit, *, ax: Axes | None = None, **marks: Any) -> Axes:
    """Posterior draws of the probabilities of left, rope and right, in a triangle.

    A corner means certainty of its outcome. The lines from the centre divide the triangle into the regions where each
    outcome is the most probable; the share of draws in a region is the probability of that outcome.

    Parameters
    ----------
    result : ComparisonResult
    ax : matplotlib.axes.Axes, optional
    **marks
        Passed on to ``Axes.scatter``, or to ``Axes.hexbin`` for more than 2,000 draws.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NoVerdictError
        If the computation failed its checks.
    """
    shares = result.next_dataset.probabilities
    regions = result.posterior.regions(result.rope)
    title = f"Next data set, rope {with_minus(result.rope)}"
    return simplex(regions.reshape(-1, 3), shares, result.left, result.right, title, ax, **marks)


def _more_ink() -> ListedColormap:
    """Colours from faint to full ink: more draws are darker, whatever is behind them."""
    from matplotlib.colors import ListedColormap, to_rgba

    return ListedColormap([to_rgba(INK, alpha) for alpha in np.linspace(0.12, 1, 64)])


def simplex(
    regions: FloatArray,
    shares: dict[str, float],
    left: str,
    right: str,
    title: str,
    ax: Axes | None = None,
    **marks: Any,
) -> Axes:
    """Draws of three probabilities, shape (draws, 3), in a triangle with the share of each outcome."""
    ax = axes(ax, height=3.1)
    x, y = (regions @ CORNERS).T
    if len(regions) > MOST_POINTS:
        ax.hexbin(
            x,
            y,
            **options(
                marks,
                gridsize=(44, 22),
                extent=(0, 1, 0, np.sqrt(0.75)),
                mincnt=1,
                bins="log",
                cmap=_more_ink(),
                linewidths=0,
                zorder=1,
            ),
        )
    else:
        ax.scatter(x, y, **options(marks, s=5, alpha=0.5, color=INK, linewidths=0, zorder=1))
    outline = np.vstack([CORNERS, CORNERS[:1]])
    ax.plot(*outline.T, color=INK, linewidth=1, zorder=3)
    centre = CORNERS.mean(axis=0)
    for a, b in ((0, 1), (1, 2), (0, 2)):
        middle = (CORNERS[a] + CORNERS[b]) / 2
        ax.plot(*np.stack([centre, middle]).T, color=INK, linewidth=0.7, linestyle="--", zorder=3)
    names = broken_outcomes(left, right)
    places = {"left": ((0.0, -0.03), "top"), "right": ((1.0, -0.03), "top")}
    places["rope"] = ((0.5, CORNERS[1, 1] + 0.03), "bottom")
    for region, (place, vertical) in places.items():
        drawn = ax.text(
            *place,
            f"{names[region]}\n{probability_text(shares[region])}",
            ha="center",
            va=vertical,
            fontsize="small",
            color=INK,
        )
        plainly(drawn)
        drawn.set_label(region)
    ax.set_aspect("equal")
    ax.set_xlim(-0.05, 1.05)
    ax.set_ylim(-0.32, CORNERS[1, 1] + 0.18)
    labels(ax, title=title)
    ax.set_axis_off()
    return ax
