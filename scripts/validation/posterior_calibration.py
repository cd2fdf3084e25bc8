"""Posterior calibration: truths from the posterior of real scores are ranked once the scores were measured again (V8).

Säilynoja et al.: theta is drawn from p(theta | y), a replicate y' from p(y' | theta), and theta is ranked among draws from
p(theta | y, y'). With one prior the ranks are uniform. Here both fits take the bounds of their priors from their own scores,
as the package does by default; ranks that are not uniform would say that it matters. A replicate is a second, independent
cross-validation on the same data sets.

The likelihood of both is that of one data set of 2 n scores with another rho, so the fit is the package's own. With means
m, m', sums of squares S and S', and c = 1 + (n - 1) rho,

    (S + S') / (1 - rho) + n ((m - delta)^2 + (m' - delta)^2) / c
        = S2 / (1 - rho2) + 2 n ((m + m') / 2 - delta)^2 / (1 + (2 n - 1) rho2)

for rho2 = (n - 1) rho / (2 n - 1) and S2 = (1 - rho2) ((S + S') / (1 - rho) + n (m - m')^2 / (2 c)).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from reproduction.exhibit import Row, Settings, uci54
from reproduction.simulation import repeated

import hiercomp as hc
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.engines.quadrature.integration import Integration
from hiercomp.model.priors import DEFAULT_UPPER, Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.kinds import integrand
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences

from .calibration import DRAWS, FAMILY, FLOATS, QUANTITIES, drawn_from, integrated, ranks_of, smallest_p

PAIRS = (("nbc", "hnb"), ("nbc", "j48"), ("hnb", "j48gr"))
HALF_WIDTH = 1.0  # of the rope, in percentage points
REPETITIONS = (500, 10)  # full and quick


@dataclass(frozen=True)
class Scores:
    """The differences of the same data sets: their sufficient statistics, and the largest.

    Attributes
    ----------
    mean, sum_of_squares : ndarray, shape (q,)
    n, rho : float
        Scores of each data set, and their correlation.
    largest : float
    """

    mean: FLOATS
    sum_of_squares: FLOATS
    n: float
    rho: float
    largest: float

    @classmethod
    def of(cls, differences: PairedDifferences) -> Scores:
        """The scores of data sets with the same design."""
        ((n, rho),) = set(zip(differences.n.tolist(), differences.rho.tolist(), strict=True))
        return cls(differences.mean, differences.sum_of_squares, float(n), rho, differences.largest_difference)

    def model(self) -> HierarchicalModel:
        """The posterior of these scores alone."""
        deviation = np.sqrt(self.sum_of_squares / (self.n - 1))
        return _model(self.mean, self.sum_of_squares, self.n, self.rho, deviation, self.largest)

    def model_with(self, other: Scores) -> HierarchicalModel:
        """The posterior of these scores and of others on the same data sets."""
        n, rho, apart = self.n, self.rho, self.mean - other.mean
        squares = self.sum_of_squares + other.sum_of_squares
        deviation = np.sqrt((squares + n * apart**2 / 2) / (2 * n - 1))  # of all scores about their mean
        both = (n - 1) * rho / (2 * n - 1)
        within = (1 - both) * (squares / (1 - rho) + n * apart**2 / (2 * (1 + (n - 1) * rho)))
        mean = (self.mean + other.mean) / 2
        return _model(mean, within, 2 * n, both, deviation, max(self.largest, other.largest))


def _model(mean: FLOATS, squares: FLOATS, n: float, rho: float, deviation: FLOATS, largest: float) -> HierarchicalModel:
    """With bounds from the scores, (M3)-(M5), in the unit of the mean standard deviation."""
    unit, q, between = float(deviation.mean()), len(mean), float(np.std(mean, ddof=1))
    return HierarchicalModel(
        unit=unit, mean=mean / unit, sum_of_squares=squares / unit**2, n=np.full(q, n), rho=np.full(q, rho),
        delta0_bound=largest / unit, sigma_upper=DEFAULT_UPPER, sigma0_upper=DEFAULT_UPPER * between / unit,
        priors=Priors(),
    )  # fmt: skip


def posterior_rows(settings: Settings) -> list[Row]:
    """The smallest p of each pair, against a limit for all of them together."""
    repetitions = REPETITIONS[settings.quick]
    rows = []
    for pair in PAIRS:
        observed_scores(pair)  # tells that there is no table, before processes start
        name = f"posterior-sbc-{'-'.join(pair)}"
        found = repeated(settings, name, partial(posterior_ranks, pair=pair), repetitions)
        smallest, quantity = smallest_p(found)
        what = f"{pair[0]} against {pair[1]}, {repetitions} refits: smallest p ({quantity})"
        rows.append(Row.above(what, FAMILY / (len(QUANTITIES) * len(PAIRS)), smallest))
    return rows


@cache
def observed_scores(pair: tuple[str, str]) -> Scores:
    """The paper's scores in per cent, so the bound of delta0 comes from them too."""
    table = uci54()
    table["score"] *= 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        differences = hc.HierarchicalComparison(table, *pair, rope=HALF_WIDTH).differences
    return Scores.of(differences.with_spread_of_rope(Rope.of(HALF_WIDTH)))


@cache
def observed_posterior(pair: tuple[str, str]) -> tuple[HierarchicalModel, Integration]:
    """That of the observed scores, which all repetitions draw from."""
    model = observed_scores(pair).model()
    rope = Rope.of(HALF_WIDTH / model.unit)
    return model, QuadratureEngine().integrate(integrand(model), rope)


def posterior_ranks(generator: np.random.Generator, pair: tuple[str, str]) -> list[float]:
    """Of a truth from the posterior, among draws of the posterior of the observed scores and a replicate."""
    scores, (first, posterior) = observed_scores(pair), observed_posterior(pair)
    one = drawn_from(posterior, first, 1, generator)
    truth = {name: values[0] if name == "nu" else values[0] * first.unit for name, values in one.items()}
    model = scores.model_with(replicate(truth, scores, generator))
    draws = integrated(model, HALF_WIDTH / model.unit, DRAWS, generator)
    scaled = {name: value if name == "nu" else value / model.unit for name, value in truth.items()}
    return ranks_of(scaled, draws, model, HALF_WIDTH / model.unit, generator)


def replicate(truth: dict[str, FLOATS], like: Scores, generator: np.random.Generator) -> Scores:
    """Scores of the same design, from the deltas and sigmas of a truth."""
    q, n = len(like.mean), int(like.n)
    shared, single = generator.normal(size=(q, 1)), generator.normal(size=(q, n))
    noise = np.sqrt(like.rho) * shared + np.sqrt(1 - like.rho) * single
    x = truth["delta"][:, None] + truth["sigma"][:, None] * noise
    mean = x.mean(axis=1)
    squares = ((x - mean[:, None]) ** 2).sum(axis=1)
    return Scores(mean, squares, like.n, like.rho, float(np.abs(x).max()))
