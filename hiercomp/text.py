"""Numbers and names as a person reads them, and names made harmless for Markdown and LaTeX."""

from __future__ import annotations

SMALLEST_SHOWN = 0.001


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


def counted(number: int, thing: str) -> str:
    """ "1 data set", "54 data sets"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


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
