"""Tables in files that are neither text nor Parquet: Arrow and Feather, JSON records and lines, Excel and OpenDocument."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hiercomp.errors import (
    HiercompError,
    HiercompWarning,
    Note,
    ScaleWarning,
    ScoreFileError,
    ScoreTableError,
    warn_caller,
)
from hiercomp.files.arrow_messages import unpacked_size
from hiercomp.files.content import (
    BLOCK,
    LARGEST_BYTES,
    file_blocks,
    first_bytes,
    reading_errors,
    too_large,
    unpacked_limit,
)
from hiercomp.files.formats.common import (
    LARGEST_TEXT,
    error_of_file,
    file_text,
    first_repeated,
    unique_keys,
    with_plain_names,
)
from hiercomp.scores.table import is_name_column, notes_of_reading
from hiercomp.wording import counted, first_names, shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

STANDARD_INPUT = "standard input"
ARROW = (b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")
STREAM_BEGINS = 8  # bytes before the stream in an Arrow file
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
READERS = {"Excel": "openpyxl", "old Excel": "xlrd", "OpenDocument": "odfpy"}  # packages, by the kind of file


def other_table(path: str | Path, largest: int | None) -> pd.DataFrame | None:
    """The frame of a file of one of these kinds; None for any other file, and for JSON that is no table.

    Parameters
    ----------
    path : path
    largest : int, optional
        Limit on its size, decompressed.

    Raises
    ------
    ScoreFileError
        If it is damaged or too large, or its reader is not installed.
    """
    file, path = shown(path), Path(path)
    limit = LARGEST_BYTES if largest is None else largest
    start = first_bytes(path)
    kind = "old Excel" if start.startswith(OLD_EXCEL) else _document_kind(path, start)
    if kind is not None:
        return _spreadsheet(path, file, kind, limit)
    if start.startswith(ARROW):
        return _arrow(path, file, limit)
    text = bytes(start).removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"{", b"["):
        return _json(path, file, is_list=text[:1] == b"[")
    return None


def is_stream(path: Any) -> bool:
    """Whether a path is ``-`` or names a pipe, which can be read once only."""
    if not isinstance(path, (str, Path)):
        return False
    return str(path) == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path))


@contextmanager
def spooled(path: str | Path, largest: int | None = None) -> Iterator[Path]:
    """A file with what a pipe or standard input holds, which is read once; messages keep the name of the source."""
    name = STANDARD_INPUT if str(path) == "-" else shown(path)
    limit = LARGEST_BYTES if largest is None else largest
    # Windows can't remove an open file, and the traceback of an error holds the reader
    with tempfile.TemporaryDirectory(prefix="hiercomp-", ignore_cleanup_errors=True) as folder:
        file = Path(folder, "standard-input")
        with reading_errors(name), file.open("wb") as copy:
            if str(path) == "-":
                if sys.stdin is None:
                    raise ScoreFileError(f"{name} is closed.")
                _copy(sys.stdin.buffer, copy, name, limit)
            else:
                with Path(path).open("rb") as stream:
                    _copy(stream, copy, name, limit)
        try:
            with warnings.catch_warnings(record=True) as raised:
                warnings.simplefilter("always", HiercompWarning)
                yield file
        except HiercompError as error:
            renamed = type(error)(
                error.message.replace(str(file), name),
                remedy=error.remedy.replace(str(file), name),
                places=error.places,
                key=error.key,
                count=error.count,
                arguments=error.arguments,
            )
            of_table = (ScoreTableError, ScoreFileError)
            if isinstance(error, of_table) and isinstance(renamed, of_table):
                renamed.table = error.table
            raise renamed from None
        for warning in raised:
            warnings.warn(str(warning.message).replace(str(file), name), warning.category, stacklevel=4)


def renamed_notes(frame: pd.DataFrame, file: Path, path: str | Path) -> pd.DataFrame:
    """A frame whose notes name the stream instead of the file that it was copied to."""
    name = STANDARD_INPUT if str(path) == "-" else shown(path)
    notes = [replace(note, message=note.message.replace(str(file), name)) for note in notes_of_reading(frame)]
    frame.attrs["notes"] = [note.text for note in notes]
    return frame


def _copy(stream: BinaryIO, copy: BinaryIO, name: str, limit: int) -> None:
    count = 0
    while block := stream.read(BLOCK):
        count += len(block)
        if count > limit:
            raise too_large(name, limit)
        copy.write(block)


def _document_kind(path: Path, start: bytes) -> str | None:
    """Excel or OpenDocument; both are zip files."""
    if not start.startswith(b"PK\x03\x04"):
        return None
    try:
        with zipfile.ZipFile(path) as packed:
            members = packed.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return None
    if "xl/workbook.xml" in members:
        return "Excel"
    return "OpenDocument" if "content.xml" in members and "mimetype" in members else None


def _spreadsheet(path: Path, file: str, kind: str, limit: int) -> pd.DataFrame:
    import pandas as pd

    package = READERS[kind]
    if kind != "old Excel":
        with zipfile.ZipFile(path) as packed:
            limit = unpacked_limit(path.stat().st_size, limit)
            if sum(member.file_size for member in packed.infolist()) > limit:
                raise too_large(file, limit)
    try:
        # Without a header: pandas would rename the second of two columns of one name
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, na_filter=False)
    except ImportError:
        raise ScoreFileError(
            f"{file} is a file of {kind}, and reading it needs the package {package}.",
            remedy=f"Install it (pip install {package}), or save the table as CSV or Parquet.",
            key="reader",
        ) from None
    except Exception as error:  # whatever a damaged file makes the reader raise
        cause = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ScoreFileError(f"{file} can't be read as a file of {kind}: {shown(cause)}.") from error
    filled = {name: sheet for name, sheet in sheets.items() if len(sheet) > 1 and sheet.shape[1]}
    if not filled:
        raise ScoreFileError(f"{file} has a header but no rows.")
    sheet = next(iter(filled.values()))
    names = [str(cell).strip() for cell in sheet.iloc[0].tolist()]
    frame = sheet.iloc[1:]
    blank = (frame.astype(str).apply(lambda column: column.str.strip()) == "").to_numpy()
    kept = [place for place, name in enumerate(names) if name or not blank[:, place].all()]
    frame = frame.loc[~blank.all(axis=1)].reset_index(drop=True).iloc[:, kept]
    names = [names[place] or f"Unnamed: {place}" for place in kept]
    try:
        frame = with_plain_names(frame.set_axis(names, axis=1))
    except ScoreTableError as error:
        raise error_of_file(file, error) from None
    frame = pd.DataFrame({name: _typed(frame[name], name) for name in names})
    if len(filled) > 1:
        text = f"{file} has {len(filled)} sheets: {first_names([str(sheet) for sheet in filled])}; the first was read."
        note = Note(ScaleWarning, text, "Save another as a file of its own to read that.", key="sheets")
        frame.attrs["notes"] = [note.text]
        warn_caller([note])
    return frame


def _typed(column: pd.Series, name: str) -> pd.Series:
    """A column of a spreadsheet as numbers where all filled cells are; names, and all else, as text."""
    import pandas as pd

    cells = [None if isinstance(cell, str) and not cell.strip() else cell for cell in column.tolist()]
    numbers = all(cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool)) for cell in cells)
    if numbers and not is_name_column(name):
        if all(isinstance(cell, int) for cell in cells):
            return pd.Series(cells)
        return pd.Series([float("nan") if cell is None else float(cell) for cell in cells])
    whole = [
        str(int(cell)) if isinstance(cell, float) and cell.is_integer() else "" if cell is None else str(cell)
        for cell in cells
    ]
    return pd.Series(whole)


def _arrow(path: Path, file: str, limit: int) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import feather, ipc

    with reading_errors(file):
        if path.stat().st_size > limit:
            raise too_large(file, limit)
    try:
        content = b"".join(file_blocks(path, file, limit))
        if content.startswith(ARROW[1]):
            return _frame(feather.read_table(pa.BufferReader(content)))  # as stored: that format packs nothing
        # a file holds a stream, and an index of its parts, which could name others
        stream = pa.py_buffer(content if content.startswith(ARROW[2]) else content[STREAM_BEGINS:])
        limit = unpacked_limit(path.stat().st_size, limit)
        if unpacked_size(stream) > limit:
            raise too_large(file, limit)
        with ipc.open_stream(stream) as reader:
            batches = list(reader)
            table = pa.Table.from_batches(batches, reader.schema)
        if content.startswith(ARROW[0]) and ipc.open_file(content).num_record_batches != len(batches):
            raise ValueError("its index and its parts differ")
        return _frame(table)
    except ScoreFileError:
        raise
    except Exception as error:  # whatever a damaged file makes pyarrow raise
        cause = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ScoreFileError(f"{file} can't be read as Arrow or Feather: {shown(cause)}.") from error


def _frame(table: pa.Table) -> pd.DataFrame:
    """The frame of a table whose arrays point to nothing outside of it, which would crash the process."""
    table.validate(full=True)
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _json(path: Path, file: str, *, is_list: bool) -> pd.DataFrame | None:
    """The table in a list of records, in an object of columns, or in lines of records."""
    import pandas as pd

    with reading_errors(file):
        if path.suffix == ".json" and path.stat().st_size > LARGEST_TEXT:
            raise too_large(file, LARGEST_TEXT)
    text = file_text(path)
    content: Any
    try:
        content = json.loads(text, object_pairs_hook=unique_keys)
    except RecursionError:
        return None
    except ScoreTableError as error:
        raise error_of_file(file, error) from None
    except ValueError as error:
        if is_list:
            line = getattr(error, "lineno", 1)
            raise ScoreFileError(
                f"{file}, line {line}: {getattr(error, 'msg', error)}; it is not JSON, or cut short."
            ) from None
        content = _lines(text, file)
        if content is None:
            return None
    if isinstance(content, dict):
        if isinstance(content.get("data"), list) and isinstance(content.get("columns"), list):
            content = _records(content["columns"], content["data"], file)
        elif "schema" in content and isinstance(content.get("data"), list):
            content = content["data"]
        else:
            return _columns_of(content)
    if not content or not all(isinstance(record, dict) for record in content):
        raise ScoreFileError(f'{file}: it is JSON, but no list of records such as [{{"dataset": "iris", ...}}].')
    nested = any(isinstance(value, dict) for value in content[0].values())
    frame = pd.json_normalize(content) if nested else pd.DataFrame.from_records(content)
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def _records(columns: list[Any], rows: list[Any], file: str) -> list[dict[str, Any]]:
    """The records of a table whose names and rows are kept apart, as pandas writes it with ``orient="split"``."""
    names = [str(name) for name in columns]
    repeated = first_repeated(names)
    if repeated is not None:
        raise ScoreFileError(
            f"{file}: several columns are called {shown(repeated)!r}.", remedy="Rename or remove them."
        )
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list):
            raise ScoreFileError(f"{file}: row {number} of its data is not a list of cells.")
        if len(row) != len(names):
            raise ScoreFileError(
                f"{file}: row {number} of its data has {counted(len(row), 'cell')}, and the table has "
                f"{counted(len(names), 'column')}."
            )
    return [dict(zip(names, row, strict=True)) for row in rows]


def _lines(text: str, file: str) -> list[Any] | None:
    """The records of JSON lines; None for the questions of lm-evaluation-harness, and for what is no JSON lines at all."""
    records: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=unique_keys)
        except ScoreTableError as error:
            raise error_of_file(f"{file}, line {number}", error) from None
        except (ValueError, RecursionError) as error:
            if not records:
                return None
            raise ScoreFileError(
                f"{file}, line {number}: {getattr(error, 'msg', error)}; it is no record of JSON lines."
            ) from None
        if not isinstance(record, dict) or (not records and "doc_id" in record and {"doc_hash", "resps"} & set(record)):
            return None
        records.append(record)
    return records


def _results_of(content: dict[str, Any], names: tuple[str, ...] = ()) -> list[pd.DataFrame]:
    """What ``cross_validate`` returned for each algorithm, or for each data set and algorithm; empty if it is no such."""
    import pandas as pd

    found = []
    for name, value in content.items():
        if not isinstance(value, dict):
            return []
        lists = {key: cells for key, cells in value.items() if isinstance(cells, list)}
        if any(key.startswith("test_") for key in lists) and len({len(cells) for cells in lists.values()}) == 1:
            named = dict(zip(("model", "dataset"), (name, *names), strict=False))
            found.append(pd.DataFrame(lists).assign(**named))
        elif not names and (inner := _results_of(value, (name,))):
            found += inner
        else:
            return []
    return found


def _columns_of(content: dict[str, Any]) -> pd.DataFrame | None:
    """The table of an object that holds columns as lists, or as objects with the same keys; None if it holds none."""
    import pandas as pd

    values = list(content.values())
    lists = (
        bool(values) and all(isinstance(value, list) for value in values) and len({len(value) for value in values}) == 1
    )
    objects = bool(values) and all(isinstance(value, dict) for value in values)
    if lists:
        return pd.DataFrame(content)
    if objects and (nested := _results_of(content)):
        return pd.concat(nested, ignore_index=True)
    if objects and len({tuple(value) for value in values}) == 1 and all(str(key).isdecimal() for key in values[0]):
        return pd.DataFrame({name: list(value.values()) for name, value in content.items()})
    return None
