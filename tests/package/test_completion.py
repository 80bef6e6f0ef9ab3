"""Completion: what each shell is offered, and that its script loads there."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest

from autodiff_cli.cli.completion import candidates
from autodiff_cli.cli.declarations import COMMANDS
from autodiff_cli.cli.shell_lines import split_line
from autodiff_cli.cli.shell_scripts import SCRIPTS
from shell_terminal import LANGUAGE, Shell
from warm_command import warm

HERE = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
SHELLS = ("bash", "zsh", "fish")
RUNS = "$(touch ran)"
HOSTILE = (
    "'", '"', "\\", "\\$", RUNS, "`touch ran`", ";touch ran;", "&touch ran&", "|touch ran", "{a}", "{a..c}", "*", "?",
    "[a]", "%", "~", "!", "!!", "\\e[31m", "(", ")", "<", ">", "#", "=", ":", "@", "^", " ", "a", "b7", "é", "$HOME",
    "${x}", "\\\\$(touch ran)", "-", "--x", "//", "+", "%s", "\\n", "$((1))", "=ls", "**", "&&", "$'x'", "\\`", "..",
    "_", '"$(touch ran)"', "'$(touch ran)'", "\\\\\\$(touch ran)", "::", '""',
)  # fmt: skip
"""What a shell could take for more than text."""
LEFT_OPEN = {"bash": "", "zsh": "=(", "fish": "/=@:.,-"}
"""The endings after which a shell leaves an open quote open."""


def asked(env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "autodiff_cli"], capture_output=True, env={**os.environ, **env}
    )
    assert done.stderr == b""
    return done.stdout.decode("utf-8")


def completed(shell: str, line: str) -> list[str]:
    """What a shell gets for a line."""
    return asked({"_AUTODIFF_COMPLETE": shell, "_AUTODIFF_LINE": line}).split("\n")[:-1]


def in_bash(*words: str) -> list[str]:
    """What bash is offered for the last of these words, as it cuts them."""
    line = "autodiff " + " ".join(words).replace(" = ", "=")
    return completed("bash", line)


def installed(tmp_path: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """A run below bash, which is then the shell that is found."""
    home = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    line = " ".join([shlex.quote(sys.executable), "-m", "autodiff_cli", *args])
    return subprocess.run(
        ["bash", "-c", f"{line}; exit $?"], capture_output=True, text=True, env=home
    )


@pytest.mark.posix
def test_the_script_is_installed_once_and_replaces_an_older_one(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("alias a=b", encoding="utf-8")
    path = tmp_path / ".bash_completions" / "autodiff.sh"
    path.parent.mkdir()
    path.write_text("COMPREPLY=( $( autodiff ) )\n", encoding="utf-8")
    first, again = (installed(tmp_path, "--install-completion") for _ in range(2))
    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert (
        first.stdout
        == f"completion for bash is installed in {path}, in place of an older script; it works in a"
        " new shell\n"
    )
    assert "older" not in again.stdout
    assert (
        path.read_text(encoding="utf-8")
        == SCRIPTS["bash"]
        == installed(tmp_path, "--show-completion").stdout
    )
    assert (tmp_path / ".bashrc").read_text(encoding="utf-8") == f"alias a=b\nsource '{path}'\n"


@pytest.mark.posix
def test_scripts_evaluate_nothing() -> None:
    for shell, script in SCRIPTS.items():
        assert asked({"_AUTODIFF_COMPLETE": f"source_{shell}"}) == script
        for word in ("eval", "Invoke-Expression", "iex ", "_arguments", "compadd -Q", "-U "):
            assert word not in script, (shell, word)
    # nothing here runs PowerShell: a name is quoted by its own function, and no text is expanded
    powershell = SCRIPTS["powershell"]
    assert "EscapeSingleQuotedStringContent($name)" in powershell
    assert '"$name' not in powershell and "ScriptBlock]::Create" not in powershell


@pytest.mark.posix
def test_older_scripts_get_no_data_to_evaluate() -> None:
    for shell in SHELLS:
        env = {
            **os.environ,
            "_AUTODIFF_COMPLETE": f"complete_{shell}",
            "_TYPER_COMPLETE_ARGS": "autodiff gr",
        }
        done = subprocess.run(
            [sys.executable, "-m", "autodiff_cli"], capture_output=True, text=True, env=env
        )
        assert "--install-completion" in done.stdout + done.stderr
        assert done.stdout == "" or done.stdout.startswith("_message 'autodiff: ")
        assert done.stdout.count("'") in (0, 2)


@pytest.mark.posix
@pytest.mark.parametrize(
    ("shell", "line", "words"),
    [
        (
            "bash",
            r"""autodiff grad 'a\'b"c\"d\e"\ f g""",
            ["autodiff", "grad", 'a\\bc"d\\e f', "g"],
        ),
        ("zsh", "autodiff $(touch ran) `x` '", ["autodiff", "$(touch", "ran)", "`x`", ""]),
        ("fish", r"""autodiff 'a\'b\\c\d' "e\"f" """, ["autodiff", r"a'b\c\d", 'e"f', ""]),
        ("powershell", "autodiff 'a''b' \"c`\"d\" e` f", ["autodiff", "a'b", 'c"d', "e f"]),
        ("bash", "", [""]),
        ("bash", "autodiff \\", ["autodiff", ""]),
    ],
)
def test_lines_are_cut_as_each_shell_quotes(shell: str, line: str, words: list[str]) -> None:
    assert [word.text for word in split_line(line, shell)] == words


def hostile_headings() -> list[str]:
    draw = random.Random(48)
    drawn = ("".join(draw.choices(HOSTILE, k=draw.randint(2, 5))).strip() for _ in range(1000))
    names = (*(heading.strip() for heading in HOSTILE), *drawn)
    return [name for name in dict.fromkeys(names) if name and name not in ("x", "y")][:56]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of an `autodiff` that has started already, for hundreds of keys."""
    folder = tmp_path_factory.mktemp("warm") / "bin"
    environment = {"PATH": os.environ["PATH"], **LANGUAGE}
    with warm(Path(sys.executable).parent, folder, environment) as commands:
        yield commands


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, started: Path, tmp_path: Path) -> Iterator[Shell]:
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    (tmp_path / "script").write_text(SCRIPTS[name], encoding="utf-8")
    running = Shell(name, tmp_path, started)
    yield running
    running.close()


def quote_to_close(shell: str, quote: str, text: str) -> str:
    return quote if text[-1] in LEFT_OPEN[shell] else ""


@pytest.mark.posix
def test_hostile_headings_are_inserted_as_they_are(shell: Shell) -> None:
    headings = hostile_headings()
    assert len(headings) == 56
    for number, heading in enumerate(headings):
        Path(shell.folder, f"d{number}.jsonl").write_text(
            json.dumps({"x": 1, "y": 2, heading: 3}), encoding="utf-8"
        )
        quote = ("", "'", '"')[number % 3]
        line = f"autodiff grad 'x*y' --points d{number}.jsonl --keep {quote}x,y,"
        arguments = shell.arguments(line, quote_to_close(shell.name, quote, heading))
        assert arguments is not None, (heading, shell.shown[-300:])
        assert arguments[-1] == f"x,y,{heading}"
        assert not list(shell.folder.rglob("ran"))


@pytest.mark.posix
def test_hostile_columns_are_inserted_after_an_equals_sign(shell: Shell) -> None:
    for number, heading in enumerate(hostile_headings()[4:24]):
        Path(shell.folder, f"d{number}.jsonl").write_text(
            json.dumps({heading: 3}), encoding="utf-8"
        )
        arguments = shell.arguments(f"autodiff grad 'x*y' --points d{number}.jsonl --columns x=")
        assert arguments is not None, (heading, shell.shown[-300:])
        assert arguments[-1] == f"x={heading}"
        assert not list(shell.folder.rglob("ran"))


@pytest.mark.posix
def test_hostile_file_names_are_inserted_as_they_are(shell: Shell) -> None:
    for number, text in enumerate(HOSTILE[:40]):
        if "/" in text:
            continue
        name = f"z{number}q{text}w"
        Path(shell.folder, name).touch()
        arguments = shell.arguments(f"autodiff grad 'x*y' --points z{number}q")
        assert arguments is not None, (name, shell.shown[-300:])
        assert not list(shell.folder.rglob("ran"))
        Path(shell.folder, name).unlink()
        assert arguments[-1] == name


@pytest.mark.posix
def test_headings_that_no_screen_shows_are_not_offered(shell: Shell) -> None:
    hidden = ("s\x1b]0;title\x07", "s\u202eabc", "s\nt", "s\x9b31m", "s\u2028")
    row = {"x": 1, **dict.fromkeys(hidden, 2), "s1": 3, "s2": 4}
    Path(shell.folder, "d.jsonl").write_text(json.dumps(row), encoding="utf-8")
    shell.shown = ""
    shell.type("autodiff grad 'x*y' --points d.jsonl --keep s\t\t\t")
    shown = shell.read(1)
    assert "s1" in shown and "s2" in shown
    for text in ("title", "\u202e", "abc", "\x9b", "\u2028"):
        assert text not in shown.replace("\x1b]0;autodiff", "")


@pytest.mark.posix
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["gr"], ["grad", "graph"]),
        (["help", "ta"], ["taylor", "tangent"]),
        (["grad", "--dep"], ["--depth"]),
        (["grad", "--format", "js"], ["json", "jsonl"]),
        (["export", "x", "--to", "=", "ja"], ["javascript", "jax"]),
        (["graph", "x", "--format", "m"], ["markdown", "mermaid"]),
        (["functions", "soft"], ["softplus", "softsign"]),
        (["units", "inc"], ["inch"]),
        (
            ["grad", '"2*sinh(x) + logi'],
            ["2*sinh(x) + logit(", "2*sinh(x) + logint(", "2*sinh(x) + logistic("],
        ),
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
        words = shlex.split(line)
        assert [candidate.text for candidate in candidates([*words, option])] == expected, line


@pytest.mark.posix
@pytest.mark.parametrize(
    ("shell", "line", "expected"),
    [
        ("zsh", "autodiff grad --format ta", "table"),
        ("zsh", "autodiff grad --format=ta", "--format=table"),
        ("zsh", 'autodiff grad "x*speed" --at x=2,s', "x=2,speed="),
        ("zsh", 'autodiff grad "2*logit', "2*logit("),
        ("zsh", "autodiff sol", "solve\tSolve equations, and differentiate the solution."),
        ("fish", "autodiff grad 'x*speed' --at x=2,s", "x=2,speed="),
        ("powershell", "autodiff grad 'x*speed' --at x=2,s", "x=2,speed="),
    ],
)
def test_what_other_shells_are_offered(shell: str, line: str, expected: str) -> None:
    assert completed(shell, line) == [expected]


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
        [found, *plain, code],
        capture_output=True,
        text=True,
        env={**HERE, "HOME": str(folder)},
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.posix
def test_bash_loads_its_script_and_completes(scripts: Path) -> None:
    code = (
        'source ./bash; complete -p autodiff; compopt() { :; }; COMP_LINE=\'autodiff grad "x*speed"'
        " --at x=2,s'; COMP_POINT=${#COMP_LINE}; _autodiff_completion autodiff; echo"
        ' "${COMPREPLY[@]}"'
    )
    assert (
        run("bash", code, scripts)
        == "complete -o default -F _autodiff_completion autodiff\n2,speed=\n"
    )


@pytest.mark.posix
def test_zsh_loads_its_script(scripts: Path) -> None:
    code = "autoload -U compinit; compinit -u -d ./dump; source ./zsh; echo ${_comps[autodiff]}"
    assert run("zsh", code, scripts) == "_autodiff_completion\n"


@pytest.mark.posix
def test_fish_loads_its_script_and_completes(scripts: Path) -> None:
    code = (
        "source ./fish; complete -C 'autodiff functions soft'; complete -C 'autodiff grad"
        ' "x*speed" --at x=2,s\''
    )
    assert run("fish", code, scripts).split() == ["softplus", "softsign", "x=2,speed="]


@pytest.mark.posix
def test_all_commands_are_offered() -> None:
    assert in_bash("") == [*COMMANDS, "help", "tutorial"]
