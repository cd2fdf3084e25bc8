"""What a test without the model returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hiercomp.document import Document, Presentation
from hiercomp.wording import counted, shown

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05  # of the sentences; the p-values are there for any other


class TestResult(Protocol):
    """What every result of a test has."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was odd about the data."""

    def to_frame(self) -> pd.DataFrame:
        """The numbers, at full precision."""

    def document(self) -> Document:
        """What a person reads."""


class PValueResult(TestResult, Protocol):
    """A result with a statistic and a p-value; arrays where several data sets or pairs were tested."""

    @property
    def statistic(self) -> Any:
        """The test statistic."""

    @property
    def pvalue(self) -> Any:
        """Its p-value."""


class RegionResult(TestResult, Protocol):
    """A result with the probabilities of left, rope and right."""

    @property
    def p_left(self) -> Any:
        """Probability that the left algorithm is better."""

    @property
    def p_rope(self) -> Any:
        """Probability of practical equivalence."""

    @property
    def p_right(self) -> Any:
        """Probability that the right algorithm is better."""


@dataclass(frozen=True, eq=False, repr=False)
class FrequentistResult(Presentation):
    """A test statistic and its p-value, for one data set or several.

    Attributes
    ----------
    test : str
        Name of the test, with its source.
    statistic : float, or ndarray of shape (q,)
        Positive where the right algorithm is better, for statistics that have a sign.
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
        What was odd about the data.
    scheme, df_source : str
        Of a calibrated test what was averaged, and where its degrees of freedom come from; else empty.
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

    @property
    def title(self) -> str:
        """Which test, of what."""
        left, right = map(shown, self.algorithms)
        count = counted(len(self.dataset_names), "data set")
        return f"{self.test}, {left} against {right}, {count}, {self.alternative}"

    @property
    def conclusion(self) -> str:
        """What the result says, in a sentence."""
        pvalue = np.atleast_1d(self.pvalue)
        if len(pvalue) == 1:
            return f"p = {pvalue[0]:.3g}: at the {100 * LEVEL:g}% level equal performance is {verdict(pvalue[0])}."
        return (
            f"At the {100 * LEVEL:g}% level equal performance is rejected on {(pvalue < LEVEL).sum()} of {len(pvalue)} "
            "data sets, each tested on its own."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: statistic, df (where there is one), pvalue."""
        import pandas as pd

        pvalue = np.atleast_1d(self.pvalue)
        columns: dict[str, Any] = {"statistic": np.atleast_1d(self.statistic)}
        if isinstance(self.df, tuple):
            columns |= {"df1": np.full(len(pvalue), self.df[0]), "df2": np.full(len(pvalue), self.df[1])}
        elif self.df is not None:
            columns["df"] = np.broadcast_to(self.df, pvalue.shape)
        return pd.DataFrame(columns | {"pvalue": pvalue}, index=pd.Index(self.dataset_names, name="dataset"))


def verdict(pvalue: float) -> str:
    """Whether a hypothesis is rejected at the level of the sentences."""
    return "rejected" if pvalue < LEVEL else "not rejected, which is no evidence for it"
