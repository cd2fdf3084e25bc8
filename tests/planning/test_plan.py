"""Simulated collections have the distribution of real folds; verdicts come out as in limits that are known otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy import stats

import hiercomp as hc
from hiercomp.planning.plan import pilot_assumption, plan, plan_from_result
from hiercomp.planning.result import OUTCOMES, PlanResult
from hiercomp.planning.simulation import Assumption, first_datasets, simulated_collections
from hiercomp.plots import plot_plan
from tests.posterior.test_correlation import correlated_scores
from tests.scores.test_runs import covariance

# A Gaussian population takes a tenth of the time: there is no nu to integrate
FAST = {"priors": hc.Priors.gaussian(), "n_jobs": 1, "progress": False}
SIMPLE = {"delta0": 0.02, "sigma0": 0.01, "standard_deviation": 0.03}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def assumed(**changes) -> Assumption:
    """Twelve folds with strong correlation of one kind of data set, unless changed."""
    fields = {
        "delta0": np.array([0.01]),
        "sigma0": np.array([0.02]),
        "nu": np.array([np.inf]),
        "sigma": np.array([[0.03]]),
        "n": np.array([[12]]),
        "rho": np.array([[0.3]]),
        "score_range": (0.0, 1.0),
        "left": "bayes",
        "right": "tree",
        "words": "made",
    }
    return Assumption(**(fields | changes))


def within(value: float, expected: float, error: float) -> bool:
    return abs(value - expected) < 4 * error


def test_the_simulated_statistics_are_those_of_correlated_folds():
    count, n, rho, sigma = 40_000, 12, 0.3, 0.03
    (drawn,) = simulated_collections(assumed(sigma0=np.array([0.005])), count, 1, 0)
    # The folds themselves, drawn with their covariance matrix
    generator = np.random.default_rng(2)
    covariance = sigma**2 * ((1 - rho) * np.eye(n) + rho)
    folds = generator.normal(0.01, 0.005, size=(count, 1)) + generator.multivariate_normal(
        np.zeros(n), covariance, count
    )
    mean = folds.mean(axis=1)
    both = {
        "mean": (drawn.mean, mean),
        "sum of squares": (drawn.sum_of_squares, ((folds - mean[:, None]) ** 2).sum(axis=1)),
    }
    for name, (a, b) in both.items():
        for power in (1, 2, 3):
            difference = (a**power).mean() - (b**power).mean()
            assert abs(difference) < 4 * np.hypot((a**power).std(), (b**power).std()) / np.sqrt(count), (name, power)
    for a, b in (both["mean"], both["sum of squares"]):
        assert stats.ks_2samp(a, b).pvalue > 1e-4
    # Independent of each other, as in the folds
    assert within(np.corrcoef(drawn.mean, drawn.sum_of_squares)[0, 1], 0, 1 / np.sqrt(count))
    assert within(np.corrcoef(mean, both["sum of squares"][1])[0, 1], 0, 1 / np.sqrt(count))


@pytest.mark.parametrize("nu", [1.5, 10.0, np.inf])
def test_the_simulated_means_are_students_where_the_folds_hardly_vary(nu):
    (drawn,) = simulated_collections(assumed(nu=np.array([nu]), sigma=np.array([[1e-9]])), 5000, 1, 0)
    population = stats.norm(0.01, 0.02) if np.isinf(nu) else stats.t(nu, 0.01, 0.02)
    assert stats.kstest(drawn.mean, population.cdf).pvalue > 1e-3


def test_fewer_data_sets_are_the_first_ones_and_all_runs_have_the_same_random_numbers():
    made = assumed(
        sigma=np.array([[0.03, 0.05]]), n=np.array([[10, 10], [1000, 1000]]), rho=np.zeros((2, 2)), nu=np.array([3.0])
    )
    few, many = (list(simulated_collections(made, count, 3, 7)) for count in (5, 40))
    for a, b in zip(few, many, strict=True):
        for field in ("mean", "sum_of_squares", "n", "rho"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field)[:5])
            np.testing.assert_array_equal(getattr(a, field), getattr(first_datasets(b, 5), field))
        assert first_datasets(b, 5).dataset_names == a.dataset_names
    short, long = many
    z_short, z_long = (x.mean - assumed_delta(made, 40) for x in many)
    np.testing.assert_allclose(z_short, 10 * z_long, rtol=1e-6)
    # The same chi-squared probability of the sum of squares
    sigma = np.where(np.isin(np.arange(40), np.flatnonzero(second_kind(made, 40))), 0.05, 0.03)
    below = [stats.chi2.cdf(x.sum_of_squares / sigma**2, x.n - 1) for x in (short, long)]
    np.testing.assert_allclose(*below, rtol=1e-6)


def assumed_delta(made: Assumption, count: int) -> np.ndarray:
    """The data sets' own means: without variation of the folds."""
    return next(simulated_collections(replace(made, sigma=np.full((1, 2), 1e-12)), count, 3, 7)).mean


def second_kind(made: Assumption, count: int) -> np.ndarray:
    """Which data sets are of the second kind, told by a correlation that it has alone."""
    return next(simulated_collections(replace(made, rho=np.array([[0.0, 0.5]])), count, 3, 7)).rho == 0.5


def test_other_simulations_and_seeds_give_other_collections():
    means = [next(simulated_collections(assumed(), 4, seed, number)).mean for seed in (0, 1) for number in (0, 1)]
    assert len({mean.tobytes() for mean in means}) == 4


@pytest.mark.parametrize(
    ("arguments", "region"),
    [
        # Far beyond the rope, with hardly any variation between data sets
        ({"delta0": 0.05, "sigma0": 0.002}, "right"),
        ({"delta0": -0.05, "sigma0": 0.002}, "left"),
        # The rope is 25 standard deviations of the population wide
        ({"delta0": 0.0, "sigma0": 0.002, "rope": 0.05}, "rope"),
    ],
)
def test_a_clear_population_gives_its_verdict_nearly_always(arguments, region):
    found = plan(**(SIMPLE | arguments), n_datasets=25, simulations=20, **FAST)
    assert found.to_frame()[f"p_{region}"].tolist() == [1.0]
    assert found.smallest(region) == 25


@pytest.mark.slow
def test_verdicts_are_those_of_the_t_distribution_where_only_the_sign_of_delta0_is_asked():
    # Means known nearly exactly and a Gaussian population much wider than the rope: the most likely region is the sign of
    # delta0, whose posterior under the uniform priors of (delta0, sigma0) is t with q - 2 degrees of freedom
    q, simulations = 8, 40
    arguments = {"delta0": 0.05, "sigma0": 0.1, "standard_deviation": 1e-3, "rope": 1e-6, "n_datasets": q}
    found = plan(
        **arguments, simulations=simulations, seed=5, **FAST
    )  # fmt: skip
    made = assumed(
        delta0=np.array([0.05]),
        sigma0=np.array([0.1]),
        sigma=np.array([[1e-3]]),
        n=np.array([[100]]),
        rho=np.array([[0.1]]),
    )
    means = np.array([next(simulated_collections(made, q, 5, number)).mean for number in range(simulations)])
    scale = np.sqrt(((means - means.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) / (q * (q - 2)))
    positive = stats.t.cdf(means.mean(axis=1) / scale, q - 2)
    assert np.abs(positive - 0.95).min() > 1e-3  # no collection is on the edge
    assert np.abs(positive - 0.05).min() > 1e-3
    expected = [
        (positive < 0.05).sum(),
        0,
        (positive > 0.95).sum(),
        ((positive > 0.05) & (positive < 0.95)).sum(),
        0,
        0,
    ]
    assert found.counts.reshape(-1).tolist() == expected
    assert 0 < expected[2] < simulations


@pytest.mark.slow
def test_a_mirrored_population_mirrors_left_and_right():
    options = {"sigma0": 0.02, "standard_deviation": 0.03, "n_datasets": 14, "simulations": 60}
    right, left = (plan(delta0=delta0, **options, **FAST) for delta0 in (0.02, -0.02))
    a, b = right.to_frame().iloc[0], left.to_frame().iloc[0]
    for one, other in (("right", "left"), ("left", "right"), ("rope", "rope"), ("none", "none")):
        p = (a[f"p_{one}"] + b[f"p_{other}"]) / 2
        assert abs(a[f"p_{one}"] - b[f"p_{other}"]) <= 4 * np.sqrt(2 * p * (1 - p) / 60)
    assert 0.1 < a["p_right"] < 0.9  # else nothing is tested


@pytest.mark.slow
def test_more_folds_and_data_sets_make_the_verdict_likelier():
    found = plan(**SIMPLE, n_datasets=(5, 15), runs=(1, 10), simulations=20, **FAST).to_frame()
    right = found.set_index(["runs", "n_datasets"])["p_right"]
    assert right[1, 5] < right[1, 15]
    assert right[10, 5] < right[10, 15]
    assert right[1, 5] <= right[10, 5]


@pytest.mark.slow
def test_the_table_is_the_same_for_any_number_of_processes_and_another_for_another_seed():
    options = {"n_datasets": (13, 16), "simulations": 4}
    tables = [plan(**SIMPLE, **options, **(FAST | {"n_jobs": jobs})).counts for jobs in (1, 2)]
    np.testing.assert_array_equal(*tables)
    wide = {"delta0": 0.02, "sigma0": 0.03, "standard_deviation": 0.03, "n_datasets": 14, "simulations": 12}
    other, same = (plan(**wide, seed=seed, **FAST).counts for seed in (1, 0))
    assert not np.array_equal(other, same)


def test_a_smaller_plan_is_a_part_of_the_larger_one():
    large = plan(**SIMPLE, n_datasets=(13, 16), runs=(1, 2), simulations=5, **FAST)
    small = plan(**SIMPLE, n_datasets=13, runs=2, simulations=5, **FAST)
    np.testing.assert_array_equal(small.counts[0, 0], large.counts[1, 0])


def made(*counts: list[int], runs: tuple[int | None, ...] = (10,)) -> PlanResult:
    table = np.array(counts).reshape(len(runs), -1, 6)
    sizes = (10, 20, 40)[: table.shape[1]]
    return PlanResult(sizes, runs, table, int(table[0, 0].sum()), 0.05, hc.Rope.of(0.01), ("bayes", "tree"), "a dream")


GROWING = ([0, 0, 40, 50, 5, 5], [0, 0, 80, 20, 0, 0], [0, 1, 95, 4, 0, 0])


def test_the_intervals_are_wilsons():
    frame = made(*GROWING).to_frame()
    # Wilson 1927, solved: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
    z = stats.norm.ppf(0.975)
    p = frame[[f"p_{name}" for name in OUTCOMES]].to_numpy()
    centre, width = p + z**2 / 200, z * np.sqrt(p * (1 - p) / 100 + z**2 / 40_000)
    for sign, end in ((-1, "lower"), (1, "upper")):
        expected = np.clip((centre + sign * width) / (1 + z**2 / 100), 0, 1)
        np.testing.assert_allclose(frame[[f"p_{name}_{end}" for name in OUTCOMES]], expected, atol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_the_smallest_number_of_data_sets_is_that_whose_lower_end_reaches_the_power():
    found = made(*GROWING)
    assert found.smallest("right") == 40  # 0.80 at 20 is an estimate of 0.71 to 0.87
    assert found.smallest("right", by="estimate") == 20
    assert found.smallest("right", 0.3) == 10
    assert found.smallest("right", 0.99) is None
    assert found.smallest("left") is None
    several = made(*GROWING[:1], *GROWING[2:], runs=(1, 10))
    assert several.smallest("right", runs=10) == 10
    assert several.smallest("right", runs=1) is None
    with pytest.raises(hc.ArgumentError, match="runs must be one of 1, 10: all of these were planned"):
        several.smallest("right")
    for wrong in ({"runs": 3}, {"region": "middle"}, {"power": 1.5}, {"by": "upper"}):
        with pytest.raises(hc.ArgumentError):
            several.smallest(**({"region": "right", "runs": 1} | wrong))


def test_the_conclusion_and_the_table_name_the_algorithms():
    text = str(made(*GROWING))
    assert "40 data sets are enough for the verdict tree better, reached with probability 0.950 (95% interval" in text
    assert "bayes against tree, rope [-0.01, 0.01], verdicts at 95%" in text
    for column in ("bayes better", "practically equivalent", "tree better", "no verdict", "undecided", "failed"):
        assert column in text
    assert "tree better" in made(*GROWING)._repr_html_()
    assert "20 data sets may be enough" in str(made(*GROWING[:2]))
    assert "Not even 10 data sets are enough" in str(made(GROWING[0]))
    assert "none of the 100 collections led to one" in str(made([0, 0, 0, 100, 0, 0]))
    shared = str(made([0, 47, 50, 3, 0, 0]))  # a verdict nearly always, but not always the same
    assert "Not even 10 data sets are enough to reach any one verdict with probability 0.8" in shared
    assert "Some verdict is reached with probability 0.970." in shared
    words = str(made(GROWING[0], GROWING[2], runs=(1, 10)))
    assert "With 1 run: not even 10 data sets" in words
    assert "With 10 runs: 10 data sets are enough" in words


def test_failed_fits_are_counted_and_said():
    hard = {"delta0": 0.002, "sigma0": 0.0005, "standard_deviation": 0.03}
    short = {"engine": "embedded", "chains": 2, "warmup": 100, "draws": 100, "monte_carlo_error": None}
    with pytest.warns(hc.ConvergenceWarning, match=r"1 of 1 fits failed \(first: simulation 0 with 20 data sets"):
        found = plan(**hard, n_datasets=20, simulations=1, **short, **FAST)
    frame = found.to_frame()
    assert frame["p_failed"].item() > 0
    assert frame[[f"p_{name}" for name in OUTCOMES]].sum(axis=1).item() == pytest.approx(1)
    assert "fits failed" in str(found)


def test_few_data_sets_are_said():
    with pytest.warns(hc.FewDatasetsWarning, match="fewer than 5 data sets") as caught:
        found = plan(**SIMPLE, n_datasets=3, simulations=2, **FAST)
    assert [warning.filename for warning in caught if warning.category is hc.FewDatasetsWarning] == [__file__]
    assert "fewer than 5 data sets" in found.notes[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta0": np.nan}, "delta0 must be a finite number"),
        ({"sigma0": -0.01}, "sigma0 must be at least 0"),
        ({"nu": 0.5}, "nu must be at least 1"),
        ({"nu": np.nan}, "nu must be a finite number"),
        ({"standard_deviation": 0}, "standard_deviation must be above 0"),
        ({"standard_deviation": [0.02, -1]}, "standard_deviation must be at least 0"),
        ({"standard_deviation": []}, "standard_deviation must be a number or several"),
        ({"standard_deviation": 2.5}, "too large for scores in"),
        ({"delta0": 3.0}, "too large for scores in"),
        ({"delta0": 3.0, "priors": hc.Priors(delta0_bound=2.0)}, "too large for a delta0_bound of 2"),
        ({"n_datasets": 1}, "n_datasets must be at least 2"),
        ({"n_datasets": (10, 10)}, "different whole numbers"),
        ({"n_datasets": ()}, "different whole numbers"),
        ({"n_datasets": 10.5}, "n_datasets must be a whole number"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"folds": 2, "runs": 1}, "folds x runs must give at least 3"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"rho": 1.0}, "rho must be at least 0 and below 1"),
        ({"rope": -0.01}, "rope is negative"),
        ({"alpha": 0.7}, "alpha must be above 0 and below 0.5"),
        ({"priors": "krushke"}, "priors must be one of"),
        ({"left": "a", "right": "a"}, "both called 'a'"),
        ({"simulations": 0}, "simulations must be at least 1"),
        ({"seed": -1}, "seed must be between"),
        ({"n_jobs": "2"}, "n_jobs must be a whole number"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"progress": "no"}, "progress must be True or False"),
        ({"engine": "quadratur"}, "engine must be one of"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(hc.ArgumentError, match=message):
        plan(**(SIMPLE | FAST | {"n_datasets": 5, "simulations": 1} | arguments))


def test_another_metric_needs_the_bound_of_delta0():
    percent = {"delta0": 2.0, "sigma0": 1.0, "standard_deviation": 3.0, "rope": 1.0}
    priors = hc.Priors(population="gaussian", delta0_bound=100.0)
    found = plan(**percent, n_datasets=10, simulations=6, **(FAST | {"priors": priors}))
    fractions = plan(**SIMPLE, n_datasets=10, simulations=6, **FAST)
    np.testing.assert_array_equal(found.counts, fractions.counts)  # the same problem in another unit


def test_the_plot_draws_the_table():
    found = made(*GROWING)
    ax = plot_plan(found)
    frame = found.to_frame()
    drawn = {line.get_label(): line for line in ax.lines}
    for name, label in (("left", "bayes better"), ("rope", "practically equivalent"), ("right", "tree better"),
                        ("none", "no verdict"), ("undecided", "undecided"), ("failed", "failed")):  # fmt: skip
        np.testing.assert_array_equal(drawn[label].get_xdata(), frame["n_datasets"])
        np.testing.assert_array_equal(drawn[label].get_ydata(), frame[f"p_{name}"])
    ends = np.concatenate([band.get_paths()[0].vertices[:, 1] for band in ax.collections])
    assert set(frame[["p_right_lower", "p_right_upper", "p_none_lower"]].to_numpy().ravel()) <= set(ends)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(drawn)[:6]


def test_the_plot_of_several_runs_tells_them_apart_and_takes_the_axes_given():
    found = made([0, 0, 40, 60, 0, 0], [0, 0, 95, 5, 0, 0], runs=(1, 10))
    own = plt.subplots()[1]
    ax = plot_plan(found, ax=own, linewidth=3)
    assert ax is own
    drawn = {line.get_label(): line for line in ax.lines}
    assert drawn["tree better, 1 run"].get_ydata()[0] == 0.4
    assert drawn["tree better, 10 runs"].get_ydata()[0] == 0.95
    assert drawn["tree better, 1 run"].get_linestyle() != drawn["tree better, 10 runs"].get_linestyle()
    assert drawn["tree better, 1 run"].get_linewidth() == 3
    assert not any("undecided" in label for label in drawn)


def test_a_pilot_gives_its_posterior_names_and_design(result):
    assumption, runs = pilot_assumption(result)
    given = result.differences
    np.testing.assert_array_equal(assumption.delta0, result.draws("delta0").ravel())
    np.testing.assert_array_equal(assumption.nu, result.draws("nu").ravel())
    np.testing.assert_array_equal(assumption.sigma, result.draws("sigma").reshape(-1, 8))
    np.testing.assert_array_equal(assumption.n, given.n[None])
    assert runs == (3,)
    found = plan_from_result(result, n_datasets=(6, 12), simulations=10, **FAST)
    assert found.algorithms == ("bayes", "tree")
    assert found.rope == result.rope
    assert "the posterior of the pilot (8 data sets)" in found.title
    assert found.to_frame()["p_right"].tolist()[1] > 0.5  # tree is better by 0.03 in the pilot, and the rope is 0.01


def test_the_design_of_a_pilot_may_be_changed(result):
    assumption, runs = pilot_assumption(result, runs=(10, 1))
    assert runs == (1, 10)
    np.testing.assert_array_equal(assumption.n, [[10] * 8, [100] * 8])
    np.testing.assert_array_equal(assumption.rho, np.full((2, 8), 0.1))
    assumption, runs = pilot_assumption(result, runs=2, folds=5)
    np.testing.assert_array_equal(assumption.n, [[10] * 8])
    np.testing.assert_array_equal(assumption.rho, np.full((1, 8), 0.2))
    with pytest.raises(hc.ArgumentError, match="folds was given without runs"):
        pilot_assumption(result, folds=5)


def test_a_pilot_with_two_correlations_gives_means_the_variance_of_the_dense_matrix():
    scores = correlated_scores(6, 3, 5, 0.05, 0.2, seed=4)
    pilot = hc.compare(scores, "left", "right", rope=0.01, rho=hc.Correlation(0.05, 0.2), engine="quadrature")
    assumption, runs = pilot_assumption(pilot, runs=(1, 4))
    assert runs == (1, 4)
    for number, rho in zip(runs, assumption.rho, strict=True):
        n = 5 * number
        variance = covariance([5] * number, 0.05, 0.2).sum() / n**2
        np.testing.assert_allclose((1 + (n - 1) * rho) / n, variance, rtol=1e-12)


@pytest.mark.parametrize("across", [None, 0.05])
def test_a_pilot_says_from_which_run_on_further_ones_buy_little(across):
    """By the dense matrix (R1) with the estimated correlations, tried run by run; its mean is the variance of a mean."""
    scores, r, k = correlated_scores(8, 6, 5, 0.1, 0.2, seed=5), 6, 5
    pilot = hc.compare(scores, "left", "right", rope=0.01, engine="quadrature")
    wide = scores.pivot(index=["dataset", "run", "fold"], columns="algorithm", values="score")
    x = (wide["right"] - wide["left"]).to_numpy().reshape(8, r, k)
    a = x.var(axis=2, ddof=1).mean(axis=1)
    ratio = np.median(k * x.mean(axis=2).var(axis=1, ddof=1) / a) / stats.f.median(r - 1, r * (k - 1))
    kappa = 1 / k if across is None else across
    within = (ratio - 1 + k * kappa) / (k - 1 + ratio)
    scale = (a / (1 - within)).mean()
    error = [np.sqrt(scale * covariance([k] * runs, within, kappa).mean()) for runs in range(1, 41)]
    little = int(np.argmax(np.sqrt(scale * kappa) >= 0.95 * np.array(error))) + 1
    planned = {"n_datasets": 6, "simulations": 1, "rho": across, **FAST}
    found = plan_from_result(pilot, **planned, runs=(1, 40), folds=5)
    assert (found.enough_runs.runs, found.enough_runs.most) == (little, 40)
    assert found.enough_runs.gained == pytest.approx(1 - error[-1] / error[little - 1], rel=1e-9)
    assert f"More than {little} runs buy little: 40 instead make the standard error" in found.conclusion
    assert found.to_dict()["enough_runs"]["runs"] == little
    if little > 6:
        assert f"Runs pay up to {little}: no number of further runs" in str(plan_from_result(pilot, **planned, runs=2))
    assert plan_from_result(pilot, **planned, runs=2, folds=4).enough_runs is None


def test_without_runs_or_without_correlation_there_is_no_such_number(result):
    single = hc.compare(correlated_scores(6, 1, 5, 0.1, 0.2, seed=6), rope=0.01, engine="quadrature")
    planned = {"n_datasets": 6, "simulations": 1, **FAST}
    for found in (single.plan(**planned), result.plan(**planned, rho=0), plan(**SIMPLE, **planned)):
        assert found.enough_runs is None
        assert found.to_dict()["enough_runs"] is None
        assert "runs" not in found.conclusion


def test_a_pilot_of_uneven_data_sets_is_taken_as_it_is_and_needs_folds_for_other_runs(result):
    given = result.differences
    uneven = replace(result, differences=replace(given, n=np.arange(20, 28), rho=np.full(8, 0.3)))
    assumption, runs = pilot_assumption(uneven)
    assert runs == (None,)
    np.testing.assert_array_equal(assumption.n, np.arange(20, 28)[None])
    with pytest.raises(
        hc.ArgumentError, match=r"folds is required with runs: rho of the pilot's data set 'd0' is 0\.3"
    ):
        pilot_assumption(uneven, runs=2)
    found = plan_from_result(uneven, n_datasets=5, simulations=2, **FAST)
    assert "as the pilot" in str(found)
    assert np.isnan(found.to_frame()["runs"].item())


def test_without_draws_of_sigma_a_pilot_gives_those_of_its_sums_of_squares(result):
    bare = {name: values for name, values in result.posterior.variables.items() if name != "sigma"}
    sigma = pilot_assumption(replace(result, posterior=replace(result.posterior, variables=bare)))[0].sigma
    given = result.differences
    # Precision is a gamma with mean (n - 2)(1 - rho)/SS and variance 2 (n - 2)((1 - rho)/SS)^2
    rate = (1 - given.rho) / given.sum_of_squares
    error = np.sqrt(2 * (given.n - 2)) * rate / np.sqrt(len(sigma))
    assert (np.abs((sigma**-2.0).mean(axis=0) - (given.n - 2) * rate) < 4 * error).all()


def test_notes_of_the_pilot_are_kept(result):
    odd = replace(result, fit_notes=(hc.errors.Note(hc.ScaleWarning, "something odd"),))
    assert plan_from_result(odd, n_datasets=5, simulations=1, **FAST).notes == ("Pilot: something odd",)


def test_pilots_without_a_posterior_are_refused(failed, identical):
    with pytest.raises(hc.NoVerdictError, match="pilot's computation failed"):
        plan_from_result(failed, **FAST)
    with pytest.raises(hc.ArgumentError, match="identical everywhere"):
        plan_from_result(identical, **FAST)


@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_a_pilot_with_the_trinomial_likelihood_and_unknown_options_are_refused(result):
    answers = np.random.default_rng(1).integers(0, 2, (6, 60)).astype(float)
    pilot = hc.HierarchicalComparison.from_arrays(
        answers, answers[:, ::-1], rho=0, rope=0.01, likelihood="trinomial"
    ).fit("quadrature")
    with pytest.raises(hc.ArgumentError, match="trinomial likelihood"):
        pilot.plan(simulations=2, n_datasets=6)
    with pytest.raises(hc.ArgumentError, match=r"'drawss' is not an option of a fit\. Did you mean 'draws'"):
        result.plan(n_datasets=5, simulations=1, drawss=5)
    with pytest.raises(hc.ArgumentError, match="'drawss' is not an option of a fit"):
        plan(delta0=0.1, sigma0=0.1, standard_deviation=0.1, folds=10, n_datasets=5, rope=0.01, simulations=1, drawss=5)
