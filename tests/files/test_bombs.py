"""Small files that hold gigabytes: refused in little memory and time."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import hiercomp as hc
from hiercomp.files.arrow_messages import unpacked_size

HEADER = b"dataset,algorithm,score\n"


def gzip_of(block: bytes, times: int) -> bytes:
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packing.compress(HEADER) + b"".join(packing.compress(block) for _ in range(times)) + packing.flush()


def equal_rows(path: Path) -> None:
    path.write_bytes(gzip_of(b"a,b,0.5\n" * 100_000, 300))  # 30 million rows


def line_ends(path: Path) -> None:
    path.write_bytes(gzip_of(b"\n" * 1_000_000, 400))


def equal_rows_in_parquet(path: Path) -> None:
    block = pa.table({"dataset": ["a"] * 10**6, "algorithm": ["b"] * 10**6, "score": np.full(10**6, 0.5)})
    with parquet.ParquetWriter(path, block.schema) as writer:
        for _ in range(40):
            writer.write_table(block)


def packed_arrow(path: Path) -> None:
    feather.write_feather(pa.table({"score": np.zeros(5 * 10**7)}), path, compression="zstd")


def nothing_in_arrow(path: Path) -> None:
    with ipc.new_file(path, pa.schema([("score", pa.null())])) as writer:
        writer.write_batch(pa.record_batch([pa.nulls(10**9)], names=["score"]))


def spreadsheet(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in ("[Content_Types].xml", "xl/workbook.xml"):
            packed.writestr(name, b"<x/>")
        packed.writestr("xl/worksheets/sheet1.xml", b"<row/>" * 2 * 10**7)


BOMBS: dict[str, Callable[[Path], None]] = {
    "equal.csv.gz": equal_rows,
    "lines.csv.gz": line_ends,
    "equal.parquet": equal_rows_in_parquet,
    "packed.feather": packed_arrow,
    "nothing.arrow": nothing_in_arrow,
    "sheet.xlsx": spreadsheet,
}
LIMITED = """
import resource, sys, time
import pyarrow.feather, pyarrow.parquet, pandas
import hiercomp as hc
hc.read_scores
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 1_500_000_000, used + 1_500_000_000))
began = time.process_time()
try:
    hc.read_scores(sys.argv[1])
except hc.ScoreFileError as error:
    print("refused:", error, time.process_time() - began < 30)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="measures memory as Linux does")
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_of_gigabytes_is_refused(tmp_path, name):
    path = tmp_path / name
    BOMBS[name](path)
    assert path.stat().st_size < 2.1e6
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, path], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.stdout.startswith("refused:"), ran.stdout + ran.stderr[-500:]
    assert "above the limit of" in ran.stdout
    assert "(decompressed)" in ran.stdout
    assert ran.stdout.endswith("True\n")


@pytest.mark.slow
def test_a_larger_limit_that_is_asked_for_is_the_limit(tmp_path):
    path = tmp_path / "equal.csv.gz"
    path.write_bytes(gzip_of(b"a,b,0.5\n" * 100_000, 90))  # 72 MB of 72 kB
    with pytest.raises(hc.ScoreFileError, match="above the limit of 67,108,864 bytes"):
        hc.read_scores(path)
    with pytest.raises(hc.ScoreFileError, match="above the limit of 70,000,000 bytes"):
        hc.read_scores(path, largest_bytes=70_000_000)


@pytest.mark.parametrize("packing", [None, "lz4", "zstd"])
def test_the_size_of_an_arrow_stream_is_that_of_its_buffers(packing):
    columns = {
        "score": np.random.default_rng(0).random(10_000),
        "dataset": pa.array(["iris", "wine"] * 5000),
        "coded": pa.array(["a", "b"] * 5000).dictionary_encode(),
        "absent": pa.nulls(10_000),
    }
    table, stream = pa.table(columns), io.BytesIO()
    with ipc.new_stream(stream, table.schema, options=ipc.IpcWriteOptions(compression=packing)) as writer:
        writer.write_table(table, max_chunksize=3000)
    size = unpacked_size(pa.py_buffer(stream.getvalue()))
    assert max(table.nbytes, 8 * table.num_rows * table.num_columns) <= size < 1.5 * 8 * 4 * 10_000


@pytest.mark.parametrize("packing", ["uncompressed", "lz4", "zstd"])
def test_feather_files_are_read_as_before(tmp_path, packing):
    table = pa.table({"dataset": ["a", "a", "b", "b"], "algorithm": ["x", "y"] * 2, "score": [0.1, 0.2, 0.3, 0.4]})
    feather.write_feather(table, tmp_path / "t.feather", compression=packing, chunksize=3)
    found = hc.read_scores(tmp_path / "t.feather", rho=0)
    assert found["score"].tolist() == [0.1, 0.2, 0.3, 0.4]
    assert found["dataset"].tolist() == ["a", "a", "b", "b"]


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_arrow_file_is_a_score_file_error_or_read(tmp_path, seed):
    table = pa.table(
        {"dataset": ["a", "b"] * 50, "algorithm": ["x", "x", "y", "y"] * 25, "score": np.arange(100) / 100}
    )
    path, generator = tmp_path / "t.feather", np.random.default_rng(seed)
    feather.write_feather(table, path)
    content = bytearray(path.read_bytes())
    for place in generator.integers(8, len(content), 5).tolist():
        content[place] ^= int(generator.integers(1, 256))
    path.write_bytes(content)
    with suppress(hc.ScoreFileError, hc.ScoreTableError):
        hc.read_scores(path, rho=0)
