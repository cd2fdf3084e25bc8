"""A matplotlib figure as an SVG element that may stand in a page: no style of its own, unique ids, words for the blind."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from hiercomp.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PIXELS_PER_POINT = 96 / 72
ENLARGEMENT = 1.3  # figures are drawn for a printed column, whose letters are too small for a screen
DROPPED = ("metadata", "style")
# Kept from a style attribute; the font's family is the page's
PRESENTATION = (
    "clip-path", "fill", "fill-opacity", "fill-rule", "font-size", "font-style", "font-weight", "image-rendering",
    "opacity", "stroke", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin",
    "stroke-miterlimit", "stroke-opacity", "stroke-width", "text-anchor",
)  # fmt: skip
COORDINATES = ("d", "x", "y")
NUMBER = re.compile(r"-?\d+\.\d{3,}")
REFERENCE = re.compile(r"#([\w-]+)")
KEY = re.compile(r"[a-z][a-z0-9-]*")


def inline_svg(figure: Figure, key: str, title: str, description: str, *, letters_as_paths: bool = True) -> str:
    """An ``svg`` element for an HTML page.

    Style attributes become presentation attributes, which a Content-Security-Policy without ``unsafe-inline`` lets
    pass. Only ids that are referred to stay, and they start with ``key``. The same figure gives the same text.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    key : str
        Starts every id: lower-case letters, digits and hyphens.
    title, description : str
        What a screen reader says instead of the picture.
    letters_as_paths : bool
        Whether letters are drawn (they look the same everywhere) or written (any script that the reader's fonts have).

    Raises
    ------
    ArgumentError
        If the key can't start an id.
    """
    import matplotlib

    if not KEY.fullmatch(key):
        raise ArgumentError(f"key must be lower-case letters, digits and hyphens, got {key!r}.")
    stream = io.BytesIO()
    options = {"svg.fonttype": "path" if letters_as_paths else "none", "svg.hashsalt": key, "svg.image_inline": True}
    with matplotlib.rc_context(options):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    source = ElementTree.fromstring(stream.getvalue())
    ids = {name: f"{key}-{number}" for number, name in enumerate(_referenced(source), start=1)}
    root = _clean(source, ids)
    width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])
    words = {"title": title, "desc": description}
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "width": f"{width * PIXELS_PER_POINT * ENLARGEMENT:.0f}",
        "height": f"{height * PIXELS_PER_POINT * ENLARGEMENT:.0f}",
        "role": "img",
        "aria-labelledby": " ".join(f"{key}-{name}" for name in words),
        "stroke-linejoin": "round",  # what matplotlib says in the style sheet that is dropped
        "stroke-linecap": "butt",
    }
    for place, (name, text) in enumerate(words.items()):
        element = ElementTree.Element(name, {"id": f"{key}-{name}"})
        element.text = text
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")


def _referenced(source: ElementTree.Element) -> list[str]:
    """The ids that something points to, in the order of their first mention."""
    found: dict[str, None] = {}
    for element in source.iter():
        for name, value in element.attrib.items():
            if _local(name) in ("href", "clip-path", "style") and not value.startswith("data:"):
                found.update(dict.fromkeys(REFERENCE.findall(value)))
    existing = {element.attrib.get("id") for element in source.iter()}
    return [name for name in found if name in existing]  # a colour, #8c8c8c, looks like a reference


def _clean(source: ElementTree.Element, ids: dict[str, str]) -> ElementTree.Element:
    element = ElementTree.Element(_local(source.tag))
    if source.text and source.text.strip():
        element.text = source.text
    for name, value in source.attrib.items():
        for attribute, given in _attributes(_local(name), value):
            if attribute == "id":
                if given in ids:
                    element.set("id", ids[given])
            elif attribute in COORDINATES:
                element.set(attribute, " ".join(NUMBER.sub(_rounded, given).split()))
            elif given.startswith("data:"):
                element.set(attribute, given)
            else:
                element.set(attribute, REFERENCE.sub(lambda found: f"#{ids.get(found[1], found[1])}", given))
    for child in source:
        if _local(child.tag) not in DROPPED:
            kept = _clean(child, ids)
            if kept.tag not in ("defs", "g") or len(kept):
                element.append(kept)
    return element


def _attributes(name: str, value: str) -> list[tuple[str, str]]:
    """An attribute, or those that a style attribute stands for."""
    if name != "style":
        return [(name, value)]
    pairs = [part.split(":", 1) for part in value.split(";") if ":" in part]
    given = {key.strip(): text.strip() for key, text in pairs}
    size = re.search(r"[\d.]+px", given.get("font", ""))  # matplotlib before 3.10 writes the shorthand
    if size:
        given["font-size"] = size[0]
    return [(key, given[key]) for key in PRESENTATION if key in given]


def _rounded(number: re.Match[str]) -> str:
    """Hundredths of a point are enough for any printer."""
    text = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _local(name: str) -> str:
    """A name without its namespace, as HTML wants it."""
    return name.rsplit("}", 1)[-1]
