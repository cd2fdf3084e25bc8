"""The log densities of the Stan programs and their gradients, against 40 digits of arithmetic (V1 and V2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import mpmath as mp
import numpy as np
import stanli
from reproduction.exhibit import Row, Settings

from hiercomp.model.priors import Priors
from hiercomp.model.programs import json_ready, stan_folder
from hiercomp.model.scaled import HierarchicalModel

DIGITS = 40
SIZES = (2, 3, 10, 54)
PRIORS = {"hierarchical nu": Priors(), "fixed prior on nu": Priors.juarez_steel(), "gaussian": Priors.gaussian()}
LARGEST_DEVIATION, LARGEST_GRADIENT_ERROR = 1e-12, 1e-6


def density_rows(settings: Settings) -> list[Row]:
    """The largest deviation of Stan's log density from ours, up to a constant, relative to its size."""
    points = 4 if settings.quick else 40
    return [
        Row.below(f"{name}, {q} data sets: largest relative deviation", LARGEST_DEVIATION, deviation(model, points))
        for name, q, model in problems(settings)
    ]


def gradient_rows(settings: Settings) -> list[Row]:
    """The largest relative error of Stan's gradient."""
    points = 1 if settings.quick else 20
    return [
        Row.below(
            f"{name}, {q} data sets: largest relative error of the gradient",
            LARGEST_GRADIENT_ERROR,
            gradient_error(model, points),
        )
        for name, q, model in problems(settings)
        if q <= 10
    ]


def problems(settings: Settings) -> Iterator[tuple[str, int, HierarchicalModel]]:
    """Collections with unequal n and rho, for each prior on nu."""
    for name, priors in PRIORS.items():
        for q in SIZES[:3] if settings.quick else SIZES:
            generator = np.random.default_rng([settings.seed, q])
            yield name, q, random_model(generator, q, priors)


def random_model(generator: np.random.Generator, q: int, priors: Priors) -> HierarchicalModel:
    """Sufficient statistics with unequal n and rho."""
    n = generator.integers(2, 101, q).astype(float)
    return HierarchicalModel(
        unit=1.0,
        mean=generator.normal(0, 1, q),
        sum_of_squares=n * generator.gamma(2, 0.5, q),
        n=n,
        rho=generator.uniform(0, 0.5, q),
        delta0_bound=3.0,
        sigma_upper=50.0,
        sigma0_upper=40.0,
        priors=priors,
    )


def deviation(model: HierarchicalModel, points: int, folder: str | None = None) -> float:
    """The largest deviation of two log densities from their mean difference, relative to the largest of them."""
    generator = np.random.default_rng(1)
    centred = np.arange(len(model.mean)) % 2 == 0
    program = interpreted(model, centred, folder)
    difference, size = [], 1.0
    for _ in range(points):
        place = generator.normal(0, 1.2, len(model.inverse_metric(centred)))
        ours = log_density(model, centred, [mp.mpf(float(one)) for one in place])
        difference.append(mp.mpf(float(program.log_prob_grad(place)[0])) - ours)
        size = max(size, abs(float(ours)))
    mean = mp.fsum(difference) / len(difference)
    return float(max(abs(one - mean) for one in difference)) / size


def gradient_error(model: HierarchicalModel, points: int) -> float:
    """The largest error of the gradient, relative to its largest entry."""
    generator = np.random.default_rng(2)
    centred = np.arange(len(model.mean)) % 2 == 0
    program = interpreted(model, centred)
    largest = 0.0
    for _ in range(points):
        place = [mp.mpf(float(one)) for one in generator.normal(0, 1.2, len(model.inverse_metric(centred)))]
        exact = np.array([float(slope) for slope in gradient(model, centred, place)])
        found = program.log_prob_grad(np.array(place, dtype=float))[1]
        largest = max(largest, float(np.abs(found - exact).max() / np.abs(exact).max()))
    return largest


def gradient(model: HierarchicalModel, centred: np.ndarray, place: list[Any]) -> Iterator[Any]:
    """Central differences: with 40 digits a step of 1e-12 leaves more than 15."""
    step = mp.mpf(10) ** -12
    with mp.workdps(DIGITS):
        for number in range(len(place)):
            ends = [list(place), list(place)]
            ends[0][number] -= step
            ends[1][number] += step
            yield (log_density(model, centred, ends[1]) - log_density(model, centred, ends[0])) / (2 * step)


def interpreted(model: HierarchicalModel, centred: np.ndarray, folder: str | None = None) -> stanli.Model:
    """The Stan program with the model's data."""
    program = model.program(centred, chains=1, seed=0)
    include = str(stan_folder()) if folder is None else folder
    return stanli.Model(
        stan_file=f"{include}/{program.name}.stan", data=json_ready(program.data), include_paths=[include]
    )


def log_density(model: HierarchicalModel, centred: np.ndarray, place: list[Any]) -> Any:
    """(M1) to (M7), (M10) and (M21) on the unconstrained scale, written out with `mpmath`; constants are left out."""
    with mp.workdps(DIGITS):
        q, values = len(model.mean), iter(place)
        bound, total = mp.mpf(model.delta0_bound), mp.mpf(0)

        def between(low: float, high: float) -> Any:
            nonlocal total
            share = 1 / (1 + mp.exp(-next(values)))
            total += mp.log(share) + mp.log(1 - share)
            return low + (mp.mpf(high) - low) * share

        deviation0 = next(values)
        sigma0 = between(0, model.sigma0_upper)
        sigma = [between(0, model.sigma_upper) for _ in range(q)]
        # (M20) and (M21); a uniform prior has the variance bound^2 / 3
        variances = [sigma0**2 + mp.mpf(one) for one in model.centre_variance]
        scale0 = 1 / mp.sqrt(3 / bound**2 + mp.fsum(1 / one for one in variances))
        found = scale0**2 * mp.fsum(mp.mpf(m) / one for m, one in zip(model.mean, variances, strict=True))
        edge = bound - mp.mpf("1.5") * scale0
        beyond = [scale0 * mp.log(1 + mp.exp((side * found - edge) / scale0)) for side in (1, -1)]
        location = found - beyond[0] + beyond[1]
        slope = scale0 / (1 - (location / bound) ** 2)
        delta0 = bound * mp.tanh(mp.atanh(location / bound) + slope / bound * deviation0)
        total += mp.log(slope) + mp.log(1 - (delta0 / bound) ** 2)
        priors, nu = model.priors, None
        if priors.population == "student_t":
            excess = mp.exp(next(values))
            total += mp.log(excess)
            nu = priors.nu_lower + excess
            shape, rate = (
                between(*limits) if isinstance(limits, tuple) else mp.mpf(limits)
                for limits in (priors.alpha, priors.beta)
            )
            total += shape * mp.log(rate) - mp.loggamma(shape) + (shape - 1) * mp.log(excess) - rate * excess
        centres = iter([next(values) for _ in range(int(centred.sum()))])
        for i in range(q):
            n, rho = mp.mpf(model.n[i]), mp.mpf(model.rho[i])
            mean, squares = mp.mpf(model.mean[i]), mp.mpf(model.sum_of_squares[i])
            if centred[i]:
                delta = next(centres)
            else:
                z = next(values)
                squared_error = sigma[i] ** 2 * (1 + (n - 1) * rho) / n
                scale = 1 / mp.sqrt(1 / squared_error + 1 / sigma0**2)
                shrunken = scale**2 * (mean / squared_error + delta0 / sigma0**2)
                delta = shrunken + scale * (z if nu is None else mp.sinh(z))
                total += mp.log(scale) + (0 if nu is None else mp.log(mp.cosh(z)))
            deviation = (delta - delta0) / sigma0
            total -= mp.log(sigma0)
            if nu is None:
                total -= deviation**2 / 2
            else:
                total += mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2) - mp.log(nu) / 2
                total -= (nu + 1) / 2 * mp.log(1 + deviation**2 / nu)
            # The inverse and the determinant of the equicorrelation matrix
            quadratic = squares / (1 - rho) + n * (mean - delta) ** 2 / (1 + (n - 1) * rho)
            total -= n * mp.log(sigma[i]) + quadratic / (2 * sigma[i] ** 2)
        return total


FAULTS: Mapping[str, tuple[str, str, str]] = {
    "rho off by one fold": ("blocks/transformed_data.stan", "(n - 1) .* rho", "n .* rho"),
    "the prior of nu unshifted": ("hierarchical_student_t.stan", "nu - nu_lower ~ gamma", "nu ~ gamma"),
    "the Jacobian's log(scale) dropped": ("hierarchical_student_t.stan", "sum(log(scale)) + ", ""),
    "the Jacobian of delta0 dropped": ("hierarchical_student_t.stan", "target += log_slope", "target += 0"),
    "the Jacobian's log(cosh(z)) dropped": ("hierarchical_student_t.stan", " + sum(log(cosh(z)))", ""),
    "sd for variance": ("functions/intraclass_normal.stan", "./ square(sigma));", "./ sigma);"),
    "n - 1 for n": ("functions/intraclass_normal.stan", "-dot_product(n, log(sigma))", "-dot_product(n - 1, log(sigma))"),
    "a half for a whole": ("functions/intraclass_normal.stan", "- 0.5", "- 1"),
    "the sum of squares not scaled by 1 - rho": (
        "blocks/transformed_data.stan", "within = sum_of_squares ./ (1 - rho)", "within = sum_of_squares"),
    "a normal population": ("hierarchical_student_t.stan", "student_t(nu, delta0, sigma0)", "normal(delta0, sigma0)"),
    "the variance as scale": (
        "hierarchical_student_t.stan", "student_t(nu, delta0, sigma0)", "student_t(nu, delta0, square(sigma0))"),
    "one more degree of freedom": (
        "hierarchical_student_t.stan", "student_t(nu, delta0, sigma0)", "student_t(nu + 1, delta0, sigma0)"),
    "a population about zero": ("hierarchical_student_t.stan", "student_t(nu, delta0, sigma0)", "student_t(nu, 0, sigma0)"),
    "scale for rate": ("hierarchical_student_t.stan", "gamma(alpha, beta)", "gamma(alpha, inv(beta))"),
    "1 / sigma0 as its prior": ("blocks/population_priors.stan", "if (delta0_is_normal)",
        "target += -log(sigma0);\n  if (delta0_is_normal)"),
    "alpha up to twice its limit": (
        "hierarchical_student_t.stan", "upper=alpha_limits[2]", "upper=2 * alpha_limits[2]"),
    "no upper bound of sigma": ("blocks/parameters.stan", "vector<lower=0, upper=sigma_upper>", "vector<lower=0>"),
}  # fmt: skip
