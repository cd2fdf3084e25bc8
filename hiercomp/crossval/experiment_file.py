"""A cross-validation described by a TOML file: estimators by import path, data as files."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.arguments import refuse_without, whole_number
from hiercomp.errors import Argument, ArgumentError, ScoreFileError
from hiercomp.files.table import names_as_text, read_score_file
from hiercomp.scores.table import DECIMAL, MISSING_TEXT
from hiercomp.wording import error_in_words, first_names, nearest_name, shown, shown_value

if TYPE_CHECKING:
    import pandas as pd

ALLOWED_PACKAGES = ("sklearn",)
KEYS = ("seed", "scoring", "time_limit", "checkpoint", "output", "one_hot", "cv", "estimators", "data")
DATA_KEYS = ("file", "target", "drop", "groups")
ESTIMATOR_KEYS = ("class", "parameters", "steps")
LARGEST_FILE = 1 << 20  # bytes
# In a line, not counting decimal points in lists: the memory for a key grows with the square of its parts
MOST_DOTS = 100
DECIMAL_IN_LIST = re.compile(r"(?<=[\[,])(\s*[-+]?[0-9]*)\.([0-9]*(?:[eE][-+]?[0-9]+)?\s*)(?=[\],])")


@dataclass(frozen=True)
class Experiment:
    """The contents of an experiment file, ready for `hiercomp.cross_validate_all`.

    Attributes
    ----------
    estimators : dict from name to estimator
    data : dict from name to function
        Each function reads its file when called.
    cv : int, splitter or None
        None means the default of `cross_validate_all`.
    scoring : str or list of str
    seed : int
    time_limit : float or None
        Seconds for one cell.
    checkpoint, output : Path or None
    files : tuple of Path
        The files of the data.
    """

    estimators: dict[str, Any]
    data: dict[str, Callable[[], tuple[Any, ...]]]
    cv: Any
    scoring: str | list[str]
    seed: int
    time_limit: float | None
    checkpoint: Path | None
    output: Path | None
    files: tuple[Path, ...]


def read_experiment(
    path: str | Path,
    *,
    allow: Sequence[str] = (),
    output: str | Path | None = None,
    checkpoint: str | Path | None = None,
) -> Experiment:
    r"""Read an experiment file; nothing in it is executed, and classes come only from allowed packages.

    Parameters
    ----------
    path : str or Path
        A TOML file of at most 1 MiB; the paths in it are relative to its folder, and the output and the checkpoint must lie
        below it.
    allow : sequence of str
        Packages, besides scikit-learn, whose estimators may be imported.
    output, checkpoint : str or Path, optional
        Anywhere, in place of those that the file names.

    Returns
    -------
    Experiment

    Raises
    ------
    ScoreFileError
        If the file is missing, too large or not TOML, or a file of data is missing.
    ArgumentError
        If a key or value is unknown, a class is not allowed or not an estimator, a parameter at any depth is ``memory``
        (joblib would load pickles from there), an output is outside the folder, or scikit-learn is not installed.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... scoring = "accuracy"
    ... [cv]
    ... splitter = "RepeatedStratifiedKFold"
    ... n_splits = 5
    ... n_repeats = 2
    ... [estimators.tree]
    ... class = "sklearn.tree.DecisionTreeClassifier"
    ... parameters = { max_depth = 3 }
    ... [data.small]
    ... file = "small.csv"
    ... target = "y"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "small.csv").write_text("x,y\n1,a\n")
    ...     _ = Path(folder, "experiment.toml").write_text(text)
    ...     experiment = read_experiment(f"{folder}/experiment.toml")
    >>> experiment.estimators
    {'tree': DecisionTreeClassifier(max_depth=3)}
    """
    refuse_without("sklearn", "An experiment file", "scikit-learn", "crossval")
    path = Path(path)
    content = _parsed(path)
    _only(content, KEYS, "The experiment file")
    allowed = {*ALLOWED_PACKAGES, *(_package(name) for name in allow)}
    estimators = {
        name: _estimator(f"estimators.{shown(name)}", table, allowed)
        for name, table in _tables(content, "estimators", path).items()
    }
    for name, estimator in estimators.items():
        _refuse_set_memory(f"estimators.{shown(name)}", estimator)
    if content.get("one_hot", False) is True:
        estimators = {name: _one_hot(estimator) for name, estimator in estimators.items()}
    elif content.get("one_hot", False) is not False:
        raise ArgumentError(f"one_hot must be true or false, got {shown_value(content['one_hot'])}.")
    data = {
        name: _source(f"data.{shown(name)}", table, path.parent, content.get("one_hot", False))
        for name, table in _tables(content, "data", path).items()
    }
    return Experiment(
        estimators=estimators,
        data=data,
        cv=_splitter(content["cv"]) if "cv" in content else None,
        scoring=_scoring(content.get("scoring", "accuracy")),
        seed=content.get("seed", 0),
        time_limit=content.get("time_limit"),
        checkpoint=_written_file("checkpoint", content, path.parent, checkpoint),
        output=_written_file("output", content, path.parent, output),
        files=tuple(path.parent / table["file"] for table in content["data"].values()),
    )


def read_data(path: Path, target: str, drop: Sequence[str], groups: str | None, *, text: bool) -> tuple[Any, ...]:
    """Features, target and, if named, groups of one file.

    Parameters
    ----------
    path : Path
        CSV (also compressed) or Parquet.
    target : str
        Column of the classes or values.
    drop : sequence of str
        Columns that are not features.
    groups : str or None
        Column of the groups, for splitters that need them.
    text : bool
        Whether features may be text; if not, such features are refused by name.
    """
    # the cells of target and groups stay text: 001 is not 1, and NA is not missing
    columns = {"dataset": target} if groups is None else {"dataset": target, "algorithm": groups}
    frame = names_as_text(read_score_file(path, columns))
    taken = [*columns.values(), *drop]
    for name in taken:
        if name not in frame:
            known = [str(column) for column in frame.columns]
            raise ArgumentError(
                f"{shown(path)} has no column {shown(name)!r}.{nearest_name(name, known)} Its columns are: "
                f"{first_names(known)}."
            )
    _refuse_marks(path, frame[target])
    for role, name in columns.items():
        what = "target" if role == "dataset" else "column of groups"
        empty = int((frame[name].isna() | (frame[name].astype(str).str.strip() == "")).sum())
        if empty:
            raise ArgumentError(f"{shown(path)}: the {what} {shown(name)!r} is empty in {empty} of {len(frame)} rows.")
    features = frame.drop(columns=taken).apply(_numbers)
    if features.shape[1] == 0:
        raise ArgumentError(f"{shown(path)} has no feature columns left.")
    if not text:
        _refuse_text(path, features)
    parts = (features, _numbers(frame[target]).to_numpy())
    return parts if groups is None else (*parts, _numbers(frame[groups]).to_numpy())


def _numbers(column: pd.Series) -> pd.Series:
    """Convert to numbers if every filled cell is a number and no two texts become equal."""
    import pandas as pd

    if column.dtype.kind not in "OTU" and str(column.dtype) not in ("string", "str"):
        return column
    text = column.astype(str).str.strip()
    filled = text[(text != "") & column.notna()]
    if len(filled) == 0 or not filled.map(DECIMAL.fullmatch).astype(bool).all():
        return column
    numbers = pd.to_numeric(text.where(column.notna() & (text != "")), errors="coerce")
    return numbers if numbers.nunique() == filled.nunique() else column


def _refuse_marks(path: Path, target: pd.Series) -> None:
    """Refuse numbers with a marker such as NA among them, which would turn all of them into classes."""
    marks = target.astype(str).str.strip().str.casefold().isin(MISSING_TEXT - {""}) & target.notna()
    if marks.any() and not marks.all() and _numbers(target[~marks]).dtype.kind in "iuf":
        raise ArgumentError(
            f"{shown(path)}: the target {shown(target.name)!r} is {shown(target[marks].iloc[0])!r} in {int(marks.sum())} of "
            f"{len(target)} rows and a number in the others. Leave these rows out."
        )


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise ScoreFileError(f"{shown(path)} is above the limit of {LARGEST_FILE:,} bytes of an experiment file.")
        text = content.decode("utf-8").replace("\r\n", "\n")
        for number, line in enumerate(text.split("\n"), 1):
            if line.count(".") > MOST_DOTS and DECIMAL_IN_LIST.sub(r"\1\2", line).count(".") > MOST_DOTS:
                raise ScoreFileError(
                    f"{shown(path)}, line {number} has more than {MOST_DOTS} dots, as if a key had as many parts.",
                    remedy="Break the line where it is a list.",
                )
        return tomllib.loads(text)
    except ScoreFileError:
        raise
    except FileNotFoundError:
        raise ScoreFileError(f"{shown(path)}: there is no such file.") from None
    except OSError as error:
        raise ScoreFileError(f"{shown(path)} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ScoreFileError(f"{shown(path)} is not UTF-8 text (byte {error.start}).") from error
    except (ValueError, RecursionError) as error:  # of tomllib, and of int() for thousands of digits
        raise ScoreFileError(f"{shown(path)} is not TOML: {shown(error)}.") from error


def _written_file(key: str, content: Mapping[str, Any], folder: Path, given: str | Path | None) -> Path | None:
    """Where a file is written: as the caller says, else as the experiment file does, below its folder."""
    value = content.get(key)
    if value is not None and (not isinstance(value, str) or not value or "\0" in value):
        raise ArgumentError(f"{key} must be the name of a file, got {shown_value(value)}.")
    if given is not None or value is None:
        return None if given is None else Path(given)
    place, around = Path(os.path.realpath(folder / value)), Path(os.path.realpath(folder))
    if not place.is_relative_to(around):  # by links too
        raise ArgumentError(
            f"{key} {shown_value(value)} is outside the folder of the experiment file.",
            remedy=f"Name a file below {shown(folder)}, or pass {key}=... (--{key}).",
            arguments=(Argument(key),),
        )
    return folder / value


def _tables(content: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    tables = content.get(key)
    if not isinstance(tables, dict) or not tables or not all(isinstance(table, dict) for table in tables.values()):
        raise ArgumentError(f"{shown(path)} needs at least one table [{key}.NAME].")
    return tables


def _only(table: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise ArgumentError(
                f"{where} has an unknown key {shown(key)!r}.{nearest_name(key, keys)} It may have: {', '.join(keys)}."
            )


def _package(name: str) -> str:
    if not name.isidentifier():
        raise ArgumentError(f"A package to allow must be a name such as xgboost, got {shown(name)!r}.")
    return name


def _estimator(where: str, table: Any, allowed: Collection[str]) -> Any:
    """An estimator from a table with a class and its parameters, or a pipeline from steps."""
    from sklearn.pipeline import make_pipeline

    if not isinstance(table, dict):
        raise ArgumentError(f"{where} must be a table with a class, got {shown_value(table)}.")
    _only(table, ESTIMATOR_KEYS, where)
    if ("class" in table) == ("steps" in table):
        raise ArgumentError(f"{where} must have either a class or steps.")
    if "steps" in table:
        steps = table["steps"]
        if not isinstance(steps, list) or not steps or "parameters" in table:
            raise ArgumentError(f"{where}: steps must be a list of tables with a class each, and take no parameters.")
        return make_pipeline(*(_estimator(f"{where}.steps[{i}]", step, allowed) for i, step in enumerate(steps)))
    given = table.get("parameters", {})
    if not isinstance(given, dict):
        raise ArgumentError(f"{where}: parameters must be a table, got {shown_value(given)}.")
    kind = _class(where, table["class"], allowed)
    parameters = {name: _value(f"{where}.parameters.{shown(name)}", value, allowed) for name, value in given.items()}
    _refuse_memory(where, given)
    return _made(where, table["class"], kind, parameters)


def _value(where: str, value: Any, allowed: Collection[str]) -> Any:
    """A parameter, in which a table with a class or steps is an estimator, also within lists and other tables."""
    if isinstance(value, list):
        return [_value(f"{where}[{i}]", part, allowed) for i, part in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if "class" in value or "steps" in value:
        return _estimator(where, value, allowed)
    _refuse_memory(where, value)  # in a grid, whose keys are parameters too
    return {name: _value(f"{where}.{shown(name)}", part, allowed) for name, part in value.items()}


def _refuse_memory(where: str, names: Collection[str]) -> None:
    """Refuse what would make joblib unpickle the contents of a folder."""
    if any(name.split("__")[-1] == "memory" for name in names):
        raise ArgumentError(f"{where}: an experiment file cannot set memory, a folder from which results are loaded.")


def _refuse_set_memory(where: str, value: Any, seen: frozenset[int] = frozenset()) -> None:
    """Look for it again in what was made: in all parameters of all estimators, and in grids."""
    if id(value) in seen:
        return
    seen |= {id(value)}
    parts: list[Any] = []
    if hasattr(value, "get_params") and not isinstance(value, type):
        parameters = value.get_params(deep=False)
        _refuse_memory(where, [name for name, part in parameters.items() if part is not None])
        parts = list(parameters.values())
    elif isinstance(value, Mapping):
        _refuse_memory(where, [name for name in value if isinstance(name, str)])
        parts = list(value.values())
    elif isinstance(value, (list, tuple, set)):
        parts = list(value)
    for part in parts:
        _refuse_set_memory(where, part, seen)


def _class(where: str, name: Any, allowed: Collection[str]) -> Any:
    """A class by its import path; the package is checked before anything is imported."""
    if not isinstance(name, str) or "." not in name or not all(part.isidentifier() for part in name.split(".")):
        raise ArgumentError(f"{where}: class must be an import path such as sklearn.svm.SVC, got {shown_value(name)}.")
    package = name.split(".")[0]
    if package not in allowed:
        raise ArgumentError(
            f"{where}: {shown(name)} is not from an allowed package ({', '.join(sorted(allowed))}). If you trust "
            f"{package!r}, pass --allow {package}."
        )
    module, _, attribute = name.rpartition(".")
    try:
        holder = importlib.import_module(module)
    except Exception as error:  # whatever the module raises
        raise ArgumentError(f"{where}: {shown(name)} can't be imported: {error_in_words(error)}.") from error
    try:
        found = getattr(holder, attribute)
    except Exception as error:
        hint = nearest_name(attribute, [known for known in dir(holder) if not known.startswith("_")])
        raise ArgumentError(f"{where}: {shown(name)} can't be imported: {error_in_words(error)}.{hint}") from error
    is_estimator = isinstance(found, type) and all(hasattr(found, method) for method in ("fit", "get_params"))
    if not is_estimator or found.__module__.split(".")[0] not in allowed:
        raise ArgumentError(f"{where}: {shown(name)} is not an estimator, a class with fit and get_params.")
    return found


def _made(where: str, name: str, kind: Any, parameters: Mapping[str, Any]) -> Any:
    """Make an object of a class; the error suggests a name for a misspelt parameter."""
    try:
        return kind(**parameters)
    except Exception as error:  # whatever a constructor raises
        hint = ""
        with suppress(ValueError):  # of a class written in C
            known = list(inspect.signature(kind).parameters)
            hint = "".join(nearest_name(parameter, known) for parameter in parameters if parameter not in known)
        raise ArgumentError(
            f"{where}: {name} can't be made with these parameters: {error_in_words(error)}.{hint}"
        ) from error


def _one_hot(estimator: Any) -> Any:
    """The estimator after a one-hot encoding of every text feature."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    text = make_column_selector(dtype_exclude="number")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((encoder, text), remainder="passthrough"), estimator)


def _splitter(table: Any) -> Any:
    from sklearn import model_selection

    if not isinstance(table, dict):
        return whole_number("cv", table, 2)
    if not isinstance(table.get("splitter"), str):
        raise ArgumentError("[cv] must have a splitter, the name of a class of sklearn.model_selection.")
    known = [
        name for name, kind in vars(model_selection).items() if hasattr(kind, "get_n_splits") and name[0].isupper()
    ]
    name = table["splitter"]
    if name not in known:
        raise ArgumentError(f"[cv]: splitter {shown(name)!r} is not known.{nearest_name(name, known)}")
    parameters = {key: value for key, value in table.items() if key != "splitter"}
    return _made("[cv]", name, getattr(model_selection, name), parameters)


def _scoring(value: Any) -> str | list[str]:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"scoring must be the name of a scorer or a list of names, got {shown_value(value)}.")
    return value  # type: ignore[no-any-return]


def _source(where: str, table: Mapping[str, Any], folder: Path, text: bool) -> Callable[[], tuple[Any, ...]]:
    _only(table, DATA_KEYS, where)
    for key in ("file", "target"):
        if not isinstance(table.get(key), str):
            raise ArgumentError(f"{where} must have a {key}, as text; got {shown_value(table.get(key))}.")
    drop, groups = table.get("drop", []), table.get("groups")
    if not isinstance(drop, list) or not all(isinstance(name, str) for name in drop):
        raise ArgumentError(f"{where}: drop must be a list of columns, got {shown_value(drop)}.")
    if groups is not None and not isinstance(groups, str):
        raise ArgumentError(f"{where}: groups must be the name of a column, got {shown_value(groups)}.")
    path = folder / table["file"]
    try:
        found = path.is_file()
    except OSError:  # a name too long for a file
        found = False
    if not found:
        raise ScoreFileError(f"{where}: there is no file {shown(path)}.")
    return partial(read_data, path, table["target"], drop, groups, text=text)


def _refuse_text(path: Path, features: pd.DataFrame) -> None:
    text = [str(name) for name, kind in features.dtypes.items() if kind.kind not in "biuf"]
    if text:
        raise ArgumentError(
            f"{shown(path)}: {len(text)} features are not numbers ({first_names(text)}). Write one_hot = true into the "
            "experiment file to turn text into indicator columns, or leave them out with drop."
        )
