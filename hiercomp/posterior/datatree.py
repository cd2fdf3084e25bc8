"""Draws as ArviZ keeps them, in the metric's units."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.errors import ArgumentError
from hiercomp.scores.differences import PairedDifferences

if TYPE_CHECKING:
    import arviz
    import xarray as xr

PRIOR_CHAINS, PRIOR_DRAWS = 4, 500  # of the priors, for ArviZ's plots
SCALED = ("delta0", "sigma0", "slope", "delta", "sigma")  # variables in the sampler's unit
POPULATION_PARAMETERS = ("delta0", "sigma0", "nu")
DATASET_PARAMETERS = ("delta", "sigma")  # one for each data set
#: Dimensions of the arrays in groups that ArviZ does not know: the components of mixtures, and their dictionary.
DIMENSIONS = {
    **dict.fromkeys(("weight", "atom"), ("chain", "draw", "component")),
    "allocation": ("chain", "draw", "dataset"),
    **dict.fromkeys(("centre", "scale", "prior_weight"), ("place",)),
}
STATISTIC_TYPES = {"diverging": bool, "tree_depth": int, "n_steps": int}


def in_metric_units(variables: Mapping[str, FloatArray], unit: float) -> dict[str, FloatArray]:
    """Convert draws in multiples of ``unit`` to the metric's units."""
    return {name: values * (unit if name in SCALED else 1) for name, values in variables.items()}


def data_tree(
    variables: Mapping[str, FloatArray],
    differences: PairedDifferences,
    engine: str,
    *,
    statistics: Mapping[str, FloatArray] | None = None,
    prior: Mapping[str, FloatArray] | None = None,
    others: Mapping[str, Mapping[str, NDArray[Any]]] | None = None,
) -> xr.DataTree:
    """Draws as ArviZ keeps them.

    Parameters
    ----------
    variables : mapping
        Draws of the posterior, in the metric's units.
    differences : PairedDifferences
    engine : str
        The name of the engine, for readers.
    statistics : mapping, optional
        Of the sampler.
    prior : mapping, optional
        Draws from the priors, in the metric's units.
    others : mapping from group to mapping, optional
        Arrays of further groups; `DIMENSIONS` has their dimensions.
    """
    import arviz_base
    import xarray as xr

    observed = {name: getattr(differences, name) for name in ("mean", "sum_of_squares", "n", "rho")}
    groups: dict[str, Mapping[str, Any]] = {"posterior": variables, "observed_data": observed}
    if prior is not None:
        groups["prior"] = prior
    if statistics:
        groups["sample_stats"] = {
            name: np.asarray(values).astype(STATISTIC_TYPES.get(name, float)) for name, values in statistics.items()
        }
    coordinates = {"dataset": list(differences.dataset_names)}
    dims = {name: ["dataset"] for name in ("delta", "sigma", *observed)}
    if differences.covariates is not None:
        coordinates["covariate"] = list(differences.covariates.names)
        dims["slope"] = ["covariate"]
    tree = arviz_base.from_dict(
        groups,
        coords=coordinates,
        dims=dims,
        attrs={"posterior": {"inference_library": engine}},
    )
    for added, arrays in (others or {}).items():
        tree[added] = xr.DataTree(_labelled(arrays, differences.dataset_names))
    for group in tree.children.values():
        group.attrs.pop("created_at", None)  # the same fit is to give the same file
    return tree


def _labelled(arrays: Mapping[str, NDArray[Any]], dataset_names: tuple[str, ...]) -> xr.Dataset:
    """Arrays of a group that ArviZ does not know, with numbered coordinates."""
    import xarray as xr

    dims = {name: DIMENSIONS[name] for name in arrays}
    lengths = {dim: size for name in arrays for dim, size in zip(dims[name], arrays[name].shape, strict=True)}
    coordinates = {dim: dataset_names if dim == "dataset" else np.arange(size) for dim, size in lengths.items()}
    return xr.Dataset(
        {name: (dims[name], values) for name, values in arrays.items()},
        {dim: ([dim], list(values)) for dim, values in coordinates.items()},
    )


def predictive_tree(tree: xr.DataTree, groups: Mapping[str, FloatArray]) -> xr.DataTree:
    """A copy of a tree with more groups, each with the variable ``mean`` of shape (chains, draws, q).

    ArviZ expects every observed variable to be predicted, so the others move to the group ``constant_data``.
    """
    import arviz_base
    import xarray as xr

    observed = tree["observed_data"].to_dataset()
    others = [name for name in observed.data_vars if name != "mean"]
    more = arviz_base.from_dict(
        {group: {"mean": values} for group, values in groups.items()},
        coords={"dataset": observed["dataset"].values},
        dims={"mean": ["dataset"]},
    )
    extended = tree.copy()
    for group, node in more.children.items():
        del node.attrs["created_at"]
        extended[group] = node.copy()
    extended["constant_data"] = xr.DataTree(observed[others])
    extended["observed_data"] = xr.DataTree(observed.drop_vars(others))
    return extended


def inference_data(tree: xr.DataTree) -> arviz.InferenceData:
    """The groups of a tree in the class that ArviZ had before version 1.

    Raises
    ------
    ArgumentError
        If ArviZ is newer, or absent.
    """
    try:
        installed = version("arviz")
    except PackageNotFoundError:
        raise ArgumentError("InferenceData is ArviZ's, which is not installed: pip install 'arviz<1'.") from None
    if int(installed.split(".")[0]) >= 1:
        raise ArgumentError(f"ArviZ {installed} has no InferenceData.", remedy="Its functions take result.datatree.")
    import arviz

    groups = {name: group.to_dataset() for name, group in tree.children.items()}
    return arviz.InferenceData(attrs=tree.attrs, **groups)


def group_arrays(tree: xr.DataTree, group: str) -> dict[str, FloatArray]:
    """The arrays of a group of a tree, by name."""
    return {str(name): np.asarray(values.values) for name, values in tree[group].dataset.data_vars.items()}


def variable(variables: Mapping[str, FloatArray], name: str) -> FloatArray:
    """Draws of a parameter, shape (chains, draws) or (chains, draws, q); read-only. Draws of nu are infinite for a
    Gaussian.

    Raises
    ------
    ArgumentError
        If there are none, for instance of delta if only the population's draws were kept.
    """
    if name == "nu" and name not in variables:
        return np.full(variables["delta0"].shape, np.inf)
    if name not in variables:
        raise ArgumentError(
            f"There are no draws of {name!r}; there are {', '.join(variables)}.",
            remedy="Only the population's draws were kept; fit with keep='all'." if name in DATASET_PARAMETERS else "",
        )
    values = variables[name].view()
    values.flags.writeable = False
    return values
