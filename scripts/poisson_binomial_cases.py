"""Two designs that the Poisson-binomial test tells apart and the signed-rank test does not.

In both cases the data sets have the same mean differences, half of them positive. In case 1 those with a positive
difference are measured precisely, in case 2 those with a negative one (`hiercomp.unequal_uncertainty_differences`; the
example is that of Table 3 of Corani & Benavoli 2015 with other values). Each case is simulated many times; P(X > q/2) and
the two-sided p-value of Wilcoxon's test are computed each time, and their distributions compared by the Kolmogorov-Smirnov
test.

    python scripts/poisson_binomial_cases.py --simulations 5000
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

import hiercomp as hc
from hiercomp.closed_form.simulated_differences import unequal_uncertainty_differences

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def simulate(case: int, simulations: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """P(X > q/2) and Wilcoxon's p of each simulation."""
    generator = np.random.default_rng([seed, case])
    majority, p = np.empty(simulations), np.empty(simulations)
    for number in range(simulations):
        differences = unequal_uncertainty_differences(generator, case)
        majority[number] = hc.poisson_binomial_test(differences, rho=0.1).p_right
        p[number] = hc.signed_rank_test(differences).pvalue
    return majority, p


def main() -> None:
    """Print the quantiles of both statistics in both cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    cases = {case: simulate(case, arguments.simulations, arguments.seed) for case in (1, 2)}
    table = Table(title=f"{arguments.simulations} simulations of each case, quantiles")
    for name in ("statistic", "case", *(f"{quantile:.0%}" for quantile in QUANTILES)):
        table.add_column(name, justify="left" if name == "statistic" else "right")
    for column, name in enumerate(("P(X > q/2)", "Wilcoxon p")):
        for case, values in cases.items():
            table.add_row(name, str(case), *(f"{value:.4f}" for value in np.quantile(values[column], QUANTILES)))
    Console().print(table)
    for column, name in enumerate(("P(X > q/2)", "Wilcoxon's p")):
        found = stats.ks_2samp(cases[1][column], cases[2][column])
        print(f"{name}: Kolmogorov-Smirnov distance between the cases {found.statistic:.4f}, p = {found.pvalue:.3g}")


if __name__ == "__main__":
    main()
