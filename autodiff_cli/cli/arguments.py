"""Arguments: from a command line to the arguments of a command's function.

Only an argument that equals a known option, or begins with one and `=`, is an option. Everything else, `-x**2` as well,
is the expression. That rule is why no stock parser reads the command line: they take `-x*h` for a cluster of options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import ExpressionError, looks_like_option, nearest, usage_error
from .declarations import Declared, Option

HELP_ALL = "--help-all"
HELP_OPTIONS = ("--help", "-h", HELP_ALL)


SHORT = {"-o": "--output", "-q": "--quiet"}
"""The short options. They are taken only when they stand alone, so that `-o*2` is an expression."""


class HelpAsked(Exception):
    """The command line asks for the command's help instead, by this option."""


class NothingAsked(Exception):
    """There is nothing to answer unless a person types it."""


def read(
    args: Sequence[str], declared: Declared, command: str, elsewhere: Callable[[str], Sequence[str]] = lambda name: ()
) -> dict[str, Any]:
    """The values that a command line gives, by name. Raises `HelpAsked`, or a usage error for what fits nowhere.

    `elsewhere` gives the commands that have an option.
    """
    values: dict[str, Any] = {}
    positional: list[str] = []
    late: list[str] = []
    option_names = (*declared.options, *HELP_OPTIONS)
    remaining = iter(args)
    for word in remaining:
        arg = word if SHORT.get(word) not in declared.options else SHORT[word]
        name, equals, value = arg.partition("=")
        if arg in HELP_OPTIONS:
            raise HelpAsked(arg)
        if arg == "--":
            late = list(remaining)
            positional += late
        elif name not in declared.options:
            suggestions = _slip(arg, option_names, elsewhere)
            if suggestions:
                hint = f"did you mean {' or '.join(f'`{word}`' for word in suggestions)}?"
                if not positional:
                    hint += " (as an expression, write it after `--`, behind all options)"
                raise usage_error(f"there is no option `{name}`", hint)
            positional.append(arg)
        else:
            option = declared.options[name]
            if option.kind is bool:
                if equals:
                    raise usage_error(f"`{name}` takes no value", f"write `{name}` alone")
                values[option.parameter] = True
                continue
            if not equals:
                following = next(remaining, None)
                if following is None or following in option_names:
                    hint = f"write it after the option; `{command} --help` says what it is"
                    raise usage_error(f"`{name}` needs a value", hint)
                value = following
            if option.kind == (list[str] | None):
                values.setdefault(option.parameter, []).append(value)
            else:
                chosen = _converted_here(option, value, declared)
                if values.setdefault(option.parameter, chosen) != chosen:
                    raise usage_error(f"`{name}` is given twice", "leave one of them out")
    if len(positional) > len(declared.arguments):
        if any(argument.partition("=")[0] in option_names for argument in late):
            raise usage_error("what stands after `--` is no option", "put the options before `--`")
        raise _too_many(positional, declared, command, elsewhere, values.get("at", []))
    if values.get("json") and values.get("format", "json") != "json":
        raise _excluded("--json", "--format")
    if positional and "file" in values and "expr" in (parameter for parameter, _ in declared.arguments):
        raise _excluded("EXPR", "--file")
    check(declared.options, values_by_option(declared, values))
    return values | dict(zip([parameter for parameter, _ in declared.arguments], positional, strict=False))


def values_by_option(declared: Declared, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of parameters by the names of their options."""
    parameters = {name: option.parameter for name, option in declared.options.items()}
    return {name: values[parameter] for name, parameter in parameters.items() if parameter in values}


def check(by_name: Mapping[str, Option], values: Mapping[str, Any]) -> None:
    """Raise a usage error where the options that have values, which are by name, do not go together, or one lacks."""
    stdin = None
    for name, option in by_name.items():
        if name not in values:
            if option.required:
                raise usage_error(f"`{name}` is required", f"add {_written(name, by_name)}")
            continue
        for conflict in option.conflicts:
            if _is_there(conflict, values):
                raise _excluded(name, conflict)
        needs = [need for need in option.needs if need.partition(" ")[0] in by_name]
        draws = "--draws" in needs and "draws(" in str(values.get("--at"))
        if needs and not draws and not any(_is_there(need, values) for need in needs):
            message = f"`{name}` needs {' or '.join(f'`{need}`' for need in needs)}"
            hint = f"add {' or '.join(_written(need, by_name) for need in needs)}, or leave `{name}` out"
            raise usage_error(message, hint)
        value = values[name]
        if option.reads_stdin and "-" in (
            value if isinstance(value, list) else [value] if isinstance(value, str) else ()
        ):
            if stdin is not None:
                raise usage_error(f"`{stdin}` and `{name}` both read standard input", "name a file")
            stdin = name


def _is_there(need: str, values: Mapping[str, Any]) -> bool:
    name, _, value = need.partition(" ")
    return name in values and (not value or str(values[name]) == value)


def _written(need: str, by_name: Mapping[str, Option]) -> str:
    name, _, value = need.partition(" ")
    values = (value,) if value else by_name[name].choices[:3] or (by_name[name].metavar,)
    return " or ".join(f"`{f'{name} {value_text}'.rstrip()}`" for value_text in values)


def _excluded(first: str, second: str) -> ExpressionError:
    return usage_error(f"`{first}` and `{second}` exclude each other", "leave one of them out")


def converted(option: Option, text: str) -> str | int | float:
    """The value of an option, as the type that it has. Raises a usage error for what it cannot be."""
    if option.kind == (str | None):
        chosen = text if text in option.choices else text.lower()
        if option.choices and chosen not in option.choices:
            from .synonyms import CHOICES, OPTION_ADVICE, available  # only errors need it

            near = next(iter(available(CHOICES.get(chosen, ()), option.choices)), None)
            hint = f"did you mean `{option.name} {near}`?" if near else f"it takes {', '.join(option.choices)}"
            advice = OPTION_ADVICE.get(option.name[2:]) if "=" in text else None
            raise usage_error(f"`{option.name}` cannot be `{text}`", advice or hint)
        return chosen if option.choices else text
    low, high = option.range or (None, None)
    is_integer = option.kind == (int | None)
    try:
        value: int | float = int(text) if is_integer else float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0 or (low is not None and value < low) or (high is not None and value > high):
        wanted = "a whole number" if is_integer else "a number"
        hint = f"it takes {wanted}" if low is None else f"it takes {wanted} from {low} to {high}"
        raise usage_error(f"`{option.name}` cannot be `{text}`", hint)
    return value


def _converted_here(option: Option, text: str, declared: Declared) -> str | int | float:
    try:
        return converted(option, text)
    except ExpressionError as error:
        for other_name, another in declared.options.items():
            if text in another.choices:
                raise usage_error(str(error), f"did you mean `{other_name} {text}`?") from None
        raise


def nearest_option(arg: str, options: Sequence[str]) -> str | None:
    """The option that this argument is likely a slip of, None where it reads as an expression."""
    if not looks_like_option(arg):
        return None
    return nearest(arg.partition("=")[0], [option for option in options if option.startswith("--")], 0.8)


def _slip(arg: str, options: Sequence[str], elsewhere: Callable[[str], Sequence[str]]) -> Sequence[str]:
    if not looks_like_option(arg):
        return ()
    from .synonyms import OPTIONS, available  # only errors need it

    name = arg.partition("=")[0][2:]
    # what other commands have is no slip of the pen
    near = None if elsewhere(f"--{name}") else nearest_option(arg, options)
    if near or (arg.startswith("--") and len(name) > SHORT_NAME):
        return available(OPTIONS.get(name, ()), options)[:2] or ([near] if near else ())
    return ()


SHORT_NAME = 3
"""The most letters of a name that may be a variable: `--eps` is then the expression -(-eps)."""


def _too_many(
    positional: Sequence[str],
    declared: Declared,
    command: str,
    elsewhere: Callable[[str], Sequence[str]],
    at: Sequence[str],
) -> ExpressionError:
    from .synonyms import OPTION_ADVICE, OPTIONS, available

    for k, arg in enumerate(positional):
        name, _, value = arg.partition("=")
        if looks_like_option(arg):
            meant = _meant(name[2:], value or "".join(positional[k + 1 : k + 2]), declared)
            commands = elsewhere(name)
            hint = f"`{command} --help` lists the options"
            others = OPTIONS.get(name[2:], ())[:1]
            if name[2:] in OPTION_ADVICE and not available(OPTIONS.get(name[2:], ()), declared.options):
                hint = OPTION_ADVICE[name[2:]]
            elif meant and (" " in meant[0] or not 0 < len(commands) <= MAX_NAMED_COMMANDS):
                hint = f"did you mean {' or '.join(f'`{word}`' for word in meant)}?"
            elif others and not commands and 0 < len(users := elsewhere(others[0])) <= MAX_NAMED_COMMANDS:
                hint = f"`{others[0]}` is an option of {', '.join(f'`{word}`' for word in users)}; {hint}"
            elif 0 < len(commands) <= MAX_NAMED_COMMANDS:
                hint = f"it is an option of {', '.join(f'`{word}`' for word in commands)}; {hint}"
            return usage_error(f"there is no option `{name}`", hint)
        if re.fullmatch(_SHORT, name):
            if name[1:] in OPTION_ADVICE:
                return usage_error(f"there is no option `{name}`", OPTION_ADVICE[name[1:]])
            meant = [word for word in declared.options if word == f"-{name}" or (word.startswith(f"-{name}") and k)]
            meant = available(OPTIONS.get(name[1:], ()), declared.options) or meant
            if meant:
                hint = f"did you mean {' or '.join(f'`{word}`' for word in meant[:3])}? long options have two dashes"
                return usage_error(f"there is no option `{name}`", hint)
    extra = positional[len(declared.arguments)]
    hint = f"`{command} --help` says what it takes"
    assigned = [word for word in positional if re.fullmatch(_ASSIGNED, word)]
    takes = [f"{word} {extra}" for word, option in declared.options.items() if extra in option.choices]
    values = [*at[-1:], *positional[len(declared.arguments) :]]
    begin = len(next(iter(at[-1:]), "").rpartition("=")[0]) + 1
    if len({text[:begin] for text in values}) > 1:
        begin = values[0].find("=") + 1
    braces = [text[begin:].partition(",") for text in values if text[:begin] == values[0][:begin]]
    if at and begin and len(braces) == len(values) and len({end for _, _, end in braces}) == 1:
        listed, (_, comma, end) = ",".join(value for value, _, _ in braces), braces[0]
        hint = f'the shell takes braces apart, so put them in quotes: `--at "{extra[:begin]}{{{listed}}}{comma}{end}"`'
    elif "--at" in declared.options and extra in assigned and at:
        hint = f"give all values in one `--at`, separated by commas: `--at …,{extra}`"
    elif "--range" in declared.options and (ends := _ends(positional[len(declared.arguments) :])):
        hint = f"the range is `--range {ends}`"
    elif "--at" in declared.options and len(positional) == len(declared.arguments) + 1 and re.fullmatch(_NUMBER, extra):
        hint = f"give the point with `--at {extra}`"
    elif "--at" in declared.options and assigned and not at:
        hint = f"give the point with `--at {','.join(assigned)}`"
    elif command == "autodiff check":
        hint = f"to mark an answer: `autodiff exercise --check '{positional[0]}' --answer '{extra}'`"
    elif takes:
        hint = f"did you mean `{takes[0]}`?"
    elif "--data" in declared.options and any(word.endswith(_DATA) for word in positional):
        hint = f"data are named with `--data {next(word for word in positional if word.endswith(_DATA))}`"
    elif f"--{extra}" in declared.options:
        hint = f"did you mean `--{extra}`?"
    elif extra.startswith("=") and not extra.startswith("=="):
        hint = 'leave out the spaces around `=`, or put all of it in quotes: `--at "x = 3"`'
    elif "--at" in declared.options:
        hint = "put the whole expression in quotes, so that the shell keeps it together"
    return usage_error(f"`{extra}` is one argument too many", hint)


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def _ends(extra: Sequence[str]) -> str:
    if len(extra) == 2 and all(re.fullmatch(_NUMBER, word) for word in extra):
        return ":".join(extra)
    return extra[0] if len(extra) == 1 and re.fullmatch(r"(?:[^\W\d]\w*=)?[^:=]+:[^:=]+", extra[0]) else ""


MAX_NAMED_COMMANDS = 4
"""The most commands that a hint names as having an option."""

_ASSIGNED = r"[^\W\d]\w*=[-+]?[\d.][\w.+-]*(?:,[^\W\d]\w*=[-+]?[\d.][\w.+-]*)*"
"""Values of names, which are no formula."""

_DATA = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow")
"""How the names of files of data end."""

_SHORT = r"-[a-zV][a-z-]*"
"""A word with one dash that is meant as an option."""


def _meant(name: str, value: str, declared: Declared) -> list[str]:
    # `--latex` for `--format latex`
    options = declared.options.values()
    takes = [f"{option.name} {word}" for word in (value, name) for option in options if word in option.choices]
    if takes:
        return takes[:2]
    from .synonyms import OPTIONS, available

    if synonyms := available(OPTIONS.get(name, ()), declared.options):
        return synonyms[:2]
    words = set(name.split("-"))
    candidates = [candidate for candidate in declared.options if words & set(candidate[2:].split("-"))]
    candidates = candidates or [
        candidate for candidate in declared.options if len(name) > 2 and candidate.startswith(f"--{name}")
    ]
    return candidates[:2] if len(candidates) <= 2 else []
