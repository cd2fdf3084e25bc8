"""ComparisonResult: the posterior of a comparison and every question that can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiercomp.engines import SamplerSettings
from hiercomp.errors import ArgumentError, Note, NoVerdictError
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.datatree import PRIOR_CHAINS, PRIOR_DRAWS, data_tree
from hiercomp.posterior.diagnostics import GOOD_INTEGRATION_ERROR, Diagnostics
from hiercomp.posterior.fit import Attempt
from hiercomp.posterior.integrated import IntegratedPosterior
from hiercomp.posterior.next_dataset import (
    QUANTITIES,
    Decision,
    NextDataset,
    Odds,
    dataset_table,
    decide,
    next_dataset,
    posterior_odds,
)
from hiercomp.posterior.predictive import log_likelihood, next_differences, replicated_means
from hiercomp.rope import Rope, RopeLike
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import outcome_words

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from hiercomp.closed_form.side_by_side import ClosedFormTests
    from hiercomp.planning.result import PlanResult
    from hiercomp.plots import ComparisonPlots
    from hiercomp.posterior.influence import Influence
    from hiercomp.posterior.sensitivity import Sensitivity
    from hiercomp.summary.comparison import Summary


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult:
    """The posterior of a comparison of two algorithms.

    Made by `HierarchicalComparison.fit`; nothing in it changes. All values are in the metric's units and all
    differences are right minus left, after the sign is turned for a lower-is-better metric.

    Attributes
    ----------
    differences : PairedDifferences
        The data, with the spread that was given to data sets without variation.
    rope : Rope
    priors : Priors
    tree : xarray.DataTree or None
        The draws of a sampling engine; `datatree` has those of every engine.
    diagnostics : Diagnostics
    engine_name, engine_version : str
        What computed it; the version names the library behind it too.
    settings : SamplerSettings
        As asked; ``attempts`` has what was run.
    attempts : tuple of Attempt
    fit_notes : tuple of Note
        Warnings of the fit; `notes` has those of the data too.
    integrated : IntegratedPosterior or None
        Of the quadrature engine.
    keep : {"all", "population"}
        Whether the posterior holds delta and sigma of the single data sets.
    """

    differences: PairedDifferences
    rope: Rope
    priors: Priors
    tree: xr.DataTree | None
    diagnostics: Diagnostics
    engine_name: str
    engine_version: str
    settings: SamplerSettings
    attempts: tuple[Attempt, ...]
    fit_notes: tuple[Note, ...]
    integrated: IntegratedPosterior | None = None
    keep: str = "all"

    @cached_property
    def datatree(self) -> xr.DataTree:
        """Draws as ArviZ keeps them.

        Group ``posterior`` with delta0, sigma0, nu, delta, sigma (dimension dataset), group ``sample_stats``, group
        ``observed_data`` with the sufficient statistics, group ``prior`` with draws of delta0, sigma0 and nu from their
        priors. Those of the quadrature engine are independent, made by the seed when first asked for, and have no
        ``sample_stats``.
        """
        if self.tree is not None:
            return self.tree
        settings = self.settings
        assert self.integrated is not None
        draws = self.integrated.draws(
            settings.chains,
            settings.draws,
            settings.seed,
            keep=self.keep,
            engine_name=self.engine_name,
            engine_version=self.engine_version,
        )
        model = HierarchicalModel.of(self.differences, self.priors)
        prior = model.prior_draws(PRIOR_CHAINS, PRIOR_DRAWS, settings.seed)
        return data_tree(draws, self.differences, model.unit, prior)

    @property
    def left(self) -> str:
        """The left algorithm."""
        return self.differences.left

    @property
    def right(self) -> str:
        """The right algorithm."""
        return self.differences.right

    @property
    def notes(self) -> tuple[str, ...]:
        """Every warning of the data and of the fit, in words."""
        return tuple(note.text for note in (*self.differences.notes, *self.fit_notes))

    @property
    def status(self) -> Literal["ok", "warned", "failed"]:
        """ "ok": every check passes. "warned": they pass, but transitions reached the largest tree depth, or a single chain
        can't show that chains agree, or an integrated probability has an estimated error above 0.001. "failed": a check
        fails, and no verdict is given.
        """
        if self.diagnostics.failures:
            return "failed"
        if self.diagnostics.integration_error is not None:
            return "warned" if self.diagnostics.integration_error > GOOD_INTEGRATION_ERROR else "ok"
        if self.diagnostics.exact:
            return "ok"
        return "warned" if self.diagnostics.tree_depth_saturated or self.diagnostics.chains < 2 else "ok"

    def outcome(self, region: str) -> str:
        """A region in words: "naive_bayes better" or "practically equivalent"."""
        return outcome_words(self.left, self.right)[region]

    def draws(self, name: str) -> NDArray[np.float64]:
        """Draws of a parameter, shape (chains, draws) or (chains, draws, q); read-only.

        Raises
        ------
        ArgumentError
            If there are none, such as of delta where only the population's were kept.
        """
        group = self.datatree["posterior"].dataset
        if name == "nu" and name not in group:
            return np.full(group["delta0"].shape, np.inf)
        if name not in group:
            kept = " Only the population's draws were kept; fit with keep='all'." if self.keep == "population" else ""
            raise ArgumentError(f"There are no draws of {name!r}; there are {', '.join(map(str, group))}.{kept}")
        values = np.asarray(group[name].values).view()
        values.flags.writeable = False
        return values

    @cached_property
    def next_dataset(self) -> NextDataset:
        """Probabilities of left, rope and right on the next data set, with Monte Carlo standard errors.

        Those of the quadrature engine are integrals, and the errors an estimate of the integration's.

        Raises
        ------
        NoVerdictError
            If the status is "failed".
        """
        if self.status == "failed":
            raise NoVerdictError(
                f"The computation failed its checks ({'; '.join(self.diagnostics.failures)}), so there is no verdict. "
                "See .diagnostics and .attempts; try .fit(warmup=4000, draws=4000), or another engine."
            )
        if self.integrated is not None:
            return self.integrated.next_dataset(self.rope)
        return next_dataset(self.draws("delta0"), self.draws("sigma0"), self.draws("nu"), self.rope)

    @cached_property
    def expected_difference(self) -> float:
        """Posterior mean of delta0, the centre of the population: right minus left, in the metric's units."""
        return float(self.draws("delta0").mean()) if self.integrated is None else self.integrated.expected_delta0

    @property
    def log_marginal_likelihood(self) -> float:
        """Log of the density of the score differences given the model; of the quadrature engine only.

        Two results of the same differences under different priors have the Bayes factor exp(first - second). The grid is
        refined for the probabilities, not for this: it may be off by about 0.01.

        Raises
        ------
        ArgumentError
            If the posterior was sampled.
        """
        if self.integrated is None:
            raise ArgumentError(
                f"The {self.engine_name} engine gives no marginal likelihood; the quadrature engine does: "
                "fit(engine='quadrature')."
            )
        return self.integrated.log_marginal_likelihood

    def decision(self, alpha: float = 0.05) -> Decision:
        """The region whose probability is above 1 - alpha, "none", or "undecided" if that is too close to call."""
        return decide(self.next_dataset, alpha)

    def odds(self) -> tuple[Odds, ...]:
        """Posterior odds of the three pairs of regions with Raftery's grades; none where the scores are identical."""
        return () if self.diagnostics.exact else posterior_odds(self.next_dataset)

    def datasets(self) -> pd.DataFrame:
        """One row for each data set: raw mean and standard deviation, and the posterior of its mean difference.

        Columns mean, sd, n, rho, then posterior_mean (shrunken), posterior_sd, lower and upper (central 95% interval),
        p_left, p_rope, p_right (probability that the mean difference lies there).
        """
        raw = self.differences.to_frame()[["mean", "standard_deviation", "n", "rho"]]
        table = dataset_table(self.draws("delta"), self.rope, self.differences.dataset_names)
        return raw.rename(columns={"standard_deviation": "sd"}).join(table)

    def population(self) -> pd.DataFrame:
        """Posterior mean, sd and central 95% interval of delta0, sigma0 and nu (not of a Gaussian population)."""
        import pandas as pd

        names = [name for name in ("delta0", "sigma0", "nu") if name in self.datatree["posterior"]]
        rows = {}
        for name in names:
            values = self.draws(name).ravel()
            lower, upper = np.quantile(values, [0.025, 0.975])
            spread = values.std(ddof=1) if len(values) > 1 else 0.0
            rows[name] = {"mean": values.mean(), "sd": spread, "lower": lower, "upper": upper}
        return pd.DataFrame.from_dict(rows, orient="index")

    def with_rope(self, rope: RopeLike) -> ComparisonResult:
        """The same posterior seen with another rope; needs no new fit.

        Data sets without variation keep the spread that the first rope gave them.
        """
        return replace(self, rope=Rope.of(rope), tree=vars(self).get("datatree", self.tree))

    def rope_curve(self, half_widths: ArrayLike | None = None) -> pd.DataFrame:
        """The three probabilities against the half-width of a symmetric rope.

        Parameters
        ----------
        half_widths : array_like, optional
            By default 41 values from 0 to four times the present half-width, or to the largest mean difference where
            the rope is 0.

        Returns
        -------
        DataFrame
            Indexed by half_width: p_left, p_rope, p_right, expected_left, expected_rope, expected_right.
        """
        import pandas as pd

        if half_widths is None:
            end = 4 * self.rope.half_width or float(np.abs(self.differences.mean).max())
            half_widths = np.linspace(0, end, 41)
        widths = np.atleast_1d(np.asarray(half_widths, dtype=float))
        if widths.ndim != 1 or not np.isfinite(widths).all() or (widths < 0).any():
            raise ArgumentError(f"half_widths must be finite numbers of 0 or more, got {half_widths!r}.")
        rows = []
        for width in widths:
            if self.integrated is not None and self.status != "failed":
                seen = self.integrated.next_dataset(Rope.of(float(width)), estimate_errors=False)
            else:
                seen = self.with_rope(float(width)).next_dataset
            rows.append({name: getattr(seen, name) for name in QUANTITIES if name != "p_positive"})
        return pd.DataFrame(rows, index=pd.Index(widths, name="half_width"))

    def next_differences(self, seed: int = 0) -> NDArray[np.float64]:
        """Draws of the mean difference on the next data set, shape (chains, draws)."""
        generator = np.random.default_rng(seed)
        return next_differences(self.draws("delta0"), self.draws("sigma0"), self.draws("nu"), generator)

    def log_likelihood(self) -> NDArray[np.float64]:
        """Log p(x_i | delta_i, sigma_i) of each data set, shape (chains, draws, q)."""
        return log_likelihood(self.draws("delta"), self.draws("sigma"), self.differences)

    def replicated_means(self, seed: int = 0) -> NDArray[np.float64]:
        """Means of replicated data sets, shape (chains, draws, q), for posterior predictive checks."""
        generator = np.random.default_rng(seed)
        return replicated_means(self.draws("delta"), self.draws("sigma"), self.differences, generator)

    def closed_form_tests(self, seed: int = 0) -> ClosedFormTests:
        """Every applicable closed-form or classical test beside this result, and what each does and does not say.

        Tests that need the single scores are left out, with a note, where the result was read from a file.
        """
        from hiercomp.closed_form.side_by_side import closed_form_tests

        model = None
        if self.status != "failed":
            seen = self.next_dataset
            model = (seen.p_left, seen.p_rope, seen.p_right)
        return closed_form_tests(self.differences, self.rope, model, seed=seed)

    def sensitivity(self, *, alpha: float = 0.05, n_jobs: int = 2, **fit_options: Any) -> Sensitivity:
        """Verdicts of refits under other priors, correlations and bounds.

        See `hiercomp.posterior.sensitivity.sensitivity`.
        """
        from hiercomp.posterior.sensitivity import sensitivity

        return sensitivity(self, alpha=alpha, n_jobs=n_jobs, **fit_options)

    def influence(self, *, refit_all: bool = False, n_jobs: int = 2, **fit_options: Any) -> Influence:
        """The three probabilities without each data set in turn; see `hiercomp.posterior.influence.influence`."""
        from hiercomp.posterior.influence import influence

        return influence(self, refit_all=refit_all, n_jobs=n_jobs, **fit_options)

    def plan(self, **options: Any) -> PlanResult:
        """How many data sets a new collection needs, given this pilot.

        See `hiercomp.planning.plan.plan_from_result`.
        """
        from hiercomp.planning.plan import plan_from_result

        return plan_from_result(self, **options)

    def report(
        self,
        path: str | Path,
        *,
        sensitivity: Sensitivity | bool = False,
        influence: Influence | bool = False,
        source: str | Path | None = None,
        alpha: float = 0.05,
        overwrite: bool = False,
    ) -> Path:
        """Write an HTML page of everything, in one file; see `hiercomp.report.write_report`.

        ``sensitivity`` and ``influence`` are what those methods gave, or True to compute them now; ``source`` is the file
        of the scores, whose name and hash the page shows.
        """
        from hiercomp.report import write_report

        return write_report(
            self,
            path,
            sensitivity=self.sensitivity(alpha=alpha) if sensitivity is True else sensitivity or None,
            influence=self.influence() if influence is True else influence or None,
            source=source,
            alpha=alpha,
            overwrite=overwrite,
        )

    @property
    def plot(self) -> ComparisonPlots:
        """Every plot of the comparison as a method: ``result.plot.shrinkage()``."""
        from hiercomp.plots import ComparisonPlots

        return ComparisonPlots(self)

    def summary(self, alpha: float = 0.05) -> Summary:
        """The verdict at level ``alpha`` with everything needed to judge it; prints, and renders in a notebook."""
        from hiercomp.summary.comparison import summarise

        return summarise(self, alpha)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write everything to a netCDF file, from which `load_result` makes an equal result.

        Raises
        ------
        ResultFileError
            If the file exists and ``overwrite`` is False, or can't be written.
        """
        from hiercomp.posterior.saved import save_result

        return save_result(self, path, overwrite=overwrite)

    def __repr__(self) -> str:
        return (
            f"<ComparisonResult: {self.left} against {self.right}, {len(self.differences.dataset_names)} data sets, "
            f"rope {self.rope}, status {self.status}>"
        )

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
