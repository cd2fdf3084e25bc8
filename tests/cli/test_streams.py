"""Standard output in processes of their own: other encodings, readers that leave, and a stream that is closed."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hiercomp.cli.streams import reader_has_left
from tests.command_line import COMMAND
from tests.terminal import read_to_end

TREE, FOREST, BAYES = "决策树", "Größe", "bayes"
COMPARE = ("compare", "scores.csv", "--engine", "quadrature", "--left", TREE, "--right", BAYES)


@pytest.fixture
def folder(tmp_path, scores) -> Path:
    named = scores.assign(algorithm=scores["algorithm"].map({"tree": TREE, "bayes": BAYES}))
    third = named[named["algorithm"] == BAYES].assign(algorithm=FOREST, score=lambda rows: rows["score"] + 0.01)
    third["score"] += 0.001 * (third["fold"] % 3)
    named.merge(third, how="outer").to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def run(folder: Path, *arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, env=environment, capture_output=True, timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", [("pairs", "scores.csv", "--jobs", "1"), COMPARE], ids=["pairs", "compare"])
def test_nothing_is_lost_in_utf_8_and_names_stay_distinct_in_other_encodings(folder, command):
    full = run(folder, *command).stdout.decode("utf-8")
    assert TREE in full
    for encoding in ("cp1252", "ascii", "latin-1"):
        done = run(folder, *command, encoding=encoding)
        assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
        expected = full.replace("\N{MINUS SIGN}", "-").replace(TREE, r"\u51b3\u7b56\u6811")
        expected = expected if encoding != "ascii" else expected.replace(FOREST, r"Gr\xf6\xdfe")
        assert done.stdout.decode(encoding).split() == expected.split()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_json_stays_json_in_every_encoding(folder, encoding):
    done = run(folder, *COMPARE, "--json", "-", encoding=encoding)
    assert done.returncode == 0
    assert json.loads(done.stdout.decode(encoding))["left"] == TREE


def test_a_message_about_such_a_name_is_one_line(folder):
    done = run(folder, "compare", "scores.csv", "--left", "决策", "--right", BAYES, encoding="cp1252")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert rb"\u51b3\u7b56\u6811" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that break")
@pytest.mark.parametrize("more", [(), ("--json", "-")])
@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error(folder, more):
    command = [*COMMAND, *COMPARE, *more, "--save", "fit.nc"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read().decode()
        assert process.wait(timeout=120) == 0, errors
    assert errors.startswith("hiercomp: wrote fit.nc (")
    assert errors.count("\n") == 1
    assert (folder / "fit.nc").is_file()


@pytest.mark.parametrize(
    ("system", "error", "left"),
    [
        ("linux", BrokenPipeError(errno.EPIPE, "Broken pipe"), True),
        ("linux", OSError(errno.EINVAL, "Invalid argument"), False),
        ("linux", OSError(errno.ENOSPC, "No space left on device"), False),
        ("win32", OSError(errno.EINVAL, "Invalid argument"), True),  # what Windows says of a closed pipe
        ("win32", OSError(errno.ENOSPC, "No space left on device"), False),
    ],
)
def test_a_reader_that_has_left_is_known_on_each_system(monkeypatch, system, error, left):
    monkeypatch.setattr(sys, "platform", system)
    assert reader_has_left(error) is left


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's way to close a stream")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_no_error(folder, closed):
    line = f'exec "$@" {closed}'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *COMMAND, *COMPARE], cwd=folder, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_a_terminal_of_any_encoding_shows_the_summary(folder, encoding):
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [*COMMAND, *COMPARE],
        cwd=folder,
        env=environment,
        stdout=theirs,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    os.close(theirs)
    shown = read_to_end(ours)
    assert process.stderr is not None
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 0, errors.decode()
    assert (TREE if encoding == "utf-8" else r"\u51b3\u7b56\u6811") in shown.decode(encoding)
