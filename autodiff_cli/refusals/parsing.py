"""Text to program, or to an error that says what to write instead."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..errors import ExpressionError
from ..language.builder import Builder, Program
from ..language.reader import Stuck, read
from ..language.statements import Statement, Unexplained


def parse(text: str, given: Collection[str] = ()) -> Program:
    """The program of a text, on a tape that is not evaluated yet. Linear in the text, without recursion.

    `given` are the names that a point gives values to; they win over the constants `e`, `pi`, `π`.
    Raises `ExpressionError` where the text is not valid.
    """
    builder = Builder(text, given)
    try:
        return read(text, builder).program()
    except Stuck as stuck:
        error = _refusal(text, stuck)
    except Unexplained as unexplained:
        error = _explained(text, unexplained)
    try:
        raise error
    finally:
        del error  # it would hold itself, by the frame in its traceback


def statements(text: str) -> Sequence[Statement]:
    """The statements of a text, whatever they mean. Raises `ExpressionError` where it is not in the language."""
    try:
        return read(text, Builder(text)).statements
    except Stuck as stuck:
        error = _refusal(text, stuck)
    except Unexplained as unexplained:
        error = _explained(text, unexplained)
    try:
        raise error
    finally:
        del error


def _refusal(text: str, stuck: Stuck) -> ExpressionError:
    from .diagnosis import diagnosis  # only an error needs it

    return diagnosis(text, stuck)


def _explained(text: str, error: Unexplained) -> ExpressionError:
    from .hints import hint  # only an error needs it

    return ExpressionError(error.kind, str(error), error.span, hint(text, error))
