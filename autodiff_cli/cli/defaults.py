"""Options from `AUTODIFF_OPTIONS`: on a terminal only, never in pipes."""

import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..errors import ExpressionError, closest, usage_error
from .arguments import check, convert, text_of, values_by_option
from .declarations import Option, commands_with, declared, users_of_options

VARIABLE = "AUTODIFF_OPTIONS"


def from_environment() -> str:
    """Return the variable's value; empty unless output goes to a terminal."""
    return os.environ.get(VARIABLE, "").strip() if sys.stdout is not None and sys.stdout.isatty() else ""


def with_own(typed: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return the typed values by parameter, completed by the variable's.

    Options and choices that this command lacks are ignored. Raises a usage error for unknown ones.
    """
    declaration, text = declared(command), from_environment()
    many = "expr" in declaration.defaults and typed.get("expr") in (None, "-")
    if not text or (many and "file" not in typed) or typed.keys() & declared("rows").defaults.keys():
        return {**typed}
    try:
        words = shlex.split(text)[::-1]
    except ValueError as fault:
        message = f"it cannot be read: {str(fault)[:1].lower()}{str(fault)[1:]}"
        raise _wrong(message, "close the quotes in it") from None
    from ..inputs.parse_point import may_sweep  # help imports this module too

    defaults: dict[str, Any] = {}
    has_rows = bool(typed.get("data")) or may_sweep(typed.get("at"))
    while words:
        word = words.pop()
        name, equals, value = word.partition("=")
        own = declaration.options.get(name)
        declarations = [declared(user).options[name] for user in commands_with(name)]
        if not declarations:
            near = closest(name, list(dict.fromkeys(option.name for option in users_of_options())))
            hint = f"did you mean `{near}`?" if near else "leave it out"
            raise _wrong(f"no command has an option `{name}`", hint)
        option = own or declarations[0]
        if not is_allowed(option):
            raise _wrong(f"`{name}` is for one call only", "it holds options of how answers are computed and shown")
        if not equals and (option.kind is bool) == bool(words and not words[-1].startswith("-")):
            # a flag of one command has a value in another
            others = [other for other in declarations if (other.kind is bool) != (option.kind is bool)]
            own, option = (None, others[0]) if others else (own, option)
        following = ""
        try:
            following = text_of(option, equals, value, words, command)
            chosen = convert(option, following)
        except ExpressionError as error:
            if any(following in other.choices for other in declarations):
                continue
            raise _wrong(str(error), error.hint) from None
        # options about rows apply to sweeps and losses
        if own and option.parameter not in typed and (has_rows or name not in declared("rows").options):
            defaults[name] = chosen
    values = values_by_option(declaration, typed)
    fitting: dict[str, Any] = {}
    # repeat for options that require a later one
    for name, value in [*defaults.items()] * len(defaults):
        option = declaration.options[name]
        if name not in values and not values.keys() & set(option.yields_to):
            with suppress(ExpressionError):
                check(declaration.options, {**values, name: value})
                values[name] = fitting[option.parameter] = value
    return {**fitting, **typed}


def is_allowed(option: Option) -> bool:
    """Return whether an option may be a default."""
    return option.allowed_in_env and option.kind != (list[str] | None) and option.metavar != "PATH"


def _wrong(what: str, hint: str | None) -> ExpressionError:
    return usage_error(f"in the environment variable `{VARIABLE}`: {what}", hint)
