"""Numbers and names as a person reads them, and names made harmless for Markdown and LaTeX."""

from __future__ import annotations

SMALLEST_SHOWN = 0.001
PLURALS = {"has": "have", "is": "are", "was": "were"}


def probability_text(value: float, exact: bool = False) -> str:
    """Three decimals, and never a 0 or 1 that was only rounded."""
    if exact and value in (0.0, 1.0):
        return f"{value:.0f}"
    if value < SMALLEST_SHOWN:
        return f"< {SMALLEST_SHOWN}"
    if value > 1 - SMALLEST_SHOWN:
        return f"> {1 - SMALLEST_SHOWN}"
    return f"{value:.3f}"


def error_text(value: float) -> str:
    """A Monte Carlo standard error with three decimals."""
    return "0" if value == 0 else f"< {SMALLEST_SHOWN}" if value < SMALLEST_SHOWN else f"{value:.3f}"


def counted(number: int, thing: str, verb: str = "") -> str:
    """A number and what it counts, with a verb where one is given: "has", "is" or "was".

    Examples
    --------
    >>> counted(1, "data set"), counted(1200, "data set"), counted(1, "fold", "has"), counted(0, "fold", "is")
    ('1 data set', '1,200 data sets', '1 fold has', '0 folds are')
    """
    text = f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
    if not verb:
        return text
    return f"{text} {verb if number == 1 else PLURALS[verb]}"


def markdown(text: str) -> str:
    """Text whose special characters are escaped for Markdown."""
    for character in r"\`*_{}[]<>|#":
        text = text.replace(character, f"\\{character}")
    return text


def latex(text: str) -> str:
    """Text whose special characters are escaped for LaTeX."""
    special = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$",
    }  # fmt: skip
    return "".join(special.get(character, character) for character in text)
