"""How much the messages of an Arrow stream hold when they are unpacked, from their headers alone."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Fields of the tables Message, DictionaryBatch and RecordBatch in Arrow's format/Message.fbs
KIND, HEADER = 1, 2
OF_DICTIONARY = 1
LENGTH, NODES, BUFFERS, PACKED = 0, 1, 2, 3
PARTS_OF_SCHEMA, DICTIONARY, ROWS = 1, 2, 3  # kinds of messages


def unpacked_size(stream: pa.Buffer) -> int:
    """Bytes of all arrays of a stream, unpacked, each cell counted as 8 bytes at least.

    Raises
    ------
    ValueError, struct.error, pyarrow.ArrowException
        If it is damaged.
    """
    from pyarrow import ipc

    total = 0
    for message in ipc.MessageReader.open_stream(stream):
        metadata, body = memoryview(message.metadata), message.body
        place = _table(metadata, 0)
        kind = metadata[_field(metadata, place, KIND)]
        if kind == PARTS_OF_SCHEMA:
            continue
        if kind not in (DICTIONARY, ROWS):
            raise ValueError("a message that holds no rows")
        batch = _table(metadata, _field(metadata, place, HEADER))
        if kind == DICTIONARY:
            batch = _table(metadata, _field(metadata, batch, OF_DICTIONARY))
        total += _batch_size(metadata, batch, memoryview(body) if body is not None else memoryview(b""))
    return total


def _batch_size(metadata: memoryview, batch: int, body: memoryview) -> int:
    length = _field(metadata, batch, LENGTH)
    rows = struct.unpack_from("<q", metadata, length)[0] if length else 0
    nodes, _ = _vector(metadata, _field(metadata, batch, NODES))
    count, first = _vector(metadata, _field(metadata, batch, BUFFERS))
    packed, size = _field(metadata, batch, PACKED), 0
    for number in range(count):
        offset, stored = struct.unpack_from("<qq", metadata, first + 16 * number)
        unpacked = struct.unpack_from("<q", body, offset)[0] if packed and stored else -1
        size += stored if unpacked < 0 else unpacked
    return max(size, 8 * rows * nodes)


def _table(metadata: memoryview, reference: int) -> int:
    """Where a table is, from the place that refers to it."""
    return int(reference + struct.unpack_from("<I", metadata, reference)[0])


def _field(metadata: memoryview, table: int, number: int) -> int:
    """Where a field of a table is; 0 if it is absent."""
    positions = table - struct.unpack_from("<i", metadata, table)[0]
    size = struct.unpack_from("<H", metadata, positions)[0]
    entry = 4 + 2 * number
    found = struct.unpack_from("<H", metadata, positions + entry)[0] if entry < size else 0
    return int(table + found) if found else 0


def _vector(metadata: memoryview, field: int) -> tuple[int, int]:
    """Length and place of a vector, from the field that refers to it."""
    if not field:
        return 0, 0
    place = _table(metadata, field)
    return int(struct.unpack_from("<I", metadata, place)[0]), place + 4
