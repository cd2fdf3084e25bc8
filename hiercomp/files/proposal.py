"""What an unknown table probably holds: the mapping that its names of columns and the counts of its cells suggest."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from hiercomp.errors import Argument, HiercompError
from hiercomp.files.formats.common import column_roles
from hiercomp.files.table import read_score_file
from hiercomp.scores.table import PLACES, holds_no_scores, score_candidates
from hiercomp.wording import first_names, shown

if TYPE_CHECKING:
    import pandas as pd

LARGEST_LOOKED_AT = 64 << 20  # bytes of a file whose cells are counted
MOST_CANDIDATES = 8
COUNTER = re.compile(r"(cv|fold|split|resample|iter|repeat|rep|seed|trial|run|question|item)", re.IGNORECASE)


def proposal(path: str | Path | None, frame: pd.DataFrame | None) -> tuple[str, tuple[Argument, ...]] | None:
    """What plays which role, in a sentence, and the arguments of `hiercomp.read_scores` that say so; None if nothing does.

    Parameters
    ----------
    path : path, optional
        The file.
    frame : DataFrame, optional
        Its table, where it has been read.
    """
    if frame is None:
        frame = _read_quietly(path)
    if frame is None:
        return None
    try:
        roles = proposed_roles(frame)
    except TypeError:  # cells that are lists or the like
        return None
    scores = score_candidates(frame, roles.values())
    wide = _as_wide(frame) if not {"dataset", "algorithm"} <= set(roles) else None
    if wide is not None:
        parts = [f"{role} = {shown(name)!r} ({_extent(frame[name])})" for role, name in wide.items()]
        algorithms = [name for name in frame.columns if name not in wide.values() and frame[name].dtype.kind == "f"]
        listed = first_names(list(map(str, algorithms)))
        text = f"Its cells suggest a column for each algorithm: {listed}, and {', '.join(parts)}."
        return text, (Argument("format", "wide"), *(Argument(role, shown(name)) for role, name in wide.items()))
    if not {"dataset", "algorithm"} <= set(roles) or not scores:
        return None
    parts = [f"{role} = {shown(name)!r} ({_extent(frame[name])})" for role, name in roles.items()]
    listed = " or ".join(repr(shown(name)) for name in scores[:4])
    arguments = {**roles, "score": scores[0]}
    passed = tuple(Argument(role, shown(name)) for role, name in arguments.items())
    return f"Its cells suggest {', '.join(parts)} and score = {listed}.", passed


def proposed_roles(frame: pd.DataFrame) -> dict[str, str]:
    """Which columns could be dataset, algorithm, run and fold: those with which no two rows have the same place.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"who": ["a", "a", "b", "b"], "where": ["x", "y", "x", "y"], "auc": [0.1, 0.2, 0.3, 0.4]})
    >>> proposed_roles(table.assign(where=["x", "y", "x", "y"]))
    {'dataset': 'who', 'algorithm': 'where'}
    """
    names = [name for name in map(str, frame.columns) if name]
    found = column_roles(names, PLACES)
    counts = {name: int(frame[name].nunique()) for name in names}
    names_held = [
        name
        for name in names
        if name not in found.values()
        and frame[name].dtype.kind not in "fiubmM"
        and 1 < counts[name] <= max(len(frame) / 2, 2)
    ][:MOST_CANDIDATES]
    if "fold" not in found:
        counters = [
            name
            for name in names
            if COUNTER.search(name)
            and name not in found.values()
            and 1 < counts[name] < len(frame)
            and frame[name].dtype.kind != "f"
        ]
        found |= {"fold": counters[0]} if counters else {}
    datasets = [found["dataset"]] if "dataset" in found else names_held
    algorithms = [found["algorithm"]] if "algorithm" in found else names_held
    place = [found[role] for role in ("run", "fold") if role in found]
    best: tuple[float, float, int] | None = None
    for dataset in datasets:
        for algorithm in algorithms:
            if dataset == algorithm or dataset in place or algorithm in place:
                continue
            repeated = float(frame.duplicated([dataset, algorithm, *place]).mean())
            cells = counts[dataset] * counts[algorithm]
            crossed = len(frame[[dataset, algorithm]].drop_duplicates()) / cells if cells else 0.0
            rank = (-repeated, crossed, counts[dataset] - counts[algorithm])
            if best is None or rank > best:
                best = rank
                found |= {"dataset": dataset, "algorithm": algorithm}
    if best is not None and best[0] < 0 and "fold" not in found:
        place = [found["dataset"], found["algorithm"], *place]
        telling = [
            name
            for name in names
            if name not in found.values() and frame[name].dtype.kind != "f" and 1 < counts[name] <= len(frame) / 2
        ]
        telling = [name for name in telling if not frame.duplicated([*place, name]).any()]
        found |= {"fold": telling[0]} if telling else {}
    return {role: found[role] for role in PLACES if role in found}


def _as_wide(frame: pd.DataFrame) -> dict[str, str] | None:
    """What plays which role in a table with a column of scores for each algorithm; None if it does not look like one."""
    kinds = {str(name): frame[name].dtype.kind for name in frame.columns}
    names = [name for name, kind in kinds.items() if kind not in "fiubmM"]
    counters = [name for name, kind in kinds.items() if kind in "iu"]
    scores = [name for name, kind in kinds.items() if kind == "f" and not holds_no_scores(name)]
    if len(names) != 1 or len(scores) < 2 or len(counters) > 2:
        return None
    found = {"dataset": names[0]} | dict(
        zip(("run", "fold") if len(counters) == 2 else ("fold",), counters, strict=False)
    )
    return None if frame.duplicated(list(found.values())).any() and counters else found


def _read_quietly(path: str | Path | None) -> pd.DataFrame | None:
    try:
        if path is None or not os.path.isfile(path) or os.path.getsize(path) > LARGEST_LOOKED_AT:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read_score_file(path)
    except (HiercompError, OSError):
        return None


def _extent(column: pd.Series) -> str:
    """How many values a column has, or from where to where they count."""
    if column.dtype.kind in "iu":
        return f"{column.min()} to {column.max()}"
    count = column.nunique()
    return f"{count:,} names" if count > 1 else "1 name"
