"""The report in a real Chromium: no error, no overflow, accessibility, paper, and names that attack."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import hiercomp as hc
from hiercomp.report import write_report, write_tournament_report
from tests.conftest import simulated_scores
from tests.long_names import long, named
from tests.report.report_pages import attacked, influence_of, variants_of
from tests.tournaments import tournament

pytestmark = pytest.mark.browser

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
KINDS = ("ordinary", "failed", "identical", "attacked")
LONG_KINDS = ("long", "tournament", "long tournament")
WIDER = "(box) => box.scrollWidth > box.clientWidth"
SCROLLED = """(all) => all.filter((box) => box.scrollWidth > box.clientWidth)
    .map((box) => `${box.getAttribute("aria-label") || box.getAttribute("aria-labelledby")}: ${box.scrollWidth}`)"""
# Elements whose content is wider than they are, outside what scrolls
CLIPPED = """() => [...document.querySelectorAll("body *")]
    .filter((e) => !e.closest(".scroll, pre, .spoken, .skip") && getComputedStyle(e).display !== "inline")
    .filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth + 0.5)
    .map((e) => e.outerHTML.slice(0, 100))"""
PAGE_HEIGHT = (297 - 2 * 16) * 96 / 25.4  # pixels of an A4 page within the margins of the style sheet
PAGE_WIDTH = (210 - 2 * 15) * 96 / 25.4


@pytest.fixture(scope="module")
def browser(request):
    """A headless Chromium of the system; where it is absent the tests are skipped, or fail with --require-browser."""
    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        import axe_playwright_python  # noqa: F401
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        problem = f"{error.name} is not installed; run: python -m pip install playwright axe-playwright-python"
    else:
        problem = "" if executable else "Chromium is not installed; run: apt-get install chromium"
    if problem and request.config.getoption("--require-browser", default=False):
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def pages(browser, tmp_path_factory, result, failed, identical) -> dict[str, str]:
    """Addresses of one report of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    given = {"ordinary": result, "failed": failed, "identical": identical, "attacked": attacked(result, "数")}
    given["long"] = named(result, 40)
    addresses = {}
    for kind, shown in given.items():
        more = {}
        if kind in ("ordinary", "attacked", "long"):
            more = {"sensitivity": variants_of(shown), "influence": influence_of(shown)}
        addresses[kind] = write_report(shown, folder / f"{kind}.html", **more).as_uri()
    for kind, letters in (("tournament", 4), ("long tournament", 40)):
        names = tuple(long(f"{place:02}al", letters) for place in range(14))
        many = tournament(result, len(names), names=names)
        addresses[kind] = write_tournament_report(many, folder / f"{kind}.html").as_uri()
    return addresses


@pytest.fixture
def opened(browser):
    """Opens an address and returns the page and the list of everything that went wrong there."""
    contexts = []

    def opens(address, width=1280, scheme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        page, problems = context.new_page(), []
        page.on("console", lambda message: problems.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("request", lambda request: problems.append(request.url) if not _inside(request.url) else None)

        def dialog(shown):
            problems.append(f"dialog: {shown.message}")
            shown.dismiss()

        page.on("dialog", dialog)
        page.goto(address)
        return page, problems

    yield opens
    for context in contexts:
        context.close()


def _inside(url: str) -> bool:
    return url.startswith(("file:", "data:"))


def screenshot(page, path: Path) -> bytes:
    """The whole page as an image; on a busy machine Chromium's compositor may need a second attempt."""
    from playwright.sync_api import Error

    with contextlib.suppress(Error):
        return page.screenshot(path=path, full_page=True)
    return page.screenshot(path=path, full_page=True)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_opens_without_an_error_and_does_not_overflow(opened, pages, tmp_path, kind, width, scheme):
    page, problems = opened(pages[kind], width, scheme)
    shown = screenshot(page, tmp_path / "page.png")
    assert len(shown) > 10_000
    assert problems == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    outside = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
            .filter((e) => !e.closest(".scroll, pre") && e.getBoundingClientRect().right > innerWidth + 0.5)
            .map((e) => e.outerHTML.slice(0, 100))"""
    )
    assert outside == []


@pytest.mark.parametrize("width", [1280, 1440])
@pytest.mark.parametrize("kind", [*KINDS, *LONG_KINDS])
def test_on_a_desk_no_table_and_no_figure_has_to_be_scrolled(opened, pages, kind, width):
    page, _ = opened(pages[kind], width)
    assert page.eval_on_selector_all(".scroll", SCROLLED) == []
    assert page.evaluate(CLIPPED) == []


@pytest.mark.parametrize("kind", ["ordinary", *LONG_KINDS])
def test_on_a_telephone_everything_fits_or_a_shadow_says_that_there_is_more(opened, pages, kind):
    page, _ = opened(pages[kind], 390)
    assert page.evaluate(CLIPPED) == []
    fixed = page.eval_on_selector_all(
        ".card:not(.scroll) img", "(all) => all.map((image) => [image.clientWidth, image.parentElement.clientWidth])"
    )
    assert all(image <= card for image, card in fixed)
    scrolled = [region for region in page.locator(".scroll").all() if region.evaluate(WIDER)]
    assert len(scrolled) > 2
    for region in scrolled[:4]:
        region.evaluate("(box) => box.scrollTo(0, 0)")
        more = darkness_of_the_right_edge(region)
        region.evaluate("(box) => box.scrollTo(box.scrollWidth, 0)")
        assert more > darkness_of_the_right_edge(region) + 0.08


def picture_of(element) -> np.ndarray:
    """An element as an image with grey values from 0 to 1, shape (height, width)."""
    return np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("L")) / 255


def darkness_of_the_right_edge(region) -> float:
    """Of the lightest of the last pixels of a region, which are paper."""
    return 1 - float(np.quantile(picture_of(region)[:, -5:-2], 0.95))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", ["ordinary", "tournament"])
def test_figures_have_the_paper_and_the_ink_of_the_page(opened, pages, kind, scheme):
    page, _ = opened(pages[kind], scheme=scheme)
    paper = {"light": 1.0, "dark": 24 / 255}[scheme]  # the style sheet's colours
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == {
        "light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 27)"}[scheme]  # fmt: skip
    for card in page.locator(".card").all():
        picture = picture_of(card)[4:-4, 4:-4]
        assert picture[:6, :6] == pytest.approx(paper, abs=0.01)
        distances = np.abs(picture - paper)
        assert distances.max() > 0.7  # the ink
        assert (np.abs(picture - (1 - paper)) < 0.05).mean() < 0.1  # no area is left in the other scheme's paper


def test_on_paper_the_figures_are_dark_on_white_even_if_the_reader_prefers_the_dark(opened, pages):
    page, _ = opened(pages["ordinary"], int(PAGE_WIDTH), "dark")
    page.emulate_media(media="print", color_scheme="dark")
    picture = picture_of(page.locator(".card").first)
    assert picture[5:9, 5:9] == pytest.approx(1.0)
    assert picture.min() < 0.3


@pytest.mark.parametrize("kind", ["ordinary", "failed", *LONG_KINDS])
def test_on_paper_no_heading_stands_alone_at_the_foot_of_a_page(opened, pages, kind):
    page, _ = opened(pages[kind], int(PAGE_WIDTH))
    page.emulate_media(media="print")
    # Columns of a page's size are broken by the same rules as pages, and can be measured
    apart = page.evaluate(
        """(height) => {
            document.body.style = `columns: auto ${innerWidth}px; column-gap: 0; column-fill: auto; height: ${height}px;
                max-width: none; padding: 0; margin: 0`;
            const drawn = (e) => e && e.getClientRects().length > 0;
            const column = (box) => Math.floor((box.left + scrollX + 1) / innerWidth);
            const next = (e) => { do e = e.nextElementSibling; while (e && !drawn(e)); return e; };
            const last = (e) => column([...e.getClientRects()].at(-1)), first = (e) => column(e.getClientRects()[0]);
            const found = [], all = [...document.querySelectorAll("h2, h3, caption")].filter(drawn);
            for (const heading of all) {
                const follower = next(heading), after = follower && next(follower);
                if (!follower) continue;
                const led = follower.matches("p") && after && after.matches("figure, .table") ? after : follower;
                if (last(heading) !== first(led)) found.push(heading.textContent);
            }
            return [all.length, Math.max(...all.map(first)), found];
        }""",
        int(PAGE_HEIGHT),
    )
    assert apart[0] > 8
    assert apart[1] >= 2  # pages
    assert apart[2] == []


def test_the_bibtex_is_not_printed(opened, pages):
    page, _ = opened(pages["ordinary"])
    assert page.locator("#bibtex").is_visible()
    assert not page.locator(".paper").is_visible()
    page.emulate_media(media="print")
    assert not page.locator("#bibtex").is_visible()
    assert not page.locator("#bibtex-heading").is_visible()
    assert page.locator(".paper").is_visible()
    assert page.locator(".references li").first.is_visible()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_serious_violation(opened, pages, kind, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page, _ = opened(pages[kind], scheme=scheme)
    found = Axe().run(page).response
    assert len(found["passes"]) > 20
    serious = [
        (violation["id"], [node["html"][:200] for node in violation["nodes"][:3]])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []


def _column(page, table: str, place: int) -> list[str]:
    script = f"(rows) => rows.map((row) => row.cells[{place}].textContent)"
    return page.eval_on_selector_all(f"#table-{table} tbody tr", script)


def test_the_first_stop_of_the_keyboard_skips_to_the_verdict(opened, pages):
    page, _ = opened(pages["ordinary"])
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    assert skip.evaluate("(link) => link === document.activeElement")
    assert skip.bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")


def test_without_scripts_everything_can_be_read(opened, pages, result):
    page, problems = opened(pages["ordinary"], java_script_enabled=False)
    assert problems == []
    assert page.locator("button").count() == 0
    assert page.locator(".conclusion").inner_text() == result.summary().conclusion
    rows = page.locator("#table-datasets tbody tr")
    assert rows.count() == 8
    assert [rows.nth(place).locator("th").inner_text() for place in range(8)] == list(result.differences.dataset_names)
    assert page.locator("figure img").count() == 8
    assert page.locator("#bibtex").is_visible()


@pytest.mark.parametrize("kind", ["ordinary", "attacked"])
def test_every_figure_is_drawn(opened, pages, kind):
    page, problems = opened(pages[kind])
    sizes = page.eval_on_selector_all("figure img", "(all) => all.map((image) => [image.complete, image.naturalWidth])")
    assert len(sizes) == 8
    assert all(complete and width > 300 for complete, width in sizes)
    assert problems == []


def test_a_click_selects_the_whole_bibtex(opened, pages):
    page, _ = opened(pages["ordinary"])
    page.locator("#bibtex").click()
    assert page.evaluate("getSelection().toString()").strip() == page.locator("#bibtex").text_content().strip()


def test_names_that_attack_do_nothing(opened, pages):
    page, problems = opened(pages["attacked"])
    calm, _ = opened(pages["ordinary"])
    count = "(name) => document.querySelectorAll(name).length"
    for name in ("script", "img", "style", "iframe", "title", "a[href^='javascript']", "[onerror]", "[onmouseover]"):
        assert page.evaluate(count, name) == calm.evaluate(count, name), name
    page.mouse.move(400, 400)
    for text in page.locator("#table-datasets tbody th").all():
        text.hover()
    page.wait_for_timeout(200)
    assert problems == []
    assert any(text.startswith("<script>alert(1)</script>") for text in _column(page, "datasets", 0))


def test_the_policy_stops_a_script_and_a_picture_that_got_in(opened, pages):
    page, problems = opened(pages["ordinary"])
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'taken'";
            document.body.append(script);
            const image = document.createElement("img");
            image.src = "http://127.0.0.1:9/x.png";
            document.body.append(image);
        }"""
    )
    page.wait_for_timeout(200)
    assert page.title() != "taken"
    assert sum("Content Security Policy" in problem for problem in problems) == 2


@pytest.mark.parametrize(("kind", "scheme"), [*((kind, "light") for kind in KINDS), ("ordinary", "dark")])
def test_on_paper_no_figure_is_cut(opened, pages, tmp_path, kind, scheme):
    page, problems = opened(pages[kind], int(PAGE_WIDTH), scheme)
    page.emulate_media(media="print", color_scheme=scheme)
    figures = page.evaluate(
        """() => [...document.querySelectorAll("figure")].map((figure) => {
            const box = figure.getBoundingClientRect(), picture = figure.querySelector("img").getBoundingClientRect();
            const rule = getComputedStyle(figure).breakInside;
            return [box.height, box.right, picture.right, picture.height, rule];
        })"""
    )
    for height, right, picture_right, picture_height, rule in figures:
        assert height < PAGE_HEIGHT
        assert max(right, picture_right) <= PAGE_WIDTH + 0.5
        assert picture_height > 100
        assert rule == "avoid"
    # What has to be scrolled is lost on paper
    lost = (
        "(all) => all.filter((region) => region.scrollWidth > region.clientWidth + 1).map((region) => region.outerHTML)"
    )
    assert page.eval_on_selector_all(".scroll", lost) == []
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    printed = Path(tmp_path / "page.pdf")
    page.pdf(path=printed, format="A4", prefer_css_page_size=True)
    assert printed.read_bytes().startswith(b"%PDF")
    assert problems == []


@pytest.mark.slow
def test_54_data_sets_fit_on_paper_and_on_a_telephone(opened, tmp_path):
    table = simulated_scores(54, 10, centre=0.01, spread=0.02)
    fitted = hc.HierarchicalComparison(table, "bayes", "tree").fit("embedded", progress=False)
    address = write_report(fitted, tmp_path / "page.html").as_uri()
    page, problems = opened(address, 390)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.set_viewport_size({"width": int(PAGE_WIDTH), "height": 900})
    page.emulate_media(media="print")
    heights = page.eval_on_selector_all("figure", "(all) => all.map((figure) => figure.getBoundingClientRect().height)")
    assert max(heights) < PAGE_HEIGHT
    assert problems == []
