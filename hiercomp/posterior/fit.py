"""From paired differences to a fit: the checks before it, the engine, the attempts after a failure, and the record."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiercomp.arguments import (
    FloatArray,
    hint_of_option,
    number_array,
    number_between,
    one_of,
    random_generator,
    seed_number,
)
from hiercomp.engines import QUADRATURE, AutoEngine, Draws, Integrator, Sampler, SamplerSettings, choose_engine
from hiercomp.engines.base import Mixer
from hiercomp.engines.mixture import SWEEPS_A_DRAW, MixtureProblem, log_table
from hiercomp.engines.mixture import log_likelihood as mixture_log_likelihood
from hiercomp.errors import (
    Argument,
    ArgumentError,
    ConvergenceWarning,
    DoubtfulDrawsWarning,
    FewDatasetsWarning,
    HiercompWarning,
    IntegrationWarning,
    LargeProblemWarning,
    Note,
    NoVerdictError,
    RefitWarning,
    warn_caller,
)
from hiercomp.model import trinomial
from hiercomp.model.mixture import Dictionary
from hiercomp.model.priors import DEFAULT_UPPER, Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.bounds import bound_notes
from hiercomp.posterior.datatree import (
    PRIOR_CHAINS,
    PRIOR_DRAWS,
    group_arrays,
    in_metric_units,
    inference_data,
    predictive_tree,
    variable,
)
from hiercomp.posterior.diagnostics import (
    GOOD_INTEGRATION_ERROR,
    Diagnostics,
    IntegrationDiagnostics,
    MixtureDiagnostics,
    SamplerDiagnostics,
    Status,
    VerifiedDiagnostics,
    diagnose,
    diagnose_mixture,
)
from hiercomp.posterior.kinds import (
    Attempt,
    Exact,
    Integrated,
    Keep,
    Posterior,
    Sampled,
    Verified,
    integrand,
    integrated_next_dataset,
    likelihood_of,
    verified_by,
)
from hiercomp.posterior.mixed import Mixed, MixtureRun
from hiercomp.posterior.next_dataset import (
    Decision,
    NextDataset,
    NonInferiority,
    Odds,
    dataset_table,
    decide,
    next_dataset,
    next_dataset_of,
    non_inferiority,
)
from hiercomp.posterior.predictive import (
    log_likelihood,
    marginal_log_likelihood,
    new_means,
    replicated_means,
)
from hiercomp.posterior.regressed import Regressed, mean_regions
from hiercomp.posterior.verification import Verification
from hiercomp.rope import REGIONS, Rope, RopeLike
from hiercomp.scores.differences import CHECKED, PairedDifferences, comparison_problems
from hiercomp.scores.problems import notes_or_error, too_far_apart
from hiercomp.scores.scale import IN_ROPES, LOG
from hiercomp.wording import OWN_ROPES, counted, outcome_words, shown
from hiercomp.workers import beside, said_after

if TYPE_CHECKING:
    from typing import Self

    import arviz
    import pandas as pd
    import xarray as xr

DATASETS_THAT_TAKE_LONG = 2000
SECONDS_PER_DATASET_AND_DRAW = 4e-6  # measured on 2 cores: the order of magnitude is what matters
HORSESHOE_ADAPT_DELTA = 0.99  # at 0.98 one first run in ten fails, at 0.99 none of forty did
# Of chains whose draws the integral checks: on 21 pairs of real scores the effective sizes were those after 1,000, and as
# many fits needed a second run
WARMUP_BESIDE_INTEGRAL = 500
LONGER_WARMUP, LONGER_DRAWS = 2, 5
# The last attempt centres no data set if the 5% quantile of sigma0 is below this times the median standard error: where
# sigma0 is small, every centred delta lies in a funnel, for which no step is short enough. With covariates it never does:
# less spread is left, and of five such runs that centred twelve data sets four failed, but none that centred none
NARROW = 1.0
SMALLER_STEPS = 0.1  # the second run has this share of 1 - adapt_delta
PURPOSES = ("first fit", "smaller steps", "longer")
MOST_DRAWS = 20_000  # a chain, where runs are extended for precision
ALLOWED_DIVERGENCES = 0.001  # share of the transitions, where the draws agree with the integral
DATASETS_FOR_A_MIXTURE = 20
LONGER_MIXTURE = (1, 3, 9)  # times the usual sweeps for each draw: the runs of a mixture, as long as checks fail
SECONDS_UNTIL_HINT = 60
HINT = "hiercomp: sampling takes long; engine='quadrature' (--engine quadrature) answers without it, in seconds"
WITHOUT_SAMPLING = (
    "Pass engine='quadrature' (--engine quadrature), which does not sample; or more warmup and draws; or look for data sets "
    "that do not belong."
)
ONLY_SAMPLED = "Pass more warmup and draws, or fewer covariates; or look for data sets that do not belong."
POPULATION = ("delta0", "sigma0", "nu", "alpha", "beta", "slope")


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The posterior of a comparison of two algorithms, and the answers from it.

    Immutable. All values are in the metric's units, or in units of each data set's rope if each has its own, and all
    differences are right minus left, after the sign is reversed for a lower-is-better metric.

    Attributes
    ----------
    differences : PairedDifferences
        The data, with the spread that was given to data sets without variation.
    rope : Rope
    priors : Priors
    posterior : Sampled, Integrated, Verified, Exact, Mixed or Regressed
        What was computed, and how.
    fit_notes : tuple of Note
        Warnings of the fit; ``notes`` has those of the data too, and parameters at a bound.
    """

    differences: PairedDifferences
    rope: Rope
    priors: Priors
    posterior: Posterior
    fit_notes: tuple[Note, ...]

    @property
    def left(self) -> str:
        """The left algorithm."""
        return self.differences.left

    @property
    def right(self) -> str:
        """The right algorithm."""
        return self.differences.right

    @property
    def engine_name(self) -> str:
        """The engine that computed it."""
        return self.posterior.engine_name

    @property
    def engine_version(self) -> str:
        """The library behind the engine and its version."""
        return self.posterior.engine_version

    @property
    def settings(self) -> SamplerSettings:
        """The requested sampler settings; ``attempts`` has the actual runs."""
        return self.posterior.settings

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The runs of the sampler; none if nothing was sampled."""
        return self.posterior.attempts

    @property
    def diagnostics(self) -> Diagnostics:
        """Whether the computation can be trusted: the checks of the sampler or the integration."""
        return self.posterior.diagnostics

    @property
    def status(self) -> Status:
        """ "ok": every check passes; "warned": all pass, with a reservation; "failed": one fails; there is no verdict.

        The reasons for "warned": transitions reached the largest tree depth; there is only one chain, so agreement
        can't be checked; the estimated error of an integrated probability is above 0.001; or the draws could not
        confirm an integral because they failed a check.
        """
        return self.diagnostics.status

    @property
    def datatree(self) -> xr.DataTree:
        """Draws as ArviZ keeps them.

        Group ``posterior`` with delta0, sigma0, nu, delta, sigma (dimension dataset), group ``sample_stats``, group
        ``observed_data`` with the sufficient statistics, group ``prior`` with draws of delta0, sigma0 and nu from their
        priors. It is made on first use. Draws of the quadrature engine are independent and determined by the seed; they
        have no ``sample_stats``.
        """
        return self.posterior.datatree

    def predictive_datatree(self, seed: int | np.random.Generator = 0) -> xr.DataTree:
        """``datatree`` with three more groups, for ArviZ's checks of the model: ``loo``, ``loo_pit``, ``plot_ppc_dist``.

        Each treats a data set as a new one from the population. Their variable is ``mean``, as in ``observed_data``:
        ``log_likelihood`` has its log density given delta0, sigma0, nu and the spread of the scores, with delta_i and
        sigma_i integrated out;
        ``posterior_predictive`` and ``prior_predictive`` have means of new data sets with the spread, size and correlation
        of each data set, from the draws of the posterior and of the priors. They are not saved. Because the spreads, sizes
        and correlations are not predicted, they are in the group ``constant_data``. With a trinomial likelihood these means
        are Student-t, and not shares of the questions; plot.ppc() draws the answers themselves.

        Parameters
        ----------
        seed : int or numpy.random.Generator
            Of the new data sets.

        Raises
        ------
        ArgumentError
            If the scores are identical.
        """
        self._refuse_identical()
        if self.priors.population == "mixture":
            raise ArgumentError(
                "The predictive groups are made for Student-t and Gaussian populations, not for a mixture.",
                remedy="result.loo() predicts each data set of a mixture.",
            )
        if self.differences.covariates is not None:
            raise ArgumentError(
                "The predictive groups are made for populations without covariates.",
                remedy="result.loo() predicts each data set from the others, with its covariates.",
            )
        generator = random_generator(seed)
        tree, model = self.datatree, HierarchicalModel.of(self.differences, self.priors)
        likelihood, unit = integrand(model).likelihood, model.unit

        def population(group: str) -> tuple[FloatArray, FloatArray, FloatArray]:
            drawn = group_arrays(tree, group)
            return variable(drawn, "delta0") / unit, variable(drawn, "sigma0") / unit, variable(drawn, "nu")

        log_density = marginal_log_likelihood(likelihood, *population("posterior"))
        groups = {"log_likelihood": log_density - likelihood.log_spread - np.log(unit)}
        for group in ("posterior", "prior"):
            delta0, sigma0, nu = population(group)
            groups[f"{group}_predictive"] = unit * new_means(likelihood, delta0, sigma0, nu, generator)
        return predictive_tree(tree, groups)

    def to_inference_data(self, *, predictive: bool = False) -> arviz.InferenceData:
        """The groups of ``datatree`` as an ``InferenceData``, for ArviZ before version 1 (Python 3.11).

        The functions of ArviZ 1 take ``datatree`` itself.

        Parameters
        ----------
        predictive : bool
            Whether to include the groups of `predictive_datatree`.

        Raises
        ------
        ArgumentError
            If ArviZ is newer, or absent; if the groups are wanted of identical scores.
        """
        return inference_data(self.predictive_datatree() if predictive else self.datatree)

    @property
    def notes(self) -> tuple[str, ...]:
        """Every warning about the data and the fit, and parameters whose posterior lies at a bound, as text."""
        return tuple(note.text for note in (*self.differences.notes, *self.fit_notes, *self.bound_notes))

    @cached_property
    def bound_notes(self) -> tuple[Note, ...]:
        """A note for each of nu, delta0 and sigma0 whose posterior lies at the bound of its prior."""
        if self.differences.identical or self.status == "failed":
            return ()
        return bound_notes(self.posterior, HierarchicalModel.of(self.differences, self.priors))

    def outcome(self, region: str) -> str:
        """A region in words: "naive_bayes better" or "practically equivalent"."""
        return outcome_words(self.left, self.right)[region]

    def draws(self, name: str) -> FloatArray:
        """Draws of a parameter, shape (chains, draws) or (chains, draws, q); read-only.

        Raises
        ------
        ArgumentError
            If there are none, for instance of delta if only the population's draws were kept.
        """
        return self.posterior.draws(name)

    @cached_property
    def next_dataset(self) -> NextDataset:
        """Probabilities of left, rope and right on the next data set, with their errors.

        Raises
        ------
        NoVerdictError
            If the status is "failed".
        """
        self.refuse_if_failed()
        return self.posterior.next_dataset(self.rope)

    @cached_property
    def verification(self) -> Verification:
        """The integral and the draws side by side; its ``to_frame()`` has one row for each quantity.

        The status belongs to the rope of the fit; with another rope this is computed again.

        Raises
        ------
        ArgumentError
            If only one engine computed the posterior.
        """
        return self.posterior.verification(self.rope)

    @cached_property
    def expected_difference(self) -> float:
        """Posterior mean of delta0, the centre of the population: right minus left, in the metric's units."""
        return self.posterior.expected_delta0

    @property
    def log_marginal_likelihood(self) -> float:
        """Log of the density of the score differences given the model, for integrated posteriors only.

        Two results of the same differences under different priors have the Bayes factor exp(first - second).
        ``log_marginal_likelihood_error`` estimates its error.

        Raises
        ------
        ArgumentError
            If the posterior was not integrated.
        """
        two_level = self.differences.two_level
        missing = 0.0 if two_level is None else float(two_level.log_determinant_ratio.sum())
        return self.posterior.log_marginal_likelihood - missing / 2

    @property
    def log_marginal_likelihood_error(self) -> float:
        """Estimated error of ``log_marginal_likelihood``, from coarser grids."""
        return self.posterior.log_marginal_likelihood_error

    def decision(self, alpha: float = 0.05) -> Decision:
        """The region whose probability is above 1 - alpha, "none", or "undecided" if that is too close to call."""
        return decide(self.next_dataset, alpha)

    def non_inferiority(self, side: Literal["left", "right"] = "right", alpha: float = 0.05) -> NonInferiority:
        """Whether the right (or the left) algorithm is at least as good as the other within the rope.

        Parameters
        ----------
        side : {"left", "right"}
            The algorithm that is to be shown as non-inferior.
        alpha : float
            The verdict needs a probability above 1 - alpha.

        Returns
        -------
        NonInferiority

        Raises
        ------
        NoVerdictError
            If the status is "failed".
        """
        one_of("side", side, ("left", "right"))
        return non_inferiority(self.next_dataset, side, alpha)

    def odds(self) -> tuple[Odds, ...]:
        """Posterior odds of the three pairs of regions with Raftery's grades; none if the scores are identical."""
        return self.posterior.odds(self.next_dataset)

    def datasets(self) -> pd.DataFrame:
        """One row for each data set: its mean and standard deviation, and the posterior of its mean difference.

        Columns mean, sd, n, rho (as the likelihood takes them: with groups or two correlations those of the equivalent
        differences), then posterior_mean (shrunken), posterior_sd, lower and upper (central 95% interval),
        p_left, p_rope, p_right (probability that the mean difference lies there). ``attrs["unit"]`` is the unit of the
        differences: that of the scores, or of their logs if these were compared. If each data set has its own rope, the
        unit is that rope, and two more columns are in the metric's own unit: rope, and metric_mean, the raw mean.
        """
        raw = self.differences.to_frame()[["mean", "standard_deviation", "n", "rho"]]
        table = dataset_table(self.draws("delta"), self.rope, self.differences.dataset_names)
        table = table.assign(**self.differences.in_own_units)
        return self._with_unit(raw.rename(columns={"standard_deviation": "sd"}).join(table))

    def population(self) -> pd.DataFrame:
        """Posterior of delta0, sigma0 and nu (without nu for a Gaussian population, with concentration for a mixture).

        Columns mean and its error, mean_error, then sd, lower and upper (central 95% interval), median. ``attrs["unit"]``
        is the unit of delta0 and sigma0: that of the scores, or of their logs if these were compared.
        """
        import pandas as pd

        rows = {name: vars(marginal) for name, marginal in self.posterior.population.items()}
        return self._with_unit(pd.DataFrame.from_dict(rows, orient="index"))

    def _with_unit(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with the unit of the differences as an attribute."""
        name = self.differences.measure or "the scores"
        transform = self.differences.transform
        frame.attrs["unit"] = {None: name, LOG: f"log of {name}", IN_ROPES: OWN_ROPES}[transform]
        return frame

    def with_rope(self, rope: RopeLike) -> Self:
        """The same posterior with another rope; needs no new fit.

        If each data set has its own rope, 2 stands for twice the width of each.
        Data sets without variation keep the spread that the first rope gave them. The notes are those of the new rope; the
        status, and the error that the computation states, are those of the first one.

        Raises
        ------
        ScoreTableError
            If the scores are identical everywhere and the rope is 0.
        """
        rope = Rope.of(rope)
        kept = [note for note in self.differences.notes if note.key not in CHECKED or note.key == "constant_datasets"]
        notes = notes_or_error(comparison_problems(self.differences, rope))
        return replace(self, rope=rope, differences=replace(self.differences, notes=(*kept, *notes)))

    def rope_curve(self, half_widths: ArrayLike | None = None) -> pd.DataFrame:
        """The three probabilities against the half-width of a symmetric rope.

        Parameters
        ----------
        half_widths : array_like, optional
            By default 41 values from 0 to four times the current half-width, or to the largest mean difference if the
            rope is 0.

        Returns
        -------
        DataFrame
            Indexed by half_width: p_left, p_rope, p_right, expected_left, expected_rope, expected_right.

        Raises
        ------
        NoVerdictError
            If the status is "failed".
        """
        curve = most_probable_curve(self, half_widths)
        expected = _at_each(curve.index, self.posterior.expected, self._known_expected)
        return curve.assign(**{f"expected_{region}": expected[:, place] for place, region in enumerate(REGIONS)})

    @cached_property
    def _known_most_probable(self) -> dict[float, FloatArray]:
        """By half-width, what was computed before: each point is an integral, and plots and tables share them."""
        return {}

    @cached_property
    def _known_expected(self) -> dict[float, FloatArray]:
        return {}

    def next_differences(self, seed: int | np.random.Generator = 0) -> FloatArray:
        """Draws of the mean difference on the next data set, shape (chains, draws)."""
        generator = random_generator(seed)
        return self.posterior.next_differences(generator)

    def log_likelihood(self) -> FloatArray:
        """Log p(x_i | delta_i, sigma_i) of each data set, shape (chains, draws, q).

        Raises
        ------
        ArgumentError
            If the scores are identical.
        """
        self._refuse_identical()
        if self.differences.counts is not None:
            return trinomial.log_likelihood(self.differences.counts, self.draws("delta"), self.draws("sigma"))
        return log_likelihood(self.draws("delta"), self.draws("sigma"), self.differences)

    def replicated_means(self, seed: int | np.random.Generator = 0) -> FloatArray:
        """Means of replicated data sets, shape (chains, draws, q), for posterior predictive checks."""
        generator = random_generator(seed)
        if self.differences.counts is not None:
            parameters = self.draws("delta"), self.draws("sigma")
            return trinomial.replicated_means(self.differences.counts, *parameters, generator)
        return replicated_means(self.draws("delta"), self.draws("sigma"), self.differences, generator)

    def _refuse_identical(self) -> None:
        if self.differences.identical:
            raise ArgumentError("Identical scores have no log likelihood: their density is unbounded.")

    def refuse_if_failed(self) -> None:
        """Raise NoVerdictError if the computation failed its checks."""
        if self.status == "failed":
            raise NoVerdictError(
                f"The computation failed its checks ({'; '.join(self.diagnostics.failures)}), so there is no verdict.",
                remedy=self.diagnostics.remedy if self.differences.covariates is None else ONLY_SAMPLED,
            )

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {shown(self.left)} against {shown(self.right)}, "
            f"{len(self.differences.dataset_names)} data sets, rope {self.rope}, status {self.status}>"
        )


def checked_differences(differences: PairedDifferences, rope: Rope) -> PairedDifferences:
    """Check differences before a fit: refuse them, or give spread to those without, with notes on anything unusual.

    Raises
    ------
    HiercompError
        The first of `hiercomp.scores.differences.comparison_problems` that is an error.
    """
    notes = notes_or_error(comparison_problems(differences, rope))
    kept = [note for note in differences.notes if note.key not in CHECKED]  # those of an earlier rope are made again
    differences = replace(differences, notes=(*kept, *notes))
    if differences.identical or differences.counts is not None:
        return differences
    differences = differences.with_spread_of_rope(rope)
    notes_or_error(too_far_apart(differences.dataset_names, differences.mean, differences.standard_deviation))
    return differences


def fit_differences(
    differences: PairedDifferences,
    rope: Rope,
    priors: Priors,
    *,
    engine: str = "auto",
    chains: int = 4,
    warmup: int | None = None,
    draws: int = 1000,
    seed: int | np.random.Generator = 0,
    adapt_delta: float = 0.9,
    monte_carlo_error: float | None = 0.005,
    progress: bool = True,
    keep: Keep = "all",
) -> Fit:
    """Fit the model to the result of `checked_differences`; see `hiercomp.HierarchicalComparison.fit`."""
    if monte_carlo_error is not None:
        monte_carlo_error = number_between("monte_carlo_error", monte_carlo_error, 0, 1)
    one_of("keep", keep, ("all", "population"))
    if differences.counts is not None and differences.covariates is not None:
        raise ArgumentError(
            "likelihood='trinomial' takes no covariates.",
            remedy="Leave one of them out.",
            arguments=(Argument("likelihood", "trinomial"),),
        )
    if differences.counts is not None and priors.sigma_upper != DEFAULT_UPPER:
        raise ArgumentError(
            "likelihood='trinomial' has no sigma_i that sigma_upper could bound.",
            remedy="Leave sigma_upper out of the priors.",
            arguments=(Argument("likelihood", "trinomial"),),
        )
    chosen = choose_engine(engine, priors.population, covariates=differences.covariates is not None)
    if warmup is None:
        warmup = WARMUP_BESIDE_INTEGRAL if isinstance(chosen, AutoEngine) else SamplerSettings.warmup
    settings = SamplerSettings(chains, warmup, draws, seed_number(seed), adapt_delta, progress)
    if differences.identical:
        text = "The scores of the two algorithms are identical everywhere; nothing was sampled."
        return Fit(differences, rope, priors, Exact(differences, settings), (Note(HiercompWarning, text),))
    model = HierarchicalModel.of(differences, priors)
    posterior, notes = chosen.fit(Computation(differences, model, rope, settings, monte_carlo_error, keep))
    return Fit(differences, rope, priors, posterior, notes)


def refit(differences: PairedDifferences, rope: Rope, priors: Priors, options: dict[str, Any]) -> Fit:
    """Check and fit without raising warnings, for many fits at once; the result contains the warnings."""
    return fit_again(quietly_checked(differences, rope), rope, priors, options)


def quietly_checked(differences: PairedDifferences, rope: Rope) -> PairedDifferences:
    """Checked differences, whose warnings are only in their notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        return checked_differences(differences, rope)


def fit_again(differences: PairedDifferences, rope: Rope, priors: Priors, options: dict[str, Any]) -> Fit:
    """Fit differences of a result, without warnings: a spread that came from another rope stays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        return fit_differences(differences, rope, priors, **options)


def checked_options(options: Mapping[str, Any], own: Sequence[str] = ()) -> dict[str, Any]:
    """Options of a fit that many fits share, which must be arguments of `fit_differences`; each fit checks their values.

    Parameters
    ----------
    options : mapping
    own : sequence of str
        Arguments of the caller, which are no such options, and which a misspelt name may mean.

    Returns
    -------
    dict

    Raises
    ------
    ArgumentError
        If there is no such option.
    """
    parameters = signature(fit_differences).parameters.values()
    allowed = [each.name for each in parameters if each.default is not each.empty and each.name not in own]
    for name in options:
        if name not in allowed:
            raise ArgumentError(
                f"{shown(name)!r} is not an option of a fit.{hint_of_option(name, [*allowed, *own])}",
                remedy=f"The options are: {', '.join(allowed)}.",
            )
    return dict(options)


def most_probable_curve(fit: Fit, half_widths: ArrayLike | None = None) -> pd.DataFrame:
    """The three columns of ``rope_curve`` that its plot shows; they take half of its time.

    Parameters
    ----------
    fit : Fit
    half_widths : array_like, optional
        As in ``rope_curve``.

    Returns
    -------
    DataFrame
        Indexed by half_width: p_left, p_rope, p_right.

    Raises
    ------
    NoVerdictError
        If the status is "failed".
    """
    import pandas as pd

    if half_widths is None:
        end = 4 * fit.rope.half_width or float(np.abs(fit.differences.mean).max())
        half_widths = np.linspace(0, end, 41)
    widths = np.atleast_1d(number_array("half_widths", half_widths))
    if widths.ndim != 1 or not np.isfinite(widths).all() or (widths < 0).any():
        raise ArgumentError(f"half_widths must be finite numbers of 0 or more, got {half_widths!r}.")
    fit.refuse_if_failed()
    found = _at_each(widths, fit.posterior.most_probable, fit._known_most_probable)
    return pd.DataFrame(found, pd.Index(widths, name="half_width"), [f"p_{region}" for region in REGIONS])


def _at_each(
    half_widths: Iterable[float], compute: Callable[[Rope], FloatArray], known: dict[float, FloatArray]
) -> FloatArray:
    """What is computed of symmetric ropes, shape (ropes, 3); ``known`` has what was computed before."""
    widths = [float(width) for width in half_widths]
    for width in widths:
        if width not in known:
            known[width] = compute(Rope.of(width))
    return np.array([known[width] for width in widths]).reshape(-1, len(REGIONS))


def integrate(differences: PairedDifferences, rope: Rope, priors: Priors, settings: SamplerSettings) -> Integrated:
    """The integral alone, without warnings: its diagnostics say whether it can be trusted."""
    model = HierarchicalModel.of(differences, priors)
    computation = Computation(differences, model, rope, settings, None, "population")
    return computation.integral(QUADRATURE)[0]


@dataclass(frozen=True)
class Computation:
    """A posterior to compute; an engine chooses one of the four ways.

    Attributes
    ----------
    differences : PairedDifferences
    model : HierarchicalModel
    rope : Rope
        In the metric's units.
    settings : SamplerSettings
    monte_carlo_error : float or None
        Largest standard error allowed; None leaves the number of draws unchanged.
    keep : {"all", "population"}
    """

    differences: PairedDifferences
    model: HierarchicalModel
    rope: Rope
    settings: SamplerSettings
    monte_carlo_error: float | None
    keep: Keep

    def sampled(self, engine: Sampler) -> tuple[Posterior, tuple[Note, ...]]:
        """Sample until every check passes and the probabilities are precise enough, or say why not.

        A fit that fails a check is repeated with smaller steps, then longer and with still smaller ones, unless most
        trajectories of the first run reached the largest tree depth: the others would take long and fail too. Chains
        that pass continue if the Monte Carlo error of P(left), P(rope) or P(right) is above ``monte_carlo_error``.
        """
        notes = (*self.model.notes, *self._size_notes())
        warn_caller(notes)
        attempts: list[Attempt] = []
        with said_after(SECONDS_UNTIL_HINT, HINT, shown=self.settings.progress and self.model.covariate is None):
            for run in self._runs(engine, PURPOSES):
                attempts.append(run.attempt)
                if not run.diagnostics.failures or (len(attempts) == 1 and run.diagnostics.mostly_saturated):
                    break
        remedy = WITHOUT_SAMPLING if self.model.covariate is None else ONLY_SAMPLED
        outcome = _sampling_notes(attempts, run.diagnostics, remedy)
        warn_caller(outcome)
        return self._posterior_of(run, attempts), (*notes, *outcome)

    def integrated(self, engine: Integrator) -> tuple[Posterior, tuple[Note, ...]]:
        """Integrate; draws are made later, on request."""
        posterior, notes = self.integral(engine)
        notes = (*self.model.notes, *notes)
        warn_caller(notes)
        return posterior, notes

    def verified(self, sampler: Sampler, quadrature: Integrator) -> tuple[Posterior, tuple[Note, ...]]:
        """Integrate, and sample to check the integral.

        A run that fails a sampler check is repeated with smaller steps, unless the only failure is a small share of
        divergent transitions and the draws agree with the integral, or most trajectories reached the largest tree
        depth. If that fails too, only the integral stands. Draws that pass and disagree with the integral are checked
        by a longer run: what chance did, it does not do twice, and what is wrong it shows more clearly.
        """
        notes = (*self.model.notes, *self._size_notes())
        warn_caller(notes)
        plain = replace(self, monte_carlo_error=None)
        attempts: list[Attempt] = []

        def integral_for_check() -> tuple[Integrated, tuple[Note, ...]]:
            posterior, of_integral = self.integral(quadrature)
            _ = posterior.population  # which it keeps for the check of the draws
            return posterior, of_integral

        with beside(integral_for_check) as integral:  # in the time of the first run
            for run in plain._runs(sampler, PURPOSES[:2]):
                integrated, of_integral = integral()
                if not attempts:
                    warn_caller(of_integral)
                run, verification = self._beside_integral(run, integrated)
                attempts.append(run.attempt)
                if not run.diagnostics.failures or run.diagnostics.mostly_saturated:
                    break
        if not run.diagnostics.failures and not verification.agrees:
            settings = self.settings.times(LONGER_WARMUP, LONGER_DRAWS)
            (again,) = replace(plain, settings=settings)._runs(sampler, PURPOSES[:1])
            again, of_more = self._beside_integral(again, integrated)
            if not again.diagnostics.failures:  # draws that fail a check can't clear the integral
                run, verification = again, of_more
                attempts.append(replace(run.attempt, purpose="longer"))
        notes = (*notes, *of_integral)
        diagnostics = VerifiedDiagnostics(integrated.diagnostics, run.diagnostics, verification)
        outcome = _verification_notes(attempts, diagnostics)
        warn_caller(outcome)
        sampled = self._posterior_of(run, attempts)
        return Verified(integrated, sampled, diagnostics), (*notes, *outcome, *_divergence_notes(run.diagnostics))

    def _beside_integral(self, run: Run, integrated: Integrated) -> tuple[Run, Verification]:
        """A run beside the integral: few divergences pass if the two agree, and a disagreement is a failure of a run."""
        verification = verified_by(integrated, self._posterior_of(run, [run.attempt]), self.rope)
        lenient = replace(run.diagnostics, allowed_divergences=ALLOWED_DIVERGENCES)
        if run.diagnostics.failures and not lenient.failures and verification.agrees:
            run = replace(run, diagnostics=lenient, attempt=replace(run.attempt, failures=()))
        elif not run.diagnostics.failures and not verification.agrees:
            run = replace(run, attempt=replace(run.attempt, failures=(str(verification),)))
        return run, verification

    def mixed(self, engine: Mixer) -> tuple[Posterior, tuple[Note, ...]]:
        """Sample a mixture; chains that fail a check go on, with more sweeps for each draw."""
        notes = (*self.model.notes, *self._mostly_prior_notes(), *self._size_notes())
        warn_caller(notes)
        model, settings = self.model, self.settings
        dictionary = Dictionary.of(float(model.mean.mean()), model.spread)
        problem = MixtureProblem(
            log_table(likelihood_of(model), dictionary), dictionary.weight, *model.priors.concentration
        )
        sampler = engine.sampler(problem, settings.chains, settings.seed)
        sampler.run(1, sweeps=settings.warmup)
        runs: list[MixtureRun] = []
        for factor in LONGER_MIXTURE:
            purpose, sweeps = "first fit" if factor == 1 else "longer", factor * SWEEPS_A_DRAW
            components = sampler.run(settings.draws, sweeps=sweeps)
            posterior = Mixed(
                dictionary=dictionary.in_unit(model.unit),
                components=components,
                log_density=mixture_log_likelihood(problem, components),
                differences=replace(self.differences, scores=None),
                priors=model.priors,
                diagnostics=MixtureDiagnostics(settings.chains, settings.draws, 0.0, 0.0, 0.0, {}),
                runs=(),
                settings=settings,
                keep=self.keep,
                engine_name=engine.name,
                engine_version=engine.version(),
            )
            diagnostics = diagnose_mixture(posterior.checked(self.rope))
            runs.append(MixtureRun(purpose, settings.warmup, settings.draws, sweeps, diagnostics.failures))
            if not diagnostics.failures:
                break
        outcome = _mixture_notes(runs)
        warn_caller(outcome)
        return replace(posterior, diagnostics=diagnostics, runs=tuple(runs)), (*notes, *outcome)

    def _mostly_prior_notes(self) -> tuple[Note, ...]:
        count = len(self.differences.dataset_names)
        if count >= DATASETS_FOR_A_MIXTURE:
            return ()
        text = (
            f"With {counted(count, 'data set')} a mixture is mostly prior: fewer than {DATASETS_FOR_A_MIXTURE} say little "
            "about the shape of a population."
        )
        return (Note(FewDatasetsWarning, text, remedy="Compare the result with population='student_t'."),)

    def integral(self, engine: Integrator) -> tuple[Integrated, tuple[Note, ...]]:
        """The posterior by integration, and a note if its error is large."""
        unit = self.model.unit
        integration = engine.integrate(integrand(self.model), self.rope.scaled(1 / unit))
        inference = integrated_next_dataset(integration, self.rope, unit)
        error = max(inference.errors.values())
        notes: tuple[Note, ...] = ()
        if error > GOOD_INTEGRATION_ERROR:
            note = Note(
                IntegrationWarning,
                f"The estimated error of the integrated probabilities is {error:.2g} after {integration.refinements} "
                "refinements of the grid.",
                remedy="Check them with a sampling engine.",
            )
            notes = (note,)
        posterior = Integrated(
            integration=integration,
            unit=unit,
            diagnostics=IntegrationDiagnostics(error, integration.nodes),
            differences=replace(self.differences, scores=None),
            settings=self.settings,
            keep=self.keep,
            engine_name=engine.name,
            engine_version=engine.version(),
        )
        posterior.inferences[self.rope] = inference
        return posterior, notes

    def _runs(self, engine: Sampler, purposes: Sequence[str]) -> Iterator[Run]:
        """The runs of the sampler, one after another, as long as the caller asks for more."""
        settings, model, rope = self.settings, self.model, self.rope.scaled(1 / self.model.unit)
        if model.shrunk:  # the tails of the horseshoe need small steps
            settings = replace(settings, adapt_delta=max(HORSESHOE_ADAPT_DELTA, settings.adapt_delta))
        first = model.centred()
        none = np.zeros_like(first)
        smaller = replace(settings, adapt_delta=1 - SMALLER_STEPS * (1 - settings.adapt_delta))
        runs = {
            "first fit": (first, settings),
            "smaller steps": (none, smaller),
            "longer": (first, smaller.longer(LONGER_WARMUP, LONGER_DRAWS)),
        }
        failed: list[int] = []  # checks, run by run
        low_sigma0 = np.inf
        for purpose in purposes:
            centred, chosen = runs[purpose]
            if purpose == "longer":
                narrow = low_sigma0 < NARROW * np.median(np.sqrt(model.squared_standard_error))
                if narrow or model.covariate is not None or failed[-1] < failed[0]:
                    centred = none
            program = model.program(centred, chosen.chains, chosen.seed)
            draws = engine.sample(program, chosen)
            more = 0
            if self.monte_carlo_error is not None:
                more = _draws_wanted(draws, rope, self.monte_carlo_error, model.covariate) - chosen.draws
            covariates = self._covariate_names
            if more > 0 and not diagnose(_population(draws), draws.statistics, (), covariates).failures:
                draws = draws.followed_by(engine.sample(program, replace(chosen, draws=max(more, 100)), draws.state))
            diagnostics = diagnose(draws.variables, draws.statistics, self.differences.dataset_names, covariates)
            failed.append(len(diagnostics.failures))
            low_sigma0 = float(np.quantile(draws.variables["sigma0"], 0.05))
            attempt = Attempt(
                purpose=purpose,
                centred=int(centred.sum()),
                noncentred=int((~centred).sum()),
                warmup=chosen.warmup,
                draws=diagnostics.draws,
                adapt_delta=chosen.adapt_delta,
                failures=diagnostics.failures,
            )
            yield Run(draws, diagnostics, attempt)

    def _posterior_of(self, run: Run, attempts: Sequence[Attempt]) -> Sampled:
        prior = self.model.prior_draws(PRIOR_CHAINS, PRIOR_DRAWS, self.settings.seed)
        kept = run.draws.population() if self.keep == "population" else run.draws
        kind = Sampled if self.model.covariate is None else Regressed
        return kind(
            variables=in_metric_units(kept.variables, self.model.unit),
            prior=in_metric_units(prior, self.model.unit),
            statistics=kept.statistics,
            differences=replace(self.differences, scores=None),
            diagnostics=run.diagnostics,
            attempts=tuple(attempts),
            settings=self.settings,
            engine_name=kept.engine_name,
            engine_version=kept.engine_version,
        )

    @property
    def _covariate_names(self) -> tuple[str, ...]:
        return () if self.differences.covariates is None else self.differences.covariates.names

    def _size_notes(self) -> tuple[Note, ...]:
        count, settings = len(self.differences.dataset_names), self.settings
        if count < DATASETS_THAT_TAKE_LONG:
            return ()
        draws = settings.chains * (settings.warmup + settings.draws)
        gigabytes = 5 * 8 * 2 * count * settings.chains * settings.draws / 1e9
        text = (
            f"{count:,} data sets: expect about {SECONDS_PER_DATASET_AND_DRAW * count * draws:,.0f} seconds and "
            f"{gigabytes:.1f} GB."
        )
        return (Note(LargeProblemWarning, text, remedy="Fewer draws need less."),)


@dataclass(frozen=True)
class Run:
    """A run of the sampler and the results of its checks.

    Attributes
    ----------
    draws : Draws
    diagnostics : SamplerDiagnostics
    attempt : Attempt
        How it was run.
    """

    draws: Draws
    diagnostics: SamplerDiagnostics
    attempt: Attempt


def _population(draws: Draws) -> dict[str, NDArray[np.float64]]:
    return {name: draws.variables[name] for name in POPULATION if name in draws.variables}


def _draws_wanted(draws: Draws, rope: Rope, monte_carlo_error: float, covariate: FloatArray | None) -> int:
    """Draws per chain that reduce the Monte Carlo error of every probability to the target."""
    variables = draws.variables
    population = variables["delta0"], variables["sigma0"], variables.get("nu", np.inf)
    if covariate is None:
        inference = next_dataset(*population, rope)
    else:
        regions = mean_regions(*population, variables["slope"], covariate, rope)
        inference = next_dataset_of(regions, variables["delta0"])
    largest = inference.largest_error
    length = int(variables["delta0"].shape[1])
    if largest <= monte_carlo_error:
        return length
    margin = 1.1  # the error is itself an estimate
    wanted = length * margin * (largest / monte_carlo_error) ** 2
    return min(100 * ceil(wanted / 100), max(MOST_DRAWS, length))


def _sampling_notes(attempts: Sequence[Attempt], diagnostics: SamplerDiagnostics, remedy: str) -> tuple[Note, ...]:
    if attempts[-1].failures:
        times = "once" if len(attempts) == 1 else f"{len(attempts)} times"
        text = f"Sampling failed its checks {times}: {'; '.join(attempts[-1].failures)}."
        if len(attempts) == 1 and diagnostics.mostly_saturated:
            text += " Most trajectories reached the largest tree depth, so longer runs were not tried."
        return (Note(ConvergenceWarning, f"{text} No verdict is given.", remedy=remedy),)
    return _refit_notes(attempts)


def _mixture_notes(runs: Sequence[MixtureRun]) -> tuple[Note, ...]:
    if runs[-1].failures:
        times = "once" if len(runs) == 1 else f"{len(runs)} times"
        text = f"Sampling failed its checks {times}: {'; '.join(runs[-1].failures)}. No verdict is given."
        return (Note(ConvergenceWarning, text, remedy="Pass more draws, or population='student_t'."),)
    if len(runs) == 1:
        return ()
    text = (
        f"The first run failed a check ({'; '.join(runs[0].failures)}) and the chains went on. With {runs[-1].sweeps} "
        "sweeps for each draw every check passed."
    )
    return (Note(RefitWarning, text),)


def _refit_notes(attempts: Sequence[Attempt]) -> tuple[Note, ...]:
    failed, last = [attempt for attempt in attempts if attempt.failures], attempts[-1]
    if not failed:
        return ()
    tried = "; ".join(f"{attempt.purpose}: {', '.join(attempt.failures)}" for attempt in failed)
    text = (
        f"{len(failed)} of {len(attempts)} runs failed a check and {'was' if len(failed) == 1 else 'were'} repeated "
        f"({tried}). The last passed every "
        f"check ({last.purpose}: {last.centred} data sets centred, {last.noncentred} not, {last.warmup:,} warmup "
        f"iterations and {last.draws:,} draws a chain, adapt_delta {last.adapt_delta:g})."
    )
    return (Note(RefitWarning, text),)


def _verification_notes(attempts: Sequence[Attempt], diagnostics: VerifiedDiagnostics) -> tuple[Note, ...]:
    if diagnostics.failures:
        text = f"The computation can't be trusted: {'; '.join(diagnostics.failures)}. No verdict is given."
        return (Note(ConvergenceWarning, text, remedy=diagnostics.remedy),)
    if diagnostics.draws_hold:
        return _refit_notes(attempts)
    text = (
        f"The sampler failed a check ({'; '.join(diagnostics.sampler.failures)}; runs: {len(attempts)}). The numbers are "
        "integrals and stand without it; plots and tables of single data sets use doubtful draws."
    )
    remedy = "Try more warmup and draws, or look for data sets that do not belong."
    return (Note(DoubtfulDrawsWarning, text, remedy=remedy),)


def _divergence_notes(diagnostics: SamplerDiagnostics) -> tuple[Note, ...]:
    """Notes on allowed divergences: kept in the result, not raised."""
    if not diagnostics.divergences or diagnostics.failures:
        return ()
    transitions = diagnostics.chains * diagnostics.draws
    text = f"{diagnostics.divergences} of {transitions:,} transitions diverged; the draws agree with the integral."
    return (Note(DoubtfulDrawsWarning, text, key="allowed_divergences", quiet=True),)
