"""The table of mean scores that a paper prints: mean and standard deviation of each algorithm on each data set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, whole_number
from hiercomp.document import Document, Documented, Table, json_value, table_environment
from hiercomp.errors import ArgumentError
from hiercomp.pairs.ranking import shared_ranks
from hiercomp.wording import counted, latex, metric_words, shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.fit import Fit
    from hiercomp.scores.moments import ScoreMoments

PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
ABSENT = "-"
MOST_APART = 100  # factor between the data sets' largest means up to which all have the same decimals
MOST_DECIMALS = 10
SMALLEST_FRACTION = 0.01  # for three decimals
MEAN_RANK = "mean rank"


@dataclass(frozen=True, eq=False, repr=False)
class ScoresTable(Documented):
    """Mean and standard deviation of the scores of each algorithm on each data set, and the mean ranks.

    Attributes
    ----------
    algorithms : tuple of str, length k
    dataset_names : tuple of str, length q
    mean, standard_deviation : ndarray, shape (q, k)
        In the metric's units; NaN where there is no score, or only one.
    n : ndarray of int, shape (q, k)
        Number of scores.
    ranks : ndarray, shape (q, k)
        1 is the best mean of the data set, and ties share their ranks; NaN where an algorithm has no score.
    mean_ranks : ndarray, shape (k,)
        Over the data sets on which every algorithm has a score; NaN if there is none.
    measure : str or None
        The name of the measure, if the table has one.
    higher_is_better : bool
        Whether the metric is a gain (True) or a loss.
    decimals : int or None
        Decimals of every cell; None to choose them by the size of the scores.
    """

    algorithms: tuple[str, ...]
    dataset_names: tuple[str, ...]
    mean: FloatArray
    standard_deviation: FloatArray
    n: NDArray[np.int64]
    ranks: FloatArray
    mean_ranks: FloatArray
    measure: str | None = None
    higher_is_better: bool = True
    decimals: int | None = None

    @property
    def title(self) -> str:
        """What the cells are, on which metric, and in which direction."""
        metric = metric_words(self.measure or "scores", self.higher_is_better, None)
        return f"Mean {metric}, with standard deviation, on {counted(len(self.dataset_names), 'data set')}"

    @property
    def conclusion(self) -> str:
        """Which algorithm has the best mean rank."""
        if np.isnan(self.mean_ranks).any():
            return "No data set has scores of every algorithm, so there are no mean ranks."
        best = self.mean_ranks.min()
        names = [shown(name) for name, rank in zip(self.algorithms, self.mean_ranks, strict=True) if rank == best]
        verb = "has" if len(names) == 1 else "have"
        return (
            f"{' and '.join(names)} {verb} the best mean rank, {best:.2f} of {len(self.algorithms)}{self._ranked_on()}."
        )

    @property
    def best(self) -> NDArray[np.bool_]:
        """Whether an algorithm has the best mean of a data set, up to rounding, shape (q, k)."""
        lowest = np.nanmin(np.where(np.isnan(self.ranks), np.inf, self.ranks), axis=1, keepdims=True)
        return np.asarray(self.ranks == lowest)

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set and algorithm: dataset, algorithm, n, mean, sd, rank, best; numbers in full."""
        import pandas as pd

        q, k = self.mean.shape
        columns = {
            "dataset": np.repeat(np.array(self.dataset_names, dtype=object), k),
            "algorithm": np.tile(np.array(self.algorithms, dtype=object), q),
            "n": self.n.ravel(),
            "mean": self.mean.ravel(),
            "sd": self.standard_deviation.ravel(),
            "rank": self.ranks.ravel(),
            "best": self.best.ravel(),
        }
        frame = pd.DataFrame(columns)
        return frame[frame["n"] > 0].reset_index(drop=True)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; numbers that are unknown are None."""
        rows = self.to_frame().to_dict("records")
        ranks = {name: json_value(rank) for name, rank in zip(self.algorithms, self.mean_ranks.tolist(), strict=True)}
        return {
            "measure": self.measure,
            "higher_is_better": self.higher_is_better,
            "scores": json_value(rows),
            "mean_ranks": ranks,
        }

    @property
    def legend(self) -> str:
        """What the cells are, where bold is seen."""
        return f"After {PLUS_MINUS} the standard deviation of {self._sizes()}; in bold the best mean of the data set."

    def document(self) -> Document:
        """The table, the best mean of each data set in bold, mean ranks in the last row."""
        return Document(self.title, self.conclusion, (self.table(),))

    def table(self) -> Table:
        """The cells as text."""
        rows = [
            (shown(name), *(self._cell(place, column) for column in range(len(self.algorithms))))
            for place, name in enumerate(self.dataset_names)
        ]
        ranks = self.mean_ranks
        rows.append((MEAN_RANK, *(ABSENT if math.isnan(rank) else f"{rank:.2f}" for rank in ranks)))
        bold = [(False, *row) for row in self.best.tolist()]
        bold.append((False, *(bool(rank == ranks.min()) for rank in ranks)))
        return Table(
            ("data set", *map(shown, self.algorithms)),
            tuple(rows),
            legend=f"{PLUS_MINUS} standard deviation of {self._sizes()}; * or bold: the best mean of the data set"
            + (f"; mean ranks{self._ranked_on()}" if self._ranked_on() else ""),
            bold=tuple(bold),
            footer=1,
        )

    def to_latex(self, *, caption: str | None = None, label: str | None = "tab:scores") -> str:
        r"""A complete ``table`` environment for booktabs (``\usepackage{booktabs}``), every name escaped.

        Parameters
        ----------
        caption : str, optional
            In LaTeX; by default what the cells are.
        label : str or None
            For ``\ref``; None for none.
        """
        if caption is None:
            caption = latex(
                f"{self.title}. {self.legend} The last row has the mean ranks{self._ranked_on()}, 1 being the best."
            )
        table = self.table()
        return "\n".join(table_environment(table.to_latex(legend=False), caption, label))

    def __repr__(self) -> str:
        return f"<ScoresTable: {self.title}>"

    def _cell(self, place: int, column: int) -> str:
        mean, sd = self.mean[place, column], self.standard_deviation[place, column]
        if math.isnan(mean):
            return ABSENT
        decimals = self._decimals[place]
        return f"{mean:.{decimals}f}" + ("" if math.isnan(sd) else f" {PLUS_MINUS} {sd:.{decimals}f}")

    @property
    def _decimals(self) -> list[int]:
        """Decimals of each data set: three for fractions of at least 0.01, else four digits of the largest mean."""
        if self.decimals is not None:
            return [self.decimals] * len(self.mean)
        size = np.nan_to_num(np.abs(self.mean)).max(axis=1)
        size[np.isnan(self.mean).all(axis=1)] = size.max()  # a data set without scores
        if np.nanmin(self.mean) >= SMALLEST_FRACTION and size.max() <= 1:
            return [3] * len(size)
        if size.max() <= MOST_APART * max(size.min(), np.finfo(float).tiny):
            size = np.full(len(size), size.max())
        exponents = [math.floor(math.log10(value)) if value > 0 else 0 for value in size]
        return [min(max(3 - exponent, 0), MOST_DECIMALS) for exponent in exponents]

    def _ranked_on(self) -> str:
        """The data sets behind the mean ranks, where some are left out."""
        complete = int((self.n > 0).all(axis=1).sum())
        if complete in (0, len(self.n)):
            return ""
        return f" on the {counted(complete, 'data set')} with scores of every algorithm"

    def _sizes(self) -> str:
        counts = self.n[self.n > 0]
        low, high = int(counts.min()), int(counts.max())
        return counted(low, "score") if low == high else f"{low:,} to {high:,} scores"


def scores_table(
    moments: ScoreMoments, *, measure: str | None, higher_is_better: bool, decimals: int | None = None
) -> ScoresTable:
    """The table of these means and standard deviations, with ranks.

    Parameters
    ----------
    moments : ScoreMoments
    measure : str or None
    higher_is_better : bool
    decimals : int, optional
        Decimals of every cell.
    """
    if decimals is not None:
        decimals = whole_number("decimals", decimals, 0, MOST_DECIMALS)
    values = moments.mean if higher_is_better else -moments.mean
    known = np.isfinite(values)
    size = np.abs(values) + np.nan_to_num(moments.standard_deviation)
    ranks = np.full(values.shape, np.nan)
    for place, (row, there) in enumerate(zip(values, known, strict=True)):
        if there.any():
            ranks[place, there] = shared_ranks(row[None, there], size[place, there])[0][0]
    complete = known.all(axis=1)
    k = len(moments.algorithms)
    return ScoresTable(
        algorithms=moments.algorithms,
        dataset_names=moments.dataset_names,
        mean=moments.mean,
        standard_deviation=moments.standard_deviation,
        n=moments.n,
        ranks=ranks,
        mean_ranks=ranks[complete].mean(axis=0) if complete.any() else np.full(k, np.nan),
        measure=measure,
        higher_is_better=higher_is_better,
        decimals=decimals,
    )


def scores_table_of(result: Fit, decimals: int | None = None) -> ScoresTable:
    """The table of the two algorithms of a comparison.

    Raises
    ------
    ArgumentError
        If the result was read from a file of an earlier version, which lacks the means.
    """
    given = result.differences
    found = given.moments
    if found is None:
        raise ArgumentError(
            "This result has no mean scores of the two algorithms, only their differences.",
            remedy="It was saved by an earlier version, or made from differences; compare the scores again.",
            key="no_moments",
        )
    return scores_table(found, measure=given.measure, higher_is_better=given.higher_is_better, decimals=decimals)


def tournament_scores_table(result: Tournament, decimals: int | None = None) -> ScoresTable:
    """The table of all algorithms of a tournament, the best first.

    Raises
    ------
    ArgumentError
        If the result was made without the scores.
    """
    found = result.moments
    if found is None:
        raise ArgumentError("This result has no mean scores of its algorithms.", key="no_moments")
    order = [found.algorithms.index(name) for name in result.order()]
    ordered = type(found)(
        algorithms=result.order(),
        dataset_names=found.dataset_names,
        mean=found.mean[:, order],
        standard_deviation=found.standard_deviation[:, order],
        n=found.n[:, order],
    )
    return scores_table(ordered, measure=result.measure, higher_is_better=result.higher_is_better, decimals=decimals)
