"""Long runs: their progress on a terminal or in a notebook, the seeds of their tasks, and Dask clusters under joblib."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from multiprocessing import current_process
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hiercomp.errors import ArgumentError, EngineError
from hiercomp.wording import error_in_words

if TYPE_CHECKING:
    from dask.distributed import Client

LARGEST_TASK_SEED = 2**31 - 1
WATCHER = "hiercomp parent"  # the name of a thread
FEWER = "Use fewer processes at a time (n_jobs)."
Result = TypeVar("Result")
DASK_SECONDS = 30  # until a scheduler that does not answer is given up


class Report(Protocol):
    """Called with a chain's number and its finished iterations."""

    def __call__(self, chain: int, iteration: int) -> None:
        """Record that a chain has finished so many iterations."""


def task_seed(seed: int, *names: str) -> int:
    """The seed of one task, from the seed of the run and the name of the task; from 0 to 2^31 - 1.

    Examples
    --------
    >>> task_seed(0, "iris", "tree"), task_seed(1, "iris", "tree")
    (348923597, 766131340)
    """
    text = "\0".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % (LARGEST_TASK_SEED + 1)


def end_with_parent() -> None:
    """In one of joblib's processes: end when the program that started it has ended, even by ``kill -9``.

    Otherwise the process would wait five minutes for more work. Does nothing anywhere else, and on Windows.
    """
    if os.name != "posix" or type(current_process()).__name__ != "LokyProcess":
        return
    if not any(thread.name == WATCHER for thread in threading.enumerate()):
        start(threading.Thread(target=_end_after, args=(os.getppid(),), name=WATCHER, daemon=True))


def start(thread: threading.Thread) -> None:
    """Start a thread.

    Raises
    ------
    MemoryError
        If there is no memory for it, for which Python raises RuntimeError.
    """
    try:
        thread.start()
    except RuntimeError as error:
        raise MemoryError("there is no memory for a thread") from error


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@contextmanager
def worker_errors() -> Iterator[None]:
    """Turn the death of one of joblib's processes, and its lack of memory, into an `EngineError`."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        yield
    except BrokenProcessPool as error:
        raise EngineError("A worker process died: it ran out of memory or crashed.", remedy=FEWER) from error
    except MemoryError as error:
        raise EngineError("There was not enough memory.", remedy=FEWER) from error


@dataclass
class Progress:
    """The steps of a run: how many are finished, how many there will be, and the bar that shows them.

    A run may have several parts; the number of steps of each becomes known when it begins.

    Attributes
    ----------
    parts : int
        Parts of the whole run.
    started : int
        Parts whose steps are known; each of the others is assumed to have as many as these on average.
    known : int
        Steps of the started parts.
    finished : int
        Steps that have a result.
    computed : int
        Finished steps that this run computed itself, rather than found in a checkpoint.
    failed : int
        Computed steps that failed.
    since : float
        When the run began, in seconds of `time.monotonic`.
    unit : str
        The name of a step on the bar.
    bar : rich.progress.Progress or None
        Shows the steps.
    """

    parts: int = 1
    started: int = 0
    known: int = 0
    finished: int = 0
    computed: int = 0
    failed: int = 0
    since: float = field(default_factory=time.monotonic)
    unit: str = ""
    bar: Any = None

    def begin(self, steps: int, found: int = 0) -> None:
        """Begin a part with so many steps, some of them found in a checkpoint."""
        self.started += 1
        self.known += steps
        self.finished += found
        self._show()

    def add(self, steps: int = 1, *, failed: bool = False) -> None:
        """Count more computed steps."""
        self.finished += steps
        self.computed += steps
        self.failed += failed
        self._show()

    @property
    def total(self) -> int:
        """Steps of the whole run."""
        return round(self.known * self.parts / self.started) if self.started else 0

    def time_left(self, now: float) -> str:
        """Hours, minutes and seconds left at the pace so far; empty if there is no pace yet.

        Examples
        --------
        >>> progress = Progress(parts=2, since=0.0)
        >>> progress.begin(steps=100, found=90)
        >>> progress.time_left(now=20.0)
        ''
        >>> progress.add()
        >>> progress.total, progress.time_left(now=20.0)
        (200, '0:36:20 left')
        """
        if self.computed == 0:
            return ""
        seconds = round((now - self.since) / self.computed * (self.total - self.finished))
        minutes, seconds = divmod(seconds, 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left"

    def _show(self) -> None:
        if self.bar is None:
            return
        failed = f"{self.failed} failed" if self.failed else ""
        words = ", ".join(filter(None, [self.unit, failed, self.time_left(time.monotonic())]))
        self.bar.update(self.bar.task_ids[0], completed=self.finished, total=self.total, words=words)


@contextmanager
def progress_bar(description: str, *, shown: bool, parts: int = 1, unit: str = "") -> Iterator[Progress]:
    """The progress of a run, with a bar on a terminal or in a notebook but not in a pipe or a log."""
    if not (shown and on_screen()):
        yield Progress(parts, unit=unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(description, total=None, words=unit)
        yield Progress(parts, unit=unit, bar=bar)


@contextmanager
def sampling_progress(description: str, chains: int, iterations: int, *, shown: bool) -> Iterator[Report | None]:
    """A bar over all chains; yields the function that reports, or None if nothing is to be shown."""
    with progress_bar(description, shown=shown) as progress:
        if progress.bar is None:
            yield None
            return
        finished = [0] * chains
        lock = threading.Lock()
        progress.begin(chains * iterations)

        def report(chain: int, iteration: int) -> None:
            with lock:
                finished[chain] = max(finished[chain], iteration)
                progress.add(sum(finished) - progress.finished)

        yield report


@contextmanager
def beside(work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Do some work in a thread beside the block, which gets a function that waits for the result.

    If the block raises, the work is not waited for.
    """
    pool = ThreadPoolExecutor(1)
    try:
        yield pool.submit(copy_context().run, work).result
    finally:
        pool.shutdown(wait=False)


@contextmanager
def said_after(seconds: float, text: str, *, shown: bool) -> Iterator[None]:
    """Say something on standard error if the block takes longer than so many seconds.

    Parameters
    ----------
    seconds : float
    text : str
    shown : bool
        Whether anything is to be said at all.
    """
    if not shown or sys.stderr is None:  # closed before the start
        yield
        return
    timer = threading.Timer(seconds, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    start(timer)
    try:
        yield
    finally:
        timer.cancel()


def on_screen() -> bool:
    """Whether standard error is a terminal, or a Jupyter kernel runs this code."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


@contextmanager
def dask_backend(dask: str | Client | None) -> Iterator[None]:
    """Joblib on a Dask cluster, if one is given or joblib's Dask backend is active.

    If the workers of a task die, that task has no result and the others go on; if the scheduler is lost, an
    `EngineError` is raised.
    """
    client = active_client() if dask is None else _client(dask)
    if client is None:
        yield
        return
    from joblib import parallel_config

    try:
        with parallel_config(backend=_lasting_backend(client)):
            yield
    finally:
        if isinstance(dask, str):
            client.close()  # type: ignore[no-untyped-call]


def active_client() -> Client | None:
    """The client of joblib's Dask cluster, if there is one."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    client: Client | None = getattr(backend, "client", None)
    return client


def _client(dask: str | Client) -> Client:
    try:
        from dask.distributed import Client
    except ImportError:
        raise ArgumentError("Dask is not installed.", remedy="Run pip install 'hiercomp[dask]'.") from None

    if isinstance(dask, Client):
        return dask
    if not isinstance(dask, str):
        raise ArgumentError(f"dask must be a scheduler's address such as 'tcp://host:8786' or a Client, got {dask!r}.")
    try:
        # Not the default: xarray would write its files through a cluster that may not even answer
        return Client(dask, timeout=DASK_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        why = str(error)
    raise ArgumentError(f"No Dask scheduler answers at {dask!r}: {why}.")  # its traceback does not keep the client open


def _lasting_backend(client: Client) -> Any:
    """Joblib's Dask backend, changed so as not to wait forever for a task whose workers died."""
    from dask.distributed import CancelledError, KilledWorker, as_completed
    from joblib._dask import DaskDistributedBackend

    class Finished(as_completed):
        """The finished tasks, and those that fail while their result is fetched, which Dask forgets."""

        async def _track_future(self, future: Any) -> None:
            try:
                await super()._track_future(future)  # type: ignore[no-untyped-call]
            except Exception:  # a worker took the result with it, and the task failed when it was run again
                await super()._track_future(future)  # type: ignore[no-untyped-call]

    class LastingBackend(DaskDistributedBackend):  # type: ignore[misc]
        def __init__(self, client: Client) -> None:
            super().__init__(client=client)
            options = {"loop": client.loop, "with_results": True, "raise_errors": False}
            self.waiting_futures = Finished([], **options)  # type: ignore[no-untyped-call]

        def effective_n_jobs(self, n_jobs: int) -> int:
            cores: int = super().effective_n_jobs(n_jobs)
            return max(cores, 2)  # joblib would not use a cluster of one core

        def submit(self, func: Any, callback: Any = None) -> Any:
            job = super().submit(func, callback)
            # Joblib does not call back for a task that failed outside its function
            job.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
            return job

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, KilledWorker):
                return []
            if isinstance(out, CancelledError):
                raise EngineError(
                    "The connection to the Dask scheduler is lost.", remedy="A checkpoint keeps what is finished."
                )
            if isinstance(out, BaseException):
                raise EngineError(
                    f"A Dask worker could not run a task: {error_in_words(out)}.",
                    remedy="Install hiercomp and the packages of your estimators on every worker.",
                ) from out
            return super().retrieve_result_callback(out)

    return LastingBackend(client=client)
