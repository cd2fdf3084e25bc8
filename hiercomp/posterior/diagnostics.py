"""Can the computation be trusted? The checks of the sampler and those of the integration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiercomp.engines.base import MAX_TREE_DEPTH
from hiercomp.posterior.chains import convergence, energy_fraction
from hiercomp.posterior.verification import LARGEST_DISTANCE, Verification
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd

Status: TypeAlias = Literal["ok", "warned", "failed"]

LARGEST_R_HAT = 1.01
SMALLEST_ESS_PER_CHAIN = 100
SMALLEST_E_BFMI = 0.3
LARGEST_INTEGRATION_ERROR, GOOD_INTEGRATION_ERROR = 0.01, 0.001


class Diagnostics(Protocol):
    """The checks of a computation of any kind."""

    @property
    def failures(self) -> tuple[str, ...]:
        """Each failed check, in words; empty if all pass."""

    @property
    def status(self) -> Status:
        """ "ok": every check passes; "warned": all pass, with a reservation; "failed": one fails."""

    @property
    def status_meaning(self) -> str:
        """What the status means, in words."""

    @property
    def caption(self) -> str:
        """What `to_frame` shows, as a sentence."""

    @property
    def remark(self) -> str:
        """Further information beside the checks; may be empty."""

    @property
    def remedy(self) -> str:
        """What to do if the status is "failed"."""

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""

    def to_frame(self) -> pd.DataFrame:
        """One row for each check: value, threshold, parameter with the worst value, whether it passes."""


@dataclass(frozen=True)
class SamplerDiagnostics:
    """The results of the sampler checks.

    Attributes
    ----------
    chains, draws : int
    r_hat : float
        Largest rank-normalised split R-hat of all parameters; at most 1.01 passes.
    ess_bulk, ess_tail : float
        Smallest effective sample sizes; at least 100 for each chain pass.
    worst : mapping from "r_hat", "ess_bulk", "ess_tail" to str
        The parameter with that value.
    divergences : int
        Divergent transitions; none are allowed unless ``allowed_divergences`` permits them.
    tree_depth_saturated : int
        Transitions that reached the largest tree depth: slow, not wrong.
    e_bfmi : float
        Smallest energy Bayesian fraction of missing information of the chains; at least 0.3 passes.
    allowed_divergences : float
        Share of divergent transitions that is allowed: above 0 if an integral has confirmed the draws.
    """

    chains: int
    draws: int
    r_hat: float
    ess_bulk: float
    ess_tail: float
    worst: Mapping[str, str]
    divergences: int
    tree_depth_saturated: int
    e_bfmi: float
    allowed_divergences: float = 0.0

    @property
    def failures(self) -> tuple[str, ...]:
        """Each failed check, in words; empty if all pass."""
        found = list(_chain_failures(self.chains, self.r_hat, self.ess_bulk, self.ess_tail, self.worst))
        if self.too_many_divergences:
            found.append(f"{self.divergences} of {self.chains * self.draws} transitions diverged")
        if not self.e_bfmi >= SMALLEST_E_BFMI:
            found.append(f"E-BFMI is {self.e_bfmi:.2f}, below {SMALLEST_E_BFMI}")
        return tuple(found)

    @property
    def too_many_divergences(self) -> bool:
        """Whether more transitions diverged than allowed."""
        return self.divergences > self.allowed_divergences * self.chains * self.draws

    @property
    def mostly_saturated(self) -> bool:
        """Whether half of the trajectories reached the largest depth: another run would hardly be better."""
        return self.tree_depth_saturated >= 0.5 * self.chains * self.draws

    @property
    def remedy(self) -> str:
        """The engine that does not sample, or more iterations."""
        return "See .diagnostics and .attempts; try .fit(engine='quadrature'), or .fit(warmup=4000, draws=4000)."

    @property
    def status(self) -> Status:
        """ "warned": transitions reached the largest tree depth, or with only one chain agreement can't be checked."""
        if self.failures:
            return "failed"
        return "warned" if self.tree_depth_saturated or self.chains < 2 else "ok"

    @property
    def status_meaning(self) -> str:
        """What the status means, in words."""
        return {
            "ok": "every check passes",
            "warned": "the checks pass, but trajectories reached the largest tree depth, or a single chain can't be "
            "compared",
            "failed": "a check fails after every attempt, so there is no verdict",
        }[self.status]

    @property
    def caption(self) -> str:
        """What `to_frame` shows, as a sentence."""
        return "Checks of the sampler, each at its worst over the parameters."

    @property
    def remark(self) -> str:
        """How many trajectories reached the largest tree depth."""
        return f"Tree depth: {self.tree_depth_saturated:,} trajectories reached the largest depth (slow, not wrong)."

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        names = ("chains", "draws", "r_hat", "ess_bulk", "ess_tail", "divergences", "tree_depth_saturated", "e_bfmi")
        return {name: getattr(self, name) for name in names} | {"failures": list(self.failures)}

    def to_frame(self) -> pd.DataFrame:
        """One row for each check: value, threshold, parameter with the worst value, whether it passes."""
        return _table(
            *_chain_rows(self.chains, self.r_hat, self.ess_bulk, self.ess_tail, self.worst),
            ("divergences", self.divergences, self._divergences_needed, "", not self.too_many_divergences),
            ("E-BFMI", self.e_bfmi, f">= {SMALLEST_E_BFMI}", "", self.e_bfmi >= SMALLEST_E_BFMI),
        )

    @property
    def _divergences_needed(self) -> str:
        return f"<= {self.allowed_divergences:.1%}" if self.allowed_divergences else "0"

    def __str__(self) -> str:
        text = (
            f"R-hat at most {self.r_hat:.3f}, effective sample size at least {self.ess_bulk:,.0f} (bulk) and "
            f"{self.ess_tail:,.0f} (tail), {self.divergences} divergences, E-BFMI at least {self.e_bfmi:.2f}"
        )
        return text + (f", tree depth saturated {self.tree_depth_saturated} times" if self.tree_depth_saturated else "")


@dataclass(frozen=True)
class IntegrationDiagnostics:
    """The result of the integration check.

    Attributes
    ----------
    integration_error : float
        The largest estimated error of a probability; at most 0.01 passes.
    nodes : tuple of int
        The numbers of nodes of sigma0, nu and delta0.
    """

    integration_error: float
    nodes: tuple[int, ...]

    @property
    def failures(self) -> tuple[str, ...]:
        """The error, if it is too large."""
        if self.integration_error <= LARGEST_INTEGRATION_ERROR:
            return ()
        error = f"{self.integration_error:.2g}"
        return (f"the estimated error of the integration is {error}, above {LARGEST_INTEGRATION_ERROR}",)

    @property
    def status(self) -> Status:
        """ "warned": the estimated error is above 0.001."""
        if self.failures:
            return "failed"
        return "warned" if self.integration_error > GOOD_INTEGRATION_ERROR else "ok"

    @property
    def status_meaning(self) -> str:
        """What the status means, in words."""
        return {
            "ok": "the estimated error of every probability is small",
            "warned": f"the estimated error of a probability is above {GOOD_INTEGRATION_ERROR} on the finest grid",
            "failed": f"the estimated error of a probability is above {LARGEST_INTEGRATION_ERROR}, so there is no verdict",
        }[self.status]

    @property
    def caption(self) -> str:
        """What `to_frame` shows, as a sentence."""
        return "The check of the integration."

    @property
    def remark(self) -> str:
        """Nothing."""
        return ""

    @property
    def remedy(self) -> str:
        """A sampler."""
        return "Try a sampler: fit(engine='embedded')."

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return {
            "integration_error": self.integration_error,
            "nodes": list(self.nodes),
            "failures": list(self.failures),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row: value, threshold, whether it passes."""
        threshold = f"<= {LARGEST_INTEGRATION_ERROR}"
        return _table(("integration error", self.integration_error, threshold, "", not self.failures))

    def __str__(self) -> str:
        nodes = " x ".join(map(str, self.nodes))
        return f"integrated on {nodes} nodes, error of a probability at most {self.integration_error:.1g}"


@dataclass(frozen=True)
class VerifiedDiagnostics:
    """The checks of two computations of one posterior, and whether the two agree.

    Attributes
    ----------
    integration : IntegrationDiagnostics
    sampler : SamplerDiagnostics
    verification : Verification
    """

    integration: IntegrationDiagnostics
    sampler: SamplerDiagnostics
    verification: Verification

    @property
    def draws_hold(self) -> bool:
        """Whether the draws pass the sampler checks; if not, they can neither confirm nor refute the integral."""
        return not self.sampler.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """An integral that is not exact enough, or two computations that contradict each other."""
        if self.integration.failures or not self.draws_hold or self.verification.agrees:
            return self.integration.failures
        return (str(self.verification),)

    @property
    def status(self) -> Status:
        """ "warned": the draws failed a check, so only the integral stands, or its estimated error is above 0.001."""
        if self.failures:
            return "failed"
        return self.integration.status if self.draws_hold else "warned"

    @property
    def status_meaning(self) -> str:
        """What the status means, in words."""
        if self.integration.status != "ok":
            return self.integration.status_meaning
        return {
            "ok": "the integral and the draws agree, and each passes its own checks",
            "warned": "the draws fail a check of the sampler and could not confirm the integral, whose own error is small",
            "failed": "the integral and the draws contradict each other, so there is no verdict",
        }[self.status]

    @property
    def caption(self) -> str:
        """What `to_frame` shows, as a sentence."""
        return (
            "Checks of the integration, of the sampler (each at its worst over the parameters), and of their agreement."
        )

    @property
    def remark(self) -> str:
        """Whether the draws confirm the integral, and how many trajectories reached the largest tree depth."""
        return f"{self.confirmation} {self.sampler.remark}"

    @property
    def confirmation(self) -> str:
        """Whether the draws confirm the integral, in one sentence."""
        if self.draws_hold:
            return f"Checked: {self.verification}."
        return f"Not checked: the draws failed a check of the sampler ({'; '.join(self.sampler.failures)})."

    @property
    def remedy(self) -> str:
        """Look at both."""
        if self.integration.failures:
            return self.integration.remedy
        return (
            "Both numbers are in .verification; fit(engine='embedded') and fit(engine='quadrature') give each alone. Please "
            "report this."
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return {
            "integration": self.integration.to_dict(),
            "sampler": self.sampler.to_dict(),
            "verification": self.verification.to_dict(),
            "failures": list(self.failures),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row for each check: value, threshold, parameter with the worst value, whether it passes."""
        import pandas as pd

        farthest = self.verification.farthest
        limit = f"<= {LARGEST_DISTANCE:g}"
        agreement = _table(("distance", farthest.distance, limit, farthest.name, self.verification.agrees))
        return pd.concat([self.integration.to_frame(), self.sampler.to_frame(), agreement])

    def __str__(self) -> str:
        return f"{self.integration}; {self.sampler}"


@dataclass(frozen=True)
class MixtureDiagnostics:
    """The checks of the chains of a mixture: centre, spread, concentration, regions and log likelihood.

    Attributes
    ----------
    chains, draws : int
    r_hat : float
        Largest rank-normalised split R-hat; at most 1.01 passes.
    ess_bulk, ess_tail : float
        Smallest effective sample sizes; at least 100 for each chain pass.
    worst : mapping from "r_hat", "ess_bulk", "ess_tail" to str
        The quantity with that value.
    """

    chains: int
    draws: int
    r_hat: float
    ess_bulk: float
    ess_tail: float
    worst: Mapping[str, str]

    @property
    def failures(self) -> tuple[str, ...]:
        """Each failed check, in words; empty if all pass."""
        return _chain_failures(self.chains, self.r_hat, self.ess_bulk, self.ess_tail, self.worst)

    @property
    def status(self) -> Status:
        """ "warned": with only one chain agreement can't be checked."""
        return "failed" if self.failures else "warned" if self.chains < 2 else "ok"

    @property
    def status_meaning(self) -> str:
        """What the status means, in words."""
        return {
            "ok": "every check passes",
            "warned": "the checks pass, but a single chain can't be compared",
            "failed": "a check fails after every attempt, so there is no verdict",
        }[self.status]

    @property
    def caption(self) -> str:
        """What `to_frame` shows, as a sentence."""
        return "Checks of the sampler, each at its worst over the parameters."

    @property
    def remark(self) -> str:
        """Nothing."""
        return ""

    @property
    def remedy(self) -> str:
        """More draws."""
        return "See .diagnostics; try .fit(draws=4000), or population='student_t'."

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        names = ("chains", "draws", "r_hat", "ess_bulk", "ess_tail")
        return {name: getattr(self, name) for name in names} | {"failures": list(self.failures)}

    def to_frame(self) -> pd.DataFrame:
        """One row for each check: value, threshold, parameter with the worst value, whether it passes."""
        return _table(*_chain_rows(self.chains, self.r_hat, self.ess_bulk, self.ess_tail, self.worst))

    def __str__(self) -> str:
        return (
            f"R-hat at most {self.r_hat:.3f}, effective sample size at least {self.ess_bulk:,.0f} (bulk) and "
            f"{self.ess_tail:,.0f} (tail)"
        )


def diagnose_mixture(quantities: Mapping[str, NDArray[np.float64]]) -> MixtureDiagnostics:
    """Check the draws of some quantities, each of shape (chains, draws)."""
    draws = np.stack(list(quantities.values()), axis=2)
    chains, length = draws.shape[:2]
    worst, extreme = _worst(convergence(draws), list(quantities))
    return MixtureDiagnostics(chains, length, **extreme, worst=worst)


def _chain_failures(
    chains: int, r_hat: float, ess_bulk: float, ess_tail: float, worst: Mapping[str, str]
) -> tuple[str, ...]:
    """The failed checks of the chains, in words."""
    found = []
    needed = SMALLEST_ESS_PER_CHAIN * chains
    if not r_hat <= LARGEST_R_HAT:
        found.append(f"R-hat of {worst['r_hat']} is {r_hat:.3f}, above {LARGEST_R_HAT}")
    for name, kind, size in (("ess_bulk", "bulk", ess_bulk), ("ess_tail", "tail", ess_tail)):
        if not size >= needed:
            found.append(f"{kind} effective sample size of {worst[name]} is {size:.0f}, below {needed}")
    return tuple(found)


def _chain_rows(
    chains: int, r_hat: float, ess_bulk: float, ess_tail: float, worst: Mapping[str, str]
) -> tuple[tuple[str, float, str, str, bool], ...]:
    """The checks of the chains as rows of a table."""
    ess = SMALLEST_ESS_PER_CHAIN * chains
    return (
        ("R-hat", r_hat, f"<= {LARGEST_R_HAT}", worst.get("r_hat", ""), r_hat <= LARGEST_R_HAT),
        ("bulk ESS", ess_bulk, f">= {ess}", worst.get("ess_bulk", ""), ess_bulk >= ess),
        ("tail ESS", ess_tail, f">= {ess}", worst.get("ess_tail", ""), ess_tail >= ess),
    )


def _worst(computed: Mapping[str, NDArray[np.float64]], labels: list[str]) -> tuple[dict[str, str], dict[str, float]]:
    """The parameter with the worst value of each check, and that value; one that can't be computed is the worst."""
    checked = {
        name: np.where(np.isnan(value), np.inf if name == "r_hat" else 0.0, value) for name, value in computed.items()
    }
    at = {name: int(np.argmax(value) if name == "r_hat" else np.argmin(value)) for name, value in checked.items()}
    worst = {name: labels[position] for name, position in at.items()}
    return worst, {name: float(value[at[name]]) for name, value in checked.items()}


@dataclass(frozen=True)
class ExactDiagnostics:
    """No computation was needed, so there is nothing to check.

    Attributes
    ----------
    failures : tuple of str
        Always empty.
    """

    failures: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """Always "ok"."""
        return "ok"

    @property
    def status_meaning(self) -> str:
        """What the status means, in words."""
        return "nothing was sampled"

    @property
    def caption(self) -> str:
        """What `to_frame` shows, as a sentence."""
        return "Nothing was computed, so no check is needed."

    @property
    def remark(self) -> str:
        """Nothing."""
        return ""

    @property
    def remedy(self) -> str:
        """Nothing."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return {"failures": []}

    def to_frame(self) -> pd.DataFrame:
        """No rows."""
        return _table()

    def __str__(self) -> str:
        return "nothing was sampled, so there is nothing to check"


def _table(*rows: tuple[str, float, str, str, bool]) -> pd.DataFrame:
    import pandas as pd

    columns = ["check", "value", "threshold", "worst", "passes"]
    return pd.DataFrame(rows, columns=columns).set_index("check")


def diagnose(
    variables: Mapping[str, NDArray[np.float64]],
    statistics: Mapping[str, NDArray[np.float64]],
    dataset_names: tuple[str, ...] = (),
    covariate_names: tuple[str, ...] = (),
) -> SamplerDiagnostics:
    """Check the draws of every parameter.

    Parameters
    ----------
    variables : mapping from name to ndarray, shape (chains, draws) or (chains, draws, q)
    statistics : mapping from name to ndarray, shape (chains, draws)
        With diverging, tree_depth and energy.
    dataset_names, covariate_names : tuple of str
        Names for the messages.
    """
    labels: list[str] = []
    columns = []
    for name, values in variables.items():
        columns.append(values.reshape(*values.shape[:2], -1))
        members = covariate_names if name == "slope" else dataset_names
        labels += [f"{name}[{shown(member)}]" for member in members] if values.ndim == 3 else [name]
    draws = np.concatenate(columns, axis=2)
    chains, length = draws.shape[:2]
    computed = convergence(draws)
    worst, extreme = _worst(computed, labels)
    return SamplerDiagnostics(
        chains=chains,
        draws=length,
        r_hat=extreme["r_hat"],
        ess_bulk=extreme["ess_bulk"],
        ess_tail=extreme["ess_tail"],
        worst=worst,
        divergences=int(np.sum(statistics["diverging"])),
        tree_depth_saturated=int(np.sum(statistics["tree_depth"] >= MAX_TREE_DEPTH)),
        e_bfmi=energy_fraction(statistics["energy"]),
    )
