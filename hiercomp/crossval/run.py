"""Paired cross-validation of many estimators on many data sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiercomp.arguments import true_or_false, whole_number
from hiercomp.crossval.cells import Cell, CellResult, Data
from hiercomp.crossval.fingerprint import described_plan
from hiercomp.crossval.inputs import LoadedData, checked_data, checked_estimators, checked_scorers, loaded
from hiercomp.crossval.parallel import computed
from hiercomp.crossval.splits import Splits, assumption_note, draw_splits, seeded
from hiercomp.crossval.store import CellStore
from hiercomp.errors import ArgumentError, EngineError, FailedCellsWarning, Note
from hiercomp.wording import shown
from hiercomp.workers import LARGEST_TASK_SEED, Progress, dask_backend, progress_bar

if TYPE_CHECKING:
    import pandas as pd
    from dask.distributed import Client

RUNS, FOLDS = 10, 10
FAILURES_SHOWN = 5


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
    """Cross-validate every estimator on every data set, on the same folds, into a table that can be compared as it stands.

    Parameters
    ----------
    estimators : mapping from name to estimator
        Scikit-learn's, or what behaves like them; pipelines too. They are copied, never fitted themselves. Random states
        that are None are set for each cell from ``seed``.
    data : mapping from name to (X, y), (X, y, groups) or a function
        A function without arguments returns one of these; it is called when its turn comes, and what it returned is let go
        afterwards.
    cv : int, splitter or iterable, optional
        As in scikit-learn; ``RepeatedStratifiedKFold(n_splits=10, n_repeats=10)`` by default. Its random state, where it
        is None, is ``seed``. The folds of a data set are drawn once.
    scoring : str, callable, or list or mapping of them
        Scikit-learn's scorers, of which higher values are better. With several, the table has a column for each.
    n_jobs : int, optional
        Cells at once, as in scikit-learn: None is 1, or what an active ``joblib.parallel_config`` says; -1 is every core.
    seed : int
        Of folds and estimators, from 0 to 2^31 - 1.
    checkpoint : str or Path, optional
        A file in which every cell is kept as it ends. If it exists, its cells are not computed again; cells that failed are.
        It is refused if estimators, data, folds, scoring, seed or versions are not those that it was made with.
    progress : bool
        A bar over the cells, with the time left, on a terminal or in a notebook.
    on_error : {"record", "raise"}
        What becomes of a cell whose estimator fails: recorded in the table without a score while the run goes on, or an
        error.
    dask : str or dask.distributed.Client, optional
        Scheduler to run on.

    Returns
    -------
    DataFrame
        A row for each cell, in the order of data sets, runs, folds and estimators: dataset, algorithm, run and fold (from
        1), score (or one column for each scorer), rho (the correlation between two scores of the data set: 1/k for k-fold
        cross-validation, the share of test cases for hold-out), fit_time and score_time in seconds; error, where cells
        failed.

    Raises
    ------
    ArgumentError
        If an argument is wrong, or the data can't be split.
    ResultFileError
        If the checkpoint is of another plan, damaged, or can't be written.
    EngineError
        If a cell fails and ``on_error`` is "raise", or all of them fail.

    Warns
    -----
    FailedCellsWarning
        If cells failed: how many and where.
    DefaultedRhoWarning
        If rho rests on an assumption, as for groups and time series.

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
    estimators = checked_estimators(estimators)
    given = checked_data(data)
    scorers = checked_scorers(scoring, estimators)
    true_or_false("progress", progress)
    if on_error not in ("record", "raise"):
        raise ArgumentError(f"on_error must be 'record' or 'raise', got {on_error!r}.")
    if n_jobs is not None and whole_number("n_jobs", n_jobs, -64) == 0:
        raise ArgumentError("n_jobs must be the number of processes, or -1 for all cores, got 0.")
    work = CrossValidation(estimators, scorers, _splitter(cv, seed), seed, on_error)
    for name, source in list(given.items())[1:]:  # the turn of the first comes at once
        if not callable(source):
            work.check(name, source)  # before the first cell, not hours later
    store = None
    if checkpoint is not None:
        if not isinstance(checkpoint, str | Path) or "\0" in str(checkpoint) or str(checkpoint) in ("", ":memory:"):
            raise ArgumentError(f"checkpoint must be the name of a file, got {shown(checkpoint)!r}.")
        store = CellStore(checkpoint, described_plan(estimators, list(given), work.cv, scorers, seed))
    with (
        nullcontext() if store is None else closing(store),
        dask_backend(dask),
        progress_bar("Cross-validating", shown=progress, parts=len(given), unit="cells") as bar,
    ):
        for name, source in given.items():
            work.run(name, loaded(name, source), n_jobs=n_jobs, store=store, progress=bar)
    table = work.table()
    for note in work.notes():
        note.warn(stacklevel=2)
    return table


def check_data(estimators: Mapping[str, Any], data: Mapping[str, Any], *, cv: Any = None, seed: int = 0) -> None:
    """Load every data set and draw its folds, so that a long run does not end at the last of them.

    Raises
    ------
    HiercompError
        As `cross_validate_all` does when the turn of the data set comes.
    """
    work = CrossValidation(checked_estimators(estimators), {}, _splitter(cv, seed), seed, "record")
    for name, source in checked_data(data).items():
        work.check(name, source)


@dataclass
class CrossValidation:
    """What a cross-validation is to do, and what it has done.

    Attributes
    ----------
    estimators, scorers : dict
    cv : int, splitter or list
    seed : int
    on_error : str
    rows : list of dict
        Of the table.
    assumptions : dict from str to Note
        About rho, one for each kind.
    damaged : int
        Cells of the checkpoint that were not as they were written.
    """

    estimators: dict[str, Any]
    scorers: dict[str, Any]
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
            self.splits(dataset, loaded(dataset, source))

    def splits(self, dataset: str, source: LoadedData) -> Splits:
        """The folds of a data set."""
        from sklearn.base import is_classifier

        classifier = all(is_classifier(estimator) for estimator in self.estimators.values())
        return draw_splits(dataset, source.X, source.y, source.groups, self.cv, classifier=classifier)

    def run(
        self,
        dataset: str,
        source: LoadedData,
        *,
        n_jobs: int | None,
        store: CellStore | None,
        progress: Progress,
    ) -> None:
        """All cells of one data set."""
        from sklearn import get_config

        splits = self.splits(dataset, source)
        note = assumption_note(splits, dataset)
        if note is not None and splits.assumption is not None:
            self.assumptions.setdefault(splits.assumption, note)
        cells = {
            Cell(dataset, run, fold, name): (place, name)
            for place, (run, fold) in enumerate(zip(splits.runs, splits.folds, strict=True))
            for name in self.estimators
        }
        found: dict[Cell, CellResult] = {}
        if store is not None:
            store.check_dataset(dataset, source.digest, splits)
            kept, wrong = store.finished(dataset, len(self.scorers))
            found = {cell: result for cell, result in kept.items() if cell in cells}
            self.damaged += wrong
        progress.begin(len(cells), len(found))
        left = [cell for cell in cells if cell not in found]
        config = get_config()

        def arguments(cell: Cell) -> tuple[Any, ...]:
            place, name = cells[cell]
            rows = splits.training[place], splits.test[place]
            return self.estimators[name], rows, self.scorers, cell.seed(self.seed), config

        data = Data(source.X, source.y)
        with closing(computed(data, left, arguments, n_jobs=n_jobs, one_by_one=store is not None)) as results:
            for cell, result in results:
                if result.error is not None and self.on_error == "raise":
                    row = self._row(cell, result, splits.rho)
                    raise EngineError(f"The cell of {_place(row)} failed: {result.error}.")
                found[cell] = result
                if store is not None:
                    store.add(cell, result)
                progress.add(failed=result.error is not None)
        self.rows += [self._row(cell, found[cell], splits.rho) for cell in cells]

    def table(self) -> pd.DataFrame:
        """The tidy table; a column of errors only where there are any."""
        import pandas as pd

        frame = pd.DataFrame(self.rows)
        if frame["error"].notna().all():
            raise EngineError(
                f"All {len(frame)} cells failed. The first, {_place(self.rows[0])}: {frame['error'].iloc[0]}."
            )
        return frame if frame["error"].notna().any() else frame.drop(columns="error")

    def notes(self) -> Iterator[Note]:
        """What is to be known about the table."""
        yield from self.assumptions.values()
        if self.damaged:
            text = f"{self.damaged} cells of the checkpoint were damaged and were computed again."
            yield Note(FailedCellsWarning, text)
        failed = [row for row in self.rows if row["error"] is not None]
        if failed:
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
            yield Note(FailedCellsWarning, text)

    def _row(self, cell: Cell, result: CellResult, rho: float) -> dict[str, Any]:
        names = ["score"] if len(self.scorers) == 1 else list(self.scorers)
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
    """The splitter that is meant, its random state set."""
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
