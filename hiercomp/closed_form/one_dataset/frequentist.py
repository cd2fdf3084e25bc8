"""Frequentist tests of a single data set: corrected t (Nadeau & Bengio), paired t, Welch, Mann-Whitney."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from inspect import cleandoc
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, whole_number
from hiercomp.closed_form.inputs import (
    Alternative,
    Given,
    as_differences,
    as_pairs,
    check_alternative,
    need_scores,
    rounded,
    scores_of,
    some_datasets,
)
from hiercomp.closed_form.result import FrequentistResult, frequentist_result
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, Note
from hiercomp.rope import student_t_half
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.problems import ROUNDING
from hiercomp.scores.rho import RhoLike


def corrected_t_test(
    x: Any,
    *,
    rho: RhoLike = None,
    n_train: int | None = None,
    n_test: int | None = None,
    alternative: Alternative = "two-sided",
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> FrequentistResult:
    """Corrected resampled t-test of Nadeau & Bengio, for scores whose training sets overlap.

    t = xbar / sqrt((1/n + rho / (1 - rho)) s^2) with n - 1 degrees of freedom, where rho / (1 - rho) is the paper's
    n_test / n_train. One-sided, P(mu > 0) of `correlated_t_test` is 1 - p.

    Why the correction: with equal correlation rho, the mean of n differences has the variance
    sigma^2 (1 + (n - 1) rho) / n, while s^2 estimates sigma^2 (1 - rho). The naive t is therefore too wide by
    sqrt((1 + (n - 1) rho) / (1 - rho)): 3.48 times at n = 100 and rho = 0.1, so abs(t) exceeds its 5% point 1.984 with
    probability 2 (1 - Phi(1.984 / 3.48)) = 0.57.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left of one data set (one-dimensional) or of several (one row each); or a tidy table.
    rho : float, mapping from data set to float, Correlation or "runs", optional
        Correlation between differences: 1/k for k folds, the share of test cases for hold-out. For a table the last two take
        the runs into account; see `HierarchicalComparison`.
    n_train, n_test : int, optional
        Cases in a training and in a test set, instead of rho.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    FrequentistResult
        Without variation the statistic is infinite, or 0 if the mean is also 0 (two-sided p 1, one-sided 0.5).

    Raises
    ------
    ScoreTableError
        If a number is not finite, or a data set has fewer than two.
    ArgumentError
        If rho, the sizes or the alternative are invalid.

    References
    ----------
    Nadeau & Bengio, "Inference for the generalization error", Machine Learning 52 (2003).

    Examples
    --------
    >>> result = corrected_t_test([0.02, 0.03, 0.01, 0.04, 0.02], n_train=80, n_test=20)
    >>> round(result.statistic, 4), result.df, round(result.pvalue, 4)
    (3.1379, 4.0, 0.0349)
    """
    if n_train is not None or n_test is not None:
        if rho is not None or n_train is None or n_test is None:
            raise ArgumentError("Pass either rho, or both n_train and n_test.")
        n_train, n_test = whole_number("n_train", n_train, 1), whole_number("n_test", n_test, 1)
        rho = n_test / (n_train + n_test)
    given = as_differences(x, rho, left=left, right=right, higher_is_better=higher_is_better)
    title = "Corrected resampled t-test (Nadeau & Bengio 2003)"
    need_scores(given.differences, 2, title)
    statistic, df = t_statistic(given.differences)
    pvalue = t_p_value(statistic, df, alternative)
    odd = _never_vary(given, given.differences.sum_of_squares == 0)
    return frequentist_result(given, title, statistic, pvalue, df=df, alternative=alternative, odd=odd)


class PlainTest(Protocol):
    """The signature of the tests that call `scipy.stats`."""

    def __call__(
        self,
        x: Any,
        y: Any = None,
        *,
        alternative: Alternative = "two-sided",
        left: str | None = None,
        right: str | None = None,
        higher_is_better: bool | None = None,
    ) -> FrequentistResult:
        """Test each data set."""


OfOneDataset: TypeAlias = Callable[[FloatArray, FloatArray, Alternative], tuple[float, float, float]]


def _plain_test(title: str, *, needs_variation: bool = True) -> Callable[[OfOneDataset], PlainTest]:
    """Turn a SciPy test into one that takes the inputs of all tests, under the name and docstring of the decorated
    function.

    That function takes the scores of left and right of one data set, and returns statistic, degrees of freedom (NaN where
    nothing varies) and p-value.
    """

    def whole(compute: OfOneDataset) -> PlainTest:
        def test(
            x: Any,
            y: Any = None,
            *,
            alternative: Alternative = "two-sided",
            left: str | None = None,
            right: str | None = None,
            higher_is_better: bool | None = None,
        ) -> FrequentistResult:
            check_alternative(alternative)
            given = as_pairs(x, y, left=left, right=right, higher_is_better=higher_is_better)
            need_scores(given.differences, 2, title)
            pairs = scores_of(given.differences)
            computed = [compute(*pairs[dataset], alternative) for dataset in given.differences.dataset_names]
            statistic, df, pvalue = np.array(computed).T
            constant = np.isnan(df)
            return frequentist_result(
                given,
                title,
                statistic,
                pvalue,
                df=None if constant.all() else df,
                alternative=alternative,
                odd=_never_vary(given, constant & needs_variation),
            )

        test.__name__, test.__qualname__ = compute.__name__, compute.__qualname__
        # Python 3.13 strips the indentation of docstrings; earlier versions keep it
        test.__doc__ = cleandoc(compute.__doc__ or "").format(parameters=cleandoc(PLAIN_PARAMETERS))
        return test

    return whole


PLAIN_PARAMETERS = """Parameters
    ----------
    x, y : array_like
        Scores of the left and of the right algorithm, of one data set or one row for each data set; or x alone:
        `PairedDifferences` or a tidy table.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    FrequentistResult"""


@_plain_test("Paired t-test")
def paired_t_test(a: FloatArray, b: FloatArray, alternative: Alternative) -> tuple[float, float, float]:
    """Paired t-test (``scipy.stats.ttest_rel``), which treats the folds as independent.

    Cross-validated scores are not, so the test rejects far too often (see `corrected_t_test`). It is here for
    comparison and for independent repetitions.

    {parameters}
        Without variation the statistic is infinite, or 0 if the mean difference is also 0, with a warning.

    Examples
    --------
    >>> round(paired_t_test([0.81, 0.80, 0.83], [0.85, 0.82, 0.84]).pvalue, 4)
    0.1181
    """
    from scipy import stats

    size = np.abs([a, b]).max()
    if np.ptp(b - a) <= ROUNDING * size:
        return _constant(float(np.mean(b - a)), size, alternative)
    found = stats.ttest_rel(b, a, alternative=alternative)
    return float(found.statistic), float(found.df), float(found.pvalue)


@_plain_test("Welch's t-test")
def welch_t_test(a: FloatArray, b: FloatArray, alternative: Alternative) -> tuple[float, float, float]:
    """Welch's t-test of two independent samples (``scipy.stats.ttest_ind`` with unequal variances).

    It ignores that the folds are paired, and that they are correlated.

    {parameters}
        If neither algorithm's scores vary, the statistic is infinite, or 0 if they are equal, with a warning.

    Examples
    --------
    >>> round(welch_t_test([0.81, 0.80, 0.83], [0.85, 0.82, 0.84]).pvalue, 4)
    0.1347
    """
    from scipy import stats

    size = np.abs([a, b]).max()
    if max(np.ptp(a), np.ptp(b)) <= ROUNDING * size:
        return _constant(float(b.mean() - a.mean()), size, alternative)
    with warnings.catch_warnings():  # where one algorithm's scores are constant; the other's variance is exact
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        found = stats.ttest_ind(b, a, equal_var=False, alternative=alternative)
    return float(found.statistic), float(found.df), float(found.pvalue)


@_plain_test("Mann-Whitney U test", needs_variation=False)
def mann_whitney(a: FloatArray, b: FloatArray, alternative: Alternative) -> tuple[float, float, float]:
    """Mann-Whitney U test of two independent samples (``scipy.stats.mannwhitneyu``); U is for the right scores.

    It ignores that the folds are paired, and that they are correlated.

    {parameters}
        Scores that are equal up to rounding tie; if all are equal, the p-value is 1.

    Examples
    --------
    >>> result = mann_whitney([0.81, 0.80, 0.83], [0.85, 0.82, 0.84])
    >>> result.statistic, round(result.pvalue, 4)
    (8.0, 0.2)
    """
    from scipy import stats

    a, b = rounded(np.stack([a, b]), np.abs([a, b]).max())
    if np.ptp([a, b]) == 0:  # no variance of the ranks
        return len(a) * len(b) / 2, np.nan, 1.0
    found = stats.mannwhitneyu(b, a, alternative=alternative)
    return float(found.statistic), np.nan, float(found.pvalue)


def t_statistic(differences: PairedDifferences) -> tuple[FloatArray, FloatArray]:
    """Corrected t of each data set and its degrees of freedom; infinite without variation, 0 if the mean is 0 too."""
    n = differences.n.astype(float)
    scale = np.sqrt(differences.sum_of_squares / (n - 1) * (1 / n + differences.rho / (1 - differences.rho)))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(differences.mean == 0, 0.0, differences.mean / scale)
    return statistic, n - 1


def t_p_value(statistic: FloatArray, df: Any, alternative: str) -> FloatArray:
    """p-value of a t statistic, with full relative accuracy in the tail."""
    tail, central = student_t_half(np.abs(statistic), df)
    check_alternative(alternative)
    if alternative == "two-sided":
        return 2 * tail
    beyond = statistic > 0 if alternative == "greater" else statistic < 0
    return np.where(beyond, tail, 0.5 + central)


def _never_vary(given: Given, constant: NDArray[np.bool_]) -> Iterator[Note]:
    """Notes on data sets without variation."""
    if where := some_datasets(constant, given.differences.dataset_names):
        yield Note(
            DegenerateScoresWarning,
            f"The differences never vary in {where}: the statistic is infinite, or 0 if the mean is also 0.",
        )


def _constant(difference: float, size: float, alternative: str) -> tuple[float, float, float]:
    """Statistic, df and p if nothing varies: the limit of a small variance; 0 up to rounding counts as 0."""
    statistic = math.copysign(math.inf, difference) if abs(difference) > ROUNDING * size else 0.0
    return statistic, math.nan, float(t_p_value(np.array(statistic), math.inf, alternative))
