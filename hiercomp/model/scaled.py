"""The model as a Stan program: data in the sampler's unit, the parameterisation of each data set, initial values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiercomp.arguments import FloatArray
from hiercomp.errors import FewDatasetsWarning, Note, ScaleWarning
from hiercomp.model.distributions import HalfNormal, HalfStudentT, Normal
from hiercomp.model.priors import Priors
from hiercomp.model.programs import StanProgram
from hiercomp.model.trinomial import PRIOR, moments
from hiercomp.scores.covariates import Covariates
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import counted

# With fewer data sets sigma0 is so uncertain that no data set is centred for its small error: (M10) adapts to sigma0
DATASETS_THAT_SETTLE_SIGMA0 = 10
ERRORS_TO_A_TAIL = 4.0  # standard errors from the median of the means beyond which a data set is in a tail
OUTLIER_RATIO = 5.0  # squared distance from the median over the local variance of a heavy-tailed population
NORMAL_MEDIAN_DEVIATION = 0.6744897501960817  # median absolute deviation of a standard normal variable
# Standard errors of a data set's mean within which its delta_i lies, to find an end of sigma0's range
ERRORS_AWAY = 10.0
FLAT = 1e-12  # standard deviation of means, relative to the largest or to the unit, up to which they are all equal
SCALES_EXPECTED = 2.0  # of a prior on sigma0; where the data suggest more, the chains start there and find the way
VARIANCE_OF_LOG_SIGMA0 = 0.2  # where the warmup starts; 0.15 to 0.4 on the pairs of the 54 data sets
DATASETS_A_SLOPE = 10  # of fewer for each covariate the slopes have a horseshoe (C3) as their prior
RIDGE_SWEEPS = 100  # for the starting values of the slopes
VARIANCES_OF_LOGS = (1.0, 0.5, 0.5)  # of the horseshoe's local and global scales and its slab, where the warmup starts


@dataclass(frozen=True)
class HierarchicalModel:
    """The sampler's view of a comparison: everything in units of the mean within-data-set standard deviation.

    Attributes
    ----------
    unit : float
        The mean within-data-set standard deviation, in the metric's units.
    mean, sum_of_squares, n, rho : ndarray, shape (q,)
        Sufficient statistics of each data set, scaled.
    delta0_bound, sigma_upper, sigma0_upper : float
        Bounds of the uniform priors (M3)-(M5), scaled; of other priors ends of the range that is computed.
    priors : Priors
    notes : tuple of Note
    delta0_prior : Normal or None
        Scaled (M17); None: uniform.
    sigma0_prior : HalfNormal, HalfStudentT or None
        Scaled (M18, M19); None: uniform.
    covariate : ndarray, shape (q, p), or None
        Covariates of the data sets, each with mean 0 and standard deviation 1 (C1).
    slope_scale : float
        s0 of (C2), scaled.
    slope_datasets : int or None
        Number of data sets for the choice between (C2) and (C3); None: those that there are.
    counts : ndarray of int, shape (q, 3), or None
        Of a trinomial likelihood (T1); the unit is then 1, and ``mean`` and ``sum_of_squares`` are those with which
        independent differences have the centre and the standard error of that likelihood.
    """

    unit: float
    mean: FloatArray
    sum_of_squares: FloatArray
    n: FloatArray
    rho: FloatArray
    delta0_bound: float
    sigma_upper: float
    sigma0_upper: float
    priors: Priors
    notes: tuple[Note, ...] = ()
    delta0_prior: Normal | None = None
    sigma0_prior: HalfNormal | HalfStudentT | None = None
    covariate: FloatArray | None = None
    slope_scale: float = 1.0
    slope_datasets: int | None = None
    counts: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, differences: PairedDifferences, priors: Priors) -> HierarchicalModel:
        """Scale the sufficient statistics and the bounds of the priors."""
        unit = float(differences.standard_deviation.mean()) if differences.counts is None else 1.0
        mean, error = differences.mean / unit, differences.standard_error / unit
        squares = differences.sum_of_squares / unit**2
        if differences.counts is not None:
            _, centre, error = moments(differences.counts)
            squares = error**2 * differences.n * (differences.n - 1)
        s0, flat = float(np.std(mean, ddof=1)), _all_equal(mean)
        notes: tuple[Note, ...] = ()
        if flat and (priors.sigma0 is None or differences.covariates is not None):
            s0 = float(error.mean())
        if flat and priors.sigma0 is None:
            text = (
                "All data sets have the same mean difference, so the bound of the prior on sigma0 is undefined; "
                "it is derived from their mean standard error instead."
            )
            notes = (Note(ScaleWarning, text),)
        notes += _few_for_covariates(len(mean), differences.covariates)
        bound = (differences.delta0_bound if priors.delta0_bound is None else priors.delta0_bound) / unit
        delta0_prior = None if priors.delta0 is None else priors.delta0.in_unit(unit)
        sigma0_prior = None if priors.sigma0 is None else priors.sigma0.in_unit(unit)
        if delta0_prior is not None and priors.delta0_bound is None:
            bound = delta0_prior.reach(float(np.abs(mean).max()))
        sigma0_upper = priors.sigma0_upper * s0
        if sigma0_prior is not None:
            farthest = float((np.abs(mean) + ERRORS_AWAY * error).max())
            sigma0_upper = sigma0_prior.reach(bound + farthest, len(mean))
        return cls(
            unit=unit,
            mean=mean if differences.counts is None else centre,
            sum_of_squares=squares,
            n=differences.n.astype(float),
            rho=differences.rho,
            delta0_bound=bound,
            sigma_upper=priors.sigma_upper,  # s is 1 in this unit
            sigma0_upper=sigma0_upper,
            priors=priors,
            notes=notes,
            delta0_prior=delta0_prior,
            sigma0_prior=sigma0_prior,
            covariate=None if differences.covariates is None else differences.covariates.standardised,
            slope_scale=s0,
            counts=differences.counts,
        )

    def without(self, place: int) -> HierarchicalModel:
        """The same without a data set: bounds, unit, the scale of the covariates and all priors stay those of all."""
        names = ("mean", "sum_of_squares", "n", "rho", "covariate", "counts")
        arrays = {name: getattr(self, name) for name in names}
        kept = {name: np.delete(value, place, axis=0) for name, value in arrays.items() if value is not None}
        return replace(self, slope_datasets=self._datasets_of_slopes, **kept)

    @property
    def spread(self) -> float:
        """Standard deviation of the means; if they are all equal, their mean standard error, as in the bound (M5)."""
        if _all_equal(self.mean):
            return float(np.sqrt(self.squared_standard_error).mean())
        return float(np.std(self.mean, ddof=1))

    @property
    def _datasets_of_slopes(self) -> int:
        return len(self.mean) if self.slope_datasets is None else self.slope_datasets

    @property
    def shrunk(self) -> bool:
        """Whether there are so many covariates that their slopes have a horseshoe as their prior."""
        return self.covariate is not None and DATASETS_A_SLOPE * self.covariate.shape[1] > self._datasets_of_slopes

    @property
    def global_scale(self) -> float:
        """tau0 of (C3)."""
        assert self.covariate is not None
        q, p = self._datasets_of_slopes, self.covariate.shape[1]
        expected = min(max(1.0, q / DATASETS_A_SLOPE), p / 2)
        return float(expected / (p - expected) * self.slope_scale / np.sqrt(q))

    @cached_property
    def _rough_slopes(self) -> FloatArray:
        """Ridge estimates for a start, shape (p,), by coordinates: no product uses BLAS."""
        assert self.covariate is not None
        rest = self.mean - self.mean.mean()
        slope = np.zeros(self.covariate.shape[1])
        sizes = [float((column**2).sum()) + 1.0 for column in self.covariate.T]
        for _ in range(RIDGE_SWEEPS):
            for place, column in enumerate(self.covariate.T):
                change = (float((column * rest).sum()) - slope[place]) / sizes[place]
                slope[place] += change
                rest = rest - change * column
        return slope

    @cached_property
    def _residual(self) -> FloatArray:
        """The means without what the covariates explain, roughly."""
        if self.covariate is None:
            return self.mean
        return np.asarray(self.mean - (self.covariate * self._rough_slopes).sum(axis=1))

    @property
    def sigma_estimate(self) -> FloatArray:
        """sqrt(SS / ((n - 1) (1 - rho))): estimate of each sigma_i, shape (q,)."""
        return np.asarray(np.sqrt(self.sum_of_squares / ((self.n - 1) * (1 - self.rho))))

    @property
    def squared_standard_error(self) -> FloatArray:
        """sigma_i^2 (1 + (n - 1) rho) / n at the estimate of sigma_i, shape (q,)."""
        return np.asarray(self.sigma_estimate**2 * (1 + (self.n - 1) * self.rho) / self.n)

    def centred(self) -> NDArray[np.bool_]:
        """Whether delta_i itself is sampled, for each data set, shape (q,).

        Of a Gaussian population none is centred: given the rest, (M10) is exact.
        """
        if self.priors.population == "gaussian":
            return np.zeros(len(self.mean), dtype=bool)
        informative = self._informative
        clear = len(informative) >= DATASETS_THAT_SETTLE_SIGMA0 and informative.mean() >= 0.5
        return informative if clear else self._in_a_tail

    @property
    def _informative(self) -> NDArray[np.bool_]:
        """Whether the squared standard error is below the variance of the population around each data set.

        The population's variance is estimated by the method of moments from the means and, to resist outliers, from
        their median absolute deviation; the smaller one counts. Around an outlying data set a heavy-tailed population is
        wider.
        """
        squared_error = self.squared_standard_error
        mean = self._residual
        moments = np.var(mean, ddof=1) - squared_error.mean()
        deviation = np.median(np.abs(mean - np.median(mean))) / NORMAL_MEDIAN_DEVIATION
        robust = deviation**2 - np.median(squared_error)
        population = min(max(min(moments, robust), 0.0), self._largest_expected_sigma0**2)
        outlying = (self._squared_distance - squared_error) / OUTLIER_RATIO
        return np.asarray(squared_error < np.maximum(population, outlying))

    @property
    def _in_a_tail(self) -> NDArray[np.bool_]:
        """Whether a mean is so far from the median of the means that their errors do not explain it."""
        squared_error = self.squared_standard_error
        of_median = np.pi / 2 * np.median(squared_error) / len(squared_error)
        return np.asarray(self._squared_distance > ERRORS_TO_A_TAIL**2 * (squared_error + of_median))

    @property
    def _squared_distance(self) -> FloatArray:
        """Of each mean from their median."""
        return np.asarray((self._residual - np.median(self._residual)) ** 2)

    @property
    def centre_variance(self) -> FloatArray:
        """e_i^2 + t_i of (M20), shape (q,): t_i is the squared distance of a data set in a tail of the population, which
        says little about the centre.
        """
        heavy = self.priors.population == "student_t"
        further = np.where(heavy & self._in_a_tail, self._squared_distance, 0.0)
        return np.asarray(self.squared_standard_error + further)

    @property
    def _largest_expected_sigma0(self) -> float:
        """Infinite for a uniform prior, else about the 95% quantile of a half-normal one."""
        return np.inf if self.sigma0_prior is None else SCALES_EXPECTED * self.sigma0_prior.scale

    def program(self, centred: NDArray[np.bool_], chains: int, seed: int) -> StanProgram:
        """The Stan program with its data and each chain's initial values."""
        data: dict[str, Any] = {
            "q": len(self.mean),
            "n": self.n,
            "mean_difference": self.mean,
            "sum_of_squares": self.sum_of_squares,
            "rho": self.rho,
            "centred": centred.astype(int),
            "delta0_bound": self.delta0_bound,
            "sigma_upper": self.sigma_upper,
            "sigma0_upper": self.sigma0_upper,
            **self._prior_data,
        }
        priors = self.priors
        variables: tuple[str, ...] = ("delta0", "sigma0", "delta", "sigma")
        if priors.population == "student_t":
            data["nu_lower"] = priors.nu_lower
            variables += ("nu",)
            if isinstance(priors.alpha, tuple):
                data |= {"alpha_limits": priors.alpha, "beta_limits": priors.beta}
                variables += ("alpha", "beta")
            else:
                data |= {"alpha": priors.alpha, "beta": priors.beta}
        if self.covariate is not None:
            variables += ("slope",)
            data |= {
                "p": self.covariate.shape[1],
                "covariate": self.covariate,
                "slope_scale": self.slope_scale,
                "shrunk": int(self.shrunk),
                "global_scale": self.global_scale,
            }
        else:
            data["centre_variance"] = self.centre_variance
        if self.counts is not None:
            data["counts"] = self.counts
            data["excess_shapes"] = PRIOR
        starts = tuple(self.initial_values(centred, np.random.default_rng([seed, chain])) for chain in range(chains))
        ending = "" if self.covariate is None else "_covariates"
        name = priors.program + ("_trinomial" if self.counts is not None else ending)
        return StanProgram(name, data, starts, self.inverse_metric(centred), variables)

    @property
    def _prior_data(self) -> dict[str, Any]:
        """What the Stan programs read of the priors on delta0 and sigma0; numbers that no prior takes are 1."""
        centre, scale = self.delta0_prior, self.sigma0_prior
        return {
            "delta0_is_normal": int(centre is not None),
            "delta0_mean": 0.0 if centre is None else centre.mean,
            "delta0_sd": 1.0 if centre is None else centre.sd,
            "sigma0_is_half_normal": int(isinstance(scale, HalfNormal)),
            "sigma0_is_half_t": int(isinstance(scale, HalfStudentT)),
            "sigma0_scale": 1.0 if scale is None else scale.scale,
            "sigma0_nu": scale.nu if isinstance(scale, HalfStudentT) else 1.0,
        }

    def initial_values(self, centred: NDArray[np.bool_], generator: np.random.Generator) -> Mapping[str, Any]:
        """The start of a chain: shrunken means and observed standard deviations, with a little noise.

        No product uses BLAS: its kernels differ in the last bit, which chains amplify.
        """
        squared_error = self.squared_standard_error
        largest = min(0.5 * self.sigma0_upper, self._largest_expected_sigma0)
        sigma0 = min(self._sigma0_of_moments * np.exp(0.25 * generator.normal()), largest)
        precision = 1 / (squared_error + sigma0**2)
        deviation = generator.normal()
        centre = (precision * self._residual).sum() / precision.sum() + deviation / np.sqrt(precision.sum())
        delta0 = float(np.clip(centre, -0.9 * self.delta0_bound, 0.9 * self.delta0_bound))
        centres = delta0 if self.covariate is None else delta0 + (self.mean - self._residual)
        shrunken = (self.mean / squared_error + centres / sigma0**2) / (1 / squared_error + 1 / sigma0**2)
        noise = np.exp(0.05 * generator.normal(size=len(self.mean)))
        sigma = np.minimum(self.sigma_estimate * noise, 0.9 * self.sigma_upper)
        values: dict[str, Any] = {
            **({"delta0_deviation": deviation} if self.covariate is None else {"delta0": delta0}),
            "sigma0": sigma0,
            **({"sigma": sigma} if self.counts is None else {"excess": self._excess}),
            "delta_centred": shrunken[centred],
            "z": np.zeros(np.count_nonzero(~centred)),  # (M10) at the shrunken means
            **self._initial_slopes(),
        }
        if self.priors.population == "gaussian":
            return values
        alpha, beta = self.priors.alpha, self.priors.beta
        shape, rate = np.mean(alpha), np.mean(beta)
        nu = self.priors.nu_lower + shape / rate * np.exp(0.3 * generator.normal())
        values["nu"] = nu
        return values | {"alpha": shape, "beta": rate} if isinstance(alpha, tuple) else values

    def _initial_slopes(self) -> dict[str, Any]:
        """The start of the slopes; nothing without covariates."""
        if self.covariate is None:
            return {}
        deviation = {"slope_deviation": np.zeros(self.covariate.shape[1])}  # (C4): at the location that the data give
        if not self.shrunk:
            none = np.zeros(0)
            return deviation | {"local": none, "global": none, "slab": none}
        # Each slope has room where the ridge has it, the slab aside
        size = np.maximum(np.abs(self._rough_slopes) / self.global_scale, 0.1)
        return deviation | {"local": size, "global": np.ones(1), "slab": np.ones(1)}

    def inverse_metric(self, centred: NDArray[np.bool_]) -> FloatArray:
        """Rough posterior variances of the program's parameters, in its order and on Stan's unconstrained scale.

        The warmup adapts the metric from here. From a unit metric its first steps would be far too short: the log of a
        sigma_i has a standard deviation of 0.07 with 100 differences.
        """
        squared_error = self.squared_standard_error
        variance = min(self._sigma0_of_moments, self._largest_expected_sigma0) ** 2
        of_delta0 = 1.0  # in units of its scale, (M20)
        if self.covariate is not None:
            slope = 2 / self.delta0_bound  # of the logit of delta0 between its bounds, in their middle
            of_delta0 = slope**2 / (1 / (squared_error + variance)).sum()
        unknown = {"gaussian": 0, "student_t": 3 if isinstance(self.priors.alpha, tuple) else 1}[self.priors.population]
        return np.concatenate(
            [
                [of_delta0, VARIANCE_OF_LOG_SIGMA0],
                1 / (2 * (self.n - 1)) if self.counts is None else self._variance_of_excess,  # of the log of sigma_i
                np.ones(unknown),  # nu, alpha, beta
                1 / (1 / squared_error + 1 / variance)[centred],
                np.ones(np.count_nonzero(~centred)),
                self._inverse_metric_of_slopes,
            ]
        )

    @property
    def _excess(self) -> FloatArray:
        """About the posterior mean of u_i (T2), shape (q,)."""
        assert self.counts is not None
        return np.asarray((2 * np.minimum(self.counts[:, 0], self.counts[:, 2]) + 1) / (self.n + 3))

    @property
    def _variance_of_excess(self) -> FloatArray:
        """Of the logit of u_i, as that of a Beta distribution with this mean."""
        return np.asarray(1 / (self._excess * (1 - self._excess) * (self.n + 3)))

    @property
    def _inverse_metric_of_slopes(self) -> FloatArray:
        """Of the parameters of the slopes; their deviations have a variance of about 1, (C4)."""
        if self.covariate is None:
            return np.zeros(0)
        p = self.covariate.shape[1]
        if not self.shrunk:
            return np.ones(p)
        local, overall, slab = VARIANCES_OF_LOGS
        return np.concatenate([np.ones(p), np.full(p, local), [overall, slab]])

    @property
    def _sigma0_of_moments(self) -> float:
        """The population's scale by the method of moments, at least a fifth of what the means could show."""
        squared_error = self.squared_standard_error.mean()
        spread = np.var(self._residual, ddof=1)
        return float(np.sqrt(max(spread - squared_error, 0.05 * max(spread, squared_error))))

    def prior_draws(self, chains: int, draws: int, seed: int) -> dict[str, FloatArray]:
        """Draws of delta0, sigma0 and nu from their priors, in the sampler's unit, shape (chains, draws)."""
        generator = np.random.default_rng([seed, chains, draws])
        shape, bound = (chains, draws), self.delta0_bound
        centre, scale = self.delta0_prior, self.sigma0_prior
        found = {
            "delta0": generator.uniform(-bound, bound, shape)
            if centre is None
            else centre.draws(bound, shape, generator),
            "sigma0": generator.uniform(0, self.sigma0_upper, shape)
            if scale is None
            else scale.draws(shape, generator),
        }
        if self.priors.population != "gaussian":
            found["nu"] = self._prior_draws_of_nu(shape, generator)
        if self.covariate is not None:
            found["slope"] = self._prior_draws_of_slopes((*shape, self.covariate.shape[1]), generator)
        return found

    def _prior_draws_of_nu(self, shape: tuple[int, ...], generator: np.random.Generator) -> FloatArray:
        alpha, beta = (
            generator.uniform(*limits, shape) if isinstance(limits, tuple) else np.full(shape, limits)
            for limits in (self.priors.alpha, self.priors.beta)
        )
        return np.asarray(self.priors.nu_lower + generator.gamma(alpha, 1 / beta))

    def _prior_draws_of_slopes(self, shape: tuple[int, ...], generator: np.random.Generator) -> FloatArray:
        """(C2) or (C3); the last dimension is that of the covariates."""
        deviation = generator.standard_normal(shape)
        if not self.shrunk:
            return np.asarray(self.slope_scale * deviation)
        local = np.abs(generator.standard_cauchy(shape))
        narrow = self.global_scale * np.abs(generator.standard_cauchy((*shape[:2], 1)))
        wide = self.slope_scale**2 * 2 / generator.standard_gamma(2.0, (*shape[:2], 1))
        return np.asarray(deviation / np.sqrt(1 / (narrow * local) ** 2 + 1 / wide))


def _few_for_covariates(q: int, covariates: Covariates | None) -> tuple[Note, ...]:
    """A note where there is more than one covariate for ten data sets."""
    if covariates is None or DATASETS_A_SLOPE * len(covariates.names) <= q:
        return ()
    text = (
        f"{counted(len(covariates.names), 'covariate')} for {counted(q, 'data set')}: the slopes depend strongly on their "
        "prior, a regularised horseshoe."
    )
    return (Note(FewDatasetsWarning, text, remedy=f"One covariate for {DATASETS_A_SLOPE} data sets is enough."),)


def _all_equal(mean: FloatArray) -> bool:
    """Whether means differ by rounding only."""
    return bool(np.std(mean, ddof=1) <= FLAT * max(1.0, float(np.abs(mean).max())))
