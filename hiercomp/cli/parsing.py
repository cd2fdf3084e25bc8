"""How a command line that can't be parsed is answered: one line that says what to write instead."""

from __future__ import annotations

import shlex
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from hiercomp.errors import ArgumentError
from hiercomp.wording import nearest_name


class PlainFlags:
    """Help that shows no type beside an option that takes no value."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help of a command."""
        for option in self.get_params(ctx):  # type: ignore[attr-defined]
            if getattr(option, "is_flag", False):
                option.metavar = ""
        super().format_help(ctx, formatter)  # type: ignore[misc]


class Commands(PlainFlags, TyperGroup):
    """All commands."""


class Command(PlainFlags, TyperCommand):
    """A command that names the options where arguments are left over: ``compare f.csv A B`` needs --left A --right B."""

    allow_extra_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, and refuse what is left over."""
        super().parse_args(ctx, args)
        if ctx.args and not ctx.resilient_parsing:
            raise ArgumentError(self._left_over(ctx.args))
        return list(ctx.args)

    def _left_over(self, words: list[str]) -> str:
        sides = {name for name in ("--left", "--right") if name in option_names(self)}
        if len(words) == 2 and len(sides) == 2:
            return f"To name the algorithms, use --left {shlex.quote(words[0])} --right {shlex.quote(words[1])}."
        listed = " ".join(map(shlex.quote, words))
        one = (
            " It takes one file; everything else is an option."
            if any(isinstance(given, TyperArgument) for given in self.params)
            else ""
        )
        return f"{self.name} does not expect {listed}.{one} See hiercomp {self.name} --help."


def option_names(command: Any) -> list[str]:
    """Every option of a command, in both spellings."""
    return [name for option in command.params for name in (*option.opts, *option.secondary_opts) if name[:2] == "--"]


def in_words(error: typer.TyperException) -> str:
    """What typer refuses, from the fields of its error."""
    context = getattr(error, "ctx", None)
    helped = f"See {context.command_path if context is not None else 'hiercomp'} --help."
    message = error.format_message()
    option = getattr(error, "option_name", None)
    if option is not None and context is not None and hasattr(error, "possibilities"):
        names = option_names(context.command)
        begun = [name for name in names if name.startswith(option)]
        hint = f" Did you mean {begun[0]}?" if len(begun) == 1 else nearest_name(option, names).replace("'", "")
        return f"There is no option {option}.{hint} {helped}"
    message = message if message.endswith((".", "?")) or not message else f"{message}."
    return f"{message} {helped}" if message else ""
