"""The checks of the sampler: values as ArviZ has them, and each gate on draws made to fail it."""

from __future__ import annotations

import math

import arviz_base
import arviz_stats
import numpy as np
import pytest
from scipy import signal

from hiercomp.posterior.diagnostics import ExactDiagnostics, IntegrationDiagnostics, diagnose

DATASETS = ("iris", "wine", "zoo")


def good_draws(chains: int = 4, draws: int = 1000, seed: int = 0):
    """Independent draws that pass every check."""
    generator = np.random.default_rng(seed)
    variables = {
        "delta0": generator.normal(size=(chains, draws)),
        "sigma0": generator.gamma(3, size=(chains, draws)),
        "delta": generator.normal(size=(chains, draws, len(DATASETS))),
    }
    statistics = {
        "diverging": np.zeros((chains, draws), dtype=bool),
        "tree_depth": np.full((chains, draws), 3),
        "energy": generator.normal(size=(chains, draws)),
    }
    return variables, statistics


def extreme(dataset, function) -> float:
    return float(function([function(values.to_numpy()) for values in dataset.data_vars.values()]))


def test_values_equal_those_of_arviz_on_the_labelled_draws():
    variables, statistics = good_draws()
    tree = arviz_base.from_dict(
        {"posterior": variables, "sample_stats": statistics},
        coords={"dataset": list(DATASETS)},
        dims={"delta": ["dataset"]},
    )
    found = diagnose(variables, statistics, DATASETS)
    posterior = tree["posterior"].dataset
    assert found.failures == ()
    assert (found.chains, found.draws) == (4, 1000)
    assert found.r_hat == pytest.approx(extreme(arviz_stats.rhat(posterior), np.max), rel=1e-12)
    assert found.ess_bulk == pytest.approx(extreme(arviz_stats.ess(posterior, method="bulk"), np.min), rel=1e-12)
    # ArviZ's own default quantiles and those of Stan and posterior (R) are 5% and 95%
    tail = arviz_stats.ess(posterior, method="tail", prob=(0.05, 0.95))
    assert found.ess_tail == pytest.approx(extreme(tail, np.min), rel=1e-12)
    assert found.e_bfmi == pytest.approx(np.min(arviz_stats.bfmi(tree)["energy"].to_numpy()), rel=1e-12)


def test_the_worst_parameter_is_named():
    variables, statistics = good_draws()
    tree = arviz_base.from_dict(
        {"posterior": variables}, coords={"dataset": list(DATASETS)}, dims={"delta": ["dataset"]}
    )
    r_hat = arviz_stats.rhat(tree["posterior"].dataset)
    by_name = {"delta0": float(r_hat["delta0"]), "sigma0": float(r_hat["sigma0"])}
    by_name |= {f"delta[{name}]": float(r_hat["delta"].sel(dataset=name)) for name in DATASETS}
    assert diagnose(variables, statistics, DATASETS).worst["r_hat"] == max(by_name, key=by_name.get)


@pytest.mark.parametrize(("name", "shown"), [("delta0", "delta0"), ("delta", "delta[zoo]")])
def test_a_chain_that_is_stuck_elsewhere_fails_r_hat_and_is_named(name, shown):
    variables, statistics = good_draws()
    stuck = variables[name][1] if name == "delta0" else variables[name][1, :, -1]
    stuck += 3.0
    found = diagnose(variables, statistics, DATASETS)
    assert found.r_hat > 1.01
    assert found.worst["r_hat"] == shown
    assert any(failure.startswith(f"R-hat of {shown} is ") for failure in found.failures)
    assert not found.to_frame().loc["R-hat", "passes"]


def test_an_autocorrelated_chain_fails_the_effective_sample_sizes():
    # AR(1) with coefficient 0.99: an effective draw is (1 + 0.99)/(1 - 0.99) = 199 draws, so 4000 are about 20
    variables, statistics = good_draws()
    noise = np.random.default_rng(5).standard_normal((4, 1000))
    variables["sigma0"] = signal.lfilter([1], [1, -0.99], noise)
    found = diagnose(variables, statistics, DATASETS)
    assert found.ess_bulk < 100
    assert any(
        "bulk effective sample size of sigma0" in failure and "below 400" in failure for failure in found.failures
    )
    assert any("tail effective sample size of sigma0" in failure for failure in found.failures)


def test_a_chain_with_sticky_tails_fails_the_tail_size_alone():
    # The signs mix, so that the mean is easy; wide and narrow blocks of 100 draws alternate, so that quantiles are not
    variables, statistics = good_draws(draws=2000)
    generator = np.random.default_rng(6)
    scale = np.repeat(np.where(generator.random((4, 20)) < 0.15, 3.0, 0.4), 100, axis=1)
    variables["delta0"] = generator.normal(size=(4, 2000)) * scale
    found = diagnose(variables, statistics, DATASETS)
    assert found.ess_bulk >= 400 > found.ess_tail
    assert any("tail effective sample size of delta0" in failure for failure in found.failures)
    assert not any("bulk" in failure for failure in found.failures)


def test_a_single_divergence_fails():
    variables, statistics = good_draws()
    statistics["diverging"][2, 17] = True
    found = diagnose(variables, statistics, DATASETS)
    assert found.divergences == 1
    assert found.failures == ("1 of 4000 transitions diverged",)
    assert not found.to_frame().loc["divergences", "passes"]


def test_energy_that_creeps_in_one_chain_fails():
    # E-BFMI is sum (E_t - E_{t-1})^2 / sum (E_t - mean)^2 (Betancourt 2016): 2 (1 - coefficient) for AR(1), here 0.2
    variables, statistics = good_draws()
    statistics["energy"][3] = signal.lfilter([1], [1, -0.9], statistics["energy"][3])
    found = diagnose(variables, statistics, DATASETS)
    energy = statistics["energy"][3]
    by_hand = np.sum(np.diff(energy) ** 2) / np.sum((energy - energy.mean()) ** 2)
    assert found.e_bfmi == pytest.approx(by_hand, rel=0.01)
    assert found.failures == (f"E-BFMI is {found.e_bfmi:.2f}, below 0.3",)


def test_saturated_trees_are_counted_but_are_no_failure():
    variables, statistics = good_draws()
    statistics["tree_depth"][0, :5] = 10
    found = diagnose(variables, statistics, DATASETS)
    assert found.tree_depth_saturated == 5
    assert found.failures == ()
    assert "5 times" in str(found)


def test_a_single_chain_is_compared_with_itself():
    variables, statistics = good_draws(chains=1, draws=1000)
    found = diagnose(variables, statistics, DATASETS)
    assert found.failures == ()
    variables["delta0"] = variables["delta0"] + np.linspace(0, 3, 1000)  # drifts: its halves disagree
    drifting = diagnose(variables, statistics, DATASETS)
    assert drifting.worst["r_hat"] == "delta0"
    assert drifting.r_hat > 1.05


@pytest.mark.parametrize("value", [math.nan, 1.5])
def test_what_can_not_be_computed_is_a_failure(value):
    # NaN draws, and a parameter that never moves, have no R-hat
    variables, statistics = good_draws()
    variables["delta"][:, :, 1] = value
    found = diagnose(variables, statistics, DATASETS)
    assert found.r_hat == math.inf
    assert found.worst["r_hat"] == "delta[wine]"
    assert found.failures


def test_energy_without_variation_is_a_failure():
    variables, statistics = good_draws()
    statistics["energy"][:] = 7.0
    found = diagnose(variables, statistics, DATASETS)
    assert any("E-BFMI" in failure for failure in found.failures)


def test_the_frame_passes_where_there_is_no_failure():
    variables, statistics = good_draws()
    frame = diagnose(variables, statistics, DATASETS).to_frame()
    assert frame["passes"].all()
    assert list(frame.index) == ["R-hat", "bulk ESS", "tail ESS", "divergences", "E-BFMI"]


def test_a_hostile_data_set_name_reaches_the_message_escaped():
    variables, statistics = good_draws()
    variables["delta"][1, :, 0] += 3
    found = diagnose(variables, statistics, ("\x1b[31mred", "wine", "zoo"))
    assert "\x1b" not in "".join(found.failures)
    assert "\\x1b[31mred" in found.failures[0]


def test_where_nothing_was_sampled_there_is_nothing_to_check():
    checks = ExactDiagnostics()
    assert (checks.failures, checks.status) == ((), "ok")
    assert checks.to_frame().empty
    assert "nothing was sampled" in str(checks)


@pytest.mark.parametrize(
    ("error", "status"), [(1e-6, "ok"), (0.001, "ok"), (0.002, "warned"), (0.01, "warned"), (0.02, "failed")]
)
def test_an_integration_is_judged_by_its_estimated_error(error, status):
    checks = IntegrationDiagnostics(error, (11, 15, 9))
    assert checks.status == status
    assert bool(checks.failures) == (status == "failed")
    assert checks.to_frame()["passes"].tolist() == [status != "failed"]
    assert checks.to_dict() == {"integration_error": error, "nodes": [11, 15, 9], "failures": list(checks.failures)}
    assert "11 x 15 x 9 nodes" in str(checks)
