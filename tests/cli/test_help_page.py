"""The pages of the manual on a terminal: drawn at every width, no number broken, and through a
pager.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest

from autodiff_cli.cli.help_page import draw_page, find_page
from autodiff_cli.show.characters import Terminal, width_of
from places import TOP
from terminals import ESCAPE, on_terminal

PAGES = sorted(path.stem for path in (TOP / "tests" / "tutorials" / "commands").glob("*.md"))
CAT = {"PAGER": "cat"}
WIDTHS = (40, 60, 80, 100, 120)
LINK = re.compile(r"!?\[([^]]+)\]\([^)]*\)")


def page_of(name: str) -> str:
    page = find_page(name)
    assert page is not None
    return page


def numbers(text: str) -> Counter[str]:
    """The numerals of a text, as often as they stand in it."""
    return Counter(re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", text))


def broken(page: str, shown: str, width: int) -> list[str]:
    """The numerals of a page that are not whole on a screen, and the lines that the screen would
    fold.
    """
    lines = ESCAPE.sub("", shown).splitlines()
    # a table that is shown in parts repeats its first column
    missing = numbers(LINK.sub(r"\1", page)) - numbers("\n".join(lines))
    return [
        *missing,
        *(line for line in lines if width_of(line) > width and not is_one_argument(line)),
    ]


def is_one_argument(line: str) -> bool:
    """Whether a line of a command is an argument that cannot be broken, so that it can be copied
    whole.
    """
    text = line.strip().removeprefix("$ ").removesuffix(" \\")
    try:
        words = shlex.split(text)
    except ValueError:
        return " " not in text
    return len(words) == 1 + words[0].startswith("--")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_no_number_of_a_page_is_broken(name: str, width: int) -> None:
    page = page_of(name)
    for look in (
        Terminal(is_terminal=True, width=width),
        Terminal(is_terminal=True, color=True, width=width),
    ):
        assert not broken(page, draw_page(page, look), width)
    assert broken(page, page, width) or max(map(width_of, page.splitlines())) <= width


@pytest.mark.posix
@pytest.mark.parametrize("width", WIDTHS)
def test_a_terminal_shows_the_page_drawn(width: int) -> None:
    for name in ("propagate", "grad"):
        shown = on_terminal("help", name, width=width, env=CAT)
        assert shown.code == 0 and not broken(page_of(name), shown.out, width)
        bare = ESCAPE.sub("", shown.out)
        assert bare != shown.out and "```" not in bare and "|---" not in bare
    plain = on_terminal("help", "units", width=width, env={**CAT, "NO_COLOR": "1"}).out
    assert (
        "\x1b" not in plain
        and plain == on_terminal("help", "units", width=width, env={"TERM": "dumb"}).out
    )
    ascii_only = on_terminal(
        "help", "propagate", width=width, env={**CAT, "LANG": "C", "LC_ALL": "C"}
    ).out
    assert not set("╭─│├•━") & set(ascii_only) and "| quantity |" in ESCAPE.sub("", ascii_only)


def test_a_command_that_is_broken_goes_on_as_in_a_shell() -> None:
    shown = draw_page(
        '# a\n\n```console\n$ autodiff grad "x + y" --at x=1,y=2\n```\n',
        Terminal(is_terminal=True, width=30),
    )
    assert shown.partition("\n\n")[2] == '  $ autodiff grad "x + y" \\\n      --at x=1,y=2\n'
    shown = draw_page(
        '# a\n\n```console\n$ echo "x + 1.5" | wc -c \\\n>   -l\n```\n',
        Terminal(is_terminal=True, width=24),
    )
    assert shown.partition("\n\n")[2] == '  $ echo "x + 1.5" | \\\n      wc -c -l\n'


@pytest.mark.parametrize("width", [*WIDTHS, None])
@pytest.mark.parametrize("name", PAGES)
def test_commands_can_be_copied_from_help(name: str, width: int | None) -> None:
    """A shell reads the command lines of a drawn page as those of the page: no argument is lost, no
    prompt is one.
    """
    drawn = draw_page(page_of(name), Terminal(is_terminal=width is not None, width=width))
    typed, shown = (commands(text) for text in (page_of(name), drawn))
    assert typed == shown


def commands(page: str) -> list[list[str]]:
    """The words of each command on a page, with single blanks."""
    found: list[list[str]] = []
    for line in re.sub(r" \\\n(?:> )?", " ", page).splitlines():
        if line.strip().startswith("$ "):
            words = shlex.split(line.strip().removeprefix("$ "))
            found.append([" ".join(word.split()) for word in words])
    return found


@pytest.mark.posix
def test_a_long_page_is_shown_by_the_pager(tmp_path: Path) -> None:
    paged = tmp_path / "paged.txt"
    pager = f"{sys.executable} -c 'import os, sys; print(os.environ[\"LESS\"], sys.stdin.read())'"
    shown = on_terminal("help", "propagate", env={"PAGER": pager}).out
    assert shown.startswith("FRSX ") and "autodiff propagate" in shown
    on_terminal("help", "propagate", env={"PAGER": f"tee {paged}"})
    assert "combined standard uncertainty" in ESCAPE.sub("", paged.read_text(encoding="utf-8"))
    own = on_terminal("help", "propagate", env={"PAGER": pager, "LESS": "-R"}).out
    assert own.startswith("-R ")
    # what the screen holds needs none
    paged.unlink()
    assert (
        "help descend"
        in on_terminal("help", "page", width=120, env={"PAGER": f"tee {paged}", "LINES": "99"}).out
    )
    assert not paged.exists()


@pytest.mark.posix
def test_less_is_the_pager_unless_the_terminal_is_dumb(tmp_path: Path) -> None:
    less = tmp_path / "less"
    less.write_text("#!/bin/sh\necho by less\ncat > /dev/null\n", encoding="utf-8")
    less.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    env = {"PATH": path}
    assert "by less" in on_terminal("help", "grad", env=env).out
    assert "by less" not in on_terminal("help", "grad", env={**env, "TERM": "dumb"}).out


@pytest.mark.posix
@pytest.mark.parametrize("pager", ["", "no-such-pager", "'", "/etc/passwd"])
def test_without_a_pager_the_page_is_printed(pager: str) -> None:
    shown = on_terminal("help", "grad", env={"PAGER": pager})
    assert shown.code == 0 and "Traceback" not in shown.out
    assert "Prints the value of a formula at a point" in shown.out


@pytest.mark.posix
def test_a_pager_that_is_left_early_is_no_error() -> None:
    for pager in ("true", "false", "head -1"):
        shown = on_terminal("help", "grad", env={"PAGER": pager})
        assert shown.code == 0 and "rror" not in shown.out and shown.out.count("\n") <= 1


def test_a_line_of_a_sentence_may_begin_with_a_bar() -> None:
    page = (
        "# Sizes\n\nWhere the size is below\n|`t`|, and above\n| 2, it counts.\n\n| a | b"
        " |\n|---|---|\n| 1 | 2 |\n"
    )
    shown = draw_page(page, Terminal(width=80))
    assert "Where the size is below |t|, and above | 2, it counts." in shown
    assert [line.split() for line in shown.splitlines() if "1" in line] == [
        ["│", "1", "│", "2", "│"]
    ]
