"""Results of scikit-learn: ``cross_validate``, ``cross_val_score`` and the searches of ``GridSearchCV``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hiercomp.arguments import whole_number
from hiercomp.errors import (
    Argument,
    ArgumentError,
    DefaultedRhoWarning,
    DroppedScoresWarning,
    HiercompWarning,
    Note,
    ScoreTableError,
)
from hiercomp.files.formats.arrays import Block, number_array, tidy_blocks
from hiercomp.files.formats.common import (
    Source,
    chosen_measure,
    column_roles,
    further_measures,
    names_the_file,
    read_table,
)
from hiercomp.scores.direction import named_direction
from hiercomp.scores.problems import MOST_FOLDS
from hiercomp.scores.rho import checked_rho
from hiercomp.wording import counted, first_names, shown

if TYPE_CHECKING:
    import pandas as pd

TEST = "test_"
SPLIT = re.compile(r"split(\d+)_test_(.+)")
NUMPY_NUMBER = re.compile(r"\bnp\.\w+\(([^()]*)\)")  # as NumPy 2 writes numbers: np.float64(0.1)
Scheme: TypeAlias = "tuple[int | None, float | None]"  # folds of a run, or the correlation between random splits


def from_cross_validate(
    results: Mapping[Any, Any],
    *,
    folds: int | None = None,
    cv: Any = None,
    measure: str | None = None,
    also: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Tidy scores of what ``cross_validate`` or ``cross_val_score`` returned.

    Parameters
    ----------
    results : mapping
        From data set to a mapping from algorithm to a result, or from (data set, algorithm) to a result. A result is the
        dictionary of ``cross_validate`` or the array of ``cross_val_score``, in the order of scikit-learn's splits.
    folds : int, optional
        Folds of one run; needed for repeated cross-validation unless ``cv`` is given.
    cv : int or splitter, optional
        What was passed to scikit-learn as ``cv``: it tells the folds of a run, or the share of test cases.
    measure : str, optional
        Which metric, for results of several: "accuracy" for "test_accuracy".
    also : str or sequence of str
        Further metrics, kept as columns of their own names.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and rho. Nothing is known of the scores' order beyond scikit-learn's.

    Raises
    ------
    ScoreTableError, ArgumentError
        If a result is neither, or the number of folds is not known.

    Warns
    -----
    DefaultedRhoWarning
        If neither folds nor cv is given: the scores are then taken as one run.

    Examples
    --------
    >>> results = {"iris": {"tree": {"test_score": [0.9, 0.8, 0.7, 0.6]}, "bayes": [0.8, 0.9, 0.6, 0.7]}}
    >>> from_cross_validate(results, folds=2).head(3)
      dataset algorithm  run  fold  score  rho
    0    iris      tree    1     1    0.9  0.5
    1    iris      tree    1     2    0.8  0.5
    2    iris      tree    2     1    0.7  0.5
    """
    scheme = _scheme(folds, cv)
    blocks, metrics = [], []
    for dataset, algorithm, result in _results(results):
        place = f"data set {shown(dataset)!r}, algorithm {shown(algorithm)!r}"
        scores = _metrics_of_result(result, place)
        chosen = chosen_measure(measure, list(scores))
        further = {other: scores[other] for other in further_measures(also, list(scores))}
        blocks.append((dataset, algorithm, scores[chosen], further, scheme))
        metrics.append(chosen)
    return _frame(blocks, _metric_of_all(metrics), "cross_validate")


def from_grid_search(
    results: Any,
    *,
    dataset: str | None = None,
    folds: int | None = None,
    cv: Any = None,
    rho: float | None = None,
    measure: str | None = None,
    also: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Tidy scores of every candidate of a search; candidates become algorithms, called by their parameters.

    Parameters
    ----------
    results : search, dict, DataFrame or mapping from data set to these
        A fitted ``GridSearchCV`` or the like, its ``cv_results_``, or that as a frame.
    dataset : str, optional
        Name of the data set, where results are those of one; or the column of a frame that holds the data sets of several,
        by default one called dataset, data or task.
    folds : int, optional
        Folds of one run; needed for repeated cross-validation unless ``cv`` is given or the search tells.
    cv : int or splitter, optional
        What was passed to the search as ``cv``.
    rho : float, optional
        Correlation between splits that are random: the share of test cases. Not together with folds or cv.
    measure : str, optional
        Which metric, for a search with several.
    also : str or sequence of str
        Further metrics, kept as columns of their own names.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and rho.

    Raises
    ------
    ScoreTableError, ArgumentError
        If the results are those of no search, or the number of folds is not known.

    Warns
    -----
    DroppedScoresWarning
        If a halving search is read: only candidates of its last iteration were fitted on the same cases.
    DefaultedRhoWarning
        If nothing tells the folds of a run: the splits are then taken as one run.

    Examples
    --------
    >>> found = {"params": [{"depth": 1}, {"depth": 2}], "split0_test_score": [0.7, 0.8], "split1_test_score": [0.6, 0.9]}
    >>> from_grid_search(found, dataset="iris", folds=2)
      dataset algorithm  run  fold  score  rho
    0    iris   depth=1    1     1    0.7  0.5
    1    iris   depth=1    1     2    0.6  0.5
    2    iris   depth=2    1     1    0.8  0.5
    3    iris   depth=2    1     2    0.9  0.5
    """
    if rho is not None and (folds is not None or cv is not None):
        raise ArgumentError("rho was given, and folds or cv; pass one of them.")
    rho = None if rho is None else checked_rho(rho)
    several = isinstance(results, Mapping) and not _is_search(results)
    held = None if several else _dataset_column(results, dataset)
    if held is not None:
        table = _by_dataset(results, held)
        results, several, dataset = table, True, None
    if several and dataset is not None:
        raise ArgumentError("dataset is for one search; results are a mapping from data set to search.")
    if not several and dataset is None:
        raise ArgumentError(
            "A search does not name its data set.",
            remedy="Pass dataset='iris', or a mapping from data set.",
            arguments=(Argument("dataset", "iris"),),
        )
    blocks, chosen_metrics = [], []
    notes: list[Note] = []
    for name, search in results.items() if several else [(str(dataset).removeprefix("="), results)]:
        found = _cv_results(search, str(name))
        scheme = _scheme(folds, cv) if folds is not None or cv is not None else _scheme_of_search(search)
        if rho is not None:
            scheme = None, rho
        kept, more = _last_iteration(found, str(name))
        parameters = list(found["params"])
        notes += more
        metrics = list(dict.fromkeys(match.group(2) for match in map(SPLIT.fullmatch, map(str, found)) if match))
        chosen = chosen_measure(measure, metrics)
        further = {other: _splits(found, other) for other in further_measures(also, metrics)}
        scores = _splits(found, chosen)
        chosen_metrics.append(chosen)
        for row, candidate in zip(kept, _candidates([parameters[row] for row in kept]), strict=True):
            extra = {other: values[row] for other, values in further.items()}
            blocks.append((str(name), candidate, scores[row], extra, scheme))
    return _frame(blocks, _metric_of_all(chosen_metrics), "sklearn", notes)


@names_the_file
def read_grid_search(
    source: Source,
    *,
    dataset: str | None = None,
    folds: int | None = None,
    cv: int | None = None,
    rho: float | None = None,
    measure: str | None = None,
    also: str | Sequence[str] = (),
    **layout: Any,
) -> pd.DataFrame:
    """Tidy scores of ``pandas.DataFrame(search.cv_results_).to_csv(path)``.

    Parameters
    ----------
    source : path or DataFrame
        Of one search, or of several with a column of data sets.
    dataset, folds, cv, rho, measure, also
        As for `from_grid_search`.
    **layout
        ``encoding``, ``separator`` and ``decimal`` of a file.
    """
    table = read_table(source, {"dataset": dataset or "", "algorithm": "params"}, layout)
    return from_grid_search(table, dataset=dataset, folds=folds, cv=cv, rho=rho, measure=measure, also=also)


def _dataset_column(results: Any, dataset: str | None) -> str | None:
    """The column of a frame that holds the data sets of several searches."""
    names = [str(name) for name in getattr(results, "columns", ())]
    if dataset is not None and dataset in names:
        return dataset
    held = column_roles([name for name in names if name != "params"], ("dataset",)).get("dataset")
    if dataset is not None and held is not None:
        raise ArgumentError(
            f"There is no column {shown(dataset)!r}, and it can't be the name in every row: column {held!r} holds names.",
            remedy="Leave it out.",
        )
    return held


def _by_dataset(table: Any, column: str) -> dict[str, Any]:
    nameless = int(table[column].isna().sum())
    if nameless:
        raise ScoreTableError(
            f"{counted(nameless, 'row', 'has')} no name of a data set (column {shown(column)!r}).",
            remedy="Fill it in, or remove these rows.",
        )
    return {str(name): rows.reset_index(drop=True) for name, rows in table.groupby(column, sort=False)}


def _last_iteration(found: Any, dataset: str) -> tuple[list[int], list[Note]]:
    """The rows of a search that can be compared, and how many of a halving search's others are left out."""
    count = len(found["params"])
    if "iter" not in found or "n_resources" not in found:
        return list(range(count)), []
    iteration = np.asarray(found["iter"])
    kept = np.flatnonzero(iteration == iteration.max()).tolist()
    if len(kept) == count:
        return kept, []
    text = (
        f"Left out: {count - len(kept)} of {count} rows of the halving search on {shown(dataset)!r}, from iterations on "
        "fewer cases than the last."
    )
    return kept, [Note(DroppedScoresWarning, text)]


def _frame(
    found: Sequence[tuple[str, str, np.ndarray, Mapping[str, np.ndarray], Scheme]],
    measure: str | None,
    format_name: str,
    more: Sequence[Note] = (),
) -> pd.DataFrame:
    """The frame of all scores; that the folds of a run are not known is noted once."""
    blocks, notes = list[Block](), list(more)
    if measure is not None and named_direction(measure) is False and not any((row[2] > 0).any() for row in found):
        text = f"No score called {measure!r} is above 0: scikit-learn's scorers reverse the sign of losses."
        notes.append(Note(HiercompWarning, text, f"They are called 'neg_{measure}'; higher is better.", key="negated"))
        measure = f"neg_{measure}"
    for dataset, algorithm, scores, further, (folds, rho) in found:
        count = len(scores)
        place = f"Data set {shown(dataset)!r}, algorithm {shown(algorithm)!r}"
        size = 1 if rho is not None else folds
        if size is None:
            if count > MOST_FOLDS:
                raise ScoreTableError(
                    f"{place}: {count} scores look like several runs.",
                    remedy="Pass folds=10 for runs of 10-fold cross-validation, or cv.",
                    arguments=(Argument("folds", 10),),
                )
            size = count
            if not any(note.key == "one_run" for note in notes):
                message = f"The {count} scores are taken as the folds of one run (rho = 1/{count})."
                notes.append(Note(DefaultedRhoWarning, message, "Pass folds or cv if not.", key="one_run"))
        if count == 0 or count % size:
            raise ScoreTableError(
                f"{place}: {count} scores do not make a whole number of runs of {size} folds.", remedy="Correct folds."
            )
        blocks.append((dataset, algorithm, scores, size, rho, further))
    hint = "Give each algorithm of a data set its own name."
    return tidy_blocks(blocks, format_name=format_name, measure=measure, notes=notes, duplicates=hint)


def _metric_of_all(metrics: Iterable[str]) -> str | None:
    """The metric that all results have; None where they only say "score"."""
    named = list(dict.fromkeys(metric for metric in metrics if metric != "score"))
    if len(named) > 1:
        raise ScoreTableError(
            f"The results have {len(named)} metrics: {first_names(named)}.",
            remedy="Compare results of one metric; where each data set has its own, call it 'test_score' in all.",
        )
    return named[0] if named else None


def _scheme(folds: int | None, cv: Any) -> Scheme:
    """Folds of a run, or the correlation between random splits; None where it is not known."""
    if folds is not None:
        folds = whole_number("folds", folds, 2)
        if cv is not None:
            raise ArgumentError("folds and cv were both given; pass one of them.")
        return folds, None
    if cv is None:
        return None, None
    if isinstance(cv, (int, np.integer)):
        return whole_number("cv", cv, 2), None
    if not hasattr(cv, "get_n_splits"):
        raise ArgumentError(f"cv must be a number of folds or a splitter of scikit-learn, got {type(cv).__name__}.")
    name = type(cv).__name__
    if "ShuffleSplit" in name:
        size, train = getattr(cv, "test_size", None), getattr(cv, "train_size", None)
        if size is None and train is None:
            size = getattr(cv, "_default_test_size", 0.1)
        sizes = [each for each in (size, train) if isinstance(each, (int, float, np.number))]
        whole = {isinstance(each, (int, np.integer)) for each in sizes}
        if len(sizes) == 2 and len(whole) == 1:  # both shares, or both numbers of cases
            return None, float(sizes[0] / sum(sizes))  # the share of the cases that are used
        if isinstance(size, float) and 0 < size < 1:
            return None, size
        if size is None and isinstance(train, float) and 0 < train < 1:
            return None, 1 - train
        raise ArgumentError(
            f"{name} has test_size={size!r}, which is not a share of the cases.",
            remedy="Pass a splitter with one: test_size=0.2 for a fifth of the cases.",
        )
    repeats = getattr(cv, "n_repeats", 1)
    try:
        return int(cv.get_n_splits()) // int(repeats), None
    except (TypeError, ValueError):  # leave-one-out needs the data to count its folds
        raise ArgumentError(f"{name} does not tell its number of folds.", remedy="Pass folds.") from None


def _scheme_of_search(search: Any) -> Scheme:
    """What a fitted search tells; a dictionary of results tells nothing."""
    cv = getattr(search, "cv", None)
    if hasattr(cv, "n_repeats") or "ShuffleSplit" in type(cv).__name__:
        return _scheme(None, cv)
    return getattr(search, "n_splits_", None), None


def _results(results: Any) -> Iterator[tuple[str, str, Any]]:
    if not isinstance(results, Mapping) or not results:
        raise ArgumentError("results must be a mapping such as {'iris': {'tree': cross_validate(...)}}.")
    for key, value in results.items():
        if isinstance(key, tuple):
            if len(key) != 2:
                raise ArgumentError(f"A key of results must be (data set, algorithm), got {key!r}.")
            yield str(key[0]), str(key[1]), value
        elif isinstance(value, Mapping) and not any(str(name).startswith(TEST) for name in value):
            for algorithm, result in value.items():
                yield str(key), str(algorithm), result
        else:
            raise ArgumentError(
                f"results[{key!r}] must map algorithms to results of cross_validate: {{'iris': {{'tree': ...}}}}, or "
                "take keys such as ('iris', 'tree')."
            )


def _metrics_of_result(result: Any, place: str) -> dict[str, np.ndarray]:
    """The test scores of a result by metric."""
    if isinstance(result, Mapping):
        found = {str(name).removeprefix(TEST): value for name, value in result.items() if str(name).startswith(TEST)}
        if not found:
            raise ScoreTableError(
                f"The result of {place} has no test scores: its keys are {list(map(str, result))[:6]}."
            )
    else:
        found = {"score": result}
    return {name: _numbers(value, place) for name, value in found.items()}


def _numbers(values: Any, place: str) -> np.ndarray:
    return number_array(values, f"The scores of {place} must be a one-dimensional array of numbers.")


def _is_search(results: Any) -> bool:
    return "params" in results and any(SPLIT.fullmatch(str(name)) for name in results)


def _cv_results(search: Any, dataset: str) -> Any:
    """The mapping or frame with params and split scores of a search."""
    found = getattr(search, "cv_results_", search)
    try:
        recognised = _is_search(found)
    except TypeError:
        recognised = False
    if not recognised:
        raise ScoreTableError(
            f"The search of data set {shown(dataset)!r} has no cv_results_ with params and split0_test_score.",
            remedy="Was it fitted?" if hasattr(search, "fit") else "",
        )
    return found


def _splits(found: Any, metric: str) -> np.ndarray:
    """Scores of one metric, shape (candidates, splits)."""
    matches = ((SPLIT.fullmatch(str(name)), name) for name in found)
    names = [(int(match.group(1)), name) for match, name in matches if match and match.group(2) == metric]
    numbers = [number for number, _ in sorted(names)]
    if numbers != list(range(len(numbers))):
        raise ScoreTableError(f"Splits of {shown(metric)!r} are missing: there are {numbers[:10]}, counted from 0.")
    return np.column_stack([_numbers(np.asarray(found[name]), f"column {name!r}") for _, name in sorted(names)])


def _candidates(params: Any) -> list[str]:
    """A name for each candidate, "C=1, kernel='rbf'"; equal ones are numbered."""
    entries = [_parsed(entry) for entry in params]
    names = [
        ", ".join(f"{key}={_value(value)}" for key, value in entry.items())
        if isinstance(entry, Mapping)
        else str(entry)
        for entry in entries
    ]
    if len(set(names)) < len(names):  # six digits do not tell all apart
        names = [
            ", ".join(f"{key}={value!r}" for key, value in entry.items()) if isinstance(entry, Mapping) else str(entry)
            for entry in entries
        ]
    seen: Counter[str] = Counter()
    unique = []
    for name in (name or "default" for name in names):
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return unique


def _value(value: Any) -> str:
    """A parameter's value as Python writes it; NumPy's numbers as plain ones, of six digits."""
    if isinstance(value, np.generic):
        value = value.item()
    return f"{value:.6g}" if isinstance(value, float) and value % 1 else repr(value)


def _parsed(entry: Any) -> Any:
    """A dictionary of parameters, also where a file holds its text."""
    if not isinstance(entry, str) or not entry.startswith("{"):
        return entry
    entry = NUMPY_NUMBER.sub(r"\1", entry)
    try:
        return ast.literal_eval(entry)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # such as an estimator among the parameters
        return entry
