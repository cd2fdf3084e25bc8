"""Run the notebooks and keep them with their outputs in docs/notebooks, where the documentation shows them.

Run as ``python scripts/run_notebooks.py`` (all of them, some minutes) or with the names of some, such as
``07_many_algorithms``. The notebooks in notebooks/ stay without outputs; tests/whole/test_notebooks.py compares the two.
"""

from __future__ import annotations

import base64
import io
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ROOT / "notebooks"
SHOWN = ROOT / "docs" / "notebooks"
COLOURS = 64  # of a picture; enough for plots, and a third of the bytes
LARGEST = 500_000  # bytes of a notebook


def main(names: list[str]) -> None:
    """Run the notebooks of these names, or all."""
    SHOWN.mkdir(exist_ok=True)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        notebook = executed(path)
        text = nbformat.writes(notebook) + "\n"
        if len(text) > LARGEST:
            raise SystemExit(f"{path.name} has {len(text) / 1000:.0f} kB, more than {LARGEST / 1000:.0f} kB.")
        (SHOWN / path.name).write_text(text, encoding="utf-8")
        print(f"{path.name}: {len(text) / 1000:.0f} kB")


def executed(path: Path) -> NotebookNode:
    """The notebook with its outputs, without what is not shown or differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("metadata", {}).clear()
            if output.output_type == "stream":
                # A warning without the temporary file of the cell, and without its line, which is above
                output.text = re.sub(r"^\S*/ipykernel_\S+:\d+: (.*\n)(  .*\n)?", r"\1", output.text, flags=re.MULTILINE)
            data = output.get("data", {})
            if "text/html" in data or "image/png" in data:
                data.pop("text/plain", None)
            if "image/png" in data:
                data["image/png"] = smaller(data["image/png"])
    notebook.metadata = {"kernelspec": notebook.metadata.kernelspec, "language_info": {"name": "python"}}
    return notebook


def smaller(picture: str) -> str:
    """A PNG in base 64 with fewer colours."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    written = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(written, format="PNG", optimize=True)
    return base64.b64encode(written.getvalue()).decode("ascii")


if __name__ == "__main__":
    main(sys.argv[1:])
