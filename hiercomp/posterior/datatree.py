"""Draws as ArviZ keeps them, in the metric's units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.engines import Draws, engine_words
from hiercomp.errors import ArgumentError
from hiercomp.scores.differences import PairedDifferences

if TYPE_CHECKING:
    import xarray as xr

PRIOR_CHAINS, PRIOR_DRAWS = 4, 500  # of the priors, for ArviZ's plots
SCALED = ("delta0", "sigma0", "delta", "sigma")  # variables in the sampler's unit


def data_tree(
    draws: Draws, differences: PairedDifferences, unit: float, prior: Mapping[str, FloatArray] | None = None
) -> xr.DataTree:
    """The draws in the metric's units, as ArviZ keeps them.

    Parameters
    ----------
    draws : Draws
        In multiples of ``unit``.
    differences : PairedDifferences
    unit : float
        In the metric's units.
    prior : mapping, optional
        Draws from the priors, in multiples of ``unit``.
    """
    import arviz_base

    statistics = {name: np.asarray(values) for name, values in draws.statistics.items()}
    for name, kind in (("diverging", bool), ("tree_depth", int), ("n_steps", int)):
        if name in statistics:
            statistics[name] = statistics[name].astype(kind)
    variables = {name: values * (unit if name in SCALED else 1) for name, values in draws.variables.items()}
    observed = {name: getattr(differences, name) for name in ("mean", "sum_of_squares", "n", "rho")}
    groups = {"posterior": variables, "observed_data": observed}
    if prior is not None:
        groups["prior"] = {name: values * (unit if name in SCALED else 1) for name, values in prior.items()}
    tree = arviz_base.from_dict(
        groups | ({"sample_stats": statistics} if statistics else {}),
        coords={"dataset": list(differences.dataset_names)},
        dims={name: ["dataset"] for name in ("delta", "sigma", *observed)},
        attrs={"posterior": {"inference_library": engine_words(draws.engine_name, draws.engine_version)}},
    )
    for group in tree.children.values():
        del group.attrs["created_at"]  # the same fit is to give the same file
    return tree


def variable(tree: xr.DataTree, name: str) -> FloatArray:
    """Draws of a parameter, shape (chains, draws) or (chains, draws, q); read-only. Those of nu are infinite for a Gaussian.

    Raises
    ------
    ArgumentError
        If there are none, such as of delta where only the population's were kept.
    """
    group = tree["posterior"].dataset
    if name == "nu" and name not in group:
        return np.full(group["delta0"].shape, np.inf)
    if name not in group:
        population_only = name in ("delta", "sigma")
        raise ArgumentError(
            f"There are no draws of {name!r}; there are {', '.join(map(str, group))}.",
            remedy="Only the population's draws were kept; fit with keep='all'." if population_only else "",
        )
    values = np.asarray(group[name].values).view()
    values.flags.writeable = False
    return values
