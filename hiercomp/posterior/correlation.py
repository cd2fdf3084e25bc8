"""Is the correlation between folds the assumed one? What the runs of a cross-validation say, and what more runs buy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hiercomp.arguments import FloatArray, whole_number
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.posterior.fit import Fit
from hiercomp.wording import counted, first_names, metric_words, shown, span

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.scores.differences import PairedDifferences

LITTLE = 0.05  # of the standard error: what further runs may still gain where they buy little
REFUTED = 0.001  # p-value below which the data refute equal correlations
ENOUGH = 0.01  # of the width of the next data set's differences: what more runs may still gain where some are enough


@dataclass(frozen=True, eq=False, repr=False)
class CorrelationCheck(Presentation):
    """How the differences vary within and between runs, against equal correlations (M1).

    Attributes
    ----------
    dataset_names : tuple of str, length q
        Data sets with at least two runs of two folds whose differences vary.
    left_out : tuple of str
        The others.
    n_runs, folds : ndarray, shape (q,)
        r and k.
    within, between : ndarray, shape (q,)
        Mean squares within and between runs, in the metric's units squared.
    rho : ndarray, shape (q,)
        The correlation that the model assumes, across runs if the model has two correlations.
    assumed_error : ndarray, shape (q,)
        Standard error of the mean difference in the model.
    algorithms : tuple of str
        The left and the right algorithm.
    metric : str
        The metric and its direction, in words.
    """

    dataset_names: tuple[str, ...]
    left_out: tuple[str, ...]
    n_runs: NDArray[np.int64]
    folds: FloatArray
    within: FloatArray
    between: FloatArray
    rho: FloatArray
    assumed_error: FloatArray
    algorithms: tuple[str, str]
    metric: str = ""

    @property
    def ratio(self) -> FloatArray:
        """R, the mean square between runs over that within runs (R3), shape (q,)."""
        return np.asarray(self.between / self.within)

    @property
    def freedom(self) -> tuple[FloatArray, FloatArray]:
        """Degrees of freedom of the mean squares between and within runs, each of shape (q,)."""
        runs = self.n_runs.astype(float)
        return runs - 1, runs * (self.folds - 1)

    @cached_property
    def _z(self) -> FloatArray:
        """Standard normal deviates of the ratios if all folds are equally correlated, shape (q,)."""
        below, above = special.fdtr(*self.freedom, self.ratio), special.fdtrc(*self.freedom, self.ratio)
        return np.where(below < above, special.ndtri(below), -special.ndtri(above))

    @property
    def pvalues(self) -> FloatArray:
        """Two-sided p-values of the F test of each data set, shape (q,)."""
        return np.asarray(2 * special.ndtr(-np.abs(self._z)))

    @property
    def statistic(self) -> float:
        """The deviates of all data sets, summed and divided by sqrt(q) (Stouffer): standard normal if (M1) holds."""
        return float(self._z.sum() / np.sqrt(len(self._z)))

    @property
    def pvalue(self) -> float:
        """Two-sided p-value of equal correlations on all data sets together."""
        return float(2 * special.ndtr(-abs(self.statistic)))

    @property
    def pvalue_words(self) -> str:
        """Such as "p = 0.03"."""
        return "p < 0.0001" if self.pvalue < 1e-4 else f"p = {self.pvalue:.2g}"

    @property
    def refuted(self) -> bool:
        """Whether that is below 0.001."""
        return self.pvalue < REFUTED

    @property
    def _relative(self) -> FloatArray:
        """Each ratio over the median of its F distribution."""
        return np.asarray(self.ratio / special.fdtri(*self.freedom, 0.5))

    @property
    def pooled_ratio(self) -> float:
        """Median over the data sets of R, each over the median of its F distribution: 1 if folds are equally correlated."""
        return float(np.median(self._relative))

    @property
    def pooled_interval(self) -> tuple[float, float]:
        """95% confidence interval of `pooled_ratio`, from order statistics; NaN where there are too few data sets."""
        from scipy import stats

        found: Any = stats.quantile_test(self._relative, p=0.5).confidence_interval(0.95)
        return float(found.low), float(found.high)

    @property
    def within_run(self) -> FloatArray:
        """Correlation between folds of a run, if that across runs is rho (R3), shape (q,)."""
        return np.asarray((self.ratio - 1 + self.folds * self.rho) / (self.folds - 1 + self.ratio))

    @property
    def pooled_within_run(self) -> tuple[float, float]:
        """The same by `pooled_ratio`: lowest and highest of the data sets, which may differ in folds and rho."""
        ratio = self.pooled_ratio
        found = (ratio - 1 + self.folds * self.rho) / (self.folds - 1 + ratio)
        return float(found.min()), float(found.max())

    @property
    def standard_error(self) -> FloatArray:
        """Of the mean differences by (R4), with rho across runs and the data set's own mean squares, shape (q,)."""
        return np.sqrt(squared_error(self.n_runs, self.folds, self.within, self.between, self.rho))

    @property
    def title(self) -> str:
        """What was compared."""
        left, right = map(shown, self.algorithms)
        return f"Correlation between folds, {left} against {right}{f', {self.metric}' if self.metric else ''}"

    @property
    def conclusion(self) -> str:
        """Whether the data refute equal correlations, and what follows for the standard errors."""
        low, high = self.pooled_interval
        interval = f"95% interval {low:.2f} to {high:.2f}, " if low < high else ""
        relative = self.standard_error / self.assumed_error
        smaller = "less" if self.statistic < 0 else "more"
        # The test is of all data sets together, and the median may not be on its side
        some = "" if (self.pooled_ratio - 1) * self.statistic > 0 else " on some data sets"
        found = (
            f"The means of runs differ {smaller}{some} than folds that are all equally correlated allow"
            if self.refuted
            else "The means of runs differ about as much as with folds that are all equally correlated"
        )
        count, within = counted(len(self.ratio), "data set"), span(np.array(self.pooled_within_run))
        return (
            f"{found}: the mean square between runs is {self.pooled_ratio:.2f} times that within runs (median of {count}, "
            f"{interval}{self.pvalue_words}), and equal correlations give 1. If folds of different runs have the "
            f"correlation {span(self.rho)}, folds of one run have {within}. "
            f"Standard errors of the mean differences are then {relative.min():.2f} to {relative.max():.2f} times the "
            f"model's (median {np.median(relative):.2f})."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Which data sets are left out."""
        if not self.left_out:
            return ()
        count = counted(len(self.left_out), "data set")
        return (
            f"Left out: {count} with fewer than two runs of two folds, or without variation within or between runs: "
            f"{first_names(self.left_out)}.",
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: runs, folds, ratio, pvalue, rho, within_run, standard_error, assumed_error."""
        import pandas as pd

        columns = {
            "runs": self.n_runs,
            "folds": self.folds,
            "ratio": self.ratio,
            "pvalue": self.pvalues,
            "rho": self.rho,
            "within_run": self.within_run,
            "standard_error": self.standard_error,
            "assumed_error": self.assumed_error,
        }
        return pd.DataFrame(columns, index=pd.Index(self.dataset_names, name="dataset"))


@dataclass(frozen=True, eq=False, repr=False)
class RepetitionGain(Presentation):
    """What more runs of cross-validation buy.

    Attributes
    ----------
    runs : tuple of int
    standard_error : ndarray, shape (len(runs),)
        Root of the mean over data sets of the squared standard error of their mean difference (R4), in the metric's units.
    sigma0 : float
        Scale of the population: its posterior mean.
    algorithms : tuple of str
        The left and the right algorithm.
    metric : str
        The metric and its direction, in words.
    """

    runs: tuple[int, ...]
    standard_error: FloatArray
    sigma0: float
    algorithms: tuple[str, str]
    metric: str = ""

    @property
    def width(self) -> FloatArray:
        """sqrt(sigma0^2 + standard_error^2): how far observed mean differences lie from delta0, shape (len(runs),)."""
        return np.hypot(self.sigma0, self.standard_error)

    @property
    def enough(self) -> int:
        """The fewest of these runs with which `width` is within 1% of that with the most."""
        near = self.width <= (1 + ENOUGH) * self.width[-1]
        return self.runs[int(np.argmax(near))]

    @property
    def title(self) -> str:
        """What was compared."""
        left, right = map(shown, self.algorithms)
        return f"What more runs buy, {left} against {right}{f', {self.metric}' if self.metric else ''}"

    @property
    def conclusion(self) -> str:
        """How many runs are enough."""
        gained = 1 - self.standard_error[-1] / self.standard_error[0]
        if len(self.runs) == 1:
            return f"There is one number of runs, {self.runs[0]}, and nothing to compare it with."
        return (
            f"{self.runs[-1]} runs instead of {self.runs[0]} make the standard error of a data set's mean difference "
            f"{gained:.0%} smaller, and the width of what is observed, which includes the differences between data sets, "
            f"{1 - self.width[-1] / self.width[0]:.0%}. With {counted(self.enough, 'run')} that width is within 1% of the "
            f"one with {self.runs[-1]}."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each number of runs: standard_error, width."""
        import pandas as pd

        return pd.DataFrame(
            {"standard_error": self.standard_error, "width": self.width}, index=pd.Index(self.runs, name="runs")
        )


@dataclass(frozen=True)
class EnoughRuns:
    """From how many runs of cross-validation on further ones buy little.

    Attributes
    ----------
    runs : int
        The fewest with which no number of further runs makes the standard error of a mean difference more than 5% smaller.
    most : int
        A number of runs to compare with.
    gained : float
        By what share ``most`` runs instead of ``runs`` make the standard error smaller; 0 if they are not more.
    """

    runs: int
    most: int
    gained: float

    @property
    def sentence(self) -> str:
        """What it means for a study."""
        error = "the standard error of a data set's mean difference"
        if self.most <= self.runs:
            return (
                f"Runs pay up to {self.runs}: no number of further runs makes {error} more than {LITTLE:.0%} smaller."
            )
        return (
            f"More than {counted(self.runs, 'run')} buy little: {self.most} instead make {error} {self.gained:.0%} smaller, "
            f"and no number of runs makes it more than {LITTLE:.0%} smaller."
        )


def correlation(differences: PairedDifferences) -> CorrelationCheck:
    """Compare the variation between runs with that within runs, on every data set and on all together.

    If all folds are equally correlated (M1), the ratio R of the two mean squares is distributed as F with r - 1 and
    r (k - 1) degrees of freedom, whatever the correlation is, if the differences are normal. (Exactly where every run has as
    many folds; where they differ, nearly.) Data can show the two mean squares, and never how much folds of different runs
    are correlated: for that rho remains an assumption.

    Parameters
    ----------
    differences : PairedDifferences

    Returns
    -------
    CorrelationCheck

    Raises
    ------
    ArgumentError
        If no data set has two runs of two folds whose differences vary.
    """
    runs = differences.runs
    if runs is None or runs.n_runs.max() < 2:
        raise ArgumentError(
            "No data set has several runs, so nothing shows how folds are correlated within and across runs.",
            remedy="Give the runs of repeated cross-validation in a column run.",
            key="no_runs",
        )
    usable = runs.informative(differences.constant)
    if not usable.any():
        raise ArgumentError(
            "No data set has two runs of two folds whose differences vary within and between runs.", key="no_runs"
        )
    n_runs, folds = runs.n_runs[usable], runs.folds[usable]
    return CorrelationCheck(
        dataset_names=_names(differences, usable),
        left_out=_names(differences, ~usable),
        n_runs=n_runs,
        folds=folds,
        within=runs.within[usable] / (differences.n[usable] - n_runs),
        between=runs.between[usable] / (n_runs - 1),
        rho=(differences.rho if differences.two_level is None else differences.two_level.across)[usable],
        assumed_error=differences.standard_error[usable],
        algorithms=(differences.left, differences.right),
        metric=metric_words(differences.measure, differences.higher_is_better, differences.transform),
    )


def gain(result: Fit, runs: int | Sequence[int] = (1, 5, 10, 100)) -> RepetitionGain:
    """Standard errors with other numbers of runs, by the variation within and between the runs that there are.

    Whatever the correlations are, r runs instead of one reduce the squared standard error by (b/k) (1 - 1/r), b being the
    expected mean square between runs (R5). How much remains is by (R4), with rho across runs. For b the ratio of all data
    sets together is used, as the few runs of one say little.

    Parameters
    ----------
    result : Fit
        Such as a `hiercomp.ComparisonResult`.
    runs : int or sequence of int

    Returns
    -------
    RepetitionGain

    Raises
    ------
    ArgumentError
        If there are no runs in the data, or ``runs`` are not whole numbers above 0.
    NoVerdictError
        If the computation failed its checks.
    """
    numbers = tuple(
        sorted({whole_number("runs", each, 1) for each in (runs if isinstance(runs, Iterable) else [runs])})
    )
    if not numbers:
        raise ArgumentError("runs is empty: give the numbers of runs to compare, such as (1, 5, 10).")
    result.refuse_if_failed()
    check = correlation(result.differences)
    between = check.pooled_ratio * check.within
    squares = [squared_error(number, check.folds, check.within, between, check.rho).mean() for number in numbers]
    return RepetitionGain(
        runs=numbers,
        standard_error=np.sqrt(squares),
        sigma0=float(result.population()["mean"]["sigma0"]),
        algorithms=check.algorithms,
        metric=check.metric,
    )


def enough_runs(
    differences: PairedDifferences, most: int, *, folds: int | None = None, rho: float | None = None
) -> EnoughRuns | None:
    """The number of runs after which further ones buy little, by the variation within and between the runs that there are.

    The squared standard error with r runs, averaged over the data sets, is u + v/r (R4), v being the mean of b/k and u what
    no number of runs removes. It is at most u / 0.95^2 from r = v 0.95^2 / (u (1 - 0.95^2)) on.

    Parameters
    ----------
    differences : PairedDifferences
    most : int
        A number of runs to compare with.
    folds : int, optional
        Folds of a planned run.
    rho : float, optional
        Correlation across runs; by default that of the model.

    Returns
    -------
    EnoughRuns or None
        None if no data set has runs that show it, their folds are other than those planned, or folds of different runs are
        not correlated, with which every further run counts.
    """
    try:
        check = correlation(differences)
    except ArgumentError:
        return None
    across = check.rho if rho is None else np.full_like(check.rho, rho)
    if not across.any() or (folds is not None and (check.folds != folds).any()):
        return None
    between = check.pooled_ratio * check.within
    removable = float((between / check.folds).mean())
    single = float(squared_error(1, check.folds, check.within, between, across).mean())
    rest, share = single - removable, (1 - LITTLE) ** 2
    runs = max(math.ceil(removable * share / (rest * (1 - share))), 1)
    gained = 1 - math.sqrt((rest + removable / max(most, runs)) / (rest + removable / runs))
    return EnoughRuns(runs, most, gained)


def refutation(differences: PairedDifferences) -> str:
    """How the runs refute one correlation for all folds, to follow "refute"; empty if they don't, or can't say."""
    if differences.two_level is not None or differences.runs is None:
        return ""
    if not differences.runs.informative(differences.constant).any():
        return ""
    check = correlation(differences)
    if not check.refuted:
        return ""
    return f"({check.pvalue_words}): the means of runs vary {check.pooled_ratio:.2f} times as much as it implies"


def squared_error(
    runs: NDArray[np.int64] | int, folds: FloatArray, within: FloatArray, between: FloatArray, across: FloatArray
) -> FloatArray:
    """Squared standard error of a mean over runs, given the correlation across runs (R4).

    Parameters
    ----------
    runs, folds : array_like
        r and k.
    within, between : array_like
        Mean squares within and between runs.
    across : array_like
        kappa, the correlation between folds of different runs.

    Returns
    -------
    ndarray
        b/n + kappa/(1 - kappa) ((k - 1) a + b)/k.

    Examples
    --------
    With equal mean squares, as with equal correlations, it is that of Nadeau and Bengio:

    >>> round(float(squared_error(10, np.array(10.0), np.array(4.0), np.array(4.0), np.array(0.1))), 4)
    0.4844
    >>> round((1 / 100 + 0.1 / 0.9) * 4.0, 4)
    0.4844
    """
    return np.asarray(between / (runs * folds) + across / (1 - across) * ((folds - 1) * within + between) / folds)


def _names(differences: PairedDifferences, chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(differences.dataset_names[place] for place in np.flatnonzero(chosen))
