"""Writing tables of scores: what comes back, what a spreadsheet sees, and that a file is whole or absent."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hiercomp.errors import ArgumentError, ResultFileError, ScoreFileError, ScoreTableError
from hiercomp.files.table import read_score_file
from hiercomp.files.write import write_scores

SUFFIXES = [".csv", ".csv.gz", ".parquet"]
NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
    st.text("'=+-@\t\r\n\",;| a1.\ufeff", max_size=6),
)
ROWS = st.lists(
    st.tuples(NAMES, NAMES, st.integers(-(10**15) + 1, 10**15 - 1), st.floats(allow_nan=True, allow_infinity=False)),
    min_size=1,
    max_size=6,
)


def table(rows: list[tuple]) -> pd.DataFrame:
    dtypes = {"dataset": "str", "algorithm": "str", "fold": "int64", "score": "float64"}
    return pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)


def saved(folder: Path, suffix: str = ".csv") -> Path:
    return folder / f"scores{suffix}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("exports")


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(rows=ROWS)
@example(rows=[("=x", "'=x", 1, 0.1), ("''=x", "'x", -1, -0.0), ("-1", "\ufeff", 0, float("nan"))])
@example(rows=[("\r", "\n", 1, 5e-324), ("\r\n", '"', 2, 1.7976931348623157e308), ("", " ", 3, 1e23)])
@settings(max_examples=150)
def test_what_is_read_is_what_was_written(folder, suffix, rows):
    written = table(rows)
    read = read_score_file(write_scores(written, saved(folder, suffix), overwrite=True))
    for name in ("dataset", "algorithm"):
        assert read[name].tolist() == written[name].tolist()
    assert read["fold"].dtype == np.int64
    assert read["fold"].tolist() == written["fold"].tolist()
    # to the last bit, signs of zero included; a column of missing scores only is empty text
    scores = read["score"].to_numpy(float) if read["score"].dtype.kind == "f" else np.full(len(read), np.nan)
    known = ~np.isnan(written["score"].to_numpy())
    assert scores[known].tobytes() == written["score"].to_numpy()[known].tobytes()
    assert np.isnan(scores[~known]).all()


@given(
    names=st.lists(
        NAMES.map(lambda name: name.strip().strip("\ufeff").strip()).filter(bool), min_size=2, max_size=4, unique=True
    )
)
def test_column_names_come_back(folder, names):
    read = read_score_file(
        write_scores(pd.DataFrame([["x"] * len(names)], columns=names), saved(folder), overwrite=True)
    )
    assert list(read.columns) == names


def test_a_spreadsheet_finds_no_formula_in_a_csv_file(tmp_path):
    names = ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-2+3", "\tx", "\rx", "'=1", "plain"]  # row 50
    scores = pd.DataFrame({"dataset": names, "=a": names, "score": np.linspace(-1, 1, len(names))})
    with write_scores(scores, saved(tmp_path)).open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["dataset", "'=a", "score"]
    for row, name in zip(rows, names, strict=True):
        assert row[:2] == [name if name == "plain" else "'" + name] * 2
    assert rows[0][2] == "-1.0"  # a number is no formula
    pd.testing.assert_frame_equal(read_score_file(saved(tmp_path)), scores)


def test_parquet_keeps_formulas_and_types(tmp_path):
    scores = pd.DataFrame({"dataset": ["=1", "'=1"], "score": [1, 2], "failed": [True, False], "note": ["0.5", None]})
    path = write_scores(scores, saved(tmp_path, ".parquet"))
    assert pyarrow.parquet.read_table(path)["dataset"].to_pylist() == ["=1", "'=1"]
    pd.testing.assert_frame_equal(read_score_file(path), scores)


def test_a_flipped_bit_in_a_parquet_file_is_noticed(tmp_path):
    scores = pd.DataFrame({"dataset": ["d"] * 1000, "score": np.random.default_rng(0).random(1000)})
    path = write_scores(scores, saved(tmp_path, ".parquet"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1  # in the scores themselves
    path.write_bytes(content)
    with pytest.raises(ScoreFileError, match=r"Parquet.*(CRC|corrupt)"):
        read_score_file(path)


def test_floats_are_written_as_repr_writes_them(tmp_path):
    values = [0.1, 1 / 3, 1e-300, 5e-324, 0.1 + 0.2, 100.0, -0.0]
    scores = pd.DataFrame({"dataset": "d", "score": values, "single": np.array(values, np.float32)})
    lines = write_scores(scores, saved(tmp_path)).read_text().splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == [repr(value) for value in values]
    singles = read_score_file(saved(tmp_path))["single"].to_numpy(np.float32)
    assert singles.tobytes() == np.array(values, np.float32).tobytes()


def test_other_kinds_of_columns_are_written_as_text_or_numbers(tmp_path):
    scores = pd.DataFrame(
        {
            "dataset": pd.Categorical(["a", "b"]),
            "algorithm": ["nb", None],
            "fold": pd.array([1, None], "Int64"),
            "score": pd.array([0.5, None], "Float64"),
            "mixed": [-0.0, "=1"],
            "negative": [Decimal("-0.5"), 0.0],
            "lists": [[1, 2], {}],
            "numbers": np.array([np.float64(0.1), 2], dtype=object),
            "time": pd.to_datetime(["2024-01-02", None]),
        }
    )
    text = write_scores(scores, saved(tmp_path)).read_text()
    assert text.splitlines() == [
        "dataset,algorithm,fold,score,mixed,negative,lists,numbers,time",
        'a,nb,1,0.5,-0.0,-0.5,"[1, 2]",0.1,2024-01-02 00:00:00',
        "b,,,,'=1,0.0,{},2,",
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_table_gives_the_same_bytes(tmp_path, scores, suffix):
    first = write_scores(scores, saved(tmp_path, suffix)).read_bytes()
    os.utime(saved(tmp_path, suffix), (0, 0))
    assert write_scores(scores, tmp_path / f"other{suffix}").read_bytes() == first
    if suffix == ".csv.gz":
        assert first[4:8] == b"\0\0\0\0"  # no time
        assert gzip.decompress(first) == write_scores(scores, saved(tmp_path)).read_bytes()
    pd.testing.assert_frame_equal(read_score_file(saved(tmp_path, suffix)), scores)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_existing_file_is_replaced_only_on_demand(tmp_path, scores, suffix):
    path = saved(tmp_path, suffix)
    path.write_text("kept")  # row 49
    with pytest.raises(ResultFileError, match=r"exists.*overwrite=True"):
        write_scores(scores, path)
    assert path.read_text() == "kept"
    write_scores(scores, path, overwrite=True)
    assert len(read_score_file(path)) == len(scores)
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_a_path_may_go_up(tmp_path, scores):
    (tmp_path / "inner").mkdir()  # row 49
    link = tmp_path / "link.csv"
    link.symlink_to("inner/target.csv")
    write_scores(scores, link)
    assert link.is_symlink()
    with pytest.raises(ResultFileError, match="exists"):
        write_scores(scores, link)
    write_scores(scores, tmp_path / "inner" / ".." / "up.csv")
    assert sorted(path.name for path in tmp_path.rglob("*.csv")) == ["link.csv", "target.csv", "up.csv"]


def test_a_file_that_can_not_be_written_leaves_nothing(tmp_path, scores):
    with pytest.raises(ResultFileError, match="no folder"):
        write_scores(scores, tmp_path / "none" / "scores.csv")
    with pytest.raises(ResultFileError, match=r"must end in \.csv, \.csv\.gz or \.parquet"):
        write_scores(scores, tmp_path / "scores.xlsx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ResultFileError, match="is a folder"):
        write_scores(scores, tmp_path / "folder.csv", overwrite=True)
    with pytest.raises(ArgumentError, match="overwrite"):
        write_scores(scores, tmp_path / "scores.csv", overwrite=1)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="takes permissions away")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_that_is_read_only_is_named(tmp_path, scores, suffix):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)  # row 62
    tmp_path.chmod(0o755)
    write_scores(scores, tmp_path / f"imported{suffix}")  # what is imported on the way may be readable by root only
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may write everywhere
    try:
        with pytest.raises(ResultFileError, match="can't be written: Permission denied"):
            write_scores(scores, folder / f"scores{suffix}")
    finally:
        os.seteuid(user)
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_leaves_the_old_file(tmp_path, suffix):
    path = saved(tmp_path, suffix)
    path.write_text("kept")  # row 62
    code = f"""
import resource
import numpy as np, pandas as pd
from hiercomp.errors import ResultFileError
from hiercomp.files.write import write_scores
scores = pd.DataFrame({{"dataset": "d", "score": np.random.default_rng(0).random(100_000)}})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # no file may grow beyond it, as on a full disk
try:
    write_scores(scores, {str(path)!r}, overwrite=True)
except ResultFileError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "can't be written" in run.stdout
    assert "arge" in run.stdout  # File too large
    assert path.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"dataset": [], "score": []}), "0 rows"),
        (pd.DataFrame({"score": [1.0]}), "1 columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' can't be written"),
        (pd.DataFrame([[1, 2]], columns=["a", " b"]), "' b' can't be written"),
        (pd.DataFrame([[1, 2]]), "'0' can't be written"),
        (pd.DataFrame([["\0", 2]], columns=["a", "b"]), "column 'a' holds a NUL"),
        (pd.DataFrame([["x" * 200_000, 2]], columns=["a", "b"]), "200,000 characters"),
        (pd.DataFrame({"a": ["\ud800"], "b": [2]}, dtype=object), "surrogate"),
        ({"a": [1]}, "pandas.DataFrame, got dict"),
    ],
)
def test_what_would_not_come_back_is_refused(tmp_path, frame, message):
    with pytest.raises(ScoreTableError, match=message):
        write_scores(frame, saved(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_what_parquet_can_not_hold_is_refused(tmp_path):
    mixed = pd.DataFrame({"dataset": np.array([1, "a"], dtype=object), "score": [1.0, 2.0]})
    with pytest.raises(ScoreTableError, match="Parquet"):
        write_scores(mixed, saved(tmp_path, ".parquet"))
    assert list(tmp_path.iterdir()) == []


def test_the_table_given_is_not_changed_and_nothing_is_warned_of(tmp_path, scores):
    before = scores.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_scores(scores, saved(tmp_path))
    pd.testing.assert_frame_equal(scores, before)


def test_a_name_with_nul_is_refused():
    frame = pd.DataFrame({"dataset": ["a"], "algorithm": ["b"], "fold": [1], "score": [0.5]})
    with pytest.raises(ResultFileError, match="can't hold NUL"):
        write_scores(frame, "a\0b.csv")
