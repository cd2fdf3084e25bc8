"""The tests without the model that a table of scores allows, each with its caution."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from hiercomp.arguments import number_between, whole_number
from hiercomp.closed_form.across_datasets.bayesian_sign import bayesian_sign_test, bayesian_signed_rank_test
from hiercomp.closed_form.across_datasets.poisson_binomial import LARGEST_TRINOMIAL, poisson_binomial_test
from hiercomp.closed_form.across_datasets.signed_rank import sign_test, signed_rank_test
from hiercomp.closed_form.inputs import read_score_matrix
from hiercomp.closed_form.many_algorithms.friedman import PostHocResult, friedman_test, nemenyi_test
from hiercomp.closed_form.many_algorithms.posthoc import posthoc_test
from hiercomp.closed_form.one_dataset.calibrated import calibrated_test
from hiercomp.closed_form.one_dataset.correlated_t import correlated_t_test
from hiercomp.closed_form.one_dataset.five_by_two import five_by_two_cv_f
from hiercomp.closed_form.one_dataset.frequentist import corrected_t_test, mann_whitney, paired_t_test, welch_t_test
from hiercomp.closed_form.result import compared
from hiercomp.document import Document, Presentation, Table, cell_text, json_value
from hiercomp.errors import ArgumentError, HiercompError, HiercompWarning, ScoreTableError, warn_caller
from hiercomp.files.any_table import as_tidy
from hiercomp.rope import Rope, RopesLike
from hiercomp.scores.differences import PairedDifferences, with_rope_column
from hiercomp.scores.rho import RhoLike
from hiercomp.scores.table import choose_algorithms, tidy_scores
from hiercomp.wording import counted, metric_words, nearest_name, shown

Result: TypeAlias = Any  # one of the results of the tests, all of them `Presentation`

NO_EQUIVALENCE = "A p-value above the level is no evidence that the two are equal."
EXACT_MEANS = "It treats the mean of each data set as exact, whatever its folds say."
ONLY_THESE = "It is about these data sets, not about the next one."
CAUTIONS = {
    "sign": f"It counts wins and ignores the sizes of the differences. {NO_EQUIVALENCE}",
    "signed-rank": f"It has no margin, so with enough data sets it rejects any difference. {EXACT_MEANS} {NO_EQUIVALENCE}",
    "bayesian-sign": f"It counts data sets and ignores the sizes of the differences. {EXACT_MEANS}",
    "bayesian-signed-rank": f"It assumes that the differences are symmetric about their centre. {EXACT_MEANS}",
    "poisson-binomial": ONLY_THESE,
    "correlated-t": "It judges each data set on its own and says nothing about them jointly.",
    "corrected-t": f"It tests each data set on its own, without correction for their number. {NO_EQUIVALENCE}",
    "calibrated-t": f"It tests each data set on its own, without correction for their number. {NO_EQUIVALENCE}",
    "five-by-two-f": f"It tests each data set on its own, without correction for their number. {NO_EQUIVALENCE}",
    "paired-t": "It ignores the correlation between folds and rejects far too often.",
    "welch-t": "It ignores that folds are paired and correlated.",
    "mann-whitney": "It ignores that folds are paired and correlated.",
    "friedman": "It asks only whether all algorithms rank alike; the post hoc tests say which differ. It has no margin.",
    "nemenyi": "It is conservative, and the verdict on a pair depends on the other algorithms in the table.",
    "wilcoxon": f"It tests each pair by itself, adjusted by Holm's method, without a margin. {NO_EQUIVALENCE}",
}
FOR_TWO = ("sign", "signed-rank", "bayesian-sign", "bayesian-signed-rank")
FOR_FOLDS = ("correlated-t", "poisson-binomial")
FOR_MANY = ("friedman", "nemenyi", "wilcoxon")
WRITTEN_NUMBERS = (
    *("statistic", "df", "pvalue", "f_statistic", "f_df", "f_pvalue", "exact_pvalue"),
    *("critical_difference", "alpha"),
)
REGION_NUMBERS = ("p_left", "p_rope", "p_right")


@dataclass(frozen=True, eq=False)
class AppliedTest:
    """A test of a table, its result and what not to read into it.

    Attributes
    ----------
    name : str
        As `apply_tests` and the command line call it.
    result : Presentation
        The result of the test's own function.
    caution : str
        What the test does not say.
    """

    name: str
    result: Result
    caution: str

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON."""
        frame = self.result.to_frame()
        rows = (frame.reset_index() if frame.index.name else frame).to_dict("records")
        content = {
            "name": self.name,
            "title": self.result.title,
            "conclusion": self.result.conclusion,
            "caution": self.caution,
            "table": json_value(rows),
        }
        for name in WRITTEN_NUMBERS:
            value = getattr(self.result, name, None)
            if isinstance(value, (int, float, tuple)):
                content[name] = json_value(value)
        if isinstance(self.result, PostHocResult):
            content["mean_ranks"] = dict(zip(self.result.algorithms, self.result.mean_ranks.tolist(), strict=True))
            content["groups"] = [list(group) for group in self.result.groups()]
        return content


@dataclass(frozen=True, eq=False, repr=False)
class AppliedTests(Presentation):
    """The tests without the model that were applied to a table.

    Attributes
    ----------
    tests : tuple of AppliedTest
    algorithms : tuple of str
        The left and the right algorithm, or all of them.
    dataset_names : tuple of str
    n_scores : tuple of int
        Scores of each algorithm on each data set; 1 if there are no folds.
    rope : Rope or None
        The region of practical equivalence; None if no test used one.
    rho : tuple of float
        Correlation between the folds of each data set; empty for many algorithms.
    seed : int
        Seed of the sampled tests.
    alpha : float
        Level of the critical difference and of the groups.
    measure : str or None
        The name of the measure, if the table has one.
    higher_is_better : bool
        Whether the metric is a gain (True) or a loss.
    notes : tuple of str
        What was left out, and tests that do not apply.
    transform : {"rope"} or None
        "rope" if differences are in units of each data set's rope.
    """

    tests: tuple[AppliedTest, ...]
    algorithms: tuple[str, ...]
    dataset_names: tuple[str, ...]
    n_scores: tuple[int, ...]
    rope: Rope | None
    rho: tuple[float, ...]
    seed: int
    alpha: float
    measure: str | None
    higher_is_better: bool
    notes: tuple[str, ...] = ()
    transform: str | None = None

    def __getitem__(self, name: str) -> Result:
        """The result of a test by its name: ``tests["signed-rank"].pvalue``."""
        for test in self.tests:
            if test.name == name:
                return test.result
        raise KeyError(name)

    @property
    def title(self) -> str:
        """What was compared, on which metric, and in which direction."""
        what = (
            compared((self.algorithms[0], self.algorithms[1]), len(self.dataset_names))
            if len(self.algorithms) == 2
            else f"{len(self.algorithms)} algorithms, {counted(len(self.dataset_names), 'data set')}"
        )
        size = "one score each" if max(self.n_scores) == 1 else "means of the folds"
        rope = "" if self.rope is None else f", rope {self.rope}"
        metric = metric_words(self.measure, self.higher_is_better, self.transform)
        return f"Tests without the model, {what} ({size}){rope}, {metric}"

    @property
    def conclusion(self) -> str:
        """The result in one sentence: of the only test, else how to read them."""
        if len(self.tests) == 1:
            return str(self.tests[0].result.conclusion)
        return "These tests answer different questions; none of them says which is better on the next data set by a margin."

    def to_frame(self) -> pd.DataFrame:
        """One row for each test: p_left, p_rope, p_right and pvalue where it has one number for the whole table."""
        rows = [_overall(test.result) for test in self.tests]
        index = pd.Index([test.name for test in self.tests], name="test")
        return pd.DataFrame(rows, index=index, columns=[*REGION_NUMBERS, "pvalue"]).astype(float)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON; nothing is infinite or NaN."""
        rho = self.rho or (None,) * len(self.dataset_names)
        sets = zip(self.dataset_names, self.n_scores, rho, strict=True)
        return {
            "version": version("hiercomp"),
            "title": self.title,
            "conclusion": self.conclusion,
            "algorithms": list(self.algorithms),
            "measure": self.measure,
            "higher_is_better": self.higher_is_better,
            "metric": metric_words(self.measure, self.higher_is_better, self.transform),
            "rope": None if self.rope is None else [self.rope.lower, self.rope.upper],
            "rho": [min(self.rho), max(self.rho)] if self.rho else None,
            "alpha": self.alpha,
            "seed": self.seed,
            "tests": [test.to_dict() for test in self.tests],
            "datasets": [{"dataset": name, "n": n, "rho": value} for name, n, value in sets],
            "notes": list(self.notes),
        }

    def document(self) -> Document:
        """A table of all tests, then each with its caution; a single test with its own table."""
        if len(self.tests) == 1:
            (test,) = self.tests
            found: Document = test.result.document()
            details = (*found.details, f"Caution: {test.caution}")
            notes = tuple(dict.fromkeys((*self.notes, *found.notes)))
            return replace(found, details=details, notes=notes)
        details = tuple(f"{test.name}: {test.result.conclusion} Caution: {test.caution}" for test in self.tests)
        tables = self._of_two() if _any_for_two(tuple(test.name for test in self.tests)) else self._of_many()
        return Document(self.title, self.conclusion, tables, details, self.notes)

    def _of_two(self) -> tuple[Table, ...]:
        left, right = map(shown, self.algorithms)
        frame = self.to_frame()
        frame = frame[frame.notna().any(axis=1)]
        if frame.empty:
            return ()
        header = ("test", f"P({left} better)", "P(equivalent)", f"P({right} better)", "p-value")
        cells = [[cell_text(str(name), value) for value in frame[name]] for name in frame.columns]
        rows = tuple((str(name), *row) for name, *row in zip(frame.index, *cells, strict=True))
        return (Table(header, rows),)

    def _of_many(self) -> tuple[Table, ...]:
        """Mean ranks; then the p-values of every pair."""
        tables = []
        pairs = [test for test in self.tests if isinstance(test.result, PostHocResult)]
        ranked = next((test.result for test in self.tests if hasattr(test.result, "mean_ranks")), None)
        if ranked is not None:
            order = np.argsort(ranked.mean_ranks, kind="stable")
            rows = tuple((shown(self.algorithms[place]), f"{ranked.mean_ranks[place]:.3f}") for place in order)
            tables.append(Table(("algorithm", "mean rank"), rows, legend="1 is the best"))
        if pairs:
            frame = pairs[0].result.to_frame()[["algorithm", "against"]]
            for test in pairs:
                frame[f"{test.name} p"] = test.result.to_frame()["adjusted_pvalue"]
            frame.index = pd.Index(
                [
                    f"{one} against {other}"
                    for one, other in zip(frame.pop("algorithm"), frame.pop("against"), strict=True)
                ]
            )
            tables.append(Table.of_frame(frame))
        return tuple(tables)


def apply_tests(
    df: Any,
    left: str | None = None,
    right: str | None = None,
    *,
    tests: Sequence[str] | None = None,
    rope: RopesLike | None = None,
    rho: RhoLike = None,
    higher_is_better: bool | None = None,
    columns: Mapping[str, str] | None = None,
    missing: Literal["error", "drop"] = "error",
    alpha: float = 0.05,
    seed: int = 0,
) -> AppliedTests:
    """Apply the tests without the model to a table: of two algorithms, or of all if none are named.

    A table may have one score per data set; of folds the means are compared, and each data set is tested as well.

    Parameters
    ----------
    df : data frame, or path of a file
        Tidy scores, as for `HierarchicalComparison`; run and fold may be missing.
    left, right : str, optional
        The two algorithms to compare; without them all algorithms of the table are compared.
    tests : sequence of str, optional
        Which tests. For two algorithms: "sign", "signed-rank", "bayesian-sign", "bayesian-signed-rank", with folds also
        "correlated-t" and "poisson-binomial", and only if named "corrected-t", "calibrated-t", "five-by-two-f",
        "paired-t", "welch-t" and "mann-whitney". For many: "friedman", "nemenyi" and "wilcoxon" (every pair, with Holm's
        adjustment). By default those that apply.
    rope : float, str, pair of float, Rope, mapping or Series, optional
        Differences that make no practical difference, for the Bayesian tests; by default 0.01 if every score lies in
        [0, 1]. Also one for each data set; see `HierarchicalComparison`.
    rho : float, mapping from data set to float, Correlation or "runs", optional
        Correlation between folds; by default 1/k for k folds. See `HierarchicalComparison`.
    higher_is_better : bool, optional
        False for losses and errors. By default as the table says; see `HierarchicalComparison`.
    columns : mapping, optional
        Which column is which, such as ``{"score": "auc"}``.
    missing : {"error", "drop"}
        How to treat missing scores: for two algorithms leave out their folds, for many their data sets.
    alpha : float
        Level of Nemenyi's critical difference and of the groups.
    seed : int
        Seed of the sampled tests.

    Returns
    -------
    AppliedTests

    Raises
    ------
    ScoreTableError
        If the table can't be compared, or a test that was named does not apply to it.
    ArgumentError
        If an argument is invalid.

    Examples
    --------
    >>> import pandas as pd
    >>> wide = pd.DataFrame({"dataset": list("abcdef"), "svm": [0.91, 0.85, 0.77, 0.93, 0.66, 0.81]})
    >>> found = apply_tests(wide.assign(forest=wide["svm"] + 0.02), rope=0.01)
    >>> found["sign"].pvalue
    0.03125
    """
    alpha, seed = number_between("alpha", alpha, 0, 1), whole_number("seed", seed, 0)
    asked = _checked_names(tests)
    df, columns = as_tidy(df, columns, rho=rho, rope=rope)
    tidy = tidy_scores(df, with_rope_column(columns, rope))
    two = left is not None or right is not None or (len(tidy.algorithms) <= 2 if asked is None else _any_for_two(asked))
    if two:
        left, right = choose_algorithms(tidy, left, right)
        differences = PairedDifferences.from_table(
            *(df, left, right), rope=rope, rho=rho, higher_is_better=higher_is_better, columns=columns, missing=missing
        )
        warn_caller(differences.notes)
        given = None if rope is None else differences.scale.rope(rope)
        runners: dict[str, Callable[[], Result]] = {
            name: _bound(test, differences, given, seed) for name, test in TWO.items()
        }
        folds = int(differences.n.min()) > 1
        names = asked or (*FOR_TWO, *(FOR_FOLDS if folds else ()))
        algorithms: tuple[str, ...] = (differences.left, differences.right)
        measure, transform = differences.measure, differences.transform
        direction, n_scores = differences.higher_is_better, differences.paired_scores.tolist()
        dataset_names, correlation = differences.dataset_names, tuple(differences.rho.tolist())
        notes = [note.text for note in differences.notes]
        if asked is None and not folds:
            notes.append("Tests of each data set on its own need the scores of its folds.")
    else:
        said = tidy.direction(higher_is_better)
        notes = [note.text for note in said.notes()]
        frame = tidy.frame.copy(deep=False)
        frame.attrs = {"measure": said.measure, "higher_is_better": said.stated}
        frame.attrs["notes"] = [note.text for note in tidy.notes if note.quiet]
        runners = {
            name: (lambda test=test: test(frame, missing, alpha, higher_is_better))  # type: ignore[misc]
            for name, test in MANY.items()
        }
        names, algorithms, transform = asked or FOR_MANY, tuple(tidy.algorithms), None
        measure, direction = said.measure, said.higher_is_better
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HiercompWarning)  # the tests give them
            table = read_score_matrix(frame, missing=missing, higher_is_better=higher_is_better, fewest=2)
            dataset_names = table.dataset_names
        sizes = frame.groupby(frame["dataset"].astype(str)).size() / len(algorithms)
        n_scores, correlation = [math.ceil(sizes[name]) for name in dataset_names], ()
        if unused := [name for name, value in (("rope", rope), ("rho", rho)) if value is not None]:
            notes.append(
                f"The tests of many algorithms don't use {' or '.join(unused)}; name two algorithms for those that do."
            )
    results, refused = _run(names, runners, raising=asked is not None)
    if not results:
        raise ScoreTableError(next(iter(refused)))
    notes += [f"Not applicable: {', '.join(which)}. {reason}" for reason, which in refused.items()]
    for test in results:
        notes += [note for note in test.result.notes if note not in notes]
    return AppliedTests(
        tests=tuple(results),
        algorithms=algorithms,
        dataset_names=dataset_names,
        n_scores=tuple(n_scores),
        rope=next((test.result.rope for test in results if hasattr(test.result, "rope")), None),
        rho=correlation,
        seed=seed,
        alpha=alpha,
        measure=measure,
        higher_is_better=direction,
        notes=tuple(notes),
        transform=transform,
    )


def _correlated(differences: PairedDifferences, rope: Rope | None, seed: int) -> Result:
    return correlated_t_test(differences, rope=rope)


def _poisson_binomial(differences: PairedDifferences, rope: Rope | None, seed: int) -> Result:
    sampled = len(differences.dataset_names) > LARGEST_TRINOMIAL
    margin = differences.scale.rope(rope)
    return poisson_binomial_test(differences, rope=margin, method="sampling" if sampled else "exact", seed=seed)


def _without_rope(test: Callable[[PairedDifferences], Result]) -> Callable[..., Result]:
    return lambda differences, rope, seed: test(differences)


def _seeded(test: Callable[..., Result]) -> Callable[..., Result]:
    return lambda differences, rope, seed: test(differences, rope=rope, seed=seed)


TWO: dict[str, Callable[[PairedDifferences, Rope | None, int], Result]] = {
    "sign": _without_rope(sign_test),
    "signed-rank": _without_rope(signed_rank_test),
    "bayesian-sign": _seeded(bayesian_sign_test),
    "bayesian-signed-rank": _seeded(bayesian_signed_rank_test),
    "correlated-t": _correlated,
    "poisson-binomial": _poisson_binomial,
    "corrected-t": _without_rope(corrected_t_test),
    "calibrated-t": _without_rope(calibrated_test),
    "five-by-two-f": _without_rope(five_by_two_cv_f),
    "paired-t": _without_rope(paired_t_test),
    "welch-t": _without_rope(welch_t_test),
    "mann-whitney": _without_rope(mann_whitney),
}
MANY: dict[str, Callable[[pd.DataFrame, Literal["error", "drop"], float, bool | None], Result]] = {
    "friedman": lambda frame, missing, alpha, higher: friedman_test(frame, missing=missing, higher_is_better=higher),
    "nemenyi": lambda frame, missing, alpha, higher: nemenyi_test(
        frame, missing=missing, alpha=alpha, higher_is_better=higher
    ),
    "wilcoxon": lambda frame, missing, alpha, higher: posthoc_test(
        frame, missing=missing, alpha=alpha, higher_is_better=higher
    ),
}


def _bound(
    test: Callable[[PairedDifferences, Rope | None, int], Result],
    differences: PairedDifferences,
    rope: Rope | None,
    seed: int,
) -> Callable[[], Result]:
    return lambda: test(differences, rope, seed)


def _checked_names(tests: Sequence[str] | None) -> tuple[str, ...] | None:
    if tests is None:
        return None
    names = tuple(dict.fromkeys([tests] if isinstance(tests, str) else tests))
    for name in names:
        if name not in CAUTIONS:
            raise ArgumentError(
                f"{name!r} is not a test.{nearest_name(str(name), CAUTIONS)} They are: {', '.join(CAUTIONS)}."
            )
    if not names:
        raise ArgumentError("tests names no test; leave it out for those that apply.")
    return names


def _any_for_two(asked: tuple[str, ...]) -> bool:
    return any(name in TWO for name in asked)


def _run(
    names: Sequence[str], runners: Mapping[str, Callable[[], Result]], *, raising: bool
) -> tuple[list[AppliedTest], dict[str, list[str]]]:
    """The results of the tests; and the names of those that do not apply, by the reason."""
    found: list[AppliedTest] = []
    refused: dict[str, list[str]] = {}
    for name in names:
        if name not in runners:
            raise ArgumentError(
                f"{name!r} compares all algorithms of a table.",
                remedy="Apply it without left, right and the tests of two algorithms.",
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HiercompWarning)  # they are among the notes
            try:
                found.append(AppliedTest(name, runners[name](), CAUTIONS[name]))
            except HiercompError as error:
                if raising:
                    raise
                refused.setdefault(str(error), []).append(name)
    return found, refused


def _overall(result: Result) -> dict[str, float]:
    """The numbers of a test that has one for the whole table."""
    numbers = {name: getattr(result, name, None) for name in (*REGION_NUMBERS, "pvalue")}
    return {name: float(value) for name, value in numbers.items() if isinstance(value, (int, float))}
