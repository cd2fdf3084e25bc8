"""Paired differences of two algorithms: the mean, sum of squares, number and correlation for each data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiercomp.arguments import (
    FloatArray,
    as_doubles,
    finite_number,
    one_of,
    refuse_masked,
    true_false_or_none,
    whole_number,
)
from hiercomp.errors import Argument, ArgumentError, DefaultedRhoWarning, Note, ScaleWarning, ScoreTableError
from hiercomp.rope import Rope, RopesLike
from hiercomp.scores.arrays import ScoreArrays, ScorePairs, checked_transform
from hiercomp.scores.covariates import Covariates
from hiercomp.scores.crossed import crossed_variance
from hiercomp.scores.direction import Direction
from hiercomp.scores.moments import ScoreMoments, moments
from hiercomp.scores.problems import (
    MOST_FOLDS,
    ROUNDING,
    TableProblem,
    few_datasets,
    few_groups,
    few_scores,
    not_trinomial,
    notes_or_error,
    outlying_spread,
    scores_out_of_range,
    without_spread,
)
from hiercomp.scores.rho import Correlation, RhoLike, correlations, is_learnt, named_rho
from hiercomp.scores.ropes import rope_column, ropes_of_datasets
from hiercomp.scores.runs import RunSums
from hiercomp.scores.scale import IN_ROPES, LOG, Scale
from hiercomp.scores.table import ROPE, choose_algorithms, refuse_unwritable, tidy_scores
from hiercomp.scores.two_level import TwoLevel, equivalent, learnt_within
from hiercomp.wording import first_names, normal_name, shown, span

if TYPE_CHECKING:
    import pandas as pd

Likelihood: TypeAlias = Literal["gaussian", "trinomial"]
LIKELIHOODS: tuple[Likelihood, ...] = ("gaussian", "trinomial")
BINARY = 1e-9  # by which a mean of squares may differ from the mean by rounding


@dataclass(frozen=True)
class PairedDifferences:
    """Score differences right minus left of every data set, as their sufficient statistics.

    Attributes
    ----------
    left, right : str
        The algorithms.
    dataset_names : tuple of str, length q
    mean, sum_of_squares : ndarray, shape (q,)
        Mean of the differences, in the metric's units, and the sum of squares about it. Positive means favour the right
        algorithm: the sign is already reversed if lower scores are better.
    n : ndarray of int, shape (q,)
        Number of differences.
    rho : ndarray, shape (q,)
        Correlation between two differences of a data set.
    constant : ndarray of bool, shape (q,)
        True if the differences never vary, up to rounding.
    lowest_score, highest_score : ndarray, shape (q,)
        Extremes of both algorithms' scores.
    largest_difference : float
        Largest absolute difference of all.
    higher_is_better : bool
        Whether the metric is a gain (True) or a loss.
    measure : str or None
        The name of the measure, if the table has one.
    direction_known : bool
        Whether the caller, the table or the name of the measure says the direction; it is otherwise assumed.
    transform : {"log", "rope"} or None
        "log" if every score is the natural log of what was given: differences are then logs of ratios. "rope" if every
        score was divided by the rope of its data set, which is then the unit of every number but ``ropes``.
    median_score : ndarray, shape (q,), or None
        Median of both algorithms' scores; None if every score lies in [0, 1].
    score_mean, score_standard_deviation : ndarray, shape (q, 2), or None
        Mean and standard deviation of the scores of the left and of the right algorithm, as they were given, not their
        logs, in the metric's own unit; None if only differences are known.
    notes : tuple of Note
        What was dropped, defaulted or looks unusual.
    scores : pandas.DataFrame or None
        The pairs themselves: columns dataset, left, right, and run and fold if the table has them. None in a result
        that was read from a file.
    covariates : Covariates or None
        Of the data sets; see `with_covariates`.
    runs : RunSums or None
        How the differences vary within and between runs; None if the table has no runs.
    two_level : TwoLevel or None
        The correlations within and across runs, if they are to differ. ``mean``, ``sum_of_squares`` and ``rho`` are
        then those with which equal correlations give the same posterior (R6).
    n_scores : ndarray of int, shape (q,), or None
        Paired scores of each data set, if ``n`` counts their groups; ``rho`` is then 0.
    ropes : ndarray, shape (q,), or None
        Half-width of the rope of each data set in its metric's own unit, if each has its own.
    crossed : ndarray of int, shape (q, 2), or None
        Groups of each of two crossed groupings. ``n`` is then 1 + the degrees of freedom of the standard error (G3).
    counts : ndarray of int, shape (q, 3), or None
        Numbers of the differences -1, 0 and 1, if the likelihood is trinomial; see `with_likelihood`.

    Examples
    --------
    >>> from hiercomp.scores.bundled import load_scores
    >>> differences = PairedDifferences.from_table(load_scores("keel"), "naive_bayes", "decision_tree")
    >>> len(differences.dataset_names), int(differences.n.sum()), set(differences.rho.tolist())
    (43, 4300, {0.1})
    """

    left: str
    right: str
    dataset_names: tuple[str, ...]
    mean: FloatArray
    sum_of_squares: FloatArray
    n: NDArray[np.int64]
    rho: FloatArray
    constant: NDArray[np.bool_]
    lowest_score: FloatArray
    highest_score: FloatArray
    largest_difference: float
    higher_is_better: bool = True
    measure: str | None = None
    direction_known: bool = False
    transform: str | None = None
    median_score: FloatArray | None = None
    score_mean: FloatArray | None = None
    score_standard_deviation: FloatArray | None = None
    notes: tuple[Note, ...] = ()
    scores: pd.DataFrame | None = field(default=None, repr=False, compare=False)
    covariates: Covariates | None = None
    runs: RunSums | None = None
    two_level: TwoLevel | None = None
    n_scores: NDArray[np.int64] | None = None
    ropes: FloatArray | None = None
    crossed: NDArray[np.int64] | None = None
    counts: NDArray[np.int64] | None = None

    @classmethod
    def from_table(
        cls,
        df: Any,
        left: str | None = None,
        right: str | None = None,
        *,
        rope: RopesLike | None = None,
        rho: RhoLike = None,
        higher_is_better: bool | None = None,
        columns: Mapping[str, str] | None = None,
        missing: Literal["error", "drop"] = "error",
        transform: Literal["log"] | None = None,
    ) -> PairedDifferences:
        """Pair the scores of two algorithms by data set, run and fold.

        Parameters
        ----------
        df : data frame
            Tidy scores, see ``tidy_scores``.
        left, right : str, optional
            The two algorithms; required if the table has more than two.
        rope : mapping from data set to float, Series or str, optional
            A rope for each data set, or the name of a column of them: every score is divided by it. One rope for all
            changes nothing.
        rho : float, mapping from data set to float, Correlation or "runs", optional
            Correlation between two differences of a data set, in [0, 1). None: the table's column rho, or 1/k for k
            folds. "runs": 1/k across runs, and within them as the scores show.
        higher_is_better : bool, optional
            False for losses and errors. By default the table's attribute ``higher_is_better`` says so; a table whose
            scores only have the name of a loss is refused.
        columns : mapping, optional
            See ``tidy_scores``.
        missing : {"error", "drop"}
            Refuse folds that one algorithm lacks or whose score is missing, or leave them out.
        transform : {"log"}, optional
            "log" to take differences of natural logs, which are logs of ratios; every score must be above 0.

        Raises
        ------
        ScoreTableError
            If the table can't be paired, or its direction is not clear; the message names the first few cells.
        ArgumentError
            If rho or ``missing`` is invalid.
        """
        if missing not in ("error", "drop"):
            raise ArgumentError(f"missing must be 'error' or 'drop', got {missing!r}.")
        tidy = tidy_scores(df, with_rope_column(columns, rope))
        left, right = choose_algorithms(tidy, left, right)
        arrays = ScoreArrays.of(
            tidy, (left, right), rope=rope, rho=rho, higher_is_better=higher_is_better, transform=transform
        )
        pairs = arrays.pair(left, right, drop=missing == "drop")
        return replace(cls.of(pairs), scores=pairs.to_frame())

    @classmethod
    def of(cls, pairs: ScorePairs) -> PairedDifferences:
        """The sufficient statistics of paired scores, without the scores themselves."""
        names, n = pairs.dataset_names, pairs.n
        codes, starts = np.repeat(np.arange(len(n)), n), np.cumsum(n) - n
        lowest = np.minimum.reduceat(np.minimum(pairs.left_scores, pairs.right_scores), starts)
        highest = np.maximum.reduceat(np.maximum(pairs.left_scores, pairs.right_scores), starts)
        difference = (pairs.right_scores - pairs.left_scores) * (1 if pairs.higher_is_better else -1)
        mean = np.bincount(codes, difference) / n
        spread = np.maximum.reduceat(difference, starts) - np.minimum.reduceat(difference, starts)
        size = np.maximum(np.abs(lowest), np.abs(highest))
        if pairs.transform == LOG:
            size = np.maximum(size, 1.0)  # the log of a score has at least the relative error of the score
        given = np.stack([pairs.left_scores, pairs.right_scores])
        given = given if pairs.ropes is None else given * pairs.ropes[codes]
        score_mean, score_standard_deviation, _ = moments(np.exp(given) if pairs.transform == LOG else given, starts)
        fractions = pairs.transform is None and lowest.min() >= 0 and highest.max() <= 1
        plain = cls(
            left=pairs.left,
            right=pairs.right,
            dataset_names=names,
            mean=mean,
            sum_of_squares=np.bincount(codes, (difference - mean[codes]) ** 2).astype(float),
            n=n,
            rho=pairs.rho,
            constant=spread <= ROUNDING * size,
            lowest_score=lowest,
            highest_score=highest,
            largest_difference=float(np.abs(difference).max()),
            higher_is_better=pairs.higher_is_better,
            measure=pairs.measure,
            direction_known=pairs.direction_known,
            transform=pairs.transform,
            median_score=None if fractions else _medians(codes, starts, n, pairs),
            score_mean=score_mean,
            score_standard_deviation=score_standard_deviation,
            notes=pairs.notes,
            runs=None if pairs.run_starts is None else RunSums.of(difference, n, pairs.run_starts),
            ropes=pairs.ropes,
        )
        if pairs.groups is not None:
            groups = pairs.groups.T
            if len(groups) == 1:
                return plain._of_groups(difference, groups[0], size)
            return plain._of_crossed(difference, groups, size)
        return plain._with_two_correlations(difference, pairs) if _is_two_level(pairs.asked_rho) else plain

    def _of_groups(self, difference: FloatArray, groups: NDArray[np.int64], size: FloatArray) -> PairedDifferences:
        """The same with one difference for each group: its sum of deviations from the mean, which is untouched (G1).

        ``size``: the unit of the rounding errors of each data set, shape (q,).
        """
        dataset = np.repeat(np.arange(len(self.n)), self.n)
        sums = np.bincount(groups, difference - self.mean[dataset])
        of_group = np.zeros(len(sums), dtype=np.int64)
        of_group[groups] = dataset
        n = np.bincount(of_group, minlength=len(self.n))
        deviation = sums * (n / self.n)[of_group]
        squares = np.bincount(of_group, deviation**2, minlength=len(self.n))
        spread = np.zeros(len(self.n))
        np.maximum.at(spread, of_group, np.abs(deviation))
        return replace(
            self,
            sum_of_squares=squares.astype(float),
            n=n,
            rho=np.zeros(len(n)),
            constant=spread <= ROUNDING * size,
            n_scores=self.n,
        )

    def _of_crossed(self, difference: FloatArray, groups: NDArray[np.int64], size: FloatArray) -> PairedDifferences:
        """The same with the standard error of two crossed groupings and its degrees of freedom (G2, G3)."""
        starts = np.cumsum(self.n)[:-1]
        parts = zip(*(np.split(each, starts) for each in (difference, *groups)), self.dataset_names, strict=True)
        found = [crossed_variance(x[:, None], first, second, name) for x, first, second, name in parts]
        variance, n = np.array([each.item() for each, _ in found]), np.array([count for _, count in found])
        return replace(
            self,
            sum_of_squares=variance * n * (n - 1),
            n=n,
            rho=np.zeros(len(n)),
            constant=np.sqrt(variance) <= ROUNDING * size,
            n_scores=self.n,
            crossed=np.array([[len(np.unique(part)) for part in np.split(each, starts)] for each in groups]).T,
        )

    def _with_two_correlations(self, difference: FloatArray, pairs: ScorePairs) -> PairedDifferences:
        """The same with correlations within and across runs, as mean, sum of squares and rho that (M1) takes."""
        if self.identical and is_learnt(pairs.asked_rho):  # they vary nowhere, and no correlation matters
            return self
        starts, runs, across = pairs.run_starts, self.runs, pairs.rho
        if starts is None or runs is None:
            raise ArgumentError(
                "rho differs within and across runs, but the scores do not say which of them are of one run.",
                remedy="Give a table with the runs in a column run, or one correlation.",
                key="no_runs",
            )
        if isinstance(pairs.asked_rho, Correlation):
            within = np.where(self.n > 1, pairs.asked_rho.within, 0.0)
        else:
            sizes = np.diff(np.append(starts, len(difference)))
            longest = np.maximum.reduceat(sizes, np.searchsorted(starts, np.cumsum(self.n) - self.n))
            within = learnt_within(runs, self.n, longest, self.constant, across)
        mean, squares, rho, ratio = equivalent(difference, self.dataset_names, self.n, starts, within, across)
        equal = within == across  # then nothing changes, not even by rounding
        ratio = np.where(equal, 0.0, ratio)
        two_level = TwoLevel(within, across, is_learnt(pairs.asked_rho), ratio)
        return replace(
            self,
            mean=np.where(equal, self.mean, mean),
            sum_of_squares=np.where(equal, self.sum_of_squares, squares),
            rho=np.where(equal, across, rho),
            two_level=two_level,
        )

    @classmethod
    def from_arrays(
        cls,
        left_scores: ArrayLike | Sequence[ArrayLike],
        right_scores: ArrayLike | Sequence[ArrayLike],
        *,
        left: str = "left",
        right: str = "right",
        dataset_names: Sequence[str] | None = None,
        folds: int | None = None,
        rope: RopesLike | None = None,
        rho: RhoLike = None,
        higher_is_better: bool | None = None,
        transform: Literal["log"] | None = None,
    ) -> PairedDifferences:
        """Pair two arrays of scores, one row for each data set, column by column.

        Parameters
        ----------
        left_scores, right_scores : array_like, shape (q, n), or q one-dimensional arrays of any lengths
            Scores of the two algorithms on the same folds in the same order.
        left, right : str
            Names of the algorithms.
        dataset_names : sequence of str, optional
            By default "1", "2", ...
        folds : int, optional
            Folds of one run of cross-validation; rho is then 1/folds. Without it and rho, the scores of a data set
            count as one run, with a warning, if there are at most 20; else an error.
        rope : mapping from data set to float, or Series, optional
            A rope for each data set, by which its scores are divided; one rope for all changes nothing.
        rho : float or mapping, optional
            Correlation between two differences of a data set.
        higher_is_better : bool, optional
            False for losses and errors; arrays have no name, so by default higher is better.
        transform : {"log"}, optional
            "log" to take differences of natural logs, which are logs of ratios; every score must be above 0.
        """
        import pandas as pd

        direction = Direction(true_false_or_none("higher_is_better", higher_is_better))
        checked_transform(transform)

        left_rows, right_rows = _rows(left_scores, "left_scores"), _rows(right_scores, "right_scores")
        if len(left_rows) != len(right_rows):
            raise ScoreTableError(
                f"left_scores has {len(left_rows)} data sets and right_scores has {len(right_rows)}; they must be equal."
            )
        names, left, right = _readable_names(dataset_names, len(left_rows), left, right)
        if len(names) != len(left_rows) or len(set(names)) < len(names):
            raise ScoreTableError(
                f"dataset_names must be {len(left_rows)} different names, got [{first_names(names)}]."
            )
        for name, a, b in zip(names, left_rows, right_rows, strict=True):
            _refuse_unpaired_rows(name, a, b)
        if left == right:
            raise ScoreTableError(
                f"left and right are both called {left!r}; an algorithm can't be compared with itself."
            )
        n = np.array([len(row) for row in left_rows], dtype=np.int64)
        if not n.all():
            where = f"Data set {names[int(n.argmin())]!r} has no scores"
            raise ScoreTableError(f"{where}: give one row for each data set and one column for each fold.")
        if not len(n):
            raise ScoreTableError("The arrays are empty: give one row for each data set and one column for each fold.")
        sizes, notes = _folds_of_arrays(n, folds, rho)
        scores = np.array([np.concatenate(left_rows), np.concatenate(right_rows)])
        starts = np.cumsum(n) - n
        notes_or_error(scores_out_of_range(names, np.maximum.reduceat(np.abs(scores).max(axis=0), starts)))
        if transform == LOG:
            wrong = np.flatnonzero((scores <= 0).any(axis=0))
            if len(wrong):
                name = names[int(np.searchsorted(starts, wrong[0], side="right")) - 1]
                raise ScoreTableError(
                    f"transform='log' needs scores above 0, and {len(wrong):,} of {scores.shape[1]:,} pairs have others "
                    f"(first: data set {shown(name)!r}, {scores[:, wrong[0]].min():g}).",
                    remedy="Leave the transform out, or compare a measure that is always above 0.",
                    places=(name,),
                    key="without_log",
                )
            scores = np.log(scores)
        ropes = ropes_of_datasets(rope, None, names, transform)
        if ropes is not None:
            scores = scores / np.repeat(ropes, n)
            notes_or_error(scores_out_of_range(names, np.maximum.reduceat(np.abs(scores).max(axis=0), starts)))
        pairs = ScorePairs(
            left=left,
            right=right,
            dataset_names=tuple(names),
            n=n,
            rho=correlations(named_rho(rho, names), names, n, sizes),
            left_scores=scores[0],
            right_scores=scores[1],
            places=pd.DataFrame({"dataset": np.repeat(np.array(names, dtype=object), n)}),
            kept=None,
            higher_is_better=direction.higher_is_better,
            notes=notes,
            direction_known=direction.known,
            transform=transform if ropes is None else IN_ROPES,
            ropes=ropes,
            asked_rho=rho,
        )
        return replace(cls.of(pairs), scores=pairs.to_frame())

    @classmethod
    def from_summaries(
        cls,
        mean: Mapping[str, float] | pd.Series | ArrayLike,
        standard_error: Mapping[str, float] | pd.Series | ArrayLike,
        n: Mapping[str, int] | pd.Series | ArrayLike,
        *,
        score_range: tuple[float, float],
        left: str = "left",
        right: str = "right",
        dataset_names: Sequence[str] | None = None,
        rope: RopesLike | None = None,
        higher_is_better: bool | None = None,
    ) -> PairedDifferences:
        """Take the mean difference of each data set and its standard error, where the scores themselves are not known.

        Parameters
        ----------
        mean : mapping, Series or array_like, shape (q,)
            Mean difference of each data set, right minus left, in the metric's units; a mapping and a Series name the data
            sets.
        standard_error : mapping, Series or array_like, shape (q,)
            Of the mean differences. Those of two scores that were not paired are sqrt(a^2 + b^2).
        n : mapping, Series, array_like of int, or int
            Independent differences behind each mean, such as questions; the error has n - 1 degrees of freedom.
        score_range : pair of float
            Smallest and largest possible score of the metric, such as (0, 1) or (0, 100).
        left, right : str
            Names of the algorithms.
        dataset_names : sequence of str, optional
            Of arrays; by default "1", "2", ...
        rope : mapping from data set to float, or Series, optional
            A rope for each data set, by which its numbers are divided; one rope for all changes nothing.
        higher_is_better : bool, optional
            False for losses and errors.

        Raises
        ------
        ArgumentError
            If the three do not have the same data sets, or a number is impossible.

        Examples
        --------
        >>> given = {"mmlu": 0.02, "gsm8k": 0.05, "arc": -0.01}
        >>> errors = {"mmlu": 0.004, "gsm8k": 0.013, "arc": 0.013}
        >>> differences = PairedDifferences.from_summaries(given, errors, 1000, score_range=(0, 1))
        >>> differences.standard_error
        array([0.004, 0.013, 0.013])
        """
        direction = Direction(true_false_or_none("higher_is_better", higher_is_better))
        if dataset_names is not None and hasattr(mean, "keys"):
            raise ArgumentError("dataset_names is for arrays; mean names its data sets.", remedy="Leave it out.")
        given = list(mean.keys()) if hasattr(mean, "keys") else dataset_names
        values = {"mean": mean, "standard_error": standard_error, "n": n}
        q = len(given) if given is not None else np.size(np.asarray(mean))
        names, left, right = _readable_names(given, q, left, right)
        arrays = {name: _summaries(name, value, names) for name, value in values.items()}
        if not isinstance(score_range, (tuple, list)) or len(score_range) != 2:
            raise ArgumentError(f"score_range must be the lowest and the highest score, got {score_range!r}.")
        low, high = (finite_number("score_range", end) for end in score_range)
        if low >= high:
            raise ArgumentError(f"score_range must be the lowest and the highest score, got {score_range!r}.")
        wrong = (
            ("standard_error", (arrays["standard_error"] < 0), "must not be negative"),
            ("n", (arrays["n"] < 1) | (arrays["n"] != np.rint(arrays["n"])), "must be a whole number above 0"),
            ("mean", np.abs(arrays["mean"]) > high - low, f"is larger than the range of the scores, {high - low:g}"),
        )
        for name, places, problem in wrong:
            if places.any():
                place = int(np.argmax(places))
                raise ArgumentError(
                    f"{name} of data set {shown(names[place])!r} {problem}, got {arrays[name][place]:g}."
                )
        if len(set(names)) < len(names) or left == right:
            raise ArgumentError("The data sets, and the two algorithms, must have different names.")
        count = arrays["n"].astype(np.int64)
        ropes = ropes_of_datasets(rope, None, names, None)
        unit = np.ones(q) if ropes is None else ropes
        return cls(
            left=left,
            right=right,
            dataset_names=tuple(names),
            mean=arrays["mean"] / unit * (1 if direction.higher_is_better else -1),
            sum_of_squares=(arrays["standard_error"] / unit) ** 2 * count * (count - 1),
            n=count,
            rho=np.zeros(q),
            constant=arrays["standard_error"] == 0,
            lowest_score=low / unit,
            highest_score=high / unit,
            largest_difference=float(((high - low) / unit).max()),
            higher_is_better=direction.higher_is_better,
            direction_known=direction.known,
            transform=None if ropes is None else IN_ROPES,
            ropes=ropes,
        )

    @property
    def standard_deviation(self) -> FloatArray:
        """Standard deviation of the differences of each data set, shape (q,); divisor n - 1, NaN if n is 1."""
        freedom = np.where(self.n > 1, self.n - 1, np.nan)
        return np.asarray(np.sqrt(self.sum_of_squares / freedom))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of each mean with correlated folds, sqrt((1/n + rho/(1 - rho)) s^2), shape (q,)."""
        return np.asarray(self.standard_deviation * np.sqrt(1 / self.n + self.rho / (1 - self.rho)))

    @property
    def likelihood_words(self) -> str:
        """Such as "trinomial, from 12 of 240 answers that differ"; empty if it is Gaussian."""
        if self.counts is None:
            return ""
        return f"trinomial, from {int(self.counts[:, [0, 2]].sum()):,} of {int(self.n.sum()):,} answers that differ"

    @property
    def correlation_words(self) -> str:
        """The correlation between folds, such as "0.1", in words."""
        if self.n_scores is not None:
            return f"0 between groups{'' if self.crossed is None else ' of both kinds'}, any within them"
        if self.two_level is None:
            return span(self.rho)
        how = ", learnt from their variation" if self.two_level.learnt else ""
        return f"{span(self.two_level.within)} within runs{how}, {span(self.two_level.across)} across runs"

    @property
    def paired_scores(self) -> NDArray[np.int64]:
        """Paired scores of each data set, shape (q,); ``n``, unless that counts their groups."""
        return self.n if self.n_scores is None else self.n_scores

    @property
    def size_words(self) -> str:
        """Such as "4,300 paired scores", with their groups if there are some."""
        if self.crossed is not None:
            groups = f" in {' x '.join(map(span, self.crossed.T))} crossed groups"
        else:
            groups = "" if self.n_scores is None else f" in {int(self.n.sum()):,} groups"
        return f"{int(self.paired_scores.sum()):,} paired scores{groups}"

    @property
    def in_own_units(self) -> dict[str, FloatArray]:
        """If each data set has its own rope, ``rope`` and ``metric_mean``, the mean difference in the metric's own unit."""
        return {} if self.ropes is None else {"rope": self.ropes, "metric_mean": self.mean * self.ropes}

    @property
    def ropes_by_name(self) -> dict[str, float]:
        """The rope of each data set, if each has its own; else empty."""
        return {} if self.ropes is None else dict(zip(self.dataset_names, self.ropes.tolist(), strict=True))

    @property
    def moments(self) -> ScoreMoments | None:
        """Mean and standard deviation of each algorithm's scores; None if only differences are known."""
        if self.score_mean is None or self.score_standard_deviation is None:
            return None
        n = np.stack([self.paired_scores, self.paired_scores], axis=1)
        names = (self.left, self.right)
        return ScoreMoments(names, self.dataset_names, self.score_mean, self.score_standard_deviation, n)

    @property
    def identical(self) -> bool:
        """Whether every difference of every data set is zero, and the likelihood can make nothing of that."""
        size = np.abs([self.lowest_score, self.highest_score]).max(axis=0)
        if self.transform == LOG:
            size = np.maximum(size, 1.0)
        if self.counts is not None or self.largest_difference > ROUNDING * size.max():
            return False
        return bool((self.constant & (np.abs(self.mean) <= ROUNDING * size)).all())

    @property
    def delta0_bound(self) -> float:
        """B of the prior on delta0 (M4): 1 if every score lies in [0, 1], else the largest absolute difference."""
        return 1.0 if self.scale.fractions else self.largest_difference

    @property
    def scale(self) -> Scale:
        """The scale of the scores."""
        middle = (self.lowest_score + self.highest_score) / 2
        return Scale(
            dataset_names=self.dataset_names,
            lowest=self.lowest_score,
            highest=self.highest_score,
            median=middle if self.median_score is None else self.median_score,
            higher_is_better=self.higher_is_better,
            direction_known=self.direction_known,
            transform=self.transform,
        )

    def with_spread_of_rope(self, rope: Rope) -> PairedDifferences:
        """Give data sets without variation the standard deviation of uniform noise on the rope; means are untouched.

        The authors' program adds uniform(-rope, rope) noise that keeps the mean; its standard deviation is
        rope/sqrt(3).

        Raises
        ------
        ScoreTableError
            If no data set varies, or the rope has no width.
        """
        pair = f"{self.left} and {self.right}"
        outcomes = bool(self.constant.any()) and self.suits_trinomial
        notes = notes_or_error(without_spread(pair, self.dataset_names, self.constant, rope, outcomes=outcomes))
        if not self.constant.any():
            return self
        sum_of_squares = np.where(
            self.constant, (self.n - 1) * (rope.half_width / np.sqrt(3)) ** 2, self.sum_of_squares
        )
        return replace(self, sum_of_squares=sum_of_squares, notes=(*self.notes, *notes))

    def with_likelihood(self, likelihood: Likelihood) -> PairedDifferences:
        """The same for another likelihood of the differences of a data set.

        Parameters
        ----------
        likelihood : {"gaussian", "trinomial"}
            "trinomial" counts the differences -1, 0 and 1 of scores that are 0 or 1 (T1).

        Raises
        ------
        ArgumentError
            If the likelihood does not suit the scores or the correlation.
        """
        if one_of("likelihood", likelihood, LIKELIHOODS) == "gaussian":
            return replace(self, counts=None)
        notes_or_error(self._not_trinomial())
        sums = np.rint(self.n * self.mean)
        squares = np.where(self.constant, self.n * self.mean**2, self.sum_of_squares + self.n * self.mean**2)
        discordant = np.rint(squares)
        counts = np.stack([(discordant - sums) / 2, self.n - discordant, (discordant + sums) / 2], axis=1)
        return replace(self, counts=counts.astype(np.int64))

    @property
    def likelihood(self) -> Likelihood:
        """That of the differences of a data set."""
        return "gaussian" if self.counts is None else "trinomial"

    @property
    def _binary(self) -> NDArray[np.bool_] | None:
        """Whether all scores of a data set are 0 or 1, shape (q,): then, and only then, the mean of squares is the mean.

        None if the scores are not known.
        """
        if self.score_mean is None or self.score_standard_deviation is None:
            return None
        mean, n = self.score_mean, self.paired_scores[:, None]
        squares = np.where(n > 1, (n - 1) / n * self.score_standard_deviation**2, 0.0) + mean**2
        inside = (self.lowest_score >= 0) & (self.highest_score <= 1)
        return np.asarray(inside & (np.abs(squares - mean) <= BINARY).all(axis=1))

    @property
    def suits_trinomial(self) -> bool:
        """Whether `with_likelihood` would accept "trinomial"."""
        return not list(self._not_trinomial())

    def _not_trinomial(self) -> Iterator[TableProblem]:
        return not_trinomial(
            self.dataset_names,
            self._binary,
            self.rho,
            grouped=self.n_scores is not None,
            in_ropes=self.ropes is not None,
        )

    def with_covariates(self, frame: Any) -> PairedDifferences:
        """The same with covariates of the data sets, which the centre of the population then depends on.

        Parameters
        ----------
        frame : data frame or None
            See ``hiercomp.scores.covariates.Covariates.of``; None for none.

        Raises
        ------
        ArgumentError
            If a data set has no row, or a column is of no use.
        """
        return replace(self, covariates=None if frame is None else Covariates.of(frame, self.dataset_names))

    def subset(self, dataset_names: Sequence[str]) -> PairedDifferences:
        """The differences of some of the data sets only, in the order given, without notes.

        Without the scores, as in a loaded result, ``largest_difference`` stays that of all data sets.
        """
        place_of = {name: place for place, name in enumerate(self.dataset_names)}
        unknown = [name for name in dataset_names if name not in place_of]
        if unknown or len(set(dataset_names)) < len(dataset_names) or not dataset_names:
            raise ArgumentError(
                f"dataset_names must be some of the data sets, each once, got {list(dataset_names)[:5]!r}."
            )
        places = [place_of[name] for name in dataset_names]
        chosen: dict[str, Any] = {
            name: value[places] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        scores = self.scores
        if scores is not None:
            order = {name: place for place, name in enumerate(dataset_names)}
            place = scores["dataset"].map(order).to_numpy(dtype=float)  # NaN, which comes last, where it is not chosen
            scores = scores.iloc[np.argsort(place, kind="stable")[: np.isfinite(place).sum()]]
            chosen["largest_difference"] = float((scores["right"] - scores["left"]).abs().max())
        for name in ("covariates", "runs", "two_level"):
            if getattr(self, name) is not None:
                chosen[name] = getattr(self, name).subset(places)
        return replace(self, dataset_names=tuple(dataset_names), scores=scores, notes=(), **chosen)

    def to_frame(self) -> pd.DataFrame:
        """One row for each data set: mean, sum_of_squares, n, rho, standard_deviation, standard_error; ``in_own_units``."""
        import pandas as pd

        fields = ("mean", "sum_of_squares", "n", "rho", "standard_deviation", "standard_error")
        return pd.DataFrame(
            {field: getattr(self, field) for field in fields} | self.in_own_units,
            index=pd.Index(self.dataset_names, name="dataset"),
        )


def with_rope_column(columns: Mapping[str, str] | None, rope: object) -> Mapping[str, str] | None:
    """The columns of a table with the one that a rope names, if it names one."""
    name = rope_column(rope)
    return columns if name is None else {**(columns or {}), ROPE: name}


def rope_of(differences: PairedDifferences, rope: RopesLike | None) -> Rope:
    """The rope given, or the default for the scores; too few scores or data sets are refused before a missing rope.

    Raises
    ------
    HiercompError
        If there are too few scores or data sets, or none is given for scores outside [0, 1].
    """
    if rope is None:
        notes_or_error(too_few(differences))
    return differences.scale.rope(rope)


def too_few(differences: PairedDifferences) -> Iterator[TableProblem]:
    """Too few scores or data sets."""
    if differences.n_scores is not None:  # of crossed groups they are refused where they are counted
        yield from few_groups(differences.dataset_names, differences.n)
    else:
        yield from few_scores(differences.dataset_names, differences.n)
    yield from few_datasets(differences.dataset_names)


def comparison_problems(differences: PairedDifferences, rope: Rope) -> Iterator[TableProblem]:
    """Problems of the differences of two algorithms, or of a rope for them."""
    yield from too_few(differences)
    if differences.identical:
        if rope.half_width == 0:
            yield TableProblem(
                ScoreTableError,
                f"The scores of {shown(differences.left)!r} and {shown(differences.right)!r} are identical everywhere, and "
                "with a rope of zero there is no region of equivalence.",
                "Pass a rope above 0.",
                key="identical_scores",
            )
        return
    found = list(differences.scale.problems(rope))
    yield from found
    keys, largest = {problem.key for problem in found}, differences.largest_difference
    if "wide_rope" not in keys and rope.lower < -largest and rope.upper > largest:
        yield TableProblem(
            ScaleWarning,
            f"Every observed difference lies inside the rope {rope} (the largest is {largest:.3g}).",
            "Is the rope in the same unit as the scores?",
            key="wide_rope",
        )
    if "different_units" not in keys:
        spread = np.where(differences.constant, 0, differences.standard_deviation)
        yield from outlying_spread(differences.dataset_names, spread, "differences")


# The keys of the notes that `comparison_problems` and `with_spread_of_rope` make
CHECKED = frozenset(
    {
        "few_datasets",
        "wide_rope",
        "unlikely_gain",
        "reversed_loss",
        "percentages",
        "mixed_scales",
        "different_units",
        "outlying_spread",
        "constant_datasets",
    }
)


def _is_two_level(rho: RhoLike) -> bool:
    return isinstance(rho, Correlation) or is_learnt(rho)


def _medians(
    codes: NDArray[np.int64], starts: NDArray[np.int64], n: NDArray[np.int64], pairs: ScorePairs
) -> FloatArray:
    """Median of both algorithms' scores of each data set, shape (q,); ``codes`` are the data sets of the pairs."""
    scores = np.concatenate([pairs.left_scores, pairs.right_scores])
    ordered = scores[np.lexsort((scores, np.concatenate([codes, codes])))]
    middle = 2 * starts + n
    return np.asarray((ordered[middle - 1] + ordered[middle]) / 2)


def _rows(scores: Any, name: str) -> list[FloatArray]:
    message = f"{name} must be a two-dimensional array of numbers or a list of arrays."
    try:
        listed = list(scores)
        given = [np.asarray(row) for row in listed]
        if any(row.dtype.kind in "bSU" for row in given):  # text has a stricter grammar than float()
            raise ScoreTableError(message)
        rows = [as_doubles(row) for row in given]
    except (TypeError, ValueError):
        raise ScoreTableError(message) from None
    for row in (scores, *listed):
        refuse_masked(row, name)
    if any(row.ndim != 1 for row in rows):
        raise ScoreTableError(
            f"{name} must have two dimensions, data sets and folds; for a single data set pass one row: [scores]."
        )
    return rows


def _readable_names(
    dataset_names: Iterable[object] | None, count: int, left: object, right: object
) -> tuple[list[str], str, str]:
    """The names of data sets ("1", "2", ... by default) and of two algorithms, as those of a table are read."""
    names = [normal_name(name) for name in (range(1, count + 1) if dataset_names is None else dataset_names)]
    left, right = normal_name(left), normal_name(right)
    for where, given in (("dataset_names", names), ("An argument left or right", [left, right])):
        refuse_unwritable(where, given)
        if "" in given:
            raise ScoreTableError(f"{where} has an empty name.", remedy="Give every data set and algorithm a name.")
    return names, left, right


def _summaries(name: str, given: Any, dataset_names: Sequence[str]) -> FloatArray:
    """One finite number for each data set, shape (q,)."""
    if hasattr(given, "keys"):
        by_name = {normal_name(key): value for key, value in given.items()}
        if len(by_name) < len(given):
            raise ArgumentError(f"{name} has several values for a data set.", remedy="Keep one for each.")
        if set(by_name) != set(dataset_names):
            raise ArgumentError(f"mean and {name} must have the same data sets: {first_names(dataset_names)}.")
        given = [by_name[key] for key in dataset_names]
    try:
        values = np.broadcast_to(np.asarray(given, dtype=float), (len(dataset_names),))
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be a number for each of the {len(dataset_names)} data sets.") from None
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ArgumentError(f"{name} of data set {shown(dataset_names[place])!r} must be finite, got {values[place]}.")
    return values


def _refuse_unpaired_rows(name: str, left: FloatArray, right: FloatArray) -> None:
    """Refuse two rows of a data set that differ in length or contain non-finite values."""
    if len(left) != len(right):
        raise ScoreTableError(
            f"Data set {name!r} has {len(left)} left and {len(right)} right scores; they must be paired, fold by fold."
        )
    for side, row in (("left_scores", left), ("right_scores", right)):
        wrong = np.flatnonzero(~np.isfinite(row))
        if len(wrong):
            raise ScoreTableError(
                f"{side} of data set {name!r} has {len(wrong)} scores that are not finite "
                f"(first: column {wrong[0]}, {row[wrong[0]]}).",
                remedy="Remove these columns from both arrays.",
                places=(name,),
                key="missing_scores",
            )


def _folds_of_arrays(
    n: NDArray[np.int64], folds: int | None, rho: RhoLike
) -> tuple[NDArray[np.int64], tuple[Note, ...]]:
    """Folds of a run of each data set, and a note if they are inferred from the number of scores."""
    if folds is not None:
        if rho is not None:
            raise ArgumentError("folds and rho were both given; pass only one of them, because folds only sets rho.")
        return np.full(len(n), whole_number("folds", folds, 2)), ()
    if rho is not None or n.max() == 1:
        return n, ()
    if n.max() > MOST_FOLDS:
        raise ScoreTableError(
            f"Arrays do not say how many folds a run has, and {n.max()} scores of a data set look like several runs.",
            remedy="Pass folds=10 for runs of 10-fold cross-validation, or rho.",
            arguments=(Argument("folds", 10),),
            key="unknown_rho",
        )
    message = (
        "Arrays do not say how many folds a run has: the scores of each data set count as one run "
        f"(rho = 1/{n[0]} for the first)."
    )
    return n, (Note(DefaultedRhoWarning, message, "Pass folds or rho if that is wrong.", key="folds_of_arrays"),)
