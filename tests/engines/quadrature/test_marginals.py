"""Marginals of the population against an integration that shares no code with the project."""

from __future__ import annotations

import numpy as np
import pytest

import hiercomp as hc
from tests.conftest import simulated_scores
from tests.engines.quadrature.reference_quadrature import next_dataset

LEVELS = np.array([0.025, 0.5, 0.975])


@pytest.mark.slow
@pytest.mark.parametrize("gaussian", [False, True])
def test_means_deviations_and_quantiles_agree_with_an_independent_integration(gaussian):
    # 1e-2 standard deviations: the reference takes 60 values of sigma0 and 24 of nu
    scores = simulated_scores(14, runs=1, centre=0.012, spread=0.01, seed=3)
    priors = hc.Priors.gaussian() if gaussian else hc.Priors()
    result = hc.compare(scores, "bayes", "tree", rope=0.01, priors=priors, engine="quadrature")
    given = result.differences
    exact = next_dataset(
        given.mean, given.sum_of_squares, given.n, given.rho, rope=0.01, bound=given.delta0_bound, gaussian=gaussian
    )
    table = result.population()
    assert list(table.index) == (["delta0", "sigma0"] if gaussian else ["delta0", "sigma0", "nu"])
    for name, row in table.iterrows():
        mean, sd = exact.moments(name)
        assert row["sd"] == pytest.approx(sd, rel=0.01)
        assert row["mean"] == pytest.approx(mean, abs=0.01 * sd)
        np.testing.assert_allclose(row[["lower", "median", "upper"]], exact.quantiles(name, LEVELS), atol=0.02 * sd)
        assert row["mean_error"] < 0.001 * sd


@pytest.mark.slow
def test_marginals_are_those_of_many_independent_draws():
    # Of 200,000 draws a quantile at 2.5% has a standard error of about 0.006 standard deviations
    scores = simulated_scores(5, runs=1, centre=0.012, spread=0.01, seed=3)
    result = hc.compare(
        scores, "bayes", "tree", rope=0.01, engine="quadrature", chains=10, draws=20_000, keep="population"
    )
    for name, row in result.population().iterrows():
        values = result.draws(name).ravel()
        quantiles, width = np.quantile(values, LEVELS), np.ptp(np.quantile(values, [0.16, 0.84])) / 2
        np.testing.assert_allclose(row[["lower", "median"]], quantiles[:2], atol=0.03 * width)
        assert (values < row["upper"]).mean() == pytest.approx(0.975, abs=4 * np.sqrt(0.975 * 0.025 / values.size))
