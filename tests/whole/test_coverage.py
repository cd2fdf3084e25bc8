"""`scripts/verdicts.py`: what it simulates, what it counts as wrong, and its answers against plain computations."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

import hiercomp as hc

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
command = importlib.import_module("reproduction.command")
verdicts = importlib.import_module("verdicts")
coverage = importlib.import_module("reproduction.coverage")


@pytest.mark.parametrize("name", coverage.POPULATIONS)
def test_a_population_has_mean_zero_standard_deviation_one_and_the_distribution_of_its_draws(name):
    population = coverage.POPULATIONS[name]
    ends = {"limit": 500, "points": [-1, 0, 1]}
    mean = integrate.quad(lambda x: 1 - population.below(x) - population.below(-x), 0, 60, **ends)[0]
    square = integrate.quad(lambda x: 2 * x * (1 - population.below(x) + population.below(-x)), 0, 60, **ends)[0]
    assert mean == pytest.approx(0, abs=1e-3)
    assert square == pytest.approx(1, abs=0.01)  # of the Student's tails, 0.001 lies beyond
    draws = population.draw(np.random.default_rng(1), 20_000)
    for x in (-2.0, -0.5, 0.0, population.median(), 1.0):
        share = float(population.below(x))
        assert (draws < x).mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / len(draws)))


def test_the_truth_of_the_gaussian_population_is_that_of_the_normal_distribution():
    # At 0 the rope of half a standard deviation holds 2 Phi(0.5) - 1; at 0.01 half of the data sets lie right of it
    population = coverage.POPULATIONS["Gaussian"]
    assert population.regions(0, 0.01) == pytest.approx([0.308538, 0.382925, 0.308538], abs=1e-6)
    assert population.regions(0.01, 0.01)[2] == pytest.approx(0.5)
    assert [population.most_probable(centre, 0.01) for centre in (-0.02, 0, 0.02)] == [-1, 0, 1]
    assert np.isnan(coverage.POPULATIONS["two clusters"].most_probable(0, 0.01))


@pytest.mark.parametrize("rho", [0.05, 0.2])
def test_sufficient_statistics_are_distributed_as_those_of_whole_arrays(rho):
    generator, q = np.random.default_rng(2), 4000
    drawn = coverage.simulated(generator, np.zeros(q), rho)
    sigma = generator.uniform(*coverage.SIGMAS, (q, 1))
    x = sigma * hc.equal_correlation_differences(generator, q, coverage.SCORES, rho)
    squares = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    assert stats.ks_2samp(drawn.mean, x.mean(axis=1)).pvalue > 1e-4
    assert stats.ks_2samp(drawn.sum_of_squares, squares).pvalue > 1e-4
    assert drawn.mean.std() == pytest.approx(x.mean(axis=1).std(), rel=4 / np.sqrt(q))


@pytest.mark.slow
def test_under_a_symmetric_null_the_rank_and_sign_tests_reject_as_often_as_their_exact_distributions_say():
    # q = 10: the signed-rank test has the level 0.0488 (Wilcoxon's table: W <= 8), the sign test 2 (1 + 10) / 2^10
    generator, many = np.random.default_rng(3), 400
    claims = []
    for _ in range(many):
        delta = coverage.SPREAD * coverage.POPULATIONS["Student"].draw(generator, 10)
        claims.append(coverage.directions(coverage.simulated(generator, delta, coverage.RHO)))
    shares = dict(zip(coverage.OF_DIRECTIONS, (np.array(claims) != coverage.NONE).mean(axis=0), strict=True))
    for test, level in {"signed-rank": 0.0488, "sign": 22 / 1024}.items():
        low, high = stats.binom.ppf([1e-4, 1 - 1e-4], many, level) / many
        assert low <= shares[test] <= high


@pytest.mark.slow
def test_where_its_priors_hold_the_probabilities_of_the_model_come_true():
    found = np.array([coverage.drawn_from_priors(np.random.default_rng([4, one]), 20) for one in range(30)])
    for reported, truth in ((found[:, 3:6], found[:, 6]), (found[:, :3], found[:, 7])):
        happened = truth[:, None] == coverage.CODES
        error = np.sqrt((reported * (1 - reported)).sum(axis=0))
        assert (np.abs((happened - reported).sum(axis=0)) < 4 * error).all()
        right = np.where(happened, reported, 0).sum()  # mean probability of what was true, with its own variance
        assert abs(right - (reported**2).sum()) < 4 * np.sqrt(
            ((reported**3).sum(axis=1) - (reported**2).sum(axis=1) ** 2).sum()
        )


def test_one_collection_against_plain_computations():
    seed, q = 5, 5
    answers = coverage.Answers(coverage.collection(np.random.default_rng(seed), "skewed", 0.1, q)[None])
    generator = np.random.default_rng(seed)
    delta = coverage.SPREAD * coverage.POPULATIONS["skewed"].draw(generator, q)
    differences = coverage.simulated(generator, delta, 0.1)
    last = len(coverage.CENTRES) - 1
    centre, rope = coverage.QUESTIONS[last]
    means = differences.mean + centre
    # Correlated t of each data set (Corani & Benavoli 2015, Theorem 2), then every outcome of the five data sets
    scale = np.sqrt((1 / 100 + 0.1 / 0.9) * differences.sum_of_squares / 99)
    below = stats.t.cdf((np.array([[-rope], [rope]]) - means) / scale, 99)
    regions = np.array([below[0], below[1] - below[0], 1 - below[1]]).T
    frequent, right = np.zeros(3), 0.0
    for outcome in product(range(3), repeat=q):
        probability = np.prod([regions[one, region] for one, region in enumerate(outcome)])
        counts = np.bincount(outcome, minlength=3)
        largest = counts == counts.max()
        frequent += probability * largest / largest.sum()
    better = stats.t.sf(-means / scale, 99)
    for wins in product((0, 1), repeat=q):
        right += (sum(wins) > q / 2) * np.prod(np.where(wins, better, 1 - better))
    assert answers.probabilities("Poisson-binomial, rope")[0, last] == pytest.approx(frequent, rel=1e-9)
    assert answers.expected("Poisson-binomial, rope")[0, last] == pytest.approx(regions.mean(axis=0), rel=1e-9)
    claim = 1 if right > 0.95 else -1 if right < 0.05 else coverage.NONE
    assert answers.claims("Poisson-binomial")[0, last] == claim
    # Bayesian sign test: a Dirichlet of the counts, one more in the rope
    counts = np.array([(means < -rope).sum(), (np.abs(means) <= rope).sum() + 1, (means > rope).sum()])
    draws = np.random.default_rng(6).gamma(counts, size=(100_000, 3))
    assert answers.probabilities("Bayesian sign")[0, last] == pytest.approx(
        (draws.argmax(axis=1)[:, None] == range(3)).mean(axis=0), abs=0.007
    )
    # The hierarchical model fitted anew to the data that were moved
    fit = coverage.fitted(replace(differences, mean=means), hc.Priors())
    assert answers.probabilities("hierarchical model")[0, last] == pytest.approx(
        list(fit.next_dataset.probabilities.values()), abs=1e-3
    )
    assert answers.estimates("hierarchical model")[0, last] == pytest.approx(fit.expected_difference, abs=1e-6)
    assert answers.most_frequent[0, last] == stats.mode(coverage.region_of(delta + centre, rope)).mode


def test_measures_of_claims_whose_truth_is_known():
    nothing = coverage.NONE
    # Means 0, 0.01, 0.02, and 0 with the wide rope
    claims = np.array([[1, -1, 1, 0], [nothing, 1, 1, 0], [nothing, 1, 0, nothing], [0, nothing, 1, 0]])
    estimates = np.array([[0.03, -0.02, 0.03, 0], [0, 0.04, 0.02, 0], [0, 0.03, 0, 0], [0, 0, 0.04, 0]])
    found = coverage.measures(claims, estimates, [0, 1, 1, 0], regions=True)
    assert {name: figure.value for name, figure in found.items()} == pytest.approx(
        {
            "wrong": 3 / 9,
            "verdicts": 9 / 12,
            "false alarms": 1 / 4,
            "power": 3 / 4,
            "Type S at 0.01": 1 / 3,
            "Type M at 0.01": (2 + 4 + 3) / 3,
            "Type S at 0.02": 0,
            "Type M at 0.02": (1.5 + 1 + 2) / 3,
            "equivalence": 3 / 4,
            "false equivalence": 1 / 4,
        }
    )
    assert found["false alarms"].error == pytest.approx(np.sqrt(0.25 * 0.75 / 4))
    assert found["Type S at 0.02"].error == pytest.approx(1 / 4)
    assert np.isnan(coverage.measures(np.full((4, 4), nothing), estimates, [0, 1, 1, 0], regions=True)["wrong"].value)


def test_a_curve_compares_reported_probabilities_with_what_was_true():
    reported = np.array([[0.1, 0.2, 0.7], [0.1, 0.1, 0.8], [0.02, 0.03, 0.95], [np.nan] * 3])
    curve = coverage.calibration(reported, np.array([1, -1, 1, 1]))
    assert [(mean.value, share.value, mean.count) for mean, share in curve if mean.count] == [
        (pytest.approx(0.025), 0, 2),
        (pytest.approx(0.1), pytest.approx(1 / 3), 3),
        (pytest.approx(0.2), 0, 1),
        (pytest.approx(0.7), 1, 1),
        (pytest.approx(0.8), 0, 1),
        (pytest.approx(0.95), 1, 1),
    ]


@pytest.mark.slow
def test_a_quick_run_is_stored_resumed_and_written_into_a_page(tmp_path, capsys):
    options = ["--quick", "--repetitions", "3", "--keep", str(tmp_path / "kept"), "--results", str(tmp_path)]
    assert verdicts.main(options) == 0
    stored = tmp_path / "coverage.json"
    first = json.loads(stored.read_text(encoding="utf-8"))
    assert verdicts.main(options) == 0
    again = json.loads(stored.read_text(encoding="utf-8"))
    assert first | {"seconds": 0, "when": ""} == again | {"seconds": 0, "when": ""}
    assert again["seconds"] < first["seconds"]
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{command.START}to be replaced\n{command.END}\n", encoding="utf-8")
    capsys.readouterr()
    assert verdicts.main(["--results", str(tmp_path), "--markdown", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    figure = first["several data sets"]["Student"]["10"]["measures"]["t of the means"]["power"]
    row = next(
        line for line in text.split(verdicts.MEASURES["power"])[1].splitlines() if line.startswith("| Student, q = 10")
    )
    assert row.split("|")[-2].strip() == f"{100 * figure[0]:.0f} ± {100 * figure[1]:.0f}"
    assert "to be replaced" not in text
    assert {line.count("|") for line in text.splitlines() if line.startswith("| Student")} == {4, 6, 10}


def test_the_page_has_the_stored_figures():
    content = json.loads((ROOT / "results/coverage.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs/coverage.md").read_text(encoding="utf-8")
    assert "\n".join(verdicts.page(content)).rstrip() in text
