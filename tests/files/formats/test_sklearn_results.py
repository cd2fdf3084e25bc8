"""What scikit-learn returns, from real runs of it and from results written out by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from hiercomp.errors import ArgumentError, DefaultedRhoWarning, HiercompError, HiercompWarning, ScoreTableError
from hiercomp.files.read import from_cross_validate, from_grid_search, read_scores

DATA = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
ALGORITHMS = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}


def test_repeated_cross_validation_has_the_runs_and_folds_of_scikit_learns_order():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1)
    results = {
        name: {algorithm: cross_validate(model, *data, cv=cv, scoring=["accuracy", "f1_macro"])
               for algorithm, model in ALGORITHMS.items()}
        for name, data in DATA.items()
    }  # fmt: skip
    frame = from_cross_validate(results, cv=cv, measure="accuracy", also="f1_macro")
    assert list(frame.columns) == ["dataset", "algorithm", "run", "fold", "score", "rho", "f1_macro"]
    assert frame["rho"].unique().tolist() == [1 / 3]
    one = frame[(frame["dataset"] == "wine") & (frame["algorithm"] == "tree")]
    assert one["run"].tolist() == [1, 1, 1, 2, 2, 2]
    assert one["fold"].tolist() == [1, 2, 3, 1, 2, 3]
    np.testing.assert_array_equal(one["score"], results["wine"]["tree"]["test_accuracy"])
    np.testing.assert_array_equal(one["f1_macro"], results["wine"]["tree"]["test_f1_macro"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        comparison = hc.HierarchicalComparison(frame)
    np.testing.assert_array_equal(comparison.differences.n, [6, 6])


def test_arrays_and_keys_of_two_names_will_do():
    scores = {
        (name, algorithm): cross_val_score(model, *data, cv=4)
        for name, data in DATA.items()
        for algorithm, model in ALGORITHMS.items()
    }
    frame = from_cross_validate(scores, cv=4)
    np.testing.assert_array_equal(frame["score"], np.concatenate(list(scores.values())))
    assert frame["rho"].unique().tolist() == [0.25]
    nested = {name: {algorithm: scores[name, algorithm] for algorithm in ALGORITHMS} for name in DATA}
    pd.testing.assert_frame_equal(frame, from_cross_validate(nested, folds=4))


def test_random_splits_are_runs_with_the_share_of_test_cases_as_rho():
    cv = ShuffleSplit(n_splits=5, test_size=0.25, random_state=0)
    scores = {"iris": {name: cross_val_score(model, *DATA["iris"], cv=cv) for name, model in ALGORITHMS.items()}}
    frame = from_cross_validate(scores, cv=cv)
    assert frame["run"].tolist() == [1, 2, 3, 4, 5] * 2
    assert frame["fold"].unique().tolist() == [1]
    assert frame["rho"].unique().tolist() == [0.25]
    assert from_cross_validate(scores, cv=ShuffleSplit(5))["rho"].unique().tolist() == [0.1]  # scikit-learn's default
    assert from_cross_validate(scores, cv=ShuffleSplit(5, train_size=0.5))["rho"].unique().tolist() == [0.5]
    with pytest.raises(ArgumentError, match="not a share of the cases"):
        from_cross_validate(scores, cv=ShuffleSplit(5, test_size=30))


def test_without_folds_the_scores_are_one_run_and_that_is_said():
    with pytest.warns(DefaultedRhoWarning, match="The 2 scores are taken as the folds of one run"):
        frame = from_cross_validate({"iris": {"a": [0.5, 0.6], "b": [0.7, 0.8]}})
    assert frame["rho"].unique().tolist() == [0.5]
    with pytest.raises(ScoreTableError, match="30 scores look like several runs"):
        from_cross_validate({"iris": {"a": np.zeros(30)}})


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ([1], {}, "results must be a mapping"),
        ({}, {}, "results must be a mapping"),
        ({"iris": [0.5, 0.6]}, {}, "must map algorithms to results"),
        ({"iris": {"test_score": [0.5, 0.6]}}, {}, "must map algorithms to results"),
        ({("iris", "a", 1): [0.5]}, {}, "A key of results must be"),
        ({"iris": {"a": {"fit_time": [1.0]}}}, {"folds": 2}, "has no test scores: its keys are \\['fit_time'\\]"),
        ({"iris": {"a": {"test_x": [0.5], "test_y": [0.5]}}}, {"folds": 2}, "There are 2 measures: 'x', 'y'"),
        ({"iris": {"a": {"test_x": [0.5]}}}, {"measure": "y"}, "There is no measure 'y'"),
        ({"iris": {"a": ["x"]}}, {"folds": 2}, "one-dimensional array of numbers"),
        ({"iris": {"a": [[0.5], [0.5, 0.6]]}}, {"folds": 2}, "one-dimensional array of numbers"),
        ({"iris": {"a": [0.5, 0.5, 0.5]}}, {"folds": 2}, "3 scores do not make a whole number of runs of 2 folds"),
        ({"iris": {"a": [0.5, 0.5]}}, {"folds": 2, "cv": 2}, "both given"),
        ({"iris": {"a": [0.5, 0.5]}}, {"cv": "five"}, "cv must be a number of folds or a splitter"),
        ({"iris": {"a": [0.5, 0.5]}}, {"cv": LeaveOneOut()}, "does not tell its number of folds"),
        ({"iris": {"a": [0.5, 0.5], " a": [0.5, 0.5]}}, {"folds": 2}, "2 cells have more than one score"),
    ],
)
def test_results_that_can_not_be_meant_are_refused(results, options, message):
    with pytest.raises(HiercompError, match=message):
        from_cross_validate(results, **options)


def test_candidates_of_a_search_become_algorithms():
    grid = {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}
    searches = {
        name: GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=KFold(5, shuffle=True, random_state=2)).fit(
            *data
        )
        for name, data in DATA.items()
    }
    frame = from_grid_search(searches)
    assert frame["algorithm"].unique().tolist() == [
        "criterion='gini', max_depth=1",
        "criterion='gini', max_depth=3",
        "criterion='entropy', max_depth=1",
        "criterion='entropy', max_depth=3",
    ]
    assert frame["rho"].unique().tolist() == [0.2]
    one = frame[(frame["dataset"] == "wine") & (frame["algorithm"] == "criterion='entropy', max_depth=1")]
    expected = [searches["wine"].cv_results_[f"split{fold}_test_score"][2] for fold in range(5)]
    np.testing.assert_array_equal(one["score"], expected)
    of_dictionaries = from_grid_search({name: search.cv_results_ for name, search in searches.items()}, folds=5)
    pd.testing.assert_frame_equal(frame, of_dictionaries)


def test_a_search_with_a_repeated_splitter_tells_its_folds():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    search = GridSearchCV(
        DummyClassifier(), {"strategy": ["prior", "uniform"]}, cv=cv, scoring=["accuracy", "f1_macro"], refit=False
    )
    search.fit(*DATA["iris"])
    frame = from_grid_search(search, dataset="iris", measure="f1_macro", also=["accuracy"])
    assert frame["rho"].unique().tolist() == [1 / 3]
    assert frame["run"].tolist() == [1, 1, 1, 2, 2, 2] * 2
    np.testing.assert_array_equal(
        frame["accuracy"][:6], [search.cv_results_[f"split{k}_test_accuracy"][0] for k in range(6)]
    )


def test_a_saved_search_names_its_candidates_as_the_search_itself(tmp_path):
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=3).fit(*DATA["iris"])
    pd.DataFrame(search.cv_results_).to_csv(tmp_path / "search.csv")
    saved = read_scores(tmp_path / "search.csv", dataset="iris", folds=3)
    pd.testing.assert_frame_equal(saved, from_grid_search(search, dataset="iris"), check_exact=False)


def test_candidates_of_equal_names_are_numbered():
    found = {
        "params": [{"a": 1}, {"a": 1}, {}],
        "split0_test_score": [1.0, 2.0, 3.0],
        "split1_test_score": [1.0, 2.0, 3.0],
    }
    assert from_grid_search(found, dataset="d", folds=2)["algorithm"].unique().tolist() == ["a=1", "a=1 #2", "default"]


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ({"params": [{}], "split0_test_score": [1.0]}, {}, "A search does not name its data set"),
        ({"iris": GridSearchCV(DummyClassifier(), {})}, {}, "no cv_results_ .*Was it fitted"),
        ({"iris": {"mean_test_score": [0.5]}}, {}, "no cv_results_"),
        ({"iris": 3}, {}, "no cv_results_"),
        ({"iris": {"params": [{}], "split0_test_score": [0.5]}}, {"dataset": "iris"}, "dataset is for one search"),
        (
            {"params": [{}], "split0_test_a": [1.0], "split2_test_a": [1.0]},
            {"dataset": "d"},
            "Splits of 'a' are missing",
        ),
    ],
)
def test_what_is_no_search_is_refused(results, options, message):
    with pytest.raises(HiercompError, match=message):
        from_grid_search(results, **options)


def search_table(**columns) -> pd.DataFrame:
    cells = {"params": ["{'C': 1}", "{'C': 2}"], "split0_test_score": [0.7, 0.8], "split1_test_score": [0.6, 0.9]}
    return pd.DataFrame(cells | columns)


def test_only_the_last_iteration_of_a_halving_search_is_read():
    table = pd.concat(
        [search_table(iter=0, n_resources=20), search_table(iter=1, n_resources=60)[1:]], ignore_index=True
    )
    with pytest.warns(HiercompWarning, match="Left out: 2 of 3 rows of the halving search on 'iris'"):
        frame = from_grid_search(table, dataset="iris", folds=2)
    assert frame["algorithm"].unique().tolist() == ["C=2"]
    assert frame["score"].tolist() == [0.8, 0.9]


def test_several_searches_in_one_table_keep_their_data_sets(tmp_path):
    table = pd.concat([search_table(dataset="iris"), search_table(dataset="001", split0_test_score=0.5)])
    table.to_csv(tmp_path / "all.csv", index=False)
    for options in ({}, {"dataset": "dataset"}):
        frame = read_scores(tmp_path / "all.csv", folds=2, **options)
        assert frame["dataset"].unique().tolist() == ["iris", "001"]
        assert frame["algorithm"].unique().tolist() == ["C=1", "C=2"]
    with pytest.raises(HiercompError, match="column 'dataset' holds names"):
        read_scores(tmp_path / "all.csv", folds=2, dataset="wine")
    table.loc[table.index[:1], "dataset"] = None
    with pytest.raises(ScoreTableError, match="no name of a data set"):
        read_scores(table.reset_index(drop=True), folds=2)


def test_measure_is_the_word_that_the_message_offers(tmp_path):
    table = search_table(split0_test_acc=0.1, split1_test_acc=0.2)
    table.to_csv(tmp_path / "two.csv", index=False)
    with pytest.raises(HiercompError, match=r"There are 2 measures: 'score', 'acc'. Say which with measure='score'"):
        read_scores(tmp_path / "two.csv", dataset="iris", folds=2)
    assert read_scores(tmp_path / "two.csv", dataset="iris", folds=2, measure="acc")["score"].tolist() == [0.1, 0.2] * 2


def test_numbers_of_numpy_are_plain_and_random_splits_have_their_rho(tmp_path):
    table = search_table(
        params=["{'C': np.float64(1.5676677195506077), 'k': np.int64(3)}", "{'C': np.float64(0.25), 'k': 3}"]
    )
    table.to_csv(tmp_path / "randomized.csv", index=False)
    frame = read_scores(tmp_path / "randomized.csv", dataset="iris", rho=0.2)
    assert frame["algorithm"].unique().tolist() == ["C=1.56767, k=3", "C=0.25, k=3"]
    assert frame[["run", "fold", "rho"]].drop_duplicates().to_numpy().tolist() == [[1, 1, 0.2], [2, 1, 0.2]]
    objects = search_table(params=[{"C": np.float64(1.5676677195506077)}, {"C": np.float64(1.5676677195506079)}])
    names = from_grid_search(objects, dataset="iris", folds=2)["algorithm"].unique()
    assert len(names) == 2  # six digits would not tell them apart


def test_losses_of_scikit_learns_scorers_keep_their_direction_under_any_name():
    """The key is the user's own; the scorer's values are reversed, so the smaller error is the higher score."""
    scoring = {"log_loss": "neg_log_loss", "accuracy": "accuracy"}
    results = {
        dataset: {name: cross_validate(model, *data, cv=3, scoring=scoring) for name, model in ALGORITHMS.items()}
        for dataset, data in DATA.items()
    }
    with pytest.warns(HiercompWarning, match="No score called 'log_loss' is above 0"):
        frame = from_cross_validate(results, folds=3, measure="log_loss")
    assert (frame.attrs["measure"], frame.attrs["higher_is_better"]) == ("neg_log_loss", True)
    pairs = frame.pivot(index=["dataset", "fold"], columns="algorithm", values="score")
    with pytest.warns(hc.HiercompWarning):
        given = hc.HierarchicalComparison(frame, "bayes", "tree", rope=0.01).differences
    expected = (pairs["tree"] - pairs["bayes"]).groupby(level="dataset", sort=False).mean()
    np.testing.assert_allclose(given.mean, expected[list(given.dataset_names)])
    errors = {"iris": {"a": {"test_rmse": [1.0, 2.0]}, "b": {"test_rmse": [2.0, 3.0]}}}
    with pytest.warns(HiercompWarning, match="Lower values of 'rmse' are better"):
        assert from_cross_validate(errors, folds=2, measure="rmse").attrs["higher_is_better"] is False


def test_random_splits_with_both_sizes_have_the_share_of_the_cases_that_are_used():
    results = {"iris": {"a": [0.5, 0.6], "b": [0.7, 0.8]}}
    for sizes in ({"test_size": 0.2, "train_size": 0.4}, {"test_size": np.int64(20), "train_size": 40}):
        frame = from_cross_validate(results, cv=ShuffleSplit(2, **sizes))
        np.testing.assert_allclose(frame["rho"], 1 / 3)


def test_rho_and_folds_are_not_given_together():
    for options in ({"folds": 2}, {"cv": 2}):
        with pytest.raises(ArgumentError, match="pass one of them"):
            from_grid_search(search_table(), dataset="iris", rho=0.2, **options)


def test_the_only_metric_names_the_scores_and_its_direction():
    scores = np.random.default_rng(0).uniform(0.1, 0.2, (4, 10))
    results = {f"d{i}": {"a": {"test_mse": row}, "b": {"test_mse": row + 0.01}} for i, row in enumerate(scores)}
    with pytest.warns(HiercompWarning, match="Lower values of 'mse' are better"):
        assert from_cross_validate(results, folds=10).attrs["measure"] == "mse"
    search = {"params": [{"c": 1}, {"c": 2}], "split0_test_rmse": [0.1, 0.2], "split1_test_rmse": [0.1, 0.3]}
    with pytest.warns(HiercompWarning, match="Lower values of 'rmse' are better"):
        assert from_grid_search(search, dataset="iris", folds=2).attrs["measure"] == "rmse"


def test_results_of_different_metrics_are_refused():
    results = {"iris": {"a": {"test_accuracy": [0.9, 0.8]}, "b": {"test_f1": [0.9, 0.7]}}}
    with pytest.raises(ScoreTableError, match="The results have 2 metrics: 'accuracy', 'f1'"):
        from_cross_validate(results, folds=2)
