"""A posterior that was integrated on a grid: its probabilities, its draws, and how it is stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiercomp.engines import Draws
from hiercomp.engines.quadrature.axes import ChebyshevAxis, SplineAxis, StretchedLine
from hiercomp.engines.quadrature.draws import dataset_draws, population_draws
from hiercomp.engines.quadrature.engine import Integration, Known
from hiercomp.engines.quadrature.grid import NEGLIGIBLE, PosteriorGrid
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.regions import RegionMasses, region_masses
from hiercomp.engines.quadrature.support import Integrand, Support
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.next_dataset import NextDataset
from hiercomp.rope import REGIONS, Rope


def integration_problem(model: HierarchicalModel) -> Integrand:
    """What the quadrature engine integrates, in the unit of the model."""
    likelihood = MeanLikelihood(model.mean, model.sum_of_squares, model.n, model.rho, model.sigma_upper)
    return Integrand(likelihood, model.delta0_bound, model.sigma0_upper, model.priors)


@dataclass(frozen=True, eq=False)
class IntegratedPosterior:
    """What the quadrature engine found, in the metric's units.

    Attributes
    ----------
    integration : Integration
        In units of the mean standard deviation within a data set.
    unit : float
        That standard deviation, in the metric's units.
    """

    integration: Integration
    unit: float

    @property
    def nodes(self) -> tuple[int, int, int]:
        """Nodes of sigma0, nu and delta0."""
        return self.integration.nodes

    def next_dataset(self, rope: Rope, *, estimate_errors: bool = True) -> NextDataset:
        """Probabilities of left, rope and right, with the estimated error of the integration for each.

        Without ``estimate_errors``, which doubles the time, the errors are zero.
        """
        scaled = rope.scaled(1 / self.unit)
        if estimate_errors:
            masses, errors = self.integration.regions(scaled)
        else:
            masses = region_masses(self.integration.grid, scaled)
            errors = masses.distance(masses)
        values = {f"p_{region}": value for region, value in zip(REGIONS, masses.most_probable.tolist(), strict=True)}
        values |= {f"expected_{region}": value for region, value in zip(REGIONS, masses.expected.tolist(), strict=True)}
        if estimate_errors:
            errors = {name: max(error, NEGLIGIBLE) for name, error in errors.items()}
        floor = max(errors[f"p_{region}"] for region in REGIONS)
        return NextDataset(**values, p_positive=masses.positive, errors=errors, draws=0, floor=floor)

    @cached_property
    def log_marginal_likelihood(self) -> float:
        """Log of the probability density of all differences, given the model, in the metric's units."""
        scores = float(self.integration.grid.problem.likelihood.n.sum())
        return self.integration.log_marginal_likelihood - scores * float(np.log(self.unit))

    @property
    def expected_delta0(self) -> float:
        """Posterior mean of delta0."""
        return self.integration.expected_delta0 * self.unit

    def draws(self, chains: int, draws: int, seed: int, *, keep: str, engine_name: str, engine_version: str) -> Draws:
        """Independent draws of every parameter, in units of the mean standard deviation.

        Parameters
        ----------
        chains, draws : int
            Of the arrays' shape; all draws are independent.
        seed : int
        keep : {"all", "population"}
            With or without delta and sigma of each data set.
        engine_name, engine_version : str
        """
        generator = np.random.default_rng([seed, chains, draws])
        problem = self.integration.grid.problem
        found = population_draws(self.integration.grid, chains * draws, generator)
        if problem.nu_prior is not None and isinstance(problem.priors.alpha, tuple):
            found["alpha"], found["beta"] = problem.nu_prior.hyperparameter_draws(found["nu"], generator)
        if keep == "all":
            found["delta"], found["sigma"] = dataset_draws(problem.likelihood, found, generator)
        shaped = {name: values.reshape(chains, draws, *values.shape[1:]) for name, values in found.items()}
        return Draws(shaped, {}, engine_name, engine_version)

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which `from_dict` makes an equal object."""
        grid, problem = self.integration.grid, self.integration.grid.problem
        line = grid.delta0_axis
        stretched = isinstance(line, StretchedLine)
        return {
            "unit": self.unit,
            "refinements": self.integration.refinements,
            "problem": {name: value.tolist() for name, value in vars(problem.likelihood).items() if name in SUFFICIENT}
            | {
                "sigma_upper": problem.likelihood.sigma_upper,
                "delta0_bound": problem.delta0_bound,
                "sigma0_upper": problem.sigma0_upper,
                "priors": problem.priors.to_dict(),
            },
            "support": {
                "nu": list(grid.support.nu),
                "lower": grid.support.lower.tolist(),
                "upper": grid.support.upper.tolist(),
            },
            "axes": [asdict(grid.sigma0_axis), asdict(grid.nu_axis)],
            "delta0_axis": {name: _plain(value) for name, value in asdict(line).items()} | {"stretched": stretched},
            "centre": grid.centre.tolist(),
            "log_scale": grid.log_scale.tolist(),
            "log_likelihood": grid.log_likelihood.tolist(),
            "fineness": [float(factor) for factor in grid.fineness],
            "known": _plain_known(self.integration.known),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> IntegratedPosterior:
        """From what `to_dict` gave."""
        given = plain["problem"]
        sufficient = {name: np.array(given[name], dtype=float) for name in SUFFICIENT}
        likelihood = MeanLikelihood(**sufficient, sigma_upper=given["sigma_upper"])
        problem = Integrand(likelihood, given["delta0_bound"], given["sigma0_upper"], Priors(**given["priors"]))
        support = plain["support"]
        fields = {name: value for name, value in plain["delta0_axis"].items() if name != "stretched"}
        if plain["delta0_axis"]["stretched"]:
            arrays = {name: np.array(fields[name], dtype=float) for name in ("places", "widths")}
            line: ChebyshevAxis | StretchedLine = StretchedLine(**(fields | arrays))
        else:
            line = ChebyshevAxis(**fields)
        grid = PosteriorGrid(
            problem=problem,
            support=Support(tuple(support["nu"]), np.array(support["lower"]), np.array(support["upper"])),
            sigma0_axis=(SplineAxis if plain["delta0_axis"]["stretched"] else ChebyshevAxis)(**plain["axes"][0]),
            nu_axis=ChebyshevAxis(**plain["axes"][1]),
            delta0_axis=line,
            centre=np.array(plain["centre"]),
            log_scale=np.array(plain["log_scale"]),
            log_likelihood=np.array(plain["log_likelihood"]),
            fineness=tuple(plain["fineness"]),
        )
        return cls(Integration(grid, plain["refinements"], _known(plain.get("known"))), plain["unit"])


SUFFICIENT = ("mean", "sum_of_squares", "n", "rho")


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _plain_known(known: Known | None) -> dict[str, Any] | None:
    """The probabilities as they were computed: computed anew, their last bits depend on the threads of BLAS."""
    if known is None:
        return None
    rope, masses, errors = known
    return {
        "rope": asdict(rope),
        "most_probable": masses.most_probable.tolist(),
        "expected": masses.expected.tolist(),
        "positive": masses.positive,
        "errors": errors,
    }


def _known(plain: dict[str, Any] | None) -> Known | None:
    if plain is None:
        return None
    masses = RegionMasses(np.array(plain["most_probable"]), np.array(plain["expected"]), plain["positive"])
    return Rope(**plain["rope"]), masses, plain["errors"]
