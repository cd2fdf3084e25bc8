"""The same pairs on a real local Dask cluster, one of whose workers dies half-way."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
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

import hiercomp as hc
from hiercomp.pairwise import PairwiseResult
from hiercomp.result_files import plain_values
from hiercomp.tournament import compare_all

distributed = pytest.importorskip("dask.distributed", reason="the dask extra is not installed")


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


def compared(df: pd.DataFrame, **options) -> PairwiseResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        return compare_all(df, rope=0.01, progress=False, priors=hc.Priors.gaussian(), **options)


@pytest.fixture(scope="module")
def serial(table) -> PairwiseResult:
    return compared(table, n_jobs=1)


@pytest.fixture
def cluster(tmp_path) -> Iterator[distributed.LocalCluster]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path),
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


def assert_equal(one: PairwiseResult, other: PairwiseResult) -> None:
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)
    pd.testing.assert_frame_equal(one.ranking(), other.ranking(), check_exact=True)
    assert [plain_values(pair) for pair in one.pairs] == [plain_values(pair) for pair in other.pairs]
    assert one.notes == other.notes


def kill_a_worker(pid: int, checkpoint: Path, enough: int, killed: list[int]) -> None:
    """As soon as some of the pairs, but not all, are finished."""
    for _ in range(6000):
        time.sleep(0.01)
        if checkpoint.exists():
            connection = sqlite3.connect(checkpoint)
            try:
                finished = connection.execute("SELECT count(*) FROM pairs").fetchone()[0]
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


def test_a_scheduler_that_does_not_answer_is_an_error(table, monkeypatch):
    monkeypatch.setattr("hiercomp.pair_fits.DASK_SECONDS", 1)
    with pytest.raises(hc.ArgumentError, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        compared(table, dask="tcp://127.0.0.1:9")
    with pytest.raises(hc.ArgumentError, match="No Dask scheduler answers at 'nonsense'"):
        compared(table, dask="nonsense")
