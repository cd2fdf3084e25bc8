"""Does another population predict the data sets better? Leave-one-out of the fitted one beside others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.model.priors import CONCENTRATION, Priors
from hiercomp.posterior.fit import Fit, integrate
from hiercomp.posterior.leave_one_out import LeaveOneOut, is_clear, loo
from hiercomp.posterior.populations import NAMES, elpd_difference
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class PopulationCheck(Presentation):
    """How well several populations predict each data set from the others.

    Attributes
    ----------
    loos : mapping from str to LeaveOneOut
        By the name of the population; the first is the fitted one.
    failed : tuple of str
        Populations whose computation failed its checks, so they are left out.
    """

    loos: Mapping[str, LeaveOneOut]
    failed: tuple[str, ...] = ()

    @property
    def fitted(self) -> str:
        """The name of the fitted population."""
        return next(iter(self.loos))

    @property
    def loo(self) -> LeaveOneOut:
        """Leave-one-out of the fitted population."""
        return self.loos[self.fitted]

    @property
    def better(self) -> tuple[str, ...]:
        """Populations that are clearly better than the fitted one, the best first; see `conclusion`."""
        frame = self.to_frame()
        return tuple(frame.index[frame["better"]][np.argsort(-frame["elpd_difference"][frame["better"]].to_numpy())])

    @property
    def title(self) -> str:
        """What was compared."""
        left, right = map(shown, self.loo.algorithms)
        return (
            f"Populations, {left} against {right}: each of {len(self.loo.dataset_names)} data sets predicted from the others"
            f"{f', {self.loo.metric}' if self.loo.metric else ''}"
        )

    @property
    def conclusion(self) -> str:
        """Whether another population is better by more than two standard errors and by an elpd of more than 4."""
        if not self.better:
            return (
                f"No other population predicts the data sets clearly better than the {self.fitted} one (by an elpd of more "
                "than 4 and by more than two standard errors)."
            )
        row = self.to_frame().loc[self.better[0]]
        return (
            f"A {self.better[0]} population predicts the data sets better than the {self.fitted} one: its elpd is higher by "
            f"{row['elpd_difference']:.1f}, more than two standard errors ({row['difference_error']:.1f})."
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a summary says: the conclusion if another population is better."""
        return (self.conclusion,) if self.better else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What failed, and what is doubtful."""
        failed = tuple(f"The computation with a {name} population failed its checks." for name in self.failed)
        return failed + tuple(f"{name}: {doubt}" for name, found in self.loos.items() for doubt in found.doubts)

    def to_frame(self) -> pd.DataFrame:
        """One row for each population: elpd, p, elpd_difference from the fitted one and its standard error, better.

        The standard error is sqrt(q var) of the q differences, of one data set each.
        """
        import pandas as pd

        rows = {}
        for name, found in self.loos.items():
            difference, error = elpd_difference(found, self.loo)
            rows[name] = {
                "elpd": found.elpd,
                "p": found.p,
                "elpd_difference": difference,
                "difference_error": error,
                "better": is_clear(difference, error),
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("population")


def check_population(result: Fit, others: Mapping[str, Fit] | None = None) -> PopulationCheck:
    """Compare the fitted population with others by leave-one-out.

    Not by Bayes factors: between populations these depend on how wide the priors are, however many data sets there are.

    Parameters
    ----------
    result : Fit
        Such as a `hiercomp.ComparisonResult`.
    others : mapping from str to Fit, optional
        Results of the same differences with other populations, by name. By default those of `other_populations`, integrated.

    Returns
    -------
    PopulationCheck

    Raises
    ------
    NoVerdictError
        If the computation of the result failed its checks.
    ArgumentError
        If there are fewer than 3 data sets, the scores are identical, or another result has other data.
    """
    if others is None and result.differences.covariates is not None:
        raise ArgumentError(
            "Other populations are integrated, and with covariates none is.",
            remedy="Pass others= with results that were fitted with the same covariates.",
        )
    found = {_name(result.priors): loo(result)}
    failed = []
    if others is None:
        others = {name: _integrated(result, priors) for name, priors in other_populations(result.priors).items()}
    if not isinstance(others, Mapping) or not all(isinstance(other, Fit) for other in others.values()):
        raise ArgumentError("others must map names to results of compare or fit.")
    for name, other in others.items():
        if name in found:
            raise ArgumentError(f"others has the name of the fitted population, {name!r}.")
        _check_data(name, result, other)
        if other.status == "failed":
            failed.append(name)
        else:
            found[name] = loo(other)
    return PopulationCheck(found, tuple(failed))


def other_populations(priors: Priors) -> dict[str, Priors]:
    """Priors with every other population that can be integrated, by its name; everything else in them stays."""
    given = replace(priors, population="student_t", concentration=CONCENTRATION)
    every = given, replace(given, population="gaussian")
    return {_name(other): other for other in every if other.population != priors.population}


def _name(priors: Priors) -> str:
    return NAMES[priors.population]


def _integrated(result: Fit, priors: Priors) -> Fit:
    differences = replace(result.differences, scores=None)
    return Fit(differences, result.rope, priors, integrate(differences, result.rope, priors, result.settings), ())


def _check_data(name: str, result: Fit, other: Fit) -> None:
    first, second = result.differences, other.differences
    same = first.dataset_names == second.dataset_names and all(
        np.array_equal(getattr(first, field), getattr(second, field))
        for field in ("mean", "sum_of_squares", "n", "rho")
    )
    if not same:
        raise ArgumentError(f"The result {shown(name)!r} has other data; compare populations on the same differences.")
    if first.likelihood != second.likelihood:
        raise ArgumentError(
            f"The result {shown(name)!r} has the likelihood {second.likelihood!r}, this one {first.likelihood!r}; compare "
            "populations with the same."
        )
