"""Reading and checking tidy score tables: one row for each data set, algorithm, run and fold."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import as_doubles
from hiercomp.errors import (
    Argument,
    ArgumentError,
    DefaultedRhoWarning,
    Note,
    NoteText,
    ScaleWarning,
    ScoreTableError,
)
from hiercomp.scores.direction import Direction, attributes_of, stated_direction
from hiercomp.scores.problems import TableProblem, notes_or_error, single_algorithm
from hiercomp.wording import (
    EXAMPLES_SHOWN,
    cells_in_words,
    first_names,
    is_unwritable,
    nearest_name,
    normal_name,
    shown,
)

if TYPE_CHECKING:
    import pandas as pd

DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MISSING_TEXT = {"", "na", "nan", "n/a", "null", "none", "?"}
MISSING_TYPES = ("NoneType", "NAType", "NaTType")

NAMED = ("dataset", "algorithm")
PLACES = (*NAMED, "run", "fold")
ROLES = (*PLACES, "score", "rho")
# Columns that a comparison may name; they may play another role too
GROUP, CROSSED = GROUPINGS = ("group", "crossed_group")
ROPE = "rope"

# Other names for the columns, compared in lower case without spaces, dots, hyphens and underscores.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "dataset": ("dataset", "datasets", "data", "datasetname", "task", "problem", "keydataset"),
    "algorithm": (
        "algorithm", "algorithms", "classifier", "method", "model", "learner", "estimator", "algorithmname", "keyscheme",
    ),
    "run": ("run", "runs", "repeat", "repeats", "repetition", "repetitions", "rep", "keyrun"),
    "fold": ("fold", "folds", "split", "cvfold", "keyfold"),
    "score": ("score", "scores"),
    "rho": ("rho",),
}  # fmt: skip

# Names that mean a role only where no column has one of the names above
FURTHER_ALIASES: Mapping[str, tuple[str, ...]] = {
    "dataset": (
        "game", "env", "environment", "benchmark", "suite", "corpus", "taskname", "taskid", "dataname", "datasetid",
    ),
    "algorithm": (
        "agent", "policy", "framework", "flowname", "approach", "system", "algo", "learnerid", "strategy", "modelname",
    ),
    "run": ("seed", "seeds", "randomseed", "randomstate", "trial", "trials"),
    "fold": ("questionid", "question", "item", "itemid", "sample", "sampleid", "docid"),
    "score": ("return", "reward", "metricerror", "testscore"),
    "rho": (),
}  # fmt: skip
SEEDS, QUESTIONS = FURTHER_ALIASES["run"], FURTHER_ALIASES["fold"]  # such scores are independent: rho is 0

METRIC_COLUMNS = ("metric", "measure", "metricname", "measurename", "evalmetric", "function")  # which hold names
FIRST_CELLS = 100  # that are looked at before a whole column is
PARTS = frozenset({"train", "training", "val", "valid", "validation", "dev", "test"})  # of the data; none is a fold
# Numbers that are no scores: an index, a count, a duration, a setting, the training set or a spread
NO_SCORES = re.compile(
    r"_?(|unnamed:? ?\d*|index|id|nr|no|number|level_\d+|iter|iterations?|steps?|epochs?|models|version|seeds?|"
    r"random[ _.]?(seed|state))|"
    r"(train|training|std|rank|param|params|n|num|mean_fit|mean_score_time|std_fit)[_.].*|"
    r"(.*[_. ])?(times?|seconds|secs?|ms|duration|runtime|timestamp|utc|date|elapsed|time(train|predict|both))([_. ].*)?"
)
# Of wide tables
FOLD_COLUMNS = re.compile(r"(?:cv|fold|split)[ _.-]?(\d+)(?:[ _.-](?:test[ _.-])?score)?", re.IGNORECASE)
MEASURES = frozenset(
    "accuracy acc bacc auc auroc auprc roc f1 f precision recall sensitivity specificity kappa mcc r2 rsq ndcg map mrr "
    "bleu rouge exact pass win score return reward metric error err mmce ce loss logloss mse rmse mae mape smape brier "
    "perplexity wer".split()
)
SUMMARIES = frozenset("mean average avg avg. std std. sd stdev sem se median rank total overall max min".split()) | {
    "average rank",
    "avg rank",
    "avg. rank",
    "mean rank",
    "standard deviation",
    "std dev",
    "std. dev.",
}
ROWS_IN_ORDER = "rows_in_order"  # the key of the note that rows are folds in their order, whatever rho is
# In a cell they would count as names by what Python prints of them
CONTAINERS = frozenset({list, tuple, set, dict, np.ndarray})


@dataclass(frozen=True)
class TidyScores:
    """A checked copy of a score table.

    Attributes
    ----------
    frame : pandas.DataFrame
        Columns dataset and algorithm (text, or categorical if given so), run, fold and groups (as given; absent columns
        are missing here too), score (float, NaN if missing).
    notes : tuple of Note
        What was changed or looks unusual, and what reading the file left out or assumed.
    rho : dict from data set to float, optional
        The correlation between two scores of a data set, if the table has a column of that name.
    ropes : dict from data set to float, optional
        The half-width of the rope of each data set, if a column of them is named.
    measure : str or None
        The name of the measure: the table's attribute ``measure``, or the name of the column of scores if it is not
        "score".
    stated : bool or None
        Whether higher is better by the table's attribute ``higher_is_better``.
    """

    frame: pd.DataFrame
    notes: tuple[Note, ...]
    rho: dict[str, float] | None = None
    ropes: dict[str, float] | None = None
    measure: str | None = None
    stated: bool | None = None

    @cached_property
    def algorithms(self) -> list[str]:
        """The algorithms, in the order in which they first appear."""
        return [str(name) for name in self.frame["algorithm"].unique()]

    def direction(self, higher_is_better: bool | None) -> Direction:
        """Whether higher is better, given what the caller says."""
        return Direction(higher_is_better, self.stated, self.measure)


def notes_of_reading(table: Any) -> tuple[Note, ...]:
    """What reading a file left out or assumed, from the table's attributes; it was said then, so the notes are quiet."""
    texts = attributes_of(table).get("notes")
    return tuple(
        replace(text.note, quiet=True)
        for text in (texts if isinstance(texts, (list, tuple)) else ())
        if isinstance(text, NoteText)
    )


def without_assumed_rho(notes: Iterable[Note]) -> tuple[Note, ...]:
    """The notes of a table where rho is known: those on what reading assumed of it are left out."""
    return tuple(note for note in notes if note.category is not DefaultedRhoWarning or note.key == ROWS_IN_ORDER)


def tidy_scores(df: Any, columns: Mapping[str, str] | None = None) -> TidyScores:
    """Find the columns of a score table and check its cells, without changing the table.

    Parameters
    ----------
    df : data frame
        One row for each score: a pandas frame, or any table with the Arrow PyCapsule interface (polars, pyarrow,
        DuckDB, ...).
    columns : mapping, optional
        Which column is which, for names that are not recognised: ``{"score": "auc", "dataset": "problem name"}``.

    Returns
    -------
    TidyScores

    Raises
    ------
    ScoreTableError
        If a column is missing or ambiguous, the table is empty, or a name or score is not usable.
    ArgumentError
        If ``columns`` is not a mapping of roles.
    """
    tidy, problems = read_table(df, columns)
    notes_or_error(problem for problem in problems if problem.severity == "error")
    assert tidy is not None  # or a problem said why not
    return tidy


def read_table(df: Any, columns: Mapping[str, str] | None = None) -> tuple[TidyScores | None, list[TableProblem]]:
    """The result of `tidy_scores` for all usable rows, and every problem of the table.

    The table is None if no column or no row is left. A cell without a valid score counts as missing, and a column rho
    with a wrong cell as absent.
    """
    import pandas as pd

    said = notes_of_reading(df)
    try:
        stated, measure = stated_direction(df)
        about = {"higher_is_better": stated, "measure": measure}
        frame = to_pandas(df)
        lines = frame.attrs.get("lines")
        if frame.shape[1] == 0 or len(frame) == 0:
            raise ScoreTableError(
                f"The table is empty: {len(frame)} rows, {frame.shape[1]} columns.",
                remedy="It needs one row for each data set, algorithm, run and fold, with columns dataset, algorithm, run, "
                "fold and score.",
                key="empty_table",
            )
        found = find_columns(frame, columns)
    except ScoreTableError as error:
        return None, [TableProblem.of_error(error)]
    problems: list[TableProblem] = []
    notes: list[Note] = []
    tidy: dict[str, Any] = {}
    for role in (*PLACES, *GROUPINGS):
        if role in found:
            try:
                if role in NAMED:
                    tidy[role], more = _names(frame[found[role]], found[role], lines)
                    notes += more
                else:
                    tidy[role] = _labels(frame[found[role]], found[role], lines)
            except ScoreTableError as error:
                problems.append(TableProblem.of_error(error))
    if problems:
        wrong = [found[role] for role in (*PLACES, *GROUPINGS) if role in found and role not in tidy]
        good = np.array([[is_filled(cell) for cell in frame[name].tolist()] for name in wrong]).all(axis=0)
        if good.all() or not good.any():
            return None, problems
        rest, further = read_table(_rows_of(frame, np.asarray(good), about), found)
        return rest, problems + further
    if "fold" in tidy and (summaries := summary_labels(tidy["fold"])):
        rows = tidy["fold"].astype(str).isin(summaries).to_numpy()
        message = (
            f"The {found['fold']} column has {first_names(summaries)} among numbers: summaries, no scores of folds."
        )
        remedy = f"Remove these {rows.sum():,} rows."
        problem = TableProblem(ScoreTableError, message, remedy, (str(found["fold"]),), "summary_rows")
        rest, further = read_table(_rows_of(frame, ~rows, about), found)
        return rest, [problem, *further]
    likely = [str(name) for name in tidy["dataset"].unique() if str(name).casefold() in SUMMARIES]
    if likely:
        row = int((tidy["dataset"] == likely[0]).to_numpy().argmax()) + 1
        message = (
            f"A data set is called {first_names(likely)} (first: row {row:,}), as a summary of the others would be."
        )
        notes.append(Note(ScaleWarning, message, "If it is one, remove its rows.", tuple(likely), "summary_rows"))
    scores, wrong_scores = _scores(frame[found["score"]], found["score"], tidy, lines)
    of_datasets: dict[str, dict[str, float] | None] = {}
    for role in ("rho", ROPE):
        if role in found:
            column = frame[found[role]]
            of_datasets[role], wrong_cells = _one_for_each_dataset(
                column, tidy["dataset"], str(found[role]), role, tidy
            )
            wrong_scores = [*wrong_scores, *wrong_cells]
    name = str(found["score"])
    if role_of(name) != "score" and name != measure:  # another column than the one that the attributes are about
        stated, measure = None if measure is not None else stated, name
    checked = TidyScores(
        frame=pd.DataFrame({**tidy, "score": scores}),
        notes=(*said, *notes),
        rho=of_datasets.get("rho"),
        ropes=of_datasets.get(ROPE),
        measure=None if measure is None else shown(measure),
        stated=stated,
    )
    return checked, [*map(TableProblem.of_note, notes), *wrong_scores]


def _rows_of(frame: pd.DataFrame, rows: NDArray[np.bool_], about: Mapping[str, Any]) -> pd.DataFrame:
    """Some rows of a frame, with the lines in which they stand and what is known of its scores."""
    kept = frame[rows]
    kept.attrs = frame.attrs | dict(about)
    if "lines" in frame.attrs:
        lines = frame.attrs["lines"]
        kept.attrs["lines"] = [lines[row] for row in np.flatnonzero(rows)]
    return kept


def choose_algorithms(tidy: TidyScores, left: str | None, right: str | None) -> tuple[str, str]:
    """The two algorithms to compare; if the table has exactly two, they need not be named."""
    names = tidy.algorithms
    left, right = (name if name is None else normal_name(name) for name in (left, right))
    listed = ", ".join(repr(shown(name)) for name in names[:20]) + (", ..." if len(names) > 20 else "")
    notes_or_error(single_algorithm(names))
    for side, name in (("left", left), ("right", right)):
        if name is not None and name not in names:
            raise ScoreTableError(
                f"{Argument(side, shown(name))} is not an algorithm of the table.",
                remedy=f"{nearest_name(name, names)} They are: {listed}.".lstrip(),
                key="unknown_algorithm",
                arguments=(Argument(side, shown(name)),),
            )
    if left is not None and left == right:
        raise ScoreTableError(f"left and right are both {shown(left)!r}; an algorithm can't be compared with itself.")
    if len(names) == 2:
        first = left or next(name for name in names if name != right)
        return first, next(name for name in names if name != first)
    if left is None or right is None:
        given = {"left": left, "right": right}
        free = iter(name for name in names if name not in (left, right))
        lacking = tuple(Argument(side, next(free)) for side, name in given.items() if name is None)
        raise ScoreTableError(
            f"The table has {len(names)} algorithms ({listed}).",
            remedy=f"Name the two to compare, for instance left={shown(names[0])!r}, right={shown(names[1])!r}.",
            key="unnamed_algorithms",
            arguments=lacking,
        )
    return left, right


def find_columns(
    frame: pd.DataFrame,
    columns: Mapping[str, str] | None = None,
    *,
    without: Collection[str] = (),
    choose: Callable[[str, str | None], Argument] | None = None,
) -> dict[str, str]:
    """Which column of a frame plays which role (dataset, algorithm, score; run and fold if present).

    Parameters
    ----------
    frame : DataFrame
    columns : mapping, optional
        Which column is which, as far as it is known.
    without : collection of str
        Roles that no column plays.
    choose : callable
        How a reader names the column of a role, for messages; None stands for any name.

    Raises
    ------
    ScoreTableError
        If a column is missing or ambiguous.
    """
    names = list(frame.columns)
    choose = choose or _as_columns
    if not frame.columns.is_unique:  # here NaN equals NaN, unlike in a set
        repeated = sorted({shown(name) for name in frame.columns[frame.columns.duplicated()]})
        raise _wrong_columns(f"Column names occur twice: {', '.join(repeated)}.", "Rename or remove one of each.")
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns must be a mapping such as {{'score': 'auc'}}, got {columns!r}.")
    chosen = dict(columns or {})
    for role, name in chosen.items():
        if role not in (*ROLES, *GROUPINGS, ROPE):
            raise ArgumentError(f"columns names an unknown role {role!r}; the roles are {', '.join(ROLES)}.")
        if name not in names:
            near = nearest_name(str(name), map(str, names))
            raise _wrong_columns(f"There is no column {name!r} for the {role}.", f"{near} {_listing(names)}".strip())
    named = {role: chosen.pop(role) for role in (*GROUPINGS, ROPE) if role in chosen}

    def taken(roles: Mapping[str, str]) -> list[str]:
        return [*roles.values(), *named.values()]

    # rows of seeds and folds: the seed is a run only where the folds do not tell the rows apart, so it comes last
    for role, kind in [(role, role_of) for role in (*PLACES, "score")] + [
        (role, further_role_of) for role in ("dataset", "algorithm", "fold", "score", "run")
    ]:
        if role in chosen or role in without:
            continue
        matches = [name for name in names if kind(name) == role and name not in chosen.values()]
        if kind is further_role_of and role == "run" and matches and "fold" in chosen:
            place = [chosen[role] for role in (*NAMED, "fold") if role in chosen]
            matches = matches if frame.duplicated(place).any() else []
        if kind is further_role_of and role == "score" and matches:  # another measure may be meant
            others = [name for name in score_candidates(frame, taken(chosen)) if is_measure(name)]
            matches = matches if set(others) <= set(matches) else []
        exact = [name for name in matches if name == role]
        if len(exact or matches) > 1:
            listed = " and ".join(repr(name) for name in matches)
            message = f"More than one column could be the {role}: {listed}."
            one = choose(role, matches[0])
            raise _wrong_columns(message, f"Choose one with {one}.", arguments=(one,))
        if matches:
            chosen[role] = (exact or matches)[0]
    if "fold" in chosen:
        _refuse_parts(frame[chosen["fold"]], chosen["fold"])
    if "score" not in chosen and "score" not in without:
        numeric = [*_spoilt_measures(frame, taken(chosen)), *score_candidates(frame, taken(chosen))]
        if len(numeric) == 1:
            chosen["score"] = numeric[0]
        elif len(numeric) > 1:
            listed = ", ".join(repr(name) for name in numeric)
            message = f"No column is called 'score' and several are numeric: {listed}."
            one = choose("score", numeric[0])
            raise _wrong_columns(message, f"Choose one with {one}.", arguments=(one,))
    for role in ("dataset", "algorithm", "score"):
        if role not in chosen and role not in without:
            hint, arguments = _nearest(role, names, choose)
            raise _wrong_columns(f"There is no column {role!r}.", f"{hint} {_listing(names)}", (role,), arguments)
    if "rho" in names and "rho" not in chosen and "rho" not in chosen.values() and "rho" not in without:
        chosen["rho"] = "rho"
    return chosen | named


def score_candidates(frame: pd.DataFrame, taken: Collection[str] = ()) -> list[str]:
    """The columns of numbers that may be scores: known measures first, no index, duration, seed or training score."""
    numeric = [name for name in frame.columns if name not in taken and frame[name].dtype.kind in "fiu"]
    if len(numeric) > 1:
        numeric = [name for name in numeric if name != "rho"]
    likely = [name for name in numeric if not holds_no_scores(name)]
    numbers = [name for name in likely if frame[name].dtype.kind == "f" or is_measure(name)]  # no counts
    return sorted(numbers or likely or numeric, key=lambda name: not is_measure(name))


def _spoilt_measures(frame: pd.DataFrame, taken: Collection[str]) -> list[str]:
    """Columns of text that are called as measures and hold mostly numbers: cells of theirs are wrong."""
    import pandas as pd

    found = []
    for name in frame.columns:
        if name in taken or frame[name].dtype.kind in "fiub" or not is_measure(name):
            continue
        texts = [
            str(cell).strip() for cell in frame[name].tolist() if isinstance(cell, (str, int, float)) and cell == cell
        ]
        cells = pd.Series([text.rstrip("%").replace(",", ".") for text in texts if text], dtype=object)
        if pd.to_numeric(cells, errors="coerce").notna().mean() > 0.5:
            found.append(name)
    return found


def _is_part(cell: object) -> bool:
    return isinstance(cell, str) and cell.strip().casefold() in PARTS


def _refuse_parts(column: pd.Series, name: str) -> None:
    """Refuse a column that says whether a score is of the training or the test set."""
    if not all(map(_is_part, filter(is_filled, column.head(FIRST_CELLS)))):
        return
    parts = list(dict.fromkeys(cell if isinstance(cell, str) else "" for cell in column.tolist() if is_filled(cell)))
    if len(parts) > 1 and all(map(_is_part, parts)):
        part = next((part for part in parts if part.strip().casefold() == "test"), parts[0])
        keep = Argument("where", {name: part})
        raise _wrong_columns(
            f"Column {name!r} names parts of the data, and no folds: {', '.join(map(repr, parts))}.",
            f"Keep the rows of one with {keep}, which read_scores takes.",
            ("fold",),
            (keep,),
        )


def holds_no_scores(name: object) -> bool:
    """Whether a column is called as an index, a count, a duration, a setting or a spread."""
    return NO_SCORES.fullmatch(str(name).strip().casefold()) is not None


def is_measure(name: object) -> bool:
    """Whether a name is that of a well-known measure."""
    words = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name)).casefold())
    return not MEASURES.isdisjoint(words)


def role_of(name: object) -> str | None:
    """The role of a column of that name in a tidy table: one of `ROLES`, or None."""
    plain = plain_column_name(name)  # a leading dot is tidymodels' sign that a column is none of the user's
    if str(name).startswith("."):
        return None
    return next((role for role, aliases in ALIASES.items() if plain in aliases), None)


def further_role_of(name: object) -> str | None:
    """The role of a column of that name in a table where no column has a plainer name for it."""
    plain = plain_column_name(name)
    return next((role for role, aliases in FURTHER_ALIASES.items() if plain in aliases), None)


def is_independent(run: object, fold: object) -> bool:
    """Whether the columns of runs and folds say that scores share no training: seeds, or questions."""
    return plain_column_name(run) in SEEDS if fold is None else plain_column_name(fold) in QUESTIONS


def is_number_text(text: str) -> bool:
    """Whether a text is a plain decimal number."""
    return DECIMAL.fullmatch(text.strip()) is not None


def is_name_column(name: object) -> bool:
    """Whether a column of that name holds names of data sets or algorithms, which stay text."""
    return role_of(name) in NAMED or further_role_of(name) in NAMED


def is_number_column(name: object) -> bool:
    """Whether a column of that name holds runs, folds, scores or their correlation."""
    return role_of(name) not in (None, *NAMED)


def to_pandas(df: Any) -> pd.DataFrame:
    """A pandas frame made from any table with the Arrow PyCapsule interface; named index levels become columns."""
    import pandas as pd

    if isinstance(df, pd.DataFrame):
        named = [name for name in df.index.names if name is not None]
        if isinstance(df.columns, pd.MultiIndex):
            raise _wrong_columns(
                "The table has several levels of column names. It must be tidy, one row for each score.",
                "Convert it to long form first, for instance with DataFrame.stack or DataFrame.melt.",
            )
        kept = [name for name in named if name not in df.columns]  # a level that repeats a column is left out
        try:
            return df.reset_index(level=kept).reset_index(drop=True) if kept else df.reset_index(drop=True)
        except (TypeError, ValueError) as error:  # pandas makes a broken index of columns of one name
            message = f"The index of the table can't be converted to columns: {shown(error)}."
            raise _wrong_columns(message, "Pass plain columns.") from error
    if hasattr(df, "__arrow_c_stream__"):
        import pyarrow

        try:
            frame: pd.DataFrame = pyarrow.table(df).to_pandas()
            return frame
        except (TypeError, ValueError, OverflowError, NotImplementedError):  # a column, or a type that pandas lacks
            pass
    raise ScoreTableError(
        f"Scores must be a data frame (pandas, polars, ...), got {type(df).__name__}.",
        remedy="For arrays use HierarchicalComparison.from_arrays; for a file use `hiercomp compare` or pandas.read_csv.",
        key="no_table",
    )


def summary_labels(folds: pd.Series) -> list[str]:
    """The labels of folds that name a mean, a standard deviation or the like, where the others are numbers."""
    if folds.dtype.kind in "iuf":
        return []
    labels = [str(label).strip() for label in folds.unique()]
    found = [label for label in labels if label.casefold() in SUMMARIES]
    return found if found and all(DECIMAL.fullmatch(label) for label in labels if label not in found) else []


def is_filled(cell: object) -> bool:
    """Whether a cell holds a name, a run or a fold: text, or a value that can be written as text."""
    try:
        text = str(cell)
        text.encode()
        return bool(text.strip()) and bool(cell == cell) and type(cell).__name__ not in MISSING_TYPES
    except Exception:  # whatever a strange cell raises
        return False


def number_of_cell(cell: object) -> float | None:
    """The score in a cell: NaN if it is empty, None if it holds anything other than a plain number."""
    if type(cell).__name__ in MISSING_TYPES:
        return np.nan
    if isinstance(cell, str):
        text = cell.strip(" \t")
        if text.casefold() in MISSING_TEXT:
            return np.nan
        return float(text) if DECIMAL.fullmatch(text) else None
    if isinstance(cell, (bool, np.bool_)) or getattr(cell, "shape", None):  # NumPy makes a number of an array of one
        return None
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def plain_column_name(name: object) -> str:
    """A name without white space, dots, underscores and hyphens, in small letters."""
    return re.sub(r"[\s._-]+", "", str(name)).casefold()


def _as_columns(role: str, name: str | None) -> Argument:
    return Argument("columns", {role: ... if name is None else name})


def _wrong_columns(
    message: str, remedy: str, places: tuple[str, ...] = (), arguments: tuple[Argument, ...] = ()
) -> ScoreTableError:
    return ScoreTableError(message, remedy=remedy, places=places, key="columns", arguments=arguments)


def _listing(names: list[Any]) -> str:
    listed = ", ".join(repr(shown(name)) for name in names[:20])
    return f"The columns are: {listed}{', ...' if len(names) > 20 else ''}."


def _nearest(
    role: str, names: list[Any], choose: Callable[[str, str | None], Argument]
) -> tuple[str, tuple[Argument, ...]]:
    """What to do about a missing column, and the arguments that this names."""
    if len(names) == 1 and ";" in str(names[0]):
        return "The only column holds semicolons: was the file read with sep=';' (and decimal=',')?", ()
    text = {str(name): plain_column_name(name) for name in names}
    for alias in ALIASES[role]:
        close = difflib.get_close_matches(alias, list(text.values()), n=1, cutoff=0.75)
        if close:
            name = next(original for original, plain in text.items() if plain == close[0])
            one = choose(role, shown(name))
            return f"Did you mean {shown(name)!r}? Rename it, or pass {one} (--column).", (one,)
    one = choose(role, None)
    return f"Rename a column, or pass {one}.", (one,)


def _names(column: pd.Series, name: str, lines: Sequence[int] | None) -> tuple[pd.Series, list[Note]]:
    """Normalised names, and notes on names that are easily confused."""
    remedy = (
        "Fill in the names or remove the rows; if a name is 'NA' or 'null', read the file with keep_default_na=False."
    )
    _refuse_empty(_missing(column, name), name, remedy, lines)
    import pandas as pd

    categorical = isinstance(column.dtype, pd.CategoricalDtype)
    if categorical:  # a large table, whose names are not written out
        column = column.cat.remove_unused_categories()
        codes = column.cat.codes.to_numpy()
        normal = [normal_name(original) for original in _text(column.cat.categories.to_series(), name)]
    else:
        codes, originals = _text(column, name).factorize()
        normal = [normal_name(original) for original in originals]
    if "" in normal:
        empty = np.array([value == "" for value in normal])[codes]
        where = "" if lines is None else f", in {_rows_in_words(empty, lines)}"
        message = f"Column {name!r} has names that are empty or only spaces{where}."
        raise ScoreTableError(message, remedy="Fill them in.", places=(str(name),), key="empty_names")
    refuse_unwritable(f"Column {shown(name)!r}", normal)
    notes = []
    if len(set(normal)) < len(normal):
        same = sorted(value for value, count in Counter(normal).items() if count > 1)
        message = f"Names in column {name!r} that differ only by outer spaces or Unicode form: {first_names(same)}."
        notes.append(Note(ScaleWarning, message, "Check the names.", tuple(same), "merged_names"))
    folded: dict[str, set[str]] = {}
    for value in normal:
        folded.setdefault(value.casefold(), set()).add(value)
    for variants in folded.values():
        if len(variants) > 1:
            listed = ", ".join(repr(shown(value)) for value in sorted(variants))
            message = f"Names in column {name!r} that differ only by case count as different: {listed}."
            notes.append(Note(ScaleWarning, message, "Check the names.", tuple(sorted(variants)), "case_of_names"))
    if categorical:
        unique = sorted(set(normal))
        place = {value: code for code, value in enumerate(unique)}
        # the least type of integers that can number them; in the order of the names, as text would be sorted
        numbers = np.array([place[value] for value in normal], dtype=np.min_scalar_type(-len(unique)))
        return pd.Series(pd.Categorical.from_codes(numbers[codes], dtype=pd.CategoricalDtype(unique))), notes
    return pd.Series(np.array(normal, dtype=object)[codes]), notes


def refuse_unwritable(where: str, names: Iterable[str]) -> None:
    """Refuse names that no file could hold, before anything is computed for them.

    Raises
    ------
    ScoreTableError
        With the first of them.
    """
    wrong = [name for name in names if is_unwritable(name)]
    if wrong:
        raise ScoreTableError(
            f"{where} has names with characters that can't be written to a file: {first_names(wrong)}.",
            remedy="Remove these characters.",
            places=tuple(wrong),
            key="unwritable_names",
        )


def _rows_in_words(rows: NDArray[np.bool_], lines: Sequence[int] | None) -> str:
    """The first few rows by their lines, where these are known."""
    first = np.flatnonzero(rows)[:EXAMPLES_SHOWN]
    if lines is None:
        return f"rows {', '.join(str(row) for row in first)}, counted from 0"
    return f"{'line' if len(first) == 1 else 'lines'} {', '.join(str(lines[row]) for row in first)}"


def _refuse_empty(missing: NDArray[np.bool_], name: str, remedy: str, lines: Sequence[int] | None = None) -> None:
    if missing.any():
        raise ScoreTableError(
            f"Column {name!r} is empty in {missing.sum()} of {len(missing)} rows (first: {_rows_in_words(missing, lines)}).",
            remedy=remedy,
            places=(str(name),),
            key="empty_names",
        )


def _missing(column: pd.Series, name: str) -> NDArray[np.bool_]:
    try:
        return np.asarray(column.isna(), dtype=bool)
    except ArithmeticError as error:  # a signalling NaN of decimal
        raise _unreadable(name, "holds cells that are not names") from error


def _text(column: pd.Series, name: str) -> pd.Series:
    if column.dtype == object and not CONTAINERS.isdisjoint(map(type, column)):
        held = next(cell for cell in column if type(cell) in CONTAINERS)
        raise _unreadable(name, f"holds a {type(held).__name__} in a cell: {shown(held)}", "Put one name in each cell.")
    try:
        return column.astype(str)
    except UnicodeEncodeError as error:
        why = f"is not valid Unicode (unpaired surrogate: {shown(error.object)!r})"
        raise _unreadable(name, why, "Read the file again with the right encoding.") from error
    except (TypeError, ValueError, ArithmeticError) as error:  # such as an int of thousands of digits
        raise _unreadable(name, f"holds cells that can't be written as text: {shown(error)}") from error


def _unreadable(name: str, why: str, remedy: str = "Write them as text.") -> ScoreTableError:
    """The error for a column with cells that can't be used as names."""
    message = f"Column {shown(name)!r} {why}."
    return ScoreTableError(message, remedy=remedy, places=(str(name),), key="unreadable_names")


def _labels(column: pd.Series, name: str, lines: Sequence[int] | None) -> pd.Series:
    whole = column.dtype.kind in "iu"
    text = column if whole else _text(column, name).str.strip()
    missing = _missing(column, name) | (not whole and (text == "").to_numpy())
    _refuse_empty(missing, name, "Number every row, or remove the column if there are no runs or folds.", lines)
    import pandas as pd

    if whole:
        return pd.Series(column.to_numpy())
    numbers = pd.to_numeric(text, errors="coerce")
    whole = numbers.notna() & np.isfinite(numbers) & (numbers == np.floor(numbers)) & (numbers.abs() < 2**53)
    # 1 and 1.0 are the same fold; anything else is a label of its own
    return pd.Series(numbers.astype(np.int64).to_numpy()) if bool(whole.all()) else pd.Series(text.to_numpy(object))


MEANINGS = {"rho": "the correlation between its folds", ROPE: "the half-width of its rope"}


def _one_for_each_dataset(
    column: pd.Series, datasets: pd.Series, name: str, role: str, places: Mapping[str, Any]
) -> tuple[dict[str, float] | None, list[TableProblem]]:
    """The common rho, or rope, of the rows of each data set; none if it is invalid."""
    import pandas as pd

    numbers, problems = _scores(column, name, places, None)
    if problems:
        return None, problems
    values = pd.Series(numbers)
    by_dataset = values.groupby(datasets.to_numpy(), sort=False)
    first, different = by_dataset.first(), by_dataset.nunique(dropna=False) != 1
    if different.any() or first.isna().any():
        first_wrong = (different | first.isna()).idxmax()
        message = (
            f"Column {name!r} must have one number for each data set, {MEANINGS[role]}; data set "
            f"{shown(first_wrong)!r} has {first_names([str(value) for value in values[datasets == first_wrong].unique()])}."
        )
        remedy = f"Correct it, or remove the column and pass {role}."
        return None, [TableProblem(ScoreTableError, message, remedy, (str(first_wrong),), role)]
    return {str(name): float(value) for name, value in first.items()}, []


def _scores(
    column: pd.Series, name: str, places: Mapping[str, Any], lines: Sequence[int] | None
) -> tuple[NDArray[np.float64], list[TableProblem]]:
    """Scores as floats; text must be a plain decimal number. Cells that are empty or not a number become NaN."""
    if column.dtype.kind in "fiu":
        kind: Any = getattr(column.dtype, "numpy_dtype", column.dtype)  # pandas' own dtypes have one of NumPy
        return as_doubles(column.to_numpy(dtype=kind if column.dtype.kind == "f" else float, na_value=np.nan)), []
    cells = column.to_list()
    numbers = [number_of_cell(cell) for cell in cells]
    wrong = np.array([number is None for number in numbers])
    values = np.array([np.nan if number is None else number for number in numbers])
    if not wrong.any():
        return values, []
    first = cells[int(np.flatnonzero(wrong)[0])]
    text = first if isinstance(first, str) else ""
    remedy, arguments = "Correct or remove these rows.", tuple[Argument, ...]()
    if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text):
        remedy, arguments = (
            "These look like decimal commas: read the file with decimal=','.",
            (Argument("decimal", ","),),
        )
    elif text.strip().endswith("%"):
        remedy = "Remove the percent signs, and give the rope in percentage points or divide the scores by 100."
    elif not text.isascii():
        remedy = "They hold signs such as a Unicode minus or a no-break space: use plain ASCII digits and signs."
    import pandas as pd

    view = pd.DataFrame({role: np.asarray(cells) for role, cells in places.items()})
    # With a type: pandas 2 looks for one, and fails on an int beyond the largest float
    view = view.assign(score=pd.Series(column.to_numpy(dtype=object), dtype=object))
    where = "" if lines is None else f"{_rows_in_words(wrong, lines)}: "
    message = (
        f"{wrong.sum()} of {len(cells)} cells of column {name!r} are not numbers (first: "
        f"{where}{cells_in_words(view, wrong, 'score')})."
    )
    count = int(wrong.sum())
    return values, [TableProblem(ScoreTableError, message, remedy, (str(name),), "not_numbers", count, arguments)]
