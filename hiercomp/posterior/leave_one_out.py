"""How well the model predicts each data set from the others: marginal leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hiercomp.arguments import FloatArray
from hiercomp.document import Presentation
from hiercomp.engines.quadrature.leave_one_out import LeftOut
from hiercomp.errors import ConvergenceWarning, Note, warn_caller
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.fit import Fit, integrate
from hiercomp.posterior.importance import LARGEST_K, largest_k
from hiercomp.posterior.influence import refuse_too_few
from hiercomp.posterior.kinds import likelihood_of
from hiercomp.wording import counted, first_names, metric_words, shown

if TYPE_CHECKING:
    import pandas as pd

CLEAR, LARGE = 2.0, 4.0  # standard errors, and elpd


def is_clear(difference: float, error: float) -> bool:
    """Whether one model predicts clearly better: by more than two standard errors, and by an elpd of more than 4.

    Smaller differences say little, and their standard errors may be far too small (Sivula et al., 2020).

    Examples
    --------
    >>> is_clear(6.0, 2.0), is_clear(6.0, 3.5), is_clear(0.02, 0.006)
    (True, False, False)
    """
    return difference > max(CLEAR * error, LARGE)


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut(Presentation):
    """How well the model predicts each data set from the others.

    Attributes
    ----------
    elpd_i : ndarray, shape (q,)
        Log density of the mean difference of each data set given the other data sets, and given the spread of its own
        scores; in the metric's unit. delta_i and sigma_i are integrated out.
    spread : ndarray, shape (q,)
        What ``elpd_i`` leaves out: the log density of the score differences around their mean, which is the same for every
        population. The sum of both is log p(x_i | the other data sets), the log of the density of all differences, as
        ``ComparisonResult.log_marginal_likelihood`` has it.
    p : float
        Effective number of parameters: how much better data sets are predicted if they are not left out.
    pit : ndarray, shape (q,)
        Probability integral transform: the probability that the mean difference of the data set would be less than it is,
        given the other data sets, and given its own spread, size and correlation.
    refitted : ndarray of bool, shape (q,)
        Whether the posterior without the data set was computed again.
    doubtful : tuple of str
        The data sets without which that computation failed a check.
    pareto_k : ndarray, shape (q,), or None
        Of the importance weights of each data set; None if no draws were weighted.
    n_samples : int
        Number of draws; 0 for integrals.
    dataset_names : tuple of str
    algorithms : tuple of str
        The left and the right algorithm.
    population : str
        "student_t", "gaussian" or "mixture".
    metric : str
        The metric and its direction, in words.
    """

    elpd_i: FloatArray
    spread: FloatArray
    p: float
    pit: FloatArray
    refitted: NDArray[np.bool_]
    doubtful: tuple[str, ...]
    pareto_k: FloatArray | None
    n_samples: int
    dataset_names: tuple[str, ...]
    algorithms: tuple[str, str]
    population: str
    metric: str

    @property
    def elpd(self) -> float:
        """Expected log predictive density: the sum of ``elpd_i``."""
        return float(self.elpd_i.sum())

    @property
    def se(self) -> float:
        """Standard error of ``elpd``: sqrt(q var(elpd_i))."""
        return float(np.sqrt(len(self.elpd_i) * self.elpd_i.var()))

    @property
    def good_k(self) -> float:
        """The largest Pareto k of weights that are used: 0.7, or less for fewer than 2,200 draws."""
        return LARGEST_K if self.pareto_k is None else largest_k(self.n_samples)

    @property
    def title(self) -> str:
        """What was left out."""
        left, right = map(shown, self.algorithms)
        return (
            f"Leave-one-out, {left} against {right}: each of {len(self.dataset_names)} data sets predicted from the others"
            f"{f', {self.metric}' if self.metric else ''}"
        )

    @property
    def conclusion(self) -> str:
        """The sum, and the data set that is predicted worst."""
        tail = np.minimum(self.pit, 1 - self.pit)
        worst = int(np.argmin(tail))
        return (
            f"Expected log predictive density (elpd): {self.elpd:.2f}, standard error {self.se:.2f}; effective number of "
            f"parameters: {self.p:.2f}. Least "
            f"expected from the others: {shown(self.dataset_names[worst])!r}; a mean difference as "
            f"{'low' if self.pit[worst] < 0.5 else 'high'} as its own has probability {tail[worst]:.2g}."
        )

    @property
    def computation(self) -> str:
        """How it was computed."""
        anew = int(self.refitted.sum())
        if self.pareto_k is None:
            others = f"; {counted(anew, 'data set')} by a new integration" if anew else ""
            return f"Exact up to the error of the integration{others}."
        others = (
            f"; {counted(anew, 'data set')} with a Pareto k above {self.good_k:.2g}, each left out and computed again"
            if anew
            else f"; every Pareto k is at most {self.good_k:.2g}"
        )
        return f"Importance sampling from {self.n_samples:,} draws{others}."

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was computed, and what is doubtful."""
        return (self.computation, *self.doubts)

    @property
    def doubts(self) -> tuple[str, ...]:
        """A sentence on the doubtful data sets; none where there are none."""
        if not self.doubtful:
            return ()
        return (
            "Doubtful predictions, because the computation without the data set failed a check: "
            f"{first_names(self.doubtful)}.",
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: elpd, pit, refitted, and pareto_k if draws were weighted."""
        import pandas as pd

        columns = {"elpd": self.elpd_i, "pit": self.pit, "refitted": self.refitted}
        if self.pareto_k is not None:
            columns["pareto_k"] = self.pareto_k
        return pd.DataFrame(columns, index=pd.Index(self.dataset_names, name="dataset"))

    def to_arviz(self) -> Any:
        """As ArviZ's ``ELPDData``, for ``arviz.compare`` of ArviZ 1.

        Returns
        -------
        arviz_stats.utils.ELPDData
            ``elpd_i`` and ``pareto_k`` have the dimension dataset.
        """
        import xarray as xr
        from arviz_stats import utils

        # Later versions have a class for each kind
        elpd_data = getattr(utils, "ELPDDataLOO", None) or partial(utils.ELPDData, kind="loo")
        by_dataset = partial(xr.DataArray, dims=["dataset"], coords={"dataset": list(self.dataset_names)})
        return elpd_data(
            elpd=self.elpd,
            se=self.se,
            p=self.p,
            n_samples=self.n_samples,
            n_data_points=len(self.elpd_i),
            scale="log",
            warning=False,
            good_k=self.good_k,
            elpd_i=by_dataset(self.elpd_i),
            pareto_k=None if self.pareto_k is None else by_dataset(self.pareto_k),
        )


def loo(result: Fit) -> LeaveOneOut:
    """Predict each data set from the others, with delta_i and sigma_i integrated out.

    An integral is exact: the log density of a data set given the others is the difference of the log marginal likelihoods
    with and without it, both on the nodes of the quadrature engine's grid, or on a new grid where these do not suffice. For
    a result that was only sampled, its draws are weighted by Pareto-smoothed importance sampling; data sets whose Pareto k
    is above 0.7 (less for fewer than 2,200 draws) are left out by an integral instead. The priors, whose bounds depend on
    the data, stay those of all data sets.

    Parameters
    ----------
    result : Fit
        Such as a `hiercomp.ComparisonResult`.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    NoVerdictError
        If the computation failed its checks.
    ArgumentError
        If there are fewer than 3 data sets, or the scores are identical.

    References
    ----------
    Vehtari, Gelman & Gabry, Statistics and Computing 27 (2017); Vehtari et al., Journal of Machine Learning Research 25
    (2024).
    """
    result.refuse_if_failed()
    differences = replace(result.differences, scores=None)
    refuse_too_few("Leave-one-out", differences)
    model = HierarchicalModel.of(differences, result.priors)
    with threadpool_limits(limits=1):  # another number of threads sums in another order
        found = result.posterior.left_out(
            model, result.rope, lambda: integrate(differences, result.rope, result.priors, result.settings)
        )
    left_out = _in_metric_units(found, result, model)
    warn_caller(Note(ConvergenceWarning, text, places=left_out.doubtful) for text in left_out.doubts)
    return left_out


def _in_metric_units(found: LeftOut, result: Fit, model: HierarchicalModel) -> LeaveOneOut:
    given, log_unit = result.differences, float(np.log(model.unit))
    spread = likelihood_of(model).log_spread
    ratio = 0.0 if given.two_level is None else given.two_level.log_determinant_ratio
    return LeaveOneOut(
        elpd_i=found.log_density - spread - log_unit,
        spread=spread - (given.n - 1) * log_unit - ratio / 2,
        p=float((found.log_density_within - found.log_density).sum()),
        pit=found.below,
        refitted=found.refitted,
        doubtful=tuple(name for name, doubt in zip(given.dataset_names, found.doubtful, strict=True) if doubt),
        pareto_k=found.pareto_k,
        n_samples=0 if found.pareto_k is None else result.draws("delta0").size,
        dataset_names=given.dataset_names,
        algorithms=(result.left, result.right),
        population=result.priors.population,
        metric=metric_words(given.measure, given.higher_is_better, given.transform),
    )
