"""A table of scores read once, from which the paired differences of any two of its algorithms are had at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import true_or_false
from hiercomp.errors import ArgumentError, DroppedScoresWarning, Note, ScoreTableError
from hiercomp.pairs.ranking import FEWEST_SCORES, Standings, residual_factor
from hiercomp.scores.differences import ROUNDING, FloatArray, PairedDifferences, refuse_large_scores
from hiercomp.scores.pairing import ONE_ALGORITHM_ONLY, pair_scores
from hiercomp.scores.rho import RhoLike, correlations, many_folds
from hiercomp.scores.table import TidyScores
from hiercomp.wording import cells_in_words, counted, first_names, nearest_name, normal_name, shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ScoreArrays:
    """The scores of many algorithms, one column for each place (data set, run and fold) that the table names.

    Attributes
    ----------
    tidy : TidyScores
        The table.
    algorithms : tuple of str, length k
        In the order in which they first appear.
    datasets : tuple of str, length q
        Sorted by name.
    scores : ndarray, shape (k, places)
        NaN where an algorithm has no score or one that is not finite.
    present : ndarray of bool, shape (k, places)
        Whether the table has a row there, be its score finite or not.
    codes, runs : ndarray of int, shape (places,)
        Number of each place's data set and run; places are sorted by data set, run and fold.
    starts : ndarray of int, shape (q + 1,)
        First place of each data set, and the number of places.
    places : pandas.DataFrame
        Data set, run and fold of each place.
    wrong : ndarray of int
        Rows of the table whose score is missing or not finite.
    rho : float, mapping or None
        As given to `compare_all`.
    higher_is_better, drop : bool
    """

    tidy: TidyScores
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    scores: FloatArray
    present: NDArray[np.bool_]
    codes: NDArray[np.int64]
    runs: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: pd.DataFrame
    wrong: NDArray[np.int64]
    rho: RhoLike
    higher_is_better: bool
    drop: bool

    @classmethod
    def of(cls, tidy: TidyScores, *, rho: RhoLike, higher_is_better: bool, drop: bool) -> ScoreArrays:
        """Bring a checked table into arrays.

        Raises
        ------
        ScoreTableError
            If a cell has several scores, or there is one algorithm only.
        """
        frame = tidy.frame
        names = tuple(tidy.algorithms)
        if len(names) < 2:
            raise ScoreTableError(f"The table holds one algorithm only ({shown(names[0])!r}); a comparison needs two.")
        place = ["dataset"] + [role for role in ("run", "fold") if role in frame]
        repeated = frame.duplicated([*place, "algorithm"])
        if repeated.any():
            name = str(frame.loc[repeated, "algorithm"].iloc[0])
            pair_scores(tidy, name, next(other for other in names if other != name), drop=drop)  # says which
        grouped = frame.groupby(place, sort=True, observed=True)
        number = grouped.ngroup().to_numpy()
        places = frame.loc[~frame.duplicated(place), place].assign(number=number[~frame.duplicated(place)])
        places = places.sort_values("number").drop(columns="number").reset_index(drop=True)
        rows = frame["algorithm"].map({name: code for code, name in enumerate(names)}).to_numpy()
        values = frame["score"].to_numpy(dtype=float)
        finite = np.isfinite(values)
        scores = np.full((len(names), len(places)), np.nan)
        scores[rows[finite], number[finite]] = values[finite]
        present = np.zeros(scores.shape, dtype=bool)
        present[rows, number] = True
        codes, found = places["dataset"].factorize()
        datasets = tuple(str(name) for name in found)
        starts = np.searchsorted(codes, np.arange(len(found) + 1)).astype(np.int64)
        largest = np.maximum.reduceat(np.abs(np.nan_to_num(scores)).max(axis=0), starts[:-1])
        refuse_large_scores(datasets, largest, largest)
        rho = tidy.rho if rho is None else rho
        if isinstance(rho, Mapping):
            rho = {normal_name(name): value for name, value in rho.items()}
            for name in rho:
                if name not in set(found):
                    raise ArgumentError(f"rho names {name!r}, which is not a data set.{nearest_name(name, found)}")
        runs = places["run"].factorize()[0] if "run" in places else np.zeros(len(places), dtype=np.int64)
        return cls(
            tidy=tidy,
            algorithms=names,
            datasets=datasets,
            scores=scores,
            present=present,
            codes=codes.astype(np.int64),
            runs=runs.astype(np.int64),
            starts=starts,
            places=places,
            wrong=np.flatnonzero(~finite),
            rho=rho,
            higher_is_better=true_or_false("higher_is_better", higher_is_better),
            drop=drop,
        )

    @property
    def means(self) -> FloatArray:
        """Mean score of each algorithm on each data set, shape (k, q); NaN where it has none."""
        counts = np.add.reduceat(np.isfinite(self.scores), self.starts[:-1], axis=1, dtype=np.int64)
        sums = np.add.reduceat(np.nan_to_num(self.scores), self.starts[:-1], axis=1)
        return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))

    def standings(self) -> Standings:
        """What a ranking of all algorithms needs: the data sets and folds that every one of them has."""
        complete = np.isfinite(self.scores).all(axis=0)
        n = np.add.reduceat(complete, self.starts[:-1], dtype=np.int64)
        kept = np.flatnonzero(n >= FEWEST_SCORES)
        rows = [self.scores[:, self.starts[i] : self.starts[i + 1]] for i in kept]
        rows = [row[:, np.isfinite(row).all(axis=0)].T for row in rows]
        datasets = tuple(self.datasets[i] for i in kept)
        sign = 1 if self.higher_is_better else -1
        return Standings(
            algorithms=self.algorithms,
            dataset_names=datasets,
            means=sign * np.array([row.mean(axis=0) for row in rows]).reshape(-1, len(self.algorithms)),
            residuals=tuple(residual_factor(sign * row) for row in rows),
            n=n[kept],
            rho=self._rho(datasets, n[kept], self._folds(range(len(self.algorithms)))),
            left_out=tuple(self.datasets[i] for i in np.flatnonzero(n < FEWEST_SCORES)),
        )

    def absent(self, algorithm: str) -> list[str]:
        """Data sets of which the table has no row of an algorithm."""
        held = np.logical_or.reduceat(self.present[self.algorithms.index(algorithm)], self.starts[:-1])
        return [name for name, there in zip(self.datasets, held, strict=True) if not there]

    def have_common_datasets(self, left: str, right: str) -> bool:
        """Whether the table has rows of both algorithms on some data set."""
        rows = [self.present[self.algorithms.index(name)] for name in (left, right)]
        held = [np.logical_or.reduceat(row, self.starts[:-1]) for row in rows]
        return bool((held[0] & held[1]).any())

    def pair(self, left: str, right: str) -> PairedDifferences:
        """What `PairedDifferences.from_table` makes of two algorithms, but for the single scores.

        Raises
        ------
        ScoreTableError
            If no data set has scores of both, or scores are missing or unpaired and are not to be dropped.
        """
        one, other = self.algorithms.index(left), self.algorithms.index(right)
        both_finite = np.isfinite(self.scores[one]) & np.isfinite(self.scores[other])
        complete = bool(both_finite.all())
        notes = list(self.tidy.notes)
        kept = slice(None) if complete else both_finite
        if not complete:
            notes += self._losses(one, other, both_finite)
        codes = self.codes[kept]
        datasets = self.datasets
        if not complete:
            held = np.unique(codes)
            codes, datasets = np.searchsorted(held, codes), tuple(datasets[code] for code in held)
        folds = self._folds((one, other))
        if not self.tidy.has_run and self.rho is None:
            notes += many_folds(folds)
        n = np.bincount(codes)
        starts = np.concatenate([[0], np.cumsum(n)[:-1]])
        left_scores, right_scores = self.scores[one, kept], self.scores[other, kept]
        lowest = np.minimum.reduceat(np.minimum(left_scores, right_scores), starts)
        highest = np.maximum.reduceat(np.maximum(left_scores, right_scores), starts)
        difference = (right_scores - left_scores) * (1 if self.higher_is_better else -1)
        mean = np.bincount(codes, difference) / n
        spread = np.maximum.reduceat(difference, starts) - np.minimum.reduceat(difference, starts)
        return PairedDifferences(
            left=left,
            right=right,
            dataset_names=datasets,
            mean=mean,
            sum_of_squares=np.bincount(codes, (difference - mean[codes]) ** 2).astype(float),
            n=n,
            rho=self._rho(datasets, n, folds),
            constant=spread <= ROUNDING * np.maximum(np.abs(lowest), np.abs(highest)),
            lowest_score=lowest,
            highest_score=highest,
            largest_difference=float(np.abs(difference).max()),
            higher_is_better=self.higher_is_better,
            notes=tuple(notes),
        )

    def _rho(self, datasets: tuple[str, ...], n: NDArray[np.int64], folds: Mapping[str, int | None]) -> FloatArray:
        """The correlations of some data sets; a mapping may name others, which a pair does without."""
        rho = (
            {name: self.rho[name] for name in folds if name in self.rho} if isinstance(self.rho, Mapping) else self.rho
        )
        return correlations(rho, datasets, n, folds)

    def _losses(self, one: int, other: int, both_finite: NDArray[np.bool_]) -> list[Note]:
        """Notes on what a pair does without, in the words of `hiercomp.scores.pairing.pair_scores`."""
        left, right = self.algorithms[one], self.algorithms[other]
        held = [np.logical_or.reduceat(self.present[row], self.starts[:-1]) for row in (one, other)]
        comparable, either = held[0] & held[1], held[0] | held[1]
        single = [name for name, lone in zip(self.datasets, either & ~comparable, strict=True) if lone]
        inside = comparable[self.codes]
        finite = [np.isfinite(self.scores[row]) & inside for row in (one, other)]
        unpaired = finite[0] != finite[1]
        wrong = inside & ((self.present[one] & ~finite[0]) | (self.present[other] & ~finite[1]))
        if not comparable.any() or not both_finite.any() or (not self.drop and (unpaired.any() or wrong.any())):
            pair_scores(self.tidy, left, right, drop=self.drop)  # its error says what is wrong
        texts = []
        if single:
            texts.append(f"{ONE_ALGORITHM_ONLY}: {counted(len(single), 'data set')}: {first_names(single)}.")
        if wrong.any():
            frame = self.tidy.frame.loc[self.wrong]
            common = {name for name, there in zip(self.datasets, comparable, strict=True) if there}
            frame = frame[frame["algorithm"].isin([left, right]) & frame["dataset"].isin(common)]
            examples = cells_in_words(frame, np.ones(len(frame), dtype=bool), "score")
            texts.append(f"Dropped as missing or not finite: {counted(len(frame), 'score')} (first: {examples}).")
        if unpaired.any():
            frame = self.places[unpaired].assign(algorithm=np.where(finite[0][unpaired], left, right))
            examples = cells_in_words(frame, np.ones(len(frame), dtype=bool))
            texts.append(
                f"Dropped because one algorithm has no score there: {counted(len(frame), 'fold')} of "
                f"{counted(frame['dataset'].nunique(), 'data set')} (first: {examples})."
            )
        paired = np.logical_or.reduceat(both_finite, self.starts[:-1])
        lost = [name for name, gone in zip(self.datasets, comparable & ~paired, strict=True) if gone]
        if lost:
            texts.append(f"Left out, without a paired score: {counted(len(lost), 'data set')}: {first_names(lost)}.")
        return [Note(DroppedScoresWarning, text) for text in texts]

    def _folds(self, rows: Sequence[int]) -> Mapping[str, int | None]:
        """Folds of one run of each data set that any of some algorithms has; None where the table does not tell."""
        there = self.present[list(rows)].any(axis=0)
        if not self.tidy.has_fold:
            held = np.logical_or.reduceat(there, self.starts[:-1])
            return {name: None for name, any_there in zip(self.datasets, held, strict=True) if any_there}
        runs = int(self.runs.max()) + 1
        counts = np.bincount((self.codes * runs + self.runs)[there], minlength=len(self.datasets) * runs)
        largest = counts.reshape(-1, runs).max(axis=1)
        return {
            name: int(count) if count > 1 else None
            for name, count in zip(self.datasets, largest, strict=True)
            if count > 0
        }
