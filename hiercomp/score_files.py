"""Reading a file of tidy scores: CSV, compressed CSV or Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hiercomp.errors import ScoreFileError
from hiercomp.scores import DECIMAL, is_name_column, shown

if TYPE_CHECKING:
    import pandas as pd

SIGNATURES = {b"PK\x03\x04": "an Excel or zip file", b"%PDF": "a PDF file", b"\x89HDF": "an HDF5 or netCDF file"}


def read_score_file(path: str | Path, columns: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Read a table of scores; names stay text, so that ``001`` and ``NA`` are kept.

    Parameters
    ----------
    path : str or Path
        A ``.csv``, ``.csv.gz`` (UTF-8, comma) or ``.parquet`` file.
    columns : mapping, optional
        Which column is which, as for `hiercomp.scores.tidy_scores`; those of data sets and algorithms stay text.

    Returns
    -------
    DataFrame

    Raises
    ------
    ScoreFileError
        If the file is missing or can't be read as a table; the message names the line.
    """
    path = Path(path)
    if not path.exists():
        raise ScoreFileError(f"{path}: there is no such file.")
    if path.is_dir():
        raise ScoreFileError(f"{path} is a folder; name a .csv, .csv.gz or .parquet file.")
    try:
        content = path.read_bytes()
        if path.suffix == ".gz" or content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ScoreFileError(f"{path} can't be read: {str(error).rstrip('.')}.") from error
    if content.startswith(b"PAR1"):
        return _read_parquet(path, content)
    for signature, kind in SIGNATURES.items():
        if content.startswith(signature):
            raise ScoreFileError(f"{path} is not text; it looks like {kind}. Save the table as CSV or Parquet.")
    return _read_csv(path, content, {(columns or {}).get(role, "") for role in ("dataset", "algorithm")})


def _read_parquet(path: Path, content: bytes) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(io.BytesIO(content))
    except Exception as error:  # whatever a damaged file makes pyarrow and pandas raise
        raise ScoreFileError(f"{path} can't be read as Parquet: {str(error).rstrip('.')}.") from error


def _read_csv(path: Path, content: bytes, names: set[str]) -> pd.DataFrame:
    import pandas as pd

    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ScoreFileError(
            f"{path} is not {encoding.removesuffix('-sig').upper()} text (byte {error.start}). Save it as UTF-8."
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ScoreFileError(f"{path}, line {line}: holds a NUL character; the file is damaged or not text.")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    line = 1  # where the next row begins
    try:
        for row in reader:
            if not rows and len(row) == 1 and ";" in row[0]:
                raise ScoreFileError(
                    f"{path} is separated by semicolons ({shown(row[0])!r}). Save it with commas and decimal points."
                )
            if row and (len(row) > 1 or row[0].strip() or not rows):
                if rows and len(row) != len(rows[0]):
                    raise ScoreFileError(
                        f"{path}, line {reader.line_num}: {len(row)} cells where the header has {len(rows[0])}."
                        + (" Is the decimal sign a comma?" if len(row) > len(rows[0]) else "")
                    )
                rows.append(row)
            line = reader.line_num + 1
    except csv.Error as error:
        cause = "a quotation mark is never closed" if "unexpected end" in str(error) else error
        raise ScoreFileError(f"{path}, line {line}: {cause}.") from error
    if not rows or not any(cell.strip() for cell in rows[0]):
        raise ScoreFileError(f"{path} has no header: it is empty.")
    header = [cell.strip() for cell in rows[0]]
    if len(set(header)) < len(header):
        repeated = ", ".join(sorted({repr(shown(name)) for name in header if header.count(name) > 1}))
        raise ScoreFileError(f"{path}, line 1: column names occur twice: {repeated}.")
    if len(rows) == 1:
        raise ScoreFileError(f"{path} has a header but no rows.")
    columns = {
        name: list(cells) if is_name_column(name) or name in names else _numbers_if_all_are(list(cells))
        for name, cells in zip(header, zip(*rows[1:], strict=True), strict=True)
    }
    return pd.DataFrame(columns)


def _numbers_if_all_are(cells: list[str]) -> list[str] | np.ndarray:
    """Floats, NaN where empty, if every filled cell is a plain decimal number; else the text."""
    filled = [cell.strip() for cell in cells]
    if any(cell and not DECIMAL.fullmatch(cell) for cell in filled) or not any(filled):
        return cells
    return np.array([float(cell) if cell else np.nan for cell in filled])
