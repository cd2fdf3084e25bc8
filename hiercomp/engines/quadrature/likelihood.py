"""The likelihood of each data set given the population, its mean difference and standard deviation integrated out.

sigma_i in closed form leaves a Student-t likelihood of delta_i (M13); the integral over delta_i against the population (M14)
is a trapezoidal rule whose nodes resolve both densities, wherever they lie and however different their widths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.axes import ChebyshevAxis

# Of the trapezoidal rule; its error falls as exp(-pi^2 / (2 step)) for a Gaussian, faster for heavier tails: 1e-8 here
STEP = 0.27
WIDEST = 3.0  # by which the map's widths may be those of the peaks: a third fewer nodes for Gaussians
# Share by which the step is longer where both densities have the heaviest tails; degrees of freedom at which half of it is
# left; widths of a broad density that its centre may lie away from a narrow one about which it counts as flat. All are less
# than the errors of products of Student-t densities allow
LONGER, HALF_LONGER, FLAT_WITHIN = 0.6, 4.0, 4.0
APART = 5.0  # how fast two peaks cease to count as one with the squared distance of their centres, in the smaller width
FAR_APART = 1e4  # distance of two centres, in the larger width, above which places near the first lose 8 of 16 digits
TAIL_SHARE = 0.1  # of that error: about as much lies beyond the ends of the range
ITERATIONS = 2  # more would merge the two centres where the narrower peak is a shoulder of the wider one
# Arrays below 128 kB stay in the cache, and glibc takes no new pages for each of them, which Dask has it give back
PAIRS_AT_ONCE = 8_000  # of a data set and a population
NODES_AT_ONCE, NODE_ARRAYS = 24_000, 5
MOST_SORTED = 65_535  # 16 bits, which NumPy sorts many times as fast as more; so many nodes are worked on alone
VALUES_AT_ONCE, DATASETS_AT_ONCE = 250_000, 5_000  # of data sets at nodes of lines: 2 MB
FEWEST_ON_LINE, SPARE_ON_LINE = 6, 2  # nodes of a data set on a line, and how many more than are expected to do
SHARE_OF_LINE = 0.25  # of the error allowed, for the polynomial along a line
SLOWEST_FALL = 0.9  # of coefficients along a line that the estimate of their sum reckons with
FEWEST_DISTANCES = 6  # from a data set's mean, besides 0, before they are doubled
MOST_DISTANCES = 0.65  # share of the places, above which all of these are computed
MORE_DEGREES = 1.7  # times those expected: along asinh of the distance the expected ones are often too few
# 1 / degrees of freedom; and the share of the fall that each of two factors makes, half of it times 1 + 1 / (nu + df + 1),
# as the mass beyond falls by a power less than the density
HEAVY_TAILED, HALF_AND_MORE = 0.05, 0.75
LARGEST_EXPONENT = 700.0  # of the largest double
# Nodes of draws are joined by straight lines: an error of 0.12^2 / 12 = 0.001 of a density
FOR_DRAWS = {"step": 0.12, "widest": 1.0, "longer": 0.0}
DRAWS_AT_ONCE, INVERTED_AT_ONCE = 50_000, 1000  # of a draw and a data set; 0.4 MB for each of some ten arrays
# Half the degrees of freedom, and arguments, up to which the incomplete gamma function is a short sum
MOST_CLOSED, FAR_ARGUMENT = 8.0, 1e30
TERMS = 60  # of the continued fraction; where it is used x > 300, and 20 give all digits
LOG_NEGLIGIBLE = -23.0  # of the share that the bound of sigma_i cuts off: exp(-23) = 1e-10


def step_for(error: float, datasets: int) -> float:
    """The step of the trapezoidal rule at which the log likelihoods of all data sets are together wrong by ``error``."""
    return float(np.pi**2 / (2 * np.log(max(datasets, 1) / error)))


def memory_for_nodes() -> FloatArray:
    """The memory that `MeanIntegrals.nodes` works in: taken once, since new pages cost as much as what is done in them."""
    return np.empty((NODE_ARRAYS, NODES_AT_ONCE))


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
        return np.asarray(self.log_constant + np.log(self.scale) - log_student_constant(1 / self.df))

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
        total, work = np.full(len(delta0), self.log_constant.sum()), memory_for_nodes()
        distinct, which = self.distinct
        times = np.bincount(which).astype(np.float64)
        rows = max(1, PAIRS_AT_ONCE // len(times))
        for start in range(0, len(delta0), rows):
            part = slice(start, start + rows)
            for first in range(0, len(times), PAIRS_AT_ONCE):
                some = slice(first, first + PAIRS_AT_ONCE)
                chosen = np.arange(len(times))[some]
                found = distinct.log_kernels(chosen, delta0[part, None], sigma0[part, None], nu[part, None], step, work)
                total[part] += (found * times[some]).sum(axis=1)
        return total

    def log_marginal_on_lines(self, lines: Lines, error: float) -> FloatArray:
        """The sum over the data sets along lines in delta0, shape (lines, nodes), each wrong by about ``error``."""
        distinct, which = self.distinct
        times = np.bincount(which).astype(np.float64)
        total = np.full((len(lines.centre), lines.axis.count), self.log_constant.sum())
        for first in range(0, len(times), DATASETS_AT_ONCE):
            chosen = np.arange(len(times))[first : first + DATASETS_AT_ONCE]
            rows = max(1, VALUES_AT_ONCE // (lines.axis.count * len(chosen)))
            for start in range(0, len(total), rows):
                part = slice(start, start + rows)
                found = distinct.log_kernels_on_lines(lines.part(part), chosen, error)
                total[part] += (found * times[chosen, None]).sum(axis=1)
        return total

    def log_kernels_on_lines(self, lines: Lines, chosen: NDArray[np.intp], error: float) -> FloatArray:
        """Log p(x_i | delta0, sigma0, nu) less ``log_constant`` of some data sets along lines in delta0.

        A data set that is wide against a line needs few nodes there; the others follow from the polynomial through them.
        Where its last coefficients are not small enough, all nodes are computed.

        Parameters
        ----------
        lines : Lines
        chosen : ndarray of int, shape (chosen,)
            Data sets.
        error : float
            Of each value, by the step of the trapezoidal rule; a quarter of it, about, by the polynomials.

        Returns
        -------
        ndarray, shape (lines, chosen, nodes)
        """
        axis, step, work = lines.axis, step_for(error, 1), memory_for_nodes()
        needed = self._nodes_needed(lines, chosen, SHARE_OF_LINE * error)
        found = np.empty((*needed.shape, axis.count))
        for count in [*np.unique(needed[needed < axis.count]).tolist(), axis.count]:  # all nodes last
            line, place = np.nonzero(needed == count)
            fewer = ChebyshevAxis(*axis.ends, count)
            values = np.empty((len(line), count))
            rows = max(1, PAIRS_AT_ONCE // count)
            for start in range(0, len(line), rows):
                some = slice(start, start + rows)
                populations = lines.populations(line[some], fewer)
                values[some] = self.log_kernels(chosen[place[some], None], *populations, step, work)
            if count < axis.count:
                size = np.abs(values @ fewer.coefficients(np.eye(count)).T)
                before, last = size[:, -5:-2].max(axis=1), size[:, -3:].max(axis=1)
                fall = np.minimum(last / before, SLOWEST_FALL)
                exact = last * fall / (1 - fall) <= SHARE_OF_LINE * error
                needed[line[~exact], place[~exact]] = axis.count
                line, place, values = line[exact], place[exact], values[exact] @ fewer.interpolation(axis.nodes).T
            found[line, place] = values
        return found

    def log_marginal_at_places(
        self, delta0: FloatArray, sigma0: FloatArray, nu: FloatArray, error: float
    ) -> FloatArray:
        """The sum over the data sets of `log_integrals_at_places`, each wrong by about ``error``."""
        distinct, which = self.distinct
        total = np.zeros((len(sigma0), len(delta0)))
        for i, times in enumerate(np.bincount(which)):
            total += times * distinct.log_integrals_at_places(i, delta0, sigma0, nu, error)
        return total

    def log_integrals_at_places(
        self, i: int, delta0: FloatArray, sigma0: FloatArray, nu: FloatArray, error: float
    ) -> FloatArray:
        """Log p(x_i | delta0, sigma0, nu) of a data set at places of delta0, for many pairs of sigma0 and nu.

        It is the same on both sides of the data set's mean, and smooth by asinh of the distance from it. So a few distances
        often do, and the places follow from the polynomial through them. Where its last coefficients are not small enough,
        the distances are doubled; where too many would be needed, all places are computed.

        Parameters
        ----------
        i : int
            The data set.
        delta0 : ndarray, shape (places,)
        sigma0, nu : ndarray, shape (pairs,)
        error : float
            Of each value, by the step of the trapezoidal rule; a quarter of it, about, by the polynomials.

        Returns
        -------
        ndarray, shape (pairs, places)
        """
        step, work, chosen = step_for(error, 1), memory_for_nodes(), np.array([i])

        def computed(offset: FloatArray, pairs: NDArray[np.intp]) -> FloatArray:
            values = np.empty((len(pairs), len(offset)))
            for rows in _batches(len(pairs), max(1, PAIRS_AT_ONCE // len(offset))):
                some = pairs[rows, None]
                values[rows] = self.log_kernels(chosen, self.mean[i] + offset, sigma0[some], nu[some], step, work)
            return values

        width = np.hypot(self.width[i], sigma0.min())
        coordinate = np.arcsinh(np.abs(delta0 - self.mean[i]) / width)
        farthest = coordinate.max()
        most = max(int(MOST_DISTANCES * len(delta0)), FEWEST_DISTANCES)
        doublings = int(np.log2(most / FEWEST_DISTANCES))
        first = most >> doublings  # the last doubling ends just below the most
        reach, df = self._marginal_reach(chosen, sigma0, nu)
        degrees = _degrees_needed(np.arcsinh(1j * reach / width) / farthest, df, SHARE_OF_LINE * error)
        few = MORE_DEGREES * degrees[:, 0] / 2 <= first << doublings
        found, left = np.empty((len(sigma0), len(delta0))), np.flatnonzero(few)
        count, values = first, np.empty((len(left), 0))
        while len(left) and count <= most:
            axis = ChebyshevAxis(-1.0, 1.0, 2 * count + 1)
            distances = width * np.sinh(farthest * axis.nodes[count:])
            if values.size:  # every other one is known
                known, values = values, np.empty((len(left), count + 1))
                values[:, ::2], values[:, 1::2] = known, computed(distances[1::2], left)
            else:
                values = computed(distances, left)
            both_sides = np.concatenate([values[:, :0:-1], values], axis=1)
            last = axis.coefficients(both_sides.T)[-5::2]  # the odd ones are 0
            enough = np.abs(last).max(axis=0) <= SHARE_OF_LINE * error
            found[left[enough]] = both_sides[enough] @ axis.interpolation(coordinate / farthest).T
            left, values, count = left[~enough], values[~enough], 2 * count
        left = np.concatenate([left, np.flatnonzero(~few)])
        found[left] = computed(delta0 - self.mean[i], left)
        return np.asarray(found + self.log_constant[i])

    def _nodes_needed(self, lines: Lines, chosen: NDArray[np.intp], error: float) -> NDArray[np.intp]:
        """How many nodes data sets probably need on lines, shape (lines, data sets); as many as there are if nearly all."""
        axis, half = lines.axis, (lines.axis.upper - lines.axis.lower) / 2
        middle = lines.centre + lines.scale * (axis.upper + axis.lower) / 2
        reach, df = self._marginal_reach(chosen, lines.sigma0, lines.nu)
        z = (self.mean[chosen] - middle[:, None] + 1j * reach) / (lines.scale * half)[:, None]
        degrees = _degrees_needed(np.asarray(z, dtype=np.complex128), df, error)
        needed = np.maximum(np.ceil(degrees) + SPARE_ON_LINE, FEWEST_ON_LINE)
        return np.where(needed < axis.count - 1, needed, axis.count).astype(np.intp)

    def _marginal_reach(
        self, chosen: NDArray[np.intp], sigma0: FloatArray, nu: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """How far off the real line the likelihoods of data sets as functions of delta0 are about singular, and their df.

        The mean of a data set is about Student-t around delta0, as `conditional_moments` has it. Both have the shape
        (populations, data sets).
        """
        a2, spread2 = self.width[chosen] ** 2, sigma0[:, None] ** 2
        variance = a2 + spread2
        df = variance**2 / (a2**2 / self.df[chosen] + spread2**2 / nu[:, None])
        return np.asarray(np.sqrt(df * variance)), np.asarray(df)

    def log_integrals(self, delta0: ArrayLike, sigma0: ArrayLike, nu: ArrayLike, *, step: float = STEP) -> FloatArray:
        """Log p(x_i | delta0, sigma0, nu) of each data set, shape (populations, q)."""
        delta0, sigma0, nu = (np.ravel(value)[:, None] for value in np.broadcast_arrays(delta0, sigma0, nu))
        distinct, which = self.distinct
        chosen = np.arange(len(distinct.n))
        found, work = np.empty((len(delta0), len(chosen))), memory_for_nodes()
        rows = max(1, PAIRS_AT_ONCE // len(chosen))
        for start in range(0, len(found), rows):
            part = slice(start, start + rows)
            found[part] = distinct.log_kernels(chosen, delta0[part], sigma0[part], nu[part], step, work)
        return np.asarray((found + distinct.log_constant)[:, which])

    def log_kernels(
        self,
        chosen: NDArray[np.intp],
        delta0: FloatArray,
        sigma0: FloatArray,
        nu: FloatArray,
        step: float,
        work: FloatArray,
    ) -> FloatArray:
        """Log p(x_i | delta0, sigma0, nu) less ``log_constant``, for arrays of data sets and populations that broadcast."""
        integrals = MeanIntegrals.of(self, chosen, delta0, sigma0, nu, step)
        return integrals.log_values(work).reshape(np.broadcast(chosen, delta0, sigma0, nu).shape)

    def delta_draws(self, delta0: FloatArray, sigma0: FloatArray, nu: FloatArray, level: FloatArray) -> FloatArray:
        """Draws of delta_i of each data set given populations, whose density is the integrand of (M14).

        The distribution function is inverted, its density joined by straight lines between the nodes.

        Parameters
        ----------
        delta0, sigma0, nu : ndarray, shape (draws,)
        level : ndarray, shape (draws, q)
            Uniform numbers: the values of the distribution function.

        Returns
        -------
        ndarray, shape (draws, q)
        """
        chosen = np.arange(len(self.n))
        found = np.empty(level.shape)
        for rows in _batches(len(delta0), max(1, DRAWS_AT_ONCE // len(chosen))):
            centre, spread, tails = delta0[rows, None], sigma0[rows, None], nu[rows, None]
            integrals = MeanIntegrals.of(self, chosen, centre, spread, tails, **FOR_DRAWS)
            offset, wanted = np.empty(len(integrals.count)), level[rows].ravel()
            order = np.argsort(integrals.count, kind="stable")
            for part in _batches(len(order), INVERTED_AT_ONCE):
                some = order[part]
                offset[some] = inverse(*integrals.masses(some), wanted[some])
            found[rows] = delta0[rows, None] + (offset * integrals.side).reshape(level[rows].shape)
        return found

    def draws_of_one(
        self, i: int, centre: FloatArray, scale: FloatArray, place: NDArray[np.intp], level: FloatArray
    ) -> FloatArray:
        """Draws of delta_i of one data set, each under one of a few normal populations.

        Parameters
        ----------
        i : int
            The data set.
        centre, scale : ndarray, shape (populations,)
        place : ndarray of int, shape (draws,)
            The population of each draw.
        level : ndarray, shape (draws,)
            Uniform numbers: the values of the distribution functions.

        Returns
        -------
        ndarray, shape (draws,)
        """
        chosen, gaussian = np.full(len(centre), i), np.full(len(centre), np.inf)
        integrals = MeanIntegrals.of(self, chosen, centre, scale, gaussian, **FOR_DRAWS)
        places, masses = integrals.masses(np.arange(len(centre)))
        offset = np.empty(len(place))
        for some in _batches(len(place), INVERTED_AT_ONCE):
            offset[some] = inverse(places[place[some]], masses[place[some]], level[some])
        return np.asarray(centre[place] + offset * integrals.side[place])

    def sigma_draws(self, delta: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Draws of sigma_i given delta_i, both of shape (draws, q).

        By (M13) Q / (2 sigma_i^2) has a Gamma distribution, which the bound of sigma_i cuts off.
        """
        from scipy import special

        n, rho = self.n, self.rho
        quadratic = self.sum_of_squares / (1 - rho) + n * (self.mean - delta) ** 2 / (1 + (n - 1) * rho)
        half = np.broadcast_to((n - 1) / 2, delta.shape)
        smallest = quadratic / (2 * self.sigma_upper**2)
        drawn = generator.standard_gamma(half)
        outside = drawn < smallest
        if outside.any():
            upper = special.gammaincc(half[outside], smallest[outside])
            drawn[outside] = special.gammainccinv(half[outside], upper * generator.random(int(outside.sum())))
            beyond = np.isinf(drawn)  # the share of the distribution that the bound leaves is below the smallest double
            if beyond.any():
                drawn[beyond] = _gamma_tail(half[beyond], smallest[beyond], generator)
        return np.asarray(np.sqrt(quadratic / (2 * np.maximum(drawn, smallest))))

    @cached_property
    def distinct(self) -> tuple[MeanLikelihood, NDArray[np.intp]]:
        """The data sets without repetitions, and which of these each is: constant ones are often the same."""
        rows = np.stack([self.mean, self.sum_of_squares, self.n, self.rho])
        _, first, which = np.unique(rows, axis=1, return_index=True, return_inverse=True)
        return self.subset(first), which.ravel()

    def subset(self, chosen: NDArray[np.intp]) -> MeanLikelihood:
        """The likelihood of some of the data sets."""
        mean, squares, n, rho = (values[chosen] for values in (self.mean, self.sum_of_squares, self.n, self.rho))
        return MeanLikelihood(mean, squares, n, rho, self.sigma_upper)

    def log_bound_factor(self, chosen: NDArray[np.intp], from_data: FloatArray) -> FloatArray:
        """Log of the regularised upper incomplete gamma function, the data sets along the last axis."""
        half = (self.n[chosen] - 1) / 2
        argument = self.bound_term[chosen] * from_data
        if (half == 1).all():  # three scores, where the bound matters most
            return -argument
        matters = argument > self.harmless_bound_term[chosen]
        found = np.zeros(argument.shape)
        if matters.any():
            found[matters] = _log_upper_gamma(np.broadcast_to(half, argument.shape)[matters], argument[matters])
        return found

    @cached_property
    def harmless_bound_term(self) -> FloatArray:
        """The largest argument of the incomplete gamma function for which it is 1 to within 1e-10."""
        from scipy import special

        half = (self.n - 1) / 2
        return np.asarray(np.exp((LOG_NEGLIGIBLE + special.gammaln(half + 1)) / half))

    @cached_property
    def harmless_distance(self) -> FloatArray:
        """The largest distance from a data set's mean at which that factor is 1 to within 1e-10; 0 where there is none."""
        ratio = self.harmless_bound_term / self.bound_term
        return np.asarray(self.scale * np.sqrt(np.maximum(ratio - 1, 0) * self.df))


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines in delta0: ``centre`` + ``scale`` times a place on an axis, each of one sigma0 and one nu.

    Attributes
    ----------
    axis : ChebyshevAxis
    centre, scale, sigma0, nu : ndarray, shape (lines,)
    """

    axis: ChebyshevAxis
    centre: FloatArray
    scale: FloatArray
    sigma0: FloatArray
    nu: FloatArray

    def part(self, part: slice) -> Lines:
        """Some of the lines."""
        return Lines(self.axis, self.centre[part], self.scale[part], self.sigma0[part], self.nu[part])

    def populations(self, line: NDArray[np.intp], axis: ChebyshevAxis) -> tuple[FloatArray, FloatArray, FloatArray]:
        """delta0, sigma0 and nu at the nodes of an axis on some of the lines, of shapes that broadcast to (lines, nodes)."""
        delta0 = self.centre[line, None] + self.scale[line, None] * axis.nodes
        return delta0, self.sigma0[line, None], self.nu[line, None]


@dataclass(frozen=True, eq=False)
class MeanIntegrals:
    """Integrals over delta_i of many data sets under many populations, each with nodes of its own.

    The map delta -> asinh((delta - c1) / A) + asinh((delta - c2) / B) makes the integrand smooth. c1 and c2 come from two
    steps of the EM algorithm for the mode of the product, from the data's and from the population's centre; they are the
    same where there is one peak. A and B are the widths there, or up to `WIDEST` times these; c1 is where it is less.
    Steps are equal in the map's value; its inverse is the root of a quadratic equation.

    Attributes
    ----------
    likelihood : MeanLikelihood
    chosen : ndarray of int, shape (pairs,)
        Data set of each integral.
    distance, spread, k : ndarray, shape (pairs,)
        Of the data from delta0 (not negative), sigma0, and 1 / nu.
    side : ndarray, shape (pairs,)
        -1 where the data lie below delta0, else 1.
    centre1, centre2, width1, width2 : ndarray, shape (pairs,)
        c1, c2, A, B, all seen from delta0; A is not above B.
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
    distance: FloatArray
    spread: FloatArray
    k: FloatArray
    side: FloatArray
    centre1: FloatArray
    centre2: FloatArray
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
        widest: float = WIDEST,
        longer: float = 1.0,
    ) -> MeanIntegrals:
        """Find centres, widths and ends for pairs of a data set and a population, from arrays that broadcast.

        ``widest`` is by how much the map's widths may be those of the peaks, ``longer`` the share that is taken of what the
        tails allow the step to be longer.
        """
        values, which = np.unique(nu, return_inverse=True)
        log_constant = log_student_constant(1 / values)[which].reshape(nu.shape) - np.log(sigma0)
        arrays = np.broadcast_arrays(chosen, delta0, sigma0, nu, log_constant)
        chosen, delta0, spread, nu, log_constant = (array.ravel() for array in arrays)
        signed, k = likelihood.mean[chosen] - delta0, 1 / nu
        distance = np.abs(signed)
        a, k1 = likelihood.width[chosen], 1 / likelihood.df[chosen]
        known = distance, a**2, k1, spread**2, k
        near_data, near_population = distance, np.zeros_like(distance)
        for _ in range(ITERATIONS):
            near_data = _em_step(near_data, *known)[0]
            near_population = _em_step(near_population, *known)[0]
        peak1 = 1 / np.sqrt(_em_step(near_data, *known)[1])
        peak2 = 1 / np.sqrt(_em_step(near_population, *known)[1])
        # Where both densities are analytic far beyond a peak's width, a wider map there has more even nodes, so fewer do
        reach1, reach2 = (
            np.sqrt(np.minimum((near - distance) ** 2 + a**2 / k1, near**2 + spread**2 * nu))
            for near in (near_data, near_population)
        )
        wider1, wider2 = np.clip(reach1 / (2 * peak1), 1, widest), np.clip(reach2 / (2 * peak2), 1, widest)
        width1, width2 = peak1 * wider1, peak2 * wider2
        step_here = step / (1 + step * (np.maximum(wider1, wider2) ** 2 - 1) / (2 * np.pi**2))
        # One peak is mapped by twice the same function, so half as many steps do
        single = 1 / (1 + APART * ((near_data - near_population) / np.minimum(peak1, peak2)) ** 2)
        step_here *= (1 + single) * (1 + longer * _lengthening(distance, a, 1 / k1, spread, nu, single))
        u1, u2 = (near_data - distance) / a, (near_population - distance) / a
        w1, w2 = near_data / spread, near_population / spread
        data1, population2 = log_student_kernel(u1, k1), log_student_kernel(w2, k)
        data2, population1 = log_student_kernel(u2, k1), log_student_kernel(w1, k)
        height1, height2 = data1 + population1, data2 + population2
        # Ends: where one factor alone makes the mass beyond a small share of the peaks. On its own side the other one only
        # falls. The mass beyond is as the density times the distance, which falls by a power less
        log_share = np.log(TAIL_SHARE) - np.pi**2 / (2 * step)
        mass1, mass2 = height1 + np.log(peak1), height2 + np.log(peak2)
        harmless = likelihood.harmless_distance[chosen]
        cut = np.flatnonzero(distance - near_population > harmless)
        if len(cut):  # a peak far from the data may hold nothing
            at_data = likelihood.log_bound_factor(chosen[cut], np.ones(len(cut)))
            for mass, near in ((mass1, near_data), (mass2, near_population)):
                u = (near[cut] - distance[cut]) / likelihood.scale[chosen[cut]]
                mass[cut] += likelihood.log_bound_factor(chosen[cut], 1 + k1[cut] * u**2) - at_data
        log_mass = log_share + np.maximum(mass1, mass2)
        by_data, by_population = log_mass - np.log(a), log_mass - np.log(spread)
        right = np.minimum(
            distance + a * kernel_reach((1 + k1) * np.minimum(by_data - population1, 0), k1),
            spread * kernel_reach((1 + k) * np.minimum(by_population, 0), k),
        )
        left = np.maximum(
            distance - a * kernel_reach((1 + k1) * np.minimum(by_data, 0), k1),
            -spread * kernel_reach((1 + k) * np.minimum(by_population - data2, 0), k),
        )
        if k1.max(initial=0.0) > HEAVY_TAILED:  # both may fall slowly, but their product does not
            both = HALF_AND_MORE * np.minimum(by_data, by_population)
            beyond_data, beyond_population = a * kernel_reach(both, k1), spread * kernel_reach(both, k)
            right = np.minimum(right, np.maximum(distance + beyond_data, beyond_population))
            left = np.maximum(left, np.minimum(distance - beyond_data, -beyond_population))
        lowest = np.arcsinh((left - near_data) / width1) + np.arcsinh((left - near_population) / width2)
        highest = np.arcsinh((right - near_data) / width1) + np.arcsinh((right - near_population) / width2)
        count = np.ceil((highest - lowest) / step_here).astype(np.int64)
        side = np.where(signed < 0, -1.0, 1.0)
        bounded = np.maximum(right - distance, distance - left) > harmless
        # Places near the narrower peak must not be small differences of large numbers
        swapped = width1 > width2
        centre1, centre2 = np.where(swapped, (near_population, near_data), (near_data, near_population))
        width1, width2 = np.minimum(width1, width2), np.maximum(width1, width2)
        return cls(
            likelihood, chosen, distance, spread, k, side,
            centre1, centre2, width1, width2, lowest, highest, count,
            np.maximum(height1, height2), log_constant, bounded,
        )  # fmt: skip

    def log_values(self, work: FloatArray | None = None) -> FloatArray:
        """Log of each integral less the data set's constant, shape (pairs,); ``work`` as `nodes` has it."""
        values = np.empty(len(self.count))
        order = np.argsort(np.minimum(self.count, MOST_SORTED).astype(np.uint16), kind="stable")
        most = int(self.count.max(initial=0)) + 1
        work = np.empty((NODE_ARRAYS, max(NODES_AT_ONCE, most))) if work is None or most > NODES_AT_ONCE else work
        first = 0
        while first < len(order):
            # as many similar integrals as fit in the cache together
            some = order[first : first + max(1, NODES_AT_ONCE // int(self.count[order[first]] + 1))]
            while len(some) * int(self.count[some[-1]] + 1) > work.shape[1]:
                some = some[: len(some) // 2]
            nodes = self.nodes(some, work)
            density = np.exp(nodes.log_density, out=nodes.log_density)
            sums = np.einsum("ij,ij->j", density, nodes.slope)
            values[some] = np.log(sums * nodes.spacing) + nodes.log_peak
            first += len(some)
        return values

    def nodes(self, some: NDArray[np.intp], work: FloatArray | None = None) -> Nodes:
        """The nodes of some of the integrals.

        The pairs run along the last axis: loops over some hundred of them are faster than loops over some fifteen nodes.

        Parameters
        ----------
        some : ndarray of int
            Which integrals.
        work : ndarray, shape (NODE_ARRAYS, at least the number of nodes), optional
            Memory for the nodes, to be used again for others.
        """
        steps = int(self.count[some].max())
        shape = steps + 1, len(some)
        work = np.empty((NODE_ARRAYS, shape[0] * shape[1])) if work is None else work
        growth, cosh, denominator, root, place = (row[: shape[0] * shape[1]].reshape(shape) for row in work)
        chosen, k = self.chosen[some], self.k[some]
        centre1, width1, width2 = self.centre1[some], self.width1[some], self.width2[some]
        lowest = self.lowest[some]
        spacing = (self.highest[some] - lowest) / steps
        ratio, gap = width1 / width2, (centre1 - self.centre2[some]) / width2
        # With u = (delta - c1) / A, v = (delta - c2) / B = ratio u + gap and t = asinh(u) + asinh(v),
        #     u = (sinh t root - gap (cosh t + ratio)) / D,    root^2 = D + gap^2,    D = 1 + ratio^2 + 2 ratio cosh t,
        #     du/dt = (cosh t - u v) / root.
        # The numerator of u loses digits where gap is large and has the sign of t. There
        #     u = (sinh t - gap) (sinh t + gap) / (sinh t root + gap (cosh t + ratio)).
        # In place: these arrays are nearly all of the engine's work
        np.multiply(np.arange(steps + 1.0)[:, None], spacing, out=growth)
        growth += lowest
        np.exp(growth, out=growth)
        shrinkage = np.divide(1, growth, out=denominator)
        np.add(growth, shrinkage, out=cosh)  # twice cosh and sinh
        sinh = np.subtract(growth, shrinkage, out=growth)
        np.multiply(cosh, ratio, out=denominator)
        denominator += 1 + ratio**2
        np.add(denominator, gap**2, out=root)
        np.sqrt(root, out=root)
        sinh *= root
        twice_u = np.multiply(cosh, gap, out=place)
        twice_u += 2 * ratio * gap
        far = np.flatnonzero(np.abs(gap) > FAR_APART)
        if len(far):
            first, second, twice_gap = sinh[:, far], twice_u[:, far], 2 * gap[far]
            twice_sinh = first / root[:, far]
            one_sign = first * second > 0
            sinh[:, far] = np.where(one_sign, (twice_sinh - twice_gap) * (twice_sinh + twice_gap), first)
            twice_u[:, far] = np.where(one_sign, 0.0, second)
            denominator[:, far] = np.where(one_sign, first + second, denominator[:, far])
        np.subtract(sinh, twice_u, out=twice_u)
        twice_u /= denominator
        product = np.multiply(twice_u, ratio / 2, out=growth)
        product += gap
        product *= twice_u
        slope = np.subtract(cosh, product, out=cosh)
        slope /= root
        df, scale = self.likelihood.df[chosen], self.likelihood.scale[chosen]
        width = np.sqrt(df) * scale
        from_data = np.multiply(twice_u, width1 / (2 * width), out=growth)
        from_data += (centre1 - self.distance[some]) / width
        from_data *= from_data
        from_data += 1
        log_density = np.log(from_data, out=root)
        log_density *= -(df + 1) / 2
        offset = np.multiply(twice_u, width1 / 2, out=place)
        offset += centre1
        log_density += log_student_kernel(offset, k, self.spread[some], out=denominator)
        log_peak = self.log_height[some]
        bounded = self.bounded[some]
        if bounded.any():
            factor = self.likelihood.log_bound_factor(chosen, from_data)
            np.add(log_density, factor, out=log_density, where=bounded)
            log_peak = log_density.max(axis=0)
        log_density -= log_peak
        return Nodes(offset, slope, spacing * width1 / 2, log_density, log_peak + self.log_constant[some])

    def masses(self, some: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Offsets of the nodes of some of the integrals, and the masses there; each of shape (integrals, nodes)."""
        nodes = self.nodes(some)
        return nodes.offset.T, (np.exp(nodes.log_density) * nodes.slope).T


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes of integrals over delta_i.

    Attributes
    ----------
    offset : ndarray, shape (nodes, pairs)
        (delta_i - delta0) times the side of the data.
    slope, log_density : ndarray, shape (nodes, pairs)
        Weights by ``spacing``, and the log of the integrand less about its largest value.
    spacing : ndarray, shape (pairs,)
    log_peak : ndarray, shape (pairs,)
        That value, normalised as a density of the population.
    """

    offset: FloatArray
    slope: FloatArray
    spacing: FloatArray
    log_density: FloatArray
    log_peak: FloatArray


def _degrees_needed(z: NDArray[np.complex128], df: FloatArray, error: float) -> FloatArray:
    """The degrees of polynomials on [-1, 1] that probably do for logarithms of Student-t densities singular at z.

    Coefficient m is 2 / m times rho^-m, rho = |z + sqrt(z^2 - 1)|, for each of df + 1 times the logarithm of z less x.
    """
    log_rho = np.log(np.abs(z + np.sqrt(z - 1) * np.sqrt(z + 1)))
    log_size = np.log(2 * (df + 1) / error)
    count = log_size / log_rho
    for _ in range(2):
        count = (log_size - np.log(np.maximum(count, 1))) / log_rho
    return np.asarray(count)


def _log_upper_gamma(half: FloatArray, argument: FloatArray) -> FloatArray:
    """Log of the regularised upper incomplete gamma function, also where the function underflows."""
    from scipy import special

    half, argument = np.broadcast_arrays(half, argument)
    found, far = np.empty(half.shape), np.zeros(half.shape, bool)
    closed = (half <= MOST_CLOSED) & (2 * half % 1 == 0) & (argument < FAR_ARGUMENT)
    for each in np.unique(half[closed]):
        these = closed & (half == each)
        found[these] = _log_upper_gamma_of_few(float(each), argument[these])
    other, smallest = ~closed, np.finfo(float).tiny
    share = special.gammaincc(half[other], argument[other])
    found[other] = np.log(np.maximum(share, smallest))
    far[other] = share <= smallest
    if far.any():
        # The continued fraction of Legendre (Abramowitz & Stegun 6.5.31), even part, from its end on
        a, x = half[far], argument[far]
        fraction = x + 2 * TERMS + 1 - a
        for k in range(TERMS, 0, -1):
            fraction = x + 2 * k - 1 - a - k * (k - a) / fraction
        found[far] = a * np.log(x) - x - special.gammaln(a) - np.log(fraction)
    return np.asarray(found)


def _log_upper_gamma_of_few(half: float, argument: FloatArray) -> FloatArray:
    """The same for a whole number of halves, by Q(a + 1, x) = Q(a, x) + x^a e^-x / Gamma(a + 1): up to 1/30 of the time.

    It begins with Q(1, x) = e^-x or Q(1/2, x) = erfc(sqrt(x)); Abramowitz & Stegun 6.5.21.
    """
    from scipy import special

    first = 1 - half % 1
    total = special.erfcx(np.sqrt(argument)) if half % 1 else np.ones_like(argument)
    term = argument**first / special.gamma(first + 1)
    for a in np.arange(first, half):
        total += term
        term *= argument / (a + 1)
    return np.asarray(np.log(total) - argument)


def _em_step(
    delta: FloatArray, distance: FloatArray, a2: FloatArray, k1: FloatArray, spread2: FloatArray, k2: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The next value and the precision at this one; the data lie at ``distance``, the population at 0."""
    data = (1 + k1) / (a2 + k1 * (delta - distance) ** 2)
    population = (1 + k2) / (spread2 + k2 * delta**2)
    precision = data + population
    return data * distance / precision, precision


def _lengthening(
    distance: FloatArray, width: FloatArray, df: FloatArray, spread: FloatArray, nu: FloatArray, single: FloatArray
) -> FloatArray:
    """Share by which the step may be longer than for Gaussians, by the tails; ``single`` is 1 where two peaks are one.

    Heavy tails are analytic far from the real line. And half as many steps do for two peaks where a broad density falls only
    far beyond a narrow one with heavy tails: from there on the map is nearly twice the same function, as for one peak.
    """
    heavy = LONGER / (1 + (df + nu) / HALF_LONGER)
    broad = np.maximum(width, spread)
    far_squared = (distance / (FLAT_WITHIN * broad)) ** 2
    flat = (1 - single) * (1 - np.minimum(width, spread) / broad) ** 2 / (1 + far_squared**2)
    flat /= 1 + np.where(width < spread, df, nu) / HALF_LONGER
    return np.maximum(heavy, flat)


def log_student_kernel(
    z: FloatArray, k: FloatArray, scale: FloatArray | float = 1.0, out: FloatArray | None = None
) -> FloatArray:
    """Log of the Student-t kernel of z / ``scale`` with 1/k degrees of freedom; k = 0 is a Gaussian."""
    gaussian = k == 0
    safe = np.where(gaussian, 1.0, k)
    kernel = np.multiply(z, np.sqrt(safe) / scale, out=out)
    kernel *= kernel
    if gaussian.all():
        kernel *= -0.5
        return kernel
    normal = -0.5 * kernel if gaussian.any() else None
    np.log1p(kernel, out=kernel)
    kernel *= -(1 / safe + 1) / 2
    return kernel if normal is None else np.where(gaussian, normal, kernel)


def kernel_reach(drop: FloatArray, k: FloatArray) -> FloatArray:
    """Where the log of a kernel is ``drop``."""
    gaussian = k == 0
    safe = np.where(gaussian, 1.0, k)
    exponent = np.minimum(-2 * safe / (1 + safe) * np.where(gaussian, 0.0, drop), LARGEST_EXPONENT)
    heavy = np.sqrt(np.expm1(exponent) / safe)
    return np.asarray(np.where(gaussian, np.sqrt(-2 * drop), heavy) if gaussian.any() else heavy)


def log_student_constant(k: FloatArray) -> FloatArray:
    """Log of the constant that makes such a kernel a density."""
    from scipy import special

    nu = 1 / np.where(k > 0, k, 1.0)
    constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return np.asarray(np.where(k > 0, constant, -0.5 * np.log(2 * np.pi)))


def inverse(places: FloatArray, mass: FloatArray, level: FloatArray) -> FloatArray:
    """Places at which the masses at the nodes, joined by straight lines, reach a share ``level`` of their sum."""
    cells = (mass[:, 1:] + mass[:, :-1]) / 2
    total = np.cumsum(cells, axis=1)
    wanted = level * total[:, -1]
    rows = np.arange(len(level))
    cell = np.minimum((total < wanted[:, None]).sum(axis=1), cells.shape[1] - 1)
    rest = wanted - (total[rows, cell] - cells[rows, cell])
    first, last = mass[rows, cell], mass[rows, cell + 1]
    # first s + (last - first) s^2 / 2 = rest, in the form that does not cancel
    root = np.sqrt(np.maximum(first**2 + 2 * (last - first) * rest, 0.0))
    share = np.clip(2 * rest / np.maximum(first + root, np.finfo(float).tiny), 0, 1)
    start, end = places[rows, cell], places[rows, cell + 1]
    return np.asarray(start + share * (end - start))


def _gamma_tail(shape: FloatArray, lowest: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Draws of a Gamma distribution above ``lowest``, which is far above its mean, by rejection.

    Where x > lowest, log(x / lowest) <= (x - lowest) / lowest: an exponential density of rate 1 - (shape - 1) / lowest
    lies above that of the tail.
    """
    found = np.empty_like(lowest)
    left = np.arange(len(lowest))
    while len(left):
        power, low = shape[left] - 1, lowest[left]
        excess = generator.standard_exponential(len(left)) / (1 - power / low)
        taken = np.log(generator.random(len(left))) <= power * (np.log1p(excess / low) - excess / low)
        found[left[taken]] = (low + excess)[taken]
        left = left[~taken]
    return found


def _batches(count: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, count, size))
