"""What the scores of a cross-validation depend on, as text that is the same in every process."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import platform
import sys
import types
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from hiercomp.errors import ArgumentError
from hiercomp.wording import shown

PACKAGES = ("hiercomp", "scikit-learn", "numpy", "scipy", "pandas")
LONGEST = 100  # parts of a list that are described one by one


def described_plan(
    estimators: Mapping[str, Any], datasets: list[str], cv: Any, scorers: Mapping[str, Any], seed: int
) -> dict[str, str]:
    """Item by item: names, seed, folds, scoring, every parameter of every estimator, and versions.

    Raises
    ------
    ArgumentError
        If something has no description by which a change would be seen.
    """
    try:
        return _plan(estimators, datasets, cv, scorers, seed)
    except RecursionError:
        raise ArgumentError(
            "A checkpoint can't describe an estimator, a scorer or a splitter that holds itself. Run without a "
            "checkpoint, or pass something else."
        ) from None


def described(value: Any) -> str:
    """A parameter as text: no addresses, and a hash in the place of what has no short text.

    Examples
    --------
    >>> described({"C": 1.0, "kernel": "rbf"})
    "{'C': 1.0, 'kernel': 'rbf'}"
    """
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return repr(value)
    if isinstance(value, list | tuple) and len(value) <= LONGEST:
        return f"[{', '.join(described(part) for part in value)}]"
    if isinstance(value, dict) and len(value) <= LONGEST:
        return f"{{{', '.join(f'{key!r}: {described(part)}' for key, part in value.items())}}}"
    if isinstance(value, type):
        return _class_name(value)
    if isinstance(value, functools.partial):
        return f"partial({described(value.func)}, {described(value.args)}, {described(value.keywords)})"
    if isinstance(value, types.MethodType):
        return f"{described(value.__self__)}.{value.__name__}"
    if isinstance(value, types.FunctionType):
        return f"{value.__module__}.{value.__qualname__} {_function_digest(value)}"
    if isinstance(value, np.ufunc | types.BuiltinFunctionType):
        return f"{getattr(value, '__module__', None)}.{value.__name__}"
    if hasattr(value, "get_params"):
        return f"{_class_name(type(value))}({described(value.get_params(deep=False))})"
    if hasattr(value, "get_n_splits"):
        text = repr(value)  # scikit-learn's splitters name their parameters
        return f"{_class_name(type(value)) if ' at 0x' in text else text} {_hash(vars(value))}"
    if type(value).__module__ == "sklearn.metrics._scorer" and hasattr(value, "_score_func"):
        return f"{value!r} {described(value._score_func)}"
    return f"{_class_name(type(value))} {_hash(value)}"


def _plan(
    estimators: Mapping[str, Any], datasets: list[str], cv: Any, scorers: Mapping[str, Any], seed: int
) -> dict[str, str]:
    from importlib.metadata import version

    plan = {"data sets": json.dumps(datasets), "estimators": json.dumps(list(estimators)), "seed": str(seed)}
    plan |= {"cv": described(cv), "scoring": json.dumps({name: described(scorer) for name, scorer in scorers.items()})}
    kinds: set[type] = set()
    for name, estimator in estimators.items():
        plan[f"class of estimator {shown(name)!r}"] = _class_name(type(estimator))
        kinds.add(type(estimator))
        for parameter, value in sorted(estimator.get_params(deep=True).items()):
            plan[f"{parameter} of estimator {shown(name)!r}"] = described(value)
            if hasattr(value, "get_params") and not isinstance(value, type):
                kinds.add(type(value))
    plan |= {f"version of {name}": version(name) for name in PACKAGES} | {
        "version of Python": platform.python_version()
    }
    for kind in sorted(kinds, key=_class_name):
        package = kind.__module__.split(".")[0]
        if package == "sklearn":
            continue
        found = _version(package)
        if found is not None:
            plan[f"version of {package}"] = found
        plan[f"code of {_class_name(kind)}"] = _code_digest(kind)
    return plan


def _function_digest(function: types.FunctionType) -> str:
    """A hash of what a function does: its code, defaults, and what it encloses."""
    enclosed = []
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # not yet filled
            if cell.cell_contents is not function:  # which calls itself
                enclosed.append(cell.cell_contents)
    text = repr([_code(function.__code__), described(function.__defaults__), described(function.__kwdefaults__)])
    return hashlib.sha256((text + described(enclosed)).encode()).hexdigest()[:12]


def _code(code: types.CodeType) -> list[Any]:
    """A function's code without its place in a file."""
    constants = [_code(part) if isinstance(part, types.CodeType) else repr(part) for part in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, constants]


def _hash(value: Any) -> str:
    import joblib

    try:
        return str(joblib.hash(value))[:12]
    except Exception as error:  # what can't be pickled
        raise ArgumentError(
            f"A checkpoint would not notice a change of {type(value).__name__} {shown(value)!r}, which can't be pickled "
            f"({type(error).__name__}). Run without a checkpoint, or pass something else."
        ) from error


def _version(package: str) -> str | None:
    """Of a package as it says itself, or as it was installed; None for a module of the user's own."""
    from importlib.metadata import packages_distributions, version

    found = getattr(sys.modules.get(package), "__version__", None)
    if found is not None:
        return str(found)
    installed = packages_distributions().get(package)
    return version(installed[0]) if installed else None


def _code_digest(kind: type) -> str:
    """A hash of the code of a class and of those that it is made from, but for scikit-learn's, which have a version."""
    own = [base for base in kind.__mro__ if base.__module__.split(".")[0] not in ("sklearn", "builtins")]
    return hashlib.sha256("".join(map(_class_code, own)).encode()).hexdigest()[:12]


def _class_code(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):  # typed into an interpreter
        functions = {name: part for name, part in vars(kind).items() if isinstance(part, types.FunctionType)}
        return repr([(name, _function_digest(part)) for name, part in functions.items()])


def _class_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
