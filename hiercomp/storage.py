"""Saving a result to netCDF and loading it: an exact round trip, and never a pickle."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import hiercomp.errors
from hiercomp.diagnostics import Diagnostics
from hiercomp.differences import PairedDifferences
from hiercomp.engines import SamplerSettings
from hiercomp.errors import HiercompWarning, Note, ResultFileError
from hiercomp.fitting import Attempt
from hiercomp.priors import Priors
from hiercomp.result import ComparisonResult
from hiercomp.rope import Rope

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 1
ATTRIBUTE = "hiercomp"  # the root attribute that holds everything but the draws, as JSON


def save_result(result: ComparisonResult, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a result to a netCDF file that ArviZ can open too; the file appears whole or not at all.

    Raises
    ------
    ResultFileError
        If the file exists and ``overwrite`` is False, or the folder can't be written.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ResultFileError(f"{path} exists. Choose another name, or pass overwrite=True (--force).")
    tree = result.posterior.copy()
    tree.attrs[ATTRIBUTE] = json.dumps(_description(result))
    try:
        with tempfile.TemporaryDirectory(prefix=".hiercomp-", dir=path.parent) as folder:
            unfinished = Path(folder) / "result.nc"
            tree.to_netcdf(unfinished, engine="h5netcdf")
            os.replace(unfinished, path)
    except (OSError, ValueError) as error:  # ValueError: a name that netCDF can't hold
        raise ResultFileError(f"{path} can't be written: {getattr(error, 'strerror', None) or error}.") from error
    return path


def load_result(path: str | Path) -> ComparisonResult:
    """Read a result that `ComparisonResult.save` wrote.

    Raises
    ------
    ResultFileError
        If there is no such file, or it is damaged or not a saved result.
    """
    import xarray as xr

    path = Path(path)
    if not path.is_file():
        raise ResultFileError(f"{path} is not a file.")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as opened:
            tree = opened.load()
        description = json.loads(tree.attrs.pop(ATTRIBUTE))
        if description["format"] != FORMAT:
            raise ResultFileError(
                f"{path} was written by another version of hiercomp (format {description['format']})."
            )
        return _result(tree, description)
    except ResultFileError:
        raise
    except Exception as error:  # whatever a damaged file makes the netCDF library raise
        raise ResultFileError(f"{path} is not a saved result or is damaged ({type(error).__name__}).") from error


def _description(result: ComparisonResult) -> dict[str, Any]:
    differences = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(result.differences).items()
        if name != "notes"
    }
    return {
        "format": FORMAT,
        "differences": differences,
        "differences_notes": _plain_notes(result.differences.notes),
        "rope": asdict(result.rope),
        "priors": result.priors.to_dict(),
        "diagnostics": asdict(result.diagnostics),
        "engine": result.engine,
        "settings": asdict(result.settings),
        "attempts": [asdict(attempt) for attempt in result.attempts],
        "fit_notes": _plain_notes(result.fit_notes),
    }


def _result(tree: xr.DataTree, description: dict[str, Any]) -> ComparisonResult:
    fields = dict(description["differences"])
    for name in ("mean", "sum_of_squares", "rho", "lowest_score", "highest_score"):
        fields[name] = np.array(fields[name], dtype=float)
    fields["n"] = np.array(fields["n"], dtype=int)
    fields["constant"] = np.array(fields["constant"], dtype=bool)
    fields["datasets"] = tuple(fields["datasets"])
    differences = PairedDifferences(**fields, notes=_notes(description["differences_notes"]))
    attempts = tuple(Attempt(**_with_tuple(attempt)) for attempt in description["attempts"])
    return ComparisonResult(
        differences=differences,
        rope=Rope(**description["rope"]),
        priors=Priors(**description["priors"]),
        posterior=tree,
        diagnostics=Diagnostics(**_with_tuple(description["diagnostics"])),
        engine=description["engine"],
        settings=SamplerSettings(**description["settings"]),
        attempts=attempts,
        fit_notes=_notes(description["fit_notes"]),
    )


def _with_tuple(fields: dict[str, Any]) -> dict[str, Any]:
    """Failures as the tuple that they were before JSON made a list of them."""
    return fields | {"failures": tuple(fields["failures"])}


def _plain_notes(notes: tuple[Note, ...]) -> list[list[str]]:
    return [[note.category.__name__, note.message] for note in notes]


def _notes(plain: list[list[str]]) -> tuple[Note, ...]:
    return tuple(Note(getattr(hiercomp.errors, name, HiercompWarning), message) for name, message in plain)
