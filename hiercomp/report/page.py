"""The page: contents through the template, with the style and the script inside and nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hiercomp.report.contents import ReportContents


def render(contents: ReportContents) -> str:
    """The report as one HTML page.

    Everything is escaped but the figures, which `inline_svg` makes. The Content-Security-Policy lets the browser run this
    style and this script, known by their hashes, and load nothing.

    Parameters
    ----------
    contents : ReportContents
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    style, script = _read("report.css"), _read("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    template = environment.from_string(_read("report.html.j2"))
    # Style and script are files of this package and the figures are made by it: only these are not escaped
    return template.render(
        contents=contents,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        svg={key: Markup(figure.svg) for key, (_, figure) in contents.figures.items()},
    )


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a Content-Security-Policy names an inline element."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
