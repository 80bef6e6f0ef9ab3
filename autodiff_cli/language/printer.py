"""Printer: graphs as text that the parser reads back. Nothing recurses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from ..engine.algebra.symbolic import by_definition
from ..engine.graphs.value import Value
from ..engine.table.operators import VARIABLE
from ..engine.table.primitive import ATOM, CHOICE, PRIMITIVES, SIGN

Item = str | tuple[Any, int]  # a piece of output: text, or a node and its required precedence

# Text between the operands, own precedence, and that required of each operand.
INFIX: dict[str, tuple[str, int, int, int]] = {
    p.name: p.operator for p in PRIMITIVES.values() if len(p.operator) == 4
}

# Text before the operand, own precedence, and that required of the operand.
PREFIX: dict[str, tuple[str, int, int]] = {
    p.name: p.operator for p in PRIMITIVES.values() if len(p.operator) == 3
}

Written = tuple[int, list[Item]]  # an expression's precedence and its pieces

# A function's name; text such as `float(round({0}))`; or that with precedences: its own, its
# inputs'.
Template = str | tuple[Any, ...]

# The operators as formulas spell them.
OPERATORS: dict[str, tuple[Any, ...]] = {
    **{name: (f"{{0}}{between}{{1}}", *levels) for name, (between, *levels) in INFIX.items()},
    **{name: (f"{before}{{0}}", *levels) for name, (before, *levels) in PREFIX.items()},
}

_PLACE = re.compile(r"\{(\d)\}")


def number_text(x: float) -> str:
    """Return the shortest literal that reads back as the same number."""
    return str(int(x)) if x == int(x) and abs(x) < 1e16 else repr(x)


def assemble(root: Any, parts: Callable[[Any], Written], level: int = CHOICE) -> str:
    """Return the text of a node, in parentheses if its precedence, from `parts` with its pieces, is
    lower.
    """
    written: list[str] = []
    # The remaining pieces, last first.
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
    """Return a template's text and inputs: their positions and precedences, the highest outside of
    parentheses.
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


def fill_in(template: str, args: Sequence[Any], levels: Sequence[int] = ()) -> list[Item]:
    """Return a template with its inputs, of these required precedences."""
    parts = pieces(template)
    if levels:
        return [
            part if isinstance(part, str) else (args[part[0]], levels[part[0]]) for part in parts
        ]
    return [part if isinstance(part, str) else (args[part[0]], part[1]) for part in parts]


def spell(template: Template, args: Sequence[Any]) -> Written:
    """Return the precedence and pieces of an operation on these inputs."""
    if isinstance(template, tuple):
        return template[1], fill_in(template[0], args, template[2:])
    return (ATOM, fill_in(template, args)) if "{" in template else as_call(template, args)


def as_call(
    function: str, args: Sequence[Any], item: Callable[[Any], Item] = lambda arg: (arg, CHOICE)
) -> Written:
    """Return a call of a function; `item` converts an argument."""
    parts: list[Item] = [function, "("]
    for k, arg in enumerate(args):
        parts += [", ", item(arg)] if k else [item(arg)]
    return ATOM, [*parts, ")"]


def expression_text(root: Value) -> str:
    """Return the text of an expression."""
    return assemble(root, lambda value: _parts(by_definition(value)))


def _parts(value: Value) -> Written:
    name = value.primitive.name
    if value._prev:
        return spell(OPERATORS.get(name) or value.primitive.spelling or name, value._prev)
    text = value.label if value.primitive is VARIABLE else value.source or number_text(value.data)
    return SIGN if text.startswith("-") else ATOM, [text]
