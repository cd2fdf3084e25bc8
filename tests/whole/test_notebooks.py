"""Every notebook runs and is kept without outputs; the copies in the documentation have the same cells."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SHOWN = ROOT / "docs/notebooks"


def html_outputs(notebook: NotebookNode) -> list[str]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]


def conclusions(notebook: NotebookNode) -> list[str]:
    """The sentences of the verdicts, in their order."""
    return re.findall(r"(?:The most likely outcome|No verdict|Undecided)[^<]*", " ".join(html_outputs(notebook)))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_concludes_what_the_documentation_shows(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    assert any("most likely outcome" in text for text in html_outputs(notebook))
    printed, shown = conclusions(notebook), conclusions(nbformat.read(SHOWN / path.name, as_version=4))
    if "embedded" in path.read_text(encoding="utf-8"):  # the draws of other machines may differ
        printed, shown = ([re.sub(r"[\d.]+", "0", sentence) for sentence in given] for given in (printed, shown))
    assert printed == shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in notebook.cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_copy_in_the_documentation_has_the_same_cells_with_outputs(path):
    notebook, copy = (nbformat.read(file, as_version=4) for file in (path, SHOWN / path.name))
    cells, copied = ([(cell.cell_type, cell.id, cell.source) for cell in each.cells] for each in (notebook, copy))
    assert copied == cells, "run scripts/run_notebooks.py"
    code = [cell for cell in copy.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not [output for cell in code for output in cell.outputs if output.output_type == "error"]
    assert conclusions(copy)


def test_the_documentation_shows_every_notebook_and_no_other():
    assert [path.name for path in sorted(SHOWN.glob("*.ipynb"))] == [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_copy_in_the_documentation_names_no_folder_of_the_machine_and_is_small(path):
    text = (SHOWN / path.name).read_text(encoding="utf-8")
    assert not re.search(r"/tmp/|/home/|/root/|/work/|ipykernel_", text)
    assert len(text) < 500_000
