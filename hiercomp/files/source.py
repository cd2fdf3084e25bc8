"""The file that scores came from: its name, hash and size."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hiercomp.errors import ArgumentError, ScoreFileError


@dataclass(frozen=True)
class Source:
    """The file that the scores came from.

    Attributes
    ----------
    name : str
        Without its folder, for privacy.
    sha256 : str
        Of its bytes, in hexadecimal.
    size : int
        In bytes.
    """

    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """Read a file's name, hash and size.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        ScoreFileError
            If it can't be read.
        """
        if not isinstance(path, (str, Path)):
            raise ArgumentError(f"source must be the path of a file or a Source, got {type(path).__name__}.")
        path = Path(path)
        try:
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256")
                return cls(path.name, digest.hexdigest(), stream.tell())
        except OSError as error:
            raise ScoreFileError(f"{path} can't be read for its hash: {error.strerror}.") from error

    def to_dict(self) -> dict[str, Any]:
        """Name, hash and size, ready for JSON."""
        return asdict(self)
