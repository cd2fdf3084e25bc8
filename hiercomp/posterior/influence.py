"""How much each data set matters: the probabilities without it, by importance weights or by a new fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import FloatArray, number_of_jobs, true_or_false
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.fit import Fit, refit
from hiercomp.posterior.kinds import integrand
from hiercomp.posterior.sensitivity import fit_defaults
from hiercomp.rope import REGIONS, most_probable_shares, region_probabilities
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd


INTEGRALS_AT_ONCE = 20_000  # some 50 MB
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


def influence(result: Fit, *, refit_all: bool = False, n_jobs: int | None = None, **fit_options: Any) -> Influence:
    """Probabilities of left, rope and right without each data set in turn.

    The draws are weighted by 1 / p(x_i | delta0, sigma0, nu), with delta_i and sigma_i integrated out, and the weights
    Pareto-smoothed (PSIS); where the shape k-hat exceeds 0.7 the model is fitted again without the data set.

    Parameters
    ----------
    result : Fit
        Such as a `hiercomp.ComparisonResult`.
    refit_all : bool
        Fit again for every data set.
    n_jobs : int, optional
        Fits at once, in processes of their own. None is joblib's rule: one, unless a ``joblib.parallel_config`` is
        active; -1 is all cores.
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
    number_of_jobs(n_jobs)
    differences, inference = result.differences, result.next_dataset
    if differences.identical or len(differences.dataset_names) < FEWEST:
        count = len(differences.dataset_names)
        raise ArgumentError(f"Influence needs at least {FEWEST} data sets and scores that differ; there are {count}.")
    delta0, sigma0, nu = (result.draws(name) for name in ("delta0", "sigma0", "nu"))
    log_lik = log_marginal_likelihoods(delta0.ravel(), sigma0.ravel(), nu.ravel(), differences, result.priors)
    log_weights, k_hat = array_stats.psislw(log_lik.T, axis=-1)  # of the log likelihood, not of the log ratio
    shares = most_probable_shares(region_probabilities(delta0, sigma0, nu, result.rope)).reshape(-1, 3)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    without = (weights / weights.sum(axis=1, keepdims=True)) @ shares
    refitted = (np.asarray(k_hat) > LARGEST_K_HAT) | refit_all
    names = [name for name, again in zip(differences.dataset_names, refitted, strict=True) if again]
    options = fit_defaults(result) | fit_options
    bare = replace(differences, scores=None)
    tasks = [delayed(_without)(name, bare, result, options) for name in names]
    without[refitted] = np.array(Parallel(n_jobs=n_jobs)(tasks)).reshape(-1, 3)
    together = np.array([inference.p_left, inference.p_rope, inference.p_right])
    return Influence(
        differences.dataset_names, without, together, np.asarray(k_hat), refitted, (result.left, result.right)
    )


def log_marginal_likelihoods(
    delta0: FloatArray, sigma0: FloatArray, nu: FloatArray, differences: PairedDifferences, priors: Priors
) -> FloatArray:
    """Log p(x_i | delta0, sigma0, nu) of each data set, with delta_i and sigma_i integrated out (M14), shape (draws, q).

    Parameters
    ----------
    delta0, sigma0, nu : ndarray, shape (draws,)
    differences : PairedDifferences
    priors : Priors
        Their upper bound of sigma_i counts.
    """
    model = HierarchicalModel.of(differences, priors)
    likelihood, unit = integrand(model).likelihood, model.unit
    rows = max(1, INTEGRALS_AT_ONCE // len(differences.n))
    parts = [slice(start, start + rows) for start in range(0, len(delta0), rows)]
    logs = [likelihood.log_integrals(delta0[part] / unit, sigma0[part] / unit, nu[part]) for part in parts]
    return np.asarray(np.concatenate(logs) - differences.n * np.log(unit))


def _without(name: str, differences: PairedDifferences, result: Fit, options: dict[str, Any]) -> list[float]:
    """The three probabilities of a new fit without one data set."""
    kept = differences.subset([other for other in differences.dataset_names if other != name])
    again = refit(kept, result.rope, result.priors, options)
    return [np.nan] * 3 if again.status == "failed" else list(again.next_dataset.probabilities.values())
