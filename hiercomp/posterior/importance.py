"""Leaving out each data set by weighting draws of the population: Pareto-smoothed importance sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import FloatArray
from hiercomp.engines.base import SamplerSettings
from hiercomp.engines.mixture import (
    MixtureDraws,
    MixtureProblem,
    MixtureSampler,
    log_table,
    mixed_predictions,
    predictions_of_new,
)
from hiercomp.engines.quadrature.leave_one_out import LeftOut
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.predictive import Populations
from hiercomp.model.mixture import Dictionary
from hiercomp.posterior.chains import effective_size_of_mean
from hiercomp.posterior.diagnostics import diagnose_mixture

EVEN = 0.5  # effective share of the draws above which bounded weights need no smoothing
LARGEST_K = 0.7  # of the Pareto tail of the weights, above which their sums are not to be trusted


def largest_k(draws: int) -> float:
    """The largest Pareto k at which weights of so many draws are trusted (Vehtari et al. 2024)."""
    return float(min(1 - 1 / np.log10(max(draws, 2)), LARGEST_K))


def left_out_by_weights(
    likelihood: MeanLikelihood,
    delta0: FloatArray,
    sigma0: FloatArray,
    nu: ArrayLike,
    exactly: Callable[[Sequence[int]], LeftOut],
) -> LeftOut:
    """What the others say of each data set, from draws of the population.

    The weight of a draw without data set i is 1 / p(x_i | delta0, sigma0, nu), smoothed. Where its Pareto k is too large,
    ``exactly`` is asked.

    Parameters
    ----------
    likelihood : MeanLikelihood
    delta0, sigma0, nu : ndarray, shape (chains, draws)
    exactly : callable
        From places of data sets to the same by integrals.
    """
    from arviz_stats.base import array_stats
    from scipy import special

    nu = np.broadcast_to(np.asarray(nu, dtype=float), delta0.shape)
    flat = [values.ravel() for values in (delta0, sigma0, nu)]
    log_likelihood = likelihood.log_integrals(*flat)
    sizes = [effective_size_of_mean(values) for values in (delta0, sigma0, nu) if np.isfinite(values).all()]
    # psislw takes the log likelihood itself, and weights by its inverse
    log_weights, k = array_stats.psislw(log_likelihood.T, r_eff=float(np.mean(sizes)) / delta0.size, axis=-1)
    log_weights = log_weights - special.logsumexp(log_weights, axis=1, keepdims=True)
    populations = Populations.of_draws(*flat)
    below = np.array(
        [
            np.exp(log_weights[place]) @ populations.mean_below(likelihood.subset(np.array([place])))
            for place in range(len(likelihood.n))
        ]
    )
    log_density = special.logsumexp(log_weights + log_likelihood.T, axis=1)
    within = special.logsumexp(log_likelihood, axis=0) - np.log(delta0.size)
    refitted = ~(k <= largest_k(delta0.size))  # also what is not a number
    doubtful = np.zeros(len(refitted), dtype=bool)
    if refitted.any():
        exact = exactly(np.flatnonzero(refitted).tolist())
        log_density[refitted] = exact.log_density
        within[refitted] = exact.log_density_within
        below[refitted] = exact.below
        doubtful[refitted] = exact.doubtful
    return LeftOut(log_density, within, np.clip(below, 0.0, 1.0), refitted, doubtful, np.asarray(k))


def left_out_with_centres(
    likelihood: MeanLikelihood,
    centre: FloatArray,
    sigma0: FloatArray,
    nu: FloatArray,
    drawn_without: Callable[[int], tuple[tuple[FloatArray, FloatArray, FloatArray], bool]],
) -> LeftOut:
    """What the others say of each data set, from draws of a population whose centre differs from data set to data set.

    Parameters
    ----------
    likelihood : MeanLikelihood
    centre : ndarray, shape (chains, draws, q)
    sigma0, nu : ndarray, shape (chains, draws)
    drawn_without : callable
        From the place of a data set to draws of its centre, sigma0 and nu given the others, and whether these passed the
        checks of the sampler; for a large Pareto k.
    """
    from arviz_stats.base import array_stats
    from scipy import special

    q, draws = len(likelihood.n), sigma0.size
    found, within, below, k = np.empty((4, q))
    refitted, doubtful = np.zeros((2, q), dtype=bool)
    for place in range(q):
        alone = likelihood.subset(np.array([place]))
        population = [values.ravel() for values in (centre[:, :, place], sigma0, nu)]
        log_likelihood = alone.log_integrals(*population)[:, 0]
        sizes = [
            effective_size_of_mean(values) for values in (centre[:, :, place], sigma0, nu) if np.isfinite(values).all()
        ]
        log_weights, shape = array_stats.psislw(log_likelihood, r_eff=float(np.mean(sizes)) / draws, axis=-1)
        log_weights, k[place] = log_weights - special.logsumexp(log_weights), float(shape)
        within[place] = special.logsumexp(log_likelihood) - np.log(draws)
        refitted[place] = not k[place] <= largest_k(draws)
        if refitted[place]:
            drawn, passed = drawn_without(place)
            doubtful[place] = not passed
            population = [values.ravel() for values in drawn]
            log_likelihood = alone.log_integrals(*population)[:, 0]
            log_weights = np.full(len(log_likelihood), -np.log(len(log_likelihood)))
        found[place] = special.logsumexp(log_weights + log_likelihood)
        below[place] = (np.exp(log_weights) * Populations.of_draws(*population).mean_below(alone)).sum()
    return LeftOut(found, within, np.clip(below, 0.0, 1.0), refitted, doubtful, k)


def left_out_of_mixture(
    likelihood: MeanLikelihood,
    dictionary: Dictionary,
    concentration: tuple[float, float],
    draws: MixtureDraws,
    settings: SamplerSettings,
    sweeps: int,
) -> LeftOut:
    """What the others say of each data set, from draws of a mixture.

    The weight of a draw without data set i is 1 / p(x_i | components of the others). The population's weights are integrated
    out, so these are bounded, and their Pareto k is at most 0. Where they are so even that half of the draws remain
    effective they are taken as they are; else they are smoothed, and where the estimate of k is too large, the others
    are sampled without data set i, over the dictionary of all.

    Parameters
    ----------
    likelihood : MeanLikelihood
    dictionary : Dictionary
        In the unit of the likelihood.
    concentration : pair of float
        Shape and rate of its prior.
    draws : MixtureDraws
    settings : SamplerSettings
    sweeps : int
        For each draw, where a data set is left out by sampling.
    """
    from arviz_stats.base import array_stats
    from scipy import special

    table = log_table(likelihood, dictionary)
    problem = MixtureProblem(table, dictionary.weight, *concentration)
    height = table.max(axis=1)
    density = np.exp(table - height[:, None])
    below = np.stack([_below(likelihood, dictionary, place) for place in range(len(table))])
    without, within = (mixed_predictions(density, problem, draws, without=each) for each in (True, False))
    log_without = np.log(without).reshape(-1, len(table))
    size = effective_size_of_mean(draws.concentration)
    log_weights, k = array_stats.psislw(log_without.T, r_eff=size / draws.concentration.size, axis=-1)
    log_weights = log_weights - special.logsumexp(log_weights, axis=1, keepdims=True)
    raw = -log_without.T - special.logsumexp(-log_without.T, axis=1, keepdims=True)
    even = np.exp(-special.logsumexp(2 * raw, axis=1)) > EVEN * raw.shape[1]
    log_weights, k = np.where(even[:, None], raw, log_weights), np.where(even, np.minimum(k, 0.0), k)
    found = special.logsumexp(log_weights + log_without.T, axis=1)
    predicted = mixed_predictions(below, problem, draws, without=True).reshape(-1, len(table))
    probability = (np.exp(log_weights) * predicted.T).sum(axis=1)
    refitted = ~(k <= largest_k(log_without.shape[0]))
    doubtful = np.zeros(len(refitted), dtype=bool)
    for place in np.flatnonzero(refitted):
        others = MixtureProblem(np.delete(table, place, axis=0), dictionary.weight, *concentration)
        sampler = MixtureSampler(others, settings.chains, settings.seed)
        sampler.run(1, sweeps=settings.warmup)
        anew = sampler.run(settings.draws, sweeps=sweeps)
        of_new = predictions_of_new(density[place], others, anew)
        found[place] = np.log(of_new.mean())
        probability[place] = predictions_of_new(below[place], others, anew).mean()
        doubtful[place] = bool(diagnose_mixture({"density": of_new, "concentration": anew.concentration}).failures)
    return LeftOut(
        log_density=found + height,
        log_density_within=np.log(within.reshape(-1, len(table)).mean(axis=0)) + height,
        below=np.clip(probability, 0.0, 1.0),
        refitted=refitted,
        doubtful=doubtful,
        pareto_k=np.asarray(k),
    )


def _below(likelihood: MeanLikelihood, dictionary: Dictionary, place: int) -> FloatArray:
    """Probability that a new mean difference would be less than one data set's, under each atom."""
    atoms = Populations(dictionary.centre, dictionary.scale, np.full(len(dictionary.centre), np.inf))
    return atoms.mean_below(likelihood.subset(np.array([place])))
