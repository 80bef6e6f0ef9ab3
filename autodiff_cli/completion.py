"""Completion: what a shell is offered beyond commands, options and choices: functions, and variables of the formula."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress

from .commands import COMMANDS, command_module
from .errors import ExpressionError
from .streams.arguments import Declared
from .streams.options import Option

_NAME = re.compile(r"[^\W\d]\w*$")
_BREAKS = re.compile(r".*[=:@]", re.DOTALL)
"""What is before the place where bash begins a word anew."""

VARIABLE = "_AUTODIFF_COMPLETE"
"""The environment variable by which a shell asks."""


def prepare(environment: MutableMapping[str, str]) -> None:
    """Put together the words of bash that belong together: it takes `x`, `=` and `2` of `--at x=2` for three."""
    if environment.get(VARIABLE) != "complete_bash" or "COMP_WORDS" not in environment:
        return
    words = environment["COMP_WORDS"].split("\n")
    last = int(environment.get("COMP_CWORD", "0"))
    joined: list[str] = []
    for at, word in enumerate(words[: last + 1]):
        before = words[at - 1] if at else ""
        if joined and at > 1 and (word in ("=", ":", "@") or before in ("=", ":", "@")):
            joined[-1] += word
        else:
            joined.append(word)
    environment["COMP_WORDS"] = "\n".join(joined)
    environment["COMP_CWORD"] = str(len(joined) - 1)


def of_option(option: Option, begun: str) -> Iterator[str]:
    """What the value of an option may go on with, after its beginning."""
    if option.choices:
        yield from (choice for choice in option.choices if choice.startswith(begun))
    elif option.after is not None:
        yield from _variables(begun, option.after)


def in_bash(whole: str, begun: str) -> str:
    """What bash is given of an answer: it begins a word anew behind some characters, and has what is before them."""
    there = _BREAKS.match(begun)
    return whole[there.end() :] if there and whole.startswith(there[0]) else whole


def of_expression(begun: str) -> Iterator[str]:
    """Functions that the last word of an expression may become."""
    from .table.primitive import FUNCTIONS

    word = _NAME.search(begun)
    if word is not None:
        yield from (f"{begun[: word.start()]}{name}(" for name in FUNCTIONS if name.startswith(word[0]))


def of_functions(begun: str) -> Iterator[str]:
    """Names of functions."""
    from .table.primitive import FUNCTIONS

    yield from (name for name in FUNCTIONS if name.startswith(begun))


def _variables(begun: str, after: str) -> Iterator[str]:
    """The values that name variables of the program: each that is not there yet, with what follows it."""
    head, comma, word = begun.rpartition(",")
    there = {piece.partition("=")[0].strip() for piece in head.split(",")}
    for name in variables(typed_expression(os.environ)):
        if name.startswith(word) and name not in there:
            yield f"{head}{comma}{name}{after}"


def typed_expression(environment: Mapping[str, str]) -> str | None:
    """The expression in the line that the shell asks about, None where there is none yet."""
    text = environment.get("COMP_WORDS") or environment.get("_TYPER_COMPLETE_ARGS", "")
    for end in ("", '"', "'"):
        # the last word may have a quote that is still open
        with suppress(ValueError):
            _, command, *words = [*shlex.split(text + end), "", ""]
            break
    else:
        return None
    if command not in COMMANDS:
        return None
    options = Declared(command_module(command).run).options
    rest = iter(word for word in words if word)
    for word in rest:
        name, equals, _ = word.partition("=")
        if name not in options:
            return word
        if not equals and options[name][2] is not bool:
            next(rest, None)
    return None


def variables(text: str | None) -> Sequence[str]:
    """The variables of a program; none where it is not one."""
    from .questions.equations import read_equations  # help and the version need no engine
    from .questions.problem import parse

    for read in (parse, lambda text: read_equations(text, ()).program):
        with suppress(ExpressionError):
            return list(read(text or "").variables)
    return ()
