"""Calibrating a scheme of `calibrated_test`: the degrees of freedom that give its Type I error by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, number_between, true_or_false, whole_number
from hiercomp.closed_form.null_designs import random_attributes_differences
from hiercomp.closed_form.one_dataset.schemes import nominal_df, standardised_mean, statistic_parts
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.scores.problems import ROUNDING
from hiercomp.wording import counted
from hiercomp.workers import sampling_progress

if TYPE_CHECKING:
    import pandas as pd

Simulator: TypeAlias = "Callable[[np.random.Generator, int, int], Any]"

LEVELS = (0.01, 0.05, 0.1)
CONFIDENCE = 0.95  # of the intervals
BATCH = 10  # simulations of a task; the result does not depend on it


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Presentation):
    """Degrees of freedom that calibrate a scheme, and what they were found from.

    Attributes
    ----------
    scheme : str
        One of ``hiercomp.closed_form.one_dataset.schemes.SCHEMES``.
    runs, folds : int
        The layout; the df holds for no other.
    alpha : float
        The nominal Type I error.
    df : int or None
        Calibrated degrees of freedom; None where not ``calibratable``.
    calibratable : bool
        False where the Type I error stays above alpha, beyond its interval, even with 1 df.
    type_one_error : float
        Share of the simulated data sets on which the two-sided test rejects; with 1 df where not ``calibratable``.
    type_one_error_interval : tuple of float
        Its exact (Clopper-Pearson) 95% interval.
    simulations, seed : int
        Number of simulated data sets, and what they were drawn from.
    standardised_means : ndarray, shape (simulations,)
        Absolute m / s of each simulated data set; T is sqrt(df + 1) times it.
    notes : tuple of str
        Where the df does not give the level, or fits at this level only.
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
        """What was calibrated, on how much."""
        return (
            f"Calibration of {self.scheme!r} for {counted(self.runs, 'run')} of {counted(self.folds, 'fold')}, "
            f"{counted(self.simulations, 'simulated data set')}, seed {self.seed}"
        )

    @property
    def conclusion(self) -> str:
        """What the result says, in a sentence."""
        error = _error_text(self.type_one_error, self.type_one_error_interval)
        if self.df is None:
            return f"No df calibrates it at {100 * self.alpha:g}%: even with 1 df the Type I error is {error}."
        return f"With {self.df} df the Type I error at {100 * self.alpha:g}% is {error}."

    def to_frame(self) -> pd.DataFrame:
        """One row for each df from 1 to the nominal one: df, type_one_error, lower, upper."""
        import pandas as pd

        candidates = range(1, nominal_df(self.scheme, self.runs, self.folds) + 1)
        rows = [(df, *self.error_at(df, self.alpha)) for df in candidates]
        return pd.DataFrame(rows, columns=["df", "type_one_error", "lower", "upper"])

    def levels(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Type I error at other levels with the chosen df: level, type_one_error, lower, upper.

        A df that fits at one level only does not calibrate the test.

        Parameters
        ----------
        levels : sequence of float
            Nominal Type I errors, between 0 and 1.
        """
        import pandas as pd

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


@overload
def calibrate(
    scheme: str,
    *,
    runs: int = ...,
    folds: int = ...,
    alpha: float = ...,
    simulator: Simulator | None = ...,
    simulations: int = ...,
    seed: int = ...,
    n_jobs: int | None = ...,
    progress: bool = ...,
) -> Calibration: ...


@overload
def calibrate(
    scheme: list[str] | tuple[str, ...],
    *,
    runs: int = ...,
    folds: int = ...,
    alpha: float = ...,
    simulator: Simulator | None = ...,
    simulations: int = ...,
    seed: int = ...,
    n_jobs: int | None = ...,
    progress: bool = ...,
) -> dict[str, Calibration]: ...


def calibrate(
    scheme: str | list[str] | tuple[str, ...],
    *,
    runs: int = 10,
    folds: int = 10,
    alpha: float = 0.05,
    simulator: Simulator | None = None,
    simulations: int = 1000,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Calibration | dict[str, Calibration]:
    """Find the degrees of freedom with which a scheme has its nominal Type I error.

    Parameters
    ----------
    scheme : str, or list or tuple of str
        One of ``hiercomp.closed_form.one_dataset.schemes.SCHEMES``, or several, which are calibrated on the same
        simulated data sets.
    runs, folds : int
        The layout of the differences.
    alpha : float
        Nominal Type I error of the two-sided test.
    simulator : callable, optional
        Called with a NumPy generator, runs and folds; returns differences of shape (runs, folds) of a data set on which
        both algorithms are equally good. None is
        `hiercomp.closed_form.null_designs.random_attributes_differences`, for which 1,000
        data sets of 10 runs of 10 folds take about a minute and a half.
    simulations : int
        Number of simulated data sets.
    seed : int
        Each data set has its own child of ``numpy.random.SeedSequence(seed)``: neither ``n_jobs`` nor the other schemes
        change the result.
    n_jobs : int, optional
        Processes, as joblib counts them (-1 is all); None is 1.
    progress : bool
        Whether to show a bar on a terminal.

    Returns
    -------
    Calibration, or dict from scheme to Calibration

    Raises
    ------
    ArgumentError
        If an argument is outside what is allowed, or the simulator returns something else.

    Notes
    -----
    The statistic T = sqrt(df + 1) m / s is compared with Student-t with df degrees of freedom, so that a smaller df
    rejects less. Of the whole numbers from 1 to the nominal df, those whose Type I error is above alpha beyond its interval
    are left out, and of the rest the one whose error is closest to alpha is taken; of an error below and one above at the
    same distance the one below. Where several df have this same error, it is the largest of them if the error is below
    alpha, and else the smallest.

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
    schemes = list(scheme) if isinstance(scheme, (list, tuple)) else [scheme]
    if not schemes:
        raise ArgumentError("scheme is empty; name at least one.")
    runs, folds = whole_number("runs", runs, 1), whole_number("folds", folds, 1)
    for name in schemes:
        nominal_df(name, runs, folds)
    alpha = number_between("alpha", alpha, 0, 1)
    x = null_differences(
        runs, folds, simulator=simulator, simulations=simulations, seed=seed, n_jobs=n_jobs, progress=progress
    )
    found = {name: _calibration(name, x, alpha, seed) for name in schemes}
    return found[scheme] if isinstance(scheme, str) else found


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
        If an argument is outside what is allowed, or the simulator returns something else.

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
    """One data set for each child, checked where it was made."""
    drawn = []
    for child in children:
        x = np.asarray(simulator(np.random.default_rng(child), runs, folds))
        if x.shape != (runs, folds) or x.dtype.kind not in "fiu":
            raise ArgumentError(
                f"The simulator returned {x.dtype} of shape {x.shape}; it must return numbers of shape (runs, folds) = "
                f"({runs}, {folds})."
            )
        if not np.isfinite(x).all():
            raise ArgumentError(f"The simulator returned {np.sum(~np.isfinite(x))} of {x.size} numbers not finite.")
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
    """Position of the df to take, by the rule of `calibrate`; the first where none is allowed.

    ``excess`` is how many more data sets are rejected than should be; it never falls with the df.
    """

    def rank(position: int) -> tuple[float, bool, int]:
        above = excess[position]
        return abs(above), above > 0, -position if above < 0 else position

    return min(np.flatnonzero(allowed).tolist(), key=rank, default=0)


def _notes(means: FloatArray, df: int | None, alpha: float) -> Iterator[str]:
    """Levels that the chosen df does not give, and data sets without variation."""
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
    """How many |T| lie beyond the two-sided critical value, for each df."""
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
