"""What the description of a saved fit may hold: its keys, types and lengths, compared before anything is made from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import isfinite, prod
from typing import Any

from hiercomp import errors
from hiercomp.engines import ENGINES, MIXTURE
from hiercomp.posterior.next_dataset import QUANTITIES

LARGEST = 64 << 20  # bytes of a description, as JSON; one of 100,000 data sets has 20 MB
LONGEST_TEXT = 100_000  # characters
LARGEST_WHOLE = 2**53
FINEST = 64  # times the usual number of fine nodes

Check = Callable[[Any], bool]


def parsed(text: str | bytes) -> dict[str, Any]:
    """A description from JSON, of a limited size.

    Raises
    ------
    ValueError
        If it is too large or no JSON object.
    """
    if len(text) > LARGEST:
        raise ValueError(f"a description above {LARGEST >> 20} MB")
    plain = json.loads(text)
    if not isinstance(plain, dict):
        raise ValueError("no description")
    return plain


def check_description(plain: Mapping[str, Any]) -> None:
    """Refuse a description that has other keys, types or lengths than `hiercomp.posterior.saved.plain_values` writes.

    Raises
    ------
    ValueError
        With the place of the first that differs.
    """
    _compare(plain, FIT, "the description")
    differences = plain["differences"]
    q = len(differences["dataset_names"])
    of_all = "median_score", "score_mean", "score_standard_deviation", "n_scores", "ropes", "crossed"
    for name in (*OF_DATASETS, *of_all):
        if differences.get(name) is not None and len(differences[name]) != q:
            raise ValueError(f"{name} has another length than dataset_names")
    if (differences["transform"] == "rope") != (differences.get("ropes") is not None):
        raise ValueError("differences in units of ropes without ropes, or the other way round")
    _check_counts(differences, q)
    for name in ("runs", "two_level"):
        if any(len(values) != q for values in differences.get(name, {}).values() if isinstance(values, list)):
            raise ValueError(f"{name} of another number of data sets")
    covariates = differences.get("covariates")
    if (covariates is None) != (plain["posterior"]["kind"] != "regressed") and plain["posterior"]["kind"] != "exact":
        raise ValueError("covariates without slopes, or slopes without covariates")
    if covariates is not None:
        _check_covariates(covariates, q)
    if differences["left"] == differences["right"] or len(set(differences["dataset_names"])) != q:
        raise ValueError("a name occurs twice")
    posterior = plain["posterior"]
    integrated = posterior.get("integrated", posterior)
    if "integration" in integrated:
        _check_grid(integrated["integration"], q)


def _check_covariates(covariates: Mapping[str, Any], q: int) -> None:
    names, values = covariates["names"], covariates["values"]
    if not names or len(set(names)) != len(names) or len(values) != q or any(len(row) != len(names) for row in values):
        raise ValueError("covariates of another shape than their names and data sets")


def _check_counts(plain: Mapping[str, Any], q: int) -> None:
    counts = plain.get("counts")
    if counts is not None and [sum(row) for row in counts] != plain["n"][:q]:
        raise ValueError("counts that do not add up to n")


def _check_grid(grid: Mapping[str, Any], q: int) -> None:
    """Compare the lengths of an integration's arrays."""
    line, counts = grid["delta0_axis"], [axis["count"] for axis in grid["axes"]]
    if any(len(grid["problem"][name]) != q for name in ("mean", "sum_of_squares", "n", "rho")):
        raise ValueError("an integration of another number of data sets")
    _check_counts(grid["problem"], q)
    if line["stretched"] and (not line["places"] or len(line["places"]) != len(line["widths"])):
        raise ValueError("an axis with places and widths of different lengths")
    for name in ("centre", "log_scale", "log_likelihood"):
        array = grid[name]
        if len(array) != counts[0] or any(len(row) != counts[1] for row in array):
            raise ValueError(f"{name} has another shape than its axes")
    if any(len(cells) != line["count"] for row in grid["log_likelihood"] for cells in row):
        raise ValueError("log_likelihood has another shape than its axes")
    if len(grid["support"]["lower"]) != len(grid["support"]["upper"]):
        raise ValueError("support has ends of different lengths")


def _compare(value: Any, pattern: Any, place: str) -> None:
    """Compare a value with a pattern: a function, a list of one pattern, a mapping, or a tuple of alternatives."""
    if isinstance(pattern, tuple):
        _compare(value, _alternative(value, pattern, place), place)
    elif isinstance(pattern, list):
        if not isinstance(value, list):
            raise ValueError(f"{place} is not a list")
        for part in value:
            _compare(part, pattern[0], place)
    elif isinstance(pattern, dict):
        if not isinstance(value, dict):
            raise ValueError(f"{place} is not a mapping")
        if not _has_keys_of(value, pattern):
            raise ValueError(f"{place} has other keys")
        for key, part in value.items():
            _compare(part, pattern[key if key in pattern else f"?{key}"], key)
    elif not pattern(value):
        raise ValueError(f"{place} has another type or is out of range")


def _alternative(value: Any, patterns: tuple[Any, ...], place: str) -> Any:
    """The first pattern of the kind of the value; of mappings, the first with its keys."""
    for pattern in patterns:
        if isinstance(pattern, dict):
            if isinstance(value, dict) and _has_keys_of(value, pattern):
                return pattern
        elif isinstance(pattern, list):
            if isinstance(value, list):
                return pattern
        elif pattern(value):
            return pattern
    raise ValueError(f"{place} has another type")


def _has_keys_of(value: Mapping[str, Any], pattern: Mapping[str, Any]) -> bool:
    """Whether a mapping has all keys of a pattern, but for those that may be absent, and no others."""
    required = {key for key in pattern if not key.startswith("?")}
    return required <= set(value) <= {key.removeprefix("?") for key in pattern}


def _one_of(*allowed: str) -> Check:
    return lambda value: isinstance(value, str) and value in allowed


def _nothing(value: Any) -> bool:
    return value is None


def _name(value: Any) -> bool:
    """Text of any kind that UTF-8 holds, but NUL."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT or "\0" in value:
        return False
    return value.isascii() or bool(value.encode())  # raises ValueError for half a pair of surrogates


def _text(value: Any) -> bool:
    """Text that is written as it is: without control characters."""
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and value.isprintable()


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_WHOLE


def _number(value: Any) -> bool:
    """A number, which may be infinite or NaN."""
    return isinstance(value, float) or (
        isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_WHOLE
    )


def _finite(value: Any) -> bool:
    return _number(value) and isfinite(value)


def _positive(value: Any) -> bool:
    return _finite(value) and value > 0


def _not_negative(value: Any) -> bool:
    return _finite(value) and value >= 0


def _true_or_false(value: Any) -> bool:
    return isinstance(value, bool)


def _probability(value: Any) -> bool:
    return _finite(value) and -1e-6 <= value <= 1 + 1e-6


def _three(check: Check) -> Check:
    return lambda value: isinstance(value, list) and len(value) == 3 and all(map(check, value))


def _two(check: Check) -> Check:
    return lambda value: isinstance(value, list) and len(value) == 2 and all(map(check, value))


def _correlation(value: Any) -> bool:
    return _finite(value) and 0 <= value < 1


CATEGORIES = tuple(
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.HiercompWarning)
)
NOTE = {
    "category": _one_of(*CATEGORIES),
    "message": _text,
    "remedy": _text,
    "places": [_name],
    "key": _text,
    "quiet": _true_or_false,
}
OF_DATASETS = {
    "mean": [_finite],
    "sum_of_squares": [_not_negative],
    "n": [lambda value: _whole(value) and value >= 1],
    "rho": [_correlation],
    "constant": [_true_or_false],
    "lowest_score": [_number],
    "highest_score": [_number],
}
OF_RUNS = {
    "n_runs": [lambda value: _whole(value) and value >= 1],
    "folds": [_positive],
    "within": [_not_negative],
    "between": [_not_negative],
}
OF_TWO_LEVELS = {
    "within": [_correlation],
    "across": [_correlation],
    "learnt": _true_or_false,
    "log_determinant_ratio": [_finite],
}
DIFFERENCES = OF_DATASETS | {
    "left": _name,
    "right": _name,
    "dataset_names": lambda value: isinstance(value, list) and len(value) > 0 and all(map(_name, value)),
    "largest_difference": _number,
    "higher_is_better": _true_or_false,
    "measure": (_nothing, _name),
    "direction_known": _true_or_false,
    "transform": (_nothing, _one_of("log", "rope")),
    "?ropes": (_nothing, [_positive]),
    "median_score": (_nothing, [_number]),
    "n_scores": (_nothing, [lambda value: _whole(value) and value >= 1]),
    "?crossed": (_nothing, [_two(lambda value: _whole(value) and value >= 1)]),
    "score_mean": (_nothing, [_two(_number)]),
    "score_standard_deviation": (_nothing, [_two(_number)]),
    "?covariates": {"names": [_name], "values": [[_finite]]},
    "?runs": OF_RUNS,
    "?two_level": OF_TWO_LEVELS,
    "?counts": [_three(_whole)],
    "notes": [NOTE],
}
ROPE = {"lower": _number, "upper": _number}
DISTRIBUTION = {
    "distribution": _one_of("normal", "half_normal", "half_student_t"),
    "?mean": _finite,
    "?sd": _positive,
    "?scale": _positive,
    "?nu": _positive,
}
PRIORS = {
    "population": _one_of("student_t", "gaussian"),
    "delta0_bound": (_nothing, _positive),
    "sigma_upper": _positive,
    "sigma0_upper": _positive,
    "nu_lower": _not_negative,
    "alpha": (_positive, _two(_positive)),
    "beta": (_positive, _two(_positive)),
    "?delta0": (_nothing, DISTRIBUTION),
    "?sigma0": (_nothing, DISTRIBUTION),
}
OF_A_MIXTURE = {
    "population": _one_of("mixture"),
    "sigma_upper": _positive,
    "concentration": _two(_positive),
}
AXIS = {"lower": _finite, "upper": _finite, "count": _whole}
SETTINGS = {
    "chains": _whole,
    "warmup": _whole,
    "draws": _whole,
    "seed": _whole,
    "adapt_delta": _number,
    "progress": _true_or_false,
}
ENGINE = {"engine_name": _one_of(*ENGINES), "engine_version": _text}
KNOWN = {
    "rope": ROPE,
    "most_probable": _three(_probability),
    "expected": _three(_probability),
    "positive": _probability,
    "errors": dict.fromkeys(QUANTITIES, lambda value: _number(value) and value >= 0),
}
INTEGRATION = {
    "refinements": _whole,
    "problem": {
        "mean": [_finite],
        "sum_of_squares": [_not_negative],
        "n": [_positive],
        "rho": [_correlation],
        "sigma_upper": _positive,
        "delta0_bound": _positive,
        "sigma0_upper": _positive,
        "priors": PRIORS,
        "log_sigma0": _true_or_false,
        "?counts": [_three(_whole)],
        "?delta0_prior": DISTRIBUTION,
        "?sigma0_prior": DISTRIBUTION,
    },
    "support": {"nu": _two(_finite), "lower": [_finite], "upper": [_finite]},
    "axes": lambda value: (
        isinstance(value, list) and len(value) == 2 and not any(_differs(axis, AXIS) for axis in value)
    ),
    "delta0_axis": (
        AXIS | {"stretched": lambda value: value is False},
        AXIS | {"stretched": lambda value: value is True, "places": [_finite], "widths": [_positive]},
    ),
    "centre": [[_finite]],
    "log_scale": [[_finite]],
    "log_likelihood": [[[_number]]],
    "fineness": lambda value: _three(_positive)(value) and prod(value) <= FINEST,
    "?nu_splines": _true_or_false,
    "?beyond": _not_negative,
    "known": (_nothing, KNOWN),
}
INTEGRATED = ENGINE | {
    "kind": _one_of("integrated"),
    "integration": INTEGRATION,
    "unit": _positive,
    "integration_error": _number,
    "settings": SETTINGS,
    "keep": _one_of("all", "population"),
}
DIAGNOSTICS = {
    "chains": _whole,
    "draws": _whole,
    "r_hat": _number,
    "ess_bulk": _number,
    "ess_tail": _number,
    "worst": {"r_hat": _text, "ess_bulk": _text, "ess_tail": _text},
    "divergences": _whole,
    "tree_depth_saturated": _whole,
    "e_bfmi": _number,
    "allowed_divergences": _number,
}
ATTEMPT = {
    "purpose": _text,
    "centred": _whole,
    "noncentred": _whole,
    "warmup": _whole,
    "draws": _whole,
    "adapt_delta": _number,
    "failures": [_text],
}
SAMPLED = ENGINE | {
    "kind": _one_of("sampled", "regressed"),
    "diagnostics": DIAGNOSTICS,
    "attempts": lambda value: (
        isinstance(value, list) and len(value) > 0 and not any(_differs(attempt, ATTEMPT) for attempt in value)
    ),
    "settings": SETTINGS,
}
QUANTITY = {
    "name": _one_of(*QUANTITIES, "delta0_mean", "sigma0_median", "nu_median"),
    "integral": _number,
    "error": _number,
    "draws": _number,
    "monte_carlo_error": _number,
}
VERIFIED = {
    "kind": _one_of("verified"),
    "integrated": INTEGRATED,
    "sampled": SAMPLED | {"kind": _one_of("sampled")},
    "verification": {"quantities": [QUANTITY], "n_draws": _whole},
}
MIXED = {
    "kind": _one_of("mixed"),
    "priors": OF_A_MIXTURE,
    "diagnostics": {name: DIAGNOSTICS[name] for name in ("chains", "draws", "r_hat", "ess_bulk", "ess_tail", "worst")},
    "runs": [{"purpose": _text, "warmup": _whole, "draws": _whole, "sweeps": _whole, "failures": [_text]}],
    "settings": SETTINGS,
    "keep": _one_of("all", "population"),
    "engine_name": _one_of(MIXTURE.name),
    "engine_version": _text,
}
EXACT = {"kind": _one_of("exact"), "settings": SETTINGS}
FIT = {
    "differences": DIFFERENCES,
    "rope": ROPE,
    "priors": (PRIORS, OF_A_MIXTURE),
    "posterior": (INTEGRATED, SAMPLED, VERIFIED, MIXED, EXACT),
    "fit_notes": [NOTE],
}


def _differs(value: Any, pattern: Any) -> bool:
    try:
        _compare(value, pattern, "")
    except ValueError:
        return True
    return False
