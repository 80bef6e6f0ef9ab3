"""Parse a command line into the values of a command's parameters.

Only a known option, alone or with `=`, is an option; all else is the expression. Stock parsers take
`-x*h` for a cluster of options.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import (
    ExpressionError,
    closest,
    either,
    looks_like_option,
    needs_error,
    usage_error,
)
from .declarations import Declaration, Option, commands_with, declared, users_of_options

if TYPE_CHECKING:
    from .slips import MeantOptions

HELP_ALL = "--help-all"
HELP_OPTIONS = ("--help", "-h", HELP_ALL)

# Short options, which stand alone: `-o*2` is an expression.
SHORT = {"-o": "--output", "-q": "--quiet"}


class HelpAsked(Exception):
    """The command line has a help option: the command, and the option."""


class NothingAsked(Exception):
    """There is no program, and a person would have to type it."""


def read(args: Sequence[str], command: str) -> dict[str, Any]:
    """Return typed values by parameter. Raises `HelpAsked` or a usage error."""
    return check_all(*scan_options(args, command), command)


def scan_options(
    args: Sequence[str], command: str, *, session: bool = False
) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return options by parameter, other arguments, and those after `--`.

    In a session, values may contain blanks: after the expression up to the next option, before it
    as long as operators join the words.
    """
    options = declared(command).options
    values: dict[str, Any] = {}
    positional: list[str] = []
    late: list[str] = []
    option_names = (*options, *HELP_OPTIONS)
    remaining = [*args][::-1]
    is_split = False

    def is_option(word: str) -> bool:
        return word.partition("=")[0] in (*option_names, *SHORT, "--") or looks_like_option(word)

    while remaining:
        word = remaining.pop()
        arg = word if SHORT.get(word) not in options else SHORT[word]
        name, equals, value = arg.partition("=")
        if arg in HELP_OPTIONS:
            raise HelpAsked(command, arg)
        if arg == "--":
            late, remaining = remaining[::-1], []
            positional += late
        elif name not in options:
            if looks_like_option(arg):
                from .slips import unknown_option

                first = not positional and bool(declared(command).arguments)
                raise unknown_option(
                    arg, "".join(remaining[-1:]), declared(command), command, first or session
                )
            if session and is_split:
                hint = "write the expression before the options, in one piece"
                raise usage_error(f"`{arg}` comes after the options", hint)
            positional.append(arg)
        else:
            option, is_split = options[name], bool(positional)
            value = text_of(option, equals, value, remaining, command)
            while session and remaining and not is_option(remaining[-1]):
                if not _goes_on(option, value, remaining[-1], behind=is_split):
                    break
                value += f" {remaining.pop()}"
            _take(option, value, values, options)
    return values, positional, late


def _take(option: Option, text: str, values: dict[str, Any], options: Mapping[str, Option]) -> None:
    """Add the value of an option to those by parameter. Raises a usage error."""
    if option.kind == (list[str] | None):
        values.setdefault(option.parameter, []).extend(listed(option, text))
        return
    try:
        chosen = convert(option, text)
    except ExpressionError as error:
        for other in [other for other, another in options.items() if text in another.choices]:
            raise usage_error(str(error), f"did you mean `{other} {text}`?") from None
        raise
    if values.setdefault(option.parameter, chosen) != chosen:
        raise usage_error(f"`{option.name}` is given twice", "leave one of them out")


def text_of(option: Option, equals: str, value: str, remaining: list[str], command: str) -> str:
    """Return the value of an option, behind `=` or the last of the `remaining` words; "" for a
    flag.
    """
    name = option.name
    if option.kind is bool:
        if equals:
            raise usage_error(f"`{name}` takes no value", f"write `{name}` alone")
        return ""
    if (
        not equals
        and remaining
        and remaining[-1] not in (*declared(command).options, *HELP_OPTIONS)
    ):
        value = remaining.pop()
    if not value:
        # perhaps of a variable of the shell that is not set
        hint = f"write it after the option; `autodiff {command} --help` says what it is"
        raise usage_error(f"`{name}` needs a value", hint)
    return value


_OPERATORS = tuple(",=:<>*^±≤≥·×÷/")
# Placeholders of values of one word.
_ONE_WORD = ("PATH", "CHAR", "MARK", "NAME", "URL")
_FREE_TEXT = ("ANSWER", "CONSTRAINTS", "CONDITIONS")


def _goes_on(option: Option, value: str, word: str, behind: bool) -> bool:
    is_text = option.kind in (str | None, list[str] | None) and not option.choices
    if not is_text or option.metavar in _ONE_WORD:
        return False
    if behind or option.metavar in _FREE_TEXT:
        return True
    return (
        value.endswith((*_OPERATORS, "+", "-")) or word.startswith(_OPERATORS) or word in ("+", "-")
    )


def check_all(
    values: Mapping[str, Any], positional: Sequence[str], late: Sequence[str], command: str
) -> dict[str, Any]:
    """Return all values by parameter. Raises a usage error for conflicts."""
    declaration = declared(command)
    arguments = [argument.parameter for argument in declaration.arguments]
    if positional and command == "exercise":
        from .slips import check_is_no_topic

        check_is_no_topic(positional, declaration)
    if len(positional) > len(arguments):
        if any(
            argument.partition("=")[0] in (*declaration.options, *HELP_OPTIONS) for argument in late
        ):
            raise usage_error(
                "an argument after `--` is not read as an option", "put the options before `--`"
            )
        from .slips import as_options, too_many

        meant = as_options(positional, declaration, command, values)
        if meant is None:
            raise too_many(positional, declaration, command, values)
        if not values.get("quiet"):
            _note_options(command, meant)
        added = {declaration.options[name].parameter: [text] for name, text in meant.texts.items()}
        return check_all({**values, **added}, [meant.formula], (), command)
    placed = {**values, **dict(zip(arguments, positional, strict=False))}
    by_name = values_by_option(declaration, placed)
    if "--data" in declaration.options and "--data" not in by_name and positional:
        from .slips import check_is_formula

        check_is_formula(positional[0], command)
    check(declaration.options, by_name)
    return placed


def _note_options(command: str, meant: MeantOptions) -> None:
    """Write how arguments behind a formula are read."""
    from ..operating_system import command_line
    from ..show.error import write_reading

    options = [word for pair in meant.texts.items() for word in pair]
    write_reading("", command_line(["autodiff", command, meant.formula, *options]))


def values_by_option(declared: Declaration, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of parameters by the names of options and arguments."""
    both = (*declared.options.values(), *declared.arguments)
    return {option.name: values[option.parameter] for option in both if option.parameter in values}


def _check_needs(option: Option, by_name: Mapping[str, Option], values: Mapping[str, Any]) -> None:
    """Raise a usage error where an option stands without those that it needs one of."""
    needs = [
        need for need in option.needs if OPTIONS_OF.get(need, need.partition(" ")[0]) in by_name
    ]
    draws = "--draws" in needs and "draws(" in str(values.get("--at"))
    if needs and not draws and not any(_is_there(need, values) for need in needs):
        added = [_write(need, by_name) for need in needs if need != STREAM]
        *wanted, last = [IN_WORDS.get(need, f"`{need}`") for need in needs]
        either = f"{', '.join(wanted)} or {last}" if wanted else last
        raise needs_error(option.name, either, " or ".join(added))


def check(by_name: Mapping[str, Option], values: Mapping[str, Any]) -> None:
    """Raise a usage error for conflicting or missing options."""
    stdin = None
    for name, option in by_name.items():
        if name not in values:
            if option.required:
                raise usage_error(f"`{name}` is required", f"add {_write(name, by_name)}")
            continue
        for conflict in option.conflicts:
            if _is_there(conflict, values):
                raise _exclude(name, conflict)
        if option.needs:
            _check_needs(option, by_name, values)
        value = values[name]
        texts = value if isinstance(value, list) else [value] * isinstance(value, str)
        if option.reads_stdin and "-" in texts:
            if stdin is not None:
                raise usage_error(f"`{stdin}` and `{name}` both read standard input", "name a file")
            stdin = name


SWEEP, STREAM = "SWEEP", "STREAM"
# Needs that are no options, and an option of the commands that can have them.
OPTIONS_OF = {SWEEP: "--wide", STREAM: "--file"}
IN_WORDS = {SWEEP: "a sweep", STREAM: "a stream of programs"}


def _is_there(need: str, values: Mapping[str, Any]) -> bool:
    if need == SWEEP:
        from ..questions.parse_point import may_sweep

        at = values.get("--at", ())
        return may_sweep(at) or any(text.startswith("@") for text in at)
    if need == STREAM:
        return "--file" not in values and values.get("EXPR", "-") == "-"
    name, _, value = need.partition(" ")
    if name not in values:
        return False
    chosen, listed = str(values[name]), tuple(value.lstrip("!").split("|"))
    if value.startswith("."):
        return chosen.lower().endswith(listed)
    return not value or (chosen in listed) != value.startswith("!")


def _write(need: str, by_name: Mapping[str, Option]) -> str:
    if need == SWEEP:
        return "`--at x=0:10:1`"
    name, _, value = need.partition(" ")
    option = by_name[name]
    choices = value.split("|") if value else option.choices or [option.metavar]
    if value.startswith("."):
        choices = [f"FILE{choices[0]}"]
    return either(f"{name} {text}".rstrip() for text in choices[:3])


def _exclude(first: str, second: str) -> ExpressionError:
    second = second.partition(" !")[0]
    return usage_error(f"`{first}` and `{second}` exclude each other", "leave one of them out")


# Choices that are listed, as none of two is near: `median` is no `mean`.
FEW_CHOICES = 3
# How alike a mistyped choice is to the one that is offered: `jsn` and `json` are 0.86, `chian` and
# `chain` 0.8.
NEAR_CHOICE = 0.75


def convert(option: Option, text: str) -> str | int | float | bool:
    """Convert the text of an option to its type; a flag is True. Raises a usage error."""
    if option.kind is bool:
        return True
    if option.kind == (str | None):
        return _choice(option, text) if option.choices else text
    is_integer = option.kind == (int | None)
    value = _number(text, is_integer)
    low, _, high = option.range.partition(":")
    # an end that is left out is NaN, and compares as false
    least, most = (_number(end.lstrip("<>"), is_integer) for end in (low, high))
    is_low = value <= least if low.startswith(">") else value < least
    is_high = value >= most if high.startswith("<") else value > most
    if value - value != 0 or is_low or is_high:
        wanted = "a whole number" if is_integer else "a number"
        hint = f"it takes {wanted}{_range_in_words(low, high)}"
        if option.range == ">0:<1" and 1 < value < 100:
            hint = f"did you mean `{option.name} {value / 100:g}`?"
        raise usage_error(f"`{option.name}` cannot be `{text}`", hint)
    return value


def _choice(option: Option, text: str) -> str:
    """Return one of the choices of an option, as it is declared. Raises a usage error."""
    chosen = text if text in option.choices else text.lower()
    if chosen in option.choices:
        return chosen
    from .slips import CHOICE_SYNONYMS, OPTION_ADVICE, available

    near = next(iter(available(CHOICE_SYNONYMS.get(chosen, ()), option.choices)), None)
    if len(option.choices) > FEW_CHOICES:
        near = near or closest(chosen, option.choices, NEAR_CHOICE)
    hint = (
        f"did you mean `{option.name} {near}`?" if near else f"it takes {', '.join(option.choices)}"
    )
    advice = OPTION_ADVICE.get(option.name[2:]) if "=" in text else None
    raise usage_error(f"`{option.name}` cannot be `{text}`", advice or hint)


def listed(option: Option, text: str) -> list[str]:
    """Return a text of a list as it is; of a list of choices, its choices. Raises a usage error."""
    if not option.choices:
        return [text]
    one = option._replace(kind=str | None)
    return [str(convert(one, word.strip())) for word in text.split(",")]


def _number(text: str, is_integer: bool) -> int | float:
    """Return the number, an integer also of `1e6`; NaN if it is none."""
    with suppress(ValueError):
        if not is_integer:
            return float(text)
        with suppress(ValueError):
            return int(text)
        value = float(text)
        if value.is_integer():
            return int(value)
    return float("nan")


def _range_in_words(low: str, high: str) -> str:
    if high and not high.startswith("<"):
        return f" from {low} to {high}"
    if not low:
        return ""
    least = f" above {low[1:]}" if low.startswith(">") else f" of at least {low}"
    return f"{least} and below {high[1:]}" if high else least


# ---- options from the environment: on a terminal only, never in pipes
OPTIONS_VARIABLE = "AUTODIFF_OPTIONS"


def options_of_environment() -> str:
    """Return the variable's value; empty unless output goes to a terminal."""
    is_shown = sys.stdout is not None and sys.stdout.isatty()
    return os.environ.get(OPTIONS_VARIABLE, "").strip() if is_shown else ""


def _reads_many(typed: Mapping[str, Any], declaration: Declaration) -> bool:
    """Return whether a command answers the lines of its input, or rows."""
    is_stream = (
        "expr" in declaration.defaults and typed.get("expr") in (None, "-") and "file" not in typed
    )
    return is_stream or bool(typed.keys() & declared("rows").defaults.keys())


def _words_of_environment(text: str) -> list[str]:
    """Return the words of the variable's text. Raises a usage error for open quotes."""
    from ..operating_system import split_words

    try:
        return split_words(text)
    except ValueError as fault:
        message = f"it cannot be read: {str(fault)[:1].lower()}{str(fault)[1:]}"
        raise _wrong(message, "close the quotes in it") from None


def _with_or_without_value(
    option: Option, declarations: Sequence[Option], has_value: bool
) -> Option:
    """Return the declaration that takes a value, or none, as typed: a flag of one command has a
    value in another.
    """
    if (option.kind is bool) != has_value:
        return option
    return next((other for other in declarations if (other.kind is bool) != has_value), option)


def _begins_with_value(words: Sequence[str]) -> bool:
    return bool(words) and not words[0].startswith("-")


def with_own(typed: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return the typed values by parameter, completed by the variable's.

    Options and choices that this command lacks are ignored. Raises a usage error for unknown ones.
    """
    declaration, text = declared(command), options_of_environment()
    if not text or _reads_many(typed, declaration):
        return {**typed}
    words = _words_of_environment(text)[::-1]
    from ..questions.parse_point import may_sweep  # help imports this module too

    defaults: dict[str, Any] = {}
    has_rows = bool(typed.get("data")) or may_sweep(typed.get("at"))
    while words:
        name, equals, value = words.pop().partition("=")
        declarations = _declarations_of(name)
        own = declaration.options.get(name)
        option = own or declarations[0]
        if not equals:
            option = _with_or_without_value(option, declarations, _begins_with_value(words[-1:]))
        following = ""
        try:
            following = text_of(option, equals, value, words, command)
            chosen = convert(option, following)
        except ExpressionError as error:
            if any(following in other.choices for other in declarations):
                continue
            raise _wrong(str(error), error.hint) from None
        # options about rows apply to sweeps and losses
        if (
            option is own
            and option.parameter not in typed
            and (has_rows or name not in declared("rows").options)
        ):
            defaults[name] = chosen
    return {**_fitting(defaults, typed, declaration), **typed}


def _declarations_of(name: str) -> list[Option]:
    """Return the declarations of an option by command. Raises a usage error if it may not be in the
    environment.
    """
    declarations = [declared(user).options[name] for user in commands_with(name)]
    if not declarations:
        near = closest(name, list(dict.fromkeys(option.name for option in users_of_options())))
        hint = f"did you mean `{near}`?" if near else "leave it out"
        raise _wrong(f"no command has an option `{name}`", hint)
    if not all(map(is_allowed, declarations)):
        hint = "it holds options of how answers are computed and shown"
        raise _wrong(f"`{name}` is for one call only", hint)
    return declarations


def _fitting(
    defaults: Mapping[str, Any], typed: Mapping[str, Any], declaration: Declaration
) -> dict[str, Any]:
    """Return the defaults that go with what is typed, by parameter."""
    values = values_by_option(declaration, typed)
    fitting: dict[str, Any] = {}
    # repeat for options that require a later one
    for name, value in [*defaults.items()] * len(defaults):
        option = declaration.options[name]
        if name not in values and not values.keys() & set(option.yields_to):
            with suppress(ExpressionError):
                check(declaration.options, {**values, name: value})
                values[name] = fitting[option.parameter] = value
    return fitting


def is_allowed(option: Option) -> bool:
    """Return whether an option may be a default."""
    return option.allowed_in_env and option.kind != (list[str] | None) and option.metavar != "PATH"


def _wrong(what: str, hint: str | None) -> ExpressionError:
    return usage_error(f"in the environment variable `{OPTIONS_VARIABLE}`: {what}", hint)
