"""The figures of the reports: the package's own plots, each with a caption and a description of its numbers."""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from hiercomp.plots import datasets as dataset_plots
from hiercomp.plots import (
    plot_next_dataset,
    plot_pit,
    plot_population,
    plot_posterior,
    plot_ppc,
    plot_rope_curve,
    plot_sensitivity,
    plot_shrinkage,
    plot_simplex,
    shrinkage_table,
)
from hiercomp.plots.leave_one_out import band_of_pit, pit_gaps
from hiercomp.plots.pairs import heatmap_size, plot_pairs_heatmap, plot_ranking, ranking_size
from hiercomp.posterior.fit import most_probable_curve
from hiercomp.rope import REGIONS
from hiercomp.wording import counted, outcome_words, probability_text, shown, with_minus

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as MatplotlibFigure

    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.fit import Fit
    from hiercomp.posterior.leave_one_out import LeaveOneOut
    from hiercomp.posterior.sensitivity import Sensitivity

COLUMN = (4.2, 3.1)  # inches: half of the page's width
PAGE_WIDTH, WIDEST = 6.4, 7.1
PIXELS_PER_INCH = 96 * 1.3  # figures are drawn for a printed column, whose letters are too small for a screen
STYLE = {name: "small" for name in ("axes.labelsize", "xtick.labelsize", "ytick.labelsize")}
DIGITS = re.compile(r"(\.\d\d)\d+")
LARGEST_NAMED = 5  # algorithms whose chances of being the best the words state
CURVE_POINTS = (0.0, 0.5, 1.0, 2.0, 4.0)  # half-widths of the rope that the words state, in units of the present one


@dataclass(frozen=True)
class _Shades:
    """A colour as matplotlib writes it, and what it becomes on a light and on a dark page."""

    drawn: tuple[str, ...]
    light: str
    dark: str


THEME = {
    "ink": _Shades(("#222222", "#000000"), "#222222", "#e6e6e3"),
    "paper": _Shades(("#ffffff",), "#ffffff", "#17181b"),
    "rule": _Shades(("#dddddd",), "#dddddd", "#3b3d42"),
}


@dataclass(frozen=True)
class FigureSpec:
    """A figure that is not drawn yet.

    Attributes
    ----------
    key : str
        Its place on the page.
    size : tuple of float
        Width and height in inches.
    draw : callable
        Draws it in the given matplotlib figure.
    title, description : str
        What a screen reader says.
    caption : str
    """

    key: str
    size: tuple[float, float]
    draw: Callable[[MatplotlibFigure], Any]
    title: str
    description: str
    caption: str


@dataclass(frozen=True)
class Figure(FigureSpec):
    """A figure of the report, drawn.

    Attributes
    ----------
    address : str
        A ``data:`` address with the SVG image, so the page cannot run anything in it.
    width, height : int
        In pixels.
    """

    address: str
    width: int
    height: int


def report_figures(
    result: Fit, sensitivity: Sensitivity | None = None, loo: LeaveOneOut | None = None, *, alpha: float = 0.05
) -> tuple[Figure, ...]:
    """The figures in the order of the page.

    No figures if the computation failed, because its draws can't be trusted; for identical scores, only the three
    probabilities.

    Parameters
    ----------
    result : ComparisonResult
    sensitivity : Sensitivity, optional
        If given, it is drawn too.
    loo : LeaveOneOut, optional
        If given, its probability integral transform is drawn too.
    alpha : float
        Level of the verdict.
    """
    specs: list[FigureSpec] = []
    if result.status != "failed":
        specs.append(_next_dataset(result))
        if not result.differences.identical:
            specs += [make(result) for make in (_simplex, _population, _posterior, _shrinkage)]
            specs += [_rope_curve(result, alpha), _ppc(result)]
            specs += [] if loo is None else [_pit(loo)]
    if sensitivity is not None and result.status != "failed":
        specs.append(_sensitivity(sensitivity))
    return draw(specs, (result.left, result.right, *result.differences.dataset_names))


def tournament_figures(
    result: Tournament,
    order: list[str],
    verdicts: dict[tuple[str, str], str],
    ranking: pd.DataFrame | None,
    alpha: float,
) -> tuple[Figure, ...]:
    """The heatmap, and the ranks if there are any.

    Parameters
    ----------
    result : TournamentResult
    order : list of str
        The algorithms to draw, the best first.
    verdicts : dict from pair to verdict
    ranking : DataFrame or None
    alpha : float
        Level of the verdicts.
    """
    specs = [_heatmap(result, order, verdicts, alpha)]
    if ranking is not None:
        specs.append(_ranking(result, order, ranking, alpha))
    return draw(specs, order)


def draw(specs: Sequence[FigureSpec], names: Sequence[str]) -> tuple[Figure, ...]:
    """Draw figures in the style of the page; the same figure gives the same bytes.

    Parameters
    ----------
    specs : sequence of FigureSpec
    names : sequence of str
        Names that appear in the figures. If matplotlib's font lacks one of their letters, text is kept as text, because
        the reader's browser has more fonts.
    """
    import matplotlib.style
    from matplotlib.figure import Figure as MatplotlibFigure

    letters_as_paths = _has_letters(names)
    options = {
        "svg.fonttype": "path" if letters_as_paths else "none",
        "svg.hashsalt": "hiercomp",
        "svg.image_inline": True,
    }
    drawn = []
    # The page does not depend on the writer's own style
    with matplotlib.style.context(["default", STYLE, options]), warnings.catch_warnings():
        if not letters_as_paths:
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
        for spec in specs:
            figure = MatplotlibFigure(figsize=spec.size, layout="constrained")
            spec.draw(figure)
            _lay_out(figure)
            stream = io.BytesIO()
            unsaid = dict.fromkeys(("Creator", "Date", "Format", "Type"))
            figure.savefig(stream, format="svg", transparent=True, metadata=unsaid)
            # Hundredths of a point are enough for any printer; the page of 40 algorithms stays below 2 MB
            svg = re.sub(r' d="[^"]*"', lambda path: DIGITS.sub(r"\1", path[0]), stream.getvalue().decode())
            svg = themed(svg.replace("\n", ""))
            address = f"data:image/svg+xml,{quote(svg, safe=' /:;=,.-')}"
            width, height = (round(PIXELS_PER_INCH * length) for length in spec.size)
            drawn.append(Figure(**vars(spec), address=address, width=width, height=height))
    return tuple(drawn)


def _lay_out(figure: MatplotlibFigure) -> None:
    """Settle the layout of a figure that becomes an SVG; else `savefig` draws all of it once more for that."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)  # whose letters have their own widths
    resolution, engine = figure.dpi, figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)
    figure.set_layout_engine(None)
    figure.dpi = resolution


def themed(svg: str) -> str:
    """The drawing with the ink, paper and rules of the page, light or dark; the outcomes keep their colours."""
    for name, colours in THEME.items():
        for colour in colours.drawn:
            svg = svg.replace(f": {colour}", f": var(--{name})")
    light = ";".join(f"--{name}:{colours.light}" for name, colours in THEME.items())
    dark = ";".join(f"--{name}:{colours.dark}" for name, colours in THEME.items())
    # What has no colour of its own, such as letters, is black in SVG
    rules = f":root{{{light};fill:var(--ink)}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return svg.replace("</style>", f"{rules}</style>", 1)


def _has_letters(names: Sequence[str]) -> bool:
    """Whether matplotlib's own font can draw these names."""
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.findfont("DejaVu Sans"))
    return {ord(letter) for name in names for letter in shown(name)} <= set(font.get_charmap())


def _next_dataset(result: Fit) -> FigureSpec:
    seen = result.next_dataset
    return FigureSpec(
        "next-dataset",
        COLUMN,
        lambda figure: plot_next_dataset(result, ax=figure.subplots()),
        "Probability that each outcome is the most likely one on the next data set",
        f"Bars: {_listed(result, seen.probabilities)}. {_errors(result)}",
        "Probability that each outcome is the most likely one on the next data set. Whiskers, where visible, are two "
        f"{result.posterior.error_words.short} errors.",
    )


def _errors(result: Fit) -> str:
    inference = result.next_dataset
    if inference.exact:
        return "Nothing was sampled; they are exact."
    return f"The largest {result.posterior.error_words.short} error is {inference.largest_error:.2g}."


def _simplex(result: Fit) -> FigureSpec:
    seen = result.next_dataset
    return FigureSpec(
        "simplex",
        COLUMN,
        lambda figure: plot_simplex(result, ax=figure.subplots()),
        "Posterior draws in the triangle of the three outcomes",
        f"{counted(result.draws('delta0').size, 'posterior draw')} of the probabilities of the three outcomes. "
        f"{result.posterior.error_words.share} an outcome is the most likely: {_listed(result, seen.probabilities)}. "
        f"Expected probabilities: {_listed(result, seen.expected)}.",
        "Posterior draws of the probabilities of the three outcomes. A corner means certainty of its outcome; dashed lines "
        "separate the regions in which each outcome is the most likely, with its probability.",
    )


def _population(result: Fit) -> FigureSpec:
    seen = result.next_dataset
    return FigureSpec(
        "population",
        (PAGE_WIDTH, 3.2),
        lambda figure: plot_population(result, ax=figure.subplots()),
        "Density of the mean difference on the next data set",
        f"Expected probabilities of the three outcomes: {_listed(result, seen.expected)}. The centre of the population is "
        f"{_interval(result, 'delta0')}, and its spread {_interval(result, 'sigma0')}. "
        f"The rope is {with_minus(result.rope)}.",
        "Posterior density of the mean difference on the next data set; shaded, the expected probabilities of the three "
        "outcomes. Dashed, a kernel density of the posterior means of these data sets.",
    )


def _posterior(result: Fit) -> FigureSpec:
    names = [str(name) for name in result.population().index]
    values = "; ".join(f"{name} is {_interval(result, name)}" for name in names)
    return FigureSpec(
        "posterior",
        (WIDEST, 2.3),
        lambda figure: plot_posterior(result, figure=figure),
        f"Posterior of {', '.join(names[:-1])} and {names[-1]}",
        f"Posterior means with 95% intervals: {values}.",
        "Posterior of the population's parameters. Thick bars are central 95% intervals, vertical lines the means; the band "
        "is the rope.",
    )


def _shrinkage(result: Fit) -> FigureSpec:
    frame = shrinkage_table(result)
    count = len(frame)
    height = dataset_plots.shrinkage_height(count)
    ends = [
        with_minus(f"the {word} raw mean difference is {row['raw']:.3g}, shrunken to {row['posterior']:.3g}")
        + f" ({shown(name)})"
        for word, name, row in (
            ("smallest", frame.index[0], frame.iloc[0]),
            ("largest", frame.index[-1], frame.iloc[-1]),
        )
    ]
    return FigureSpec(
        "shrinkage",
        (PAGE_WIDTH, height),
        lambda figure: plot_shrinkage(result, ax=figure.subplots()),
        "Raw and posterior mean difference of each data set",
        f"{counted(count, 'data set')}: {'; '.join(ends)}. The centre of the population is {_interval(result, 'delta0')}. "
        "The table of the data sets has every number.",
        "Mean difference of each data set: raw, with the 95% interval of the correlated t-test (grey), and in the "
        f"hierarchical model (blue). {_where_to(result)}; the band is the rope.",
    )


def _where_to(result: Fit) -> str:
    """Where the model moves uncertain data sets."""
    if result.differences.covariates is not None:
        return (
            "The model moves uncertain data sets towards the centre for their covariates; the dotted line is the centre at "
            "the mean of the covariates"
        )
    if result.priors.population == "mixture":
        return (
            "The model moves uncertain data sets towards the components of the mixture; the dotted line is the mean of the "
            "population"
        )
    return "The model moves uncertain data sets towards the population's centre, the dotted line"


def _rope_curve(result: Fit, alpha: float) -> FigureSpec:
    unit = result.rope.half_width or float(np.abs(result.differences.mean).max()) / CURVE_POINTS[-1]
    points = most_probable_curve(result, [unit * factor for factor in CURVE_POINTS])
    values = "; ".join(
        f"at a half-width of {width:.3g}, {_listed(result, {region: row[f'p_{region}'] for region in REGIONS})}"
        for width, row in points.iterrows()
    )
    used = "The dotted line is the half-width used here, and the"
    if result.rope.lower != -result.rope.upper:
        used = f"The rope used here, {result.rope}, is not among them. The"
    return FigureSpec(
        "rope-curve",
        (PAGE_WIDTH, 3.2),
        lambda figure: plot_rope_curve(result, alpha=alpha, ax=figure.subplots()),
        "The three probabilities against the half-width of the rope",
        f"{values[0].upper()}{values[1:]}.",
        f"The three probabilities for other ropes, symmetric about zero. {used} thin line is a probability of "
        f"{1 - alpha:g}.",
    )


def _ppc(result: Fit) -> FigureSpec:
    words = []
    for name, observed, (low, _, high) in dataset_plots.replicates(result):
        inside = int(((observed >= low) & (observed <= high)).sum())
        words.append(f"the observed {name} lies in the central 95% of its replicates in {inside} of {len(observed)}")
    return FigureSpec(
        "ppc",
        (WIDEST, 3.0),
        lambda figure: plot_ppc(result, figure=figure),
        "Replicated data sets against the observed ones",
        f"Of the data sets, {' and '.join(words)}.",
        "Posterior predictive check: mean and standard deviation of replicated data sets (central 95% and median) against "
        "the observed ones. Vermilion: the observed value lies outside.",
    )


def _pit(loo: LeaveOneOut) -> FigureSpec:
    gap, half = float(np.abs(pit_gaps(loo.pit)[1]).max()), band_of_pit(len(loo.pit))
    return FigureSpec(
        "pit",
        COLUMN,
        lambda figure: plot_pit(loo, ax=figure.subplots()),
        "Where each data set lies in its prediction from the others",
        f"The curve is at most {gap:.2f} away from zero, and the band {half:.2f}.",
        "Probability integral transform: each mark is the probability that the mean difference of a data set would be less "
        "than it is, given the others. The curve is the share of data sets up to there, less the expected share; it stays "
        "in the band with a probability of 95% if the population fits.",
    )


def _sensitivity(sensitivity: Sensitivity) -> FigureSpec:
    frame = sensitivity.to_frame()
    left, right = map(shown, sensitivity.algorithms)
    rows = []
    for name, row in frame.iterrows():
        values = (
            f"{words} {probability_text(row[f'p_{region}'])}" for region, words in outcome_words(left, right).items()
        )
        rows.append(f"{shown(name)}: {'failed' if row['status'] == 'failed' else ', '.join(values)}")
    return FigureSpec(
        "sensitivity",
        (PAGE_WIDTH, 1.3 + 0.27 * len(frame)),
        lambda figure: plot_sensitivity(sensitivity, ax=figure.subplots()),
        "The three probabilities under other assumptions",
        f"{sensitivity.conclusion} {'; '.join(rows)}.",
        "The three probabilities under each variant, with its verdict. Dotted lines: probabilities of "
        f"{sensitivity.alpha:g} and {1 - sensitivity.alpha:g}.",
    )


def _listed(result: Fit, values: dict[str, float]) -> str:
    exact = result.next_dataset.exact
    names = outcome_words(shown(result.left), shown(result.right))
    return ", ".join(f"{words} {probability_text(values[region], exact)}" for region, words in names.items())


def _interval(result: Fit, name: str) -> str:
    row = result.population().loc[name]
    return with_minus(f"{row['mean']:.3g} (95% interval {row['lower']:.3g} to {row['upper']:.3g})")


def _heatmap(result: Tournament, order: list[str], verdicts: dict[tuple[str, str], str], alpha: float) -> FigureSpec:
    drawn = {pair: verdict for pair, verdict in verdicts.items() if set(pair) <= set(order)}
    counts = Counter({"better": "better", "worse": "better"}.get(verdict, verdict) for verdict in drawn.values())
    phrases = {
        "better": "one algorithm is better",
        "equivalent": "the two are practically equivalent",
        "none": "there is no verdict",
        "undecided": "the probability is too close to its threshold",
        "failed": "there is no result",
    }
    said = "; ".join(f"in {counts[name]:,} {text}" for name, text in phrases.items() if counts[name])
    return FigureSpec(
        "heatmap",
        heatmap_size(result, order),
        lambda figure: plot_pairs_heatmap(result, ax=figure.subplots(), alpha=alpha, algorithms=order),
        "Probabilities and verdicts of every pair",
        f"The algorithms, the best first: {', '.join(map(shown, order))}. Of "
        f"{counted(len(drawn), 'pair')}, {said}. The table of the pairs has every number.",
        "Every pair as a cell, filled from below with the probability that the row's algorithm is better on the next data "
        "set and above it with the probability of practical equivalence; the pale rest is the probability that the "
        "column's algorithm is better. Signs are the verdicts.",
    )


def _ranking(result: Tournament, order: list[str], ranking: pd.DataFrame, alpha: float) -> FigureSpec:
    rows = [
        f"{shown(name)} {row['expected_rank']:.2f} (95% interval {row['lower']:.2f} to {row['upper']:.2f})"
        for name, row in ranking.iterrows()
        if name in order
    ]
    best = ranking["p_best"].sort_values(ascending=False, kind="stable").head(LARGEST_NAMED)
    chances = ", ".join(f"{shown(name)} {probability_text(float(value))}" for name, value in best.items())
    return FigureSpec(
        "ranking",
        ranking_size(order),
        lambda figure: plot_ranking(result, ax=figure.subplots(), alpha=alpha, algorithms=order),
        "Expected ranks of the algorithms on the next data set",
        f"Expected ranks: {'; '.join(rows)}. Probability of being the best: {chances}.",
        "Expected rank of each algorithm on the next data set, with its central 95% interval and, on the right, the "
        "probability of being the best. Bars join groups within which no verdict names a better algorithm; a "
        "bar is thin where it passes an algorithm that does not belong to it.",
    )
