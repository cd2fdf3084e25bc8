"""The works that a report cites, from references.bib."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources

ENTRY = re.compile(r"^@\w+\{(\w+),\n(.*?)\n\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^  (\w+) = \{(.*)\},?$", re.MULTILINE)
ACCENT = re.compile(r"\{\\(\W|v)\{?(\w)\}?\}")
ACCENTS = {"'": "\N{COMBINING ACUTE ACCENT}", '"': "\N{COMBINING DIAERESIS}", "v": "\N{COMBINING CARON}"}


@dataclass(frozen=True)
class Reference:
    """An article.

    Attributes
    ----------
    short : str
        The citation in parentheses: "Raftery 1995".
    narrative : str
        The citation as part of a sentence: "Raftery (1995)".
    text : str
        The entry in a reference list, without the DOI.
    doi : str
        Empty if there is none.
    bibtex : str
    """

    short: str
    narrative: str
    text: str
    doi: str
    bibtex: str

    def __str__(self) -> str:
        return f"{self.text} https://doi.org/{self.doi}" if self.doi else self.text


@cache
def references() -> dict[str, Reference]:
    """Every work that a report may cite, by its BibTeX key."""
    source = resources.files(__package__).joinpath("references.bib").read_text(encoding="utf-8")
    return {entry[1]: _reference(entry[0], dict(FIELD.findall(entry[2]))) for entry in ENTRY.finditer(source)}


def _reference(bibtex: str, fields: dict[str, str]) -> Reference:
    words = {name: _plain(value) for name, value in fields.items()}
    authors = [author.split(", ") for author in words["author"].split(" and ")]
    families = [family for family, _ in authors]
    who = f"{families[0]} et al." if len(families) > 2 else " & ".join(families)
    full = [f"{family}, {_initials(given)}" for family, given in authors]
    listed = " & ".join([*([", ".join(full[:-1])] if len(full) > 1 else []), full[-1]])
    number = f"({words['number']})" if "number" in words else ""
    return Reference(
        short=f"{who} {words['year']}",
        narrative=f"{who} ({words['year']})",
        text=(
            f"{listed} ({words['year']}). {words['title']}. {words['journal']} {words['volume']}{number}, "
            f"{words['pages']}."
        ),
        doi=words.get("doi", ""),
        bibtex=bibtex,
    )


def _plain(text: str) -> str:
    """A field without LaTeX."""
    text = ACCENT.sub(lambda found: unicodedata.normalize("NFC", found[2] + ACCENTS[found[1]]), text)
    return text.strip("{}").replace(r"\&", "&").replace("--", "\N{EN DASH}")


def _initials(names: str) -> str:
    """The initials of given names: "P.-C." for "Paul-Christian"."""
    return re.sub(r"(\w)\w*\.?", r"\1.", names)
