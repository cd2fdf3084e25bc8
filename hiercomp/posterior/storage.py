"""One netCDF file for a tree of draws and the description that goes with it; never a pickle."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.errors import ResultFileError

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 1
ATTRIBUTE = "hiercomp"  # the root attribute that holds the description, as JSON


def write_tree(tree: xr.DataTree, description: dict[str, Any], path: str | Path, *, overwrite: bool) -> Path:
    """Write draws and their description to a netCDF file that ArviZ can open too.

    The file appears whole or not at all.

    Raises
    ------
    ResultFileError
        If the file exists and ``overwrite`` is False, or the folder can't be written.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ResultFileError(f"{path} exists. Choose another name, or pass overwrite=True (--force).")
    described = tree.copy()
    described.attrs[ATTRIBUTE] = json.dumps({"format": FORMAT} | description)
    try:
        with tempfile.TemporaryDirectory(prefix=".hiercomp-", dir=path.parent) as folder:
            unfinished = Path(folder) / "result.nc"
            described.to_netcdf(unfinished, engine="h5netcdf")
            os.replace(unfinished, path)
    except (OSError, ValueError) as error:
        raise ResultFileError(f"{path} can't be written: {error}.") from error
    return path


def read_tree(path: str | Path) -> tuple[xr.DataTree, dict[str, Any]]:
    """Read what `write_tree` wrote: the tree and its description.

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
        version = description.pop("format")
    except Exception as error:  # whatever a damaged file makes the netCDF library raise
        raise ResultFileError(f"{path} is not a saved result or is damaged ({type(error).__name__}).") from error
    if version != FORMAT:
        raise ResultFileError(f"{path} was written by another version of hiercomp (format {version}).")
    return tree, description
