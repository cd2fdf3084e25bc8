"""HierarchicalComparison: the front door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import number_between
from hiercomp.engines import Draws, QuadratureEngine, SamplerSettings, choose_engine
from hiercomp.errors import (
    ArgumentError,
    HiercompWarning,
    IntegrationWarning,
    LargeProblemWarning,
    Note,
)
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.datatree import PRIOR_CHAINS, PRIOR_DRAWS, data_tree
from hiercomp.posterior.diagnostics import GOOD_INTEGRATION_ERROR, NOTHING_SAMPLED, integration_diagnostics
from hiercomp.posterior.fit import fit_model
from hiercomp.posterior.integrated import IntegratedPosterior, integration_problem
from hiercomp.posterior.result import ComparisonResult
from hiercomp.rope import Rope, RopeLike
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.problems import comparison_problems, notes_or_error
from hiercomp.scores.rho import RhoLike

MANY_DATASETS = 2000
SECONDS_PER_DATASET_AND_DRAW = 4e-6  # measured on 2 cores: the order of magnitude is what matters


class HierarchicalComparison:
    """Compare two algorithms over several data sets with the hierarchical model of Corani et al. (2017).

    Parameters
    ----------
    df : data frame
        Tidy scores: one row for each data set, algorithm, run and fold (pandas, polars, ...). The columns dataset,
        algorithm, run, fold and score are found by their names, common aliases, or ``columns``.
    left, right : str, optional
        The two algorithms; needed where df holds more than two.
    rope : float, pair of float or Rope
        Differences that make no practical difference, in the metric's units: a half-width or (lower, upper), right
        minus left.
    rho : float or mapping from data set to float, optional
        Correlation between folds, in [0, 1); by default 1/k for the k folds of each data set.
    higher_is_better : bool
        False for losses and errors.
    priors : Priors
    columns : mapping, optional
        Which column is which, such as ``{"score": "auc"}``.
    missing : {"error", "drop"}
        What becomes of folds that one algorithm lacks or whose score is missing.

    Raises
    ------
    ScoreTableError
        If the table can't be compared; the message names the first few cells and what to do.
    ArgumentError
        If an argument is outside what is allowed.

    References
    ----------
    Corani, Benavoli, Demšar, Mangili & Zaffalon, "Statistical comparison of classifiers through Bayesian hierarchical
    modelling", Machine Learning 106 (2017).

    Examples
    --------
    >>> import hiercomp as hc
    >>> scores = hc.load_scores("keel")
    >>> comparison = hc.HierarchicalComparison(scores, left="naive_bayes", right="decision_tree", rope=0.01)
    >>> result = comparison.fit(engine="embedded", progress=False)
    >>> result.status
    'ok'
    >>> len(result.dataset_names())
    43
    """

    def __init__(
        self,
        df: Any,
        left: str | None = None,
        right: str | None = None,
        *,
        rope: RopeLike = 0.01,
        rho: RhoLike = None,
        higher_is_better: bool = True,
        priors: Priors = Priors(),  # noqa: B008 - frozen
        columns: Mapping[str, str] | None = None,
        missing: Literal["error", "drop"] = "error",
    ) -> None:
        differences = PairedDifferences.from_table(
            df, left, right, rho=rho, higher_is_better=higher_is_better, columns=columns, missing=missing
        )
        self._prepare(differences, rope, priors)

    @classmethod
    def from_arrays(
        cls,
        left_scores: ArrayLike | Sequence[ArrayLike],
        right_scores: ArrayLike | Sequence[ArrayLike],
        *,
        left: str = "left",
        right: str = "right",
        dataset_names: Sequence[str] | None = None,
        folds: int | None = None,
        rope: RopeLike = 0.01,
        rho: RhoLike = None,
        higher_is_better: bool = True,
        priors: Priors = Priors(),  # noqa: B008 - frozen
    ) -> HierarchicalComparison:
        """Compare two arrays of scores of shape (data sets, folds), or two lists of arrays of unequal lengths.

        Scores are paired by position. ``folds`` is the number of folds of one run, from which rho is 1/folds; see
        `PairedDifferences.from_arrays`.

        Examples
        --------
        >>> rng = np.random.default_rng(1)
        >>> a = rng.normal(0.80, 0.02, size=(10, 30))
        >>> comparison = HierarchicalComparison.from_arrays(a, a + rng.normal(0.03, 0.02, size=a.shape), folds=10)
        >>> comparison.differences.rho[:2]
        array([0.1, 0.1])
        """
        comparison = cls.__new__(cls)
        differences = PairedDifferences.from_arrays(
            left_scores,
            right_scores,
            left=left,
            right=right,
            dataset_names=dataset_names,
            folds=folds,
            rho=rho,
            higher_is_better=higher_is_better,
        )
        comparison._prepare(differences, rope, priors)
        return comparison

    @classmethod
    def from_differences(
        cls,
        differences: PairedDifferences,
        *,
        rope: RopeLike = 0.01,
        priors: Priors = Priors(),  # noqa: B008 - frozen
    ) -> HierarchicalComparison:
        """Compare from `PairedDifferences`, such as those of a result or of a subset of its data sets."""
        if not isinstance(differences, PairedDifferences):
            raise ArgumentError(f"differences must be PairedDifferences, got {type(differences).__name__}.")
        comparison = cls.__new__(cls)
        comparison._prepare(differences, rope, priors)
        return comparison

    def _prepare(self, differences: PairedDifferences, rope: RopeLike, priors: Priors) -> None:
        self.rope = Rope.of(rope)
        if not isinstance(priors, Priors):
            raise ArgumentError(f"priors must be a Priors object such as Priors.kruschke(), got {priors!r}.")
        self.priors = priors
        notes = notes_or_error(comparison_problems(differences, self.rope))
        differences = replace(differences, notes=(*differences.notes, *notes))
        if not differences.identical:
            differences = differences.with_spread_of_rope(self.rope)
        #: The sufficient statistics of every data set.
        self.differences = differences
        for note in differences.notes:
            note.warn(stacklevel=3)

    def fit(
        self,
        engine: str = "auto",
        *,
        chains: int = 4,
        warmup: int = 1000,
        draws: int = 1000,
        seed: int = 0,
        adapt_delta: float = 0.9,
        monte_carlo_error: float | None = 0.005,
        progress: bool = True,
        keep: Literal["all", "population"] = "all",
    ) -> ComparisonResult:
        """Sample the posterior and check it, or integrate it.

        A sampled fit that fails a check (R-hat 1.01, effective sample size 100 a chain, any divergence, E-BFMI 0.3) is run
        again in the other parameterisation, then longer; the result says so, and if that fails too its status is "failed"
        and it gives no verdict.

        The quadrature engine integrates instead: its probabilities have no Monte Carlo error but an estimate of the
        integration's, and warmup, adapt_delta and monte_carlo_error mean nothing to it. ``chains`` times ``draws``
        independent draws are made by ``seed`` when the posterior is first asked for.

        Parameters
        ----------
        engine : {"auto", "embedded", "cmdstan", "quadrature"}
            "auto" takes CmdStan where it is installed, else the embedded interpreter.
        chains, warmup, draws : int
            Chains, and iterations of each.
        seed : int
            From 0 to 2^31 - 1. The same data, engine and seed give the same draws.
        adapt_delta : float
            Target acceptance rate, between 0 and 1.
        monte_carlo_error : float or None
            Runs are extended beyond ``draws`` until the Monte Carlo standard error of P(left), P(rope) and P(right) is
            below this; None keeps ``draws``.
        progress : bool
            Show progress on a terminal (standard error) or in a notebook.
        keep : {"all", "population"}
            "population" keeps no draws of delta and sigma, which are nearly all of a result's memory; the table of data sets
            and the plots of them are then not to be had.

        Raises
        ------
        ArgumentError
            If an argument is outside what is allowed.
        EngineError
            If the engine is missing or fails; the message holds the command that mends it.

        Warns
        -----
        ConvergenceWarning
            If the status is "failed".
        RefitWarning
            If a first run failed a check.
        IntegrationWarning
            If the estimated error of an integrated probability is above 0.001.
        """
        settings = SamplerSettings(chains, warmup, draws, seed, adapt_delta, progress)
        if monte_carlo_error is not None:
            monte_carlo_error = number_between("monte_carlo_error", monte_carlo_error, 0, 1)
        if keep not in ("all", "population"):
            raise ArgumentError(f"keep must be 'all' or 'population', got {keep!r}.")
        chosen = choose_engine(engine)
        if self.differences.identical:
            return self._identical(settings)
        model = HierarchicalModel.of(self.differences, self.priors)
        if isinstance(chosen, QuadratureEngine):
            return self._integrated(chosen, model, settings, keep)
        notes = [*model.notes, *_size_notes(len(self.differences.dataset_names), settings)]
        for note in notes:
            note.warn(stacklevel=2)
        fit = fit_model(
            model,
            self.rope.scaled(1 / model.unit),
            chosen,
            settings,
            monte_carlo_error=monte_carlo_error,
            dataset_names=self.differences.dataset_names,
        )
        for note in fit.notes:
            note.warn(stacklevel=2)
        return ComparisonResult(
            differences=self.differences,
            rope=self.rope,
            priors=self.priors,
            tree=data_tree(
                fit.draws.population() if keep == "population" else fit.draws,
                self.differences,
                model.unit,
                model.prior_draws(PRIOR_CHAINS, PRIOR_DRAWS, seed),
            ),
            diagnostics=fit.diagnostics,
            engine_name=fit.draws.engine_name,
            engine_version=fit.draws.engine_version,
            settings=settings,
            attempts=fit.attempts,
            fit_notes=(*notes, *fit.notes),
            keep=keep,
        )

    def _integrated(
        self, engine: QuadratureEngine, model: HierarchicalModel, settings: SamplerSettings, keep: str
    ) -> ComparisonResult:
        """Integrate the posterior; draws are made later, where they are asked for."""
        found = engine.integrate(integration_problem(model), self.rope.scaled(1 / model.unit))
        integrated = IntegratedPosterior(found, model.unit)
        seen = integrated.next_dataset(self.rope)
        error = max(seen.errors.values())
        notes = list(model.notes)
        if error > GOOD_INTEGRATION_ERROR:
            text = (
                f"The estimated error of the integrated probabilities is {error:.2g} after {found.refinements} refinements "
                "of the grid; check them with a sampling engine."
            )
            notes.append(Note(IntegrationWarning, text))
        for note in notes:
            note.warn(stacklevel=3)
        return ComparisonResult(
            differences=self.differences,
            rope=self.rope,
            priors=self.priors,
            tree=None,
            diagnostics=integration_diagnostics(error, found.nodes),
            engine_name=engine.name,
            engine_version=engine.version(),
            settings=settings,
            attempts=(),
            fit_notes=tuple(notes),
            integrated=integrated,
            keep=keep,
        )

    def _identical(self, settings: SamplerSettings) -> ComparisonResult:
        """All differences are zero: the answer is exact, a population at zero, and nothing is sampled."""
        zero, zeros = np.zeros((1, 1)), np.zeros((1, 1, len(self.differences.dataset_names)))
        variables = {"delta0": zero, "sigma0": zero, "delta": zeros, "sigma": zeros}
        text = "The scores of the two algorithms are identical everywhere; nothing was sampled."
        return ComparisonResult(
            differences=self.differences,
            rope=self.rope,
            priors=self.priors,
            tree=data_tree(Draws(variables, {}, "none", ""), self.differences, 1.0),
            diagnostics=NOTHING_SAMPLED,
            engine_name="none",
            engine_version="identical scores",
            settings=settings,
            attempts=(),
            fit_notes=(Note(HiercompWarning, text),),
        )


def _size_notes(count: int, settings: SamplerSettings) -> list[Note]:
    if count < MANY_DATASETS:
        return []
    draws = settings.chains * (settings.warmup + settings.draws)
    gigabytes = 5 * 8 * 2 * count * settings.chains * settings.draws / 1e9
    text = (
        f"{count:,} data sets: expect about {SECONDS_PER_DATASET_AND_DRAW * count * draws:,.0f} seconds and "
        f"{gigabytes:.1f} GB. Fewer draws need less."
    )
    return [Note(LargeProblemWarning, text)]
