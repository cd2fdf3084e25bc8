"""The literature that a report cites, as text and as BibTeX."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """A publication.

    Attributes
    ----------
    key : str
        Of BibTeX.
    short : str
        As it is cited in the text.
    text : str
        As a reference list has it, without the DOI.
    doi : str
        Empty where there is none.
    bibtex : str
    """

    key: str
    short: str
    text: str
    doi: str
    bibtex: str


def _article(
    key: str, short: str, authors: str, text_authors: str, title: str, journal: str, **fields: str
) -> Reference:
    """An article; ``fields`` in BibTeX's order, of which volume, number, pages, year and doi are known."""
    number = f"({fields['number']})" if "number" in fields else ""
    pages = fields["pages"].replace("--", "–")
    text = (
        f"{text_authors} ({fields['year']}). {title}. {journal} {fields['volume']}{number.replace('--', '–')}, {pages}."
    )
    protected = {"author": authors, "title": f"{{{title}}}", "journal": journal} | fields
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in protected.items())
    return Reference(key, short, text, fields.get("doi", ""), f"@article{{{key},\n{lines}\n}}")


HIERARCHICAL = _article(
    "corani2017",
    "Corani et al. 2017",
    r"Corani, Giorgio and Benavoli, Alessio and Dem{\v{s}}ar, Janez and Mangili, Francesca and Zaffalon, Marco",
    "Corani, G., Benavoli, A., Demšar, J., Mangili, F. & Zaffalon, M.",
    "Statistical comparison of classifiers through Bayesian hierarchical modelling",
    "Machine Learning",
    volume="106", number="11", pages="1817--1837", year="2017", doi="10.1007/s10994-017-5641-9",
)  # fmt: skip
CORRELATED = _article(
    "corani2015",
    "Corani & Benavoli 2015",
    "Corani, Giorgio and Benavoli, Alessio",
    "Corani, G. & Benavoli, A.",
    "A Bayesian approach for comparing cross-validated algorithms on multiple data sets",
    "Machine Learning",
    volume="100", number="2--3", pages="285--304", year="2015", doi="10.1007/s10994-015-5486-z",
)  # fmt: skip
CORRELATION = _article(
    "nadeau2003",
    "Nadeau & Bengio 2003",
    "Nadeau, Claude and Bengio, Yoshua",
    "Nadeau, C. & Bengio, Y.",
    "Inference for the generalization error",
    "Machine Learning",
    volume="52", number="3", pages="239--281", year="2003", doi="10.1023/A:1024068626366",
)  # fmt: skip
GRADES = _article(
    "raftery1995",
    "Raftery 1995",
    "Raftery, Adrian E.",
    "Raftery, A. E.",
    "Bayesian model selection in social research",
    "Sociological Methodology",
    volume="25", pages="111--163", year="1995", doi="10.2307/271063",
)  # fmt: skip
STAN = _article(
    "carpenter2017",
    "Carpenter et al. 2017",
    "Carpenter, Bob and Gelman, Andrew and Hoffman, Matthew D. and Lee, Daniel and Goodrich, Ben and Betancourt, Michael "
    "and Brubaker, Marcus and Guo, Jiqiang and Li, Peter and Riddell, Allen",
    "Carpenter, B., Gelman, A., Hoffman, M. D., Lee, D., Goodrich, B., Betancourt, M., Brubaker, M., Guo, J., Li, P. & "
    "Riddell, A.",
    "Stan: A probabilistic programming language",
    "Journal of Statistical Software",
    volume="76", number="1", pages="1--32", year="2017", doi="10.18637/jss.v076.i01",
)  # fmt: skip
R_HAT = _article(
    "vehtari2021",
    "Vehtari et al. 2021",
    r"Vehtari, Aki and Gelman, Andrew and Simpson, Daniel and Carpenter, Bob and B{\"u}rkner, Paul-Christian",
    "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. & Bürkner, P.-C.",
    "Rank-normalization, folding, and localization: An improved R-hat for assessing convergence of MCMC",
    "Bayesian Analysis",
    volume="16", number="2", pages="667--718", year="2021", doi="10.1214/20-BA1221",
)  # fmt: skip
JUAREZ_STEEL = _article(
    "juarez2010",
    "Juárez & Steel 2010",
    r"Ju{\'a}rez, Miguel A. and Steel, Mark F. J.",
    "Juárez, M. A. & Steel, M. F. J.",
    "Model-based clustering of non-Gaussian panel data based on skew-t distributions",
    "Journal of Business & Economic Statistics",
    volume="28", number="1", pages="52--66", year="2010", doi="10.1198/jbes.2009.07145",
)  # fmt: skip
KRUSCHKE = _article(
    "kruschke2013",
    "Kruschke 2013",
    "Kruschke, John K.",
    "Kruschke, J. K.",
    "Bayesian estimation supersedes the t test",
    "Journal of Experimental Psychology: General",
    volume="142", number="2", pages="573--603", year="2013", doi="10.1037/a0029146",
)  # fmt: skip
PARETO = _article(
    "vehtari2024",
    "Vehtari et al. 2024",
    "Vehtari, Aki and Simpson, Daniel and Gelman, Andrew and Yao, Yuling and Gabry, Jonah",
    "Vehtari, A., Simpson, D., Gelman, A., Yao, Y. & Gabry, J.",
    "Pareto smoothed importance sampling",
    "Journal of Machine Learning Research",
    volume="25", number="72", pages="1--58", year="2024",
)  # fmt: skip
BAYESIAN_BOOTSTRAP = _article(
    "rubin1981",
    "Rubin 1981",
    "Rubin, Donald B.",
    "Rubin, D. B.",
    "The Bayesian bootstrap",
    "The Annals of Statistics",
    volume="9", number="1", pages="130--134", year="1981", doi="10.1214/aos/1176345338",
)  # fmt: skip


def bibliography(references: tuple[Reference, ...]) -> str:
    """The references as a BibTeX file."""
    return "\n\n".join(reference.bibtex.replace(" & ", r" \& ") for reference in references) + "\n"
