"""Long Markov chains for the six pairs of four WEKA classifiers, against which the quadrature engine is tested.

4 x 50,000 draws a pair with small steps; the parameterisation with fewer divergent transitions is kept, and what
diverged is written beside the numbers. Takes about half an hour.

    python scripts/make_long_chains.py --scores scores.csv.gz --output tests/long_chains.json
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from pathlib import Path

import numpy as np

import hiercomp as hc
from hiercomp.engines import ENGINES, SamplerSettings
from hiercomp.files.table import read_score_file
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.diagnostics import diagnose
from hiercomp.posterior.next_dataset import next_dataset
from hiercomp.rope import Rope

ALGORITHMS = ("nbc", "aode", "hnb", "j48", "j48gr")
POPULATION = ("delta0", "sigma0", "nu")
ROPE = 0.01


def long_chains(comparison: hc.HierarchicalComparison, draws: int, seed: int) -> dict[str, object]:
    """The probabilities of one pair with their Monte Carlo errors, and the diagnostics of delta0, sigma0 and nu."""
    model = HierarchicalModel.of(comparison.differences, Priors())
    settings = SamplerSettings(4, 2000, draws, seed, 0.99, progress=False)
    runs = []
    for centred in (model.centred(), np.zeros(len(model.mean), dtype=bool)):
        sampled = ENGINES["embedded"].sample(model.program(centred, 4, seed), settings)
        population = {name: sampled.variables[name] for name in POPULATION}
        checked = diagnose(population, sampled.statistics)
        runs.append((checked.divergences, checked, population))
        if checked.divergences == 0 and not checked.failures:
            break
    _, checked, population = min(runs, key=lambda run: run[0])
    seen = next_dataset(*(population[name] for name in POPULATION), Rope.of(ROPE / model.unit))
    diagnostics = {name: value for name, value in checked.to_dict().items() if name != "failures"}
    return seen.to_dict() | {"diagnostics": diagnostics, "failures": list(checked.failures)}


def main() -> None:
    """Sample every pair and write the JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=2017)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", hc.HiercompWarning)
    scores = read_score_file(arguments.scores)
    algorithms = [name for name in ALGORITHMS if name in set(scores["algorithm"])]
    found: dict[str, object] = {}
    for left, right in itertools.combinations(algorithms, 2):
        comparison = hc.HierarchicalComparison(scores, left=left, right=right, rope=ROPE)
        found[f"{left}-{right}"] = long_chains(comparison, arguments.draws, arguments.seed)
        print(left, right, json.dumps(found[f"{left}-{right}"]), flush=True)
        arguments.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
