"""The HTML reports, of a comparison and of every pair of many algorithms: one file to send to a colleague."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hiercomp.report.contents import ReportContents, report_contents
from hiercomp.report.page import free_path, render, write_page
from hiercomp.report.provenance import Source
from hiercomp.report.tournament import write_tournament_report

if TYPE_CHECKING:
    from hiercomp.comparison import ComparisonResult
    from hiercomp.posterior.influence import Influence
    from hiercomp.posterior.sensitivity import Sensitivity

__all__ = ["ReportContents", "Source", "render", "report_contents", "write_report", "write_tournament_report"]


def write_report(
    result: ComparisonResult,
    path: str | Path,
    *,
    sensitivity: Sensitivity | None = None,
    influence: Influence | None = None,
    source: Source | str | Path | None = None,
    overwrite: bool = False,
    alpha: float = 0.05,
) -> Path:
    """Write one self-contained HTML page: verdict, figures, tables, diagnostics, provenance and a Methods paragraph.

    The page loads nothing from elsewhere and needs no script (with scripts, its long tables can be sorted). The same
    result gives the same bytes. The file appears whole or not at all.

    Parameters
    ----------
    result : ComparisonResult
        One whose computation failed gives a page that says that there is no verdict, and why.
    path : str or Path
        Where to write it, such as "report.html".
    sensitivity : Sensitivity, optional
        From ``result.sensitivity()``, to include it.
    influence : Influence, optional
        From ``result.influence()``, to include it.
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
        If the file exists and ``overwrite`` is False, or can't be written.
    ScoreFileError
        If ``source`` can't be read.
    ArgumentError
        If ``alpha`` is outside its range, or ``sensitivity`` or ``influence`` belongs to another comparison.

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
    path = free_path(path, overwrite)
    if source is not None and not isinstance(source, Source):
        source = Source.of(source)
    contents = report_contents(result, sensitivity=sensitivity, influence=influence, source=source, alpha=alpha)
    return write_page(render(contents), path)
