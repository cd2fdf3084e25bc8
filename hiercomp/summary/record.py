"""Everything that a program needs of a result, ready for JSON: the summary, settings, versions and the data sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from hiercomp.document import json_value
from hiercomp.errors import ArgumentError
from hiercomp.pairs.fits import FailedPair
from hiercomp.summary.comparison import summarise
from hiercomp.summary.tournament import summarise_tournament
from hiercomp.wording import metric_words, unit_words

if TYPE_CHECKING:
    import pandas as pd

    from hiercomp.model.priors import Priors
    from hiercomp.pairs.tournament import Tournament
    from hiercomp.posterior.fit import Fit
    from hiercomp.scores.moments import ScoreMoments


def comparison_record(result: Fit, alpha: float = 0.05) -> dict[str, Any]:
    """The summary of a comparison, and what it was computed from and how; nothing is infinite or NaN."""
    given, summary = result.differences, summarise(result, alpha)
    minuend, subtrahend = summary.minuend
    settings = asdict(result.settings)
    return summary.to_dict() | {
        "version": version("hiercomp"),
        "metric": metric_words(given.measure, given.higher_is_better, given.transform),
        "difference": f"{minuend} - {subtrahend}",
        "unit": unit_words(given.measure, given.transform),
        "alpha": alpha,
        "rho": _span(given.rho),
        "priors": priors_record(result.priors),
        "engine": {"name": result.engine_name, "version": result.engine_version},
        "seed": settings.pop("seed"),
        "settings": {name: value for name, value in settings.items() if name != "progress"},
        "datasets": _dataset_rows(result),
    }


def tournament_record(result: Tournament, alpha: float = 0.05) -> dict[str, Any]:
    """The summary of many algorithms, and what it was computed from and how; nothing is infinite or NaN."""
    pairs = [pair for pair in result.pairs if not isinstance(pair, FailedPair)]
    ranking = result.ranking().attrs if result.standings.dataset_names else {}
    return summarise_tournament(result, alpha).to_dict() | {
        "version": version("hiercomp"),
        "metric": metric_words(result.measure, result.higher_is_better, result.transform),
        "unit": unit_words(result.measure, result.transform),
        "algorithms": list(result.algorithms),
        "baseline": result.baseline,
        "rope": [result.rope.lower, result.rope.upper],
        "rho": _span(np.concatenate([pair.differences.rho for pair in pairs])) if pairs else None,
        "priors": priors_record(result.priors),
        "engine": {"name": result.engine_name, "version": result.engine_version},
        "seed": result.seed,
        "settings": {"ranking_draws": ranking.get("draws"), "ranking_datasets": ranking.get("n_datasets")},
        "datasets": [
            {"dataset": name, "scores": scores}
            for name, scores in zip(
                result.dataset_names, _score_rows(result.moments, result.dataset_names), strict=True
            )
        ],
    }


def priors_record(priors: Priors) -> dict[str, Any]:
    """The priors' fields, with their name."""
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in priors.to_dict().items()}
    return {"name": priors.name, **fields}


def _span(values: Iterable[float]) -> list[float]:
    """The smallest and the largest."""
    numbers = [float(value) for value in values]
    return [min(numbers), max(numbers)]


def _dataset_rows(result: Fit) -> list[dict[str, Any]]:
    """Each data set: its differences, their posterior where the draws were kept, and the scores of both algorithms."""
    try:
        frame = result.datasets()
    except ArgumentError:  # only the draws of the population were kept
        frame = result.differences.to_frame().rename(columns={"standard_deviation": "sd"})
        frame = frame.drop(columns=["sum_of_squares", "standard_error"])
    if result.status == "failed":
        frame = frame[["mean", "sd", "n", "rho", *result.differences.in_own_units]]
    names = result.differences.dataset_names
    scores = _score_rows(result.differences.moments, names)
    return [row | {"scores": each} for row, each in zip(_rows(frame), scores, strict=True)]


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {"dataset": str(label)} | json_value(row)
        for label, row in zip(frame.index, frame.to_dict("records"), strict=True)
    ]


def _score_rows(moments: ScoreMoments | None, names: tuple[str, ...]) -> list[dict[str, Any] | None]:
    """Mean, sd and number of the scores of each algorithm, by data set; None where they are unknown."""
    if moments is None:
        return [None] * len(names)
    return [
        {
            name: json_value({"mean": mean, "sd": sd, "n": n})
            for name, mean, sd, n in zip(moments.algorithms, means, sds, counts, strict=True)
            if n
        }
        for means, sds, counts in zip(
            moments.mean.tolist(), moments.standard_deviation.tolist(), moments.n.tolist(), strict=True
        )
    ]
