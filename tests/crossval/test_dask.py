"""The same pairs, and the same cells, on a real local Dask cluster, one of whose workers dies half-way."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from hiercomp.crossval import cross_validate_all
from hiercomp.posterior.saved import plain_values
from hiercomp.tournament import TournamentResult, compare_all

dask = pytest.importorskip("dask", reason="the dask extra is not installed")
distributed = pytest.importorskip("dask.distributed", reason="the dask extra is not installed")

pytestmark = pytest.mark.xdist_group("dask")  # one cluster at a time


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """10 algorithms on 14 data sets, each a little better than the one before."""
    generator = np.random.default_rng(0)
    index = pd.MultiIndex.from_product(
        [range(14), [f"algorithm {i}" for i in range(10)], range(10)], names=["dataset", "algorithm", "fold"]
    )
    df = index.to_frame(index=False)
    better = df["algorithm"].str[-1].astype(float) / 100
    return df.assign(score=0.7 + better + generator.normal(0, 0.02, size=len(df)))


def compared(df: pd.DataFrame, **options) -> TournamentResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        return compare_all(df, rope=0.01, progress=False, priors=hc.Priors.gaussian(), **options)


@pytest.fixture(scope="module")
def serial(table) -> TournamentResult:
    return compared(table, n_jobs=1)


@pytest.fixture
def cluster(tmp_path) -> Iterator[distributed.LocalCluster]:
    # On a busy machine a worker takes longer to start again than the 15 s after which a local cluster gives it up
    dask.config.set({"distributed.deploy.lost-worker-timeout": "300 s"})
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path),
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


def assert_equal(one: TournamentResult, other: TournamentResult) -> None:
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)
    pd.testing.assert_frame_equal(one.ranking(), other.ranking(), check_exact=True)
    assert [plain_values(pair) for pair in one.pairs] == [plain_values(pair) for pair in other.pairs]
    assert one.notes == other.notes


CELLS = "cells WHERE result IS NOT NULL"


def kill_a_worker(pid: int, checkpoint: Path, enough: int, killed: list[int], kept: str = "pairs") -> None:
    """As soon as some of the pairs or cells, but not all, are finished."""
    for _ in range(6000):
        time.sleep(0.01)
        if checkpoint.exists():
            connection = sqlite3.connect(checkpoint)
            try:
                finished = connection.execute(f"SELECT count(*) FROM {kept}").fetchone()[0]
            except sqlite3.OperationalError:  # not yet made
                continue
            finally:
                connection.close()
            if finished >= enough:
                os.kill(pid, signal.SIGKILL)
                killed.append(finished)
                return


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
def test_a_killed_worker_costs_no_pair(cluster, table, serial, tmp_path):
    checkpoint = tmp_path / "pairs.sqlite"
    with distributed.Client(cluster) as client:
        pids = client.run(os.getpid)
        assert len(set(pids.values()) - {os.getpid()}) == 2
        killed: list[int] = []
        killer = threading.Thread(target=kill_a_worker, args=(min(pids.values()), checkpoint, 6, killed))
        killer.start()
        found = compared(table, dask=client, checkpoint=checkpoint)
        killer.join()
        assert killed
        assert killed[0] < len(found.pairs)
        client.wait_for_workers(2, timeout=30)  # the nanny has started another one
        assert set(client.run(os.getpid).values()) != set(pids.values())
    assert_equal(found, serial)


@pytest.mark.slow
def test_an_address_a_client_and_joblibs_backend_give_what_a_serial_run_gives(cluster, table, serial):
    assert_equal(compared(table, dask=cluster.scheduler_address), serial)
    with distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        assert_equal(compared(table), serial)


class Counted:
    """Features that note in a file whenever they are sent somewhere, and give their rows as an array does."""

    def __init__(self, values: np.ndarray, log: str) -> None:
        self.values, self.log, self.shape = values, log, values.shape

    def __reduce__(self):
        with open(self.log, "a") as stream:
            stream.write("sent\n")
        return Counted, (self.values, self.log)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows):
        return self.values[rows]

    @property
    def nbytes(self) -> int:
        return self.values.nbytes


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
def test_a_killed_worker_costs_no_cell_and_data_are_sent_once(cluster, tmp_path):
    X, y = make_classification(2000, 30, random_state=0)
    log = tmp_path / "sent.txt"
    estimators = {"nb": GaussianNB(), "forest": RandomForestClassifier(10), "tree": DecisionTreeClassifier()}
    options = {"cv": RepeatedStratifiedKFold(n_splits=5, n_repeats=8), "progress": False}
    serial = cross_validate_all(estimators, {"made": (X, y)}, **options)
    with distributed.Client(cluster) as client:
        found = cross_validate_all(estimators, {"made": (Counted(X, str(log)), y)}, dask=client, **options)
        # Once by joblib to find out whether it can be, once to a worker, once from worker to worker; not 120 times
        assert 1 <= log.read_text().count("sent") <= 6
        columns = ["dataset", "algorithm", "run", "fold", "score", "rho"]
        pd.testing.assert_frame_equal(found[columns], serial[columns])
        checkpoint, killed = tmp_path / "run.sqlite", []
        pids = client.run(os.getpid)
        killer = threading.Thread(target=kill_a_worker, args=(min(pids.values()), checkpoint, 20, killed, CELLS))
        killer.start()
        found = cross_validate_all(
            estimators, {"made": (X, y)}, dask=cluster.scheduler_address, checkpoint=checkpoint, **options
        )
        killer.join()
        assert killed
        assert killed[0] < len(found)
    pd.testing.assert_frame_equal(found[columns], serial[columns])


class Dies(GaussianNB):
    """Kills its process on one of the folds."""

    def fit(self, X, y):
        if int(X.sum() * 100) % 5 == 0:
            os._exit(9)
        return super().fit(X, y)


@pytest.mark.slow
def test_a_cell_that_kills_its_workers_is_the_only_one_lost(cluster):
    X, y = make_classification(300, 5, random_state=1)
    options = {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2), "progress": False}
    cluster.scheduler.allowed_failures = 1
    with distributed.Client(cluster) as client, pytest.warns(hc.FailedCellsWarning, match="the process died"):
        found = cross_validate_all({"dies": Dies(), "nb": GaussianNB()}, {"made": (X, y)}, dask=client, **options)
    nb = found[found["algorithm"] == "nb"]["score"].to_numpy()
    dies = found[found["algorithm"] == "dies"]
    assert np.isfinite(nb).all()
    lost = dies["score"].isna().to_numpy()
    assert 0 < lost.sum() < 6
    np.testing.assert_array_equal(dies["score"].to_numpy()[~lost], nb[~lost])


@pytest.mark.slow
def test_a_task_that_fails_while_its_result_is_fetched_costs_no_cell(cluster, monkeypatch):
    """Its worker died with the result, and so did the next ones: the error comes while Dask gathers."""
    gather, failed = distributed.Client._gather, []

    async def gather_after_a_failure(self, futures, *arguments, **options):
        if not failed and "batch_of" in str(futures[0].key):
            failed.append(futures[0].key)
            futures[0]._state.set_error(distributed.KilledWorker("a cell", cluster.workers[0], 0), None)
        return await gather(self, futures, *arguments, **options)

    monkeypatch.setattr(distributed.Client, "_gather", gather_after_a_failure)
    X, y = load_iris(return_X_y=True)
    options = {"cv": 5, "progress": False}
    with distributed.Client(cluster) as client:
        found = cross_validate_all({"nb": GaussianNB()}, {"iris": (X, y)}, dask=client, **options)
    assert failed
    serial = cross_validate_all({"nb": GaussianNB()}, {"iris": (X, y)}, n_jobs=1, **options)
    assert found["score"].tolist() == serial["score"].tolist()


@pytest.mark.slow
def test_a_module_that_workers_lack_is_an_error_of_its_cells(cluster, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\nclass Bayes(GaussianNB):\n    pass\n"
    )
    with distributed.Client(cluster) as client:
        monkeypatch.syspath_prepend(str(tmp_path))
        only_here = importlib.import_module("only_here")
        estimators = {"nb": GaussianNB(), "lacking": only_here.Bayes()}
        with pytest.warns(
            hc.FailedCellsWarning, match="3 of 6 cells failed.*ModuleNotFoundError: No module named 'only_h"
        ):
            found = cross_validate_all(
                estimators, {"iris": load_iris(return_X_y=True)}, cv=3, dask=client, progress=False
            )
    sys.modules.pop("only_here")
    assert found.loc[found["algorithm"] == "nb", "score"].notna().all()


class Unsent(GaussianNB):
    """Can't be pickled, but copied."""

    def __reduce__(self):
        raise TypeError("no pickle of mine")


@pytest.mark.slow
def test_what_can_not_be_sent_to_workers_is_named(cluster):
    with (
        distributed.Client(cluster) as client,
        pytest.raises(hc.ArgumentError, match="estimator 'unsent' can't be pickled: TypeError: no pickle of mine"),
    ):
        cross_validate_all(
            {"unsent": Unsent()}, {"iris": load_iris(return_X_y=True)}, cv=3, dask=client, progress=False
        )


class Sleepy(GaussianNB):
    """Takes its time."""

    def fit(self, X, y):
        time.sleep(0.2)
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
def test_a_lost_scheduler_ends_the_run_which_goes_on_from_its_checkpoint(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    command = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--no-dashboard",
        "--port",
        address.split(":")[-1],
    ]
    quiet = {"stderr": subprocess.DEVNULL, "cwd": tmp_path}
    scheduler = subprocess.Popen(command, **quiet)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    worker = subprocess.Popen([*command, "--death-timeout", "30"], **quiet)
    checkpoint, killed = tmp_path / "run.sqlite", []
    killer = threading.Thread(target=kill_a_worker, args=(scheduler.pid, checkpoint, 5, killed, CELLS))
    killer.start()
    arguments = ({"sleepy": Sleepy()}, {"iris": load_iris(return_X_y=True)})
    options = {"cv": RepeatedStratifiedKFold(n_splits=10, n_repeats=3), "checkpoint": checkpoint, "progress": False}
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
            pytest.raises(hc.EngineError, match=r"connection to the Dask scheduler is lost\. A checkpoint keeps"),
        ):
            cross_validate_all(*arguments, dask=address, **options)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
        killer.join()
    assert killed
    assert len(cross_validate_all(*arguments, **options)) == 30


EXPERIMENT = """
seed = 2
[cv]
splitter = "RepeatedStratifiedKFold"
n_splits = 5
n_repeats = 2
[estimators.nb]
class = "sklearn.naive_bayes.GaussianNB"
[estimators.forest]
class = "sklearn.ensemble.RandomForestClassifier"
parameters = { n_estimators = 3 }
[data.iris]
file = "iris.csv"
target = "target"
"""


@pytest.mark.slow
def test_the_command_runs_an_experiment_file_on_a_cluster(cluster, tmp_path):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    tables = []
    for name, more in (("here.csv", []), ("there.csv", ["--dask", cluster.scheduler_address])):
        command = [sys.executable, "-m", "hiercomp.cli", "crossval", "experiment.toml", "--output", name, *more]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        tables.append(pd.read_csv(tmp_path / name).drop(columns=["fit_time", "score_time"]))
    assert len(tables[0]) == 20
    pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_a_scheduler_that_does_not_answer_is_an_error(table, monkeypatch):
    monkeypatch.setattr("hiercomp.workers.DASK_SECONDS", 1)
    with pytest.raises(hc.ArgumentError, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        compared(table, dask="tcp://127.0.0.1:9")
    with pytest.raises(hc.ArgumentError, match="No Dask scheduler answers at 'nonsense'"):
        compared(table, dask="nonsense")
    with pytest.raises(ValueError, match="No clients found"):  # which other libraries would take
        distributed.default_client()
