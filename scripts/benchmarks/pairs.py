"""All pairs of many algorithms: processes, memory, and a Dask cluster."""

from __future__ import annotations

import subprocess
import sys
import warnings
from math import comb

import numpy as np

import hiercomp as hc
from benchmarks.measure import Context, Row, alternately, in_fresh_process, seconds
from benchmarks.problems import SCORES, simulated_table
from hiercomp.tournament import compare_all

ALL_PAIRS = """
import json, resource, sys, time, warnings
[algorithms, datasets, scores, jobs] = json.loads(sys.argv[1])
warnings.simplefilter("ignore")
from benchmarks.measure import peak_megabytes
from benchmarks.problems import simulated_table
table = simulated_table(algorithms, datasets, scores)
import hiercomp as hc
from hiercomp.tournament import compare_all
if __name__ == "__main__":
    started = time.perf_counter()
    result = compare_all(table, rope=0.01, n_jobs=jobs, progress=False)
    spent = time.perf_counter() - started
    from joblib.externals.loky import get_reusable_executor
    if jobs > 1:
        get_reusable_executor().shutdown(wait=True)  # then its processes are counted
    # Of a worker it begins with what this process used when it started the worker: the sum is an upper bound
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 if jobs > 1 else 0
    print(json.dumps([spent, peak_megabytes() + jobs * worker, len(result.pairs), result.status]))
"""

PLAIN_LOOP = """
import sys, time
started, total = time.perf_counter(), 0
for number in range(int(sys.argv[1])):
    total += number * number
print(time.perf_counter() - started)
"""

IN_WORKER = {"rope": 0.01, "n_jobs": 1, "progress": False}


def all_pairs(context: Context) -> list[Row]:
    """Every pair, with two processes against one, each time in a fresh process; memory of all processes together."""
    size = context.size((20, 54, SCORES), (3, 14, 20))
    memory: list[float] = []

    def run(jobs: int) -> float:
        spent, megabytes, _, status = in_fresh_process(ALL_PAIRS, *size, jobs)
        if status == "failed":
            raise RuntimeError("A pair of the benchmark failed.")
        if jobs == 2:
            memory.append(megabytes)
        return float(spent)

    gains: list[float] = []

    def two_processes() -> float:
        gains.append(_attainable_gain(context.size(40_000_000, 2_000_000)))
        return run(2)

    measured = alternately(two_processes, lambda: run(1), context.repetitions, warm=False)
    algorithms, datasets, scores = size
    attainable = float(np.median(gains))
    details = {
        "gain of a plain loop by a second process": attainable,
        "share of it reached": float(np.median(measured[1]) / np.median(measured[0])) / attainable,
        "pairs": comb(algorithms, 2),
        "data sets": datasets,
        "scores of a data set": scores,
        "MB at the peak, all processes": float(np.median(memory)),
    }
    return [Row("all_pairs", "all pairs, two processes", "one process", "s", *measured, details)]


def _attainable_gain(steps: int) -> float:
    """How much more two plain loops do side by side than one alone: what two processes can gain on this machine now."""

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", PLAIN_LOOP, str(steps)], stdout=subprocess.PIPE, text=True)

    alone = float(started().communicate()[0])
    two = [started(), started()]
    return 2 * alone / max(float(loop.communicate()[0]) for loop in two)


def sampled_pairs(context: Context) -> list[Row]:
    """Seconds for each pair of a large tournament, from a sample: the pairs with one algorithm."""
    small, large = context.size(((20, 54), (200, 100)), ((3, 14), (5, 16)))
    tables = [simulated_table(*size, context.size(SCORES, 20)) for size in (small, large)]
    pairs = comb(small[0], 2), large[0] - 1

    def all_of_them() -> float:
        return seconds(lambda: _compare(tables[0]))() / pairs[0]

    def with_one() -> float:
        return seconds(lambda: _compare(tables[1], baseline="a0"))() / pairs[1]

    measured = alternately(all_of_them, with_one, context.repetitions)
    total = comb(large[0], 2)
    details = {
        "measured": f"{pairs[1]} of {total:,} pairs; reading the table is in them",
        "s for all, extrapolated": float(np.median(measured[1])) * total,
    }
    return [
        Row(
            "sampled_pairs",
            f"{small[0]} algorithms, {small[1]} data sets",
            f"{large[0]} algorithms, {large[1]} data sets, a sample",
            "s for each pair",
            *measured,
            details,
        )
    ]


def _compare(table: object, **options: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        compare_all(table, rope=0.01, progress=False, **options)  # type: ignore[arg-type]


def dask(context: Context) -> list[Row]:
    """Two workers of a local Dask cluster against one; each a process with one thread.

    The one worker is given the whole tournament as a task: on a cluster with one core, joblib would compute it in the
    calling process.
    """
    from distributed import Client, LocalCluster

    table = simulated_table(*context.size((20, 54, SCORES), (3, 14, 20)))

    def cluster(workers: int) -> LocalCluster:
        return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0")

    with cluster(2) as two, cluster(1) as one, Client(two) as client_two, Client(one) as client_one:
        measured = alternately(
            seconds(lambda: _compare(table, dask=client_two)),
            seconds(lambda: client_one.submit(compare_all, table, pure=False, **IN_WORKER).result()),
            context.repetitions,
        )
    return [Row("dask", "all pairs, two Dask workers", "one Dask worker", "s", *measured)]
