"""Draws and integral of one posterior side by side: do they agree?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.marginals import QUANTILE_ERROR, Marginal
from hiercomp.posterior.chains import error_of_mean, error_of_median
from hiercomp.posterior.next_dataset import QUANTITIES, NextDataset, effective_size
from hiercomp.rope import REGIONS, Rope, most_probable_shares, region_probabilities

if TYPE_CHECKING:
    import pandas as pd

LARGEST_DISTANCE = 4.0  # combined errors; beyond them the two computations contradict each other


@dataclass(frozen=True)
class VerifiedQuantity:
    """One quantity, computed twice.

    Attributes
    ----------
    name : str
        As in `NextDataset`, and "delta0_mean", "sigma0_median" and "nu_median" for the population.
    integral, error : float
        By quadrature, and the estimated error.
    draws, monte_carlo_error : float
        From the draws, and their standard error: the larger of the one estimated from the draws and the one they would
        have if the integral were right.
    """

    name: str
    integral: float
    error: float
    draws: float
    monte_carlo_error: float

    @property
    def difference(self) -> float:
        """The absolute difference of the two."""
        return abs(self.integral - self.draws)

    @property
    def distance(self) -> float:
        """The difference in units of the combined error, the root of the sum of both errors squared."""
        combined = float(np.hypot(self.error, self.monte_carlo_error))
        return self.difference / combined if combined else 0.0 if not self.difference else float("inf")


@dataclass(frozen=True)
class Verification:
    """The same quantities from the draws and the integral of one posterior.

    Attributes
    ----------
    quantities : tuple of VerifiedQuantity
    n_draws : int
    """

    quantities: tuple[VerifiedQuantity, ...]
    n_draws: int

    @property
    def farthest(self) -> VerifiedQuantity:
        """The quantity with the largest distance."""
        return max(self.quantities, key=lambda quantity: quantity.distance)

    @property
    def agrees(self) -> bool:
        """Whether no distance is above four combined errors."""
        return self.farthest.distance <= LARGEST_DISTANCE

    @property
    def largest_difference(self) -> float:
        """Of the probabilities."""
        return max(quantity.difference for quantity in self.quantities if quantity.name in QUANTITIES)

    def to_frame(self) -> pd.DataFrame:
        """One row for each quantity: integral, error, draws, monte_carlo_error, distance."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["quantities"]).set_index("quantity")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        rows = [
            {"quantity": quantity.name}
            | {
                name: getattr(quantity, name)
                for name in ("integral", "error", "draws", "monte_carlo_error", "distance")
            }
            for quantity in self.quantities
        ]
        return {"n_draws": self.n_draws, "quantities": rows}

    def __str__(self) -> str:
        errors = f"{self.farthest.distance:.1f} standard errors"
        if not self.agrees:
            worst = self.farthest
            return (
                f"{self.n_draws:,} draws by Stan disagree with the integral: {worst.name} is {worst.integral:.4g} by "
                f"integration, {worst.draws:.4g} by the draws, {errors} apart"
            )
        return (
            f"{self.n_draws:,} draws by Stan agree, largest difference {self.largest_difference:.3f}, at most {errors}"
        )


def verify(
    integral: NextDataset,
    population: dict[str, Marginal],
    sampled: NextDataset,
    draws: dict[str, FloatArray],
    rope: Rope,
) -> Verification:
    """Compare an integral with draws.

    Parameters
    ----------
    integral, sampled : NextDataset
        The same inference in both ways.
    population : mapping from "delta0", "sigma0", "nu" to Marginal
        By integration.
    draws : mapping from the same names to ndarray, shape (chains, draws)
    rope : Rope

    Notes
    -----
    A proportion p of draws with effective size m has the variance p (1 - p) / m. Evaluated only at the proportion of
    the draws, it is far too small if p is small and no draw shows it; so it is evaluated at the integral too, and the
    larger counts. The mean of a quantity between 0 and 1 that is rarely above 0 has the same problem, of the order of 1
    / m.
    """
    delta0, sigma0 = draws["delta0"], draws["sigma0"]
    regions = region_probabilities(delta0, sigma0, draws.get("nu", np.inf), rope)
    shares = most_probable_shares(regions)
    indicators = {f"p_{region}": shares[..., place] for place, region in enumerate(REGIONS)}
    indicators["p_positive"] = (delta0 > 0).astype(float)
    means = {f"expected_{region}": regions[..., place] for place, region in enumerate(REGIONS)}
    rows = []
    for name in QUANTITIES:
        value = getattr(integral, name)
        size = effective_size({**indicators, **means}[name], delta0)
        error = sampled.errors[name]
        error = max(error, np.sqrt(value * (1 - value) / size)) if name in indicators else np.hypot(error, 1 / size)
        rows.append(VerifiedQuantity(name, value, integral.errors[name], getattr(sampled, name), float(error)))
    centre, size = population["delta0"], effective_size(delta0, delta0)
    error = max(error_of_mean(delta0), centre.sd / np.sqrt(size))
    rows.append(VerifiedQuantity("delta0_mean", centre.mean, centre.mean_error, float(delta0.mean()), error))
    for name in ("sigma0", "nu"):
        if name in population:
            values, found = draws[name], population[name]
            error = error_of_median(values)
            median = float(np.median(values))
            rows.append(VerifiedQuantity(f"{name}_median", found.median, QUANTILE_ERROR * found.sd, median, error))
    return Verification(tuple(rows), delta0.size)
