"""What is written twice outside the package says the same: versions, Pythons, levels."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import hiercomp

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
LAYERS = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]


def test_the_citation_names_the_version_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [hiercomp.__version__]


def test_the_workflow_tests_the_oldest_and_the_newest_python():
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.MULTILINE)
    workflow = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    tested = re.findall(r'"([\d.]+)"', re.findall(r"^ +python: \[(.+?)\]", workflow, re.MULTILINE)[0])
    assert tested == [named[0], named[-1]]
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_of_a_workflow_is_pinned_to_a_commit(path):
    used = re.findall(r"uses: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    for action in used:
        assert action.startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action)


@pytest.mark.parametrize("path", ["docs/architecture.md", "docs/images/levels.svg"])
def test_the_page_and_the_picture_of_the_architecture_have_the_levels_of_the_contract(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    pattern = r"^\| (`.+?`|the ground) \|" if path.endswith(".md") else r'font-weight="bold">(.+?)<'
    drawn = [re.findall(r"[a-z_]+", row.replace(".py", "")) for row in re.findall(pattern, text, re.MULTILINE)]
    names = [name for row in drawn for name in row]
    above = names[: names.index("the")] if "the" in names else names
    contract = [name for layer in LAYERS for name in re.findall(r"[a-z_]+", layer)]
    assert contract[: len(above)] == above
    assert not [name for name in contract[len(above) :] if (ROOT / "hiercomp" / name).is_dir()], "no folder is ground"


def test_the_wheel_carries_every_file_of_data():
    declared = PROJECT["tool"]["setuptools"]["package-data"]
    files = [path for path in (ROOT / "hiercomp").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
    assert len(files) > 5
    for path in files:
        package = ".".join(path.parent.relative_to(ROOT).parts)
        assert any(path.match(pattern) for pattern in declared.get(package, [])), path
