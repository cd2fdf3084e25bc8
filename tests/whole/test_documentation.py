"""Every public name is documented, has its place in the reference, and no internal link is broken."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import nbformat
import pytest

import hiercomp
import hiercomp.plots
from tests.pages import blocks

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts),
]
SHOWN = [path for path in PAGES if path.name not in ("CONTRIBUTING.md", "CHANGELOG.md")]
COLUMN = 88  # letters
ONE_LINERS = ("demo", "test")  # for pasting, in the README
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
SOURCE = re.compile(r"^```(?:python|\{picture\}[^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NOT_RUN = re.compile(r"^<!-- not run: [^\n]*\n+```.*?^```", re.DOTALL | re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")

PUBLIC = {
    **{f"hiercomp.{name}": getattr(hiercomp, name) for name in hiercomp.__all__ if name != "plots"},
    **{f"hiercomp.plots.{name}": getattr(hiercomp.plots, name) for name in hiercomp.plots.__all__},
}
ERRORS = [
    name for name, value in PUBLIC.items() if isinstance(value, type) and issubclass(value, BaseException | Warning)
]
CLASSES = [name for name, value in PUBLIC.items() if isinstance(value, type) and name not in ERRORS]
FUNCTIONS = [name for name, value in PUBLIC.items() if not isinstance(value, type)]
# Made by hiercomp and never by a user: the example stands with the function that makes them
RESULTS = [
    name for name in CLASSES if not re.search(r"^Parameters\n-+$", inspect.getdoc(PUBLIC[name]) or "", re.MULTILINE)
]
# What an example would take fits for stands with its code in the gallery, which the build of the pages runs
IN_GALLERY = [name for name in PUBLIC if name.startswith("hiercomp.plots.") and name not in CLASSES]
ACCESSOR = "hiercomp.plots.ComparisonPlots"  # its methods are the functions of the gallery


# What the pages call these
KNOWN = {"hc": hiercomp, "plots": hiercomp.plots, "result": hiercomp.ComparisonResult}


def names_in_section(docstring: str, section: str) -> list[str]:
    """The names that a section of a numpydoc docstring describes."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", docstring, re.DOTALL | re.MULTILINE)
    if found is None:
        return []
    heads = [line for line in found.group(1).splitlines() if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for head in heads for name in head.split(" : ")[0].split(",")]


def parameters(value: Any) -> list[str]:
    return [name for name in inspect.signature(value).parameters if name != "self"]


def public_methods(value: type) -> list[tuple[str, Any]]:
    found = [(name, member) for name, member in vars(value).items() if not name.startswith("_")]
    return [(name, member) for name, member in found
            if isinstance(member, property | classmethod | staticmethod) or inspect.isfunction(member)
            or hasattr(member, "func")]  # fmt: skip


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_a_section_of_a_docstring_is_read_as_numpydoc_does():
    docstring = """Do it.

Parameters
----------
a, b : float
    Two numbers: (a)
    and b.
*c
**d : object

Returns
-------
float
"""
    assert names_in_section(docstring, "Parameters") == ["a", "b", "c", "d"]
    assert names_in_section(docstring, "Returns") == ["float"]
    assert names_in_section(docstring, "Raises") == []


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_summary_of_one_sentence(name):
    docstring = inspect.getdoc(PUBLIC[name])
    assert docstring
    if isinstance(PUBLIC[name], type):
        assert vars(PUBLIC[name]).get("__doc__"), "an inherited docstring says nothing of this class"
        assert not docstring.startswith(f"{PUBLIC[name].__name__}("), "the docstring that dataclass makes"
    summary = docstring.split("\n\n")[0]
    assert summary[-1] in ".?:;" or "\n" in summary
    assert len(summary) >= 10


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_of_a_function_is_described_under_its_name(name):
    docstring = inspect.getdoc(PUBLIC[name]) or ""
    described = names_in_section(docstring, "Parameters")
    assert sorted(described) == sorted(parameters(PUBLIC[name]))
    assert names_in_section(docstring, "Returns"), "says nothing of what it returns"


@pytest.mark.parametrize("name", CLASSES)
def test_every_field_or_argument_of_a_class_is_described_under_its_name(name):
    docstring = inspect.getdoc(PUBLIC[name]) or ""
    described = names_in_section(docstring, "Parameters") or names_in_section(docstring, "Attributes")
    assert sorted(described) == sorted(parameters(PUBLIC[name]))


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_has_a_docstring_whose_parameters_are_its_own(name):
    for method, member in public_methods(PUBLIC[name]):
        docstring = inspect.getdoc(member)
        assert docstring, method
        if isinstance(member, property) or hasattr(member, "func"):
            continue
        described = names_in_section(docstring, "Parameters")
        assert set(described) <= set(parameters(getattr(PUBLIC[name], method))), method


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - set(ERRORS) - set(RESULTS) - set(IN_GALLERY) - {ACCESSOR}))
def test_what_a_user_calls_has_an_example(name):
    examples = re.findall(r"^>>> .+$", inspect.getdoc(PUBLIC[name]) or "", re.MULTILINE)
    assert [line for line in examples if "doctest: +SKIP" not in line]


@pytest.mark.parametrize("name", IN_GALLERY)
def test_what_has_no_example_is_in_the_gallery(name):
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{name.split('.')[-1]}\b", gallery)


def test_every_plot_of_the_gallery_has_its_picture_with_words():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    pictures = re.findall(r"^```\{picture\} (\w+)\n:alt: (.+)$", gallery, re.MULTILINE)
    drawn = {name.split(".plot_")[1] for name in IN_GALLERY if ".plot_" in name}
    assert {name for name, _ in pictures} == drawn | {"population_mixture"}
    assert all(len(words) > 20 for _, words in pictures)


def test_every_public_name_stands_in_the_reference_once():
    module, listed = "", []
    for line in (DOCS / "api/index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split(":: ")[1]
        elif re.fullmatch(r"   ~?[\w.]+", line):
            listed.append(f"{module}.{line.strip().lstrip('~')}")
    assert sorted(listed) == sorted(set(listed))
    assert set(PUBLIC) - set(listed) == set()
    for name in set(listed) - set(PUBLIC):  # the others are there to be linked to
        holder, attribute = name.rsplit(".", 1)
        assert hasattr(importlib.import_module(holder), attribute)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_internal_links_point_to_files_and_headings_that_exist(path):
    text = CODE.sub("", path.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if re.match(r"https?://|mailto:", target):
            continue
        place, _, anchor = target.partition("#")
        linked = (path.parent / place).resolve() if place else path
        assert linked.is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", CODE.sub("", linked.read_text(encoding="utf-8")), re.MULTILINE)
            assert anchor in map(slug, headings), target


def test_the_reader_of_links_finds_links_and_pictures():
    text = "See [a](b.md#c), ![two [d]](e.png) and [f](https://g.org)."
    assert LINK.findall(text) == ["b.md#c", "e.png", "https://g.org"]


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for page in (path for path in PAGES if path.is_relative_to(DOCS)):
        for block in TOCTREE.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                entry = re.fullmatch(r"(?:.*<(.+)>|([\w/]+))", line.strip())
                if entry:
                    name = entry.group(1) or entry.group(2)
                    ending = "ipynb" if name.startswith("notebooks/") else "md"
                    listed.add((page.parent / f"{name}.{ending}").resolve())
    pages = {path.resolve() for path in PAGES if path.is_relative_to(DOCS)}
    pages |= {path.resolve() for path in (DOCS / "notebooks").glob("*.ipynb")}
    assert pages - listed == {(DOCS / "index.md").resolve()}
    assert listed <= pages


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_of_a_page_is_python_and_names_what_exists(path):
    for source in SOURCE.findall(NOT_RUN.sub("", path.read_text(encoding="utf-8"))):
        tree = ast.parse(re.sub(r"^:alt: .*$", "", source, flags=re.MULTILINE))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                owner = KNOWN.get(node.value.id)
                fields = getattr(owner, "__dataclass_fields__", {})
                assert owner is None or hasattr(owner, node.attr) or node.attr in fields, ast.unparse(node)


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.name)
def test_code_of_a_page_fits_its_column(path):
    parts = [block for block in blocks(path.read_text(encoding="utf-8")) if block.comment not in ONE_LINERS]
    lines = [line for block in parts for line in block.source.splitlines() if not line.startswith(":alt: ")]
    assert [line for line in lines if len(line) > COLUMN] == []


BIBLIOGRAPHY = [ROOT / "hiercomp/report/references.bib", DOCS / "references.bib"]
AUTHOR = r"\b([A-ZÁŠ]\w+)"
CITED = re.compile(
    AUTHOR + r"(?:,? et al\.|(?:, [A-ZÁŠ]\w+)* (?:&|and) [A-ZÁŠ]\w+)?,?\s\(?((?:19|20)\d\d)\b"
)  # Raftery (1995)
LISTED = re.compile(r"^ +References\n +-+\n(.*?)(?:\n\n|\"\"\")", re.DOTALL | re.MULTILINE)
WORK = re.compile(AUTHOR + r".*?\b((?:19|20)\d\d)\b", re.DOTALL)  # Wilcoxon, Biometrics Bulletin 1 (1945)
NO_AUTHORS = {"ICML", "PAKDD", "JMLR", "Princeton"}


def bibliography() -> set[tuple[str, str]]:
    """The family name of each first author and the year, without accents."""
    entries = [entry for path in BIBLIOGRAPHY for entry in path.read_text(encoding="utf-8").split("\n@")]
    return {
        (
            re.sub(r"\W", "", re.search(r"author = \{(.*?),", entry)[1].replace(r"\v", "")),
            re.search(r"year = \{(\d+)", entry)[1],
        )
        for entry in entries
    }


def without_accents(name: str) -> str:
    return unicodedata.normalize("NFD", name).encode("ascii", "ignore").decode()


def test_every_work_that_is_cited_is_in_the_bibliography():
    known = bibliography()
    assert {("Demsar", "2006"), ("Garcia", "2008"), ("Juarez", "2010"), ("Bouckaert", "2003")} <= known
    sources = [
        *(ROOT / "hiercomp").rglob("*.py"),
        *DOCS.rglob("*.md"),
        ROOT / "README.md",
        *(ROOT / "stan").rglob("*.stan"),
    ]
    cited = {}
    for path in sources:
        text = path.read_text(encoding="utf-8").replace("\n * ", " ")  # comments of Stan programs
        works = [work for listed in LISTED.findall(text) for one in listed.split(";") for work in WORK.findall(one)[:1]]
        for name, year in [*works, *CITED.findall(text)]:
            if name not in NO_AUTHORS:
                cited[without_accents(name), year] = path.name
    assert len(cited) > 20
    assert {work: place for work, place in cited.items() if work not in known} == {}


def test_the_entries_of_the_bibliography_are_complete_and_in_order():
    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    assert text.isascii()
    entries = re.findall(r"^@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},?\n)+)\}", text, re.MULTILINE)
    assert len(entries) == text.count("@")
    keys = [key for _, key, _ in entries]
    assert keys == sorted(keys)
    where = {
        "article": {"journal", "volume", "pages"},
        "inproceedings": {"booktitle", "pages"},
        "book": {"publisher"},
        "phdthesis": {"school"},
        "misc": {"note"},
    }
    for kind, key, body in entries:
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", body, re.MULTILINE))
        assert {"author", "title", "year"} | where[kind] <= set(fields), key
        family = re.sub(r"\\v|\W", "", fields["author"].split(",")[0].replace(r"\'", "")).lower()
        assert key == f"{family}{fields['year']}"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_notebook_is_listed_and_says_what_it_is_about(path):
    assert f"`{path.stem}`" in (DOCS / "notebooks.md").read_text(encoding="utf-8")
    first = nbformat.read(path, as_version=4).cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")


@pytest.mark.parametrize("name", ["next_dataset", "shrinkage"])
def test_pictures_of_the_readme_are_small(name):
    path = DOCS / f"images/{name}.png"
    assert path.stat().st_size < 100_000
    assert f"(docs/images/{name}.png)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_public_names_in_running_text_are_links_and_words_are_not(monkeypatch):
    pytest.importorskip("sphinx", reason="the docs extra is not installed")
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    target = importlib.import_module("names").target
    linked = ("hc.plan", "posthoc_test(data)", "sign_test", "Priors", "plots.plot_student", "result.summary()")
    assert [target(code) for code in linked] == [
        *("hiercomp.plan", "hiercomp.posthoc_test", "hiercomp.sign_test", "hiercomp.Priors"),
        *("hiercomp.plots.plot_student", "hiercomp.ComparisonResult.summary"),
    ]
    for code in (
        "plan",
        "compare",
        "hiercomp.plots",
        "hc.nothing",
        "scores.head()",
        "result.nothing",
        "hiercomp plan",
        "rope=0.01",
    ):
        assert target(code) is None


@pytest.mark.slow
def test_the_pages_are_built_without_a_warning(tmp_path):
    pytest.importorskip("myst_nb", reason="the docs extra is not installed")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-b", "html"]
    run = subprocess.run([*command, "-d", str(tmp_path / "doctrees"), str(DOCS), str(tmp_path / "html")],
                         capture_output=True, text=True, timeout=300)  # fmt: skip
    assert run.returncode == 0, run.stderr
    for name in PUBLIC:
        assert (tmp_path / f"html/api/generated/{name}.html").is_file()
    which = (tmp_path / "html/howto/which_test.html").read_text(encoding="utf-8")
    assert 'href="../api/generated/hiercomp.correlated_t_test.html' in which, "names of functions are links"
    shown = (tmp_path / "html/notebooks/07_many_algorithms.html").read_text(encoding="utf-8")
    assert "best expected rank" in shown
    assert "<img " in shown
    assert 'class="math' in (tmp_path / "html/quadrature.html").read_text(encoding="utf-8")
