"""What the plots draw equals the numbers of the result; pictures without text are compared with stored ones."""

from __future__ import annotations

import dataclasses
import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text
from scipy import integrate, stats

import hiercomp as hc
from hiercomp import plots
from hiercomp.closed_form.many_algorithms.friedman import PostHocResult
from hiercomp.plots.diagnostics import band_of_ranks, rank_gaps
from hiercomp.plots.leave_one_out import band_of_pit, pit_gaps
from hiercomp.plots.style import COLOURS, broken, label
from hiercomp.rope import REGIONS, region_probabilities
from tests.conftest import simulated_scores

PICTURE = {"remove_text": True, "tolerance": 4, "savefig_kwargs": {"dpi": 100}, "style": "default", "backend": "agg"}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def pictured() -> hc.PairedDifferences:
    """The differences that the stored pictures show."""
    return hc.PairedDifferences.from_table(simulated_scores(8, centre=0.03, spread=0.01), "bayes", "tree")


@pytest.fixture(scope="module")
def tests_of(pictured) -> dict:
    given = pictured
    return {
        "student": hc.correlated_t_test(given, rope=0.01),
        "poisson_binomial": hc.poisson_binomial_test(given),
        "sign": hc.bayesian_signed_rank_test(given, rope=0.01, draws=1500),
    }


@pytest.fixture(scope="module")
def drawn(result, pictured) -> hc.ComparisonResult:
    """A result with draws made by NumPy, for the pictures: a sampler's draws differ in the last bits between processors."""
    generator = np.random.default_rng(1)
    shape, count = (4, 600), len(pictured.dataset_names)
    draws = {
        "delta0": generator.normal(0.015, 0.008, shape),
        "sigma0": generator.gamma(20, 0.001, shape),
        "nu": 1 + generator.gamma(3, 3, shape),
        "delta": generator.normal(0.8 * pictured.mean + 0.003, 0.004, (*shape, count)),
        "sigma": generator.gamma(100, 0.0002, (*shape, count)),
    }
    posterior = dataclasses.replace(result.posterior, variables=draws)
    return dataclasses.replace(result, differences=pictured, posterior=posterior)


ALL = ["next_dataset", "simplex", "population", "shrinkage", "posterior", "rope_curve", "ppc"]


def axes_of(drawn) -> list[plt.Axes]:
    return list(np.atleast_1d(drawn).ravel())


def texts(ax: plt.Axes) -> str:
    found = [text.get_text() for text in ax.texts] + [ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")]
    found += [tick.get_text() for tick in [*ax.get_xticklabels(), *ax.get_yticklabels()]]
    if ax.get_legend() is not None:
        found += [text.get_text() for text in ax.get_legend().get_texts()]
    return "\n".join(found)


@pytest.mark.parametrize("name", ALL)
def test_every_plot_names_the_algorithms_or_the_quantity_and_changes_no_style(result, name):
    before = dict(mpl.rcParams)
    words = "\n".join(texts(ax) for ax in axes_of(getattr(result.plot, name)()))
    assert dict(mpl.rcParams) == before
    if name in ("posterior", "ppc"):
        assert "delta0" in words or "observed" in words
    else:
        assert "bayes" in words
        assert "tree" in words


@pytest.mark.parametrize("name", ["next_dataset", "simplex", "population", "shrinkage", "rope_curve"])
def test_every_plot_draws_on_the_axes_given(result, name):
    figure, ax = plt.subplots()
    assert getattr(result.plot, name)(ax=ax) is ax
    assert figure.axes == [ax]


@pytest.mark.parametrize("name", ["posterior", "ppc"])
def test_plots_of_several_panels_draw_in_the_figure_given(result, name):
    figure = plt.figure()
    panels = getattr(result.plot, name)(figure=figure)
    assert figure.axes == panels.tolist()


def test_the_bars_are_the_probabilities(result):
    ax = result.plot.next_dataset()
    seen = result.next_dataset
    assert [bar.get_height() for bar in ax.patches] == [seen.p_left, seen.p_rope, seen.p_right]
    assert [to_hex(bar.get_facecolor()).upper() for bar in ax.patches] == [COLOURS[region] for region in REGIONS]
    assert "bayes\nbetter" in texts(ax)


def test_the_simplex_shows_every_draw_where_its_three_probabilities_put_it(result):
    few = hc.plots.plot_sign_simplex(hc.bayesian_sign_test([0.1, 0.2, -0.1], draws=500))
    sign = hc.bayesian_sign_test([0.1, 0.2, -0.1], draws=500)
    points = few.collections[0].get_offsets()
    # Barycentric: left at (0, 0), right at (1, 0), the rope above their middle at the height of the triangle
    np.testing.assert_allclose(points[:, 0], sign.region_draws[:, 2] + sign.region_draws[:, 1] / 2, atol=1e-12)
    np.testing.assert_allclose(points[:, 1], sign.region_draws[:, 1] * np.sqrt(3) / 2, atol=1e-12)
    ax = result.plot.simplex()
    assert isinstance(ax.collections[0], PolyCollection)  # more than 2,000 draws
    seen = result.next_dataset
    shown = texts(ax)
    for value in (seen.p_left, seen.p_rope, seen.p_right):
        assert (f"{value:.3f}" if 0.001 <= value <= 0.999 else "0.00" if value < 0.5 else "0.999") in shown


def test_binned_draws_count_all_of_them(result):
    ax = result.plot.simplex(bins=None)
    assert ax.collections[0].get_array().sum() == result.draws("delta0").size


def test_the_population_density_is_that_of_the_next_difference(result):
    x = np.linspace(-0.3, 0.4, 12001)
    density = plots.population_density(result, x)
    assert integrate.trapezoid(density, x) == pytest.approx(1, abs=2e-3)  # the tails beyond are heavy
    regions = region_probabilities(
        result.draws("delta0"), result.draws("sigma0"), result.draws("nu"), result.rope
    ).reshape(-1, 3)
    for region, inside in zip(REGIONS, (x <= -0.01, (x >= -0.01) & (x <= 0.01), x >= 0.01), strict=True):
        area = integrate.trapezoid(density[inside], x[inside])
        assert area == pytest.approx(regions[:, REGIONS.index(region)].mean(), abs=2e-3)
    k = 7
    values = [result.draws(name).ravel() for name in ("nu", "delta0", "sigma0")]
    expected = np.mean(stats.t.pdf(x[k], *values))
    assert density[k] == pytest.approx(expected, rel=1e-10)


def test_the_population_plot_shows_the_expected_probabilities_and_other_priors(result):
    others = {"twin": result}
    ax = result.plot.population(others=others)
    seen = result.next_dataset
    assert f"tree better: {seen.expected_right:.3f}" in texts(ax)
    assert "prior twin" in texts(ax)
    assert "estimates of the data sets" in texts(ax)
    lines = {line.get_label(): line for line in ax.lines}
    np.testing.assert_allclose(lines["prior twin"].get_ydata(), ax.lines[0].get_ydata())


def test_the_shrinkage_plot_draws_its_table(result):
    ax = result.plot.shrinkage()
    table = plots.shrinkage_table(result)
    assert table["raw"].is_monotonic_increasing
    raw, posterior = (collection.get_offsets() for collection in ax.collections[-2:])
    np.testing.assert_allclose(raw[:, 0], table["raw"])
    np.testing.assert_allclose(posterior[:, 0], table["posterior"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == table.index.tolist()
    given = result.differences
    order = [given.dataset_names.index(name) for name in table.index]
    half = stats.t.ppf(0.975, given.n - 1)[order] * given.standard_error[order]
    np.testing.assert_allclose(table["raw_upper"] - table["raw"], half, rtol=1e-12)
    np.testing.assert_allclose(table["posterior"], result.datasets().loc[table.index, "posterior_mean"])
    centre = next(line for line in ax.lines if "population" in str(line.get_label()))
    assert centre.get_xdata()[0] == pytest.approx(result.draws("delta0").mean())


def test_the_posterior_plot_marks_mean_and_interval(result):
    table = result.population()
    for ax, name in zip(result.plot.posterior(), table.index, strict=True):
        interval, mean = ax.lines[:2]
        assert list(interval.get_xdata()) == [table.loc[name, "lower"], table.loc[name, "upper"]]
        assert mean.get_xdata()[0] == table.loc[name, "mean"]


def test_the_rope_curve_is_the_frame(result):
    ax = result.plot.rope_curve(half_widths=[0, 0.01, 0.02, 0.05])
    curve = result.rope_curve([0, 0.01, 0.02, 0.05])
    for line, region in zip(ax.lines, REGIONS, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), curve[f"p_{region}"])
    assert ax.lines[3].get_xdata()[0] == 0.01


def test_thresholds_are_drawn_at_the_level_asked_for(result):
    line = result.plot.rope_curve(half_widths=[0, 0.01], alpha=0.1).lines[-1]
    assert list(line.get_ydata()) == [0.9, 0.9]
    sensitivity = result.sensitivity(alpha=0.2, engine="quadrature")
    dotted = [line.get_xdata()[0] for line in plots.plot_sensitivity(sensitivity).lines]
    assert dotted == [0.2, 0.8]
    with pytest.raises(hc.ArgumentError, match="alpha"):
        result.plot.rope_curve(alpha=0.7)


def test_long_names_that_differ_in_the_middle_have_labels_that_differ(result):
    left, right = (f"gradient_boosting_depth_{depth}_with_100_trees" for depth in (3, 9))
    assert label(left) == label(right)
    named = dataclasses.replace(result, differences=dataclasses.replace(result.differences, left=left, right=right))
    bars = [tick.get_text().replace("\n", "") for tick in named.plot.next_dataset().get_xticklabels()]
    assert len(set(bars)) == 3
    first, second = named.plot.population().get_xlabel().split("\nminus ")
    assert first != second
    assert "…9_" in first
    legend = [text.get_text() for text in named.plot.rope_curve(half_widths=[0, 0.01]).get_legend().get_texts()]
    assert len(set(legend)) == 3


def test_the_rope_curve_is_integrated_once_however_often_it_is_drawn(scores, monkeypatch):
    integrated = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01).fit("quadrature")
    kind, asked = type(integrated.posterior), []
    original = kind.most_probable
    monkeypatch.setattr(kind, "most_probable", lambda self, rope: asked.append(rope.upper) or original(self, rope))
    first, second = (integrated.plot.rope_curve(half_widths=[0.0, 0.01, 0.03]) for _ in range(2))
    assert asked == [0.0, 0.01, 0.03]
    for one, other in zip(first.lines, second.lines, strict=True):
        np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())
    integrated.rope_curve([0.01, 0.02])
    assert asked == [0.0, 0.01, 0.03, 0.02]


def test_replicated_spreads_have_the_moments_of_the_model(result):
    given = result.differences
    spreads = plots.replicated_standard_deviations(result, seed=1)
    sigma = result.draws("sigma").reshape(spreads.shape)
    # E s^2 = sigma^2 (1 - rho); relative sd of s^2 is sqrt(2 / (n - 1))
    ratio = (spreads**2 / (sigma**2 * (1 - given.rho))).mean(axis=0)
    error = np.sqrt(2 / (given.n - 1) / len(spreads))
    assert (np.abs(ratio - 1) < 4 * error).all()


def test_the_predictive_check_counts_the_data_sets_within_their_intervals(result):
    panels = result.plot.ppc(seed=3)
    means = result.replicated_means(3).reshape(-1, 8)
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    observed = result.differences.mean
    assert panels[0].get_title(loc="left") == f"{((observed >= low) & (observed <= high)).sum()} of 8 within 95%"


def test_the_curve_of_the_probabilities_is_their_empirical_distribution_less_the_uniform_one():
    pit = np.array([0.3, 0.1, 0.95, 0.32])
    places, gaps = pit_gaps(pit)
    for place in (0.05, 0.2, 0.31, 0.6, 0.99):
        assert np.interp(place, places, gaps) == pytest.approx((pit <= place).mean() - place)
    assert np.abs(gaps).max() == pytest.approx(stats.kstest(pit, "uniform").statistic)


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 54])
def test_uniform_probabilities_stay_in_the_band_19_times_of_20(count):
    generator, times = np.random.default_rng(4), 2000
    inside = [np.abs(pit_gaps(generator.uniform(size=count))[1]).max() <= band_of_pit(count) for _ in range(times)]
    assert np.mean(inside) == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / times))


def test_the_plot_of_the_probabilities_has_a_mark_for_each_data_set(result):
    figure, ax = plt.subplots()
    found = result.loo()
    assert result.plot.pit(found, ax=ax, linewidth=2) is ax
    assert figure.axes == [ax]
    (marks,) = (drawn for drawn in ax.collections if len(drawn.get_paths()) == 8)
    assert [path.vertices[0, 0] for path in marks.get_paths()] == found.pit.tolist()
    assert "8 data sets: within the band" in texts(ax)
    assert texts(result.plot.pit()) == texts(ax)


def test_the_student_posterior_of_a_data_set(tests_of):
    result = tests_of["student"]
    name = result.dataset_names[2]
    ax = plots.plot_student(result, name)
    row = result.to_frame().loc[name]
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(y, stats.t.pdf(x, row["df"], row["mean"], row["scale"]), rtol=1e-12)
    assert name in texts(ax)
    with pytest.raises(hc.ArgumentError, match="8 data sets; name one, such as 'd0'"):
        plots.plot_student(result)
    with pytest.raises(hc.ArgumentError, match="'x' is not a data set"):
        plots.plot_student(result, "x")


def test_a_point_mass_is_a_line():
    with pytest.warns(hc.DegenerateScoresWarning):
        result = hc.correlated_t_test([0.05] * 5, rho=0.1, rope=0.01)
    ax = plots.plot_student(result)
    assert ax.lines[0].get_xdata()[0] == pytest.approx(0.05)


def test_the_poisson_binomial_bars_are_the_distribution(tests_of):
    result = tests_of["poisson_binomial"]
    ax = plots.plot_poisson_binomial(result)
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}
    assert heights == dict(enumerate(result.pmf))
    middle = [line for line in ax.lines if line.get_xdata()[0] == 4.0]
    assert len(middle) == 1  # q / 2 of 8 data sets


def test_the_critical_difference_diagram():
    generator = np.random.default_rng(1)
    scores = generator.normal(size=(30, 5)) + np.array([0, 0.1, 0.5, 1.5, 1.6])
    result = hc.nemenyi_test(scores)
    ax = plots.plot_critical_difference(result)
    shown = texts(ax)
    for rank in result.mean_ranks:
        assert f"{rank:.2f}" in shown
    assert f"critical difference {result.critical_difference:.3g}" in shown
    bars = [line for line in ax.lines if line.get_linewidth() == 3.2]
    joined = [group for group in result.groups() if len(group) > 1]
    assert len(bars) == len(joined) > 0


def test_a_bar_is_thin_where_it_passes_an_algorithm_that_differs():
    p = np.array([[1, 0.01, 0.2], [0.01, 1, 0.01], [0.2, 0.01, 1]])
    ranks = np.array([1.5, 2.0, 2.5])
    result = PostHocResult("test", ("a", "b", "c"), ranks, None, p, p, "none", 0.05, None, 10)
    assert result.groups() == [("a", "c")]
    ax = plots.plot_critical_difference(result)
    thick = [tuple(line.get_xdata()) for line in ax.lines if line.get_linewidth() == 3.2]
    assert thick == [pytest.approx((1.48, 1.52)), pytest.approx((2.48, 2.52))]
    assert "thin where they pass another" in texts(ax)
    assert "thin" not in texts(plots.plot_critical_difference(hc.nemenyi_test(np.arange(12.0).reshape(4, 3))))


def test_style_by_arguments(tests_of, result):
    assert plots.plot_sign_simplex(tests_of["sign"], s=1).collections[0].get_sizes() == [1]
    assert result.plot.next_dataset(color="k").patches[0].get_facecolor() == (0, 0, 0, 1)
    assert result.plot().patches


def drawn_in(ax: plt.Axes, label: str) -> np.ndarray:
    """The vertical values of a line by its label."""
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return np.asarray(line.get_ydata())


def test_the_ratios_of_runs_are_steps_beside_the_f_distribution(result):
    check = result.correlation()
    ax = plots.plot_correlation(check, linewidth=2)
    expected, steps = ax.lines
    places, shares = steps.get_data()
    assert steps.get_linewidth() == 2
    for place in np.geomspace(0.1, 3, 7):
        assert shares[np.searchsorted(places, place, side="right") - 1] == (check.ratio <= place).mean()
    curve = stats.f.cdf(expected.get_xdata(), 2, 27)  # 3 runs of 10 folds
    np.testing.assert_allclose(expected.get_ydata(), curve, rtol=1e-12)
    assert ax.get_title(loc="left") == f"8 data sets: middle ratio {check.pooled_ratio:.2f}"
    assert texts(result.plot.correlation()) == texts(ax)


def test_the_diagnostics_are_six_panels_of_the_checks(result):
    page = plots.plot_diagnostics(result)
    assert len(page.axes) == 6
    assert all(ax.has_data() and not ax.images for ax in page.axes)
    trace, ranks, pairs, r_hat, sizes, energy = page.axes
    seen = result.diagnostics
    population = ("delta0", "sigma0", "nu")
    assert trace.get_ylabel() in population
    assert ranks.get_title(loc="left") == f"Ranks of {trace.get_ylabel()}"
    assert [line.get_label() for line in ranks.lines][:4] == [f"chain {k}" for k in (1, 2, 3, 4)]
    assert pairs.get_title(loc="left") == f"{seen.divergences} divergences"
    values = np.asarray(r_hat.lines[0].get_ydata())
    count = sum(int(np.prod(np.shape(each)[2:])) for each in result.posterior.variables.values())
    assert len(values) == count
    assert (values[:-1] >= values[1:]).all()
    # The two middle draws are equally far from the median: which is nearer is a matter of rounding, and of the unit. One
    # z-score of some 500 in half a chain moves by 0.3, and R-hat by that times the distance of the chains' means.
    assert values[0] == pytest.approx(seen.r_hat, abs=1e-4)
    assert r_hat.lines[1].get_ydata()[0] == 1.01
    assert drawn_in(sizes, "bulk").min() == seen.ess_bulk
    assert drawn_in(sizes, "tail").min() == seen.ess_tail
    assert drawn_in(sizes, "at least 400")[0] == 400
    assert energy.get_title(loc="left") == f"Energy: E-BFMI {seen.e_bfmi:.2f}"


def test_divergent_transitions_are_marked_where_they_were(result):
    statistics = dict(result.posterior.statistics)
    statistics["diverging"] = np.zeros_like(statistics["diverging"])
    statistics["diverging"][1, [3, 17]] = 1
    page = plots.plot_diagnostics(
        dataclasses.replace(result, posterior=dataclasses.replace(result.posterior, statistics=statistics))
    )
    marked = page.axes[2].collections[1].get_offsets()
    expected = [result.draws(name)[1, [3, 17]] for name in ("delta0", "sigma0")]
    np.testing.assert_array_equal(marked, np.transpose(expected))
    assert page.axes[2].get_title(loc="left") == "2 divergences"


def test_chains_that_agree_stay_in_the_band_of_the_ranks_and_a_shifted_one_leaves_it():
    generator = np.random.default_rng(1)
    inside = 0
    for _ in range(400):
        values = generator.normal(size=(4, 200))
        inside += np.abs(rank_gaps(values)[1]).max() < band_of_ranks(4, values.size)
    # 95% by the limit; the band is a little wide for the four chains together and for the 101 points of the grid
    assert 0.93 * 400 < inside
    assert inside < 400
    values[2] += 0.5
    gaps = np.abs(rank_gaps(values)[1]).max(axis=1)
    assert gaps.argmax() == 2
    assert gaps[2] > band_of_ranks(4, values.size)
    assert np.isnan(band_of_ranks(1, 200))


def test_a_failed_computation_can_be_diagnosed(failed):
    assert failed.status == "failed"
    page = plots.plot_diagnostics(failed)
    # Draws in the unit of the metric are rounded, so neighbours of 1,000 ranks may change places: 1e-5 for each
    assert max(page.axes[3].lines[0].get_ydata()) == pytest.approx(failed.diagnostics.r_hat, rel=1e-4)


@pytest.mark.cmdstan
@pytest.mark.filterwarnings("ignore::hiercomp.errors.HiercompWarning")
@pytest.mark.slow
def test_draws_of_cmdstan_can_be_diagnosed(scores):
    fit = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01).fit("cmdstan", draws=300, progress=False)
    assert len(plots.plot_diagnostics(fit).axes) == 6


def test_without_chains_the_diagnostics_say_why(result, identical, scores):
    with pytest.raises(hc.ArgumentError, match="Nothing was sampled, because the scores are identical"):
        plots.plot_diagnostics(identical)
    integrated = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01).fit("quadrature")
    with pytest.raises(hc.ArgumentError, match=r"the posterior was integrated.*fit\(engine='embedded'\)"):
        integrated.plot.diagnostics()


def all_axes() -> list[plt.Axes]:
    """The axes of every open figure."""
    return [ax for number in plt.get_fignums() for ax in plt.figure(number).axes]


@pytest.mark.parametrize(
    "function", ["plot_trace", "plot_rank", "plot_ess", "plot_forest", "plot_pair", "plot_prior_posterior"]
)
def test_arviz_takes_the_posterior_as_it_is(result, function):
    import arviz_plots

    tree = result.datatree if function != "plot_rank" else result.datatree.isel(draw=slice(0, 100))
    names = ["delta0", "sigma0", "nu"]
    getattr(arviz_plots, function)(tree, var_names=names, backend="matplotlib")
    panels = all_axes()
    assert any(ax.has_data() for ax in panels)
    written = " ".join(text.get_text() for ax in panels for text in ax.findobj(Text))
    assert [name for name in names if name not in written] == []


def test_arviz_takes_the_energy_as_it_is(result):
    import arviz_plots

    arviz_plots.plot_energy(result.datatree, backend="matplotlib")
    assert sum(len(ax.lines) for ax in all_axes()) >= 2  # the energy and its transitions


@pytest.mark.parametrize("name", ["next_dataset", "simplex", "population"])
def test_without_a_verdict_there_is_no_picture_of_one(failed, name):
    with pytest.raises(hc.NoVerdictError):
        getattr(failed.plot, name)()


@pytest.mark.parametrize("name", ["next_dataset", "simplex", "population", "shrinkage", "posterior", "rope_curve"])
def test_identical_algorithms_can_be_drawn(identical, name):
    panels = axes_of(getattr(identical.plot, name)())
    for ax in panels:
        ax.figure.canvas.draw()
        assert ax.has_data()
    if name == "next_dataset":
        assert [bar.get_height() for bar in panels[0].patches] == [0, 1, 0]


@pytest.mark.parametrize("names", [("$\\frac{1}{$", "_hidden"), ("算法", "a" * 5000), ("<script>", "x\x1b[31m")])
@pytest.mark.filterwarnings("ignore:Glyph", "ignore::hiercomp.errors.HiercompWarning")
def test_names_are_drawn_as_they_are(drawn, names):
    frame = simulated_scores(8, centre=0.03, spread=0.01)
    frame["algorithm"] = frame["algorithm"].map(dict(zip(("bayes", "tree"), names, strict=True)))
    frame["dataset"] = frame["dataset"].map(lambda name: f"${name}_{{$")
    given = hc.HierarchicalComparison(frame, *names).differences
    posterior = dataclasses.replace(drawn.posterior, differences=given)
    result = dataclasses.replace(drawn, differences=given, posterior=posterior)
    for name in ALL:
        for ax in axes_of(getattr(result.plot, name)()):
            ax.figure.canvas.draw()
    drawn = texts(result.plot.rope_curve())
    assert f"{label(names[0])} better" in drawn
    assert f"{label(names[1])} better" in drawn
    assert len(label("a" * 5000)) <= 28


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("tree", ["tree"]),
        ("logistic_regression", ["logistic_", "regression"]),
        ("gradient-boosting machine", ["gradient-", "boosting", "machine"]),
        ("x" * 20, ["x" * 15, "x" * 5]),
    ],
)
def test_names_under_bars_are_broken_where_they_can_be(name, lines):
    assert broken(name).split("\n") == lines


@pytest.mark.parametrize("count", [3, 80, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::hiercomp.errors.HiercompWarning")
def test_the_shrinkage_plot_is_readable_from_3_to_200_data_sets(count):
    generator = np.random.default_rng(1)
    left = generator.normal(0.8, 0.02, size=(count, 10))
    right = left + generator.normal(0.01, 0.03, size=(count, 1)) + generator.normal(0, 0.02, size=(count, 10))
    comparison = hc.HierarchicalComparison.from_arrays(left, right, rho=0.1)
    result = comparison.fit("quadrature", draws=300)
    ax = result.plot.shrinkage()
    ax.figure.canvas.draw()
    assert ax.figure.get_size_inches()[1] <= 11
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels() if tick.get_text()]
    assert len(boxes) == (count if count <= 80 else 0)
    assert all(a.y1 <= b.y0 + 1 for a, b in itertools.pairwise(boxes))  # no name over another


def fixed_axes(height: float = 2.6) -> plt.Axes:
    """Axes whose place does not depend on the size of the letters, and so not on the fonts of the machine."""
    return plt.figure(figsize=(3.5, height)).add_axes((0.15, 0.15, 0.8, 0.75))


def without_text(figure: plt.Figure) -> plt.Figure:
    """The figure without labels and legends, which pytest-mpl leaves in: versions of Matplotlib draw letters differently."""
    for words in (*figure.findobj(Text), *figure.findobj(Legend)):
        words.set_visible(False)
    return figure


@pytest.mark.mpl_image_compare(**PICTURE)
@pytest.mark.parametrize("name", ["next_dataset", "simplex", "population", "shrinkage", "rope_curve"])
def test_picture(drawn, name):
    return without_text(getattr(drawn.plot, name)(ax=fixed_axes()).figure)


@pytest.mark.mpl_image_compare(**PICTURE)
def test_picture_of_the_posterior(drawn):
    figure = plt.figure(figsize=(7, 2.5))
    drawn.plot.posterior(figure=figure)
    return without_text(figure)


@pytest.mark.mpl_image_compare(**PICTURE)
@pytest.mark.parametrize("name", ["student", "poisson_binomial", "sign"])
def test_picture_of_a_test(tests_of, name):
    draw = {
        "student": plots.plot_student,
        "poisson_binomial": plots.plot_poisson_binomial,
        "sign": plots.plot_sign_simplex,
    }
    which = ("d2",) if name == "student" else ()
    return without_text(draw[name](tests_of[name], *which, ax=fixed_axes()).figure)


def test_the_tolerance_of_the_pictures_catches_a_moved_rope(drawn, tmp_path):
    paths = []
    for name, rope in (("as_it_is", 0.01), ("moved", 0.0115)):
        ax = drawn.plot.population(ax=fixed_axes())
        for line in ax.lines:
            if np.allclose(np.abs(line.get_xdata()), 0.01):
                line.set_xdata(np.sign(line.get_xdata()) * rope)
        paths.append(tmp_path / f"{name}.png")
        ax.figure.savefig(paths[-1], dpi=100)
    assert compare_images(str(paths[0]), str(paths[1]), tol=PICTURE["tolerance"]) is not None
