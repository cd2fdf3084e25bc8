"""What the tests of the report share: a reader of pages, variants without refits, and names that attack."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pandas as pd

import hiercomp as hc
from hiercomp.posterior.influence import Influence
from hiercomp.posterior.sensitivity import Sensitivity, VariantResult

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}
SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://example.com","x")'
ATTACKS = [
    SCRIPT,
    FORMULA,
    "</svg><img src=x onerror=alert(2)>",
    '" onmouseover="alert(3)',
    "$x_1$",
    "{{ 7 * 7 }}{% raw %}",
    "-->]]></style></title>",
    "a" * 200,
]


@dataclass
class Element:
    """An element of a page with its text, that of its children included."""

    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.words)


class Page(HTMLParser):
    """Every element of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.feed(html)
        self.close()
        assert self.open == [], [element.tag for element in self.open]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        parents = tuple(element.attributes.get("id", "") for element in self.open)
        element = Element(tag, {name: value or "" for name, value in attributes}, parents)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.words.append(data)

    def all(self, tag: str, within: str = "") -> list[Element]:
        return [
            element
            for element in self.elements
            if element.tag == tag and (not within or within in (*element.parents, element.attributes.get("id")))
        ]

    def by_id(self, name: str) -> Element:
        (found,) = [element for element in self.elements if element.attributes.get("id") == name]
        return found

    def by_class(self, name: str) -> list[Element]:
        return [element for element in self.elements if name in element.attributes.get("class", "").split()]

    def table(self, key: str) -> pd.DataFrame:
        """The texts of a table, by the names of its columns."""
        cells = [
            element for element in self.elements if element.tag in ("th", "td") and f"table-{key}" in element.parents
        ]
        columns = self.columns(key)
        texts = [cell.text for cell in cells[len(columns) :]]
        rows = [texts[start : start + len(columns)] for start in range(0, len(texts), len(columns))]
        return pd.DataFrame(rows, columns=columns)

    def pictures(self) -> list[ElementTree.Element]:
        """The drawings of the figures, in the order of the page."""
        addresses = [image.attributes["src"] for image in self.all("img")]
        assert all(address.startswith("data:image/svg+xml,") for address in addresses)
        return [ElementTree.fromstring(unquote(address.partition(",")[2]).encode()) for address in addresses]

    def columns(self, key: str) -> list[str]:
        return [cell.text for cell in self.all("th", f"table-{key}") if cell.attributes["scope"] == "col"]

    def facts(self) -> dict[str, str]:
        return dict(zip((each.text for each in self.all("dt")), (each.text for each in self.all("dd")), strict=True))


def assert_texts_round_the_numbers(texts: pd.Series, numbers: pd.Series) -> None:
    """Each text is within half a unit of its last digit of its number, or a bound that holds; a dash where there is none."""
    for text, value in zip(texts, map(float, numbers), strict=True):
        if math.isnan(value):
            assert text == "–"
            continue
        sign, bound = text[:2], float(text.strip("<> ").replace("−", "-").replace(",", ""))
        decimals = len(text.partition("e")[0].partition(".")[2])
        if sign in ("< ", "> "):
            assert value < bound if sign == "< " else value > bound, (text, value)
        elif "e" in text:
            assert math.isclose(value, bound, rel_tol=0.5 * 10**-decimals), (text, value)
        else:
            assert abs(bound - value) <= 0.5 * 10**-decimals + 1e-12, (text, value)


def variants_of(result: hc.ComparisonResult, alpha: float = 0.05) -> Sensitivity:
    """A sensitivity table of this result without refits: one variant agrees, one does not, one failed."""
    seen, region = result.next_dataset, result.decision(alpha).region
    nothing = math.nan
    return Sensitivity(
        (
            VariantResult("as fitted", seen.p_left, seen.p_rope, seen.p_right, 0.004, region, "ok"),
            VariantResult("nu: kruschke", 0.001, 0.002, 0.997, 0.0041, region, "ok"),
            VariantResult("rho x 2", 0.25, 0.125, 0.625, 0.0042, "none", "warned"),
            VariantResult("upper bounds x 100", nothing, nothing, nothing, nothing, "failed", "failed"),
        ),
        (result.left, result.right),
        alpha,
        result.rope,
    )


def influence_of(result: hc.ComparisonResult) -> Influence:
    """An influence table of this result; the last data set matters most, the integration without the first failed."""
    names = result.differences.dataset_names
    seen = np.array(list(result.next_dataset.probabilities.values()))
    shift = np.linspace(0, 0.05, len(names))
    without = seen + np.stack([shift, 0 * shift, -shift], axis=1)
    without[0] = np.nan
    refitted = np.arange(len(names)) < 1
    return Influence(names, without, seen, refitted, (result.left, result.right))


def attacked(result: hc.ComparisonResult, suffix: str = "") -> hc.ComparisonResult:
    """The same result of 8 data sets under names that do harm where they are not escaped."""
    names = tuple(f"{attack}{suffix}" for attack in ATTACKS)
    left, right = f"{SCRIPT}{suffix}", f"{FORMULA}</svg>{suffix}"
    return replace(
        result, differences=replace(result.differences, left=left, right=right, dataset_names=names, scores=None)
    )
