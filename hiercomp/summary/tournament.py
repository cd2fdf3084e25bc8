"""The summary of every pair of many algorithms: as text, for rich, HTML, Markdown, LaTeX, and as a dictionary."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hiercomp.arguments import number_between
from hiercomp.engines import engine_words
from hiercomp.errors import ArgumentError
from hiercomp.pairs.result import LEGEND, SIGNS, TournamentResult
from hiercomp.wording import counted, error_text, latex, markdown, probability_text, shown

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

HEADER = ("algorithm", "expected rank", "95% interval", "P(best)", "better than", "worse than", "equivalent to")
MOST_LISTED = 20  # groups, or pairs in a list
MOST_COLUMNS = 40  # of the table of signs as text
LATEX_SIGNS = {
    "\N{MINUS SIGN}": "$-$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "+": "$+$",
    "=": "$=$",
}


@dataclass(frozen=True, repr=False)
class TournamentSummary:
    """What a paper would report of all pairs, and whether it can be trusted.

    Attributes
    ----------
    title : str
        What was compared.
    conclusion : str
        Who leads, and how many pairs have a verdict.
    alpha : float
        Level of the verdicts.
    ranking : list of dict
        Best first: algorithm, expected_rank, lower, upper, p_best (None where there is no ranking), and the
        numbers of algorithms that it is better than, worse than and equivalent to.
    assumption : str
        What the ranking assumes.
    signs : pandas.DataFrame
        The verdicts as signs, best first.
    counts : dict
        How many pairs have each verdict.
    cliques, equivalent : tuple of tuple of str
        Groups that are not told apart, and groups that are practically equivalent.
    pairs : list of dict
        Every pair: algorithms, data sets, probabilities, error, expected difference, verdict, status.
    computation : str
        Engine, largest error, seed.
    notes : tuple of str
        Every warning.
    status : str
        "ok", "warned" or "failed": the worst of the pairs.
    """

    title: str
    conclusion: str
    alpha: float
    ranking: list[dict[str, Any]]
    assumption: str
    signs: pd.DataFrame
    counts: dict[str, int]
    cliques: tuple[tuple[str, ...], ...]
    equivalent: tuple[tuple[str, ...], ...]
    pairs: list[dict[str, Any]]
    computation: str
    notes: tuple[str, ...]
    status: str

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
            "alpha": self.alpha,
            "ranking": [_plain(row) for row in self.ranking],
            "ranking_assumption": self.assumption,
            "verdicts": {
                row: {column: words[sign] for column, sign in zip(names, table[row], strict=True) if column != row}
                for row in names
            },
            "cliques": [list(group) for group in self.cliques],
            "equivalent_groups": [list(group) for group in self.equivalent],
            "pairs": [_plain(row) for row in self.pairs],
            "computation": self.computation,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        rows = [HEADER, *self._rows(shown)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
        lines = [self.title, "", self.conclusion, ""]
        for row in rows:
            numbers = "  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            lines.append(f"  {row[0].ljust(widths[0])}  {numbers}".rstrip())
        lines += ["", *self._signs_as_text(), "", *(f"  {line}" for line in self._details(shown))]
        if self.notes:
            lines += ["", "Notes:", *(f"  - {note}" for note in self.notes)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<TournamentSummary: {self.title}>"

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        table.add_column(HEADER[0], style="bold")
        for name in HEADER[1:]:
            table.add_column(name, justify="right")
        for row in self._rows(shown):
            table.add_row(*map(Text, row))
        style = {"ok": "bold", "warned": "bold yellow", "failed": "bold red"}[self.status]
        parts: list[Any] = [
            Text(self.title),
            Text(),
            Text(self.conclusion, style=style),
            Text(),
            Padding(table, (0, 2)),
        ]
        parts += [Text(), Text("\n".join(self._signs_as_text()), no_wrap=True), Text()]
        parts += [Padding(Text(line), (0, 2)) for line in self._details(shown)]
        if self.notes:
            parts += [
                Text(),
                Text("Notes:"),
                *(Padding(Text(f"- {note}", style="yellow"), (0, 2)) for note in self.notes),
            ]
        return Group(*parts)

    def _repr_html_(self) -> str:
        escape = html.escape
        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in HEADER)
        body = "".join(
            f"<tr><th scope='row'>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
            for row in self._rows(shown)
        )
        names = [shown(name) for name in self.signs.index]
        columns = "".join(f"<th scope='col'>{escape(name)}</th>" for name in names)
        signs = "".join(
            f"<tr><th scope='row'>{escape(name)}</th>{''.join(f'<td>{escape(sign)}</td>' for sign in row)}</tr>"
            for name, row in zip(names, self.signs.to_numpy(), strict=True)
        )
        details = "".join(f"<li>{escape(line)}</li>" for line in self._details(shown))
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f"<div class='hiercomp-tournament'><p>{escape(self.title)}</p><p><strong>{escape(self.conclusion)}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<table><thead><tr><td></td>{columns}</tr></thead><tbody>{signs}</tbody></table>"
            f"<p><small>{escape(self._legend())}</small></p><ul>{details}</ul>"
            + (f"<p>Notes</p><ul>{notes}</ul>" if notes else "")
            + "</div>"
        )

    def to_markdown(self) -> str:
        """The ranking and the verdicts as Markdown tables, under the conclusion."""
        lines = [markdown(self.conclusion), "", f"| {' | '.join(HEADER)} |", "|---" + "|---:" * (len(HEADER) - 1) + "|"]
        lines += [f"| {' | '.join(map(markdown, row))} |" for row in self._rows(shown)]
        names = [markdown(shown(name)) for name in self.signs.index]
        lines += ["", f"| | {' | '.join(names)} |", "|---" + "|:---:" * len(names) + "|"]
        lines += [
            f"| {name} | {' | '.join(sign or ' ' for sign in row)} |"
            for name, row in zip(names, self.signs.to_numpy(), strict=True)
        ]
        lines += ["", markdown(self._legend()), "", *(f"- {markdown(line)}" for line in self._details(shown))]
        lines += [f"- {markdown(note)}" for note in self.notes]
        return "\n".join(lines)

    def to_latex(self) -> str:
        r"""Two ``tabular`` for booktabs (``\usepackage{booktabs}``), ranking and verdicts; the conclusion is a comment."""
        rows = [" & ".join(map(latex, row)) + r" \\" for row in self._rows(shown)]
        names = [latex(shown(name)) for name in self.signs.index]
        signs = [
            " & ".join([name, *(LATEX_SIGNS.get(sign, sign) for sign in row)]) + r" \\"
            for name, row in zip(names, self.signs.to_numpy(), strict=True)
        ]
        return "\n".join(
            [
                "% " + " ".join(self.conclusion.splitlines()),
                *_tabular("l" + "r" * (len(HEADER) - 1), " & ".join(map(latex, HEADER)), rows),
                "",
                "% " + self._legend(),
                *_tabular("l" + "c" * len(names), " & ".join(["", *names]), signs),
            ]
        )

    def _rows(self, name: Callable[[str], str]) -> list[tuple[str, ...]]:
        rows = []
        for row in self.ranking:
            ranked = row["expected_rank"] is not None
            rows.append(
                (
                    name(row["algorithm"]),
                    f"{row['expected_rank']:.2f}" if ranked else "-",
                    f"{row['lower']:.2f} to {row['upper']:.2f}" if ranked else "-",
                    probability_text(row["p_best"], exact=True) if ranked else "-",
                    *(str(row[verdict]) for verdict in ("better_than", "worse_than", "equivalent_to")),
                )
            )
        return rows

    def _signs_as_text(self) -> list[str]:
        count = len(self.signs)
        if count > MOST_COLUMNS:
            return [
                f"  The table of verdicts of {count} algorithms is in .verdict_signs() and .to_frame() of the result."
            ]
        width, digits = max(len(shown(name)) for name in self.signs.index), len(str(count))
        numbers = range(1, count + 1)
        lines = ["  " + " " * (width + digits + 2) + " ".join(str(number).rjust(digits) for number in numbers)]
        for number, (name, row) in enumerate(zip(self.signs.index, self.signs.to_numpy(), strict=True), start=1):
            cells = ["\\" if place == number else sign or "." for place, sign in enumerate(row, start=1)]
            lines.append(
                f"  {number:>{digits}} {shown(name).ljust(width)} " + " ".join(cell.rjust(digits) for cell in cells)
            )
        return [*(line.rstrip() for line in lines), f"  ({self._legend('.')})"]

    def _legend(self, nothing: str = "blank") -> str:
        seen = {sign for row in self.signs.to_numpy() for sign in row}
        return "; ".join(f"{sign or nothing} {LEGEND[verdict]}" for verdict, sign in SIGNS.items() if sign in seen)

    def _details(self, name: Callable[[str], str]) -> list[str]:
        lines = []
        for title, groups in (
            ("Not told apart (which is no evidence of equivalence)", self.cliques),
            ("Practically equivalent, each two", self.equivalent),
        ):
            listed = [f"{{{', '.join(map(name, group))}}}" for group in groups[:MOST_LISTED]]
            more = f"; and {len(groups) - MOST_LISTED} more groups" if len(groups) > MOST_LISTED else ""
            lines.append(f"{title}: {'; '.join(listed) or 'none'}{more}.")
        undecided = [row for row in self.pairs if row["verdict"] == "undecided"]
        if undecided:
            listed = [f"{name(row['left'])} against {name(row['right'])}" for row in undecided[:MOST_LISTED]]
            lines.append(f"Too close to call: {'; '.join(listed)}{'; ...' if len(undecided) > MOST_LISTED else ''}.")
        return [
            *lines,
            f"Ranking: {self.assumption}" if self.assumption else "Ranking: none.",
            f"Computed by {self.computation}",
        ]


def summarise_pairs(result: TournamentResult, alpha: float = 0.05) -> TournamentSummary:
    """The summary of all pairs at level ``alpha``."""
    alpha = number_between("alpha", alpha, 0, 0.5)
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
        "told apart": int((verdicts == "better").to_numpy().sum()),
        **{verdict: int((verdicts == verdict).to_numpy().sum()) // 2 for verdict in LEGEND if verdict not in WORDS},
        "equivalent": int((verdicts == "equivalent").to_numpy().sum()) // 2,
    }
    groups: list[tuple[tuple[str, ...], ...]] = []
    notes = result.notes
    for found in (result.cliques, result.equivalent_groups):
        try:
            groups.append(tuple(found(alpha)))
        except ArgumentError as error:  # more groups than anyone could read
            groups.append(())
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
    )


RANKED = ("expected_rank", "lower", "upper", "p_best")
WORDS = {"better": "than", "worse": "than", "equivalent": "to"}


def _title(result: TournamentResult) -> str:
    which = "all pairs" if result.baseline is None else f"each against {shown(result.baseline)}"
    return (
        f"{len(result.algorithms)} algorithms, {which} ({counted(len(result.pairs), 'pair')}), "
        f"{counted(len(result.dataset_names), 'data set')}, rope {result.rope}"
    )


def _conclusion(result: TournamentResult, ranks: pd.DataFrame | None, counts: dict[str, int], alpha: float) -> str:
    parts = [f"{counts['told apart']} told apart", f"{counts['equivalent']} practically equivalent"]
    parts += [f"{counts[verdict]} {word}" for verdict, word in OTHERS.items() if counts[verdict]]
    text = f"At the {100 * (1 - alpha):g}% level, of {counted(len(result.pairs), 'pair')}: {', '.join(parts)}."
    if ranks is None:
        return text
    first = ranks.iloc[0]
    return (
        f"{text} {shown(ranks.index[0])} has the best expected rank, {first['expected_rank']:.2f} of {len(ranks)}, and is "
        f"the best on the next data set with probability {probability_text(first['p_best'], exact=True)}."
    )


OTHERS = {"none": "without a verdict", "undecided": "too close to call", "failed": "without a result"}


def _assumption(ranks: pd.DataFrame) -> str:
    return (
        f"{ranks.attrs['assumption']} {counted(ranks.attrs['n_datasets'], 'data set')}, {ranks.attrs['draws']:,} draws, "
        f"Monte Carlo error of a rank at most {error_text(ranks.attrs['expected_rank_error'])}, of a probability "
        f"{error_text(ranks.attrs['p_best_error'])}."
    )


def _computation(result: TournamentResult, frame: pd.DataFrame) -> str:
    largest = frame["error"].max()
    error = "" if math.isnan(largest) else f"; largest error of a probability {error_text(float(largest))}"
    engine = engine_words(result.engine_name, result.engine_version)
    return f"{engine}, seed {result.seed}{error}. No probability is adjusted for the number of pairs."


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


def _tabular(columns: str, header: str, rows: Sequence[str]) -> list[str]:
    frame = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header + r" \\", r"\midrule"]
    return [*frame, *rows, r"\bottomrule", r"\end{tabular}"]
