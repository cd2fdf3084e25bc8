"""Wilcoxon's signed-rank test and the sign test over data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy import stats

from hiercomp.arguments import FloatArray
from hiercomp.closed_form.inputs import Alternative, Given, as_means, check_alternative, zeros_and_ties
from hiercomp.closed_form.result import after, compared, verdict
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError

ZeroMethod: TypeAlias = Literal["zsplit", "wilcox", "pratt"]
MOST_ENUMERATED = 13  # differences other than zero whose 2^N changes of sign are enumerated


@dataclass(frozen=True, eq=False, repr=False)
class SignedRankResult(Presentation):
    """A frequentist test over data sets.

    Attributes
    ----------
    test : str
        Name of the test.
    statistic : float
        Signed-rank: the smaller rank sum, or the rank sum of the right algorithm's wins if one-sided. Sign: the right
        algorithm's wins, with half of the ties where they are split.
    pvalue : float
        p-value of the alternative.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    zeros : str
        How data sets without a difference were treated.
    left_wins, ties, right_wins : int
        Number of data sets.
    algorithms : tuple of str
        The left and the right algorithm.
    notes : tuple of str
        Warnings about the data.
    metric : str
        The metric and its direction, in words; empty for arrays.
    """

    test: str
    statistic: float
    pvalue: float
    alternative: str
    zeros: str
    left_wins: int
    ties: int
    right_wins: int
    algorithms: tuple[str, str]
    notes: tuple[str, ...] = ()
    metric: str = ""

    @property
    def n_datasets(self) -> int:
        """Number of data sets."""
        return self.left_wins + self.ties + self.right_wins

    @property
    def title(self) -> str:
        """The test and what it compared."""
        what = compared(self.algorithms, self.n_datasets)
        return f"{self.test}, {what}, {self.alternative}, zeros: {self.zeros}{after(self.metric)}"

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        return f"p = {self.pvalue:.3g}: {verdict(self.pvalue, ' over data sets')}."

    def to_frame(self) -> pd.DataFrame:
        """One row: left_wins, ties, right_wins, statistic, pvalue."""
        names = ("left_wins", "ties", "right_wins", "statistic", "pvalue")
        return pd.DataFrame({name: [getattr(self, name)] for name in names}, index=[self.test])


def signed_rank_test(
    x: Any,
    *,
    zero_method: ZeroMethod = "zsplit",
    alternative: Alternative = "two-sided",
    correction: bool = False,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> SignedRankResult:
    """Wilcoxon signed-rank test of the data sets' mean differences (``scipy.stats.wilcoxon``).

    It uses one number from each data set and ignores the uncertainty of that number; it has no rope and can't show
    equivalence.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left: one for each data set (one-dimensional), or one row for each data set, which is
        averaged; or a tidy table.
    zero_method : {"zsplit", "wilcox", "pratt"}
        Data sets without a difference: "zsplit" ranks them and gives half of their ranks to each side, as Demšar (2006)
        advises, who also leaves one out if their number is odd; "wilcox" (scipy's default) drops them; "pratt" ranks them
        and drops their ranks.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    correction : bool
        Continuity correction of the normal approximation.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    SignedRankResult

    Raises
    ------
    ScoreTableError
        If a number is not finite.
    ArgumentError
        If the zero method or the alternative is unknown.

    Notes
    -----
    Tied absolute differences get their mean rank; differences that are equal up to rounding are ties (0.9 - 0.8 and 0.8
    - 0.7). The p-value is exact for up to 50 differences; with ties or zeros, for up to 13 that are not zero. Else it is
    from the normal approximation, whose variance is corrected for ties. If all differences are zero, p is 1.

    References
    ----------
    Wilcoxon, Biometrics Bulletin 1 (1945); Demšar, JMLR 7 (2006), Sect. 3.1.3.

    Examples
    --------
    >>> result = signed_rank_test([0.02, 0.03, -0.01, 0.05, 0.04, 0.06])
    >>> result.statistic, result.pvalue
    (1.0, 0.0625)
    """
    check_alternative(alternative)
    if zero_method not in get_args(ZeroMethod):
        raise ArgumentError(f"zero_method must be 'zsplit', 'wilcox' or 'pratt', got {zero_method!r}.")
    given = as_means(x, left=left, right=right, higher_is_better=higher_is_better)
    z = zeros_and_ties(given.differences)
    statistic, pvalue = wilcoxon(z, zero_method, correction=correction, alternative=alternative)
    treatment = {"zsplit": "split", "wilcox": "dropped", "pratt": "ranked, then dropped"}[zero_method]
    return _result("Wilcoxon signed-rank test", statistic, pvalue, alternative, treatment, given)


def wilcoxon(
    z: FloatArray, zero_method: ZeroMethod, *, alternative: Alternative = "two-sided", correction: bool = False
) -> tuple[float, float]:
    """Statistic and p-value of ``scipy.stats.wilcoxon``; p is 1 if all differences are zero.

    With ties or zeros scipy approximates from 14 differences on, zeros included; here only those that are not zero count.
    """
    if not z.any():
        return (len(z) * (len(z) + 1) / 4 if zero_method == "zsplit" else 0.0), 1.0
    nonzero = np.count_nonzero(z)
    if nonzero <= MOST_ENUMERATED and len(np.unique(np.abs(z[z != 0]))) < len(z):
        return signed_rank_with_ties(z, zero_method, alternative)
    found = stats.wilcoxon(z, zero_method=zero_method, alternative=alternative, correction=correction)
    return float(found.statistic), float(found.pvalue)


def signed_rank_with_ties(
    values: FloatArray, zero_method: ZeroMethod, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    """Statistic and exact p-value for a few differences with ties or zeros, from all changes of their signs.

    ``scipy.stats.wilcoxon`` finds the same by a permutation test, in about half a second.
    """
    ranked = values[values != 0] if zero_method == "wilcox" else values
    ranks, zero = stats.rankdata(np.abs(ranked)), ranked == 0
    sums = np.zeros(1)
    for rank in ranks[~zero]:
        sums = np.concatenate([sums, sums + rank])
    plus, minus = ranks[ranked > 0].sum(), ranks[ranked < 0].sum()
    share = ranks[zero].sum() / 2 if zero_method == "zsplit" else 0.0
    less, greater = np.mean(sums <= plus), np.mean(sums >= plus)  # multiples of 1/2: equal sums are exactly equal
    if alternative == "two-sided":
        return float(min(plus, minus) + share), float(min(2 * min(less, greater), 1.0))
    return float(plus + share), float(less if alternative == "less" else greater)


def sign_test(
    x: Any,
    *,
    zeros: Literal["split", "drop"] = "split",
    alternative: Alternative = "two-sided",
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> SignedRankResult:
    """Sign test: a binomial test of the data sets that each algorithm wins (``scipy.stats.binomtest``).

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left: one for each data set (one-dimensional), or one row for each data set, which is
        averaged; or a tidy table.
    zeros : {"split", "drop"}
        Data sets without a difference: "split" gives half of them to each algorithm and leaves out an odd one, as Demšar
        (2006) advises; "drop" leaves all of them out. If all are zero, p is 1.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    SignedRankResult

    Raises
    ------
    ScoreTableError
        If a number is not finite.
    ArgumentError
        If ``zeros`` or the alternative is unknown.

    References
    ----------
    Demšar, JMLR 7 (2006), Sect. 3.1.4.

    Examples
    --------
    >>> result = sign_test([0.02, 0.03, -0.01, 0.05, 0.04, 0.06])
    >>> result.statistic, result.pvalue  # 5 of 6 wins: 2 * 7 / 64
    (5.0, 0.21875)
    """
    check_alternative(alternative)
    if zeros not in ("split", "drop"):
        raise ArgumentError(f"zeros must be 'split' or 'drop', got {zeros!r}.")
    given = as_means(x, left=left, right=right, higher_is_better=higher_is_better)
    z = zeros_and_ties(given.differences)
    half = int((z == 0).sum()) // 2 if zeros == "split" else 0
    right_wins, left_wins = int((z > 0).sum()) + half, int((z < 0).sum()) + half
    pvalue = 1.0
    if z.any():
        pvalue = float(stats.binomtest(right_wins, right_wins + left_wins, alternative=alternative).pvalue)
    treatment = "split, an odd one left out" if zeros == "split" else "dropped"
    return _result("Sign test", float(right_wins), pvalue, alternative, treatment, given)


def _result(test: str, statistic: float, pvalue: float, alternative: str, zeros: str, given: Given) -> SignedRankResult:
    z = zeros_and_ties(given.differences)
    return SignedRankResult(
        test=test,
        statistic=statistic,
        pvalue=pvalue,
        alternative=alternative,
        zeros=zeros,
        left_wins=int((z < 0).sum()),
        ties=int((z == 0).sum()),
        right_wins=int((z > 0).sum()),
        algorithms=given.algorithms,
        notes=given.notes,
        metric=given.metric,
    )
