"""The walk of all that rewrites graphs: inputs first and without recursion; what is shared stays shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ..graphs.value import Value, in_order, node

Fact = TypeVar("Fact")
Rule = Callable[[Value, tuple[Value, ...]], Value]
"""A rule: returns the replacement of a node, given the replacements of its inputs."""


def rebuilt(value: Value, inputs: tuple[Value, ...]) -> Value:
    """Return the operation of a node on other inputs; the node itself if they are its own."""
    return value if inputs == value._prev else node(value.primitive, inputs)


def rewritten(
    roots: Iterable[Value],
    rule: Rule = rebuilt,
    replacement: Callable[[Value], Value | None] | None = None,
    copies: dict[Value, Value] | None = None,
) -> list[Value]:
    """Return the graphs with what a rule makes of each node.

    Nothing is looked at below a node that has a `replacement`. `copies` is filled with what stands for each node.
    """
    ends = list(roots)
    copies = {} if copies is None else copies
    stack = ends[::-1]
    while stack:
        top = stack[-1]
        if top in copies:
            stack.pop()
            continue
        other = replacement(top) if replacement else None
        inputs = top._prev
        missing = [p for p in reversed(inputs) if p not in copies] if other is None else []
        if missing:
            stack += missing
            continue
        copies[stack.pop()] = rule(top, tuple([copies[p] for p in inputs])) if other is None else other
    return [copies[end] for end in ends]


def substituted(root: Value, replacement: Callable[[Value], Value | None]) -> Value:
    """Return the graph with other nodes in the place of some; None stands for a node that is looked at below."""
    return rewritten((root,), replacement=replacement)[0]


def fact_of(value: Value, rule: Callable[[Value, Sequence[Fact]], Fact], facts: dict[Value, Fact]) -> Fact:
    """Return what a rule says of a node, given what it says of the inputs; what it said before is `facts`."""
    stack = [value]
    while stack:
        top = stack[-1]
        missing = [p for p in top._prev if p not in facts] if top not in facts else []
        if missing:
            stack += missing
            continue
        stack.pop()
        if top not in facts:
            facts[top] = rule(top, [facts[p] for p in top._prev])
    return facts[value]


def facts_of(roots: Iterable[Value], rule: Callable[[Value, Sequence[Fact]], Fact]) -> dict[Value, Fact]:
    """Return what a rule says of each node, given what it says of the inputs."""
    facts: dict[Value, Fact] = {}
    for value in in_order(roots):
        facts[value] = rule(value, [facts[p] for p in value._prev])
    return facts
