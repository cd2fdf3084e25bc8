"""What the closed quadratic form gains over the paper's matrix form, and what a whole fit costs.

Both programs are sampled by the same engine in one run; the ratio is of seconds for each effective draw, the smallest
bulk effective sample size of delta0, sigma0 and nu. Time and memory of ``fit()`` are measured in fresh processes.

    python scripts/benchmark.py                                   # the bundled KEEL scores
    python scripts/benchmark.py --scores scores.csv.gz --left nbc --right j48 --engine cmdstan
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import hiercomp as hc
from hiercomp.diagnostics import diagnose
from hiercomp.engines import SamplerSettings, choose_engine
from hiercomp.model import HierarchicalModel
from hiercomp.pairing import pair_scores
from hiercomp.priors import Priors
from hiercomp.score_files import read_score_file
from hiercomp.scores import tidy_scores
from hiercomp.stan_programs import StanProgram

POPULATION = ("delta0", "sigma0", "nu")


def load(arguments: argparse.Namespace) -> hc.HierarchicalComparison:
    """The comparison to measure."""
    table = hc.load_scores("keel") if arguments.scores is None else read_score_file(arguments.scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        return hc.HierarchicalComparison(table, left=arguments.left, right=arguments.right)


def matrix_form(model: HierarchicalModel, x: np.ndarray, settings: SamplerSettings) -> StanProgram:
    """The paper's program for the same data, prior and initial values; always centred."""
    closed = model.program(np.ones(len(x), dtype=bool), settings.chains, settings.seed)
    shared = ("q", "delta0_bound", "sigma_upper", "sigma0_upper", "nu_lower", "alpha_limits", "beta_limits")
    data = {name: closed.data[name] for name in shared} | {"n": x.shape[1], "x": x, "rho": float(model.rho[0])}
    starts = []
    for start in closed.initial_values:
        values = {name: value for name, value in start.items() if name != "z"}
        starts.append(values | {"delta": values.pop("delta_centred")})
    return StanProgram("reference_quadratic_form", data, tuple(starts), closed.variables)


def differences_in_order(arguments: argparse.Namespace, comparison: hc.HierarchicalComparison) -> np.ndarray:
    """All score differences, shape (q, n); data sets without variation get a spread of the rope about their mean."""
    table = hc.load_scores("keel") if arguments.scores is None else read_score_file(arguments.scores)
    pairs = pair_scores(tidy_scores(table), arguments.left, arguments.right, drop=False).frame
    differences = comparison.differences
    x = (pairs["right"] - pairs["left"]).to_numpy(copy=True).reshape(len(differences.datasets), -1)
    for row in np.flatnonzero(differences.constant):
        noise = np.where(np.arange(x.shape[1]) % 2 == 0, 1.0, -1.0)
        x[row] += noise * np.sqrt(differences.sum_of_squares[row] / np.sum((noise - noise.mean()) ** 2))
    return x


def compare_programs(arguments: argparse.Namespace) -> None:
    """Print seconds, effective draws and their ratio for both programs."""
    comparison = load(arguments)
    model = HierarchicalModel.of(comparison.differences, Priors())
    engine = choose_engine(arguments.engine)
    settings = SamplerSettings(seed=arguments.seed, progress=False)
    programs = {
        "matrix form (paper)": matrix_form(model, differences_in_order(arguments, comparison) / model.unit, settings),
        "closed form": model.program(model.centred(), settings.chains, settings.seed),
    }
    table = Table(title=f"{arguments.left} against {arguments.right}, {engine.version()}, 4 x 1,000 draws")
    for name in ("program", "seconds", "least effective draws", "ms for each effective draw"):
        table.add_column(name, justify="right")
    costs = []
    for name, program in programs.items():
        if arguments.engine == "cmdstan":
            engine.sample(program, SamplerSettings(warmup=100, draws=100, progress=False))  # compiles it
        started = time.perf_counter()
        draws = engine.sample(program, settings)
        seconds = time.perf_counter() - started
        effective = diagnose({key: draws.variables[key] for key in POPULATION}, draws.statistics).ess_bulk
        costs.append(seconds / effective)
        table.add_row(name, f"{seconds:.2f}", f"{effective:.0f}", f"{1000 * costs[-1]:.2f}")
    console = Console(width=120)
    console.print(table)
    console.print(f"The closed form is {costs[0] / costs[1]:.0f} times faster for each effective draw.")


FIT = """
import json, resource, sys, time
started = time.perf_counter()
import argparse
sys.path.insert(0, {folder!r})
from benchmark import load
comparison = load(argparse.Namespace(**json.loads(sys.argv[1])))
import warnings; warnings.simplefilter("ignore")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
prepared = time.perf_counter()
result = comparison.fit({engine!r}, progress=False)
first = time.perf_counter() - prepared
prepared = time.perf_counter()
result = comparison.fit({engine!r}, progress=False)
again = time.perf_counter() - prepared
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([first, again, after / 1024, (after - before) / 1024, result.attempts[-1].draws, result.status]))
"""


def measure_fit(arguments: argparse.Namespace) -> None:
    """Print time and memory of a whole ``fit()`` in a fresh process, the first (with imports) and the second."""
    code = FIT.format(folder=str(Path(__file__).resolve().parent), engine=arguments.engine)
    plain = json.dumps({name: None if value is None else str(value) for name, value in vars(arguments).items()})
    done = subprocess.run([sys.executable, "-c", code, plain], capture_output=True, text=True, check=True)
    first, again, peak, added, draws, status = json.loads(done.stdout.splitlines()[-1])
    Console(width=120).print(
        f"fit() with the {arguments.engine} engine: {first:.2f} s the first time in a process (imports of ArviZ and "
        f"xarray included), {again:.2f} s after that; 4 x {draws:,} draws, status {status}; {peak:.0f} MB at its peak, "
        f"{added:.0f} MB of them for the fit."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path)
    parser.add_argument("--left", default="naive_bayes")
    parser.add_argument("--right", default="decision_tree")
    parser.add_argument("--engine", default="embedded", choices=["embedded", "cmdstan"])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    measure_fit(arguments)
    compare_programs(arguments)


if __name__ == "__main__":
    main()
