"""What the importers share: reading a table, finding its measure, and checking what they made of it."""

from __future__ import annotations

import codecs
import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeGuard, TypeVar

import numpy as np

from hiercomp.errors import Argument, ArgumentError, HiercompWarning, Note, ScoreFileError, ScoreTableError
from hiercomp.files.content import checked_encoding, encoding_of, file_blocks, joined, utf8_parts
from hiercomp.files.table import SEPARATORS, checked_separator, names_as_text, read_score_file
from hiercomp.scores.rho import default_rho
from hiercomp.scores.table import further_role_of, role_of, to_pandas
from hiercomp.wording import first_names, nearest_name, shown

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = "str | Path | pd.DataFrame"
P = ParamSpec("P")
R = TypeVar("R")

LAYOUT_OPTIONS = ("encoding", "separator", "decimal", "percent", "largest_bytes")
HEAD_BYTES = 1 << 20  # enough for any header, and for telling a format
LARGEST_TEXT = 256 << 20  # of files that are read as a whole, after decompression


def refuse_other_measure(known: dict[str, tuple[str, str]], task: str, measure: str, file: str) -> None:
    """Refuse a task whose scores are of another measure than in the files that were read before."""
    other, origin = known.setdefault(task, (measure, file))
    if other != measure:
        raise ScoreFileError(
            f"{file}: task {shown(task)!r} is scored by {shown(measure)!r}, and by {shown(other)!r} in {origin}.",
            remedy="Compare models by one measure; measure names it.",
        )


def different_measures(measures: Mapping[str, bool]) -> list[Note]:
    """A note where the data sets are scored by different measures; ``measures`` says of each if higher values are better.

    Raises
    ------
    ScoreTableError
        If that differs: the scores have one direction.
    """
    refuse_opposite_directions(measures)
    if len(measures) < 2:
        return []
    text = f"The data sets are scored by different measures: {first_names(sorted(measures))}."
    return [Note(HiercompWarning, text, "Are they on one scale?", key="different_measures")]


def lower_is_better_note(measures: Sequence[str]) -> Note:
    """That a table's scores are losses. It is raised and not kept with the table: its attribute says so."""
    text = f"Lower values of {first_names(measures)} are better."
    return Note(HiercompWarning, text, "Comparisons follow this (attrs['higher_is_better']).", key="loss")


def refuse_opposite_directions(higher: Mapping[str, bool]) -> None:
    """Refuse scores of opposite directions: ``higher`` says of each measure or file whether higher is better."""
    better, worse = ([name for name, best in higher.items() if best is side] for side in (True, False))
    if better and worse:
        raise ScoreTableError(
            f"Higher scores are better for {first_names(better)}, lower ones for {first_names(worse)}.",
            remedy="Read scores of one direction only; score or measure names a measure.",
            key="directions",
        )


def refuse_absent_measures(names: Iterable[str], measures: Iterable[str]) -> None:
    """Refuse further measures that no file has."""
    known = sorted(set(measures))
    for name in names:
        if name not in known:
            raise ArgumentError(
                f"There is no measure {shown(name)!r}, which groups (--groups) or also names.",
                remedy=f"{nearest_name(name, known)} There are: {first_names(known)}.".strip(),
            )


def names_the_file(importer: Callable[P, R]) -> Callable[P, R]:
    """An importer whose errors of the table name the file, where its first argument is one and not a frame."""

    @wraps(importer)
    def importing(*given: P.args, **options: P.kwargs) -> R:
        source = given[0] if given else options.get("source", options.get("path"))
        try:
            return importer(*given, **options)
        except ScoreTableError as error:
            if not isinstance(source, (str, Path)):
                raise
            raise error_of_file(str(source), error) from None

    return importing


def error_of_file(file: str, error: ScoreTableError) -> ScoreFileError:
    """The error of a table as one of the file that holds it."""
    message = f"{shown(file)}: {error.message}"
    refused = ScoreFileError(
        message, remedy=error.remedy, places=error.places, key=error.key, arguments=error.arguments
    )
    refused.table = error.table
    return refused


def files_among(paths: Sequence[str | Path], inside: Callable[[Path], Sequence[Path]], kind: str) -> list[Path]:
    """The files among paths, and those that ``inside`` finds in folders; ``kind`` is what a folder should have.

    Raises
    ------
    ScoreFileError
        If a folder has none.
    ArgumentError
        If there is no path.
    """
    files: list[Path] = []
    for given in map(Path, paths):
        if os.path.isdir(given):  # False, and no error, where a folder can't be entered
            found = inside(given)
            if not found:
                raise ScoreFileError(f"{shown(given)}: there is no {kind} in this folder.")
            files += found
        else:
            files.append(given)
    if not files:
        raise ArgumentError("path must name at least one file.")
    return list(dict.fromkeys(files))


def read_table(source: Source, names: Mapping[str, Any], layout: Mapping[str, Any]) -> pd.DataFrame:
    """A table of a file, or a copy of a frame; the columns that hold names stay text."""
    for option in layout:
        if option not in LAYOUT_OPTIONS:
            near = nearest_name(option, LAYOUT_OPTIONS)
            remedy = f"{near} Options of reading are: {', '.join(LAYOUT_OPTIONS)}.".strip()
            raise ArgumentError(f"There is no option {option!r}.", remedy=remedy)
    if not isinstance(source, (str, Path)):
        frame = to_pandas(source)
        if len(frame) == 0:
            raise ScoreTableError("The table has no rows.")
        return with_plain_names(frame)
    frame = read_score_file(source, {role: name for role, name in names.items() if name}, **layout)
    return names_as_text(frame)


def with_plain_names(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose column names are strings, all different.

    Raises
    ------
    ScoreTableError
        If two have the same name, or one is not valid Unicode.
    """
    names = [str(name) for name in frame.columns]
    repeated = sorted({shown(name) for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise ScoreTableError(
            f"Column names occur twice: {', '.join(repeated)}.", remedy="Rename or remove one of each.", key="columns"
        )
    try:
        return frame.set_axis(names, axis=1)
    except UnicodeEncodeError as error:
        raise ScoreTableError(
            f"A column name is not valid Unicode (unpaired surrogate: {shown(error.object)!r}).",
            remedy="Rename this column.",
            key="columns",
        ) from error


def need_columns(frame: pd.DataFrame, names: Iterable[str], what: str = "") -> None:
    """Refuse a table that lacks columns that were asked for, or that its format has: ``what`` names the format's table."""
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise ScoreTableError(
            f"There is no column {shown(lacking[0])!r}{f', which {what} has' if what else ''}.",
            remedy=f"The columns are: {first_names(list(frame.columns))}.",
        )


def column_roles(names: Sequence[str], roles: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Which column plays which role, as given or by its name; a role with several candidates is left out."""
    found = dict(given or {})
    for kind in (role_of, further_role_of):
        for role in roles:
            if role in found or (kind is further_role_of and role == "run" and "fold" in found):
                continue
            matches = [name for name in names if kind(name) == role and name not in found.values()]
            exact = [name for name in matches if name == role]
            if len(exact or matches) == 1:
                found[role] = (exact or matches)[0]
    return found


def stripped_roles(names: Sequence[str], prefixes: Sequence[str]) -> dict[str, str]:
    """Which column plays which role, by its name without a tool's prefix."""
    found: dict[str, str] = {}
    for prefix in prefixes:
        own = {name.removeprefix(prefix): name for name in names if name.startswith(prefix)}
        roles = column_roles(list(own), ("dataset", "algorithm", "run", "fold"))
        found = {role: own[name] for role, name in roles.items()} | found
    return found


def chosen_measure(measure: str | None, measures: Sequence[str]) -> str:
    """The measure asked for, or the only one that there is."""
    text_options(measure=measure)
    if measure is None:
        if len(measures) == 1:
            return measures[0]
        if not measures:
            raise ScoreTableError("No column holds scores.")
        raise ScoreTableError(
            f"There are {len(measures)} measures: {first_names(measures)}.",
            remedy=f"Say which with {Argument('measure', measures[0])}.",
            arguments=(Argument("measure", measures[0]),),
        )
    if measure not in measures:
        raise ArgumentError(
            f"There is no measure {shown(measure)!r}.",
            remedy=f"{nearest_name(measure, measures)} There are: {first_names(measures)}.".strip(),
        )
    return measure


def further_measures(also: str | Sequence[str], measures: Sequence[str]) -> list[str]:
    """The measures to keep beside the scores; the file must have all of them."""
    return [chosen_measure(name, measures) for name in one_or_more("also", also)]


def one_or_more(option: str, names: str | Sequence[str]) -> tuple[str, ...]:
    """A name or several."""
    listed = (names,) if isinstance(names, str) else names
    if not isinstance(listed, Sequence) or not all(isinstance(name, str) for name in listed):
        raise ArgumentError(f"{option} must be a name or a list of names, got {names!r}.")
    return tuple(listed)


def text_options(**options: object) -> None:
    """Refuse options that are neither text nor left out."""
    for option, value in options.items():
        if value is not None and not isinstance(value, str):
            raise ArgumentError(f"{option} must be a name, got {value!r}.")


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; Python's parser would keep the last of two values with the same key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = first_repeated(name for name, _ in pairs)
        raise ScoreTableError(
            f"the key {shown(repeated)!r} occurs twice in one object; one of them would be lost.",
            remedy="Remove one of them.",
        )
    return found


def is_double(value: object) -> TypeGuard[float]:
    """Whether a value of JSON is a number that a double can hold; whole numbers may be of any length there."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= sys.float_info.max)


def rho_of_folds(datasets: Any, runs: Any, folds: Any) -> np.ndarray:
    """1/k of the k folds in a run of each row's data set; 0 where there is one."""
    import pandas as pd

    frame = pd.DataFrame({"dataset": np.asarray(datasets), "run": np.asarray(runs), "fold": np.asarray(folds)})
    count = frame.groupby(["dataset", "run"])["fold"].nunique().groupby("dataset").max()
    k = frame["dataset"].map(count).to_numpy(dtype=float)
    return default_rho(k, otherwise=0.0)


def runs_and_folds(positions: np.ndarray, folds: int) -> tuple[np.ndarray, np.ndarray]:
    """Run and fold, from 1, of splits that are counted from 0 through all runs."""
    return positions // folds + 1, positions % folds + 1


def repeated_answers(most: int, what: str) -> list[Note]:
    """A note where there are several answers to a question; ``what`` is the tool's word for one."""
    if most < 2:
        return []
    text = f"There are up to {most} answers to a {what}, which are not independent."
    remedy = "Pass groups='fold' (--groups fold) to the comparison."
    return [Note(HiercompWarning, text, remedy, key="repeated_answers")]


def file_text(path: str | Path, encoding: str | None = None) -> str:
    """The whole text of a file: UTF-8, UTF-16 with a byte order mark, or the encoding given."""
    file, encoding = shown(path), checked_encoding(encoding)
    content = b"".join(file_blocks(Path(path), file, LARGEST_TEXT))
    parts = utf8_parts([content], file, encoding_of(content, file, encoding))
    return "".join(part.decode() for part, _ in parts)


def file_head(path: str | Path, encoding: str | None = None) -> str:
    """The beginning of a file as text, only to tell its format; what can't be decoded is replaced."""
    encoding = checked_encoding(encoding)
    content = next(joined(file_blocks(Path(path), shown(path), sys.maxsize), HEAD_BYTES), bytearray())
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content[:HEAD_BYTES].decode(encoding or ("utf-16" if marked else "utf-8-sig"), errors="replace")


def header_names(head: str, separator: str | None) -> list[str]:
    """The column names in the first line of a text; none where it can't be a header."""
    line = next((line for line in head.splitlines() if line.strip()), "")
    separator = checked_separator(separator)
    separators = [separator] if separator else list(SEPARATORS)
    try:
        rows = [next(csv.reader(io.StringIO(line), delimiter=mark), []) for mark in separators]
    except csv.Error:
        return []
    return [cell.strip().strip("'\ufeff") for cell in max(rows, key=len)]
