"""Importing the package is cheap, and its public names are complete. `lint-imports` checks the order of the levels."""

from __future__ import annotations

import subprocess
import sys

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
