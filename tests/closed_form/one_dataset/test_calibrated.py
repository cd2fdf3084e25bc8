"""Calibrated tests: every scheme against loops, scipy and the corrected t-test; layouts, and what is refused."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hiercomp.closed_form.one_dataset.calibrated import (
    CALIBRATED,
    LEVELS,
    NOT_CALIBRATABLE,
    OWN,
    OWN_RUNS,
    OWN_SPLITS,
    PAPER,
    SCHEMES,
    calibrated_test,
    nominal_df,
    standardised_mean,
    statistic_parts,
)
from hiercomp.closed_form.one_dataset.frequentist import corrected_t_test
from hiercomp.closed_form.simulated_differences import equal_correlation_differences
from hiercomp.errors import ArgumentError, DegenerateScoresWarning, DroppedScoresWarning, ScoreTableError
from hiercomp.scores.differences import PairedDifferences

RUNS, FOLDS = 4, 6


def differences(q=3, runs=RUNS, folds=FOLDS, seed=1):
    generator = np.random.default_rng(seed)
    centres = generator.normal(0, 0.01, (q, 1, 1))
    return centres + generator.normal(0, 0.03, (q, runs, folds))


def columns(runs):
    return [list(column) for column in zip(*runs, strict=True)]


def t_of(mean, variance, df):
    return mean * math.sqrt(df + 1) / math.sqrt(variance)


def one_sample(values, df):
    return t_of(statistics.fmean(values), statistics.variance(values), df)


def averaged_variance(samples, df):
    mean = statistics.fmean([value for sample in samples for value in sample])
    return t_of(mean, statistics.fmean([statistics.variance(sample) for sample in samples]), df)


def averaged_t(samples, df):
    return statistics.fmean([one_sample(sample, df) for sample in samples])


def flat(runs):
    return [value for run in runs for value in run]


def means(samples):
    return [statistics.fmean(sample) for sample in samples]


def in_order(runs):
    return [sorted(run) for run in runs]


# The definitions of Bouckaert (2003), Sects. 2 and 3, with loops: T of the runs (lists of folds) of a data set; and the
# nominal degrees of freedom of its Table 1
LOOPS = {
    "use all data": (lambda runs, df: one_sample(flat(runs), df), RUNS * FOLDS - 1),
    "folds": (lambda runs, df: one_sample(means(runs), df), RUNS - 1),
    "folds averaged variance": (averaged_variance, RUNS - 1),
    "folds averaged T": (averaged_t, FOLDS - 1),
    "runs": (lambda runs, df: one_sample(means(columns(runs)), df), FOLDS - 1),
    "runs averaged variance": (lambda runs, df: averaged_variance(columns(runs), df), FOLDS - 1),
    "runs averaged T": (lambda runs, df: averaged_t(columns(runs), df), RUNS - 1),
    "sorted runs": (lambda runs, df: one_sample(means(columns(in_order(runs))), df), FOLDS - 1),
    "sorted runs averaged variance": (lambda runs, df: averaged_variance(columns(in_order(runs)), df), FOLDS - 1),
    "sorted runs averaged T": (lambda runs, df: averaged_t(columns(in_order(runs)), df), RUNS - 1),
    "k-fold cv": (lambda runs, df: one_sample(runs[0], df), FOLDS - 1),
    "resampling": (lambda runs, df: one_sample(flat(runs), df), RUNS * FOLDS - 1),
    "corrected resampling": (
        lambda runs, df: one_sample(flat(runs), df) / math.sqrt(1 + RUNS * FOLDS * (1 / FOLDS) / (1 - 1 / FOLDS)),
        RUNS * FOLDS - 1,
    ),
}


def test_every_scheme_has_its_loops():
    assert list(LOOPS) == list(SCHEMES)


@pytest.mark.filterwarnings("ignore:'k-fold cv' uses the first run")
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("df", ["nominal", 3.5])
@pytest.mark.parametrize("scheme", LOOPS)
def test_a_scheme_is_what_its_loops_say(scheme, df, alternative):
    loop, nominal = LOOPS[scheme]
    x = differences()
    result = calibrated_test(x, scheme=scheme, df=df, alternative=alternative)
    number = nominal if df == "nominal" else df
    expected = [loop(dataset.tolist(), number) for dataset in x]
    assert (result.scheme, result.df, result.df_source) == (scheme, number, "nominal" if df == "nominal" else "given")
    # A sum of 24 terms, and the division by a mean about as large as its standard deviation, cost less than 100 ulp
    np.testing.assert_allclose(result.statistic, expected, rtol=100 * np.finfo(float).eps)
    reference = {
        "two-sided": 2 * stats.t.sf(np.abs(expected), number),
        "less": stats.t.cdf(expected, number),
        "greater": stats.t.sf(expected, number),
    }
    np.testing.assert_allclose(result.pvalue, reference[alternative], rtol=1e-12)


def test_two_values_have_a_variance():
    x = differences(q=1, runs=2)
    expected = one_sample(means(x[0].tolist()), 3)
    assert calibrated_test(x[0], scheme="folds", df=3).statistic == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(
    ("scheme", "sample"),
    [
        ("use all data", lambda x: x.ravel()),
        ("resampling", lambda x: x.ravel()),
        ("folds", lambda x: x.mean(axis=1)),
        ("runs", lambda x: x.mean(axis=0)),
        ("k-fold cv", lambda x: x[0]),
    ],
)
@pytest.mark.filterwarnings("ignore:'k-fold cv' uses the first run")
def test_with_nominal_df_it_is_the_t_test_of_scipy(scheme, sample, alternative):
    x = differences(q=1)[0]
    expected = stats.ttest_1samp(sample(x), 0, alternative=alternative)
    result = calibrated_test(x, scheme=scheme, df="nominal", alternative=alternative)
    assert isinstance(result.pvalue, float)
    assert result.df == expected.df
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-13)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize(("rho", "same"), [(None, 1 / FOLDS), (0.3, 0.3), (0.0, 0.0)])
def test_corrected_resampling_is_the_corrected_t_test(rho, same):
    x = differences()
    expected = corrected_t_test(x.reshape(len(x), -1), rho=same, alternative="greater")
    result = calibrated_test(x, scheme="corrected resampling", rho=rho, df="nominal", alternative="greater")
    assert result.df == expected.df[0]
    assert result.df_source == "nominal"
    np.testing.assert_allclose(result.statistic, expected.statistic, rtol=1e-13)
    np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-12)


def test_use_all_data_of_ten_runs_of_ten_folds_has_the_ten_df_of_the_paper():
    x = differences(runs=10, folds=10)
    result = calibrated_test(x)
    t = x.mean(axis=(1, 2)) * math.sqrt(11) / x.std(axis=(1, 2), ddof=1)
    assert (result.scheme, result.df, result.df_source) == ("use all data", 10, PAPER)
    assert "for binary data" in str(result)
    np.testing.assert_allclose(result.pvalue, 2 * stats.t.sf(np.abs(t), 10), rtol=1e-12)


@pytest.mark.slow
def test_use_all_data_with_ten_df_has_the_type_one_error_that_follows_from_equal_correlation():
    # m / s sqrt(n) is t(n - 1) times ratio: m has variance (1 + (n - 1) rho) / n, s^2 estimates 1 - rho
    simulations, n, rho = 20_000, 100, 0.1
    x = equal_correlation_differences(np.random.default_rng(1), simulations, n, rho).reshape(-1, 10, 10)
    ratio = math.sqrt((1 + (n - 1) * rho) / (1 - rho))
    expected = 2 * stats.t.sf(stats.t.isf(0.025, 10) / math.sqrt(11) * math.sqrt(n) / ratio, n - 1)
    assert 0.05 < expected < 0.06
    error = (calibrated_test(x).pvalue < 0.05).mean()
    assert abs(error - expected) < 4 * math.sqrt(expected * (1 - expected) / simulations)


# The numbers of Bouckaert (2003), Sects. 4 and 6, at the 5% level: 10 is recommended for "use all data"; circa 11 for six
# schemes; k-fold cv a third below the 9 of ten folds
CIRCA_11 = [
    "use all data",
    "folds averaged variance",
    "folds averaged T",
    "runs averaged variance",
    "runs averaged T",
    "sorted runs",
]


@pytest.mark.filterwarnings("ignore:'k-fold cv' uses the first run")
@pytest.mark.parametrize("key", CALIBRATED)
def test_every_calibrated_df_is_used_and_its_source_is_named(key):
    scheme, runs, folds, level = key
    df, source = CALIBRATED[key]
    rho = 0.1 if folds == 1 else None
    result = calibrated_test(differences(runs=runs, folds=folds), scheme=scheme, alpha=level, rho=rho)
    assert (result.df, result.df_source) == (df, source)
    assert source in {PAPER, OWN}
    assert "binary data" in source
    assert 2 <= df <= 100


# scripts/calibrate_degrees_of_freedom.py --write: how many simulated data sets a level rejects with a df and those beside it
SIMULATED = pd.read_csv(Path(__file__).parents[2] / "data/calibrated_df.csv")


def test_every_calibrated_df_of_ours_is_that_of_the_simulation():
    found = SIMULATED.pivot(index=["scheme", "runs"], columns="level", values="df")
    assert {key: tuple(row) for key, row in zip(found.index, found.to_numpy(), strict=True)} == OWN_RUNS | OWN_SPLITS


@pytest.mark.parametrize("row", SIMULATED.itertuples(), ids=lambda row: f"{row.scheme}-{row.runs}-{row.level:g}")
def test_a_calibrated_df_has_the_type_one_error_nearest_to_the_level_at_or_below_it(row):
    assert row.datasets == 4000
    allowed = round(row.level * row.datasets)
    assert row.rejected <= allowed
    if row.rejected == allowed:
        assert row.before < allowed  # the smallest of several
    elif row.df < 100:
        assert row.after > allowed


@pytest.mark.parametrize("scheme", CIRCA_11)
@pytest.mark.parametrize("runs", [10, 20, 50, 100])
def test_six_schemes_have_about_the_eleven_df_of_the_paper(scheme, runs):
    df, source = CALIBRATED[scheme, runs, 10, 0.05]
    assert abs(df - 11) <= 2  # "circa"; ours are of scikit-learn's learners
    assert source == (PAPER if (scheme, runs) == ("use all data", 10) else OWN)


@pytest.mark.filterwarnings("ignore:'k-fold cv' uses the first run")
@pytest.mark.parametrize("runs", [1, 7, 10])
@pytest.mark.parametrize("level", LEVELS)
def test_k_fold_cv_has_the_six_df_of_the_paper_whatever_the_runs(runs, level):
    result = calibrated_test(differences(runs=runs, folds=10), scheme="k-fold cv", alpha=level)
    assert (result.df, result.df_source) == (6, PAPER)


@pytest.mark.parametrize("layout", [(10, 10), (3, 5)])
@pytest.mark.parametrize("scheme", ["folds", "runs", "sorted runs averaged variance", "sorted runs averaged T"])
def test_the_four_schemes_that_the_paper_drops_are_not_offered_as_calibrated(scheme, layout):
    assert scheme in NOT_CALIBRATABLE
    x = differences(runs=layout[0], folds=layout[1])
    words = rf"'{scheme}' can't be calibrated: .* very low or erratic .* Use 'use all data' or 'corrected resampling'"
    with pytest.raises(ArgumentError, match=words):
        calibrated_test(x, scheme=scheme)
    assert calibrated_test(x, scheme=scheme, df="nominal").df == nominal_df(scheme, *layout)


@pytest.mark.parametrize("scheme", ["resampling", "corrected resampling"])
def test_random_splits_are_counted_one_a_run(scheme):
    x = differences(runs=20, folds=1)
    alone = calibrated_test(x, scheme=scheme, rho=0.1)
    assert nominal_df(scheme, 20, 1) == 19  # Bouckaert (2003), Sect. 4: "the expected r - 1"
    folded = calibrated_test(x.reshape(3, 2, 10), scheme=scheme)
    assert folded.df == alone.df == CALIBRATED[scheme, 20, 1, 0.05][0]
    np.testing.assert_array_equal(folded.pvalue, alone.pvalue)
    with pytest.raises(ArgumentError, match=r"for 21 splits. Run calibrate\('.*', runs=21, folds=1, rho=0.1\)"):
        calibrated_test(differences(runs=21, folds=1), scheme=scheme, rho=0.1)


def test_the_df_of_resampling_are_far_below_those_of_corrected_resampling():
    # Bouckaert (2003), Sect. 4: up to 90% below n - 1, and circa 10% below, with a share of test cases that is not given
    for splits in (10, 20, 50, 100):
        plain, corrected = (CALIBRATED[name, splits, 1, 0.05][0] for name in ("resampling", "corrected resampling"))
        assert 0.05 * (splits - 1) < plain < 0.7 * (splits - 1)
        assert 0.8 * (splits - 1) < corrected < 1.25 * (splits - 1)


@pytest.mark.parametrize(
    ("scheme", "options", "shape"),
    [
        ("corrected resampling", {"rho": 0.3}, (20, 1)),
        ("resampling", {"rho": 0.3}, (20, 1)),
        ("corrected resampling", {}, (4, 5)),
        ("resampling", {}, (4, 5)),
    ],
)
def test_a_share_of_test_cases_that_was_not_calibrated_is_refused(scheme, options, shape):
    with pytest.raises(ArgumentError, match=r"for a share of 0\.[23] for the test, only for 0\.1"):
        calibrated_test(differences(runs=shape[0], folds=shape[1]), scheme=scheme, **options)


def test_a_level_that_was_not_calibrated_is_named():
    words = r"known for 10 runs of 10 folds at the 2\.5% level. Run calibrate\('use all data', .*, alpha=0\.025\)"
    with pytest.raises(ArgumentError, match=words):
        calibrated_test(differences(runs=10, folds=10), alpha=0.025)
    with pytest.raises(ArgumentError, match="alpha must be above 0 and below 1, got 5"):
        calibrated_test(differences(runs=10, folds=10), alpha=5)


def test_sorting_the_runs_matters_and_makes_the_order_of_folds_irrelevant():
    x = differences()
    shuffled = np.random.default_rng(0).permuted(x, axis=2)
    for scheme in SCHEMES:
        if scheme.startswith("runs"):
            plain, ordered = (calibrated_test(x, scheme=name, df=3) for name in (scheme, f"sorted {scheme}"))
            assert (np.abs(plain.statistic / ordered.statistic - 1) > 0.01).all()
            again = calibrated_test(shuffled, scheme=scheme, df=3)
            assert not np.allclose(again.statistic, plain.statistic)
            again = calibrated_test(shuffled, scheme=f"sorted {scheme}", df=3)
            np.testing.assert_allclose(again.statistic, ordered.statistic, rtol=1e-13)


@pytest.mark.filterwarnings("ignore:'k-fold cv' uses the first run")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_turning_the_sign_mirrors_the_test_and_another_unit_changes_nothing(scheme):
    x = differences()
    result = calibrated_test(x, scheme=scheme, df=5, alternative="greater")
    mirrored = calibrated_test(x, scheme=scheme, df=5, alternative="less", higher_is_better=False)
    np.testing.assert_allclose(mirrored.statistic, -result.statistic, rtol=1e-12)
    np.testing.assert_allclose(mirrored.pvalue, result.pvalue, rtol=1e-11)
    percent = calibrated_test(100 * x, scheme=scheme, df=5, alternative="greater")
    np.testing.assert_allclose(percent.statistic, result.statistic, rtol=1e-12)


def test_a_single_data_set_gives_numbers_and_several_give_arrays():
    x = differences()
    together = calibrated_test(x, df=5)
    alone = calibrated_test(x[1], df=5)
    assert together.pvalue.shape == (3,)
    assert isinstance(alone.statistic, float)
    assert alone.statistic == together.statistic[1]
    assert (together.dataset_names, alone.dataset_names) == (("1", "2", "3"), ("1",))


def score_table(x, **names):
    left, right = names.get("left", "nb"), names.get("right", "tree")
    generator = np.random.default_rng(3)
    rows = []
    for (dataset, run, fold), difference in np.ndenumerate(x):
        score = generator.uniform(0.1, 0.8)
        place = (f"d{dataset}", run + 1, fold + 1)
        rows += [(*place, left, score), (*place, right, score + difference)]
    return pd.DataFrame(rows, columns=["dataset", "run", "fold", "algorithm", "score"])


@pytest.mark.filterwarnings("ignore:'k-fold cv' uses the first run")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_table_in_any_order_and_its_pairs_give_what_the_array_gives(scheme):
    x = differences(runs=11, folds=12)  # two digits: labels are numbers, not text
    table = score_table(x).sample(frac=1, random_state=0)
    expected = calibrated_test(x, scheme=scheme, df=5)
    pairs = PairedDifferences.from_table(table, "nb", "tree")
    for given in (table, pairs):
        names = {} if given is pairs else {"left": "nb", "right": "tree"}
        result = calibrated_test(given, scheme=scheme, df=5, **names)
        # Scores near 0.7 have lost four digits of differences near 0.01
        np.testing.assert_allclose(result.statistic, expected.statistic, rtol=1e-11)
        assert result.algorithms == ("nb", "tree")
        assert result.dataset_names == ("d0", "d1", "d2")


def test_a_table_of_losses_has_its_sign_turned():
    x = differences()
    options = {"left": "nb", "right": "tree", "df": 5, "higher_is_better": False}
    result = calibrated_test(score_table(-x), **options)
    np.testing.assert_allclose(result.statistic, calibrated_test(x, df=5).statistic, rtol=1e-11)


def test_a_table_without_runs_is_one_run():
    x = differences(runs=1)
    table = score_table(x).drop(columns="run")
    result = calibrated_test(table, scheme="k-fold cv", df="nominal", left="nb", right="tree")
    np.testing.assert_allclose(result.pvalue, stats.ttest_1samp(x[:, 0], 0, axis=1).pvalue, rtol=1e-11)
    assert result.notes == ()


@pytest.mark.parametrize("scheme", ["resampling", "corrected resampling"])
def test_repeated_hold_out_without_folds_needs_its_share_of_test_cases(scheme):
    table = score_table(differences(folds=1, runs=20)).drop(columns="fold")
    with pytest.raises(ArgumentError, match="Pass rho, the share of test cases"):
        calibrated_test(table, scheme=scheme, left="nb", right="tree")


def test_corrected_resampling_of_a_table_without_folds_is_the_corrected_t_test():
    x = differences(folds=1, runs=20)
    table = score_table(x).drop(columns="fold")
    result = calibrated_test(table, scheme="corrected resampling", df="nominal", rho=0.3, left="nb", right="tree")
    np.testing.assert_allclose(result.pvalue, corrected_t_test(x[..., 0], rho=0.3).pvalue, rtol=1e-11)


def test_a_missing_fold_is_named():
    table = score_table(differences())
    gap = (table["dataset"] == "d1") & (table["run"] == 3) & (table["fold"] == 5)
    words = r"the same 4 runs and 6 folds, but 1 of 72 scores are missing \(first: dataset 'd1', run 3, fold 5\)"
    with pytest.raises(ScoreTableError, match=words):
        calibrated_test(table[~gap], left="nb", right="tree", df=5)


def test_folds_that_are_numbered_through_the_runs_are_refused():
    table = score_table(differences())
    table["fold"] += FOLDS * (table["run"] - 1)
    with pytest.raises(ScoreTableError, match="number the folds afresh in each run"):
        calibrated_test(table, left="nb", right="tree", df=5)


def test_differences_without_runs_and_folds_are_refused():
    x = differences().reshape(3, -1)
    pairs = PairedDifferences.from_arrays(np.zeros_like(x), x, rho=0.1)
    with pytest.raises(ScoreTableError, match="do not say which run and fold"):
        calibrated_test(pairs, df=5)
    with pytest.raises(ArgumentError, match="read from a file"):
        calibrated_test(replace(pairs, scores=None), df=5)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([0.1, 0.2], r"the shape \(runs, folds\) or \(data sets, runs, folds\), got float64 of shape \(2,\)"),
        (np.zeros((1, 1, 1, 1)), r"of shape \(1, 1, 1, 1\)"),
        (np.zeros((3, 0)), r"of shape \(3, 0\)"),
        ([["a", "b"]], "x must hold numbers"),
        ([[True, False]], "x must hold numbers, .* got bool"),
        ([[0.1, 0.2], [0.1]], "its rows have unequal lengths"),
        ([[0.1, math.nan], [math.inf, 0.2]], r"2 of 4 numbers .* \(first: data set 1, run 1, fold 2, nan\)"),
    ],
)
def test_what_is_not_an_array_of_finite_numbers_is_refused(x, words):
    with pytest.raises(ScoreTableError, match=words):
        calibrated_test(x)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scheme": "use all dta"}, "scheme must be one of 'use all data', .* Did you mean 'use all data'"),
        ({"scheme": None}, "got None"),
        ({"df": "calibrate"}, "df must be 'calibrated', 'nominal' or a number above 0, got 'calibrate'"),
        ({"df": None}, "got None"),
        ({"df": 0}, "df must be above 0, got 0"),
        ({"df": math.nan}, "df must be a finite number"),
        ({"df": True}, "df must be a finite number"),
        ({"alternative": "right"}, "alternative must be"),
        (
            {"df": 5, "rho": 0.1},
            "rho belongs to 'corrected resampling' and 'resampling'; leave it out for 'use all data'",
        ),
        ({"scheme": "corrected resampling", "rho": 1.0}, "rho must be at least 0 and below 1, got 1"),
        ({"scheme": "corrected resampling", "rho": "0.1"}, "rho must be a finite number"),
        ({"higher_is_better": "no"}, "higher_is_better must be True or False"),
        (
            {},
            r"No calibrated df of 'use all data' is known for 4 runs of 6 folds. Run calibrate\('use all data', runs=4",
        ),
    ],
)
def test_arguments_are_checked(options, words):
    with pytest.raises(ArgumentError, match=words):
        calibrated_test(differences(), **options)


def test_one_run_has_an_averaged_variance_but_no_nominal_df():
    x = differences(runs=1)
    expected = [averaged_variance(dataset.tolist(), 5) for dataset in x]
    np.testing.assert_allclose(
        calibrated_test(x, scheme="folds averaged variance", df=5).statistic, expected, rtol=1e-13
    )
    with pytest.raises(ArgumentError, match="'folds averaged variance' has no nominal degrees of freedom"):
        calibrated_test(x, scheme="folds averaged variance", df="nominal")


@pytest.mark.parametrize("scheme", ["folds", "runs averaged variance", "sorted runs averaged T"])
def test_a_variance_over_a_single_run_is_refused(scheme):
    with pytest.raises(
        ArgumentError, match=f"With 1 run of 6 folds, '{scheme}' would take the variance of single values"
    ):
        calibrated_test(differences(runs=1), scheme=scheme, df=5)


def test_the_runs_that_k_fold_cv_leaves_out_are_named():
    with pytest.warns(DroppedScoresWarning, match="the other 3 of 4 runs are left out"):
        result = calibrated_test(differences(), scheme="k-fold cv", df="nominal")
    assert (result.df, result.df_source) == (FOLDS - 1, "nominal")
    assert "left out" in str(result)


@pytest.mark.parametrize(
    ("value", "statistic", "p"),
    [
        (0.1, math.inf, {"two-sided": 0, "greater": 0, "less": 1}),
        (-0.1, -math.inf, {"two-sided": 0, "greater": 1, "less": 0}),
        (0.0, 0.0, {"two-sided": 1, "greater": 0.5, "less": 0.5}),
    ],
)
@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "k-fold cv"])
def test_without_variation_the_statistic_is_infinite_or_zero(scheme, value, statistic, p):
    x = np.full((RUNS, FOLDS), value)  # 24 times 0.1 has a variance that is only rounding
    for alternative, expected in p.items():
        with pytest.warns(DegenerateScoresWarning, match=r"In 1 of 1 data sets \(first: '1'"):
            result = calibrated_test(x, scheme=scheme, df=5, alternative=alternative)
        assert (result.statistic, result.pvalue) == (statistic, expected)
        assert "never vary" in result.notes[0]


def test_differences_of_scores_that_are_equal_up_to_rounding_do_not_vary():
    table = score_table(np.full((1, RUNS, FOLDS), 0.1))
    scores = table.pivot(index=["run", "fold"], columns="algorithm", values="score")
    assert (scores["tree"] - scores["nb"]).nunique() > 1
    with pytest.warns(DegenerateScoresWarning, match="first: 'd0'"):
        result = calibrated_test(table, left="nb", right="tree", df=5)
    assert result.statistic[0] == math.inf


def test_run_means_that_are_equal_up_to_rounding_do_not_vary():
    generator = np.random.default_rng(1)
    x = generator.permuted(np.tile(generator.normal(0.1, 0.3, 12), (RUNS, 1)), axis=1)
    assert x.mean(axis=1).var() > 0
    with pytest.warns(DegenerateScoresWarning, match="whose variance 'folds' uses"):
        assert calibrated_test(x, scheme="folds", df=5).statistic == math.inf
    assert math.isfinite(calibrated_test(x, df=5).statistic)


def test_an_averaged_t_with_a_run_without_variation_is_infinite_unless_such_runs_cancel():
    x = differences(q=1)[0]
    rest = statistics.fmean([one_sample(run, 5) for run in x[2:].tolist()])
    cases = {(0.2, -0.1): math.inf, (0.1, -0.2): -math.inf, (0.1, -0.1): rest / 2, (0.0, 0.0): rest / 2}
    for constants, expected in cases.items():
        x[0], x[1] = constants
        with pytest.warns(DegenerateScoresWarning, match="in 2 of 4 parts"):
            result = calibrated_test(x, scheme="folds averaged T", df=5)
        assert result.statistic == pytest.approx(expected, rel=1e-12)


def test_parts_without_variation_cancel_up_to_rounding():
    x = differences(q=1)[0]
    x[0], x[1], x[2] = 0.3, 0.4, -0.7
    assert x[:3].mean(axis=1).sum() != 0
    with pytest.warns(DegenerateScoresWarning, match="in 3 of 4 parts"):
        result = calibrated_test(x, scheme="folds averaged T", df=5)
    assert result.statistic == pytest.approx(one_sample(x[3].tolist(), 5) / 4, rel=1e-12)


def test_run_means_that_are_zero_up_to_rounding_make_a_statistic_of_zero():
    generator = np.random.default_rng(2)
    half = generator.normal(0.1, 0.3, 6)
    x = generator.permuted(np.tile(np.concatenate([half, -half]), (RUNS, 1)), axis=1)
    assert x.mean() != 0
    with pytest.warns(DegenerateScoresWarning, match="whose variance 'folds' uses"):
        result = calibrated_test(x, scheme="folds", df=5)
    assert (result.statistic, result.pvalue) == (0, 1)


def test_the_parts_of_a_scheme_are_pure_functions_of_arrays():
    x = differences()
    kept = x.copy()
    for scheme in SCHEMES:
        mean, deviation = statistic_parts(x, scheme)
        assert mean.shape == deviation.shape == (3, mean.shape[1])
        assert standardised_mean(mean, deviation).shape == (3,)
    assert np.array_equal(x, kept)


def test_the_result_says_which_df_it_used_and_what_it_found():
    x = differences(runs=10, folds=10)
    result = calibrated_test(x, left="nb", right="tree")
    text = str(result)
    assert (
        "'use all data' with 10 degrees of freedom (Bouckaert (2003), for binary data), nb against tree, 3 data sets"
        in text
    )
    rejected = (result.pvalue < 0.05).sum()
    assert f"equal performance is rejected on {rejected} of 3 data sets" in text
    frame = result.to_frame()
    assert list(frame.columns) == ["statistic", "df", "pvalue"]
    assert frame.index.tolist() == ["1", "2", "3"]
    assert np.array_equal(frame["pvalue"], result.pvalue)
    assert "<table" in result._repr_html_()
    alone = calibrated_test(x[0] - x[0].mean())
    assert "not rejected, which is no evidence for it" in str(alone)
    assert "the 5% level equal performance is rejected." in str(calibrated_test(x[0] - x[0].mean() + 1))
