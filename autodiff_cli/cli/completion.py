"""Shell completion of options, functions, variables and columns."""

import glob
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..errors import ExpressionError
from .declarations import COMMANDS, DATA, PAGES, RENAMED, VARIABLES, Option, declared
from .shell_lines import ShellWord, inserted_by_bash, split_line
from .shell_scripts import LINE, OUTDATED, SCRIPTS, VARIABLE

_NAME = re.compile(r"(?<!\w)\d*+([^\W\d]\w*+)$")
# A longer line gets no completions.
MAX_LINE_CHARACTERS = 100_000
# The options that come before a command, and their help.
GENERAL_OPTIONS = {
    "--version": "Show the version and exit.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": (
        "Show completion for the current shell, to copy it or customize the installation."
    ),
    "--help": "Show this message and exit.",
}


class Candidate(NamedTuple):
    """A text that the word to complete may become, and what it means."""

    text: str
    description: str = ""


def complete(environment: Mapping[str, str]) -> int:
    """Answer a shell's request, or its completion script; return the exit code."""
    shell = environment[VARIABLE]
    if shell.removeprefix("source_") in SCRIPTS and shell.startswith("source_"):
        sys.stdout.write(SCRIPTS[shell.removeprefix("source_")])
    elif shell in SCRIPTS:
        lines = list(_lines(environment.get(LINE, ""), shell))
        sys.stdout.buffer.write("".join(lines).encode("utf-8", "surrogateescape"))
    elif shell == "complete_zsh":
        # the older script of zsh evaluates this
        sys.stdout.write(f"_message '{OUTDATED}'\n")
    else:
        sys.stderr.write(f"\n{OUTDATED}\n")
    return 0


def _lines(line: str, shell: str) -> Iterator[str]:
    if len(line) > MAX_LINE_CHARACTERS:
        return
    words = split_line(line, shell)
    while words and re.match(r"\w+=", words[0].text):
        # assignments before the command
        del words[0]
    word = words[-1] if words else ShellWord()
    for candidate in candidates([each.text for each in words[1:]]):
        # what a screen does not show is not offered
        if not (candidate.text + candidate.description).isprintable():
            continue
        if shell == "bash":
            if candidate.text.startswith(word.text[: word.kept]):
                yield f"{inserted_by_bash(candidate.text, word)}\n"
        elif candidate.description:
            yield f"{candidate.text}\t{candidate.description}\n"
        else:
            yield f"{candidate.text}\n"


def candidates(words: Sequence[str]) -> Iterator[Candidate]:
    """Yield what the last of these words after `autodiff` may become."""
    *before, prefix = words or [""]
    if not before:
        yield from (
            _described(GENERAL_OPTIONS, prefix) if prefix.startswith("-") else _commands(prefix)
        )
        return
    command, *typed = before
    if command not in (*COMMANDS, *PAGES):
        return
    options = declared(command).options
    name, equals, value = prefix.partition("=")
    if "--" in typed:
        yield from _of_argument(command, prefix)
    elif typed and typed[-1] in options and options[typed[-1]].kind is not bool:
        line = _typed_line(command, typed[:-1])
        yield from map(Candidate, of_option(options[typed[-1]], prefix, line))
    elif equals and name in options and options[name].kind is not bool:
        values = of_option(options[name], value, _typed_line(command, typed))
        yield from (Candidate(f"{name}={text}") for text in values)
    else:
        if prefix.startswith("-"):
            yield from _described(_helps(options.values()), prefix)
        if not prefix.startswith("--"):
            yield from _of_argument(command, prefix)


def _helps(options: Iterable[Option]) -> dict[str, str]:
    """Return what each option does, by its name."""
    helps = {option.name: option.help for option in options}
    return helps | {
        "--help": "Show the options that matter first.",
        "--help-all": "Show all options.",
    }


def _described(texts: Mapping[str, str], prefix: str) -> Iterator[Candidate]:
    yield from (
        Candidate(text, meaning) for text, meaning in texts.items() if text.startswith(prefix)
    )


def _commands(prefix: str) -> Iterator[Candidate]:
    yield from _described({name: declared(name).summary for name in (*COMMANDS, *PAGES)}, prefix)


def _of_argument(command: str, prefix: str) -> Iterable[Candidate]:
    arguments = declared(command).arguments
    if not arguments:
        return ()
    if command == "units":
        return map(Candidate, of_units(prefix))
    if arguments[0].parameter == "command":
        return _commands(prefix)
    if arguments[0].parameter == "number":
        from .help_page import tutorials

        return _described({str(n): title for n, (title, _) in tutorials().items()}, prefix)
    if arguments[0].parameter == "expr":
        return map(Candidate, of_expression(prefix))
    return map(Candidate, of_functions(prefix))


def of_option(option: Option, prefix: str, line: "TypedLine") -> Iterator[str]:
    """Yield the completions of an option's value."""
    if option.choices:
        before, comma, word = prefix.rpartition("," if option.kind == (list[str] | None) else "\0")
        yield from (
            f"{before}{comma}{choice}" for choice in option.choices if choice.startswith(word)
        )
    elif option.value_syntax is not None:
        head, comma, word = prefix.rpartition(",")
        already_typed = {piece.partition("=")[0].strip() for piece in head.split(",")}
        before, after = f"{head}{comma}", option.value_syntax
        if option.value_names == RENAMED and after in word:
            name, _, word = word.partition(after)
            before, names, after = f"{before}{name}{after}", columns(line), ""
        else:
            names = _names_in_values(option, line)
        names = [
            name
            for name in names
            if name.startswith(word) and name not in already_typed and _is_passed(name)
        ]
        yield from (f"{before}{name}{after}" for name in names)


def _names_in_values(option: Option, line: "TypedLine") -> Sequence[str]:
    """Return the names that a value of an option begins with: variables of the formula, or
    columns.
    """
    from .commands import variables_of

    if option.value_names == RENAMED:
        return variables_of(line.expression)
    if option.value_names != VARIABLES:
        return columns(line)
    data_columns = columns(line, DATA)
    return [name for name in variables_of(line.expression) if name not in data_columns]


def _is_passed(name: str) -> bool:
    """Return whether a list of names can have this one: it is cut at commas, and blanks are
    stripped.
    """
    return "," not in name and name == name.strip()


def of_expression(prefix: str) -> Iterator[str]:
    """Yield the expression with its last word completed to a function."""
    word = _NAME.search(prefix)
    if word is not None:
        yield from (f"{prefix[: word.start(1)]}{name}(" for name in of_functions(word[1]))


def of_functions(prefix: str) -> Iterator[str]:
    """Yield the names of functions."""
    from ..engine.table import primitives  # noqa: F401 - enters all functions
    from ..engine.table.primitive import COMPOSED, FUNCTIONS

    yield from (name for name in (*FUNCTIONS, *COMPOSED) if name.startswith(prefix))


def of_units(prefix: str) -> Iterator[str]:
    """Yield the symbols of units and the names of constants."""
    from ..engine.quantities.table import constants, spellings

    yield from (
        name for name in dict.fromkeys((*spellings(), *constants())) if name.startswith(prefix)
    )


class TypedLine(NamedTuple):
    """The command line as typed so far."""

    expression: str | None = None
    options: tuple[tuple[Option, str], ...] = ()


def _typed_line(command: str, words: Sequence[str]) -> TypedLine:
    """Return a command line by the words after its command."""
    options = declared(command).options
    expression: str | None = None
    typed_options: list[tuple[Option, str]] = []
    remaining = iter(word for word in words if word)
    for word in remaining:
        name, equals, value = word.partition("=")
        if name not in options:
            expression = word if expression is None else expression
        elif options[name].kind is not bool:
            typed_options.append((options[name], value if equals else next(remaining, "")))
    return TypedLine(expression, tuple(typed_options))


def columns(line: TypedLine, role: str | None = None) -> Sequence[str]:
    """Return the columns of a line's data file, of this role if given."""
    files = [
        (option.data_role, path) for option, path in line.options if option.data_role is not None
    ]
    paths = [path for data_role, path in files if role in (None, data_role)]
    if not any(
        os.path.isfile(path) or os.path.isdir(path) or glob.has_magic(path) for path in paths
    ):
        # remote files and pipes are not read
        return ()
    from ..data.readers import reader
    from ..data.sources import sources

    with suppress(ExpressionError, OSError, StopIteration):
        first = reader(next(source for source in sources(paths) if os.path.isfile(source.path)))
        first.close()
        return first.names
    return ()
