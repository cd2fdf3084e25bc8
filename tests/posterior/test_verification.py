"""An integral and draws of one posterior beside each other."""

from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np
import pytest

import hiercomp as hc
from hiercomp.engines import ENGINES, QUADRATURE, AutoEngine, Draws, SamplerSettings
from hiercomp.engines.quadrature.marginals import Marginal
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.diagnostics import VerifiedDiagnostics
from hiercomp.posterior.fit import Computation, _divergence_notes
from hiercomp.posterior.kinds import Verified, verified_by
from hiercomp.posterior.next_dataset import QUANTITIES, NextDataset, next_dataset
from hiercomp.posterior.verification import LARGEST_DISTANCE, verify
from hiercomp.rope import Rope
from tests.conftest import simulated_scores

ROPE = Rope.of(0.01)


@pytest.fixture(scope="module")
def verified(scores) -> hc.ComparisonResult:
    return hc.compare(scores, "bayes", "tree", rope=0.01, progress=False)


@pytest.fixture(scope="module")
def unconfirmed(hard_scores) -> hc.ComparisonResult:
    """Two chains of 100 draws are too few for every check of the sampler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hc.DoubtfulDrawsWarning)
        return hc.compare(hard_scores, "bayes", "tree", rope=0.01, chains=2, warmup=100, draws=100, progress=False)


@pytest.fixture(scope="module")
def contradicted(verified) -> hc.ComparisonResult:
    """The integral of one collection beside the draws of another."""
    scores = simulated_scores(8, centre=-0.03, spread=0.01)
    other = hc.compare(scores, "bayes", "tree", rope=0.01, engine="embedded", progress=False).posterior
    integrated = verified.posterior.integrated
    found = verified_by(integrated, other, ROPE)
    diagnostics = VerifiedDiagnostics(integrated.diagnostics, other.diagnostics, found)
    return dataclasses.replace(verified, posterior=Verified(integrated, other, diagnostics))


def test_the_numbers_are_the_integrals_and_the_draws_the_samplers(scores, verified):
    integrated = hc.compare(scores, "bayes", "tree", rope=0.01, engine="quadrature")
    assert verified.next_dataset == integrated.next_dataset
    assert verified.expected_difference == integrated.expected_difference
    assert verified.log_marginal_likelihood == integrated.log_marginal_likelihood
    assert verified.population().equals(integrated.population())
    model = HierarchicalModel.of(verified.differences, verified.priors)
    sampler = ENGINES[verified.posterior.sampled.engine_name]
    (attempt,) = verified.attempts
    centred = model.centred()
    assert (attempt.purpose, attempt.centred) == ("first fit", centred.sum())
    drawn = sampler.sample(model.program(centred, 4, 0), SamplerSettings(warmup=500, progress=False)).variables
    np.testing.assert_array_equal(verified.draws("delta"), drawn["delta"] * model.unit)
    np.testing.assert_array_equal(verified.draws("nu"), drawn["nu"])
    assert "sample_stats" in verified.datatree


def test_chains_that_the_integral_checks_have_half_the_warmup_unless_told_otherwise(scores, verified):
    assert (verified.settings.warmup, verified.attempts[0].warmup) == (500, 500)
    options = {"rope": 0.01, "progress": False}
    assert hc.compare(scores, "bayes", "tree", warmup=700, **options).attempts[0].warmup == 700
    alone = hc.compare(scores, "bayes", "tree", engine="embedded", monte_carlo_error=None, **options)
    assert (alone.settings.warmup, alone.attempts[0].warmup) == (1000, 1000)


def test_each_quantity_stands_in_both_ways_beside_its_errors(verified):
    table = verified.verification.to_frame()
    assert list(table.index) == [*QUANTITIES, "delta0_mean", "sigma0_median", "nu_median"]
    assert list(table.columns) == ["integral", "error", "draws", "monte_carlo_error", "distance"]
    sampled = verified.posterior.sampled.next_dataset(verified.rope)
    assert table.loc["p_right", "integral"] == verified.next_dataset.p_right
    assert table.loc["p_right", "draws"] == sampled.p_right
    assert table.loc["delta0_mean", "draws"] == verified.draws("delta0").mean()
    combined = np.hypot(table["error"], table["monte_carlo_error"])
    np.testing.assert_allclose(table["distance"], (table["integral"] - table["draws"]).abs() / combined, rtol=1e-12)
    assert verified.verification == verified.diagnostics.verification
    assert verified.with_rope(0.02).verification != verified.verification


def test_the_summary_says_that_the_draws_agree(verified):
    assert verified.status == "ok"
    found = verified.verification
    line = (
        f"Checked: 4,000 draws by Stan agree, largest difference {found.largest_difference:.3f}, "
        f"at most {found.farthest.distance:.1f} standard errors."
    )
    assert line in str(verified.summary())
    assert verified.summary().to_dict()["diagnostics"]["verification"]["n_draws"] == 4000


def test_contradicting_computations_give_no_verdict_and_both_numbers(contradicted):
    assert contradicted.status == "failed"
    with pytest.raises(hc.NoVerdictError):
        _ = contradicted.next_dataset
    farthest = contradicted.diagnostics.verification.farthest
    assert farthest.distance > LARGEST_DISTANCE
    text = str(contradicted.summary())
    assert f"{farthest.integral:.4g}" in text
    assert f"{farthest.draws:.4g}" in text
    json.dumps(contradicted.summary().to_dict(), allow_nan=False)


@dataclasses.dataclass
class Moved:
    """The embedded sampler, whose chains of so many draws have delta0 moved by so many standard deviations."""

    by: dict[int, float]
    stuck: int = 0  # the number of draws of chains that leave out half of the posterior

    def sample(self, program, settings) -> Draws:
        draws = ENGINES["embedded"].sample(program, settings)
        delta0 = draws.variables["delta0"]
        moved = delta0 + self.by.get(settings.draws, 0) * delta0.std()
        if settings.draws == self.stuck:
            moved[0] = moved.max()
        return dataclasses.replace(draws, variables={**draws.variables, "delta0": moved})


def checked_by(scores, sampler: Moved):
    """A posterior that this sampler checks, and its notes."""
    compared = hc.HierarchicalComparison(scores, "bayes", "tree", rope=0.01)
    settings = SamplerSettings(warmup=500, progress=False)
    model = HierarchicalModel.of(compared.differences, compared.priors)
    computation = Computation(compared.differences, model, compared.rope, settings, None, "all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AutoEngine(sampler, QUADRATURE).fit(computation)


# 0.15 standard deviations are more than four standard errors of the mean of about 1,500 effective draws


def test_draws_that_disagree_by_chance_are_checked_by_a_longer_run(scores):
    posterior, notes = checked_by(scores, Moved({1000: 0.15}))
    assert posterior.diagnostics.status == "ok"
    first, longer = posterior.attempts
    assert "delta0_mean" in first.failures[0]
    assert (longer.purpose, longer.draws, longer.failures) == ("longer", 5000, ())
    assert posterior.verification(ROPE).n_draws == 20_000
    assert posterior.draws("delta0").shape == (4, 5000)
    assert any("disagree with the integral" in note.text for note in notes if note.category is hc.RefitWarning)


def test_a_sampler_that_is_off_is_farther_off_with_more_draws(scores):
    posterior, notes = checked_by(scores, Moved({1000: 0.15, 5000: 0.15}))
    assert posterior.diagnostics.status == "failed"
    assert posterior.verification(ROPE).farthest.distance > 1.5 * LARGEST_DISTANCE
    assert len(posterior.attempts) == 2
    assert [note.category for note in notes if "disagree" in note.text] == [hc.ConvergenceWarning]


def test_a_longer_run_that_fails_a_check_clears_nobody(scores):
    posterior, _ = checked_by(scores, Moved({1000: 0.15}, stuck=5000))
    assert posterior.diagnostics.status == "failed"
    assert posterior.draws("delta0").shape == (4, 1000)


def test_draws_that_fail_a_check_leave_the_integral_standing(hard_scores, unconfirmed):
    exact = hc.compare(hard_scores, "bayes", "tree", rope=0.01, engine="quadrature")
    assert unconfirmed.status == "warned"
    assert unconfirmed.next_dataset == exact.next_dataset
    assert unconfirmed.decision() == exact.decision()
    assert len(unconfirmed.attempts) == 2
    text = str(unconfirmed.summary())
    assert "Not checked" in text
    assert unconfirmed.diagnostics.sampler.failures[0] in text
    assert [note.category for note in unconfirmed.fit_notes] == [hc.DoubtfulDrawsWarning]


def test_draws_that_fail_a_check_warn(hard_scores):
    with pytest.warns(hc.DoubtfulDrawsWarning):
        hc.compare(hard_scores, "bayes", "tree", rope=0.01, chains=2, warmup=100, draws=100, progress=False)


def test_few_divergent_transitions_pass_only_where_they_are_allowed(result):
    checks = dataclasses.replace(
        result.diagnostics, chains=4, draws=1000, divergences=4, ess_bulk=3000.0, ess_tail=3000.0
    )
    assert checks.failures
    allowed = dataclasses.replace(checks, allowed_divergences=0.001)
    assert not allowed.failures
    (note,) = _divergence_notes(allowed)
    assert note.quiet  # a tournament raises only the notes of its pairs that are not
    assert "4 of 4,000 transitions diverged" in note.text
    assert dataclasses.replace(checks, divergences=5, allowed_divergences=0.001).failures


@pytest.mark.parametrize("which", ["verified", "unconfirmed"])
def test_a_saved_result_is_read_again_as_the_same(which, request, tmp_path):
    result = request.getfixturevalue(which)
    again = hc.load_result(result.save(tmp_path / "fit.nc"))
    assert again.next_dataset == result.next_dataset
    assert again.diagnostics == result.diagnostics
    assert again.verification == result.verification
    assert again.attempts == result.attempts
    np.testing.assert_array_equal(again.draws("delta"), result.draws("delta"))


def test_one_engine_alone_has_nothing_to_compare_with(result, identical):
    for fit in (result, identical):
        with pytest.raises(hc.ArgumentError):
            _ = fit.verification


def test_variants_are_integrated(verified):
    assert verified.sensitivity(n_jobs=1).variants[1].error < 1e-4


def test_distances_of_exact_draws_are_those_of_chance():
    # 300 experiments: independent draws of a population whose exact answers are known in closed form
    from scipy import stats

    generator = np.random.default_rng(5)
    distances = []
    for _ in range(300):
        centre, width = generator.normal(0, 0.02), 0.01
        delta0 = generator.normal(centre, width, (4, 500))
        fixed = np.full_like(delta0, 0.03)
        sampled = next_dataset(delta0, fixed, np.inf, ROPE)
        next_sd = np.hypot(width, 0.03)
        expected = np.diff([0, *stats.norm.cdf([-0.01, 0.01], centre, next_sd), 1])
        # With a rope of a third of sigma0 the rope is never the most probable region
        right = stats.norm.sf(0, centre, width)
        values = [1 - right, 0.0, right, *expected, right]
        integral = NextDataset(*values, errors=dict.fromkeys(QUANTITIES, 0.0), draws=0)
        exact = {"delta0": Marginal(centre, 0.0, width, *stats.norm.ppf([0.025, 0.5, 0.975], centre, width))}
        found = verify(integral, exact, sampled, {"delta0": delta0, "sigma0": fixed}, ROPE)
        distances.append([quantity.distance for quantity in found.quantities if quantity.name != "p_rope"])
    distances = np.array(distances)
    assert (distances < LARGEST_DISTANCE).all()
    # The median of |N(0, 1)| is 0.674; 300 medians of a half normal have a standard error of 0.05
    assert np.median(distances, axis=0)[-1] == pytest.approx(0.674, abs=0.15)
    assert np.median(distances, axis=0).max() < 0.9


def test_an_integral_that_is_off_is_found():
    generator = np.random.default_rng(5)
    delta0, sigma0 = generator.normal(0.01, 0.01, (4, 1000)), np.full((4, 1000), 0.02)
    sampled = next_dataset(delta0, sigma0, np.inf, ROPE)
    exact = {"delta0": Marginal(0.01, 0.0, 0.01, -0.01, 0.01, 0.03)}
    wrong = dataclasses.replace(sampled, p_left=sampled.p_left + 0.05, p_right=sampled.p_right - 0.05)
    found = verify(wrong, exact, sampled, {"delta0": delta0, "sigma0": sigma0}, ROPE)
    assert not found.agrees
    assert found.farthest.name in ("p_left", "p_right")


def test_a_rare_outcome_that_no_draw_shows_is_no_contradiction():
    # 4,000 draws miss 1 in 1,000 in 2% of all cases; by the error that such draws tell alone it is 6 errors away
    generator = np.random.default_rng(5)
    delta0, sigma0 = generator.normal(0.05, 0.005, (4, 1000)), np.full((4, 1000), 0.03)
    sampled = next_dataset(delta0, sigma0, np.inf, ROPE)
    assert sampled.p_left == 0
    exact = {"delta0": Marginal(0.05, 0.0, 0.005, 0.04, 0.05, 0.06)}
    integral = dataclasses.replace(sampled, p_left=0.001, p_right=sampled.p_right - 0.001)
    found = verify(integral, exact, sampled, {"delta0": delta0, "sigma0": sigma0}, ROPE)
    (left,) = (quantity for quantity in found.quantities if quantity.name == "p_left")
    assert left.difference / sampled.errors["p_left"] > LARGEST_DISTANCE
    assert left.distance < LARGEST_DISTANCE
