"""The tables of the reports, with each cell formatted for reading."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hiercomp.pairs.fits import FailedPair
from hiercomp.rope import REGIONS
from hiercomp.scores.scale import LOG
from hiercomp.wording import (
    MINUS,
    OWN_ROPES,
    error_text,
    outcome_words,
    probability_text,
    reading_order,
    shown,
    unit_words,
    with_minus,
)

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.closed_form.side_by_side import ClosedFormTests
    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.diagnostics import Diagnostics
    from hiercomp.posterior.effects import Effects
    from hiercomp.posterior.fit import Fit
    from hiercomp.posterior.influence import Influence
    from hiercomp.posterior.population_check import PopulationCheck
    from hiercomp.posterior.sensitivity import Sensitivity
    from hiercomp.summary.scores_table import ScoresTable

ABSENT = "–"
LARGEST_FIXED, SMALLEST_FIXED = 1e6, 1e-6  # beyond them numbers are written with a power of ten
MEANINGS = {
    "R-hat": "Compares the chains with each other; above 1.01 they have not mixed.",
    "bulk ESS": "How many independent draws the correlated ones are worth for the centre of the distribution.",
    "tail ESS": "The same for the tails, on which intervals depend.",
    "divergences": "Trajectories that could not follow the posterior; if there are any, the draws may be biased.",
    "E-BFMI": "Energy: below 0.3 the tails are explored too slowly.",
    "distance": "Between the integral and the draws, in combined errors, at the quantity where it is largest.",
    "integration error": "Estimated error of a probability, from a coarser grid.",
}
FORMATS = {"R-hat": ".3f", "E-BFMI": ".2f", "integration error": ".1e", "distance": ".1f"}
LONGEST_OPEN = 25  # rows of a table that is not folded
POSTERIOR = {"posterior_mean": "Posterior mean", "lower": "Lower", "upper": "Upper"}
VERDICTS = {"none": "no verdict", "equivalent": "practically equivalent", "failed": "no result"}


@dataclass(frozen=True)
class Table:
    """A table with a caption.

    Attributes
    ----------
    key : str
        Its place on the page, and the prefix of its ids.
    caption : str
    columns : tuple of str
        The first names the rows.
    rows : tuple of tuple of str
    legend : str
        What the columns mean, shown below.
    words : tuple of str
        Columns of words, besides the first; the others are numbers.
    regions : tuple of str
        "left", "rope" or "right" for each row; empty if the rows are about something else.
    bold : tuple of tuple of bool
        Which cells stand out; empty for none.
    folded : bool
        Whether the table is closed until it is clicked, because it is long.
    """

    key: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: str = ""
    words: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    bold: tuple[tuple[bool, ...], ...] = ()
    folded: bool = False


def number(value: float, text: str) -> str:
    """A number that is written as ``text``."""
    if not math.isfinite(value):
        return ABSENT if math.isnan(value) else "infinite"
    return text.replace("-", MINUS)


def probability(value: float | None, exact: bool = False) -> str:
    """A probability, or a mark for a missing one."""
    return ABSENT if value is None or math.isnan(value) else probability_text(value, exact)


def column(values: Iterable[float]) -> list[str]:
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


def next_dataset_table(result: Fit) -> Table:
    """The probabilities of the three outcomes on the next data set, with their errors."""
    inference, error = result.next_dataset, result.posterior.error_words
    rows = [
        (
            name,
            probability(inference.probabilities[region], inference.exact),
            error_text(inference.errors[f"p_{region}"]),
            probability(inference.expected[region], inference.exact),
            error_text(inference.errors[f"expected_{region}"]),
        )
        for region, name in outcome_words(shown(result.left), shown(result.right)).items()
    ]
    return Table(
        "probabilities",
        "Outcomes on the next data set.",
        ("Outcome", "Probability", "Error", "Expected", "Error of expected"),
        tuple(rows),
        "Probability: posterior probability that this outcome is the most likely one on the next data set. Expected: "
        f"average probability of the outcome itself. Error: {error.name}, {error.source}.",
        regions=REGIONS,
    )


def odds_table(result: Fit) -> Table | None:
    """The posterior odds of the three pairs of outcomes; None if the scores are identical."""
    names = outcome_words(shown(result.left), shown(result.right))
    odds = result.odds()
    if not odds:
        return None
    bound = result.posterior.error_words.bound
    return Table(
        "odds",
        "Posterior odds.",
        ("Favoured", "Against", "Odds", "Evidence"),
        tuple((names[each.favoured], names[each.against], number(each.value, each.text), each.grade) for each in odds),
        f"1 to 3 weak, 3 to 20 positive, above 20 strong (Corani et al. 2017, after Raftery 1995). "
        f"“>” marks a bound: {bound}.",
        words=("Against", "Evidence"),
        regions=tuple(each.favoured for each in odds),
    )


def population_table(result: Fit) -> Table:
    """Centre, spread and degrees of freedom or concentration of the population of data sets."""
    varying = result.differences.covariates is not None
    meanings = {
        "delta0": f"centre: the mean difference over data sets{', at the mean of the covariates' if varying else ''}",
        "sigma0": f"spread of the data sets' mean differences{', beyond what the covariates explain' if varying else ''}",
        "nu": "degrees of freedom: small values mean data sets far from the rest",
        "concentration": "of the mixture: the larger, the more components have data sets",
    }
    frame, given = result.population(), result.differences
    first, second = (given.right, given.left) if given.higher_is_better else (given.left, given.right)
    rows = []
    for name, row in frame.iterrows():
        cells = column(row[["mean", "sd", "lower", "upper"]])
        rows.append((str(name), *cells, meanings[str(name)]))
    return Table(
        "population",
        "Parameters of the population of data sets: posterior mean, standard deviation and central 95% interval.",
        ("Parameter", "Mean", "SD", "Lower", "Upper", "Meaning"),
        tuple(rows),
        f"Centre and spread are in {unit_words(given.measure, given.transform)}. Centre: {shown(first)} {MINUS} "
        f"{shown(second)}; above 0, {shown(result.right)} is better.",
        words=("Meaning",),
    )


def datasets_table(result: Fit) -> Table:
    """Each data set; without a posterior if the computation failed."""
    frame, failed, exact = result.datasets(), result.status == "failed", result.differences.identical
    frame = frame.iloc[sorted(range(len(frame)), key=lambda place: reading_order(str(frame.index[place])))]
    turned = "" if result.differences.higher_is_better else " with the sign reversed, because lower scores are better"
    of = "differences of the scores' logs" if result.differences.transform == LOG else "score differences"
    unit = f", in {OWN_ROPES}" if "rope" in frame else ""
    legend = f"Mean and SD: of the {of}, {shown(result.right)} minus {shown(result.left)}{turned}{unit}. "
    names = ["mean"] if failed else ["mean", "posterior_mean", "lower", "upper"]
    same_unit = column(frame[names].to_numpy().ravel())
    moments = {name: same_unit[place :: len(names)] for place, name in enumerate(names)}
    columns = {"Data set": [shown(name) for name in frame.index]}
    scores = dict(zip(result.differences.dataset_names, result.differences.paired_scores.tolist(), strict=True))
    if result.differences.n_scores is not None:
        legend += "SD: of as many independent differences as the likelihood takes from the groups. "
    if "rope" in frame:
        legend += "Rope and difference: in the unit of the scores. "
        columns |= {"Rope": [f"{rope:g}" for rope in frame["rope"]]}
        columns |= {"Difference": [with_minus(f"{mean:.3g}") for mean in frame["metric_mean"]]}
    columns |= {
        "Mean": moments["mean"],
        "SD": column(frame["sd"]),
        "Scores": [f"{scores[name]:,}" for name in frame.index],
        "rho": [f"{rho:.3g}" for rho in frame["rho"]],
    }
    if failed:
        legend += "There is no posterior, because the computation failed."
    else:
        columns |= {name: moments[key] for key, name in POSTERIOR.items()}
        for region, name in outcome_words(shown(result.left), shown(result.right)).items():
            columns[f"P({name})"] = [probability(value, exact) for value in frame[f"p_{region}"]]
        legend += (
            "Posterior mean, lower and upper: of the mean difference in the hierarchical model, with its central 95% "
            "interval. P: share of the draws in which the mean difference lies on that side of the rope, or in it."
        )
    rows = tuple(zip(*columns.values(), strict=True))
    return Table("datasets", "The data sets, one per row.", tuple(columns), rows, legend)


def mean_scores_table(scores: ScoresTable, algorithms: Sequence[str] | None = None) -> Table:
    """Mean and standard deviation of each algorithm on each data set; of some of the algorithms if they are named."""
    given = scores.table()
    places = [0, *(scores.algorithms.index(name) + 1 for name in algorithms or scores.algorithms)]
    rows = tuple(tuple(row[place].replace("-", MINUS) if place else row[0] for place in places) for row in given.rows)
    return Table(
        "scores",
        f"{scores.title}.",
        tuple(given.header[place] if place else "Data set" for place in places),
        rows,
        f"{scores.legend} Mean ranks: 1 is the best.",
        bold=tuple(tuple(row[place] for place in places) for row in given.bold),
        folded=len(rows) > LONGEST_OPEN,
    )


def diagnostics_table(diagnostics: Diagnostics) -> Table | None:
    """Each check and its meaning; None if there is none."""
    rows = []
    for name, row in diagnostics.to_frame().iterrows():
        value = float(row["value"])
        text = format(value, FORMATS.get(str(name), ",.0f"))
        limit = str(row["threshold"]).replace("<=", "at most").replace(">=", "at least")
        passes = "passes" if row["passes"] else "fails"
        rows.append((str(name), number(value, text), limit, passes, row["worst"] or ABSENT, MEANINGS[str(name)]))
    if not rows:
        return None
    columns = ("Check", "Value", "Needed", "Result", "Worst parameter", "Meaning")
    return Table("diagnostics", diagnostics.caption, columns, tuple(rows), diagnostics.remark, words=columns[2:])


def attempts_table(result: Fit) -> Table | None:
    """The runs of the sampler, if there was more than one or the last failed."""
    attempts = result.attempts
    if not attempts or (len(attempts) < 2 and result.status != "failed"):
        return None
    rows = []
    for place, attempt in enumerate(attempts, start=1):
        numbers = (attempt.centred, attempt.noncentred, attempt.warmup, attempt.draws)
        failures = "; ".join(attempt.failures) or "none"
        name = f"{place}. {attempt.purpose}"
        rows.append((name, *(f"{value:,}" for value in numbers), f"{attempt.adapt_delta:g}", failures))
    return Table(
        "attempts",
        "Runs of the sampler; the last one counts.",
        ("Run", "Centred", "Not centred", "Warmup", "Draws", "adapt_delta", "Failed checks"),
        tuple(rows),
        "Centred and not centred: number of data sets in each parameterisation. Warmup and draws: of each chain.",
        words=("Failed checks",),
    )


def closed_form_table(tests: ClosedFormTests, exact: bool) -> Table:
    """The answers of the other tests; ``exact`` says that nothing was sampled, because the scores are identical."""
    rows = []
    for row in tests.rows:
        values = (probability(value, exact) for value in (row.p_left, row.p_rope, row.p_right, row.pvalue))
        rows.append((row.test, *values, row.says, row.does_not_say))
    says = ("What it says", "What it does not say")
    return Table(
        "closed-form-tests",
        "The same scores under other tests.",
        ("Test", *probability_columns(tests.algorithms), "p-value", *says),
        tuple(rows),
        words=says,
    )


def sensitivity_table(sensitivity: Sensitivity) -> Table:
    """The verdict under each variant."""
    rows: list[tuple[str, ...]] = []
    for name, row in sensitivity.to_frame().iterrows():
        values = (probability(row[f"p_{region}"]) for region in REGIONS)
        compared = "changed" if row["changed"] else "the same"
        if not rows or row["status"] == "failed":  # the first is the fit itself
            compared = ABSENT
        error = number(row["error"], error_text(row["error"]))
        evidence = number(row["log_bayes_factor"], f"{row['log_bayes_factor']:+.2f}")
        rows.append((shown(name), *values, error, evidence, shown(row["verdict"]), compared, row["status"]))
    verdict = ("Verdict", "Compared", "Status")
    return Table(
        "sensitivity",
        "The verdict under other assumptions.",
        ("Variant", *probability_columns(sensitivity.algorithms), "Error", "Log Bayes factor", *verdict),
        tuple(rows),
        f"Verdicts at the {100 * (1 - sensitivity.alpha):g}% level. Error: the largest of the row. Log Bayes factor: of the "
        "variant against the comparison itself; above 0 the variant predicts the data better.",
        words=verdict,
    )


def influence_table(influence: Influence) -> Table:
    """The probabilities without each data set, the most influential first."""
    frame = influence.to_frame()
    changes = [f"change_p_{region}" for region in REGIONS]
    order = frame[changes].abs().max(axis=1).sort_values(ascending=False, kind="stable", na_position="last").index
    rows = []
    for name, row in frame.loc[order].iterrows():
        values = (probability(row[f"p_{region}"]) for region in REGIONS)
        largest = max((row[column] for column in changes), key=abs)
        rows.append((shown(name), *values, number(largest, f"{largest:+.3f}")))
    return Table(
        "influence",
        "The probabilities without each data set, the most influential first.",
        ("Left out", *probability_columns(influence.algorithms), "Largest change"),
        tuple(rows),
        "All are integrals.",
    )


def population_check_table(population_check: PopulationCheck) -> Table:
    """How well each population predicts the data sets."""
    frame = population_check.to_frame()
    elpd = column(frame["elpd"])
    rows = []
    for place, (name, row) in enumerate(frame.iterrows()):
        difference, error = (
            number(row[key], f"{row[key]:{form}}")
            for key, form in (("elpd_difference", "+.2f"), ("difference_error", ".2f"))
        )
        if not place:
            difference = error = ABSENT
        rows.append((shown(name), elpd[place], f"{row['p']:.2f}", difference, error))
    return Table(
        "population-check",
        "How well each population predicts each data set from the others; the first is the one of this page.",
        ("Population", "elpd", "Parameters", "Difference", "Error of the difference"),
        tuple(rows),
        "elpd: expected log predictive density, the higher the better; only differences mean something. Parameters: the "
        "effective number. Error: standard error over the data sets.",
    )


def probability_columns(algorithms: tuple[str, str]) -> tuple[str, str, str]:
    """Headings of the probabilities of the three regions."""
    left, right = map(shown, algorithms)
    return f"P({left} better)", "P(equivalent)", f"P({right} better)"


def effects_table(effects: Effects) -> Table:
    """The slope of every covariate."""
    rows = [
        (
            shown(name),
            *column(row[["slope", "sd", "lower", "upper"]]),
            number(row["one_sd"], f"{row['one_sd']:.4g}"),
            probability(row["p_positive"]),
        )
        for name, row in effects.to_frame().iterrows()
    ]
    right = shown(effects.algorithms[1])
    return Table(
        "covariates",
        "Slopes of the covariates: change of the average difference for one standard deviation of each.",
        ("Covariate", "Slope", "SD", "Lower", "Upper", "One SD", "P(slope > 0)"),
        tuple(rows),
        f"Slopes are in {effects.unit}, with central 95% intervals; above 0, a higher value favours {right}. One SD is in "
        "the unit of the covariate. Every covariate of the model is listed.",
    )


def ranking_table(ranking: pd.DataFrame) -> Table:
    """Expected rank of each algorithm and its probability of being the best."""
    rows = [
        (
            shown(name),
            *(f"{row[key]:.2f}" for key in ("expected_rank", "lower", "upper")),
            probability(row["p_best"]),
        )
        for name, row in ranking.iterrows()
    ]
    return Table(
        "ranking",
        "Expected ranks on the next data set, 1 is best.",
        ("Algorithm", "Expected rank", "Lower", "Upper", "P(best)"),
        tuple(rows),
        "Lower and upper: central 95% interval of the expected rank. P(best): probability of being the best of all on the "
        "next data set, ties shared.",
    )


def pairs_table(result: Tournament, pairs: list[tuple[str, str]], alpha: float) -> Table:
    """One row for each pair, the higher ranked algorithm first."""
    number_of = {name: place for place, name in enumerate(result.algorithms)}
    squares = (result.better(), result.equivalent(), result.expected_difference())
    better, equivalent, expected = (square.to_numpy(dtype=float) for square in squares)
    entries = {frozenset((pair.left, pair.right)): pair for pair in result.pairs}
    differences = column(expected[number_of[first], number_of[second]] for first, second in pairs)
    rows = []
    for pair, difference in zip(pairs, differences, strict=True):
        i, j = (number_of[name] for name in pair)
        entry = entries[frozenset(pair)]
        size = ABSENT if isinstance(entry, FailedPair) else f"{len(entry.differences.dataset_names):,}"
        chances = (probability(value) for value in (better[i, j], equivalent[i, j], better[j, i]))
        rows.append((*map(shown, pair), *chances, difference, size, outcome(pair, result.verdict(*pair, alpha))))
    headings = ("P(first better)", "P(equivalent)", "P(second better)")
    return Table(
        "pairs",
        "Every pair, one per row.",
        ("First", "Second", *headings, "Difference", "Data sets", "Verdict"),
        tuple(rows),
        "P: posterior probability that this outcome is the most likely one on the next data set. Difference: posterior mean "
        "of the mean difference over data sets, above zero if the first algorithm is better. Data sets: those that both "
        "algorithms have.",
        words=("Second", "Verdict"),
    )


def outcome(pair: tuple[str, str], verdict: str) -> str:
    """A verdict in words that name the algorithm."""
    first, second = map(shown, pair)
    return {"better": f"{first} better", "worse": f"{second} better"}.get(verdict, VERDICTS.get(verdict, verdict))
