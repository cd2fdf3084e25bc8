"""The 5x2 cv tests, against the papers' formulas in rational numbers and a simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import integrate, special, stats

from hiercomp.closed_form.one_dataset.five_by_two import five_by_two_cv_f, five_by_two_cv_t
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, DroppedScoresWarning, ScoreTableError
from hiercomp.scores.differences import PairedDifferences

TESTS = [five_by_two_cv_t, five_by_two_cv_f]
X = np.random.default_rng(5).normal(0.01, 0.03, size=(4, 5, 2)).round(4)


def table(x: np.ndarray = X) -> pd.DataFrame:
    rows = [
        (f"d{dataset}", algorithm, run + 1, fold + 1, 0.5 + (x[dataset, run, fold] if algorithm == "tree" else 0))
        for dataset in range(len(x))
        for run in range(x.shape[1])
        for fold in range(x.shape[2])
        for algorithm in ("bayes", "tree")
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "run", "fold", "score"])


def by_the_papers(x: np.ndarray) -> tuple[Fraction, Fraction]:
    """t^2 (Dietterich 1998, Sect. 3.5) and F (Alpaydin 1999, Eq. 5), exactly."""
    rows = [[Fraction(str(value)) for value in row] for row in x.tolist()]
    means = [(a + b) / 2 for a, b in rows]
    variances = [(a - mean) ** 2 + (b - mean) ** 2 for (a, b), mean in zip(rows, means, strict=True)]
    squares = sum(value**2 for row in rows for value in row)
    return rows[0][0] ** 2 / (sum(variances) / 5), squares / (2 * sum(variances))


def t_tail(t: float, df: int) -> mpmath.mpf:
    with mpmath.workdps(30):
        return mpmath.quad(lambda u: (1 + u * u / df) ** (-(df + 1) / 2), [t, mpmath.inf]) / mpmath.quad(
            lambda u: (1 + u * u / df) ** (-(df + 1) / 2), [-mpmath.inf, 0, mpmath.inf]
        )


def f_tail(f: float, df1: int, df2: int) -> mpmath.mpf:
    """By the density of a ratio of mean squares, integrated."""
    with mpmath.workdps(30):

        def density(u):
            return u ** (mpmath.mpf(df1) / 2 - 1) * (1 + df1 * u / df2) ** (-mpmath.mpf(df1 + df2) / 2)

        return mpmath.quad(density, [f, f + 10, mpmath.inf]) / mpmath.quad(density, [0, 1, 10, mpmath.inf])


def test_statistics_are_those_of_the_papers():
    t, f = five_by_two_cv_t(X), five_by_two_cv_f(X)
    for row, x in enumerate(X):
        t_squared, exact_f = by_the_papers(x)
        assert t.statistic[row] == pytest.approx(math.copysign(math.sqrt(t_squared), x[0, 0]), rel=1e-12)
        assert f.statistic[row] == pytest.approx(float(exact_f), rel=1e-12)
    assert t.df.tolist() == [5] * 4
    assert f.df == (10, 5)


def test_p_values_are_those_of_t_with_5_and_f_with_10_and_5_degrees_of_freedom():
    for x in X:
        t, f = five_by_two_cv_t(x), five_by_two_cv_f(x)
        assert t.pvalue == pytest.approx(2 * float(t_tail(abs(t.statistic), 5)), rel=1e-12)
        assert f.pvalue == pytest.approx(float(f_tail(f.statistic, 10, 5)), rel=1e-12)


def test_one_sided_p_values_have_the_direction_of_the_first_difference():
    for x in X:
        tail = float(t_tail(abs(five_by_two_cv_t(x).statistic), 5))
        expected = tail if x[0, 0] > 0 else 1 - tail
        assert five_by_two_cv_t(x, alternative="greater").pvalue == pytest.approx(expected, rel=1e-12)
        assert five_by_two_cv_t(x, alternative="less").pvalue == pytest.approx(1 - expected, rel=1e-12)


def test_t_depends_on_the_order_of_folds_and_f_does_not():
    turned = X[:, ::-1, ::-1]
    assert not np.allclose(five_by_two_cv_t(turned).pvalue, five_by_two_cv_t(X).pvalue)
    np.testing.assert_allclose(five_by_two_cv_f(turned).pvalue, five_by_two_cv_f(X).pvalue, rtol=1e-13)


@pytest.mark.parametrize("test", TESTS)
def test_tables_differences_and_arrays_agree(test):
    frame, expected = table(), test(X)
    for result in (
        test(frame),
        test(pl.from_pandas(frame)),
        test(PairedDifferences.from_table(frame)),
        test(frame.sample(frac=1, random_state=1), left="bayes"),  # sorted by run and fold again
        test(X.tolist()),
    ):
        by_name = dict(zip(result.dataset_names, range(4), strict=True))
        order = [by_name.get(f"d{row}", row) for row in range(4)]
        np.testing.assert_allclose(result.statistic[order], expected.statistic, rtol=1e-11)
        np.testing.assert_allclose(result.pvalue[order], expected.pvalue, rtol=1e-11)


@pytest.mark.parametrize("test", TESTS)
def test_one_data_set_has_numbers(test):
    single, several = test(X[1]), test(X)
    assert (single.statistic, single.pvalue) == (several.statistic[1], several.pvalue[1])
    assert isinstance(single.pvalue, float)


def test_a_loss_turns_the_sign_of_t_only():
    for given in (X, table()):
        gain, loss = five_by_two_cv_t(given), five_by_two_cv_t(given, higher_is_better=False)
        np.testing.assert_allclose(loss.statistic, -gain.statistic, rtol=1e-15)
        assert (five_by_two_cv_f(given, higher_is_better=False).pvalue == five_by_two_cv_f(given).pvalue).all()


def test_the_left_algorithm_of_a_table_can_be_chosen():
    plain, swapped = five_by_two_cv_t(table(), left="bayes"), five_by_two_cv_t(table(), left="tree")
    np.testing.assert_allclose(swapped.statistic, -plain.statistic, rtol=1e-15)
    assert swapped.algorithms == ("tree", "bayes")


@pytest.mark.parametrize(
    ("difference", "t", "two_sided", "greater", "f", "p_of_f"),
    [(0.1, math.inf, 0, 0, math.inf, 0), (-0.1, -math.inf, 0, 1, math.inf, 0), (0.0, 0, 1, 0.5, 0, 1)],
)
def test_differences_without_variation_have_the_limit_of_small_ones(difference, t, two_sided, greater, f, p_of_f):
    x = np.full((5, 2), difference)
    for alternative, p in (("two-sided", two_sided), ("greater", greater), ("less", 1 - greater)):
        with pytest.warns(DegenerateScoresWarning, match="t is infinite, or 0") as caught:
            result = five_by_two_cv_t(x, alternative=alternative)
        assert caught[0].filename == __file__
        assert (result.statistic, result.pvalue) == (t, p)
    with pytest.warns(DegenerateScoresWarning, match="same difference in 1 of 1 data sets"):
        result = five_by_two_cv_f(x)
    assert (result.statistic, result.pvalue) == (f, p_of_f)
    assert "F is infinite, or 0" in result.notes[0]


def test_runs_that_differ_while_their_folds_do_not_are_without_variation_too():
    x = np.repeat(np.array([[0.0], [0.1], [0.2], [0.1], [0.3]]), 2, axis=1)
    with pytest.warns(DegenerateScoresWarning):
        t = five_by_two_cv_t(x)
    assert (t.statistic, t.pvalue) == (0, 1)  # of the first difference only
    with pytest.warns(DegenerateScoresWarning):
        assert five_by_two_cv_f(x).pvalue == 0


def test_differences_that_vary_by_rounding_only_do_not_vary():
    # 0.3 and 0.1 + 0.2 differ in the last bit
    frame = table(np.zeros((1, 5, 2)))
    frame.loc[frame["algorithm"] == "tree", "score"] = np.tile([0.3, 0.1 + 0.2], 5)
    frame.loc[frame["algorithm"] == "bayes", "score"] = 0.3
    with pytest.warns(DegenerateScoresWarning):
        assert five_by_two_cv_f(frame).pvalue[0] == 1
    frame.loc[frame["algorithm"] == "bayes", "score"] = 0.2
    with pytest.warns(DegenerateScoresWarning):
        assert five_by_two_cv_f(frame).pvalue[0] == 0


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("shape", [(10,), (5, 3), (2, 5), (0, 5, 2), (1, 1, 5, 2)])
def test_other_shapes_are_refused(test, shape):
    with pytest.raises(ScoreTableError, match=r"shape \(5, 2\) or \(q, 5, 2\), got"):
        test(np.zeros(shape))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("x", [[[1, 2], [3]], "text", [["1", "2"]] * 5, np.ones((5, 2), dtype=bool), None])
def test_what_does_not_hold_numbers_is_refused(test, x):
    with pytest.raises(ScoreTableError, match="5 runs of 2 folds"):
        test(x)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_refused_with_its_place(test, value):
    x = X.copy()
    x[2, 3, 1] = value
    with pytest.raises(
        ScoreTableError, match=r"1 of 40 numbers of x are not finite \(first: data set 3, run 4, fold 2"
    ):
        test(x)
    with pytest.raises(
        ScoreTableError, match=r"1 of 10 numbers of x are not finite \(first: data set 1, run 4, fold 2, "
    ):
        test(x[2])
    with pytest.raises(ScoreTableError, match="missing or not finite"):
        test(table(x))


def test_a_masked_array_is_refused():
    with pytest.raises(ScoreTableError, match="masked"):
        five_by_two_cv_f(np.ma.array(X[0], mask=X[0] == X[0, 0, 0]))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("runs", "folds", "found"),
    [(10, 2, "10 runs of 2 folds"), (5, 3, "5 runs of 3 folds"), (1, 10, "1 runs of 10 folds")],
)
def test_other_layouts_are_refused_with_what_was_found(test, runs, folds, found):
    other = table(np.random.default_rng(1).normal(size=(1, runs, folds))).assign(dataset="odd")
    with pytest.raises(ScoreTableError, match=f"data set 'odd' has {found}"):
        test(pd.concat([table(), other]))


@pytest.mark.parametrize("test", TESTS)
def test_runs_and_folds_must_be_known(test):
    frame = table()
    with pytest.raises(ScoreTableError, match="there is no run"):
        test(frame.assign(fold=2 * frame["run"] + frame["fold"]).drop(columns="run"))
    with pytest.raises(ScoreTableError, match="there is no run and no fold"):
        test(PairedDifferences.from_arrays(np.zeros((1, 10)), X[:1].reshape(1, 10), rho=0.5))


def test_an_unknown_alternative_is_refused():
    with pytest.raises(ArgumentError, match="alternative must be"):
        five_by_two_cv_t(X, alternative="larger")


@pytest.mark.parametrize("test", TESTS)
def test_higher_is_better_must_be_a_boolean(test):
    with pytest.raises(ArgumentError, match="higher_is_better must be True or False"):
        test(X, higher_is_better="no")


@pytest.mark.parametrize("test", TESTS)
def test_what_a_table_leaves_out_is_warned_of_and_kept(test):
    frame = table()
    with pytest.warns(DroppedScoresWarning, match="'d1'") as caught:
        result = test(frame[(frame["dataset"] != "d1") | (frame["algorithm"] == "tree")], left="bayes")
    assert caught[0].filename == __file__
    assert "'d1'" in result.notes[0]


def test_the_result_says_what_it_is():
    result = five_by_two_cv_f(X, left="bayes", right="tree")
    assert result.title == "Combined 5x2 cv F-test (Alpaydin 1999), bayes against tree, 4 data sets, two-sided"
    assert result.to_frame().columns.tolist() == ["statistic", "df1", "df2", "pvalue"]
    assert five_by_two_cv_t(X).to_frame().columns.tolist() == ["statistic", "df", "pvalue"]


def test_the_type_i_error_under_independent_normal_differences_is_the_derived_one():
    # With u, v = (d1 + d2, d1 - d2) / sqrt(2), independent and standard normal, each run has s^2 = v^2. The numerators
    # contain v as well, so that neither statistic has its nominal distribution; both tests are conservative.
    simulations = 20_000
    x = np.random.default_rng(2015).standard_normal((simulations, 5, 2))
    # F = (sum u^2 + sum v^2) / (2 sum v^2) = (1 + F') / 2, where F' has 5 and 5 degrees of freedom
    expected_f = stats.f.sf(2 * stats.f.isf(0.05, 10, 5) - 1, 5, 5)
    assert expected_f == pytest.approx(0.0175, abs=5e-4)

    # t = (u + v) / sqrt(2 (v^2 + w) / 5), with w the other four s^2, chi-squared with 4 degrees of freedom, whose density
    # is w exp(-w / 2) / 4
    critical = stats.t.isf(0.025, 5)

    def rejected(v, w):
        bound = critical * math.sqrt(2 * (v**2 + w) / 5)
        density = math.exp(-(v**2 + w) / 2) / math.sqrt(2 * math.pi) * w / 4
        return (special.ndtr(v - bound) + special.ndtr(-v - bound)) * density

    expected_t = integrate.dblquad(rejected, 0, 60, -8, 8, epsabs=1e-7)[0]
    assert expected_t == pytest.approx(0.028, abs=5e-4)
    for test, expected in ((five_by_two_cv_t, expected_t), (five_by_two_cv_f, expected_f)):
        error = math.sqrt(expected * (1 - expected) / simulations)
        assert np.mean(test(x).pvalue < 0.05) == pytest.approx(expected, abs=4 * error)


def test_a_subset_in_another_order_keeps_the_numbers_of_each_data_set():
    chosen = PairedDifferences.from_table(table(), "bayes", "tree").subset(["d2", "d0"])
    found = five_by_two_cv_f(chosen)
    assert found.dataset_names == ("d2", "d0")
    assert found.statistic == pytest.approx([float(by_the_papers(X[place])[1]) for place in (2, 0)], rel=1e-9)
