"""Faults from outside: full disks, places that can't be written to, inputs named as outputs, signals, dead processes."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

import hiercomp as hc
from hiercomp import cli
from tests.command_line import (
    COMMAND,
    SIGKILL,
    assert_group_ends,
    assert_one_line_of_error,
    own_group,
    run,
    run_process,
)
from tests.terminal import read_to_end

QUICK = ("compare", "scores.csv", "--engine", "quadrature", "--prior", "gaussian")
PROC = Path("/proc/self").is_dir()


@pytest.fixture
def folder(tmp_path, scores) -> Path:
    scores.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def limited(kind: str, size: int, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command under a limit of the system, by its name in the module resource."""
    import resource

    def limit() -> None:
        resource.setrlimit(getattr(resource, kind), (size, size))

    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limit,
    )  # fmt: skip


def with_largest_file(size: int, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command where no file may become larger, which is for a program as if the disk was full."""
    return limited("RLIMIT_FSIZE", size, folder, *arguments)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
def test_a_full_disk_costs_the_file_but_not_the_verdict(folder):
    expected = run_process(folder, *QUICK, "--quiet").stdout
    for option, name, size in (
        ("--save", "fit.nc", 100_000),
        ("--report", "out.html", 20_000),
        ("--json", "o.json", 1024),
    ):
        done = with_largest_file(size, folder, *QUICK, option, name)
        assert (done.returncode, done.stdout) == (2, expected), done
        assert done.stderr == f"hiercomp: {name} can't be written: File too large.\n"
        assert os.listdir(folder) == ["scores.csv"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
def test_a_file_that_is_too_large_costs_no_other_file(folder):
    done = with_largest_file(100_000, folder, *QUICK, "--save", "fit.nc", "--json", "o.json", "--scores-table", "t.csv")
    assert done.returncode == 2
    assert json.loads((folder / "o.json").read_text(encoding="utf-8"))["left"] == "bayes"
    assert sorted(os.listdir(folder)) == ["o.json", "scores.csv", "t.csv"]
    assert "wrote o.json (" in done.stderr
    assert "wrote fit.nc" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_standard_output_that_is_full_costs_no_file(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *QUICK, "--save", "fit.nc", "--quiet"],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "hiercomp: Standard output can't be written: No space left on device.\n"
    assert hc.load_result(folder / "fit.nc").left == "bayes"


READING = {
    "compare": ("scores.csv", "--engine", "quadrature"),
    "pairs": ("scores.csv",),
    "test": ("scores.csv",),
    "check": ("scores.csv",),
    "plan": ("--pilot", "scores.csv"),
}
OPTIONS = {
    "compare": ("--json", "--save", "--report", "--scores-table", "--figure"),
    "pairs": ("--json", "--report", "--scores-table", "--figure", "--checkpoint"),
    "test": ("--json",),
    "check": ("--json",),
    "plan": ("--json",),
}
ENDINGS = {"--json": "json", "--save": "nc", "--report": "html", "--scores-table": "csv", "--figure": "svg"}


@pytest.mark.parametrize(
    ("command", "option"), [(command, option) for command, options in OPTIONS.items() for option in options]
)
def test_an_output_is_never_an_input_whatever_it_is_called(hiercomp, folder, command, option):
    before = (folder / "scores.csv").read_bytes()
    ending = ENDINGS.get(option, "db")
    (folder / f"link.{ending}").symlink_to("scores.csv")
    os.link(folder / "scores.csv", folder / f"second.{ending}")
    (folder / "sub").mkdir()
    force = () if option == "--checkpoint" else ("--force",)
    for name in ("scores.csv", f"link.{ending}", f"second.{ending}", "sub/../scores.csv", str(folder / "scores.csv")):
        if option == "--figure" and not name.endswith(ending):
            continue  # a name that is refused for its ending
        done = hiercomp(folder, command, *READING[command], option, name, *force)
        assert_one_line_of_error(done, option, "is read", "never replaces an input")
        assert (folder / "scores.csv").read_bytes() == before


def test_a_saved_result_is_not_replaced_by_what_is_made_of_it(hiercomp, folder, result):
    result.save(folder / "fit.nc")
    before = (folder / "fit.nc").read_bytes()
    (folder / "page.html").symlink_to("fit.nc")
    for options in (("--json", "fit.nc"), ("--report", "page.html")):
        assert_one_line_of_error(hiercomp(folder, "show", "fit.nc", *options, "--force"), "is read")
    assert (folder / "fit.nc").read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="the system has no name for standard input")
def test_scores_that_come_by_standard_input_are_not_replaced_either(folder):
    before = (folder / "scores.csv").read_bytes()
    with (folder / "scores.csv").open("rb") as stream:
        done = subprocess.run(
            [*COMMAND, "check", "-", "--json", "scores.csv", "--force"],
            cwd=folder, stdin=stream, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert_one_line_of_error(done, "--json", "is read")
    assert (folder / "scores.csv").read_bytes() == before


def test_two_options_may_not_name_one_file_by_two_names(hiercomp, folder):
    (folder / "page.html").write_text("old")
    (folder / "link.html").symlink_to("page.html")
    done = hiercomp(folder, *QUICK, "--report", "page.html", "--scores-table", "link.html", "--force")
    assert_one_line_of_error(done, "--report and --scores-table both name link.html")
    done = hiercomp(folder, "pairs", "scores.csv", "--checkpoint", "a.json", "--json", "./a.json")
    assert_one_line_of_error(done, "--checkpoint and --json both name a.json")


@pytest.mark.skipif(not PROC, reason="needs a folder in which not even root can write")
@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--save", "x.nc"),
        ("--report", "x.html"),
        ("--json", "x.json"),
        ("--figure", "x.svg"),
        ("--scores-table", "x.md"),
    ],
)
def test_a_place_that_takes_no_file_is_refused_before_the_computation(hiercomp, folder, monkeypatch, option, name):
    monkeypatch.setattr("hiercomp.comparison.HierarchicalComparison.fit", lambda *_, **__: pytest.fail("it was fitted"))
    for place, reason in ((f"/proc/{name}", "can't be written"), (f"no/{name}", "there is no folder")):
        assert_one_line_of_error(run(folder, *QUICK, option, place), name, reason)
    (folder / name).mkdir()
    assert_one_line_of_error(run(folder, *QUICK, option, name, "--force"), f"{name} is a folder")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_of_no_width_shows_the_summary(folder):
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *QUICK],
        cwd=folder, env={**os.environ, "TERM": "xterm", "COLUMNS": "0"}, stdout=theirs, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs)
    shown = read_to_end(ours)
    assert process.wait(timeout=120) == 0
    assert b"bayes" in shown
    assert b"tree" in shown


def test_help_in_no_columns_is_shown(hiercomp, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert "compare" in hiercomp(tmp_path, "--help").stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
def test_a_checkpoint_on_a_full_disk_says_so_and_stays_whole(folder):
    done = with_largest_file(20_000, folder, "pairs", "scores.csv", "--checkpoint", "pairs.sqlite", "--jobs", "1")
    assert_one_line_of_error(done, "pairs.sqlite", "Is the disk full?")
    whole = run_process(folder, "pairs", "scores.csv", "--checkpoint", "pairs.sqlite", "--jobs", "1")
    assert whole.returncode == 0, whole.stderr


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the limit is not kept")
@pytest.mark.parametrize("size", [500_000_000, 1_000_000_000])
def test_a_lack_of_memory_is_one_line(folder, size):
    # Reading a table alone asks for about 500 MB of addresses, and the embedded engine for 300 MB more than 1 GB
    done = limited("RLIMIT_AS", size, folder, "compare", "scores.csv", "--engine", "embedded")
    assert_one_line_of_error(done)
    assert "enough memory" in done.stderr or "stanli can't be loaded" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on open files")
def test_a_lack_of_descriptors_is_named_by_its_cause(folder):
    done = limited("RLIMIT_NOFILE", 9, folder, "compare", "scores.csv", "--engine", "embedded", "--draws", "200")
    if done.returncode != 0:  # with fewer files of its own open, it may be enough
        assert_one_line_of_error(done, "ulimit -n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a shell's way to close a stream")
def test_a_closed_standard_input_is_one_line(folder):
    line = ["sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, "compare", "-"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert_one_line_of_error(done, "is closed")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a shell's way to close a stream")
@pytest.mark.parametrize("engine", ["embedded", pytest.param("cmdstan", marks=pytest.mark.cmdstan)])
def test_python_without_standard_error_fits_all_the_same(folder, engine):
    code = (
        "import hiercomp as hc\n"
        f"print(hc.compare(hc.read_scores('scores.csv'), rope=0.01, engine='{engine}', draws=200).left)\n"
    )
    line = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(line, cwd=folder, stdout=subprocess.PIPE, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "bayes\n")


@pytest.mark.slow
@pytest.mark.cmdstan
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds the chains in /proc")
def test_sigterm_ends_the_chains_of_cmdstan_too(tmp_path):
    hc.load_scores("keel").to_csv(tmp_path / "keel.csv", index=False)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    options = ("--left", "naive_bayes", "--right", "decision_tree", "--engine", "cmdstan", "--draws", "150000")
    process = subprocess.Popen(
        [*COMMAND, "compare", "keel.csv", *options],
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 240  # the program may have to be compiled first
    with own_group(process):
        while len(list(temporary.glob("hiercomp-*/*.csv"))) < 4:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.terminate()
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, output, errors) == (143, "", "hiercomp: terminated\n")
        assert os.listdir(temporary) == []
        assert_group_ends(process.pid)


EXPERIMENT = """
output = "table.csv"
[cv]
splitter = "RepeatedStratifiedKFold"
n_splits = 5
n_repeats = 4
[estimators.bayes]
class = "sklearn.naive_bayes.GaussianNB"
[data.iris]
file = "iris.csv"
target = "target"
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
def test_a_table_that_took_hours_is_printed_if_it_can_not_be_written(tmp_path):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    done = with_largest_file(500, tmp_path, "crossval", "experiment.toml", "--jobs", "1")
    assert done.returncode == 2
    assert done.stderr == "hiercomp: table.csv can't be written: File too large. The table is on standard output.\n"
    assert sorted(os.listdir(tmp_path)) == ["experiment.toml", "iris.csv"]
    (tmp_path / "printed.csv").write_text(done.stdout)
    whole = run_process(tmp_path, "crossval", "experiment.toml", "--jobs", "1")
    assert whole.returncode == 0, whole.stderr
    kept = ["dataset", "algorithm", "run", "fold", "score"]
    printed, written = (pd.read_csv(tmp_path / name)[kept] for name in ("printed.csv", "table.csv"))
    pd.testing.assert_frame_equal(printed, written)
    assert len(written) == 20


@pytest.mark.skipif(not PROC, reason="needs a folder in which not even root can write")
def test_a_table_that_can_not_be_written_is_known_before_the_first_cell(hiercomp, tmp_path, monkeypatch):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    monkeypatch.setattr("hiercomp.crossval.run.cross_validate_all", lambda *_, **__: pytest.fail("it was run"))
    for place in ("/proc/table.csv", "no/table.csv"):
        done = hiercomp(tmp_path, "crossval", "experiment.toml", "--output", place)
        assert_one_line_of_error(done, "table.csv", "can't be written")
    os.link(tmp_path / "iris.csv", tmp_path / "second.csv")
    before = (tmp_path / "iris.csv").read_bytes()
    done = hiercomp(tmp_path, "crossval", "experiment.toml", "--output", "second.csv", "--force")
    assert_one_line_of_error(done, "second.csv is data")
    assert (tmp_path / "iris.csv").read_bytes() == before


# The last of each: before the command has set its handlers, while Python itself starts
CODES = {signal.SIGINT: {130, 1, -2}, signal.SIGTERM: {143, -15}, SIGKILL: {-9}}


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGTERM")
@pytest.mark.parametrize(
    ("stop", "code", "word"),
    [
        ("raise KeyboardInterrupt", 130, "interrupted"),
        ("os.kill(os.getpid(), signal.SIGTERM)", 143, "terminated"),
    ],
)
@pytest.mark.parametrize("loaded", ["exec(STOP)", 'type("Colour", (), {"red": Member()})'])
def test_the_exit_code_holds_where_a_module_is_just_being_loaded(tmp_path, loaded, stop, code, word):
    # As in a dataclass, whose methods Python makes with exec; `python -m` alone ends with SIGINT itself.
    # As in an enum, where __set_name__ runs: up to Python 3.11, any error in it becomes a RuntimeError.
    (tmp_path / "command.py").write_text(
        f"""\
import os, signal
from hiercomp import cli

STOP = "{stop}"

class Member:
    def __set_name__(self, owner, name):
        {stop}

def app(**_):
    {loaded}

cli.app = app
cli.main()
"""
    )
    command = [sys.executable, "-m", "command"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"hiercomp: {word}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGTERM")
def test_a_signal_while_an_error_is_told_ends_the_run_as_at_any_other_time(monkeypatch, capsys):
    def app(**_):
        raise hc.ArgumentError("It is wrong.")

    told = []

    def complain(text):
        told.append(str(text))
        if len(told) == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("hiercomp.cli.app", app)
    monkeypatch.setattr("hiercomp.cli.complain", complain)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 143
    assert told == ["It is wrong.", "terminated"]


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGTERM")
def test_a_signal_while_the_handler_is_set_or_reset_ends_the_run_as_at_any_other_time(monkeypatch):
    files = {cli.__file__, cli.signals.__file__, contextlib.__file__}
    monkeypatch.setattr("hiercomp.cli.app", lambda **_: 0)
    monkeypatch.setattr("hiercomp.cli.complain", lambda _: None)

    def ended(last: int) -> tuple[int | None, str]:
        """The exit code where SIGTERM comes at that instruction of those with the handler set, and where it was."""
        passed, place = 0, ""

        def trace(frame, event, _):
            nonlocal passed, place
            frame.f_trace_opcodes = True
            if event == "opcode" and signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
                passed += 1
                if passed == last:
                    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                    os.kill(os.getpid(), signal.SIGTERM)
            return trace if frame.f_code.co_filename in files else None

        before = sys.gettrace()
        sys._getframe().f_trace_opcodes = True  # Python 3.12 asks before it sets a trace, and not for each frame
        sys.settrace(trace)
        try:
            with pytest.raises((SystemExit, KeyboardInterrupt)) as exited:
                cli.main()
        finally:
            sys.settrace(before)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return getattr(exited.value, "code", None), place

    found = set(itertools.takewhile(lambda end: end[1], map(ended, itertools.count(1))))
    assert len(found) > 5
    assert {code for code, _ in found} == {143}, found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.parametrize("sent", CODES)
def test_nothing_is_half_written_whenever_a_run_is_stopped(folder, tmp_path_factory, sent):
    temporary = tmp_path_factory.mktemp("temporary")
    command = [*COMMAND, *QUICK, "--save", "fit.nc", "--report", "out.html", "--json", "out.json"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    since = time.monotonic()
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, check=True)
    length = time.monotonic() - since
    expected = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(expected) == {"scores.csv", "fit.nc", "out.html", "out.json"}
    moments = random.Random(sent)
    for _ in range(5):
        for name in ("fit.nc", "out.html", "out.json"):
            (folder / name).unlink(missing_ok=True)
        with subprocess.Popen(
            command, cwd=folder, env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            time.sleep(moments.uniform(0.3, 1) * length)
            process.send_signal(sent)
            assert process.wait(timeout=60) in CODES[sent] | {0}
        assert_group_ends(process.pid)
        for path in folder.iterdir():
            assert path.read_bytes() == expected[path.name], path
        assert os.listdir(temporary) == []
