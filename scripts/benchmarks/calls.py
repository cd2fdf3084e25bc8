"""Whole calls as a user makes them: a fit, a verdict from a file, what refits, other populations."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hiercomp as hc
from benchmarks.measure import Context, Row, alternately, completed, seconds
from benchmarks.problems import PAPERS_PRIORS, SCORES, real_comparison, real_table, simulated_table


def fits(context: Context) -> list[Row]:
    """The default fit, and the integral under other priors, against the integral alone."""
    comparison = real_comparison(context)
    differences, rope = comparison.differences, comparison.rope
    alone = _fit(comparison, "quadrature")
    rows = [_row(context, "fits", "fit by auto", _fit(comparison, "auto"), "by quadrature", alone)]
    for words, priors in PAPERS_PRIORS:
        other = hc.HierarchicalComparison.from_differences(differences, rope=rope, priors=priors)
        first = _fit(other, "quadrature")
        rows.append(_row(context, "fits", f"quadrature, {words}", first, "the default priors", alone))
    return rows


def refits(context: Context) -> list[Row]:
    """What integrates the posterior again, against the fit that it starts from."""
    comparison = real_comparison(context)
    result = comparison.fit("quadrature", progress=False)
    fit = _fit(comparison, "quadrature")
    return [
        _row(context, "refits", name, getattr(result, name), "the fit by quadrature", fit)
        for name in ("sensitivity", "influence")
    ]


def populations(context: Context) -> list[Row]:
    """Fits of the other populations, by chains alone, against the default fit."""
    comparison = real_comparison(context)
    differences, rope = comparison.differences, comparison.rope
    generator = np.random.default_rng(0)
    covariates = pd.DataFrame(
        generator.normal(size=(len(differences.dataset_names), 3)),
        index=list(differences.dataset_names),
        columns=["first", "second", "third"],
    )
    others: dict[str, dict[str, Any]] = {
        "population mixture": {"population": "mixture"},
        "three covariates": {"covariates": covariates},
    }
    plain = _fit(comparison, "auto")
    return [
        _row(
            context,
            "populations",
            f"fit by auto, {words}",
            _fit(hc.HierarchicalComparison.from_differences(differences, rope=rope, **options), "auto"),
            "Student-t",
            plain,
        )
        for words, options in others.items()
    ]


def mixture_pairs(context: Context) -> list[Row]:
    """A tournament of mixtures against the same of Student-t populations, two processes each."""
    algorithms, datasets, scores = context.size((6, 54, SCORES), (3, 14, 20))
    table = simulated_table(algorithms, datasets, scores)

    def compared(population: str) -> Callable[[], float]:
        return seconds(lambda: hc.compare_all(table, rope=0.01, population=population, n_jobs=2, progress=False))

    measured = alternately(compared("mixture"), compared("student_t"), context.repetitions)
    details = {"pairs": comb(algorithms, 2), "data sets": datasets}
    return [Row("mixture_pairs", "all pairs, mixtures", "Student-t", "s", *measured, details)]


def command(context: Context) -> list[Row]:
    """``hiercomp compare`` from a file to its verdict, and with every output, against the start of the interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        scores = Path(folder) / "scores.csv"
        real_table(context).to_csv(scores, index=False)
        outputs = [
            *("--save", f"{folder}/result.nc"),
            *("--json", f"{folder}/result.json"),
            *("--report", f"{folder}/report.html"),
        ]
        chosen = ["--left", context.left, "--right", context.right, "--rope", "0.01", "--quiet"]
        plain = [sys.executable, "-m", "hiercomp", "compare", str(scores), *chosen]
        start = partial(completed, [sys.executable, "-c", "pass"])
        return [
            _row(context, "command", words, partial(completed, [*plain, *options]), "python -c pass", start)
            for words, options in (
                ("hiercomp compare", []),
                ("hiercomp compare with --save --json --report", [*outputs, "--force"]),
            )
        ]


def _row(
    context: Context, name: str, measured: str, first: Callable[[], object], against: str, second: Callable[[], object]
) -> Row:
    """A row of the pair of algorithms that the benchmark is asked for."""
    values = alternately(seconds(first), seconds(second), context.repetitions)
    return Row(name, f"{measured}, {context.left} - {context.right}", against, "s", *values)


def _fit(comparison: hc.HierarchicalComparison, engine: str) -> Callable[[], object]:
    return lambda: comparison.fit(engine, progress=False).next_dataset
