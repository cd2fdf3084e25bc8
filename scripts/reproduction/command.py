"""The command line of a collection of exhibits: run, store, print, and write the page."""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hiercomp.model.programs import stan_folder

from .exhibit import Exhibit, MissingDataError, Row, Settings

PACKAGES = ("hiercomp", "numpy", "scipy", "pandas", "scikit-learn")
START, END = "<!-- exhibits -->\n", "<!-- end of exhibits -->"
Columns = Mapping[str, Callable[[dict[str, Any]], str]]  # headings, and what stands below them of a row


def command_line(
    exhibits: Mapping[str, Exhibit], columns: Columns, description: str | None, arguments: list[str] | None = None
) -> int:
    """Exit code 1 where a figure does not agree and no remark of the exhibit says why."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exhibits", nargs="*", metavar="NAME", help="all, or names; without any they are listed")
    add_options(parser)
    given = parser.parse_args(arguments)
    unknown = [name for name in given.exhibits if name not in ("all", *exhibits)]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are all, {', '.join(exhibits)}")
    console = Console()
    if not given.exhibits and given.markdown is None:
        for one in exhibits.values():
            console.print(f"{one.name:24} {one.source}: {one.title}", highlight=False)
        return 0
    settings = Settings(given.quick, given.seed, given.jobs, given.keep, console.is_terminal)
    names = list(exhibits) if "all" in given.exhibits else list(dict.fromkeys(given.exhibits))
    failed = False
    for name in names:
        stored = None if given.results is None else given.results / f"{name}.json"
        if stored is not None and stored.is_file():
            content = json.loads(stored.read_text(encoding="utf-8"))
            if (content["quick"], content["seed"]) == (settings.quick, settings.seed):
                console.print(f"{name}: stored already")
                continue
        try:
            content = computed(exhibits[name], settings)
        except MissingDataError as error:
            console.print(f"{name}: left out; {error}")
            continue
        show(console, exhibits[name], content, columns)
        failed |= not exhibits[name].remark and not all(row["agrees"] for row in content["rows"])
        if stored is not None:
            stored.parent.mkdir(parents=True, exist_ok=True)
            stored.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if given.markdown is not None:
        if given.results is None:
            parser.error("--markdown needs --results, the folder with what was stored")
        write_page(given.markdown, given.results, exhibits, columns)
    return int(failed)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Size, seed and where results go."""
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small runs")
    size.add_argument("--full", action="store_true", help="runs for the record (the default)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes of a simulation")
    parser.add_argument("--keep", type=Path, help="a folder that keeps what a simulation has done, to go on from there")
    parser.add_argument("--results", type=Path, help="a folder that keeps each finished exhibit")
    parser.add_argument("--markdown", type=Path, help="a page whose tables are written from the stored results")


def computed(exhibit: Exhibit, settings: Settings) -> dict[str, Any]:
    """The rows of an exhibit and how they came about."""
    started = time.perf_counter()
    rows: list[Row] = exhibit.run(settings)
    return made(exhibit.name, settings, started) | {"rows": [row.to_dict() for row in rows]}


def made(name: str, settings: Settings, started: float) -> dict[str, Any]:
    """When, how fast, with which versions and settings an exhibit was computed."""
    return {
        "exhibit": name,
        "when": datetime.now(UTC).date().isoformat(),
        "seconds": round(time.perf_counter() - started, 1),
        "versions": {name: version(name) for name in PACKAGES},
        "stan": stan_hash(),
        "quick": settings.quick,
        "seed": settings.seed,
        "jobs": settings.jobs,
    }


def stan_hash() -> str:
    """Of all Stan programs."""
    found = hashlib.sha256()
    for path in sorted(stan_folder().rglob("*.stan")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def show(console: Console, exhibit: Exhibit, content: dict[str, Any], columns: Columns) -> None:
    """Print an exhibit."""
    table = Table(title=f"{exhibit.source}: {exhibit.title}", caption=exhibit.remark or None)
    for name in columns:
        table.add_column(name)
    for row in content["rows"]:
        table.add_row(*(cell(row) for cell in columns.values()))
    console.print(table)


def ours(row: dict[str, Any]) -> str:
    """Our figure, with its interval where it is simulated."""
    interval = row.get("interval")
    return f"{row['ours']:.4g}" + ("" if interval is None else f" ({interval[0]:.3g} to {interval[1]:.3g})")


def yes(row: dict[str, Any]) -> str:
    """Whether a figure agrees."""
    return "yes" if row["agrees"] else "no"


def write_page(page: Path, results: Path, exhibits: Mapping[str, Exhibit], columns: Columns) -> None:
    """The exhibits, from what is stored."""
    parts = []
    for exhibit in exhibits.values():
        stored = results / f"{exhibit.name}.json"
        parts.append(f"### {exhibit.source}: {exhibit.title}\n")
        if not stored.is_file():
            parts.append(f"`{exhibit.name}`: not run yet.\n")
            continue
        content = json.loads(stored.read_text(encoding="utf-8"))
        size = "quick run" if content["quick"] else "full run"
        programs = f"Stan programs {content['stan']}, " if "stan" in content else ""
        last = list(columns)[-1]
        parts.append(
            f"`{exhibit.name}`: {size} of {content['when']}, {content['seconds']:g} s, "
            f"hiercomp {content['versions']['hiercomp']}, {programs}seed {content['seed']}; "
            f"{last}: {sum(row['agrees'] for row in content['rows'])} of {len(content['rows'])}.\n"
        )
        parts += [f"| {' | '.join(columns)} |", "|---|" + "---|" * (len(columns) - 1)]
        parts += [f"| {' | '.join(cell(row) for cell in columns.values())} |" for row in content["rows"]]
        parts.append(f"\n{exhibit.remark}\n" if exhibit.remark else "")
    write_between_marks(page, parts)


def write_between_marks(page: Path, parts: list[str]) -> None:
    """Replace what stands between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise SystemExit(f"{page} has no place for the exhibits: put {START.strip()} and {END} into it.")
    before, after = text.split(START)[0], text.split(END)[1]
    page.write_text(f"{before}{START}\n{chr(10).join(parts).rstrip()}\n\n{END}{after}", encoding="utf-8")
