"""The likelihood of each data set given the population, its mean difference and standard deviation integrated out.

sigma_i in closed form leaves a Student-t likelihood of delta_i (M13); the integral over delta_i against the population (M14)
is a trapezoidal rule whose nodes resolve both densities, wherever they lie and however different their widths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiercomp.arguments import FloatArray

# Of the trapezoidal rule; its error falls as exp(-pi^2 / (2 step)) for a Gaussian, faster for heavier tails: 1e-8 here
STEP = 0.27
TAIL_SHARE = 0.01  # of that error: an infinite range ends where the integrand is this small against its peak
ITERATIONS = 2  # more would merge the two centres where the narrower peak is a shoulder of the wider one
# Arrays below 128 kB stay in the cache, and glibc takes no new pages for each of them, which Dask has it give back
PAIRS_AT_ONCE = 15_000  # of a data set and a population
NODES_AT_ONCE = 12_000
TERMS = 60  # of the continued fraction; where it is used x > 300, and 20 give all digits
LOG_NEGLIGIBLE = -23.0  # of the share that the bound of sigma_i cuts off: exp(-23) = 1e-10


def step_for(error: float, datasets: int) -> float:
    """The step of the trapezoidal rule at which the log likelihoods of all data sets are together wrong by ``error``."""
    return float(np.pi**2 / (2 * np.log(max(datasets, 1) / error)))


@dataclass(frozen=True, eq=False)
class MeanLikelihood:
    """p(x_i | delta_i) of every data set, sigma_i ~ uniform(0, ``sigma_upper``) integrated out.

    With Q(delta) = SS / (1 - rho) + n (mean - delta)^2 / (1 + (n - 1) rho) it is proportional to
    Q^(-(n - 1)/2) times the upper incomplete gamma function of ((n - 1)/2, Q / (2 sigma_upper^2)), which is a Student-t
    density with n - 2 degrees of freedom where the bound is far away.

    Attributes
    ----------
    mean, sum_of_squares, n, rho : ndarray, shape (q,)
        Sufficient statistics.
    sigma_upper : float
    """

    mean: FloatArray
    sum_of_squares: FloatArray
    n: FloatArray
    rho: FloatArray
    sigma_upper: float

    @cached_property
    def df(self) -> FloatArray:
        """Degrees of freedom, n - 2."""
        return self.n - 2

    @cached_property
    def scale(self) -> FloatArray:
        """Scale of the Student-t density of delta_i."""
        variance = self.sum_of_squares / (1 - self.rho) * (1 + (self.n - 1) * self.rho) / self.n
        return np.asarray(np.sqrt(variance / self.df))

    @cached_property
    def width(self) -> FloatArray:
        """Scale of the peak of p(x_i | delta_i): that of the Student-t density, less where the bound narrows it."""
        from scipy import special

        half, term = (self.n - 1) / 2, self.bound_term
        log_ratio = half * np.log(term) - term - special.gammaln(half) - _log_upper_gamma(half, term)
        return np.asarray(self.scale / np.sqrt(1 + np.exp(log_ratio) / half))

    @cached_property
    def bound_term(self) -> FloatArray:
        """Q / (2 sigma_upper^2) at delta_i = mean."""
        return np.asarray(self.sum_of_squares / (1 - self.rho) / (2 * self.sigma_upper**2))

    @cached_property
    def log_constant(self) -> FloatArray:
        """Log p(x_i | delta_i = mean) without the incomplete gamma factor, shape (q,)."""
        from scipy import special

        half = (self.n - 1) / 2
        log_det = np.log1p((self.n - 1) * self.rho) + (self.n - 1) * np.log1p(-self.rho)
        return np.asarray(
            special.gammaln(half)
            - np.log(2 * self.sigma_upper)
            - half * np.log(self.sum_of_squares / (1 - self.rho) / 2)
            - self.n / 2 * np.log(2 * np.pi)
            - log_det / 2
        )

    @cached_property
    def log_spread(self) -> FloatArray:
        """Log density of the differences around their mean, shape (q,): what p(x_i | delta_i) has besides that of the mean.

        It is the log of the integral of p(x_i | delta_i) over delta_i, the bound of sigma_i left aside, and the same
        whatever the population is.
        """
        return np.asarray(self.log_constant + np.log(self.scale) - _log_student_constant(1 / self.df))

    def log_marginal(self, delta0: ArrayLike, sigma0: ArrayLike, nu: ArrayLike, *, step: float = STEP) -> FloatArray:
        """Sum over the data sets of log p(x_i | delta0, sigma0, nu), for each of many populations.

        Parameters
        ----------
        delta0, sigma0, nu : array_like, shape (populations,)
            ``nu`` may be infinite.
        step : float
            Of the trapezoidal rule.

        Returns
        -------
        ndarray, shape (populations,)
        """
        delta0, sigma0, nu = (np.ravel(value) for value in np.broadcast_arrays(delta0, sigma0, nu))
        total = np.full(len(delta0), self.log_constant.sum())
        rows = max(1, PAIRS_AT_ONCE // len(self.n))
        for start in range(0, len(delta0), rows):
            part = slice(start, start + rows)
            for first in range(0, len(self.n), PAIRS_AT_ONCE):
                chosen = np.arange(first, min(first + PAIRS_AT_ONCE, len(self.n)))
                integrals = MeanIntegrals.of(self, chosen, delta0[part], sigma0[part], nu[part], step)
                total[part] += integrals.log_values().sum(axis=1)
        return total

    def log_integrals(self, delta0: ArrayLike, sigma0: ArrayLike, nu: ArrayLike, *, step: float = STEP) -> FloatArray:
        """Log p(x_i | delta0, sigma0, nu) of each data set, shape (populations, q)."""
        delta0, sigma0, nu = (np.ravel(value) for value in np.broadcast_arrays(delta0, sigma0, nu))
        chosen = np.arange(len(self.n))
        found = np.empty((len(delta0), len(self.n)))
        rows = max(1, PAIRS_AT_ONCE // len(self.n))
        for start in range(0, len(delta0), rows):
            part = slice(start, start + rows)
            found[part] = MeanIntegrals.of(self, chosen, delta0[part], sigma0[part], nu[part], step).log_values()
        return found + self.log_constant

    def subset(self, chosen: NDArray[np.intp]) -> MeanLikelihood:
        """The likelihood of some of the data sets."""
        mean, squares, n, rho = (values[chosen] for values in (self.mean, self.sum_of_squares, self.n, self.rho))
        return MeanLikelihood(mean, squares, n, rho, self.sigma_upper)

    def log_bound_factor(self, chosen: NDArray[np.intp], from_data: FloatArray) -> FloatArray:
        """Log of the regularised upper incomplete gamma function, the data sets along the last axis."""
        half = np.broadcast_to((self.n[chosen] - 1) / 2, from_data.shape)
        argument = self.bound_term[chosen] * from_data
        matters = argument > self.harmless_bound_term[chosen]
        found = np.zeros(from_data.shape)
        found[matters] = _log_upper_gamma(half[matters], argument[matters])
        return found

    @cached_property
    def harmless_bound_term(self) -> FloatArray:
        """The largest argument of the incomplete gamma function for which it is 1, near enough."""
        from scipy import special

        half = (self.n - 1) / 2
        return np.asarray(np.exp((LOG_NEGLIGIBLE + special.gammaln(half + 1)) / half))


@dataclass(frozen=True, eq=False)
class MeanIntegrals:
    """Integrals over delta_i of many data sets under many populations, each with nodes of its own.

    The map delta -> asinh((delta - c1) / A) + asinh((delta - c2) / B) makes the integrand smooth. c1 and c2 come from two
    steps of the EM algorithm for the mode of the product, from the data's and from the population's centre; they are the
    same where there is one peak, and A and B are the widths there. Steps are equal in the map's value; its inverse is the
    root of a quadratic equation.

    Attributes
    ----------
    likelihood : MeanLikelihood
    chosen : ndarray of int, shape (pairs,)
        Data set of each integral.
    shape : tuple of int
        (populations, data sets), whose product is the number of pairs.
    distance, spread, k : ndarray, shape (pairs,)
        Of the data from delta0 (not negative), sigma0, and 1 / nu.
    side : ndarray, shape (pairs,)
        -1 where the data lie below delta0, else 1.
    near_data, near_population, width1, width2 : ndarray, shape (pairs,)
        c1, c2, A, B, all seen from delta0.
    lowest, highest : ndarray, shape (pairs,)
        Ends in the map's value.
    count : ndarray of int, shape (pairs,)
        Steps between them.
    log_height : ndarray, shape (pairs,)
        About the log of the largest value of the integrand, without the bound of sigma_i.
    log_constant : ndarray, shape (pairs,)
        Of the population's density.
    bounded : ndarray of bool, shape (pairs,)
        Whether the bound of sigma_i matters.
    """

    likelihood: MeanLikelihood
    chosen: NDArray[np.intp]
    shape: tuple[int, int]
    distance: FloatArray
    spread: FloatArray
    k: FloatArray
    side: FloatArray
    near_data: FloatArray
    near_population: FloatArray
    width1: FloatArray
    width2: FloatArray
    lowest: FloatArray
    highest: FloatArray
    count: NDArray[np.int64]
    log_height: FloatArray
    log_constant: FloatArray
    bounded: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        likelihood: MeanLikelihood,
        chosen: NDArray[np.intp],
        delta0: FloatArray,
        sigma0: FloatArray,
        nu: FloatArray,
        step: float,
    ) -> MeanIntegrals:
        """Find centres, widths and ends for every data set in ``chosen`` under every population."""
        shape = len(delta0), len(chosen)
        signed = (likelihood.mean[chosen] - delta0[:, None]).ravel()
        distance = np.abs(signed)
        spread, k = np.repeat(sigma0, shape[1]), np.repeat(1 / nu, shape[1])
        chosen = np.tile(chosen, shape[0])
        a, k1 = likelihood.width[chosen], 1 / likelihood.df[chosen]
        known = distance, a**2, k1, spread**2, k
        near_data, near_population = distance, np.zeros_like(distance)
        for _ in range(ITERATIONS):
            near_data = _em_step(near_data, *known)[0]
            near_population = _em_step(near_population, *known)[0]
        width1 = 1 / np.sqrt(_em_step(near_data, *known)[1])
        width2 = 1 / np.sqrt(_em_step(near_population, *known)[1])
        # Ends: beyond both centres, where one factor alone has fallen far enough, whatever the other may still gain
        u1, u2 = (near_data - distance) / a, (near_population - distance) / a
        w1, w2 = near_data / spread, near_population / spread
        log_tail = np.log(TAIL_SHARE) - np.pi**2 / (2 * step)
        data1, population2 = _log_kernel(u1, k1), _log_kernel(w2, k)
        data2, population1 = _log_kernel(u2, k1), _log_kernel(w1, k)
        right = np.minimum(
            distance + a * _reach(data1 + log_tail, k1), spread * _reach(population1 + data1 + log_tail, k)
        )
        left = np.maximum(
            distance - a * _reach(data2 + population2 + log_tail, k1), -spread * _reach(population2 + log_tail, k)
        )
        log_height = np.maximum(data1 + population1, data2 + population2)
        lowest = np.arcsinh((left - near_data) / width1) + np.arcsinh((left - near_population) / width2)
        highest = np.arcsinh((right - near_data) / width1) + np.arcsinh((right - near_population) / width2)
        # One peak is mapped by twice the same function, so half as many steps do
        single = 1 / (1 + ((near_data - near_population) / np.minimum(width1, width2)) ** 2)
        count = np.ceil((highest - lowest) / (step * (1 + single))).astype(np.int64)
        side = np.where(signed < 0, -1.0, 1.0)
        farthest = np.maximum(right - distance, distance - left) / likelihood.scale[chosen]
        bounded = likelihood.bound_term[chosen] * (1 + k1 * farthest**2) > likelihood.harmless_bound_term[chosen]
        log_constant = np.repeat(_log_student_constant(1 / nu) - np.log(sigma0), shape[1])
        return cls(
            likelihood, chosen, shape, distance, spread, k, side,
            near_data, near_population, width1, width2, lowest, highest, count,
            log_height, log_constant, bounded,
        )  # fmt: skip

    def log_values(self) -> FloatArray:
        """Log of each integral less the data set's constant, shape (populations, data sets)."""
        values = np.empty(len(self.count))
        order = np.argsort(self.count, kind="stable")
        first = 0
        while first < len(order):
            # as many alike integrals as stay in the cache together
            some = order[first : first + max(1, NODES_AT_ONCE // int(self.count[order[first]] + 1))]
            nodes = self.nodes(some)
            density = np.exp(nodes.log_density, out=nodes.log_density)
            values[some] = np.log(np.einsum("ij,ij->j", density, nodes.weight)) + nodes.log_peak
            first += len(some)
        return values.reshape(self.shape)

    def nodes(self, some: NDArray[np.intp]) -> Nodes:
        """The nodes of some of the integrals.

        The pairs run along the last axis: loops over some hundred of them are faster than loops over some fifteen nodes.
        """
        count = int(self.count[some].max())
        chosen, k = self.chosen[some], self.k[some]
        width1, width2 = self.width1[some], self.width2[some]
        lowest = self.lowest[some]
        spacing = (self.highest[some] - lowest) / count
        ratio, gap = width1 / width2, (self.near_data[some] - self.near_population[some]) / width2
        # In place from here on: these arrays are nearly all of the engine's work
        growth = np.arange(count + 1)[:, None] * spacing
        growth += lowest
        np.exp(growth, out=growth)
        shrinkage = 1 / growth
        cosh = growth + shrinkage
        sinh = np.subtract(growth, shrinkage, out=growth)  # twice cosh and sinh
        denominator = np.add(cosh, ratio, out=shrinkage)
        denominator *= ratio
        denominator += 1
        root = np.sqrt(denominator + gap**2)
        sinh *= root
        cosh += 2 * ratio
        cosh *= gap
        u = np.subtract(sinh, cosh, out=sinh)
        u /= denominator
        u /= 2
        v = np.multiply(u, ratio, out=root)
        v += gap
        # The weight is spacing / (1 / (width1 sqrt(1 + u^2)) + 1 / (width2 sqrt(1 + v^2)))
        slope1 = np.multiply(u, u, out=cosh)
        slope1 += 1
        np.sqrt(slope1, out=slope1)
        slope1 *= width1
        v *= v
        v += 1
        slope2 = np.sqrt(v, out=v)
        slope2 *= width2
        sums = np.add(slope1, slope2, out=denominator)
        weight = np.multiply(slope1, slope2, out=slope1)
        weight /= sums
        weight *= spacing
        df, scale = self.likelihood.df[chosen], self.likelihood.scale[chosen]
        offset = np.multiply(u, width1, out=u)
        from_data = offset + (self.near_data - self.distance)[some]
        offset += self.near_data[some]
        from_data *= from_data
        from_data *= 1 / (scale**2 * df)
        from_data += 1
        log_density = np.log(from_data)
        log_density *= -(df + 1) / 2
        log_density += _log_kernel(offset / self.spread[some], k)
        log_peak = self.log_height[some]
        bounded = self.bounded[some]
        if bounded.any():
            log_density[:, bounded] += self.likelihood.log_bound_factor(chosen[bounded], from_data[:, bounded])
            log_peak = log_density.max(axis=0)
        log_density -= log_peak
        return Nodes(offset, weight, log_density, log_peak + self.log_constant[some])


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes of integrals over delta_i.

    Attributes
    ----------
    offset : ndarray, shape (nodes, pairs)
        (delta_i - delta0) times the side of the data.
    weight, log_density : ndarray, shape (nodes, pairs)
        Weights, and the log of the integrand less about its largest value.
    log_peak : ndarray, shape (pairs,)
        That value, normalised as a density of the population.
    """

    offset: FloatArray
    weight: FloatArray
    log_density: FloatArray
    log_peak: FloatArray


def _log_upper_gamma(half: FloatArray, argument: FloatArray) -> FloatArray:
    """Log of the regularised upper incomplete gamma function, also where the function underflows."""
    from scipy import special

    half, argument = np.broadcast_arrays(half, argument)
    found = -argument  # that of half = 1, three scores, where the bound matters most
    found[half == 2] += np.log1p(argument[half == 2])  # five scores; the general function takes ten times as long
    other, smallest = (half != 1) & (half != 2), np.finfo(float).tiny
    share = special.gammaincc(half[other], argument[other])
    found[other] = np.log(np.maximum(share, smallest))
    far = np.zeros(half.shape, bool)
    far[other] = share <= smallest
    if far.any():
        # The continued fraction of Legendre (Abramowitz & Stegun 6.5.31), even part, from its end on
        a, x = half[far], argument[far]
        fraction = x + 2 * TERMS + 1 - a
        for k in range(TERMS, 0, -1):
            fraction = x + 2 * k - 1 - a - k * (k - a) / fraction
        found[far] = a * np.log(x) - x - special.gammaln(a) - np.log(fraction)
    return np.asarray(found)


def _em_step(
    delta: FloatArray, distance: FloatArray, a2: FloatArray, k1: FloatArray, spread2: FloatArray, k2: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The next value and the precision at this one; the data lie at ``distance``, the population at 0."""
    data = (1 + k1) / (a2 + k1 * (delta - distance) ** 2)
    population = (1 + k2) / (spread2 + k2 * delta**2)
    precision = data + population
    return data * distance / precision, precision


def _log_kernel(z: FloatArray, k: FloatArray) -> FloatArray:
    """Log of the Student-t kernel with 1/k degrees of freedom; k = 0 is a Gaussian."""
    gaussian = k == 0
    if gaussian.all():
        return np.asarray(-0.5 * z**2)
    safe = np.where(gaussian, 1.0, k)
    kernel = z * z
    kernel *= safe
    np.log1p(kernel, out=kernel)
    kernel *= -(1 / safe + 1) / 2
    return np.asarray(np.where(gaussian, -0.5 * z**2, kernel) if gaussian.any() else kernel)


def _reach(drop: FloatArray, k: FloatArray) -> FloatArray:
    """Where the log of a kernel is ``drop``."""
    gaussian = k == 0
    safe = np.where(gaussian, 1.0, k)
    heavy = np.sqrt(np.expm1(-2 * safe / (1 + safe) * np.where(gaussian, 0.0, drop)) / safe)
    return np.asarray(np.where(gaussian, np.sqrt(-2 * drop), heavy) if gaussian.any() else heavy)


def _log_student_constant(k: FloatArray) -> FloatArray:
    from scipy import special

    nu = 1 / np.where(k > 0, k, 1.0)
    constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return np.asarray(np.where(k > 0, constant, -0.5 * np.log(2 * np.pi)))
