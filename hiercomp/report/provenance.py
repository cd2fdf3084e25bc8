"""Where the numbers come from: the file, the data, what was left out or changed, the settings, the software."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hiercomp.engines import engine_words
from hiercomp.errors import DegenerateScoresWarning, DroppedScoresWarning
from hiercomp.files.source import Source
from hiercomp.model.mixture import CENTRE_SPREAD, NARROWEST, WIDEST
from hiercomp.pairs.fits import FailedPair
from hiercomp.posterior.correlation import refutation
from hiercomp.scores.scale import IN_ROPES, LOG
from hiercomp.versions import versions
from hiercomp.wording import OWN_ROPES, counted, measure_in_brackets, shown, span, with_minus

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.model.priors import Priors
    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.fit import Fit
    from hiercomp.scores.differences import Likelihood, PairedDifferences


RANGES = {None: "Range of the scores", LOG: "Range of the logs", IN_ROPES: f"Range of the scores, in {OWN_ROPES}"}


@dataclass(frozen=True)
class Fact:
    """One line of the provenance.

    Attributes
    ----------
    name : str
    text : str
    verbatim : bool
        Whether the text is code, such as a hash.
    """

    name: str
    text: str
    verbatim: bool = False


def file_facts(source: Source | None) -> tuple[Fact, ...]:
    """The name and the hash of the file."""
    if source is None:
        return (Fact("File", "not given"),)
    return (
        Fact("File", f"{shown(source.name)} ({counted(source.size, 'byte')})"),
        Fact("SHA-256 of the file", source.sha256, verbatim=True),
    )


def data_facts(result: Fit, source: Source | None) -> tuple[Fact, ...]:
    """The file, the data sets and scores, and whatever was left out or changed."""
    given = result.differences
    dropped = [note.text for note in given.notes if note.category is DroppedScoresWarning]
    floored = [note.text for note in given.notes if note.category is DegenerateScoresWarning]
    lowest, highest = float(given.lowest_score.min()), float(given.highest_score.max())
    turned = (
        ""
        if given.higher_is_better
        else "; the sign of the differences is reversed, so positive values favour the right"
    )
    measured = measure_in_brackets(given.measure, given.transform)
    return (
        *file_facts(source),
        Fact("Left algorithm", shown(given.left)),
        Fact("Right algorithm", f"{shown(given.right)} (differences above 0 favour it)"),
        Fact("Metric", f"{'higher' if given.higher_is_better else 'lower'} is better{measured}{turned}"),
        Fact(RANGES[given.transform], f"{lowest:g} to {highest:g}"),
        Fact("Data sets", f"{len(given.dataset_names):,}"),
        Fact(
            "Paired scores", f"{int(given.paired_scores.sum()):,} in all, {span(given.paired_scores)} on each data set"
        ),
        *_groups(given),
        *_design(given),
        Fact(
            "Correlation between folds (rho)",
            given.correlation_words + (f"; the runs refute it {refuted}" if (refuted := refutation(given)) else ""),
        ),
        Fact("Left out", " ".join(dropped) or "nothing"),
        Fact("Spread derived from the rope", " ".join(floored) or "of no data set"),
    )


def _groups(given: PairedDifferences) -> list[Fact]:
    """How many groups each data set has, if there are groups."""
    if given.n_scores is None:
        return []
    sizes = [given.n] if given.crossed is None else [*given.crossed.T]
    return [Fact("Groups", f"{' x '.join(map(span, sizes))}{'' if len(sizes) == 1 else ', crossed,'} on each data set")]


def _design(given: PairedDifferences) -> list[Fact]:
    """Runs and folds, if the single scores are available."""
    table = given.scores
    if table is None or "fold" not in table:
        return []
    folds = (
        table.groupby(["dataset", "run"] if "run" in table else ["dataset"], observed=True)["fold"].nunique().to_numpy()
    )
    facts = [Fact("Folds of a run", span(folds))]
    if "run" in table:
        facts.append(Fact("Runs", span(table.groupby("dataset", observed=True)["run"].nunique().to_numpy())))
    return facts


def tournament_data_facts(result: Tournament, source: Source | None) -> tuple[Fact, ...]:
    """The file, the algorithms and the data sets."""
    measured = measure_in_brackets(result.measure, result.transform)
    return (
        *file_facts(source),
        Fact("Algorithms", f"{len(result.algorithms):,}: {', '.join(map(shown, result.algorithms))}"),
        Fact("Metric", f"{'higher' if result.higher_is_better else 'lower'} is better{measured}"),
        Fact("Data sets", f"{len(result.dataset_names):,}: {', '.join(map(shown, result.dataset_names))}"),
    )


def setting_facts(result: Fit, alpha: float) -> tuple[Fact, ...]:
    """The rope, the priors and how the posterior was computed."""
    given = result.differences
    shared = _shared_settings(result, alpha, [given.delta0_bound], given.transform, given.likelihood)
    if given.counts is not None:
        shared = (*shared, Fact("Likelihood of a data set", given.likelihood_words))
    return (*shared, *(Fact(name, text) for name, text in result.posterior.facts))


def tournament_setting_facts(result: Tournament, alpha: float, ranking: pd.DataFrame | None) -> tuple[Fact, ...]:
    """The rope, the priors, the engine and the seeds."""
    facts = [
        *_shared_settings(result, alpha, delta0_bounds(result), result.transform),
        Fact("Seed", f"{result.seed}; the seed of each pair follows from it and the two names"),
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


def _shared_settings(
    result: Fit | Tournament,
    alpha: float,
    bounds: Sequence[float],
    transform: str | None,
    likelihood: Likelihood = "gaussian",
) -> tuple[Fact, ...]:
    """Settings of one comparison or of many; ``bounds`` as in `priors_text`."""
    unit = {None: "the unit of the scores", LOG: "the unit of the scores' logs, so 0.01 is a ratio of about 1%"}
    return (
        Fact("Rope", f"{with_minus(result.rope)}, in {unit.get(transform, OWN_ROPES)}"),
        Fact("Level", f"a verdict needs a probability above {1 - alpha:g}"),
        Fact("Priors", f"{result.priors!r}: {priors_text(result.priors, bounds, likelihood)}"),
        Fact("Engine", engine_words(result.engine_name, result.engine_version)),
    )


def software_facts() -> tuple[Fact, ...]:
    """Versions of the software that wrote the report, and the platform without the machine's name."""
    found = versions()
    names = ("hiercomp", "Python", "numpy", "scipy", "pandas", "matplotlib", "Platform")
    return tuple(Fact(name, found[name]) for name in names)


def priors_text(priors: Priors, bounds: Sequence[float], likelihood: Likelihood = "gaussian") -> str:
    """The priors in words and numbers, (M3) to (M7) and (M17) to (M19) of the model page.

    Parameters
    ----------
    priors : Priors
    bounds : sequence of float
        The bounds of delta0 from the data, one for each comparison; 0 if the scores are identical.
    likelihood : {"gaussian", "trinomial"}
    """
    of_datasets = f"the standard deviation of each data set uniform up to {priors.sigma_upper:g} times their average"
    if likelihood == "trinomial":
        of_datasets = "the share of the answers that differ, beyond what the difference needs, uniform"
    if priors.population == "mixture":
        return (
            f"the concentration Gamma-distributed with shape {priors.concentration[0]:g} and rate "
            f"{priors.concentration[1]:g}, the centres of the components "
            f"Student-t with 3 degrees of freedom around the mean of the data sets' means and a scale of {CENTRE_SPREAD:g} "
            f"times their standard deviation, the components' standard deviations half-normal between {NARROWEST:g} and "
            f"{WIDEST:g} times it, and {of_datasets}"
        )
    limits = {bound for bound in bounds if bound} if priors.delta0_bound is None else {priors.delta0_bound}
    centre = "delta0 uniform"
    if priors.delta0 is not None:
        limit = (
            "" if priors.delta0_bound is None else f", cut off at {-priors.delta0_bound:g} and {priors.delta0_bound:g}"
        )
        centre = f"delta0 {priors.delta0.words}{limit}"
    elif len(limits) == 1:
        (bound,) = limits
        centre += f" between {-bound:g} and {bound:g}"
    elif limits:
        centre += f" within a bound that depends on the pair, {min(limits):g} to {max(limits):g}"
    uniform = f"uniform up to {priors.sigma0_upper:g} times the standard deviation of the data sets' means"
    parts = [centre, f"sigma0 {uniform if priors.sigma0 is None else priors.sigma0.words}", of_datasets]
    if priors.population == "student_t":
        variable = f"nu - {priors.nu_lower:g}" if priors.nu_lower else "nu"
        alpha, beta = priors.alpha, priors.beta
        if isinstance(alpha, tuple) and isinstance(beta, tuple):
            shape, rate = (f"uniform between {lower:g} and {upper:g}" for lower, upper in (alpha, beta))
            parts.append(f"{variable} Gamma-distributed with a shape {shape} and a rate {rate}")
        else:
            parts.append(f"{variable} Gamma-distributed with shape {alpha:g} and rate {beta:g}")
    return ", ".join(parts[:-1]) + f", and {parts[-1]}"


def computed(result: Tournament) -> list[Fit]:
    """The pairs with numbers for a verdict."""
    return [pair for pair in result.pairs if not isinstance(pair, FailedPair) and pair.status != "failed"]


def delta0_bounds(result: Tournament) -> list[float]:
    """The bound of delta0 in each of these."""
    return [pair.differences.delta0_bound for pair in computed(result)]
