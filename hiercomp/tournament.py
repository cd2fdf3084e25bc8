"""compare_all: the hierarchical model for every pair of many algorithms, in parallel, and resumed where it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from inspect import signature
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hiercomp.arguments import number_of_jobs, seed_number, true_or_false
from hiercomp.comparison import ComparisonResult, HierarchicalComparison
from hiercomp.engines import choose_engine
from hiercomp.errors import ArgumentError, DroppedScoresWarning, HiercompError, HiercompWarning, Note, ScoreTableError
from hiercomp.model.priors import Priors
from hiercomp.pairs.fits import PairFits, Task, pair_seed
from hiercomp.pairs.ranking import standings_of
from hiercomp.pairs.result import FailedPair, TournamentResult
from hiercomp.posterior.fit import Fit
from hiercomp.rope import Rope, RopeLike
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.differences import PairedDifferences
from hiercomp.scores.problems import absent_datasets, notes_or_error
from hiercomp.scores.rho import RhoLike
from hiercomp.scores.table import tidy_scores
from hiercomp.wording import EXAMPLES_SHOWN, counted, nearest_name, normal_name, shown
from hiercomp.workers import sampling_progress

if TYPE_CHECKING:
    from dask.distributed import Client

BEST = "best"
TAKEN = ("self", "engine", "seed", "progress")  # arguments of a fit that are compare_all's own


def compare_all(
    df: Any,
    *,
    rope: RopeLike,
    engine: str = "quadrature",
    baseline: str | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: bool = True,
    checkpoint: str | Path | None = None,
    rho: RhoLike = None,
    higher_is_better: bool = True,
    priors: Priors = Priors(),  # noqa: B008 - frozen
    columns: Mapping[str, str] | None = None,
    missing: Literal["error", "drop"] = "error",
    dask: str | Client | None = None,
    **fit_options: Any,
) -> TournamentResult:
    """Compare every pair of algorithms, or every algorithm with one, by the hierarchical model.

    The table is read and checked once. Each pair uses the data sets that both algorithms have; where a data set has no
    scores of an algorithm, that algorithm's pairs do without it, and the result says so. A pair that can't be
    compared is kept with its reason and without numbers.

    Parameters
    ----------
    df : data frame
        Tidy scores: one row for each data set, algorithm, run and fold, as for `HierarchicalComparison`.
    rope : float, pair of float or Rope
        Differences that make no practical difference, in the metric's units. A rope that is not symmetric about zero needs
        a ``baseline``, which is the left algorithm of every pair.
    engine : {"quadrature", "auto", "embedded", "cmdstan"}
        "quadrature" has no Monte Carlo error and is much faster than sampling; the others are those of
        `HierarchicalComparison.fit`.
    baseline : str, optional
        Compare every other algorithm with this one only. "best" takes the algorithm with the best mean of the data sets'
        mean scores, unless an algorithm has that name.
    n_jobs : int, optional
        Processes at once. None is joblib's rule: one, unless a ``joblib.parallel_config`` is active; -1 is all cores, -2 all
        but one.
    seed : int
        From 0 to 2^31 - 1. Each pair's own seed depends on this and on the two names, so that neither the order of
        running nor further algorithms change it.
    progress : bool
        Show progress on a terminal (standard error) or in a notebook.
    checkpoint : str or Path, optional
        An SQLite file to which finished pairs are written as they come. A later call with the same file fits only the
        pairs whose scores, rope, priors, engine or version differ, or that are missing.
    rho : float or mapping from data set to float, optional
        Correlation between folds, in [0, 1); by default 1/k for the k folds of each data set.
    higher_is_better : bool
        False for losses and errors.
    priors : Priors
    columns : mapping, optional
        Which column is which, such as ``{"score": "auc"}``.
    missing : {"error", "drop"}
        What becomes of folds that one algorithm of a pair lacks or whose score is missing. Whole data sets that the
        table does not have for one algorithm are left out in either case.
    dask : str or dask.distributed.Client, optional
        A Dask scheduler's address, or a client: the pairs are fitted on its workers, where hiercomp must be installed.
        The same as calling this under ``joblib.parallel_config(backend="dask")``.
    **fit_options
        Passed on to `HierarchicalComparison.fit`, such as ``draws`` for a sampling engine. Of sampled pairs only the
        population's draws are kept, unless ``keep="all"`` is passed.

    Returns
    -------
    TournamentResult

    Raises
    ------
    ScoreTableError
        If the table can't be compared, or no pair of it can.
    ArgumentError
        If an argument is outside what is allowed.
    ResultFileError
        If the checkpoint is another program's file, damaged, or can't be written.

    Warns
    -----
    DroppedScoresWarning
        If data sets or folds are left out.
    HiercompWarning
        If pairs failed or have warnings of their own, once for each kind; the result's notes hold them.

    Notes
    -----
    The pairs' posteriors are computed one by one: the probabilities of two pairs with a common algorithm are not
    independent, and none of them is adjusted for the number of pairs. joblib's Ray backend (``ray.util.joblib``) should
    work as Dask's does; it is not tested.

    Examples
    --------
    >>> import hiercomp as hc
    >>> scores = hc.load_scores("keel")
    >>> three = scores[scores["algorithm"].isin(["naive_bayes", "decision_tree", "random_forest"])]
    >>> result = compare_all(three, rope=0.01, n_jobs=1, progress=False)
    >>> result.order()
    ('random_forest', 'naive_bayes', 'decision_tree')
    >>> result.verdict("random_forest", "decision_tree")
    'better'
    """
    given = Rope.of(rope)
    if not isinstance(priors, Priors):
        raise ArgumentError(f"priors must be a Priors object such as Priors.kruschke(), got {priors!r}.")
    if missing not in ("error", "drop"):
        raise ArgumentError(f"missing must be 'error' or 'drop', got {missing!r}.")
    if baseline is None and given.lower != -given.upper:
        raise ArgumentError(
            f"The rope {given} is not symmetric about zero, and of all pairs it is open which algorithm is on the left. "
            "Pass a symmetric rope, or a baseline, which is then the left algorithm of every pair."
        )
    seed = seed_number(seed)
    true_or_false("progress", progress)
    number_of_jobs(n_jobs)
    chosen = choose_engine(engine)
    options = _checked_options(fit_options) | {"engine": chosen.name}
    if chosen.holds_draws:
        options = {"keep": "population"} | options
    arrays = ScoreArrays.of(tidy_scores(df, columns), rho=rho, higher_is_better=higher_is_better)
    notes = notes_or_error(absent_datasets(arrays))
    if baseline is not None:
        baseline, more = _baseline(arrays, baseline)
        notes += more
    pairs = [
        (one, other) if other != baseline else (other, one)
        for one, other in combinations(arrays.algorithms, 2)
        if baseline is None or baseline in (one, other)
    ]
    found: dict[int, Fit | HiercompError] = {}
    tasks: list[Task] = []
    for place, (left, right) in enumerate(pairs):
        try:
            differences = PairedDifferences.of(arrays.pair(left, right, drop=missing == "drop"))
            tasks.append(Task(place, differences, pair_seed(seed, left, right)))
        except ScoreTableError as error:
            if missing != "drop" and error.key != "no_common_dataset":
                raise  # missing cells, which are not to be dropped
            found[place] = error
    engine_version = chosen.version()
    fits = PairFits(given, priors, options, engine_version)
    with (
        sampling_progress("Comparing pairs", 1, len(pairs), shown=progress) as report,
        closing(fits.run(tasks, n_jobs=n_jobs, checkpoint=checkpoint, dask=dask)) as results,
    ):
        for place, result in results:
            found[place] = result
            if report is not None:
                report(0, len(found))
    if all(isinstance(result, HiercompError) for result in found.values()):
        first = found[0]
        kind = ScoreTableError if isinstance(first, ScoreTableError) else ArgumentError
        raise kind(f"No pair can be compared. The first, {_named(*pairs[0])}: {first}")
    kept = tuple(
        FailedPair(*pair, str(result)) if isinstance(result, HiercompError) else ComparisonResult.of(result)
        for pair, result in ((pair, found[place]) for place, pair in enumerate(pairs))
    )
    standings = standings_of(arrays)
    notes += [*_gathered(kept), *_ranking_notes(arrays, len(standings.dataset_names))]
    for note in notes:
        note.warn(stacklevel=2)
    return TournamentResult(
        algorithms=arrays.algorithms,
        dataset_names=arrays.dataset_names,
        pairs=kept,
        standings=standings,
        rope=given,
        priors=priors,
        higher_is_better=arrays.higher_is_better,
        baseline=baseline,
        engine_name=chosen.name,
        engine_version=engine_version,
        seed=seed,
        all_notes=tuple(notes),
    )


def _checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a fit, by their names; their values are checked by each fit."""
    allowed = [name for name in signature(HierarchicalComparison.fit).parameters if name not in TAKEN]
    for name in options:
        if name not in allowed:
            raise ArgumentError(
                f"{name!r} is not an argument of compare_all or of a fit.{nearest_name(name, allowed)} The options of a "
                f"fit are: {', '.join(allowed)}."
            )
    return dict(options)


def _baseline(arrays: ScoreArrays, baseline: str) -> tuple[str, list[Note]]:
    """The algorithm that the others are compared with; a note where it was chosen by its scores."""
    if not isinstance(baseline, str):
        raise ArgumentError(f"baseline must be the name of an algorithm or 'best', got {baseline!r}.")
    name = normal_name(baseline)
    if name in arrays.algorithms:
        return name, []
    if name != BEST:
        listed = ", ".join(repr(shown(known)) for known in arrays.algorithms[:20])
        raise ArgumentError(
            f"baseline={baseline!r} is not an algorithm of the table.{nearest_name(name, arrays.algorithms)} They are: "
            f"{listed}{', ...' if len(arrays.algorithms) > 20 else ''}. Or pass 'best'."
        )
    means = arrays.means
    common = np.isfinite(means).all(axis=0)
    if not common.any():
        raise ScoreTableError(
            "No data set has scores of every algorithm, so that the best mean is not defined. Name the baseline."
        )
    averages = means[:, common].mean(axis=1)
    best = arrays.algorithms[int(np.argmax(averages if arrays.higher_is_better else -averages))]
    text = (
        f"The baseline {shown(best)!r} was chosen because its mean over {counted(int(common.sum()), 'data set')}, "
        f"{averages[arrays.algorithms.index(best)]:.4g}, is the best. It was chosen by the same scores, which favours it a "
        "little in every comparison."
    )
    return best, [Note(HiercompWarning, text)]


def _ranking_notes(arrays: ScoreArrays, ranked: int) -> list[Note]:
    if ranked == len(arrays.dataset_names):
        return []
    if ranked == 0:
        return [Note(DroppedScoresWarning, "No data set has scores of every algorithm: there is no ranking.")]
    text = (
        f"The ranking uses the {counted(ranked, 'data set')} of {len(arrays.dataset_names)} on which every algorithm has at "
        "least two common scores."
    )
    return [Note(DroppedScoresWarning, text)]


def _gathered(pairs: Sequence[ComparisonResult | FailedPair]) -> list[Note]:
    """The warnings of the pairs, those of one kind together."""
    kinds: dict[tuple[type[HiercompWarning], str], list[tuple[str, str]]] = {}
    failed = [(_named(pair.left, pair.right), pair.reason) for pair in pairs if isinstance(pair, FailedPair)]
    for pair in pairs:
        if isinstance(pair, FailedPair):
            continue
        for note in (*pair.differences.notes, *pair.fit_notes):
            if note.key != "absent_datasets":  # said of all algorithms at once
                kinds.setdefault((note.category, note.key), []).append((_named(pair.left, pair.right), note.text))
    notes = []
    if failed:
        text = f"{counted(len(failed), 'pair')} of {len(pairs)} can't be compared: {_examples(failed)}"
        notes.append(Note(HiercompWarning, text))
    for (category, _), found in kinds.items():
        if len(found) == len(pairs) and len({message for _, message in found}) == 1:
            notes.append(Note(category, found[0][1]))
        else:
            name, message = found[0]
            first = f"first: {name}" if len(found) > 1 else name
            notes.append(Note(category, f"{counted(len(found), 'pair')} of {len(pairs)} ({first}): {message}"))
    return notes


def _examples(failed: Sequence[tuple[str, str]]) -> str:
    listed = " ".join(f"{name}: {reason}" for name, reason in failed[:EXAMPLES_SHOWN])
    more = len(failed) - EXAMPLES_SHOWN
    return listed + (f" And {counted(more, 'more pair')}." if more > 0 else "")


def _named(left: str, right: str) -> str:
    return f"{shown(left)} against {shown(right)}"
