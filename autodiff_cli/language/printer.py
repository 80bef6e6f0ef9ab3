"""Printer: from the graph to text that the parser reads back. It owns precedence and spelling; nothing recurses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra.symbolic import by_definition
from ..graphs.value import Value
from ..table.operators import VARIABLE
from ..table.primitive import ATOM, CHOICE, PRIMITIVES, SIGN

Item = str | tuple[Any, int]
"""A piece of output: text, or a node and the precedence that it needs."""

INFIX: dict[str, tuple[str, int, int, int]] = {p.name: p.operator for p in PRIMITIVES.values() if len(p.operator) == 4}
"""Text between the operands, own level, and the levels that the left and the right operand need."""

PREFIX: dict[str, tuple[str, int, int]] = {p.name: p.operator for p in PRIMITIVES.values() if len(p.operator) == 3}
"""Text before the operand, own level, and that which the operand needs."""


def number_text(x: float) -> str:
    """A number as a literal of the language: the shortest that reads back the same."""
    return str(int(x)) if x == int(x) and abs(x) < 1e16 else repr(x)


def assembled(root: Any, parts: Callable[[Any], tuple[int, list[Item]]], level: int = CHOICE) -> str:
    """The text of a node that has to bind at a level: its parts, in parentheses where one binds too loosely.

    `parts` says of a node how it binds and what it is written from.
    """
    written: list[str] = []
    # What is still to be written, last first.
    work: list[Item] = [(root, level)]
    while work:
        item = work.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        node, needed = item
        own, pieces = parts(node)
        if own < needed:
            pieces = ["(", *pieces, ")"]
        work.extend(reversed(pieces))
    return "".join(written)


def expression_text(root: Value) -> str:
    """The text of one expression."""
    return assembled(root, lambda value: _parts(by_definition(value)))


def _parts(value: Value) -> tuple[int, list[Item]]:
    operands, name = value._prev, value.primitive.name
    if not operands:
        text = value.label if value.primitive is VARIABLE else value.source or number_text(value.data)
        return SIGN if text.startswith("-") else ATOM, [text]
    if name in INFIX:
        between, level, left, right = INFIX[name]
        return level, [(operands[0], left), between, (operands[1], right)]
    if name in PREFIX:
        prefix, level, inner = PREFIX[name]
        return level, [prefix, (operands[0], inner)]
    parts: list[Item] = [value.primitive.spelling or name, "("]
    for k, operand in enumerate(operands):
        parts += [", ", (operand, CHOICE)] if k else [(operand, CHOICE)]
    return ATOM, [*parts, ")"]
