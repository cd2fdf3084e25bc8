"""What the settings of the quadrature engine cost and gain: the tables of docs/quadrature.md.

Each setting is replaced by another value, everything else left as it is, and the same collections are integrated with
both. Errors are distances from an integration with one and a half times the nodes on every axis; seconds are those of the
processor in one thread. With every table it takes about half an hour.

    python scripts/study_quadrature.py
    python scripts/study_quadrature.py --tables sizes --sizes 20,54
    python scripts/study_quadrature.py --markdown docs/quadrature.md
"""

from __future__ import annotations

import argparse
import os
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is loaded: small products, one thread

import numpy as np

import hiercomp as hc
from hiercomp.engines.quadrature import axes, engine, grid, likelihood, regions
from hiercomp.engines.quadrature.engine import Integration, QuadratureEngine
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.support import Integrand
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.rope import Rope

MODULES = {"axes": axes, "engine": engine, "grid": grid, "likelihood": likelihood, "regions": regions}
SIZES = (2, 5, 10, 20, 43, 54, 80, 120, 200, 350, 500, 2000, 20_000)
MOST_WITH_REFERENCE = 200  # data sets; the reference takes about ten times as long as what it is for
REFERENCE = {
    "engine.FIRST_NODES": (17, 22, 17),
    "engine.NODES_FOR_LENGTH": 5.5,
    "engine.NODES_FOR_LENGTH_SPLINE": 4.5,
    "engine.NODES_FOR_UNIT": 3.0,
    "engine.LEFT_OUT": 1e-10,
    "grid.FINE_NODES": (120, 72, 321),
    "grid.SMOOTH_NODES": (56, 56, 321),
    "grid.GRID_STEP": 0.25,
}
# The settings that there were for 80 to 499 data sets
MANY = {
    "engine.FIRST_NODES": (11, 15, 7),
    "engine.SEARCH_PLACES": np.linspace(-1.5, 1.5, 3),
    "engine.TOLERANCE": 5e-4,
    "grid.NEWTON_STEPS": 1,
}
REGIMES: list[tuple[str, dict[str, Any], list[tuple[str, int]]]] = [
    ("no stretched axis for few data sets", {"engine.FEW_DATASETS": 0, "engine.MOST_STRETCHED": 0},
     [("keel", 3), ("keel", 5), ("keel", 10)]),
    ("the stretched axis for all", {"engine.FEW_DATASETS": 10**6}, [("keel", 20), ("keel", 43)]),
    ("no change to the stretched axis after a failure", {"engine.MOST_STRETCHED": 0}, [("outliers", 12)]),
    ("any work for an error of 0.0001", {"engine.MUCH_WORK": 10**9}, [("outliers", 10)]),
    ("7 nodes of delta0 about the mode", MANY, [("keel", 80), ("near_identical", 120), ("keel", 200)]),
]  # fmt: skip
CONSTANTS: list[tuple[str, Any]] = [
    ("engine.FIRST_NODES", (8, 15, 11)),
    ("engine.FIRST_NODES", (11, 11, 11)),
    ("engine.FIRST_NODES", (11, 15, 8)),
    ("engine.NODES_FOR_LENGTH", 2.5),
    ("engine.NODES_FOR_LENGTH_SPLINE", 2.0),
    ("engine.NODES_FOR_UNIT", 1.4),
    ("engine.LEFT_OUT", 1e-6),
    ("engine.WIDER", 0.15),
    ("engine.CAUTION", 0.0),
    ("engine.NU_CAUTION", 0.0),
    ("engine.SEARCH_STEP", 0.8),
    ("engine.SEARCH_ROUNDS", 4),
    ("engine.SEARCH_NODES", (7, 6)),
    ("engine.SEARCH_PLACES", np.linspace(-1.5, 1.5, 3)),
    ("engine.SEARCH_SHARE", 0.25),
    ("engine.SETTLED", 0.5),
    ("grid.FINE_NODES", (40, 24, 105)),
    ("grid.SMOOTH_NODES", (18, 18, 105)),
    ("grid.FINE_FOR_NODE", 2),
    ("grid.GRID_STEP", 0.5),
    ("grid.STEPS", 8),
    ("grid.NEGLIGIBLE", 1e-4),
    ("likelihood.TAIL", 1e-7),
    ("likelihood.ITERATIONS", 1),
    ("regions.THINNED", 16),
    ("regions.THINNED_LINE", 4),
]
CONSTANT_CASES = (("keel", 5), ("keel", 20), ("keel", 54))


@contextmanager
def settings(changed: dict[str, Any]) -> Iterator[None]:
    """The engine with other values of some constants; a constant that several modules import is changed in each."""
    kept = []
    for name, value in changed.items():
        _, constant = name.split(".")
        holders = MODULES.values() if constant == "NEGLIGIBLE" else [MODULES[name.split(".")[0]]]
        for module in holders:
            if hasattr(module, constant):
                kept.append((module, constant, getattr(module, constant)))
                setattr(module, constant, value)
    about_the_mode = "grid.NEWTON_STEPS" in changed
    computed = grid.PosteriorGrid.__dict__["computed"]
    if about_the_mode:
        grid.PosteriorGrid.computed = classmethod(  # type: ignore[method-assign]
            lambda cls, *arguments, newton: computed.__func__(cls, *arguments, newton=True)
        )
    try:
        yield
    finally:
        for module, constant, value in kept:
            setattr(module, constant, value)
        if about_the_mode:
            grid.PosteriorGrid.computed = computed  # type: ignore[method-assign]


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
    """An integration, its seven probabilities, its seconds, and the integrals over delta_i that it took, in millions."""

    integration: Integration
    values: np.ndarray
    seconds: float
    integrals: float


def integrated(kind: str, q: int, changed: dict[str, Any] | None = None) -> Measured:
    """Integrate a collection, with other values of some constants."""
    problem, rope = collection(kind, q)
    count = 0
    log_marginal = MeanLikelihood.log_marginal

    def counted(self: MeanLikelihood, delta0: np.ndarray, *arguments: Any, **options: Any) -> np.ndarray:
        nonlocal count
        count += np.size(delta0) * len(self.n)
        return log_marginal(self, delta0, *arguments, **options)

    MeanLikelihood.log_marginal = counted  # type: ignore[method-assign, assignment]
    try:
        with settings(changed or {}), np.errstate(all="ignore"):
            start = time.process_time()
            found = QuadratureEngine().integrate(problem, rope)
            seconds = time.process_time() - start
            masses, _ = found.regions(rope)
    finally:
        MeanLikelihood.log_marginal = log_marginal  # type: ignore[method-assign]
    values = np.array([*masses.most_probable, *masses.expected, masses.positive])
    return Measured(found, values, seconds, count / 1e6)


@cache
def usual(kind: str, q: int) -> Measured:
    """With the engine's own settings."""
    return integrated(kind, q)


@cache
def reference(kind: str, q: int) -> np.ndarray:
    """The probabilities with one and a half times the nodes on every axis."""
    return integrated(kind, q, REFERENCE).values


def error_of(values: np.ndarray, kind: str, q: int) -> float:
    """The largest distance of a probability from the reference."""
    return float(np.abs(values - reference(kind, q)).max())


def sizes_table(sizes: list[int]) -> Iterator[list[str]]:
    """Nodes, cost and errors by the number of data sets."""
    yield ["collection", "data sets", "nodes", "million integrals", "seconds", "stated error", "error"]
    for kind in ("keel", "near_identical", "outliers", "one_sided", "few_scores"):
        for q in sizes if kind == "keel" else [size for size in sizes if size in (5, 20, 54, 200)]:
            found = usual(kind, q)
            error = f"{error_of(found.values, kind, q):.1e}" if q <= MOST_WITH_REFERENCE else "-"
            nodes, stated = " x ".join(map(str, found.integration.nodes)), f"{found.integration.largest_error:.1e}"
            yield [kind, f"{q:,}", nodes, f"{found.integrals:.3g}", f"{found.seconds:.2f}", stated, error]


def regimes_table() -> Iterator[list[str]]:
    """What each special rule gains."""
    yield ["instead of the rule", "collection", "data sets", "integrals", "time", "error", "error with the rule"]
    for name, changed, cases in REGIMES:
        for kind, q in cases:
            with_rule, without = usual(kind, q), integrated(kind, q, changed)
            yield [name, kind, str(q), f"{without.integrals / with_rule.integrals:.2f}",
                   f"{without.seconds / with_rule.seconds:.2f}", f"{error_of(without.values, kind, q):.1e}",
                   f"{error_of(with_rule.values, kind, q):.1e}"]  # fmt: skip


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
    parser.add_argument("--markdown", type=Path, help="a page whose tables are replaced, each between its two comments")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    makers = {"sizes": lambda: sizes_table(sizes), "regimes": regimes_table, "constants": constants_table}
    usual("keel", 5)  # the first integration also imports SciPy
    usual.cache_clear()
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
