"""A cross-validation written as TOML: what it makes, what it refuses, and the command that runs it."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from hiercomp.crossval import cross_validate_all
from hiercomp.crossval.experiment_file import read_experiment
from tests.command_line import Done, assert_one_line_of_error, run, run_process

EXPERIMENT = """
scoring = "accuracy"
seed = 3

[cv]
splitter = "RepeatedStratifiedKFold"
n_splits = 4
n_repeats = 2

[estimators.tree]
class = "sklearn.tree.DecisionTreeClassifier"
parameters = { max_depth = 3 }

[estimators.logistic]
steps = [
  { class = "sklearn.preprocessing.StandardScaler" },
  { class = "sklearn.linear_model.LogisticRegression", parameters = { C = 0.5 } },
]

[data.iris]
file = "iris.csv"
target = "species"
drop = ["id"]

[data.wine]
file = "wine.parquet"
target = "target"
"""
COLUMNS = ["dataset", "algorithm", "run", "fold", "score", "rho"]


@pytest.fixture
def folder(tmp_path) -> Path:
    iris, wine = load_iris(as_frame=True).frame, load_wine(as_frame=True).frame
    iris = iris.assign(species=load_iris().target_names[iris.pop("target")], id=range(150))
    iris.to_csv(tmp_path / "iris.csv", index=False)
    wine.to_parquet(tmp_path / "wine.parquet")
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    return tmp_path


def crossval(folder: Path, *arguments: str) -> Done:
    return run(folder, "crossval", *arguments)


def crossval_process(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_process(folder, "crossval", *arguments)


def expected_table() -> pd.DataFrame:
    iris, wine = load_iris(as_frame=True), load_wine(as_frame=True)
    return cross_validate_all(
        {
            "tree": DecisionTreeClassifier(max_depth=3),
            "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.5)),
        },
        {
            "iris": (iris.data, iris.target_names[iris.target]),
            "wine": (wine.data, wine.target),
        },
        cv=RepeatedStratifiedKFold(n_splits=4, n_repeats=2),
        seed=3,
        progress=False,
    )


@pytest.mark.slow
def test_the_command_writes_what_python_gives(folder):
    done = crossval_process(folder, "experiment.toml", "--output", "scores.csv")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == "32 scores of 2 data sets and 2 algorithms are in scores.csv.\n"
    found = pd.read_csv(folder / "scores.csv", converters={"score": float})  # pandas 2 rounds the last digit
    pd.testing.assert_frame_equal(found[COLUMNS], expected_table()[COLUMNS], check_exact=True)


@pytest.mark.slow
def test_the_experiment_file_names_its_files_and_a_checkpoint_is_gone_on_with(folder):
    text = 'checkpoint = "run.sqlite"\noutput = "scores.parquet"\n' + EXPERIMENT
    (folder / "sub").mkdir()
    for name in ("iris.csv", "wine.parquet"):
        (folder / name).rename(folder / "sub" / name)
    (folder / "sub" / "experiment.toml").write_text(text)
    assert crossval_process(folder, "sub/experiment.toml").returncode == 0
    first = pd.read_parquet(folder / "sub" / "scores.parquet")
    assert crossval_process(folder, "sub/experiment.toml", "--force", "--jobs", "2").returncode == 0
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "sub" / "scores.parquet"), first)  # times too
    (folder / "sub" / "experiment.toml").write_text(text.replace("max_depth = 3", "max_depth = 4"))
    other = crossval_process(folder, "sub/experiment.toml", "--force")
    assert other.returncode == 2
    assert "max_depth of estimator 'tree' was 3 and is 4" in other.stderr
    assert other.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["scores.csv", "scores.csv.gz", "scores.parquet"])
def test_a_second_run_after_success_changes_nothing(folder, name):
    text = f'checkpoint = "run.sqlite"\noutput = "{name}"\n' + EXPERIMENT
    (folder / "experiment.toml").write_text(text)
    assert crossval(folder, "experiment.toml").returncode == 0
    before = (folder / name).read_bytes(), (folder / name).stat().st_mtime_ns
    again = crossval(folder, "experiment.toml")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith("32 scores of 2 data sets and 2 algorithms are in ")
    assert again.stdout.endswith(f"{name}, as before.\n")
    assert ((folder / name).read_bytes(), (folder / name).stat().st_mtime_ns) == before


def test_a_second_run_after_failures_tries_them_again_and_keeps_the_table(folder):
    text = 'checkpoint = "run.sqlite"\noutput = "scores.csv"\n' + EXPERIMENT
    failing = '[estimators.never]\nclass = "sklearn.naive_bayes.CategoricalNB"\nparameters = { alpha = -1.0 }\n'
    (folder / "experiment.toml").write_text(text + failing)
    assert crossval(folder, "experiment.toml").returncode == 3
    before = (folder / "scores.csv").read_bytes()
    again = crossval(folder, "experiment.toml")
    assert again.returncode == 3
    assert "16 of 48 cells failed" in again.stderr
    assert again.stdout.endswith(", as before.\n")
    assert (folder / "scores.csv").read_bytes() == before


def test_a_table_that_would_change_is_refused(folder):
    text = 'checkpoint = "run.sqlite"\noutput = "scores.csv"\n' + EXPERIMENT
    (folder / "experiment.toml").write_text(text)
    assert crossval(folder, "experiment.toml").returncode == 0
    content = (folder / "scores.csv").read_text()

    # Before the first cell, where the names say that the table has grown or there is no checkpoint
    (folder / "experiment.toml").write_text(text + '[estimators.nb]\nclass = "sklearn.naive_bayes.GaussianNB"\n')
    assert_one_line_of_error(crossval(folder, "experiment.toml"), "scores.csv exists", "--force")
    assert finished_cells(folder) == 32
    (folder / "experiment.toml").write_text(text)
    refused = crossval(folder, "experiment.toml", "--checkpoint", "other.sqlite")
    assert_one_line_of_error(refused, "scores.csv exists", "--force")
    assert not (folder / "other.sqlite").exists()

    (folder / "scores.csv").write_text(content.replace("iris,tree,1,1,0", "iris,tree,1,1,1", 1))
    assert_one_line_of_error(crossval(folder, "experiment.toml"), "scores.csv exists and holds other scores", "--force")
    (folder / "scores.csv").write_text("something else\n")
    assert_one_line_of_error(crossval(folder, "experiment.toml"), "scores.csv exists", "--force")
    assert crossval(folder, "experiment.toml", "--force").returncode == 0
    assert (folder / "scores.csv").read_text() == content


def test_meta_estimators_hold_others_at_any_depth_and_cv_may_be_a_number(folder):
    text = """
    cv = 3
    [estimators.search]
    class = "sklearn.model_selection.GridSearchCV"
    [estimators.search.parameters]
    cv = 2
    param_grid = { "kneighborsclassifier__n_neighbors" = [1, 5] }
    [estimators.search.parameters.estimator]
    steps = [
      { class = "sklearn.preprocessing.StandardScaler" },
      { class = "sklearn.neighbors.KNeighborsClassifier" },
    ]
    [estimators.vote]
    class = "sklearn.ensemble.VotingClassifier"
    [estimators.vote.parameters]
    estimators = [
      ["nb", { class = "sklearn.naive_bayes.GaussianNB" }],
      ["bag", BAG],
    ]
    [estimators.either]
    class = "sklearn.model_selection.GridSearchCV"
    [estimators.either.parameters]
    estimator = { steps = [{ class = "sklearn.naive_bayes.GaussianNB" }] }
    param_grid = { gaussiannb = [{ class = "sklearn.dummy.DummyClassifier" }, { class = "sklearn.naive_bayes.GaussianNB" }] }
    [data.iris]
    file = "iris.csv"
    target = "species"
    drop = ["id"]
    """
    inner = '{ class = "sklearn.tree.DecisionTreeClassifier", parameters = { max_depth = 2 } }'
    parameters = f"{{ n_estimators = 3, estimator = {inner} }}"
    bag = f'{{ class = "sklearn.ensemble.BaggingClassifier", parameters = {parameters} }}'
    (folder / "experiment.toml").write_text(text.replace("BAG", bag))
    done = crossval(folder, "experiment.toml", "--output", "scores.csv", "--checkpoint", "run.sqlite")
    assert done.returncode == 0, done.stderr
    iris = load_iris(as_frame=True)
    knn = make_pipeline(StandardScaler(), KNeighborsClassifier())
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3)
    same = cross_validate_all(
        {
            "search": GridSearchCV(knn, {"kneighborsclassifier__n_neighbors": [1, 5]}, cv=2),
            "vote": VotingClassifier([("nb", GaussianNB()), ("bag", bag)]),
            "either": GaussianNB(),  # which is the better one
        },
        {"iris": (iris.data, iris.target_names[iris.target])},
        cv=3,
        progress=False,
    )
    found = pd.read_csv(folder / "scores.csv")
    pd.testing.assert_frame_equal(found[COLUMNS], same[COLUMNS], check_exact=True)


def test_the_time_limit_is_a_key_and_an_option(folder):
    (folder / "experiment.toml").write_text("time_limit = 600\n" + EXPERIMENT)
    assert read_experiment(folder / "experiment.toml").time_limit == 600
    refused = crossval(folder, "experiment.toml", "--output", "scores.csv", "--time-limit", "0")
    assert_one_line_of_error(refused, "time_limit must be above 0")


def test_a_regressor_without_scoring_is_refused_before_its_data_are_read(folder):
    text = re.sub(r"\[cv\][^\[]*", "", EXPERIMENT).replace('scoring = "accuracy"', "")
    text = text.replace("DecisionTreeClassifier", "DecisionTreeRegressor").replace('"target"', '"absent"')
    (folder / "experiment.toml").write_text(text)
    done = crossval(folder, "experiment.toml", "--output", "scores.csv")
    assert_one_line_of_error(done, "'tree' is a regressor", "Pass scoring", "and cv")


def test_failed_cells_exit_with_three_and_are_told(folder):
    (folder / "experiment.toml").write_text(
        EXPERIMENT + '\n[estimators.nb]\nclass = "sklearn.naive_bayes.CategoricalNB"\n'
    )
    frame = pd.read_parquet(folder / "wine.parquet")
    (frame - frame.mean()).assign(target=frame["target"]).to_parquet(folder / "wine.parquet")
    done = crossval(folder, "experiment.toml", "--output", "scores.csv")
    assert done.returncode == 3
    assert "8 of 48 cells failed" in done.stderr or "of 48 cells failed" in done.stderr
    assert "Negative values" in done.stderr
    table = pd.read_csv(folder / "scores.csv")
    assert table.loc[table["error"].notna(), "score"].isna().all()
    stopped = crossval(folder, "experiment.toml", "--output", "other.csv", "--on-error", "raise")
    assert stopped.returncode == 2
    assert "estimator 'nb'" in stopped.stderr
    assert not (folder / "other.csv").exists()


def test_text_features_are_refused_or_encoded(folder):
    frame = pd.read_csv(folder / "iris.csv").assign(colour=np.where(np.arange(150) % 3, "red", "blue"))
    frame.to_csv(folder / "iris.csv", index=False)
    experiment = read_experiment(folder / "experiment.toml")
    with pytest.raises(hc.ArgumentError, match=r"1 features are not numbers \('colour'\)\. Write one_hot = true"):
        experiment.data["iris"]()
    (folder / "experiment.toml").write_text("one_hot = true\n" + EXPERIMENT)
    experiment = read_experiment(folder / "experiment.toml")
    X, y = experiment.data["iris"]()
    fitted = experiment.estimators["tree"].fit(X, y)
    assert fitted[0].transform(X).shape == (150, 6)
    assert fitted.score(X, y) > 0.9


def test_nested_estimators_groups_and_hold_out(folder):
    text = """
    scoring = ["accuracy", "neg_log_loss"]
    [cv]
    splitter = "StratifiedShuffleSplit"
    n_splits = 3
    test_size = 0.25
    [estimators.bag]
    class = "sklearn.ensemble.BaggingClassifier"
    [estimators.bag.parameters]
    n_estimators = 2
    estimator = { class = "sklearn.tree.DecisionTreeClassifier", parameters = { max_depth = 1 } }
    [data.iris]
    file = "iris.csv"
    target = "species"
    groups = "id"
    """
    (folder / "experiment.toml").write_text(text)
    experiment = read_experiment(folder / "experiment.toml")
    assert repr(experiment.estimators["bag"].estimator) == "DecisionTreeClassifier(max_depth=1)"
    assert isinstance(experiment.cv, StratifiedShuffleSplit)
    assert experiment.scoring == ["accuracy", "neg_log_loss"]
    X, _, groups = experiment.data["iris"]()
    assert list(groups) == list(range(150))
    assert X.shape == (150, 4)


@pytest.mark.slow
def test_a_package_is_allowed_by_name_only(folder):
    (folder / "mine.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\nclass Mine(GaussianNB):\n    pass\nprint('imported')\n"
    )
    (folder / "experiment.toml").write_text(EXPERIMENT + '\n[estimators.mine]\nclass = "mine.Mine"\n')
    refused = crossval(folder, "experiment.toml", "--output", "scores.csv")
    assert refused.returncode == 2
    assert "mine.Mine is not from an allowed package (sklearn)" in refused.stderr
    assert "pass --allow mine" in refused.stderr
    assert "imported" not in refused.stdout
    done = crossval_process(folder, "experiment.toml", "--output", "scores.csv", "--allow", "mine")
    assert done.returncode == 0, done.stderr
    assert "48 scores of 2 data sets and 3 algorithms" in done.stdout


ESTIMATOR = "\n[estimators.odd]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (EXPERIMENT + ESTIMATOR + 'class = "os.system"', "os.system is not from an allowed package"),
        (EXPERIMENT + ESTIMATOR + 'class = "sklearn.os.system"', r"sklearn\.os\.system can't be imported"),
        (EXPERIMENT + ESTIMATOR + 'class = "sklearn.utils.murmurhash3_32"', "is not an estimator"),
        (EXPERIMENT + ESTIMATOR + 'class = "sklearn.svm.SVX"', r"sklearn\.svm\.SVX can't be imported"),
        (EXPERIMENT.replace("DecisionTreeC", "DecisionTreC"), "Did you mean 'DecisionTreeClassifier'"),
        (
            EXPERIMENT.replace("max_depth", "max_dept"),
            "unexpected keyword argument 'max_dept'. Did you mean 'max_depth'",
        ),
        (
            EXPERIMENT.replace("n_repeats", "n_repeat"),
            "unexpected keyword argument 'n_repeat'. Did you mean 'n_repeats'",
        ),
        (EXPERIMENT + ESTIMATOR + 'class = "svm"', "class must be an import path"),
        (EXPERIMENT + ESTIMATOR + 'class = "sklearn.svm.SVC\\nx"', "class must be an import path"),
        (EXPERIMENT + ESTIMATOR + "class = 3", "class must be an import path such as"),
        (EXPERIMENT + ESTIMATOR + 'clas = "sklearn.svm.SVC"', r"unknown key 'clas'\. Did you mean 'class'"),
        (EXPERIMENT + ESTIMATOR + 'class = "sklearn.svm.SVC"\nsteps = []', "must have either a class or steps"),
        (EXPERIMENT + ESTIMATOR + "steps = []", "steps must be a list of tables"),
        (
            EXPERIMENT + ESTIMATOR + 'class = "sklearn.svm.SVC"\nparameters = { c = 3 }',
            "can't be made with these parameters",
        ),
        (EXPERIMENT + ESTIMATOR + 'class = "sklearn.svm.SVC"\nparameters = 3', "parameters must be a table"),
        (
            EXPERIMENT.replace("RepeatedStratifiedKFold", "RepeatedStratifiedKfold"),
            "Did you mean 'RepeatedStratifiedKFold'",
        ),
        (EXPERIMENT.replace("splitter", "spliter"), r"\[cv\] must have a splitter"),
        (EXPERIMENT.replace("n_repeats", "repeats"), "unexpected keyword argument"),
        (EXPERIMENT.replace('"accuracy"', "3"), "scoring must be the name of a scorer"),
        (EXPERIMENT.replace("iris.csv", "irys.csv"), "data.iris: there is no file .*irys.csv"),
        (EXPERIMENT.replace('target = "species"', ""), "data.iris must have a target"),
        (EXPERIMENT.replace('["id"]', '"id"'), "drop must be a list of columns"),
        (EXPERIMENT.replace("[data.iris]", "[dta.iris]"), "unknown key 'dta'. Did you mean 'data'"),
        ("one_hot = 1\n" + EXPERIMENT, "one_hot must be true or false"),
        ("output = 3\n" + EXPERIMENT, "output must be the name of a file"),
        (
            EXPERIMENT + ESTIMATOR + 'class = "sklearn.pipeline.FeatureUnion"\nparameters = { memory = "x" }',
            "cannot set memory",
        ),
        (
            EXPERIMENT
            + ESTIMATOR
            + 'class = "sklearn.model_selection.GridSearchCV"\n'
            + "parameters = { estimator = { steps = [{ class = 'sklearn.svm.SVC' }] }, param_grid = { memory = ['x'] } }",
            "cannot set memory",
        ),
        (
            EXPERIMENT
            + ESTIMATOR
            + 'class = "sklearn.ensemble.VotingClassifier"\n'
            + 'parameters = { estimators = [["a", { class = "os.system" }]] }',
            r"parameters\.estimators\[0\]\[1\]: os\.system is not from an allowed package",
        ),
        ("cv = 1\n" + re.sub(r"\[cv\][^\[]*", "", EXPERIMENT), "cv must be at least 2, got 1"),
        ("cv = true\n" + re.sub(r"\[cv\][^\[]*", "", EXPERIMENT), "cv must be a whole number, got True"),
        ("seed = [", "is not TOML"),
        ("seed = 1\nseed = 2", "is not TOML"),
        ("", r"needs at least one table \[estimators\.NAME\]"),
        ("estimators = 3", r"needs at least one table \[estimators\.NAME\]"),
    ],
)
def test_a_wrong_experiment_file_is_refused_with_its_place(folder, text, words):
    (folder / "experiment.toml").write_text(text)
    with pytest.raises((hc.ArgumentError, hc.ScoreFileError), match=words):
        read_experiment(folder / "experiment.toml")


@pytest.mark.parametrize("seed", ["-1", "1.5", '"one"', "true"])
def test_a_wrong_seed_is_refused(folder, seed):
    (folder / "experiment.toml").write_text(EXPERIMENT.replace("seed = 3", f"seed = {seed}"))
    done = crossval(folder, "experiment.toml", "--output", "scores.csv")
    assert done.returncode == 2
    assert "seed must be" in done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target": "kind"}, "has no column 'kind'"),
        ({"drop": ["idd"]}, r"has no column 'idd'\. Did you mean 'id'"),
        ({"groups": "group"}, "has no column 'group'"),
        ({"drop": ["id", *load_iris().feature_names]}, "has no feature columns left"),
    ],
)
def test_data_without_the_columns_named_are_refused(folder, change, words):
    from hiercomp.crossval.experiment_file import read_data

    with pytest.raises(hc.ArgumentError, match=words):
        read_data(folder / "iris.csv", **{"target": "species", "drop": ["id"], "groups": None, "text": False} | change)


def data_of(folder: Path, content: str, **options):
    from hiercomp.crossval.experiment_file import read_data

    (folder / "data.csv").write_text(content)
    return read_data(folder / "data.csv", **{"target": "y", "drop": [], "groups": None, "text": False} | options)


def test_classes_stay_apart_and_features_are_numbers(tmp_path):
    X, y = data_of(tmp_path, "x,model,y\n1,2.5,001\n0.5,,1\n2,3,NA\n")
    assert list(y) == ["001", "1", "NA"]  # bad_inputs 19, 20
    assert [list(X[name].fillna(-1)) for name in X] == [[1, 0.5, 2], [2.5, -1, 3]]
    assert data_of(tmp_path, "x,y\n1,1\n2,0\n3,1.5\n")[1].tolist() == [1, 0, 1.5]
    assert data_of(tmp_path, "x,y\n1,a\n2,b\n")[1].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,z,y\n1,2,0,9\n2,3,1,9\n", "line 2: 4 cells where the header has 3"),  # bad_inputs 16
        ("x,z,y\n1,2,0\n2,1\n", "line 3: 2 cells where the header has 3"),  # 15
        ("x,x,y\n1,2,0\n", "column names occur twice"),  # 17
        ("x,y\n1,a\n2,\n", "the target 'y' is empty in 1 of 2 rows"),
    ],
)
def test_data_that_are_no_table_are_refused_with_the_line(tmp_path, text, words):
    with pytest.raises((hc.ScoreFileError, hc.ArgumentError), match=words):
        data_of(tmp_path, text)


def test_groups_stay_apart_and_none_is_empty(tmp_path):
    assert list(data_of(tmp_path, "x,g,y\n1,001,a\n2,1,b\n", groups="g")[2]) == ["001", "1"]
    assert list(data_of(tmp_path, "x,g,y\n1,3,a\n2,4,b\n", groups="g")[2]) == [3, 4]
    with pytest.raises(hc.ArgumentError, match="the column of groups 'g' is empty in 1 of 2 rows"):
        data_of(tmp_path, "x,g,y\n1,3,a\n2,,b\n", groups="g")


@pytest.mark.parametrize("mark", ["NA", "nan", "?", "None"])
def test_a_target_of_numbers_with_a_mark_among_them_is_refused(tmp_path, mark):
    words = rf"the target 'y' is '{re.escape(mark)}' in 1 of 3 rows and a number in the others\. Leave these rows out"
    with pytest.raises(hc.ArgumentError, match=words):
        data_of(tmp_path, f"x,y\n1,1.5\n2,{mark}\n3,2.5\n")
    assert list(data_of(tmp_path, f"x,y\n1,{mark}\n2,b\n3,a\n")[1]) == [mark, "b", "a"]  # a class among others


@pytest.mark.slow
def test_no_input_is_overwritten_by_the_table(folder):
    (folder / "experiment.csv").write_text('checkpoint = "run.csv"\n' + EXPERIMENT)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name, words in (
        ("iris.csv", "iris.csv is data"),
        ("experiment.csv", "experiment.csv is the experiment file"),
        ("run.csv", "run.csv is the checkpoint"),
        ("../" + folder.name + "/iris.csv", "iris.csv is data"),
    ):
        done = crossval(folder, "experiment.csv", "--output", name, "--force")
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('target = "target"', 'target = "targt"'), r"wine\.parquet has no column 'targt'\. Did you mean 'target'"),
        (("n_splits = 4", "n_splits = 151"), "Data set 'iris' can't be split by"),
        (('"RepeatedStratifiedKFold"\nn_splits = 4\nn_repeats = 2', '"GroupKFold"'), "Give groups as the third part"),
    ],
    ids=["column of the last data set", "too many folds", "no groups"],
)
def test_what_is_wrong_with_any_data_set_is_told_before_the_first_cell(folder, change, words):
    (folder / "experiment.toml").write_text('checkpoint = "run.sqlite"\n' + EXPERIMENT.replace(*change))
    done = crossval(folder, "experiment.toml", "--output", "scores.csv")
    assert done.returncode == 2
    assert re.search(words, done.stderr)
    assert done.stderr.count("\n") == 1
    assert not (folder / "run.sqlite").exists()
    assert not (folder / "scores.csv").exists()


SLOW = """
import time
from sklearn.naive_bayes import GaussianNB

class Slow(GaussianNB):
    def fit(self, X, y):
        time.sleep(0.08)
        return super().fit(X, y)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("limit", [[], ["--time-limit", "60"]], ids=["no limit", "limit"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_was_interrupted_goes_on(folder, jobs, limit):
    (folder / "slow.py").write_text(SLOW)
    experiment = EXPERIMENT.replace("n_repeats = 2", "n_repeats = 8").replace(
        "sklearn.tree.DecisionTreeClassifier", "slow.Slow"
    )
    (folder / "experiment.toml").write_text(experiment.replace("max_depth = 3", "var_smoothing = 1e-8"))
    arguments = [
        *("crossval", "experiment.toml", "--output", "scores.csv", "--checkpoint", "run.sqlite"),
        "--allow",
        "slow",
    ]
    command = [sys.executable, "-m", "hiercomp.cli", *arguments, "--jobs", jobs, *limit]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until = time.monotonic() + 60
    while finished_cells(folder) < 10 and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "hiercomp: interrupted\n")
    assert not (folder / "scores.csv").exists()
    kept = finished_cells(folder)
    assert 10 <= kept < 128
    assert crossval_process(folder, *arguments[1:], "--jobs", jobs).returncode == 0
    assert (
        crossval_process(
            folder,
            *(part.replace("scores.csv", "again.csv").replace("run.sqlite", "other.sqlite") for part in arguments[1:]),
        ).returncode
        == 0
    )
    again, alone = (pd.read_csv(folder / name)[COLUMNS] for name in ("scores.csv", "again.csv"))
    pd.testing.assert_frame_equal(again, alone, check_exact=True)


def finished_cells(folder: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM cells WHERE result IS NOT NULL").fetchone()[0])
    except sqlite3.OperationalError:  # not yet made
        return 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on the size of files")
def test_a_disk_that_is_full_ends_in_one_line_and_no_half_table(folder):
    (folder / "experiment.toml").write_text(EXPERIMENT.replace("n_repeats = 2", "n_repeats = 10"))
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, 2 * (BYTES,)); sys.argv[0] = 'hiercomp'; "
    )
    program += "from hiercomp.cli import main; main()"
    for limit, checkpoint in ((40_000, ["--checkpoint", "run.sqlite"]), (3_000, [])):
        command = [sys.executable, "-c", program.replace("BYTES", str(limit)), "crossval", "experiment.toml"]
        done = subprocess.run(
            [*command, "--output", "scores.csv", *checkpoint], cwd=folder, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 2
        assert re.fullmatch(r"hiercomp: .*(run\.sqlite|scores\.csv).*can't be (read or )?written: .*\n", done.stderr)
        assert not [path for path in folder.iterdir() if path.name.startswith((".hiercomp", "scores"))]
    kept = finished_cells(folder)
    assert crossval(folder, "experiment.toml", "--output", "scores.csv", "--checkpoint", "run.sqlite").returncode == 0
    assert 0 < kept < finished_cells(folder) == 160


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that not even root may write to")
def test_a_checkpoint_where_nothing_can_be_written_is_refused(folder):
    done = crossval(folder, "experiment.toml", "--output", "scores.csv", "--checkpoint", "/proc/run.sqlite")
    assert done.returncode == 2
    assert re.fullmatch(r"hiercomp: The checkpoint /proc/run\.sqlite can't be read or written: .*\n", done.stderr)
    assert not (folder / "scores.csv").exists()


def test_a_table_that_can_not_be_written_is_refused_before_the_run(folder):
    for name, words in (("scores.txt", "must end in"), (".", "must end in"), ("no/scores.csv", "no folder")):
        done = crossval(folder, "experiment.toml", "--output", name, "--force")
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stdout == ""


def test_damaged_data_are_refused_by_name(folder):
    (folder / "wine.parquet").write_bytes((folder / "wine.parquet").read_bytes()[:500])
    with pytest.raises(hc.ScoreFileError, match=r"wine\.parquet can't be read"):
        read_experiment(folder / "experiment.toml").data["wine"]()
    frame = pd.read_csv(folder / "iris.csv")
    frame.loc[4, "species"] = None
    frame.to_csv(folder / "iris.csv", index=False)
    with pytest.raises(hc.ArgumentError, match="the target 'species' is empty in 1 of 150 rows"):
        read_experiment(folder / "experiment.toml").data["iris"]()


def test_an_experiment_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(hc.ScoreFileError, match="there is no such file"):
        read_experiment(tmp_path / "experiment.toml")
    (tmp_path / "experiment.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(hc.ScoreFileError, match=r"not UTF-8 text \(byte 0\)"):
        read_experiment(tmp_path / "experiment.toml")
    with pytest.raises(hc.ScoreFileError, match="can't be read"):
        read_experiment(tmp_path)
