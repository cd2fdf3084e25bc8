"""The summary in every form: honest conclusions, the same numbers everywhere, and hostile names made harmless."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import re

import numpy as np
import pytest
from rich.console import Console

import hiercomp as hc
from hiercomp.rope import REGIONS
from hiercomp.summary.comparison import error_text, probability_text

HOSTILE = (
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "a|b",
    r"\input{x}",
    "50%_&#~^$",
    "\x1b[31mred",
    "line\r\nbreak",
    "\u202etxt.exe",
    "**bold** [link](javascript:x)",
    "[red]markup[/red]",
)


def renamed(result: hc.ComparisonResult, left: str, right: str = "tree") -> hc.ComparisonResult:
    return dataclasses.replace(result, differences=dataclasses.replace(result.differences, left=left, right=right))


def rich_text(summary, **options) -> str:
    stream = io.StringIO()
    Console(file=stream, width=200, **options).print(summary)
    return stream.getvalue()


def every_form(summary) -> dict[str, str]:
    return {
        "text": str(summary),
        "rich": rich_text(summary),
        "html": summary._repr_html_(),
        "markdown": summary.to_markdown(),
        "latex": summary.to_latex(),
    }


def cells(row: str, separator: str) -> list[str]:
    """The cells of a table row, split where the separator isn't escaped."""
    return [cell.strip() for cell in re.split(rf"(?<!\\){re.escape(separator)}", row)]


@pytest.fixture(scope="module")
def undecided(result):
    """A rope and a level at which the largest probability lies on its threshold."""
    wide = result.with_rope(0.025)
    probability = max(wide.next_dataset.probabilities.values())
    assert 0.55 < probability < 0.99
    return wide, 1 - probability


def test_the_conclusion_of_a_better_right_algorithm_names_both_and_the_margin(result):
    conclusion = result.summary().conclusion
    assert conclusion.startswith(
        "The most likely outcome on the next data set is that tree is better than bayes by more than 0.01 "
    )
    assert probability_text(result.next_dataset.p_right) in conclusion


def test_the_conclusion_of_a_better_left_algorithm_names_it_first(mirrored):
    assert mirrored.decision().region == "left"
    assert "that tree is better than bayes by more than 0.01 (" in mirrored.summary().conclusion


def test_the_conclusion_of_equivalence_claims_no_winner(result):
    conclusion = result.with_rope(0.2).summary().conclusion
    assert "bayes and tree are practically equivalent (difference within [-0.2, 0.2], probability " in conclusion
    assert "better" not in conclusion


def test_without_a_decision_there_is_no_claim(result):
    seen = result.with_rope(0.025)
    assert seen.decision(0.0001).region == "none"
    conclusion = seen.summary(0.0001).conclusion
    assert conclusion.startswith("No verdict at the 99.99% level")
    assert seen.outcome(seen.decision(0.0001).most_probable) in conclusion
    assert "is better than" not in conclusion


def test_an_undecided_probability_asks_for_more_draws(undecided):
    seen, alpha = undecided
    assert seen.decision(alpha).region == "undecided"
    conclusion = seen.summary(alpha).conclusion
    assert conclusion.startswith("Undecided")
    assert "more draws" in conclusion
    assert "is better than" not in conclusion


def test_beside_a_rope_that_leaves_out_zero_nobody_is_called_better_by_its_end(result):
    # All differences below 0.2 lie left of the rope [0.2, 0.3], also those that favour tree
    seen = result.with_rope((0.2, 0.3))
    assert seen.decision().region == "left"
    assert "tree is not better than bayes by more than 0.2" in seen.summary().conclusion
    seen = result.with_rope((-0.3, -0.2))
    assert seen.decision().region == "right"
    assert "bayes is not better than tree by more than 0.2" in seen.summary().conclusion


def test_a_rope_of_zero_has_no_margin(result):
    conclusion = result.with_rope(0).summary().conclusion
    assert "tree is better than bayes (probability" in conclusion


def test_an_asymmetric_rope_gives_the_margin_of_its_side(result, mirrored):
    assert "by more than 0.005 (" in result.with_rope((-0.02, 0.005)).summary().conclusion
    assert "by more than 0.005 (" in mirrored.with_rope((-0.005, 0.02)).summary().conclusion


def test_identical_algorithms_are_said_to_be_identical(identical):
    text = str(identical.summary())
    assert "identical scores on every fold: practically equivalent" in text
    assert re.search(r"practically equivalent +1 +0 +1 +0", text)


def test_identical_scores_beside_a_rope_that_excludes_zero_make_nobody_better(identical):
    conclusion = identical.with_rope((0.01, 0.03)).summary().conclusion
    assert conclusion.endswith(
        "identical scores on every fold: their difference, 0, lies outside the rope [0.01, 0.03]."
    )


def test_a_failed_fit_gives_reasons_and_no_numbers(failed):
    summary = failed.summary()
    for name, text in every_form(summary).items():
        assert "No verdict: the computation failed its checks" in text.replace("\\", ""), name
    rows = [line for line in str(summary).splitlines() if line.startswith(("  bayes", "  practically", "  tree"))]
    assert len(rows) == 3
    assert all(not re.search(r"\d", row) for row in rows)
    assert "Computation failed" in str(summary)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "< 0.001"),
        (0.0004, "< 0.001"),
        (0.001, "0.001"),
        (0.5, "0.500"),
        (0.9994, "> 0.999"),
        (0.9996, "> 0.999"),
        (1.0, "> 0.999"),
    ],
)
def test_a_probability_is_never_rounded_to_zero_or_one(value, text):
    assert probability_text(value) == text


def test_only_an_exact_zero_or_one_is_shown_as_such():
    assert [probability_text(value, exact=True) for value in (0.0, 1.0, 0.9999)] == ["0", "1", "> 0.999"]
    assert [error_text(value) for value in (0.0, 0.0001, 0.0123)] == ["0", "< 0.001", "0.012"]


@pytest.mark.parametrize("rope", [0, 0.001, 0.01, 0.025, 0.2])
def test_no_form_shows_a_rounded_zero_or_one_or_a_nan(result, rope):
    for name, text in every_form(result.with_rope(rope).summary()).items():
        assert not re.search(r"(?<![\d.])(0\.000|1\.000|nan|inf)(?![\d\w])", text), name


def test_every_form_holds_the_same_numbers(result):
    summary = result.with_rope(0.025).summary()
    seen = summary.next_dataset
    forms = every_form(summary)
    for region in REGIONS:
        for text in (probability_text(seen.probabilities[region]), probability_text(seen.expected[region])):
            for name, form in forms.items():
                shown = {"html": text.replace("<", "&lt;").replace(">", "&gt;")}.get(name, text)
                shown = {"markdown": re.sub("([<>])", r"\\\1", text)}.get(name, shown)
                shown = {"latex": re.sub("([<>])", r"$\1$", text)}.get(name, shown)
                assert shown in form, (name, region)


def test_the_rich_rendering_holds_every_line_of_the_text(result):
    rendered = " ".join(rich_text(result.summary()).split())
    for line in str(result.summary()).splitlines():
        for part in re.split(r"\s{2,}", line.strip()):
            assert " ".join(part.split()) in rendered


def test_the_rich_rendering_fits_a_narrow_terminal_without_losing_a_number(result):
    stream = io.StringIO()
    Console(file=stream, width=80).print(result.summary())
    assert max(map(len, stream.getvalue().splitlines())) <= 80
    assert probability_text(result.next_dataset.expected_rope) in stream.getvalue()
    assert "…" not in stream.getvalue()


def test_the_frame_has_a_row_for_each_region(result):
    frame = result.summary().to_frame()
    assert list(frame.index) == list(REGIONS)
    assert frame["probability"].to_dict() == result.next_dataset.probabilities
    assert frame.loc["left", "expected_error"] == result.next_dataset.errors["expected_left"]
    assert frame.loc["right", "outcome"] == "tree better"


@pytest.mark.parametrize("name", ["result", "failed", "identical"])
def test_the_dictionary_is_strict_json(name, request):
    summary = request.getfixturevalue(name).summary()
    content = summary.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert (content["left"], content["right"], content["rope"]) == ("bayes", "tree", [-0.01, 0.01])


def test_values_that_json_can_not_hold_become_null(result):
    broken = dataclasses.replace(result.diagnostics, r_hat=math.inf, e_bfmi=math.nan)
    posterior = dataclasses.replace(result.posterior, diagnostics=broken)
    content = dataclasses.replace(result, posterior=posterior).summary().to_dict()
    assert content["diagnostics"]["r_hat"] is content["diagnostics"]["e_bfmi"] is None
    json.dumps(content, allow_nan=False)


def test_undetermined_odds_are_null_in_the_dictionary(result):
    # Far beyond every difference no draw favours the outer regions
    odds = result.with_rope(0.5).summary().to_dict()["odds"]
    assert [pair["value"] for pair in odds if pair["grade"] == "undetermined"] == [None]


def test_the_text_names_the_engine_the_runs_the_seed_and_the_checks(result):
    text = str(result.summary())
    for part in ("embedded (stanli", "4 chains", "1,000 warmup iterations", "seed 0", "R-hat at most", "0 divergences"):
        assert part in text
    assert f"{result.diagnostics.ess_bulk:,.0f} (bulk)" in text


def test_notes_appear_in_every_readable_form(result):
    noted = dataclasses.replace(result, fit_notes=(hc.errors.Note(hc.HiercompWarning, "3 folds were dropped."),))
    for name, text in every_form(noted.summary()).items():
        if name != "latex":  # only the table
            assert "3 folds were dropped." in text, name
    assert noted.summary().to_dict()["notes"] == ["3 folds were dropped."]


@pytest.mark.parametrize("name", HOSTILE)
def test_control_characters_and_direction_marks_of_a_name_are_shown_as_escapes(result, name):
    for form, text in every_form(renamed(result, name).summary()).items():
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), form
    assert "\x1b" not in rich_text(renamed(result, name).summary(), force_terminal=False)


@pytest.mark.parametrize("name", HOSTILE)
def test_html_holds_no_markup_from_a_name(result, name):
    plain = renamed(result, "plain").summary()._repr_html_()
    hostile = renamed(result, name).summary()._repr_html_()
    tags = re.compile(r"<[^>]*>")
    assert tags.findall(hostile) == tags.findall(plain)


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_keeps_its_five_columns(result, name):
    lines = renamed(result, name).summary().to_markdown().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 5
    assert all(len(cells(row, "|")) == 7 for row in rows)  # five and the two outer ends
    assert "<script" not in "\n".join(lines).replace("\\<", "")
    assert not re.search(r"(?<!\\)[*`]", "\n".join(lines))


@pytest.mark.parametrize("name", HOSTILE)
def test_latex_is_a_balanced_booktabs_table_with_every_special_character_escaped(result, name):
    latex = renamed(result, name).summary().to_latex()
    comments = [line for line in latex.splitlines() if line.startswith("% ")]
    table = latex.splitlines()[len(comments) :]
    assert len(comments) == 2  # the conclusion and the legend
    assert [table[0], table[-1]] == [r"\begin{tabular}{lrrrr}", r"\end{tabular}"]
    assert [line for line in table if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\bottomrule"]
    rows = [line for line in table if line.endswith(r" \\")]
    assert len(rows) == 4
    for row in rows:
        body = row.removesuffix(r" \\")
        assert len(cells(body, "&")) == 5
        known = re.compile(r"\\textbackslash\{\}|\\textascii(tilde|circum)\{\}|\\[&%$#_{}]|\$[<>]\$|\{[*\[]\}")
        assert not re.search(r"[\\&%$#_{}~^<>]", known.sub("", body.replace(" & ", " "))), row


def test_square_brackets_in_a_name_are_no_rich_markup(result):
    assert "[red]markup[/red] better" in rich_text(renamed(result, "[red]markup[/red]").summary())


def test_a_data_set_name_in_a_failure_is_made_harmless_too():
    # A stuck chain on the one data set whose name is an escape sequence
    from hiercomp.posterior.diagnostics import diagnose

    generator = np.random.default_rng(0)
    variables = {"delta": generator.normal(size=(4, 500, 1)) + np.array([0, 5, 0, 0])[:, None, None]}
    statistics = {
        "diverging": np.zeros((4, 500)),
        "tree_depth": np.ones((4, 500)),
        "energy": generator.normal(size=(4, 500)),
    }
    failures = diagnose(variables, statistics, ("\x1b[31m",)).failures
    assert failures
    assert not any("\x1b" in failure for failure in failures)


def test_odds_are_shown_only_beside_a_verdict(result):
    assert "\n  Odds, " in str(result.summary())
    without = result.with_rope(float(result.expected_difference)).summary(0.001)
    assert without.decision is not None
    assert without.decision.region in ("none", "undecided")
    assert "Odds" not in str(without)
    assert len(without.to_dict()["odds"]) == 3


def test_equal_probabilities_name_no_most_likely_outcome():
    """Data that are their own mirror image: swapping the algorithms must not change who is named."""
    noise = np.array([0.01, -0.01, 0.02, -0.02, 0.0])
    left = [np.full(5, 0.75)] * 6
    right = [0.75 + mean + noise for mean in (0.03, -0.03, 0.02, -0.02, 0.01, -0.01)]
    for first, second in ((left, right), (right, left)):
        result = hc.HierarchicalComparison.from_arrays(first, second, folds=5, rope=0.01).fit("quadrature")
        seen = result.next_dataset
        assert abs(seen.p_left - seen.p_right) <= seen.errors["p_left"] + seen.errors["p_right"]
        each = f"{seen.p_left:.3f}"
        said = f"the most likely outcome on the next data set is left better ({each}) or right better ({each}), which differ"
        assert said in result.summary().conclusion
