"""Statements: what the reader tells of them to those that judge them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..errors import ExpressionError, Span


class Statement(NamedTuple):
    """A statement: its kind (`expression`, `outputs`, `bind`, `augment` or `define`) and its place."""

    kind: str
    start: int
    end: int


Complete = tuple[str, int, int]
"""A statement as it is read, with its place in pairs."""


class Head(NamedTuple):
    """The head of a definition, before its `=`."""

    name: str
    span: Span
    """The span of the name."""
    end: int
    parameters: tuple[tuple[str, Span], ...]
    """The names in the parentheses and where they stand; an empty name for anything else."""


class UnknownShape(ExpressionError):
    """An error about a list of which it is not known how many entries it has."""


class UnexplainedText(ExpressionError):
    """An error whose hint only `diagnostics` can give, since it has to try spellings.

    Of a value that is not used: `end` is where that ends, `after` where the next statement begins. Of a call of
    something that is no function: where the call ends; `after` is 0. Where it has no value either, `functions` are
    those that the program defines.
    """

    def __init__(
        self, kind: str, message: str, span: Span, end: int, after: int = 0, functions: Collection[str] | None = None
    ) -> None:
        super().__init__(kind, message, span)
        self.end = end
        self.after = after
        self.functions = functions
