"""Inline code that is a public name of hiercomp becomes a link to the reference.

`hc.plan`, `posthoc_test(...)`, `plots.plot_ranking` and `result.summary()` are linked wherever they stand,
without any mark in the text. A bare word that may also be English or a command, such as `plan` or `compare`,
is not; nor is a name that is already in a link or a heading.
"""

from __future__ import annotations

import re
from typing import ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import hiercomp
from hiercomp import plots

NAME = re.compile(r"(?:(hc|hiercomp|plots|result)\.)?([A-Za-z_]\w*)(\(.*\))?")
INSIDE = (nodes.reference, nodes.title, nodes.term, addnodes.pending_xref)


def target(code: str) -> str | None:
    """The full name that a piece of inline code stands for, if it is a public one."""
    found = NAME.fullmatch(code)
    if found is None:
        return None
    owner, name, call = found.groups()
    if owner == "result":
        return (
            f"hiercomp.ComparisonResult.{name}"
            if name in vars(hiercomp.ComparisonResult)
            else None
        )
    if owner == "plots" or (owner is None and name in plots.__all__):
        return f"hiercomp.plots.{name}" if name in plots.__all__ else None
    telling = owner is not None or call is not None or "_" in name or name[0].isupper()
    public = name in hiercomp.__all__ and name != "plots"
    return f"hiercomp.{name}" if telling and public else None


class LinkNames(SphinxTransform):
    """Wrap each piece of inline code with a target in a reference to it."""

    default_priority: ClassVar[int] = 500

    def apply(self) -> None:
        """Change the document."""
        for code in list(self.document.findall(nodes.literal)):
            name = target(code.astext())
            if name is None or _inside(code):
                continue
            link = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=name,
                refexplicit=True,
                refwarn=True,
                refdoc=self.env.docname,
            )
            code.replace_self(link)
            link += code


def _inside(node: nodes.Node) -> bool:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, INSIDE):
            return True
        parent = parent.parent
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
