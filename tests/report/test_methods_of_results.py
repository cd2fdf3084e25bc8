"""`result.methods()` is the paragraph of the report, with its references."""

from __future__ import annotations

import json

import pytest

import hiercomp as hc
from hiercomp.report import write_report, write_tournament_report
from hiercomp.wording import MINUS
from tests.report.report_pages import Page
from tests.tournaments import four_algorithms


@pytest.fixture(scope="module")
def tournament() -> hc.TournamentResult:
    return hc.compare_all(four_algorithms(6), rope=0.01, progress=False)


def paragraph(page: Page) -> str:
    return page.by_id("methods-text").text.strip()


def test_the_paragraph_is_that_of_the_report(result, tournament, tmp_path):
    one = Page(write_report(result, tmp_path / "one.html", alpha=0.1).read_text(encoding="utf-8"))
    many = Page(write_tournament_report(tournament, tmp_path / "many.html", alpha=0.1).read_text(encoding="utf-8"))
    assert result.methods(alpha=0.1).text == paragraph(one).replace(MINUS, "-")
    assert tournament.methods(alpha=0.1).text == paragraph(many).replace(MINUS, "-")
    assert "above 0.9 " in result.methods(alpha=0.1).text or "above 0.9." in result.methods(alpha=0.1).text


def test_it_prints_with_its_references_and_has_bibtex(result, tournament):
    for found in (result.methods(), tournament.methods()):
        text = str(found)
        assert text.startswith(found.text)
        assert "\n\nReferences\n- " in text
        assert "Corani, G., " in text
        assert "https://doi.org/10.1007/s10994-017-5641-9" in text
        assert found.bibtex.count("@article") == len(found.references)
        for reference in found.references:
            assert reference.short in found.text or reference.narrative in found.text
        json.dumps(found.to_dict())
        assert "<li>" in found._repr_html_()


def test_a_level_outside_the_range_is_refused(result, tournament):
    for one in (result, tournament):
        with pytest.raises(hc.ArgumentError, match="alpha"):
            one.methods(alpha=0.6)


@pytest.mark.slow
def test_the_paragraph_names_the_metric(tournament):
    scores = four_algorithms(6).rename(columns={"score": "auc"})
    assert "paired differences of the scores (auc)" in hc.compare_all(scores, rope=0.01, progress=False).methods().text
    assert "paired differences of the scores of its" in tournament.methods().text
    one = hc.compare(scores, "boosting", "tree", rope=0.01, engine="quadrature", progress=False)
    assert "paired differences of the scores (auc), tree minus boosting" in one.methods().text


def test_scores_without_correlation_are_called_independent(scores):
    text = hc.compare(scores, "bayes", "tree", rope=0.01, rho=0, engine="quadrature").methods().text
    assert "The differences of a data set were treated as independent." in text
    assert "correlated, because" not in text
