"""How often a test comes to the same decision when an experiment is repeated (Bouckaert 2003; Bouckaert & Frank 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from hiercomp.arguments import refuse_masked
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.wording import counted

OUTCOMES = (-1, 0, 1)


@dataclass(frozen=True, eq=False, repr=False)
class Replicability(Presentation):
    """Agreement of repeated tests.

    Attributes
    ----------
    agreement : float
        Share of data sets on which all repeated tests have the same outcome (Bouckaert 2003, Table 5).
    pairwise : float
        Share of pairs of repetitions with the same outcome on a data set, averaged over the data sets (Bouckaert & Frank
        2004).
    outcomes : ndarray of int, shape (q, repetitions)
        The decisions: 0 not rejected, 1 rejected, -1 rejected in favour of the left algorithm if the sign is known.
    dataset_names : tuple of str
    """

    agreement: float
    pairwise: float
    outcomes: NDArray[np.int64]
    dataset_names: tuple[str, ...]

    @property
    def title(self) -> str:
        """What was repeated, and how often."""
        q, repetitions = self.outcomes.shape
        return f"Replicability of {repetitions} repeated tests, {counted(q, 'data set')}"

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        return (
            f"All repetitions agree on {100 * self.agreement:.3g}% of the data sets; two repetitions agree with "
            f"probability {self.pairwise:.3g}."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: agree, pairwise, and how many repetitions had each outcome (-1, 0, 1)."""
        counts = _counts(self.outcomes)
        columns: dict[str, Any] = {"agree": _all_agree(counts), "pairwise": _pairs_that_agree(counts)}
        columns |= {str(outcome): counts[:, column] for column, outcome in enumerate(OUTCOMES)}
        return pd.DataFrame(columns, index=pd.Index(self.dataset_names, name="dataset"))


def replicability(decisions: ArrayLike, *, dataset_names: Sequence[str] | None = None) -> Replicability:
    """Measure how much the outcome of a test depends on the random splits of an experiment.

    Parameters
    ----------
    decisions : array_like, shape (data sets, repetitions)
        Outcomes of the same test on repetitions of the same experiment: True if it rejects; or -1, 0 and 1 for left
        better, not rejected and right better.
    dataset_names : sequence of str, optional
        Names of the data sets; by default "1", "2", ...

    Returns
    -------
    Replicability

    Raises
    ------
    ArgumentError
        If decisions have other values, or there are fewer than two repetitions.

    Notes
    -----
    With True and False the agreement is Bouckaert's: rejections in opposite directions are the same outcome to him. With -1,
    0 and 1 they are different outcomes, which is stricter. His "min." is the smallest agreement of several collections of
    data sets; call the function for each.

    If c_o of n repetitions have the outcome o, the pairwise share of a data set is
    sum_o c_o (c_o - 1) / (n (n - 1)): an unbiased estimate of the probability that two experiments come to the same
    decision. Its expectation does not depend on the number of repetitions; the agreement of all falls as that grows.

    References
    ----------
    Bouckaert, "Choosing between two learning algorithms based on calibrated tests", ICML 2003; Bouckaert & Frank,
    "Evaluating the replicability of significance tests for comparing learning algorithms", PAKDD 2004.

    Examples
    --------
    >>> result = replicability([[True, True, True], [True, False, False]])
    >>> result.agreement, round(result.pairwise, 4)
    (0.5, 0.6667)
    """
    outcomes = _outcomes(decisions)
    q, repetitions = outcomes.shape
    names = tuple(str(name) for name in (range(1, q + 1) if dataset_names is None else dataset_names))
    if len(names) != q:
        raise ArgumentError(f"dataset_names must be {q} names, one for each row of decisions, got {len(names)}.")
    if repetitions < 2:
        raise ArgumentError(f"Replicability needs at least 2 repetitions of the test, got {repetitions}.")
    counts = _counts(outcomes)
    return Replicability(
        agreement=float(_all_agree(counts).mean()),
        pairwise=float(_pairs_that_agree(counts).mean()),
        outcomes=outcomes,
        dataset_names=names,
    )


def _outcomes(decisions: ArrayLike) -> NDArray[np.int64]:
    wanted = "decisions must be an array of shape (data sets, repetitions) of True and False, or of -1, 0 and 1"
    refuse_masked(decisions, "decisions")
    try:
        array = np.asarray(decisions)
    except ValueError:
        raise ArgumentError(f"{wanted}; its rows have unequal lengths.") from None
    if array.dtype.kind not in "bfiu" or array.ndim != 2 or 0 in array.shape:
        raise ArgumentError(f"{wanted}, got {array.dtype} of shape {array.shape}.")
    wrong = np.argwhere(~np.isin(array, OUTCOMES))
    if len(wrong):
        dataset, repetition = wrong[0]
        raise ArgumentError(
            f"{wanted}; {len(wrong)} of {array.size} are something else (first: data set {dataset + 1}, repetition "
            f"{repetition + 1}, {array[dataset, repetition]}). Compare p-values with a level first: p < 0.05."
        )
    return array.astype(np.int64)


def _counts(outcomes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Repetitions with each outcome, shape (q, 3)."""
    return np.stack([(outcomes == outcome).sum(axis=1) for outcome in OUTCOMES], axis=1)


def _all_agree(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.asarray(counts.max(axis=1) == counts.sum(axis=1))


def _pairs_that_agree(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    repetitions = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1)).sum(axis=1) / (repetitions * (repetitions - 1)))
