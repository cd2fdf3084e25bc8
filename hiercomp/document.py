"""How results look that have a title, a sentence and a table: as text and as HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from hiercomp.scores.table import shown
from hiercomp.wording import probability_text

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 60
PROBABILITIES = ("left", "tie", "rope", "right", "probability", "majority")


class Presentation:
    """Text and HTML of a result that has a title, a conclusion, notes and a frame."""

    @property
    def title(self) -> str:
        """Which test, of what."""
        raise NotImplementedError

    @property
    def conclusion(self) -> str:
        """What the result says, in a sentence."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """The numbers, at full precision."""
        raise NotImplementedError

    def __str__(self) -> str:
        frame = self._shown_frame()
        lines = [self.title, "", self.conclusion, "", *("  " + line for line in frame.to_string().splitlines())]
        if len(self.to_frame()) > MOST_ROWS:
            lines.append(f"  ... {len(self.to_frame()) - MOST_ROWS} more in to_frame()")
        notes = getattr(self, "notes", ())
        if notes:
            lines += ["", "Notes:", *(f"  - {note}" for note in notes)]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in getattr(self, "notes", ()))
        return (
            f"<div class='hiercomp-test'><p>{html.escape(self.title)}</p>"
            f"<p><strong>{html.escape(self.conclusion)}</strong></p>{self._shown_frame().to_html(border=0, escape=True)}"
            + (f"<p>Notes</p><ul>{notes}</ul>" if notes else "")
            + "</div>"
        )

    def _shown_frame(self) -> pd.DataFrame:
        """The first rows of the frame, every cell as a person reads it."""
        frame = self.to_frame().head(MOST_ROWS)
        cells = {name: [cell_text(str(name), value) for value in frame[name]] for name in frame.columns}
        shown_frame = type(frame)(cells, index=[shown(str(label)) for label in frame.index])
        shown_frame.columns = [shown(str(name)) for name in frame.columns]
        return shown_frame


def cell_text(column: str, value: Any) -> str:
    """A number with the digits that mean something, a name without control characters."""
    if isinstance(value, str):
        return shown(value)
    if value is None or value != value:
        return "-"
    if column in PROBABILITIES:
        return "0" if value == 0 else probability_text(float(value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
