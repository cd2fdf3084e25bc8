"""Leaving out a data set is the integral of the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hiercomp as hc
from hiercomp.posterior.influence import Influence
from tests.conftest import simulated_scores

CHANGES = ["change_p_left", "change_p_rope", "change_p_right"]


@pytest.fixture(scope="module")
def undecided() -> hc.ComparisonResult:
    """Ten data sets around the edge of the rope: the probabilities are not near 0 or 1."""
    return integrated(simulated_scores(10, centre=0.01, spread=0.02, seed=5))


@pytest.fixture(scope="module")
def many() -> hc.ComparisonResult:
    """So many that delta0 has one peak."""
    return integrated(simulated_scores(30, runs=1, centre=0.01, spread=0.02, seed=6))


def integrated(frame, **options) -> hc.ComparisonResult:
    return hc.compare(frame, "bayes", "tree", rope=0.01, engine="quadrature", **options)


@pytest.mark.parametrize("which", ["undecided", "many"])
def test_leaving_out_a_data_set_is_the_integral_of_the_others(which, request):
    result = request.getfixturevalue(which)
    found, names = result.influence(), result.differences.dataset_names
    assert np.abs(found.without - found.all).max() > 0.01  # there is something to get right
    np.testing.assert_allclose(found.without.sum(axis=1), 1, atol=1e-9)
    for place in (0, 4, len(names) - 1):
        rest = result.differences.subset([name for name in names if name != names[place]])
        again = hc.HierarchicalComparison.from_differences(rest, rope=0.01).fit("quadrature").next_dataset
        error = again.largest_error + result.next_dataset.largest_error
        np.testing.assert_allclose(found.without[place], list(again.probabilities.values()), atol=error)


def test_equal_data_sets_are_left_out_alike():
    frame = simulated_scores(12, runs=1, centre=0.01, spread=0.02, seed=6)
    twin = frame[frame["dataset"] == "d3"].assign(dataset="twin")
    result = integrated(pd.concat([frame, twin]))
    found = result.influence()
    places = [found.dataset_names.index(name) for name in ("d3", "twin")]
    np.testing.assert_array_equal(*found.without[places])
    seen = integrated(frame).next_dataset  # what is left without the twin, but for the priors' bounds
    error = seen.largest_error + result.next_dataset.largest_error
    np.testing.assert_allclose(found.without[places[0]], list(seen.probabilities.values()), atol=1e-3 + error)


def test_a_sampled_result_has_the_influence_of_the_integrated_one(scores, result):
    np.testing.assert_array_equal(result.influence().without, integrated(scores).influence().without)


def test_a_data_set_far_from_the_others_is_left_out_by_a_new_integration():
    frame = simulated_scores(7, centre=0.0, spread=0.002, noise=0.01, seed=3)
    outlier = (frame["dataset"] == "d3") & (frame["algorithm"] == "tree")
    frame.loc[outlier, "score"] -= 0.5
    found = integrated(frame, priors=hc.Priors.gaussian()).influence()
    place = found.dataset_names.index("d3")
    assert found.refitted[place]
    seen = integrated(frame[frame["dataset"] != "d3"], priors=hc.Priors.gaussian()).next_dataset
    np.testing.assert_allclose(found.without[place], list(seen.probabilities.values()), atol=2 * seen.largest_error)


@pytest.mark.slow
def test_a_far_data_set_among_thirteen_is_left_out_by_a_new_integration():
    """Its grid is placed for both groups, too coarsely for the others alone."""
    frame = simulated_scores(13, runs=1, centre=0.005, spread=0.003, noise=0.01, seed=4)
    frame.loc[(frame["dataset"] == "d3") & (frame["algorithm"] == "tree"), "score"] -= 0.4
    result = integrated(frame)
    found = result.influence()
    place = found.dataset_names.index("d3")
    assert found.refitted.tolist() == [number == place for number in range(13)]
    for name in ("d3", "d5"):
        rest = integrated(frame[frame["dataset"] != name]).next_dataset
        seen = found.without[found.dataset_names.index(name)]
        error = rest.largest_error + result.next_dataset.largest_error
        np.testing.assert_allclose(seen, list(rest.probabilities.values()), atol=error)


@pytest.mark.slow
def test_a_data_set_whose_absence_moves_mass_to_the_faint_part_of_the_grid_is_left_out_by_a_new_integration():
    """A quarter of a per cent of the mass: enough for an error of 0.0006 on the grid of all data sets."""
    generator = np.random.default_rng(0)
    means = 0.01 * generator.standard_t(3, 10)
    means[0] += generator.uniform(0.03, 0.3)
    right = 0.5 + means[:, None] + generator.normal(0, 0.028, (10, 10))
    cells = pd.MultiIndex.from_product([[f"d{i}" for i in range(10)], range(10)], names=["dataset", "fold"])
    both = pd.concat({"bayes": pd.Series(0.5, cells), "tree": pd.Series(right.ravel(), cells)}, names=["algorithm"])
    frame = both.rename("score").reset_index()
    result = integrated(frame, rho=0.1)
    rest = integrated(frame[frame["dataset"] != "d0"], rho=0.1).next_dataset
    error = rest.largest_error + result.next_dataset.largest_error
    assert error < 0.0006
    np.testing.assert_allclose(result.influence().without[0], list(rest.probabilities.values()), atol=error)


@pytest.mark.filterwarnings("ignore::hiercomp.FewDatasetsWarning")
def test_of_four_data_sets_each_is_left_out_by_a_new_integration():
    """The upper bound of sigma0, which follows from the data sets that are left, has mass near it."""
    frame = simulated_scores(4, runs=1, centre=0.005, spread=0.01, seed=7)
    found = integrated(frame).influence()
    assert found.refitted.all()
    rest = integrated(frame[frame["dataset"] != "d1"]).next_dataset
    place = found.dataset_names.index("d1")
    assert found.without[place].tolist() == list(rest.probabilities.values())


def test_the_table_and_the_sentence(undecided):
    found = undecided.influence()
    frame = found.to_frame()
    seen = undecided.next_dataset
    np.testing.assert_allclose(frame["change_p_right"], frame["p_right"] - seen.p_right, atol=1e-15)
    most = frame[CHANGES].abs().max(axis=1).idxmax()
    assert f"Leaving out '{most}' changes a probability most" in str(found)


def test_an_integration_that_failed_is_said():
    unknown = Influence(("a", "b"), np.full((2, 3), np.nan), np.full(3, np.nan), np.zeros(2, bool), ("bayes", "tree"))
    assert "no influence is known" in str(unknown)
    one = replace(unknown, without=np.array([[0.2, 0.3, 0.5], [np.nan] * 3]), all=np.array([0.1, 0.3, 0.6]))
    assert "Leaving out 'a' changes a probability most, by 0.100" in str(one)
    assert "The integration without the data set failed its checks: 'b'." in str(one)


def test_what_has_no_influence_is_refused(identical, failed):
    with pytest.raises(hc.ArgumentError, match="Influence needs scores that differ"):
        identical.influence()
    with pytest.raises(hc.NoVerdictError):
        failed.influence()


def test_a_subset_of_the_data_sets_keeps_their_statistics(result):
    given = result.differences
    kept = given.subset(["d3", "d1"])
    assert kept.dataset_names == ("d3", "d1")
    places = [given.dataset_names.index(name) for name in kept.dataset_names]
    assert kept.mean.tolist() == given.mean[places].tolist()
    assert sorted(kept.scores["dataset"].unique()) == ["d1", "d3"]
    for wrong in (["d3", "d3"], ["x"], []):
        with pytest.raises(hc.ArgumentError, match="some of the data sets, each once"):
            given.subset(wrong)
