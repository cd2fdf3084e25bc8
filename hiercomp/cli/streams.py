"""Standard output that takes whatever is printed: characters it can't encode, and readers that have left."""

from __future__ import annotations

import codecs
import errno
import os
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from hiercomp.errors import ResultFileError
from hiercomp.wording import shown

# What reads the same in ASCII; anything else that can't be encoded is escaped, so names stay distinct
PLAIN = {
    "\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{HORIZONTAL ELLIPSIS}": "...", "\N{MULTIPLICATION SIGN}": "x",
    "\N{MIDDLE DOT}": ".", "\N{BULLET}": "*", "\N{PLUS-MINUS SIGN}": "+/-", "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=", "\N{ALMOST EQUAL TO}": "~",
}  # fmt: skip
HANDLER = "hiercomp-plain"
_quiet = ContextVar("quiet", default=False)


def plain_characters(error: UnicodeError) -> tuple[str, int]:
    r"""Replace what a stream can't encode: a sign by its look in ASCII, anything else by its escape.

    Examples
    --------
    >>> codecs.register_error(HANDLER, plain_characters)
    >>> "\N{MINUS SIGN}0.01 \N{CJK UNIFIED IDEOGRAPH-6811}".encode("cp1252", HANDLER)
    b'-0.01 \\u6811'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unfit = error.object[error.start : error.end]
    text = "".join(PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in unfit)
    return text, error.end


def prepare_streams() -> None:
    """Make both standard streams take any text; one that was closed before the start leads nowhere."""
    codecs.register_error(HANDLER, plain_characters)
    _quiet.set(False)
    if os.environ.get("COLUMNS") == "0":  # in no columns Rich would print nothing
        del os.environ["COLUMNS"]
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # it stays open
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=HANDLER)


def say(content: Any, end: str = "\n") -> None:
    """Print a result: in colour on a terminal, plain elsewhere. A reader that has left, such as ``head``, is no error."""
    try:
        if sys.stdout.isatty() and hasattr(content, "__rich__"):
            from rich.console import Console

            Console().print(content)
        else:
            sys.stdout.write(f"{content}{end}")
            sys.stdout.flush()
    except OSError as error:
        discard_output()
        if reader_has_left(error):
            return
        # such as a full disk
        raise ResultFileError(f"Standard output can't be written: {error.strerror or error}.") from error


def reader_has_left(error: OSError) -> bool:
    """Whether writing failed because nobody reads any more, which Windows calls an invalid argument."""
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)


def say_json(text: str) -> None:
    """Print JSON; where a character can't be encoded, all of them are escaped as JSON does it."""
    import json

    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeError:
        text = json.dumps(json.loads(text), indent=2) + "\n"
    say(text, end="")


def tell(text: str) -> None:
    """A remark on standard error, unless ``--quiet`` was given."""
    if not _quiet.get():
        sys.stderr.write(f"hiercomp: {text}\n")
        sys.stderr.flush()


def be_quiet(quiet: bool) -> bool:
    """Whether remarks are left out; results and errors are printed all the same."""
    _quiet.set(quiet)
    return quiet


def tell_written(*paths: Path | None) -> None:
    """Say which files were written, and how large they are."""
    for path in paths:
        if path is not None and path.is_file():
            tell(f"wrote {shown(path)} ({size_in_words(path.stat().st_size)})")


def size_in_words(size: int) -> str:
    """A number of bytes for readers.

    Examples
    --------
    >>> size_in_words(812), size_in_words(319_600), size_in_words(2_345_000)
    ('812 bytes', '320 kB', '2.3 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.0f} kB" if size < 999_500 else f"{size / 1e6:,.1f} MB"


def discard_output() -> None:
    """Lead standard output nowhere, because Python would fail once more, and change the exit code, when it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
