"""Several algorithms over data sets: Friedman's test, Iman & Davenport's F and Nemenyi's test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import special, stats

from hiercomp.arguments import FloatArray, number_between
from hiercomp.closed_form.inputs import read_score_matrix
from hiercomp.closed_form.result import after, verdict
from hiercomp.document import Presentation
from hiercomp.pairs.cliques import maximal_groups
from hiercomp.wording import counted

MOST_ENUMERATED = 20_000  # orders of the ranks, for the exact p; the approximations are good for larger tables


@dataclass(frozen=True, eq=False, repr=False)
class FriedmanResult(Presentation):
    """Friedman's test and Iman & Davenport's F.

    Attributes
    ----------
    statistic, df, pvalue : float
        Friedman's chi-squared, corrected for ties, its k - 1 degrees of freedom and its p-value.
    f_statistic : float
        Iman & Davenport's F, infinite if all data sets rank the algorithms alike.
    f_df : tuple of float
        Its degrees of freedom, k - 1 and (k - 1) (N - 1).
    f_pvalue : float
        Its p-value.
    exact_pvalue : float or None
        The share of all orders of the ranks within data sets whose chi-squared is at least as large; None for tables with
        too many orders: 3 algorithms on more than 6 data sets, 4 on more than 4, 5 on more than 3, 6 or 7 on more than 2.
    mean_ranks : ndarray, shape (k,)
        Mean rank of each algorithm; 1 is the best.
    algorithms, dataset_names : tuple of str
    notes : tuple of str
        What was dropped or is odd.
    metric : str
        The metric and its direction, in words; empty for arrays.
    """

    statistic: float
    df: float
    pvalue: float
    f_statistic: float
    f_df: tuple[float, float]
    f_pvalue: float
    exact_pvalue: float | None
    mean_ranks: FloatArray
    algorithms: tuple[str, ...]
    dataset_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    metric: str = ""

    @property
    def title(self) -> str:
        """The test and what it compared."""
        count = counted(len(self.dataset_names), "data set")
        return f"Friedman test, {len(self.algorithms)} algorithms, {count}{after(self.metric)}"

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        pvalue, by, exact = self.f_pvalue, "F", ""
        if self.exact_pvalue is not None:
            pvalue, by, exact = self.exact_pvalue, "the exact p", f"; exact p = {self.exact_pvalue:.3g}"
        return (
            f"Chi-squared = {self.statistic:.4g} (df {self.df:g}), p = {self.pvalue:.3g}; Iman & Davenport's F = "
            f"{self.f_statistic:.4g} (df {self.f_df[0]:g}, {self.f_df[1]:g}), p = {self.f_pvalue:.3g}{exact}: "
            f"{verdict(pvalue, ' of all')} (by {by})."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each algorithm, best first: mean_rank."""
        frame = pd.DataFrame({"mean_rank": self.mean_ranks}, index=pd.Index(self.algorithms, name="algorithm"))
        return frame.sort_values("mean_rank", kind="stable")


@dataclass(frozen=True, eq=False, repr=False)
class PostHocResult(Presentation):
    """A test of every pair of algorithms.

    Attributes
    ----------
    test : str
        Name and source of the test.
    algorithms : tuple of str
    mean_ranks : ndarray, shape (k,)
        Mean rank of each algorithm; 1 is the best.
    statistic : ndarray of shape (k, k), or None
        Statistic of each pair, NaN on the diagonal; None for tests that give only p-values.
    pvalue, adjusted_pvalue : ndarray, shape (k, k)
        p-value of each pair before and after the adjustment for their number; 1 on the diagonal.
    adjust : str
        The adjustment; "none" also if the p-values already hold for all pairs at once.
    alpha : float
        The level of `groups` and of the critical difference.
    critical_difference : float or None
        Mean ranks that differ by more than this differ significantly; None for tests without one.
    n_datasets : int
        Number of data sets.
    notes : tuple of str
        What was dropped or is odd.
    metric : str
        The metric and its direction, in words; empty for arrays.
    """

    test: str
    algorithms: tuple[str, ...]
    mean_ranks: FloatArray
    statistic: FloatArray | None
    pvalue: FloatArray
    adjusted_pvalue: FloatArray
    adjust: str
    alpha: float
    critical_difference: float | None
    n_datasets: int
    notes: tuple[str, ...] = ()
    metric: str = ""

    @property
    def title(self) -> str:
        """The test and what it compared."""
        adjustment = "" if self.adjust == "none" else f", p adjusted by {self.adjust}"
        count = counted(self.n_datasets, "data set")
        return f"{self.test}, all pairs of {len(self.algorithms)} algorithms, {count}{adjustment}{after(self.metric)}"

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        p = self.adjusted_pvalue[np.triu_indices(len(self.algorithms), 1)]
        critical = "" if self.critical_difference is None else f" (critical difference {self.critical_difference:.4g})"
        return (
            f"At the {100 * self.alpha:g}% level {(p < self.alpha).sum()} of {counted(len(p), 'pair')} differ significantly"
            f"{critical}; for the others the test decides nothing."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair: algorithm, against, statistic (if there is one), pvalue, adjusted_pvalue."""
        one, other = np.triu_indices(len(self.algorithms), 1)
        names = np.array(self.algorithms, dtype=object)
        columns: dict[str, Any] = {"algorithm": names[one], "against": names[other]}
        if self.statistic is not None:
            columns["statistic"] = self.statistic[one, other]
        return pd.DataFrame(
            columns | {"pvalue": self.pvalue[one, other], "adjusted_pvalue": self.adjusted_pvalue[one, other]}
        )

    def adjusted_pvalue_matrix(self) -> pd.DataFrame:
        """The adjusted p-values as a square, algorithms on both sides."""
        return pd.DataFrame(self.adjusted_pvalue, index=list(self.algorithms), columns=list(self.algorithms))

    def groups(self) -> list[tuple[str, ...]]:
        """The largest groups within which no pair differs significantly, for a critical-difference diagram.

        Each group and the list begin with the best mean rank. A group has at least two algorithms and is not part of
        another; an algorithm in no group differs significantly from all others.
        """
        by_rank = np.argsort(self.mean_ranks, kind="stable")
        alike = (self.adjusted_pvalue >= self.alpha)[np.ix_(by_rank, by_rank)]
        return [tuple(self.algorithms[by_rank[place]] for place in group) for group in maximal_groups(alike)]


def friedman_test(
    scores: Any, *, missing: Literal["error", "drop"] = "error", higher_is_better: bool | None = None
) -> FriedmanResult:
    """Friedman's test: do several algorithms have the same mean rank over data sets?

    Ties get mean ranks, and chi-squared is corrected for them (``scipy.stats.friedmanchisquare``). Iman & Davenport's
    F = (N - 1) chi2 / (N (k - 1) - chi2), for N data sets and k algorithms, is less conservative. On a few data sets both
    approximations are poor: of three algorithms, F rejects 17% at the 5% level on two data sets and 19% on three. There
    the conclusion rests on the exact p.

    Parameters
    ----------
    scores : array_like or data frame
        One row for each data set and one column for each algorithm; or a tidy table (dataset, algorithm, run, fold,
        score), averaged over folds. A frame counts as tidy if it has dataset and algorithm columns.
    missing : {"error", "drop"}
        Refuse missing scores, or leave out data sets that lack any, with a warning.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    FriedmanResult
        If all algorithms tie on every data set, both statistics are 0 and both p are 1, with a warning.

    Raises
    ------
    ScoreTableError
        If scores are missing or duplicate, or there are fewer than 3 algorithms or 2 data sets.
    ArgumentError
        If an argument is invalid.

    References
    ----------
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006), Sect. 3.2.2; Iman &
    Davenport, Communications in Statistics A 9 (1980).

    Examples
    --------
    >>> result = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.8, 0.6], [0.9, 0.7, 0.8]])
    >>> result.mean_ranks
    array([1.25, 2.  , 2.75])
    >>> round(result.statistic, 6), round(result.pvalue, 4), round(result.f_statistic, 6)
    (4.5, 0.1054, 3.857143)
    """
    table = read_score_matrix(scores, missing=missing, higher_is_better=higher_is_better, fewest=3)
    ranks, (count, k) = table.ranks, table.values.shape
    mean_ranks = ranks.mean(axis=0)
    f_df = (k - 1.0, (k - 1.0) * (count - 1))
    statistic, pvalue, f_statistic, f_pvalue = 0.0, 1.0, 0.0, 1.0
    exact_pvalue = _exact_pvalue(ranks) if math.factorial(k) ** (count - 1) <= MOST_ENUMERATED else None
    if not table.tied:
        statistic, pvalue = map(float, stats.friedmanchisquare(*ranks.T))
        # Iman & Davenport's F without its cancellation: the variances of ranks between and within algorithms
        between, within = count * np.sum((mean_ranks - (k + 1) / 2) ** 2), np.sum((ranks - mean_ranks) ** 2)
        f_statistic = float((count - 1) * between / within) if within > 0 else math.inf
        f_pvalue = float(special.fdtrc(*f_df, f_statistic)) if within > 0 else 0.0
    return FriedmanResult(
        statistic,
        k - 1.0,
        pvalue,
        f_statistic,
        f_df,
        f_pvalue,
        exact_pvalue,
        mean_ranks,
        table.algorithms,
        table.dataset_names,
        table.notes,
        table.metric,
    )


def _exact_pvalue(ranks: FloatArray) -> float:
    """The share of all orders of the ranks within data sets whose sums vary at least as much as these."""
    sums = ranks[:1]  # in one order: exchanging algorithms in all data sets changes nothing
    for of_dataset in ranks[1:]:
        orders = np.array(list(permutations(of_dataset)))
        sums = (sums[:, None] + orders).reshape(-1, ranks.shape[1])
    squares = np.square(sums).sum(axis=1)  # multiples of 1/4: equal ones are exactly equal
    return float(np.mean(squares >= np.square(ranks.sum(axis=0)).sum()))


def nemenyi_test(
    scores: Any,
    *,
    alpha: float = 0.05,
    missing: Literal["error", "drop"] = "error",
    higher_is_better: bool | None = None,
) -> PostHocResult:
    """Nemenyi's test: which pairs of algorithms have different mean ranks, for all pairs at once.

    The difference of two mean ranks over sqrt(k (k + 1) / (12 N)) is compared with the studentized range of k groups and
    infinite degrees of freedom, so the p-values need no further adjustment. Ties are not corrected for.

    Parameters
    ----------
    scores : array_like or data frame
        As in `friedman_test`; two algorithms are enough.
    alpha : float
        Level of the critical difference and of the groups.
    missing, higher_is_better
        As in `friedman_test`.

    Returns
    -------
    PostHocResult
        The statistic is the studentized range. p-values have an absolute error of at most 1e-11, scipy's tolerance;
        smaller ones are known only to be small.

    Raises
    ------
    ScoreTableError, ArgumentError
        As `friedman_test`; alpha must be above 0 and below 1.

    References
    ----------
    Nemenyi, "Distribution-free multiple comparisons", Princeton (1963); Demšar, JMLR 7 (2006), Sect. 3.2.2, whose critical
    value is the studentized range over sqrt(2).

    Examples
    --------
    >>> result = nemenyi_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.8, 0.6], [0.9, 0.7, 0.8]])
    >>> round(result.critical_difference, 3), round(float(result.pvalue[0, 2]), 4)
    (1.657, 0.0855)
    """
    alpha = number_between("alpha", alpha, 0, 1)
    table = read_score_matrix(scores, missing=missing, higher_is_better=higher_is_better, fewest=2)
    count, k = table.values.shape
    mean_ranks, unit = table.ranks.mean(axis=0), math.sqrt(k * (k + 1) / (12 * count))
    statistic = np.abs(mean_ranks[:, None] - mean_ranks) / unit
    different, place = np.unique(statistic.round(12), return_inverse=True)  # each costs an integral
    pvalue = np.where(different == 0, 1.0, stats.studentized_range.sf(different, k, np.inf))[place].reshape(k, k)
    np.fill_diagonal(statistic, np.nan)
    return PostHocResult(
        test="Nemenyi test",
        algorithms=table.algorithms,
        mean_ranks=mean_ranks,
        statistic=statistic,
        pvalue=pvalue,
        adjusted_pvalue=pvalue,
        adjust="none",
        alpha=alpha,
        critical_difference=float(stats.studentized_range.isf(alpha, k, np.inf)) * unit,
        n_datasets=count,
        notes=table.notes,
        metric=table.metric,
    )
