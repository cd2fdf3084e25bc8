"""Fits with a mixture as the population: limits, symmetries, exact cases, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.engines.mixture import MixtureProblem, MixtureSampler, log_table
from hiercomp.model.mixture import Dictionary
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.importance import left_out_of_mixture
from hiercomp.posterior.kinds import likelihood_of
from hiercomp.posterior.leave_one_out import loo
from hiercomp.rope import Rope, region_probabilities


def scores_of(delta: np.ndarray, seed: int = 0, noise: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    """Left and right scores of one run of 10 folds, whose mean differences are near ``delta``."""
    generator = np.random.default_rng(seed)
    left = generator.normal(0.7, 0.01, (len(delta), 10))
    return left, left + delta[:, None] + generator.normal(0, noise, left.shape)


def comparison_of(delta: np.ndarray, **options) -> hc.HierarchicalComparison:
    return hc.HierarchicalComparison.from_arrays(*scores_of(delta), folds=10, rope=0.01, **options)


@pytest.fixture(scope="module")
def two_modes() -> hc.ComparisonResult:
    generator = np.random.default_rng(6)
    delta = np.where(np.arange(40) % 2 == 0, -0.04, 0.04) + generator.normal(0, 0.005, 40)
    return comparison_of(delta, population="mixture").fit()


def test_two_modes_are_seen_and_little_lies_between_them(two_modes):
    expected = two_modes.next_dataset.expected
    student = comparison_of(np.array([0.0] * 40)).fit("quadrature")  # any Student-t around 0 favours the rope
    assert expected["rope"] < 0.1 < student.next_dataset.expected["rope"]
    assert expected["left"] == pytest.approx(0.5, abs=0.12)
    density = two_modes.posterior.density([-0.04, 0.0, 0.04])
    assert density[1] < 0.2 * min(density[0], density[2])
    axes = two_modes.plot.population()
    marks = [line for line in axes.lines if line.get_label() == "2 modes"]
    assert np.abs(np.abs(marks[0].get_xdata()) - 0.04).max() < 0.01


def test_regions_and_density_are_those_of_normal_components(two_modes):
    posterior, draws, rope = two_modes.posterior, two_modes.posterior.components, Rope(-0.01, 0.02)
    regions = posterior.regions(rope)
    for place in ((0, 0), (3, 200)):
        weight, atom = draws.weight[place], draws.atom[place]
        centre, scale = posterior.dictionary.centre[atom], posterior.dictionary.scale[atom]
        below = [(weight * stats.norm.cdf(end, centre, scale)).sum() for end in (-0.01, 0.02)]
        np.testing.assert_allclose(regions[place], [below[0], below[1] - below[0], 1 - below[1]], atol=1e-12)
        assert posterior.draws("delta0")[place] == pytest.approx((weight * centre).sum())
        second = (weight * (centre**2 + scale**2)).sum()
        assert posterior.draws("sigma0")[place] == pytest.approx(np.sqrt(second - (weight * centre).sum() ** 2))
    x = np.linspace(-0.6, 0.6, 4001)
    assert np.trapezoid(posterior.density(x), x) == pytest.approx(1, abs=1e-3)
    below = np.trapezoid(posterior.density(x[x <= -0.01]), x[x <= -0.01])
    assert below == pytest.approx(regions[..., 0].mean(), abs=5e-3)
    drawn = two_modes.next_differences()
    assert (drawn < -0.01).mean() == pytest.approx(regions[..., 0].mean(), abs=4 * 0.5 / np.sqrt(drawn.size))


def test_shrunken_data_sets_lie_between_their_means_and_their_modes(two_modes):
    table = two_modes.datasets()
    assert (np.sign(table["posterior_mean"]) == np.sign(table["mean"])).all()
    moved = np.abs(np.abs(table["posterior_mean"]) - 0.04) - np.abs(np.abs(table["mean"]) - 0.04)
    assert moved.mean() < 0  # to a mode, and not to the middle
    assert (table["lower"] < table["posterior_mean"]).all()


def test_the_data_sets_of_one_component_are_shrunken_as_by_a_gaussian():
    # delta_i given a N(m, s^2) population and the Student-t likelihood (M13), by numerical integration
    from hiercomp.engines.mixture import dataset_draws

    comparison = comparison_of(np.array([0.0, 0.03, 0.05, 0.0, 0.01, 0.02]))
    model = HierarchicalModel.of(comparison.differences, hc.Priors.mixture())
    likelihood, dictionary = likelihood_of(model), Dictionary(np.array([0.5]), np.array([0.8]), np.ones(1))
    allocation = np.zeros((2, 20_000, 6), dtype=int)
    delta, sigma = dataset_draws(likelihood, dictionary, allocation, np.random.default_rng(1))
    x = np.linspace(-6, 6, 20_001)
    for i in range(3):
        density = stats.t.pdf(x, 8, likelihood.mean[i], likelihood.scale[i]) * stats.norm.pdf(x, 0.5, 0.8)
        density /= np.trapezoid(density, x)
        mean = np.trapezoid(x * density, x)
        sd = np.sqrt(np.trapezoid((x - mean) ** 2 * density, x))
        assert delta[..., i].mean() == pytest.approx(mean, abs=4 * sd / 200)
        assert delta[..., i].std() == pytest.approx(sd, rel=0.03)
    assert (sigma > 0).all()


def test_without_new_clusters_it_is_a_gaussian_population():
    # As the concentration goes to 0 all data sets share one component, which is a Gaussian with a prior on a grid
    delta = np.random.default_rng(2).normal(0.015, 0.02, 30)
    comparison = comparison_of(delta)
    gaussian = comparison_of(delta, population="gaussian").fit("quadrature")
    model = HierarchicalModel.of(comparison.differences, hc.Priors.gaussian())
    likelihood = likelihood_of(model)
    centre, scale = (axis.ravel() for axis in np.meshgrid(np.linspace(-1, 3, 120), np.linspace(0.1, 4, 120)))
    log_posterior = log_table(likelihood, Dictionary(centre, scale, np.ones(1))).sum(axis=0)
    posterior = np.exp(log_posterior - log_posterior.max())
    exact = posterior @ region_probabilities(centre, scale, np.inf, comparison.rope.scaled(1 / model.unit))
    exact /= posterior.sum()
    np.testing.assert_allclose(exact, list(gaussian.next_dataset.expected.values()), atol=5e-4)
    problem = MixtureProblem(
        log_table(likelihood, Dictionary(centre, scale, np.ones(1))), np.full(len(centre), 1 / len(centre)), 0.01, 100.0
    )
    sampler = MixtureSampler(problem, 4, 0)
    sampler.run(1, sweeps=100)
    draws = sampler.run(500, sweeps=1)
    of_atom = region_probabilities(centre, scale, np.inf, comparison.rope.scaled(1 / model.unit))
    regions = (of_atom[draws.atom] * draws.weight[..., None]).sum(axis=2)
    errors = regions.std(axis=(0, 1)) / np.sqrt(1000)  # nearly independent: one cluster is drawn at once
    assert (np.abs(regions.mean(axis=(0, 1)) - exact) < 4 * errors).all()


@pytest.mark.slow
def test_another_order_of_the_data_sets_changes_nothing_but_the_noise(two_modes):
    order = np.random.default_rng(0).permutation(40)
    names = np.array(two_modes.differences.dataset_names)[order].tolist()
    other = hc.HierarchicalComparison.from_differences(
        two_modes.differences.subset(names), rope=0.01, population="mixture"
    ).fit(seed=1)
    _assert_alike(two_modes.next_dataset, other.next_dataset, {})


@pytest.mark.slow
def test_exchanged_algorithms_mirror_the_probabilities(two_modes):
    generator = np.random.default_rng(6)
    delta = np.where(np.arange(40) % 2 == 0, -0.04, 0.04) + generator.normal(0, 0.005, 40)
    left, right = scores_of(delta)
    mirrored = hc.HierarchicalComparison.from_arrays(right, left, folds=10, rope=0.01, population="mixture").fit(seed=2)
    exchanged = {"p_left": "p_right", "p_right": "p_left", "expected_left": "expected_right"}
    _assert_alike(two_modes.next_dataset, mirrored.next_dataset, exchanged | {"expected_right": "expected_left"})


def _assert_alike(one: hc.NextDataset, other: hc.NextDataset, exchanged: dict[str, str]) -> None:
    for name in ("p_left", "p_rope", "p_right", "expected_left", "expected_rope", "expected_right"):
        partner = exchanged.get(name, name)
        error = np.hypot(one.errors[name], other.errors[partner])
        assert getattr(one, name) == pytest.approx(getattr(other, partner), abs=4 * error)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_and_another_other_ones(two_modes):
    again = hc.HierarchicalComparison.from_differences(two_modes.differences, rope=0.01, population="mixture")
    assert again.fit().next_dataset == two_modes.next_dataset
    assert again.fit(seed=1).next_dataset != two_modes.next_dataset


def test_a_gaussian_population_is_that_of_its_priors_to_the_last_bit(scores):
    one, other = (
        hc.compare(scores, "bayes", "tree", rope=0.01, engine="quadrature", **given)
        for given in ({"population": "gaussian"}, {"priors": hc.Priors.gaussian()})
    )
    assert one.next_dataset == other.next_dataset
    assert one.priors == other.priors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": "mixtur"}, "Did you mean 'mixture'"),
        ({"population": "mixture", "priors": hc.Priors.kruschke()}, "contradicts .*kruschke.* Pass only one"),
        ({"population": "mixture", "priors": "gaussian"}, "contradicts"),
        ({"population": "student_t", "priors": hc.Priors.mixture()}, "contradicts"),
        ({"population": "mixture", "priors": hc.Priors(delta0=hc.Normal(0, 0.1))}, "no prior on delta0"),
    ],
)
def test_priors_that_contradict_the_population_are_refused(scores, options, message):
    with pytest.raises(hc.ArgumentError, match=message):
        hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": "mixture", "alpha": 2.0, "beta": 0.1}, "no prior on alpha"),
        ({"population": "mixture", "concentration": (1.0, 0.0)}, "concentration must be positive"),
        ({"population": "mixture", "concentration": 2.0}, "concentration must be a pair"),
        ({"concentration": (1.0, 1.0)}, "concentration is a parameter of a mixture"),
    ],
)
def test_parameters_that_a_population_does_not_have_are_refused(options, message):
    with pytest.raises(hc.ArgumentError, match=message):
        hc.Priors(**options)


def test_engines_without_a_mixture_are_refused_and_so_is_its_engine_for_others(scores):
    comparison = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01, population="mixture")
    with pytest.raises(hc.ArgumentError, match=r"embedded engine has no program for a mixture.*engine='auto'"):
        comparison.fit("embedded")
    with pytest.raises(hc.ArgumentError, match=r"engine='mixture' is for mixtures.*population='mixture'"):
        hc.compare(scores, "bayes", "tree", rope=0.01, engine="mixture")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda fit: fit.influence(), "population='student_t' for influence"),
        (lambda fit: fit.plan(n_datasets=20), "pilot with population='student_t'"),
        (lambda fit: fit.draws("nu"), "no nu"),
        (lambda fit: fit.log_marginal_likelihood, "compare_populations"),
        (lambda fit: fit.verification, "A mixture is computed once.*nothing to compare"),
        (lambda fit: fit.predictive_datatree(), r"result\.loo\(\)"),
        (lambda fit: comparison_of(np.linspace(0, 0.1, 30), population="mixture").prior_predictive(), "datatree"),
    ],
)
def test_what_a_mixture_can_not_answer_names_what_can(two_modes, ask, message):
    with pytest.raises(hc.ArgumentError, match=message):
        ask(two_modes)


def test_a_plan_does_not_fit_mixtures():
    with pytest.raises(hc.ArgumentError, match="does not fit mixtures"):
        hc.plan(delta0=0.02, sigma0=0.01, standard_deviation=0.03, priors=hc.Priors.mixture())


def test_few_data_sets_are_said_to_leave_the_prior():
    comparison = comparison_of(np.linspace(0, 0.04, 12), population="mixture")
    with pytest.warns(hc.FewDatasetsWarning, match="With 12 data sets a mixture is mostly prior"):
        result = comparison.fit(draws=500)
    assert "mostly prior" in str(result.summary())


def test_a_saved_mixture_is_read_again_to_the_last_bit(two_modes, tmp_path):
    again = hc.load_result(two_modes.save(tmp_path / "mixture.nc"))
    assert again.next_dataset == two_modes.next_dataset
    assert again.with_rope(0.02).next_dataset == two_modes.with_rope(0.02).next_dataset
    np.testing.assert_array_equal(again.draws("delta"), two_modes.draws("delta"))
    np.testing.assert_array_equal(again.loo().elpd_i, two_modes.loo().elpd_i)
    assert str(again.summary()) == str(two_modes.summary())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda given: {"atom": given.atom + 810}, "not in the dictionary"),
        (lambda given: {"allocation": given.allocation - 811}, "not in the dictionary"),
        (lambda given: {"weight": 2 * given.weight}, "do not sum to 1"),
        (lambda given: {"weight": np.where(given.atom >= 0, np.nan, 0.0)}, "sum to 1"),
    ],
)
def test_a_file_with_components_that_can_not_be_is_refused(two_modes, tmp_path, change, message):
    given = two_modes.posterior
    wrong = replace(given, components=replace(given.components, **change(given.components)))
    vars(wrong)["_population"] = given._population
    vars(wrong)["_datasets"] = given._datasets
    path = replace(two_modes, posterior=wrong).save(tmp_path / "wrong.nc")
    with pytest.raises(hc.ResultFileError, match=message):
        hc.load_result(path)


@pytest.mark.slow
def test_leaving_out_by_weights_is_leaving_out(two_modes):
    given = two_modes.differences
    model = HierarchicalModel.of(given, two_modes.priors)
    likelihood = likelihood_of(model)
    dictionary = two_modes.posterior.dictionary.in_unit(1 / model.unit)
    components, settings, sweeps = (
        two_modes.posterior.components,
        two_modes.settings,
        two_modes.posterior.runs[-1].sweeps,
    )
    found = left_out_of_mixture(likelihood, dictionary, (2.0, 2.0), components, settings, sweeps)
    table = log_table(likelihood, dictionary)
    for i in (0, 7, int(np.argmin(found.log_density - table.max(axis=1)))):
        problem = MixtureProblem(np.delete(table, i, axis=0), dictionary.weight, 2.0, 2.0)
        sampler = MixtureSampler(problem, 4, 9)
        sampler.run(1, sweeps=500)
        draws = sampler.run(500)
        likelihoods = (np.exp(table[i])[draws.atom] * draws.weight).sum(axis=2)  # given the weights, not integrated
        assert found.log_density[i] == pytest.approx(np.log(likelihoods.mean()), abs=0.1)
    assert (found.log_density < found.log_density_within).all()
    assert ((found.below > 0) & (found.below < 1)).all()


@pytest.mark.slow
def test_draws_without_a_data_set_that_fail_a_check_are_doubtful(two_modes, monkeypatch):
    monkeypatch.setattr("hiercomp.posterior.importance.largest_k", lambda draws: -np.inf)
    monkeypatch.setattr("hiercomp.posterior.diagnostics.SMALLEST_ESS_PER_CHAIN", 300)
    few = replace(two_modes.posterior, settings=replace(two_modes.settings, warmup=100, draws=100))
    with pytest.warns(hc.ConvergenceWarning, match="40 data sets|and 3[0-9] more"):
        found = loo(replace(two_modes, posterior=few))
    assert found.refitted.all()
    assert found.doubtful == two_modes.differences.dataset_names


@pytest.mark.slow
def test_a_mixture_does_not_win_where_the_population_is_gaussian():
    # The sign of the importance ratios: with the wrong one every richer model would win by 5 to 13
    delta = stats.norm.ppf((np.arange(40) + 0.5) / 40) * 0.02 + 0.01
    found = hc.compare_populations(comparison_of(delta), populations=("gaussian", "mixture"), draws=500)
    gain, _ = found.difference("mixture", "gaussian")
    assert -3 < gain < 1
    assert sum(found.weight.values()) == pytest.approx(1, abs=1e-6)


@pytest.mark.slow
def test_two_modes_are_told_by_leaving_out(two_modes):
    comparison = hc.HierarchicalComparison.from_differences(two_modes.differences, rope=0.01)
    found = hc.compare_populations(comparison, draws=500)
    assert found.best == "mixture"
    gain, error = found.difference("mixture", "student_t")
    assert gain > 5
    assert gain > 2 * error
    frame = found.to_frame()
    assert frame.index[0] == "mixture"
    assert frame.loc["mixture", "weight"] > 0.9
    assert frame.loc["student_t", "elpd"] == pytest.approx(comparison.fit("quadrature").loo().elpd, abs=1e-6)
    assert found.conclusion.startswith("The mixture predicts data sets left out clearly better than the")
    assert frame.loc["student_t", "difference"] == pytest.approx(-gain)


@pytest.mark.slow
def test_the_check_of_the_population_takes_a_mixture_for_the_fitted_one(two_modes):
    found = two_modes.check_population()
    assert list(found.loos) == ["mixture", "Student-t", "Gaussian"]
    assert found.better == ()
    student = hc.HierarchicalComparison.from_differences(two_modes.differences, rope=0.01).fit("quadrature")
    assert student.check_population({"mixture": two_modes}).better == ("mixture",)


def test_populations_are_named_once_and_known(two_modes):
    for wrong in (
        ("mixture",),
        ("mixture", "mixture"),
        ("mixture", "cauchy"),
        "mixture",
        None,
        [["mixture"], ["gaussian"]],
    ):
        with pytest.raises(hc.ArgumentError, match="populations must be"):
            hc.compare_populations(two_modes, populations=wrong)
    with pytest.raises(hc.ArgumentError, match="must be a HierarchicalComparison"):
        hc.compare_populations("scores.csv")


@pytest.mark.slow
def test_sensitivity_fits_other_populations_and_concentrations(two_modes):
    found = two_modes.sensitivity(draws=300, n_jobs=1)
    names = [variant.name for variant in found.variants]
    assert names[1:] == [
        "population: student_t",
        "population: gaussian",
        "concentration: Gamma(1.0, 1.0)",
        "concentration: Gamma(2.0, 0.5)",
        "rho x 0.5",
        "rho x 2",
    ]
    assert found.variants[1].log_marginal_likelihood < np.inf


def test_every_picture_of_a_mixture_is_drawn(two_modes):
    for name in ("next_dataset", "simplex", "population", "shrinkage", "posterior", "rope_curve", "ppc", "diagnostics"):
        assert getattr(two_modes.plot, name)() is not None


@pytest.mark.slow
def test_the_report_says_what_a_mixture_is(two_modes, tmp_path):
    page = two_modes.report(tmp_path / "report.html").read_text(encoding="utf-8")
    for words in ("Dirichlet process", "Ferguson", "Escobar", "concentration", "81 centres x 10 scales"):
        assert words in page
    assert "No-U-Turn" not in page


@pytest.mark.slow
def test_every_pair_may_have_a_mixture(tmp_path):
    generator = np.random.default_rng(3)
    import pandas as pd

    rows = [
        (f"d{d}", name, fold, 0.7 + shift * (d % 2) + generator.normal(0, 0.02))
        for d in range(22)
        for name, shift in (("a", 0.0), ("b", 0.05), ("c", 0.0))
        for fold in range(10)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "algorithm", "fold", "score"])
    options = {"rope": 0.01, "population": "mixture", "draws": 300, "progress": False}
    result = hc.compare_all(table, **options, checkpoint=tmp_path / "pairs.db")
    assert result.engine_name == "mixture"
    assert {pair.posterior.kind for pair in result.pairs} == {"mixed"}
    again = hc.compare_all(table, **options, checkpoint=tmp_path / "pairs.db")
    for one, other in zip(result.pairs, again.pairs, strict=True):
        assert one.next_dataset == other.next_dataset
    page = result.report(tmp_path / "pairs.html").read_text(encoding="utf-8")
    assert "Escobar" in page
    assert loo(result.pair("a", "b")).population == "mixture"


@pytest.mark.filterwarnings("ignore::hiercomp.HiercompWarning")
@pytest.mark.parametrize("likelihood", ["gaussian", "trinomial"])
def test_equal_means_have_a_dictionary_of_their_standard_errors(likelihood):
    answers = np.random.default_rng(1).integers(0, 2, (6, 60)).astype(float)
    comparison = hc.HierarchicalComparison.from_arrays(
        answers, answers[:, ::-1], rho=0, rope=0.01, likelihood=likelihood, population="mixture"
    )
    model = HierarchicalModel.of(comparison.differences, comparison.priors)
    np.testing.assert_allclose(model.mean, 0, atol=1e-12)
    assert model.spread == pytest.approx(np.sqrt(model.squared_standard_error).mean(), rel=1e-15)
    found = comparison.fit(draws=200, progress=False)
    assert np.isfinite(found.draws("delta0")).all()
