"""The Methods paragraph and the settings of a comparison of every pair of many algorithms."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.engines import engine_words
from hiercomp.posterior.fit import Fit
from hiercomp.report import references
from hiercomp.report.methods import (
    Methods,
    Sentence,
    cite,
    correlation_sentence,
    integration_sentence,
    model_sentences,
    paragraph,
    say,
)
from hiercomp.report.provenance import Fact, priors_text, span
from hiercomp.wording import counted, probability_text, shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.pairs.result import TournamentResult


def tournament_methods(
    result: TournamentResult, verdicts: dict[tuple[str, str], str], ranking: pd.DataFrame | None, alpha: float
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
            *_data(result),
            *model_sentences(result.priors, _bounds(result)),
            *_computation(result),
            *_findings(result, verdicts, alpha),
            *_ranking(ranking),
        ]
    )


def tournament_setting_facts(result: TournamentResult, alpha: float, ranking: pd.DataFrame | None) -> tuple[Fact, ...]:
    """The rope, the priors, the engine and the seeds."""
    facts = [
        Fact("Rope", f"{result.rope}, in the unit of the scores"),
        Fact("Level", f"a verdict needs a probability above {1 - alpha:g}"),
        Fact("Priors", f"{result.priors!r}: {priors_text(result.priors, _bounds(result))}"),
        Fact("Engine", engine_words(result.engine_name, result.engine_version)),
        Fact("Seed", f"{result.seed}; each pair's own seed follows from it and from the two names"),
    ]
    if ranking is not None:
        given = ranking.attrs
        text = (
            f"{given['draws']:,} draws over {counted(given['n_datasets'], 'data set')}, seed {given['seed']}; largest Monte "
            f"Carlo standard error {given['expected_rank_error']:.2g} of an expected rank and "
            f"{given['p_best_error']:.2g} of a probability of being the best"
        )
        facts.append(Fact("Ranking", text))
    return tuple(facts)


def computed(result: TournamentResult) -> list[Fit]:
    """The pairs that have a verdict's numbers."""
    return [pair for pair in result.pairs if isinstance(pair, Fit) and pair.status != "failed"]


def _bounds(result: TournamentResult) -> list[float]:
    return [pair.differences.delta0_bound for pair in computed(result)]


def _data(result: TournamentResult) -> list[Sentence]:
    model = references.HIERARCHICAL
    pairs = [pair.differences for pair in result.pairs if isinstance(pair, Fit)]
    count, datasets = len(result.algorithms), counted(len(result.dataset_names), "data set")
    compared = f"{counted(count, 'algorithm')}, each with each other,"
    if result.baseline is not None:
        compared = f"{counted(count - 1, 'algorithm')} with {shown(result.baseline)}"
    sentences = [
        say(f"We compared {compared} on {datasets} by the Bayesian hierarchical model of {cite(model)}.", model),
        say(f"Differences within {result.rope} were regarded as practically equivalent."),
    ]
    if pairs:
        n, rho = (np.concatenate([getattr(each, name) for each in pairs]) for name in ("n", "rho"))
        sizes = span(np.array([len(each.dataset_names) for each in pairs]))
        sign = "" if result.higher_is_better else ", with the sign turned since lower scores are better"
        sentences[1:1] = [
            say(
                "Each pair was judged from the paired differences of the scores of its two algorithms alone"
                f"{sign}: {sizes} data sets with {span(n)} differences each."
            ),
            correlation_sentence(rho),
        ]
    return sentences


def _computation(result: TournamentResult) -> list[Sentence]:
    pairs = [pair for pair in computed(result) if not pair.differences.identical]
    if not pairs:
        return []
    error = max(pair.next_dataset.largest_error for pair in pairs)
    text = f"{error:.1g}" if error else "less than can be told"
    if result.engine_name == "quadrature":
        return [integration_sentence(text)]
    stan = references.STAN
    return [
        say(
            f"The posterior of each pair was sampled with the No-U-Turn sampler of Stan ({stan.short}), run by "
            f"{result.engine_version}, seed {result.seed}; the Monte Carlo standard errors of the probabilities are at "
            f"most {text}.",
            stan,
        )
    ]


def _findings(result: TournamentResult, verdicts: dict[tuple[str, str], str], alpha: float) -> list[Sentence]:
    counts = Counter(verdicts.values())
    told = counts["better"] + counts["worse"]
    rest = len(verdicts) - told - counts["equivalent"]
    return [
        say(
            f"A verdict on a pair was to need a posterior probability above {1 - alpha:g} that one outcome (one algorithm "
            "better, the other better, or practical equivalence) is the likeliest on the next data set; the probabilities "
            "were not adjusted for the number of pairs."
        ),
        say(
            f"Of {counted(len(verdicts), 'pair')}, one algorithm is better in {told:,}, the two are practically equivalent "
            f"in {counts['equivalent']:,}, and there is no verdict in {rest:,}."
        ),
    ]


def _ranking(ranking: pd.DataFrame | None) -> list[Sentence]:
    if ranking is None:
        return []
    test, bootstrap = references.CORRELATED, references.BAYESIAN_BOOTSTRAP
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
