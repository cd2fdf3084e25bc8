"""Expected ranks of many algorithms, and the chance of being the best, from their joint posteriors on each data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray, whole_number
from hiercomp.errors import Argument, ArgumentError, HiercompWarning, Note, ScoreTableError
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.crossed import crossed_variance
from hiercomp.scores.problems import ROUNDING, notes_or_error
from hiercomp.scores.scale import IN_ROPES, LOG
from hiercomp.scores.table import CROSSED, GROUP, GROUPINGS
from hiercomp.wording import OWN_ROPES, counted, first_names, nearest_name, normal_name, shown

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 4000
BEST = "best"
VALUES_AT_ONCE = 2_000_000  # of drawn means: 16 MB
FEWEST_SCORES = 2  # of a data set; one score tells nothing of its own spread
ASSUMPTION = (
    "The next data set is drawn from those seen (a Bayesian bootstrap: Dirichlet(1, ..., 1) weights), and on each of them "
    "the mean scores have the multivariate form of the correlated t-test's posterior; the model of the pairs shrinks its "
    "data sets, this ranking does not."
)


@dataclass(frozen=True, eq=False, repr=False)
class Standings:
    """The sufficient statistics of the scores of all algorithms on the data sets that all of them have.

    Attributes
    ----------
    algorithms : tuple of str, length k
    dataset_names : tuple of str, length q
        The data sets used.
    means : ndarray, shape (q, k)
        Mean scores; larger is better.
    residuals : tuple of q ndarray, each of shape (at most n_i and k, k)
        R with R'R the sums of squares and products of the scores about their means.
    n : ndarray of int, shape (q,)
        Scores of each algorithm on each data set.
    rho : ndarray, shape (q,)
        Correlation between two scores of a data set; the one across runs if it differs from that within runs.
    left_out : tuple of str
        Data sets on which some algorithm has no scores, or all have fewer than two.
    """

    algorithms: tuple[str, ...]
    dataset_names: tuple[str, ...]
    means: FloatArray
    residuals: tuple[FloatArray, ...]
    n: NDArray[np.int64]
    rho: FloatArray
    left_out: tuple[str, ...] = ()


def standings_of(arrays: ScoreArrays) -> Standings:
    """The input of a ranking of all algorithms: the data sets and folds that all of them have.

    Raises
    ------
    ScoreTableError
        If the correlation between the folds of such a data set is unknown.
    """
    complete = np.asarray(np.isfinite(arrays.scores).all(axis=0))
    n, parts = np.add.reduceat(complete, arrays.starts[:-1], dtype=np.int64), np.split(complete, arrays.starts[1:-1])
    every = [np.flatnonzero(part) + start for part, start in zip(parts, arrays.starts[:-1], strict=True)]
    held = [name for name in GROUPINGS if name in arrays.places]  # scores of one group vary nowhere
    count = [min([len(place), *arrays.places[held].iloc[place].nunique()]) for place in every]
    enough = np.flatnonzero(np.array(count) >= FEWEST_SCORES)
    places = [every[i] for i in enough]
    rows = [arrays.scores[:, place].T for place in places]
    if CROSSED in arrays.places:
        groups = arrays.places[list(GROUPINGS)]
        of_dataset = zip(rows, (groups.iloc[place].T.to_numpy() for place in places), enough, strict=True)
        found = [_of_crossed(row, each, arrays.dataset_names[i]) for row, each, i in of_dataset]
        n[enough] = [size for _, size in found]
    elif GROUP in arrays.places:
        rows = [_of_groups(row, arrays.places[GROUP].iloc[place]) for row, place in zip(rows, places, strict=True)]
        n[enough] = [len(row) for row in rows]
    factors = [factor for factor, _ in found] if CROSSED in arrays.places else map(residual_factor, rows)
    sign = 1 if arrays.higher_is_better else -1
    rho, doubts = arrays.correlations(enough, n[enough])
    notes_or_error(doubts)
    return Standings(
        algorithms=arrays.algorithms,
        dataset_names=tuple(arrays.dataset_names[i] for i in enough),
        means=sign * np.array([row.mean(axis=0) for row in rows]).reshape(-1, len(arrays.algorithms)),
        residuals=tuple(factors),
        n=n[enough],
        rho=rho,
        left_out=tuple(arrays.dataset_names[i] for i in np.setdiff1d(np.arange(len(n)), enough)),
    )


def _of_groups(scores: FloatArray, groups: pd.Series) -> FloatArray:
    """One row for each group of scores of shape (n, k): its sums of deviations from the means, which stay (G1)."""
    codes, labels = groups.factorize()
    sums = np.zeros((len(labels), scores.shape[1]))
    np.add.at(sums, codes, scores - scores.mean(axis=0))
    return np.asarray(scores.mean(axis=0) + sums * len(labels) / len(scores))


def _of_crossed(scores: FloatArray, groups: NDArray[Any], dataset: str) -> tuple[FloatArray, int]:
    """The factor of scores of shape (n, k) with two crossed groupings (G2), as of independent ones, and their number.

    What all algorithms share is left out first: it has no effect on ranks, and would hide where (G2) is cut.
    """
    variance, n = crossed_variance(scores - scores.mean(axis=1, keepdims=True), groups[0], groups[1], dataset)
    values, vectors = np.linalg.eigh(variance * n * (n - 1))
    return np.asarray((vectors * np.sqrt(np.clip(values, 0, None))).T), n


def residual_factor(scores: FloatArray) -> FloatArray:
    """R with at most as many rows as columns, such that R'R is that of the columns' deviations from their means.

    Parameters
    ----------
    scores : ndarray, shape (n, k)
    """
    centred = scores - scores.mean(axis=0)
    return np.asarray(np.linalg.qr(centred, mode="r")) if len(centred) > centred.shape[1] else centred


def expected_ranks(standings: Standings, *, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """Posterior of each algorithm's expected rank, and its probability of being the best on the next data set.

    On data set i the mean scores of the k algorithms given its n folds have a multivariate Student-t posterior with n -
    1 degrees of freedom, centred at the observed means, with the scale matrix S (1/n + rho/(1 - rho)), S the sample
    covariance of the folds' scores: for any two algorithms it is the posterior of the Bayesian correlated t-test. The
    next data set is drawn from those seen by a Bayesian bootstrap, weights w ~ Dirichlet(1, ..., 1), so the expected
    rank in a draw is sum_i w_i rank_i. Rank 1 is the best, and ties are shared equally.

    Parameters
    ----------
    standings : Standings
    draws : int
        Posterior draws, independent; 4,000 by default.
    seed : int
        The same standings and seed give the same numbers.

    Returns
    -------
    DataFrame
        Indexed by algorithm, best first: expected_rank, lower and upper (central 95% interval), p_best. Its
        ``attrs`` hold the assumption, the draws, the seed, the number of data sets, those left out, and the largest
        Monte Carlo standard errors of the expected ranks and of the probabilities.

    Raises
    ------
    ArgumentError
        If no data set has scores of every algorithm.

    References
    ----------
    Corani & Benavoli, "A Bayesian approach for comparing cross-validated algorithms on multiple data sets", Machine
    Learning 100 (2015), for the posterior of a data set; Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981).

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> scores = generator.normal([0.9, 0.8, 0.8], 0.01, size=(5, 10, 3))  # 5 data sets, 10 folds, 3 algorithms
    >>> factors = tuple(residual_factor(rows) for rows in scores)
    >>> names, sets = ("a", "b", "c"), ("1", "2", "3", "4", "5")
    >>> standings = Standings(names, sets, scores.mean(axis=1), factors, np.full(5, 10), np.full(5, 0.1))
    >>> table = expected_ranks(standings)
    >>> table.loc["a"].tolist()
    [1.0, 1.0, 1.0, 1.0]
    >>> round(float(table["expected_rank"].sum()), 9)
    6.0
    """
    import pandas as pd

    whole_number("draws", draws, 100, 1_000_000)
    whole_number("seed", seed, 0)
    q, k = standings.means.shape
    if q == 0:
        raise ArgumentError(
            f"No data set has scores of all {k} algorithms, so they can't be ranked together "
            f"(left out: {first_names(standings.left_out)}). Compare a subset of the algorithms."
        )
    weights = np.random.default_rng([seed, q]).dirichlet(np.ones(q), size=draws)
    weighted, plain, best = (np.zeros((draws, k), order="F") for _ in range(3))  # summed pairwise along the draws
    at_once = max(VALUES_AT_ONCE // k, 1)
    for i in range(q):
        generator = np.random.default_rng([seed, q, i])
        size = np.abs(standings.means[i]) + np.abs(standings.residuals[i]).max(axis=0)
        for start in range(0, draws, at_once):
            rows = slice(start, min(start + at_once, draws))
            means = drawn_means(standings, i, rows.stop - start, generator)
            ranks, shares = shared_ranks(means, size)
            weighted[rows] += weights[rows, i, None] * ranks
            plain[rows] += ranks / q
            best[rows] += shares / q
    lower, upper = np.quantile(weighted, [0.025, 0.975], axis=0)
    # The weights have mean 1/q, so the means over the draws need none
    columns = {
        "expected_rank": plain.mean(axis=0),
        "lower": lower,
        "upper": upper,
        "p_best": best.mean(axis=0),
    }
    frame = pd.DataFrame(columns, index=pd.Index(standings.algorithms, name="algorithm"))
    frame = frame.round(12)  # the weights sum to 1 up to rounding
    frame = frame.sort_values("expected_rank", kind="stable")
    frame.attrs = {
        "assumption": ASSUMPTION,
        "draws": draws,
        "seed": seed,
        "n_datasets": q,
        "left_out": list(standings.left_out),
        "expected_rank_error": float(plain.std(axis=0, ddof=1).max() / np.sqrt(draws)),
        "p_best_error": float(best.std(axis=0, ddof=1).max() / np.sqrt(draws)),
    }
    return frame


def drawn_means(standings: Standings, i: int, draws: int, generator: np.random.Generator) -> FloatArray:
    """Draws of the algorithms' mean scores on data set ``i``, shape (draws, k)."""
    n, rho, factor = int(standings.n[i]), float(standings.rho[i]), standings.residuals[i]
    # Student-t: normal draws of covariance R'R / (n - 1), over sqrt(chi2 / (n - 1))
    widths = np.sqrt((1 / n + rho / (1 - rho)) / generator.chisquare(n - 1, size=draws))
    normal = generator.standard_normal((draws, len(factor)))
    return np.asarray(standings.means[i] + widths[:, None] * (normal @ factor))


def shared_ranks(values: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ranks of each row, 1 for the largest value, and each column's share of the first place.

    Sorted neighbours that differ only by rounding tie and share their ranks equally. Other values of the row don't matter:
    a huge one makes no ties between small ones.

    Parameters
    ----------
    values : ndarray, shape (rows, k)
    size : ndarray, shape (k,) or (rows, k)
        Of the scores behind each value: the unit of its rounding errors.

    Examples
    --------
    >>> ranks, shares = shared_ranks(np.array([[0.7, 0.9, 0.9, 0.8]]), np.ones(4))
    >>> ranks.tolist(), shares.tolist()
    ([[4.0, 1.5, 1.5, 3.0]], [[0.0, 0.5, 0.5, 0.0]])
    """
    k = values.shape[1]
    order = np.argsort(-values, axis=1, kind="stable")
    falling = np.take_along_axis(values, order, axis=1)
    unit = np.take_along_axis(np.broadcast_to(size, values.shape), order, axis=1)
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = falling[:, :-1] - falling[:, 1:] > ROUNDING * np.maximum(unit[:, :-1], unit[:, 1:])
    last = np.ones(values.shape, dtype=bool)
    last[:, :-1] = new[:, 1:]
    places = np.arange(1, k + 1)
    first_place = np.maximum.accumulate(np.where(new, places, 1), axis=1)
    last_place = np.minimum.accumulate(np.where(last, places, k)[:, ::-1], axis=1)[:, ::-1]
    ranks, shares = np.empty(values.shape), np.empty(values.shape)
    np.put_along_axis(ranks, order, (first_place + last_place) / 2, axis=1)
    np.put_along_axis(shares, order, np.where(first_place == 1, 1 / last_place, 0.0), axis=1)
    return ranks, shares


def chosen_baseline(arrays: ScoreArrays, baseline: str) -> tuple[str, list[Note]]:
    """The algorithm that the others are compared with, and a note if it was chosen by its scores."""
    if not isinstance(baseline, str):
        raise ArgumentError(f"baseline must be the name of an algorithm or 'best', got {baseline!r}.")
    name = normal_name(baseline)
    if name in arrays.algorithms:
        return name, []
    if name != BEST:
        listed = ", ".join(repr(shown(known)) for known in arrays.algorithms[:20])
        raise ArgumentError(
            f"baseline={baseline!r} is not an algorithm of the table.{nearest_name(name, arrays.algorithms)} They are: "
            f"{listed}{', ...' if len(arrays.algorithms) > 20 else ''}. Or pass 'best'.",
            arguments=(Argument("baseline", baseline),),
        )
    means = arrays.means
    common = np.isfinite(means).all(axis=0)
    if not common.any():
        raise ScoreTableError(
            "No data set has scores of every algorithm, so the best mean is not defined. Name the baseline."
        )
    averages = means[:, common].mean(axis=1)
    best = arrays.algorithms[int(np.argmax(averages if arrays.higher_is_better else -averages))]
    mean = {None: "mean", LOG: "mean log", IN_ROPES: f"mean, in {OWN_ROPES},"}[arrays.transform]
    text = (
        f"The baseline {shown(best)!r} was chosen because its {mean} over {counted(int(common.sum()), 'data set')}, "
        f"{averages[arrays.algorithms.index(best)]:.4g}, is the best. It was chosen by the same scores, which favours it a "
        "little in every comparison."
    )
    return best, [Note(HiercompWarning, text)]
