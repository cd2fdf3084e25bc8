"""McNemar's test of two algorithms on the same test cases."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hiercomp.arguments import refuse_masked
from hiercomp.closed_form.inputs import as_pairs, is_labelled
from hiercomp.closed_form.result import FrequentistResult
from hiercomp.errors import ArgumentError, ScoreTableError
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import shown

McNemarMethod: TypeAlias = Literal["exact", "chi2", "chi2_corrected"]

NAMES = {
    "exact": "McNemar's test (exact binomial)",
    "chi2": "McNemar's test (chi-squared)",
    "chi2_corrected": "McNemar's test (chi-squared with continuity correction)",
}


def mcnemar(
    x: Any,
    y: Any = None,
    *,
    method: McNemarMethod = "exact",
    left: str | None = None,
    right: str | None = None,
    higher_is_better: bool | None = None,
) -> FrequentistResult:
    """McNemar's test: do two algorithms err equally often on the same cases?

    Only the cases that just one algorithm gets right matter. If both err equally often, each of these is equally likely
    to favour either.

    Parameters
    ----------
    x, y : array_like
        x alone: the number of cases as a 2 x 2 table ``[[both right, only left right], [only right algorithm right, both
        wrong]]``, or these four numbers in that order in one sequence. x and y: whether the left and the right algorithm
        is right (1 or True) or wrong (0 or False), case by case; one row for each data set if there are several. Or x
        alone: `PairedDifferences` or a tidy table whose scores are all 0 or 1, a fold being a case.
    method : {"exact", "chi2", "chi2_corrected"}
        Binomial probabilities; (b - c)^2 / (b + c) compared with chi-squared of one degree of freedom; or (abs(b - c) -
        1)^2 / (b + c), where b and c count the cases that only the left and only the right algorithm gets right.
    left, right : str, optional
        The two algorithms of a table to compare, or names for them.
    higher_is_better : bool, optional
        False if 1 means wrong. By default as a table says, and True for arrays.

    Returns
    -------
    FrequentistResult
        The statistic has no sign: the smaller of b and c if the test is exact, else the chi-squared. If b and c are
        both 0, it is 0 and p is 1. With the continuity correction b = c gives 1 / (b + c), not 0.

    Raises
    ------
    ScoreTableError
        If the counts are not whole numbers of at least 0, or a score is neither 0 nor 1.
    ArgumentError
        If the method is unknown.

    References
    ----------
    McNemar, Psychometrika 12 (1947); Dietterich, "Approximate statistical tests for comparing supervised classification
    learning algorithms", Neural Computation 10 (1998), Sect. 3.1.

    Examples
    --------
    >>> mcnemar([[4, 2], [1, 3]]).pvalue  # 3 cases differ: 2 (1 + 3) / 2^3
    1.0
    >>> round(mcnemar([[40, 14], [3, 6]]).pvalue, 4)
    0.0127
    >>> mcnemar([1, 1, 0, 1, 1, 1], [1, 0, 0, 0, 0, 0]).pvalue
    0.125
    """
    if method not in get_args(McNemarMethod):
        raise ArgumentError(f"method must be 'exact', 'chi2' or 'chi2_corrected', got {method!r}.")
    dataset_names: tuple[str, ...] = ("1",)
    notes: tuple[str, ...] = ()
    if y is None and not is_labelled(x):
        tables, single = _table_of_counts(x)[None], True
        algorithms = (left or "left", right or "right")
    else:
        given = as_pairs(_numbers(x), _numbers(y), left=left, right=right, higher_is_better=higher_is_better)
        tables, single = _counted_cases(given.differences), given.single
        algorithms, dataset_names, notes = given.algorithms, given.differences.dataset_names, given.notes
    statistic, pvalue = np.zeros(len(tables)), np.ones(len(tables))
    for row, ((_, only_left), (only_right, _)) in enumerate(tables):
        if only_left + only_right > 0:  # else chi-squared would be 0 / 0
            statistic[row], pvalue[row] = _of_counts(int(only_left), int(only_right), method)
    return FrequentistResult(
        test=NAMES[method],
        statistic=statistic[0].item() if single else statistic,
        df=None if method == "exact" else 1.0,
        pvalue=pvalue[0].item() if single else pvalue,
        alternative="two-sided",
        algorithms=algorithms,
        dataset_names=dataset_names,
        notes=notes,
    )


def _of_counts(b: int, c: int, method: McNemarMethod) -> tuple[float, float]:
    """Statistic and p-value from the numbers of cases that only the left and only the right algorithm gets right."""
    if method == "exact":
        return min(b, c), min(2 * float(stats.binom.cdf(min(b, c), b + c, 0.5)), 1.0)
    statistic = (abs(b - c) - (method == "chi2_corrected")) ** 2 / (b + c)
    return statistic, float(stats.chi2.sf(statistic, 1))


def _table_of_counts(x: Any) -> NDArray[np.int64]:
    """The four counts as an array of shape (2, 2)."""
    refuse_masked(x, "x")
    try:
        counts = np.asarray(x)
    except ValueError:  # ragged
        counts = np.empty(0)
    if counts.shape not in ((2, 2), (4,)) or counts.dtype.kind not in "fiu":
        raise ScoreTableError(
            "x alone must be the four counts [[both right, only left right], [only right algorithm right, both wrong]]; "
            "for correctness case by case pass both algorithms' vectors."
        )
    with np.errstate(invalid="ignore"):
        wrong = ~((counts >= 0) & (counts == np.floor(counts)) & (counts < 2**53))
    if wrong.any():
        raise ScoreTableError(
            f"{wrong.sum()} of the 4 counts are not whole numbers of at least 0 (first: {counts[wrong][0]})."
        )
    return counts.astype(np.int64).reshape(2, 2)


def _numbers(x: Any) -> Any:
    """Booleans as 0 and 1; anything else unchanged."""
    if x is None or is_labelled(x):
        return x
    refuse_masked(x, "correctness")
    if isinstance(x, np.ndarray):
        return x.astype(int) if x.dtype.kind == "b" else x
    try:
        return [row.astype(int) if (row := np.asarray(given)).dtype.kind == "b" else given for given in x]
    except TypeError:
        return x


def _counted_cases(differences: PairedDifferences) -> NDArray[np.int64]:
    """Counts of each data set, shape (q, 2, 2), from scores that are 0 or 1."""
    assert differences.scores is not None
    pairs = differences.scores
    sides = {side: pairs[side].to_numpy(float) for side in ("left", "right")}
    for side, scores in sides.items():
        wrong = np.flatnonzero((scores != 0) & (scores != 1))
        if len(wrong):
            name = differences.left if side == "left" else differences.right
            raise ScoreTableError(
                f"McNemar's test needs cases that are right (1) or wrong (0), but {len(wrong)} of {len(scores)} scores of "
                f"{shown(name)!r} are neither (first: data set {shown(pairs['dataset'].iloc[wrong[0]])!r}, "
                f"{scores[wrong[0]]:g}). For accuracies of folds use corrected_t_test."
            )
    codes = pairs["dataset"].factorize()[0]
    failed = [sides[side] == 0 for side in ("left", "right")]  # of errors 1 means wrong: b and c change places, no more
    tables = np.zeros((len(differences.dataset_names), 2, 2), dtype=np.int64)
    np.add.at(tables, (codes, failed[0].astype(int), failed[1].astype(int)), 1)
    return tables
