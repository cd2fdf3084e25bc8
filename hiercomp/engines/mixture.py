"""The sampler of a mixture population: a Dirichlet process over a dictionary of normal components (D1)-(D4).

On the table of L[i, g] = p(x_i | component g), which the quadrature engine computes, every step is conjugate. The state is
a partition of the data sets into clusters, an atom of the dictionary for each cluster, and the concentration a; each sweep
draws the population's weights given these (the clusters' by a Dirichlet, the rest by breaking a stick), then the clusters
given the weights, the clusters' atoms, and a (Escobar and West, 1995). All chains advance together, and the random numbers
of each come from a generator of its own. No sum uses BLAS, whose kernels differ in the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.base import Answer, Computation
from hiercomp.engines.quadrature.likelihood import MeanLikelihood, step_for
from hiercomp.model.mixture import Dictionary

TABLE_ERROR = 1e-8  # of the log likelihood of all data sets
ATOMS_AT_ONCE = 128  # of the dictionary, in the table
STICKS = 16.0  # for each unit of the concentration: exp(-16) = 1e-7 of the stick is left for the last piece
LARGEST_LEVEL = 0.999  # quantile of the prior of the concentration, for the number of sticks
SWEEPS_AT_ONCE = 100  # whose uniform numbers are drawn together
SWEEPS_A_DRAW = 4
SMALLEST_CONCENTRATION = 1e-300  # where a prior is so close to zero that its draws are zero
SMALLEST_WEIGHT = 1e-6  # of a component that is kept; those dropped have less than 1e-4 in all with the default prior

Kind = TypeVar("Kind", bound=np.generic)


def log_table(likelihood: MeanLikelihood, dictionary: Dictionary) -> FloatArray:
    """Log L[i, g] = log p(x_i | m_g, s_g) of every data set and component (M14 with nu infinite), shape (q, atoms)."""
    step = step_for(TABLE_ERROR, len(likelihood.n))
    parts = [
        likelihood.log_integrals(
            dictionary.centre[start : start + ATOMS_AT_ONCE],
            dictionary.scale[start : start + ATOMS_AT_ONCE],
            np.inf,
            step=step,
        )
        for start in range(0, len(dictionary.centre), ATOMS_AT_ONCE)
    ]
    return np.ascontiguousarray(np.concatenate(parts).T)


class MixtureEngine:
    """Samples a mixture with this module's sampler."""

    name = "mixture"
    holds_draws = True

    def why_unavailable(self) -> str | None:
        """Nothing: it needs only NumPy."""
        return None

    def version(self) -> str:
        """NumPy and its version."""
        return f"numpy {np.__version__}"

    def fit(self, computation: Computation[Answer]) -> Answer:
        """Sample a mixture."""
        return computation.mixed(self)

    def sampler(self, problem: MixtureProblem, chains: int, seed: int) -> MixtureSampler:
        """Chains at their start."""
        return MixtureSampler(problem, chains, seed)


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """What the sampler needs.

    Attributes
    ----------
    log_likelihood : ndarray, shape (q, atoms)
        log L.
    weight : ndarray, shape (atoms,)
        Of G0.
    shape, rate : float
        Of the Gamma prior of the concentration.
    """

    log_likelihood: FloatArray
    weight: FloatArray
    shape: float
    rate: float

    @property
    def sticks(self) -> int:
        """Pieces into which the rest of the population's mass is broken."""
        from scipy import special

        largest = special.gammaincinv(self.shape, LARGEST_LEVEL) / self.rate
        return max(2, ceil(STICKS * largest))


@dataclass(frozen=True, eq=False)
class MixtureDraws:
    """Draws of the population.

    Attributes
    ----------
    atom : ndarray of int, shape (chains, draws, components)
        Of the dictionary; components without weight have atom 0.
    weight : ndarray, shape (chains, draws, components)
        They sum to 1 in each draw, and descend.
    allocation : ndarray of int, shape (chains, draws, q)
        The atom of each data set.
    concentration : ndarray, shape (chains, draws)
    """

    atom: NDArray[np.int16]
    weight: FloatArray
    allocation: NDArray[np.int16]
    concentration: FloatArray


class MixtureSampler:
    """The chains of a problem, which go on where they stopped.

    Parameters
    ----------
    problem : MixtureProblem
    chains : int
    seed : int
        Each chain has a generator of its own, from this and its number.
    """

    def __init__(self, problem: MixtureProblem, chains: int, seed: int) -> None:
        q = len(problem.log_likelihood)
        self.problem, self.chains, self.sticks = problem, chains, problem.sticks
        self.generators = [np.random.default_rng([seed, chain]) for chain in range(chains)]
        self.height = problem.log_likelihood.max(axis=1, keepdims=True)
        self.likelihood = np.ascontiguousarray(np.exp(problem.log_likelihood - self.height).T)  # (atoms, q)
        self.log_weight = np.log(problem.weight)
        self.cumulative = np.cumsum(problem.weight)
        self.rows = np.arange(chains)[:, None]
        # Chains start with 1, 2, ... clusters of random data sets, and the concentration from its prior
        pick = [generator.random((2, q)) for generator in self.generators]
        self.cluster = np.array([(u[0] * min(q, 1 + 3 * chain)).astype(np.int64) for chain, u in enumerate(pick)])
        drawn = np.array([g.gamma(problem.shape, 1 / problem.rate) for g in self.generators])
        self.concentration = np.maximum(drawn, SMALLEST_CONCENTRATION)
        self.count, self.atom = self._gathered(np.array([u[1] for u in pick]))

    def run(self, draws: int, *, sweeps: int = SWEEPS_A_DRAW) -> MixtureDraws:
        """The next draws of each chain, every one after some sweeps."""
        q = self.likelihood.shape[1]
        atoms, weights, allocations, concentrations = [], [], [], []
        for sweep in range(draws * sweeps):
            if sweep % SWEEPS_AT_ONCE == 0:
                size = min(SWEEPS_AT_ONCE, draws * sweeps - sweep), 2 * (self.sticks + q)
                uniform = np.stack([generator.random(size) for generator in self.generators], axis=1)
            of_length, of_place, of_cluster, of_atom = np.split(
                uniform[sweep % SWEEPS_AT_ONCE], [self.sticks, 2 * self.sticks, 2 * self.sticks + q], axis=1
            )
            concentration = self.concentration
            atom, weight = self._population(of_length, of_place)
            self.cluster = self._allocated(atom, weight, of_cluster)
            if (sweep + 1) % sweeps == 0:
                atoms.append(atom)
                weights.append(weight)
                allocations.append(atom[self.rows, self.cluster])
                concentrations.append(concentration)
            self.count, self.atom = self._gathered(of_atom)
            self.concentration = self._concentrations()
        return _compact(atoms, weights, allocations, concentrations)

    def _population(self, length: FloatArray, place: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
        """Weights and atoms given clusters and concentration: those of the clusters first, then the sticks."""
        shape = np.concatenate([self.count, self.concentration[:, None]], axis=1)
        mass = np.stack([g.standard_gamma(row) for g, row in zip(self.generators, shape, strict=True)])
        mass /= np.cumsum(mass, axis=1)[:, -1:]  # the same to the last bit whatever the width of the array
        # Of the rest, each piece takes Beta(1, a) of what is left, the last one all of it
        log_left = np.cumsum(np.log1p(-length) / self.concentration[:, None], axis=1)
        left = np.exp(np.concatenate([np.zeros((self.chains, 1)), log_left[:, :-1]], axis=1))
        piece = np.append(left[:, :-1] - left[:, 1:], left[:, -1:], axis=1)
        new = np.minimum(np.searchsorted(self.cumulative, place * self.cumulative[-1]), len(self.cumulative) - 1)
        return (
            np.concatenate([self.atom, new], axis=1),
            np.concatenate([mass[:, :-1], mass[:, -1:] * piece], axis=1),
        )

    def _allocated(self, atom: NDArray[np.int64], weight: FloatArray, u: FloatArray) -> NDArray[np.int64]:
        """A component for each data set, in proportion to its weight times the likelihood, shape (chains, q)."""
        share = self.likelihood[atom]  # (chains, components, q): the sums run along contiguous data sets
        share *= weight[:, :, None]
        total = np.cumsum(share, axis=1, out=share)
        place = (total < (u * total[:, -1])[:, None, :]).sum(axis=1)
        return np.asarray(np.minimum(place, atom.shape[1] - 1))

    def _gathered(self, u: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number the clusters again, and draw the atom of each given its data sets: counts and atoms (chains, most)."""
        from scipy import sparse

        q, most = self.cluster.shape[1], int(self.cluster.max()) + 1
        flat = (self.cluster + most * self.rows).ravel()
        order = np.argsort(flat, kind="stable")
        number = np.bincount(flat, minlength=self.chains * most).reshape(self.chains, most)
        used = number > 0
        rank = np.cumsum(used, axis=1) - 1
        self.cluster = rank[self.rows, self.cluster]
        chain, _ = np.nonzero(used)
        members = number[used]
        starts = np.cumsum(members) - members
        # Sums of the rows of each cluster, one after another: faster than copying these rows beside each other first
        clusters = sparse.csr_array((np.ones(order.size), order % q, np.append(starts, order.size)), (len(starts), q))
        log_density = clusters @ self.problem.log_likelihood
        log_density += self.log_weight
        log_density -= log_density.max(axis=1, keepdims=True)
        total = np.cumsum(np.exp(log_density, out=log_density), axis=1, out=log_density)
        at = rank[used]
        level = u[chain, at] * total[:, -1]
        drawn = np.minimum((total < level[:, None]).sum(axis=1), total.shape[1] - 1)
        width = int(rank.max()) + 1
        count, atom = np.zeros((2, self.chains, width), np.int64)
        count[chain, at], atom[chain, at] = members, drawn
        return count, atom

    def _concentrations(self) -> FloatArray:
        """The concentration given the number of clusters, by the variable eta of Escobar and West (1995)."""
        q, shape, rate = self.likelihood.shape[1], self.problem.shape, self.problem.rate
        found = np.empty(self.chains)
        for chain, generator in enumerate(self.generators):
            k = int((self.count[chain] > 0).sum())
            eta = generator.beta(self.concentration[chain] + 1, q)
            scale = rate - np.log(eta)
            odds = (shape + k - 1) / (q * scale)
            drawn = generator.gamma(shape + k - (generator.random() * (1 + odds) >= odds), 1 / scale)
            found[chain] = max(drawn, SMALLEST_CONCENTRATION)
        return found


def _compact(
    atoms: Sequence[NDArray[np.int64]],
    weights: Sequence[FloatArray],
    allocations: Sequence[NDArray[np.int64]],
    concentrations: Sequence[FloatArray],
) -> MixtureDraws:
    """Draws with the components whose weight matters, the heaviest first."""
    width = max(weight.shape[1] for weight in weights)
    weight = np.stack([_padded(each, width) for each in weights], axis=1)
    atom = np.stack([_padded(each, width) for each in atoms], axis=1)
    order = np.argsort(-weight, axis=2, kind="stable")
    weight, atom = np.take_along_axis(weight, order, axis=2), np.take_along_axis(atom, order, axis=2)
    kept = weight >= SMALLEST_WEIGHT
    most = int(kept.sum(axis=2).max())
    weight, atom = np.where(kept, weight, 0.0)[:, :, :most], np.where(kept, atom, 0)[:, :, :most]
    weight /= weight.sum(axis=2, keepdims=True)
    allocation = np.stack(allocations, axis=1)
    # A tournament holds the draws of every pair
    return MixtureDraws(atom.astype(np.int16), weight, allocation.astype(np.int16), np.stack(concentrations, axis=1))


def _padded(values: NDArray[Kind], width: int) -> NDArray[Kind]:
    return np.pad(values, ((0, 0), (0, width - values.shape[1])))


def mixed_predictions(values: FloatArray, problem: MixtureProblem, draws: MixtureDraws, *, without: bool) -> FloatArray:
    """Means of values of the atoms under what each draw says of a data set, the population's weights integrated out (D5).

    Parameters
    ----------
    values : ndarray, shape (q, atoms)
        Of each data set and atom.
    problem : MixtureProblem
    draws : MixtureDraws
    without : bool
        Whether the data set's own place among the clusters is left out. The inverse of the mean likelihood is then the
        importance ratio of leaving the data set out. It is bounded, because the dictionary itself always has the share
        a / (a + q - 1); given the population's weights it is not.

    Returns
    -------
    ndarray, shape (chains, draws, q)
    """
    q, own = len(values), np.arange(len(values))
    of_dictionary = (values * problem.weight).sum(axis=1)
    found = np.empty(draws.allocation.shape)
    for place in np.ndindex(found.shape[:2]):
        atoms, count = np.unique(draws.allocation[place], return_counts=True)
        others = (values[:, atoms] * count).sum(axis=1)
        if without:
            others = np.maximum(others - values[own, draws.allocation[place]], 0)
        found[place] = draws.concentration[place] * of_dictionary + others
    found /= (draws.concentration + q - without)[:, :, None]
    return found


def predictions_of_new(values: FloatArray, problem: MixtureProblem, draws: MixtureDraws) -> FloatArray:
    """The same of a data set that is none of the draws': ``values`` has shape (atoms,), the result (chains, draws)."""
    a, q = draws.concentration, draws.allocation.shape[2]
    total = a * (values * problem.weight).sum() + values[draws.allocation].sum(axis=2)
    return np.asarray(total / (a + q))


def log_likelihood(problem: MixtureProblem, draws: MixtureDraws) -> FloatArray:
    """Log p(x | weights) of all data sets together given the population of each draw, shape (chains, draws)."""
    height = problem.log_likelihood.max(axis=1)
    likelihood = np.exp(problem.log_likelihood - height[:, None]).T
    found = np.empty(draws.concentration.shape)
    for place in np.ndindex(found.shape):
        of_datasets = (likelihood[draws.atom[place]] * draws.weight[place][:, None]).sum(axis=0)
        found[place] = np.log(of_datasets).sum()
    return np.asarray(found + height.sum())


def dataset_draws(
    likelihood: MeanLikelihood, dictionary: Dictionary, allocation: NDArray[np.int16], generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws of delta_i and sigma_i given the component of each data set, each of shape (chains, draws, q)."""
    chains, draws, q = allocation.shape
    delta = np.empty((chains * draws, q))
    for i in range(q):
        atoms, place = np.unique(allocation[..., i], return_inverse=True)
        level = generator.random(chains * draws)
        delta[:, i] = likelihood.draws_of_one(
            i, dictionary.centre[atoms], dictionary.scale[atoms], place.ravel(), level
        )
    sigma = likelihood.sigma_draws(delta, generator)
    return delta.reshape(allocation.shape), sigma.reshape(allocation.shape)


def prior_population(
    dictionary: Dictionary, shape: float, rate: float, count: int, generator: np.random.Generator
) -> dict[str, FloatArray]:
    """Draws of the concentration, and of mean and standard deviation of a population, from the prior: (count,) each."""
    sticks = MixtureProblem(np.zeros((1, 1)), dictionary.weight, shape, rate).sticks
    concentration = np.maximum(generator.gamma(shape, 1 / rate, count), SMALLEST_CONCENTRATION)
    log_left = np.cumsum(np.log1p(-generator.random((count, sticks - 1))) / concentration[:, None], axis=1)
    left = np.exp(np.concatenate([np.zeros((count, 1)), log_left], axis=1))
    weight = np.concatenate([left[:, :-1] - left[:, 1:], left[:, -1:]], axis=1)
    atom = generator.choice(len(dictionary.weight), size=weight.shape, p=dictionary.weight)
    centre, scale = dictionary.centre[atom], dictionary.scale[atom]
    mean = (weight * centre).sum(axis=1)
    variance = (weight * (scale**2 + (centre - mean[:, None]) ** 2)).sum(axis=1)
    return {"delta0": mean, "sigma0": np.sqrt(variance), "concentration": concentration}
