"""The record of a tournament: the fits of every pair, and what they say together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import verdict_level
from hiercomp.errors import ArgumentError, Note
from hiercomp.model.priors import Priors
from hiercomp.pairs.cliques import maximal_groups
from hiercomp.pairs.fits import FailedPair
from hiercomp.pairs.ranking import DRAWS, Standings, expected_ranks
from hiercomp.posterior.fit import Fit
from hiercomp.rope import REGIONS, Rope
from hiercomp.wording import nearest_name, normal_name, shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.scores.moments import ScoreMoments

Verdict = Literal["better", "worse", "equivalent", "none", "undecided", "failed", "not compared"]

# The sign of each verdict in a table: what the row is to the column
SIGNS: dict[Verdict, str] = {
    "better": "+",
    "worse": "\N{MINUS SIGN}",
    "equivalent": "=",
    "none": "",
    "undecided": "?",
    "failed": "\N{MULTIPLICATION SIGN}",
    "not compared": "\N{MIDDLE DOT}",
}
LEGEND = {
    "better": "row better",
    "worse": "column better",
    "equivalent": "practically equivalent",
    "none": "no verdict",
    "undecided": "too close to call",
    "failed": "no result",
    "not compared": "not compared",
}
MIRRORED: dict[Verdict, Verdict] = {"better": "worse", "worse": "better"}


@dataclass(frozen=True, eq=False, repr=False)
class Tournament:
    """The comparisons of every pair of many algorithms, or of every algorithm with a baseline.

    The record of a tournament; immutable. Its square frames compare the row with the column:
    ``better().loc["a", "b"]`` is the probability that a is better than b.

    The attributes are those of ``hiercomp.TournamentResult``, which adds the summary, the plots and the report; here
    ``pairs`` may hold plain fits.
    """

    algorithms: tuple[str, ...]
    dataset_names: tuple[str, ...]
    pairs: tuple[Fit | FailedPair, ...]
    standings: Standings
    rope: Rope
    priors: Priors
    higher_is_better: bool
    baseline: str | None
    engine_name: str
    engine_version: str
    seed: int
    all_notes: tuple[Note, ...] = ()
    measure: str | None = None
    transform: str | None = None
    moments: ScoreMoments | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Every warning, as text."""
        return tuple(note.text for note in self.all_notes)

    @property
    def ropes(self) -> dict[str, float]:
        """The rope of each data set in its metric's own unit, if each has its own; else empty."""
        pairs = [pair.differences.ropes_by_name for pair in self.pairs if not isinstance(pair, FailedPair)]
        return {name: rope for ropes in pairs for name, rope in ropes.items()}

    @property
    def status(self) -> Literal["ok", "warned", "failed"]:
        """ "failed": some pair has no result, or its computation failed; "warned": some pair's status is "warned"."""
        found = {pair.status for pair in self.pairs}
        return "failed" if "failed" in found else "warned" if "warned" in found else "ok"

    def pair(self, left: str, right: str) -> Fit:
        """The comparison of a pair, with everything a single comparison has.

        Raises
        ------
        ArgumentError
            If the pair was not compared, or is stored with the other algorithm on the left: swapping them would reverse
            the sign of every difference, so it is left to you.
        """
        left, right = normal_name(left), normal_name(right)
        found = self._entry(left, right)
        if found is None:
            raise ArgumentError(
                f"{shown(left)!r} was not compared with {shown(right)!r}: only pairs with the baseline "
                f"{shown(self.baseline)!r} were."
            )
        if found.left != left:
            raise ArgumentError(
                f"This pair is kept as result.pair({shown(found.left)!r}, {shown(found.right)!r}), with {shown(found.left)} "
                "on the left. Ask for it in this order; verdict() and the square tables take either."
            )
        if isinstance(found, FailedPair):
            raise ArgumentError(f"{shown(left)} against {shown(right)} has no result: {found.reason}")
        return found

    def better(self) -> pd.DataFrame:
        """P(row better): the probability that "row better" is the most likely outcome on the next data set.

        NaN on the diagonal and for pairs that failed or were not compared.
        """
        return self._square(lambda pair: pair.next_dataset.p_left, lambda pair: pair.next_dataset.p_right)

    def equivalent(self) -> pd.DataFrame:
        """P(practically equivalent) on the next data set; symmetric."""
        return self._square(lambda pair: pair.next_dataset.p_rope, lambda pair: pair.next_dataset.p_rope)

    def expected_difference(self) -> pd.DataFrame:
        """Posterior mean of the mean difference, row minus column in the metric's units: above zero the row is better.

        For a loss the sign is reversed, so above zero is better there too.
        """
        return self._square(lambda pair: -pair.expected_difference, lambda pair: pair.expected_difference)

    def odds(self) -> pd.DataFrame:
        """Posterior odds P(row better) / P(column better); see ``ComparisonResult.odds`` of a pair for bounds and grades.

        If one of the two is zero, the value is a bound; NaN if both are, and for identical algorithms.
        """
        return self._square(lambda pair: _odds(pair, "left"), lambda pair: _odds(pair, "right"))

    def verdict(self, row: str, column: str, alpha: float = 0.05) -> Verdict:
        """How the row compares with the column at level ``alpha``.

        "better", "worse" or "equivalent" with a probability above 1 - alpha; "none" without; "undecided" if that is too
        close to call; "failed" if the pair has no result; "not compared" if there is a baseline and the pair is without
        it.
        """
        row, column = normal_name(row), normal_name(column)
        found = self._entry(row, column)
        if found is None:
            return "not compared"
        if isinstance(found, FailedPair) or found.status == "failed":
            return "failed"
        names: dict[str, Verdict] = {"left": "better", "rope": "equivalent", "right": "worse", "undecided": "undecided"}
        verdict = names.get(found.decision(alpha).region, "none")
        return verdict if found.left == row else MIRRORED.get(verdict, verdict)

    def verdicts(self, alpha: float = 0.05) -> pd.DataFrame:
        """`verdict` of the row against the column, in words; "" on the diagonal."""
        import pandas as pd

        verdict_level(alpha)
        rows = [
            ["" if row == column else self.verdict(row, column, alpha) for column in self.algorithms]
            for row in self.algorithms
        ]
        names = list(self.algorithms)
        return pd.DataFrame(rows, index=pd.Index(names, name="algorithm"), columns=names)

    def verdict_signs(self, alpha: float = 0.05) -> pd.DataFrame:
        """The verdicts as signs, best algorithm first; its ``attrs["legend"]`` says what each sign means."""
        words = self.verdicts(alpha).loc[list(self.order()), list(self.order())]
        table = words.replace({str(verdict): sign for verdict, sign in SIGNS.items()})
        table.attrs["legend"] = {SIGNS[verdict]: LEGEND[verdict] for verdict in SIGNS if SIGNS[verdict]}
        return table

    def to_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """One row for each pair: everything as numbers.

        Columns left, right, n_datasets, p_left, p_rope, p_right and the largest of their errors,
        expected_difference (above 0 the right algorithm is better), verdict (in words), status.
        """
        import pandas as pd

        rows = []
        for pair in self.pairs:
            failed = isinstance(pair, FailedPair) or pair.status == "failed"
            names = (*(f"p_{region}" for region in REGIONS), "error", "expected_difference")
            numbers = dict.fromkeys(names, np.nan)
            verdict = "failed"
            if not isinstance(pair, FailedPair) and not failed:
                seen, decision = pair.next_dataset, pair.decision(alpha)
                numbers = {f"p_{region}": seen.probabilities[region] for region in REGIONS}
                numbers["error"] = seen.largest_error
                numbers["expected_difference"] = pair.expected_difference
                words = {"none": "no verdict", "undecided": "undecided"}
                verdict = words.get(decision.region) or pair.outcome(decision.region)
            count = len(pair.differences.dataset_names) if not isinstance(pair, FailedPair) else 0
            rows.append(
                {"left": pair.left, "right": pair.right, "n_datasets": count}
                | numbers
                | {"verdict": verdict, "status": pair.status}
            )
        return pd.DataFrame(rows)

    def ranking(self, *, draws: int = DRAWS, seed: int | None = None) -> pd.DataFrame:
        """Posterior expected rank of each algorithm with its 95% interval, and P(best on the next data set); best first.

        Computed from the joint posterior of all algorithms' mean scores on each data set that all of them share; the
        next data set is drawn from those. See `hiercomp.expected_ranks`, and ``attrs["assumption"]``.

        Parameters
        ----------
        draws : int
        seed : int, optional
            By default that of the result.
        """
        if draws == DRAWS and seed is None:
            return self._ranking.copy()
        return expected_ranks(self.standings, draws=draws, seed=self.seed if seed is None else seed)

    def order(self) -> tuple[str, ...]:
        """The algorithms, best expected rank first; without a ranking, by their mean P(better) - P(worse)."""
        if self.standings.dataset_names:
            return tuple(self._ranking.index)
        balance = (self.better() - self.better().T).mean(axis=1).fillna(0.0)
        return tuple(balance.sort_values(ascending=False, kind="stable").index)

    def cliques(self, alpha: float = 0.05) -> list[tuple[str, ...]]:
        """The largest groups within which no algorithm is better than another at level ``alpha``.

        The members are indistinguishable, which is no evidence that they are equivalent: see `equivalent_groups`. Pairs
        without a result count as indistinguishable; pairs that were not compared join no group.

        Returns
        -------
        list of tuple of str
            Each group and the list begin with the best; every group has at least two members, and none is part of
            another.
        """
        return self._groups(alpha, ("equivalent", "none", "undecided", "failed"))

    def equivalent_groups(self, alpha: float = 0.05) -> list[tuple[str, ...]]:
        """The largest groups in which every pair is practically equivalent at level ``alpha``; see `cliques`."""
        return self._groups(alpha, ("equivalent",))

    @cached_property
    def _ranking(self) -> pd.DataFrame:
        return expected_ranks(self.standings, seed=self.seed)

    @cached_property
    def _places(self) -> dict[frozenset[str], int]:
        return {frozenset((pair.left, pair.right)): place for place, pair in enumerate(self.pairs)}

    def _entry(self, one: str, other: str) -> Fit | FailedPair | None:
        for name in (one, other):
            if name not in self.algorithms:
                raise ArgumentError(
                    f"{shown(name)!r} is not an algorithm of this result.{nearest_name(name, self.algorithms)} They are in "
                    ".algorithms."
                )
        if one == other:
            raise ArgumentError(f"{shown(one)!r} can't be compared with itself; name two algorithms.")
        place = self._places.get(frozenset((one, other)))
        return None if place is None else self.pairs[place]

    def _square(self, forward: Callable[[Fit], float], backward: Callable[[Fit], float]) -> pd.DataFrame:
        """A square frame of a value of each pair, in both directions."""
        import pandas as pd

        number = {name: place for place, name in enumerate(self.algorithms)}
        square = np.full((len(number), len(number)), np.nan)
        for pair in self.pairs:
            if not isinstance(pair, FailedPair) and pair.status != "failed":
                square[number[pair.left], number[pair.right]] = forward(pair)
                square[number[pair.right], number[pair.left]] = backward(pair)
        names = list(self.algorithms)
        return pd.DataFrame(square, index=pd.Index(names, name="algorithm"), columns=names)

    def _groups(self, alpha: float, joined: tuple[Verdict, ...]) -> list[tuple[str, ...]]:
        words = self.verdicts(alpha).loc[list(self.order()), list(self.order())]
        alike: NDArray[np.bool_] = words.isin(joined).to_numpy(dtype=bool)
        return [tuple(self.order()[place] for place in group) for group in maximal_groups(alike)]

    def __repr__(self) -> str:
        against = "all pairs" if self.baseline is None else f"against {shown(self.baseline)}"
        return (
            f"<{type(self).__name__}: {len(self.algorithms)} algorithms, {against}, {len(self.dataset_names)} data sets, "
            f"rope {self.rope}, status {self.status}>"
        )


def _odds(pair: Fit, favoured: str) -> float:
    """The odds of one algorithm over the other, whichever is favoured."""
    for odds in pair.odds():
        if {odds.favoured, odds.against} == {"left", "right"}:
            return odds.value if odds.favoured == favoured else 1 / odds.value
    return float("nan")
