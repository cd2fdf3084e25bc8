"""ArviZ's diagnostics of a fit, on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hiercomp.posterior.fit import Fit

PAGE = (7.1, 8.4)  # inches
DOTS = 90  # an inch
MOST_DRAWN = 100  # draws of a chain in the rank and the pair plot
# ArviZ's function, its title, and the size of its own figure in inches
PARTS = (
    ("plot_trace", "Traces", (9.0, 2.6)),
    ("plot_rank", "Ranks (within the bands: the chains agree)", (9.0, 2.6)),
    ("plot_ess", "Effective draws of small intervals", (9.0, 2.6)),
    ("plot_energy", "Energy", (4.4, 3.2)),
    ("plot_forest", "Chains side by side", (4.4, 3.2)),
    ("plot_pair_focus", "sigma0 against the others (a funnel would be trouble)", (9.0, 4.2)),
)


def plot_diagnostics(result: Fit) -> Figure:
    """Trace, rank, effective sample size, energy, forest and pair plots of the population's parameters, by ArviZ.

    Each of ArviZ's functions works directly on ``result.datatree`` (``arviz_plots.plot_trace(result.datatree)``) and
    gives vector graphics; this function puts images of the usual six on one page. The pairs are those with sigma0,
    where a funnel would show.

    Parameters
    ----------
    result : ComparisonResult

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        If nothing was sampled, because the scores are identical.
    """
    import matplotlib.pyplot as plt

    if not result.attempts:
        raise ArgumentError("Nothing was sampled, so there is nothing to diagnose.")
    page = plt.figure(figsize=PAGE)
    margins = {"left": 0.02, "right": 0.98, "bottom": 0.01, "top": 0.97, "hspace": 0.12, "wspace": 0.02}
    rows: list[Any] = [[0, 0], [1, 1], [2, 2], [3, 4], [5, 5]]
    panels = page.subplot_mosaic(rows, height_ratios=[1, 1, 1, 1.3, 1.6], gridspec_kw=margins)
    for number, (function, title, size) in enumerate(PARTS):
        panels[number].imshow(_picture(result.datatree, function, size), interpolation="antialiased")
        panels[number].set_axis_off()
        panels[number].set_title(title, fontsize="small", loc="left")
    return page


def _picture(tree: Any, function: str, size: tuple[float, float]) -> np.ndarray:
    """The plot of one of ArviZ's functions, as an image."""
    import arviz_plots
    import matplotlib.pyplot as plt
    import xarray as xr

    options: dict[str, Any] = {"backend": "matplotlib"}
    if function != "plot_energy":
        options["var_names"] = [name for name in ("delta0", "sigma0", "nu") if name in tree["posterior"].data_vars]
    if function == "plot_ess":
        options["min_ess"] = 100 * tree["posterior"].sizes["chain"]
    if function == "plot_pair_focus":
        options["focus_var"] = "sigma0"
        options["var_names"].remove("sigma0")
    if function in ("plot_rank", "plot_pair_focus"):  # what they cost grows with the draws, what they show does not
        posterior = tree["posterior"].dataset
        step = -(-posterior.sizes["draw"] // MOST_DRAWN)
        tree = xr.DataTree.from_dict({"posterior": posterior.isel(draw=slice(None, None, step))})
    if function == "plot_rank":
        options["stats"] = {"ecdf_pit": {"n_simulations": 100}}
    drawn = getattr(arviz_plots, function)(tree, **options)
    figure = drawn.viz["figure"].item()
    try:
        figure.set_size_inches(size)
        figure.set_dpi(DOTS)
        figure.canvas.draw()
        return np.asarray(figure.canvas.buffer_rgba()).copy()
    finally:
        plt.close(figure)
