"""What a plan assumes of data sets that are still to come, and simulated collections of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.scores.differences import PairedDifferences

# One stream of random numbers for each quantity, so that the first data sets of a collection are the same whatever their
# number, the runs and the assumed values are
STREAMS = ("draw", "kind", "population", "mean", "spread")


@dataclass(frozen=True, eq=False)
class Assumption:
    """A population of data sets, certain or with its posterior, and the kinds of data sets that it consists of.

    Attributes
    ----------
    delta0, sigma0, nu : ndarray, shape (draws,)
        Centre, scale and degrees of freedom of the data sets' mean differences; one draw where they are taken as certain.
        ``nu`` may be infinite (Gaussian).
    sigma : ndarray, shape (draws, kinds)
        Standard deviation of the differences within a data set, of each kind.
    n : ndarray of int, shape (options, kinds)
        Number of differences of a data set, for each number of runs that is planned.
    rho : ndarray, shape (kinds,)
        Correlation between two differences of a data set.
    score_range : pair of float
        Smallest and largest score that the metric can take.
    left, right : str
        The algorithms.
    words : str
        The assumption as a person reads it.
    """

    delta0: FloatArray
    sigma0: FloatArray
    nu: FloatArray
    sigma: FloatArray
    n: NDArray[np.int64]
    rho: FloatArray
    score_range: tuple[float, float]
    left: str
    right: str
    words: str


def simulated_collections(
    assumption: Assumption, count: int, seed: int, simulation: int
) -> Iterator[PairedDifferences]:
    """A simulated collection of data sets for each planned number of runs, as sufficient statistics.

    They are drawn from their exact distributions; no single fold is needed. The same seed and simulation give the same
    data sets, of which a smaller ``count`` gives the first ones, and which have the same random numbers under every number
    of runs.

    Parameters
    ----------
    assumption : Assumption
    count : int
        Data sets.
    seed, simulation : int
        Which random numbers.

    Notes
    -----
    delta_i ~ t_nu(delta0, sigma0) (M2). With x_i ~ MVN(1 delta_i, sigma_i^2 M_i) (M1) the mean is normal with variance
    sigma_i^2 (1 + (n - 1) rho)/n, and independently of it SS_i/(sigma_i^2 (1 - rho)) is chi-squared with n - 1 degrees of
    freedom: the two eigenvalues of M_i, for the vector of ones and for all that is orthogonal to it.
    """
    from scipy import special

    streams = {name: np.random.default_rng([seed, simulation, number]) for number, name in enumerate(STREAMS)}
    draw = streams["draw"].integers(len(assumption.delta0))
    kind = streams["kind"].integers(len(assumption.rho), size=count)
    nu = assumption.nu[draw]
    generator = streams["population"]
    deviation = generator.standard_normal(count) if np.isinf(nu) else generator.standard_t(nu, count)
    delta = assumption.delta0[draw] + assumption.sigma0[draw] * deviation
    sigma, rho = assumption.sigma[draw, kind], assumption.rho[kind]
    standard_normal = streams["mean"].standard_normal(count)
    above = 1 - streams["spread"].random(count)  # in (0, 1]
    names = tuple(str(number + 1) for number in range(count))
    lowest, highest = assumption.score_range
    for option in assumption.n:
        n = option[kind]
        mean = delta + sigma * np.sqrt((1 + (n - 1) * rho) / n) * standard_normal
        yield PairedDifferences(
            left=assumption.left,
            right=assumption.right,
            dataset_names=names,
            mean=mean,
            sum_of_squares=sigma**2 * (1 - rho) * special.chdtri(n - 1, above),
            n=n,
            rho=rho,
            constant=np.zeros(count, dtype=bool),
            lowest_score=np.full(count, lowest),
            highest_score=np.full(count, highest),
            largest_difference=float((np.abs(mean) + 2 * sigma).max()),  # about; without the folds it is not known
        )


def first_datasets(differences: PairedDifferences, count: int) -> PairedDifferences:
    """The first data sets of a collection."""
    parts: dict[str, Any] = {
        name: value[:count] for name, value in vars(differences).items() if isinstance(value, np.ndarray)
    }
    return replace(differences, dataset_names=differences.dataset_names[:count], **parts)
