"""The embedded engine: stanli, a Stan interpreter in one shared library; no compiler and no CmdStan."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import mmap
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.engines.base import (
    MAX_TREE_DEPTH,
    STATISTIC_NAMES,
    Answer,
    ChainState,
    Computation,
    Draws,
    SamplerSettings,
    continuation_seed,
)
from hiercomp.errors import Argument, EngineError
from hiercomp.model.programs import StanProgram, json_ready, source_with_includes
from hiercomp.workers import Report, sampling_progress

if TYPE_CHECKING:
    import stanli

ADDRESSES = 300_000_000  # bytes of address space that the interpreter reserves, or the process is ended
PROGRESS_LINE = re.compile(r"Chain \[(\d+)\] Iteration:\s*(\d+)")


class EmbeddedEngine:
    """Samples with stanli's NUTS. Draws are identical for the same version, platform, input and seed."""

    name = "embedded"
    holds_draws = True

    def why_unavailable(self) -> str | None:
        """Why stanli can't be used here, with the command that fixes it, or None."""
        if importlib.util.find_spec("stanli") is None:
            return "stanli is not installed; run: python -m pip install stanli==0.24.0"
        try:
            import stanli  # noqa: F401
        except (ImportError, OSError, RuntimeError) as error:
            return f"stanli can't be loaded ({error}); use CmdStan instead: hiercomp install-cmdstan"
        return None

    def version(self) -> str:
        """The library behind the engine and its version."""
        import stanli

        return f"stanli {stanli.__version__}"

    def fit(self, computation: Computation[Answer]) -> Answer:
        """Sample a posterior."""
        return computation.sampled(self)

    def sample(self, program: StanProgram, settings: SamplerSettings, state: ChainState | None = None) -> Draws:
        """Draw from the posterior; chains run in parallel threads of the interpreter.

        Raises
        ------
        EngineError
            If the interpreter refuses the program or a chain fails.
        """
        _refuse_without_room()
        import stanli

        positions = program.initial_values if state is None else state.positions
        warmup = settings.warmup if state is None else 0
        arguments: dict[str, Any] = {"seed": settings.seed, "warmup": warmup, "inv_metric": program.inverse_metric}
        if state is not None:
            arguments = {
                "seed": continuation_seed(settings.seed),
                "warmup": 0,
                "adapt_engaged": False,
                "step_size": float(state.step_sizes.mean()),  # one for all chains is all that stanli takes
                "inv_metric": list(state.inverse_metrics),
            }
        try:
            # A model is made for each fit and never shared: two threads on one model give wrong draws in silence
            model = stanli.Model(mir=_compiled(source_with_includes(program.name)), data=json_ready(program.data))
            starts = np.array([model.unconstrain(json_ready(position)) for position in positions])
            iterations = warmup + settings.draws
            with (
                sampling_progress("Sampling", settings.chains, iterations, shown=settings.progress) as report,
                _progress_lines_to(report),
                _interrupts_kept(),
            ):
                fit = model.sample(
                    chains=settings.chains,
                    samples=settings.draws,
                    delta=settings.adapt_delta,
                    max_depth=MAX_TREE_DEPTH,
                    inits=starts,
                    refresh=0 if report is None else max(1, iterations // 50),
                    **arguments,
                )
        except OSError as error:
            remedy = "Allow more open files (ulimit -n)."
            raise EngineError(
                f"The embedded engine can't open the files that it needs: {error.strerror}.", remedy=remedy
            ) from error
        except (RuntimeError, ValueError) as error:
            other = Argument("engine", "cmdstan")
            raise EngineError(f"The embedded engine failed: {error}. Try {other}.", arguments=(other,)) from error
        statistics = {
            name: np.asarray(fit.sampler_stats[:, :, stanli.SAMPLER_COLUMNS.index(column)])
            for column, name in STATISTIC_NAMES.items()
        }
        variables = {name: np.ascontiguousarray(fit.draws(name)) for name in program.variables}
        ends = {name: _last_values(fit, name, np.shape(value)) for name, value in positions[0].items()}
        last = tuple({name: of_chains[chain] for name, of_chains in ends.items()} for chain in range(settings.chains))
        return Draws(
            variables, statistics, self.name, self.version(), ChainState(last, fit.step_size, tuple(fit.inv_metric))
        )


@functools.cache
def _compiled(source: str) -> str:
    """A Stan program in the text that stanli interprets, which takes longer to make than a model."""
    import stanli

    return str(stanli.stan_to_mir(source))


@functools.cache  # what is reserved once stays
def _refuse_without_room() -> None:
    """Refuse a process whose limit on memory (``ulimit -v``) would make the interpreter end it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    try:
        mmap.mmap(-1, ADDRESSES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except OSError as error:
        other = Argument("engine", "quadrature")
        raise EngineError(
            "There is not enough memory for the embedded engine.",
            remedy=f"Raise the limit (ulimit -v), or try {other}.",
            arguments=(other,),
        ) from error


def _last_values(fit: stanli.Fit, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Where each chain ended, shape (chains, *shape)."""
    # A parameter of size zero has no columns
    return np.empty((fit.n_chains, *shape)) if 0 in shape else np.array(fit.draws(name)[:, -1])


@contextlib.contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end for a Ctrl-C that stanli received but ignored.

    While it samples, stanli has its own handler and checks it only between iterations: a Ctrl-C that arrives while it
    writes out the draws would be lost. Python records every signal in the wakeup descriptor, whoever handles it.
    """
    if threading.current_thread() is not threading.main_thread():  # only there do signals arrive
        yield
        return
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    previous = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    noted = b""
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        with contextlib.suppress(BlockingIOError):
            noted = reader.recv(4096)
        reader.close()
        writer.close()
        if noted and previous >= 0:  # an event loop's own, as in a notebook
            with contextlib.suppress(OSError):
                os.write(previous, noted)
    if signal.SIGINT in noted:
        raise KeyboardInterrupt


@contextlib.contextmanager
def _progress_lines_to(report: Report | None) -> Iterator[None]:
    """Turn the progress lines that stanli prints into calls of ``report``."""
    if report is None:
        yield
        return
    told = report

    class Lines(io.StringIO):
        def write(self, text: str) -> int:
            for chain, iteration in PROGRESS_LINE.findall(text):
                told(int(chain) - 1, int(iteration))
            return len(text)

    with contextlib.redirect_stdout(Lines()):
        yield
