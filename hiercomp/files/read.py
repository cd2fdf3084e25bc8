"""Other tools' result files as tidy tables of scores, one file a tool."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hiercomp.errors import ArgumentError, ScoreFileError
from hiercomp.files.formats.arrays import from_score_arrays
from hiercomp.files.formats.common import LAYOUT_OPTIONS, column_roles, file_head, header_names
from hiercomp.files.formats.lm_eval import read_lm_eval
from hiercomp.files.formats.mlflow import read_mlflow
from hiercomp.files.formats.mlr3 import read_mlr3
from hiercomp.files.formats.sklearn_results import from_cross_validate, from_grid_search
from hiercomp.files.formats.tidymodels import read_tidymodels
from hiercomp.files.formats.weka import read_weka
from hiercomp.files.formats.wide import from_wide
from hiercomp.files.table import PARQUET, parquet_names, read_score_file
from hiercomp.wording import first_names, nearest_name, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "IMPORTERS",
    "from_cross_validate",
    "from_grid_search",
    "from_score_arrays",
    "from_wide",
    "read_lm_eval",
    "read_mlflow",
    "read_mlr3",
    "read_scores",
    "read_tidymodels",
    "read_weka",
]


def _read_tidy(path: str | Path, *, columns: Mapping[str, str] | None = None, **layout: Any) -> pd.DataFrame:
    """A table that is tidy already."""
    frame = read_score_file(path, columns, **layout)
    frame.attrs |= {"format": "tidy", "notes": frame.attrs.pop("notes", [])}
    return frame


def _read_grid_search(path: str | Path, *, dataset: str | None = None, **options: Any) -> pd.DataFrame:
    """``pandas.DataFrame(search.cv_results_).to_csv(path)``."""
    layout = {name: options.pop(name) for name in LAYOUT_OPTIONS if name in options}
    table = read_score_file(path, {"algorithm": "params"}, **layout)
    return from_grid_search(table, dataset=dataset, **options)


#: What reads a file of each format.
IMPORTERS: Mapping[str, Callable[..., pd.DataFrame]] = MappingProxyType(
    {
        "tidy": _read_tidy,
        "wide": from_wide,
        "weka": read_weka,
        "mlr3": read_mlr3,
        "tidymodels": read_tidymodels,
        "mlflow": read_mlflow,
        "lm_eval": read_lm_eval,
        "sklearn": _read_grid_search,
    }
)

#: Columns by which the tables of tools are recognised; a name that ends in * is the beginning of one.
TOOL_COLUMNS = {
    "weka": ("Key_Dataset", "Key_Run", "Key_Scheme"),
    "mlr3": ("task_id", "learner_id", "iteration"),
    "tidymodels": (".metric", ".estimate", "id"),
    "mlflow": ("run_id", "metrics.*"),
    "sklearn": ("params", "split0_test_*"),
}


def read_scores(
    path: str | Path | Sequence[str | Path],
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
    percent: bool = False,
    largest_bytes: int | None = None,
    **options: Any,
) -> pd.DataFrame:
    r"""Scores of a file in any of the formats of `IMPORTERS`, recognised by its content.

    Parameters
    ----------
    path : path, or sequence of paths for lm_eval
        The file; for lm_eval also several, or a folder.
    format : str
        "auto", or one of tidy, wide, weka, mlr3, tidymodels, mlflow, lm_eval, sklearn.
    columns : mapping, optional
        For tidy tables, which column is which, such as ``{"score": "auc"}``.
    encoding : str, optional
        Of text; by default UTF-8, or UTF-16 with its mark.
    separator : str, optional
        Between cells; by default a comma.
    decimal : str
        The decimal sign.
    percent : bool
        Take cells such as ``91%`` and divide them by 100.
    largest_bytes : int, optional
        Limit on the size of a table, decompressed; by default 4 GB. A text table is read in parts of 32 MB, which need
        up to 400 MB while they are at work. The table takes 4 bytes for each cell of text or of a whole number and 8 for
        each of any other number, briefly 1.5 times that: 4 GB for 100 million rows of dataset, algorithm, run, fold and
        score. In files of more than 32 MB columns of text are categorical.
    **options
        Arguments of the importer of the format, such as ``measure`` and ``fraction`` of `read_weka`.

    Returns
    -------
    DataFrame
        Tidy scores; ``attrs["format"]`` is the format that was taken, and ``attrs["notes"]`` what was left out.

    Raises
    ------
    ScoreFileError
        If the file is damaged, or its format is not recognised or not clear; the message names the formats tried.
    ArgumentError
        If an option is not one of the format.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("dataset,fold,tree,bayes\niris,1,0.9,0.8\niris,2,0.7,0.8\n")
    ...     scores = read_scores(path)
    >>> scores.attrs["format"], len(scores)
    ('wide', 4)
    """
    layout: dict[str, Any] = {"encoding": encoding, "separator": separator, "decimal": decimal, "percent": percent}
    layout["largest_bytes"] = largest_bytes
    given = {name: value for name, value in layout.items() if value not in (None, ".", False)}
    if format == "auto":
        format = recognised_format(path, columns, encoding=encoding, separator=separator, options=options)
    if format not in IMPORTERS:
        raise ArgumentError(
            f"format must be auto or one of {', '.join(IMPORTERS)}, got {shown(format)!r}.",
            remedy=nearest_name(format, IMPORTERS).strip(),
        )
    if columns:
        if format != "tidy":
            raise ArgumentError(
                f"columns is for tidy tables; the format is {format}.", remedy="Leave it out, or pass format='tidy'."
            )
        options["columns"] = columns
    _check_options(format, {**given, **options})
    if format != "lm_eval" and not isinstance(path, (str, Path)):
        raise ArgumentError(f"The format {format} is read from one file, got {len(path)}.")
    try:
        return IMPORTERS[format](path, **given, **options)
    except (RecursionError, MemoryError) as error:
        raise ScoreFileError(f"{shown(path)}: too deep or too large to be read as {format}.") from error


def recognised_format(
    path: str | Path | Sequence[str | Path],
    columns: Mapping[str, str] | None = None,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """The format of a file, by its beginning.

    Raises
    ------
    ScoreFileError
        If it is not a known one, or could be several.
    """
    if not isinstance(path, (str, Path)) or os.path.isdir(path):
        return "lm_eval"
    head = file_head(path, encoding)
    if columns:
        return "tidy"
    start = next((line.strip() for line in head.splitlines() if line.strip() and not line.startswith("%")), "")
    if start.startswith("{"):
        if '"results"' in head or len(head) > 1000:
            return "lm_eval"
        raise _unknown(path, "It is JSON without an object 'results'.")
    if start.casefold().startswith(("@relation", "@attribute")):
        return "weka"
    if head.startswith(PARQUET.decode()):
        names, text = parquet_names(Path(path), shown(path))
    else:
        names, text = header_names(head, separator), None
    return _format_of_table(path, names, text, options or {})


def takes_option(format: str, name: str) -> bool:
    """Whether the importer of a format has an argument of that name."""
    return format in IMPORTERS and name in inspect.signature(IMPORTERS[format]).parameters


def _format_of_table(path: str | Path, names: list[str], text: set[str] | None, options: Mapping[str, Any]) -> str:
    tools = [name for name, needed in TOOL_COLUMNS.items() if all(_has(names, column) for column in needed)]
    roles = column_roles(names, ("dataset", "algorithm", "run", "fold", "score"))
    tidy = {"dataset", "algorithm"} <= set(roles)
    if tools and tidy and "score" in roles:
        tools.append("tidy")
    if len(tools) > 1:
        raise _unknown(path, f"Its columns fit several formats: {', '.join(tools)}.")
    if tools:
        return tools[0]
    if tidy:
        return "tidy"
    others = [name for name in names if name not in roles.values() and name]
    if "dataset" in options or "algorithms" in options:
        return "wide"
    if "dataset" in roles and "algorithm" not in roles and "score" not in roles and len(others) >= 2:
        if text is None or not text.intersection(others):
            return "wide"
    # A file that looks tidy but lacks a column has a better message from the reader of tidy tables
    if "score" in roles and ({"dataset", "algorithm"} & set(roles) or "rho" in names):
        return "tidy"
    if len(names) < 2:
        return "tidy"
    raise _unknown(path, f"Its columns are {first_names(names)}.")


def _has(names: Sequence[str], wanted: str) -> bool:
    if wanted.endswith("*"):
        return any(name.startswith(wanted[:-1]) for name in names)
    return wanted in names


def _unknown(path: str | Path, reason: str) -> ScoreFileError:
    return ScoreFileError(
        f"{shown(path)}: the format is not clear. {reason} Known formats: {', '.join(IMPORTERS)}.",
        remedy="Name one, for instance format='weka' (--format weka).",
    )


def _check_options(format: str, options: Mapping[str, Any]) -> None:
    """Refuse an option that the importer does not have."""
    importer = from_grid_search if format == "sklearn" else IMPORTERS[format]
    taken = inspect.signature(importer).parameters
    known = [name for name, value in taken.items() if value.kind is not inspect.Parameter.VAR_KEYWORD]
    known += LAYOUT_OPTIONS if len(known) < len(taken) or format == "sklearn" else ()
    for name in options:
        if name not in known[1:]:
            remedy = f"{nearest_name(name, known[1:])} It has: {', '.join(known[1:])}.".strip()
            raise ArgumentError(f"The format {format} has no option {name!r}.", remedy=remedy)
