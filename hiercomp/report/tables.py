"""The tables of the report: each cell as a person reads it, beside the number itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hiercomp.rope import REGIONS
from hiercomp.wording import error_text, probability_text, shown

if TYPE_CHECKING:
    from hiercomp.closed_form.side_by_side import ClosedFormTests
    from hiercomp.comparison import ComparisonResult
    from hiercomp.posterior.diagnostics import Diagnostics
    from hiercomp.posterior.influence import Influence
    from hiercomp.posterior.sensitivity import Sensitivity

ABSENT = "–"
MINUS = "\N{MINUS SIGN}"  # which screen readers say, unlike a hyphen
LARGEST_FIXED, SMALLEST_FIXED = 1e6, 1e-6  # beyond them numbers are written with a power of ten
MEANINGS = {
    "R-hat": "Compares the chains with each other; above 1.01 they have not mixed.",
    "bulk ESS": "How many independent draws the correlated ones are worth for the centre of the distribution.",
    "tail ESS": "The same for the tails, on which intervals depend.",
    "divergences": "Trajectories that could not follow the posterior; with any, it may be biased.",
    "E-BFMI": "Energy: below 0.3 the tails are explored too slowly.",
    "integration error": "How far a probability may be from its integral, judged by a coarser grid.",
}


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
        As a person reads it.
    value : float or None
        The number itself; None where the cell is no number, or there is none.
    numeric : bool
        Whether it stands in a column of numbers.
    """

    text: str
    value: float | None = None
    numeric: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    cells : tuple of Cell
        The first names the row.
    region : str
        "left", "rope" or "right" where the row is about one of them, else empty.
    """

    cells: tuple[Cell, ...]
    region: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption.

    Attributes
    ----------
    key : str
        Its place in the page, and the start of its ids.
    caption : str
    columns : tuple of str
    rows : tuple of Row
    legend : str
        What the columns mean, shown below.
    sortable : bool
    """

    key: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    legend: str = ""
    sortable: bool = False

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers."""
        return tuple(any(row.cells[place].numeric for row in self.rows) for place in range(len(self.columns)))


def words(text: object) -> Cell:
    """A cell of text; control characters are shown."""
    return Cell(shown(text))


def number(value: float, text: str) -> Cell:
    """A cell of a number that is written as ``text``."""
    if not math.isfinite(value):
        return Cell(ABSENT if math.isnan(value) else "infinite", None, numeric=True)
    return Cell(text.replace("-", MINUS), float(value), numeric=True)


def probability(value: float | None, exact: bool = False) -> Cell:
    """A probability, or the lack of one."""
    if value is None or not math.isfinite(value):
        return Cell(ABSENT, None, numeric=True)
    return number(value, probability_text(value, exact))


def column(values: Iterable[float]) -> list[Cell]:
    """Numbers of one unit with the same decimals, four digits in the largest."""
    numbers = [float(value) for value in values]
    largest = max((abs(value) for value in numbers if math.isfinite(value)), default=0.0)
    if largest and not SMALLEST_FIXED <= largest < LARGEST_FIXED:
        return [number(value, f"{value:.3e}") for value in numbers]
    decimals = max(0, 3 - math.floor(math.log10(largest))) if largest else 0
    texts = [f"{value:.{decimals}f}" for value in numbers]
    return [
        number(value, f"{float(text):.{decimals}f}" if float(text) else text.lstrip("-"))
        for value, text in zip(numbers, texts, strict=True)
    ]


def outcomes(result: ComparisonResult) -> dict[str, str]:
    """The regions in words: "tree better", "practically equivalent"."""
    return {region: shown(result.outcome(region)) for region in REGIONS}


def next_dataset_table(result: ComparisonResult) -> Table:
    """The probabilities of the three outcomes on the next data set, with their errors."""
    seen, names, error = result.next_dataset, outcomes(result), result.posterior.error_words
    rows = [
        Row(
            (
                words(names[region]),
                probability(seen.probabilities[region], seen.exact),
                number(seen.errors[f"p_{region}"], error_text(seen.errors[f"p_{region}"])),
                probability(seen.expected[region], seen.exact),
                number(seen.errors[f"expected_{region}"], error_text(seen.errors[f"expected_{region}"])),
            ),
            region,
        )
        for region in REGIONS
    ]
    return Table(
        "probabilities",
        "Outcomes on the next data set.",
        ("Outcome", "Probability", "Error", "Expected", "Error of expected"),
        tuple(rows),
        "Probability: that this outcome is the likeliest one on the next data set. Expected: the chance that it happens "
        f"there. Error: {error.name}, {error.source}.",
    )


def odds_table(result: ComparisonResult) -> Table | None:
    """The posterior odds of the three pairs of outcomes; None where nothing was sampled."""
    names = outcomes(result)
    rows = []
    for odds in result.odds():
        text = ABSENT if math.isnan(odds.value) else str(odds).rsplit(" (", 1)[0]
        pair = (words(names[odds.favoured]), words(names[odds.against]))
        rows.append(Row((*pair, number(odds.value, text), words(odds.grade)), odds.favoured))
    if not rows:
        return None
    return Table(
        "odds",
        "Posterior odds.",
        ("Favoured", "Against", "Odds", "Evidence"),
        tuple(rows),
        "1 to 3 weak, 3 to 20 positive, above 20 strong (Raftery 1995). “>” is a bound: "
        f"{result.posterior.error_words.bound}.",
    )


def population_table(result: ComparisonResult) -> Table:
    """Centre, spread and degrees of freedom of the population of data sets."""
    meanings = {
        "delta0": "centre: the mean difference over data sets",
        "sigma0": "spread of the data sets' mean differences",
        "nu": "degrees of freedom: small values mean data sets far from the rest",
    }
    frame = result.population()
    rows = []
    for name, row in frame.iterrows():
        cells = column(row[["mean", "sd", "lower", "upper"]])
        rows.append(Row((words(name), *cells, words(meanings[str(name)]))))
    return Table(
        "population",
        "Parameters of the population of data sets: posterior mean, standard deviation and central 95% interval.",
        ("Parameter", "Mean", "SD", "Lower", "Upper", "Meaning"),
        tuple(rows),
    )


def datasets_table(result: ComparisonResult) -> Table:
    """Each data set; without a posterior where the computation failed."""
    frame, names = result.datasets(), outcomes(result)
    plain = {"mean": "Mean", "sd": "SD", "n": "Scores", "rho": "rho"}
    posterior = {"posterior_mean": "Posterior mean", "lower": "Lower", "upper": "Upper"}
    failed, exact = result.status == "failed", result.differences.identical
    units = [column(frame[["mean"] if failed else ["mean", "posterior_mean", "lower", "upper"]].to_numpy().ravel())]
    width = 1 if failed else 4
    moments = [units[0][start : start + width] for start in range(0, len(units[0]), width)]
    deviations = column(frame["sd"])
    rows = []
    for place, (name, row) in enumerate(frame.iterrows()):
        mean, *rest = moments[place]
        cells = [
            words(name),
            mean,
            deviations[place],
            number(row["n"], f"{row['n']:.0f}"),
            number(row["rho"], f"{row['rho']:.3g}"),
        ]
        if not failed:
            cells += [*rest, *(probability(row[f"p_{region}"], exact) for region in REGIONS)]
        rows.append(Row(tuple(cells)))
    columns = ["Data set", *plain.values()]
    legend = (
        f"Mean and SD: of the score differences, {shown(result.right)} minus {shown(result.left)}"
        f"{'' if result.differences.higher_is_better else ' with the sign turned, since lower scores are better'}. "
    )
    if failed:
        legend += "There is no posterior, since the computation failed."
    else:
        columns += [*posterior.values(), *(f"P({names[region]})" for region in REGIONS)]
        legend += (
            "Posterior mean, lower and upper: of the mean difference in the hierarchical model, with its central 95% "
            "interval. P: share of the draws in which the mean difference lies on that side of the rope, or in it."
        )
    return Table("datasets", "The data sets, one in each row.", tuple(columns), tuple(rows), legend, sortable=True)


def diagnostics_table(diagnostics: Diagnostics) -> Table | None:
    """Each check with what it means; None where there is none."""
    rows = []
    for name, row in diagnostics.to_frame().iterrows():
        value = float(row["value"])
        texts = {"R-hat": f"{value:.3f}", "E-BFMI": f"{value:.2f}", "integration error": f"{value:.1e}"}
        text = texts.get(str(name), f"{value:,.0f}")
        limit = str(row["threshold"]).replace("<=", "at most").replace(">=", "at least")
        cells = (words(name), number(value, text), words(limit), words("passes" if row["passes"] else "fails"))
        rows.append(Row((*cells, words(row["worst"] or ABSENT), words(MEANINGS[str(name)]))))
    if not rows:
        return None
    columns = ("Check", "Value", "Needed", "Result", "Worst parameter", "Meaning")
    return Table("diagnostics", diagnostics.caption, columns, tuple(rows), diagnostics.remark)


def attempts_table(result: ComparisonResult) -> Table | None:
    """The runs of the sampler, where there was more than one or the last failed."""
    attempts = result.attempts
    if not attempts or (len(attempts) < 2 and result.status != "failed"):
        return None
    rows = []
    for place, attempt in enumerate(attempts, start=1):
        numbers = (attempt.centred, attempt.noncentred, attempt.warmup, attempt.draws)
        cells = [number(value, f"{value:,}") for value in numbers]
        failures = "; ".join(attempt.failures) or "none"
        name = words(f"{place}. {attempt.purpose}")
        rows.append(Row((name, *cells, number(attempt.adapt_delta, f"{attempt.adapt_delta:g}"), words(failures))))
    return Table(
        "attempts",
        "Runs of the sampler; the last one counts.",
        ("Run", "Centred", "Not centred", "Warmup", "Draws", "adapt_delta", "Failed checks"),
        tuple(rows),
        "Centred and not centred: number of data sets in each parameterisation. Warmup and draws: of each chain.",
    )


def closed_form_table(table: ClosedFormTests, exact: bool) -> Table:
    """The answers of the other tests; ``exact`` says that nothing was sampled, since the scores are identical."""
    left, right = map(shown, table.algorithms)
    rows = []
    for row in table.rows:
        values = [probability(value, exact) for value in (row.p_left, row.p_rope, row.p_right, row.pvalue)]
        rows.append(Row((words(row.test), *values, words(row.says), words(row.does_not_say))))
    return Table(
        "closed-form-tests",
        "The same scores under other tests.",
        (
            "Test",
            f"P({left} better)",
            "P(equivalent)",
            f"P({right} better)",
            "p",
            "What it says",
            "What it does not say",
        ),
        tuple(rows),
    )


def sensitivity_table(sensitivity: Sensitivity) -> Table:
    """The verdict under each variant."""
    left, right = map(shown, sensitivity.algorithms)
    rows = []
    for name, row in sensitivity.to_frame().iterrows():
        values = [probability(row[f"p_{region}"]) for region in REGIONS]
        error = number(row["error"], error_text(row["error"]))
        changed = "changed" if row["changed"] else "the same"
        rows.append(Row((words(name), *values, error, words(row["verdict"]), words(changed), words(row["status"]))))
    rows = [Row((*rows[0].cells[:6], words(ABSENT), rows[0].cells[7])), *rows[1:]]  # nothing to compare itself with
    return Table(
        "sensitivity",
        "The verdict under other priors on nu, other correlations rho, and other bounds.",
        (
            "Variant",
            f"P({left} better)",
            "P(equivalent)",
            f"P({right} better)",
            "Error",
            "Verdict",
            "Compared",
            "Status",
        ),
        tuple(rows),
        f"Verdicts at the {100 * (1 - sensitivity.alpha):g}% level. Error: the largest of the row.",
    )


def influence_table(influence: Influence) -> Table:
    """The probabilities without each data set, the most influential first."""
    left, right = map(shown, influence.algorithms)
    frame = influence.to_frame()
    changes = frame[[f"change_p_{region}" for region in REGIONS]].abs().max(axis=1)
    frame = frame.loc[changes.sort_values(ascending=False, kind="stable", na_position="last").index]
    rows = []
    for name, row in frame.iterrows():
        values = [probability(row[f"p_{region}"]) for region in REGIONS]
        largest = max((row[f"change_p_{region}"] for region in REGIONS), key=lambda value: abs(value))
        cells = (words(name), *values, number(largest, f"{largest:+.3f}"), number(row["k_hat"], f"{row['k_hat']:.2f}"))
        rows.append(Row((*cells, words("refit" if row["refitted"] else "weights"))))
    return Table(
        "influence",
        "The probabilities without each data set, the one that matters most first.",
        ("Left out", f"P({left} better)", "P(equivalent)", f"P({right} better)", "Largest change", "k-hat", "By"),
        tuple(rows),
        "k-hat: Pareto shape of the importance weights; above 0.7 they are not reliable and the model was fitted again.",
        sortable=True,
    )


def numbered(tables: Sequence[Table | None]) -> dict[str, tuple[int, Table]]:
    """The tables that there are, by key, with their numbers."""
    present = [table for table in tables if table is not None]
    return {table.key: (place, table) for place, table in enumerate(present, start=1)}
