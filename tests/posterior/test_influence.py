"""Leaving out a data set by importance weights agrees with a new fit, and says where it needs one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

import hiercomp as hc
from hiercomp.posterior.influence import log_marginal_likelihoods
from tests.conftest import simulated_scores

REFERENCE = (0.02, 0.1, 5.0)  # a population: delta0, sigma0, nu


def made(mean, standard_deviation, n) -> hc.PairedDifferences:
    """Differences with these statistics, rho 0.1."""
    generator = np.random.default_rng(1)
    rows = []
    for centre, spread, size in zip(mean, standard_deviation, n, strict=True):
        z = generator.normal(size=size)
        rows.append(centre + spread * (z - z.mean()) / z.std(ddof=1))
    return hc.PairedDifferences.from_arrays([np.zeros(len(row)) for row in rows], rows, rho=0.1)


@pytest.mark.parametrize(
    ("delta0", "sigma0", "nu"),
    [(0.01, 0.02, 4.0), (0.0, 1e-5, 1.2), (0.0, 3.0, 30.0), (0.1, 0.001, 1.05), (-0.2, 0.02, np.inf)],
)
def test_the_marginal_likelihood_agrees_with_adaptive_quadrature(delta0, sigma0, nu):
    # A wide and a narrow population, outlying data sets in heavy and in Gaussian tails, n from 3 on
    given = made([0.01, 0.3, -0.05, 0.0], [0.02, 0.01, 0.2, 0.001], [10, 100, 3, 30])
    population = (np.array([value, other]) for value, other in zip((delta0, sigma0, nu), REFERENCE, strict=True))
    logs = log_marginal_likelihoods(
        *population, given, hc.Priors(sigma_upper=1e8)
    )  # no bound, as in the densities below
    exact = [log_densities(given, *of) for of in ((delta0, sigma0, nu), REFERENCE)]
    # Up to a constant of each data set, which their difference is free of
    np.testing.assert_allclose(logs[0] - logs[1], exact[0] - exact[1], rtol=1e-6, atol=1e-6)


def log_densities(given: hc.PairedDifferences, delta0: float, sigma0: float, nu: float) -> np.ndarray:
    """Log of the integral of the Student-t densities of the population and of each data set's mean."""
    n = given.n
    scale = np.sqrt(given.sum_of_squares / 0.9 * (1 + (n - 1) * 0.1) / n / (n - 2))
    population = density(nu, delta0, sigma0)
    exact = []
    for i in range(len(n)):
        own = density(n[i] - 2, given.mean[i], scale[i])
        widths = np.array([0.01, 0.1, 0.3, 1, 3, 10, 100, 1e4])
        ends = np.unique(
            np.concatenate(
                [c + s * np.r_[-widths, 0, widths] for c, s in ((delta0, sigma0), (given.mean[i], scale[i]))]
            )
        )
        pieces = [
            integrate.quad(lambda d, o=own: population(d) * o(d), a, b, epsabs=0, epsrel=1e-9)[0]
            for a, b in itertools.pairwise(ends)
        ]
        exact.append(np.log(sum(pieces)))
    return np.array(exact)


def density(nu: float, centre: float, scale: float) -> Callable[[float], float]:
    """The Student-t density; SciPy's takes far longer where it is asked for one number at a time."""
    expected = stats.norm(centre, scale) if np.isinf(nu) else stats.t(nu, centre, scale)
    height, power = float(expected.pdf(centre)), (nu + 1) / 2

    def value(at: float) -> float:
        square = ((at - centre) / scale) ** 2
        return height * (math.exp(-square / 2) if math.isinf(nu) else (1 + square / nu) ** -power)

    for distance in (-3.0, 0.5, 20.0):
        at = centre + distance * scale
        assert value(at) == pytest.approx(expected.pdf(at), rel=1e-11)
    return value


def test_weights_agree_with_new_fits(scores, result):
    weighted, refitted = result.influence(), result.influence(refit_all=True, engine="quadrature")
    assert refitted.refitted.all()
    assert weighted.to_frame().index.tolist() == list(result.differences.dataset_names)
    # Probabilities near 0 and 1: errors of the draws at most 0.005, of four; the new fits are integrals
    np.testing.assert_allclose(weighted.without, refitted.without, atol=4 * 0.005 * np.sqrt(2))
    for name in ("d0", "d5"):
        by_hand = hc.HierarchicalComparison(scores[scores["dataset"] != name], "bayes", "tree", rope=0.01)
        seen = by_hand.fit("quadrature").next_dataset
        row = weighted.without[weighted.dataset_names.index(name)]
        np.testing.assert_allclose(row, [seen.p_left, seen.p_rope, seen.p_right], atol=4 * 0.005 * np.sqrt(2))


@pytest.fixture(scope="module")
def undecided() -> hc.ComparisonResult:
    """Ten data sets around the edge of the rope, so that the probabilities are not near 0 or 1."""
    frame = simulated_scores(10, centre=0.01, spread=0.02, seed=5)
    return hc.HierarchicalComparison(frame, "bayes", "tree").fit("embedded", progress=False)


def test_influence_agrees_with_new_fits_where_data_sets_matter(undecided):
    weighted, refitted = undecided.influence(), undecided.influence(refit_all=True, engine="quadrature")
    assert not weighted.refitted.any()
    changes = np.abs(refitted.without - refitted.all).max()
    assert changes > 0.05  # there is something to get right
    np.testing.assert_allclose(weighted.without, refitted.without, atol=4 * 0.005 * np.sqrt(2) + 0.01)
    np.testing.assert_allclose(weighted.without.sum(axis=1), 1, atol=1e-12)


def test_the_table_and_the_sentence(undecided):
    found = undecided.influence()
    frame = found.to_frame()
    seen = undecided.next_dataset
    np.testing.assert_allclose(frame["change_p_right"], frame["p_right"] - seen.p_right, atol=1e-15)
    most = frame[["change_p_left", "change_p_rope", "change_p_right"]].abs().max(axis=1).idxmax()
    assert f"Leaving out '{most}' changes a probability most" in str(found)


def test_a_data_set_whose_weights_fail_is_left_out_by_a_new_fit():
    frame = simulated_scores(7, centre=0.0, spread=0.002, noise=0.01, seed=3)
    outlier = (frame["dataset"] == "d3") & (frame["algorithm"] == "tree")
    frame.loc[outlier, "score"] -= 0.5
    result = hc.HierarchicalComparison(frame, "bayes", "tree", priors=hc.Priors.gaussian()).fit(
        "embedded", progress=False
    )
    found = result.influence()
    place = found.dataset_names.index("d3")
    assert found.k_hat[place] > 0.7
    assert found.refitted.tolist() == (found.k_hat > 0.7).tolist()
    by_hand = hc.HierarchicalComparison(frame[frame["dataset"] != "d3"], "bayes", "tree", priors=hc.Priors.gaussian())
    seen = by_hand.fit("embedded", progress=False).next_dataset
    np.testing.assert_allclose(found.without[place], [seen.p_left, seen.p_rope, seen.p_right], atol=0.03)


def test_what_has_no_influence_is_refused(identical, failed):
    with pytest.raises(hc.ArgumentError, match="at least 3 data sets and scores that differ"):
        identical.influence()
    with pytest.raises(hc.NoVerdictError):
        failed.influence()


@pytest.mark.parametrize("options", [{"refit_all": "no"}, {"n_jobs": 0.5}])
def test_wrong_arguments_are_refused(result, options):
    with pytest.raises(hc.ArgumentError):
        result.influence(**options)


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
