"""Can the computation be trusted? R-hat, effective sample sizes, divergences, tree depth and energy, from ArviZ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.engines.base import MAX_TREE_DEPTH
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd

LARGEST_R_HAT = 1.01
SMALLEST_ESS_PER_CHAIN = 100
SMALLEST_E_BFMI = 0.3
LARGEST_INTEGRATION_ERROR, GOOD_INTEGRATION_ERROR = 0.01, 0.001


@dataclass(frozen=True)
class Diagnostics:
    """What the checks of the sampler found.

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
        Divergent transitions; none pass.
    tree_depth_saturated : int
        Transitions that reached the largest tree depth: slow, not wrong.
    e_bfmi : float
        Smallest energy Bayesian fraction of missing information of the chains; at least 0.3 passes.
    failures : tuple of str
        Each check that failed, in words; empty where all pass.
    exact : bool
        True where nothing was sampled, so that there is nothing to check.
    integration_error : float or None
        Of the quadrature engine, which has no chains: the largest estimated error of a probability; at most 0.01 passes.
    nodes : tuple of int or None
        Its nodes of sigma0, nu and delta0.
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
    failures: tuple[str, ...]
    exact: bool = False
    integration_error: float | None = None
    nodes: tuple[int, ...] | None = None

    @property
    def integrated(self) -> bool:
        """Whether the posterior was integrated, and not sampled."""
        return self.integration_error is not None

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        if self.integrated:
            error, nodes = self.integration_error, list(self.nodes or ())
            return {"integration_error": error, "nodes": nodes, "failures": list(self.failures)}
        names = ("chains", "draws", "r_hat", "ess_bulk", "ess_tail", "divergences", "tree_depth_saturated", "e_bfmi")
        return {name: getattr(self, name) for name in names} | {"failures": list(self.failures)}

    def to_frame(self) -> pd.DataFrame:
        """One row for each check: value, threshold, parameter where it is worst, whether it passes."""
        import pandas as pd

        columns = ["check", "value", "threshold", "worst", "passes"]
        if self.integration_error is not None:
            error = self.integration_error
            row = (
                "integration error",
                error,
                f"<= {LARGEST_INTEGRATION_ERROR}",
                "",
                error <= LARGEST_INTEGRATION_ERROR,
            )
            return pd.DataFrame([row], columns=columns).set_index("check")
        ess = SMALLEST_ESS_PER_CHAIN * self.chains
        rows = [
            ("R-hat", self.r_hat, f"<= {LARGEST_R_HAT}", self.worst.get("r_hat", ""), self.r_hat <= LARGEST_R_HAT),
            ("bulk ESS", self.ess_bulk, f">= {ess}", self.worst.get("ess_bulk", ""), self.ess_bulk >= ess),
            ("tail ESS", self.ess_tail, f">= {ess}", self.worst.get("ess_tail", ""), self.ess_tail >= ess),
            ("divergences", self.divergences, "0", "", self.divergences == 0),
            ("E-BFMI", self.e_bfmi, f">= {SMALLEST_E_BFMI}", "", self.e_bfmi >= SMALLEST_E_BFMI),
        ]
        return pd.DataFrame(rows, columns=columns).set_index("check")

    def __str__(self) -> str:
        if self.exact:
            return "nothing was sampled, so there is nothing to check"
        if self.integration_error is not None:
            nodes = " x ".join(map(str, self.nodes or ()))
            return f"integrated on {nodes} nodes, error of a probability at most {self.integration_error:.1g}"
        text = (
            f"R-hat at most {self.r_hat:.3f}, effective sample size at least {self.ess_bulk:,.0f} (bulk) and "
            f"{self.ess_tail:,.0f} (tail), {self.divergences} divergences, E-BFMI at least {self.e_bfmi:.2f}"
        )
        return text + (f", tree depth saturated {self.tree_depth_saturated} times" if self.tree_depth_saturated else "")


def diagnose(
    variables: Mapping[str, NDArray[np.float64]],
    statistics: Mapping[str, NDArray[np.float64]],
    dataset_names: tuple[str, ...] = (),
) -> Diagnostics:
    """Check the draws of every parameter.

    Parameters
    ----------
    variables : mapping from name to ndarray, shape (chains, draws) or (chains, draws, q)
    statistics : mapping from name to ndarray, shape (chains, draws)
        With diverging, tree_depth and energy.
    dataset_names : tuple of str
        Names for the messages.
    """
    from arviz_stats.base import array_stats

    labels: list[str] = []
    columns = []
    for name, values in variables.items():
        columns.append(values.reshape(*values.shape[:2], -1))
        labels += (
            [f"{name}[{shown(name_of_dataset)}]" for name_of_dataset in dataset_names] if values.ndim == 3 else [name]
        )
    draws = np.concatenate(columns, axis=2)
    chains, length = draws.shape[:2]
    axes = {"chain_axis": 0, "draw_axis": 1}
    halves = draws if chains > 1 else np.stack(np.array_split(draws[0, : length - length % 2], 2))
    with np.errstate(divide="ignore", invalid="ignore"):  # a parameter that never moves
        computed = {
            "r_hat": array_stats.rhat(halves, **axes),  # of a single chain: between its halves
            "ess_bulk": array_stats.ess(draws, method="bulk", **axes),
            "ess_tail": array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **axes),
        }
        e_bfmi = float(np.min(array_stats.bfmi(statistics["energy"], **axes)))
    # A value that can't be computed is the worst that there is
    checked = {
        name: np.where(np.isnan(value), np.inf if name == "r_hat" else 0.0, value) for name, value in computed.items()
    }
    at = {name: int(np.argmax(value) if name == "r_hat" else np.argmin(value)) for name, value in checked.items()}
    worst = {name: labels[position] for name, position in at.items()}
    extreme = {name: float(value[at[name]]) for name, value in checked.items()}
    divergences = int(np.sum(statistics["diverging"]))
    failures = []
    if not extreme["r_hat"] <= LARGEST_R_HAT:
        failures.append(f"R-hat of {worst['r_hat']} is {extreme['r_hat']:.3f}, above {LARGEST_R_HAT}")
    for name, kind in (("ess_bulk", "bulk"), ("ess_tail", "tail")):
        if not extreme[name] >= SMALLEST_ESS_PER_CHAIN * chains:
            failures.append(
                f"{kind} effective sample size of {worst[name]} is {extreme[name]:.0f}, "
                f"below {SMALLEST_ESS_PER_CHAIN * chains}"
            )
    if divergences:
        failures.append(f"{divergences} of {chains * length} transitions diverged")
    if not e_bfmi >= SMALLEST_E_BFMI:
        failures.append(f"E-BFMI is {e_bfmi:.2f}, below {SMALLEST_E_BFMI}")
    return Diagnostics(
        chains=chains,
        draws=length,
        r_hat=extreme["r_hat"],
        ess_bulk=extreme["ess_bulk"],
        ess_tail=extreme["ess_tail"],
        worst=worst,
        divergences=divergences,
        tree_depth_saturated=int(np.sum(statistics["tree_depth"] >= MAX_TREE_DEPTH)),
        e_bfmi=e_bfmi,
        failures=tuple(failures),
    )


def integration_diagnostics(error: float, nodes: tuple[int, ...]) -> Diagnostics:
    """The checks of an integrated posterior: ``error`` is the largest estimated error of a probability."""
    passes = error <= LARGEST_INTEGRATION_ERROR
    failure = f"the estimated error of the integration is {error:.2g}, above {LARGEST_INTEGRATION_ERROR}"
    return replace(
        NOTHING_SAMPLED, failures=() if passes else (failure,), exact=False, integration_error=error, nodes=nodes
    )


NOTHING_SAMPLED = Diagnostics(
    chains=1, draws=1, r_hat=1.0, ess_bulk=1.0, ess_tail=1.0, worst={}, divergences=0, tree_depth_saturated=0, e_bfmi=1.0,
    failures=(), exact=True,
)  # fmt: skip
