"""The closed-form tests against R (scripts/make_golden_numbers_of_r.R, which records the versions)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.closed_form.across_datasets.poisson_binomial import poisson_binomial
from hiercomp.rope import Rope, region_probabilities

OF_R = json.loads((Path(__file__).parents[1] / "data/golden_numbers_of_r.json").read_text(encoding="utf-8"))
RELATIVE = 1e-12  # of every probability, also of tails of 1e-54


def assert_close(found: object, of_r: object) -> None:
    np.testing.assert_allclose(found, of_r, rtol=RELATIVE, atol=0)


@pytest.mark.parametrize("case", OF_R["student_t"], ids=lambda case: f"df={case['df']}")
def test_tails_of_student_t_are_those_of_pt(case):
    t = np.array(case["t"])
    assert_close(region_probabilities(t, 1.0, case["df"], Rope.of(0))[..., 0], case["below"])
    assert_close(region_probabilities(-t, 1.0, case["df"], Rope.of(0))[..., 2], case["above"])


@pytest.mark.parametrize("case", OF_R["t_tests"], ids=lambda case: f"n={len(case['x'])}-rho={case['rho']}")
def test_the_corrected_t_test_is_that_of_t_test_with_the_corrected_variance(case):
    for alternative in ("less", "greater", "two-sided"):
        result = hc.corrected_t_test(case["x"], rho=case["rho"], alternative=alternative)
        assert_close(result.statistic, case["statistic"])
        assert_close(result.pvalue, case[alternative.replace("-", "_")])
        if case["rho"] == 0:
            assert_close(result.pvalue, case[f"plain_{alternative.replace('-', '_')}"])
    posterior = hc.correlated_t_test(case["x"], rho=case["rho"], rope=0)
    assert_close([posterior.p_left, posterior.p_right], [case["greater"], case["less"]])


@pytest.mark.parametrize("case", OF_R["poisson_binomial"], ids=lambda case: f"q={len(case['p'])}")
def test_the_poisson_binomial_distribution_is_that_of_ppbinom(case):
    p = np.array(case["p"])
    found = poisson_binomial(p, 1 - p)
    assert_close(found.pmf, case["mass"])
    assert_close(found.cdf, case["at_most"])
    assert_close(found.sf, case["more_than"])


@pytest.mark.parametrize("case", OF_R["signed_rank"], ids=lambda case: f"n={len(case['x'])}")
def test_the_signed_rank_test_is_that_of_wilcox_test(case):
    result = hc.signed_rank_test(case["x"])
    assert_close(result.pvalue, case["two_sided"])
    n = len(case["x"])
    assert result.statistic == min(case["statistic"], n * (n + 1) / 2 - case["statistic"])  # R's is of positive ranks


@pytest.mark.parametrize("case", OF_R["friedman"], ids=lambda case: f"k={len(case['scores'][0])}")
def test_friedmans_test_with_ties_is_that_of_friedman_test(case):
    result = hc.friedman_test(np.array(case["scores"]))
    assert_close([result.statistic, result.pvalue], [case["statistic"], case["p"]])
