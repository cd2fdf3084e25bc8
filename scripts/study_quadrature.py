"""What the settings of the quadrature engine cost and gain: the tables of docs/quadrature.md.

Each setting is replaced by another value, everything else left as it is, and the same collections are integrated with
both. Errors are distances from an integration with one and a half times the nodes on every axis; seconds are those of the
processor in one thread. With every table it takes about five minutes. What has been measured is kept in a file, so the
study can be run in pieces; remove the file after a change of the engine.

    python scripts/study_quadrature.py
    python scripts/study_quadrature.py --tables sizes --sizes 20,54
    python scripts/study_quadrature.py --measured study.json --markdown docs/quadrature.md
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is loaded: small products, one thread

import numpy as np

import hiercomp as hc
from hiercomp.engines.quadrature import axes, engine, grid, likelihood, regions, support, trinomial
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.support import Integrand
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.rope import Rope

MODULES = {
    "axes": axes,
    "engine": engine,
    "grid": grid,
    "likelihood": likelihood,
    "regions": regions,
    "support": support,
    "trinomial": trinomial,
}
SIZES = (2, 5, 10, 20, 43, 54, 120, 200, 500, 1000, 5000, 20_000)
MOST_WITH_REFERENCE = 200  # data sets; the reference takes about ten times as long as what it is for
REFERENCE = {
    "engine.NODES_FOR_LENGTH": (5.3, 8.0, 10.5),
    "engine.NODES_FOR_LOG_SIGMA0": (3.3, 11.1, 10.5),
    "engine.NODES_FOR_LOG_SIGMA0_TO_ZERO": (2.9, 6.9, 12.0),
    "engine.NODES_AT_LEAST": 6.0,
    "engine.NODES_FOR_LENGTH_SPLINE": (5.4, 4.5),
    "engine.NODES_FOR_UNIT": 4.5,
    "grid.FINE_NODES": (90, 54, 241),
    "grid.SMOOTH_NODES": (42, 42, 241),
    "grid.LIKELIHOOD_ERROR": 1e-6,
}
REGIMES: list[tuple[str, dict[str, Any], list[tuple[str, int]]]] = [
    ("no stretched axis for few data sets (`FEW_DATASETS`)", {"support.FEW_DATASETS": 0},
     [("keel", 3), ("keel", 5), ("one_sided", 8), ("keel", 10)]),
    ("the stretched axis for all (`FEW_DATASETS`)", {"support.FEW_DATASETS": 10**6}, [("keel", 20), ("keel", 43)]),
    ("all data sets from the first round on (`FEWEST_SAMPLED`)", {"engine.FEWEST_SAMPLED": 10**6},
     [("keel", 500), ("one_sided", 2000)]),
    ("no smaller support where the error is too large (`NARROWER`)", {"engine.NARROWER": 0.0},
     [("outliers", 12), ("one_sided", 20)]),
]  # fmt: skip
CONSTANTS: list[tuple[str, Any]] = [
    ("engine.NODES_FOR_LENGTH", (2.5, 4.2, 7.0)),
    ("engine.NODES_FOR_LENGTH", (3.5, 3.2, 7.0)),
    ("engine.NODES_FOR_LENGTH", (3.5, 4.2, 5.0)),
    ("engine.NODES_FOR_LOG_SIGMA0", (1.6, 7.4, 7.0)),
    ("engine.NODES_FOR_LOG_SIGMA0", (2.2, 5.3, 7.0)),
    ("engine.NODES_AT_LEAST", 2.0),
    ("engine.NODES_FOR_LENGTH_SPLINE", (2.5, 3.0)),
    ("engine.NODES_FOR_LENGTH_SPLINE", (3.6, 2.0)),
    ("engine.FEWEST_SPLINE", 8),
    ("engine.NODES_FOR_UNIT", 2.0),
    ("engine.MOST_DEGREE", 0),
    ("engine.LEFT_OUT", 1e-5),
    ("engine.WIDER", 0.15),
    ("engine.CAUTION", 0.0),
    ("engine.NU_CAUTION", 0.0),
    ("engine.STEPS_BEYOND", 1),
    ("engine.SEARCH_ROUNDS", 4),
    ("engine.SEARCH_NODES", (7, 6)),
    ("engine.SEARCH_SHARE", 0.25),
    ("engine.SHALLOWEST", 2.0),
    ("engine.SAMPLED_AGAIN", 32),
    ("engine.SETTLED", 0.4),
    ("grid.FINE_NODES", (40, 24, 105)),
    ("grid.SMOOTH_NODES", (18, 18, 105)),
    ("grid.FINE_FOR_NODE", 2),
    ("grid.STILL", 0.03),
]
CONSTANT_CASES = (("keel", 5), ("keel", 20), ("keel", 54), ("few_scores", 54), ("outliers", 20))


@contextmanager
def settings(changed: dict[str, Any]) -> Iterator[None]:
    """The engine with other values of some constants; a constant that several modules import is changed in each."""
    kept = []
    for name, value in changed.items():
        module, constant = MODULES[name.split(".")[0]], name.split(".")[1]
        kept.append((module, constant, getattr(module, constant)))
        setattr(module, constant, value)
    try:
        yield
    finally:
        for module, constant, value in kept:
            setattr(module, constant, value)


@cache
def bundled() -> HierarchicalModel:
    """The bundled comparison of naive Bayes and a decision tree on 43 data sets."""
    scores = hc.load_scores("keel")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        comparison = hc.HierarchicalComparison(scores, left="naive_bayes", right="decision_tree", rope=0.01)
    return HierarchicalModel.of(comparison.differences, Priors())


def collection(kind: str, q: int) -> tuple[Integrand, Rope]:
    """A collection of q data sets and its rope.

    keel: a sample of the 43 bundled data sets; above 43 drawn again and again, with noise of 0.3 standard deviations of
    their means. near_identical: a population far narrower than the standard errors. outliers: every tenth data set 15
    units away, of a mean standard deviation within a data set. one_sided: a quarter lies to the right of the others.
    few_scores: three to five scores for each data set.
    """
    generator = np.random.default_rng([q, sum(map(ord, kind))])
    if kind == "keel":
        known = bundled()
        size = len(known.mean)
        chosen = generator.choice(size, q, replace=False) if q <= size else generator.integers(size, size=q)
        noise = 0.3 * np.std(known.mean) * generator.normal(size=q) if q > size else 0.0
        mean, squares, n, rho = (getattr(known, name)[chosen] for name in ("mean", "sum_of_squares", "n", "rho"))
        mean, bound, half_width = mean + noise, known.delta0_bound, 0.01 / known.unit
    else:
        n = np.full(q, 100.0) if kind != "few_scores" else generator.integers(3, 6, q).astype(float)
        rho = np.full(q, 0.1 if kind != "few_scores" else 0.2)
        sd = generator.gamma(8, 1 / 8, q)
        population = {
            "near_identical": lambda: 0.01 * generator.standard_t(4, q),
            "few_scores": lambda: 0.3 + 0.7 * generator.standard_t(4, q),
            "outliers": lambda: 0.2 + np.where(generator.random(q) < 0.1, 15, 0.5) * generator.standard_t(4, q),
            "one_sided": lambda: (
                0.2 + 0.3 * generator.normal(size=q) + (generator.random(q) < 0.25) * 4 * generator.exponential(size=q)
            ),
        }[kind]()
        mean = population + sd * np.sqrt((1 + (n - 1) * rho) / n) * generator.normal(size=q)
        squares = sd**2 * (1 - rho) * generator.chisquare(n - 1)
        unit = np.mean(np.sqrt(squares / (n - 1)))
        mean, squares, half_width = mean / unit, squares / unit**2, 0.5 / unit
        bound = max(50 / unit, np.abs(mean).max())
    data = MeanLikelihood(mean, squares, n, rho, 1000.0)
    return Integrand(data, bound, 1000 * np.std(mean, ddof=1), Priors()), Rope(-half_width, half_width)


@dataclass(frozen=True)
class Measured:
    """An integration: its seven probabilities, their largest stated error, nodes, seconds, and millions of integrals."""

    values: list[float]
    stated: float
    nodes: list[int]
    seconds: float
    integrals: float


MEASURED: dict[str, dict[str, Any]] = {}  # by collection and settings
KEPT_IN: list[Path] = []  # the file that they are kept in, if any


def integrated(kind: str, q: int, changed: dict[str, Any] | None = None) -> Measured:
    """Integrate a collection, with other values of some constants; not again where it has been measured."""
    key = f"{kind} {q} {changed or {}}"
    if key not in MEASURED:
        MEASURED[key] = asdict(_integrated(kind, q, changed or {}))
        for path in KEPT_IN:
            path.write_text(json.dumps(MEASURED), encoding="utf-8")
    return Measured(**MEASURED[key])


def _integrated(kind: str, q: int, changed: dict[str, Any]) -> Measured:
    problem, rope = collection(kind, q)
    count = 0
    log_kernels = MeanLikelihood.log_kernels

    def counted(self: MeanLikelihood, *arguments: Any) -> np.ndarray:
        nonlocal count
        found = log_kernels(self, *arguments)
        count += found.size
        return found

    MeanLikelihood.log_kernels = counted  # type: ignore[method-assign, assignment]
    try:
        with settings(changed), np.errstate(all="ignore"):
            start = time.process_time()
            found = QuadratureEngine().integrate(problem, rope)
            seconds = time.process_time() - start
            masses, _ = found.regions(rope)
    finally:
        MeanLikelihood.log_kernels = log_kernels  # type: ignore[method-assign]
    values = [*masses.most_probable.tolist(), *masses.expected.tolist(), masses.positive]
    return Measured(values, found.largest_error, list(found.nodes), seconds, count / 1e6)


def usual(kind: str, q: int) -> Measured:
    """With the engine's own settings."""
    return integrated(kind, q)


def reference(kind: str, q: int) -> np.ndarray:
    """The probabilities with one and a half times the nodes on every axis."""
    return np.array(integrated(kind, q, REFERENCE).values)


def error_of(values: list[float], kind: str, q: int) -> float:
    """The largest distance of a probability from the reference."""
    return float(np.abs(np.array(values) - reference(kind, q)).max())


def sizes_table(sizes: list[int]) -> Iterator[list[str]]:
    """Nodes, cost and errors by the number of data sets."""
    yield ["collection", "data sets", "nodes", "million integrals", "seconds", "stated error", "error"]
    for kind in ("keel", "near_identical", "outliers", "one_sided", "few_scores"):
        for q in sizes if kind == "keel" else [size for size in sizes if size in (5, 20, 54, 200)]:
            found = usual(kind, q)
            error = f"{error_of(found.values, kind, q):.1e}" if q <= MOST_WITH_REFERENCE else "-"
            nodes, stated = " x ".join(map(str, found.nodes)), f"{found.stated:.1e}"
            yield [kind, f"{q:,}", nodes, f"{found.integrals:.3g}", f"{found.seconds:.2f}", stated, error]


def regimes_table() -> Iterator[list[str]]:
    """What each special rule gains."""
    yield ["instead of the rule", "collection", "data sets", "integrals", "time", "error", "error with the rule"]
    for name, changed, cases in REGIMES:
        for kind, q in cases:
            with_rule, without = usual(kind, q), integrated(kind, q, changed)
            yield [name, kind, str(q), f"{without.integrals / with_rule.integrals:.2f}",
                   f"{without.seconds / with_rule.seconds:.2f}", *(
                       f"{error_of(one.values, kind, q):.1e}" if q <= MOST_WITH_REFERENCE else "-"
                       for one in (without, with_rule))]  # fmt: skip


def constants_table() -> Iterator[list[str]]:
    """One constant at a time, at a cheaper value."""
    yield ["constant", "value", "tried", "integrals", "time", *(f"{kind} {q}" for kind, q in CONSTANT_CASES)]
    started = [usual(*case) for case in CONSTANT_CASES]
    integrals, seconds = (sum(getattr(one, name) for one in started) for name in ("integrals", "seconds"))
    yield ["(as it is)", "", "", "1.00", "1.00", *errors_of(started)]
    for name, tried in CONSTANTS:
        module, constant = name.split(".")
        others = [integrated(*case, {name: tried}) for case in CONSTANT_CASES]
        work = sum(one.integrals for one in others) / integrals
        ratio = sum(one.seconds for one in others) / seconds
        value = plain(getattr(MODULES[module], constant))
        yield [f"`{constant}`", value, plain(tried), f"{work:.2f}", f"{ratio:.2f}", *errors_of(others)]


def errors_of(measured: list[Measured]) -> list[str]:
    """Their errors in the cases for constants."""
    return [f"{error_of(one.values, *case):.0e}" for one, case in zip(measured, CONSTANT_CASES, strict=True)]


def plain(value: Any) -> str:
    """A constant's value in a cell."""
    if isinstance(value, np.ndarray):
        return f"{len(value)} to ±{value[-1]:g}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else f"{value:g}"


def markdown(rows: Iterator[list[str]]) -> str:
    """A Markdown table, printed row by row."""
    lines = []
    for number, row in enumerate(rows):
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
        if number == 0:
            lines.append("|" + "---|" * len(row))
            print(lines[-1])
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="sizes,regimes,constants", help="which of them, with commas between")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of data sets, with commas between")
    parser.add_argument("--measured", type=Path, help="a file that keeps what has been measured, and is read again")
    parser.add_argument("--markdown", type=Path, help="a page whose tables are replaced, each between its two comments")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    makers = {"sizes": lambda: sizes_table(sizes), "regimes": regimes_table, "constants": constants_table}
    _integrated("keel", 5, {})  # the first integration also imports SciPy
    if arguments.measured is not None:
        KEPT_IN.append(arguments.measured)
        if arguments.measured.exists():
            MEASURED.update(json.loads(arguments.measured.read_text(encoding="utf-8")))
    for name in arguments.tables.split(","):
        table = markdown(makers[name]())
        if arguments.markdown is not None:
            page = arguments.markdown.read_text(encoding="utf-8")
            between = re.compile(f"(<!-- {name} -->\n).*?(\n<!-- end of {name} -->)", re.DOTALL)
            if between.search(page) is None:
                parser.error(f"{arguments.markdown} has no comments <!-- {name} --> and <!-- end of {name} -->")
            replaced = between.sub(lambda found, table=table: f"{found[1]}\n{table}\n{found[2]}", page)
            arguments.markdown.write_text(replaced, encoding="utf-8")


if __name__ == "__main__":
    main()
