"""Parsing of text to programs, or to errors with suggestions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from ..errors import ExpressionError
from ..language.builder import Builder, Program
from ..language.reader import ParseFailure, read
from ..language.statements import Statement, UnexplainedText

Read = TypeVar("Read")


def parse(text: str, valued: Collection[str] = (), *, units: bool = False) -> Program:
    """Return the program of a text, not yet evaluated. Linear in the text, without recursion.

    `valued` names have values in a point, and override the constants `e`, `pi`, `π`. With `units`, numbers may have
    units. Raises `ExpressionError` for invalid text.
    """
    program = _explaining(text, lambda: read(text, Builder(text, valued)).program(), valued)
    if "[" in text and not units:
        for i, (x, source) in program.whole.constants.items():
            if source is not None and source.endswith("]"):
                message = "numbers with units are not taken here: formulas and code are written in plain numbers"
                hint = f"in units of the SI it is `{x:.15g}`, if all values are in these"
                raise ExpressionError("type", message, program.whole.span(i), hint)
    return program


def statements(text: str) -> Sequence[Statement]:
    """Return the statements of a text. Raises `ExpressionError` for invalid text."""
    return _explaining(text, lambda: read(text, Builder(text)).outline())


def _explaining(text: str, reading: Callable[[], Read], valued: Collection[str] = ()) -> Read:
    try:
        return reading()
    except ParseFailure as stuck:
        from .diagnosis import diagnosis  # only an error needs it

        error = diagnosis(text, stuck, valued)
    except UnexplainedText as unexplained:
        from .suggestions import explain  # only an error needs it

        error = explain(text, unexplained, valued)
    try:
        raise error
    finally:
        del error  # it would hold itself, by the frame in its traceback
