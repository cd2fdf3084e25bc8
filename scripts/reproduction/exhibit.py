"""What an exhibit is: a table or figure of a paper, computed anew and compared with what was printed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binomtest

FLOATS = npt.NDArray[np.float64]
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
    interval : tuple of two floats, optional
        95% interval of ours where it is simulated: binomial of a share, Monte Carlo of a mean.
    """

    what: str
    published: str
    ours: float
    error: float
    agrees: bool
    interval: tuple[float, float] | None = None

    @classmethod
    def of(cls, what: str, published: str, ours: float, error: float = 0.0) -> Row:
        """Compared with a number as printed, ``error`` besides its rounding."""
        digits = len(published.partition(".")[2])
        allowed = 0.5 * 10.0**-digits + error
        return cls(what, published, float(ours), allowed, bool(abs(float(published) - ours) <= allowed + 1e-12))

    @classmethod
    def of_share(cls, what: str, published: str, count: int, repetitions: int, papers: int, about: float = 0.0) -> Row:
        """A share of our repetitions compared with one of so many in the paper.

        ``published`` is a share from 0 to 1 as printed, ``about`` what the paper's wording leaves open ("about 5%").
        """
        ours = count / repetitions
        theirs = float(published)
        errors = [
            np.sqrt(max(share * (1 - share), 1 / many) / many)
            for share, many in ((ours, repetitions), (theirs, papers))
        ]
        compared = cls.of(what, published, ours, 3 * float(np.hypot(*errors)) + about)
        low, high = binomtest(count, repetitions).proportion_ci(method="wilson")
        return replace(compared, interval=(float(low), float(high)))

    @classmethod
    def of_mean(cls, what: str, published: str, values: FLOATS, error: float = 0.0) -> Row:
        """The mean of our repetitions compared with a number as printed, ``error`` the paper's own Monte Carlo error."""
        ours, own = float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
        compared = cls.of(what, published, ours, 3 * float(np.hypot(own, error)))
        return replace(compared, interval=(ours - 1.96 * own, ours + 1.96 * own))

    @classmethod
    def below(cls, what: str, limit: float, ours: float) -> Row:
        """A figure that is to be at most a limit."""
        return cls(what, f"at most {limit:g}", float(ours), 0.0, bool(ours <= limit))

    @classmethod
    def above(cls, what: str, limit: float, ours: float) -> Row:
        """A figure that is to be above a limit."""
        return cls(what, f"above {limit:g}", float(ours), 0.0, bool(ours > limit))

    @classmethod
    def at_least(cls, what: str, limit: float, ours: float) -> Row:
        """A figure that is not to be below a limit."""
        return cls(what, f"at least {limit:g}", float(ours), 0.0, bool(ours >= limit))

    @classmethod
    def of_decision(cls, what: str, published: bool, probability: float, needed: float) -> Row:
        """Compared with a decision: whether a probability is above a level."""
        words = f"above {needed:g}" if published else f"not above {needed:g}"
        return cls(what, words, float(probability), 0.0, (probability > needed) == published)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = {"ours": float(self.ours), "error": float(self.error), "agrees": bool(self.agrees)}
        return asdict(self) | plain | {"interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True)
class Settings:
    """How large a run is.

    Attributes
    ----------
    quick : bool
        A small run that sees whether a formula breaks.
    seed : int
    jobs : int
        Processes of a simulation.
    keep : Path, optional
        Folder in which a simulation stores what is done, to go on from there.
    progress : bool
        Whether a bar is shown.
    """

    quick: bool = False
    seed: int = 0
    jobs: int = 1
    keep: Path | None = None
    progress: bool = False


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
