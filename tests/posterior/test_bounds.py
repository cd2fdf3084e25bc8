"""Parameters whose posterior lies at the bound of their prior."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.engines.quadrature.nu_prior import NuPrior
from hiercomp.posterior.bounds import bound_notes
from tests.conftest import simulated_scores


@pytest.fixture(scope="module")
def keel():
    return hc.load_scores("keel")


def keys(result: hc.ComparisonResult) -> list[str]:
    return [note.key for note in result.bound_notes]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_nu_is_pressed_against_its_bound_in_6_of_the_15_pairs_of_the_keel_table(keel):
    """Counted on the marginal posteriors of nu, whose medians in these pairs are below 1.6, and above 1.8 in the others."""
    pressed = 0
    for left, right in itertools.combinations(sorted(keel["algorithm"].unique()), 2):
        result = hc.compare(keel, left, right, rope=0.01, engine="quadrature")
        median = result.population().loc["nu", "median"]
        assert keys(result) == (["nu_at_bound"] if median < 1.7 else []), (left, right, median)
        pressed += bool(keys(result))
    assert pressed == 6


@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
@pytest.mark.slow
def test_the_note_is_in_summary_and_dictionary_whatever_the_engine(keel):
    options = {"rope": 0.01, "chains": 2, "draws": 1000, "progress": False}
    for engine in ("quadrature", "embedded"):
        result = hc.compare(keel, "logistic_regression", "naive_bayes", engine=engine, **options)
        text = "pressed against its lower bound, 1: 9"
        assert text in str(result.summary())
        assert any(text in note for note in result.to_dict()["notes"])
        assert keys(hc.compare(keel, "naive_bayes", "decision_tree", engine=engine, **options)) == []


@pytest.mark.parametrize(("centre", "deviation", "pressed"), [(2.5, 0.1, False), (1.1, 0.3, True), (2.0, 0.45, True)])
def test_a_small_nu_that_is_well_known_is_not_at_its_bound(centre, deviation, pressed):
    """As many data sets from a population with nu = 2.5 would leave it."""
    posterior = stats.truncnorm((1 - centre) / deviation, np.inf, centre, deviation)
    fake = SimpleNamespace(probability_below=lambda name, value: posterior.cdf(value))
    notes = bound_notes(fake, SimpleNamespace(priors=hc.Priors()))
    assert [note.key for note in notes] == ["nu_at_bound"] * pressed


@pytest.mark.parametrize(
    ("priors", "expected"),
    [
        ({}, []),
        ({"delta0_bound": 0.03}, ["delta0_at_bound"]),
        ({"sigma0_upper": 0.5}, ["sigma0_at_bound"]),
        ({"delta0_bound": 0.5, "sigma0_upper": 50.0}, []),
        ({"population": "gaussian"}, []),
    ],
)
def test_bounds_that_cut_the_posterior_off_are_named(priors, expected):
    frame = simulated_scores(20, runs=1, centre=0.035, spread=0.02, seed=2)
    result = hc.compare(frame, "bayes", "tree", rope=0.01, engine="quadrature", priors=hc.Priors(**priors))
    assert keys(result) == expected
    mirrored = hc.compare(frame, "tree", "bayes", rope=0.01, engine="quadrature", priors=hc.Priors(**priors))
    assert keys(mirrored) == expected


def test_probabilities_below_the_quantiles_are_their_levels():
    frame = simulated_scores(20, runs=1, centre=0.035, spread=0.02, seed=2)
    result = hc.compare(frame, "bayes", "tree", rope=0.01, engine="quadrature")
    for name, row in result.population().iterrows():
        for column, level in (("lower", 0.025), ("median", 0.5), ("upper", 0.975)):
            assert result.posterior.probability_below(name, row[column]) == pytest.approx(level, abs=2e-3), name
        drawn = (result.draws(name) < row["mean"]).mean()
        assert result.posterior.probability_below(name, row["mean"]) == pytest.approx(
            drawn, abs=4 * 0.5 / np.sqrt(4000)
        )


def test_quantiles_of_the_prior_of_nu():
    assert NuPrior(hc.Priors.kruschke()).quantile(0.05) == pytest.approx(1 + stats.expon.ppf(0.05) / 0.0345)
    found = NuPrior(hc.Priors()).quantile(0.3)
    generator = np.random.default_rng(5)
    shape, rate = generator.uniform(0.5, 5, 400_000), generator.uniform(0.05, 0.15, 400_000)
    share = (1 + generator.gamma(shape, 1 / rate) < found).mean()
    assert share == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 400_000))


def test_identical_scores_and_failed_computations_have_no_such_notes(identical, failed):
    assert identical.bound_notes == ()
    assert failed.bound_notes == ()
