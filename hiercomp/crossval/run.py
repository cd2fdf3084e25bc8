"""Paired cross-validation of many estimators on many data sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.arguments import number_of_jobs, one_of, true_or_false, whole_number
from hiercomp.crossval.cells import Cell, CellResult, Work, run_cells
from hiercomp.crossval.splits import Data, Splits, assumption_note, draw_splits, load_data, seeded
from hiercomp.crossval.store import CellStore, fingerprint
from hiercomp.errors import ArgumentError, EngineError, FailedCellsWarning, Note, warn_caller
from hiercomp.scores.table import ROLES
from hiercomp.wording import counted, error_in_words, nearest_name, normal_name, shown
from hiercomp.workers import LARGEST_TASK_SEED, Progress, dask_backend, progress_bar

if TYPE_CHECKING:
    import pandas as pd
    from dask.distributed import Client

RUNS, FOLDS = 10, 10
FAILURES_SHOWN = 5
OWN_COLUMNS = (*ROLES, "fit_time", "score_time", "error")


def cross_validate_all(
    estimators: Mapping[str, Any],
    data: Mapping[str, Any],
    *,
    cv: Any = None,
    scoring: Any = "accuracy",
    n_jobs: int | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool = True,
    on_error: str = "record",
    dask: str | Client | None = None,
) -> pd.DataFrame:
    """Cross-validate every estimator on every data set, on the same folds, and return a table that is ready to compare.

    Parameters
    ----------
    estimators : mapping from name to estimator
        Estimators of scikit-learn, or compatible ones, including pipelines. They are cloned, never fitted themselves.
        Random states that are None are set for each cell from ``seed``.
    data : mapping from name to (X, y), (X, y, groups) or a function
        A function without arguments returns one of these; it is called when the data set is needed, and its data are
        released afterwards.
    cv : int, splitter or iterable, optional
        As in scikit-learn; ``RepeatedStratifiedKFold(n_splits=10, n_repeats=10)`` by default. If its random state is
        None, ``seed`` is used. The folds of a data set are drawn once.
    scoring : str, callable, or list or mapping of them
        As in scikit-learn: higher values are better. With several scorers, the table has a column for each.
    n_jobs : int, optional
        Cells to run in parallel, as joblib counts: None is 1, or the value of an active ``joblib.parallel_config``; -1
        is all cores.
    seed : int
        For folds and estimators, from 0 to 2^31 - 1.
    checkpoint : str or Path, optional
        A file that saves every finished cell. If it exists, its cells are not computed again, except those that failed.
        It is refused if it was written with other estimators, data, folds, scoring, seed or versions.
    progress : bool
        Show a progress bar with the time left, on a terminal or in a notebook.
    on_error : {"record", "raise"}
        How to treat a cell whose estimator fails: "record" keeps it in the table without a score and continues; "raise"
        stops with an error.
    dask : str or dask.distributed.Client, optional
        Scheduler to run on.

    Returns
    -------
    DataFrame
        A row for each cell, in the order of data sets, runs, folds and estimators: dataset, algorithm, run and fold (from
        1), score (or one column for each scorer), rho (the correlation between two scores of the data set: 1/k for k-fold
        cross-validation, the share of test cases for hold-out), fit_time and score_time in seconds; error, if cells
        failed.

    Raises
    ------
    ArgumentError
        If an argument is wrong, or the data can't be split.
    ResultFileError
        If the checkpoint was written for a different experiment, is damaged, or can't be written.
    EngineError
        If a cell fails and ``on_error`` is "raise", all of them fail, or the connection to Dask is lost.

    Warns
    -----
    FailedCellsWarning
        If cells failed; says how many and where.
    DefaultedRhoWarning
        If rho relies on an assumption, as for groups and time series.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.model_selection import RepeatedStratifiedKFold
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> scores = cross_validate_all(
    ...     {"naive_bayes": GaussianNB(), "decision_tree": DecisionTreeClassifier()},
    ...     {"iris": load_iris(return_X_y=True), "wine": lambda: load_wine(return_X_y=True)},
    ...     cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=2),
    ... )
    >>> scores.groupby(["dataset", "algorithm"])["score"].mean().round(2)["wine", "naive_bayes"]
    np.float64(0.97)
    >>> scores.shape, scores["rho"].unique()
    ((40, 8), array([0.2]))
    """
    estimators = _checked_estimators(estimators)
    data = _by_name("data", data)
    scorers, scorer = _checked_scorers(scoring, estimators)
    true_or_false("progress", progress)
    one_of("on_error", on_error, ("record", "raise"))
    n_jobs = number_of_jobs(n_jobs)
    run = CrossValidation(estimators, tuple(scorers), scorer, _splitter(cv, seed), seed, on_error)
    for name, source in list(data.items())[1:]:  # the turn of the first comes at once
        if not callable(source):
            run.check(name, source)  # before the first cell, not hours later
    store = None
    if checkpoint is not None:
        if not isinstance(checkpoint, str | Path) or "\0" in str(checkpoint) or str(checkpoint) in ("", ":memory:"):
            raise ArgumentError(f"checkpoint must be the name of a file, got {shown(checkpoint)!r}.")
        store = CellStore(checkpoint, fingerprint(estimators, list(data), run.cv, scorers, seed))
    with (
        nullcontext() if store is None else closing(store),
        dask_backend(dask),
        progress_bar("Cross-validating", shown=progress, parts=len(data), unit="cells") as bar,
    ):
        for name, source in data.items():
            run.add(name, load_data(name, source), n_jobs=n_jobs, store=store, progress=bar)
    table = run.table()
    warn_caller(run.notes())
    return table


def check_data(estimators: Mapping[str, Any], data: Mapping[str, Any], *, cv: Any = None, seed: int = 0) -> None:
    """Load every data set and draw its folds before the first cell: an error in the last one then can't end a long run.

    Raises
    ------
    HiercompError
        The same errors as in `cross_validate_all`.
    """
    run = CrossValidation(_checked_estimators(estimators), (), None, _splitter(cv, seed), seed, "record")
    for name, source in _by_name("data", data).items():
        run.check(name, source)


@dataclass
class CrossValidation:
    """A run: its settings and its results so far.

    Attributes
    ----------
    estimators : dict
    scorers : tuple of str
        Their names.
    scorer : callable
        Scikit-learn's for all of them.
    cv : int, splitter or list
    seed : int
    on_error : str
    rows : list of dict
        Of the table.
    assumptions : dict from str to Note
        Notes about rho, one for each kind.
    damaged : int
        Cells of the checkpoint that failed their checksum.
    """

    estimators: dict[str, Any]
    scorers: tuple[str, ...]
    scorer: Any
    cv: Any
    seed: int
    on_error: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    assumptions: dict[str, Note] = field(default_factory=dict)
    damaged: int = 0

    def check(self, dataset: str, source: Any) -> None:
        """Refuse a data set that can't be loaded or split."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they come again when its turn comes
            self.splits(dataset, load_data(dataset, source))

    def splits(self, dataset: str, data: Data) -> Splits:
        """The folds of a data set."""
        from sklearn.base import is_classifier

        classifier = all(is_classifier(estimator) for estimator in self.estimators.values())
        return draw_splits(dataset, data, self.cv, classifier=classifier)

    def add(self, dataset: str, data: Data, *, n_jobs: int | None, store: CellStore | None, progress: Progress) -> None:
        """Compute all cells of one data set, except those in the checkpoint."""
        from sklearn import get_config

        splits = self.splits(dataset, data)
        if splits.assumption is not None:
            self.assumptions.setdefault(splits.assumption, assumption_note(splits, dataset))
        cells = {
            Cell(dataset, run, fold, name): place
            for place, (run, fold) in enumerate(zip(splits.runs, splits.folds, strict=True))
            for name in self.estimators
        }
        results: dict[Cell, CellResult] = {}
        if store is not None:
            store.require(dataset, {"data": data.digest, "folds": splits.digest})
            finished, damaged = store.finished(dataset)
            results = {cell: result for cell, result in finished.items() if cell in cells}
            self.damaged += damaged
        progress.begin(len(cells), len(results))
        left = {cell: place for cell, place in cells.items() if cell not in results}
        works = {name: Work(estimator, self.scorer, get_config()) for name, estimator in self.estimators.items()}
        computed = run_cells(data, splits, left, works, self.seed, n_jobs=n_jobs, one_by_one=store is not None)
        with closing(computed):
            for cell, result in computed:
                if result.error is not None and self.on_error == "raise":
                    raise EngineError(
                        f"The cell of {_place(self._row(cell, result, splits.rho))} failed: {result.error}."
                    )
                results[cell] = result
                if store is not None:
                    store.add(cell, result)
                progress.add(failed=result.error is not None)
        self.rows += [self._row(cell, results[cell], splits.rho) for cell in cells]

    def table(self) -> pd.DataFrame:
        """The tidy table; it has a column of errors only if there are any."""
        import pandas as pd

        frame = pd.DataFrame(self.rows)
        if frame["error"].notna().all():
            raise EngineError(
                f"All {len(frame)} cells failed. The first, {_place(self.rows[0])}: {frame['error'].iloc[0]}."
            )
        return frame if frame["error"].notna().any() else frame.drop(columns="error")

    def notes(self) -> Iterator[Note]:
        """Warnings about the table."""
        yield from self.assumptions.values()
        if self.damaged:
            text = f"{counted(self.damaged, 'cell', 'was')} damaged in the checkpoint and computed again."
            yield Note(FailedCellsWarning, text, key="damaged cells")
        failed = [row for row in self.rows if row["error"] is not None]
        if not failed:
            return
        alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in failed:
            alike.setdefault((row["algorithm"], row["error"]), []).append(row)
        listed = "; ".join(
            f"{_place(rows[0])}: {error}{f' ({len(rows)} times)' if len(rows) > 1 else ''}"
            for (_, error), rows in list(alike.items())[:FAILURES_SHOWN]
        )
        rest = len(failed) - sum(len(rows) for rows in list(alike.values())[:FAILURES_SHOWN])
        more = f"; and {rest} more" if rest else ""
        text = f"{len(failed)} of {len(self.rows)} cells failed and have no score ({listed}{more})."
        yield Note(
            FailedCellsWarning, text, places=tuple(dict.fromkeys(row["dataset"] for row in failed)), key="failed cells"
        )

    def _row(self, cell: Cell, result: CellResult, rho: float) -> dict[str, Any]:
        names = ("score",) if len(self.scorers) == 1 else self.scorers
        scores = result.scores or (float("nan"),) * len(names)
        return {
            "dataset": cell.dataset,
            "algorithm": cell.estimator,
            "run": cell.run,
            "fold": cell.fold,
            **dict(zip(names, scores, strict=True)),
            "rho": rho,
            "fit_time": result.fit_time,
            "score_time": result.score_time,
            "error": result.error,
        }


def _splitter(cv: Any, seed: int) -> Any:
    """The splitter with its random state set."""
    whole_number("seed", seed, 0, LARGEST_TASK_SEED)
    if isinstance(cv, type):
        raise ArgumentError(f"cv must be a splitter, got the class {cv.__name__}. Pass {cv.__name__}().")
    if cv is None:
        from sklearn.model_selection import RepeatedStratifiedKFold

        cv = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=RUNS)
    elif hasattr(cv, "__next__"):
        cv = list(cv)  # an iterator would be spent on the first data set
    return seeded(cv, seed)


def _place(row: Mapping[str, Any]) -> str:
    names = f"data set {shown(row['dataset'])!r}, estimator {shown(row['algorithm'])!r}"
    return f"{names}, run {row['run']}, fold {row['fold']}"


def _checked_estimators(estimators: Mapping[str, Any]) -> dict[str, Any]:
    """The estimators by normalised name."""
    from sklearn.base import clone, is_classifier

    named = _by_name("estimators", estimators)
    for name, estimator in named.items():
        try:
            clone(estimator).get_params(deep=True)
            is_classifier(estimator)
        except Exception as error:  # whatever it raises; better now than on every cell
            raise ArgumentError(
                f"estimators[{name!r}]: scikit-learn cannot clone it: {error_in_words(error)}."
            ) from error
        if not hasattr(estimator, "fit"):
            raise ArgumentError(f"estimators[{name!r}] must be an estimator with fit, got {estimator!r}.")
    return named


def _checked_scorers(scoring: Any, estimators: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The scorers by column name as given, and scikit-learn's scorer for all of them."""
    from sklearn.metrics import check_scoring, get_scorer_names

    if isinstance(scoring, set | frozenset):
        raise ArgumentError(f"scoring must be a list, because the order counts, got {scoring!r}.")
    asked: Any
    if isinstance(scoring, Mapping):
        asked = named = _by_name("scoring", scoring)
    elif isinstance(scoring, Sequence) and not isinstance(scoring, str):
        asked, named = scoring, {name: name for name in scoring if isinstance(name, str)}
    else:
        asked = named = {"score": scoring}
    try:
        scorer = check_scoring(next(iter(estimators.values())), scoring=asked)
    except (ValueError, TypeError) as error:
        known = get_scorer_names()
        unknown = [name for name in named.values() if isinstance(name, str) and name not in known]
        if unknown:  # scikit-learn's message is a list of all names
            raise ArgumentError(
                f"scoring: scikit-learn has no scorer {unknown[0]!r}.{nearest_name(unknown[0], known)}",
                remedy="sklearn.metrics.get_scorer_names() lists the names.",
            ) from error
        raise ArgumentError(f"scoring={scoring!r} is refused by scikit-learn: {error}") from error
    for name in named:
        if name in OWN_COLUMNS and (len(named) > 1 or name != "score"):
            raise ArgumentError(f"scoring can't have a scorer called {name!r}: the table has a column of that name.")
    return named, scorer


def _by_name(argument: str, values: Any) -> dict[str, Any]:
    """The contents of a mapping by normalised name."""
    if not isinstance(values, Mapping) or not values:
        what = "an empty mapping" if isinstance(values, Mapping) else type(values).__name__
        raise ArgumentError(f"{argument} must be a mapping with at least one name, got {what}.")
    named = {}
    for key, value in values.items():
        name = normal_name(key)
        if not isinstance(key, str) or not name:
            raise ArgumentError(f"{argument}: names must be non-empty strings, got {key!r}.")
        if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
            raise ArgumentError(
                f"{argument} has a name with characters that can't be written to a file: {shown(name)!r}."
            )
        if name in named:
            raise ArgumentError(
                f"{argument} has two names that differ only by outer spaces or Unicode form: {shown(name)!r}."
            )
        named[name] = value
    return named
