"""Errors of Python calls: with their place and hint, and with options as keyword arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..cli.declarations import declared
from ..errors import Diagnosed, Diagnostic, ExpressionError
from .keywords import keyword, options_of


def explain(error: Diagnosed, text: str | None) -> None:
    """Add the place in the text and the hint to tracebacks."""
    from ..show.characters import Terminal
    from ..show.error import draw

    shown = error.text if error.text is not None else text
    _, *lines = draw(error.diagnostic, shown, Terminal()).rstrip("\n").split("\n")
    if lines:
        error.__notes__ = ["\n".join(lines)]


@contextmanager
def explained(text: object, command: str | None = None) -> Iterator[None]:
    """Explain the errors of a block; with a `command` they name its options as keyword
    arguments.
    """
    try:
        yield
    except ExpressionError as error:
        if command is not None:
            error.diagnostic = in_python(error.diagnostic, command)
            error.args = (error.diagnostic.message,)
        explain(error, text if isinstance(text, str) else None)
        raise


def in_python(diagnostic: Diagnostic, command: str) -> Diagnostic:
    """Return a diagnostic with options as keyword arguments: `at="x=1"`."""
    options = options_of(command)
    parameters = {
        argument.name: argument.parameter
        for argument in declared(command).arguments
        if argument.parameter != "expr"
    }

    def spelled(match: re.Match[str]) -> str:
        if match[1] in parameters:
            return f"`{parameters[match[1]]}`"
        name, value = keyword(match[1]), match[2]
        if name not in options:
            return match[0]
        kind = options[name].kind
        if value is None:
            return f"`{name}=True`" if kind is bool else f"`{name}`"
        return (
            f"`{name}={value}`"
            if kind in (int | None, float | None)
            else f'`{name}="{value.strip(chr(34))}"`'
        )

    message, hint = (
        words and re.sub(r"`(--[a-z-]+|[A-Z]+)(?: ([^`]+))?`", spelled, words)
        for words in (diagnostic.message, diagnostic.hint)
    )
    return diagnostic._replace(message=message or "", hint=hint)
