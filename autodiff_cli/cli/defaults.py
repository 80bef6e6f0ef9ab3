"""Defaults of one's own: the options in the environment variable `AUTODIFF_OPTIONS`, taken as if they had been typed.

They are for people: they hold for one program whose answer goes to a terminal. What is piped, redirected or streamed is
the same whoever runs it, so that scripts can rely on it.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..errors import ExpressionError, nearest, usage_error
from .arguments import check, converted, values_by_option
from .declarations import Declared, Option
from .declarations import declared as group

VARIABLE = "AUTODIFF_OPTIONS"

Everywhere = Callable[[], Mapping[str, Sequence[Option]]]
"""The options of all commands, by name: each as every command that has it declares it."""


def from_environment() -> str:
    """Return the value of the environment variable if the output goes to a terminal; otherwise an empty string."""
    return os.environ.get(VARIABLE, "").strip() if sys.stdout is not None and sys.stdout.isatty() else ""


def with_own(typed: dict[str, Any], declared: Declared, everywhere: Everywhere) -> dict[str, Any]:
    """The values that a command line gives, and below them those of the variable, by name.

    An option that this command lacks, or a choice that it lacks, is left out. Raises a usage error, which names the
    variable, for what no command has.
    """
    text = from_environment()
    many = any(name == "expr" for name, _ in declared.arguments) and typed.get("expr") in (None, "-")
    if not text or (many and "file" not in typed) or typed.keys() & group("rows").defaults.keys():
        return typed
    try:
        words = shlex.split(text)[::-1]
    except ValueError as fault:
        raise _wrong(
            f"it cannot be read: {str(fault)[:1].lower() + str(fault)[1:]}", "close the quotes in it"
        ) from None
    defaults: dict[str, Any] = {}
    while words:
        word = words.pop()
        name, equals, value = word.partition("=")
        own = declared.options.get(name)
        users = [own] if own else everywhere().get(name, ())
        if not users:
            near = nearest(name, list(everywhere()))
            hint = f"did you mean `{near}`?" if near else "leave it out"
            raise _wrong(f"no command has an option `{name}`", hint)
        option = users[0]
        if not is_allowed(option):
            raise _wrong(f"`{name}` is for one call only", "it holds options of how answers are computed and shown")
        is_flag = option.kind is bool
        if not equals and is_flag == bool(words and not words[-1].startswith("-")):
            # a word that commands use for two things, here meant for the other one
            candidates = everywhere().get(name, ())
            others = [candidate for candidate in candidates if (candidate.kind is bool) != is_flag]
            if others:
                own, option, is_flag = None, others[0], not is_flag
        chosen: Any = True
        if is_flag and equals:
            raise _wrong(f"`{name}` takes no value", f"write `{name}` alone")
        if not is_flag:
            following = value if equals else words.pop() if words else None
            if following is None:
                raise _wrong(f"`{name}` needs a value", "write it after the option")
            try:
                chosen = converted(option, following)
            except ExpressionError as error:
                if any(following in another.choices for another in everywhere()[name]):
                    continue
                raise _wrong(str(error), error.hint) from None
        if own and option.parameter not in typed:
            defaults[name] = chosen
    return _that_fit(defaults, typed, declared) | typed


def _that_fit(defaults: Mapping[str, Any], typed: Mapping[str, Any], declared: Declared) -> dict[str, Any]:
    values = values_by_option(declared, typed)
    fitting: dict[str, Any] = {}
    # again for those that need a later one
    for name, value in [*defaults.items()] * len(defaults):
        option = declared.options[name]
        if name not in values and not values.keys() & set(option.yields_to):
            with suppress(ExpressionError):
                check(declared.options, {**values, name: value})
                values[name] = fitting[option.parameter] = value
    return fitting


def is_allowed(option: Option) -> bool:
    """Return whether an option may have a default in the environment: no list of texts, no path."""
    return option.allowed_in_env and option.kind != (list[str] | None) and option.metavar != "PATH"


def _wrong(what: str, hint: str | None) -> ExpressionError:
    return usage_error(f"in the environment variable `{VARIABLE}`: {what}", hint)
