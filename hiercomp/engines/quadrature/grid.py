"""The posterior of (delta0, sigma0, nu) on a grid: a log likelihood at few nodes, integrals over many."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.quadrature.axes import (
    ChebyshevAxis,
    SplineAxis,
    StretchedLine,
    cumulative,
    cumulative_at,
    gauss_legendre,
)
from hiercomp.engines.quadrature.likelihood import Lines, MeanLikelihood
from hiercomp.engines.quadrature.support import Integrand, Support
from hiercomp.model.distributions import Normal

NEGLIGIBLE = 1e-6  # mass that may be left out; no probability is known more exactly
OUTSIDE = 3e-5  # mass that may lie beyond the ends of the axes, all together; part of every stated error
FINE_NODES = (60, 36, 161)  # of sigma0, nu and delta0 (study, as docs/quadrature.md)
USUAL_LENGTHS = (4.0, 3.5)  # of the axes of sigma0 and nu; a longer one has as many fine nodes for each unit: 15 and 10
USUAL_LOG_LENGTH = 10.0  # of the axis log sigma0, along most of which the likelihood is a power: 6 for each unit
SMOOTH_NODES = (28, 28, 161)  # for integrands without a kink (study)
FINE_FOR_NODE = 4  # of delta0 where its axis is stretched (study)
# Of the log likelihood, by the step between the nodes of delta_i: up to 1e-5 of a probability, as it's nearly the same
# all over the grid; part of every stated error
LIKELIHOOD_ERROR = 2e-5
# Parabolas through three places, exact where the likelihood is Gaussian; from less than this many scales one is enough
NEWTON_STEPS, NEAR = 8, 1.0
LONGEST_STEP = 3.0  # of these, in scales: the parabola says little beyond
LOG_UNSEEN = -20.0  # of the density of a pair against the largest: 2e-9, a five-hundredth of NEGLIGIBLE
UNDERFLOW = 1e-100  # of densities relative to a peak that lies elsewhere: fewer digits are left
# Of the iteration for the conditional centre of delta0, which ends where it moves by less than this share of its scale
MOST_STEPS, STILL = 200, 1e-3
LOG_NOTABLE = -8.0  # of the density along a line through the grid: others say nothing of the error
SLOWEST_FALL = 0.9  # of pairs of coefficients that the estimate reckons with
DOUBT_OF_AN_END = 2.5  # above it the coefficients fall like a power: a singularity at an end, whose waves stay there
# Two degrees fewer are a bound for polynomials, whose coefficients fall in geometric progression; not for splines
SPLINE_DOUBT = 2.0
# By which the difference from a coarser grid may fall short of the error, as both have one: up to 3.2 among random problems,
# and 7 where nu reaches 0, to which the integrand falls like a power
SHORTFALL, SHORTFALL_OF_NU = 3.5, 7.5
# The same where delta0 is stretched: up to 3.6 among random problems, and 7 where it is stretched because another axis
# failed and not because there are few data sets
SHORTFALL_OF_SPLINES, SHORTFALL_OF_STRETCHED = 5.25, 15.0
# Of a log density beyond the end of delta0's axis, by its scales: it is 5 and more where the density is Gaussian
SLOWEST_RATE = 0.2
INSIDE = 1e-3  # of nu's axis, from its end, where the prior may be infinite
COARSER = 0.75  # share of the fine nodes that the coarser integration takes: the error estimate is their difference


@dataclass(frozen=True, eq=False)
class Centring:
    """How many scales the mode of delta0 lies from its approximate centre: a quadratic function, which is smooth.

    Attributes
    ----------
    origin, length : tuple of float
        Of the places on the axes of sigma0 and nu.
    coefficients : ndarray, shape (6,)
    distance : float
        The largest distance of a mode from the function.
    """

    origin: tuple[float, float] = (0.0, 0.0)
    length: tuple[float, float] = (1.0, 1.0)
    coefficients: FloatArray = field(default_factory=lambda: np.zeros(6))
    distance: float = 0.0

    @classmethod
    def of(cls, sigma0_places: FloatArray, nu_places: FloatArray, scales: FloatArray) -> Centring:
        """Fitted to the modes at some places."""
        axes = sigma0_places, nu_places
        origin, length = [float(axis.mean()) for axis in axes], [float(np.ptp(axis)) or 1.0 for axis in axes]
        empty = cls((origin[0], origin[1]), (length[0], length[1]))
        powers = empty._powers(*axes)
        fitted = np.asarray(np.linalg.lstsq(powers, scales, rcond=1e-6)[0], dtype=np.float64)
        return replace(empty, coefficients=fitted, distance=float(np.abs(powers @ fitted - scales).max()))

    def scales(self, sigma0_places: FloatArray, nu_places: FloatArray) -> FloatArray:
        """The function at places on the axes."""
        return np.asarray(self._powers(sigma0_places, nu_places) @ self.coefficients)

    def _powers(self, sigma0_places: FloatArray, nu_places: FloatArray) -> FloatArray:
        x, y = (
            (axis - origin) / length
            for axis, origin, length in zip((sigma0_places, nu_places), self.origin, self.length, strict=True)
        )
        return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)


@dataclass(frozen=True, eq=False)
class PosteriorGrid:
    """Log likelihood on the product of three axes, and what follows from it.

    delta0 is ``centre`` + ``scale`` times its axis's value, so its nodes follow the conditional posterior.

    Attributes
    ----------
    problem : Integrand
    support : Support
    sigma0_axis, nu_axis : ChebyshevAxis or SplineAxis
        Of the relative place between the ends of sigma0, and of the place on nu's axis.
    delta0_axis : ChebyshevAxis or StretchedLine
    centre, log_scale : ndarray, shape (sigma0 nodes, nu nodes)
    log_likelihood : ndarray, shape (sigma0 nodes, nu nodes, delta0 nodes)
    fineness : tuple of float
        By which the usual numbers of fine nodes of sigma0, nu and delta0 are multiplied.
    beyond : float
        Share of the mass beyond the ends of delta0's axis, where it is too much to be left out.
    """

    problem: Integrand
    support: Support
    sigma0_axis: ChebyshevAxis | SplineAxis
    nu_axis: ChebyshevAxis | SplineAxis
    delta0_axis: ChebyshevAxis | StretchedLine
    centre: FloatArray
    log_scale: FloatArray
    log_likelihood: FloatArray
    fineness: tuple[float, float, float] = (1.0, 1.0, 1.0)
    beyond: float = 0.0

    @classmethod
    def computed(
        cls,
        problem: Integrand,
        support: Support,
        sigma0_count: int,
        nu_count: int,
        delta0_axis: ChebyshevAxis | StretchedLine,
        fineness: tuple[float, float, float] = (1.0, 1.0, 1.0),
        centring: Centring | None = None,
        *,
        local: bool = False,
    ) -> PosteriorGrid:
        """Compute the log likelihood at every node; ``local``: with a spline along nu, which keeps a bend to its place."""
        stretched = isinstance(delta0_axis, StretchedLine)
        sigma0_axis = (SplineAxis if stretched else ChebyshevAxis)(-1.0, 1.0, sigma0_count)
        nu_axis = (SplineAxis if local and nu_count > 1 else ChebyshevAxis)(*support.nu, nu_count)
        centre, scale = conditional_places(problem, support, sigma0_axis.nodes, nu_axis.nodes, centring)
        if stretched:
            centre, scale = np.zeros_like(centre), np.ones_like(scale)
        empty = np.zeros((*centre.shape, delta0_axis.count))
        grid = cls(problem, support, sigma0_axis, nu_axis, delta0_axis, centre, np.log(scale), empty, fineness)
        error = LIKELIHOOD_ERROR / len(problem.likelihood.n)
        if stretched:
            values = problem.likelihood.log_marginal_at_places(*grid._places, error)
        else:
            values = problem.likelihood.log_marginal_on_lines(grid._lines, error)
        return replace(grid, log_likelihood=values.reshape(empty.shape))

    @property
    def _places(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """delta0 of a stretched axis, and sigma0 and nu of every pair."""
        delta0, sigma0, nu = self.nodes
        return delta0[0, 0], sigma0.ravel(), nu.ravel()

    @property
    def _lines(self) -> Lines:
        """The lines in delta0 of a grid whose axis of delta0 is not stretched."""
        assert isinstance(self.delta0_axis, ChebyshevAxis)
        _, sigma0, nu = self.nodes
        return Lines(self.delta0_axis, self.centre.ravel(), np.exp(self.log_scale).ravel(), sigma0.ravel(), nu.ravel())

    def log_terms(self, likelihood: MeanLikelihood) -> FloatArray:
        """Log p(x_i | delta0, sigma0, nu) of some data sets at every node, as exact as the sum of all.

        The shape is (data sets, sigma0 nodes, nu nodes, delta0 nodes).
        """
        error = LIKELIHOOD_ERROR / len(self.problem.likelihood.n)
        if isinstance(self.delta0_axis, StretchedLine):
            datasets = range(len(likelihood.n))
            found = np.stack([likelihood.log_integrals_at_places(i, *self._places, error) for i in datasets])
        else:
            chosen = np.arange(len(likelihood.n))
            found = likelihood.log_kernels_on_lines(self._lines, chosen, error).swapaxes(0, 1)
            found = found + likelihood.log_constant[:, None, None]
        return found.reshape(len(likelihood.n), *self.log_likelihood.shape)

    @property
    def stretched_at_last(self) -> bool:
        """Whether delta0 is stretched because another axis failed, and not because there are few data sets."""
        return isinstance(self.delta0_axis, StretchedLine) and not self.problem.stretched

    @property
    def delta0(self) -> FloatArray:
        """delta0 at every node, shape (sigma0 nodes, nu nodes, delta0 nodes)."""
        axis = self.delta0_axis
        relative = axis.delta0(axis.nodes) if isinstance(axis, StretchedLine) else axis.nodes
        return np.asarray(self.centre[..., None] + np.exp(self.log_scale)[..., None] * relative)

    @property
    def nodes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """delta0 at every node, and sigma0 and nu, both of shape (sigma0 nodes, nu nodes)."""
        sigma0 = self.problem.sigma0(self.support.sigma0_place(self.sigma0_axis.nodes, self.nu_axis.nodes))
        return self.delta0, sigma0, np.broadcast_to(self.problem.nu(self.nu_axis.nodes), sigma0.shape)

    @property
    def log_density(self) -> FloatArray:
        """Log likelihood and log priors on delta0 and sigma0 at every node, up to a constant."""
        sigma0 = self.problem.sigma0(self.support.sigma0_place(self.sigma0_axis.nodes, self.nu_axis.nodes))
        return self.log_likelihood + self.problem.log_prior(self.delta0, sigma0[..., None])


@dataclass(frozen=True, eq=False)
class Interpolation:
    """From values at the nodes of a grid to values at pairs of a sigma0 and a nu, along many nodes of delta0.

    Attributes
    ----------
    by_sigma0 : ndarray, shape (values of nu, values of sigma0, sigma0 nodes)
    by_nu : ndarray, shape (values of nu, nu nodes)
    kept : ndarray of int, shape (pairs,)
        Which of the pairs of a nu and a sigma0 are wanted.
    by_delta0 : ndarray, shape (fine nodes, delta0 nodes)
    """

    by_sigma0: FloatArray
    by_nu: FloatArray
    kept: NDArray[np.intp]
    by_delta0: FloatArray

    def __call__(self, values: FloatArray) -> FloatArray:
        """Values of shape (sigma0 nodes, nu nodes, delta0 nodes), interpolated to (pairs, fine nodes)."""
        along_nu = np.tensordot(self.by_nu, values, axes=(1, 1))
        pairs = (self.by_sigma0 @ along_nu).reshape(-1, values.shape[2])
        return np.asarray(pairs[self.kept] @ self.by_delta0.T)


@dataclass(frozen=True, eq=False)
class FineGrid:
    """Posterior weights on many nodes.

    Attributes
    ----------
    grid : PosteriorGrid
    kept : ndarray of int, shape (pairs,)
        Which of the pairs of a nu and a sigma0 these are; those without mass are left out.
    sigma0, nu : ndarray, shape (pairs,)
        One entry for each pair.
    shape : tuple of int
        Number of values of nu and of sigma0.
    nu_places, relative : ndarray
        Places on nu's axis, and relative places of sigma0; the latter those of the last nu where they differ.
    centre, scale : ndarray, shape (pairs,)
        delta0 is centre + scale times the relative place.
    first, spacing : float
        Of the equally spaced nodes of the axis of delta0.
    density : ndarray, shape (pairs, nodes)
        Joint density by the axis of delta0, times the pair's weight; relative to exp(``log_peak``).
    sums : ndarray, shape (pairs, nodes)
        Its integral from the first node on.
    log_peak : float
    interpolation : Interpolation
        From the nodes of the grid to these.
    """

    grid: PosteriorGrid
    kept: NDArray[np.intp]
    sigma0: FloatArray
    nu: FloatArray
    shape: tuple[int, int]
    nu_places: FloatArray
    relative: FloatArray
    centre: FloatArray
    scale: FloatArray
    first: float
    spacing: float
    density: FloatArray
    sums: FloatArray
    log_peak: float
    interpolation: Interpolation

    @classmethod
    def of(
        cls,
        grid: PosteriorGrid,
        half_width: float | None = None,
        coarse: tuple[bool, bool, bool] = (False, False, False),
        log_unseen: float = LOG_UNSEEN,
    ) -> FineGrid:
        """Interpolate the log likelihood of a grid and multiply it by the priors.

        It takes some megabytes and is not kept, but made where it is needed.

        Parameters
        ----------
        grid : PosteriorGrid
        half_width : float, optional
            Of the rope. For each nu the nodes of sigma0 are split where the rope stops being the most probable region for
            any delta0: the indicators' integrals have a kink there. None is for smooth integrands, which need fewer nodes.
        coarse : tuple of bool
            Whether sigma0, nu and delta0 get fewer nodes, and interpolation of a lower degree.
        log_unseen : float
            Log density against the largest, below which pairs are left out.
        """
        problem = grid.problem
        wanted = SMOOTH_NODES if half_width is None else FINE_NODES
        factors = [(COARSER if less else 1.0) * more for less, more in zip(coarse, grid.fineness, strict=True)]
        usual = USUAL_LOG_LENGTH if problem.log_sigma0 else USUAL_LENGTHS[0]
        factors[0] *= max(1.0, grid.support.length / usual)
        factors[1] *= max(1.0, problem.nu_length(grid.support.nu) / USUAL_LENGTHS[1])
        sigma0_count, nu_count, delta0_count = (
            int(factor * count) for factor, count in zip(factors, wanted, strict=True)
        )
        if problem.nu_prior is None:
            nu_places, nu_weight = grid.nu_axis.nodes, np.ones(1)
        else:
            nu_places, nu_weight = gauss_legendre(*grid.support.nu, nu_count)
        if half_width is None:
            nodes, weights = gauss_legendre(-1.0, 1.0, sigma0_count)
            relative = np.broadcast_to(nodes, (len(nu_places), sigma0_count))
            return cls._with_rule(
                grid, nu_places, relative, weights * nu_weight[:, None], delta0_count, coarse, log_unseen
            )
        lower, upper = grid.support.ends(nu_places)
        largest = largest_sigma0_of_rope(half_width, problem.nu(nu_places))
        kink = np.log(np.maximum(largest + problem.sigma0_offset, np.finfo(float).tiny))
        split = 2 * np.clip((kink - lower) / (upper - lower), 0, 1) - 1
        relative, weight = _split_rule(split, sigma0_count)
        return cls._with_rule(grid, nu_places, relative, weight * nu_weight[:, None], delta0_count, coarse, log_unseen)

    @classmethod
    def even(cls, grid: PosteriorGrid, cells: int) -> FineGrid:
        """Equal cells on the axes of sigma0 and nu, each seen from its middle."""
        middles = -1 + (2 * np.arange(cells) + 1) / cells
        if grid.problem.nu_prior is None:
            nu_places = grid.nu_axis.nodes
        else:
            first, last = grid.support.nu
            nu_places = first + (last - first) * (1 + middles) / 2
        relative = np.broadcast_to(middles, (len(nu_places), cells))
        weight = np.full(relative.shape, 1.0 / relative.size)
        return cls._with_rule(grid, nu_places, relative, weight, FINE_NODES[2], (False, False, False), LOG_UNSEEN)

    @classmethod
    def _with_rule(
        cls,
        grid: PosteriorGrid,
        nu_places: FloatArray,
        relative: FloatArray,
        weight: FloatArray,
        delta0_count: int,
        coarse: tuple[bool, bool, bool],
        log_unseen: float,
    ) -> FineGrid:
        """From places of nu and, for each, relative places of sigma0, with weights of shape (nu, sigma0)."""
        problem, axis = grid.problem, grid.delta0_axis
        lower, upper = grid.support.ends(nu_places)
        nu = problem.nu(nu_places)
        sigma0 = problem.sigma0(lower[:, None] + (upper - lower)[:, None] * (1 + relative) / 2)
        # A uniform prior is a constant, and d sigma0 = (sigma0 + c) d log(sigma0 + c)
        with np.errstate(divide="ignore"):  # nothing on one side of a split
            log_weight = np.log(weight * (upper - lower)[:, None] / 2 * (sigma0 + problem.sigma0_offset))
        log_weight += problem.log_prior(None, sigma0)
        if problem.nu_prior is not None:
            log_weight += (problem.nu_prior.log_density(nu) + np.log(problem.nu_slope(nu_places)))[:, None]
        by_sigma0 = grid.sigma0_axis.interpolation(relative.ravel(), coarse=coarse[0]).reshape(*relative.shape, -1)
        by_nu = grid.nu_axis.interpolation(nu_places, coarse=coarse[1])
        first, last = axis.ends
        if isinstance(axis, StretchedLine):
            delta0_count = max(delta0_count, FINE_FOR_NODE * (axis.count - 1) + 1)
        places = np.linspace(first, last, delta0_count)
        by_delta0 = axis.interpolation(places, coarse=coarse[2])
        along_nu = np.tensordot(by_nu, grid.log_likelihood, axes=(1, 1))  # (nu, sigma0 nodes, delta0 nodes)
        log_density = (by_sigma0 @ along_nu).reshape(relative.size, -1)
        centre, log_scale = (
            (by_sigma0 @ (by_nu @ field.T)[..., None]).ravel() for field in (grid.centre, grid.log_scale)
        )
        log_density += (log_weight.ravel() + log_scale)[:, None]
        # Few pairs hold mass where the axes are long; the others are not worth the interpolation along delta0
        prior = problem.delta0_prior
        scale = np.exp(log_scale)
        if prior is None:
            highest = log_density.max(axis=1)
        else:
            at_nodes = axis.delta0(axis.nodes) if isinstance(axis, StretchedLine) else axis.nodes
            highest = (log_density + prior.log_density(centre[:, None] + scale[:, None] * at_nodes)).max(axis=1)
        kept = np.flatnonzero(highest > highest.max() + log_unseen)
        log_density = log_density[kept] @ by_delta0.T
        if prior is not None:  # exactly, as it may be far narrower than the distance of the nodes
            between = axis.delta0(places) if isinstance(axis, StretchedLine) else places
            log_density += prior.log_density(centre[kept, None] + scale[kept, None] * between)
        if isinstance(axis, StretchedLine):
            log_density += np.log(axis.slope(axis.delta0(places)))
        log_peak = float(log_density.max())
        log_density -= log_peak
        density = np.exp(log_density, out=log_density)
        spacing = float(places[1] - places[0])
        nu_of_pairs = np.repeat(nu, relative.shape[1])
        return cls(
            grid, kept, sigma0.ravel()[kept], nu_of_pairs[kept], relative.shape, nu_places, relative[-1], centre[kept],
            scale[kept], first, spacing, density, cumulative(density, spacing), log_peak,
            Interpolation(by_sigma0, by_nu, kept, by_delta0),
        )  # fmt: skip

    def without(self, terms: FloatArray) -> FineGrid:
        """The posterior with some terms taken off the log likelihood, given at the nodes of the grid."""
        log_change = -self.interpolation(terms)
        largest = float(log_change.max())
        density = self.density * np.exp(log_change - largest)
        if density.max() < UNDERFLOW:  # the largest change is where there is no mass
            with np.errstate(divide="ignore"):
                log_change += np.log(self.density)
            largest = float(log_change.max())
            density = np.exp(log_change - largest)
        sums = cumulative(density, self.spacing)
        return replace(self, density=density, sums=sums, log_peak=self.log_peak + largest)

    def only(self, pairs: NDArray[np.intp]) -> FineGrid:
        """Some of the pairs, as often as they are named."""
        fields = ("kept", "sigma0", "nu", "centre", "scale", "density", "sums")
        return replace(self, **{name: getattr(self, name)[pairs] for name in fields})

    @property
    def mass_table(self) -> FloatArray:
        """Mass of every pair, shape (nu, sigma0)."""
        table = np.zeros(self.shape)
        table.ravel()[self.kept] = self.pair_mass
        return table

    def mass_below(self, delta0: FloatArray) -> FloatArray:
        """Joint mass of each pair and of delta0 between its lower bound and some values.

        Parameters
        ----------
        delta0 : ndarray, shape (pairs, values)
        """
        bound = self.grid.problem.delta0_bound
        ends = np.concatenate([np.full((len(delta0), 1), -bound), np.clip(delta0, -bound, bound)], axis=1)
        masses = cumulative_at(self.places_of(ends), self.first, self.spacing, self.density, self.sums)
        return np.asarray(masses[:, 1:] - masses[:, :1])

    def places_of(self, delta0: FloatArray) -> FloatArray:
        """Where values of delta0, shape (pairs, values), lie on its axis."""
        relative = (delta0 - self.centre[:, None]) / self.scale[:, None]
        axis = self.grid.delta0_axis
        return axis.coordinate(relative) if isinstance(axis, StretchedLine) else relative

    @cached_property
    def places(self) -> FloatArray:
        """The nodes of the axis of delta0, relative to centre and scale."""
        return np.asarray(self.first + self.spacing * np.arange(self.density.shape[1]))

    @cached_property
    def delta0(self) -> FloatArray:
        """delta0 at every node, shape (pairs, nodes)."""
        axis = self.grid.delta0_axis
        relative = axis.delta0(self.places) if isinstance(axis, StretchedLine) else self.places
        return np.asarray(self.centre[:, None] + self.scale[:, None] * relative)

    @cached_property
    def beyond_delta0(self) -> float:
        """Share of the mass beyond the ends of delta0's axis, if the density goes on to fall as it does there."""
        if isinstance(self.grid.delta0_axis, StretchedLine):  # which goes as far as the bounds
            return 0.0
        found = 0.0
        for end, before in ((self.density[:, 0], self.density[:, 1]), (self.density[:, -1], self.density[:, -2])):
            seen = end > 0
            rate = np.log(np.maximum(before[seen], end[seen]) / end[seen]) / self.spacing
            found += float((end[seen] / np.maximum(rate, SLOWEST_RATE)).sum())
        return found / self.total

    @cached_property
    def pair_mass(self) -> FloatArray:
        """Mass of each pair of sigma0 and nu, delta0 integrated between its bounds."""
        bound = np.full((len(self.centre), 1), self.grid.problem.delta0_bound)
        return self.mass_below(bound)[:, 0]

    def expectation(self, values: FloatArray) -> float:
        """Posterior mean of a smooth function, given at the nodes of the grid."""
        return float((self.weight * self.interpolation(values)).sum())

    @cached_property
    def expected_delta0(self) -> float:
        """Posterior mean of delta0."""
        return float((self.weight * self.delta0).sum())

    @property
    def deviation_of_delta0(self) -> float:
        """Posterior standard deviation of delta0."""
        return float(np.sqrt((self.weight * (self.delta0 - self.expected_delta0) ** 2).sum()))

    @cached_property
    def weight(self) -> FloatArray:
        """Share of the mass at every node, shape (pairs, nodes), by the trapezoidal rule: an axis may end at the bounds.

        Every pair keeps its own mass, which is known more exactly than this sum.
        """
        weight = np.where(np.abs(self.delta0) <= self.grid.problem.delta0_bound, self.density, 0.0)
        weight[:, [0, -1]] /= 2
        sums = weight.sum(axis=1)
        weight *= (self.pair_mass / np.where(sums > 0, sums, 1.0) / self.total)[:, None]
        return weight

    @cached_property
    def total(self) -> float:
        """The whole mass."""
        return float(self.pair_mass.sum())

    @property
    def log_marginal_likelihood(self) -> float:
        """Log of the probability density of all scores' differences."""
        return float(np.log(self.total) + self.log_peak - self.grid.problem.log_prior_mass)


def coarse_axes(grid: PosteriorGrid) -> list[tuple[bool, bool, bool]]:
    """Which axis is to be coarser, for each axis that has more than one node."""
    return [(axis == 0, axis == 1, axis == 2) for axis, count in enumerate(grid.log_likelihood.shape) if count > 1]


def doubts(grid: PosteriorGrid) -> list[float]:
    """How much larger the error of each axis may be than its difference from a coarser grid, as `coarse_axes` has them.

    The coarser grid leaves out the last two coefficients of Chebyshev polynomials. If pairs of coefficients fall by a
    factor g, those beyond the last add up to g / (1 - g) times it. A spline has no coefficients to judge by.
    """
    log_likelihood = grid.log_likelihood - grid.log_likelihood.max()
    log_density = grid.log_density
    log_density -= log_density.max()
    found = []
    for number, axis in _axes_with_nodes(grid):
        if not isinstance(axis, ChebyshevAxis):
            found.append(SPLINE_DOUBT)
            continue
        lines, notable = (
            np.moveaxis(values, number, 0).reshape(axis.count, -1) for values in (log_likelihood, log_density)
        )
        coefficients = axis.coefficients(lines[:, notable.max(axis=0) > LOG_NOTABLE])
        before, last = (float(np.sqrt((pair**2).mean())) for pair in (coefficients[-4:-2], coefficients[-2:]))
        fall = min(last / before, SLOWEST_FALL) if last > LIKELIHOOD_ERROR else 0.0
        found.append(max(1.0, fall / (1 - fall)))
    return found


def factors(grid: PosteriorGrid) -> list[float]:
    """What the difference of each axis from a coarser grid is multiplied by, as `coarse_axes` has them."""
    return [shortfall(grid) * doubt for doubt in doubts(grid)]


def shortfall(grid: PosteriorGrid) -> float:
    """By how much the difference from a coarser grid may fall short of the error."""
    if grid.stretched_at_last:
        return SHORTFALL_OF_STRETCHED
    if isinstance(grid.delta0_axis, StretchedLine):
        return SHORTFALL_OF_SPLINES
    return SHORTFALL_OF_NU if grid.problem.nu_reaches_zero else SHORTFALL


def ripples(grid: PosteriorGrid) -> list[float]:
    """What the waves of each axis's interpolation error, which cancel to first order, add to the mass to second order.

    It is half the posterior mean of the squared error of the log density. The squares of the coefficients beyond the last
    pair, which fall by a factor g, add up to g^2 / (1 - g^2) times its own; the error is twice as large, since at the nodes
    they are taken for others. Twice the whole, as the waves are higher in some places. None is made where it was found 10
    to 100 times too large: where delta0 is stretched, and where coefficients fall so slowly that the cause lies at an end.
    """
    if isinstance(grid.delta0_axis, StretchedLine):
        return [0.0 for _ in _axes_with_nodes(grid)]
    problem, support = grid.problem, grid.support
    sigma0 = problem.sigma0(support.sigma0_place(grid.sigma0_axis.nodes, grid.nu_axis.nodes))
    log_density = grid.log_density + (np.log(sigma0 + problem.sigma0_offset) + grid.log_scale)[..., None]
    if problem.nu_prior is not None:
        first, last_place = grid.nu_axis.ends
        inside = np.maximum(grid.nu_axis.nodes, first + INSIDE * (last_place - first))
        log_prior = problem.nu_prior.log_density(problem.nu(inside)) + np.log(problem.nu_slope(inside))
        log_density = log_density + log_prior[:, None]
    weight = np.exp(log_density - log_density.max())
    for number, axis in _axes_with_nodes(grid):
        cells = np.gradient(axis.nodes)
        weight = weight * np.expand_dims(cells, [other for other in range(3) if other != number])
    found = []
    for (number, axis), doubt in zip(_axes_with_nodes(grid), doubts(grid), strict=True):
        if doubt > DOUBT_OF_AN_END:
            found.append(0.0)
            continue
        last = np.eye(axis.count) - axis.interpolation(axis.nodes, coarse=True)
        waves = np.moveaxis(np.tensordot(last, grid.log_likelihood, axes=(1, number)), 0, number)
        beyond = max(1.0, doubt**2 / (1 + 2 * doubt))  # g = doubt / (1 + doubt)
        found.append(float(4 * beyond * (weight * waves**2).sum() / weight.sum()))
    return found


def _axes_with_nodes(grid: PosteriorGrid) -> list[tuple[int, ChebyshevAxis | SplineAxis | StretchedLine]]:
    """The axes that have more than one node, and their numbers."""
    axes = (grid.sigma0_axis, grid.nu_axis, grid.delta0_axis)
    return [(number, axis) for number, axis in enumerate(axes) if axis.count > 1]


def largest_sigma0_of_rope(half_width: float, nu: FloatArray) -> FloatArray:
    """Above this sigma0 the rope is not the most probable region, wherever delta0 lies.

    At delta0 in the rope's middle the three regions are equally probable there: the half-width is the 2/3 quantile.
    """
    from scipy import special

    quantile = np.where(np.isinf(nu), special.ndtri(2 / 3), special.stdtrit(np.where(np.isinf(nu), 1.0, nu), 2 / 3))
    return np.asarray(half_width / quantile)


def _split_rule(split: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [-1, 1], half of them on each side of every ``split``, shape (splits, count)."""
    nodes, weights = gauss_legendre(-1.0, 1.0, count // 2)
    below, above = ((split - 1) / 2, (split + 1) / 2), ((split + 1) / 2, (1 - split) / 2)
    return (
        np.concatenate([middle[:, None] + half[:, None] * nodes for middle, half in (below, above)], axis=1),
        np.concatenate([half[:, None] * weights for _, half in (below, above)], axis=1),
    )


def conditional_places(
    problem: Integrand, support: Support, relative: FloatArray, nu_places: FloatArray, centring: Centring | None
) -> tuple[FloatArray, FloatArray]:
    """Centre and scale of delta0's axis at places of the other two, shape (sigma0, nu)."""
    places = support.sigma0_place(relative, nu_places)
    nu = np.broadcast_to(problem.nu(nu_places), places.shape)
    centre, scale = conditional_moments(problem.likelihood, problem.sigma0(places), nu, problem.delta0_prior)
    if centring is None:
        return centre, scale
    return centre + scale * centring.scales(places, np.broadcast_to(nu_places, places.shape)), scale


def conditional_moments(
    likelihood: MeanLikelihood, sigma0: FloatArray, nu: FloatArray, prior: Normal | None = None
) -> tuple[FloatArray, FloatArray]:
    """Approximate centre and scale of delta0 given sigma0 and nu, of their shape; only nodes are placed by them.

    A data set's mean is taken as Student-t around delta0 with the sum of the two variances, and degrees of freedom as
    Welch and Satterthwaite have them. ``prior`` is that on delta0, if it is not uniform.
    """
    a2 = likelihood.width**2
    spread2 = sigma0[..., None] ** 2
    variance = a2 + spread2
    k = (a2**2 / likelihood.df + spread2**2 / nu[..., None]) / variance**2
    precision, expected = (0.0, 0.0) if prior is None else (prior.sd**-2, prior.mean)
    centre = np.broadcast_to(np.median(likelihood.mean), sigma0.shape)
    for _ in range(MOST_STEPS):
        weight = (1 + k) / (variance + k * (likelihood.mean - centre[..., None]) ** 2)
        total = weight.sum(axis=-1) + precision
        moved = ((weight * likelihood.mean).sum(axis=-1) + precision * expected) / total - centre
        centre = centre + moved
        if (np.abs(moved) * np.sqrt(total)).max() < STILL:
            break
    squared = k * (likelihood.mean - centre[..., None]) ** 2
    curvature = ((1 + k) * (variance - squared) / (variance + squared) ** 2).sum(axis=-1)
    information = ((1 + k) / (variance + squared)).sum(axis=-1)
    return np.asarray(centre), np.asarray(1 / np.sqrt(np.maximum(curvature, 0.3 * information) + precision))


def newton_moments(
    likelihood: MeanLikelihood, sigma0: FloatArray, nu: FloatArray, step: float, prior: Normal | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mode and scale of delta0 given sigma0 and nu by Newton's method, and the log density at the mode.

    Where the data lie unevenly about their centre, the distance of the approximation from the mode does not shrink with
    the number of data sets, as the scale does.
    """
    shape = sigma0.shape
    centre, scale = (values.ravel() for values in conditional_moments(likelihood, sigma0, nu, prior))
    log_peak, moving = np.zeros_like(centre), np.arange(centre.size)
    for _ in range(NEWTON_STEPS):
        near = centre[moving, None] + scale[moving, None] * np.array([-1.0, 0.0, 1.0])
        population = sigma0.ravel()[moving, None], nu.ravel()[moving, None]
        values = likelihood.log_marginal(near, *population, step=step).reshape(near.shape)
        if prior is not None:
            values += prior.log_density(near)
        slope = (values[:, 2] - values[:, 0]) / 2
        bend = np.minimum(values[:, 2] - 2 * values[:, 1] + values[:, 0], -0.1)
        moved = np.clip(-slope / bend, -LONGEST_STEP, LONGEST_STEP)
        log_peak[moving] = values[:, 1] + slope * moved + bend * moved**2 / 2
        centre[moving] += scale[moving] * moved
        scale[moving] /= np.sqrt(-bend)
        moving = moving[np.abs(moved) > NEAR]
        if len(moving) == 0:
            break
    return centre.reshape(shape), scale.reshape(shape), log_peak.reshape(shape)
