"""Processes that die, lack memory, or lose the program that started them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import warnings
from contextlib import closing

import pytest
from joblib import Parallel, delayed

import hiercomp as hc
from hiercomp.pairs.fits import PairFits
from hiercomp.workers import beside, end_with_parent, said_after, worker_errors


def test_the_death_of_a_process_is_an_engine_error():
    with pytest.raises(hc.EngineError, match=r"process.* died.*fewer processes"), worker_errors():
        Parallel(n_jobs=2)(delayed(os._exit)(1) for _ in range(2))


def test_a_lack_of_memory_in_a_process_is_an_engine_error():
    def fails() -> None:
        raise MemoryError

    with pytest.raises(hc.EngineError, match=r"not enough memory.*fewer processes"), worker_errors():
        Parallel(n_jobs=2)(delayed(fails)() for _ in range(2))


def test_the_program_itself_is_not_watched():
    end_with_parent()  # in a program that a shell has started in the background, the shell may well end first
    code = (
        "import threading\n"
        "from hiercomp.workers import end_with_parent\n"
        "end_with_parent()\n"
        "print(threading.active_count())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "1\n"


@pytest.mark.slow
def test_a_pair_that_kills_its_processes_is_named_and_the_checkpoint_keeps_the_others(tmp_path, scores, monkeypatch):
    class Deadly(PairFits):
        def fit(self, tasks):  # type: ignore[no-untyped-def]
            if any({task.differences.left, task.differences.right} == {"oak", "tree"} for task in tasks):
                os._exit(1)
            return super().fit(tasks)

    third = scores[scores["algorithm"] == "tree"].assign(algorithm="oak", score=lambda rows: rows["score"] ** 1.1)
    fourth = scores[scores["algorithm"] == "bayes"].assign(algorithm="ash", score=lambda rows: rows["score"] ** 1.2)
    table = hc.read_scores(scores.merge(third, how="outer").merge(fourth, how="outer"))
    monkeypatch.setattr("hiercomp.tournament.PairFits", Deadly)
    options = {
        "rope": 0.01,
        "priors": "gaussian",
        "n_jobs": 2,
        "progress": False,
        "checkpoint": tmp_path / "pairs.sqlite",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # joblib's, that a worker stopped
        with pytest.raises(
            hc.EngineError, match=r"1 pair has no result \((oak and tree|tree and oak)\).*ran out of memory or crashed"
        ):
            hc.compare_all(table, **options)
    with closing(sqlite3.connect(tmp_path / "pairs.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM pairs").fetchone() == (5,)


def test_work_beside_a_block_runs_at_the_same_time_and_gives_its_result():
    begun, met = threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        assert met.wait(60)
        return "done"

    with beside(work) as result:
        assert begun.wait(60)
        met.set()
        assert result() == "done"


def test_an_error_of_work_beside_a_block_is_raised_where_the_result_is_asked_for():
    with beside(lambda: 1 // 0) as result, pytest.raises(ZeroDivisionError):
        result()


def test_a_block_that_fails_does_not_wait_for_the_work_beside_it():
    released = threading.Event()
    finished: list[bool] = []
    with pytest.raises(ValueError, match="fails"), beside(lambda: finished.append(released.wait(60))):
        raise ValueError("the block fails")
    assert not finished
    released.set()


def test_a_thread_that_can_not_be_started_is_a_lack_of_memory(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(MemoryError, match="no memory for a thread"), said_after(1.0, "slow", shown=True):
        pass
