"""Refits under variants are what a user would get by hand; a changed verdict is flagged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.plots import plot_sensitivity
from hiercomp.posterior.sensitivity import Sensitivity, VariantResult, variants

NAMES = ["nu: juarez_steel", "nu: kruschke", "nu: gaussian", "rho x 0.5", "rho x 2", "upper bounds x 100"]


@pytest.fixture(scope="module")
def integrated(scores) -> hc.ComparisonResult:
    return hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01).fit("quadrature")


@pytest.fixture(scope="module")
def sensitivity(integrated) -> Sensitivity:
    return integrated.sensitivity()


def test_the_variants_are_the_other_priors_correlations_and_bounds():
    assert [variant.name for variant in variants(hc.Priors())] == NAMES
    other = [variant.name for variant in variants(hc.Priors.kruschke())]
    assert "nu: default" in other
    assert "nu: kruschke" not in other
    narrow = [variant.name for variant in variants(hc.Priors(sigma_upper=100.0, sigma0_upper=100.0))]
    assert "upper bounds x 1000" in narrow
    assert "upper bounds x 100" not in narrow


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nu: kruschke", {"priors": hc.Priors.kruschke()}),
        ("nu: gaussian", {"priors": hc.Priors.gaussian()}),
        ("rho x 2", {"rho": 0.2}),
        ("upper bounds x 100", {"priors": hc.Priors(sigma_upper=100.0, sigma0_upper=100.0)}),
    ],
)
def test_each_variant_is_the_fit_that_one_would_make_by_hand(scores, sensitivity, name, arguments):
    by_hand = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01, **arguments).fit("quadrature")
    row = sensitivity.to_frame().loc[name]
    seen = by_hand.next_dataset
    assert [row["p_left"], row["p_rope"], row["p_right"]] == [seen.p_left, seen.p_rope, seen.p_right]
    assert row["status"] == by_hand.status


def test_the_first_row_is_the_comparison_itself(integrated, sensitivity):
    seen = integrated.next_dataset
    row = sensitivity.to_frame().iloc[0]
    assert row.name == "as fitted"
    assert [row["p_left"], row["p_rope"], row["p_right"]] == [seen.p_left, seen.p_rope, seen.p_right]
    assert sensitivity.to_frame().index[1:].tolist() == NAMES


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hiercomp.errors.RefitWarning")
def test_a_sampled_result_is_sampled_again_with_the_options_given_in_any_number_of_processes(scores, result):
    options = {"warmup": 500, "draws": 500, "monte_carlo_error": None}
    one, two = (result.sensitivity(n_jobs=jobs, **options).to_frame() for jobs in (1, 2))
    assert one.equals(two)
    comparison = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01, priors=hc.Priors.gaussian())
    seen = comparison.fit("embedded", progress=False, **options).next_dataset
    assert one.loc["nu: gaussian", ["p_left", "p_rope", "p_right"]].tolist() == list(seen.probabilities.values())
    assert one.loc["nu: gaussian", "error"] == seen.largest_error


def made(*verdicts: str) -> Sensitivity:
    rows = [
        VariantResult(f"v{number}", *np.eye(3)[("left", "rope", "right").index(verdict)], 0.001, verdict, "ok")
        if verdict in ("left", "rope", "right")
        else VariantResult(f"v{number}", *[np.nan] * 4, "failed", "failed")
        for number, verdict in enumerate(verdicts)
    ]
    return Sensitivity(tuple(rows), ("bayes", "tree"), 0.05, hc.Rope.of(0.01))


def test_a_changed_verdict_is_flagged_and_said():
    changed = made("right", "right", "rope", "failed")
    assert (changed.changed, changed.failed) == (("v2",), ("v3",))
    assert changed.to_frame()["changed"].tolist() == [False, False, True, False]
    assert "changes under 1 variant of 2: v2. The computation of 1 variant failed: v3." in str(changed)
    assert changed.to_frame()["verdict"].tolist() == ["tree better", "tree better", "practically equivalent", "failed"]
    same = made("left", "left")
    assert same.changed == ()
    assert "The verdict (bayes better) is the same under the only variant." in str(same)
    assert made("left", "failed").conclusion.startswith(
        "The verdict (bayes better) could not be compared. The computation"
    )
    unknown = made("left", "left", "failed").conclusion
    assert (
        "is the same under the only variant that could be computed. The computation of 1 variant failed: v2." in unknown
    )


def test_the_plot_draws_the_table():
    ax = plot_sensitivity(made("right", "rope", "failed"))
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(3, 3)
    np.testing.assert_array_equal(widths, [[0, 0, 0], [0, 1, 0], [1, 0, 0]])
    words = [text.get_text() for text in ax.texts]
    assert words == ["tree better", "practically equivalent (changed)", "failed"]


def test_identical_algorithms_have_nothing_to_vary(identical):
    found = identical.sensitivity()
    assert len(found.variants) == 1
    assert "identical everywhere" in str(found)


def test_a_doubled_correlation_stays_below_one(integrated, monkeypatch):
    doubled = [variant for variant in variants(hc.Priors()) if variant.name == "rho x 2"]
    monkeypatch.setattr("hiercomp.posterior.sensitivity.variants", lambda priors, **_: doubled)
    strong = replace(integrated, differences=replace(integrated.differences, rho=np.full(8, 0.7)))
    found = strong.sensitivity()
    assert found.to_frame().loc["rho x 2", "status"] in ("ok", "warned", "failed")


def test_a_variant_of_the_priors_keeps_a_correlation_of_nearly_one(scores):
    arguments = {"rope": 0.01, "rho": 0.995}
    found = hc.HierarchicalComparison(scores, "bayes", "tree", **arguments).fit("quadrature").sensitivity()
    by_hand = hc.HierarchicalComparison(scores, "bayes", "tree", priors="gaussian", **arguments).fit("quadrature")
    assert found.to_frame().loc["nu: gaussian", "p_right"] == by_hand.next_dataset.p_right


@pytest.mark.parametrize("options", [{"alpha": 0.6}, {"n_jobs": 1.5}, {"n_jobs": "2"}])
def test_wrong_arguments_are_refused(result, options):
    with pytest.raises(hc.ArgumentError):
        result.sensitivity(**options)


def test_bayes_factors_are_ratios_of_marginal_likelihoods(integrated, sensitivity):
    found = sensitivity.to_frame()["log_bayes_factor"]
    assert found["as fitted"] == 0
    kruschke = hc.HierarchicalComparison.from_differences(integrated.differences, priors=hc.Priors.kruschke())
    other = kruschke.fit("quadrature")
    expected = other.log_marginal_likelihood - integrated.log_marginal_likelihood
    error = other.log_marginal_likelihood_error + integrated.log_marginal_likelihood_error
    assert found["nu: kruschke"] == pytest.approx(expected, abs=error)
    assert error < 2.8e-3


def test_variants_of_the_prior_on_nu_keep_the_bounds(scores):
    priors = hc.Priors(delta0_bound=0.005, sigma_upper=50.0, sigma0_upper=70.0)
    for variant in variants(priors):
        if variant.name.startswith("nu:"):
            kept = variant.priors
            assert (kept.delta0_bound, kept.sigma_upper, kept.sigma0_upper) == (0.005, 50.0, 70.0)
    assert "nu: default" not in [variant.name for variant in variants(priors)]


def test_spread_that_came_from_the_first_rope_stays_under_another():
    a = np.random.default_rng(3).normal(0.8, 0.02, (8, 10))
    b = a + np.random.default_rng(4).normal(0.02, 0.02, a.shape)
    b[:4] = a[:4] + 0.012
    with pytest.warns(hc.DegenerateScoresWarning):
        result = hc.HierarchicalComparison.from_arrays(a, b, folds=10, rope=0.01).fit("quadrature")
    first, wider, none = (
        each.sensitivity().to_frame() for each in (result, result.with_rope(0.02), result.with_rope(0))
    )
    np.testing.assert_allclose(wider["log_bayes_factor"], first["log_bayes_factor"], atol=1e-9)
    np.testing.assert_allclose(none["log_bayes_factor"], first["log_bayes_factor"], atol=1e-9)


def test_an_unknown_option_is_refused_before_any_fit(result):
    with pytest.raises(hc.ArgumentError, match=r"'drawss' is not an option of a fit\. Did you mean 'draws'"):
        result.sensitivity(drawss=5)


def test_rho_is_varied_where_it_is_one_correlation_above_zero(scores):
    for rho in (0, hc.Correlation(within=0.2, across=0.1)):
        found = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01, rho=rho).fit("quadrature").sensitivity()
        assert found.to_frame().index[1:].tolist() == [name for name in NAMES if not name.startswith("rho")]


def test_a_comparison_made_again_has_the_notes_of_its_own_rope():
    a = np.random.default_rng(3).normal(0.8, 0.02, (8, 10))
    b = a + np.random.default_rng(4).normal(0.02, 0.02, a.shape)
    b[:4] = a[:4] + 0.012
    with pytest.warns(hc.DegenerateScoresWarning, match="is set to 0.00577"):
        first = hc.HierarchicalComparison.from_arrays(a, b, folds=10, rope=0.01)
    with pytest.warns(hc.DegenerateScoresWarning, match="is set to 0.0115"):
        again = hc.HierarchicalComparison.from_differences(first.differences, rope=0.02)
    assert [note.key for note in again.differences.notes].count("constant_datasets") == 1


def test_no_variant_is_the_comparison_again_or_changes_two_things():
    fixed = [variant.name for variant in variants(hc.Priors(population="gaussian", alpha=2.0, beta=0.1))]
    assert "nu: gaussian" not in fixed
    of_mixture = {
        variant.name: variant.priors for variant in variants(hc.Priors(population="mixture", sigma_upper=5.0))
    }
    assert of_mixture["population: student_t"] == hc.Priors(sigma_upper=5.0)
    narrow = {variant.name: variant.priors for variant in variants(hc.Priors(), trinomial=True)}
    assert narrow["upper bound x 100"] == hc.Priors(sigma0_upper=100.0)
    half_normal = hc.Priors(sigma0=hc.HalfNormal(0.02))
    assert "upper bound x 100" in [variant.name for variant in variants(half_normal)]
    assert "upper bound x 100" not in [variant.name for variant in variants(half_normal, trinomial=True)]


def test_a_failed_computation_has_no_verdict_that_could_change():
    seen = made("failed", "left", "rope")
    assert seen.changed == ()
    assert "no verdict to compare with" in seen.conclusion
    assert not seen.to_frame()["changed"].any()
