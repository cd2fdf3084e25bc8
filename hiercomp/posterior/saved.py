"""A result as plain values and a file, and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp import errors
from hiercomp.engines import SamplerSettings
from hiercomp.errors import Note
from hiercomp.model.priors import Priors
from hiercomp.posterior.diagnostics import Diagnostics
from hiercomp.posterior.fit import Attempt
from hiercomp.posterior.integrated import IntegratedPosterior
from hiercomp.posterior.result import ComparisonResult
from hiercomp.posterior.storage import read_tree, write_tree
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences

if TYPE_CHECKING:
    import xarray as xr


def save_result(result: ComparisonResult, path: str | Path, *, overwrite: bool) -> Path:
    """Write a result; see `ComparisonResult.save`."""
    return write_tree(result.datatree, plain_values(result), path, overwrite=overwrite)


def load_result(path: str | Path) -> ComparisonResult:
    """Read a result that `ComparisonResult.save` wrote.

    Parameters
    ----------
    path : str or Path
        A netCDF file.

    Returns
    -------
    ComparisonResult
        Equal to the saved one, but without the single scores, which the file does not hold.

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
    tree, plain = read_tree(path)
    return from_plain_values(plain, tree)


def plain_values(result: ComparisonResult) -> dict[str, Any]:
    """Everything but the draws, ready for JSON."""
    differences = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(result.differences).items()
        if name not in ("notes", "scores")
    }
    return {
        "differences": differences | {"notes": _plain_notes(result.differences.notes)},
        "rope": asdict(result.rope),
        "priors": result.priors.to_dict(),
        "diagnostics": asdict(result.diagnostics),
        "engine_name": result.engine_name,
        "engine_version": result.engine_version,
        "settings": asdict(result.settings),
        "attempts": [asdict(attempt) for attempt in result.attempts],
        "fit_notes": _plain_notes(result.fit_notes),
        "keep": result.keep,
        "integrated": None if result.integrated is None else result.integrated.to_dict(),
    }


def from_plain_values(plain: dict[str, Any], tree: xr.DataTree | None) -> ComparisonResult:
    """A result from what `plain_values` gave and its draws; an integrated one makes its draws itself."""
    fields = plain["differences"]
    kinds = {"mean": float, "sum_of_squares": float, "rho": float, "lowest_score": float, "highest_score": float}
    arrays = {name: np.array(fields[name], dtype=kind) for name, kind in (kinds | {"n": int, "constant": bool}).items()}
    integrated = plain.get("integrated")
    named = {"dataset_names": tuple(fields["dataset_names"]), "notes": _notes(fields["notes"])}
    return ComparisonResult(
        differences=PairedDifferences(**(fields | arrays | named)),
        rope=Rope(**plain["rope"]),
        priors=Priors(**plain["priors"]),
        tree=tree,
        diagnostics=_diagnostics(plain["diagnostics"]),
        engine_name=plain["engine_name"],
        engine_version=plain["engine_version"],
        settings=SamplerSettings(**plain["settings"]),
        attempts=tuple(Attempt(**_with_tuple(attempt)) for attempt in plain["attempts"]),
        fit_notes=_notes(plain["fit_notes"]),
        integrated=None if integrated is None else IntegratedPosterior.from_dict(integrated),
        keep=plain.get("keep", "all"),
    )


def _diagnostics(fields: dict[str, Any]) -> Diagnostics:
    nodes = fields.get("nodes")
    return Diagnostics(**(_with_tuple(fields) | {"nodes": None if nodes is None else tuple(nodes)}))


def _with_tuple(fields: dict[str, Any]) -> dict[str, Any]:
    """Failures as the tuple that they were before JSON made a list of them."""
    return fields | {"failures": tuple(fields["failures"])}


def _plain_notes(notes: tuple[Note, ...]) -> list[list[str]]:
    return [[note.category.__name__, note.message] for note in notes]


def _notes(plain: list[list[str]]) -> tuple[Note, ...]:
    return tuple(Note(getattr(errors, name, errors.HiercompWarning), message) for name, message in plain)
