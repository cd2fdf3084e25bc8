"""``hiercomp install-cmdstan``: install CmdStan with CmdStanPy's own installer."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys

import typer

from hiercomp.cli.streams import say
from hiercomp.errors import EngineError

TOOLS = "On macOS: xcode-select --install." if sys.platform == "darwin" else "On Debian: apt-get install g++ make."
REMEDY = (
    "If GitHub can't be reached, install it with conda (package cmdstan), or use engine='embedded' (--engine embedded)."
)


def install_cmdstan() -> None:
    """Install CmdStan from its releases on GitHub; this takes some minutes and needs a C++ compiler."""
    import cmdstanpy

    from hiercomp.engines.cmdstan import WINDOWS, CmdStanEngine

    for tool in () if WINDOWS else ("make", os.environ.get("CXX", "g++")):
        if shutil.which(tool) is None:
            raise EngineError(f"CmdStan needs {tool}, which is not installed.", remedy=TOOLS)
    typer.echo("Downloading CmdStan from its releases on GitHub ...", err=True)
    try:
        # CmdStanPy prints what it does; only results belong on standard output
        with contextlib.redirect_stdout(sys.stderr), cmdstanpy.disable_logging():
            installed = cmdstanpy.install_cmdstan(cores=os.cpu_count() or 1, compiler=WINDOWS)  # with make
    except Exception as error:  # whatever a failed download raises
        raise EngineError(f"CmdStan could not be installed: {error}.", remedy=REMEDY) from error
    problem = CmdStanEngine().why_unavailable()
    if not installed or problem is not None:
        raise EngineError(f"CmdStan could not be installed: {problem or 'its installer failed'}.", remedy=REMEDY)
    say(f"CmdStan is installed in {cmdstanpy.cmdstan_path()}")
