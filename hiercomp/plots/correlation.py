"""Mean squares between runs against those within runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from hiercomp.arguments import FloatArray
from hiercomp.plots.leave_one_out import band_of_pit
from hiercomp.plots.style import COLOURS, INK, axes, labels, legend, options

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiercomp.posterior.correlation import CorrelationCheck

POINTS = 300  # of the expected curve
BEYOND = 4  # times below what is expected are ratios shown; those that are lower still stand at the edge


def plot_correlation(check: CorrelationCheck, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Are all folds equally correlated? The share of data sets whose ratio of mean squares is at most so large.

    The steps are the data sets, the dashed curve what is expected if all folds are equally correlated, whatever that
    correlation is (an F distribution). The steps then stay in the band with a probability of 95% (Kolmogorov; if data sets
    differ in runs or folds, or differences are not normal, nearly). The values are in ``check.to_frame()``.

    Parameters
    ----------
    check : CorrelationCheck
        From `ComparisonResult.correlation`.
    ax : matplotlib.axes.Axes, optional
    **line
        Passed on to ``Axes.step``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    places, expected = expected_shares(check)
    ratio = np.sort(check.ratio).clip(min=places[0])
    half = band_of_pit(len(ratio))
    ax = axes(ax)
    low, high = np.clip(expected - half, 0, 1), np.clip(expected + half, 0, 1)
    ax.fill_between(places, low, high, color=COLOURS["rope"], alpha=0.18, linewidth=0, zorder=0)
    ax.plot(places, expected, color=COLOURS["rope"], linewidth=1.0, linestyle="--", label="equally correlated")
    steps = np.concatenate([places[:1], ratio, places[-1:]])
    shares = np.concatenate([[0.0], np.arange(1, len(ratio) + 1) / len(ratio), [1.0]])
    ax.step(steps, shares, where="post", **options(line, color=INK, linewidth=1.2, label="data sets"))
    ax.set_xscale("log")
    ax.set_xlim(places[0], places[-1])
    ax.set_ylim(0, 1)
    title = f"{len(ratio)} data sets: middle ratio {check.pooled_ratio:.2f}"
    labels(ax, "mean square between runs / within runs", "share of data sets", title)
    legend(ax)
    return ax


def expected_shares(check: CorrelationCheck) -> tuple[FloatArray, FloatArray]:
    """Ratios, and the expected share of data sets up to each if all folds are equally correlated.

    Returns
    -------
    places, shares : ndarray
    """
    first, second = check.freedom
    rare = np.asarray(stats.f.ppf([[0.001], [0.999]], first, second))
    lowest, highest = rare.min() / BEYOND, max(float(check.ratio.max()), rare.max())
    places = np.geomspace(lowest / 1.1, highest * 1.1, POINTS)
    return places, np.asarray(stats.f.cdf(places[:, None], first, second)).mean(axis=1)
