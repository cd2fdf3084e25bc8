"""The summary of a comparison: as text, for rich, HTML, Markdown, LaTeX, and as a frame or dictionary."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hiercomp.posterior.next_dataset import Decision, NextDataset, Odds
from hiercomp.rope import REGIONS, Rope
from hiercomp.wording import error_text, latex, markdown, probability_text, shown

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

    from hiercomp.comparison import ComparisonResult

HEADER = ("On the next data set", "probability", "error", "expected", "error")
LEGEND = "probability: that this outcome is the likeliest; expected: mean chance of this outcome; error: {}"


@dataclass(frozen=True)
class Summary:
    """What a paper would report of a comparison, and whether it can be trusted.

    Attributes
    ----------
    conclusion : str
        One sentence that claims no more than the decision.
    left, right : str
        The algorithms.
    rope : Rope
    n_datasets, n_scores : int
        Number of data sets and of paired scores.
    status : str
        "ok", "warned" or "failed".
    next_dataset : NextDataset or None
        None where the status is "failed".
    decision : Decision or None
    odds : tuple of Odds
    population : dict
        Posterior mean, sd and 95% interval of delta0, sigma0 and nu.
    computation : str
        Engine, run lengths, seed and diagnostics.
    diagnostics : dict
    notes : tuple of str
        Every warning.
    outcomes : dict from region to str
        The regions in words.
    error_name : str
        How the errors are called.
    """

    conclusion: str
    left: str
    right: str
    rope: Rope
    n_datasets: int
    n_scores: int
    status: str
    next_dataset: NextDataset | None
    decision: Decision | None
    odds: tuple[Odds, ...]
    population: dict[str, dict[str, float]]
    computation: str
    diagnostics: dict[str, Any]
    notes: tuple[str, ...]
    outcomes: dict[str, str] = field(repr=False)
    error_name: str = field(repr=False)

    @property
    def legend(self) -> str:
        """What the columns are."""
        return LEGEND.format(self.error_name)

    @property
    def title(self) -> str:
        """What was compared."""
        return (
            f"{shown(self.left)} against {shown(self.right)}: {self.n_datasets} data sets, {self.n_scores:,} paired scores, "
            f"rope {self.rope}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each region: outcome, probability, its error, expected probability, its error.

        Where the status is "failed" the numbers are missing.
        """
        import pandas as pd

        seen = self.next_dataset
        rows = [
            {
                "outcome": self.outcomes[region],
                "probability": math.nan if seen is None else seen.probabilities[region],
                "probability_error": math.nan if seen is None else seen.errors[f"p_{region}"],
                "expected": math.nan if seen is None else seen.expected[region],
                "expected_error": math.nan if seen is None else seen.errors[f"expected_{region}"],
            }
            for region in REGIONS
        ]
        return pd.DataFrame(rows, index=pd.Index(REGIONS, name="region"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; nothing is infinite or NaN."""
        decision = self.decision
        return {
            "left": self.left,
            "right": self.right,
            "rope": [self.rope.lower, self.rope.upper],
            "n_datasets": self.n_datasets,
            "n_scores": self.n_scores,
            "status": self.status,
            "conclusion": self.conclusion,
            "next_dataset": None if self.next_dataset is None else self.next_dataset.to_dict(),
            "decision": None
            if decision is None
            else {"region": decision.region, "probability": decision.probability, "alpha": decision.alpha},
            "odds": [
                {
                    "favoured": odds.favoured,
                    "against": odds.against,
                    "value": None if math.isnan(odds.value) else odds.value,
                    "is_bound": odds.is_bound,
                    "grade": odds.grade,
                }
                for odds in self.odds
            ],
            "population": self.population,
            "computation": self.computation,
            "diagnostics": {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in self.diagnostics.items()
            },
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        rows = [(shown(row[0]), *row[1:]) for row in self._cells()]
        widths = [max(len(row[column]) for row in [HEADER, *rows]) for column in range(len(HEADER))]
        lines = [self.title, "", self.conclusion, ""]
        for row in [HEADER, *rows]:
            numbers = "  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            lines.append(f"  {row[0].ljust(widths[0])}  {numbers}".rstrip())
        lines += [f"  ({self.legend})", "", *(f"  {line}" for line in self._details())]
        if self.notes:
            lines += ["", "Notes:", *(f"  - {note}" for note in self.notes)]
        return "\n".join(lines)

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        table.add_column(HEADER[0], style="bold")
        for name in HEADER[1:]:
            table.add_column(name, justify="right", style="dim" if name == "error" else "")
        colours = {"left": "dark_orange", "rope": "bright_black", "right": "dodger_blue2"}
        for region, row in zip(REGIONS, self._cells(), strict=True):
            table.add_row(Text(shown(row[0]), style=colours[region]), *row[1:])
        style = {"ok": "bold", "warned": "bold yellow", "failed": "bold red"}[self.status]
        parts: list[Any] = [
            Text(self.title),
            Text(),
            Text(self.conclusion, style=style),
            Text(),
            Padding(table, (0, 2)),
        ]
        parts.append(Padding(Text(f"({self.legend})", style="dim"), (0, 2)))
        parts += [Text(), *(Padding(Text(line), (0, 2)) for line in self._details())]
        if self.notes:
            parts += [
                Text(),
                Text("Notes:"),
                *(Padding(Text(f"- {note}", style="yellow"), (0, 2)) for note in self.notes),
            ]
        return Group(*parts)

    def _repr_html_(self) -> str:
        escape = html.escape
        head = "".join(f"<th scope='col'>{name}</th>" for name in HEADER)
        body = "".join(
            f"<tr><th scope='row'>{escape(shown(row[0]))}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
            for row in self._cells()
        )
        details = "".join(f"<li>{escape(line)}</li>" for line in self._details())
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f"<div class='hiercomp-summary'><p>{escape(self.title)}</p><p><strong>{escape(self.conclusion)}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p><small>{self.legend}</small></p><ul>{details}</ul>"
            + (f"<p>Notes</p><ul>{notes}</ul>" if notes else "")
            + "</div>"
        )

    def to_markdown(self) -> str:
        """A Markdown table under the conclusion."""
        lines = [
            markdown(self.conclusion),
            "",
            f"| {' | '.join(HEADER)} |",
            "|---|---:|---:|---:|---:|",
        ]
        lines += ["| " + " | ".join([markdown(shown(row[0])), *map(markdown, row[1:])]) + " |" for row in self._cells()]
        if self.notes:
            lines += ["", *(f"- {markdown(note)}" for note in self.notes)]
        return "\n".join(lines)

    def to_latex(self) -> str:
        r"""A ``tabular`` for booktabs (``\usepackage{booktabs}``), with the conclusion as a comment above it."""
        comment = "% " + " ".join(self.conclusion.splitlines())
        rows = [" & ".join([latex(shown(row[0])), *map(latex, row[1:])]) + r" \\" for row in self._cells()]
        return "\n".join(
            [
                comment,
                r"\begin{tabular}{lrrrr}",
                r"\toprule",
                " & ".join(HEADER) + r" \\",
                r"\midrule",
                *rows,
                r"\bottomrule",
                r"\end{tabular}",
            ]
        )

    def _cells(self) -> list[tuple[str, str, str, str, str]]:
        seen = self.next_dataset
        if seen is None:
            return [(self.outcomes[region], "-", "-", "-", "-") for region in REGIONS]
        return [
            (
                self.outcomes[region],
                probability_text(seen.probabilities[region], seen.exact),
                error_text(seen.errors[f"p_{region}"]),
                probability_text(seen.expected[region], seen.exact),
                error_text(seen.errors[f"expected_{region}"]),
            )
            for region in REGIONS
        ]

    def _details(self) -> list[str]:
        lines = []
        if self.next_dataset is not None:
            positive = probability_text(self.next_dataset.p_positive, exact=self.next_dataset.exact)
            lines.append(f"Probability that {shown(self.right)} is better on average: {positive}")
            for odds in self.odds:
                pair = f"{shown(self.outcomes[odds.favoured])} against {shown(self.outcomes[odds.against])}"
                lines.append(f"Odds, {pair}: {odds}")
        for name, row in self.population.items():
            lines.append(f"{name}: {row['mean']:.3g}, 95% interval [{row['lower']:.3g}, {row['upper']:.3g}]")
        return [*lines, f"Computation {self.status}: {self.computation}"]


def summarise(result: ComparisonResult, alpha: float) -> Summary:
    """The summary of a result, with the decision at level ``alpha``."""
    failed = result.status == "failed"
    decision = None if failed else result.decision(alpha)
    names = {region: shown(result.outcome(region)) for region in REGIONS}
    return Summary(
        conclusion=_conclusion(result, decision, names),
        left=result.left,
        right=result.right,
        rope=result.rope,
        n_datasets=len(result.differences.dataset_names),
        n_scores=int(result.differences.n.sum()),
        status=result.status,
        next_dataset=None if failed else result.next_dataset,
        decision=decision,
        odds=() if failed else result.odds(),
        population={} if failed else {str(name): dict(row) for name, row in result.population().T.to_dict().items()},
        computation=result.posterior.computation,
        diagnostics=result.diagnostics.to_dict(),
        notes=result.notes,
        outcomes={region: result.outcome(region) for region in REGIONS},
        error_name=result.posterior.error_words.name,
    )


def _conclusion(result: ComparisonResult, decision: Decision | None, names: dict[str, str]) -> str:
    left, right = shown(result.left), shown(result.right)
    if decision is None:
        return f"No verdict: the computation failed its checks ({'; '.join(result.diagnostics.failures)})."
    if result.differences.identical:
        return f"{left} and {right} have identical scores on every fold: {names[decision.most_probable]}."
    probability = probability_text(decision.probability)
    level = f"{100 * (1 - decision.alpha):g}%"
    if decision.region == "none":
        return (
            f"No verdict at the {level} level: the likeliest outcome on the next data set, {names[decision.most_probable]}, "
            f"has probability {probability}."
        )
    if decision.region == "undecided":
        error = result.posterior.error_words
        advice = f"; {error.remedy}" if error.remedy else ""
        return (
            f"Undecided: the probability of {names[decision.most_probable]} on the next data set, {probability}, is within "
            f"three {error.short} errors of {1 - decision.alpha:g}{advice}."
        )
    if decision.region == "rope":
        claim = f"{left} and {right} are practically equivalent (difference within {result.rope})"
    else:
        better, worse = (left, right) if decision.region == "left" else (right, left)
        margin = -result.rope.lower if decision.region == "left" else result.rope.upper
        claim = f"{better} is better than {worse}" + (f" by more than {margin:g}" if margin else "")
        if margin < 0:  # a rope beside zero: the region holds differences of both signs
            claim = f"{worse} is not better than {better} by more than {-margin:g}"
    return f"The likeliest outcome on the next data set is that {claim} (probability {probability})."
