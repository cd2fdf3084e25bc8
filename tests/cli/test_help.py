"""What a command says of itself, and what it answers to a command line that can't be parsed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.command_line import assert_one_line_of_error

COMMANDS = ("demo", "compare", "pairs", "show", "plan", "check", "crossval", "doctor", "install-cmdstan")


def help_of(hiercomp, folder, monkeypatch, *command: str) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    done = hiercomp(folder, *command)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_80_columns_and_ends_with_examples(hiercomp, tmp_path, monkeypatch, command):
    text = help_of(hiercomp, tmp_path, monkeypatch, command, "-h")
    assert max(map(len, text.splitlines())) <= 80
    assert "Example" in text
    assert f"hiercomp {command}" in text[text.index("Example") :]
    for no_type_of_a_flag in ("<bool>", "<str>  auto", "<str>  log"):
        assert no_type_of_a_flag not in text
    assert text == help_of(hiercomp, tmp_path, monkeypatch, command, "--help")


def test_options_and_commands_are_in_groups(hiercomp, tmp_path, monkeypatch):
    text = help_of(hiercomp, tmp_path, monkeypatch, "compare", "--help")
    panels = ["How the file is read", "Model and verdict", "Which scores are better", "Output"]
    assert [text.index(f"─ {panel} ─") for panel in panels] == sorted(text.index(f"─ {panel} ─") for panel in panels)
    commands = help_of(hiercomp, tmp_path, monkeypatch, "-h")
    assert all(f"─ {panel} ─" in commands for panel in ("Compare", "Scores", "Engines"))
    assert all(f"│ {command} " in commands for command in COMMANDS)


def test_every_example_of_the_help_is_a_command_line(hiercomp, tmp_path, monkeypatch):
    """Parsed as far as the file that is not there, or run."""
    import shlex

    for command in ("compare", "pairs", "show", "check", "crossval"):
        text = help_of(hiercomp, tmp_path, monkeypatch, command, "-h")
        examples = [line.strip() for line in text[text.index("Example") :].splitlines()[1:] if line.strip()]
        assert examples
        for example in examples:
            done = hiercomp(tmp_path, *shlex.split(example)[1:])
            assert done.returncode == 2
            file = shlex.split(example)[2]
            assert file in done.stderr + done.stdout, done
            assert "option" not in done.stderr


def test_a_module_is_a_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "hiercomp", "check", "-h"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "Usage: hiercomp check [OPTIONS]" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["compar"], "'compare'? See hiercomp --help."),
        (["compare", "f.csv", "A b", "B"], "use --left 'A b' --right B."),
        (["compare", "f.csv", "A"], "compare does not expect A."),
        (["pairs", "f.csv", "A", "B"], "pairs does not expect A B."),
        (["compare", "f.csv", "--lower"], "Did you mean --lower-is-better?"),
        (["compare", "f.csv", "--ropes", "1"], "Did you mean --rope?"),
        (["compare", "f.csv", "--zzz"], "There is no option --zzz. See hiercomp compare --help."),
        (["compare"], "'scores'. See hiercomp compare --help."),
        (["pairs", "f.csv", "--alpha", "95"], "Did you mean 0.05?"),
        (["pairs", "f.csv", "--alpha", "0.99"], "Did you mean 0.01?"),
    ],
)
def test_a_command_line_that_fails_says_what_to_write(hiercomp, tmp_path, arguments, part):
    done = hiercomp(tmp_path, *arguments)
    assert_one_line_of_error(done, part)
    assert ".." not in done.stderr
    assert "?." not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="bash")
def test_the_shell_completes_commands_options_and_words(tmp_path):
    def completed(line: str) -> list[str]:
        words = line.split(" ")
        environment = {
            **os.environ,
            "_HIERCOMP_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        }
        done = subprocess.run(
            [sys.executable, "-m", "hiercomp"], env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout.split()

    assert completed("hiercomp com") == ["compare"]
    assert completed("hiercomp compare f.csv --lo") == ["--lower-is-better"]
    assert completed("hiercomp compare f.csv --engine q") == ["quadrature"]
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the test may run below no shell
    script = subprocess.run(
        [sys.executable, "-m", "hiercomp", "--show-completion", "bash"],
        env=named, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "_HIERCOMP_COMPLETE=complete_bash" in script.stdout
