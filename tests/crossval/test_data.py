"""What a data set may be: arrays, a Bunch, a frame with names of columns; and its params, as scikit-learn routes them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from hiercomp.crossval import cross_validate_all

IRIS = load_iris(return_X_y=True)
FRAME = load_iris(as_frame=True).frame
GROUPS = np.arange(150) % 7
WEIGHTS = np.random.default_rng(1).uniform(0.01, 2, 150)
CV = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=3)
TREE = {"tree": DecisionTreeClassifier(max_depth=2, random_state=4)}


def scores(estimators, data, **options) -> np.ndarray:
    table = cross_validate_all(estimators, {"iris": data}, **{"cv": CV, "progress": False} | options)
    return table["score"].to_numpy()


@pytest.mark.parametrize(
    "data",
    [
        load_iris(),
        load_iris(as_frame=True),
        load_iris,
        (FRAME, "target"),
        (*IRIS, {}),
        [*IRIS, None, {}],
    ],
    ids=["bunch", "bunch of frames", "loader", "target", "no params", "list"],
)
def test_every_kind_of_data_set_gives_the_scores_of_scikit_learn(data):
    expected = cross_validate(TREE["tree"], *IRIS, cv=CV, scoring="accuracy")["test_score"]
    np.testing.assert_array_equal(scores(TREE, data), expected)


def test_groups_may_be_a_column_of_the_frame():
    data = (FRAME.assign(patient=GROUPS), "target", "patient")
    with pytest.warns(hc.DefaultedRhoWarning):
        found = scores(TREE, data, cv=GroupKFold(3))
    expected = cross_validate(TREE["tree"], *IRIS, cv=GroupKFold(3), groups=GROUPS, scoring="accuracy")["test_score"]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            FRAME,
            r"must be \(X, y\).*a Bunch such as load_iris\(\).*got DataFrame\. Pass \(frame, 'name of the target'\)",
        ),
        ((FRAME, "targt"), r"the frame has no column 'targt'\. Did you mean 'target'"),
        ((FRAME, "target", "patient"), "the frame has no column 'patient'"),
        ({"X": IRIS[0], "y": IRIS[1]}, r"must be \(X, y\).* got dict"),
        ((*IRIS, {1: WEIGHTS}), r"must be \(X, y\)"),
        ((*IRIS, None, WEIGHTS), r"must be \(X, y\)"),
        ((IRIS[0], {"sample_weight": WEIGHTS}), r"iris"),
    ],
    ids=["frame", "misspelt", "no groups", "dict", "number as name", "fourth", "no target"],
)
def test_what_is_no_data_set_is_refused(data, words):
    with pytest.raises(hc.ArgumentError, match=words):
        scores(TREE, data)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_params_go_to_fit_by_fold_as_in_scikit_learn(n_jobs):
    options = {"scoring": "accuracy", "cv": CV}
    expected = cross_validate(TREE["tree"], *IRIS, params={"sample_weight": WEIGHTS}, **options)["test_score"]
    assert (expected != cross_validate(TREE["tree"], *IRIS, **options)["test_score"]).any()
    for data in ((*IRIS, {"sample_weight": WEIGHTS}), (*IRIS, None, {"sample_weight": pd.Series(WEIGHTS)})):
        np.testing.assert_array_equal(scores(TREE, data, n_jobs=n_jobs), expected)


def test_a_param_that_is_not_for_rows_goes_to_every_fold_whole():
    class Named(GaussianNB):
        def fit(self, X, y, classes, number):
            assert classes == ["a", "b"]
            assert number == 3
            return super().fit(X, y)

    expected = cross_validate(GaussianNB(), *IRIS, cv=CV)["test_score"]
    np.testing.assert_array_equal(scores({"nb": Named()}, (*IRIS, {"classes": ["a", "b"], "number": 3})), expected)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_metadata_are_routed_as_in_scikit_learn(n_jobs):
    weights = {"importance": WEIGHTS, "other": WEIGHTS[::-1], "groups": GROUPS}
    cv = GroupKFold(3)
    with config_context(enable_metadata_routing=True):
        logistic = LogisticRegression(max_iter=1000).set_fit_request(sample_weight="importance")
        inner = get_scorer("accuracy").set_score_request(sample_weight=False)
        estimators = {
            "pipeline": make_pipeline(StandardScaler().set_fit_request(sample_weight=False), logistic),
            "plain": LogisticRegression(max_iter=1000).set_fit_request(sample_weight=False),
            "search": GridSearchCV(logistic, {"C": [0.1, 1]}, cv=GroupKFold(2), scoring=inner),
        }
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight="other")
        options = {"cv": cv, "scoring": scorer, "n_jobs": n_jobs, "progress": False}
        with pytest.warns(hc.DefaultedRhoWarning):
            table = cross_validate_all(estimators, {"iris": (*IRIS, weights)}, **options)
        for name, estimator in estimators.items():
            needed = {key: value for key, value in weights.items() if name != "plain" or key != "importance"}
            expected = cross_validate(estimator, *IRIS, cv=cv, scoring=scorer, params=needed)["test_score"]
            np.testing.assert_array_equal(table.loc[table["algorithm"] == name, "score"], expected)
            changed = needed | {"other": np.ones(150)}  # the weights matter
            assert (
                cross_validate(estimator, *IRIS, cv=cv, scoring=scorer, params=changed)["test_score"] != expected
            ).any()


def test_what_nobody_requests_is_refused_before_the_first_cell():
    started: list[int] = []
    scoring = lambda model, X, y: started.append(1) or 0.5  # noqa: E731
    with config_context(enable_metadata_routing=True):
        for params, words in (
            ({"sample_weight": WEIGHTS}, r"can't be routed to estimator 'tree'.*sample_weight.*not explicitly set"),
            ({"weight": WEIGHTS}, "'weight' of the params of data set 'iris' is requested by no estimator"),
        ):
            with pytest.raises(hc.ArgumentError, match=words):
                scores(TREE, (*IRIS, params), scoring=scoring)
    assert not started


def test_changed_params_are_refused_by_a_checkpoint(tmp_path):
    options = {"checkpoint": tmp_path / "run.sqlite"}
    scores(TREE, (*IRIS, {"sample_weight": WEIGHTS}), **options)
    scores(TREE, (*IRIS, {"sample_weight": WEIGHTS.copy()}), **options)
    for params in ({"sample_weight": WEIGHTS + 1e-9}, {}):
        with pytest.raises(hc.ResultFileError, match="the data of data set 'iris' have changed"):
            scores(TREE, (*IRIS, params), **options)


DIABETES = load_diabetes(return_X_y=True)
REGRESSORS = {"dummy": DummyRegressor(), "ridge": make_pipeline(StandardScaler(), Ridge())}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"'dummy' is a regressor.*Pass scoring, such as .*'r2' and cv, such as RepeatedKFold\(n_splits=10"),
        ({"cv": 5}, r"Pass scoring, such as 'neg_root_mean_squared_error', 'neg_mean_absolute_error' or 'r2'\."),
        ({"scoring": "r2"}, r"Pass cv, such as RepeatedKFold"),
        ({"cv": 5, "scoring": ["r2", "accuracy"]}, "Pass scoring"),
    ],
)
def test_regressors_need_scoring_and_folds(options, words):
    with pytest.raises(hc.ArgumentError, match=words):
        cross_validate_all(REGRESSORS, {"diabetes": lambda: 1 / 0}, progress=False, **options)
    with pytest.raises(hc.ArgumentError, match="'ridge' is a regressor"):
        cross_validate_all({"nb": GaussianNB(), "ridge": REGRESSORS["ridge"]}, {"iris": IRIS}, progress=False)


def test_regressors_with_both_are_scored_as_by_scikit_learn():
    cv = RepeatedKFold(n_splits=5, n_repeats=2, random_state=1)
    options = {"cv": cv, "scoring": "neg_root_mean_squared_error"}
    table = cross_validate_all(REGRESSORS, {"diabetes": DIABETES}, progress=False, **options)
    for name, estimator in REGRESSORS.items():
        expected = cross_validate(estimator, *DIABETES, **options)["test_score"]
        np.testing.assert_array_equal(table.loc[table["algorithm"] == name, "score"], expected)


def both(model, X, y) -> dict[str, float]:
    guesses = model.predict(X)
    return {"right": float(np.mean(guesses == y)), "first": float(np.mean(guesses[y == 0] == 0))}


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_scorer_may_return_several_scores(tmp_path, n_jobs):
    expected = cross_validate(TREE["tree"], *IRIS, cv=CV, scoring=both)
    options = {"cv": CV, "scoring": both, "progress": False, "checkpoint": tmp_path / "run.sqlite", "n_jobs": n_jobs}
    for _ in range(2):
        table = cross_validate_all(TREE, {"iris": IRIS}, **options)
        assert list(table.columns[4:7]) == ["right", "first", "rho"]
        np.testing.assert_array_equal(table["right"], expected["test_right"])
        np.testing.assert_array_equal(table["first"], expected["test_first"])


def test_scores_of_a_failed_cell_are_missing_in_every_column():
    class Fails(GaussianNB):
        def fit(self, X, y):
            if len(started) == 0:
                started.append(1)
                raise RuntimeError("no")
            return super().fit(X, y)

    started: list[int] = []
    with pytest.warns(hc.FailedCellsWarning, match="1 of 3 cells failed"):
        table = cross_validate_all(
            {"nb": Fails()}, {"iris": IRIS}, cv=KFold(3, shuffle=True), scoring=both, progress=False
        )
    assert table[["right", "first"]].isna().all(axis=1).tolist() == [True, False, False]


def test_a_score_that_some_cells_lack_is_noted():
    def sometimes(model, X, y) -> dict[str, float]:
        right = float(np.mean(model.predict(X) == y))
        return {"right": right} | ({"wrong": 1 - right} if right < 1 else {})

    options = {"cv": StratifiedKFold(5), "scoring": sometimes, "progress": False}
    right = cross_validate(GaussianNB(), *IRIS, cv=StratifiedKFold(5))["test_score"]
    perfect = int((right == 1).sum())
    assert 0 < perfect < 5
    with pytest.warns(hc.FailedCellsWarning, match=rf"The scorer returned no 'wrong' in {perfect} cell"):
        table = cross_validate_all({"nb": GaussianNB()}, {"iris": IRIS}, **options)
    assert table["wrong"].isna().sum() == perfect


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"run": 0.5}, hc.ArgumentError, "scorer called 'run': the table has a column of that name"),
        ({"score": 0.5, "other": 1}, hc.ArgumentError, "scorer called 'score'"),
        ({}, hc.EngineError, "the scorer returned no score"),
        ({"a": float("nan")}, hc.EngineError, "the score 'a' is nan"),
        ({"a": "high"}, hc.EngineError, "ValueError: could not convert"),
    ],
)
def test_a_scorer_that_returns_something_else_is_named(given, kind, words):
    with pytest.raises(kind, match=words):
        cross_validate_all(TREE, {"iris": IRIS}, cv=3, scoring=lambda model, X, y: given, progress=False)
