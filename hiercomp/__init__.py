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
    FewDatasetsWarning,
    HiercompError,
    HiercompWarning,
    LargeProblemWarning,
    NoVerdictError,
    RefitWarning,
    ResultFileError,
    ScaleWarning,
    ScoreFileError,
    ScoreTableError,
)

if TYPE_CHECKING:
    from hiercomp.datasets import data_card, load_scores
    from hiercomp.differences import PairedDifferences
    from hiercomp.hierarchical import HierarchicalComparison
    from hiercomp.inference import Decision, NextDataset, Odds
    from hiercomp.priors import Priors
    from hiercomp.result import ComparisonResult, load_result
    from hiercomp.rope import Rope
    from hiercomp.summary import Summary

__version__ = "0.1.0"

# Name to the module that defines it
_LAZY = {
    "ComparisonResult": "result",
    "Decision": "inference",
    "HierarchicalComparison": "hierarchical",
    "NextDataset": "inference",
    "Odds": "inference",
    "PairedDifferences": "differences",
    "Priors": "priors",
    "Rope": "rope",
    "Summary": "summary",
    "data_card": "datasets",
    "load_result": "result",
    "load_scores": "datasets",
}

__all__ = [
    "ArgumentError",
    "ComparisonResult",
    "ConvergenceWarning",
    "Decision",
    "DefaultedRhoWarning",
    "DegenerateScoresWarning",
    "DroppedScoresWarning",
    "EngineError",
    "FewDatasetsWarning",
    "HierarchicalComparison",
    "HiercompError",
    "HiercompWarning",
    "LargeProblemWarning",
    "NextDataset",
    "NoVerdictError",
    "Odds",
    "PairedDifferences",
    "Priors",
    "RefitWarning",
    "ResultFileError",
    "Rope",
    "ScaleWarning",
    "ScoreFileError",
    "ScoreTableError",
    "Summary",
    "__version__",
    "data_card",
    "load_result",
    "load_scores",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"hiercomp.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
