"""What a test without the model returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hiercomp.closed_form.inputs import Given
from hiercomp.document import Presentation
from hiercomp.errors import Note, warn_caller
from hiercomp.wording import counted, probability_text, shown

TIE = 1e-12  # by which equal probabilities may differ by rounding
LEVEL = 0.05  # of the sentences; the p-values are there for any other


@dataclass(frozen=True, eq=False, repr=False)
class FrequentistResult(Presentation):
    """A test statistic and its p-value, for one data set or several.

    Attributes
    ----------
    test : str
        Name of the test, with its source.
    statistic : float, or ndarray of shape (q,)
        Positive if the right algorithm is better, for statistics that have a sign.
    df : float, tuple, ndarray or None
        Degrees of freedom; None for tests without.
    pvalue : float, or ndarray of shape (q,)
        p-value of the alternative.
    alternative : {"two-sided", "less", "greater"}
        "greater": the right algorithm is better.
    algorithms : tuple of str
        The left and the right algorithm.
    dataset_names : tuple of str
        One name for each p-value.
    notes : tuple of str
        Warnings about the data.
    scheme, df_source : str
        For a calibrated test, what was averaged and where its degrees of freedom come from; else empty.
    metric : str
        The metric and its direction, in words; empty for arrays.
    """

    test: str
    statistic: Any
    df: Any
    pvalue: Any
    alternative: str
    algorithms: tuple[str, str]
    dataset_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    scheme: str = ""
    df_source: str = ""
    metric: str = ""

    @property
    def title(self) -> str:
        """The test and what it compared."""
        return (
            f"{self.test}, {compared(self.algorithms, len(self.dataset_names))}, {self.alternative}{after(self.metric)}"
        )

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        pvalue = np.atleast_1d(self.pvalue)
        if len(pvalue) == 1:
            return f"p = {pvalue[0]:.3g}: {verdict(pvalue[0])}."
        return (
            f"At the {100 * LEVEL:g}% level equal performance is rejected on {(pvalue < LEVEL).sum()} of {len(pvalue)} "
            "data sets, each tested on its own."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: statistic, df (if there is one), pvalue."""
        pvalue = np.atleast_1d(self.pvalue)
        columns: dict[str, Any] = {"statistic": np.atleast_1d(self.statistic)}
        if isinstance(self.df, tuple):
            columns |= {"df1": np.full(len(pvalue), self.df[0]), "df2": np.full(len(pvalue), self.df[1])}
        elif self.df is not None:
            columns["df"] = np.broadcast_to(self.df, pvalue.shape)
        return pd.DataFrame(columns | {"pvalue": pvalue}, index=pd.Index(self.dataset_names, name="dataset"))


def frequentist_result(
    given: Given,
    test: str,
    statistic: Any,
    pvalue: Any,
    *,
    df: Any,
    alternative: str = "two-sided",
    odd: Iterable[Note] = (),
    **of_calibration: str,
) -> FrequentistResult:
    """The result of a test of each data set; ``odd`` has the test's own warnings about the data."""
    return FrequentistResult(
        test=test,
        statistic=given.plain(statistic),
        df=given.plain(df) if isinstance(df, np.ndarray) else df,
        pvalue=given.plain(pvalue),
        alternative=alternative,
        algorithms=given.algorithms,
        dataset_names=given.differences.dataset_names,
        notes=noted(given, odd),
        metric=given.metric,
        **of_calibration,
    )


def noted(given: Given, odd: Iterable[Note]) -> tuple[str, ...]:
    """The notes on the data, and the test's own notes, which are also raised as warnings."""
    odd = tuple(odd)
    warn_caller(odd)
    return given.notes + tuple(note.text for note in odd)


def after(metric: str) -> str:
    """A metric in words after a comma, for the end of a title; nothing if it is unknown."""
    return f", {metric}" if metric else ""


def compared(algorithms: tuple[str, str], n_datasets: int) -> str:
    """The algorithms and the number of data sets, for a title."""
    left, right = map(shown, algorithms)
    return f"{left} against {right}, {counted(n_datasets, 'data set')}"


def most_probable(algorithms: tuple[str, str], probabilities: Sequence[float]) -> str:
    """The most probable of left, rope and right, or those that tie, and their probability, for a sentence."""
    left, right = map(shown, algorithms)
    words = (f"{left} better", "practical equivalence", f"{right} better")
    largest = max(probabilities)
    likely = [outcome for outcome, each in zip(words, probabilities, strict=True) if largest - each <= TIE]
    each = " each" if len(likely) > 1 else ""
    return f"{' or '.join(likely)}, with probability {probability_text(largest)}{each}"


def verdict(pvalue: float, where: str = "") -> str:
    """Whether equal performance is rejected at the level used in conclusions; ``where`` begins with a space."""
    said = "rejected" if pvalue < LEVEL else "not rejected, which is no evidence for it"
    return f"at the {100 * LEVEL:g}% level equal performance{where} is {said}"
