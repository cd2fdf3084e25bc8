"""How much each data set matters: the probabilities without it, integrated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from hiercomp.arguments import FloatArray
from hiercomp.document import Presentation
from hiercomp.engines.quadrature.leave_one_out import most_probable_without
from hiercomp.errors import ArgumentError
from hiercomp.posterior.fit import Fit, integrate
from hiercomp.posterior.kinds import Integrated
from hiercomp.rope import REGIONS, Rope
from hiercomp.wording import first_names, metric_words, shown

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.scores.differences import PairedDifferences

FEWEST = 3  # data sets; without one of them two are left


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Presentation):
    """The three probabilities without each data set.

    Attributes
    ----------
    dataset_names : tuple of str
    without : ndarray, shape (q, 3)
        Probabilities of left, rope and right without each data set; NaN if the integration failed.
    all : ndarray, shape (3,)
        With all data sets.
    refitted : ndarray of bool, shape (q,)
        Whether the posterior without the data set was integrated again, because the grid of all data sets does not cover it.
    algorithms : tuple of str
        The left and the right algorithm.
    metric : str
        The metric and its direction, in words.
    """

    dataset_names: tuple[str, ...]
    without: FloatArray
    all: FloatArray
    refitted: np.ndarray
    algorithms: tuple[str, str]
    metric: str = ""

    @property
    def title(self) -> str:
        """What was left out."""
        left, right = map(shown, self.algorithms)
        return (
            f"Influence, {left} against {right}: the probabilities without each of {len(self.dataset_names)} data sets"
            f"{f', {self.metric}' if self.metric else ''}"
        )

    @property
    def conclusion(self) -> str:
        """The data set that matters most."""
        change = np.abs(self.without - self.all).max(axis=1)
        if np.isnan(change).all():
            return "The integration failed, so no influence is known."
        most = int(np.nanargmax(change))
        return f"Leaving out {shown(self.dataset_names[most])!r} changes a probability most, by {change[most]:.3f}."

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the integration failed."""
        failed = tuple(self.dataset_names[place] for place in np.flatnonzero(np.isnan(self.without).any(axis=1)))
        return (f"The integration without the data set failed its checks: {first_names(failed)}.",) if failed else ()

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: p_left, p_rope, p_right without it, their changes, refitted."""
        import pandas as pd

        columns = {f"p_{region}": self.without[:, number] for number, region in enumerate(REGIONS)}
        changes = {f"change_p_{region}": self.without[:, i] - self.all[i] for i, region in enumerate(REGIONS)}
        rest = {"refitted": self.refitted}
        return pd.DataFrame(columns | changes | rest, index=pd.Index(self.dataset_names, name="dataset"))


def influence(result: Fit) -> Influence:
    """Probabilities of left, rope and right without each data set in turn.

    They are integrals. The log likelihood of (M16) is a sum over the data sets, so the term of one is subtracted at the
    nodes of the quadrature engine's grid. If the posterior without it lies elsewhere, or there are fewer than 5 data sets,
    it is integrated again.
    A result that was only sampled is integrated first.

    Parameters
    ----------
    result : Fit
        Such as a `hiercomp.ComparisonResult`.

    Returns
    -------
    Influence

    Raises
    ------
    NoVerdictError
        If the computation failed its checks.
    ArgumentError
        If there are fewer than 3 data sets, or the scores are identical.
    """
    result.refuse_if_failed()
    differences = replace(result.differences, scores=None)
    names = differences.dataset_names
    refuse_too_few("Influence", differences)

    def integrated(kept: PairedDifferences) -> Integrated:
        return integrate(kept, result.rope, result.priors, result.settings)

    posterior = result.posterior.integrated_or(lambda: integrated(differences))
    without, refitted = np.full((len(names), 3), np.nan), np.zeros(len(names), dtype=bool)
    rope = result.rope.scaled(1 / posterior.unit)
    with threadpool_limits(limits=1):  # another number of threads sums in another order
        for place, found in enumerate(most_probable_without(posterior.integration.grid, rope)):
            refitted[place] = found is None
            if found is None:
                rest = differences.subset([name for name in names if name != names[place]])
                found = _probabilities(integrated(rest), result.rope)
            without[place] = found
    together = _probabilities(posterior, result.rope)
    given = result.differences
    metric = metric_words(given.measure, given.higher_is_better, given.transform)
    return Influence(names, without, together, refitted, (result.left, result.right), metric)


def refuse_too_few(what: str, differences: PairedDifferences) -> None:
    """Refuse to leave out data sets of two, or of identical scores; ``what`` begins the sentence."""
    if differences.identical:
        raise ArgumentError(f"{what} needs scores that differ, and these are identical everywhere.")
    count = len(differences.dataset_names)
    if count < FEWEST:
        raise ArgumentError(f"{what} needs at least {FEWEST} data sets; there are {count}.")


def _probabilities(posterior: Integrated, rope: Rope) -> FloatArray:
    if posterior.diagnostics.failures:
        return np.full(3, np.nan)
    return posterior.most_probable(rope)
