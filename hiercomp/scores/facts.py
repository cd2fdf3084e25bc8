"""What a table of scores holds, as arrays, and what a problem of it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Problem:
    """Something that a table needs mended ("error") or looked at ("warning").

    Attributes
    ----------
    severity : {"error", "warning"}
        A comparison refuses an error; a warning it only repeats.
    message : str
        What is wrong, and where.
    remedy : str
        What to do; may be empty.
    """

    severity: Literal["error", "warning"]
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.message} {self.remedy}".rstrip()

    @classmethod
    def of(cls, severity: Literal["error", "warning"], text: object) -> Problem:
        """The message of an error or a warning, whose last sentence says what to do."""
        message, stop, remedy = str(text).rstrip().removesuffix(".").rpartition(". ")
        return cls(severity, f"{message}.", f"{remedy}.") if stop else cls(severity, str(text))


@dataclass(frozen=True, eq=False)
class TableFacts:
    """What a table holds, as arrays; see `hiercomp.files.check.TableCheck`."""

    datasets: tuple[str, ...]
    algorithms: tuple[str, ...]
    runs: NDArray[np.int64]
    folds: NDArray[np.int64]
    rho: FloatArray
    scores: NDArray[np.int64]
    missing: NDArray[np.int64]
    constant_pairs: NDArray[np.int64]
    lowest: FloatArray
    highest: FloatArray
    scale: str
    loss: bool


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of k algorithms at p places (data set, run and fold), NaN where missing."""

    values: FloatArray  # shape (k, p)
    present: NDArray[np.bool_]  # whether the table has a row
    places: pd.DataFrame
    starts: NDArray[np.int64]  # first place of each data set, and p
    datasets: tuple[str, ...]
    algorithms: tuple[str, ...]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> ScoreMatrix:
        """The scores of a tidy frame without duplicates."""
        place = ["dataset"] + [role for role in ("run", "fold") if role in frame]
        number = frame.groupby(place, sort=True, observed=True).ngroup().to_numpy()
        first = ~frame.duplicated(place).to_numpy()
        places = frame.loc[first, place].iloc[np.argsort(number[first])].reset_index(drop=True)
        rows, algorithms = frame["algorithm"].factorize()
        scores = frame["score"].to_numpy(dtype=float)
        values = np.full((len(algorithms), len(places)), np.nan)
        values[rows, number] = np.where(np.isfinite(scores), scores, np.nan)
        present = np.zeros(values.shape, dtype=bool)
        present[rows, number] = True
        codes, datasets = places["dataset"].factorize()
        starts = np.searchsorted(codes, np.arange(len(datasets) + 1)).astype(np.int64)
        return cls(values, present, places, starts, tuple(map(str, datasets)), tuple(map(str, algorithms)))

    def blocks(self) -> list[FloatArray]:
        """The scores of each data set, shape (k, n)."""
        return [self.values[:, a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]
