"""The report in a real Chromium: no error, no overflow, accessibility, paper, and names that attack."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

import hiercomp as hc
from hiercomp.report import write_report
from tests.conftest import simulated_scores
from tests.report.report_pages import attacked, influence_of, variants_of

pytestmark = pytest.mark.browser

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
KINDS = ("ordinary", "failed", "identical", "attacked")
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
    addresses = {}
    for kind, shown in given.items():
        more = {}
        if kind in ("ordinary", "attacked"):
            more = {"sensitivity": variants_of(shown), "influence": influence_of(shown)}
        addresses[kind] = write_report(shown, folder / f"{kind}.html", **more).as_uri()
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


def test_the_dark_page_is_dark_and_its_figures_stand_on_white(opened, pages):
    colours = {}
    for scheme in SCHEMES:
        page, _ = opened(pages["ordinary"], scheme=scheme)
        colours[scheme] = page.evaluate(
            "['html', '.card'].map((name) => getComputedStyle(document.querySelector(name)).backgroundColor)"
        )
    assert colours["light"] == ["rgb(255, 255, 255)", "rgb(255, 255, 255)"]
    assert max(int(part) for part in colours["dark"][0][4:-1].split(",")) < 50
    assert colours["dark"][1] == "rgb(255, 255, 255)"


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
