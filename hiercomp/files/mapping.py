"""Any table by a small mapping: which columns, parts of them or names play the six roles. Every importer ends here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import whole_number
from hiercomp.errors import (
    Argument,
    ArgumentError,
    DefaultedRhoWarning,
    HiercompWarning,
    Note,
    ScoreTableError,
    warn_caller,
)
from hiercomp.files.formats.common import (
    chosen_measure,
    first_repeated,
    lower_is_better_note,
    one_or_more,
    refuse_opposite_directions,
    rho_of_folds,
    runs_and_folds,
    text_options,
)
from hiercomp.files.table import lines_of_rows
from hiercomp.scores.direction import lower_is_better, named_direction, stated_direction
from hiercomp.scores.problems import MOST_FOLDS, doubtful_rho, duplicate_scores, notes_or_error
from hiercomp.scores.rho import checked_rho, default_rho
from hiercomp.scores.table import (
    FOLD_COLUMNS,
    METRIC_COLUMNS,
    PLACES,
    ROLES,
    ROWS_IN_ORDER,
    find_columns,
    is_independent,
    is_measure,
    is_number_text,
    notes_of_reading,
    plain_column_name,
    role_of,
    score_candidates,
    tidy_scores,
    without_assumed_rho,
)
from hiercomp.wording import counted, first_names, nearest_name, shown

if TYPE_CHECKING:
    import pandas as pd

Spec: TypeAlias = "str | float | Sequence[str]"  # what plays a role, see `map_table`

PLACEHOLDER = re.compile(r"\{(dataset|algorithm|run|fold|measure|stem|folder)\}")
OF_THE_FILE = ("stem", "folder")
PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
RESAMPLES = ("Fold{fold}.Rep{run}", "Fold{fold}")  # as caret calls them
LARGE = 2_000_000  # rows above which only the comparison looks for repeated cells: it costs memory
IN_ORDER = "There is no fold column: the rows of a data set are taken as the folds of one run, in their order."
NO_MEASURES = ("score", "scores", "value", "result", "values")  # names of columns that name no measure


def map_table(
    frame: pd.DataFrame,
    roles: Mapping[str, Spec | None] | None = None,
    *,
    format_name: str = "tidy",
    file: str | Path | None = None,
    where: Mapping[str, Any] | None = None,
    folds: int | None = None,
    measure: str | None = None,
    also: str | Sequence[str] = (),
    higher_is_better: bool | None = None,
    notes: Sequence[Note] = (),
    counts_runs: bool = False,
    in_order: bool = False,
    wide: Mapping[str, Mapping[str, str]] | None = None,
) -> pd.DataFrame:
    """A tidy table of any table, by what plays each role; roles that are not given are found by the names of columns.

    Parameters
    ----------
    frame : DataFrame
        It is not changed, and its cells are copied only where they must be.
    roles : mapping from role to str, float or sequence of str, optional
        The roles are dataset, algorithm, run, fold, score and rho. Each is the name of a column; several columns, whose
        cells are joined by a space; ``"=iris"``, the same name in every row; a pattern of the cells of a column,
        ``"Fold{fold}.Rep{run}@Resample"``; or a pattern of the names of columns, ``"{algorithm}~Accuracy"``, whose cells
        are then the scores. ``{stem}`` and ``{folder}`` are the file's name without its ending, and that of its folder.
    format_name : str
        Kept as ``attrs["format"]``.
    file : path, optional
        What ``{stem}`` is of.
    where : mapping from column to value or values, optional
        Only these rows are kept.
    folds : int, optional
        Folds of a run, where one column counts through all runs, or none numbers the rows.
    measure : str, optional
        Which measure, where a column or the names of columns tell several.
    also : str or sequence of str
        Further columns to keep; ``"*"`` keeps all.
    higher_is_better : bool, optional
        What the format says; what only the name of the measure says is left to the comparison.
    notes : sequence of Note
    counts_runs : bool
        Whether the fold column counts through all runs; ``folds`` or rho is needed then.
    in_order : bool
        Whether rows that no column numbers are folds in their order.
    wide : mapping from column to mapping from role to name, optional
        Columns of scores, and what the name of each says.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold and score, rho where it is known, and those of ``also``. In ``attrs`` are
        format, notes, mapping and, where they are known, measure and higher_is_better.

    Raises
    ------
    ScoreTableError, ArgumentError
        If a role has no column, or several; the message says how to name one.
    """
    import pandas as pd

    text_options(measure=measure)
    asked, (stated, stated_of) = measure, stated_direction(frame)
    given = _checked_roles(roles or {})
    before = notes_of_reading(frame)
    notes = [*(before if "rho" not in given and folds is None else without_assumed_rho(before)), *notes]
    frame = kept_rows(frame, where)
    frame, measure, several = _rows_of_measure(frame, given, measure)
    own_names = list(map(str, frame.columns))
    given, frame, measure = _long(frame, given, measure, file, wide)
    plain: dict[str, str] = {}
    made: dict[str, Any] = {}
    for role, spec in given.items():
        if isinstance(spec, str) and spec in frame.columns:
            plain[role] = spec
        else:
            made |= _cells(frame, role, spec, file)
    if "fold" not in given and "run" not in made:
        made |= _resamples(frame, {*plain.values()})
    pattern = made.pop(" pattern", None)
    try:
        found = find_columns(frame, plain, without=[*made], choose=_as_role)
    except ScoreTableError as error:
        remedy, arguments = error.remedy, error.arguments
        if error.places == ("dataset",):
            if own_names != list(map(str, frame.columns)):  # the names of columns have become rows
                remedy = f"Pass dataset=.... The columns are: {first_names(own_names)}."
            stem = "" if file is None else ", or take the name of the file: dataset='{stem}'"
            remedy += f" If the table holds one data set, name it: dataset='=iris'{stem}."
            named = (Argument("dataset"), Argument("dataset", "=iris"), Argument("dataset", "{stem}"))
            arguments = (*arguments, *named)
        raise ScoreTableError(
            error.message, remedy=remedy, places=error.places, key="columns", arguments=arguments
        ) from None
    _refuse_second_header(frame, found, file)
    cells: dict[str, Any] = {role: made[role] if role in made else frame[found[role]] for role in (*made, *found)}
    if "score" in found and _holds_lists(frame[found["score"]]):
        frame, cells = _each_of_lists(frame, cells)
    if in_order and not {"run", "fold"} & set(cells) and folds is None:
        cells["fold"] = _ordered_folds(cells, known="rho" in cells)
        if int(cells["fold"].max(initial=1)) > 1:
            notes.append(Note(DefaultedRhoWarning, IN_ORDER, key=ROWS_IN_ORDER))
    elif in_order and "run" in cells and "fold" not in cells and folds is None:
        cells["fold"] = _ordered_folds(cells, known="rho" in cells)
    names = {role: given.get(role) if role in made else found.get(role) for role in ROLES}
    if pattern is not None:
        names["fold" if "fold" in made else "run"] = pattern
    if folds is not None:
        cells |= _counted_folds(cells, whole_number("folds", folds, 2))
    elif counts_runs and "rho" not in cells:
        raise _needs_folds(cells["fold"], str(names["fold"]))
    kept = [name for name in frame.columns if name not in found.values()] if also == "*" else []
    for name in () if also == "*" else one_or_more("also", also):
        if name not in frame.columns:
            remedy = f"{nearest_name(name, frame.columns)} The columns are: {first_names(list(frame.columns))}."
            message = f"There is no column {shown(name)!r}, which rope (--rope), groups (--groups) or also names."
            raise ArgumentError(message, remedy=remedy.strip())
        kept.append(name)
    if several or (not {"run", "fold"} <= set(cells) and len(frame) < LARGE):
        _refuse_repeated(frame, cells, found, several)
    if several:
        if higher_is_better is None:  # a direction that the format states holds for all its measures
            refuse_opposite_directions({name: not lower_is_better(name) for name in several})
        text = f"The scores are of {len(several)} measures: {first_names(several)}."
        one = Argument("measure", several[0])
        notes.append(Note(HiercompWarning, text, f"Keep one with {one}.", key="several_measures", arguments=(one,)))
    if "rho" not in cells and folds is None:
        independent = is_independent(names["run"], None if _is_constant(names["fold"]) else names["fold"])
        if independent:
            cells["rho"] = np.zeros(len(frame))
            what = names["fold"] if "fold" in cells and not _is_constant(names["fold"]) else names["run"]
            notes.append(_independence(str(what)))
    if "run" not in cells and "rho" not in cells and "fold" in cells:
        notes += _many_folds(cells)
    for role in ("run", "fold"):
        if role not in cells:
            cells[role] = np.ones(len(frame), dtype=np.int64 if len(frame) < LARGE else np.int8)
    columns = {role: cells[role] for role in ROLES if role in cells} | {name: frame[name] for name in kept}
    columns = {name: _plain_cells(values, len(frame)) for name, values in columns.items()}
    tidy = pd.DataFrame(columns, copy=False)
    score = found.get("score")
    said = {role: spec for role, spec in (roles or {}).items() if spec is not None}
    if higher_is_better is not None and score not in (None, "score "):
        measure = str(score)  # what the format says is of this column, whichever measure it was made of
    elif measure is None and score == "score ":
        measure = next((ending for spec in said.values() if (ending := _measure_in_pattern(spec)) is not None), None)
    elif measure is None and score is not None and not several and str(score).casefold() not in NO_MEASURES:
        measure = str(score)
    if higher_is_better is None and not several:  # what the table's attributes say, if it is of these scores
        by_column = score == "score " or (score is not None and role_of(str(score)) != "score")
        if measure is None or (asked is None and not by_column):
            measure, higher_is_better = stated_of or measure, stated
        elif stated_of in (None, measure):
            higher_is_better = stated
    if several and higher_is_better is None and lower_is_better(several[0]):  # as all are
        measure = several[0]
    about = {"measure": measure, "higher_is_better": higher_is_better}
    tidy.attrs = {"format": format_name, "notes": [note.text for note in notes]}
    called = {role: name for role, name in names.items() if name is not None and name != f"{role} "}
    tidy.attrs["mapping"] = called | said
    tidy.attrs |= {name: value for name, value in about.items() if value is not None}
    warn_caller(notes)
    return tidy


def mapped_again(
    frame: pd.DataFrame, roles: Mapping[str, Spec] | None, where: Mapping[str, Any] | None, *, also: Sequence[str]
) -> pd.DataFrame:
    """The tidy table of an importer with other roles or some rows only; what is known of its scores stays."""
    if not roles and not where:
        return frame
    found = map_table(frame, roles, where=where, also=also)
    found.attrs = frame.attrs
    return found


def tidy_frame(
    columns: Mapping[str, Any],
    *,
    format_name: str,
    measure: str | None = None,
    notes: Sequence[Note] = (),
    duplicates: str = "Keep one score for each data set, algorithm, run and fold.",
    names: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The frame that an importer of a tool returns, checked, with its notes raised as warnings.

    Parameters
    ----------
    columns : mapping
        Cells of dataset, algorithm, run, fold and score, of rho where it is known, and of further measures.
    format_name : str
        Kept as ``attrs["format"]``.
    measure : str, optional
        Kept as ``attrs["measure"]``; a loss is noted.
    notes : sequence of Note
        Texts are kept as ``attrs["notes"]``.
    duplicates : str
        What to do where a cell has several scores.
    names : mapping, optional
        What the source calls dataset, algorithm and the others, for messages and ``attrs["mapping"]``.

    Raises
    ------
    ScoreTableError
        If a name is empty, a score is no number or a cell has several scores.
    """
    import pandas as pd

    frame = pd.DataFrame(dict(columns))
    called = {role: name for role, name in (names or {}).items() if name and name not in frame.columns}
    try:
        tidy = tidy_scores(frame.rename(columns=called), called)
        places = list(PLACES)
        repeated = tidy.frame.duplicated(places, keep=False).to_numpy()
        if repeated.any():
            cells = tidy.frame.loc[repeated]
            problem = duplicate_scores(cells, len(cells[places].drop_duplicates()))
            raise ScoreTableError(problem.message, remedy=duplicates, places=problem.places, key=problem.key)
    except ScoreTableError as error:
        error.table = frame
        raise
    for name in (*PLACES, "score"):
        frame[name] = tidy.frame[name]
    higher_is_better = None if measure is None else named_direction(measure)
    frame.attrs = {"format": format_name, "notes": [note.text for note in notes]}
    frame.attrs["mapping"] = {role: (names or {}).get(role) or role for role in ROLES if role in frame.columns}
    if measure is not None:
        frame.attrs["measure"] = measure
    if higher_is_better is not None:
        frame.attrs["higher_is_better"] = higher_is_better
    raised = [*notes, *tidy.notes]  # the latter are not kept: every comparison finds them itself
    if higher_is_better is False:
        raised.append(lower_is_better_note([str(measure)]))
    warn_caller(raised)
    return frame


def checked_frame(
    mapped: pd.DataFrame, duplicates: str = "Keep one score for each data set, algorithm, run and fold."
) -> pd.DataFrame:
    """What `map_table` gave, with the checks of `tidy_frame` and its own attributes."""
    about = mapped.attrs
    cells = {str(name): mapped[name] for name in mapped.columns}
    tidy = tidy_frame(cells, format_name=about["format"], duplicates=duplicates)
    tidy.attrs = about
    return tidy


def kept_rows(frame: pd.DataFrame, where: Mapping[str, Any] | None) -> pd.DataFrame:
    """The rows of a table whose cells are as asked for.

    Parameters
    ----------
    frame : DataFrame
    where : mapping from column to value or values, optional
        Numbers are compared as numbers, all else as text.

    Raises
    ------
    ScoreTableError, ArgumentError
        If there is no such column, or no row is left.
    """
    if not where:
        return frame
    kept = frame[rows_kept(frame, where)].reset_index(drop=True)
    kept.attrs = dict(frame.attrs)
    return kept


def rows_kept(frame: pd.DataFrame, where: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Whether each row of a table is as asked for; see `kept_rows`."""
    if not isinstance(where, Mapping):
        raise ArgumentError(f"where must be a mapping such as {{'mode': 'aws'}}, got {where!r}.")
    keep = np.ones(len(frame), dtype=bool)
    for name, wanted in where.items():
        if name not in frame.columns:
            near = nearest_name(str(name), map(str, frame.columns))
            remedy = f"{near} The columns are: {first_names(list(frame.columns))}."
            raise ScoreTableError(f"where names column {shown(name)!r}, but there is none.", remedy=remedy.strip())
        values = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
        rows = np.zeros(len(frame), dtype=bool)
        for value in values:
            rows |= _equal(frame[name], value)
        if not rows.any():
            there = [str(cell) for cell in frame[name].dropna().unique()[:20]]
            listed = " or ".join(repr(shown(value)) for value in values)
            remedy = f"{nearest_name(str(values[0]), there)} There are: {first_names(there)}.".strip()
            raise ScoreTableError(f"No row has {listed} in column {shown(name)!r}.", remedy=remedy)
        keep &= rows
    if not keep.any():
        raise ScoreTableError(f"No row fulfils all {len(where)} conditions of where.")
    return keep


def plain_roles(
    frame: pd.DataFrame, roles: Mapping[str, Spec], file: str | Path | None = None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A table with a column for each role whose cells are not those of a column, and the column of each role.

    A name that is no column stays as it is: importers that know the tool's own names judge it.
    """
    made: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    for role, spec in _checked_roles(roles).items():
        listed = not isinstance(spec, str)
        if isinstance(spec, str) and spec not in frame.columns and (spec.startswith("=") or is_pattern(spec)):
            made |= _cells(frame, role, spec, file)
        elif listed and isinstance(spec, Sequence):
            made |= _cells(frame, role, spec, file)
        else:
            plain[role] = spec
    if made:
        attrs = dict(frame.attrs)
        frame = frame.assign(**{f"{role} ": values for role, values in made.items()})
        frame.attrs = attrs
    return frame, plain | {role: f"{role} " for role in made}


def stem_of(file: str | Path | None) -> str:
    """The name of a file without folders and ending: "iris" of "folds/iris.csv.gz".

    Raises
    ------
    ArgumentError
        If there is no file.
    """
    if file is None:
        raise ArgumentError("{stem} is the name of a file, and the table is in none.")
    path = Path(file)
    if path.suffix.casefold() in PACKED:
        path = path.with_suffix("")
    return path.stem


def is_pattern(spec: object) -> bool:
    """Whether what plays a role has braces."""
    return isinstance(spec, str) and PLACEHOLDER.search(spec) is not None


def is_pattern_of_names(spec: object) -> bool:
    """Whether what plays a role is a pattern of the names of columns: the table is then wide."""
    return is_pattern(spec) and "@" not in str(spec) and bool({*PLACEHOLDER.findall(str(spec))}.difference(OF_THE_FILE))


def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression of a pattern in braces, a group for each.

    Examples
    --------
    >>> compiled("Fold{fold}.Rep{run}").fullmatch("Fold01.Rep2").groupdict()
    {'fold': '01', 'run': '2'}
    """
    repeated = first_repeated(PLACEHOLDER.findall(pattern))
    if repeated is not None:
        raise ArgumentError(f"The pattern {shown(pattern)!r} has {{{repeated}}} twice.")
    parts = PLACEHOLDER.split(pattern)  # text and names in turn
    return re.compile(
        "".join(re.escape(part) if place % 2 == 0 else f"(?P<{part}>.+?)" for place, part in enumerate(parts)),
        re.DOTALL,
    )


# What plays a role


def _checked_roles(roles: Mapping[str, Spec | None]) -> dict[str, Spec]:
    if not isinstance(roles, Mapping):
        raise ArgumentError(f"roles must be a mapping such as {{'score': 'auc'}}, got {roles!r}.")
    given: dict[str, Spec] = {}
    for role, spec in roles.items():
        if role not in ROLES:
            raise ArgumentError(f"There is no role {role!r}; the roles are {', '.join(ROLES)}.")
        if spec is None:
            continue
        number = isinstance(spec, (int, float, np.number)) and not isinstance(spec, bool)
        listed = isinstance(spec, Sequence) and all(isinstance(name, str) for name in spec) and len(spec) > 0
        if not (listed or number) or (number and role in ("dataset", "algorithm", "score")) or spec == "":
            if spec == "":  # the column without a name
                given[role] = spec
                continue
            raise ArgumentError(
                f"{role} must be the name of a column, '=' and a name, a pattern such as 'Fold{{fold}}@id', or several "
                f"columns, got {spec!r}."
            )
        given[role] = spec
    return given


def _cells(frame: pd.DataFrame, role: str, spec: Spec, file: str | Path | None) -> dict[str, Any]:
    """The cells of a role, and of the others in its pattern."""
    if not isinstance(spec, str):
        if isinstance(spec, Sequence):
            joined = None
            for part in spec:
                text = _as_text(frame[part] if part in frame.columns else _cells(frame, role, part, file)[role], frame)
                joined = text if joined is None else joined + " " + text
            return {role: joined}
        return {role: np.full(len(frame), checked_rho(spec) if role == "rho" else spec)}
    if spec.startswith("="):
        return {role: _constant(frame, role, spec[1:])}
    if not is_pattern(spec):
        near = nearest_name(spec, map(str, frame.columns))
        constant = "" if role in ("score", "rho") else f" If it is the name in every row, pass {role}={'=' + spec!r}."
        listed = f"The columns are: {first_names(list(map(str, frame.columns)))}."
        message = f"There is no column {shown(spec)!r} for the {role}."
        raise ScoreTableError(message, remedy=f"{near} {listed}{constant}".strip(), key="columns")
    pattern, mark, column = spec.rpartition("@")
    if not mark:  # of the file alone
        return {role: _constant(frame, role, _of_file(spec, file))}
    if column in ("{stem}", "{folder}"):
        text = _of_file(column, file)
        match = compiled(pattern).fullmatch(text)
        if match is None:
            raise ScoreTableError(f"The name {shown(text)!r} does not match {shown(pattern)!r}.", key="columns")
        return {part: _constant(frame, part, value) for part, value in match.groupdict().items()}
    if column not in frame.columns:
        remedy = f"{nearest_name(column, map(str, frame.columns))} The columns are: {first_names(list(frame.columns))}."
        raise ScoreTableError(
            f"There is no column {shown(column)!r} of {shown(spec)!r}.", remedy=remedy.strip(), key="columns"
        )
    made, odd = _parts(frame[column], pattern)
    if odd:
        count = "1 cell of column {!r} does" if len(odd) == 1 else f"{len(odd):,} different cells of column {{!r}} do"
        message = f"{count.format(shown(column))} not match {shown(pattern)!r}: {first_names(odd)}."
        raise ScoreTableError(message, remedy="Correct the pattern, or remove these rows.", key="columns")
    if role not in made:
        raise ArgumentError(f"The pattern {shown(spec)!r} has no {{{role}}}.")
    return made


def _parts(column: pd.Series, pattern: str) -> tuple[dict[str, Any], list[str]]:
    """The parts of cells that a pattern names, and the different cells that do not match."""
    expression = compiled(pattern)
    codes, originals = column.factorize(use_na_sentinel=False)
    matches = [expression.fullmatch(str(cell).strip()) for cell in originals]
    odd = [str(cell) for cell, match in zip(originals, matches, strict=True) if match is None]
    if odd:
        return {}, odd
    parts = {}
    for part in expression.groupindex:
        texts = [match[part] for match in matches if match]
        numbers = part in ("run", "fold") and all(text.isdecimal() and len(text) < 16 for text in texts)
        values = np.array(list(map(int, texts))) if numbers else np.array(texts, dtype=object)
        parts[part] = values[codes]
    return parts, []


def _constant(frame: pd.DataFrame, role: str, text: str) -> Any:
    if role == "rho":
        if not is_number_text(text):
            raise ArgumentError(f"rho must be a column or a number, got {text!r}.")
        return np.full(len(frame), checked_rho(float(text)))
    if not text.strip():
        raise ArgumentError(f"{role}='=' names nothing; write the name after the sign, such as {role}='=iris'.")
    number = role in ("run", "fold") and text.isdecimal()
    return np.full(len(frame), int(text) if number else text, dtype=np.int64 if number else object)


def _of_file(text: str, file: str | Path | None) -> str:
    path = None if file is None else Path(file)
    stem = stem_of(path) if "{stem}" in text else ""
    folder = path.absolute().parent.name if path is not None else ""
    return text.replace("{stem}", stem).replace("{folder}", folder)


def _as_text(cells: Any, frame: pd.DataFrame) -> Any:
    import pandas as pd

    return (cells if isinstance(cells, pd.Series) else pd.Series(cells, index=frame.index)).astype(str)


def _is_constant(spec: object) -> bool:
    return isinstance(spec, (int, float)) or (isinstance(spec, str) and spec.startswith("="))


def _resamples(frame: pd.DataFrame, taken: set[str]) -> dict[str, Any]:
    """Runs and folds in the names that caret gives to resamples, where a column holds these."""
    for name in frame.columns:
        if str(name).casefold() != "resample" or name in taken:
            continue
        for pattern in (*RESAMPLES, "Resample{run}"):
            made, odd = _parts(frame[name], pattern)
            if not odd and all(str(part).isdecimal() for values in made.values() for part in set(values)):
                return made | {" pattern": f"{pattern}@{name}"}
    return {}


# Wide tables: columns of scores become rows


def _long(
    frame: pd.DataFrame,
    given: dict[str, Spec],
    measure: str | None,
    file: str | Path | None,
    wide: Mapping[str, Mapping[str, str]] | None,
) -> tuple[dict[str, Spec], pd.DataFrame, str | None]:
    """A table with one column of scores, and what then plays each role."""
    if wide is not None:
        long, made = unpivoted(frame, wide)
        return given | made, long, measure
    patterns = {role: spec for role, spec in given.items() if is_pattern_of_names(spec) and spec not in frame.columns}
    if not patterns:
        names = [name for name in frame.columns if FOLD_COLUMNS.fullmatch(str(name))]
        if "score" in given or "fold" in given or len(names) < 2 or "score" in frame.columns:
            return given, frame, measure
        captured = {name: {"fold": str(FOLD_COLUMNS.fullmatch(str(name))[1])} for name in names}  # type: ignore[index]
    else:
        pattern = str(next(iter(patterns.values())))
        if len({*patterns.values()}) > 1:
            raise ArgumentError(
                f"Only one role can be a pattern of the names of columns, got {first_names(list(patterns))}."
            )
        text = PLACEHOLDER.sub(lambda part: _of_file(part[0], file) if part[1] in OF_THE_FILE else part[0], pattern)
        taken = {spec for spec in given.values() if isinstance(spec, str)}
        found = {name: compiled(text).fullmatch(str(name)) for name in frame.columns if name not in taken}
        captured = {name: match.groupdict() for name, match in found.items() if match is not None}
        if text in ("{algorithm}", "{fold}", "{run}", "{dataset}"):  # all that is not told otherwise
            plain = {role: str(spec) for role, spec in given.items() if isinstance(spec, str) and spec in frame.columns}
            without = {"algorithm", "score", *given} - {*plain}
            roles = find_columns(frame, plain, without=without, choose=_as_role)
            captured = {name: part for name, part in captured.items() if name not in roles.values()}
        if not captured:
            listed = first_names(list(map(str, frame.columns)))
            raise ScoreTableError(
                f"No column is called as in {shown(pattern)!r}.", remedy=f"The columns are: {listed}.", key="columns"
            )
        captured = {
            name: parts for name, parts in captured.items() if "measure" in parts or frame[name].dtype.kind in "fiu"
        } or captured
        if "{measure}" in pattern:
            measure = chosen_measure(measure, list(dict.fromkeys(parts["measure"] for parts in captured.values())))
            captured = {name: parts for name, parts in captured.items() if parts.pop("measure") == measure}
    long, made = unpivoted(frame, captured)
    rest: dict[str, Spec] = {role: spec for role, spec in given.items() if role not in patterns}
    return rest | made, long, measure


def unpivoted(frame: pd.DataFrame, captured: Mapping[Any, Mapping[str, str]]) -> tuple[pd.DataFrame, dict[str, Spec]]:
    """A table with a row for each cell of some columns.

    Parameters
    ----------
    frame : DataFrame
    captured : mapping from column to mapping from role to name
        What the name of each column says of its cells.

    Returns
    -------
    long : DataFrame
        The other columns, one of scores, and one for each role in the names; their names, with a space, are no other's.
    roles : dict from role to str
        Which columns these are.
    """
    count = len(captured)
    others = frame.drop(columns=list(captured))
    long = others.take(np.tile(np.arange(len(frame)), count)).reset_index(drop=True)
    long["score "] = np.concatenate([frame[name].to_numpy() for name in captured])
    roles: dict[str, Spec] = {"score": "score "}
    for role in next(iter(captured.values())):
        parts = np.array([parts[role] for parts in captured.values()], dtype=object)
        long[f"{role} "] = np.repeat(parts, len(frame))
        roles[role] = f"{role} "
    long.attrs = dict(frame.attrs)
    return long, roles


def _as_role(role: str, name: str | None) -> Argument:
    return Argument(role, ... if name is None else name)


def _measure_in_pattern(spec: Spec) -> str | None:
    """The measure that a pattern of the names of columns ends with, as "Accuracy" in "{algorithm}~Accuracy"."""
    if not is_pattern_of_names(spec):
        return None
    texts = [part.strip(" ~._-:/|") for part in PLACEHOLDER.split(str(spec))[::2]]
    return next((text for text in texts if text and (is_measure(text) or lower_is_better(text))), None)


def _holds_lists(column: pd.Series) -> bool:
    """Whether cells hold all folds of a row, as OpenML has them."""
    if column.dtype.kind in "fiub":
        return False
    cells = [
        cell for cell in column.head(20).tolist() if isinstance(cell, np.ndarray) or (cell is not None and cell == cell)
    ]
    return bool(cells) and all(
        isinstance(cell, (list, tuple, np.ndarray)) or (isinstance(cell, str) and cell.strip()[:1] == "[")
        for cell in cells
    )


def _each_of_lists(frame: pd.DataFrame, cells: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A row for each number of the lists in the scores, which are the folds in their order."""
    import pandas as pd

    lists: list[list[Any]] = []
    for row, cell in enumerate(cells["score"]):
        if not isinstance(cell, str):
            lists.append(list(cell) if isinstance(cell, (list, tuple, np.ndarray)) else [cell])
            continue
        texts = [text for text in re.split(r"[,;\s]+", cell.strip().strip("[]()")) if text]
        if not texts or not all(map(is_number_text, texts)):
            raise ScoreTableError(f"Row {row + 1}: {shown(cell)!r:.60} is not a list of scores.")
        lists.append([float(text) for text in texts])
    count = [len(found) for found in lists]
    rows = np.repeat(np.arange(len(frame)), count)
    long = frame.take(rows).reset_index(drop=True)
    spread: dict[str, Any] = {
        role: pd.Series(values).take(rows).reset_index(drop=True) for role, values in cells.items() if role != "score"
    }
    spread["score"] = [number for found in lists for number in found]
    if "fold" not in spread:
        _refuse_unequal_counts(spread)
        spread["fold"] = np.concatenate([np.arange(1, number + 1) for number in count])
    return long, spread


# Which measure, which folds, and what stands twice


def _rows_of_measure(
    frame: pd.DataFrame, given: dict[str, Spec], measure: str | None
) -> tuple[pd.DataFrame, str | None, list[str]]:
    """The rows of one measure; the measures that remain where none was asked for and a column names several."""
    named = next(
        (
            name
            for name in frame.columns
            if plain_column_name(name) in METRIC_COLUMNS and frame[name].dtype.kind in "OUST"
        ),
        None,
    )
    named = None if named in given.values() else named
    there = [] if named is None else [str(name) for name in frame[named].dropna().unique()]
    if any("{measure}" in spec for spec in given.values() if isinstance(spec, str)):
        return frame, measure, []
    if measure is None:
        return frame, there[0] if len(there) == 1 else None, there if len(there) > 1 else []
    if measure in there:
        return kept_rows(frame, {str(named): measure}), measure, []
    if measure in frame.columns and "score" not in given:
        given["score"] = measure
        return frame, measure, []
    if "score" in given and not there:
        return frame, measure, []
    chosen_measure(measure, there or [str(name) for name in score_candidates(frame)])
    return frame, measure, []


def _counted_folds(cells: dict[str, Any], folds: int) -> dict[str, Any]:
    """Runs and folds of rows that one column, or their order, counts through all runs."""
    import pandas as pd

    if "run" in cells and "fold" in cells:
        raise ArgumentError(
            "folds is for tables that do not tell runs from folds; this has both.", remedy="Leave it out."
        )
    counter = cells.get("fold", cells.get("run"))
    if counter is None:
        _refuse_unequal_counts(cells)
        place = [
            pd.Series(np.asarray(cells[role])).reset_index(drop=True)
            for role in ("dataset", "algorithm")
            if role in cells
        ]
        position = pd.Series(np.zeros(len(place[0]))).groupby(place, sort=False).cumcount().to_numpy()
    else:
        codes, found = pd.Series(np.asarray(counter)).astype(str).factorize()
        labels = [str(label) for label in found]
        order = np.array(sorted(range(len(labels)), key=lambda code: _natural(labels[code])))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        numbers = [int(float(label)) if is_number_text(label) and float(label) % 1 == 0 else -1 for label in labels]
        if numbers and min(numbers) in (0, 1):  # a number that is left out counts
            rank = np.array(numbers) - min(numbers)
        position = rank[codes]
    last = int(position.max()) + 1
    if last % folds:
        raise ScoreTableError(
            f"{last} scores do not make a whole number of runs of {folds} folds.", remedy="Correct folds."
        )
    run, fold = runs_and_folds(position, folds)
    return {"run": run, "fold": fold} | ({} if "rho" in cells else {"rho": rho_of_folds(cells["dataset"], run, fold)})


def _ordered_folds(cells: Mapping[str, Any], *, known: bool) -> np.ndarray:
    """The number of each row among those of its data set, algorithm and run."""
    import pandas as pd

    place = [pd.Series(np.asarray(cells[role])) for role in ("dataset", "algorithm", "run") if role in cells]
    order = np.asarray(pd.Series(np.zeros(len(place[0]))).groupby(place, sort=False).cumcount() + 1)
    most = int(order.max(initial=1))
    if most > MOST_FOLDS and not known:
        raise ScoreTableError(
            f"A data set has {most} rows and no column says which fold each is.",
            remedy="Pass folds=10 where they are runs of 10 folds, one after the other, or rho.",
            arguments=(Argument("folds", 10),),
            key="folds",
        )
    _refuse_unequal_counts(cells)
    return order


def _refuse_unequal_counts(cells: Mapping[str, Any]) -> None:
    """Refuse rows without a fold where an algorithm has fewer than another: nobody can tell which are missing."""
    import pandas as pd

    keys = {role: np.asarray(cells[role]) for role in ("dataset", "run", "algorithm") if role in cells}
    counts = pd.DataFrame(keys).groupby(list(keys), sort=False, observed=True).size()
    by_place = counts.groupby(level=list(keys)[:-1], sort=False)
    odd = by_place.transform("min") < by_place.transform("max")
    if not odd.any():
        return
    here = counts[odd].reset_index(name="count")
    dataset = str(here["dataset"].iloc[0])
    here = here[here["dataset"].astype(str) == dataset].sort_values("count")
    (fewest, most), (few, many) = (here[name].iloc[[0, -1]].tolist() for name in ("algorithm", "count"))
    raise ScoreTableError(
        f"Data set {shown(dataset)!r}: {shown(fewest)!r} has {counted(few, 'score')} and {shown(most)!r} {many}, and no "
        "column says which fold each belongs to, so nobody can tell which are missing.",
        remedy="Add a column fold, or remove this data set.",
        places=(dataset,),
        key="unequal_counts",
    )


def _refuse_second_header(frame: pd.DataFrame, found: Mapping[str, str], file: str | Path | None) -> None:
    """Refuse rows that hold the names of the columns, as where files were joined."""
    named = [name for role, name in found.items() if role in ("dataset", "algorithm", "score")]
    if len(named) < 2 or any(frame[name].dtype.kind in "fiub" for name in named if name == found.get("score")):
        return
    rows = np.ones(len(frame), dtype=bool)
    for name in named:
        rows &= np.asarray(frame[name].astype(str).str.strip() == str(name))
        if not rows.any():
            return
    first = int(np.flatnonzero(rows)[0])
    lines = None if file is None else lines_of_rows(file, {})
    place = f"Line {lines[first]}" if lines is not None and len(lines) == len(frame) else f"Row {first + 1}"
    count = int(rows.sum())
    message = f"{place} repeats the header." if count == 1 else f"{place} and {count - 1} more repeat the header."
    raise ScoreTableError(message, remedy="Remove such lines.", key="second_header")


def _needs_folds(counter: Any, name: str) -> ScoreTableError:
    count = len(set(np.asarray(counter).tolist()))
    return ScoreTableError(
        f"Column {shown(name)!r} counts {count} iterations through all runs, and the table does not tell the folds of one.",
        remedy=f"Pass folds={count} for one run, folds={max(count // 2, 2)} for two, or rho where they are random splits.",
        arguments=(
            Argument("folds", count),
            Argument("folds", max(count // 2, 2)),
        ),
        key="folds",
    )


def _refuse_repeated(
    frame: pd.DataFrame, cells: dict[str, Any], found: Mapping[str, str], several: Sequence[str]
) -> None:
    """Refuse cells that have several scores, with the column that would tell them apart."""
    import pandas as pd

    places = [role for role in PLACES if role in cells]
    place = pd.DataFrame({role: _plain_cells(cells[role], len(frame)) for role in (*places, "score")}, copy=False)
    repeated = place.duplicated(places, keep=False).to_numpy()
    if not repeated.any():
        return
    if several and "score" in found:
        chosen_measure(None, several)
    rows = place[repeated]
    count = len(rows.drop_duplicates(places))
    problem = duplicate_scores(rows, count)
    remedy = problem.remedy
    telling = telling_columns(frame, place[places], {*found.values(), *map(str, several)})
    if telling:
        role = "fold" if "fold" not in cells else "run"
        others = f" (or {first_names(telling[1:])})" if len(telling) > 1 else ""
        remedy = f"Column {telling[0]!r}{others} tells them apart: pass {role}={telling[0]!r}, or keep rows with where."
    error = ScoreTableError(problem.message, remedy=remedy, places=problem.places, key=problem.key)
    raise error


def telling_columns(frame: pd.DataFrame, place: pd.DataFrame, taken: set[str]) -> list[str]:
    """The columns with which no two rows have the same place."""
    found = []
    for name in frame.columns[:200]:
        if name in taken or frame[name].dtype.kind == "f" or frame[name].nunique() == len(frame):
            continue
        if not place.assign(**{"telling ": frame[name].to_numpy()}).duplicated().any():
            found.append(str(name))
    return found


def _many_folds(cells: Mapping[str, Any]) -> list[Note]:
    """That so many folds without a run column may be several runs, which is not seen once there is one."""
    import pandas as pd

    folds = pd.Series(np.asarray(cells["fold"]))
    if folds.nunique() <= MOST_FOLDS:
        return []
    datasets = pd.Series(np.asarray(cells["dataset"])).astype(str)
    count = folds.groupby(datasets, sort=False).nunique()
    names = [str(name) for name in count.index]
    return notes_or_error(
        doubtful_rho(names, default_rho(count, otherwise=0.0), np.asarray(count, dtype=np.int64), has_run=False)
    )


def _independence(name: str) -> Note:
    message = (
        f"The scores of a data set differ by {shown(name)!r}: they are treated as independent repetitions, rho = 0."
    )
    remedy = "If each draws another part of the same data for testing, pass the share of test cases: rho=0.2."
    return Note(DefaultedRhoWarning, message, remedy, key="independent", arguments=(Argument("rho", 0.2),))


def _plain_cells(values: Any, count: int) -> Any:
    return values if hasattr(values, "__len__") and len(values) == count else np.asarray(values)


def _equal(column: pd.Series, value: Any) -> np.ndarray:
    """Where the cells of a column are a value; numbers as numbers, else as text."""
    if column.dtype.kind in "fiu" and is_number_text(str(value)):
        return np.asarray(column.to_numpy(float, na_value=np.nan) == float(value))
    return np.asarray(column.astype(str).str.strip() == str(value).strip())


def _natural(label: str) -> list[tuple[int, Any]]:
    """A key that sorts fold2 before fold10."""
    parts = [part for part in re.split(r"(\d+)", label) if part]
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts]
