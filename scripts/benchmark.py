"""What everything costs: each row is the ratio of two things that are measured alternately in the same run.

python scripts/benchmark.py                                   # the bundled KEEL scores
python scripts/benchmark.py --scores scores.csv.gz --left nbc --right j48
python scripts/benchmark.py --small --rows many_datasets,plots --json benchmark.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import calls, closed_forms, crossval, growth, pairs, pictures, reading, sampling
from benchmarks.measure import Context, Row
from rich.console import Console
from rich.table import Table

import hiercomp as hc

ROWS: dict[str, Callable[[Context], list[Row]]] = {
    "equal_accuracy": sampling.equal_accuracy,
    "few_datasets": growth.few_datasets,
    "many_datasets": growth.many_datasets,
    "many_scores": growth.many_scores,
    "exponent": growth.exponent,
    "all_pairs": pairs.all_pairs,
    "sampled_pairs": pairs.sampled_pairs,
    "dask": pairs.dask,
    "plan": growth.plans,
    "closed_form": sampling.closed_form,
    "first_fit": sampling.first_fit,
    "fits": calls.fits,
    "refits": calls.refits,
    "populations": calls.populations,
    "mixture_pairs": calls.mixture_pairs,
    "command": calls.command,
    "baycomp": sampling.baycomp,
    "bayes_testkit": sampling.bayes_testkit,
    "poisson_binomial": closed_forms.poisson_binomial,
    "signed_rank": closed_forms.signed_rank,
    "tests": closed_forms.tests,
    "crossval": crossval.crossval,
    "reading": reading.reading,
    "large_reading": reading.large_reading,
    "plots": pictures.drawn_plots,
    "report": pictures.report,
    "import": pictures.importing,
}
RIVALS = ("baycomp", "bayes-testkit")
PACKAGES = ("numpy", "scipy", "stanli", "cmdstanpy", "joblib", "matplotlib")
START, END = "<!-- benchmark -->", "<!-- end of benchmark -->"


def main() -> None:
    """Measure the rows asked for, print them, and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, help="table of one comparison; the bundled KEEL scores by default")
    parser.add_argument("--left", default="naive_bayes")
    parser.add_argument("--right", default="decision_tree")
    parser.add_argument("--rows", default=",".join(ROWS), help="names, with commas between them")
    parser.add_argument("--repetitions", type=int, default=3, help="of each of the two things of a row")
    parser.add_argument("--small", action="store_true", help="small sizes, once each, to see that it works")
    parser.add_argument("--with", dest="rivals", action="append", default=[], choices=RIVALS)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path, help="page whose table is written anew")
    arguments = parser.parse_args()
    names = arguments.rows.split(",")
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        parser.error(f"--rows: there is no {unknown[0]!r}; the rows are {', '.join(ROWS)}")
    context = Context(
        small=arguments.small,
        scores=arguments.scores,
        left=arguments.left,
        right=arguments.right,
        rivals=frozenset(arguments.rivals),
        repetitions=1 if arguments.small else arguments.repetitions,
    )
    console = Console(width=160, stderr=True)
    rows: list[Row] = []
    for name in names:
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hc.HiercompWarning)
            rows += ROWS[name](context)
        console.print(f"{name}: {time.perf_counter() - started:.0f} s")
    content = _content(rows, context)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if arguments.markdown is not None:
        _write_markdown(arguments.markdown, content)
    _print(content)


def _content(rows: list[Row], context: Context) -> dict[str, Any]:
    return {
        "when": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "versions": {"hiercomp": hc.__version__} | {name: version(name) for name in PACKAGES},
        "small": context.small,
        "rows": [row.to_dict() for row in rows],
    }


def _print(content: dict[str, Any]) -> None:
    table = Table(title=f"{content['machine']}; medians of measurements that alternated")
    for name in ("row", "measured", "against", "unit", "measured", "against", "ratio", "times", "details"):
        table.add_column(name, overflow="fold")
    for row in content["rows"]:
        table.add_row(row["name"], row["measured"], row["against"], row["unit"], *_numbers(row), _details(row))
    Console(width=200).print(table)


def _numbers(row: dict[str, Any]) -> list[str]:
    return [f"{row['median']:.3g}", f"{row['other_median']:.3g}", f"{row['ratio']:.3g}", str(row["repetitions"])]


def _details(row: dict[str, Any]) -> str:
    return "; ".join(
        f"{name}: {value:,.3g}" if isinstance(value, float) else f"{name}: {value}"
        for name, value in row["details"].items()
    )


def _write_markdown(path: Path, content: dict[str, Any]) -> None:
    """Replace what stands between the two marks of the page."""
    text = path.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise SystemExit(f"{path} has no place for the table: put {START} and {END} into it.")
    before, after = text.split(START)[0], text.split(END)[1]
    versions = ", ".join(f"{name} {number}" for name, number in content["versions"].items())
    lines = [
        f"Measured on {content['when']}: {content['machine']}; {versions}.",
        "",
        "| Row | Measured | Against | Unit | Measured | Against | Ratio | Times |",
        "|---|---|---|---|---:|---:|---:|---:|",
    ]
    notes = []
    for row in content["rows"]:
        cells = [f"`{row['name']}`", row["measured"], row["against"], row["unit"], *_numbers(row)]
        lines.append(f"| {' | '.join(cells)} |")
        if row["details"]:
            notes.append(f"- {row['measured']}: {_details(row)}.")
    path.write_text("\n".join([f"{before}{START}", *lines, "", *notes, f"{END}{after}"]), encoding="utf-8")


if __name__ == "__main__":
    main()
