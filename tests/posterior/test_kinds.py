"""The kinds of posterior answer the same questions, each in its own way."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.posterior.kinds import Exact, Integrated, Posterior, Sampled, Verified
from hiercomp.posterior.mixed import Mixed
from hiercomp.posterior.saved import posterior_from
from tests.conftest import simulated_scores


@pytest.fixture(scope="module")
def integrated(scores) -> hc.ComparisonResult:
    return hc.compare(scores, "bayes", "tree", rope=0.01, engine="quadrature", draws=200)


@pytest.fixture(scope="module")
def verified(scores) -> hc.ComparisonResult:
    return hc.compare(scores, "bayes", "tree", rope=0.01, engine="auto", progress=False)


@pytest.fixture(scope="module")
def mixed() -> hc.ComparisonResult:
    scores = simulated_scores(24, 1, centre=0.01, spread=0.02)
    return hc.compare(scores, "bayes", "tree", rope=0.01, population="mixture")


@pytest.fixture(params=["result", "integrated", "verified", "identical", "mixed"])
def fit(request) -> hc.ComparisonResult:
    return request.getfixturevalue(request.param)


def test_each_engine_makes_its_kind(result, integrated, verified, identical, mixed):
    kinds = [(Sampled, result), (Integrated, integrated), (Verified, verified), (Exact, identical), (Mixed, mixed)]
    assert [type(each.posterior) for _, each in kinds] == [kind for kind, _ in kinds]
    assert [each.engine_name for _, each in kinds] == ["embedded", "quadrature", "auto", "none", "mixture"]


@pytest.mark.parametrize("kind", [Sampled, Integrated, Verified, Exact, Mixed])
def test_a_kind_has_all_that_the_interface_names(kind):
    names = {name for name in vars(Posterior) if not name.startswith("_")} | {"kind", "remakes_draws"}
    fields = set(inspect.get_annotations(kind)) | set(dir(kind))
    assert names <= fields


def test_every_kind_answers_the_same_questions(fit):
    posterior = fit.posterior
    inference = posterior.next_dataset(fit.rope)
    assert sum(inference.probabilities.values()) == pytest.approx(1, abs=1e-12)
    assert fit.next_dataset == inference
    assert list(map(str, posterior.odds(inference))) == list(map(str, fit.odds()))
    assert posterior.draws("delta").shape[-1] == len(fit.differences.dataset_names)
    assert not posterior.draws("delta0").flags.writeable
    assert posterior.expected_delta0 == pytest.approx(posterior.draws("delta0").mean(), abs=0.005)
    assert posterior.computation in str(fit.summary())
    assert posterior.error_words.name in fit.summary().legend
    assert all(name and text for name, text in posterior.facts)
    assert json.loads(json.dumps(posterior.to_dict(), allow_nan=False))["kind"] == posterior.kind


def test_draws_are_those_of_the_tree(fit):
    group = fit.datatree["posterior"].dataset
    assert fit.posterior.parameters == tuple(group.data_vars)
    for name in fit.posterior.parameters:
        np.testing.assert_array_equal(fit.draws(name), group[name].values)


def test_integrated_draws_do_not_depend_on_what_is_asked_first(scores, integrated):
    again = hc.compare(scores, "bayes", "tree", rope=0.01, engine="quadrature", draws=200)
    names = ("sigma", "beta", "delta0", "delta", "alpha", "sigma0", "nu")
    found = {name: again.draws(name) for name in names}
    for name in reversed(names):
        np.testing.assert_array_equal(found[name], integrated.draws(name))


def test_a_summary_makes_no_tree_and_no_draws_of_single_datasets(scores):
    fit = hc.compare(scores, "bayes", "tree", rope=0.01, engine="quadrature", draws=200)
    fit.summary()
    made = set(vars(fit.posterior))
    assert not {"datatree", "_variables"} & made
    fit.datatree  # noqa: B018
    assert {"datatree", "_variables"} <= set(vars(fit.posterior))


def test_the_probabilities_alone_are_those_with_errors(fit):
    inference = fit.posterior.next_dataset(fit.rope)
    assert fit.posterior.most_probable(fit.rope).tolist() == list(inference.probabilities.values())
    assert fit.posterior.expected(fit.rope).tolist() == list(inference.expected.values())


def test_plain_values_make_an_equal_posterior(fit):
    plain = json.loads(json.dumps(fit.posterior.to_dict()))
    again = posterior_from(plain, fit.differences, None if fit.posterior.remakes_draws else fit.datatree)
    assert type(again) is type(fit.posterior)
    assert again.to_dict() == fit.posterior.to_dict()
    assert again.next_dataset(fit.rope) == fit.next_dataset
    np.testing.assert_array_equal(again.draws("delta"), fit.draws("delta"))


def test_the_marginal_likelihood_is_known_where_the_posterior_was_integrated(result, integrated, identical, mixed):
    assert np.isfinite(integrated.log_marginal_likelihood)
    for fit in (result, identical, mixed):
        with pytest.raises(hc.ArgumentError):
            _ = fit.log_marginal_likelihood


def test_compare_is_a_comparison_and_its_fit(scores, integrated):
    fit = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01).fit("quadrature", draws=200)
    assert integrated.next_dataset == fit.next_dataset
    assert integrated.settings == fit.settings


def test_a_comparison_shows_what_it_holds(scores):
    text = repr(hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.02, priors=hc.Priors.kruschke()))
    for part in ("bayes against tree", "8 data sets", "240 paired scores", "[-0.02, 0.02]", "kruschke"):
        assert part in text


def test_a_generator_gives_the_seed(scores):
    comparison = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01)
    seeds = [comparison.fit("quadrature", seed=np.random.default_rng(5)).settings.seed for _ in range(2)]
    assert seeds[0] == seeds[1] == int(np.random.default_rng(5).integers(2**31))
    with pytest.raises(hc.ArgumentError, match="seed"):
        comparison.fit("quadrature", seed=2**31)


def test_only_the_population_is_kept_where_that_is_asked_for(scores):
    fit = hc.compare(scores, "bayes", "tree", rope=0.01, engine="quadrature", draws=200, keep="population")
    assert fit.draws("sigma0").shape == (4, 200)
    with pytest.raises(hc.ArgumentError, match="keep='all'"):
        fit.draws("delta")


def test_identical_scores_have_no_second_computation_and_no_density(identical):
    with pytest.raises(hc.ArgumentError, match="answered exactly"):
        _ = identical.verification
    with pytest.raises(hc.ArgumentError, match="no density"):
        identical.posterior.density(0.0)
