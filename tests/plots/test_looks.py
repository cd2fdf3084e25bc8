"""Every plot at its default size, with names of 4 and of 40 letters: no text is cut off and none lies over another."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import hiercomp as hc
from hiercomp import plots
from hiercomp.planning.result import PlanResult
from hiercomp.posterior.diagnostics import SamplerDiagnostics
from hiercomp.posterior.sensitivity import Sensitivity, VariantResult
from tests.conftest import simulated_scores
from tests.long_names import long, named
from tests.tournaments import tournament

TOUCHING = 1.0  # pixels by which two boxes of letters may overlap: they include the space above and below the letters
SPACE = 4.0  # pixels between two texts of one line
SAMPLED = SamplerDiagnostics(4, 1000, 1.0, 4000, 4000, {}, 0, 0, 1.0)
LETTERS = (4, 40)
DATASETS = (3, 54)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@cache
def comparison(count: int, letters: int) -> hc.ComparisonResult:
    scores = simulated_scores(count, 2, centre=0.012, spread=0.015, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        fitted = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01).fit("quadrature")
    return named(fitted, letters)


@cache
def explained(count: int, letters: int) -> hc.ComparisonResult:
    """With one covariate, by the draws of an integral and made-up slopes."""
    given = comparison(count, letters)
    frame = pd.DataFrame({long("size", letters): np.arange(count)}, index=given.differences.dataset_names)
    differences = given.differences.with_covariates(frame)
    slope = np.random.default_rng(1).normal(0.01, 0.005, (*given.draws("delta0").shape, 1))
    variables = {name: given.draws(name) for name in ("delta0", "sigma0", "nu")} | {"slope": slope}
    posterior = hc.Regressed(variables, {}, {}, differences, SAMPLED, (), given.settings, "embedded", "made up")
    return replace(given, differences=differences, posterior=posterior)


def pairs(count: int, letters: int) -> hc.TournamentResult:
    names = tuple(long(f"{place:02}al", letters) for place in range(count))
    return tournament(comparison(3, 4), count, names=names)


def post_hoc(count: int, letters: int):
    generator = np.random.default_rng(1)
    scores = generator.normal(size=(30, count)) + np.linspace(0, 2, count) ** 2
    names = [long(f"{place:02}al", letters) for place in range(count)]
    return hc.nemenyi_test(pd.DataFrame(scores, columns=names))


def variants(letters: int) -> Sensitivity:
    names = (
        "as fitted",
        "nu: kruschke",
        "nu: juarez_steel",
        "nu: gaussian",
        "rho x 0.5",
        "rho x 2",
        "upper bounds x 100",
    )
    rows = [
        VariantResult(name, 0.02 * k, 0.1 * k, 1 - 0.12 * k, 0.004, "right" if k < 3 else "none", "ok")
        for k, name in enumerate(names)
    ]
    return Sensitivity(tuple(rows), (long("baye", letters), long("tree", letters)), 0.05, hc.Rope.of(0.01))


def plan_of(runs: tuple[int, ...], sizes: tuple[int, ...], letters: int) -> PlanResult:
    share = np.linspace(0.2, 0.9, len(sizes))
    counts = np.zeros((len(runs), len(sizes), 6), dtype=int)
    for place in range(len(runs)):
        counts[place, :, 2] = np.round(80 * share) + place
        counts[place, :, 0] = 2
        counts[place, :, 4] = 3
        counts[place, :, 3] = 100 - counts[place].sum(axis=1)
    names = (long("baye", letters), long("tree", letters))
    return PlanResult(sizes, runs, counts, 100, 0.05, hc.Rope.of(0.01), names, "a dream")


def t_test(count: int, letters: int):
    return hc.correlated_t_test(comparison(count, letters).differences, rope=0.01)


DRAWINGS: dict[str, Callable[[int, int], object]] = {
    "next_dataset": lambda n, k: plots.plot_next_dataset(comparison(n, k)),
    "simplex": lambda n, k: plots.plot_simplex(comparison(n, k)),
    "rope_curve": lambda n, k: plots.plot_rope_curve(comparison(n, k), half_widths=np.linspace(0, 0.04, 9)),
    "effect": lambda n, k: plots.plot_effect(explained(n, k), long("size", k)),
    "population": lambda n, k: plots.plot_population(comparison(n, k), others={"kruschke": comparison(n, k)}),
    "posterior": lambda n, k: plots.plot_posterior(comparison(n, k)),
    "ppc": lambda n, k: plots.plot_ppc(comparison(n, k)),
    "pit": lambda n, k: comparison(n, k).plot.pit(),
    "correlation": lambda n, k: comparison(n, k).plot.correlation(),
    "shrinkage": lambda n, k: plots.plot_shrinkage(comparison(n, k)),
    "student": lambda n, k: plots.plot_student(t_test(n, k), comparison(n, k).differences.dataset_names[1]),
    "poisson_binomial": lambda n, k: plots.plot_poisson_binomial(
        hc.poisson_binomial_test(comparison(n, k).differences)
    ),
    "sign_simplex": lambda n, k: plots.plot_sign_simplex(
        hc.bayesian_signed_rank_test(comparison(n, k).differences, rope=0.01, draws=1500)
    ),
    "sensitivity": lambda n, k: plots.plot_sensitivity(variants(k)),
    "plan": lambda n, k: plots.plot_plan(plan_of((1, 10), (10, 12, 14, 30, 100, 300) if n > 3 else (5, 10, 20), k)),
    "critical_difference": lambda n, k: plots.plot_critical_difference(post_hoc(3 if n == 3 else 12, k)),
    "heatmap": lambda n, k: plots.plot_pairs_heatmap(pairs(3 if n == 3 else 12, k)),
    "ranking": lambda n, k: plots.plot_ranking(pairs(3 if n == 3 else 12, k)),
}


def figure_of(drawn: object) -> Figure:
    if isinstance(drawn, Figure):
        return drawn
    return np.atleast_1d(np.asarray(drawn, dtype=object)).ravel()[0].get_figure(root=True)


def texts_of(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every text that is drawn, with its box in pixels."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    unseen = {
        label
        for ax in figure.axes
        for axis in (ax.xaxis, ax.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not _within(tick.get_loc(), axis.get_view_interval()) or not ax.axison
    }
    found = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in unseen and _shown(text)
    ]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in found]


def _within(place: float, interval: np.ndarray) -> bool:
    low, high = sorted(interval)
    slack = 1e-9 * (high - low)
    return low - slack <= place <= high + slack


def _shown(text: Text) -> bool:
    ax = text.axes
    return ax is None or ax.axison or text not in (ax.xaxis.label, ax.yaxis.label)


def flaws(figure: Figure) -> list[str]:
    """What is wrong with a figure: text beyond its edge, text over text, a legend over what is drawn."""
    texts = texts_of(figure)
    page = figure.bbox
    found = [
        f"{text!r} ends outside the figure"
        for text, box in texts
        if box.x0 < page.x0 - 0.5 or box.y0 < page.y0 - 0.5 or box.x1 > page.x1 + 0.5 or box.y1 > page.y1 + 0.5
    ]
    for (one, first), (other, second) in itertools.combinations(texts, 2):
        width = min(first.x1, second.x1) - max(first.x0, second.x0) + SPACE
        height = min(first.y1, second.y1) - max(first.y0, second.y0)
        if width > TOUCHING and height > TOUCHING:
            found.append(f"{one!r} and {other!r} overlap by {width:.0f} x {height:.0f} pixels")
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is not None and Bbox.intersection(legend.get_window_extent(), ax.patch.get_window_extent()):
            found.append("the legend lies within the axes")
    return found


@pytest.mark.parametrize("count", DATASETS)
@pytest.mark.parametrize("letters", LETTERS)
@pytest.mark.parametrize("name", DRAWINGS)
def test_no_text_is_cut_or_lies_over_another(name, letters, count):
    assert flaws(figure_of(DRAWINGS[name](count, letters))) == []


@pytest.mark.parametrize("draw", [plots.plot_simplex, plots.plot_next_dataset])
def test_long_names_in_capitals_have_room_below_the_outcomes(draw):
    result = comparison(3, 40)
    given = replace(result.differences, left=result.left.upper(), right=result.right.upper())
    capitals = replace(result, differences=given, posterior=replace(result.posterior, differences=given))
    assert flaws(figure_of(draw(capitals))) == []


@pytest.mark.parametrize("name", ["result", "failed"])
def test_the_diagnostics_keep_their_texts_apart(request, name):
    assert flaws(plots.plot_diagnostics(request.getfixturevalue(name))) == []
