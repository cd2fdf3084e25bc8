"""``result.plot``: every plot of a comparison, or of every pair of many algorithms, as a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from hiercomp.plots.correlation import plot_correlation
from hiercomp.plots.datasets import plot_ppc, plot_shrinkage
from hiercomp.plots.diagnostics import plot_diagnostics
from hiercomp.plots.effects import plot_effect
from hiercomp.plots.leave_one_out import plot_pit
from hiercomp.plots.next_dataset import plot_next_dataset, plot_simplex
from hiercomp.plots.pairs import plot_pairs_heatmap, plot_ranking
from hiercomp.plots.population import plot_population, plot_posterior, plot_rope_curve
from hiercomp.plots.sensitivity import plot_sensitivity
from hiercomp.posterior.correlation import correlation
from hiercomp.posterior.sensitivity import sensitivity as sensitivity_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hiercomp.arguments import FloatArray
    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.correlation import CorrelationCheck
    from hiercomp.posterior.fit import Fit
    from hiercomp.posterior.leave_one_out import LeaveOneOut
    from hiercomp.posterior.sensitivity import Sensitivity


@dataclass(frozen=True, repr=False)
class ComparisonPlots:
    """The plots of a comparison; each draws on ``ax`` (or ``figure``) or on a new one, and returns it.

    Parameters
    ----------
    result : ComparisonResult
    """

    result: Fit

    def __call__(self, *, ax: Axes | None = None, **bars: Any) -> Axes:
        """The most common plot: `next_dataset`."""
        return self.next_dataset(ax=ax, **bars)

    def next_dataset(self, *, ax: Axes | None = None, **bars: Any) -> Axes:
        """Bars of the three probabilities on the next data set; see `hiercomp.plots.plot_next_dataset`."""
        return plot_next_dataset(self.result, ax=ax, **bars)

    def simplex(self, *, ax: Axes | None = None, **marks: Any) -> Axes:
        """Draws of the three probabilities in a triangle; see `hiercomp.plots.plot_simplex`."""
        return plot_simplex(self.result, ax=ax, **marks)

    def population(self, *, others: Mapping[str, Fit] | None = None, ax: Axes | None = None, **line: Any) -> Axes:
        """Density of the next data set's difference; see `hiercomp.plots.plot_population`."""
        return plot_population(self.result, others=others, ax=ax, **line)

    def shrinkage(self, *, ax: Axes | None = None, **arrows: Any) -> Axes:
        """Raw and posterior means of the data sets; see `hiercomp.plots.plot_shrinkage`."""
        return plot_shrinkage(self.result, ax=ax, **arrows)

    def posterior(self, *, figure: Figure | None = None) -> FloatArray:
        """Posterior of delta0, sigma0 and nu; see `hiercomp.plots.plot_posterior`."""
        return plot_posterior(self.result, figure=figure)

    def rope_curve(
        self, *, half_widths: ArrayLike | None = None, alpha: float = 0.05, ax: Axes | None = None, **line: Any
    ) -> Axes:
        """The three probabilities against the rope; see `hiercomp.plots.plot_rope_curve`."""
        return plot_rope_curve(self.result, half_widths=half_widths, alpha=alpha, ax=ax, **line)

    def sensitivity(self, sensitivity: Sensitivity | None = None, *, ax: Axes | None = None, **bars: Any) -> Axes:
        """The verdict under other priors and rho; see `hiercomp.plots.plot_sensitivity`. Refits if none is given."""
        return plot_sensitivity(sensitivity or sensitivity_of(self.result), ax=ax, **bars)

    def ppc(self, *, seed: int = 0, figure: Figure | None = None) -> FloatArray:
        """Replicated data sets against the observed ones; see `hiercomp.plots.plot_ppc`."""
        return plot_ppc(self.result, seed=seed, figure=figure)

    def pit(self, loo: LeaveOneOut | None = None, *, ax: Axes | None = None, **line: Any) -> Axes:
        """Where each data set lies in its prediction from the others; see `hiercomp.plots.plot_pit`.

        Computes `ComparisonResult.loo` if none is given.
        """
        if loo is None:
            from hiercomp.posterior.leave_one_out import loo as leave_one_out

            loo = leave_one_out(self.result)
        return plot_pit(loo, ax=ax, **line)

    def correlation(self, check: CorrelationCheck | None = None, *, ax: Axes | None = None, **line: Any) -> Axes:
        """Variation between runs against that within runs; see `hiercomp.plots.plot_correlation`.

        Computes `ComparisonResult.correlation` if none is given.
        """
        return plot_correlation(check or correlation(self.result.differences), ax=ax, **line)

    def effect(
        self,
        covariate: str,
        *,
        values: ArrayLike | None = None,
        others: Mapping[str, float] | None = None,
        ax: Axes | None = None,
        **line: Any,
    ) -> Axes:
        """The three probabilities along a covariate; see `hiercomp.plots.plot_effect`."""
        return plot_effect(self.result, covariate, values=values, others=others, ax=ax, **line)

    def diagnostics(self) -> Figure:
        """The sampler's diagnostics on one page; see `hiercomp.plots.plot_diagnostics`."""
        return plot_diagnostics(self.result)

    def __repr__(self) -> str:
        names = [name for name in vars(type(self)) if not name.startswith("_")]
        return f"<plots of a comparison: {', '.join(sorted(names))}>"


@dataclass(frozen=True, repr=False)
class TournamentPlots:
    """The plots of every pair of many algorithms; each draws on ``ax`` or on a new one, and returns it.

    Attributes
    ----------
    result : TournamentResult
    """

    result: Tournament

    def __call__(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """The most common plot: `heatmap`."""
        return self.heatmap(ax=ax, **options)

    def heatmap(
        self,
        *,
        ax: Axes | None = None,
        alpha: float = 0.05,
        algorithms: Sequence[str] | None = None,
        numbers: bool | None = None,
        **cells: Any,
    ) -> Axes:
        """P(row better) and P(equivalent) of every pair; see `hiercomp.plots.plot_pairs_heatmap`."""
        return plot_pairs_heatmap(self.result, ax=ax, alpha=alpha, algorithms=algorithms, numbers=numbers, **cells)

    def ranking(
        self, *, ax: Axes | None = None, alpha: float = 0.05, algorithms: Sequence[str] | None = None, **line: Any
    ) -> Axes:
        """Expected ranks with intervals; see `hiercomp.plots.plot_ranking`."""
        return plot_ranking(self.result, ax=ax, alpha=alpha, algorithms=algorithms, **line)

    def __repr__(self) -> str:
        return "<plots of every pair: heatmap, ranking>"
