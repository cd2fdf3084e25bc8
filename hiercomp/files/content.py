"""What is in a file: its bytes, unpacked and no more than allowed, and its text in UTF-8 by parts that know their line."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from hiercomp.errors import Argument, ArgumentError, ScoreFileError
from hiercomp.wording import shown

GZIP, BZIP2, XZ, ZIP = b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04"
BLOCK = 1 << 20  # bytes read at a time
LARGEST_BYTES = 4 * 10**9  # of a table, decompressed, unless the caller says otherwise
USUAL_RATIO = 100  # of decompressed to stored bytes, many times that of tables of scores
ALWAYS_UNPACKED = 64 << 20  # bytes, whatever the ratio
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
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf": "a 7-Zip file",
} | {bytes([0x80, protocol]): "a Python pickle, which is never opened" for protocol in range(2, 6)}
R_DATA = (b"X\n\0\0", b"RDX2\n", b"RDX3\n", b"A\n2\n", b"A\n3\n", b"RDA2\n", b"RDA3\n")
IN_R = "In R, write the table with write.csv(scores, 'scores.csv', row.names = FALSE)."
MARKDOWN_RULE = re.compile(rb"\s*\|?[\s:|-]*--[\s:|-]*\|[\s:|-]*")
UTF_8 = "utf-8-sig"  # with or without its byte order mark
# Bytes that are not UTF-8, as the error handler surrogateescape gives them, taken as Latin-1
LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)


def raise_or_collect(error: ScoreFileError, collected: list[ScoreFileError] | None) -> None:
    """Raise an error, or add it to a list where one is given."""
    if collected is None:
        raise error
    collected.append(error)


@contextmanager
def reading_errors(file: str) -> Iterator[None]:
    """Turn what the operating system and gzip raise into errors that name the file."""
    try:
        yield
    except FileNotFoundError:
        raise ScoreFileError(f"{file}: there is no such file.") from None
    except IsADirectoryError:
        raise ScoreFileError(f"{file} is a folder.", remedy="Name a .csv, .csv.gz or .parquet file.") from None
    except MemoryError as error:
        raise ScoreFileError(f"{file} can't be read: there is not enough memory.") from error
    except (*UNREADABLE, ValueError) as error:
        if isinstance(error, ScoreFileError):
            raise
        cause = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ScoreFileError(f"{file} can't be read: {cause.rstrip('.')}.") from error


def file_blocks(path: Path, file: str, largest: int) -> Iterator[bytes]:
    """The content of a file, decompressed if it is packed with gzip, in blocks of at most 1 MiB.

    Raises
    ------
    ScoreFileError
        If it can't be read, or holds more than ``largest`` bytes, or unpacks to more than `unpacked_limit`.
    """
    with reading_errors(file), path.open("rb") as stream:
        start = stream.peek(6)[:6]  # a pipe can't be read twice
        packed = path.suffix == ".gz" or start.startswith((GZIP, BZIP2, XZ, ZIP))
        size = os.fstat(stream.fileno()).st_size
        if not packed and size > largest:  # known before it is read
            raise too_large(file, largest)
        count, limit = 0, unpacked_limit(size, largest) if packed else largest
        with _unpacked(stream, start, path, file) if packed else stream as content:
            while block := content.read(BLOCK):
                count += len(block)
                if count > limit:
                    raise too_large(file, limit)
                yield block


def _unpacked(stream: IO[bytes], start: bytes, path: Path, file: str) -> IO[bytes]:
    """What a packed file holds."""
    if start.startswith(BZIP2):
        return bz2.BZ2File(stream)
    if start.startswith(XZ):
        return lzma.LZMAFile(stream)
    if not start.startswith(ZIP):
        return gzip.GzipFile(fileobj=stream)  # type: ignore[return-value]
    with zipfile.ZipFile(path) as packed:
        members = [name for name in packed.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
        if "mimetype" in members or "[Content_Types].xml" in members:
            return stream  # a document
        if len(members) != 1:
            raise ScoreFileError(
                f"{file} is a zip file of {len(members)} files.", remedy="Unpack it, and pass the folder or the files."
            )
        return packed.open(members[0])


def first_bytes(path: str | Path, size: int = 4096) -> bytes:
    """The beginning of what a file holds, unpacked."""
    return bytes(next(joined(file_blocks(Path(path), shown(path), sys.maxsize), size), bytearray())[:size])


def is_packed(path: Path) -> bool:
    """Whether a regular file is packed, by its name or its first bytes."""
    with path.open("rb") as stream:
        return path.suffix == ".gz" or stream.read(6).startswith((GZIP, BZIP2, XZ, ZIP))


def unpacked_limit(stored: int, largest: int) -> int:
    """How many bytes may be unpacked from so many: fewer than the usual limit, but no fewer than one that a caller set."""
    return min(largest, max(ALWAYS_UNPACKED, USUAL_RATIO * stored)) if largest == LARGEST_BYTES else largest


def too_large(file: str, largest: int) -> ScoreFileError:
    """The error of a file above the limit."""
    return ScoreFileError(
        f"{file} is above the limit of {largest:,} bytes (decompressed).",
        remedy="Remove rows or columns, or pass a larger largest_bytes (--largest-bytes).",
        key="too-large",
    )


def refuse_other_kinds(content: bytes | bytearray, file: str, *, separated: bool = False) -> None:
    """Refuse what is not a text table, by its first bytes; ``separated`` says that the separator of cells is known.

    Raises
    ------
    ScoreFileError
        With the kind of file that it looks like.
    """
    for signature, kind in SIGNATURES.items():
        if content.startswith(signature):
            raise ScoreFileError(
                f"{file} is not text; it looks like {kind}.", remedy="Save the table as CSV or Parquet."
            )
    if content.startswith(R_DATA):
        raise ScoreFileError(f"{file} is not text; it looks like a file of R (.rds or .RData).", remedy=IN_R)
    old_stata = len(content) > 4 and 0x66 <= content[0] <= 0x73 and content[1] in (1, 2) and content[2:4] == b"\1\0"
    if old_stata or content.startswith(b"<stata_dta>"):
        raise ScoreFileError(
            f"{file} is not text; it looks like a file of Stata.", remedy="In Stata, write it with: export delimited."
        )
    beginning = bytes(content[:4096]).removeprefix(codecs.BOM_UTF8).lstrip()
    if beginning[:20].lower().startswith((b"<!doctype html", b"<html", b"<table")):
        raise ScoreFileError(f"{file} is an HTML page.", remedy="Save its table as CSV.")
    first, second, *_ = [*beginning.splitlines(), b"", b""]
    if b"|" in first and MARKDOWN_RULE.fullmatch(second):
        raise ScoreFileError(f"{file} looks like a Markdown table.", remedy="Save it as CSV.")
    if separated or not second or any(sign in first for sign in (b",", b";", b"\t", b"|")):
        return
    if re.match(rb'("[^"]*" )+"[^"]*"\s*$', first):
        raise ScoreFileError(f"{file} looks like a table of R's write.table, separated by spaces.", remedy=IN_R)
    if re.search(rb"\S {2,}\S", first) and re.search(rb"\S {2,}\S", second):
        raise ScoreFileError(
            f"{file} looks like a table of columns of fixed width.", remedy="Save it with commas between the cells."
        )


def checked_encoding(encoding: str | None) -> str | None:
    """The name of a text encoding that Python knows, or None.

    Raises
    ------
    ArgumentError
        If there is none of that name.
    """
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        try:
            b"a".decode(encoding)  # refuses what is not an encoding of text, such as base64
        except UnicodeError:
            pass  # half a character
    except (LookupError, TypeError, ValueError):
        raise ArgumentError(f"encoding must be one such as 'utf-8' or 'latin-1', got {encoding!r}.") from None
    return name


def encoding_of(beginning: bytes | bytearray, file: str, encoding: str | None) -> str:
    """The encoding of a file: the one asked for, or UTF-16 if the file begins with its mark, else UTF-8.

    Raises
    ------
    ScoreFileError
        If the mark contradicts what was asked for.
    """
    encoding = None if encoding in ("utf-8", UTF_8) else encoding
    if beginning.startswith(codecs.BOM_UTF8) and encoding is not None:
        given = Argument("encoding", encoding)
        raise ScoreFileError(
            f"{file} begins with the mark of UTF-8 text.", remedy=f"Leave out {given}.", arguments=(given,)
        )
    if encoding is None and beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return encoding or UTF_8


def is_utf8(content: bytes | bytearray) -> bool:
    """Whether the bytes with which a file begins are UTF-8 text beyond ASCII, which hardly any other text is by chance."""
    try:
        return not codecs.getincrementaldecoder("utf-8")().decode(bytes(content)).isascii()
    except UnicodeDecodeError:
        return False


def line_ends(content: bytes | bytearray) -> int:
    """Line feeds and carriage returns in some bytes; the two together are counted once."""
    return content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")


def joined(blocks: Iterable[bytes], size: int) -> Iterator[bytearray]:
    """Blocks joined to parts of at least ``size`` bytes; the last may be shorter."""
    part = bytearray()
    for block in blocks:
        part += block
        if len(part) >= size:
            yield part
            part = bytearray()
    if part:
        yield part


def utf8_parts(
    parts: Iterable[bytes | bytearray], file: str, encoding: str, collected: list[ScoreFileError] | None = None
) -> Iterator[tuple[bytearray, int]]:
    """The parts of a text file in UTF-8, without a byte order mark, and the line in which each begins, from 1.

    Parameters
    ----------
    parts : iterable of bytes
    file : str
        Its name, for messages.
    encoding : str
        As `encoding_of` gives it.
    collected : list of ScoreFileError, optional
        Errors are added to it instead of raised. Lines with a NUL are then left empty, and bytes that are not UTF-8
        taken as Latin-1.

    Raises
    ------
    ScoreFileError
        If the bytes are not text of the encoding, or hold a NUL.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    line, read = 1, 0
    for part, last in _with_last_marked(parts):
        read += len(part)
        try:
            text = decoder.decode(bytes(part), last)
        except UnicodeDecodeError as error:
            refused = _undecodable(error, file, encoding, line, read - len(error.object) + error.start)
            if collected is None or encoding != UTF_8:
                raise refused from error
            decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
            text = decoder.decode(error.object, last)
            odd = sum(any(0xDC80 <= ord(sign) <= 0xDCFF for sign in row) for row in text.splitlines())
            if odd > 1:
                more = (
                    f"{refused.message.rstrip('.')}, nor {'is' if odd == 2 else 'are'} {odd - 1:,} more of its lines."
                )
                refused = ScoreFileError(more, remedy=refused.remedy, key=refused.key, arguments=refused.arguments)
            collected.append(refused)
        except UnicodeError as error:  # half a pair of surrogates, which no text holds
            raise ScoreFileError(f"{file} is not {encoding.upper()} text: {error}.") from error
        content = bytearray((text if decoder.errors == "strict" else text.translate(LATIN_1)).encode())
        if b"\0" in content:
            refused = _nul(content, file, line)
            raise_or_collect(refused, None if refused.key == "encoding" else collected)
            content = bytearray(b"".join(b"\n" if b"\0" in row else row for row in content.splitlines(keepends=True)))
        yield content, line
        line += line_ends(content)


def _with_last_marked(parts: Iterable[bytes | bytearray]) -> Iterator[tuple[bytes | bytearray, bool]]:
    """Each part, and whether it is the last."""
    following = iter(parts)
    part = next(following, None)
    while part is not None:
        later = next(following, None)
        yield part, later is None
        part = later


def _undecodable(error: UnicodeDecodeError, file: str, encoding: str, line: int, byte: int) -> ScoreFileError:
    """What is wrong with a byte; ``line`` is where the decoder's bytes begin."""
    content = error.object
    if encoding == UTF_8 and b"\0" in content[: error.start]:
        return _nul(content, file, line)
    before = content[: error.start].decode(encoding, errors="replace")
    place = f"{file}, line {line + line_ends(before.encode())}, byte {byte}"
    if encoding != UTF_8:
        remedy = "Name another encoding, or save the file as UTF-8."
        return ScoreFileError(f"{place}: not {encoding.upper()} text.", remedy=remedy, key="encoding")
    named = Argument("encoding", "latin-1")
    if before.isascii():
        remedy = f"Save it as UTF-8, or name its encoding, for instance {named} (--encoding latin-1)."
    else:
        remedy = "The text before it is UTF-8, so the file mixes two encodings. Save it as UTF-8 throughout."
    return ScoreFileError(f"{place}: not UTF-8 text.", remedy=remedy, key="encoding", arguments=(named,))


def _nul(content: bytes | bytearray, file: str, line: int) -> ScoreFileError:
    """The error of a text with a NUL; UTF-16 of mostly Latin letters has one in every second place."""
    place = f"{file}, line {line + line_ends(content[: content.index(0)])}"
    sample = content[:1000]
    for encoding, offset in (("utf-16-le", 1), ("utf-16-be", 0)):
        half = sample[offset::2]
        if len(half) > 2 and half.count(0) > 0.9 * len(half):
            named = Argument("encoding", encoding)
            return ScoreFileError(
                f"{place}: holds a NUL character; it looks like UTF-16 without its mark.",
                remedy=f"Pass {named} (--encoding {encoding}).",
                key="encoding",
                arguments=(named,),
            )
    return ScoreFileError(f"{place}: holds a NUL character; the file is damaged or not text.", key="nul")
