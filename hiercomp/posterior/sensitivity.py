"""Does the verdict depend on the priors, on rho, or on the bounds? Refits of a comparison under variants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import number_of_jobs, verdict_level
from hiercomp.document import Presentation
from hiercomp.errors import ArgumentError
from hiercomp.model.priors import NAMED_PRIORS, Priors
from hiercomp.posterior.fit import Fit, checked_options, fit_again
from hiercomp.posterior.next_dataset import decide
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import counted, metric_words, outcome_words, shown
from hiercomp.workers import end_with_parent, worker_errors

if TYPE_CHECKING:
    import pandas as pd

RHO_FACTORS = (0.5, 1.0, 2.0)
UPPER_BOUNDS = (100.0, 1000.0)
CONCENTRATIONS = ((1.0, 1.0), (2.0, 0.5))  # shape and rate
LARGEST_RHO = 0.99  # of a doubled correlation


@dataclass(frozen=True)
class Variant:
    """What is changed for one refit.

    Attributes
    ----------
    name : str
    priors : Priors
    rho_factor : float
        Factor by which every correlation is multiplied.
    """

    name: str
    priors: Priors
    rho_factor: float = 1.0


@dataclass(frozen=True)
class VariantResult:
    """The answer under one variant; the numbers are NaN if the computation failed.

    Attributes
    ----------
    name : str
    p_left, p_rope, p_right : float
    error : float
        Largest error of the three: of the integration, or a Monte Carlo standard error.
    verdict : str
        The decision's region, "none", "undecided", or "failed".
    status : str
        "ok", "warned" or "failed".
    log_marginal_likelihood : float
        NaN where nothing was integrated.
    """

    name: str
    p_left: float
    p_rope: float
    p_right: float
    error: float
    verdict: str
    status: str
    log_marginal_likelihood: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Presentation):
    """The verdict of a comparison under several variants.

    Attributes
    ----------
    variants : tuple of VariantResult
        The first is the comparison itself.
    algorithms : tuple of str
        The left and the right algorithm.
    alpha : float
        Level of the verdicts.
    rope : Rope
        The region of practical equivalence.
    metric : str
        The metric and its direction, in words.
    """

    variants: tuple[VariantResult, ...]
    algorithms: tuple[str, str]
    alpha: float
    rope: Rope
    metric: str = ""

    @property
    def changed(self) -> tuple[str, ...]:
        """Variants with another verdict than the comparison itself.

        A variant whose computation failed is not among them, and if that of the comparison failed, none is.
        """
        own = self.variants[0].verdict
        if self.variants[0].status == "failed":
            return ()
        return tuple(variant.name for variant in self.variants if variant.verdict != own and variant.status != "failed")

    @property
    def failed(self) -> tuple[str, ...]:
        """Variants whose computation failed its checks, so nothing is known of their verdict."""
        return tuple(variant.name for variant in self.variants[1:] if variant.status == "failed")

    @property
    def title(self) -> str:
        """What was varied."""
        left, right = map(shown, self.algorithms)
        level, metric = f"{100 * (1 - self.alpha):g}%", f", {self.metric}" if self.metric else ""
        return f"Sensitivity, {left} against {right}, rope {self.rope}, verdicts at {level}{metric}"

    @property
    def conclusion(self) -> str:
        """Whether the verdict holds."""
        others = len(self.variants) - 1
        if others == 0:
            return "The scores are identical everywhere: no prior and no correlation could change the verdict."
        if self.variants[0].status == "failed":
            return "The computation itself failed its checks, so there is no verdict to compare with."
        own = f"The verdict ({self._words(self.variants[0].verdict)})"
        unknown = ""
        if self.failed:
            unknown = f" The computation of {counted(len(self.failed), 'variant')} failed: {', '.join(self.failed)}."
        computed = others - len(self.failed)
        if self.changed:
            which = f"{counted(len(self.changed), 'variant')} of {computed}: {', '.join(self.changed)}"
            return f"{own} changes under {which}.{unknown}"
        if computed == 0:
            return f"{own} could not be compared.{unknown}"
        variants = "the only variant" if computed == 1 else f"all {computed} variants"
        return f"{own} is the same under {variants}{' that could be computed' if unknown else ''}.{unknown}"

    def to_frame(self) -> pd.DataFrame:
        """One row for each variant: p_left, p_rope, p_right, error, verdict, changed, status, log_bayes_factor.

        The last is the log of the Bayes factor of the variant against the comparison itself: above 0 the variant predicts
        the data better. It is NaN if the posterior was only sampled.
        """
        import pandas as pd

        rows = [
            {name: getattr(variant, name) for name in ("p_left", "p_rope", "p_right", "error")}
            | {
                "verdict": self._words(variant.verdict),
                "changed": variant.name in self.changed,
                "status": variant.status,
                "log_bayes_factor": variant.log_marginal_likelihood - self.variants[0].log_marginal_likelihood,
            }
            for variant in self.variants
        ]
        return pd.DataFrame(rows, index=pd.Index([variant.name for variant in self.variants], name="variant"))

    def _words(self, verdict: str) -> str:
        left, right = map(shown, self.algorithms)
        return (outcome_words(left, right) | {"none": "no verdict"}).get(verdict, verdict)


def sensitivity(result: Fit, *, alpha: float = 0.05, n_jobs: int | None = None, **fit_options: Any) -> Sensitivity:
    """Refit a comparison with the four named priors on nu, half and twice rho, and two upper bounds of the sigmas.

    Rho is varied if it is one correlation above 0. If delta0 or sigma0 has another prior than a uniform one, these
    variants keep it, and one more has the uniform one.

    Parameters
    ----------
    result : Fit
        Such as a `hiercomp.ComparisonResult`.
    alpha : float
        Level of the verdicts.
    n_jobs : int, optional
        Fits to run in parallel, in separate processes. None is joblib's default: one, unless a
        ``joblib.parallel_config`` is active; -1 is all cores.
    **fit_options
        Passed on to `hiercomp.HierarchicalComparison.fit`, such as ``draws``; by default chains, warmup, draws, seed
        and engine are those of the result, with "quadrature" in place of "auto".

    Returns
    -------
    Sensitivity
    """
    from joblib import Parallel, delayed

    verdict_level(alpha)
    number_of_jobs(n_jobs)
    differences = replace(result.differences, scores=None)  # processes do not each need the table
    options = fit_defaults(result) | checked_options(fit_options)
    # Two correlations change the equivalent data (R6), and not only their rho
    varies_rho = differences.counts is None and differences.two_level is None and bool(differences.rho.any())
    tasks = [
        delayed(_refit)(variant, differences, result.rope, alpha, options)
        for variant in variants(result.priors, trinomial=differences.counts is not None)
        if not differences.identical and (varies_rho or variant.rho_factor == 1)
    ]
    with worker_errors():
        others = Parallel(n_jobs=n_jobs)(tasks)
    itself = _row("as fitted", result, alpha)
    given = result.differences
    metric = metric_words(given.measure, given.higher_is_better, given.transform)
    return Sensitivity((itself, *others), (result.left, result.right), alpha, result.rope, metric)


def variants(priors: Priors, *, trinomial: bool = False) -> list[Variant]:
    """The variants of a comparison's priors, without the priors themselves.

    Those of a mixture are the other populations, and other priors of its concentration.

    Parameters
    ----------
    priors : Priors
    trinomial : bool
        Whether the likelihood is trinomial, and has no sigma_i.
    """
    if priors.population == "mixture":
        others = [
            Variant(f"population: {name}", Priors(population=name, sigma_upper=priors.sigma_upper))
            for name in ("student_t", "gaussian")
        ]
        varied = [
            Variant(f"concentration: Gamma{pair}", replace(priors, concentration=pair))
            for pair in CONCENTRATIONS
            if pair != priors.concentration
        ]
        scaled = [Variant(f"rho x {factor:g}", priors, factor) for factor in RHO_FACTORS if factor != 1]
        return [*others, *varied, *scaled]
    named = [
        Variant(f"nu: {name}", variant)
        for name, variant in ((name, _with_distributions(variant, priors)) for name, variant in NAMED_PRIORS.items())
        if variant != priors and not variant.population == priors.population == "gaussian"
    ]
    uniform = []
    if priors.delta0 is not None:
        uniform.append(Variant("delta0: uniform", replace(priors, delta0=None)))
    if priors.sigma0 is not None:
        uniform.append(Variant("sigma0: uniform", replace(priors, sigma0=None)))
    scaled = [Variant(f"rho x {factor:g}", priors, factor) for factor in RHO_FACTORS if factor != 1]
    bounds = [*([] if trinomial else ["sigma_upper"]), *(["sigma0_upper"] if priors.sigma0 is None else [])]
    words = "upper bounds" if len(bounds) == 2 else "upper bound"
    bounded = [
        Variant(f"{words} x {bound:g}", variant)
        for bound, variant in ((bound, _with_bounds(priors, bounds, bound)) for bound in UPPER_BOUNDS)
        if variant != priors
    ]
    return [*named, *uniform, *scaled, *bounded]


def _with_distributions(variant: Priors, priors: Priors) -> Priors:
    """A variant of the prior on nu; the distributions and bounds of delta0, sigma0 and sigma_i stay."""
    on_nu = {name: getattr(variant, name) for name in ("population", "nu_lower", "alpha", "beta")}
    return replace(priors, **on_nu)


def _with_bounds(priors: Priors, names: Sequence[str], bound: float) -> Priors:
    """The same priors with another upper bound of sigma_i, of sigma0, or of both."""
    others: dict[str, Any] = dict.fromkeys(names, bound)
    return replace(priors, **others)


def fit_defaults(result: Fit) -> dict[str, Any]:
    """The options of `HierarchicalComparison.fit` that made a result."""
    settings = result.settings
    return {
        "engine": result.posterior.refit_engine,
        "chains": settings.chains,
        "warmup": settings.warmup,
        "draws": settings.draws,
        "seed": settings.seed,
        "adapt_delta": settings.adapt_delta,
        "progress": False,
    }


def _refit(
    variant: Variant, differences: PairedDifferences, rope: Rope, alpha: float, options: dict[str, Any]
) -> VariantResult:
    end_with_parent()
    rho = differences.rho
    if variant.rho_factor != 1:
        rho = np.minimum(rho * variant.rho_factor, LARGEST_RHO)
    return _row(variant.name, fit_again(replace(differences, rho=rho), rope, variant.priors, options), alpha)


def _row(name: str, result: Fit, alpha: float) -> VariantResult:
    if result.status == "failed":
        return VariantResult(name, math.nan, math.nan, math.nan, math.nan, "failed", "failed")
    inference = result.next_dataset
    return VariantResult(
        name=name,
        p_left=inference.p_left,
        p_rope=inference.p_rope,
        p_right=inference.p_right,
        error=inference.largest_error,
        verdict=decide(inference, alpha).region,
        status=result.status,
        log_marginal_likelihood=_log_marginal_likelihood(result),
    )


def _log_marginal_likelihood(result: Fit) -> float:
    try:
        return result.log_marginal_likelihood
    except ArgumentError:  # only sampled
        return math.nan
