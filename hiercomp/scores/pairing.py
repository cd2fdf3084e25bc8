"""Pairing the scores of two algorithms by data set, run and fold, never by the order of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.errors import DroppedScoresWarning, Note, ScoreTableError
from hiercomp.scores.table import TidyScores
from hiercomp.wording import cells_in_words, counted, first_names, nearest_name, normal_name, shown

if TYPE_CHECKING:
    import pandas as pd

ONE_ALGORITHM_ONLY = "Left out, with scores of one algorithm only"  # how a note begins


@dataclass(frozen=True)
class ScorePairs:
    """Scores of two algorithms side by side.

    Attributes
    ----------
    frame : pandas.DataFrame
        Columns dataset, run and fold where the table has them, left, right; sorted by data set, run and fold.
    folds : mapping from data set to int or None
        Folds of one run, before any were dropped; None where they are unknown (hold-out).
    notes : tuple of Note
        What was dropped or looks odd.
    """

    frame: pd.DataFrame
    folds: Mapping[str, int | None]
    notes: tuple[Note, ...]


def choose_algorithms(tidy: TidyScores, left: str | None, right: str | None) -> tuple[str, str]:
    """The two algorithms to compare; where the table holds exactly two they need not be named."""
    names = tidy.algorithms
    left, right = (name if name is None else normal_name(name) for name in (left, right))
    listed = ", ".join(repr(shown(name)) for name in names[:20]) + (", ..." if len(names) > 20 else "")
    if len(names) < 2:
        raise ScoreTableError(f"The table holds one algorithm only ({listed}); a comparison needs two.")
    for side, name in (("left", left), ("right", right)):
        if name is not None and name not in names:
            raise ScoreTableError(
                f"{side}={name!r} is not an algorithm of the table.{nearest_name(name, names)} They are: {listed}."
            )
    if left is not None and left == right:
        raise ScoreTableError(f"left and right are both {left!r}; an algorithm can't be compared with itself.")
    if len(names) == 2:
        first = left or next(name for name in names if name != right)
        return first, next(name for name in names if name != first)
    if left is None or right is None:
        raise ScoreTableError(
            f"The table holds {len(names)} algorithms ({listed}). Name the two to compare, "
            f"for instance left={names[0]!r}, right={names[1]!r}."
        )
    return left, right


def pair_scores(tidy: TidyScores, left: str, right: str, *, drop: bool) -> ScorePairs:
    """Bring the scores of two algorithms side by side.

    Parameters
    ----------
    tidy : TidyScores
    left, right : str
    drop : bool
        Leave out folds that one algorithm lacks or whose score is missing, and say so, instead of refusing them.

    Raises
    ------
    ScoreTableError
        For duplicate, unpaired, missing or infinite scores; the message names the first few.
    """
    frame = tidy.frame
    if len(tidy.algorithms) > 2:
        frame = frame[frame["algorithm"].isin([left, right])].reset_index(drop=True)
    place = ["dataset"] + [role for role in ("run", "fold") if role in frame]
    complete = _complete_pairs(frame, place, left, right)
    if complete is not None:
        return ScorePairs(*complete, tidy.notes)
    _refuse_duplicates(frame, place, tidy)
    folds = _folds_of_a_run(frame)
    notes = list(tidy.notes)
    frame, single = _both_algorithms(frame)
    notes += single
    comparable = frame["dataset"].unique()
    frame, missing = _finite(frame, drop)
    notes += missing
    sides = [
        frame.loc[frame["algorithm"] == name, [*place, "score"]].rename(columns={"score": side})
        for name, side in ((left, "left"), (right, "right"))
    ]
    merged = sides[0].merge(sides[1], on=place, how="outer", indicator=True)
    unpaired = (merged["_merge"] != "both").to_numpy()
    if unpaired.any():
        merged["algorithm"] = np.where(merged["_merge"] == "left_only", left, right)
        count, datasets = int(unpaired.sum()), merged.loc[unpaired, "dataset"].nunique()
        if not drop:
            raise ScoreTableError(
                f"{counted(count, 'score')} in {counted(datasets, 'data set')} without a partner "
                f"(first: {cells_in_words(merged, unpaired)}). "
                "Add the missing scores, or pass missing='drop' (--drop-unpaired) to leave these folds out."
            )
        notes.append(
            Note(
                DroppedScoresWarning,
                f"Dropped because one algorithm has no score there: {counted(count, 'fold')} of "
                f"{counted(datasets, 'data set')} (first: {cells_in_words(merged, unpaired)}).",
            )
        )
    paired = merged.loc[~unpaired, [*place, "left", "right"]].reset_index(drop=True)
    if len(paired) == 0:
        raise ScoreTableError(f"No fold has a score of both {shown(left)!r} and {shown(right)!r}.")
    lost = sorted(set(comparable) - set(paired["dataset"].unique()))
    if lost:
        text = f"Left out, without a paired score: {counted(len(lost), 'data set')}: {first_names(lost)}."
        notes.append(Note(DroppedScoresWarning, text))
    return ScorePairs(paired, folds, tuple(notes))


def _complete_pairs(
    frame: pd.DataFrame, place: list[str], left: str, right: str
) -> tuple[pd.DataFrame, dict[str, int | None]] | None:
    """Pairs and folds of a table in which nothing is missing, twice or not finite, at less cost; None for others."""
    import pandas as pd

    scores = frame["score"].to_numpy()
    rows = [np.flatnonzero(frame["algorithm"] == name) for name in (left, right)]
    if len(rows[0]) != len(rows[1]) or not all(np.isfinite(scores[side]).all() for side in rows):
        return None
    factors = [frame[role].factorize(sort=True) for role in place]
    sizes = [len(labels) for _, labels in factors]
    if prod(sizes) > np.iinfo(np.int64).max:
        return None
    number = factors[0][0].astype(np.int64)  # of each row's place, in the order of data sets, runs and folds
    for (codes, _), size in zip(factors[1:], sizes[1:], strict=True):
        number *= size
        number += codes
    for index, side in enumerate(rows):
        rows[index] = side[np.argsort(number[side], kind="stable")]
    places = number[rows[0]]
    if (places[1:] == places[:-1]).any() or not np.array_equal(places, number[rows[1]]):
        return None
    del number
    columns = {role: frame[role].take(rows[0]).reset_index(drop=True) for role in place}
    columns |= {side: pd.Series(scores[rows[index]]) for index, side in enumerate(("left", "right"))}
    folds: dict[str, int | None] = {str(name): None for name in columns["dataset"].unique()}
    if "fold" in place:
        runs, counts = np.unique(places // sizes[-1], return_counts=True)  # distinct folds of a run
        most = np.maximum.reduceat(counts, np.flatnonzero(np.diff(runs // prod(sizes[1:-1]), prepend=-1)))
        folds = {name: int(count) if count > 1 else None for name, count in zip(folds, most, strict=True)}
    return pd.DataFrame(columns, copy=False), folds


def _refuse_duplicates(frame: pd.DataFrame, place: list[str], tidy: TidyScores) -> None:
    repeated = frame.duplicated([*place, "algorithm"], keep=False).to_numpy()
    if not repeated.any():
        return
    groups = frame[repeated].groupby([*place, "algorithm"], sort=False, observed=True).size()
    if not tidy.has_run and not tidy.has_fold:
        raise ScoreTableError(
            f"{counted(len(groups), 'pair')} of data set and algorithm with several scores, but there is no run and no fold "
            "column to pair them by. Add them, or use from_arrays for scores that are in the same order."
        )
    extra = "" if tidy.has_run else " If there were several runs, add a run column."
    examples = cells_in_words(frame, repeated, "score")
    raise ScoreTableError(
        f"{counted(len(groups), 'cell', 'has')} more than one score (first: {examples}).{extra} "
        "Keep one score for each data set, algorithm, run and fold."
    )


def _folds_of_a_run(frame: pd.DataFrame) -> dict[str, int | None]:
    """Folds of one run of each data set, the most of any run; None where the table does not tell."""
    if "fold" not in frame:
        return {str(name): None for name in frame["dataset"].unique()}
    run = ["run"] if "run" in frame else []
    counts = frame.groupby(["dataset", *run], sort=False, observed=True)["fold"].nunique()
    largest = counts.groupby(level=0, sort=False, observed=True).max()
    return {str(name): int(count) if count > 1 else None for name, count in largest.items()}


def _both_algorithms(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[Note]]:
    """Without the data sets that only one algorithm has."""
    algorithms = frame.groupby("dataset", observed=True)["algorithm"].nunique()
    single = [str(name) for name in algorithms.index[algorithms < 2]]
    if not single:
        return frame, []
    if len(single) == len(algorithms):
        raise ScoreTableError(f"No data set has scores of both algorithms (data sets: {first_names(single)}).")
    note = Note(
        DroppedScoresWarning,
        f"{ONE_ALGORITHM_ONLY}: {counted(len(single), 'data set')}: {first_names(single)}.",
    )
    return frame[~frame["dataset"].isin(single)], [note]


def _finite(frame: pd.DataFrame, drop: bool) -> tuple[pd.DataFrame, list[Note]]:
    wrong = ~np.isfinite(frame["score"].to_numpy())
    if not wrong.any():
        return frame, []
    examples = cells_in_words(frame, wrong, "score")
    if not drop:
        raise ScoreTableError(
            f"{wrong.sum()} of {len(frame)} scores are missing or not finite (first: {examples}). "
            "Fill them in, or pass missing='drop' (--drop-unpaired) to leave out the folds that contain them."
        )
    note = Note(
        DroppedScoresWarning,
        f"Dropped as missing or not finite: {counted(int(wrong.sum()), 'score')} (first: {examples}).",
    )
    return frame[~wrong], [note]
