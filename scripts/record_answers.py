"""Records what the package answers, and compares two records: a change of its inside must change no answer.

    python scripts/record_answers.py record OUT.json
    python scripts/record_answers.py compare BEFORE.json AFTER.json

A record is a flat, sorted JSON file from keys such as "closed form/uci/nbc, hnb/sign_test/pvalue" to answers. Floats are
written by ``float.hex``, so records are compared to the last bit; long arrays by their SHA-256. Of text only names,
statuses and verdicts are recorded, never sentences; where something raises, the answer is the name of the exception's class.

Answers are kept under one spelling whatever an attribute, a column or an argument is called: see `NAMES`, `COLUMNS`,
`ARGUMENTS` and `VALUES`, where other spellings are added.

``HIERCOMP_UCI54`` is the path of the UCI scores (by default ``../shared/data/uci54_accuracy.csv.gz``) and
``HIERCOMP_REAL_FILES`` a folder of files that other tools wrote (``../shared/data/real_files``), both relative to the
repository; what is not there is left out. Recording takes about four minutes of one core.
"""

from __future__ import annotations

# ruff: noqa: E402
import os

for library in ("OPENBLAS", "OMP", "MKL"):  # before NumPy is imported: sums then have one order
    os.environ[f"{library}_NUM_THREADS"] = "1"

import gzip
import hashlib
import importlib
import inspect
import json
import math
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hiercomp as hc

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "tests/data/importers"
UCI54 = ROOT / os.environ.get("HIERCOMP_UCI54", "../shared/data/uci54_accuracy.csv.gz")
REAL_FILES = ROOT / os.environ.get("HIERCOMP_REAL_FILES", "../shared/data/real_files")

# The name of an answer in the record, and the attributes that may hold it, the first that there is
NAMES: dict[str, tuple[str, ...]] = {
    "p_left": ("p_left", "left"),
    "p_rope": ("p_rope", "rope"),
    "p_right": ("p_right", "right"),
    "p_tie": ("p_tie", "tie"),
    "expected_left": ("expected_left", "mean_left"),
    "expected_rope": ("expected_rope", "mean_rope"),
    "expected_right": ("expected_right", "mean_right"),
    "p_positive": ("p_positive", "positive"),
    "pvalue": ("pvalue", "p"),
    "adjusted_pvalue": ("adjusted_pvalue", "adjusted_p", "pvalue_adjusted"),
    "f_pvalue": ("f_pvalue", "f_p"),
    "draws": ("n_draws", "draws"),
    "errors": ("errors",),
    "statistic": ("statistic",),
    "df": ("df",),
    "f_statistic": ("f_statistic",),
    "f_df": ("f_df",),
    "mean": ("mean",),
    "scale": ("scale",),
    "mean_ranks": ("mean_ranks",),
    "critical_difference": ("critical_difference",),
    "majority": ("majority",),
    "joint": ("joint",),
    "regions": ("regions",),
    "pmf": ("pmf",),
    "cdf": ("cdf",),
    "sf": ("sf",),
    "left_wins": ("left_wins",),
    "right_wins": ("right_wins",),
    "ties": ("n_ties", "ties"),
    "agreement": ("agreement",),
    "pairwise": ("pairwise",),
    "outcomes": ("outcomes",),
    "type_one_error": ("type_one_error",),
    "calibratable": ("calibratable",),
    "standardised_means": ("standardised_means",),
}

# A column of numbers in the record, and what it may be called in a frame
COLUMNS = {
    "left": "p_left",
    "rope": "p_rope",
    "right": "p_right",
    "mean_left": "expected_left",
    "mean_rope": "expected_rope",
    "mean_right": "expected_right",
    "positive": "p_positive",
    "p": "pvalue",
    "adjusted_p": "adjusted_pvalue",
    "pvalue_adjusted": "adjusted_pvalue",
    "datasets": "n_datasets",
    "probability_left": "p_left",
    "probability_rope": "p_rope",
    "probability_right": "p_right",
    "probability_best": "p_best",
    "none": "p_none",
    "undecided": "p_undecided",
    "failed": "p_failed",
    **{
        f"{outcome}_{end}": f"p_{outcome}_{end}"
        for outcome in ("left", "rope", "right", "none", "undecided", "failed")
        for end in ("lower", "upper")
    },
    "runs": "n_runs",
    "folds": "n_folds",
    "scores": "n_places",
    "missing": "n_missing",
    "constant_pairs": "n_constant_pairs",
    "lowest": "lowest_score",
    "highest": "highest_score",
}

# Arguments as they are called below, and what they may be called instead
ARGUMENTS = {
    "datasets": ("dataset_names", "n_datasets", "names"),
    "runs": ("n_runs",),
    "folds": ("n_folds",),
    "draws": ("n_draws",),
    "simulations": ("n_simulations",),
}

# Words that stand for the same answer
VALUES: dict[str, str] = {}

LONGEST = 300  # values of a frame or an array that are recorded one by one
KEEL_PAIRS = (
    ("naive_bayes", "decision_tree"),
    ("random_forest", "gradient_boosting"),
    ("nearest_neighbours", "logistic_regression"),
)
UCI_PAIRS = (("nbc", "hnb"), ("j48", "j48gr"), ("nbc", "j48"))

record: dict[str, str | int | bool | None] = {}


# One value, one key


def first_of(thing: Any, *names: str) -> Any:
    """The first attribute of these names that there is; of a method what it returns."""
    for name in names:
        if hasattr(thing, name):
            value = getattr(thing, name)
            return value() if callable(value) else value
    raise AttributeError(f"{type(thing).__name__} has none of {', '.join(names)}")


def public(name: str) -> Any:
    """A public name, of the package itself or of the module of importers or of simulations that it offers."""
    for home in (hc, *(getattr(hc, room, None) for room in ("importers", "simulate"))):
        if hasattr(home, name):
            return getattr(home, name)
    raise AttributeError(name)


def call(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Calls a function with the keywords that it knows."""
    known = inspect.signature(function).parameters
    for name, others in ARGUMENTS.items():
        if name in options and name not in known:
            spelling = next((other for other in others if other in known), name)
            options[spelling] = options.pop(name)
    return function(*given, **options)


def plain(value: Any) -> str | int | bool | None:
    """A single answer as JSON holds it."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    return VALUES.get(str(value), str(value))


def digest(values: Any) -> str:
    """Of many answers."""
    lines = "\n".join(str(plain(value)) for value in np.asarray(values, dtype=object).ravel())
    return f"{np.shape(values)} {hashlib.sha256(lines.encode()).hexdigest()}"


def put(key: str, value: Any) -> None:
    """Records an answer of any shape under a key; what has parts, under a key for each."""
    if isinstance(value, (pd.DataFrame, pd.Series)):
        put_frame(key, value.to_frame() if isinstance(value, pd.Series) else value)
    elif is_dataclass(value) and not isinstance(value, type):
        put_fields(key, value)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            put(f"{key}/{spelled(str(name))}", part)
    elif isinstance(value, (list, tuple, np.ndarray)) and np.ndim(np.asarray(value, dtype=object)) > 0:
        values = np.asarray(value, dtype=object).ravel()
        if len(values) > LONGEST:
            put_once(key, digest(value))
            return
        put_once(f"{key}/length", len(values))
        for number, part in enumerate(values):
            put_once(f"{key}/{number}", plain(part))
    else:
        put_once(key, plain(value))


def put_once(key: str, value: str | int | bool | None) -> None:
    if key in record:
        raise KeyError(f"the key {key!r} is used twice")
    record[key] = value


def spelled(name: str) -> str:
    return COLUMNS.get(name, name)


def put_fields(key: str, thing: Any) -> None:
    """Records the attributes of `NAMES` that a result has."""
    for name, spellings in NAMES.items():
        if any(hasattr(thing, spelling) for spelling in spellings):
            put(f"{key}/{name}", first_of(thing, *spellings))


def is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def put_frame(key: str, frame: pd.DataFrame, *, text: bool = False) -> None:
    """Records the columns of numbers of a frame, cell by cell under the labels of their rows; those of text if asked for."""
    labels = [str(label) for label in frame.index]
    if len(set(labels)) < len(labels):
        labels = [str(number) for number in range(len(frame))]
    put_once(f"{key}/rows", len(frame))
    for number, name in enumerate(frame.columns):
        column = frame.iloc[:, number]
        if not (text or is_numeric(column)):
            continue
        title = spelled(str(name)) if is_numeric(column) else str(name)
        if len(column) > LONGEST:
            put_once(f"{key}/{title}", digest(column.tolist()))
            continue
        for label, value in zip(labels, column.tolist(), strict=True):
            put_once(f"{key}/{title}/{label}", plain(value))


def answer(key: str, function: Callable[[], Any]) -> Any:
    """Records what a function returns under a key, or the class of what it raises; and returns it."""
    try:
        value = function()
        put(key, value)
    except Exception as error:
        put_once(f"{key}/raises", type(error).__name__)
        return None
    return value


def attempt(key: str, function: Callable[[], Any]) -> Any:
    """What a function returns, None where it raises: the class of that is recorded."""
    try:
        return function()
    except Exception as error:
        put_once(f"{key}/raises", type(error).__name__)
        return None


# The tests without the model


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Tidy tables of scores by name: bundled, UCI, and those of the tests that a comparison takes."""
    yield "keel", hc.load_scores("keel")
    if UCI54.is_file():
        yield "uci", pd.read_csv(UCI54).rename(columns={"accuracy": "score"})
    for name, path, options in sample_files():
        frame = attempt(f"tables/{name}", lambda path=path, options=options: hc.read_scores(path, **options))
        if frame is not None:
            yield name, frame


PAIR_TESTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("correlated_t_test", "correlated_t_test", {}),
    ("correlated_t_test, rope 0.02", "correlated_t_test", {"rope": 0.02}),
    ("correlated_t_test, rho 0", "correlated_t_test", {"rho": 0.0}),
    ("corrected_t_test", "corrected_t_test", {}),
    ("corrected_t_test, greater", "corrected_t_test", {"alternative": "greater"}),
    ("paired_t_test", "paired_t_test", {}),
    ("welch_t_test", "welch_t_test", {"alternative": "less"}),
    ("mann_whitney", "mann_whitney", {}),
    ("sign_test", "sign_test", {}),
    ("sign_test, drop", "sign_test", {"zeros": "drop"}),
    ("signed_rank_test", "signed_rank_test", {}),
    ("signed_rank_test, wilcox", "signed_rank_test", {"zero_method": "wilcox", "correction": True}),
    ("signed_rank_test, pratt", "signed_rank_test", {"zero_method": "pratt", "alternative": "greater"}),
    ("bayesian_sign_test", "bayesian_sign_test", {"draws": 5000}),
    ("bayesian_sign_test, left", "bayesian_sign_test", {"draws": 5000, "place": "left", "strength": 0.5}),
    ("bayesian_signed_rank_test", "bayesian_signed_rank_test", {"draws": 5000}),
    ("poisson_binomial_test", "poisson_binomial_test", {}),
    ("poisson_binomial_test, sampling", "poisson_binomial_test", {"method": "sampling", "draws": 5000}),
    ("poisson_binomial_test, rope", "poisson_binomial_test", {"rope": 0.01}),
    (
        "poisson_binomial_test, rope, sampling",
        "poisson_binomial_test",
        {"rope": 0.01, "method": "sampling", "draws": 5000},
    ),
    ("five_by_two_cv_t", "five_by_two_cv_t", {}),
    ("five_by_two_cv_f", "five_by_two_cv_f", {}),
    ("mcnemar", "mcnemar", {}),
)
SCHEMES = (
    "use all data",
    "folds",
    "folds averaged variance",
    "folds averaged T",
    "runs",
    "runs averaged variance",
    "runs averaged T",
    "sorted runs",
    "sorted runs averaged variance",
    "sorted runs averaged T",
    "k-fold cv",
    "resampling",
    "corrected resampling",
)


def of_module(name: str) -> Any:
    """A name that stood at the top level once, and now in its module only."""
    if hasattr(hc, name):
        return getattr(hc, name)
    module = {"calibrate": "calibrated"}.get(name, name)
    return getattr(importlib.import_module(f"hiercomp.closed_form.one_dataset.{module}"), name)


def record_closed_form() -> None:
    for name, table in tables():
        algorithms = table["algorithm"].astype(str).unique().tolist()
        for left, right in list(combinations(algorithms, 2))[:15]:
            key = f"closed form/{name}/{left}, {right}"
            for title, test, options in PAIR_TESTS:
                names = {"left": left, "right": right}
                answer(f"{key}/{title}", lambda n=test, t=table, o=options | names: call(getattr(hc, n), t, **o))
            if (left, right) in (*KEEL_PAIRS, *UCI_PAIRS):
                for scheme in SCHEMES:
                    names = {"left": left, "right": right, "scheme": scheme}
                    answer(f"{key}/calibrated_test, {scheme}", lambda t=table, o=names: hc.calibrated_test(t, **o))
        many = f"closed form/{name}/all"
        answer(f"{many}/friedman_test", lambda t=table: hc.friedman_test(t))
        nemenyi = answer(f"{many}/nemenyi_test", lambda t=table: hc.nemenyi_test(t))
        if nemenyi is not None:
            answer(f"{many}/nemenyi_test/groups", lambda n=nemenyi: sorted(", ".join(group) for group in n.groups()))
        for method in ("wilcoxon", "conover", "siegel", "miller"):
            for adjust in ("holm", "shaffer", "fdr_bh", "none"):
                options = {"method": method, "adjust": adjust}
                answer(f"{many}/posthoc_test, {method}, {adjust}", lambda t=table, o=options: hc.posthoc_test(t, **o))
    record_arrays()


def record_arrays() -> None:
    """The tests on arrays: layouts that no table here has, single data sets, constant differences."""
    generator = np.random.default_rng(7)
    samples = {
        "five": np.array([0.02, 0.03, 0.01, 0.04, 0.02]),
        "constant": np.full(10, 0.02),
        "zeros": np.zeros(10),
        "sets": generator.normal(0.01, 0.03, (6, 10)),
        "means": np.array([0.02, -0.01, 0.0, 0.03, 0.05, 0.0, -0.02, 0.01]),
        "nan": np.array([0.1, math.nan, 0.2]),
        "empty": np.array([]),
    }
    for name, sample in samples.items():
        for title, test, options in PAIR_TESTS:
            extra = (
                {} if "rho" in options or "rho" not in inspect.signature(getattr(hc, test)).parameters else {"rho": 0.1}
            )
            answer(
                f"closed form/{name}/{title}", lambda n=test, s=sample, o=options | extra: call(getattr(hc, n), s, **o)
            )
    five = generator.normal(0.01, 0.03, (5, 2))
    answer("closed form/5x2/five_by_two_cv_t", lambda: hc.five_by_two_cv_t(five))
    answer("closed form/5x2/five_by_two_cv_f", lambda: hc.five_by_two_cv_f(five))
    for method in ("exact", "chi2", "chi2_corrected"):
        answer(f"closed form/mcnemar/{method}", lambda m=method: hc.mcnemar([[40, 14], [3, 6]], method=m))
    right = generator.integers(0, 2, (2, 60))
    answer("closed form/mcnemar/cases", lambda: hc.mcnemar(*right))
    left_scores, right_scores = generator.uniform(0.6, 0.9, (2, 12))
    for test in ("paired_t_test", "welch_t_test", "mann_whitney"):
        answer(f"closed form/two arrays/{test}", lambda n=test: getattr(hc, n)(left_scores, right_scores))
    answer("closed form/replicability", lambda: of_module("replicability")([[1, 1, 0], [0, 0, 0], [-1, 1, 1]]))
    matrix = generator.uniform(0.6, 0.9, (12, 5))
    answer("closed form/matrix/friedman_test", lambda: hc.friedman_test(matrix))
    answer("closed form/matrix/nemenyi_test", lambda: hc.nemenyi_test(matrix))

    def calibrated() -> Any:
        simulator = lambda generator, runs, folds: generator.normal(size=(runs, folds))  # noqa: E731
        options = {"runs": 4, "folds": 5, "simulations": 200, "simulator": simulator, "n_jobs": 1, "progress": False}
        calibrate = of_module("calibrate")
        return {scheme: call(calibrate, scheme, **options) for scheme in SCHEMES[:6]}

    answer("closed form/calibrate", calibrated)


# The model


def pairs() -> Iterator[tuple[str, pd.DataFrame, str, str]]:
    """Six real pairs; three where the UCI scores are not here."""
    keel = hc.load_scores("keel")
    for left, right in KEEL_PAIRS:
        yield f"keel, {left}, {right}", keel, left, right
    if UCI54.is_file():
        uci = pd.read_csv(UCI54).rename(columns={"accuracy": "score"})
        for left, right in UCI_PAIRS:
            yield f"uci, {left}, {right}", uci, left, right


FITS: dict[str, dict[str, Any]] = {
    "quadrature": {"engine": "quadrature"},
    "embedded": {
        "engine": "embedded",
        "chains": 2,
        "warmup": 300,
        "draws": 300,
        "seed": 3,
        "monte_carlo_error": None,
    },
}


def record_model() -> None:
    for number, (name, table, left, right) in enumerate(pairs()):
        for engine, options in FITS.items():
            record_fit(f"model/{name}/{engine}", table, left, right, options)
        if number == 0:
            record_variants(f"model/{name}", table, left, right)


def fitted(table: Any, left: str | None, right: str | None, options: Mapping[str, Any], **given: Any) -> Any:
    return hc.HierarchicalComparison(table, left, right, rope=given.pop("rope", 0.01), **given).fit(
        progress=False, **options
    )


def record_fit(key: str, table: Any, left: str, right: str, options: Mapping[str, Any]) -> None:
    result = attempt(key, lambda: fitted(table, left, right, options))
    if result is None:
        return
    record_result(key, result)
    answer(f"{key}/datasets", result.datasets)
    answer(f"{key}/rope_curve", result.rope_curve)
    answer(f"{key}/with_rope", lambda: result.with_rope(0.02).next_dataset)
    answer(f"{key}/with_rope, asymmetric", lambda: result.with_rope((-0.005, 0.02)).next_dataset)
    if "quadrature" in key:
        influence = attempt(f"{key}/influence", lambda: result.influence())
    else:
        influence = None  # its fits without a data set would sample again
    if influence is not None:
        answer(f"{key}/influence", influence.to_frame)
    table_of_tests = attempt(f"{key}/tests", lambda: first_of(result, "closed_form_tests", "closed_form", "baselines"))
    if table_of_tests is not None:
        answer(f"{key}/tests", table_of_tests.to_frame)
    for name in ("delta0", "sigma0", "nu", "delta", "sigma"):
        answer(f"{key}/draws of {name}", lambda n=name: digest(result.draws(n).tolist()))
    answer(f"{key}/next_differences", lambda: digest(result.next_differences().tolist()))
    answer(f"{key}/replicated_means", lambda: digest(result.replicated_means().tolist()))


def record_result(key: str, result: Any) -> None:
    """What every fit answers at once."""
    answer(f"{key}/status", lambda: result.status)
    answer(f"{key}/next_dataset", lambda: result.next_dataset)
    answer(f"{key}/population", result.population)
    answer(f"{key}/expected_difference", lambda: first_of(result, "expected_difference"))
    answer(f"{key}/log_marginal_likelihood", lambda: first_of(result, "log_marginal_likelihood"))
    answer(f"{key}/number of notes", lambda: len(result.notes))
    for alpha in (0.05, 0.01, 0.3):
        answer(f"{key}/decision, {alpha}/region", lambda a=alpha: result.decision(a).region)
        answer(f"{key}/decision, {alpha}/probability", lambda a=alpha: result.decision(a).probability)
    for number, odds in enumerate(attempt(f"{key}/odds", result.odds) or ()):
        for name, value in asdict(odds).items():
            answer(f"{key}/odds/{number}/{name}", lambda v=value: v)
    numbers = attempt(f"{key}/diagnostics", lambda: dict(result.diagnostics.to_dict()))
    if numbers is not None:
        numbers["failures"] = len(numbers.get("failures", ()))
        answer(f"{key}/diagnostics", lambda: numbers)


def record_variants(key: str, table: pd.DataFrame, left: str, right: str) -> None:
    """Other priors, correlations and directions; sensitivity; the options of a fit."""
    quick = {"engine": "quadrature"}
    for name in ("juarez_steel", "kruschke", "gaussian"):
        result = attempt(
            f"{key}/{name}", lambda n=name: fitted(table, left, right, quick, priors=getattr(hc.Priors, n)())
        )
        if result is not None:
            record_result(f"{key}/{name}", result)
    changes: dict[str, dict[str, Any]] = {
        "rho 0.3": {"rho": 0.3},
        "loss": {"higher_is_better": False},
        "rope 0": {"rope": 0},
        "asymmetric": {"rope": (-0.002, 0.02)},
    }
    for name, change in changes.items():
        result = attempt(f"{key}/{name}", lambda c=change: fitted(table, left, right, quick, **c))
        if result is not None:
            record_result(f"{key}/{name}", result)
    result = attempt(f"{key}/sensitivity", lambda: fitted(table, left, right, quick))
    if result is not None:
        sensitivity = attempt(f"{key}/sensitivity", lambda: result.sensitivity(n_jobs=1))
        for number, row in enumerate(() if sensitivity is None else sensitivity.variants):
            answer(f"{key}/sensitivity/{number}", lambda r=row: r)
            for name in ("error", "verdict", "status"):
                answer(f"{key}/sensitivity/{number}/{name}", lambda r=row, n=name: getattr(r, n))
    few = table[table["dataset"].isin(table["dataset"].unique()[:6])]
    defaults = attempt(f"{key}/embedded, defaults", lambda: fitted(few, left, right, {"engine": "embedded"}))
    if defaults is not None:
        record_result(f"{key}/embedded, defaults", defaults)
    short = {"engine": "embedded", "chains": 2, "warmup": 200, "draws": 200, "seed": 11, "monte_carlo_error": None}
    result = attempt(f"{key}/embedded, short", lambda: fitted(few, left, right, short))
    if result is not None:
        record_result(f"{key}/embedded, short", result)
    same = pd.concat([few[few["algorithm"] == left], few[few["algorithm"] == left].assign(algorithm="twin")])
    result = attempt(f"{key}/identical", lambda: fitted(same, left, "twin", short))
    if result is not None:
        record_result(f"{key}/identical", result)
    scores = np.random.default_rng(5).uniform(0.7, 0.8, (2, 7, 10))
    result = attempt(
        f"{key}/from_arrays",
        lambda: hc.HierarchicalComparison.from_arrays(scores[0], scores[1], rope=0.01).fit(
            "quadrature", progress=False
        ),
    )
    if result is not None:
        record_result(f"{key}/from_arrays", result)


def record_tournament() -> None:
    keel = hc.load_scores("keel")
    options = {"rope": 0.01, "n_jobs": 1, "progress": False}
    short = {"chains": 2, "warmup": 300, "draws": 300, "monte_carlo_error": None}
    three = keel[keel["algorithm"].isin(["naive_bayes", "decision_tree", "random_forest"])]
    some = three[three["dataset"].isin(keel["dataset"].unique()[:15])]
    cases: dict[str, Callable[[], Any]] = {
        "all": lambda: hc.compare_all(keel, engine="quadrature", **options),
        "baseline": lambda: hc.compare_all(three, engine="quadrature", baseline="naive_bayes", **options),
        "embedded": lambda: hc.compare_all(some, engine="embedded", seed=2, **options, **short),
    }
    for name, function in cases.items():
        key = f"tournament/{name}"
        result = attempt(key, function)
        if result is None:
            continue
        for table in ("better", "equivalent", "expected_difference", "odds", "to_frame"):
            answer(f"{key}/{table}", lambda r=result, t=table: first_of(r, t))
        try:
            put_frame(f"{key}/verdicts", result.verdicts(), text=True)
        except Exception as error:
            put_once(f"{key}/verdicts/raises", type(error).__name__)
        answer(f"{key}/ranking", lambda r=result: call(r.ranking, draws=2000, seed=4))
        answer(f"{key}/ranking, default", lambda r=result: r.ranking())
        for groups in ("order", "cliques", "equivalent_groups"):
            answer(f"{key}/{groups}", lambda r=result, g=groups: [str(group) for group in first_of(r, g)])
        answer(f"{key}/status", lambda r=result: r.status)


def record_plan() -> None:
    options = {"delta0": 0.02, "sigma0": 0.02, "standard_deviation": 0.04, "n_jobs": 1, "progress": False}
    counts = {"datasets": [6, 12], "runs": 2, "simulations": 3, "seed": 1}
    result = attempt("plan", lambda: call(hc.plan, **options, **counts))
    if result is not None:
        answer("plan", result.to_frame)
        answer("plan/smallest", lambda: result.smallest("right", 0.3))


def record_crossval() -> None:
    from sklearn.datasets import load_iris, load_wine
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    data = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    learners = {
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(),
        "forest": RandomForestClassifier(n_estimators=5),
    }
    splits: dict[str, dict[str, Any]] = {
        "repeated": {"cv": RepeatedStratifiedKFold(n_splits=5, n_repeats=2)},
        "shuffle": {"cv": ShuffleSplit(n_splits=4, test_size=0.25)},
        "number": {"cv": 3, "scoring": ["accuracy", "neg_log_loss"]},
    }
    for name, options in splits.items():
        key = f"crossval/{name}"
        frame = attempt(
            key, lambda o=options: hc.cross_validate_all(learners, data, seed=6, n_jobs=1, progress=False, **o)
        )
        if frame is not None:
            record_scores(key, frame.drop(columns=[name for name in frame if str(name).endswith("_time")]))


# Files


def sample_files() -> list[tuple[str, Path, dict[str, Any]]]:
    """The samples of the tests with the options that their formats need."""
    options: dict[str, dict[str, Any]] = {
        "weka.arff": {"fraction": True},
        "weka_splits.csv": {"fraction": True},
        "mlr3.csv": {"measure": "classif.acc", "folds": 2},
        "tidymodels.csv": {"measure": "accuracy"},
        "grid_search.csv": {"dataset": "iris", "folds": 3},
        "lm_eval": {"measure": "acc"},
    }
    return [(path.name, path, options.get(path.name, {})) for path in sorted(SAMPLES.iterdir())]


REAL_OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "mlflow/search_runs.csv": ({"measure": "accuracy"},),
    "mlr3/mlr3_repcv5x3.csv": ({"measure": "classif.acc", "folds": 5}, {"measure": "classif.ce", "folds": 5}),
    "tidymodels/wfset_iris.csv": ({"measure": "accuracy"}, {"measure": "roc_auc", "dataset": "iris"}),
    "tidymodels/fit_resamples.csv": ({"measure": "accuracy", "dataset": "d", "algorithm": "a"},),
    "tidymodels/tune_grid.csv": ({"measure": "accuracy", "dataset": "d"}, {"dataset": "d", "algorithm": ".config"}),
    "weka/w36_cv_j48.arff": ({"fraction": True}, {"measure": "Area_under_ROC"}),
    "weka/w39_regr.arff": ({"measure": "Root_mean_squared_error"},),
    "sklearn/grid_all.csv": ({"dataset": "iris", "folds": 5}, {"dataset": "iris", "rho": 0.2}),
    "sklearn/halving.csv": ({"dataset": "iris", "folds": 5},),
    "lm_eval/s1": ({"measure": "acc"},),
    "lm_eval/s1/org__big-7b": ({"measure": "acc"},),
}


def record_scores(key: str, frame: pd.DataFrame) -> None:
    """A tidy table: its columns in order, its format, how much was noted, and its values."""
    put_once(f"{key}/columns", ", ".join(map(str, frame.columns)))
    put_once(f"{key}/format", str(frame.attrs.get("format")))
    put_once(f"{key}/number of notes", len(frame.attrs.get("notes", ())))
    plain_frame = frame.reset_index(drop=True)
    put_once(f"{key}/rows", len(plain_frame))
    for name in plain_frame:
        values = plain_frame[name].tolist()
        put_once(f"{key}/{name}/all", digest([plain(value) for value in values]))
        for number in (0, len(values) // 2, len(values) - 1):
            record[f"{key}/{name}/{number}"] = plain(values[number]) if values else None
    names = [name for name in ("dataset", "algorithm") if name in plain_frame]
    if len(names) == 2 and "score" in plain_frame and is_numeric(plain_frame["score"]):
        for group, scores in plain_frame.groupby(names, sort=True, observed=True)["score"]:
            put_once(f"{key}/sum of {group[0]}, {group[1]}", plain(math.fsum(map(float, scores))))


def record_file(key: str, path: Path, options: Mapping[str, Any]) -> None:
    """What a file is read as, and what a check says of it."""
    frame = attempt(f"{key}/read", lambda: hc.read_scores(path, **options))
    if frame is not None:
        record_scores(f"{key}/read", frame)
    record_check(f"{key}/check", path, options)


def record_check(key: str, scores: Any, options: Mapping[str, Any]) -> None:
    """How many problems a check finds, of which kind, on which lines and with which names of the table."""
    check = attempt(key, lambda: hc.check_scores(scores, **options))
    if check is None:
        return
    cells = cells_of(scores)
    found = []
    for problem in check.problems:
        lines = ", ".join(re.findall(r"\blines? (\d+)", problem.message))
        quoted = sorted({name for name in re.findall(r"'([^']+)'", problem.message) if name in cells})
        found.append(f"{problem.severity}; lines: {lines}; names: {', '.join(quoted)}")
    put(f"{key}/problems", sorted(found))
    put_once(f"{key}/exit code", plain(check.exit_code))
    put_once(f"{key}/number of errors", len(check.errors))
    put_once(f"{key}/number of warnings", len(check.warnings))
    for name in ("format", "scale", "loss", "rows"):
        answer(f"{key}/{name}", lambda n=name: first_of(check, n, f"n_{n}"))
    answer(f"{key}/algorithms", lambda: list(check.algorithms))
    answer(f"{key}/table", check.to_frame)
    names = list(first_of(check, "dataset_names", "datasets"))
    missing = first_of(check, "n_missing", "missing")
    answer(f"{key}/missing", lambda: pd.DataFrame(missing, index=names, columns=list(check.algorithms)))


def cells_of(scores: Any) -> set[str]:
    """Names and cells of a table or a text file, by which words of a message are told from its places."""
    if isinstance(scores, pd.DataFrame):
        return {str(name) for name in scores.columns} | {str(v) for name in scores for v in scores[name].unique()}
    path = Path(scores) if isinstance(scores, (str, Path)) else None
    if path is None or not path.is_file() or path.stat().st_size > 5_000_000:
        return set()
    text = path.read_bytes().decode("latin-1")
    return {cell.strip().strip("\"'") for cell in re.split(r"[,;\t\n\r|]", text)}


HEADER = "dataset,algorithm,run,fold,score\n"


def sound_lines() -> list[str]:
    """Five data sets, two algorithms, four folds: forty rows, the first in line 2 of a file."""
    return [
        f"d{d},{a},1,{f},0.{8 * d + (30 + f * f % 5 if a == 'a' else 20 + 3 * f % 7)}"
        for d in range(5)
        for a in "ab"
        for f in range(1, 5)
    ]


def changed(**lines: str) -> str:
    """The sound file with some rows replaced, ``row7`` the seventh."""
    rows = sound_lines()
    for name, line in lines.items():
        rows[int(name.removeprefix("row"))] = line
    return HEADER + "\n".join(rows) + "\n"


def bad_files() -> dict[str, tuple[str, str | bytes, dict[str, Any]]]:
    """Files with errors put in by hand, by case: the file's name, its content and options."""
    sound = changed()
    lines = sound.splitlines()
    semicolons = sound.replace(",", ";").replace("0.", "0,")
    longer = HEADER + "".join(f'd{d},a,1,1,"0.5"x\n' for d in range(150))
    mlr3 = ["task_id,learner_id,resampling_id,iteration,classif.acc"]
    mlr3 += [f"t{t},{a},cv,{i},0.{40 + 7 * t + i * i}" for t in range(3) for a in "ab" for i in range(1, 4)]
    weka = ["Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Percent_correct"]
    weka += [f"{d},{r},1,weka.rules.{s},{50 + r * r}" for d in "ab" for r in range(1, 4) for s in ("A", "B")]
    wide = ["dataset,tree,bayes", *(f"d{d},0.{50 + d * d + f},0.{60 + f * f}" for d in range(5) for f in range(3))]
    arff = (SAMPLES / "weka.arff").read_text()
    plain_csv: dict[str, str | bytes] = {
        "sound": sound,
        "empty": "",
        "header only": HEADER,
        "header without end": HEADER.strip(),
        "pdf": b"%PDF-1.7\n%\xe2\xe3",
        "excel": b"PK\x03\x04rest",
        "png": b"\x89PNG\r\n\x1a\n\0\0",
        "hdf": b"\x89HDF\r\n\x1a\n\0\0",
        "mark": sound.encode("utf-8-sig"),
        "utf-16": sound.encode("utf-16"),
        "utf-16 without a mark": sound.encode("utf-16-le"),
        "half of utf-16": sound.encode("utf-16")[:-1],
        "latin-1": sound.replace("d3", "dé").encode("latin-1"),
        "mixed encodings": sound.replace("d1", "dé").encode() + "dü,a,1,1,0.5\n".encode("latin-1"),
        "nul": changed(row4="d0,b,1,1,0.1\x005"),
        "carriage returns": sound.replace("\n", "\r"),
        "windows": sound.replace("\n", "\r\n"),
        "mixed ends": "\r\n".join(lines[:9]) + "\r" + "\n".join(lines[9:]),
        "open quote": changed(row30='d3,b,1,3,"0.5'),
        "quote in the middle": changed(row6='d0,"b"c,1,3,0.15'),
        "semicolons": sound.replace(",", ";"),
        "semicolons and decimal commas": semicolons,
        "tabs": sound.replace(",", "\t"),
        "bars": sound.replace(",", "|"),
        "quoted decimal comma": changed(row5='d0,b,1,2,"0,26"'),
        "thousands": changed(row5='d0,b,1,2,"1,234"'),
        "percent in one": changed(row5="d0,b,1,2,26%"),
        "percent in all": HEADER + "".join(f"{line}%\n" for line in sound_lines()),
        "short row": changed(row9="d1,a"),
        "long row": changed(row3="d0,a,1,4,0.3,7"),
        "every row long": HEADER + "".join(f"{line},\n" for line in sound_lines()),
        "column twice": sound.replace("run,fold", "run,run"),
        "column missing": sound.replace("algorithm", "algoritm"),
        "data set NA": sound.replace("d1", "NA").replace("d2", "null"),
        "names like numbers": sound.replace("d1", "001").replace("d2", "1").replace("d3", "1e5").replace("d4", "True"),
        "names by space": sound.replace("d1", " d1").replace("d2", "d2 "),
        "names by form": sound.replace("d1,a", "cafe\u0301,a").replace("d1,b", "café,b"),
        "names by case": sound.replace("d1", "D0"),
        "cell twice": changed(row30=sound_lines()[29]),
        "row twice": sound + sound_lines()[7] + "\n",
        "fold of one": sound + "d1,a,1,5,0.5\n",
        "data set of one": sound + "d9,a,1,1,0.5\nd9,a,1,2,0.6\nd9,a,1,3,0.65\n",
        "unequal folds": sound + "d1,a,1,5,0.5\nd1,b,1,5,0.55\n",
        "empty score": changed(row5="d0,b,1,2,"),
        "empty name": changed(row20=" ,a,1,1,0.5"),
        "nan": changed(row5="d0,b,1,2,NaN"),
        "infinite": changed(row5="d0,b,1,2,inf"),
        "beyond": changed(row5="d0,b,1,2,1e999"),
        "words": changed(row5="d0,b,1,2,good"),
        "hexadecimal": changed(row5="d0,b,1,2,0x10"),
        "underscore": changed(row5="d0,b,1,2,1_0"),
        "full width": changed(row5="d0,b,1,2,１"),
        "unicode minus": changed(row5="d0,b,1,2,−0.1"),
        "no-break space": changed(row5="d0,b,1,2,\xa00.1"),
        "percentages": HEADER + "".join(line.replace("0.", "") + "\n" for line in sound_lines()),
        "mixed scales": HEADER + "".join((x.replace("0.", "") if "d1" in x else x) + "\n" for x in sound_lines()),
        "negative": sound.replace(",0.", ",-0."),
        "losses": sound.replace("score", "log_loss"),
        "identical": HEADER
        + "".join(f"d{d},{a},1,{f},0.{50 + f + d}\n" for d in range(5) for a in "ab" for f in range(4)),
        "constant differences": HEADER
        + "".join(f"d{d},{a},1,{f},0.{50 + f + d + (a == 'b')}\n" for d in range(5) for a in "ab" for f in range(4)),
        "one data set": HEADER + "\n".join(sound_lines()[:8]),
        "one algorithm": HEADER + "\n".join(line for line in sound_lines() if ",a," in line),
        "three data sets": HEADER + "\n".join(sound_lines()[:24]),
        "one fold": HEADER + "\n".join(line for line in sound_lines() if ",1,1,0." in line),
        "two folds": HEADER + "\n".join(line for line in sound_lines() if ",1,3," not in line and ",1,4," not in line),
        "no fold": "dataset,algorithm,score\n" + "\n".join(re.sub(r",1,\d,", ",", line) for line in sound_lines()),
        "fold in words": HEADER + "\n".join(re.sub(r",1,(\d),", r",1,f\1,", line) for line in sound_lines()),
        "long field": changed(row5="d0," + "x" * 200_000 + ",1,2,0.5"),
        "many columns": ",".join(map(str, range(20_000))) + "\n" + ",".join(["1"] * 20_000) + "\n",
        "control characters": sound.replace("d1,a", "\x1b[31mx,a").replace("d1,b", "\x1b[31mx,b"),
        "formula": sound.replace("d1", "=cmd|x"),
        "many errors": sound + longer.removeprefix(HEADER),
        "five errors": changed(
            row3="d0,a,1,4,0.3,7", row9="d1,a", row12='d1,b,1,1,"0,31"', row20=" ,a,1,1,0.5", row30=sound_lines()[29]
        ),
        "unclear": "alpha,beta\n1,2\n",
        "two separators": "a,b;c\n1,2;3\n",
        "two formats": "dataset,algorithm,score,run_id,metrics.accuracy\niris,a,0.5,x,0.5\n",
        "mlr3": "\n".join([*mlr3, "t0,a,cv,1,0.5", "t1,b,cv"]),
        "mlr3 sound": "\n".join(mlr3),
        "weka": "\n".join([weka[0], "a,1,1,weka.rules.A,?x", ",1,1,weka.rules.B,51", "a,2", *weka[4:]]),
        "weka averages": "\n".join(weka).replace("Percent_correct", "Avg_Percent_correct"),
        "wide": "\n".join([*wide, "d0,0.5,0.4,0.3", "d1"]),
        "wide words": "\n".join([*wide, "d0,x,0.4", "d1"]),
        "wide sound": "\n".join(wide),
    }
    files = {name: ("scores.csv", content, {}) for name, content in plain_csv.items()}
    others: dict[str, tuple[str, str | bytes, dict[str, Any]]] = {
        "latin-1, named": ("scores.csv", sound.replace("d3", "dé").encode("latin-1"), {"encoding": "latin-1"}),
        "german, named": ("scores.csv", semicolons, {"separator": ";", "decimal": ","}),
        "percent, named": ("scores.csv", plain_csv["percent in all"], {"percent": True}),
        "percent in one, named": ("scores.csv", plain_csv["percent in one"], {"percent": True}),
        "two separators, named": ("scores.csv", sound.replace("d1", "d;1"), {"separator": ","}),
        "columns, named": ("scores.csv", sound.replace("score", "auc"), {"score": "auc"}),
        "rho, named": ("scores.csv", plain_csv["no fold"], {"rho": 0.1}),
        "losses, named": ("scores.csv", plain_csv["losses"], {"higher_is_better": False}),
        "wide, named": ("scores.csv", plain_csv["wide"], {"format": "wide"}),
        "format, unknown": ("scores.csv", sound, {"format": "wekka"}),
        "option, unknown": ("scores.csv", sound, {"mesure": "x"}),
        "too large": ("scores.csv", sound, {"largest_bytes": 50}),
        "packed": ("scores.csv.gz", gzip.compress(sound.encode(), mtime=0), {}),
        "packed, cut": ("scores.csv.gz", gzip.compress(sound.encode() * 100, mtime=0)[:-9], {}),
        "packed, plain": ("scores.csv.gz", sound, {}),
        "parquet, plain": ("scores.parquet", sound, {}),
        "json, cut": ("cut.json", '{"results": {"a": ', {}),
        "json, deep": ("deep.json", '{"results": ' + "[" * 200_000, {}),
        "json, list": ("list.json", '{"results": [1, 2]}', {}),
        "json, other": ("other.json", '{"a": 1}', {}),
        "json, twice": ("twice.json", '{"results": {"a": {"acc": 1, "acc": 2}}}', {}),
        "json, large": ("large.json", '{"results": {"a": {"acc,none": 1' + "0" * 400 + "}}}", {}),
        "arff, nul": ("nul.arff", "@relation x\0\n", {}),
        "arff, latin-1": ("latin.arff", "@relation é\n".encode("latin-1"), {}),
        "arff, word for number": ("weka.arff", arff.replace("33.333333", "many", 1), {"fraction": True}),
        "arff, cut": ("weka.arff", arff[: 2 * len(arff) // 3], {"fraction": True}),
        "arff, no results": ("weka.arff", "@relation x\n@attribute a real\n@data\n1\n", {}),
    }
    return files | others


def bad_tables() -> dict[str, Any]:
    """Tables with errors put in by hand: six data sets, three algorithms, two runs of five folds."""
    places = pd.MultiIndex.from_product(
        [[f"d{number}" for number in range(6)], ["a", "b", "c"], [1, 2], [1, 2, 3, 4, 5]],
        names=["dataset", "algorithm", "run", "fold"],
    )
    scores = np.random.default_rng(3).uniform(0.6, 0.9, len(places))
    frame = pd.DataFrame({"score": scores}, index=places).reset_index()
    same = frame.assign(score=frame["score"].to_numpy())
    same.loc[same["algorithm"] == "b", "score"] = same.loc[same["algorithm"] == "a", "score"].to_numpy()
    loud = frame.assign(score=np.where(frame["dataset"] == "d2", scores, 0.7 + (scores - 0.7) / 1000))
    text = frame.astype({"score": object})
    text.loc[0, "score"] = "91%"
    return {
        "sound": frame,
        "one algorithm": frame.assign(algorithm="a", fold=np.arange(180)),
        "one data set": frame.assign(dataset="d", fold=np.arange(180) // 3),
        "rho 1": frame.assign(rho=1.0),
        "rho of every row": frame.assign(rho=np.arange(180) / 200),
        "rho 0.3": frame.assign(rho=0.3),
        "no folds": frame.assign(fold="x", run=np.arange(180) % 10),
        "missing cells": frame.drop(index=[12, 13, 150]),
        "missing data set": frame[~((frame["dataset"] == "d5") & (frame["algorithm"] != "a"))],
        "four data sets": frame[frame["dataset"] < "d4"],
        "identical": same,
        "loud": loud,
        "percentages": frame.assign(score=100 * scores),
        "negative": frame.assign(score=-scores),
        "infinite": frame.assign(score=np.where(frame.index == 7, math.inf, scores)),
        "nan": frame.assign(score=np.where(frame.index == 7, math.nan, scores)),
        "text": text,
        "no rows": frame.iloc[:0],
        "nothing": pd.DataFrame(),
        "no table": [1, 2],
        "twice": pd.concat([frame, frame.iloc[[3]]], ignore_index=True),
        "columns": frame.rename(columns={"score": "auc"}),
    }


def record_files() -> None:
    for name, path, options in sample_files():
        record_file(f"files/samples/{name}", path, {})
        if options:
            record_file(f"files/samples/{name}, {options}", path, options)
    if REAL_FILES.is_dir():
        real = [path for path in sorted(REAL_FILES.rglob("*")) if path.is_file() and path.suffix != ".md"]
        for path in real:
            name = str(path.relative_to(REAL_FILES))
            record_file(f"files/real/{name}", path, {})
        for name, choices in REAL_OPTIONS.items():
            for options in choices:
                record_file(f"files/real/{name}, {options}", REAL_FILES / name, options)
    with tempfile.TemporaryDirectory() as folder:
        for name, (file, content, options) in bad_files().items():
            path = Path(folder) / file
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            reading = {key: value for key, value in options.items() if key not in ("rho", "higher_is_better")}
            frame = attempt(f"files/made/{name}/read", lambda p=path, o=reading: hc.read_scores(p, **o))
            if frame is not None:
                record_scores(f"files/made/{name}/read", frame)
                record_comparison(f"files/made/{name}/comparison", frame)
            record_check(f"files/made/{name}/check", path, options)
        parquet = Path(folder) / "wide.parquet"
        pd.read_csv(SAMPLES / "wide.csv").to_parquet(parquet)
        record_file("files/made/wide.parquet", parquet, {})
        record_file("files/made/nothing there", Path(folder) / "none.csv", {})
        record_written(Path(folder))
    for name, table in bad_tables().items():
        record_check(f"tables/made/{name}/check", table, {})
        record_comparison(f"tables/made/{name}/comparison", table)
    record_importers()


def record_comparison(key: str, table: Any) -> None:
    """The paired differences that a comparison makes of a table, or its refusal."""
    for title, options in {"": {}, ", drop": {"missing": "drop"}}.items():
        pair = ("a", "b") if isinstance(table, pd.DataFrame) and {"a", "b"} <= set(table.get("algorithm", ())) else ()
        made = attempt(f"{key}{title}", lambda p=pair, o=options: hc.HierarchicalComparison(table, *p, rope=0.01, **o))
        if made is not None:
            answer(f"{key}{title}", made.differences.to_frame)
            answer(f"{key}{title}/number of notes", lambda m=made: len(m.differences.notes))


def record_written(folder: Path) -> None:
    """Scores as they are written."""
    table = hc.load_scores("keel").head(500)
    for file in ("out.csv", "out.csv.gz"):
        path = attempt(f"files/written/{file}", lambda f=file: hc.write_scores(table, folder / f))
        if path is not None:
            content = gzip.decompress(path.read_bytes()) if file.endswith("gz") else path.read_bytes()
            put_once(f"files/written/{file}", hashlib.sha256(content).hexdigest())
            record_file(f"files/written/{file}", path, {})


def record_importers() -> None:
    """What is imported from objects and not from files."""
    generator = np.random.default_rng(2)
    left, right = generator.uniform(0.6, 0.9, (2, 4, 10))
    ragged = [[0.1, 0.2], [0.1, 0.2, 0.3]]
    table = pd.DataFrame({"id": [1, 1], "part": [1, 2], "a": [0.5, 0.6], "b": [0.7, 0.8], "seconds": [9.0, 9.0]})
    several = pd.DataFrame({"dataset": ["x", "y", "x"], "a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3]})
    search = {"params": [{"C": 1}, {"C": 10}], "split0_test_score": [0.5, 0.6], "split1_test_score": [0.7, 0.65]}
    results = {"iris": {"a": {"test_score": [0.5, 0.6, 0.7]}, "b": {"test_score": [0.55, 0.6, 0.72]}}}
    calls: dict[str, Callable[[], Any]] = {
        "arrays": lambda: call(
            public("from_score_arrays"), {"a": left, "b": right}, datasets=["w", "x", "y", "z"], runs=2
        ),
        "ragged arrays": lambda: public("from_score_arrays")({"a": ragged, "b": ragged}),
        "wrong arrays": lambda: public("from_score_arrays")({"a": [[0.1, 0.2]], "b": [[0.1, 0.2, 0.3]]}),
        "wide": lambda: public("from_wide")(table, dataset="id", fold="part", algorithms=["a", "b"]),
        "wide without folds": lambda: public("from_wide")(several),
        "grid search": lambda: call(public("from_grid_search"), search, dataset="iris", folds=2),
        "cross_validate": lambda: call(public("from_cross_validate"), results, folds=3),
    }
    for name, function in calls.items():
        frame = attempt(f"importers/{name}", function)
        if frame is not None:
            record_scores(f"importers/{name}", frame)


# The two commands


def record_everything(path: Path) -> None:
    warnings.simplefilter("ignore")
    for part in (record_files, record_crossval, record_closed_form, record_model, record_tournament, record_plan):
        started = time.perf_counter()
        part()
        print(f"{part.__name__}: {time.perf_counter() - started:.0f} s, {len(record)} answers so far", flush=True)
    path.write_text(json.dumps(record, indent=0, sort_keys=True, ensure_ascii=True) + "\n")


def shown(value: Any) -> str:
    """An answer of a record, floats as decimal digits too."""
    try:
        return f"{float.fromhex(value)!r} ({value})" if isinstance(value, str) and "0x" in value else repr(value)
    except ValueError:
        return repr(value)


def compare(before: Path, after: Path) -> int:
    """Prints every difference between two records; how many there are."""
    one, other = (
        {"/".join(map(spelled, key.split("/"))): value for key, value in json.loads(path.read_text()).items()}
        for path in (before, after)
    )
    absent = object()
    different = [key for key in sorted({*one, *other}) if one.get(key, absent) != other.get(key, absent)]
    for key in different:
        values = [shown(side[key]) if key in side else "absent" for side in (one, other)]
        print(f"{key}: {values[0]} -> {values[1]}")
    only = [sum(key not in side for key in different) for side in (other, one)]
    print(f"{len({*one, *other}) - len(different)} answers are equal, {len(different)} differ", end=" ")
    print(f"({only[0]} only before, {only[1]} only after).")
    return len(different)


def main(arguments: list[str]) -> int:
    if len(arguments) == 2 and arguments[0] == "record":
        record_everything(Path(arguments[1]))
        return 0
    if len(arguments) == 3 and arguments[0] == "compare":
        return 1 if compare(Path(arguments[1]), Path(arguments[2])) else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
