"""HierarchicalComparison, ComparisonResult and compare: the main entry points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import hint_of_option, seed_number
from hiercomp.errors import ArgumentError, warn_caller
from hiercomp.files.any_table import as_tidy, covariates_frame
from hiercomp.model.priors import POPULATIONS, Population, Priors, chosen_priors
from hiercomp.posterior.fit import Fit, checked_differences, checked_options, fit_differences
from hiercomp.posterior.influence import FEWEST, Influence, influence
from hiercomp.posterior.saved import load_fit, save_fit
from hiercomp.posterior.sensitivity import Sensitivity, sensitivity
from hiercomp.rope import Rope, RopeLike, RopesLike
from hiercomp.scores.differences import Likelihood, PairedDifferences, rope_of
from hiercomp.scores.rho import RhoLike
from hiercomp.wording import shown

if TYPE_CHECKING:
    from hiercomp.closed_form.side_by_side import ClosedFormTests
    from hiercomp.planning.result import PlanResult
    from hiercomp.plots import ComparisonPlots
    from hiercomp.posterior.correlation import CorrelationCheck, RepetitionGain
    from hiercomp.posterior.effects import Effects, Prediction
    from hiercomp.posterior.leave_one_out import LeaveOneOut
    from hiercomp.posterior.population_check import PopulationCheck
    from hiercomp.posterior.populations import PopulationComparison
    from hiercomp.posterior.prior_predictive import PriorPredictive
    from hiercomp.report.methods import Methods
    from hiercomp.summary.comparison import Summary
    from hiercomp.summary.scores_table import ScoresTable


class HierarchicalComparison:
    """Compare two algorithms over several data sets with the hierarchical model of Corani et al. (2017).

    Parameters
    ----------
    df : data frame, or path of a file
        Tidy scores: one row for each data set, algorithm, run and fold (pandas, polars, ...). The columns dataset,
        algorithm, run, fold and score are found by name, by common aliases, or by ``columns``. Files, and frames of other
        layouts, such as wide ones, are read as `hiercomp.read_scores` does.
    left, right : str, optional
        The two algorithms; required if df has more than two.
    rope : float, str, pair of float, Rope, mapping or Series, optional
        Differences that make no practical difference, in the metric's units: a half-width such as 0.01 or "1%", or
        (lower, upper), right minus left. By default 0.01 if every score lies in [0, 1]; on any other scale it must be given.
        For metrics in different units, a half-width for each data set, such as ``{"iris": 0.01, "wine": 5}``, or the name of
        a column of them: all differences are then in units of the data set's rope.
    rho : float, mapping from data set to float, Correlation or "runs", optional
        Correlation between folds, in [0, 1); by default 1/k for the k folds of each data set. A `Correlation` has one for
        folds of a run and one for folds of different runs; "runs" is 1/k across runs; the scores then say how strongly
        folds of a run are correlated.
    higher_is_better : bool, optional
        False for losses and errors. By default the table's attribute ``df.attrs["higher_is_better"]`` says so, if there
        is one; a table whose scores only have the name of a loss is refused.
    priors : Priors or str
        The priors, or the name of a variant: "default", "juarez_steel", "kruschke" or "gaussian".
    population : {"student_t", "gaussian", "mixture"}, optional
        Distribution of the data sets' mean differences; by default that of ``priors``, a Student-t, the paper's. "gaussian"
        is ``Priors.gaussian()``; "mixture", ``Priors.mixture()``, can have several modes and be skewed, and needs some 20
        data sets to say more than its prior.
    likelihood : {"gaussian", "trinomial"}
        Distribution of the differences of a data set: normal, the paper's; or that of the counts of -1, 0 and 1, for scores
        that are 0 or 1, such as wrong and right answers to questions, with ``rho=0``. Where hardly any answers differ, it
        needs no spread from the rope.
    covariates : data frame, or path of a file, optional
        Numbers that describe each data set, such as its rows and classes, on which the centre of the population then
        depends: one row for each data set, whose name is the index or a column ``dataset``. All columns are used and
        reported, as they are: take logs of counts first. Give categories columns of 0 and 1. Such a posterior is only
        sampled.
    groups : str or pair of str, optional
        A column that says which scores of a data set belong together, such as the question of several samples or the passage
        of several questions. Groups are independent and scores of a group are not, so the standard error follows from the
        groups' sums; rho is then left out. Two columns are crossed groups, such as ("question", "seed"): scores of a
        question are not independent, nor are those of a seed.
    columns : mapping, optional
        Which column is which, such as ``{"score": "auc"}``. Where only the data set (and run and fold) is named, every
        other column of numbers holds the scores of an algorithm.
    missing : {"error", "drop"}
        How to treat folds that one algorithm lacks or whose score is missing.
    transform : {"log"}, optional
        "log" to compare ratios, for data sets in different units: every score must be above 0, every difference and the
        rope are in logs, and a rope of 0.01 is a ratio of about 1%.

    Raises
    ------
    ScoreTableError
        If the table can't be compared, or its direction is not clear; the message names the first few cells and what to
        do.
    ArgumentError
        If an argument is invalid.

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
    >>> len(result.datasets())
    43
    """

    def __init__(
        self,
        df: Any,
        left: str | None = None,
        right: str | None = None,
        *,
        rope: RopesLike | None = None,
        rho: RhoLike = None,
        higher_is_better: bool | None = None,
        priors: Priors | str = Priors(),  # noqa: B008 - frozen
        population: Population | None = None,
        likelihood: Likelihood = "gaussian",
        covariates: Any = None,
        groups: str | tuple[str, str] | None = None,
        columns: Mapping[str, str] | None = None,
        missing: Literal["error", "drop"] = "error",
        transform: Literal["log"] | None = None,
    ) -> None:
        df, columns = as_tidy(df, columns, rho=rho, groups=groups, rope=rope)
        differences = PairedDifferences.from_table(
            df,
            left,
            right,
            rope=rope,
            rho=rho,
            higher_is_better=higher_is_better,
            columns=columns,
            missing=missing,
            transform=transform,
        )
        self._prepare(differences.with_likelihood(likelihood), rope, priors, population, covariates)

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
        rope: RopesLike | None = None,
        rho: RhoLike = None,
        higher_is_better: bool | None = None,
        priors: Priors | str = Priors(),  # noqa: B008 - frozen
        population: Population | None = None,
        likelihood: Likelihood = "gaussian",
        covariates: Any = None,
        transform: Literal["log"] | None = None,
    ) -> HierarchicalComparison:
        """Compare two arrays of scores of shape (data sets, folds), or two lists of arrays of unequal lengths.

        Scores are paired by position. ``folds`` is the number of folds of one run, from which rho is 1/folds; see
        `PairedDifferences.from_arrays`. Arrays have no name, so by default higher is better.

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
            rope=rope,
            rho=rho,
            higher_is_better=higher_is_better,
            transform=transform,
        )
        comparison._prepare(differences.with_likelihood(likelihood), rope, priors, population, covariates)
        return comparison

    @classmethod
    def from_summaries(
        cls,
        mean: Any,
        standard_error: Any,
        n: Any,
        *,
        score_range: tuple[float, float],
        left: str = "left",
        right: str = "right",
        dataset_names: Sequence[str] | None = None,
        rope: RopesLike | None = None,
        higher_is_better: bool | None = None,
        priors: Priors | str = Priors(),  # noqa: B008 - frozen
        population: Population | None = None,
        covariates: Any = None,
    ) -> HierarchicalComparison:
        """Compare from the mean difference of each data set and its standard error, as published leaderboards have them.

        ``n`` is the number of independent differences behind each mean, such as questions; see
        `PairedDifferences.from_summaries`.

        Examples
        --------
        >>> mean = {"mmlu": 0.02, "gsm8k": 0.05, "arc": -0.01, "piqa": 0.01, "boolq": 0.03}
        >>> error = {"mmlu": 0.004, "gsm8k": 0.013, "arc": 0.013, "piqa": 0.01, "boolq": 0.008}
        >>> comparison = HierarchicalComparison.from_summaries(mean, error, 1000, score_range=(0, 1), rope=0.01)
        >>> comparison.fit("quadrature").status
        'ok'
        """
        comparison = cls.__new__(cls)
        differences = PairedDifferences.from_summaries(
            mean,
            standard_error,
            n,
            score_range=score_range,
            left=left,
            right=right,
            dataset_names=dataset_names,
            rope=rope,
            higher_is_better=higher_is_better,
        )
        comparison._prepare(differences, rope, priors, population, covariates)
        return comparison

    @classmethod
    def from_differences(
        cls,
        differences: PairedDifferences,
        *,
        rope: RopeLike | None = None,
        priors: Priors | str = Priors(),  # noqa: B008 - frozen
        population: Population | None = None,
        covariates: Any = None,
    ) -> HierarchicalComparison:
        """Compare from `PairedDifferences`, such as those of a result or of a subset of its data sets.

        If these are in units of each data set's rope, a rope of 1, the default, is that rope.
        """
        if not isinstance(differences, PairedDifferences):
            raise ArgumentError(f"differences must be PairedDifferences, got {type(differences).__name__}.")
        rope = None if rope is None else Rope.of(rope)
        comparison = cls.__new__(cls)
        comparison._prepare(differences, rope, priors, population, covariates)
        return comparison

    def _prepare(
        self,
        differences: PairedDifferences,
        rope: RopesLike | None,
        priors: Priors | str,
        population: str | None,
        covariates: Any,
    ) -> None:
        if covariates is not None:  # else those of the differences stay
            differences = differences.with_covariates(covariates_frame(covariates))
        self.rope = rope_of(differences, rope)
        self.priors = chosen_priors(priors, population)
        #: The sufficient statistics of every data set.
        self.differences = checked_differences(differences, self.rope)
        warn_caller(self.differences.notes)

    def __repr__(self) -> str:
        given = self.differences
        return (
            f"<HierarchicalComparison: {shown(given.left)} against {shown(given.right)}, {len(given.dataset_names)} data "
            f"sets, {given.size_words}, rope {self.rope}, {self.priors!r}>"
        )

    def prior_predictive(self, *, draws: int = 10_000, seed: int | np.random.Generator = 0) -> PriorPredictive:
        """What the priors alone say of the next data set; see ``hiercomp.posterior.prior_predictive``."""
        from hiercomp.posterior.prior_predictive import prior_predictive

        return prior_predictive(self.differences, self.rope, self.priors, draws=draws, seed=seed)

    def fit(
        self,
        engine: str = "auto",
        *,
        chains: int = 4,
        warmup: int | None = None,
        draws: int = 1000,
        seed: int | np.random.Generator = 0,
        adapt_delta: float = 0.9,
        monte_carlo_error: float | None = 0.005,
        progress: bool = True,
        keep: Literal["all", "population"] = "all",
        **others: Any,
    ) -> ComparisonResult:
        """Integrate the posterior, sample it, and check one against the other.

        With "auto" the probabilities are integrals, with an estimate of their error, and are the same for every seed;
        the draws are for the plots, the table of data sets and ArviZ. If the two differ by more than four combined
        standard errors, the status is "failed" and there is no verdict; ``verification`` of the result has both. If the
        draws fail a check, the integral stands, with the status "warned".

        A sampler alone runs again if a check fails (R-hat 1.01, effective sample size 100 per chain, any divergence,
        E-BFMI 0.3): first with smaller steps, then longer; not if most trajectories of the first run reached the largest
        tree depth, because the others would take long and fail too. The result says so. If every run fails, its
        status is "failed" and it gives no verdict. "auto" skips the longer run, and accepts fewer than 0.1% divergent
        transitions if the draws agree with the integral.

        The quadrature engine ignores warmup, adapt_delta and monte_carlo_error. It makes ``chains`` times ``draws``
        independent draws from ``seed`` when the posterior is first needed.

        A population with covariates is only sampled, by "auto" too, and its probabilities have Monte Carlo errors.

        A mixture has one engine, whose sampler needs no Stan and ignores adapt_delta and monte_carlo_error; each draw is
        the fourth sweep of its chain. Chains that fail a check go on with three times as many sweeps for each draw, and
        then with nine times as many.

        Parameters
        ----------
        engine : {"auto", "embedded", "cmdstan", "quadrature", "mixture"}
            "auto" is quadrature and a sampler: CmdStan if it is installed, else the embedded interpreter. For a mixture,
            "auto" and "quadrature" mean "mixture".
        chains, draws : int
            Number of chains, and of draws of each.
        warmup : int, optional
            Iterations of each chain before these. None is 500 for "auto", whose draws are checked by the integral and whose
            chains start from a metric derived from the data, and 1,000 where a sampler is alone.
        seed : int or numpy.random.Generator
            From 0 to 2^31 - 1, or a generator that draws it. The same data, engine and seed give the same draws.
        adapt_delta : float
            Target acceptance rate, between 0 and 1.
        monte_carlo_error : float or None
            For a sampler alone: sampling continues beyond ``draws`` until the Monte Carlo standard error of P(left),
            P(rope) and P(right) is below this; None stops at ``draws``.
        progress : bool
            Show progress on a terminal (standard error) or in a notebook.
        keep : {"all", "population"}
            "population" discards the draws of delta and sigma, which take nearly all of a result's memory; the table of
            data sets and its plots are then unavailable.
        **others
            Refused. For names that other packages use, such as ``random_state``, the error gives the name used here.

        Raises
        ------
        ArgumentError
            If an argument is invalid.
        EngineError
            If the engine is missing or fails; the message gives the command that fixes it.
        TypeError
            If an argument has a name that is none of these.

        Warns
        -----
        ConvergenceWarning
            If the status is "failed".
        DoubtfulDrawsWarning
            If the draws of "auto" failed a check and only the integral stands.
        RefitWarning
            If a first run failed a check.
        IntegrationWarning
            If the estimated error of an integrated probability is above 0.001.
        """
        for name in others:
            own = [option for option in signature(self.fit).parameters if option != "others"]
            raise TypeError(f"fit() has no argument {shown(name)!r}.{hint_of_option(name, own)}")
        fit = fit_differences(
            self.differences,
            self.rope,
            self.priors,
            engine=engine,
            chains=chains,
            warmup=warmup,
            draws=draws,
            seed=seed,
            adapt_delta=adapt_delta,
            monte_carlo_error=monte_carlo_error,
            progress=progress,
            keep=keep,
        )
        return ComparisonResult.of(fit)


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Fit):
    """The posterior of a comparison of two algorithms, with methods for everything that follows from it.

    Returned by `HierarchicalComparison.fit`; immutable. All values are in the metric's units, or in units of each data
    set's rope if each has its own, and all differences are right minus left, after the sign is reversed for a
    lower-is-better metric.

    Attributes
    ----------
    differences : PairedDifferences
        The data, with the spread that was given to data sets without variation.
    rope : Rope
    priors : Priors
    posterior : Sampled, Integrated, Verified, Exact, Mixed or Regressed
        What was computed, and how.
    fit_notes : tuple of Note
        Warnings of the fit; ``notes`` has those of the data too.
    """

    @classmethod
    def of(cls, fit: Fit) -> Self:
        """The result of a comparison: a fit with its summary, tables, plots and reports."""
        return cls(**{field.name: getattr(fit, field.name) for field in fields(fit)})

    def closed_form_tests(self, seed: int = 0) -> ClosedFormTests:
        """Every applicable closed-form or classical test beside this result, and what each can and cannot tell you.

        If the result was read from a file, tests that need the single scores are left out, with a note.
        """
        from hiercomp.closed_form.side_by_side import closed_form_tests_of

        return closed_form_tests_of(self, seed=seed)

    def sensitivity(self, *, alpha: float = 0.05, n_jobs: int | None = None, **fit_options: Any) -> Sensitivity:
        """Verdicts of refits under other priors, correlations and bounds.

        See ``hiercomp.posterior.sensitivity``.
        """
        return sensitivity(self, alpha=alpha, n_jobs=n_jobs, **fit_options)

    def influence(self) -> Influence:
        """The three probabilities without each data set in turn; see ``hiercomp.posterior.influence``."""
        return influence(self)

    def loo(self) -> LeaveOneOut:
        """How well the model predicts each data set from the others; see ``hiercomp.posterior.leave_one_out``."""
        from hiercomp.posterior.leave_one_out import loo

        return loo(self)

    def correlation(self) -> CorrelationCheck:
        """Whether folds are correlated as assumed: the variation between runs against that within runs.

        See ``hiercomp.posterior.correlation``.
        """
        from hiercomp.posterior.correlation import correlation

        return correlation(self.differences)

    def gain(self, runs: Sequence[int] = (1, 5, 10, 100)) -> RepetitionGain:
        """What more runs of cross-validation buy; see ``hiercomp.posterior.correlation``."""
        from hiercomp.posterior.correlation import gain

        return gain(self, runs)

    def effects(self, *, loo: bool = True) -> Effects:
        """The slope of every covariate, and what they gain together over none; see ``hiercomp.posterior.effects``.

        ``loo=False`` leaves out the gain, which takes about as long as the fit.
        """
        from hiercomp.posterior.effects import effects

        return effects(self, loo=loo)

    def at(self, values: Mapping[str, float] | None = None, /, **named: float) -> Prediction:
        """The three probabilities on a data set with some covariates, such as ``at(rows=5000, classes=10)``.

        Values are in the units of the frame of covariates; those that are left out are at their mean over the data sets.
        Pass a mapping for names that are not valid Python identifiers.

        Raises
        ------
        ArgumentError
            If the result has no covariates, or none of that name.
        """
        from hiercomp.posterior.effects import at

        if not isinstance(values, Mapping | None):
            raise ArgumentError(f"values must map covariates to numbers, got {values!r}.")
        return at(self, {**(values or {}), **named})

    def check_population(self, others: Mapping[str, ComparisonResult] | None = None) -> PopulationCheck:
        """Whether another population predicts the data sets better: by default Gaussian against Student-t.

        See ``hiercomp.posterior.population_check``; ``others`` are results of the same data with other populations, by name.
        """
        from hiercomp.posterior.population_check import check_population

        return check_population(self, others)

    def prior_predictive(self, *, draws: int = 10_000, seed: int | np.random.Generator = 0) -> PriorPredictive:
        """What the priors alone say of the next data set; see ``hiercomp.posterior.prior_predictive``."""
        from hiercomp.posterior.prior_predictive import prior_predictive

        return prior_predictive(self.differences, self.rope, self.priors, draws=draws, seed=seed)

    def plan(self, **options: Any) -> PlanResult:
        """How many data sets a new collection needs, given this pilot.

        See ``hiercomp.planning.plan``.
        """
        from hiercomp.planning.plan import plan_from_result

        return plan_from_result(self, **options)

    def methods(
        self,
        *,
        sensitivity: Sensitivity | None = None,
        influence: Influence | None = None,
        alpha: float = 0.05,
    ) -> Methods:
        """The Methods paragraph of a paper, with this result's own numbers and its references.

        It prints as text; ``.references`` and ``.bibtex`` have what it cites. ``sensitivity`` and ``influence`` are results
        of those methods, to mention them.
        """
        from hiercomp.report.methods import methods_of

        return methods_of(self, sensitivity=sensitivity, influence=influence, alpha=alpha)

    def report(
        self,
        path: str | Path,
        *,
        sensitivity: Sensitivity | bool = False,
        influence: Influence | bool = False,
        population_check: PopulationCheck | bool = True,
        source: str | Path | None = None,
        alpha: float = 0.05,
        overwrite: bool = False,
    ) -> Path:
        """Write an HTML page with everything, in one file; see ``hiercomp.report.write_report``.

        ``sensitivity``, ``influence`` and ``population_check`` are results of those methods (the last of
        `check_population`), or True to compute them now; ``source`` is the file of the scores, whose name and hash the
        page shows.
        """
        from hiercomp.report import write_report

        return write_report(
            self,
            path,
            sensitivity=self.sensitivity(alpha=alpha) if sensitivity is True else sensitivity or None,
            influence=self.influence() if influence is True else influence or None,
            population_check=self._population_check if population_check is True else population_check or None,
            source=source,
            alpha=alpha,
            overwrite=overwrite,
        )

    @cached_property
    def _population_check(self) -> PopulationCheck | None:
        """The check of the population, if it can be made."""
        given = self.differences
        can_be_compared = self.status != "failed" and not given.identical and given.covariates is None
        return self.check_population() if can_be_compared and len(self.differences.n) >= FEWEST else None

    @property
    def plot(self) -> ComparisonPlots:
        """Every plot of the comparison as a method: ``result.plot.shrinkage()``."""
        from hiercomp.plots import ComparisonPlots

        return ComparisonPlots(self)

    def summary(self, alpha: float = 0.05, *, population_check: PopulationCheck | bool = False) -> Summary:
        """The verdict at level ``alpha`` with everything needed to judge it; prints, and renders in a notebook.

        ``population_check`` is a result of `check_population`, or True to compute it now: the summary then says so if
        another population is clearly better.
        """
        from hiercomp.summary.comparison import summarise

        return summarise(self, alpha, self._population_check if population_check is True else population_check or None)

    def scores_table(self, *, decimals: int | None = None) -> ScoresTable:
        """Mean and standard deviation of each algorithm on each data set, the best in bold, and mean ranks.

        It prints as text, and has ``to_latex()``, ``to_markdown()`` and ``to_frame()``; ``decimals`` are chosen by the size
        of the scores unless they are given. A saved result keeps these numbers.

        Raises
        ------
        ArgumentError
            If only the differences of the scores are known.
        """
        from hiercomp.summary.scores_table import scores_table_of

        return scores_table_of(self, decimals)

    def to_dict(self, alpha: float = 0.05) -> dict[str, Any]:
        """The summary at level ``alpha`` with settings, versions and the data sets as plain values, ready for JSON."""
        from hiercomp.summary.record import comparison_record

        return comparison_record(self, alpha)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write everything to a netCDF file, from which `load_result` restores an equal result.

        Raises
        ------
        ResultFileError
            If the name does not end in .nc, the file exists and ``overwrite`` is False, or it can't be written.
        """
        return save_fit(self, path, overwrite=overwrite)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def compare(
    df: Any,
    left: str | None = None,
    right: str | None = None,
    *,
    rope: RopesLike | None = None,
    rho: RhoLike = None,
    higher_is_better: bool | None = None,
    priors: Priors | str = Priors(),  # noqa: B008 - frozen
    population: Population | None = None,
    likelihood: Likelihood = "gaussian",
    covariates: Any = None,
    groups: str | tuple[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Literal["error", "drop"] = "error",
    transform: Literal["log"] | None = None,
    engine: str = "auto",
    **fit_options: Any,
) -> ComparisonResult:
    """Compare two algorithms in one call: `HierarchicalComparison` and its `~HierarchicalComparison.fit`.

    Parameters
    ----------
    df, left, right, rope, rho, higher_is_better, priors, population, likelihood, covariates, groups, columns, missing
        As for `HierarchicalComparison`.
    transform
        As for `HierarchicalComparison`.
    engine, **fit_options
        As for `HierarchicalComparison.fit`, such as ``seed``.

    Returns
    -------
    ComparisonResult

    Examples
    --------
    >>> import hiercomp as hc
    >>> scores = hc.load_scores("keel")
    >>> result = hc.compare(scores, "naive_bayes", "decision_tree", rope=0.01, engine="quadrature")
    >>> result
    <ComparisonResult: naive_bayes against decision_tree, 43 data sets, rope [-0.01, 0.01], status ok>
    """
    comparison = HierarchicalComparison(
        df,
        left,
        right,
        rope=rope,
        rho=rho,
        higher_is_better=higher_is_better,
        priors=priors,
        population=population,
        likelihood=likelihood,
        covariates=covariates,
        groups=groups,
        columns=columns,
        missing=missing,
        transform=transform,
    )
    return comparison.fit(engine, **fit_options)


def compare_populations(
    comparison: HierarchicalComparison | ComparisonResult,
    *,
    populations: Sequence[str] = POPULATIONS,
    seed: int | np.random.Generator = 0,
    **fit_options: Any,
) -> PopulationComparison[ComparisonResult]:
    """Which population predicts data sets better: a table of leave-one-out, with standard errors and stacking weights.

    Each data set is predicted from the others with a Student-t, a Gaussian and a mixture as the population, and the logs of
    the densities are added up (elpd). Bayes factors are not suitable here: they depend on how wide the priors are.

    Parameters
    ----------
    comparison : HierarchicalComparison or ComparisonResult
        Its priors hold for its own population. A Student-t and a Gaussian population share those of delta0, sigma0 and
        sigma_i; the rest are defaults.
    populations : sequence of {"student_t", "gaussian", "mixture"}
        At least two.
    seed : int or numpy.random.Generator
        Of the mixture's draws.
    **fit_options
        Passed on to `HierarchicalComparison.fit`, such as ``draws``.

    Returns
    -------
    PopulationComparison

    Raises
    ------
    ArgumentError
        If an argument is invalid, there are fewer than 3 data sets, or the scores are identical.
    NoVerdictError
        If a computation failed its checks.

    References
    ----------
    Yao, Vehtari, Simpson & Gelman, "Using stacking to average Bayesian predictive distributions", Bayesian Analysis 13
    (2018).

    Examples
    --------
    >>> import hiercomp as hc
    >>> comparison = hc.HierarchicalComparison(hc.load_scores("keel"), "nearest_neighbours", "random_forest", rope=0.01)
    >>> found = compare_populations(comparison, populations=("student_t", "gaussian"))
    >>> found.best
    'student_t'
    """
    from hiercomp.posterior.populations import compared, fits_of_populations

    if not isinstance(comparison, (HierarchicalComparison, ComparisonResult)):
        kind = type(comparison).__name__
        raise ArgumentError(f"comparison must be a HierarchicalComparison or a ComparisonResult, got {kind}.")
    options = {"engine": "quadrature", "progress": False, "seed": seed_number(seed)} | checked_options(fit_options)
    fits = fits_of_populations(comparison.differences, comparison.rope, comparison.priors, populations, options)
    return compared({name: ComparisonResult.of(fit) for name, fit in fits.items()})


def load_result(path: str | Path) -> ComparisonResult:
    """Read a result that `ComparisonResult.save` wrote.

    Parameters
    ----------
    path : str or Path
        A netCDF file.

    Returns
    -------
    ComparisonResult
        Equal to the saved one, but without the single scores, which the file does not contain.

    Raises
    ------
    ResultFileError
        If there is no such file, or it is damaged or not a saved result.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from hiercomp import HierarchicalComparison
    >>> a = np.random.default_rng(1).normal(0.8, 0.02, size=(6, 10))
    >>> b = a + np.random.default_rng(2).normal(0.03, 0.02, size=a.shape)
    >>> result = HierarchicalComparison.from_arrays(a, b, folds=10).fit("embedded", progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load_result(result.save(f"{folder}/fit.nc"))
    >>> again.next_dataset == result.next_dataset
    True
    """
    return ComparisonResult.of(load_fit(path))
