"""The priors as numbers: the defaults and variants of the design, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

import hiercomp as hc
from hiercomp.errors import ArgumentError
from hiercomp.model.priors import NAMED_PRIORS, Priors


def test_the_default_has_the_numbers_of_the_paper():
    # Corani et al. (2017) with the Gamma of the authors' program on nu - 1
    priors = Priors()
    assert priors.population == "student_t"
    assert priors.delta0_bound is None
    assert (priors.sigma_upper, priors.sigma0_upper) == (1000, 1000)
    assert priors.nu_lower == 1
    assert (priors.alpha, priors.beta) == ((0.5, 5), (0.05, 0.15))


# Corani et al. (2017), Table 1, has alpha, beta, mean, sd and P(nu < 30) of the two Gammas, on nu as its text has them
@pytest.mark.parametrize(
    ("variant", "alpha", "beta", "mean", "sd", "below_30"),
    [(Priors.juarez_steel, 2, 0.1, 20, 14, 0.80), (Priors.kruschke, 1, 0.0345, 29, 29, 0.64)],
)
def test_the_gamma_of_a_named_variant_is_that_of_the_paper_on_nu_minus_one(variant, alpha, beta, mean, sd, below_30):
    priors = variant()
    assert (priors.nu_lower, priors.alpha, priors.beta) == (1, alpha, beta)
    assert priors.population == "student_t"
    of_the_text = variant(nu_lower=0)
    gamma = stats.gamma(of_the_text.alpha, loc=of_the_text.nu_lower, scale=1 / of_the_text.beta)
    assert (round(gamma.mean()), round(gamma.std()), round(gamma.cdf(30), 2)) == (mean, sd, below_30)
    assert of_the_text.name == "custom"


def test_the_gaussian_variant_changes_the_population_only():
    assert Priors.gaussian() == Priors(population="gaussian")


def test_the_paper_text_is_the_default_without_the_shift():
    assert Priors(nu_lower=0).nu_lower == 0
    assert Priors(nu_lower=0).name == "custom"


@pytest.mark.parametrize(
    ("priors", "program"),
    [
        (Priors(), "hierarchical_student_t"),
        (Priors(nu_lower=0), "hierarchical_student_t"),
        (Priors.juarez_steel(), "hierarchical_student_t_fixed_nu_prior"),
        (Priors.kruschke(), "hierarchical_student_t_fixed_nu_prior"),
        (Priors.gaussian(), "hierarchical_gaussian"),
    ],
)
def test_each_variant_names_its_stan_program(priors, program):
    assert priors.program == program


@pytest.mark.parametrize(
    ("priors", "text"),
    [
        (Priors(), "Priors('default')"),
        (Priors.juarez_steel(), "Priors('juarez_steel')"),
        (Priors.kruschke(), "Priors('kruschke')"),
        (Priors.gaussian(), "Priors('gaussian')"),
        (Priors(sigma_upper=50), "Priors(sigma_upper=50.0)"),
        (Priors(nu_lower=0, delta0_bound=2), "Priors(delta0_bound=2.0, nu_lower=0.0)"),
    ],
)
def test_the_repr_names_the_variant_or_what_was_changed(priors, text):
    assert repr(priors) == text


def test_a_named_variant_written_out_is_the_named_variant():
    assert Priors(nu_lower=1, alpha=2, beta=0.1).name == "juarez_steel"
    assert Priors(nu_lower=0, alpha=2, beta=0.1) == Priors.juarez_steel(nu_lower=0)


@pytest.mark.parametrize("priors", [*NAMED_PRIORS.values(), Priors(delta0_bound=0.3, alpha=(1, 2), beta=(0.1, 0.2))])
def test_a_dictionary_of_the_fields_makes_an_equal_object(priors):
    assert Priors(**priors.to_dict()) == priors
    assert Priors(**json.loads(json.dumps(priors.to_dict()))) == priors  # lists instead of tuples


def test_priors_can_not_be_changed_in_place():
    priors = Priors()
    with pytest.raises(AttributeError):
        priors.sigma_upper = 1.0


@pytest.mark.parametrize("name", ["sigma_upper", "sigma0_upper", "delta0_bound"])
@pytest.mark.parametrize("value", [0, -1.5, math.nan, math.inf, "10", True, [10]])
def test_a_bound_that_is_not_a_positive_finite_number_is_refused(name, value):
    with pytest.raises(ArgumentError) as caught:
        Priors(**{name: value})
    assert str(caught.value).startswith(f"{name} must be")
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("name", ["sigma_upper", "sigma0_upper", "nu_lower", "alpha", "beta"])
def test_only_the_bound_of_delta0_can_be_left_to_the_data(name):
    with pytest.raises(ArgumentError, match=f"{name} must be a finite number, got None"):
        Priors(**{name: None})


def test_a_negative_lower_end_of_nu_is_refused():
    with pytest.raises(ArgumentError, match=r"nu_lower must be zero or more, got -1"):
        Priors(nu_lower=-1)


@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((2.0, 1.0), "lower end first, got (2.0, 1.0)"),
        ((1.0, 1.0), "lower end first, got (1.0, 1.0)"),
        ((1.0, 2.0, 3.0), "an interval of two numbers, got (1.0, 2.0, 3.0)"),
        ((0.0, 1.0), "positive, got 0.0"),
        ((-1.0, 1.0), "positive, got -1.0"),
        ((1.0, math.inf), "finite number, got inf"),
        (0.0, "positive, got 0.0"),
        ("2", "finite number, got '2'"),
    ],
)
def test_an_interval_that_is_reversed_or_not_positive_is_refused(name, value, words):
    with pytest.raises(ArgumentError) as caught:
        Priors(**{name: value})
    assert str(caught.value).startswith(f"{name} must be")
    assert words in str(caught.value)


def test_alpha_and_beta_are_both_fixed_or_both_free():
    with pytest.raises(ArgumentError, match=r"alpha and beta must both be .*alpha=2\.0, beta=\(0\.05, 0\.15\)"):
        Priors(alpha=2.0)


def test_a_shape_that_the_integral_can_not_resolve_is_refused():
    for shape in (0.19, (0.1, 5.0)):
        with pytest.raises(ArgumentError, match=r"alpha must be 0\.2 or more.*nu_lower=0"):
            Priors(alpha=shape, beta=0.1 if isinstance(shape, float) else (0.05, 0.15))
    assert Priors(alpha=0.1, beta=0.1, nu_lower=0.0).alpha == 0.1
    assert Priors(alpha=np.array([0.2, 5.0]), beta=np.array([0.05, 0.15])).alpha == (0.2, 5.0)


def test_an_unknown_population_is_refused_with_the_known_ones():
    with pytest.raises(
        ArgumentError, match=r"population must be one of 'student_t', 'gaussian', 'mixture', got 'cauchy'"
    ):
        Priors(population="cauchy")


def test_priors_may_be_named(scores):
    assert hc.HierarchicalComparison(scores, priors="kruschke").priors == hc.Priors.kruschke()
    assert hc.HierarchicalComparison(scores, priors="default").priors == hc.Priors()
    every = hc.compare_all(scores, rope=0.01, priors="gaussian", n_jobs=1, progress=False)
    assert every.priors == hc.Priors.gaussian()
    with pytest.raises(hc.ArgumentError, match="Did you mean 'kruschke'"):
        hc.HierarchicalComparison(scores, priors="krushke")
    with pytest.raises(hc.ArgumentError, match=r"Priors.kruschke\(\), or one of"):
        hc.HierarchicalComparison(scores, priors=1)
