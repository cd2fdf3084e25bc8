"""Importing the package is cheap, and its public names are complete. `lint-imports` checks the order of the levels."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hiercomp

HEAVY = ["numpy", "pandas", "scipy", "matplotlib", "sklearn", "stanli", "cmdstanpy", "arviz_base", "xarray"]


def test_importing_the_package_imports_nothing_heavy():
    code = f"import sys, hiercomp; print([name for name in {HEAVY} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


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
