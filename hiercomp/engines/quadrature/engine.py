"""The quadrature engine: the posterior by deterministic integration, without Monte Carlo error.

sigma_i is integrated in closed form, delta_i and the hyperparameters of nu by quadrature; the posterior of delta0,
sigma0 and nu is then integrated on a grid that is fitted to it (docs/model.md, M13 to M16).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hiercomp.arguments import FloatArray
from hiercomp.engines.base import Answer, Computation
from hiercomp.engines.quadrature.axes import ChebyshevAxis, StretchedLine
from hiercomp.engines.quadrature.grid import (
    DOUBT_OF_AN_END,
    NEGLIGIBLE,
    Centring,
    FineGrid,
    PosteriorGrid,
    coarse_axes,
    conditional_moments,
    doubts,
    factors,
    newton_moments,
    ripples,
    shortfall,
)
from hiercomp.engines.quadrature.integration import TOLERANCE, Integration
from hiercomp.engines.quadrature.likelihood import MeanLikelihood, step_for
from hiercomp.engines.quadrature.support import Integrand, Support
from hiercomp.engines.quadrature.tails import mass_beyond
from hiercomp.rope import Rope

# docs/quadrature.md has a row for every constant whose comment ends in "(study)"; the others say why they are as they are.
MOST_STRETCHED = 60  # data sets for which the stretched axis of delta0 is tried too, where the other axis fails
# Times the usual nodes of sigma0, nu and delta0 there: the usual ones were just too few for half of the random problems
MORE_STRETCHED = (1.2, 1.0, 1.4)
# The same for few data sets: on log sigma0, where the likelihood bends along nu, too, and 1.5 times its nodes were just too
# few for a tenth of the random problems; and where nu may reach 0, for the singularity at sigma0 = 0
MORE_ON_LOG_SIGMA0, MORE_WITH_NU_TO_ZERO = (1.0, 2.0, 1.0), (1.25, 1.0, 1.0)
SPARE = 0.25  # scales by which delta0's axis is longer: a scale is known to a tenth
BEYOND = 2e-5  # mass beyond the ends of delta0's axis that `OUTSIDE` covers; for more the axis is made longer
# Scales by which that is done, once: longer tails belong to a second peak, which the stretched axis has; without it thrice
LONGER, MOST_LONGER = 4.0, 12.0
FAR_OFF = 4.0  # times the error asked for: as much less is what a finer grid is to gain; some gain a factor of 10
HOPELESS = 50.0  # times the error asked for: polynomials are given up at once where there is another axis
LARGEST_ERROR = 1e-3  # accepted where the grid is large; above it there is a warning
# Integrals over delta_i: about a second or two in all grids of a fit together; above it LARGEST_ERROR is accepted. With few
# data sets, where the stated error is many times the true one, that is so from less on
MUCH_WORK, MUCH_WORK_FOR_FEW = 1_000_000, 400_000
# No finer grid is computed that makes them more than this, or than four times those of the first grid
MOST_REFINED, MOST_GRIDS = 3_000_000, 4
MOST_WORK = 10_000_000  # of one grid, about ten seconds: it's the last
# Of sigma0, nu and delta0 for each unit of length: of log sigma0, of nu's axis, of the data sets' sd (study)
NODES_FOR_LENGTH, NODES_AT_LEAST = (3.5, 4.2, 7.0), 4.0
# The first two where the axis of sigma0 is log sigma0, along which nothing bends sharply, but its ends depend on nu (study)
NODES_FOR_LOG_SIGMA0 = (2.2, 7.4, 7.0)
# The same where nu may reach 0: its axis is log nu, and sigma0's twice as long
NODES_FOR_LOG_SIGMA0_TO_ZERO = (1.6, 4.2, 8.0)
GAUSSIAN_NODES = 1.5  # by which they are more with a Gaussian population: with a single nu they cost little
FEWEST_NODES = 7  # two degrees fewer, for the error, leave a parabola
NODES_FOR_LENGTH_SPLINE, FEWEST_SPLINE = (3.6, 3.0), 11  # of sigma0 and nu, where delta0 is stretched (study)
NODES_FOR_UNIT = 3.0  # of the axis of delta0 where it is stretched, for each unit of its coordinate (study)
REFINEMENT, MOST_REFINEMENTS = 1.4, 5  # 1.4^2 = 2: two refinements double an axis, five make it five times as fine
FINER = 2.0  # the same for the fine nodes of sigma0 alone
FURTHER = 1.5  # the same for splines whose error is far off: a second refinement would cost more
# The same for splines whose error is up to so many times the one asked for: 1.2^4 = 2
NEARLY, LITTLE_FURTHER = 1.5, 1.2
MOST_DEGREE = 2  # of the polynomials that the ends of sigma0 are in nu (study)
NARROWER = 0.8  # share of the area that a smaller support has at most; a larger one gains less than it costs
# Of LEFT_OUT, in that smaller support: its cells are smaller, and the grid that shows them was too coarse
STILL_KEPT = 1e-3
STEPS_BEYOND = 3  # by which the search moves where mass lies at the end of its grid: three rounds double it (study)
WIDER = 0.3  # share of their length by which axes grow that end too early (study)
LEFT_OUT = 1e-6  # mass of a node against the largest, below which the axes end (study)
CAUTION, NU_CAUTION = 0.15, 0.5  # of a step between nodes, beyond where they say that the axes end (study)
SEARCH_ERROR = 0.1  # of a log likelihood: the ends move by less than a hundredth of the depth at which they lie
SEARCH_ROUNDS = 12  # each keeps less than SETTLED of an axis; few take more than six (study)
SEARCH_NODES = (9, 8)  # of sigma0 and nu (study)
GAUSSIAN_SEARCH_NODES = 36  # of sigma0 alone, half of all the others: a far data set makes two narrow peaks
SEARCH_SHARE = 0.5  # of the nodes of a stretched axis (study)
SHALLOWEST = 4.0  # log mass below its largest at which an end lies, for a nu that holds little (study)
FEWEST_SAMPLED, SAMPLED_AGAIN = 12, 4  # data sets that the search takes at first, and growth of their number (study)
SETTLED = 0.6  # the search ends when a round keeps this much of both axes (study)


class QuadratureEngine:
    """Integrates the posterior on a grid; nothing is sampled but the draws that are asked for afterwards."""

    name = "quadrature"
    holds_draws = False

    def why_unavailable(self) -> str | None:
        """Why it can't be used here: it always can."""
        return None

    def version(self) -> str:
        """The library behind the engine and its version."""
        return f"SciPy {scipy.__version__}"

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
        with threadpool_limits(limits=1):  # another number of threads sums in another order
            return _refined(problem, rope)


def _refined(problem: Integrand, rope: Rope) -> Integration:
    search = searched(problem)
    problem, support, centring = search.problem, search.support(), search.centring or Centring()
    q = len(problem.likelihood.n)
    few = problem.stretched
    local = few and (problem.log_sigma0 or problem.nu_reaches_zero)  # splines along nu
    longest = LONGER if q <= MOST_STRETCHED else MOST_LONGER
    longer = 0.0 if few else _expected_longer(problem, support, centring, longest)
    fine, more = np.ones(3), np.ones(3)
    if local:
        more = np.array(MORE_ON_LOG_SIGMA0 if problem.log_sigma0 else MORE_WITH_NU_TO_ZERO)
    spent, most, failures, last_error = 0, 0, 0, 0.0
    much = MUCH_WORK_FOR_FEW if few else MUCH_WORK
    best: Integration | None = None
    cut_off: Integration | None = None  # what lies beyond the ends of its axis is in its error
    for refinement in range(MOST_REFINEMENTS + 1):
        axes = _axes(problem, support, more, conditional_reach(problem) + centring.distance + longer, few=few)
        work = axes.nodes * q
        # A limit of work, not of time: every machine gives the same answer
        if best is not None and spent + work > most:
            break
        spent += work
        grid = PosteriorGrid.computed(problem, support, *axes, _three(fine), centring, local=local)
        smooth = FineGrid.of(grid)
        if refinement < MOST_REFINEMENTS:
            wider = widened(smooth)
            if wider is not None:
                support = wider
                continue
            if smooth.beyond_delta0 > BEYOND and longer < longest:
                longer = min(longer + LONGER, longest)
                continue
            if smooth.beyond_delta0 > BEYOND and q <= MOST_STRETCHED:
                if more[0] == 1 and ripples(grid)[0] > BEYOND:  # waves along sigma0 may be all that is seen there
                    more[0] = REFINEMENT
                    continue
                cut_off = Integration(replace(grid, beyond=smooth.beyond_delta0), refinement).with_regions(rope)
                few = local = True
                more = np.array(MORE_STRETCHED)
                continue
        grid = replace(grid, beyond=smooth.beyond_delta0 if smooth.beyond_delta0 > BEYOND else 0.0)
        tolerance = min(TOLERANCE * shortfall(grid), LARGEST_ERROR) if spent < much else LARGEST_ERROR
        most = most or max(MOST_REFINED, MOST_GRIDS * work)
        found = Integration(grid, refinement).with_regions(rope)
        best = found if best is None or found.largest_error < best.largest_error else best
        if found.largest_error <= tolerance or work > MOST_WORK:
            return found
        blamed = _blamed_axes(found, rope, tolerance)
        far = found.largest_error > FAR_OFF * tolerance
        bends = not local and (bool(blamed[1]) if few else far and _bends(grid, blamed))
        narrower = None if local or (few and bends) else narrowed(smooth)
        if narrower is not None:
            support = narrower
            continue
        # More fine nodes of sigma0 are cheap, and often do where little is missing and no other axis is to blame
        if few and not far and blamed.tolist() == [True, False, False]:
            finer = _three(np.where(blamed, FINER * fine, fine))
            alone = Integration(replace(grid, fineness=finer), refinement).with_regions(rope)
            if alone.largest_error <= tolerance:
                return alone
        factor = FURTHER if few and far and spent + work * FURTHER ** blamed.sum() <= most else REFINEMENT
        if few and found.largest_error <= NEARLY * tolerance:
            factor = LITTLE_FURTHER
        fine = np.where(blamed, factor * fine, fine)
        helps, hopeless = found.largest_error < last_error / FAR_OFF, found.largest_error > HOPELESS * tolerance
        last_error = found.largest_error
        failures += 1
        other_axis = not few and q <= MOST_STRETCHED and (bends or hopeless or (failures > 1 and not helps))
        if other_axis and spent + q * _axes(problem, support, np.array(MORE_STRETCHED), 0.0, few=True).nodes <= most:
            few = local = True
            fine, more = np.ones(3), np.array(MORE_STRETCHED)
        else:
            more = np.where(blamed, factor * more, more)
            local = local or (few and bends)
    assert best is not None  # the last grid at the latest
    return best if cut_off is None or best.largest_error <= cut_off.largest_error else cut_off


def _expected_longer(problem: Integrand, support: Support, centring: Centring, longest: float) -> float:
    """By how many scales delta0's axis is longer than usual from the first grid on: a rough look costs less than a grid."""
    longer, reach = 0.0, conditional_reach(problem) + centring.distance
    while longer < longest and mass_beyond(problem, support, centring, reach + longer) > BEYOND:
        longer += LONGER / 2
    return longer


class _Axes(NamedTuple):
    """Numbers of nodes of sigma0 and nu, and the axis of delta0."""

    sigma0_count: int
    nu_count: int
    line: ChebyshevAxis | StretchedLine

    @property
    def nodes(self) -> int:
        """Of the whole grid."""
        return self.sigma0_count * self.nu_count * self.line.count


def _axes(problem: Integrand, support: Support, more: FloatArray, reach: float, *, few: bool) -> _Axes:
    """The axes on a support, with ``more`` times the usual nodes of each; ``reach`` in scales of delta0."""
    if problem.nu_prior is None:
        more = GAUSSIAN_NODES * more
    line: ChebyshevAxis | StretchedLine
    if few:
        lowest = support.ends(np.linspace(*support.nu, 9))[0].min(keepdims=True)
        line = stretched_line(problem, float(problem.sigma0(lowest)[0]), float(more[2]))
        sigma0_count = max(FEWEST_SPLINE, NODES_FOR_LENGTH_SPLINE[0] * support.length)
        nu_count = NODES_AT_LEAST + NODES_FOR_LENGTH_SPLINE[1] * problem.nu_length(support.nu)
    else:
        on_log = NODES_FOR_LOG_SIGMA0_TO_ZERO if problem.nu_reaches_zero else NODES_FOR_LOG_SIGMA0
        for_sigma0, for_nu, for_delta0 = on_log if problem.log_sigma0 else NODES_FOR_LENGTH
        length = 2 * reach / np.sqrt(len(problem.likelihood.n))
        line = ChebyshevAxis(-reach, reach, _count(more[2] * _usual_nodes(length, for_delta0)))
        sigma0_count = _usual_nodes(support.length, for_sigma0)
        nu_count = _usual_nodes(problem.nu_length(support.nu), for_nu)
    return _Axes(_count(more[0] * sigma0_count), 1 if problem.nu_prior is None else _count(more[1] * nu_count), line)


def _three(factors: FloatArray) -> tuple[float, float, float]:
    first, second, third = factors.tolist()
    return first, second, third


def _usual_nodes(length: float, for_length: float) -> float:
    return max(FEWEST_NODES, NODES_AT_LEAST + for_length * length)


def _count(nodes: float) -> int:
    return int(np.ceil(nodes - 1e-9))


def _blamed_axes(found: Integration, rope: Rope, tolerance: float) -> NDArray[np.bool_]:
    """Which of sigma0, nu and delta0 the error comes from."""
    masses, _ = found.regions(rope)
    alone = np.zeros(3)
    by_axis = zip(
        coarse_axes(found.grid),
        found.distances_by_axis(rope, masses),
        factors(found.grid),
        ripples(found.grid),
        strict=True,
    )
    for coarse, distance, factor, ripple in by_axis:
        alone[np.array(coarse)] = factor * max(distance.values()) + ripple
    return np.asarray(alone > min(tolerance, alone.max()) / 4)


def _bends(grid: PosteriorGrid, blamed: NDArray[np.bool_]) -> bool:
    """Whether the log likelihood bends somewhere along an axis that is to blame: more nodes of a polynomial help little."""
    by_axis = zip(coarse_axes(grid), doubts(grid), strict=True)
    return any(doubt > DOUBT_OF_AN_END and blamed[coarse.index(True)] for coarse, doubt in by_axis)


def widened(fine: FineGrid, negligible: float = NEGLIGIBLE) -> Support | None:
    """The support with those ends further out at which there is still mass, or None where there is none."""
    problem, support = fine.grid.problem, fine.grid.support
    share = fine.mass_table / fine.total
    outermost = np.array([share[0].sum(), share[-1].sum(), share[:, 0].sum(), share[:, -1].sum()])
    limits = np.array([*problem.nu_limits, *problem.sigma0_limits])
    lower, upper = support.ends(np.linspace(*support.nu, 9))
    inside = np.array([support.nu[0], -support.nu[1], lower.min(), -upper.max()]) > limits * [1, -1, 1, -1]
    short = (outermost > negligible) & inside
    if problem.nu_prior is None:
        short[:2] = False
    return support.widened(np.where(short, WIDER, 0.0), limits) if short.any() else None


def narrowed(fine: FineGrid) -> Support | None:
    """The part of the support that holds mass, or None where that is nearly all of it."""
    support, limits = fine.grid.support, np.array(fine.grid.problem.sigma0_ends)
    log_mass = np.log(np.maximum(fine.mass_table / fine.total, np.finfo(float).tiny))
    rows = np.logaddexp.reduce(log_mass, axis=1)
    nu_places, relative = fine.nu_places, np.concatenate([[-1.0], fine.relative, [1.0]])
    worth = log_mass.max() + np.log(LEFT_OUT * STILL_KEPT)
    kept = np.flatnonzero(rows >= rows.max() + np.log(LEFT_OUT * STILL_KEPT))
    outer = np.concatenate([[support.nu[0]], nu_places, [support.nu[1]]])
    nu = (float(outer[kept[0]]), float(outer[kept[-1] + 2])) if len(nu_places) > 1 else support.nu
    lower, upper = support.ends(nu_places)
    ends = np.empty((len(kept), 2))
    for number, row in enumerate(kept):
        inside = np.flatnonzero(log_mass[row] >= min(worth, log_mass[row].max() - SHALLOWEST))
        edges = relative[[inside[0], inside[-1] + 2]]
        ends[number] = lower[row] + (upper[row] - lower[row]) * (1 + edges) / 2
    u = (2 * nu_places[kept] - nu[0] - nu[1]) / ((nu[1] - nu[0]) or 1.0)
    found = _smooth_support(nu, u, ends, np.ones(len(kept), bool), limits)
    return found if found.area < NARROWER * support.area else None


def conditional_reach(problem: Integrand) -> float:
    """Where the axis of delta0 about its conditional centre ends, in scales."""
    from scipy import special

    return float(-special.stdtrit(2 * len(problem.likelihood.n) - 1, LEFT_OUT)) + SPARE


def stretched_line(problem: Integrand, sigma0: float, factor: float = 1.0) -> StretchedLine:
    """Axis of delta0 that is dense about every data set and a normal prior, as far as the bound."""
    likelihood, bound = problem.likelihood, problem.delta0_bound
    places, widths = likelihood.mean, np.hypot(likelihood.width, sigma0)
    if problem.delta0_prior is not None:  # which may be narrower than any data set
        places, widths = np.append(places, problem.delta0_prior.mean), np.append(widths, problem.delta0_prior.sd)
    # Data sets that lie together make a narrower peak, and need no more nodes than one of them
    crowd = (1 / np.hypot(1, (places[:, None] - places) / widths)).sum(axis=1)
    widths = widths / np.sqrt(crowd)
    line = StretchedLine(places, widths, -bound, bound, 8)
    length = (line.ends[1] - line.ends[0]) / float(np.median(crowd))
    return StretchedLine(places, widths, -bound, bound, max(16, int(np.ceil(factor * NODES_FOR_UNIT * length))))


def searched(problem: Integrand) -> _Search:
    """Find where the posterior of sigma0 and nu has more than negligible mass, and where delta0 lies there.

    A coarse grid over everything that the priors allow is narrowed, round by round, for each nu to the values of sigma0 that
    hold mass and one more on each side, and to the nu that hold any; it moves where the mass lies at its edge. If there are
    many data sets, a few are taken first: their posterior is wider, and lies in about the same place.
    """
    search = _Search(problem, *_whole(problem))
    for likelihood in _samples(problem.likelihood):
        search = search.settled(likelihood)
    if search.reaches_zero and problem.falls_to_zero:
        search = search.on_log_sigma0().settled(problem.likelihood)
    return search


def _samples(likelihood: MeanLikelihood) -> list[MeanLikelihood]:
    """All data sets at the end; before them a quarter, evenly by their means; before these a quarter of them."""
    found, chosen = [likelihood], np.argsort(likelihood.mean, kind="stable")
    while len(chosen) > SAMPLED_AGAIN * FEWEST_SAMPLED:
        chosen = chosen[SAMPLED_AGAIN // 2 :: SAMPLED_AGAIN]
        found.append(likelihood.subset(np.sort(chosen)))
    return found[::-1]


def _whole(problem: Integrand) -> tuple[tuple[float, float], FloatArray]:
    nu_count = 1 if problem.nu_prior is None else SEARCH_NODES[1]
    return problem.nu_limits, np.tile(np.array(problem.sigma0_limits), (nu_count, 1))


@dataclass(frozen=True, eq=False)
class _Search:
    """Where the search for the support has arrived.

    Attributes
    ----------
    problem : Integrand
    nu_ends : tuple of float
        On nu's axis.
    ends : ndarray, shape (nu, 2)
        On sigma0's axis, for equally spaced places of nu.
    counts : ndarray of bool, shape (nu,), optional
        Which of these nu hold mass.
    centring : Centring, optional
        Of delta0; None before the first round.
    """

    problem: Integrand
    nu_ends: tuple[float, float]
    ends: FloatArray
    counts: NDArray[np.bool_] | None = None
    centring: Centring | None = None

    def settled(self, likelihood: MeanLikelihood) -> _Search:
        """After as many rounds as change much, with the likelihood of some of the data sets."""
        search = self
        for _ in range(SEARCH_ROUNDS):
            search, settled = search.narrowed(likelihood)
            if settled:
                break
        return search

    @property
    def reaches_zero(self) -> bool:
        """Whether there is mass at a sigma0 below the c of its axis log(sigma0 + c), for a nu that counts."""
        counts = np.ones(len(self.ends), bool) if self.counts is None else self.counts
        return bool((self.problem.sigma0(self.ends[counts, 0]) < self.problem.sigma0_offset).any())

    def on_log_sigma0(self) -> _Search:
        """The same on the axis log sigma0, with no lower end yet where sigma0 reached 0."""
        problem = replace(self.problem, log_sigma0=True)
        lowest = problem.sigma0_limits[0]
        ends = np.log(np.maximum(self.problem.sigma0(self.ends), np.exp(lowest)))
        return replace(self, problem=problem, ends=ends)

    def narrowed(self, likelihood: MeanLikelihood) -> tuple[_Search, bool]:
        """After one more round, with the likelihood of some of the data sets; and whether that has changed little."""
        problem, nu_ends, ends, nu_count = self.problem, self.nu_ends, self.ends, len(self.ends)
        limits, all_nu = np.array(problem.sigma0_limits), problem.nu_limits
        nu_places = np.linspace(*nu_ends, nu_count)
        sigma0_count = SEARCH_NODES[0] if nu_count > 1 else GAUSSIAN_SEARCH_NODES
        sigma0_count = 2 * sigma0_count if problem.log_sigma0 else sigma0_count  # the axis is twice as long
        places = np.linspace(ends[:, 0], ends[:, 1], sigma0_count)  # (sigma0, nu)
        log_mass, centring = _log_cell_masses(problem, likelihood, places, nu_places)
        slices = log_mass.max(axis=0)
        worth = slices.max() - _depth(slices)
        narrowed = ends.copy()
        for number, along in enumerate(log_mass.T):
            worth_here = min(slices.max() + np.log(LEFT_OUT), along.max() - _depth(along, SHALLOWEST))
            narrowed[number] = _interval(places[:, number], along, worth_here, limits)
        kept = slices >= slices.max() + np.log(LEFT_OUT) / 2
        new_nu_ends = _interval(nu_places, slices, worth, np.array(all_nu), NU_CAUTION) if nu_count > 1 else nu_ends
        settled = _settled(ends[kept], narrowed[kept]) and _settled(np.array([nu_ends]), np.array([new_nu_ends]))
        # A first round whose places of sigma0 miss the peak may have cut off the best nu: the interval moves back to it
        first_open, last_open = nu_ends[0] > all_nu[0], nu_ends[1] < all_nu[1]
        edge = max(slices[0] if first_open else -np.inf, slices[-1] if last_open else -np.inf)
        settled = settled and bool(edge < slices.max() + np.log(NEGLIGIBLE))
        new_places = np.linspace(*new_nu_ends, nu_count)
        new_ends = np.stack([np.interp(new_places, nu_places, narrowed[:, side]) for side in (0, 1)], axis=1)
        weight = np.interp(new_places, nu_places, np.maximum(slices - slices.max(), -40.0))
        return _Search(problem, new_nu_ends, new_ends, weight > np.log(LEFT_OUT), centring), settled

    def support(self) -> Support:
        """Smooth ends outside of those that were found."""
        u = np.linspace(-1, 1, len(self.ends)) if len(self.ends) > 1 else np.zeros(1)
        counts = np.ones(len(self.ends), bool) if self.counts is None else self.counts
        return _smooth_support(self.nu_ends, u, self.ends, counts, np.array(self.problem.sigma0_ends))


def _interval(
    places: FloatArray, log_mass: FloatArray, worth: float, limits: FloatArray, caution: float = CAUTION
) -> tuple[float, float]:
    """Where the log mass crosses ``worth``: on the line between two places, or some steps beyond the outermost."""
    kept = np.flatnonzero(log_mass >= worth)
    spacing = places[1] - places[0]

    def crossing(inner: int, outwards: int) -> float:
        outer = inner + outwards
        if not 0 <= outer < len(places):
            return float(places[inner] + outwards * STEPS_BEYOND * spacing)
        drop = log_mass[inner] - log_mass[outer]
        return float(places[inner] + outwards * spacing * (min(1.0, (log_mass[inner] - worth) / drop) + caution))

    first, last = crossing(int(kept[0]), -1), crossing(int(kept[-1]), 1)
    return float(np.clip(first, *limits)), float(np.clip(last, *limits))


def _settled(before: FloatArray, after: FloatArray) -> bool:
    """Whether a round has kept most of every interval, shape (intervals, 2)."""
    lengths = np.ptp(before, axis=1)
    kept = np.ptp(after, axis=1) >= SETTLED * lengths
    return bool((kept & (np.abs(after - before).max(axis=1) <= (1 - SETTLED) * lengths)).all())


def _smooth_support(
    nu_ends: tuple[float, float], u: FloatArray, ends: FloatArray, counts: NDArray[np.bool_], limits: FloatArray
) -> Support:
    """The ends on sigma0's axis as polynomials of the place on nu's axis; no end that counts lies outside.

    Where nothing counts the functions are extrapolated; where they would meet there, simpler ones are taken.
    """
    for degree in range(min(MOST_DEGREE, int(counts.sum()) - 1), -1, -1):
        lower = _end_function(u[counts], ends[counts, 0], degree, -1.0, float(limits[0]))
        upper = _end_function(u[counts], ends[counts, 1], degree, 1.0, float(limits[1]))
        support = Support(nu_ends, lower, upper)
        if support.proper:
            break
    return support


def _end_function(u: FloatArray, ends: FloatArray, degree: int, outwards: float, limit: float) -> FloatArray:
    """Coefficients of a function that lies outside of all ends; the limit where an end is there."""
    padded = np.zeros(MOST_DEGREE + 1)
    if (outwards * (ends - limit) >= -1e-9).any():  # nothing lies beyond what the prior allows
        padded[0] = limit
        return padded
    fitted = np.polynomial.Polynomial.fit(u, ends, degree, domain=[-1, 1], window=[-1, 1])
    padded[: degree + 1] = fitted.coef
    padded[0] += outwards * max(float((outwards * (ends - fitted(u))).max()), 0.0)
    return padded


def _log_cell_masses(
    problem: Integrand, likelihood: MeanLikelihood, places: FloatArray, nu_places: FloatArray
) -> tuple[FloatArray, Centring]:
    """Rough log posterior mass about pairs of places on the axes of sigma0, shape (sigma0, nu), and of nu.

    The likelihood may be that of a share of the data sets; the priors on delta0 and sigma0 then count as much less, as
    the posterior would lie elsewhere.
    """
    share = len(likelihood.n) / len(problem.likelihood.n)
    prior = None if problem.delta0_prior is None else problem.delta0_prior.tempered(share)
    sigma0 = problem.sigma0(places)
    nu = np.broadcast_to(problem.nu(nu_places), sigma0.shape)
    step = step_for(SEARCH_ERROR, len(likelihood.n))
    if not problem.stretched:
        centre, width = conditional_moments(likelihood, sigma0, nu, prior)
        mode, scale, log_peak = newton_moments(likelihood, sigma0, nu, step, prior)
        log_mass = _with_priors(problem, log_peak + np.log(scale), sigma0, places, nu_places, share)
        depth = log_mass - log_mass.max() - np.log(LEFT_OUT)
        place = np.broadcast_to(nu_places, places.shape)[depth > 0]
        return log_mass, Centring.of(places[depth > 0], place, ((mode - centre) / width)[depth > 0])
    line = stretched_line(problem, float(sigma0.min()), SEARCH_SHARE)
    delta0 = np.broadcast_to(line.delta0(line.nodes), (*sigma0.shape, line.count))
    log_density = likelihood.log_marginal(delta0, sigma0[..., None], nu[..., None], step=step).reshape(delta0.shape)
    if prior is not None:
        log_density = log_density + prior.log_density(delta0)
    inside = np.abs(delta0) <= problem.delta0_bound
    log_density = np.where(inside, log_density + np.log(line.slope(delta0[0, 0])), -np.inf)
    log_mass = _with_priors(problem, np.logaddexp.reduce(log_density, axis=-1), sigma0, places, nu_places, share)
    return log_mass, Centring()


def _with_priors(
    problem: Integrand,
    log_density: FloatArray,
    sigma0: FloatArray,
    places: FloatArray,
    nu_places: FloatArray,
    share: float,
) -> FloatArray:
    """Log masses of cells from log densities by sigma0 and nu, which the likelihood of a share of the data sets gives."""
    log_mass = log_density + np.log(sigma0 + problem.sigma0_offset) + share * problem.log_prior(None, sigma0)
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
