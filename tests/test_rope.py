"""The rope and the three region probabilities, against mpmath at 50 digits."""

from __future__ import annotations

import math
import re

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hiercomp as hc
from hiercomp.errors import ArgumentError
from hiercomp.rope import Rope, is_by_dataset, most_probable_shares, region_probabilities

NUS = [0.3, 1.0, 1.0001, 2.0, 3.0, 5.0, 30.0, 1e3, 1e6, math.inf]


def exact_lower_tail(t, nu):
    """P(T < t) for t <= 0 at 50 digits, Abramowitz & Stegun 26.7.1 (Gaussian: 26.2.29)."""
    if math.isinf(nu):
        return mpmath.erfc(-t / mpmath.sqrt(2)) / 2
    nu = mpmath.mpf(nu)
    return mpmath.betainc(nu / 2, mpmath.mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / 2


def exact_cdf(t, nu):
    return exact_lower_tail(t, nu) if t <= 0 else 1 - exact_lower_tail(-t, nu)


def exact_regions(delta0, sigma0, nu, rope):
    with mpmath.workdps(50):
        lower = (mpmath.mpf(rope.lower) - mpmath.mpf(delta0)) / mpmath.mpf(sigma0)
        upper = (mpmath.mpf(rope.upper) - mpmath.mpf(delta0)) / mpmath.mpf(sigma0)
        # the t distribution is symmetric, so 1 - F(upper) is F(-upper) and both ends can be moved to the lower tail
        if lower > 0:
            middle = exact_cdf(-lower, nu) - exact_cdf(-upper, nu)
        else:
            middle = exact_cdf(upper, nu) - exact_cdf(lower, nu)
        return exact_cdf(lower, nu), middle, exact_cdf(-upper, nu)


def relative_errors(got, exact):
    """Relative to the exact value, or to the smallest that a float holds in full."""
    smallest = mpmath.mpf(np.finfo(float).tiny)
    return [float(abs(mpmath.mpf(float(g)) - e) / max(e, smallest)) for g, e in zip(got, exact, strict=True)]


def test_a_number_is_the_half_width_of_a_symmetric_rope():
    assert (Rope.of(0.01).lower, Rope.of(0.01).upper) == (-0.01, 0.01)


@pytest.mark.parametrize("pair", [(-0.02, 0.01), [-0.02, 0.01], np.array([-0.02, 0.01])])
def test_a_pair_gives_the_two_ends(pair):
    rope = Rope.of(pair)
    assert (rope.lower, rope.upper) == (-0.02, 0.01)
    assert rope.half_width == pytest.approx(0.015, rel=1e-15)


def test_a_rope_is_taken_as_it_is():
    rope = Rope(-0.02, 0.01)
    assert Rope.of(rope) is rope


def test_numpy_numbers_and_whole_numbers_are_accepted():
    assert Rope.of(np.float64(0.5)) == Rope.of(0.5) == Rope(-0.5, 0.5)
    assert Rope.of(1) == Rope(-1.0, 1.0)


def test_a_rope_of_zero_has_no_negative_zero():
    assert math.copysign(1, Rope.of(0).lower) == 1.0


def test_a_rope_is_written_as_an_interval():
    assert str(Rope(-0.02, 0.01)) == "[-0.02, 0.01]"


def test_scaling_multiplies_both_ends():
    assert Rope(-0.5, 0.25).scaled(4) == Rope(-2.0, 1.0)


def test_a_negative_rope_is_refused_with_the_positive_one():
    remedy = r"positive number, such as 0\.02 for \[-0\.02, 0\.02\]"
    with pytest.raises(ArgumentError, match=rf"rope is negative: -0\.02.*{remedy}"):
        Rope.of(-0.02)


def test_a_reversed_pair_is_refused_with_the_pair_that_was_meant():
    with pytest.raises(ArgumentError, match=r"reversed: its lower end 0\.01 .*Did you mean \(-0\.02, 0\.01\)"):
        Rope.of((0.01, -0.02))


@pytest.mark.parametrize("value", [math.nan, math.inf, (-0.01, math.inf), (math.nan, 0.01)])
def test_a_rope_that_is_not_finite_is_refused(value):
    with pytest.raises(ArgumentError, match=r"rope must be a finite number, got -?(nan|inf)"):
        Rope.of(value)


@pytest.mark.parametrize(
    "value",
    [True, np.True_, "0.01", b"0.01", None, 0.01j, {0.01}, [0.01], (1, 2, 3), [[1, 2]], (0, [1]), ("-0.01", "0.01")],
)
def test_what_is_neither_a_number_nor_a_pair_of_numbers_is_refused(value):
    with pytest.raises(ArgumentError, match=r"half-width such as 0\.01 or a pair such as \(-0\.01, 0\.01\), got"):
        Rope.of(value)


@pytest.mark.parametrize("end", ["0.01", None, True])
def test_ends_that_are_not_numbers_are_refused(end):
    with pytest.raises(ArgumentError, match="upper end of the rope must be a finite number"):
        Rope(-0.01, end)


# Centre, scale and rope: rope around the centre, off it on either side, touching it, asymmetric, far out
PLACES = [
    (0.0, 1.0, Rope.of(0.01)),
    (0.02, 0.05, Rope.of(0.01)),
    (-0.02, 0.05, Rope(-0.01, 0.03)),
    (0.0, 1.0, Rope(0.9, 1.1)),
    (-3.0, 2.0, Rope(0.5, 0.7)),
    (3.0, 2.0, Rope(-0.7, -0.5)),
    (0.0, 1.0, Rope(0.0, 0.5)),
    (0.0, 0.1, Rope.of(0.5)),
    (1e-9, 1.0, Rope(-1e-9, 2e-9)),
    (0.0, 1.0, Rope(1e-8, 2e-8)),
    (-1e-4, 0.001, Rope.of(0.01)),
    (1.0, 1e-6, Rope.of(0.0625)),  # a rope a million scales away
    (0.0, 1e-5, Rope(-0.01, 10.0)),
]


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize(("delta0", "sigma0", "rope"), PLACES)
def test_all_three_regions_have_twelve_digits_and_sum_to_one(delta0, sigma0, rope, nu):
    got = region_probabilities(delta0, sigma0, nu, rope)
    assert max(relative_errors(got, exact_regions(delta0, sigma0, nu, rope))) < 1e-12
    assert got.sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("t", [5.0, 10.0, 25.0])
def test_extreme_tails_keep_their_digits(t, nu):
    rope = Rope(-1.0, 1.0)
    got = region_probabilities(t + 1, 1.0, nu, rope)
    exact = exact_regions(t + 1, 1.0, nu, rope)
    assert max(relative_errors(got[:2], exact[:2])) < 1e-12  # left is a tail, the rope a difference of two
    mirrored = region_probabilities(-t - 1, 1.0, nu, rope)
    assert mirrored[::-1].tolist() == got.tolist()


@pytest.mark.parametrize("nu", NUS)
def test_a_tiny_rope_around_a_far_centre_is_as_exact_as_its_ends_allow(nu):
    # (2e-6) wide and 5 scales away: the ends -5.000001 and -4.999999 are rounded to 1e-15, so that nine digits remain
    got = region_probabilities(5.0, 1.0, nu, Rope.of(1e-6))
    exact = exact_regions(5.0, 1.0, nu, Rope.of(1e-6))
    assert relative_errors(got, exact)[1] < 1e-8
    assert relative_errors(got, exact)[0] < 1e-12
    assert got.sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("nu", [1.0, 4.0, math.inf])
def test_a_rope_of_zero_has_probability_zero(nu):
    left, rope, right = region_probabilities(0.3, 1.0, nu, Rope.of(0.0))
    assert rope == 0
    assert left + right == pytest.approx(1, abs=1e-15)


def test_one_degree_of_freedom_is_a_cauchy_distribution_near_zero():
    # F(t) - 1/2 = atan(t)/pi; scipy.special.stdtr(1, t) is wrong here
    t = 10.0 ** np.arange(-12, 1)
    rope = np.array([region_probabilities(0.0, 1.0, 1.0, Rope.of(end))[1] for end in t])
    np.testing.assert_allclose(rope, 2 * np.arctan(t) / np.pi, rtol=1e-14)
    left = np.array([region_probabilities(0.0, 1.0, 1.0, Rope(-end, 1.0))[0] for end in t])
    np.testing.assert_allclose(left, 0.5 - np.arctan(t) / np.pi, rtol=1e-14)


def test_two_degrees_of_freedom_have_a_closed_form():
    # F(t) = 1/2 + t / (2 sqrt(2 + t^2)); t = 1 gives 1/2 + 1/(2 sqrt 3)
    left, rope, right = region_probabilities(0.0, 1.0, 2.0, Rope.of(1.0))
    assert rope == pytest.approx(1 / math.sqrt(3), rel=1e-15)
    assert left == right == pytest.approx((1 - 1 / math.sqrt(3)) / 2, rel=1e-15)


@pytest.mark.parametrize(
    ("delta0", "expected"),
    [
        (-0.02, [1, 0, 0]),
        (-0.01, [0, 1, 0]),  # the ends belong to the rope
        (0.0, [0, 1, 0]),
        (0.01, [0, 1, 0]),
        (0.02, [0, 0, 1]),
    ],
)
def test_a_scale_of_zero_is_a_point_mass(delta0, expected):
    assert region_probabilities(delta0, 0.0, 5.0, Rope.of(0.01)).tolist() == expected


def test_a_scale_near_zero_puts_everything_in_one_region_without_a_warning():
    assert region_probabilities(0.0, 1e-320, 5.0, Rope.of(0.01)).tolist() == [0, 1, 0]
    assert region_probabilities(1.0, 1e-320, math.inf, Rope.of(0.01)).tolist() == [0, 0, 1]


def test_arrays_of_draws_broadcast_and_agree_with_single_draws():
    delta0 = np.array([[0.0], [0.02]])
    nu = np.array([1.0, 3.0, math.inf])
    together = region_probabilities(delta0, 0.05, nu, Rope.of(0.01))
    assert together.shape == (2, 3, 3)
    for i in range(2):
        for j in range(3):
            alone = region_probabilities(delta0[i, 0], 0.05, nu[j], Rope.of(0.01))
            assert together[i, j].tolist() == alone.tolist()


@given(
    delta0=st.floats(-2, 2),
    log_sigma0=st.floats(-8, 3),
    nu=st.floats(0.1, 1e8) | st.just(math.inf),
    ends=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
)
def test_regions_are_probabilities_that_sum_to_one_and_mirror_with_the_rope(delta0, log_sigma0, nu, ends):
    rope = Rope(min(ends), max(ends))
    regions = region_probabilities(delta0, 10**log_sigma0, nu, rope)
    assert (regions >= 0).all()
    assert regions.sum() == pytest.approx(1, abs=1e-12)
    mirrored = region_probabilities(-delta0, 10**log_sigma0, nu, Rope(-rope.upper, -rope.lower))
    np.testing.assert_allclose(mirrored[::-1], regions, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    ("regions", "shares"),
    [
        ([0.2, 0.3, 0.5], [0, 0, 1]),
        ([0.4, 0.2, 0.4], [1 / 2, 0, 1 / 2]),
        ([0.25, 0.375, 0.375], [0, 1 / 2, 1 / 2]),
        ([1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]),
        ([0, 1, 0], [0, 1, 0]),
    ],
)
def test_the_most_probable_region_takes_all_and_ties_are_shared_equally(regions, shares):
    assert most_probable_shares(np.array(regions)) == pytest.approx(shares, abs=1e-16)


def test_shares_of_many_draws_keep_their_shape():
    regions = np.full((4, 5, 3), 1 / 3)
    assert most_probable_shares(regions).shape == (4, 5, 3)
    assert most_probable_shares(regions).sum(axis=-1) == pytest.approx(np.ones((4, 5)))


@pytest.mark.parametrize(("text", "width"), [("1%", 0.01), ("0.5 %", 0.005), (" 10%", 0.1), ("0.3%", 0.003)])
def test_a_half_width_may_be_in_percent(text, width):
    assert Rope.of(text) == Rope(-width, width)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("0,01", "Did you mean 0.01?"), ("0,5%", "Did you mean 0.005?"), ("-1%", "negative"), ("%", "got '%'")],
)
def test_other_texts_are_refused(text, hint):
    with pytest.raises(hc.ArgumentError, match=re.escape(hint)):
        Rope.of(text)


@pytest.mark.parametrize("rope", [{"iris": 0.01}, pd.Series({"iris": 0.01})])
def test_a_mapping_or_a_series_is_a_rope_for_each_data_set(rope):
    assert is_by_dataset(rope)
    with pytest.raises(ArgumentError):
        Rope.of(rope)


@pytest.mark.parametrize("rope", [0.01, (-0.01, 0.01), "1%", np.array([-0.01, 0.01]), pd.DataFrame({"iris": [0.01]})])
def test_anything_else_is_not(rope):
    assert not is_by_dataset(rope)
