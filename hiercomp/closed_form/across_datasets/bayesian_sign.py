"""Bayesian sign and signed-rank tests over data sets (Benavoli et al. 2014, 2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import special

from hiercomp.arguments import FloatArray, finite_number, whole_number
from hiercomp.closed_form.inputs import Given, as_means, zeros_and_ties
from hiercomp.closed_form.result import after, compared, most_probable
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.rope import REGIONS, Rope, RopesLike, most_probable_shares
from hiercomp.scores.problems import ROUNDING
from hiercomp.wording import outcome_words

# Of the trapezoidal rule on the logarithm of a Gamma variable; doubling them changes no digit of nine
NODES, NODES_FOR_UNIT, MOST_NODES = 8192, 4.0, 2**20
NEARLY_0 = -36.0  # log of x below which terms of the order of x are below rounding
MANY = 3200.0  # the largest parameter above which 40 standard deviations are less than it
VALUES_AT_ONCE = 4_000_000  # numbers held while sampling, 32 MB


@dataclass(frozen=True, eq=False, repr=False)
class BayesianSignResult(Presentation):
    """Which region is the most probable, from the data sets' mean differences.

    Attributes
    ----------
    test : {"sign", "signed-rank"}
    p_left, p_rope, p_right : float
        Posterior probability that the region is the most probable one; ties are shared equally, they sum to 1.
    expected_left, expected_rope, expected_right : float
        Expected probability of the region.
    errors : dict
        Monte Carlo standard errors of p_left, p_rope and p_right, by name; 0 if the result is exact.
    region_draws : ndarray, shape (draws, 3)
        Posterior draws of the regions' probabilities, for the simplex.
    rope : Rope
        The region of practical equivalence.
    strength : float
        Weight of the prior, in data sets.
    place : {"left", "rope", "right"}
        The region where the prior puts its weight.
    n_datasets : int
        Number of data sets.
    algorithms : tuple of str
        The left and the right algorithm.
    notes : tuple of str
        Warnings about the data.
    metric : str
        The metric and its direction, in words; empty for arrays.
    """

    test: str
    p_left: float
    p_rope: float
    p_right: float
    expected_left: float
    expected_rope: float
    expected_right: float
    errors: dict[str, float]
    region_draws: FloatArray = field(repr=False)
    rope: Rope
    strength: float
    place: str
    n_datasets: int
    algorithms: tuple[str, str]
    notes: tuple[str, ...] = ()
    metric: str = ""

    @property
    def title(self) -> str:
        """The test and what it compared."""
        return (
            f"Bayesian {self.test} test, {compared(self.algorithms, self.n_datasets)}, rope {self.rope}, "
            f"prior {self.strength:g} in {self.place}{after(self.metric)}"
        )

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        outcome = most_probable(self.algorithms, (self.p_left, self.p_rope, self.p_right))
        return f"The most probable outcome over data sets is {outcome}."

    def to_frame(self) -> pd.DataFrame:
        """One row for each region: probability of being the most probable, its error, expected probability."""
        columns = {
            "outcome": list(outcome_words(*self.algorithms).values()),
            "probability": [self.p_left, self.p_rope, self.p_right],
            "error": [self.errors[f"p_{region}"] for region in REGIONS],
            "expected": [self.expected_left, self.expected_rope, self.expected_right],
        }
        return pd.DataFrame(columns, index=pd.Index(REGIONS, name="region"))


def bayesian_sign_test(
    x: Any,
    *,
    rope: RopesLike | None = None,
    strength: float = 1.0,
    place: Literal["left", "rope", "right"] = "rope",
    draws: int = 50_000,
    seed: int = 0,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> BayesianSignResult:
    """Bayesian sign test: a Dirichlet posterior of the probabilities of left, rope and right on a data set.

    The mean differences left of, in, and right of the rope are counted; the prior adds ``strength``
    pseudo-counts to one region. The probability that a region is the most probable one is integrated numerically, not
    sampled; ``draws`` are only for the simplex.

    With a rope of 0, data sets with no difference (and a prior placed in the rope) count one half left and one half
    right, so identical algorithms get one half each.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left: one for each data set (one-dimensional), or one row for each data set, which is
        averaged; or a tidy table.
    rope : float, str, pair of float, Rope, mapping or Series, optional
        Differences that make no practical difference, in the metric's units; by default 0.01 if every score lies in
        [0, 1]; a difference on its boundary is in it. For a table, also one for each data set; see
        `HierarchicalComparison`.
    strength : float
        Weight of the prior, in data sets; at least 0. With 0 a region without data sets has probability 0.
    place : {"left", "rope", "right"}
        The region where the prior puts its weight.
    draws, seed : int
        Of the posterior draws.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    BayesianSignResult

    Raises
    ------
    ScoreTableError
        If a number is not finite.
    ArgumentError
        If the rope, the prior or the number of draws is invalid.

    References
    ----------
    Benavoli, Corani, Demšar & Zaffalon, "Time for a change: a tutorial for comparing multiple classifiers through Bayesian
    analysis", JMLR 18 (2017), Sect. 4.

    Examples
    --------
    >>> result = bayesian_sign_test([0.02, 0.03, -0.02, 0.05, 0.001, 0.04], rope=0.01)
    >>> round(result.p_right, 3)
    0.779
    """
    given = as_means(x, left=left, right=right, higher_is_better=higher_is_better, rope=rope)
    z, asked = zeros_and_ties(given.differences), _Asked.of(given.rope(rope), strength, place, draws, seed)
    rope, slack = asked.rope, _slack(given.size, asked.rope)
    counts = np.array([(z < rope.lower - slack).sum(), 0, (z > rope.upper + slack).sum()], dtype=float)
    counts[1] = len(z) - counts.sum()
    counts[REGIONS.index(place)] += asked.strength
    if rope.half_width == 0:
        counts = counts + counts[1] * np.array([0.5, -1.0, 0.5])
    shares = counts / counts.sum()
    return asked.result("sign", given, largest_of_dirichlet(counts), shares, np.zeros(3), _dirichlet(counts, asked))


def bayesian_signed_rank_test(
    x: Any,
    *,
    rope: RopesLike | None = None,
    strength: float = 1.0,
    place: Literal["left", "rope", "right"] = "rope",
    draws: int = 50_000,
    seed: int = 0,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> BayesianSignResult:
    """Bayesian signed-rank test: the Dirichlet-process version of Wilcoxon's test, with a rope.

    The data sets' mean differences z_1, ..., z_q and a pseudo-observation z_0 get weights w from a Dirichlet with
    parameters (strength, 1, ..., 1). In each draw the probability of the right region is the sum of w_i w_j over all i,
    j whose average (z_i + z_j) / 2 lies right of the rope, and likewise for the others (the paper's Theorem 1 and its
    extension to a rope). The reported probabilities are the shares of draws in which a region has the largest
    probability.

    With a rope of 0, pairs with an average of 0 count one half left and one half right, so identical algorithms get
    one half each.

    Parameters
    ----------
    x : array_like, PairedDifferences or data frame
        Differences right minus left: one for each data set (one-dimensional), or one row for each data set, which is
        averaged; or a tidy table.
    rope : float, str, pair of float, Rope, mapping or Series, optional
        Differences that make no practical difference, in the metric's units; by default 0.01 if every score lies in
        [0, 1]; an average on its boundary is in it. For a table, also one for each data set; see
        `HierarchicalComparison`.
    strength : float
        Weight of the pseudo-observation, in data sets; at least 0.
    place : {"left", "rope", "right"}
        Where the pseudo-observation lies: beyond all data, or in the middle of the rope.
    draws, seed : int
        Of the posterior.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    BayesianSignResult

    Raises
    ------
    ScoreTableError
        If a number is not finite.
    ArgumentError
        If the rope, the prior or the number of draws is invalid.

    Notes
    -----
    The differences are sorted once, so a draw costs O(q) and no matrix of pairs is made.

    References
    ----------
    Benavoli, Corani, Mangili, Zaffalon & Ruggeri, "A Bayesian Wilcoxon signed-rank test based on the Dirichlet process",
    ICML 2014; Benavoli, Corani, Demšar & Zaffalon, JMLR 18 (2017), Sect. 4.

    Examples
    --------
    >>> result = bayesian_signed_rank_test([0.02, 0.03, -0.02, 0.05, 0.001, 0.04], rope=0.01)
    >>> round(result.p_right, 1)
    0.8
    """
    given = as_means(x, left=left, right=right, higher_is_better=higher_is_better, rope=rope)
    z, asked = zeros_and_ties(given.differences), _Asked.of(given.rope(rope), strength, place, draws, seed)
    pseudo = {"left": -math.inf, "rope": (asked.rope.lower + asked.rope.upper) / 2, "right": math.inf}[place]
    weights, size = np.ones(len(z)), given.size
    if asked.strength > 0:
        z, weights, size = np.append(z, pseudo), np.append(weights, asked.strength), np.append(size, 0.0)
    order = np.argsort(z, kind="stable")
    regions = _pair_regions(z[order], weights[order], size[order], asked)
    shares = most_probable_shares(regions)
    errors = shares.std(axis=0) / math.sqrt(asked.draws)
    return asked.result("signed-rank", given, shares.mean(axis=0), regions.mean(axis=0), errors, regions)


@dataclass(frozen=True)
class _Asked:
    """The rope, the prior and the draws of a test, checked."""

    rope: Rope
    strength: float
    place: str
    draws: int
    generator: np.random.Generator

    @classmethod
    def of(cls, rope: Rope, strength: float, place: str, draws: int, seed: int) -> _Asked:
        if finite_number("strength", strength) < 0:
            raise ArgumentError(f"strength must be at least 0, got {strength:g}.")
        if place not in REGIONS:
            raise ArgumentError(f"place must be 'left', 'rope' or 'right', got {place!r}.")
        draws, seed = whole_number("draws", draws, 1), whole_number("seed", seed, 0)
        return cls(rope, float(strength), place, draws, np.random.default_rng(seed))

    def result(
        self,
        test: str,
        given: Given,
        probabilities: FloatArray,
        expected: FloatArray,
        errors: FloatArray,
        region_draws: FloatArray,
    ) -> BayesianSignResult:
        return BayesianSignResult(
            test=test,
            **_by_region("p", probabilities),
            **_by_region("expected", expected),
            errors=_by_region("p", errors),
            region_draws=region_draws,
            rope=self.rope,
            strength=self.strength,
            place=self.place,
            n_datasets=len(given.differences.mean),
            algorithms=given.algorithms,
            notes=given.notes,
            metric=given.metric,
        )


def _by_region(name: str, values: FloatArray) -> dict[str, Any]:
    """The three values by the names of left, rope and right."""
    return {f"{name}_{region}": value for region, value in zip(REGIONS, values.tolist(), strict=True)}


def largest_of_dirichlet(alpha: FloatArray) -> FloatArray:
    """Probability that each component of a Dirichlet is the largest, shape (k,).

    With independent Gamma(alpha_i) variables G_i it is the integral of the density of G_i times the cdfs of the others,
    computed by the trapezoidal rule in log G_i; there the integrand is smooth and decays on both sides. A component
    with alpha 0 is 0.
    """
    present = np.flatnonzero(alpha > 0)
    result = np.zeros(len(alpha))
    a = alpha[present]
    if len(a) == 1:
        result[present] = 1.0
        return result
    largest = a.max()
    if largest > MANY:  # the largest of the variables is never further below
        lowest = math.log(largest - 40 * math.sqrt(largest))
    else:
        lowest = math.log(a.min()) - 100 / a.sum() - 10
    highest = math.log(largest + 40 * math.sqrt(largest) + 100)
    t = np.linspace(lowest, highest, int(np.clip(NODES_FOR_UNIT * (highest - lowest), NODES, MOST_NODES)))
    below = special.gammainc(a[:, None], np.exp(t))
    tiny = t < NEARLY_0  # x^a / Gamma(a + 1), where x itself may be 0 in doubles
    below[:, tiny] = np.exp(a[:, None] * t[tiny] - special.gammaln(a + 1)[:, None])
    u = t - np.log(a)[:, None]  # Gamma's density as its share of that at u = 0: no digits cancel for large a
    density = np.exp(_log_density_at_shape(a)[:, None] - a[:, None] * (np.expm1(u) - u))
    for number, place in enumerate(present):
        others = np.delete(below, number, axis=0).prod(axis=0)
        result[place] = (density[number] * others).sum() * (t[1] - t[0])
    return np.asarray(result / result.sum())  # which is 1 but for rounding


def _log_density_at_shape(a: FloatArray) -> FloatArray:
    """Log of the density of the logarithm of a Gamma(a) variable at log a."""
    small = np.minimum(a, 100.0)
    exact = small * np.log(small) - small - special.gammaln(small)
    stirling = 0.5 * np.log(a / (2 * np.pi)) - 1 / (12 * a) + 1 / (360 * a**3)  # an error below 1e-13 above 100
    return np.asarray(np.where(a > 100, stirling, exact))


def _pair_regions(z: FloatArray, weights: FloatArray, size: FloatArray, asked: _Asked) -> FloatArray:
    """Probabilities of left, rope, right of each draw, shape (draws, 3), for sorted z of data sets with scores of a size."""
    rope, draws = asked.rope, asked.draws
    slack = 2 * _slack(size, rope)
    # For each i the j with z_i + z_j < 2 lower are the first ones, those with z_i + z_j > 2 upper the last
    with np.errstate(invalid="ignore"):
        before = np.searchsorted(z, np.nan_to_num(2 * rope.lower - z - slack, nan=0.0), side="left")
        upto = np.searchsorted(z, np.nan_to_num(2 * rope.upper - z + slack, nan=0.0), side="right")
    regions = np.empty((draws, 3))
    batch = max(1, VALUES_AT_ONCE // (3 * len(z)))
    for start in range(0, draws, batch):
        rows = slice(start, min(start + batch, draws))
        w = asked.generator.standard_exponential((rows.stop - start, len(z)))
        for column in np.flatnonzero(weights != 1):
            w[:, column] = asked.generator.standard_gamma(weights[column], len(w))
        w /= w.sum(axis=1, keepdims=True)
        cumulative = np.zeros((len(w), len(z) + 1))
        np.cumsum(w, axis=1, out=cumulative[:, 1:])
        low = (w * cumulative[:, before]).sum(axis=1)
        high = (w * (cumulative[:, -1:] - cumulative[:, upto])).sum(axis=1)
        regions[rows, 0], regions[rows, 2] = low, high
        regions[rows, 1] = np.maximum(1 - low - high, 0)
    if rope.half_width == 0:
        tie = regions[:, 1].copy()
        regions[:, 0] += tie / 2
        regions[:, 2] += tie / 2
        regions[:, 1] = 0
    return regions


def _slack(size: FloatArray, rope: Rope) -> FloatArray:
    """Differences of data sets with scores of this size that are closer to a boundary of the rope are on it."""
    return np.asarray(ROUNDING * np.maximum(size, max(abs(rope.lower), abs(rope.upper))))


def _dirichlet(alpha: FloatArray, asked: _Asked) -> FloatArray:
    """Draws from a Dirichlet; some of its parameters may be 0."""
    draw = asked.generator.standard_gamma(np.maximum(alpha, 1e-300), (asked.draws, len(alpha))) * (alpha > 0)
    return np.asarray(draw / draw.sum(axis=1, keepdims=True))
