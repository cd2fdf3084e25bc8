"""Mutation testing: one small change in a module, and whether its tests see it (V30)."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from agreement import run
from reproduction.exhibit import MissingDataError, Row, Settings

ROOT = Path(__file__).parents[2]
KILLED, LONGEST = 0.9, 600  # share, and seconds after which tests that hang count as failed
QUADRATURE = "engines/quadrature"
ONE, ACROSS = "closed_form/one_dataset", "closed_form/across_datasets"
FROZEN = "tests/whole/test_frozen.py"  # for every module
# Modules of the numerics and of reading and pairing tables, and the tests that are to see a change, the module's own first
MODULES: Mapping[str, tuple[str, ...]] = {
    "rope.py": ("tests/test_rope.py", "tests/posterior/test_next_dataset.py"),
    f"{ONE}/correlated_t.py": (f"tests/{ONE}/test_correlated_t.py", "tests/closed_form"),
    f"{ONE}/calibrated.py": (
        f"tests/{ONE}/test_calibrated.py",
        "tests/closed_form",
        "tests/whole/test_calibration_script.py",
    ),
    f"{ACROSS}/poisson_binomial.py": (f"tests/{ACROSS}", "tests/closed_form"),
    f"{QUADRATURE}/likelihood.py": (f"tests/{QUADRATURE}/test_likelihood.py", f"tests/{QUADRATURE}"),
    f"{QUADRATURE}/nu_prior.py": (f"tests/{QUADRATURE}/test_nu_prior.py", f"tests/{QUADRATURE}"),
    f"{QUADRATURE}/splines.py": (f"tests/{QUADRATURE}/test_splines.py", f"tests/{QUADRATURE}"),
    "posterior/next_dataset.py": ("tests/posterior/test_next_dataset.py", "tests/posterior", "tests/summary"),
    "scores/arrays.py": ("tests/scores", "tests/pairs"),
    "scores/differences.py": ("tests/scores", "tests/posterior"),
    "scores/table.py": ("tests/scores", "tests/files"),
    "files/mapping.py": ("tests/files/test_mapping.py", "tests/files"),
}
OPERATORS = (
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Div",
    "ReplaceBinaryOperator_Div_Mul",
    "ReplaceBinaryOperator_Pow_Mul",
    "ReplaceComparisonOperator_Lt_Gt",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_Gt_LtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceUnaryOperator_Delete_USub",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "NumberReplacer",
)


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes
    ----------
    module : str
    text : str
    change : str
        The changed line, before and after.
    """

    module: str
    text: str
    change: str


def mutation_rows(settings: Settings) -> list[Row]:
    """The share of a random sample of mutants that the tests kill, and the survivors; unchanged modules must pass."""
    many = 1 if settings.quick else 20
    modules = list(MODULES)[:2] if settings.quick else list(MODULES)
    unchanged = [Mutant(module, source_of(module), "") for module in modules]
    mutants = [mutant for module in modules for mutant in sampled(module, many, settings.seed)]
    tried = [*unchanged, *mutants]
    rows = run(partial(verdict, tried), list(range(len(tried))), settings.jobs, _kept(settings, tried))
    failing = [row["module"] for row in rows if row["number"] < len(modules) and row["killed"]]
    killed = [row["killed"] for row in rows if row["number"] >= len(modules)]
    survivors = sorted(
        (row["module"], row["change"]) for row in rows if row["number"] >= len(modules) and not row["killed"]
    )
    named = f": {', '.join(failing)}" if failing else ""
    return [
        Row(f"unchanged modules whose tests fail{named}", "0", float(len(failing)), 0.0, not failing),
        Row.at_least(
            f"share killed of {len(killed)} mutants of {len(modules)} modules", KILLED, float(np.mean(killed))
        ),
        *(Row(f"survives: `{module}`, {change}", "see below", 1.0, 0.0, True) for module, change in survivors),
    ]


def _kept(settings: Settings, tried: list[Mutant]) -> Path | None:
    """The file of verdicts on exactly these mutants."""
    if settings.keep is None:
        return None
    settings.keep.mkdir(parents=True, exist_ok=True)
    return settings.keep / f"mutants-{crc32(''.join(one.text for one in tried).encode()):08x}.jsonl"


def verdict(mutants: list[Mutant], number: int) -> dict[str, Any]:
    """What is kept of one mutant."""
    mutant = mutants[number]
    return {"number": number, "module": mutant.module, "change": mutant.change, "killed": is_killed(mutant)}


def source_of(module: str) -> str:
    """The text of a module."""
    return (ROOT / "hiercomp" / module).read_text(encoding="utf-8")


def sampled(module: str, many: int, seed: int) -> list[Mutant]:
    """Some of all mutants of a module, at random."""
    try:
        from cosmic_ray.ast import ast_nodes, get_ast
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator
    except ImportError as error:
        raise MissingDataError("install cosmic-ray: python -m pip install cosmic-ray") from error
    source = source_of(module)
    operators: list[Any] = [get_operator(f"core/{name}")() for name in OPERATORS]
    nodes = list(ast_nodes(get_ast(source)))
    places = [
        (operator, place)
        for operator in operators
        for place in range(sum(1 for node in nodes for _ in operator.mutation_positions(node)))
    ]
    found: list[Mutant] = []
    for number in np.random.default_rng([seed, len(source)]).permutation(len(places)):
        if len(found) == many:
            break
        text = mutate_code(source, *places[number])
        if text != source:
            found.append(Mutant(module, text, changed_line(source, text)))
    return found


def changed_line(before: str, after: str) -> str:
    """The line, before and after."""
    lines = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[:2] in ("- ", "+ ")]
    old, new = (next((line[2:].strip() for line in lines if line[0] == sign), "") for sign in "-+")
    return f"`{old}` becomes `{new}`".replace("|", "\\|")  # in a table of Markdown


def is_killed(mutant: Mutant) -> bool:
    """Whether the tests fail, or do not end, in a copy of the project with the mutant."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("hiercomp", "tests", "stan", "scripts", "docs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        for name in ("pyproject.toml", "conftest.py", "README.md", "CHANGELOG.md", "CITATION.cff"):
            shutil.copy(ROOT / name, copy / name)
        (copy / "hiercomp" / mutant.module).write_text(mutant.text, encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            *MODULES[mutant.module],
            FROZEN,
        ]
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            ended = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            return True
        return ended.returncode != 0
