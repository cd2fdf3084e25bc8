"""The sampler of mixture populations against exact sums, numerical integrals and limits that have other names."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import integrate, special, stats

from hiercomp.engines.mixture import MixtureProblem, MixtureSampler, log_table, mixed_predictions, predictions_of_new
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.model.mixture import Dictionary
from hiercomp.posterior.next_dataset import effective_size


@pytest.fixture(scope="module")
def likelihood():
    generator = np.random.default_rng(5)
    n = np.full(7, 10.0)
    return MeanLikelihood(generator.normal(0.3, 1.5, 7), 9 * generator.gamma(4, 0.25, 7), n, np.full(7, 0.1), 1000.0)


def test_the_table_has_the_integrals_of_the_likelihood_against_each_component(likelihood):
    dictionary = Dictionary(np.array([-1.0, 0.2]), np.array([0.05, 2.0]), np.array([0.5, 0.5]))
    table = log_table(likelihood, dictionary)
    for i, g in product(range(7), range(2)):
        centre, scale = dictionary.centre[g], dictionary.scale[g]
        student = stats.t(8, likelihood.mean[i], likelihood.scale[i])

        def density(delta, student=student, centre=centre, scale=scale):
            return student.pdf(delta) * stats.norm.pdf(delta, centre, scale)

        found, _ = integrate.quad(density, -40, 40, points=sorted({centre, likelihood.mean[i]}), epsabs=0, limit=500)
        at_mean = likelihood.log_constant[i] - np.log(student.pdf(likelihood.mean[i]))
        assert table[i, g] == pytest.approx(np.log(found) + at_mean, abs=1e-7)


def test_the_dictionary_is_mirrored_with_the_data_and_its_weights_sum_to_one():
    one, other = Dictionary.of(0.3, 2.0), Dictionary.of(-0.3, 2.0)
    np.testing.assert_array_equal(one.centre.reshape(81, 10), -other.centre.reshape(81, 10)[::-1])
    assert one.weight.sum() == pytest.approx(1, abs=1e-14)
    # A t_3 has its quartiles at 0.7649; 1.5 times the spread of 2 around 0.3
    inside = np.abs(one.centre - 0.3) < 0.7649 * 3.0
    assert one.weight[inside].sum() == pytest.approx(0.5, abs=1 / 81)


def exact(table: np.ndarray, weight: np.ndarray, shape: float, rate: float) -> dict[str, np.ndarray]:
    """Posterior means by summation over all assignments, and Gauss-Laguerre integration over the concentration."""
    q, atoms = table.shape
    nodes, mass = special.roots_genlaguerre(40, shape - 1)  # of a Gamma(shape, rate)
    concentration = nodes / rate
    total, of_weight, of_a = 0.0, np.zeros(atoms), 0.0
    of_assignment = np.zeros((q, atoms))
    for z in product(range(atoms), repeat=q):
        count = np.bincount(z, minlength=atoms)
        log_prior = special.gammaln(concentration) - special.gammaln(concentration + q)
        for g in range(atoms):
            log_prior += special.gammaln(concentration * weight[g] + count[g]) - special.gammaln(
                concentration * weight[g]
            )
        joint = mass * np.exp(log_prior + table[np.arange(q), list(z)].sum())
        total += joint.sum()
        of_a += (joint * concentration).sum()
        of_weight += (joint[:, None] * (concentration[:, None] * weight + count) / (concentration[:, None] + q)).sum(
            axis=0
        )
        of_assignment[np.arange(q), list(z)] += joint.sum()
    return {"weight": of_weight / total, "concentration": of_a / total, "allocation": of_assignment / total}


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "rate"), [(2.0, 2.0), (1.0, 0.2)])
def test_a_few_atoms_have_the_moments_of_the_sum_over_all_assignments(shape, rate):
    generator = np.random.default_rng(3)
    weight = np.array([0.5, 0.3, 0.2])
    table = generator.normal(0, 1.5, (5, 3))
    expected = exact(table, weight, shape, rate)
    problem = MixtureProblem(table, weight, shape, rate)
    sampler = MixtureSampler(problem, 4, 11)
    sampler.run(1, sweeps=200)
    draws = sampler.run(3000, sweeps=2)

    def agrees(values, wanted):
        error = values.std() / np.sqrt(effective_size(values, draws.concentration))
        assert values.mean() == pytest.approx(wanted, abs=4 * error)
        assert error < 0.03 * max(1, wanted)

    agrees(draws.concentration, expected["concentration"])
    for g in range(3):
        agrees((draws.weight * (draws.atom == g)).sum(axis=2), expected["weight"][g])
        for i in (0, 3):
            agrees((draws.allocation[..., i] == g).astype(float), expected["allocation"][i, g])


@pytest.mark.slow
def test_leaving_one_out_by_importance_gives_the_predictive_density_of_the_exact_sum():
    generator = np.random.default_rng(4)
    weight = np.array([0.4, 0.4, 0.2])
    table = generator.normal(0, 1.5, (5, 3))
    problem = MixtureProblem(table, weight, 2.0, 2.0)
    sampler = MixtureSampler(problem, 4, 1)
    sampler.run(1, sweeps=200)
    draws = sampler.run(3000, sweeps=2)
    ratio = 1 / mixed_predictions(np.exp(table), problem, draws, without=True)
    for i in (1, 4):
        rest = exact(np.delete(table, i, axis=0), weight, 2.0, 2.0)["weight"]
        wanted = (rest * np.exp(table[i])).sum()
        values = ratio[..., i]
        error = values.std() / np.sqrt(effective_size(values, values))
        assert values.mean() == pytest.approx(1 / wanted, abs=4 * error)  # E[1/p(x_i | rest)] = 1 / p(x_i | x_-i)
        assert error < 0.05 / wanted
        others = MixtureSampler(MixtureProblem(np.delete(table, i, axis=0), weight, 2.0, 2.0), 4, 1)
        others.run(1, sweeps=200)
        of_new = predictions_of_new(np.exp(table[i]), problem, others.run(2000, sweeps=1))
        error = of_new.std() / np.sqrt(effective_size(of_new, of_new))
        assert of_new.mean() == pytest.approx(wanted, abs=4 * error)


def test_one_atom_is_that_gaussian_whatever_the_draw(likelihood):
    dictionary = Dictionary(np.array([0.4]), np.array([1.3]), np.ones(1))
    table = log_table(likelihood, dictionary)
    assert table.sum() == pytest.approx(likelihood.log_marginal(0.4, 1.3, np.inf)[0], abs=1e-10)
    draws = MixtureSampler(MixtureProblem(table, dictionary.weight, 2.0, 2.0), 2, 0).run(50)
    assert not draws.atom.any()
    np.testing.assert_allclose(draws.weight.sum(axis=2), 1, atol=1e-12)
    for without in (True, False):
        problem = MixtureProblem(table, dictionary.weight, 2.0, 2.0)
        found = mixed_predictions(np.exp(table), problem, draws, without=without)
        np.testing.assert_allclose(found, np.broadcast_to(np.exp(table[:, 0]), found.shape), rtol=1e-10)


@pytest.mark.parametrize("nu", [2.5, 6.0])
def test_inverse_gamma_scales_on_one_centre_approach_the_student_t(likelihood, nu):
    # A Student-t with nu degrees of freedom is a normal whose variance is nu / chi-squared(nu)
    errors = []
    for count in (50, 800):
        level = (np.arange(count) + 0.5) / count
        scale = 0.8 * np.sqrt(nu / stats.chi2.ppf(level, nu))
        dictionary = Dictionary(np.full(count, 0.1), scale, np.full(count, 1 / count))
        found = special.logsumexp(log_table(likelihood, dictionary) - np.log(count), axis=1)
        errors.append(np.abs(found - likelihood.log_integrals([0.1], [0.8], [nu])[0]).max())
    assert errors[1] < 0.002
    assert errors[1] < errors[0] / 4


def test_each_chain_has_random_numbers_of_its_own(likelihood):
    dictionary = Dictionary.of(likelihood.mean.mean(), likelihood.mean.std(), centres=9, scales=3)
    problem = MixtureProblem(log_table(likelihood, dictionary), dictionary.weight, 2.0, 2.0)
    two, three = (MixtureSampler(problem, chains, 8).run(60) for chains in (2, 3))
    np.testing.assert_array_equal(two.concentration, three.concentration[:2])
    np.testing.assert_array_equal(two.allocation, three.allocation[:2])
    assert not np.array_equal(two.concentration[0], two.concentration[1])
