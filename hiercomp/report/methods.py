"""The Methods paragraphs, with the result's own numbers and references, ready to paste into a paper."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from importlib.metadata import version
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import number_between
from hiercomp.closed_form.side_by_side import closed_form_tests_of
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.pairs.fits import FailedPair
from hiercomp.posterior.correlation import refutation
from hiercomp.posterior.kinds import INTEGRATION, Exact, Integrated, Posterior, Sampled, Verified
from hiercomp.posterior.mixed import Mixed
from hiercomp.report.provenance import computed, delta0_bounds, priors_text
from hiercomp.report.references import Reference, references
from hiercomp.rope import REGIONS
from hiercomp.scores.scale import LOG
from hiercomp.summary.comparison import summarise
from hiercomp.wording import counted, error_text, outcome_words, probability_text, shown, span

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.closed_form.side_by_side import ClosedFormTests
    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.fit import Fit
    from hiercomp.posterior.influence import Influence
    from hiercomp.posterior.sensitivity import Sensitivity
    from hiercomp.scores.differences import Likelihood, PairedDifferences


@dataclass(frozen=True)
class Methods:
    """What a paper would say about the analysis.

    Attributes
    ----------
    text : str
        One paragraph of plain text.
    references : tuple of Reference
        Those the text cites, in its order.
    """

    text: str
    references: tuple[Reference, ...]

    @property
    def bibtex(self) -> str:
        """The references as BibTeX."""
        return "\n\n".join(reference.bibtex for reference in self.references) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Text, references and BibTeX, ready for JSON."""
        return {"text": self.text, "references": [str(each) for each in self.references], "bibtex": self.bibtex}

    def __str__(self) -> str:
        listed = "\n".join(f"- {reference}" for reference in self.references)
        return f"{self.text}\n\nReferences\n{listed}" if listed else self.text

    def _repr_html_(self) -> str:
        listed = "".join(f"<li>{html.escape(str(reference))}</li>" for reference in self.references)
        return f"<p>{html.escape(self.text)}</p>" + (f"<ul>{listed}</ul>" if listed else "")


def methods_of(
    result: Fit,
    *,
    sensitivity: Sensitivity | None = None,
    influence: Influence | None = None,
    alpha: float = 0.05,
) -> Methods:
    """The Methods paragraph of a comparison; its closed-form tests are run for it."""
    number_between("alpha", alpha, 0, 0.5)
    return methods(result, closed_form_tests_of(result), sensitivity=sensitivity, influence=influence, alpha=alpha)


def tournament_methods_of(result: Tournament, *, alpha: float = 0.05) -> Methods:
    """The Methods paragraph of many algorithms."""
    number_between("alpha", alpha, 0, 0.5)
    ranking = result.ranking() if result.standings.dataset_names else None
    return tournament_methods(result, all_verdicts(result, alpha), ranking, alpha)


def all_verdicts(result: Tournament, alpha: float) -> dict[tuple[str, str], str]:
    """The verdict of every pair in the comparison, with the higher ranked algorithm first."""
    found = {pair: result.verdict(*pair, alpha) for pair in combinations(result.order(), 2)}
    return {pair: verdict for pair, verdict in found.items() if verdict != "not compared"}


def methods(
    result: Fit,
    tests: ClosedFormTests,
    *,
    sensitivity: Sensitivity | None = None,
    influence: Influence | None = None,
    alpha: float = 0.05,
) -> Methods:
    """Write the Methods paragraph.

    Parameters
    ----------
    result : ComparisonResult
    tests : ClosedFormTests
    sensitivity : Sensitivity, optional
    influence : Influence, optional
    alpha : float
        Level of the verdict.
    """
    given = result.differences
    sentences = [
        *_data(result),
        *([] if given.identical else model_sentences(result.priors, [given.delta0_bound], given.likelihood)),
        *_covariates(result),
        *computation_sentences(result.posterior),
        *_findings(result, alpha),
        *_beside(tests),
    ]
    if sensitivity is not None:
        others = [shown(variant.name) for variant in sensitivity.variants[1:]]
        text = (
            f"As a sensitivity check, the model was fitted under other assumptions ({'; '.join(others)}). "
            if others
            else ""
        )
        sentences.append(say(f"{text}{sensitivity.conclusion}"))
    if influence is not None:
        text = "As a check of influence the posterior was integrated without each data set in turn."
        sentences.append(say(f"{text} {influence.conclusion}"))
    return paragraph(sentences)


def tournament_methods(
    result: Tournament, verdicts: dict[tuple[str, str], str], ranking: pd.DataFrame | None, alpha: float
) -> Methods:
    """Write the Methods paragraph.

    Parameters
    ----------
    result : TournamentResult
    verdicts : dict from pair to verdict
    ranking : DataFrame or None
    alpha : float
        Level of the verdicts.
    """
    return paragraph(
        [
            *_tournament_data(result),
            *model_sentences(result.priors, delta0_bounds(result)),
            *_tournament_computation(result),
            *_tournament_findings(verdicts, alpha),
            *_tournament_ranking(ranking),
        ]
    )


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paragraph, and its citations.

    Attributes
    ----------
    text : str
    cited : tuple of Reference
    """

    text: str
    cited: tuple[Reference, ...]


def say(text: str, *cited: Reference) -> Sentence:
    """Make a sentence that cites these."""
    return Sentence(text, cited)


LOGS = say("The scores were compared by their logs, so a difference is the log of a ratio: 0.01 is about 1%.")


def paragraph(sentences: Sequence[Sentence]) -> Methods:
    """The sentences in order, the version of the package, and the works cited, in order."""
    ended = [*sentences, say(f"The analysis was done with hiercomp {version('hiercomp')}.")]
    cited: dict[Reference, None] = {}
    for sentence in ended:
        cited.update(dict.fromkeys(sentence.cited))
    return Methods(" ".join(sentence.text for sentence in ended), tuple(cited))


def _data(result: Fit) -> list[Sentence]:
    given = result.differences
    left, right = shown(result.left), shown(result.right)
    sign = "" if given.higher_is_better else " (with the sign reversed, because lower scores are better)"
    model = references()["corani2017"]
    constant = int(given.constant.sum())
    count = counted(len(given.dataset_names), "data set")
    sentences = [
        say(
            f"We compared {left} with {right} on {count} by the Bayesian hierarchical model of {model.narrative}.",
            model,
        ),
        say(
            f"The data are the paired differences of the scores{_named(given.measure)}, {right} minus {left}{sign}: "
            f"{span(given.paired_scores)} on each data set, {int(given.paired_scores.sum()):,} in all."
        ),
        *unit_sentence([given]),
        correlation_sentence([given]),
        *([say(f"The runs refute this correlation {refuted}.")] if (refuted := refutation(given)) else []),
        say(f"Differences within {result.rope} were regarded as practically equivalent."),
    ]
    if constant and not given.identical and given.counts is None:
        spread = given.standard_deviation[given.constant][0]
        sentences.append(
            say(
                f"On {counted(constant, 'data set')} the differences did not vary between folds; their standard deviation "
                f"was set to {spread:.3g}, that of uniform noise on an interval of width {math.sqrt(12) * spread:.3g}."
            )
        )
    return sentences


def _named(measure: str | None) -> str:
    """The name of the measure in brackets, to follow "scores"; nothing if it has none."""
    return "" if measure is None else f" ({shown(measure)})"


def unit_sentence(given: Sequence[PairedDifferences]) -> list[Sentence]:
    """What differences are, if not those of the scores themselves."""
    if given[0].ropes is not None:
        ropes = span(
            np.array(list({name: rope for each in given for name, rope in each.ropes_by_name.items()}.values()))
        )
        return [
            say(
                f"Each data set had a region of practical equivalence of its own, with a half-width of {ropes} in the unit "
                "of its scores, by which its differences were divided."
            )
        ]
    return [LOGS] if given[0].transform == LOG else []


def correlation_sentence(given: Sequence[PairedDifferences]) -> Sentence:
    """The correlation between folds."""
    crossed = [each.crossed for each in given if each.crossed is not None]
    if crossed:
        first, second = map(span, np.concatenate(crossed).T)
        return say(
            f"The differences of a data set come in two crossed groupings, {first} and {second} groups on each, and those "
            "in the same group of either kind may be correlated. The variance of the mean is the sum of the cluster-robust "
            "variances by the two groupings minus the residual variance, where each grouping contributes at least 0, with "
            "degrees of freedom by Satterthwaite's approximation."
        )
    if all(each.counts is not None for each in given):
        return say("The questions of a data set were treated as independent.")
    if any(each.n_scores is not None for each in given):
        sizes = span(np.concatenate([each.n for each in given]))
        return say(
            f"The differences of a data set come in groups, {sizes} on each. Groups were treated as independent, and each "
            "counts as one difference, the sum of its deviations from the mean, so the correlation within groups may be any."
        )
    source = references()["nadeau2003"]
    overlap = "The differences of a data set are correlated, because the training sets of cross-validation overlap"
    two_level = [each.two_level for each in given if each.two_level is not None]
    if not two_level:
        rho = np.concatenate([each.rho for each in given])
        if not rho.any():
            return say("The differences of a data set were treated as independent.")
        return say(f"{overlap} ({source.short}); the correlation was set to {span(rho)}.", source)
    within, across = (
        span(np.concatenate([getattr(each, name) for each in two_level])) for name in ("within", "across")
    )
    found = f"was set to {within}"
    if two_level[0].learnt:
        found = f"was estimated from the variation between and within runs, pooled over the data sets ({within})"
    return say(
        f"{overlap} ({source.short}); the correlation between folds of different runs was set to {across}, and that between "
        f"folds of one run {found}.",
        source,
    )


def integration_sentence(error: str, likelihood: Likelihood = "gaussian") -> Sentence:
    """How the posterior was integrated, and the largest estimated error of a probability."""
    parameter, rule = "standard deviation", "trapezoidal rule"
    if likelihood == "trinomial":
        parameter, rule = "share of differing answers", "Gauss-Legendre rule"
    return say(
        f"The posterior was integrated numerically: the {parameter} of each data set in closed form, "
        f"its mean difference by the {rule}, and the parameters of the population on a grid fitted to "
        f"their posterior; the estimated error of a probability, from a coarser grid, is at most {error}."
    )


def model_sentences(priors: Priors, bounds: Sequence[float], likelihood: Likelihood = "gaussian") -> list[Sentence]:
    """The model and its priors; ``bounds`` and ``likelihood`` as in `priors_text`."""
    population = "a Student-t distribution with centre delta0, scale sigma0 and nu degrees of freedom"
    if priors.population == "gaussian":
        population = "a Gaussian with mean delta0 and standard deviation sigma0"
    process: tuple[Reference, ...] = ()
    if priors.population == "mixture":
        process = (references()["ferguson1973"],)
        population = (
            "a mixture of normal distributions with a Dirichlet process as its prior "
            f"({process[0].short}), over a dictionary of centres and scales"
        )
    named = {Priors.juarez_steel(): references()["juarez2010"], Priors.kruschke(): references()["kruschke2013"]}
    on_nu = replace(priors, delta0=None, sigma0=None)
    source = (named[on_nu],) if on_nu in named else ()
    cited = f" ({source[0].short})" if source else ""
    within = "The differences of a data set are multivariate normal with equal means and variances and that correlation"
    if likelihood == "trinomial":
        within = (
            "The answers of a data set that the left algorithm alone has right, that the right one alone has right, and all "
            "others have a trinomial distribution"
        )
    return [
        say(f"{within}; the means of the data sets are draws from {population}.", *process),
        say(f"The priors were: {priors_text(priors, bounds, likelihood)}{cited}.", *source),
    ]


def _covariates(result: Fit) -> list[Sentence]:
    """What the centre depends on, and the prior of the slopes."""
    covariates = result.differences.covariates
    if covariates is None or result.differences.identical:
        return []
    names = ", ".join(map(shown, covariates.names))
    beginning = (
        f"The centre delta0 depended linearly on covariates of the data sets, standardised ({names}); the probabilities are "
        "means over those of the data sets."
    )
    if not HierarchicalModel.of(result.differences, result.priors).shrunk:
        prior = "normal with mean 0 and the standard deviation of the data sets' means"
        return [say(f"{beginning} The prior of the slopes was {prior}.")]
    source = references()["piironen2017"]
    return [say(f"{beginning} The prior of the slopes was a regularised horseshoe ({source.short}).", source)]


@singledispatch
def computation_sentences(posterior: Posterior) -> list[Sentence]:
    """How a posterior was computed; each kind has its own sentences and references."""
    raise TypeError(f"no sentence for a posterior of type {type(posterior).__name__}")


@computation_sentences.register
def _of_exact(posterior: Exact) -> list[Sentence]:
    return [say("The scores of the two algorithms were identical on every fold, so nothing was sampled.")]


@computation_sentences.register
def _of_integrated(posterior: Integrated) -> list[Sentence]:
    return [integration_sentence(f"{posterior.diagnostics.integration_error:.1g}", posterior.differences.likelihood)]


@computation_sentences.register
def _of_sampled(posterior: Sampled) -> list[Sentence]:
    settings, last, checks = posterior.settings, posterior.attempts[-1], posterior.diagnostics
    stan, r_hat = references()["carpenter2017"], references()["vehtari2021"]
    divergences = counted(checks.divergences, "transition") if checks.divergences else "no transition"
    sentences = [
        say(
            f"The posterior was sampled with the No-U-Turn sampler of Stan ({stan.short}), run by "
            f"{posterior.engine_version}: {counted(settings.chains, 'chain')} "
            f"of {last.draws:,} draws after {last.warmup:,} warmup iterations, "
            f"adapt_delta {last.adapt_delta:g}, seed {settings.seed}.",
            stan,
        ),
        say(
            f"R-hat ({r_hat.short}) was at most {checks.r_hat:.3f}, the effective sample size at least "
            f"{checks.ess_bulk:,.0f} (bulk) and {checks.ess_tail:,.0f} (tail), E-BFMI at least {checks.e_bfmi:.2f}, and "
            f"{divergences} diverged.",
            r_hat,
        ),
    ]
    if len(posterior.attempts) > 1:
        count = len(posterior.attempts)
        sentences.append(say(f"This was the last of {count} runs; those before it failed a check."))
    return sentences


@computation_sentences.register
def _of_mixed(posterior: Mixed) -> list[Sentence]:
    settings, last, checks = posterior.settings, posterior.runs[-1], posterior.diagnostics
    concentration, r_hat = references()["escobar1995"], references()["vehtari2021"]
    return [
        say(
            "The likelihood of each data set given each component was integrated numerically, and the components were "
            f"sampled given these integrals by a Gibbs sampler, with the concentration as in {concentration.narrative}: "
            f"{counted(settings.chains, 'chain')} of {last.draws:,} draws after {last.warmup:,} warmup sweeps, "
            f"{last.sweeps} sweeps a draw, seed {settings.seed}.",
            concentration,
        ),
        say(
            f"R-hat ({r_hat.short}) was at most {checks.r_hat:.3f}, and the effective sample size at least "
            f"{checks.ess_bulk:,.0f} (bulk) and {checks.ess_tail:,.0f} (tail).",
            r_hat,
        ),
    ]


@computation_sentences.register
def _of_verified(posterior: Verified) -> list[Sentence]:
    checks = posterior.diagnostics
    if not checks.draws_hold:
        reasons = "; ".join(checks.sampler.failures)
        confirmed = f"The draws failed a check ({reasons}) and could not confirm the integrals."
    else:
        confirmed = (
            "The probabilities are integrals; those of the draws differ from them by at most "
            f"{checks.verification.largest_difference:.3f}, and no quantity computed in both ways differs by more than "
            f"{checks.verification.farthest.distance:.1f} combined standard errors."
        )
    integrated = f"{checks.integration.integration_error:.1g}"
    return [
        integration_sentence(integrated, posterior.integrated.differences.likelihood),
        *computation_sentences(posterior.sampled),
        say(confirmed),
    ]


def _findings(result: Fit, alpha: float) -> list[Sentence]:
    if result.status == "failed":
        reasons = "; ".join(result.diagnostics.failures)
        return [say(f"The computation failed its checks ({reasons}), so there is no verdict.")]
    seen = result.next_dataset
    left, right = shown(result.left), shown(result.right)
    values = {region: probability_text(seen.probabilities[region], seen.exact) for region in REGIONS}
    error = error_text(seen.largest_error).lstrip("< ")
    # Of an integral the error stands in the sentence on the computation
    monte_carlo = f" (Monte Carlo standard errors of at most {error})" if seen.draws and not seen.exact else ""
    sentences = [
        say(
            f"The posterior probability that the most likely outcome on the next data set is that {left} is better was "
            f"{values['left']}, that the two are practically equivalent {values['rope']}, and that {right} is better "
            f"{values['right']}{monte_carlo}."
        ),
        say(f"A verdict required a probability above {1 - alpha:g}. {summarise(result, alpha).conclusion}"),
    ]
    odds = result.odds()
    if odds:
        names = outcome_words(left, right)
        pairs = "; ".join(f"{names[each.favoured]} against {names[each.against]} {each}" for each in odds)
        model, grades = references()["corani2017"], references()["raftery1995"]
        graded = f"graded as in {model.narrative} after {grades.narrative}"
        sentences.append(say(f"The posterior odds, {graded}, were: {pairs}.", model, grades))
    return sentences


def _beside(tests: ClosedFormTests) -> list[Sentence]:
    test = references()["corani2015"]
    return [
        say(f"In the Bayesian correlated t-test of each data set on its own ({test.short}), {row.says}", test)
        for row in tests.rows
        if row.test == "correlated t, each data set"
    ]


def _tournament_data(result: Tournament) -> list[Sentence]:
    model = references()["corani2017"]
    pairs = [pair.differences for pair in result.pairs if not isinstance(pair, FailedPair)]
    count, datasets = len(result.algorithms), counted(len(result.dataset_names), "data set")
    compared = f"every pair of {counted(count, 'algorithm')}"
    if result.baseline is not None:
        compared = f"{counted(count - 1, 'algorithm')} with {shown(result.baseline)}"
    sentences = [
        say(f"We compared {compared} on {datasets} by the Bayesian hierarchical model of {model.narrative}.", model),
        say(f"Differences within {result.rope} were regarded as practically equivalent."),
    ]
    if pairs:
        n = np.concatenate([each.paired_scores for each in pairs])
        sizes = span(np.array([len(each.dataset_names) for each in pairs]))
        sign = "" if result.higher_is_better else ", with the sign reversed because lower scores are better"
        sentences[1:1] = [
            say(
                f"Each pair was judged from the paired differences of the scores{_named(result.measure)} of its two "
                "algorithms alone"
                f"{sign}: {sizes} data sets with {span(n)} differences each."
            ),
            *unit_sentence(pairs),
            correlation_sentence(pairs),
        ]
    return sentences


def _tournament_computation(result: Tournament) -> list[Sentence]:
    pairs = [pair for pair in computed(result) if not pair.differences.identical]
    if not pairs:
        return []
    error = max(pair.next_dataset.largest_error for pair in pairs)
    text = f"{error:.1g}" if error else "too small to be estimated"
    integrated, sampled = pairs[0].posterior.error_words == INTEGRATION, bool(pairs[0].attempts)
    sentences = [integration_sentence(text)] if integrated else []
    if isinstance(pairs[0].posterior, Mixed):
        concentration = references()["escobar1995"]
        sentences.append(
            say(
                "The posterior of each pair was sampled by a Gibbs sampler on a table of integrals, with the concentration "
                f"as in {concentration.narrative}, seed {result.seed}; the Monte Carlo standard errors of the probabilities "
                f"are at most {text}.",
                concentration,
            )
        )
    if sampled:
        stan = references()["carpenter2017"]
        purpose = ", to check the integrals" if integrated else ""
        errors = "" if integrated else f"; the Monte Carlo standard errors of the probabilities are at most {text}"
        sentences.append(
            say(
                f"The posterior of each pair was sampled with the No-U-Turn sampler of Stan ({stan.short}){purpose}, run by "
                f"{result.engine_version}, seed {result.seed}{errors}.",
                stan,
            )
        )
    return sentences


def _tournament_findings(verdicts: dict[tuple[str, str], str], alpha: float) -> list[Sentence]:
    counts = Counter(verdicts.values())
    told = counts["better"] + counts["worse"]
    without = (
        f", and {counts['failed']:,} {'has' if counts['failed'] == 1 else 'have'} no result" if counts["failed"] else ""
    )
    rest = counts["none"] + counts["undecided"]
    return [
        say(
            f"A verdict on a pair required a posterior probability above {1 - alpha:g} that one outcome (one algorithm "
            "better, the other better, or practical equivalence) is the most likely on the next data set; the probabilities "
            "were not adjusted for the number of pairs."
        ),
        say(
            f"Of {counted(len(verdicts), 'pair')}, one algorithm is better in {told:,}, the two are practically equivalent "
            f"in {counts['equivalent']:,}, and there is no verdict in {rest:,}{without}."
        ),
    ]


def _tournament_ranking(ranking: pd.DataFrame | None) -> list[Sentence]:
    if ranking is None:
        return []
    test, bootstrap = references()["corani2015"], references()["rubin1981"]
    best = ranking.iloc[0]
    return [
        say(
            "Expected ranks come from the joint posterior of the algorithms' mean scores on each data set, the multivariate "
            f"form of that of the Bayesian correlated t-test ({test.short}), with the next data set drawn from those at "
            f"hand by the Bayesian bootstrap ({bootstrap.short}); they assume that it resembles one of these "
            f"{counted(int(ranking.attrs['n_datasets']), 'data set')}.",
            test,
            bootstrap,
        ),
        say(
            f"The best expected rank, {best['expected_rank']:.2f} (95% interval {best['lower']:.2f} to "
            f"{best['upper']:.2f}), is that of {shown(ranking.index[0])}, which is the best on the next data set "
            f"with probability {probability_text(float(best['p_best']))}."
        ),
    ]
