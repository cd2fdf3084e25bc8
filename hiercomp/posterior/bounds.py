"""Notes on parameters whose posterior lies at the bound of their prior."""

from __future__ import annotations

from hiercomp.engines.quadrature.nu_prior import NuPrior
from hiercomp.errors import HiercompWarning, Note
from hiercomp.model.priors import DEFAULT_UPPER, Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.kinds import Posterior

# nu is pressed against its bound if nearly all of the posterior lies in the twentieth of the prior next to it, and the bound
# itself is within the central 95% interval, as near as can be: with many data sets the posterior of nu = 2.5 is in that
# twentieth, too, and ends before the bound. Of the 15 pairs of the KEEL table six are, with 91 to 99%; the next has 79%
NEAR, NEARLY_ALL = 0.05, 0.9
AT_BOUND, SOME = 0.01, 0.025  # of the prior, or of the range of a uniform one; and the share of the posterior there


def bound_notes(posterior: Posterior, model: HierarchicalModel) -> tuple[Note, ...]:
    """A note on nu if its posterior lies at its bound, and on delta0 and sigma0 if they lie at a bound that was given.

    Parameters
    ----------
    posterior : Posterior
        Whose checks passed.
    model : HierarchicalModel
        The same problem, with the bounds.
    """
    priors = model.priors
    notes = _nu_notes(posterior, priors)
    if priors.delta0_bound is not None:
        bound = priors.delta0_bound
        reach = 2 * bound * AT_BOUND
        low = posterior.probability_below("delta0", reach - bound)
        high = 1 - posterior.probability_below("delta0", bound - reach)
        notes += [_cut_off("delta0", end, share) for end, share in ((-bound, low), (bound, high)) if share >= SOME]
    if priors.sigma0_upper != DEFAULT_UPPER:
        upper = model.sigma0_upper * model.unit
        share = 1 - posterior.probability_below("sigma0", (1 - AT_BOUND) * upper)
        notes += [_cut_off("sigma0", upper, share)] if share >= SOME else []
    return tuple(notes)


def _nu_notes(posterior: Posterior, priors: Priors) -> list[Note]:
    if priors.population != "student_t":
        return []
    prior = NuPrior(priors)
    near = prior.quantile(NEAR)
    share = posterior.probability_below("nu", near)
    if share < NEARLY_ALL or posterior.probability_below("nu", prior.quantile(AT_BOUND)) < SOME:
        return []
    text = (
        f"The posterior of nu is pressed against its lower bound, {priors.nu_lower:g}: {100 * share:.0f}% of it is below "
        f"{near:.2g}, where the prior has {100 * NEAR:g}%. The tails are as heavy as the model allows, so the data sets may "
        "not come from a Student-t population."
    )
    remedy = "result.plot.pit() (--plot pit) shows how well it fits."
    return [Note(HiercompWarning, text, remedy=remedy, key="nu_at_bound", quiet=True)]


def _cut_off(name: str, bound: float, share: float) -> Note:
    text = (
        f"The posterior of {name} is cut off by the bound of its prior, {bound:.3g}: {100 * share:.0f}% of it lies in the "
        "hundredth of the range next to it."
    )
    return Note(HiercompWarning, text, remedy="A wider bound changes the answer.", key=f"{name}_at_bound", quiet=True)
