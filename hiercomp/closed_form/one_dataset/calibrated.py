"""Calibrated t-tests of repeated cross-validation (Bouckaert 2003): the test, its schemes, and their calibration.

x_ij is the difference on fold i of run j. A scheme makes a mean m and a variance s^2 of the differences, and the
statistic is T = m sqrt(df + 1) / s, compared with Student-t. The calibrated df enters both the factor sqrt(df + 1) and the
t distribution. It is smaller than the nominal one where a scheme takes dependent differences as independent, and larger
where an averaged or sorted scheme has a smaller nominal df than its variance deserves.

Schemes and nominal df are those of the paper's Sects. 2 and 3 and its Table 1. In three places the printed table can't
be followed to the letter. The sums in the numerators of resampling and corrected resampling are means here, because T
would grow with n otherwise. "Sorted runs" averages the i-th smallest value of each run over the runs, as "runs"
averages fold i; the mean of such a position is also the numerator of "sorted runs averaged T", which is lost in print.
The variance of "sorted runs averaged variance" is about the mean of the sorted position, not about the x_i. that is
printed, the mean of the unsorted fold: only so is its calibrated df very low, as the paper reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, number_between, number_of_jobs, one_of, true_or_false, whole_number
from hiercomp.closed_form.inputs import Alternative, as_runs, check_alternative, some_datasets
from hiercomp.closed_form.one_dataset.frequentist import t_p_value
from hiercomp.closed_form.result import FrequentistResult, frequentist_result
from hiercomp.closed_form.simulated_differences import random_attributes_differences
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, DroppedScoresWarning, Note, ScoreTableError
from hiercomp.scores.problems import ROUNDING
from hiercomp.scores.rho import checked_rho, default_rho
from hiercomp.wording import EXAMPLES_SHOWN, counted, shown
from hiercomp.workers import end_with_parent, sampling_progress, worker_errors

Simulator: TypeAlias = "Callable[[np.random.Generator, int, int], Any]"

LEVELS = (0.01, 0.05, 0.1)
CANDIDATES = range(2, 101)  # df among which a calibration chooses, as in the paper
CONFIDENCE = 0.95  # of the intervals
BATCH = 10  # simulations of a task; the result does not depend on it


# Where a calibrated df comes from. All are for binary attributes and two classes
PAPER = "Bouckaert (2003), for binary data"
OWN = "hiercomp, 4,000 simulations of binary data"

SPLIT_SCHEMES = ("resampling", "corrected resampling")
TEST_SHARE = 0.1  # of the splits behind the table; the paper does not say which share it used
NOT_CALIBRATABLE = ("folds", "runs", "sorted runs averaged variance", "sorted runs averaged T")
SIX = (
    "use all data",
    "folds averaged variance",
    "folds averaged T",
    "runs averaged variance",
    "runs averaged T",
    "sorted runs",
)

# Made by scripts/calibrate_degrees_of_freedom.py: the df at the levels of LEVELS, and beside them the Type I errors in per
# cent. Of 100 splits even 100 df, the last candidate, leave corrected resampling below the level
OWN_RUNS: Mapping[tuple[str, int], tuple[int, int, int]] = {
    ("use all data", 10): (13, 11, 11),  # 1.0, 4.0, 10.0
    ("use all data", 20): (13, 12, 11),  # 0.7, 4.5, 8.8
    ("use all data", 50): (14, 12, 11),  # 1.0, 4.2, 8.2
    ("use all data", 100): (14, 13, 12),  # 1.0, 4.9, 9.8
    ("folds averaged variance", 10): (13, 12, 11),  # 0.9, 4.8, 9.5
    ("folds averaged variance", 20): (14, 12, 12),  # 0.9, 4.1, 9.9
    ("folds averaged variance", 50): (14, 13, 12),  # 0.9, 4.6, 9.5
    ("folds averaged variance", 100): (14, 13, 12),  # 0.8, 4.7, 9.2
    ("folds averaged T", 10): (11, 10, 9),  # 0.8, 4.3, 8.4
    ("folds averaged T", 20): (12, 11, 10),  # 0.8, 4.8, 9.2
    ("folds averaged T", 50): (12, 11, 10),  # 0.8, 4.5, 8.9
    ("folds averaged T", 100): (12, 11, 10),  # 0.9, 4.5, 8.7
    ("runs averaged variance", 10): (13, 11, 11),  # 1.0, 3.9, 10.0
    ("runs averaged variance", 20): (13, 12, 11),  # 0.7, 4.5, 8.9
    ("runs averaged variance", 50): (14, 13, 11),  # 1.0, 5.0, 8.2
    ("runs averaged variance", 100): (14, 13, 12),  # 1.0, 4.9, 9.8
    ("runs averaged T", 10): (10, 10, 9),  # 0.5, 4.8, 8.7
    ("runs averaged T", 20): (13, 11, 10),  # 0.9, 4.3, 8.4
    ("runs averaged T", 50): (13, 12, 11),  # 0.8, 4.3, 8.6
    ("runs averaged T", 100): (13, 12, 12),  # 0.7, 4.2, 10.0
    ("sorted runs", 10): (12, 11, 10),  # 0.9, 5.0, 9.8
    ("sorted runs", 20): (12, 11, 10),  # 0.7, 4.4, 8.7
    ("sorted runs", 50): (12, 11, 10),  # 0.7, 4.2, 8.2
    ("sorted runs", 100): (12, 11, 11),  # 0.7, 4.0, 9.8
}
OWN_SPLITS: Mapping[tuple[str, int], tuple[int, int, int]] = {
    ("resampling", 10): (6, 5, 5),  # 1.0, 3.6, 8.6
    ("resampling", 20): (8, 7, 7),  # 0.5, 3.7, 8.7
    ("resampling", 50): (11, 10, 9),  # 0.8, 4.4, 8.3
    ("resampling", 100): (12, 11, 11),  # 0.8, 4.1, 9.8
    ("corrected resampling", 10): (9, 10, 10),  # 0.5, 4.6, 9.6
    ("corrected resampling", 20): (22, 21, 22),  # 0.9, 4.7, 9.8
    ("corrected resampling", 50): (58, 60, 58),  # 0.9, 4.9, 9.8
    ("corrected resampling", 100): (100, 100, 100),  # 0.4, 2.9, 6.4
}

# (scheme, runs, folds, level) -> calibrated df and their source. A scheme of random splits has one split a run; k-fold cv
# takes one run. The paper's Sect. 4 has 6 for k-fold cv (a third below 9, at every level), and circa 11 for six schemes of 5
# to 100 runs; its Sect. 6 recommends 10 for "use all data".
CALIBRATED: Mapping[tuple[str, int, int, float], tuple[int, str]] = {
    **{("k-fold cv", 1, 10, level): (6, PAPER) for level in LEVELS},
    **{
        (scheme, runs, 10, level): (df, OWN)
        for (scheme, runs), found in OWN_RUNS.items()
        for level, df in zip(LEVELS, found, strict=True)
    },
    **{
        (scheme, splits, 1, level): (df, OWN)
        for (scheme, splits), found in OWN_SPLITS.items()
        for level, df in zip(LEVELS, found, strict=True)
    },
    ("use all data", 10, 10, 0.05): (10, PAPER),
}


def calibrated_test(
    x: Any,
    *,
    scheme: str = "use all data",
    df: float | Literal["calibrated", "nominal"] = "calibrated",
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    rho: float | None = None,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> FrequentistResult:
    """Calibrated t-test of repeated cross-validation: T = m sqrt(df + 1) / s with calibrated degrees of freedom.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left: of one data set, shape (runs, folds), or of several, shape (q, runs, folds); or a
        tidy table or `PairedDifferences` with the same runs and folds in every data set.
    scheme : str
        What is averaged, one of `SCHEMES`; see the notes.
    df : {"calibrated", "nominal"} or float
        Degrees of freedom: those of the table `CALIBRATED`, with which a test of binary data at the level ``alpha`` has a
        Type I error close to that level and not above it (10, 20, 50 or 100 runs of 10 folds; for other layouts, levels
        and data use `calibrate`); those of independent differences; or a number above 0.
    alpha : float
        The level for which the calibrated degrees of freedom are taken; it changes nothing else.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    rho : float, optional
        Share of the test cases in the random splits of "resampling" and "corrected resampling", in [0, 1), and the
        correlation of the latter; None is 1/folds, and there is no default with one split a run. Their calibrated
        degrees of freedom are for a tenth.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    FrequentistResult
        Numbers for a two-dimensional array, else arrays over the data sets.

    Raises
    ------
    ScoreTableError
        If a number is not finite, or runs or folds are missing from a data set.
    ArgumentError
        If an argument is invalid, or no calibrated df is known for the scheme and layout.

    Notes
    -----
    With r runs, k folds, and the nominal degrees of freedom in brackets:

    - "use all data": all values as one sample (r k - 1)
    - "folds": the means of the runs as the sample (r - 1)
    - "folds averaged variance": the variance within a run, averaged over the runs (r - 1)
    - "folds averaged T": the T of each run, averaged (k - 1)
    - "runs": the means of the fold positions as the sample (k - 1)
    - "runs averaged variance": the variance over the runs at a fold position, averaged over the positions (k - 1)
    - "runs averaged T": the T of each fold position, averaged (r - 1)
    - "sorted runs", "sorted runs averaged variance", "sorted runs averaged T": the same after sorting each run (k - 1,
      k - 1, r - 1)
    - "k-fold cv": the first run only (k - 1)
    - "resampling": all values of a repeated hold-out as one sample; one split a run in the paper, where k is 1 and the
      nominal df r - 1; here r k splits (r k - 1)
    - "corrected resampling": the same with the variance (1/n + rho / (1 - rho)) s^2 of Nadeau & Bengio (r k - 1). T is
      sqrt((df + 1) / n) times their t, so ``df="nominal"`` is their test

    "folds", "runs", "sorted runs averaged variance" and "sorted runs averaged T" have no calibrated df: Bouckaert drops
    them because theirs are very low or erratic, which says that the df are not what is wrong with them.

    The calibrated df were found on data sets of 300 cases with ten binary attributes and two classes, with naive Bayes and a
    decision tree. The paper recommends 10 df for "use all data" for binary data and asks for more research on other data.

    A sample without variation makes T infinite, or 0 if its mean is also 0 (two-sided p 1, one-sided 0.5), with a
    warning. In an averaged T, the parts without variation are treated as the limit of a common small standard
    deviation: the average is infinite with the sign of the sum of their means; if that sum is 0, they count as T = 0.

    References
    ----------
    Bouckaert, "Choosing between two learning algorithms based on calibrated tests", ICML 2003; Nadeau & Bengio, Machine
    Learning 52 (2003).

    Examples
    --------
    >>> x = [[0.02, 0.05, -0.01], [0.03, 0.04, 0.00]]
    >>> result = calibrated_test(x, df=2)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (1.6199, 0.2467)
    """
    one_of("scheme", scheme, SCHEMES)
    check_alternative(alternative)
    rho = _check_rho([scheme], rho)
    given, values = as_runs(x, _by_run_and_fold, left=left, right=right, higher_is_better=higher_is_better)
    runs, folds = values.shape[1:]
    freedom, source = _degrees_of_freedom(scheme, df, runs, folds, alpha, rho)
    tolerance = ROUNDING * given.size
    mean, standard_deviation = statistic_parts(values, scheme, rho=rho, tolerance=tolerance)
    statistic = np.sqrt(freedom + 1) * standardised_mean(mean, standard_deviation, tolerance=tolerance)
    pvalue = t_p_value(statistic, freedom, alternative)
    return frequentist_result(
        given,
        f"Calibrated t-test {scheme!r} with {freedom:g} degrees of freedom ({source})",
        statistic,
        pvalue,
        df=freedom,
        alternative=alternative,
        odd=_oddities(scheme, runs, standard_deviation == 0, given.differences.dataset_names),
        scheme=scheme,
        df_source=source,
    )


def _degrees_of_freedom(
    scheme: str, df: object, runs: int, folds: int, alpha: object, rho: float | None
) -> tuple[float, str]:
    """The degrees of freedom to use, and where they come from."""
    alpha = number_between("alpha", alpha, 0, 1)
    _check_layout(scheme, runs, folds)
    if df == "nominal":
        return float(nominal_df(scheme, runs, folds)), "nominal"
    if df != "calibrated":
        if isinstance(df, str) or df is None:
            raise ArgumentError(f"df must be 'calibrated', 'nominal' or a number above 0, got {df!r}.")
        return number_between("df", df, 0, np.inf), "given"
    if scheme in NOT_CALIBRATABLE:
        raise ArgumentError(
            f"{scheme!r} can't be calibrated: its degrees of freedom would be very low or erratic ({PAPER}). "
            "Use 'use all data' or 'corrected resampling'."
        )
    layout, key, options = f"{counted(runs, 'run')} of {counted(folds, 'fold')}", (runs, folds), ""
    if scheme == "k-fold cv":
        key = (1, folds)
    elif scheme in SPLIT_SCHEMES:
        layout, key, options = counted(runs * folds, "split"), (runs * folds, 1), f", rho={TEST_SHARE:g}"
        share = _test_share(rho, folds)
        if not np.isclose(share, TEST_SHARE):
            raise ArgumentError(
                f"No calibrated df of {scheme!r} is known for a share of {share:.3g} for the test, only for {TEST_SHARE:g}. "
                "Pass the df that calibrate finds, or df='nominal'."
            )
    if (scheme, *key, alpha) not in CALIBRATED:
        level = "" if alpha == 0.05 else f" at the {100 * alpha:g}% level"
        options += "" if alpha == 0.05 else f", alpha={alpha:g}"
        raise ArgumentError(
            f"No calibrated df of {scheme!r} is known for {layout}{level}. Run calibrate({scheme!r}, runs={key[0]}, "
            f"folds={key[1]}{options}) and pass the df it finds, or pass df='nominal'."
        )
    found, source = CALIBRATED[(scheme, *key, alpha)]
    return float(found), source


def _oddities(scheme: str, runs: int, constant: NDArray[np.bool_], datasets: tuple[str, ...]) -> Iterator[Note]:
    """What a scheme leaves out, and the data sets without variation; ``constant`` has shape (q, parts)."""
    if scheme == "k-fold cv" and runs > 1:
        text = f"'k-fold cv' uses the first run of each data set; the other {runs - 1} of {runs} runs are left out."
        yield Note(DroppedScoresWarning, text)
    affected: NDArray[np.bool_] = np.asarray(constant.any(axis=1))
    first = constant[int(np.argmax(affected))]
    parts = f" in {first.sum()} of {len(first)} parts" if len(first) > 1 else ""
    if where := some_datasets(affected, datasets, parts):
        text = (
            f"In {where} the values whose variance {scheme!r} uses never vary: the statistic is infinite, or 0 "
            "if their mean is also 0."
        )
        yield Note(DegenerateScoresWarning, text)


def _by_run_and_fold(pairs: pd.DataFrame) -> FloatArray:
    """Differences by their labels, shape (q, runs, folds); a layout with gaps is refused."""
    labels = [role for role in ("run", "fold") if role in pairs]
    dataset, datasets = pairs["dataset"].factorize()  # and the pairs are sorted
    if not labels and len(pairs) > len(datasets):
        raise ScoreTableError(
            "These differences do not say which run and fold they belong to. Pass a table with columns run and fold, or "
            "an array of shape (data sets, runs, folds)."
        )
    places = {role: pairs[role].factorize() for role in labels}
    one = (np.zeros(len(pairs), dtype=np.int64), [1])  # without the column there is one run, or one fold
    (run, runs), (fold, folds) = places.get("run", one), places.get("fold", one)
    values = np.full((len(datasets), len(runs), len(folds)), np.nan)
    values[dataset, run, fold] = pairs["difference"].to_numpy(float)
    gaps = np.argwhere(np.isnan(values))
    if len(gaps):
        listed = "; ".join(
            f"dataset {shown(datasets[i])!r}, run {runs[j]}, fold {folds[k]}" for i, j, k in gaps[:EXAMPLES_SHOWN]
        )
        raise ScoreTableError(
            f"Every data set must have the same {len(runs)} runs and {len(folds)} folds, but {len(gaps)} of {values.size} "
            f"scores are missing (first: {listed}). Add them, number the folds afresh in each run, or test the data sets "
            "that lack them on their own."
        )
    return values


@dataclass(frozen=True)
class Scheme:
    """How a scheme computes a mean and a standard deviation from the differences of a data set.

    Attributes
    ----------
    samples : callable
        From differences of shape (q, runs, folds) to samples of shape (q, parts, n). Variances are those within a part,
        with divisor n - 1.
    freedom : callable
        From runs and folds to the nominal degrees of freedom (Table 1 of the paper).
    averages_t : bool
        Whether each part has its own T, to be averaged; else there is one T, from the mean of all values and the mean
        of the parts' variances.
    corrected : bool
        Whether the variance of the mean is corrected for overlapping training sets (Nadeau & Bengio 2003).
    """

    samples: Callable[[FloatArray], FloatArray]
    freedom: Callable[[int, int], int]
    averages_t: bool = False
    corrected: bool = False


def _all(x: FloatArray) -> FloatArray:
    return x.reshape(len(x), 1, -1)


def _folds_of_runs(x: FloatArray) -> FloatArray:
    return x


def _runs_of_folds(x: FloatArray) -> FloatArray:
    return x.swapaxes(1, 2)


def _sorted_runs_of_folds(x: FloatArray) -> FloatArray:
    return np.sort(x, axis=2).swapaxes(1, 2)


def _values(runs: int, folds: int) -> int:
    return runs * folds - 1


def _runs(runs: int, folds: int) -> int:
    return runs - 1


def _folds(runs: int, folds: int) -> int:
    return folds - 1


SCHEMES: Mapping[str, Scheme] = {
    "use all data": Scheme(_all, _values),
    "folds": Scheme(lambda x: x.mean(axis=2)[:, None], _runs),
    "folds averaged variance": Scheme(_folds_of_runs, _runs),
    "folds averaged T": Scheme(_folds_of_runs, _folds, averages_t=True),
    "runs": Scheme(lambda x: x.mean(axis=1)[:, None], _folds),
    "runs averaged variance": Scheme(_runs_of_folds, _folds),
    "runs averaged T": Scheme(_runs_of_folds, _runs, averages_t=True),
    "sorted runs": Scheme(lambda x: np.sort(x, axis=2).mean(axis=1)[:, None], _folds),
    "sorted runs averaged variance": Scheme(_sorted_runs_of_folds, _folds),
    "sorted runs averaged T": Scheme(_sorted_runs_of_folds, _runs, averages_t=True),
    "k-fold cv": Scheme(lambda x: x[:, :1], _folds),
    "resampling": Scheme(_all, _values),
    "corrected resampling": Scheme(_all, _values, corrected=True),
}


def statistic_parts(
    x: FloatArray, scheme: str, *, rho: float | None = None, tolerance: float | FloatArray = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the differences of each data set, as a scheme defines them.

    Parameters
    ----------
    x : ndarray, shape (q, runs, folds)
        Finite differences.
    scheme : str
        One of `SCHEMES`.
    rho : float, optional
        Correlation of "corrected resampling"; None is 1/folds. Its standard deviation is inflated by
        sqrt(1 + n rho / (1 - rho)), so mean sqrt(n) / standard deviation is the corrected t.
    tolerance : float or ndarray of shape (q,)
        A sample with a range up to this has standard deviation 0.

    Returns
    -------
    tuple of ndarray of shape (q, parts)
        One part; for an averaged T one for each run or fold position.

    Raises
    ------
    ArgumentError
        If the scheme would take the variance of single values, or rho is invalid.

    Examples
    --------
    >>> x = np.array([[[0.02, 0.05, -0.01], [0.03, 0.04, 0.00]]])
    >>> mean, standard_deviation = statistic_parts(x, "folds averaged T")
    >>> mean.round(4).tolist(), standard_deviation.round(4).tolist()
    ([[0.02, 0.0233]], [[0.03, 0.0208]])
    """
    samples, limit = SCHEMES[scheme].samples(x), np.reshape(tolerance, (-1, 1))
    _check_layout(scheme, *x.shape[1:])
    mean = samples.mean(axis=2)
    variance = np.where(np.ptp(samples, axis=2) <= limit, 0.0, samples.var(axis=2, ddof=1))
    if not SCHEMES[scheme].averages_t:
        mean, variance = mean.mean(axis=1, keepdims=True), variance.mean(axis=1, keepdims=True)
    return mean, np.sqrt(variance) * _inflation(scheme, rho, *x.shape[1:])


def standardised_mean(
    mean: FloatArray, standard_deviation: FloatArray, *, tolerance: float | FloatArray = 0.0
) -> FloatArray:
    """Mean over standard deviation of each data set, averaged over its parts: T is sqrt(df + 1) times it.

    Parameters
    ----------
    mean, standard_deviation : ndarray, shape (q, parts)
        From `statistic_parts`.
    tolerance : float or ndarray of shape (q,)
        Means of parts that do not vary cancel if their sum is at most this.

    Returns
    -------
    ndarray, shape (q,)
        Infinite if parts do not vary and their means do not cancel.

    Examples
    --------
    >>> standardised_mean(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([[1.0, 1.0], [1.0, 0.0]])).tolist()
    [1.5, inf]
    """
    constant = standard_deviation == 0
    ratio = np.where(constant, 0.0, mean / np.where(constant, 1.0, standard_deviation)).mean(axis=1)
    total = np.where(constant, mean, 0.0).sum(axis=1)
    return np.asarray(np.where(np.abs(total) <= tolerance, ratio, np.copysign(np.inf, total)))


def nominal_df(scheme: str, runs: int, folds: int) -> int:
    """Degrees of freedom of a scheme if the differences are independent, as in Bouckaert's Table 1.

    Raises
    ------
    ArgumentError
        If the scheme would take the variance of single values, or has none: "folds averaged variance" of one run.

    Examples
    --------
    >>> nominal_df("use all data", 10, 10), nominal_df("folds", 5, 10)
    (99, 4)
    >>> nominal_df("folds averaged variance", 5, 10), nominal_df("runs averaged variance", 5, 10)
    (4, 9)
    """
    one_of("scheme", scheme, SCHEMES)
    _check_layout(scheme, runs, folds)
    df = SCHEMES[scheme].freedom(runs, folds)
    if df < 1:
        raise ArgumentError(
            f"With {counted(runs, 'run')} of {counted(folds, 'fold')}, {scheme!r} has no nominal degrees of freedom. "
            "Pass df, or choose another scheme."
        )
    return df


def _check_layout(scheme: str, runs: int, folds: int) -> None:
    """Refuse a layout that leaves the scheme single values."""
    if SCHEMES[scheme].samples(np.zeros((1, runs, folds))).shape[2] < 2:
        raise ArgumentError(
            f"With {counted(runs, 'run')} of {counted(folds, 'fold')}, {scheme!r} would take the variance of single values. "
            "Choose another scheme, or more runs."
        )


def _inflation(scheme: str, rho: float | None, runs: int, folds: int) -> float:
    """The factor by which the correction of Nadeau & Bengio inflates the standard deviation."""
    if not SCHEMES[scheme].corrected:
        return 1.0
    share = _test_share(rho, folds)
    return float(np.sqrt(1 + runs * folds * share / (1 - share)))


def _test_share(rho: float | None, folds: int) -> float:
    """The share of the test cases in random splits; with one split a run it has no default."""
    if rho is None and folds == 1:
        raise ArgumentError("With one split a run rho has no default. Pass rho, the share of test cases.")
    return float(default_rho(folds)) if rho is None else checked_rho(rho)


def _check_rho(schemes: Sequence[str], rho: float | None) -> float | None:
    """Refuse a rho that is no share of test cases, or that none of the schemes uses."""
    if rho is None:
        return None
    rho = checked_rho(rho)
    if not any(name in SPLIT_SCHEMES for name in schemes):
        raise ArgumentError(f"rho belongs to 'corrected resampling' and 'resampling'; leave it out for {schemes[0]!r}.")
    return rho


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Presentation):
    """Degrees of freedom that calibrate a scheme, and the simulations behind them.

    Attributes
    ----------
    scheme : str
        One of `SCHEMES`.
    runs, folds : int
        The layout; the df holds for no other.
    alpha : float
        The nominal Type I error.
    df : int or None
        Calibrated degrees of freedom; None if not ``calibratable``.
    calibratable : bool
        False if the Type I error is above alpha with each of `CANDIDATES`.
    type_one_error : float
        Share of the simulated data sets on which the two-sided test rejects; with 2 df if not ``calibratable``.
    type_one_error_interval : tuple of float
        Its exact (Clopper-Pearson) 95% interval.
    simulations, seed : int
        Number of simulated data sets, and their seed.
    standardised_means : ndarray, shape (simulations,)
        Absolute m / s of each simulated data set; T is sqrt(df + 1) times it.
    notes : tuple of str
        Whether the df does not give the level, or fits only this level.
    """

    scheme: str
    runs: int
    folds: int
    alpha: float
    df: int | None
    calibratable: bool
    type_one_error: float
    type_one_error_interval: tuple[float, float]
    simulations: int
    seed: int
    standardised_means: FloatArray
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What was calibrated, and on how many simulations."""
        return (
            f"Calibration of {self.scheme!r} for {counted(self.runs, 'run')} of {counted(self.folds, 'fold')}, "
            f"{counted(self.simulations, 'simulated data set')}, seed {self.seed}"
        )

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        error = _error_text(self.type_one_error, self.type_one_error_interval)
        if self.df is None:
            return f"No df calibrates it at {100 * self.alpha:g}%: even with {CANDIDATES[0]} df the Type I error is {error}."
        return f"With {self.df} df the Type I error at {100 * self.alpha:g}% is {error}."

    def to_frame(self) -> pd.DataFrame:
        """One row for each df from 2 to 100: df, type_one_error, lower, upper."""
        rows = [(df, *self.error_at(df, self.alpha)) for df in CANDIDATES]
        return pd.DataFrame(rows, columns=["df", "type_one_error", "lower", "upper"])

    def levels(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Type I error at other levels with the chosen df: level, type_one_error, lower, upper.

        A df that fits only one level does not calibrate the test.

        Parameters
        ----------
        levels : sequence of float
            Nominal Type I errors, between 0 and 1.
        """
        rows = [(level, *self.error_at(self.df or CANDIDATES[0], level)) for level in levels]
        return pd.DataFrame(rows, columns=["level", "type_one_error", "lower", "upper"])

    def error_at(self, df: float, alpha: float) -> tuple[float, float, float]:
        """Type I error with any df at any level, and its exact 95% interval.

        Parameters
        ----------
        df : float
            Above 0.
        alpha : float
            Between 0 and 1.

        Returns
        -------
        tuple of float
            The error, and the ends of the interval.
        """
        df, alpha = number_between("df", df, 0, np.inf), number_between("alpha", alpha, 0, 1)
        return _share(int(_rejections(self.standardised_means, [df], alpha)[0]), self.simulations)


def calibrate(
    scheme: str,
    *,
    runs: int = 10,
    folds: int = 10,
    alpha: float = 0.05,
    simulator: Simulator | None = None,
    rho: float | None = None,
    simulations: int = 1000,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Calibration:
    """Find the degrees of freedom that give a scheme its nominal Type I error.

    Parameters
    ----------
    scheme : str
        One of `SCHEMES`.
    runs, folds : int
        The layout of the differences; ``folds=1`` for "resampling" and "corrected resampling" with one split a run.
    alpha : float
        Nominal Type I error of the two-sided test.
    simulator : callable, optional
        Called with a NumPy generator, runs and folds; returns differences of shape (runs, folds) of a data set on which
        both algorithms are equally good. None is `hiercomp.random_attributes_differences`: random splits for
        "resampling" and "corrected resampling", else cross-validation. 1,000 data sets of 10 runs of 10 folds take about
        a minute.
    rho : float, optional
        Share of the test cases in random splits, and the correlation of "corrected resampling"; None is 1/folds.
    simulations : int
        Number of simulated data sets.
    seed : int
        Each data set has its own child of ``numpy.random.SeedSequence(seed)``: ``n_jobs`` does not change the
        result.
    n_jobs : int, optional
        Processes, as joblib counts them (-1 is all); None is 1.
    progress : bool
        Whether to show a bar on a terminal.

    Returns
    -------
    Calibration

    Raises
    ------
    ArgumentError
        If an argument is invalid, or the simulator returns something else.

    Notes
    -----
    The statistic T = sqrt(df + 1) m / s is compared with Student-t with df degrees of freedom, so a smaller df rejects
    less. As in the paper, of the whole numbers from 2 to 100 the one is taken whose Type I error is closest to alpha, at or
    below it, whatever the nominal df is. If several df have that error, the largest is taken if it is below alpha, else
    the smallest. A df of 2 or 3 says that the df are not what is wrong with a scheme; the paper drops such schemes.

    References
    ----------
    Bouckaert, "Choosing between two learning algorithms based on calibrated tests", ICML 2003.

    Examples
    --------
    Independent differences need no calibration: the nominal df of ten run means is 9. Here 9 df reject a little more than 5%
    of the simulated data sets by chance, so the answer is 8:

    >>> calibration = calibrate("folds", simulator=lambda generator, runs, folds: generator.normal(size=(runs, folds)))
    >>> calibration.df, calibration.type_one_error
    (8, 0.038)
    """
    options: dict[str, Any] = {
        "simulator": simulator,
        "rho": rho,
        "simulations": simulations,
        "seed": seed,
        "n_jobs": n_jobs,
        "progress": progress,
    }
    return calibrate_schemes([scheme], runs=runs, folds=folds, alpha=alpha, **options)[scheme]


def calibrate_schemes(
    schemes: Sequence[str],
    *,
    runs: int = 10,
    folds: int = 10,
    alpha: float = 0.05,
    simulator: Simulator | None = None,
    rho: float | None = None,
    seed: int = 0,
    **options: Any,
) -> dict[str, Calibration]:
    """Calibrate several schemes on the same simulated data sets; the arguments of `calibrate`, and its result by scheme.

    Without a simulator, the schemes of random splits have data sets of their own.
    """
    if not schemes:
        raise ArgumentError("schemes is empty; name at least one.")
    runs, folds = whole_number("runs", runs, 1), whole_number("folds", folds, 1)
    for name in schemes:
        nominal_df(name, runs, folds)
    alpha = number_between("alpha", alpha, 0, 1)
    rho = _check_rho(schemes, rho)
    if simulator is None and any(name in SPLIT_SCHEMES for name in schemes):
        _test_share(rho, folds)  # refuses a share without a default
    split = partial(random_attributes_differences, hold_out=True, test_share=rho)
    drawn: dict[bool, FloatArray] = {}
    found = {}
    for name in schemes:
        of_splits = simulator is None and name in SPLIT_SCHEMES
        if of_splits not in drawn:
            drawn[of_splits] = null_differences(
                runs, folds, simulator=split if of_splits else simulator, seed=seed, **options
            )
        found[name] = calibration_from(name, drawn[of_splits], alpha=alpha, seed=seed, rho=rho)
    return found


def null_differences(
    runs: int = 10,
    folds: int = 10,
    *,
    simulator: Simulator | None = None,
    simulations: int = 1000,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = True,
) -> FloatArray:
    """Differences of simulated data sets on which both algorithms are equally good; the arguments of `calibrate`.

    Returns
    -------
    ndarray, shape (simulations, runs, folds)

    Raises
    ------
    ArgumentError
        If an argument is invalid, or the simulator returns something else.

    Examples
    --------
    >>> null_differences(2, 5, simulations=3, progress=False).shape
    (3, 2, 5)
    """
    from joblib import Parallel, delayed

    runs, folds = whole_number("runs", runs, 1), whole_number("folds", folds, 1)
    simulations, seed = whole_number("simulations", simulations, 1), whole_number("seed", seed, 0)
    if simulator is None:
        simulator = random_attributes_differences
    elif not callable(simulator):
        raise ArgumentError(f"simulator must be a function of a generator, runs and folds, got {simulator!r}.")
    n_jobs = number_of_jobs(n_jobs)
    true_or_false("progress", progress)
    children = np.random.SeedSequence(seed).spawn(simulations)
    tasks = (
        delayed(_simulated)(simulator, children[first : first + BATCH], runs, folds)
        for first in range(0, simulations, BATCH)
    )
    done: list[FloatArray] = []
    with worker_errors(), sampling_progress("Simulating data sets", 1, simulations, shown=progress) as report:
        batches: Iterator[list[FloatArray]] = Parallel(n_jobs=n_jobs or 1, return_as="generator")(tasks)
        for batch in batches:
            done += batch
            if report is not None:
                report(0, len(done))
    return np.stack(done)


def _simulated(
    simulator: Simulator, children: Sequence[np.random.SeedSequence], runs: int, folds: int
) -> list[FloatArray]:
    """One data set for each child, checked in the process that made it."""
    end_with_parent()
    drawn = []
    for child in children:
        x = np.asarray(simulator(np.random.default_rng(child), runs, folds))
        if x.shape != (runs, folds) or x.dtype.kind not in "fiu":
            raise ArgumentError(
                f"The simulator returned {x.dtype} of shape {x.shape}; it must return numbers of shape (runs, folds) = "
                f"({runs}, {folds})."
            )
        if not np.isfinite(x).all():
            raise ArgumentError(
                f"The simulator returned {np.sum(~np.isfinite(x))} of {x.size} numbers that are not finite."
            )
        drawn.append(x.astype(float))
    return drawn


def calibration_from(
    scheme: str, x: FloatArray, *, alpha: float, seed: int = 0, rho: float | None = None
) -> Calibration:
    """The calibration of one scheme on differences that are already simulated.

    Parameters
    ----------
    scheme : str
        One of `SCHEMES`.
    x : ndarray, shape (simulations, runs, folds)
        Differences of data sets on which both algorithms are equally good.
    alpha : float
        Nominal Type I error of the two-sided test.
    seed : int
        With which they were simulated; it is reported only.
    rho : float, optional
        Correlation of "corrected resampling"; None is 1/folds.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(400, 10, 10))
    >>> calibration_from("use all data", x, alpha=0.05).calibratable
    True
    """
    simulations, runs, folds = x.shape
    tolerance = ROUNDING * np.abs(x).max(axis=(1, 2))
    parts = statistic_parts(x, scheme, rho=rho, tolerance=tolerance)
    means = np.abs(standardised_mean(*parts, tolerance=tolerance))
    rejections = _rejections(means, CANDIDATES, alpha)
    best = _closest(rejections, alpha * simulations)
    df = None if best is None else CANDIDATES[best]
    error, lower, upper = _share(int(rejections[best or 0]), simulations)
    return Calibration(
        scheme=scheme,
        runs=runs,
        folds=folds,
        alpha=alpha,
        df=df,
        calibratable=df is not None,
        type_one_error=error,
        type_one_error_interval=(lower, upper),
        simulations=simulations,
        seed=seed,
        standardised_means=means,
        notes=tuple(_notes(means, df, alpha)),
    )


def _closest(rejections: NDArray[np.int64], expected: float) -> int | None:
    """Position of the df to take, by the rule of `calibrate`; None if every df rejects more than expected.

    The number of rejections never falls as the df grows.
    """
    below = np.flatnonzero(rejections <= expected * (1 + 1e-12))  # 0.05 times 60 is 3, up to rounding
    if not len(below):
        return None
    last = int(below[-1])
    exact = rejections[last] >= expected * (1 - 1e-12)
    return int(np.searchsorted(rejections, rejections[last])) if exact else last


def _notes(means: FloatArray, df: int | None, alpha: float) -> Iterator[str]:
    """Notes on levels that the chosen df does not give, and on data sets without variation."""
    infinite = int(np.isinf(means).sum())
    if infinite:
        yield f"On {infinite} of {len(means)} simulated data sets T is infinite, and rejects with any df."
    if df is None:
        return
    for level in sorted({*LEVELS, alpha}):
        error, lower, upper = _share(int(_rejections(means, [df], level)[0]), len(means))
        if not lower <= level <= upper:
            only = "no df gives this level" if level == alpha else f"the df fits {100 * alpha:g}%, not every level"
            yield f"At {100 * level:g}% the Type I error is {_error_text(error, (lower, upper))}: {only}."


def _rejections(means: FloatArray, df: Any, alpha: float) -> NDArray[np.int64]:
    """The number of |T| beyond the two-sided critical value, for each df."""
    from scipy import stats

    df = np.asarray(df, dtype=float)
    critical = stats.t.isf(alpha / 2, df) / np.sqrt(df + 1)
    return np.asarray(len(means) - np.searchsorted(np.sort(means), critical, side="right"))


def _share(count: int, simulations: int) -> tuple[float, float, float]:
    """A share, and its exact interval."""
    from scipy import stats

    interval = stats.binomtest(count, simulations).proportion_ci(CONFIDENCE, method="exact")
    return count / simulations, float(interval.low), float(interval.high)


def _error_text(error: float, interval: tuple[float, float]) -> str:
    return f"{100 * error:.3g}% ({100 * interval[0]:.3g}% to {100 * interval[1]:.3g}%)"
