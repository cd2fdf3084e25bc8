"""Several processes on one checkpoint: each cell is computed once, and what a dead process had claimed is taken over."""

from __future__ import annotations

import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import GaussianNB

import hiercomp as hc
from hiercomp.crossval import cross_validate_all
from hiercomp.crossval.cells import Cell, CellResult, failed
from hiercomp.crossval.store import CellStore

TIMES = ["fit_time", "score_time"]
IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)

PROGRAM = '''
import os, sys, time, warnings
from pathlib import Path
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from hiercomp.crossval import cross_validate_all

class Counted(GaussianNB):
    """Writes down every fit, takes its time, and fails now and then."""

    def __init__(self, log=""):
        super().__init__()
        self.log = log

    def fit(self, X, y):
        with open(self.log, "a") as stream:
            stream.write(f"{os.environ['NAME']} {X.sum():.6f} {X[:20].sum():.6f}\\n")
        time.sleep(0.1)
        if int(X.sum() * 10) % 7 == 0:
            raise RuntimeError("as it happens")
        return super().fit(X, y)

folder, jobs, together = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
(folder / os.environ["NAME"]).touch()
until = time.monotonic() + 60
while sum((folder / name).exists() for name in ("one", "two")) < together and time.monotonic() < until:
    time.sleep(0.01)
warnings.simplefilter("ignore")
table = cross_validate_all(
    {"counted": Counted(str(folder / "fits.txt"))},
    {"iris": load_iris(return_X_y=True), "wine": lambda: load_wine(return_X_y=True)},
    cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=5),
    n_jobs=jobs,
    checkpoint=folder / "run.sqlite",
    progress=False,
)
table.drop(columns=["fit_time", "score_time"]).to_csv(folder / f"{os.environ['NAME']}.csv", index=False)
'''


def start(folder: Path, name: str, jobs: int = 1, together: int = 2) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PROGRAM, str(folder), str(jobs), str(together)]
    return subprocess.Popen(command, env=os.environ | {"NAME": name}, start_new_session=True)


def fits(folder: Path) -> tuple[Counter[str], Counter[str]]:
    """How many fits each process made, and how often each cell was fitted."""
    path = folder / "fits.txt"
    lines = [line.split(" ", 1) for line in path.read_text().splitlines()] if path.exists() else []
    return Counter(name for name, _ in lines), Counter(cell for _, cell in lines)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert start(folder, "one", together=1).wait(timeout=120) == 0
    assert len(fits(folder)[1]) == 50
    content = (folder / "one.csv").read_bytes()
    assert content.count(b"\n") == 51
    assert b"RuntimeError: as it happens" in content
    return content


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_two_processes_share_the_cells_and_both_have_the_whole_table(tmp_path, undisturbed, jobs):
    both = [start(tmp_path, name, jobs) for name in ("one", "two")]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes() == undisturbed
    by_process, by_cell = fits(tmp_path)
    assert len(by_cell) == 50
    assert by_cell.total() == 50  # failed cells too
    assert min(by_process.values()) >= 10


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
def test_the_cells_of_a_killed_process_are_taken_over(tmp_path, undisturbed):
    one, two = (start(tmp_path, name, jobs=2) for name in ("one", "two"))
    until = time.monotonic() + 60
    while fits(tmp_path)[0]["one"] < 5 and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(one.pid, signal.SIGKILL)
    one.wait()
    assert two.wait(timeout=120) == 0
    assert (tmp_path / "two.csv").read_bytes() == undisturbed
    by_process, by_cell = fits(tmp_path)
    assert 5 <= by_process["one"] < 45
    assert len(by_cell) == 50
    assert by_cell.total() <= 54  # what two processes of the killed one had begun is fitted again


def finished_checkpoint(folder: Path, owner: str, lease: float) -> tuple[Path, pd.DataFrame]:
    """A checkpoint in which a process still holds three cells, and the table of the finished run."""
    path = folder / "run.sqlite"
    table = run(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("SELECT count(*) FROM processes").fetchone() == (0,)
        claimed = "UPDATE cells SET result = NULL, checksum = NULL, owner = ? WHERE (dataset, fold) = ('iris', 2)"
        assert connection.execute(claimed, (owner,)).rowcount == 1
        connection.execute("INSERT INTO processes VALUES (?, ?)", (owner, lease))
    return path, table


def run(path: Path, **options) -> pd.DataFrame:
    data = {"iris": IRIS, "wine": lambda: WINE}
    return cross_validate_all({"nb": GaussianNB()}, data, cv=3, checkpoint=path, progress=False, **options)


@pytest.mark.slow
def test_a_claim_holds_until_the_lease_ends(tmp_path):
    path, table = finished_checkpoint(tmp_path, "abc 1 another machine", time.time() + 3)
    started = time.monotonic()
    again = run(path)
    assert 2 < time.monotonic() - started < 30
    pd.testing.assert_frame_equal(again.drop(columns=TIMES), table.drop(columns=TIMES))


def test_a_process_of_this_machine_that_is_gone_holds_nothing(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path, table = finished_checkpoint(tmp_path, f"abc {ended.pid} {platform.node()}", time.time() + 1e6)
    again = run(path)
    pd.testing.assert_frame_equal(again.drop(columns=TIMES), table.drop(columns=TIMES))


def test_a_process_keeps_its_lease_and_gives_it_up_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("hiercomp.crossval.store.LEASE", 0.4)
    cell = Cell("iris", 1, 1, "nb")
    with closing(CellStore(tmp_path / "run.sqlite", {})) as one, closing(CellStore(tmp_path / "run.sqlite", {})) as two:
        assert one.take(cell) is True
        time.sleep(1)  # longer than the lease, which the process renews
        two.free_abandoned()
        assert two.take(cell) is False
        one.add(cell, CellResult({"score": 0.5}, 0.1, 0.1))
        assert two.take(cell) == CellResult({"score": 0.5}, 0.1, 0.1)
        other = Cell("iris", 1, 2, "nb")
        assert two.take(other) is True
        assert two.take(other) is True  # its own
        assert one.take(other) is False
        two.close()
        assert one.take(other) is True


def test_a_late_failure_does_not_replace_another_processs_score(tmp_path):
    cell, score = Cell("iris", 1, 1, "nb"), CellResult({"score": 0.5}, 0.1, 0.1)
    with closing(CellStore(tmp_path / "run.sqlite", {})) as one, closing(CellStore(tmp_path / "run.sqlite", {})) as two:
        one.add(cell, failed("it took too long"))
        assert one.take(cell).error == "it took too long"
        two.add(cell, score)  # a score replaces a failure
        one.add(cell, failed("it took too long"))
        assert one.take(cell) == score


def test_a_damaged_cell_that_nobody_claims_is_computed(tmp_path):
    path, cell = tmp_path / "run.sqlite", Cell("iris", 1, 1, "nb")
    with closing(CellStore(path, {})) as store:
        store.add(cell, CellResult({"score": 0.5}, 0.1, 0.1))
        store._connection.execute("UPDATE cells SET result = replace(result, '0.5', '0.6')")
        assert store.take(cell) is True
        assert store.finished("iris") == ({}, 1)


def test_what_another_run_failed_at_is_tried_again_only_after_it_has_ended(tmp_path):
    path, cell = tmp_path / "run.sqlite", Cell("iris", 1, 1, "nb")
    failed = CellResult({}, 0.1, 0.1, "RuntimeError: no")
    with closing(CellStore(path, {})) as one:
        one.add(cell, failed)
        with closing(CellStore(path, {})) as two:
            assert two.take(cell) == failed
    with closing(CellStore(path, {})) as three:
        assert three.take(cell) is True


def test_a_second_run_with_a_failing_process_raises_where_asked(tmp_path):
    path = tmp_path / "run.sqlite"
    with closing(CellStore(path, {})) as other:
        other.add(Cell("iris", 1, 1, "nb"), CellResult({}, 0.1, 0.1, "RuntimeError: no"))
        with pytest.raises(hc.EngineError, match="'nb', run 1, fold 1 failed: RuntimeError: no"):
            run(path, on_error="raise")
