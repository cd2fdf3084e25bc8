"""The pairs of the bundled scores with rows, features and classes as covariates: the table of docs/covariates.md.

python scripts/keel_covariates.py
"""

from __future__ import annotations

import time
import warnings
from itertools import combinations

import numpy as np
import pandas as pd

import hiercomp as hc


def keel_covariates() -> pd.DataFrame:
    """Three covariates of the KEEL data sets: logs, because twice the rows matter as much at 200 as at 1,000."""
    meta = hc.load_covariates("keel")
    return pd.DataFrame(
        {
            "log10_rows": np.log10(meta["rows"]),
            "log10_features": np.log10(meta["features"]),
            "log2_classes": np.log2(meta["classes"]),
        }
    )


def main() -> None:
    """Print the table in Markdown."""
    warnings.simplefilter("ignore")
    scores, covariates = hc.load_scores("keel"), keel_covariates()
    print("| pair (left - right) | rows | features | classes | sigma0 without, with | elpd gain (error) |")
    print("|---|---|---|---|---|---|")
    for left, right in combinations(sorted(scores["algorithm"].unique()), 2):
        start = time.process_time()
        comparison = hc.HierarchicalComparison(scores, left, right, rope=0.01, covariates=covariates)
        result = comparison.fit("embedded", progress=False)
        found = result.effects()
        slopes = [
            f"{row.slope:+.3f} ({row.lower:+.3f}, {row.upper:+.3f})" for row in found.to_frame().itertuples(index=False)
        ]
        spreads = f"{found.sigma0_without:.3f}, {found.sigma0:.3f}"
        gain = f"{found.elpd_gain:+.1f} ({found.elpd_gain_se:.1f})"
        print(f"| {left} - {right} | {' | '.join(slopes)} | {spreads} | {gain} |", flush=True)
        print(f"  {time.process_time() - start:.1f} s, {len(result.attempts)} run(s), {result.status}", flush=True)


if __name__ == "__main__":
    main()
