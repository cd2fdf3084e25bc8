"""The scores of a table as arrays of algorithms by places, and the pairing of any two algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, one_of, true_false_or_none
from hiercomp.errors import Argument, ArgumentError, DroppedScoresWarning, Note, ScoreTableError
from hiercomp.rope import RopesLike
from hiercomp.scores.moments import ScoreMoments, moments
from hiercomp.scores.problems import (
    LARGEST_SCORE,
    ROUNDING,
    TableProblem,
    Variation,
    absent_datasets,
    constant_pairs,
    doubtful_rho,
    duplicate_scores,
    few_datasets,
    few_scores,
    notes_or_error,
    outlying_spread,
    scores_out_of_range,
    single_algorithm,
)
from hiercomp.scores.rho import RhoLike, correlations, is_learnt, named_rho
from hiercomp.scores.ropes import ropes_of_datasets
from hiercomp.scores.scale import IN_ROPES, LOG, Scale
from hiercomp.scores.table import GROUP, GROUPINGS, TidyScores, without_assumed_rho
from hiercomp.wording import EXAMPLES_SHOWN, cells_in_words, counted, first_names, shown

if TYPE_CHECKING:
    import pandas as pd

IntArray = NDArray[np.int64]
LARGEST_NUMBER = np.iinfo(np.int64).max
DROP = Argument("missing", "drop")
LEAVE_OUT = f"pass {DROP} (--drop-unpaired) to leave these folds out."


@dataclass(frozen=True, eq=False)
class ScorePairs:
    """Scores of two algorithms side by side, at the places that both have.

    Attributes
    ----------
    left, right : str
        The algorithms.
    dataset_names : tuple of str, length q
    n : ndarray of int, shape (q,)
        Pairs of each data set; those of one data set are contiguous.
    rho : ndarray, shape (q,)
        Correlation between the folds of a data set.
    left_scores, right_scores : ndarray, shape (sum of n,)
    places : DataFrame
        Data set, run and fold of each place of the table; ``kept`` marks those of the pairs.
    kept : ndarray of bool, or None for all places
    higher_is_better : bool
    notes : tuple of Note
        What was left out or looks unusual.
    measure : str or None
        The name of the measure, if it is known.
    direction_known : bool
        Whether the caller, the table or the name of the measure says the direction; it is otherwise assumed.
    transform : {"log", "rope"} or None
        "log" if these are logs of scores, "rope" if each was divided by the rope of its data set.
    ropes : ndarray, shape (q,), or None
        Half-width of the rope of each data set, if each has its own.
    asked_rho : float, mapping, Correlation, "runs" or None
        What was asked for; if it is two correlations, ``rho`` is the one across runs.
    """

    left: str
    right: str
    dataset_names: tuple[str, ...]
    n: IntArray
    rho: FloatArray
    left_scores: FloatArray
    right_scores: FloatArray
    places: pd.DataFrame
    kept: NDArray[np.bool_] | None
    higher_is_better: bool
    notes: tuple[Note, ...]
    measure: str | None = None
    direction_known: bool = False
    transform: str | None = None
    ropes: FloatArray | None = None
    asked_rho: RhoLike = None

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair: dataset, run and fold if the table has them, left and right."""
        import pandas as pd

        places = self.places if self.kept is None else self.places[self.kept].reset_index(drop=True)
        columns: dict[str, Any] = {str(role): places[role] for role in places}
        columns |= {"left": self.left_scores, "right": self.right_scores}
        return pd.DataFrame(columns, copy=False)

    @property
    def run_starts(self) -> IntArray | None:
        """The first pair of each run of each data set; None if the table has no runs, or groups instead."""
        if "run" not in self.places or GROUP in self.places:
            return None
        places = self.places if self.kept is None else self.places[self.kept]
        return _run_starts(places, np.cumsum(self.n) - self.n)

    @property
    def groups(self) -> IntArray | None:
        """The number of the group of each pair, from 0 and different between data sets; None if the table has none.

        Of crossed groups there are two columns, one for each grouping.
        """
        if GROUP not in self.places:
            return None
        places = self.places if self.kept is None else self.places[self.kept]
        return np.stack([group_numbers(places, role) for role in GROUPINGS if role in places], axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreArrays:
    """The scores of k algorithms at p places: every data set, run and fold that the table names.

    Attributes
    ----------
    algorithms : tuple of str, length k
    dataset_names : tuple of str, length q
        Sorted.
    scores : ndarray, shape (k, p)
        As in the table, finite or not; NaN if it has no row.
    present : ndarray of bool, shape (k, p)
        Whether the table has a row.
    places : DataFrame
        Data set of each place, and run, fold and groups if the table has them; sorted by the first three.
    starts : ndarray of int, shape (q + 1,)
        First place of each data set, and p.
    run_starts : ndarray of int
        First place of each run of each data set.
    rho : float, mapping from data set to float, or None
        Correlation between folds; None for the default by the number of folds.
    higher_is_better : bool
    notes : tuple of Note
        What was changed in the table or looks unusual.
    measure : str or None
        The name of the measure, if it is known.
    direction_known : bool
        Whether the caller, the table or the name of the measure says the direction; it is otherwise assumed.
    transform : {"log", "rope"} or None
        "log" if these are logs of scores, "rope" if each was divided by the rope of its data set.
    ropes : ndarray, shape (q,), or None
        Half-width of the rope of each data set, if each has its own.
    """

    algorithms: tuple[str, ...]
    dataset_names: tuple[str, ...]
    scores: FloatArray
    present: NDArray[np.bool_]
    places: pd.DataFrame
    starts: IntArray
    run_starts: IntArray
    rho: RhoLike = None
    higher_is_better: bool = True
    notes: tuple[Note, ...] = ()
    measure: str | None = None
    direction_known: bool = False
    transform: str | None = None
    ropes: FloatArray | None = None

    @classmethod
    def of(
        cls,
        tidy: TidyScores,
        algorithms: Sequence[str] | None = None,
        *,
        rope: RopesLike | None = None,
        rho: RhoLike = None,
        higher_is_better: bool | None = None,
        transform: str | None = None,
    ) -> ScoreArrays:
        """Convert a checked table to arrays.

        Parameters
        ----------
        tidy : TidyScores
        algorithms : sequence of str, optional
            Use only these, and ignore problems of the others; by default all, in the order in which they first appear.
        rope : mapping from data set to float, or Series, optional
            Ropes by which the scores are divided; one rope for all changes nothing. By default the table's column of
            ropes, if one is named.
        rho : float, mapping from data set to float, Correlation or "runs", optional
            Replaces the table's column rho and the default by the number of folds.
        higher_is_better : bool, optional
            False for losses and errors; by default as the table says.
        transform : {"log"}, optional
            "log" to compare ratios.

        Raises
        ------
        ScoreTableError
            If there is only one algorithm, a cell has several scores, or a score is too large; if only the name of the
            measure says that it is a loss; or if a score has no log.
        ArgumentError
            If rho or rope names something that is not a data set.
        """
        direction = tidy.direction(true_false_or_none("higher_is_better", higher_is_better))
        checked_transform(transform)
        if rho is not None and GROUP in tidy.frame:
            raise ArgumentError("The table has groups, which are independent of each other; leave rho out.")
        arrays, problems = cls.read(tidy, algorithms)
        notes_or_error(problems)
        known = rho is not None or GROUP in tidy.frame
        notes = (*(without_assumed_rho(tidy.notes) if known else tidy.notes), *direction.notes())
        rho = tidy.rho if rho is None else named_rho(rho, arrays.dataset_names)
        arrays = replace(
            arrays,
            rho=rho,
            higher_is_better=direction.higher_is_better,
            notes=notes,
            measure=direction.measure,
            direction_known=direction.known,
        )
        ropes = ropes_of_datasets(rope, tidy.ropes, arrays.dataset_names, transform)
        if ropes is not None:
            return arrays.in_ropes(ropes)
        return arrays if transform is None else arrays.logs()

    @classmethod
    def read(cls, tidy: TidyScores, algorithms: Sequence[str] | None = None) -> tuple[ScoreArrays, list[TableProblem]]:
        """The same, with the problems: a cell with several scores keeps the first, and the largest scores are cut."""
        names = tuple(tidy.algorithms)
        frame = tidy.frame
        if algorithms is not None and set(names) != set(algorithms):
            frame = frame[frame["algorithm"].isin(algorithms)].reset_index(drop=True)
        names = names if algorithms is None else tuple(algorithms)
        problems = list(single_algorithm(names))
        number = _place_numbers(frame)
        rows, repeated = _rows_of_algorithms(frame, names, number)
        if len(repeated):
            cells = frame.take(np.sort(repeated))
            keys = [role for role in ("dataset", "algorithm", "run", "fold") if role in frame]
            problems.append(duplicate_scores(cells, len(cells) - int(cells.duplicated(keys).sum())))
        values = frame["score"].to_numpy(dtype=float)
        first = number[rows[0]]
        if all(np.array_equal(number[others], first) for others in rows):
            numbers, a_row = first, rows[0]  # of each place
        else:
            numbers, a_row = np.unique(number, return_index=True)
        for role in GROUPINGS:
            if role in frame:
                problems += _groups_that_differ(frame, role, a_row[np.searchsorted(numbers, number)])
        scores = np.full((len(names), len(a_row)), np.nan)
        present = np.zeros(scores.shape, dtype=bool)
        for code, found in enumerate(rows):
            place = np.searchsorted(numbers, number[found])
            scores[code, place] = values[found]
            present[code, place] = True
        del number, rows
        codes, labels = _codes(frame["dataset"])
        codes = codes[a_row]
        first_places = np.flatnonzero(np.diff(codes, prepend=-1))
        dataset_names = tuple(str(labels[code]) for code in codes[first_places])
        starts = np.append(first_places, len(codes)).astype(np.int64)
        size = np.zeros(len(dataset_names))
        for row in scores:
            largest = np.maximum.reduceat(np.where(np.isfinite(row), np.abs(row), 0), first_places)
            size = np.maximum(size, largest)
        out_of_range = list(scores_out_of_range(dataset_names, size))
        if out_of_range:
            problems += out_of_range
            finite = np.isfinite(scores)
            scores[finite] = scores[finite].clip(-LARGEST_SCORE, LARGEST_SCORE)
        places = _places(frame, a_row)
        arrays = cls(
            algorithms=names,
            dataset_names=dataset_names,
            scores=scores,
            present=present,
            places=places,
            starts=starts,
            run_starts=_run_starts(places, first_places),
            rho=tidy.rho,
        )
        return arrays, problems

    def logs(self) -> ScoreArrays:
        """The same with the natural logs of the scores.

        Raises
        ------
        ScoreTableError
            If a score is 0 or negative.
        """
        finite = np.isfinite(self.scores)
        notes_or_error(without_log(self, finite & (self.scores <= 0), int(finite.sum())))
        scores = np.log(self.scores, out=self.scores.copy(), where=finite)
        return replace(self, scores=scores, transform=LOG)

    def in_ropes(self, ropes: FloatArray) -> ScoreArrays:
        """The same with every score divided by the rope of its data set.

        Raises
        ------
        ScoreTableError
            If a score is too large to compute with then.
        """
        divided = replace(self, scores=self.scores / self.at_places(ropes), transform=IN_ROPES, ropes=ropes)
        size = np.nan_to_num(np.abs(divided.extremes), posinf=np.inf).max(axis=0)
        notes_or_error(scores_out_of_range(self.dataset_names, size))
        return divided

    @property
    def n_places(self) -> IntArray:
        """Places of each data set, shape (q,)."""
        return np.diff(self.starts)

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Whether the table has a row of each algorithm on each data set, shape (k, q)."""
        return np.logical_or.reduceat(self.present, self.starts[:-1], axis=1)

    @property
    def n_runs(self) -> IntArray:
        """Runs of each data set; 1 if the table does not say."""
        return np.diff(np.searchsorted(self.run_starts, self.starts))

    @property
    def n_folds(self) -> IntArray:
        """Folds in the longest run of each data set; 0 if the table does not say."""
        if "fold" not in self.places:
            return np.zeros(len(self.dataset_names), dtype=np.int64)
        counts = np.add.reduceat(self.present.any(axis=0), self.run_starts, dtype=np.int64)
        return np.maximum.reduceat(counts, np.searchsorted(self.run_starts, self.starts[:-1]))

    @property
    def n_missing(self) -> IntArray:
        """Places at which an algorithm has no finite score, shape (q, k)."""
        finite = np.add.reduceat(np.isfinite(self.scores), self.starts[:-1], axis=1, dtype=np.int64)
        return (self.n_places - finite).T

    @property
    def means(self) -> FloatArray:
        """Mean score of each algorithm on each data set, shape (k, q); NaN if it has none."""
        finite = np.isfinite(self.scores)
        counts = np.add.reduceat(finite, self.starts[:-1], axis=1, dtype=np.int64)
        sums = np.add.reduceat(np.where(finite, self.scores, 0), self.starts[:-1], axis=1)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    @property
    def moments(self) -> ScoreMoments:
        """Mean and standard deviation of each algorithm on each data set, of the scores as given."""
        scores = np.exp(self.scores) if self.transform == LOG else self.scores
        scores = scores if self.ropes is None else scores * self.at_places(self.ropes)
        return ScoreMoments(self.algorithms, self.dataset_names, *moments(scores, self.starts[:-1]))

    @property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest score of each data set; NaN if there is none."""
        finite, starts = np.isfinite(self.scores), self.starts[:-1]
        lowest = np.minimum.reduceat(np.where(finite, self.scores, np.inf).min(axis=0), starts)
        highest = np.maximum.reduceat(np.where(finite, self.scores, -np.inf).max(axis=0), starts)
        none = ~np.isfinite(lowest)
        return np.where(none, np.nan, lowest), np.where(none, np.nan, highest)

    @cached_property
    def scale(self) -> Scale | None:
        """The scale of the scores of all algorithms on the data sets that have any; None if there is none."""
        lowest, highest = self.extremes
        known = np.flatnonzero(np.isfinite(lowest))
        if not len(known):
            return None
        blocks = [block for block in self._blocks() if np.isfinite(block).any()]
        return Scale(
            dataset_names=tuple(self.dataset_names[i] for i in known),
            lowest=lowest[known],
            highest=highest[known],
            median=np.array([np.median(block[np.isfinite(block)]) for block in blocks]),
            higher_is_better=self.higher_is_better,
            direction_known=self.direction_known,
            transform=self.transform,
        )

    @property
    def spread(self) -> FloatArray:
        """For each data set, the median over the algorithms of the standard deviation of their scores; 0 if unknown."""
        spread = np.zeros(len(self.dataset_names))
        for dataset, block in enumerate(self._blocks()):
            rows = block[np.isfinite(block).sum(axis=1) > 1]
            if len(rows):
                spread[dataset] = np.median(np.nanstd(np.where(np.isfinite(rows), rows, np.nan), axis=1, ddof=1))
        return spread

    @cached_property
    def variation(self) -> Variation:
        """Which differences never vary between folds."""
        k = len(self.algorithms)
        by_dataset = np.zeros(len(self.dataset_names), dtype=np.int64)
        compared, constant = np.zeros((k, k), dtype=np.int64), np.zeros((k, k), dtype=np.int64)
        different = np.zeros((k, k), dtype=bool)
        for dataset, block in enumerate(self._blocks()):
            finite = np.isfinite(block)
            block = np.where(finite, block, 0)
            size = np.abs(block).max(axis=1)
            for one in range(k - 1):
                both = finite[one] & finite[one + 1 :]
                difference = np.where(both, block[one + 1 :] - block[one], 0.0)
                highest = np.where(both, difference, -np.inf).max(axis=1)
                lowest = np.where(both, difference, np.inf).min(axis=1)
                tolerance = ROUNDING * np.maximum(size[one], size[one + 1 :])
                enough = both.sum(axis=1) > 1
                flat = enough & (highest - lowest <= tolerance)
                by_dataset[dataset] += int(flat.sum())
                compared[one, one + 1 :] += enough
                constant[one, one + 1 :] += flat
                different[one, one + 1 :] |= np.abs(difference).max(axis=1) > tolerance
        return Variation(by_dataset, compared, constant, different)

    def pair(self, left: str, right: str, *, drop: bool = False) -> ScorePairs:
        """The scores of two algorithms side by side, by data set, run and fold, never by the order of rows.

        Parameters
        ----------
        left, right : str
        drop : bool
            Leave out folds that one algorithm lacks or whose score is missing, with a note, instead of refusing them.

        Raises
        ------
        ScoreTableError
            If no data set has scores of both, scores are missing and ``drop`` is False, or rho is unknown.
        ArgumentError
            If rho is invalid.
        """
        two = self
        if self.algorithms != (left, right):
            rows = [self.algorithms.index(left), self.algorithms.index(right)]
            two = replace(self, algorithms=(left, right), scores=self.scores[rows], present=self.present[rows])
        notes = [*self.notes, *notes_or_error(unpaired_scores(two, drop=drop))]
        kept = np.asarray(np.isfinite(two.scores).all(axis=0))
        n = np.add.reduceat(kept, self.starts[:-1], dtype=np.int64)
        datasets, complete = np.flatnonzero(n), bool(kept.all())
        names = tuple(self.dataset_names[i] for i in datasets)
        rho, doubts = two.correlations(datasets, n[datasets])
        left_scores, right_scores = two.scores if complete else two.scores[:, kept]
        return ScorePairs(
            left=left,
            right=right,
            dataset_names=names,
            n=n[datasets],
            rho=rho,
            left_scores=left_scores,
            right_scores=right_scores,
            places=self.places,
            kept=None if complete else kept,
            higher_is_better=self.higher_is_better,
            notes=(*notes, *notes_or_error(doubts)),
            measure=self.measure,
            direction_known=self.direction_known,
            transform=self.transform,
            ropes=None if self.ropes is None else self.ropes[datasets],
            asked_rho=self.rho,
        )

    def correlations(self, datasets: IntArray, n: IntArray) -> tuple[FloatArray, list[TableProblem]]:
        """The correlation of some data sets with ``n`` scores each, and any problems with it if it is the default."""
        if GROUP in self.places:
            return np.zeros(len(datasets)), []
        names, folds = [self.dataset_names[i] for i in datasets], self.n_folds[datasets]
        rho = correlations(self.rho, names, n, folds)
        if self.rho is not None and not is_learnt(self.rho):
            return rho, []
        return rho, list(doubtful_rho(names, rho, folds, has_run="run" in self.places))

    def at_places(self, of_datasets: NDArray[Any]) -> NDArray[Any]:
        """Values of the data sets (last axis), repeated for each of their places."""
        return np.repeat(of_datasets, self.n_places, axis=-1)

    def datasets_of(self, cells: NDArray[np.bool_]) -> tuple[str, ...]:
        """Names of the data sets with marked cells; the marks have shape (k, p)."""
        held = np.logical_or.reduceat(cells.any(axis=0), self.starts[:-1])
        return tuple(self.dataset_names[i] for i in np.flatnonzero(held))

    def cells_in_words(self, cells: NDArray[np.bool_], *, values: bool = False) -> str:
        """The first few marked cells, and how many more there are; the marks have shape (k, p)."""
        places, algorithms = np.nonzero(cells.T)
        more = len(places) - EXAMPLES_SHOWN
        places, algorithms = places[:EXAMPLES_SHOWN], algorithms[:EXAMPLES_SHOWN]
        first = self.places.take(places).reset_index(drop=True)
        first["algorithm"] = [self.algorithms[code] for code in algorithms]
        first["score"] = self.scores[algorithms, places].tolist()
        listed = cells_in_words(first, np.ones(len(first), dtype=bool), "score" if values else None)
        return listed + (f"; and {more} more" if more > 0 else "")

    def _blocks(self) -> list[FloatArray]:
        """The scores of each data set, shape (k, n)."""
        return [self.scores[:, start:stop] for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True)]


def unpaired_scores(arrays: ScoreArrays, *, drop: bool) -> Iterator[TableProblem]:
    """Scores that one algorithm lacks and another has.

    Parameters
    ----------
    arrays : ScoreArrays
        The algorithms that are compared: two, or more if nothing is dropped.
    drop : bool
        Whether folds without a score of both are left out; this is then a warning, not an error.
    """
    finite = np.isfinite(arrays.scores)
    if finite.all():
        return
    held, names = arrays.held, np.array(arrays.dataset_names, dtype=object)
    common = held.sum(axis=0) > 1
    if not common.any():
        of_two = "both algorithms" if len(arrays.algorithms) == 2 else "two algorithms"
        message = f"No data set has scores of {of_two} (data sets: {first_names(arrays.dataset_names)})."
        remedy = "Add the scores of both on the same data sets."
        alike = _alike_but_for_case(arrays)
        if alike:
            remedy = f"Names that differ only by case: {alike}. Write them alike, such as with .str.casefold()."
        yield TableProblem(ScoreTableError, message, remedy, arrays.dataset_names, "no_common_dataset")
        return
    yield from absent_datasets(arrays.algorithms, arrays.dataset_names, held)
    inside = arrays.at_places(common)
    wrong = arrays.present & ~finite & inside
    if wrong.any():
        where, places = f"(first: {arrays.cells_in_words(wrong, values=True)})", arrays.datasets_of(wrong)
        if drop:
            message = f"Dropped as missing or not finite: {counted(int(wrong.sum()), 'score')} {where}."
            yield TableProblem(DroppedScoresWarning, message, "", places, "missing_scores")
        else:
            total = int((arrays.present & inside).sum())
            message = f"{wrong.sum():,} of {total:,} scores are missing or not finite {where}."
            yield TableProblem(
                ScoreTableError,
                message,
                f"Fill them in, or {LEAVE_OUT}",
                places,
                "missing_scores",
                int(wrong.sum()),
                arguments=(DROP,),
            )
    paired = finite.sum(axis=0) > 1
    lost = finite & ~paired & inside
    absent = ~arrays.present & arrays.present.any(axis=0) & arrays.at_places(held) & inside
    if drop and lost.any():
        places = arrays.datasets_of(lost)
        message = (
            f"Dropped because one algorithm has no score there: {counted(int(lost.sum()), 'fold')} of "
            f"{counted(len(places), 'data set')} (first: {arrays.cells_in_words(lost)})."
        )
        yield TableProblem(DroppedScoresWarning, message, "", places, "unpaired_scores")
    elif not drop and absent.any():
        places = arrays.datasets_of(absent)
        message = (
            f"{counted(int(absent.sum()), 'score', 'is')} absent in {counted(len(places), 'data set')} although another "
            f"algorithm has one for the same run and fold (first: {arrays.cells_in_words(absent)})."
        )
        yield TableProblem(
            ScoreTableError,
            message,
            f"Add them, or {LEAVE_OUT}",
            places,
            "unpaired_scores",
            int(absent.sum()),
            arguments=(DROP,),
        )
    left_out = tuple(names[common & ~np.logical_or.reduceat(paired, arrays.starts[:-1])])
    if not paired.any():
        message = f"No fold has a score of both {' and '.join(repr(shown(name)) for name in arrays.algorithms[:2])}."
        remedy = "Add the scores of both on the same folds."
        yield TableProblem(ScoreTableError, message, remedy, arrays.algorithms, "no_common_fold")
    elif drop and left_out:
        message = f"Left out, without a paired score: {counted(len(left_out), 'data set')}: {first_names(left_out)}."
        yield TableProblem(DroppedScoresWarning, message, "", left_out, "datasets_without_pairs")


def _alike_but_for_case(arrays: ScoreArrays) -> str:
    """The first data sets of different algorithms whose names differ only by case, in words; empty if there is none."""
    folded: dict[str, list[str]] = {}
    for name in arrays.dataset_names:
        folded.setdefault(name.casefold(), []).append(name)
    pairs = [" and ".join(repr(shown(name)) for name in names) for names in folded.values() if len(names) > 1]
    more = len(pairs) - EXAMPLES_SHOWN
    return ", ".join(pairs[:EXAMPLES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def without_log(arrays: ScoreArrays, cells: NDArray[np.bool_], total: int) -> Iterator[TableProblem]:
    """Scores that have no log: marked cells of shape (k, p), among ``total`` scores."""
    if cells.any():
        yield TableProblem(
            ScoreTableError,
            f"transform='log' needs scores above 0, and {int(cells.sum()):,} of {total:,} are not (first: "
            f"{arrays.cells_in_words(cells, values=True)}).",
            "Leave the transform out (--transform), or compare a measure that is always above 0.",
            arrays.datasets_of(cells),
            "without_log",
            arguments=(Argument("transform", "log"),),
        )


def table_problems(arrays: ScoreArrays) -> Iterator[TableProblem]:
    """Problems of a table that can be paired, before two algorithms and a rope are chosen."""
    shared = np.flatnonzero(arrays.held.sum(axis=0) > (len(arrays.algorithms) > 1))  # no pair has the others
    if len(shared):
        names = [arrays.dataset_names[i] for i in shared]
        yield from few_scores(names, arrays.n_places[shared])
        yield from few_datasets(names)
    yield from constant_pairs(arrays.algorithms, arrays.dataset_names, arrays.variation)
    found = [] if arrays.scale is None else list(arrays.scale.problems(None))
    yield from found
    if not any(problem.key == "different_units" for problem in found):
        yield from outlying_spread(arrays.dataset_names, arrays.spread, "scores")


def checked_transform(transform: object) -> str | None:
    """None, or "log"; anything else is refused."""
    return None if transform is None else one_of("transform", transform, (LOG,))


def _codes(column: pd.Series) -> tuple[NDArray[Any], pd.Index[Any]]:
    """The position of each cell among the sorted labels of a column, and these labels."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):  # of a tidy table, whose categories are sorted
        return column.cat.codes.to_numpy(), column.cat.categories
    codes, labels = column.factorize(sort=True)
    return codes, pd.Index(labels)


def _place_numbers(frame: pd.DataFrame) -> IntArray:
    """Numbers of the rows' places, in the order of data sets, runs and folds, with gaps."""
    number, size = np.zeros(len(frame), dtype=np.int64), 1
    for role in ("dataset", "run", "fold"):
        if role in frame:
            codes, labels = _codes(frame[role])
            if size > LARGEST_NUMBER // max(len(labels), 1):  # without the gaps they fit
                held, number = np.unique(number, return_inverse=True)
                size = len(held)
            number *= len(labels)
            number += codes
            size *= len(labels)
            del codes
    return number


def _rows_of_algorithms(
    frame: pd.DataFrame, algorithms: Sequence[str], number: IntArray
) -> tuple[list[IntArray], IntArray]:
    """Rows of each algorithm in the order of places, the first for each cell; and all rows of cells with several."""
    codes, labels = _codes(frame["algorithm"])
    codes = codes.astype(np.min_scalar_type(len(labels)))
    rows, repeated = [], []
    for name in algorithms:
        found = np.flatnonzero(codes == labels.get_loc(name))
        found = found[np.argsort(number[found], kind="stable")]
        ordered = number[found]
        again = ordered[1:] == ordered[:-1]
        if again.any():
            repeated.append(found[np.append(again, False) | np.append(False, again)])
            found = found[np.append(True, ~again)]
        rows.append(found)
    return rows, np.concatenate(repeated) if repeated else np.zeros(0, dtype=np.int64)


def group_numbers(places: pd.DataFrame, role: str) -> IntArray:
    """The number of the group of each place, from 0 and different between data sets."""
    return np.asarray(places.groupby(["dataset", role], observed=True, sort=False).ngroup(), dtype=np.int64)


def _groups_that_differ(frame: pd.DataFrame, role: str, first: IntArray) -> Iterator[TableProblem]:
    """Places that algorithms have in different groups; ``first`` is for each row the first one of its place."""
    codes, _ = frame[role].factorize()
    wrong = codes != codes[first]
    if wrong.any():
        yield TableProblem(
            ScoreTableError,
            f"{counted(int(wrong.sum()), 'score', 'is')} in another group than another algorithm's for the same run and "
            f"fold (first: {cells_in_words(frame, wrong)}).",
            "Give the scores of a run and fold one group.",
            key="groups",
        )


def _places(frame: pd.DataFrame, rows: IntArray) -> pd.DataFrame:
    """Data set, and run and fold if the table has them, of some rows."""
    import pandas as pd

    roles = [role for role in ("dataset", "run", "fold", *GROUPINGS) if role in frame]
    return pd.DataFrame({role: frame[role].take(rows).reset_index(drop=True) for role in roles}, copy=False)


def _run_starts(places: pd.DataFrame, dataset_starts: IntArray) -> IntArray:
    """First place of each run of each data set."""
    new = np.zeros(len(places), dtype=bool)
    new[dataset_starts] = True
    if "run" in places:
        runs = places["run"].to_numpy()
        new[1:] |= runs[1:] != runs[:-1]
    return np.flatnonzero(new)
