"""Versions of hiercomp, of Python and of the libraries that it needs."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version


def versions() -> dict[str, str]:
    """Name and version of hiercomp, Python, the platform, and every library that hiercomp requires."""
    required = [re.split(r"[^\w.-]", line)[0] for line in requires("hiercomp") or () if "extra ==" not in line]
    return {
        "hiercomp": version("hiercomp"),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "Platform": f"{platform.system()} {platform.machine()}".strip(),
    } | {name: _installed(name) for name in sorted(set(required))}


def show_versions() -> None:
    """Print what a bug report needs: versions of hiercomp, of Python and of the libraries that it requires.

    ``hiercomp doctor`` says which engines work.

    Returns
    -------
    None
        One line for each version is printed.

    Examples
    --------
    >>> import hiercomp as hc
    >>> hc.show_versions()  # doctest: +ELLIPSIS
    hiercomp: ...
    Python: ...
    """
    for name, found in versions().items():
        print(f"{name}: {found}")


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
