"""The ``hiercomp`` command: thin functions that call the library and print; only results go to standard output."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hiercomp import __version__
from hiercomp.cli import check, compare, crossval, doctor, install_cmdstan, pairs, plan
from hiercomp.cli.options import with_groups
from hiercomp.cli.shared import EXIT_ERROR, EXIT_INTERRUPTED, in_options, one_line
from hiercomp.cli.streams import discard_output, prepare_streams
from hiercomp.errors import HiercompError

app = typer.Typer(
    name="hiercomp",
    help="Which of two algorithms is better on the next data set, by more than a margin that matters?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"hiercomp {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


app.command()(compare.demo)
app.command()(with_groups(compare.compare))
app.command()(with_groups(pairs.pairs))
app.command()(with_groups(plan.plan))
app.command()(with_groups(check.check))
app.command()(crossval.crossval)
app.command()(doctor.doctor)
app.command("install-cmdstan")(install_cmdstan.install_cmdstan)


def main() -> None:
    """Run the command; an error is one line on standard error with exit code 2, never a traceback."""
    prepare_streams()
    try:
        code = app(standalone_mode=False)
    except HiercompError as error:
        code = _fail(in_options(str(error)))
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")
        code = _fail(f"{message}. See hiercomp --help.") if message else EXIT_ERROR  # no arguments: the help is shown
    except BrokenPipeError:  # from help or a version; a result notices it itself
        code = 0
        discard_output()
    except OSError as error:  # such as a full disk behind standard output
        code = _fail(str(error))
        discard_output()
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:  # typer turns Ctrl-C into this code
        typer.echo("hiercomp: interrupted", err=True)
    sys.exit(code or 0)


def _fail(message: str) -> int:
    typer.echo(f"hiercomp: {one_line(message)}", err=True)
    return EXIT_ERROR
