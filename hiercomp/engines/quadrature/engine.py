"""The quadrature engine: the posterior by deterministic integration, without Monte Carlo error.

sigma_i is integrated in closed form, delta_i and the hyperparameters of nu by quadrature; the posterior of delta0,
sigma0 and nu is then integrated on a grid that is fitted to it (docs/model.md, M13 to M16).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version as installed_version
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.engines.base import Answer, Computation
from hiercomp.engines.quadrature.axes import ChebyshevAxis, StretchedLine
from hiercomp.engines.quadrature.grid import (
    NEGLIGIBLE,
    FineGrid,
    PosteriorGrid,
    conditional_moments,
    newton_moments,
)
from hiercomp.engines.quadrature.regions import RegionMasses, region_masses
from hiercomp.engines.quadrature.support import Integrand, Support
from hiercomp.rope import Rope

Known: TypeAlias = "tuple[Rope, RegionMasses, dict[str, float]]"  # the probabilities of a rope, and their errors

# docs/quadrature.md has a row for every constant whose comment ends in "(study)"; the others say why they are as they are.
FEW_DATASETS = 10  # up to here delta0 may have several peaks, and its nodes are dense about every data set (study)
MOST_STRETCHED = 40  # data sets for which that is tried too, where the other axis fails (study)
FAR = 8.0  # standard errors of delta0 within its bound: a Gaussian has 1e-15 beyond them
TOLERANCE = 1e-4  # of the error estimate, above which the grid is refined: a tenth of the error that is warned of
LARGEST_ERROR = 1e-3  # accepted where the grid is large; above it there is a warning
MUCH_WORK, MOST_WORK = 500_000, 10_000_000  # integrals over delta_i: about half a second (study), and ten
FIRST_NODES = (11, 15, 11)  # of sigma0, nu and delta0 (study)
NODES_FOR_LENGTH, NODES_FOR_LENGTH_SPLINE = 3.5, 3.0  # of sigma0, for each unit of its axis (study)
NODES_FOR_UNIT = 2.0  # of the axis of delta0 where it is stretched, for each unit of its coordinate (study)
REFINEMENT, MOST_REFINEMENTS = 1.4, 5  # 1.4^2 = 2: two refinements double an axis, five make it five times as fine
WIDER = 0.3  # share of their length by which axes grow that end too early (study)
LEFT_OUT = 1e-8  # mass of a node against the largest, below which the axes end (study)
CAUTION, NU_CAUTION = 0.15, 1.0  # of a step between nodes, beyond where they say that the axes end (study)
SEARCH_STEP = 0.5  # between the nodes of delta_i: an error of 5e-5 of a likelihood (study)
SEARCH_ROUNDS = 12  # each keeps less than SETTLED of an axis; few take more than six (study)
SEARCH_NODES = (9, 8)  # of sigma0 and nu (study)
SEARCH_PLACES = np.linspace(-2.5, 2.5, 5)  # of delta0, in conditional standard deviations (study)
SEARCH_SHARE = 0.5  # of the nodes of a stretched axis (study)
SETTLED = 0.75  # the search ends when a round keeps this much of both axes (study)


@dataclass(frozen=True, eq=False)
class Integration:
    """The integrated posterior: the final grid and what it took.

    Attributes
    ----------
    grid : PosteriorGrid
    refinements : int
        How often the grid was made finer.
    known : Known, optional
        The probabilities and their errors for the rope that the grid was refined for.
    """

    grid: PosteriorGrid
    refinements: int
    known: Known | None = None

    @property
    def nodes(self) -> tuple[int, int, int]:
        """Number of nodes of sigma0, nu and delta0 at which the likelihood was computed."""
        first, second, third = self.grid.log_likelihood.shape
        return first, second, third

    @property
    def log_marginal_likelihood(self) -> float:
        """Log of the density of the differences, in the unit of the problem."""
        return self._moments[0]

    @property
    def expected_delta0(self) -> float:
        """Posterior mean of delta0."""
        return self._moments[1]

    @cached_property
    def _moments(self) -> tuple[float, float]:
        fine = FineGrid.of(self.grid)
        return fine.log_marginal_likelihood, fine.expected_delta0

    @property
    def largest_error(self) -> float:
        """The largest error among the known probabilities."""
        return max(self.known[2].values()) if self.known is not None else float("inf")

    def regions(self, rope: Rope) -> tuple[RegionMasses, dict[str, float]]:
        """The probabilities of the regions and an estimate of the error of each, from a coarser grid."""
        if self.known is not None and self.known[0] == rope:
            return self.known[1], dict(self.known[2])
        found = region_masses(self.grid, rope)
        return found, found.distance(region_masses(self.grid, rope, (True, True, True)))


class QuadratureEngine:
    """Integrates the posterior on a grid; nothing is sampled but the draws that are asked for afterwards."""

    name = "quadrature"
    holds_draws = False

    def why_unavailable(self) -> str | None:
        """Why it can't be used here: it always can."""
        return None

    def version(self) -> str:
        """The library behind the engine and its version."""
        return f"SciPy {installed_version('scipy')}"

    def fit(self, computation: Computation[Answer]) -> Answer:
        """Have a posterior integrated."""
        return computation.integrated(self)

    def integrate(self, problem: Integrand, rope: Rope) -> Integration:
        """Find where the posterior lies, compute it on a grid, and refine the grid until its error is small.

        Parameters
        ----------
        problem : Integrand
        rope : Rope
            In the problem's unit; the error of its probabilities is what the grid is refined for.
        """
        support = posterior_support(problem)
        q = len(problem.likelihood.n)
        counts = np.array(FIRST_NODES)
        if problem.nu_prior is None:
            counts[1] = 1
        few = _stretched(problem)
        for_length = (NODES_FOR_LENGTH_SPLINE if few else NODES_FOR_LENGTH) * support.length
        counts[0] = max(counts[0], int(np.ceil(for_length)))
        fine, newton = np.ones(3), False
        lowest = support.ends(np.linspace(*support.nu, 9))[0].min(keepdims=True)
        smallest = float(problem.sigma0(lowest)[0])
        for refinement in range(MOST_REFINEMENTS + 1):
            if few:
                line: ChebyshevAxis | StretchedLine = stretched_line(problem, smallest, counts[2] / FIRST_NODES[2])
            else:
                line = conditional_axis(problem, int(counts[2]))
            sigma0_count, nu_count = int(counts[0]), int(counts[1])
            fineness = (fine[0], fine[1], fine[2])
            grid = PosteriorGrid.computed(problem, support, sigma0_count, nu_count, line, fineness, newton=newton)
            if refinement < MOST_REFINEMENTS:
                mass = FineGrid.of(grid)
                if not (few or newton) and off_centre(mass):
                    newton, support = True, posterior_support(problem, newton=True)
                    continue
                wider = widened(mass)
                if wider is not None:
                    support = wider
                    continue
            work = grid.log_likelihood.size * q
            tolerance = TOLERANCE if work < MUCH_WORK else LARGEST_ERROR
            found = _with_regions(grid, refinement, rope)
            if found.largest_error <= tolerance or work > MOST_WORK:
                break
            blamed = _blamed_axes(found, rope)
            fine = np.where(blamed, REFINEMENT * fine, fine)
            # Integrating the same interpolation over more nodes is cheap, and often all that is missing
            found = _with_regions(replace(grid, fineness=(fine[0], fine[1], fine[2])), refinement, rope)
            if found.largest_error <= tolerance:
                break
            counts = np.where(blamed, np.ceil(REFINEMENT * counts), counts).astype(int)
            few = few or (refinement == 1 and q <= MOST_STRETCHED)  # the other axis does not fit
        return found


def _with_regions(grid: PosteriorGrid, refinement: int, rope: Rope) -> Integration:
    found = Integration(grid, refinement)
    return replace(found, known=(rope, *found.regions(rope)))


def _blamed_axes(found: Integration, rope: Rope) -> NDArray[np.bool_]:
    """Which of sigma0, nu and delta0 the error comes from."""
    masses, _ = found.regions(rope)
    alone = np.array([
        max(masses.distance(region_masses(found.grid, rope, (axis == 0, axis == 1, axis == 2))).values())
        if count > 1 else 0.0
        for axis, count in enumerate(found.nodes)
    ])  # fmt: skip
    return np.asarray(alone > min(TOLERANCE, alone.max()) / 4)


def widened(fine: FineGrid) -> Support | None:
    """The support with those ends further out at which there is still mass, or None where there is none."""
    problem, support = fine.grid.problem, fine.grid.support
    share = fine.pair_mass.reshape(fine.shape) / fine.total
    outermost = np.array([share[0].sum(), share[-1].sum(), share[:, 0].sum(), share[:, -1].sum()])
    limits = np.array([*problem.nu_limits, *problem.sigma0_limits])
    lower, upper = support.ends(np.linspace(*support.nu, 9))
    inside = np.array([support.nu[0], -support.nu[1], lower.min(), -upper.max()]) > limits * [1, -1, 1, -1]
    short = (outermost > NEGLIGIBLE) & inside
    if problem.nu_prior is None:
        short[:2] = False
    return support.widened(np.where(short, WIDER, 0.0), limits) if short.any() else None


def off_centre(fine: FineGrid) -> bool:
    """Whether there is still mass where the axis of delta0 ends, about its approximate centre."""
    return bool(fine.density[:, [0, -1]].sum() * fine.spacing > NEGLIGIBLE * fine.total)


def _stretched(problem: Integrand) -> bool:
    """Whether delta0 may have several peaks, or be cut off by its bound."""
    mean = problem.likelihood.mean
    reach = abs(float(np.median(mean))) + FAR * float(mean.std()) / np.sqrt(len(mean))
    return len(mean) <= FEW_DATASETS or problem.delta0_bound < reach


def conditional_axis(problem: Integrand, count: int) -> ChebyshevAxis:
    """Axis of delta0 about its conditional centre, for many data sets."""
    from scipy import special

    reach = float(-special.stdtrit(2 * len(problem.likelihood.n) - 1, LEFT_OUT)) + 0.5
    return ChebyshevAxis(-reach, reach, count)


def stretched_line(problem: Integrand, sigma0: float, factor: float = 1.0) -> StretchedLine:
    """Axis of delta0 that is dense about every data set, as far as the bound."""
    likelihood, bound = problem.likelihood, problem.delta0_bound
    widths = np.hypot(likelihood.width, sigma0)
    # Data sets that lie together make a narrower peak, and need no more nodes than one of them
    crowd = (1 / np.hypot(1, (likelihood.mean[:, None] - likelihood.mean) / widths)).sum(axis=1)
    widths = widths / np.sqrt(crowd)
    line = StretchedLine(likelihood.mean, widths, -bound, bound, 8)
    length = (line.ends[1] - line.ends[0]) / float(np.median(crowd))
    return StretchedLine(
        likelihood.mean, widths, -bound, bound, max(16, int(np.ceil(factor * NODES_FOR_UNIT * length)))
    )


def posterior_support(problem: Integrand, *, newton: bool = False) -> Support:
    """Find where the posterior of sigma0 and nu has mass worth mention.

    A coarse grid over everything that the priors allow is narrowed, round by round, for each nu to the values of sigma0 that
    hold mass and one more on each side, and to the nu that hold any; it moves where the mass lies at its edge.
    """
    limits = np.array(problem.sigma0_limits)
    nu_count = 1 if problem.nu_prior is None else SEARCH_NODES[1]
    nu_ends = problem.nu_limits
    ends = np.tile(limits, (nu_count, 1))  # on sigma0's axis, for each nu
    for _ in range(SEARCH_ROUNDS):
        nu_places = np.linspace(*nu_ends, nu_count)
        places = np.linspace(ends[:, 0], ends[:, 1], SEARCH_NODES[0])  # (sigma0, nu)
        log_mass = _log_cell_masses(problem, places, nu_places, newton)
        slices = log_mass.max(axis=0)
        worth = slices.max() - _depth(slices)
        narrowed = ends.copy()
        for number, along in enumerate(log_mass.T):
            worth_here = min(slices.max() + np.log(LEFT_OUT), along.max() - _depth(along, 4.0))
            narrowed[number] = _interval(places[:, number], along, worth_here, limits)
        kept = slices >= worth
        if nu_count > 1:
            nu_limits = np.array(problem.nu_limits)
            new_nu_ends = _interval(nu_places, slices, worth, nu_limits, NU_CAUTION)
        else:
            new_nu_ends = nu_ends
        settled = _settled(ends[kept], narrowed[kept]) and _settled(np.array([nu_ends]), np.array([new_nu_ends]))
        # A first round whose places of sigma0 miss the peak may have cut off the best nu: the interval moves back to it
        first_open, last_open = nu_ends[0] > problem.nu_limits[0], nu_ends[1] < problem.nu_limits[1]
        edge = max(slices[0] if first_open else -np.inf, slices[-1] if last_open else -np.inf)
        settled = settled and bool(edge < slices.max() + np.log(NEGLIGIBLE))
        new_places = np.linspace(*new_nu_ends, nu_count)
        ends = np.stack([np.interp(new_places, nu_places, narrowed[:, side]) for side in (0, 1)], axis=1)
        weight = np.interp(new_places, nu_places, np.maximum(slices - slices.max(), -40.0))
        nu_ends = new_nu_ends
        if settled:
            break
    return _smooth_support(nu_ends, ends, weight, limits)


def _interval(
    places: FloatArray, log_mass: FloatArray, worth: float, limits: FloatArray, caution: float = CAUTION
) -> tuple[float, float]:
    """Where the log mass crosses ``worth``: on the line between two places, or one step beyond the outermost."""
    kept = np.flatnonzero(log_mass >= worth)
    spacing = places[1] - places[0]

    def crossing(inner: int, outwards: int) -> float:
        outer = inner + outwards
        if not 0 <= outer < len(places):
            return float(places[inner] + outwards * spacing)
        drop = log_mass[inner] - log_mass[outer]
        return float(places[inner] + outwards * spacing * (min(1.0, (log_mass[inner] - worth) / drop) + caution))

    first, last = crossing(int(kept[0]), -1), crossing(int(kept[-1]), 1)
    return float(np.clip(first, *limits)), float(np.clip(last, *limits))


def _settled(before: FloatArray, after: FloatArray) -> bool:
    """Whether a round has kept most of every interval, shape (intervals, 2)."""
    lengths = np.ptp(before, axis=1)
    kept = np.ptp(after, axis=1) >= SETTLED * lengths
    return bool((kept & (np.abs(after - before).max(axis=1) <= (1 - SETTLED) * lengths)).all())


def _smooth_support(nu_ends: tuple[float, float], ends: FloatArray, weight: FloatArray, limits: FloatArray) -> Support:
    """The ends on sigma0's axis as quadratic functions of the place of nu, outside all that count.

    Where nothing counts the functions are extrapolated; where they would meet there, simpler ones are taken.
    """
    u = np.linspace(-1, 1, len(ends)) if len(ends) > 1 else np.zeros(1)
    counts = weight > np.log(LEFT_OUT)
    for degree in range(min(2, int(counts.sum()) - 1), -1, -1):
        lower = _end_function(u[counts], ends[counts, 0], degree, -1.0, float(limits[0]))
        upper = _end_function(u[counts], ends[counts, 1], degree, 1.0, float(limits[1]))
        support = Support(nu_ends, lower, upper)
        if support.proper:
            break
    return support


def _end_function(u: FloatArray, ends: FloatArray, degree: int, outwards: float, limit: float) -> FloatArray:
    """Coefficients of a function that lies outside of all ends; the limit where an end is there."""
    if (outwards * (ends - limit) >= -1e-9).any():  # nothing lies beyond what the prior allows
        return np.array([limit, 0.0, 0.0])
    fitted = np.polynomial.Polynomial.fit(u, ends, degree, domain=[-1, 1], window=[-1, 1])
    padded = np.zeros(3)
    padded[: degree + 1] = fitted.coef
    padded[0] += outwards * max(float((outwards * (ends - fitted(u))).max()), 0.0)
    return padded


def _log_cell_masses(problem: Integrand, places: FloatArray, nu_places: FloatArray, newton: bool) -> FloatArray:
    """Rough log posterior mass about pairs of places on the axes of sigma0, shape (sigma0, nu), and of nu."""
    likelihood, bound = problem.likelihood, problem.delta0_bound
    sigma0 = problem.sigma0(places)
    nu = np.broadcast_to(problem.nu(nu_places), sigma0.shape)
    if _stretched(problem):
        line = stretched_line(problem, float(sigma0.min()), SEARCH_SHARE)
        delta0 = np.broadcast_to(line.delta0(line.nodes), (*sigma0.shape, line.count))
        log_width = np.log(line.slope(delta0[0, 0]))
    elif newton:
        _, scale, log_peak = newton_moments(likelihood, sigma0, nu, SEARCH_STEP)
        return _with_priors(problem, log_peak + np.log(scale), sigma0, places, nu_places)
    else:
        centre, scale = conditional_moments(likelihood, sigma0, nu)
        delta0 = centre[..., None] + scale[..., None] * SEARCH_PLACES
        log_width = np.log(scale)[..., None]
    log_density = likelihood.log_marginal(delta0, sigma0[..., None], nu[..., None], step=SEARCH_STEP).reshape(
        delta0.shape
    )
    log_density = np.where(np.abs(delta0) <= bound, log_density + log_width, -np.inf)
    return _with_priors(problem, np.logaddexp.reduce(log_density, axis=-1), sigma0, places, nu_places)


def _with_priors(
    problem: Integrand, log_density: FloatArray, sigma0: FloatArray, places: FloatArray, nu_places: FloatArray
) -> FloatArray:
    """Log masses of cells from log densities by sigma0 and nu."""
    log_mass = log_density + np.log(sigma0 + problem.sigma0_offset)
    if problem.nu_prior is None:
        return np.asarray(log_mass)
    log_mass = log_mass + np.log(places[1] - places[0])
    edges = problem.nu((nu_places[1:] + nu_places[:-1]) / 2)
    cells = np.diff(np.concatenate([[0.0], problem.nu_prior.cdf(edges), [1.0]]))
    return np.asarray(log_mass + np.log(np.maximum(cells, np.finfo(float).tiny)))


def _depth(log_masses: FloatArray, least: float = -np.log(LEFT_OUT)) -> float:
    """How far below the largest mass a neighbour still counts; deeper where the peak falls between the nodes."""
    if len(log_masses) == 1:
        return least
    most = int(np.argmax(log_masses))
    around = np.sort(log_masses[max(most - 1, 0) : most + 2])
    return float(max(least, 2 * (around[-1] - around[-2])))
