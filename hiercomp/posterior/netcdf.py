"""The netCDF file of a fit: its checksum, and reading it by a list of the groups, arrays and attributes that it may hold.

The checksum follows the netCDF content, where HDF5 and ArviZ ignore it, and is compared before HDF5 sees the file:
one changed byte can keep HDF5 busy forever. A file may also come from a stranger, with a valid checksum. Links, external and
virtual storage and filters are refused before anything is read, and no array is larger than what is stored in the file. The
names of data sets are compared, one at a time, with those of the description, and are not taken from the file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from os import SEEK_END
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from hiercomp.engines.base import STATISTIC_NAMES
from hiercomp.posterior.datatree import DIMENSIONS
from hiercomp.posterior.description import parsed

if TYPE_CHECKING:
    import h5py
    import xarray as xr

ATTRIBUTE = "hiercomp"  # the root attribute that holds everything but the draws, as JSON
FORMAT = 4
SEAL = b"\nhiercomp result, format %d, SHA-256 %s\n"  # after the netCDF content
SEALED = re.compile(rb"\nhiercomp result, format (\d{1,6}), SHA-256 ([0-9a-f]{64})\n\Z")
LONGEST_SEAL = 120  # bytes

Dims = tuple[str, ...]
DRAWS: Dims = ("chain", "draw")
POPULATION: dict[str, Dims] = dict.fromkeys(("delta0", "sigma0", "nu", "alpha", "beta", "concentration"), DRAWS)
SLOPE: dict[str, Dims] = {"slope": (*DRAWS, "covariate")}
COORDINATES = ("chain", "draw", "dataset", "covariate", "component", "place")
NAMED = ("dataset", "covariate")  # coordinates that are names; the others count from 0
#: Variables that each group may hold, and their dimensions.
GROUPS: dict[str, dict[str, Dims]] = {
    "posterior": POPULATION | SLOPE | dict.fromkeys(("delta", "sigma"), (*DRAWS, "dataset")),
    "observed_data": dict.fromkeys(("mean", "sum_of_squares", "n", "rho"), ("dataset",)),
    "prior": POPULATION | SLOPE,
    "sample_stats": dict.fromkeys(STATISTIC_NAMES.values(), DRAWS),
    "components": {name: DIMENSIONS[name] for name in ("weight", "atom", "allocation")},
    "dictionary": {name: DIMENSIONS[name] for name in ("centre", "scale", "prior_weight")},
}
NEEDED = {
    "posterior": {"delta0", "sigma0"},
    "observed_data": {"mean", "sum_of_squares", "n", "rho"},
    "components": {"weight", "atom", "allocation"},
    "dictionary": {"centre", "scale", "prior_weight"},
}
# Variables of whole numbers
WHOLE = {"n", "tree_depth", "n_steps", "atom", "allocation", "chain", "draw", "component", "place"}
TRUE_OR_FALSE = {"diverging"}
#: Attributes by what has them; of those of arrays netCDF itself needs all but "dtype".
ROOT_ATTRIBUTES = {ATTRIBUTE, "_NCProperties"}
GROUP_ATTRIBUTES = {
    *("creation_library", "creation_library_version", "creation_library_language"),
    *("inference_library", "inference_library_version"),
    "sample_dims",  # a list, by ArviZ 1
}
ARRAY_ATTRIBUTES = {
    "CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_FillValue", "dtype",
}  # fmt: skip
LONGEST_ATTRIBUTE = 1000  # characters
REFERENCE = 16  # bytes in place of a text, which stands elsewhere in the file


def sealed(content: memoryview) -> bytes:
    """The content of a netCDF file, and after it the format of hiercomp's files and the SHA-256 of the content."""
    return content.tobytes() + SEAL % (FORMAT, hashlib.sha256(content).hexdigest().encode())


def unsealed(stream: BinaryIO) -> tuple[int, bytes]:
    """The format of a file made by `sealed`, and its netCDF content; that of another format is not compared with a checksum.

    Raises
    ------
    ValueError
        If the checksum is missing or differs.
    """
    end = max(0, stream.seek(0, SEEK_END) - LONGEST_SEAL)
    stream.seek(end)
    seal = SEALED.search(stream.read())
    if seal is None:
        raise ValueError("its checksum is missing")
    stream.seek(0)
    version, total, netcdf = int(seal[1]), seal[2], stream.read(end + seal.start())
    if version == FORMAT and hashlib.sha256(netcdf).hexdigest().encode() != total:
        raise ValueError("its checksum differs")
    return version, netcdf


def check_tree(tree: xr.DataTree) -> None:
    """Refuse draws that could not be read again.

    Raises
    ------
    ValueError
        If the tree holds anything that is not in `GROUPS`.
    """
    for group in tree.children:
        if group not in GROUPS or tree[group].children:
            raise ValueError(f"a group {group!r}")
        for name, variable in tree[group].dataset.variables.items():
            _check_variable(group, str(name), variable.dims)


def read_description(file: h5py.File) -> dict[str, Any]:
    """The description in a file, without what else it holds.

    Raises
    ------
    ValueError, KeyError
        If there is none, or it is no text.
    """
    import h5py

    found = file.attrs.get_id(ATTRIBUTE)
    text = h5py.check_string_dtype(found.dtype)
    if found.shape != () or text is None or text.length is not None:
        raise ValueError("a description that is no text")
    return parsed(file.attrs[ATTRIBUTE])


def read_tree(file: h5py.File, names: Mapping[str, tuple[str, ...]], size: int) -> xr.DataTree:
    """The draws in a file.

    Parameters
    ----------
    file : h5py.File
    names : mapping from coordinate to tuple of str
        Of data sets and of covariates, as the description has them.
    size : int
        Bytes of the file, which no array can exceed.

    Raises
    ------
    ValueError
        If it holds anything that hiercomp does not write.
    """
    import h5py
    import xarray as xr

    _check_attributes(file, ROOT_ATTRIBUTES)
    groups = {}
    for group, found in _members(file["/"], len(GROUPS), h5py.Group):
        if group not in GROUPS:
            raise ValueError("a group that hiercomp does not write")
        attributes = _group_attributes(found)
        arrays: dict[str, tuple[Dims, NDArray[Any]]] = {}
        coordinates: dict[str, tuple[Dims, NDArray[Any]]] = {}
        left = size
        for name, array in _members(found, len(GROUPS[group]) + len(COORDINATES), h5py.Dataset):
            dims = (name,) if name in COORDINATES else GROUPS[group].get(name, ())
            _check_variable(group, name, dims)
            _check_storage(array, name, dims, size)
            left -= array.size * array.dtype.itemsize
            if left < 0:
                raise ValueError("arrays that are larger than the file")
            if name in NAMED:
                _check_names(array, names[name])
                values = np.array(names[name])
            else:
                values = array[...]
                values = values.astype(bool) if name in TRUE_OR_FALSE else values
            (coordinates if dims == (name,) else arrays)[name] = (dims, values)
        lengths = {name: values for name, (_, values) in coordinates.items()}
        _check_lengths(group, arrays, lengths)
        groups[group] = xr.Dataset(arrays, coordinates, attributes)
    if not {"posterior", "observed_data"} <= set(groups):
        raise ValueError("no draws")
    return xr.DataTree.from_dict(groups)


def _members(parent: h5py.Group, most: int, kind: type) -> Iterator[tuple[str, Any]]:
    """What a group holds, in the order in which it was written; anything but a hard link to what is expected is refused."""
    import h5py

    if len(parent) > most:
        raise ValueError("more than hiercomp writes")
    names: list[bytes] = []
    order = parent.id.get_create_plist().get_link_creation_order()
    parent.id.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER if order else h5py.h5.INDEX_NAME)
    for name in (name.decode() for name in names):
        if not isinstance(parent.get(name, getlink=True), h5py.HardLink):
            raise ValueError("a link to something else")
        found = parent[name]
        if type(found) is not kind:
            raise ValueError("a group or an array where the other belongs")
        yield name, found


def _check_variable(group: str, name: str, dims: tuple[Any, ...]) -> None:
    """Refuse an array that hiercomp does not write there, or that has other dimensions."""
    needed = {name} if name in COORDINATES else set(GROUPS[group].get(name, ()))
    if not needed or set(dims) != needed:
        raise ValueError(f"an array {group}/{name} of dimensions {dims}")


def _check_attributes(found: h5py.Group | h5py.Dataset, allowed: set[str]) -> None:
    if len(found.attrs) > len(allowed) or not set(found.attrs) <= allowed:
        raise ValueError("attributes that hiercomp does not write")


def _plain(value: Any) -> str | list[str]:
    """An attribute of a group: text, or a list of texts."""
    return value if isinstance(value, str) else [str(part) for part in value]


def _group_attributes(found: h5py.Group) -> dict[str, str | list[str]]:
    import h5py

    _check_attributes(found, GROUP_ATTRIBUTES)
    read: dict[str, str | list[str]] = {}
    for name in found.attrs:
        kind = found.attrs.get_id(name)
        if name == "sample_dims":
            if len(kind.shape) != 1 or kind.shape[0] > len(DRAWS):
                raise ValueError("an attribute of another shape")
            read[name] = [part for part in DRAWS if part in _plain(found.attrs[name])]
            continue
        if kind.shape != () or h5py.check_string_dtype(kind.dtype) is None:
            raise ValueError("an attribute that is no text")
        text = str(found.attrs[name])
        if len(text) > LONGEST_ATTRIBUTE or not text.isprintable():
            raise ValueError("an attribute of other text")
        read[name] = text
    return read


def _check_storage(array: h5py.Dataset, name: str, dims: Dims, size: int) -> None:
    """Refuse an array of another type, or one that is not stored as a whole in this file."""
    from h5py import h5d, h5t

    _check_attributes(array, ARRAY_ATTRIBUTES)
    kinds = (
        (h5t.STD_I64LE, h5t.STD_I32LE)
        if name in WHOLE
        else (h5t.STD_I8LE,)
        if name in TRUE_OR_FALSE
        else (h5t.IEEE_F64LE,)
    )
    stored, plan = array.id.get_type(), array.id.get_create_plist()
    if name in NAMED:
        right = isinstance(stored, h5t.TypeStringID) and stored.is_variable_str()
    else:
        right = any(stored.equal(kind) for kind in kinds)
    if not right or array.ndim != len(dims) or array.shape is None:
        raise ValueError("an array of another type or shape")
    whole = plan.get_layout() == h5d.CONTIGUOUS and not plan.get_external_count() and not plan.get_nfilters()
    offset, bytes_stored = array.id.get_offset(), array.id.get_storage_size()
    expected = array.size * (REFERENCE if name in NAMED else stored.get_size())
    if not whole or offset is None or bytes_stored != expected or offset + bytes_stored > size:
        raise ValueError("an array that is not stored in the file")
    if "_FillValue" in array.attrs:
        fill = array.attrs.get_id("_FillValue")
        if (
            fill.shape not in ((), (1,))
            or fill.dtype != np.dtype("<f8")
            or not np.isnan(array.attrs["_FillValue"]).all()
        ):
            raise ValueError("a fill value that hiercomp does not write")
    if "dtype" in array.attrs and name not in TRUE_OR_FALSE:
        raise ValueError("an attribute that hiercomp does not write")


def _check_names(array: h5py.Dataset, names: tuple[str, ...]) -> None:
    """Compare names one at a time: many could refer to the same long text."""
    if array.shape != (len(names),):
        raise ValueError("another number of data sets or covariates")
    for place, name in enumerate(names):
        if array[place] != name.encode():
            raise ValueError("other names of data sets or covariates")


def _check_lengths(
    group: str, arrays: Mapping[str, tuple[Dims, NDArray[Any]]], coordinates: Mapping[str, NDArray[Any]]
) -> None:
    """Refuse arrays of different lengths, or a group that lacks some."""
    if not NEEDED.get(group, set()) <= set(arrays):
        raise ValueError("arrays are missing")
    if any(
        not np.array_equal(coordinates[name], range(len(coordinates[name])))
        for name in coordinates
        if name not in NAMED
    ):
        raise ValueError("chains or draws that are not numbered from 0")
    for dims, values in arrays.values():
        if not set(dims) <= set(coordinates) or values.shape != tuple(len(coordinates[name]) for name in dims):
            raise ValueError("arrays of different lengths")
        if group == "posterior" and not np.isfinite(values).all():
            raise ValueError("draws that are not finite")
