"""compare_all and TournamentResult: the hierarchical model for every pair of many algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from hiercomp.arguments import number_of_jobs, seed_number, true_or_false
from hiercomp.comparison import ComparisonResult
from hiercomp.engines import choose_engine
from hiercomp.errors import ArgumentError, HiercompError, ScoreTableError, warn_caller
from hiercomp.files.any_table import as_tidy
from hiercomp.model.priors import Population, Priors, chosen_priors
from hiercomp.pairs.fits import FailedPair, PairFits, Task, pair_seed
from hiercomp.pairs.notes import gathered, in_words, ranking_notes
from hiercomp.pairs.ranking import chosen_baseline, standings_of
from hiercomp.pairs.tournament import Tournament
from hiercomp.posterior.fit import Fit, checked_options
from hiercomp.rope import Rope, RopesLike
from hiercomp.scores.arrays import ScoreArrays
from hiercomp.scores.differences import PairedDifferences, with_rope_column
from hiercomp.scores.problems import absent_datasets, notes_or_error
from hiercomp.scores.rho import RhoLike
from hiercomp.scores.ropes import is_for_each_dataset
from hiercomp.scores.scale import DEFAULT_HALF_WIDTH
from hiercomp.scores.table import tidy_scores
from hiercomp.summary.record import tournament_record
from hiercomp.summary.scores_table import ScoresTable, tournament_scores_table
from hiercomp.summary.tournament import TournamentSummary, summarise_tournament
from hiercomp.workers import sampling_progress

if TYPE_CHECKING:
    from dask.distributed import Client

    from hiercomp.plots import TournamentPlots
    from hiercomp.report.methods import Methods

# Arguments of compare_all that a misspelt name may mean
OWN = ("seed", "n_jobs", "rope", "engine", "baseline", "rho", "priors", "population", "progress")


@dataclass(frozen=True, eq=False, repr=False)
class TournamentResult(Tournament):
    """The comparisons of every pair of many algorithms, or of every algorithm with a baseline.

    Returned by `compare_all`; immutable. Its square frames compare the row with the column:
    ``better().loc["a", "b"]`` is the probability that a is better than b.

    Attributes
    ----------
    algorithms : tuple of str, length k
        In the order in which they first appear in the table; ``order`` has the best first.
    dataset_names : tuple of str
        Every data set of the table; those of a pair are in its ``differences``.
    pairs : tuple of ComparisonResult or FailedPair
        In the order of ``algorithms``, or with the baseline on the left. Pickling leaves out only what can be computed
        again.
    standings : Standings
        What ``ranking`` is computed from.
    rope : Rope
    priors : Priors
    higher_is_better : bool
        Whether the metric is a gain (True) or a loss.
    baseline : str or None
        The algorithm that the others were compared with; None if all pairs were compared.
    engine_name, engine_version : str
        The engine that computed the pairs; the version includes that of the library behind it.
    seed : int
    all_notes : tuple of Note
        Warnings, with those of one kind merged over all pairs; ``notes`` has their texts.
    measure : str or None
        The name of the measure, if the table has one.
    transform : {"log", "rope"} or None
        "log" if logs of the scores were compared: differences are then logs of ratios; "rope" if they are in units of each
        data set's rope.
    moments : ScoreMoments or None
        Mean and standard deviation of each algorithm on each data set.
    """

    pairs: tuple[ComparisonResult | FailedPair, ...]

    def pair(self, left: str, right: str) -> ComparisonResult:
        """The comparison of a pair, with everything a single comparison has.

        Raises
        ------
        ArgumentError
            As `Tournament.pair`.
        """
        return cast("ComparisonResult", super().pair(left, right))

    def summary(self, alpha: float = 0.05) -> TournamentSummary:
        """The ranking, the verdicts and everything needed to judge them; prints, and renders in a notebook."""
        return summarise_tournament(self, alpha)

    def to_dict(self, alpha: float = 0.05) -> dict[str, Any]:
        """The summary at level ``alpha`` with settings, versions and the data sets as plain values, ready for JSON."""
        return tournament_record(self, alpha)

    def scores_table(self, *, decimals: int | None = None) -> ScoresTable:
        """Mean and standard deviation of each algorithm on each data set, the best in bold, and mean ranks.

        It prints as text, and has ``to_latex()``, ``to_markdown()`` and ``to_frame()``; ``decimals`` are chosen by the size
        of the scores unless they are given.
        """
        return tournament_scores_table(self, decimals)

    @property
    def plot(self) -> TournamentPlots:
        """The plots as methods: ``result.plot.heatmap()``, ``result.plot.ranking()``."""
        from hiercomp.plots import TournamentPlots

        return TournamentPlots(self)

    def methods(self, *, alpha: float = 0.05) -> Methods:
        """The Methods paragraph of a paper, with this result's own numbers and its references.

        It prints as text; ``.references`` and ``.bibtex`` have what it cites.
        """
        from hiercomp.report.methods import tournament_methods_of

        return tournament_methods_of(self, alpha=alpha)

    def report(
        self, path: str | Path, *, source: str | Path | None = None, alpha: float = 0.05, overwrite: bool = False
    ) -> Path:
        """Write an HTML page with everything, in one file; see ``hiercomp.report.write_tournament_report``."""
        from hiercomp.report import write_tournament_report

        return write_tournament_report(self, path, source=source, alpha=alpha, overwrite=overwrite)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def compare_all(
    df: Any,
    *,
    rope: RopesLike | None = None,
    engine: str = "quadrature",
    baseline: str | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: bool = True,
    checkpoint: str | Path | None = None,
    rho: RhoLike = None,
    higher_is_better: bool | None = None,
    priors: Priors | str = Priors(),  # noqa: B008 - frozen
    population: Population | None = None,
    groups: str | tuple[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Literal["error", "drop"] = "error",
    transform: Literal["log"] | None = None,
    dask: str | Client | None = None,
    **fit_options: Any,
) -> TournamentResult:
    """Compare every pair of algorithms, or every algorithm with one baseline, by the hierarchical model.

    The table is read and checked once. Each pair uses the data sets that both algorithms have; if a data set lacks an
    algorithm, that algorithm's pairs leave it out, and the result says so. A pair that can't be compared is kept with
    the reason instead of numbers.

    Parameters
    ----------
    df : data frame, or path of a file
        Tidy scores: one row for each data set, algorithm, run and fold, as for `HierarchicalComparison`.
    rope : float, str, pair of float, Rope, mapping or Series, optional
        Differences that make no practical difference, in the metric's units. By default 0.01 if every score lies in
        [0, 1]; on any other scale it must be given. A rope that is not symmetric about zero needs a ``baseline``, which
        is the left algorithm of every pair. A mapping, or the name of a column, has a rope for each data set; see
        `HierarchicalComparison`.
    engine : {"quadrature", "auto", "embedded", "cmdstan"}
        "quadrature" has no Monte Carlo error and is much faster than sampling; the others are those of
        `HierarchicalComparison.fit`. For a mixture, "quadrature" means "mixture", its own engine.
    baseline : str, optional
        Compare every other algorithm only with this one. "best" takes the algorithm with the best mean of the data
        sets' mean scores, unless an algorithm has that name.
    n_jobs : int, optional
        Processes at once. None is joblib's rule: one, unless a ``joblib.parallel_config`` is active; -1 is all cores, -2 all
        but one.
    seed : int
        From 0 to 2^31 - 1. The seed of each pair depends only on this and on the two names, not on the order of running
        or on other algorithms.
    progress : bool
        Show progress on a terminal (standard error) or in a notebook.
    checkpoint : str or Path, optional
        An SQLite file to which each pair is written when it is finished. A later call with the same file fits only
        pairs that are missing or whose scores, rope, priors, engine or version changed.
    rho : float, mapping from data set to float, Correlation or "runs", optional
        Correlation between folds, in [0, 1); by default 1/k for the k folds of each data set. A `Correlation` has one for
        folds of a run and one for folds of different runs; "runs" is 1/k across runs; the scores then say how strongly
        folds of a run are correlated.
    higher_is_better : bool, optional
        False for losses and errors. By default as the table says; see `HierarchicalComparison`.
    priors : Priors
    population : {"student_t", "gaussian", "mixture"}, optional
        Distribution of the data sets' mean differences; see `HierarchicalComparison`.
    groups : str or pair of str, optional
        A column that says which scores of a data set belong together, or two crossed ones; see `HierarchicalComparison`.
    columns : mapping, optional
        Which column is which, such as ``{"score": "auc"}``.
    missing : {"error", "drop"}
        How to treat folds that one algorithm of a pair lacks or whose score is missing. A data set without any scores
        of one algorithm is left out in either case.
    transform : {"log"}, optional
        "log" to compare ratios; see `HierarchicalComparison`.
    dask : str or dask.distributed.Client, optional
        A Dask scheduler's address, or a client: the pairs are fitted on its workers, where hiercomp must be installed.
        Same as calling this under ``joblib.parallel_config(backend="dask")``.
    **fit_options
        Passed on to `HierarchicalComparison.fit`, such as ``draws`` for a sampling engine. Sampled pairs keep only the
        population's draws unless you pass ``keep="all"``.

    Returns
    -------
    TournamentResult

    Raises
    ------
    ScoreTableError
        If the table can't be compared, or no pair of it can.
    ArgumentError
        If an argument is invalid.
    ResultFileError
        If the checkpoint is damaged as a whole, belongs to another program, or can't be written.

    Warns
    -----
    DroppedScoresWarning
        If data sets or folds are left out.
    HiercompWarning
        If pairs failed, were damaged in the checkpoint or have warnings of their own, once for each kind; the result's
        notes contain them.

    Notes
    -----
    The posterior of each pair is computed by itself: the probabilities of two pairs with a common algorithm are not
    independent, and none is adjusted for the number of pairs. joblib's Ray backend (``ray.util.joblib``) should work
    like Dask's; it is not tested.

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
    given = None if rope is None or is_for_each_dataset(rope) else Rope.of(rope)
    priors = chosen_priors(priors, population)
    if missing not in ("error", "drop"):
        raise ArgumentError(f"missing must be 'error' or 'drop', got {missing!r}.")
    if baseline is None and given is not None and given.lower != -given.upper:
        raise ArgumentError(
            f"The rope {given} is not symmetric about zero, but in a comparison of all pairs no algorithm is fixed as the "
            "left one. Pass a symmetric rope, or a baseline, which is then the left algorithm of every pair."
        )
    seed = seed_number(seed)
    true_or_false("progress", progress)
    number_of_jobs(n_jobs)
    chosen = choose_engine(engine, priors.population)
    options = checked_options(fit_options, OWN) | {"engine": chosen.name}
    if chosen.holds_draws:
        options = {"keep": "population"} | options
    df, columns = as_tidy(df, columns, rho=rho, groups=groups, rope=rope)
    tidy = tidy_scores(df, with_rope_column(columns, rope))
    arrays = ScoreArrays.of(tidy, rope=rope, rho=rho, higher_is_better=higher_is_better, transform=transform)
    if given is None:
        scale = arrays.scale  # None if no score is finite, which the pairs refuse
        given = Rope.of(DEFAULT_HALF_WIDTH) if scale is None else scale.rope(None)
    notes = [*arrays.notes, *notes_or_error(absent_datasets(arrays.algorithms, arrays.dataset_names, arrays.held))]
    if baseline is not None:
        baseline, more = chosen_baseline(arrays, baseline)
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
        except ArgumentError as error:
            if error.key != "nothing_to_learn":
                raise
            found[place] = error
    engine_version = chosen.version()
    fits = PairFits(given, priors, options, engine_version)
    with (
        sampling_progress("Comparing pairs", 1, len(pairs), shown=progress) as report,
        closing(fits.run(tasks, n_jobs=n_jobs, checkpoint=checkpoint, dask=dask, notes=notes)) as results,
    ):
        for place, result in results:
            found[place] = result
            if report is not None:
                report(0, len(found))
    if all(isinstance(result, HiercompError) for result in found.values()):
        first = found[0]
        kind = ScoreTableError if isinstance(first, ScoreTableError) else ArgumentError
        message = f"No pair can be compared. The first, {in_words(*pairs[0])}: {first}"
        fields = (first.key, first.arguments) if isinstance(first, HiercompError) else ("", ())
        raise kind(message, key=fields[0], arguments=fields[1])
    kept = tuple(
        FailedPair(*pair, str(result)) if isinstance(result, HiercompError) else ComparisonResult.of(result)
        for pair, result in ((pair, found[place]) for place, pair in enumerate(pairs))
    )
    standings = standings_of(arrays)
    notes += [*gathered(kept, arrays.notes), *ranking_notes(arrays, len(standings.dataset_names))]
    warn_caller(notes)
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
        measure=arrays.measure,
        transform=arrays.transform,
        moments=arrays.moments,
    )
