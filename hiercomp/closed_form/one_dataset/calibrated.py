"""Calibrated t-tests of repeated cross-validation (Bouckaert 2003): the test, its schemes, and their calibration.

x_ij is the difference on fold i of run j. A scheme makes a mean m and a variance s^2 of the differences, and the
statistic is T = m sqrt(df + 1) / s, compared with Student-t. The calibrated df enters both the factor sqrt(df + 1) and the
t distribution. It is smaller than the nominal one where a scheme takes dependent differences as independent, and larger
where an averaged or sorted scheme has a smaller nominal df than its variance deserves.

Schemes and nominal df are those of the paper's Sects. 2 and 3 and its Table 1. In three places the printed table can't be
followed to the letter. The sums in the numerators of resampling and corrected resampling are means here, because T would
grow with n otherwise. "Sorted runs" averages the i-th smallest value of each run over the runs, as "runs" averages fold i.
The variance of "sorted runs averaged variance" is about the mean of the sorted position, not about the x_i. that is printed,
the mean of the unsorted fold: only so is its calibrated df very low, as the paper reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, number_between, one_of, true_or_false, whole_number
from hiercomp.closed_form.inputs import Alternative, as_runs, check_alternative, some_datasets
from hiercomp.closed_form.null_designs import random_attributes_differences
from hiercomp.closed_form.one_dataset.frequentist import t_p_value
from hiercomp.closed_form.result import FrequentistResult, frequentist_result
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, DroppedScoresWarning, Note, ScoreTableError
from hiercomp.scores.problems import ROUNDING
from hiercomp.scores.rho import checked_rho, default_rho
from hiercomp.wording import EXAMPLES_SHOWN, counted, shown
from hiercomp.workers import sampling_progress

Simulator: TypeAlias = "Callable[[np.random.Generator, int, int], Any]"

LEVELS = (0.01, 0.05, 0.1)
CONFIDENCE = 0.95  # of the intervals
BATCH = 10  # simulations of a task; the result does not depend on it


PAPER, OWN = "Bouckaert (2003)", "hiercomp, scripts/calibrate_degrees_of_freedom.py"

# (scheme, runs, folds) -> whole degrees of freedom at the 5% level, and their source. Beside them the Type I error, in per
# cent, on 4,000 random data sets, whose 95% intervals are about 0.7 wide on each side. None where no df gives between 1% and
# 5%, up to that. The nominal df is the largest, and some schemes stay below 5% with it.
CALIBRATED: Mapping[tuple[str, int, int], tuple[int | None, str]] = {
    ("use all data", 10, 10): (10, PAPER),  # 12 df would be ours, with 5.1
    ("folds", 10, 10): (None, OWN),  # 0.0 with 1 df, 6.9 with 2
    ("folds averaged variance", 10, 10): (9, OWN),  # 2.0
    ("folds averaged T", 10, 10): (9, OWN),  # 3.1
    ("runs", 10, 10): (2, OWN),  # 3.0
    ("runs averaged variance", 10, 10): (9, OWN),  # 2.1
    ("runs averaged T", 10, 10): (9, OWN),  # 3.7
    ("sorted runs", 10, 10): (9, OWN),  # 2.8
    ("sorted runs averaged variance", 10, 10): (3, OWN),  # 2.9
    ("sorted runs averaged T", 10, 10): (None, OWN),  # 0.5 with 2 df, 6.0 with 3
    ("resampling", 10, 10): (12, OWN),  # 5.3, on random splits
}


def calibrated_test(
    x: Any,
    *,
    scheme: str = "use all data",
    df: float | Literal["calibrated", "nominal"] = "calibrated",
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
        Degrees of freedom: those of the table `CALIBRATED`, which give a Type I error of 5%, or less if none gives
        exactly that (10 runs of 10 folds; for other layouts use `calibrate`); those of independent differences; or a
        number above 0.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    rho : float, optional
        Correlation of "corrected resampling", in [0, 1): the share of test cases; None is 1/folds.
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
    - "k-fold cv": the first run only (k - 1); not calibrated, "calibrated" means nominal
    - "resampling": all values of a repeated hold-out as one sample (r k - 1)
    - "corrected resampling": the same with the variance (1/n + rho / (1 - rho)) s^2 of Nadeau & Bengio (r k - 1);
      corrected instead of calibrated, "calibrated" means nominal

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
    given, values = as_runs(x, _by_run_and_fold, left=left, right=right, higher_is_better=higher_is_better)
    runs, folds = values.shape[1:]
    freedom, source = _degrees_of_freedom(scheme, df, runs, folds)
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


def _degrees_of_freedom(scheme: str, df: object, runs: int, folds: int) -> tuple[float, str]:
    """The degrees of freedom to use, and where they come from."""
    _check_layout(scheme, runs, folds)
    if df == "nominal":
        return float(nominal_df(scheme, runs, folds)), "nominal"
    if df != "calibrated":
        if isinstance(df, str) or df is None:
            raise ArgumentError(f"df must be 'calibrated', 'nominal' or a number above 0, got {df!r}.")
        return number_between("df", df, 0, np.inf), "given"
    if not SCHEMES[scheme].needs_calibration:
        return float(nominal_df(scheme, runs, folds)), f"nominal: {scheme!r} is not calibrated"
    layout = f"{counted(runs, 'run')} of {counted(folds, 'fold')}"
    if (scheme, runs, folds) not in CALIBRATED:
        raise ArgumentError(
            f"No calibrated df of {scheme!r} is known for {layout}. Run calibrate({scheme!r}, runs={runs}, folds={folds}) "
            "and pass the df it finds."
        )
    found, source = CALIBRATED[scheme, runs, folds]
    if found is None:
        raise ArgumentError(
            f"{scheme!r} can't be calibrated for {layout}: no whole df gives a Type I error between 1% and 5% ({source}). "
            "Use 'use all data' or 'corrected resampling'."
        )
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
    needs_calibration : bool
        False for schemes that are used with their nominal degrees of freedom.
    """

    samples: Callable[[FloatArray], FloatArray]
    freedom: Callable[[int, int], int]
    averages_t: bool = False
    corrected: bool = False
    needs_calibration: bool = True


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
    "k-fold cv": Scheme(lambda x: x[:, :1], _folds, needs_calibration=False),
    "resampling": Scheme(_all, _values),
    "corrected resampling": Scheme(_all, _values, corrected=True, needs_calibration=False),
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
        if rho is not None:
            raise ArgumentError(f"rho belongs to 'corrected resampling'; leave it out for {scheme!r}.")
        return 1.0
    if rho is None and folds == 1:
        raise ArgumentError("With one score for each run rho has no default. Pass rho, the share of test cases.")
    rho = float(default_rho(folds)) if rho is None else checked_rho(rho)
    return float(np.sqrt(1 + runs * folds * rho / (1 - rho)))


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
        False if the Type I error stays above alpha, beyond its interval, even with 1 df.
    type_one_error : float
        Share of the simulated data sets on which the two-sided test rejects; with 1 df if not ``calibratable``.
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
            return f"No df calibrates it at {100 * self.alpha:g}%: even with 1 df the Type I error is {error}."
        return f"With {self.df} df the Type I error at {100 * self.alpha:g}% is {error}."

    def to_frame(self) -> pd.DataFrame:
        """One row for each df from 1 to the nominal one: df, type_one_error, lower, upper."""
        candidates = range(1, nominal_df(self.scheme, self.runs, self.folds) + 1)
        rows = [(df, *self.error_at(df, self.alpha)) for df in candidates]
        return pd.DataFrame(rows, columns=["df", "type_one_error", "lower", "upper"])

    def levels(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Type I error at other levels with the chosen df: level, type_one_error, lower, upper.

        A df that fits only one level does not calibrate the test.

        Parameters
        ----------
        levels : sequence of float
            Nominal Type I errors, between 0 and 1.
        """
        rows = [(level, *self.error_at(self.df or 1, level)) for level in levels]
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
        The layout of the differences.
    alpha : float
        Nominal Type I error of the two-sided test.
    simulator : callable, optional
        Called with a NumPy generator, runs and folds; returns differences of shape (runs, folds) of a data set on which
        both algorithms are equally good. None is
        `hiercomp.random_attributes_differences`, for which 1,000
        data sets of 10 runs of 10 folds take about a minute and a half.
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
    less. Of the whole numbers from 1 to the nominal df, those whose Type I error is above alpha, beyond its interval,
    are left out. Of the rest, the one with the error closest to alpha is taken; between two at the same distance, the
    one below alpha. If several df have the same error, the largest is taken if that error is below alpha, else the
    smallest.

    References
    ----------
    Bouckaert, "Choosing between two learning algorithms based on calibrated tests", ICML 2003.

    Examples
    --------
    Independent differences need no calibration: the nominal df of ten run means is 9.

    >>> calibration = calibrate("folds", simulator=lambda generator, runs, folds: generator.normal(size=(runs, folds)))
    >>> calibration.df
    9
    """
    options: dict[str, Any] = {
        "simulator": simulator,
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
    seed: int = 0,
    **options: Any,
) -> dict[str, Calibration]:
    """Calibrate several schemes on the same simulated data sets; the arguments of `calibrate`, and its result by scheme."""
    if not schemes:
        raise ArgumentError("schemes is empty; name at least one.")
    runs, folds = whole_number("runs", runs, 1), whole_number("folds", folds, 1)
    for name in schemes:
        nominal_df(name, runs, folds)
    alpha = number_between("alpha", alpha, 0, 1)
    x = null_differences(runs, folds, seed=seed, **options)
    return {name: _calibration(name, x, alpha, seed) for name in schemes}


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
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0):
        raise ArgumentError(f"n_jobs must be a whole number other than 0, or None for 1, got {n_jobs!r}.")
    true_or_false("progress", progress)
    children = np.random.SeedSequence(seed).spawn(simulations)
    tasks = (
        delayed(_simulated)(simulator, children[first : first + BATCH], runs, folds)
        for first in range(0, simulations, BATCH)
    )
    done: list[FloatArray] = []
    with sampling_progress("Simulating data sets", 1, simulations, shown=progress) as report:
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


def _calibration(scheme: str, x: FloatArray, alpha: float, seed: int) -> Calibration:
    """The calibration of one scheme on simulated differences of shape (simulations, runs, folds)."""
    simulations, runs, folds = x.shape
    tolerance = ROUNDING * np.abs(x).max(axis=(1, 2))
    means = np.abs(standardised_mean(*statistic_parts(x, scheme, tolerance=tolerance), tolerance=tolerance))
    candidates = np.arange(1, nominal_df(scheme, runs, folds) + 1)
    rejections = _rejections(means, candidates, alpha)
    shares = {int(count): _share(int(count), simulations) for count in rejections}
    calibratable = shares[int(rejections[0])][1] <= alpha
    best = _closest(rejections - alpha * simulations, [shares[int(count)][1] <= alpha for count in rejections])
    error, lower, upper = shares[int(rejections[best])]
    df = int(candidates[best]) if calibratable else None
    return Calibration(
        scheme=scheme,
        runs=runs,
        folds=folds,
        alpha=alpha,
        df=df,
        calibratable=calibratable,
        type_one_error=error,
        type_one_error_interval=(lower, upper),
        simulations=simulations,
        seed=seed,
        standardised_means=means,
        notes=tuple(_notes(means, df, alpha)),
    )


def _closest(excess: FloatArray, allowed: Sequence[bool]) -> int:
    """Position of the df to take, by the rule of `calibrate`; the first if none is allowed.

    ``excess`` is the number of rejected data sets above the expected one; it never falls as the df grows.
    """

    def rank(position: int) -> tuple[float, bool, int]:
        above = excess[position]
        return abs(above), above > 0, -position if above < 0 else position

    return min(np.flatnonzero(allowed).tolist(), key=rank, default=0)


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
