"""Printer: from the graph to text that the parser reads back. It owns precedence and spelling; nothing recurses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
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


Written = tuple[int, list[Item]]
"""How an expression binds, and what it is written from."""

Template = str | tuple[Any, ...]
"""How an operation is written: the name of a function; a text such as `float(round({0}))` with its inputs; or such a
text with its own binding level and those that its inputs need."""

OPERATORS: dict[str, tuple[Any, ...]] = {
    **{name: (f"{{0}}{between}{{1}}", *levels) for name, (between, *levels) in INFIX.items()},
    **{name: (f"{before}{{0}}", *levels) for name, (before, *levels) in PREFIX.items()},
}
"""The operators as the language of formulas writes them."""

_PLACE = re.compile(r"\{(\d)\}")


def number_text(x: float) -> str:
    """A number as a literal of the language: the shortest that reads back the same."""
    return str(int(x)) if x == int(x) and abs(x) < 1e16 else repr(x)


def assembled(root: Any, parts: Callable[[Any], Written], level: int = CHOICE) -> str:
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


@lru_cache(maxsize=1024)
def pieces(template: str) -> tuple[str | tuple[int, int], ...]:
    """Split a template into text and inputs: the position of each, and the level that it has to bind at.

    An input stands in parentheses unless it is between some already.
    """
    split = _PLACE.split(template)
    parts: list[str | tuple[int, int]] = []
    for k in range(0, len(split), 2):
        if k:
            inside = split[k - 2].endswith(("(", ", ")) and split[k].startswith((")", ","))
            parts.append((int(split[k - 1]), CHOICE if inside else ATOM))
        if split[k]:
            parts.append(split[k])
    return tuple(parts)


def filled(template: str, args: Sequence[Any], levels: Sequence[int] = ()) -> list[Item]:
    """A template with the inputs in their places; `levels` are those that each input has to bind at."""
    parts = pieces(template)
    if levels:
        return [part if isinstance(part, str) else (args[part[0]], levels[part[0]]) for part in parts]
    return [part if isinstance(part, str) else (args[part[0]], part[1]) for part in parts]


def written(template: Template, args: Sequence[Any]) -> Written:
    """How an operation on these inputs binds, and what it is written from."""
    if isinstance(template, tuple):
        return template[1], filled(template[0], args, template[2:])
    return (ATOM, filled(template, args)) if "{" in template else call(template, args)


def call(function: str, args: Sequence[Any], item: Callable[[Any], Item] = lambda arg: (arg, CHOICE)) -> Written:
    """A call of a function; `item` says how an argument is written."""
    parts: list[Item] = [function, "("]
    for k, arg in enumerate(args):
        parts += [", ", item(arg)] if k else [item(arg)]
    return ATOM, [*parts, ")"]


def expression_text(root: Value) -> str:
    """The text of one expression."""
    return assembled(root, lambda value: _parts(by_definition(value)))


def _parts(value: Value) -> Written:
    name = value.primitive.name
    if value._prev:
        return written(OPERATORS.get(name) or value.primitive.spelling or name, value._prev)
    text = value.label if value.primitive is VARIABLE else value.source or number_text(value.data)
    return SIGN if text.startswith("-") else ATOM, [text]
