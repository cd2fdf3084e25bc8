"""Corani, Benavoli, Demsar, Mangili & Zaffalon (2017): the hierarchical model on 54 data sets.

Differences in the paper are the first name minus the second, so its "left" says that the second is better.
"""

from __future__ import annotations

import warnings

import numpy as np

import hiercomp as hc

from .exhibit import Exhibit, Row, Settings, uci54

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


def fitted(pair: tuple[str, str], priors: hc.Priors | None = None, rope: float = 0.01) -> hc.ComparisonResult:
    """The integrated posterior of a pair."""
    priors = hc.Priors() if priors is None else priors
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        comparison = hc.HierarchicalComparison(uci54(), *pair, rope=rope, priors=priors)
        return comparison.fit("quadrature", progress=False)


def probability_rows(pair: tuple[str, str], printed: tuple[str, str, str], priors: hc.Priors) -> list[Row]:
    """P(left), P(rope) and P(right) in the paper's orientation."""
    seen = fitted(pair, priors).next_dataset
    rows = []
    for side, name, text in zip(("left", "rope", "right"), ("p_right", "p_rope", "p_left"), printed, strict=True):
        p = getattr(seen, name)
        error = LARGEST_ERROR * np.sqrt(p * (1 - p) / PAPER_DRAWS) + seen.errors[name]
        rows.append(Row.of(f"{'-'.join(pair)}, {side}", text, p, error))
    return rows


def table_5(settings: Settings) -> list[Row]:
    """Both priors on nu."""
    rows = []
    for pair, first, second in list(zip(PAIRS, HIERARCHICAL, JUAREZ_STEEL, strict=True))[:: 3 if settings.quick else 1]:
        for word, printed, priors in (
            ("hierarchical", first, hc.Priors()),
            ("Gamma(2, 0.1)", second, hc.Priors.juarez_steel()),
        ):
            found = probability_rows(pair, printed, priors)
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


def bounds(settings: Settings) -> list[Row]:
    """Section 4.8.1: bounds of 100 and of 1,000 on sigma_i and sigma0 give the same posterior."""
    rows = []
    for pair in PAIRS[1:2] if settings.quick else PAIRS:
        usual, other = (
            fitted(pair).next_dataset,
            fitted(pair, hc.Priors(sigma_upper=100, sigma0_upper=100)).next_dataset,
        )
        names = ("p_left", "p_rope", "p_right")
        change = max(abs(getattr(usual, name) - getattr(other, name)) for name in names)
        error = 2 * max(usual.largest_error, other.largest_error)
        rows.append(Row.of(f"{'-'.join(pair)}, largest change of a probability", "0.00", change, error))
    return rows


def half_rope(settings: Settings) -> list[Row]:
    """Section 4.9: j48 and j48gr are equivalent by half the rope too."""
    p = fitted(("j48", "j48gr"), rope=0.005).next_dataset.p_rope
    return [
        Row.of(
            "j48-j48gr, rope of [-0.005, 0.005], rope", "1.00", p, LARGEST_ERROR * np.sqrt(p * (1 - p) / PAPER_DRAWS)
        )
    ]


PAPER = "Corani et al. (2017)"
EXHIBITS = (
    Exhibit("corani2017-table5", f"{PAPER}, Table 5", "Two priors on nu, 54 data sets", table_5),
    Exhibit("corani2017-table6", f"{PAPER}, Table 6", "P-values of the signed-rank test, 54 data sets", table_6),
    Exhibit("corani2017-bounds", f"{PAPER}, Sect. 4.8.1", "Upper bounds of sigma_i and sigma0", bounds),
    Exhibit("corani2017-half-rope", f"{PAPER}, Sect. 4.9", "Half the rope", half_rope),
)
