"""Paired cross-validation of many estimators on many data sets."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.arguments import (
    number_between,
    number_of_jobs,
    one_of,
    refuse_without,
    true_or_false,
    whole_number,
)
from hiercomp.crossval.cells import Cell, CellResult, Work, run_cells
from hiercomp.crossval.limited import LimitedProcesses, too_long
from hiercomp.crossval.routing import Route, routes
from hiercomp.crossval.splits import Data, Splits, assumption_note, draw_splits, load_data, seeded, unused_note
from hiercomp.crossval.store import CellStore, fingerprint
from hiercomp.errors import ArgumentError, EngineError, EstimatorWarning, FailedCellsWarning, Note, warn_caller
from hiercomp.scores.table import ROLES
from hiercomp.wording import counted, error_in_words, is_unwritable, nearest_name, normal_name, shown
from hiercomp.workers import LARGEST_TASK_SEED, Progress, active_client, dask_backend, progress_bar

if TYPE_CHECKING:
    import pandas as pd
    from dask.distributed import Client

RUNS, FOLDS = 10, 10
FAILURES_SHOWN = 5
SECONDS_BETWEEN_LOOKS = 0.25  # at the cells of other processes
OWN_COLUMNS = (*ROLES, "rho", "fit_time", "score_time", "warnings", "error")


def cross_validate_all(
    estimators: Mapping[str, Any],
    data: Mapping[str, Any],
    *,
    cv: Any = None,
    scoring: Any = "accuracy",
    n_jobs: int | None = None,
    time_limit: float | None = None,
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
    data : mapping from name to (X, y), (X, y, groups), a Bunch or a function
        Where X is a frame, y and groups may be names of its columns. A Bunch is what functions such as `load_iris` return.
        A dict may stand at the end, as in ``(X, y, {"sample_weight": weights})``: these are the ``params`` of
        scikit-learn's `cross_validate`. Values with an entry for each row are indexed by fold, and all go to fit, or where
        they are requested if metadata routing is enabled. A function without arguments returns one of these; it is called
        when the data set is needed, and its data are released afterwards.
    cv : int, splitter or iterable, optional
        As in scikit-learn; ``RepeatedStratifiedKFold(n_splits=10, n_repeats=10)`` by default, but required for
        regressors. If its random state is None, ``seed`` is used. The folds of a data set are drawn once.
    scoring : str, callable, or list or mapping of them
        As in scikit-learn: higher values are better. Required for regressors. With several scorers, or one that returns a
        dict, the table has a column for each score.
    n_jobs : int, optional
        Cells to run in parallel, as joblib counts: None is 1, or the value of an active ``joblib.parallel_config``; -1
        is all cores.
    time_limit : float, optional
        Seconds for fitting and scoring one cell. A cell that takes longer fails, and the run goes on. Cells then always run
        in other processes, even a single one; a Dask cluster is refused.
    seed : int
        For folds and estimators, from 0 to 2^31 - 1.
    checkpoint : str or Path, optional
        A file that saves every finished cell. If it exists, its cells are not computed again, except those that failed.
        More estimators and data sets may be added; an estimator, data set, splitter, scorer, seed or version that has
        changed is refused. Several processes of one machine that use the same file share the work.
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
        cross-validation, the share of test cases for hold-out), fit_time and score_time in seconds; warnings, the number
        that the estimator raised, if there are any; error, if cells failed.

    Raises
    ------
    ArgumentError
        If an argument is wrong, the data can't be split, or scikit-learn is not installed.
    ResultFileError
        If something in the checkpoint has changed under the same name, or it is damaged or can't be written.
    EngineError
        If a cell fails and ``on_error`` is "raise", all of them fail, or the connection to Dask is lost.

    Warns
    -----
    FailedCellsWarning
        If cells failed; says how many and where.
    EstimatorWarning
        If estimators raised warnings; says which, and in how many cells.
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
    refuse_without("sklearn", "cross_validate_all", "scikit-learn", "crossval")
    from joblib import effective_n_jobs

    true_or_false("progress", progress)
    one_of("on_error", on_error, ("record", "raise"))
    n_jobs = number_of_jobs(n_jobs)
    if time_limit is not None:
        number_between("time_limit", time_limit, 0, float("inf"))
        if dask is not None or active_client() is not None:
            raise ArgumentError(
                "time_limit can't be used on a Dask cluster, whose workers can't stop a single cell.",
                remedy="Run without Dask, or give the estimators limits of their own.",
            )
    run = _prepared(estimators, cv, scoring, seed, on_error)
    data = _by_name("data", data)
    for name, source in list(data.items())[1:]:  # the turn of the first comes at once
        if not callable(source):
            run.check(name, source)  # before the first cell, not hours later
    store = None
    if checkpoint is not None:
        if not isinstance(checkpoint, str | Path) or "\0" in str(checkpoint) or str(checkpoint) in ("", ":memory:"):
            raise ArgumentError(f"checkpoint must be the name of a file, got {shown(checkpoint)!r}.")
        settings = fingerprint(run.estimators, run.cv, run.scoring, seed)
        store = CellStore(checkpoint, settings, final="" if time_limit is None else too_long(time_limit))
    with (
        nullcontext() if store is None else closing(store),
        dask_backend(dask),
        nullcontext() if time_limit is None else LimitedProcesses(time_limit, effective_n_jobs(n_jobs)) as processes,
        progress_bar("Cross-validating", shown=progress, parts=len(data), unit="cells") as bar,
    ):
        how = How(n_jobs, processes, store, bar)
        for name, source in data.items():
            run.add(name, load_data(name, source), how)
        while waiting := run.unfinished():  # for other processes
            for name in waiting:
                run.look_again(name, data[name], how)
            time.sleep(SECONDS_BETWEEN_LOOKS)
    table = run.table()
    warn_caller(run.notes())
    return table


def check_data(
    estimators: Mapping[str, Any], data: Mapping[str, Any], *, cv: Any = None, scoring: Any = "accuracy", seed: int = 0
) -> None:
    """Load every data set and draw its folds before the first cell: an error in the last one then can't end a long run.

    Raises
    ------
    HiercompError
        The same errors as in `cross_validate_all`.
    """
    run = _prepared(estimators, cv, scoring, seed, "record")
    for name, source in _by_name("data", data).items():
        run.check(name, source)


@dataclass(frozen=True)
class How:
    """How cells are computed: the scores do not depend on it.

    Attributes
    ----------
    n_jobs : int or None
    processes : LimitedProcesses or None
        Where there is a time limit.
    store : CellStore or None
    progress : Progress
    """

    n_jobs: int | None
    processes: LimitedProcesses | None
    store: CellStore | None
    progress: Progress


@dataclass
class CrossValidation:
    """A run: its settings and its results so far.

    Attributes
    ----------
    estimators : dict
    scoring : dict
        The scorers by name, as given.
    scorer : callable
        Scikit-learn's for all of them.
    cv : int, splitter or list
    seed : int
    on_error : str
    cells : dict from str to tuple of Cell
        By data set, in the order of the table.
    rho : dict from str to float
        By data set.
    results : dict from Cell to CellResult
    assumptions : dict from str to dict from str to float
        By what is assumed of rho: rho, by data set.
    unused : dict from str to int
        By data set, the rows that no fold uses.
    damaged : int
        Cells of the checkpoint that failed their checksum.
    """

    estimators: dict[str, Any]
    scoring: dict[str, Any]
    scorer: Any
    cv: Any
    seed: int
    on_error: str
    cells: dict[str, tuple[Cell, ...]] = field(default_factory=dict)
    rho: dict[str, float] = field(default_factory=dict)
    results: dict[Cell, CellResult] = field(default_factory=dict)
    assumptions: dict[str, dict[str, float]] = field(default_factory=dict)
    unused: dict[str, int] = field(default_factory=dict)
    damaged: int = 0

    def check(self, dataset: str, source: Any) -> None:
        """Refuse a data set that can't be loaded or split."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they come again when its turn comes
            self.split(dataset, load_data(dataset, source))

    def split(self, dataset: str, data: Data) -> tuple[Splits, dict[str, Route]]:
        """The folds of a data set, and where its parameters go, by estimator."""
        from sklearn.base import is_classifier, is_regressor
        from sklearn.model_selection import check_cv

        # One that says neither, beside classifiers, is taken for a classifier: without strata the folds of sorted classes
        # would be worthless to all
        estimators = self.estimators.values()
        classifier = any(map(is_classifier, estimators)) and not any(map(is_regressor, estimators))
        splitter = check_cv(self.cv, data.y, classifier=classifier) if data.params else None
        routed_to = routes(dataset, data.params, self.estimators, self.scorer, splitter)
        routed = next(iter(routed_to.values())).split
        return draw_splits(dataset, data, self.cv, classifier=classifier, routed=routed), routed_to

    def add(self, dataset: str, data: Data, how: How) -> None:
        """Compute all cells of one data set, except those in the checkpoint and those that other processes claimed."""
        splits, routed_to = self.split(dataset, data)
        if splits.assumption is not None:
            self.assumptions.setdefault(splits.assumption, {})[dataset] = splits.rho
        if splits.unused:
            self.unused[dataset] = splits.unused
        places = _places(dataset, splits, self.estimators)
        self.cells[dataset], self.rho[dataset] = tuple(places), splits.rho
        if how.store is not None:
            how.store.require({("data set", dataset): {"data": data.digest, "folds": splits.digest}})
            found, damaged = how.store.finished(dataset)
            for cell in places:
                if cell in found:
                    self._keep(cell, found[cell])
            self.damaged += damaged
        left = [cell for cell in places if cell not in self.results]
        how.progress.begin(len(places), len(places) - len(left))
        if left:
            self._compute(left, places, data, splits, routed_to, how)

    def unfinished(self) -> list[str]:
        """Data sets with cells that another process had claimed."""
        return [name for name, cells in self.cells.items() if not all(cell in self.results for cell in cells)]

    def look_again(self, dataset: str, source: Any, how: How) -> None:
        """Take over what other processes have finished, and compute what they have given up."""
        assert how.store is not None  # otherwise there is nobody to wait for
        how.store.free_abandoned()
        free = []
        for cell in self.cells[dataset]:
            if cell not in self.results:
                taken = how.store.take(cell)
                if isinstance(taken, CellResult):
                    self._keep(cell, taken, how.progress)
                elif taken:
                    free.append(cell)
        if free:
            data = load_data(dataset, source)
            splits, routed_to = self.split(dataset, data)
            self._compute(free, _places(dataset, splits, self.estimators), data, splits, routed_to, how)

    def _compute(
        self,
        cells: Sequence[Cell],
        places: Mapping[Cell, int],
        data: Data,
        splits: Splits,
        routed_to: Mapping[str, Route],
        how: How,
    ) -> None:
        from sklearn import get_config

        found: deque[tuple[Cell, CellResult]] = deque()

        def claimed() -> Iterator[tuple[Cell, int]]:
            """The cells that no other process has; joblib asks for them in a thread of its own."""
            for cell in cells:
                taken = True if how.store is None else how.store.take(cell)
                if isinstance(taken, CellResult):
                    found.append((cell, taken))
                elif taken:
                    yield cell, places[cell]

        works = {
            name: Work(estimator, self.scorer, get_config(), routed_to[name].fit, routed_to[name].score)
            for name, estimator in self.estimators.items()
        }
        given = (data, splits, claimed(), works, self.seed)
        if how.processes is None:
            computed = run_cells(*given, n_jobs=how.n_jobs, one_by_one=how.store is not None)
        else:
            computed = how.processes.run_cells(*given, n_jobs=how.n_jobs)
        with closing(computed):
            for cell, result in computed:
                if how.store is not None:
                    how.store.add(cell, result)
                self._keep(cell, result, how.progress)
                while found:
                    self._keep(*found.popleft(), how.progress)
        while found:
            self._keep(*found.popleft(), how.progress)

    def _keep(self, cell: Cell, result: CellResult, progress: Progress | None = None) -> None:
        if result.error is not None and self.on_error == "raise":
            raise EngineError(f"The cell of {_place(cell)} failed: {result.error}.")
        for name in result.scores:
            _refuse_own_column(name, result.scores)
        self.results[cell] = result
        if progress is not None:
            progress.add(failed=result.error is not None)

    def _table_cells(self) -> list[tuple[Cell, CellResult]]:
        return [(cell, self.results[cell]) for cells in self.cells.values() for cell in cells]

    def table(self) -> pd.DataFrame:
        """The tidy table; it has columns of warnings and errors only if there are any."""
        import pandas as pd

        cells = self._table_cells()
        if all(result.error is not None for _, result in cells):
            cell, result = cells[0]
            raise EngineError(f"All {len(cells)} cells failed. The first, {_place(cell)}: {result.error}.")
        names = list(dict.fromkeys(name for _, result in cells for name in result.scores))
        single = len(self.scoring) == 1 and names == list(self.scoring)
        rows = [
            {
                "dataset": cell.dataset,
                "algorithm": cell.estimator,
                "run": cell.run,
                "fold": cell.fold,
                **{"score" if single else name: result.scores.get(name, float("nan")) for name in names},
                "rho": self.rho[cell.dataset],
                "fit_time": result.fit_time,
                "score_time": result.score_time,
                "warnings": sum(number for number, _ in result.warnings.values()),
                "error": result.error,
            }
            for cell, result in cells
        ]
        frame = pd.DataFrame(rows)
        absent = {"warnings": not frame["warnings"].any(), "error": frame["error"].isna().all()}
        return frame.drop(columns=[name for name, drop in absent.items() if drop])

    def notes(self) -> Iterator[Note]:
        """Warnings about the table."""
        for assumption, rho in self.assumptions.items():
            yield assumption_note(assumption, rho)
        if self.unused:
            yield unused_note(self.unused)
        if self.damaged:
            text = f"{counted(self.damaged, 'cell', 'was')} damaged in the checkpoint and computed again."
            yield Note(FailedCellsWarning, text, key="damaged cells")
        cells = self._table_cells()
        for name in dict.fromkeys(name for _, result in cells for name in result.scores):
            without = [cell for cell, result in cells if result.error is None and name not in result.scores]
            if without:
                text = (
                    f"The scorer returned no {shown(name)!r} in {counted(len(without), 'cell')}, which the table leaves "
                    f"empty (the first: {_place(without[0])})."
                )
                places = tuple(dict.fromkeys(cell.dataset for cell in without))
                yield Note(FailedCellsWarning, text, places=places, key="absent scores")
        raised: dict[tuple[str, str], list[tuple[Cell, str]]] = {}
        alike: dict[tuple[str, str], list[Cell]] = {}
        for cell, result in cells:
            for kind, (_, first) in result.warnings.items():
                raised.setdefault((kind, cell.estimator), []).append((cell, first))
            if result.error is not None:
                alike.setdefault((cell.estimator, result.error), []).append(cell)
        for (kind, estimator), where in raised.items():
            place, first = where[0]
            text = f"{kind} in {counted(len(where), 'cell')} of {shown(estimator)!r} (the first, {_place(place)}: {first})."
            places = tuple(dict.fromkeys(cell.dataset for cell, _ in where))
            yield Note(EstimatorWarning, text, places=places, key="estimator warnings")
        if not alike:
            return
        listed = "; ".join(
            f"{_place(places[0])}: {error}{f' ({len(places)} times)' if len(places) > 1 else ''}"
            for (_, error), places in list(alike.items())[:FAILURES_SHOWN]
        )
        rest = sum(len(places) for places in list(alike.values())[FAILURES_SHOWN:])
        more = f"; and {rest} more" if rest else ""
        failed = [cell for cell, result in cells if result.error is not None]
        text = f"{len(failed)} of {len(cells)} cells failed and have no score ({listed}{more})."
        yield Note(
            FailedCellsWarning, text, places=tuple(dict.fromkeys(cell.dataset for cell in failed)), key="failed cells"
        )


def _prepared(estimators: Mapping[str, Any], cv: Any, scoring: Any, seed: int, on_error: str) -> CrossValidation:
    """A run with its arguments checked, before any data are loaded."""
    estimators = _checked_estimators(estimators)
    scorers, scorer = _checked_scorers(scoring, estimators)
    _refuse_defaults_for_regressors(estimators, cv, scorers)
    return CrossValidation(estimators, scorers, scorer, _splitter(cv, seed), seed, on_error)


def _places(dataset: str, splits: Splits, estimators: Iterable[str]) -> dict[Cell, int]:
    """The cells of a data set in the order of the table, and the position of each one's rows among the splits."""
    return {
        Cell(dataset, run, fold, name): place
        for place, (run, fold) in enumerate(zip(splits.runs, splits.folds, strict=True))
        for name in estimators
    }


def _refuse_defaults_for_regressors(estimators: Mapping[str, Any], cv: Any, scorers: Mapping[str, Any]) -> None:
    """Accuracy and stratified folds are for classes."""
    from sklearn.base import is_regressor

    regressor = next((name for name, estimator in estimators.items() if is_regressor(estimator)), None)
    wanted = []
    if "accuracy" in [scorer for scorer in scorers.values() if isinstance(scorer, str)]:
        wanted.append("scoring, such as 'neg_root_mean_squared_error', 'neg_mean_absolute_error' or 'r2'")
    if cv is None:
        wanted.append("cv, such as RepeatedKFold(n_splits=10, n_repeats=10)")
    if regressor is not None and wanted:
        raise ArgumentError(
            f"{shown(regressor)!r} is a regressor, and the default accuracy and stratified folds are for classes.",
            remedy=f"Pass {' and '.join(wanted)}.",
        )


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


def _place(cell: Cell) -> str:
    return f"data set {shown(cell.dataset)!r}, estimator {shown(cell.estimator)!r}, run {cell.run}, fold {cell.fold}"


def _refuse_own_column(name: str, names: Collection[str]) -> None:
    if name in OWN_COLUMNS and (len(names) > 1 or name != "score"):
        raise ArgumentError(f"scoring can't have a scorer called {name!r}: the table has a column of that name.")


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
        _refuse_own_column(name, named)
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
        if is_unwritable(name):
            raise ArgumentError(
                f"{argument} has a name with characters that can't be written to a file: {shown(name)!r}."
            )
        if name in named:
            raise ArgumentError(
                f"{argument} has two names that differ only by outer spaces or Unicode form: {shown(name)!r}."
            )
        named[name] = value
    return named
