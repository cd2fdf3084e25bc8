"""``hiercomp doctor``: which engines work here."""

from __future__ import annotations

import warnings

import typer

from hiercomp.cli.shared import EXIT_ERROR, one_line
from hiercomp.cli.streams import say
from hiercomp.errors import HiercompError, HiercompWarning


def doctor() -> None:
    """Report which engines work here, by running each on a small problem."""
    import numpy as np

    from hiercomp.comparison import HierarchicalComparison
    from hiercomp.engines import ENGINES

    generator = np.random.default_rng(0)
    scores = generator.normal(0.8, 0.02, size=(6, 10))
    working = 0
    for name, engine in ENGINES.items():
        reason = engine.why_unavailable()
        if reason is None:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", HiercompWarning)
                    comparison = HierarchicalComparison.from_arrays(
                        scores, scores + generator.normal(0.01, 0.02, size=scores.shape), folds=10
                    )
                    typer.echo(f"Trying {engine.version()} ...", err=True)
                    found = comparison.fit(
                        name, chains=2, warmup=200, draws=200, monte_carlo_error=None, progress=False
                    )
                if found.status == "failed":
                    reason = "; ".join(found.diagnostics.failures)
            except HiercompError as error:
                reason = str(error)
        working += reason is None
        say(f"{name}: works, {engine.version()}" if reason is None else f"{name}: does not work; {one_line(reason)}")
    raise typer.Exit(0 if working else EXIT_ERROR)
