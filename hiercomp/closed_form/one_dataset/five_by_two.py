"""The t and F tests of five runs of two-fold cross-validation (Dietterich 1998, Alpaydin 1999)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from hiercomp.arguments import FloatArray
from hiercomp.closed_form.inputs import Alternative, Given, Sides, as_runs, check_alternative, some_datasets
from hiercomp.closed_form.one_dataset.frequentist import t_p_value
from hiercomp.closed_form.result import FrequentistResult, frequentist_result
from hiercomp.errors import DegenerateScoresWarning, Note, ScoreTableError
from hiercomp.scores.problems import ROUNDING
from hiercomp.wording import shown

RUNS, FOLDS = 5, 2


def five_by_two_cv_t(
    x: Any,
    *,
    alternative: Alternative = "two-sided",
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> FrequentistResult:
    """Dietterich's 5x2 cv paired t-test of a data set.

    With d_ij the difference of run i, fold j, and s_i^2 the variance of the two differences of run i,
    t = d_11 / sqrt((s_1^2 + ... + s_5^2) / 5), with 5 degrees of freedom.

    The numerator is one of the ten differences, that of the first fold of the first run. Another order of the runs and
    folds gives another t, and perhaps another verdict, from the same scores; `five_by_two_cv_f` avoids this.

    d_11 is in the denominator too, so t is not quite Student's: with ten independent normal differences the test
    rejects 2.8% of true hypotheses at a nominal 5%.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left, runs by folds, of shape (5, 2), or (q, 5, 2) for several data sets; or a tidy table
        or `PairedDifferences` with 5 runs of 2 folds of every data set, taken in the order of their run and fold numbers.
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
        If the folds never differ within a run, t is infinite, or 0 if the first difference is 0 (two-sided p 1,
        one-sided 0.5), with a warning.

    Raises
    ------
    ScoreTableError
        If there are not 5 runs of 2 folds, or a number is not finite.
    ArgumentError
        If an argument is invalid.

    References
    ----------
    Dietterich, "Approximate statistical tests for comparing supervised classification learning algorithms", Neural
    Computation 10 (1998), Sect. 3.5.

    Examples
    --------
    >>> x = [[0.02, 0.04], [0.01, 0.03], [0.03, 0.02], [0.05, 0.01], [0.02, 0.02]]
    >>> result = five_by_two_cv_t(x)
    >>> round(result.statistic, 4), result.df, round(result.pvalue, 4)
    (1.2649, 5.0, 0.2617)
    """
    check_alternative(alternative)
    given, values, variance = _five_by_two(x, left=left, right=right, higher_is_better=higher_is_better)
    first = values[:, 0, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(first == 0, 0.0, first / np.sqrt(variance / RUNS))
    pvalue = t_p_value(statistic, float(RUNS), alternative)
    return frequentist_result(
        given,
        "5x2 cv paired t-test (Dietterich 1998)",
        statistic,
        pvalue,
        df=np.full(len(pvalue), float(RUNS)),
        alternative=alternative,
        odd=_never_vary(given, variance == 0, "t is infinite, or 0 if the first difference is 0"),
    )


def five_by_two_cv_f(
    x: Any,
    *,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> FrequentistResult:
    """Alpaydin's combined 5x2 cv F-test of a data set.

    F is the sum of the squares of all ten differences, divided by twice the sum of the variances of the five runs, with
    10 and 5 degrees of freedom. It does not depend on the order of runs or folds, and it has no direction.

    Numerator and denominator are not independent: with ten independent normal differences F is (1 + F') / 2, where F' has 5
    and 5 degrees of freedom, and the test rejects 1.8% of true hypotheses at a nominal 5%.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        As in `five_by_two_cv_t`.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors; F is the same.

    Returns
    -------
    FrequentistResult
        If the folds never differ within a run, F is infinite, or 0 with p 1 if all differences are 0, with a warning.

    Raises
    ------
    ScoreTableError
        If there are not 5 runs of 2 folds, or a number is not finite.
    ArgumentError
        If an argument is invalid.

    References
    ----------
    Alpaydin, "Combined 5x2 cv F test for comparing supervised classification learning algorithms", Neural Computation
    11 (1999).

    Examples
    --------
    >>> x = [[0.02, 0.04], [0.01, 0.03], [0.03, 0.02], [0.05, 0.01], [0.02, 0.02]]
    >>> result = five_by_two_cv_f(x)
    >>> round(result.statistic, 4), result.df, round(result.pvalue, 4)
    (3.08, (10.0, 5.0), 0.1131)
    """
    given, values, variance = _five_by_two(x, left=left, right=right, higher_is_better=higher_is_better)
    squares = np.sum(values**2, axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(squares == 0, 0.0, squares / (2 * variance))
    df = (float(RUNS * FOLDS), float(RUNS))
    pvalue = np.where(np.isinf(statistic), 0.0, special.fdtrc(*df, np.where(np.isinf(statistic), 1.0, statistic)))
    odd = _never_vary(given, variance == 0, "F is infinite, or 0 if all differences are 0")
    return frequentist_result(given, "Combined 5x2 cv F-test (Alpaydin 1999)", statistic, pvalue, df=df, odd=odd)


def _five_by_two(x: Any, **sides: Unpack[Sides]) -> tuple[Given, FloatArray, FloatArray]:
    """The input, its differences of shape (q, 5, 2), and the sum of the variances of the five runs, shape (q,).

    Differences that are 0 up to rounding become 0, and so do variances of runs whose two differences are equal up to
    rounding.
    """
    given, values = as_runs(x, _by_run_and_fold, layout=(RUNS, FOLDS), **sides)
    negligible = ROUNDING * given.size[:, None]
    values = np.where(np.abs(values) <= negligible[..., None], 0.0, values)
    gap = values[:, :, 0] - values[:, :, 1]
    gap = np.where(np.abs(gap) <= negligible, 0.0, gap)
    return given, values, np.asarray(np.sum(gap**2 / 2, axis=1))


def _by_run_and_fold(pairs: pd.DataFrame) -> FloatArray:
    """Differences of every data set in the order of its runs and folds, shape (q, 5, 2)."""
    missing = [role for role in ("run", "fold") if role not in pairs]
    if missing:
        raise ScoreTableError(
            f"The 5x2 cv tests need to know which run and fold a score belongs to; there is no {' and no '.join(missing)}. "
            f"Pass a table with run and fold columns, or an array of shape (q, {RUNS}, {FOLDS})."
        )
    found = []
    for name, cells in pairs.groupby("dataset", sort=False, observed=True):
        folds = cells.groupby("run")["fold"].nunique()
        if len(folds) != RUNS or (folds != FOLDS).any():
            shape = f"{len(folds)} runs of " + " or ".join(str(count) for count in sorted(set(folds))) + " folds"
            raise ScoreTableError(
                f"The 5x2 cv tests need {RUNS} runs of {FOLDS} folds; data set {shown(name)!r} has {shape}. "
                "For other layouts use corrected_t_test."
            )
        found.append(cells.sort_values(["run", "fold"])["difference"].to_numpy(float).reshape(RUNS, FOLDS))
    return np.stack(found)


def _never_vary(given: Given, constant: NDArray[np.bool_], consequence: str) -> Iterator[Note]:
    """Notes on data sets whose folds never differ within a run."""
    if where := some_datasets(constant, given.differences.dataset_names):
        yield Note(
            DegenerateScoresWarning, f"Both folds of every run have the same difference in {where}: {consequence}."
        )
