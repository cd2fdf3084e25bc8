"""Versions of hiercomp, of Python and of the libraries that it needs."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version

ABSENT = "not installed"
DEVELOPERS = ("docs", "test")  # extras of no use to a bug report


def versions() -> dict[str, str]:
    """Name and version of hiercomp, Python, the platform, and every library that hiercomp requires or an extra brought."""
    needed, brought = set(), set()
    for line in requires("hiercomp") or ():
        name = re.split(r"[^\w.-]", line)[0]
        extra = re.search(r"extra == ['\"](\w+)", line)
        if extra is None:
            needed.add(name)
        elif extra[1] not in DEVELOPERS and _installed(name) != ABSENT:
            brought.add(name)
    return {
        "hiercomp": version("hiercomp"),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "Platform": f"{platform.system()} {platform.machine()}".strip(),
    } | {name: _installed(name) for name in sorted(needed | brought)}


def show_versions() -> None:
    """Print what a bug report needs: versions of hiercomp, of Python and of the libraries that it uses.

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
        return ABSENT
