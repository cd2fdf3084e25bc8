"""From the bytes of a text table to UTF-8, with errors that name the line and the byte."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hiercomp.errors import ArgumentError, ScoreFileError

UTF_8 = (None, "utf-8", "utf-8-sig")


@dataclass(frozen=True)
class Place:
    """Where some content begins in its file: the line, from 1, and the byte, from 0."""

    line: int = 1
    byte: int = 0

    def after(self, content: bytes | bytearray) -> Place:
        """Where what follows the content begins."""
        return Place(self.line + line_ends(content), self.byte + len(content))


BEGINNING = Place()


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


def encoding_of(beginning: bytes | bytearray, file: str, encoding: str | None) -> str | None:
    """The encoding of a file: the one asked for, or UTF-16 where its mark says so; None is UTF-8.

    Raises
    ------
    ScoreFileError
        If the mark contradicts what was asked for.
    """
    if beginning.startswith(codecs.BOM_UTF8) and encoding not in UTF_8:
        raise ScoreFileError(f"{file} begins with the mark of UTF-8 text: leave out encoding={encoding!r}.")
    if encoding is None and beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return None if encoding in UTF_8 else encoding


def utf8_parts(
    parts: Iterable[bytearray], file: str, encoding: str | None, collected: list[ScoreFileError] | None = None
) -> Iterator[tuple[bytearray, Place]]:
    """The parts of a file in UTF-8, without a byte order mark, and where each begins.

    UTF-8 itself passes through unchecked; see `decoded`.

    Parameters
    ----------
    parts : iterable of bytearray
    file : str
        Its name, for messages.
    encoding : str or None
        As `encoding_of` gives it.
    collected : list of ScoreFileError, optional
        Errors are added to it and the lines that they concern left out, instead of raised.

    Raises
    ------
    ScoreFileError
        If the bytes are not text of the encoding, or hold a NUL.
    """
    place = BEGINNING
    decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
    given = 0
    for part, final in _with_last_marked(parts):
        given += len(part)
        content = part if decoder is None else _transcoded(part, decoder, final, file, str(encoding), place, given)
        if place == BEGINNING and content.startswith(codecs.BOM_UTF8):
            content = content[len(codecs.BOM_UTF8) :]
            place = Place(1, len(codecs.BOM_UTF8))
        begin, place = place, place.after(content)
        nul = content.find(b"\0")
        if nul >= 0:
            line = begin.line + line_ends(content[:nul])
            error = ScoreFileError(f"{file}, line {line}: holds a NUL character; {_nul_hint(content[:1000])}")
            if collected is None or "UTF-16" in str(error):
                raise error
            collected.append(error)
            content = bytearray(b"".join(b"\n" if b"\0" in row else row for row in content.splitlines(keepends=True)))
        yield content, begin


def decoded(content: bytearray, file: str, place: Place, collected: list[ScoreFileError] | None = None) -> str:
    """The text of UTF-8 bytes.

    Parameters
    ----------
    content : bytearray
    file : str
        Its name, for messages.
    place : Place
        Where the content begins in the file.
    collected : list of ScoreFileError, optional
        An error is added to it, and the lines that are not UTF-8 are taken as Latin-1, instead of raised.

    Raises
    ------
    ScoreFileError
        If they are not UTF-8.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        mixed = not content[: error.start].isascii()
        remedy = (
            "Its beginning is, so that two encodings are mixed: save it as UTF-8 throughout."
            if mixed
            else "Save it as UTF-8, or name its encoding, for instance encoding='latin-1' (--encoding latin-1)."
        )
        line, byte = place.line + line_ends(content[: error.start]), place.byte + error.start
        refused = ScoreFileError(f"{file}, line {line}, byte {byte}: not UTF-8 text. {remedy}")
        if collected is None:
            raise refused from error
        collected.append(refused)
        return "".join(_utf8_or_latin1(row) for row in content.splitlines(keepends=True))


def is_utf8(content: bytes | bytearray) -> bool:
    """Whether the bytes with which a file begins are UTF-8 text beyond ASCII, which hardly any other text is by chance."""
    try:
        return not codecs.getincrementaldecoder("utf-8")().decode(bytes(content)).isascii()
    except UnicodeDecodeError:
        return False


def line_ends(content: bytes | bytearray) -> int:
    """Line feeds and carriage returns in some bytes, both together counted once."""
    return content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")


def _transcoded(
    part: bytearray,
    decoder: codecs.IncrementalDecoder,
    final: bool,
    file: str,
    encoding: str,
    place: Place,
    given: int,
) -> bytearray:
    """The next part in UTF-8; ``given`` bytes of the file have been read with it."""
    try:
        return bytearray(decoder.decode(bytes(part), final).encode())
    except UnicodeDecodeError as error:
        before = bytes(error.object[: error.start]).decode(encoding, errors="replace").encode()
        line, byte = place.line + line_ends(before), given - len(error.object) + error.start
        raise ScoreFileError(
            f"{file}, line {line}, byte {byte}: not {encoding.upper()} text. "
            "Name another encoding, or save the file as UTF-8."
        ) from error
    except UnicodeError as error:  # half a pair of surrogates, which no text holds
        raise ScoreFileError(f"{file} is not {encoding.upper()} text: {error}.") from error


def _with_last_marked(parts: Iterable[bytearray]) -> Iterator[tuple[bytearray, bool]]:
    """Each part, and whether it is the last."""
    following = iter(parts)
    part = next(following, None)
    while part is not None:
        later = next(following, None)
        yield part, later is None
        part = later


def _utf8_or_latin1(row: bytearray) -> str:
    try:
        return row.decode()
    except UnicodeDecodeError:
        return row.decode("latin-1")


def _nul_hint(sample: bytearray) -> str:
    """UTF-16 of mostly Latin letters has a NUL in every second place."""
    for encoding, offset in (("utf-16-le", 1), ("utf-16-be", 0)):
        half = sample[offset::2]
        if len(half) > 2 and half.count(0) > 0.9 * len(half):
            return f"it looks like UTF-16 without its mark: pass encoding={encoding!r} (--encoding {encoding})."
    return "the file is damaged or not text."
