"""Paired cross-validation: the same cells as scikit-learn's, folds and rho of every splitter, failures, and data once."""

from __future__ import annotations

import os
import random
import time
import warnings
from itertools import pairwise

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from hiercomp.crossval import cross_validate_all
from hiercomp.crossval.splits import Data, draw_splits

TIMES = ["fit_time", "score_time"]
IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
ESTIMATORS = {
    "nb": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=4),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}
FAST = {name: ESTIMATORS[name] for name in ("nb", "tree")}
CV = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=3)


class Fails(ClassifierMixin, BaseEstimator):
    """Naive Bayes that fails on some training sets, always the same ones."""

    def __init__(self, how: str = "raise") -> None:
        self.how = how

    def fit(self, X, y):
        if round(float(X.sum()), 1) * 10 % 3 < 1:
            if self.how == "die":
                os._exit(9)
            raise RuntimeError("too many petals")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


class Random(ClassifierMixin, BaseEstimator):
    """Guesses by the global generators of NumPy and Python, as old estimators do."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        guesses = np.random.choice(self.classes_, len(X))  # noqa: NPY002
        return np.where(np.arange(len(X)) % 2, guesses, random.choices(self.classes_, k=len(X)))


def run(estimators, data, **options) -> pd.DataFrame:
    return cross_validate_all(estimators, data, **{"cv": CV, "progress": False} | options)


def test_every_cell_is_scikit_learns():
    table = run(ESTIMATORS, {"iris": IRIS, "wine": lambda: WINE})
    assert list(table.columns) == ["dataset", "algorithm", "run", "fold", "score", "rho", *TIMES]
    assert len(table) == 2 * 10 * 3
    for dataset, (X, y) in {"iris": IRIS, "wine": WINE}.items():
        for name, estimator in ESTIMATORS.items():
            rows = table[(table["dataset"] == dataset) & (table["algorithm"] == name)]
            expected = cross_validate(estimator, X, y, cv=CV, scoring="accuracy")["test_score"]
            np.testing.assert_array_equal(rows["score"], expected)
            assert list(rows["run"]) == [1] * 5 + [2] * 5
            assert list(rows["fold"]) == [1, 2, 3, 4, 5] * 2
    assert (table[TIMES] > 0).all().all()
    assert (table["rho"] == 0.2).all()


def test_ten_runs_of_stratified_ten_folds_are_the_default():
    test_rows: list[np.ndarray] = []

    def noted(model, X, y) -> float:
        test_rows.append(X[:, 0].astype(int))
        return model.score(X, y)

    rare = np.repeat([0, 1, 2], [11, 45, 94])
    data = {name: (np.column_stack([np.arange(150), IRIS[0]]), y) for name, y in (("iris", IRIS[1]), ("rare", rare))}
    table = cross_validate_all({"first": DummyClassifier()}, data, scoring=noted, progress=False)
    assert list(zip(table["run"], table["fold"], strict=True)) == 2 * [
        (r, f) for r in range(1, 11) for f in range(1, 11)
    ]
    assert (table["rho"] == 0.1).all()
    for place, (_, y) in enumerate(data.values()):
        for run_number in range(10):
            folds = test_rows[100 * place + 10 * run_number :][:10]
            assert sorted(np.concatenate(folds)) == list(range(150))
            counts = np.array([np.bincount(y[rows], minlength=3) for rows in folds])
            assert np.ptp(counts, axis=0).max() <= 1
    assert len({tuple(rows) for rows in test_rows[:100]}) == 100  # no run is that of another


def test_the_table_can_be_compared_as_it_stands():
    table = run(FAST, {name: IRIS for name in "abcd"} | {"wine": WINE})
    comparison = hc.HierarchicalComparison(table, "nb", "tree")
    np.testing.assert_array_equal(comparison.differences.rho, [0.2] * 5)
    np.testing.assert_array_equal(comparison.differences.n, [10] * 5)


def test_several_scorers_make_several_columns_in_one_pass():
    table = run(FAST, {"iris": IRIS}, scoring=["accuracy", "neg_log_loss"])
    X, y = IRIS
    expected = cross_validate(FAST["nb"], X, y, cv=CV, scoring=["accuracy", "neg_log_loss"])
    rows = table[table["algorithm"] == "nb"]
    np.testing.assert_array_equal(rows["accuracy"], expected["test_accuracy"])
    np.testing.assert_array_equal(rows["neg_log_loss"], expected["test_neg_log_loss"])
    named = run(FAST, {"iris": IRIS}, scoring={"loss": "neg_log_loss", "right": lambda model, X, y: model.score(X, y)})
    np.testing.assert_array_equal(named["loss"], table["neg_log_loss"])
    np.testing.assert_array_equal(named["right"], table["accuracy"])


@pytest.mark.parametrize(
    "data",
    [
        (pd.DataFrame(IRIS[0], columns=list("abcd")), pd.Series(IRIS[1])),
        (sparse.csr_matrix(IRIS[0]), IRIS[1]),
        (sparse.coo_array(IRIS[0]), IRIS[1]),
        (IRIS[0].tolist(), IRIS[1].tolist()),
    ],
    ids=["frame", "sparse", "coordinates", "lists"],
)
def test_any_kind_of_table_gives_the_same_scores(data):
    tree = {"tree": DecisionTreeClassifier(max_depth=3, random_state=4)}
    pd.testing.assert_frame_equal(
        run(tree, {"iris": data}).drop(columns=TIMES), run(tree, {"iris": IRIS}).drop(columns=TIMES)
    )


@pytest.mark.slow
def test_processes_and_the_order_of_names_change_no_score():
    estimators = FAST | {"forest": RandomForestClassifier(5), "random": Random()}
    one = run(estimators, {"iris": IRIS, "wine": WINE}, seed=7)
    two = run(dict(reversed(estimators.items())), {"wine": WINE, "iris": IRIS}, seed=7, n_jobs=2)
    key = ["dataset", "algorithm", "run", "fold"]
    pd.testing.assert_frame_equal(
        one.sort_values(key, ignore_index=True).drop(columns=TIMES),
        two.sort_values(key, ignore_index=True).drop(columns=TIMES),
    )


def test_the_seed_draws_folds_and_open_random_states_and_leaves_the_global_generator_alone():
    open_states = {"forest": RandomForestClassifier(3), "random": Random()}
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    tables = [run(open_states, {"iris": IRIS}, cv=cv, seed=seed)["score"] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])
    assert cv.random_state is None
    assert open_states["forest"].random_state is None
    assert not hasattr(open_states["forest"], "estimators_")
    assert tables[0][1::2].nunique() > 1  # every cell guesses anew


GROUPS = np.arange(150) % 6


@pytest.mark.parametrize(
    ("cv", "rho", "runs", "folds"),
    [
        (5, 1 / 5, {1}, 5),
        (KFold(4), 1 / 4, {1}, 4),
        (StratifiedKFold(10), 1 / 10, {1}, 10),
        (RepeatedKFold(n_splits=3, n_repeats=4), 1 / 3, {1, 2, 3, 4}, 3),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=5), 1 / 2, {1, 2, 3, 4, 5}, 2),
        (LeaveOneOut(), 1 / 150, {1}, 150),
        (ShuffleSplit(3, test_size=0.2), 0.2, {1, 2, 3}, 1),
        (StratifiedShuffleSplit(2, test_size=30), 0.2, {1, 2}, 1),
        (ShuffleSplit(3, train_size=60, test_size=30), 1 / 3, {1, 2, 3}, 1),  # of the cases that are used
    ],
)
def test_rho_runs_and_folds_follow_the_splitter(cv, rho, runs, folds):
    splits = draw_splits("iris", Data(*IRIS), cv, classifier=True)
    if len(splits.rows) < 150:
        table = run({"first": DummyClassifier()}, {"iris": IRIS}, cv=cv)  # where any warning would be an error
        assert table["rho"].to_numpy() == pytest.approx(rho, rel=1e-12)
        assert list(zip(table["run"], table["fold"], strict=True)) == list(zip(splits.runs, splits.folds, strict=True))
    assert splits.rho == pytest.approx(rho, rel=1e-12)
    assert splits.assumption is None
    assert set(splits.runs) == runs
    assert max(splits.folds) == folds
    assert len(set(zip(splits.runs, splits.folds, strict=True))) == len(splits.rows)


@pytest.mark.parametrize(
    ("cv", "rho", "words"),
    [
        (GroupKFold(3), 1 / 3, "GroupKFold keeps groups together"),
        (LeaveOneGroupOut(), 1 / 6, "LeaveOneGroupOut keeps groups together"),
        (GroupShuffleSplit(4, test_size=2), 1 / 3, "GroupShuffleSplit draws whole groups"),
        (TimeSeriesSplit(5), 1 / 5, "grow from fold to fold"),
        (PredefinedSplit(np.arange(150) % 4), 1 / 4, "PredefinedSplit may be something else"),
        (
            [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(50))],
            1 / 2,
            "a list of splits may be",
        ),
    ],
)
def test_an_assumed_rho_is_said_once_and_stored(cv, rho, words):
    shuffled = np.random.default_rng(0).permutation(150)
    data = (IRIS[0][shuffled], IRIS[1][shuffled]) + ((GROUPS,) if "Group" in type(cv).__name__ else ())
    with pytest.warns(hc.DefaultedRhoWarning, match=words) as caught:
        table = run(FAST, {"one": data, "two": data}, cv=cv)
    assert len(caught) == 1
    assert table["rho"].to_numpy() == pytest.approx(rho, rel=1e-12)


def test_the_note_on_an_assumed_rho_has_the_range_of_all_its_data_sets():
    groups = np.arange(150) % 3
    data = {"few": (*IRIS, groups), "many": (*IRIS, np.arange(150) % 30)}
    with pytest.warns(hc.DefaultedRhoWarning, match=r"rho = 0.0333 to 0.333 for 2 data sets \('few', 'many'\)"):
        table = run({"nb": GaussianNB()}, data, cv=LeaveOneGroupOut())
    assert set(table["rho"]) == {1 / 3, 1 / 30}
    split = [(np.arange(50, 150), np.arange(50))]
    with pytest.warns(hc.DefaultedRhoWarning, match=r"rho = 0.333 for data set 'iris': the share of test cases"):
        run({"nb": GaussianNB()}, {"iris": IRIS}, cv=split)


def test_a_list_of_splits_for_another_data_set_is_noted():
    splits = list(StratifiedKFold(3).split(*IRIS))
    with (
        pytest.warns(hc.DefaultedRhoWarning),
        pytest.warns(hc.DroppedScoresWarning, match=r"Some rows are in no fold: 28 of data set 'wine'\. If the list"),
    ):
        run({"nb": GaussianNB()}, {"iris": IRIS, "wine": WINE}, cv=splits)
    mask = np.arange(100) < 50
    with pytest.raises(hc.ArgumentError, match=r"a mask has the shape \(100,\), and the data set 150 rows"):
        run({"nb": GaussianNB()}, {"iris": IRIS}, cv=[(mask, ~mask)])


def test_a_splitter_whose_n_repeats_is_no_number_of_runs_has_one_run():
    class Odd(KFold):
        n_repeats = 4

    splits = draw_splits("iris", Data(*IRIS), Odd(3), classifier=True)
    assert (splits.runs, splits.folds) == ((1, 1, 1), (1, 2, 3))
    assert splits.rho == pytest.approx(1 / 3)


class Untagged(BaseEstimator):
    """Naive Bayes that does not say that it is a classifier."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_one_estimator_without_a_kind_does_not_take_the_strata_from_the_classifiers():
    expected = cross_validate(GaussianNB(), *IRIS, cv=StratifiedKFold(3))["test_score"]
    table = run({"nb": GaussianNB(), "own": Untagged()}, {"iris": IRIS}, cv=3)
    for name in ("nb", "own"):
        np.testing.assert_array_equal(table.loc[table["algorithm"] == name, "score"], expected)


def test_a_precomputed_kernel_loses_the_columns_of_the_test_rows():
    kernel = IRIS[0] @ IRIS[0].T
    expected = cross_validate(SVC(kernel="precomputed"), kernel, IRIS[1], cv=CV)["test_score"]
    table = run({"svm": SVC(kernel="precomputed")}, {"iris": (kernel, IRIS[1])})
    np.testing.assert_array_equal(table["score"], expected)


def test_a_regression_has_plain_folds_for_a_whole_number():
    y = IRIS[0][:, 0]
    table = run({"ridge": Ridge(), "weak": Ridge(alpha=100)}, {"iris": (IRIS[0][:, 1:], y)}, cv=4, scoring="r2")
    expected = cross_validate(Ridge(), IRIS[0][:, 1:], y, cv=KFold(4), scoring="r2")["test_score"]
    np.testing.assert_array_equal(table.loc[table["algorithm"] == "ridge", "score"], expected)


def test_a_cell_that_fails_is_recorded_and_the_run_goes_on():
    with pytest.warns(hc.FailedCellsWarning, match=r"of 20 cells failed.*estimator 'fails', run \d, fold \d: Runtime"):
        table = run({"fails": Fails(), "nb": GaussianNB()}, {"iris": IRIS})
    failed = table["error"].notna()
    assert 0 < failed.sum() < 10
    assert set(table.loc[failed, "error"]) == {"RuntimeError: too many petals"}
    assert table.loc[failed, "score"].isna().all()
    assert table.loc[~failed, "score"].notna().all()
    with pytest.raises(hc.ScoreTableError, match="scores are missing"):
        hc.HierarchicalComparison(table)


class Exits(GaussianNB):
    """Leaves the program, as scripts that were turned into estimators do."""

    def fit(self, X, y):
        raise SystemExit(0)


def test_an_estimator_that_leaves_the_program_has_failed():
    with pytest.warns(hc.FailedCellsWarning, match="10 of 20 cells failed.*SystemExit"):
        run({"exits": Exits(), "nb": GaussianNB()}, {"iris": IRIS})


def test_the_configuration_of_scikit_learn_holds_in_other_processes():
    named = make_column_transformer((StandardScaler(), ["a"]), remainder="passthrough", verbose_feature_names_out=False)
    again = make_column_transformer(("drop", ["a"]), remainder="passthrough")  # by name: needs frames in between
    estimators = {"nb": make_pipeline(named, again, GaussianNB())}
    data = {"iris": (pd.DataFrame(IRIS[0], columns=list("abcd")), IRIS[1])}
    with config_context(transform_output="pandas"):
        one, two = run(estimators, data), run(estimators, data, n_jobs=2)
    pd.testing.assert_frame_equal(one.drop(columns=TIMES), two.drop(columns=TIMES))


def test_on_error_raise_stops_at_the_cell():
    with pytest.raises(
        hc.EngineError, match=r"data set 'iris', estimator 'fails', run \d, fold \d failed: RuntimeError"
    ):
        run({"fails": Fails(), "nb": GaussianNB()}, {"iris": IRIS}, on_error="raise")


def test_a_run_without_any_score_is_an_error():
    with pytest.raises(hc.EngineError, match=r"All 10 cells failed\. The first, data set 'iris'.*SystemExit"):
        run({"exits": Exits()}, {"iris": IRIS})


def test_a_score_that_is_not_finite_is_a_failure():
    calls = iter(range(100))
    with pytest.warns(hc.FailedCellsWarning, match="5 of 10 cells"):
        table = run({"nb": GaussianNB()}, {"iris": IRIS}, scoring=lambda model, X, y: [np.nan, 1.0][next(calls) % 2])
    assert list(table["error"].isna()) == [False, True] * 5
    assert set(table["error"].dropna()) == {"the score 'score' is nan"}


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_cells_only():
    raised = run_quietly({"fails": Fails("raise"), "nb": GaussianNB()})
    died = run_quietly({"fails": Fails("die"), "nb": GaussianNB()}, n_jobs=2)
    assert set(died["error"].dropna()) == {"the process died: it ran out of memory or crashed"}
    columns = ["dataset", "algorithm", "run", "fold", "score", "rho"]
    pd.testing.assert_frame_equal(died[columns], raised[columns])


class Logged(GaussianNB):
    """Notes its process and times in a file; ends the process on the data where it was told to."""

    def __init__(self, log: str = "", killer: float | None = None) -> None:
        super().__init__()
        self.log, self.killer = log, killer

    def fit(self, X, y):
        if self.killer is not None and abs(X.sum() - self.killer) < 1e-6:
            os._exit(9)
        started = time.time()
        time.sleep(0.05)
        with open(self.log, "a") as stream:
            stream.write(f"{os.getpid()} {started} {time.time()}\n")
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("kept", [False, True], ids=["in batches", "with a checkpoint"])
def test_the_rest_goes_on_in_several_processes_after_one_died(tmp_path, kept):
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=8, random_state=1)
    first_training_rows, _ = next(cv.split(*IRIS))
    log = tmp_path / "log.txt"
    log.touch()
    estimators = {"logged": Logged(str(log), float(IRIS[0][first_training_rows].sum()))}
    options = {"checkpoint": tmp_path / "run.sqlite"} if kept else {}
    with pytest.warns(hc.FailedCellsWarning, match="1 of 40 cells failed.*run 1, fold 1: the process died"):
        table = run(estimators, {"iris": IRIS}, cv=cv, n_jobs=2, **options)
    expected = run({"logged": GaussianNB()}, {"iris": IRIS}, cv=cv)
    assert table["score"].isna().tolist() == [True] + 39 * [False]
    np.testing.assert_array_equal(table["score"][1:], expected["score"][1:])
    # The pool that died and the lone process are history: the last 20 cells ran in two processes, two at a time
    last = sorted(
        (float(start), float(end), process)
        for process, start, end in map(str.split, log.read_text().splitlines()[-20:])
    )
    assert len({process for *_, process in last}) == 2
    overlaps = sum(later[0] < earlier[1] for earlier, later in pairwise(last))
    assert overlaps >= 5


class NotSent:
    """Can't be pickled, but copied."""

    def __reduce__(self):
        raise TypeError("no pickle of mine")

    def __deepcopy__(self, memory):
        return self


class NotReceived(NotSent):
    """Can be pickled, but not unpickled."""

    def __reduce__(self):
        return int, ("not a number",)


class Holds(GaussianNB):
    """Naive Bayes with a parameter."""

    def __init__(self, held: object = None) -> None:
        super().__init__()
        self.held = held


# A thread of loky's may still look for the cell that could not be sent
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_can_not_be_sent_to_other_processes_is_named():
    with pytest.raises(
        hc.ArgumentError, match=r"estimator 'holds' can't be pickled: TypeError: no pickle of mine\. Ch"
    ):
        run({"nb": GaussianNB(), "holds": Holds(NotSent())}, {"iris": IRIS}, n_jobs=2)
    odd = pd.DataFrame(IRIS[0], columns=list("abcd")).assign(odd=[NotSent() for _ in range(150)])
    with pytest.raises(hc.ArgumentError, match="the data can't be pickled: TypeError: no pickle of mine"):
        run(FAST, {"iris": (odd, IRIS[1])}, n_jobs=2)
    assert len(run({"holds": Holds(NotSent())}, {"iris": IRIS})) == 10


@pytest.mark.slow
def test_an_estimator_that_can_not_be_received_has_failed_and_no_process_died():
    estimators = {"nb": GaussianNB(), "holds": Holds(NotReceived())}
    with pytest.warns(hc.FailedCellsWarning, match="2 of 4 cells failed.*ValueError: invalid literal"):
        table = run(estimators, {"iris": IRIS}, cv=StratifiedKFold(2), n_jobs=2)
    assert table.loc[table["algorithm"] == "nb", "score"].notna().all()


class Unspeakable(GaussianNB):
    """Raises an error that has no text, or one that fails when it is asked for it."""

    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.how = how

    def fit(self, X, y):
        class OddError(Exception):
            def __str__(self) -> str:
                raise ValueError("no text")

        raise MemoryError if self.how == "memory" else OddError


@pytest.mark.parametrize(("how", "text"), [("memory", "MemoryError"), ("odd", "OddError")])
def test_an_error_without_a_text_is_named_by_its_kind(how, text):
    with pytest.warns(hc.FailedCellsWarning, match=rf"fold 1: {text} \(10 times\)\)\."):
        table = run({"odd": Unspeakable(how), "nb": GaussianNB()}, {"iris": IRIS})
    assert set(table["error"].dropna()) == {text}


def test_the_same_error_is_told_once_with_its_first_place_and_count():
    estimators = {f"exits {i}": Exits() for i in range(7)} | {"nb": GaussianNB()}
    with pytest.warns(hc.FailedCellsWarning) as caught:
        run(estimators, {"iris": IRIS})
    text = str(caught[0].message)
    assert text.startswith(
        "70 of 80 cells failed and have no score (data set 'iris', estimator 'exits 0', run 1, fold 1:"
    )
    assert text.count("(10 times)") == 5
    assert text.endswith("; and 20 more).")


def run_quietly(estimators, **options) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(estimators, {"iris": IRIS}, **options)


def test_data_are_loaded_in_their_turn_and_once():
    loaded = []

    def load(name):
        loaded.append(name)
        return IRIS

    run(FAST, {name: lambda name=name: load(name) for name in "cab"})
    assert loaded == ["c", "a", "b"]


def test_an_active_backend_is_used():
    with joblib.parallel_config(backend="threading", n_jobs=2):
        threads = run(FAST, {"iris": IRIS})
    pd.testing.assert_frame_equal(threads.drop(columns=TIMES), run(FAST, {"iris": IRIS}).drop(columns=TIMES))


class Changes(ClassifierMixin, BaseEstimator):
    """Breaks the rule that a constructor keeps its parameters as they are."""

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth + 1

    def fit(self, X, y):
        return self


class HoldsParameters(BaseEstimator):
    """Can be cloned, but not fitted."""


ROWS = np.arange(150)


def test_a_backend_that_can_not_be_used_is_named():
    with (
        joblib.parallel_config(backend="multiprocessing", n_jobs=2),
        pytest.raises(hc.ArgumentError, match=r"joblib's active backend: .*Multiprocessing.*Use 'loky'"),
    ):
        run(FAST, {"iris": IRIS})


@pytest.mark.parametrize(
    ("estimators", "data", "options", "words"),
    [
        ({}, {"iris": IRIS}, {}, "estimators must be a mapping with at least one name, got an empty mapping"),
        ([GaussianNB()], {"iris": IRIS}, {}, "estimators must be a mapping .* got list"),
        ({"nb": GaussianNB}, {"iris": IRIS}, {}, r"estimators\['nb'\]: scikit-learn cannot clone it: .*class"),
        ({"nb": 3}, {"iris": IRIS}, {}, r"estimators\['nb'\]: scikit-learn cannot clone it: .*'3'"),
        ({" ": GaussianNB()}, {"iris": IRIS}, {}, "estimators: names must be non-empty strings, got ' '"),
        ({"nb": GaussianNB(), "nb ": GaussianNB()}, {"iris": IRIS}, {}, "differ only by outer spaces"),
        ({"scaler": HoldsParameters()}, {"iris": IRIS}, {}, r"estimators\['scaler'\] must be an estimator with fit"),
        (FAST, {}, {}, "data must be a mapping"),
        (FAST, {"iris": IRIS[0]}, {}, r"data\['iris'\] must be \(X, y\)"),
        (FAST, {"iris": (IRIS[0], IRIS[1][:-1])}, {}, r"data\['iris'\]: .*\[150, 149\]"),
        (FAST, {"iris": (3, IRIS[1])}, {}, r"data\['iris'\]: .*(scalar|valid collection)"),
        (FAST, {"iris": IRIS}, {"scoring": "acuracy"}, "scikit-learn has no scorer 'acuracy'"),
        (FAST, {"iris": IRIS}, {"scoring": []}, r"scoring=\[\] is refused by scikit-learn: .*Empty"),
        (FAST, {"iris": IRIS}, {"scoring": {"accuracy", "f1_macro"}}, "scoring must be a list"),
        (
            FAST,
            {"iris": IRIS},
            {"cv": KFold(3, shuffle=True, random_state=np.random.RandomState(1))},
            "whole number or",
        ),
        (FAST, {"iris": IRIS}, {"checkpoint": 5}, "checkpoint must be the name of a file"),
        (FAST | {"a\0": GaussianNB()}, {"iris": IRIS}, {}, "characters that can't be written to a file"),
        (FAST, {"caf\udce9": IRIS}, {}, "characters that can't be written to a file"),
        (FAST, {"iris": IRIS}, {"scoring": ["accuracy", "accuracy"]}, "refused by scikit-learn: .*Duplicate"),
        (FAST, {"iris": IRIS}, {"scoring": {"run": "accuracy"}}, "can't have a scorer called 'run'"),
        (FAST, {"iris": IRIS}, {"cv": "ten"}, "can't be split by 'ten'"),
        (FAST, {"iris": IRIS}, {"cv": StratifiedKFold(51)}, r"'iris' can't be split by StratifiedKFold\(n_splits=51"),
        (FAST, {"iris": IRIS}, {"cv": GroupKFold(3)}, "The 'groups' parameter should not be None"),
        (FAST, {"iris": IRIS}, {"cv": []}, "gives no fold of data set 'iris'"),
        (FAST, {"iris": IRIS}, {"seed": -1}, "seed must be between 0 and"),
        (FAST, {"iris": IRIS}, {"n_jobs": 0}, "n_jobs must be the number of processes"),
        (FAST, {"iris": IRIS}, {"on_error": "ignore"}, "on_error must be one of 'record', 'raise'"),
        (FAST, {"iris": IRIS}, {"progress": "yes"}, "progress must be True or False"),
        (FAST, {"iris": IRIS}, {"scoring": "acuracy"}, "Did you mean 'accuracy'"),
        (FAST, {"iris": IRIS}, {"scoring": ["accuracy", "f1_marco"]}, "no scorer 'f1_marco'. Did you mean 'f1_"),
        (FAST, {"iris": IRIS}, {"scoring": accuracy_score}, "looks like it is a metric function"),
        (FAST, {"iris": IRIS}, {"scoring": [lambda model, X, y: 1.0]}, "refused by scikit-learn: .*callables"),
        (
            FAST,
            {"iris": IRIS},
            {"scoring": {1: "accuracy", "1": "f1_macro"}},
            "scoring: names must be non-empty strings, got 1",
        ),
        (FAST, {"iris": IRIS}, {"scoring": {"a": "accuracy", "a ": "f1_macro"}}, "differ only by outer spaces"),
        (FAST, {"iris": IRIS}, {"cv": KFold}, r"got the class KFold\. Pass KFold\(\)"),
        (FAST, {"iris": IRIS}, {"cv": GroupKFold(3)}, "Give groups as the third part"),
        (
            FAST,
            {"iris": IRIS},
            {"cv": [(ROWS, ROWS + 1)]},
            "test rows of fold 1 .* go from 1 to 150; the data set has rows 0 to 149",
        ),
        (FAST, {"iris": IRIS}, {"cv": [(ROWS, ROWS[:0])]}, "test rows of fold 1 .* at least one whole number"),
        (
            FAST,
            {"iris": IRIS},
            {"cv": [(ROWS, ROWS), (ROWS - 1, ROWS)]},
            "training rows of fold 2 .* go from -1 to 148",
        ),
        (FAST, {"iris": IRIS}, {"checkpoint": ":memory:"}, "must be the name of a file, got ':memory:'"),
        (FAST, {"iris": IRIS}, {"checkpoint": "a\0b"}, "must be the name of a file"),
        (FAST, {"iris": IRIS}, {"checkpoint": ""}, "must be the name of a file, got ''"),
        (FAST, {"iris": (IRIS[0], "target")}, {}, "y must be an array or a data frame, got 'target'"),
        (FAST, {"iris": lambda: 1 / 0}, {}, r"data\['iris'\] can't be loaded: ZeroDivisionError: division by zero"),
        (FAST, {"iris": lambda path: path}, {}, r"data\['iris'\] can't be loaded: TypeError: .*missing 1 required"),
        (
            {"p": make_pipeline(StandardScaler, GaussianNB())},
            {"iris": IRIS},
            {},
            r"estimators\['p'\]: scikit-learn cannot clone it",
        ),
        (
            {"c": Changes()},
            {"iris": IRIS},
            {},
            r"estimators\['c'\]: scikit-learn cannot clone it: .*modifies parameter depth",
        ),
    ],
)
def test_a_wrong_argument_is_refused_in_words(estimators, data, options, words):
    with pytest.raises(hc.ArgumentError, match=words):
        run(estimators, data, **options)


@pytest.mark.parametrize("cv", [KFold(3), StratifiedKFold(3)], ids=["plain", "stratified"])
@pytest.mark.parametrize(
    "target",
    [
        np.where(ROWS == 3, np.nan, IRIS[1]),
        np.where(ROWS == 3, None, load_iris().target_names[IRIS[1]]),
        pd.Series(IRIS[1], dtype="Int64").mask(ROWS == 3),
        pd.DataFrame({"y": np.where(ROWS == 3, np.nan, IRIS[1])}),
        [None if row == 3 else int(label) for row, label in enumerate(IRIS[1])],
        [float("nan") if row == 3 else str(label) for row, label in enumerate(IRIS[1])],
    ],
    ids=["float", "object", "Int64", "frame", "list", "text"],
)
def test_a_missing_target_is_no_class(target, cv):
    with pytest.raises(hc.ArgumentError, match=r"the target is missing in 1 of 150 rows \(first: row 3"):
        run(FAST, {"iris": (IRIS[0], target)}, cv=cv)


def test_data_that_are_here_are_checked_before_the_first_cell():
    started: list[int] = []
    scoring = lambda model, X, y: started.append(1) or 0.5  # noqa: E731
    with pytest.raises(hc.ArgumentError, match="'few' can't be split"):
        run(FAST, {"iris": IRIS, "few": (IRIS[0][48:52], IRIS[1][48:52])}, scoring=scoring)
    assert not started


def test_masks_are_rows_in_every_fold():
    half = ROWS % 2 == 0
    numbers = [(ROWS[half], ROWS[~half]), (ROWS[~half], ROWS[half])]
    mixed = [(half, ~half), (ROWS[~half], ROWS[half])]
    with pytest.warns(hc.DefaultedRhoWarning):
        one, two = (run({"nb": GaussianNB()}, {"iris": IRIS}, cv=cv) for cv in (numbers, mixed))
    assert one["score"].equals(two["score"])
