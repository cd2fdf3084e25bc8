"""Every problem that a table of scores can have: each refusal and each warning, once.

A comparison raises the first error (`notes_or_error`); `hiercomp.check_scores` lists all problems, in the same words.
Problems of the direction and the scale are in `direction` and `scale`, those of all scores at once in `arrays`, those of a
comparison in `differences`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.errors import (
    Argument,
    ArgumentError,
    DefaultedRhoWarning,
    DegenerateScoresWarning,
    DroppedScoresWarning,
    FewDatasetsWarning,
    HiercompError,
    HiercompWarning,
    Note,
    ScaleWarning,
    ScoreTableError,
)
from hiercomp.rope import Rope
from hiercomp.wording import EXAMPLES_SHOWN, cells_in_words, counted, first_names, shown, span

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 64 * np.finfo(float).eps  # differences whose range is below this share of the scores' size are constant
LARGEST_SCORE, SMALLEST_SCORE = 1e100, 1e-100  # far from where squares and their sums overflow, or vanish
SMALLEST_N = 3  # scores of a data set; the t distribution of its mean has n - 2 degrees of freedom
FEW_DATASETS = 5
MOST_FOLDS = 20  # more folds without a run column look like several runs in one numbering
TRINOMIAL = (Argument("likelihood", "trinomial"),)
OF_OUTCOMES = "Pass likelihood='trinomial' (--likelihood trinomial): for scores that are 0 or 1 it needs no spread."
FARTHEST = 1e13  # standard deviations from 0 at which a double still has three digits of one of them
SPREAD_RATIO = 100.0  # a data set whose standard deviation is this many times the median


@dataclass(frozen=True)
class TableProblem:
    """Something in a table that must be corrected (an error) or looked at (a warning).

    Attributes
    ----------
    category : type
        The class of the error or warning that a comparison raises.
    message : str
        What is wrong, and where.
    remedy : str
        What to do; may be empty.
    places : tuple of str
        The data sets, algorithms or columns concerned.
    key : str
        Names the kind of problem, for programs.
    count : int
        How many cells or rows are concerned; 0 where none are counted.
    arguments : tuple of Argument
        Arguments that the text writes in Python.
    """

    category: type[HiercompError] | type[HiercompWarning]
    message: str
    remedy: str = ""
    places: tuple[str, ...] = ()
    key: str = ""
    count: int = 0
    arguments: tuple[Argument, ...] = ()

    @property
    def severity(self) -> Literal["error", "warning"]:
        """A comparison refuses an error; it repeats a warning."""
        return "error" if issubclass(self.category, HiercompError) else "warning"

    def __str__(self) -> str:
        return f"{self.severity}: {self.message} {self.remedy}".rstrip()

    @classmethod
    def of_error(cls, error: HiercompError) -> TableProblem:
        """The problem behind an error."""
        return cls(
            type(error), error.message, error.remedy, error.places, error.key, error.count, arguments=error.arguments
        )

    @classmethod
    def of_note(cls, note: Note) -> TableProblem:
        """The problem behind a note."""
        return cls(note.category, note.message, note.remedy, note.places, note.key, arguments=note.arguments)

    def to_dict(self) -> dict[str, Any]:
        """The problem as values for JSON."""
        return {
            "severity": self.severity,
            "message": self.message,
            "remedy": self.remedy,
            "places": list(self.places),
            "key": self.key,
        }


def notes_or_error(problems: Iterable[TableProblem]) -> list[Note]:
    """The warnings among the problems, as notes.

    Raises
    ------
    HiercompError
        The first error among them, if there is one.
    """
    notes = []
    for problem in problems:
        if issubclass(problem.category, HiercompError):
            raise problem.category(
                problem.message,
                remedy=problem.remedy,
                places=problem.places,
                key=problem.key,
                arguments=problem.arguments,
            )
        notes.append(
            Note(
                problem.category,
                problem.message,
                problem.remedy,
                problem.places,
                problem.key,
                arguments=problem.arguments,
            )
        )
    return notes


# A table of any number of algorithms


def single_algorithm(algorithms: Sequence[str]) -> Iterator[TableProblem]:
    """A table of fewer than two algorithms."""
    if len(algorithms) < 2:
        yield TableProblem(
            ScoreTableError,
            f"The table has only one algorithm ({first_names(algorithms)}); a comparison needs two.",
            "Add the scores of another.",
            tuple(algorithms),
            "single_algorithm",
        )


def duplicate_scores(cells: pd.DataFrame, count: int) -> TableProblem:
    """Cells with more than one score.

    Parameters
    ----------
    cells : DataFrame
        The rows of these cells: dataset, algorithm, run and fold if the table has them, score.
    count : int
        Number of different cells.
    """
    lacking = [role for role in ("run", "fold") if role not in cells]
    examples = cells_in_words(cells, np.ones(len(cells), dtype=bool), "score")
    if len(lacking) == 2:
        message = (
            f"{counted(count, 'data set-algorithm combination', 'has')} several scores, and there is no run or fold "
            f"column to distinguish them (first: {examples})."
        )
        remedy = "Add these columns, or use from_arrays for scores that are in the same order."
    else:
        message = f"{counted(count, 'cell', 'has')} more than one score (first: {examples})."
        hint = f"If there were several {lacking[0]}s, add a {lacking[0]} column. " if lacking else ""
        remedy = f"{hint}Keep one score for each data set, algorithm, run and fold."
    places = tuple(dict.fromkeys(str(name) for name in cells["dataset"]))
    return TableProblem(ScoreTableError, message, remedy, places, "duplicate_scores")


def scores_out_of_range(dataset_names: Sequence[str], size: FloatArray) -> Iterator[TableProblem]:
    """Scores whose squares may overflow, or vanish; ``size`` is the largest score of each data set."""
    if not len(size):
        return
    worst, remedy = int(size.argmax()), "convert the scores to another unit."
    if size[worst] > LARGEST_SCORE:
        yield TableProblem(
            ScoreTableError,
            f"Data set {shown(dataset_names[worst])!r} has a score of {size[worst]:.3g}, and scores beyond "
            f"{LARGEST_SCORE:g} are too large to compute with.",
            f"Correct it, or {remedy}",
            (dataset_names[worst],),
            "large_scores",
        )
    elif 0 < size[worst] < SMALLEST_SCORE:
        yield TableProblem(
            ScoreTableError,
            f"The largest of all scores is {size[worst]:.3g}, and scores below {SMALLEST_SCORE:g} are too small to compute "
            "with.",
            remedy.capitalize(),
            (),
            "small_scores",
        )


def doubtful_rho(
    dataset_names: Sequence[str], rho: FloatArray, folds: NDArray[np.int64], *, has_run: bool
) -> Iterator[TableProblem]:
    """Data sets whose folds do not determine rho, or look like several runs numbered as one.

    Parameters
    ----------
    dataset_names : sequence of str, length q
    rho : ndarray, shape (q,)
        The default by the number of folds, or NaN.
    folds : ndarray of int, shape (q,)
        Folds of a run.
    has_run : bool
        Whether the table has a column of runs.
    """
    names = tuple(name for name, value in zip(dataset_names, rho, strict=True) if np.isnan(value))
    if names:
        yield TableProblem(
            ScoreTableError,
            f"The number of folds is unknown for {len(names)} of {len(dataset_names)} data sets (first: "
            f"{shown(names[0])!r}), so rho cannot be derived.",
            "Pass rho: the share of test cases for repeated hold-out (0.33 for a third), 0 for independent repetitions.",
            names,
            "unknown_rho",
        )
    elif not has_run and folds.max(initial=0) > MOST_FOLDS:
        name, count = dataset_names[int(folds.argmax())], folds.max()
        yield TableProblem(
            DefaultedRhoWarning,
            f"Data set {shown(name)!r} has {count} folds and there is no run column: rho defaults to 1/{count}.",
            "If these are several runs of cross-validation, add a run column or pass rho.",
            (name,),
            "many_folds",
        )


def absent_datasets(
    algorithms: Sequence[str], dataset_names: Sequence[str], held: NDArray[np.bool_]
) -> Iterator[TableProblem]:
    """Data sets for which the table has no scores of some algorithm; ``held`` has shape (algorithms, data sets)."""
    names = np.array(dataset_names, dtype=object)
    lone = tuple(names[held.sum(axis=0) == 1])
    if len(algorithms) == 2:
        if lone:
            message = (
                f"Left out, with scores of only one algorithm: {counted(len(lone), 'data set')}: {first_names(lone)}."
            )
            yield TableProblem(DroppedScoresWarning, message, "", lone, "absent_datasets")
        return
    absent = {name: tuple(names[~row]) for name, row in zip(algorithms, held, strict=True) if not row.all()}
    if absent:
        listed = "; ".join(
            f"{shown(name)!r} lacks {first_names(lacking)}" for name, lacking in list(absent.items())[:EXAMPLES_SHOWN]
        )
        more = len(absent) - EXAMPLES_SHOWN
        places = tuple(names[~held.all(axis=0)])
        message = (
            f"Scores of {len(absent)} of {counted(len(algorithms), 'algorithm')} are missing on some data sets "
            f"({len(places)} of {len(names)} in all): {listed}"
            + (f"; and {more} more algorithms" if more > 0 else "")
            + ". Each pair uses the data sets that both have."
        )
        yield TableProblem(DroppedScoresWarning, message, "", places, "absent_datasets")


@dataclass(frozen=True, eq=False)
class Variation:
    """On how many data sets the differences of each pair of k algorithms never vary between folds.

    Attributes
    ----------
    by_dataset : ndarray of int, shape (q,)
        Pairs whose differences never vary.
    compared, constant : ndarray of int, shape (k, k)
        Data sets with several common scores, and how many of them have differences that never vary; above the diagonal.
    different : ndarray of bool, shape (k, k)
        Whether the scores differ anywhere.
    """

    by_dataset: NDArray[np.int64]
    compared: NDArray[np.int64]
    constant: NDArray[np.int64]
    different: NDArray[np.bool_]


def constant_pairs(
    algorithms: Sequence[str], dataset_names: Sequence[str], variation: Variation
) -> Iterator[TableProblem]:
    """Pairs of algorithms with identical scores or with differences that never vary."""

    def pairs(which: NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(f"{algorithms[one]} and {algorithms[two]}" for one, two in np.argwhere(which))

    compared = variation.compared > 0
    equal = compared & ~variation.different
    if equal.any():
        message = (
            f"{counted(int(equal.sum()), 'pair')} of algorithms with identical scores everywhere: "
            f"{first_names(pairs(equal))}."
        )
        remedy = "Is this one algorithm under two names?"
        yield TableProblem(DegenerateScoresWarning, message, remedy, pairs(equal), "identical_scores")
    hopeless = compared & (variation.constant == variation.compared) & ~equal
    if hopeless.any():
        yield constant_everywhere(pairs(hopeless))
    if ((variation.constant > 0) & (variation.constant < variation.compared)).any():
        names = [name for name, count in zip(dataset_names, variation.by_dataset, strict=True) if count]
        yield constant_datasets(names, len(dataset_names), None)


def constant_everywhere(pairs: Sequence[str], *, outcomes: bool = False) -> TableProblem:
    """Pairs of algorithms, each as "a and b", whose differences vary in no data set; ``outcomes`` as in `without_spread`."""
    between = f"between {shown(pairs[0])}" if len(pairs) == 1 else f"of {len(pairs)} pairs of algorithms"
    listed = "" if len(pairs) == 1 else f" ({first_names(pairs)})"
    return TableProblem(
        ScoreTableError,
        f"The differences {between} are constant across folds in every data set{listed}, so their precision cannot be "
        "estimated.",
        OF_OUTCOMES
        if outcomes
        else "Give the scores fold by fold, or use a test of the data sets' means: hc.bayesian_signed_rank_test or "
        "hc.signed_rank_test.",
        tuple(pairs),
        "constant_outcomes" if outcomes else "constant_everywhere",
        arguments=TRINOMIAL if outcomes else (),
    )


def constant_datasets(
    names: Sequence[str], n_datasets: int, spread: float | None, *, outcomes: bool = False
) -> TableProblem:
    """Data sets whose differences never vary, and the standard deviation they get; None while no rope is known."""
    subject = "The differences" if spread is not None else "The differences of some algorithms"
    taken = (
        "would be taken from the rope"
        if spread is None
        else f"is set to {spread:.3g}, that of uniform noise on the rope"
    )
    message = (
        f"{subject} are constant across folds in {len(names)} of {n_datasets} data sets ({first_names(names)}). "
        f"Their standard deviation {taken}; their means are kept."
    )
    remedy, arguments = (OF_OUTCOMES, TRINOMIAL) if outcomes else ("", ())
    return TableProblem(
        DegenerateScoresWarning, message, remedy, tuple(names), "constant_datasets", arguments=arguments
    )


# The data sets of a comparison


def few_datasets(dataset_names: Sequence[str]) -> Iterator[TableProblem]:
    """A single data set, or fewer than five."""
    count = len(dataset_names)
    if count == 1:
        yield TableProblem(
            ScoreTableError,
            f"Only one data set ({shown(dataset_names[0])!r}) has scores of both algorithms; the hierarchical model needs "
            "several.",
            "For a single data set use the Bayesian correlated t-test: hc.correlated_t_test.",
            tuple(dataset_names),
            "single_dataset",
        )
    elif count < FEW_DATASETS:
        yield TableProblem(
            FewDatasetsWarning,
            f"With only {count} data sets, the verdict depends strongly on the priors for sigma0 and nu.",
            "",
            tuple(dataset_names),
            "few_datasets",
        )


def few_scores(dataset_names: Sequence[str], n: NDArray[np.int64]) -> Iterator[TableProblem]:
    """Data sets with fewer than the three scores that the likelihood needs."""
    if n.max() == 1:
        yield TableProblem(
            ScoreTableError,
            "There are no fold-level scores: each data set has one score for each algorithm.",
            "The hierarchical model needs the scores of the single folds; for one score per data set use "
            "hc.bayesian_signed_rank_test or hc.signed_rank_test.",
            key="no_folds",
        )
        return
    few = [i for i, count in enumerate(n) if count < SMALLEST_N]
    if few:
        listed = ", ".join(f"{shown(dataset_names[i])!r} ({n[i]})" for i in few[:EXAMPLES_SHOWN])
        more = f" and {len(few) - EXAMPLES_SHOWN} more" if len(few) > EXAMPLES_SHOWN else ""
        yield TableProblem(
            ScoreTableError,
            f"{counted(len(few), 'data set', 'has')} fewer than {SMALLEST_N} paired scores: {listed}{more}.",
            "Add folds or remove these data sets.",
            tuple(dataset_names[i] for i in few),
            "few_scores",
        )


def few_groups(dataset_names: Sequence[str], n: NDArray[np.int64]) -> Iterator[TableProblem]:
    """Data sets with fewer groups than the three that the likelihood needs."""
    few = np.flatnonzero(n < SMALLEST_N)
    if len(few):
        first = int(few[0])
        yield TableProblem(
            ScoreTableError,
            f"{counted(len(few), 'data set', 'has')} fewer than {SMALLEST_N} groups of scores (first: "
            f"{shown(dataset_names[first])!r}, {n[first]}).",
            "Only the differences between groups say how precise a mean is: use smaller groups, or remove these data sets.",
            tuple(dataset_names[int(i)] for i in few),
            "few_scores",
        )


def outlying_spread(dataset_names: Sequence[str], spread: FloatArray, what: str) -> Iterator[TableProblem]:
    """A data set whose standard deviation is far above the others'; ``what`` says whether of differences or scores."""
    varied = spread > 0
    if varied.sum() < 3:
        return
    ratio = np.where(varied, spread, 0) / np.median(spread[varied])
    worst = int(np.argmax(ratio))
    if ratio[worst] >= SPREAD_RATIO:
        yield TableProblem(
            ScaleWarning,
            f"The {what} of data set {shown(dataset_names[worst])!r} vary {ratio[worst]:.0f} times as much as the median "
            "data set's.",
            "Check its scores, and compare with a fit without it.",
            (dataset_names[worst],),
            "outlying_spread",
        )


def without_spread(
    pair: str, dataset_names: Sequence[str], constant: NDArray[np.bool_], rope: Rope, *, outcomes: bool = False
) -> Iterator[TableProblem]:
    """Data sets whose differences never vary, which get the spread of the rope; ``pair`` is as "a and b".

    ``outcomes`` says that the trinomial likelihood suits the scores, which needs no such spread.
    """
    names = [name for name, flat in zip(dataset_names, constant, strict=True) if flat]
    count = len(dataset_names)
    if len(names) == count:
        yield constant_everywhere([pair], outcomes=outcomes)
    elif names and rope.half_width == 0:
        yield TableProblem(
            ScoreTableError,
            f"The differences are constant across folds in {len(names)} of {count} data sets ({first_names(names)}), and "
            "a rope of zero gives them no spread.",
            OF_OUTCOMES if outcomes else "Pass a rope above 0, or remove these data sets.",
            tuple(names),
            "constant_datasets",
            arguments=TRINOMIAL if outcomes else (),
        )
    elif names:
        yield constant_datasets(names, count, rope.half_width / np.sqrt(3), outcomes=outcomes)


def too_far_apart(dataset_names: Sequence[str], mean: FloatArray, deviation: FloatArray) -> Iterator[TableProblem]:
    """A mean difference so far from 0, in standard deviations of any data set, that doubles do not resolve these."""
    farthest, narrowest = int(np.abs(mean).argmax()), int(deviation.argmin())
    if abs(mean[farthest]) > FARTHEST * deviation[narrowest]:
        yield TableProblem(
            ScoreTableError,
            f"Data set {shown(dataset_names[farthest])!r} has a mean difference of {mean[farthest]:.3g}, and the smallest "
            f"standard deviation is {deviation[narrowest]:.3g} ({shown(dataset_names[narrowest])!r}): they are too far "
            "apart to compute with.",
            "Is it a code for a missing score? Correct it, or leave that data set out.",
            (dataset_names[farthest],),
            "too_far_apart",
        )


def not_trinomial(
    dataset_names: Sequence[str],
    binary: NDArray[np.bool_] | None,
    rho: FloatArray,
    *,
    grouped: bool,
    in_ropes: bool,
) -> Iterator[TableProblem]:
    """What the trinomial likelihood does not suit; ``binary``: whether a data set's scores are 0 and 1, None if unknown."""
    gaussian = (Argument("likelihood", "gaussian"),)
    if binary is None:
        yield TableProblem(
            ArgumentError,
            "likelihood='trinomial' counts answers, and only means and standard errors are given.",
            "Give the table of answers, or leave the likelihood out.",
            key="not_binary",
            arguments=TRINOMIAL,
        )
        return
    if in_ropes:
        yield TableProblem(
            ArgumentError,
            "likelihood='trinomial' counts answers, but with a rope for each data set the scores are divided by it.",
            "Pass one rope for all data sets, or leave the likelihood out.",
            key="trinomial_with_ropes",
            arguments=TRINOMIAL,
        )
        return
    others = [name for name, each in zip(dataset_names, binary, strict=True) if not each]
    if others:
        yield TableProblem(
            ArgumentError,
            f"likelihood='trinomial' takes scores that are 0 or 1, such as wrong and right answers, and {len(others)} of "
            f"{len(dataset_names)} data sets have others ({first_names(others)}).",
            "Leave the likelihood out (likelihood='gaussian'), or remove these data sets.",
            tuple(others),
            "not_binary",
            arguments=TRINOMIAL + gaussian,
        )
    if grouped:
        yield TableProblem(
            ArgumentError,
            "likelihood='trinomial' treats questions as independent, but groups were given.",
            "Leave the groups out if each question has one answer; else leave the likelihood out.",
            key="trinomial_with_groups",
            arguments=TRINOMIAL,
        )
    elif (rho != 0).any():
        yield TableProblem(
            ArgumentError,
            f"likelihood='trinomial' treats questions as independent, but rho is {span(rho)}.",
            "Pass rho=0 if the scores are answers to different questions; else leave the likelihood out.",
            key="trinomial_with_rho",
            arguments=(*TRINOMIAL, Argument("rho", 0)),
        )
