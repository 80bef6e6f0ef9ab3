"""Completion: what each shell is offered, and that its script loads there."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from autodiff_cli.cli.completion import of_option, typed_words
from autodiff_cli.cli.declarations import COMMANDS, declared

HERE = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}


def asked(env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "autodiff_cli"], capture_output=True, text=True, env={**os.environ, **env}
    )
    assert done.stderr == ""
    return done.stdout


def in_bash(*words: str) -> list[str]:
    """What bash is offered for the last of these words, as it cuts them."""
    line = {"COMP_WORDS": "\n".join(("autodiff", *words)), "COMP_CWORD": str(len(words))}
    return asked({**line, "_AUTODIFF_COMPLETE": "complete_bash"}).split()


def test_each_way_to_the_script_of_bash_leaves_no_blank_after_what_goes_on(tmp_path: Path) -> None:
    home = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}

    def from_bash(*args: str) -> subprocess.CompletedProcess[str]:
        # Typer looks for the shell among the processes that started it
        line = " ".join([shlex.quote(sys.executable), "-m", "autodiff_cli", *args])
        return subprocess.run(["bash", "-c", f"{line}; exit $?"], capture_output=True, text=True, env=home)

    shown = from_bash("--show-completion")
    done = [from_bash("--install-completion") for _ in range(2)]
    assert [each.returncode for each in (shown, *done)] == [0, 0, 0]
    installed = (tmp_path / ".bash_completions" / "autodiff.sh").read_text(encoding="utf-8")
    for script in (shown.stdout, installed, asked({"_AUTODIFF_COMPLETE": "source_bash"})):
        assert script.count("compopt -o nospace") == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["gr"], ["grad", "graph"]),
        (["help", "ta"], ["taylor"]),
        (["grad", "--dep"], ["--depth"]),
        (["grad", "--format", "js"], ["json", "jsonl"]),
        (["export", "x", "--to", "=", "ja"], ["javascript", "jax"]),
        (["graph", "x", "--format", "m"], ["markdown", "mermaid"]),
        (["functions", "soft"], ["softplus", "softsign"]),
        (["units", "inc"], ["inch"]),
        (["grad", '"2*sinh(x) + logi'], ["2*sinh(x)", "+", "logit("]),
        (["grad", '"x*speed + y_2"', "--at", ""], ["x=", "speed=", "y_2="]),
        (["grad", '"x*speed + y_2"', "--at", "s"], ["speed="]),
        (["grad", '"x*speed + y_2"', "--at", "x", "=", "2,s"], ["2,speed="]),
        (["grad", '"x*speed + y_2"', "--at", "x", "=", "2,x"], []),
        (["grad", "--at", "x", "=", "2", '"x*speed + y_2"', "--wrt", "x,"], ["x,speed", "x,y_2"]),
        (["trace", "a*b", "--mode", "forward", "--direction", "b"], ["b="]),
        (["plot", "a**2", "--range", ""], ["a="]),
        (["minimize", "a**2+b", "--bounds", "b"], ["b="]),
        (["propagate", "a**2+b", "--at", "b"], ["b="]),
        (["solve", '"a**2 = b"', "--for", "a"], ["a"]),
        (["solve", '"a**2 = b"', "--between", ""], ["a=", "b="]),
        (["grad", "a*b", "--columns", "b"], ["b="]),
        (["propagate", "a*b", "--correlation", "a"], ["a:"]),
        (["grad", "x*", "--at", ""], []),
        (["grad", "--at", ""], []),
        (["grad", "x", "--points", "da"], []),
    ],
    ids=" ".join,
)
def test_what_bash_is_offered(words: list[str], expected: list[str]) -> None:
    assert in_bash(*words) == expected


def test_columns_of_the_data_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("temp,time,u\n1,2,3\n", encoding="utf-8")
    Path("data.jsonl").write_text('{"temp": 1, "time": 2}\n', encoding="utf-8")
    Path("data").mkdir()
    Path("data/1.csv").write_text("first,second\n", encoding="utf-8")
    pyarrow.parquet.write_table(pyarrow.table({"temp": [1.0], "time": [2.0]}), "data.parquet")
    Path("empty.csv").touch()
    for line, option, expected in (
        ("grad x*y --points data.csv --columns", "", ["x=", "y="]),
        ("grad x*y --points data.csv --columns", "x=t", ["x=temp", "x=time"]),
        ("grad x*y --points data.csv --columns", "x=temp,y=ti", ["x=temp,y=time"]),
        ("grad x*y --points data.jsonl --keep", "a,t", ["a,temp", "a,time"]),
        ("grad x*y --points=data.parquet --keep", "te", ["temp"]),
        ("grad x*y --points data --keep", "", ["first", "second"]),
        ("grad x*y --points dat*.csv --keep", "u", ["u"]),
        ("grad a*temp --points data.csv --wrt", "", ["a", "temp"]),
        ("grad a*temp --data data.csv --wrt", "", ["a"]),
        ("fit --data data.csv a*temp --response", "t", ["temp", "time"]),
        ("fit a*temp --data data.csv --sigma", "", ["temp", "time", "u"]),
        ("fit a*temp --data data.csv --weights", "u", ["u"]),
        ("fit 'time = a*temp + b' --data data.csv --at", "", ["a=", "b="]),
        ("fit 'time = a*temp + b' --data data.csv --fix", "a=1,", ["a=1,b="]),
        ("propagate a*temp --data data.csv --at", "", ["a=", "temp="]),
        ("fit a*temp --data nothing.csv --response", "", []),
        ("fit a*temp --data - --response", "", []),
        ("fit a*temp --data s3://bucket/x.csv --response", "", []),
        ("fit a*temp --data empty.csv --response", "", []),
        ("fit a*temp --response", "", []),
    ):
        words = ["autodiff", *line.split(), option]
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        command, name = words[1], line.split()[-1]
        known = declared(command).options[name]
        assert list(of_option(known, option)) == expected, line


@pytest.mark.parametrize(
    ("shell", "line", "expected"),
    [
        ("zsh", "autodiff grad --format t", '"table"'),
        ("zsh", 'autodiff grad "x*speed" --at x=2,s', '"x=2,speed="'),
        ("zsh", 'autodiff grad "2*logi', '"2*logit("'),
        ("fish", "autodiff fun", "functions"),
        ("fish", "autodiff grad 'x*speed' --at x=2,s", "x=2,speed="),
    ],
)
def test_what_other_shells_are_offered(shell: str, line: str, expected: str) -> None:
    ask = {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert expected in asked({**ask, "_AUTODIFF_COMPLETE": f"complete_{shell}"})


def test_the_expression_is_found_where_it_stands() -> None:
    for line, expected in (
        ("autodiff grad x**2 --at x=1", "x**2"),
        ("autodiff grad --at x=1 --json -x*h --wrt", "-x*h"),
        ('autodiff diff --at=x=1 "a + b" --wrt \'a', "a + b"),
        ("autodiff grad --at", None),
        ("autodiff nothing x", None),
        ("autodiff", None),
        ("", None),
    ):
        assert typed_words({"COMP_WORDS": line}).expression == expected, line


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scripts")
    for shell in ("bash", "zsh", "fish"):
        script = asked({"_AUTODIFF_COMPLETE": f"source_{shell}"})
        assert "autodiff" in script
        (folder / shell).write_text(script, encoding="utf-8")
    return folder


def run(shell: str, code: str, folder: Path) -> str:
    """What a shell prints that has loaded its script."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"there is no {shell} here to load its script")
    plain = {"bash": ["--norc", "-c"], "zsh": ["-f", "-c"], "fish": ["--no-config", "-c"]}[shell]
    done = subprocess.run(
        [found, *plain, code], capture_output=True, text=True, env={**HERE, "HOME": str(folder)}, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_bash_loads_its_script_and_completes(scripts: Path) -> None:
    code = (
        "source ./bash; complete -p autodiff; compopt() { :; }; "
        "COMP_WORDS=(autodiff grad '\"x*speed\"' --at x = 2,s); COMP_CWORD=6; _autodiff_completion autodiff; "
        'echo "${COMPREPLY[@]}"'
    )
    assert run("bash", code, scripts) == "complete -o default -F _autodiff_completion autodiff\n2,speed=\n"


def test_zsh_loads_its_script(scripts: Path) -> None:
    code = "autoload -U compinit; compinit -u -d ./dump; source ./zsh; echo ${_comps[autodiff]}"
    assert run("zsh", code, scripts) == "_autodiff_completion\n"


def test_fish_loads_its_script_and_completes(scripts: Path) -> None:
    code = "source ./fish; complete -C 'autodiff functions soft'; complete -C 'autodiff grad \"x*speed\" --at x=2,s'"
    assert run("fish", code, scripts).split() == ["softplus", "softsign", "x=2,speed="]


def test_all_commands_are_offered() -> None:
    assert in_bash("") == [*COMMANDS, "help"]
