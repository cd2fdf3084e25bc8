"""The cmdstan engine: CmdStanPy; programs are compiled once into the user's cache directory and reused."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
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
from hiercomp.errors import EngineError
from hiercomp.model.programs import StanProgram, json_ready, source_with_includes
from hiercomp.workers import on_screen

if TYPE_CHECKING:
    import cmdstanpy

WINDOWS = sys.platform == "win32"
REMEDY = "run: hiercomp install-cmdstan"
UNFINISHED = "hiercomp-unfinished"  # a file that marks a CmdStan folder while `hiercomp install-cmdstan` builds it


class CmdStanEngine:
    """Samples with CmdStan's NUTS, one process per chain."""

    name = "cmdstan"
    holds_draws = True

    def why_unavailable(self) -> str | None:
        """Why CmdStan can't be used here, with the command that fixes it, or None."""
        absent = f"CmdStan is not installed; {REMEDY}"
        # The only places where CmdStanPy looks; its import takes a tenth of the time of a whole comparison
        if not os.environ.get("CMDSTAN") and not os.path.exists(os.path.expanduser("~/.cmdstan")):
            return absent
        import cmdstanpy

        try:
            folder = Path(cmdstanpy.cmdstan_path())
        except ValueError:
            return absent
        if (folder / UNFINISHED).exists():
            return f"The installation of CmdStan in {folder} was interrupted; {REMEDY}"
        if not _has_make():
            return "CmdStan needs make and a C++ compiler, and make is not installed; install both (build-essential)"
        return None

    def version(self) -> str:
        """The library behind the engine and its version."""
        return f"CmdStan {_version()}"

    def fit(self, computation: Computation[Answer]) -> Answer:
        """Sample a posterior."""
        return computation.sampled(self)

    def sample(self, program: StanProgram, settings: SamplerSettings, state: ChainState | None = None) -> Draws:
        """Draw from the posterior; compiles the program first if it is not in the cache.

        Raises
        ------
        EngineError
            If the program can't be compiled or a chain fails; the message quotes CmdStan.
        """
        import cmdstanpy

        positions = program.initial_values if state is None else state.positions
        arguments: dict[str, Any] = {"seed": settings.seed, "iter_warmup": settings.warmup}
        if state is None:
            arguments |= {"adapt_delta": settings.adapt_delta, "inv_metric": program.inverse_metric}
        else:
            arguments = {
                "seed": continuation_seed(settings.seed),
                "iter_warmup": 0,
                "adapt_engaged": False,
                "step_size": state.step_sizes.tolist(),
                "inv_metric": list(state.inverse_metrics),
            }
        starts: list[Mapping[str, Any]] = [json_ready(position) for position in positions]
        shown = settings.progress and on_screen()
        before = set(threading.enumerate())
        with tempfile.TemporaryDirectory(prefix="hiercomp-") as folder, cmdstanpy.disable_logging():
            try:
                model = cmdstanpy.CmdStanModel(exe_file=str(executable(program)))
                fit = model.sample(
                    data=json_ready(program.data),
                    inits=starts,
                    chains=settings.chains,
                    parallel_chains=settings.chains,  # none waits in a queue that Ctrl-C would not empty
                    iter_sampling=settings.draws,
                    max_treedepth=MAX_TREE_DEPTH,
                    sig_figs=18,
                    output_dir=folder,
                    show_progress=shown,
                    refresh=max(1, settings.draws // 20),
                    **arguments,
                )
                names = set(program.variables) | set(program.initial_values[0])
                columns = {name: _by_chain(fit, name, settings) for name in names if name in fit.metadata.stan_vars}
                sampler = fit.method_variables()
                step_sizes, metrics = np.array(fit.step_size), tuple(np.array(fit.metric))
            except KeyboardInterrupt:
                _wait_for_others(before)  # CmdStanPy's threads, which see their chains end
                raise
            except (RuntimeError, ValueError, OSError) as error:
                said = _last_words(Path(folder)) or str(error)
                raise EngineError(f"CmdStan failed: {said} (`hiercomp doctor` checks the installation.)") from error
        statistics = {name: np.array(sampler[column], dtype=float).T for column, name in STATISTIC_NAMES.items()}
        last = tuple(
            {
                name: columns[name][chain, -1] if name in columns else np.empty(np.shape(value))
                for name, value in start.items()
            }
            for chain, start in enumerate(positions)
        )
        variables = {name: columns[name] for name in program.variables}
        return Draws(variables, statistics, self.name, self.version(), ChainState(last, step_sizes, metrics))


def _wait_for_others(before: set[threading.Thread], seconds: float = 10) -> None:
    """Wait until the threads that started since are gone, at most so long.

    By the list of threads: one whose `join` was interrupted counts as stopped before Python 3.13, and `join` returns.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(not t.daemon for t in set(threading.enumerate()) - before):
        time.sleep(0.01)


def _has_make() -> bool:
    """Whether the make that CmdStanPy will call is there."""
    make = os.environ.get("MAKE", "mingw32-make" if WINDOWS else "make")
    if shutil.which(make) is None and WINDOWS:  # CmdStanPy's own tools are found only when it is told to
        import cmdstanpy

        with contextlib.suppress(ValueError):  # they are not installed
            cmdstanpy.utils.cxx_toolchain_path()
    return shutil.which(make) is not None


def _last_words(folder: Path) -> str:
    """How the output of each chain ends, the same words once."""
    ends: dict[str, None] = {}
    for console in sorted(folder.glob("*-stdout.txt")):
        lines = [line.strip() for line in console.read_text(encoding="utf-8", errors="replace").splitlines()]
        ends[" ".join([line for line in lines if line][-4:])] = None
    return "; ".join(ends)


def _by_chain(fit: cmdstanpy.CmdStanMCMC, name: str, settings: SamplerSettings) -> np.ndarray:
    values = np.asarray(fit.stan_variable(name), dtype=float)
    return values.reshape(settings.chains, settings.draws, *values.shape[1:])


def _version() -> str:
    import cmdstanpy

    version = cmdstanpy.cmdstan_version()
    return (
        Path(cmdstanpy.cmdstan_path()).name.removeprefix("cmdstan-") if version is None else ".".join(map(str, version))
    )


def cache_folder() -> Path:
    """The folder of compiled programs."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("hiercomp")) / "cmdstan"


def executable(program: StanProgram) -> Path:
    """The compiled program, from the cache or compiled now.

    The key is the program's text with its includes, the CmdStan folder and its version. A program is compiled in a
    separate folder and moved into place in one step, so parallel compilations do not disturb each other, and an
    interrupted one leaves nothing behind.
    """
    import cmdstanpy

    source = source_with_includes(program.name)
    key = hashlib.sha256("\0".join([source, cmdstanpy.cmdstan_path(), _version()]).encode()).hexdigest()[:16]
    ending = ".exe" if WINDOWS else ""
    finished = cache_folder() / f"{program.name}-{key}{ending}"
    if finished.is_file():
        return finished
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compiling-", dir=cache_folder()) as folder:
        stan_file = Path(folder) / f"{program.name}.stan"
        stan_file.write_text(source, encoding="utf-8")
        compiled = cmdstanpy.compile_stan_file(str(stan_file))
        try:
            os.replace(compiled, finished)
        except PermissionError:  # Windows replaces no program that runs: another process was faster
            if not finished.is_file():
                raise
    return finished
