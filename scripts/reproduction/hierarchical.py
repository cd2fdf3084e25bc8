"""Corani, Benavoli, Demsar, Mangili & Zaffalon (2017): the hierarchical model on 54 data sets.

Differences in the paper are the first name minus the second, so its "left" says that the second is better.
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
from scipy import special, stats

import hiercomp as hc
from hiercomp.plots.population import population_density

from .exhibit import Exhibit, Row, Settings, uci54

FLOATS = npt.NDArray[np.float64]
PAIRS = (("nbc", "hnb"), ("nbc", "j48"), ("nbc", "j48gr"), ("hnb", "j48"), ("hnb", "j48gr"), ("j48", "j48gr"))
HIERARCHICAL = (
    ("1.00", "0.00", "0.00"), ("0.80", "0.02", "0.18"), ("0.84", "0.02", "0.14"),
    ("0.03", "0.10", "0.87"), ("0.03", "0.07", "0.90"), ("0.00", "1.00", "0.00"),
)  # fmt: skip
JUAREZ_STEEL = (
    ("1.00", "0.00", "0.00"), ("0.80", "0.01", "0.20"), ("0.84", "0.01", "0.15"),
    ("0.03", "0.02", "0.95"), ("0.03", "0.02", "0.95"), ("0.00", "1.00", "0.00"),
)  # fmt: skip
SIGNED_RANK = ("0.00", "0.46", "0.39", "0.07", "0.08", "0.00")
PAPER_DRAWS = 8000  # of the authors' program: 8 chains, Stan's 1,000 kept draws each
LARGEST_ERROR = 4.0  # Monte Carlo errors of the paper's draws


def fitted(
    pair: tuple[str, str], priors: hc.Priors | None = None, rope: float = 0.01, *, draws: bool = False
) -> hc.ComparisonResult:
    """The posterior of a pair, integrated or sampled by Stan as often as in the paper."""
    priors = hc.Priors() if priors is None else priors
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        comparison = hc.HierarchicalComparison(uci54(), *pair, rope=rope, priors=priors)
        if draws:
            return comparison.fit("embedded", chains=8, draws=PAPER_DRAWS // 8, monte_carlo_error=None, progress=False)
        return comparison.fit("quadrature", progress=False)


def probability_rows(pair: tuple[str, str], printed: tuple[str, str, str], result: hc.ComparisonResult) -> list[Row]:
    """P(left), P(rope) and P(right) in the paper's orientation."""
    seen = result.next_dataset
    rows = []
    for side, name, text in zip(("left", "rope", "right"), ("p_right", "p_rope", "p_left"), printed, strict=True):
        p = getattr(seen, name)
        rows.append(Row.of(f"{'-'.join(pair)}, {side}", text, p, allowed(p, seen.errors[name], seen.draws)))
    return rows


def allowed(p: float, own: float, draws: int) -> float:
    """The paper's Monte Carlo errors and ours, of so many draws; of an integral, its bound on the error."""
    paper = float(np.sqrt(p * (1 - p) / PAPER_DRAWS))
    return LARGEST_ERROR * float(np.hypot(paper, own)) if draws else LARGEST_ERROR * paper + own


def table_5(settings: Settings, *, draws: bool = False) -> list[Row]:
    """Both priors on nu."""
    rows = []
    for pair, first, second in list(zip(PAIRS, HIERARCHICAL, JUAREZ_STEEL, strict=True))[:: 3 if settings.quick else 1]:
        for word, printed, priors in (
            ("hierarchical", first, hc.Priors()),
            ("Gamma(2, 0.1)", second, hc.Priors.juarez_steel()),
        ):
            found = probability_rows(pair, printed, fitted(pair, priors, draws=draws))
            rows += [Row(f"{word}: {row.what}", row.published, row.ours, row.error, row.agrees) for row in found]
    return rows


def table_6(settings: Settings) -> list[Row]:
    """P-values of the signed-rank test; zeros are dropped, as in the program of the paper."""
    means = uci54().groupby(["dataset", "algorithm"])["score"].mean().unstack()
    rows = []
    for pair, printed in zip(PAIRS, SIGNED_RANK, strict=True):
        p = hc.signed_rank_test((means[pair[1]] - means[pair[0]]).to_numpy(), zero_method="wilcox").pvalue
        rows.append(Row.of("-".join(pair), printed, p))
    return rows


def bounds(settings: Settings, *, draws: bool = False) -> list[Row]:
    """Section 4.8.1: bounds of 100 and of 1,000 on sigma_i and sigma0 give the same posterior."""
    rows = []
    for pair in PAIRS[1:2] if settings.quick else PAIRS:
        usual, other = (
            fitted(pair, priors, draws=draws).next_dataset
            for priors in (hc.Priors(), hc.Priors(sigma_upper=100, sigma0_upper=100))
        )
        names = ("p_left", "p_rope", "p_right")
        change = max(abs(getattr(usual, name) - getattr(other, name)) for name in names)
        largest = max(usual.largest_error, other.largest_error)
        error = LARGEST_ERROR * np.sqrt(2) * largest if draws else 2 * largest
        rows.append(Row.of(f"{'-'.join(pair)}, largest change of a probability", "0.00", change, error))
    return rows


def half_rope(settings: Settings, *, draws: bool = False) -> list[Row]:
    """Section 4.9: j48 and j48gr are equivalent by half the rope too."""
    seen = fitted(("j48", "j48gr"), rope=0.005, draws=draws).next_dataset
    error = allowed(seen.p_rope, seen.errors["p_rope"], seen.draws)
    return [Row.of("j48-j48gr, rope of [-0.005, 0.005], rope", "1.00", seen.p_rope, error)]


def by_draws(settings: Settings) -> list[Row]:
    """Table 5, the bounds and half the rope, sampled as in the paper."""
    return [row for part in (table_5, bounds, half_rope) for row in part(settings, draws=True)]


def figure_6(settings: Settings) -> list[Row]:
    """Which prior on nu gives a population that is nearer to the shrunken estimates.

    The paper compares densities by eye. Here it is the Kullback-Leibler divergence of the population's density, averaged
    over its posterior, from the kernel density of the estimates, with the bandwidth that is R's default.
    """
    rows = []
    for pair in PAIRS[1::4] if settings.quick else PAIRS:
        flexible, fixed = (fitted(pair, priors) for priors in (hc.Priors(), hc.Priors.juarez_steel()))
        estimates, others = (result.datasets()["posterior_mean"].to_numpy() for result in (flexible, fixed))
        alike = float(np.corrcoef(estimates, others)[0, 1])
        name = "-".join(pair)
        rows.append(Row(f"{name}, correlation of the estimates of both priors", "identical", alike, 0.0, alike > 0.999))
        bandwidth = default_bandwidth(estimates)
        places = np.linspace(estimates.min() - 5 * bandwidth, estimates.max() + 5 * bandwidth, 2001)
        kernel = stats.norm.pdf(places[:, None], estimates, bandwidth).mean(axis=1)
        divergences = [
            float(special.rel_entr(kernel, population_density(result, places)).sum() * (places[1] - places[0]))
            for result in (flexible, fixed)
        ]
        gain = divergences[1] - divergences[0]
        rows.append(Row(f"{name}, divergence of Gamma(2, 0.1) less that of the other", "above 0", gain, 0.0, gain > 0))
    return rows


def default_bandwidth(values: FLOATS) -> float:
    """Silverman's rule of thumb, the default of R's density()."""
    quartiles = np.percentile(values, [25, 75])
    return float(0.9 * min(np.std(values, ddof=1), np.diff(quartiles)[0] / 1.34) * len(values) ** -0.2)


def figure_7(settings: Settings) -> list[Row]:
    """What the text says of the differences of j48 and j48gr."""
    table = fitted(("j48", "j48gr")).datasets()
    means, shrunken = table["mean"].to_numpy(), table["posterior_mean"].to_numpy()
    inside = float((np.abs(means) < 0.01).mean())
    favouring = float((means > 0).sum() / (means != 0).sum())
    spread = float(shrunken.std() / means.std())
    return [
        Row("share of mean differences within the rope", "most", inside, 0.0, inside > 0.5),
        Row("share of the differences other than 0 in favour of j48gr", "most", favouring, 0.0, favouring > 0.5),
        Row("standard deviation after shrinkage, relative to before", "below 1", spread, 0.0, spread < 1),
    ]


PAPER = "Corani et al. (2017)"
EXHIBITS = (
    Exhibit("corani2017-table5", f"{PAPER}, Table 5", "Two priors on nu, 54 data sets", table_5),
    Exhibit("corani2017-table6", f"{PAPER}, Table 6", "P-values of the signed-rank test, 54 data sets", table_6),
    Exhibit("corani2017-bounds", f"{PAPER}, Sect. 4.8.1", "Upper bounds of sigma_i and sigma0", bounds),
    Exhibit("corani2017-half-rope", f"{PAPER}, Sect. 4.9", "Half the rope", half_rope),
    Exhibit("corani2017-draws", f"{PAPER}, Sect. 4.8 and 4.9", "Table 5, the bounds and half the rope by draws", by_draws),
    Exhibit("corani2017-fig6", f"{PAPER}, Sect. 4.8, Fig. 6", "Which prior on nu fits the estimates better", figure_6),
    Exhibit(
        "corani2017-fig7", f"{PAPER}, Sect. 4.9, Fig. 7", "Differences of j48 and j48gr", figure_7,
        "The text says most data sets; 14 of the 54 have no difference at all.",
    ),
)  # fmt: skip
