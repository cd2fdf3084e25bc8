"""The answer of every applicable test beside the hierarchical model's, with what each does and does not say."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hiercomp.arguments import FloatArray, whole_number
from hiercomp.closed_form.across_datasets.bayesian_sign import (
    BayesianSignResult,
    bayesian_sign_test,
    bayesian_signed_rank_test,
)
from hiercomp.closed_form.across_datasets.poisson_binomial import (
    LARGEST_TRINOMIAL,
    PoissonBinomialResult,
    poisson_binomial_test,
)
from hiercomp.closed_form.across_datasets.signed_rank import sign_test, signed_rank_test
from hiercomp.closed_form.one_dataset.calibrated import calibrated_test
from hiercomp.closed_form.one_dataset.correlated_t import correlated_t_test
from hiercomp.closed_form.one_dataset.five_by_two import five_by_two_cv_f
from hiercomp.closed_form.one_dataset.frequentist import corrected_t_test, mann_whitney, paired_t_test, welch_t_test
from hiercomp.closed_form.result import LEVEL, FrequentistResult, after, compared
from hiercomp.document import Document, Presentation, Table
from hiercomp.errors import HiercompError, HiercompWarning
from hiercomp.rope import Rope
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import metric_words, shown

if TYPE_CHECKING:
    from hiercomp.posterior.fit import Fit

NUMBERS = ("p_left", "p_rope", "p_right", "pvalue")


@dataclass(frozen=True)
class ClosedFormAnswer:
    """One test's answer.

    Attributes
    ----------
    test : str
    says, does_not_say : str
        What it means, and how it is often misread.
    p_left, p_rope, p_right : float or None
        Probabilities, if the test is Bayesian and covers all data sets.
    pvalue : float or None
        p-value, if the test is frequentist and covers all data sets.
    """

    test: str
    says: str
    does_not_say: str
    p_left: float | None = None
    p_rope: float | None = None
    p_right: float | None = None
    pvalue: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ClosedFormTests(Presentation):
    """The answers of all applicable tests.

    Attributes
    ----------
    rows : tuple of ClosedFormAnswer
    algorithms : tuple of str
        The left and the right algorithm.
    n_datasets : int
        Number of data sets.
    rope : Rope
        The region of practical equivalence.
    notes : tuple of str
        Tests that could not be run, and why.
    metric : str
        The metric and its direction, in words; empty for arrays.
    """

    rows: tuple[ClosedFormAnswer, ...]
    algorithms: tuple[str, str]
    n_datasets: int
    rope: Rope
    notes: tuple[str, ...] = ()
    metric: str = ""

    @property
    def title(self) -> str:
        """What was compared."""
        return f"All tests, {compared(self.algorithms, self.n_datasets)}, rope {self.rope}{after(self.metric)}"

    @property
    def conclusion(self) -> str:
        """How to read the table."""
        left, right = map(shown, self.algorithms)
        return (
            f"p_left: {left} better; p_rope: practically equivalent; p_right: {right} better. The tests answer different "
            "questions, and only the hierarchical model is about the next data set, with a margin."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each test: p_left, p_rope, p_right, pvalue, says, does_not_say."""
        frame = pd.DataFrame(self.to_dict()).set_index("test")
        return frame[[*NUMBERS, "says", "does_not_say"]].astype(dict.fromkeys(NUMBERS, float))

    def to_dict(self) -> list[dict[str, Any]]:
        """The rows as plain values, ready for JSON."""
        return [dict(vars(row)) for row in self.rows]

    def document(self) -> Document:
        """The numbers, then what each test says and does not say."""
        frame = self.to_frame()[list(NUMBERS)]
        details = tuple(f"{row.test}: {shown(row.says)} Not: {shown(row.does_not_say)}" for row in self.rows)
        table = Table.of_frame(frame[frame.notna().any(axis=1)])
        return Document(self.title, self.conclusion, (table,), details, self.notes)


def closed_form_tests(
    differences: PairedDifferences,
    rope: Rope,
    hierarchical: tuple[float | None, float | None, float | None] | None,
    *,
    seed: int = 0,
) -> ClosedFormTests:
    """Run every test that applies to these differences.

    Parameters
    ----------
    differences : PairedDifferences
        If they include the scores, the tests that need these are run as well.
    rope : Rope
    hierarchical : tuple of float or None
        Probabilities of the hierarchical model; None if it has no verdict.
    seed : int
        Seed of the sampled tests.
    """
    seed = whole_number("seed", seed, 0)
    asked = _Question(differences, rope, shown(differences.left), shown(differences.right), seed)
    says = "probability that this is the most likely outcome on the next data set, beyond the rope."
    if hierarchical is None:
        hierarchical, says = (None, None, None), "no verdict: the computation failed its checks."
    rows = [ClosedFormAnswer("hierarchical model", says, "how often the outcome happens.", *hierarchical)]
    notes: list[str] = []
    for name, answer in _TESTS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HiercompWarning)  # the comparison itself gave them
            try:
                rows.append(answer(asked))
            except HiercompError as error:
                notes.append(f"{name}: not applicable. {error}")
    algorithms = (differences.left, differences.right)
    metric = metric_words(differences.measure, differences.higher_is_better, differences.transform)
    return ClosedFormTests(tuple(rows), algorithms, len(differences.dataset_names), rope, tuple(notes), metric)


def closed_form_tests_of(fit: Fit, *, seed: int = 0) -> ClosedFormTests:
    """`closed_form_tests` of the differences of a fit, beside its own answer."""
    hierarchical = None
    if fit.status != "failed":
        hierarchical = (fit.next_dataset.p_left, fit.next_dataset.p_rope, fit.next_dataset.p_right)
    return closed_form_tests(fit.differences, fit.rope, hierarchical, seed=seed)


@dataclass(frozen=True)
class _Question:
    differences: PairedDifferences
    rope: Rope
    left: str
    right: str
    seed: int


def _of_regions(
    result: BayesianSignResult | PoissonBinomialResult, test: str, says: str, does_not_say: str
) -> ClosedFormAnswer:
    return ClosedFormAnswer(test, says, does_not_say, result.p_left, result.p_rope, result.p_right)


def _signed_rank_bayesian(asked: _Question) -> ClosedFormAnswer:
    return _of_regions(
        bayesian_signed_rank_test(asked.differences, rope=asked.rope, seed=asked.seed),
        "Bayesian signed-rank",
        "probability that this region holds most of the (averaged pairs of) data sets' mean differences.",
        "anything about the uncertainty of each mean, which it treats as exact.",
    )


def _sign_bayesian(asked: _Question) -> ClosedFormAnswer:
    return _of_regions(
        bayesian_sign_test(asked.differences, rope=asked.rope, seed=asked.seed),
        "Bayesian sign",
        "probability that this region is the most frequent one among data sets.",
        "anything about the sizes of the differences or their uncertainty.",
    )


def _trinomial(asked: _Question) -> ClosedFormAnswer:
    sampled = len(asked.differences.dataset_names) > LARGEST_TRINOMIAL
    method: Literal["exact", "sampling"] = "sampling" if sampled else "exact"
    return _of_regions(
        poisson_binomial_test(asked.differences, rope=asked.rope, method=method, seed=asked.seed),
        "Poisson-binomial, rope",
        "probability that this outcome is the most frequent one on these data sets.",
        "anything about other data sets: it doesn't generalise.",
    )


def _poisson_binomial(asked: _Question) -> ClosedFormAnswer:
    result = poisson_binomial_test(asked.differences)
    half = f" (exactly half with probability {result.p_tie:.3g})" if result.p_tie else ""
    return ClosedFormAnswer(
        "Poisson-binomial",
        f"probability of being better on more than half of these data sets{half}.",
        "whether the margin matters, or what happens on other data sets.",
        p_left=result.p_left,
        p_right=result.p_right,
    )


def _signed_rank(asked: _Question) -> ClosedFormAnswer:
    return ClosedFormAnswer(
        "Wilcoxon signed-rank",
        "how surprising the mean differences would be if both were equally good over data sets.",
        "the probability that they are, or whether the margin matters; with enough data sets it always rejects.",
        pvalue=signed_rank_test(asked.differences).pvalue,
    )


def _sign(asked: _Question) -> ClosedFormAnswer:
    result = sign_test(asked.differences)
    wins = f"{asked.left} wins {result.left_wins}, {asked.right} {result.right_wins}, {result.ties} tied: "
    return ClosedFormAnswer(
        "sign test",
        f"{wins}how surprising these wins would be if both were equally good.",
        "anything about the sizes of the differences.",
        pvalue=result.pvalue,
    )


def _correlated(asked: _Question) -> ClosedFormAnswer:
    result = correlated_t_test(asked.differences, rope=asked.rope)
    left, rope, right = (np.stack([result.p_left, result.p_rope, result.p_right]) > 1 - LEVEL).sum(axis=1)
    return ClosedFormAnswer(
        "correlated t, each data set",
        f"with probability above {1 - LEVEL:g}, {asked.left} is better on {left}, both are equivalent on {rope} and "
        f"{asked.right} is better on {right} of {len(asked.differences.dataset_names)} data sets.",
        "anything about the data sets together; the rest are undecided.",
    )


def _each_dataset(
    name: str,
    test: Callable[[PairedDifferences], FrequentistResult],
    caveat: str,
    favours_right: Callable[[PairedDifferences, FrequentistResult], FloatArray],
) -> Callable[[_Question], ClosedFormAnswer]:
    """On how many data sets a two-sided test favours left and right, by the sign of ``favours_right``."""

    def answer(asked: _Question) -> ClosedFormAnswer:
        result = test(asked.differences)
        rejected, sign = np.atleast_1d(result.pvalue) < LEVEL, favours_right(asked.differences, result)
        return ClosedFormAnswer(
            f"{name}, each data set",
            f"equality is rejected at {100 * LEVEL:g}% in favour of {asked.left} on {(rejected & (sign < 0)).sum()} and of "
            f"{asked.right} on {(rejected & (sign > 0)).sum()} of {len(rejected)} data sets.",
            caveat,
        )

    return answer


def _mean(differences: PairedDifferences, result: FrequentistResult) -> FloatArray:
    return differences.mean


def _excess_of_u(differences: PairedDifferences, result: FrequentistResult) -> FloatArray:
    """U for the right scores above its mean: ranks may favour the algorithm with the smaller mean."""
    return np.atleast_1d(result.statistic) - differences.paired_scores.astype(float) ** 2 / 2


NO_EQUIVALENCE = "whether the others are equivalent, or whether the margins matter."
CORRELATED_FOLDS = "what it seems to: folds are correlated, so it rejects far too often."
PAIRED_FOLDS = "much: it ignores that folds are paired and correlated."

_TESTS: dict[str, Callable[[_Question], ClosedFormAnswer]] = {
    "Bayesian signed-rank": _signed_rank_bayesian,
    "Bayesian sign": _sign_bayesian,
    "Poisson-binomial, rope": _trinomial,
    "Poisson-binomial": _poisson_binomial,
    "Wilcoxon signed-rank": _signed_rank,
    "sign test": _sign,
    "correlated t": _correlated,
    "corrected t": _each_dataset("corrected t", corrected_t_test, NO_EQUIVALENCE, _mean),
    "calibrated t": _each_dataset("calibrated t", calibrated_test, NO_EQUIVALENCE, _mean),
    "5x2 cv F": _each_dataset("5x2 cv F", five_by_two_cv_f, NO_EQUIVALENCE, _mean),
    "paired t": _each_dataset("paired t", paired_t_test, CORRELATED_FOLDS, _mean),
    "Welch's t": _each_dataset("Welch's t", welch_t_test, PAIRED_FOLDS, _mean),
    "Mann-Whitney U": _each_dataset("Mann-Whitney U", mann_whitney, PAIRED_FOLDS, _excess_of_u),
}
