"""The report of every pair: what stands on the page is what the result says, and nothing else happens there."""

from __future__ import annotations

import hashlib
import re
from itertools import permutations

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.errors import ArgumentError, ResultFileError, ScoreFileError
from hiercomp.pairs.fits import FailedPair
from hiercomp.report import Source, write_tournament_report
from hiercomp.summary.tournament import SIGNS
from hiercomp.tournament import TournamentResult
from hiercomp.wording import probability_text
from tests.report.report_pages import ATTACKS, SCRIPT, Page, assert_texts_round_the_numbers
from tests.report.test_browser import (  # noqa: F401 - fixtures
    PAGE_HEIGHT,
    PAGE_WIDTH,
    SCHEMES,
    WIDTHS,
    browser,
    opened,
    screenshot,
)
from tests.tournaments import four_algorithms, tournament

KINDS = ("four", "twenty", "baseline", "attacked")
ATTACKERS = (*(f"{attack}数" for attack in ATTACKS), "plain")


@pytest.fixture(scope="module")
def pairs() -> TournamentResult:
    """The real thing."""
    return hc.compare_all(four_algorithms(), rope=0.01, n_jobs=1, progress=False)


@pytest.fixture(scope="module")
def base(pairs) -> hc.ComparisonResult:
    return pairs.pairs[0]


@pytest.fixture(scope="module")
def results(pairs, base) -> dict[str, TournamentResult]:
    return {
        "four": pairs,
        "twenty": tournament(base, 20),
        "baseline": tournament(base, 6, baseline="forest"),
        "attacked": tournament(base, len(ATTACKERS), names=ATTACKERS),
    }


@pytest.fixture(scope="module")
def paths(results, tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("tournament")
    return {kind: write_tournament_report(result, folder / f"{kind}.html") for kind, result in results.items()}


@pytest.fixture(scope="module")
def pages(paths) -> dict[str, Page]:
    return {kind: Page(path.read_text(encoding="utf-8")) for kind, path in paths.items()}


def test_the_conclusion_is_the_summarys_sentence(pages, results):
    for kind, page in pages.items():
        (verdict,) = page.by_class("conclusion")
        assert verdict.text == results[kind].summary().conclusion


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_of_the_pairs_is_that_of_the_result(pages, results, kind):
    page, result = pages[kind], results[kind]
    texts, differences = page.table("pairs"), {}
    assert len(texts) == len(result.pairs)
    seen = {(row["First"], row["Second"]): place for place, row in texts.iterrows()}
    for pair in result.pairs:
        first, second = sorted((pair.left, pair.right), key=result.order().index)
        place = seen[first, second]
        verdict = texts.loc[place, "Verdict"]
        if isinstance(pair, FailedPair):
            assert verdict == "no result"
            assert set(texts.loc[place].iloc[2:-1]) == {"–"}
            continue
        values = pair.next_dataset
        chances = [values.p_left, values.p_rope, values.p_right][:: 1 if pair.left == first else -1]
        columns = ["P(first better)", "P(equivalent)", "P(second better)"]
        assert texts.loc[place, columns].tolist() == [probability_text(value) for value in chances]
        sign = -1 if pair.left == first else 1  # a result's difference is right minus left
        differences[place] = sign * pair.expected_difference
        assert texts.loc[place, "Data sets"] == str(len(pair.differences.dataset_names))
        region = pair.decision().region
        words = {"none": "no verdict", "undecided": "undecided"}
        assert verdict == (words[region] if region in words else pair.outcome(region))
    assert_texts_round_the_numbers(texts.loc[list(differences), "Difference"], differences.values())


@pytest.mark.parametrize("kind", ["four", "twenty", "attacked"])
def test_the_matrix_has_the_sign_of_every_verdict_and_says_it(pages, results, kind):
    page, result = pages[kind], results[kind]
    cells = [element for element in page.all("td") if "table-verdicts" in element.parents]
    spoken = {"none": "no verdict", "equivalent": "practically equivalent", "failed": "no result"}
    names = result.order()
    assert len(cells) == len(names) ** 2
    for (i, row), (j, column) in permutations(enumerate(names), 2):
        verdict = result.verdict(row, column)
        assert cells[len(names) * i + j].text == SIGNS[verdict] + spoken.get(verdict, verdict)
    assert all(cells[(len(names) + 1) * k].text == "itself" for k in range(len(names)))
    headings = [element.text for element in page.all("th") if "table-verdicts" in element.parents]
    assert headings[1 : len(names) + 1] == [str(k + 1) for k in range(len(names))]
    assert headings[len(names) + 1 :] == [f"{k + 1}. {name}" for k, name in enumerate(names)]
    titles = [element.attributes["title"] for element in page.all("abbr")]
    assert titles == list(names)


def test_beside_a_baseline_there_is_no_matrix(pages):
    assert pages["baseline"].all("table", "table-verdicts") == []
    assert pages["baseline"].all("h1")[0].text == "5 algorithms against forest"


def test_the_ranking_is_that_of_the_result_with_its_assumption(pages, results):
    for kind, page in pages.items():
        table = results[kind].ranking()
        texts = page.table("ranking")
        assert texts["Algorithm"].tolist() == table.index.tolist()
        for heading, name in (("Expected rank", "expected_rank"), ("Lower", "lower"), ("Upper", "upper")):
            assert_texts_round_the_numbers(texts[heading], table[name])
        assert texts["P(best)"].tolist() == [probability_text(value) for value in table["p_best"]]
        assert table.attrs["assumption"] in page.by_id("the-ranking").text


def test_the_groups_are_listed(pages, results):
    for kind, page in pages.items():
        listed = [element.text for element in page.all("li", "the-groups")]
        result = results[kind]
        assert listed == [", ".join(group) for group in (*result.cliques(), *result.equivalent_groups())]
        assert "does not\nmake them equivalent" in page.by_id("the-groups").text


def test_groups_that_are_too_many_to_list_are_not_said_to_be_absent(pairs, tmp_path, monkeypatch):
    assert pairs.cliques()
    monkeypatch.setattr("hiercomp.pairs.cliques.MOST_GROUPS", 0)
    summary = pairs.summary()
    assert summary.to_dict()["cliques"] is None
    assert "no evidence of equivalence): too many groups to list." in str(summary)
    page = Page(write_tournament_report(pairs, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "too many groups to list" in page.by_id("the-groups").text


def test_the_figures_say_their_numbers_in_words(pages, results):
    page, result = pages["twenty"], results["twenty"]
    words = {key: page.all("img", key)[0].attributes["alt"] for key in ("heatmap", "ranking")}
    assert len(page.all("img")) == 2
    frame = result.to_frame()
    told = frame["verdict"].str.contains("better").sum()
    assert f"in {told:,} one algorithm is better" in words["heatmap"]
    assert "in 1 the two are practically equivalent" in words["heatmap"]
    assert "in 1 there is no result" in words["heatmap"]
    table = result.ranking()
    for name, row in table.iterrows():
        assert (
            f"{name} {row['expected_rank']:.2f} (95% interval {row['lower']:.2f} to {row['upper']:.2f})"
            in (words["ranking"])
        )


@pytest.mark.slow
def test_every_note_is_on_the_page(pairs, tmp_path):
    scores = four_algorithms()
    lacking = scores[~((scores["algorithm"] == "bayes") & (scores["dataset"] == "d0"))]
    with pytest.warns(hc.DroppedScoresWarning):
        result = hc.compare_all(lacking, rope=0.01, n_jobs=1, progress=False)
    page = Page(write_tournament_report(result, tmp_path / "page.html").read_text(encoding="utf-8"))
    assert len(result.notes) >= 2
    assert [element.text for element in page.all("li", "notes")] == list(result.notes)
    sizes = page.table("pairs")
    with_bayes = (sizes["First"] == "bayes") | (sizes["Second"] == "bayes")
    assert sizes["Data sets"].tolist() == np.where(with_bayes, "12", "13").tolist()


def test_the_level_changes_the_verdicts_and_the_words(base, tmp_path):
    result = tournament(base, 10)
    page = Page(write_tournament_report(result, tmp_path / "page.html", alpha=0.2).read_text(encoding="utf-8"))
    expected = sum("better" in words for words in result.to_frame(0.2)["verdict"])
    assert page.table("pairs")["Verdict"].str.contains("better").sum() == expected
    assert expected > sum("better" in words for words in result.to_frame()["verdict"])
    assert page.facts()["Level"] == "a verdict needs a probability above 0.8"
    assert "verdicts at 80%" in page.by_class("subtitle")[0].text


@pytest.mark.slow
def test_without_a_common_data_set_there_is_no_ranking(tmp_path):
    scores = four_algorithms(39)
    number, which = scores["dataset"].str[1:].astype(int), scores["algorithm"]
    lacking = {"boosting": range(13), "forest": range(13, 26), "bayes": range(26, 39)}
    gone = sum(((which == name) & number.isin(places) for name, places in lacking.items()), start=which == "none")
    with pytest.warns(hc.DroppedScoresWarning):
        result = hc.compare_all(scores[~gone], rope=0.01, n_jobs=1, progress=False)
    page = Page(write_tournament_report(result, tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "There is no ranking" in page.by_id("the-ranking").text
    assert [element.attributes["id"] for element in page.all("figure")] == ["heatmap"]
    assert "Expected ranks" not in page.by_id("methods-text").text


@pytest.mark.slow
def test_of_41_algorithms_the_best_40_are_shown_and_the_page_says_so(base, tmp_path):
    result = tournament(base, 41)
    path = write_tournament_report(result, tmp_path / "page.html")
    page = Page(path.read_text(encoding="utf-8"))
    assert "The page shows the best 40 of 41 algorithms" in page.by_id("verdicts").text
    assert len(page.table("pairs")) == 40 * 39 // 2
    assert len(page.table("ranking")) == 40
    assert path.stat().st_size < 2_000_000


def test_20_algorithms_take_less_than_2_megabytes_and_nothing_from_elsewhere(paths):
    html = paths["twenty"].read_text(encoding="utf-8")
    assert len(html.encode()) < 2_000_000
    page = Page(html)
    for picture in page.pictures():
        links = [value for each in picture.iter() for name, value in each.attrib.items() if name.endswith("href")]
        assert links
        assert all(link.startswith("#") for link in links)
    html = re.sub(r'src="data:image/svg\+xml,[^"]*"', "", html)
    loaded = re.findall(r"""(?:src|href)\s*=\s*["']?(?!#|data:,|https://doi\.org/)([^"'\s>]+)""", html)
    assert loaded == []
    assert "@import" not in html
    assert "url(" not in html


def test_the_same_result_gives_the_same_bytes(results, paths, tmp_path):
    for kind, result in results.items():
        again = write_tournament_report(result, tmp_path / f"{kind}.html")
        assert again.read_bytes() == paths[kind].read_bytes()


def test_every_id_is_there_once_and_every_reference_has_its_goal(pages):
    for page in pages.values():
        ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids))
        for element in page.elements:
            for name in ("aria-labelledby", "href"):
                value = element.attributes.get(name, "")
                goals = value.split() if name == "aria-labelledby" else re.findall(r"#([\w-]+)", value)
                if not value.startswith("https:"):
                    assert set(goals) <= set(ids)


def test_the_file_of_the_scores_is_in_the_provenance(pairs, tmp_path):
    scores = tmp_path / "scores.csv"
    four_algorithms().to_csv(scores, index=False)
    page = Page(write_tournament_report(pairs, tmp_path / "page.html", source=scores).read_text(encoding="utf-8"))
    facts = page.facts()
    assert facts["File"].startswith("scores.csv (")
    assert facts["SHA-256 of the file"] == hashlib.sha256(scores.read_bytes()).hexdigest()
    assert facts["Engine"] == f"{pairs.engine_name} ({pairs.engine_version})"
    assert facts["Seed"].startswith("0;")
    assert facts["Algorithms"] == f"4: {', '.join(pairs.algorithms)}"
    assert facts["hiercomp"] == hc.__version__
    assert "4,000 draws over 13 data sets, seed 0" in facts["Ranking"]
    assert str(tmp_path) not in page.by_id("provenance").text
    assert Page((tmp_path / "page.html").read_text(encoding="utf-8")).by_id("provenance").text.count("scores.csv") == 1


def test_the_methods_paragraph_has_the_results_numbers_and_cites_what_it_uses(pages, pairs):
    text = pages["four"].by_id("methods-text").text
    assert "every pair of 4 algorithms on 13 data sets" in text
    assert "13 data sets with 10 differences each" in text
    assert "was set to 0.1" in text
    frame = pairs.to_frame()
    better = frame["verdict"].str.contains("better").sum()
    same = (frame["verdict"] == "practically equivalent").sum()
    assert f"Of 6 pairs, one algorithm is better in {better}, the two are practically equivalent in {same}" in text
    assert "not adjusted for the number of pairs" in text
    assert "they assume that it resembles one of these 13 data sets" in text
    best = pairs.ranking().iloc[0]
    assert f"The best expected rank, {best['expected_rank']:.2f} (95% interval {best['lower']:.2f} to" in text
    bibtex = pages["four"].by_id("bibtex").text
    for key in ("corani2017", "nadeau2003", "corani2015", "rubin1981"):
        assert f"@article{{{key}," in bibtex


def test_of_integrated_pairs_nothing_is_said_to_be_sampled(pages):
    page = pages["four"]
    shown = " ".join(element.text for element in page.all("body"))
    assert "was integrated numerically" in page.by_id("methods-text").text
    for word in ("No-U-Turn", "R-hat", "warmup", "Markov chain", "carpenter2017"):
        assert word not in shown


@pytest.mark.slow
def test_the_report_of_one_integrated_comparison_says_nothing_of_sampling(pairs, tmp_path):
    page = Page(pairs.pairs[0].report(tmp_path / "one.html").read_text(encoding="utf-8"))
    shown = " ".join(element.text for element in page.all("main"))
    assert "was integrated numerically" in page.by_id("methods-text").text
    assert "status ok: the estimated error of every probability is small" in shown.lower()
    for word in (
        "No-U-Turn",
        "R-hat",
        "warmup",
        "Markov chain",
        "Monte Carlo",
        "another seed",
        "divergen",
        "carpenter2017",
    ):
        assert word not in shown
    assert page.facts()["Integration"].endswith("nothing random")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hiercomp.errors.HiercompWarning")
def test_of_sampled_pairs_the_methods_name_the_sampler(tmp_path):
    scores = four_algorithms()
    three = scores[scores["algorithm"] != "tree"]
    result = hc.compare_all(three, rope=0.01, engine="embedded", n_jobs=1, progress=False)
    page = Page(write_tournament_report(result, tmp_path / "page.html").read_text(encoding="utf-8"))
    text = page.by_id("methods-text").text
    assert "sampled with the No-U-Turn sampler of Stan (Carpenter et al. 2017)" in text
    assert "integrated" not in text
    assert "@article{carpenter2017," in page.by_id("bibtex").text


def test_names_that_attack_are_text(pages, paths):
    html, page = paths["attacked"].read_text(encoding="utf-8"), pages["attacked"]
    assert SCRIPT not in html
    calm = pages["four"]
    assert {element.tag for element in page.elements} - {"wbr"} == {element.tag for element in calm.elements}
    for tag in ("style", "img", "title"):
        assert len(page.all(tag)) == len(calm.all(tag))
    names = {name for element in page.elements for name in element.attributes}
    assert names == {name for element in calm.elements for name in element.attributes}
    labels = [each.text for picture in page.pictures() for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert f"{SCRIPT}数" in labels
    assert set(ATTACKERS) == set(page.table("ranking")["Algorithm"])
    assert "49" not in page.by_class("conclusion")[0].text  # {{ 7 * 7 }}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"alpha": 0.5}, ArgumentError, "alpha must be above 0 and below 0.5"),
        ({"source": 3}, ArgumentError, "source must be the path of a file or a Source, got int"),
        ({"source": "nowhere.csv"}, ScoreFileError, "nowhere.csv can't be read for its hash"),
    ],
)
def test_wrong_arguments_are_refused_and_leave_no_file(pairs, tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        write_tournament_report(pairs, tmp_path / "page.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_replaced_only_when_asked_to(pairs, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("kept")
    with pytest.raises(ResultFileError, match="exists"):
        pairs.report(path)
    assert path.read_text() == "kept"
    assert pairs.report(path, overwrite=True, source=Source("s.csv", "0" * 64, 3)) == path
    assert "s.csv (3 bytes)" in path.read_text(encoding="utf-8")
    with pytest.raises(ResultFileError, match="there is no folder"):
        pairs.report(tmp_path / "none" / "page.html")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_opens_without_an_error_and_does_not_overflow(opened, paths, tmp_path, kind, width, scheme):  # noqa: F811
    page, problems = opened(paths[kind].as_uri(), width, scheme)
    assert len(screenshot(page, tmp_path / "page.png")) > 10_000
    assert problems == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    outside = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
            .filter((e) => !e.closest(".scroll, pre") && e.getBoundingClientRect().right > innerWidth + 0.5)
            .map((e) => e.outerHTML.slice(0, 100))"""
    )
    assert outside == []


@pytest.mark.browser
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_serious_violation(opened, paths, kind, scheme):  # noqa: F811
    from axe_playwright_python.sync_playwright import Axe

    page, _ = opened(paths[kind].as_uri(), scheme=scheme)
    found = Axe().run(page).response
    assert len(found["passes"]) > 20
    serious = [
        (violation["id"], [node["html"][:200] for node in violation["nodes"][:3]])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.browser
def test_without_scripts_everything_can_be_read(opened, paths, results):  # noqa: F811
    page, problems = opened(paths["four"].as_uri(), java_script_enabled=False)
    assert problems == []
    assert page.locator("button").count() == 0
    assert page.locator(".conclusion").inner_text() == results["four"].summary().conclusion
    assert page.locator("#table-pairs tbody tr").count() == 6
    assert page.locator("figure img").count() == 2


@pytest.mark.browser
def test_names_that_attack_do_nothing(opened, paths):  # noqa: F811
    page, problems = opened(paths["attacked"].as_uri())
    calm, _ = opened(paths["four"].as_uri())
    count = "(name) => document.querySelectorAll(name).length"
    for name in ("script", "img", "style", "iframe", "a[href^='javascript']", "[onerror]", "[onmouseover]"):
        assert page.evaluate(count, name) == calm.evaluate(count, name), name
    for cell in page.locator("#table-verdicts th").all():
        cell.hover()
    page.wait_for_timeout(200)
    assert problems == []


@pytest.mark.browser
@pytest.mark.parametrize("kind", KINDS)
def test_on_paper_no_figure_and_no_table_is_cut(opened, paths, tmp_path, kind):  # noqa: F811
    page, problems = opened(paths[kind].as_uri(), int(PAGE_WIDTH))
    page.emulate_media(media="print", color_scheme="light")
    boxes = page.eval_on_selector_all(
        "figure", "(all) => all.map((figure) => [figure.getBoundingClientRect().height, "
        "figure.querySelector('img').getBoundingClientRect().right])"
    )  # fmt: skip
    for height, right in boxes:
        assert height < PAGE_HEIGHT
        assert right <= PAGE_WIDTH + 0.5
    lost = (
        "(all) => all.filter((region) => region.scrollWidth > region.clientWidth + 1).map((region) => region.outerHTML)"
    )
    assert page.eval_on_selector_all(".scroll", lost) == []
    page.pdf(path=tmp_path / "page.pdf", format="A4", prefer_css_page_size=True)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert problems == []
