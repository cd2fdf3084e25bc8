"""The page: contents through a template, with the style and the script inside and nothing from elsewhere; its file."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hiercomp.arguments import true_or_false
from hiercomp.errors import ResultFileError

if TYPE_CHECKING:
    from hiercomp.report.contents import ReportContents
    from hiercomp.report.tournament import TournamentContents


def render(contents: ReportContents | TournamentContents, template: str = "report.html.j2") -> str:
    """The report as one HTML page.

    Everything is escaped but the figures, which `inline_svg` makes. The Content-Security-Policy lets the browser run this
    style and this script, known by their hashes, and load nothing.

    Parameters
    ----------
    contents : ReportContents or TournamentContents
    template : str
        The one for these contents.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style, script = _read("report.css"), _read("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    # Style and script are files of this package and the figures are made by it: only these are not escaped
    return environment.get_template(template).render(
        contents=contents,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        svg={key: Markup(figure.svg) for key, (_, figure) in contents.figures.items()},
    )


def free_path(path: str | Path, overwrite: bool) -> Path:
    """Where a page may be written, checked before it is made.

    Raises
    ------
    ResultFileError
        If the file exists and ``overwrite`` is False, or there is no such folder.
    """
    path = Path(path)
    if path.exists() and not true_or_false("overwrite", overwrite):
        raise ResultFileError(f"{path} exists. Choose another name, or pass overwrite=True (--force).")
    if not path.absolute().parent.is_dir():
        raise ResultFileError(f"{path} can't be written: there is no folder {path.absolute().parent}.")
    return path


def write_page(page: str, path: Path) -> Path:
    """Write a page; the file appears whole or not at all.

    Raises
    ------
    ResultFileError
        If it can't be written.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=".hiercomp-", dir=path.parent) as folder:
            unfinished = Path(folder) / "report.html"
            unfinished.write_bytes(page.encode())
            os.replace(unfinished, path)
    except OSError as error:
        raise ResultFileError(f"{path} can't be written: {error.strerror}.") from error
    return path


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a Content-Security-Policy names an inline element."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
