"""Shell completion of options, functions, variables and columns."""

import glob
import os
import re
import shlex
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from ..errors import ExpressionError
from .declarations import COMMANDS, DATA, RENAMED, VARIABLES, Option, declared

_NAME = re.compile(r"(?<!\w)\d*+([^\W\d]\w*+)$")
_BREAKS = re.compile(r".*[=:@]", re.DOTALL)
"""The part of a word after which bash begins a new word."""
VARIABLE = "_AUTODIFF_COMPLETE"
"""The environment variable of a request by a shell."""


def join_words(environment: MutableMapping[str, str]) -> str:
    """Join words that bash splits, such as `x=2`; return that to complete."""
    if environment.get(VARIABLE) != "complete_bash" or "COMP_WORDS" not in environment:
        return ""
    words = environment["COMP_WORDS"].split("\n")[: int(environment.get("COMP_CWORD", "0")) + 1]
    joined = words[:1]
    for at, (before, word) in enumerate(pairwise(words), start=1):
        if at > 1 and {word, before} & {"=", ":", "@"}:
            joined[-1] += word
        else:
            joined.append(word)
    environment["COMP_WORDS"] = "\n".join(joined)
    environment["COMP_CWORD"] = str(len(joined) - 1)
    return joined[-1] if joined else ""


def with_nospace(script: str) -> str:
    """Return the bash script, with no space after an incomplete word."""
    if "nospace" in script:
        return script
    return script.replace("    return 0\n", "    [[ $COMPREPLY == *[=\\(] ]] && compopt -o nospace\n    return 0\n")


def of_option(option: Option, prefix: str) -> Iterator[str]:
    """Yield the completions of an option's value."""
    if option.choices:
        yield from (choice for choice in option.choices if choice.startswith(prefix))
    elif option.value_syntax is not None:
        from ..equations.equations import variables_of

        line = typed_words(os.environ)
        head, comma, word = prefix.rpartition(",")
        already_typed = {piece.partition("=")[0].strip() for piece in head.split(",")}
        before, after, names = f"{head}{comma}", option.value_syntax, columns(line)
        if option.value_names == VARIABLES:
            data_columns = columns(line, DATA)
            names = [name for name in variables_of(line.expression) if name not in data_columns]
        elif option.value_names == RENAMED and after not in word:
            names = variables_of(line.expression)
        elif option.value_names == RENAMED:
            name, _, word = word.partition(after)
            before, after = f"{before}{name}{after}", ""
        names = [name for name in names if name.startswith(word) and name not in already_typed]
        yield from (f"{before}{name}{after}" for name in names)


def in_bash(completion: str, word: str) -> str:
    """Return a completion's part after the last word break of bash."""
    break_match = _BREAKS.match(word)
    return completion.removeprefix(break_match[0]) if break_match else completion


def of_expression(prefix: str) -> Iterator[str]:
    """Yield the expression with its last word completed to a function."""
    word = _NAME.search(prefix)
    if word is not None:
        yield from (f"{prefix[: word.start(1)]}{name}(" for name in of_functions(word[1]))


def of_functions(prefix: str) -> Iterator[str]:
    """Yield the names of functions."""
    from ..table import primitives  # noqa: F401 - enters all functions
    from ..table.primitive import FUNCTIONS

    yield from (name for name in FUNCTIONS if name.startswith(prefix))


def of_units(prefix: str) -> Iterator[str]:
    """Yield the symbols of units and the names of constants."""
    from ..quantities.table import constants, spellings

    yield from (name for name in dict.fromkeys((*spellings(), *constants())) if name.startswith(prefix))


class TypedLine(NamedTuple):
    """The command line as typed so far."""

    expression: str | None = None
    options: tuple[tuple[Option, str], ...] = ()


def typed_words(environment: Mapping[str, str]) -> TypedLine:
    """Return the command line that the shell sent."""
    text, words = environment.get("COMP_WORDS") or environment.get("_TYPER_COMPLETE_ARGS", ""), [""]
    for end in ("'", '"', ""):
        # the last quote may be open
        with suppress(ValueError):
            words = shlex.split(text + end)
    command = "".join(words[1:2])
    if command not in COMMANDS:
        return TypedLine()
    options = declared(command).options
    expression: str | None = None
    typed_options: list[tuple[Option, str]] = []
    remaining = iter(word for word in words[2:] if word)
    for word in remaining:
        name, equals, value = word.partition("=")
        if name not in options:
            expression = word if expression is None else expression
        elif options[name].kind is not bool:
            typed_options.append((options[name], value if equals else next(remaining, "")))
    return TypedLine(expression, tuple(typed_options))


def columns(line: TypedLine, role: str | None = None) -> Sequence[str]:
    """Return the columns of a line's data file, of this role if given."""
    files = [(option.data_role, path) for option, path in line.options if option.data_role is not None]
    paths = [path for data_role, path in files if role in (None, data_role)]
    if not any(os.path.isfile(path) or os.path.isdir(path) or glob.has_magic(path) for path in paths):
        # remote files and pipes are not read
        return ()
    from ..data.readers import reader
    from ..data.sources import sources

    with suppress(ExpressionError, OSError, StopIteration):
        first = reader(next(source for source in sources(paths) if os.path.isfile(source.path)))
        first.close()
        return first.names
    return ()
