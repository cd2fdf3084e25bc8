"""The schemes of Bouckaert's tests (2003): what mean and what variance of runs x folds differences they take.

What the averaged schemes average is our reading of their names, and defined in `SCHEMES`: "folds" concerns the folds within
a run, "runs" the runs at a fold position; an averaged variance is a mean of sample variances, an averaged T a mean of
T values. Schemes with sorted and with unsorted runs must differ, which excludes readings that pool the values first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.errors import ArgumentError
from hiercomp.scores.rho import checked_rho, default_rho
from hiercomp.wording import counted, nearest_name


@dataclass(frozen=True)
class Scheme:
    """How a scheme makes a mean and a standard deviation of the differences of a data set.

    Attributes
    ----------
    samples : callable
        From differences of shape (q, runs, folds) to samples of shape (q, parts, n). Variances are those within a part,
        with divisor n - 1, and the nominal degrees of freedom are n - 1.
    averages_t : bool
        Whether each part has its own T, which are averaged; else there is one T, of the mean of all values and of the
        mean of the parts' variances.
    corrected : bool
        Whether the variance of the mean is corrected for overlapping training sets (Nadeau & Bengio 2003).
    needs_calibration : bool
        False for schemes that are used with their nominal degrees of freedom.
    """

    samples: Callable[[FloatArray], FloatArray]
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


SCHEMES: Mapping[str, Scheme] = {
    "use all data": Scheme(_all),
    "folds": Scheme(lambda x: x.mean(axis=2)[:, None]),
    "folds averaged variance": Scheme(_folds_of_runs),
    "folds averaged T": Scheme(_folds_of_runs, averages_t=True),
    "runs": Scheme(lambda x: x.mean(axis=1)[:, None]),
    "runs averaged variance": Scheme(_runs_of_folds),
    "runs averaged T": Scheme(_runs_of_folds, averages_t=True),
    "sorted runs": Scheme(lambda x: np.sort(x, axis=2).mean(axis=1)[:, None]),
    "sorted runs averaged variance": Scheme(_sorted_runs_of_folds),
    "sorted runs averaged T": Scheme(_sorted_runs_of_folds, averages_t=True),
    "k-fold cv": Scheme(lambda x: x[:, :1], needs_calibration=False),
    "resampling": Scheme(_all),
    "corrected resampling": Scheme(_all, corrected=True, needs_calibration=False),
}


def statistic_parts(
    x: FloatArray, scheme: str, *, rho: float | None = None, tolerance: float | FloatArray = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the differences of each data set as a scheme takes them.

    Parameters
    ----------
    x : ndarray, shape (q, runs, folds)
        Finite differences.
    scheme : str
        One of `SCHEMES`.
    rho : float, optional
        Correlation of "corrected resampling"; None is 1/folds. Its standard deviation is inflated by
        sqrt(1 + n rho / (1 - rho)), so that mean sqrt(n) / standard deviation is the corrected t.
    tolerance : float or ndarray of shape (q,)
        A sample whose range is not above this has standard deviation 0.

    Returns
    -------
    tuple of ndarray of shape (q, parts)
        One part; for an averaged T one for each run or fold position.

    Raises
    ------
    ArgumentError
        If the scheme has single values to take the variance of, or rho is outside what is allowed.

    Examples
    --------
    >>> x = np.array([[[0.02, 0.05, -0.01], [0.03, 0.04, 0.00]]])
    >>> mean, standard_deviation = statistic_parts(x, "folds averaged T")
    >>> mean.round(4).tolist(), standard_deviation.round(4).tolist()
    ([[0.02, 0.0233]], [[0.03, 0.0208]])
    """
    nominal_df(scheme, *x.shape[1:])
    samples, limit = SCHEMES[scheme].samples(x), np.reshape(tolerance, (-1, 1))
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
        Means of parts that do not vary cancel if their sum is not above this.

    Returns
    -------
    ndarray, shape (q,)
        Infinite where parts do not vary and their means do not cancel.

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
    """Degrees of freedom that a scheme has where differences are independent.

    Raises
    ------
    ArgumentError
        If the scheme has single values to take the variance of.

    Examples
    --------
    >>> nominal_df("use all data", 10, 10), nominal_df("folds", 5, 10)
    (99, 4)
    """
    check_scheme(scheme)
    df = int(SCHEMES[scheme].samples(np.zeros((1, runs, folds))).shape[2]) - 1
    if df < 1:
        raise ArgumentError(
            f"With {counted(runs, 'run')} of {counted(folds, 'fold')}, {scheme!r} has single values to take a variance of. "
            "Choose another scheme, or more runs."
        )
    return df


def check_scheme(scheme: object) -> None:
    """Refuse what is not the name of a scheme."""
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        close = nearest_name(scheme, SCHEMES) if isinstance(scheme, str) else ""
        raise ArgumentError(
            f"scheme must be one of {', '.join(repr(name) for name in SCHEMES)}, got {scheme!r}.{close}"
        )


def _inflation(scheme: str, rho: float | None, runs: int, folds: int) -> float:
    """What the correction of Nadeau & Bengio makes of the standard deviation."""
    if not SCHEMES[scheme].corrected:
        if rho is not None:
            raise ArgumentError(f"rho belongs to 'corrected resampling'; leave it out for {scheme!r}.")
        return 1.0
    if rho is None and folds == 1:
        raise ArgumentError("With one score for each run rho has no default. Pass rho, the share of test cases.")
    rho = float(default_rho(folds)) if rho is None else checked_rho(rho)
    return float(np.sqrt(1 + runs * folds * rho / (1 - rho)))
