"""How names, numbers and values are written for readers, and escaped for Markdown and LaTeX."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

SMALLEST_SHOWN = 0.001
MINUS = "\N{MINUS SIGN}"  # which screen readers say, unlike a hyphen
LONGEST_SHOWN = 100  # characters of a value in a message
LONGEST_NAME = 500  # characters of a name where it is printed
END_OF_NAME = 97  # characters of its end that are kept
LONGEST_ERROR = 500  # characters of another package's error
EXAMPLES_SHOWN = 5  # offending cells named in a message
OWN_ROPES = "units of each data set's rope"
PLURALS = {"has": "have", "is": "are", "was": "were"}


def probability_text(value: float, exact: bool = False) -> str:
    """Three decimals; a probability is never rounded to 0 or 1."""
    if exact and value in (0.0, 1.0):
        return f"{value:.0f}"
    if value < SMALLEST_SHOWN:
        return f"< {SMALLEST_SHOWN}"
    if value > 1 - SMALLEST_SHOWN:
        return f"> {1 - SMALLEST_SHOWN}"
    return f"{value:.3f}"


def with_minus(value: object) -> str:
    """A number, or an interval of numbers, with the minus sign of print.

    Examples
    --------
    >>> with_minus("[-0.01, 0.01]")
    '[−0.01, 0.01]'
    """
    return str(value).replace("-", MINUS)


def error_text(value: float) -> str:
    """A Monte Carlo standard error with three decimals."""
    return "0" if value == 0 else f"< {SMALLEST_SHOWN}" if value < SMALLEST_SHOWN else f"{value:.3f}"


def outcome_words(left: str, right: str) -> dict[str, str]:
    """The three regions in words that name the algorithms.

    Examples
    --------
    >>> outcome_words("bayes", "tree")
    {'left': 'bayes better', 'rope': 'practically equivalent', 'right': 'tree better'}
    """
    return {"left": f"{left} better", "rope": "practically equivalent", "right": f"{right} better"}


def metric_words(measure: str | None, higher_is_better: bool, transform: str | None) -> str:
    """What was compared and its direction, for a title.

    Examples
    --------
    >>> metric_words("rmse", False, "log"), metric_words("auc", True, None), metric_words(None, True, None)
    ('log of rmse (lower is better)', 'auc (higher is better)', 'higher is better')
    >>> metric_words("rmse", False, "rope")
    "rmse in units of each data set's rope (lower is better)"
    """
    direction = f"{'higher' if higher_is_better else 'lower'} is better"
    if measure is None and transform is None:
        return direction
    return f"{_transformed(measure, transform)} ({direction})"


def unit_words(measure: str | None, transform: str | None) -> str:
    """The unit of differences.

    Examples
    --------
    >>> unit_words("auc", None), unit_words("rmse", "log"), unit_words(None, None)
    ('auc', 'logs of rmse', 'units of the scores')
    """
    if transform is not None:
        return OWN_ROPES if transform == "rope" else f"logs of {shown(measure or 'the scores')}"
    return "units of the scores" if measure is None else shown(measure)


def measure_in_brackets(measure: str | None, transform: str | None) -> str:
    """ " (log of rmse)" to follow a direction; nothing if there is neither a name nor a transform.

    Examples
    --------
    >>> measure_in_brackets("auc", None), measure_in_brackets(None, "log"), measure_in_brackets(None, None)
    (' (auc)', ' (log of scores)', '')
    """
    if measure is None and transform is None:
        return ""
    return f" ({_transformed(measure, transform)})"


def _transformed(measure: str | None, transform: str | None) -> str:
    name = shown(measure or "scores")
    return {None: name, "log": f"log of {name}", "rope": f"{name} in {OWN_ROPES}"}[transform]


def times_rope(multiple: object) -> str:
    """A margin, or an interval, in units of each data set's rope.

    Examples
    --------
    >>> times_rope(1), times_rope("[-1, 1]"), times_rope(0.5)
    ("the data set's rope", "the data set's rope", "0.5 times the data set's rope")
    """
    own = "the data set's rope"
    return own if str(multiple) in ("1", "[-1, 1]") else f"{multiple} times {own}"


def ropes_in_words(ropes: Mapping[str, float]) -> list[str]:
    """A line on the unit of differences, if each data set has its own rope.

    Examples
    --------
    >>> ropes_in_words({"iris": 0.01, "wine": 5.0})
    ["Differences are in units of each data set's rope, 0.01 (iris) to 5 (wine) in the unit of its scores"]
    """
    if not ropes:
        return []
    ends = dict.fromkeys([min(ropes, key=ropes.__getitem__), max(ropes, key=ropes.__getitem__)])
    listed = " to ".join(f"{ropes[name]:g} ({shown(name)})" for name in ends)
    return [f"Differences are in {OWN_ROPES}, {listed} in the unit of its scores"]


def counted(number: int, thing: str, verb: str = "") -> str:
    """A number and what it counts, followed by a verb if one is given: "has", "is" or "was".

    Examples
    --------
    >>> counted(1, "data set"), counted(1200, "data set"), counted(1, "fold", "has"), counted(0, "fold", "is")
    ('1 data set', '1,200 data sets', '1 fold has', '0 folds are')
    """
    text = f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
    if not verb:
        return text
    return f"{text} {verb if number == 1 else PLURALS[verb]}"


def span(values: NDArray[Any]) -> str:
    """One number, or the smallest and the largest: "10" or "10 to 30"."""
    lowest, highest = float(np.min(values)), float(np.max(values))
    texts = [f"{value:,.0f}" if value == round(value) and value >= 1 else f"{value:.3g}" for value in (lowest, highest)]
    return texts[0] if lowest == highest else f"{texts[0]} to {texts[1]}"


def markdown(text: str) -> str:
    """Text with its special characters escaped for Markdown."""
    for character in r"\`*_{}[]<>|#&~$":
        text = text.replace(character, f"\\{character}")
    return text


def latex(text: str) -> str:
    """Text with its special characters escaped for LaTeX."""
    if text.startswith(("*", "[")):  # which the end of the row above would take for its own
        return f"{{{text[0]}}}{latex(text[1:])}"
    special = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$",
        "\N{MINUS SIGN}": "$-$", "\N{MULTIPLICATION SIGN}": r"$\times$", "\N{MIDDLE DOT}": r"$\cdot$",
        "\N{PLUS-MINUS SIGN}": r"$\pm$",
    }  # fmt: skip
    return "".join(special.get(character, character) for character in text)


def normal_name(name: object) -> str:
    """A name as text, in Unicode normal form C without outer spaces."""
    return unicodedata.normalize("NFC", str(name)).strip()


def is_unwritable(name: str) -> bool:
    """Whether no file could hold a name: it has a NUL, or half a pair of surrogates."""
    return "\0" in name or any("\ud800" <= character <= "\udfff" for character in name)


def reading_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """A key that sorts names as a reader expects: without regard to case and accents, and numbers by their size.

    Examples
    --------
    >>> sorted(["zoo", "Übung", "credit-g", "ds10", "ds2", "Größe"], key=reading_order)
    ['credit-g', 'ds2', 'ds10', 'Größe', 'Übung', 'zoo']
    """
    letters = "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    parts = re.findall(r"([^0-9]*)([0-9]*)", letters.casefold())
    return [(words, int(digits[:LONGEST_SHOWN] or -1)) for words, digits in parts], name


def nearest_name(name: str, names: Iterable[str]) -> str:
    """ " Did you mean 'x'?" if one of the names is close, else nothing."""
    folded = {candidate.casefold(): candidate for candidate in names}
    close = difflib.get_close_matches(str(name).casefold(), list(folded), n=1, cutoff=0.6)
    return f" Did you mean {shown(folded[close[0]])!r}?" if close else ""


def shown(name: object) -> str:
    r"""A name where it is printed: control characters and bidirectional marks escaped, one of many characters shortened.

    Examples
    --------
    >>> print(shown("tree\x1b[2J"), len(shown("tree" * 1000)))
    tree\x1b[2J 500
    """
    text = str(name)
    if len(text) > LONGEST_NAME:  # names often differ at their ends
        text = f"{text[: LONGEST_NAME - END_OF_NAME - 3]}...{text[-END_OF_NAME:]}"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def shown_value(value: object) -> str:
    """A value for a message: the beginning of its repr, in one line."""
    try:
        text = shown(repr(value))
    except Exception:  # an int of thousands of digits, and whatever a strange object raises
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def error_in_words(error: BaseException) -> str:
    """An error of another package in one line: its class, and its text if it has one."""
    try:
        text = shown(" ".join(str(error).split())[:LONGEST_ERROR]).rstrip(".")
    except Exception:  # raised by the error's own __str__
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def first_names(names: Sequence[str]) -> str:
    """The first few names of a list, quoted, and how many more there are."""
    listed = ", ".join(repr(shown(name)) for name in names[:EXAMPLES_SHOWN])
    return listed + (f" and {len(names) - EXAMPLES_SHOWN} more" if len(names) > EXAMPLES_SHOWN else "")


def cells_in_words(frame: pd.DataFrame, rows: NDArray[np.bool_], value: str | None = None) -> str:
    """The first few rows of a tidy frame selected by ``rows``, in words."""
    picked = frame.loc[rows].head(EXAMPLES_SHOWN)
    listed = []
    for row in picked.to_dict("records"):
        place = [f"dataset {shown(row['dataset'])!r}", f"algorithm {shown(row['algorithm'])!r}"]
        place += [f"{role} {shown(row[role])}" for role in ("run", "fold") if role in row]
        listed.append(", ".join(place) + (f": {shown_value(row[value])}" if value else ""))
    more = int(np.sum(rows)) - len(listed)
    return "; ".join(listed) + (f"; and {more} more" if more > 0 else "")
