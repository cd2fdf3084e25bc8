"""Reading score files: the formats that are taken, and for everything else an error that names place and cause."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from hiercomp.errors import ScoreFileError
from hiercomp.score_files import read_score_file

HEADER = "dataset,algorithm,run,fold,score\n"
GOOD = HEADER + "001,a,1,1,0.91\n1,a,1,1,0.5\nNA,b,1,2,1e-1\nnull,b,2,2,.25\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message(path: Path) -> str:
    with pytest.raises(ScoreFileError) as caught:
        read_score_file(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


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


def test_names_stay_text_in_a_column_that_columns_points_to(tmp_path):
    path = written(tmp_path, "scores.csv", "id,learner,score\n001,1e5,0.9\n1,7,0.8\n")
    frame = read_score_file(path, {"dataset": "id"})
    assert frame["id"].tolist() == ["001", "1"]
    assert frame["learner"].tolist() == ["1e5", "7"]  # an alias of algorithm


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path, encoding):
    frame = read_score_file(written(tmp_path, "scores.csv", (GOOD + "é日,a,1,1,0.5\n").encode(encoding)))
    assert list(frame.columns) == HEADER.strip().split(",")
    assert frame["dataset"].iloc[-1] == "é日"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
def test_any_line_end_will_do_and_blank_lines_are_skipped(tmp_path, end):
    frame = read_score_file(written(tmp_path, "scores.csv", GOOD.replace("\n", end)))
    assert len(frame) == 4


def test_quoted_cells_may_hold_commas_and_line_breaks(tmp_path):
    frame = read_score_file(written(tmp_path, "scores.csv", HEADER + '"a, b","x\ny",1,1,0.5\n'))
    assert frame.iloc[0][["dataset", "algorithm"]].tolist() == ["a, b", "x\ny"]


def test_empty_scores_are_missing_values_and_other_text_stays_for_the_table_check(tmp_path):
    frame = read_score_file(written(tmp_path, "scores.csv", HEADER + "d,a,1,1,\nd,b,1,1,0.5\n"))
    assert np.isnan(frame["score"].iloc[0])
    frame = read_score_file(written(tmp_path, "text.csv", HEADER + "d,a,1,1,91%\nd,b,1,1,0x10\n"))
    assert frame["score"].tolist() == ["91%", "0x10"]


@pytest.mark.parametrize("content", ["", "\n\n", "   \n", "\ufeff"])
def test_an_empty_file_has_no_header(tmp_path, content):
    assert "no header" in message(written(tmp_path, "empty.csv", content))


def test_a_header_alone_has_no_rows(tmp_path):
    assert "no rows" in message(written(tmp_path, "header.csv", HEADER))


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    assert "no such file" in message(tmp_path / "none.csv")
    assert "folder" in message(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("excel.csv", excel(), "Excel"),
        ("excel.xlsx", excel(), "Excel"),
        ("paper.csv", b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        ("fit.csv", b"\x89HDF\r\n\x1a\n\0\0", "netCDF"),
    ],
)
def test_what_is_not_text_is_called_by_its_name(tmp_path, name, content, kind):
    text = message(written(tmp_path, name, content))
    assert "not text" in text
    assert kind in text


def test_latin_1_is_refused_at_its_first_byte(tmp_path):
    text = message(written(tmp_path, "latin.csv", HEADER.encode() + "d,é,1,1,0.5\n".encode("latin-1")))
    assert "not UTF-8" in text
    assert f"byte {len(HEADER) + 2}" in text


def test_utf_16_without_a_mark_or_cut_in_half_is_refused(tmp_path):
    assert "NUL" in message(written(tmp_path, "nomark.csv", GOOD.encode("utf-16-le")))
    assert "not UTF-16" in message(written(tmp_path, "half.csv", GOOD.encode("utf-16")[:-1]))


def test_a_nul_is_refused_with_its_line(tmp_path):
    text = message(written(tmp_path, "nul.csv", HEADER + "d,a,1,1,0.5\nd,a\0,1,2,0.5\n"))
    assert "line 3" in text
    assert "NUL" in text


def test_short_and_long_rows_are_refused_with_their_line(tmp_path):
    short = message(written(tmp_path, "short.csv", HEADER + "d,a,1,1,0.5\n\nd,a,1,0.5\n"))
    assert "line 4: 4 cells where the header has 5" in short
    long = message(written(tmp_path, "long.csv", HEADER + "d,a,1,1,0,91\n"))
    assert "line 2: 6 cells where the header has 5" in long
    assert "decimal sign" in long


def test_a_row_number_counts_lines_of_the_file_also_after_a_cell_of_several_lines(tmp_path):
    text = message(written(tmp_path, "lines.csv", HEADER + '"a\nb",a,1,1,0.5\nd,a\n'))
    assert "line 4:" in text


def test_a_column_name_that_occurs_twice_is_refused(tmp_path):
    text = message(written(tmp_path, "twice.csv", "dataset,algorithm,score,score \nd,a,1,2\n"))
    assert "line 1" in text
    assert "'score'" in text


@pytest.mark.parametrize("decimal", [".", ","])
def test_semicolons_are_recognised(tmp_path, decimal):
    content = GOOD.replace(",", ";").replace(".", decimal)
    assert "semicolons" in message(written(tmp_path, "german.csv", content))


def test_an_unbalanced_quote_is_refused_with_the_line_where_it_opens(tmp_path):
    text = message(written(tmp_path, "quote.csv", HEADER + 'd,a,1,1,0.5\nd,"b,1,1,0.5\nd,c,1,1,0.5\n'))
    assert "line 3: a quotation mark is never closed" in text


def test_a_field_without_end_is_refused(tmp_path):
    text = message(written(tmp_path, "field.csv", HEADER + "x" * 200_000 + ",a,1,1,0.5\n"))
    assert "line 2: field larger than field limit" in text


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
