"""Writing tables of scores to files that read back exactly: CSV, compressed CSV or Parquet."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hiercomp.errors import ResultFileError, ScoreTableError
from hiercomp.files.table import LONGEST_CELL, without_formula
from hiercomp.outputs import output_path, written_whole
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".csv.gz", ".parquet")
ROWS_AT_ONCE = 20_000
QUOTED = frozenset(',;\t|"\r\n')  # a cell with one of these stands in quotation marks, whatever the separator is


def write_scores(df: pd.DataFrame, path: str | Path, *, overwrite: bool = False) -> Path:
    r"""Write a table whose scores `hiercomp.read_scores` gives back exactly, and its other columns with ``also="*"``.

    The file appears whole or not at all. The index is not written.

    Parameters
    ----------
    df : DataFrame
        Its column names must be unique.
    path : str or Path
        Ends in ``.csv``, ``.csv.gz`` or ``.parquet``, which says what is written. The same table gives the same bytes.
    overwrite : bool
        Replace an existing file.

    Returns
    -------
    Path

    Raises
    ------
    ResultFileError
        If the file exists and ``overwrite`` is False, or it can't be written; nothing is left half-written.
    ScoreTableError
        If the table has no rows, or holds what the format can't.

    Notes
    -----
    *CSV* is UTF-8 with commas and line feeds. Numbers are written with the fewest digits that read back as the same
    float; missing values are empty cells. Text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
    return is a formula to a spreadsheet, which may run programs. It is written with an apostrophe in front, column
    names included; so is text that begins with one or more apostrophes and then one of these characters. Reading
    takes off one apostrophe from exactly such text, so every name comes back as it was.

    CSV has no types: columns of data sets and algorithms come back as text, other text that looks like numbers as
    numbers, infinite scores as the text ``inf``. *Parquet* keeps types and text as they are.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"dataset": ["iris", "=1+1"], "algorithm": ["nb", "nb"], "score": [0.95, 0.1 + 0.2]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(write_scores(scores, Path(folder, "scores.csv")).read_text())
    dataset,algorithm,score
    iris,nb,0.95
    '=1+1,nb,0.30000000000000004
    """
    import pandas as pd

    path = Path(path)
    if not isinstance(df, pd.DataFrame):
        raise ScoreTableError(f"write_scores takes a pandas.DataFrame, got {type(df).__name__}.")
    suffix = _suffix(path)
    if suffix == ".parquet":
        _refuse_names(list(df.columns))
        content = _parquet(df)
        with written_whole(path, overwrite=overwrite) as stream:
            stream.write(content)
        return path
    columns = _text_columns(df)
    with written_whole(path, overwrite=overwrite) as stream:
        _write_csv(columns, len(df), stream, suffix)
    return path


def csv_text(df: pd.DataFrame) -> str:
    """What `write_scores` writes to a file that ends in .csv."""
    content = io.BytesIO()
    _write_csv(_text_columns(df), len(df), content, ".csv")
    return content.getvalue().decode()


def check_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a name that `write_scores` would refuse, before there is a table to be lost.

    Raises
    ------
    ResultFileError
        As `write_scores` does; also if the folder can't be written to.
    """
    _suffix(path)
    output_path(path, overwrite=overwrite)


def _suffix(path: Path) -> str:
    found = next((suffix for suffix in SUFFIXES if path.name.casefold().endswith(suffix)), None)
    if found is None:
        raise ResultFileError(f"{shown(path)}: the name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}.")
    return found


def _parquet(df: pd.DataFrame) -> memoryview:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = pa.Table.from_pandas(df.reset_index(drop=True), preserve_index=False)
        content = pa.BufferOutputStream()
        parquet.write_table(table, content, write_page_checksum=True)
        return memoryview(content.getvalue())
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise ScoreTableError(f"The table can't be written as Parquet: {' '.join(str(error).split())}.") from error


def _write_csv(columns: dict[str, list[str]], rows: int, stream: BinaryIO, suffix: str) -> None:
    def lines() -> Iterator[bytes]:
        yield (",".join(columns) + "\n").encode()
        cells = list(columns.values())
        for begin in range(0, rows, ROWS_AT_ONCE):
            block = [column[begin : begin + ROWS_AT_ONCE] for column in cells]
            yield ("\n".join(map(",".join, zip(*block, strict=True))) + "\n").encode()

    if suffix == ".csv":
        stream.writelines(lines())
    else:  # neither the name nor the time: the same table gives the same bytes
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            packed.writelines(lines())


def _text_columns(df: pd.DataFrame) -> dict[str, list[str]]:
    """Every column as the cells of a CSV file."""
    _refuse_names(list(df.columns))
    if len(df) == 0 or df.shape[1] < 2:
        raise ScoreTableError(f"The table has {len(df)} rows and {df.shape[1]} columns: too few to write as CSV.")
    return {_quoted(without_formula(str(name))): _cells(df[name], str(name)) for name in df.columns}


def _refuse_names(names: list[Any]) -> None:
    text = [str(name).strip().removeprefix("\ufeff") for name in names]
    for place, (name, stripped) in enumerate(zip(names, text, strict=True)):
        if not isinstance(name, str) or not name or stripped != name or text.index(name) != place:
            raise ScoreTableError(
                f"Column name {shown(name)!r} can't be written: names must be text without outer spaces or marks, each once."
            )
        _refuse_text(name, "a column name")


def _cells(column: pd.Series, name: str) -> list[str]:
    """Numbers as repr gives them, text quoted where it must be; missing values are empty."""
    if column.dtype.kind == "f":
        return [
            "" if value != value else repr(value) for value in column.to_numpy(float, na_value=float("nan")).tolist()
        ]
    missing = column.isna().tolist()
    written: dict[str, str] = {}  # names recur: each is quoted once
    cells = []
    for value, absent in zip(column.astype(object).tolist(), missing, strict=True):
        if absent:
            cells.append("")
        elif isinstance(value, str):
            if value not in written:
                written[value] = _text_cell(value, name)
            cells.append(written[value])
        elif isinstance(value, (Number, np.number, np.bool_)):
            cells.append(str(value.item() if isinstance(value, np.generic) else value))
        else:
            cells.append(_text_cell(str(value), name))
    return cells


def _text_cell(text: str, name: str) -> str:
    _refuse_text(text, f"column {shown(name)!r}")
    return _quoted(without_formula(text))


def _refuse_text(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ScoreTableError(
            f"{place} is not valid Unicode: {shown(text[:40])!r} holds an unpaired surrogate."
        ) from None
    if "\0" in text:
        raise ScoreTableError(f"{place} holds a NUL character ({shown(text[:40])!r}), which no text table can.")
    if len(text) >= LONGEST_CELL:
        raise ScoreTableError(f"{place} holds a text of {len(text):,} characters; the limit is {LONGEST_CELL:,}.")


def _quoted(text: str) -> str:
    return text if QUOTED.isdisjoint(text) else '"' + text.replace('"', '""') + '"'
