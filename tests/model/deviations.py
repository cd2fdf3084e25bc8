"""The deviation that the Stan programs sample, computed from delta0 with NumPy."""

from __future__ import annotations

import numpy as np
import stanli

from hiercomp.model.programs import json_ready
from hiercomp.model.scaled import HierarchicalModel

Values = dict[str, np.ndarray | float]


def log_density(program: stanli.Model, values: Values) -> float:
    """Of a program at values of its parameters, on the unconstrained scale."""
    return float(program.log_prob_grad(program.unconstrain(json_ready(values)))[0])


def with_deviation(model: HierarchicalModel, values: Values) -> tuple[Values, float]:
    """The values with the deviation of (M20) and (M21) instead of delta0, and the log of the derivative."""
    delta0, sigma0 = values["delta0"], values["sigma0"]
    means, variances = list(model.mean), list(sigma0**2 + model.centre_variance)
    bound, prior = model.delta0_bound, model.delta0_prior
    means, variances = [*means, 0.0], [*variances, bound**2 / 3]
    if prior is not None:
        means, variances = [*means, prior.mean], [*variances, prior.sd**2]
    location, weight = np.average(means, weights=1 / np.array(variances), returned=True)
    scale = weight**-0.5
    end = bound - 1.5 * scale
    location += scale * (np.logaddexp(0, (-location - end) / scale) - np.logaddexp(0, (location - end) / scale))
    slope = scale / (1 - (location / bound) ** 2)
    found = (np.arctanh(delta0 / bound) - np.arctanh(location / bound)) * bound / slope
    rest = {name: value for name, value in values.items() if name != "delta0"}
    return rest | {"delta0_deviation": found}, float(np.log(slope) + np.log1p(-((delta0 / bound) ** 2)))
