"""The population of data sets: its density, its parameters, and other ropes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiercomp.arguments import FloatArray, verdict_level
from hiercomp.plots.style import (
    COLOURS,
    INK,
    axes,
    difference_label,
    labels,
    legend,
    options,
    outcomes,
    plainly,
    shade_rope,
)
from hiercomp.posterior.fit import most_probable_curve
from hiercomp.rope import REGIONS, Rope
from hiercomp.wording import probability_text, with_minus

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hiercomp.posterior.fit import Fit

POINTS = 401
LEAST_RISE = 0.02  # of the highest peak, for a mode that is marked
LINES = ("-", "--", ":", "-.")
SHOWN_SHARE = (0.005, 0.995)  # quantiles of the draws: the far tails would squeeze everything else


def population_density(result: Fit, x: ArrayLike) -> FloatArray:
    """Posterior mean of the density of the mean difference on the next data set, at ``x``.

    The average over the draws of the Student-t densities with centre delta0, scale sigma0 and nu degrees of freedom, or of
    the mixtures.

    Parameters
    ----------
    result : ComparisonResult
    x : array_like
        Differences, in the metric's units.

    Returns
    -------
    ndarray
        With the shape of ``x``, per unit of the metric.
    """
    return result.posterior.density(x)


def plot_population(
    result: Fit,
    *,
    others: Mapping[str, Fit] | None = None,
    ax: Axes | None = None,
    **line: Any,
) -> Axes:
    """Density of the difference on the next data set, with the rope and the density of the data sets' estimates.

    The shaded areas are the expected probabilities of the three outcomes. The dashed line is the kernel density of the
    posterior means of the data sets at hand (Fig. 6 of the 2017 paper). Where the density has several modes, as that of a
    mixture may, triangles below it mark them.

    Parameters
    ----------
    result : ComparisonResult
    others : mapping from str to ComparisonResult, optional
        Results of the same data under other priors, to draw their densities too.
    ax : matplotlib.axes.Axes, optional
    **line
        Passed on to ``Axes.plot`` for the density.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NoVerdictError
        If the computation failed its checks.
    """
    seen = result.next_dataset
    ax = axes(ax)
    if result.differences.identical:
        return _point_mass(result, ax)
    x = _range(result)
    density = population_density(result, x)
    shade_density(ax, x, density, result.rope, outcomes(result.left, result.right), seen.expected)
    ax.plot(x, density, **options(line, color=INK, linewidth=1.2))
    estimates = result.draws("delta").reshape(-1, len(result.differences.dataset_names)).mean(axis=0)
    if len(estimates) > 2 and np.ptp(estimates) > 0:
        from scipy import stats

        kernel = stats.gaussian_kde(estimates)(x)
        ax.plot(x, kernel, color=INK, linewidth=1, linestyle="--", label="estimates of the data sets")
    modes = x[density_modes(density)]
    if len(modes) > 1:
        words = f"{len(modes)} modes"
        ax.plot(modes, np.zeros(len(modes)), "^", color=INK, markersize=5, clip_on=False, zorder=4, label=words)
    for number, (name, other) in enumerate((others or {}).items()):
        style = LINES[(number + 2) % len(LINES)]
        ax.plot(x, population_density(other, x), linewidth=1.1, linestyle=style, label=f"prior {name}")
    shade_rope(ax, result.rope)
    ax.set_ylim(0, None)
    ax.set_xlim(x[0], x[-1])
    labels(ax, difference_label(result), "density", "Difference on the next data set")
    legend(ax)
    return ax


def density_modes(density: FloatArray) -> NDArray[np.intp]:
    """Places of the modes of a density on a grid: its peaks that rise above both sides by 2% of the highest."""
    from scipy import signal

    return np.asarray(signal.find_peaks(density, prominence=LEAST_RISE * density.max())[0])


def plot_posterior(result: Fit, *, figure: Figure | None = None) -> FloatArray:
    """Posterior densities of delta0, sigma0 and nu with their 95% intervals, and the rope on delta0.

    For a mixture, the concentration takes the place of nu.

    Parameters
    ----------
    result : ComparisonResult
    figure : matplotlib.figure.Figure, optional

    Returns
    -------
    ndarray of Axes, one for each parameter
    """
    table = result.population()
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(7.1, 2.3), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(table)))
    words = {
        "delta0": "delta0: mean difference",
        "sigma0": "sigma0: spread",
        "nu": "nu: degrees of freedom",
        "concentration": "concentration of the mixture",
    }
    for ax, name in zip(panels, table.index, strict=True):
        values = result.draws(name).ravel()
        row = table.loc[name]
        low, high = np.quantile(values, SHOWN_SHARE)
        counts, edges = np.histogram(values[(values >= low) & (values <= high)], bins=60, density=True)
        ax.stairs(counts, edges, fill=True, color="#56B4E9", alpha=0.55)
        ax.stairs(counts, edges, color=INK, linewidth=0.7)
        ax.plot([row["lower"], row["upper"]], [0, 0], color=INK, linewidth=4, solid_capstyle="butt", clip_on=False)
        ax.axvline(row["mean"], color=INK, linewidth=0.9)
        if name == "delta0":
            shade_rope(ax, result.rope)
        ax.set_ylim(0, None)
        ax.set_yticks([])
        interval = with_minus(f"mean {row['mean']:.3g}\n95% [{row['lower']:.3g}, {row['upper']:.3g}]")
        labels(ax, interval, title=words[str(name)])
    return panels


def plot_rope_curve(
    result: Fit, *, half_widths: ArrayLike | None = None, alpha: float = 0.05, ax: Axes | None = None, **line: Any
) -> Axes:
    """The three probabilities against the half-width of a symmetric rope; the current one is marked if it is symmetric.

    Parameters
    ----------
    result : ComparisonResult
    half_widths : array_like, optional
        As in `ComparisonResult.rope_curve`.
    alpha : float
        Level of the verdict: a thin line is drawn at 1 - alpha.
    ax : matplotlib.axes.Axes, optional
    **line
        Passed on to ``Axes.plot``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    curve = most_probable_curve(result, half_widths)
    ax = axes(ax)
    names = outcomes(result.left, result.right)
    for region, style in zip(REGIONS, ("--", "-.", "-"), strict=True):
        drawn = options(line, color=COLOURS[region], linestyle=style, label=names[region])
        ax.plot(curve.index, curve[f"p_{region}"], **drawn)
    if result.rope.lower == -result.rope.upper:
        ax.axvline(result.rope.half_width, color=INK, linewidth=0.8, linestyle=":")
    ax.axhline(1 - verdict_level(alpha), color=INK, linewidth=0.5, alpha=0.5)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlim(float(curve.index.min()), float(curve.index.max()))
    labels(ax, "half-width of the rope", "probability", "Likeliest on the next data set")
    legend(ax)
    plainly(ax.get_xticklabels())
    return ax


def shade_density(
    ax: Axes, x: FloatArray, density: FloatArray, rope: Rope, names: dict[str, str], probabilities: dict[str, float]
) -> None:
    """The area under a density, each region in its colour; the legend has the names with the probabilities."""
    inside = {"left": x <= rope.lower, "rope": (x >= rope.lower) & (x <= rope.upper), "right": x >= rope.upper}
    for region, where in inside.items():
        words = f"{names[region]}: {probability_text(probabilities[region])}"
        ax.fill_between(x, density, where=where.tolist(), color=COLOURS[region], alpha=0.45, linewidth=0, label=words)


def _range(result: Fit) -> FloatArray:
    """The range that includes the density, the estimates and the rope."""
    differences = result.next_differences()
    means = result.differences.mean
    low, high = np.quantile(differences, [0.02, 0.98])
    rope = result.rope
    inner = np.quantile(means, [0.05, 0.95])  # a few far data sets would squeeze everything else
    low, high = min(low, inner[0], rope.lower), max(high, inner[1], rope.upper)
    margin = 0.05 * (high - low) or 1e-3
    return np.linspace(low - margin, high + margin, POINTS)


def _point_mass(result: Fit, ax: Axes) -> Axes:
    """The population of identical algorithms: no spread, no density."""
    ax.axvline(0, color=INK, linewidth=1.6, label="identical scores: always 0")
    shade_rope(ax, result.rope)
    ax.set_yticks([])
    labels(ax, difference_label(result), title="The next data set's difference")
    legend(ax)
    return ax
