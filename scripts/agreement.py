"""How the integral and Stan's draws agree on random problems, and how often an error of the integral is stated too small.

Each problem is fitted with engine="auto". The distance of a quantity is the difference of integral and draws over their
combined error; where both are right it exceeds 1.96 in at most 5% of the cases. With --doubled every problem is also
integrated on a finer grid, with twice the nodes of every axis, and the difference compared with the stated error. What is
finished is kept in a file, so the run can be stopped and resumed. From number 500 on there are constant data sets, ropes of
zero, asymmetric and wide ones, and the scales are 1e-8 and 1e8; each 180 problems in turn have every kind under every prior
with every rope, but constant data sets with none of zero. From number 2000 on, questions are answered right or wrong
(likelihood="trinomial"); each 20 problems in turn have every prior with every rope.

    python scripts/agreement.py --problems 500 --jobs 2 --results agreement.jsonl
    python scripts/agreement.py --problems 2000 --doubled --jobs 2 --results doubled.jsonl
    python scripts/agreement.py --first 500 --problems 180 --doubled --results doubled.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is loaded: a process for each core

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from scipy import stats
from study_quadrature import settings

import hiercomp as hc
from hiercomp.engines.quadrature import likelihood
from hiercomp.engines.quadrature.engine import QuadratureEngine
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.fit import integrand
from hiercomp.posterior.next_dataset import QUANTITIES

KINDS = ("ordinary", "ragged", "near-identical", "outlying", "bimodal", "heavy-tailed", "tiny scale", "huge scale")
ALL_KINDS = (*KINDS, "constant")  # from this number on
FIRST_OF_ALL, FIRST_TRINOMIAL = 500, 2000
ROPES = ("usual", "zero", "asymmetric", "wide")
PRIORS = {
    "default": hc.Priors(),
    "juarez_steel": hc.Priors.juarez_steel(),
    "kruschke": hc.Priors.kruschke(),
    "gaussian": hc.Priors.gaussian(),
    "nu_lower=0": hc.Priors(nu_lower=0.0),
}
# Of the constants of the quadrature engine; less mass is left out too
DOUBLED = {
    "engine.NODES_FOR_LENGTH": (7.0, 10.6, 14.0),
    "engine.NODES_FOR_LOG_SIGMA0": (4.4, 14.8, 14.0),
    "engine.NODES_FOR_LOG_SIGMA0_TO_ZERO": (3.8, 9.2, 16.0),
    "engine.NODES_AT_LEAST": 8.0,
    "engine.NODES_FOR_LENGTH_SPLINE": (7.2, 6.0),
    "engine.FEWEST_SPLINE": 22,
    "engine.NODES_FOR_UNIT": 6.0,
    "engine.LEFT_OUT": 1e-8,
    "engine.MUCH_WORK": 4_000_000,
    "engine.MUCH_WORK_FOR_FEW": 4_000_000,
    "engine.MOST_REFINED": 12_000_000,
    "grid.FINE_NODES": (120, 72, 321),
    "grid.SMOOTH_NODES": (56, 56, 321),
    "grid.LIKELIHOOD_ERROR": 1e-7,
    "trinomial.KNOTS": 513,
    "trinomial.LARGEST_STEP": likelihood.STEP / 2,
}


class Problem(NamedTuple):
    """A random problem: its kind, the names of its prior and of its rope, and the comparison."""

    kind: str
    prior: str
    rope: str
    comparison: hc.HierarchicalComparison


def problem(number: int) -> Problem:
    """A random problem: 2 to 60 data sets of 3 to 100 scores, or of 10 to 1,000 questions."""
    generator = np.random.default_rng([13, number])
    if number >= FIRST_TRINOMIAL:
        return trinomial_problem(number - FIRST_TRINOMIAL, generator)
    kinds = KINDS if number < FIRST_OF_ALL else ALL_KINDS
    turn, place = divmod(number if number < FIRST_OF_ALL else number - FIRST_OF_ALL, len(kinds))
    kind, name = kinds[place], list(PRIORS)[turn % len(PRIORS)]
    rope = "usual" if number < FIRST_OF_ALL else ROPES[turn // len(PRIORS) % len(ROPES)]
    q = _size(generator)
    n = generator.integers(3, 101, q) if kind == "ragged" else np.full(q, generator.choice([3, 5, 10, 30, 100]))
    rho = generator.choice([0.0, 0.1, 0.2])
    spread = 10 ** generator.uniform(-1.5, 1.0)
    centre = generator.normal(0.0, 0.5)
    effect = {
        "near-identical": lambda: 0.01 * generator.normal(size=q),
        "outlying": lambda: np.append(generator.choice([-30.0, 30.0]), centre + 0.3 * generator.normal(size=q - 1)),
        "bimodal": lambda: np.where(generator.random(q) < 0.5, -2.0, 2.0) + 0.2 * generator.normal(size=q),
        "heavy-tailed": lambda: centre + spread * generator.standard_t(1.5, q),
    }.get(kind, lambda: centre + spread * generator.standard_t(6, q))()  # fmt: skip
    sd = generator.gamma(4, 1 / 4, q)
    scales = (1e-6, 1e6) if number < FIRST_OF_ALL else (1e-8, 1e8)
    scale = dict(zip(("tiny scale", "huge scale"), scales, strict=True)).get(kind, 0.02)
    half_width = scale * 10 ** generator.uniform(-1.5, 0.5)
    rows = [
        scale * (d + s * (np.sqrt(rho) * generator.normal() + np.sqrt(1 - rho) * generator.normal(size=size)))
        for d, s, size in zip(effect, sd, n, strict=True)
    ]
    if kind == "constant":  # differences that never vary, in up to half of the data sets
        for place in generator.choice(q, max(1, int(generator.uniform(0, 0.5) * q)), replace=False):
            rows[place] = np.full_like(rows[place], rows[place].mean())
        rope = "usual" if rope == "zero" else rope  # which such data are refused with
    left = [np.zeros_like(row) for row in rows]
    options: dict[str, Any] = {"priors": PRIORS[name], "higher_is_better": True}
    options |= {"rho": rho, "rope": _ends(rope, half_width, generator)}
    return Problem(kind, name, rope, hc.HierarchicalComparison.from_arrays(left, rows, **options))


def trinomial_problem(number: int, generator: np.random.Generator) -> Problem:
    """A random problem of questions that are answered right or wrong: one of the likelihood (T3).

    The data sets' differences are those of a Student-t population, as far as their discordance lets them be. In a third of
    the problems one is far from the others; in another third few questions are discordant.
    """
    name, rope = list(PRIORS)[number % len(PRIORS)], ROPES[number // len(PRIORS) % len(ROPES)]
    q, shape = _size(generator), generator.choice(["ordinary", "outlying", "concordant"])
    n = generator.choice([10, 30, 100, 300, 1000], q)
    discordance = generator.uniform(0.0, 0.05 if shape == "concordant" else 1.0, q)
    delta = generator.normal(0.0, 0.1) + 10 ** generator.uniform(-3.0, -0.5) * generator.standard_t(6, q)
    if shape == "outlying":
        delta[0], discordance[0] = generator.choice([-0.9, 0.9]), 0.95
    delta = np.clip(delta, -discordance, discordance)
    left, right = [], []
    for difference, discordant, questions in zip(delta, discordance, n, strict=True):
        outcome = generator.random(questions)
        left.append((outcome < (discordant - difference) / 2).astype(float))
        right.append((outcome > 1 - (discordant + difference) / 2).astype(float))
    right[-1][0] = 1 - left[-1][0]  # one discordant question at least
    options: dict[str, Any] = {"priors": PRIORS[name], "higher_is_better": True, "likelihood": "trinomial"}
    options |= {"rho": 0, "rope": _ends(rope, 10 ** generator.uniform(-3.0, -1.5), generator)}
    return Problem("trinomial", name, rope, hc.HierarchicalComparison.from_arrays(left, right, **options))


def _size(generator: np.random.Generator) -> int:
    """A number of data sets."""
    return int(np.exp(generator.uniform(np.log(2), np.log(61))))


def _ends(rope: str, half_width: float, generator: np.random.Generator) -> tuple[float, float]:
    return {
        "usual": (-half_width, half_width),
        "zero": (0.0, 0.0),
        "asymmetric": (-half_width * generator.uniform(0, 0.5), half_width * generator.uniform(1, 5)),
        "wide": (-20 * half_width, 20 * half_width),
    }[rope]


def agreement(number: int) -> dict[str, Any]:
    """What `fit` says of a problem."""
    kind, prior, rope, comparison = problem(number)
    started = time.perf_counter()
    result = comparison.fit("auto", progress=False)
    seconds = time.perf_counter() - started
    diagnostics = result.diagnostics
    distances = {quantity.name: quantity.distance for quantity in diagnostics.verification.quantities}
    return {
        "number": number,
        "kind": kind,
        "prior": prior,
        "rope": rope,
        "datasets": len(comparison.differences.n),
        "seconds": seconds,
        "status": result.status,
        "draws_hold": diagnostics.draws_hold,
        "distances": distances,
    }


def doubling(number: int) -> dict[str, Any]:
    """How the errors stated for a problem compare with the change on a finer grid."""
    kind, prior, rope, comparison = problem(number)
    result, seconds = _timed(comparison)
    usual = result.posterior.integration
    model = HierarchicalModel.of(comparison.differences, comparison.priors)
    scaled = comparison.rope.scaled(1 / model.unit)
    with settings(DOUBLED):
        finer = QuadratureEngine().integrate(integrand(model), scaled)
        log_marginal_likelihood = finer.log_marginal_likelihood  # computed here, while the finer settings hold
    found, stated = usual.regions(scaled)
    changes = dict(zip(QUANTITIES, found.distance(finer.regions(scaled)[0]).values(), strict=True))
    changes["log_marginal_likelihood"] = abs(usual.log_marginal_likelihood - log_marginal_likelihood)
    stated |= {"log_marginal_likelihood": usual.log_marginal_likelihood_error}
    ratios = {key: changes[key] / stated[key] for key in changes}
    return {
        "number": number,
        "kind": kind,
        "prior": prior,
        "rope": rope,
        "datasets": len(comparison.differences.n),
        "seconds": seconds,
        "status": result.status,
        "stated": max(stated[key] for key in QUANTITIES),
        "stated_by_finer": finer.largest_error,
        "too_small": max([changes[key] for key in QUANTITIES if ratios[key] > 1], default=0.0),
        "largest_change": max(changes[key] for key in QUANTITIES),
        "change_of_log_marginal_likelihood": changes["log_marginal_likelihood"],
        "ratios": ratios,
    }


def timing(number: int) -> dict[str, Any]:
    """How long the integration of a problem takes, seconds of processor time: the smallest of three, as timeit advises."""
    comparison = problem(number).comparison
    return {"number": number, "seconds": min(_timed(comparison)[1] for _ in range(3))}


def _timed(comparison: hc.HierarchicalComparison) -> tuple[hc.ComparisonResult, float]:
    started = time.process_time()
    result = comparison.fit("quadrature", progress=False)
    return result, time.process_time() - started


def finished(path: Path | None) -> dict[int, dict[str, Any]]:
    """What an earlier run has kept, by the number of the problem."""
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["number"]: row for row in rows}


def run(computed: Any, numbers: list[int], jobs: int, path: Path | None) -> list[dict[str, Any]]:
    """A row for each problem, those that were kept first."""
    kept = finished(path)
    rows = [kept[number] for number in numbers if number in kept]
    todo = [number for number in numbers if number not in kept]
    for row in Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(_quietly)(computed, n) for n in todo):
        rows.append(row)
        if path is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    return rows


def _quietly(computed: Any, number: int) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        found: dict[str, Any] = computed(number)
    return found


def agreement_tables(rows: list[dict[str, Any]]) -> list[Table]:
    """Status by kind of problem, and distances against those of a normal distribution."""
    by_kind = Table(title=f"engine='auto' on {len(rows)} random problems")
    for column in ("kind", "problems", "ok", "warned", "failed", "largest distance", "median s", "longest s"):
        by_kind.add_column(column)
    for kind in (*ALL_KINDS, "trinomial", "all"):
        some = [row for row in rows if kind in (row["kind"], "all")]
        if not some:
            continue
        status = [sum(row["status"] == one for row in some) for one in ("ok", "warned", "failed")]
        farthest = [max(row["distances"].values()) for row in some if row["draws_hold"]]
        seconds = [row["seconds"] for row in some]
        by_kind.add_row(kind, str(len(some)), *map(str, status), f"{max(farthest, default=0):.1f}",
                        f"{np.median(seconds):.1f}", f"{max(seconds):.0f}")  # fmt: skip
    sound = [row for row in rows if row["draws_hold"]]
    distances = np.array([distance for row in sound for distance in row["distances"].values()])
    chance = Table(title=f"{len(distances):,} distances where the draws pass their checks")
    for column in ("beyond", "share, %", "if errors were normal and exact, %"):
        chance.add_column(column)
    for limit in (1.0, 1.96, 2.58, 3.29, 4.0):
        expected = 200 * stats.norm.sf(limit)
        chance.add_row(f"{limit:g}", f"{100 * (distances > limit).mean():.2f}", f"{expected:.2f}")
    # The quantities of one problem move together: between one and all of them are independent
    ends = [stats.norm.isf((1 - 0.5 ** (1 / count)) / 2) for count in (len(sound), len(distances))]
    chance.caption = (
        f"Largest {distances.max():.1f}; by chance the median of the largest is {ends[0]:.1f} to {ends[1]:.1f}."
    )
    return [by_kind, chance]


def doubling_tables(rows: list[dict[str, Any]]) -> list[Table]:
    """How often, and by how much, the stated error was too small."""
    table = Table(title=f"Stated errors against a finer grid, {len(rows)} random problems")
    for column in ("kind", "problems", "ok", "warned", "failed", "too small", "largest ratio", "largest change",
                   "log marginal likelihood: too small", "largest change", "median s of CPU", "90%", "longest"):  # fmt: skip
        table.add_column(column)
    for kind in (*ALL_KINDS, "trinomial", "all"):
        some = [row for row in rows if kind in (row["kind"], "all")]
        if not some:
            continue
        largest = np.array([max(row["ratios"][name] for name in QUANTITIES) for row in some])
        marginal = np.array([row["ratios"]["log_marginal_likelihood"] for row in some])
        seconds = [row["seconds"] for row in some]
        status = [str(sum(row.get("status") == one for row in some)) for one in ("ok", "warned", "failed")]
        table.add_row(kind, str(len(some)), *status, str((largest > 1).sum()), f"{largest.max():.2f}",
                      f"{max(row['largest_change'] for row in some):.1e}", str((marginal > 1).sum()),
                      f"{max(row['change_of_log_marginal_likelihood'] for row in some):.1e}",
                      f"{np.median(seconds):.2f}", f"{np.quantile(seconds, 0.9):.2f}", f"{max(seconds):.1f}")  # fmt: skip
    return [table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--doubled", action="store_true", help="compare stated errors with a finer grid, without draws")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, help="a file that keeps what is finished, and is read again")
    arguments = parser.parse_args()
    numbers = list(range(arguments.first, arguments.first + arguments.problems))
    computed, tables = (doubling, doubling_tables) if arguments.doubled else (agreement, agreement_tables)
    rows = run(computed, numbers, arguments.jobs, arguments.results)
    for table in tables(rows):
        Console(width=160).print(table)


if __name__ == "__main__":
    main()
