"""The pictures of every pair draw the numbers of the result, and can be read from 2 to 40 algorithms."""

from __future__ import annotations

import itertools
from collections import Counter

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex, to_rgb

import hiercomp as hc
from hiercomp.plots import TournamentPlots, plot_pairs_heatmap, plot_ranking
from hiercomp.plots.pairs import CELL, MEANINGS
from hiercomp.plots.style import distinct_labels
from hiercomp.rope import REGIONS
from hiercomp.tournament import TournamentResult
from hiercomp.wording import probability_text
from tests.plots.test_plots import PICTURE, texts, without_text
from tests.tournaments import four_algorithms, tournament

WORDS = {"left": "P(row better)", "rope": "P(practically equivalent)", "right": "P(column better)"}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def pairs() -> TournamentResult:
    """The real thing."""
    return hc.compare_all(four_algorithms(), rope=0.01, n_jobs=1, progress=False)


@pytest.fixture(scope="module")
def base(pairs) -> hc.ComparisonResult:
    return pairs.pairs[0]


@pytest.fixture(scope="module")
def ten(base) -> TournamentResult:
    return tournament(base, 10)


def shares(ax: plt.Axes, region: str) -> dict[tuple[int, int], float]:
    """Share of each cell, by its row and column, that is filled for a region."""
    (drawn,) = [each for each in ax.collections if each.get_label() == WORDS[region]]
    found = {}
    for path in drawn.get_paths():
        (left, low), (right, high) = path.vertices.min(axis=0), path.vertices.max(axis=0)
        assert right - left == pytest.approx(CELL)
        found[round((low + high) / 2), round((left + right) / 2)] = (high - low) / CELL
    return found


def signs(ax: plt.Axes) -> dict[str, set[tuple[int, int]]]:
    """Cells with each sign."""
    verdict = {words: name for name, words in MEANINGS.items()}
    return {
        verdict[line.get_label()]: {(round(y), round(x)) for x, y in zip(*line.get_data(), strict=True)}
        for line in ax.lines
        if line.get_label() in verdict
    }


def test_the_cells_are_filled_with_the_probabilities_of_their_pairs(pairs):
    ax = pairs.plot.heatmap()
    filled = {region: shares(ax, region) for region in REGIONS}
    for pair in pairs.pairs:
        i, j = (pairs.order().index(name) for name in (pair.left, pair.right))
        seen = pair.next_dataset
        for place, values in (
            ((i, j), (seen.p_left, seen.p_rope, seen.p_right)),
            ((j, i), (seen.p_right, seen.p_rope, seen.p_left)),
        ):
            drawn = [filled[region].get(place, 0.0) for region in REGIONS]
            np.testing.assert_allclose(drawn, values, atol=1e-12)
    assert not any((k, k) in cells for cells in filled.values() for k in range(4))


def test_a_cell_is_filled_from_below_with_row_better_and_then_equivalent(ten):
    ax = ten.plot.heatmap()
    (better,) = [each for each in ax.collections if each.get_label() == WORDS["left"]]
    (equivalent,) = [each for each in ax.collections if each.get_label() == WORDS["rope"]]
    lowest = {tuple(path.vertices.mean(axis=0).round()): path.vertices[:, 1] for path in equivalent.get_paths()}
    low, high = ax.get_ylim()
    assert low > high  # rows count downwards, and below is the larger number
    for path in better.get_paths():
        column = round(path.vertices[:, 0].mean())
        floor, top = path.vertices[:, 1].max(), path.vertices[:, 1].min()
        row = round(floor - CELL / 2)
        assert floor == pytest.approx(row + CELL / 2)
        above = [y for (x, _), y in lowest.items() if x == column and abs(y.max() - top) < 1e-12]
        assert len(above) >= 1


def test_every_verdict_has_its_sign_and_no_verdict_has_none(ten):
    ax = ten.plot.heatmap()
    expected: dict[str, set] = {}
    for (i, one), (j, other) in itertools.permutations(enumerate(ten.order()), 2):
        verdict = ten.verdict(one, other)
        if verdict != "none":
            expected.setdefault(verdict, set()).add((i, j))
    assert signs(ax) == expected
    assert {"better", "worse", "equivalent", "undecided", "failed"} <= set(expected)


def test_the_level_of_the_verdicts_is_the_one_asked_for(ten):
    count = {alpha: len(signs(ten.plot.heatmap(alpha=alpha))["better"]) for alpha in (0.01, 0.05, 0.2)}
    for alpha, found in count.items():
        frame = ten.verdicts(alpha)
        assert found == (frame == "better").to_numpy().sum()
    assert count[0.01] < count[0.05] < count[0.2]
    assert "99%" in texts(ten.plot.heatmap(alpha=0.01))


@pytest.mark.parametrize("draw", [plot_pairs_heatmap, plot_ranking])
def test_the_algorithms_stand_in_their_order_on_the_axes_given_and_no_style_changes(ten, draw):
    before = dict(mpl.rcParams)
    figure, ax = plt.subplots(figsize=(7, 7))
    assert draw(ten, ax=ax) is ax
    assert figure.axes == [ax]
    assert dict(mpl.rcParams) == before
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(ten.order())
    low, high = ax.get_ylim()
    assert low > high  # the best at the top


def test_the_columns_have_the_order_of_the_rows(ten):
    ax = ten.plot.heatmap()
    assert [tick.get_text().replace("\n", "") for tick in ax.get_xticklabels()] == list(ten.order())


def test_numbers_are_written_where_the_cells_are_large_enough(pairs, base):
    written = pairs.plot.heatmap()
    seen = pairs.pairs[0].next_dataset
    assert f"{probability_text(seen.p_left)}\n{probability_text(seen.p_rope)}" in texts(written)
    assert len(written.texts) == 12
    assert "P(row better) over P(equivalent)" in texts(written)
    large = tournament(base, 20)
    assert len(large.plot.heatmap().texts) == 0
    assert len(large.plot.heatmap(numbers=True).texts) == 2 * (190 - 1)  # one pair failed
    assert len(pairs.plot.heatmap(numbers=False).texts) == 0


@pytest.mark.parametrize("count", [2, 3, 6, 20, 40])
@pytest.mark.parametrize("name", ["heatmap", "ranking"])
def test_no_name_lies_over_another_and_the_picture_is_no_wider_than_a_page(base, count, name):
    ax = getattr(tournament(base, count).plot, name)()
    figure = ax.figure
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] <= 7.1
    assert figure.get_size_inches()[1] <= 11
    page = figure.bbox
    rows = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert len(rows) == count
    assert all(above.y0 >= below.y1 - 1 for above, below in itertools.pairwise(rows))
    assert min(box.x0 for box in rows) >= page.x0 - 1
    if name == "heatmap":
        columns = [tick.get_window_extent() for tick in ax.get_xticklabels()]
        assert all(one.x1 <= other.x0 + 1 for one, other in itertools.pairwise(columns))
        assert max(box.y1 for box in columns) <= page.y1 + 1
        assert min(tick.get_fontsize() for tick in ax.get_yticklabels()) >= 4.5
        cell = ax.get_window_extent().width / figure.dpi * 72 / count
        assert all(line.get_markersize() < CELL * cell for line in ax.lines)
        inside = [text.get_window_extent() for text in ax.texts]
        assert all(box.width / figure.dpi * 72 < CELL * cell for box in inside)


def test_a_small_drawing_on_given_axes_keeps_its_signs_within_the_cells(ten):
    ax = plt.figure(figsize=(3, 3)).add_axes((0.3, 0.1, 0.6, 0.6))
    ten.plot.heatmap(ax=ax)
    cell = ax.get_window_extent().width / ax.figure.dpi * 72 / 10
    assert all(line.get_markersize() < cell for line in ax.lines)
    assert len(ax.texts) == 0


def luminance(colour) -> float:
    """Relative luminance of sRGB (IEC 61966-2-1)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize(
    ("paper", "ink", "lightest"),
    [("#FFFFFF", "#222222", "right"), ("#17181B", "#E6E6E3", "left")],
    ids=["light", "dark"],
)
def test_the_fillings_differ_in_grey_and_the_signs_can_be_read_on_each(ten, paper, ink, lightest):
    ax = ten.plot.heatmap()
    found = []
    for region in REGIONS:
        (drawn,) = [each for each in ax.collections if each.get_label() == WORDS[region]]
        *colour, alpha = drawn.get_facecolor()[0]
        found.append(luminance(alpha * np.array(colour) + (1 - alpha) * np.array(to_rgb(paper))))
    ordered = sorted(found)
    assert found == (ordered if lightest == "right" else ordered[::-1])
    # Contrast of WCAG 2.2: 4.5 for text, and here 1.2 between neighbouring areas that a line parts
    assert all(contrast(luminance(ink), light) > 4.5 for light in found)
    assert all(contrast(*pair) > 1.2 for pair in itertools.pairwise(ordered))
    if paper == "#FFFFFF":
        assert to_hex(ax.lines[0].get_color()).upper() == ink


def contrast(*luminances: float) -> float:
    darker, lighter = sorted(luminances)
    return (lighter + 0.05) / (darker + 0.05)


def test_a_baseline_is_the_only_row(base):
    result = tournament(base, 6, baseline="forest")
    ax = result.plot.heatmap()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["forest"]
    others = [name for name in result.order() if name != "forest"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == others
    filled = shares(ax, "left")
    for place, name in enumerate(others):
        value = result.better().loc["forest", name]
        assert filled.get((0, place), 0.0) == pytest.approx(0 if np.isnan(value) else value, abs=1e-12)
    assert sum(map(len, signs(ax).values())) + (result.verdicts().loc["forest"] == "none").sum() == 5


def test_a_choice_of_algorithms_is_drawn_in_their_order(ten):
    chosen = [ten.order()[7], ten.order()[1], ten.order()[4]]
    ax = ten.plot.heatmap(algorithms=chosen)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [ten.order()[1], ten.order()[4], ten.order()[7]]
    ranks = ten.plot.ranking(algorithms=chosen)
    drawn = next(line for line in ranks.lines if line.get_marker() == "o").get_xdata()
    np.testing.assert_array_equal(drawn, ten.ranking().loc[[ten.order()[k] for k in (1, 4, 7)], "expected_rank"])
    assert "of 10" in texts(ranks)  # ranked among all


def test_the_ranks_their_intervals_and_the_chances_are_those_of_the_table(ten):
    ax, table = ten.plot.ranking(), ten.ranking()
    points = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_array_equal(points.get_xdata(), table["expected_rank"])
    np.testing.assert_array_equal(points.get_ydata(), np.arange(10))
    segments = np.array(ax.collections[0].get_segments())
    np.testing.assert_array_equal(segments[:, :, 0], table[["lower", "upper"]])
    assert [text.get_text() for text in ax.texts] == ["P(best)", *map(probability_text, table["p_best"])]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == table.index.tolist()


def bars(ax: plt.Axes, total: int) -> list[list[int]]:
    """The rows that each bar right of the ranks joins, from its thick parts."""
    columns: dict[tuple, list[int]] = {}
    thin = [line for line in ax.lines if line.get_linewidth() == 0.7 and line.get_xdata()[0] > total]
    thick = [line for line in ax.lines if line.get_linewidth() == 3.0 and line.get_xdata()[0] > total]
    for whole in thin:
        low, high = whole.get_ydata()
        for part in thick:
            first, last = part.get_ydata()
            if part.get_xdata()[0] == whole.get_xdata()[0] and low <= first and last <= high:
                members = range(round(first + 0.3), round(last - 0.3) + 1)
                columns.setdefault((whole.get_xdata()[0], low), []).extend(members)
    return sorted(columns.values())


def test_the_bars_join_the_groups_that_are_not_told_apart(ten):
    ax = ten.plot.ranking()
    expected = sorted(sorted(ten.order().index(name) for name in group) for group in ten.cliques())
    assert bars(ax, 10) == expected
    # One of them passes an algorithm that it does not join
    assert any(group != list(range(group[0], group[-1] + 1)) for group in expected)


def test_bars_of_one_column_do_not_touch(ten):
    ax = ten.plot.ranking()
    thin = [line for line in ax.lines if line.get_linewidth() == 0.7]
    for x, lines in itertools.groupby(
        sorted(thin, key=lambda line: line.get_xdata()[0]), lambda line: line.get_xdata()[0]
    ):
        spans = sorted(tuple(line.get_ydata()) for line in lines)
        assert all(one[1] < other[0] for one, other in itertools.pairwise(spans)), x


def test_where_everything_is_told_apart_there_is_no_bar(base):
    names = ("a", "b", "c")
    apart = tournament(base, 3, names=names)
    assert bars(apart.plot.ranking(alpha=0.49), 3) == sorted(
        sorted(apart.order().index(name) for name in group) for group in apart.cliques(0.49)
    )


@pytest.mark.filterwarnings("ignore:Glyph")
def test_long_and_odd_names_are_drawn_as_they_are_and_stay_distinct(base):
    long = "gradient_boosting_with_100_trees_of_depth_"
    names = (
        f"{long}3_and_a_learning_rate",
        f"{long}5_and_a_learning_rate",
        "$\\frac{1}{$",
        "算法",
        "_hidden",
        "<script>",
    )
    result = tournament(base, 6, names=names)
    for ax in (result.plot.heatmap(), result.plot.ranking()):
        ax.figure.canvas.draw()
        shown = [tick.get_text() for tick in ax.get_yticklabels()]
        assert len(set(shown)) == 6
        assert {"$\\frac{1}{$", "算法", "_hidden", "<script>"} <= set(shown)


@given(st.lists(st.text("ab_1", min_size=1, max_size=60), min_size=2, max_size=12, unique=True), st.integers(12, 40))
@settings(max_examples=200)
def test_labels_are_distinct_and_short_and_leave_short_names_alone(names, longest):
    found = distinct_labels(names, longest)
    assert len(set(found)) == len(names)
    assert max(map(len, found)) <= longest
    if max(map(len, names)) <= longest:
        assert found == names


@pytest.mark.parametrize("draw", [plot_pairs_heatmap, plot_ranking])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.7}, "alpha must be above 0 and below 0.5"),
        ({"alpha": "0.05"}, "alpha must be a finite number"),
        ({"algorithms": "forest"}, "a list of names, got a single string: 'forest'"),
        ({"algorithms": ["forest", "oak"]}, "'oak' is not an algorithm of this result"),
        ({"algorithms": ["forest"]}, "1 algorithm can't be drawn, only 2 to 40"),
    ],
)
def test_wrong_arguments_are_refused(ten, draw, options, message):
    with pytest.raises(hc.ArgumentError, match=message):
        draw(ten, **options)


def test_numbers_must_be_true_or_false(ten):
    with pytest.raises(hc.ArgumentError, match="numbers must be True or False"):
        ten.plot.heatmap(numbers="no")


def test_41_algorithms_are_too_many_and_the_best_40_can_be_drawn(base):
    many = tournament(base, 41)
    with pytest.raises(hc.ArgumentError, match=r"41 algorithms can't be drawn.*algorithms=result.order\(\)\[:40\]"):
        many.plot.heatmap()
    assert len(many.plot.ranking(algorithms=many.order()[:40]).get_yticklabels()) == 40


def test_the_plots_are_methods_of_the_result(ten):
    assert isinstance(ten.plot, TournamentPlots)
    assert repr(ten.plot) == "<plots of every pair: heatmap, ranking>"
    assert Counter(map(len, signs(ten.plot()).values())) == Counter(map(len, signs(ten.plot.heatmap()).values()))
    coloured = ten.plot.heatmap(alpha=0.1, edgecolor="red")
    assert to_rgb(coloured.collections[0].get_edgecolor()[0][:3]) == (1, 0, 0)
    assert ten.plot.ranking(linewidth=7).collections[0].get_linewidths()[0] == 7


@pytest.mark.mpl_image_compare(**PICTURE)
@pytest.mark.parametrize("name", ["heatmap", "ranking"])
def test_picture_of_every_pair(ten, name):
    ax = plt.figure(figsize=(5, 5)).add_axes((0.1, 0.1, 0.8, 0.8))
    return without_text(getattr(ten.plot, name)(ax=ax).figure)
