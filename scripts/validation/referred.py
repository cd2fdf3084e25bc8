"""Checks that tests of the project or other scripts already make: they are run, not written twice."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from reproduction.exhibit import Row, Settings

ROOT = Path(__file__).parents[2]
LETTERS = 120  # of what a script said last


def of_tests(*chosen: str, words: str | None = None) -> Callable[[Settings], list[Row]]:
    """Run some tests, the slow ones too unless the run is quick; ``words`` is pytest's ``-k``."""

    def run(settings: Settings) -> list[Row]:
        marks = "not slow" if settings.quick else ""
        more = [] if words is None else ["-k", words]
        _, said = said_by("-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "-m", marks, *chosen, *more)
        found = re.findall(r"(\d+) (passed|failed|errors?|skipped)", said[-1])
        counts = {word.removesuffix("s"): int(count) for count, word in found}
        passed, wrong = counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0)
        skipped = f", {counts['skipped']} skipped" if "skipped" in counts else ""
        which = [match[1] for line in said if (match := re.match(r"(?:FAILED|ERROR) (\S+)", line))]
        named = f": {', '.join(which)}".replace("|", "/") if which else ""
        return [
            Row(f"tests that fail, of {passed + wrong}{skipped}{named}", "0", float(wrong), 0.0, wrong == 0 < passed)
        ]

    return run


def of_script(name: str, full: Sequence[str], quick: Sequence[str], what: str) -> Callable[[Settings], list[Row]]:
    """Run another script, whose exit code says whether all held; what one that failed printed goes to stderr."""

    def run(settings: Settings) -> list[Row]:
        options = quick if settings.quick else full
        code, said = said_by(f"scripts/{name}", *options)
        if code != 0:
            print(*said, sep="\n", file=sys.stderr)
        closing = said[-1].replace("|", "/")[-LETTERS:]
        return [Row(f"{what}: exit code of `{name} {' '.join(options)}` ({closing})", "0", float(code), 0.0, code == 0)]

    return run


def said_by(*arguments: str) -> tuple[int, list[str]]:
    """Exit code of a Python process and the lines that it wrote, at least one."""
    ended = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line.strip() for line in (ended.stdout or ended.stderr).splitlines() if line.strip()]
    return ended.returncode, lines or [""]
