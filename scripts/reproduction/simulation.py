"""Repeated simulations in several processes, which go on where they were interrupted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from rich.progress import track

from .exhibit import Settings

FLOATS = npt.NDArray[np.float64]


def repeated(
    settings: Settings,
    name: str,
    repetition: Callable[[np.random.Generator], npt.ArrayLike],
    repetitions: int,
    block: int = 25,
) -> FLOATS:
    """What each repetition of an experiment returns, stacked.

    Parameters
    ----------
    settings : Settings
        ``keep`` names the folder in which each finished block is stored. An interrupted run computes only what is missing.
    name : str
        Exhibit and design point. With the seed and its own number it makes the seed of a repetition, so neither the
        processes nor the blocks change a number.
    repetition : callable
        One repetition, from a generator. It must be picklable: a function or a `functools.partial` of one.
    repetitions : int
    block : int
        Repetitions that are stored together.

    Returns
    -------
    ndarray of shape (repetitions, ...)
    """
    firsts = range(0, repetitions, block)
    tasks = (
        delayed(_block)(settings, name, repetition, range(first, min(first + block, repetitions))) for first in firsts
    )
    found = Parallel(n_jobs=settings.jobs, return_as="generator")(tasks)
    return np.concatenate(list(track(found, description=name, total=len(firsts), disable=not settings.progress)))


def _block(
    settings: Settings,
    name: str,
    repetition: Callable[[np.random.Generator], npt.ArrayLike],
    numbers: range,
) -> FLOATS:
    stored = _path(settings, name, numbers)
    if stored is not None and stored.is_file():
        return np.asarray(np.load(stored), dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [repetition(np.random.default_rng([settings.seed, crc32(name.encode()), one])) for one in numbers]
    values = np.asarray(found, dtype=np.float64)
    if stored is not None:
        stored.parent.mkdir(parents=True, exist_ok=True)
        part = stored.with_suffix(".part")
        with part.open("wb") as stream:
            np.save(stream, values)
        part.replace(stored)  # whole or not at all
    return values


def _path(settings: Settings, name: str, numbers: range) -> Path | None:
    if settings.keep is None:
        return None
    return settings.keep / name / f"seed-{settings.seed}-{numbers.start}-{numbers.stop}.npy"
