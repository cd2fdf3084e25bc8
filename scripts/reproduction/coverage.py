"""How often verdicts are wrong, and how well reported probabilities hold, in simulated collections of data sets.

Nothing here was published; `scripts/verdicts.py` runs it and writes its page. Differences are of accuracies. A population
of data sets has a mean difference (its centre), a standard deviation and a shape; a data set has 100 differences with equal
correlation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

import hiercomp as hc
from hiercomp.closed_form.one_dataset.calibrated import NOT_CALIBRATABLE, SCHEMES
from hiercomp.engines.quadrature.grid import FineGrid
from hiercomp.posterior.fit import Fit, refit
from hiercomp.posterior.next_dataset import NextDataset

from .exhibit import Settings
from .simulation import repeated

FLOATS = npt.NDArray[np.float64]

SPREAD = 0.02  # standard deviation of a population
SIGMAS = 0.02, 0.1  # between which the standard deviation of a data set's differences is uniform
RUNS, FOLDS = 10, 10
SCORES, RHO = RUNS * FOLDS, 1 / FOLDS  # the correlation that every procedure assumes
LEVEL = 0.95
CENTRES = (0.0, 0.01, 0.02)
ROPE, WIDE_ROPE = 0.01, 0.04  # half-widths: a usual one, and two standard deviations of the population
QUESTIONS = (*((centre, ROPE) for centre in CENTRES), (0.0, WIDE_ROPE))  # centre of the population and half-width
DRAWS = 5000  # of the Bayesian signed-rank test
BINS = np.array([0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1])
NONE = 9  # no verdict; the others are -1 (left), 0 (rope) and 1 (right)
CODES = np.array([-1, 0, 1])


@dataclass(frozen=True)
class Population:
    """A mixture of distributions with mean 0 and standard deviation 1."""

    parts: tuple[Any, ...]
    weights: tuple[float, ...] = (1.0,)

    def draw(self, generator: np.random.Generator, size: int) -> FLOATS:
        """Independent values."""
        part = generator.choice(len(self.parts), size=size, p=self.weights)
        values = np.stack([one.rvs(size=size, random_state=generator) for one in self.parts])
        return np.asarray(values[part, np.arange(size)])

    def below(self, x: npt.ArrayLike) -> FLOATS:
        """Distribution function."""
        return np.asarray(sum(w * one.cdf(x) for w, one in zip(self.weights, self.parts, strict=True)))

    def median(self) -> float:
        """The median, 0 exactly if it is 0 up to rounding."""
        found = float(optimize.brentq(lambda x: float(self.below(x)) - 0.5, -3, 3, xtol=1e-14))
        return found if abs(found) > 1e-9 else 0.0

    def regions(self, centre: float, half_width: float) -> FLOATS:
        """Probability that the mean difference on the next data set lies left of, in, and right of the rope."""
        ends = self.below((np.array([-half_width, half_width]) - centre) / SPREAD)
        return np.array([ends[0], ends[1] - ends[0], 1 - ends[1]])

    def most_probable(self, centre: float, half_width: float) -> float:
        """Code of the most probable region; NaN if two are equally probable."""
        order = np.sort(regions := self.regions(centre, half_width))
        return float(CODES[regions.argmax()]) if order[2] - order[1] > 1e-9 else np.nan


SMALL = 1 / np.sqrt(0.9 + 0.1 * 5**2)
POPULATIONS = {
    "Student": Population((stats.t(4, scale=np.sqrt(0.5)),)),
    "Gaussian": Population((stats.norm(),)),
    "two clusters": Population((stats.norm(-0.9, np.sqrt(0.19)), stats.norm(0.9, np.sqrt(0.19))), (0.5, 0.5)),
    "skewed": Population((stats.gamma(2, loc=-np.sqrt(2), scale=np.sqrt(0.5)),)),
    "outliers": Population((stats.norm(0, SMALL), stats.norm(0, 5 * SMALL)), (0.9, 0.1)),
}


@dataclass(frozen=True)
class Condition:
    """A population, the true correlation of the differences (`RHO` is assumed), and numbers of data sets."""

    population: str
    rho: float = RHO
    n_datasets: tuple[int, ...] = (10, 50)


CONDITIONS = {
    "Student": Condition("Student", n_datasets=(5, 10, 20, 50)),
    "Gaussian": Condition("Gaussian"),
    "two clusters": Condition("two clusters"),
    "skewed": Condition("skewed"),
    "outliers": Condition("outliers"),
    "Student, rho half": Condition("Student", 2 * RHO),
    "Student, rho double": Condition("Student", RHO / 2),
}
OF_REGIONS = ("hierarchical model", "Bayesian signed-rank", "Bayesian sign", "Poisson-binomial, rope")
OF_DIRECTIONS = ("Poisson-binomial", "signed-rank", "sign", "t of the means")


def simulated(generator: np.random.Generator, delta: FLOATS, rho: float) -> hc.PairedDifferences:
    """Data sets with these mean differences, as sufficient statistics from their exact distributions."""
    q = len(delta)
    sigma = generator.uniform(*SIGMAS, q)
    mean = delta + sigma * np.sqrt((1 + (SCORES - 1) * rho) / SCORES) * generator.standard_normal(q)
    return hc.PairedDifferences(
        left="left",
        right="right",
        dataset_names=tuple(map(str, range(q))),
        mean=mean,
        sum_of_squares=sigma**2 * (1 - rho) * generator.chisquare(SCORES - 1, q),
        n=np.full(q, SCORES),
        rho=np.full(q, RHO),
        constant=np.zeros(q, dtype=bool),
        lowest_score=np.zeros(q),
        highest_score=np.ones(q),
        largest_difference=1.0,
    )


def fitted(differences: hc.PairedDifferences, priors: hc.Priors) -> Fit:
    """The hierarchical model, integrated."""
    return refit(differences, hc.Rope.of(ROPE), priors, {"engine": "quadrature", "progress": False})


def of_next(found: NextDataset) -> FLOATS:
    """P(region is the most probable one) and the expected probabilities, six numbers."""
    return np.array([*found.probabilities.values(), *found.expected.values()])


def of_closed_form(found: Any, expected: npt.ArrayLike | None = None) -> FLOATS:
    """The same of a Bayesian test."""
    if expected is None:
        expected = [found.expected_left, found.expected_rope, found.expected_right]
    return np.array([found.p_left, found.p_rope, found.p_right, *np.asarray(expected)])


def directions(differences: hc.PairedDifferences) -> FLOATS:
    """Claims of the tests without a rope: -1, 1, or `NONE`."""
    means = differences.mean
    majority = hc.poisson_binomial_test(differences)
    wins = hc.sign_test(differences)
    ranks = stats.rankdata(np.abs(means)) @ np.sign(means)
    return np.array(
        [
            1 if majority.p_right > LEVEL else -1 if majority.p_left > LEVEL else NONE,
            np.sign(ranks) if hc.signed_rank_test(differences).pvalue < 1 - LEVEL else NONE,
            np.sign(wins.right_wins - wins.left_wins) if wins.pvalue < 1 - LEVEL else NONE,
            np.sign(means.mean()) if stats.ttest_1samp(means, 0).pvalue < 1 - LEVEL else NONE,
        ]
    )


def collection(generator: np.random.Generator, population: str, rho: float, q: int) -> FLOATS:
    """One simulated collection, asked every question; shape (questions, numbers), read by `Answers`.

    A population with another centre is the same data moved. The hierarchical model is fitted once and its rope is moved
    the other way instead: its prior on the centre is flat, so the posterior moves with the data.
    """
    shape = POPULATIONS[population]
    delta = SPREAD * shape.draw(generator, q)
    differences = simulated(generator, delta, rho)
    fit = fitted(differences, hc.Priors())
    estimate = FineGrid.of(fit.posterior.integration.grid).expected_delta0 * fit.posterior.unit
    rows = []
    for centre, half_width in QUESTIONS:
        moved, rope = replace(differences, mean=differences.mean + centre), hc.Rope.of(half_width)
        model = np.full(6, np.nan)
        if fit.status != "failed":
            about = hc.Rope(-half_width - centre, half_width - centre)
            model = np.concatenate([fit.posterior.most_probable(about), fit.posterior.expected(about)])
        most_frequent = hc.poisson_binomial_test(moved, rope=rope)
        seed = int(generator.integers(2**31))
        regions = [
            model,
            of_closed_form(hc.bayesian_signed_rank_test(moved, rope=rope, draws=DRAWS, seed=seed)),
            of_closed_form(hc.bayesian_sign_test(moved, rope=rope, draws=1)),
            of_closed_form(most_frequent, most_frequent.region_probabilities.mean(axis=0)),
        ]
        following = centre + SPREAD * float(shape.draw(generator, 1)[0])
        here = np.bincount(region_of(delta + centre, half_width) + 1, minlength=3)
        frequent = float(CODES[here.argmax()]) if np.sum(here == here.max()) == 1 else np.nan
        others = [
            region_of(np.array([following]), half_width)[0],
            frequent,
            np.sign(np.sign(delta + centre).sum()),
            estimate + centre,
            moved.mean.mean(),
        ]
        rows.append(np.concatenate([*regions, directions(moved), others]))
    return np.stack(rows)


def region_of(delta: FLOATS, half_width: float) -> npt.NDArray[np.int64]:
    """Codes of the regions in which mean differences lie."""
    return np.asarray(np.where(np.abs(delta) <= half_width, 0, np.sign(delta)), dtype=np.int64)


@dataclass(frozen=True)
class Answers:
    """What `collection` returned, shape (repetitions, questions, numbers), by name."""

    values: FLOATS

    def probabilities(self, test: str) -> FLOATS:
        """P(region is the most probable one), shape (repetitions, questions, 3)."""
        first = 6 * OF_REGIONS.index(test)
        return self.values[..., first : first + 3]

    def expected(self, test: str) -> FLOATS:
        """Expected probabilities, of the same shape."""
        first = 6 * OF_REGIONS.index(test) + 3
        return self.values[..., first : first + 3]

    def claims(self, test: str) -> FLOATS:
        """Codes of the verdicts, shape (repetitions, questions)."""
        if test in OF_REGIONS:
            return verdicts(self.probabilities(test))
        return self.values[..., 6 * len(OF_REGIONS) + OF_DIRECTIONS.index(test)]

    @property
    def following(self) -> FLOATS:
        """Region of the next data set."""
        return self.values[..., -5]

    @property
    def most_frequent(self) -> FLOATS:
        """The most frequent region of these data sets' true differences; NaN if there are two."""
        return self.values[..., -4]

    @property
    def majority(self) -> FLOATS:
        """The sign of more than half of these data sets' true differences; 0 if there is none."""
        return self.values[..., -3]

    def estimates(self, test: str) -> FLOATS:
        """The estimate of the centre that goes with a verdict."""
        return self.values[..., -2 if test == "hierarchical model" else -1]


def verdicts(probabilities: FLOATS) -> FLOATS:
    """Codes of the regions above the level; `NONE` where none is."""
    return np.asarray(np.where((probabilities > LEVEL).any(axis=-1), CODES[probabilities.argmax(axis=-1)], NONE), float)


@dataclass(frozen=True)
class Figure:
    """A simulated share or factor.

    Attributes
    ----------
    value, error : float
        Ratio of two sums over repetitions and its Monte Carlo standard error; NaN if there is nothing to divide by.
    count : float
        The sum below the line: how many verdicts, claims or probabilities stand behind it.
    """

    value: float
    error: float
    count: float

    @classmethod
    def ratio(cls, above: npt.ArrayLike, below: npt.ArrayLike) -> Figure:
        """From what each repetition adds above and below the line; what one repetition adds may be dependent."""
        above, below = np.broadcast_arrays(np.asarray(above, dtype=float), np.asarray(below, dtype=float))
        count = float(below.sum())
        if count == 0:
            return cls(np.nan, np.nan, 0.0)
        value = float(above.sum()) / count
        error = float(np.sqrt(np.sum((above - value * below) ** 2))) / count
        if value in (0.0, 1.0):
            error = 1 / (count + 1)  # Wilson's interval at one standard error: never without error
        elif np.count_nonzero(below) == 1:
            error = value  # one repetition tells nothing of its error
        return cls(value, error, count)

    @classmethod
    def pooled(cls, figures: list[Figure]) -> Figure:
        """Independent ones as one."""
        figures = [one for one in figures if one.count]
        count = sum(one.count for one in figures)
        if not count:
            return cls(np.nan, np.nan, 0.0)
        value = sum(one.count * one.value for one in figures) / count
        return cls(value, float(np.sqrt(sum((one.count * one.error) ** 2 for one in figures))) / count, count)


def measures(claims: FLOATS, estimates: FLOATS, truth: npt.ArrayLike, *, regions: bool) -> dict[str, Figure]:
    """What claims of a procedure are worth, each of shape (repetitions, questions).

    Parameters
    ----------
    claims, estimates : ndarray
        Codes of the verdicts, and the estimated difference that goes with them.
    truth : array_like
        Codes of the claims that are right, for each question; a claim where nothing is right is wrong.
    regions : bool
        Whether the procedure can claim equivalence.
    """
    usual, last, wide = slice(0, len(CENTRES)), len(CENTRES) - 1, len(CENTRES)
    made, better = claims != NONE, np.abs(claims) == 1
    wrong = made & (claims != truth)
    found = {
        "wrong": Figure.ratio(wrong[:, usual].sum(axis=1), made[:, usual].sum(axis=1)),
        "verdicts": Figure.ratio(made[:, usual].mean(axis=1), 1),
        "false alarms": Figure.ratio(better[:, 0], 1),
        "power": Figure.ratio(claims[:, last] == 1, 1),
    }
    for place, centre in enumerate(CENTRES[1:], start=1):
        found[f"Type S at {centre:g}"] = Figure.ratio(claims[:, place] == -1, better[:, place])
        factor = np.where(better[:, place], np.abs(estimates[:, place]) / centre, 0)
        found[f"Type M at {centre:g}"] = Figure.ratio(factor, better[:, place])
    if regions:
        found["equivalence"] = Figure.ratio(claims[:, wide] == 0, 1)
        found["false equivalence"] = Figure.ratio(claims[:, last] == 0, 1)
    return found


def truths(population: Population) -> dict[str, FLOATS]:
    """The claim of each procedure that is right about the next data set, for each question."""
    centres = np.array([centre for centre, _ in QUESTIONS])
    largest = np.array([population.most_probable(*question) for question in QUESTIONS])
    middle = np.sign(centres + SPREAD * population.median())
    found = dict.fromkeys(OF_REGIONS, largest) | dict.fromkeys(OF_DIRECTIONS, middle)
    return found | {"t of the means": np.sign(centres)}


def across_datasets(answers: Answers, population: Population) -> dict[str, dict[str, Figure]]:
    """Measures of each procedure, by its name."""
    found = {
        test: measures(answers.claims(test), answers.estimates(test), truth, regions=test in OF_REGIONS)
        for test, truth in truths(population).items()
    }
    here = {"Poisson-binomial, rope": answers.most_frequent, "Poisson-binomial": answers.majority}
    for test, truth in here.items():
        of_these = measures(answers.claims(test), answers.estimates(test), truth, regions=True)
        found[test]["wrong here"] = of_these["wrong"]
    return found


Curve: TypeAlias = list[tuple[Figure, Figure]]


def calibration(reported: FLOATS, truth: FLOATS) -> Curve:
    """Mean reported probability and share of what came true, for each of `BINS`.

    Parameters
    ----------
    reported : ndarray, shape (repetitions, ..., 3)
    truth : ndarray, shape (repetitions, ...)
        Code of what is true; NaN for nothing.
    """
    happened = (truth[..., None] == CODES).reshape(len(reported), -1)
    reported = reported.reshape(len(reported), -1)
    place = np.clip(np.searchsorted(BINS, reported, side="right") - 1, 0, len(BINS) - 2)
    curve = []
    for number in range(len(BINS) - 1):
        chosen = (place == number) & np.isfinite(reported)
        count = chosen.sum(axis=1)
        mean = Figure.ratio(np.where(chosen, reported, 0).sum(axis=1), count)
        curve.append((mean, Figure.ratio((chosen & happened).sum(axis=1), count)))
    return curve


def calibrations(answers: Answers, population: Population) -> dict[str, dict[str, Curve]]:
    """Curves of the procedures that report probabilities, for the usual rope."""
    usual = slice(0, len(CENTRES))
    largest = np.broadcast_to(truths(population)[OF_REGIONS[0]], answers.following.shape)
    return {
        test: {
            "next": calibration(answers.expected(test)[:, usual], answers.following[:, usual]),
            "most probable": calibration(answers.probabilities(test)[:, usual], largest[:, usual]),
        }
        for test in OF_REGIONS
    }


def drawn_from_priors(generator: np.random.Generator, q: int) -> FLOATS:
    """The hierarchical model's answer where the population is drawn from its own priors.

    Returns
    -------
    ndarray
        Three probabilities, three expected ones, region of the next data set, region that is the most probable.
    """
    centre, scale = 0.02 * generator.standard_normal(), 0.02 * abs(generator.standard_normal())
    nu = 1 + generator.gamma(2, 10)
    differences = simulated(generator, centre + scale * generator.standard_t(nu, q), RHO)
    priors = hc.Priors.juarez_steel(delta0=hc.Normal(0, 0.02), sigma0=hc.HalfNormal(0.02))
    following = region_of(np.array([centre + scale * generator.standard_t(nu)]), ROPE)[0]
    ends = stats.t.cdf(np.array([-ROPE, ROPE]), nu, centre, scale)
    largest = CODES[np.argmax([ends[0], ends[1] - ends[0], 1 - ends[1]])]
    return np.array([*of_next(fitted(differences, priors).next_dataset), following, largest])


AT_ONCE = 100  # data sets of a repetition
SCHEMES_WITH_DF = [scheme for scheme in SCHEMES if scheme not in NOT_CALIBRATABLE]
OF_ONE = ("correlated t, rope", "corrected t", *(f"calibrated: {scheme}" for scheme in SCHEMES_WITH_DF), "paired t")


def single_datasets(generator: np.random.Generator, rho: float) -> FLOATS:
    """Single data sets whose true difference is the centre of each question; shape (data sets, questions, numbers).

    The numbers are the codes of the claims of `OF_ONE`, and the mean difference.
    """
    x = hc.equal_correlation_differences(generator, AT_ONCE, SCORES, rho) * generator.uniform(*SIGMAS, (AT_ONCE, 1))
    rows = []
    for centre, half_width in QUESTIONS:
        moved = x + centre
        runs, sign = moved.reshape(AT_ONCE, RUNS, FOLDS), np.sign(moved.mean(axis=1))
        bayesian = hc.correlated_t_test(moved, rho=RHO, rope=half_width)
        tests = [
            hc.corrected_t_test(moved, rho=RHO),
            *(hc.calibrated_test(runs, scheme=scheme) for scheme in SCHEMES_WITH_DF),
            hc.corrected_t_test(moved, rho=0.0),
        ]
        claims = [np.where(test.pvalue < 1 - LEVEL, sign, NONE) for test in tests]
        probabilities = np.stack([bayesian.p_left, bayesian.p_rope, bayesian.p_right], axis=1)
        rows.append(np.stack([verdicts(probabilities), *claims, moved.mean(axis=1)], axis=1))
    return np.stack(rows, axis=1)


def datasets_of_population(generator: np.random.Generator, rho: float) -> FLOATS:
    """Single data sets from the Student population: P(left), P(rope), P(right) of the correlated t-test, and the truth.

    Shape (centres, data sets, 4).
    """
    rows = []
    for centre in CENTRES:
        delta = centre + SPREAD * POPULATIONS["Student"].draw(generator, AT_ONCE)
        found = hc.correlated_t_test(simulated(generator, delta, rho), rope=ROPE)
        rows.append(np.stack([found.p_left, found.p_rope, found.p_right, region_of(delta, ROPE)], axis=1))
    return np.stack(rows)


def run(settings: Settings, repetitions: int) -> dict[str, Any]:
    """All measures and curves, by condition and number of data sets.

    Parameters
    ----------
    settings : Settings
        ``quick`` leaves out most conditions.
    repetitions : int
        Collections of each condition and number of data sets.
    """
    conditions = {"Student": Condition("Student", n_datasets=(10,))} if settings.quick else CONDITIONS
    return {
        "repetitions": repetitions,
        "several data sets": plain(
            {name: of_condition(settings, one, repetitions) for name, one in conditions.items()}
        ),
        "drawn from the priors": plain(of_priors(settings, (10,) if settings.quick else (5, 10, 20, 50), repetitions)),
        "one data set": plain(of_single_datasets(settings, max(1, repetitions // 5))),
    }


def of_condition(settings: Settings, condition: Condition, repetitions: int) -> dict[int, Any]:
    """Measures and curves of the procedures for several data sets, by number of data sets."""
    population, found = POPULATIONS[condition.population], {}
    for q in condition.n_datasets:
        name = f"coverage-{condition.population.replace(' ', '-')}-{condition.rho:g}-{q}"
        one = partial(collection, population=condition.population, rho=condition.rho, q=q)
        answers = Answers(repeated(settings, name, one, repetitions))
        found[q] = {
            "measures": across_datasets(answers, population),
            "calibration": calibrations(answers, population),
        }
    return found


def of_priors(settings: Settings, n_datasets: tuple[int, ...], repetitions: int) -> dict[int, dict[str, Curve]]:
    """Curves of the hierarchical model where its priors hold, by number of data sets."""
    found = {}
    for q in n_datasets:
        values = repeated(settings, f"coverage-priors-{q}", partial(drawn_from_priors, q=q), repetitions)
        found[q] = {
            "next": calibration(values[:, 3:6], values[:, 6]),
            "most probable": calibration(values[:, :3], values[:, 7]),
        }
    return found


def of_single_datasets(settings: Settings, batches: int) -> dict[str, Any]:
    """Measures of the tests of one data set and the curve of the correlated t-test, by the assumed correlation."""
    found = {}
    centres = np.array([centre for centre, _ in QUESTIONS])
    regions = np.array([region_of(np.array([centre]), half_width)[0] for centre, half_width in QUESTIONS])
    for words, rho in {"right": RHO, "half": 2 * RHO, "double": RHO / 2}.items():
        one = partial(single_datasets, rho=rho)
        values = np.concatenate(repeated(settings, f"coverage-single-{rho:g}", one, batches))
        tests = {
            test: measures(
                values[..., place],
                values[..., -1],
                regions if test == OF_ONE[0] else np.sign(centres),
                regions=test == OF_ONE[0],
            )
            for place, test in enumerate(OF_ONE)
        }
        one = partial(datasets_of_population, rho=rho)
        values = repeated(settings, f"coverage-population-{rho:g}", one, batches).reshape(-1, 4)  # all independent
        found[words] = {"measures": tests, "calibration": calibration(values[:, :3], values[:, 3])}
    return found


def plain(found: Any) -> Any:
    """Figures as lists of value, error and count, keys as text, ready for JSON."""
    if isinstance(found, Figure):
        return [None if np.isnan(one) else float(f"{one:.6g}") for one in (found.value, found.error, found.count)]
    if isinstance(found, dict):
        return {str(key): plain(value) for key, value in found.items()}
    return [plain(one) for one in found] if isinstance(found, list | tuple) else found
