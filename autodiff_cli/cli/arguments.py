"""Arguments: from a command line to the arguments of a command's function.

Only an argument that equals a known option, or begins with one and `=`, is an option. Everything else, `-x**2` as well,
is the expression. That rule is why no stock parser reads the command line: they take `-x*h` for a cluster of options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import ExpressionError, looks_like_option, nearest
from .options import DEBUG, TITLES, WORK, Argument, Option, Without

HELP_ALL = "--help-all"
HELP_OPTIONS = ("--help", "-h", HELP_ALL)


class HelpAsked(Exception):
    """The command line asks for the command's help instead, by this option."""


class NothingAsked(Exception):
    """There is nothing to answer unless a person types it."""


class Declared:
    """What a command's function declares: its options by name, and its other arguments in order.

    A parameter of it is an option, an argument, or a group: a tuple of them.
    """

    def __init__(self, function: Callable[..., int]) -> None:
        self.options: dict[str, tuple[str, Option, Any]] = {}
        self.arguments: list[tuple[str, Argument]] = []
        self.sections: dict[str, str] = {}
        """For each option the title under which help has it."""
        self._groups: dict[str, Any] = {}
        for parameter, annotation in function.__annotations__.items():
            group: Any = getattr(annotation, "__origin__", annotation)
            told = getattr(annotation, "__metadata__", ())
            if hasattr(group, "_fields"):
                self._groups[parameter] = group
                title = TITLES.get(group, "Options")
                for field, each in group.__annotations__.items():
                    self._declare(field, each.__origin__, _changed(each.__metadata__[0], told), title)
            elif told:
                self._declare(parameter, group, told[0])
        if any(parameter == "expr" for parameter, _ in self.arguments):
            self._declare("work", int | None, WORK)
        self._declare("debug", bool, DEBUG)

    def _declare(self, parameter: str, kind: Any, told: Option | Argument | None, title: str = "Options") -> None:
        if isinstance(told, Option):
            self.sections[told.name] = title
            self.options[told.name] = (parameter, told, kind)
        elif told is not None:
            self.arguments.append((parameter, told))

    def grouped(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments for the function, from the value of each option and argument that was given."""
        made = dict(values)
        for parameter, group in self._groups.items():
            made[parameter] = group(**{field: made.pop(field) for field in group._fields if field in made})
        return made


def _changed(told: Option | Argument, changes: Sequence[Option | Argument | Without]) -> Option | Argument | None:
    """A declaration of a group as a command has it, None where it is left out."""
    for change in changes:
        if isinstance(change, Without):
            if isinstance(told, Option) and told.name in change.names:
                return None
        elif isinstance(change, Argument) if isinstance(told, Argument) else change[0] == told.name:
            told = change
    return told


def read(
    args: Sequence[str], declared: Declared, command: str, elsewhere: Callable[[str], Sequence[str]] = lambda name: ()
) -> dict[str, Any]:
    """The values that a command line gives, by name. Raises `HelpAsked`, or a usage error for what fits nowhere.

    `elsewhere` gives the commands that have an option.
    """
    values: dict[str, Any] = {}
    positional: list[str] = []
    late: list[str] = []
    known = (*declared.options, *HELP_OPTIONS)
    rest = iter(args)
    for arg in rest:
        name, equals, value = arg.partition("=")
        if arg in HELP_OPTIONS:
            raise HelpAsked(arg)
        if arg == "--":
            late = list(rest)
            positional += late
        elif name not in declared.options:
            near = "--at" if name == "--point" and "--at" in known else nearest_option(arg, known)
            if near:
                raise ExpressionError(
                    "usage", f"there is no option `{name}`",
                    hint=f"did you mean `{near}`? (as an expression, write it after `--`, behind all options)",
                )  # fmt: skip
            positional.append(arg)
        else:
            parameter, option, kind = declared.options[name]
            if kind is bool:
                if equals:
                    raise ExpressionError("usage", f"`{name}` takes no value", hint=f"write `{name}` alone")
                values[parameter] = True
                continue
            if not equals:
                following = next(rest, None)
                if following is None or following in known:
                    hint = f"write it after the option; `{command} --help` says what it is"
                    raise ExpressionError("usage", f"`{name}` needs a value", hint=hint)
                value = following
            if kind == (list[str] | None):
                values.setdefault(parameter, []).append(value)
            else:
                chosen = _converted_here(option, kind, value, declared)
                if values.setdefault(parameter, chosen) != chosen:
                    raise ExpressionError("usage", f"`{name}` is given twice", hint="leave one of them out")
    if len(positional) > len(declared.arguments):
        if any(each.partition("=")[0] in known for each in late):
            raise ExpressionError("usage", "what stands after `--` is no option", hint="put the options before `--`")
        raise _too_many(positional, declared, command, elsewhere, "at" in values)
    if values.get("json") and values.get("format", "json") != "json":
        raise _excluded("--json", "--format")
    if positional and "file" in values and "expr" in (parameter for parameter, _ in declared.arguments):
        raise _excluded("EXPR", "--file")
    check(
        [option for _, option, _ in declared.options.values()],
        {name: values[parameter] for name, (parameter, _, _) in declared.options.items() if parameter in values},
    )
    return values | dict(zip([parameter for parameter, _ in declared.arguments], positional, strict=False))


def check(options: Iterable[Option], values: Mapping[str, Any]) -> None:
    """Raise a usage error where the options that have values, which are by name, do not go together, or one lacks."""
    known = {option.name: option for option in options}
    stdin = None
    for name, option in known.items():
        if name not in values:
            if option.required:
                raise ExpressionError("usage", f"`{name}` is required", hint=f"add {_written(name, known)}")
            continue
        for other in option.conflicts:
            if _is_there(other, values):
                raise _excluded(name, other)
        needs = [need for need in option.needs if need.partition(" ")[0] in known]
        if needs and not any(_is_there(need, values) for need in needs):
            message = f"`{name}` needs {' or '.join(f'`{need}`' for need in needs)}"
            hint = f"add {' or '.join(_written(need, known) for need in needs)}, or leave `{name}` out"
            raise ExpressionError("usage", message, hint=hint)
        value = values[name]
        if option.reads_stdin and "-" in (
            value if isinstance(value, list) else [value] if isinstance(value, str) else ()
        ):
            if stdin is not None:
                message = f"`{stdin}` and `{name}` both read standard input"
                raise ExpressionError("usage", message, hint="name a file")
            stdin = name


def _is_there(need: str, values: Mapping[str, Any]) -> bool:
    name, _, value = need.partition(" ")
    return name in values and (not value or str(values[name]) == value)


def _written(need: str, known: Mapping[str, Option]) -> str:
    """An option as it is typed: with the value that it has to have, or its choices, or what stands for them."""
    name, _, value = need.partition(" ")
    values = (value,) if value else known[name].choices[:3] or (known[name].metavar,)
    return " or ".join(f"`{f'{name} {each}'.rstrip()}`" for each in values)


def _excluded(one: str, other: str) -> ExpressionError:
    return ExpressionError("usage", f"`{one}` and `{other}` exclude each other", hint="leave one of them out")


def converted(option: Option, kind: Any, text: str) -> str | int | float:
    """The value of an option, as the type that it has. Raises a usage error for what it cannot be."""
    if kind == (str | None):
        chosen = text if text in option.choices else text.lower()
        if option.choices and chosen not in option.choices:
            hint = f"it takes {', '.join(option.choices)}"
            raise ExpressionError("usage", f"`{option.name}` cannot be `{text}`", hint=hint)
        return chosen if option.choices else text
    low, high = option.range or (None, None)
    whole = kind == (int | None)
    try:
        value: int | float = int(text) if whole else float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0 or (low is not None and value < low) or (high is not None and value > high):
        wanted = "a whole number" if whole else "a number"
        hint = f"it takes {wanted}" if low is None else f"it takes {wanted} from {low} to {high}"
        raise ExpressionError("usage", f"`{option.name}` cannot be `{text}`", hint=hint)
    return value


def _converted_here(option: Option, kind: Any, text: str, declared: Declared) -> str | int | float:
    """The value of an option; the error names another option that takes it: `--to latex` for `--format latex`."""
    try:
        return converted(option, kind, text)
    except ExpressionError as error:
        for other, (_, another, _) in declared.options.items():
            if text in another.choices:
                raise ExpressionError("usage", str(error), hint=f"did you mean `{other} {text}`?") from None
        raise


def nearest_option(arg: str, options: Sequence[str]) -> str | None:
    """The option that this argument is likely a slip of, None where it reads as an expression."""
    if not looks_like_option(arg):
        return None
    return nearest(arg.partition("=")[0], [option for option in options if option.startswith("--")], 0.8)


def _too_many(
    positional: Sequence[str], declared: Declared, command: str, elsewhere: Callable[[str], Sequence[str]], at: bool
) -> ExpressionError:
    """The error for more arguments than there is room for, with the likeliest cause; `at`: is there a point?"""
    for k, arg in enumerate(positional):
        name, _, value = arg.partition("=")
        if looks_like_option(arg):
            meant = _meant(name[2:], value or "".join(positional[k + 1 : k + 2]), declared)
            there = elsewhere(name)
            hint = f"`{command} --help` lists the options"
            if meant:
                hint = f"did you mean {' or '.join(f'`{each}`' for each in meant)}?"
            elif 0 < len(there) <= FEW:
                hint = f"it is an option of {', '.join(f'`{each}`' for each in there)}; {hint}"
            return ExpressionError("usage", f"there is no option `{name}`", hint=hint)
        if re.fullmatch(_SHORT, name):
            meant = [each for each in declared.options if each == f"-{name}" or (each.startswith(f"-{name}") and k)]
            if meant:
                hint = f"did you mean {' or '.join(f'`{each}`' for each in meant[:3])}? only `-h` has one dash"
                return ExpressionError("usage", f"there is no option `{name}`", hint=hint)
    extra = positional[len(declared.arguments)]
    hint = f"`{command} --help` says what it takes"
    assigned = [each for each in positional if re.fullmatch(_ASSIGNED, each)]
    takes = [f"{each} {extra}" for each, (_, option, _) in declared.options.items() if extra in option.choices]
    if "--at" in declared.options and extra in assigned and at:
        hint = f"give all values in one `--at`, separated by commas: `--at …,{extra}`"
    elif "--at" in declared.options and assigned and not at:
        hint = f"give the point with `--at {','.join(assigned)}`"
    elif command == "autodiff check":
        hint = f"to mark an answer: `autodiff exercise --check '{positional[0]}' --answer '{extra}'`"
    elif takes:
        hint = f"did you mean `{takes[0]}`?"
    elif "--data" in declared.options and any(each.endswith(_DATA) for each in positional):
        hint = f"data are named with `--data {next(each for each in positional if each.endswith(_DATA))}`"
    elif f"--{extra}" in declared.options:
        hint = f"did you mean `--{extra}`?"
    elif extra.startswith("=") and not extra.startswith("=="):
        hint = 'leave out the spaces around `=`, or put all of it in quotes: `--at "x = 3"`'
    elif "--at" in declared.options:
        hint = "put the whole expression in quotes, so that the shell keeps it together"
    return ExpressionError("usage", f"`{extra}` is one argument too many", hint=hint)


FEW = 4
"""So many commands are named that have an option."""

_ASSIGNED = r"[^\W\d]\w*=[-+]?[\d.][\w.+-]*(?:,[^\W\d]\w*=[-+]?[\d.][\w.+-]*)*"
"""Values of names, which are no formula."""

_DATA = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow")
"""How the names of files of data end."""

ELSEWHERE = {
    "degree": "--order", "dps": "--precision", "eps": "--gradient-tolerance", "fixed": "--fix", "from": "--range",
    "in": "--file", "init": "--at", "initial": "--at", "input": "--file", "iter": "--steps", "iterations": "--steps",
    "lr": "--rate", "maxiter": "--steps", "p0": "--at", "point": "--at", "prec": "--precision", "save": "--output",
    "start": "--at", "tol": "--gradient-tolerance", "values": "--at", "variable": "--wrt", "variables": "--wrt",
    "vars": "--wrt", "x0": "--at", "xlim": "--range",
}  # fmt: skip
"""What some options are called in other programs."""

_SHORT = r"-[a-z][a-z-]*"
"""What is typed for an option where one dash is usual."""


def _meant(name: str, value: str, declared: Declared) -> list[str]:
    """Which options of the command may be meant by a name that none has, before this value: by likelihood."""
    takes = [f"{each} {value}" for each, (_, option, _) in declared.options.items() if value in option.choices]
    # `--latex` for `--format latex`
    takes += [f"{each} {name}" for each, (_, option, _) in declared.options.items() if name in option.choices]
    if takes:
        return takes[:2]
    if ELSEWHERE.get(name) in declared.options:
        return [ELSEWHERE[name]]
    words = set(name.split("-"))
    near = [each for each in declared.options if words & set(each[2:].split("-"))]
    near = near or [each for each in declared.options if len(name) > 2 and each.startswith(f"--{name}")]
    return near[:2] if len(near) <= 2 else []
