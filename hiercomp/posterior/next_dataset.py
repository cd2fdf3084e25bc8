"""Inference on the next data set from draws: region probabilities, decisions and posterior odds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.rope import REGIONS, Rope, most_probable_shares, region_probabilities

if TYPE_CHECKING:
    import pandas as pd

from hiercomp.arguments import FloatArray, verdict_level
from hiercomp.posterior.chains import effective_size_of_mean, error_of_mean

UNDECIDED_ERRORS = 3.0  # errors between a probability and its threshold
QUANTITIES = ("p_left", "p_rope", "p_right", "expected_left", "expected_rope", "expected_right", "p_positive")
WEAK_ODDS, POSITIVE_ODDS = 3.0, 20.0  # Table 3 of Corani et al. (2017), after Raftery (1995)


@dataclass(frozen=True)
class NextDataset:
    """The most probable outcome on the next data set, and its probability.

    Attributes
    ----------
    p_left, p_rope, p_right : float
        Posterior probability that this region is the most probable outcome; they sum to 1.
    expected_left, expected_rope, expected_right : float
        Expected probability of the region on the next data set; they sum to 1.
    p_positive : float
        P(delta0 > 0): the right algorithm is better on average.
    errors : dict from the names above to float
        Monte Carlo standard error of each; for integrals, the estimated error of the integration.
    draws : int
        Number of posterior draws behind them; 0 if they were integrated.
    floor : float
        A probability up to this can't be distinguished from zero.
    """

    p_left: float
    p_rope: float
    p_right: float
    expected_left: float
    expected_rope: float
    expected_right: float
    p_positive: float
    errors: dict[str, float]
    draws: int
    floor: float = 0.0

    @property
    def probabilities(self) -> dict[str, float]:
        """P(left), P(rope), P(right) by region."""
        return {"left": self.p_left, "rope": self.p_rope, "right": self.p_right}

    @property
    def expected(self) -> dict[str, float]:
        """Expected probability of each region."""
        return {"left": self.expected_left, "rope": self.expected_rope, "right": self.expected_right}

    @property
    def exact(self) -> bool:
        """Whether no number has an error, as with identical scores."""
        return not any(self.errors.values())

    @property
    def largest_error(self) -> float:
        """The largest error of P(left), P(rope) and P(right)."""
        return max(self.errors[f"p_{region}"] for region in REGIONS)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the errors as "monte_carlo_standard_errors", or "integration_errors" if nothing was sampled."""
        kind = "monte_carlo_standard_errors" if self.draws else "integration_errors"
        return {name: getattr(self, name) for name in QUANTITIES} | {kind: dict(self.errors)}


def next_dataset(delta0: FloatArray, sigma0: FloatArray, nu: ArrayLike, rope: Rope) -> NextDataset:
    """Inference on the next data set from posterior draws.

    For each draw the probabilities of left, rope and right under Student-t(nu, delta0, sigma0) are compared; the
    proportions of draws in which each is the largest are P(left), P(rope) and P(right), their means the expected
    probabilities.

    Parameters
    ----------
    delta0, sigma0 : ndarray, shape (chains, draws)
    nu : array_like
        Of the same shape, or infinite for a Gaussian population.
    rope : Rope
        In the unit of delta0.

    References
    ----------
    Corani et al., Machine Learning 106 (2017), inference on the next data set.
    """
    return next_dataset_of(region_probabilities(delta0, sigma0, nu, rope), delta0)


def next_dataset_of(regions: FloatArray, delta0: FloatArray) -> NextDataset:
    """Inference on the next data set from the probabilities of the three regions under each draw.

    Draws that are all the same are a certainty, without errors.

    Parameters
    ----------
    regions : ndarray, shape (chains, draws, 3)
    delta0 : ndarray, shape (chains, draws)
        Mean of the population.
    """
    shares = most_probable_shares(regions)
    positive = (delta0 > 0).astype(float)
    found = np.concatenate([means(shares), means(regions), [positive.mean()]])
    values = dict(zip(QUANTITIES, found.tolist(), strict=True))
    errors = dict.fromkeys(QUANTITIES, 0.0)
    if np.ptp(delta0) > 0 or np.ptp(regions, axis=(0, 1)).any():
        for place, region in enumerate(REGIONS):
            errors[f"p_{region}"] = _proportion_error(shares[..., place], delta0)
            errors[f"expected_{region}"] = _mean_error(regions[..., place])
        errors["p_positive"] = _proportion_error(positive, delta0)
    return NextDataset(**values, errors=errors, draws=delta0.size)


def means(regions: FloatArray) -> FloatArray:
    """The mean over the draws for each region, shape (3,), of values of shape (chains, draws, 3)."""
    return np.array([regions[..., place].mean() for place in range(len(REGIONS))])


def _mean_error(values: FloatArray) -> float:
    return 0.0 if np.ptp(values) == 0 else error_of_mean(values)


def _proportion_error(indicator: FloatArray, delta0: FloatArray) -> float:
    """Monte Carlo standard error of a proportion, above zero even if all draws agree.

    sqrt(p (1 - p) / ESS) with half a draw added on each side (Agresti & Coull 1998 in spirit), and the effective sample
    size of delta0 if the indicator never changes.
    """
    proportion = (indicator.sum() + 0.5) / (indicator.size + 1)
    return float(np.sqrt(proportion * (1 - proportion) / effective_size(indicator, delta0)))


def effective_size(values: FloatArray, delta0: FloatArray) -> float:
    """Effective sample size of the mean of some values, at most their number; that of delta0 if they never change."""
    return min(effective_size_of_mean(values if np.ptp(values) > 0 else delta0), values.size)


@dataclass(frozen=True)
class Decision:
    """The verdict at a level alpha.

    Attributes
    ----------
    region : {"left", "rope", "right", "none", "undecided"}
        The region whose probability is above 1 - alpha; "none" if there is none; "undecided" if the largest probability
        lies within three errors of 1 - alpha: without them it could be another.
    probability : float
        The largest of the three probabilities.
    most_probable : {"left", "rope", "right"}
        Its region.
    alpha : float
    """

    region: Literal["left", "rope", "right", "none", "undecided"]
    probability: float
    most_probable: str
    alpha: float


def decide(inference: NextDataset, alpha: float = 0.05) -> Decision:
    """The decision at level ``alpha``, in (0, 0.5)."""
    alpha = verdict_level(alpha)
    region, probability = max(inference.probabilities.items(), key=lambda item: item[1])
    distance, error = probability - (1 - alpha), inference.errors[f"p_{region}"]
    if error > 0 and abs(distance) <= UNDECIDED_ERRORS * error:
        return Decision("undecided", probability, region, alpha)
    if distance > 0:
        return Decision(region, probability, region, alpha)  # type: ignore[arg-type]
    return Decision("none", probability, region, alpha)


@dataclass(frozen=True)
class NonInferiority:
    """Whether an algorithm is at least as good as the other one within the margin, on the next data set.

    It is unless the most probable outcome is that the other one is better, so the probability is 1 less that of this region.

    Attributes
    ----------
    side : {"left", "right"}
        The algorithm.
    probability, error : float
        Posterior probability that it is at least as good within the margin, and its error.
    expected, expected_error : float
        Expected probability of such a difference on the next data set, and its error.
    verdict : {"non-inferior", "not shown", "undecided"}
        Whether the probability is above 1 - alpha; "undecided" if it is within three errors of that.
    alpha : float
    """

    side: Literal["left", "right"]
    probability: float
    error: float
    expected: float
    expected_error: float
    verdict: Literal["non-inferior", "not shown", "undecided"]
    alpha: float


def non_inferiority(inference: NextDataset, side: Literal["left", "right"], alpha: float = 0.05) -> NonInferiority:
    """Whether the algorithm at this side is at least as good as the other within the rope, at a level in (0, 0.5)."""
    alpha = verdict_level(alpha)
    other = "left" if side == "right" else "right"
    probability, error = 1 - inference.probabilities[other], inference.errors[f"p_{other}"]
    distance = probability - (1 - alpha)
    verdict: Literal["non-inferior", "not shown", "undecided"] = "non-inferior" if distance > 0 else "not shown"
    if error > 0 and abs(distance) <= UNDECIDED_ERRORS * error:
        verdict = "undecided"
    expected, expected_error = 1 - inference.expected[other], inference.errors[f"expected_{other}"]
    return NonInferiority(side, probability, error, expected, expected_error, verdict, alpha)


@dataclass(frozen=True)
class Odds:
    """Posterior odds of one region over another.

    Attributes
    ----------
    favoured, against : str
        Two of "left", "rope", "right"; the more probable first.
    value : float
        P(favoured) / P(against); NaN if both are zero.
    is_bound : bool
        True if ``against`` has no draw, or a probability that can't be distinguished from zero: the odds exceed
        ``value``.
    grade : {"weak", "positive", "strong", "undetermined"}
        1 to 3, 3 to 20 and above 20 (Table 3 of Corani et al. 2017, after Raftery 1995).
    """

    favoured: str
    against: str
    value: float
    is_bound: bool
    grade: str

    @property
    def text(self) -> str:
        """The value as printed; a bound is rounded down to one digit, because no more is known."""
        if np.isnan(self.value):
            return "undetermined"
        if self.is_bound:
            digits = str(int(self.value))
            return f"> {int(digits[0]) * 10 ** (len(digits) - 1):,}"
        return f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:.3g}"

    def __str__(self) -> str:
        return f"{self.text} ({'nothing favours either' if np.isnan(self.value) else self.grade})"


def posterior_odds(inference: NextDataset) -> tuple[Odds, ...]:
    """Odds of the three pairs of regions, graded as in Raftery (Sociological Methodology 25, 1995).

    A region that no draw favours has probability below 1/draws, and an integrated probability below its error is no
    more certain; the odds against such a region are given as a bound.
    """
    odds = []
    for first, second in combinations(REGIONS, 2):
        swap = inference.probabilities[second] > inference.probabilities[first]
        favoured, against = (second, first) if swap else (first, second)
        above, below = inference.probabilities[favoured], inference.probabilities[against]
        if above <= inference.floor:
            odds.append(Odds(favoured, against, float("nan"), False, "undetermined"))
            continue
        known = below > inference.floor
        value = above / below if known else above / inference.floor if inference.floor else above * inference.draws
        grade = "weak" if value <= WEAK_ODDS else "positive" if value <= POSITIVE_ODDS else "strong"
        odds.append(Odds(favoured, against, value, not known, grade))
    return tuple(odds)


def dataset_table(delta: FloatArray, rope: Rope, dataset_names: tuple[str, ...]) -> pd.DataFrame:
    """Posterior of each data set's mean difference.

    Parameters
    ----------
    delta : ndarray, shape (chains, draws, q)
    rope : Rope
    dataset_names : tuple of str, length q

    Returns
    -------
    DataFrame
        Indexed by data set: posterior_mean, posterior_sd, lower and upper (central 95% interval), p_left, p_rope,
        p_right (probability that the mean difference lies there).
    """
    import pandas as pd

    flat = delta.reshape(-1, delta.shape[-1])
    lower, upper = np.quantile(flat, [0.025, 0.975], axis=0)
    left, right = (flat < rope.lower).mean(axis=0), (flat > rope.upper).mean(axis=0)
    inside = ((flat >= rope.lower) & (flat <= rope.upper)).mean(axis=0)
    return pd.DataFrame(
        {
            "posterior_mean": flat.mean(axis=0),
            "posterior_sd": flat.std(axis=0, ddof=1) if len(flat) > 1 else np.zeros(len(dataset_names)),
            "lower": lower,
            "upper": upper,
            "p_left": left,
            "p_rope": inside,
            "p_right": right,
        },
        index=pd.Index(dataset_names, name="dataset"),
    )
