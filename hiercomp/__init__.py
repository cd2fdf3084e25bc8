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
    from hiercomp.baselines.bayesian_sign import BayesianSignResult, bayesian_sign_test, bayesian_signed_rank_test
    from hiercomp.baselines.calibrated import CalibratedResult, calibrated_test
    from hiercomp.baselines.calibration import Calibration, calibrate
    from hiercomp.baselines.correlated import CorrelatedTResult, NormalGamma, correlated_t_test
    from hiercomp.baselines.five_by_two import five_by_two_cv_f, five_by_two_cv_t
    from hiercomp.baselines.frequentist import (
        FrequentistResult,
        corrected_t_test,
        mann_whitney,
        paired_t_test,
        welch_t_test,
    )
    from hiercomp.baselines.friedman import FriedmanResult, PostHocResult, friedman_test, nemenyi_test
    from hiercomp.baselines.mcnemar import mcnemar
    from hiercomp.baselines.poisson_binomial import PoissonBinomialResult, TrinomialResult, poisson_binomial_test
    from hiercomp.baselines.posthoc import posthoc_test
    from hiercomp.baselines.replicability import Replicability, replicability
    from hiercomp.baselines.signed_rank import SignedRankResult, sign_test, signed_rank_test
    from hiercomp.baselines.table import BaselineTable
    from hiercomp.checking.check import TableCheck, check_scores
    from hiercomp.checking.facts import Problem
    from hiercomp.crossval.run import cross_validate_all
    from hiercomp.datasets import data_card, load_scores
    from hiercomp.design_analysis.planning import plan
    from hiercomp.design_analysis.result import PlanResult
    from hiercomp.differences import PairedDifferences
    from hiercomp.exports import write_scores
    from hiercomp.hierarchical import HierarchicalComparison
    from hiercomp.importers import read_scores
    from hiercomp.inference import Decision, NextDataset, Odds
    from hiercomp.pairwise.result import PairwiseResult
    from hiercomp.pairwise.tournament import compare_all
    from hiercomp.priors import Priors
    from hiercomp.result import ComparisonResult
    from hiercomp.result_files import load_result
    from hiercomp.rope import Rope
    from hiercomp.summary import Summary

__version__ = "0.1.0"

# Name to the module that defines it
_LAZY = {
    "BaselineTable": "baselines.table",
    "BayesianSignResult": "baselines.bayesian_sign",
    "CalibratedResult": "baselines.calibrated",
    "Calibration": "baselines.calibration",
    "ComparisonResult": "result",
    "CorrelatedTResult": "baselines.correlated",
    "Decision": "inference",
    "FrequentistResult": "baselines.frequentist",
    "FriedmanResult": "baselines.friedman",
    "HierarchicalComparison": "hierarchical",
    "NextDataset": "inference",
    "NormalGamma": "baselines.correlated",
    "Odds": "inference",
    "PairedDifferences": "differences",
    "PairwiseResult": "pairwise.result",
    "PlanResult": "design_analysis.result",
    "check_scores": "checking.check",
    "compare_all": "pairwise.tournament",
    "plan": "design_analysis.planning",
    "PoissonBinomialResult": "baselines.poisson_binomial",
    "PostHocResult": "baselines.friedman",
    "Priors": "priors",
    "Problem": "checking.facts",
    "Replicability": "baselines.replicability",
    "Rope": "rope",
    "SignedRankResult": "baselines.signed_rank",
    "Summary": "summary",
    "TableCheck": "checking.check",
    "TrinomialResult": "baselines.poisson_binomial",
    "bayesian_sign_test": "baselines.bayesian_sign",
    "bayesian_signed_rank_test": "baselines.bayesian_sign",
    "calibrate": "baselines.calibration",
    "calibrated_test": "baselines.calibrated",
    "corrected_t_test": "baselines.frequentist",
    "correlated_t_test": "baselines.correlated",
    "cross_validate_all": "crossval.run",
    "data_card": "datasets",
    "five_by_two_cv_f": "baselines.five_by_two",
    "five_by_two_cv_t": "baselines.five_by_two",
    "friedman_test": "baselines.friedman",
    "load_result": "result_files",
    "load_scores": "datasets",
    "mann_whitney": "baselines.frequentist",
    "mcnemar": "baselines.mcnemar",
    "nemenyi_test": "baselines.friedman",
    "paired_t_test": "baselines.frequentist",
    "poisson_binomial_test": "baselines.poisson_binomial",
    "posthoc_test": "baselines.posthoc",
    "read_scores": "importers",
    "replicability": "baselines.replicability",
    "sign_test": "baselines.signed_rank",
    "signed_rank_test": "baselines.signed_rank",
    "welch_t_test": "baselines.frequentist",
    "write_scores": "exports",
}

_SUBPACKAGES = ("importers", "plots", "simulate")

__all__ = [
    "ArgumentError",
    "BaselineTable",
    "BayesianSignResult",
    "CalibratedResult",
    "Calibration",
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
    "PairwiseResult",
    "PlanResult",
    "PoissonBinomialResult",
    "PostHocResult",
    "Priors",
    "Problem",
    "RefitWarning",
    "Replicability",
    "ResultFileError",
    "Rope",
    "ScaleWarning",
    "ScoreFileError",
    "ScoreTableError",
    "SignedRankResult",
    "Summary",
    "TableCheck",
    "TrinomialResult",
    "__version__",
    "bayesian_sign_test",
    "bayesian_signed_rank_test",
    "calibrate",
    "calibrated_test",
    "check_scores",
    "compare_all",
    "corrected_t_test",
    "correlated_t_test",
    "cross_validate_all",
    "data_card",
    "five_by_two_cv_f",
    "five_by_two_cv_t",
    "friedman_test",
    "load_result",
    "load_scores",
    "mann_whitney",
    "mcnemar",
    "nemenyi_test",
    "paired_t_test",
    "plan",
    "poisson_binomial_test",
    "posthoc_test",
    "read_scores",
    "replicability",
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
