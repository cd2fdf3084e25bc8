"""The Bayesian correlated t-test of a single data set (Corani & Benavoli 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hiercomp.arguments import FloatArray, finite_number, number_between
from hiercomp.closed_form.inputs import as_differences, need_scores, some_datasets
from hiercomp.closed_form.result import TIE, after, compared, noted
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, Note
from hiercomp.rope import Rope, RopesLike, region_probabilities
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.problems import ROUNDING
from hiercomp.scores.rho import RhoLike
from hiercomp.wording import outcome_words, probability_text, shown

ON_BOUNDARY = 1e-12  # a point mass this close to an end of the rope, in units of that end, lies on it


@dataclass(frozen=True)
class NormalGamma:
    """A Normal-Gamma prior on the mean difference mu and the precision tau = 1/sigma^2 of a data set.

    mu given tau is Normal with mean ``mu0`` and variance ``k0 / tau``; tau is Gamma with shape ``a`` and rate ``b``.

    Parameters
    ----------
    mu0 : float
        Prior mean of the difference, in the metric's units.
    k0 : float
        Variance of mu in units of 1/tau; above 0.
    a, b : float
        Shape and rate of the Gamma; above 0.

    Raises
    ------
    ArgumentError
        If a number is not finite, or k0, a or b is not above 0.

    References
    ----------
    Corani & Benavoli, Machine Learning 100 (2015), Sect. 2.

    Examples
    --------
    >>> prior = NormalGamma(mu0=0.0, k0=1.0, a=2.0, b=0.001)
    >>> round(correlated_t_test([0.02, 0.03, 0.01, 0.04, 0.02], rho=0.2, rope=0.01, prior=prior).p_right, 3)
    0.779
    """

    mu0: float
    k0: float
    a: float
    b: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu0", finite_number("mu0", self.mu0))
        for name in ("k0", "a", "b"):
            object.__setattr__(self, name, number_between(name, getattr(self, name), 0, np.inf))


@dataclass(frozen=True, eq=False, repr=False)
class CorrelatedTResult(Presentation):
    """Posterior of the mean difference of one or more data sets, each on its own.

    Attributes
    ----------
    p_left, p_rope, p_right : float, or ndarray of shape (q,)
        Posterior probability that the mean difference lies left of, in, and right of the rope.
    mean, scale, df : float, or ndarray of shape (q,)
        Location, scale and degrees of freedom of the Student posterior; a scale of 0 is a point mass.
    rope : Rope
        The region of practical equivalence.
    algorithms : tuple of str
        The left and the right algorithm.
    dataset_names : tuple of str
    notes : tuple of str
        Warnings about the data.
    metric : str
        The metric and its direction, in words; empty for arrays.
    """

    p_left: Any
    p_rope: Any
    p_right: Any
    mean: Any
    scale: Any
    df: Any
    rope: Rope
    algorithms: tuple[str, str]
    dataset_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    metric: str = ""

    @property
    def distribution(self) -> Any:
        """The posterior as a frozen ``scipy.stats.t``, one for all data sets; NaN for a point mass."""
        from scipy import stats  # slow to import, and the test itself does without

        return stats.t(df=self.df, loc=self.mean, scale=self.scale)

    @property
    def title(self) -> str:
        """The test and what it compared."""
        what = compared(self.algorithms, len(self.dataset_names))
        return f"Bayesian correlated t-test, {what}, rope {self.rope}{after(self.metric)}"

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        left, right = map(shown, self.algorithms)
        table = np.stack([np.atleast_1d(value) for value in (self.p_left, self.p_rope, self.p_right)])
        if table.shape[1] == 1:
            outcome = tuple(outcome_words(left, right).values())
            largest = int(np.argmax(table[:, 0]))
            if abs(table[0, 0] - table[2, 0]) <= TIE and table[largest, 0] - table[0, 0] <= TIE:
                probability = probability_text(table[0, 0])
                return (
                    f"On this data set {left} and {right} are equally likely to be better (probability {probability})."
                )
            return (
                f"On this data set the most probable outcome is: {outcome[largest]} "
                f"(probability {probability_text(table[largest, 0])})."
            )
        sure = (table > 0.95).sum(axis=1)
        return (
            f"With probability above 0.95, {left} is better on {sure[0]}, both are practically equivalent on {sure[1]} and "
            f"{right} is better on {sure[2]} of {table.shape[1]} data sets, each judged on its own."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: p_left, p_rope, p_right, mean, scale, df."""
        names = ("p_left", "p_rope", "p_right", "mean", "scale", "df")
        columns = {name: np.atleast_1d(getattr(self, name)) for name in names}
        return pd.DataFrame(columns, index=pd.Index(self.dataset_names, name="dataset"))


def correlated_t_test(
    x: Any,
    *,
    rho: RhoLike = None,
    rope: RopesLike | None = None,
    prior: NormalGamma | None = None,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> CorrelatedTResult:
    """Bayesian correlated t-test: the posterior of the mean difference of a cross-validated data set.

    The differences are multivariate normal with equal variances and correlation rho. Under the matching prior
    (mu0 = 0, k0 to infinity, a = -1/2, b = 0) the posterior of the mean is Student-t with n - 1 degrees of freedom,
    centre xbar and scale^2 = (1/n + rho / (1 - rho)) s^2, so P(mu > 0) equals 1 - p of the one-sided
    `corrected_t_test`. rho = 0 gives the Bayesian t-test of the paper's Sect. 2.2.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left of one data set (one-dimensional) or of several (one row each); or a tidy table.
    rho : float, mapping from data set to float, Correlation or "runs", optional
        Correlation between differences, in [0, 1): 1/k for k folds. Tables and `PairedDifferences` have a default. Of a
        table the last two take the runs into account; see `HierarchicalComparison`.
    rope : float, str, pair of float, Rope, mapping or Series, optional
        Differences that make no practical difference, in the metric's units; by default 0.01 if every score lies in
        [0, 1]; 0 for none. For a table, also one for each data set; see `HierarchicalComparison`.
    prior : NormalGamma, optional
        Any Normal-Gamma prior; None is the matching prior.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    CorrelatedTResult
        Numbers for a one-dimensional array, else arrays over the data sets.

    Raises
    ------
    ScoreTableError
        If a number is not finite, or a data set has fewer than two.
    ArgumentError
        If rho, the rope or the prior is invalid.

    Notes
    -----
    With n differences, S their sum of squares, c = (1 + (n - 1) rho) / n and a prior (mu0, k0, a, b) the posterior is
    Student-t with 2 a_n degrees of freedom, centre mu_n and scale^2 = k_n b_n / a_n, where (the paper's Table 2, with
    M^-1 in closed form and the signs of the last three terms of b_n reversed, which are misprinted there)::

        k_n  = 1 / (1/c + 1/k0)
        mu_n = k_n (xbar / c + mu0 / k0)
        a_n  = a + n / 2
        b_n  = b + S / (2 (1 - rho)) + (xbar - mu0)^2 / (2 (c + k0))

    Without variation the matching posterior is a point mass, which lies in one region; on a boundary of the rope it
    counts as in the rope. With a rope of 0 and a mean of 0, left and right get one half each.

    References
    ----------
    Corani & Benavoli, "A Bayesian approach for comparing cross-validated algorithms on multiple data sets", Machine
    Learning 100 (2015), Sect. 2.4 and Table 2.

    Examples
    --------
    >>> result = correlated_t_test([0.02, 0.03, 0.01, 0.04, 0.02], rho=0.2, rope=0.01)
    >>> round(result.p_right, 3)
    0.929
    >>> [round(float(end), 4) for end in result.distribution.interval(0.95)]
    [0.0028, 0.0452]
    """
    given = as_differences(x, rho, left=left, right=right, higher_is_better=higher_is_better, rope=rope)
    differences, rope = given.differences, given.rope(rope)
    need_scores(differences, 2, "The correlated t-test")
    if prior is not None and not isinstance(prior, NormalGamma):
        raise ArgumentError(
            f"prior must be a NormalGamma(mu0, k0, a, b) or None for the matching prior, got {prior!r}."
        )
    mean, scale, df = correlated_t_posterior(differences, prior)
    regions = regions_with_ties(mean, scale, df, rope, given.size)
    return CorrelatedTResult(
        p_left=given.plain(regions[:, 0]),
        p_rope=given.plain(regions[:, 1]),
        p_right=given.plain(regions[:, 2]),
        mean=given.plain(mean),
        scale=given.plain(scale),
        df=given.plain(df),
        rope=rope,
        algorithms=given.algorithms,
        dataset_names=differences.dataset_names,
        notes=noted(given, point_mass_notes(scale, differences.dataset_names)),
        metric=given.metric,
    )


def point_mass_notes(scale: FloatArray, dataset_names: Sequence[str]) -> list[Note]:
    """A note on the data sets whose posterior has no spread, shape (q,)."""
    where = some_datasets(scale == 0, dataset_names)
    text = f"The differences never vary in {where}; their posterior is a point mass."
    return [Note(DegenerateScoresWarning, text)] if where else []


def correlated_t_posterior(
    differences: PairedDifferences, prior: NormalGamma | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centre, scale and degrees of freedom of the posterior of each data set's mean difference, shapes (q,)."""
    n, rho, mean = differences.n.astype(float), differences.rho, differences.mean
    within = differences.sum_of_squares / (1 - rho)
    variance_of_mean = (1 + (n - 1) * rho) / n  # 1 / (1' M^-1 1), in units of sigma^2
    if prior is None:
        df = n - 1
        return mean, np.sqrt(within / df * variance_of_mean), df
    k_n = 1 / (1 / variance_of_mean + 1 / prior.k0)
    mu_n = k_n * (mean / variance_of_mean + prior.mu0 / prior.k0)
    a_n = prior.a + n / 2
    b_n = prior.b + within / 2 + (mean - prior.mu0) ** 2 / (2 * (variance_of_mean + prior.k0))
    return mu_n, np.sqrt(k_n * b_n / a_n), 2 * a_n


def regions_with_ties(
    mean: FloatArray, scale: FloatArray, df: FloatArray, rope: Rope, size: FloatArray | float = 0.0
) -> FloatArray:
    """Region probabilities, shape (q, 3); a point mass on a rope without width is split between left and right.

    ``size`` is the largest absolute score of each data set, the unit of its rounding errors, where it is known.
    """
    for end in (rope.lower, rope.upper):  # a difference of 0.81 - 0.80 lies on the boundary of a rope of 0.01
        near = np.maximum(ON_BOUNDARY * abs(end), ROUNDING * np.asarray(size))
        mean = np.where((scale == 0) & (np.abs(mean - end) <= near), end, mean)
    regions = region_probabilities(mean, scale, df, rope)
    if rope.half_width == 0:
        tie = (scale == 0) & (mean == rope.lower)
        regions = np.where(tie[:, None], [0.5, 0.0, 0.5], regions)
    return regions
