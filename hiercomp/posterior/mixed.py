"""The kind of posterior of a mixture population, and the checks of its chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from hiercomp.arguments import FloatArray
from hiercomp.engines import SamplerSettings, engine_words
from hiercomp.engines.mixture import (
    MixtureDraws,
    dataset_draws,
    prior_population,
)
from hiercomp.engines.quadrature.leave_one_out import LeftOut
from hiercomp.engines.quadrature.likelihood import MeanLikelihood
from hiercomp.engines.quadrature.marginals import Marginal
from hiercomp.errors import ArgumentError
from hiercomp.model.mixture import Dictionary
from hiercomp.model.priors import Priors
from hiercomp.model.scaled import HierarchicalModel
from hiercomp.posterior.datatree import (
    DATASET_PARAMETERS,
    PRIOR_CHAINS,
    PRIOR_DRAWS,
    data_tree,
    group_arrays,
    in_metric_units,
    variable,
)
from hiercomp.posterior.diagnostics import MixtureDiagnostics
from hiercomp.posterior.importance import left_out_of_mixture
from hiercomp.posterior.kinds import (
    MONTE_CARLO,
    Attempt,
    ErrorWords,
    Facts,
    Integrated,
    Keep,
    RegionDraws,
    likelihood_of,
    marginals_of_draws,
)
from hiercomp.posterior.next_dataset import NextDataset, Odds, posterior_odds
from hiercomp.rope import REGIONS, Rope, region_probabilities
from hiercomp.scores.differences import PairedDifferences
from hiercomp.wording import counted

if TYPE_CHECKING:
    import xarray as xr

    from hiercomp.posterior.verification import Verification

PARAMETERS = ("delta0", "sigma0", "concentration")
DICTIONARY = ("centre", "scale", "prior_weight")
COMPONENTS = ("weight", "atom", "allocation")
MOST_ATOMS = 2**15
DRAWS_AT_ONCE = 200_000  # components whose regions are gathered together


@dataclass(frozen=True)
class MixtureRun:
    """One run of the chains of a mixture.

    Attributes
    ----------
    purpose : str
        "first fit" or "longer".
    warmup, draws : int
        Sweeps before the first draw, and draws of each chain.
    sweeps : int
        Sweeps for each draw.
    failures : tuple of str
        The checks that failed.
    """

    purpose: str
    warmup: int
    draws: int
    sweeps: int
    failures: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Mixed(RegionDraws):
    """A posterior of a mixture population, sampled on a table of integrals.

    The centre delta0 and the spread sigma0 of a mixture are the mean and the standard deviation of the population:
    delta0 is the sum of w_g m_g, and sigma0 the root of the sum of w_g (s_g^2 + m_g^2) less delta0^2.

    Attributes
    ----------
    dictionary : Dictionary
        In the metric's units.
    components : MixtureDraws
        The population of each draw, and the atom of each data set.
    log_density : ndarray, shape (chains, draws)
        Log likelihood of all data sets given the population, up to a constant.
    differences : PairedDifferences
    priors : Priors
    diagnostics : MixtureDiagnostics
    runs : tuple of MixtureRun
        The last one counts.
    settings : SamplerSettings
        As asked.
    keep : {"all", "population"}
        Whether there are draws of delta and sigma of each data set.
    engine_name, engine_version : str
    """

    dictionary: Dictionary
    components: MixtureDraws
    log_density: FloatArray
    differences: PairedDifferences
    priors: Priors
    diagnostics: MixtureDiagnostics
    runs: tuple[MixtureRun, ...]
    settings: SamplerSettings
    keep: Keep
    engine_name: str
    engine_version: str

    kind: ClassVar[str] = "mixed"
    remakes_draws: ClassVar[bool] = False

    def _check(self) -> None:
        """Refuse arrays of a file that can't be those of a mixture."""
        given, atoms = self.components, len(self.dictionary.weight)
        arrays = (given.weight, given.allocation, given.concentration, self.log_density)
        if len({values.shape[:2] for values in arrays}) > 1:
            raise ValueError("components of another number of draws")
        for places in (given.atom, given.allocation):
            if places.min() < 0 or places.max() >= atoms:
                raise ValueError("a component that is not in the dictionary")
        weight, scale = given.weight, self.dictionary.scale
        if atoms > MOST_ATOMS:
            raise ValueError("a dictionary that is too large")
        if not (weight >= 0).all() or not np.allclose(weight.sum(axis=2), 1):
            raise ValueError("weights that do not sum to 1")
        if not np.isfinite(self.dictionary.centre).all() or not (np.isfinite(scale) & (scale > 0)).all():
            raise ValueError("a dictionary of no components")

    @property
    def refit_engine(self) -> str:
        """Quadrature: of a mixture it is this engine, and it serves other populations too."""
        return "quadrature"

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """None of Stan; see ``runs``."""
        return ()

    @property
    def error_words(self) -> ErrorWords:
        """Monte Carlo standard errors."""
        return MONTE_CARLO

    @property
    def computation(self) -> str:
        """Engine, run lengths, seed and diagnostics."""
        last, engine = self.runs[-1], engine_words(self.engine_name, self.engine_version)
        runs = f"{self.settings.chains} chains of {last.draws:,} draws, each after {last.sweeps} sweeps"
        extra = f" ({len(self.runs)} runs, the last: {last.purpose})" if len(self.runs) > 1 else ""
        return f"{engine}, {runs}{extra}, seed {self.settings.seed}; {self.diagnostics}."

    @property
    def confirmation(self) -> str:
        """Nothing: it was computed once."""
        return ""

    @property
    def facts(self) -> Facts:
        """The dictionary, the runs and the seed."""
        last = self.runs[-1]
        size = f"{np.unique(self.dictionary.centre).size} centres x {np.unique(self.dictionary.scale).size} scales"
        ran = (
            f"{counted(self.settings.chains, 'chain')}, {last.warmup:,} sweeps of warmup and {last.draws:,} draws of each, "
            f"{last.sweeps} sweeps a draw ({last.purpose}; {counted(len(self.runs), 'run')} in all)"
        )
        return ("Dictionary", size), ("Sampling", ran), ("Seed", str(self.settings.seed))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that have draws."""
        return (*PARAMETERS, *(DATASET_PARAMETERS if self.keep == "all" else ()))

    @cached_property
    def datatree(self) -> xr.DataTree:
        """Draws as ArviZ keeps them; groups ``components`` and ``dictionary`` have the populations themselves."""
        generator = np.random.default_rng([self.settings.seed, PRIOR_CHAINS, PRIOR_DRAWS])
        shape, rate = self.priors.concentration
        prior = prior_population(self.dictionary, shape, rate, PRIOR_CHAINS * PRIOR_DRAWS, generator)
        components = {
            name: np.asarray(getattr(self.components, name), dtype=float if name == "weight" else int)
            for name in COMPONENTS
        }
        return data_tree(
            {**self._population, **(self._datasets if self.keep == "all" else {})},
            self.differences,
            engine_words(self.engine_name, self.engine_version),
            statistics={"lp": self.log_density},
            prior={name: values.reshape(PRIOR_CHAINS, PRIOR_DRAWS) for name, values in prior.items()},
            others={"components": components, "dictionary": self._plain_dictionary},
        )

    @property
    def _plain_dictionary(self) -> dict[str, FloatArray]:
        given = self.dictionary
        return {"centre": given.centre, "scale": given.scale, "prior_weight": given.weight}

    @cached_property
    def _population(self) -> dict[str, FloatArray]:
        """Mean and standard deviation of each draw's population, and its concentration."""
        atom, weight = self.components.atom, self.components.weight
        centre, scale = self.dictionary.centre[atom], self.dictionary.scale[atom]
        delta0 = (weight * centre).sum(axis=2)
        variance = (weight * (scale**2 + (centre - delta0[:, :, None]) ** 2)).sum(axis=2)
        return {"delta0": delta0, "sigma0": np.sqrt(variance), "concentration": self.components.concentration}

    @cached_property
    def _datasets(self) -> dict[str, FloatArray]:
        """Draws of delta_i and sigma_i given the component of each data set."""
        model, likelihood, dictionary = self._in_model_units
        generator = np.random.default_rng([self.settings.seed, *self.components.allocation.shape[:2]])
        delta, sigma = dataset_draws(likelihood, dictionary, self.components.allocation, generator)
        return in_metric_units({"delta": delta, "sigma": sigma}, model.unit)

    @property
    def _in_model_units(self) -> tuple[HierarchicalModel, MeanLikelihood, Dictionary]:
        model = HierarchicalModel.of(self.differences, self.priors)
        return model, likelihood_of(model), self.dictionary.in_unit(1 / model.unit)

    @cached_property
    def population(self) -> dict[str, Marginal]:
        """Of the draws."""
        return marginals_of_draws(self, PARAMETERS)

    def probability_below(self, name: str, value: float) -> float:
        """Share of the draws."""
        return float((self.draws(name) < value).mean())

    @property
    def expected_delta0(self) -> float:
        """Mean of the draws of delta0."""
        return float(self.draws("delta0").mean())

    @property
    def log_marginal_likelihood(self) -> float:
        """Not known: raises ArgumentError."""
        raise ArgumentError(
            "The marginal likelihood of a mixture is not computed.",
            remedy="hc.compare_populations(comparison) compares populations by what each says of a data set left out.",
        )

    @property
    def log_marginal_likelihood_error(self) -> float:
        """Not known, either."""
        return self.log_marginal_likelihood

    def regions(self, rope: Rope) -> FloatArray:
        """Of each draw, shape (chains, draws, 3): sums over its components."""
        of_atom = region_probabilities(self.dictionary.centre, self.dictionary.scale, np.inf, rope)
        return self._mixed(of_atom)

    def checked(self, rope: Rope) -> dict[str, FloatArray]:
        """What the checks of the chains look at, shape (chains, draws) each."""
        regions = {
            f"P({name})": values for name, values in zip(REGIONS, np.moveaxis(self.regions(rope), 2, 0), strict=True)
        }
        return {**self._population, "log likelihood": self.log_density, **regions}

    def density(self, x: ArrayLike) -> FloatArray:
        """Mean over the draws of the mixtures' densities; shape of ``x``."""
        points = np.asarray(x, dtype=float)
        z = (points.ravel()[:, None] - self.dictionary.centre) / self.dictionary.scale
        density = np.exp(-(z**2) / 2) / (np.sqrt(2 * np.pi) * self.dictionary.scale)
        return np.asarray((density * self.mean_weight).sum(axis=1).reshape(points.shape))

    @cached_property
    def mean_weight(self) -> FloatArray:
        """Posterior mean of the weight of each atom of the dictionary, shape (atoms,)."""
        atom, weight = self.components.atom.ravel(), self.components.weight
        total = np.bincount(atom, weights=weight.ravel(), minlength=len(self.dictionary.weight))
        return np.asarray(total / weight[..., 0].size)

    def next_differences(self, generator: np.random.Generator) -> FloatArray:
        """One for each draw, shape (chains, draws)."""
        atom, total = self.components.atom, np.cumsum(self.components.weight, axis=2)
        level = generator.random(total.shape[:2]) * total[:, :, -1]
        place = np.minimum((total < level[:, :, None]).sum(axis=2), total.shape[2] - 1)
        drawn = np.take_along_axis(atom, place[:, :, None], axis=2)[:, :, 0]
        noise = generator.standard_normal(drawn.shape)
        return np.asarray(self.dictionary.centre[drawn] + self.dictionary.scale[drawn] * noise)

    def _mixed(self, of_atom: FloatArray) -> FloatArray:
        """Weighted sums of values of the atoms, shape (atoms, k), under each draw: (chains, draws, k)."""
        atom, weight = self.components.atom, self.components.weight
        flat, weights = atom.reshape(-1, atom.shape[2]), weight.reshape(-1, atom.shape[2])
        found = np.empty((len(flat), of_atom.shape[1]))
        rows = max(1, DRAWS_AT_ONCE // atom.shape[2])
        for start in range(0, len(flat), rows):
            part = slice(start, start + rows)
            found[part] = (of_atom[flat[part]] * weights[part, :, None]).sum(axis=1)
        return found.reshape(*atom.shape[:2], -1)

    def verification(self, rope: Rope) -> Verification:
        """Not known: raises ArgumentError."""
        raise ArgumentError("A mixture is computed once, by sampling; there is nothing to compare it with.")

    def integrated_or(self, integrate: Callable[[], Integrated]) -> Integrated:
        """A mixture has no integral: raises ArgumentError."""
        raise ArgumentError(
            "A mixture is not integrated, so its probabilities without each data set are not known.",
            remedy="Fit with population='student_t' for influence().",
        )

    def left_out(self, model: HierarchicalModel, rope: Rope, integrate: Callable[[], Integrated]) -> LeftOut:
        """By importance sampling, and by sampling without the data set where that fails."""
        likelihood, dictionary = likelihood_of(model), self.dictionary.in_unit(1 / model.unit)
        return left_out_of_mixture(
            likelihood,
            dictionary,
            self.priors.concentration,
            self.components,
            self.settings,
            self.runs[-1].sweeps,
        )

    def odds(self, inference: NextDataset) -> tuple[Odds, ...]:
        """Odds of the three pairs of regions."""
        return posterior_odds(inference)

    def draws(self, name: str) -> FloatArray:
        """Draws of a parameter, shape (chains, draws) or (chains, draws, q); read-only.

        Raises
        ------
        ArgumentError
            If there are none: a mixture has no nu.
        """
        if name == "nu":
            raise ArgumentError(
                "A mixture has no nu.",
                remedy="Its parameters are delta0, sigma0 and concentration; datatree['components'] has its populations.",
            )
        lazy = name in DATASET_PARAMETERS and self.keep == "all"
        return variable(self._datasets if lazy else self._population, name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the draws."""
        return {
            "kind": self.kind,
            "priors": self.priors.to_dict(),
            "diagnostics": asdict(self.diagnostics),
            "runs": [asdict(run) for run in self.runs],
            "settings": asdict(self.settings),
            "keep": self.keep,
            "engine_name": self.engine_name,
            "engine_version": self.engine_version,
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any], differences: PairedDifferences, datatree: xr.DataTree) -> Mixed:
        """From the result of `to_dict`, and the draws."""
        variables, components = group_arrays(datatree, "posterior"), group_arrays(datatree, "components")
        of_components: Mapping[str, Any] = {name: components[name] for name in COMPONENTS}
        posterior = cls(
            dictionary=Dictionary(*(group_arrays(datatree, "dictionary")[name] for name in DICTIONARY)),
            components=MixtureDraws(concentration=variables["concentration"], **of_components),
            log_density=group_arrays(datatree, "sample_stats")["lp"],
            differences=differences,
            priors=Priors(**plain["priors"]),
            diagnostics=MixtureDiagnostics(**plain["diagnostics"]),
            runs=tuple(MixtureRun(**(run | {"failures": tuple(run["failures"])})) for run in plain["runs"]),
            settings=SamplerSettings(**plain["settings"]),
            keep=plain["keep"],
            engine_name=plain["engine_name"],
            engine_version=plain["engine_version"],
        )
        posterior._check()
        given = posterior.components
        posterior = replace(
            posterior,
            components=replace(given, atom=given.atom.astype(np.int16), allocation=given.allocation.astype(np.int16)),
        )
        population = {name: variables[name] for name in PARAMETERS}
        datasets = {name: variables[name] for name in DATASET_PARAMETERS if name in variables}
        vars(posterior).update(datatree=datatree, _population=population)  # those of the file, to the last bit
        if datasets:
            vars(posterior).update(_datasets=datasets)
        return posterior
