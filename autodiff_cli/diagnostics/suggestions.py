"""Whether a spelling may be offered: it is a valid program in its place."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..errors import ExpressionError
from ..language.reader import ParseFailure, parse

MAX_SPELLING = 72
"""A spelling longer than this is not offered: nobody would read it."""

MAX_CONTEXT = 2000
"""After a longer text the spelling is judged by itself."""

LARGEST = 10_000
"""The calls in a text that expand to more nodes are not looked into."""


def _program(text: str) -> Any:
    with suppress(ParseFailure, ExpressionError):
        return parse(text, most=LARGEST)
    return None


def means(text: str) -> bool:
    """Return whether the text is a program with a meaning, and no condition."""
    program = _program(text)
    return program is not None and not any(program.whole.primitives[i].gives_condition for i in program.roots)


def meaning(text: str) -> object:
    """Return a key that is equal for texts with the same meaning; None for no program."""
    program = _program(text)
    if program is None:
        return None
    graph = program.whole
    leaves = {place: name for name, place in program.leaves.items()}
    nodes = zip(graph.primitives, graph.parents, graph.data, strict=False)
    return tuple([(node.name, parents, leaves.get(i), x) for i, (node, parents, x) in enumerate(nodes)]), program.roots


def offered(spelling: str, earlier: str = "", *, last: bool = True) -> bool:
    """Return whether to offer a spelling for a statement after the `earlier` ones."""
    if len(spelling) > MAX_SPELLING or set("`\r\n") & set(spelling):
        return False
    if len(earlier) > MAX_CONTEXT or not means(f"{earlier}0"):
        earlier = ""
    return means(earlier + spelling) or (not last and means(f"{earlier}{spelling}; 0"))
