"""Names that would do harm where they are printed, or that no file could hold."""

from __future__ import annotations

import unicodedata

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from tests.tournaments import four_algorithms

LONG = {
    "boosting": "b" * 10_000,
    "forest": "f" * 9_999 + "1",
    "bayes": "f" * 9_999 + "2",
    "tree": "\x1b[2J" + "t" * 10_000,
}


def renamed(names: dict[str, str], datasets: str = "") -> pd.DataFrame:
    table = four_algorithms(datasets=5)
    return table.assign(algorithm=table["algorithm"].map(names), dataset=table["dataset"] + datasets)


@pytest.fixture(scope="module")
def long_names() -> hc.TournamentResult:
    return hc.compare_all(renamed(LONG, "d" * 10_000), rho=0.1, n_jobs=1, progress=False)


def test_long_names_are_shortened_where_they_are_printed_and_whole_in_the_data(long_names):
    pair = long_names.pair(LONG["forest"], LONG["bayes"])
    for text in (
        str(long_names.summary()),
        str(pair.summary()),
        pair.summary().to_markdown(),
        pair.summary().to_latex(),
    ):
        assert "f" * 300 in text
        assert "f" * 600 not in text
        assert len(text) < 40_000  # was 101,359
        assert "\x1b" not in text
    assert len(repr(pair)) < 2000
    assert {LONG["forest"], LONG["tree"]} < set(long_names.algorithms)
    assert set(pair.datasets().index) == {f"d{number}" + "d" * 10_000 for number in range(5)}


def test_names_that_differ_at_their_ends_stay_different_where_they_are_shortened(long_names):
    text = str(long_names.pair(LONG["forest"], LONG["bayes"]).summary())
    assert "f1 " in text
    assert "f2 " in text


def test_an_unknown_long_name_is_a_short_error(long_names):
    for call in (
        lambda: long_names.pair("f" * 10_000, LONG["tree"]),
        lambda: long_names.verdict("z" * 10_000, LONG["tree"]),
        lambda: long_names.verdict(LONG["tree"], LONG["tree"]),
        lambda: hc.HierarchicalComparison(renamed(LONG), "f" * 10_000, "x"),
    ):
        with pytest.raises(hc.HiercompError) as caught:
            call()
        assert len(str(caught.value)) < 4000
        assert "\x1b" not in str(caught.value)


@pytest.mark.slow
def test_arguments_of_a_tournament_are_brought_to_the_form_of_its_names():
    apart = unicodedata.normalize("NFD", "étude")
    table = renamed({"boosting": apart, "forest": "B", "bayes": "C", "tree": "D"})
    result = hc.compare_all(table, rho=0.1, n_jobs=1, progress=False)
    assert apart != "étude"
    assert "étude" in result.algorithms
    assert result.verdict(apart, "B") == result.verdict("étude", "B") == result.verdict("étude", " B ")
    one, other = (apart, "B") if result.pairs[0].left == "étude" or result.algorithms[0] == "étude" else ("B", apart)
    assert {result.pair(one, other).left, result.pair(one, other).right} == {"étude", "B"}


def test_names_that_no_file_holds_are_refused_before_the_fit():
    name = "a\0b"  # half a pair of surrogates is refused by pandas itself
    table = renamed({"boosting": name, "forest": "B", "bayes": "C", "tree": "D"})
    scores = np.random.default_rng(0).normal(0.8, 0.02, (2, 3, 10))
    frame = pd.DataFrame(np.ones((3, 2)), columns=["a", name], index=pd.Index(list("xyz"), name="dataset"))
    for call in (
        lambda: hc.HierarchicalComparison(table, "B", "C"),
        lambda: hc.compare_all(table, progress=False),
        lambda: hc.HierarchicalComparison.from_arrays(*scores, dataset_names=[name, "b", "c"]),
        lambda: hc.HierarchicalComparison.from_arrays(*scores, left=name),
        lambda: hc.friedman_test(frame),
    ):
        with pytest.raises(hc.ScoreTableError) as caught:
            call()
        assert "\0" not in str(caught.value)
    assert any(
        "can't be" in problem.message or "Unicode" in problem.message for problem in hc.check_scores(table).errors
    )
