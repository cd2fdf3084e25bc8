"""Files that are written: names that say what they hold, whole or not at all, never over what was read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hiercomp as hc
from hiercomp.outputs import is_read, output_path, same_file, written_whole


@pytest.mark.parametrize("name", ["fit.csv", "fit", "fit.nc.gz"])
def test_a_result_is_not_saved_under_another_ending(tmp_path, identical, name):
    with pytest.raises(hc.ResultFileError, match=r"netCDF.*ends in \.nc"):
        identical.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out.pdf", "out", "out.html.txt"])
def test_a_report_is_not_written_under_another_ending(tmp_path, identical, name):
    with pytest.raises(hc.ResultFileError, match=r"HTML.*ends in \.html"):
        identical.report(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.NC", "a.nc4", "a.netcdf"])
def test_other_endings_of_netcdf_are_taken(tmp_path, identical, name):
    assert hc.load_result(identical.save(tmp_path / name)).status == identical.status


def interrupted(path: Path) -> None:
    with written_whole(path, overwrite=True) as stream:
        stream.write(b"new")
        raise KeyError


def test_an_error_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    with pytest.raises(KeyError):
        interrupted(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_written_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    for name in ("new", "replaced"):
        path = tmp_path / name
        if name == "replaced":
            path.write_text("old")
        with written_whole(path, overwrite=True) as stream:
            stream.write(b"content")
        assert path.read_bytes() == b"content"
        assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["new", "plain", "replaced"]


def test_a_system_without_files_without_names_writes_whole_files_too(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "out"
    for content in (b"first", b"second"):
        with written_whole(path, overwrite=True) as stream:
            stream.write(content)
        assert path.read_bytes() == content
    with pytest.raises(KeyError):
        interrupted(path)
    assert output_path(tmp_path / "other", overwrite=False) == tmp_path / "other"
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_stays_a_link_to_the_new_content(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "out")
    with written_whole(tmp_path / "link", overwrite=False) as stream:
        stream.write(b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "out").read_bytes() == b"content"


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="only Linux has files without a name")
@pytest.mark.parametrize("old", [False, True])
def test_a_process_that_is_killed_while_it_writes_leaves_nothing(tmp_path, old):
    path = tmp_path / "out"
    if old:
        path.write_text("old")
    code = (
        "import sys, time\n"
        "from hiercomp.outputs import written_whole\n"
        "with written_whole(sys.argv[1], overwrite=True) as stream:\n"
        "    stream.write(bytes(10**6))\n"
        "    print('writes', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writes\n"
        process.kill()
        assert process.wait(timeout=30) == -signal.SIGKILL
    assert os.listdir(tmp_path) == (["out"] if old else [])
    assert not old or path.read_text() == "old"


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs a device")
def test_a_device_is_never_replaced():
    with pytest.raises(hc.ResultFileError, match="/dev/null is a device or a pipe"):
        output_path("/dev/null", overwrite=True)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder in which not even root can write")
def test_a_folder_that_takes_no_file_is_known_before_there_is_anything_to_write():
    with pytest.raises(hc.ResultFileError, match=r"/proc/fit\.nc can't be written"):
        output_path("/proc/fit.nc", overwrite=True)


def test_one_file_is_recognised_by_all_its_names(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("content")
    (tmp_path / "b").write_text("content")
    (tmp_path / "link").symlink_to("a")
    os.link(tmp_path / "a", tmp_path / "second")
    monkeypatch.chdir(tmp_path)
    for name in (tmp_path / "a", "./a", "link", "second"):
        assert same_file("a", name)
    assert not same_file("a", "b")
    assert not same_file("a", "missing")
    assert same_file("missing", tmp_path / "missing")


def test_a_file_in_a_folder_that_is_read_is_read(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.csv").touch()
    assert is_read(tmp_path / "runs" / "one.csv", tmp_path / "runs")
    assert not is_read(tmp_path / "runs" / "new.json", tmp_path / "runs")
    assert not is_read(tmp_path / "other.json", tmp_path / "runs")
