"""What the pages show is what their code prints, and their pictures are what the script draws."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from matplotlib.testing.compare import compare_images
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from tests.pages import OUTPUTS, ROOT, blocks, follow, shows

# Every page that shows what its code prints
FOLLOWED = [
    *("README.md", "docs/index.md", "docs/tutorial.md", "docs/howto/different_units.md", "docs/howto/wide_tables.md"),
    *("docs/howto/seeds.md", "docs/howto/language_models.md", "docs/howto/one_score_each.md", "docs/howto/paper.md"),
    *("docs/howto/from_other_packages.md", "docs/howto/reading_the_report.md"),
]
DOCS = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts]
PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in DOCS)]
IMAGES = ROOT / "docs/images"
# Root of the mean squared difference of the pixels. The same numbers in the same release of matplotlib give 0, also with
# another BLAS kernel; another last digit above one bar gives 2.1.
TOLERANCE = 0.5


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def test_an_output_may_leave_out_lines_and_go_on_in_the_next_but_not_differ_in_a_digit():
    printed = "The first line is long\n\n  left   0.330\n  rope   0.108  \n  right  0.562\nThe end\n"
    assert shows("The first\nline is long\n\n  left   0.330\n", printed)
    assert shows("  left   0.330\n  ...\n  right  0.562\n", printed)
    assert shows("...\n  rope   0.108\n", printed)
    assert not shows("  left   0.331\n", printed)
    assert not shows("  left  0.330\n", printed)
    assert not shows("  left   0.33\n", printed)
    assert not shows("  left   0.330\n  right  0.562\n", printed)
    assert not shows("  right  0.562\n...\n  left   0.330\n", printed)
    assert not shows("line is long\n", printed)


def test_a_page_is_followed_and_its_wrong_output_found(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- file: a.txt -->\n```text\none,two\n```\n\n"
        "```python\nfor _ in range(2):\n    print(open('a.txt').read())\n1 + 1\n```\n\n```text\none,two\n...\n2\n```\n\n"
        "<!-- not run: no network -->\n```sh\ncurl\n```\n\n"
        f"```sh\nhiercomp --version\n```\n\n```text\nhiercomp {hc.__version__}\n```\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("tests.pages.ROOT", tmp_path)
    assert len(follow("page.md", tmp_path)) == 2
    page.write_text(page.read_text(encoding="utf-8").replace("\n2\n", "\n3\n"), encoding="utf-8")
    with pytest.raises(AssertionError, match="but its code prints"):
        follow("page.md", tmp_path)


def test_every_page_that_shows_an_output_is_followed():
    found = {page: blocks((ROOT / page).read_text(encoding="utf-8")) for page in PAGES}
    shown = {page for page, parts in found.items() if any(block.language in OUTPUTS for block in parts)}
    assert shown <= set(FOLLOWED)
    assert len(shown) >= 9


@pytest.mark.filterwarnings("default")
@pytest.mark.slow
@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_shows_what_its_code_prints(page, tmp_path):
    names = {  # that the README leaves to the reader
        "estimators": {"naive_bayes": GaussianNB(), "tree": DecisionTreeClassifier()},
        "data": {"iris": load_iris()},
    }
    hc.load_scores("keel").to_csv(tmp_path / "scores.csv", index=False)
    follow(page, tmp_path, names)


def test_the_page_on_the_report_goes_through_its_sections_in_their_order():
    page = (ROOT / "docs/howto/reading_the_report.md").read_text(encoding="utf-8")
    report = ROOT / "hiercomp/report"
    own, common = ((report / name).read_text(encoding="utf-8") for name in ("report.html.j2", "layout.html.j2"))
    sections = re.findall(r"<h2[^>]*>([^<{]+)</h2>", own + common)
    told = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert told == [section for section in sections if section in told]
    assert set(sections) - set(told) == {"Notes", "Influence of the data sets"}


def number(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"


def test_the_numbers_in_the_text_of_the_readme_and_of_the_tutorial_are_those_of_the_fits():
    scores = hc.load_scores("keel")
    pair = hc.HierarchicalComparison(scores, left="naive_bayes", right="decision_tree", rope=0.01)
    demo = pair.fit("quadrature", progress=False).next_dataset
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"naive_bayes better {number(demo.p_left)}, practically equivalent {number(demo.p_rope)}, " in readme
    assert f"decision_tree better {number(demo.p_right)};" in readme
    assert f"bundled scores of {scores['dataset'].nunique()} data sets" in readme
    assert f"For each of {scores['dataset'].nunique()} data sets" in readme

    pair = hc.HierarchicalComparison(scores, left="naive_bayes", right="logistic_regression", rope=0.01)
    logistic = pair.fit("quadrature", progress=False).next_dataset
    tutorial = " ".join((ROOT / "docs/tutorial.md").read_text(encoding="utf-8").split())
    of_hundred = [
        round(100 * share) for share in (logistic.expected_right, logistic.expected_left, logistic.expected_rope)
    ]
    assert "on about {} of 100 data sets, naive Bayes on {}, and on {} the".format(*of_hundred) in tutorial
    assert f"wins on {100 * logistic.p_right:.1f}% of data sets" in tutorial


def software(picture: Path) -> str:
    """The program that a PNG names as its maker."""
    content, place = picture.read_bytes(), 8
    while place < len(content):
        length, kind = struct.unpack(">I4s", content[place : place + 8])
        key, _, text = content[place + 8 : place + 8 + length].partition(b"\0")
        if kind == b"tEXt" and key == b"Software":
            return text.decode("latin-1")
        place += length + 12
    return ""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Path:
    """The pictures as the script draws them now."""
    folder = tmp_path_factory.mktemp("drawn")
    subprocess.run([sys.executable, ROOT / "scripts/make_pictures.py", folder], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("name", ["next_dataset.png", "shrinkage.png"])
def test_a_picture_is_what_the_script_draws(name, drawn, tmp_path):
    stored = IMAGES / name
    if software(stored) != software(drawn / name):
        pytest.skip(f"drawn by {software(stored)}; other releases set text otherwise")
    # A copy, since the comparison writes beside it
    copy = tmp_path / name
    copy.write_bytes(stored.read_bytes())
    assert compare_images(str(copy), str(drawn / name), tol=TOLERANCE) is None, "run scripts/make_pictures.py"


def test_the_tolerance_of_a_picture_catches_another_digit(tmp_path):
    paths = []
    for text in ("0.330", "0.331"):
        figure, axes = plt.subplots(figsize=(8.6, 3.2), layout="constrained")
        axes.text(0.5, 0.5, text, fontsize=9)
        paths.append(tmp_path / f"{text}.png")
        figure.savefig(paths[-1], dpi=115)
    assert compare_images(str(paths[0]), str(paths[1]), tol=TOLERANCE) is not None


def test_every_picture_of_the_pages_is_drawn_by_the_script_or_is_the_one_of_the_levels():
    link = re.compile(r"\((?:docs/|\.\./)?images/([^)]+)\)")
    named = {name for page in PAGES for name in link.findall((ROOT / page).read_text(encoding="utf-8"))}
    assert named == {"next_dataset.png", "shrinkage.png", "levels.svg"}
    assert {path.name for path in IMAGES.iterdir()} == named


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the pictures are compared on the oldest Python")
def test_the_pictures_were_drawn_by_the_matplotlib_of_the_oldest_python():
    release = ".".join(matplotlib.__version__.split(".")[:2])
    assert {software(IMAGES / name) for name in ("next_dataset.png", "shrinkage.png")} == {f"matplotlib {release}"}
