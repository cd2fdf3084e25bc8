"""What the priors alone say of the next data set: a check of the priors before the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.arguments import FloatArray, seed_number, whole_number
from hiercomp.document import Document, Presentation, Table
from hiercomp.errors import ArgumentError
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.datatree import PRIOR_CHAINS, in_metric_units, variable
from hiercomp.posterior.next_dataset import NextDataset, next_dataset
from hiercomp.posterior.predictive import next_differences
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import error_text, outcome_words, probability_text, shown, unit_words

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.025, 0.25, 0.5, 0.75, 0.975)
HEADER = ("On the next data set", "probability", "error", "expected", "error")
MOST_DRAWS = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class PriorPredictive(Presentation):
    """The next data set before any data, by draws from the priors.

    Attributes
    ----------
    next_dataset : NextDataset
        Probabilities of left, rope and right, as a fit without data would have them.
    differences : ndarray, shape (chains, draws)
        Mean differences on the next data set, right minus left.
    parameters : dict from str to ndarray
        Draws of delta0, sigma0 and nu.
    observed : ndarray, shape (q,)
        Mean differences of the data sets, to compare with.
    largest : float
        The largest difference that the scores allow: 1 if all lie in [0, 1], else the largest difference of two scores that
        was seen.
    largest_seen : float
        The largest difference of two scores that was seen; of summaries, the largest mean difference.
    algorithms : tuple of str
        The left and the right algorithm.
    priors : Priors
    unit : str
        Of the differences, in words.
    """

    next_dataset: NextDataset
    differences: FloatArray
    parameters: dict[str, FloatArray]
    observed: FloatArray
    largest: float
    largest_seen: float
    algorithms: tuple[str, str]
    priors: Priors
    unit: str

    @property
    def beyond(self) -> float:
        """Share of the differences that are larger than ``largest``."""
        return float((np.abs(self.differences) > self.largest).mean())

    @property
    def title(self) -> str:
        """Whose priors these are."""
        left, right = map(shown, self.algorithms)
        return f"{left} against {right} before the data: what {self.priors!r} say of the next data set"

    @property
    def conclusion(self) -> str:
        """The expected outcomes, and how many differences are too large."""
        what = "the scores allow" if self.largest > self.largest_seen else "was seen"
        names = outcome_words(*map(shown, self.algorithms))
        expected = ", ".join(
            f"{names[region]} {probability_text(value)}" for region, value in self.next_dataset.expected.items()
        )
        return (
            f"The priors alone expect: {expected}. Of the mean differences that they imply, {100 * self.beyond:.3g}% are "
            f"larger than {self.largest:.3g}, the largest that {what}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Quantiles: of the next difference and the parameters from the priors, and of the observed means."""
        import pandas as pd

        drawn = {"next difference": self.differences, **self.parameters, "observed means": self.observed}
        rows = {name: np.quantile(values, LEVELS) for name, values in drawn.items()}
        columns = [f"{100 * level:g}%" for level in LEVELS]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def document(self) -> Document:
        """The three outcomes, then the quantiles."""
        inference = self.next_dataset
        rows = tuple(
            (
                name,
                probability_text(inference.probabilities[region]),
                error_text(inference.errors[f"p_{region}"]),
                probability_text(inference.expected[region]),
                error_text(inference.errors[f"expected_{region}"]),
            )
            for region, name in outcome_words(*map(shown, self.algorithms)).items()
        )
        legend = (
            "probability: that this outcome is the most likely one; expected: average probability of the outcome itself; "
            "error: Monte Carlo standard error"
        )
        quantiles = Table.of_frame(self.to_frame())
        details = (f"Differences, delta0 and sigma0 are in {self.unit}.",)
        return Document(self.title, self.conclusion, (Table(HEADER, rows, legend), quantiles), details)


def prior_predictive(
    differences: PairedDifferences,
    rope: Rope,
    priors: Priors,
    *,
    draws: int = 10_000,
    seed: int | np.random.Generator = 0,
) -> PriorPredictive:
    """Draw populations from the priors, and the next data set from each.

    The data enter only where the priors depend on them: in the bounds of uniform priors (M4) and (M5).

    Parameters
    ----------
    differences : PairedDifferences
    rope : Rope
    priors : Priors
    draws : int
        Number of populations, from 100 to a million; rounded up to a multiple of 4.
    seed : int or numpy.random.Generator

    Returns
    -------
    PriorPredictive

    Raises
    ------
    ArgumentError
        If an argument is invalid, or the scores are identical.
    """
    draws = whole_number("draws", draws, 100, MOST_DRAWS)
    if priors.population == "mixture":
        raise ArgumentError(
            "The prior of a mixture takes its dictionary from the means of the data sets, so it has no prediction of them.",
            remedy="After a fit, result.datatree['prior'] has draws of delta0, sigma0 and the concentration from it.",
        )
    if differences.covariates is not None:
        raise ArgumentError(
            "The prior of a population with covariates has no prediction here.",
            remedy="After a fit, result.datatree['prior'] has draws of delta0, sigma0, nu and the slopes.",
        )
    if differences.identical:
        raise ArgumentError("The scores are identical, so they have no unit in which the priors could be drawn.")
    number = seed_number(seed)
    model = HierarchicalModel.of(differences, priors)
    known = differences.score_mean is not None  # else the largest difference is only that of the range of the scores
    drawn = in_metric_units(model.prior_draws(PRIOR_CHAINS, -(-draws // PRIOR_CHAINS), number), model.unit)
    delta0, sigma0, nu = (variable(drawn, name) for name in ("delta0", "sigma0", "nu"))
    return PriorPredictive(
        next_dataset=next_dataset(delta0, sigma0, nu, rope),
        differences=next_differences(delta0, sigma0, nu, np.random.default_rng([number, 1])),
        parameters=drawn,
        observed=differences.mean,
        largest=differences.delta0_bound,
        largest_seen=differences.largest_difference if known else float(np.abs(differences.mean).max()),
        algorithms=(differences.left, differences.right),
        priors=priors,
        unit=unit_words(differences.measure, differences.transform),
    )
