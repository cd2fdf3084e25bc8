"""All plots of comparisons and tests; each uses the given axes or makes new ones, and changes no global style."""

from hiercomp.plots.accessor import ComparisonPlots, TournamentPlots
from hiercomp.plots.closed_form import plot_critical_difference, plot_poisson_binomial, plot_sign_simplex, plot_student
from hiercomp.plots.correlation import plot_correlation
from hiercomp.plots.datasets import plot_ppc, plot_shrinkage, replicated_standard_deviations, shrinkage_table
from hiercomp.plots.diagnostics import plot_diagnostics
from hiercomp.plots.effects import plot_effect
from hiercomp.plots.leave_one_out import plot_pit
from hiercomp.plots.next_dataset import plot_next_dataset, plot_simplex
from hiercomp.plots.pairs import plot_pairs_heatmap, plot_ranking
from hiercomp.plots.planning import plot_plan
from hiercomp.plots.population import plot_population, plot_posterior, plot_rope_curve, population_density
from hiercomp.plots.sensitivity import plot_sensitivity

__all__ = [
    "ComparisonPlots",
    "TournamentPlots",
    "plot_correlation",
    "plot_critical_difference",
    "plot_diagnostics",
    "plot_effect",
    "plot_next_dataset",
    "plot_pairs_heatmap",
    "plot_pit",
    "plot_plan",
    "plot_poisson_binomial",
    "plot_population",
    "plot_posterior",
    "plot_ppc",
    "plot_ranking",
    "plot_rope_curve",
    "plot_sensitivity",
    "plot_shrinkage",
    "plot_sign_simplex",
    "plot_simplex",
    "plot_student",
    "population_density",
    "replicated_standard_deviations",
    "shrinkage_table",
]
