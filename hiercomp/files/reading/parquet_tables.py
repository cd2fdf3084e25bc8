"""Parquet files of scores, with a limit on what they unpack to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hiercomp.errors import ScoreFileError
from hiercomp.files.reading.content import is_packed, reading_errors, too_large
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MAGIC = b"PAR1"


def read_parquet(
    path: Path, file: str, blocks: Iterable[bytes | bytearray], largest: int, categorical_from: int
) -> pd.DataFrame:
    """The frame of a Parquet file.

    Parameters
    ----------
    path : Path
    file : str
        Its name, for messages.
    blocks : iterable of bytes
        Its content, which is only used where the file is packed with gzip.
    largest : int
        Limit in bytes on what it unpacks to.
    categorical_from : int
        Where it unpacks to more bytes than this, text is categorical.

    Raises
    ------
    ScoreFileError
        If it is damaged or too large.
    """
    import pyarrow as pa
    from pyarrow import parquet

    with reading_errors(file):
        packed = is_packed(path)
        content = b"".join(blocks) if packed else b""
    try:
        # a file object of Python's could be asked for by Arrow's threads while the process ends, which aborts it
        with pa.BufferReader(content) if packed else pa.OSFile(os.fsencode(path)) as source:
            metadata = parquet.read_metadata(source)
            unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            if max(unpacked, 8 * metadata.num_rows * metadata.num_columns) > largest:
                raise too_large(file, largest)
            schema = metadata.schema.to_arrow_schema()
            text = [place for place, kind in enumerate(schema.types) if kind in (pa.string(), pa.large_string())]
            source.seek(0)
            # a text that recurs is kept once until it is known how much all of them take
            table = parquet.read_table(
                source, read_dictionary=[schema.names[place] for place in text], page_checksum_verification=True
            )
        size = sum(_text_bytes(table.column(place)) for place in text)
        if size > largest:
            raise too_large(file, largest)
        if max(size, unpacked) <= categorical_from:
            for place in text:
                table = table.set_column(place, schema.field(place), table.column(place).cast(schema.types[place]))
        frame: pd.DataFrame = table.to_pandas(self_destruct=True, split_blocks=True)
    except ScoreFileError:
        raise
    except Exception as error:  # whatever a damaged file makes pyarrow and pandas raise
        raise _damaged(file, error) from error
    return frame


def parquet_names(path: Path, file: str) -> tuple[list[str], set[str]]:
    """The columns of a Parquet file, and those of them that hold no numbers, from its end alone.

    Raises
    ------
    ScoreFileError
        If it is damaged.
    """
    import pyarrow as pa
    import pyarrow.types as kinds
    from pyarrow import parquet

    try:
        with pa.OSFile(os.fsencode(path)) as source:
            schema = parquet.read_schema(source)
    except Exception as error:
        raise _damaged(file, error) from error
    numbers = {column.name for column in schema if kinds.is_integer(column.type) or kinds.is_floating(column.type)}
    return list(schema.names), set(schema.names) - numbers


def _text_bytes(column: pa.ChunkedArray) -> int:
    """Bytes that the texts of a dictionary-encoded column take when each is written out."""
    import pyarrow.compute as pc

    chunks = [pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks]
    return sum(pc.sum(pc.cast(lengths, "int64")).as_py() or 0 for lengths in chunks)


def _damaged(file: str, error: Exception) -> ScoreFileError:
    cause = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return ScoreFileError(f"{file} can't be read as Parquet: {shown(cause)}.")
