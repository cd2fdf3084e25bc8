"""A fit as plain values, as a netCDF file that ArviZ can also open, and as bytes; never a pickle."""

from __future__ import annotations

import json
import tempfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp import errors
from hiercomp.errors import Note, ResultFileError
from hiercomp.model.priors import Priors
from hiercomp.outputs import check_ending, output_path, written_whole
from hiercomp.posterior.fit import Fit
from hiercomp.posterior.kinds import posterior_from
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import shown

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 2
ATTRIBUTE = "hiercomp"  # the root attribute that holds everything but the draws, as JSON
HDF5 = b"\x89HDF"  # how a netCDF file begins


def save_fit(fit: Fit, path: str | Path, *, overwrite: bool) -> Path:
    """Write a fit with its draws to a netCDF file, whole or not at all.

    Raises
    ------
    ResultFileError
        If the name does not end in .nc, the file exists and ``overwrite`` is False, or it can't be written.
    """
    check_ending(path, "result")
    output_path(path, overwrite=overwrite)  # before the draws, which an integral makes only now
    try:
        content = _netcdf(fit)
    except ValueError as error:  # a name that netCDF can't hold
        raise ResultFileError(f"{shown(path)} can't be written: {error}.") from error
    with written_whole(path, overwrite=overwrite) as stream:
        stream.write(content)
    return Path(path)


def _netcdf(fit: Fit) -> memoryview:
    """The content of a fit's netCDF file, made in memory: HDF5 ends the whole process if a disk is full."""
    tree = fit.datatree.copy()
    tree.attrs[ATTRIBUTE] = json.dumps({"format": FORMAT} | plain_values(fit))
    return tree.to_netcdf(engine="h5netcdf")


def load_fit(path: str | Path) -> Fit:
    """Read a file written by `save_fit`.

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
        plain = json.loads(tree.attrs.pop(ATTRIBUTE))
        version = plain.pop("format")
        fit = from_plain_values(plain, tree) if version == FORMAT else None
    except Exception as error:  # whatever a damaged file makes the netCDF library raise
        raise ResultFileError(f"{path} is not a saved result or is damaged ({type(error).__name__}).") from error
    if fit is None:
        raise ResultFileError(f"{path} was written by another version of hiercomp (format {version}).")
    return fit


def fit_to_bytes(fit: Fit) -> bytes:
    """The netCDF file of a fit with its draws; compressed JSON if the draws can be made again."""
    if fit.posterior.remakes_draws:
        return zlib.compress(json.dumps(plain_values(fit)).encode())
    return bytes(_netcdf(fit))


def fit_from_bytes(content: bytes) -> Fit:
    """From the result of `fit_to_bytes`."""
    if not content.startswith(HDF5):
        return from_plain_values(json.loads(zlib.decompress(content)), None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.nc"
        path.write_bytes(content)
        return load_fit(path)


def plain_values(fit: Fit) -> dict[str, Any]:
    """Everything but the draws and the single scores, ready for JSON."""
    differences = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(fit.differences).items()
        if name not in ("notes", "scores")
    }
    return {
        "differences": differences | {"notes": _plain_notes(fit.differences.notes)},
        "rope": asdict(fit.rope),
        "priors": fit.priors.to_dict(),
        "posterior": fit.posterior.to_dict(),
        "fit_notes": _plain_notes(fit.fit_notes),
    }


def from_plain_values(plain: dict[str, Any], tree: xr.DataTree | None) -> Fit:
    """A fit from the result of `plain_values` and its draws; without them if the posterior makes its own draws."""
    fields = plain["differences"]
    kinds = {"mean": float, "sum_of_squares": float, "rho": float, "lowest_score": float, "highest_score": float}
    arrays = {name: np.array(fields[name], dtype=kind) for name, kind in (kinds | {"n": int, "constant": bool}).items()}
    for name in ("median_score", "score_mean", "score_standard_deviation"):  # absent in files of earlier versions
        if fields.get(name) is not None:
            arrays[name] = np.array(fields[name], dtype=float)
    named = {"dataset_names": tuple(fields["dataset_names"]), "notes": _notes(fields["notes"])}
    differences = PairedDifferences(**(fields | arrays | named))
    return Fit(
        differences=differences,
        rope=Rope(**plain["rope"]),
        priors=Priors(**plain["priors"]),
        posterior=posterior_from(plain["posterior"], differences, tree),
        fit_notes=_notes(plain["fit_notes"]),
    )


def _plain_notes(notes: tuple[Note, ...]) -> list[dict[str, Any]]:
    kept = ("message", "remedy", "key", "quiet")
    return [
        {"category": note.category.__name__, "places": list(note.places)} | {name: getattr(note, name) for name in kept}
        for note in notes
    ]


def _notes(plain: list[dict[str, Any]]) -> tuple[Note, ...]:
    return tuple(_note(**fields) for fields in plain)


def _note(category: str, message: str, remedy: str, places: list[str], key: str, quiet: bool = False) -> Note:
    kind = getattr(errors, category, errors.HiercompWarning)
    return Note(kind, message, remedy=remedy, places=tuple(places), key=key, quiet=quiet)
