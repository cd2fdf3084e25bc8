"""Text tables: the quick parser and the strict one see the same cells, and formulas are disarmed reversibly."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hiercomp.errors import ArgumentError, ScoreFileError
from hiercomp.files.reading.decoding import BEGINNING, checked_encoding
from hiercomp.files.reading.number_columns import TableOptions
from hiercomp.files.reading.score_files import _frame
from hiercomp.files.reading.separators import checked_separator, find_separator
from hiercomp.files.reading.strict_tables import parse_strictly
from hiercomp.files.reading.text_tables import (
    FORMULA,
    TextTable,
    parse_quickly,
    with_formula,
    without_formula,
)

CELL = st.one_of(
    st.floats(0, 1).map(repr),
    st.integers(-99, 99).map(str),
    st.sampled_from(
        ["", " ", "NA", "0,5", "91%", "-.5e-3", "'=x", '"', '""', "a b", "é", "日", "\u2028", "\ufeff", "\x1a"]
    ),
    st.text("ab',;\t|\"\r\n =1.", max_size=6),
)
TABLE = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=5)
)


def cells_of(table: TextTable) -> list[list[str]]:
    return [column.to_pylist() for column in table.cells]


def judged(content: bytes, separator: str) -> tuple[TextTable | None, TextTable | None]:
    """What the two parsers make of a text; None where they refuse it."""
    try:
        tables = list(parse_strictly([(bytearray(content), BEGINNING)], separator, "file"))
    except ScoreFileError:
        tables = []
    assert len(tables) < 2
    return parse_quickly(bytearray(content), separator), next(iter(tables), None)


def assert_same(quick: TextTable, strict: TextTable | None) -> None:
    assert strict is not None
    assert quick.names == strict.names
    assert cells_of(quick) == cells_of(strict)


@given(
    TABLE,
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.booleans(),
)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_both_parsers_read_what_was_written(rows, separator, end, quoting, last):
    names = [f"column {place}" for place in range(len(rows[0]))]
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting).writerows([names, *rows])
    text = stream.getvalue() if last else stream.getvalue().removesuffix(end)
    quick, strict = judged(text.encode(), separator)
    expected = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row][1:]
    if strict is None:  # the csv module of Python before 3.13 does not quote a lone carriage return
        assert quick is None
        assert "\r" in text
        return
    assert cells_of(strict) == [list(column) for column in zip(*expected, strict=True)]
    if quick is not None:
        assert_same(quick, strict)
    elif "\r" not in text.replace("\r\n", ""):  # such texts are left to the strict parser
        assert rows[0][0].startswith("\ufeff")


@given(st.text('ab1,;"\n\r \t\ufeffé', max_size=40), st.sampled_from([",", ";"]))
@example('a,b\n"x""y",""\n', ",")
@example('a,b\n"x"y,1\n', ",")
@example('a,b\nx"y,1\n', ",")
@example('a,b\n"""",""""\n', ",")
@example("a,b\n\ufeffx,1\n", ",")
@example('a,b\n""x"",1\n', ",")
@example('"a\nb",c\n1,2\n', ",")
@example("a,b\n1,2\n \n3,4\n", ",")
@settings(deadline=None, derandomize=True, max_examples=1500)
def test_the_quick_parser_takes_nothing_that_the_strict_one_refuses_or_reads_otherwise(text, separator):
    for content in (text, "a" + separator + "b\n" + text):
        quick, strict = judged(content.encode(), separator)
        if quick is not None:
            assert_same(quick, strict)


@given(TABLE, st.sampled_from([".", ","]), st.booleans())
@settings(deadline=None, derandomize=True, max_examples=200)
def test_both_parsers_give_identical_frames_or_the_same_refusal(rows, decimal, percent):
    names = ("dataset", "score", "b", "c")[: len(rows[0])]
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([names, *rows])
    quick, strict = judged(stream.getvalue().encode(), ",")
    assert strict is not None
    if quick is None:
        assert "\r" in stream.getvalue().replace("\r\n", "")  # left to the strict parser
        return
    found = []
    for table in (quick, strict):
        try:
            frame, notes = _frame([table], TableOptions("file", ",", decimal, percent, frozenset()))
            found.append((frame, frame.dtypes.tolist(), notes))
        except ScoreFileError as error:
            found.append(str(error).split("column")[1])  # only the strict parser knows the line
    if isinstance(found[0], str) or isinstance(found[1], str):
        assert found[0] == found[1]
    else:
        assert found[0][0].equals(found[1][0])
        assert found[0][1:] == found[1][1:]


@given(st.text("'=+-@\t\rab\"", max_size=6))
@settings(derandomize=True)
def test_disarming_a_formula_is_reversible_and_leaves_no_formula(text):
    disarmed = without_formula(text)
    assert with_formula(disarmed) == text
    assert not disarmed.startswith(("=", "+", "-", "@", "\t", "\r"))
    if not FORMULA.match(text):
        assert disarmed == text


@pytest.mark.parametrize(
    ("text", "written"), [("=1", "'=1"), ("'=1", "''=1"), ("'x", "'x"), ("a=1", "a=1"), ("@", "'@"), ("-2+3", "'-2+3")]
)
def test_an_apostrophe_stands_before_a_formula_only(text, written):
    assert without_formula(text) == written


@pytest.mark.parametrize(
    ("given", "separator"), [("tab", "\t"), ("\\t", "\t"), ("semicolon", ";"), (":", ":"), (None, None)]
)
def test_a_separator_is_a_character_or_its_name(given, separator):
    assert checked_separator(given) == separator


@pytest.mark.parametrize("encoding", ["rot13", "base64", "", "utf-8\0"])
def test_what_is_no_encoding_of_text_is_refused(encoding):
    with pytest.raises(ArgumentError, match="encoding"):
        checked_encoding(encoding)


def test_the_separator_is_found_also_where_the_sample_ends_inside_a_row():
    rows = "x;y, on, off\n" + "d;0.5\n" * 20_000  # commas would give more columns
    assert not rows[:65_536].endswith("\n")
    assert find_separator(bytearray(rows.encode()), "file") == ";"
