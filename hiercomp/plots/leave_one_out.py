"""Where each data set lies in its prediction from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import FloatArray
from hiercomp.plots.style import COLOURS, INK, axes, labels, options

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiercomp.posterior.leave_one_out import LeaveOneOut

LEVEL = 0.95  # of the band, for the whole curve
RUG = 0.06  # of the height, for the marks of the data sets


def plot_pit(loo: LeaveOneOut, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Probability integral transform: is the population of data sets the assumed one?

    Each data set is a mark at the probability that its mean difference would be less than it is, given the others. The
    curve is the share of data sets up to there, less the share that is expected. If the population fits, it stays in the
    band with a probability of 95% (Kolmogorov). Above zero on the left and below it on the right, the population is too
    narrow; the other way round, too wide; on one side everywhere, its centre or its symmetry is wrong. The values are in
    ``loo.to_frame()``.

    Parameters
    ----------
    loo : LeaveOneOut
        From `ComparisonResult.loo`.
    ax : matplotlib.axes.Axes, optional
    **line
        Passed on to ``Axes.plot``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    places, gaps = pit_gaps(loo.pit)
    half = band_of_pit(len(loo.pit))
    ax = axes(ax)
    ax.axhspan(-half, half, color=COLOURS["rope"], alpha=0.18, linewidth=0, zorder=0)
    ax.axhline(0, color=COLOURS["rope"], linewidth=0.8, linestyle="--", zorder=0)
    ax.plot(places, gaps, **options(line, color=INK, linewidth=1.0))
    reach = 1.15 * max(half, float(np.abs(gaps).max()))
    ax.vlines(loo.pit, -(1 + 2 * RUG) * reach, -reach, color=COLOURS["right"], linewidth=0.7)
    ax.set_ylim(-(1 + 2 * RUG) * reach, reach)
    ax.set_xlim(-0.01, 1.01)
    leaves = "leaves the band" if np.abs(gaps).max() > half else "within the band"
    labels(ax, "probability of a lower difference", "share minus expected", f"{len(loo.pit)} data sets: {leaves}")
    return ax


def pit_gaps(pit: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The curve of `plot_pit`: the share of values up to each place minus the place, before and after each value.

    Parameters
    ----------
    pit : array_like, shape (q,)

    Returns
    -------
    places, gaps : ndarray, shape (2 q + 2,)
    """
    values = np.sort(np.asarray(pit, dtype=float))
    shares = np.arange(len(values) + 1) / len(values)
    places = np.concatenate([[0.0], np.repeat(values, 2), [1.0]])
    return places, np.repeat(shares, 2) - places


def band_of_pit(count: int) -> float:
    """Half the height of the band in which the curve of so many independent uniform values stays with 95% probability."""
    from scipy import stats

    return float(stats.kstwo.ppf(LEVEL, count))
