"""The likelihood of a data set given the population, against integrations that share nothing with the engine's."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest
from numpy.polynomial import chebyshev
from numpy.polynomial.legendre import leggauss
from scipy import integrate, special, stats

from hiercomp.engines.quadrature.axes import ChebyshevAxis
from hiercomp.engines.quadrature.likelihood import Lines, MeanLikelihood, _log_upper_gamma, inverse, step_for

PROBLEMS = 200
POPULATIONS = 4  # of each problem


def random_problem(number: int) -> tuple[MeanLikelihood, np.ndarray, np.ndarray, np.ndarray]:
    """A likelihood of 1 to 30 data sets, and populations from far narrower to far wider than it."""
    generator = np.random.default_rng([5, number])
    q = int(generator.integers(1, 31))
    n = generator.integers(3, 101, q).astype(float)
    if number % 4 == 0:
        n[generator.integers(q)] = 3
    rho = generator.choice([0.0, 0.1, 0.2, 0.5, 0.9], q) if number % 2 else np.full(q, 0.1)
    sigma = generator.gamma(4, 0.25, q)
    mean = generator.normal(0.0, generator.choice([0.01, 0.3, 3.0]), q)
    outlying = generator.random(q) < 0.15
    mean[outlying] += generator.choice([-1.0, 1.0], outlying.sum()) * 10 ** generator.uniform(0.5, 2.5, outlying.sum())
    sum_of_squares = sigma**2 * (1 - rho) * generator.chisquare(n - 1)
    likelihood = MeanLikelihood(mean, sum_of_squares, n, rho, 1000.0 if number % 3 else 100.0)
    sigma0 = np.median(likelihood.scale) * 10 ** generator.uniform(-3, np.log10(50), POPULATIONS)
    nu = np.array([1.0001, 10 ** generator.uniform(0.01, 1), 10 ** generator.uniform(1, np.log10(500)), np.inf])
    delta0 = generator.normal(0.0, 0.5, POPULATIONS)
    delta0[number % POPULATIONS] += generator.choice([-30.0, 30.0])
    return likelihood, delta0, sigma0, nu


def log_density_of_scores(delta, mean, sum_of_squares, n, rho, sigma_upper):
    """log p(x_i | delta_i), the integral of the normal density over sigma_i ~ uniform(0, ``sigma_upper``).

    With s = Q / (2 sigma^2): (2 pi)^(-n/2) |M|^(-1/2) / (2 u) (Q/2)^(-(n - 1)/2) Gamma((n - 1)/2, Q / (2 u^2)).
    """
    quadratic = sum_of_squares / (1 - rho) + n * (mean - delta) ** 2 / (1 + (n - 1) * rho)
    log_determinant = np.log(1 + (n - 1) * rho) + (n - 1) * np.log(1 - rho)
    shape = (n - 1) / 2
    with np.errstate(divide="ignore"):  # so far away that nothing is left
        log_gamma = special.gammaln(shape) + np.log(special.gammaincc(shape, quadratic / (2 * sigma_upper**2)))
    constant = -n / 2 * np.log(2 * np.pi) - log_determinant / 2 - np.log(2 * sigma_upper)
    return constant - shape * np.log(quadratic / 2) + log_gamma


def population_log_density(delta, delta0, sigma0, nu):
    return stats.norm.logpdf(delta, delta0, sigma0) if np.isinf(nu) else stats.t.logpdf(delta, nu, delta0, sigma0)


def composite_log_integral(statistics, delta0, sigma0, nu, *, order=20):
    """Gauss and Legendre's rule on pieces that grow in geometric progression away from both centres."""
    mean, sum_of_squares, n, rho, _ = statistics
    own_scale = np.sqrt(sum_of_squares / (1 - rho) * (1 + (n - 1) * rho) / n)
    multiples = 2.0 ** np.arange(-3, 45)
    places = ((mean, own_scale), (delta0, sigma0))
    ends = [centre + scale * np.concatenate([-multiples, [0.0], multiples]) for centre, scale in places]
    ends = np.unique(np.concatenate(ends))
    nodes, weights = leggauss(order)
    middle, half = (ends[1:] + ends[:-1]) / 2, np.diff(ends) / 2
    delta = (middle[:, None] + half[:, None] * nodes).ravel()
    log_values = log_density_of_scores(delta, *statistics) + population_log_density(delta, delta0, sigma0, nu)
    with np.errstate(divide="ignore"):
        return special.logsumexp(log_values + np.log(np.outer(half, weights)).ravel())


def statistics_of(likelihood: MeanLikelihood, dataset: int) -> tuple[float, ...]:
    fields = (likelihood.mean, likelihood.sum_of_squares, likelihood.n, likelihood.rho)
    return (*(float(values[dataset]) for values in fields), likelihood.sigma_upper)


@pytest.mark.parametrize("first", range(0, PROBLEMS, 50))
def test_the_integral_over_delta_agrees_with_thousands_of_nodes_in_random_problems(first):
    worst = 0.0
    for number in range(first, first + 50):
        likelihood, delta0, sigma0, nu = random_problem(number)
        found = likelihood.log_integrals(delta0, sigma0, nu)
        assert found.shape == (POPULATIONS, len(likelihood.n))
        which = number % POPULATIONS
        for dataset in range(len(likelihood.n)):
            expected = composite_log_integral(
                statistics_of(likelihood, dataset), delta0[which], sigma0[which], nu[which]
            )
            worst = max(worst, abs(found[which, dataset] - expected))
    print(f"largest error of a log integral: {worst:.2g}")
    assert worst < 1e-6


def test_the_reference_has_converged():
    # 40 nodes instead of 20 on each of some 190 pieces
    for number in (0, 44, 88, 176):
        likelihood, delta0, sigma0, nu = random_problem(number)
        for which in range(POPULATIONS):
            population = delta0[which], sigma0[which], nu[which]
            known = statistics_of(likelihood, 0)
            coarse, fine = (
                composite_log_integral(known, *population),
                composite_log_integral(known, *population, order=40),
            )
            assert abs(coarse - fine) < 1e-9


# A narrow population beside a wide likelihood and the other way round, far outlying data, the smallest n, the heaviest tails
HARD = [
    (distance, ratio, nu, n)
    for distance, ratio in [(0.0, 1e-3), (3.0, 1e-3), (800.0, 3e-3), (25.0, 1.0), (40.0, 50.0)]
    for nu, n in [(1.0001, 3), (1.0001, 100), (500.0, 3), (float("inf"), 10)]
]


@pytest.mark.parametrize(("distance", "ratio", "nu", "n"), HARD)
def test_the_hardest_integrals_agree_with_arbitrary_precision(distance, ratio, nu, n):
    # distance and ratio are in scales of the likelihood; mpmath integrates the unsimplified formula with 25 digits
    rho, sum_of_squares, sigma_upper = 0.1, (n - 1) * 0.81, 100.0
    scale = np.sqrt(sum_of_squares / (1 - rho) * (1 + (n - 1) * rho) / n / (n - 2))
    likelihood = MeanLikelihood(
        *(np.array([value]) for value in (distance * scale, sum_of_squares, n, rho)), sigma_upper
    )
    found = likelihood.log_integrals(0.0, ratio * scale, nu)[0, 0]
    with mpmath.workdps(25):
        mean, sigma0 = mpmath.mpf(distance * scale), mpmath.mpf(ratio * scale)
        shape = mpmath.mpf(n - 1) / 2

        def density(delta):
            quadratic = sum_of_squares / (1 - mpmath.mpf(rho)) + n * (mean - delta) ** 2 / (
                1 + (n - 1) * mpmath.mpf(rho)
            )
            data = quadratic**-shape * mpmath.gammainc(shape, quadratic / (2 * sigma_upper**2))
            if np.isinf(nu):
                return data * mpmath.npdf(delta, 0, sigma0)
            constant = mpmath.gamma((nu + 1) / 2) / mpmath.gamma(nu / 2) / mpmath.sqrt(nu * mpmath.pi) / sigma0
            return data * constant * (1 + (delta / sigma0) ** 2 / nu) ** (-(mpmath.mpf(nu) + 1) / 2)

        widths = [mpmath.mpf(2) ** power for power in range(-2, 21)]
        ends = {mean, mpmath.mpf(0)}
        for width in widths:
            ends |= {mean + side * width * scale for side in (-1, 1)} | {side * width * sigma0 for side in (-1, 1)}
        total = mpmath.quad(density, sorted(ends), method="gauss-legendre", maxdegree=4)
        determinant = (1 + (n - 1) * mpmath.mpf(rho)) * (1 - mpmath.mpf(rho)) ** (n - 1)
        constant = (2 * mpmath.pi) ** (-mpmath.mpf(n) / 2) / mpmath.sqrt(determinant) / (2 * sigma_upper) * 2**shape
        expected = float(mpmath.log(total * constant))
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("nu", [0.1, 1.4, 30.0])
@pytest.mark.parametrize("ratio", [1e-6, 1e-2, 1e3])
@pytest.mark.parametrize("n", [3.0, 5.0, 10.0])
def test_a_population_beyond_the_bound_of_sigma_does_not_hide_the_data(n, ratio, nu):
    # Without the bound, the peak at the population would hold nearly everything; with it, the data's does
    likelihood = MeanLikelihood(*(np.array([value]) for value in (0.0, n - 1, n, 0.1)), 1000.0)
    for distance in (3e3, 1e5, 5e6):
        found = likelihood.log_integrals(distance, ratio, nu)[0, 0]
        expected = composite_log_integral(statistics_of(likelihood, 0), distance, ratio, nu)
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("nu", [1.4, 30.0, np.inf])
@pytest.mark.parametrize("ratio", [1e-8, 1e-3, 1e2])
@pytest.mark.parametrize("distance", [2e3, 1e5, 1e7, 1e9])
def test_a_data_set_a_thousand_million_standard_deviations_away_is_integrated(distance, ratio, nu):
    likelihood = MeanLikelihood(*(np.array([value]) for value in (distance, 9.0, 10.0, 0.1)), 1e12)
    found = likelihood.log_integrals(0.0, ratio, nu)[0, 0]
    expected = composite_log_integral(statistics_of(likelihood, 0), 0.0, ratio, nu)
    assert found == pytest.approx(expected, abs=2e-6)


def peaks_that_nearly_merge(generator):
    """Number of scores, nu, width of the population in that of the data, and distance in that of the data."""
    n, nu = float(generator.choice([3, 5, 10, 30, 100])), 1 / generator.uniform(0, 2)
    return n, nu, 10 ** generator.uniform(-0.5, 0.7), generator.uniform(0, 6)


def narrow_peak_with_heavy_tails_beside_a_broad_one(generator):
    """The same, where the broad one is nearly Gaussian: the data's or the population's."""
    broad_data = generator.random() < 0.5
    n = float(generator.choice([25, 100, 1000] if broad_data else [3, 4, 5]))
    nu = 1 / (generator.uniform(0.1, 10) if broad_data else generator.uniform(0, 0.1))
    ratio = 10 ** (generator.uniform(0, 6) * (-1 if broad_data else 1))
    return n, nu, ratio, generator.uniform(0, 6) * max(1, ratio)


# At most 3.2 times the error asked for in 1,500 draws of the first, 2.9 in 23,000 of the second
@pytest.mark.parametrize(
    ("drawn", "largest"), [(peaks_that_nearly_merge, 4), (narrow_peak_with_heavy_tails_beside_a_broad_one, 3)]
)
@pytest.mark.parametrize("error", [1e-3, 1e-5])
def test_two_peaks_are_integrated_to_about_the_error_asked_for(drawn, largest, error):
    generator = np.random.default_rng(3)
    worst = 0.0
    for _ in range(400):
        n, nu, ratio, distance = drawn(generator)
        likelihood = MeanLikelihood(*(np.array([value]) for value in (0.0, n - 1, n, 0.1)), 1000.0)
        population = distance * likelihood.scale[0], ratio * likelihood.scale[0], nu
        found = likelihood.log_integrals(*population, step=step_for(error, 1))[0, 0]
        worst = max(worst, abs(found - composite_log_integral(statistics_of(likelihood, 0), *population)))
    print(f"largest error: {worst / error:.2g} times the one asked for")
    assert error < worst < largest * error  # no digits that nobody asked for


@pytest.mark.parametrize("sigma_upper", [1000.0, 3.0, 1.0])
@pytest.mark.parametrize(("n", "rho"), [(3, 0.0), (3, 0.5), (8, 0.1), (25, 0.3)])
def test_the_closed_form_is_the_average_of_the_normal_density_over_sigma(n, rho, sigma_upper):
    # The n x n covariance itself, without (M8) and (M9); a population far narrower than the likelihood picks out a delta_i
    generator = np.random.default_rng(n)
    x = 0.4 + generator.normal(size=n)
    mean, sum_of_squares = x.mean(), ((x - x.mean()) ** 2).sum()
    correlation = (1 - rho) * np.eye(n) + rho
    delta = 0.1
    quadratic = (x - delta) @ np.linalg.solve(correlation, x - delta)
    log_determinant = np.linalg.slogdet(correlation)[1]

    def log_density(sigma):
        return -n / 2 * np.log(2 * np.pi) - log_determinant / 2 - n * np.log(sigma) - quadratic / (2 * sigma**2)

    peak = min(np.sqrt(quadratic / n), sigma_upper)
    ends = np.unique(np.minimum([1e-3, peak, 3.0, 10.0, 100.0, sigma_upper], sigma_upper))
    pieces = [
        integrate.quad(lambda sigma: np.exp(log_density(sigma) - log_density(peak)), *piece, epsrel=1e-11)[0]
        for piece in itertools.pairwise(ends)
    ]
    expected = log_density(peak) + np.log(sum(pieces) / sigma_upper)
    assert log_density_of_scores(delta, mean, sum_of_squares, n, rho, sigma_upper) == pytest.approx(expected, abs=1e-8)
    likelihood = MeanLikelihood(*(np.array([value]) for value in (mean, sum_of_squares, n, rho)), sigma_upper)
    narrow = likelihood.log_integrals(delta, 1e-6 * likelihood.scale[0], np.inf)[0, 0]
    assert narrow == pytest.approx(expected, abs=1e-6)
    # and at delta_i = mean, where log_constant has no other factor than that of the bound
    at_mean = likelihood.log_integrals(mean, 1e-6 * likelihood.scale[0], np.inf)[0, 0]
    factor = special.gammaincc((n - 1) / 2, likelihood.bound_term[0])
    assert at_mean == pytest.approx(likelihood.log_constant[0] + np.log(factor), abs=1e-6)


def test_the_sum_over_data_sets_is_the_same_in_blocks_of_any_size(monkeypatch):
    likelihood, *_ = random_problem(7)
    generator = np.random.default_rng(0)
    delta0, sigma0 = generator.normal(size=300), 10 ** generator.uniform(-2, 1, 300)
    nu = np.where(np.arange(300) % 7 == 0, np.inf, 10 ** generator.uniform(0.1, 2, 300))
    single = likelihood.log_integrals(delta0, sigma0, nu).sum(axis=1)
    for pairs, nodes in ((60_000, 30_000), (100, 200), (7, 1)):
        monkeypatch.setattr("hiercomp.engines.quadrature.likelihood.PAIRS_AT_ONCE", pairs)
        monkeypatch.setattr("hiercomp.engines.quadrature.likelihood.NODES_AT_ONCE", nodes)
        # The number of steps of integrals that are done together is the largest of them, which moves the last digits
        np.testing.assert_allclose(likelihood.log_marginal(delta0, sigma0, nu), single, atol=1e-6 * len(likelihood.n))


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_the_bound_of_sigma_is_left_out_where_it_cuts_off_a_share_of_1e_10(n):
    likelihood = MeanLikelihood(np.zeros(1), np.ones(1), np.array([float(n)]), np.array([0.1]), 1000.0)
    cut_off = special.gammainc((n - 1) / 2, likelihood.harmless_bound_term)
    assert cut_off == pytest.approx(np.exp(-23), rel=2e-4)  # the next terms of the series are below 1.2e-4 of the first


@pytest.mark.parametrize("n", [2.0, 3.0, 5.0, 6.0, 8.5, 12.0, 17.0, 18.0, 100.0])
def test_the_incomplete_gamma_function_of_the_bound_has_all_its_digits(n):
    argument = np.array([1e-12, 1e-3, 0.4, 3.0, 60.0, 900.0, 1e5])
    half = (n - 1) / 2
    found = _log_upper_gamma(np.full(argument.shape, half), argument)
    with mpmath.workdps(40):
        exact = [mpmath.log(mpmath.gammainc(half, mpmath.mpf(x), regularized=True)) for x in argument.tolist()]
        error = [abs(mpmath.mpf(value) - each) for value, each in zip(found.tolist(), exact, strict=True)]
    assert all(each <= 4e-15 * max(1, abs(size)) for each, size in zip(error, exact, strict=True))


def test_half_the_step_changes_the_integrals_by_less_than_a_millionth():
    for number in range(40):
        likelihood, *population = random_problem(number)
        fine = likelihood.log_integrals(*population, step=0.15)
        np.testing.assert_allclose(likelihood.log_integrals(*population), fine, atol=1e-6, rtol=0)


def test_mirrored_data_and_another_unit_give_the_same_integrals():
    likelihood, delta0, sigma0, nu = random_problem(11)
    given = likelihood.log_integrals(delta0, sigma0, nu)
    fields = likelihood.sum_of_squares, likelihood.n, likelihood.rho, likelihood.sigma_upper
    mirrored = MeanLikelihood(-likelihood.mean, *fields).log_integrals(-delta0, sigma0, nu)
    np.testing.assert_allclose(mirrored, given, rtol=0, atol=1e-12)
    unit = 100.0
    scaled = MeanLikelihood(unit * likelihood.mean, unit**2 * fields[0], fields[1], fields[2], unit * fields[3])
    found = scaled.log_integrals(unit * delta0, unit * sigma0, nu)
    np.testing.assert_allclose(found, given - likelihood.n * np.log(unit), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("ratio", "nu"), [(1e-5, 1.0001), (1e-8, 1.0001), (1e-8, 0.3), (1e-12, 0.1), (1e6, 1.5)])
@pytest.mark.parametrize("n", [3.0, 100.0])
def test_tails_that_hold_mass_far_away_are_not_cut_off(ratio, nu, n):
    # A density that has fallen by 1e-9 says little of the mass beyond where that falls like distance^-nu
    fields = (np.array([value]) for value in (0.1, 0.8 * (n - 1), n, 0.1))
    likelihood = MeanLikelihood(*fields, 1e9)
    population = 0.0, ratio * float(likelihood.scale[0]), nu
    expected = composite_log_integral(statistics_of(likelihood, 0), *population)
    assert likelihood.log_integrals(*population)[0, 0] == pytest.approx(expected, abs=1e-6)


def test_data_sets_that_are_equal_count_as_often_as_they_occur():
    likelihood, *population = random_problem(7)
    repeated = likelihood.subset(np.array([3, 0, 3, 3, 1, 0]))
    distinct, which = repeated.distinct
    assert len(distinct.n) == 3
    np.testing.assert_array_equal(distinct.mean[which], repeated.mean)
    expected = likelihood.log_integrals(*population) @ np.bincount([3, 0, 3, 3, 1, 0], minlength=len(likelihood.n))
    np.testing.assert_allclose(repeated.log_marginal(*population), expected, atol=1e-5)


@pytest.mark.parametrize("number", range(12))
def test_values_along_lines_are_those_of_every_node(number):
    # Lines as short as those of the engine's grids: some scales of delta0 given the others
    likelihood, _, sigma0, nu = random_problem(number)
    axis = ChebyshevAxis(-6.0, 6.0, 21)
    centre = np.full(4, np.median(likelihood.mean))
    scale = np.median(np.hypot(likelihood.scale, sigma0[:, None]), axis=1) / np.sqrt(len(likelihood.n))
    error = 1e-6
    delta0 = centre[:, None] + scale[:, None] * axis.nodes
    expected = likelihood.log_marginal(delta0, sigma0[:, None], nu[:, None], step=step_for(1e-9, 1)).reshape(4, 21)
    lines = Lines(axis, centre, scale, sigma0, nu)
    found = likelihood.log_marginal_on_lines(lines, error)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2 * error * len(likelihood.n))
    thrice = likelihood.subset(np.tile(np.arange(len(likelihood.n)), 3)).log_marginal_on_lines(lines, error)
    np.testing.assert_allclose(thrice, 3 * expected, rtol=0, atol=6 * error * len(likelihood.n))


def integrals_of(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets the number of integrals of each call from now on."""
    computed, log_kernels = [], MeanLikelihood.log_kernels

    def counted(*arguments):
        found = log_kernels(*arguments)
        computed.append(found.size)
        return found

    monkeypatch.setattr(MeanLikelihood, "log_kernels", counted)
    return computed


@pytest.mark.parametrize("scale", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("nu", [1.5, np.inf])
@pytest.mark.parametrize("n", [3.0, 5.0])
def test_a_wide_data_set_is_integrated_at_few_nodes_of_a_line(monkeypatch, n, nu, scale):
    # As many as Chebyshev's series of its log density has terms above the error, half as many more, and two to spare
    likelihood = MeanLikelihood(*(np.array([value]) for value in (0.4, 0.9 * (n - 1), n, 0.1)), 1000.0)
    error, places = 1e-6, np.cos(np.pi * (np.arange(200) + 0.5) / 200)
    exact = likelihood.log_integrals(6 * scale * places, np.full(200, 0.3), np.full(200, nu), step=step_for(1e-10, 1))
    coefficients = np.abs(chebyshev.chebfit(places, exact[:, 0], 150))
    terms = int(np.flatnonzero(coefficients[::-1].cumsum()[::-1] > error)[-1]) + 1

    computed = integrals_of(monkeypatch)
    line = (np.full(1, value) for value in (0.0, scale, 0.3, nu))
    likelihood.log_kernels_on_lines(Lines(ChebyshevAxis(-6.0, 6.0, 60), *line), np.array([0]), error)
    assert terms <= sum(computed) <= 1.5 * terms + 2


@pytest.mark.parametrize("number", range(24))
def test_values_at_places_are_those_of_every_place(monkeypatch, number):
    # Places as a stretched axis has them: dense about the data, and many widths away from them. The step of the integrals is
    # the same finer one for both, so what differs is the polynomials' error
    monkeypatch.setattr("hiercomp.engines.quadrature.likelihood.step_for", lambda *_: step_for(1e-9, 1))
    likelihood, _, sigma0, nu = random_problem(number)
    steps = np.linspace(-6.0, 6.0, 80)
    delta0 = np.median(likelihood.mean) + np.median(likelihood.scale) * np.sinh(steps)
    error = 1e-6
    populations = (values.ravel() for values in np.broadcast_arrays(delta0, sigma0[:, None], nu[:, None]))
    expected = likelihood.log_integrals(*populations, step=step_for(1e-9, 1)).reshape(4, 80, -1)
    for i in range(len(likelihood.n)):
        found = likelihood.log_integrals_at_places(i, delta0, sigma0, nu, error)
        np.testing.assert_allclose(found, expected[..., i], rtol=0, atol=error)
    twice = likelihood.subset(np.tile(np.arange(len(likelihood.n)), 2))
    found = twice.log_marginal_at_places(delta0, sigma0, nu, error)
    np.testing.assert_allclose(found, 2 * expected.sum(axis=-1), rtol=0, atol=2 * error * len(likelihood.n))


def test_few_distances_stand_for_many_places(monkeypatch):
    # 5 scores about a Student-t population: both tails are powers, and asinh of the distance is a natural coordinate
    likelihood = MeanLikelihood(*(np.array([value]) for value in (0.4, 3.6, 5.0, 0.1)), 1000.0)
    computed = integrals_of(monkeypatch)
    delta0 = np.sinh(np.linspace(-6.0, 6.0, 200))
    likelihood.log_integrals_at_places(0, delta0, np.array([0.3]), np.array([3.0]), 1e-6)
    assert sum(computed) < 200 / 3
    computed.clear()  # a polynomial through so few places would be worth as much
    likelihood.log_integrals_at_places(0, delta0[::40], np.array([0.3]), np.array([3.0]), 1e-6)
    assert sum(computed) == 5


def test_a_distribution_function_is_inverted_exactly_where_its_density_is_of_straight_lines():
    generator = np.random.default_rng(2)
    places = np.linspace(-1.0, 4.0, 11) + np.zeros((200, 1))
    density = generator.gamma(0.5, size=places.shape)
    density[:50, :4], density[50:100, -3:] = 0.0, 0.0
    level = generator.random(200)
    level[:2], level[100:102] = 1.0, 0.0
    found = inverse(places, density, level)
    for row in range(200):
        ends = np.sort(np.append(places[row], found[row]))
        heights = np.interp(ends, places[row], density[row])
        below = ends[1:] <= found[row]
        masses = np.diff(ends) * (heights[1:] + heights[:-1]) / 2
        assert masses[below].sum() / masses.sum() == pytest.approx(level[row], abs=1e-14)
