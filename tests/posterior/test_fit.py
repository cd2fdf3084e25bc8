"""What is tried when a fit fails a check, and how a run is extended for precision; with the real engine."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.model.priors import Priors
from hiercomp.model.programs import StanProgram
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.scores.differences import PairedDifferences


def score_differences(sigma0: float, q: int = 20, n: int = 50) -> np.ndarray:
    """Data sets whose standard error is 0.33 and whose means spread by ``sigma0``, in units of their sd."""
    generator = np.random.default_rng(3)
    delta = sigma0 * generator.standard_normal((q, 1))
    shared, single = generator.standard_normal((q, 1)), generator.standard_normal((q, n))
    return 0.02 * (delta + np.sqrt(0.1) * shared + np.sqrt(0.9) * single)


def differences(sigma0: float) -> PairedDifferences:
    x = score_differences(sigma0)
    return PairedDifferences.from_arrays(0.5 - x / 2, 0.5 + x / 2, rho=0.1)


def test_data_sets_are_centred_where_they_say_more_than_the_population():
    assert HierarchicalModel.of(differences(3.0), Priors()).centred().all()
    assert not HierarchicalModel.of(differences(0.02), Priors()).centred().any()


def test_an_outlying_data_set_is_centred_alone():
    x = differences(0.02)
    mean = x.mean.copy()
    mean[4] += 0.2  # ten within-data-set standard deviations
    model = HierarchicalModel.of(PairedDifferences(**{**vars(x), "mean": mean}), Priors())
    assert np.flatnonzero(model.centred()).tolist() == [4]


def test_with_a_gaussian_population_no_data_set_is_centred():
    assert not HierarchicalModel.of(differences(3.0), Priors.gaussian()).centred().any()


def test_a_data_set_in_a_tail_says_less_about_the_centre():
    # Twenty means with standard errors of 1/3, all 0 but for one. The error of a mean and that of the median of twenty
    # normal values are together 1/3 sqrt(1 + pi / 40) = 0.3461; four of them are 1.385
    x = differences(0.02)
    squares = x.sum_of_squares / (3 * x.standard_error) ** 2
    for distance, expected in ((1.38, 0.0), (1.39, 1.39**2), (-1.39, 1.39**2)):
        mean = np.zeros(20)
        mean[4] = distance
        model = replace(HierarchicalModel.of(x, Priors()), mean=mean, sum_of_squares=squares, unit=1.0)
        np.testing.assert_allclose(model.squared_standard_error, 1 / 9)
        np.testing.assert_allclose(model.centre_variance - 1 / 9, [*np.zeros(4), expected, *np.zeros(15)], atol=1e-12)
        np.testing.assert_allclose(replace(model, priors=Priors.gaussian()).centre_variance, 1 / 9)


@pytest.mark.parametrize("priors", [Priors(), Priors.gaussian()], ids=lambda priors: priors.name)
def test_one_data_set_measured_far_better_than_the_others_makes_no_funnel(priors):
    # delta0 is within about sigma0 of its mean. With delta0 itself as a parameter 54 and 87 of 4,000 transitions diverged,
    # and the two runs that followed failed, too
    generator = np.random.default_rng(8)
    spread = np.array([0.02] * 11 + [0.0001])[:, None]
    x = 0.01 + spread * generator.standard_normal((12, 10))
    comparison = hc.HierarchicalComparison.from_arrays(0.5 - x / 2, 0.5 + x / 2, rho=0.1, rope=0.005, priors=priors)
    sampled = comparison.fit("embedded", monte_carlo_error=None, progress=False)
    assert sampled.diagnostics.divergences == 0
    assert len(sampled.attempts) == 1
    exact, found = comparison.fit("quadrature").next_dataset, sampled.next_dataset
    for name in ("p_left", "p_rope", "p_right", "expected_left", "expected_rope", "expected_right"):
        distance = getattr(found, name) - getattr(exact, name)
        assert abs(distance) <= 4 * np.hypot(found.errors[name], exact.errors[name])


@pytest.fixture
def nearly_equal() -> Callable[..., hc.HierarchicalComparison]:
    """Nearly equal algorithms on a few imprecise data sets; without nu, for speed."""

    def made(q: int) -> hc.HierarchicalComparison:
        x = score_differences(0.02, q)
        return hc.HierarchicalComparison.from_arrays(
            0.5 - x / 2, 0.5 + x / 2, rho=0.1, rope=0.01, priors=hc.Priors.gaussian()
        )

    return made


@pytest.fixture
def first_all_centred(monkeypatch) -> None:
    """The first run centres every data set: where they say little, that is a funnel, which fails on any machine."""
    monkeypatch.setattr(HierarchicalModel, "centred", lambda model: np.ones(len(model.mean), dtype=bool))


@pytest.mark.usefixtures("first_all_centred")
def test_a_fit_that_fails_a_check_is_run_again_and_says_so(nearly_equal):
    with pytest.warns(hc.RefitWarning, match="failed a check and w(as|ere) repeated"):
        result = nearly_equal(8).fit("embedded", warmup=500, draws=500, monte_carlo_error=None, progress=False)
    assert result.status == "ok"
    assert [attempt.purpose for attempt in result.attempts][:2] == ["first fit", "smaller steps"]
    first, second = result.attempts[:2]
    assert first.failures
    assert (first.centred, first.noncentred) != (second.centred, second.noncentred)
    assert first.centred + first.noncentred == 8
    assert not result.attempts[-1].failures
    assert any("failed a check and w" in note for note in result.notes)
    assert "failed a check and w" in str(result.summary())


def all_centred(monkeypatch, runs: int) -> None:
    """The programs of so many runs centre every data set, whatever they are asked for; none is centred after that."""
    program, made = HierarchicalModel.program, []

    def instead(model: HierarchicalModel, centred: np.ndarray, chains: int, seed: int) -> StanProgram:
        made.append(centred)
        return program(model, np.full(len(centred), len(made) <= runs), chains, seed)

    monkeypatch.setattr(HierarchicalModel, "program", instead)


def test_a_fit_that_fails_every_time_gives_no_verdict(nearly_equal, monkeypatch):
    all_centred(monkeypatch, 3)
    with pytest.warns(hc.ConvergenceWarning, match="Sampling failed its checks 3 times.*engine='quadrature'"):
        result = nearly_equal(10).fit("embedded", chains=2, warmup=100, draws=100, progress=False)
    assert result.status == "failed"
    assert [attempt.purpose for attempt in result.attempts] == ["first fit", "smaller steps", "longer"]
    longer = result.attempts[-1]
    assert (longer.warmup, longer.draws, longer.adapt_delta) == (200, 500, 0.999)
    with pytest.raises(hc.NoVerdictError, match="failed its checks"):
        _ = result.next_dataset


@pytest.mark.usefixtures("first_all_centred")
def test_where_sigma0_is_small_the_last_run_centres_nothing(nearly_equal, monkeypatch):
    all_centred(monkeypatch, 2)
    with pytest.warns(hc.RefitWarning, match="2 of 3 runs failed a check"):
        result = nearly_equal(10).fit("embedded", warmup=500, draws=500, monte_carlo_error=None, progress=False)
    assert [attempt.centred for attempt in result.attempts] == [10, 0, 0]
    assert result.status == "ok"


def test_where_sigma0_is_large_the_last_run_centres_what_failed_least():
    x = np.random.default_rng(0).normal(0, 0.01, (12, 30)) + np.linspace(-0.2, 0.2, 12)[:, None]
    comparison = hc.HierarchicalComparison.from_arrays(0.5 - x / 2, 0.5 + x / 2, rho=0.1)
    with pytest.warns(hc.RefitWarning, match="2 of 3 runs failed a check"):  # 100 draws are too few
        result = comparison.fit("embedded", warmup=100, draws=100, monte_carlo_error=None, progress=False)
    first, *_, longer = result.attempts
    assert longer.purpose == "longer"
    assert longer.centred == first.centred == 12


def test_runs_are_extended_to_the_precision_asked_for():
    x = np.random.default_rng(0).normal(0.01, 0.03, (5, 50))
    comparison = hc.HierarchicalComparison.from_arrays(0.5 - x / 2, 0.5 + x / 2, rho=0.1)
    plain = comparison.fit("embedded", monte_carlo_error=None, progress=False)
    precise = comparison.fit("embedded", monte_carlo_error=0.003, progress=False)
    assert plain.attempts[0].draws == 1000
    assert precise.attempts[0].draws > 1000
    # The chains that pass go on: the first thousand draws are those of the shorter run
    np.testing.assert_array_equal(precise.draws("delta0")[:, :1000], plain.draws("delta0"))
    errors = precise.next_dataset.errors
    assert max(errors[region] for region in ("p_left", "p_rope", "p_right")) < 0.0036  # the error is itself an estimate
    assert f"{precise.attempts[0].draws:,} draws" in precise.summary().computation


def test_a_fit_whose_trajectories_are_all_too_long_ends_after_one_run():
    """Errors in units of their own: one population of such differences is beyond the sampler."""
    generator = np.random.default_rng(3)
    left, right = [], []
    for unit in 10.0 ** generator.uniform(-2, 4.7, 15):
        left.append(unit * (1 + generator.normal(0, 0.05, 20)))
        right.append(left[-1] * (0.97 + generator.normal(0, 0.02, 20)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        comparison = hc.HierarchicalComparison.from_arrays(left, right, rope=0.01, folds=10, higher_is_better=False)
    with pytest.warns(hc.ConvergenceWarning, match="largest tree depth.*engine='quadrature'"):
        result = comparison.fit("embedded", warmup=150, draws=100, monte_carlo_error=None, progress=False)
    assert result.status == "failed"
    assert result.diagnostics.mostly_saturated
    assert len(result.attempts) == 1
    with pytest.raises(hc.NoVerdictError, match="engine='quadrature'"):
        result.decision()


def test_a_fit_that_takes_long_says_what_is_faster(nearly_equal, monkeypatch, capsys):
    monkeypatch.setattr("hiercomp.posterior.fit.SECONDS_UNTIL_HINT", 0.001)
    comparison = nearly_equal(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        comparison.fit("embedded", warmup=100, draws=100, monte_carlo_error=None)
        assert capsys.readouterr().err.count("engine='quadrature' (--engine quadrature)") == 1
        comparison.fit("embedded", warmup=100, draws=100, monte_carlo_error=None, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("random_state", "mean 'seed'?"),
        ("n_jobs", "run in parallel"),
        ("n_chains", "'chains'?"),
        ("drawss", "'draws'?"),
    ],
)
def test_an_option_under_another_name_is_answered_with_ours(nearly_equal, name, hint):
    with pytest.raises(TypeError, match=re.escape(hint)):
        nearly_equal(6).fit(**{name: 1})


NOISE = np.random.default_rng(8).normal(0, 0.01, (2, 8, 10))
FIRST, SECOND = 0.7 + NOISE
OF_DATASET = np.arange(8)[:, None]
MIXED = np.where(OF_DATASET < 4, 100, 1)


@pytest.mark.parametrize(
    ("key", "left", "right", "options"),
    [
        ("few_datasets", FIRST[:3], SECOND[:3], {"rope": 0.01}),
        ("percentages", 100 * FIRST, 100 * SECOND, {"rope": 0.01}),
        (
            "mixed_scales",
            np.where(OF_DATASET < 4, 100, 1) * FIRST,
            np.where(OF_DATASET < 4, 100, 1) * SECOND,
            {"rope": 0.01},
        ),
        ("unlikely_gain", 200 + FIRST, 200 + SECOND, {"rope": 0.001}),
        ("reversed_loss", -FIRST, -SECOND, {"rope": 0.01, "higher_is_better": False}),
        ("wide_rope", 5 + FIRST, 5 + SECOND, {"rope": 3}),
        (
            "different_units",
            10.0**OF_DATASET * FIRST,
            10.0**OF_DATASET * SECOND,
            {"rope": 0.01, "higher_is_better": True},
        ),
        ("outlying_spread", FIRST, FIRST + NOISE[1] * np.where(OF_DATASET == 0, 20, 0.1), {"rope": 0.01}),
        ("constant_datasets", FIRST, np.where(OF_DATASET == 0, FIRST + 0.01, SECOND), {"rope": 0.01}),
    ],
)
def test_differences_that_are_checked_again_have_the_same_notes(key, left, right, options):
    """None is given twice: each note that a check makes is known as one."""
    with pytest.warns(hc.HiercompWarning):
        first = hc.HierarchicalComparison.from_arrays(left, right, rho=0.1, **options)
    with pytest.warns(hc.HiercompWarning):
        again = hc.HierarchicalComparison.from_differences(first.differences, rope=options["rope"])
    assert key in [note.key for note in first.differences.notes]
    assert again.differences.notes == first.differences.notes
