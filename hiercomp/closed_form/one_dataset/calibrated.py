"""Calibrated t-tests of repeated cross-validation (Bouckaert 2003): schemes that average, and their degrees of freedom.

x_ij is the difference on fold j of run i. A scheme makes a mean m and a variance s^2 of the differences, and the
statistic is T = m sqrt(df + 1) / s, compared with Student-t. The calibrated df, smaller than the nominal one because the
differences are not independent, enters both the factor sqrt(df + 1) and the t distribution.

What the averaged schemes average is our reading of their names, defined in
`hiercomp.closed_form.one_dataset.schemes`: schemes with sorted
and with unsorted runs must differ, which excludes readings that pool the values first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, finite_number, true_or_false
from hiercomp.closed_form.inputs import Alternative, as_differences, check_alternative, is_table
from hiercomp.closed_form.one_dataset.frequentist import LEVEL, t_p_value
from hiercomp.closed_form.one_dataset.schemes import (
    SCHEMES,
    check_scheme,
    nominal_df,
    standardised_mean,
    statistic_parts,
)
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, DroppedScoresWarning, Note, ScoreTableError
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.problems import ROUNDING
from hiercomp.wording import EXAMPLES_SHOWN, counted, shown

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedResult(Presentation):
    """A calibrated test, of one data set or several.

    Attributes
    ----------
    scheme : str
        One of `SCHEMES`.
    statistic : float, or ndarray of shape (q,)
        T; positive where the right algorithm is better.
    df : float
        Degrees of freedom, of the factor sqrt(df + 1) and of the t distribution.
    df_source : str
        Where they come from.
    pvalue : float, or ndarray of shape (q,)
        p-value of the alternative.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    algorithms : tuple of str
        The left and the right algorithm.
    dataset_names : tuple of str
        One name for each p-value.
    notes : tuple of str
        What was odd about the data.
    """

    scheme: str
    statistic: Any
    df: float
    df_source: str
    pvalue: Any
    alternative: str
    algorithms: tuple[str, str]
    dataset_names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Which test, of what."""
        left, right = map(shown, self.algorithms)
        return (
            f"Calibrated t-test {self.scheme!r} with {self.df:g} degrees of freedom ({self.df_source}), {left} against "
            f"{right}, {counted(len(self.dataset_names), 'data set')}, {self.alternative}"
        )

    @property
    def conclusion(self) -> str:
        """What the result says, in a sentence."""
        pvalue = np.atleast_1d(self.pvalue)
        if len(pvalue) == 1:
            verdict = "rejected" if pvalue[0] < LEVEL else "not rejected, which is no evidence for it"
            return f"p = {pvalue[0]:.3g}: at the {100 * LEVEL:g}% level equal performance is {verdict}."
        return (
            f"At the {100 * LEVEL:g}% level equal performance is rejected on {(pvalue < LEVEL).sum()} of {len(pvalue)} "
            "data sets, each tested on its own."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: statistic, df, pvalue."""
        import pandas as pd

        pvalue = np.atleast_1d(self.pvalue)
        columns = {"statistic": np.atleast_1d(self.statistic), "df": np.full(len(pvalue), self.df), "pvalue": pvalue}
        return pd.DataFrame(columns, index=pd.Index(self.dataset_names, name="dataset"))


def calibrated_test(
    x: Any,
    *,
    scheme: str = "use all data",
    df: float | Literal["calibrated", "nominal"] = "calibrated",
    alternative: Alternative = "two-sided",
    rho: float | None = None,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool = True,
) -> CalibratedResult:
    """Calibrated t-test of repeated cross-validation: T = m sqrt(df + 1) / s with calibrated degrees of freedom.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left: of one data set, shape (runs, folds), or of several, shape (q, runs, folds); or a
        tidy table or `PairedDifferences` with the same runs and folds in every data set.
    scheme : str
        What is averaged, one of `SCHEMES`; see the notes.
    df : {"calibrated", "nominal"} or float
        Degrees of freedom: those of the table `CALIBRATED`, which give a Type I error of 5%, or less where none gives it
        (10 runs of 10 folds; for other layouts ask `calibrate`); those of independent differences; or a number above 0.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    rho : float, optional
        Correlation of "corrected resampling", in [0, 1): the share of test cases; None is 1/folds.
    left, right : str, optional
        The algorithms: which two of a table, or what to call them.
    higher_is_better : bool
        False for losses and errors.

    Returns
    -------
    CalibratedResult
        Numbers for a two-dimensional array, else arrays over the data sets.

    Raises
    ------
    ScoreTableError
        If a number is not finite, or runs or folds are missing from a data set.
    ArgumentError
        If an argument is outside what is allowed, or no calibrated df is known for the scheme and layout.

    Notes
    -----
    With r runs, k folds, and the nominal degrees of freedom in brackets:

    - "use all data": all values as one sample (r k - 1)
    - "folds": the means of the runs as the sample (r - 1)
    - "folds averaged variance": the variance within a run, averaged over the runs (k - 1)
    - "folds averaged T": the T of each run, averaged (k - 1)
    - "runs": the means of the fold positions as the sample (k - 1)
    - "runs averaged variance": the variance over the runs at a fold position, averaged over the positions (r - 1)
    - "runs averaged T": the T of each fold position, averaged (r - 1)
    - "sorted runs", "sorted runs averaged variance", "sorted runs averaged T": the same after sorting each run
    - "k-fold cv": the first run only (k - 1); not calibrated, "calibrated" means nominal
    - "resampling": all values of a repeated hold-out as one sample (r k - 1)
    - "corrected resampling": the same with the variance (1/n + rho / (1 - rho)) s^2 of Nadeau & Bengio (r k - 1);
      corrected instead of calibrated, "calibrated" means nominal

    A sample without variation makes T infinite, or 0 where its mean is 0 too (two-sided p 1, one-sided 0.5), with a
    warning. Of averaged T, the parts without variation are taken as the limit of a common small standard deviation: the
    average is infinite with the sign of the sum of their means, and where that sum is 0 they count as T = 0.

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
    check_scheme(scheme)
    check_alternative(alternative)
    given = _values_of(x, left, right, higher_is_better)
    runs, folds = given.x.shape[1:]
    freedom, source = _degrees_of_freedom(scheme, df, runs, folds)
    tolerance = ROUNDING * given.size
    mean, standard_deviation = statistic_parts(given.x, scheme, rho=rho, tolerance=tolerance)
    statistic = np.sqrt(freedom + 1) * standardised_mean(mean, standard_deviation, tolerance=tolerance)
    pvalue = t_p_value(statistic, freedom, alternative)
    odd = _oddities(scheme, runs, standard_deviation == 0, given.datasets)
    for note in odd:
        note.warn(stacklevel=2)
    return CalibratedResult(
        scheme=scheme,
        statistic=given.plain(statistic),
        df=freedom,
        df_source=source,
        pvalue=given.plain(pvalue),
        alternative=alternative,
        algorithms=given.algorithms,
        dataset_names=given.datasets,
        notes=tuple(note.text for note in (*given.notes, *odd)),
    )


def _degrees_of_freedom(scheme: str, df: object, runs: int, folds: int) -> tuple[float, str]:
    """The degrees of freedom to use, and where they come from."""
    nominal = nominal_df(scheme, runs, folds)
    if df == "nominal":
        return float(nominal), "nominal"
    if df != "calibrated":
        if isinstance(df, str) or df is None:
            raise ArgumentError(f"df must be 'calibrated', 'nominal' or a number above 0, got {df!r}.")
        number = finite_number("df", df)
        if number <= 0:
            raise ArgumentError(f"df must be above 0, got {number:g}.")
        return number, "given"
    if not SCHEMES[scheme].needs_calibration:
        return float(nominal), f"nominal: {scheme!r} is not calibrated"
    layout = f"{counted(runs, 'run')} of {counted(folds, 'fold')}"
    if (scheme, runs, folds) not in CALIBRATED:
        raise ArgumentError(
            f"No calibrated df of {scheme!r} is known for {layout}. Run calibrate({scheme!r}, runs={runs}, folds={folds}) "
            "and pass the df that it finds."
        )
    found, source = CALIBRATED[scheme, runs, folds]
    if found is None:
        raise ArgumentError(
            f"{scheme!r} can't be calibrated for {layout}: no whole df gives a Type I error between 1% and 5% ({source}). "
            "Use 'use all data' or 'corrected resampling'."
        )
    return float(found), source


def _oddities(scheme: str, runs: int, constant: NDArray[np.bool_], datasets: tuple[str, ...]) -> list[Note]:
    """What a scheme leaves out, and the data sets of which it finds no variation; ``constant`` has shape (q, parts)."""
    odd = []
    if scheme == "k-fold cv" and runs > 1:
        text = f"'k-fold cv' takes the first run of each data set; the other {runs - 1} of {runs} runs are left out."
        odd.append(Note(DroppedScoresWarning, text))
    affected: NDArray[np.bool_] = np.asarray(constant.any(axis=1))
    if affected.any():
        first = int(np.argmax(affected))
        parts = f" in {constant[first].sum()} of {constant.shape[1]} parts" if constant.shape[1] > 1 else ""
        text = (
            f"In {affected.sum()} of {len(affected)} data sets (first: {shown(datasets[first])!r}{parts}) the values of "
            f"which {scheme!r} takes the variance never vary: the statistic is infinite, or 0 where their mean is 0 too."
        )
        odd.append(Note(DegenerateScoresWarning, text))
    return odd


@dataclass(frozen=True)
class _Values:
    """Differences of shape (q, runs, folds), the size of the scores they come from, shape (q,), and their names."""

    x: FloatArray
    size: FloatArray
    single: bool
    algorithms: tuple[str, str]
    datasets: tuple[str, ...]
    notes: tuple[Note, ...] = ()

    def plain(self, values: FloatArray) -> Any:
        return values[0].item() if self.single else values


def _values_of(x: Any, left: str | None, right: str | None, higher_is_better: bool) -> _Values:
    true_or_false("higher_is_better", higher_is_better)
    if isinstance(x, PairedDifferences) or is_table(x):
        differences = as_differences(x, 0.0, left=left, right=right, higher_is_better=higher_is_better).differences
        size = np.maximum(np.abs(differences.lowest_score), np.abs(differences.highest_score))
        names = (differences.left, differences.right)
        return _Values(_by_run_and_fold(differences), size, False, names, differences.dataset_names, differences.notes)
    wanted = "x must hold numbers, in the shape (runs, folds) or (data sets, runs, folds)"
    try:
        array = np.asarray(x)
    except ValueError:
        raise ScoreTableError(f"{wanted}; its rows have unequal lengths. Every run needs all folds.") from None
    if array.dtype.kind not in "fiu" or array.ndim not in (2, 3) or 0 in array.shape:
        raise ScoreTableError(f"{wanted}, got {array.dtype} of shape {array.shape}.")
    values = array.astype(float).reshape(-1, *array.shape[-2:])
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        dataset, run, fold = wrong[0]
        raise ScoreTableError(
            f"{len(wrong)} of {values.size} numbers of x are not finite (first: data set {dataset + 1}, run {run + 1}, "
            f"fold {fold + 1}, {values[tuple(wrong[0])]}). Every run needs all folds; run these again."
        )
    values = values if higher_is_better else -values
    names = (left or "left", right or "right")
    datasets = tuple(str(number + 1) for number in range(len(values)))
    return _Values(values, np.abs(values).max(axis=(1, 2)), array.ndim == 2, names, datasets)


def _by_run_and_fold(differences: PairedDifferences) -> FloatArray:
    """Differences by their labels, shape (q, runs, folds); a layout with gaps is refused."""
    frame = differences.scores
    if frame is None:
        raise ArgumentError("These differences were read from a file, without the scores. Pass the table of scores.")
    labels = [role for role in ("run", "fold") if role in frame]
    if not labels and len(frame) > len(differences.dataset_names):
        raise ScoreTableError(
            "These differences do not say which run and fold they belong to. Pass a table with columns run and fold, or "
            "an array of shape (data sets, runs, folds)."
        )
    places = {role: frame[role].factorize() for role in labels}  # the pairs are sorted
    one = (np.zeros(len(frame), dtype=np.int64), [1])  # without the column there is one run, or one fold
    (run, runs), (fold, folds) = places.get("run", one), places.get("fold", one)
    sign = 1.0 if differences.higher_is_better else -1.0
    values = np.full((len(differences.dataset_names), len(runs), len(folds)), np.nan)
    values[frame["dataset"].factorize()[0], run, fold] = sign * (frame["right"] - frame["left"]).to_numpy(float)
    gaps = np.argwhere(np.isnan(values))
    if len(gaps):
        listed = "; ".join(
            f"dataset {shown(differences.dataset_names[i])!r}, run {runs[j]}, fold {folds[k]}"
            for i, j, k in gaps[:EXAMPLES_SHOWN]
        )
        raise ScoreTableError(
            f"Every data set must have the same {len(runs)} runs and {len(folds)} folds, but {len(gaps)} of {values.size} "
            f"scores are missing (first: {listed}). Add them, number the folds anew in each run, or test the data sets "
            "that lack them on their own."
        )
    return values
