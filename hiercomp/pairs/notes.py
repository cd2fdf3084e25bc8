"""The notes of a tournament: what the ranking leaves out, failed pairs, and each kind of warning of the pairs once."""

from __future__ import annotations

from collections.abc import Sequence

from hiercomp.errors import DroppedScoresWarning, HiercompWarning, Note
from hiercomp.pairs.fits import FailedPair
from hiercomp.posterior.fit import Fit
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.wording import EXAMPLES_SHOWN, counted, shown


def ranking_notes(arrays: ScoreArrays, ranked: int) -> list[Note]:
    """Why the ranking leaves out data sets, or why there is none."""
    if ranked == len(arrays.dataset_names):
        return []
    if ranked == 0:
        return [Note(DroppedScoresWarning, "No data set has scores of every algorithm: there is no ranking.")]
    text = (
        f"The ranking uses the {counted(ranked, 'data set')} of {len(arrays.dataset_names)} on which every algorithm has at "
        "least two common scores."
    )
    return [Note(DroppedScoresWarning, text)]


def gathered(pairs: Sequence[Fit | FailedPair], of_table: Sequence[Note]) -> list[Note]:
    """The warnings of the pairs, with those of one kind merged, without those of the whole table."""
    kinds: dict[tuple[type[HiercompWarning], str, bool], list[tuple[str, str]]] = {}
    of_all = {note.text for note in of_table}
    failed = [(in_words(pair.left, pair.right), pair.reason) for pair in pairs if isinstance(pair, FailedPair)]
    for pair in pairs:
        if isinstance(pair, FailedPair):
            continue
        for note in (*pair.differences.notes, *pair.fit_notes, *pair.bound_notes):
            if note.key != "absent_datasets" and note.text not in of_all:  # said of all algorithms at once
                kind = (note.category, note.key, note.quiet)
                kinds.setdefault(kind, []).append((in_words(pair.left, pair.right), note.text))
    notes = []
    if failed:
        text = f"{counted(len(failed), 'pair')} of {len(pairs)} can't be compared: {_examples(failed)}"
        notes.append(Note(HiercompWarning, text))
    for (category, _, quiet), found in kinds.items():
        name, text = found[0]
        if len(found) < len(pairs) or len({message for _, message in found}) > 1:
            first = f"first: {name}" if len(found) > 1 else name
            text = f"{counted(len(found), 'pair')} of {len(pairs)} ({first}): {text}"
        notes.append(Note(category, text, quiet=quiet))
    return notes


def _examples(failed: Sequence[tuple[str, str]]) -> str:
    listed = " ".join(f"{name}: {reason}" for name, reason in failed[:EXAMPLES_SHOWN])
    more = len(failed) - EXAMPLES_SHOWN
    return listed + (f" And {counted(more, 'more pair')}." if more > 0 else "")


def in_words(left: str, right: str) -> str:
    """The name of a pair in messages."""
    return f"{shown(left)} against {shown(right)}"
