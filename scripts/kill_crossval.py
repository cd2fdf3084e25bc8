"""Kill a checkpointed cross-validation at random moments, resume it, and compare the table byte for byte.

python scripts/kill_crossval.py                          # 20 kills of a run of 2,040 cells, in two processes
python scripts/kill_crossval.py --kills 3 --repeats 2 --jobs 1
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from hiercomp.crossval import cross_validate_all

FOLDS, CELLS_OF_A_FOLD = 10, 3 * 4


class Slow(ClassifierMixin, BaseEstimator):
    """Naive Bayes that takes its time, and fails now and then."""

    def __init__(self, seconds: float = 0.002) -> None:
        self.seconds = seconds

    def fit(self, X, y):
        """Wait, then fit, or fail."""
        time.sleep(self.seconds)
        if int(X.sum() * 10) % 7 == 0:
            raise RuntimeError("as it happens")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        """Classes."""
        return self.model_.predict(X)


def work(folder: Path, jobs: int, runs: int) -> None:
    """A checkpointed cross-validation; its table, without the times, goes to FOLDER/table.csv."""
    estimators = {
        "nb": GaussianNB(),
        "tree": DecisionTreeClassifier(),
        "slow": Slow(),
        "forest": RandomForestClassifier(1),
    }
    loaders = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
    data = {name: lambda load=load: load(return_X_y=True) for name, load in loaders.items()}
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=runs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = cross_validate_all(
            estimators, data, cv=cv, seed=5, n_jobs=jobs, checkpoint=folder / "run.sqlite", progress=False
        )
    table.drop(columns=["fit_time", "score_time"]).to_csv(folder / "table.csv", index=False)


def start(folder: Path, jobs: int, repeats: int) -> subprocess.Popen[bytes]:
    """The run in a process group of its own."""
    command = [sys.executable, __file__, "--work", str(folder), "--jobs", str(jobs), "--repeats", str(repeats)]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)


def finished_cells(folder: Path) -> int:
    """How many cells the checkpoint holds."""
    if not (folder / "run.sqlite").exists():
        return 0
    connection = sqlite3.connect(folder / "run.sqlite", timeout=30)
    try:
        return int(connection.execute("SELECT count(*) FROM cells WHERE result IS NOT NULL").fetchone()[0])
    except sqlite3.OperationalError:  # its tables are not yet made
        return 0
    finally:
        connection.close()


def table(folder: Path, jobs: int, repeats: int, kill_at: int | None) -> tuple[bytes, int]:
    """The bytes of the table, and how many cells were finished at the kill."""
    folder.mkdir()
    killed_at = 0
    if kill_at is not None:
        process = start(folder, jobs, repeats)
        while process.poll() is None and finished_cells(folder) < kill_at:
            time.sleep(0.002)
        if process.poll() is not None:
            raise RuntimeError("The run ended before it was killed.")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        killed_at = finished_cells(folder)
    if start(folder, jobs, repeats).wait() != 0:
        raise RuntimeError("The run failed.")
    return (folder / "table.csv").read_bytes(), killed_at


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=17, help="of 10-fold cross-validation, 120 cells each")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work is not None:
        work(arguments.work, arguments.jobs, arguments.repeats)
        return
    cells = arguments.repeats * FOLDS * CELLS_OF_A_FOLD
    moments = np.random.default_rng(arguments.seed).integers(1, int(0.95 * cells), arguments.kills)
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        whole, _ = table(Path(folder, "whole"), arguments.jobs, arguments.repeats, None)
        for number, moment in enumerate(moments, start=1):
            found, killed_at = table(Path(folder, str(number)), arguments.jobs, arguments.repeats, int(moment))
            different += found != whole
            print(
                f"kill {number} at {killed_at} of {cells} cells: {'the same' if found == whole else 'DIFFERENT'}",
                flush=True,
            )
    print(f"{arguments.kills - different} of {arguments.kills} resumed tables equal the uninterrupted one.")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
