"""What an exhibit is: a table or figure of a paper, computed anew and compared with what was printed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

UCI54 = "HIERCOMP_UCI54"  # names the file of the 54 data sets of WEKA's page


class MissingDataError(Exception):
    """The data of an exhibit are not at hand."""


@dataclass(frozen=True)
class Row:
    """One published figure and ours.

    Attributes
    ----------
    what : str
    published : str
        As printed.
    ours : float
    error : float
        By how much ours may differ from the published figure although both are right: half a unit of its last digit, Monte
        Carlo errors of the paper's draws or simulations and of ours.
    agrees : bool
    """

    what: str
    published: str
    ours: float
    error: float
    agrees: bool

    @classmethod
    def of(cls, what: str, published: str, ours: float, error: float = 0.0) -> Row:
        """Compared with a number as printed, ``error`` besides its rounding."""
        digits = len(published.partition(".")[2])
        allowed = 0.5 * 10.0**-digits + error
        return cls(what, published, float(ours), allowed, bool(abs(float(published) - ours) <= allowed + 1e-12))

    @classmethod
    def of_decision(cls, what: str, published: bool, probability: float, needed: float) -> Row:
        """Compared with a decision: whether a probability is above a level."""
        words = f"above {needed:g}" if published else f"not above {needed:g}"
        return cls(what, words, float(probability), 0.0, (probability > needed) == published)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"ours": float(self.ours), "error": float(self.error), "agrees": bool(self.agrees)}


@dataclass(frozen=True)
class Settings:
    """How large a run is.

    Attributes
    ----------
    quick : bool
        A small run that sees whether a formula breaks.
    seed : int
    jobs : int
    """

    quick: bool = False
    seed: int = 0
    jobs: int = 1


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        On the command line.
    source : str
        Paper, and table, figure or section.
    title : str
    run : callable
        Rows of a run with some settings.
    remark : str
        Why figures differ, where they do.
    """

    name: str
    source: str
    title: str
    run: Callable[[Settings], list[Row]]
    remark: str = ""


def uci54() -> pd.DataFrame:
    """The scores of four classifiers on 54 data sets, ten runs of ten folds."""
    path = Path(os.environ.get(UCI54, ""))
    if not path.is_file():
        raise MissingDataError(f"set {UCI54} to the table of the four classifiers on 54 data sets")
    return pd.read_csv(path).rename(columns={"accuracy": "score"})
