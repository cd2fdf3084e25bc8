"""Posteriors with covariates against an independent sampler, limits, and each other."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

import hiercomp as hc
from hiercomp.engines import choose_engine
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.description import check_description
from hiercomp.posterior.effects import effect_curve
from hiercomp.posterior.saved import plain_values
from tests.conftest import simulated_scores
from tests.gibbs import gibbs, horseshoe_slopes, normal_slopes

NOISE_TABLES = 3


@pytest.fixture(scope="module")
def meta() -> pd.DataFrame:
    keel = hc.load_covariates("keel")
    return np.log10(keel[["rows", "features"]]).assign(classes=np.log2(keel["classes"]))


@pytest.fixture(scope="module")
def keel() -> pd.DataFrame:
    return hc.load_scores("keel")


@pytest.fixture(scope="module")
def fit(keel, meta):
    return compared(keel, meta)


def compared(keel, meta, left="naive_bayes", right="nearest_neighbours", **options):
    comparison = hc.HierarchicalComparison(keel, left, right, rope=0.01, covariates=meta, **options)
    return comparison.fit("embedded", progress=False, monte_carlo_error=None)


def mean_and_error(draws):
    chains = draws if draws.ndim == 2 else draws.reshape(4, -1)
    return chains.mean(), float(array_stats.mcse(chains, chain_axis=0, draw_axis=1, method="mean"))


def assert_same_posterior(result, reference):
    """Every mean, of the parameters and of their squares, within four combined Monte Carlo errors."""
    slope = result.draws("slope")
    pairs = {f"slope {j}": (slope[:, :, j], reference["slope"][:, j]) for j in range(slope.shape[2])}
    pairs["delta0"] = result.draws("delta0"), reference["delta0"]
    pairs["log sigma0"] = np.log(result.draws("sigma0")), np.log(reference["sigma0"])
    if "nu" in result.posterior.parameters:
        pairs["log nu"] = np.log(result.draws("nu") - 1), np.log(reference["nu"] - 1)
    for name, (found, expected) in pairs.items():
        centre = expected.mean()
        for moment in (lambda x: x, lambda x: (x - centre) ** 2):  # noqa: B023 - called at once
            (first, error), (second, other) = mean_and_error(moment(found)), mean_and_error(moment(expected))
            assert abs(first - second) < 4 * np.hypot(error, other), name


def of_differences(result):
    given = result.differences
    return given.mean, given.sum_of_squares, given.n, given.rho, given.covariates.standardised


@pytest.mark.slow
def test_draws_agree_with_a_gibbs_sampler(fit):
    s0 = np.std(fit.differences.mean, ddof=1)
    assert_same_posterior(fit, gibbs(*of_differences(fit), normal_slopes(s0), 12_000, seed=1))


@pytest.mark.slow
def test_draws_of_a_gaussian_population_agree_with_a_gibbs_sampler(keel, meta):
    result = compared(keel, meta, population="gaussian")
    s0 = np.std(result.differences.mean, ddof=1)
    assert_same_posterior(result, gibbs(*of_differences(result), normal_slopes(s0), 12_000, seed=2, gaussian=True))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hiercomp.FewDatasetsWarning")
def test_draws_under_a_horseshoe_agree_with_a_gibbs_sampler(keel, meta):
    noise = pd.DataFrame(np.random.default_rng(3).normal(size=(43, 5)), meta.index, [f"noise{j}" for j in range(5)])
    result = compared(keel, meta.join(noise))
    q, p = 43, 8
    s0 = np.std(result.differences.mean, ddof=1)
    # Piironen & Vehtari (2017): p0 / (p - p0) sigma / sqrt(n), with the smaller of q / 10 and p / 2 slopes that matter
    tau0 = (p / 2) / (p - p / 2) * s0 / np.sqrt(q)
    assert_same_posterior(result, gibbs(*of_differences(result), horseshoe_slopes(s0, tau0), 40_000, seed=3))


# Of a prototype in NumPy that samples with delta_i integrated out: slope, its 95% interval, gain in elpd over none. It
# had the rows of the data sets before they were reduced
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hiercomp.DegenerateScoresWarning")
@pytest.mark.parametrize(
    ("left", "right", "covariate", "slope", "interval", "gain"),
    [
        ("naive_bayes", "nearest_neighbours", "classes", 0.033, (0.012, 0.051), 6.5),
        ("logistic_regression", "naive_bayes", "classes", -0.017, (-0.029, -0.004), 4.2),
        ("gradient_boosting", "naive_bayes", "classes", -0.028, (-0.050, -0.004), 3.2),
        ("naive_bayes", "random_forest", "classes", 0.033, (0.008, 0.057), 1.8),
        ("decision_tree", "gradient_boosting", "features", 0.014, (0.001, 0.028), 2.5),
    ],
)
def test_slopes_of_the_bundled_scores_are_those_of_a_prototype(
    keel, meta, left, right, covariate, slope, interval, gain
):
    found = compared(keel, meta, left, right).effects()
    row = found.to_frame().loc[covariate]
    assert row["slope"] == pytest.approx(slope, abs=0.0015)
    assert row[["lower", "upper"]].tolist() == pytest.approx(interval, abs=0.004)
    assert found.elpd_gain == pytest.approx(gain, abs=1.0)


@pytest.mark.cmdstan
def test_the_draws_of_both_samplers_agree(keel, meta, fit):
    comparison = hc.HierarchicalComparison(keel, fit.left, fit.right, rope=0.01, covariates=meta)
    other = comparison.fit("cmdstan", progress=False, monte_carlo_error=None)
    pooled = {name: other.draws(name).reshape(-1, *other.draws(name).shape[2:]) for name in ("delta0", "sigma0", "nu")}
    assert_same_posterior(fit, pooled | {"slope": other.draws("slope").reshape(-1, 3)})


@pytest.mark.slow
def test_a_known_slope_is_found():
    generator = np.random.default_rng(4)
    z = generator.normal(size=30)
    size = 10.0 * z
    left = generator.normal(0.8, 0.02, (30, 10))
    right = left + (0.01 + 0.05 * z)[:, None] + generator.normal(0, 0.02, left.shape)
    frame = pd.DataFrame({"size": size}, index=[f"d{i}" for i in range(30)])
    comparison = hc.HierarchicalComparison.from_arrays(
        left, right, dataset_names=list(frame.index), folds=10, rope=0.01, covariates=frame
    )
    result = comparison.fit("embedded", progress=False)
    row = result.effects().to_frame().loc["size"]
    expected = 0.05 * np.std(z, ddof=1)
    assert abs(row["slope"] - expected) < 4 * row["sd"]
    assert row["sd"] < 0.1 * expected
    gain = result.effects()
    assert gain.elpd_gain > 4 * gain.elpd_gain_se
    assert gain.sigma0 < gain.sigma0_without / 4
    # delta_i is nearly -0.09 at z = -2 and 0.11 at z = 2
    assert result.at(size=-20).next_dataset.expected_left > 0.95
    assert result.at(size=20).next_dataset.expected_right > 0.95


@pytest.mark.slow
def test_pure_noise_loses_in_leave_one_out():
    scores = simulated_scores(40, 1, centre=0.01, spread=0.03, seed=2)
    gains = []
    for seed in range(NOISE_TABLES):
        noise = np.random.default_rng(seed).normal(size=(40, 4))
        frame = pd.DataFrame(noise, index=[f"d{i}" for i in range(40)], columns=list("abcd"))
        found = compared(scores, frame, "bayes", "tree").effects()
        gains.append(found.elpd_gain)
        assert found.elpd_gain < 2 * found.elpd_gain_se
    assert np.mean(gains) < -0.5


def test_relabelling_turns_every_slope(keel, meta, fit):
    mirrored = compared(keel, meta, "nearest_neighbours", "naive_bayes").effects(loo=False)
    found = fit.effects(loo=False)
    np.testing.assert_array_less(np.abs(found.mean + mirrored.mean), 4 * np.hypot(found.error, mirrored.error))


def test_the_unit_of_a_covariate_does_not_matter(keel, meta, fit):
    halves = compared(keel, meta / 2)
    np.testing.assert_array_equal(halves.draws("slope"), fit.draws("slope"))
    np.testing.assert_array_equal(halves.effects(loo=False).one_sd, fit.effects(loo=False).one_sd / 2)


def test_columns_may_come_in_any_order(keel, meta, fit):
    turned = compared(keel, meta[["classes", "rows", "features"]]).effects(loo=False).to_frame().loc[meta.columns]
    found = fit.effects(loo=False).to_frame()
    assert (np.abs(turned["slope"] - found["slope"]) < 4 * np.hypot(turned["error"], found["error"])).all()


def test_the_next_data_set_is_the_mean_over_those_observed(fit, meta):
    every = [fit.at(dict(row)) for _, row in meta.iterrows()]
    mean = np.mean([each.next_dataset.expected_right for each in every])
    assert fit.next_dataset.expected_right == pytest.approx(mean, abs=1e-12)
    drawn = (fit.next_differences(seed=1) > 0.01).mean()
    assert drawn == pytest.approx(mean, abs=4 * np.sqrt(mean * (1 - mean) / fit.draws("delta0").size))
    x = np.linspace(-0.01, 0.01, 41)
    inside = np.trapezoid(fit.posterior.density(x), x)
    assert fit.next_dataset.expected_rope == pytest.approx(inside, abs=1e-3)


def test_the_three_probabilities_at_a_point_are_those_of_its_draws(fit, meta):
    found = fit.at(rows=3.0, classes=3.0)
    z = (np.array([3.0, 0, 3.0]) - meta.mean().to_numpy()) / meta.std().to_numpy() * [1, 0, 1]
    centre = fit.draws("delta0") + (fit.draws("slope") * z).sum(axis=2)
    assert found.centre == pytest.approx(centre.mean())
    assert found.at_mean == ("features",)
    assert found.values["features"] == pytest.approx(meta["features"].mean())
    assert sum(found.next_dataset.expected.values()) == pytest.approx(1)
    assert found.to_frame()["probability"].sum() == pytest.approx(1)
    assert 0 < found.next_dataset.errors["expected_left"] < 0.01


def test_a_point_beyond_the_data_sets_is_said_to_be_one(fit):
    assert fit.at(classes=20).outside == ("classes",)
    assert "extrapolation" in str(fit.at(classes=20))
    assert fit.at({"classes": 2.0}).outside == ()


def test_the_curve_passes_through_the_points(fit):
    curve = effect_curve(fit, "classes", [1.0, 3.0], {"rows": 3.0})
    for value in (1.0, 3.0):
        at = fit.at(classes=value, rows=3.0).next_dataset
        assert curve.loc[value, "expected_left"] == pytest.approx(at.expected_left)
    assert (curve["lower_right"] < curve["expected_right"]).all()
    assert (curve["expected_right"] < curve["upper_right"]).all()
    assert effect_curve(fit, "classes", 3.0, {"rows": 3.0}).equals(curve.loc[[3.0]])
    with pytest.raises(hc.ArgumentError, match="of its own"):
        effect_curve(fit, "classes", others={"classes": 1.0})


def test_the_plot_draws_the_curve_and_the_data_sets(fit, meta):
    ax = fit.plot.effect("classes", values=[1, 2, 4.5], others={"rows": 2.5})
    curve = effect_curve(fit, "classes", [1, 2, 4.5], {"rows": 2.5})
    words = {"left": "naive_bayes better", "rope": "practically equivalent", "right": "nearest_neighbours better"}
    lines = {line.get_label(): line for line in ax.lines}
    for region, name in words.items():
        np.testing.assert_array_equal(lines[name].get_ydata(), curve[f"expected_{region}"])
    marks = next(drawn for drawn in ax.collections if isinstance(drawn, LineCollection))
    inside = meta["classes"].between(1, 4.5)
    assert sorted(segment[0, 0] for segment in marks.get_segments()) == sorted(meta["classes"][inside])
    plt.close(ax.figure)


@pytest.fixture(scope="module")
def small() -> hc.ComparisonResult:
    """Twelve data sets and one covariate."""
    scores = simulated_scores(12, 1, centre=0.02, spread=0.02, seed=3)
    frame = pd.DataFrame({"size": np.arange(12.0)}, index=[f"d{i}" for i in range(12)])
    return compared(scores, frame, "bayes", "tree")


@pytest.mark.slow
def test_leaving_out_by_weights_is_leaving_out_by_sampling(small, monkeypatch):
    weighted = small.loo()
    assert not weighted.refitted.any()
    monkeypatch.setattr("hiercomp.posterior.importance.largest_k", lambda draws: -np.inf)
    sampled = small.loo()
    assert sampled.refitted.all()
    # Four seeds give errors of the weighted elpd of 0.12 for d9, the least expected, and up to 0.05 for the others
    error = np.where(np.array(small.differences.dataset_names) == "d9", 0.12, 0.05)
    assert (np.abs(sampled.elpd_i - weighted.elpd_i) < 3 * error).all()
    np.testing.assert_allclose(sampled.pit, weighted.pit, atol=0.03)


@pytest.mark.slow
def test_draws_without_a_data_set_that_fail_a_check_are_doubtful(small, monkeypatch):
    monkeypatch.setattr("hiercomp.posterior.importance.largest_k", lambda draws: -np.inf)
    monkeypatch.setattr("hiercomp.posterior.diagnostics.SMALLEST_ESS_PER_CHAIN", 300)
    few = (replace(small.posterior.attempts[-1], warmup=100, draws=100),)
    with pytest.warns(hc.ConvergenceWarning, match="Doubtful predictions"):
        found = replace(small, posterior=replace(small.posterior, attempts=few)).loo()
    assert found.doubtful == small.differences.dataset_names


def test_leave_one_out_differs_from_that_of_no_covariates_by_the_gain(small):
    plain = hc.HierarchicalComparison.from_differences(replace(small.differences, covariates=None), rope=0.01).fit(
        "quadrature"
    )
    found = small.effects()
    assert found.elpd_gain == pytest.approx(small.loo().elpd - plain.loo().elpd)
    assert found.sigma0_without == pytest.approx(plain.population().loc["sigma0", "mean"])


@pytest.mark.slow
def test_few_data_sets_for_each_covariate_give_the_slopes_a_horseshoe(small, fit):
    assert not fit.effects(loo=False).shrunk  # 43 data sets for three
    assert not small.effects(loo=False).shrunk  # 12 for one
    few = small.differences.subset(small.differences.dataset_names[:9])
    with pytest.warns(hc.FewDatasetsWarning, match="1 covariate for 9 data sets"):
        shrunk = hc.HierarchicalComparison.from_differences(few, rope=0.01).fit("embedded", progress=False)
    assert "1 covariate for 9 data sets" in str(shrunk.summary())
    assert shrunk.effects(loo=False).shrunk
    assert "horseshoe" in str(shrunk.effects(loo=False))
    assert "Piironen" in str(shrunk.methods())
    assert "horseshoe" not in str(small.methods())


@pytest.mark.parametrize("q", [9, 10])
def test_without_a_data_set_the_priors_stay_those_of_all(small, q):
    differences = small.differences.subset(small.differences.dataset_names[:q])
    model = HierarchicalModel.of(differences, hc.Priors())
    others = model.without(3)
    assert len(others.mean) == len(others.covariate) == q - 1
    assert others.shrunk == model.shrunk == (q < 10)
    for name in ("global_scale", "slope_scale", "sigma0_upper", "delta0_bound", "unit"):
        assert getattr(others, name) == getattr(model, name)
    assert others.without(0).global_scale == model.global_scale


@pytest.mark.slow
def test_a_saved_result_is_restored(small, tmp_path):
    again = hc.load_result(small.save(tmp_path / "result.nc"))
    assert again.next_dataset == small.next_dataset
    assert str(again.effects()) == str(small.effects())
    assert str(again.summary()) == str(small.summary())
    np.testing.assert_array_equal(again.draws("slope"), small.draws("slope"))
    assert again.datatree["prior"]["slope"].shape == (4, 500, 1)
    assert again.datatree["posterior"]["slope"].coords["covariate"].values.tolist() == ["size"]
    assert again.save(tmp_path / "again.nc").read_bytes() == (tmp_path / "result.nc").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain["differences"]["covariates"]["values"].pop(),
        lambda plain: plain["differences"]["covariates"]["names"].append("more"),
        lambda plain: plain["differences"].pop("covariates"),
        lambda plain: plain["posterior"].update(kind="sampled"),
        lambda plain: plain["differences"]["covariates"]["values"].__setitem__(0, ["one"]),
        lambda plain: plain["differences"]["covariates"].update(more=1),
    ],
)
def test_a_description_with_other_covariates_is_refused(small, change):
    plain = json.loads(json.dumps(plain_values(small)))
    check_description(plain)
    change(plain)
    with pytest.raises(ValueError, match=r"covariates|values|other keys"):
        check_description(plain)


def test_the_populations_draws_alone_have_slopes(small):
    result = hc.HierarchicalComparison.from_differences(small.differences, rope=0.01).fit(
        "embedded", keep="population", progress=False, monte_carlo_error=None
    )
    assert result.effects(loo=False).names == ("size",)
    with pytest.raises(hc.ArgumentError, match="keep='all'"):
        result.datasets()


def test_covariates_stay_with_the_differences(small):
    comparison = hc.HierarchicalComparison.from_differences(small.differences, rope=0.01)
    assert comparison.differences.covariates is small.differences.covariates


def test_sampling_goes_on_until_the_probabilities_are_precise(small):
    comparison = hc.HierarchicalComparison.from_differences(small.differences, rope=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.RefitWarning)  # one or two in 12,000 transitions diverge
        result = comparison.fit("embedded", monte_carlo_error=0.002, progress=False)
    assert result.next_dataset.largest_error < 0.0025
    assert result.attempts[-1].purpose != "longer"  # which makes more draws whatever was asked for
    assert result.attempts[-1].draws > 1000
    assert result.draws("slope").shape[1] == result.attempts[-1].draws


def test_the_last_run_centres_no_data_set():
    # Without covariates it would centre all: their spread is ten times their errors
    x = np.random.default_rng(0).normal(0, 0.01, (12, 30)) + np.linspace(-0.2, 0.2, 12)[:, None]
    frame = pd.DataFrame({"noise": np.random.default_rng(1).normal(size=12)}, index=[f"d{i}" for i in range(12)])
    comparison = hc.HierarchicalComparison.from_arrays(
        0.5 - x / 2, 0.5 + x / 2, rho=0.1, dataset_names=list(frame.index), covariates=frame
    )
    with pytest.warns((hc.RefitWarning, hc.ConvergenceWarning)):  # 100 draws are too few
        result = comparison.fit("embedded", warmup=100, draws=100, monte_carlo_error=None, progress=False)
    first, *_, longer = result.attempts
    assert longer.purpose == "longer"
    assert (first.centred, longer.centred) == (12, 0)


def test_what_needs_an_integral_is_refused_in_words(small, monkeypatch):
    whole = (small.prior_predictive, small.check_population, lambda: hc.compare_populations(small))
    for name in ("log_marginal_likelihood", "log_marginal_likelihood_error", "verification"):
        with pytest.raises(hc.ArgumentError, match="covariates"):
            getattr(small, name)
    for refused in (small.influence, small.predictive_datatree, small.plan, *whole):
        with pytest.raises(hc.ArgumentError, match="covariates"):
            refused()
    monkeypatch.setattr("hiercomp.posterior.population_check.loo", lambda fit: pytest.fail("left out in vain"))
    with pytest.raises(hc.ArgumentError, match=r"Pass others="):
        small.check_population()


@pytest.mark.parametrize(("engine", "population"), [("quadrature", "student_t"), ("auto", "mixture")])
def test_engines_and_populations_without_covariates_are_refused_in_words(small, engine, population):
    comparison = hc.HierarchicalComparison.from_differences(small.differences, rope=0.01, population=population)
    with pytest.raises(hc.ArgumentError, match="covariates") as refused:
        comparison.fit(engine)
    assert refused.value.remedy


def test_a_failed_fit_names_no_engine_that_can_not_help(hard_scores):
    frame = pd.DataFrame({"size": range(20)}, index=[f"d{i}" for i in range(20)])
    comparison = hc.HierarchicalComparison(hard_scores, "bayes", "tree", covariates=frame)
    settings = {"chains": 2, "warmup": 100, "draws": 100, "seed": 7, "progress": False}  # half of all seeds fail
    with pytest.warns(hc.ConvergenceWarning, match="fewer covariates"):
        failed = comparison.fit("embedded", monte_carlo_error=None, **settings)
    with pytest.raises(hc.NoVerdictError, match="fewer covariates"):
        failed.at(size=3)
    with pytest.raises(hc.NoVerdictError, match="fewer covariates"):
        failed.effects()
    assert "No verdict" in str(failed.summary())


def test_auto_is_the_sampler_alone():
    assert choose_engine("auto", covariates=True).name in ("cmdstan", "embedded")


def test_a_result_without_covariates_has_no_effects(result):
    for asked in (result.effects, lambda: result.at(rows=1), lambda: result.plot.effect("rows")):
        with pytest.raises(hc.ArgumentError, match="no covariates"):
            asked()


def test_identical_scores_have_no_slopes(identical):
    frame = pd.DataFrame({"size": range(6)}, index=identical.differences.dataset_names)
    comparison = hc.HierarchicalComparison.from_differences(identical.differences, rope=0.01, covariates=frame)
    result = comparison.fit("embedded", progress=False)
    assert "identical" in str(result.summary())
    with pytest.raises(hc.ArgumentError, match="identical"):
        result.effects()


def test_a_mean_that_never_varies_leaves_a_scale_for_the_slopes():
    same = np.tile(np.linspace(0.01, 0.03, 10), (12, 1))
    frame = pd.DataFrame({"size": np.arange(12.0)}, index=[str(i + 1) for i in range(12)])
    differences = hc.PairedDifferences.from_arrays(np.zeros((12, 10)), same, folds=10).with_covariates(frame)
    model = HierarchicalModel.of(differences, hc.Priors())
    assert model.slope_scale > 0
    assert np.isfinite(model.program(model.centred(), 2, 0).inverse_metric).all()


@pytest.mark.slow
def test_the_summary_and_the_report_name_every_covariate(fit, tmp_path):
    text, page = str(fit.summary()), fit.report(tmp_path / "page.html").read_text(encoding="utf-8")
    for name in ("rows", "features", "classes"):
        assert f"Slope of {name}" in text
        assert name in page
    assert "means over the covariates of the 43 data sets" in text
    assert set(fit.to_dict()["slopes"]) == {"rows", "features", "classes"}


@pytest.mark.slow
def test_the_sensitivity_keeps_the_covariates(small):
    found = small.sensitivity()
    assert len(found.variants) > 5
    assert {variant.status for variant in found.variants} <= {"ok", "warned"}
