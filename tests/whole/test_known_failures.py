"""What other packages get wrong on small inputs, each with the right answer from elsewhere.

Seen in baycomp 1.0.3, autorank 1.3.0 and bayes-testkit 0.5.3, installed from PyPI and run on inputs like these, and in the
code of scmamp (``R/tests.R``, ``R/bayesian.R``). None of them is needed; docs/other_packages.md says how they differ.
Exact probabilities come from ``reference_quadrature``, which shares no code with the package.
"""

from __future__ import annotations

import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.posterior.next_dataset import next_dataset
from tests.engines.quadrature.reference_quadrature import next_dataset as exact_next_dataset

ROPE = 0.01
CLOSE = 0.002  # of the reference, and of the engine


def compared(left: object, right: object, **options: object) -> hc.HierarchicalComparison:
    """Arrays of (data sets, scores) or lists of rows; their warnings are tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        return hc.HierarchicalComparison.from_arrays(left, right, **{"rope": ROPE, "rho": 0.1} | options)


def fitted(comparison: hc.HierarchicalComparison, engine: str = "quadrature", **options: object) -> hc.ComparisonResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        return comparison.fit(engine, progress=False, **options)


def regions(result: object) -> list[float]:
    """P(left), P(rope) and P(right) of a test, or of the next data set of a comparison."""
    seen = getattr(result, "next_dataset", result)
    return [seen.p_left, seen.p_rope, seen.p_right]


def with_means(means: object, n: int = 10, sd: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two algorithms whose differences have exactly these means, and this standard deviation."""
    noise = np.random.default_rng(1).normal(size=(len(means), n))
    noise -= noise.mean(axis=1, keepdims=True)
    noise *= sd / noise.std(axis=1, ddof=1, keepdims=True)
    left = np.full(noise.shape, 0.6)
    return left, left + np.asarray(means)[:, None] + noise


def one_missing() -> tuple[np.ndarray, np.ndarray]:
    left, right = with_means([0.02, 0.03, -0.01, 0.04, 0.02, 0.01])
    left[2, 6] = np.nan
    return left, right


def tidy(left: np.ndarray, right: np.ndarray) -> pd.DataFrame:
    rows = [
        (f"d{dataset}", algorithm, fold, scores[dataset, fold])
        for algorithm, scores in (("a", left), ("b", right))
        for dataset in range(len(scores))
        for fold in range(scores.shape[1])
    ]
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])


# Winners without variation


@pytest.mark.slow
def test_a_winner_by_the_same_margin_on_every_fold_stays_a_winner():
    """baycomp replaces such a data set by noise about zero, and stops where the number of scores is odd, as here."""
    n, means = 9, np.array([0.25] * 5 + [0.02, 0.03, 0.01, 0.04, 0.02])
    left, right = with_means(means, n)
    right[:5] = left[:5] + 0.25
    # The rule of docs/model.md: the mean is kept, the spread is that of uniform noise on the rope
    squares = (n - 1) * np.array([ROPE**2 / 3] * 5 + [0.02**2] * 5)
    exact = exact_next_dataset(means, squares, n, 0.1, rope=ROPE, bound=1.0).most_probable
    assert exact[2] > 0.99
    np.testing.assert_allclose(regions(fitted(compared(left, right))), exact, atol=CLOSE)
    np.testing.assert_allclose(regions(fitted(compared(right, left))), exact[::-1], atol=CLOSE)


def test_a_margin_that_varies_by_rounding_only_is_without_variation():
    """baycomp and scmamp ask whether the variance is zero; that of 0.01 added to nine numbers is 1e-34."""
    left = np.linspace(0.1, 0.9, 9)
    right = left + 0.01
    assert np.var(right - left) > 0
    with pytest.warns(hc.DegenerateScoresWarning):
        result = hc.correlated_t_test([right - left], rho=1 / 9, rope=0.01)
    assert regions(result) == [0, 1, 0]  # the margin is the rope's end; baycomp gives 0.008 and 0.992 to the right


# Missing scores


@pytest.mark.parametrize(
    "test", [hc.correlated_t_test, hc.corrected_t_test, hc.poisson_binomial_test], ids=lambda test: test.__name__
)
def test_a_missing_score_is_refused_with_its_place(test):
    """bayes-testkit's correlated t-test answers "Equivalent" with probability 1; baycomp's and scmamp's answer NaN."""
    left, right = one_missing()
    with pytest.raises(hc.HiercompError, match=r"(?s)not finite.*nan"):
        test(right - left, rho=0.1)


@pytest.mark.parametrize(
    "test",
    [hc.bayesian_sign_test, hc.bayesian_signed_rank_test, hc.signed_rank_test, hc.sign_test],
    ids=lambda test: test.__name__,
)
def test_a_missing_mean_is_never_a_vote_for_the_rope(test):
    """baycomp, and autorank by it, count NaN as within the rope: from means that are all NaN, P(rope) is 1."""
    with pytest.raises(hc.HiercompError, match=r"(?s)not finite.*nan"):
        test([0.1, 0.2, np.nan, 0.3, -0.1])


@pytest.mark.parametrize("test", [hc.friedman_test, hc.nemenyi_test], ids=lambda test: test.__name__)
def test_ranks_of_missing_scores_are_refused(test):
    """autorank ranks what is left, gives the p-value as NaN, and goes on to mean ranks over different data sets."""
    table = pd.DataFrame(np.random.default_rng(1).uniform(size=(20, 3)), columns=list("abc"))
    table.iloc[3, 0] = np.nan
    with pytest.raises(hc.HiercompError, match="1 "):
        test(table)


def test_a_missing_score_of_a_comparison_is_refused_with_its_place():
    """bayes-testkit ends in a SamplingError without a place; baycomp passes NaN, also as bounds, to Stan."""
    left, right = one_missing()
    with pytest.raises(hc.ScoreTableError, match=r"(?s)not finite.*'d2'.*'a'.*fold 6.*nan"):
        hc.HierarchicalComparison(tidy(left, right), "a", "b", rope=ROPE)


@pytest.mark.slow
def test_a_missing_fold_may_be_dropped_from_one_data_set():
    """baycomp and bayes-testkit take rectangles only."""
    left, right = one_missing()
    frame = tidy(left, right)
    with (
        pytest.warns(hc.DroppedScoresWarning, match="1 score .*'d2', algorithm 'a', fold 6"),
        pytest.warns(hc.DroppedScoresWarning, match="1 fold of 1 data set"),
    ):
        comparison = hc.HierarchicalComparison(frame, "a", "b", rope=ROPE, missing="drop")
    assert comparison.differences.n.tolist() == [10, 10, 9, 10, 10, 10]
    kept = [(right - left)[row][np.isfinite(left[row])] for row in range(6)]
    exact = exact_next_dataset(
        [row.mean() for row in kept],
        [((row - row.mean()) ** 2).sum() for row in kept],
        [len(row) for row in kept],
        0.1,  # 1 over the folds of the cross-validation, also where one is lost
        rope=ROPE,
        bound=1.0,
    )
    np.testing.assert_allclose(regions(fitted(comparison)), exact.most_probable, atol=CLOSE)


# Designs


@pytest.mark.slow
def test_data_sets_may_have_unequal_numbers_of_scores():
    """baycomp and bayes-testkit refuse them."""
    generator = np.random.default_rng(4)
    differences = [generator.normal(0.02, 0.03, n) for n in (8, 10, 20, 30, 12)]
    left = [np.full(len(row), 0.6) for row in differences]
    right = [0.6 + row for row in differences]
    result = fitted(compared(left, right, rho=0.1))
    squares = [((row - row.mean()) ** 2).sum() for row in differences]
    means, n = [row.mean() for row in differences], [len(row) for row in differences]
    exact = exact_next_dataset(means, squares, n, 0.1, rope=ROPE, bound=1.0)
    np.testing.assert_allclose(regions(result), exact.most_probable, atol=CLOSE)


@pytest.mark.slow
def test_independent_scores_have_a_correlation_of_zero():
    """bayes-testkit refuses rho = 0."""
    generator = np.random.default_rng(8)
    differences = generator.normal(0.01, 0.05, (6, 12))
    right_is_better = stats.ttest_1samp(differences, 0, axis=1, alternative="less").pvalue  # the Bayesian t-test
    result = hc.correlated_t_test(differences, rho=0, rope=0)
    np.testing.assert_allclose(result.p_right, right_is_better, rtol=1e-12)
    comparison = compared(np.full(differences.shape, 0.6), 0.6 + differences, rho=0)
    mean = differences.mean(axis=1)
    squares = ((differences - mean[:, None]) ** 2).sum(axis=1)
    exact = exact_next_dataset(mean, squares, 12, 0.0, rope=ROPE, bound=1.0)
    np.testing.assert_allclose(regions(fitted(comparison)), exact.most_probable, atol=CLOSE)


# Ties


def test_draws_with_two_largest_regions_are_shared():
    """baycomp and bayes-testkit count them for the left, by argmax; scmamp for the rope."""
    draws = {"delta0": np.zeros((4, 100)), "sigma0": np.full((4, 100), 1.0), "nu": np.full((4, 100), 5.0)}
    result = next_dataset(rope=hc.Rope.of(0.1), **draws)
    assert regions(result) == [0.5, 0, 0.5]


@pytest.mark.parametrize("test", [hc.bayesian_sign_test, hc.bayesian_signed_rank_test], ids=lambda test: test.__name__)
def test_identical_algorithms_are_equally_good(test):
    """baycomp's signed-rank test gives 0.68 and 0.32, and its sign test NaN; autorank's 0.70 and 0.30."""
    assert regions(test(np.zeros(20), rope=0)) == [0.5, 0, 0.5]


def test_identical_algorithms_have_a_p_value_of_one():
    """autorank gives NaN."""
    scores = np.linspace(0.5, 0.9, 20)
    assert hc.signed_rank_test(scores - scores).pvalue == 1


@pytest.mark.slow
def test_near_identical_algorithms_have_the_exact_answer():
    """baycomp and bayes-testkit draw each delta_i around delta0 as it is, which a sampler explores badly here."""
    means, sd = np.random.default_rng(3).normal(0.001, 0.0005, 20), 0.03
    result = fitted(compared(*with_means(means, sd=sd)), "auto")
    exact = exact_next_dataset(means, np.full(20, 9 * sd**2), 10, 0.1, rope=ROPE, bound=1.0).most_probable
    assert result.status == "ok"  # the draws agree with the integral
    np.testing.assert_allclose(regions(result), exact, atol=CLOSE)


# Seeds and caches


def test_the_seed_decides_the_draws_and_the_global_generator_does_not():
    """baycomp doesn't pass random_state to Stan, and draws the correlated t-test's sample from the global generator."""
    comparison = compared(*with_means([0.02, 0.03, 0.01, 0.04, 0.02]))

    def draws(seed: int) -> bytes:
        tree = fitted(comparison, "embedded", seed=seed, chains=2, warmup=200, draws=200).datatree
        return tree["posterior"]["delta0"].to_numpy().tobytes()

    np.random.seed(1)  # noqa: NPY002  what baycomp depends on
    first, state = draws(1), np.random.get_state()[1].tobytes()  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert draws(1) == first
    assert draws(2) != first
    np.random.seed(1)  # noqa: NPY002
    assert np.random.get_state()[1].tobytes() == state  # noqa: NPY002


class Payload:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("unpickled",)


@pytest.mark.slow
def test_no_answer_comes_from_a_file_of_another_fit(tmp_path, monkeypatch):
    """baycomp unpickles last-sample.pickle of the working directory if a hash of the differences is that in it.

    The hash leaves out the rope, the seed and the number of draws, and is the same for -1 and -2, as Python's is.
    """
    monkeypatch.chdir(tmp_path)
    Path("last-sample.pickle").write_bytes(pickle.dumps(Payload()))
    differences = np.random.default_rng(2).integers(-2, 6, (6, 10)).astype(float)
    differences[:, :3] = -1.0
    changed = differences.copy()
    changed[:, :3] = -2.0
    assert hash(tuple(map(tuple, differences))) == hash(tuple(map(tuple, changed)))
    left = np.full(differences.shape, 60.0)
    first = regions(fitted(compared(left, left + differences, rope=1.0)))
    for x, rope in ((changed, 1.0), (differences, 1.5)):
        mean = x.mean(axis=1)
        squares = ((x - mean[:, None]) ** 2).sum(axis=1)
        exact = exact_next_dataset(mean, squares, 10, 0.1, rope=rope, bound=np.abs(x).max()).most_probable
        result = regions(fitted(compared(left, left + x, rope=rope)))
        np.testing.assert_allclose(result, exact, atol=CLOSE)
        assert np.abs(np.subtract(exact, first)).max() > 2 * CLOSE
    assert [path.name for path in tmp_path.iterdir()] == ["last-sample.pickle"]


# Tails


def test_both_tails_keep_their_digits():
    """baycomp and scmamp compute the right one as 1 minus the rest, which is 0 or 1e-16 below 1e-16."""
    differences = 1 + np.linspace(-1e-3, 1e-3, 10)
    scale = np.sqrt(differences.var(ddof=1) * (1 / 10 + 0.1 / 0.9))
    beyond = stats.t.cdf(-ROPE, 9, differences.mean(), scale)
    assert 0 < beyond < 1e-20
    better, worse = (hc.correlated_t_test(sign * differences, rho=0.1, rope=ROPE) for sign in (1, -1))
    assert better.p_left == pytest.approx(beyond, rel=1e-10)
    assert worse.p_right == pytest.approx(beyond, rel=1e-10)


# Tests without a posterior


@pytest.mark.parametrize("seed", range(5))
def test_the_side_is_not_chosen_before_a_one_sided_test(seed):
    """autorank tests one-sided, for the larger median: at 5% it rejects about 10% of true hypotheses."""
    differences = np.random.default_rng(seed).exponential(size=15) - np.random.default_rng(seed + 100).exponential(
        size=15
    )
    assert hc.signed_rank_test(differences).pvalue == stats.wilcoxon(differences).pvalue
    assert hc.signed_rank_test(-differences).pvalue == stats.wilcoxon(differences).pvalue


def test_the_largest_difference_has_the_largest_rank():
    """scmamp's wilcoxonSignedTest gives it rank 1, so it rejects by many small differences against a few large ones."""
    differences = np.array([0.001, 0.002, 0.003, 0.004, 0.005, 0.006, -0.1, -0.2, -0.3, -0.4])
    upwards = np.array([1, 2, 3, 4, 5, 6, -7, -8, -9, -10])  # signed ranks, by hand
    result = hc.signed_rank_test(differences)
    assert result.statistic == min(upwards[upwards > 0].sum(), -upwards[upwards < 0].sum()) == 21
    signs = np.array(np.meshgrid(*[[-1, 1]] * 10)).reshape(10, -1)  # every one is as probable under no difference
    sums = (np.where(signs > 0, 1, 0) * np.abs(upwards)[:, None]).sum(axis=0)
    assert result.pvalue == pytest.approx(2 * np.mean(sums <= 21), rel=1e-12)


def test_nemenyis_range_has_infinitely_many_degrees_of_freedom():
    """scmamp takes k (N - 1): with 4 algorithms on 14 data sets the critical difference is 1.295, not 1.254."""
    scores = np.random.default_rng(1).uniform(size=(14, 4))
    result = hc.nemenyi_test(scores, alpha=0.05)
    # Demšar (2006), Table 5a: 2.569
    assert result.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), rel=3e-4)
