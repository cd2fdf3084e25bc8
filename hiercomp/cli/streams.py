"""Standard output that takes whatever is printed: characters it can't encode, and readers that have left."""

from __future__ import annotations

import codecs
import os
import sys
from typing import Any

# What reads the same in ASCII; anything else that can't be encoded is escaped, so names stay distinct
PLAIN = {
    "\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{HORIZONTAL ELLIPSIS}": "...", "\N{MULTIPLICATION SIGN}": "x",
    "\N{MIDDLE DOT}": ".", "\N{BULLET}": "*", "\N{PLUS-MINUS SIGN}": "+/-", "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=", "\N{ALMOST EQUAL TO}": "~",
}  # fmt: skip
HANDLER = "hiercomp-plain"


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
    except BrokenPipeError:
        discard_output()


def say_json(text: str) -> None:
    """Print JSON; where a character can't be encoded, all of them are escaped as JSON does it."""
    import json

    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeError:
        text = json.dumps(json.loads(text), indent=2) + "\n"
    say(text, end="")


def discard_output() -> None:
    """Lead standard output nowhere, because Python would fail once more, and change the exit code, when it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
