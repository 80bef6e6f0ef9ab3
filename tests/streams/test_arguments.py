"""The command line: which arguments are options, and that help and reading come from one declaration."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli.commands import COMMANDS, command_module
from autodiff_cli.errors import ExpressionError
from autodiff_cli.streams.arguments import Declared, HelpAsked, looks_like_option, read
from running import autodiff

GRAD = Declared(command_module("grad").run)
KNOWN = [*GRAD.options, "--help", "-h", "--"]
ARGUMENTS = st.one_of(
    st.sampled_from([*KNOWN, "-", "-x", "--x", "x=1", "3", "--at=x=1", "--json=1", "--att", "-1", ""]),
    st.text(max_size=8),
)


@given(st.lists(ARGUMENTS, max_size=6))
def test_any_command_line_is_read_or_refused(args: list[str]) -> None:
    try:
        values = read(args, GRAD, "autodiff grad")
    except HelpAsked:
        assert {"--help", "-h"} & set(args)
    except ExpressionError as error:
        assert error.kind == "usage"
        assert error.hint
    else:
        assert set(values) <= {"expr", *(parameter for parameter, _, _ in GRAD.options.values())}


@given(st.text(max_size=20).map(lambda text: f"-{text}"))
def test_what_equals_no_option_is_the_expression(text: str) -> None:
    if text.partition("=")[0] not in KNOWN and text not in KNOWN and not looks_like_option(text):
        assert read([text], GRAD, "autodiff grad") == {"expr": text}
    if text != "--":
        assert read(["--", text], GRAD, "autodiff grad") == {"expr": text}
        if text not in KNOWN:
            assert read(["--at", text], GRAD, "autodiff grad") == {"at": [text]}
        assert read([f"--at={text}"], GRAD, "autodiff grad") == {"at": [text]}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_what_is_declared(command: str) -> None:
    help_ = autodiff(command, "--help")
    assert help_.code == 0
    declared = Declared(command_module(command).run)
    assert re.findall(r"^  (?:-h, )?(--[\w-]+)", help_.out, re.MULTILINE) == [*declared.options, "--help"]
    for _, option, kind in declared.options.values():
        assert option.name + (f" {option.metavar}" if option.metavar else "") in help_.out
        assert bool(option.metavar) == (kind is not bool)


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_the_example_of_the_help_runs_as_shown(command: str | None) -> None:
    help_ = autodiff(*filter(None, [command]), "--help").out
    first, example, *_ = help_.splitlines()
    assert first == "Example:"
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", example], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    ("shell", "env", "expected"),
    [
        ("bash", {"COMP_WORDS": "autodiff gr", "COMP_CWORD": "1"}, "grad"),
        ("bash", {"COMP_WORDS": "autodiff grad --dep", "COMP_CWORD": "2"}, "--depth"),
        ("bash", {"COMP_WORDS": "autodiff grad --format js", "COMP_CWORD": "3"}, "jsonl"),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "autodiff grad --format t"}, "table"),
        ("fish", {"_TYPER_COMPLETE_ARGS": "autodiff fun", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "functions"),
    ],
)
def test_completion(shell: str, env: dict[str, str], expected: str) -> None:
    environment = {**os.environ, **env, "_AUTODIFF_COMPLETE": f"complete_{shell}"}
    done = subprocess.run([sys.executable, "-m", "autodiff_cli"], capture_output=True, text=True, env=environment)
    assert expected in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script(shell: str) -> None:
    environment = {**os.environ, "_AUTODIFF_COMPLETE": f"source_{shell}"}
    done = subprocess.run([sys.executable, "-m", "autodiff_cli"], capture_output=True, text=True, env=environment)
    assert "autodiff" in done.stdout and done.returncode == 0
