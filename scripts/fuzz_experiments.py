"""Damaged experiment files for scripts/fuzz.py, with the files of data that they name."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from fuzz_files import BYTE_STEPS, FILE_STEPS, TEXT_STEPS
from fuzz_tables import PLACES, options_of, step
from hypothesis import strategies as st

LONG_EXPERIMENT = """\
scoring = "accuracy"
seed = 3
one_hot = true
checkpoint = "run.sqlite"
output = "scores.parquet"
[cv]
splitter = "RepeatedStratifiedKFold"
n_splits = 4
n_repeats = 2
[estimators.tree]
class = "sklearn.tree.DecisionTreeClassifier"
parameters = { max_depth = 3 }
[estimators.logistic]
steps = [ { class = "sklearn.preprocessing.StandardScaler" }, { class = "sklearn.svm.SVC", parameters = { C = 0.5 } } ]
[data.text]
file = "text.csv"
target = "species"
drop = ["id"]
groups = "garden"
[data.binary]
file = "binary.parquet"
target = "species"
drop = ["colour"]
"""
SHORT_EXPERIMENT = """\
[estimators.tree]
class = "sklearn.tree.DecisionTreeClassifier"
[data.text]
file = "text.csv"
target = "species"
drop = ["colour"]
"""
KEYS = ["seed", "scoring", "checkpoint", "output", "one_hot", "splitter", "n_splits", "test_fold", "class",
        "parameters", "steps", "file", "target", "drop", "groups", "clas", '""', '"a\\nb"', '"\\u001b[2J"',
        '"\\u202e"', "a.b", "é", "self"]  # fmt: skip
TABLES = ["cv", "data", "estimators", "data.text", "estimators.tree", "estimators.tree.parameters", 'data."a\\nb"',
          "[data]", 'estimators."\\u001b[2J"', 'data.""', "x", "estimators.tree.parameters.base"]  # fmt: skip
TEXTS = {"short": SHORT_EXPERIMENT, "long": LONG_EXPERIMENT}
VALUES = ["3", "0", "-1", "1.5", "nan", "inf", "true", "false", '""', '"x"', '"a\\nb"', '"\\u001b[2J"', '"\\u0000"',
          '"\\ud800"', "[]", "[1, 2]", '["accuracy", "f1"]', '["a\\nb"]', "{}", "{ x = 1 }", '{ "a\\nb" = 1 }',
          "2024-01-01", "2024-13-01", "12:00:00", "1" * 5000, "0x" + "f" * 5000, "1_000", "1e999",
          '"' + "x" * 300 + '"', "[" * 2000 + "]" * 2000, "99999999999999999999", "[99999999999999999999]",
          '"sklearn.tree.DecisionTreeRegressor"', '"sklearn.ensemble.VotingClassifier"',
          '"sklearn.pipeline.Pipeline"', '"sklearn.base.BaseEstimator"', '"sklearn.tree"', '"sklearn.nothing.X"',
          '"os.system"', '"text.csv"', '"../text.csv"', '"."', '"species"', '"id"', '["species"]', '["id", "id"]',
          '["x1"]', '"PredefinedSplit"', '"KFold"', '"BaseCrossValidator"', '"LeaveOneOut"',
          '{ class = "sklearn.svm.SVC" }', '[{ class = "sklearn.svm.SVC" }]', "{ class = 3 }", '{ memory = "x" }',
          '{ estimators = "x" }', '{ steps = [["a", 3]] }', '{ base = { class = "sklearn.svm.SVC" } }',
          "[" + "{ steps = [" * 60 + "]}" * 60 + "]"]  # fmt: skip
DATA = [["a", "b", "a", "b", "c", "NA"], ["1", "2", "001", "1", "1.0", ""], ["0", "1", "0", "1", "1", "0"]]


def value(content: bytes, place: int, text: str) -> bytes:
    """Another value of a key."""
    rows = content.split(b"\n")
    place %= len(rows)
    rows[place] = rows[place].split(b"=")[0] + b"= " + text.encode()
    return b"\n".join(rows)


def key(content: bytes, place: int, text: str) -> bytes:
    """Another name of a key or a table."""
    rows = content.split(b"\n")
    place %= len(rows)
    name, sign, rest = rows[place].partition(b"=")
    rows[place] = text.encode() + b" = " + rest if sign and not name.startswith(b"[") else b"[" + text.encode() + b"]"
    return b"\n".join(rows)


def more(content: bytes, place: int, name: str, text: str) -> bytes:
    """A key more."""
    rows = content.split(b"\n")
    rows.insert(place % (len(rows) + 1), f"{name} = {text}".encode())
    return b"\n".join(rows)


STEPS = FILE_STEPS | {"value": value, "key": key, "more": more}


@dataclass(frozen=True)
class ExperimentCase:
    """An experiment file with steps that spoil it, its data with others, and options of `read_experiment`."""

    experiment: str
    steps: tuple[tuple[Any, ...], ...]
    target: tuple[str, ...]
    data_steps: tuple[tuple[Any, ...], ...]
    options: dict[str, Any]

    def written(self, folder: Path) -> Path:
        """The experiment file, written beside its data."""
        size = len(self.target)
        names = {
            "id": range(size),
            "x1": [number / 7 for number in range(size)],
            "colour": ["red", "blue"] * (size // 2),
        }
        table = pd.DataFrame({**names, "garden": [number // 2 for number in range(size)], "species": self.target})
        binary = io.BytesIO()
        table.to_parquet(binary)
        contents = {"text.csv": table.to_csv(index=False).encode(), "binary.parquet": binary.getvalue()}
        for name, content in contents.items():
            (folder / name).write_bytes(_changed(content, self.data_steps))
        path = folder / "experiment.toml"
        path.write_bytes(_changed(TEXTS[self.experiment].encode(), self.steps))
        return path

    def shown(self) -> str:
        """The experiment file."""
        return _changed(TEXTS[self.experiment].encode(), self.steps)[:2000].decode("utf-8", "backslashreplace")


def _changed(content: bytes, steps: tuple[tuple[Any, ...], ...]) -> bytes:
    for name, *arguments in steps:
        content = STEPS[name](content, *arguments)
    return content


SOUND = [(b"seed = 3", b"seed = 4"), (b'"accuracy"', b'["accuracy", "f1_macro"]'),
         (b"one_hot = true", b"one_hot = false"), (b"4", b"5"), (b"max_depth = 3", b""),
         (b"RepeatedS", b"RepeatedS"), (b"tree", b"d\xc3\xa9"), (b'"id"', b""), (b'"species"', b'"colour"'),
         (b'["colour"]', b'["colour", "id"]'), (b"[data.text]", b"[data.'a b']"),
         (b'splitter = "RepeatedStratifiedKFold"\nn_splits = 4\nn_repeats = 2', b'splitter = "LeaveOneOut"'),
         (b"DecisionTreeClassifier", b"ExtraTreeClassifier"), (b'groups = "garden"\n', b"")]  # fmt: skip
VALUE_STEP = step("value", PLACES, st.sampled_from(VALUES))
DATA_STEP = st.one_of(BYTE_STEPS + TEXT_STEPS)
EXPERIMENTS = st.builds(
    ExperimentCase,
    st.sampled_from(["short", "long", "long"]),
    st.lists(
        st.one_of(
            st.sampled_from(SOUND).map(lambda pair: ("replace", *pair)),
            VALUE_STEP,
            VALUE_STEP,
            step("key", PLACES, st.sampled_from(KEYS)) | step("key", PLACES, st.sampled_from(TABLES)),
            step("more", PLACES, st.sampled_from(KEYS), st.sampled_from(VALUES)),
            st.one_of(BYTE_STEPS),
        ),
        max_size=3,
    ).map(tuple),
    st.sampled_from(DATA).map(tuple),
    st.sampled_from([0, 0, 1, 2])
    .flatmap(lambda most: st.lists(st.one_of(BYTE_STEPS + TEXT_STEPS), max_size=most))
    .map(tuple),
    options_of({"allow": [["xgboost"], ["a b"], ["hiercomp"], []]}, 1),
)
