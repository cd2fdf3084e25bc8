"""Whether higher is better: by the caller, the table's attributes, or the name of the measure, and what contradicts it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hiercomp as hc
from hiercomp.errors import HiercompWarning, ScaleWarning, ScoreTableError
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.direction import Direction, lower_is_better, named_direction
from hiercomp.scores.table import tidy_scores

REAL_FILES = Path(os.environ.get("HIERCOMP_REAL_FILES", "absent"))
real = pytest.mark.skipif(not REAL_FILES.is_dir(), reason="the files of other tools are not here")


def table(column: str = "score", datasets: int = 6, **attributes) -> pd.DataFrame:
    """Five-fold scores of which "low" has the lower on every fold: by 0.1, and a little luck."""
    generator = np.random.default_rng(3)
    rows = [
        (f"d{dataset}", algorithm, fold, shift + generator.uniform(0, 0.02))
        for dataset in range(datasets)
        for algorithm, shift in (("low", 0.5), ("high", 0.6))
        for fold in range(5)
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", column])
    frame.attrs = attributes
    return frame


def winner(frame: pd.DataFrame, **options) -> str:
    """The algorithm that the differences favour on every data set, found from the means and by hand from their sign."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        found = hc.HierarchicalComparison(frame, "low", "high", rope=0.01, **options).differences.mean
    assert len({bool(mean > 0) for mean in found}) == 1
    return "high" if found[0] > 0 else "low"


@pytest.mark.parametrize(
    ("measure", "less"),
    [
        # mlr3 ("minimize" of its measures), tidymodels, WEKA, lm-eval and scikit-learn's scorers
        *(("classif." + name, True) for name in ("ce", "bbrier", "logloss", "fpr", "fnr", "costs")),
        *(("classif." + name, False) for name in ("acc", "auc", "bacc", "fbeta", "mcc", "precision", "recall", "tpr")),
        *(("regr." + name, True) for name in ("mse", "rmse", "mae", "medae", "maxae", "smape", "rae", "pinball")),
        *(("regr." + name, False) for name in ("rsq", "srho", "ktau")),
        *((name, True) for name in ("mn_log_loss", "brier_class", "huber_loss", "time_train")),
        *((name, False) for name in ("accuracy", "roc_auc", "rsq", "ccc", "kap", "f_meas", "j_index", "score")),
        *((name, True) for name in ("Percent_incorrect", "Root_mean_squared_error", "False_positive_rate")),
        *((name, False) for name in ("Percent_correct", "Area_under_ROC", "Kappa_statistic", "True_positive_rate")),
        *((name, True) for name in ("word_perplexity,none", "wer,none")),
        *((name, False) for name in ("acc_norm,none", "exact_match,strict-match", "bleu,none")),
        *((name, False) for name in ("neg_log_loss", "neg_mean_squared_error", "balanced_accuracy", "r2")),
    ],
)
def test_measures_of_which_less_is_better_are_told_by_name(measure, less):
    assert lower_is_better(measure) is less


@pytest.mark.parametrize(
    ("measure", "higher"),
    [
        *((name, True) for name in ("accuracy", "Percent_correct", "classif.auc", "acc,none", "F1", "neg_log_loss")),
        *((name, True) for name in ("brier_skill_score", "SF_entropy_gain", "d2_absolute_error_score")),
        *((name, False) for name in ("error_rate", "metric_error", "mmce", "nll", "logLoss", "Elapsed_Time_training")),
        *((name, None) for name in ("score", "hns", "y", "value", "")),
    ],
)
def test_a_name_says_gain_or_loss_or_nothing(measure, higher):
    assert named_direction(measure) is higher


def test_without_a_word_from_anyone_higher_is_better():
    assert winner(table()) == "high"
    assert winner(table("hns")) == "high"
    assert hc.HierarchicalComparison(table(), "low", "high").differences.notes == ()


@pytest.mark.parametrize("column", ["error_rate", "log_loss", "rmse", "training time"])
def test_the_name_of_a_loss_alone_is_refused_with_both_spellings(column):
    with pytest.raises(ScoreTableError) as caught:
        hc.HierarchicalComparison(table(column), "low", "high")
    for part in (
        f"'{column}'",
        "higher_is_better=False",
        "--lower-is-better",
        "higher_is_better=True",
        "--higher-is-better",
    ):
        assert part in str(caught.value)
    assert (caught.value.key, caught.value.places) == ("named_loss", (column,))


@pytest.mark.parametrize(
    "entry",
    [
        lambda frame: hc.compare(frame, "low", "high", engine="quadrature", progress=False),
        lambda frame: hc.compare_all(frame, progress=False),
        lambda frame: hc.correlated_t_test(frame),
        lambda frame: hc.corrected_t_test(frame),
        lambda frame: hc.paired_t_test(frame),
        lambda frame: hc.signed_rank_test(frame),
        lambda frame: hc.sign_test(frame),
        lambda frame: hc.bayesian_sign_test(frame),
        lambda frame: hc.bayesian_signed_rank_test(frame),
        lambda frame: hc.poisson_binomial_test(frame),
        lambda frame: hc.posthoc_test(frame),
        lambda frame: PairedDifferences.from_table(frame),
    ],
)
def test_no_door_lets_the_name_of_a_loss_through(entry):
    with pytest.raises(ScoreTableError, match="the name of a loss"):
        entry(table("error"))


def test_the_attributes_are_followed_and_the_result_says_so():
    frame = table(higher_is_better=False, measure="rmse")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is wrong
        comparison = hc.HierarchicalComparison(frame, "low", "high")
    assert comparison.differences.mean.max() < 0  # left, low, is better
    (note,) = comparison.differences.notes
    assert "Lower scores are taken as better" in note.message
    assert "'rmse'" in note.message
    assert note.message in str(comparison.fit("quadrature", progress=False).summary())
    assert winner(frame) == winner(table(), higher_is_better=False) == "low"
    assert winner(table(higher_is_better=True)) == "high"


def test_a_tournament_and_a_saved_result_keep_the_note_and_raise_no_warning(tmp_path):
    frame = table(higher_is_better=False)
    found = hc.compare_all(frame, progress=False)  # a warning would be an error here
    assert found.order() == ("low", "high")
    assert [note for note in found.notes if "Lower scores are taken as better" in note]
    result = hc.compare(frame, "low", "high", engine="quadrature", progress=False)
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    assert again.differences.notes == result.differences.notes
    assert [note.quiet for note in again.differences.notes] == [True]
    assert not again.differences.higher_is_better


def test_every_test_of_a_table_follows_the_attributes():
    frame, plain = table(higher_is_better=False), table()
    for test in (hc.correlated_t_test, hc.bayesian_sign_test, hc.signed_rank_test, hc.poisson_binomial_test):
        of_table, told = test(frame), test(plain, higher_is_better=False)
        assert of_table.algorithms == told.algorithms == ("low", "high")
        name = "p_left" if hasattr(told, "p_left") else "statistic"
        np.testing.assert_array_equal(getattr(of_table, name), getattr(told, name))
    wide = plain.pivot_table("score", "dataset", "algorithm").assign(middle=0.55)
    wide.attrs = {"higher_is_better": False}
    ranks = hc.friedman_test(wide)
    assert dict(zip(ranks.algorithms, ranks.mean_ranks, strict=True)) == {"low": 1, "middle": 2, "high": 3}
    wide.attrs = {"measure": "rmse"}
    with pytest.raises(ScoreTableError, match="'rmse', the name of a loss"):
        hc.friedman_test(wide)
    wide.attrs = {}
    ranks = hc.friedman_test(wide)
    assert dict(zip(ranks.algorithms, ranks.mean_ranks, strict=True)) == {"high": 1, "middle": 2, "low": 3}


@pytest.mark.parametrize(
    ("frame", "given", "says"),
    [
        (table("log_loss"), True, "'log_loss' is the name of a loss"),
        (table("accuracy"), False, "'accuracy' is the name of a measure whose higher values are better"),
        (table(higher_is_better=False), True, "the table's attributes say that lower values are better"),
        (table(higher_is_better=True, measure="hns"), False, "higher values of the measure 'hns' are better"),
    ],
)
def test_a_contradiction_is_warned_of_and_the_caller_is_followed(frame, given, says):
    with pytest.warns(ScaleWarning, match="Check the direction") as caught:
        comparison = hc.HierarchicalComparison(frame, "low", "high", higher_is_better=given)
    assert says in str(caught[0].message)
    assert f"with {'higher' if given else 'lower'} as better" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert [note.key for note in comparison.differences.notes] == ["contradicted_direction"]
    assert bool(comparison.differences.mean.min() > 0) is given


def test_attributes_that_contradict_the_name_are_followed_with_a_warning():
    frame = table(measure="loss of face", higher_is_better=True)
    with pytest.warns(ScaleWarning, match="as the table's attributes say, but 'loss of face' is the name of a loss"):
        assert hc.HierarchicalComparison(frame, "low", "high").differences.mean.min() > 0


def test_what_agrees_is_not_mentioned():
    for frame, given in ((table("log_loss"), False), (table("accuracy"), True), (table("hns"), False)):
        assert hc.HierarchicalComparison(frame, "low", "high", higher_is_better=given).differences.notes == ()


def test_attributes_of_another_column_do_not_count():
    frame = table(measure="accuracy", higher_is_better=True).assign(log_loss=lambda rows: 1 - rows["score"])
    with pytest.raises(ScoreTableError, match="'log_loss', the name of a loss"):
        hc.HierarchicalComparison(frame, "low", "high", columns={"score": "log_loss"})
    assert tidy_scores(frame).measure == "accuracy"
    assert tidy_scores(table("auc")).measure == "auc"
    assert tidy_scores(table()).measure is None


@pytest.mark.parametrize("value", ["no", 0, 1.0])
def test_an_attribute_that_is_no_boolean_is_refused(value):
    with pytest.raises(ScoreTableError, match="attribute 'higher_is_better' must be True or False"):
        hc.HierarchicalComparison(table(higher_is_better=value), "low", "high")


def test_arrays_and_other_frames_have_no_attributes():
    low, high = np.full((6, 5), 0.5), np.random.default_rng(1).uniform(0.6, 0.7, (6, 5))
    assert PairedDifferences.from_arrays(low, high, rho=0.2).mean.min() > 0
    assert PairedDifferences.from_arrays(low, high, rho=0.2, higher_is_better=False).mean.max() < 0
    assert PairedDifferences.from_table(pl.from_pandas(table()), "low", "high").mean.min() > 0
    with pytest.raises(ScoreTableError, match="the name of a loss"):
        PairedDifferences.from_table(pl.from_pandas(table("rmse")), "low", "high")


def test_paired_differences_have_their_direction():
    loss = PairedDifferences.from_table(table(), "low", "high", higher_is_better=False)
    assert (hc.correlated_t_test(loss).p_left > 0.5).all()
    assert (hc.correlated_t_test(loss, higher_is_better=False).p_left > 0.5).all()
    with pytest.raises(hc.ArgumentError, match="already set"):
        hc.correlated_t_test(loss, higher_is_better=True)


def test_who_says_so():
    assert not Direction(measure="accuracy").told
    assert Direction(measure="accuracy").known
    assert not Direction(measure="hns").known
    assert Direction(stated=True).told
    assert Direction(given=False).told
    assert Direction(measure="rmse").higher_is_better is False


def test_the_title_of_every_summary_has_the_measure_and_the_direction():
    frame = table("rmse")
    title = str(hc.compare(frame, "low", "high", higher_is_better=False, engine="quadrature").summary()).splitlines()[0]
    assert title.startswith("low against high: 6 data sets")
    assert title.endswith(", rmse (lower is better)")
    every = hc.compare_all(frame, higher_is_better=False, progress=False).summary()
    assert str(every).splitlines()[0].endswith("rope [-0.01, 0.01], rmse (lower is better)")
    content = every.to_dict()
    assert (content["measure"], content["higher_is_better"], content["transform"]) == ("rmse", False, None)
    plain = hc.compare(table(), "low", "high", engine="quadrature").summary()
    assert plain.title.endswith("rope [-0.01, 0.01], higher is better")
    assert (plain.to_dict()["measure"], plain.to_dict()["higher_is_better"]) == (None, True)


def test_the_average_difference_of_a_loss_is_left_minus_right():
    # low loses 0.1 less: low minus high is about -0.1, and low is the left algorithm
    text = str(hc.compare(table(), "low", "high", higher_is_better=False, engine="quadrature").summary())
    assert "Average difference (delta0), in units of the scores: low - high = -0.1, 95% interval [" in text
    assert "; above 0, high is better" in text
    text = str(hc.compare(table(), "low", "high", engine="quadrature").summary())
    assert "high - low = +0.1," in text or "high - low = +0.09" in text


def test_a_check_takes_the_same_direction():
    check = hc.check_scores(table("error_rate"))
    assert check.exit_code == 2
    assert (check.loss, check.measure, check.direction) == (True, "error_rate", "name")
    with pytest.raises(ScoreTableError) as caught:
        hc.HierarchicalComparison(table("error_rate"), "low", "high")
    assert str(caught.value) in [f"{problem.message} {problem.remedy}" for problem in check.errors]
    assert hc.check_scores(table("error_rate"), higher_is_better=False).problems == ()
    followed = hc.check_scores(table(higher_is_better=False))
    assert (followed.problems, followed.loss, followed.direction) == ((), True, "attributes")
    (contradicted,) = hc.check_scores(table("error_rate"), higher_is_better=True).problems
    assert (contradicted.severity, contradicted.key) == ("warning", "contradicted_direction")


@real
def test_the_regression_of_weka_has_the_right_winner():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        frame = hc.read_scores(REAL_FILES / "weka/w39_regr.arff", measure="Root_mean_squared_error")
        result = hc.compare(frame, "M5P", "ZeroR", rope=0.5, engine="quadrature", progress=False)
    means = frame.groupby("algorithm")["score"].mean()
    left = next(name for name in means.index if name.startswith("M5P"))
    assert means[left] < means["ZeroR"]  # pandas says which error is smaller
    assert result.next_dataset.p_left > result.next_dataset.p_right
    assert "Root_mean_squared_error (lower is better)" in result.summary().title


@real
def test_the_error_rates_of_a_tidy_file_are_not_taken_for_scores():
    frame = hc.read_scores(REAL_FILES / "layouts/err.csv")
    with pytest.raises(ScoreTableError, match="'error_rate', the name of a loss"):
        hc.HierarchicalComparison(frame, "good", "bad")
    result = hc.compare(frame, "good", "bad", higher_is_better=False, engine="quadrature", progress=False)
    assert result.next_dataset.p_left > 0.9


@real
def test_the_errors_of_tabarena_are_counted_as_losses():
    frame = pd.read_csv(REAL_FILES / "tabarena/tabarena_results_per_split.csv")
    frame = frame.rename(columns={"method": "algorithm", "metric_error": "error"})[
        ["dataset", "algorithm", "fold", "error"]
    ]
    with pytest.raises(ScoreTableError, match="'error', the name of a loss"):
        hc.bayesian_signed_rank_test(frame, left="CAT (default)", right="RF (default)", rope=0.0)
    sides = {"left": "CAT (default)", "right": "RF (default)"}
    wide = frame.pivot(index="dataset", columns="algorithm", values="error")
    wins = int((wide["CAT (default)"] < wide["RF (default)"]).sum())  # the smaller error wins
    assert wins > 25
    assert hc.sign_test(frame, **sides, higher_is_better=False).left_wins == wins
    with pytest.warns(ScaleWarning, match="'error' is the name of a loss"):
        assert hc.sign_test(frame, **sides, higher_is_better=True).right_wins == wins


@pytest.mark.slow
def test_every_other_document_has_the_measure_and_the_direction_in_its_first_line(tmp_path):
    frame, words = table("rmse"), "rmse (lower is better)"
    result = hc.compare(frame, "low", "high", higher_is_better=False, engine="quadrature", progress=False)
    documents = [
        hc.check_scores(frame, higher_is_better=False),
        result.plan(n_datasets=5, simulations=1, n_jobs=1, progress=False),
        result.influence(),
        result.sensitivity(engine="quadrature", n_jobs=1),
        result.closed_form_tests(),
        result.scores_table(),
        hc.apply_tests(frame, higher_is_better=False),
        hc.bayesian_sign_test(frame, higher_is_better=False),
        hc.signed_rank_test(frame, higher_is_better=False),
        hc.sign_test(frame, higher_is_better=False),
        hc.correlated_t_test(frame, higher_is_better=False),
        hc.corrected_t_test(frame, higher_is_better=False),
        hc.poisson_binomial_test(frame, higher_is_better=False),
        hc.nemenyi_test(frame, higher_is_better=False),
    ]
    for document in documents:
        assert words in str(document).splitlines()[0], type(document).__name__
    page = result.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "lower scores are better (rmse)" in page
    assert "Centre and spread are in rmse. Centre: low − high; above 0, high is better." in page


def test_tests_of_arrays_claim_no_metric():
    assert "better" not in hc.sign_test([0.1, 0.2, -0.1]).title
    assert "better" not in hc.friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.8, 0.6]]).title
    assert hc.sign_test([0.1, 0.2, -0.1], higher_is_better=False).title.endswith(", lower is better")


def test_logs_and_gaussian_populations_have_their_own_lines():
    frame = table("rmse")
    result = hc.compare(
        *(frame, "low", "high"), higher_is_better=False, transform="log", rope=0.01, engine="quadrature",
        priors=hc.Priors.gaussian(), progress=False,
    )  # fmt: skip
    text = str(result.summary())
    assert "Average difference (delta0), in logs of rmse: low - high = -" in text
    assert "(sigma0), in logs of rmse: " in text
    assert "Tails" not in text
    assert result.to_dict()["unit"] == "logs of rmse"
