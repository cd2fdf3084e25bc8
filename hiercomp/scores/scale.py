"""The scale of the scores: which rope fits it, the default rope, and what looks like a mistake."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.errors import Argument, ArgumentError, ScaleWarning
from hiercomp.rope import Rope, RopesLike
from hiercomp.scores.problems import TableProblem
from hiercomp.scores.ropes import is_for_each_dataset
from hiercomp.wording import counted, shown

LOG = "log"  # the transform after which differences are logs of ratios
IN_ROPES = "rope"  # that after which they are in units of each data set's rope
DEFAULT_HALF_WIDTH = 0.01
LARGEST_FRACTION = 1 + 1e-9  # an AUC may exceed 1 by rounding
PERCENTAGE_ROPE = 0.05  # up to it, the rope of scores that look like percentages is one for fractions
LARGEST_PERCENT, TYPICAL_PERCENT = 20.0, 10.0  # the largest score and the median above which they look like percentages
MAGNITUDES_APART = 100.0  # sizes of two data sets' scores whose ratio is above this may have different units
SMALLEST_SUGGESTION = 1e-300  # below it a number has fewer digits
SHARE_OF_A_SCORE = 0.01  # the suggested rope; for accuracies, whose rope is 0.01 by default, it is about the same


@dataclass(frozen=True, eq=False)
class Scale:
    """The range of the scores of each data set, and what is known of their measure.

    Attributes
    ----------
    dataset_names : tuple of str, length q
    lowest, highest, median : ndarray, shape (q,)
        Of the scores of each data set, all finite.
    higher_is_better : bool
    direction_known : bool
        Whether the caller, the table or the name of the measure says the direction; it is otherwise assumed.
    transform : {"log", "rope"} or None
        "log" if these are logs of scores, "rope" if each score was divided by the rope of its data set.
    """

    dataset_names: tuple[str, ...]
    lowest: FloatArray
    highest: FloatArray
    median: FloatArray
    higher_is_better: bool
    direction_known: bool = False
    transform: str | None = None

    @property
    def low(self) -> float:
        """The lowest score."""
        return float(self.lowest.min())

    @property
    def high(self) -> float:
        """The highest score."""
        return float(self.highest.max())

    @property
    def fractions(self) -> bool:
        """Whether every score lies in [0, 1]."""
        return self.transform is None and self.low >= 1 - LARGEST_FRACTION and self.high <= LARGEST_FRACTION

    @property
    def percentages(self) -> bool:
        """Whether the scores lie in [0, 100], and the largest and the median are those of percentages."""
        inside = self.transform is None and self.low >= 0 and LARGEST_PERCENT < self.high <= 100
        return inside and float(np.median(self.median)) > TYPICAL_PERCENT

    @property
    def mixed(self) -> bool:
        """Whether some data sets look like fractions, all others like percentages, and none lies between."""
        small = self.highest <= LARGEST_FRACTION
        large = self.median > TYPICAL_PERCENT
        inside = self.transform is None and self.low >= 0 and self.high <= 100
        return bool(inside and small.any() and large.any() and (small | large).all())

    @property
    def sizes(self) -> FloatArray:
        """The size of a typical score of each data set: its median, or half the range if they surround zero."""
        return np.asarray(np.maximum(np.abs(self.median), (self.highest - self.lowest) / 2))

    @property
    def extreme_sizes(self) -> tuple[int, int] | None:
        """The data sets with the smallest and the largest scores, if these are so far apart that units may differ."""
        sizes = self.sizes
        if self.transform is not None or self.fractions or not (sizes > 0).any():
            return None
        smallest, largest = int(np.where(sizes > 0, sizes, np.inf).argmin()), int(sizes.argmax())
        return (smallest, largest) if sizes[largest] > MAGNITUDES_APART * sizes[smallest] else None

    @property
    def suggested_half_width(self) -> float:
        """About a hundredth of a typical score: 1, 2 or 5 times a power of ten."""
        sizes = self.sizes
        width = SHARE_OF_A_SCORE * float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 0.0
        return round_number(width) if width > SMALLEST_SUGGESTION else 0.0

    def rope(self, rope: RopesLike | None) -> Rope:
        """The rope given, or the default of 0.01 if every score lies in [0, 1]; [-1, 1] in units of each data set's rope.

        Raises
        ------
        ArgumentError
            If none is given for scores on another scale; the message suggests one.
        """
        if self.transform == IN_ROPES and (rope is None or is_for_each_dataset(rope)):
            return Rope(-1.0, 1.0)
        if rope is not None:
            return Rope.of(rope)  # which refuses one for each data set
        if self.fractions:
            return Rope.of(DEFAULT_HALF_WIDTH)
        holds = f"the default rope of {DEFAULT_HALF_WIDTH:g} is only for scores between 0 and 1"
        message = f"The scores range from {self.low:g} to {self.high:g}, and {holds}."
        width = f"{self.suggested_half_width:g}"
        if self.transform is not None:
            message = "Logs of scores have no default rope."
            remedy = "Pass rope=0.01 (--rope 0.01) for a ratio of about 1%."
        elif self.mixed and self.higher_is_better:
            message = (
                f"{self._mixed_in_words} The default rope of {DEFAULT_HALF_WIDTH:g} is only for scores between 0 and 1."
            )
            remedy = "Convert them to one scale, or pass a rope in the unit of the scores (--rope)."
        elif self.percentages and self.higher_is_better:
            message = f"The scores range from {self.low:g} to {self.high:g} and look like percentages; {holds}."
            remedy = "Pass rope=1 (--rope 1) for one percentage point, or divide the scores by 100."
        elif (apart := self.extreme_sizes) is not None and self.low > 0:
            ratio = float(self.sizes[apart[1]]) / float(self.sizes[apart[0]])
            remedy = (
                f"They differ {short_number(ratio)}-fold in size between data sets, so no rope is the same margin on all. "
                "Compare ratios with transform='log', rope=0.01 (--transform log --rope 0.01) for about 1%, or pass a rope "
                f"for each data set: {self._example_of_ropes}."
            )
        else:
            example = f", such as rope={width} (--rope {width}), about a hundredth of a typical score" * (width != "0")
            remedy = f"Pass the margin that makes no practical difference, in the unit of the scores{example}."
        widths = (int(width) if width.isdecimal() else float(width), 1, 0.01)
        arguments = (Argument("transform", "log"), *(Argument("rope", one) for one in widths))
        raise ArgumentError(message, remedy=remedy, key="default_rope", arguments=arguments)

    def problems(self, rope: Rope | None) -> Iterator[TableProblem]:
        """What looks like a mistake, none of it an error: a rope that was given is an answer.

        Parameters
        ----------
        rope : Rope or None
            None if it is not known yet.
        """
        if self.higher_is_better:
            yield from self._percentages(rope)
        if rope is not None and rope.upper - rope.lower > self.high - self.low:
            covers_all = min(-rope.lower, rope.upper) >= self.high - self.low
            yield TableProblem(
                ScaleWarning,
                f"The rope {rope} is wider ({rope.upper - rope.lower:g}) than the range of all scores ({self.low:g} to "
                f"{self.high:g}, {self.high - self.low:g}){': everything is equivalent' if covers_all else ''}.",
                "Is it in the unit of the scores?",
                key="wide_rope",
            )
        guessed = self.higher_is_better and not self.direction_known and self.transform is None
        if guessed and (self.low < 0 or self.high > 100):
            yield TableProblem(
                ScaleWarning,
                f"Scores range from {self.low:g} to {self.high:g} and are treated as higher-is-better.",
                "For a loss or an error pass higher_is_better=False (--lower-is-better).",
                key="unlikely_gain",
                arguments=(Argument("higher_is_better", False),),
            )
        if not self.higher_is_better and self.transform is None and self.low < 0 and self.high <= 0:
            yield TableProblem(
                ScaleWarning,
                f"Scores range from {self.low:g} to {self.high:g} and are treated as lower-is-better.",
                "If they are losses with the sign reversed, as scikit-learn's scorers give them, pass higher_is_better=True "
                "(--higher-is-better).",
                key="reversed_loss",
                arguments=(Argument("higher_is_better", True),),
            )
        yield from self._units(rope)

    def _percentages(self, rope: Rope | None) -> Iterator[TableProblem]:
        if self.mixed:
            small = zip(self.dataset_names, self.highest <= LARGEST_FRACTION, strict=True)
            names = tuple(name for name, is_small in small if is_small)
            remedy = "If they are, convert them to one scale."
            yield TableProblem(ScaleWarning, self._mixed_in_words, remedy, names, "mixed_scales")
        elif self.percentages:
            message = f"The scores range from {self.low:g} to {self.high:g} and look like percentages"
            if rope is None:
                remedy = "Give the rope in percentage points (1 for one point), or divide the scores by 100."
                yield TableProblem(ScaleWarning, f"{message}.", remedy, key="percentages")
            elif 0 < rope.half_width <= PERCENTAGE_ROPE:
                yield TableProblem(
                    ScaleWarning,
                    f"{message}, and the rope is {rope.half_width:g} percentage points.",
                    f"Did you mean {100 * rope.half_width:g}? Pass that rope, or divide the scores by 100.",
                    key="percentages",
                )

    @property
    def _mixed_in_words(self) -> str:
        small = self.highest <= LARGEST_FRACTION
        first, other = (shown(self.dataset_names[int(place)]) for place in (np.argmax(small), np.argmin(small)))
        count = int((~small).sum())
        return (
            f"Scores of {counted(int(small.sum()), 'data set')} (first: {first!r}) are at most 1, those of {count} "
            f"{'others' if count > 1 else 'other'} (first: {other!r}) reach {self.high:g}: fractions and percentages look "
            "mixed."
        )

    @property
    def _example_of_ropes(self) -> str:
        """A hundredth of a typical score of the data sets that are furthest apart in size."""
        apart = self.extreme_sizes
        assert apart is not None
        ropes = {
            shown(self.dataset_names[place]): round_number(SHARE_OF_A_SCORE * self.sizes[place]) for place in apart
        }
        return (
            f"rope={{{', '.join(f'{name!r}: {rope:g}' for name, rope in ropes.items())}, ...}} (--rope NAME=WIDTH,...)"
        )

    def _units(self, rope: Rope | None) -> Iterator[TableProblem]:
        """Data sets whose scores are so far apart in size that a common rope means little."""
        if self.extreme_sizes is None or self.mixed:
            return
        places = self.extreme_sizes
        small, large = (float(self.sizes[place]) for place in places)
        one, other = (shown(self.dataset_names[place]) for place in places)
        message = (
            f"The scores differ {short_number(large / small)}-fold in size between data sets, from about "
            f"{short_number(small)} ({one!r}) to about {short_number(large)} ({other!r})"
        )
        if rope is not None and rope.half_width:
            shares = [f"{short_number(100 * rope.half_width / size)}%" for size in (small, large)]
            message += (
                f": the rope's half-width of {rope.half_width:g} is {shares[0]} of a typical score of the first and "
                f"{shares[1]} of one of the second"
            )
        remedy = f"If their units differ, pass a rope for each data set: {self._example_of_ropes}."
        if self.low > 0:
            remedy = (
                "If their units differ, compare ratios: transform='log' (--transform log); a rope of 0.01 is about 1%. Or "
                f"pass a rope for each data set: {self._example_of_ropes}."
            )
        names = tuple(self.dataset_names[place] for place in places)
        logs = (Argument("transform", "log"),)
        yield TableProblem(ScaleWarning, f"{message}.", remedy, names, "different_units", arguments=logs)


def short_number(value: float) -> str:
    """About two digits, without an exponent where a number is large.

    Examples
    --------
    >>> short_number(44_871.0), short_number(0.00577), short_number(173.4), short_number(2.3e-7)
    ('45,000', '0.0058', '170', '2.3e-07')
    """
    return f"{float(f'{value:.2g}'):,.0f}" if 100 <= value < 1e9 else f"{value:.2g}"


def round_number(value: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, by ratio.

    Examples
    --------
    >>> round_number(0.0071), round_number(33.0), round_number(8.0)
    (0.01, 50.0, 10.0)
    """
    power = math.floor(math.log10(value))
    near = min((1, 2, 5, 10), key=lambda digit: abs(math.log(digit * 10.0**power / value)))
    return float(f"{near}e{power}")
