"""Importing the package is cheap, and its public names are complete. `lint-imports` checks the order of the levels."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hiercomp

HEAVY = ["numpy", "pandas", "scipy", "matplotlib", "sklearn", "stanli", "cmdstanpy", "arviz_base", "xarray"]


def test_importing_the_package_imports_nothing_heavy():
    code = f"import sys, hiercomp; print([name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


INTEGRAL_NEEDS_NO = [
    "arviz",
    "arviz_base",
    "arviz_stats",
    "xarray",
    "matplotlib",
    "cmdstanpy",
    "h5netcdf",
    "h5py",
    "jinja2",
    "pyarrow.parquet",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.stats",
    "stanli",
]
FOR_OTHER_TASKS = ["arviz_plots", "dask", "joblib", "matplotlib.pyplot", "scikit_posthocs", "sklearn", "statsmodels"]


@pytest.mark.parametrize(
    ("engine", "unneeded"),
    [
        ("quadrature", [*INTEGRAL_NEEDS_NO, *FOR_OTHER_TASKS]),
        ("embedded", ["arviz", *FOR_OTHER_TASKS]),  # R-hat is ArviZ's, which imports xarray and part of matplotlib
    ],
)
def test_a_comparison_imports_only_what_it_needs(engine, unneeded, tmp_path):
    generator = np.random.default_rng(4)
    rows = [
        f"d{d},{algorithm},{fold},{generator.random():.4f}" for d in range(5) for algorithm in "ab" for fold in range(5)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["dataset,algorithm,fold,score", *rows]), encoding="utf-8")
    of_scipy = [sys.executable, "-c", "import sys, scipy.linalg; print(*sys.modules)"]  # older: scipy.sparse, too
    given = subprocess.run(of_scipy, capture_output=True, text=True, check=True).stdout.split()
    unneeded = [name for name in unneeded if name not in given]
    command = ["hiercomp", "compare", str(path), "--engine", engine, "--warmup", "200", "--draws", "200"]
    code = (
        "import sys\n"
        "from hiercomp.cli import main\n"
        f"sys.argv = {command}\n"
        "try:\n    main()\n"
        "finally:\n    print([name for name in sys.modules if name in " + repr(unneeded) + "], file=sys.stderr)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "next data set" in run.stdout, run.stderr
    assert run.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", hiercomp.__all__)
def test_every_public_name_belongs_to_the_package(name):
    value = getattr(hiercomp, name)
    assert getattr(value, "__module__", value.__name__).startswith("hiercomp.")


def test_public_names_are_sorted_and_listed_by_dir():
    assert sorted(set(hiercomp.__all__)) == sorted(hiercomp.__all__)
    assert set(hiercomp.__all__) <= set(dir(hiercomp))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="HierarchicalComparisons"):
        hiercomp.HierarchicalComparisons  # noqa: B018


ROOT = Path(__file__).parents[2]
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios"}
POSIX_SIGNALS = {"SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1"}


def run_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a module that importing it runs: all but the bodies of its functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and child not in [
            *getattr(node, "decorator_list", []),
            node.args,
        ]:
            continue
        yield child
        yield from run_on_import(child)


@pytest.mark.parametrize("folder", ["hiercomp", "tests"])
def test_modules_can_be_imported_on_windows(folder):
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in run_on_import(ast.parse(path.read_text(encoding="utf-8"))):
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = {str(node.module)}
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "signal":
                names = {node.attr}
            wrong += [f"{path.relative_to(ROOT)}: {name}" for name in names & (POSIX_MODULES | POSIX_SIGNALS)]
    assert wrong == []
