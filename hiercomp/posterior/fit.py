"""From a model to draws that pass every check: the fit, and what is tried where it fails one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from hiercomp.engines import Draws, Engine, SamplerSettings
from hiercomp.errors import ConvergenceWarning, Note, RefitWarning
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.diagnostics import Diagnostics, diagnose
from hiercomp.posterior.next_dataset import next_dataset
from hiercomp.rope import Rope

CAREFUL_ADAPT_DELTA = 0.99
LONGER_WARMUP, LONGER_DRAWS = 2, 5
PURPOSES = ("first fit", "other parameterisation", "longer")
MOST_DRAWS = 20_000  # a chain, where runs are extended for precision


@dataclass(frozen=True)
class Attempt:
    """One run of the sampler.

    Attributes
    ----------
    purpose : str
        "first fit", "other parameterisation" or "longer".
    centred, noncentred : int
        Number of data sets in each parameterisation.
    warmup, draws : int
        Of each chain; the draws with those added for precision.
    adapt_delta : float
    failures : tuple of str
        The checks that failed.
    """

    purpose: str
    centred: int
    noncentred: int
    warmup: int
    draws: int
    adapt_delta: float
    failures: tuple[str, ...]


@dataclass(frozen=True)
class Fit:
    """The last run and the way to it; all values in the sampler's unit."""

    draws: Draws
    diagnostics: Diagnostics
    attempts: tuple[Attempt, ...]
    notes: tuple[Note, ...]


POPULATION = ("delta0", "sigma0", "nu", "alpha", "beta")


def fit_model(
    model: HierarchicalModel,
    rope: Rope,
    engine: Engine,
    settings: SamplerSettings,
    *,
    monte_carlo_error: float | None,
    dataset_names: tuple[str, ...],
) -> Fit:
    """Sample until every check passes and the probabilities are precise enough, or say why not.

    A fit that fails a check is run again in the other parameterisation, then longer and with smaller steps. Chains that
    pass go on where the Monte Carlo error of P(left), P(rope) or P(right) is above ``monte_carlo_error``.

    Parameters
    ----------
    model : HierarchicalModel
    rope : Rope
        In the sampler's unit.
    engine : Engine
    settings : SamplerSettings
    monte_carlo_error : float or None
        Largest standard error wanted; None leaves the number of draws as it is.
    dataset_names : tuple of str
        Names for messages.
    """
    longer = replace(
        settings,
        warmup=LONGER_WARMUP * settings.warmup,
        draws=LONGER_DRAWS * settings.draws,
        adapt_delta=max(CAREFUL_ADAPT_DELTA, settings.adapt_delta),
    )
    first, other = model.centred(), model.centred_otherwise()
    attempts: list[Attempt] = []
    for purpose in PURPOSES:
        if purpose == "other parameterisation" and np.array_equal(first, other):
            continue
        centred = first if purpose == "first fit" else other
        if purpose == "longer" and len(attempts[0].failures) <= len(attempts[-1].failures):
            centred = first  # the parameterisation that failed fewer checks
        chosen = longer if purpose == "longer" else settings
        program = model.program(centred, chosen.chains, chosen.seed)
        draws = engine.sample(program, chosen)
        more = 0 if monte_carlo_error is None else _draws_wanted(draws, rope, monte_carlo_error) - chosen.draws
        if more > 0 and not diagnose(_population(draws), draws.statistics).failures:
            draws = draws.followed_by(engine.sample(program, replace(chosen, draws=max(more, 100)), draws.state))
        diagnostics = diagnose(draws.variables, draws.statistics, dataset_names)
        attempts.append(
            Attempt(
                purpose=purpose,
                centred=int(centred.sum()),
                noncentred=int((~centred).sum()),
                warmup=chosen.warmup,
                draws=diagnostics.draws,
                adapt_delta=chosen.adapt_delta,
                failures=diagnostics.failures,
            )
        )
        if not diagnostics.failures:
            break
    return Fit(draws, diagnostics, tuple(attempts), _notes(tuple(attempts)))


def _population(draws: Draws) -> dict[str, NDArray[np.float64]]:
    return {name: draws.variables[name] for name in POPULATION if name in draws.variables}


def _draws_wanted(draws: Draws, rope: Rope, monte_carlo_error: float) -> int:
    """Draws of a chain that bring the Monte Carlo error of every probability down to what is wanted."""
    variables = draws.variables
    inference = next_dataset(variables["delta0"], variables["sigma0"], variables.get("nu", np.inf), rope)
    largest = inference.largest_error
    length = int(variables["delta0"].shape[1])
    if largest <= monte_carlo_error:
        return length
    margin = 1.1  # the error is itself an estimate
    wanted = length * margin * (largest / monte_carlo_error) ** 2
    return min(100 * ceil(wanted / 100), max(MOST_DRAWS, length))


def _notes(attempts: tuple[Attempt, ...]) -> tuple[Note, ...]:
    failed = [attempt for attempt in attempts if attempt.failures]
    if attempts[-1].failures:
        text = (
            f"The computation can't be trusted after {len(attempts)} attempts: {'; '.join(attempts[-1].failures)}. "
            "No verdict is given. Try more warmup and draws, or look for data sets that do not belong."
        )
        return (Note(ConvergenceWarning, text),)
    if failed:
        last = attempts[-1]
        tried = "; ".join(f"{attempt.purpose}: {', '.join(attempt.failures)}" for attempt in failed)
        text = (
            f"{len(failed)} of {len(attempts)} runs failed a check and were run again ({tried}). The last passed every "
            f"check ({last.purpose}: {last.centred} data sets centred, {last.noncentred} not, {last.warmup:,} warmup "
            f"iterations and {last.draws:,} draws a chain, adapt_delta {last.adapt_delta:g})."
        )
        return (Note(RefitWarning, text),)
    return ()
