"""Tests of the harness that runs documents: what it accepts, and that it can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

import console
from warm_command import warm


def document(folder: Path, *session: str) -> Path:
    """A document with one console block a session."""
    path = folder / "document.md"
    path.write_text(
        "".join(f"Some words.\n\n```console\n{text}```\n\n" for text in session), encoding="utf-8"
    )
    return path


GOOD = [
    pytest.param(["$ echo one\none\n$ echo two\ntwo\n"], id="two commands"),
    pytest.param(["$ true\n$ printf 'a\\n\\nb\\n'\na\n\nb\n"], id="no output and a blank line"),
    pytest.param(["$ echo one \\\n    two\none two\n"], id="a backslash"),
    pytest.param(["$ echo one \\\n>   two\none two\n"], id="a backslash with a prompt"),
    pytest.param(["$ echo 'one\n> two'\none\ntwo\n"], id="an open quote"),
    pytest.param(["$ cat <<'END'\none $HOME\nEND\none $HOME\n"], id="a here-document"),
    pytest.param(
        ["$ cat <<END > file\n> one\n> END\n$ cat file\none\n"], id="a here-document with prompts"
    ),
    pytest.param(["$ for i in 1 2; do\n>   echo $i\n> done\n1\n2\n"], id="a loop"),
    pytest.param(
        ["$ echo wrong >&2; (exit 3)\nwrong\n$ echo $?\n3\n"], id="standard error and an exit code"
    ),
    pytest.param(
        ["$ x=1; echo one > file\n", "$ cat file; echo $x\none\n1\n"],
        id="state lasts from block to block",
    ),
    pytest.param(
        ["$ cat\n$ echo $COLUMNS $NO_COLOR\n80 1\n"], id="empty standard input, known settings"
    ),
    pytest.param(["$ echo '> a'\n> a\n"], id="output that looks like a prompt"),
]

BAD = [
    pytest.param(["$ echo one\ntwo\n"], "echo one", id="another word"),
    pytest.param(["$ echo one\n"], "echo one", id="output that is not shown"),
    pytest.param(["$ true\none\n"], "true", id="output that is not there"),
    pytest.param(["$ echo one\none \n"], "echo one", id="a space at the end"),
    pytest.param(["$ printf one\none\n"], "printf one", id="no new line at the end"),
    pytest.param(
        ["$ echo one\none\n", "$ (exit 3)\n$ echo $?\n4\n"],
        "echo $?",
        id="an exit code, in a later block",
    ),
]


@pytest.mark.posix
@pytest.mark.parametrize("sessions", GOOD)
def test_a_right_document_passes(tmp_path: Path, sessions: list[str]) -> None:
    assert list(console.differences(document(tmp_path, *sessions))) == []


@pytest.mark.posix
@pytest.mark.parametrize(("sessions", "command"), BAD)
def test_a_wrong_document_fails(tmp_path: Path, sessions: list[str], command: str) -> None:
    path = document(tmp_path, *sessions)
    [(step, printed)] = console.differences(path)
    assert step.command == command
    assert path.read_text().split("\n")[step.line - 1] == f"$ {command}"
    assert f"line {step.line}: $ {command}" in console.explain(path, step, printed)


@pytest.mark.posix
def test_update_writes_what_the_commands_print(tmp_path: Path) -> None:
    path = document(
        tmp_path, "$ echo one\n$ printf 'a\\nb\\n'\nc\n", "$ true\nold\n$ echo two\ntwo\n"
    )
    assert console.update(path) == 3
    assert (
        path.read_text()
        == document(
            tmp_path, "$ echo one\none\n$ printf 'a\\nb\\n'\na\nb\n", "$ true\n$ echo two\ntwo\n"
        ).read_text()
    )
    assert list(console.differences(path)) == []


@pytest.mark.posix
def test_a_shell_that_ends_early_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="the shell ended before this ran: echo two"):
        console.run(["echo one", "exit 0", "echo two"])


@pytest.mark.posix
def test_a_command_that_does_not_come_back_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="seconds were up before this ran"):
        console.run(["sleep 60", "echo two"], seconds=0.5)


@pytest.mark.posix
def test_output_without_a_command_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line 4: a console block starts with a command"):
        list(console.differences(document(tmp_path, "one\n$ echo one\n")))


@pytest.mark.posix
def test_blocks_are_found_by_their_language() -> None:
    text = "```sh\none\n```\n````console\n```\n$ two\n````\n```\nthree\n```\n```sh\n```\n"
    assert [(block.text, block.first) for block in console.blocks(text, "sh")] == [
        ("one\n", 2),
        ("", 12),
    ]
    assert [block.lines for block in console.blocks(text, "console")] == [("```", "$ two")]
    with pytest.raises(ValueError, match="line 1 is never closed"):
        console.blocks("```sh\n", "sh")


@pytest.mark.parametrize(
    "command",
    [
        "autodiff grad 'x**2' --at x=3 --json",
        "printf 'x**2\\tx=3\\nlog(x)\\tx=-1\\n' | autodiff grad - --on-error continue; echo $?",
        "autodiff grad 'x**2' --at x=3 --format plain | autodiff grad - 2>&1; echo ${PIPESTATUS[@]}",
        "autodiff grad 'x +'; echo $?",
        "autodiff; echo $?; autodiff --version; autodiff 'x^2' --at x=1",
        "COLUMNS=60 autodiff grad 'x*y' --at x=3,y=2; mkdir a; cd a; autodiff diff 'x**2' -o b.txt; cat b.txt",
        "(echo 1; autodiff diff 'x**2'; echo 2) > file; cat file; autodiff diff 'x**2' >&-; echo $?",
        "LC_ALL=C autodiff diff 'pi*x' --format latex",
    ],
)
@pytest.mark.posix
def test_a_command_that_has_started_already_does_the_same(command: str, tmp_path: Path) -> None:
    folder = tmp_path / "started"
    with warm(console.HERE, folder, console.variables(folder)) as started:
        for _ in range(2):  # the second finds loaded what the first has loaded
            assert console.run([command], folders=[started, console.HERE]) == console.run([command])
