"""Which population predicts data sets better: leave-one-out under each, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from hiercomp.arguments import one_of
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.model.priors import POPULATIONS, Priors
from hiercomp.posterior.fit import Fit, fit_again
from hiercomp.posterior.leave_one_out import LeaveOneOut, is_clear, loo
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import counted, metric_words, shown

if TYPE_CHECKING:
    import pandas as pd

SYMMETRIC = {"student_t", "gaussian"}
NAMES = {"student_t": "Student-t", "gaussian": "Gaussian", "mixture": "mixture"}
AnyFit = TypeVar("AnyFit", bound=Fit)


@dataclass(frozen=True, eq=False, repr=False)
class PopulationComparison(Presentation, Generic[AnyFit]):
    """The same comparison with several populations, in the order of how well they predict data sets left out.

    Attributes
    ----------
    fits : mapping from population to ComparisonResult
        The best first.
    loo : mapping from population to LeaveOneOut
    weight : mapping from population to float
        Stacking weights: the mixture of predictions that scores best; they sum to 1.
    """

    fits: dict[str, AnyFit]
    loo: dict[str, LeaveOneOut]
    weight: dict[str, float]

    @property
    def best(self) -> str:
        """The population with the largest elpd."""
        return next(iter(self.fits))

    def difference(self, population: str, other: str) -> tuple[float, float]:
        """How much more elpd the first has than the second, and the standard error, sqrt(q var(differences))."""
        return elpd_difference(self.loo[population], self.loo[other])

    @property
    def title(self) -> str:
        """What was compared."""
        fit = self.fits[self.best]
        given = fit.differences
        metric = metric_words(given.measure, given.higher_is_better, given.transform)
        return (
            f"Populations, {shown(fit.left)} against {shown(fit.right)}: each of "
            f"{counted(len(given.dataset_names), 'data set')} predicted from the others{f', {metric}' if metric else ''}"
        )

    @property
    def conclusion(self) -> str:
        """Whether one predicts clearly better than the others."""
        best, *others = self.fits
        clearly: list[str] = []
        hardly: list[str] = []
        for name in others:
            gain, error = self.difference(best, name)
            text = f"{NAMES[name]} ({gain:.1f}, standard error {error:.1f})"
            (clearly if is_clear(gain, error) else hardly).append(text)
        parts = []
        if clearly:
            parts.append(
                f"The {NAMES[best]} predicts data sets left out clearly better than the {' and the '.join(clearly)}."
            )
        if hardly:
            lead = "It is" if parts else f"The {NAMES[best]} is"
            parts.append(f"{lead} not clearly better than the {' and the '.join(hardly)}.")
        return " ".join(parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the columns mean, the warnings of the fits, and doubtful predictions."""
        texts = [
            "elpd: expected log predictive density; difference: from the first row, with its standard error; weight: of "
            "stacking. Clearly better: by more than two standard errors and by more than 4."
        ]
        for fit in self.fits.values():
            texts += [note.text for note in fit.fit_notes if note.text not in texts]
        texts += [f"{name}: {doubt}" for name, found in self.loo.items() for doubt in found.doubts]
        return tuple(texts)

    def to_frame(self) -> pd.DataFrame:
        """One row for each population: elpd, difference, difference_error, weight, p_left, ..., expected_right, status.

        The probabilities are those on the next data set.
        """
        import pandas as pd

        rows = []
        for name, fit in self.fits.items():
            gain, error = self.difference(name, self.best)
            row: dict[str, Any] = {"elpd": self.loo[name].elpd, "difference": gain, "difference_error": error}
            row["weight"] = self.weight[name]
            seen = fit.next_dataset
            row |= {f"p_{region}": value for region, value in seen.probabilities.items()}
            row |= {f"expected_{region}": value for region, value in seen.expected.items()}
            rows.append(row | {"status": fit.status})
        return pd.DataFrame(rows, index=pd.Index(list(self.fits), name="population"))


def elpd_difference(first: LeaveOneOut, second: LeaveOneOut) -> tuple[float, float]:
    """How much more elpd the first has than the second, and the standard error: sqrt(q var) of the q differences."""
    each = first.elpd_i - second.elpd_i
    return float(each.sum()), float(np.sqrt(len(each)) * each.std())


def fits_of_populations(
    differences: PairedDifferences, rope: Rope, priors: Priors, populations: Sequence[str], options: dict[str, Any]
) -> dict[str, Fit]:
    """The fits of the same data with several populations.

    A Student-t and a Gaussian population share the priors of delta0, sigma0 and sigma_i; the rest are defaults.

    Raises
    ------
    ArgumentError
        If there are fewer than two populations, one is unknown or named twice, or there are covariates.
    """
    given = [] if isinstance(populations, str) or not isinstance(populations, Sequence) else populations
    for name in given:
        one_of("populations", name, POPULATIONS)
    if len(set(given)) < max(2, len(given)):
        raise ArgumentError(
            f"populations must be two or more different ones of {', '.join(POPULATIONS)}, got {populations!r}."
        )
    if differences.covariates is not None:
        raise ArgumentError(
            "Populations are compared without covariates, which a mixture does not take.",
            remedy="Leave them out; or fit with each population, and compare the results of loo().",
        )
    chosen = {
        name: priors if priors.population == name else Priors(population=name)  # type: ignore[arg-type]
        for name in populations
    }
    if priors.population in SYMMETRIC:
        given = ("delta0_bound", "sigma_upper", "sigma0_upper", "delta0", "sigma0")
        for name in SYMMETRIC & chosen.keys():
            chosen[name] = replace(chosen[name], **{field: getattr(priors, field) for field in given})
    return {name: fit_again(replace(differences, scores=None), rope, each, options) for name, each in chosen.items()}


def compared(fits: dict[str, AnyFit]) -> PopulationComparison[AnyFit]:
    """Fits with several populations by what each says of the data sets that are left out."""
    found = {name: loo(fit) for name, fit in fits.items()}
    order = sorted(fits, key=lambda name: -found[name].elpd)
    table = arviz_comparison({name: found[name] for name in order})
    # Further digits are not exact
    weight = {name: round(float(each), 6) for name, each in zip(table.index, table["weight"], strict=True)}
    return PopulationComparison({name: fits[name] for name in order}, {name: found[name] for name in order}, weight)


def arviz_comparison(loos: Mapping[str, LeaveOneOut]) -> pd.DataFrame:
    """ArviZ's table with stacking weights; its later versions round unless they are asked not to."""
    from arviz_stats import compare

    exactly = {"round_to": "none"} if "round_to" in signature(compare).parameters else {}
    table: pd.DataFrame = compare({name: loo.to_arviz() for name, loo in loos.items()}, method="stacking", **exactly)
    return table
