"""The report: what stands on the page is what the result says, and nothing else happens there."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import ArgumentError, ResultFileError, ScoreFileError
from hiercomp.report import Source, write_report
from hiercomp.report.figures import report_figures
from hiercomp.report.references import references
from hiercomp.report.tables import column, population_table
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import probability_text
from tests.command_line import run
from tests.conftest import simulated_scores
from tests.report.report_pages import (
    ATTACKS,
    Page,
    assert_texts_round_the_numbers,
    attacked,
    influence_of,
    variants_of,
)

REGIONS = ("left", "rope", "right")
FIGURES = ["next-dataset", "simplex", "population", "posterior", "shrinkage", "rope-curve", "ppc"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def html(result, folder) -> str:
    return write_report(result, folder / "result.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def full(result, folder) -> Page:
    """With sensitivity and influence."""
    path = folder / "full.html"
    write_report(result, path, sensitivity=variants_of(result), influence=influence_of(result))
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def attack(result, folder) -> str:
    """The page of algorithms and data sets whose names attack; the Chinese letters make the figures hold text."""
    return write_report(attacked(result, "数"), folder / "attacked.html").read_text(encoding="utf-8")


def test_the_verdict_is_the_summarys_sentence(page, result):
    (verdict,) = page.by_class("conclusion")
    assert verdict.text == result.summary().conclusion
    assert "right" in page.by_class("verdict")[0].attributes["class"]
    assert result.decision().region == "right"


def test_the_rope_has_the_minus_of_print_wherever_it_stands(html):
    assert "[-0.01" not in html
    assert html.count("[−0.01, 0.01]") >= 3  # title, provenance, methods


def test_the_data_sets_stand_in_the_order_of_a_reader(result, folder):
    names = ("zoo", "credit g", "Übung", "Größe", "ds10", "ds2", "Zebra", "adult")
    given = replace(result.differences, dataset_names=names, scores=None)
    path = folder / "ordered.html"
    write_report(replace(result, differences=given), path)
    shown = Page(path.read_text(encoding="utf-8")).table("datasets")
    expected = ["adult", "credit g", "ds2", "ds10", "Größe", "Übung", "Zebra", "zoo"]
    assert shown["Data set"].tolist() == expected
    means = dict(zip(names, result.differences.mean, strict=True))
    assert_texts_round_the_numbers(shown["Mean"], np.array([means[name] for name in expected]))


def test_the_probabilities_are_those_of_the_result(page, result):
    seen, texts = result.next_dataset, page.table("probabilities")
    assert texts["Outcome"].tolist() == ["bayes better", "practically equivalent", "tree better"]
    assert_texts_round_the_numbers(texts["Expected"], [seen.expected_left, seen.expected_rope, seen.expected_right])
    assert_texts_round_the_numbers(texts["Error"], [seen.errors[f"p_{region}"] for region in REGIONS])
    assert_texts_round_the_numbers(
        texts["Error of expected"], [seen.errors[f"expected_{region}"] for region in REGIONS]
    )
    assert texts["Probability"].tolist() == [
        probability_text(value) for value in (seen.p_left, seen.p_rope, seen.p_right)
    ]
    assert probability_text(seen.p_positive) in page.by_class("verdict")[0].text


def test_every_number_of_the_data_sets_is_that_of_the_result(page, result):
    frame, texts = result.datasets(), page.table("datasets")
    assert texts["Data set"].tolist() == list(frame.index)
    pairs = {
        "Mean": "mean",
        "SD": "sd",
        "Scores": "n",
        "rho": "rho",
        "Posterior mean": "posterior_mean",
        "Lower": "lower",
        "Upper": "upper",
        "P(bayes better)": "p_left",
        "P(practically equivalent)": "p_rope",
        "P(tree better)": "p_right",
    }
    assert texts.columns.tolist() == ["Data set", *pairs]
    for shown_name, name in pairs.items():
        assert_texts_round_the_numbers(texts[shown_name], frame[name])
    assert texts["P(tree better)"].tolist() == [probability_text(value) for value in frame["p_right"]]


def test_the_odds_are_those_of_the_result(page, result):
    for (_, row), odds in zip(page.table("odds").iterrows(), result.odds(), strict=True):
        assert (row["Favoured"], row["Against"]) == (result.outcome(odds.favoured), result.outcome(odds.against))
        assert row["Evidence"] == odds.grade
        assert row["Odds"].startswith("> ") == odds.is_bound
        if np.isnan(odds.value):  # no draw favours either
            assert row["Odds"] == "–"
        elif odds.is_bound:
            assert len(row["Odds"].strip("> ,0").replace(",", "")) == 1
            assert 0.5 * odds.value < float(row["Odds"].strip("> ").replace(",", "")) <= odds.value
        else:
            assert float(row["Odds"].replace(",", "")) == pytest.approx(odds.value, rel=0.005)


def test_the_populations_parameters_are_those_of_the_result(page, result):
    texts, frame = page.table("population"), result.population()
    assert texts["Parameter"].tolist() == ["delta0", "sigma0", "nu"]
    for shown_name, name in {"Mean": "mean", "SD": "sd", "Lower": "lower", "Upper": "upper"}.items():
        assert_texts_round_the_numbers(texts[shown_name], frame[name])


def test_the_diagnostics_are_those_of_the_result_and_each_says_what_it_means(page, result):
    texts, frame = page.table("diagnostics"), result.diagnostics.to_frame()
    assert texts["Check"].tolist() == list(frame.index)
    assert_texts_round_the_numbers(texts["Value"], frame["value"])
    assert texts["Result"].tolist() == ["passes"] * 5
    assert (texts["Meaning"].str.len() > 30).all()


def test_the_other_tests_are_those_of_the_result(page, result):
    texts, frame = page.table("closed-form-tests"), result.closed_form_tests().to_frame()
    assert texts["Test"].tolist() == list(frame.index)
    pairs = {"P(bayes better)": "p_left", "P(equivalent)": "p_rope", "P(tree better)": "p_right", "p-value": "pvalue"}
    for shown_name, name in pairs.items():
        assert_texts_round_the_numbers(texts[shown_name], frame[name])
    assert texts["What it says"].tolist() == frame["says"].tolist()
    assert texts["What it does not say"].tolist() == frame["does_not_say"].tolist()


def test_the_sensitivity_is_shown_with_what_changes(full, result):
    given = variants_of(result)
    texts, frame = full.table("sensitivity"), given.to_frame()
    assert texts["Variant"].tolist() == list(frame.index)
    for shown_name, name in {
        "P(bayes better)": "p_left",
        "P(equivalent)": "p_rope",
        "P(tree better)": "p_right",
    }.items():
        assert_texts_round_the_numbers(texts[shown_name], frame[name])
    assert texts["Verdict"].tolist() == ["tree better", "tree better", "no verdict", "failed"]
    assert texts["Compared"].tolist() == ["–", "the same", "changed", "–"]
    assert given.conclusion in full.by_id("the-sensitivity").text
    assert "rho x 2: bayes better 0.250" in next(image.attributes["alt"] for image in full.all("img", "sensitivity"))


def test_figures_with_a_threshold_have_that_of_the_report(result, tmp_path):
    path = write_report(result, tmp_path / "report.html", sensitivity=variants_of(result, 0.1), alpha=0.1)
    captions = path.read_text(encoding="utf-8")
    assert "thin line is a probability of 0.9." in captions
    assert "Dotted lines: probabilities of 0.1 and 0.9." in captions


def test_the_influence_is_shown_with_the_most_influential_data_set_first(full, result):
    given = influence_of(result)
    texts, frame = full.table("influence"), given.to_frame()
    order = ["d7", "d6", "d5", "d4", "d3", "d2", "d1", "d0"]
    assert texts["Left out"].tolist() == order
    assert_texts_round_the_numbers(texts["P(tree better)"], frame.loc[order, "p_right"])
    assert texts["Largest change"].tolist()[0] in ("+0.050", "−0.050")
    assert texts["Largest change"].tolist()[-1] == "–"


def test_without_being_asked_for_neither_is_there(page):
    headings = [heading.text for heading in page.all("h2")]
    assert "Sensitivity" not in headings
    assert "Influence of the data sets" not in headings


@pytest.mark.parametrize(("name", "kind"), [("sensitivity", variants_of), ("influence", influence_of)])
def test_what_belongs_to_another_comparison_is_refused(result, mirrored, tmp_path, name, kind):
    with pytest.raises(ArgumentError, match=f"{name} belongs to another comparison"):
        write_report(result, tmp_path / "report.html", **{name: kind(mirrored)})
    with pytest.raises(ArgumentError, match="belongs to another comparison"):  # the same names with another rope
        write_report(result.with_rope(0.04), tmp_path / "report.html", **{name: kind(result)})
    with pytest.raises(ArgumentError, match=f"{name} must be a result of result.{name}"):
        write_report(result, tmp_path / "report.html", **{name: True})
    assert os.listdir(tmp_path) == []


def test_a_sensitivity_at_another_level_is_refused(result, tmp_path):
    with pytest.raises(ArgumentError, match=r"alpha=0\.1 and the report has alpha=0\.05"):
        write_report(result, tmp_path / "report.html", sensitivity=variants_of(result, 0.1))


def test_the_level_reaches_the_verdict(result, tmp_path):
    narrow = result.with_rope(0.03)  # tree is better by about 0.03: no verdict at any level
    path = write_report(narrow, tmp_path / "report.html", alpha=0.2)
    shown = Page(path.read_text(encoding="utf-8"))
    assert shown.by_class("conclusion")[0].text == narrow.summary(0.2).conclusion
    assert shown.facts()["Level"] == "a verdict needs a probability above 0.8"
    with pytest.raises(ArgumentError, match="alpha"):
        write_report(narrow, tmp_path / "other.html", alpha=0.5)


def test_figures_and_tables_are_numbered_in_the_order_of_the_page(full):
    captions = [caption.text for caption in full.all("figcaption")]
    assert [int(re.match(r"Figure (\d+)\.", text)[1]) for text in captions] == list(range(1, len(FIGURES) + 2))
    captions = [caption.text for caption in full.all("caption")]
    assert [int(re.match(r"Table (\d+)\.", text)[1]) for text in captions] == list(range(1, 10))


def test_every_figure_has_a_name_and_words_that_state_its_numbers(page, result):
    assert [figure.attributes["id"] for figure in page.all("figure")] == FIGURES
    drawn = page.all("img")
    assert len(drawn) == len(FIGURES)
    seen = result.next_dataset
    population = result.population()
    numbers = {
        "next-dataset": [probability_text(value) for value in seen.probabilities.values()],
        "simplex": [probability_text(value) for value in (*seen.probabilities.values(), *seen.expected.values())],
        "population": [probability_text(value) for value in seen.expected.values()],
        "posterior": [
            f"{population.loc[name, key]:.3g}" for name in population.index for key in ("mean", "lower", "upper")
        ],
        "shrinkage": [f"{result.differences.mean.min():.3g}", f"{result.differences.mean.max():.3g}", "8 data sets"],
        "rope-curve": [
            probability_text(value)
            for value in result.rope_curve([0, 0.005, 0.01, 0.02, 0.04])[["p_left", "p_rope", "p_right"]]
            .to_numpy()
            .ravel()
        ],
        "ppc": ["in 8 of 8"],
    }
    for image, key in zip(drawn, FIGURES, strict=True):
        for number in numbers[key]:
            assert number in image.attributes["alt"], (key, number)


def test_every_figure_is_a_drawing_of_the_size_that_the_page_gives_it(page):
    for picture, image in zip(page.pictures(), page.all("img"), strict=True):
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
        width, height = (float(size) for size in picture.attrib["viewBox"].split()[2:])
        assert len(list(picture.iter("{http://www.w3.org/2000/svg}path"))) > 10
        given = {name: int(image.attributes[name]) for name in ("width", "height")}
        assert given["width"] / given["height"] == pytest.approx(width / height, rel=0.01)


@pytest.mark.slow
def test_the_populations_are_in_the_page_with_their_plot(result, folder):
    compared = result.check_population()
    content = result.report(folder / "populations.html").read_text(encoding="utf-8")
    assert len(Page(content).all("img")) == len(FIGURES) + 1
    row = compared.to_frame().loc["Gaussian"]
    for text in (compared.conclusion, f"{row['difference_error']:.2f}", f"{abs(row['elpd_difference']):.2f}"):
        assert text in content
    without = result.report(folder / "without.html", population_check=False).read_text(encoding="utf-8")
    assert len(Page(without).all("img")) == len(FIGURES)
    assert compared.conclusion not in without
    assert write_report(result, folder / "again.html", population_check=compared).read_text(encoding="utf-8") == content


def test_populations_of_another_comparison_are_refused(result, mirrored, folder):
    for wrong in (mirrored.check_population(), "Gaussian"):
        with pytest.raises(hc.ArgumentError, match=r"population_check (belongs to another|must be a result)"):
            write_report(result, folder / "wrong.html", population_check=wrong)


def test_ids_are_unique_and_every_reference_leads_somewhere(full):
    ids = [element.attributes["id"] for element in full.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in full.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            for target in element.attributes.get(name, "").split():
                assert target in ids
        if element.attributes.get("href", "").startswith("#"):
            assert element.attributes["href"][1:] in ids


def test_headings_are_in_order_and_tables_have_captions_and_scopes(full):
    levels = [int(element.tag[1]) for element in full.elements if re.fullmatch(r"h[1-6]", element.tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))
    assert len(full.all("caption")) == len(full.all("table"))
    assert all(cell.attributes["scope"] in ("col", "row") for cell in full.all("th"))
    assert full.all("html")[0].attributes["lang"] == "en"
    assert full.all("a")[0].attributes == {"class": "skip", "href": "#main"}
    regions = [element for element in full.elements if element.attributes.get("role") == "region"]
    assert all(element.attributes["tabindex"] == "0" for element in regions)


def test_the_page_loads_nothing_and_runs_nothing(full, html):
    assert len(full.all("style")) == 1
    assert full.all("script") == []
    policy = next(e.attributes["content"] for e in full.all("meta") if "http-equiv" in e.attributes)
    assert policy.startswith("default-src 'none'; ")
    assert "script-src" not in policy
    for element in full.elements:
        assert element.attributes.get("src", "data:").startswith("data:")
        assert "style" not in element.attributes
        assert not [name for name in element.attributes if name.startswith("on")]
        link = element.attributes.get("href", "#")
        assert link.startswith(("#", "data:")) or (element.tag == "a" and link.startswith("https://doi.org/"))
    assert not re.search(r"@import|url\(", html)


def test_names_that_attack_are_text_everywhere(attack, html):
    attacked_page, calm = Page(attack), Page(html)
    assert {element.tag for element in attacked_page.elements} <= {element.tag for element in calm.elements} | {"wbr"}
    for element in attacked_page.elements:
        assert not [name for name in element.attributes if name.startswith("on")]
    names = [f"{name}数" for name in ATTACKS]
    assert sorted(attacked_page.table("datasets")["Data set"]) == sorted(names)
    pictures = attacked_page.pictures()
    assert not {"script", "img", "image"} & {
        element.tag.rpartition("}")[2] for each in pictures for element in each.iter()
    }
    labels = [element.text for each in pictures for element in each.iter("{http://www.w3.org/2000/svg}text")]
    for name in (names[0], names[3], names[4]):  # short enough to be labels
        assert name in labels
    # Where the font has every letter, letters are drawn
    assert not [element for each in calm.pictures() for element in each.iter("{http://www.w3.org/2000/svg}text")]


def test_a_note_and_a_file_name_that_attack_are_text(identical, tmp_path):
    note = hc.errors.Note(hc.ScaleWarning, "<img src=x onerror=alert(1)>\u202e")
    noted = replace(identical, fit_notes=(note,))
    name = "<b>scores</b>.csv"
    path = write_report(noted, tmp_path / "report.html", source=Source(name, "0" * 64, 3))
    shown = Page(path.read_text(encoding="utf-8"))
    assert all(image.attributes["src"].startswith("data:image/svg+xml,") for image in shown.all("img"))
    assert not any("onerror" in element.attributes for element in shown.elements)
    assert shown.by_id("notes").text.count(r"<img src=x onerror=alert(1)>\u202e") == 1
    assert shown.facts()["File"] == f"{name} (3 bytes)"


@pytest.mark.slow
def test_every_warning_is_on_the_page(tmp_path, scores):
    flat = scores.copy()
    flat.loc[flat["dataset"] == "d3", "score"] = 0.8
    flat = flat.drop(flat.index[(flat["dataset"] == "d0") & (flat["fold"] == 1) & (flat["algorithm"] == "tree")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        comparison = hc.HierarchicalComparison(flat, "bayes", "tree", missing="drop")
        fitted = comparison.fit("embedded", progress=False, monte_carlo_error=None)
    shown = Page(write_report(fitted, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert len(fitted.notes) >= 2
    for note in fitted.notes:
        assert note in shown.by_id("notes").text
    facts = shown.facts()
    assert facts["Left out"].startswith("Dropped because one algorithm has no score there: 3 folds of 1 data set (")
    assert "'d3'" in facts["Spread derived from the rope"]
    assert facts["Paired scores"] == "237 in all, 27 to 30 on each data set"
    assert (facts["Folds of a run"], facts["Runs"]) == ("9 to 10", "3")


def test_the_provenance_is_that_of_the_result(page, result):
    facts = page.facts()
    assert facts["File"] == "not given"
    assert facts["Metric"] == "higher is better"
    assert facts["Data sets"] == "8"
    assert facts["Paired scores"] == "240 in all, 30 on each data set"
    assert (facts["Folds of a run"], facts["Runs"]) == ("10", "3")
    assert facts["Correlation between folds (rho)"] == "0.1"
    assert facts["Left out"] == "nothing"
    assert facts["Spread derived from the rope"] == "of no data set"
    assert facts["Rope"].startswith("[−0.01, 0.01]")
    assert facts["Seed"] == str(result.settings.seed)
    assert facts["Engine"] == f"{result.engine_name} ({result.engine_version})"
    assert facts["hiercomp"] == hc.__version__
    assert facts["numpy"] == np.__version__
    assert facts["Python"].endswith(platform.python_version())
    assert f"{result.attempts[-1].draws:,} draws" in facts["Sampling that counts"]


def test_the_machines_name_is_not_on_the_page(html):
    if len(platform.node()) < 6:
        pytest.skip("the name may stand there by chance")
    assert platform.node() not in html


def test_the_source_is_a_files_name_and_hash_without_its_folder(tmp_path, identical):
    folder = tmp_path / "secret-folder"
    folder.mkdir()
    (folder / "scores.csv").write_bytes(b"abc")
    path = write_report(identical, tmp_path / "report.html", source=folder / "scores.csv")
    html = path.read_text(encoding="utf-8")
    # FIPS 180-4, the example of one block
    assert "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in html
    assert "scores.csv (3 bytes)" in html
    assert "secret-folder" not in html
    with pytest.raises(ScoreFileError, match=r"missing\.csv"):
        write_report(identical, tmp_path / "other.html", source=tmp_path / "missing.csv")
    with pytest.raises(ArgumentError, match="source"):
        Source.of(3)


def test_the_methods_paragraph_has_the_numbers_of_this_analysis(page, result):
    text = page.by_id("methods-text").text
    seen, checks, last = result.next_dataset, result.diagnostics, result.attempts[-1]
    for part in (
        "We compared bayes with tree on 8 data sets",
        "30 on each data set, 240 in all",
        "was set to 0.1",
        "within [−0.01, 0.01]",
        "delta0 uniform between",
        f"{result.settings.chains} chains of {last.draws:,} draws after {last.warmup:,} warmup iterations",
        f"seed {result.settings.seed}",
        f"at most {checks.r_hat:.3f}",
        f"{checks.ess_bulk:,.0f} (bulk) and {checks.ess_tail:,.0f} (tail)",
        f"is that bayes is better was {probability_text(seen.p_left)}",
        f"that tree is better {probability_text(seen.p_right)}",
        result.summary().conclusion,
        "above 0.95",
        *(str(odds) for odds in result.odds()),
    ):
        assert part in text, part


def test_what_the_paragraph_cites_is_listed_and_in_the_bibtex(full, page):
    text = page.by_id("methods-text").text
    listed = [item.text for item in page.all("li") if "(20" in item.text or "(1995)" in item.text]
    expected = {
        "Corani et al. (2017)": "10.1007/s10994-017-5641-9",
        "Nadeau & Bengio 2003": "10.1023/A:1024068626366",
        "Carpenter et al. 2017": "10.18637/jss.v076.i01",
        "Vehtari et al. 2021": "10.1214/20-BA1221",
        "Raftery (1995)": "10.2307/271063",
        "Corani & Benavoli 2015": "10.1007/s10994-015-5486-z",
    }
    bibtex = page.by_id("bibtex").text
    for citation, doi in expected.items():
        assert citation in text
        assert sum(doi in item for item in listed) == 1
        assert f"doi = {{{doi}}}" in bibtex
    assert bibtex.count("@article{") == len(listed) == len(expected)
    assert "the posterior was integrated without each data set in turn" in full.by_id("methods-text").text
    assert full.by_id("bibtex").text.count("@article{") == len(expected)


def test_the_bibtex_is_well_formed():
    every = references()
    assert len(every) == 12
    for key, reference in every.items():
        assert reference.bibtex.isascii()
        match = re.fullmatch(r"@article\{(\w+),\n((?:  \w+ = \{.*\},?\n)+)\}", reference.bibtex)
        assert match
        assert match[1] == key
        assert match[2].count("{") == match[2].count("}")
        fields = re.findall(r"^  (\w+) =", match[2], re.MULTILINE)
        assert {"author", "title", "journal", "volume", "pages", "year"} <= set(fields)
        assert not re.search(r"(?<!\\)&", match[2])


@pytest.mark.parametrize(
    ("key", "short", "text"),
    [
        (
            "corani2017",
            "Corani et al. 2017",
            "Corani, G., Benavoli, A., Demšar, J., Mangili, F. & Zaffalon, M. (2017). Statistical comparison of classifiers "
            "through Bayesian hierarchical modelling. Machine Learning 106(11), 1817–1837.",
        ),
        (
            "juarez2010",
            "Juárez & Steel 2010",
            "Juárez, M. A. & Steel, M. F. J. (2010). Model-based clustering of non-Gaussian panel data based on skew-t "
            "distributions. Journal of Business & Economic Statistics 28(1), 52–66.",
        ),
        (
            "vehtari2021",
            "Vehtari et al. 2021",
            "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. & Bürkner, P.-C. (2021). Rank-normalization, folding, and "
            "localization: An improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16(2), 667–718.",
        ),
        (
            "raftery1995",
            "Raftery 1995",
            "Raftery, A. E. (1995). Bayesian model selection in social research. Sociological Methodology 25, 111–163.",
        ),
    ],
)
def test_a_reference_reads_as_a_reference_list_has_it(key, short, text):
    reference = references()[key]
    assert (reference.short, reference.text) == (short, text)


def test_the_same_result_gives_the_same_bytes_under_another_style_which_is_left_as_it_was(result, html, tmp_path):
    import matplotlib.pyplot as plt

    with plt.rc_context({"font.size": 20, "axes.facecolor": "black", "svg.fonttype": "none"}):
        before, figures = dict(plt.rcParams), plt.get_fignums()
        again = write_report(result, tmp_path / "again.html").read_text(encoding="utf-8")
        assert dict(plt.rcParams) == before
    assert plt.get_fignums() == figures
    assert again == html


@pytest.mark.slow
def test_the_same_result_gives_the_same_bytes_in_another_process(result, tmp_path):
    saved = result.save(tmp_path / "fit.nc")
    first = write_report(hc.load_result(saved), tmp_path / "first.html").read_bytes()
    code = (
        "import sys, hiercomp as hc; from hiercomp.report import write_report; "
        "write_report(hc.load_result(sys.argv[1]), sys.argv[2])"
    )
    command = [sys.executable, "-c", code, str(saved), str(tmp_path / "second.html")]
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "7"}, check=True, timeout=120)
    assert first == (tmp_path / "second.html").read_bytes()


def test_an_existing_file_is_kept_unless_told_otherwise(identical, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("precious")
    with pytest.raises(ResultFileError, match=r"report\.html exists"):
        write_report(identical, path)
    assert path.read_text() == "precious"
    assert write_report(identical, str(path), overwrite=True) == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_folder_that_is_not_there_is_an_error(identical, tmp_path):
    with pytest.raises(ResultFileError, match="can't be written"):
        write_report(identical, tmp_path / "nowhere" / "report.html")


def test_a_failed_computation_gives_a_page_without_a_verdict_that_says_why(failed, tmp_path):
    shown = Page(write_report(failed, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert shown.by_class("conclusion")[0].text == failed.summary().conclusion
    assert shown.all("img") == []
    tables = {
        element.attributes["id"] for element in shown.elements if element.attributes.get("id", "").startswith("table-")
    }
    assert tables == {
        *("table-datasets", "table-scores", "table-diagnostics", "table-attempts", "table-closed-form-tests")
    }
    assert shown.columns("datasets") == ["Data set", "Mean", "SD", "Scores", "rho"]
    assert "fails" in shown.table("diagnostics")["Result"].tolist()
    for failure in failed.diagnostics.failures:
        assert failure in shown.by_id("table-attempts").text
        assert failure in shown.by_id("methods-text").text
    assert len(shown.table("attempts")) == len(failed.attempts)
    for part in ("posterior probability", "odds"):
        assert part not in shown.by_id("methods-text").text


def test_identical_algorithms_give_a_page_with_the_exact_answer(identical, tmp_path):
    shown = Page(write_report(identical, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert shown.by_class("conclusion")[0].text == identical.summary().conclusion
    assert [figure.attributes["id"] for figure in shown.all("figure")] == ["next-dataset"]
    assert shown.table("probabilities")["Probability"].tolist() == ["0", "1", "0"]
    assert shown.table("datasets")["P(practically equivalent)"].tolist() == ["1"] * 6
    assert "nothing was sampled" in shown.by_id("methods-text").text
    assert "@article{carpenter2017" not in shown.by_id("bibtex").text


def test_a_gaussian_population_has_no_degrees_of_freedom(scores, tmp_path):
    comparison = hc.HierarchicalComparison(scores, "bayes", "tree", priors=hc.Priors.gaussian())
    fitted = comparison.fit("embedded", progress=False, monte_carlo_error=None)
    shown = Page(write_report(fitted, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert shown.table("population")["Parameter"].tolist() == ["delta0", "sigma0"]
    assert "a Gaussian with mean delta0" in shown.by_id("methods-text").text


@pytest.mark.parametrize(
    ("distributions", "words"),
    [
        (
            {"delta0": hc.Normal(0, 0.05)},
            "delta0 normal with mean 0 and standard deviation 0.05, sigma0 uniform up to 1000",
        ),
        (
            {"delta0": hc.Normal(0, 0.05), "delta0_bound": 0.5, "sigma0": hc.HalfNormal(0.02)},
            "deviation 0.05, cut off at -0.5 and 0.5, sigma0 half-normal with scale 0.02, the standard deviation of",
        ),
        (
            {"sigma0": hc.HalfStudentT(4, 0.02)},
            "between -1 and 1, sigma0 half-t with 4 degrees of freedom and scale 0.02, the standard deviation of",
        ),
    ],
)
@pytest.mark.slow
def test_the_report_names_priors_that_are_not_uniform(scores, tmp_path, distributions, words):
    priors = hc.Priors(alpha=1.0, beta=0.0345, **distributions)
    fitted = hc.compare(scores, "bayes", "tree", rope=0.01, priors=priors, engine="quadrature", progress=False)
    shown = Page(write_report(fitted, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert words in shown.by_id("methods-text").text
    assert words in shown.facts()["Priors"]
    assert ("Kruschke" in shown.by_id("methods-text").text) == ("delta0_bound" not in distributions)


@pytest.mark.slow
def test_where_data_sets_move_is_that_of_covariates_and_of_a_mixture():
    scores = simulated_scores(20, 2, centre=0.01, spread=0.02, seed=5)
    names = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01).differences.dataset_names
    options = {"rope": 0.01, "monte_carlo_error": None, "progress": False}
    sizes = pd.DataFrame({"size": np.arange(20) % 5}, index=names)
    fitted = hc.compare(scores, "bayes", "tree", covariates=sizes, **options)
    delta0, sigma0 = (row[-1] for row in population_table(fitted).rows[:2])
    assert delta0.endswith("at the mean of the covariates")
    assert sigma0.endswith("beyond what the covariates explain")
    assert "(sigma0), beyond what the covariates explain, in" in str(fitted.summary())
    assert "towards the centre for their covariates" in captions(fitted)["shrinkage"]
    mixture = hc.compare(scores, "bayes", "tree", population="mixture", **options)
    assert population_table(mixture).rows[0][-1] == "centre: the mean difference over data sets"
    assert "towards the components of the mixture" in captions(mixture)["shrinkage"]


def captions(result: hc.ComparisonResult) -> dict[str, str]:
    return {figure.key: figure.caption for figure in report_figures(result)}


def test_a_metric_whose_lower_values_are_better_is_said_to_be_one(identical, tmp_path):
    turned = replace(identical, differences=replace(identical.differences, higher_is_better=False))
    shown = Page(write_report(turned, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert shown.facts()["Metric"].startswith("lower is better")
    assert "lower scores are better" in shown.by_class("subtitle")[0].text
    assert "with the sign reversed" in shown.by_id("methods-text").text


@pytest.mark.slow
def test_logs_of_a_named_measure_are_said_to_be_logs(scores, tmp_path):
    options = {"transform": "log", "rope": 0.01, "engine": "quadrature", "progress": False}
    fitted = hc.compare(scores.rename(columns={"score": "accuracy"}), "bayes", "tree", **options)
    shown = Page(write_report(fitted, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert shown.facts()["Metric"] == "higher is better (log of accuracy)"
    assert "higher scores are better (log of accuracy)" in shown.by_class("subtitle")[0].text
    assert "a difference is the log of a ratio: 0.01 is about 1%" in shown.by_id("methods-text").text
    assert "a ratio of about 1%" in shown.facts()["Rope"]


@pytest.mark.slow
def test_54_data_sets_take_less_than_2_megabytes(tmp_path):
    table = simulated_scores(54, 10, centre=0.01, spread=0.02)
    fitted = hc.HierarchicalComparison(table, "bayes", "tree").fit("embedded", progress=False)
    assert fitted.next_dataset.draws >= 4000
    path = write_report(
        fitted, tmp_path / "report.html", sensitivity=variants_of(fitted), influence=influence_of(fitted)
    )
    assert path.stat().st_size < 2_000_000


def test_a_column_has_the_same_decimals_and_four_digits_in_its_largest_number():
    assert column([0.1234567, -0.01, 0.0, -1e-9]) == ["0.1235", "−0.0100", "0.0000", "0.0000"]
    assert column([1234.5678, float("nan")]) == ["1235", "–"]
    assert column([2.5e-9]) == ["2.500e−09"]
    assert column([0.0, 0.0]) == ["0", "0"]


def hiercomp(folder, *arguments):
    return run(folder, "compare", "scores.csv", "--engine", "embedded", *arguments)


@pytest.mark.slow
def test_the_command_writes_the_report_that_python_writes(scores, result, tmp_path):
    scores.to_csv(tmp_path / "scores.csv", index=False)
    done = hiercomp(tmp_path, "--left", "bayes", "--right", "tree", "--report", "report.html")
    size = f"{(tmp_path / 'report.html').stat().st_size / 1000:.0f} kB"
    assert (done.returncode, done.stderr) == (0, f"hiercomp: wrote report.html ({size})\n")
    assert done.stdout == f"{result.summary()}\n"
    expected = result.report(tmp_path / "python.html", source=tmp_path / "scores.csv")
    assert (tmp_path / "report.html").read_bytes() == expected.read_bytes()
    assert hashlib.sha256((tmp_path / "scores.csv").read_bytes()).hexdigest() in expected.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--report", "old.html"], ["old.html", "--force"]),
        (["--report", "nowhere/report.html"], ["nowhere"]),
        (["--report", "-"], ["--report", "file"]),
        (["--report", "x", "--save", "./x"], ["--save and --report"]),
    ],
)
def test_the_command_refuses_before_the_fit(scores, tmp_path, arguments, parts):
    scores.to_csv(tmp_path / "scores.csv", index=False)
    (tmp_path / "old.html").write_text("precious")
    done = hiercomp(tmp_path, "--draws", "1000000", *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in parts), done.stderr
    assert (tmp_path / "old.html").read_text() == "precious"


@pytest.mark.slow
def test_the_command_writes_a_report_of_a_failed_computation_and_exits_with_three(hard_scores, tmp_path):
    hard_scores.to_csv(tmp_path / "scores.csv", index=False)
    short = ["--chains", "2", "--warmup", "100", "--draws", "100", "--sensitivity", "--report", "report.html"]
    done = hiercomp(tmp_path, "--left", "bayes", "--right", "tree", *short)
    assert done.returncode == 3
    assert "no sensitivity" in done.stderr
    assert "No verdict: the computation failed" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_puts_the_sensitivity_into_the_report_and_the_json(scores, tmp_path):
    scores.to_csv(tmp_path / "scores.csv", index=False)
    arguments = ["--sensitivity", "--report", "report.html", "--json", "out.json"]
    done = hiercomp(tmp_path, "--left", "bayes", "--right", "tree", *arguments)
    assert done.returncode == 0, done.stderr
    variants = json.loads((tmp_path / "out.json").read_text())["sensitivity"]
    shown = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert shown.table("sensitivity")["Variant"].tolist() == [variant["name"] for variant in variants]
    assert len(variants) >= 6
    assert "Sensitivity, bayes against tree" in done.stdout


def test_differences_alone_have_no_runs_and_folds_to_show(identical, tmp_path):
    assert isinstance(identical.differences, PairedDifferences)
    bare = replace(identical, differences=replace(identical.differences, scores=None))
    shown = Page(write_report(bare, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Runs" not in shown.facts()
    assert "Tests that could not be run" in [heading.text for heading in shown.all("h3")]


def test_the_means_of_both_algorithms_are_those_of_the_scores(page, scores):
    shown = page.table("scores")
    means = scores.groupby(["dataset", "algorithm"])["score"].agg(["mean", "std"]).unstack()
    assert shown["Data set"].tolist() == [*means.index, "mean rank"]
    for name in ("bayes", "tree"):
        cells = [f"{row['mean', name]:.3f} ± {row['std', name]:.3f}" for _, row in means.iterrows()]
        assert shown[name].tolist()[:-1] == cells
    bold = {element.text for element in page.all("b", "table-scores")}
    better = "tree" if (means["mean"]["tree"] > means["mean"]["bayes"]).all() else None
    assert better == "tree"  # by the fixture: so every bold cell of a data set is the tree's
    assert bold - {"Table 4."} >= set(shown["tree"].tolist()[:-1])


@pytest.mark.slow
def test_a_long_table_of_means_is_folded_and_a_short_one_is_not(page, identical, tmp_path):
    assert page.all("details") == []
    long = hc.HierarchicalComparison(simulated_scores(40, centre=0.03, spread=0.01), "bayes", "tree", rope=0.01)
    path = write_report(long.fit("quadrature", progress=False), tmp_path / "long.html")
    shown = Page(path.read_text(encoding="utf-8"))
    (folded,) = shown.all("summary")
    assert "Mean scores (higher is better)" in folded.text
    assert len(shown.table("scores")) == 41
