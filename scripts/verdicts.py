"""How often verdicts are wrong, by procedure, population and number of data sets: the tables of docs/coverage.md.

    python scripts/verdicts.py --quick
    python scripts/verdicts.py --full --keep kept --results results
    python scripts/verdicts.py --results results --markdown docs/coverage.md    # the page, from what is stored

With --keep every finished block is stored: an interrupted run goes on from there, and more --repetitions add to those that
are there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from reproduction.command import add_options, made, write_between_marks
from reproduction.coverage import BINS, Figure, run
from reproduction.exhibit import Settings
from rich.console import Console

NAME = "coverage"
REPETITIONS, FEW = 100, 5
# Of several data sets: key, title
MEASURES = {
    "wrong": "Wrong verdicts, % of the verdicts",
    "verdicts": "Verdicts, % of the collections",
    "false alarms": "One is called better although the means are equal, % of the collections",
    "power": "The better one is called better where the mean difference is 0.02, % of the collections",
    "Type S at 0.01": "Wrong sign where the mean difference is 0.01, % of the claims that one is better",
    "Type M at 0.01": "Exaggeration where the mean difference is 0.01, mean factor of the claims that one is better",
    "equivalence": "Equivalence is found in the wide rope, % of the collections",
    "wrong here": "Wrong about these data sets, % of the verdicts",
}
SHORT = {
    "wrong": "wrong, % of the verdicts",
    "verdicts": "verdicts, %",
    "false alarms": "claims at 0, %",
    "power": "right claims at 0.02, %",
    "Type S at 0.01": "wrong sign at 0.01, % of the claims",
    "Type M at 0.01": "exaggeration at 0.01, factor",
    "equivalence": "equivalence found, %",
}
ASSUMED = {"right": "right", "half": "half of the true one", "double": "twice the true one"}


def main(arguments: list[str] | None = None) -> int:
    """Run the simulations, or write the page from what they left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument(
        "--repetitions", type=int, help=f"collections of each kind ({REPETITIONS}, or {FEW} with --quick)"
    )
    given = parser.parse_args(arguments)
    stored = None if given.results is None else given.results / f"{NAME}.json"
    if given.markdown is not None:
        if stored is None or not stored.is_file():
            parser.error("--markdown needs --results, the folder with what a run stored")
        write_between_marks(given.markdown, list(page(json.loads(stored.read_text(encoding="utf-8")))))
        return 0
    settings = Settings(given.quick, given.seed, given.jobs, given.keep, Console().is_terminal)
    started = time.perf_counter()
    found = run(settings, given.repetitions or (FEW if given.quick else REPETITIONS))
    content = made(NAME, settings, started) | found
    if stored is not None:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(compact(content) + "\n", encoding="utf-8")
    Console(width=200).print("\n".join(page(content)), highlight=False)
    return 0


def compact(content: dict[str, Any]) -> str:
    """JSON with each figure on one line."""
    text = json.dumps(content, indent=1)
    return re.sub(r"\[[^\[\]{}]+\]", lambda found: " ".join(found[0].split()), text)


def page(content: dict[str, Any]) -> Iterable[str]:
    """The tables of stored figures."""
    size = "quick run" if content["quick"] else "full run"
    yield (
        f"{size.capitalize()} of {content['when']}, hiercomp {content['versions']['hiercomp']}, seed {content['seed']}, "
        f"{content['repetitions']} collections of each kind.\n"
    )
    several, single = content["several data sets"], content["one data set"]
    yield "### Several data sets\n"
    cells = [cell["measures"] for by_count in several.values() for cell in by_count.values()]
    yield from short("All conditions and numbers of data sets together", cells)
    for key, title in MEASURES.items():
        yield from of_several(several, key, title)
    yield "### One data set\n"
    for words, found in single.items():
        yield from short(f"The assumed correlation is {ASSUMED[words]}", [found["measures"]])
    yield "### Calibration\n"
    model = {
        condition: {q: found["calibration"]["hierarchical model"] for q, found in cells.items()}
        for condition, cells in several.items()
    }
    model = {"its priors hold": content["drawn from the priors"]} | model
    tests = {
        test: {q: found["calibration"][test] for q, found in several["Student"].items()}
        for test in next(iter(several["Student"].values()))["calibration"]
    }
    for kind, what in {
        "next": "expected probability of a region, and how often the next data set fell there",
        "most probable": "P(a region is the most probable), and how often it was",
    }.items():
        for title, group in {"Hierarchical model": model, "Student population, every test": tests}.items():
            curves = {name: pooled(one[kind] for one in by_count.values()) for name, by_count in group.items()}
            yield from of_curves(f"{title}: {what}", curves)
    curves = {ASSUMED[words]: pooled([found["calibration"]]) for words, found in single.items()}
    title = "Correlated t-test: probability of a region, and how often the data set's difference lay there"
    yield from of_curves(title, curves)


def short(title: str, cells: list[dict[str, dict[str, Any]]]) -> Iterable[str]:
    """Every procedure's main measures, of independent simulations together."""
    rows = {
        test: [
            shown(key, together([cell[test][key] for cell in cells]) if key in cells[0][test] else None)
            for key in SHORT
        ]
        for test in cells[0]
    }
    yield from table(title, ["", *SHORT.values()], rows)


def of_several(several: dict[str, Any], key: str, title: str) -> Iterable[str]:
    """A measure by condition, number of data sets and procedure."""
    first = next(iter(next(iter(several.values())).values()))["measures"]
    tests = [test for test, measures in first.items() if key in measures]
    rows = {
        f"{condition}, q = {q}": [shown(key, Figure(*found["measures"][test][key])) for test in tests]
        for condition, cells in several.items()
        for q, found in cells.items()
    }
    yield from table(title, ["", *tests], rows)


def of_curves(title: str, curves: dict[str, list[tuple[Figure, Figure]]]) -> Iterable[str]:
    """Mean reported probability and share, by interval of the reported probability."""
    rows = {}
    for number, (low, high) in enumerate(pairwise(BINS)):
        pairs = [curve[number] for curve in curves.values()]
        rows[f"{low:g} to {high:g}"] = [
            f"{mean.value:.2f}: {share.value:.2f} ± {share.error:.2f}" if mean.count else "" for mean, share in pairs
        ]
    yield from table(title, ["reported", *curves], rows)


def together(figures: Iterable[Any]) -> Figure:
    """Stored figures of independent simulations as one."""
    return Figure.pooled([Figure(*one) for one in figures])


def pooled(curves: Iterable[list[Any]]) -> list[tuple[Figure, Figure]]:
    """Curves of independent simulations as one."""
    by_bin = [list(zip(*pairs, strict=True)) for pairs in zip(*curves, strict=True)]
    return [(together(means), together(shares)) for means, shares in by_bin]


def shown(key: str, figure: Figure | None) -> str:
    """A share in per cent or a factor, with its error; nothing where there were no claims."""
    if figure is None or not figure.count:
        return ""
    if key.startswith("Type M"):
        return f"{figure.value:.2f} ± {figure.error:.2f}"
    digits = 0 if 100 * figure.error >= 1 else 1
    return f"{100 * figure.value:.{digits}f} ± {100 * figure.error:.{digits}f}"


def table(title: str, header: list[str], rows: dict[str, list[str]]) -> Iterable[str]:
    """A Markdown table under its title."""
    yield f"**{title}**\n"
    yield "| " + " | ".join(header) + " |"
    yield "|---" + "|---:" * (len(header) - 1) + "|"
    yield from (f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items())
    yield ""


if __name__ == "__main__":
    sys.exit(main())
