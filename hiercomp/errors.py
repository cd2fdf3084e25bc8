"""The exceptions and warnings of hiercomp: one family, caught by ``except HiercompError``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "ArgumentError",
    "ConvergenceWarning",
    "DefaultedRhoWarning",
    "DegenerateScoresWarning",
    "DoubtfulDrawsWarning",
    "DroppedScoresWarning",
    "EngineError",
    "EstimatorWarning",
    "FailedCellsWarning",
    "FewDatasetsWarning",
    "HiercompError",
    "HiercompWarning",
    "IntegrationWarning",
    "LargeProblemWarning",
    "NoVerdictError",
    "Note",
    "RefitWarning",
    "ResultFileError",
    "ScaleWarning",
    "ScoreFileError",
    "ScoreTableError",
    "warn_caller",
]


@dataclass(frozen=True)
class Argument:
    """An argument of a function as a message writes it; the command line writes its option instead.

    Attributes
    ----------
    name : str
    value : object
        The proposed value; ... stands for one that the reader chooses.

    Examples
    --------
    >>> print(Argument("left", "tree"), Argument("rope"), Argument("columns", {"score": "auc", "fold": ...}))
    left='tree' rope=... columns={'score': 'auc', 'fold': ...}
    """

    name: str
    value: Any = ...

    def __str__(self) -> str:
        if isinstance(self.value, Mapping):
            inside = ", ".join(f"{name!r}: {_written(value)}" for name, value in self.value.items())
            return f"{self.name}={{{inside}}}"
        return f"{self.name}={_written(self.value)}"


def _written(value: Any) -> str:
    return "..." if value is ... else repr(value)


class NoteText(str):
    """The text of a note, which a table keeps among its attributes, with the note itself."""

    note: Note


class HiercompError(Exception):
    """Any error that hiercomp raises on purpose: what is wrong, where, and what to do.

    Parameters
    ----------
    message : str
        What is wrong, and where.
    remedy : str
        What to do; the error's text is both.
    places : tuple of str
        The data sets, algorithms, columns or lines concerned.
    key : str
        Names the kind of problem, for programs.
    count : int
        How many cells or rows are concerned; 0 where none are counted.
    arguments : tuple of Argument
        Arguments that the text writes in Python, for programs that spell them in another way.
    """

    def __init__(
        self,
        message: str = "",
        *,
        remedy: str = "",
        places: tuple[str, ...] = (),
        key: str = "",
        count: int = 0,
        arguments: tuple[Argument, ...] = (),
    ) -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.places = places
        self.key = key
        self.count = count
        self.arguments = arguments


class ScoreTableError(HiercompError, ValueError):
    """A table of scores that can't be compared in its present state."""

    table: Any = None  # the tidy frame that was refused, if the importer got that far


class ScoreFileError(HiercompError, ValueError):
    """A file that can't be read as a table of scores."""

    table: Any = None  # as for ScoreTableError


class ArgumentError(HiercompError, ValueError):
    """An invalid rope, rho, prior, engine or other argument."""


class EngineError(HiercompError, RuntimeError):
    """An engine that is missing or that failed."""


class ResultFileError(HiercompError, ValueError):
    """A file that is not a saved result, or is damaged."""


class NoVerdictError(HiercompError, RuntimeError):
    """A verdict was requested of a result whose computation failed."""


class HiercompWarning(UserWarning):
    """Any warning of hiercomp; its text is in the result and the summary too."""


class ConvergenceWarning(HiercompWarning):
    """A computation failed its checks: a result without a verdict, or leave-one-out without some data sets."""


class RefitWarning(HiercompWarning):
    """A first fit failed a check and was repeated with other settings."""


class DoubtfulDrawsWarning(HiercompWarning):
    """The draws failed a check of the sampler; the probabilities, which are integrals, stand without them."""


class IntegrationWarning(HiercompWarning):
    """The estimated error of an integrated probability is above 0.001."""


class DegenerateScoresWarning(HiercompWarning):
    """Differences never vary between the folds of some data sets; their spread was derived from the rope."""


class DroppedScoresWarning(HiercompWarning):
    """Scores, folds or data sets were left out."""


class DefaultedRhoWarning(HiercompWarning):
    """The correlation between folds was guessed from incomplete information."""


class FewDatasetsWarning(HiercompWarning):
    """There are so few data sets that the verdict depends strongly on the priors."""


class ScaleWarning(HiercompWarning):
    """Scores, names or a rope look like a mistake."""


class EstimatorWarning(HiercompWarning):
    """Estimators raised warnings in cells of a cross-validation."""


class FailedCellsWarning(HiercompWarning):
    """Cells of a cross-validation have no score because their estimator failed."""


class LargeProblemWarning(HiercompWarning):
    """A fit will take a long time or much memory."""


@dataclass(frozen=True)
class Note:
    """A warning that is raised and also kept in the result.

    Attributes
    ----------
    category : type
        The class of the warning.
    message : str
        What was found or done.
    remedy : str
        What to do about it; may be empty.
    places : tuple of str
        The data sets, algorithms or columns concerned.
    key : str
        Names the kind of note, for programs: notes with the same key say the same about other places.
    quiet : bool
        Whether it is only kept in the result: it says what was done, and nothing is wrong.
    arguments : tuple of Argument
        Arguments that the text writes in Python.
    """

    category: type[HiercompWarning]
    message: str
    remedy: str = ""
    places: tuple[str, ...] = ()
    key: str = ""
    quiet: bool = False
    arguments: tuple[Argument, ...] = ()

    @property
    def text(self) -> str:
        """The message and the remedy."""
        text = NoteText(f"{self.message} {self.remedy}".strip())
        text.note = self
        return text

    def warn(self, stacklevel: int = 1) -> None:
        """Raise the warning, pointing ``stacklevel`` frames above the caller."""
        warnings.warn(self.text, self.category, stacklevel=stacklevel + 1)


def warn_caller(notes: Iterable[Note]) -> None:
    """Raise notes that are not quiet as warnings that point at the first line outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("hiercomp."):
        level, frame = level + 1, frame.f_back
    for note in notes:
        if not note.quiet:
            note.warn(stacklevel=level)
