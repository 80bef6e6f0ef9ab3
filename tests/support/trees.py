"""The tree of a text in the form that the tests compare: chains of comparisons in pairs,
parentheses without a node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autodiff_cli.engine.table.operators import COMPARISONS
from autodiff_cli.language.parser import syntax_tree
from autodiff_cli.language.tokens import meaning_of
from autodiff_cli.language.tree import SyntaxNode
from autodiff_cli.questions.problem import statements as statements_of


class Node(NamedTuple):
    """An operand, an operation, a statement or a program: what it is, where it stands, and its
    parts.

    Parentheses are no node. A chained comparison is the conjunction of its pairs, which share the
    operands between.
    """

    kind: str
    start: int
    end: int
    children: tuple[Node, ...] = ()
    value: Any = None


def tree(text: str) -> Node:
    """The tree of a text. Raises `ParseFailure` or `ExpressionError`."""
    waiting, made = [(syntax_tree(text), False)], list[Node]()
    while waiting:
        part, is_ready = waiting.pop()
        if not is_ready:
            waiting += [(part, True), *((inner, False) for inner in reversed(part.parts))]
            continue
        first = len(made) - len(part.parts)
        children = tuple(made[first:])
        del made[first:]
        made.append(children[0] if part.kind == "group" else _node(part, children))
    return made.pop()


def _node(part: SyntaxNode, children: tuple[Node, ...]) -> Node:
    kind, span, _, value = part
    if kind == "comparison":
        return _pairs(part, children)
    if kind == "number":
        return Node(kind, *span[:2], (), value[1])
    if kind == "plus":
        return Node("pos", *span[:2], children)
    if kind != "operation":
        return Node(kind, *span[:2], children, value)
    name = value.name.rstrip("_")
    return Node("if" if name == "where" else name, *span[:2], children)


def _pairs(part: SyntaxNode, children: tuple[Node, ...]) -> Node:
    result: Node | None = None
    spans = [inner.span for inner in part.parts]
    for k, sign in enumerate(part.value):
        pair = Node(
            COMPARISONS[meaning_of(sign)].name.rstrip("_"),
            spans[k].start,
            spans[k + 1].end,
            children[k : k + 2],
        )
        result = pair if result is None else Node("and", *part.span[:2], (result, pair))
    assert result is not None
    return result


def parsed(text: str) -> Node:
    """The same, where the error is one that users see. Raises `ExpressionError`."""
    statements_of(text)
    return tree(text)
