"""A fit as plain values, as a netCDF file that ArviZ can also open, and as bytes; never a pickle."""

from __future__ import annotations

import io
import json
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hiercomp import errors
from hiercomp.engines import SamplerSettings
from hiercomp.errors import Note, ResultFileError
from hiercomp.model.priors import Priors
from hiercomp.outputs import check_ending, output_path, written_whole
from hiercomp.posterior.description import LARGEST, check_description, parsed
from hiercomp.posterior.fit import Fit
from hiercomp.posterior.kinds import Exact, Integrated, Posterior, Sampled, Verified
from hiercomp.posterior.mixed import Mixed
from hiercomp.posterior.netcdf import ATTRIBUTE, FORMAT, check_tree, read_description, read_tree, sealed, unsealed
from hiercomp.posterior.regressed import Regressed
from hiercomp.rope import Rope
from hiercomp.scores.covariates import Covariates
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.runs import RunSums
from hiercomp.scores.two_level import TwoLevel
from hiercomp.wording import shown

if TYPE_CHECKING:
    import xarray as xr

HDF5 = b"\x89HDF"  # how a netCDF file begins
# Parts of differences that may be absent
PARTS: dict[str, Any] = {"covariates": Covariates, "runs": RunSums, "two_level": TwoLevel}


def save_fit(fit: Fit, path: str | Path, *, overwrite: bool) -> Path:
    """Write a fit with its draws to a netCDF file, whole or not at all.

    Raises
    ------
    ResultFileError
        If the name does not end in .nc, the file exists and ``overwrite`` is False, or it can't be written.
    """
    check_ending(path, "result")
    output_path(path, overwrite=overwrite)  # before the draws, which an integral makes only now
    content = _netcdf(fit, path)
    with written_whole(path, overwrite=overwrite) as stream:
        stream.write(content)
    return Path(path)


def _netcdf(fit: Fit, path: str | Path) -> bytes:
    """The content of a fit's netCDF file, made in memory: HDF5 ends the whole process if a disk is full."""
    described = _described(fit, path)
    try:
        return sealed(described.to_netcdf(engine="h5netcdf"))
    except ValueError as error:  # a name that netCDF can't hold
        raise ResultFileError(f"{shown(path)} can't be written: {error}.") from error


def _described(fit: Fit, path: str | Path) -> xr.DataTree:
    """The draws, and the rest as an attribute."""
    tree = fit.datatree.copy()
    tree.attrs.clear()
    description = plain_values(fit)
    try:
        check_description(json.loads(json.dumps(description)))
        check_tree(tree)
    except ValueError as error:  # such as a name with NUL, or an array that a caller added
        raise ResultFileError(f"{shown(path)} can't be written: {error}.") from error
    tree.attrs[ATTRIBUTE] = json.dumps(description)
    return tree


def load_fit(path: str | Path) -> Fit:
    """Read a file written by `save_fit`; nothing else is read or run, and what it holds is checked (see SECURITY.md).

    Raises
    ------
    ResultFileError
        If there is no such file, or it is damaged or not a saved result.
    """
    path = Path(path)
    if not path.is_file():
        raise ResultFileError(f"{shown(path)} is not a file.")
    try:
        with path.open("rb") as stream:
            return _read(stream, shown(path))
    except OSError as error:
        raise ResultFileError(f"{shown(path)} can't be read: {error.strerror}.") from error


def _read(stream: BinaryIO, name: str) -> Fit:
    """A fit from a netCDF file; ``name`` is for messages."""
    import h5py

    try:
        version, netcdf = unsealed(stream)
        if version == FORMAT:
            with h5py.File(io.BytesIO(netcdf), "r") as opened:
                plain = read_description(opened)
                check_description(plain)
                tree = read_tree(opened, _names(plain["differences"]), len(netcdf))
                _check_draws(plain, tree)
            return from_plain_values(plain, tree)
    except Exception as error:  # whatever a damaged file makes the HDF5 library raise
        why = shown(error)[:100] if type(error) is ValueError else type(error).__name__
        raise ResultFileError(f"{name} is not a saved result or is damaged ({why}).") from error
    raise ResultFileError(
        f"{name} was written by another version of hiercomp (format {version}; this one reads {FORMAT}).",
        remedy="Fit and save it again.",
    )


def _check_draws(plain: dict[str, Any], tree: xr.DataTree) -> None:
    """Refuse draws without the degrees of freedom that the population has, and scales that are not positive."""
    if plain["posterior"]["kind"] == Exact.kind:
        return
    drawn = tree["posterior"]
    if plain["priors"]["population"] == "student_t" and "nu" not in drawn:
        raise ValueError("the draws of nu are missing")
    for name in {"sigma0", "nu", "sigma"} & set(drawn.data_vars):
        if not (drawn[name] > 0).all():
            raise ValueError(f"draws of {name} that are not positive")


def fit_to_bytes(fit: Fit) -> bytes:
    """The netCDF file of a fit with its draws; compressed JSON if the draws can be made again."""
    if fit.posterior.remakes_draws:
        return zlib.compress(json.dumps(plain_values(fit)).encode())
    return _netcdf(fit, "The fit")


def fit_from_bytes(content: bytes) -> Fit:
    """From the result of `fit_to_bytes`.

    Raises
    ------
    ResultFileError
        If it is anything else.
    """
    if content.startswith(HDF5):
        return _read(io.BytesIO(content), "A stored fit")
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(content, LARGEST + 1)
        if not unpacking.eof:
            raise ValueError("it is cut short, or too large")
        plain = parsed(text)
        check_description(plain)
        return from_plain_values(plain, None)
    except Exception as error:  # whatever damaged content raises
        raise ResultFileError(f"A stored fit is damaged ({type(error).__name__}).") from error


def plain_values(fit: Fit) -> dict[str, Any]:
    """Everything but the draws and the single scores, ready for JSON."""
    differences = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(fit.differences).items()
        if name not in ("notes", "scores", *PARTS) and not (name == "counts" and value is None)
    }
    for name in PARTS:
        if (held := getattr(fit.differences, name)) is not None:
            differences[name] = held.to_dict()
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
    for name in ("median_score", "score_mean", "score_standard_deviation", "ropes"):
        if fields.get(name) is not None:
            arrays[name] = np.array(fields[name], dtype=float)
    for name in ("n_scores", "crossed", "counts"):
        if fields.get(name) is not None:
            arrays[name] = np.array(fields[name], dtype=int)
    named: dict[str, Any] = {"dataset_names": tuple(fields["dataset_names"]), "notes": _notes(fields["notes"])}
    named |= {name: kind.from_dict(fields[name]) for name, kind in PARTS.items() if name in fields}
    differences = PairedDifferences(**(fields | arrays | named))
    return Fit(
        differences=differences,
        rope=Rope(**plain["rope"]),
        priors=Priors(**plain["priors"]),
        posterior=posterior_from(plain["posterior"], differences, tree),
        fit_notes=_notes(plain["fit_notes"]),
    )


def posterior_from(plain: dict[str, Any], differences: PairedDifferences, datatree: xr.DataTree | None) -> Posterior:
    """A posterior from the result of its ``to_dict``, and its draws if they were kept."""
    if plain["kind"] == Integrated.kind:
        return Integrated.from_dict(plain, differences, datatree)
    if plain["kind"] == Exact.kind:
        return Exact(differences, SamplerSettings(**plain["settings"]))
    if datatree is None:
        raise ValueError("the draws of a sampled posterior are missing")
    kinds: tuple[type[Sampled | Verified | Mixed], ...] = (Sampled, Regressed, Verified, Mixed)
    return next(kind for kind in kinds if kind.kind == plain["kind"]).from_dict(plain, differences, datatree)


def _names(differences: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """The names that coordinates of arrays may have."""
    covariates = differences.get("covariates", {"names": []})
    return {"dataset": tuple(differences["dataset_names"]), "covariate": tuple(covariates["names"])}


def _plain_notes(notes: tuple[Note, ...]) -> list[dict[str, Any]]:
    kept = ("message", "remedy", "key", "quiet")
    return [
        {"category": note.category.__name__, "places": list(note.places)} | {name: getattr(note, name) for name in kept}
        for note in notes
    ]


def _notes(plain: list[dict[str, Any]]) -> tuple[Note, ...]:
    return tuple(_note(**fields) for fields in plain)


def _note(category: str, message: str, remedy: str, places: list[str], key: str, quiet: bool) -> Note:
    return Note(getattr(errors, category), message, remedy=remedy, places=tuple(places), key=key, quiet=quiet)
