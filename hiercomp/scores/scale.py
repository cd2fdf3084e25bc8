"""Does the rope fit the scores? Percentages under a rope for fractions, a rope that holds everything, and the like."""

from __future__ import annotations

import numpy as np

from hiercomp.errors import ArgumentError, Note, ScaleWarning, ScoreTableError
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import shown

PERCENTAGE_ROPE = 0.05  # below it, scores between 0 and 100 look like percentages under a rope for fractions
LARGEST_FRACTION = 1 + 1e-9  # an AUC may exceed 1 by rounding
LARGEST_LOG_LOSS = 10.0
SPREAD_RATIO = 100.0  # a data set whose standard deviation is this many times the median


def check_scale(differences: PairedDifferences, rope: Rope) -> list[Note]:
    """Refuse a rope that can't be meant for these scores, and note what looks odd.

    Raises
    ------
    ScoreTableError
        If the scores look like percentages and the rope like one for fractions, or the two scales are mixed.
    ArgumentError
        If the rope is wider than the range of all scores.
    """
    if differences.identical:
        return []
    lowest, highest = float(differences.lowest_score.min()), float(differences.highest_score.max())
    notes = _percentages(differences, rope, lowest, highest)
    width = rope.upper - rope.lower
    if width > highest - lowest:
        raise ArgumentError(
            f"The rope {rope} is wider ({width:g}) than the range of all scores ({lowest:g} to {highest:g}, "
            f"{highest - lowest:g}): everything would be equivalent. Give it in the unit of the scores."
        )
    if rope.lower < -differences.largest_difference and rope.upper > differences.largest_difference:
        notes.append(
            Note(
                ScaleWarning,
                f"The rope {rope} holds every observed difference (the largest is "
                f"{differences.largest_difference:.3g}); is it in the unit of the scores?",
            )
        )
    if differences.higher_is_better and (lowest < 0 or highest > 100):
        notes.append(
            Note(
                ScaleWarning,
                f"Scores range from {lowest:g} to {highest:g} and are taken as higher is better. For a loss or an error "
                "pass higher_is_better=False.",
            )
        )
    return notes + _outlying_spread(differences)


def _percentages(differences: PairedDifferences, rope: Rope, lowest: float, highest: float) -> list[Note]:
    small_rope = 0 < rope.half_width < PERCENTAGE_ROPE
    if lowest < 0 or highest > 100 or highest <= LARGEST_FRACTION:
        return []
    fractions = differences.highest_score <= LARGEST_FRACTION
    if fractions.any() and differences.higher_is_better:
        name = shown(differences.dataset_names[int(np.argmax(fractions))])
        other = shown(differences.dataset_names[int(np.argmin(fractions))])
        message = (
            f"Scores of {fractions.sum()} data sets (first: {name!r}) are at most 1, those of {(~fractions).sum()} others "
            f"(first: {other!r}) reach {highest:g}: fractions and percentages look mixed. Bring them to one scale."
        )
        if small_rope:
            raise ScoreTableError(message)
        return [Note(ScaleWarning, message)]
    if not small_rope:
        return []
    message = (
        f"The scores range from {lowest:g} to {highest:g} and look like percentages, and the rope is {rope.half_width:g} "
        f"percentage points. Did you mean {100 * rope.half_width:g}? Pass that rope, or divide the scores by 100."
    )
    # An error rate in per cent exceeds 10 somewhere; a log-loss, for which the rope may be right, hardly ever does
    if differences.higher_is_better or highest > LARGEST_LOG_LOSS:
        raise ScoreTableError(message)
    return [Note(ScaleWarning, message)]


def _outlying_spread(differences: PairedDifferences) -> list[Note]:
    spread = differences.standard_deviation[~differences.constant]
    names = [
        name for name, constant in zip(differences.dataset_names, differences.constant, strict=True) if not constant
    ]
    if len(spread) < 3:
        return []
    ratio = spread / np.median(spread)
    worst = int(np.argmax(ratio))
    if ratio[worst] < SPREAD_RATIO:
        return []
    return [
        Note(
            ScaleWarning,
            f"The differences of data set {shown(names[worst])!r} vary {ratio[worst]:.0f} times as much as the median "
            "data set's. Check its scores, and compare with a fit without it.",
        )
    ]
