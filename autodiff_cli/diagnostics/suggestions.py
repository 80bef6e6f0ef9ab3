"""Whether a spelling may be offered: it is a program, and means something in the place where it would stand."""

from __future__ import annotations

from ..errors import ExpressionError
from ..language.reader import ParseFailure, parse

LONGEST = 72
"""A spelling longer than this is not offered: nobody would read it."""

FARTHEST = 2000
"""Of a longer text before the statement nothing is read again: the spelling is judged by itself."""

LARGEST = 10_000
"""The calls in a text that expand to more nodes are not looked into."""


def means(text: str) -> bool:
    """Whether the text is a program with a meaning: it has no error in names, types, or numbers of arguments either."""
    try:
        program = parse(text, most=LARGEST)
    except (ParseFailure, ExpressionError):
        return False
    return not any(program.whole.primitives[i].gives_condition for i in program.roots)


def meaning(text: str) -> object:
    """Return a key that is equal for texts with the same meaning; None for a text that is not a program."""
    try:
        program = parse(text, most=LARGEST)
    except (ParseFailure, ExpressionError):
        return None
    graph = program.whole
    leaves = {place: name for name, place in program.leaves.items()}
    nodes = [
        (primitive.name, parents, leaves.get(i), graph.data[i])
        for i, (primitive, parents) in enumerate(zip(graph.primitives, graph.parents, strict=True))
    ]
    return tuple(nodes), program.roots


def offered(spelling: str, earlier: str = "", *, last: bool = True) -> bool:
    """Whether to offer a spelling for an expression or a statement after the `earlier` ones, perhaps not the last."""
    if len(spelling) > LONGEST or set("`\r\n") & set(spelling):
        return False
    if len(earlier) > FARTHEST or not means(f"{earlier}0"):
        earlier = ""
    return means(earlier + spelling) or (not last and means(f"{earlier}{spelling}; 0"))
