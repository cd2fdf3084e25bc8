"""The next data set from the priors alone, against integrals over the priors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import hiercomp as hc
from tests.conftest import simulated_scores

PROPER = {"delta0": hc.Normal(0.01, 0.05), "sigma0": hc.HalfNormal(0.03)}


@pytest.fixture(scope="module")
def scores():
    return simulated_scores(12, runs=1, centre=0.01, spread=0.02, seed=5)


def comparison(scores, left="bayes", right="tree", rope=0.01, **priors) -> hc.HierarchicalComparison:
    return hc.HierarchicalComparison(scores, left, right, rope=rope, priors=hc.Priors(**priors))


def test_expected_probabilities_are_integrals_over_the_priors(scores):
    found = comparison(scores, population="gaussian", **PROPER).prior_predictive(draws=40_000, seed=3)

    def beyond(value):  # P(difference > value): delta0 and the difference are normal, given sigma0
        def density(sigma0):
            return 2 * stats.norm.pdf(sigma0, 0, 0.03) * stats.norm.sf(value, 0.01, np.hypot(0.05, sigma0))

        return integrate.quad(density, 0, 0.3)[0]

    expected = {"left": 1 - beyond(-0.01), "rope": beyond(-0.01) - beyond(0.01), "right": beyond(0.01)}
    for region, value in expected.items():
        error = found.next_dataset.errors[f"expected_{region}"]
        assert 0 < error < 0.005
        assert found.next_dataset.expected[region] == pytest.approx(value, abs=4 * error)
    share = (found.differences > 0.05).mean()
    assert share == pytest.approx(beyond(0.05), abs=4 * 0.5 / np.sqrt(40_000))
    assert set(found.parameters) == {"delta0", "sigma0"}


def test_uniform_priors_imply_differences_that_no_scores_have(scores):
    """sigma0 goes up to 1000 times the sd of the means: most differences are beyond [-1, 1]."""
    found = comparison(scores).prior_predictive()
    upper = 1000 * comparison(scores).differences.mean.std(ddof=1)
    assert found.parameters["sigma0"].max() == pytest.approx(upper, rel=0.01)
    assert found.largest == 1.0
    generator, size = np.random.default_rng(9), 40_000
    nu = 1 + generator.gamma(generator.uniform(0.5, 5, size), 1 / generator.uniform(0.05, 0.15, size))
    difference = generator.uniform(-1, 1, size) + generator.uniform(0, upper, size) * generator.standard_t(nu)
    assert found.beyond == pytest.approx((np.abs(difference) > 1).mean(), abs=4 * 0.5 / np.sqrt(10_000))
    assert found.beyond > 0.8
    assert "larger than 1, the largest that the scores allow" in found.conclusion
    assert found.next_dataset.expected["rope"] < 0.01


def test_the_scale_of_other_metrics_is_the_largest_difference_that_was_seen(scores):
    percent = scores.assign(score=100 * scores["score"])
    found = comparison(percent, rope=1.0).prior_predictive()
    wide = percent.pivot_table(index=["dataset", "run", "fold"], columns="algorithm", values="score")
    assert found.largest == pytest.approx((wide["tree"] - wide["bayes"]).abs().max())
    assert "the largest that was seen" in found.conclusion


def test_quantiles_stand_beside_those_of_the_observed_means(scores):
    frame = comparison(scores, **PROPER).prior_predictive(seed=1).to_frame()
    means = comparison(scores).differences.mean
    assert list(frame.index) == ["next difference", "delta0", "sigma0", "nu", "observed means"]
    np.testing.assert_allclose(frame.loc["observed means"], np.quantile(means, [0.025, 0.25, 0.5, 0.75, 0.975]))
    expected = stats.norm.ppf([0.025, 0.5, 0.975], 0.01, 0.05)
    np.testing.assert_allclose(frame.loc["delta0", ["2.5%", "50%", "97.5%"]], expected, atol=4 * 0.05 * 2.7 / 100)


def test_a_result_has_the_same_and_a_seed_decides(scores):
    own = comparison(scores, **PROPER)
    first, second = own.prior_predictive(seed=2), own.fit("quadrature").prior_predictive(seed=2)
    np.testing.assert_array_equal(first.differences, second.differences)
    assert str(first) == str(second)
    assert not np.array_equal(first.differences, own.prior_predictive(seed=3).differences)


@pytest.mark.parametrize("draws", [99, 2_000_000, 1000.5, True])
def test_invalid_numbers_of_draws_are_refused(scores, draws):
    with pytest.raises(hc.ArgumentError, match="draws"):
        comparison(scores).prior_predictive(draws=draws)


def test_identical_scores_have_no_unit(identical):
    with pytest.raises(hc.ArgumentError, match="identical"):
        identical.prior_predictive()
