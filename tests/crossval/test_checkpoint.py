"""Checkpoints of a cross-validation: kills, other experiments, damage, and two programs at once."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import io
import json
import linecache
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import PredefinedSplit, RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from hiercomp.crossval import cross_validate_all
from hiercomp.crossval.cells import Cell, CellResult
from hiercomp.crossval.store import CellStore, checksum, described

PROGRAM = Path(__file__).resolve().parents[2] / "scripts" / "kill_crossval.py"
TIMES = ["fit_time", "score_time"]
IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
FAST = {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)}
CV = RepeatedStratifiedKFold(n_splits=3, n_repeats=2)


class Frozen(GaussianNB):
    """A clone keeps what it has learnt, as those of scikit-learn's `FrozenEstimator` do, which is new in 1.6."""

    def __sklearn_clone__(self):
        return self


def run(checkpoint: Path, estimators=FAST, data=None, **options) -> pd.DataFrame:
    data = {"iris": IRIS, "wine": WINE} if data is None else data
    return cross_validate_all(estimators, data, **{"cv": CV, "progress": False, "checkpoint": checkpoint} | options)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_killed_run_ends_with_the_table_of_an_uninterrupted_one_to_the_byte(jobs):
    command = [sys.executable, str(PROGRAM), "--kills", "2", "--repeats", "2", "--jobs", jobs, "--seed", jobs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the same") == 2
    assert done.stdout.endswith("2 of 2 resumed tables equal the uninterrupted one.\n")


def write(connection: sqlite3.Connection, key: tuple[object, ...], content: object, error: str | None) -> None:
    """A cell as the package would write it."""
    row = (*key, json.dumps(content), error)
    where = "(dataset, estimator, run, fold) = (?, ?, ?, ?)"
    change = f"UPDATE cells SET result = ?, error = ?, checksum = ? WHERE {where}"
    connection.execute(change, (*row[4:], checksum(*row), *key))


def set_item(path: Path, *row: str) -> None:
    """Replace something that the scores depend on: its kind, name, item and value."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("REPLACE INTO settings VALUES (?, ?, ?, ?, ?)", (*row, checksum(*row)))


def test_finished_cells_are_not_computed_again_and_failed_ones_are(tmp_path):
    path = tmp_path / "run.sqlite"
    first = run(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    cells = connection.execute("SELECT dataset, estimator, run, fold, result FROM cells").fetchall()
    assert len(cells) == 24
    for *key, text in cells:
        dataset, estimator, _, fold = key
        _, *times = json.loads(text)
        if dataset == "iris" and estimator == "nb":  # the mark of a cell that was not computed again
            write(connection, tuple(key), [{"score": 0.125}, *times], None)
        elif dataset == "wine" and fold == 1:
            write(connection, tuple(key), [{}, *times], "out of memory")
    connection.commit()
    connection.close()
    again = run(path)
    marked_cells = (again["dataset"] == "iris") & (again["algorithm"] == "nb")
    assert set(again.loc[marked_cells, "score"]) == {0.125}
    assert again.loc[~marked_cells, "score"].equals(first.loc[~marked_cells, "score"])


def test_a_score_that_was_changed_is_computed_again_and_said(tmp_path):
    path = tmp_path / "run.sqlite"
    first = run(path)
    connection = sqlite3.connect(path)
    changed = (
        "UPDATE cells SET result = replace(result, 'score\": 0', 'score\": 1') "
        "WHERE (dataset, estimator, run) = ('iris', 'nb', 1)"
    )
    assert connection.execute(changed).rowcount == 3
    connection.commit()
    connection.close()
    with pytest.warns(hc.FailedCellsWarning, match="3 cells were damaged in the checkpoint"):
        again = run(path)
    assert again.drop(columns=TIMES).equals(first.drop(columns=TIMES))
    assert run(path).drop(columns=TIMES).equals(first.drop(columns=TIMES))


def another_accuracy(model, X, y) -> float:
    return model.score(X, y)


@pytest.mark.parametrize(
    "other", ["balanced_accuracy", make_scorer(f1_score, average="macro"), {"accuracy": "f1_macro"}]
)
def test_another_scorer_is_another_experiment(tmp_path, other):
    path = tmp_path / "run.sqlite"
    run(path, scoring=another_accuracy)
    run(path, scoring=another_accuracy)
    with pytest.raises(hc.ResultFileError, match=r"different experiment: scoring was .*another_accuracy.* and is"):
        run(path, scoring=other)


def test_functions_in_pipelines_are_known_by_their_names(tmp_path):
    def pipeline(function):
        return {"nb": make_pipeline(FunctionTransformer(function), GaussianNB())}

    path = tmp_path / "run.sqlite"
    run(path, estimators=pipeline(np.log1p))
    run(path, estimators=pipeline(np.log1p))
    with pytest.raises(hc.ResultFileError, match=r"numpy\.log1p.* and is .*numpy\.sqrt"):
        run(path, estimators=pipeline(np.sqrt))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (functools.partial(np.clip, a_min=0), functools.partial(np.clip, a_min=1)),
        (np.arange(3.0), np.arange(4.0)),
        ({"depth": [1, 2]}, {"depth": [1, 3]}),
        (stats.uniform(0, 1), stats.uniform(0, 2)),
        (stats.uniform(0, 1), stats.norm(0, 1)),
        (GaussianNB(), GaussianNB(var_smoothing=1e-8)),
        (GaussianNB, DecisionTreeClassifier),
        (GaussianNB().fit, GaussianNB(var_smoothing=1e-8).fit),
        (PredefinedSplit([0, 1, 1]), PredefinedSplit([0, 1, 0])),
        (list(range(1000)), list(range(1001))),
        (make_scorer(f1_score, average="macro"), make_scorer(f1_score, average="micro")),
        (np.random.RandomState(1), np.random.RandomState(2)),
        (re.compile("a").findall, re.compile("b").findall),
        ({1: 2}.get, {1: 3}.get),
        (Frozen().fit(*IRIS), Frozen().fit(*WINE)),
        (StandardScaler(), StandardScaler().set_output(transform="pandas")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parameters_are_described_by_what_they_hold(one, other):
    assert described(one) == described(copy.deepcopy(one))
    assert described(one) != described(other)
    assert " at 0x" not in described(one)


def accuracy_times(factor: float, *, power: int = 1):
    def scorer(model, X, y, shift=power) -> float:
        return factor * model.score(X, y) + shift

    return scorer


@pytest.mark.parametrize("other", [accuracy_times(2.0), accuracy_times(1.0, power=2)])
def test_functions_that_a_function_made_are_known_by_the_values_they_hold(tmp_path, other):
    path = tmp_path / "run.sqlite"
    run(path, scoring=accuracy_times(1.0))
    run(path, scoring=accuracy_times(1.0))
    with pytest.raises(hc.ResultFileError, match="different experiment: scoring was"):
        run(path, scoring=other)


def test_another_fitted_state_of_a_frozen_estimator_is_another_experiment(tmp_path):
    path = tmp_path / "run.sqlite"
    run(
        path,
        estimators={"frozen": Frozen().fit(IRIS[0][:100], IRIS[1][:100])},
        data={"iris": IRIS},
    )
    with pytest.raises(hc.ResultFileError, match="class of estimator 'frozen' was"):
        run(path, estimators={"frozen": Frozen().fit(*IRIS)}, data={"iris": IRIS})


def test_other_categories_are_other_data(tmp_path):
    path = tmp_path / "run.sqlite"
    frame = pd.DataFrame({"x": IRIS[0][:, 0], "kind": pd.Categorical(np.where(IRIS[0][:, 1] > 3, "a", "b"))})
    encoder = make_pipeline(make_column_transformer(("drop", ["kind"]), remainder="passthrough"), GaussianNB())
    run(path, estimators={"nb": encoder}, data={"iris": (frame, IRIS[1])})
    other = frame.assign(kind=frame["kind"].cat.reorder_categories(["b", "a"]))
    with pytest.raises(hc.ResultFileError, match="the data of data set 'iris' have changed"):
        run(path, estimators={"nb": encoder}, data={"iris": (other, IRIS[1])})


def test_descriptions_are_the_same_in_another_process():
    program = (
        "import numpy as np; from scipy import stats; from sklearn.svm import SVC; from sklearn.metrics import get_scorer; "
        "from sklearn.model_selection import PredefinedSplit, RandomizedSearchCV; "
        "from hiercomp.crossval.store import described; "
        "search = RandomizedSearchCV(SVC(), {'C': stats.loguniform(1e-3, 1), 'kernel': ['rbf', 'linear']}); "
        "print(described([search, PredefinedSplit([0, 1]), np.arange(3), get_scorer('f1_macro'), {'a', 'b', 'c'}]))"
    )
    other = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    with contextlib.redirect_stdout(io.StringIO()) as here:
        exec(program, {})
    assert other == here.getvalue()
    assert "loguniform" in other


class Holds(GaussianNB):
    """Naive Bayes with a parameter."""

    def __init__(self, held: object = None) -> None:
        super().__init__()
        self.held = held


def test_what_no_checkpoint_can_describe_is_named(tmp_path):
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(hc.ArgumentError, match="the splitter, which refers to itself"):
        run(tmp_path / "run.sqlite", data={"iris": IRIS}, cv=circle)
    with pytest.raises(hc.ArgumentError, match=r"estimators\['holds'\]: .* recursion"):
        run(tmp_path / "run.sqlite", estimators={"holds": Holds(circle)})
    with pytest.raises(
        hc.ArgumentError, match=r"SimpleNamespace .* cannot be pickled, so a checkpoint could not detect"
    ):
        run(tmp_path / "run.sqlite", estimators={"holds": Holds(types.SimpleNamespace(function=lambda: 1))})
    assert not (tmp_path / "run.sqlite").exists()


def test_times_come_back_as_they_were(tmp_path):
    pd.testing.assert_frame_equal(run(tmp_path / "run.sqlite"), run(tmp_path / "run.sqlite"), check_exact=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"estimators": FAST | {"tree": DecisionTreeClassifier(max_depth=3)}}, "max_depth.*'tree' was 2 and is 3"),
        ({"data": {"iris": IRIS, "wine": (WINE[0] + 1e-9, WINE[1])}}, "the data of data set 'wine' have changed"),
        ({"seed": 1}, "seed was 0 and is 1; cv was .*random_state=0.* and is .*random_state=1"),
        ({"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=3)}, "n_repeats=2.*n_repeats=3"),
        ({"scoring": "balanced_accuracy"}, "scoring was .*accuracy.* and is .*balanced_accuracy"),
    ],
)  # fmt: skip
def test_a_different_experiment_is_refused_with_what_differs(tmp_path, change, words):
    path = tmp_path / "run.sqlite"
    run(path)
    before = path.read_bytes()
    with pytest.raises(hc.ResultFileError, match=f"written for a different experiment: .*{words}"):
        run(path, **change)
    assert path.read_bytes() == before


class Counted(GaussianNB):
    """Writes down every fit."""

    def __init__(self, log: str = "", name: str = "") -> None:
        super().__init__()
        self.log, self.name = log, name

    def fit(self, X, y):
        with open(self.log, "a") as stream:
            stream.write(f"{self.name} {X.shape[1]}\n")
        return super().fit(X, y)


@pytest.mark.slow
def test_a_checkpoint_grows_by_estimators_and_data_sets_in_any_order(tmp_path):
    path, log = tmp_path / "run.sqlite", tmp_path / "log.txt"
    first, second = (Counted(str(log), name) for name in ("first", "second"))

    def fitted() -> list[str]:
        lines = log.read_text().splitlines()
        log.unlink()
        return sorted(set(lines)) if len(lines) == 6 * len(set(lines)) else lines

    run(path, estimators={"first": first}, data={"iris": IRIS})
    assert fitted() == ["first 4"]
    run(path, estimators={"second": second, "first": first}, data={"iris": IRIS})
    assert fitted() == ["second 4"]
    grown = run(path, estimators={"second": second, "first": first}, data={"wine": WINE, "iris": IRIS})
    assert fitted() == ["first 13", "second 13"]
    fewer = run(path, estimators={"first": first}, data={"iris": IRIS})
    assert not log.exists()
    alone = run(None, estimators={"second": second, "first": first}, data={"wine": WINE, "iris": IRIS})
    pd.testing.assert_frame_equal(grown.drop(columns=TIMES), alone.drop(columns=TIMES), check_exact=True)
    expected = alone[(alone["dataset"] == "iris") & (alone["algorithm"] == "first")].drop(columns=TIMES)
    pd.testing.assert_frame_equal(fewer.drop(columns=TIMES), expected.reset_index(drop=True), check_exact=True)


def test_only_what_changed_under_its_name_is_refused_and_the_rest_of_the_file_stays(tmp_path):
    path = tmp_path / "run.sqlite"
    run(path)
    changed = {"new": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)}
    with pytest.raises(hc.ResultFileError) as caught:
        run(path, estimators=changed)
    assert str(caught.value) == (
        f"The checkpoint {path} was written for a different experiment: max_depth of estimator 'tree' was 2 and is 3. "
        "Restore those settings, give what changed another name, or choose another file."
    )
    assert len(run(path, estimators={"new": GaussianNB(var_smoothing=1e-8)})) == 12  # "new" was not stored above
    with pytest.raises(hc.ResultFileError, match="var_smoothing of estimator 'new' was 1e-08 and is 1e-09"):
        run(path, estimators=changed)
    assert len(run(path)) == 24


def test_another_version_is_refused(tmp_path):
    path = tmp_path / "run.sqlite"
    run(path)
    set_item(path, "experiment", "", "version of scikit-learn", "0.1")
    with pytest.raises(hc.ResultFileError, match=r"version of scikit-learn was 0\.1 and is 1\."):
        run(path)


def installed(folder: Path, version: str, module_version: str = "") -> type:
    """The class of a package of somebody else, imported anew; as pip would install it."""
    package = folder / "strangers"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text(module_version)
    (package / "bayes.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\nclass Bayes(GaussianNB):\n    pass\n"
    )
    for old in folder.glob("*.dist-info"):
        shutil.rmtree(old)
    info = folder / f"strangers_bayes-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: strangers-bayes\nVersion: {version}\n")
    (info / "top_level.txt").write_text("strangers\n")
    for name in [name for name in sys.modules if name.split(".")[0] == "strangers"]:
        del sys.modules[name]
    shutil.rmtree(package / "__pycache__", ignore_errors=True)  # of the same second and size, maybe
    importlib.invalidate_caches()
    linecache.clearcache()
    return importlib.import_module("strangers.bayes").Bayes


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "strangers"]:
        del sys.modules[name]


def test_another_version_of_a_third_package_is_refused(tmp_path, site):
    path = tmp_path / "run.sqlite"
    run(path, estimators={"bayes": installed(site, "1.2")()})
    assert len(run(path, estimators={"bayes": installed(site, "1.2")()})) == 12
    with pytest.raises(hc.ResultFileError, match=r"experiment: version of strangers was 1\.2 and is 1\.3\. Restore"):
        run(path, estimators={"bayes": installed(site, "1.3")()})
    inside = make_pipeline(FunctionTransformer(), installed(site, "1.2")())
    run(tmp_path / "inside.sqlite", estimators={"pipeline": inside})
    inside = make_pipeline(FunctionTransformer(), installed(site, "2.0")())
    with pytest.raises(hc.ResultFileError, match=r"version of strangers was 1\.2 and is 2\.0"):
        run(tmp_path / "inside.sqlite", estimators={"pipeline": inside})


def test_the_version_that_a_module_states_counts_too(tmp_path, site):
    path = tmp_path / "run.sqlite"
    run(path, estimators={"bayes": installed(site, "1.2", module_version="__version__ = '7'")()})
    with pytest.raises(hc.ResultFileError, match="version of strangers was 7 and is 8"):
        run(path, estimators={"bayes": installed(site, "1.2", module_version="__version__ = '8'")()})


def test_other_splits_are_refused(tmp_path):
    path = tmp_path / "run.sqlite"
    run(path)
    set_item(path, "data set", "iris", "folds", "x")
    with pytest.raises(hc.ResultFileError, match="the folds of data set 'iris' have changed"):
        run(path)


def test_a_file_that_is_not_a_checkpoint_is_refused_and_kept(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,score\n" * 100)
    with pytest.raises(hc.ResultFileError, match=r"scores\.csv is not a checkpoint of hiercomp or is damaged"):
        run(path)
    assert path.read_text() == "dataset,score\n" * 100
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    with pytest.raises(hc.ResultFileError, match=r"other\.sqlite is an SQLite file that hiercomp did not create"):
        run(other)
    with pytest.raises(hc.ResultFileError, match="there is no folder"):
        run(tmp_path / "absent" / "run.sqlite")
    with pytest.raises(hc.ResultFileError, match="it is a folder"):
        run(tmp_path)


def test_a_truncated_checkpoint_is_an_error_in_our_words(tmp_path):
    path = tmp_path / "run.sqlite"
    run(path)
    whole = path.read_bytes()
    for size in (0, 50, 1000, 4096, len(whole) // 2, len(whole) - 1):
        damaged = tmp_path / f"{size}.sqlite"
        damaged.write_bytes(whole[:size])
        try:
            table = run(damaged)
        except hc.ResultFileError:
            continue
        assert len(table) == 24  # nothing was lost that is not computed again


def test_flipped_bytes_never_give_another_error(tmp_path):
    path = tmp_path / "run.sqlite"
    expected = run(path).drop(columns=TIMES)
    whole = path.read_bytes()
    generator = np.random.default_rng(0)
    for number in range(30):
        damaged = tmp_path / f"{number}.sqlite"
        content = bytearray(whole)
        content[generator.integers(0, 100 if number < 10 else len(whole))] ^= 0xFF
        damaged.write_bytes(bytes(content))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", hc.FailedCellsWarning)
                table = run(damaged).drop(columns=TIMES)
        except hc.ResultFileError:
            continue
        pd.testing.assert_frame_equal(table, expected, check_exact=True)


@pytest.mark.skipif(os.getuid() == 0 if hasattr(os, "getuid") else True, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_an_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(hc.ResultFileError, match="can't be read or written"):
        run(tmp_path / "run.sqlite")


@pytest.mark.slow
def test_two_programs_may_share_a_checkpoint(tmp_path):
    for name in ("alone", "shared"):
        (tmp_path / name).mkdir()
    command = [sys.executable, str(PROGRAM), "--repeats", "1", "--jobs", "1", "--work"]
    subprocess.run([*command, str(tmp_path / "alone")], check=True, timeout=300)
    both = [subprocess.Popen([*command, str(tmp_path / "shared")]) for _ in range(2)]
    assert [process.wait(timeout=300) for process in both] == [0, 0]
    whole = (tmp_path / "alone" / "table.csv").read_bytes()
    assert (tmp_path / "shared" / "table.csv").read_bytes() == whole
    assert whole.count(b"\n") == 1 + 120
    assert b"RuntimeError: as it happens" in whole
    connection = sqlite3.connect(tmp_path / "shared" / "run.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("SELECT count(*) FROM cells WHERE result IS NOT NULL").fetchone() == (120,)
    connection.close()


def test_a_full_disk_keeps_what_is_finished(tmp_path):
    path = tmp_path / "run.sqlite"
    run(path, data={"iris": IRIS})
    connection = sqlite3.connect(path)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.close()
    store = CellStore(path, {})
    store._connection.execute(f"PRAGMA max_page_count = {pages}")  # which is what a full disk looks like to SQLite

    def fill() -> None:
        for fold in range(10_000):
            store.add(Cell("iris", 99, fold, "nb"), CellResult({"score": 0.5}, 0.1, 0.1))

    with pytest.raises(hc.ResultFileError, match="database or disk is full"):
        fill()
    store.close()
    assert len(run(path, data={"iris": IRIS})) == 12


@pytest.mark.filterwarnings("ignore::hiercomp.EstimatorWarning")  # scikit-learn 1.5 says what changes in boosting
def test_other_requests_of_metadata_are_another_experiment(tmp_path):
    """Requests are no parameters, and decide whether weights reach an estimator."""
    path = tmp_path / "run.sqlite"
    with config_context(enable_metadata_routing=True):
        run(path, estimators={"bayes": GaussianNB().set_fit_request(sample_weight=False)})
        run(path, estimators={"bayes": GaussianNB().set_fit_request(sample_weight=False)})
        run(tmp_path / "boosting.sqlite", estimators={"boosting": AdaBoostClassifier(n_estimators=2)})  # routes nothing
        with pytest.raises(hc.ResultFileError, match="different experiment: metadata routing of 'bayes' was"):
            run(path, estimators={"bayes": GaussianNB().set_fit_request(sample_weight=True)})
        both = {name: GaussianNB().set_fit_request(sample_weight=False) for name in ("bayes", "another")}
        assert len(run(path, estimators=both)) == 24  # it grows
