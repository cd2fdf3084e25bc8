"""Faults put into a copy of the Stan programs: which of them the checks see (V7)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from reproduction.exhibit import Row, Settings

from hiercomp.model.priors import Priors
from hiercomp.model.programs import stan_folder

from .density import FAULTS, LARGEST_DEVIATION, deviation, random_model


@contextmanager
def faulty(name: str) -> Iterator[Path]:
    """A copy of the Stan programs with one fault."""
    file, right, wrong = FAULTS[name]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "stan"
        shutil.copytree(stan_folder(), copy)
        text = (copy / file).read_text(encoding="utf-8")
        if text.count(right) != 1:
            raise ValueError(f"{right!r} is {text.count(right)} times in {file}")
        (copy / file).write_text(text.replace(right, wrong), encoding="utf-8")
        yield copy


def fault_rows(settings: Settings) -> list[Row]:
    """Whether the comparison of densities sees each fault."""
    model = random_model(np.random.default_rng(settings.seed), 4, Priors())
    rows = []
    for name in FAULTS:
        with faulty(name) as folder:
            rows.append(Row.above(f"{name}: relative deviation", LARGEST_DEVIATION, deviation(model, 4, str(folder))))
    return rows
