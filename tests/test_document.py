"""How results of tests look as text and as HTML."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from hiercomp.closed_form.many_algorithms.friedman import friedman_test, nemenyi_test
from hiercomp.closed_form.many_algorithms.posthoc import posthoc_test
from hiercomp.closed_form.one_dataset.correlated_t import correlated_t_test
from hiercomp.closed_form.one_dataset.five_by_two import five_by_two_cv_f
from hiercomp.closed_form.one_dataset.frequentist import corrected_t_test
from hiercomp.closed_form.one_dataset.mcnemar import mcnemar
from hiercomp.document import MOST_ROWS, Document, Presentation, Table, cell_text
from hiercomp.wording import latex, markdown

ROWS = np.random.default_rng(1).normal(0.01, 0.03, size=(3, 6))


@dataclass(frozen=True, eq=False, repr=False)
class Shown(Presentation):
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return "A <test>"

    @property
    def conclusion(self) -> str:
        return "left & right are equal."

    def to_frame(self) -> pd.DataFrame:
        return self.frame


FRAME = pd.DataFrame({"left": [0.5, 0.0], "p": [0.00012345, 1.0], "name": ["a", "b"]}, index=["iris", "wine"])


def test_the_text_has_title_conclusion_table_and_notes():
    text = str(Shown(FRAME, ("One was dropped.", "Another too.")))
    blocks = text.split("\n\n")
    assert blocks[:2] == ["A <test>", "left & right are equal."]
    assert blocks[2].splitlines()[1].split() == ["iris", "0.500", "0.0001234", "a"]
    assert blocks[3] == "Notes:\n  - One was dropped.\n  - Another too."
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_without_notes_there_is_no_heading_for_them():
    assert "Notes" not in str(Shown(FRAME))
    assert "Notes" not in Shown(FRAME)._repr_html_()


def test_html_is_escaped():
    nasty = FRAME.rename(index={"iris": "<script>alert(1)</script>"}).assign(name="<img onerror=x>")
    found = Shown(nasty, ("note <b>",))._repr_html_()
    assert "<script>" not in found
    assert "<img" not in found
    assert "&lt;script&gt;" in found
    assert "A &lt;test&gt;" in found
    assert "left &amp; right" in found
    assert "note &lt;b&gt;" in found


def test_control_characters_are_shown_as_escapes():
    nasty = FRAME.rename(index={"iris": "iris\x1b[31m\nred\u202e"}).assign(name="tree\r")
    for text in (str(Shown(nasty)), Shown(nasty)._repr_html_()):
        assert not {"\x1b", "\r", "\u202e"} & set(text)
        assert r"iris\x1b[31m\nred\u202e" in text


def test_names_of_algorithms_are_escaped_in_title_and_conclusion():
    for result in (
        correlated_t_test(ROWS, rho=0.1, left="a\x1b[0m", right="b\n"),
        correlated_t_test(ROWS[0], rho=0.1, left="a\x1b[0m", right="b\n"),
        corrected_t_test(ROWS, rho=0.1, left="a\x1b[0m", right="b\n"),
    ):
        assert "\x1b" not in str(result)
        assert r"a\x1b[0m" in result.title


def test_a_long_table_is_cut_and_says_so():
    long = pd.DataFrame({"p": np.linspace(0, 1, MOST_ROWS + 7)})
    text = str(Shown(long))
    assert "7 more rows in to_frame()" in text
    assert len(text.splitlines()) == MOST_ROWS + 6  # title, conclusion, header, two empty lines, and how many are left
    assert "more in" not in str(Shown(long.head(MOST_ROWS)))


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("p", 0.00012345, "0.0001234"),
        ("p", 1.0, "1"),
        ("p", np.float64(1e-30), "1e-30"),
        ("statistic", np.inf, "inf"),
        ("statistic", np.nan, "-"),
        ("df", None, "-"),
        ("ties", 3, "3"),
        ("ties", np.int64(3), "3"),
        ("left", 0.0004, "< 0.001"),
        ("right", 0.9999, "> 0.999"),
        ("rope", 0.0, "0"),
        ("rope", 0.25, "0.250"),
        ("name", "a\tb", r"a\tb"),
        ("name", 3, "3"),
    ],
)
def test_cells_have_the_digits_that_mean_something(column: str, value: Any, text: str):
    assert cell_text(column, value) == text


RESULTS = {
    "correlated": lambda: correlated_t_test(ROWS, rho=0.1),
    "corrected": lambda: corrected_t_test(ROWS, rho=0.1),
    "mcnemar": lambda: mcnemar([4, 2, 1, 3]),
    "five by two": lambda: five_by_two_cv_f(ROWS[0, :1] + np.arange(10).reshape(5, 2)),
    "friedman": lambda: friedman_test(ROWS),
    "nemenyi": lambda: nemenyi_test(ROWS),
    "posthoc": lambda: posthoc_test(ROWS),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_every_result_can_be_shown_and_can_not_be_changed(result):
    shown = result()
    assert shown.title in str(shown)
    assert shown.conclusion in str(shown)
    assert "<table" in shown._repr_html_()
    assert len(shown.to_frame()) > 0
    with pytest.raises(AttributeError):
        shown.notes = ()


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_the_table_of_a_result_keeps_full_precision(result):
    frame = result().to_frame()
    kept = [name for name in ("pvalue", "p_left", "statistic", "mean_rank") if name in frame]
    assert kept
    assert all(frame[name].dtype.kind == "f" for name in kept)


def test_what_has_no_title_of_its_own_is_unfinished():
    for name in ("title", "conclusion"):
        with pytest.raises(NotImplementedError):
            getattr(Presentation(), name)
    with pytest.raises(NotImplementedError):
        Presentation().to_frame()


def on_a_terminal(content: Any, width: int) -> str:
    with io.StringIO() as stream:
        Console(file=stream, width=width, force_terminal=False, color_system=None).print(content)
        return stream.getvalue()


def test_a_narrow_terminal_loses_columns_and_never_names():
    names = ("gradient_boosting_machine", "gradient_boosting_classifier", "random_forest_with_many_trees")
    header = ("algorithm", "expected rank", "95% interval", "P(best)", "better than", "worse than", "equivalent to")
    rows = tuple((name, "1.23", "1.00 to 3.00", "0.500", "1", "1", "0") for name in names)
    table = Table(header, rows, legend="what it says")
    document = Document("title", "conclusion", (table,))
    for width in (40, 60, 80, 100, 140):
        text = on_a_terminal(document.to_rich(), width)
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        lines = text.splitlines()
        assert max(map(len, lines)) <= width
        assert all(name in " ".join(text.split()) for name in header)  # in the table, or among those left out
        if width >= 60:
            assert all(sum(name in line for line in lines) == 1 for name in names)
            heading = next(line for line in lines if line.split()[:1] == ["algorithm"])
            assert all(name in heading for name in header) == ("not in" not in text)
    assert "equivalent to)" in on_a_terminal(document.to_rich(), 80)


def test_a_name_longer_than_the_terminal_is_folded():
    name = "a" * 30 + "b" * 30
    table = Table(("algorithm", "rank", "more"), ((name, "1.23", "4"),))
    text = on_a_terminal(Document("title", "conclusion", (table,)).to_rich(), 50)
    assert "".join(character for character in text if character in "ab").count("b" * 30) >= 1
    assert text.count("a" * 30) == 1
    assert "1.23" in text


def test_names_that_latex_and_markdown_would_take_for_their_own():
    """A row of a LaTeX table ends in two backslashes, which take a following star or bracket as an argument."""
    assert (latex("[a]"), latex("*b"), latex("a[1]*")) == ("{[}a]", "{*}b", "a[1]*")
    assert markdown("a&lt; ~~b~~ $c$") == r"a\&lt; \~\~b\~\~ \$c\$"
