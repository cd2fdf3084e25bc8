"""Large files are read in pieces: the same cells, the same errors and little memory, wherever the pieces end."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hiercomp as hc
from hiercomp.errors import ScoreFileError
from hiercomp.files.reading import score_files
from hiercomp.files.reading.decoding import BEGINNING, Place, utf8_parts
from hiercomp.files.reading.piecewise import raw_parts, whole_lines
from hiercomp.files.reading.score_files import read_score_file, read_with_notes
from hiercomp.scores.differences import PairedDifferences

HEADER = "dataset,algorithm,run,fold,score,note\n"


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_files, "PIECE", 200)


def rows(count: int = 40, score: str = "0.{:03}", note: str = "n{}") -> list[str]:
    return [
        f"d{i // 8},{'ab'[i % 2]},1,{i % 8 // 2 + 1},{score.format(i + 100)},{note.format(i % 3)}" for i in range(count)
    ]


def written(
    folder: Path, lines: list[str], *, name: str = "scores.csv", end: str = "\n", encoding: str = "utf-8"
) -> Path:
    path = folder / name
    content = (HEADER.rstrip("\n") + end + end.join(lines) + end).encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def both(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Iterator[pd.DataFrame | str]:
    """What a file is read as in one piece and in many, or the message of the refusal."""
    for piece in (10**6, 200):
        with monkeypatch.context() as context:
            context.setattr(score_files, "PIECE", piece)
            try:
                frame, _ = read_with_notes(path, **options)
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
    path = written(tmp_path, rows(note="é{}"), end=end, encoding=encoding)
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
    assert_same(both(written(tmp_path, lines), monkeypatch, **options))


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
@settings(
    deadline=None, derandomize=True, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_table_is_read_otherwise_in_pieces(tmp_path, monkeypatch, lines, piece, percent, decimal):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,score,b\n" + "\n".join(lines), newline="")
    found = []
    for size in (10**6, piece):
        monkeypatch.setattr(score_files, "PIECE", size)
        try:
            found.append(read_with_notes(path, percent=percent, decimal=decimal, separator=","))
        except ScoreFileError as error:
            found.append(str(error))
    if isinstance(found[0], str) or isinstance(found[1], str):
        # which of several errors comes first hangs on the piece
        assert isinstance(found[0], str)
        assert isinstance(found[1], str)
    else:
        assert_same(iter([found[0][0], found[1][0]]))
        assert found[0][1] == found[1][1]


@given(st.binary(max_size=60).map(lambda text: text.replace(b"\0", b"a")), st.integers(1, 9))
@settings(derandomize=True, max_examples=300)
def test_pieces_are_whole_lines_and_know_where_they_begin(content, size):
    blocks = [content[start : start + 3] for start in range(0, len(content), 3)]
    pieces = list(whole_lines(utf8_parts(raw_parts(blocks, size), "file", None), "file", 1000))
    start = BEGINNING if not content.startswith(b"\xef\xbb\xbf") else Place(1, 3)
    assert b"".join(piece for piece, _ in pieces) == content[start.byte :]
    for piece, place in pieces:
        assert place == start
        start = start.after(piece)
    for piece, _ in pieces[:-1]:
        assert piece.endswith((b"\n", b"\r"))


def test_lines_are_counted_as_python_counts_them():
    text = "a\rb\r\nc\n\r\nd"
    assert Place().after(bytearray(text.encode())).line == len(io.StringIO(text, newline="").readlines())


def test_a_line_without_end_is_refused(tmp_path, small_pieces):
    path = tmp_path / "scores.csv"
    path.write_text("a,b\n" + "1," * 500)
    with pytest.raises(ScoreFileError, match="line 2: goes on for more than"):
        read_score_file(path)


def test_a_large_pipe_is_refused_since_it_can_be_read_once_only(tmp_path, small_pieces):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = subprocess.Popen(
        [sys.executable, "-c", f"open({str(path)!r}, 'w').write({HEADER + 'a,b,1,1,1,n' * 99!r})"]
    )
    with pytest.raises(ScoreFileError, match="is no regular file: save it as one"):
        read_score_file(path)
    writer.wait()


def test_large_compressed_and_parquet_files_give_the_same(tmp_path, small_pieces):
    lines = rows(200)
    plain = read_score_file(written(tmp_path, lines))
    packed = read_score_file(written(tmp_path, lines, name="scores.csv.gz"))
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
        ScoreFileError, match=r"more than 4,000,000,000 bytes .* larger largest_bytes \(--largest-bytes\)"
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
    frame = pd.DataFrame(lines, columns=HEADER.strip().split(","))
    frame["score"] = frame["score"].astype(float)
    frame.loc[3, "score"] = np.nan
    frame.loc[20, "dataset"] = " d2 "
    frame.loc[30, "dataset"] = "D3"
    frame = frame.drop(index=[11, *range(72, 80, 2)])
    found = []
    for table in (frame, frame.astype({"dataset": "category", "algorithm": "category"})):
        try:
            differences = PairedDifferences.from_table(table, missing="drop" if drop else "error")
        except hc.errors.ScoreTableError as error:
            found.append(str(error))
        else:
            found.append((differences.datasets, differences.n.tolist(), differences.notes))
    assert found[0] == found[1]
    assert isinstance(found[0], str) is not drop


@pytest.mark.slow
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
