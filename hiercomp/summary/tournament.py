"""The summary of a tournament: who leads, the ranking, the verdict of every pair, groups and warnings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hiercomp.arguments import verdict_level
from hiercomp.document import Document, Documented, Table, json_value
from hiercomp.engines import engine_words
from hiercomp.errors import ArgumentError
from hiercomp.pairs.tournament import LEGEND, SIGNS
from hiercomp.scores.scale import LOG
from hiercomp.wording import (
    SMALLEST_SHOWN,
    counted,
    error_text,
    metric_words,
    probability_text,
    ropes_in_words,
    shown,
)

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.pairs.tournament import Tournament

NO_VERDICT, ITSELF = ".", "\\"  # cells of the table of signs that would be blank
HEADER = ("algorithm", "expected rank", "95% interval", "P(best)", "better than", "worse than", "equivalent to")
TOO_MANY_GROUPS = "too many groups to list"
MOST_LISTED = 20  # groups, or pairs in a list
MOST_COLUMNS = 40  # of the table of signs


@dataclass(frozen=True, repr=False)
class TournamentSummary(Documented):
    """What a paper would report about all pairs, and whether it can be trusted.

    Attributes
    ----------
    title : str
        What was compared.
    conclusion : str
        Who leads, and how many pairs have a verdict.
    alpha : float
        Level of the verdicts.
    ranking : list of dict
        Best first: algorithm, expected_rank, lower, upper, p_best (None if there is no ranking), and the numbers of
        algorithms it is better than, worse than and equivalent to.
    assumption : str
        What the ranking assumes.
    signs : pandas.DataFrame
        The verdicts as signs, best first.
    counts : dict
        How many pairs have each verdict.
    cliques, equivalent : tuple of tuple of str, or None
        Groups of indistinguishable algorithms, and groups in which every pair is practically equivalent; None if they
        are too many to list.
    pairs : list of dict
        Every pair: algorithms, data sets, probabilities, error, expected difference, verdict, status.
    computation : str
        Engine, largest error, seed.
    notes : tuple of str
        Every warning.
    status : str
        "ok", "warned" or "failed": the worst of the pairs.
    measure : str or None
        The name of the measure, if the table has one.
    higher_is_better : bool
        Whether the metric is a gain (True) or a loss.
    transform : {"log", "rope"} or None
        "log" if differences are logs of ratios, "rope" if they are in units of each data set's rope.
    ropes : dict
        The rope of each data set in its metric's own unit, if each has its own; else empty.
    """

    title: str
    conclusion: str
    alpha: float
    ranking: list[dict[str, Any]]
    assumption: str
    signs: pd.DataFrame
    counts: dict[str, int]
    cliques: tuple[tuple[str, ...], ...] | None
    equivalent: tuple[tuple[str, ...], ...] | None
    pairs: list[dict[str, Any]]
    computation: str
    notes: tuple[str, ...]
    status: str
    measure: str | None = None
    higher_is_better: bool = True
    transform: str | None = None
    ropes: dict[str, float] = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """The ranking with each algorithm's numbers of verdicts, best first."""
        import pandas as pd

        return pd.DataFrame(self.ranking).set_index("algorithm")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; nothing is infinite or NaN."""
        names = [str(name) for name in self.signs.index]
        words = {sign: verdict for verdict, sign in SIGNS.items()}
        table = dict(zip(names, self.signs.to_numpy().tolist(), strict=True))
        return {
            "title": self.title,
            "conclusion": self.conclusion,
            "status": self.status,
            "measure": self.measure,
            "higher_is_better": self.higher_is_better,
            "transform": self.transform,
            "ropes": self.ropes,
            "alpha": self.alpha,
            "ranking": json_value(self.ranking),
            "ranking_assumption": self.assumption,
            "verdicts": {
                row: {column: words[sign] for column, sign in zip(names, table[row], strict=True) if column != row}
                for row in names
            },
            "cliques": _as_lists(self.cliques),
            "equivalent_groups": _as_lists(self.equivalent),
            "pairs": json_value(self.pairs),
            "computation": self.computation,
            "notes": list(self.notes),
        }

    def document(self) -> Document:
        """The ranking, the verdicts as signs, the groups and every warning."""
        return Document(
            self.title,
            self.conclusion,
            (self._ranking_table(), *self._signs_table()),
            self._details(),
            self.notes,
            self.status,
        )

    def __repr__(self) -> str:
        return f"<TournamentSummary: {self.title}>"

    def _ranking_table(self) -> Table:
        rows = []
        for row in self.ranking:
            ranked = row["expected_rank"] is not None
            rows.append(
                (
                    shown(row["algorithm"]),
                    f"{row['expected_rank']:.2f}" if ranked else "-",
                    f"{row['lower']:.2f} to {row['upper']:.2f}" if ranked else "-",
                    probability_text(row["p_best"]) if ranked else "-",
                    *(str(row[verdict]) for verdict in ("better_than", "worse_than", "equivalent_to")),
                )
            )
        return Table(HEADER, tuple(rows))

    def _signs_table(self) -> tuple[Table, ...]:
        """The signs under the algorithms' numbers; empty if there are too many for a page."""
        if len(self.signs) > MOST_COLUMNS:
            return ()
        rows = []
        for number, (name, signs) in enumerate(zip(self.signs.index, self.signs.to_numpy(), strict=True), start=1):
            cells = [sign or NO_VERDICT for sign in signs]
            cells[number - 1] = ITSELF
            rows.append((f"{number} {shown(name)}", *cells))
        drawn = {cell for row in rows for cell in row[1:]}
        legend = "; ".join(
            f"{sign or NO_VERDICT} {LEGEND[verdict]}"
            for verdict, sign in SIGNS.items()
            if (sign or NO_VERDICT) in drawn
        )
        header = ("", *(str(number) for number in range(1, len(rows) + 1)))
        return (Table(header, tuple(rows), legend=legend),)

    def _groups_in_words(self) -> str:
        words = ["which is no evidence of equivalence"]
        if self.counts["failed"]:
            words.append("pairs without a result count as indistinguishable")
        if self.counts["not compared"]:
            words.append("only pairs with the baseline were compared")
        return "; ".join(words)

    def _details(self) -> tuple[str, ...]:
        lines = []
        if len(self.signs) > MOST_COLUMNS:
            lines.append(
                f"The table of verdicts of {len(self.signs)} algorithms is in .verdict_signs() and .to_frame() of the "
                "result."
            )
        for title, groups in (
            (f"Indistinguishable ({self._groups_in_words()})", self.cliques),
            ("Practically equivalent, every pair of a group", self.equivalent),
        ):
            if groups is None:
                lines.append(f"{title}: {TOO_MANY_GROUPS}.")
                continue
            listed = [f"{{{', '.join(map(shown, group))}}}" for group in groups[:MOST_LISTED]]
            more = f"; and {len(groups) - MOST_LISTED} more groups" if len(groups) > MOST_LISTED else ""
            lines.append(f"{title}: {'; '.join(listed) or 'none'}{more}.")
        undecided = [row for row in self.pairs if row["verdict"] == "undecided"]
        if undecided:
            listed = [f"{shown(row['left'])} against {shown(row['right'])}" for row in undecided[:MOST_LISTED]]
            lines.append(f"Too close to call: {'; '.join(listed)}{'; ...' if len(undecided) > MOST_LISTED else ''}.")
        lines += [f"{line}." for line in ropes_in_words(self.ropes)]
        if self.transform == LOG:
            lines.append("Differences are logs of the ratio of the scores: 0.01 is about 1%.")
        return (
            *lines,
            f"Ranking: {self.assumption}" if self.assumption else "Ranking: none.",
            f"Computed by {self.computation}",
        )


def _as_lists(groups: tuple[tuple[str, ...], ...] | None) -> list[list[str]] | None:
    return None if groups is None else [list(group) for group in groups]


def summarise_tournament(result: Tournament, alpha: float = 0.05) -> TournamentSummary:
    """The summary of all pairs at level ``alpha``."""
    alpha = verdict_level(alpha)
    verdicts, frame = result.verdicts(alpha), result.to_frame(alpha)
    ranks = result.ranking() if result.standings.dataset_names else None
    places = {} if ranks is None else {str(row["algorithm"]): row for row in ranks.reset_index().to_dict("records")}
    ranking = []
    for name, words in zip(result.algorithms, verdicts.to_numpy().tolist(), strict=True):
        numbers = {column: None if ranks is None else float(places[name][column]) for column in RANKED}
        tally = {f"{verdict}_{word}": words.count(verdict) for verdict, word in WORDS.items()}
        ranking.append({"algorithm": name} | numbers | tally)
    ranking.sort(key=lambda row: result.order().index(str(row["algorithm"])))
    counts = {
        "better": int((verdicts == "better").to_numpy().sum()),
        **{verdict: int((verdicts == verdict).to_numpy().sum()) // 2 for verdict in LEGEND if verdict not in WORDS},
        "equivalent": int((verdicts == "equivalent").to_numpy().sum()) // 2,
    }
    groups: list[tuple[tuple[str, ...], ...] | None] = []
    notes = result.notes
    for found in (result.cliques, result.equivalent_groups):
        try:
            groups.append(tuple(found(alpha)))
        except ArgumentError as error:  # more groups than anyone could read
            groups.append(None)
            notes = (*notes, str(error))
    return TournamentSummary(
        title=_title(result),
        conclusion=_conclusion(result, ranks, counts, alpha),
        alpha=alpha,
        ranking=ranking,
        assumption="" if ranks is None else _assumption(ranks),
        signs=result.verdict_signs(alpha),
        counts=counts,
        cliques=groups[0],
        equivalent=groups[1],
        pairs=[{str(name): value for name, value in row.items()} for row in frame.to_dict("records")],
        computation=_computation(result, frame),
        notes=notes,
        status=result.status,
        measure=result.measure,
        higher_is_better=result.higher_is_better,
        transform=result.transform,
        ropes=result.ropes,
    )


RANKED = ("expected_rank", "lower", "upper", "p_best")
WORDS = {"better": "than", "worse": "than", "equivalent": "to"}


def _title(result: Tournament) -> str:
    which = "all pairs" if result.baseline is None else f"each against {shown(result.baseline)}"
    return (
        f"{len(result.algorithms)} algorithms, {which} ({counted(len(result.pairs), 'pair')}), "
        f"{counted(len(result.dataset_names), 'data set')}, rope {result.rope}, "
        f"{metric_words(result.measure, result.higher_is_better, result.transform)}"
    )


def _conclusion(result: Tournament, ranks: pd.DataFrame | None, counts: dict[str, int], alpha: float) -> str:
    parts = [f"{counts['better']} with a better algorithm", f"{counts['equivalent']} practically equivalent"]
    parts += [f"{counts[verdict]} {word}" for verdict, word in OTHERS.items() if counts[verdict]]
    text = f"Of {counted(len(result.pairs), 'pair')} at the {100 * (1 - alpha):g}% level: {', '.join(parts)}."
    if ranks is None:
        return text
    first, likeliest = ranks.iloc[0], ranks["p_best"].idxmax()
    chance, largest = (probability_text(value) for value in (first["p_best"], ranks["p_best"].max()))
    shared = ranks.attrs["n_datasets"]
    few = f" (on {counted(shared, 'data set')})" if shared < len(result.dataset_names) else ""
    headed = (
        f"{text} {shown(ranks.index[0])} has the best expected rank, {first['expected_rank']:.2f} of {len(ranks)}{few}"
    )
    if first["p_best"] == ranks["p_best"].max():
        return f"{headed}, and is the best on the next data set with probability {chance}."
    return (
        f"{headed}; {shown(likeliest)} is more often the best on the next data set, with probability {largest} against "
        f"{chance}."
    )


OTHERS = {"none": "without a verdict", "undecided": "too close to call", "failed": "without a result"}


def _assumption(ranks: pd.DataFrame) -> str:
    return (
        f"{ranks.attrs['assumption']} {counted(ranks.attrs['n_datasets'], 'data set')}, {ranks.attrs['draws']:,} draws, "
        f"Monte Carlo error of a rank {_bound(ranks.attrs['expected_rank_error'])}, of a probability "
        f"{_bound(ranks.attrs['p_best_error'])}."
    )


def _bound(error: float) -> str:
    """ "at most 0.004", or "below 0.001"."""
    return f"below {SMALLEST_SHOWN}" if 0 < error < SMALLEST_SHOWN else f"at most {error_text(error)}"


def _computation(result: Tournament, frame: pd.DataFrame) -> str:
    largest = frame["error"].max()
    error = "" if math.isnan(largest) else f"; largest error of a probability {error_text(float(largest))}"
    engine = engine_words(result.engine_name, result.engine_version)
    return f"{engine}, seed {result.seed}{error}. No probability is adjusted for the number of pairs."
