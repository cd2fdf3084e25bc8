"""Follow a page of the documentation: run its code from top to bottom and compare what it shows with what is printed.

A block in `python` or `sh` is run; a block in `text` below it shows its output, whole or in parts. On a page:

- `<!-- file: NAME -->` above a block makes it a file of that name;
- a line `...` in an output stands for lines that are left out;
- a long line of output may go on in the next line;
- `<!-- not run: REASON -->` above a block leaves it out.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command_line import run

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?:<!-- (?P<comment>[^\n]*?) -->\n+)?```(?P<language>[^\n]+)\n(?P<source>.*?)^```$", re.DOTALL | re.MULTILINE
)
OUTPUTS = ("text", "latex")


@dataclass(frozen=True)
class Block:
    """A block of code of a page, with the comment above it."""

    language: str
    source: str
    comment: str = ""


def blocks(page: str) -> list[Block]:
    """The blocks of a page in Markdown, in their order."""
    return [Block(found["language"], found["source"], found["comment"] or "") for found in BLOCK.finditer(page)]


def follow(name: str, folder: Path, namespace: dict[str, Any] | None = None) -> list[str]:
    """Run a page in a folder and check every output that it shows; what each block printed."""
    names = {} if namespace is None else namespace
    printed: list[str] = []
    for block in blocks((ROOT / name).read_text(encoding="utf-8")):
        if block.comment.startswith("file: "):
            (folder / block.comment.removeprefix("file: ")).write_text(block.source, encoding="utf-8")
        elif block.comment.startswith("not run: "):
            continue
        elif block.language == "python":
            printed.append(_run_python(block.source, folder, names))
        elif block.language == "sh":
            printed.append("".join(_run_shell(block.source, folder)))
        elif block.language in OUTPUTS:
            assert shows(block.source, printed[-1]), (
                f"{name} shows\n\n{block.source}\nbut its code prints\n\n{printed[-1]}"
            )
    return printed


def shows(shown: str, printed: str) -> bool:
    """Whether an output on a page is what was printed, to the letter; see above for what it may leave out."""
    shown, printed = ("\n".join(line.rstrip() for line in text.splitlines()) for text in (shown, printed))
    parts = [part.strip("\n") for part in re.split(r"^ *\.\.\.$", shown, flags=re.MULTILINE)]
    pattern = r"\n(?:.*\n)*?".join(re.escape(part).replace("\\\n", "[\\n ]") for part in parts if part)
    return re.search(f"^{pattern}$", printed, re.MULTILINE) is not None


def _run_python(source: str, folder: Path, names: dict[str, Any]) -> str:
    """Run statements as a notebook does; what they print, and the value of the last one."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as output, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning about the data is no fault of the page
        exec(compile(tree, "<page>", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "<page>", "eval"), names)
        if value is not None:
            print(repr(value))
    return output.getvalue()


def _run_shell(source: str, folder: Path) -> Iterator[str]:
    """What the commands of a block print; installing and testing hiercomp are left out."""
    for line in source.replace("\\\n", " ").splitlines():
        command = shlex.split(line.split("&&")[-1], comments=True)
        if not command or Path(command[0]).name in ("pip", "python", "python3"):
            continue
        assert Path(command[0]).name == "hiercomp", line
        done = run(folder, *command[1:])
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        yield done.stdout
