"""Draw the pictures of the README from the bundled scores, into docs/images.

Run as ``python scripts/make_pictures.py``. The engine and the seed are fixed and nothing is drawn that a sampler drew, so
another run, on any machine, gives the same pictures; tests/whole/test_pages.py compares them with those in docs/images. Only
another release of matplotlib sets the text otherwise: each picture names the release that drew it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

import hiercomp as hc

IMAGES = Path(__file__).parent.parent / "docs" / "images"
DOTS = 115  # an inch
LARGEST = 100_000  # bytes of a picture


def main(folder: Path = IMAGES) -> None:
    """Fit the README's comparison and draw it."""
    scores = hc.load_scores("keel")
    comparison = hc.HierarchicalComparison(scores, left="naive_bayes", right="decision_tree", rope=0.01)
    result = comparison.fit("quadrature", seed=0, progress=False)
    folder.mkdir(parents=True, exist_ok=True)

    figure, (bars, density) = plt.subplots(1, 2, figsize=(8.6, 3.2), layout="constrained")
    result.plot.next_dataset(ax=bars)
    result.plot.population(ax=density)
    _save(figure, folder / "next_dataset.png")
    _save(result.plot.shrinkage().figure, folder / "shrinkage.png")


def _save(figure: plt.Figure, path: Path) -> None:
    figure.savefig(path, dpi=DOTS, metadata={"Software": f"matplotlib {'.'.join(mpl.__version__.split('.')[:2])}"})
    plt.close(figure)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path.name} is larger than {LARGEST / 1000:.0f} kB.")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
