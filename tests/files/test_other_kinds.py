"""Tables that are neither plain text nor Parquet, packed ones, standard input, and what is named and refused."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import json
import lzma
import sys
import warnings
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.errors import HiercompError, HiercompWarning, ScoreFileError
from hiercomp.files.other_kinds import spooled

CSV = "dataset,algorithm,fold,score\n001,nb,1,0.5\n001,nb,2,0.75\nNA,nb,1,0.25\n"
RECORDS = [
    {"dataset": "001", "algorithm": "nb", "fold": 1, "score": 0.5},
    {"dataset": "001", "algorithm": "nb", "fold": 2, "score": 0.75},
    {"dataset": "NA", "algorithm": "nb", "fold": 1, "score": 0.25},
]


def read(source, **options) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        return hc.read_scores(source, **options)


def refused(path: Path, content: bytes | str, **options) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(HiercompError) as caught:
        read(path, **options)
    return str(caught.value)


def is_the_table(scores: pd.DataFrame) -> bool:
    rows = scores[["dataset", "algorithm", "run", "fold", "score"]].astype({"fold": int}).to_numpy().tolist()
    return rows == [["001", "nb", 1, 1, 0.5], ["001", "nb", 1, 2, 0.75], ["NA", "nb", 1, 1, 0.25]]


def packed_zip(content: bytes, *names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("t.csv.gz", gzip.compress),
        ("t.csv.bz2", bz2.compress),
        ("t.csv.xz", lzma.compress),
        ("t.csv.zip", lambda content: packed_zip(content, "t.csv")),
        ("t", bz2.compress),
    ],
)
def test_a_packed_csv_is_read(tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(CSV.encode()))
    assert is_the_table(read(tmp_path / name))


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress, lambda content: packed_zip(content, "t.csv")])
def test_packed_files_that_are_cut_or_too_large_are_refused(tmp_path, pack):
    assert "can't be read" in refused(tmp_path / "cut", pack(CSV.encode() * 50)[:-30])
    assert "above the limit of 1,000 bytes" in refused(tmp_path / "big", pack(CSV.encode() * 50), largest_bytes=1000)


def test_a_zip_of_several_files_is_to_be_unpacked(tmp_path):
    assert "a zip file of 2 files. Unpack it" in refused(tmp_path / "t.zip", packed_zip(CSV.encode(), "a.csv", "b.csv"))


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(RECORDS),
        json.dumps(RECORDS, indent=1),
        "\n".join(map(json.dumps, RECORDS)) + "\n",
        json.dumps({name: [record[name] for record in RECORDS] for name in RECORDS[0]}),
        pd.DataFrame(RECORDS).to_json(),
        pd.DataFrame(RECORDS).to_json(orient="split"),
        pd.DataFrame(RECORDS).to_json(orient="table", index=False),
    ],
)
def test_json_records_lines_and_columns_are_read(tmp_path, content):
    (tmp_path / "t.json").write_text(content)
    assert is_the_table(read(tmp_path / "t.json"))
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(content.encode()))
    assert is_the_table(read(tmp_path / "t.json.gz"))


def test_json_of_cross_validate_is_read_by_data_set_and_algorithm(tmp_path):
    result = {"fit_time": [0.1, 0.1], "score_time": [0.1, 0.1], "test_score": [0.5, 0.75]}
    (tmp_path / "t.json").write_text(json.dumps({"iris": {"tree": result, "nb": result}, "001": {"tree": result}}))
    scores = read(tmp_path / "t.json")
    assert scores["dataset"].tolist() == ["iris"] * 4 + ["001"] * 2
    assert scores["algorithm"].tolist() == ["tree", "tree", "nb", "nb", "tree", "tree"]
    assert scores[["fold", "score"]].to_numpy().tolist() == [[1, 0.5], [2, 0.75]] * 3
    (tmp_path / "one.json").write_text(json.dumps(result))
    one = read(tmp_path / "one.json", dataset="=iris", algorithm="=tree")
    assert one["score"].tolist() == [0.5, 0.75]


def test_a_record_of_json_lines_may_hold_any_character(tmp_path):
    """Python's splitlines cuts at U+2028, U+2029 and U+0085, which JSON leaves as they are."""
    records = [record | {"dataset": f"{record['dataset']}\u2028\u2029\u0085"} for record in RECORDS]
    for end in ("\n", "\r\n"):
        text = "".join(json.dumps(record, ensure_ascii=False) + end for record in records)
        (tmp_path / "t.jsonl").write_bytes(text.encode())
        assert len(read(tmp_path / "t.jsonl")) == len(RECORDS)


def test_json_that_is_no_table_is_refused_with_its_line(tmp_path):
    lines = "\n".join(map(json.dumps, RECORDS)) + '\n{"dataset": \n'
    assert "line 4" in refused(tmp_path / "t.jsonl", lines)
    assert "line 1" in refused(tmp_path / "t.json", '[{"a": 1}, ')
    assert "no list of records" in refused(tmp_path / "t.json", "[1, 2]")


def test_arrow_files_and_streams_are_read(tmp_path):
    import pyarrow as pa
    from pyarrow import feather, ipc

    table = pa.Table.from_pandas(pd.DataFrame(RECORDS))
    feather.write_feather(table, tmp_path / "t.feather")
    assert is_the_table(read(tmp_path / "t.feather"))
    with ipc.new_stream(tmp_path / "t.arrows", table.schema) as sink:
        sink.write_table(table)
    assert is_the_table(read(tmp_path / "t.arrows"))
    content = (tmp_path / "t.feather").read_bytes()
    assert "can't be read as Arrow" in refused(tmp_path / "cut.feather", content[:-40])


def test_spreadsheets_are_read_where_their_reader_is_installed(tmp_path, monkeypatch):
    def sheets(path, **options):
        assert options == {"sheet_name": None, "header": None, "dtype": object, "na_filter": False}
        rows = [header, *(list(record.values()) for record in RECORDS), [""] * 4]
        notes = pd.DataFrame([["a"], [1]], dtype=object)
        return {"scores": pd.DataFrame(rows, dtype=object), "notes": notes, "none": pd.DataFrame()}

    header = list(RECORDS[0])

    path = tmp_path / "t.xlsx"
    path.write_bytes(packed_zip(b"<x/>", "[Content_Types].xml", "xl/workbook.xml"))
    monkeypatch.setattr(pd, "read_excel", sheets)
    scores = read(path)
    assert is_the_table(scores)
    assert "2 sheets: 'scores', 'notes'; the first was read" in scores.attrs["notes"][0]
    header[2] = f" {header[3]}"
    with pytest.raises(ScoreFileError, match=f"Column names occur twice: {header[3]}"):
        read(path)

    def missing(path, **options):
        raise ImportError("Missing optional dependency")

    monkeypatch.setattr(pd, "read_excel", missing)
    for name, kind, package in (("t.xlsx", "xl/workbook.xml", "openpyxl"), ("t.ods", "content.xml", "odfpy")):
        text = refused(tmp_path / name, packed_zip(b"<x/>", kind, "mimetype"))
        assert f"pip install {package}" in text


@pytest.mark.skipif(importlib.util.find_spec("openpyxl") is None, reason="needs openpyxl")
def test_an_excel_file_is_read(tmp_path):
    pd.DataFrame(RECORDS).to_excel(tmp_path / "t.xlsx", index=False)
    assert is_the_table(read(tmp_path / "t.xlsx"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"X\n\0\0\0\3", mtime=0), "a file of R (.rds or .RData)"),
        (gzip.compress(b"RDX3\nX\n", mtime=0), "write.csv(scores, 'scores.csv', row.names = FALSE)"),
        (b"\x72\x02\x01\x00" + bytes(50), "a file of Stata"),
        (b"<stata_dta><header>", "a file of Stata"),
        ("<!DOCTYPE html>\n<html><table></table></html>", "is an HTML page"),
        ("  <table><tr><td>dataset</td></tr></table>", "is an HTML page"),
        ("| dataset | nb |\n|---|---|\n| iris | 0.5 |\n", "looks like a Markdown table"),
        ("dataset  algorithm  score\niris     nb         0.5\n", "columns of fixed width"),
        ('"dataset" "algorithm" "score"\n"1" "iris" "nb" 0.5\n', "R's write.table"),
        (b"\x80\x04\x95", "a Python pickle, which is never opened"),
    ],
)
def test_files_of_other_tools_are_named(tmp_path, content, said):
    assert said in refused(tmp_path / "t.csv", content)


def test_standard_input_is_read_once(monkeypatch):
    class Stream:
        buffer = io.BytesIO(CSV.encode())

    monkeypatch.setattr(sys, "stdin", Stream)
    assert is_the_table(read("-"))
    Stream.buffer = io.BytesIO(b"dataset,algorithm,score\niris,nb,x\n")
    check = hc.check_scores("-")
    assert check.source == "standard input"
    assert check.exit_code == 2
    Stream.buffer = io.BytesIO(b"dataset\0")
    with pytest.raises(ScoreFileError, match=r"^standard input, line 1: holds a NUL"):
        read("-")
    Stream.buffer = io.BytesIO(CSV.encode() * 100)
    with pytest.raises(ScoreFileError, match="standard input is above the limit"):
        read("-", largest_bytes=1000)
    Stream.buffer = io.BytesIO(CSV.encode())
    with pytest.raises(ScoreFileError) as caught, spooled("-") as copy:
        raise ScoreFileError(f"{copy} is wrong.", remedy=f"Look at {copy}.", count=3)
    error = caught.value
    assert (error.message, error.remedy, error.count) == ("standard input is wrong.", "Look at standard input.", 3)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"columns": ["dataset", "score"], "data": [["a", 0.5], ["b", 0.6, 7]]}', "row 2 of its data has 3 cells"),
        (
            '{"columns": ["dataset", "score"], "data": [["a"]]}',
            "row 1 of its data has 1 cell, and the table has 2 columns",
        ),
        ('{"columns": ["dataset", "score"], "data": ["a"]}', "row 1 of its data is not a list of cells"),
        ('{"columns": ["dataset", "score", "score"], "data": [["a", 1, 2]]}', "several columns are called 'score'"),
        ('[{"dataset": "a", "score": 0.9, "score": 0.1}]', "the key 'score' occurs twice"),
        (
            '{"dataset": "a", "score": 1}\n{"dataset": "b", "score": 1, "score": 2}',
            "line 2: the key 'score' occurs twice",
        ),
    ],
)
def test_no_cell_of_json_is_lost(tmp_path, content, said):
    assert said in refused(tmp_path / "t.json", content)
