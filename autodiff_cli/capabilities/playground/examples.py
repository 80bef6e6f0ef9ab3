"""The examples of the playground: lines of the help and of the tutorials that a session can answer
by itself.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TypedDict

from ...cli.declarations import QUESTIONS, declared
from ...cli.help_page import tutorials

# Commands that need libraries which are not pure Python.
WITHOUT = ("fit", "integrate", "serve", "repl", "minimize", "maximize")
_LINE = re.compile(r"^(?:\$ )?autodiff (.+)$", re.MULTILINE)
# What a shell reads: variables, pipes, redirections, lines that go on; points in files; answers to
# exercises.
_NOT_ALONE = re.compile(r"[$|<>\\`]|\s@|--check ")


class Group(TypedDict):
    """The examples of a tutorial, or one of each command."""

    title: str
    lines: list[str]


def examples() -> list[Group]:
    """Return the examples by title, as lines of a session."""
    of_commands = [
        next(_lines("\n".join(declared(command).examples)), None) for command in QUESTIONS
    ]
    groups = [
        Group(title="One of each command", lines=[line for line in of_commands if line is not None])
    ]
    groups += [
        Group(title=title, lines=list(_lines(path.read_text("utf-8"))))
        for title, path in tutorials().values()
    ]
    return [group for group in groups if group["lines"]]


def _lines(text: str) -> Iterator[str]:
    for line in dict.fromkeys(match[1] for match in _LINE.finditer(text)):
        if _NOT_ALONE.search(line):
            continue
        words = shlex.split(line)
        if words[0] not in WITHOUT and not any(_is_of_files(words[0], word) for word in words):
            yield _without_output(line)


def _is_of_files(command: str, word: str) -> bool:
    option = declared(command).options.get(word)
    return option is not None and option.metavar == "PATH" and word != "--output"


def _without_output(line: str) -> str:
    """Return the line without the name of a picture, which the page shows."""
    return re.sub(r" --output \S+", "", line)
