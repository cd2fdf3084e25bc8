"""What a result shows, in text, rich, HTML, Markdown, LaTeX and JSON: title, conclusion, tables, details and notes."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.wording import latex, markdown, probability_text, shown

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, Group
    from rich.table import Table as RichTable

MOST_ROWS = 60
PROBABILITIES = ("left", "tie", "rope", "right", "p_left", "p_tie", "p_rope", "p_right", "probability", "majority")
STYLES = {"ok": "bold", "warned": "bold yellow", "failed": "bold red"}


@dataclass(frozen=True)
class Table:
    """Cells as text, under a header.

    Attributes
    ----------
    header : tuple of str
        One name for each column; the first column names the rows.
    rows : tuple of tuple of str
    legend : str
        What the columns contain; may be empty.
    styles : tuple of str
        Rich styles of the rows' names; empty for none.
    bold : tuple of tuple of bool
        Which cells stand out: bold, in plain text with an asterisk; empty for none.
    footer : int
        How many of the last rows are set apart from the others.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: str = ""
    styles: tuple[str, ...] = ()
    bold: tuple[tuple[bool, ...], ...] = ()
    footer: int = 0

    @classmethod
    def of_frame(cls, frame: pd.DataFrame) -> Table:
        """The first rows of a data frame, with each cell formatted for reading."""
        names = [shown(str(name)) for name in frame.columns]
        head = frame.head(MOST_ROWS)
        cells = [[cell_text(str(name), value) for value in head[name]] for name in head.columns]
        rows = tuple(
            (shown(str(label)), *(column[place] for column in cells)) for place, label in enumerate(head.index)
        )
        more = len(frame) - MOST_ROWS
        return cls(("", *names), rows, legend=f"{more:,} more rows in to_frame()" if more > 0 else "")

    def to_text(self) -> list[str]:
        """Lines with aligned columns, the first to the left, the others to the right."""
        rows = self.with_asterisks()
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.header))]
        lines = []
        for row in rows:
            others = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            lines.append("  ".join(["", row[0].ljust(widths[0]), *others]).rstrip())
        return lines + ([f"  ({self.legend})"] if self.legend else [])

    def with_asterisks(self) -> list[tuple[str, ...]]:
        """The header and the rows; in columns with bold cells these end with an asterisk, the others with a space."""
        if not self.bold:
            return [self.header, *self.rows]
        marked = [any(column) for column in zip(*self.bold, strict=True)]
        marks = [("",) * len(self.header), *(["*" if strong else "" for strong in row] for row in self.bold)]
        return [
            tuple(cell + (mark or " ") * there for cell, mark, there in zip(row, signs, marked, strict=True))
            for row, signs in zip([self.header, *self.rows], marks, strict=True)
        ]

    def _cells(self, strong: str = "{}", plain: Callable[[str], str] = str) -> list[list[str]]:
        """The rows with each cell escaped by ``plain``, and bold ones inside ``strong``."""
        bold = self.bold or ((False,) * len(self.header),) * len(self.rows)
        return [
            [strong.format(plain(cell)) if marked else plain(cell) for cell, marked in zip(row, marks, strict=True)]
            for row, marks in zip(self.rows, bold, strict=True)
        ]

    def to_rich(self) -> list[Any]:
        """The table and its legend, for rich."""
        from rich.padding import Padding
        from rich.text import Text

        legend = [Padding(Text(f"({self.legend})", style="dim"), (0, 2))] if self.legend else []
        return [Padding(FittedTable(self), (0, 2)), *legend]

    def to_html(self) -> str:
        """A ``<table>``, every cell escaped."""
        head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in self.header)
        rows = [
            f"<tr><th scope='row'>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>"
            for row in self._cells("<strong>{}</strong>", html.escape)
        ]
        place = len(rows) - self.footer
        body, foot = "".join(rows[:place]), "".join(rows[place:])
        foot = f"<tfoot>{foot}</tfoot>" if foot else ""
        legend = f"<p><small>{html.escape(self.legend)}</small></p>" if self.legend else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table>{legend}"

    def to_markdown(self) -> list[str]:
        """Lines of a Markdown table."""
        lines = [f"| {' | '.join(map(markdown, self.header))} |", "|---" + "|---:" * (len(self.header) - 1) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in self._cells("**{}**", markdown)]
        return lines + (["", markdown(self.legend)] if self.legend else [])

    def to_latex(self, *, legend: bool = True) -> list[str]:
        r"""Lines of a ``tabular`` for booktabs, the legend as a comment above it."""
        rows = [" & ".join(row) + r" \\" for row in self._cells(r"\textbf{{{}}}", latex)]
        place = len(rows) - self.footer
        return [
            *([f"% {' '.join(self.legend.split())}"] if legend and self.legend else []),
            r"\begin{tabular}{l" + "r" * (len(self.header) - 1) + "}",
            r"\toprule",
            " & ".join(map(latex, self.header)) + r" \\",
            r"\midrule",
            *rows[:place],
            *([r"\midrule", *rows[place:]] if self.footer else []),
            r"\bottomrule",
            r"\end{tabular}",
        ]


@dataclass(frozen=True)
class FittedTable:
    """A table for rich that leaves out its last columns on a narrow terminal; names of rows are never cut.

    Attributes
    ----------
    table : Table
    """

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        from rich.measure import Measurement
        from rich.text import Text

        total = columns = len(self.table.header)
        drawn = self._first_columns(columns)
        while columns > 2 and Measurement.get(console, options.update_width(10**6), drawn).maximum > options.max_width:
            columns -= 1
            drawn = self._first_columns(columns)
        yield drawn
        if columns < total:
            left_out = ", ".join(self.table.header[columns:])
            yield Text(f"(not in {console.width} columns: {left_out})", style="dim")

    def _first_columns(self, count: int) -> RichTable:
        from rich.table import Table as RichTable
        from rich.text import Text

        table = self.table
        drawn = RichTable(box=None, pad_edge=False)
        drawn.add_column(Text(table.header[0]), style="bold", overflow="fold")
        for name in table.header[1:count]:
            drawn.add_column(Text(name), justify="right", overflow="fold")
        styles = table.styles or ("",) * len(table.rows)
        bold = table.bold or ((False,) * len(table.header),) * len(table.rows)
        for row, style, marks in zip(table.with_asterisks()[1:], styles, bold, strict=True):
            cells = zip(row[1:count], marks[1:count], strict=True)
            drawn.add_row(
                Text(row[0], style=style), *(Text(cell, style="bold" if strong else "") for cell, strong in cells)
            )
        return drawn


@dataclass(frozen=True)
class Document:
    """What a result shows, independent of the output format.

    Attributes
    ----------
    title : str
        The question and the data.
    conclusion : str
        One sentence that claims no more than the result.
    tables : tuple of Table
    details : tuple of str
        One line each.
    notes : tuple of str
        Every warning.
    status : {"ok", "warned", "failed"}
        How far to trust it; colours the conclusion on a terminal.
    """

    title: str
    conclusion: str
    tables: tuple[Table, ...] = ()
    details: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    status: str = "ok"

    def to_text(self) -> str:
        """Plain text."""
        lines = [self.title, "", self.conclusion]
        for table in self.tables:
            lines += ["", *table.to_text()]
        if self.details:
            lines += ["", *(f"  {line}" for line in self.details)]
        if self.notes:
            lines += ["", "Notes:", *(f"  - {note}" for note in self.notes)]
        return "\n".join(line.rstrip() for line in lines)

    def to_rich(self) -> Group:
        """The same in colour, for terminals."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        parts: list[Any] = [Text(self.title), Text(), Text(self.conclusion, style=STYLES[self.status])]
        for table in self.tables:
            parts += [Text(), *table.to_rich()]
        if self.details:
            parts += [Text(), *(Padding(Text(line), (0, 2)) for line in self.details)]
        if self.notes:
            parts += [Text(), Text("Notes:")]
            parts += [Padding(Text(f"- {note}", style="yellow"), (0, 2)) for note in self.notes]
        return Group(*parts)

    def to_html(self) -> str:
        """A ``<div>`` for notebooks, every text escaped."""
        tables = "".join(table.to_html() for table in self.tables)
        details, notes = (
            "".join(f"<li>{html.escape(line)}</li>" for line in lines) for lines in (self.details, self.notes)
        )
        return (
            f"<div class='hiercomp'><p>{html.escape(self.title)}</p><p><strong>{html.escape(self.conclusion)}</strong></p>"
            + tables
            + (f"<ul>{details}</ul>" if details else "")
            + (f"<p>Notes</p><ul>{notes}</ul>" if notes else "")
            + "</div>"
        )

    def to_markdown(self) -> str:
        """Markdown: the conclusion, the tables, then details and notes as lists."""
        lines = [markdown(self.conclusion)]
        for table in self.tables:
            lines += ["", *table.to_markdown()]
        for texts in (self.details, self.notes):
            if texts:
                lines += ["", *(f"- {markdown(text)}" for text in texts)]
        return "\n".join(lines)

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        r"""The tables for booktabs (``\usepackage{booktabs}``), the conclusion as a comment above them.

        With a caption, which is LaTeX, or a label, they are in one ``table`` environment.
        """
        lines = []
        for place, table in enumerate(self.tables):
            lines += [""] * (place > 0) + table.to_latex()
        if caption is not None or label is not None:
            lines = table_environment(lines, caption, label)
        return "\n".join([f"% {' '.join(self.conclusion.split())}", *lines])


class Documented:
    """Text, rich, HTML, Markdown and LaTeX forms of a result, all made from its `document`."""

    def document(self) -> Document:
        """The readable form of this result."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.document().to_text()

    def __rich__(self) -> Group:
        return self.document().to_rich()

    def _repr_html_(self) -> str:
        return self.document().to_html()

    def to_markdown(self) -> str:
        """The result as Markdown."""
        return self.document().to_markdown()

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        r"""The result's tables for booktabs (``\usepackage{booktabs}``), the conclusion as a comment above them.

        Parameters
        ----------
        caption, label : str, optional
            In LaTeX. With either, the tables are in one ``table`` environment.
        """
        return self.document().to_latex(caption=caption, label=label)


def table_environment(lines: Sequence[str], caption: str | None, label: str | None) -> list[str]:
    r"""Lines of LaTeX inside a ``table`` environment, with caption and label above them if they are given."""
    return [
        r"\begin{table}",
        r"\centering",
        *([rf"\caption{{{caption}}}"] if caption is not None else []),
        *([rf"\label{{{label}}}"] if label is not None else []),
        *lines,
        r"\end{table}",
    ]


def cell_text(column: str, value: Any) -> str:
    """A number with its meaningful digits, or a name without control characters."""
    if isinstance(value, str):
        return shown(value)
    if value is None or value != value:
        return "-"
    if column in PROBABILITIES:
        return "0" if value == 0 else probability_text(float(value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class Presentation(Documented):
    """A result with a title, a conclusion, notes and a frame, which make up its document."""

    @property
    def title(self) -> str:
        """The test and what it compared."""
        raise NotImplementedError

    @property
    def conclusion(self) -> str:
        """The result in one sentence."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """The numbers, at full precision."""
        raise NotImplementedError

    def document(self) -> Document:
        """Title, conclusion, the frame and the notes."""
        table = Table.of_frame(self.to_frame())
        return Document(self.title, self.conclusion, (table,), notes=tuple(getattr(self, "notes", ())))


def json_value(value: Any) -> Any:
    """A value as JSON can hold it, at every depth: a number that is not finite becomes None.

    Examples
    --------
    >>> json_value({"mean": np.float64(0.5), "range": (0, math.inf)})
    {'mean': 0.5, 'range': [0, None]}
    """
    if isinstance(value, Mapping):
        return {str(name): json_value(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
