"""Text to program, or to an error that says what to write instead."""

from __future__ import annotations

from collections.abc import Collection

from ..errors import ExpressionError
from ..language.builder import Program, build
from ..language.code import Statement, Unexplained
from ..language.reader import Stuck, read


def statements(text: str) -> list[Statement]:
    """The statements of a program; raises `ExpressionError`. Linear in the text, without recursion."""
    try:
        return read(text)
    except Stuck as stuck:
        from .diagnosis import diagnosis  # only an error needs it

        error = diagnosis(text, stuck)
    except Unexplained as unexplained:
        error = _explained(text, unexplained)
    raise error


def parse(text: str, given: Collection[str] = ()) -> Program:
    """The program of a text, on a tape that is not evaluated yet.

    `given` are the names that a point gives values to; they win over the constants `e`, `pi`, `π`.
    Raises `ExpressionError` where the text is not valid.
    """
    try:
        return build(statements(text), text, given)
    except Unexplained as unexplained:
        error = _explained(text, unexplained)
    raise error


def _explained(text: str, error: Unexplained) -> ExpressionError:
    from .hints import hint  # only an error needs it

    return ExpressionError(error.kind, str(error), error.span, hint(text, error))
