"""How much each data set matters: the probabilities without it, by importance weights or by a new fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import FloatArray, true_or_false, whole_number
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.posterior.sensitivity import fit_defaults, refit
from hiercomp.rope import REGIONS, most_probable_shares, region_probabilities
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.posterior.result import ComparisonResult

STEP, LARGEST_T = 0.2, 8.0  # of the trapezoidal rule: 81 nodes, the last 1,500 scales away
DRAWS_AT_ONCE = 2000
LARGEST_K_HAT = 0.7  # above it Pareto-smoothed weights are not reliable (Vehtari et al. 2024)
FEWEST = 3  # data sets; without one of them two are left


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Presentation):
    """The three probabilities without each data set.

    Attributes
    ----------
    dataset_names : tuple of str
    without : ndarray, shape (q, 3)
        Probabilities of left, rope and right without each data set; NaN where a refit failed.
    all : ndarray, shape (3,)
        With all data sets.
    k_hat : ndarray, shape (q,)
        Pareto shape of the importance weights.
    refitted : ndarray of bool, shape (q,)
        Whether the data set was left out by a new fit.
    algorithms : tuple of str
        The left and the right algorithm.
    """

    dataset_names: tuple[str, ...]
    without: FloatArray
    all: FloatArray
    k_hat: FloatArray
    refitted: np.ndarray
    algorithms: tuple[str, str]

    @property
    def title(self) -> str:
        """What was left out."""
        left, right = map(shown, self.algorithms)
        return (
            f"Influence, {left} against {right}: the probabilities without each of {len(self.dataset_names)} data sets"
        )

    @property
    def conclusion(self) -> str:
        """The data set that matters most."""
        change = np.abs(self.without - self.all).max(axis=1)
        most = int(np.nanargmax(change))
        return (
            f"Leaving out {shown(self.dataset_names[most])!r} changes a probability most, by {change[most]:.3f}; "
            f"{int(self.refitted.sum())} data sets needed a new fit."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: p_left, p_rope, p_right without it, their changes, k_hat, refitted."""
        import pandas as pd

        columns = {f"p_{region}": self.without[:, number] for number, region in enumerate(REGIONS)}
        changes = {f"change_p_{region}": self.without[:, i] - self.all[i] for i, region in enumerate(REGIONS)}
        rest = {"k_hat": self.k_hat, "refitted": self.refitted}
        return pd.DataFrame(columns | changes | rest, index=pd.Index(self.dataset_names, name="dataset"))


def influence(result: ComparisonResult, *, refit_all: bool = False, n_jobs: int = 2, **fit_options: Any) -> Influence:
    """Probabilities of left, rope and right without each data set in turn.

    The draws are weighted by 1 / p(x_i | delta0, sigma0, nu), with delta_i and sigma_i integrated out, and the weights
    Pareto-smoothed (PSIS); where the shape k-hat exceeds 0.7 the model is fitted again without the data set.

    Parameters
    ----------
    result : ComparisonResult
    refit_all : bool
        Fit again for every data set.
    n_jobs : int
        Fits at once, in processes of their own (joblib).
    **fit_options
        Passed on to `HierarchicalComparison.fit`; those of the result by default.

    Returns
    -------
    Influence

    Raises
    ------
    NoVerdictError
        If the computation failed its checks.
    ArgumentError
        If there are fewer than 3 data sets, or the scores are identical.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao & Gabry, "Pareto smoothed importance sampling", JMLR 25 (2024).
    """
    from arviz_stats.base import array_stats
    from joblib import Parallel, delayed

    true_or_false("refit_all", refit_all)
    whole_number("n_jobs", n_jobs, -64)
    given = result.differences
    seen = result.next_dataset
    if result.diagnostics.exact or len(given.dataset_names) < FEWEST:
        raise ArgumentError(
            f"Influence needs at least {FEWEST} data sets and scores that differ; there are {len(given.dataset_names)}."
        )
    delta0, sigma0, nu = (result.draws(name) for name in ("delta0", "sigma0", "nu"))
    log_lik = log_marginal_likelihoods(delta0.ravel(), sigma0.ravel(), nu.ravel(), given)
    log_weights, k_hat = array_stats.psislw(log_lik.T, axis=-1)  # of the log likelihood, not of the log ratio
    shares = most_probable_shares(region_probabilities(delta0, sigma0, nu, result.rope)).reshape(-1, 3)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    without = (weights / weights.sum(axis=1, keepdims=True)) @ shares
    refitted = (np.asarray(k_hat) > LARGEST_K_HAT) | refit_all
    names = [name for name, again in zip(given.dataset_names, refitted, strict=True) if again]
    options = fit_defaults(result) | fit_options
    bare = replace(given, scores=None)
    tasks = [delayed(_without)(name, bare, result, options) for name in names]
    without[refitted] = np.array(Parallel(n_jobs=n_jobs)(tasks)).reshape(-1, 3)
    together = np.array([seen.p_left, seen.p_rope, seen.p_right])
    return Influence(given.dataset_names, without, together, np.asarray(k_hat), refitted, (result.left, result.right))


def log_marginal_likelihoods(
    delta0: FloatArray, sigma0: FloatArray, nu: FloatArray, differences: PairedDifferences
) -> FloatArray:
    """Log p(x_i | delta0, sigma0, nu) up to a constant of each data set, shape (draws, q).

    With sigma_i integrated out, delta_i has a Student-t likelihood with n_i - 2 degrees of freedom. delta_i is integrated
    by the trapezoidal rule in t, delta = centre + scale sinh(t), about the population and about the likelihood at once. Each
    rule has the share of the integrand that goes with its squared density of nodes, so that it has to resolve no
    peak narrower than its own, wherever that lies.

    Parameters
    ----------
    delta0, sigma0, nu : ndarray, shape (draws,)
    differences : PairedDifferences
    """
    steps = np.sinh(np.arange(-LARGEST_T, LARGEST_T + STEP / 2, STEP))
    n, rho = differences.n.astype(float), differences.rho
    df = n - 2
    scale = np.sqrt(differences.sum_of_squares / (1 - rho) * (1 + (n - 1) * rho) / n / df)
    total = np.empty((len(delta0), len(n)))
    for start in range(0, len(delta0), DRAWS_AT_ONCE):
        rows = slice(start, start + DRAWS_AT_ONCE)
        centre, spread = delta0[rows, None], sigma0[rows, None]
        shape = np.minimum(nu[rows, None], 1e8)  # a Gaussian, up to rounding
        about_population = centre + spread * steps
        for i in range(len(n)):
            about_data = np.broadcast_to(differences.mean[i] + scale[i] * steps, about_population.shape)
            delta = np.concatenate([about_population, about_data], axis=1)
            from_population = (delta - centre) / spread
            from_data = (delta - differences.mean[i]) / scale[i]
            density = 1 / (spread * np.hypot(1, from_population)), 1 / (scale[i] * np.hypot(1, from_data))  # of nodes
            own = np.concatenate([density[0][:, : len(steps)], density[1][:, len(steps) :]], axis=1)
            share = own / (density[0] ** 2 + density[1] ** 2)
            log_product = _log_student_t(from_population, shape) + _log_student_t(from_data, df[i])
            largest = log_product.max(axis=1, keepdims=True)
            summed = (np.exp(log_product - largest) * share).sum(axis=1)
            total[rows, i] = np.log(STEP * summed) + largest[:, 0] - np.log(spread[:, 0] * scale[i])
    return total


def _log_student_t(z: FloatArray, nu: Any) -> FloatArray:
    from scipy import special

    constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return np.asarray(constant - (nu + 1) / 2 * np.log1p(z**2 / nu))


def _without(
    name: str, differences: PairedDifferences, result: ComparisonResult, options: dict[str, Any]
) -> list[float]:
    """The three probabilities of a new fit without one data set."""
    kept = differences.subset([other for other in differences.dataset_names if other != name])
    found = refit(kept, result.rope, result.priors, options)
    if found.status == "failed":
        return [np.nan] * 3
    seen = found.next_dataset
    return [seen.p_left, seen.p_rope, seen.p_right]
