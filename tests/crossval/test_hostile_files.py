"""Experiment files and checkpoints of a cross-validation that were made to do harm."""

from __future__ import annotations

import contextlib
import json
import pickle
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hiercomp as hc
from hiercomp.crossval import cross_validate_all
from hiercomp.crossval.cells import Cell, CellResult
from hiercomp.crossval.experiment_file import _refuse_set_memory, read_experiment
from hiercomp.crossval.store import EXPERIMENT, CellStore, checksum
from tests.command_line import assert_one_line_of_error, run

DATA = '[data.d]\nfile = "d.csv"\ntarget = "y"\n'
TREE = '[estimators.t]\nclass = "sklearn.tree.DecisionTreeClassifier"\n'
SEARCH = """
[estimators.t]
class = "sklearn.model_selection.GridSearchCV"
[estimators.t.parameters]
cv = 3
[estimators.t.parameters.estimator]
steps = [ {class = "sklearn.preprocessing.StandardScaler"}, {class = "sklearn.tree.DecisionTreeClassifier"} ]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    load_iris(as_frame=True).frame.rename(columns={"target": "y"}).to_csv(tmp_path / "d.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(folder: Path, text: str, **options):
    (folder / "experiment.toml").write_text(text, encoding="utf-8")
    return read_experiment(folder / "experiment.toml", **options)


class Evil:
    def __reduce__(self):
        return Path.touch, (Path("PWNED"),)


def test_no_pickle_is_loaded_from_a_folder_that_came_with_the_experiment_file(folder):
    """The attack of an archive with an experiment file, its data and a folder of joblib's results, which are pickles."""
    steps = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    search = {"t": GridSearchCV(steps, {"memory": ["cache"]}, cv=3)}
    table = load_iris(as_frame=True).frame
    data = {"d": (table.drop(columns="target"), table["target"].to_numpy())}
    options = {"cv": 3, "seed": 0, "progress": False}
    cross_validate_all(search, data, **options)
    cached = list(folder.glob("cache/**/output.pkl"))
    assert cached
    for file in cached:
        file.write_bytes(pickle.dumps(Evil()))
    text = "cv = 3\nseed = 0\n" + SEARCH.replace("cv = 3", 'cv = 3\nparam_grid = { memory = ["cache"] }') + DATA
    (folder / "experiment.toml").write_text(text)
    done = run(folder, "crossval", "experiment.toml", "--output", "scores.csv", "--jobs", "1")
    assert_one_line_of_error(done, "cannot set memory")
    assert not (folder / "PWNED").exists()
    with pytest.raises(hc.EngineError):  # the attack works: on a program that itself asks for memory
        cross_validate_all(search, data, **options)
    assert (folder / "PWNED").exists()


@pytest.mark.parametrize(
    "parameters",
    [
        'memory = "cache"',
        'param_grid = { memory = ["cache"] }',
        'param_grid = [ { cv = [2] }, { memory = ["cache"] } ]',
        'param_grid = { pipe__memory = ["cache"] }',
        'param_grid = { estimator__pipe__memory = ["cache"] }',
        'param_grid = { e = [ [ { class = "sklearn.cluster.FeatureAgglomeration", parameters = { memory = "c" } } ] ] }',
        'param_grid = { "memory" = [ "" ] }',
        'param_grid = { "\\u006demory" = ["cache"] }',
        "fit_params = [ [ { a = { b = { memory = 1 } } } ] ]",
    ],
)
def test_memory_is_refused_at_every_depth(folder, parameters):
    text = SEARCH.replace("cv = 3", "cv = 3\n" + parameters) + DATA
    with pytest.raises(hc.ArgumentError, match="an experiment file cannot set memory"):
        read(folder, text)


def test_memory_is_looked_for_again_in_what_was_made():
    steps = make_pipeline(StandardScaler(), DecisionTreeClassifier(), memory="cache")
    for made in (
        steps,
        GridSearchCV(steps, {}),
        GridSearchCV(DecisionTreeClassifier(), [{"a": [1]}, {"pipe__memory": ["cache"]}]),
        GridSearchCV(DecisionTreeClassifier(), {"estimator": [DecisionTreeClassifier(), steps]}),
    ):
        with pytest.raises(hc.ArgumentError, match="cannot set memory"):
            _refuse_set_memory("estimators.t", made)
    _refuse_set_memory("estimators.t", GridSearchCV(make_pipeline(StandardScaler()), {"max_depth": [1]}))


@pytest.mark.parametrize("key", ["output", "checkpoint"])
@pytest.mark.parametrize("name", ["../x.csv", "/tmp/hiercomp-x.csv", "a/../../x.csv", "link/x.csv", "linked.csv"])
def test_what_is_written_stays_below_the_folder_unless_the_caller_names_it(folder, key, name):
    inner = folder / "inner"
    inner.mkdir()
    (folder / "d.csv").rename(inner / "d.csv")
    (inner / "link").symlink_to(folder)
    (inner / "linked.csv").symlink_to(folder / "precious.csv")
    text = f'{key} = "{name}"\n' + TREE + DATA
    with pytest.raises(hc.ArgumentError, match=rf"{key} .* is outside the folder of the experiment file.*--{key}"):
        read(inner, text)
    assert getattr(read(inner, text, **{key: folder / "x.csv"}), key) == folder / "x.csv"
    assert getattr(read(inner, text.replace(name, "below/x.csv")), key) == inner / "below" / "x.csv"


def test_the_command_line_may_name_an_output_elsewhere(folder):
    inner = folder / "inner"
    inner.mkdir()
    (folder / "d.csv").rename(inner / "d.csv")
    (inner / "e.toml").write_text('cv = 3\noutput = "../x.csv"\n' + TREE + DATA)
    done = run(folder, "crossval", "inner/e.toml", "--jobs", "1")
    assert_one_line_of_error(done, "--output")
    assert not (folder / "x.csv").exists()
    done = run(folder, "crossval", "inner/e.toml", "--output", "x.csv", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert (folder / "x.csv").exists()


def test_a_name_with_nul_is_refused(folder):
    for key in ("output", "checkpoint"):
        with pytest.raises(hc.ArgumentError, match=f"{key} must be the name of a file"):
            read(folder, f'{key} = "a\\u0000.csv"\n' + TREE + DATA)
    with pytest.raises(hc.ScoreFileError, match="there is no file"):
        read(folder, TREE + DATA.replace("d.csv", "d\\u0000.csv"))


NESTED = [
    "a" + ".a" * 100_000 + " = 1\n",
    "[" + "a." * 50_000 + "a]\n",
    'x = { s = """\n\'""", ' + "a" + ".a" * 1000 + ' = 1, t = "\'" }\n',  # seems to be within quotation marks
    '"="' + '."="' * 1000 + " = 1\n",
    "a = " + "[" * 100_000 + "]" * 100_000 + "\n",
    "a = " + "{b = " * 50_000 + "1" + "}" * 50_000 + "\n",
]


@pytest.mark.parametrize("text", NESTED, ids=range(len(NESTED)))
def test_deep_keys_are_refused_at_once(folder, text):
    began = time.process_time()
    with pytest.raises(hc.ScoreFileError) as caught:
        read(folder, text + TREE + DATA)
    assert time.process_time() - began < 10
    assert len(str(caught.value)) < 700


def test_a_large_file_and_a_folder_are_refused(folder):
    with pytest.raises(hc.ScoreFileError, match="above the limit of 1,048,576 bytes"):
        read(folder, "#" * 50_000_000)
    with pytest.raises(hc.ScoreFileError, match="can't be read"):
        read_experiment(folder)


def test_long_lists_of_decimals_are_no_deep_keys(folder):
    numbers = ", ".join(f"{number}.5" for number in range(300))
    search = SEARCH.replace("cv = 3", f"cv = 3\nparam_grid = {{ a = [{numbers}, 1.5e-3] }}")
    assert len(read(folder, search + DATA).estimators["t"].param_grid["a"]) == 301


LIMITED = """
import resource, sys
import sklearn.model_selection, sklearn.tree, pandas
from hiercomp.crossval.experiment_file import read_experiment
import hiercomp as hc
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 600_000_000, used + 600_000_000))
try:
    read_experiment(sys.argv[1])
except hc.HiercompError as error:
    print("refused:", error)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="measures memory as Linux does")
def test_the_deepest_file_that_is_read_takes_less_than_600_megabytes(folder):
    lines = [f"k{number}" + ".a" * 100 + " = 1\n" for number in range(5000)]
    (folder / "e.toml").write_text("".join(lines)[: 1 << 20].rpartition("\n")[0] + "\n")
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, "e.toml"], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.stdout.startswith("refused: The experiment file has an unknown key"), ran.stdout + ran.stderr[-500:]


# Checkpoints of cells

CELL = Cell("d", 1, 1, "t")
SETTINGS = {EXPERIMENT: {"seed": "0"}}


def changed(path: Path, statement: str, *values: object) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


@pytest.fixture
def stored(tmp_path) -> Path:
    path = tmp_path / "run.sqlite"
    with contextlib.closing(CellStore(path, SETTINGS)) as store:
        store.add(CELL, CellResult({"accuracy": 0.5}, 0.1, 0.1))
    return path


def test_a_cell_comes_back(stored):
    with contextlib.closing(CellStore(stored, SETTINGS)) as store:
        assert store.finished("d") == ({CELL: CellResult({"accuracy": 0.5}, 0.1, 0.1)}, 0)


RESULTS = ['["x"]', "[null]", "5", "[[1]]", "[" * 100_000, "1" * 5000, "no JSON", "", "{}", "[[], 0.1, 0.1, {}]"]
RESULTS += [
    f'[{{"accuracy": {value}}}, 0.1, 0.1, {{}}]' for value in ("NaN", "1e999", '"x"', "[1]", "null", "1" + "0" * 400)
]
RESULTS += [
    '[{"accuracy": 0.5}, "x", 0.1, {}]',
    '[{"accuracy": 0.5}, 0.1, 0.1, []]',
    '[{"accuracy": 0.5}, 0.1, 0.1, {"a": 5}]',
]


@pytest.mark.parametrize("text", RESULTS, ids=range(len(RESULTS)))
def test_cells_with_other_content_and_a_true_checksum_are_computed_again(stored, text):
    total = checksum("d", "t", 1, 1, text, None)
    changed(stored, "UPDATE cells SET result = ?, checksum = ?", text, total)
    with contextlib.closing(CellStore(stored, SETTINGS)) as store:
        assert store.finished("d") == ({}, 1)
        assert store.take(CELL) is True


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM cells; END",
        "CREATE VIEW v AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
        "CREATE TABLE more (a)",
        "CREATE INDEX i ON cells (owner)",
        "DROP TABLE processes",
        "ALTER TABLE cells ADD COLUMN more",
    ],
)
def test_another_schema_is_refused(stored, statement):
    changed(stored, statement)
    with pytest.raises(hc.ResultFileError, match="its tables are not those of a checkpoint"):
        CellStore(stored, SETTINGS)


@pytest.mark.parametrize("owner", ["x", 5, b"\xff", f"x {10**30} " + __import__("platform").node(), "\x1b[2J"])
@pytest.mark.parametrize("lease", ["x", 9e999, 1e300, b"x", -1.0])
def test_claims_of_processes_that_are_none_are_free(stored, owner, lease):
    changed(stored, "INSERT INTO processes VALUES (?, ?)", owner, lease)
    with contextlib.closing(CellStore(stored, SETTINGS)) as store:
        assert store.take(Cell("d", 1, 2, "t")) is True
    with contextlib.closing(sqlite3.connect(stored)) as connection:
        assert connection.execute("SELECT count(*) FROM processes").fetchone() == (0,)


def test_what_a_file_says_is_escaped_and_short_in_messages(stored):
    row = ("experiment", "", "\x1b[2J" + "x" * 5_000_000, "y" * 5_000_000)
    changed(stored, "INSERT INTO settings VALUES (?, ?, ?, ?, ?)", *row, checksum(*row))
    with pytest.raises(hc.ResultFileError, match="written for a different experiment") as caught:
        CellStore(stored, SETTINGS)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 2500


def test_text_that_is_not_utf_8_is_a_result_file_error_that_does_not_quote_it(stored):
    changed(stored, "UPDATE cells SET result = CAST(x'1b5b324aff' AS TEXT)")
    with contextlib.closing(CellStore(stored, SETTINGS)) as store, pytest.raises(hc.ResultFileError) as caught:
        store.finished("d")
    assert "not UTF-8" in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_results_as_we_write_them_are_plain_json(stored):
    with contextlib.closing(sqlite3.connect(stored)) as connection:
        (text,) = connection.execute("SELECT result FROM cells").fetchone()
    assert json.loads(text) == [{"accuracy": 0.5}, 0.1, 0.1, {}]
