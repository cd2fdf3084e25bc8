"""The ``hiercomp`` command: thin functions that call the library and print; only results go to standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from hiercomp import __version__
from hiercomp.cli import check, compare, crossval, doctor, install_cmdstan, pairs, plan, show
from hiercomp.cli import test as test_command
from hiercomp.cli.options import examples, with_groups
from hiercomp.cli.parsing import Command, Commands, in_words
from hiercomp.cli.shared import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_TERMINATED, complain
from hiercomp.cli.signals import Termination, termination
from hiercomp.cli.streams import discard_output, prepare_streams, reader_has_left
from hiercomp.errors import HiercompError
from hiercomp.wording import shown

EXAMPLES = examples(
    "hiercomp demo",
    "hiercomp check scores.csv",
    "hiercomp compare scores.csv --left A --right B --rope 0.01 --report out.html",
    "hiercomp pairs scores.csv --rope 0.01",
)

app = typer.Typer(
    name="hiercomp",
    cls=Commands,
    help="Which of two algorithms is better on the next data set, by more than a margin that matters?",
    epilog=EXAMPLES,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"hiercomp {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


COMPARING, SCORES, ENGINES = "Compare", "Scores", "Engines"


def _add(command: Callable[..., None], panel: str, *lines: str, name: str | None = None) -> None:
    """A command of the app, with examples below its help."""
    app.command(name, cls=Command, epilog=examples(*lines), rich_help_panel=panel)(with_groups(command))


_add(compare.demo, COMPARING, "hiercomp demo")
_add(
    compare.compare,
    COMPARING,
    "hiercomp compare scores.csv --left A --right B --rope 0.01",
    "hiercomp compare wide.csv --column dataset=task --rope 1% --report out.html",
    "hiercomp compare errors.csv --lower-is-better --transform log --rope 0.01",
)
_add(
    pairs.pairs,
    COMPARING,
    "hiercomp pairs scores.csv --rope 0.01 --report out.html",
    "hiercomp pairs scores.csv --baseline forest",
)
_add(
    test_command.apply,
    COMPARING,
    "hiercomp test means.csv --left A --right B",
    "hiercomp test means.csv --test nemenyi",
    name="test",
)
_add(show.show, COMPARING, "hiercomp show fit.nc", "hiercomp show fit.nc --rope 0.02 --report out.html")
_add(
    plan.plan,
    COMPARING,
    "hiercomp plan --delta0 0.01 --sigma0 0.02 --sd 0.03",
    "hiercomp plan --pilot scores.csv --datasets 20,40",
)
_add(check.check, SCORES, "hiercomp check scores.csv", "hiercomp check long.csv --column score=auc")
_add(crossval.crossval, SCORES, "hiercomp crossval experiment.toml --checkpoint cells.db")
_add(doctor.doctor, ENGINES, "hiercomp doctor")
_add(install_cmdstan.install_cmdstan, ENGINES, "hiercomp install-cmdstan", name="install-cmdstan")


def main() -> None:
    """Run the command; an error is one line on standard error with exit code 2, never a traceback."""
    prepare_streams()
    ended = Termination()
    try:
        with termination(ended):
            code = _run()
    except KeyboardInterrupt:  # while the run already ended, such as with an error
        code = EXIT_INTERRUPTED
    except Exception as error:
        # Up to Python 3.11, a KeyboardInterrupt becomes the cause of a RuntimeError where an enum is made
        if not ended.came and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:
        exec("")  # else `python -m` dies of SIGINT where code run by exec, as dataclasses', was interrupted
        code = EXIT_TERMINATED if ended.came else EXIT_INTERRUPTED
        complain("terminated" if ended.came else "interrupted")
    sys.exit(code)


def _run() -> int:
    try:
        code = app(standalone_mode=False, prog_name="hiercomp")
    except HiercompError as error:
        code = _fail(error)
    except typer.TyperException as error:
        message = in_words(error)
        code = _fail(message) if message else EXIT_ERROR  # no arguments: the help is shown
    except OSError as error:
        # From help or a version, where a result notices it itself; or such as a full disk behind standard output
        code = 0 if reader_has_left(error) else _fail(str(error))
        discard_output()
    except MemoryError:
        code = _fail("There is not enough memory.")
    except ImportError as error:
        if error.path is None:  # no file that was found and can't be loaded
            raise
        code = _fail(f"A library can't be loaded: {shown(error)}. Is there enough memory (ulimit -v)?")
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED  # typer turns Ctrl-C into this code too
    return code or 0


def _fail(error: HiercompError | str) -> int:
    complain(error)
    return EXIT_ERROR
