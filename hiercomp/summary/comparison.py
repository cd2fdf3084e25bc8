"""The summary of a comparison: what a paper would report, as a document, a frame or a dictionary."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from hiercomp.document import Document, Documented, Table, json_value
from hiercomp.posterior.correlation import refutation
from hiercomp.posterior.effects import effects
from hiercomp.posterior.next_dataset import Decision, NextDataset, NonInferiority, Odds
from hiercomp.posterior.regressed import Regressed
from hiercomp.rope import REGIONS, Rope
from hiercomp.scores.scale import IN_ROPES, LOG
from hiercomp.wording import (
    error_text,
    metric_words,
    outcome_words,
    probability_text,
    ropes_in_words,
    shown,
    span,
    times_rope,
    unit_words,
)

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.posterior.fit import Fit
    from hiercomp.posterior.population_check import PopulationCheck
    from hiercomp.scores.differences import PairedDifferences

HEADER = ("On the next data set", "probability", "error", "expected", "error")
LEGEND = (
    "probability: posterior probability that this outcome is the most likely one on the next data set; "
    "expected: average probability of the outcome itself; error: {}"
)
COLOURS = ("dark_orange", "bright_black", "dodger_blue2")


@dataclass(frozen=True)
class Summary(Documented):
    """What a paper would report about a comparison, and whether it can be trusted.

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
        None if the status is "failed".
    decision : Decision or None
    odds : tuple of Odds
    population : dict
        Posterior mean, sd and 95% interval of delta0, sigma0 and nu.
    computation : str
        Engine, run lengths, seed and diagnostics.
    confirmation : str
        Whether a second computation agrees; empty if there is none.
    diagnostics : dict
    notes : tuple of str
        Every warning.
    error_name : str
        The name of the errors.
    measure : str or None
        The name of the measure, if the table has one.
    higher_is_better : bool
        Whether the metric is a gain (True) or a loss.
    transform : {"log", "rope"} or None
        "log" if differences are logs of ratios, "rope" if they are in units of each data set's rope.
    slopes : dict
        Posterior mean, sd and 95% interval of the slope of every covariate, for one standard deviation of it, and that
        standard deviation, one_sd; empty without covariates.
    correlation : str
        The correlations within and across runs if they differ, or that the runs refute one for all folds; else empty.
    likelihood : str
        Of the differences of a data set, if it is not Gaussian; else empty.
    n_groups : int or None
        Number of groups of paired scores, if there are groups; None if they are crossed.
    crossed_groups : tuple of int or None
        Number of groups of each of two crossed groupings, over all data sets.
    size : str
        Such as "4,300 paired scores", with their groups if there are some.
    non_inferiority : tuple of NonInferiority
        Of the left and of the right algorithm; empty if the status is "failed".
    ropes : dict
        The rope of each data set in its metric's own unit, if each has its own; else empty.
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
    confirmation: str
    diagnostics: dict[str, Any]
    notes: tuple[str, ...]
    error_name: str = field(repr=False)
    measure: str | None = None
    higher_is_better: bool = True
    transform: str | None = None
    slopes: dict[str, dict[str, float]] = field(default_factory=dict)
    correlation: str = ""
    likelihood: str = ""
    n_groups: int | None = None
    crossed_groups: tuple[int, int] | None = None
    size: str = ""
    non_inferiority: tuple[NonInferiority, ...] = ()
    ropes: dict[str, float] = field(default_factory=dict)

    @property
    def legend(self) -> str:
        """What the columns mean."""
        return LEGEND.format(self.error_name)

    @property
    def title(self) -> str:
        """What was compared, on which metric, and in which direction."""
        metric = metric_words(self.measure, self.higher_is_better, self.transform)
        return (
            f"{shown(self.left)} against {shown(self.right)}: {self.n_datasets} data sets, {self.size}, "
            f"rope {self.rope}, {metric}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each region: outcome, probability, its error, expected probability, its error.

        If the status is "failed", the numbers are missing.
        """
        import pandas as pd

        inference = self.next_dataset
        rows = [
            {
                "outcome": name,
                "probability": math.nan if inference is None else inference.probabilities[region],
                "probability_error": math.nan if inference is None else inference.errors[f"p_{region}"],
                "expected": math.nan if inference is None else inference.expected[region],
                "expected_error": math.nan if inference is None else inference.errors[f"expected_{region}"],
            }
            for region, name in outcome_words(self.left, self.right).items()
        ]
        return pd.DataFrame(rows, index=pd.Index(REGIONS, name="region"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; nothing is infinite or NaN."""
        decision = self.decision
        return {
            "left": self.left,
            "right": self.right,
            "measure": self.measure,
            "higher_is_better": self.higher_is_better,
            "transform": self.transform,
            "rope": [self.rope.lower, self.rope.upper],
            "ropes": self.ropes,
            "n_datasets": self.n_datasets,
            "n_scores": self.n_scores,
            "n_groups": self.n_groups,
            "crossed_groups": None if self.crossed_groups is None else list(self.crossed_groups),
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
            "non_inferiority": [asdict(each) for each in self.non_inferiority],
            "population": self.population,
            "slopes": self.slopes,
            "correlation": self.correlation,
            "likelihood": self.likelihood,
            "computation": self.computation,
            "confirmation": self.confirmation,
            "diagnostics": json_value(self.diagnostics),
            "notes": list(self.notes),
        }

    def document(self) -> Document:
        """The summary for readers."""
        names, inference = outcome_words(shown(self.left), shown(self.right)), self.next_dataset
        rows = []
        for region, name in names.items():
            cells = ("-",) * 4
            if inference is not None:
                exact = inference.exact
                cells = (
                    probability_text(inference.probabilities[region], exact),
                    error_text(inference.errors[f"p_{region}"]),
                    probability_text(inference.expected[region], exact),
                    error_text(inference.errors[f"expected_{region}"]),
                )
            rows.append((name, *cells))
        details = []
        if inference is not None:
            positive = probability_text(inference.p_positive, exact=inference.exact)
            details.append(f"Probability that {shown(self.right)} is better on average: {positive}")
            details.append(f"Probability of being at least as good within the margin: {self.at_least_as_good}")
        if self.decision is not None and self.decision.region in REGIONS:  # large odds beside "no verdict" only confuse
            details += [f"Odds, {names[odds.favoured]} against {names[odds.against]}: {odds}" for odds in self.odds]
        details += [self._parameter(name, row) for name, row in self.population.items()]
        details += self._ratio()
        details += ropes_in_words(self.ropes)
        details += self._covariates()
        details += [self.correlation] if self.correlation else []
        details += [f"Likelihood of a data set: {self.likelihood}"] if self.likelihood else []
        details.append(f"Computation {self.status}: {self.computation}")
        details += [self.confirmation] if self.confirmation else []
        table = Table(HEADER, tuple(rows), self.legend, COLOURS)
        return Document(self.title, self.conclusion, (table,), tuple(details), self.notes, self.status)

    @property
    def at_least_as_good(self) -> str:
        """The probability of either algorithm to be at least as good as the other within the margin, in words."""
        names = {"left": shown(self.left), "right": shown(self.right)}
        exact = not any(each.error for each in self.non_inferiority)
        parts = (f"{names[each.side]} {probability_text(each.probability, exact)}" for each in self.non_inferiority)
        return ", ".join(parts)

    def _parameter(self, name: str, row: dict[str, float]) -> str:
        """A parameter of the population in words, with its unit, and the sign of the average difference."""
        unit = unit_words(self.measure, self.transform)
        if name == "delta0":
            first, second = map(shown, self.minuend)
            mean, lower, upper = (f"{row[part]:+.3g}" for part in ("mean", "lower", "upper"))
            where = ", at the mean of the covariates" if self.slopes else ""
            return (
                f"Average difference (delta0){where}, in {unit}: {first} - {second} = {mean}, 95% interval [{lower}, "
                f"{upper}]; above 0, {shown(self.right)} is better"
            )
        numbers = f"{row['mean']:.3g}, 95% interval [{row['lower']:.3g}, {row['upper']:.3g}]"
        if name == "sigma0":
            beyond = ", beyond what the covariates explain" if self.slopes else ""
            return f"Spread of the differences between data sets (sigma0){beyond}, in {unit}: {numbers}"
        if name == "concentration":
            return f"Concentration of the mixture: {numbers}; the larger, the more components have data sets"
        return f"Tails (nu): {numbers}; a small value means that some data sets lie far from the others"

    def _covariates(self) -> list[str]:
        """The slope of every covariate, and what the next data set is."""
        if not self.slopes:
            return []
        unit = unit_words(self.measure, self.transform)
        lines = [
            f"Slope of {shown(name)}, in {unit} for one standard deviation ({row['one_sd']:.3g}): {row['mean']:+.3g}, 95% "
            f"interval [{row['lower']:+.3g}, {row['upper']:+.3g}]; above 0, a higher value favours {shown(self.right)}"
            for name, row in self.slopes.items()
        ]
        return [
            *lines,
            f"The probabilities are means over the covariates of the {self.n_datasets} data sets; result.at(...) has them "
            "for one. With covariates they are sampled, not integrated",
        ]

    @property
    def minuend(self) -> tuple[str, str]:
        """The algorithms in the order in which their scores are subtracted."""
        return (self.right, self.left) if self.higher_is_better else (self.left, self.right)

    def _ratio(self) -> list[str]:
        """What logs mean: the ratio behind the average difference."""
        if self.transform != LOG:
            return []
        first, second = map(shown, self.minuend)
        unit = f"Differences are logs of the ratio of the scores, {first} to {second}: 0.01 is about 1%"
        if "delta0" not in self.population:
            return [unit]
        row = self.population["delta0"]
        mean, lower, upper = (f"{math.exp(row[name]):.4g}" for name in ("mean", "lower", "upper"))
        return [f"{unit}. Average ratio: {mean}, 95% interval [{lower}, {upper}]"]


def summarise(result: Fit, alpha: float, population_check: PopulationCheck | None = None) -> Summary:
    """The summary of a result, with the decision at level ``alpha`` and, if it is given, what other populations say."""
    failed = result.status == "failed"
    decision = None if failed else result.decision(alpha)
    given = result.differences
    return Summary(
        conclusion=_conclusion(result, decision),
        left=result.left,
        right=result.right,
        rope=result.rope,
        n_datasets=len(result.differences.dataset_names),
        n_scores=int(result.differences.paired_scores.sum()),
        n_groups=None if given.n_scores is None or given.crossed is not None else int(given.n.sum()),
        crossed_groups=None if given.crossed is None else tuple(given.crossed.sum(axis=0).tolist()),
        size=given.size_words,
        status=result.status,
        next_dataset=None if failed else result.next_dataset,
        decision=decision,
        odds=() if failed else result.odds(),
        population={} if failed else {str(name): dict(row) for name, row in result.population().T.to_dict().items()},
        computation=result.posterior.computation,
        confirmation=result.posterior.confirmation,
        diagnostics=result.diagnostics.to_dict(),
        notes=(*result.notes, *(() if population_check is None else population_check.warnings)),
        error_name=result.posterior.error_words.name,
        measure=result.differences.measure,
        higher_is_better=result.differences.higher_is_better,
        transform=result.differences.transform,
        slopes={} if failed else _slopes(result),
        correlation=_correlation(result.differences),
        likelihood=result.differences.likelihood_words,
        non_inferiority=()
        if failed
        else (result.non_inferiority("left", alpha), result.non_inferiority("right", alpha)),
        ropes=result.differences.ropes_by_name,
    )


def _correlation(given: PairedDifferences) -> str:
    """The correlations within and across runs if they differ, or that the runs refute one for all folds; else empty."""
    if given.two_level is not None:
        return f"Correlation between folds: {given.correlation_words}"
    refuted = refutation(given)
    if not refuted:
        return ""
    return (
        f"Correlation between folds: {span(given.rho)} for all, which the runs refute {refuted}; result.correlation() says "
        "what follows"
    )


def _slopes(result: Fit) -> dict[str, dict[str, float]]:
    """Every slope; none if the scores are identical."""
    if not isinstance(result.posterior, Regressed):
        return {}
    found = effects(result, loo=False)
    columns = {"mean": found.mean, "sd": found.sd, "lower": found.lower, "upper": found.upper, "one_sd": found.one_sd}
    return {
        name: {column: float(values[place]) for column, values in columns.items()}
        for place, name in enumerate(found.names)
    }


def _conclusion(result: Fit, decision: Decision | None) -> str:
    left, right = shown(result.left), shown(result.right)
    names, transform = outcome_words(left, right), result.differences.transform
    if decision is None:
        return f"No verdict: the computation failed its checks ({'; '.join(result.diagnostics.failures)})."
    if result.differences.identical:
        claim = names[decision.most_probable]
        if decision.most_probable != "rope":  # a rope beside zero
            claim = f"their difference, 0, lies outside the rope {result.rope}"
        return f"{left} and {right} have identical scores on every fold: {claim}."
    probability = probability_text(decision.probability)
    level = f"{100 * (1 - decision.alpha):g}%"
    if decision.region == "none":
        seen = result.next_dataset
        reach = decision.probability - seen.errors[f"p_{decision.most_probable}"]
        likely = {region: p for region, p in seen.probabilities.items() if p + seen.errors[f"p_{region}"] >= reach}
        if len(likely) > 1:  # they differ by no more than their errors
            listed = " or ".join(f"{names[region]} ({probability_text(p)})" for region, p in likely.items())
            return (
                f"No verdict at the {level} level: the most likely outcome on the next data set is {listed}, which differ "
                "by no more than their errors."
            )
        return (
            f"No verdict at the {level} level: the most likely outcome on the next data set, "
            f"{names[decision.most_probable]}, has probability {probability}."
        )
    if decision.region == "undecided":
        error = result.posterior.error_words
        advice = f"; {error.remedy}" if error.remedy else ""
        return (
            f"Undecided: the probability of {names[decision.most_probable]} on the next data set, {probability}, is within "
            f"three {error.short} errors of {1 - decision.alpha:g}{advice}."
        )
    if decision.region == "rope":
        within = f"difference within {result.rope}"
        if transform == IN_ROPES:
            within = f"difference within {times_rope(result.rope)}"
        elif transform == LOG:
            within = f"ratio within [{math.exp(result.rope.lower):.4g}, {math.exp(result.rope.upper):.4g}]"
        return (
            f"The most likely outcome on the next data set is that {left} and {right} are practically equivalent ({within}, "
            f"probability {probability})."
        )
    better, worse = (left, right) if decision.region == "left" else (right, left)
    margin = -result.rope.lower if decision.region == "left" else result.rope.upper
    words = f"by more than {abs(margin):g}"
    if transform == IN_ROPES:
        words = f"by more than {times_rope(f'{abs(margin):g}')}"
    elif transform == LOG:
        words = f"by a relative difference of more than {100 * math.expm1(abs(margin)):.3g}%"
    claim = f"{better} is better than {worse}" + (f" {words}" if margin else "")
    if margin < 0:  # a rope beside zero: the region holds differences of both signs
        claim = f"{worse} is not better than {better} {words}"
    return f"The most likely outcome on the next data set is that {claim} (probability {probability})."
