"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hiercomp.arguments import true_or_false
from hiercomp.errors import Argument, ResultFileError
from hiercomp.wording import shown

#: How the names of files may end, by what they hold.
ENDINGS = {"report": (".html", ".htm"), "JSON": (".json",), "result": (".nc", ".nc4", ".netcdf")}

KINDS = {
    "report": "A report is an HTML page",
    "JSON": "The numbers are written as JSON",
    "result": "A result is saved as netCDF",
}


def check_ending(path: str | Path, what: str) -> None:
    """Refuse a file's name that says that it holds something else, such as a report called "report.pdf".

    Parameters
    ----------
    path : str or Path
    what : str
        A key of `ENDINGS`.

    Raises
    ------
    ResultFileError
        If the name ends in another way.
    """
    endings, place = ENDINGS[what], Path(path)
    if place.suffix.casefold() not in endings and not place.is_dir():
        raise ResultFileError(
            f"{KINDS[what]}, not {shown(place.suffix or path)}.",
            remedy=f"Choose a name that ends in {endings[0]}, such as {shown(place.with_suffix(endings[0]))}.",
        )


def output_path(path: str | Path, *, overwrite: bool) -> Path:
    """Where a file may be written, checked before its content is made; a link stays a link and leads to the new
    content.

    Raises
    ------
    ResultFileError
        If the path is a folder, the file exists and ``overwrite`` is False, or its folder is missing.
    """
    place, file, overwrite = Path(os.path.realpath(path)), shown(path), true_or_false("overwrite", overwrite)
    try:
        exists, is_folder, has_folder = place.exists(), place.is_dir(), place.parent.is_dir()
    except OSError as error:  # a folder that may not be entered
        raise ResultFileError(f"{file} can't be written: {error.strerror or error}.") from error
    if is_folder:
        raise ResultFileError(f"{file} is a folder.", remedy="Name a file in it.")
    if exists and not overwrite:
        raise ResultFileError(
            f"{file} exists.",
            remedy="Choose another name, or pass overwrite=True (--force).",
            arguments=(Argument("overwrite", True),),
        )
    if not has_folder:
        raise ResultFileError(f"{file} can't be written: there is no folder {shown(place.parent)}.")
    return place


@contextmanager
def written_whole(path: str | Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield the name of a temporary file beside the path, and move it there if the block ends without an error.

    Raises
    ------
    ResultFileError
        In the same cases as `output_path`, and if the folder can't be written to or the disk is full.
    """
    place = output_path(path, overwrite=overwrite)
    try:
        with tempfile.TemporaryDirectory(prefix=".hiercomp-", dir=place.parent) as folder:
            unfinished = Path(folder) / place.name
            yield unfinished
            os.replace(unfinished, place)
    except OSError as error:
        raise ResultFileError(f"{shown(path)} can't be written: {error.strerror or error}.") from error
