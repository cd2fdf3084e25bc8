"""Every problem of a table of scores, collected: each check goes on where the one before it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.errors import ScoreTableError
from hiercomp.files.formats.common import lower_is_better
from hiercomp.scores.differences import LARGEST_SCORE, ROUNDING, FloatArray
from hiercomp.scores.facts import Problem, ScoreMatrix, TableFacts
from hiercomp.scores.rho import MOST_FOLDS
from hiercomp.scores.scale import LARGEST_FRACTION, SPREAD_RATIO
from hiercomp.scores.table import TidyScores, find_columns, is_filled, number_of_cell, tidy_scores, to_pandas
from hiercomp.wording import cells_in_words, counted, first_names, shown

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SCORES, FEW_DATASETS = 3, 5
DROP = "Add them, or pass missing='drop' (--drop-unpaired) to leave these folds out."
REPAIRS = ("none", "score", "rho")  # what is repaired before each further try


def examine(
    df: Any,
    columns: Mapping[str, str] | None,
    *,
    higher_is_better: bool,
    rho: float | None,
    measure: str | None,
) -> tuple[TableFacts | None, list[Problem]]:
    """What a table holds, None where it can't be made out, and its problems in the order in which they were found.

    Parameters
    ----------
    df : data frame
    columns : mapping or None
        Which column is which.
    higher_is_better : bool
        False where losses are meant.
    rho : float or None
        The correlation between folds, where the caller knows it.
    measure : str or None
        Name of the measure where an importer knows it; else the name of the column tells the direction.
    """
    problems: list[Problem] = []
    try:
        frame = to_pandas(df)
        if len(frame) == 0:
            tidy_scores(frame, columns)  # says what a table needs
        found = find_columns(frame, columns)
    except ScoreTableError as error:
        return None, [Problem.of("error", error)]
    tidy = _readable(frame, found, problems)
    if tidy is None:
        return None, problems
    tidy_frame = _without_duplicates(tidy, problems)
    matrix = ScoreMatrix.of(_without_large(tidy_frame, problems))
    loss = not higher_is_better or lower_is_better(measure or found["score"])
    runs, folds = _scheme(matrix, tidy)
    correlations = _rho(matrix, tidy, rho, folds, problems)
    _few(matrix, problems)
    missing = _missing(matrix, tidy_frame, problems)
    constant = _constant(matrix, problems)
    lowest, highest = _extremes(matrix)
    scale, loss = _scale(matrix, lowest, highest, loss, higher_is_better, problems)
    _spread(matrix, problems)
    return TableFacts(
        datasets=matrix.datasets,
        algorithms=matrix.algorithms,
        runs=runs,
        folds=folds,
        rho=correlations,
        scores=np.diff(matrix.starts),
        missing=missing,
        constant_pairs=constant,
        lowest=lowest,
        highest=highest,
        scale=scale,
        loss=loss,
    ), problems


def _readable(frame: pd.DataFrame, found: Mapping[str, str], problems: list[Problem]) -> TidyScores | None:
    """The rows that `tidy_scores` can take; what it refuses is collected."""
    table = frame[list(found.values())]
    tidy = _tidy_or_none(table, found, [])
    if tidy is None:
        table = table[_filled(table, found, problems)].reset_index(drop=True)
        roles = dict(found)
        for repair in REPAIRS if len(table) else ():
            if repair == "score":
                given = table[roles["score"]].tolist()
                numbers = [np.nan if number is None else number for number in map(number_of_cell, given)]
                table = table.copy()
                table[roles["score"]] = numbers  # of a column whose name may be no text
            elif repair == "rho" and "rho" in roles:
                table = table.drop(columns=roles.pop("rho"))
            tidy = _tidy_or_none(table, roles, problems)
            if tidy is not None:
                break
    if tidy is not None:
        problems += [Problem("warning", note.text, "Check the names.") for note in tidy.notes]
    return tidy


def _filled(table: pd.DataFrame, found: Mapping[str, str], problems: list[Problem]) -> NDArray[np.bool_]:
    """Rows whose names, runs and folds are filled; each of these columns is judged by itself."""
    import pandas as pd

    good = np.ones(len(table), dtype=bool)
    roles = {role: name for role, name in found.items() if role != "rho"}
    for role in ("dataset", "algorithm", "run", "fold"):
        if role not in found:
            continue
        # The other columns hold what can't be wrong
        probe: dict[str, Any] = {name: np.zeros(len(table), dtype=int) for name in roles.values()}
        probe |= {found[other]: np.full(len(table), "x", dtype=object) for other in ("dataset", "algorithm")}
        if _tidy_or_none(pd.DataFrame(probe | {found[role]: table[found[role]]}), roles, problems) is None:
            good &= np.array([is_filled(cell) for cell in table[found[role]].tolist()], dtype=bool)
    return good


def _tidy_or_none(table: pd.DataFrame, roles: Mapping[str, str], problems: list[Problem]) -> TidyScores | None:
    """The checked table, or a problem more."""
    try:
        return tidy_scores(table, roles)
    except ScoreTableError as error:
        problem = Problem.of("error", error)
        problems += [] if problem in problems else [problem]
        return None


def _without_duplicates(tidy: TidyScores, problems: list[Problem]) -> pd.DataFrame:
    """The table with the first score of each cell."""
    frame = tidy.frame
    place = ["dataset", "algorithm"] + [role for role in ("run", "fold") if role in frame]
    repeated = frame.duplicated(place, keep=False).to_numpy()
    if not repeated.any():
        return frame
    count = int((repeated & ~frame.duplicated(place).to_numpy()).sum())
    lacking = [role for role in ("run", "fold") if role not in frame]
    remedy = "Keep one score for each data set, algorithm, run and fold."
    if lacking:
        remedy += f" The table has no column {' and no column '.join(lacking)}: add it if these are several."
    message = (
        f"{counted(count, 'cell', 'has')} more than one score (first: {cells_in_words(frame, repeated, 'score')})."
    )
    problems.append(Problem("error", message, remedy))
    return frame.drop_duplicates(place).reset_index(drop=True)


def _without_large(frame: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    """The table with scores that can be computed with."""
    size = np.abs(frame["score"].to_numpy(dtype=float))
    large = np.isfinite(size) & (size > LARGEST_SCORE)
    if not large.any():
        return frame
    examples = cells_in_words(frame, large, "score")
    message = f"{counted(int(large.sum()), 'score', 'is')} beyond {LARGEST_SCORE:g} (first: {examples})."
    problems.append(Problem("error", message, "Correct them, or bring the scores to another unit."))
    return frame.assign(score=frame["score"].clip(-LARGEST_SCORE, LARGEST_SCORE))


def _scheme(matrix: ScoreMatrix, tidy: TidyScores) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Runs of each data set, and the folds of its longest run; 0 folds where the table has none."""
    places = matrix.places
    codes = np.repeat(np.arange(len(matrix.datasets)), np.diff(matrix.starts))
    runs = places["run"].groupby(codes).nunique().to_numpy() if tidy.has_run else np.ones(len(matrix.datasets))
    if not tidy.has_fold:
        return runs.astype(np.int64), np.zeros(len(matrix.datasets), dtype=np.int64)
    by_run = places["fold"].groupby([codes, places["run"]] if tidy.has_run else codes).nunique()
    folds = by_run.groupby(level=0).max() if tidy.has_run else by_run
    return runs.astype(np.int64), folds.to_numpy().astype(np.int64)


def _rho(
    matrix: ScoreMatrix,
    tidy: TidyScores,
    given: float | None,
    folds: NDArray[np.int64],
    problems: list[Problem],
) -> FloatArray:
    """The correlation of each data set as it would be taken, NaN where it is unknown."""
    if given is not None:
        return np.full(len(matrix.datasets), given)
    if tidy.rho is not None:
        rho = np.array([tidy.rho[name] for name in matrix.datasets])
        wrong = ~((rho >= 0) & (rho < 1))
        if wrong.any():
            names = [name for name, bad in zip(matrix.datasets, wrong, strict=True) if bad]
            message = (
                f"Column rho is not at least 0 and below 1 in {counted(len(names), 'data set')}: {first_names(names)}."
            )
            problems.append(Problem("error", message, "It is 1/k for k folds, or the share of test cases."))
        return rho
    count = np.diff(matrix.starts)
    rho = np.where(count == 1, 0.0, np.where(folds > 1, 1 / np.maximum(folds, 1), np.nan))
    unknown = [name for name, value in zip(matrix.datasets, rho, strict=True) if np.isnan(value)]
    if unknown:
        affected = f"{counted(len(unknown), 'data set')}: {first_names(unknown)}"
        message = f"Nothing tells the correlation between the scores of {affected}."
        remedy = "Add a column fold or rho, or pass rho: the share of test cases for hold-out, 0 for independent runs."
        problems.append(Problem("error", message, remedy))
    elif not tidy.has_run and folds.max() > MOST_FOLDS:
        name = shown(matrix.datasets[int(folds.argmax())])
        message = (
            f"Data set {name!r} has {folds.max()} folds and there is no run column, so that rho is 1/{folds.max()}."
        )
        problems.append(Problem("warning", message, "If these are several runs, add a run column or pass rho."))
    return rho


def _few(matrix: ScoreMatrix, problems: list[Problem]) -> None:
    """Too few algorithms, data sets or scores."""
    if len(matrix.algorithms) < 2:
        message = f"There is one algorithm only ({shown(matrix.algorithms[0])!r}); a comparison needs two."
        problems.append(Problem("error", message, "Add the scores of another."))
    count = len(matrix.datasets)
    if count == 1:
        message = f"There is one data set only ({shown(matrix.datasets[0])!r}); the hierarchical model needs several."
        problems.append(Problem("error", message, "For a single data set use hc.correlated_t_test."))
    elif count < FEW_DATASETS:
        message = f"There are {count} data sets only: the priors on sigma0 and nu weigh heavily on the verdict."
        problems.append(Problem("warning", message, "Add data sets."))
    n = np.diff(matrix.starts)
    if n.max() == 1:
        message = "There are no fold-level scores: each data set has one score for each algorithm."
        remedy = "Give the scores of the single folds, or use hc.bayesian_signed_rank_test or hc.signed_rank_test."
        problems.append(Problem("error", message, remedy))
    elif n.min() < FEWEST_SCORES:
        few = [name for name, size in zip(matrix.datasets, n, strict=True) if size < FEWEST_SCORES]
        message = f"{counted(len(few), 'data set', 'has')} fewer than {FEWEST_SCORES} scores: {first_names(few)}."
        problems.append(Problem("error", message, "Add folds or remove these data sets."))


def _missing(matrix: ScoreMatrix, frame: pd.DataFrame, problems: list[Problem]) -> NDArray[np.int64]:
    """Places without a finite score, shape (q, k)."""
    starts = matrix.starts[:-1]
    finite = np.isfinite(matrix.values)
    size = np.diff(matrix.starts)
    missing = size[:, None] - np.add.reduceat(finite, starts, axis=1, dtype=np.int64).T
    wrong = ~np.isfinite(frame["score"].to_numpy(dtype=float))
    if wrong.any():
        examples = cells_in_words(frame, wrong)
        message = f"{wrong.sum():,} of {len(frame):,} scores are missing or not finite (first: {examples})."
        problems.append(Problem("error", message, DROP.replace("Add them", "Fill them in")))
    held = np.logical_or.reduceat(matrix.present, starts, axis=1)  # whether an algorithm has the data set at all
    whole = ~held
    if whole.any():
        algorithm, dataset = (places[0] for places in np.nonzero(whole))
        lone = [name for name, count in zip(matrix.datasets, held.sum(axis=0), strict=True) if count < 2]
        message = (
            f"{whole.sum():,} of {whole.size:,} pairs of data set and algorithm have no score at all (first: "
            f"dataset {shown(matrix.datasets[dataset])!r}, algorithm {shown(matrix.algorithms[algorithm])!r})."
        )
        message += f" {counted(len(lone), 'data set', 'has')} one algorithm only: {first_names(lone)}." if lone else ""
        problems.append(Problem("warning", message, "Comparisons with these algorithms leave these data sets out."))
    unpaired = ~matrix.present & np.repeat(held, size, axis=1)
    if unpaired.any():
        algorithms, places = np.nonzero(unpaired)
        first = matrix.places.iloc[places[:20]].assign(algorithm=[matrix.algorithms[code] for code in algorithms[:20]])
        listed = cells_in_words(first, np.ones(len(first), dtype=bool)).partition("; and ")[0]
        lacking = counted(int(unpaired.sum()), "score", "is")
        message = f"{lacking} absent that another algorithm has on the same fold (first: {listed})."
        problems.append(Problem("error", message, DROP))
    return missing


def _constant(matrix: ScoreMatrix, problems: list[Problem]) -> NDArray[np.int64]:
    """Pairs of algorithms, for each data set, whose differences never vary between its folds."""
    k = len(matrix.algorithms)
    counts = np.zeros(len(matrix.datasets), dtype=np.int64)
    judged = np.zeros((k, k), dtype=np.int64)
    constant = np.zeros((k, k), dtype=np.int64)
    different = np.zeros((k, k), dtype=bool)
    for dataset, block in enumerate(matrix.blocks()):
        finite = np.isfinite(block)
        size = np.where(finite, np.abs(block), 0).max(axis=1)
        for one in range(k - 1):
            both = finite[one] & finite[one + 1 :]
            difference = np.where(both, block[one + 1 :] - block[one], 0.0)
            highest = np.where(both, difference, -np.inf).max(axis=1)
            lowest = np.where(both, difference, np.inf).min(axis=1)
            tolerance = ROUNDING * np.maximum(size[one], size[one + 1 :])
            enough = both.sum(axis=1) > 1
            flat = enough & (highest - lowest <= tolerance)
            counts[dataset] += int(flat.sum())
            judged[one, one + 1 :] += enough
            constant[one, one + 1 :] += flat
            different[one, one + 1 :] |= np.abs(difference).max(axis=1) > tolerance
    equal = (judged > 0) & ~different
    if equal.any():
        pairs = [f"{matrix.algorithms[one]} and {matrix.algorithms[two]}" for one, two in np.argwhere(equal)]
        message = f"{counted(len(pairs), 'pair')} of algorithms with identical scores everywhere: {first_names(pairs)}."
        problems.append(Problem("warning", message, "Was one of them scored twice under two names?"))
    hopeless = (judged > 0) & (constant == judged) & ~equal
    if hopeless.any():
        pairs = [f"{matrix.algorithms[one]} and {matrix.algorithms[two]}" for one, two in np.argwhere(hopeless)]
        listed = f"{counted(len(pairs), 'pair')} of algorithms vary: {first_names(pairs)}"
        message = f"In no data set do the differences of {listed}."
        remedy = "Give the scores fold by fold, or use hc.bayesian_signed_rank_test."
        problems.append(Problem("error", message, remedy))
    some = (constant > 0) & (constant < judged)
    if some.any():
        names = [name for name, count in zip(matrix.datasets, counts, strict=True) if count]
        affected = counted(len(names), "data set", "has")
        message = f"{affected} pairs of algorithms whose differences never vary: {first_names(names)}."
        problems.append(Problem("warning", message, "Their standard deviation would be taken from the rope."))
    return counts


def _extremes(matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
    finite = np.isfinite(matrix.values)
    starts = matrix.starts[:-1]
    lowest = np.minimum.reduceat(np.where(finite, matrix.values, np.inf).min(axis=0), starts)
    highest = np.maximum.reduceat(np.where(finite, matrix.values, -np.inf).max(axis=0), starts)
    none = ~np.isfinite(lowest)
    return np.where(none, np.nan, lowest), np.where(none, np.nan, highest)


def _scale(
    matrix: ScoreMatrix,
    lowest: FloatArray,
    highest: FloatArray,
    loss: bool,
    higher_is_better: bool,
    problems: list[Problem],
) -> tuple[str, bool]:
    """Fractions, percentages or other, and whether less looks better."""
    known = np.isfinite(lowest)
    if not known.any():
        return "other", loss
    low, high = float(lowest[known].min()), float(highest[known].max())
    scale = "other" if low < 0 or high > 100 else "fractions" if high <= LARGEST_FRACTION else "percentages"
    if scale == "percentages":
        small = known & (highest <= LARGEST_FRACTION)
        if small.any():
            names = [name for name, is_small in zip(matrix.datasets, small, strict=True) if is_small]
            message = (
                f"Scores of {counted(len(names), 'data set')} are at most 1 ({first_names(names)}), those of others reach "
                f"{high:g}: fractions and percentages look mixed."
            )
            problems.append(Problem("warning" if loss else "error", message, "Bring them to one scale."))
        elif not loss:
            message = f"The scores range from {low:g} to {high:g} and look like percentages."
            remedy = "Give the rope in percentage points (1 for one point), or divide the scores by 100."
            problems.append(Problem("warning", message, remedy))
    if scale == "other" and not loss:
        message = f"Scores range from {low:g} to {high:g}, as losses do more often than gains."
        problems.append(
            Problem("warning", message, "For a loss or an error pass higher_is_better=False (--lower-is-better).")
        )
    elif loss and higher_is_better:
        message = "The name of the scores is that of a loss, an error or a duration."
        problems.append(
            Problem("warning", message, "If less is better, pass higher_is_better=False (--lower-is-better).")
        )
    return scale, loss or (scale == "other" and low >= 0)


def _spread(matrix: ScoreMatrix, problems: list[Problem]) -> None:
    """A data set whose scores vary far more between folds than others'."""
    spread = np.full(len(matrix.datasets), np.nan)
    for dataset, block in enumerate(matrix.blocks()):
        rows = block[np.isfinite(block).sum(axis=1) > 1]
        if len(rows):
            spread[dataset] = float(np.median(np.nanstd(rows, axis=1, ddof=1)))
    varied = spread[spread > 0]
    if len(varied) < 3:
        return
    ratio = np.nan_to_num(spread) / np.median(varied)
    worst = int(ratio.argmax())
    if ratio[worst] >= SPREAD_RATIO:
        message = (
            f"The scores of data set {shown(matrix.datasets[worst])!r} vary {ratio[worst]:.0f} times as much between folds "
            "as those of the median data set."
        )
        problems.append(Problem("warning", message, "Check them, and compare with a fit without it."))
