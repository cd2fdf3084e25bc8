"""Tests of every pair of algorithms, adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import FloatArray, number_between, one_of, refuse_without, whole_number
from hiercomp.closed_form.across_datasets.signed_rank import ZeroMethod, wilcoxon
from hiercomp.closed_form.inputs import ScoreMatrix, read_score_matrix, tied
from hiercomp.closed_form.many_algorithms.friedman import PostHocResult, nemenyi_test
from hiercomp.errors import ArgumentError, ScoreTableError

PostHocMethod: TypeAlias = Literal["wilcoxon", "nemenyi", "conover", "siegel", "miller"]
Adjustment: TypeAlias = Literal["holm", "shaffer", "bonferroni", "hochberg", "hommel", "fdr_bh", "fdr_by", "none"]

NAMES = {
    "wilcoxon": "Wilcoxon signed-rank test",
    "conover": "Conover's test after Friedman's",
    "siegel": "Siegel & Castellan's test after Friedman's",
    "miller": "Miller's test after Friedman's",
}


def posthoc_test(
    scores: Any,
    *,
    method: PostHocMethod = "wilcoxon",
    adjust: Adjustment = "holm",
    alpha: float = 0.05,
    zero_method: ZeroMethod = "zsplit",
    missing: Literal["error", "drop"] = "error",
    higher_is_better: bool | None = None,
) -> PostHocResult:
    """Test every pair of several algorithms over data sets, and adjust the p-values for the number of pairs.

    Parameters
    ----------
    scores : array_like or data frame
        One row for each data set and one column for each algorithm; or a tidy table, as in `friedman_test`.
    method : {"wilcoxon", "nemenyi", "conover", "siegel", "miller"}
        "wilcoxon": `signed_rank_test` of each pair by itself, two-sided. "nemenyi": `nemenyi_test`. The others use the
        ranks among all algorithms and come from the package scikit-posthocs, if it is installed.
    adjust : {"holm", "shaffer", "bonferroni", "hochberg", "hommel", "fdr_bh", "fdr_by", "none"}
        The adjustment; see Notes. Not applied to "nemenyi" and "miller", whose p-values hold for all pairs at once.
    alpha : float
        Level of the groups, and of Nemenyi's critical difference.
    zero_method : {"zsplit", "wilcox", "pratt"}
        How Wilcoxon's test treats data sets on which both algorithms are equal: split their ranks between both (Demšar
        2006), leave them out, or rank them and drop these ranks.
    missing : {"error", "drop"}
        Refuse missing scores, or leave out data sets that lack any, with a warning.
    higher_is_better : bool, optional
        False for losses and errors. By default as a table's attributes say, and True for arrays; a table whose scores
        only have the name of a loss is refused.

    Returns
    -------
    PostHocResult
        The statistic of Wilcoxon's test is the smaller of the two rank sums. Two algorithms that are equal on every
        data set have p 1.

    Raises
    ------
    ScoreTableError
        If scores are missing or duplicate, or there are fewer than 2 algorithms or 2 data sets.
    ArgumentError
        If an argument is invalid, or a required package of the extra ``posthocs`` is not installed.

    Notes
    -----
    "holm", "bonferroni", "hochberg" and "hommel" control the probability of any false rejection at alpha; "fdr_bh"
    (Benjamini & Hochberg) and "fdr_by" (Benjamini & Yekutieli) control the expected share of false ones among the
    rejections. "hochberg", "hommel" and "fdr_bh" assume that the tests are independent or positively dependent, which
    tests of pairs need not be. "hommel" is ``statsmodels.stats.multitest.multipletests``, if statsmodels is installed.

    "shaffer" is the static procedure of Shaffer (1986), `shaffer_adjusted`: it is more powerful than Holm's because
    hypotheses about pairs imply each other. Bergmann & Hommel's procedure is left out on purpose: its cost grows with
    the number of partitions of the algorithms (115,975 for 10), and its gain over Shaffer's is small.

    References
    ----------
    García & Herrera, "An extension on 'Statistical comparisons of classifiers over multiple data sets' for all pairwise
    comparisons", JMLR 9 (2008); Demšar, JMLR 7 (2006).

    Examples
    --------
    >>> scores = [[0.90, 0.80, 0.70], [0.85, 0.82, 0.60], [0.70, 0.68, 0.71], [0.95, 0.81, 0.80], [0.77, 0.74, 0.70]]
    >>> result = posthoc_test(scores, adjust="shaffer")
    >>> result.to_frame()["pvalue"].tolist()
    [0.0625, 0.125, 0.1875]
    >>> result.to_frame()["adjusted_pvalue"].tolist()
    [0.1875, 0.1875, 0.1875]
    """
    one_of("method", method, get_args(PostHocMethod))
    one_of("adjust", adjust, get_args(Adjustment))
    one_of("zero_method", zero_method, get_args(ZeroMethod))
    alpha = number_between("alpha", alpha, 0, 1)
    if zero_method != "zsplit" and method != "wilcoxon":
        raise ArgumentError(f"zero_method applies to method 'wilcoxon' only; leave it out with {method!r}.")
    if method == "nemenyi":
        return nemenyi_test(scores, alpha=alpha, missing=missing, higher_is_better=higher_is_better)
    friedman_posthoc = None if method == "wilcoxon" else _scikit_posthocs(method)
    table = read_score_matrix(scores, missing=missing, higher_is_better=higher_is_better, fewest=2)
    statistic = None
    if friedman_posthoc is None:
        statistic, pvalue = _wilcoxon(table, zero_method)
    else:
        pvalue = _after_friedman(table, friedman_posthoc)
    if method == "miller":  # its p-values hold for all pairs at once
        adjust = "none"
    pairs = np.triu_indices(len(pvalue), 1)
    return PostHocResult(
        test=NAMES[method],
        algorithms=table.algorithms,
        mean_ranks=table.ranks.mean(axis=0),
        statistic=statistic,
        pvalue=pvalue,
        adjusted_pvalue=_square(adjusted_pvalues(pvalue[pairs], adjust, len(pvalue)), len(pvalue), diagonal=1.0),
        adjust=adjust,
        alpha=alpha,
        critical_difference=None,
        n_datasets=len(table.values),
        notes=table.notes,
        metric=table.metric,
    )


def adjusted_pvalues(pvalues: ArrayLike, adjust: Adjustment, algorithms: int) -> FloatArray:
    """Adjust the p-values of all pairs of ``algorithms`` algorithms, in any order; shape (k (k - 1) / 2,)."""
    values = np.asarray(pvalues, dtype=float)
    if adjust == "none":
        return values
    if adjust == "shaffer":
        return shaffer_adjusted(values, algorithms)
    if adjust == "hommel":
        return _hommel_adjusted(values)
    count, rank = len(values), np.arange(1, len(values) + 1)
    scale: dict[str, Callable[[FloatArray], FloatArray]] = {
        "bonferroni": lambda ascending: ascending * count,
        "holm": lambda ascending: ascending * (count - rank + 1),
        "hochberg": lambda ascending: ascending * (count - rank + 1),
        "fdr_bh": lambda ascending: ascending / (rank / count),
        "fdr_by": lambda ascending: ascending / (rank / count / np.sum(1 / rank)),
    }
    return _in_steps(values, scale[adjust], down=adjust == "holm")


def _in_steps(values: FloatArray, scale: Callable[[FloatArray], FloatArray], *, down: bool) -> FloatArray:
    """Scale the ascending p-values and keep them ascending, from the smallest (step down) or the largest (step up)."""
    order = np.argsort(values, kind="stable")
    scaled = scale(values[order])
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(scaled) if down else np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(adjusted, 1.0)


def _hommel_adjusted(values: FloatArray) -> FloatArray:
    refuse_without("statsmodels", "adjust='hommel'", "statsmodels", "posthocs", "The other adjustments don't.")
    from statsmodels.stats.multitest import multipletests

    return np.asarray(multipletests(values, method="hommel")[1], dtype=float)


def shaffer_adjusted(pvalues: ArrayLike, algorithms: int) -> FloatArray:
    """p-values of all pairs adjusted by Shaffer's static procedure.

    The i-th smallest p-value is multiplied by t_i, the largest number of hypotheses that can be true if i - 1 are
    false; Holm's procedure uses m - i + 1. Then no adjusted value is below an earlier one.

    Parameters
    ----------
    pvalues : array_like, shape (k (k - 1) / 2,)
        In any order.
    algorithms : int
        Their number k.

    References
    ----------
    Shaffer, "Modified sequentially rejective multiple test procedures", Journal of the American Statistical Association
    81 (1986); García & Herrera, JMLR 9 (2008), Sect. 2.

    Examples
    --------
    >>> [round(float(p), 2) for p in shaffer_adjusted([0.01, 0.02, 0.04], algorithms=3)]  # times 3, 1, 1
    [0.03, 0.03, 0.04]
    """
    k, values = whole_number("algorithms", algorithms, 2), np.asarray(pvalues, dtype=float)
    count = k * (k - 1) // 2
    if values.shape != (count,) or not ((values >= 0) & (values <= 1)).all():
        raise ScoreTableError(
            f"{k} algorithms have {count} pairs; pvalues must hold that many numbers between 0 and 1."
        )
    possible = np.array(possible_true_hypotheses(k))
    most = possible[np.searchsorted(possible, np.arange(count, 0, -1), side="right") - 1]
    return _in_steps(values, lambda ascending: ascending * most, down=True)


@cache
def possible_true_hypotheses(algorithms: int) -> tuple[int, ...]:
    """How many of the hypotheses "a and b are equal" about all pairs can be true at once, ascending.

    Equality is transitive: the true hypotheses are the pairs within the blocks of a partition of the algorithms. With j
    algorithms in one block, S(k) is the union over j of C(j, 2) + S(k - j), and S(0) = {0} (García & Herrera 2008, Sect.
    2).

    Examples
    --------
    >>> possible_true_hypotheses(5)
    (0, 1, 2, 3, 4, 6, 10)
    """
    found = [{0}]
    for k in range(1, algorithms + 1):
        found.append({j * (j - 1) // 2 + rest for j in range(1, k + 1) for rest in found[k - j]})
    return tuple(sorted(found[algorithms]))


def _wilcoxon(table: ScoreMatrix, zero_method: ZeroMethod) -> tuple[FloatArray, FloatArray]:
    """Statistic and p-value of every pair, shapes (k, k)."""
    k = table.values.shape[1]
    one, other = np.triu_indices(k, 1)
    statistic, p = np.zeros(len(one)), np.ones(len(one))
    for pair, (left, right) in enumerate(zip(one, other, strict=True)):
        size = table.size[:, [left, right]].max(axis=1)
        values = tied(table.values[:, right] - table.values[:, left], size)  # 0.9 - 0.8 and 0.8 - 0.7 tie
        statistic[pair], p[pair] = wilcoxon(values, zero_method)
    return _square(statistic, k, diagonal=np.nan), _square(p, k, diagonal=1.0)


def _scikit_posthocs(method: str) -> Callable[..., Any]:
    otherwise = "The methods 'wilcoxon' and 'nemenyi' don't."
    refuse_without("scikit_posthocs", f"method={method!r}", "scikit-posthocs", "posthocs", otherwise)
    import scikit_posthocs

    function: Callable[..., Any] = getattr(scikit_posthocs, f"posthoc_{method}_friedman")
    return function


def _after_friedman(table: ScoreMatrix, test: Callable[..., Any]) -> FloatArray:
    """Unadjusted p-values of every pair, shape (k, k), of a test that uses Friedman's ranks."""
    ranks = table.ranks
    mean_ranks = ranks.mean(axis=0)
    equal = np.equal.outer(mean_ranks, mean_ranks)
    if "conover" in test.__name__ and (ranks == ranks[0]).all():
        p = np.zeros(equal.shape)  # ranks never vary between data sets: Conover's t is infinite
    else:
        p = np.asarray(test(ranks), dtype=float)
    return np.asarray(np.where(equal, 1.0, p))


def _square(pairs: FloatArray, k: int, *, diagonal: float) -> FloatArray:
    """Values of the pairs, in the order of ``triu_indices``, as a symmetric matrix."""
    square = np.full((k, k), diagonal)
    one, other = np.triu_indices(k, 1)
    square[one, other] = square[other, one] = pairs
    return square
