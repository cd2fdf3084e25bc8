"""Compute tables and figures of the papers anew, and print each beside the published figure.

    python scripts/reproduce.py                           # what there is
    python scripts/reproduce.py corani2017-table5 slides-friedman
    python scripts/reproduce.py all --quick               # small runs, in which a broken formula shows
    python scripts/reproduce.py all --full --results results
    python scripts/reproduce.py --markdown docs/reproduction.md --results results    # the page, from stored results

Exhibits of the 54 data sets need the environment variable HIERCOMP_UCI54 with the path of their table. With --results each
finished exhibit is stored, and with --keep every finished block of a simulation: an interrupted run goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reproduction import calibrated_tests, friedman, hierarchical, poisson_binomial, simulated_populations, slides
from reproduction.exhibit import Exhibit, MissingDataError, Row, Settings
from rich.console import Console
from rich.table import Table

MODULES = (simulated_populations, friedman, hierarchical, poisson_binomial, calibrated_tests, slides)
EXHIBITS = {one.name: one for module in MODULES for one in module.EXHIBITS}
PACKAGES = ("hiercomp", "numpy", "scipy", "pandas", "scikit-learn")
START, END = "<!-- exhibits -->\n", "<!-- end of exhibits -->"


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 where a figure does not agree and no remark of the exhibit says why."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exhibits", nargs="*", metavar="EXHIBIT", help="all, or names; without any they are listed")
    add_options(parser)
    given = parser.parse_args(arguments)
    unknown = [name for name in given.exhibits if name not in ("all", *EXHIBITS)]
    if unknown:
        parser.error(f"there is no exhibit {unknown[0]}; they are all, {', '.join(EXHIBITS)}")
    console = Console()
    if not given.exhibits and given.markdown is None:
        for one in EXHIBITS.values():
            console.print(f"{one.name:24} {one.source}: {one.title}", highlight=False)
        return 0
    settings = Settings(given.quick, given.seed, given.jobs, given.keep, console.is_terminal)
    names = list(EXHIBITS) if "all" in given.exhibits else list(dict.fromkeys(given.exhibits))
    failed = False
    for name in names:
        stored = None if given.results is None else given.results / f"{name}.json"
        if stored is not None and stored.is_file():
            content = json.loads(stored.read_text(encoding="utf-8"))
            if (content["quick"], content["seed"]) == (settings.quick, settings.seed):
                console.print(f"{name}: stored already")
                continue
        try:
            content = computed(EXHIBITS[name], settings)
        except MissingDataError as error:
            console.print(f"{name}: left out; {error}")
            continue
        show(console, EXHIBITS[name], content)
        failed |= not EXHIBITS[name].remark and not all(row["agrees"] for row in content["rows"])
        if stored is not None:
            stored.parent.mkdir(parents=True, exist_ok=True)
            stored.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if given.markdown is not None:
        if given.results is None:
            parser.error("--markdown needs --results, the folder of the stored exhibits")
        write_page(given.markdown, given.results)
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
        "quick": settings.quick,
        "seed": settings.seed,
        "jobs": settings.jobs,
    }


def show(console: Console, exhibit: Exhibit, content: dict[str, Any]) -> None:
    """Print an exhibit."""
    table = Table(title=f"{exhibit.source}: {exhibit.title}", caption=exhibit.remark or None)
    for name in ("", "published", "ours", "allowed", "agrees"):
        table.add_column(name)
    for row in content["rows"]:
        table.add_row(row["what"], row["published"], ours(row), f"{row['error']:.2g}", yes(row))
    console.print(table)


def ours(row: dict[str, Any]) -> str:
    """Our figure, with its interval where it is simulated."""
    interval = row.get("interval")
    return f"{row['ours']:.4g}" + ("" if interval is None else f" ({interval[0]:.3g} to {interval[1]:.3g})")


def yes(row: dict[str, Any]) -> str:
    """Whether a figure agrees."""
    return "yes" if row["agrees"] else "no"


def write_page(page: Path, results: Path) -> None:
    """The exhibits, from what is stored."""
    parts = []
    for exhibit in EXHIBITS.values():
        stored = results / f"{exhibit.name}.json"
        parts.append(f"### {exhibit.source}: {exhibit.title}\n")
        if not stored.is_file():
            parts.append(f"`{exhibit.name}`: not run yet.\n")
            continue
        content = json.loads(stored.read_text(encoding="utf-8"))
        size = "quick run" if content["quick"] else "full run"
        parts.append(
            f"`{exhibit.name}`: {size} of {content['when']}, {content['seconds']:g} s, "
            f"hiercomp {content['versions']['hiercomp']}, seed {content['seed']}; "
            f"{sum(row['agrees'] for row in content['rows'])} of {len(content['rows'])} agree.\n"
        )
        parts += ["| figure | published | ours | allowed | agrees |", "|---|---|---:|---:|---|"]
        parts += [
            f"| {row['what']} | {row['published']} | {ours(row)} | {row['error']:.2g} | {yes(row)} |"
            for row in content["rows"]
        ]
        parts.append(f"\n{exhibit.remark}\n" if exhibit.remark else "")
    write_between_marks(page, parts)


def write_between_marks(page: Path, parts: list[str]) -> None:
    """Replace what stands between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise SystemExit(f"{page} has no place for the exhibits: put {START.strip()} and {END} into it.")
    before, after = text.split(START)[0], text.split(END)[1]
    page.write_text(f"{before}{START}\n{chr(10).join(parts).rstrip()}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
