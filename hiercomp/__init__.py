"""hiercomp: which of two algorithms is better on the next data set, from cross-validation scores.

Names are imported when they are first used, so that ``import hiercomp`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hiercomp.errors import (
    ArgumentError,
    ConvergenceWarning,
    DefaultedRhoWarning,
    DegenerateScoresWarning,
    DroppedScoresWarning,
    EngineError,
    FailedCellsWarning,
    FewDatasetsWarning,
    HiercompError,
    HiercompWarning,
    IntegrationWarning,
    LargeProblemWarning,
    NoVerdictError,
    RefitWarning,
    ResultFileError,
    ScaleWarning,
    ScoreFileError,
    ScoreTableError,
)

if TYPE_CHECKING:
    from hiercomp.closed_form.across_datasets.bayesian_sign import (
        BayesianSignResult,
        bayesian_sign_test,
        bayesian_signed_rank_test,
    )
    from hiercomp.closed_form.across_datasets.poisson_binomial import PoissonBinomialResult, poisson_binomial_test
    from hiercomp.closed_form.across_datasets.signed_rank import SignedRankResult, sign_test, signed_rank_test
    from hiercomp.closed_form.many_algorithms.friedman import FriedmanResult, PostHocResult, friedman_test, nemenyi_test
    from hiercomp.closed_form.many_algorithms.posthoc import posthoc_test
    from hiercomp.closed_form.one_dataset.calibrated import calibrated_test
    from hiercomp.closed_form.one_dataset.correlated_t import CorrelatedTResult, NormalGamma, correlated_t_test
    from hiercomp.closed_form.one_dataset.five_by_two import five_by_two_cv_f, five_by_two_cv_t
    from hiercomp.closed_form.one_dataset.frequentist import (
        corrected_t_test,
        mann_whitney,
        paired_t_test,
        welch_t_test,
    )
    from hiercomp.closed_form.one_dataset.mcnemar import mcnemar
    from hiercomp.closed_form.result import FrequentistResult
    from hiercomp.closed_form.side_by_side import ClosedFormTests
    from hiercomp.comparison import ComparisonResult, HierarchicalComparison, compare, load_result
    from hiercomp.crossval.run import cross_validate_all
    from hiercomp.files.check import TableCheck, check_scores
    from hiercomp.files.formats.arrays import from_score_arrays
    from hiercomp.files.formats.lm_eval import read_lm_eval
    from hiercomp.files.formats.mlflow import read_mlflow
    from hiercomp.files.formats.mlr3 import read_mlr3
    from hiercomp.files.formats.sklearn_results import from_cross_validate, from_grid_search
    from hiercomp.files.formats.tidymodels import read_tidymodels
    from hiercomp.files.formats.weka import read_weka
    from hiercomp.files.formats.wide import from_wide
    from hiercomp.files.read import read_scores
    from hiercomp.files.write import write_scores
    from hiercomp.model.priors import Priors
    from hiercomp.planning.plan import plan
    from hiercomp.planning.result import PlanResult
    from hiercomp.posterior.next_dataset import Decision, NextDataset, Odds
    from hiercomp.rope import Rope
    from hiercomp.scores.bundled import load_scores
    from hiercomp.scores.differences import PairedDifferences
    from hiercomp.scores.problems import TableProblem
    from hiercomp.summary.comparison import Summary
    from hiercomp.tournament import TournamentResult, compare_all

__version__ = "0.1.0"

# Name to the module that defines it
_LAZY = {
    "ClosedFormTests": "closed_form.side_by_side",
    "BayesianSignResult": "closed_form.across_datasets.bayesian_sign",
    "ComparisonResult": "comparison",
    "CorrelatedTResult": "closed_form.one_dataset.correlated_t",
    "Decision": "posterior.next_dataset",
    "FrequentistResult": "closed_form.result",
    "FriedmanResult": "closed_form.many_algorithms.friedman",
    "HierarchicalComparison": "comparison",
    "NextDataset": "posterior.next_dataset",
    "NormalGamma": "closed_form.one_dataset.correlated_t",
    "Odds": "posterior.next_dataset",
    "PairedDifferences": "scores.differences",
    "TournamentResult": "tournament",
    "PlanResult": "planning.result",
    "check_scores": "files.check",
    "compare": "comparison",
    "compare_all": "tournament",
    "plan": "planning.plan",
    "PoissonBinomialResult": "closed_form.across_datasets.poisson_binomial",
    "PostHocResult": "closed_form.many_algorithms.friedman",
    "Priors": "model.priors",
    "Rope": "rope",
    "SignedRankResult": "closed_form.across_datasets.signed_rank",
    "Summary": "summary.comparison",
    "TableCheck": "files.check",
    "TableProblem": "scores.problems",
    "bayesian_sign_test": "closed_form.across_datasets.bayesian_sign",
    "bayesian_signed_rank_test": "closed_form.across_datasets.bayesian_sign",
    "calibrated_test": "closed_form.one_dataset.calibrated",
    "corrected_t_test": "closed_form.one_dataset.frequentist",
    "correlated_t_test": "closed_form.one_dataset.correlated_t",
    "cross_validate_all": "crossval.run",
    "five_by_two_cv_f": "closed_form.one_dataset.five_by_two",
    "five_by_two_cv_t": "closed_form.one_dataset.five_by_two",
    "friedman_test": "closed_form.many_algorithms.friedman",
    "from_cross_validate": "files.formats.sklearn_results",
    "from_grid_search": "files.formats.sklearn_results",
    "from_score_arrays": "files.formats.arrays",
    "from_wide": "files.formats.wide",
    "load_result": "comparison",
    "load_scores": "scores.bundled",
    "mann_whitney": "closed_form.one_dataset.frequentist",
    "mcnemar": "closed_form.one_dataset.mcnemar",
    "nemenyi_test": "closed_form.many_algorithms.friedman",
    "paired_t_test": "closed_form.one_dataset.frequentist",
    "poisson_binomial_test": "closed_form.across_datasets.poisson_binomial",
    "posthoc_test": "closed_form.many_algorithms.posthoc",
    "read_lm_eval": "files.formats.lm_eval",
    "read_mlflow": "files.formats.mlflow",
    "read_mlr3": "files.formats.mlr3",
    "read_scores": "files.read",
    "read_tidymodels": "files.formats.tidymodels",
    "read_weka": "files.formats.weka",
    "sign_test": "closed_form.across_datasets.signed_rank",
    "signed_rank_test": "closed_form.across_datasets.signed_rank",
    "welch_t_test": "closed_form.one_dataset.frequentist",
    "write_scores": "files.write",
}

_SUBPACKAGES = ("plots",)

__all__ = [
    "ArgumentError",
    "BayesianSignResult",
    "ClosedFormTests",
    "ComparisonResult",
    "ConvergenceWarning",
    "CorrelatedTResult",
    "Decision",
    "DefaultedRhoWarning",
    "DegenerateScoresWarning",
    "DroppedScoresWarning",
    "EngineError",
    "FailedCellsWarning",
    "FewDatasetsWarning",
    "FrequentistResult",
    "FriedmanResult",
    "HierarchicalComparison",
    "HiercompError",
    "HiercompWarning",
    "IntegrationWarning",
    "LargeProblemWarning",
    "NextDataset",
    "NoVerdictError",
    "NormalGamma",
    "Odds",
    "PairedDifferences",
    "PlanResult",
    "PoissonBinomialResult",
    "PostHocResult",
    "Priors",
    "RefitWarning",
    "ResultFileError",
    "Rope",
    "ScaleWarning",
    "ScoreFileError",
    "ScoreTableError",
    "SignedRankResult",
    "Summary",
    "TableCheck",
    "TableProblem",
    "TournamentResult",
    "__version__",
    "bayesian_sign_test",
    "bayesian_signed_rank_test",
    "calibrated_test",
    "check_scores",
    "compare",
    "compare_all",
    "corrected_t_test",
    "correlated_t_test",
    "cross_validate_all",
    "five_by_two_cv_f",
    "five_by_two_cv_t",
    "friedman_test",
    "from_cross_validate",
    "from_grid_search",
    "from_score_arrays",
    "from_wide",
    "load_result",
    "load_scores",
    "mann_whitney",
    "mcnemar",
    "nemenyi_test",
    "paired_t_test",
    "plan",
    "poisson_binomial_test",
    "posthoc_test",
    "read_lm_eval",
    "read_mlflow",
    "read_mlr3",
    "read_scores",
    "read_tidymodels",
    "read_weka",
    "sign_test",
    "signed_rank_test",
    "welch_t_test",
    "write_scores",
]


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"hiercomp.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"hiercomp.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
