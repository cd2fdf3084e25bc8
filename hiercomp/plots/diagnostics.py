"""The sampler's diagnostics on one page: chains, ranks, divergences, R-hat, effective sample sizes, energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.errors import ArgumentError
from hiercomp.plots.style import COLOURS, INK, PAGE_WIDTH, labels, legend
from hiercomp.posterior.chains import convergence, energy_fraction
from hiercomp.posterior.diagnostics import LARGEST_R_HAT, SMALLEST_ESS_PER_CHAIN
from hiercomp.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hiercomp.posterior.fit import Fit

HEIGHT = 5.2  # inches
CHAINS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")  # Okabe & Ito
MOST_DRAWN = 400  # draws of a chain in its trace, and points of a scatter from each chain
LEVEL = 0.95  # of the band of the ranks, for all chains together


def plot_diagnostics(result: Fit) -> Figure:
    """Six checks of the sampler on one page.

    Above: the draws of the population's parameter that mixed worst, the ranks of each chain's draws among all, and
    centre against spread with the divergent transitions, where a funnel would show. Below: R-hat and effective sample
    sizes of every parameter with their thresholds, and the energy. The sampler of mixtures has no energy and no divergent
    transitions; the chains of the log likelihood take the place of the energy.

    The ranks are drawn as the difference between the distribution of a chain's ranks and the uniform one; chains that
    agree stay within the band with a probability of 95%. For the same checks by ArviZ, give its functions
    ``result.datatree``, such as ``arviz_plots.plot_rank_dist(result.datatree)``.

    Parameters
    ----------
    result : ComparisonResult
        Sampled, or integrated and sampled; also one whose computation failed.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        If nothing was sampled: the posterior was only integrated, or the scores are identical.
    """
    import matplotlib.pyplot as plt

    if result.differences.identical:
        raise ArgumentError("Nothing was sampled, because the scores are identical; there is nothing to diagnose.")
    if result.posterior.remakes_draws:
        raise ArgumentError(
            "Nothing was sampled: the posterior was integrated, so there are no chains to diagnose. "
            "result.diagnostics has the check of the integration; fit() and fit(engine='embedded') sample."
        )
    tree = result.datatree
    draws = {str(name): np.asarray(values) for name, values in tree["posterior"].data_vars.items()}
    every = np.concatenate([values.reshape(*values.shape[:2], -1) for values in draws.values()], axis=2)
    checks = convergence(every)
    population = [name for name in ("delta0", "sigma0", "nu", "concentration") if name in draws]
    at = {name: place for place, name in enumerate(_columns(draws)) if name in population}
    worst = max(population, key=lambda name: np.nan_to_num(checks["r_hat"][at[name]], nan=np.inf))
    statistics = {str(name): np.asarray(values) for name, values in tree["sample_stats"].data_vars.items()}
    page = plt.figure(figsize=(PAGE_WIDTH, HEIGHT), layout="constrained")
    above, below = page.subplots(2, 3)
    _trace(above[0], draws[worst], worst)
    _ranks(above[1], draws[worst], worst, float(checks["ess_bulk"][at[worst]]))
    _divergences(above[2], draws["delta0"], draws["sigma0"], statistics.get("diverging"))
    _r_hat(below[0], checks["r_hat"])
    _sizes(below[1], checks["ess_bulk"], checks["ess_tail"], SMALLEST_ESS_PER_CHAIN * every.shape[0])
    if "energy" in statistics:
        _energy(below[2], statistics["energy"])
    else:
        _trace(below[2], statistics["lp"], "log likelihood")
    page.draw_without_rendering()  # the legends take the layout two passes
    return page


def _columns(draws: dict[str, FloatArray]) -> list[str]:
    """The name of the parameter in each column of all draws."""
    return [name for name, values in draws.items() for _ in range(int(np.prod(values.shape[2:], dtype=int)))]


def _few(length: int) -> slice:
    return slice(None, None, -(-length // MOST_DRAWN))


def _trace(ax: Axes, values: FloatArray, name: str) -> None:
    """The draws of each chain in their order."""
    few = _few(values.shape[1])
    for number, chain in enumerate(values):
        ax.plot(np.arange(len(chain))[few], chain[few], color=CHAINS[number % len(CHAINS)], linewidth=0.5, alpha=0.8)
    ax.set_xlim(0, values.shape[1])
    labels(ax, "draw", name, f"Chains of {name}")


def _ranks(ax: Axes, values: FloatArray, name: str, size: float) -> None:
    """For each chain, the share of its draws below each quantile of all draws, minus the share that is expected."""
    chains = len(values)
    grid, gaps = rank_gaps(values)
    for number, gap in enumerate(gaps):
        colour = CHAINS[number % len(CHAINS)]
        ax.plot(grid, gap, color=colour, linewidth=1.0, label=f"chain {number + 1}")
    half = band_of_ranks(chains, size)
    if np.isfinite(half):
        ax.axhspan(-half, half, color=COLOURS["rope"], alpha=0.18, linewidth=0, zorder=0)
        ax.set_ylim(*(np.array([-1.15, 1.15]) * max(half, np.abs(gaps).max())))
    ax.axhline(0, color=COLOURS["rope"], linewidth=0.8, linestyle="--", zorder=0)
    ax.set_xlim(0, 1)
    labels(ax, "rank among all draws", "chain minus expected", f"Ranks of {name}")
    legend(ax, columns=4, handlelength=1.0, columnspacing=0.8, settled=False)


def rank_gaps(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Empirical distribution of each chain's normalised ranks minus the uniform one, on a grid.

    Parameters
    ----------
    values : ndarray, shape (chains, draws)

    Returns
    -------
    grid : ndarray, shape (points,)
    gaps : ndarray, shape (chains, points)
    """
    from scipy import stats

    ranks = (stats.rankdata(values).reshape(values.shape) - 0.5) / values.size
    grid = np.linspace(0, 1, 101)
    shares = [np.searchsorted(np.sort(chain), grid, side="right") / len(chain) for chain in ranks]
    return grid, np.array(shares) - grid


def band_of_ranks(chains: int, size: float) -> float:
    """Half the height of the band in which all chains stay with a probability of about 95% if they agree.

    By Kolmogorov's limit for ``size`` independent draws in all. A chain is compared with draws that include its own, so
    the variance is smaller by the factor 1 - 1/chains.

    Parameters
    ----------
    chains : int
    size : float
        Effective sample size of all chains together.

    Returns
    -------
    float
        NaN for a single chain.
    """
    from scipy import stats

    if chains < 2 or not size > 0:
        return np.nan
    quantile = stats.kstwobign.ppf(1 - (1 - LEVEL) / chains)
    return float(quantile * np.sqrt((1 - 1 / chains) * chains / size))


def _divergences(ax: Axes, centre: FloatArray, spread: FloatArray, divergent: FloatArray | None) -> None:
    """Draws of centre and spread, the divergent ones marked; None where the sampler has none."""
    diverging = np.zeros(centre.shape, dtype=bool) if divergent is None else divergent.astype(bool)
    few = _few(centre.shape[1])
    ax.scatter(centre[:, few], spread[:, few], s=4, color=INK, alpha=0.3, linewidths=0, label="draws")
    count = int(diverging.sum())
    if count:
        red = COLOURS["left"]
        ax.scatter(centre[diverging], spread[diverging], s=16, marker="x", color=red, linewidths=1.0, label="divergent")
    if (spread > 0).all():
        ax.set_yscale("log")
    labels(ax, "delta0", "sigma0", "Centre and spread" if divergent is None else counted(count, "divergence"))
    ax.tick_params(axis="x", labelsize="x-small")  # numbers with many digits, on a third of the page
    if count:
        legend(ax, columns=2, settled=False)


def _r_hat(ax: Axes, values: FloatArray) -> None:
    """R-hat of every parameter, from the largest, with the threshold."""
    known = np.sort(values[np.isfinite(values)])[::-1]
    ax.plot(np.arange(1, len(known) + 1), known, "o", color=INK, markersize=2.5)
    ax.axhline(LARGEST_R_HAT, color=COLOURS["left"], linewidth=0.9, linestyle="--", label=f"at most {LARGEST_R_HAT}")
    lowest = min(known.min(initial=1.0), 1.0)
    ax.set_ylim(lowest - 0.001, max(1.1 * (known.max(initial=1.0) - 1) + 1, LARGEST_R_HAT + 0.001))
    ax.ticklabel_format(axis="y", useOffset=False)
    largest = f"R-hat: at most {known[0]:.3f}" if len(known) else "R-hat"
    labels(ax, "parameters, largest first", "R-hat", largest)
    legend(ax, settled=False)


def _sizes(ax: Axes, bulk: FloatArray, tail: FloatArray, needed: int) -> None:
    """Effective sample sizes of every parameter, from the smallest, with the threshold."""
    smallest = np.inf
    for values, words, marker, colour in ((bulk, "bulk", "o", INK), (tail, "tail", "^", COLOURS["right"])):
        known = np.sort(values[np.isfinite(values)])
        ax.plot(np.arange(1, len(known) + 1), known, marker, color=colour, markersize=2.5, label=words)
        smallest = min(smallest, known.min(initial=np.inf))
    ax.axhline(needed, color=COLOURS["left"], linewidth=0.9, linestyle="--", label=f"at least {needed:,}")
    ax.set_ylim(0, None)
    at_least = f"Effective draws: at least {smallest:,.0f}" if np.isfinite(smallest) else "Effective draws"
    labels(ax, "parameters, smallest first", "effective draws", at_least)
    legend(ax, columns=3, handlelength=1.0, columnspacing=0.8, settled=False)


def _energy(ax: Axes, energy: FloatArray) -> None:
    """The energies around their mean, and the steps between them: chains that mix reach all energies in a few steps."""
    around, steps = (energy - energy.mean(axis=1, keepdims=True)).ravel(), np.diff(energy, axis=1).ravel()
    edges = np.histogram_bin_edges(np.concatenate([around, steps]), bins=50)
    for values, words, colour in ((around, "energy", INK), (steps, "its steps", COLOURS["right"])):
        counts, _ = np.histogram(values, bins=edges, density=True)
        ax.stairs(counts, edges, color=colour, linewidth=1.0, label=words)
        ax.stairs(counts, edges, color=colour, fill=True, alpha=0.15, linewidth=0)
    ax.set_yticks([])
    ax.set_ylim(0, None)
    labels(ax, "energy around its mean", title=f"Energy: E-BFMI {energy_fraction(energy):.2f}")
    legend(ax, columns=2, settled=False)
