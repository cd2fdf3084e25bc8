"""Reading tables: the files that are taken, whole and in parts, and for all others an error that names place and cause."""

from __future__ import annotations

import csv
import gzip
import io
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import hiercomp as hc
from hiercomp.comparison import HierarchicalComparison
from hiercomp.errors import (
    ArgumentError,
    DroppedScoresWarning,
    HiercompWarning,
    ScaleWarning,
    ScoreFileError,
    ScoreTableError,
)
from hiercomp.files import table
from hiercomp.files.content import checked_encoding
from hiercomp.files.table import (
    FORMULA,
    checked_separator,
    find_separator,
    read_score_file,
    with_formula,
    without_formula,
)
from hiercomp.scores.differences import PairedDifferences

HEADER = "dataset,algorithm,run,fold,score\n"
GOOD = HEADER + "001,a,1,1,0.91\n1,a,1,1,0.5\nNA,b,1,2,1e-1\nnull,b,2,2,.25\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message(path: Path, **options: Any) -> str:
    with pytest.raises(ScoreFileError) as caught:
        read_score_file(path, **options)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def database(folder: Path) -> bytes:
    connection = sqlite3.connect(folder / "database")
    connection.execute("create table scores (dataset text)")
    connection.commit()
    connection.close()
    return (folder / "database").read_bytes()


def excel() -> bytes:
    """The beginning of every .xlsx file: a zip archive with this member."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    return stream.getvalue()


def test_csv_compressed_csv_and_parquet_give_the_same_frame(tmp_path, scores):
    text = scores.to_csv(index=False)
    plain = read_score_file(written(tmp_path, "scores.csv", text))
    packed = read_score_file(written(tmp_path, "scores.csv.gz", gzip.compress(text.encode())))
    scores.to_parquet(tmp_path / "scores.parquet")
    parquet = read_score_file(str(tmp_path / "scores.parquet"))
    pd.testing.assert_frame_equal(plain, packed)
    pd.testing.assert_frame_equal(plain, parquet, check_dtype=False)
    assert plain["score"].to_numpy().tobytes() == scores["score"].to_numpy().tobytes()


def test_names_stay_text_and_scores_become_numbers(tmp_path):
    frame = read_score_file(written(tmp_path, "scores.csv", GOOD))
    assert frame["dataset"].tolist() == ["001", "1", "NA", "null"]
    assert frame["score"].tolist() == [0.91, 0.5, 0.1, 0.25]
    assert frame["score"].dtype == float
    assert frame["fold"].tolist() == [1, 1, 2, 2]
    assert frame["fold"].dtype == np.int64


def test_names_that_look_like_something_else_stay_as_they_are(tmp_path):
    names = ["NA", "null", "None", "nan", "001", "1", "1e5", "True", "2024-01-02", "1.0", "-1", "?"]  # rows 19 to 21
    path = written(tmp_path, "names.csv", HEADER + "".join(f"{name},{name},1,1,0.5\n" for name in names))
    frame = read_score_file(path)
    assert frame["dataset"].tolist() == frame["algorithm"].tolist() == names


def test_a_number_too_long_for_a_float_stays_text(tmp_path):
    path = written(tmp_path, "long.csv", HEADER + "d,a,1,9007199254740993,0.5\nd,a,1,9007199254740992,+.5\n")
    frame = read_score_file(path)
    assert frame["fold"].tolist() == ["9007199254740993", "9007199254740992"]
    assert frame["score"].tolist() == [0.5, 0.5]


def test_words_for_missing_scores_are_missing_values(tmp_path):
    path = written(tmp_path, "missing.csv", HEADER + "d,a,1,1,NA\nd,b,1,1, n/a\nd,c,1,1,?\nd,d,1,1,5\n")  # rows 27, 28
    frame = read_score_file(path)
    assert np.isnan(frame["score"].to_numpy()[:3]).all()
    assert frame["score"].iloc[3] == 5
    with pytest.raises(ScoreTableError, match=r"missing or not finite \(first: dataset 'd', algorithm 'a'"):
        PairedDifferences.from_table(frame, "a", "b")


def test_a_number_beyond_the_range_of_a_float_is_refused_by_the_table(tmp_path):
    path = written(tmp_path, "huge.csv", HEADER + "d,a,1,1,1e999\nd,b,1,1,1e-999\n")  # row 28
    frame = read_score_file(path)
    assert frame["score"].tolist() == [np.inf, 0]
    with pytest.raises(ScoreTableError, match="not finite"):
        PairedDifferences.from_table(frame, rho=0)


@pytest.mark.parametrize("cell", ["−0.1", "0.5\u00a0", "０.５", "0x10", "1_0", "inf", "1 000"])  # rows 28, 29, 68
def test_only_plain_ascii_numbers_become_numbers(tmp_path, cell):
    path = written(tmp_path, "odd.csv", HEADER + f"d,a,1,1,0.5\nd,b,1,1,{cell}\n")
    frame = read_score_file(path)
    assert frame["score"].tolist() == ["0.5", cell]
    with pytest.raises(ScoreTableError, match="not numbers.*" + ("ASCII" if not cell.isascii() else "")):
        PairedDifferences.from_table(frame, rho=0)


def test_names_stay_text_in_a_column_that_columns_points_to(tmp_path):
    path = written(tmp_path, "scores.csv", "id,learner,score\n001,1e5,0.9\n1,7,0.8\n")
    frame = read_score_file(path, {"dataset": "id"})
    assert frame["id"].tolist() == ["001", "1"]
    assert frame["learner"].tolist() == ["1e5", "7"]  # an alias of algorithm


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])  # rows 5, 6
def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path, encoding):
    frame = read_score_file(written(tmp_path, "scores.csv", (GOOD + "é日,a,1,1,0.5\n").encode(encoding)))
    assert list(frame.columns) == HEADER.strip().split(",")
    assert frame["dataset"].iloc[-1] == "é日"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", "\n\r", "\r\n\n  \n"])  # row 10
def test_any_line_end_will_do_and_blank_lines_are_skipped(tmp_path, end):
    frame = read_score_file(written(tmp_path, "scores.csv", GOOD.replace("\n", end)))
    assert len(frame) == 4


def test_line_ends_may_be_mixed(tmp_path):
    first, second, *rest = GOOD.splitlines()
    frame = read_score_file(written(tmp_path, "scores.csv", f"{first}\r\n{second}\r" + "\n".join(rest)))  # row 10
    assert frame["dataset"].tolist() == ["001", "1", "NA", "null"]


def test_quoted_cells_may_hold_commas_and_line_breaks(tmp_path):
    frame = read_score_file(written(tmp_path, "scores.csv", HEADER + '"a, b","x\ny",1,1,0.5\n'))
    assert frame.iloc[0][["dataset", "algorithm"]].tolist() == ["a, b", "x\ny"]


def test_empty_scores_are_missing_values_and_other_text_stays_for_the_table_check(tmp_path):
    frame = read_score_file(written(tmp_path, "scores.csv", HEADER + "d,a,1,1,\nd,b,1,1,0.5\n"))
    assert np.isnan(frame["score"].iloc[0])  # row 27
    frame = read_score_file(written(tmp_path, "text.csv", HEADER + "d,a,1,1,91%\nd,b,1,1,0x10\n"))
    assert frame["score"].tolist() == ["91%", "0x10"]


@pytest.mark.parametrize("content", ["", "\n\n", "   \n", "\ufeff", ",,\n"])  # row 1
def test_an_empty_file_has_no_header(tmp_path, content):
    assert "no header" in message(written(tmp_path, "empty.csv", content))


def test_a_header_alone_has_no_rows(tmp_path):
    assert "no rows" in message(written(tmp_path, "header.csv", HEADER))  # row 2
    assert "no rows" in message(written(tmp_path, "header.csv", HEADER.strip()))


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    assert "no such file" in message(tmp_path / "none.csv")  # row 3
    assert "folder" in message(tmp_path)
    assert "can't be read" in message(written(tmp_path, "file", "") / "scores.csv")
    assert "can't be read" in message(tmp_path / ("x" * 300))


@pytest.mark.parametrize("path", [None, 5, b"scores.csv"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ArgumentError, match="path must be the path of a file"):
        read_score_file(path)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names")
def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for content in (GOOD.encode(), gzip.compress(GOOD.encode())):
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        assert len(read_score_file(pipe)) == 4
        writer.join()


@pytest.mark.skipif(sys.platform == "win32", reason="takes permissions away")
def test_a_file_that_may_not_be_read_is_named(tmp_path):
    path = written(tmp_path, "secret.csv", GOOD)  # row 3
    path.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may read everything
    try:
        text = message(path)
    finally:
        os.seteuid(user)
    assert "Permission denied" in text


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("excel.csv", excel(), "Excel"),
        ("excel.xlsx", excel(), "Excel"),
        ("paper.csv", b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        ("fit.csv", b"\x89HDF\r\n\x1a\n\0\0", "netCDF"),
        ("plot.csv", b"\x89PNG\r\n\x1a\n\0\0", "PNG"),
        ("model.csv", pickle.dumps([0.5] * 9), "pickle"),
        ("packed.csv.gz", gzip.compress(pickle.dumps([0.5] * 9), mtime=0), "pickle"),
    ],
)  # row 4
def test_what_is_not_text_is_called_by_its_name(tmp_path, name, content, kind):
    text = message(written(tmp_path, name, content))
    assert "not text" in text
    assert kind in text


def test_a_database_is_called_by_its_name(tmp_path):
    assert "SQLite" in message(written(tmp_path, "scores.csv", database(tmp_path)))  # row 4


def test_a_name_that_promises_parquet_is_believed(tmp_path):
    assert "not a Parquet file" in message(written(tmp_path, "scores.parquet", GOOD))


def test_latin_1_is_refused_at_its_first_byte(tmp_path):
    text = message(written(tmp_path, "latin.csv", HEADER.encode() + "d,é,1,1,0.5\n".encode("latin-1")))
    assert "not UTF-8" in text  # row 7
    assert f"line 2, byte {len(HEADER) + 2}" in text
    assert "--encoding latin-1" in text
    frame = read_score_file(tmp_path / "latin.csv", encoding="latin-1")
    assert frame["algorithm"].tolist() == ["é"]


def test_two_encodings_in_one_file_are_refused_where_the_second_begins(tmp_path):
    rows = HEADER.encode() + "é,a,1,1,0.5\n".encode()
    for mark in (b"", b"\xef\xbb\xbf"):
        content = mark + rows + "ü,a,1,1,0.5\n".encode("latin-1")  # row 8
        text = message(written(tmp_path, "mixed.csv", content))
        assert f"line 3, byte {len(mark + rows)}" in text
        assert "two encodings" in text
        assert "latin-1" not in text


def test_an_encoding_that_the_file_contradicts_is_refused_or_warned_of(tmp_path):
    content = HEADER + "é,a,1,1,0.5\n"
    marked = written(tmp_path, "marked.csv", content.encode("utf-8-sig"))
    assert "Leave out encoding" in message(marked, encoding="latin-1")
    path = written(tmp_path, "scores.csv", content)
    with pytest.warns(ScaleWarning, match="is UTF-8 text"):
        read_score_file(path, encoding="latin-1")
    assert "not ASCII text" in message(path, encoding="ascii")
    assert read_score_file(path, encoding="utf8")["dataset"].tolist() == ["é"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "cp1252", "utf-32", "shift_jis"])
def test_any_other_encoding_is_read_when_it_is_named(tmp_path, encoding):
    name = "日" if encoding == "shift_jis" else "é"
    path = written(tmp_path, "scores.csv", (HEADER + f"{name},a,1,1,0.5\n").encode(encoding))
    assert read_score_file(path, encoding=encoding)["dataset"].tolist() == [name]


def test_utf_16_without_a_mark_or_cut_in_half_is_refused(tmp_path):
    for encoding in ("utf-16-le", "utf-16-be"):  # row 6
        assert f"--encoding {encoding}" in message(written(tmp_path, "nomark.csv", GOOD.encode(encoding)))
    assert "not UTF-16" in message(written(tmp_path, "half.csv", GOOD.encode("utf-16")[:-1]))


def test_a_nul_is_refused_with_its_line(tmp_path):
    text = message(written(tmp_path, "nul.csv", HEADER + "d,a,1,1,0.5\nd,a\0,1,2,0.5\n"))
    assert "line 3" in text  # row 9
    assert "NUL" in text


def test_short_and_long_rows_are_refused_with_their_line(tmp_path):
    short = message(written(tmp_path, "short.csv", HEADER + "d,a,1,1,0.5\n\nd,a,1,0.5\n"))
    assert "line 4: 4 cells where the header has 5" in short  # rows 15, 16
    long = message(written(tmp_path, "long.csv", HEADER + "d,a,1,1,0,91\n"))
    assert "line 2: 6 cells where the header has 5" in long
    assert "decimal sign" in long
    every = message(written(tmp_path, "long.csv", HEADER + "d,a,1,1,0.5,\n" * 3))
    assert "line 2: 6 cells" in every


def test_a_row_number_counts_lines_of_the_file_also_after_a_cell_of_several_lines(tmp_path):
    text = message(written(tmp_path, "lines.csv", HEADER + '"a\nb",a,1,1,0.5\nd,a\n'))
    assert "line 4:" in text


def test_a_column_name_that_occurs_twice_is_refused(tmp_path):
    text = message(written(tmp_path, "twice.csv", "dataset,algorithm,score,score \nd,a,1,2\n"))
    assert "line 1" in text  # row 17
    assert "'score'" in text


def test_a_missing_column_is_refused_with_those_that_there_are(tmp_path):
    path = written(tmp_path, "typo.csv", "dataset,algoritm,score\nd,a,0.5\nd,b,0.5\n")
    with pytest.raises(
        ScoreTableError, match=r"Did you mean 'algoritm'.*The columns are: 'dataset', 'algoritm'"
    ):  # row 18
        PairedDifferences.from_table(read_score_file(path))


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolon"), ("\t", "tab"), ("|", "pipe")])
def test_other_separators_are_found_and_named_in_a_warning(tmp_path, sign, name):
    path = written(tmp_path, "other.csv", GOOD.replace(",", sign))
    with pytest.warns(ScaleWarning, match=f"separated by {name}s"):
        found = read_score_file(path)
    pd.testing.assert_frame_equal(found, read_score_file(path, separator=name if name == "tab" else sign))
    pd.testing.assert_frame_equal(found, read_score_file(written(tmp_path, "scores.csv", GOOD)))
    assert len(found) == 4
    assert len(found.attrs["notes"]) == 1


@pytest.mark.parametrize("name", ["scores.tsv", "scores.tsv.gz", "scores.txt"])
def test_tabs_in_a_file_that_is_called_so_need_no_warning(tmp_path, name):
    content = GOOD.replace(",", "\t").encode()
    path = written(tmp_path, name, gzip.compress(content) if name.endswith("gz") else content)
    assert len(read_score_file(path)) == 4


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_decimal_commas_are_refused_with_the_options_that_read_them(tmp_path, sign):
    path = written(tmp_path, "german.csv", GOOD.replace(",", sign).replace(".", ","))  # row 12
    text = message(path)
    shown = "tab" if sign == "\t" else sign
    assert f"--sep '{shown}' --decimal ','" in text
    assert "line 2, column 'score': '0,91'" in text
    frame = read_score_file(path, separator=shown, decimal=",")
    pd.testing.assert_frame_equal(frame, read_score_file(written(tmp_path, "scores.csv", GOOD)))


def test_a_quoted_decimal_comma_is_refused_with_the_option_that_reads_it(tmp_path):
    path = written(tmp_path, "quoted.csv", HEADER + 'd,a,1,1,"0,91"\nd,b,1,1,NA\nd,c,1,1,1\n')  # row 13
    text = message(path)
    assert "line 2" in text
    assert "pass decimal=',' (--decimal ',')" in text
    assert read_score_file(path, decimal=",")["score"].tolist()[::2] == [0.91, 1]


def test_a_decimal_point_among_decimal_commas_is_refused(tmp_path):
    path = written(tmp_path, "both.csv", (HEADER + "d,a,1,1,0:5\nd,b,1,1,1.234\n").replace(",", ";").replace(":", ","))
    assert "line 3, column 'score': '1.234' is not a plain number. It has a decimal point" in message(path, decimal=",")


def test_a_column_of_no_interest_does_not_stand_in_the_way(tmp_path):
    text = 'dataset,algorithm,score,share,parameters\nd,a,0.5,10%,"1,2"\nd,b,0.25,20%,"1,3"\n'
    frame = read_score_file(written(tmp_path, "extra.csv", text))
    assert frame["score"].tolist() == [0.5, 0.25]
    assert frame["share"].tolist() == ["10%", "20%"]
    assert frame["parameters"].tolist() == ["1,2", "1,3"]
    text = "dataset;algorithm;score;version\nd;a;0,5;3.11\n"
    assert read_score_file(written(tmp_path, "extra.csv", text), separator=";", decimal=",")["version"].tolist() == [
        "3.11"
    ]
    wide = written(tmp_path, "wide.csv", "dataset;run;tree;bayes\nd;1;0,5;0,4\n")  # here every column is of interest
    assert "line 2, column 'tree': '0,5'" in message(wide)
    named = written(tmp_path, "named.csv", "dataset;algorithm;time;auc\nd;a;0.5;0,4\n")
    assert "line 2, column 'auc': '0,4'" in message(named, columns={"score": "auc"})


def test_a_thousands_separator_is_refused(tmp_path):
    path = written(tmp_path, "thousands.csv", HEADER + 'd,a,1,1,12.5\nd,b,1,1,"1,234"\n')  # row 14
    assert "line 3, column 'score': '1,234'" in message(path)
    path = written(tmp_path, "thousands.csv", HEADER + 'd,a,1,1,12.5\nd,b,1,1,"1,234.5"\n')
    with pytest.raises(ScoreTableError, match=r"'1,234\.5'"):
        PairedDifferences.from_table(read_score_file(path), rho=0)


def test_percent_signs_are_taken_only_by_option_and_said(tmp_path):
    path = written(tmp_path, "percent.csv", HEADER + "d,a,1,1,91.3%\nd,b,1,1,7 %\nd,c,1,1,\n")  # row 14
    text = message(path)
    assert "line 2, column 'score': '91.3%'" in text
    assert "--percent" in text
    with pytest.warns(ScaleWarning, match="2 cells of column 'score' .* divided by 100"):
        frame = read_score_file(path, percent=True)
    assert frame["score"].tolist()[:2] == [0.913, 0.07]  # the nearest floats; 7/100 and 91.3/100 need not be
    assert np.isnan(frame["score"].iloc[2])


def test_percent_signs_in_some_cells_only_are_refused(tmp_path):
    path = written(tmp_path, "some.csv", HEADER + "d,a,1,1,91%\nd,b,1,1,0.9\n")
    assert "line 2" in message(path)
    assert "line 3, column 'score': '0.9' is not a plain number. Some cells" in message(path, percent=True)
    path = written(tmp_path, "power.csv", HEADER + "d,a,1,1,91e0%\n")
    assert "exponent" in message(path, percent=True)
    path = written(tmp_path, "german.csv", HEADER.replace(",", ";") + "d;a;1;1;91,5%\n")
    assert "--decimal ','" in message(path, percent=True)
    with pytest.warns(ScaleWarning, match="divided by 100"):
        assert read_score_file(path, percent=True, separator=";", decimal=",")["score"].tolist() == [0.915]


def test_the_separator_is_that_which_makes_rows_of_equal_length(tmp_path):
    text = "dataset;algorithm;score\na,b;x;0.5\na;x;0.5\n"  # commas in names
    assert read_score_file(written(tmp_path, "names.csv", text), separator=";")["dataset"].tolist() == ["a,b", "a"]
    text = "dataset,algorithm,score,a;b\nd,x,0.5,1\n"
    assert list(read_score_file(written(tmp_path, "header.csv", text)).columns)[-1] == "a;b"
    text = "dataset,algorithm,score|in percent\nd,a,0.5|50\n"  # the comma gives columns of names
    assert list(read_score_file(written(tmp_path, "pipe.csv", text)).columns)[:2] == ["dataset", "algorithm"]
    assert "could be separated by ',' or ';'" in message(written(tmp_path, "both.csv", "a,b;c\n1,2;3\n"))
    assert "Is it separated by a semicolon" in message(written(tmp_path, "change.csv", HEADER + "d;a;1;1;0.5\n"))


@pytest.mark.parametrize(
    "options",
    [
        {"separator": "ab"},
        {"separator": "."},
        {"separator": 5},
        {"separator": "\n"},
        {"decimal": "'"},
        {"encoding": "no such"},
        {"encoding": "rot13"},
        {"encoding": 8},
        {"percent": 1},
        {"largest_bytes": 0},
        {"columns": "score"},
    ],
)
def test_options_are_checked(tmp_path, options):
    with pytest.raises(ArgumentError, match=next(iter(options))):
        read_score_file(written(tmp_path, "scores.csv", GOOD), **options)


def test_an_unbalanced_quote_is_refused_with_the_line_where_it_opens(tmp_path):
    text = message(written(tmp_path, "quote.csv", HEADER + 'd,a,1,1,0.5\nd,"b,1,1,0.5\nd,c,1,1,0.5\n'))  # row 11
    assert "line 3: a quotation mark is never closed" in text
    text = message(written(tmp_path, "middle.csv", HEADER + 'd,a,1,1,0.5\nd,"b"c,1,1,0.5\n'))
    assert "line 3: a quotation mark closes in the middle of a cell" in text


def test_a_field_without_end_is_refused(tmp_path):
    text = message(written(tmp_path, "field.csv", HEADER + "x" * 200_000 + ",a,1,1,0.5\n"))  # row 47
    assert "line 2: a cell of more than 131,072 characters" in text
    assert "never closed" not in text
    text = message(written(tmp_path, "quote.csv", HEADER + '"' + "d,a,1,1,0.5\n" * 20_000))
    assert "line 2: a cell of more than 131,072 characters" in text
    assert "Is a quotation mark never closed?" in text


def test_too_many_columns_are_refused(tmp_path):
    content = ",".join(map(str, range(100_000))) + "\n" + ",".join(["1"] * 100_000) + "\n"
    assert "100000 columns, above the limit of 10000" in message(written(tmp_path, "wide.csv", content))  # row 47


def peak_memory() -> int:
    """Of this process, in kB; 0 where the system counts otherwise, or not at all."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_a_file_that_unpacks_to_more_than_allowed_is_refused_without_unpacking_it(tmp_path):
    block = gzip.compress(b"0" * 10_000_000)
    path = written(tmp_path, "bomb.csv.gz", block * 500)  # 5 GB; row 48
    before = peak_memory()
    text = message(path, largest_bytes=20_000_000)
    assert "limit of 20,000,000 bytes" in text
    assert peak_memory() - before < 100_000
    plain = written(tmp_path, "plain.csv", GOOD)
    assert "limit of 50 bytes" in message(plain, largest_bytes=50)
    assert len(read_score_file(plain, largest_bytes=len(GOOD))) == 4


def test_a_parquet_file_that_unpacks_to_more_than_allowed_is_refused(tmp_path):
    path = tmp_path / "bomb.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"score": np.zeros(1_000_000)}), path)
    assert path.stat().st_size < 100_000
    assert "limit of 1,000,000 bytes" in message(path, largest_bytes=1_000_000)
    assert len(read_score_file(path)) == 1_000_000


def test_a_parquet_file_of_one_long_text_a_thousand_times_is_refused(tmp_path):
    path = tmp_path / "bomb.parquet"
    names = pyarrow.DictionaryArray.from_arrays(np.zeros(5000, np.int32), ["x" * 1_000_000])  # 5 GB; row 48
    pyarrow.parquet.write_table(pyarrow.table({"dataset": names}), path, store_schema=False)
    assert path.stat().st_size < 2_000_000
    assert "limit of 4,000,000,000 bytes" in message(path)


def test_parquet_files_of_other_writers_are_read_as_they_are(tmp_path):
    path = tmp_path / "scores.parquet"
    columns = {
        "dataset": ["a", None, "a"],
        "algorithm": pyarrow.array(["x", "y", "x"]).dictionary_encode(),
        "score": [1, 2, 3],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path, use_dictionary=False)
    frame = read_score_file(path)
    expected = pyarrow.table(columns).to_pandas()
    pd.testing.assert_frame_equal(frame, expected)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
@pytest.mark.parametrize("quote", ["", '"'])
def test_half_a_million_scores_are_read_and_paired_in_less_than_500_megabytes(tmp_path, quote):
    rows = np.random.default_rng(0).random(500_000)
    path = tmp_path / "large.csv"
    with path.open("w") as stream:
        stream.write(HEADER)
        for number, score in enumerate(rows.tolist()):
            dataset, rest = divmod(number, 500)
            algorithm, place = divmod(rest, 100)
            name = f"{quote}dataset_{dataset}{quote},{quote}algorithm_{algorithm}{quote}"
            stream.write(f"{name},{place // 10},{place % 10},{score!r}\n")
    code = f"""
from hiercomp.scores.differences import PairedDifferences
from hiercomp.files.table import read_score_file
differences = PairedDifferences.from_table(read_score_file({str(path)!r}), "algorithm_0", "algorithm_1")
with open("/proc/self/status") as status:  # ru_maxrss would begin with what the parent has used
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(len(differences.dataset_names), differences.n.sum(), peak)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    datasets, scores, kilobytes = map(int, run.stdout.split())
    assert (datasets, scores) == (1000, 100_000)
    assert kilobytes < 500_000


def test_truncated_and_damaged_gzip_files_are_refused(tmp_path):
    packed = gzip.compress(GOOD.encode() * 100)
    assert "can't be read" in message(written(tmp_path, "cut.csv.gz", packed[:-20]))
    assert "can't be read" in message(written(tmp_path, "plain.csv.gz", GOOD))
    for position in range(10, len(packed), 5):
        damaged = bytearray(packed)
        damaged[position] ^= 0xFF
        assert "can't be read" in message(written(tmp_path, "damaged.csv.gz", bytes(damaged)))


def test_truncated_and_damaged_parquet_files_are_refused(tmp_path, scores):
    path = tmp_path / "scores.parquet"
    scores.to_parquet(path)
    content = path.read_bytes()
    assert "Parquet" in message(written(tmp_path, "cut.parquet", content[: len(content) // 2]))
    table = pyarrow.Table.from_pandas(scores)
    for metadata in (b'{"columns": []}', b"[]", b"x"):
        pyarrow.parquet.write_table(table.replace_schema_metadata({b"pandas": metadata}), path)
        assert "Parquet" in message(path)


# From a file to a comparison


def folds_of(dataset: str, algorithms: str = "ab", folds: int = 5, scale: float = 1.0) -> str:
    """Rows of some folds of a data set."""
    generator = np.random.default_rng(folds)
    return "".join(
        f"{dataset},{algorithm},0,{fold},{scale * generator.uniform(0.5, 1):.4f}\n"
        for algorithm in algorithms
        for fold in range(folds)
    )


def compared(folder: Path, rows: str, **options: Any) -> PairedDifferences:
    path = written(folder, "scores.csv", HEADER + rows)
    return HierarchicalComparison(read_score_file(path), **options).differences


@pytest.mark.filterwarnings("ignore:With only 2 data sets")
def test_names_that_differ_in_form_or_case_are_warned_of(tmp_path):
    rows = folds_of("cafe\u0301") + "  café ,a,1,0,0.5\ncafé,b,1,0,0.5\n" + folds_of("y")  # row 22
    with pytest.warns(ScaleWarning, match="differ only by outer spaces or Unicode form: 'café'"):
        assert compared(tmp_path, rows).n.tolist() == [6, 5]
    with pytest.warns(ScaleWarning, match="differ only by case count as different: 'Y', 'y'"):
        assert compared(tmp_path, folds_of("Y") + folds_of("y")).dataset_names == ("Y", "y")


def test_a_score_that_stands_twice_is_refused_also_if_it_is_the_same(tmp_path):
    rows = folds_of("x") + folds_of("y")  # row 23
    with pytest.raises(
        ScoreTableError, match=r"1 cell has more than one score.*dataset 'x', algorithm 'a', run 0, fold 0"
    ):
        compared(tmp_path, rows + rows.splitlines()[0] + "\n")


@pytest.mark.filterwarnings("ignore:With only 2 data sets")
def test_a_fold_of_one_algorithm_only_is_refused_or_dropped_with_a_warning(tmp_path):
    rows = folds_of("x") + folds_of("y") + "y,a,7,0,0.5\n"  # row 24
    with pytest.raises(ScoreTableError, match=r"1 score is absent in 1 data set.*--drop-unpaired"):
        compared(tmp_path, rows)
    with pytest.warns(DroppedScoresWarning, match="no score there: 1 fold of 1 data set"):
        assert compared(tmp_path, rows, missing="drop").n.tolist() == [5, 5]


@pytest.mark.filterwarnings("ignore:With only 2 data sets")
def test_a_data_set_of_one_algorithm_only_is_left_out_with_a_warning(tmp_path):
    with pytest.warns(DroppedScoresWarning, match=r"with scores of only one algorithm: 1 data set: 'z'"):  # row 25
        assert compared(tmp_path, folds_of("x") + folds_of("y") + folds_of("z", "a")).dataset_names == ("x", "y")


@pytest.mark.filterwarnings("ignore:With only 2 data sets")
def test_data_sets_may_have_different_numbers_of_folds(tmp_path):
    differences = compared(tmp_path, folds_of("x") + folds_of("y", folds=4))  # row 26
    assert differences.n.tolist() == [5, 4]
    assert differences.rho.tolist() == [1 / 5, 1 / 4]


@pytest.mark.filterwarnings("ignore:With only 2 data sets")
def test_percentages_among_fractions_and_a_rope_of_fractions_are_noted(tmp_path):
    with pytest.raises(ArgumentError, match="fractions and percentages look mixed"):  # row 30
        compared(tmp_path, folds_of("x") + folds_of("y", scale=100))
    with pytest.warns(ScaleWarning, match=r"rope is 0\.01 percentage points\. Did you mean 1"):  # row 31
        compared(tmp_path, folds_of("x", scale=100) + folds_of("y", scale=100), rope=0.01)


def test_control_characters_in_names_are_shown_as_escapes(tmp_path):
    rows = folds_of("\x1b[31mx", "a") + "\x1b[31mx,b,9,9,0.5\n"  # row 54
    with pytest.raises(ScoreTableError) as caught:
        compared(tmp_path, rows)
    assert r"\x1b[31mx" in str(caught.value)
    assert str(caught.value).isprintable()
    text = "dataset,algorithm,\u202escore,\u202escore\nd,a,1,2\n"
    refusal = message(written(tmp_path, "twice.csv", text))
    assert r"\u202escore" in refusal
    assert "\u202e" not in refusal
    with pytest.raises(ScoreFileError) as caught:
        read_score_file(tmp_path / "\x1b[31m.csv")
    assert r"\x1b[31m.csv: there is no such file" in str(caught.value)


def test_the_locale_changes_nothing(tmp_path):
    path = written(tmp_path, "scores.csv", HEADER + "é日,a,1,1,0.91\n")  # row 67
    code = f"""
from hiercomp.files.write import write_scores
from hiercomp.files.table import read_score_file
frame = read_score_file({str(path)!r})
write_scores(frame, {str(tmp_path / "again.csv")!r}, overwrite=True)
print(ascii(frame["dataset"].tolist()), frame["score"].tolist())
"""
    for locale in ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"LC_ALL": "de_DE.UTF-8"}):
        environment = {**os.environ, **locale, "TZ": "America/St_Johns"}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        assert run.stdout == "['\\xe9\\u65e5'] [0.91]\n"
        assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


def test_what_was_warned_of_is_kept_with_the_frame(tmp_path):
    path = written(tmp_path, "percent.csv", (HEADER + "d,a,1,1,91%\n").replace(",", ";"))
    with pytest.warns(HiercompWarning) as caught:
        frame = read_score_file(path, percent=True)
    assert frame.attrs["notes"] == [str(warning.message) for warning in caught]
    assert len(caught) == 2
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}
    assert read_score_file(written(tmp_path, "scores.csv", GOOD)).attrs == {}


# What Arrow makes of a text, against Python's csv module

NAMES = ("dataset", "algorithm", "model", "method")  # columns that stay text


CELL = st.one_of(
    st.floats(0, 1).map(repr),
    st.integers(-99, 99).map(str),
    st.sampled_from(
        ["", " ", "NA", "0,5", "91%", "-.5e-3", "'=x", '"', '""', "a b", "é", "日", "\u2028", "\ufeff", "\x1a"]
    ),
    st.text("ab',;\t|\"\r\n =1.", max_size=6),
)
TABLE = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=5)
)


def expected_rows(text: str, separator: str, width: int) -> list[list[str]] | None:
    """The rows of a text as Python's csv module reads them; None where a quotation mark or a row's length is wrong."""
    try:
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return None
    rows = [row for row in found if row and (len(row) > 1 or row[0].strip())]
    return rows if rows and all(len(row) == width for row in rows) else None


def assert_read_as_expected(path: Path, text: str, separator: str, width: int) -> None:
    path.write_bytes((separator.join(NAMES[:width]) + "\n" + text).encode())
    rows = expected_rows(text, separator, width)
    if rows is None:
        message(path, separator=separator)
        return
    frame = read_score_file(path, separator=separator)
    assert frame.to_numpy().tolist() == [[with_formula(cell) for cell in row] for row in rows]


@given(
    TABLE,
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.booleans(),
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_table_that_was_written_is_read_cell_by_cell(tmp_path, lines, separator, end, quoting, last):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting).writerows(lines)
    text = stream.getvalue() if last else stream.getvalue().removesuffix(end)
    assert_read_as_expected(tmp_path / "table.csv", text, separator, len(lines[0]))


@pytest.mark.slow
@given(st.text('ab1,;"\n\r \t\ufeffé', max_size=40), st.sampled_from([",", ";"]), st.integers(5, 60))
@example('"x""y",""\n', ",", 60)
@example('"x"y,1\n', ",", 60)
@example('x"y,1\n', ",", 60)
@example('"""",""""\n', ",", 60)
@example("\ufeffx,1\n", ",", 60)
@example('""x"",1\n', ",", 60)
@example('"a\nb",c\n1,2\n', ",", 60)
@example("1,2\n \n3,4\n", ",", 60)
@settings(max_examples=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_read_as_pythons_csv_module_reads_it_or_refused_with_it(
    tmp_path, monkeypatch, text, separator, part
):
    for size in (10**6, part):
        monkeypatch.setattr(table, "PART", size)
        assert_read_as_expected(tmp_path / "table.csv", text, separator, 2)


@given(st.text("'=+-@\t\rab\"", max_size=6))
def test_disarming_a_formula_is_reversible_and_leaves_no_formula(text):
    disarmed = without_formula(text)
    assert with_formula(disarmed) == text
    assert not disarmed.startswith(("=", "+", "-", "@", "\t", "\r"))
    if not FORMULA.match(text):
        assert disarmed == text


@pytest.mark.parametrize(
    ("text", "written"), [("=1", "'=1"), ("'=1", "''=1"), ("'x", "'x"), ("a=1", "a=1"), ("@", "'@"), ("-2+3", "'-2+3")]
)
def test_an_apostrophe_stands_before_a_formula_only(text, written):
    assert without_formula(text) == written


@pytest.mark.parametrize(
    ("given", "separator"), [("tab", "\t"), ("\\t", "\t"), ("semicolon", ";"), (":", ":"), (None, None)]
)
def test_a_separator_is_a_character_or_its_name(given, separator):
    assert checked_separator(given) == separator


@pytest.mark.parametrize("encoding", ["rot13", "base64", "", "utf-8\0"])
def test_what_is_no_encoding_of_text_is_refused(encoding):
    with pytest.raises(ArgumentError, match="encoding"):
        checked_encoding(encoding)


def test_the_separator_is_found_also_where_the_sample_ends_inside_a_row():
    rows = "x;y, on, off\n" + "d;0.5\n" * 20_000  # commas would give more columns
    assert not rows[:65_536].endswith("\n")
    assert find_separator(bytearray(rows.encode()), "file") == ";"


# Large files, in parts

NOTED = HEADER.replace("\n", ",note\n")


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "PART", 200)


def rows(count: int = 40, score: str = "0.{:03}", note: str = "n{}") -> list[str]:
    return [
        f"d{i // 8},{'ab'[i % 2]},1,{i % 8 // 2 + 1},{score.format(i + 100)},{note.format(i % 3)}" for i in range(count)
    ]


def written_lines(
    folder: Path, lines: list[str], *, name: str = "scores.csv", end: str = "\n", encoding: str = "utf-8"
) -> Path:
    path = folder / name
    content = (NOTED.rstrip("\n") + end + end.join(lines) + end).encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def read_in_silence(path: Path, **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiercompWarning)
        return read_score_file(path, **options)


def both(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Iterator[pd.DataFrame | str]:
    """What a file is read as in one piece and in many, or the message of the refusal."""
    for piece in (10**6, 200):
        with monkeypatch.context() as context:
            context.setattr(table, "PART", piece)
            try:
                frame = read_in_silence(path, **options)
            except ScoreFileError as error:
                yield str(error)
            else:
                if piece == 200 and path.stat().st_size > 250 and path.suffix != ".gz":
                    assert "category" in frame.dtypes.astype(str).tolist()
                yield frame


def assert_same(found: Iterator[pd.DataFrame | str]) -> pd.DataFrame | str:
    whole, pieces = found
    if isinstance(whole, str) or isinstance(pieces, str):
        assert isinstance(whole, str)
        assert whole == pieces
        return whole
    text = {name: str for name in pieces.columns if pieces[name].dtype == "category"}
    same = pieces.astype(text).astype(whole.dtypes.to_dict())
    pd.testing.assert_frame_equal(whole, same)
    for name in whole.columns:  # nothing that was a number is text, or the other way round
        assert (whole[name].dtype.kind in "if") == (pieces[name].dtype.kind in "if")
        if whole[name].dtype.kind == "i":
            assert pieces[name].dtype.kind == "i"
    return whole


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_all_encodings_and_line_ends_are_the_same_in_pieces(tmp_path, monkeypatch, end, encoding):
    path = written_lines(tmp_path, rows(note="é{}"), end=end, encoding=encoding)
    given = {} if encoding in ("utf-8", "utf-8-sig", "utf-16") else {"encoding": encoding}
    frame = assert_same(both(path, monkeypatch, **given))
    assert frame["note"].tolist()[:4] == ["é0", "é1", "é2", "é0"]
    assert frame["score"].tolist()[:2] == [0.1, 0.101]


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({30: "d3,a,1,4,0.5"}, {}),  # a short row
        ({30: "d3,a,1,4,0.5,n,n"}, {}),  # a long row
        ({30: 'd3,a,1,4,0.5,"n'}, {}),  # a quotation mark that is never closed
        ({30: 'd3,a,1,4,0.5,"n"x'}, {}),
        ({30: 'd3,a,1,4,0.5,5" disk'}, {}),  # allowed where a cell does not begin with it
        ({5: 'd3,a,1,4,0.5,5" disk', 30: 'd3,a,1,4,0.5,5" disk'}, {}),
        ({30: 'd3,a,1,4,0.5,"a\nb"'}, {}),  # two lines in a cell
        ({20: 'd3,a,1,4,0.5,"' + "a\n" * 300 + '"'}, {}),  # a cell longer than a piece
        ({30: "d3,a,1,4,0.5\x00,n"}, {}),
        ({30: "d3,a,1,4,91%,n"}, {}),
        ({30: "d3,a,1,4,91%,n"}, {"percent": True}),
        ({30: 'd3,a,1,4,"0,91",n'}, {}),
        ({30: "d3,a,1,4,?,n"}, {}),  # missing
        ({30: "d3,a,1,4,1e999,n"}, {}),
        ({30: "d3,a,1,4,x,n"}, {}),  # the column stays text, for the table check to judge
        ({30: "d3,a,x,4,0.5,n"}, {}),
        ({30: "d3,a,1.5,4,0.5,n"}, {}),  # whole numbers become floats
        ({30: "d3,a,12345678901234567890,4,0.5,n"}, {}),  # too long for either
        ({30: "d3,a,3000000000,4,0.5,n"}, {}),  # beyond 32 bits
        ({30: "d3,a,,4,0.5,n"}, {}),
        ({3: "001,a,1,1,0.5,n", 30: "1,a,1,1,0.5,n", 31: "NA,b,1,1,0.5,n"}, {}),  # names stay as they are
        ({30: "'=x,a,1,1,0.5,n"}, {}),
        ({30: " ", 31: ""}, {}),  # blank lines
        ({number: f"d3,a,1,4,{number}%,n" for number in range(40)}, {"percent": True}),
        ({number: f'd3,a,1,4,"0,{number}",n' for number in range(40)}, {"decimal": ","}),
        ({number: f"d3,a,1,4,{number}%,n" for number in range(39)}, {"percent": True}),  # all but the last
        ({number: "d3,a,1,4,,n" for number in range(30)}, {}),  # a first piece without a score
        ({number: "d3,a,1,4,NA,n" for number in range(40)}, {}),
        ({number: f"d3,a,1,4,0.5,{number}" for number in range(20)}, {}),  # numbers at first, then text
        ({number: f"d3,a,1,4,0.5,{number},5" for number in range(20)}, {}),
        ({number: f'd3,a,1,4,0.5,"{number},5"' for number in range(20)}, {}),  # a decimal comma of no interest
    ],
)
def test_what_is_odd_is_the_same_in_pieces(tmp_path, monkeypatch, change, options):
    lines = rows()
    for number, text in change.items():
        lines[number] = text
    assert_same(both(written_lines(tmp_path, lines), monkeypatch, **options))


CELLS = st.sampled_from(
    [*("0.5", "1", "0,5", "91%", "", "NA", "x", "1e999", "-2", "+3", "12345678901234567", "3000000000", "é", "'=x"),
     *('"a b"', '"a""b"', '"a\nb"', '"', 'a"b', "\ufeff")]
)  # fmt: skip


@given(
    st.lists(
        st.tuples(*[CELLS] * 3).map(",".join) | st.sampled_from(["", " ", "a,b", "a,b,c,d"]), min_size=1, max_size=30
    ),
    st.integers(40, 120),
    st.booleans(),
    st.sampled_from([".", ","]),
)
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_table_is_read_otherwise_in_pieces(tmp_path, monkeypatch, lines, piece, percent, decimal):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,score,b\n" + "\n".join(lines), encoding="utf-8", newline="")
    found = []
    for size in (10**6, piece):
        monkeypatch.setattr(table, "PART", size)
        try:
            found.append(read_in_silence(path, percent=percent, decimal=decimal, separator=","))
        except ScoreFileError as error:
            found.append(str(error))
    if isinstance(found[0], str) or isinstance(found[1], str):
        # which of several errors comes first hangs on the piece
        assert isinstance(found[0], str)
        assert isinstance(found[1], str)
    else:
        assert_same(iter(found))
        assert found[0].attrs == found[1].attrs


def test_a_line_without_end_is_refused(tmp_path, small_parts, monkeypatch):
    monkeypatch.setattr(table, "LONGEST_ROW", 200)
    path = tmp_path / "scores.csv"
    path.write_text("a,b\n" + "1," * 500)
    with pytest.raises(ScoreFileError, match="line 2: a row of more than 200 bytes"):
        read_score_file(path)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names")
def test_a_large_pipe_is_refused_since_it_can_be_read_once_only(tmp_path, small_parts):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = subprocess.Popen([sys.executable, "-c", f"open({str(path)!r}, 'w').write({NOTED + 'a,b,1,1,1,n' * 99!r})"])
    with pytest.raises(ScoreFileError, match="is not a regular file"):
        read_score_file(path)
    writer.wait()


def test_large_compressed_and_parquet_files_give_the_same(tmp_path, small_parts):
    lines = rows(200)
    plain = read_score_file(written_lines(tmp_path, lines))
    packed = read_score_file(written_lines(tmp_path, lines, name="scores.csv.gz"))
    pd.testing.assert_frame_equal(plain, packed)
    plain.astype({"dataset": str, "algorithm": str, "note": str}).to_parquet(tmp_path / "scores.parquet")
    parquet = read_score_file(tmp_path / "scores.parquet")
    pd.testing.assert_frame_equal(plain, parquet, check_categorical=False)
    assert parquet["dataset"].dtype == "category"


def test_the_limit_is_known_before_a_plain_file_is_read(tmp_path):  # row 46
    path = tmp_path / "scores.csv"
    with path.open("wb") as stream:
        stream.truncate(10**10)  # takes no room on the disk
    with pytest.raises(
        ScoreFileError, match=r"limit of 4,000,000,000 bytes .* larger largest_bytes \(--largest-bytes\)"
    ):
        read_score_file(path)


COMPARISONS = {
    "differences": lambda table: str(PairedDifferences.from_table(table, "naive_bayes", "decision_tree").to_frame()),
    "model": lambda table: str(hc.HierarchicalComparison(table, "naive_bayes", "decision_tree", rope=0.01).differences),
    "all pairs": lambda table: str(hc.compare_all(table, rope=0.01).to_frame()),
    "check": hc.check_scores,
    "friedman": hc.friedman_test,
    "posthoc": hc.posthoc_test,
    "signed rank": lambda table: hc.signed_rank_test(table, left="naive_bayes", right="decision_tree"),
    "correlated": lambda table: hc.correlated_t_test(table, left="naive_bayes", right="decision_tree"),
    "calibrated": lambda table: hc.calibrated_test(table, left="naive_bayes", right="decision_tree"),
    "poisson-binomial": lambda table: hc.poisson_binomial_test(table, left="naive_bayes", right="decision_tree"),
}


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.filterwarnings("ignore::hiercomp.errors.HiercompWarning")
def test_categorical_names_are_compared_as_text_is(comparison):
    frame = hc.load_scores("keel")
    frame = frame[frame["dataset"].isin(frame["dataset"].unique()[:6])].reset_index(drop=True)
    if comparison == "all pairs":
        frame = frame[frame["algorithm"].isin(["naive_bayes", "decision_tree"])]
    backwards = [*frame["dataset"].unique()[::-1], "unused"]
    large = frame.astype({"dataset": pd.CategoricalDtype(backwards), "algorithm": "category"})
    function = COMPARISONS[comparison]
    assert str(function(frame)) == str(function(large))


@pytest.mark.parametrize("drop", [True, False])
def test_gaps_and_odd_names_of_categorical_tables_are_judged_as_those_of_text(drop):
    lines = [line.split(",") for line in rows(80)]
    frame = pd.DataFrame(lines, columns=NOTED.strip().split(","))
    frame["score"] = frame["score"].astype(float)
    frame.loc[3, "score"] = np.nan
    frame.loc[20, "dataset"] = " d2 "
    frame.loc[30, "dataset"] = "D3"
    frame = frame.drop(index=[11, *range(72, 80, 2)])
    found = []
    for scores in (frame, frame.astype({"dataset": "category", "algorithm": "category"})):
        try:
            differences = PairedDifferences.from_table(scores, missing="drop" if drop else "error")
        except hc.errors.ScoreTableError as error:
            found.append(str(error))
        else:
            found.append((differences.dataset_names, differences.n.tolist(), differences.notes))
    assert found[0] == found[1]
    assert isinstance(found[0], str) is not drop


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_a_large_table_takes_no_more_memory_than_stated(tmp_path):  # row 46
    path = tmp_path / "scores.csv"
    count = 6_000_000
    with path.open("w") as stream:
        stream.write("dataset,algorithm,run,fold,score\n")
        for dataset in range(count // 2000):
            for algorithm in "ab":
                start = f"data set {dataset},{algorithm},"
                stream.write("".join(f"{start}{i // 10},{i % 10},0.{10_000 + i}\n" for i in range(1000)))
    code = (
        "import resource, sys, hiercomp as hc, pyarrow.csv, pyarrow.parquet, pyarrow.compute, pandas\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "before = peak(); frame = hc.read_scores(sys.argv[1]); print(peak() - before, len(frame))"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    memory, found = map(int, run.stdout.split())
    assert found == count
    cells = 4 + 4 + 4 + 4 + 8  # bytes of a row: two names, two whole numbers and a score
    assert memory < 1.5 * cells * count + 400e6
