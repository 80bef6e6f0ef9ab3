"""Printer: from the graph to text that the parser reads back. It owns precedence and spelling; nothing recurses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..table.operators import VARIABLE
from ..table.primitive import FUNCTIONS
from ..values.symbolic import by_definition
from ..values.value import Value, in_order

# Levels of binding, loosest first, as the grammar has them.
CHOICE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)

Item = str | tuple[Any, int]
"""A piece of what is to be written: text, or a node and the level at which it has to bind."""

INFIX: dict[str, tuple[str, int, int, int]] = {
    # primitive: text between the operands, own level, level that the left and the right operand need
    "or_": (" or ", OR, OR, AND),
    "and_": (" and ", AND, AND, NOT),
    "lt": (" < ", COMPARISON, SUM, SUM),
    "le": (" <= ", COMPARISON, SUM, SUM),
    "gt": (" > ", COMPARISON, SUM, SUM),
    "ge": (" >= ", COMPARISON, SUM, SUM),
    "eq": (" == ", COMPARISON, SUM, SUM),
    "ne": (" != ", COMPARISON, SUM, SUM),
    "add": (" + ", SUM, SUM, PRODUCT),
    "sub": (" - ", SUM, SUM, PRODUCT),
    "mul": ("*", PRODUCT, PRODUCT, POWER),
    "div": ("/", PRODUCT, PRODUCT, POWER),
    "pow": ("**", POWER, ATOM, POWER),
}
PREFIX = {"neg": ("-", SIGN, POWER), "not_": ("not ", NOT, NOT)}


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


def expression_text(root: Value, names: Mapping[Value, str] | None = None) -> str:
    """The text of one expression; nodes in `names` are written by name, others where they stand."""
    known = names or {}

    def parts(value: Value) -> tuple[int, list[Item]]:
        if value in known and value is not root:
            return ATOM, [known[value]]
        return _parts(by_definition(value))

    return assembled(root, parts)


def _parts(value: Value) -> tuple[int, list[Item]]:
    """How a node binds, and what it is written from: text, and operands with the level that they need."""
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


def program_text(outputs: Sequence[Value], keep: Callable[[Value], bool] = lambda value: bool(value.label)) -> str:
    """A program that builds the same graph: shared nodes and those to `keep` are bound to names, on a line each."""
    place = in_order(outputs)
    uses: dict[Value, int] = dict.fromkeys(outputs, 1)
    for value in place:
        for child in value._prev:
            uses[child] = uses.get(child, 0) + 1
    taken = {v.label for v in place if v.primitive is VARIABLE} | set(FUNCTIONS) | {"e", "pi", "π"}
    taken |= {v.label for v in place}
    named_before: set[str] = set()
    names: dict[Value, str] = {}
    lines: list[str] = []
    counter = 0
    for value in place:
        if not value._prev:
            continue
        if not (uses[value] > 1 or keep(value)):
            continue
        name = value.label
        if not name or name in named_before or name in FUNCTIONS:
            counter += 1
            while f"t{counter}" in taken:
                counter += 1
            name = f"t{counter}"
        named_before.add(name)
        lines.append(f"{name} = {expression_text(value, names)}")
        names[value] = name
    listed = ", ".join(names.get(value) or expression_text(value, names) for value in outputs)
    if not lines or lines[-1].split(" = ", 1)[0] != listed:
        lines.append(listed)
    return "\n".join(lines)
