"""How the cost of the quadrature engine grows with the data, and what a plan costs."""

from __future__ import annotations

import math
import warnings

import hiercomp as hc
from benchmarks.measure import Context, Row, alternately, seconds
from benchmarks.problems import PAPERS_PRIORS, simulated_comparison, uneven_comparison
from hiercomp.planning.plan import plan


def _fit(comparison: hc.HierarchicalComparison) -> str:
    """Fit and ask for the probabilities; the nodes of the grid that it took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        result = comparison.fit("quadrature", progress=False)
        _ = result.next_dataset
    return " x ".join(map(str, result.posterior.integration.nodes))


def many_datasets(context: Context) -> list[Row]:
    """A hundred times as many data sets."""
    few, many = context.size((50, 5000), (14, 140))
    problems = [simulated_comparison(count) for count in (few, many)]
    measured = alternately(*(seconds(lambda p=p: _fit(p)) for p in problems), context.repetitions)
    return [
        Row("many_datasets", f"quadrature, {few} data sets", f"{many:,} data sets", "s", *measured, _nodes(problems))
    ]


def _nodes(problems: list[hc.HierarchicalComparison]) -> dict[str, str]:
    """Grids that differ explain times that do."""
    return {"nodes of sigma0, nu, delta0": ", against ".join(map(_fit, problems))}


def many_scores(context: Context) -> list[Row]:
    """A hundred times as many scores of each data set; only their sums enter."""
    few, many = 10, context.size(1000, 100)
    count = context.size(50, 14)
    problems = [simulated_comparison(count, n) for n in (few, many)]
    measured = alternately(*(seconds(lambda p=p: _fit(p)) for p in problems), context.repetitions)
    return [
        Row(
            "many_scores",
            f"quadrature, {few} scores a data set",
            f"{many:,} scores a data set",
            "s",
            *measured,
            _nodes(problems),
        )
    ]


def few_datasets(context: Context) -> list[Row]:
    """The slowest of twenty tables of few data sets against the median one, for each prior."""
    count, rows = context.size(20, 3), []
    for words, priors in (("the default priors", hc.Priors()), *PAPERS_PRIORS):
        tables = [uneven_comparison(number, priors) for number in range(count)]
        fits = sorted((seconds(lambda p=p: _fit(p)) for p in tables), key=lambda fit: fit())
        slowest, median = fits[-1], fits[count // 2]
        measured = alternately(slowest, median, context.repetitions)
        what = f"quadrature, {words}, the slowest of {count} tables of 3 and 1,000 scores"
        rows.append(Row("few_datasets", what, "the median one", "s", *measured))
    return rows


def exponent(context: Context) -> list[Row]:
    """The power of q with which the cost grows, from the ends, and the seconds in between."""
    counts = context.size((50, 200, 1000, 5000, 20_000), (14, 40, 140))
    problems = {count: simulated_comparison(count) for count in counts}
    first, last = counts[0], counts[-1]
    measured = alternately(
        seconds(lambda: _fit(problems[first])), seconds(lambda: _fit(problems[last])), context.repetitions
    )
    row = Row("exponent", f"quadrature, {first} data sets", f"{last:,} data sets", "s", *measured)
    between = {f"s at {count:,}": seconds(lambda p=problems[count]: _fit(p))() for count in counts[1:-1]}
    details = {"exponent of q": math.log(row.ratio) / math.log(last / first)} | between
    return [Row(row.name, row.measured, row.against, row.unit, row.values, row.others, details)]


def plans(context: Context) -> list[Row]:
    """A design analysis with two processes against one."""
    simulations, datasets = context.size((100, (10, 20, 30, 50)), (2, (20, 30)))

    def run(jobs: int) -> None:
        plan(
            delta0=0.02,
            sigma0=0.01,
            standard_deviation=0.03,
            n_datasets=datasets,
            simulations=simulations,
            n_jobs=jobs,
            progress=False,
        )

    measured = alternately(seconds(lambda: run(2)), seconds(lambda: run(1)), context.repetitions)
    details = {"fits": simulations * len(datasets)}
    return [Row("plan", "plan, two processes", "one process", "s", *measured, details)]
