"""The postfix code of a program as a tree, in which tests can walk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autodiff_cli.language.code import CALL, CHOICE, COMPARE, GROUP, NAME, NUMBER, Item, Statement, inputs
from autodiff_cli.refusals.parsing import statements

KINDS = {NUMBER: "number", NAME: "name", GROUP: "group", CALL: "call", CHOICE: "if", COMPARE: "compare"}


class Node(NamedTuple):
    """An operand, an operation, a statement or a program: what it is, where it stands, and its parts."""

    kind: str
    start: int
    end: int
    children: tuple[Node, ...] = ()
    value: Any = None


def expression(code: Sequence[Item]) -> Node:
    """The tree of one expression."""
    values: list[Node] = []
    for item in code:
        first = len(values) - inputs(item)
        parts = tuple(values[first:])
        kind = KINDS.get(item[0]) or (item[2].name.rstrip("_") if item[2] else "pos")
        if kind == "if":
            parts = (parts[1], parts[0], parts[2])
        values[first:] = (Node(kind, *item[1], parts, item[2] if item[0] in KINDS and len(item) > 2 else None),)
    (value,) = values
    return value


def tree(read: Sequence[Statement]) -> Node:
    """The tree of a program."""
    made = []
    for statement in read:
        parts = (*map(expression, ([p] for p in statement.parameters)), *map(expression, statement.codes))
        kind, value = statement.kind, statement.name
        node = Node(kind, statement.start, statement.end, parts, value)
        made.append(parts[0] if kind == "expression" else node)
    return Node("program", made[0].start, made[-1].end, tuple(made))


def parsed(text: str) -> Node:
    """The tree of a text. Raises `ExpressionError`."""
    return tree(statements(text))
