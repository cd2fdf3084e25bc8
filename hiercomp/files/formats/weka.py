"""Results of WEKA's Experimenter, as ARFF or CSV."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.arguments import number_between, true_or_false
from hiercomp.errors import ArgumentError, DefaultedRhoWarning, Note, ScoreFileError
from hiercomp.files.formats.arff import RawTable, is_number, read_arff, read_quoted_csv
from hiercomp.files.formats.common import (
    chosen_measure,
    file_text,
    further_measures,
    names_the_file,
    need_columns,
    one_or_more,
    rho_of_folds,
)
from hiercomp.files.mapping import Spec, plain_roles, rows_kept, tidy_frame
from hiercomp.wording import first_names, shown

if TYPE_CHECKING:
    import pandas as pd

PERCENT_CORRECT = "Percent_correct"
KEYS = ("Key_Dataset", "Key_Run", "Key_Scheme")
TRAINED, TESTED = "Number_of_training_instances", "Number_of_testing_instances"
LAST_MEASURES = ("Number_of_", "Elapsed_Time", "UserCPU_Time", "Serialized_", "Time_", "Size_of", "Coverage_of", "Num_")
ESCAPED = re.compile(r"\\(['\"%\\])")  # names of data sets come escaped once more
NO_MEASURES = ("Date_time", "Summary", "Measure_", "Key_")


@names_the_file
def read_weka(
    path: str | Path,
    *,
    measure: str | None = None,
    fraction: bool = False,
    train_percent: float | None = None,
    also: str | Sequence[str] = (),
    encoding: str | None = None,
    roles: Mapping[str, Spec] | None = None,
    where: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Tidy scores of a results file of WEKA's Experimenter.

    Percentages stay percentages unless ``fraction`` is True: without it, ``Percent_correct`` needs a rope such as 1.0.
    Schemes are called by the last part of their class, "J48" for "weka.classifiers.trees.J48"; where two classes end alike
    by the whole class, and where a scheme occurs with several options, or versions, these are appended.

    Parameters
    ----------
    path : str or Path
        An ``.arff`` or ``.csv`` file, which may be compressed (``.gz``), with a row for each data set, scheme, run and fold.
    measure : str, optional
        The column of scores, such as "Area_under_ROC"; by default "Percent_correct", where the file has it.
    fraction : bool
        Divide a percentage by 100.
    train_percent : float, optional
        Percentage of the cases that a random split trains on; needed where the file has no folds and no counts of cases.
    also : str or sequence of str
        Further measures, kept as columns of their own names.
    encoding : str, optional
        By default UTF-8.
    roles, where : mapping, optional
        As for `hiercomp.read_scores`, of WEKA's columns.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and rho: the share of test cases, where the file has the numbers of
        cases, else 1/k for k folds.

    Raises
    ------
    ScoreFileError
        If the file is not such a result, with the line; if it was averaged over folds.

    Examples
    --------
    >>> import tempfile
    >>> rows = "Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Percent_correct", "iris,1,1,weka.classifiers.rules.ZeroR,32.0"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "results.csv")
    ...     _ = path.write_text(chr(10).join(rows))
    ...     read_weka(path, fraction=True)
      dataset algorithm  run  fold  score  rho
    0    iris     ZeroR    1     1   0.32  0.0
    """
    return _imported(_table(path, encoding, None), measure, fraction, train_percent, also, roles, where)


@names_the_file
def survey_weka(
    path: str | Path,
    collected: list[ScoreFileError],
    *,
    encoding: str | None = None,
    measure: str | None = None,
    **options: Any,
) -> pd.DataFrame:
    """As `read_weka`, without the rows that are wrong, whose errors are added to a list."""
    table = _table(path, encoding, collected)
    good = {}
    for line, row in table.rows.items():
        one = replace(table, rows={line: row})
        try:
            for name in table.names:
                _names(one, name) if name in (*KEYS, "Key_Fold") else _numbers(one, name) if name == (
                    measure or PERCENT_CORRECT
                ) else None
            good[line] = row
        except ScoreFileError as error:
            collected.append(error)
    return _imported(replace(table, rows=good), measure, **options)


def _table(path: str | Path, encoding: str | None, collected: list[ScoreFileError] | None) -> RawTable:
    text = file_text(path, encoding)
    first = next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("%")), "")
    read = read_arff if first.lstrip().startswith("@") else read_quoted_csv
    return read(text, shown(path), collected)


def _imported(
    table: RawTable,
    measure: str | None,
    fraction: bool = False,
    train_percent: float | None = None,
    also: str | Sequence[str] = (),
    roles: Mapping[str, Spec] | None = None,
    where: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    fraction, also = true_or_false("fraction", fraction), one_or_more("also", also)
    lacking = [key for key in KEYS if key not in table.names]
    if lacking:
        raise ScoreFileError(
            f"{table.path}: there is no column {lacking[0]!r}; it is not a result of WEKA's Experimenter.",
            remedy=f"The columns are: {first_names(table.names)}.",
        )
    # An AveragingResultProducer counts what it averages over, and prefixes only what has standard deviations
    averaged = [name for name in table.names if name.startswith("Avg_")]
    averaged += [name for name in table.names if name in ("Num_Fold", "Num_Run")]
    if averaged:
        raise ScoreFileError(
            f"{table.path}: the results are averages ({averaged[0]}), without the scores of the single folds.",
            remedy="Run the experiment with a CrossValidationResultProducer alone, not inside an AveragingResultProducer.",
        )
    if where:
        kept = rows_kept(_text_frame(table), where)
        table = replace(
            table, rows={line: row for (line, row), each in zip(table.rows.items(), kept, strict=True) if each}
        )
    measures = [name for name in table.names if not name.startswith(NO_MEASURES)]
    measures.sort(key=lambda name: name.startswith(LAST_MEASURES))  # the counts of cases are scores of nothing
    if measure is None and PERCENT_CORRECT in measures:
        measure = PERCENT_CORRECT
    measure = chosen_measure(measure, measures)
    if fraction and not measure.startswith("Percent_"):
        raise ArgumentError(
            f"fraction=True applies to percentages only; {measure!r} is not one.", remedy="Leave it out."
        )
    notes: list[Note] = []
    columns: dict[str, object] = {
        "dataset": [ESCAPED.sub(r"\1", name) for name in _names(table, "Key_Dataset")],
        "algorithm": _schemes(table),
        "run": _names(table, "Key_Run"),
        "fold": _names(table, "Key_Fold") if "Key_Fold" in table.names else [1] * len(table.rows),
        "score": _numbers(table, measure) / (100 if fraction else 1),
    }
    if "Key_Fold" in table.names:
        if train_percent is not None:
            raise ArgumentError("train_percent is for random splits, and this file has folds.", remedy="Leave it out.")
        columns["rho"], notes = _rho_of_folds(table, columns)
    else:
        columns["rho"] = _share_of_test_cases(table, train_percent, columns["dataset"])
    columns |= {other: _numbers(table, other) for other in further_measures(also, measures)}
    names = dict(zip(("dataset", "run", "algorithm"), KEYS, strict=True)) | {"score": measure}
    if roles:
        frame, given = plain_roles(_text_frame(table), roles, table.path)
        need_columns(frame, [spec for spec in given.values() if isinstance(spec, str)])
        for role, spec in given.items():
            columns[role] = frame[spec] if isinstance(spec, str) else np.full(len(frame), spec)
        if {"run", "fold"} & set(given) and "rho" not in given:
            columns["rho"] = rho_of_folds(columns["dataset"], columns["run"], columns["fold"])
    tidy = tidy_frame(columns, format_name="weka", measure=measure, notes=notes)
    tidy.attrs["mapping"] = names | {role: spec for role, spec in (roles or {}).items()}
    return tidy


def _text_frame(table: RawTable) -> pd.DataFrame:
    """The cells as text."""
    import pandas as pd

    return pd.DataFrame(
        {name: pd.Series([cell or "" for cell in table.column(name)], dtype=object) for name in table.names}
    )


def _rho_of_folds(table: RawTable, columns: Mapping[str, Any]) -> tuple[np.ndarray, list[Note]]:
    """1/k for the k folds of a run; where folds are missing, the share of the cases that each tests on."""
    by_folds = rho_of_folds(columns["dataset"], columns["run"], columns["fold"])
    try:
        share = _share_of_test_cases(table, None, columns["dataset"])
    except ScoreFileError:
        return by_folds, []
    folds = np.where(by_folds > 0, 1 / np.where(by_folds > 0, by_folds, 1), 1)
    stopped = (share > 0) & (np.abs(1 / np.where(share > 0, share, 1) - folds) > 0.5)
    if not stopped.any():
        return by_folds, []
    name = str(np.asarray(columns["dataset"], dtype=object)[stopped][0])
    text = (
        f"Data set {shown(name)!r} has {folds[stopped][0]:.0f} folds; each tests on {share[stopped][0]:.3g} of the "
        "cases: rho is that share, as folds are missing."
    )
    return np.where(stopped, share, by_folds), [Note(DefaultedRhoWarning, text)]


def _names(table: RawTable, column: str) -> list[str]:
    """Cells that must not be missing."""
    cells = table.column(column)
    if None in cells:
        raise ScoreFileError(f"{table.path}, line {list(table.rows)[cells.index(None)]}: {column} is missing.")
    return [str(cell) for cell in cells]


def _numbers(table: RawTable, column: str) -> np.ndarray:
    """Numbers, NaN where missing."""
    cells = table.column(column)
    for line, cell in zip(table.rows, cells, strict=True):
        if cell is not None and not is_number(cell):
            raise ScoreFileError(f"{table.path}, line {line}: {column} is {shown(cell)!r}, which is not a number.")
    return np.array([np.nan if cell is None else float(cell) for cell in cells])


def _schemes(table: RawTable) -> list[str]:
    """A name for each row's scheme, as short as tells it from every other: class, then options, then version."""
    scheme = _names(table, "Key_Scheme")
    options, version = (
        [_unquoted(cell or "") for cell in table.column(name)] if name in table.names else [""] * len(scheme)
        for name in ("Key_Scheme_options", "Key_Scheme_version_ID")
    )
    keys = list(zip(scheme, options, version, strict=True))
    distinct = list(dict.fromkeys(keys))
    names = {}
    for key in distinct:
        short = key[0].rsplit(".", 1)[-1]
        alike = {other[0] for other in distinct if other[0].rsplit(".", 1)[-1] == short}
        name = short if len(alike) == 1 else key[0]
        same_class = [other for other in distinct if other[0] == key[0]]
        if len({other[1] for other in same_class}) > 1:
            name = f"{name} {key[1]}".strip()
        if len({other[2] for other in same_class if other[1] == key[1]}) > 1:
            name = f"{name} ({key[2]})"
        names[key] = name
    if len(set(names.values())) < len(names):  # such as a class that ends in what another's options are
        names = {key: " ".join(part for part in key if part) for key in distinct}
    return [names[key] for key in keys]


def _unquoted(text: str) -> str:
    """Options without the quotation marks that WEKA puts around them before it quotes the cell."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text


def _share_of_test_cases(table: RawTable, train_percent: float | None, datasets: object) -> np.ndarray:
    """The correlation between random splits: the share of the cases that each tests on."""
    import pandas as pd

    if train_percent is not None:
        return np.full(len(table.rows), 1 - number_between("train_percent", train_percent, 0, 100) / 100)
    if TRAINED not in table.names or TESTED not in table.names:
        raise ScoreFileError(
            f"{table.path}: the file has neither a 'Key_Fold' column nor case counts, so rho is unknown.",
            remedy="Give the percentage trained on, such as train_percent=66.",
        )
    tested, trained = _numbers(table, TESTED), _numbers(table, TRAINED)
    # WEKA rounds the sizes of splits at random: they may differ by a case between runs
    sums = pd.DataFrame({"tested": tested, "trained": trained}).groupby(np.asarray(datasets)).transform("sum")
    share = (sums["tested"] / (sums["tested"] + sums["trained"])).to_numpy(dtype=float)
    if not np.isfinite(share).all() or (share >= 1).any():
        raise ScoreFileError(
            f"{table.path}: {TRAINED} and {TESTED} are not numbers of cases.", remedy="Give train_percent."
        )
    return np.asarray(share)
