"""What covariates of data sets say: their slopes, the prediction at some point, and curves along one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import FloatArray, number_array, true_or_false
from hiercomp.document import Document, Documented, Presentation, Table
from hiercomp.errors import ArgumentError
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.chains import error_of_mean
from hiercomp.posterior.fit import Fit, integrate
from hiercomp.posterior.leave_one_out import is_clear
from hiercomp.posterior.next_dataset import NextDataset
from hiercomp.posterior.regressed import Regressed
from hiercomp.rope import REGIONS, Rope
from hiercomp.wording import counted, error_text, metric_words, outcome_words, probability_text, shown, unit_words

if TYPE_CHECKING:
    import pandas as pd

BAND = (0.05, 0.95)  # quantiles of the curves' bands
POINTS = 41
HEADER = ("On such a data set", "probability", "error", "expected", "error")
LEGEND = (
    "probability: posterior probability that this outcome is the most likely one there; expected: average probability of "
    "the outcome itself; error: Monte Carlo standard error"
)


@dataclass(frozen=True, eq=False, repr=False)
class Effects(Presentation):
    """The slopes of all covariates, and what they gain together.

    Attributes
    ----------
    names : tuple of str
        The covariates: all that the model has; none is selected.
    mean, error, sd, lower, upper, p_positive : ndarray, shape (p,)
        Posterior of each slope: the change of the average difference, right minus left, for one standard deviation of the
        covariate: mean and its Monte Carlo error, standard deviation, central 95% interval, and probability of being
        above 0.
    centre, one_sd : ndarray, shape (p,)
        Mean and standard deviation of each covariate over the data sets.
    shrunk : bool
        Whether the slopes have a horseshoe as their prior (C3) instead of a normal distribution (C2).
    elpd, elpd_without : float
        Expected log predictive density of the model and of one without covariates, by leave-one-out; NaN if not computed.
    elpd_gain, elpd_gain_se : float
        Their difference, and its standard error.
    sigma0, sigma0_without : float
        Posterior mean of the spread that is left, and of that without covariates.
    algorithms : tuple of str
        The left and the right algorithm.
    metric, unit : str
        The metric and its direction, and the unit of the slopes, in words.
    """

    names: tuple[str, ...]
    mean: FloatArray
    error: FloatArray
    sd: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_positive: FloatArray
    centre: FloatArray
    one_sd: FloatArray
    shrunk: bool
    elpd: float
    elpd_without: float
    elpd_gain: float
    elpd_gain_se: float
    sigma0: float
    sigma0_without: float
    algorithms: tuple[str, str]
    metric: str = ""
    unit: str = ""

    @property
    def title(self) -> str:
        """What was related to what."""
        left, right = map(shown, self.algorithms)
        return (
            f"Covariates, {left} against {right}: change of the average difference for one standard deviation of each of "
            f"{counted(len(self.names), 'covariate')}{f', {self.metric}' if self.metric else ''}"
        )

    @property
    def conclusion(self) -> str:
        """Which intervals exclude zero, and the gain."""
        clear = np.flatnonzero((self.lower > 0) | (self.upper < 0))
        left, right = map(shown, self.algorithms)
        listed = [
            f"{shown(self.names[place])} (a higher value favours {right if self.mean[place] > 0 else left})"
            for place in clear
        ]
        slopes = counted(len(clear), "slope")
        found = f"The 95% interval of {slopes} of {len(self.names)} excludes zero: {', '.join(listed)}."
        if not listed and len(self.names) == 1:
            found = "The 95% interval of the slope includes zero."
        elif not listed:
            found = f"The 95% intervals of all {len(self.names)} slopes include zero."
        return f"{found} {self._gain}".strip()

    @property
    def _gain(self) -> str:
        if np.isnan(self.elpd_gain):
            return ""
        words = "neither clearly better nor clearly worse than none"
        if is_clear(abs(self.elpd_gain), self.elpd_gain_se):
            words = "better than none" if self.elpd_gain > 0 else "worse than none"
        return (
            f"Together they predict data sets left out {words}: elpd {self.elpd_gain:+.1f}, standard error "
            f"{self.elpd_gain_se:.1f}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The prior, and how to read the table."""
        prior = (
            "a regularised horseshoe, which pulls most slopes to zero: there is more than one for every ten data sets"
            if self.shrunk
            else "normal, with the standard deviation of the data sets' mean differences"
        )
        spread = f"Spread between data sets (sigma0), in {self.unit}: {self.sigma0:.3g}"
        if not np.isnan(self.sigma0_without):
            spread += f", {self.sigma0_without:.3g} without covariates"
        return (
            f"{spread}.",
            f"Prior of the slopes: {prior}. Every covariate of the model is in the table; none was selected.",
            "The data sets are observed, not assigned: a slope is what goes with a covariate, not what it causes.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON: the rows of `to_frame`, the gain and its standard error."""
        gain = {
            name: None if np.isnan(value) else value
            for name in ("elpd", "elpd_without", "elpd_gain", "elpd_gain_se", "sigma0", "sigma0_without")
            for value in (getattr(self, name),)
        }
        return {"slopes": self.to_frame().to_dict(orient="index"), "shrunk": self.shrunk} | gain

    def to_frame(self) -> pd.DataFrame:
        """One row for each covariate: slope, error, sd, lower, upper, p_positive, mean_value, one_sd."""
        import pandas as pd

        return pd.DataFrame(
            {
                "slope": self.mean,
                "error": self.error,
                "sd": self.sd,
                "lower": self.lower,
                "upper": self.upper,
                "p_positive": self.p_positive,
                "mean_value": self.centre,
                "one_sd": self.one_sd,
            },
            index=pd.Index(self.names, name="covariate"),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Documented):
    """The three probabilities on a data set with some covariates.

    Attributes
    ----------
    values : dict from covariate to float
        All of them, in the user's units.
    at_mean : tuple of str
        Those that were not given and are at their mean over the data sets.
    outside : tuple of str
        Those beyond all data sets: the answer is an extrapolation.
    next_dataset : NextDataset
        The probabilities, with their Monte Carlo errors.
    centre, lower, upper : float
        Average difference there, right minus left, and its central 95% interval.
    rope : Rope
    algorithms : tuple of str
        The left and the right algorithm.
    unit : str
        Of the difference, in words.
    """

    values: dict[str, float]
    at_mean: tuple[str, ...]
    outside: tuple[str, ...]
    next_dataset: NextDataset
    centre: float
    lower: float
    upper: float
    rope: Rope
    algorithms: tuple[str, str]
    unit: str

    @property
    def title(self) -> str:
        """Where."""
        left, right = map(shown, self.algorithms)
        place = ", ".join(f"{shown(name)} = {value:.4g}" for name, value in self.values.items())
        return f"{left} against {right} at {place}; rope {self.rope}"

    @property
    def conclusion(self) -> str:
        """The outcome with the largest expected probability."""
        region, expected = max(self.next_dataset.expected.items(), key=lambda item: item[1])
        words = outcome_words(*map(shown, self.algorithms))[region]
        return f"On such a data set {words!r} has the largest expected probability, {probability_text(expected)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed."""
        found = []
        if self.at_mean:
            found.append(f"Not given, so at the mean of the data sets: {', '.join(map(shown, self.at_mean))}.")
        if self.outside:
            found.append(f"Beyond all data sets, so an extrapolation: {', '.join(map(shown, self.outside))}.")
        return tuple(found)

    def to_frame(self) -> pd.DataFrame:
        """One row for each region: outcome, probability, its error, expected probability, its error."""
        import pandas as pd

        seen = self.next_dataset
        rows = [
            {
                "outcome": name,
                "probability": seen.probabilities[region],
                "probability_error": seen.errors[f"p_{region}"],
                "expected": seen.expected[region],
                "expected_error": seen.errors[f"expected_{region}"],
            }
            for region, name in outcome_words(*self.algorithms).items()
        ]
        return pd.DataFrame(rows, index=pd.Index(REGIONS, name="region"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        return {
            "values": self.values,
            "at_mean": list(self.at_mean),
            "outside": list(self.outside),
            "next_dataset": self.next_dataset.to_dict(),
            "difference": {"mean": self.centre, "lower": self.lower, "upper": self.upper},
        }

    def document(self) -> Document:
        """The prediction for readers."""
        seen = self.next_dataset
        rows = tuple(
            (
                name,
                probability_text(seen.probabilities[region]),
                error_text(seen.errors[f"p_{region}"]),
                probability_text(seen.expected[region]),
                error_text(seen.errors[f"expected_{region}"]),
            )
            for region, name in outcome_words(*map(shown, self.algorithms)).items()
        )
        detail = (
            f"Average difference there, in {self.unit}: {self.centre:+.3g}, 95% interval [{self.lower:+.3g}, "
            f"{self.upper:+.3g}]; above 0, {shown(self.algorithms[1])} is better"
        )
        return Document(self.title, self.conclusion, (Table(HEADER, rows, LEGEND),), (detail,), self.notes)


def effects(result: Fit, *, loo: bool = True) -> Effects:
    """The slopes of all covariates, and their gain by leave-one-out over the model without covariates.

    Parameters
    ----------
    result : Fit
        Fitted with covariates.
    loo : bool
        Whether to compute the gain, which takes about as long as the fit.

    Returns
    -------
    Effects

    Raises
    ------
    ArgumentError
        If there are no covariates.
    NoVerdictError
        If the computation failed its checks.
    """
    true_or_false("loo", loo)
    posterior = regressed(result)
    slope, given = posterior.draws("slope"), result.differences
    lower, upper = np.quantile(slope, [0.025, 0.975], axis=(0, 1))
    error = [error_of_mean(column) for column in np.moveaxis(slope, 2, 0)]
    elpd = elpd_without = gain = gain_se = sigma0_without = float("nan")
    if loo:
        from hiercomp.posterior.leave_one_out import loo as leave_one_out
        from hiercomp.posterior.populations import elpd_difference

        plain = _without_covariates(result)
        first, second = (leave_one_out(each) for each in (result, plain))
        elpd, elpd_without, sigma0_without = first.elpd, second.elpd, plain.posterior.population["sigma0"].mean
        gain, gain_se = elpd_difference(first, second)
    return Effects(
        names=posterior.covariates.names,
        mean=slope.mean(axis=(0, 1)),
        error=np.array(error, dtype=float),
        sd=slope.std(axis=(0, 1), ddof=1),
        lower=lower,
        upper=upper,
        p_positive=(slope > 0).mean(axis=(0, 1)),
        centre=posterior.covariates.centre,
        one_sd=posterior.covariates.spread,
        shrunk=HierarchicalModel.of(given, result.priors).shrunk,
        elpd=float(elpd),
        elpd_without=float(elpd_without),
        elpd_gain=float(gain),
        elpd_gain_se=float(gain_se),
        sigma0=float(posterior.draws("sigma0").mean()),
        sigma0_without=float(sigma0_without),
        algorithms=(result.left, result.right),
        metric=metric_words(given.measure, given.higher_is_better, given.transform),
        unit=unit_words(given.measure, given.transform),
    )


def at(result: Fit, values: Mapping[str, Any]) -> Prediction:
    """The three probabilities on a data set with some covariates.

    Parameters
    ----------
    result : Fit
        Fitted with covariates.
    values : mapping from covariate to number
        In the units of the frame of covariates. Those that are left out are at their mean over the data sets.

    Returns
    -------
    Prediction

    Raises
    ------
    ArgumentError
        If there are no covariates, or none of that name, or a value is no finite number.
    NoVerdictError
        If the computation failed its checks.
    """
    posterior = regressed(result)
    covariates = posterior.covariates
    point = covariates.at(values)
    centre = posterior.centres_at(point)
    lower, upper = np.quantile(centre, [0.025, 0.975]).tolist()
    everywhere = covariates.centre + covariates.spread * point
    full = {
        name: float(values[name]) if name in values else float(value)
        for name, value in zip(covariates.names, everywhere, strict=True)
    }
    least, most = covariates.values.min(axis=0), covariates.values.max(axis=0)
    outside = tuple(
        name for place, name in enumerate(covariates.names) if not least[place] <= full[name] <= most[place]
    )
    return Prediction(
        values=full,
        at_mean=tuple(name for name in covariates.names if name not in values),
        outside=outside,
        next_dataset=posterior.at(point, result.rope),
        centre=float(centre.mean()),
        lower=lower,
        upper=upper,
        rope=result.rope,
        algorithms=(result.left, result.right),
        unit=unit_words(result.differences.measure, result.differences.transform),
    )


def effect_curve(
    result: Fit, name: str, values: ArrayLike | None = None, others: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """The three expected probabilities along a covariate.

    Parameters
    ----------
    result : Fit
        Fitted with covariates.
    name : str
        The covariate.
    values : array_like, optional
        By default 41 from the smallest to the largest of the data sets.
    others : mapping, optional
        Values of other covariates; those that are left out are at their mean.

    Returns
    -------
    DataFrame
        Indexed by the covariate: for each region expected_left, lower_left, upper_left (central 90% interval) and so on.
    """
    import pandas as pd

    posterior = regressed(result)
    covariates, given = posterior.covariates, dict(others or {})
    column = covariates.values[:, covariates.place(name)]
    if name in given:
        raise ArgumentError(f"{shown(name)!r} is the covariate of the curve, so it has no value of its own.")
    given_points = np.linspace(column.min(), column.max(), POINTS) if values is None else values
    points = np.atleast_1d(number_array("values", given_points))
    if points.ndim != 1 or not len(points) or not np.isfinite(points).all():
        raise ArgumentError(f"values must be finite numbers, got {values!r}.")
    rows = []
    for value in points.tolist():
        regions = posterior.regions_at(covariates.at(given | {name: value}), result.rope).reshape(-1, len(REGIONS))
        lower, upper = np.quantile(regions, BAND, axis=0)
        cells = {"expected": regions.mean(axis=0), "lower": lower, "upper": upper}
        rows.append({f"{what}_{region}": cells[what][place] for place, region in enumerate(REGIONS) for what in cells})
    return pd.DataFrame(rows, index=pd.Index(points, name=name))


def regressed(result: Fit) -> Regressed:
    """The posterior of a result with covariates.

    Raises
    ------
    ArgumentError
        If it has none.
    NoVerdictError
        If the computation failed its checks.
    """
    if not isinstance(result.posterior, Regressed):
        why = (
            "The scores are identical, so there are no slopes."
            if result.differences.covariates is not None
            else "This result has no covariates."
        )
        remedy = "" if result.differences.covariates is not None else "Fit with covariates=frame."
        raise ArgumentError(why, remedy=remedy)
    result.refuse_if_failed()
    return result.posterior


def _without_covariates(result: Fit) -> Fit:
    """The same comparison without covariates, integrated."""
    differences = replace(result.differences, covariates=None, scores=None)
    posterior = integrate(differences, result.rope, result.priors, result.settings)
    return Fit(differences, result.rope, result.priors, posterior, ())
