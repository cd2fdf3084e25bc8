"""Arrays of shape (data sets, scores), one for each algorithm, as baycomp takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import whole_number
from hiercomp.errors import ArgumentError, ScoreTableError
from hiercomp.files.formats.common import runs_and_folds, tidy_frame
from hiercomp.wording import shown

if TYPE_CHECKING:
    import pandas as pd


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
    parts: dict[str, list[np.ndarray]] = {name: [] for name in ("dataset", "algorithm", "run", "fold", "score", "rho")}
    shapes: dict[str, list[int]] = {}
    for algorithm, given in scores.items():
        rows = _rows(given, str(algorithm))
        names = (
            [str(number + 1) for number in range(len(rows))] if datasets is None else [str(name) for name in datasets]
        )
        if len(names) != len(rows) or len(set(names)) < len(names):
            raise ScoreTableError(f"datasets must be {len(rows)} different names, got {names[:10]}.")
        shapes[str(algorithm)] = [len(row) for row in rows]
        for name, row in zip(names, rows, strict=True):
            if len(row) == 0 or len(row) % runs:
                raise ScoreTableError(
                    f"Data set {shown(name)!r} has {len(row)} scores of {shown(algorithm)!r}, which {runs} runs can't share "
                    "equally. Correct runs."
                )
            folds = len(row) // runs
            run, fold = runs_and_folds(np.arange(len(row)), folds)
            parts["dataset"].append(np.full(len(row), name, dtype=object))
            parts["algorithm"].append(np.full(len(row), str(algorithm), dtype=object))
            parts["run"].append(run)
            parts["fold"].append(fold)
            parts["score"].append(row)
            parts["rho"].append(np.full(len(row), 1 / folds if folds > 1 else 0.0))
    first, *others = shapes
    for other in others:
        if shapes[other] != shapes[first]:
            raise ScoreTableError(
                f"The scores of {shown(first)!r} and {shown(other)!r} differ in shape; they must be paired, fold by fold."
            )
    return tidy_frame({name: np.concatenate(values) for name, values in parts.items()}, format_name="arrays")


def _rows(given: ArrayLike | Sequence[ArrayLike], algorithm: str) -> list[np.ndarray]:
    message = f"The scores of {shown(algorithm)!r} must be a two-dimensional array of numbers, data sets by folds."
    try:
        rows = [np.asarray(row) for row in given]  # type: ignore[union-attr]
        if any(row.ndim != 1 or row.dtype.kind not in "fiu" for row in rows):
            raise ScoreTableError(message)
        return [row.astype(float) for row in rows]
    except (TypeError, ValueError):
        raise ScoreTableError(message) from None
