"""How much the differences of a data set vary within and between the runs of its cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RunSums:
    """Sums of squares of the differences of each data set, split by its runs.

    Attributes
    ----------
    n_runs : ndarray of int, shape (q,)
        r.
    folds : ndarray, shape (q,)
        k, folds of a run; where the runs differ, (n - sum k_j^2 / n) / (r - 1), which stands for k in the expected mean
        square between runs.
    within, between : ndarray, shape (q,)
        SSW and SSB: sums of squares about the means of the runs, and of these means about the mean of all (R2).
    """

    n_runs: IntArray
    folds: FloatArray
    within: FloatArray
    between: FloatArray

    @classmethod
    def of(cls, difference: FloatArray, n: IntArray, run_starts: IntArray) -> RunSums:
        """From differences that are contiguous by data set and run.

        Parameters
        ----------
        difference : ndarray, shape (sum of n,)
        n : ndarray of int, shape (q,)
            Differences of each data set.
        run_starts : ndarray of int
            The first place of each run of each data set.

        Examples
        --------
        >>> sums = RunSums.of(np.array([1.0, 3.0, 5.0, 9.0]), np.array([4]), np.array([0, 2]))
        >>> sums.n_runs.tolist(), sums.folds.tolist(), sums.within.tolist(), sums.between.tolist()
        ([2], [2.0], [10.0], [25.0])
        """
        starts = np.cumsum(n) - n
        k = np.diff(np.append(run_starts, len(difference)))
        dataset = np.repeat(np.arange(len(n)), np.diff(np.append(np.searchsorted(run_starts, starts), len(run_starts))))
        n_runs = np.bincount(dataset, minlength=len(n))
        of_run = np.add.reduceat(difference, run_starts) / k
        of_dataset = np.add.reduceat(difference, starts) / n
        within = np.add.reduceat((difference - np.repeat(of_run, k)) ** 2, starts)
        between = np.bincount(dataset, k * (of_run - of_dataset[dataset]) ** 2, minlength=len(n))
        squares = np.bincount(dataset, k.astype(float) ** 2, minlength=len(n))
        folds = np.where(n_runs > 1, (n - squares / n) / np.maximum(n_runs - 1, 1), n)
        return cls(n_runs, folds.astype(float), within, between.astype(float))

    def informative(self, constant: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Data sets with two runs of two folds whose differences vary within and between runs, beyond rounding."""
        least = 1e-20 * (self.within + self.between)
        several = (self.n_runs > 1) & (self.folds > 1) & ~constant
        return several & (self.within > least) & (self.between > least)

    def subset(self, places: Sequence[int]) -> RunSums:
        """Those of some data sets."""
        return RunSums(*(getattr(self, name)[list(places)] for name in ("n_runs", "folds", "within", "between")))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: value.tolist() for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RunSums:
        """From the result of `to_dict`."""
        floats = {name: np.array(plain[name], dtype=float) for name in ("folds", "within", "between")}
        return cls(n_runs=np.array(plain["n_runs"], dtype=int), **floats)
