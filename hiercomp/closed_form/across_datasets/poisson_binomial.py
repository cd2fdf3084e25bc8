"""Poisson-binomial inference on several data sets (Corani & Benavoli 2015), exact or by sampling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, one_of, whole_number
from hiercomp.closed_form.inputs import as_differences, is_labelled, is_table, need_scores, rows_of
from hiercomp.closed_form.one_dataset.correlated_t import (
    CorrelatedTResult,
    correlated_t_posterior,
    point_mass_notes,
    regions_with_ties,
)
from hiercomp.closed_form.result import TIE, after, compared, most_probable, noted
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError, ScoreTableError
from hiercomp.rope import REGIONS, Rope, RopesLike, most_probable_shares
from hiercomp.scores.rho import RhoLike
from hiercomp.scores.ropes import is_for_each_dataset
from hiercomp.wording import outcome_words, probability_text, shown

LARGEST_TRINOMIAL = 500  # data sets; time and memory grow with the cube and the square
SAMPLED_AT_ONCE = 4_000_000  # uniform numbers, 32 MB

# Of the distribution of the counts
LEAF = 64  # trials convolved with twice the digits, before the vectors are long
SCALE = 500  # powers of two between a stored vector and its probabilities, which keep tails from underflowing
SMALLEST = 2.0 ** (SCALE - 1100)  # what is below 2^-1100 of a probability of 1 can't matter to a tail above 1e-300
SPLITTER = 2.0**27 + 1  # cuts the 53 bits of a double into two halves

Pair: TypeAlias = "tuple[FloatArray, FloatArray]"


@dataclass(frozen=True, eq=False, repr=False)
class PoissonBinomialResult(Presentation):
    """Which outcome is the most frequent over the data sets.

    Without a rope there are two outcomes, and the more frequent one happens on more than half of the data sets; a tie
    (half and half) is counted separately, as ``p_tie``. With a rope there are three; if several are the most frequent,
    they share equally, and ``p_tie`` is 0.

    Attributes
    ----------
    p_left, p_rope, p_right : float
        Probability that this outcome is the most frequent one. Without a rope P(X < q/2), 0 and P(X > q/2), where X counts
        the data sets on which the right algorithm is better.
    p_tie : float
        P(X = q/2) without a rope, else 0. The four probabilities sum to 1.
    majority : dict
        Probability that left, rope and right happens on more than half of the data sets; with a rope these need not sum
        to 1.
    pmf, cdf, sf : ndarray, shape (q + 1,)
        P(X = k), P(X <= k), P(X > k) for k = 0, ..., q; each tail is summed from its own end.
    region_probabilities : ndarray, shape (q, 3)
        Probabilities of left, rope and right of each data set.
    method : {"exact", "sampling"}
    errors : dict
        Monte Carlo standard errors of the four probabilities, by name; 0 if the method is exact.
    rope : Rope
        The region of practical equivalence; without one both ends are 0.
    algorithms : tuple of str
        The left and the right algorithm.
    notes : tuple of str
        Warnings about the data.
    metric : str
        The metric and its direction, in words; empty for arrays.
    """

    p_left: float
    p_rope: float
    p_right: float
    p_tie: float
    majority: dict[str, float]
    pmf: FloatArray
    cdf: FloatArray
    sf: FloatArray
    region_probabilities: FloatArray
    method: str
    errors: dict[str, float]
    rope: Rope
    algorithms: tuple[str, str]
    notes: tuple[str, ...] = ()
    metric: str = ""

    @property
    def title(self) -> str:
        """The test and what it compared."""
        what = compared(self.algorithms, len(self.region_probabilities))
        rope = f", rope {self.rope}" if self.rope.half_width or self.rope.lower else ""
        return f"Poisson-binomial test ({self.method}), {what}{rope}{after(self.metric)}"

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        if self.rope.half_width:
            outcome = most_probable(self.algorithms, (self.p_left, self.p_rope, self.p_right))
            return f"The most frequent outcome on these data sets is {outcome}."
        left, right = map(shown, self.algorithms)
        probability = probability_text(max(self.p_left, self.p_right))
        if self.rope.lower:
            side = "above" if self.p_right > self.p_left else "below"
            return (
                f"The mean difference is {side} {self.rope.lower:g} on more than half of these data sets with probability "
                f"{probability}."
            )
        if abs(self.p_right - self.p_left) <= TIE:
            each = f"{left} and {right} are each"
            return f"{each} better on more than half of these data sets with probability {probability}."
        better = right if self.p_right > self.p_left else left
        return f"{better} is better on more than half of these data sets with probability {probability}."

    def to_frame(self) -> pd.DataFrame:
        """One row for each outcome that can happen: probability, Monte Carlo standard error, probability of a majority."""
        left, right = self.algorithms
        if self.rope.half_width:
            outcomes = outcome_words(left, right)
        else:
            most = "better on more than half"
            outcomes = {"left": f"{left} {most}", "tie": "half and half", "right": f"{right} {most}"}
        columns = {
            "outcome": list(outcomes.values()),
            "probability": [getattr(self, f"p_{name}") for name in outcomes],
            "error": [self.errors[f"p_{name}"] for name in outcomes],
            "majority": [self.majority.get(name, 0.0) for name in outcomes],
        }
        return pd.DataFrame(columns, index=pd.Index(list(outcomes), name="region"))

    def count_distribution(self) -> pd.DataFrame:
        """pmf, cdf and sf of the number of data sets on which the right algorithm is better."""
        index = pd.RangeIndex(len(self.pmf), name="n_datasets")
        return pd.DataFrame({"pmf": self.pmf, "cdf": self.cdf, "sf": self.sf}, index=index)

    def joint_distribution(self) -> FloatArray:
        """P(left on i data sets and right on j, the others in the rope), shape (q + 1, q + 1), of up to 500 data sets."""
        return trinomial(self.region_probabilities)


def poisson_binomial_test(
    x: Any,
    *,
    rho: RhoLike = None,
    rope: RopesLike = 0.0,
    method: Literal["exact", "sampling"] = "exact",
    draws: int = 100_000,
    seed: int = 0,
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> PoissonBinomialResult:
    """The Poisson-binomial inference of the 2015 paper: on how many of the data sets is the right algorithm better?

    The correlated Bayesian t-test of data set i gives p_i, the probability that the right algorithm is better there. The
    number X of data sets on which it is better is then Poisson-binomial, and the right algorithm is better overall with
    probability P(X > q/2). The distribution is convolved directly, so every tail keeps its relative accuracy.

    With a rope each data set has three probabilities, the counts are trinomial, and the result says which region is the
    most frequent.

    The result is about the data sets at hand, not about the next one: for that use `HierarchicalComparison`.

    Parameters
    ----------
    x : array_like, CorrelatedTResult, PairedDifferences or data frame
        Probabilities p_i (one-dimensional, without a rope); differences right minus left, one row for each data set
        (two-dimensional, or a list of arrays); a result of `correlated_t_test`; or a tidy table.
    rho : float, mapping from data set to float, Correlation or "runs", optional
        Correlation between the differences of a data set: 1/k for k folds. For a table the last two take the runs into
        account; see `HierarchicalComparison`. Not used with probabilities.
    rope : float, str, pair of float, Rope, mapping or Series
        Differences that make no practical difference, in the metric's units; 0 compares only left and right. For a table,
        also one for each data set; see `HierarchicalComparison`.
    method : {"exact", "sampling"}
        "sampling" tosses the coins ``draws`` times, as the paper did.
    draws, seed : int
        For the sampling.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    PoissonBinomialResult

    Raises
    ------
    ScoreTableError
        If a number is not finite, or a data set has fewer than two differences.
    ArgumentError
        If a probability, rho, the rope or the method is invalid; or if the exact trinomial has more than 500 data sets.

    Notes
    -----
    A data set without variation has p_i = 0 or 1, or 1/2 if its mean is also 0. Relative errors are below 1e-12 for
    tails above 1e-300, on every platform; 10,000 data sets take about 40 ms.

    References
    ----------
    Corani & Benavoli, "A Bayesian approach for comparing cross-validated algorithms on multiple data sets", Machine
    Learning 100 (2015), Sect. 3.

    Examples
    --------
    >>> result = poisson_binomial_test([0.9, 0.8, 0.3])
    >>> round(result.p_right, 3)  # 0.9 * 0.8 + (0.9 * 0.2 + 0.1 * 0.8) * 0.3
    0.798
    """
    one_of("method", method, ("exact", "sampling"))
    draws, seed = whole_number("draws", draws, 1), whole_number("seed", seed, 0)
    generator = np.random.default_rng(seed)
    of_datasets = rope if is_table(x) and is_for_each_dataset(rope) else None
    rope = Rope.of(rope) if of_datasets is None else Rope(-1.0, 1.0)
    regions, algorithms, notes, metric = _region_probabilities(x, rope, rho, left, right, higher_is_better, of_datasets)
    others = regions[:, [1, 0, 0]] + regions[:, [2, 2, 1]]
    counts = [poisson_binomial(regions[:, column], others[:, column]) for column in range(3)]
    majority = {region: count.halves()[2] for region, count in zip(REGIONS, counts, strict=True)}
    pmf, cdf, sf = counts[2].pmf, counts[2].cdf, counts[2].sf
    errors = np.zeros(4)
    if rope.half_width == 0 and method == "exact":
        below, equal, above = counts[2].halves()
        values = [below, 0.0, above, equal]
    elif rope.half_width == 0:
        q, wins = len(regions), sampled_wins(regions[:, 2], draws, generator)
        pmf = np.bincount(wins, minlength=q + 1) / draws
        cdf, sf = np.cumsum(pmf), np.append(np.cumsum(pmf[:0:-1])[::-1], 0.0)
        values = [float((2 * wins < q).mean()), 0.0, float((2 * wins > q).mean()), float((2 * wins == q).mean())]
        majority = {"left": values[0], "rope": 0.0, "right": values[2]}
        errors = np.array([math.sqrt(value * (1 - value) / draws) for value in values])
    elif method == "exact":
        values = [*most_frequent(trinomial(regions)), 0.0]
    else:
        shares, errors[:3] = sampled_most_frequent(regions, draws, generator)
        values = [*shares, 0.0]
    names = ("p_left", "p_rope", "p_right", "p_tie")
    return PoissonBinomialResult(
        **dict(zip(names, values, strict=True)),
        majority=majority,
        pmf=pmf,
        cdf=cdf,
        sf=sf,
        region_probabilities=regions,
        method=method,
        errors=dict(zip(names, errors.tolist(), strict=True)),
        rope=rope,
        algorithms=algorithms,
        notes=notes,
        metric=metric,
    )


def _region_probabilities(
    x: Any,
    rope: Rope,
    rho: RhoLike,
    left: str | None,
    right: str | None,
    higher_is_better: bool | None,
    of_datasets: RopesLike | None,
) -> tuple[FloatArray, tuple[str, str], tuple[str, ...], str]:
    """Probabilities of left, rope and right for each data set, shape (q, 3); the algorithms; notes; the metric."""
    if isinstance(x, CorrelatedTResult):
        if rho is not None or left is not None or right is not None or higher_is_better not in (None, True):
            raise ArgumentError("A result of correlated_t_test already has rho, names and direction; leave them out.")
        mean, scale, df = (np.atleast_1d(np.asarray(value, dtype=float)) for value in (x.mean, x.scale, x.df))
        return regions_with_ties(mean, scale, df, rope), x.algorithms, x.notes, x.metric
    if not is_labelled(x):
        rows, single = rows_of(x, "x")
        if single and rope.half_width:
            raise ScoreTableError(
                "x has one dimension: with a rope each data set needs its own row of differences, or pass a result of "
                "correlated_t_test."
            )
        if single:
            algorithms = (left or "left", right or "right")
            return _given_probabilities(rows[0], rho, higher_is_better), algorithms, (), ""
        x = rows
    given = as_differences(x, rho, left=left, right=right, higher_is_better=higher_is_better, rope=of_datasets)
    need_scores(given.differences, 2, "The Poisson-binomial test")
    mean, scale, df = correlated_t_posterior(given.differences)
    notes = noted(given, point_mass_notes(scale, given.differences.dataset_names))
    return regions_with_ties(mean, scale, df, rope, given.size), given.algorithms, notes, given.metric


def _given_probabilities(p: FloatArray, rho: RhoLike, higher_is_better: bool | None) -> FloatArray:
    wrong = np.flatnonzero((p < 0) | (p > 1))
    if len(wrong):
        raise ArgumentError(
            f"x has one dimension and is treated as probabilities, but {len(wrong)} of {len(p)} lie outside [0, 1] "
            f"(first: position {wrong[0]}, {p[wrong[0]]:g}). Differences need one row for each data set."
        )
    if rho is not None or higher_is_better not in (None, True):
        raise ArgumentError("Probabilities were given; rho and higher_is_better do not apply to them.")
    return np.stack([1 - p, np.zeros(len(p)), p], axis=1)


@dataclass(frozen=True)
class PoissonBinomial:
    """Distribution of the number of successes of q independent trials with their own probabilities.

    Attributes
    ----------
    scaled : ndarray, shape (q + 1,)
        Probabilities of 0, ..., q successes, times 2^500 to keep them from underflowing.
    """

    scaled: FloatArray

    @property
    def pmf(self) -> FloatArray:
        """P(X = k), k = 0, ..., q."""
        return np.ldexp(self.scaled, -SCALE)

    @property
    def cdf(self) -> FloatArray:
        """P(X <= k), summed from below."""
        return np.ldexp(np.cumsum(self.scaled), -SCALE)

    @property
    def sf(self) -> FloatArray:
        """P(X > k), summed from above."""
        return np.append(np.ldexp(np.cumsum(self.scaled[:0:-1])[::-1], -SCALE), 0.0)

    def halves(self) -> tuple[float, float, float]:
        """P(X < q/2), P(X = q/2), P(X > q/2); each is a sum of its own terms."""
        places = len(self.scaled)  # q + 1
        middle = slice(places // 2, (places + 1) // 2)  # empty where q is odd
        parts = self.scaled[: middle.start], self.scaled[middle], self.scaled[middle.stop :]
        below, equal, above = (float(np.ldexp(part.sum(), -SCALE)) for part in parts)
        return below, equal, above


def poisson_binomial(success: FloatArray, failure: FloatArray) -> PoissonBinomial:
    """Convolve the trials by divide and conquer, without Fourier transforms.

    Parameters
    ----------
    success, failure : ndarray, shape (q,)
        Probability of success and of failure of each trial. Both are needed, because 1 - p loses its digits if p is
        near 1.

    Returns
    -------
    PoissonBinomial

    Notes
    -----
    All terms are positive and nothing is subtracted, so a probability keeps its relative accuracy however small it is:
    with u = 2^-53, a convolution of vectors with m terms adds at most (m + 1) u to the relative error, and in practice
    about sqrt(m) u, as roundings have both signs. Only the rounding errors of *equal* trials, mainly of 1 - p and its
    powers, have one sign and add up, to q u. Therefore leaves of 64 trials are convolved with twice the digits
    (Dekker's and Knuth's exact products and sums of doubles), rounded once, and 100,000 equal trials stay below 1e-12.
    Only IEEE doubles are used, so the digits do not depend on the platform's long double. Vectors are trimmed to the
    terms that matter, which leaves about 50 sqrt(q).

    References
    ----------
    Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18 (1971).
    """
    trials = len(success)
    padding = -trials % LEAF
    rest = np.where(failure == 1 - success, (1 - failure) - success, 0.0)  # what rounding took from 1 - p
    high = np.stack([np.append(failure, np.ones(padding)), np.append(success, np.zeros(padding))], axis=1)
    low = np.stack([np.append(rest, np.zeros(padding)), np.zeros(trials + padding)], axis=1)
    leaves = np.ldexp(high, SCALE), np.ldexp(low, SCALE)
    while leaves[0].shape[1] <= LEAF // 2 + 1:
        leaves = _pairwise((leaves[0][0::2], leaves[1][0::2]), (leaves[0][1::2], leaves[1][1::2]))
    vectors = [_trim(0, row) for row in leaves[0]]
    while len(vectors) > 1:
        merged = [_convolve(a, b) for a, b in zip(vectors[0::2], vectors[1::2], strict=False)]
        vectors = merged + vectors[len(vectors) - len(vectors) % 2 :]
    start, values = vectors[0]
    scaled = np.zeros(max(trials + 1, start + len(values)))
    scaled[start : start + len(values)] = values
    return PoissonBinomial(scaled[: trials + 1])


def trinomial(regions: FloatArray) -> FloatArray:
    """Joint distribution of the numbers of data sets left and right; the others are in the rope.

    Parameters
    ----------
    regions : ndarray, shape (q, 3)
        Probabilities of left, rope and right of each data set.

    Returns
    -------
    ndarray, shape (q + 1, q + 1)
        P(left count = i, right count = j); its relative error is below 3 q 2^-53.

    Raises
    ------
    ArgumentError
        If there are more than 500 data sets.
    """
    q = len(regions)
    if q > LARGEST_TRINOMIAL:
        raise ArgumentError(
            f"The exact trinomial of {q} data sets would take too long (the limit is {LARGEST_TRINOMIAL}). "
            "Pass method='sampling'."
        )
    joint = np.zeros((q + 1, q + 1))
    joint[0, 0] = 1
    for done, (left, rope, right) in enumerate(regions, start=1):
        before = joint[:done, :done].copy()
        joint[: done + 1, : done + 1] *= rope
        joint[1 : done + 1, :done] += left * before
        joint[:done, 1 : done + 1] += right * before
    return joint


def most_frequent(joint: FloatArray) -> tuple[float, float, float]:
    """Probability that each of left, rope and right is the most frequent region; ties are shared equally."""
    q = len(joint) - 1
    left, right = np.indices(joint.shape)
    possible = left + right <= q
    counts = np.stack([left, q - left - right, right], axis=-1)[possible].astype(float)
    total = (joint[possible][:, None] * most_probable_shares(counts)).sum(axis=0)
    return float(total[0]), float(total[1]), float(total[2])


def sampled_wins(success: FloatArray, draws: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of successes in ``draws`` repetitions of q trials, shape (draws,), in bounded memory."""
    return np.concatenate([(uniform < success).sum(axis=1) for uniform in _uniform(len(success), draws, generator)])


def sampled_most_frequent(
    regions: FloatArray, draws: int, generator: np.random.Generator
) -> tuple[list[float], list[float]]:
    """The result of `most_frequent` estimated from ``draws`` repetitions, and the Monte Carlo standard errors."""
    q = len(regions)
    left_below, right_above = regions[:, 0], regions[:, 0] + regions[:, 1]
    total, squares = np.zeros(3), np.zeros(3)
    for uniform in _uniform(q, draws, generator):
        left, right = (uniform < left_below).sum(axis=1), (uniform >= right_above).sum(axis=1)
        won = most_probable_shares(np.stack([left, q - left - right, right], axis=1).astype(float))
        total += won.sum(axis=0)
        squares += (won**2).sum(axis=0)
    shares = total / draws
    return shares.tolist(), np.sqrt(np.maximum(squares / draws - shares**2, 0) / draws).tolist()


def _uniform(q: int, draws: int, generator: np.random.Generator) -> Iterator[FloatArray]:
    """Batches of uniform numbers, shape (some, q), ``draws`` rows in all."""
    batch = max(1, SAMPLED_AT_ONCE // q)
    for start in range(0, draws, batch):
        yield generator.random((min(batch, draws - start), q))


def _pairwise(a: Pair, b: Pair) -> Pair:
    """Convolve the rows of two matrices of one shape, each the sum of a high and a low part, times 2^-500."""
    rows, width = a[0].shape
    high, low = np.zeros((rows, 2 * width - 1)), np.zeros((rows, 2 * width - 1))
    for shift in range(width):
        factor, factor_rest = a[0][:, shift : shift + 1], a[1][:, shift : shift + 1]
        place = slice(shift, shift + width)
        product, error = _exact_product(factor, b[0])
        before = high[:, place].copy()
        high[:, place] += product
        added = high[:, place] - before
        error += (before - (high[:, place] - added)) + (product - added)  # Knuth: what the sum lost
        low[:, place] += error + factor * b[1] + factor_rest * b[0]
    total = high + low
    return np.ldexp(total, -SCALE), np.ldexp(low - (total - high), -SCALE)


def _exact_product(a: FloatArray, b: FloatArray) -> Pair:
    """A product and its rounding error (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves_of_bits(a), _halves_of_bits(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves_of_bits(a: FloatArray) -> Pair:
    shifted = SPLITTER * a
    high = shifted - (shifted - a)
    return high, a - high


def _convolve(a: tuple[int, FloatArray], b: tuple[int, FloatArray]) -> tuple[int, FloatArray]:
    return _trim(a[0] + b[0], np.ldexp(np.convolve(a[1], b[1]), -SCALE))


def _trim(start: int, values: FloatArray) -> tuple[int, FloatArray]:
    kept = np.flatnonzero(values >= SMALLEST)
    return start + int(kept[0]), values[kept[0] : kept[-1] + 1]
