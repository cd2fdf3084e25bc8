"""What a paper needs beside the summary: the table of mean scores, the Methods paragraph and a figure, as options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hiercomp.cli.options import OUTPUT, ToWrite
from hiercomp.cli.shared import complain
from hiercomp.errors import ArgumentError, HiercompError, ResultFileError
from hiercomp.wording import nearest_name

if TYPE_CHECKING:
    from hiercomp.comparison import ComparisonResult
    from hiercomp.report.methods import Methods
    from hiercomp.summary.scores_table import ScoresTable
    from hiercomp.tournament import TournamentResult

    Result = ComparisonResult | TournamentResult

TABLES = (".tex", ".md", ".csv", ".html", ".txt")
PICTURES = (".pdf", ".png", ".svg")
DOTS_PER_INCH = 300
OF_TWO = ("next-dataset", "simplex", "population", "posterior", "shrinkage", "rope-curve", "ppc", "pit", "diagnostics")
OF_MANY = ("ranking", "heatmap")


@dataclass(frozen=True)
class PaperOptions:
    """What is written for a paper."""

    scores_table: Annotated[
        Path | None,
        typer.Option(
            help=f"Also write the means and standard deviations of the scores, as {', '.join(TABLES)}; - prints them.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    methods: Annotated[
        bool,
        typer.Option("--methods", help="Also print a Methods paragraph with references.", rich_help_panel=OUTPUT),
    ] = False
    figure: Annotated[
        Path | None,
        typer.Option(help=f"Also draw a figure, as {', '.join(PICTURES)}.", rich_help_panel=OUTPUT),
    ] = None
    plot: Annotated[
        str | None,
        typer.Option(
            help=f"Which figure. Two algorithms: {', '.join(OF_TWO)}. Many: {', '.join(OF_MANY)}. By default the first.",
            rich_help_panel=OUTPUT,
        ),
    ] = None

    def files(self, plots: tuple[str, ...]) -> dict[str, Path | None]:
        """The files to be written, by their options; refused before the computation if their endings are unknown.

        Parameters
        ----------
        plots : tuple of str
            The figures that there are.
        """
        for name, path, endings in (
            ("scores-table", None if self._prints_table else self.scores_table, TABLES),
            ("figure", self.figure, PICTURES),
        ):
            if path is not None and path.suffix.lower() not in endings:
                raise ArgumentError(
                    f"--{name} {path}: the name must end in {', '.join(endings[:-1])} or {endings[-1]}."
                )
        if self.plot is not None and self.figure is None:
            raise ArgumentError("--plot needs --figure with the name of a file, such as --figure plot.pdf.")
        if self.plot is not None and self.plot.replace("_", "-") not in plots:
            raise ArgumentError(
                f"--plot {self.plot}: the figures are {', '.join(plots)}.{nearest_name(self.plot, plots)}"
            )
        return {"scores-table": None if self._prints_table else self.scores_table, "figure": self.figure}

    def content(self, result: Result, *, alpha: float, **checks: Any) -> dict[str, Any]:
        """What to add to the JSON: ``scores_table`` and ``methods``, if wanted; ``checks`` are those that Methods names."""
        content: dict[str, Any] = {}
        if self.scores_table is not None:
            content["scores_table"] = result.scores_table().to_dict()
        if self.methods:
            content["methods"] = result.methods(alpha=alpha, **checks).to_dict()
        return content

    def to_write(self, result: Result, plots: tuple[str, ...], *, overwrite: bool, **drawn: float) -> list[ToWrite]:
        """The files to be written, and what writes each of them; ``drawn`` is passed on to the plot."""
        table, figure = self.files(plots).values()
        plot = (self.plot or plots[0]).replace("-", "_")

        def draw() -> bool:
            assert figure is not None
            try:
                write_figure(result, plot, figure, overwrite=overwrite, **drawn)
            except ResultFileError:
                raise
            except HiercompError as error:
                if result.status != "failed":
                    raise ResultFileError(f"no figure: {error}") from error
                complain(f"no figure: {error}")  # a failed result has an exit code of its own
                return False
            return True

        def tabulate() -> None:
            assert table is not None
            write_table(result.scores_table(), table, overwrite=overwrite)

        return [(table, tabulate), (figure, draw)]

    def texts(self, result: Result, *, alpha: float, **checks: Any) -> list[ScoresTable | Methods]:
        """What to print after the summary; ``checks`` are those that Methods names."""
        return [
            *([result.scores_table()] if self._prints_table else []),
            *([result.methods(alpha=alpha, **checks)] if self.methods else []),
        ]

    @property
    def _prints_table(self) -> bool:
        return str(self.scores_table) == "-"


def write_table(table: ScoresTable, path: Path, *, overwrite: bool) -> None:
    """Write the table in the format of the file's ending."""
    from hiercomp.files.write import write_scores
    from hiercomp.outputs import written_whole

    ending = path.suffix.lower()
    if ending == ".csv":
        write_scores(table.to_frame(), path, overwrite=overwrite)
        return
    text = {
        ".tex": table.to_latex,
        ".md": table.to_markdown,
        ".html": table._repr_html_,
        ".txt": table.__str__,
    }[ending]()
    with written_whole(path, overwrite=overwrite) as stream:
        stream.write(f"{text}\n".encode())


def write_figure(result: Result, name: str, path: Path, *, overwrite: bool, **drawn: float) -> None:
    """Draw a plot of the result, with these arguments, into a file; the same result gives the same bytes."""
    import matplotlib as mpl

    from hiercomp.outputs import written_whole

    mpl.use("agg")
    with mpl.rc_context({"svg.hashsalt": "hiercomp", "savefig.bbox": "tight"}):
        made: Any = getattr(result.plot, name)(**drawn)
        first = made.flat[0] if hasattr(made, "flat") else made
        figure = first if hasattr(first, "savefig") else first.figure
        ending = path.suffix.lower()
        undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(ending, {})
        with written_whole(path, overwrite=overwrite) as stream:
            figure.savefig(stream, format=ending[1:], dpi=DOTS_PER_INCH, metadata=undated)
