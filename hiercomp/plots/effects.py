"""The three probabilities along a covariate of the data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from hiercomp.plots.style import COLOURS, INK, axes, label, labels, legend, options, outcomes, plainly
from hiercomp.posterior.effects import effect_curve, regressed
from hiercomp.rope import REGIONS
from hiercomp.wording import with_minus

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiercomp.posterior.fit import Fit

RUG = 0.045  # of the height, for the marks of the data sets


def plot_effect(
    result: Fit,
    covariate: str,
    *,
    values: ArrayLike | None = None,
    others: Mapping[str, float] | None = None,
    ax: Axes | None = None,
    **line: Any,
) -> Axes:
    """Expected probabilities of the three outcomes along a covariate, with 90% bands; marks are the data sets.

    The numbers are those of ``hiercomp.posterior.effects.effect_curve``.

    Parameters
    ----------
    result : ComparisonResult
        Fitted with covariates.
    covariate : str
    values : array_like, optional
        Of the covariate; by default over the range of the data sets.
    others : mapping, optional
        Values of other covariates; those that are left out are at their mean over the data sets.
    ax : matplotlib.axes.Axes, optional
    **line
        Passed on to ``Axes.plot``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        If the result has no such covariate.
    NoVerdictError
        If the computation failed its checks.
    """
    curve = effect_curve(result, covariate, values, others)
    covariates = regressed(result).covariates
    ax = axes(ax)
    names = outcomes(result.left, result.right)
    for region, style in zip(REGIONS, ("--", "-.", "-"), strict=True):
        ax.fill_between(
            curve.index,
            curve[f"lower_{region}"],
            curve[f"upper_{region}"],
            color=COLOURS[region],
            alpha=0.18,
            linewidth=0,
        )
        drawn = options(line, color=COLOURS[region], linestyle=style, label=names[region])
        ax.plot(curve.index, curve[f"expected_{region}"], **drawn)
    column = covariates.values[:, covariates.place(covariate)]
    low, high = float(curve.index.min()), float(curve.index.max())
    ax.vlines(column[(column >= low) & (column <= high)], -RUG, 0, color=INK, linewidth=0.6)
    ax.set_ylim(-RUG, 1.02)
    if high > low:
        ax.set_xlim(low, high)
    labels(ax, label(covariate), "probability", f"Outcome on a data set, rope {with_minus(result.rope)}")
    legend(ax)
    plainly(ax.get_xticklabels())
    return ax
