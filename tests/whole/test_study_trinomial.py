"""`scripts/study_trinomial.py`: what it simulates, and that its numbers can be had again."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
study = importlib.import_module("study_trinomial")


def test_answers_differ_as_often_and_as_much_as_is_said():
    truth, left, right = study.answers(benchmarks=6, questions=40_000, discordance=0.03, seed=1)
    for difference, one, other in zip(truth, left, right, strict=True):
        assert abs(difference) <= 0.03
        assert (one != other).mean() == pytest.approx(0.03, abs=4 * np.sqrt(0.03 / 40_000))
        assert (other - one).mean() == pytest.approx(difference, abs=4 * np.sqrt(0.03 / 40_000))


def test_the_population_is_a_normal_one_that_is_cut_off():
    total, _ = integrate.quad(stats.norm(0.01, 0.01).pdf, -0.03, 0.03)
    left, _ = integrate.quad(stats.norm(0.01, 0.01).pdf, -0.03, -0.01)
    assert study.population(0.03).cdf(-0.01) == pytest.approx(left / total)


@pytest.mark.parametrize("likelihood", ["gaussian", "trinomial"])
@pytest.mark.slow
def test_a_row_can_be_had_again(likelihood):
    found = [study.measured(likelihood, simulations=1, benchmarks=5, questions=30, discordance=0.1) for _ in range(2)]
    np.testing.assert_array_equal(*found)
    error, covered, width, still = found[0][0]
    assert 0 <= error <= 1
    assert 0 <= covered <= 1
    assert 0 < width < 2
    assert 0 <= still < 1
    assert study.row("30", np.repeat(found[0], 2, axis=0)).count("|") == 6


def test_a_suite_without_any_variation_is_left_out():
    found = study.measured("gaussian", simulations=2, benchmarks=5, questions=3, discordance=0.001)
    assert np.isnan(found).all()
