"""Arrays of shape (data sets, scores), one for each algorithm, as baycomp takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import as_doubles, refuse_masked, whole_number
from hiercomp.errors import ArgumentError, ScoreTableError
from hiercomp.files.formats.common import runs_and_folds
from hiercomp.files.mapping import tidy_frame
from hiercomp.scores.rho import default_rho
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd

# Data set, algorithm, scores, folds of a run, rho (None: by the folds) and further measures
Block: TypeAlias = "tuple[str, str, np.ndarray, int, float | None, Mapping[str, np.ndarray]]"


def from_score_arrays(
    scores: Mapping[str, ArrayLike | Sequence[ArrayLike]],
    *,
    datasets: Sequence[str] | None = None,
    runs: int = 1,
) -> pd.DataFrame:
    """Tidy scores of arrays with a row for each data set.

    Parameters
    ----------
    scores : mapping from algorithm to array_like, shape (q, n)
        Scores by (possibly repeated) cross-validation, all folds of the first run first; rows may differ in length.
    datasets : sequence of str, optional
        Names of the q data sets; "1", "2", ... where absent.
    runs : int
        Runs that each row holds, as in baycomp: n/runs folds make a run, and rho is runs/n.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, run, fold, score and rho.

    Raises
    ------
    ScoreTableError
        If arrays differ in shape, or n is no multiple of runs.

    Examples
    --------
    >>> scores = from_score_arrays({"tree": [[0.9, 0.8], [0.7, 0.6]], "bayes": [[0.9, 0.9], [0.8, 0.5]]})
    >>> scores.head(2)
      dataset algorithm  run  fold  score  rho
    0       1      tree    1     1    0.9  0.5
    1       1      tree    1     2    0.8  0.5
    """
    runs = whole_number("runs", runs, 1)
    if not isinstance(scores, Mapping) or not scores:
        raise ArgumentError(
            "scores must be a mapping from algorithm to array, such as {'tree': array, 'bayes': array}."
        )
    blocks: list[Block] = []
    shapes: dict[str, list[int]] = {}
    for algorithm, given in scores.items():
        rows = _rows(given, str(algorithm))
        names = [str(name) for name in (range(1, len(rows) + 1) if datasets is None else datasets)]
        if len(names) != len(rows) or len(set(names)) < len(names):
            raise ScoreTableError(f"datasets must be {len(rows)} different names, got {names[:10]}.")
        shapes[str(algorithm)] = [len(row) for row in rows]
        for name, row in zip(names, rows, strict=True):
            if len(row) == 0 or len(row) % runs:
                raise ScoreTableError(
                    f"Data set {shown(name)!r} has {len(row)} scores of {shown(algorithm)!r}, which {runs} runs can't share "
                    "equally.",
                    remedy="Correct runs.",
                )
            blocks.append((name, str(algorithm), row, len(row) // runs, None, {}))
    first, *others = shapes
    for other in others:
        if shapes[other] != shapes[first]:
            raise ScoreTableError(
                f"The scores of {shown(first)!r} and {shown(other)!r} differ in shape; they must be paired, fold by fold."
            )
    return tidy_blocks(blocks, format_name="arrays")


def tidy_blocks(blocks: Iterable[Block], **about: Any) -> pd.DataFrame:
    """The frame of the scores of every data set and algorithm, fold by fold; ``about`` as for `tidy_frame`."""
    parts: dict[str, list[Any]] = {}
    for dataset, algorithm, scores, folds, rho, further in blocks:
        count = len(scores)
        run, fold = runs_and_folds(np.arange(count), folds)
        cells = {
            "dataset": np.full(count, dataset, dtype=object),
            "algorithm": np.full(count, algorithm, dtype=object),
            "run": run,
            "fold": fold,
            "score": scores,
            "rho": np.full(count, default_rho(folds, otherwise=0.0) if rho is None else rho),
            **further,
        }
        for name, values in cells.items():
            parts.setdefault(name, []).append(values)
    if not parts:
        raise ScoreTableError("There are no results.")
    return tidy_frame({name: np.concatenate(values) for name, values in parts.items()}, **about)


def number_array(values: Any, message: str) -> np.ndarray:
    """A one-dimensional array of numbers as floats; the message says what else is refused."""
    refuse_masked(values, "a row of scores")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise ScoreTableError(message)
    return as_doubles(array)


def _rows(given: Any, algorithm: str) -> list[np.ndarray]:
    message = f"The scores of {shown(algorithm)!r} must be a two-dimensional array of numbers, data sets by folds."
    try:
        rows = list(given)
    except TypeError:
        raise ScoreTableError(message) from None
    return [number_array(row, message) for row in rows]
