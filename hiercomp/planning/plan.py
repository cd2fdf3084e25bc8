"""How many data sets and runs does a comparison need? The probability of each verdict, by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, finite_number, whole_number
from hiercomp.errors import Argument, ArgumentError, NoVerdictError
from hiercomp.model.priors import Priors, chosen_priors
from hiercomp.planning.result import PlanResult
from hiercomp.planning.simulation import Assumption, PlanSettings, simulated_plan
from hiercomp.posterior.correlation import enough_runs
from hiercomp.posterior.fit import checked_options
from hiercomp.rope import Rope, RopeLike
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.rho import checked_rho
from hiercomp.scores.scale import DEFAULT_HALF_WIDTH
from hiercomp.wording import counted, shown

if TYPE_CHECKING:
    from hiercomp.posterior.fit import Fit

N_DATASETS = (10, 20, 30, 50)
# Arguments of a plan that a misspelt name may mean
OWN = (
    "n_datasets",
    "runs",
    "folds",
    "rho",
    "rope",
    "alpha",
    "priors",
    "simulations",
    "engine",
    "n_jobs",
    "seed",
    "progress",
)
WHOLE = 1e-6  # 1/rho that is this near a whole number is a number of folds


def plan(
    *,
    delta0: float,
    sigma0: float,
    nu: float = np.inf,
    standard_deviation: float | Sequence[float],
    n_datasets: int | Sequence[int] = N_DATASETS,
    folds: int = 10,
    runs: int | Sequence[int] = 10,
    rho: float | None = None,
    rope: RopeLike | None = None,
    alpha: float = 0.05,
    priors: Priors | str = Priors(),  # noqa: B008 - frozen
    left: str = "left",
    right: str = "right",
    simulations: int = 200,
    engine: str = "quadrature",
    n_jobs: int | None = None,
    seed: int = 0,
    progress: bool = True,
    **fit_options: Any,
) -> PlanResult:
    """How many data sets and runs are needed, under an assumed population of data sets.

    Collections of data sets are simulated from the model and fitted; the shares of the verdicts estimate their
    probabilities. The same collections are used throughout: a smaller number of data sets uses the first ones of a
    larger collection.

    Parameters
    ----------
    delta0, sigma0 : float
        Centre and scale of the data sets' mean differences, in the metric's units. Above 0 the right algorithm is better:
        right minus left for scores, left minus right for losses.
    nu : float
        Degrees of freedom of the population, at least 1; infinite for a Gaussian one.
    standard_deviation : float or sequence of float
        Standard deviation of the folds' differences within a data set; if there are several, each data set takes one at
        random.
    n_datasets : int or sequence of int
        Numbers of data sets, at least 2.
    folds : int
        Folds of one run of cross-validation.
    runs : int or sequence of int
        Numbers of runs.
    rho : float, optional
        Correlation between two differences of a data set, in [0, 1); by default 1/folds.
    rope : float, pair of float or Rope, optional
        Differences that make no practical difference; by default 0.01. For a metric outside [0, 1], which is one with
        a ``delta0_bound`` above 1, it must be given.
    alpha : float
        Level of the verdicts.
    priors : Priors
        Priors of the fits. For a metric outside [0, 1] set ``Priors(delta0_bound=...)`` to the largest possible
        difference.
    left, right : str
        Names of the algorithms.
    simulations : int
        Collections to simulate.
    engine : str
        See `HierarchicalComparison.fit`.
    n_jobs : int, optional
        Processes at once. None is joblib's rule: one, unless a ``joblib.parallel_config`` is active; -1 is all cores, -2 all
        but one.
    seed : int
        The same arguments and seed give the same table, whatever n_jobs is.
    progress : bool
        Show progress on a terminal (standard error) or in a notebook.
    **fit_options
        Passed on to `HierarchicalComparison.fit`, such as ``draws``.

    Returns
    -------
    PlanResult

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    Warns
    -----
    ConvergenceWarning
        If fits failed; they are counted in the table.
    FewDatasetsWarning
        If fewer than 5 data sets are planned.

    Notes
    -----
    The intervals are Wilson's, at 95%, for each probability by itself: they show the precision of the simulation, not
    how well the assumed numbers are known. `ComparisonResult.plan` takes these from a pilot's posterior.

    Examples
    --------
    >>> assumed = {"delta0": 0.03, "sigma0": 0.005, "standard_deviation": 0.03, "priors": Priors.gaussian()}
    >>> found = plan(**assumed, n_datasets=(15, 20), simulations=2, n_jobs=1, progress=False)
    >>> found.to_frame()["p_right"].tolist()
    [1.0, 1.0]
    """
    delta0, sigma0 = finite_number("delta0", delta0), _at_least("sigma0", sigma0, 0)
    nu = np.inf if nu == np.inf else _at_least("nu", nu, 1)
    deviations = _numbers("standard_deviation", standard_deviation)
    for deviation in deviations:
        if _at_least("standard_deviation", deviation, 0) == 0:
            raise ArgumentError("standard_deviation must be above 0.")
    folds, numbers_of_runs = whole_number("folds", folds, 2), _whole_numbers("runs", runs, 1)
    priors = _priors_of_a_plan(priors)
    _check_scale(delta0, max(deviations), priors)
    n = np.repeat(np.array(numbers_of_runs)[:, None] * folds, len(deviations), axis=1)
    rho = 1 / folds if rho is None else checked_rho(rho)
    spread = f"{deviations[0]:g}" if len(deviations) == 1 else f"one of {len(deviations)} values"
    assumption = Assumption(
        delta0=np.array([delta0]),
        sigma0=np.array([sigma0]),
        nu=np.array([nu]),
        sigma=np.array([deviations], dtype=float),
        n=n,
        rho=np.full(n.shape, rho),
        score_range=(0.0, 1.0) if priors.delta0_bound is None else (-priors.delta0_bound, priors.delta0_bound),
        left=left,
        right=right,
        words=(
            f"delta0 {delta0:g}, sigma0 {sigma0:g}, nu {nu:g}, standard deviation within a data set {spread}, "
            f"{folds} folds, rho {rho:.3g}"
        ),
    )
    options = checked_options(fit_options, OWN) | {"engine": engine, "seed": seed, "progress": False}
    settings = PlanSettings(
        _whole_numbers("n_datasets", n_datasets, 2), _rope(rope, priors), alpha, priors, simulations, options
    )
    return simulated_plan(assumption, numbers_of_runs, settings, n_jobs, progress)


def plan_from_result(
    result: Fit,
    *,
    n_datasets: int | Sequence[int] = N_DATASETS,
    folds: int | None = None,
    runs: int | Sequence[int] | None = None,
    rho: float | None = None,
    rope: RopeLike | None = None,
    alpha: float = 0.05,
    priors: Priors | str | None = None,
    simulations: int = 200,
    engine: str = "quadrature",
    n_jobs: int | None = None,
    seed: int = 0,
    progress: bool = True,
    **fit_options: Any,
) -> PlanResult:
    """How many data sets and runs are needed, given what a pilot comparison says about the population.

    Each simulated collection takes delta0, sigma0, nu and the standard deviations within the data sets from one draw of
    the pilot's posterior, so the probabilities include the uncertainty of the pilot. Each simulated data set takes its
    standard deviation, number of differences and rho from one of the pilot's data sets, chosen at random.

    Parameters
    ----------
    result : ComparisonResult
        The pilot.
    n_datasets : int or sequence of int
        Numbers of data sets of the new collection; the pilot's own data sets are not part of it.
    folds : int, optional
        Folds of one run; by default 1/rho of the pilot's data sets.
    runs : int or sequence of int, optional
        Numbers of runs; by default those of the pilot's data sets.
    rho : float, optional
        Correlation between two differences of a data set; by default 1/folds if folds are given, else the pilot's.
    rope, priors : optional
        By default those of the pilot, with its bound of delta0.
    alpha, simulations, engine, n_jobs, seed, progress, **fit_options
        See `hiercomp.plan`.

    Returns
    -------
    PlanResult

    Raises
    ------
    NoVerdictError
        If the pilot's computation failed its checks.
    ArgumentError
        If an argument is invalid, or the pilot's scores are identical.

    Notes
    -----
    If a result has no draws of sigma_i, they are drawn from p(sigma_i | SS_i) under a flat prior of delta_i and
    sigma_i: SS_i/((1 - rho) sigma_i^2) is then chi-squared with n - 2 degrees of freedom.

    Examples
    --------
    >>> import hiercomp as hc
    >>> a = np.random.default_rng(1).normal(0.8, 0.02, size=(15, 10))
    >>> b = a + np.random.default_rng(2).normal(0.03, 0.02, size=a.shape)
    >>> comparison = hc.HierarchicalComparison.from_arrays(a, b, folds=10, priors=Priors.gaussian())
    >>> pilot = comparison.fit("quadrature", progress=False)
    >>> found = plan_from_result(pilot, n_datasets=(15, 20), simulations=1, n_jobs=1, progress=False)
    >>> found.n_datasets, found.runs
    ((15, 20), (1,))
    """
    if result.status == "failed":
        raise NoVerdictError("The pilot's computation failed its checks, so nothing can be planned from it.")
    if result.differences.identical:
        raise ArgumentError("The scores of the pilot are identical everywhere; there is no population to plan from.")
    if result.priors.population == "mixture":
        raise ArgumentError(
            "A study is planned from a Student-t or Gaussian population, and the pilot's is a mixture.",
            remedy="Fit the pilot with population='student_t'.",
        )
    if result.differences.counts is not None:
        raise ArgumentError(
            "A plan simulates normal differences, and the pilot has the trinomial likelihood.",
            remedy="Fit the pilot with likelihood='gaussian'.",
        )
    if result.differences.covariates is not None:
        raise ArgumentError(
            "A plan simulates populations without covariates, and the pilot has some.",
            remedy="Fit the pilot without covariates.",
        )
    priors = _priors_of_a_plan(result.priors if priors is None else priors)
    if priors.delta0 is None:
        priors = replace(priors, delta0_bound=priors.delta0_bound or result.differences.delta0_bound)
    assumption, numbers_of_runs = pilot_assumption(result, folds=folds, runs=runs, rho=rho, seed=seed)
    rope = result.rope if rope is None else Rope.of(rope)
    options = checked_options(fit_options, OWN) | {"engine": engine, "seed": seed, "progress": False}
    settings = PlanSettings(_whole_numbers("n_datasets", n_datasets, 2), rope, alpha, priors, simulations, options)
    found = simulated_plan(assumption, numbers_of_runs, settings, n_jobs, progress)
    seen = 1 if result.differences.runs is None else int(result.differences.runs.n_runs.max())
    most = max(seen, *(number or 1 for number in numbers_of_runs))
    return replace(
        found,
        enough_runs=enough_runs(result.differences, most, folds=folds, rho=rho),
        notes=(*found.notes, *(f"Pilot: {note}" for note in result.notes)),
        measure=result.differences.measure,
        higher_is_better=result.differences.higher_is_better,
        transform=result.differences.transform,
    )


def _priors_of_a_plan(priors: Priors | str) -> Priors:
    """The priors that simulated collections are fitted with."""
    chosen = chosen_priors(priors)
    if chosen.population == "mixture":
        raise ArgumentError(
            "A plan simulates Student-t or Gaussian populations and does not fit mixtures to them.",
            remedy="Pass priors=Priors(), or leave them out.",
        )
    return chosen


def pilot_assumption(
    result: Fit,
    *,
    folds: int | None = None,
    runs: int | Sequence[int] | None = None,
    rho: float | None = None,
    seed: int = 0,
) -> tuple[Assumption, tuple[int | None, ...]]:
    """What a pilot says about future data sets, and the numbers of runs; arguments as in `plan_from_result`."""
    given = result.differences
    n, rho_of, numbers_of_runs = _sizes(given, folds, runs, rho)
    delta0, sigma0, nu = (result.draws(name).ravel() for name in ("delta0", "sigma0", "nu"))
    assumption = Assumption(
        delta0=delta0,
        sigma0=sigma0,
        nu=nu,
        sigma=_sigma_draws(result, len(delta0), seed),
        n=n,
        rho=rho_of,
        score_range=(float(given.lowest_score.min()), float(given.highest_score.max())),
        left=given.left,
        right=given.right,
        words=f"the posterior of the pilot ({counted(len(given.dataset_names), 'data set')})",
    )
    return assumption, numbers_of_runs


def _sizes(
    given: PairedDifferences, folds: int | None, runs: int | Sequence[int] | None, rho: float | None
) -> tuple[NDArray[np.int64], FloatArray, tuple[int | None, ...]]:
    """Differences of each kind of data set for each number of runs, their rho, and the numbers of runs.

    If the pilot's correlations differ within and across runs, rho is the equal correlation that amounts to them (R6).
    """
    if folds is not None:
        whole_number("folds", folds, 2)
        if runs is None:
            raise ArgumentError("folds was given without runs; pass both, or neither to use the pilot's.")
    two_level = given.two_level if rho is None and folds is None else None
    pilots = given.rho if given.two_level is None else given.two_level.across
    default = given.rho if folds is None else np.full(len(given.rho), 1 / folds)
    rho_of = default if rho is None else np.full(len(given.rho), checked_rho(rho))
    with np.errstate(divide="ignore"):
        of_pilot = 1 / pilots
    known = np.isfinite(of_pilot) & (np.abs(of_pilot - np.rint(of_pilot)) < WHOLE)
    if runs is None:
        repeats = given.n * pilots
        same = bool(known.all() and (np.abs(repeats - np.rint(repeats[0])) < WHOLE).all() and repeats[0] > 0.5)
        return given.n[None, :], rho_of[None, :], (int(np.rint(repeats[0])) if same else None,)
    if folds is None and not known.all():
        name = shown(given.dataset_names[int(np.argmin(known))])
        raise ArgumentError(
            f"folds is required with runs: rho of the pilot's data set {name!r} is {pilots[int(np.argmin(known))]:g}, "
            "which is not 1/folds."
        )
    numbers = _whole_numbers("runs", runs, 1)
    of_run = np.rint(of_pilot).astype(np.int64) if folds is None else np.full(len(given.n), folds)
    n = np.array(numbers)[:, None] * of_run
    if two_level is None:
        return n, np.broadcast_to(rho_of, n.shape), numbers
    of_mean = 1 + (of_run - 1) * two_level.within + (n - of_run) * two_level.across  # its eigenvalue
    return n, (of_mean - 1) / (n - 1), numbers


def _sigma_draws(result: Fit, draws: int, seed: int) -> FloatArray:
    """Draws of every sigma_i, shape (draws, q)."""
    given = result.differences
    if "sigma" in result.posterior.parameters:
        return np.asarray(result.draws("sigma").reshape(draws, -1))
    generator = np.random.default_rng([seed, draws])
    spread = given.sum_of_squares / (1 - given.rho)
    return np.asarray(np.sqrt(spread / generator.chisquare(given.n - 2, size=(draws, len(given.n)))))


def _check_scale(delta0: float, deviation: float, priors: Priors) -> None:
    """Differences of scores in [0, 1] lie in [-1, 1], and so does their standard deviation."""
    bound = 1.0 if priors.delta0_bound is None else priors.delta0_bound
    for name, value in (("delta0", abs(delta0)), ("standard_deviation", deviation)):
        if value > bound:
            limit = "scores in [0, 1]" if priors.delta0_bound is None else f"a delta0_bound of {bound:g}"
            raise ArgumentError(
                f"{name} is {value:g} in size, too large for {limit}. For another metric pass "
                "priors=Priors(delta0_bound=...) with the largest possible difference."
            )


def _rope(rope: RopeLike | None, priors: Priors) -> Rope:
    """The rope given, or the default for scores in [0, 1]."""
    if rope is None and priors.delta0_bound is not None and priors.delta0_bound > 1:
        raise ArgumentError(
            f"The largest possible difference is {priors.delta0_bound:g}, and the default rope of {DEFAULT_HALF_WIDTH:g} is "
            "only for scores between 0 and 1.",
            remedy="Pass the margin that makes no practical difference, in the unit of the scores: rope=... (--rope).",
            arguments=(Argument("rope"),),
            key="default_rope",
        )
    return Rope.of(DEFAULT_HALF_WIDTH if rope is None else rope)


def _at_least(name: str, value: object, smallest: float) -> float:
    number = finite_number(name, value)
    if number < smallest:
        raise ArgumentError(f"{name} must be at least {smallest:g}, got {number:g}.")
    return number


def _whole_numbers(name: str, values: int | Sequence[int], smallest: int) -> tuple[int, ...]:
    """One or several different whole numbers, ascending."""
    listed = list(values) if isinstance(values, (list, tuple, range, np.ndarray)) else [values]
    numbers = sorted(whole_number(name, value, smallest) for value in listed)
    if not numbers or len(set(numbers)) < len(numbers):
        raise ArgumentError(f"{name} must be one or more different whole numbers, got {values!r}.")
    return tuple(numbers)


def _numbers(name: str, values: float | Sequence[float]) -> tuple[float, ...]:
    listed = list(values) if isinstance(values, (list, tuple, np.ndarray)) else [values]
    if not listed:
        raise ArgumentError(f"{name} must be a number or several of them, got {values!r}.")
    return tuple(finite_number(name, value) for value in listed)
