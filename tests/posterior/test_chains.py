"""R-hat, effective sample sizes and Monte Carlo errors are ArviZ's."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from arviz_stats.base import array_stats
from scipy import stats

from hiercomp.posterior import chains
from hiercomp.posterior.chains import (
    convergence,
    effective_size_of_mean,
    energy_fraction,
    error_of_mean,
    error_of_median,
)

AXES = {"chain_axis": 0, "draw_axis": 1}
PARAMETERS = 5


def autoregressive(coefficient, shape, seed=1):
    """Chains whose successive draws have this correlation."""
    values = np.random.default_rng(seed).standard_normal(shape)
    for draw in range(1, shape[1]):
        values[:, draw] += coefficient * values[:, draw - 1]
    return values


def with_a_stuck_chain():
    draws = autoregressive(0.3, (4, 200, PARAMETERS))
    draws[0] = draws[0, :1]
    return draws


def with_a_distant_chain():
    return autoregressive(0.3, (4, 200, PARAMETERS)) + np.array([5.0, 0, 0, 0])[:, None, None]


CHAINS = {
    "independent": partial(autoregressive, 0.0, (4, 1000, PARAMETERS)),
    "correlated": partial(autoregressive, 0.7, (4, 1000, PARAMETERS)),
    "antithetic": partial(autoregressive, -0.7, (4, 1000, PARAMETERS)),
    "hardly moving": partial(autoregressive, 0.999, (4, 1000, PARAMETERS)),
    "odd length": partial(autoregressive, 0.5, (3, 333, PARAMETERS)),
    "many short chains": partial(autoregressive, 0.2, (20, 30, PARAMETERS)),
    "ties": lambda: np.round(autoregressive(0.5, (4, 500, PARAMETERS))),
    "heavy tails": lambda: np.sinh(5 * autoregressive(0.5, (4, 500, PARAMETERS))),
    "tiny unit": lambda: 1e-8 * autoregressive(0.5, (4, 500, PARAMETERS)),
    "stuck chain": with_a_stuck_chain,
    "distant chain": with_a_distant_chain,
}


@pytest.fixture(params=list(CHAINS))
def draws(request):
    return CHAINS[request.param]()


def test_convergence_is_arvizs(draws, monkeypatch):
    monkeypatch.setattr(chains, "BLOCK", PARAMETERS - 2)  # two blocks, the last one not full
    ours = convergence(draws)
    np.testing.assert_allclose(ours["r_hat"], array_stats.rhat(draws, **AXES), rtol=1e-12)
    np.testing.assert_allclose(ours["ess_bulk"], array_stats.ess(draws, method="bulk", **AXES), rtol=1e-10)
    tail = array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **AXES)
    np.testing.assert_allclose(ours["ess_tail"], tail, rtol=1e-10)


def test_monte_carlo_errors_are_arvizs(draws):
    for parameter in range(3):
        values = draws[:, :, parameter]
        size = array_stats.ess(values, method="mean", **AXES)
        assert effective_size_of_mean(values) == pytest.approx(float(size), rel=1e-10)
        mean = array_stats.mcse(values, method="mean", **AXES)
        assert error_of_mean(values) == pytest.approx(float(mean), rel=1e-10)
        median = array_stats.mcse(values, method="quantile", prob=0.5, **AXES)
        assert error_of_median(values) == pytest.approx(float(median), rel=1e-10)


def test_energy_fraction_is_the_smallest_of_arvizs():
    energy = autoregressive(0.9, (4, 500))
    assert energy_fraction(energy) == pytest.approx(float(np.min(array_stats.bfmi(energy, **AXES))), rel=1e-12)


def test_one_chain_is_compared_with_itself():
    chain = autoregressive(0.5, (1, 400, 1))
    halves = chain[0, :, 0].reshape(2, 200)
    expected = []
    for values in (halves, np.abs(halves - np.median(halves))):
        scores = stats.norm.ppf((stats.rankdata(values) - 3 / 8) / (400 + 1 / 4)).reshape(2, 200)
        expected.append(array_stats.rhat(scores, method="identity", **AXES))
    assert convergence(chain)["r_hat"][0] == pytest.approx(float(max(expected)), rel=1e-12)
    sizes = array_stats.ess(chain, method="bulk", **AXES)
    assert convergence(chain)["ess_bulk"][0] == pytest.approx(float(sizes[0]), rel=1e-10)


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e9])
def test_a_parameter_that_never_moves_has_no_r_hat(constant):
    draws = autoregressive(0.5, (4, 100, 2))
    draws[:, :, 1] = constant
    found = convergence(draws)
    assert np.isnan(found["r_hat"]).tolist() == [False, True]
    assert found["ess_bulk"][1] == found["ess_tail"][1] == effective_size_of_mean(draws[:, :, 1]) == 400


def test_a_draw_that_is_not_a_number_spoils_its_parameter_alone():
    draws = autoregressive(0.5, (4, 100, 2))
    draws[2, 50, 0] = np.nan
    for values in convergence(draws).values():
        assert np.isnan(values).tolist() == [True, False]
    assert np.isnan(effective_size_of_mean(draws[:, :, 0]))
