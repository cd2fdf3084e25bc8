"""Populations compared by leave-one-out: the true one is not beaten, a wrong one is."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.posterior.population_check import other_populations
from hiercomp.posterior.populations import arviz_comparison
from tests.conftest import simulated_scores


def of_means(means, seed: int, **priors) -> hc.ComparisonResult:
    noise = np.random.default_rng(seed).normal(0, 0.01, (len(means), 20))
    right = 0.5 + np.asarray(means)[:, None] + noise
    comparison = hc.HierarchicalComparison.from_arrays(
        np.full(right.shape, 0.5), right, rho=0.1, rope=0.01, priors=hc.Priors(**priors)
    )
    return comparison.fit("quadrature")


@pytest.fixture(scope="module")
def heavy() -> np.ndarray:
    return 0.01 + 0.01 * np.random.default_rng(3).standard_t(1.5, 60).clip(-30, 30)


@pytest.fixture(scope="module")
def compared(heavy):
    return of_means(heavy, 4, population="gaussian").check_population()


def test_a_population_with_the_true_tails_is_better_than_a_gaussian_one(compared):
    assert compared.fitted == "Gaussian"
    assert compared.better == ("Student-t",)
    assert "A Student-t population predicts the data sets better than the Gaussian one" in str(compared)


def test_the_difference_and_its_error_are_those_of_arviz(compared):
    table = arviz_comparison(compared.loos)
    row = compared.to_frame().loc["Student-t"]
    assert row["elpd_difference"] == pytest.approx(table["elpd_diff"].abs().max(), abs=1e-6)
    assert row["difference_error"] == pytest.approx(table["dse"].max(), rel=1e-6)


@pytest.mark.slow
def test_where_the_population_is_gaussian_heavier_tails_gain_nothing():
    """Of 12 collections; a nu that is not needed costs little, and is never better by two standard errors."""
    differences = []
    for seed in range(12):
        means = np.random.default_rng(100 + seed).normal(0.01, 0.02, 25)
        compared = of_means(means, 200 + seed, population="gaussian").check_population()
        assert compared.better == ()
        differences.append(compared.to_frame().loc["Student-t", "elpd_difference"])
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert np.mean(differences) < 4 * error


def test_a_shift_of_all_data_sets_leaves_the_difference(heavy):
    first, second = (of_means(means, 4).check_population().to_frame() for means in (heavy, heavy - 0.02))
    np.testing.assert_allclose(first["elpd_difference"], second["elpd_difference"], atol=0.02)


def test_the_others_keep_what_the_priors_say_of_the_rest():
    priors = hc.Priors(sigma0=hc.HalfNormal(0.03), delta0_bound=0.4)
    (name, other), *rest = other_populations(priors).items()
    assert (name, rest) == ("Gaussian", [])
    assert (other.population, other.sigma0, other.delta0_bound) == ("gaussian", hc.HalfNormal(0.03), 0.4)
    assert list(other_populations(hc.Priors.gaussian())) == ["Student-t"]


@pytest.mark.slow
def test_results_of_other_populations_may_be_given(heavy, compared):
    own = of_means(heavy, 4, population="gaussian")
    given = own.check_population({"heavy": of_means(heavy, 4), "kruschke": of_means(heavy, 4, alpha=1.0, beta=0.0345)})
    assert list(given.to_frame().index) == ["Gaussian", "heavy", "kruschke"]
    assert set(given.better) == {"heavy", "kruschke"}
    row, expected = given.to_frame().loc["heavy"], compared.to_frame().loc["Student-t"]
    assert row["elpd_difference"] == pytest.approx(expected["elpd_difference"], abs=1e-9)
    with pytest.raises(hc.ArgumentError, match="'moved' has other data"):
        own.check_population({"moved": of_means(heavy + 0.01, 4)})
    with pytest.raises(hc.ArgumentError, match="name of the fitted population, 'Gaussian'"):
        own.check_population({"Gaussian": of_means(heavy, 4)})


def test_the_summary_says_so_if_asked(heavy, compared):
    gaussian = of_means(heavy, 4, population="gaussian")
    assert compared.conclusion not in str(gaussian.summary())
    assert compared.conclusion in gaussian.summary(population_check=True).notes
    assert compared.conclusion in gaussian.summary(population_check=compared).notes
    student = of_means(heavy, 4)
    assert student.summary(population_check=True).notes == student.summary().notes


def test_a_population_whose_computation_failed_is_left_out(failed):
    scores = simulated_scores(20, centre=0.002, spread=0.0005, noise=0.03, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.HiercompWarning)
        result = hc.compare(scores, "bayes", "tree", engine="quadrature")
    found = result.check_population({"draws": failed})
    assert list(found.to_frame().index) == ["Student-t"]
    assert found.better == ()
    assert "The computation with a draws population failed its checks." in str(found)


def test_what_can_not_be_compared_is_refused(identical, failed):
    with pytest.raises(hc.ArgumentError, match="scores that differ"):
        identical.check_population()
    with pytest.raises(hc.NoVerdictError):
        failed.check_population()
    assert identical.summary(population_check=True).notes == identical.summary().notes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
def test_the_table_of_the_page_is_what_the_keel_scores_give():
    page = (Path(__file__).parents[2] / "docs" / "fit.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (\w+) - (\w+) \| (\*?\*?)(-[\d.]+)\*?\*? \(([\d.]+)\) \| ([\d.]+)(.*) \|$", page, re.MULTILINE
    )
    assert len(rows) == 15
    keel = hc.load_scores("keel")
    for left, right, bold, difference, error, median, bound in rows:
        result = hc.compare(keel, left, right, rope=0.01, engine="quadrature")
        row = result.check_population().to_frame().loc["Gaussian"]
        assert row["elpd_difference"] == pytest.approx(float(difference), abs=0.06)
        assert row["difference_error"] == pytest.approx(float(error), abs=0.06)
        assert bool(bold) == (row["elpd_difference"] < -2 * row["difference_error"])
        assert result.population().loc["nu", "median"] == pytest.approx(float(median), abs=0.06)
        assert bool(bound) == ("nu_at_bound" in [note.key for note in result.bound_notes])


def test_what_is_no_result_and_another_likelihood_are_refused(result):
    for others in ({"x": 3}, [result]):
        with pytest.raises(hc.ArgumentError, match="must map names to results"):
            result.check_population(others)
    answers = np.random.default_rng(1).integers(0, 2, (6, 60)).astype(float)
    fits = [
        hc.HierarchicalComparison.from_arrays(answers, answers[::-1], rho=0, rope=0.01, likelihood=each).fit(
            "quadrature"
        )
        for each in ("trinomial", "gaussian")
    ]
    with pytest.raises(hc.ArgumentError, match="has the likelihood 'gaussian', this one 'trinomial'"):
        fits[0].check_population({"other": fits[1]})


def test_a_small_difference_is_not_clear_however_constant():
    """Of five data sets with nearly the same mean; both populations predict them alike."""
    found = of_means([0.01, 0.011, 0.012, 0.013, 0.014, 0.0141], 1).check_population()
    row = found.to_frame().loc["Gaussian"]
    assert 0 < abs(row["elpd_difference"]) < 4
    assert found.better == ()


def test_a_student_t_population_inherits_the_bounds_of_a_gaussian_one(heavy):
    noise = np.random.default_rng(4).normal(0, 0.01, (len(heavy), 20))
    right = 0.5 + heavy[:, None] + noise
    comparison = hc.HierarchicalComparison.from_arrays(
        np.full(right.shape, 0.5), right, rho=0.1, rope=0.01, priors=hc.Priors.gaussian(sigma0=hc.HalfNormal(0.03))
    )
    found = hc.compare_populations(comparison, populations=("gaussian", "student_t"), engine="quadrature")
    assert found.fits["student_t"].priors.sigma0 == hc.HalfNormal(0.03)
