"""The location of the Stan programs, and the names of them and their data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hiercomp.arguments import FloatArray
from hiercomp.errors import EngineError


@cache
def stan_folder() -> Path:
    """The folder of the Stan programs: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "stan", package.parent / "stan"):
        if (folder / "hierarchical_student_t.stan").is_file():
            return folder
    raise EngineError("The Stan programs are missing from this installation. Install hiercomp again.")


@dataclass(frozen=True)
class StanProgram:
    """A Stan program with data and initial values, for any engine.

    Attributes
    ----------
    name : str
        File name without its ending.
    data : mapping
        Values of the data block.
    initial_values : tuple of mappings, one a chain
        Values of every parameter, on the constrained scale.
    inverse_metric : ndarray
        Diagonal of the inverse metric from which the warmup adapts it: rough posterior variances of the parameters, in
        the program's order and on Stan's unconstrained scale.
    variables : tuple of str
        Parameters and transformed parameters to keep.
    """

    name: str
    data: Mapping[str, Any]
    initial_values: tuple[Mapping[str, Any], ...]
    inverse_metric: FloatArray
    variables: tuple[str, ...]


def json_ready(values: Mapping[str, Any]) -> dict[str, Any]:
    """Data or initial values with arrays as lists, as Stan's JSON requires."""
    return {name: np.asarray(value).tolist() for name, value in values.items()}


def source_with_includes(name: str) -> str:
    """The text of a program with its includes inserted."""

    def expanded(path: Path) -> str:
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            included = line.removeprefix("#include ")
            lines.append(line if included == line else expanded(stan_folder() / included.strip()))
        return "\n".join(lines)

    return expanded(stan_folder() / f"{name}.stan")
