"""The t and F tests of five runs of two-fold cross-validation (Dietterich 1998, Alpaydin 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiercomp.arguments import FloatArray, true_or_false
from hiercomp.closed_form.inputs import (
    Alternative,
    as_differences,
    check_alternative,
    is_table,
    refuse_masked,
)
from hiercomp.closed_form.one_dataset.frequentist import t_p_value
from hiercomp.closed_form.result import FrequentistResult
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, Note, ScoreTableError, warn_caller
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.problems import ROUNDING
from hiercomp.wording import shown

RUNS, FOLDS = 5, 2


def five_by_two_cv_t(
    x: Any,
    *,
    alternative: Alternative = "two-sided",
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool = True,
) -> FrequentistResult:
    """Dietterich's 5x2 cv paired t-test of a data set.

    With d_ij the difference of run i, fold j, and s_i^2 the variance of the two differences of run i,
    t = d_11 / sqrt((s_1^2 + ... + s_5^2) / 5), with 5 degrees of freedom.

    The numerator is one difference of ten, that of the first fold of the first run. Another order of the runs and folds
    gives another t, and may give another verdict, from the same scores: `five_by_two_cv_f` exists because of that.

    d_11 is in the denominator too, so that t is not quite Student's: with ten independent normal differences the test
    rejects 2.8% of true hypotheses at a nominal 5%.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left, runs by folds, of shape (5, 2), or (q, 5, 2) for several data sets; or a tidy table
        or `PairedDifferences` with 5 runs of 2 folds of every data set, taken in the order of their run and fold numbers.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    left, right : str, optional
        The algorithms: which two of a table, or what to call them.
    higher_is_better : bool
        False for losses and errors.

    Returns
    -------
    FrequentistResult
        Where the folds never differ within a run t is infinite, or 0 where the first difference is 0 (two-sided p 1,
        one-sided 0.5), with a warning.

    Raises
    ------
    ScoreTableError
        If there are not 5 runs of 2 folds, or a number is not finite.
    ArgumentError
        If an argument is outside what is allowed.

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
    given = _five_by_two(x, left, right, higher_is_better)
    first, variance = given.x[:, 0, 0], _sum_of_variances(given)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(first == 0, 0.0, first / np.sqrt(variance / RUNS))
    pvalue = t_p_value(statistic, float(RUNS), alternative)
    return FrequentistResult(
        test="5x2 cv paired t-test (Dietterich 1998)",
        statistic=given.plain(statistic),
        df=given.plain(np.full(len(pvalue), float(RUNS))),
        pvalue=given.plain(pvalue),
        alternative=alternative,
        algorithms=given.algorithms,
        dataset_names=given.datasets,
        notes=(*given.notes, *_constant_note(given, variance, "t is infinite, or 0 where the first difference is 0")),
    )


def five_by_two_cv_f(
    x: Any,
    *,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool = True,
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
        The algorithms: which two of a table, or what to call them.
    higher_is_better : bool
        False for losses and errors; F is the same.

    Returns
    -------
    FrequentistResult
        Where the folds never differ within a run F is infinite, or 0 with p 1 where all differences are 0, with a
        warning.

    Raises
    ------
    ScoreTableError
        If there are not 5 runs of 2 folds, or a number is not finite.
    ArgumentError
        If an argument is outside what is allowed.

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
    from scipy import special

    given = _five_by_two(x, left, right, higher_is_better)
    squares, variance = np.sum(given.x**2, axis=(1, 2)), _sum_of_variances(given)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(squares == 0, 0.0, squares / (2 * variance))
    df = (float(RUNS * FOLDS), float(RUNS))
    pvalue = np.where(np.isinf(statistic), 0.0, special.fdtrc(*df, np.where(np.isinf(statistic), 1.0, statistic)))
    return FrequentistResult(
        test="Combined 5x2 cv F-test (Alpaydin 1999)",
        statistic=given.plain(statistic),
        df=df,
        pvalue=given.plain(pvalue),
        alternative="two-sided",
        algorithms=given.algorithms,
        dataset_names=given.datasets,
        notes=(*given.notes, *_constant_note(given, variance, "F is infinite, or 0 where all differences are 0")),
    )


@dataclass(frozen=True)
class _FiveByTwo:
    """Differences of shape (q, 5, 2), 0 where they are 0 up to rounding."""

    x: FloatArray
    size: FloatArray
    algorithms: tuple[str, str]
    datasets: tuple[str, ...]
    single: bool
    notes: tuple[str, ...] = ()

    def plain(self, values: FloatArray) -> Any:
        return values[0].item() if self.single else values


def _five_by_two(x: Any, left: str | None, right: str | None, higher_is_better: bool) -> _FiveByTwo:
    if isinstance(x, PairedDifferences) or is_table(x):
        given = as_differences(x, 0.0, left=left, right=right, higher_is_better=higher_is_better).differences
        differences = _by_run_and_fold(given)
        size = np.maximum(np.abs(given.lowest_score), np.abs(given.highest_score))
        algorithms, datasets, single = (given.left, given.right), given.dataset_names, False
        notes = tuple(note.text for note in given.notes)
    else:
        differences, single = _array(x)
        differences = differences if true_or_false("higher_is_better", higher_is_better) else -differences
        size = np.abs(differences).max(axis=(1, 2))
        algorithms, notes = (left or "left", right or "right"), ()
        datasets = tuple(str(number + 1) for number in range(len(differences)))
    differences = np.where(np.abs(differences) <= ROUNDING * size[:, None, None], 0.0, differences)
    return _FiveByTwo(differences, size, algorithms, datasets, single, notes)


def _array(x: Any) -> tuple[FloatArray, bool]:
    """Differences of shape (q, 5, 2), and whether there was one data set without an axis of its own."""
    refuse_masked(x, "x")
    wanted = f"x must hold differences of {RUNS} runs of {FOLDS} folds: shape ({RUNS}, {FOLDS}) or (q, {RUNS}, {FOLDS})"
    try:
        values = np.asarray(x)
    except ValueError:
        raise ScoreTableError(f"{wanted}; got rows of unequal lengths.") from None
    if values.dtype.kind not in "fiu":
        raise ScoreTableError(f"{wanted}; got values that are not numbers.")
    if values.ndim not in (2, 3) or values.shape[-2:] != (RUNS, FOLDS) or len(values) == 0:
        raise ScoreTableError(f"{wanted}; got shape {values.shape}.")
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        run, fold = wrong[0][-2:] + 1
        place = f"run {run}, fold {fold}" + (f" of data set {wrong[0][0] + 1}" if values.ndim == 3 else "")
        raise ScoreTableError(
            f"{len(wrong)} of {values.size} differences are not finite (first: {place}, {values[tuple(wrong[0])]}). "
            "All ten are needed; a missing score is not an equivalent one."
        )
    return values.reshape(-1, RUNS, FOLDS).astype(float), values.ndim == 2


def _by_run_and_fold(given: PairedDifferences) -> FloatArray:
    """Differences of every data set in the order of its runs and folds, shape (q, 5, 2)."""
    if given.scores is None:
        raise ArgumentError("These differences were read from a file, without the scores. Pass the table of scores.")
    missing = [role for role in ("run", "fold") if role not in given.scores]
    if missing:
        raise ScoreTableError(
            f"The 5x2 cv tests need to know which run and fold a score belongs to; there is no {' and no '.join(missing)}. "
            f"Pass a table with run and fold columns, or an array of shape (q, {RUNS}, {FOLDS})."
        )
    sign = 1.0 if given.higher_is_better else -1.0
    rows = given.scores.assign(difference=sign * (given.scores["right"] - given.scores["left"]))
    found = []
    for name, cells in rows.groupby("dataset", sort=False, observed=True):
        folds = cells.groupby("run")["fold"].nunique()
        if len(folds) != RUNS or (folds != FOLDS).any():
            shape = f"{len(folds)} runs of " + " or ".join(str(count) for count in sorted(set(folds))) + " folds"
            raise ScoreTableError(
                f"The 5x2 cv tests need {RUNS} runs of {FOLDS} folds; data set {shown(name)!r} has {shape}. "
                "For other layouts use corrected_t_test."
            )
        found.append(cells.sort_values(["run", "fold"])["difference"].to_numpy(float).reshape(RUNS, FOLDS))
    return np.stack(found)


def _sum_of_variances(given: _FiveByTwo) -> FloatArray:
    """Sum over the runs of the variance of a run's two differences, shape (q,); 0 where they are equal up to rounding."""
    gap = given.x[:, :, 0] - given.x[:, :, 1]
    gap = np.where(np.abs(gap) <= ROUNDING * given.size[:, None], 0.0, gap)
    return np.asarray(np.sum(gap**2 / 2, axis=1))


def _constant_note(given: _FiveByTwo, variance: FloatArray, consequence: str) -> tuple[str, ...]:
    constant = variance == 0
    if not constant.any():
        return ()
    note = Note(
        DegenerateScoresWarning,
        f"Both folds of every run have the same difference in {constant.sum()} of {len(constant)} data sets (first: "
        f"{shown(given.datasets[int(np.argmax(constant))])!r}): {consequence}.",
    )
    warn_caller([note])
    return (note.text,)
