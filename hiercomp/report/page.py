"""The pages: contents rendered by a template, with the style inside and nothing from elsewhere; and their files."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hiercomp.files.source import Source
from hiercomp.outputs import check_ending, output_path, written_whole
from hiercomp.report.contents import Contents, ReportContents, report_contents, tournament_contents

if TYPE_CHECKING:
    from markupsafe import Markup

    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.fit import Fit
    from hiercomp.posterior.influence import Influence
    from hiercomp.posterior.population_check import PopulationCheck
    from hiercomp.posterior.sensitivity import Sensitivity

LONGEST_WORD = 18  # letters that a heading need not break


def write_report(
    result: Fit,
    path: str | Path,
    *,
    sensitivity: Sensitivity | None = None,
    influence: Influence | None = None,
    population_check: PopulationCheck | None = None,
    source: Source | str | Path | None = None,
    overwrite: bool = False,
    alpha: float = 0.05,
) -> Path:
    """Write one self-contained HTML page: verdict, figures, tables, diagnostics, provenance and a Methods paragraph.

    The page loads nothing from elsewhere and has no script. The same result gives the same bytes. The file appears whole
    or not at all.

    Parameters
    ----------
    result : ComparisonResult
        If the computation failed, the page says that there is no verdict, and why.
    path : str or Path
        Where to write it, for example "report.html".
    sensitivity : Sensitivity, optional
        From ``result.sensitivity()``, to include it.
    influence : Influence, optional
        From ``result.influence()``, to include it.
    population_check : PopulationCheck, optional
        From ``result.check_population()``, to include it and the plot of its probability integral transform.
    source : Source, str or Path, optional
        The file of the scores, whose name (without its folder) and SHA-256 the report shows.
    overwrite : bool
        Whether an existing file may be replaced.
    alpha : float
        Level of the verdict, between 0 and 0.5.

    Returns
    -------
    Path

    Raises
    ------
    ResultFileError
        If the name does not end in .html, the file exists and ``overwrite`` is False, or it can't be written.
    ScoreFileError
        If ``source`` can't be read.
    ArgumentError
        If ``alpha`` is outside its range, or ``sensitivity``, ``influence`` or ``population_check`` belongs to another
        comparison.

    Examples
    --------
    >>> import tempfile
    >>> from hiercomp.comparison import HierarchicalComparison
    >>> scores = [[0.8, 0.9, 0.7]] * 6
    >>> same = HierarchicalComparison.from_arrays(scores, scores, left="bayes", right="tree", rho=0.1).fit()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(same, Path(folder) / "report.html").read_text(encoding="utf-8")
    >>> "bayes and tree have identical scores on every fold: practically equivalent." in page
    True
    """
    check_ending(path, "report")
    output_path(path, overwrite=overwrite)  # before the work
    contents = report_contents(
        result,
        sensitivity=sensitivity,
        influence=influence,
        population_check=population_check,
        source=_source(source),
        alpha=alpha,
    )
    return _write(contents, path, overwrite)


def write_tournament_report(
    result: Tournament,
    path: str | Path,
    *,
    source: Source | str | Path | None = None,
    alpha: float = 0.05,
    overwrite: bool = False,
) -> Path:
    """Write one self-contained HTML page of all pairs: verdicts, ranking, groups, numbers of each pair, provenance,
    Methods.

    The page loads nothing from elsewhere and has no script. The same result gives the same bytes. The file appears whole
    or not at all. With more than 40 algorithms it shows the best 40, and says so.

    Parameters
    ----------
    result : TournamentResult
        From `hiercomp.compare_all`.
    path : str or Path
        Where to write it, for example "pairs.html".
    source : Source, str or Path, optional
        The file of the scores, whose name (without its folder) and SHA-256 the report shows.
    alpha : float
        Level of the verdicts, between 0 and 0.5.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    Path

    Raises
    ------
    ResultFileError
        If the name does not end in .html, the file exists and ``overwrite`` is False, or it can't be written.
    ScoreFileError
        If ``source`` can't be read.
    ArgumentError
        If ``alpha`` is outside its range.

    Examples
    --------
    >>> import tempfile
    >>> from hiercomp.scores.bundled import load_scores
    >>> from hiercomp.tournament import compare_all
    >>> scores = load_scores("keel")
    >>> three = scores[scores["algorithm"].isin(["naive_bayes", "decision_tree", "random_forest"])]
    >>> pairs = compare_all(three, rope=0.01, n_jobs=1, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_tournament_report(pairs, Path(folder) / "pairs.html").read_text(encoding="utf-8")
    >>> pairs.summary().conclusion in page
    True
    """
    check_ending(path, "report")
    output_path(path, overwrite=overwrite)  # before the work
    return _write(tournament_contents(result, source=_source(source), alpha=alpha), path, overwrite)


def render(contents: Contents) -> str:
    """The report as one HTML page.

    Everything is escaped except the style, which is a file of this package. The page's Content-Security-Policy stops
    the browser from running or loading anything.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["breakable"] = breakable
    environment.tests["long_word"] = lambda text: max(map(len, text.split()), default=0) > LONGEST_WORD
    template = "report.html.j2" if isinstance(contents, ReportContents) else "tournament.html.j2"
    return environment.get_template(template).render(contents=contents, style=Markup(_read("report.css")))


def breakable(text: str) -> Markup:
    """A text that may be broken after underscores and dots, where names have their joints; its letters stay the same."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_.])(?=[^\W\d])", text))


def _write(contents: Contents, path: str | Path, overwrite: bool) -> Path:
    content = render(contents).encode()
    with written_whole(path, overwrite=overwrite) as stream:
        stream.write(content)
    return Path(path)


def _source(source: Source | str | Path | None) -> Source | None:
    return source if source is None or isinstance(source, Source) else Source.of(source)


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
