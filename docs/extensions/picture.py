"""A directive that runs the code that it shows and puts the picture below it.

All blocks of a page share one namespace, from top to bottom. A block without a name makes no picture::

    ```{picture} rope_curve
    :alt: The three probabilities against the half-width of the rope.

    result.plot.rope_curve()
    ```
"""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

mpl.use("Agg")

FOLDER = "_build/pictures"  # below docs/, where git does not look
DOTS = 120  # an inch


class Picture(SphinxDirective):
    """Show code, run it, show what it draws."""

    has_content = True
    optional_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The code as a block and, where the directive has a name, the picture."""
        source = "\n".join(self.content)
        shown = nodes.literal_block(source, source, language="python")
        self.add_name(shown)
        namespace = self.env.temp_data.setdefault("picture_namespace", {})
        value = _run(source, namespace)
        if not self.arguments:
            return [shown]
        if "alt" not in self.options:
            raise self.error("A picture needs :alt:, its content in words.")
        path = Path(self.env.srcdir) / FOLDER / f"{self.arguments[0]}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        _save(value, path)
        image = nodes.image(uri=f"/{FOLDER}/{path.name}", alt=self.options["alt"])
        return [shown, image]


def _run(source: str, namespace: dict[str, Any]) -> Any:
    """Run statements; the value of the last one, where it is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # a warning about the data is no fault of the page
        exec(compile(tree, "<picture>", "exec"), namespace)
        return (
            None
            if last is None
            else eval(
                compile(ast.Expression(last.value), "<picture>", "eval"), namespace
            )
        )


def _save(drawn: Any, path: Path) -> None:
    """The figure of axes, an array of axes, or a figure."""
    import matplotlib.pyplot as plt
    import numpy as np

    first = np.ravel(drawn)[0] if isinstance(drawn, np.ndarray) else drawn
    figure = first if hasattr(first, "savefig") else first.figure
    figure.savefig(path, dpi=DOTS, bbox_inches="tight")
    plt.close(figure)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
