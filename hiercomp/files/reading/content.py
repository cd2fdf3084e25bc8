"""The bytes of a file, decompressed, in blocks and no more than allowed."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from hiercomp.errors import ScoreFileError

GZIP = b"\x1f\x8b"
BLOCK = 1 << 20  # bytes read at a time
SIGNATURES = {
    b"PK\x03\x04": "an Excel or zip file",
    b"PK\x05\x06": "an empty zip file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF": "a PDF file",
    b"\x89HDF": "an HDF5 or netCDF file",
    b"CDF": "a netCDF file",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"SQLite format 3": "an SQLite database",
    b"\x93NUMPY": "a NumPy array",
    b"ARROW1": "an Arrow or Feather file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf": "a 7-Zip file",
} | {bytes([0x80, protocol]): "a Python pickle, which is never opened" for protocol in range(2, 6)}


@contextmanager
def reading_errors(file: str) -> Iterator[None]:
    """Turn what the operating system and gzip raise into errors that name the file."""
    try:
        yield
    except FileNotFoundError:
        raise ScoreFileError(f"{file}: there is no such file.") from None
    except IsADirectoryError:
        raise ScoreFileError(f"{file} is a folder; name a .csv, .csv.gz or .parquet file.") from None
    except (OSError, EOFError, zlib.error, ValueError, MemoryError) as error:
        if isinstance(error, ScoreFileError):
            raise
        cause = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ScoreFileError(f"{file} can't be read: {cause.rstrip('.')}.") from error


def file_blocks(path: Path, file: str, largest: int) -> Iterator[bytes]:
    """The content of a file, decompressed where it is packed with gzip, in blocks of at most 1 MiB.

    Raises
    ------
    ScoreFileError
        If it can't be read, or holds more than ``largest`` bytes.
    """
    with reading_errors(file), path.open("rb") as stream:
        if path.suffix != ".gz" and stream.peek(2)[:2] != GZIP:  # a pipe can't be read twice
            if os.fstat(stream.fileno()).st_size > largest:  # known before it is read
                raise too_large(file, largest)
            yield from _limited(stream, file, largest)
            return
        with gzip.open(stream) as unpacked:
            yield from _limited(cast("IO[bytes]", unpacked), file, largest)


def is_packed(path: Path) -> bool:
    """Whether a regular file is packed with gzip, by its name or its first bytes."""
    with path.open("rb") as stream:
        return path.suffix == ".gz" or stream.read(2) == GZIP


def too_large(file: str, largest: int) -> ScoreFileError:
    """The error of a file above the limit."""
    return ScoreFileError(
        f"{file} holds more than {largest:,} bytes (decompressed): it is not read. Leave out what is not needed, or pass "
        "a larger largest_bytes (--largest-bytes)."
    )


def refuse_other_kinds(content: bytes | bytearray, file: str) -> None:
    """Refuse what is no text, by its first bytes.

    Raises
    ------
    ScoreFileError
        With the kind of file that it looks like.
    """
    for signature, kind in SIGNATURES.items():
        if content.startswith(signature):
            raise ScoreFileError(f"{file} is not text; it looks like {kind}. Save the table as CSV or Parquet.")


def _limited(stream: IO[bytes], file: str, largest: int) -> Iterator[bytes]:
    count = 0
    while block := stream.read(BLOCK):
        count += len(block)
        if count > largest:
            raise too_large(file, largest)
        yield block
