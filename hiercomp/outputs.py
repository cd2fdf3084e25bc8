"""Files that are written whole or not at all, and never over what was read."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

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
        If the path is a folder, a device or a pipe, the file exists and ``overwrite`` is False, or its folder is missing
        or can't be written to.
    """
    place = _free_place(path, overwrite=overwrite)
    # Only an attempt shows it: root may write where permission is denied
    with _writing_errors(path), _unfinished(place.parent):
        return place


@contextmanager
def written_whole(path: str | Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Yield a stream; what is written to it becomes the file, in one step, if the block ends without an error.

    Raises
    ------
    ResultFileError
        In the same cases as `output_path`, and if the disk is full.
    """
    place = _free_place(path, overwrite=overwrite)
    with _writing_errors(path), _unfinished(place.parent) as (stream, beside):
        yield stream
        stream.flush()
        os.fsync(stream.fileno())  # a full disk may only be noticed here
        if not beside.exists():
            _name(stream, beside if place.exists() else place)
        stream.close()  # Windows can't move an open file
        if beside.exists():
            os.replace(beside, place)


def same_file(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to one file, whatever links and names it has.

    Examples
    --------
    >>> same_file("scores.csv", "./scores.csv"), same_file("scores.csv", "other.csv")
    (True, False)
    """
    try:
        if os.path.samefile(one, other):
            return True
    except OSError:  # one of them does not exist
        pass
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))


def is_read(path: str | Path, read: str | Path) -> bool:
    """Whether a file that is to be written is one that is read: the same file, or one in the folder that is read.

    Parameters
    ----------
    path : str or Path
        To be written.
    read : str or Path
        A file or a folder; "-" is standard input.
    """
    read = Path("/dev/stdin" if str(read) == "-" else read)
    if read.is_dir():
        return Path(path).exists() and Path(os.path.realpath(read)) in Path(os.path.realpath(path)).parents
    return same_file(path, read)


def _free_place(path: str | Path, *, overwrite: bool) -> Path:
    file, overwrite = shown(path), true_or_false("overwrite", overwrite)
    if "\0" in str(path):
        raise ResultFileError(f"{file} can't be written: a name can't hold NUL.")
    place = Path(os.path.realpath(path))
    try:
        exists, is_folder, has_folder = place.exists(), place.is_dir(), place.parent.is_dir()
    except OSError as error:  # a folder that may not be entered
        raise ResultFileError(f"{file} can't be written: {error.strerror or error}.") from error
    if is_folder:
        raise ResultFileError(f"{file} is a folder.", remedy="Name a file in it.")
    if exists and not place.is_file():  # replaced, it would be lost to every other program
        raise ResultFileError(f"{file} is a device or a pipe.", remedy="Name a file.")
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
def _writing_errors(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResultFileError(f"{shown(path)} can't be written: {error.strerror or error}.") from error


@contextmanager
def _unfinished(folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file of a folder and the name that it may have; removed at the end unless it was moved.

    On Linux the file has no name until `_name` gives it one: even a killed process leaves nothing in the folder.
    """
    beside = folder / f".hiercomp-{uuid.uuid4().hex[:8]}"
    descriptor = _without_name(folder)
    stream = open(beside, "xb") if descriptor is None else open(descriptor, "wb")
    try:
        yield stream, beside
    finally:
        with suppress(OSError):  # a full disk may fail again here; the first error is already being raised
            stream.close()
        with suppress(FileNotFoundError):
            beside.unlink()


def _without_name(folder: Path) -> int | None:
    """The descriptor of a new file without a name, or None where the system or the file system has no such files."""
    if not hasattr(os, "O_TMPFILE") or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):  # EISDIR: kernels before 3.11
            return None
        raise


def _name(stream: BinaryIO, name: Path) -> None:
    """Give a name to a file that has none."""
    # A folder's descriptor makes Python call linkat, which follows the link in /proc; the path is absolute
    os.link(f"/proc/self/fd/{stream.fileno()}", name, src_dir_fd=stream.fileno(), follow_symlinks=True)
